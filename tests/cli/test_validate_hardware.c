/* Native platforms do what was measured on the GPUs they describe; the checks are in hardware.def. */
#include "reference.h"

static size_t skipped; /* rows of real traces, which a clone alone does not have */

static void every_check(void **state)
{
    (void)state;
    reference_fixture f;
    reference_begin(&f);
    f.ref.traces = reference_traces(&f);
    reference_ok(&f, validate_hardware(&f.ref, &f.report, &f.err));
    const validate_section *s = f.report.sections.at[0];
    assert_true(s->rows.count >= 11);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        if (row->verdict == VALIDATE_FAIL)
            fail_msg("%s of %s: %s instead of %s (%s)", row->cells[0], row->cells[1], row->cells[3],
                     row->cells[4], row->note ? row->note : row->cells[2]);
    }
    skipped = validate_count(s, VALIDATE_SKIPPED);
    assert_true(skipped <= 2);
    reference_end(&f);
}

/* Shows as skipped where the run before had no traces. */
static void with_traces(void **state)
{
    (void)state;
    reference_fixture f;
    reference_begin_traces(&f);
    assert_int_equal(skipped, 0);
    reference_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_check), cmocka_unit_test(with_traces) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
