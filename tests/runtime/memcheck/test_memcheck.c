/* test_memcheck.c: the rules of the memory checker, with events that no machine made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/memcheck/memcheck.h"

#include <string.h>

#define X UINT64_C(0x100010000)
#define Y UINT64_C(0x100020000)
enum { VM = 1, VS = 8 }; /* counters */

/* Waves 0 and 1 are a work-group of one compute unit, 2 is one of another unit, 3 the same on another GPU. */
typedef struct rig {
    memcheck *m;
    amd_program program;
    uint32_t command;
    cu_observer observers[2];
    void *logs[3];
    uint64_t time;
    uint32_t tokens;
    amd_access access;
} rig;

static const uint32_t log_of[] = { 0, 0, 1, 2 }, slot_of[] = { 0, 1, 0, 0 };

static void put(rig *r, uint32_t wave, cu_seen seen)
{
    uint32_t log = log_of[wave];
    seen.time = ++r->time;
    seen.wave = slot_of[wave];
    r->observers[log == 2].put(r->logs[log], r->command, &seen);
}

static uint32_t launch(rig *r)
{
    return memcheck_begin(r->m, &(memcheck_work){ .kind = MEMCHECK_LAUNCH, .program = &r->program });
}

static void begin_groups(rig *r)
{
    static const uint16_t slots[] = { 0, 1 };
    static const uint32_t ids[3][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } };
    for (uint32_t g = 0; g < 2; g++)
        r->observers[g] = memcheck_observe(r->m, g, r->command);
    for (uint32_t i = 0; i < 3; i++) {
        if (!r->logs[i])
            r->logs[i] = r->observers[i == 2].open(r->m, i == 2, 0, i);
        put(r, i == 0 ? 0 : i + 1,
            (cu_seen){ .kind = CU_SEEN_GROUP,
                       .id = ids[i],
                       .waves = slots,
                       .wave_count = i == 0 ? 2 : 1,
                       .one_cache = true });
    }
}

static int open_rig(void **state)
{
    static rig r;
    ls_error err;
    memset(&r, 0, sizeof r);
    r.program.name = "kernel";
    r.program.kernel.entry = 0x1000;
    r.program.kernel.target = AMD_GFX803;
    if (memcheck_create(&r.m, &err) != LS_OK)
        return -1;
    r.command = launch(&r);
    begin_groups(&r);
    *state = &r;
    return 0;
}

static int close_rig(void **state)
{
    memcheck_destroy(((rig *)*state)->m);
    return 0;
}

typedef struct step {
    uint32_t wave;
    amd_access_kind kind;
    uint64_t address;
    uint32_t value; /* stored, or added, or read */
    uint8_t bytes;  /* 0: 4 */
    bool newest, returns;
    uint8_t atomic;
} step;

static cu_seen seen_of(rig *r, const step *s, uint32_t token)
{
    r->access = (amd_access){ .lanes = 1,
                              .kind = (uint8_t)s->kind,
                              .pieces = 1,
                              .piece_bytes = s->bytes ? s->bytes : 4,
                              .atomic = s->atomic,
                              .returns = s->returns || s->kind == AMD_ACCESS_LOAD };
    r->access.address[0][0] = s->address;
    r->access.data[0][0] = s->value;
    return (cu_seen){ .access = &r->access,
                      .data = r->access.data[0],
                      .stride = AMD_DATA_DWORDS,
                      .token = token,
                      .pc = 0x1000 + (uint64_t)s->wave * 16,
                      .newest = s->newest,
                      .counters = VM };
}

static uint32_t issue(rig *r, step s)
{
    uint32_t token = r->tokens++;
    cu_seen seen = seen_of(r, &s, token);
    seen.kind = CU_SEEN_ISSUE;
    put(r, s.wave, seen);
    return token;
}

/* value: of a load or of an atomic that returns. */
static void answer(rig *r, step s, uint32_t token)
{
    cu_seen seen = seen_of(r, &s, token);
    seen.kind = CU_SEEN_RETURN;
    seen.data = r->access.returns ? seen.data : NULL;
    put(r, s.wave, seen);
}

static void store(rig *r, uint32_t wave, uint64_t address, uint32_t value)
{
    step s = { .wave = wave, .kind = AMD_ACCESS_STORE, .address = address, .value = value };
    answer(r, s, issue(r, s));
}

static void load(rig *r, uint32_t wave, uint64_t address, uint32_t value)
{
    step s = { .wave = wave, .kind = AMD_ACCESS_LOAD, .address = address, .value = value };
    answer(r, s, issue(r, s));
}

