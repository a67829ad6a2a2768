/* walk.c: thread blocks on the cores of a functional machine, and the threads that walk them. May touch the
 * profiler, and reads blocks of its source.
 *
 * Blocks are placed as by the dispatcher: one per core in turn while there is room, then the next one on a
 * core that has finished one. Time passes in epochs, each about as long as one access to memory. In an epoch a
 * warp runs until it needs a register that it loads in this epoch, or has made WALK_TURN accesses. L2 sees
 * warps in turn over all cores. Accesses of one epoch are in flight together: an access to a sector that the
 * same epoch fetches does not hit, it waits as long as the fetch. So a warp's progress in an epoch depends on
 * its L1 alone, and L2 can answer after all warps have sent their requests. */
#include "workload/profile/walk.h"

#include <stdlib.h>
#include <string.h>

/* Warps that are worth a meeting of threads three times per epoch. */
#define WARPS_TO_SHARE 64u

void profiler_warm(trace_profiler *p, uint64_t address, uint64_t bytes)
{
    uint64_t first = address / SECTOR_CACHE_LINE_BYTES,
             last = bytes == 0 ? first : (address + bytes - 1) / SECTOR_CACHE_LINE_BYTES;
    for (uint64_t number = first; bytes != 0 && number <= last; number++) {
        level_victim victim;
        uint32_t set = walk_set(p, number);
        level_look(walk_level(p, set), walk_set_in_level(p, set), number, true, &victim)->valid = 15;
    }
}

/* ------------------------------------------------------------------------------------------------- blocks */

static ls_status read_blocks(trace_profiler *p, uint32_t wanted, ls_error *err)
{
    ls_status status = LS_OK;
    p->fetched_next = p->fetched_count = 0;
    while (p->fetched_count < wanted && !p->exhausted && status == LS_OK) {
        const ls_cta *cta = NULL;
        status = p->request->source.next(p->request->source.self, &cta, err);
        if (status == LS_OK && cta != NULL)
            p->fetched[p->fetched_count++] = cta;
        p->exhausted = status == LS_OK && cta == NULL;
    }
    return status;
}

/* One for each place that will be free after this epoch. */
static ls_status read_next(trace_profiler *p, ls_error *err)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < (size_t)p->blocks_per_core * p->shape.cores; i++)
        wanted += p->blocks[i].cta != NULL && p->blocks[i].left == 0;
    return read_blocks(p, wanted, err);
}

