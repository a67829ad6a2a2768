/* profile.c: profilers, and from the counts of a profile to the rates that cores use. */
#include "workload/profile/walk.h"

#include <stdlib.h>
#include <string.h>

/* If cores contend at L2 (each slice has waited for DRAM once), the rate of contention changes as they drift
 * apart: a longer part of the kernel is walked. */
#define SAMPLED_ACCESSES 16000u
/* A longer kernel does not need a longer sample: at most this many times the requested sample. */
#define SAMPLES_MOST 20u

const char *const profile_method_names[] = { "cache", "reuse", NULL };

/* ---------------------------------------------------------------------------------------------- profilers */

ls_status profile_check_policy(const char *key, uint32_t policy, profile_method method, ls_error *err)
{
    const bool by_reuse = method == LS_PROFILE_REUSE;
    if (policy == REPLACEMENT_LRU || (policy == REPLACEMENT_FIFO && !by_reuse))
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "%s is '%s', but hit rates are counted %s: choose %s, or core.memory=cycle", key,
                   policy < REPLACEMENT_KINDS ? replacement_names[policy] : "of a plug-in",
                   by_reuse ? "by reuse distances, which assume lru" : "without time, with lru or fifo",
                   by_reuse ? "lru" : "one of these");
}

ls_status profile_check_hash(const char *key, uint32_t hash, ls_error *err)
{
    return hash < SET_HASH_KINDS
               ? LS_OK
               : ls_fail(
                     err, LS_ERR_UNSUPPORTED,
                     "%s is a plug-in's, but hit rates are counted with built-in hashes only: choose one of "
                     "these, or core.memory=cycle",
                     key);
}