static void load_newest(rig *r, uint32_t wave, uint64_t address, uint32_t value)
{
    step s = { .wave = wave, .kind = AMD_ACCESS_LOAD, .address = address, .value = value, .newest = true };
    answer(r, s, issue(r, s));
}

static void add(rig *r, uint32_t wave, uint64_t address, uint32_t by, uint32_t old)
{
    step s = { .wave = wave,
               .kind = AMD_ACCESS_ATOMIC,
               .address = address,
               .value = by,
               .atomic = AMD_ATOMIC_ADD,
               .returns = true };
    uint32_t token = issue(r, s);
    s.value = old;
    answer(r, s, token);
}

static void wait_for_all(rig *r, uint32_t wave)
{
    put(r, wave, (cu_seen){ .kind = CU_SEEN_WAIT, .counters = 15 });
}

static void empty_caches(rig *r, uint32_t wave, uint8_t levels)
{
    put(r, wave, (cu_seen){ .kind = CU_SEEN_FORGET, .levels = levels });
}

static void barrier(rig *r)
{
    static const uint16_t slots[] = { 0, 1 };
    put(r, 0, (cu_seen){ .kind = CU_SEEN_BARRIER, .waves = slots, .wave_count = 2 });
}

static void host_write(rig *r, uint64_t to, uint32_t value)
{
    memcheck_write(r->m, 0, to, &value, sizeof value);
}

/* The next launch begins when the one before has ended. */
static void next_launch(rig *r)
{
    memcheck_end(r->m, r->command, NULL);
    r->command = launch(r);
    begin_groups(r);
}

static ls_status flush(rig *r, ls_error *err)
{
    return memcheck_flush(r->m, 0, err);
}

static void expect(rig *r, uint64_t races)
{
    ls_error err = { 0 };
    if (flush(r, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_int_equal(memcheck_get_counts(r->m).races, races);
}

static void expect_wrong(rig *r, const char *text)
{
    ls_error err = { 0 };
    assert_int_equal(flush(r, &err), LS_ERR_CHECK);
    assert_string_equal(err.what, text);
}

/* --- one wave --------------------------------------------------------------------------------------------- */

static void a_wave_reads_what_it_wrote(void **state)
{
    rig *r = *state;
    store(r, 0, X, 5);
    load(r, 0, X, 5);
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 4);
}

static void a_wrong_value_is_named(void **state)
{
    rig *r = *state;
    store(r, 0, X, 5);
    load(r, 0, X, 4);
    expect_wrong(
        r, "kernel+0x0 on gpu0 (work-group 0,0,0, wave 0, lane 0) reads 0x00000004 at 0x100010000, but the "
           "last write was 0x00000005, by kernel+0x0 on gpu0 (work-group 0,0,0, wave 0)");
}

/* A load that left before a store of its wave has the old value, also if it returns later. */
static void a_load_is_older_than_a_later_store(void **state)
{
    rig *r = *state;
    store(r, 0, X, 1);
    const step read = { .wave = 0, .kind = AMD_ACCESS_LOAD, .address = X, .value = 1 };
    uint32_t token = issue(r, read);
    store(r, 0, X, 2);
    answer(r, read, token);
    load(r, 0, X, 2);
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 8);
}

static void the_first_value_is_learned(void **state)
{
    rig *r = *state;
    load(r, 0, X, 7); /* nothing has written it */
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).unknown, 4);
    load(r, 1, X, 8);
    expect_wrong(
        r, "kernel+0x10 on gpu0 (work-group 0,0,0, wave 1, lane 0) reads 0x00000008 at 0x100010000, but the "
           "last write was 0x00000007, by the content before all writes");
}

/* --- barriers --------------------------------------------------------------------------------------------- */

static void a_barrier_orders_what_was_waited_for(void **state)
{
    rig *r = *state;
    store(r, 0, X, 5);
    wait_for_all(r, 0);
    barrier(r);
    load(r, 1, X, 5);
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 4);
    store(r, 0, Y, 5);
    barrier(r); /* without a wait */
    load(r, 1, Y, 0);
    expect(r, 1);
}

static void a_barrier_is_for_its_work_group(void **state)
{
    rig *r = *state;
    store(r, 0, X, 5);
    wait_for_all(r, 0);
    barrier(r);
    load(r, 2, X, 5);
    load(r, 3, X, 0);
    expect(r, 2);
    assert_int_equal(memcheck_get_counts(r->m).unordered, 8);
}