/* Puts the next block that has been read on a core that has room for it. */
static void place(trace_profiler *p, uint32_t core)
{
    if (p->fetched_next == p->fetched_count)
        return;
    const ls_cta *cta = p->fetched[p->fetched_next++];
    walk_cta *block = &p->blocks[(size_t)core * p->blocks_per_core];
    uint32_t i = 0;
    while (block[i].cta != NULL)
        i++;
    block += i;
    *block =
        (walk_cta){ .cta = cta, .core = core, .first = i * p->warps_per_block, .warps = p->warps_per_block };
    for (uint32_t w = 0; w < p->warps_per_block; w++) {
        walk_warp *warp = &p->warps[(size_t)core * p->slots + block->first + w];
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
}

static void give_back(trace_profiler *p, walk_cta *block)
{
    p->request->source.done(p->request->source.self, block->cta);
    block->cta = NULL;
    p->running--;
}

/* Blocks that have ended make room for the next ones, cores in turn. */
static void replace(trace_profiler *p)
{
    for (uint32_t i = 0; i < p->blocks_per_core; i++)
        for (uint32_t core = 0; core < p->shape.cores; core++) {
            walk_cta *block = &p->blocks[(size_t)core * p->blocks_per_core + i];
            if (block->cta == NULL || block->left != 0)
                continue;
            give_back(p, block);
            place(p, core);
        }
}

/* ------------------------------------------------------------------------------------------------- epochs */

static contention_rules rules_of(const trace_profiler *p)
{
    return (contention_rules){ .latency_cycles = p->shape.machine.dram_cycles,
                               .slice_cycle = p->shape.l2_cycle,
                               .merge = walk_merge_limit(p),
                               .set_bits = p->l2_index.bits };
}

/* Adds up the counts of cores, parts and workers in the epoch. */
static ls_status end_epoch(trace_profiler *p)
{
    uint64_t still = 0;
    bool failed = false;
    for (uint32_t i = 0; i < p->shape.cores; i++) {
        p->walked += p->cores[i].walked;
        p->accesses += p->cores[i].accessed;
        failed |= p->cores[i].failed;
    }
    for (uint32_t i = 0; i < p->part_count; i++) {
        walk_part *part = &p->parts[i];
        p->l2_lines += part->l2_lines;
        p->l2_sectors += part->l2_sectors;
        p->slice_stalls += part->slice_stalls;
        still += part->still;
        part->l2_lines = part->l2_sectors = part->slice_stalls = part->still = 0;
    }
    for (uint32_t i = 0; i < p->worker_count; i++)
        failed |= p->workers[i].failed;
    if (p->meets) {
        contention_end(&p->l2_contention);
        p->slice_stalls += still * CONTENTION_ONE / p->shape.machine.dram_cycles;
    }
    p->begun = false;
    if (failed)
        return ls_fail(p->err, LS_ERR_NOMEM, "no memory for the instructions of a profile");
    if (p->status == LS_OK)
        replace(p);
    return p->status;
}

/* The steps between the parallel ones; each is run by one thread while the others wait. */
static void plan(void *self)
{
    trace_profiler *p = self;
    if (p->begun)
        p->status = end_epoch(p);
    p->going = p->status == LS_OK && p->running > 0 && p->walked < p->until;
    p->begun = p->going;
    p->epoch += p->going;
    atomic_store_explicit(&p->next_core, 0, memory_order_relaxed);
    atomic_store_explicit(&p->next_part, 0, memory_order_relaxed);
    atomic_store_explicit(&p->next_count, 0, memory_order_relaxed);
}

static void look_for_meetings(void *self)
{
    trace_profiler *p = self;
    p->meets = false;
    for (uint32_t i = 0; i < p->part_count; i++)
        p->meets |= p->parts[i].shared;
    p->meets &= p->shape.machine.dram_cycles > 0;
    if (p->meets)
        contention_begin(&p->l2_contention, p->sent);
}

static inline uint32_t take(atomic_uint *next)
{
    return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
}

static void walk(void *self, uint32_t thread)
{
    trace_profiler *p = self;
    walk_worker *worker = &p->workers[thread];
    const uint32_t cores = p->shape.cores, parts = p->part_count;
    const contention_rules rules = rules_of(p);
    for (;;) {
        barrier_wait(&p->barrier, plan, p);
        if (!p->going)
            return;
        for (uint32_t i; (i = take(&p->next_core)) < cores;)
            walk_core_run(p, worker, i);
        barrier_wait(&p->barrier, NULL, NULL);
        for (uint32_t i; (i = take(&p->next_part)) <= parts;) {
            if (i == 0)
                p->status = read_next(p, p->err);
            else
                walk_part_run(p, i - 1);
        }
        barrier_wait(&p->barrier, look_for_meetings, p);
        for (uint32_t i; (i = take(&p->next_count)) < parts + cores;) {
            if (i >= parts)
                walk_core_count(p, worker, i - parts);
            else if (p->meets)
                p->parts[i].still = contention_settle(&p->l2_contention, i, p->sent, &rules, p->epoch);
        }
    }
}

ls_status walk_until(trace_profiler *p, uint64_t walked, ls_error *err)
{
    bool shared = p->pool != NULL && (uint64_t)p->running * p->warps_per_block >= WARPS_TO_SHARE;
    p->until = walked;
    p->status = LS_OK;
    p->err = err;
    barrier_init(&p->barrier, shared ? p->worker_count : 1);
    if (shared)
        pool_run(p->pool, walk, p);
    else
        walk(p, 0);
    for (uint32_t i = 0; i < p->shape.map.channels; i++)
        dram_estimate_flush(&p->channels[i]);
    return p->status;
}

/* ---------------------------------------------------------------------------------------------- the team */

static void give_up_team(trace_profiler *p)
{
    for (uint32_t i = 0; p->workers != NULL && i < p->worker_count; i++) {
        vec_fini(&p->workers[i].insts);
        vec_fini(&p->workers[i].counts);
    }
    for (uint32_t i = 0; p->parts != NULL && i < p->part_count; i++)
        free(p->parts[i].next);
    for (uint32_t core = 0; p->sent != NULL && core < p->shape.cores; core++)
        for (uint32_t i = 0; p->sent[core].to != NULL && i < p->part_count; i++)
            vec_fini(&p->sent[core].to[i]);
    for (uint32_t core = 0; p->sent != NULL && core < p->shape.cores; core++) {
        free(p->sent[core].to);
        p->sent[core].to = NULL;
    }
    free(p->workers);
    free(p->parts);
    p->workers = NULL;
    p->parts = NULL;
    p->worker_count = p->part_count = 0;
}

void walk_fini(trace_profiler *p)
{
    give_up_team(p);
    for (uint32_t i = 0; p->sent != NULL && i < p->shape.cores; i++)
        vec_fini(&p->sent[i].requests);
    for (uint32_t i = 0; p->cores != NULL && i < p->shape.cores; i++) {
        level_fini(&p->cores[i].l1);
        vec_fini(&p->cores[i].accesses);
    }
    free(p->sent);
    free(p->cores);
    p->sent = NULL;
    p->cores = NULL;
}

static void *zeroed(size_t count, size_t size, size_t align)
{
    void *at = aligned_alloc(align, count * size);
    return at == NULL ? NULL : memset(at, 0, count * size);
}

ls_status walk_divide(trace_profiler *p, ls_error *err)
{
    const uint32_t threads = p->pool == NULL ? 1 : pool_threads(p->pool), cores = p->shape.cores;
    uint32_t parts = threads == 1 || p->l2_levels == 1 ? 1 : WALK_PARTS * threads;
    parts = parts < p->shape.map.channels ? parts : p->shape.map.channels;
    give_up_team(p);
    if (p->cores == NULL)
        p->cores = zeroed(cores, sizeof *p->cores, _Alignof(walk_core));
    if (p->sent == NULL)
        p->sent = calloc(cores, sizeof *p->sent);
    p->workers = zeroed(threads, sizeof *p->workers, _Alignof(walk_worker));
    p->parts = zeroed(parts, sizeof *p->parts, _Alignof(walk_part));
    bool ok = p->cores != NULL && p->sent != NULL && p->workers != NULL && p->parts != NULL &&
              contention_divide(&p->l2_contention, parts);
    p->worker_count = threads;
    p->part_count = parts;
    for (uint32_t i = 0; ok && i < parts; i++) {
        p->parts[i].next = calloc(cores, sizeof *p->parts[i].next);
        ok = p->parts[i].next != NULL;
    }
    for (uint32_t i = 0; ok && i < cores; i++) {
        p->cores[i].sent = &p->sent[i];
        p->sent[i].to = calloc(parts, sizeof *p->sent[i].to);
        ok = p->sent[i].to != NULL;
    }
    return ok ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for %u threads of a profile", threads);
}

/* --------------------------------------------------------------------------------------------- one kernel */

static ls_status set_up_l1(trace_profiler *p, ls_error *err)
{
    const sector_cache_spec *spec = &p->l1_spec.cache;
    bool fresh = !p->has_l1 || p->l1_ways != spec->ways, ok = true;
    ls_status status = profile_check_policy("core.l1.replacement", spec->replacement, p->method, err);
    if (status == LS_OK)
        status = profile_check_hash("core.l1.hash", spec->hash.kind, err);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; ok && i < p->shape.cores; i++) {
        level *l1 = &p->cores[i].l1;
        if (fresh) {
            level_fini(l1);
            ok = level_init(l1, (uint32_t)spec->sets, (uint32_t)spec->ways,
                            spec->replacement == REPLACEMENT_FIFO, p->method == LS_PROFILE_REUSE);
        } else if (p->l1_spec.flush) {
            level_clear(l1);
        }
    }
    p->has_l1 = ok;
    p->l1_ways = (uint32_t)spec->ways;
    return ok ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for the L1 caches of a profile");
}

