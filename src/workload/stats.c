/* stats.c: counting the instructions and accesses of a trace. */
#include "workload/stats.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void ls_trace_stats_fini(ls_trace_stats *stats)
{
    for (size_t i = 0; i < stats->unknown_count; i++)
        free(stats->unknown[i].opcode);
    free(stats->unknown);
    *stats = (ls_trace_stats){ 0 };
}

/* ------------------------------------------------------------------------------------------------- blocks */

static uint64_t first_address(const ls_cta *cta, const ls_dyn *dyn)
{
    return cta->addrs[dyn->addr >> 2]; /* the first word of every format */
}

static void add_access(ls_trace_stats *stats, const ls_kernel_info *info, const ls_inst *inst,
                       const ls_cta *cta, const ls_dyn *dyn, unsigned lanes)
{
    ls_mem_space space = (ls_mem_space)inst->space;
    if (inst->mem_op == LS_MEM_NONE || lanes == 0)
        return;
    if (space == LS_SPACE_GENERIC && dyn->addr != LS_ADDR_NONE)
        space = ls_kernel_space(info, first_address(cta, dyn));
    stats->spaces[space].insts++;
    stats->spaces[space].lanes += lanes;
    stats->spaces[space].bytes += (uint64_t)lanes * inst->width_bytes;
}

void ls_trace_stats_add(ls_trace_stats *stats, const ls_kernel *kernel, const ls_cta *cta)
{
    const ls_kernel_info *info = ls_kernel_get_info(kernel);
    const ls_inst *insts = ls_kernel_insts(kernel);
    stats->blocks++;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        stats->warps += cta->warps[w].count > 0;
    stats->warp_insts += cta->dyn_count;
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_dyn *dyn = &cta->dyns[i];
        const ls_inst *inst = &insts[dyn->inst];
        unsigned lanes = (unsigned)__builtin_popcount(dyn->mask);
        stats->thread_insts += lanes;
        stats->idle_insts += lanes == 0;
        stats->classes[inst->class_]++;
        add_access(stats, info, inst, cta, dyn, lanes);
    }
}

/* ------------------------------------------------------------------------------------------------ unknown */

static bool add_unknown(ls_trace_stats *stats, const char *opcode, size_t bytes, uint64_t pc, uint64_t count)
{
    for (size_t i = 0; i < stats->unknown_count; i++) {
        ls_unknown_opcode *known = &stats->unknown[i];
        if (strlen(known->opcode) == bytes && memcmp(known->opcode, opcode, bytes) == 0) {
            known->count += count;
            return true;
        }
    }
    if (!ls_vec_reserve_((void **)&stats->unknown, &stats->unknown_capacity, stats->unknown_count, 1,
                         sizeof *stats->unknown))
        return false;
    ls_unknown_opcode *added = &stats->unknown[stats->unknown_count];
    *added = (ls_unknown_opcode){ .opcode = strndup(opcode, bytes), .pc = pc, .count = count };
    stats->unknown_count += added->opcode != NULL;
    return added->opcode != NULL;
}

/* The opcode in "1 R4 LDG.E 1 R4 4". */
static const char *opcode_of(const char *body, size_t *bytes)
{
    unsigned long skip = strtoul(body, NULL, 10) + 1;
    while (skip-- > 0 && *body) {
        body += strcspn(body, " ");
        body += strspn(body, " ");
    }
    *bytes = strcspn(body, " ");
    return body;
}

bool ls_trace_stats_end(ls_trace_stats *stats, const ls_kernel *kernel, const uint64_t *counts)
{
    stats->kernels++;
    stats->static_insts += kernel->inst_count;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        ls_inst_text text;
        size_t bytes;
        if (!(kernel->insts[i].flags & LS_INST_UNKNOWN) || !kernel->ops->text)
            continue;
        if (!kernel->ops->text(kernel, i, &text))
            return false;
        const char *opcode = opcode_of(text.body, &bytes);
        if (!add_unknown(stats, opcode, bytes, kernel->insts[i].pc, counts ? counts[i] : 0))
            return false;
    }
    return true;
}

bool ls_trace_stats_merge(ls_trace_stats *total, const ls_trace_stats *kernel)
{
    total->kernels += kernel->kernels;
    total->blocks += kernel->blocks;
    total->warps += kernel->warps;
    total->static_insts += kernel->static_insts;
    total->warp_insts += kernel->warp_insts;
    total->thread_insts += kernel->thread_insts;
    total->idle_insts += kernel->idle_insts;
    for (int i = 0; i < LS_CLASS_COUNT; i++)
        total->classes[i] += kernel->classes[i];
    for (int i = 0; i < LS_SPACE_COUNT; i++) {
        total->spaces[i].insts += kernel->spaces[i].insts;
        total->spaces[i].lanes += kernel->spaces[i].lanes;
        total->spaces[i].bytes += kernel->spaces[i].bytes;
    }
    for (size_t i = 0; i < kernel->unknown_count; i++) {
        const ls_unknown_opcode *one = &kernel->unknown[i];
        if (!add_unknown(total, one->opcode, strlen(one->opcode), one->pc, one->count))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------ whole kernels */

/* Executions of each static instruction: what an unknown opcode costs. */
static bool count_executions(const ls_kernel *kernel, const ls_cta *cta, uint64_t **counts, uint32_t *capacity)
{
    if (*capacity < kernel->inst_count) {
        uint32_t wanted = kernel->inst_count * 2;
        uint64_t *moved = realloc(*counts, wanted * sizeof **counts);
        if (!moved)
            return false;
        memset(moved + *capacity, 0, (wanted - *capacity) * sizeof *moved);
        *counts = moved;
        *capacity = wanted;
    }
    for (uint64_t i = 0; *counts && i < cta->dyn_count; i++)
        (*counts)[cta->dyns[i].inst]++;
    return true;
}

ls_status ls_trace_stats_read(ls_trace_stats *stats, ls_kernel *kernel, ls_cta *cta, ls_error *err)
{
    uint64_t *counts = NULL;
    uint32_t capacity = 0;
    bool end = false, memory = true;
    ls_status status = LS_OK;
    while (memory && status == LS_OK && !end) {
        status = ls_kernel_next_cta(kernel, cta, &end, err);
        if (status == LS_OK && !end) {
            ls_trace_stats_add(stats, kernel, cta);
            memory = count_executions(kernel, cta, &counts, &capacity);
        }
    }
    if (status == LS_OK && memory)
        memory = ls_trace_stats_end(stats, kernel, counts);
    free(counts);
    return status == LS_OK && !memory ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : status;
}
