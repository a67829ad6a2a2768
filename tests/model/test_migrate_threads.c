/* test_migrate_threads.c: page migration is the same for any number of threads, and after saving and loading in the middle. */
#include "migrate_mix.h"

static const mix mixes[] = {
    { "page", "pcie", 4, 25, 50, 10, 8, 4096, 50, SETS("in_flight=4") },
    { "esi", "full", 4, 15, 30, 10, 128, 16384, 50, SETS("in_flight=4", "capacity_mib=1", "page_kib=16") },
    { "split", "full", 3, 25, 50, 5, 8, 1024 * 3, 50, SETS("in_flight=4", "largest_kib=32", "fault_ns=300") },
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads), cmocka_unit_test(test_save) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
