/* synth_counter.h: counts everything that a generated trace executes and compares it with its closed form. Include after
 * cmocka. */
#ifndef TESTS_WORKLOAD_SYNTH_COUNTER_H
#define TESTS_WORKLOAD_SYNTH_COUNTER_H

#include "isa/sass/sass.h"
#include "trace_tools.h"

#include <inttypes.h>

typedef struct interval {
    uint64_t first, last;
} interval;

typedef struct counter {
    synth_facts facts;
    interval *touched;
    size_t count, capacity;
} counter;

static inline int by_first(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static inline uint64_t distinct_bytes(counter *c)
{
    uint64_t bytes = 0, next = 0;
    if (c->count > 0)
        qsort(c->touched, c->count, sizeof *c->touched, by_first);
    for (size_t i = 0; i < c->count; i++) {
        uint64_t first = c->touched[i].first > next ? c->touched[i].first : next;
        if (c->touched[i].last >= first) {
            bytes += c->touched[i].last - first + 1;
            next = c->touched[i].last + 1;
        }
    }
    return bytes;
}

static inline void touch(counter *c, uint64_t first, uint64_t last)
{
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 1024;
        c->touched = realloc(c->touched, c->capacity * sizeof *c->touched);
        assert_non_null(c->touched);
    }
    c->touched[c->count++] = (interval){ first, last };
}

/* Distinct sectors of one access. */
static inline uint64_t count_sectors(counter *c, const ls_cta *cta, const ls_dyn *dyn, uint32_t width)
{
    uint64_t lanes[32] = { 0 }, sectors[64];
    size_t count = 0;
    ls_cta_addresses(cta, dyn, lanes);
    for (uint32_t mask = dyn->mask; mask; mask &= mask - 1) {
        uint64_t at = lanes[__builtin_ctz(mask)];
        touch(c, at, at + width - 1);
        for (uint64_t s = at / 32; s <= (at + width - 1) / 32; s++) {
            size_t i = 0;
            while (i < count && sectors[i] != s)
                i++;
            if (i == count)
                sectors[count++] = s;
        }
    }
    return count;
}

/* A bulk copy: one address for each row of its box. */
static inline void count_bulk(counter *c, const uint64_t *record, uint8_t op)
{
    uint32_t count;
    const uint64_t *addresses = ls_cta_bulk_addresses(record, &count);
    uint64_t width = record[LS_BULK_WORD_BYTES] / count;
    for (uint32_t i = 0; i < count; i++)
        touch(c, addresses[i], addresses[i] + width - 1);
    if (op == LS_BULK_LOAD) {
        c->facts.global_loads++;
        c->facts.load_sectors += count * width / 32;
    } else {
        c->facts.global_stores++;
        c->facts.store_sectors += count * width / 32;
    }
}

static inline void count_dyn(counter *c, const trace_kernel *kernel, const ls_cta *cta, const ls_dyn *dyn)
{
    const ls_inst *inst = &kernel->insts[dyn->inst];
    synth_facts *f = &c->facts;
    f->warp_insts++;
    f->thread_insts += (uint64_t)__builtin_popcount(dyn->mask);
    f->barriers += inst->flags & LS_INST_BARRIER ? 1 : 0;
    if (inst->flags & (LS_INST_UNKNOWN | LS_INST_FOREIGN))
        fail_msg("sm_%" PRIu32 " has no %s", kernel->info.binary_version, sass_opcode_name(inst->opcode));
    if (dyn->addr == LS_ADDR_NONE || dyn->mask == 0)
        return;
    if (inst->flags & LS_INST_BULK) {
        count_bulk(c, ls_cta_record(cta, dyn), inst->bulk_op);
        return;
    }
    if (inst->space == LS_SPACE_SHARED)
        f->shared_accesses++;
    if (inst->space != LS_SPACE_GLOBAL && inst->space != LS_SPACE_GENERIC)
        return;
    uint64_t sectors = count_sectors(c, cta, dyn, inst->width_bytes);
    switch (inst->mem_op) {
    case LS_MEM_STORE:
        f->global_stores++;
        f->store_sectors += sectors;
        break;
    case LS_MEM_ATOMIC:
    case LS_MEM_REDUCTION:
        f->global_atomics++;
        f->atomic_sectors += sectors;
        break;
    default:
        f->global_loads++;
        f->load_sectors += sectors;
    }
}

static inline void count_kernel(counter *c, trace_kernel *kernel)
{
    ls_cta cta = { 0 };
    bool end = false;
    c->facts.kernels++;
    while (!end) {
        assert_ok(kernel_next_cta(kernel, &cta, &end, err));
        if (end)
            break;
        c->facts.ctas++;
        c->facts.warps += cta.warp_count;
        for (uint32_t w = 0; w < cta.warp_count; w++)
            for (uint32_t i = 0; i < cta.warps[w].count; i++)
                count_dyn(c, kernel, &cta, &cta.dyns[cta.warps[w].first + i]);
    }
    ls_cta_fini(&cta);
}

static inline void expect(const char *text, const char *name, uint64_t counted, uint64_t said)
{
    if (said != LS_SYNTH_UNKNOWN && counted != said)
        fail_msg("%s: %s is %" PRIu64 ", its closed form says %" PRIu64, text, name, counted, said);
}

static inline void check_facts(const char *text)
{
    counter c = { 0 };
    sass_trace *trace = NULL;
    synth_facts f;
    assert_ok(synth_open(text, NULL, &trace, err));
    assert_true(synth_get_facts(trace, &f));
    for (uint64_t i = 0; i < trace->command_count; i++) {
        trace_kernel *kernel = NULL;
        if (trace->commands[i].kind != LS_COMMAND_KERNEL)
            continue;
        assert_ok(trace_open_kernel(trace, i, &kernel, err));
        count_kernel(&c, kernel);
        kernel_close(kernel);
    }
    const synth_facts *g = &c.facts;
    expect(text, "kernels", g->kernels, f.kernels);
    expect(text, "ctas", g->ctas, f.ctas);
    expect(text, "warps", g->warps, f.warps);
    expect(text, "warp_insts", g->warp_insts, f.warp_insts);
    expect(text, "thread_insts", g->thread_insts, f.thread_insts);
    expect(text, "global_loads", g->global_loads, f.global_loads);
    expect(text, "global_stores", g->global_stores, f.global_stores);
    expect(text, "global_atomics", g->global_atomics, f.global_atomics);
    expect(text, "load_sectors", g->load_sectors, f.load_sectors);
    expect(text, "store_sectors", g->store_sectors, f.store_sectors);
    expect(text, "atomic_sectors", g->atomic_sectors, f.atomic_sectors);
    expect(text, "shared_accesses", g->shared_accesses, f.shared_accesses);
    expect(text, "barriers", g->barriers, f.barriers);
    expect(text, "global_bytes", distinct_bytes(&c), f.global_bytes);
    free(c.touched);
    trace_close(trace);
}

#endif
