/* test_remote_l2.c: the part of L2 for memory of other GPUs, between a core that sends a script and another GPU that answers
 * at once: cycles as closed forms, what each policy sends, flushes, any number of threads, a saved machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/state.h"
#include "model/gpu/remote_l2_state.h"
#include "model/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define HOP 10u /* cycles of each link */
#define DELAY 20u
#define REMOTE UINT64_C(0x100000)
#define OWNER 3u
#define MESSAGES 256u

typedef struct step {
    ls_cycle at;
    ls_sector_message m;
} step;

/* The core, and the memory of the own GPU and of another one. */
typedef struct world {
    ls_region *region;
    ls_link *to_l2, *answer; /* answer: of the other GPU */
    step script[MESSAGES];
    uint32_t count, sent;
    ls_event event;
    ls_cycle answered[MESSAGES]; /* by token; 0: not yet */
    uint32_t answers, own, log_count;
    uint8_t log[MESSAGES]; /* kinds of requests that came to the other GPU */
    uint64_t sum;
} world;

typedef struct rig {
    ls_engine *engine;
    ls_block *block;
    world *world;
} rig;

static void send(void *self, ls_cycle now)
{
    world *w = self;
    for (; w->sent < w->count && w->script[w->sent].at <= now; w->sent++) {
        ls_sector_message *slot = ls_link_send(w->to_l2, 1);
        if (slot == NULL) {
            ls_link_wait(w->to_l2, &w->event);
            return;
        }
        *slot = w->script[w->sent].m;
    }
    if (w->sent < w->count)
        ls_schedule_at(w->region, &w->event, w->script[w->sent].at);
}

static void core_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    world *w = self;
    const ls_sector_message *m = payload;
    assert_int_equal(w->answered[m->token], 0);
    w->answered[m->token] = now;
    w->answers++;
    w->sum = w->sum * 31 + m->token * now;
    ls_link_release(link, 1);
}

static void other_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    world *w = self;
    const ls_sector_message *m = payload;
    (void)now;
    assert_int_equal(m->slice, OWNER);
    assert_int_equal(m->core, 0); /* the channel */
    w->log[w->log_count++ % MESSAGES] = m->kind;
    ls_sector_message *slot = ls_link_send(w->answer, 1);
    assert_non_null(slot);
    *slot = *m;
    ls_link_release(link, 1);
}

static void own_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    world *w = self;
    (void)payload;
    (void)now;
    w->own++;
    ls_link_release(link, 1);
}
static const ls_l2_ops own_ops = { .receive = own_receive };

static ls_status init_world(ls_block *block, void *state, const void *spec, ls_error *err)
{
    world *w = state;
    (void)spec;
    (void)err;
    w->region = ls_block_region(block);
    ls_event_init(&w->event, send, w);
    return LS_OK;
}

static const ls_state_row world_rows[] = {
    LS_STATE_FIXED_SPAN(world, region, count),
    LS_STATE_DATA(world, sent),
    LS_STATE_EVENT(world, event),
    LS_STATE_DATA_SPAN(world, answered, sum),
};
static const ls_block_type world_type = { .abi = LS_ABI_VERSION,
                                          .slot = "world",
                                          .name = "script",
                                          .state_size = sizeof(world),
                                          .init = init_world,
                                          .rows = world_rows,
                                          .row_count = LS_COUNT_OF(world_rows) };

static const ls_owner_range range = { .begin = REMOTE, .end = 2 * REMOTE, .owner = OWNER };
static const ls_address_owners owners = { .ranges = &range, .count = 1 };
static mem_map map;

static ls_link *join(rig *r, const char *name, ls_region *from, ls_region *to, ls_receive_fn receive,
                     void *receiver)
{
    ls_link *link;
    const ls_link_spec spec = { .name = name,
                                .from = from,
                                .to = to,
                                .latency_cycles = HOP,
                                .credits = 32,
                                .payload_bytes = sizeof(ls_sector_message),
                                .receive = receive,
                                .receiver = receiver };
    assert_int_equal(ls_link_create(r->engine, &spec, &link, NULL), LS_OK);
    return link;
}

