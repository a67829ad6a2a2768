/* test_dispatch.c: when the dispatcher sends thread blocks, and to whom. Cores here hold a block for a fixed
 * time and do nothing else, so that every time has a closed form. Each core is a domain of its own, as in a
 * machine; one clock of 1 GHz. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/dispatch/dispatch.h"

#include <stdio.h>
#include <string.h>

#define HZ UINT64_C(1000000000)
#define CORES_MAX 16u
#define LINK 50u     /* cycles between the dispatcher and a core */
#define BLOCKS 4096u /* of a core, at most */
#define LAUNCH 200u

typedef struct holder {
    ls_region *region;
    ls_link *to_dispatch;
    ls_event event;
    uint64_t hold_cycles;
    uint16_t id;
    ls_core_done held[BLOCKS]; /* in the order of their ends */
    uint32_t head, tail;
    uint32_t most; /* blocks here at once */
    ls_cycle arrivals[BLOCKS];
} holder;

typedef struct work {
    ls_dispatch_kernel kernel;
    uint64_t next;
    bool launched;
    ls_cycle begin, end;
} work;

typedef struct outcome {
    ls_cycle cycles; /* of the kernel */
    ls_cycle first, last;
    uint64_t blocks[CORES_MAX];
    uint32_t most;
    uint64_t digest; /* of all arrivals */
} outcome;

static void finish(void *self, ls_cycle now)
{
    holder *c = self;
    while (c->head != c->tail && c->held[c->head].cycle <= now) {
        ls_core_done *message = ls_link_send(c->to_dispatch, 1);
        assert_non_null(message);
        *message = c->held[c->head++];
        ls_domain_pending(ls_region_domain(c->region), -1);
    }
    if (c->head != c->tail)
        ls_schedule_at(c->region, &c->event, c->held[c->head].cycle);
}

static void receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    holder *c = state;
    const ls_core_launch *launch = payload;
    assert_true(c->tail < BLOCKS);
    ls_domain_pending(ls_region_domain(c->region), 1);
    c->arrivals[c->tail] = now;
    c->held[c->tail++] = (ls_core_done){
        .block = launch->block, .kernel = launch->kernel, .core = c->id, .cycle = now + c->hold_cycles
    };
    c->most = c->tail - c->head > c->most ? c->tail - c->head : c->most;
    ls_link_release(link, 1);
    if (!ls_event_scheduled(&c->event))
        ls_schedule_at(c->region, &c->event, c->held[c->head].cycle);
}

static const ls_block_type holder_type = {
    .abi = LS_ABI_VERSION, .slot = "test", .name = "block-holder", .state_size = sizeof(holder)
};

static ls_status next_kernel(void *self, ls_dispatch_kernel *out, bool *end, ls_error *err)
{
    work *w = self;
    (void)err;
    *end = w->launched;
    w->launched = true;
    *out = w->kernel;
    return LS_OK;
}

static ls_status next_cta(void *self, const ls_dispatch_kernel *kernel, ls_cta *cta, bool *end, ls_error *err)
{
    work *w = self;
    (void)err;
    *end = w->next == kernel->ctas;
    cta->index = w->next++;
    return LS_OK;
}

static void kernel_done(void *self, const ls_dispatch_kernel *kernel, ls_cycle begin, ls_cycle end)
{
    work *w = self;
    (void)kernel;
    w->begin = begin;
    w->end = end;
}

static void check(ls_status status, const ls_error *err)
{
    if (status != LS_OK)
        fail_msg("%s", err->what);
}