static void accesses_after_a_barrier_are_not_before_it(void **state)
{
    rig *r = *state;
    wait_for_all(r, 0);
    barrier(r);
    store(r, 0, X, 5);
    load(r, 1, X, 0);
    expect(r, 1);
}

/* --- races ------------------------------------------------------------------------------------------------ */

static void races_have_one_line_for_a_pair(void **state)
{
    rig *r = *state;
    uint64_t times;
    for (uint32_t i = 0; i < 5; i++) {
        store(r, 0, X + 4 * i, 5);
        load(r, 3, X + 4 * i, 0);
    }
    expect(r, 5);
    assert_int_equal(memcheck_race_count(r->m), 1);
    assert_string_equal(
        memcheck_race_at(r->m, 0, &times),
        "kernel+0x30 on gpu1 (work-group 2,0,0, wave 0) reads 0x100010000, which kernel+0x0 on gpu0 "
        "(work-group 0,0,0, wave 0) wrote without order");
    assert_int_equal(times, 5);
}

static void a_write_races_with_readers(void **state)
{
    rig *r = *state;
    host_write(r, X, 1);
    next_launch(r);
    load(r, 0, X, 1);
    load(r, 2, X, 1);
    expect(r, 0);
    store(r, 2, X, 3); /* with wave 0, not with itself */
    expect(r, 1);
}

/* The value of the slower of two writes is seen, or that of the other one. */
static void writes_without_order_leave_no_certain_value(void **state)
{
    rig *r = *state;
    store(r, 0, X, 1);
    store(r, 2, X, 2);
    expect(r, 1);
    next_launch(r);
    load(r, 0, X, 1);
    load(r, 1, X, 2);
    expect(r, 1);
    assert_int_equal(memcheck_get_counts(r->m).judged, 0);
    next_launch(r);
    store(r, 0, X, 3); /* after all of it: certain again */
    load(r, 0, X, 3);
    expect(r, 1);
    assert_int_equal(memcheck_get_counts(r->m).judged, 4);
}

static void writes_of_the_same_value_are_no_race(void **state)
{
    rig *r = *state;
    store(r, 0, X, 1);
    store(r, 2, X, 1);
    expect(r, 0);
}

/* A write that comes while a load is on its way may be seen or not. */
static void a_load_in_flight_is_not_judged(void **state)
{
    rig *r = *state;
    host_write(r, X, 1);
    next_launch(r);
    const step read = { .wave = 0, .kind = AMD_ACCESS_LOAD, .address = X, .value = 2 };
    uint32_t token = issue(r, read);
    store(r, 3, X, 2);
    answer(r, read, token);
    expect(r, 1);
}

/* Neighbours in a dword. */
static void bytes_are_apart(void **state)
{
    rig *r = *state;
    for (uint32_t wave = 0; wave < 3; wave++) {
        step s = {
            .wave = wave, .kind = AMD_ACCESS_STORE, .address = X + wave, .value = wave + 1, .bytes = 1
        };
        answer(r, s, issue(r, s));
    }
    expect(r, 0);
    next_launch(r);
    const step read = { .wave = 0, .kind = AMD_ACCESS_LOAD, .address = X, .value = 0x00030201 };
    answer(r, read, issue(r, read));
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 3);
}

/* --- atomics ---------------------------------------------------------------------------------------------- */

static void publish(rig *r, bool waits)
{
    store(r, 0, X, 5);
    if (waits)
        wait_for_all(r, 0);
    add(r, 0, Y, 1, 0);
}

static void an_atomic_publishes_what_was_waited_for(void **state)
{
    rig *r = *state;
    host_write(r, Y, 0);
    next_launch(r);
    publish(r, true);
    add(r, 3, Y, 0, 1);
    empty_caches(r, 3, 1);
    load(r, 3, X, 5);
    expect(r, 0);
}

static void an_atomic_publishes_nothing_without_a_wait(void **state)
{
    rig *r = *state;
    publish(r, false);
    add(r, 3, Y, 0, 1);
    empty_caches(r, 3, 1);
    load(r, 3, X, 0);
    expect(r, 1);
}

static void a_full_cache_hears_nothing(void **state)
{
    rig *r = *state;
    publish(r, true);
    add(r, 3, Y, 0, 1);
    load(r, 3, X, 0);
    expect(r, 1);
}

/* The waves of a work-group have one cache, which has the write. */
static void a_work_group_needs_no_empty_cache(void **state)
{
    rig *r = *state;
    publish(r, true);
    add(r, 1, Y, 0, 1);
    load(r, 1, X, 5);
    expect(r, 0);
}

