/* core_rig.h: a rig for the tests of the NVIDIA core. It has one core with a scheduler, one thread block made
 * by hand, a dispatcher that sends it, and a memory that only answers.
 *
 * Memory has two channels: requests to addresses with bit 16 clear return after RIG_NEAR cycles, the others
 * after RIG_FAR cycles. The whole rig runs on one clock of 1 GHz. */
#ifndef TESTS_MODEL_CORE_RIG_H
#define TESTS_MODEL_CORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "lockstep/scheduler.h"
#include "model/core/core.h"
#include "model/core/core_api.h"
#include "model/core/l1.h"

#include <stdlib.h>
#include <string.h>

#define RIG_HZ UINT64_C(1000000000)
#define RIG_WIRE 10u
#define RIG_NEAR 100u /* cycles to memory and back */
#define RIG_FAR 1000u
#define RIG_FAR_ADDRESS UINT64_C(0x10000) /* first address of the slow channel */
#define RIG_CREDITS 4096u
#define RIG_INSTS 64u
#define RIG_DYNS 8192u
#define RIG_ADDRS 16384u
#define RIG_WARPS 32u
#define RIG_LOG 512u
#define RIG_ALL UINT32_MAX /* all lanes */

typedef struct rig_request {
    ls_sector_message message;
    ls_cycle cycle; /* when the core sent it */
} rig_request;

typedef struct rig_receiver {
    ls_receive_fn receive;
    void *self;
} rig_receiver;

typedef struct rig {
    core_spec spec;
    l1_spec l1_spec;
    const ls_block_type *l1_type;
    const char *policy; /* of the scheduler */
    ls_engine *engine;
    ls_domain *outside, *inside;
    ls_block *block;
    ls_port port;
    mem_map map;
    const core *core;
    ls_link *launch, *done, *requests[2], *replies[2];
    ls_event start;
    ls_inst insts[RIG_INSTS];
    uint32_t inst_count;
    ls_dyn dyns[RIG_DYNS];
    uint64_t addrs[RIG_ADDRS];
    ls_warp_stream warps[RIG_WARPS];
    ls_cta cta;
    ls_kernel_info info;
    rig_request log[RIG_LOG];
    uint32_t logged;
    ls_core_done last;
    ls_launch_table table;
    ls_cta *blocks[1];
    uint32_t dones;
    rig_receiver done_receiver; /* of ends of blocks; none: rig_done() */
    uint32_t refill_cycles;     /* blocks may be sent ahead (ls_core_wiring) */
    bool lines;                 /* memory takes requests for several sectors of a line */
} rig;

/* --- the outside: dispatcher and memory --- */

static inline void rig_send_launch(void *self, ls_cycle now)
{
    rig *r = self;
    (void)now;
    r->table.kernels[0] = (ls_launch_kernel){ .insts = r->insts, .info = &r->info };
    r->blocks[0] = &r->cta;
    ls_core_launch *launch = ls_link_send(r->launch, 1);
    assert_non_null(launch);
    *launch = (ls_core_launch){ .number = 1, .ctas_per_core = 1, .cores = 1 };
}

static inline void rig_done(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rig *r = self;
    (void)now;
    memcpy(&r->last, payload, sizeof r->last);
    ls_link_release(link, 1);
    r->dones++;
}

static inline void rig_request_arrives(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rig *r = self;
    const ls_sector_message *message = payload;
    uint32_t channel = link == r->requests[1];
    if (r->logged < RIG_LOG)
        r->log[r->logged++] =
            (rig_request){ .message = *message, .cycle = now - (channel ? RIG_FAR : RIG_NEAR) / 2 };
    ls_sector_message *reply = ls_link_send(r->replies[channel], 1);
    assert_non_null(reply);
    *reply = *message;
    ls_link_release(link, 1);
}

/* --- set-up --- */

/* The defaults of a model's keys. */
static inline void rig_fill(void *spec, const ls_block_type *type)
{
    memset(spec, 0, type->spec_size);
    for (size_t i = 0; i < type->param_count; i++) {
        const ls_param *p = &type->params[i];
        uint8_t *at = (uint8_t *)spec + p->offset;
        if (p->type == LS_PARAM_TYPE_UINT) {
            uint64_t value = strtoull(p->default_text, NULL, 0);
            memcpy(at, &value, sizeof value);
        } else if (p->type == LS_PARAM_TYPE_BOOL) {
            bool value = strcmp(p->default_text, "true") == 0;
            memcpy(at, &value, sizeof value);
        } else if (p->type == LS_PARAM_TYPE_CHOICE) {
            uint32_t value = 0;
            while (p->choices[value] != NULL && strcmp(p->choices[value], p->default_text) != 0)
                value++;
            assert_non_null(p->choices[value]);
            memcpy(at, &value, sizeof value);
        }
    }
}

static inline void rig_defaults(core_spec *spec, const ls_block_type *type)
{
    rig_fill(spec, type);
    static const uint8_t memory[] = { LS_CLASS_load, LS_CLASS_store, LS_CLASS_atomic, LS_CLASS_async_copy };
    for (size_t i = 0; i < sizeof memory; i++)
        spec->classes[memory[i]].unit = UNIT_memory;
    spec->classes[LS_CLASS_fp32].unit = UNIT_sp;
    spec->classes[LS_CLASS_sfu].unit = UNIT_sfu;
    spec->classes[LS_CLASS_branch].unit = UNIT_branch;
}

