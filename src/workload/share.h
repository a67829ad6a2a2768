/* share.h: thread blocks of a kernel that do the same at other addresses are kept once.
 *
 * A block that is like an earlier one borrows its streams and has only a distance for each static instruction
 * (ls_cta.like, ls_cta.moves). Generators say which of their blocks are alike, so that most of them are never
 * made; large blocks of files are compared with the first few of their kernel. */
#ifndef WORKLOAD_SHARE_H
#define WORKLOAD_SHARE_H

#include "workload/trace.h"

typedef struct shared_streams shared_streams;

/* The kernel must outlive it, and blocks must be read only through it. */
ls_status share_create(trace_kernel *kernel, shared_streams **out, ls_error *err);
/* As kernel_next_cta(). Its data is valid until share_destroy(); the block itself may be kept longer and be
 * read into again. */
ls_status share_next(shared_streams *share, ls_cta *cta, bool *end, ls_error *err);
void share_destroy(shared_streams *share);

/* The kernel announces which earlier block its next one resembles: cheap to read. */
bool share_is_known(const shared_streams *share);

typedef struct share_counts {
    uint64_t blocks;   /* given out */
    uint64_t read;     /* read, or made by the generator */
    uint64_t borrowed; /* are another one's, moved */
} share_counts;

share_counts share_count(const shared_streams *share);

#endif
