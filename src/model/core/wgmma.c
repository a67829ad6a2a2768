/* wgmma.c: see wgmma.h. May touch its core only. */
#include "model/core/wgmma.h"

#include "model/core/options_state.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- warp groups */

/* The warps of a warp group: four side by side, from a multiple of four in their block. */
typedef struct members {
    uint32_t first, end;
} members;

static members members_of(const core *c, uint32_t warp)
{
    const cta_state *cta = &c->blocks.at[c->front.warps[warp].cta];
    uint32_t first = cta->first_warp + (warp - cta->first_warp) / WGMMA_WARPS * WGMMA_WARPS;
    uint32_t last = (uint32_t)cta->first_warp + cta->warp_count;
    return (members){ first, first + WGMMA_WARPS < last ? first + WGMMA_WARPS : last };
}

/* All that have not ended wait for the same instruction. */
static bool all_here(const core *c, members m)
{
    const uint64_t all = ((UINT64_C(1) << (m.end - m.first)) - 1) << m.first,
                   here = c->options.wgmma->heads & all;
    for (uint64_t missing = all ^ here; missing != 0; missing &= missing - 1)
        if (c->front.warp[(uint32_t)__builtin_ctzll(missing)]->resident)
            return false;
    return here != 0;
}

static void look_at(core *c, members m)
{
    wgmma *g = c->options.wgmma;
    if ((g->queued >> m.first & 1) != 0 || !all_here(c, m))
        return;
    g->queued |= UINT64_C(1) << m.first;
    g->ready[g->ready_tail++ % CORE_WARPS_MAX] = (uint8_t)m.first;
    if (g->running == 0)
        g->due = c->options.due = 0;
}

/* --------------------------------------------------------------------------------------------------- running */

static inline uint32_t tensor_unit(const core *c)
{
    return c->pipes.classes[LS_CLASS_tensor_group].unit;
}

/* When the units of all its warps are free. */
static ls_cycle units_free(const core *c, uint32_t first)
{
    const wgmma *g = c->options.wgmma;
    const members m = members_of(c, first);
    const uint32_t unit = tensor_unit(c);
    ls_cycle at = 0;
    for (uint32_t w = m.first; w < m.end; w++)
        if (g->warps[w].head != NO_FLIGHT) {
            const ls_cycle free_at = c->pipes.at[warp_sub(c, w)]->units[unit].free;
            at = free_at > at ? free_at : at;
        }
    return at;
}

static void set_units(core *c, ls_cycle until)
{
    const wgmma *g = c->options.wgmma;
    const uint32_t unit = tensor_unit(c), open = ~(1u << unit);
    for (uint32_t i = 0; i < g->running; i++) {
        pipe_sub *s = c->pipes.at[c->flights.at[g->flights[i]].sub];
        s->units[unit].free = until;
        s->open &= open;
    }
}

static uint64_t port_taken(const core *c)
{
    return c->async == NULL ? 0 : c->async->tma.port_taken;
}

/* The oldest instruction of each warp of the group. */
static void start(core *c, uint32_t first)
{
    wgmma *g = c->options.wgmma;
    const members m = members_of(c, first);
    const ls_inst *inst = NULL;
    tensor_cost cost = { 0 };
    g->running = 0;
    for (uint32_t w = m.first; w < m.end; w++) {
        uint16_t index = g->warps[w].head;
        if (index == NO_FLIGHT)
            continue;
        if (c->flights.at[index].inst != inst) { /* mostly it is the same for all */
            inst = c->flights.at[index].inst;
            tensor_cost own = core_cost(c, inst);
            cost = own.interval > cost.interval ? own : cost;
        }
        g->warps[w].head = c->flights.at[index].next;
        g->heads ^= (uint64_t)(g->warps[w].head == NO_FLIGHT) << w;
        g->flights[g->running++] = index;
        if (LS_UNLIKELY(c->apart))
            core_tap_execute(c, index);
    }
    count_for(c, c->flights.at[g->flights[0]].warp); /* all are of one block */
    c->n.tensor_cycles += (uint64_t)g->running * cost.interval;
    g->start = c->now;
    g->end = c->now + cost.interval;
    g->reads = (uint64_t)tensor_reads(&c->pipes.tensor, c->flights.at[g->flights[0]].inst) << TMA_ONE_SHIFT;
    g->port_mark = port_taken(c);
    set_units(c, g->end);
    g->queued &= ~(UINT64_C(1) << first);
    look_at(c, m);
}

