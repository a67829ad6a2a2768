/* cycle.c: alu: cycle: one cycle of a core whose pipeline is simulated stage by stage (front.c,
 * collect.c). */
#include "model/core/front.h"
#include "model/core/options_state.h"

static bool tick(void *self, ls_cycle now)
{
    core *c = self;
    if (now != c->last_tick + 1 || c->resident_warps_then == 0)
        core_count_sleep(c, now);
    c->now = now;
    c->last_tick = now;
    if (c->blocks.warps > 0) {
        c->n.resident_cycles++;
        c->n.resident_warps += c->blocks.warps;
    }
    if (collect_due(c, now))
        collect_write_back(c);
    if (OPTION_ON(c->options.any) && options_due(c))
        options_cycle(c);
    if (c->pipes.execute_next <= now)
        collect_execute(c);
    if (ldst_due(c)) {
        ldst_cycle(c);
        c->ldst.memory_next = ldst_next(c);
    }
    if (c->pipes.to_memory != 0)
        collect_load_store(c);
    if (c->pipes.moving != 0)
        collect_operands(c);
    if (c->blocks.warps > 0) {
        c->n.issue_slots += c->sub_count;
        if (front_look(c) != 0)
            front_issue(c);
        if (++c->front.turn == c->sub_count)
            c->front.turn = 0;
        if (c->front.held_count != 0)
            front_fetch_held(c);
        if ((c->front.need_fetch | (uint64_t)(c->front.fetched >= 0)) != 0)
            front_fetch(c);
    } else if (c->resident_warps_then > 0) {
        front_count_stalls(c, now);
    }
    c->resident_warps_then = c->blocks.warps;
    ls_cycle next = LS_CYCLE_MAX;
    c->dozing = c->ldst.dispatch != NO_FLIGHT;
    if (c->blocks.warps > 0) {
        if ((c->front.need_fetch | c->front.changed | (uint64_t)(c->front.fetched >= 0)) != 0)
            return true;
        if ((c->pipes.collecting | c->pipes.executing) != 0) {
            if ((c->pipes.to_memory | c->pipes.moving) != 0)
                return true;
            next = c->pipes.execute_next;
            if (next <= now + 1)
                return true;
            c->dozing = true;
        }
    }
    if (c->ldst.memory_next <= now + 1)
        return true;
    ls_cycle write = collect_next(c), held = front_next_held(c);
    next = write < next ? write : next;
    next = held < next ? held : next;
    next = c->ldst.memory_next < next ? c->ldst.memory_next : next;
    if (OPTION_ON(c->options.any)) {
        ls_cycle optional = options_next(c);
        next = optional < next ? optional : next;
    }
    return core_sleep(c, next <= now ? now + 1 : next);
}

static bool init(core *c)
{
    collect_init(c);
    return true;
}

const core_alu core_alu_cycle = { .init = init,
                                  .tick = tick,
                                  .release = front_release,
                                  .take_banks = collect_write_banks,
                                  .resume = front_resume };
