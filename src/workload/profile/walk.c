/* walk.c: thread blocks on the cores of a functional machine. May touch the profiler, and reads blocks of its
 * source.
 *
 * Blocks are placed as the dispatcher places them: one per core in turn while there is room, then the next
 * one on the core that has finished one. Time passes in epochs, each about as long as one access to memory:
 * in an epoch a warp runs until it needs a register that it has asked memory for in this epoch, or has made
 * WALK_TURN accesses. Warps run in turn over all cores. So accesses of one epoch are on their way together:
 * one that finds its sector fetched in the same epoch does not hit, it waits as long as the one that
 * fetches. */
#include "workload/profile/walk.h"

#include <stdlib.h>
#include <string.h>

#define WALK_TURN 16u

/* ------------------------------------------------------------------------------------------------- memory */

static inline uint32_t ones(uint32_t sectors)
{
    return (uint32_t)(UINT64_C(0x4332322132212110) >> (sectors & 15) * 4) &
           15; /* a digit for each set of four */
}

static void to_dram(ls_profiler *p, uint32_t channel, uint64_t line, uint8_t sectors, bool write)
{
    mem_dram_place at = mem_map_dram(&p->shape.map, line * CACHE_LINE_BYTES);
    dram_estimate_add(&p->channels[channel], at.bank, at.row, ones(sectors), write);
}

/* Where a line is in L2. */
typedef struct l2_place {
    uint32_t channel, slice, set;
} l2_place;

static inline l2_place place_of(const ls_profiler *p, uint64_t line)
{
    mem_place place = mem_map_place(&p->shape.map, line * CACHE_LINE_BYTES);
    uint32_t slice = place.channel * p->shape.map.slices_per_channel + place.slice;
    uint32_t set = level_set(&p->l2_index, place.local / CACHE_LINE_BYTES);
    return (l2_place){ .channel = place.channel, .slice = slice, .set = (slice << p->l2_index.bits) + set };
}

typedef struct reached {
    uint32_t core;
    bool bypass;  /* past L1 */
    uint8_t deep; /* sectors that came from DRAM, or are on their way from there */
    uint32_t l2, dram;
    rates_level level;
} reached;

/* A request that may meet others at its slice. */
static void send(ls_profiler *p, uint32_t core, uint32_t slice, const level_line *line, uint8_t sectors,
                 bool write)
{
    uint8_t pending = write ? 0 : (uint8_t)(sectors & (line->fresh | ~line->valid));
    const meet_request request = {
        .line = (uint32_t)(line - p->l2.lines), .slice = slice, .sectors = sectors, .pending = pending
    };
    p->meet.shared |= (pending & line->fresh) != 0;
    p->failed |= !meet_add(&p->meet, core, request);
}

/* Sectors of a line at L2. */
static void at_l2(ls_profiler *p, const lanes_line *of, uint8_t sectors, bool write, bool atomic, reached *r)
{
    const l2_place place = place_of(p, of->line);
    uint32_t slice = place.slice;
    uint32_t requests = atomic ? of->requests : ones(sectors);
    level_victim victim;
    level_line *line = level_look(&p->l2, place.set, of->line, true, &victim);
    p->l2_lines += (line->valid | line->dirty) == 0;
    p->slice_sectors[slice] += requests;
    p->l2_sectors += requests;
    r->l2 += requests;
    if (r->level < RATES_L2)
        r->level = RATES_L2;
    if (victim.dirty != 0) {
        to_dram(p, mem_map_place(&p->shape.map, victim.line * CACHE_LINE_BYTES).channel, victim.line,
                victim.dirty, true);
        r->dram += ones(victim.dirty);
    }
    if (line->stamp != p->epoch || line->filled != p->fills[slice]) {
        line->stamp = p->epoch;
        line->filled = p->fills[slice];
        line->fresh = line->deep = 0;
        line->asked = 0;
    }
    if (!r->bypass)
        send(p, r->core, slice, line, sectors, write);
    if (write) {
        line->valid |= of->full;
        line->dirty |= sectors;
        return;
    }
    uint8_t missing = (uint8_t)(sectors & ~line->valid), waiting = (uint8_t)(sectors & line->fresh);
    if (missing != 0) {
        to_dram(p, place.channel, of->line, missing, false);
        r->dram += ones(missing);
        line->valid |= missing;
        line->fresh |= missing;
    }
    if (atomic)
        line->dirty |= sectors;
    if (r->bypass && waiting != 0 && ++line->asked >= p->shape.l2.mshr_merge) {
        /* These hold up the cores that send them, one after the other: each is waited for by itself, and then
         * all that was on its way is there. */
        p->slice_stalls += (uint64_t)ones(waiting) * MEET_ONE;
        line->filled = ++p->fills[slice];
        line->fresh = line->deep = 0;
        line->asked = 0;
    }
    uint8_t deep = (uint8_t)(sectors & line->fresh);
    if (deep != 0) {
        r->deep |= deep;
        r->level = RATES_DRAM;
    }
}

