/* line_rig.h: a rig for the tests of src/model/amd_memory: a small machine over an address space. It has
 * clusters (requesters with a first cache each), optionally one L1 for all of them in a domain of its own, and
 * memory partitions. A partition has L2 slices, optionally a memory-side cache, and DRAM with a fixed latency.
 * Requesters follow scripts. */
#ifndef TESTS_MODEL_AMD_MEMORY_RIG_H
#define TESTS_MODEL_AMD_MEMORY_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "lockstep/dram.h"
#include "lockstep/state.h"
#include "model/dram/fixed.h"
#include "model/amd_memory/cache.h"
#include "model/amd_memory/gate.h"
#include "model/amd_memory/channel.h"
#include "model/amd_memory/hub.h"
#include "model/amd_memory/place_memory.h"
#include "model/amd_memory/snoop.h"
#include "model/amd_memory/tlb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_CLUSTERS_MAX 4
#define RIG_CLIENTS_MAX 4 /* per cluster */
#define RIG_CHANNELS_MAX 4
#define RIG_SLICES_MAX 2
#define RIG_CREDITS 64u

typedef struct rig_shape {
    uint32_t clusters, clients, channels, slices;
    bool array, side, shared_l0; /* an L1 for all; a memory-side cache; one L0 for all clients of a cluster */
    bool translated;             /* a TLB before each L0, and an MMU */
    uint64_t
        snoop_entries; /* not 0: each cluster is a die, its L0 the die's L2; snoop filters before `l2`, one slice */
    line_tlb_spec tlb;
    line_mmu_spec mmu;
    line_cache_spec l0, l1, l2, l3;
    line_channel_spec home;
    fixed_spec dram;
    uint32_t link_latency;
    uint32_t passing_l0, passing_l1, passing_l2;
    ls_pages pages; /* look NULL: identity */
    uint32_t threads;
} rig_shape;

/* One step of a script. */
typedef struct rig_op {
    ls_line_message m;
    ls_cycle at; /* not before */
    bool fence;  /* not before all earlier ones are answered */
    ls_cycle sent, done;
    ls_line_message reply;
} rig_op;

typedef struct rig_client {
    ls_line_port port;
    ls_region *region;
    ls_event event;
    rig_op *ops;
    size_t count, next, answered;
    uint32_t per_cycle; /* requests; 0: one */
    bool refused;
} rig_client;

typedef struct rig {
    rig_shape shape;
    ls_engine *engine;
    memory_space *address_space;
    uint64_t base; /* of mapped memory */
    mem_map map;
    rig_client clients[RIG_CLUSTERS_MAX * RIG_CLIENTS_MAX];
    uint32_t client_count;
    ls_block *l0[RIG_CLUSTERS_MAX * RIG_CLIENTS_MAX], *l1, *l2[RIG_CHANNELS_MAX * RIG_SLICES_MAX];
    ls_block *l3[RIG_CHANNELS_MAX], *home[RIG_CHANNELS_MAX], *memory[RIG_CHANNELS_MAX];
    ls_block *tlb[RIG_CLUSTERS_MAX * RIG_CLIENTS_MAX], *mmu;
    ls_region *mmu_region;
    ls_block *snoops[RIG_CHANNELS_MAX], *snoop_ends[RIG_CLUSTERS_MAX];
    ls_block *hubs[RIG_CLUSTERS_MAX + 1], *gates[RIG_CHANNELS_MAX + 1];
    ls_region *cluster_regions[RIG_CLUSTERS_MAX + 1], *l2_regions[RIG_CHANNELS_MAX];
} rig;

