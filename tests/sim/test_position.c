/* test_position.c: positions of recordings, programs and traces: saved before each kernel, restored in a new simulation,
 * whose kernels execute the same instructions. A restored machine is new: its caches are empty. So cycles are compared
 * with those of other runs that begin there with empty caches, and for 1 and 3 threads. */
#include "sim/position_rig.h"
#include "workload/temp_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ------------------------------------------------------------------------------------------- simulations */

static void check_program(const char *workload, uint64_t size, size_t kernels)
{
    const ls_sim_setting setting = { NULL, size };
    ls_sim_options options = options_of("r9nano", workload), recording = options_of("r9nano", "run.lspk");
    static run_rows whole, rest, again, replayed;
    source_position begin;
    options.settings = &setting;
    options.setting_count = 1;
    options.verify = true; /* the result of emulated and timed kernels together is right */
    options.record = "run.lspk";
    run_from(&options, NULL, 1, &whole);
    assert_int_equal(whole.count, kernels);
    options.record = NULL;
    for (size_t i = 0; i < kernels; i++) {
        source_position program, recorded;
        run_from(&options, whole.positions[i], 1, &rest);
        compare_kernels(&whole, &rest, i);
        assert_int_equal(rest.hash, whole.hash);
        run_from(&options, whole.positions[i], 3, &again);
        compare_times(&rest, &again);
        /* The recording goes to the same command, and finds the same machine with data at the same addresses. */
        ok(position_read(whole.positions[i], POSITION_BYTES, "memory", &program, &err));
        ok(position_begin("run.lspk", &recorded, &err));
        assert_int_equal(program.launches, i);
        recorded.command = program.command;
        uint8_t bytes[POSITION_BYTES];
        position_write(&recorded, bytes);
        run_from(&recording, bytes, 1, &replayed);
        compare_times(&rest, &replayed);
        for (size_t k = 0; k < replayed.count; k++)
            assert_int_equal(replayed.at[k].instructions, whole.at[i + k].instructions);
        assert_memory_equal(replayed.positions[0], bytes, POSITION_BYTES);
    }
    /* At the beginning of the program the machine is the same, and so is every time. */
    ok(position_read(whole.positions[0], POSITION_BYTES, "memory", &begin, &err));
    assert_true(begin.command > 0); /* input is copied before the first kernel */
    begin.command = begin.launches = 0;
    position_write(&begin, again.positions[0]);
    run_from(&options, again.positions[0], 1, &rest);
    compare_times(&whole, &rest);
}

static void test_programs_go_on(void **state)
{
    (void)state;
    check_program("scan", 4096, 3);
}

/* The host reads the result of each round before it starts the next one. */
static void test_programs_whose_host_reads_go_on(void **state)
{
    (void)state;
    check_program("kmeans", 256, 4);
}

static void test_another_program_is_refused(void **state)
{
    (void)state;
    ls_sim_setting setting = { NULL, 4096 };
    ls_sim_options options = options_of("r9nano", "scan"), trace = options_of("rtx3070", "synth:gemm");
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 1 };
    static run_rows whole;
    source_position p, other;
    ls_sim *sim;
    options.settings = &setting;
    options.setting_count = 1;
    run_from(&options, NULL, 1, &whole);
    ok(position_read(whole.positions[1], POSITION_BYTES, "memory", &p, &err));
    setting.value = 8192;
    assert_int_equal(open_at(&options, &p), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "other content"));
    assert_int_equal(open_at(&trace, &p), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "one of a program, but this is a trace"));
    setting.value = 4096;
    options.record = "no.lspk";
    assert_int_equal(open_at(&options, &p), LS_ERR_USAGE);
    options.record = NULL;
    other = p;
    other.group = 1;
    assert_int_equal(open_at(&options, &other), LS_ERR_UNSUPPORTED);
    /* Of the same program, but neither can have been saved from it. */
    other = p;
    other.launches = 2;
    ok(session_open_at(&options, &other, &sim, &err));
    assert_int_equal(ls_sim_run(sim, &how, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "after 2 launches, but"));
    ls_sim_close(sim);
    other = p;
    other.command = 1000;
    ok(session_open_at(&options, &other, &sim, &err));
    assert_int_equal(ls_sim_run(sim, &how, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "after 1000 commands, but the program has only"));
    ls_sim_close(sim);
}

/* As with a choice of kernels, whose machine is new at the first of them, too. */
static void test_traces_go_on(void **state)
{
    (void)state;
    ls_sim_options options = options_of("rtx3070", "synth:graph-walk"), chosen = options;
    static run_rows whole, rest, again;
    source_position p;
    run_from(&options, NULL, 1, &whole);
    assert_int_equal(whole.count, 8);
    for (size_t i = 0; i < whole.count; i += 3) {
        char text[24];
        run_from(&options, whole.positions[i], 1, &rest);
        compare_kernels(&whole, &rest, i);
        snprintf(text, sizeof text, "%zu-", i + 1);
        chosen.kernels = text;
        run_from(&chosen, NULL, 3, &again);
        compare_times(&rest, &again);
    }
    ok(position_read(whole.positions[1], POSITION_BYTES, "memory", &p, &err));
    p.group = 1;
    assert_int_equal(open_at(&options, &p), LS_ERR_UNSUPPORTED);
    p.group = 0;
    p.command = 1000;
    assert_int_equal(open_at(&options, &p), LS_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recordings_go_on),
        cmocka_unit_test(test_another_recording_is_refused),
        cmocka_unit_test(test_programs_go_on),
        cmocka_unit_test(test_programs_whose_host_reads_go_on),
        cmocka_unit_test(test_another_program_is_refused),
        cmocka_unit_test(test_traces_go_on),
    };
    return cmocka_run_group_tests(tests, enter, temp_dir_leave);
}