void ls_profiler_warm(ls_profiler *p, uint64_t address, uint64_t bytes)
{
    uint64_t first = address / CACHE_LINE_BYTES,
             last = bytes == 0 ? first : (address + bytes - 1) / CACHE_LINE_BYTES;
    for (uint64_t number = first; bytes != 0 && number <= last; number++) {
        level_victim victim;
        level_look(&p->l2, place_of(p, number).set, number, true, &victim)->valid = 15;
    }
}

static void load(ls_profiler *p, level *l1, const lanes_line *of, reached *r)
{
    level_victim victim;
    uint32_t set = level_set(&p->l1_index, of->line);
    level_line *line = level_look(l1, set, of->line, true, &victim);
    if (line->stamp != p->epoch) {
        line->stamp = p->epoch;
        line->fresh = line->deep = 0;
    }
    uint8_t waiting = (uint8_t)(of->sectors & line->fresh), missing = (uint8_t)(of->sectors & ~line->valid);
    if (waiting != 0) {
        rates_level depth = (waiting & line->deep) != 0 ? RATES_DRAM : RATES_L2;
        r->level = depth > r->level ? depth : r->level;
    }
    if (missing != 0) {
        uint8_t before = r->deep;
        r->deep = 0;
        at_l2(p, of, missing, false, false, r);
        line->valid |= missing;
        line->fresh |= missing;
        line->deep |= r->deep;
        r->deep |= before;
    }
}

static void store(ls_profiler *p, level *l1, const lanes_line *of, reached *r)
{
    level_victim victim;
    uint32_t set = level_set(&p->l1_index, of->line);
    uint32_t policy = p->l1_spec.cache.write_policy;
    bool allocates = policy == CACHE_WRITE_THROUGH || policy == CACHE_WRITE_BACK;
    level_line *line = level_look(l1, set, of->line, allocates, &victim);
    if (line != NULL && allocates)
        line->valid |= of->full;
    else if (line != NULL && policy == CACHE_WRITE_EVICT)
        line->valid &= (uint8_t)~of->sectors;
    at_l2(p, of, of->sectors, true, false, r);
}

/* ------------------------------------------------------------------------------------------- instructions */

static ls_mem_space space_of(const ls_profiler *p, const walk_warp *w, const ls_inst *inst)
{
    const ls_kernel_info *info = p->request->info;
    if (inst->space != LS_SPACE_GENERIC)
        return (ls_mem_space)inst->space;
    if (info->shared_base == 0 || info->local_base == 0)
        return LS_SPACE_SHARED;
    /* As the core decides: by the first active lane, which both forms of addresses have in front. */
    uint64_t first = w->cta->addrs[w->next->addr >> 2] + ls_cta_move(w->cta, w->next);
    if (first >= info->shared_base && first < info->local_base)
        return LS_SPACE_SHARED;
    return first >= info->local_base && first < info->local_base + (16u << 10) ? LS_SPACE_LOCAL
                                                                               : LS_SPACE_GLOBAL;
}

static ls_profile_inst *count_of(ls_profiler *p, uint64_t pc)
{
    size_t i = (size_t)(pc / RATES_PC_BYTES);
    if (i >= (UINT64_C(1) << 24))
        i = 0;
    while (p->counts.count <= i) {
        const ls_profile_inst none = { .pc = p->counts.count * RATES_PC_BYTES };
        if (!ls_vec_push(&p->counts, none)) {
            p->failed = true;
            return NULL;
        }
    }
    return &p->counts.at[i];
}