#define RIG_OK(call)                                                                                          \
    do {                                                                                                      \
        ls_error error_ = { 0 };                                                                              \
        ls_error *err = &error_;                                                                              \
        if ((call) != LS_OK)                                                                                  \
            fail_msg("%s: %s", #call, error_.what);                                                           \
    } while (0)

static inline void rig_send(rig_client *c, ls_cycle now)
{
    uint32_t left = c->per_cycle == 0 ? 1 : c->per_cycle;
    while (c->next < c->count) {
        rig_op *op = &c->ops[c->next];
        if (op->fence && c->answered < c->next)
            return; /* the answer comes back here */
        if (op->at > now || left == 0) {
            if (!ls_event_scheduled(&c->event))
                ls_schedule_at(c->region, &c->event, left == 0 ? now + 1 : op->at);
            return;
        }
        op->m.token = (uint32_t)c->next;
        op->m.born = (uint32_t)now;
        if (!ls_line_request(&c->port, &op->m, now)) {
            c->refused = true;
            return;
        }
        op->sent = now;
        c->next++;
        left--;
    }
}

static inline void rig_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    rig_client *c = self;
    rig_op *op = &c->ops[m->token];
    assert_true(m->token < c->count && op->done == 0);
    assert_int_equal(m->kind, op->m.kind);
    op->done = now;
    ls_line_copy(&op->reply, m, ls_line_reply_data(m, c->port.line_bytes));
    c->answered++;
    if (!c->refused && c->next < c->count && c->ops[c->next].fence && !ls_event_scheduled(&c->event))
        rig_send(c, now);
}

static inline void rig_retry(void *self, ls_cycle now)
{
    rig_client *c = self;
    c->refused = false;
    rig_send(c, now);
}

static inline void rig_event(void *self, ls_cycle now)
{
    rig_client *c = self;
    if (!c->refused)
        rig_send(c, now);
}

static const ls_line_client_ops rig_client_ops = { .reply = rig_reply, .retry = rig_retry };

static inline line_cache_spec rig_cache(uint64_t size_kib, uint64_t ways, uint64_t line_bytes,
                                        write_policy policy)
{
    return (line_cache_spec){ .size_kib = size_kib,
                              .ways = ways,
                              .line_bytes = line_bytes,
                              .accesses_per_cycle = 1,
                              .directory_cycles = 2,
                              .data_cycles = 10,
                              .fill_cycles = 3,
                              .mshr_entries = 16,
                              .mshr_targets = 8,
                              .pending = 32,
                              .queue_entries = 16,
                              .atomic_cycles = 1,
                              .write_policy = (uint32_t)policy };
}

static inline rig_shape rig_shape_default(uint32_t line_bytes)
{
    return (rig_shape){
        .clusters = 1,
        .clients = 1,
        .channels = 1,
        .slices = 1,
        .l0 = rig_cache(1, 2, line_bytes, WRITE_AROUND),
        .l1 = rig_cache(2, 4, line_bytes, WRITE_EVICT),
        .l2 = rig_cache(4, 4, line_bytes, WRITE_BACK),
        .l3 = rig_cache(8, 4, line_bytes, WRITE_BACK),
        .home = { .queue_entries = 64 },
        .dram = { .latency_cycles = 100, .queue_entries = 16, .atoms_per_cycle = { .num = 2, .den = 1 } },
        .tlb = { .entries = 4, .ways = 2, .page_kib = 4, .mshr_entries = 2, .queue_entries = 8 },
        .mmu = { .entries = 8,
                 .ways = 2,
                 .page_kib = 4,
                 .latency_cycles = 5,
                 .walk_latency_cycles = 50,
                 .walkers = 2,
                 .mshr_entries = 4 },
        .link_latency = 20,
        .passing_l0 = LS_LINE_GLC,
        .passing_l1 = LS_LINE_DLC,
        .threads = 1
    };
}

static inline void rig_block(ls_region *region, const char *name, const char *slot, const char *model,
                             const void *spec, ls_block **out)
{
    const ls_block_type *type = ls_registry_find_block(slot, model);
    assert_non_null(type);
    RIG_OK(ls_block_create(region, name, type, spec, out, err));
}

static inline void rig_link(rig *r, const char *name, uint32_t a, uint32_t b, ls_region *from, ls_region *to,
                            ls_receive_fn receive, void *receiver, ls_link **out)
{
    char full[64];
    snprintf(full, sizeof full, "%s%u.%u", name, a, b);
    RIG_OK(ls_link_create(r->engine,
                          &(ls_link_spec){ .name = full,
                                           .from = from,
                                           .to = to,
                                           .latency_cycles = r->shape.link_latency,
                                           .credits = RIG_CREDITS,
                                           .payload_bytes = sizeof(ls_line_message),
                                           .receive = receive,
                                           .receiver = receiver },
                          out, err));
}

