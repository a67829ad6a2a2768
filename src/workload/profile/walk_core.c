/* walk_core.c: the warps of one core for one epoch, through its L1. May touch the core, its warps, its list of
 * requests and data of the thread. */
#include "workload/profile/walk.h"

#include <string.h>

#define WALK_TURN 16u

/* ------------------------------------------------------------------------------------------------- memory */

/* There is room in the list. */
static sent_request *send(const trace_profiler *p, sent_list *sent, const lanes_line *of, uint8_t sectors,
                          uint32_t flags)
{
    sent_request *r = &sent->requests.at[sent->requests.count++];
    *r =
        (sent_request){ .line = of->line,
                        .set = walk_set(p, of->line),
                        .at = sent->sectors,
                        .requests = (uint16_t)((flags & SENT_ATOMIC) != 0 ? of->requests : walk_ones(sectors)),
                        .sectors = sectors,
                        .full = of->full,
                        .flags = (uint8_t)flags };
    if ((flags & SENT_BYPASS) == 0)
        sent->sectors += walk_ones(sectors);
    return r;
}

static void load(const trace_profiler *p, walk_core *c, const lanes_line *of)
{
    level_victim victim;
    level_line *line = level_look(&c->l1, level_set(&p->l1_index, of->line), of->line, true, &victim);
    if (line->stamp != p->epoch) {
        line->stamp = p->epoch;
        line->fresh = 0;
    }
    uint8_t waiting = (uint8_t)(of->sectors & line->fresh), missing = (uint8_t)(of->sectors & ~line->valid);
    sent_list *sent = c->sent;
    if (waiting != 0)
        sent->requests.at[sent->requests.count++] =
            (sent_request){ .sectors = waiting, .flags = SENT_WAIT, .l1 = (uint32_t)(line - c->l1.lines) };
    if (missing != 0) {
        uint32_t flags = SENT_FETCH | (line->fresh == 0 ? (uint32_t)SENT_FIRST : 0);
        send(p, sent, of, missing, flags)->l1 = (uint32_t)(line - c->l1.lines);
        line->valid |= missing;
        line->fresh |= missing;
    }
}

static void store(const trace_profiler *p, walk_core *c, const lanes_line *of)
{
    level_victim victim;
    uint32_t set = level_set(&p->l1_index, of->line);
    uint32_t policy = p->l1_spec.cache.write_policy;
    bool allocates = policy == WRITE_THROUGH || policy == WRITE_BACK;
    level_line *line = level_look(&c->l1, set, of->line, allocates, &victim);
    if (line != NULL && allocates)
        line->valid |= of->full;
    else if (line != NULL && policy == WRITE_EVICT)
        line->valid &= (uint8_t)~of->sectors;
    send(p, c->sent, of, of->sectors, SENT_WRITE);
}

/* ------------------------------------------------------------------------------------------- instructions */

static ls_mem_space space_of(const trace_profiler *p, const walk_warp *w, const ls_inst *inst)
{
    const ls_kernel_info *info = p->request->info;
    const bool accelsim = p->l1_spec.accelsim_rules;
    if (inst->space != LS_SPACE_GENERIC && (accelsim || !ls_inst_reduces_generic(inst)))
        return (ls_mem_space)inst->space;
    if (info->shared_base == 0 || info->local_base == 0)
        return inst->space == LS_SPACE_GENERIC ? LS_SPACE_SHARED : LS_SPACE_GLOBAL;
    /* As the core decides: by the first active lane, which both forms of addresses have in front. */
    uint64_t first = w->cta->addrs[w->next->addr >> 2] + ls_cta_move(w->cta, w->next);
    if (!accelsim)
        return ls_kernel_space(info, first);
    if (first >= info->shared_base && first < info->local_base)
        return LS_SPACE_SHARED;
    return first >= info->local_base && first < info->local_base + (16u << 10) ? LS_SPACE_LOCAL
                                                                               : LS_SPACE_GLOBAL;
}

profile_inst *walk_count_of(walk_worker *worker, uint64_t pc)
{
    size_t i = (size_t)(pc / RATES_PC_BYTES);
    if (i >= (UINT64_C(1) << 24))
        i = 0;
    while (worker->counts.count <= i) {
        const profile_inst none = { .pc = worker->counts.count * RATES_PC_BYTES };
        if (!vec_push(&worker->counts, none)) {
            worker->failed = true;
            return NULL;
        }
    }
    return &worker->counts.at[i];
}

static void count(walk_worker *worker, uint64_t pc, rates_level depth, uint64_t sectors, uint64_t l2,
                  uint64_t dram)
{
    profile_inst *inst = walk_count_of(worker, pc);
    if (inst == NULL)
        return;
    profile_count *c = &inst->level[depth];
    c->insts++;
    c->sectors += sectors;
    c->l2 += l2;
    c->dram += dram;
}

