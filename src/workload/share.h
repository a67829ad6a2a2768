/* share.h: thread blocks of a kernel that do the same at other addresses are kept once.
 *
 * A block that is like an earlier one borrows its streams and has only a distance for each static instruction
 * (ls_cta.like, ls_cta.moves). Generators say which of their blocks are alike, so that most of them are never
 * made; large blocks of files are compared with the first few of their kernel. */
#ifndef WORKLOAD_SHARE_H
#define WORKLOAD_SHARE_H

#include "workload/trace.h"

typedef struct ls_share ls_share;

/* The kernel outlives it; nobody else reads blocks from it. */
ls_status ls_share_create(ls_kernel *kernel, ls_share **out, ls_error *err);
/* As ls_kernel_next_cta(). What it gives is valid until ls_share_destroy(); the block itself may be kept
 * longer and be read into again. */
ls_status ls_share_next(ls_share *share, ls_cta *cta, bool *end, ls_error *err);
void ls_share_destroy(ls_share *share);

/* The kernel announces which earlier block its next one resembles: cheap to read. */
bool ls_share_is_told(const ls_share *share);

typedef struct ls_share_counts {
    uint64_t blocks;   /* given out */
    uint64_t read;     /* read, or made by the generator */
    uint64_t borrowed; /* are another one's, moved */
} ls_share_counts;

ls_share_counts ls_share_count(const ls_share *share);

#endif