ls_status profiler_create(const gpu_shape *shape, profile_method method, trace_profiler **out, ls_error *err)
{
    *out = NULL;
    if (gpu_shape_check(shape, err) != LS_OK ||
        profile_check_policy("l2.replacement", shape->l2.replacement, method, err) != LS_OK ||
        profile_check_hash("l2.hash", shape->l2.hash.kind, err) != LS_OK)
        return LS_ERR_UNSUPPORTED;
    trace_profiler *p = aligned_alloc(_Alignof(trace_profiler), sizeof *p);
    if (p == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a profile");
    memset(p, 0, sizeof *p);
    p->shape = *shape;
    p->method = method;
    const bool by_reuse = method == LS_PROFILE_REUSE;
    p->l2_levels = by_reuse ? 1 : shape->map.slice_count;
    p->channels = calloc(shape->map.channels, sizeof *p->channels);
    p->slice_sectors = calloc(shape->map.slice_count, sizeof *p->slice_sectors);
    p->fills = calloc(shape->map.slice_count, sizeof *p->fills);
    p->l2 = calloc(p->l2_levels, sizeof *p->l2);
    bool ok = p->channels != NULL && p->slice_sectors != NULL && p->fills != NULL && p->l2 != NULL;
    uint32_t sets = (by_reuse ? shape->map.slice_count : 1) * (uint32_t)shape->l2.sets;
    for (uint32_t i = 0; ok && i < p->l2_levels; i++)
        ok = level_init(&p->l2[i], sets, (uint32_t)shape->l2.ways, shape->l2.replacement == REPLACEMENT_FIFO,
                        by_reuse);
    if (ok) {
        p->l2_level_lines = p->l2[0].line_count;
        ok = contention_init(&p->l2_contention, shape->cores, shape->map.slice_count,
                             p->l2_levels * p->l2_level_lines);
    }
    ls_status status = ok ? walk_divide(p, err) : LS_ERR_NOMEM;
    if (status != LS_OK) {
        profiler_destroy(p);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the L2 cache of a profile");
    }
    for (uint32_t i = 0; i < shape->map.channels; i++)
        dram_estimate_init(&p->channels[i], &p->shape.dram);
    level_index_init(&p->l2_index, &shape->l2.hash, shape->l2.sets);
    *out = p;
    return LS_OK;
}

void profiler_destroy(trace_profiler *p)
{
    if (p == NULL)
        return;
    walk_fini(p);
    for (uint32_t i = 0; p->l2 != NULL && i < p->l2_levels; i++)
        level_fini(&p->l2[i]);
    free(p->l2);
    free(p->channels);
    free(p->slice_sectors);
    free(p->fills);
    contention_fini(&p->l2_contention);
    free(p);
}

ls_status profiler_use(trace_profiler *p, thread_pool *pool, ls_error *err)
{
    p->pool = pool;
    return walk_divide(p, err);
}

static uint64_t insts_of(const profile_inst *inst)
{
    uint64_t sum = 0;
    for (int depth = 0; depth < RATES_LEVELS; depth++)
        sum += inst->level[depth].insts;
    return sum;
}

/* Of the whole kernel; while not all blocks have been read, as if the others were like those. */
static uint64_t total_insts(const trace_profiler *p)
{
    uint64_t total = p->read_insts;
    if (!p->exhausted && p->read_blocks > 0)
        total = (uint64_t)((double)p->read_insts / (double)p->read_blocks * (double)p->request->ctas);
    return total > p->walked ? total : p->walked;
}

static ls_status collect(trace_profiler *p, kernel_profile *out, ls_error *err)
{
    const profile_request *request = p->request;
    const walk_worker *sum = &p->workers[0];
    uint32_t used = 0;
    if (!walk_add_counts(p))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the profile of a kernel");
    for (size_t i = 0; i < sum->counts.count; i++)
        used += insts_of(&sum->counts.at[i]) != 0;
    const char *name = request->info->name != NULL ? request->info->name : "";
    *out = (kernel_profile){ .command = request->command,
                             .id = request->info->id,
                             .l2_sectors = p->l2_sectors,
                             .slice_stalls = p->slice_stalls,
                             .walked = p->walked,
                             .insts = total_insts(p) };
    out->name = strdup(name);
    out->at = malloc((used == 0 ? 1 : used) * sizeof *out->at);
    if (out->name == NULL || out->at == NULL) {
        profile_kernel_fini(out);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the profile of a kernel");
    }
    for (size_t i = 0; i < sum->counts.count; i++)
        if (insts_of(&sum->counts.at[i]) != 0)
            out->at[out->count++] = sum->counts.at[i];
    for (uint32_t i = 0; i < p->shape.map.slice_count; i++)
        if (p->slice_sectors[i] > out->slice_sectors)
            out->slice_sectors = p->slice_sectors[i];
    for (uint32_t i = 0; i < p->shape.map.channels; i++) {
        out->dram_atoms += p->channels[i].atoms;
        out->reads += p->channels[i].reads;
        out->closed += p->channels[i].closed;
        out->conflicts += p->channels[i].conflicts;
        if (p->channels[i].busy_cycles > out->channel_cycles)
            out->channel_cycles = p->channels[i].busy_cycles;
    }
    return LS_OK;
}

static void grow(uint64_t *value, uint64_t by, double times)
{
    *value += (uint64_t)((double)by * times + 0.5);
}

/* Adds `times` the counts of a part of the kernel; both lists ascend by pc. */
static ls_status add_counts(kernel_profile *sum, const kernel_profile *part, double times, ls_error *err)
{
    profile_inst *at = malloc(((size_t)sum->count + part->count + 1) * sizeof *at);
    uint32_t i = 0, k = 0, count = 0;
    if (at == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the profile of a kernel");
    while (i < sum->count || k < part->count) {
        bool have = i < sum->count && (k == part->count || sum->at[i].pc <= part->at[k].pc);
        bool more = k < part->count && (i == sum->count || part->at[k].pc <= sum->at[i].pc);
        profile_inst inst = have ? sum->at[i] : (profile_inst){ .pc = part->at[k].pc };
        for (int depth = 0; more && depth < RATES_LEVELS; depth++) {
            const profile_count *from = &part->at[k].level[depth];
            profile_count *to = &inst.level[depth];
            grow(&to->insts, from->insts, times);
            grow(&to->sectors, from->sectors, times);
            grow(&to->l2, from->l2, times);
            grow(&to->dram, from->dram, times);
        }
        at[count++] = inst;
        i += have;
        k += more;
    }
    free(sum->at);
    sum->at = at;
    sum->count = count;
    grow(&sum->l2_sectors, part->l2_sectors, times);
    grow(&sum->slice_sectors, part->slice_sectors, times);
    grow(&sum->dram_atoms, part->dram_atoms, times);
    grow(&sum->channel_cycles, part->channel_cycles, times);
    grow(&sum->reads, part->reads, times);
    grow(&sum->closed, part->closed, times);
    grow(&sum->conflicts, part->conflicts, times);
    grow(&sum->slice_stalls, part->slice_stalls, times);
    sum->walked = part->walked;
    sum->insts = part->insts;
    return LS_OK;
}

static double l2_capacity(const trace_profiler *p)
{
    return (double)p->shape.map.slice_count * (double)p->shape.l2.sets * (double)p->shape.l2.ways;
}

/* True if the kernel will still fill L2, if it continues as in its last `step` instructions. Only then its
 * lines are evicted and dirty ones written back. */
static bool still_fills_l2(const trace_profiler *p, uint64_t new_lines, uint64_t step)
{
    double capacity = 1.25 * l2_capacity(p), left = (double)(total_insts(p) - p->walked);
    return (double)p->l2_lines < capacity &&
           (double)p->l2_lines + (double)new_lines / (double)step * left >= capacity;
}

/* The next `sample` instructions, added as if there were `stand_for` of them. */
static ls_status add_sample(trace_profiler *p, uint64_t sample, double stand_for, kernel_profile *out,
                            ls_error *err)
{
    kernel_profile part = { 0 };
    uint64_t before = p->walked;
    walk_restart_counts(p);
    ls_status status = walk_until(p, before + sample, err);
    if (status == LS_OK)
        status = collect(p, &part, err);
    if (status == LS_OK && p->walked > before)
        status = add_counts(out, &part, stand_for / (double)(p->walked - before), err);
    profile_kernel_fini(&part);
    return status;
}

/* A kernel that will fill L2 but has not yet. Its counts so far represent it until L2 is full, and a sample
 * with a full L2 represents the rest. */
static ls_status run_filling(trace_profiler *p, uint64_t sample, kernel_profile *out, ls_error *err)
{
    kernel_profile again = { 0 };
    double begun = (double)p->walked, until_full = begun * l2_capacity(p) / (double)p->l2_lines;
    ls_status status = collect(p, &again, err);
    if (status == LS_OK && until_full > begun)
        status = add_counts(out, &again, until_full / begun - 1, err);
    profile_kernel_fini(&again);
    for (uint32_t i = 0; i < p->l2_levels; i++)
        level_fill(&p->l2[i]);
    double rest = (double)total_insts(p) - (until_full > begun ? until_full : begun);
    return status == LS_OK && rest > 0 ? add_sample(p, sample, rest, out, err) : status;
}

/* The start of the kernel until the caches are warm stands for itself, a sample of `sample` instructions
 * after it for all the rest. */
static ls_status run_sampled(trace_profiler *p, uint64_t sample, kernel_profile *out, ls_error *err)
{
    uint64_t lines = p->l2_lines;
    ls_status status = walk_until(p, p->walked + sample, err);
    bool fills = p->method == LS_PROFILE_CACHE && p->walked > 0 && 4 * (double)p->l2_lines < l2_capacity(p) &&
                 still_fills_l2(p, p->l2_lines - lines, p->walked);
    while (status == LS_OK && !fills && p->running > 0 && still_fills_l2(p, p->l2_lines - lines, sample)) {
        lines = p->l2_lines;
        status = walk_until(p, p->walked + sample, err);
    }
    const uint64_t often = (uint64_t)p->shape.map.slice_count * CONTENTION_ONE;
    while (status == LS_OK && !fills && p->running > 0 && p->accesses < SAMPLED_ACCESSES &&
           p->slice_stalls > often)
        status = walk_until(p, p->walked + sample / 4 + 1, err);
    if (status != LS_OK)
        return status;
    status = collect(p, out, err);
    if (status != LS_OK || p->running == 0)
        return status;
    status = fills ? run_filling(p, sample, out, err)
                   : add_sample(p, sample, (double)(total_insts(p) - p->walked), out, err);
    out->walked = p->walked;
    out->insts = total_insts(p);
    if (status != LS_OK)
        profile_kernel_fini(out);
    return status;
}

ls_status profiler_run(trace_profiler *p, const profile_request *request, kernel_profile *out, ls_error *err)
{
    p->request = request;
    ls_status status = walk_begin(p, err);
    uint64_t sample = request->sample;
    if (status == LS_OK && sample != 0) {
        /* The first wave of blocks, if they are not too long, so that each instruction is seen; of long
         * kernels a share. */
        uint64_t part = total_insts(p) / 40, wave = p->read_insts < 4 * sample ? p->read_insts : 4 * sample;
        part = part < SAMPLES_MOST * sample ? part : SAMPLES_MOST * sample;
        part = part > wave ? part : wave;
        sample = part > sample ? part : sample;
        status = run_sampled(p, sample, out, err);
    } else if (status == LS_OK) {
        status = walk_until(p, UINT64_MAX, err);
        if (status == LS_OK)
            status = collect(p, out, err);
    }
    walk_end(p);
    p->request = NULL;
    return status;
}

/* ----------------------------------------------------------------------------------------------- profiles */

void profile_kernel_fini(kernel_profile *kernel)
{
    free(kernel->name);
    free(kernel->at);
    *kernel = (kernel_profile){ 0 };
}

void profile_fini(trace_profile *profile)
{
    for (size_t i = 0; i < profile->kernels.count; i++)
        profile_kernel_fini(&profile->kernels.at[i]);
    vec_fini(&profile->kernels);
}

const kernel_profile *profile_find(const trace_profile *profile, uint64_t command)
{
    for (size_t i = 0; i < profile->kernels.count; i++)
        if (profile->kernels.at[i].command == command)
            return &profile->kernels.at[i];
    return NULL;
}

profile_inst profile_sum(const kernel_profile *kernel)
{
    profile_inst sum = { 0 };
    for (uint32_t i = 0; i < kernel->count; i++)
        for (int depth = 0; depth < RATES_LEVELS; depth++) {
            const profile_count *from = &kernel->at[i].level[depth];
            sum.level[depth].insts += from->insts;
            sum.level[depth].sectors += from->sectors;
            sum.level[depth].l2 += from->l2;
            sum.level[depth].dram += from->dram;
        }
    return sum;
}

/* -------------------------------------------------------------------------------------------------- rates */

static uint64_t scaled(uint64_t part, uint64_t of, uint64_t one)
{
    return of == 0 ? 0 : (uint64_t)((double)part / (double)of * (double)one + 0.5);
}

/* part / of, where 1 is all of the 32-bit range. */
static uint32_t share(uint64_t part, uint64_t of)
{
    uint64_t value = scaled(part, of, UINT64_C(1) << 32);
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static rates_inst rates_from(const profile_inst *inst)
{
    rates_inst rate = { .place = (uint32_t)(inst->pc / RATES_PC_BYTES) };
    uint64_t all = insts_of(inst), dram = inst->level[RATES_DRAM].insts;
    rate.to_dram = share(dram, all);
    rate.to_l2 = share(dram + inst->level[RATES_L2].insts, all);
    rate.to_wait = share(all - inst->level[RATES_L1].insts, all);
    for (int depth = 0; depth < RATES_LEVELS; depth++) {
        const profile_count *c = &inst->level[depth];
        rate.l2_sectors[depth] = (uint32_t)scaled(c->l2, c->sectors, RATES_ONE);
        rate.dram_sectors[depth] = (uint32_t)scaled(c->dram, c->sectors, RATES_ONE);
    }
    return rate;
}

ls_status profile_rates(const kernel_profile *kernel, const gpu_shape *shape, rates_kernel *out, ls_error *err)
{
    uint64_t last = kernel->count == 0 ? 0 : kernel->at[kernel->count - 1].pc;
    uint32_t count = (uint32_t)(last / RATES_PC_BYTES + 1);
    rates_inst *at = malloc(count * sizeof *at);
    *out = (rates_kernel){ 0 };
    if (at == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the rates of a kernel");
    profile_inst sum = profile_sum(kernel);
    out->other = rates_from(&sum);
    for (uint32_t i = 0; i < count; i++)
        at[i] = out->other;
    for (uint32_t i = 0; i < kernel->count; i++)
        at[kernel->at[i].pc / RATES_PC_BYTES] = rates_from(&kernel->at[i]);
    out->at = at;
    out->count = count;
    /* The busiest slice, and the average stall of slices. */
    uint64_t still = ((uint64_t)shape->machine.dram_cycles << RATES_SHIFT) / CONTENTION_ONE *
                     kernel->slice_stalls / shape->map.slice_count;
    out->l2_cost = (uint32_t)scaled(kernel->slice_sectors * shape->l2_cycle + still, kernel->l2_sectors, 1);
    out->dram_cost = (uint32_t)scaled(kernel->channel_cycles * shape->dram_cycle, kernel->dram_atoms, 1);
    const dram_service *dram = &shape->dram;
    uint64_t lines = kernel->reads, activates = kernel->closed + kernel->conflicts;
    uint64_t rows =
        scaled(activates * dram->open_cycles + kernel->conflicts * dram->close_cycles, lines, RATES_ONE);
    out->dram_cycles =
        shape->machine.dram_cycles + (uint32_t)((rows * shape->dram_cycle + (UINT64_C(1) << 31)) >> 32);
    return LS_OK;
}

void profile_rates_fini(rates_kernel *rates)
{
    free((void *)(uintptr_t)rates->at);
    *rates = (rates_kernel){ 0 };
}