ls_status walk_begin(trace_profiler *p, ls_error *err)
{
    const profile_request *request = p->request;
    const ls_kernel_info *info = request->info;
    p->warps_per_block = ls_kernel_warps(info) == 0 ? 1 : ls_kernel_warps(info);
    p->blocks_per_core = ls_dispatch_blocks_per_core(&p->shape.rules, info, request->ctas);
    if (p->blocks_per_core == 0) /* the dispatcher says why */
        p->blocks_per_core = 1;
    p->slots = p->warps_per_block * p->blocks_per_core;
    p->l1_spec = gpu_shape_l1(&p->shape, info->shared_bytes * p->blocks_per_core);
    level_index_init(&p->l1_index, &p->l1_spec.cache.hash, p->l1_spec.cache.sets);
    p->warps = calloc((size_t)p->slots * p->shape.cores, sizeof *p->warps);
    p->blocks = calloc((size_t)p->blocks_per_core * p->shape.cores, sizeof *p->blocks);
    p->fetched = calloc((size_t)p->blocks_per_core * p->shape.cores, sizeof *p->fetched);
    p->slot_starts = calloc((size_t)(p->slots + 1) * p->shape.cores, sizeof *p->slot_starts);
    if (p->warps == NULL || p->blocks == NULL || p->fetched == NULL || p->slot_starts == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the warps of a profile");
    for (uint32_t i = 0; i < p->shape.cores; i++) {
        p->sent[i].slots = &p->slot_starts[(size_t)(p->slots + 1) * i];
        p->cores[i].failed = false;
    }
    for (uint32_t i = 0; i < p->worker_count; i++) {
        p->workers[i].insts.count = 0;
        p->workers[i].failed = false;
    }
    p->exhausted = p->begun = false;
    p->fetched_next = p->fetched_count = 0;
    p->running = 0;
    p->walked = p->accesses = p->read_insts = p->read_blocks = p->l2_lines = 0;
    walk_restart_counts(p);
    ls_status status = set_up_l1(p, err);
    for (uint32_t i = 0; status == LS_OK && i < p->blocks_per_core; i++) {
        status = read_blocks(p, p->shape.cores, err);
        for (uint32_t core = 0; core < p->shape.cores && status == LS_OK; core++)
            place(p, core);
    }
    return status;
}

void walk_restart_counts(trace_profiler *p)
{
    for (uint32_t i = 0; i < p->worker_count; i++)
        p->workers[i].counts.count = 0;
    p->l2_sectors = p->slice_stalls = 0;
    memset(p->slice_sectors, 0, p->shape.map.slice_count * sizeof *p->slice_sectors);
    for (uint32_t i = 0; i < p->shape.map.channels; i++) {
        dram_estimate_flush(&p->channels[i]);
        p->channels[i].busy_cycles = p->channels[i].atoms = 0;
        p->channels[i].reads = p->channels[i].closed = p->channels[i].conflicts = 0;
    }
}

bool walk_add_counts(trace_profiler *p)
{
    walk_worker *sum = &p->workers[0];
    for (uint32_t i = 1; i < p->worker_count; i++) {
        walk_worker *worker = &p->workers[i];
        for (size_t k = 0; k < worker->counts.count; k++) {
            const profile_inst *from = &worker->counts.at[k];
            profile_inst *to = walk_count_of(sum, from->pc);
            if (to == NULL)
                return false;
            for (int depth = 0; depth < RATES_LEVELS; depth++) {
                to->level[depth].insts += from->level[depth].insts;
                to->level[depth].sectors += from->level[depth].sectors;
                to->level[depth].l2 += from->level[depth].l2;
                to->level[depth].dram += from->level[depth].dram;
            }
        }
        worker->counts.count = 0;
    }
    return true;
}

void walk_end(trace_profiler *p)
{
    for (size_t i = 0; p->blocks != NULL && i < (size_t)p->blocks_per_core * p->shape.cores; i++)
        if (p->blocks[i].cta != NULL)
            give_back(p, &p->blocks[i]);
    for (; p->fetched_next < p->fetched_count; p->fetched_next++)
        p->request->source.done(p->request->source.self, p->fetched[p->fetched_next]);
    free(p->warps);
    free(p->blocks);
    free(p->fetched);
    free(p->slot_starts);
    p->fetched = NULL;
    p->warps = NULL;
    p->blocks = NULL;
    p->slot_starts = NULL;
}