/* Defaults of the model; tests change r->spec before rig_run(). */
static inline rig *rig_create(void)
{
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    const ls_block_type *type = ls_registry_find_block("core", "cycle");
    assert_non_null(type);
    rig_defaults(&r->spec, type);
    r->l1_type = ls_registry_find_block(LS_L1_SLOT, "sectored");
    assert_non_null(r->l1_type);
    rig_fill(&r->l1_spec, r->l1_type);
    r->policy = "lrr";
    r->cta.warps = r->warps;
    r->cta.dyns = r->dyns;
    r->cta.addrs = r->addrs;
    return r;
}

static inline ls_link *rig_link(rig *r, const char *name, bool inwards, uint32_t latency, uint32_t bytes,
                                ls_receive_fn receive, void *receiver)
{
    ls_link *link;
    ls_region *in = ls_domain_region(r->inside, 0), *out = ls_domain_region(r->outside, 0);
    ls_link_spec spec = { .name = name,
                          .from = inwards ? out : in,
                          .to = inwards ? in : out,
                          .latency_cycles = latency,
                          .credits = RIG_CREDITS,
                          .payload_bytes = bytes,
                          .receive = receive,
                          .receiver = receiver };
    assert_int_equal(ls_link_create(r->engine, &spec, &link, NULL), LS_OK);
    return link;
}

/* Fails as the core refuses what it is attached to. */
static inline ls_status rig_try_build(rig *r, ls_error *err)
{
    ls_clock clock;
    ls_error error = { 0 };
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ RIG_HZ, 1 }, NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "outside", clock, &r->outside, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "inside", clock, &r->inside, NULL), LS_OK);
    ls_region *region = ls_domain_region(r->inside, 0);
    ls_status status =
        ls_block_create(region, "core", ls_registry_find_block("core", "cycle"), &r->spec, &r->block, &error);
    if (status != LS_OK)
        print_message("%s\n", error.what);
    assert_int_equal(status, LS_OK);
    r->core = ls_block_state(r->block);
    ls_block *scheduler;
    assert_int_equal(ls_block_create(region, "scheduler", ls_registry_find_block(LS_SCHEDULER_SLOT, r->policy),
                                     NULL, &scheduler, NULL),
                     LS_OK);
    assert_int_equal(ls_block_connect(r->block, LS_SCHEDULER_PORT, scheduler, LS_SCHEDULER_PORT, NULL), LS_OK);
    ls_block *l1;
    assert_int_equal(ls_block_create(region, "l1", r->l1_type, &r->l1_spec, &l1, NULL), LS_OK);
    assert_int_equal(ls_block_connect(r->block, LS_L1_PORT, l1, LS_L1_PORT, NULL), LS_OK);
    assert_int_equal(ls_block_port(r->block, LS_CORE_INTERFACE, &r->port, NULL), LS_OK);
    const ls_core_ops *ops = r->port.ops;
    void *state = r->port.self;
    r->launch = rig_link(r, "launch", true, RIG_WIRE, sizeof(ls_core_launch), ops->receive_launch, state);
    if (r->done_receiver.receive == NULL)
        r->done_receiver = (rig_receiver){ rig_done, r };
    r->done = rig_link(r, "done", false, RIG_WIRE, sizeof(ls_core_done), r->done_receiver.receive,
                       r->done_receiver.self);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t half = (i == 0 ? RIG_NEAR : RIG_FAR) / 2;
        r->requests[i] = rig_link(r, i == 0 ? "near" : "far", false, half, sizeof(ls_sector_message),
                                  rig_request_arrives, r);
        r->replies[i] = rig_link(r, i == 0 ? "near_reply" : "far_reply", true, half, sizeof(ls_sector_message),
                                 ops->receive_reply, state);
    }
    mem_map_spec map = { .channels = 2,
                         .slices_per_channel = 1,
                         .interleave_bytes = RIG_FAR_ADDRESS,
                         .slice_hash = MEM_HASH_NONE,
                         .bit_map = "0000.RRRRRRRR.RBBBCCCC.BCCSSSSS" };
    assert_int_equal(mem_map_init(&r->map, &map, NULL), LS_OK);
    r->table.blocks = r->blocks;
    r->table.block_count = 1;
    ls_core_wiring wiring = { .core_count = 1,
                              .kernel_slots = 1,
                              .map = &r->map,
                              .to_memory = r->requests,
                              .channels = 2,
                              .replies_max = 2 * RIG_CREDITS,
                              .to_dispatch = r->done,
                              .launches = &r->table,
                              .refill_cycles = r->refill_cycles,
                              .lines = r->lines };
    return ops->attach(state, &wiring, err);
}

static inline void rig_build(rig *r)
{
    ls_error error = { 0 };
    ls_status status = rig_try_build(r, &error);
    if (status != LS_OK)
        print_message("%s\n", error.what);
    assert_int_equal(status, LS_OK);
}

