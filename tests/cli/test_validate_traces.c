/* Real traces on imported configurations: counters are Accel-Sim's, cycles nearly so, and every kernel
 * file runs. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORST 2.0           /* percent */
#define WORST_NO_LAUNCH 4.0 /* the same difference in cycles, over a time without the 5,000 of the launch */
/* Two waves of blocks that stream from DRAM, each as much too fast as the single one of the other GPUs is
 * (notes.def). */
#define WORST_TWO_WAVES 4.0
#define MEAN 0.7

static double limit(const validate_row *row)
{
    if (strcmp(row->cells[2], "nolaunchlat") == 0)
        return WORST_NO_LAUNCH;
    bool two_waves =
        strcmp(row->cells[0], "vectoradd-sm80-v5") == 0 && strcmp(row->cells[1], "SM75_RTX2060") == 0;
    return two_waves ? WORST_TWO_WAVES : WORST;
}

static void golden_traces(void **state)
{
    (void)state;
    reference_fixture f;
    reference_begin_traces(&f);
    reference_ok(&f, validate_traces(&f.ref, &f.report, &f.err));
    const validate_section *s = f.report.sections.at[0];
    size_t measured = 0;
    for (size_t i = 0; i + 1 < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        if (row->verdict == VALIDATE_SKIPPED)
            continue;
        double worst = limit(row);
        if (row->verdict != VALIDATE_PASS || row->counts_apart != 0 || !(fabs(row->deviation) <= worst))
            fail_msg("%s on %s (%s): %.0f cycles instead of %.0f, counters %llu apart", row->cells[0],
                     row->cells[1], row->cells[2], row->ours, row->reference,
                     (unsigned long long)row->counts_apart);
        measured++;
    }
    const validate_row *mean = &s->rows.at[s->rows.count - 1];
    assert_string_equal(mean->cells[0], "mean of all");
    assert_true(mean->deviation <= MEAN);
    assert_int_equal(measured, 20);
    reference_end(&f);
}

/* Also the four that the list leaves out, and those with instructions after the end of a warp, which stop
 * Accel-Sim. */
static void every_kernel_file(void **state)
{
    (void)state;
    enum { LAST = 120, MISSING = 2 };
    reference_fixture f;
    config_request platform;
    unsigned ran = 0;
    reference_begin_traces(&f);
    reference_ok(&f, validate_import(&f.ref, "SM86_RTX3070", &platform, &f.err));
    assert_non_null(platform.text);
    for (unsigned i = 1; i <= LAST; i++) {
        char path[1024];
        validate_result result;
        snprintf(path, sizeof path, "%s/nn-onestep-sm80-v5/kernel-%u.traceg.xz", f.ref.traces, i);
        if (!file_exists(path))
            continue;
        const validate_job job = { .platform = platform, .trace = path, .threads = 1 };
        reference_ok(&f, validate_simulate(&f.arena, &job, &result, &f.err));
        assert_int_equal(result.kernel_count, 1);
        assert_true(result.total.warp_insts > 0 && result.total.cycles > 5000);
        ran++;
    }
    assert_int_equal(ran, LAST - MISSING);
    reference_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(golden_traces), cmocka_unit_test(every_kernel_file) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