static void build(rig *r, rdma_cache cache)
{
    const partition_spec whole = { .delay_cycles = DELAY,
                                   .width = 1,
                                   .port_percent = 100,
                                   .input_queue = 4,
                                   .output_queue = 4,
                                   .fill_queue = 4,
                                   .l2 = { .sets = 2,
                                           .ways = 4,
                                           .mshr_entries = 4,
                                           .mshr_merge = 2,
                                           .miss_queue = 4,
                                           .merge_stall = SECTOR_CACHE_STALL_REQUEST } };
    const mem_map_spec map_spec = { .channels = 1,
                                    .slices_per_channel = 2,
                                    .interleave_bytes = 256,
                                    .bit_map = "0000.RRRRRRRR.RBBBCCCC.BCCSSSSS" };
    const remote_l2_spec spec = remote_l2_part(&whole, cache, 2);
    ls_clock clock;
    ls_domain *l2, *rest;
    ls_block *block;
    assert_int_equal(mem_map_init(&map, &map_spec, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "l2", clock, &l2, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "rest", clock, &rest, NULL), LS_OK);
    ls_region *at = ls_domain_region(l2, 0), *there = ls_domain_region(rest, 0);
    assert_int_equal(ls_block_create(there, "world", &world_type, NULL, &block, NULL), LS_OK);
    world *w = r->world = ls_block_state(block);
    assert_int_equal(remote_l2_create(at, "l2.remote", &spec, &r->block, NULL), LS_OK);
    void *state = ls_block_state(r->block);
    w->to_l2 = join(r, "request", there, at, remote_l2_receive, state);
    w->answer = join(r, "answer", there, at, remote_l2_receive_answer, state);
    ls_link *to_core = join(r, "reply", at, there, core_receive, w);
    const remote_l2_wiring wiring = { .map = &map,
                                      .l2 = { .ops = &own_ops, .self = w },
                                      .to_core = &to_core,
                                      .requester_count = 1,
                                      .requests_max = 32,
                                      .to_peer = join(r, "peer", at, there, other_receive, w),
                                      .owners = &owners };
    assert_int_equal(remote_l2_attach(r->block, &wiring, NULL), LS_OK);
}

/* Its token is its number, from 0. Offsets up to 0x40 lie in slice 0. */
static void add(rig *r, ls_cycle at, ls_sector_kind kind, uint64_t offset)
{
    world *w = r->world;
    ls_sector_place place = mem_map_place(&map, REMOTE + offset);
    assert_true(w->count < MESSAGES);
    w->script[w->count] = (step){ .at = at,
                                  .m = { .address = REMOTE + offset,
                                         .local = place.local,
                                         .byte_mask = 0xf,
                                         .token = w->count,
                                         .slice = LS_SECTOR_SLICE(place.slice),
                                         .kind = (uint8_t)kind,
                                         .global = true,
                                         .remote = true } };
    w->count++;
}

static const remote_l2_counters *run(rig *r, uint32_t threads)
{
    const ls_run_options options = { .threads = threads };
    if (r->world->sent == 0)
        ls_schedule(r->world->region, &r->world->event, 0);
    assert_int_equal(ls_run(r->engine, &options, NULL, NULL), LS_OK);
    return &((const remote_l2 *)ls_block_state(r->block))->n;
}

/* From the send of step i to its answer. */
static ls_cycle took(const rig *r, uint32_t i)
{
    assert_true(r->world->answered[i] > 0);
    return r->world->answered[i] - r->world->script[i].at;
}

#define LOOK (DELAY + 1) /* from arrival to the tags */