/* A kernel of `ctas` blocks of one warp each; a core has room for `places`, and a block takes `hold`. */
static outcome run(ls_ratio interval, uint32_t cores, uint64_t places, uint64_t hold, uint64_t ctas,
                   uint32_t threads)
{
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_block *dispatch = NULL, *blocks[CORES_MAX];
    ls_link *launches[CORES_MAX];
    ls_clock clock;
    ls_error err = { 0 };
    const dispatch_spec spec = { .launch_latency_cycles = LAUNCH,
                                 .concurrent_kernels = 1,
                                 .window = 1,
                                 .block_interval = interval,
                                 .spread = true };
    const ls_kernel_info info = { .name = "empty", .grid = { (uint32_t)ctas, 1, 1 }, .block = { 32, 1, 1 } };
    work w = { .kernel = { .info = &info, .ctas = ctas } };
    check(ls_clock_init(&clock, ls_ratio_make(HZ, 1), &err), &err);
    check(ls_engine_create(1, &engine, &err), &err);
    check(ls_domain_create(engine, "front", clock, &domain, &err), &err);
    ls_region *front = ls_domain_region(domain, 0);
    check(ls_block_create(front, "dispatch", ls_registry_find_block("dispatch", "round-robin"), &spec,
                          &dispatch, &err),
          &err);
    ls_port port;
    check(ls_block_port(dispatch, LS_DISPATCH_INTERFACE, &port, &err), &err);
    const ls_dispatch_ops *ops = port.ops;
    for (uint32_t i = 0; i < cores; i++) {
        char name[32], launch[32], done[32];
        snprintf(name, sizeof name, "core%u", i);
        snprintf(launch, sizeof launch, "launch%u", i);
        snprintf(done, sizeof done, "done%u", i);
        check(ls_domain_create(engine, name, clock, &domain, &err), &err);
        ls_region *region = ls_domain_region(domain, 0);
        check(ls_block_create(region, name, &holder_type, NULL, &blocks[i], &err), &err);
        holder *c = ls_block_state(blocks[i]);
        c->region = region;
        c->hold_cycles = hold;
        c->id = (uint16_t)i;
        ls_event_init(&c->event, finish, c);
        ls_link_spec link = { .name = launch,
                              .from = front,
                              .to = region,
                              .from_name = "dispatch",
                              .to_name = name,
                              .latency_cycles = LINK,
                              .credits = 64,
                              .payload_bytes = sizeof(ls_core_launch),
                              .receive = receive,
                              .receiver = c };
        check(ls_link_create(engine, &link, &launches[i], &err), &err);
        link = (ls_link_spec){ .name = done,
                               .from = region,
                               .to = front,
                               .from_name = name,
                               .to_name = "dispatch",
                               .latency_cycles = LINK,
                               .credits = 64,
                               .payload_bytes = sizeof(ls_core_done),
                               .receive = ops->receive,
                               .receiver = port.self };
        check(ls_link_create(engine, &link, &c->to_dispatch, &err), &err);
    }
    static ls_cta *rows[CORES_MAX * BLOCKS];
    ls_launch_table table = { .blocks = rows, .block_count = LS_COUNT_OF(rows) };
    const ls_dispatch_wiring wiring = {
        .capacity = { .warp_slots = places, .cta_slots = places, .registers = 65536, .register_unit = 1 },
        .to_core = launches,
        .core_count = cores,
        .link_latency_cycles = LINK,
        .launches = &table
    };
    check(ops->attach(port.self, &wiring, &err), &err);
    ops->start(port.self,
               &(ls_dispatch_work){
                   .self = &w, .next_kernel = next_kernel, .next_cta = next_cta, .kernel_done = kernel_done });
    check(ls_run(engine, &(ls_run_options){ .threads = threads }, NULL, &err), &err);
    ls_dispatch_progress progress;
    ops->progress(port.self, &progress);
    assert_true(progress.idle && progress.ended == 1 && progress.failure == NULL);
    assert_int_equal(progress.oldest, LS_CYCLE_MAX);
    outcome o = { .cycles = w.end - w.begin, .first = LS_CYCLE_MAX, .digest = 14695981039346656037u };
    uint64_t sum = 0;
    for (uint32_t i = 0; i < cores; i++) {
        const holder *c = ls_block_state(blocks[i]);
        o.blocks[i] = c->tail;
        o.most = c->most > o.most ? c->most : o.most;
        sum += c->tail;
        for (uint32_t k = 0; k < c->tail; k++) {
            o.first = c->arrivals[k] < o.first ? c->arrivals[k] : o.first;
            o.last = c->arrivals[k] > o.last ? c->arrivals[k] : o.last;
            o.digest = (o.digest ^ c->arrivals[k]) * 1099511628211u;
        }
    }
    assert_int_equal(sum, ctas);
    ls_engine_destroy(engine);
    return o;
}

static ls_ratio interval(uint64_t num, uint64_t den)
{
    return ls_ratio_make(num, den);
}

/* Without a limit every core is sent a block in every cycle; the first arrives when the launch is over. */
static void one_per_core_and_cycle(void **state)
{
    (void)state;
    outcome o = run(interval(0, 1), 4, 32, 10, 64, 1);
    assert_int_equal(o.first, LAUNCH);
    assert_int_equal(o.last, LAUNCH + 64 / 4 - 1);
    assert_int_equal(o.cycles, LAUNCH + 64 / 4 - 1 + 10);
}

/* With one, block i leaves at i times the interval, whole cycles or not, and however many cores there are. */
static void a_rate_of_the_gpu(void **state)
{
    (void)state;
    for (uint32_t cores = 2; cores <= 16; cores *= 2) {
        assert_int_equal(run(interval(1, 1), cores, 32, 1, 60, 1).last, LAUNCH + 59);
        assert_int_equal(run(interval(115, 100), cores, 32, 1, 60, 1).last, LAUNCH + 59 * 115 / 100);
        assert_int_equal(run(interval(7, 1), cores, 32, 1, 60, 1).last, LAUNCH + 59 * 7);
    }
    /* Two in one cycle, never to the same core. */
    assert_int_equal(run(interval(1, 2), 4, 32, 1, 60, 1).last, LAUNCH + 59 / 2);
    /* The slope between many and very many, as `validate` checks it on hardware. */
    ls_cycle few = run(interval(115, 100), 16, 32, 20, 10000, 1).cycles;
    ls_cycle many = run(interval(115, 100), 16, 32, 20, 30000, 1).cycles;
    assert_int_equal(many - few, 20000 * 115 / 100);
}

/* Where places are few, a block costs the time that it takes one over their number: its own, and the way to
 * the dispatcher and back. */
static void a_limit_of_places(void **state)
{
    (void)state;
    const uint64_t taken = 80 + 2 * LINK;
    outcome few = run(interval(115, 100), 16, 2, 80, 1000, 1),
            many = run(interval(115, 100), 16, 2, 80, 3000, 1);
    double per_block = (double)(many.cycles - few.cycles) / 2000;
    assert_true(per_block > 0.99 * (double)taken / 32 && per_block < 1.01 * (double)taken / 32);
    assert_int_equal(many.most, 2);
}

static void blocks_are_spread(void **state)
{
    (void)state;
    outcome o = run(interval(115, 100), 8, 32, 10000, 100, 1);
    for (uint32_t i = 0; i < 8; i++)
        assert_in_range(o.blocks[i], 12, 13);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 2, 3, 8 };
    for (uint64_t hold = 1; hold <= 256; hold *= 16) {
        outcome one = run(interval(115, 100), 16, 4, hold, 2000, 1);
        for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
            outcome more = run(interval(115, 100), 16, 4, hold, 2000, threads[t]);
            assert_int_equal(more.cycles, one.cycles);
            assert_int_equal(more.digest, one.digest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_per_core_and_cycle), cmocka_unit_test(a_rate_of_the_gpu),
        cmocka_unit_test(a_limit_of_places),      cmocka_unit_test(blocks_are_spread),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
