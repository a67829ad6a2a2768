/* cycle.c: alu: cycle: one cycle of a core whose pipeline is simulated stage by stage (front_issue.h,
 * collect.h). */
#include "model/core/collect.h"
#include "model/core/front_issue.h"
#include "model/core/options_state.h"

#define SHORT_SLEEP 3u /* so many cycles with nothing to do cost the host less than a timer */

/* Counters of the core's time go on with as many resident warps as there are now. `from`: the first such cycle. */
static __attribute__((noinline)) void warps_changed(core *c, ls_cycle from)
{
    if (c->resident_warps_then == 0)
        front_count_stalls_from(c, from);
    core_count_time(c, from);
    c->resident_warps_then = c->blocks.warps;
}

/* The last warp ended in this cycle, in which no scheduler had an issue slot. */
static __attribute__((noinline)) void last_warp_ended(core *c, ls_cycle now)
{
    warps_changed(c, now + 1);
    c->n.issue_slots -= c->sub_count;
    front_count_stalls(c, now);
}

static bool tick(void *self, ls_cycle now)
{
    core *c = self;
    if (now != c->last_tick + 1)
        core_count_sleep(c, now);
    if (LS_UNLIKELY(c->blocks.warps != c->resident_warps_then)) {
        warps_changed(c, now);
        if (c->blocks.warps == 0)
            front_count_stalls(c, now);
    }
    c->now = now;
    c->last_tick = now;
    if (collect_due(c, now))
        collect_write_back(c);
    if (c->options.due <= now)
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
    const uint32_t warps = c->blocks.warps;
    if (warps > 0) {
        if (front_look(c) != 0)
            front_issue(c);
        if (++c->front.turn == c->sub_count)
            c->front.turn = 0;
        if (c->front.held_count != 0)
            front_fetch_held(c);
        if ((c->front.need_fetch | c->front.fetched) != 0)
            front_fetch(c);
    }
    if (LS_UNLIKELY(c->blocks.warps != c->resident_warps_then)) {
        if (warps == 0)
            last_warp_ended(c, now);
        else
            warps_changed(c, now + 1);
    }
    ls_cycle next = LS_CYCLE_MAX;
    bool dozing = c->ldst.dispatch != NO_FLIGHT;
    if (c->blocks.warps > 0) {
        if ((c->front.need_fetch | c->front.fetched | c->front.changed) != 0)
            return true;
        if (c->pipes.inside != 0) {
            if ((c->pipes.to_memory | c->pipes.moving) != 0)
                return true;
            next = c->pipes.execute_next;
            if (next <= now + SHORT_SLEEP)
                return true;
            dozing = true;
        }
    } else {
        dozing = false;
    }
    if (c->ldst.memory_next <= now + 1)
        return true;
    ls_cycle write = collect_next(c), held = front_next_held(c);
    next = write < next ? write : next;
    next = held < next ? held : next;
    next = c->ldst.memory_next < next ? c->ldst.memory_next : next;
    if (OPTION_ON(c->options.any)) {
        ls_cycle optional = c->options.due > now ? c->options.due : options_next(c);
        next = optional < next ? optional : next;
    }
    c->dozing = dozing;
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