/* A hit: there and back, the delay, the tags, the way out. Elsewhere: two hops more, and a cycle for a fill's miss queue. */
static void closed_forms(void **state)
{
    (void)state;
    static const ls_cycle expected[][2] = { [RDMA_NEVER] = { 4 * HOP + LOOK, 4 * HOP + LOOK },
                                            [RDMA_READ_ONLY] = { 4 * HOP + LOOK + 2, 2 * HOP + LOOK + 1 },
                                            [RDMA_PARTITIONED] = { 4 * HOP + LOOK + 2, 2 * HOP + LOOK + 1 } };
    for (uint32_t cache = RDMA_NEVER; cache <= RDMA_PARTITIONED; cache++) {
        rig r;
        build(&r, (rdma_cache)cache);
        add(&r, 0, LS_SECTOR_READ, 0);
        add(&r, 200, LS_SECTOR_READ, 0);
        const remote_l2_counters *n = run(&r, 1);
        assert_int_equal(took(&r, 0), expected[cache][0]);
        assert_int_equal(took(&r, 1), expected[cache][1]);
        assert_int_equal(n->reads_out, cache == RDMA_NEVER ? 2 : 1);
        assert_int_equal(n->passed, cache == RDMA_NEVER ? 2 : 0);
        ls_engine_destroy(r.engine);
    }
}

static void own_memory(void **state)
{
    (void)state;
    rig r;
    build(&r, RDMA_READ_ONLY);
    add(&r, 0, LS_SECTOR_READ, 0);
    r.world->script[0].m.remote = false;
    assert_int_equal(run(&r, 1)->requests, 0);
    assert_int_equal(r.world->own, 1);
    ls_engine_destroy(r.engine);
}

static void check_log(const rig *r, const char *kinds)
{
    static const char names[] = "RWAF";
    char got[MESSAGES + 1] = "";
    for (uint32_t i = 0; i < r->world->log_count; i++)
        got[i] = names[r->world->log[i]];
    assert_string_equal(got, kinds);
}

/* Two stores to a sector, a read and an atomic of it, a read again, a flush. */
static void policies(void **state)
{
    (void)state;
    static const char *const expected[] = {
        [RDMA_NEVER] = "WWRAR", [RDMA_READ_ONLY] = "WWRAR", [RDMA_PARTITIONED] = "RWAR"
    }; /* the read fetches bytes that were not written */
    for (uint32_t cache = RDMA_NEVER; cache <= RDMA_PARTITIONED; cache++) {
        rig r;
        build(&r, (rdma_cache)cache);
        add(&r, 0, LS_SECTOR_WRITE, 0);
        add(&r, 100, LS_SECTOR_WRITE, 0);
        add(&r, 200, LS_SECTOR_READ, 0);
        add(&r, 300, LS_SECTOR_ATOMIC, 0);
        add(&r, 400, LS_SECTOR_READ, 0);
        add(&r, 500, LS_SECTOR_FLUSH, 0);
        const remote_l2_counters *n = run(&r, 1);
        check_log(&r, expected[cache]);
        assert_int_equal(r.world->answers, 6);
        assert_int_equal(n->flushes, 1);
        /* A write that is kept is answered like a hit; else when its owner has it. */
        assert_int_equal(took(&r, 0), cache == RDMA_PARTITIONED ? 2 * HOP + LOOK + 1 : 4 * HOP + LOOK);
        ls_engine_destroy(r.engine);
    }
}

/* Accesses of system scope are performed at the owner, also if the sector is here: it is written back first. */
static void system_scope(void **state)
{
    (void)state;
    rig r;
    build(&r, RDMA_PARTITIONED);
    add(&r, 0, LS_SECTOR_WRITE, 0);
    add(&r, 100, LS_SECTOR_READ, 0);
    add(&r, 200, LS_SECTOR_WRITE, 0);
    r.world->script[1].m.system = r.world->script[2].m.system = true;
    (void)run(&r, 1);
    check_log(&r, "WRW");
    ls_engine_destroy(r.engine);
}

