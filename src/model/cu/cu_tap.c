/* cu_tap.c: events of a compute unit for timelines: work-groups, wavefronts and their states. Reads the compute
 * unit, changes only its record of what was told. */
#include "model/amd_memory/line_tap.h"
#include "model/cu/cu.h"

static uint64_t group_number(const cu_group *g)
{
    const ls_cu_kernel *k = g->kernel;
    uint64_t number = 0;
    for (unsigned i = 3; i-- > 0;)
        number = number * ((k->grid[i] + k->group[i] - 1) / k->group[i]) + g->arch.id[i];
    return number;
}

void cu_tap_group(const cu *c, const cu_group *g, ls_tap_phase phase)
{
    ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_region_time(c->region),
                                           .kind = LS_TAP_GROUP,
                                           .phase = (uint8_t)phase,
                                           .id = group_number(g),
                                           .value = g->kernel->number,
                                           .more = g->wave_count,
                                           .slot = g->slot });
}

/* Of several reasons the first in this order is told. */
static ls_tap_state state_of(const cu *c, const cu_wave *w)
{
    static const struct {
        uint16_t why;
        uint8_t state;
    } order[] = {
        { 1u << CU_WHY_BARRIER, LS_STATE_BARRIER }, { 1u << CU_WHY_VM | 1u << CU_WHY_VS, LS_STATE_MEMORY },
        { 1u << CU_WHY_LGKM, LS_STATE_SCALAR },     { 1u << CU_WHY_EXP, LS_STATE_EXPORT },
        { 1u << CU_WHY_FETCH, LS_STATE_FETCH },     { 1u << CU_WHY_SLEEP, LS_STATE_SLEEP },
    };
    const cu_simd *simd = &c->simds[w->simd];
    for (size_t i = 0; w->why != 0 && i < LS_COUNT_OF(order); i++)
        if ((w->why & order[i].why) != 0)
            return (ls_tap_state)order[i].state;
    for (uint32_t left = simd->units; left != 0; left &= left - 1)
        if ((simd->ready[__builtin_ctz(left)] >> w->slot & 1) != 0)
            return LS_STATE_UNIT;
    return LS_STATE_ACTIVE;
}

/* Waves whose state has changed. */
static void tell_states(cu *c, ls_cycle now)
{
    for (unsigned s = 0; s < c->simd_count; s++)
        for (uint32_t left = c->simds[s].resident; left != 0; left &= left - 1) {
            const cu_wave *w = &c->simds[s].waves[__builtin_ctz(left)];
            ls_tap_state state = state_of(c, w);
            if (state == c->tap_states[w->number])
                continue;
            c->tap_states[w->number] = (uint8_t)state;
            ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_clock_time(ls_region_clock(c->region), now),
                                                   .kind = LS_TAP_STALL,
                                                   .phase = LS_TAP_BEGIN,
                                                   .slot = w->number,
                                                   .what = (uint16_t)state });
        }
}

static bool tick_and_tell(void *self, ls_cycle now)
{
    cu *c = self;
    bool again = c->tap_tick(c, now);
    tell_states(c, now);
    return again;
}

void cu_tap_wave(cu *c, const cu_wave *w, ls_tap_phase phase)
{
    ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_region_time(c->region),
                                           .kind = LS_TAP_WARP,
                                           .phase = (uint8_t)phase,
                                           .id = w->arch.index,
                                           .value = w->group->slot,
                                           .slot = w->number });
    c->tap_states[w->number] = UINT8_MAX;
    if (ls_tap_wants(c->tap, LS_TAP_STALL) && c->tap_tick == NULL) {
        c->tap_tick = c->ticker.fn; /* so that a unit that nobody watches does not ask in every cycle */
        c->ticker.fn = tick_and_tell;
    }
}

static void tell_request(const cu *c, const ls_line_message *m)
{
    static const uint16_t accesses[] = { LS_ACCESS_READ, LS_ACCESS_WRITE, LS_ACCESS_ATOMIC };
    ls_tap_record(c->tap, &(ls_tap_event){ .time = ls_region_time(c->region),
                                           .kind = LS_TAP_REQUEST,
                                           .phase = LS_TAP_BEGIN,
                                           .id = LS_TAP_ANY_GPU | m->number,
                                           .value = m->address,
                                           .what = accesses[m->kind] });
}

/* A refused request of data is sent again and keeps its number; that of code may be another one then, and is told when it
 * was taken: its first steps are told just before its begin. */
bool cu_tap_request(cu *c, const ls_line_port *port, ls_line_message *m, cu_path path, ls_cycle now)
{
    bool is_access = m->kind == LS_LINE_READ || m->kind == LS_LINE_WRITE || m->kind == LS_LINE_ATOMIC;
    m->number =
        is_access ? c->tap->block << 16 | (uint32_t)path << 14 | (c->tap_requests[path] % 0x3fff + 1) : 0;
    if (is_access && path != CU_PATH_CODE && !c->tap_waits[path]) {
        tell_request(c, m);
        line_tap_step(c->tap, c->region, m->number, LS_TAP_STEP, LS_STEP_QUEUE);
    }
    c->tap_waits[path] = true;
    if (!ls_line_request(port, m, now))
        return false;
    c->tap_waits[path] = false;
    c->tap_requests[path] += is_access;
    if (is_access && path == CU_PATH_CODE)
        tell_request(c, m);
    return true;
}

void cu_tap_reply(const cu *c, const ls_line_message *m)
{
    line_tap_step(c->tap, c->region, m->number, LS_TAP_END, LS_STEP_FILL);
}
