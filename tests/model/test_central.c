/* test_central.c: the connection between the command processor of the first GPU and those of the others. A leader sends
 * work-groups to members in turn, members run them for some cycles. Latency by a closed form, order, credits, a full
 * compute unit, conservation, any number of threads, a saved machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "lockstep/state.h"
#include "model/amd/central.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS 3u
#define CUS 5u
#define SLOTS 2u /* work-groups of a compute unit */
#define ROWS 2u
#define TAG 7u
#define GROUPS_MAX 600u

#define OK(call)                                                                                              \
    do {                                                                                                      \
        ls_error error_ = { 0 };                                                                              \
        ls_error *err = &error_;                                                                              \
        if ((call) != LS_OK)                                                                                  \
            fail_msg("%s: %s", #call, error_.what);                                                           \
    } while (0)

/* A command processor that leads or follows. */
typedef struct user {
    ls_region *region;
    central *central;
    bool leads;
    uint32_t total, run_cycles, lazy; /* lazy: cycles between two orders that a member takes */
    ls_event event;                   /* the leader sends; a member ends work-groups */
    uint32_t sent, done, turn, closed, received, begun;
    ls_cycle ready_at, last, next_take;
    struct {
        ls_cycle at;
        uint32_t leader_row, cu, slot, number;
    } runs[GROUPS_MAX];
    uint32_t order[GROUPS_MAX]; /* member: numbers of work-groups as they came; leader: member of each */
    uint64_t digest;
} user;

static void step(user *u, uint64_t value)
{
    u->digest = (u->digest ^ value) * UINT64_C(0x100000001b3);
}

/* To the member's first compute unit with room. */
static bool send_to(user *u, uint32_t member)
{
    const place_need need = { .waves = 1, .vgprs = 1, .sgprs = 1 };
    for (uint32_t cu; (cu = central_next(u->central, member, 1, 0)) < CUS;) {
        central_order order = { .cu = cu, .leader_row = 1 };
        if (!central_can_send(u->central, member))
            return false;
        order.launch.id[0] = u->sent;
        if (central_send(u->central, member, TAG, &need, &order) != PLACE_FITS)
            continue;
        u->order[u->sent++] = member;
        return true;
    }
    return false;
}

static void lead(user *u, ls_cycle now)
{
    if (!central_is_ready(u->central, TAG))
        return;
    for (uint32_t tries = 0; tries < MEMBERS && u->sent < u->total; tries++) {
        bool sent = send_to(u, u->turn);
        u->turn = (u->turn + 1) % MEMBERS;
        if (sent)
            break;
    }
    if (u->sent == u->total)
        for (; u->closed < MEMBERS && central_can_send(u->central, u->closed); u->closed++)
            central_close(u->central, u->closed, TAG, false);
    if (u->closed < MEMBERS && !ls_event_scheduled(&u->event))
        ls_schedule_at(u->region, &u->event, now + 1);
}

static void end_some(user *u, ls_cycle now)
{
    for (; u->done < u->received && u->runs[u->done].at <= now; u->done++)
        central_report_done(u->central, u->runs[u->done].leader_row, u->runs[u->done].cu,
                            u->runs[u->done].slot, u->runs[u->done].number == 13);
    if (u->done < u->received && !ls_event_scheduled(&u->event))
        ls_schedule_at(u->region, &u->event, u->runs[u->done].at);
}

static void on_event(void *self, ls_cycle now)
{
    user *u = self;
    if (!u->leads && u->begun++ == 0)
        central_report_ready(u->central, TAG, 1);
    if (u->leads)
        lead(u, now);
    else
        end_some(u, now);
}

static void attach(void *self, central *with)
{
    ((user *)self)->central = with;
}

static uint32_t rows(const void *self)
{
    (void)self;
    return ROWS;
}

static bool on_launch(void *self, const central_order *order, ls_cycle now)
{
    user *u = self;
    if (now < u->next_take)
        return false;
    u->next_take = now + u->lazy;
    assert_int_equal(order->row, 1);
    u->runs[u->received].at = now + u->run_cycles;
    u->runs[u->received].leader_row = order->leader_row;
    u->runs[u->received].cu = order->cu;
    u->runs[u->received].slot = order->launch.slot;
    u->runs[u->received].number = order->launch.id[0];
    u->order[u->received++] = order->launch.id[0];
    step(u, now * 1000 + order->launch.id[0]);
    end_some(u, now);
    return true;
}

static void on_close(void *self, uint32_t row, bool cancel, ls_cycle now)
{
    user *u = self;
    (void)now;
    assert_int_equal(row, 1);
    assert_false(cancel);
    u->closed++;
}

static void on_ready(void *self, ls_cycle now)
{
    user *u = self;
    u->ready_at = now;
    lead(u, now);
}

static void on_done(void *self, uint32_t row, bool fault, ls_cycle now)
{
    user *u = self;
    assert_int_equal(row, 1);
    u->done++;
    u->last = now;
    step(u, now * 2 + fault);
}

static const central_user_ops user_ops = {
    .attach = attach, .rows = rows, .launch = on_launch, .close = on_close, .ready = on_ready, .done = on_done
};
static const ls_port_decl user_ports[] = {
    { .name = "central", .interface = CENTRAL_USER_INTERFACE, .ops = &user_ops },
};
static const ls_state_row user_rows[] = {
    LS_STATE_FIXED_SPAN(user, region, lazy),
    LS_STATE_EVENT(user, event),
    LS_STATE_DATA_SPAN(user, sent, digest),
};
static const ls_block_type user_type = { .abi = LS_ABI_VERSION,
                                         .slot = "test",
                                         .name = "user",
                                         .state_size = sizeof(user),
                                         .ports = user_ports,
                                         .port_count = LS_COUNT_OF(user_ports),
                                         .rows = user_rows,
                                         .row_count = LS_COUNT_OF(user_rows) };

typedef struct rig {
    ls_engine *engine;
    user *users[MEMBERS + 1];
    ls_block *ends[MEMBERS + 1];
} rig;

static const ls_cu_capacity capacity = { .simds = 1,
                                         .waves_per_simd = 8,
                                         .groups = SLOTS,
                                         .vgprs_per_simd = 64,
                                         .vgpr_unit = 1,
                                         .sgprs_per_simd = 64,
                                         .sgpr_unit = 1,
                                         .lds_bytes = 64,
                                         .lds_unit = 1,
                                         .lane_width = 16,
                                         .halves = 1,
                                         .barriers = 8 };

static void build(rig *r, uint32_t latency, uint32_t total, uint32_t run_cycles, uint32_t lazy)
{
    char name[32], order[32], report[32];
    const char *const names[] = { order, report };
    ls_clock clock;
    OK(ls_clock_init(&clock, (ls_ratio){ 1000000000, 1 }, err));
    OK(ls_engine_create(1, &r->engine, err));
    for (uint32_t i = 0; i <= MEMBERS; i++) {
        ls_domain *domain;
        ls_block *block;
        bool joined;
        central_wiring wiring = { .cus = CUS, .capacity = capacity };
        snprintf(name, sizeof name, "gpu%u", i);
        OK(ls_domain_create(r->engine, name, clock, &domain, err));
        snprintf(name, sizeof name, "gpu%u.user", i);
        OK(ls_block_create(ls_domain_region(domain, 0), name, &user_type, NULL, &block, err));
        OK(ls_block_port(block, CENTRAL_USER_INTERFACE, &wiring.user, err));
        user *u = r->users[i] = ls_block_state(block);
        *u = (user){ .region = ls_domain_region(domain, 0),
                     .leads = i == 0,
                     .total = total,
                     .run_cycles = run_cycles,
                     .lazy = lazy };
        ls_event_init(&u->event, on_event, u);
        snprintf(name, sizeof name, "gpu%u.central", i);
        OK(central_create(u->region, name, &wiring, &r->ends[i], err));
        snprintf(order, sizeof order, "order%u", i);
        snprintf(report, sizeof report, "report%u", i);
        if (i > 0) {
            OK(central_join(r->ends[0], r->ends[i], names, latency, &joined, err));
            assert_true(joined);
        }
    }
    assert_int_equal(central_members(r->users[0]->central), MEMBERS);
}

/* Members are ready in cycle 0. */
static void start(rig *r)
{
    for (uint32_t i = 1; i <= MEMBERS; i++) {
        assert_true(central_follows(r->users[i]->central));
        ls_schedule_at(r->users[i]->region, &r->users[i]->event, 0);
    }
}

static uint64_t digest(const rig *r)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i <= MEMBERS; i++)
        all = all * 31 + r->users[i]->digest;
    return all;
}

