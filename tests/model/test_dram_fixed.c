/* test_dram_fixed.c: the model of a latency and a bandwidth is exactly that. */
#include "dram_rig.h"

typedef struct fixed_keys {
    _Alignas(16) unsigned char spec[256];
} fixed_keys;

static void *field(fixed_keys *keys, const char *name)
{
    const ls_block_type *type = ls_registry_find_block("dram", "fixed");
    assert_true(type->spec_size <= sizeof keys->spec);
    for (size_t i = 0; i < type->param_count; i++)
        if (strcmp(type->params[i].name, name) == 0)
            return keys->spec + type->params[i].offset;
    fail_msg("there is no key '%s'", name);
    return NULL;
}

static fixed_keys make(uint64_t latency, uint64_t num, uint64_t den, uint64_t queue)
{
    fixed_keys keys = { { 0 } };
    ls_ratio rate = ls_ratio_make(num, den);
    memcpy(field(&keys, "latency_cycles"), &latency, sizeof latency);
    memcpy(field(&keys, "queue_entries"), &queue, sizeof queue);
    memcpy(field(&keys, "atoms_per_cycle"), &rate, sizeof rate);
    return keys;
}

static void test_latency(void **state)
{
    (void)state;
    fixed_keys keys = make(80, 1, 4, 64);
    rig_request r[] = { { .at = 5 }, { .at = 500, .write = true }, { .at = 1000, .atoms = 4 } };
    ls_dram_counters n = rig_run_model("fixed", &keys, (rig_driver){ 0 }, r, 3);
    assert_int_equal(r[0].done, 5 + 1 + 80);
    assert_int_equal(r[1].done, 500 + 1 + 80);
    assert_int_equal(r[2].done, 1000 + 1 + 3 * 4 + 80); /* the last of four starts twelve cycles later */
    assert_int_equal(n.reads, 5);
    assert_int_equal(n.writes, 1);
    assert_int_equal(n.busy_cycles, 6 * 4);
    assert_int_equal(n.active_cycles, 81 + 81 + 93);
    assert_int_equal(n.latency.max, 93);
    assert_int_equal(n.row_hits + n.row_misses + n.row_conflicts, 0);
}

/* Request i of a stream starts ceil(i / rate) cycles after the first: no fraction is lost or gained. */
static void test_bandwidth_is_exact(void **state)
{
    (void)state;
    static const uint64_t rates[][2] = { { 1, 4 }, { 1, 1 }, { 3, 7 }, { 2437, 10000 }, { 5, 2 }, { 1, 3 } };
    static rig_request r[5000];
    for (size_t k = 0; k < LS_COUNT_OF(rates); k++) {
        uint64_t num = rates[k][0], den = rates[k][1];
        fixed_keys keys = make(50, num, den, LS_COUNT_OF(r));
        for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
            r[i] = (rig_request){ .at = 10, .write = i % 3 == 0 };
        ls_dram_counters n = rig_run_model("fixed", &keys, (rig_driver){ 0 }, r, LS_COUNT_OF(r));
        for (uint64_t i = 0; i < LS_COUNT_OF(r); i++)
            assert_int_equal(r[i].done, 11 + (i * den + num - 1) / num + 50);
        assert_int_equal(n.busy_cycles, LS_COUNT_OF(r) * den / num);
        assert_int_equal(n.latency.count, LS_COUNT_OF(r));
    }
}

static void test_queue_is_bounded(void **state)
{
    (void)state;
    fixed_keys keys = make(100, 1, 10, 3);
    rig_request r[12];
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = 10 };
    ls_dram_counters n = rig_run_model("fixed", &keys, (rig_driver){ .ask = true }, r, LS_COUNT_OF(r));
    assert_int_equal(n.queue_peak, 3);
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++) {
        /* The order and the rate stay; the third after it has started when one is let in. */
        assert_int_equal(r[i].done, 11 + 10 * i + 100);
        assert_int_equal(r[i].pushed, i < 3 ? 10 : 11 + 10 * (i - 3));
    }
}

static bool closed_until(const void *self, ls_cycle now)
{
    return now >= *(const ls_cycle *)self;
}

static void test_answers_wait_for_room(void **state)
{
    (void)state;
    fixed_keys keys = make(20, 1, 1, 64);
    ls_cycle open_at = 1000;
    rig_request r[] = {
        { .at = 1, .write = true }, { .at = 2 }, { .at = 3, .write = true }, { .at = 4 }, { .at = 2000 }
    };
    rig_run_model("fixed", &keys, (rig_driver){ .room = closed_until, .room_self = &open_at }, r,
                  LS_COUNT_OF(r));
    assert_int_equal(r[0].done, 22);
    assert_int_equal(r[1].done, 1000);
    assert_int_equal(r[2].done, 1000); /* after the read */
    assert_int_equal(r[3].done, 1000);
    assert_int_equal(r[4].done, 2021);
}

/* A read that is never let out stops everything; then the channel accepts only as much as it can hold. */
static void test_blocked_channel_is_bounded(void **state)
{
    (void)state;
    fixed_keys keys = make(10, 2, 1, 4);
    ls_cycle open_at = 5000;
    static rig_request r[500];
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = i };
    rig_run_model("fixed", &keys, (rig_driver){ .ask = true, .room = closed_until, .room_self = &open_at }, r,
                  LS_COUNT_OF(r));
    uint32_t inside = 0;
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        inside += r[i].pushed < open_at;
    assert_int_equal(inside, 4 + 10 * 3 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_bandwidth_is_exact),
        cmocka_unit_test(test_queue_is_bounded),
        cmocka_unit_test(test_answers_wait_for_room),
        cmocka_unit_test(test_blocked_channel_is_bounded),
    };
    return cmocka_run_group_tests_name("dram_fixed", tests, NULL, NULL);
}