/* One access; how deep it went. */
static rates_level access_memory(ls_profiler *p, walk_warp *w, uint32_t core, const ls_inst *inst,
                                 ls_mem_space space)
{
    const bool rules = p->l1_spec.accelsim_rules;
    uint32_t width = rules ? inst->accel_width_bytes : inst->width_bytes;
    const lanes_local local = { .core = core,
                                .core_count = p->shape.cores,
                                .first_thread = w->slot * 32,
                                .block_threads = p->warps_per_block * 32,
                                .blocks_per_core = p->blocks_per_core };
    lanes *touched = &p->lanes;
    lanes_of(touched, w->cta, w->next, inst, width == 0 ? 4 : width, space, &local);
    reached r = { .core = core, .level = RATES_L1 };
    bool write = inst->mem_op == LS_MEM_STORE;
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    r.bypass = (inst->flags & (rules ? LS_INST_ACCEL_BYPASS : LS_INST_BYPASS_L1)) != 0;
    level *l1 = &p->l1[core];
    for (uint32_t i = 0; i < touched->count; i++) {
        const lanes_line *line = &touched->at[i];
        if (r.bypass || atomic)
            at_l2(p, line, line->sectors, write, atomic, &r);
        else if (write)
            store(p, l1, line, &r);
        else
            load(p, l1, line, &r);
    }
    ls_profile_inst *count = count_of(p, inst->pc);
    if (count == NULL)
        return RATES_L1;
    if (write)
        r.level = RATES_L2; /* its answer comes from there */
    else if (r.l2 == 0 && r.level != RATES_L1)
        r.level = RATES_WAIT;
    ls_profile_count *c = &count->level[r.level];
    c->insts++;
    c->sectors += touched->sectors;
    c->l2 += r.l2;
    c->dram += r.dram;
    return r.level;
}

static inline bool waits_for(const walk_warp *w, uint32_t reg, uint32_t span)
{
    for (uint32_t k = 0; k < span; k++)
        if (reg + k < LS_REG_COUNT && (w->pending[(reg + k) >> 6] >> ((reg + k) & 63) & 1) != 0)
            return true;
    return false;
}

static bool must_wait(const walk_warp *w, const ls_inst *inst)
{
    for (uint32_t i = 0; i < inst->src_count; i++)
        if (waits_for(w, inst->src[i], inst->src_span[i] > 1 ? inst->src_span[i] : 1))
            return true;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (waits_for(w, inst->dst[i], i == 0 && inst->dst_span > 1 ? inst->dst_span : 1))
            return true;
    return (inst->flags & (LS_INST_FENCE | LS_INST_ASYNC_WAIT)) != 0;
}

static void wait_for(walk_warp *w, const ls_inst *inst)
{
    for (uint32_t i = 0; i < inst->dst_count; i++)
        for (uint32_t k = 0; k < (i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u); k++)
            if (inst->dst[i] + k < LS_REG_COUNT && inst->dst[i] != LS_REG_ZERO)
                w->pending[(inst->dst[i] + k) >> 6] |= UINT64_C(1) << ((inst->dst[i] + k) & 63);
    w->waits = true;
}

static void add_registers(walk_inst *plan, uint32_t reg, uint32_t span)
{
    for (uint32_t k = 0; k < (span > 1 ? span : 1) && reg + k < LS_REG_COUNT && plan->count != UINT8_MAX;
         k++) {
        if (plan->count == WALK_REGS)
            plan->count = UINT8_MAX;
        else
            plan->reg[plan->count++] = (uint16_t)(reg + k);
    }
}

