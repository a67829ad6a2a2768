/* Native platforms do what was measured on the GPUs they describe; the checks are in hardware.def. */
#include "reference.h"

static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };

static void every_check(void **state)
{
    (void)state;
    reference_fixture f;
    reference_begin(&f);
    f.ref.platform_dirs = dirs;
    f.ref.platform_dir_count = 1;
    reference_ok(&f, validate_hardware(&f.ref, &f.report, &f.err));
    const validate_section *s = f.report.sections.at[0];
    assert_true(s->rows.count >= 11);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        if (row->verdict == VALIDATE_FAIL)
            fail_msg("%s of %s: %s instead of %s (%s)", row->cells[0], row->cells[1], row->cells[3],
                     row->cells[4], row->note ? row->note : row->cells[2]);
    }
    reference_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_check) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
