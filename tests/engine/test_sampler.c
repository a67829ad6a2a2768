/* test_sampler.c: a sampler is called at exact times, whatever windows, threads and groups are. */
#include "engine/fixture.h"

typedef struct ticking {
    ls_ticker ticker;
    uint64_t runs, last;
} ticking;

static bool tick(void *self, ls_cycle now)
{
    ticking *t = self;
    t->runs++;
    return now < t->last;
}

static void wake(void *self, ls_cycle now)
{
    (void)now;
    ls_ticker_wake(&((ticking *)self)->ticker);
}

enum { BLOCKS = 3, LOOKS = 64 };

typedef struct watch {
    ls_run_sampler sampler; /* first */
    ls_time every;
    const ticking *at;
    size_t count;
    ls_time now[LOOKS], pending[LOOKS];
    uint64_t runs[LOOKS];
} watch;

static void look(ls_run_sampler *sampler, ls_time now, ls_time pending)
{
    watch *w = (watch *)sampler;
    assert_true(w->count < LOOKS);
    assert_int_equal(now, sampler->next);
    assert_true(pending >= now);
    w->now[w->count] = now;
    w->pending[w->count] = pending;
    for (size_t i = 0; i < BLOCKS; i++)
        w->runs[w->count] += w->at[i].runs;
    w->count++;
    sampler->next = (pending / w->every + 1) * w->every;
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)payload;
    (void)now;
    ls_link_release(link, 1);
}

/* Three domains in two groups tick for 100 cycles. One of them ticks again from cycle 1,000 to 1,020. */
static void run_watched(watch *w, const ls_run_options *how, bool groups)
{
    ls_engine *engine = new_engine();
    ticking t[BLOCKS] = { 0 };
    ls_region *region[BLOCKS];
    ls_group *other = NULL;
    const char *const names[BLOCKS] = { "a", "b", "c" };
    for (size_t i = 0; i < BLOCKS; i++)
        region[i] = new_domain(engine, names[i], GHZ);
    if (groups) {
        assert_int_equal(ls_group_create(engine, "other", &other, NULL), LS_OK);
        assert_int_equal(ls_domain_set_group(ls_region_domain(region[2]), other, NULL), LS_OK);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        new_link(engine, &(ls_link_spec){ .name = "wire",
                                          .from = region[i],
                                          .to = region[(i + 1) % BLOCKS],
                                          .latency_cycles = 7,
                                          .credits = 4,
                                          .receive = receive });
        t[i].last = 99;
        assert_int_equal(ls_ticker_add(region[i], &t[i].ticker, tick, &t[i], NULL), LS_OK);
        ls_ticker_wake(&t[i].ticker);
    }
    ls_event again;
    ls_event_init(&again, wake, &t[1]);
    ls_schedule(region[1], &again, 1000);
    w->at = t;
    w->sampler.next = w->every;
    w->sampler.look = look;
    ls_run_options options = *how;
    options.sampler = &w->sampler;
    run_with(engine, &options);
    assert_int_equal(t[0].runs, 100);
    assert_int_equal(t[1].runs, 101);
    ls_engine_destroy(engine);
}

static void test_exact_times(void **state)
{
    (void)state;
    watch w = { .every = 10 * FS_PER_GHZ_CYCLE };
    run_watched(&w, &(ls_run_options){ .threads = 1 }, false);
    /* At 10, 20 ... 90 cycles, once in the pause, where the next work is at 1,000; nothing is left at 1,010. */
    assert_int_equal(w.count, 10);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(w.now[i], (i + 1) * w.every);
        assert_int_equal(w.pending[i], w.now[i]);
        assert_int_equal(w.runs[i], 3 * 10 * (i + 1));
    }
    assert_int_equal(w.now[9], 100 * FS_PER_GHZ_CYCLE);
    assert_int_equal(w.pending[9], 1000 * FS_PER_GHZ_CYCLE);
    assert_int_equal(w.runs[9], 300);
}

static void test_same_for_windows_threads_and_groups(void **state)
{
    (void)state;
    watch first = { .every = 13 * FS_PER_GHZ_CYCLE + 11 };
    run_watched(&first, &(ls_run_options){ .threads = 1 }, false);
    for (int groups = 0; groups < 2; groups++)
        for (uint32_t threads = 1; threads <= 3; threads++)
            for (ls_time window = 0; window <= 3 * FS_PER_GHZ_CYCLE; window += 3 * FS_PER_GHZ_CYCLE) {
                watch w = { .every = first.every };
                run_watched(&w,
                            &(ls_run_options){ .threads = threads,
                                               .window_fs = window,
                                               .watchdog_fs = 50 * FS_PER_GHZ_CYCLE,
                                               .assignment = LS_ASSIGN_SHUFFLED },
                            groups != 0);
                assert_int_equal(w.count, first.count);
                assert_memory_equal(w.now, first.now, sizeof w.now);
                assert_memory_equal(w.pending, first.pending, sizeof w.pending);
                assert_memory_equal(w.runs, first.runs, sizeof w.runs);
            }
}

