/* Every trace with 1, 2, 3 and 8 threads: everything that is exported is equal to the last byte. */
#include "reference.h"

static void every_trace(void **state)
{
    (void)state;
    reference_fixture f;
    reference_begin_traces(&f);
    reference_ok(&f, validate_determinism(&f.ref, &f.report, &f.err));
    const validate_section *s = f.report.sections.at[0];
    assert_int_equal(s->rows.count, 9);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        for (size_t c = 4; c < s->column_count; c++)
            assert_string_equal(row->cells[c], row->cells[3]);
        assert_int_equal(row->verdict, VALIDATE_PASS);
        for (size_t j = 0; j < i; j++) /* the hash does depend on the results */
            assert_string_not_equal(row->cells[3], s->rows.at[j].cells[3]);
    }
    reference_end(&f);
}

/* A hash that did not see the results would be equal, too. */
static void another_machine_is_another_hash(void **state)
{
    (void)state;
    reference_fixture f;
    config_request platform;
    validate_result a, b;
    static const char *const sets[] = { "l2.delay_cycles=6" };
    reference_begin_traces(&f);
    reference_ok(&f, validate_import(&f.ref, "SM86_RTX3070", &platform, &f.err));
    validate_job job = {
        .platform = platform, .trace = "synth:vector-add,n=1024", .threads = 1, .hash = true
    };
    reference_ok(&f, validate_simulate(&f.arena, &job, &a, &f.err));
    job.platform.sets = sets;
    job.platform.set_count = 1;
    reference_ok(&f, validate_simulate(&f.arena, &job, &b, &f.err));
    assert_false(hash_same(a.hash, b.hash));
    reference_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_trace),
                                        cmocka_unit_test(another_machine_is_another_hash) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