static inline void rig_walk_link(rig *r, const char *name, uint32_t a, ls_region *from, ls_region *to,
                                 ls_receive_fn receive, void *receiver, ls_link **out)
{
    char full[64];
    snprintf(full, sizeof full, "%s%u", name, a);
    RIG_OK(ls_link_create(r->engine,
                          &(ls_link_spec){ .name = full,
                                           .from = from,
                                           .to = to,
                                           .latency_cycles = r->shape.link_latency,
                                           .credits = 1, /* the least there can be */
                                           .payload_bytes = sizeof(ls_page_walk),
                                           .receive = receive,
                                           .receiver = receiver },
                          out, err));
}

static inline void rig_build_partition(rig *r, uint32_t i, ls_clock clock, uint32_t sources)
{
    const rig_shape *s = &r->shape;
    char name[64];
    ls_domain *domain = NULL;
    ls_block *dram = NULL;
    snprintf(name, sizeof name, "partition%u", i);
    RIG_OK(ls_domain_create(r->engine, name, clock, &domain, err));
    RIG_OK(ls_domain_add_region(domain, clock, &r->l2_regions[i], err));
    snprintf(name, sizeof name, "dram%u", i);
    rig_block(ls_domain_region(domain, 0), name, "dram", "fixed", &s->dram, &dram);
    snprintf(name, sizeof name, "home%u", i);
    rig_block(r->l2_regions[i], name, LS_CHANNEL_SLOT, "window", &s->home, &r->home[i]);
    RIG_OK(ls_block_connect(r->home[i], "dram", dram, "dram", err));
    RIG_OK(ls_block_connect(dram, "reply", r->home[i], "reply", err));
    snprintf(name, sizeof name, "memory%u", i);
    RIG_OK(line_memory_create(r->l2_regions[i], name, &r->memory[i], err));
    RIG_OK(line_memory_attach(r->memory[i], r->address_space, err));
    RIG_OK(line_channel_attach(r->home[i], line_memory_of(r->memory[i]), &r->map, (uint32_t)s->l2.line_bytes,
                               err));
    ls_block *below = r->home[i];
    if (s->side) {
        snprintf(name, sizeof name, "side%u", i);
        rig_block(r->l2_regions[i], name, LINE_CACHE_SLOT, "cycle", &s->l3, &r->l3[i]);
        RIG_OK(line_cache_set_below(r->l3[i], below, err));
        line_cache_set_map(r->l3[i], &r->map);
        below = r->l3[i];
    }
    for (uint32_t k = 0; k < s->slices; k++) {
        ls_block **l2 = &r->l2[i * s->slices + k];
        snprintf(name, sizeof name, "l2_%u_%u", i, k);
        rig_block(r->l2_regions[i], name, LINE_CACHE_SLOT, "cycle", &s->l2, l2);
        RIG_OK(line_cache_set_below(*l2, below, err));
        line_cache_set_home(*l2, line_memory_of(r->memory[i]));
        line_cache_set_passing(*l2, s->passing_l2);
        line_cache_set_map(*l2, &r->map);
    }
    ls_block **tops = &r->l2[i * s->slices];
    if (s->snoop_entries != 0) {
        snprintf(name, sizeof name, "snoop%u", i);
        RIG_OK(line_snoop_create(r->l2_regions[i], name, s->clusters, s->snoop_entries, &r->map, tops[0],
                                 &r->snoops[i], err));
        tops = &r->snoops[i];
    }
    snprintf(name, sizeof name, "gate%u", i);
    RIG_OK(line_gate_create(r->l2_regions[i], name, sources, sources * RIG_CREDITS, &r->gates[i], err));
    RIG_OK(line_gate_set_slices(r->gates[i], &r->map, tops, s->slices, err));
}

