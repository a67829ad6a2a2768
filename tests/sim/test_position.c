/* test_position.c: positions of recordings of AMD programs: the rest of a recording is the same in a file that was
 * opened anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/sim.h"
#include "workload/position.h"
#include "workload/temp_dir.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };
static ls_error err;

static void ok(ls_status status)
{
    if (status != LS_OK)
        fail_msg("%s: %s", err.where, err.what);
}

static void record(const char *path, uint64_t size)
{
    const ls_sim_setting setting = { NULL, size };
    const ls_sim_options options = { LS_SIM_OPTIONS,          .platform = "r9nano", .platform_dirs = dirs,
                                     .platform_dir_count = 1, .workload = "fir",    .settings = &setting,
                                     .setting_count = 1,      .record = path };
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 1 };
    ls_sim *sim;
    ok(ls_sim_open(&options, &sim, &err));
    ok(ls_sim_run(sim, &how, &err));
    ls_sim_close(sim);
}

static int enter(void **state)
{
    if (setenv("LOCKSTEP_KERNELS", LS_BINARY_DIR "/share/lockstep/kernels", 1) != 0 ||
        temp_dir_enter(state) != 0)
        return -1;
    record("a.lspk", 1024);
    record("b.lspk", 2048);
    return 0;
}

/* Everything from a position on, in both files. */
static void compare_rest(amd_file *a, amd_file *b, const source_position *p)
{
    amd_file_group ga = { 0 }, gb = { 0 };
    uint64_t first = p->group;
    assert_int_equal(amd_file_command_count(a), amd_file_command_count(b));
    for (size_t c = (size_t)p->command; c < amd_file_command_count(a); c++, first = 0) {
        const amd_file_command *ca = amd_file_command_at(a, c), *cb = amd_file_command_at(b, c);
        assert_int_equal(ca->kind, cb->kind);
        assert_int_equal(ca->bytes, cb->bytes);
        if (ca->kind != AMD_FILE_LAUNCH)
            continue;
        for (uint64_t g = first; g < amd_file_groups(amd_file_launch_at(a, ca->launch)); g++) {
            ok(amd_file_read(a, ca->launch, g, &ga, &err));
            ok(amd_file_read(b, cb->launch, g, &gb, &err));
            assert_int_equal(ga.count, gb.count);
            assert_memory_equal(ga.at, gb.at, ga.count);
        }
    }
    amd_file_group_fini(&ga);
    amd_file_group_fini(&gb);
}

static void test_recordings_go_on(void **state)
{
    (void)state;
    amd_file *first, *second;
    ok(amd_file_open("a.lspk", &first, &err));
    for (size_t c = 0; c <= amd_file_command_count(first); c++) {
        source_position saved, loaded;
        uint8_t bytes[POSITION_BYTES];
        ok(position_begin("a.lspk", &saved, &err));
        assert_int_equal(saved.kind, POSITION_RECORDING);
        saved.command = c;
        bool launch =
            c < amd_file_command_count(first) && amd_file_command_at(first, c)->kind == AMD_FILE_LAUNCH;
        saved.group = launch ? 1 : 0;
        position_write(&saved, bytes);
        ok(amd_file_open("a.lspk", &second, &err));
        ok(position_read(bytes, sizeof bytes, "memory", &loaded, &err));
        ok(position_check(&loaded, "a.lspk", &err));
        ok(position_check_recording(&loaded, second, &err));
        compare_rest(first, second, &loaded);
        amd_file_close(second);
    }
    amd_file_close(first);
}

static void test_another_recording_is_refused(void **state)
{
    (void)state;
    source_position p;
    amd_file *file;
    ok(position_begin("a.lspk", &p, &err));
    assert_int_equal(position_check(&p, "b.lspk", &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "other content"));
    assert_string_equal(err.where, "b.lspk");
    assert_int_equal(position_check(&p, "synth:gemm", &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "one of a recording, but this is a trace"));
    ok(amd_file_open("a.lspk", &file, &err));
    p.command = 99999;
    assert_int_equal(position_check_recording(&p, file, &err), LS_ERR_INPUT);
    p.command = amd_file_command_count(file);
    assert_int_equal(position_check_recording(&p, file, &err), LS_OK);
    p.group = 1;
    assert_int_equal(position_check_recording(&p, file, &err), LS_ERR_INPUT);
    amd_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recordings_go_on),
        cmocka_unit_test(test_another_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, enter, temp_dir_leave);
}
