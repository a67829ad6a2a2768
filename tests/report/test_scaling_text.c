/* The scaling table, and the sentence for each thing that can limit a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/scaling_text.h"

#include <stdlib.h>
#include <string.h>

static void assert_text(const ls_scaling *s, const char *expected)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    scaling_print(s, to);
    fclose(to);
    if (!strstr(text, expected))
        fail_msg("expected:\n%s\nfound:\n%s", expected, text);
    free(text);
}

static ls_scaling scaling(double work, double span, double barrier)
{
    return (ls_scaling){ .windows = 12345,
                         .work_seconds = work,
                         .span_seconds = span,
                         .barrier_seconds = barrier,
                         .threads = { 2, 4, 8, 16, 32, 64 },
                         .speedup = { 1.95, 3.7, 6.5, 9, 10, 10 } };
}

static void test_table(void **state)
{
    (void)state;
    ls_scaling s = scaling(20, 2, 1e-6);
    assert_text(&s, "Expected scaling on other machines\n"
                    "\n"
                    "  threads  speed-up  efficiency\n"
                    "        2     1.95x       97.5%\n"
                    "        4     3.70x       92.5%\n"
                    "        8     6.50x       81.2%\n"
                    "       16     9.00x       56.2%\n"
                    "       32    10.00x       31.2%\n"
                    "       64    10.00x       15.6%\n"
                    "\n"
                    "  work         20.0 s  (all domains)\n"
                    "  span         2.00 s  (the longest domain of each window)\n"
                    "  parallelism  10.00  (work / span)\n"
                    "  windows      12,345  (1.00 us per barrier)\n"
                    "\n"
                    "The busiest domain of each window limits it: no machine gets beyond 10.00x; split it or "
                    "give it less work.\n");
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)payload;
    (void)now;
    ls_link_release(link, 1);
}

static void idle(void *self, ls_cycle now)
{
    (void)self;
    (void)now;
}

/* Two groups are listed with their windows; a single one is the machine itself and is not. */
static void test_groups(void **state)
{
    (void)state;
    for (int groups = 1; groups <= 2; groups++) {
        ls_engine *engine;
        ls_domain *domain[2];
        ls_group *group;
        ls_link *link;
        ls_event event[2];
        ls_clock clock;
        assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
        assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ls_domain_create(engine, i == 0 ? "a" : "b", clock, &domain[i], NULL), LS_OK);
            ls_event_init(&event[i], idle, NULL);
            ls_schedule(ls_domain_region(domain[i], 0), &event[i], 5);
        }
        assert_int_equal(ls_group_create(engine, "gpu1", &group, NULL), LS_OK);
        if (groups == 2)
            assert_int_equal(ls_domain_set_group(domain[1], group, NULL), LS_OK);
        ls_link_spec spec = { .name = "link",
                              .from = ls_domain_region(domain[0], 0),
                              .to = ls_domain_region(domain[1], 0),
                              .latency_cycles = 500,
                              .credits = 1,
                              .receive = receive };
        assert_int_equal(ls_link_create(engine, &spec, &link, NULL), LS_OK);
        assert_int_equal(ls_run(engine, &(ls_run_options){ .scaling = true }, NULL, NULL), LS_OK);
        char *text = NULL;
        size_t bytes = 0;
        FILE *to = open_memstream(&text, &bytes);
        scaling_groups_text(engine, to);
        fclose(to);
        static const char *const lines[] = { "\n  machine                 1           1      500 ns  ",
                                             "\n  gpu1                    1           1      500 ns  " };
        for (int i = 0; i < 2; i++)
            if ((strstr(text, lines[i]) != NULL) != (groups == 2))
                fail_msg("%d groups, line %d:\n%s", groups, i, text);
        static const char meet[] =
            "\nGroups meet every 500 ns. The shortest link between them, link, allows 500 ns.\n";
        assert_true((strstr(text, meet) != NULL) == (groups == 2));
        free(text);
        ls_engine_destroy(engine);
    }
}

static void test_limits(void **state)
{
    (void)state;
    ls_scaling s = scaling(20, 0.1, 1e-3);
    assert_text(&s, "The barriers limit it: 12,345 of them take 12.3 s in all; longer windows need longer "
                    "links.\n");
    s = scaling(20, 0.1, 0);
    assert_text(&s, "  windows      12,345\n"
                    "\n"
                    "The number of threads limits it: there is work for more than 64.\n");
    s = scaling(0, 0, 0);
    assert_text(&s, "Expected scaling: nothing was measured.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