/* --- the program --- */

static inline uint32_t rig_inst(rig *r, ls_inst inst)
{
    assert_true(r->inst_count < RIG_INSTS);
    inst.pc = 16u * r->inst_count;
    r->insts[r->inst_count] = inst;
    return r->inst_count++;
}

/* The following instructions belong to the next warp. */
static inline void rig_warp(rig *r)
{
    assert_true(r->cta.warp_count < RIG_WARPS);
    r->warps[r->cta.warp_count++] = (ls_warp_stream){ .first = (uint32_t)r->cta.dyn_count };
}

static inline void rig_dyn(rig *r, uint32_t inst, uint32_t mask, uint32_t addr)
{
    assert_true(r->cta.dyn_count < RIG_DYNS);
    if (r->cta.warp_count == 0)
        rig_warp(r);
    r->dyns[r->cta.dyn_count++] = (ls_dyn){ .inst = inst, .mask = mask, .addr = addr };
    r->warps[r->cta.warp_count - 1].count++;
}

static inline void rig_do(rig *r, uint32_t inst) /* no memory access */
{
    rig_dyn(r, inst, RIG_ALL, LS_ADDR_NONE);
}

static inline void rig_access(rig *r, uint32_t inst, uint32_t mask, uint64_t first, int64_t stride)
{
    assert_true(r->cta.addr_count + 2 <= RIG_ADDRS);
    rig_dyn(r, inst, mask, (uint32_t)r->cta.addr_count << 2 | LS_ADDR_STRIDE);
    r->addrs[r->cta.addr_count++] = first;
    r->addrs[r->cta.addr_count++] = (uint64_t)stride;
}

/* The same lanes with an address each, as a trace lists those without a pattern. */
static inline void rig_list(rig *r, uint32_t inst, uint32_t mask, const uint64_t *addresses)
{
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    assert_true(r->cta.addr_count + lanes <= RIG_ADDRS);
    rig_dyn(r, inst, mask, (uint32_t)r->cta.addr_count << 2 | LS_ADDR_LIST);
    for (uint32_t i = 0; i < lanes; i++)
        r->addrs[r->cta.addr_count++] = addresses[i];
}

/* dst, src: register numbers; 0 stands for none. */
static inline uint32_t rig_alu(rig *r, uint8_t class_, uint16_t dst, uint16_t src)
{
    return rig_inst(r, (ls_inst){ .class_ = class_,
                                  .dst = { dst },
                                  .dst_count = dst != 0,
                                  .dst_span = dst != 0,
                                  .src = { src },
                                  .src_count = src != 0,
                                  .src_span = { src != 0 } });
}

static inline uint32_t rig_flag(rig *r, uint8_t class_, uint32_t flags, int64_t imm)
{
    return rig_inst(r, (ls_inst){ .class_ = class_, .flags = flags, .imm = imm });
}

static inline uint32_t rig_memory(rig *r, uint8_t space, uint8_t op, uint8_t width, uint16_t dst,
                                  uint32_t flags)
{
    uint8_t class_ = op == LS_MEM_STORE        ? LS_CLASS_store
                     : op == LS_MEM_ASYNC_COPY ? LS_CLASS_async_copy
                     : op == LS_MEM_LOAD       ? LS_CLASS_load
                                               : LS_CLASS_atomic;
    return rig_inst(r, (ls_inst){ .class_ = class_,
                                  .space = space,
                                  .mem_op = op,
                                  .width_bytes = width,
                                  .flags = flags,
                                  .dst = { dst },
                                  .dst_count = dst != 0,
                                  .dst_span = (uint8_t)(dst == 0    ? 0
                                                        : width < 4 ? 1
                                                                    : width / 4) });
}

/* --- the run --- */

static inline void rig_prepare(rig *r)
{
    rig_build(r);
    r->info =
        (ls_kernel_info){ .name = (char *)(uintptr_t) "test",
                          .grid = { 1, 1, 1 },
                          .block = { 32 * r->cta.warp_count, 1, 1 },
                          .registers = 32,
                          .binary_version = 86,
                          .shared_base = r->info.shared_base, /* of generic addresses, if the test sets them */
                          .local_base = r->info.local_base };
    ls_event_init(&r->start, rig_send_launch, r);
    ls_schedule(ls_domain_region(r->outside, 0), &r->start, 0);
}

/* Runs the block and returns the cycles from its start to its end. */
static inline uint64_t rig_run(rig *r)
{
    rig_prepare(r);
    ls_run_result result;
    ls_error error = { 0 };
    ls_status status = ls_run(r->engine, &(ls_run_options){ .threads = 1 }, &result, &error);
    if (status != LS_OK)
        print_message("%s\n%s\n", error.what, ls_engine_report(r->engine));
    assert_int_equal(status, LS_OK);
    assert_int_equal(r->dones, 1);
    assert_int_equal(r->core->n.warp_instructions, r->cta.dyn_count);
    return r->last.cycle - r->last.start;
}

static inline void rig_destroy(rig *r)
{
    if (r->engine)
        ls_engine_destroy(r->engine);
    free(r);
}

#endif
