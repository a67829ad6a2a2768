/* line.h: shared by the fast path (line_fast.c) and the general path (line.c) of instruction lines. */
#ifndef ACCELSIM_LINE_H
#define ACCELSIM_LINE_H

#include "workload/accelsim/reader.h"

#define ACC_LANES 32

/* Keeps the register values of a line, if the reader wants them. False: no memory, or too many. */
bool acc_keep_values(acc_reader *r, const ls_cta *cta, const char *text, const char *end);
/* For the report only: defects that one line alone does not show. */
ls_status acc_inspect(acc_reader *r, const ls_dyn *dyn, ls_error *err);

/* Offsets of addresses have 30 bits, those of instructions 32. */
static inline bool acc_is_full(const ls_cta *cta)
{
    return cta->addr_count + 2 * ACC_LANES + 1 >= 1u << 30 || cta->dyn_count >= UINT32_MAX;
}

/* Addresses of a line and the operands beside them; bulk copies make room for more. */
#define ACC_WORDS (2 * ACC_LANES + 1)

/* Room for one more line of any length. */
static inline bool acc_reserve(ls_cta *cta)
{
    if (cta->dyn_count < cta->dyn_capacity && cta->addr_count + ACC_WORDS <= cta->addr_capacity)
        return true;
    return !acc_is_full(cta) && cta_reserve(cta, 0, 1, ACC_WORDS);
}

#endif
