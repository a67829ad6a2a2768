/* test_position_gpus.c: positions of work for several GPUs: device lists and collectives of NVIDIA systems, programs that divide
 * themselves over AMD GPUs, and recordings of them. A position is after a number of commands of each device. Restored runs
 * execute the rest, compute the same result, and are the same for 1, 2, 3 and 8 threads. */
#include "sim/position_rig.h"
#include "workload/temp_dir.h"

#include <stdlib.h>

static const uint32_t thread_counts[] = { 1, 2, 3, 8 };

/* 2, 3, 8, 2, ...: every other run that is compared with one thread. */
static uint32_t other_threads(void)
{
    static unsigned calls;
    return thread_counts[1 + calls++ % 3];
}

static int enter(void **state)
{
    return setenv("LOCKSTEP_KERNELS", LS_BINARY_DIR "/share/lockstep/kernels", 1) != 0 ? -1
                                                                                       : temp_dir_enter(state);
}

static source_position position_of(const uint8_t *bytes)
{
    source_position p;
    ok(position_read(bytes, POSITION_BYTES, "memory", &p, &err));
    return p;
}

/* ------------------------------------------------------------------------------------------------ device lists */

/* Small GPUs: two of them have work in the list. */
static const char system_text[] =
    "machine: system\n"
    "gpus:\n"
    "  - {platform: rtx3070, count: 4, cores: 4, memory.channels: 4}\n"
    "fabric: {model: switch, planes: 2, links: 2, link_gb_s: 8, packet_payload_bytes: 256, queue_messages: 256}\n";
static const char list_text[] = "lockstep devices 1\n"
                                "device 0\n"
                                "run synth:vector-add,n=1024\n"
                                "copy 65536 0 1\n"
                                "signal half\n"
                                "delay 500\n"
                                "run synth:graph-walk,nodes=256,levels=4\n"
                                "wait back\n"
                                "run synth:saxpy,n=1024\n"
                                "device 1\n"
                                "delay 1000\n"
                                "wait half\n"
                                "run synth:saxpy,n=2048\n"
                                "copy 32768 1 0\n"
                                "signal back\n"
                                "run synth:vector-add,n=2048\n";

static ls_sim_options list_options(const char *workload)
{
    write_text("four.yaml", system_text);
    write_text("work.list", list_text);
    return options_of("./four.yaml", workload);
}

static uint64_t kernels_after(const run_rows *rows, uint32_t gpu, uint64_t number)
{
    uint64_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += rows->at[i].kernel.gpu == gpu && rows->at[i].kernel.number >= number;
    return count;
}

static const kernel_row *find(const run_rows *rows, uint32_t gpu, uint64_t number)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].kernel.gpu == gpu && rows->at[i].kernel.number == number)
            return &rows->at[i];
    fail_msg("gpu%u has no kernel %llu", gpu, (unsigned long long)number);
    return NULL;
}

/* Every kernel of the rest is one of the whole, with the same instructions, and none that comes later is missing. */
static void check_rest(const run_rows *whole, const run_rows *rest)
{
    uint64_t first[2] = { UINT64_MAX, UINT64_MAX };
    for (size_t i = 0; i < rest->count; i++) {
        const ls_sim_kernel *k = &rest->at[i].kernel;
        const kernel_row *same = find(whole, k->gpu, k->number);
        assert_string_equal(rest->at[i].name, same->name);
        assert_int_equal(rest->at[i].instructions, same->instructions);
        first[k->gpu] = k->number < first[k->gpu] ? k->number : first[k->gpu];
    }
    for (uint32_t gpu = 0; gpu < 2; gpu++)
        assert_int_equal(kernels_after(rest, gpu, 0), kernels_after(whole, gpu, first[gpu]));
}

static void test_device_lists_go_on(void **state)
{
    (void)state;
    static run_rows whole, rest, again;
    const ls_sim_options options = list_options("work.list");
    run_from(&options, NULL, 1, &whole);
    assert_int_equal(whole.count, 8);
    for (size_t i = 0; i < whole.count; i += 2) {
        source_position p = position_of(whole.positions[i]);
        const ls_sim_kernel *k = &whole.at[i].kernel;
        assert_int_equal(p.kind, POSITION_LIST);
        run_from(&options, whole.positions[i], 1, &rest);
        check_rest(&whole, &rest);
        /* The kernel itself is the first of its GPU, and the position before it is the same. */
        assert_int_equal(kernels_after(&rest, k->gpu, 0), kernels_after(&whole, k->gpu, k->number));
        run_from(&options, whole.positions[i], other_threads(), &again);
        compare_times(&rest, &again);
    }
}

/* At the beginning every time is that of the whole run. */
static void test_a_list_from_its_beginning(void **state)
{
    (void)state;
    static run_rows whole, rest;
    const ls_sim_options options = list_options("work.list");
    run_from(&options, NULL, 1, &whole);
    source_position begin = position_of(whole.positions[0]);
    memset(begin.devices, 0, sizeof begin.devices);
    begin.command = 0;
    uint8_t bytes[POSITION_BYTES];
    position_write(&begin, bytes);
    run_from(&options, bytes, 3, &rest);
    compare_times(&whole, &rest);
}