/* Every work-group went to one member, ran there once, and was reported; members got theirs in order. */
static void is_complete(const rig *r)
{
    const user *leader = r->users[0];
    uint32_t next[MEMBERS] = { 0 };
    assert_int_equal(leader->sent, leader->total);
    assert_int_equal(leader->done, leader->total);
    for (uint32_t i = 0; i < leader->total; i++) {
        uint32_t member = leader->order[i];
        assert_int_equal(r->users[member + 1]->order[next[member]++], i);
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(r->users[i + 1]->received, next[i]);
        assert_int_equal(r->users[i + 1]->done, next[i]);
        assert_int_equal(r->users[i + 1]->closed, 1);
    }
}

/* READY comes after one latency; a work-group every cycle; the last one's order, run and report follow. */
static void time_is_that_of_the_ways(void **state)
{
    (void)state;
    rig r;
    build(&r, 40, 30, 10, 0); /* 30 places in all: no work-group waits */
    start(&r);
    OK(ls_run(r.engine, &(ls_run_options){ 0 }, NULL, err));
    is_complete(&r);
    assert_int_equal(r.users[0]->ready_at, 40);
    assert_int_equal(r.users[0]->last, 40 + 29 + 40 + 10 + 40);
    for (uint32_t i = 0; i < 30; i++)
        assert_int_equal(r.users[0]->order[i], i % MEMBERS);
    ls_engine_destroy(r.engine);
}