/* NULL without memory. */
static const walk_inst *learn(ls_profiler *p, uint32_t place)
{
    while (p->insts.count <= place)
        if (!ls_vec_push(&p->insts, ((walk_inst){ 0 }))) {
            p->failed = true;
            return NULL;
        }
    const ls_inst *inst = &p->request->insts[place];
    walk_inst *plan = &p->insts.at[place];
    plan->known = true;
    plan->memory = inst->mem_op != LS_MEM_NONE && inst->space != LS_SPACE_SHARED;
    plan->fence = (inst->flags & (LS_INST_FENCE | LS_INST_ASYNC_WAIT)) != 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        add_registers(plan, inst->src[i], inst->src_span[i]);
    for (uint32_t i = 0; i < inst->dst_count; i++)
        add_registers(plan, inst->dst[i], i == 0 ? inst->dst_span : 1);
    return plan;
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
static void run_warp(ls_profiler *p, walk_warp *w, uint32_t core)
{
    uint32_t accesses = 0;
    const ls_dyn *begin = w->next;
    if (w->waits) {
        memset(w->pending, 0, sizeof w->pending);
        w->waits = false;
    }
    const ls_dyn *next = begin, *const end = w->end;
    const walk_inst *plans = p->insts.at;
    uint32_t plan_count = (uint32_t)p->insts.count;
    bool waits = false;
    for (; next != end && accesses < WALK_TURN; next++) {
        const walk_inst *plan = &plans[next->inst];
        if (next->inst >= plan_count || !plan->known) {
            plan = learn(p, next->inst);
            if (plan == NULL)
                return;
            plans = p->insts.at;
            plan_count = (uint32_t)p->insts.count;
        }
        if (!plan->memory && !waits)
            continue;
        const ls_inst *inst = &p->request->insts[next->inst];
        if (waits && must_stop(w, plan, inst))
            break;
        if (!plan->memory || next->mask == 0 || next->addr == LS_ADDR_NONE)
            continue;
        w->next = next;
        ls_mem_space space = space_of(p, w, inst);
        if (space == LS_SPACE_SHARED)
            continue;
        accesses++;
        if (access_memory(p, w, core, inst, space) == RATES_L1 || inst->mem_op == LS_MEM_STORE)
            continue;
        wait_for(w, inst);
        waits = true;
        if (inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION) {
            next++; /* the warp waits for its answer */
            break;
        }
    }
    w->next = next;
    p->walked += (uint64_t)(w->next - begin);
    p->accesses += accesses;
}

/* ------------------------------------------------------------------------------------------------- blocks */

/* Puts the next block on a core that has room for it. */
static ls_status place(ls_profiler *p, uint32_t core, ls_error *err)
{
    const ls_cta *cta = NULL;
    if (p->exhausted)
        return LS_OK;
    ls_status status = p->request->source.next(p->request->source.self, &cta, err);
    if (status != LS_OK)
        return status;
    if (cta == NULL) {
        p->exhausted = true;
        return LS_OK;
    }
    walk_cta *block = &p->blocks[(size_t)core * p->blocks_per_core];
    uint32_t i = 0;
    while (block[i].cta != NULL)
        i++;
    block += i;
    *block =
        (walk_cta){ .cta = cta, .core = core, .first = i * p->warps_per_block, .warps = p->warps_per_block };
    for (uint32_t w = 0; w < p->warps_per_block; w++) {
        walk_warp *warp = &p->warps[(size_t)(block->first + w) * p->shape.cores + core];
        *warp = (walk_warp){ .slot = block->first + w };
        if (w >= cta->warp_count || cta->warps[w].count == 0)
            continue;
        warp->cta = cta;
        warp->next = cta->dyns + cta->warps[w].first;
        warp->end = warp->next + cta->warps[w].count;
        block->left++;
    }
    p->running++;
    p->read_blocks++;
    p->read_insts += cta->dyn_count;
    return LS_OK;
}

static void give_back(ls_profiler *p, walk_cta *block)
{
    p->request->source.done(p->request->source.self, block->cta);
    block->cta = NULL;
    p->running--;
}

/* Blocks that have ended make room for the next ones, cores in turn. */
static ls_status replace(ls_profiler *p, ls_error *err)
{
    for (uint32_t i = 0; i < p->blocks_per_core; i++)
        for (uint32_t core = 0; core < p->shape.cores; core++) {
            walk_cta *block = &p->blocks[(size_t)core * p->blocks_per_core + i];
            if (block->cta == NULL || block->left != 0)
                continue;
            give_back(p, block);
            ls_status status = place(p, core, err);
            if (status != LS_OK)
                return status;
        }
    return LS_OK;
}

static void run_epoch(ls_profiler *p)
{
    uint32_t cores = p->shape.cores;
    p->epoch++;
    for (uint32_t slot = 0; slot < p->slots; slot++)
        for (uint32_t core = 0; core < cores; core++) {
            walk_warp *w = &p->warps[(size_t)slot * cores + core];
            if (w->cta == NULL)
                continue;
            run_warp(p, w, core);
            if (w->next == w->end) {
                w->cta = NULL;
                p->blocks[(size_t)core * p->blocks_per_core + slot / p->warps_per_block].left--;
            }
        }
    const meet_rules rules = { .latency_cycles = p->shape.machine.dram_cycles,
                               .slice_cycle = p->shape.l2_cycle,
                               .merge = (uint32_t)p->shape.l2.mshr_merge };
    p->slice_stalls += meet_settle(&p->meet, &rules, p->epoch);
}

/* --------------------------------------------------------------------------------------------- one kernel */

static ls_status set_up_l1(ls_profiler *p, ls_error *err)
{
    const cache_spec *spec = &p->l1_spec.cache;
    bool fresh = p->l1 == NULL || p->l1_ways != spec->ways;
    if (fresh) {
        for (uint32_t i = 0; p->l1 != NULL && i < p->shape.cores; i++)
            level_fini(&p->l1[i]);
        if (p->l1 == NULL)
            p->l1 = calloc(p->shape.cores, sizeof *p->l1);
        bool ok = p->l1 != NULL;
        for (uint32_t i = 0; ok && i < p->shape.cores; i++)
            ok = level_init(&p->l1[i], (uint32_t)spec->sets, (uint32_t)spec->ways,
                            spec->replacement == CACHE_FIFO, p->method == LS_PROFILE_REUSE);
        if (!ok)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the L1 caches of a profile");
        p->l1_ways = (uint32_t)spec->ways;
    } else if (p->l1_spec.flush) {
        for (uint32_t i = 0; i < p->shape.cores; i++)
            level_clear(&p->l1[i]);
    }
    return LS_OK;
}

ls_status walk_begin(ls_profiler *p, ls_error *err)
{
    const ls_profile_request *request = p->request;
    const ls_kernel_info *info = request->info;
    p->warps_per_block = ls_kernel_warps(info) == 0 ? 1 : ls_kernel_warps(info);
    p->blocks_per_core = dispatch_blocks_per_core(&p->shape.rules, info, request->ctas);
    if (p->blocks_per_core == 0) /* the dispatcher says why */
        p->blocks_per_core = 1;
    p->slots = p->warps_per_block * p->blocks_per_core;
    p->l1_spec = core_get_l1(p->shape.core, info->shared_bytes * p->blocks_per_core);
    level_index_init(&p->l1_index, p->l1_spec.cache.hash, p->l1_spec.cache.sets);
    p->warps = calloc((size_t)p->slots * p->shape.cores, sizeof *p->warps);
    p->blocks = calloc((size_t)p->blocks_per_core * p->shape.cores, sizeof *p->blocks);
    if (p->warps == NULL || p->blocks == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the warps of a profile");
    p->exhausted = p->failed = false;
    p->insts.count = 0;
    p->running = 0;
    p->walked = p->accesses = p->read_insts = p->read_blocks = p->l2_lines = 0;
    walk_restart_counts(p);
    ls_status status = set_up_l1(p, err);
    for (uint32_t i = 0; i < p->blocks_per_core; i++)
        for (uint32_t core = 0; core < p->shape.cores && status == LS_OK; core++)
            status = place(p, core, err);
    return status;
}

void walk_restart_counts(ls_profiler *p)
{
    p->counts.count = 0;
    p->l2_sectors = p->slice_stalls = 0;
    memset(p->slice_sectors, 0, p->shape.map.slice_count * sizeof *p->slice_sectors);
    for (uint32_t i = 0; i < p->shape.map.channels; i++) {
        dram_estimate_flush(&p->channels[i]);
        p->channels[i].busy_cycles = p->channels[i].atoms = 0;
        p->channels[i].reads = p->channels[i].closed = p->channels[i].conflicts = 0;
    }
}

ls_status walk_until(ls_profiler *p, uint64_t walked, ls_error *err)
{
    while (p->running > 0 && p->walked < walked) {
        run_epoch(p);
        if (p->failed)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of a profile");
        ls_status status = replace(p, err);
        if (status != LS_OK)
            return status;
    }
    for (uint32_t i = 0; i < p->shape.map.channels; i++)
        dram_estimate_flush(&p->channels[i]);
    return LS_OK;
}

void walk_end(ls_profiler *p)
{
    for (size_t i = 0; p->blocks != NULL && i < (size_t)p->blocks_per_core * p->shape.cores; i++)
        if (p->blocks[i].cta != NULL)
            give_back(p, &p->blocks[i]);
    free(p->warps);
    free(p->blocks);
    p->warps = NULL;
    p->blocks = NULL;
}
