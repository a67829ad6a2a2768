/* The summary for people, character by character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"

static void test_summary(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    char *text = fixture_export(f, LS_EXPORT_TEXT, NULL);
    assert_string_equal(
        text, "Lockstep " LS_VERSION_STRING "  rtx2060\n"
              "\n"
              "  simulated time  4.00 ns\n"
              "  cycles          4\n"
              "  events          1,234,567\n"
              "  messages        1,000\n"
              "  configuration   00ff\n"
              "  seed            42\n"
              "\n"
              "l1/cycle  2 blocks\n"
              "  hits        2,000,000  sectors\n"
              "  accesses    4,000,000  sectors\n"
              "  hit_rate       0.5000\n"
              "  queue_peak         12  entries  largest of 2\n"
              "  wait           2.5000  cycles   mean of 2: min 0, 50% <= 0, 95% <= 5, 99% <= 5, max 5\n"
              "\n"
              "dram/bank  1 block\n"
              "  reads         18,446,744,073,709,551,615  bursts\n"
              "  refreshes                              0          never counted\n"
              "  open_rows                              3  rows\n"
              "  refresh_rate                           -          never counted\n"
              "\n"
              "kernels  2\n"
              "       #   gpu  stream      begin       time  name\n"
              "       0     0       7    1.00 ns    1.50 ns  void add<int, 4>(int*, \"x\")\n"
              "       1     0       7    2.50 ns    1.50 ns  -\n"
              "\n"
              "host\n"
              "  wall time       1.50 s on 2 threads\n"
              "  windows         99\n"
              "  run             run-1\n"
              "  command         lockstep run a,b\n");
    free(text);
    fixture_destroy(f);
}

static void test_options(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    export_options options = { .per_block = true, .untouched = true };
    char *text = fixture_export(f, LS_EXPORT_TEXT, &options);
    assert_contains(
        text, "  gpu0.l1[0]\n"
              "    hits        1,500,000  sectors\n"
              "    accesses    2,000,000  sectors\n"
              "    hit_rate       0.7500\n"
              "    queue_peak          9  entries\n"
              "    wait           2.5000  cycles   mean of 2: min 0, 50% <= 0, 95% <= 5, 99% <= 5, max 5\n"
              "  gpu0.l1[1]\n"
              "    hits          500,000  sectors\n");
    assert_contains(text, "    wait                -  cycles   no values\n");
    assert_contains(text, "\nuntouched  no block ever changed these: not a measured zero\n"
                          "  dram/bank refreshes     refreshes, \"all bank\"\n"
                          "  dram/bank refresh_rate  0 / 0 here\n");
    assert_null(strchr(text, '\033'));
    free(text);
    text = fixture_export(f, LS_EXPORT_TEXT, &(export_options){ .color = true });
    assert_contains(text, "\033[1ml1/cycle\033[0m  \033[2m2 blocks\033[0m\n");
    assert_null(strstr(text, "\nuntouched"));
    free(text);

    f->dram.refreshes = 1; /* now every metric has been counted */
    text = fixture_export(f, LS_EXPORT_TEXT, &(export_options){ .untouched = true });
    assert_contains(text, "\nuntouched  none\n");
    assert_contains(text, "  refresh_rate                      1.0000\n");
    free(text);
    fixture_destroy(f);
}

static void test_large_and_small_numbers(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    ls_histogram_add(&f->cache[0].wait, 72848938);
    f->cache[0].hits = 2000000;
    f->cache[1].hits = 500000;
    f->cache[0].accesses += UINT64_C(1000000000000);
    char *text = fixture_export(f, LS_EXPORT_TEXT, NULL);
    assert_contains(
        text, "  24,282,981.0  cycles   mean of 3: min 0, 50% <= 7, 95% <= 72,848,938, 99% <= 72,848,938,");
    assert_contains(text, "  hit_rate              2.5e-06\n");
    free(text);
    fixture_destroy(f);
}

static void test_partial(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    f->results.partial = true;
    char *text = fixture_export(f, LS_EXPORT_TEXT, NULL);
    assert_contains(text, "  rtx2060\nPARTIAL RESULTS: the run did not come to its end\n");
    free(text);
    f->results.partial_reason = "interrupted by the user";
    fixture_warn(f);
    text = fixture_export(f, LS_EXPORT_TEXT, NULL);
    assert_contains(text, "\nPARTIAL RESULTS: interrupted by the user\n"
                          "WARNING: key: 'a.b' has no effect: it needs \"c\", not \"d\"\n"
                          "WARNING: unmodelled: 7 instructions, of 2 kinds\n");
    free(text);
    fixture_destroy(f);
}

static void test_many_kernels(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    for (uint64_t i = 2; i < 1030; i++)
        fixture_mark(f->m, i, i == 2 ? "esc\033[31m" : "k", i, i);
    char *text = fixture_export(f, LS_EXPORT_TEXT, NULL);
    assert_contains(text, "\nkernels  1,030\n");
    assert_contains(text, "\n      19     0       7");
    assert_null(strstr(text, "\n      20     0       7"));
    assert_contains(text, "  ... and 1,010 more; JSON, CSV and SQLite have them all\n");
    assert_null(strchr(text, '\033')); /* a kernel's name cannot colour the terminal */
    free(text);
    fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_large_and_small_numbers),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_many_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
