/* test_replay.c: programs with several queues, recorded in simulated time and replayed. Every command begins
 * and ends at the same time as before, also overlapping ones. Also accesses of the host, and recordings that
 * cannot be replayed, and positions of both. */
#include "runtime/driver/driver_test.h"

#include "runtime/timing/timing.h"
#include "workload/temp_dir.h"

#define PLATFORM LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define OTHER_PLATFORM LS_SOURCE_DIR "/platforms/rx5500xt.yaml"
#define ITEMS 4096u
#define RECORDS_MAX 64

typedef struct record_list {
    timing_record at[RECORDS_MAX];
    size_t count;
} record_list;

static ls_status keep(void *self, const timing_record *over, ls_error *error)
{
    record_list *list = self;
    (void)error;
    assert_true(list->count < RECORDS_MAX);
    list->at[list->count++] = *over;
    return LS_OK;
}

/* Two queues that begin at once and join at the end; the host accesses memory in between. Commands before the position
 * (NULL: none) take no time. */
static void run_queues(const char *record_path, uint32_t threads, const source_position *from,
                       record_list *list)
{
    const ls_gpu_options options = { .platform = PLATFORM,
                                     .threads = threads,
                                     .memory_bytes = 64 << 20,
                                     .record_path = record_path,
                                     .check_memory = true };
    bench b = bench_open("gfx803", 4, &options);
    uint32_t values[ITEMS], start = 5, poke = 100;
    const uint32_t count = ITEMS;
    ls_gpu_address p = bench_buffer(&b, sizeof values), q = bench_buffer(&b, sizeof values);
    const ls_gpu_arg args_p[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) },
                     args_q[] = { LS_GPU_ARG(q), LS_GPU_ARG(count) };
    const ls_gpu_launch to_p = { .grid = { ITEMS }, .group = { 64 }, .args = args_p, .arg_count = 2 };
    const ls_gpu_launch to_q = { .grid = { ITEMS }, .group = { 256 }, .args = args_q, .arg_count = 2 };
    ls_gpu_kernel *increment = bench_kernel(&b, "increment");
    ls_gpu_queue *one, *two;
    ls_gpu_event *go, *first;
    timing_watch(b.system, keep, list);
    if (from)
        OK(timing_skip(b.system, from, &err));
    OK(ls_gpu_queue_create(b.context, &one, &err));
    OK(ls_gpu_queue_create(b.context, &two, &err));
    OK(ls_gpu_event_create(b.context, &go, &err));
    OK(ls_gpu_queue_wait(one, go, &err));
    OK(ls_gpu_queue_wait(two, go, &err));
    OK(ls_gpu_queue_fill(one, p, &start, 4, sizeof values, NULL, &err));
    OK(ls_gpu_queue_fill(two, q, &start, 4, sizeof values, NULL, &err));
    for (int i = 0; i < 3; i++) {
        OK(ls_gpu_queue_launch(one, increment, &to_p, &first, &err));
        if (i < 2)
            ls_gpu_event_release(first);
        OK(ls_gpu_queue_launch(two, increment, &to_q, NULL, &err));
    }
    OK(ls_gpu_event_set(go, NULL, &err));
    OK(ls_gpu_sync(b.context, &err));
    OK(ls_gpu_poke(b.context, p, &poke, sizeof poke, &err));
    OK(ls_gpu_queue_wait(two, first, &err));
    OK(ls_gpu_queue_copy(two, q, p, sizeof values / 2, NULL, &err));
    OK(ls_gpu_queue_copy_out(two, values, q, sizeof values, NULL, &err));
    OK(ls_gpu_sync(b.context, &err));
    assert_int_equal(values[0], 100);
    assert_int_equal(values[1], 8);
    assert_int_equal(values[ITEMS - 1], 8);
    ls_gpu_event_release(go);
    ls_gpu_event_release(first);
    OK(timing_check_skip(b.system, &err));
    OK(ls_gpu_system_close_trace(b.system, &err));
    bench_close(&b);
}

static ls_status replay_some(const char *path, const char *platform, uint32_t threads,
                             const source_position *from, const kernel_selection *selection, record_list *list,
                             ls_gpu_counts *counts)
{
    ls_gpu_system *system;
    amd_file *file;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = platform,
                                               .threads = threads,
                                               .memory_bytes = 64 << 20 },
                            &system, &err));
    OK(amd_file_open(path, &file, &err));
    timing_watch(system, keep, list);
    ls_status status = timing_replay(system, file, from, selection, counts, &err);
    ls_gpu_system_destroy(system);
    amd_file_close(file);
    return status;
}