static bool is_open(const wgmma_warp *w)
{
    for (uint8_t n = (uint8_t)(w->open - (WGMMA_GROUPS - 1)); n != w->wait; n++)
        if (w->pending[n % WGMMA_GROUPS] != 0)
            return true;
    return false;
}

static void finish(core *c)
{
    wgmma *g = c->options.wgmma;
    const uint32_t count = g->running, open = 1u << tensor_unit(c);
    g->running = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t index = g->flights[i];
        const flight *f = &c->flights.at[index];
        uint32_t warp = f->warp;
        wgmma_warp *w = &g->warps[warp];
        c->pipes.at[f->sub]->open |= open;
        pipes_execute_from(c, f->sub, 0);
        w->pending[f->group % WGMMA_GROUPS]--;
        if (front_waits_for(c, warp) == FRONT_WAIT_GROUPS && !is_open(w))
            front_let_go(c, warp, c->now);
        flight_complete(c, index);
    }
}

/* Other accesses may have had the port for so long that the reads are not done. */
static bool reads_done(core *c)
{
    wgmma *g = c->options.wgmma;
    const uint64_t one = UINT64_C(1) << TMA_ONE_SHIFT;
    uint64_t needed = g->reads == 0 ? 0 : g->reads + port_taken(c) - g->port_mark;
    ls_cycle end = g->start + ((needed + one - 1) >> TMA_ONE_SHIFT);
    if (end <= c->now)
        return true;
    c->n.options.wgmma_port_cycles += end - g->end;
    g->end = end;
    set_units(c, end);
    return false;
}

static void start_next(core *c)
{
    wgmma *g = c->options.wgmma;
    uint32_t first = g->ready[g->ready_head % CORE_WARPS_MAX];
    if (units_free(c, first) > c->now)
        return;
    g->ready_head++;
    start(c, first);
}

void wgmma_cycle(core *c)
{
    wgmma *g = c->options.wgmma;
    if (g->running != 0 && g->end <= c->now && reads_done(c))
        finish(c);
    if (g->running == 0 && g->ready_head != g->ready_tail)
        start_next(c);
    g->due = g->running != 0 ? g->end : g->ready_head != g->ready_tail ? 0 : LS_CYCLE_MAX;
    c->options.due = g->due < c->options.due ? g->due : c->options.due;
}

ls_cycle wgmma_next(const core *c)
{
    const wgmma *g = c->options.wgmma;
    if (g->running != 0)
        return g->end;
    return g->ready_head == g->ready_tail ? LS_CYCLE_MAX
                                          : units_free(c, g->ready[g->ready_head % CORE_WARPS_MAX]);
}

/* ---------------------------------------------------------------------------------------------- instructions */

void wgmma_issue(core *c, uint32_t warp, const ls_inst *inst, flight *f)
{
    wgmma_warp *w = &c->options.wgmma->warps[warp];
    f->group = w->open;
    w->pending[w->open % WGMMA_GROUPS]++;
    w->open = (uint8_t)(w->open + ((inst->flags & LS_INST_GROUP_COMMIT) != 0));
}

void wgmma_take(core *c, uint16_t index)
{
    wgmma *g = c->options.wgmma;
    uint32_t warp = c->flights.at[index].warp;
    wgmma_warp *w = &g->warps[warp];
    c->flights.at[index].next = NO_FLIGHT;
    if (w->head == NO_FLIGHT) {
        w->head = w->tail = index;
        g->heads |= UINT64_C(1) << warp;
        look_at(c, members_of(c, warp));
    } else { /* the group waits for others, or is queued, or runs */
        c->flights.at[w->tail].next = index;
        w->tail = index;
    }
    if (g->due <= c->now)
        wgmma_cycle(c);
}

