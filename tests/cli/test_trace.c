/* test_trace.c: `lockstep trace info` and `check` from the command line to the exit code. */
#include "workload/kernel_text.h"
#include "workload/temp_dir.h"

#include "cli/run_words.h"

#include <sys/stat.h>

/* The words after `lockstep trace`. */
#define run(...) run_words((const char *const[WORDS]){ "lockstep", "trace", __VA_ARGS__ })

#define NAMED(name, body)                                                                                     \
    "-kernel name = " name                                                                                    \
    "\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 64\n-nregs = 9\n"                 \
    "-binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n"         \
    "-accelsim tracer version = 3\n" BLOCK(body)
#define GOOD "warp = 0\ninsts = 2\n0000 0000000f 1 R1 LDG.E 1 R2 4 1 0x100 4 \n0010 ffffffff 0 EXIT 0 0 \n"

static int set_up(void **state)
{
    int failed = temp_dir_enter(state);
    if (failed || mkdir("good", 0755) != 0 || mkdir("bad", 0755) != 0)
        return -1;
    write_text("good/kernelslist.g", "kernel-1.traceg\nMemcpyHtoD,0x100,128\nkernel-2.traceg\n");
    write_text("good/kernel-1.traceg", NAMED("gemm", GOOD));
    write_text("good/kernel-2.traceg", NAMED("copy", GOOD));
    write_text("bad/kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
    write_text("bad/kernel-1.traceg",
               NAMED("odd", "warp = 0\ninsts = 2\n0000 ffffffff 0 FFMAA 0 0 \n0010 ffffffff 0 EXIT 0 0 \n"));
    return 0;
}

static int tear_down(void **state)
{
    free_texts();
    return temp_dir_leave(state);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_info(void **state)
{
    (void)state;
    assert_int_equal(run("info", "good"), 0);
    assert_has(out_text, "   1  gemm");
    assert_has(out_text, "   2  copy");
    assert_has(out_text, "  warp insts                   4   18.0 lanes\n");
    assert_has(out_text, "  load                         2   50.0 %  loads from memory\n");
    assert_has(out_text, "  global                       2    4.0 lanes  32.0 B\n");
    assert_string_equal(err_text, "");
}

static void test_info_selected(void **state)
{
    (void)state;
    assert_int_equal(run("info", "good", "--kernels", "name:c*", "--each"), 0);
    assert_null(strstr(out_text, "gemm"));
    assert_has(out_text, "   2  copy");
    assert_has(out_text, "      exit                         1   50.0 %");
    assert_int_equal(run("info", "good", "--kernels", "3"), 2);
    assert_string_equal(err_text, "lockstep: kernels '3': the trace has 2 kernels\n");
}

static void test_info_json(void **state)
{
    (void)state;
    assert_int_equal(run("info", "good/kernel-1.traceg", "--json"), 0);
    assert_has(out_text, "\"name\": \"gemm\"");
    assert_has(out_text, "\"grid\": [1, 1, 1]");
    assert_has(out_text, "\"warp_instructions\": 2,");
    assert_has(out_text, "\"global\": {\"warp_instructions\": 1, \"lane_accesses\": 4, \"bytes\": 16}");
    assert_has(out_text, "\"unknown_opcodes\": []");
}

static void test_info_unknown(void **state)
{
    (void)state;
    assert_int_equal(run("info", "bad/kernel-1.traceg"), 3);
    assert_has(out_text, "  unknown                      1  FFMAA at pc 0x0 (nearest: FFMA)\n");
    assert_string_equal(err_text,
                        "lockstep: the trace has 1 unknown opcode, the first is 'FFMAA' (nearest: FFMA)\n");
    assert_int_equal(run("info", "bad/kernel-1.traceg", "--unknown-opcodes", "alu"), 0);
    assert_int_equal(run("info", "bad/kernel-1.traceg", "--unknown-opcodes", "alu", "--json"), 0);
    assert_has(out_text, "{\"opcode\": \"FFMAA\", \"pc\": 0, \"count\": 1, \"nearest\": \"FFMA\"}");
}

static void test_info_missing(void **state)
{
    (void)state;
    assert_int_equal(run("info", "bad", "--unknown-opcodes", "alu"), 2);
    assert_string_equal(err_text,
                        "lockstep: bad/kernelslist.g:2: the kernel file 'kernel-2.traceg' does not exist "
                        "(nearest: kernel-1.traceg)\n");
    assert_int_equal(run("info", "nowhere"), 2);
}

static void test_check_good(void **state)
{
    (void)state;
    assert_int_equal(run("check", "good"), 0);
    assert_string_equal(out_text,
                        "2 of 2 kernels read, 2 thread blocks, 4 warp instructions: 0 errors, 0 warnings, 0 "
                        "notes\n");
}

static void test_check_bad(void **state)
{
    (void)state;
    assert_int_equal(run("check", "bad"), 2);
    assert_string_equal(
        out_text,
        "bad/kernel-1.traceg:16: error: unknown_opcode: unknown opcode 'FFMAA' of sm_80 at pc 0x0 (nearest: FFMA)\n"
        "bad/kernelslist.g:2: error: missing_file: the kernel file 'kernel-2.traceg' does not exist (nearest: "
        "kernel-1.traceg)\n"
        "\n"
        "error             1  missing_file     the list names a kernel file that cannot be read\n"
        "error             1  unknown_opcode   an opcode that no table has\n"
        "\n"
        "1 of 2 kernels read, 1 thread blocks, 2 warp instructions: 2 errors, 0 warnings, 0 notes\n");
    assert_string_equal(err_text, "lockstep: the trace has 2 errors\n");
}

/* Formats other than text check themselves; the first error would end it. */
static void test_check_other(void **state)
{
    (void)state;
    assert_int_equal(run("check", "synth:vector-add"), 0);
    assert_has(out_text, " warp instructions: no errors\n");
}

static void test_usage(void **state)
{
    (void)state;
    assert_int_equal(run("info"), 2);
    assert_int_equal(run("inform", "good"), 2);
    assert_has(err_text, "(nearest: info)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),         cmocka_unit_test(test_info_selected),
        cmocka_unit_test(test_info_json),    cmocka_unit_test(test_info_unknown),
        cmocka_unit_test(test_info_missing), cmocka_unit_test(test_check_good),
        cmocka_unit_test(test_check_bad),    cmocka_unit_test(test_check_other),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
