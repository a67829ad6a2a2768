/* test_migrate_random.c: random accesses of abstract GPUs to managed pages, under every model: no write is lost, every
 * question is granted once, and the checker of the directory finds nothing. */
#include "migrate_mix.h"

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
    const char *const *sets = SETS("in_flight=1", "capacity_mib=1", "page_kib=16");
    run_mix(&(mix){ "page", "full", 2, 50, 50, 5, 256, 16384, 50, sets }, &n);
    assert_true(n.evictions > 0 && n.evictions == n.spills && n.refetches > 0);
    sets = SETS("in_flight=16", "capacity_mib=1", "page_kib=16");
    run_mix(&(mix){ "esi", "full", 4, 30, 20, 5, 128, 16384, 50, sets }, &n);
    assert_true(n.evictions > n.spills && n.spills > 0);
    sets = SETS("in_flight=3", "capacity_mib=1", "largest_kib=32", "smallest_kib=4");
    run_mix(&(mix){ "split", "full", 3, 25, 50, 5, 128, 32768, 50, sets }, &n);
    assert_true(n.evictions > 0 && n.splits > 0);
}

/* A value for a key, as "key=value". */
static const char *draw(ls_random *random, const char *key, const char *const *values, uint32_t count)
{
    static char texts[16][32];
    static uint32_t next;
    char *text = texts[next++ % LS_COUNT_OF(texts)];
    snprintf(text, sizeof texts[0], "%s=%s", key, values[ls_random_below(random, count)]);
    return text;
}

#define DRAW(key, ...)                                                                                        \
    draw(&random, key, (const char *const[]){ __VA_ARGS__ },                                                  \
         LS_COUNT_OF(((const char *const[]){ __VA_ARGS__ })))

static void test_any_keys(void **state)
{
    (void)state;
    static const char *const models[] = { "page", "esi", "split" }, *const fabrics[] = { "full", "pcie",
                                                                                         "ring", "switch" };
    ls_random random;
    dir_counters n;
    ls_random_init(&random, 5);
    for (uint32_t i = 0; i < 18; i++) {
        const char *const *sets =
            SETS(DRAW("in_flight", "1", "2", "4", "32"), DRAW("threshold", "1", "1", "2", "5"),
                 DRAW("pin", "0", "0", "2"), DRAW("prefetch", "0", "0", "3"),
                 DRAW("fault_ns", "0", "0", "700"), DRAW("capacity_mib", "0", "1"),
                 DRAW("page_kib", "4", "8", "16"), DRAW("start", "home", "host"),
                 DRAW("smallest_kib", "1", "2", "4"), DRAW("largest_kib", "4", "8", "16"),
                 DRAW("sender", "lowest", "nearest"));
        mix m = { .model = models[i % 3],
                  .fabric_model = fabrics[ls_random_below(&random, 4)],
                  .gpus = 2 + (uint32_t)ls_random_below(&random, 7),
                  .accesses = 8 + (uint32_t)ls_random_below(&random, 8),
                  .write_percent = (uint32_t)ls_random_below(&random, 101),
                  .stay_percent = (uint32_t)ls_random_below(&random, 40),
                  .hot = 1 + (uint32_t)ls_random_below(&random, 200),
                  .hot_stride = 1024 * (1 + ls_random_below(&random, 40)),
                  .pace = 1 + (uint32_t)ls_random_below(&random, 300),
                  .sets = sets };
        run_mix(&m, &n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),  cmocka_unit_test(test_page_keys),   cmocka_unit_test(test_esi),
        cmocka_unit_test(test_split), cmocka_unit_test(test_full_memory), cmocka_unit_test(test_any_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
