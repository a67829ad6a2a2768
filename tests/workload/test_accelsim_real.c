/* test_accelsim_real.c: traces that others captured on real GPUs. Counts are known, all opcodes have rows, and
 * a block has the same bits when read for a simulation or for a report. Skipped without the traces. */
#include "kernel_text.h"

#include "base/file.h"
#include "workload/select.h"
#include "workload/stats.h"

#include <dirent.h>
#include <inttypes.h>

#define TRACES LS_SOURCE_DIR "/../shared/traces"

static void need(const char *path)
{
    if (!file_exists(path)) {
        print_message("%s is not there\n", path);
        skip();
    }
}

static void read_trace(const char *path, trace_stats *total)
{
    sass_trace *trace;
    ls_error err;
    ls_cta cta = { 0 };
    if (trace_open(path, NULL, &trace, &err) != LS_OK)
        fail_msg("%s: %s", err.where, err.what);
    for (uint64_t i = 0; i < trace_command_count(trace); i++) {
        trace_kernel *kernel;
        trace_stats stats = { 0 };
        if (trace_command_at(trace, i)->kind != LS_COMMAND_KERNEL)
            continue;
        if (trace_open_kernel(trace, i, &kernel, &err) != LS_OK ||
            trace_stats_read(&stats, kernel, &cta, &err) != LS_OK)
            fail_msg("%s: %s", err.where, err.what);
        assert_int_equal(stats.blocks, ls_kernel_cta_count(kernel_get_info(kernel)));
        assert_true(trace_stats_merge(total, &stats));
        trace_stats_fini(&stats);
        kernel_close(kernel);
    }
    ls_cta_fini(&cta);
    trace_close(trace);
}

/* Thread blocks and warp instructions as the collection's own description has them. */
static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t kernels, blocks, warp_insts;
    } traces[] = {
        { "vectoradd-sm80-v5", 1, 196, 26601 },       { "bfs-sm80-v3", 16, 128, 159509 },
        { "attention-prefill-sm80-v5", 1, 4, 29024 }, { "torch-helpers-sm80-v5", 8, 8, 6451 },
        { "ffma-chain-10-sm90-v5", 1, 1, 1328 },      { "ffma-chain-40-sm90-v5", 1, 1, 5288 },
        { "matrixmul-sm61-v4", 1, 1, 4416 },          { "vectoradd-sm61-v4", 1, 1, 344 },
    };
    need(TRACES);
    for (size_t i = 0; i < LS_COUNT_OF(traces); i++) {
        trace_stats total = { 0 };
        char path[512];
        snprintf(path, sizeof path, "%s/%s", TRACES, traces[i].name);
        read_trace(path, &total);
        if (total.kernels != traces[i].kernels || total.blocks != traces[i].blocks ||
            total.warp_insts != traces[i].warp_insts)
            fail_msg("%s: %" PRIu64 " kernels, %" PRIu64 " blocks, %" PRIu64 " instructions", traces[i].name,
                     total.kernels, total.blocks, total.warp_insts);
        assert_int_equal(total.unknown.count, 0);
        trace_stats_fini(&total);
    }
}

/* All 118 files of the training step, also files that its list leaves out. */
static void test_all_files(void **state)
{
    (void)state;
    const char *dir = TRACES "/nn-onestep-sm80-v5";
    trace_stats total = { 0 };
    need(dir);
    DIR *stream = opendir(dir);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        char path[1024];
        if (!strstr(entry->d_name, ".traceg"))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        read_trace(path, &total);
    }
    closedir(stream);
    assert_int_equal(total.kernels, 118);
    assert_int_equal(total.blocks, 308);
    assert_int_equal(total.warp_insts, 66739);
    assert_int_equal(total.unknown.count, 0);
    trace_stats_fini(&total);
}

/* A report of the same trace: only the notes that are known, and no block is lost. */
static void test_reports(void **state)
{
    (void)state;
    acc_report report = { 0 };
    acc_totals totals;
    ls_error err;
    need(TRACES);
    assert_int_equal(acc_check(TRACES "/nn-onestep-sm80-v5", &report, &totals, &err), LS_OK);
    assert_int_equal(totals.kernels, 114);
    assert_int_equal(totals.read, 114);
    assert_int_equal(totals.blocks, 295);
    assert_int_equal(totals.warp_insts, 65767);
    assert_int_equal(report.by_severity[ACC_ERROR], 0);
    assert_int_equal(report.by_severity[ACC_WARNING], 0);
    assert_int_equal(report.counts[ACC_unlisted_file], 4);
    assert_int_equal(report.counts[ACC_after_exit], 15);
    assert_int_equal(report.by_severity[ACC_NOTE], 19);
    acc_report_fini(&report);
    report = (acc_report){ 0 };
    assert_int_equal(acc_check(TRACES "/bfs-sm80-v3", &report, &totals, &err), LS_OK);
    assert_int_equal(totals.warp_insts, 159509);
    assert_int_equal(report.defects.count, 0);
    acc_report_fini(&report);
}

/* The list of bfs: copies and kernels in order. */
static void test_list(void **state)
{
    (void)state;
    sass_trace *trace;
    ls_error err;
    kernel_selection selection;
    need(TRACES);
    assert_int_equal(trace_open(TRACES "/bfs-sm80-v3/kernelslist.g", NULL, &trace, &err), LS_OK);
    const trace_cmd *copy = trace_command_at(trace, 0);
    assert_int_equal(copy->kind, LS_COMMAND_COPY_IN);
    assert_int_equal(copy->address, 0x7fc841500000);
    assert_int_equal(copy->bytes, 32768);
    assert_int_equal(copy->line, 1);
    assert_string_equal(trace_command_at(trace, 7)->text, "kernel-1.traceg.xz");
    assert_null(trace_command_at(trace, 99999));
    assert_int_equal(select_kernels(trace, "name:*Kernel2*", &selection, &err), LS_OK);
    assert_int_equal(selection.count, 8);
    assert_int_equal(selection.at[0].number, 2);
    selection_fini(&selection);
    trace_close(trace);
}

/* Known facts about single instructions of the attention kernel. */
static void test_attention(void **state)
{
    (void)state;
    trace_stats total = { 0 };
    need(TRACES);
    read_trace(TRACES "/attention-prefill-sm80-v5", &total);
    assert_int_equal(total.classes[LS_CLASS_tensor_half], 2176);
    assert_int_equal(total.classes[LS_CLASS_async_copy], 384);
    assert_int_equal(total.classes[LS_CLASS_barrier], 96);
    assert_int_equal(total.classes[LS_CLASS_depbar], 80 + 64);
    assert_int_equal(total.spaces[LS_SPACE_GLOBAL].insts, 320 + 128); /* LDGSTS and STG with a lane */
    assert_int_equal(total.spaces[LS_SPACE_SHARED].insts, 256 + 384 + 256 + 512 + 128); /* LDS, LDSM, STS */
    assert_int_equal(total.thread_insts, 888544);
    trace_stats_fini(&total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts), cmocka_unit_test(test_all_files), cmocka_unit_test(test_reports),
        cmocka_unit_test(test_list),   cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
