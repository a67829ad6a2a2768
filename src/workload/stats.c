/* stats.c: counting the instructions and accesses of a trace. */
#include "workload/stats.h"

#include "base/text.h"
#include "base/vec.h"
#include "isa/sass/sass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_stats_fini(trace_stats *stats)
{
    opcode_list_fini(&stats->unknown);
    opcode_list_fini(&stats->unmodelled);
    opcode_list_fini(&stats->ignored);
    *stats = (trace_stats){ 0 };
}

/* ------------------------------------------------------------------------------------------------- blocks */

static uint64_t first_address(const ls_cta *cta, const ls_dyn *dyn)
{
    return cta->addrs[dyn->addr >> 2]; /* the first word of every format */
}

static void add_access(trace_stats *stats, const ls_kernel_info *info, const ls_inst *inst, const ls_cta *cta,
                       const ls_dyn *dyn, unsigned lanes)
{
    ls_mem_space space = (ls_mem_space)inst->space;
    if (inst->mem_op == LS_MEM_NONE || lanes == 0)
        return;
    if ((space == LS_SPACE_GENERIC || ls_inst_reduces_generic(inst)) && dyn->addr != LS_ADDR_NONE &&
        (dyn->addr & 3) != LS_ADDR_RECORD)
        space = ls_kernel_space(info, first_address(cta, dyn));
    stats->spaces[space].insts++;
    stats->spaces[space].lanes += lanes;
    stats->spaces[space].bytes += (uint64_t)lanes * inst->width_bytes;
}

void trace_stats_add(trace_stats *stats, const trace_kernel *kernel, const ls_cta *cta)
{
    const ls_kernel_info *info = kernel_get_info(kernel);
    const ls_inst *insts = kernel_inst_table(kernel);
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

/* ------------------------------------------------------------------------------------------------ opcodes */

void opcode_list_fini(opcode_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i].opcode);
    free(list->at);
    *list = (opcode_list){ 0 };
}

bool opcode_list_add(opcode_list *list, const char *opcode, size_t bytes, uint64_t pc, uint64_t count)
{
    for (size_t i = 0; i < list->count; i++) {
        opcode_tally *known = &list->at[i];
        if (strlen(known->opcode) == bytes && memcmp(known->opcode, opcode, bytes) == 0) {
            known->count += count;
            return true;
        }
    }
    if (!vec_reserve_((void **)&list->at, &list->capacity, list->count, 1, sizeof *list->at))
        return false;
    opcode_tally *added = &list->at[list->count];
    *added = (opcode_tally){ .opcode = strndup(opcode, bytes), .pc = pc, .count = count };
    list->count += added->opcode != NULL;
    return added->opcode != NULL;
}

uint64_t opcode_list_sum(const opcode_list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->at[i].count;
    return sum;
}

const char *opcode_list_text(const opcode_list *list, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        char number[LS_FORMAT_BYTES], item[LS_FORMAT_BYTES + 64];
        size_t length = (size_t)snprintf(item, sizeof item, "%s%s %s", i > 0 ? ", " : "", list->at[i].opcode,
                                         format_count(list->at[i].count, number, sizeof number));
        if (used + length + sizeof ", ..." > bytes) {
            snprintf(out + used, bytes - used, ", ...");
            break;
        }
        memcpy(out + used, item, length + 1);
        used += length;
    }
    return out;
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

bool trace_stats_end(trace_stats *stats, const trace_kernel *kernel, const uint64_t *counts)
{
    stats->kernels++;
    stats->static_insts += kernel->inst_count;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const ls_inst *inst = &kernel->insts[i];
        uint64_t count = counts ? counts[i] : 0;
        inst_words text;
        size_t bytes;
        if (inst->flags & (LS_INST_UNMODELLED | LS_INST_IGNORED)) {
            const char *name = sass_opcode_name(inst->opcode);
            if (!opcode_list_add((inst->flags & LS_INST_UNMODELLED) ? &stats->unmodelled : &stats->ignored,
                                 name, strlen(name), inst->pc, count))
                return false;
        }
        if (!(inst->flags & LS_INST_UNKNOWN) || !kernel->ops->text)
            continue;
        if (!kernel->ops->text(kernel, i, &text))
            return false;
        const char *opcode = opcode_of(text.body, &bytes);
        if (!opcode_list_add(&stats->unknown, opcode, bytes, inst->pc, count))
            return false;
    }
    return true;
}

static bool add_list(opcode_list *to, const opcode_list *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const opcode_tally *one = &from->at[i];
        if (!opcode_list_add(to, one->opcode, strlen(one->opcode), one->pc, one->count))
            return false;
    }
    return true;
}

bool trace_stats_merge(trace_stats *total, const trace_stats *kernel)
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
    return add_list(&total->unknown, &kernel->unknown) && add_list(&total->unmodelled, &kernel->unmodelled) &&
           add_list(&total->ignored, &kernel->ignored);
}

/* ------------------------------------------------------------------------------------------ whole kernels */

/* Executions of each static instruction, for the share of unknown opcodes. */
static bool count_executions(const trace_kernel *kernel, const ls_cta *cta, uint64_t **counts,
                             uint32_t *capacity)
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

ls_status trace_stats_read(trace_stats *stats, trace_kernel *kernel, ls_cta *cta, ls_error *err)
{
    uint64_t *counts = NULL;
    uint32_t capacity = 0;
    bool end = false, memory = true;
    ls_status status = LS_OK;
    while (memory && status == LS_OK && !end) {
        status = kernel_next_cta(kernel, cta, &end, err);
        if (status == LS_OK && !end) {
            trace_stats_add(stats, kernel, cta);
            memory = count_executions(kernel, cta, &counts, &capacity);
        }
    }
    if (status == LS_OK && memory)
        memory = trace_stats_end(stats, kernel, counts);
    free(counts);
    return status == LS_OK && !memory ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : status;
}