/* A flush waits for fills, writes back, waits for the acknowledgement, and forgets: the read behind it misses. */
static void flushes(void **state)
{
    (void)state;
    rig r;
    build(&r, RDMA_PARTITIONED);
    add(&r, 0, LS_SECTOR_WRITE, 0);
    add(&r, 0, LS_SECTOR_READ, 32);
    add(&r, 0, LS_SECTOR_FLUSH, 0);
    add(&r, 0, LS_SECTOR_READ, 32);
    const remote_l2_counters *n = run(&r, 1);
    check_log(&r, "RWR");
    assert_int_equal(n->forgotten, 1);
    /* Two ways to the owner and back, one after the other: of the fill, then of the write-back. */
    assert_int_equal(n->flush_cycles, 4 * HOP + 1);
    assert_true(took(&r, 3) > took(&r, 2));
    ls_engine_destroy(r.engine);
}

static void random_script(rig *r, uint64_t seed)
{
    for (uint32_t i = 0; i < MESSAGES; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t kind = (uint32_t)(seed >> 33) % 16;
        add(r, i * 3,
            kind < 8    ? LS_SECTOR_READ
            : kind < 14 ? LS_SECTOR_WRITE
            : kind < 15 ? LS_SECTOR_ATOMIC
                        : LS_SECTOR_FLUSH,
            (seed >> 40) % 64 * 32);
        r->world->script[i].m.system = (seed >> 50) % 8 == 0 && kind < 14;
    }
}

static void threads_agree(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    for (uint32_t cache = RDMA_NEVER; cache <= RDMA_PARTITIONED; cache++) {
        uint64_t sum = 0;
        for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
            rig r;
            build(&r, (rdma_cache)cache);
            random_script(&r, 7);
            const remote_l2_counters *n = run(&r, threads[t]);
            assert_int_equal(r.world->answers, MESSAGES);
            assert_int_equal(n->replies, n->requests);
            assert_int_equal(n->reads_out + n->writes_out + n->atomics_out, r.world->log_count);
            sum = t == 0 ? r.world->sum : sum;
            assert_int_equal(r.world->sum, sum);
            ls_engine_destroy(r.engine);
        }
    }
}

static void a_saved_machine_goes_on(void **state)
{
    (void)state;
    for (uint32_t cut = 50; cut < 1000; cut += 170) {
        rig r, s;
        void *saved;
        size_t bytes;
        ls_error err = { 0 };
        build(&r, RDMA_PARTITIONED);
        random_script(&r, 11);
        ls_schedule(r.world->region, &r.world->event, 0);
        assert_int_equal(ls_run(r.engine, &(ls_run_options){ .until = (ls_time)cut * 1000000 }, NULL, NULL),
                         LS_OK);
        if (ls_engine_save(r.engine, &saved, &bytes, &err) != LS_OK)
            fail_msg("%s", err.what);
        build(&s, RDMA_PARTITIONED);
        random_script(&s, 11);
        if (ls_engine_load(s.engine, saved, bytes, &err) != LS_OK)
            fail_msg("%s", err.what);
        free(saved);
        assert_int_equal(ls_run(r.engine, &(ls_run_options){ .threads = 1 }, NULL, NULL), LS_OK);
        assert_int_equal(ls_run(s.engine, &(ls_run_options){ .threads = 2 }, NULL, NULL), LS_OK);
        assert_int_equal(r.world->answers, MESSAGES);
        assert_int_equal(s.world->sum, r.world->sum);
        assert_memory_equal(&((remote_l2 *)ls_block_state(s.block))->n,
                            &((remote_l2 *)ls_block_state(r.block))->n, sizeof(remote_l2_counters));
        ls_engine_destroy(r.engine);
        ls_engine_destroy(s.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(own_memory),
        cmocka_unit_test(policies),
        cmocka_unit_test(system_scope),
        cmocka_unit_test(flushes),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(a_saved_machine_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