static ls_status replay(const char *path, const char *platform, uint32_t threads, record_list *list,
                        ls_gpu_counts *counts)
{
    return replay_some(path, platform, threads, NULL, NULL, list, counts);
}

static void everything_when_it_was(void **unused)
{
    record_list recorded = { .count = 0 };
    size_t beside = 0, overlaps = 0;
    (void)unused;
    run_queues("queues.lspk", 2, NULL, &recorded);
    /* Two fills, six launches, a copy, a copy out; accesses of the host are no commands. */
    assert_int_equal(recorded.count, 10);
    amd_file *file;
    OK(amd_file_open("queues.lspk", &file, &err));
    assert_int_equal(amd_file_command_count(file), 11);
    for (size_t i = 0; i < amd_file_command_count(file); i++)
        beside += amd_file_command_at(file, i)->beside_count;
    assert_true(beside >= 4);
    amd_file_close(file);
    for (size_t i = 1; i < recorded.count; i++)
        overlaps += recorded.at[i].begin < recorded.at[i - 1].end;
    assert_true(overlaps >= 3);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        record_list replayed = { .count = 0 };
        ls_gpu_counts counts = { 0 };
        assert_int_equal(replay("queues.lspk", PLATFORM, threads, &replayed, &counts), LS_OK);
        assert_int_equal(replayed.count, recorded.count);
        for (size_t i = 0; i < recorded.count; i++) {
            const timing_record *was = &recorded.at[i], *is = &replayed.at[i];
            assert_int_equal(is->kind, was->kind);
            assert_int_equal(is->bytes, was->bytes);
            assert_int_equal(is->instructions, was->instructions);
            assert_int_equal(is->begin, was->begin);
            assert_int_equal(is->end, was->end);
        }
        assert_int_equal(counts.launches, 6);
        assert_int_equal(counts.wavefronts, 6 * ITEMS / 64);
    }
    /* Some launches: all copies stay. */
    selected_kernel some[] = { { .command = 1, .number = 2 }, { .command = 4, .number = 5 } };
    record_list few = { .count = 0 };
    ls_gpu_counts two = { 0 };
    assert_int_equal(replay_some("queues.lspk", PLATFORM, 1, NULL, &(kernel_selection){ some, 2 }, &few, &two),
                     LS_OK);
    assert_int_equal(few.count, 6);
    assert_int_equal(two.launches, 2);
    assert_int_equal(two.stores, 2 * ITEMS);
    /* On another GPU: the same work in another time. */
    record_list other = { .count = 0 };
    ls_gpu_counts counts = { 0 };
    assert_int_equal(replay("queues.lspk", OTHER_PLATFORM, 1, &other, &counts), LS_OK);
    assert_int_equal(other.count, recorded.count);
    assert_int_equal(counts.stores, 6 * ITEMS);
    assert_int_not_equal(other.at[9].end, recorded.at[9].end);
}

static uint64_t sum_instructions(const record_list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->at[i].instructions;
    return sum;
}

/* From each command on: the recording and the program have the same work left, and the program has the same result
 * (run_queues() compares it). Their times may differ: a recording keeps the order in which commands ended when they
 * were recorded, the queues of a program begin anew. */
static void positions_of_queues(void **unused)
{
    record_list recorded = { .count = 0 };
    amd_file *file;
    (void)unused;
    run_queues("positions.lspk", 2, NULL, &recorded);
    source_position from = { .kind = POSITION_RECORDING };
    OK(amd_file_open("positions.lspk", &file, &err));
    for (from.command = 0; from.command <= amd_file_command_count(file); from.command++) {
        record_list replayed = { .count = 0 }, executed = { .count = 0 };
        ls_gpu_counts counts = { 0 };
        OK(replay_some("positions.lspk", PLATFORM, 2, &from, NULL, &replayed, &counts));
        run_queues(NULL, 2, &from, &executed);
        assert_int_equal(counts.launches, 6 - from.launches);
        assert_int_equal(executed.count, replayed.count);
        assert_int_equal(sum_instructions(&executed), sum_instructions(&replayed));
        for (size_t i = 0; i < executed.count; i++) {
            assert_true(executed.at[i].command >= from.command);
            assert_true(replayed.at[i].command >= from.command);
        }
        if (from.command < amd_file_command_count(file))
            from.launches += amd_file_command_at(file, (size_t)from.command)->kind == AMD_FILE_LAUNCH;
    }
    amd_file_close(file);
}

