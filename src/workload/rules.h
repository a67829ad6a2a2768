/* rules.h: rules that every kernel of a trace must keep, independent of the file format. Every source calls
 * these functions while it reads. A simulation and `lockstep trace check` share them, so both give the same
 * verdict. */
#ifndef WORKLOAD_RULES_H
#define WORKLOAD_RULES_H

#include "workload/trace.h"

/* The header: sizes that are possible, versions that are known. LS_ERR_INPUT or LS_ERR_UNSUPPORTED. */
ls_status rules_kernel(const ls_kernel_info *info, ls_error *err);
/* The number of thread blocks in the file, once it is known. */
ls_status rules_blocks(const ls_kernel_info *info, uint64_t blocks, ls_error *err);
/* Whether an instruction is useless without addresses. */
bool rules_needs_addresses(const ls_inst *inst);

/* The lanes that a warp has: all but in the last warp of a block whose threads do not fill it. */
static inline uint32_t rules_lanes(const ls_kernel_info *info, uint32_t warp)
{
    uint32_t threads = ls_kernel_threads(info) - 32 * warp;
    return threads < 32 ? (1u << threads) - 1 : UINT32_MAX;
}

/* A block that was read: its number of warps, and that none has lanes that it does not have. Looks at the
 * masks of the last warp, if that is not full. *text is filled with the problem; NULL: none. */
const char *rules_cta(const ls_kernel_info *info, const ls_cta *cta, char *text, size_t bytes);
/* The sentence for such a mask. */
const char *rules_say_lanes(const ls_kernel_info *info, uint32_t warp, uint32_t mask, char *text,
                            size_t bytes);

#endif