/* A full compute unit gets the next work-group one report after its first has ended: 2 latencies and a run per place. */
static void places_are_reused_after_a_report(void **state)
{
    (void)state;
    rig r;
    const uint32_t places = MEMBERS * CUS * SLOTS;
    build(&r, 40, 4 * places, 10, 0);
    start(&r);
    OK(ls_run(r.engine, &(ls_run_options){ 0 }, NULL, err));
    is_complete(&r);
    assert_int_equal(r.users[0]->last, 40 + 3 * (40 + 10 + 40) + places - 1 + 40 + 10 + 40);
    ls_engine_destroy(r.engine);
}

/* Members that take an order every 50 cycles: orders wait at the member, in order, and none is lost. */
static void orders_wait_at_slow_members(void **state)
{
    (void)state;
    rig r;
    build(&r, 1, 400, 0, 50);
    start(&r);
    OK(ls_run(r.engine, &(ls_run_options){ 0 }, NULL, err));
    is_complete(&r);
    assert_true(r.users[0]->last >= (400 / MEMBERS - 1) * 50);
    ls_engine_destroy(r.engine);
}

static void threads_and_saved_machines_agree(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        rig r, s, saved;
        void *bytes;
        size_t count;
        const uint32_t latency = 1 + 13 * i, lazy = i % 2 * 7;
        build(&r, latency, 500, 20 + i, lazy);
        start(&r);
        OK(ls_run(r.engine, &(ls_run_options){ .until = (30 + 97 * i) * 1000000 }, NULL, err));
        OK(ls_engine_save(r.engine, &bytes, &count, err));
        build(&saved, latency, 500, 20 + i, lazy);
        OK(ls_engine_load(saved.engine, bytes, count, err));
        free(bytes);
        OK(ls_run(r.engine, &(ls_run_options){ .threads = 1 }, NULL, err));
        OK(ls_run(saved.engine, &(ls_run_options){ .threads = 2 }, NULL, err));
        is_complete(&r);
        is_complete(&saved);
        assert_int_equal(digest(&saved), digest(&r));
        for (uint32_t threads = 2; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
            build(&s, latency, 500, 20 + i, lazy);
            start(&s);
            OK(ls_run(s.engine, &(ls_run_options){ .threads = threads }, NULL, err));
            assert_int_equal(digest(&s), digest(&r));
            ls_engine_destroy(s.engine);
        }
        ls_engine_destroy(r.engine);
        ls_engine_destroy(saved.engine);
    }
}

/* GPUs with other compute units do not join. */
static void different_gpus_stay_apart(void **state)
{
    (void)state;
    rig r;
    bool joined;
    ls_block *other;
    central_wiring wiring = { .cus = CUS + 1, .capacity = capacity };
    const char *const names[] = { "a", "b" };
    build(&r, 10, 1, 1, 0);
    wiring.user = (ls_port){ .ops = &user_ops, .self = r.users[3] };
    OK(central_create(r.users[3]->region, "other", &wiring, &other, err));
    OK(central_join(r.ends[0], other, names, 10, &joined, err));
    assert_false(joined);
    assert_int_equal(central_members(ls_block_state(r.ends[0])), MEMBERS);
    ls_engine_destroy(r.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_that_of_the_ways),    cmocka_unit_test(places_are_reused_after_a_report),
        cmocka_unit_test(orders_wait_at_slow_members), cmocka_unit_test(threads_and_saved_machines_agree),
        cmocka_unit_test(different_gpus_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
