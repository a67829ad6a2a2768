/* memory_fast.c: short cuts. */
#include "isa/amd/exec/memory_impl.h"
amd_body mem_fast_find(amd_target target, unsigned lanes, const amd_inst *inst, const mem_row *row)
{
    (void)target; (void)lanes; (void)inst; (void)row;
    return NULL;
}
