/* test_failed_run.c: a trace that turns out to be damaged while it is replayed. Thread blocks that are on the
 * cores at that moment have no other owner: their memory must be freed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "fidelity_rig.h"

#include "../workload/temp_dir.h"
#include "workload/trace.h"

#include <malloc.h>

enum { BLOCKS = 96, WARM_UP = 3, RUNS = 100, KEPT_BYTES = 64 << 10 };

/* `good` blocks of one warp with distinct instructions, then a damaged block. */
static void write_trace(int good)
{
    FILE *file = fopen("kernel-1.traceg", "w");
    assert_non_null(file);
    fprintf(
        file,
        "-kernel name = k\n-kernel id = 1\n-grid dim = (%d,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n"
        "-binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0002000000\n"
        "-local mem base_addr = 0x00007f0000000000\n-nvbit version = 1.7\n-accelsim tracer version = 3\n\n"
        "#traces format = x\n\n",
        BLOCKS);
    for (int block = 0; block < BLOCKS; block++) {
        fprintf(file, "#BEGIN_TB\n\nthread block = %d,0,0\n\nwarp = 0\ninsts = 40\n", block);
        for (int i = 0; i < 39; i++)
            fprintf(file, "%04x ffffffff 1 R4 IMAD 1 R%d 0\n", i * 16, i % 3 + 1);
        fputs(block == good ? "zz qq\n" : "0270 ffffffff 0 EXIT 0 0\n", file);
        fputs("\n#END_TB\n\n", file);
    }
    assert_int_equal(fclose(file), 0);
    write_text("kernelslist.g", "kernel-1.traceg\n");
}

static ls_status replay_once(ls_error *err)
{
    config_request request = { .platform = "tests/failed",
                               .text = rig_platform,
                               .text_bytes = strlen(rig_platform) };
    platform_config *config;
    ls_machine *machine;
    sass_trace *trace;
    trace_replay *replay;
    ls_run_result result;
    assert_int_equal(config_load(&request, &config, NULL, NULL), LS_OK);
    assert_int_equal(machine_create(config, 1, &machine, NULL), LS_OK);
    assert_int_equal(trace_open(".", &(trace_options){ 0 }, &trace, NULL), LS_OK);
    assert_int_equal(replay_create(ls_machine_engine(machine), trace, NULL, &replay, NULL), LS_OK);
    ls_status status = replay_run(replay, &(ls_run_options){ .threads = 1 }, &result, err);
    replay_destroy(replay);
    trace_close(trace);
    machine_destroy(machine);
    config_destroy(config);
    return status;
}

static void memory_comes_back(void **state)
{
    (void)state;
    ls_error err;
    size_t before = 0;
    write_trace(BLOCKS - 10);
    for (int i = 0; i < WARM_UP + RUNS; i++) {
        if (i == WARM_UP)
            before = mallinfo2().uordblks;
        assert_int_equal(replay_once(&err), LS_ERR_INPUT);
        assert_non_null(strstr(err.what, "'zz'"));
    }
    size_t after = mallinfo2().uordblks;
    /* Memory that malloc keeps for the thread counts as used. It has a limit; a leak of every run has none. */
    if (after > before + KEPT_BYTES)
        fail_msg("%zu bytes are lost in %d runs", after - before, RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_comes_back) };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
