/* test_nomem.c: the host runs out of memory at every single allocation in turn, from the first call to the
 * last. Each time the failing call reports it, and everything can be freed. */
#include "base/huge_arena.h"
#include "engine/fixture.h"

#include <stdio.h>
#include <sys/mman.h>

/* The linker sends the library's allocations here (--wrap). */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__real_huge_arena_take(huge_memory *huge_arena, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_huge_arena_take(huge_memory *huge_arena, size_t bytes);

static uint64_t countdown; /* the allocation that fails; 0: none */
static bool failed;

static bool fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    return fails() ? NULL : __real_aligned_alloc(align, bytes);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

/* The huge arena rarely allocates from the host; each of its pieces counts as an allocation here. */
void *__wrap_huge_arena_take(huge_memory *huge_arena, size_t bytes)
{
    return fails() ? NULL : __real_huge_arena_take(huge_arena, bytes);
}

/* -------------------------------------------------------------------------------------------- the machine */

enum { TIMERS = 200, DOMAINS = 3 };

typedef struct timers {
    ls_region *region;
    ls_event start, events[TIMERS];
    uint32_t runs;
} timers;

static uint32_t blocks_alive;

static ls_status block_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    (void)block;
    (void)state;
    (void)spec;
    (void)err;
    blocks_alive++;
    return LS_OK;
}

static void block_fini(void *state)
{
    (void)state;
    blocks_alive--;
}

static void block_waits(const void *self, ls_wait_sink *sink)
{
    (void)self;
    ls_wait_report(sink, "a", "b", "x");
    ls_wait_report(sink, "b", "a", "y");
}

static const ls_block_type block_type = { .abi = LS_ABI_VERSION,
                                          .slot = "toy",
                                          .name = "toy",
                                          .help = "",
                                          .spec_size = 8,
                                          .state_size = 64,
                                          .init = block_init,
                                          .fini = block_fini,
                                          .waits = block_waits };

static void timer_run(void *self, ls_cycle now)
{
    (void)now;
    ((timers *)self)->runs++;
}

/* More than the heap of far events holds at first; every other one is taken back. */
static void timers_start(void *self, ls_cycle now)
{
    timers *t = self;
    (void)now;
    for (size_t i = 0; i < TIMERS; i++)
        ls_schedule(t->region, &t->events[i], 5000 + i);
    for (size_t i = 0; i < TIMERS; i += 2)
        ls_cancel(&t->events[i]);
}

static bool tick(void *self, ls_cycle now)
{
    (void)self;
    (void)now;
    return false;
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)payload;
    (void)now;
    ls_link_release(link, 1);
}

static void listen(void *self, const ls_hook_args *args)
{
    (void)self;
    (void)args;
}

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        status = (call);                                                                                      \
        if (status != LS_OK)                                                                                  \
            return status;                                                                                    \
    } while (0)

static ls_status build(ls_engine *engine, timers *t, ls_error *err)
{
    ls_status status;
    ls_domain *domains[DOMAINS];
    static ls_ticker tickers[DOMAINS][70];
    for (uint32_t i = 0; i < DOMAINS; i++) {
        char name[32];
        snprintf(name, sizeof name, "domain-%u", i);
        TRY(ls_domain_create(engine, name, hertz(GHZ + i), &domains[i], err));
        ls_region *region = ls_domain_region(domains[i], 0);
        for (size_t k = 0; k < LS_COUNT_OF(tickers[i]); k++)
            TRY(ls_ticker_add(region, &tickers[i][k], tick, NULL, err));
        ls_block *block;
        snprintf(name, sizeof name, "block-%u", i);
        TRY(ls_block_create(region, name, &block_type, &(uint64_t){ 1 }, &block, err));
    }
    ls_region *extra;
    TRY(ls_domain_add_region(domains[0], hertz(3 * GHZ), &extra, err));
    for (uint32_t i = 0; i < DOMAINS; i++) {
        ls_link *link;
        ls_link_spec spec = { .name = "a link",
                              .from = ls_domain_region(domains[i], 0),
                              .to = ls_domain_region(domains[(i + 1) % DOMAINS], 0),
                              .latency_cycles = 20,
                              .credits = 100,
                              .payload_bytes = 100,
                              .receive = receive };
        TRY(ls_link_create(engine, &spec, &link, err));
    }
    const ls_hook *hook;
    TRY(ls_hook_define(engine, "an.observation", "help", &hook, err));
    TRY(ls_hook_subscribe(engine, "an.observation", listen, NULL, err));
    if (ls_engine_alloc(engine, 100000) == NULL)
        return LS_ERR_NOMEM;
    if (ls_domain_alloc(domains[1], 100000) == NULL)
        return LS_ERR_NOMEM;
    t->region = ls_domain_region(domains[0], 0);
    ls_event_init(&t->start, timers_start, t);
    for (size_t i = 0; i < TIMERS; i++)
        ls_event_init(&t->events[i], timer_run, t);
    ls_schedule(t->region, &t->start, 10);
    return LS_OK;
}

/* Creates, runs to a deadlock, dumps. Every failure must be LS_ERR_NOMEM; true if there was one. */
static bool life(uint32_t threads)
{
    ls_error err = { 0 };
    ls_engine *engine = NULL;
    timers *t = __real_calloc(1, sizeof *t);
    assert_non_null(t);
    ls_status status = ls_engine_create(1, &engine, &err);
    if (status == LS_OK)
        status = build(engine, t, &err);
    if (status == LS_OK) {
        ls_domain_pending(ls_region_domain(t->region), 1);
        ls_run_options options = { .threads = threads };
        status = ls_run(engine, &options, NULL, &err);
        if (status == LS_ERR_DEADLOCK) { /* the machine's own end; a report may have been cut short */
            assert_int_equal(t->runs, TIMERS / 2);
            assert_memory_equal(err.what, "deadlock at ", 12);
            FILE *to = fopen("/dev/null", "w");
            assert_non_null(to);
            ls_engine_dump(engine, to);
            fclose(to);
            status = LS_OK;
        }
    } else {
        assert_true(engine != NULL || err.status == LS_ERR_NOMEM);
    }
    ls_engine_destroy(engine);
    free(t);
    assert_int_equal(blocks_alive, 0);
    if (status != LS_OK && status != LS_ERR_NOMEM)
        fail_msg("%s: %s", ls_status_name(status), err.what);
    return status != LS_OK;
}

static void test_every_allocation(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        assert_false(life(threads));
        uint32_t said = 0, silent = 0;
        for (uint64_t n = 1;; n++) {
            countdown = n;
            failed = false;
            bool told = life(threads);
            countdown = 0;
            if (!failed)
                break; /* there are fewer than n */
            said += told;
            silent += !told;
        }
        /* Only the report and the dump of a deadlock go on with less. */
        assert_true(said > 30);
        assert_true(silent < 30);
    }
}

static void test_measuring(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        ls_error err = { 0 };
        ls_engine *engine = new_engine();
        new_domain(engine, "d", GHZ);
        run_all(engine);
        countdown = n;
        failed = false;
        ls_status status = ls_run(engine, &(ls_run_options){ .scaling = true }, NULL, &err);
        countdown = 0;
        ls_scaling report;
        assert_false(ls_scaling_report(engine, &report)); /* no window was run */
        ls_engine_destroy(engine);
        if (!failed) {
            assert_int_equal(status, LS_OK);
            assert_true(n > 3);
            return;
        }
        assert_true(status == LS_ERR_NOMEM ||
                    status == LS_OK); /* without a pool the barrier is not measured */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation),
                                        cmocka_unit_test(test_measuring) };
    return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