/* Emulated: the same commands one after another. */
static void emulated(void **unused)
{
    bench b = bench_open("gfx803", 4, &(ls_gpu_options){ .record_path = "emulated.lspk", .threads = 2 });
    uint32_t values[256] = { 0 };
    const uint32_t count = 256;
    ls_gpu_address p = bench_buffer(&b, sizeof values);
    const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
    const ls_gpu_launch launch = { .grid = { 256 }, .group = { 64 }, .args = args, .arg_count = 2 };
    record_list list = { .count = 0 };
    ls_gpu_counts counts = { 0 };
    (void)unused;
    OK(ls_gpu_copy_in(b.context, p, values, sizeof values, &err));
    OK(ls_gpu_run(b.context, bench_kernel(&b, "increment"), &launch, &err));
    OK(ls_gpu_copy_out(b.context, values, p, sizeof values, &err));
    assert_int_equal(values[255], 1);
    OK(ls_gpu_system_close_trace(b.system, &err));
    bench_close(&b);
    assert_int_equal(replay("emulated.lspk", PLATFORM, 1, &list, &counts), LS_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.at[0].kind, DRV_WORK_IN);
    assert_int_equal(list.at[1].kind, DRV_WORK_LAUNCH);
    assert_int_equal(list.at[2].kind, DRV_WORK_OUT);
    assert_true(list.at[1].begin >= list.at[0].end && list.at[2].begin >= list.at[1].end);
    assert_int_equal(counts.loads, 256 + counts.classes[AMD_CLASS_SMEM]);
}

/* A launch that faults leaves no recording. */
static void not_replayed(void **unused)
{
    bench b = bench_open("gfx803", 4,
                         &(ls_gpu_options){
                             .platform = PLATFORM, .memory_bytes = 64 << 20, .record_path = "no.lspk" });
    const uint64_t nowhere = 64;
    const uint32_t count = 256;
    const ls_gpu_arg args[] = { LS_GPU_ARG(nowhere), LS_GPU_ARG(count) };
    const ls_gpu_launch launch = { .grid = { 256 }, .group = { 64 }, .args = args, .arg_count = 2 };
    (void)unused;
    assert_int_equal(ls_gpu_run(b.context, bench_kernel(&b, "increment"), &launch, &err), LS_ERR_CHECK);
    OK(ls_gpu_system_close_trace(b.system, &err));
    bench_close(&b);
    assert_int_equal(access("no.lspk", F_OK), -1);
}

/* Work-groups whose bytes were changed are noticed when they are needed: the run ends with the reason. */
static void damaged(void **unused)
{
    record_list list = { .count = 0 };
    ls_gpu_counts counts = { 0 };
    unsigned tried = 0;
    (void)unused;
    run_queues("whole.lspk", 1, NULL, &list);
    FILE *stream = fopen("whole.lspk", "rb");
    static uint8_t bytes[1 << 16];
    assert_non_null(stream);
    size_t count = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    for (size_t at = 64; at < count && tried < 3; at += 97) {
        amd_file *file;
        bytes[at] ^= 0x10;
        stream = fopen("damaged.lspk", "wb");
        assert_non_null(stream);
        assert_int_equal(fwrite(bytes, 1, count, stream), count);
        fclose(stream);
        bytes[at] ^= 0x10;
        if (amd_file_open("damaged.lspk", &file, NULL) != LS_OK)
            continue;
        amd_file_close(file);
        if (amd_file_verify("damaged.lspk", NULL) == LS_OK)
            continue;
        list.count = 0;
        REFUSED(replay("damaged.lspk", PLATFORM, 2, &list, &counts), LS_ERR_INPUT, "damaged");
        tried++;
    }
    assert_int_equal(tried, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_when_it_was),
        cmocka_unit_test(positions_of_queues),
        cmocka_unit_test(emulated),
        cmocka_unit_test(not_replayed),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
