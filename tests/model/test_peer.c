/* test_peer.c: two peer blocks joined by links in place of a fabric, with senders in place of cores and an L2 that always
 * answers: packets, limits, copies, signals, and the same numbers for any number of threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/gpu/peer_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMOTE UINT64_C(0x1000000)
#define MESSAGES 512u

typedef struct side {
    ls_link *to_peer, *memory_to_peer, *command;
    ls_region *region;
    ls_event event;
    ls_sector_message script[MESSAGES];
    ls_peer_command pending; /* to be sent first */
    bool has_pending;
    uint32_t count, sent, replies, memory_writes, memory_reads, memory_flushes, notices, last_notice;
    uint64_t reply_sum;
} side;

typedef struct rig {
    ls_engine *engine;
    ls_block *block[2];
    side side[2];
    ls_run_result result;
} rig;

static void receive_reply(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    side *s = self;
    const ls_sector_message *m = payload;
    s->replies++;
    s->reply_sum += m->token * (m->address + now);
    ls_link_release(link, 1);
}

static void receive_memory(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    side *s = self;
    const ls_sector_message *m = payload;
    (void)now;
    s->memory_writes += m->kind == LS_SECTOR_WRITE;
    s->memory_reads += m->kind == LS_SECTOR_READ || m->kind == LS_SECTOR_ATOMIC;
    s->memory_flushes += m->kind == LS_SECTOR_FLUSH && m->remote;
    ls_sector_message *answer = ls_link_send(s->memory_to_peer, 1);
    assert_non_null(answer);
    *answer = *m;
    ls_link_release(link, 1);
}

static void receive_notice(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    side *s = self;
    const ls_peer_notice *notice = payload;
    (void)now;
    s->notices++;
    s->last_notice = notice->is_copy ? UINT32_MAX : notice->number;
    ls_link_release(link, 1);
}

static void send_script(void *self, ls_cycle now)
{
    side *s = self;
    (void)now;
    if (s->has_pending)
        *(ls_peer_command *)ls_link_send(s->command, 1) = s->pending;
    s->has_pending = false;
    for (; s->sent < s->count; s->sent++) {
        ls_sector_message *slot = ls_link_send(s->to_peer, 1);
        if (slot == NULL) {
            ls_link_wait(s->to_peer, &s->event);
            return;
        }
        *slot = s->script[s->sent];
    }
}

static uint32_t credits = 1024;

static ls_link *join(rig *r, const char *name, uint32_t i, ls_region *from, ls_region *to, size_t bytes,
                     ls_receive_fn receive, void *receiver)
{
    char full[64];
    ls_link *link;
    snprintf(full, sizeof full, "%s%u", name, i);
    const ls_link_spec spec = { .name = full,
                                .from = from,
                                .to = to,
                                .latency_cycles = 20,
                                .credits = credits,
                                .payload_bytes = (uint32_t)bytes,
                                .receive = receive,
                                .receiver = receiver };
    assert_int_equal(ls_link_create(r->engine, &spec, &link, NULL), LS_OK);
    return link;
}

static const peer_spec defaults = { .packets_per_cycle = 4,
                                    .in_flight = 256,
                                    .served_in_flight = 256,
                                    .open_packets = 4,
                                    .combine_cycles = 16,
                                    .header_bytes = 16,
                                    .ack_bytes = 16,
                                    .ack_packets = 16,
                                    .ack_cycles = 64,
                                    .copy_bytes = 256,
                                    .copy_in_flight = 64 };

static const ls_peer_ops *peer_ops(void)
{
    return ls_block_type_port(ls_registry_find_block(LS_PEER_SLOT, "packets"), LS_PEER_INTERFACE, false)->ops;
}