/* Instructions that no commit follows belong to the open group: a wait for all waits for them, too. */
void wgmma_wait(core *c, uint32_t warp, const ls_inst *inst)
{
    wgmma_warp *w = &c->options.wgmma->warps[warp];
    uint8_t kept = inst->imm < 0 || inst->imm >= (int64_t)WGMMA_GROUPS ? WGMMA_GROUPS - 1 : (uint8_t)inst->imm;
    w->wait = (uint8_t)(w->open - kept + (kept == 0));
    if (is_open(w))
        front_stop(c, warp, FRONT_WAIT_GROUPS);
}

/* ------------------------------------------------------------------------------------------------- registers */

static void give_registers(core *c, uint32_t slot, uint32_t count)
{
    wgmma *g = c->options.wgmma;
    const cta_state *cta = &c->blocks.at[slot];
    g->spare[slot] += count;
    for (uint32_t w = cta->first_warp; w < (uint32_t)cta->first_warp + cta->warp_count; w++) {
        uint32_t more = (uint32_t)(g->wanted[w] - g->registers[w]);
        if (front_waits_for(c, w) != FRONT_WAIT_REGISTERS || more > g->spare[slot])
            continue;
        g->spare[slot] -= more;
        g->registers[w] = g->wanted[w];
        front_let_go(c, w, c->now);
    }
}

/* Traces have every try of an allocation: the first one waits, later ones have nothing to do. */
void wgmma_set_registers(core *c, uint32_t warp, const ls_inst *inst)
{
    wgmma *g = c->options.wgmma;
    uint32_t slot = c->front.warps[warp].cta;
    if (inst->imm <= 0 || inst->imm > 255)
        return;
    g->wanted[warp] = (uint16_t)inst->imm;
    uint32_t has = g->registers[warp], wanted = g->wanted[warp];
    if (wanted <= has) {
        g->registers[warp] = (uint16_t)wanted;
        give_registers(c, slot, has - wanted);
    } else if (wanted - has <= g->spare[slot]) {
        g->spare[slot] -= wanted - has;
        g->registers[warp] = (uint16_t)wanted;
    } else {
        front_stop(c, warp, FRONT_WAIT_REGISTERS);
    }
}

/* ----------------------------------------------------------------------------------------- blocks and set-up */

void wgmma_start_block(core *c, uint32_t slot)
{
    wgmma *g = c->options.wgmma;
    const cta_state *cta = &c->blocks.at[slot];
    uint64_t unit = c->spec->register_unit;
    uint16_t registers = (uint16_t)(allocation_units(cta->launch.info->registers, unit) * unit);
    g->spare[slot] = 0;
    for (uint32_t w = cta->first_warp; w < (uint32_t)cta->first_warp + cta->warp_count; w++) {
        g->warps[w] = (wgmma_warp){ .head = NO_FLIGHT, .tail = NO_FLIGHT };
        g->heads &= ~(UINT64_C(1) << w);
        g->registers[w] = registers;
    }
}

void wgmma_end_warp(core *c, uint32_t warp)
{
    wgmma *g = c->options.wgmma;
    look_at(c, members_of(c, warp));
    give_registers(c, c->front.warps[warp].cta, g->registers[warp]);
    g->registers[warp] = 0;
}

bool wgmma_init(core *c)
{
    wgmma *g = c->options.wgmma = ls_domain_alloc(c->domain, sizeof *g);
    c->options.any = true;
    if (g == NULL)
        return false;
    g->due = LS_CYCLE_MAX;
    for (uint32_t w = 0; w < CORE_WARPS_MAX; w++)
        g->warps[w].head = g->warps[w].tail = NO_FLIGHT;
    return true;
}