/* A kernel of a GPU by its number, and the position before it. */
static source_position before(const run_rows *rows, uint32_t gpu, uint64_t number)
{
    return position_of(rows->positions[find(rows, gpu, number) - rows->at]);
}

/* Signals that were sent before the position have come: a wait after it does not stop the run. */
static void test_signals_before_the_position_have_come(void **state)
{
    (void)state;
    static run_rows whole, rest;
    const ls_sim_options options = list_options("work.list");
    uint8_t bytes[POSITION_BYTES];
    run_from(&options, NULL, 1, &whole);
    source_position p = before(&whole, 0, 2), last = before(&whole, 0, kernels_after(&whole, 0, 0));
    assert_int_equal(p.devices[0].command, 4); /* "half" is sent */
    p.devices[1] = (position_device){ 0 };
    position_write(&p, bytes);
    run_from(&options, bytes, 2, &rest);
    check_rest(&whole, &rest);
    assert_int_equal(rest.count, whole.count - 1);
    assert_int_equal(last.devices[0].command, 6); /* "back" has been waited for */
    assert_true(last.devices[1].command >= 5);
    p = before(&whole, 0, 1);
    p.devices[1] = last.devices[1]; /* "half" is not sent, but device 1 has waited for it */
    assert_int_equal(open_at(&options, &p), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "after a wait of device 1 for signal 'half'"));
}

static ls_time run_collective(const ls_sim_options *options, const source_position *from, uint32_t threads,
                              ls_time at, source_position *out)
{
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = threads };
    ls_sim *sim;
    ok(session_open_at(options, from, &sim, &err));
    ok(ls_sim_run(sim, &how, &err));
    ls_time end = run_devices_end(&sim->devices);
    if (out)
        ok(session_position_at(sim, at, out, &err));
    ls_sim_close(sim);
    return end;
}

/* A collective has copies and signals alone. From the middle on, about half of the time is left. */
static void test_collectives_go_on(void **state)
{
    (void)state;
    const ls_sim_options options = list_options("synth:all-reduce,bytes=65536");
    source_position middle, end, bytes_of;
    uint8_t bytes[POSITION_BYTES];
    ls_time whole = run_collective(&options, NULL, 1, 0, NULL);
    (void)run_collective(&options, NULL, 1, whole / 2, &middle);
    (void)run_collective(&options, NULL, 1, whole, &end);
    assert_true(middle.command > 0 && middle.command < end.command);
    position_write(&middle, bytes);
    ok(position_read(bytes, sizeof bytes, "memory", &bytes_of, &err));
    assert_memory_equal(&bytes_of, &middle, sizeof middle);
    ls_time rest = run_collective(&options, &bytes_of, 1, 0, NULL);
    assert_in_range(rest, whole * 2 / 5, whole * 3 / 5);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(run_collective(&options, &bytes_of, thread_counts[i], 0, NULL), rest);
    assert_int_equal(run_collective(&options, &end, 2, 0, NULL), 0); /* nothing is left */
}

static void test_other_lists_are_refused(void **state)
{
    (void)state;
    static run_rows whole;
    ls_sim_options options = list_options("work.list"), other = list_options("synth:all-reduce,bytes=65536");
    run_from(&options, NULL, 1, &whole);
    source_position p = position_of(whole.positions[3]), bad;
    assert_int_equal(open_at(&other, &p), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "other content"));
    other = options_of("rtx3070", "synth:gemm");
    assert_int_equal(open_at(&other, &p), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "one of a device list, but this is a trace"));
    bad = p;
    bad.devices[1].command = 100;
    assert_int_equal(open_at(&options, &bad), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "after 100 commands of device 1, but it has only 6"));
    bad = p;
    bad.devices[0].kernel = 100;
    assert_int_equal(open_at(&options, &bad), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "at command 100 of the traces of device 0"));
    bad = p;
    bad.device_count = 3;
    assert_int_equal(open_at(&options, &bad), LS_ERR_INPUT);
    bad = p;
    bad.group = 1;
    assert_int_equal(open_at(&options, &bad), LS_ERR_UNSUPPORTED);
    assert_int_equal(position_begin("work.list", &bad, &err), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "'work.list' is for several GPUs"));
}

/* ---------------------------------------------------------------------------------------------------- programs */

typedef struct divided {
    const char *workload, *devices, *spread, *pages;
    uint64_t size;
    bool is_recorded;
} divided;

static const char *const small[] = { "gpus.clusters=1" };

static ls_sim_options divided_options(const divided *d, const char *workload, const ls_sim_setting *setting)
{
    ls_sim_options options = options_of("r9nano-x4", workload);
    options.sets = small;
    options.set_count = 1;
    if (setting == NULL)
        return options;
    options.settings = setting;
    options.setting_count = 1;
    options.devices = d->devices;
    options.spread = d->spread;
    options.pages = d->pages;
    options.verify = true; /* emulated and timed kernels together compute the right result */
    return options;
}