/* Links between hub `from` and all partitions. */
static inline void rig_join_partitions(rig *r, uint32_t hub, uint32_t source)
{
    ls_link *links[RIG_CHANNELS_MAX], *back;
    for (uint32_t i = 0; i < r->shape.channels; i++) {
        rig_link(r, "request", hub, i, r->cluster_regions[hub], r->l2_regions[i], line_gate_receive,
                 line_gate_receiver(r->gates[i], source), &links[i]);
        rig_link(r, "reply", i, hub, r->l2_regions[i], r->cluster_regions[hub], line_hub_receive,
                 ls_block_state(r->hubs[hub]), &back);
        line_gate_set_reply(r->gates[i], source, back);
    }
    RIG_OK(line_hub_set_links(r->hubs[hub], source, &r->map, links, r->shape.channels, err));
}

static inline void rig_build_tlb(rig *r, uint32_t number, const char *name)
{
    ls_link *there, *back;
    ls_region *region = r->clients[number].region;
    rig_block(region, name, LS_TLB_SLOT, "cycle", &r->shape.tlb, &r->tlb[number]);
    RIG_OK(line_tlb_set_below(r->tlb[number], r->l0[number], err));
    rig_walk_link(r, "ask", number, region, r->mmu_region, line_mmu_ops(r->mmu)->receive,
                  line_mmu_receiver(r->mmu, number), &there);
    rig_walk_link(r, "walked", number, r->mmu_region, region, line_tlb_ops(r->tlb[number])->receive,
                  ls_block_state(r->tlb[number]), &back);
    line_tlb_set_mmu(r->tlb[number], there);
    line_mmu_set_reply(r->mmu, number, back);
}

static inline void rig_build_mmu(rig *r, ls_clock clock)
{
    ls_domain *domain = NULL;
    ls_pages pages = r->shape.pages.look != NULL ? r->shape.pages : line_pages_identity();
    RIG_OK(ls_domain_create(r->engine, "mmu", clock, &domain, err));
    r->mmu_region = ls_domain_region(domain, 0);
    rig_block(r->mmu_region, "mmu0", LS_MMU_SLOT, "cycle", &r->shape.mmu, &r->mmu);
    RIG_OK(line_mmu_attach(r->mmu, &pages, r->client_count, (uint32_t)r->shape.tlb.mshr_entries, err));
}

static inline void rig_build_cluster(rig *r, uint32_t i, ls_clock clock)
{
    const rig_shape *s = &r->shape;
    char name[64];
    ls_domain *domain = NULL;
    snprintf(name, sizeof name, "cluster%u", i);
    RIG_OK(ls_domain_create(r->engine, name, clock, &domain, err));
    r->cluster_regions[i] = ls_domain_region(domain, 0);
    snprintf(name, sizeof name, "hub%u", i);
    RIG_OK(line_hub_create(r->cluster_regions[i], name, (uint32_t)s->l0.line_bytes, &r->hubs[i], err));
    for (uint32_t k = 0; k < s->clients; k++) {
        uint32_t number = i * s->clients + k;
        rig_client *c = &r->clients[number];
        c->region = r->cluster_regions[i];
        ls_event_init(&c->event, rig_event, c);
        if (s->shared_l0 && k > 0) {
            r->l0[number] = r->l0[i * s->clients];
        } else {
            snprintf(name, sizeof name, "l0_%u_%u", i, k);
            rig_block(c->region, name, LINE_CACHE_SLOT, "cycle", &s->l0, &r->l0[number]);
            RIG_OK(line_cache_set_below(r->l0[number], r->hubs[i], err));
            line_cache_set_passing(r->l0[number], s->passing_l0);
        }
        if (!s->translated) {
            RIG_OK(ls_line_join(r->l0[number], &rig_client_ops, c, &c->port, err));
        } else {
            snprintf(name, sizeof name, "tlb_%u_%u", i, k);
            if (s->shared_l0 && k > 0)
                r->tlb[number] = r->tlb[i * s->clients];
            else
                rig_build_tlb(r, number, name);
            RIG_OK(ls_line_join(r->tlb[number], &rig_client_ops, c, &c->port, err));
        }
    }
}

