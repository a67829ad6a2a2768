/* test_accelsim_list.c: directories, lists, and the files that lists name; checking all of it. */
#include "kernel_text.h"
#include "temp_dir.h"

#include <sys/stat.h>

#define KERNEL                                                                                                \
    HEADER("3", "80", "(1,1,1)", "(32,1,1)") BLOCK("warp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 \n")

static const char *open_error(const char *path)
{
    static char text[1024];
    sass_trace *trace;
    ls_error err;
    if (trace_open(path, NULL, &trace, &err) == LS_OK) {
        trace_close(trace);
        return "";
    }
    return ls_error_text(&err, text, sizeof text);
}

/* Opens the kernel of a command and reads its blocks; "" or the error. */
static const char *kernel_error(const char *path, uint64_t command)
{
    static char text[1024];
    sass_trace *trace;
    trace_kernel *kernel;
    ls_cta cta = { 0 };
    ls_error err;
    bool end = false;
    assert_int_equal(trace_open(path, NULL, &trace, &err), LS_OK);
    ls_status status = trace_open_kernel(trace, command, &kernel, &err);
    while (status == LS_OK && !end)
        status = kernel_next_cta(kernel, &cta, &end, &err);
    kernel_close(kernel);
    ls_cta_fini(&cta);
    trace_close(trace);
    return status == LS_OK ? "" : ls_error_text(&err, text, sizeof text);
}

static void make_dir(const char *name, const char *list)
{
    char path[128];
    assert_int_equal(mkdir(name, 0755), 0);
    snprintf(path, sizeof path, "%s/kernelslist.g", name);
    if (list)
        write_text(path, list);
}

/* Further contexts have lists of their own; their streams are others, also with the same handles. */
static void test_contexts(void **state)
{
    (void)state;
    static const char text[] =
        "-kernel name = f\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n"
        "-shmem = 0\n-nregs = 8\n-binary version = 90\n-cuda stream id = 7\n"
        "-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n-accelsim tracer version = 3\n"
        "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0\n"
        "#END_TB\n";
    sass_trace *trace;
    ls_error err;
    make_dir("contexts", "kernel-1-ctx_0x10.traceg\n");
    write_text("contexts/kernelslist_ctx_0x30.g", "kernel-1-ctx_0x30.traceg\n");
    write_text("contexts/kernelslist_ctx_0x20.g", "MemcpyHtoD,0x100,64\nkernel-1-ctx_0x20.traceg\n");
    write_text("contexts/kernel-1-ctx_0x10.traceg", text);
    write_text("contexts/kernel-1-ctx_0x20.traceg", text);
    write_text("contexts/kernel-1-ctx_0x30.traceg", text);
    assert_int_equal(trace_open("contexts", NULL, &trace, &err), LS_OK);
    assert_int_equal(trace_command_count(trace), 4);
    static const struct {
        uint64_t command, stream;
        const char *name;
    } kernels[] = { { 0, 7, "kernel-1-ctx_0x10.traceg" },
                    { 2, 7 | 1ull << TRACE_CONTEXT_SHIFT, "kernel-1-ctx_0x20.traceg" },
                    { 3, 7 | 2ull << TRACE_CONTEXT_SHIFT, "kernel-1-ctx_0x30.traceg" } };
    for (size_t i = 0; i < LS_COUNT_OF(kernels); i++) {
        trace_kernel *kernel;
        assert_string_equal(trace_command_at(trace, kernels[i].command)->text, kernels[i].name);
        assert_int_equal(trace_open_kernel(trace, kernels[i].command, &kernel, &err), LS_OK);
        assert_int_equal(kernel_get_info(kernel)->stream, kernels[i].stream);
        kernel_close(kernel);
    }
    trace_close(trace);
    /* one list alone is one context */
    assert_int_equal(trace_open("contexts/kernelslist_ctx_0x20.g", NULL, &trace, &err), LS_OK);
    assert_int_equal(trace_command_count(trace), 2);
    trace_close(trace);
    assert_int_equal(remove("contexts/kernel-1-ctx_0x30.traceg"), 0);
    assert_string_equal(
        kernel_error("contexts", 3),
        "contexts/kernelslist_ctx_0x30.g:1: the kernel file 'kernel-1-ctx_0x30.traceg' does not exist "
        "(nearest: kernel-1-ctx_0x10.traceg)");
}