/* Kernels after a position are those whose numbers are not before it. */
static void check_rest_of_program(const run_rows *whole, const run_rows *rest, const source_position *p)
{
    uint64_t all = 0, left = 0;
    assert_int_equal(rest->count, whole->count - p->launches);
    for (size_t i = 0; i < whole->count; i++)
        all += whole->at[i].kernel.number > p->launches ? whole->at[i].instructions : 0;
    for (size_t i = 0; i < rest->count; i++) {
        assert_true(rest->at[i].kernel.number > p->launches);
        left += rest->at[i].instructions;
    }
    assert_int_equal(all, left);
    assert_int_equal(rest->hash, whole->hash);
}

static void check_divided(const divided *d)
{
    const ls_sim_setting setting = { NULL, d->size };
    ls_sim_options options = divided_options(d, d->workload, &setting);
    const ls_sim_options recording = divided_options(d, "run.lspk", NULL);
    static run_rows whole, rest, again, recorded;
    options.record = d->is_recorded ? "run.lspk" : NULL;
    run_from(&options, NULL, 1, &whole);
    options.record = NULL;
    if (d->is_recorded) {
        run_from(&recording, NULL, 2, &recorded);
        compare_times(&whole, &recorded);
    }
    size_t step = whole.count / 2;
    for (size_t i = 0; i < whole.count; i += step) {
        const source_position p = position_of(whole.positions[i]);
        run_from(&options, whole.positions[i], 1, &rest);
        check_rest_of_program(&whole, &rest, &p);
        run_from(&options, whole.positions[i], other_threads(), &again);
        compare_times(&rest, &again);
        if (!d->is_recorded)
            continue;
        /* The recording goes to the same command, and finds the same machine. */
        run_from(&recording, recorded.positions[i], other_threads(), &again);
        compare_times(&rest, &again);
    }
}

static void test_discrete_programs_go_on(void **state)
{
    (void)state;
    check_divided(&(divided){ .workload = "fir", .devices = "discrete", .size = 2048, .is_recorded = true });
}

/* The host reads and joins the result of each round before it starts the next one. */
static void test_programs_whose_host_reads_go_on(void **state)
{
    (void)state;
    check_divided(&(divided){ .workload = "kmeans", .devices = "discrete", .size = 64 });
}

static void test_unified_programs_go_on(void **state)
{
    (void)state;
    check_divided(&(divided){ .workload = "kmeans", .devices = "unified", .size = 64, .is_recorded = true });
    check_divided(&(divided){
        .workload = "fir", .devices = "unified", .size = 2048, .spread = "central", .pages = "one" });
}

static void test_locality_programs_go_on(void **state)
{
    (void)state;
    check_divided(&(divided){ .workload = "kmeans", .devices = "locality", .size = 64 });
}

static void test_what_has_no_position_is_refused(void **state)
{
    (void)state;
    const divided d = { .workload = "fir", .devices = "discrete", .size = 2048 };
    const ls_sim_setting setting = { NULL, d.size };
    const char *const moving[] = { "gpus.clusters=1", "migrate.model=page" };
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 1 };
    ls_sim_options options = divided_options(&d, "fir", &setting);
    static run_rows whole;
    ls_sim *sim;
    run_from(&options, NULL, 1, &whole);
    source_position p = position_of(whole.positions[whole.count - 1]), bad = p;
    assert_int_equal(p.device_count, 4);
    options.sets = moving;
    options.set_count = 2;
    assert_int_equal(open_at(&options, &p), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "only where pages stay: migrate.model must be none"));
    options.sets = small;
    options.set_count = 1;
    options.devices = "locality";
    assert_int_equal(open_at(&options, &p), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "other content"));
    options.devices = "discrete";
    bad.group = 1;
    assert_int_equal(open_at(&options, &bad), LS_ERR_UNSUPPORTED);
    bad = p;
    bad.device_count = 2;
    assert_int_equal(open_at(&options, &bad), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "the position has 2 devices, but this work has 4"));
    bad = p;
    bad.command++;
    assert_int_equal(open_at(&options, &bad), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "but its devices have"));
    /* GPU 3 has not so many commands before the host waits for the others. */
    bad = p;
    bad.devices[3].command += 1000;
    bad.command += 1000;
    ok(session_open_at(&options, &bad, &sim, &err));
    assert_int_equal(ls_sim_run(sim, &how, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "commands of device 3, but the program waits for a later command"));
    ls_sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_lists_go_on),
        cmocka_unit_test(test_a_list_from_its_beginning),
        cmocka_unit_test(test_signals_before_the_position_have_come),
        cmocka_unit_test(test_collectives_go_on),
        cmocka_unit_test(test_other_lists_are_refused),
        cmocka_unit_test(test_discrete_programs_go_on),
        cmocka_unit_test(test_programs_whose_host_reads_go_on),
        cmocka_unit_test(test_unified_programs_go_on),
        cmocka_unit_test(test_locality_programs_go_on),
        cmocka_unit_test(test_what_has_no_position_is_refused),
    };
    return cmocka_run_group_tests(tests, enter, temp_dir_leave);
}