/* Lists the requests for each part. */
static void address_requests(trace_profiler *p, walk_core *c, size_t first)
{
    sent_list *sent = c->sent;
    for (size_t i = first; i < sent->requests.count; i++) {
        const sent_request *r = &sent->requests.at[i];
        if ((r->flags & SENT_WAIT) != 0)
            continue;
        uint32_t part = p->part_count <= 1 ? 0 : walk_channel(p, r->set) % p->part_count;
        if (sent->to[part].count < sent->to[part].capacity || vec_reserve(&sent->to[part], 1))
            sent->to[part].at[sent->to[part].count++] = (uint32_t)i;
        else
            c->failed = true;
    }
}

/* One access; true if it goes past L1, or waits for an access that did. */
static bool access_memory(trace_profiler *p, walk_worker *worker, walk_core *c, uint32_t core,
                          const walk_warp *w, const ls_inst *inst, ls_mem_space space)
{
    const bool rules = p->l1_spec.accelsim_rules;
    uint32_t width = rules ? inst->accel_width_bytes : inst->width_bytes;
    const lanes_local local = { .core = core,
                                .core_count = p->shape.cores,
                                .first_thread = w->slot * 32,
                                .block_threads = p->warps_per_block * 32,
                                .blocks_per_core = p->blocks_per_core };
    lanes *touched = &worker->lanes;
    lanes_of(touched, w->cta, w->next, inst, width == 0 ? 4 : width, space, &local);
    bool write = inst->mem_op == LS_MEM_STORE;
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    bool bypass = (inst->flags & (rules ? LS_INST_ACCEL_BYPASS : LS_INST_BYPASS_L1)) != 0;
    uint32_t flags = (write ? SENT_WRITE : 0u) | (atomic ? SENT_ATOMIC : 0u) | (bypass ? SENT_BYPASS : 0u);
    sent_list *sent = c->sent;
    const size_t first = sent->requests.count;
    const size_t room = sent->requests.capacity - first, most = 2 * (size_t)touched->count;
    if (room < most && !vec_reserve(&sent->requests, most)) {
        c->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < touched->count; i++) {
        const lanes_line *line = &touched->at[i];
        if (bypass || atomic)
            send(p, sent, line, line->sectors, flags);
        else if (write)
            store(p, c, line);
        else
            load(p, c, line);
    }
    size_t entries = sent->requests.count - first;
    if (entries == 0 && !write) {
        count(worker, inst->pc, RATES_L1, touched->sectors, 0, 0);
        return false;
    }
    const walk_access access = { .pc = inst->pc,
                                 .first = (uint32_t)first,
                                 .count = (uint16_t)entries,
                                 .sectors = (uint16_t)touched->sectors,
                                 .write = write };
    if (c->accesses.count < c->accesses.capacity || vec_reserve(&c->accesses, 1))
        c->accesses.at[c->accesses.count++] = access;
    else
        c->failed = true;
    address_requests(p, c, first);
    return true;
}

static bool must_wait(const walk_warp *w, const ls_inst *inst)
{
    return inst_first_in_set(inst, w->pending, true) != LS_REG_COUNT ||
           (inst->flags & (LS_INST_FENCE | LS_INST_ASYNC_WAIT)) != 0;
}

/* Returns what to look for from now on, as in walk_inst.sketch. */
static uint64_t wait_for(walk_warp *w, const ls_inst *inst)
{
    uint64_t sketch = WALK_WAITS;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (!reg_is_constant(inst->dst[i]))
            for (uint32_t reg = inst->dst[i], end = inst_dst_end(inst, i, true); reg < end; reg++) {
                reg_set_add(w->pending, reg);
                sketch |= UINT64_C(1) << reg % WALK_SKETCH;
            }
    w->waits = true;
    return sketch;
}

static void add_registers(walk_inst *plan, uint32_t reg, uint32_t end)
{
    for (; reg < end && plan->count != UINT8_MAX; reg++) {
        if (plan->count == WALK_REGS)
            plan->count = UINT8_MAX;
        else
            plan->reg[plan->count++] = (uint16_t)reg;
    }
}

/* false without memory. */
static bool learn(const trace_profiler *p, walk_worker *worker, uint32_t place)
{
    while (worker->insts.count <= place)
        if (!vec_push(&worker->insts, ((walk_inst){ .sketch = UINT64_MAX }))) {
            worker->failed = true;
            return false;
        }
    const ls_inst *inst = &p->request->insts[place];
    walk_inst *plan = &worker->insts.at[place];
    plan->known = true;
    plan->memory = inst->mem_op != LS_MEM_NONE && inst->space != LS_SPACE_SHARED;
    plan->fence = (inst->flags & (LS_INST_FENCE | LS_INST_ASYNC_WAIT)) != 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        add_registers(plan, inst->src[i], inst_src_end(inst, i, true));
    for (uint32_t i = 0; i < inst->dst_count; i++)
        add_registers(plan, inst->dst[i], inst_dst_end(inst, i, true));
    plan->sketch = (plan->memory ? WALK_MEMORY : 0) | (plan->fence ? WALK_WAITS : 0);
    for (uint32_t i = 0; plan->count != UINT8_MAX && i < plan->count; i++)
        plan->sketch |= UINT64_C(1) << plan->reg[i] % WALK_SKETCH;
    if (plan->count == UINT8_MAX)
        plan->sketch = UINT64_MAX;
    return true;
}

