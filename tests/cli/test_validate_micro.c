/* Every one-purpose kernel costs what it costs in Accel-Sim, on three imported configurations. */
#include "reference.h"

#include <math.h>

#define WORST 0.5 /* cycles per instruction */

static void every_anchor(void **state)
{
    (void)state;
    reference_fixture f;
    reference_begin(&f);
    reference_ok(&f, validate_micro(&f.ref, &f.report, &f.err));
    const validate_section *s = f.report.sections.at[0];
    size_t exact = 0;
    assert_int_equal(s->rows.count, 3 * 69);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        exact += fabs(row->deviation) < 0.0005;
        if (row->verdict != VALIDATE_PASS || !(fabs(row->deviation) <= WORST))
            fail_msg("%s on %s: %.3f cycles per instruction instead of %.3f", row->cells[0], row->cells[1],
                     row->ours, row->reference);
    }
    assert_true(exact >= 195);
    reference_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_anchor) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
