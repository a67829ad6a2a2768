/* core_counts.c: counts of static instructions of a core: executions, lanes, sectors, conflicts, and the stalls of issue
 * slots. Reads the core; writes the rows of inst_counts that are this core's. */
#include "model/core/core.h"

void core_counts_begin(core *c, const core_launch *launch)
{
    c->counted = c->counted || launch->counts != NULL;
}

static inline inst_count *row_of(const core *c, uint32_t warp, const ls_inst *inst)
{
    const core_launch *launch = &c->blocks.at[c->front.warps[warp].cta].launch;
    return launch->counts == NULL ? NULL
                                  : inst_counts_at(launch->counts, c->id, (uint32_t)(inst - launch->insts));
}

void core_counts_issue(const core *c, const flight *f)
{
    inst_count *row = row_of(c, f->warp, f->inst);
    if (row == NULL)
        return;
    row->executed++;
    row->lanes += lane_count(f->mask);
}

void core_counts_memory(core *c, const flight *f)
{
    inst_count *row = c->counted ? row_of(c, f->warp, f->inst) : NULL;
    if (row == NULL)
        return;
    if (f->space == LS_SPACE_SHARED) {
        row->conflicts += c->ldst.conflict_cycles > 1 ? c->ldst.conflict_cycles - 1 : 0;
        return;
    }
    row->requests += c->ldst.sector_count;
    row->bytes += (uint64_t)lane_count(f->mask) * f->inst->width_bytes;
}

void core_counts_hit(const core *c, const flight *f)
{
    inst_count *row = row_of(c, f->warp, f->inst);
    if (row != NULL)
        row->hits++;
}

/* The warps that have the sub-core's reason (front_reason). */
static uint32_t warps_of(const front_sub *s, uint32_t ready)
{
    switch (s->reason) {
    case STALL_UNIT:
        return ready;
    case STALL_MEMORY:
        return s->blocked & s->buffered & s->memory_blocked;
    case STALL_DEPENDENCE:
        return s->blocked & s->buffered;
    case STALL_BARRIER:
        return s->barrier & s->resident;
    case STALL_FENCE:
        return s->fence & s->resident;
    case STALL_ASYNC:
        return s->async & ~s->mbarrier & s->resident;
    case STALL_MBARRIER:
        return s->mbarrier & s->resident;
    case STALL_FETCH:
        return s->resident & ~s->buffered;
    default:
        return 0;
    }
}

/* A warp that waits at a barrier, for a fence or for copies stands at the instruction that waits; so does a warp that
 * has issued everything, at its last one. The others stand at their next one. */
static const ls_inst *stands_at(const warp_state *w, stall_reason reason)
{
    bool is_behind = reason == STALL_BARRIER || reason == STALL_FENCE || reason == STALL_ASYNC ||
                     reason == STALL_MBARRIER || w->next == w->end;
    return &w->insts[w->next[is_behind ? -1 : 0].inst];
}

void core_counts_stalled(const core *c, front_sub *s, uint32_t sub, uint32_t ready)
{
    s->charged = NULL;
    uint32_t warps = c->counted ? warps_of(s, ready) : 0;
    if (warps == 0)
        return;
    /* In turn, so that warps that wait at several places share the slots. */
    s->charged_warp = (uint8_t)scheduler_lrr(s->charged_warp, warps);
    uint32_t warp = (uint32_t)s->charged_warp * c->sub_count + sub;
    s->charged = row_of(c, warp, stands_at(&c->front.warps[warp], s->reason));
}