static inline bool must_stop(const walk_warp *w, const walk_inst *plan, const ls_inst *inst)
{
    if (plan->fence || plan->count == UINT8_MAX)
        return plan->fence || must_wait(w, inst);
    uint64_t found = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        found |= w->pending[plan->reg[i] >> 6] >> (plan->reg[i] & 63);
    return (found & 1) != 0;
}

/* One warp for one epoch. */
static void run_warp(trace_profiler *p, walk_worker *worker, walk_core *c, uint32_t core, walk_warp *w)
{
    uint32_t accesses = 0;
    const ls_dyn *begin = w->next;
    if (w->waits) {
        memset(w->pending, 0, sizeof w->pending);
        w->waits = false;
    }
    const ls_dyn *next = begin, *const end = w->end;
    const walk_inst *plans = worker->insts.at;
    uint32_t plan_count = (uint32_t)worker->insts.count;
    uint64_t look = WALK_MEMORY;
    for (; next != end; next++) {
        if (next->inst < plan_count && (plans[next->inst].sketch & look) == 0)
            continue;
        if (next->inst >= plan_count || !plans[next->inst].known) {
            if (!learn(p, worker, next->inst))
                return;
            plans = worker->insts.at;
            plan_count = (uint32_t)worker->insts.count;
        }
        const walk_inst *plan = &plans[next->inst];
        const ls_inst *inst = &p->request->insts[next->inst];
        if ((look & WALK_WAITS) != 0 && must_stop(w, plan, inst))
            break;
        if (!plan->memory || next->mask == 0 || next->addr == LS_ADDR_NONE)
            continue;
        w->next = next;
        ls_mem_space space = space_of(p, w, inst);
        if (space == LS_SPACE_SHARED)
            continue;
        accesses++;
        bool waits = access_memory(p, worker, c, core, w, inst, space) && inst->mem_op != LS_MEM_STORE;
        if (waits)
            look |= wait_for(w, inst);
        /* A warp waits for the answer of an atomic at once. */
        bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
        if (accesses == WALK_TURN || (waits && atomic)) {
            next++;
            break;
        }
    }
    w->next = next;
    c->walked += (uint64_t)(w->next - begin);
    c->accessed += accesses;
}

void walk_core_run(trace_profiler *p, walk_worker *worker, uint32_t core)
{
    walk_core *c = &p->cores[core];
    sent_list *sent = c->sent;
    sent->requests.count = 0;
    sent->sectors = 0;
    for (uint32_t part = 0; part < p->part_count; part++)
        sent->to[part].count = 0;
    c->accesses.count = 0;
    c->walked = c->accessed = 0;
    for (uint32_t slot = 0; slot < p->slots; slot++) {
        walk_warp *w = &p->warps[(size_t)core * p->slots + slot];
        sent->slots[slot] = (uint32_t)sent->requests.count;
        if (w->cta == NULL)
            continue;
        run_warp(p, worker, c, core, w);
        if (w->next == w->end) {
            w->cta = NULL;
            p->blocks[(size_t)core * p->blocks_per_core + slot / p->warps_per_block].left--;
        }
    }
    sent->slots[p->slots] = (uint32_t)sent->requests.count;
}

/* ------------------------------------------------------------------------------------------------ answers */

void walk_core_count(trace_profiler *p, walk_worker *worker, uint32_t core)
{
    walk_core *c = &p->cores[core];
    for (size_t i = 0; i < c->accesses.count; i++) {
        const walk_access *access = &c->accesses.at[i];
        const sent_request *r = &c->sent->requests.at[access->first];
        rates_level depth = RATES_L1;
        uint64_t l2 = 0, dram = 0;
        for (uint32_t k = 0; k < access->count; k++, r++) {
            uint8_t deep = r->deep;
            if ((r->flags & SENT_WAIT) != 0) {
                deep = r->sectors & c->l1.lines[r->l1].deep;
            } else {
                l2 += r->requests;
                dram += r->dram;
            }
            if ((r->flags & SENT_FETCH) != 0) {
                uint8_t before = (r->flags & SENT_FIRST) != 0 ? 0 : c->l1.lines[r->l1].deep;
                c->l1.lines[r->l1].deep = before | deep;
            }
            depth = deep != 0 ? RATES_DRAM : depth < RATES_L2 ? RATES_L2 : depth;
        }
        if (access->write)
            depth = RATES_L2; /* its answer comes from there */
        else if (l2 == 0)
            depth = RATES_WAIT;
        count(worker, access->pc, depth, access->sectors, l2, dram);
    }
}
