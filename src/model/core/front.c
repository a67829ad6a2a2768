/* front.c: what holds warps up, and the effects of instructions that issue. */
#include "model/core/cga.h"
#include "model/core/flow.h"
#include "model/core/front.h"
#include "model/core/wgmma.h"

void front_check_again(core *c, front_sub *s, uint32_t warp, uint32_t sub)
{
    const uint32_t memory = s->memory_blocked, bit = warp_bit(c, warp);
    front_check_head(c, s, c->front.warp[warp], bit);
    /* If another register of the same kind holds it up, a look would find nothing new. */
    if ((s->blocked & bit) == 0 || s->memory_blocked != memory || c->apart)
        c->front.changed |= 1u << sub;
}

void front_resume(core *c, uint32_t warp)
{
    front_registers_ready(c, warp, warp_sub(c, warp));
}

void front_stop(core *c, uint32_t warp, front_wait why)
{
    front_sub *s = c->front.at[warp_sub(c, warp)];
    c->front.warps[warp].barrier_name = (uint8_t)why;
    if (why == FRONT_WAIT_CLUSTER && c->flow == NULL) {
        s->barrier |= warp_bit(c, warp);
    } else {
        s->async |= warp_bit(c, warp);
        s->elsewhere |= warp_bit(c, warp);
    }
}

void front_let_go(core *c, uint32_t warp, ls_cycle at)
{
    front_sub *s = c->front.at[warp_sub(c, warp)];
    const bool cluster = c->front.warps[warp].barrier_name == FRONT_WAIT_CLUSTER;
    c->front.warps[warp].barrier_name = 0;
    if (c->flow != NULL) {
        flow_let_go(c, warp, at);
        return;
    }
    if (cluster) {
        s->barrier &= ~warp_bit(c, warp);
    } else {
        s->async &= ~warp_bit(c, warp);
        s->elsewhere &= ~warp_bit(c, warp);
    }
    c->front.changed |= 1u << warp_sub(c, warp);
}

void front_hold(core *c, uint32_t warp, ls_cycle cycle)
{
    uint64_t key = cycle << 6 | warp;
    uint32_t i = c->front.held_count++;
    for (; i > 0 && c->front.held[i - 1] < key; i--)
        c->front.held[i] = c->front.held[i - 1];
    c->front.held[i] = key;
}

/* Instructions of clusters and warp groups. */
static __attribute__((noinline)) void warp_op(core *c, uint32_t warp, const ls_inst *inst)
{
    if ((inst->flags & LS_INST_ASYNC_OP) == 0 || inst->class_ == LS_CLASS_tensor_group)
        return;
    switch ((ls_async_op)inst->async_op) {
    case LS_ASYNC_GROUP_WAIT:
        if (c->options.wgmma != NULL)
            wgmma_wait(c, warp, inst);
        break;
    case LS_ASYNC_SET_REGISTERS:
        if (c->options.wgmma != NULL)
            wgmma_set_registers(c, warp, inst);
        break;
    case LS_ASYNC_CLUSTER_ARRIVE:
        if (c->options.cga != NULL)
            cga_arrive(c, warp, c->now);
        break;
    case LS_ASYNC_CLUSTER_WAIT:
        if (c->options.cga != NULL)
            (void)cga_wait(c, warp);
        break;
    case LS_ASYNC_DEPENDENTS:
        cta_signal(c, c->front.warps[warp].cta);
        break;
    case LS_ASYNC_DEPENDS:
        if (c->blocks.at[c->front.warps[warp].cta].launch.depends == LS_DEPENDS)
            front_stop(c, warp, FRONT_WAIT_KERNEL);
        break;
    default:
        break;
    }
}

/* Effects of an instruction on its warp at the moment it issues. */
void front_effects(core *c, uint32_t warp, const ls_inst *inst, uint32_t mask, flight *f, bool pending)
{
    const bool is_warp_op = (inst->flags & (LS_INST_ASYNC_OP | LS_INST_WARP_GROUP)) != 0 &&
                            inst->mem_op == LS_MEM_NONE && c->options.any;
    if (!front_has_effects(inst, false)) { /* mostly it has those of one kind only */
        if (is_warp_op)
            warp_op(c, warp, inst);
        return;
    }
    warp_state *w = c->front.warp[warp];
    front_sub *s = c->front.at[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp);
    if (is_warp_op)
        warp_op(c, warp, inst);
    if (inst->flags & (LS_INST_BARRIER | LS_INST_ARRIVE))
        cta_barrier(c, warp, inst, f->dyn);
    if (inst->flags & LS_INST_FENCE && pending)
        s->fence |= bit;
    if (OPTION_ON(c->options.fences))
        fences_begin(c, warp, inst, c->now);
    if ((inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION) && mask != 0 &&
        inst->space != LS_SPACE_SHARED) {
        w->atomics++;
        s->fence |= bit;
    }
    if (inst->mem_op == LS_MEM_ASYNC_COPY && f != NULL) {
        f->group = w->async_open;
        if (mask != 0)
            w->async_pending[f->group % ASYNC_GROUPS]++;
    }
    if (inst->flags & LS_INST_ASYNC_COMMIT)
        w->async_open++;
    if (OPTION_ON(c->async) && async_effects(c, warp, inst, f->dyn, (uint16_t)(f - c->flights.at), c->now))
        return;
    if (inst->flags & LS_INST_ASYNC_WAIT) {
        /* Waits for all groups but the newest imm. */
        w->async_wait = core_async_end(w, inst);
        if (core_async_open(w))
            s->async |= bit;
    }
}

static inline void without_flops(core *c, uint32_t warp, const ls_inst *inst, flight *f)
{
    c->n.unknown_opcodes += (inst->flags & LS_INST_UNKNOWN) != 0;
    if (front_has_effects(inst, true))
        front_effects(c, warp, inst, f->mask, f,
                      (inst->flags & LS_INST_FENCE) != 0 && !reg_set_empty(c->front.warps[warp].pending));
}

/* Apart, so that other instructions save no registers for it. */
static __attribute__((noinline)) void with_flops(core *c, uint32_t warp, const ls_inst *inst, flight *f)
{
    count_flops(c, inst, f->mask);
    if (wgmma_waits_by_group(c, inst))
        wgmma_issue(c, warp, inst, f);
    else
        without_flops(c, warp, inst, f);
}

void front_special(core *c, uint32_t warp, const ls_inst *inst, flight *f)
{
    if (ls_inst_flops(inst) != 0)
        with_flops(c, warp, inst, f);
    else if (wgmma_waits_by_group(c, inst))
        wgmma_issue(c, warp, inst, f);
    else
        without_flops(c, warp, inst, f);
}

void front_count_stalls(core *c, ls_cycle until)
{
    front_count_peak(c);
    for (uint32_t sub = 0; sub < c->sub_count; sub++)
        front_count_sub_stalls(c, c->front.at[sub], until);
}

void front_count_stalls_from(core *c, ls_cycle from)
{
    for (uint32_t sub = 0; sub < c->sub_count; sub++)
        c->front.subs[sub].counted_until = from;
}
