/* wgmma.h: matrix instructions of warp groups (HGMMA, ...), over all sub-cores together, and the registers that warps of a
 * block pass on to each other (USETMAXREG).
 *
 *   four warps issue -> each reaches its tensor unit and waits for the others -> all four units run together
 *
 * The instruction is asynchronous: its registers hold up nobody. Instructions up to one with LS_INST_GROUP_COMMIT are a
 * group, and WARPGROUP.DEPBAR waits for groups. It reads B, and A unless that is in registers, through the port of shared
 * memory, which other accesses have first. It takes as long as the slower of both: its multiply-adds, and its reads with
 * everything that passed the port meanwhile. */
#ifndef MODEL_CORE_WGMMA_H
#define MODEL_CORE_WGMMA_H

#include "model/core/core.h"

#define WGMMA_GROUPS 8u /* of a warp, told apart; a power of two */
#define WGMMA_WARPS 4u  /* of a warp group */

/* No register waits for the results of the instruction: WARPGROUP.DEPBAR does. */
static inline bool wgmma_waits_by_group(const core *c, const ls_inst *inst)
{
    return (inst->flags & LS_INST_WARP_GROUP) != 0 && inst->mem_op == LS_MEM_NONE && c->options.wgmma != NULL;
}

bool wgmma_init(core *c); /* false: the host has no memory left */
void wgmma_start_block(core *c, uint32_t slot);
void wgmma_end_warp(core *c, uint32_t warp);
/* The instruction issues: it belongs to the open group of its warp. */
void wgmma_issue(core *c, uint32_t warp, const ls_inst *inst, flight *f);
void wgmma_take(core *c, uint16_t flight_index); /* it has reached the tensor unit of its sub-core */
void wgmma_wait(core *c, uint32_t warp, const ls_inst *inst);
void wgmma_set_registers(core *c, uint32_t warp, const ls_inst *inst);
void wgmma_cycle(core *c);
ls_cycle wgmma_next(const core *c);

#endif
