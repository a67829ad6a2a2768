/* test_metrics_table.c: docs/metrics.md lists exactly the declarations of the blocks, in their order and
 * words. The metrics that it recommends are counted in the models that it names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "model/gpu/roofline.h"
#include "report/metrics.h"
#include "runtime/fidelity_rig.h"

#include <stdlib.h>

static const struct {
    const char *slot, *name;
} listed[] = { { "dispatch", "round-robin" }, { "core", "cycle" }, { "l2", "cycle" }, { "dram", "bank" } };

static char *read_page(void)
{
    FILE *f = fopen(LS_SOURCE_DIR "/docs/metrics.md", "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 18);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 18) - 1, f) > 1000);
    fclose(f);
    return text;
}

static void check_section(const char *page, const char *title, const ls_metric *metrics, size_t count)
{
    char row[512];
    snprintf(row, sizeof row, "## %s\n", title);
    const char *at = strstr(page, row);
    if (at == NULL) {
        fail_msg("docs/metrics.md has no section '%s'", title);
        return;
    }
    at = strstr(at, "|---|---|---|---|\n");
    assert_non_null(at);
    at += strlen("|---|---|---|---|\n");
    for (size_t m = 0; m < count; m++) {
        snprintf(row, sizeof row, "| `%s` | %s | %s | %s |\n", metrics[m].name,
                 metric_kind_name(metrics[m].kind), metric_unit(&metrics[m]), metric_help(&metrics[m]));
        if (strncmp(at, row, strlen(row)) != 0)
            fail_msg("docs/metrics.md, %s: expected the row %s", title, row);
        at += strlen(row);
    }
    if (*at == '|')
        fail_msg("docs/metrics.md, %s: a row too many: %.60s", title, at);
}

static void test_page(void **state)
{
    (void)state;
    char *page = read_page(), title[64];
    for (size_t i = 0; i < LS_COUNT_OF(listed); i++) {
        const ls_block_type *type = ls_registry_find_block(listed[i].slot, listed[i].name);
        assert_non_null(type);
        snprintf(title, sizeof title, "%s/%s", listed[i].slot, listed[i].name);
        check_section(page, title, type->metrics, type->metric_count);
    }
    check_section(page, GPU_ROOFLINE_TYPE, gpu_roofline_metrics, gpu_roofline_metric_count);
    free(page);
}

/* A run of a kernel with a counter of its cores read afterwards. */
static uint64_t count(const char *kernel, const char *const *sets, const char *name)
{
    const config_request request = { .platform = "tests/metrics",
                                     .sets = sets,
                                     .set_count = sets[1] != NULL ? 2 : 1,
                                     .text = rig_platform,
                                     .text_bytes = strlen(rig_platform) };
    ls_error err = { 0 };
    platform_config *config;
    ls_machine *machine = NULL;
    trace_replay *replay;
    sass_trace *trace = NULL;
    ls_run_result result;
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK ||
        synth_open(kernel, &(trace_options){ 0 }, &trace, &err) != LS_OK)
        fail_msg("%s", err.what);
    config_destroy(config);
    ls_engine *engine = ls_machine_engine(machine);
    if (replay_create(engine, trace, NULL, &replay, &err) != LS_OK ||
        replay_run(replay, &(ls_run_options){ .threads = 1 }, &result, &err) != LS_OK)
        fail_msg("%s", err.what);
    uint64_t value = rig_counter(engine, "core", name);
    replay_destroy(replay);
    trace_close(trace);
    machine_destroy(machine);
    return value;
}

static void test_counted_everywhere(void **state)
{
    (void)state;
    static const char gemm[] = "gemm,m=64,n=128,k=32";
    static const char *const detailed[] = { "core.alu=cycle", NULL },
                             *const basic[] = { "core.alu=issue", NULL },
                             *const memory[] = { "core.alu=issue", "core.memory=analytic", NULL };
    static const char *const *const presets[] = { detailed, basic, memory };
    static const char *const names[] = { "issued",          "stall_memory",    "stall_barrier",
                                         "stack_memory",    "stack_barrier",   "l1_accesses",
                                         "flops_single",    "peak_flops",      "register_reads",
                                         "shared_accesses", "resident_cycles", "ctas" };
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        for (size_t i = 0; i < LS_COUNT_OF(names); i++)
            if (count(gemm, presets[p], names[i]) == 0)
                fail_msg("%s is not counted in preset %zu", names[i], p);
        /* The work is the same for all: every multiply-add of the product, two operations each. */
        assert_int_equal(count(gemm, presets[p], "flops_single"), 2 * 64 * 128 * 32);
        assert_int_equal(count(gemm, presets[p], "bank_conflict_cycles"),
                         count(gemm, detailed, "bank_conflict_cycles"));
    }
}

/* "cycles" alone is the run's: GPU cycles. A block that counts its own says which. */
static void test_cycles_are_the_gpus(void **state)
{
    (void)state;
    size_t with_metrics = 0;
    for (size_t i = 0; i < ls_registry_block_count(); i++) {
        const ls_block_type *type = ls_registry_block(i);
        with_metrics += type->metric_count > 0;
        for (size_t m = 0; m < type->metric_count; m++)
            if (strcmp(type->metrics[m].name, "cycles") == 0)
                fail_msg("%s/%s has a metric 'cycles' that is not the GPU's", type->slot, type->name);
    }
    assert_true(with_metrics > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_page),
                                        cmocka_unit_test(test_cycles_are_the_gpus),
                                        cmocka_unit_test(test_counted_everywhere) };
    return cmocka_run_group_tests_name("table of metrics", tests, NULL, NULL);
}
