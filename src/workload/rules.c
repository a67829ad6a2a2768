/* rules.c: see rules.h. */
#include "workload/rules.h"

#include "isa/sass/sass.h"

#include <inttypes.h>
#include <stdio.h>

#define THREADS_MAX 1024u /* of a block, on every GPU so far */
#define TRACER_FIRST 1u
#define TRACER_LAST 6u

ls_status rules_kernel(const ls_kernel_info *info, ls_error *err)
{
    sass_generation generation;
    uint64_t blocks;
    if (info->tracer_version < TRACER_FIRST || info->tracer_version > TRACER_LAST)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "tracer version %" PRIu32 " is not supported; %u to %u are",
                       info->tracer_version, TRACER_FIRST, TRACER_LAST);
    if (!sass_generation_of(info->binary_version, &generation))
        return ls_fail(err, LS_ERR_UNSUPPORTED, "binary version %" PRIu32 " is no architecture that is known",
                       info->binary_version);
    for (int i = 0; i < 3; i++)
        if (info->grid[i] == 0 || info->block[i] == 0)
            return ls_fail(err, LS_ERR_INPUT, "%s dim: a size is 0", info->grid[i] == 0 ? "grid" : "block");
    uint64_t threads = (uint64_t)info->block[0] * info->block[1];
    if (threads > THREADS_MAX || threads * info->block[2] > THREADS_MAX)
        return ls_fail(err, LS_ERR_INPUT,
                       "block dim: (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") is more than %u threads",
                       info->block[0], info->block[1], info->block[2], THREADS_MAX);
    if (__builtin_mul_overflow((uint64_t)info->grid[0] * info->grid[1], (uint64_t)info->grid[2], &blocks) ||
        blocks > INT64_MAX)
        return ls_fail(err, LS_ERR_INPUT, "grid dim: more than 2^63 thread blocks");
    return LS_OK;
}

ls_status rules_blocks(const ls_kernel_info *info, uint64_t blocks, ls_error *err)
{
    uint64_t grid = ls_kernel_cta_count(info);
    if (blocks == grid)
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT, "the file has %" PRIu64 " thread blocks, its grid %" PRIu64, blocks,
                   grid);
}

bool rules_needs_addresses(const ls_inst *inst)
{
    return inst->mem_op != LS_MEM_NONE && (inst->space == LS_SPACE_GLOBAL || inst->space == LS_SPACE_LOCAL ||
                                           inst->space == LS_SPACE_SHARED || inst->space == LS_SPACE_GENERIC);
}

const char *rules_say_lanes(const ls_kernel_info *info, uint32_t warp, uint32_t mask, char *text, size_t bytes)
{
    snprintf(text, bytes,
             "the mask %08" PRIx32 " has lanes that warp %" PRIu32 " of a block of %" PRIu32
             " threads does not have: it has %08" PRIx32,
             mask, warp, ls_kernel_threads(info), rules_lanes(info, warp));
    return text;
}

const char *rules_cta(const ls_kernel_info *info, const ls_cta *cta, char *text, size_t bytes)
{
    uint32_t warps = ls_kernel_warps(info), last = warps - 1, lanes = rules_lanes(info, last);
    if (cta->warp_count != warps) {
        snprintf(text, bytes, "it has %" PRIu32 " warps: a block of %" PRIu32 " threads has %" PRIu32,
                 cta->warp_count, ls_kernel_threads(info), warps);
        return text;
    }
    if (lanes == UINT32_MAX)
        return NULL;
    const ls_dyn *dyns = cta->dyns + cta->warps[last].first;
    for (uint32_t i = 0; i < cta->warps[last].count; i++)
        if (dyns[i].mask & ~lanes)
            return rules_say_lanes(info, last, dyns[i].mask, text, bytes);
    return NULL;
}