static void test_commands(void **state)
{
    (void)state;
    make_dir("a",
             "\r\nMemcpyHtoD,0x00007fc841500000,32768\r\n  kernel-1.traceg \n\nMemcpyDtoH,0x10,4\nnonsense\n"
             "kernel-2.traceg");
    write_text("a/kernel-1.traceg", KERNEL);
    write_text("a/kernel-2.traceg", KERNEL);
    sass_trace *trace;
    assert_int_equal(trace_open("a", NULL, &trace, NULL), LS_OK);
    assert_int_equal(trace_command_count(trace), 5);
    const trace_cmd *copy = trace_command_at(trace, 0), *kernel = trace_command_at(trace, 1);
    assert_int_equal(copy->kind, LS_COMMAND_COPY_IN);
    assert_int_equal(copy->address, 0x7fc841500000);
    assert_int_equal(copy->bytes, 32768);
    assert_int_equal(copy->line, 2);
    assert_int_equal(kernel->kind, LS_COMMAND_KERNEL);
    assert_string_equal(kernel->text, "kernel-1.traceg");
    assert_int_equal(kernel->line, 3);
    assert_int_equal(trace_command_at(trace, 2)->kind, LS_COMMAND_OTHER);
    assert_string_equal(trace_command_at(trace, 2)->text, "MemcpyDtoH,0x10,4");
    assert_int_equal(trace_command_at(trace, 3)->kind, LS_COMMAND_OTHER);
    assert_string_equal(trace_command_at(trace, 4)->text, "kernel-2.traceg");
    trace_kernel *opened;
    ls_error err;
    assert_int_equal(trace_open_kernel(trace, 0, &opened, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "command 0 of the trace is not a kernel");
    trace_close(trace);
    assert_string_equal(kernel_error("a", 1), "");
    assert_string_equal(kernel_error("a/kernelslist.g", 4), "");
    assert_string_equal(kernel_error("a/kernel-1.traceg", 0), ""); /* one file alone */
}

static void test_open_errors(void **state)
{
    (void)state;
    make_dir("empty", NULL);
    make_dir("raw", NULL);
    write_text("raw/kernelslist", "kernel-1.trace\n");
    make_dir("badcopy", "MemcpyHtoD,0x10\n");
    assert_string_equal(open_error("empty"), "empty: the directory has no kernelslist.g");
    assert_string_equal(open_error("raw"),
                        "raw: the directory has kernelslist but no kernelslist.g: group the trace "
                        "with post-traces-processing");
    assert_string_equal(open_error("badcopy"),
                        "badcopy/kernelslist.g:1: 'MemcpyHtoD,0x10' is not 'MemcpyHtoD,address,bytes'");
    assert_string_equal(open_error("nowhere"), "nowhere: cannot open the file: No such file or directory");
}

static void test_missing_file(void **state)
{
    (void)state;
    make_dir("b", "kernel-1.traceg\nkernel-12.traceg\n");
    write_text("b/kernel-1.traceg", KERNEL);
    write_text("b/kernel-13.traceg", KERNEL);
    assert_string_equal(kernel_error("b", 0), "");
    assert_string_equal(kernel_error("b", 1),
                        "b/kernelslist.g:2: the kernel file 'kernel-12.traceg' does not exist "
                        "(nearest: kernel-1.traceg)");
}

/* The list says .xz, the file was decompressed; or the other way round. */
static void test_other_name(void **state)
{
    (void)state;
    make_dir("c", "kernel-1.traceg.xz\nkernel-2.traceg\n");
    write_text("c/kernel-1.traceg", KERNEL);
    write_text("c/kernel-2.traceg.gz", KERNEL); /* plain, despite its name */
    assert_string_equal(kernel_error("c", 0), "");
    assert_string_equal(kernel_error("c", 1), "");
    acc_report report = { 0 };
    acc_totals totals;
    assert_int_equal(acc_check("c", &report, &totals, NULL), LS_OK);
    assert_int_equal(totals.read, 2);
    assert_int_equal(report.counts[ACC_other_name], 2);
    assert_int_equal(report.defects.count, 2);
    assert_string_equal(report.defects.at[0].text, "'kernel-1.traceg' is read for 'kernel-1.traceg.xz'");
    acc_report_fini(&report);
}

/* Everything at once: the check continues after each file. */
static void test_check(void **state)
{
    (void)state;
    make_dir("d", "kernel-1.traceg\nhello\nMemcpyHtoD,1\nkernel-2.traceg\nkernel-3.traceg\nkernel-4.traceg\n"
                  "kernel-5.traceg\n");
    write_text("d/kernel-1.traceg", KERNEL);
    write_text("d/kernel-3.traceg", "rubbish\n");
    write_text("d/kernel-4.traceg", "BZh9");
    write_text("d/kernel-5.traceg", KERNEL);
    write_text("d/kernel-6.traceg.zst", KERNEL);
    write_text("d/notes.txt", "");
    acc_report report = { 0 };
    acc_totals totals;
    ls_error err;
    assert_int_equal(acc_check("d", &report, &totals, &err), LS_OK);
    assert_int_equal(totals.kernels, 5);
    assert_int_equal(totals.read, 2);
    assert_int_equal(totals.blocks, 2);
    assert_int_equal(totals.warp_insts, 2);
    assert_int_equal(report.counts[ACC_unknown_command], 1);
    assert_int_equal(report.counts[ACC_bad_command], 1);
    assert_int_equal(report.counts[ACC_missing_file], 1);
    assert_int_equal(report.counts[ACC_structure], 1);
    assert_int_equal(report.counts[ACC_missing_key], 3);
    assert_int_equal(report.counts[ACC_unsupported], 1);
    assert_int_equal(report.counts[ACC_unlisted_file], 1);
    const acc_defect *last = &report.defects.at[report.defects.count - 1];
    assert_int_equal(last->kind, ACC_unlisted_file);
    assert_string_equal(last->file, "d/kernel-6.traceg.zst");
    acc_report_fini(&report);
    assert_int_equal(acc_check("nowhere", &report, &totals, &err), LS_ERR_IO);
    acc_report_fini(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),    cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_open_errors), cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_other_name),  cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