static void build(rig *r, const peer_spec *spec)
{
    mem_map map;
    ls_region *peers[2], *sides[2];
    const mem_map_spec map_spec = { .channels = 1,
                                    .slices_per_channel = 1,
                                    .interleave_bytes = 256,
                                    .bit_map = "0000.RRRRRRRR.RBBBCCCC.BCCSSSSS" };
    ls_clock clock;
    memset(r, 0, sizeof *r);
    credits = 1024;
    assert_int_equal(mem_map_init(&map, &map_spec, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    for (uint32_t i = 0; i < 2; i++) {
        ls_domain *domain;
        char name[32];
        snprintf(name, sizeof name, "gpu%u.peers", i);
        assert_int_equal(ls_domain_create(r->engine, name, clock, &domain, NULL), LS_OK);
        peers[i] = ls_domain_region(domain, 0);
        snprintf(name, sizeof name, "gpu%u.peer", i);
        assert_int_equal(ls_block_create(peers[i], name, ls_registry_find_block(LS_PEER_SLOT, "packets"), spec,
                                         &r->block[i], NULL),
                         LS_OK);
        snprintf(name, sizeof name, "gpu%u.rest", i);
        assert_int_equal(ls_domain_create(r->engine, name, clock, &domain, NULL), LS_OK);
        sides[i] = ls_domain_region(domain, 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        side *s = &r->side[i];
        void *p = ls_block_state(r->block[i]);
        s->region = sides[i];
        ls_event_init(&s->event, send_script, s);
        s->to_peer =
            join(r, "request", i, sides[i], peers[i], sizeof(ls_sector_message), peer_receive_request, p);
        s->command =
            join(r, "command", i, sides[i], peers[i], sizeof(ls_peer_command), peer_receive_command, p);
        s->memory_to_peer =
            join(r, "answer", i, sides[i], peers[i], sizeof(ls_sector_message), peer_receive_reply, p);
        ls_link *to_core =
            join(r, "reply", i, peers[i], sides[i], sizeof(ls_sector_message), receive_reply, s);
        ls_link *to_memory =
            join(r, "memory", i, peers[i], sides[i], sizeof(ls_sector_message), receive_memory, s);
        ls_link *to_queue =
            join(r, "notice", i, peers[i], sides[i], sizeof(ls_peer_notice), receive_notice, s);
        const ls_peer_wiring wiring = { .number = i,
                                        .requesters = 1,
                                        .core_count = 1,
                                        .channels = 1,
                                        .map = &map,
                                        .to_core = &to_core,
                                        .to_memory = &to_memory,
                                        .requests_max = 1024,
                                        .to_queue = to_queue };
        assert_int_equal(peer_ops()->attach(p, &wiring, NULL), LS_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        ls_fabric_end *end = peer_ops()->end(ls_block_state(r->block[i]));
        ls_fabric_end *other = peer_ops()->end(ls_block_state(r->block[1 - i]));
        end->ends = 2; /* each end has room for so many messages of a class */
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++) {
            char name[32];
            snprintf(name, sizeof name, "fabric%u.", i);
            credits = other->receive_credits[c];
            if (credits > 0)
                end->send[c] = join(r, name, c, peers[i], peers[1 - i], sizeof(ls_fabric_message),
                                    other->receive, other->receiver);
        }
    }
}

static void add(rig *r, uint32_t gpu, ls_sector_kind kind, uint64_t address)
{
    side *s = &r->side[gpu];
    assert_true(s->count < MESSAGES);
    s->script[s->count] = (ls_sector_message){ .address = address,
                                               .byte_mask = UINT32_MAX,
                                               .token = s->count + 1,
                                               .slice = LS_SECTOR_SLICE(1 - gpu),
                                               .kind = (uint8_t)kind };
    s->count++;
}

static const peer_counters *run(rig *r, uint32_t threads)
{
    for (uint32_t i = 0; i < 2; i++)
        if (r->side[i].count > 0 || r->side[i].has_pending)
            ls_schedule(r->side[i].region, &r->side[i].event, 0);
    const ls_run_options options = { .threads = threads };
    assert_int_equal(ls_run(r->engine, &options, &r->result, NULL), LS_OK);
    return &((const peer *)ls_block_state(r->block[0]))->n;
}

static const peer_counters *other(rig *r)
{
    return &((const peer *)ls_block_state(r->block[1]))->n;
}

/* The sectors of a line are one packet, whatever lies between them; each has its answer. */
static void test_lines(void **state)
{
    (void)state;
    rig r;
    build(&r, &defaults);
    for (uint32_t i = 0; i < 4; i++) {
        add(&r, 0, LS_SECTOR_WRITE, REMOTE + 32 * i);
        add(&r, 0, LS_SECTOR_WRITE, REMOTE + 4096 + 32 * i);
    }
    add(&r, 0, LS_SECTOR_READ, REMOTE + 8192);
    add(&r, 0, LS_SECTOR_ATOMIC, REMOTE + 8192 + 32); /* of the same line, but no read */
    const peer_counters *n = run(&r, 1);
    assert_int_equal(n->writes, 2);
    assert_int_equal(n->reads, 1);
    assert_int_equal(n->atomics, 1);
    assert_int_equal(n->sectors, 10);
    assert_int_equal(n->answers, 4);
    assert_int_equal(r.side[0].replies, 10);
    assert_int_equal(other(&r)->served_writes, 2);
    assert_int_equal(r.side[1].memory_writes, 8);
    assert_int_equal(r.side[1].memory_reads, 2);
    assert_int_equal(n->payload_bytes_out, 8 * 32 + 32);
    assert_int_equal(other(&r)->payload_bytes_out, 2 * 32);
    ls_engine_destroy(r.engine);
}

/* All of its state is in its table. */
static void test_saved(void **state)
{
    (void)state;
    rig r;
    void *saved;
    size_t bytes;
    ls_error err = { 0 };
    build(&r, &defaults);
    for (uint32_t i = 0; i < 50; i++)
        add(&r, 0, LS_SECTOR_WRITE, REMOTE + 64 * i);
    (void)run(&r, 1);
    ls_status status = ls_engine_save(r.engine, &saved, &bytes, &err);
    if (status != LS_OK)
        print_message("%s\n", err.what);
    assert_int_equal(status, LS_OK);
    ls_engine_destroy(r.engine);
    build(&r, &defaults);
    assert_int_equal(ls_engine_load(r.engine, saved, bytes, &err), LS_OK);
    assert_int_equal(((const peer *)ls_block_state(r.block[0]))->n.sectors, 50);
    free(saved);
    ls_engine_destroy(r.engine);
}

/* A sector that comes a second time is no part of the first one's packet. */
static void test_again(void **state)
{
    (void)state;
    rig r;
    build(&r, &defaults);
    add(&r, 0, LS_SECTOR_WRITE, REMOTE);
    add(&r, 0, LS_SECTOR_WRITE, REMOTE);
    assert_int_equal(run(&r, 1)->writes, 2);
    assert_int_equal(r.side[0].replies, 2);
    ls_engine_destroy(r.engine);
}

static void test_in_flight(void **state)
{
    (void)state;
    rig r;
    peer_spec one = defaults;
    one.in_flight = 1;
    build(&r, &one);
    for (uint32_t i = 0; i < 20; i++)
        add(&r, 0, LS_SECTOR_READ, REMOTE + 128 * i);
    const peer_counters *n = run(&r, 1);
    assert_int_equal(n->in_flight_peak, 1);
    assert_int_equal(n->answers, 20);
    assert_true(n->in_flight_stalls > 0);
    ls_engine_destroy(r.engine);
}

static void test_copy_and_signal(void **state)
{
    (void)state;
    rig r;
    build(&r, &defaults);
    r.side[0].has_pending = true;
    r.side[0].pending = (ls_peer_command){
        .is_copy = 1, .to = 1, .bytes = 1000, .from_address = 0x4000, .to_address = 0x8000
    };
    const peer_counters *n = run(&r, 1);
    assert_int_equal(n->copy_packets, 4);
    assert_int_equal(n->copy_bytes, 1000);
    assert_int_equal(n->copies, 1);
    assert_int_equal(r.side[0].memory_reads, 32);
    assert_int_equal(r.side[1].memory_writes, 32);
    assert_int_equal(r.side[0].notices, 1);
    assert_int_equal(r.side[0].last_notice, UINT32_MAX);
    r.side[0].has_pending = true;
    r.side[0].pending = (ls_peer_command){ .to = 1, .number = 7 };
    (void)run(&r, 1);
    assert_int_equal(r.side[1].notices, 1);
    assert_int_equal(r.side[1].last_notice, 7);
    ls_engine_destroy(r.engine);
}

/* A flush asks every slice once and is reported. Another one is another round. */
static void test_flush(void **state)
{
    (void)state;
    rig r;
    build(&r, &defaults);
    for (uint32_t i = 1; i <= 2; i++) {
        r.side[0].has_pending = true;
        r.side[0].pending = (ls_peer_command){ .is_flush = 1 };
        const peer_counters *n = run(&r, 1);
        assert_int_equal(n->flushes, i);
        assert_int_equal(n->flush_rounds, i);
        assert_int_equal(r.side[0].memory_flushes, i);
        assert_int_equal(r.side[0].notices, i);
    }
    assert_int_equal(r.side[0].memory_reads + r.side[0].memory_writes, 0);
    ls_engine_destroy(r.engine);
}

/* Both ways at once, small limits: every sector is answered, in the same cycles for any number of threads. */
static void test_threads(void **state)
{
    (void)state;
    peer_spec small = defaults;
    small.in_flight = 24;
    small.served_in_flight = 8;
    small.packets_per_cycle = 1;
    ls_time end = 0;
    uint64_t sums[2] = { 0 };
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
        rig r;
        uint64_t z = 12345;
        build(&r, &small);
        for (uint32_t i = 0; i < 400; i++) {
            z = z * UINT64_C(6364136223846793005) + 1442695040888963407u;
            add(&r, i & 1, (ls_sector_kind)((z >> 40) % 3), REMOTE + (z >> 33) % 256 * 32);
        }
        (void)run(&r, threads[t]);
        assert_int_equal(r.side[0].replies, 200);
        assert_int_equal(r.side[1].replies, 200);
        if (t > 0) {
            assert_int_equal(r.result.end_time, end);
            assert_int_equal(r.side[0].reply_sum, sums[0]);
            assert_int_equal(r.side[1].reply_sum, sums[1]);
        }
        end = r.result.end_time;
        sums[0] = r.side[0].reply_sum;
        sums[1] = r.side[1].reply_sum;
        ls_engine_destroy(r.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_saved),           cmocka_unit_test(test_again),
        cmocka_unit_test(test_in_flight), cmocka_unit_test(test_copy_and_signal), cmocka_unit_test(test_flush),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