/* RDNA has two levels. */
static void both_levels_are_emptied(void **state)
{
    rig *r = *state;
    r->program.kernel.target = AMD_GFX1010;
    next_launch(r);
    publish(r, true);
    add(r, 3, Y, 0, 1);
    empty_caches(r, 3, 1);
    load(r, 3, X, 0);
    expect(r, 1);
    empty_caches(r, 3, 2);
    load(r, 3, X, 5);
    expect(r, 1);
}

/* A store of a flag publishes as an atomic does; a load hears it if it has its value. */
static void a_store_publishes_to_loads_that_see_it(void **state)
{
    rig *r = *state;
    host_write(r, Y, 0);
    next_launch(r);
    store(r, 0, X, 5);
    wait_for_all(r, 0);
    const step look = { .wave = 3, .kind = AMD_ACCESS_LOAD, .address = Y, .value = 0, .newest = true };
    uint32_t token = issue(r, look); /* it left before the flag was set */
    store(r, 0, Y, 1);
    answer(r, look, token);
    empty_caches(r, 3, 1);
    load(r, 3, X, 0);
    expect(r, 1);
    load_newest(r, 3, Y, 1);
    empty_caches(r, 3, 1);
    load(r, 3, X, 5);
    expect(r, 1);
}

/* What another wave had heard is published with its own accesses. */
static void order_goes_on(void **state)
{
    rig *r = *state;
    publish(r, true);
    add(r, 2, Y, 1, 1);
    empty_caches(r, 2, 1);
    wait_for_all(r, 2);
    add(r, 2, Y + 64, 1, 0);
    add(r, 3, Y + 64, 0, 1);
    empty_caches(r, 3, 1);
    load(r, 3, X, 5);
    expect(r, 0);
}

static void sums_of_atomics_are_known(void **state)
{
    rig *r = *state;
    host_write(r, Y, 100);
    next_launch(r);
    static const uint32_t waves[] = { 2, 0, 3, 1 }, olds[] = { 103, 100, 102, 101 };
    uint32_t tokens[4];
    step s = { .kind = AMD_ACCESS_ATOMIC, .address = Y, .atomic = AMD_ATOMIC_ADD, .returns = true };
    for (uint32_t i = 0; i < 4; i++) {
        s.wave = waves[i];
        s.value = 1;
        tokens[i] = issue(r, s);
    }
    for (uint32_t i = 0; i < 4; i++) { /* performed in another order than they left */
        s.wave = waves[i];
        s.value = olds[i];
        answer(r, s, tokens[i]);
    }
    expect(r, 0);
    next_launch(r);
    load(r, 0, Y, 104);
    expect(r, 0);
    load(r, 0, Y, 103);
    expect_wrong(
        r, "kernel+0x0 on gpu0 (work-group 0,0,0, wave 0, lane 0) reads 0x00000067 at 0x100020000, but the "
           "last write was 0x00000068, by kernel+0x10 on gpu0 (work-group 0,0,0, wave 1)");
}

static void an_atomic_alone_is_judged(void **state)
{
    rig *r = *state;
    host_write(r, Y, 100);
    next_launch(r);
    add(r, 0, Y, 1, 99);
    expect_wrong(
        r, "kernel+0x0 on gpu0 (work-group 0,0,0, wave 0, lane 0) reads 0x00000063 at 0x100020000, but the "
           "last write was 0x00000064, by a copy from the host");
}

static void plain_accesses_race_with_atomics(void **state)
{
    rig *r = *state;
    add(r, 0, Y, 1, 0);
    load(r, 3, Y, 1);
    expect(r, 1);
}

/* --- commands --------------------------------------------------------------------------------------------- */

static void commands_come_after_those_that_have_ended(void **state)
{
    rig *r = *state;
    store(r, 0, X, 5);
    next_launch(r);
    load(r, 3, X, 5);
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 4);
}

static void launches_at_once_have_no_order(void **state)
{
    rig *r = *state;
    store(r, 0, X, 5);
    uint32_t first = r->command;
    r->command = launch(r);
    begin_groups(r);
    load(r, 3, X, 0);
    expect(r, 1);
    memcheck_end(r->m, first, NULL);
}

