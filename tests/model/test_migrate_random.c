/* test_migrate_random.c: random accesses of abstract GPUs to managed pages, under every model: no write is lost, every
 * question is granted once, the checker of the directory finds nothing, and all of it is the same for any number of
 * threads and after saving and loading. */
#include "migrate_rig.h"

static mrig r;

typedef struct mix {
    const char *model, *fabric_model;
    uint32_t gpus, accesses, write_percent, stay_percent, hot;
    uint64_t hot_stride;
    uint32_t pace;
    const char *const *sets;
} mix;

#define SETS(...)                                                                                             \
    (const char *const[])                                                                                     \
    {                                                                                                         \
        "check=true", __VA_ARGS__, NULL                                                                       \
    }

static void open_mix(const mix *m)
{
    memset(&r, 0, sizeof r);
    r.gpus = m->gpus;
    r.threads = 4;
    r.accesses = m->accesses;
    r.write_percent = m->write_percent;
    r.stay_percent = m->stay_percent;
    r.hot = m->hot;
    r.hot_stride = m->hot_stride;
    r.pace = m->pace;
    mrig_open(&r, m->model, m->sets, m->fabric_model);
    mrig_start(&r);
}

static void run_mix(const mix *m, dir_counters *n)
{
    open_mix(m);
    mrig_run_ok(&r, 1);
    mrig_at_rest(&r);
    *n = mrig_directory(&r)->n;
    mrig_close(&r);
}

static void test_page(void **state)
{
    (void)state;
    dir_counters n;
    run_mix(&(mix){ "page", "full", 2, 60, 50, 0, 4, 4096, 50, SETS("in_flight=1") }, &n);
    assert_true(n.migrations > 20 && n.moved_bytes == n.migrations * 4096);
    assert_int_equal(n.in_flight_peak, 1);
    assert_true(n.waits > 0);
    run_mix(&(mix){ "page", "pcie", 4, 60, 50, 10, 12, 4096 * 3, 100, SETS("in_flight=16") }, &n);
    assert_true(n.in_flight_peak > 4 && n.in_flight_peak <= 16);
    assert_true(n.remote_grants > 0);
    run_mix(&(mix){ "page", "switch", 8, 30, 50, 0, 16, 4096, 100, SETS("in_flight=3", "start=host") }, &n);
    assert_true(n.migrations > 0);
}

static void test_page_keys(void **state)
{
    (void)state;
    dir_counters n;
    run_mix(&(mix){ "page", "full", 4, 80, 50, 10, 8, 4096, 50, SETS("threshold=4") }, &n);
    assert_true(n.counted > 0 && n.migrations > 0 && n.migrations <= n.counted && n.remote_grants > 0);
    run_mix(&(mix){ "page", "full", 4, 80, 50, 0, 8, 4096, 50, SETS("pin=3", "fault_ns=500") }, &n);
    assert_int_equal(n.pinned, 8);
    assert_int_equal(n.migrations, 24);
    assert_true(n.remote_grants > 0 && n.far_faults >= 24);
    run_mix(&(mix){ "page", "full", 2, 40, 50, 0, 64, 4096, 50, SETS("prefetch=4") }, &n);
    assert_true(n.prefetches > 0 && n.prefetches <= n.migrations);
}

static void test_esi(void **state)
{
    (void)state;
    dir_counters n;
    run_mix(&(mix){ "esi", "full", 2, 60, 50, 0, 4, 4096, 50, SETS("in_flight=1") }, &n);
    assert_true(n.migrations > 0 && n.copies > 0 && n.upgrades > 0);
    run_mix(&(mix){ "esi", "pcie", 8, 40, 20, 5, 16, 4096 * 3, 100, SETS("in_flight=16", "sender=nearest") },
            &n);
    assert_true(n.copies > n.migrations && n.drops > 0);
    run_mix(&(mix){ "esi", "ring", 4, 60, 10, 20, 8, 4096, 50, SETS("in_flight=2", "start=host") }, &n);
    assert_true(n.remote_grants > 0);
    /* Readers alone: a page comes to each GPU once, and nobody loses it. */
    run_mix(&(mix){ "esi", "full", 4, 60, 0, 0, 8, 4096, 50, SETS("in_flight=16") }, &n);
    assert_int_equal(n.copies, 8 * 3);
    assert_int_equal(n.migrations + n.drops + n.refetches, 0);
    assert_true(n.shootdowns > 0 && n.shootdowns <= 8);
}