/* A block that has the requesters as its state, so that a machine can be saved. Its scripts are the test's. */
typedef struct rig_requesters {
    rig_client *at;
    uint64_t count;
} rig_requesters;

static inline uint64_t rig_requester_count(const void *self)
{
    return ((const rig_requesters *)self)->count;
}

static const ls_state_row rig_client_rows[] = {
    LS_STATE_FIXED_SPAN(rig_client, port, region), LS_STATE_EVENT(rig_client, event),
    LS_STATE_FIXED_SPAN(rig_client, ops, count),   LS_STATE_DATA_SPAN(rig_client, next, answered),
    LS_STATE_FIXED(rig_client, per_cycle),         LS_STATE_DATA(rig_client, refused),
};
static const ls_state_row rig_requester_rows[] = {
    LS_STATE_ARRAY_OF(rig_requesters, at, rig_requester_count, rig_client_rows),
    LS_STATE_FIXED(rig_requesters, count),
};
static const ls_block_type rig_requester_type = { .abi = LS_ABI_VERSION,
                                                  .slot = "test",
                                                  .name = "requesters",
                                                  .state_size = sizeof(rig_requesters),
                                                  .rows = rig_requester_rows,
                                                  .row_count = LS_COUNT_OF(rig_requester_rows) };

static inline void rig_build_requesters(rig *r)
{
    ls_block *block;
    RIG_OK(ls_block_create(r->cluster_regions[0], "requesters", &rig_requester_type, NULL, &block, err));
    *(rig_requesters *)ls_block_state(block) = (rig_requesters){ .at = r->clients, .count = r->client_count };
}

/* Probes and their answers between each filter and each die. */
static inline void rig_join_snoops(rig *r)
{
    mem_map one;
    char name[64];
    ls_link *link;
    RIG_OK(mem_map_init(&one,
                        &(mem_map_spec){ .channels = 1,
                                         .slices_per_channel = 1,
                                         .interleave_bytes = 256,
                                         .bit_map = "RBCS" },
                        err));
    for (uint32_t die = 0; die < r->shape.clusters; die++) {
        snprintf(name, sizeof name, "probes%u", die);
        RIG_OK(line_snoop_end_create(r->cluster_regions[die], name, die, &one, &r->l0[die], r->shape.channels,
                                     &r->snoop_ends[die], err));
        for (uint32_t i = 0; i < r->shape.channels; i++) {
            rig_link(r, "probe", i, die, r->l2_regions[i], r->cluster_regions[die], line_snoop_end_receive,
                     line_snoop_end_receiver(r->snoop_ends[die], i), &link);
            line_snoop_set_probe(r->snoops[i], die, link);
            rig_link(r, "probed", i, die, r->cluster_regions[die], r->l2_regions[i], line_snoop_receive_ack,
                     ls_block_state(r->snoops[i]), &link);
            line_snoop_end_set_ack(r->snoop_ends[die], i, link);
        }
    }
}