static void copies_are_reads_and_writes(void **state)
{
    rig *r = *state;
    uint32_t value = 9, got;
    host_write(r, X, value);
    memcheck_end(r->m, r->command, NULL);
    uint32_t copy =
        memcheck_begin(r->m, &(memcheck_work){ .kind = MEMCHECK_COPY, .to = Y, .from = X, .bytes = 4 });
    memcheck_end(r->m, copy, NULL);
    uint32_t out = memcheck_begin(r->m, &(memcheck_work){ .kind = MEMCHECK_OUT, .from = Y, .bytes = 4 });
    got = 9;
    memcheck_end(r->m, out, &got);
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 4);
    const uint8_t pattern[2] = { 1, 2 };
    uint32_t fill =
        memcheck_begin(r->m,
                       &(memcheck_work){
                           .kind = MEMCHECK_FILL, .to = X, .data = pattern, .pattern_bytes = 2, .bytes = 4 });
    memcheck_end(r->m, fill, NULL);
    out = memcheck_begin(r->m, &(memcheck_work){ .kind = MEMCHECK_OUT, .from = X, .bytes = 4 });
    got = 0x01010201;
    memcheck_end(r->m, out, &got);
    expect_wrong(r, "a copy to the host reads 0x01 at 0x100010003, but the last write was 0x02, by a fill");
}

static void a_copy_races_with_a_kernel(void **state)
{
    rig *r = *state;
    uint32_t got = 0;
    store(r, 0, X, 5);
    uint32_t out = memcheck_begin(r->m, &(memcheck_work){ .kind = MEMCHECK_OUT, .from = X, .bytes = 4 });
    memcheck_end(r->m, out, &got);
    expect(r, 1);
}

static void freed_memory_is_forgotten(void **state)
{
    rig *r = *state;
    host_write(r, X, 1);
    memcheck_forget(r->m, X, 4);
    next_launch(r);
    load(r, 0, X, 2);
    expect(r, 0);
}

static void arguments_come_before_their_launch(void **state)
{
    rig *r = *state;
    uint32_t value = 3;
    memcheck_write(r->m, r->command, X, &value, sizeof value);
    step s = { .wave = 3, .kind = AMD_ACCESS_LOAD, .address = X, .value = 3 };
    cu_seen seen = seen_of(r, &s, 0);
    seen.kind = CU_SEEN_ISSUE;
    seen.scalar = true;
    put(r, 3, seen);
    seen = seen_of(r, &s, 0);
    seen.kind = CU_SEEN_RETURN;
    put(r, 3, seen);
    expect(r, 0);
    assert_int_equal(memcheck_get_counts(r->m).judged, 4);
}

/* Logs are merged by time, whichever was opened or filled first. */
static void logs_are_merged_by_time(void **state)
{
    rig *r = *state;
    host_write(r, X, 1);
    next_launch(r);
    r->time = 1000;
    store(r, 3, X, 2); /* written to its log first, though it is later */
    r->time = 500;
    load(r, 0, X, 1);
    expect(r, 1);
    uint64_t times;
    assert_non_null(strstr(memcheck_race_at(r->m, 0, &times),
                           "kernel+0x30 on gpu1 (work-group 2,0,0, wave 0) writes"));
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(a_wave_reads_what_it_wrote),
                                        TEST(a_wrong_value_is_named),
                                        TEST(a_load_is_older_than_a_later_store),
                                        TEST(the_first_value_is_learned),
                                        TEST(a_barrier_orders_what_was_waited_for),
                                        TEST(a_barrier_is_for_its_work_group),
                                        TEST(accesses_after_a_barrier_are_not_before_it),
                                        TEST(races_have_one_line_for_a_pair),
                                        TEST(a_write_races_with_readers),
                                        TEST(writes_without_order_leave_no_certain_value),
                                        TEST(writes_of_the_same_value_are_no_race),
                                        TEST(a_load_in_flight_is_not_judged),
                                        TEST(bytes_are_apart),
                                        TEST(an_atomic_publishes_what_was_waited_for),
                                        TEST(an_atomic_publishes_nothing_without_a_wait),
                                        TEST(a_full_cache_hears_nothing),
                                        TEST(a_work_group_needs_no_empty_cache),
                                        TEST(both_levels_are_emptied),
                                        TEST(a_store_publishes_to_loads_that_see_it),
                                        TEST(order_goes_on),
                                        TEST(sums_of_atomics_are_known),
                                        TEST(an_atomic_alone_is_judged),
                                        TEST(plain_accesses_race_with_atomics),
                                        TEST(commands_come_after_those_that_have_ended),
                                        TEST(launches_at_once_have_no_order),
                                        TEST(copies_are_reads_and_writes),
                                        TEST(a_copy_races_with_a_kernel),
                                        TEST(freed_memory_is_forgotten),
                                        TEST(arguments_come_before_their_launch),
                                        TEST(logs_are_merged_by_time) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
