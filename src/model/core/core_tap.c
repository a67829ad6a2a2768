/* core_tap.c: events of a core for timelines: thread blocks, warps and their states. Reads the core, changes only
 * its record of what was told. */
#include "isa/sass/sass.h"
#include "model/core/core.h"

static ls_time time_of(const core *c, ls_cycle cycle)
{
    return ls_clock_time(ls_region_clock(c->region), cycle);
}

void core_tap_group(core *c, uint32_t slot, ls_tap_phase phase)
{
    const cta_state *cta = &c->blocks.at[slot];
    ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_region_time(c->region),
                                           .kind = LS_TAP_GROUP,
                                           .phase = (uint8_t)phase,
                                           .id = cta->launch.cta->index,
                                           .value = cta->launch.number,
                                           .more = cta->warp_count,
                                           .slot = slot });
}

/* As front_reasons(), for one warp. `taken`: warps that could issue but for their unit. */
static ls_tap_state state_of(const core *c, const front_sub *s, uint32_t warp, uint32_t bit, uint32_t taken)
{
    if ((s->barrier & bit) != 0)
        return LS_STATE_BARRIER;
    if ((s->fence & bit) != 0)
        return LS_STATE_FENCE;
    if ((s->async & bit) != 0)
        return (s->mbarrier & bit) != 0 ? LS_STATE_MBARRIER : LS_STATE_ASYNC;
    if ((s->buffered & bit) == 0) {
        const warp_state *w = &c->front.warps[warp];
        return w->next == w->end ? LS_STATE_DRAIN : LS_STATE_FETCH;
    }
    if ((s->blocked & bit) != 0)
        return (s->memory_blocked & bit) != 0 ? LS_STATE_MEMORY : LS_STATE_DEPENDENCE;
    return (taken & bit) != 0 ? LS_STATE_UNIT : LS_STATE_ACTIVE;
}

/* Warps whose state has changed. */
static void tell_states(core *c)
{
    for (uint32_t sub = 0; sub < c->sub_count; sub++) {
        const front_sub *s = &c->front.subs[sub];
        uint32_t taken = 0;
        if (c->flow == NULL)
            for (uint32_t set = pipes_taken(c, sub); set != 0; set &= set - 1)
                taken |= s->wants[__builtin_ctz(set)];
        for (uint32_t left = s->resident; left != 0; left &= left - 1) {
            uint32_t place = (uint32_t)__builtin_ctz(left), warp = place * c->sub_count + sub;
            ls_tap_state state = state_of(c, s, warp, 1u << place, taken);
            if (state == c->tap_states[warp])
                continue;
            c->tap_states[warp] = (uint8_t)state;
            ls_tap_record(c->tap, &(ls_tap_event){ .time = time_of(c, c->now),
                                                   .kind = LS_TAP_STALL,
                                                   .phase = LS_TAP_BEGIN,
                                                   .slot = warp,
                                                   .what = (uint16_t)state });
        }
    }
}

static bool tick_and_tell(void *self, ls_cycle now)
{
    core *c = self;
    bool again = c->alu->tick(c, now);
    tell_states(c);
    return again;
}

void core_tap_warp(core *c, uint32_t warp, ls_tap_phase phase, ls_cycle at)
{
    const warp_state *w = &c->front.warps[warp];
    ls_tap_record(c->tap, &(ls_tap_event){ .time = time_of(c, at),
                                           .kind = LS_TAP_WARP,
                                           .phase = (uint8_t)phase,
                                           .id = warp - c->blocks.at[w->cta].first_warp,
                                           .value = w->cta,
                                           .slot = warp });
    c->tap_states[warp] = UINT8_MAX;
    if (ls_tap_wants(c->tap, LS_TAP_STALL))
        c->ticker.fn = tick_and_tell; /* so that a core that nobody watches does not ask in every cycle */
}

uint16_t core_tap_request(core *c, const ls_sector_message *message)
{
    static const uint16_t accesses[] = { LS_ACCESS_READ, LS_ACCESS_WRITE, LS_ACCESS_ATOMIC };
    if (message->kind == LS_SECTOR_FLUSH)
        return 0;
    c->tap_requests = (uint16_t)(c->tap_requests + 1);
    c->tap_requests = c->tap_requests != 0 ? c->tap_requests : 1;
    ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_region_time(c->region),
                                           .kind = LS_TAP_REQUEST,
                                           .phase = LS_TAP_BEGIN,
                                           .id = LS_TAP_SECTOR(c->id, c->tap_requests),
                                           .value = message->address,
                                           .what = accesses[message->kind] });
    core_tap_step(c, c->tap_requests, LS_TAP_STEP, LS_STEP_QUEUE);
    return c->tap_requests;
}

void core_tap_step(const core *c, uint16_t number, ls_tap_phase phase, ls_tap_step step)
{
    if (number == 0 || !ls_tap_wants(c->tap, LS_TAP_REQUEST))
        return;
    ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_region_time(c->region),
                                           .kind = LS_TAP_REQUEST,
                                           .phase = (uint8_t)phase,
                                           .id = LS_TAP_SECTOR(c->id, number),
                                           .what = (uint16_t)step });
}

void core_tap_instruction(const core *c, uint16_t index, ls_tap_phase phase, ls_tap_step step)
{
    const flight *f = &c->flights.at[index];
    bool begins = phase == LS_TAP_BEGIN;
    ls_tap_record(c->tap,
                  &(ls_tap_event){
                      .time = time_of(c, c->now),
                      .kind = LS_TAP_INSTRUCTION,
                      .phase = (uint8_t)phase,
                      .id = f->uid,
                      .value = f->inst->pc,
                      .slot = f->warp,
                      .more = begins ? (uint32_t)ls_tap_name(c->tap, sass_opcode_name(f->inst->opcode)) : 0,
                      .what = (uint16_t)step });
}

void core_tap_execute(const core *c, uint16_t index)
{
    if (ls_tap_wants(c->tap, LS_TAP_INSTRUCTION))
        core_tap_instruction(c, index, LS_TAP_STEP, LS_STEP_EXECUTE);
}

void core_count_and_tell(core *c, uint16_t index, ls_tap_phase phase, ls_tap_step step)
{
    count_for(c, c->flights.at[index].warp);
    if (c->counted && phase == LS_TAP_BEGIN)
        core_counts_issue(c, &c->flights.at[index]);
    if (ls_tap_wants(c->tap, LS_TAP_INSTRUCTION))
        core_tap_instruction(c, index, phase, step);
}