static inline rig *rig_create(const rig_shape *shape, uint64_t memory_bytes)
{
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->shape = *shape;
    r->client_count = shape->clusters * shape->clients;
    ls_clock clock;
    RIG_OK(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), err));
    RIG_OK(ls_engine_create(1, &r->engine, err));
    RIG_OK(address_space_create(memory_bytes * 2 + (1 << 20), &r->address_space, err));
    RIG_OK(address_space_alloc(r->address_space, memory_bytes, 4096, LS_PAGE_READ | LS_PAGE_WRITE, &r->base,
                               err));
    RIG_OK(mem_map_init(&r->map,
                        &(mem_map_spec){ .channels = shape->channels,
                                         .slices_per_channel = shape->slices,
                                         .interleave_bytes = 256,
                                         .bit_map = "0000RRRR.RRRRRRRR.RBBBBCCC.CCCSSSSS" },
                        err));
    if (shape->translated)
        rig_build_mmu(r, clock);
    for (uint32_t i = 0; i < shape->clusters; i++)
        rig_build_cluster(r, i, clock);
    rig_build_requesters(r);
    for (uint32_t i = 0; i < shape->channels; i++)
        rig_build_partition(r, i, clock, shape->array ? 1 : shape->clusters);
    if (!shape->array) {
        for (uint32_t i = 0; i < shape->clusters; i++)
            rig_join_partitions(r, i, i);
    } else {
        uint32_t a = RIG_CLUSTERS_MAX, g = RIG_CHANNELS_MAX;
        ls_domain *domain = NULL;
        ls_link *there, *back;
        RIG_OK(ls_domain_create(r->engine, "array", clock, &domain, err));
        r->cluster_regions[a] = ls_domain_region(domain, 0);
        RIG_OK(line_hub_create(r->cluster_regions[a], "array.hub", (uint32_t)shape->l1.line_bytes, &r->hubs[a],
                               err));
        rig_block(r->cluster_regions[a], "l1", LINE_CACHE_SLOT, "cycle", &shape->l1, &r->l1);
        RIG_OK(line_cache_set_below(r->l1, r->hubs[a], err));
        line_cache_set_passing(r->l1, shape->passing_l1);
        RIG_OK(line_gate_create(r->cluster_regions[a], "array.gate", shape->clusters,
                                shape->clusters * RIG_CREDITS, &r->gates[g], err));
        RIG_OK(line_gate_set_slices(r->gates[g], NULL, &r->l1, 1, err));
        rig_join_partitions(r, a, 0);
        for (uint32_t i = 0; i < shape->clusters; i++) {
            rig_link(r, "up", i, 0, r->cluster_regions[i], r->cluster_regions[a], line_gate_receive,
                     line_gate_receiver(r->gates[g], i), &there);
            rig_link(r, "down", i, 0, r->cluster_regions[a], r->cluster_regions[i], line_hub_receive,
                     ls_block_state(r->hubs[i]), &back);
            line_gate_set_reply(r->gates[g], i, back);
            RIG_OK(line_hub_set_links(r->hubs[i], i, NULL, &there, 1, err));
        }
    }
    if (shape->snoop_entries != 0)
        rig_join_snoops(r);
    RIG_OK(ls_engine_check_ports(r->engine, err));
    return r;
}

static inline void rig_destroy(rig *r)
{
    ls_engine_destroy(r->engine);
    address_space_destroy(r->address_space);
    free(r);
}

static inline void rig_script(rig *r, uint32_t client, rig_op *ops, size_t count)
{
    rig_client *c = &r->clients[client];
    c->ops = ops;
    c->count = count;
    c->next = c->answered = 0;
    for (size_t i = 0; i < count; i++)
        ops[i].done = ops[i].sent = 0;
    if (count > 0)
        ls_schedule(c->region, &c->event, 1);
}

/* To the end of all scripts. Cycles of scripts count from the beginning of the first run. */
static inline void rig_run(rig *r)
{
    const ls_run_options options = { .threads = r->shape.threads };
    RIG_OK(ls_run(r->engine, &options, NULL, err));
    for (uint32_t i = 0; i < r->client_count; i++)
        if (r->clients[i].answered != r->clients[i].count)
            fail_msg("client %u: %zu of %zu requests answered", i, r->clients[i].answered,
                     r->clients[i].count);
}

static inline const line_cache_counters *rig_counters(ls_block *cache)
{
    return (const line_cache_counters *)(const void *)((const char *)ls_block_state(cache) +
                                                       ls_block_type_of(cache)->counters_offset);
}

static inline rig_op rig_read(uint64_t address)
{
    return (rig_op){ .m = { .address = address, .mask = { UINT64_MAX }, .kind = LS_LINE_READ } };
}

/* `bytes` at `offset` of the line, each of them `value`. */
static inline rig_op rig_write(uint64_t line, uint32_t offset, uint32_t bytes, uint8_t value)
{
    rig_op op = { .m = { .address = line, .kind = LS_LINE_WRITE } };
    for (uint32_t i = offset; i < offset + bytes; i++) {
        op.m.mask[i / 64] |= UINT64_C(1) << i % 64;
        op.m.data[i] = value;
    }
    return op;
}

#endif