static void test_split(void **state)
{
    (void)state;
    dir_counters n;
    run_mix(&(mix){ "split", "full", 2, 60, 50, 0, 6, 1024 * 3, 50, SETS("in_flight=1", "largest_kib=64") },
            &n);
    assert_true(n.splits > 0 && n.merges > 0);
    run_mix(&(mix){ "split", "pcie", 8, 30, 30, 5, 16, 1024 * 5, 100,
                    SETS("in_flight=16", "largest_kib=128") },
            &n);
    assert_true(n.splits > 0 && n.copies > 0);
    run_mix(&(mix){ "split", "full", 2, 20, 100, 0, 2, 1024, 3000, SETS("in_flight=4") }, &n);
    assert_true(n.splits >= 11);
}

static void test_full_memory(void **state)
{
    (void)state;
    dir_counters n;
    const char *const *sets = SETS("in_flight=1", "capacity_mib=1", "page_kib=64");
    run_mix(&(mix){ "page", "full", 2, 40, 50, 5, 64, 65536, 50, sets }, &n);
    assert_true(n.evictions > 0 && n.evictions == n.spills && n.refetches > 0);
    sets = SETS("in_flight=16", "capacity_mib=1", "page_kib=64");
    run_mix(&(mix){ "esi", "full", 4, 30, 20, 5, 64, 65536, 50, sets }, &n);
    assert_true(n.evictions > n.spills && n.spills > 0);
    sets = SETS("in_flight=3", "capacity_mib=1", "largest_kib=64", "smallest_kib=4");
    run_mix(&(mix){ "split", "full", 4, 30, 50, 5, 64, 65536, 50, sets }, &n);
    assert_true(n.evictions > 0 && n.splits > 0);
}

static const mix mixes[] = {
    { "page", "pcie", 4, 25, 50, 10, 8, 4096, 50, SETS("in_flight=4") },
    { "esi", "full", 4, 25, 30, 10, 32, 65536, 50, SETS("in_flight=4", "capacity_mib=1", "page_kib=64") },
    { "split", "full", 3, 25, 50, 5, 8, 1024 * 3, 50, SETS("in_flight=4", "largest_kib=64", "fault_ns=300") },
};

static void test_threads(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    for (uint32_t i = 0; i < LS_COUNT_OF(mixes); i++) {
        uint64_t hash = 0;
        for (uint32_t k = 0; k < LS_COUNT_OF(threads); k++) {
            open_mix(&mixes[i]);
            mrig_run_ok(&r, threads[k]);
            mrig_at_rest(&r);
            hash = k == 0 ? mrig_hash(&r) : hash;
            assert_int_equal(hash, mrig_hash(&r));
            mrig_close(&r);
        }
    }
}

static void test_save(void **state)
{
    (void)state;
    static uint32_t newest[MRIG_LINES];
    static uint8_t host_bytes[MRIG_BYTES];
    for (uint32_t i = 0; i < LS_COUNT_OF(mixes); i++) {
        ls_error err = { 0 };
        void *saved;
        size_t bytes;
        open_mix(&mixes[i]);
        mrig_run_ok(&r, 1);
        uint64_t hash = mrig_hash(&r);
        mrig_close(&r);
        open_mix(&mixes[i]);
        assert_int_equal(mrig_run(&r, 1, 12000, &err), LS_OK);
        assert_false(migrate_is_idle(r.directory));
        if (ls_engine_save(r.engine, &saved, &bytes, &err) != LS_OK)
            fail_msg("%s", err.what);
        memcpy(newest, r.newest, sizeof newest);
        line_memory_copy_out(r.host->memory, LS_WINDOW_BASE + MRIG_BLOCK, host_bytes, MRIG_BYTES);
        mrig_close(&r);
        memset(&r.newest, 0, sizeof r.newest);
        mrig_open(&r, mixes[i].model, mixes[i].sets, mixes[i].fabric_model);
        if (ls_engine_load(r.engine, saved, bytes, &err) != LS_OK)
            fail_msg("%s", err.what);
        free(saved);
        memcpy(r.newest, newest, sizeof newest);
        assert_true(line_memory_load(r.host->memory, LS_WINDOW_BASE + MRIG_BLOCK, host_bytes, MRIG_BYTES));
        mrig_run_ok(&r, 2);
        mrig_at_rest(&r);
        assert_int_equal(hash, mrig_hash(&r));
        mrig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),  cmocka_unit_test(test_page_keys),   cmocka_unit_test(test_esi),
        cmocka_unit_test(test_split), cmocka_unit_test(test_full_memory), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