static void never_again(ls_run_sampler *sampler, ls_time now, ls_time pending)
{
    watch *w = (watch *)sampler;
    (void)pending;
    w->count++;
    sampler->next = now; /* a time that is over counts as never */
}

static void test_a_time_in_the_past_is_never(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ticking t = { .last = 50 };
    ls_region *region = new_domain(engine, "a", GHZ);
    assert_int_equal(ls_ticker_add(region, &t.ticker, tick, &t, NULL), LS_OK);
    ls_ticker_wake(&t.ticker);
    watch w = { .sampler = { .next = 5 * FS_PER_GHZ_CYCLE, .look = never_again } };
    run_with(engine, &(ls_run_options){ .sampler = &w.sampler });
    assert_int_equal(w.count, 1);
    assert_int_equal(w.sampler.next, LS_TIME_MAX);
    assert_int_equal(t.runs, 51);
    ls_engine_destroy(engine);
}

/* A run that ends before the sampler's time leaves it for the next one. */
static void test_continues_with_the_next_run(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ticking t[BLOCKS] = { { .last = 99 } };
    ls_region *region = new_domain(engine, "a", GHZ);
    assert_int_equal(ls_ticker_add(region, &t[0].ticker, tick, &t[0], NULL), LS_OK);
    ls_ticker_wake(&t[0].ticker);
    watch w = { .every = 40 * FS_PER_GHZ_CYCLE, .at = t };
    w.sampler = (ls_run_sampler){ .next = w.every, .look = look };
    ls_run_options options = { .until = 40 * FS_PER_GHZ_CYCLE, .sampler = &w.sampler };
    run_with(engine, &options);
    assert_int_equal(w.count, 1); /* the limit and the sample at one time: the sample counts */
    options.until = 0;
    run_with(engine, &options);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.runs[0], 40);
    assert_int_equal(w.runs[1], 80);
    assert_int_equal(w.sampler.next, 120 * FS_PER_GHZ_CYCLE);
    ls_engine_destroy(engine);
}

/* Two samplers, each at its own times; one that a progress call sets comes in between. */
static void test_several_samplers(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ticking t[BLOCKS] = { { .last = 99 } };
    ls_region *region = new_domain(engine, "a", GHZ);
    assert_int_equal(ls_ticker_add(region, &t[0].ticker, tick, &t[0], NULL), LS_OK);
    ls_ticker_wake(&t[0].ticker);
    watch a = { .every = 40 * FS_PER_GHZ_CYCLE, .at = t }, b = { .every = 60 * FS_PER_GHZ_CYCLE, .at = t };
    a.sampler = (ls_run_sampler){ .next = a.every, .look = look, .also = &b.sampler };
    b.sampler = (ls_run_sampler){ .next = b.every, .look = look };
    run_with(engine, &(ls_run_options){ .sampler = &a.sampler });
    assert_int_equal(a.count, 2);
    assert_int_equal(b.count, 1);
    assert_int_equal(a.runs[1], 80);
    assert_int_equal(b.runs[0], 60);
    ls_engine_destroy(engine);
}

/* How full a link is, between windows. */
static void test_use_of_links(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *from = new_domain(engine, "a", GHZ), *to = new_domain(engine, "b", GHZ);
    ls_link *wire = new_link(engine, &(ls_link_spec){ .name = "wire",
                                                      .from = from,
                                                      .to = to,
                                                      .latency_cycles = 7,
                                                      .credits = 4,
                                                      .receive = receive });
    assert_int_equal(ls_engine_link_count(engine), 1);
    assert_ptr_equal(ls_engine_link(engine, 0), wire);
    assert_null(ls_engine_link(engine, 1));
    ls_link_use use;
    ls_link_get_use(wire, &use);
    assert_string_equal(use.name, "wire");
    assert_string_equal(use.from, "a");
    assert_string_equal(use.to, "b");
    assert_int_equal(use.entries, 4);
    assert_int_equal(use.used, 0);
    assert_false(use.waits);
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_times),
        cmocka_unit_test(test_same_for_windows_threads_and_groups),
        cmocka_unit_test(test_a_time_in_the_past_is_never),
        cmocka_unit_test(test_continues_with_the_next_run),
        cmocka_unit_test(test_several_samplers),
        cmocka_unit_test(test_use_of_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
