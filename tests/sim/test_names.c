/* test_names.c: results under the names of Nsight Compute and rocprof: values are those of the metrics that the lists name,
 * files have the shape that scripts read, other machines are refused, docs/metrics.md shows both lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "lockstep/sim.h"
#include "report/names.h"

#include <stdlib.h>
#include <string.h>

#define PLATFORMS LS_SOURCE_DIR "/platforms"

static const char *const dirs[] = { PLATFORMS };
static ls_error err;

static int use_kernels(void **state)
{
    (void)state;
    return setenv("LOCKSTEP_KERNELS", LS_BINARY_DIR "/share/lockstep/kernels", 1);
}

static const ls_sim_setting small = { NULL, 4096 };

static ls_sim *run(bool amd)
{
    ls_sim_options o = { LS_SIM_OPTIONS, .platform_dirs = dirs, .platform_dir_count = 1 };
    o.platform = amd ? "r9nano" : "rtx2060";
    o.workload = amd ? "fir" : "synth:gemm";
    o.cta_limit = amd ? 0 : 2;
    o.settings = amd ? &small : NULL;
    o.setting_count = amd;
    ls_sim *sim;
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 1 };
    if (ls_sim_open(&o, &sim, &err) != LS_OK || ls_sim_run(sim, &how, &err) != LS_OK)
        fail_msg("%s", err.what);
    return sim;
}

static char *print(ls_sim *sim, const char *format)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    const ls_sim_print_options o = { LS_SIM_PRINT_OPTIONS, .format = format };
    if (ls_sim_print_as(sim, &o, to, &err) != LS_OK)
        fail_msg("%s", err.what);
    fclose(to);
    return text;
}

static double metric(ls_sim *sim, const char *type, const char *name)
{
    ls_sim_metric m;
    if (ls_sim_find_metric(sim, 0, type, NULL, name, &m, &err) != LS_OK)
        fail_msg("%s", err.what);
    return m.real;
}

/* The value of a metric in the last column of its row. */
static double ncu_value(const char *text, const char *name)
{
    char key[128];
    snprintf(key, sizeof key, "\"%s\",\"", name);
    const char *at = strstr(text, key);
    if (!at)
        fail_msg("no %s", name);
    at = strstr(at + strlen(key), "\",\"");
    return strtod(at + 3, NULL);
}

static void test_ncu(void **state)
{
    (void)state;
    ls_sim *sim = run(false);
    char *text = print(sim, "ncu");
    ls_sim_kernel k;
    assert_int_equal(ls_sim_get_kernel(sim, 0, &k, &err), LS_OK);
    assert_true(ncu_value(text, "gpc__cycles_elapsed.max") == (double)(k.end_cycle - k.begin_cycle));
    assert_true(ncu_value(text, "gpu__time_duration.sum") == (double)(k.end - k.begin) * 1e-6);
    assert_true(ncu_value(text, "smsp__inst_executed.sum") == metric(sim, "core/*", "warp_instructions"));
    assert_true(ncu_value(text, "dram__bytes_read.sum") == 32 * metric(sim, "dram/*", "reads"));
    assert_true(ncu_value(text, "sm__cycles_elapsed.sum") == 30 * (double)(k.end_cycle - k.begin_cycle));
    double rate = metric(sim, "core/*", "l1_hits") / metric(sim, "core/*", "l1_accesses");
    assert_true(ncu_value(text, "l1tex__t_sector_hit_rate.pct") - 100 * rate < 1e-9);
    /* Every row has twelve cells in quotes. */
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t cells = 1;
        for (const char *p = line; (p = strstr(p, "\",\"")) != NULL; p++)
            cells++;
        assert_int_equal(cells, 12);
    }
    free(text);
    assert_int_equal(ls_sim_check_format(sim, "rocprof", &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "programs of AMD GPUs"));
    ls_sim_close(sim);
}

static size_t cells_of(const char *line)
{
    size_t cells = 1;
    for (; *line && *line != '\n'; line++)
        cells += *line == ',';
    return cells;
}

/* The cell below a column's name, in the first launch. */
static double rocprof_value(const char *text, const char *name)
{
    const char *row = strchr(text, '\n') + 1, *at = text;
    size_t bytes = strlen(name);
    while (strncmp(at, name, bytes) != 0 || (at[bytes] != ',' && at[bytes] != '\n')) {
        at = strpbrk(at, ",\n");
        if (*at == '\n')
            fail_msg("no %s", name);
        at++;
        row = strchr(row, ',') + 1;
    }
    return strtod(row, NULL);
}

static void test_rocprof(void **state)
{
    (void)state;
    ls_sim *sim = run(true);
    char *text = print(sim, "rocprof");
    assert_int_equal(strncmp(text, "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,",
                             69),
                     0);
    assert_int_equal(cells_of(text), cells_of(strchr(text, '\n') + 1));
    assert_true(rocprof_value(text, "grd") == 4096);
    assert_true(rocprof_value(text, "wgr") == 64);
    assert_true(rocprof_value(text, "wave_size") == 64);
    assert_true(rocprof_value(text, "arch_vgpr") > 0);
    assert_true(rocprof_value(text, "SQ_WAVES") == 64);
    assert_true(rocprof_value(text, "SQ_INSTS_SALU") == metric(sim, "cu/*", "instructions_salu"));
    assert_true(rocprof_value(text, "SALUInsts") == metric(sim, "cu/*", "instructions_salu") / 64);
    assert_true(rocprof_value(text, "FetchSize") == metric(sim, "channel/*", "read_bytes") / 1024);
    assert_true(rocprof_value(text, "VALUUtilization") > 50 && rocprof_value(text, "VALUUtilization") <= 100);
    ls_sim_kernel k;
    assert_int_equal(ls_sim_get_kernel(sim, 0, &k, &err), LS_OK);
    assert_true(rocprof_value(text, "EndNs") == (double)(k.end / 1000000));
    free(text);
    assert_int_equal(ls_sim_check_format(sim, "ncu", &err), LS_ERR_USAGE);
    ls_sim_close(sim);
}

static void test_docs_show_both_lists(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    char *docs = NULL;
    size_t bytes = 0;
    if (file_read(&arena, LS_SOURCE_DIR "/docs/metrics.md", 1 << 20, &docs, &bytes, &err) != LS_OK)
        fail_msg("%s", err.what);
    for (int kind = 0; kind < 2; kind++) {
        size_t count;
        const names_entry *list = names_list((names_kind)kind, &count);
        for (size_t i = 0; i < count; i++) {
            char row[200];
            snprintf(row, sizeof row, "\n| `%s` | %s | %s |", list[i].name,
                     list[i].how == NAMES_EXACT ? "exact" : "approximate", list[i].unit);
            const char *at = strstr(docs, row);
            if (!at)
                fail_msg("docs/metrics.md has no row%s", row);
            const char *end = strchr(at + 1, '\n'), *remark = strstr(at, list[i].remark);
            if (!remark || remark > end)
                fail_msg("docs/metrics.md does not say of %s: %s", list[i].name, list[i].remark);
            assert_int_equal(list[i].how == NAMES_APPROXIMATE, list[i].remark[0] != '\0');
        }
    }
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ncu),
        cmocka_unit_test(test_rocprof),
        cmocka_unit_test(test_docs_show_both_lists),
    };
    return cmocka_run_group_tests(tests, use_kernels, NULL);
}
