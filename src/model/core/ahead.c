/* ahead.c: thread blocks that are at a core before there is room for them. May touch its core only.
 *
 * A message takes time from a core to the dispatcher and back, and a window is at most as long. Blocks are
 * sent ahead in two cases: a place must be taken again sooner (Accel-Sim), or cores should synchronise with
 * the dispatcher less often (flow.c). Then a core that finishes a block starts the next by itself, block_delay
 * cycles later. Only the choice of the core is made earlier. */
#include "model/core/core.h"

/* When the block that arrives now may start: at once if there is a place that was left long ago, or never
 * taken. */
static ls_cycle start_of(core_ahead *a, const core_launch *launch, ls_cycle now)
{
    if (a->ended_kernel != launch->kernel) {
        a->ended_kernel = launch->kernel;
        a->end_head = a->end_tail;
    }
    while (a->end_head != a->end_tail && a->ends[a->end_head % CORE_CTAS_MAX] + a->delay <= now)
        a->end_head++;
    if (a->places[launch->kernel] + (a->end_tail - a->end_head) < launch->ctas_per_core)
        return now;
    return a->ends[a->end_head++ % CORE_CTAS_MAX] + a->delay;
}

static void set_due(core *c, const core_launch *launch, ls_cycle start)
{
    core_ahead *a = c->blocks.ahead;
    if (a->due_count == CORE_CTAS_MAX) {
        cta_refuse(c);
        return;
    }
    uint32_t i = a->due_count++;
    for (; i > 0 && a->due[i - 1].start > start; i--)
        a->due[i] = a->due[i - 1];
    a->due[i].start = start;
    a->due[i].launch = *launch;
    if (i > 0)
        return;
    if (ls_event_scheduled(&a->event))
        ls_cancel(&a->event);
    ls_schedule_at(c->region, &a->event, start);
}

bool ahead_arrives(core *c, const core_launch *launch)
{
    core_ahead *a = c->blocks.ahead;
    a->kernel = launch->kernel;
    a->most = launch->ctas_per_core;
    if (a->places[launch->kernel] >= launch->ctas_per_core) {
        if (a->tail - a->head < LS_CORE_BLOCKS_AT)
            a->waiting[a->tail++ % LS_CORE_BLOCKS_AT] = *launch;
        else
            cta_refuse(c);
        return true;
    }
    ls_cycle now = ls_region_now(c->region), start = start_of(a, launch, now);
    a->places[launch->kernel]++;
    if (start <= now)
        return false;
    set_due(c, launch, start);
    return true;
}

void ahead_ended(core *c, uint32_t kernel)
{
    core_ahead *a = c->blocks.ahead;
    ls_cycle now = ls_region_now(c->region);
    if (a->head != a->tail && a->waiting[a->head % LS_CORE_BLOCKS_AT].kernel == kernel) {
        set_due(c, &a->waiting[a->head++ % LS_CORE_BLOCKS_AT], now + a->delay);
        return; /* the next one has its place */
    }
    a->places[kernel]--;
    if (a->ended_kernel != kernel)
        a->end_head = a->end_tail;
    a->ended_kernel = kernel;
    if (a->end_tail - a->end_head < CORE_CTAS_MAX)
        a->ends[a->end_tail++ % CORE_CTAS_MAX] = now;
}

bool ahead_waits(const core *c)
{
    return c->blocks.ahead != NULL &&
           (c->blocks.ahead->due_count > 0 || c->blocks.ahead->head != c->blocks.ahead->tail);
}

ls_cycle ahead_next(const core *c)
{
    return c->blocks.ahead->due_count == 0 ? LS_CYCLE_MAX : c->blocks.ahead->due[0].start;
}

bool ahead_has_next(const core *c)
{
    return c->blocks.ahead->head != c->blocks.ahead->tail;
}

bool ahead_expects(const core *c)
{
    return c->blocks.ahead->places[c->blocks.ahead->kernel] < c->blocks.ahead->most;
}

uint32_t ahead_delay(const core *c)
{
    return c->blocks.ahead->delay;
}

/* A core takes one block per cycle, from any sender. */
static void start_due(void *self, ls_cycle now)
{
    core *c = self;
    core_ahead *a = c->blocks.ahead;
    core_launch launch = a->due[0].launch;
    a->due_count--;
    for (uint32_t i = 0; i < a->due_count; i++)
        a->due[i] = a->due[i + 1];
    if (a->due_count > 0)
        ls_schedule_at(c->region, &a->event, a->due[0].start > now ? a->due[0].start : now + 1);
    cta_start(c, &launch);
    ls_ticker_wake(&c->ticker);
}

void ahead_shares(core *c, uint32_t kernel, uint32_t cores)
{
    core_ahead *a = c->blocks.ahead;
    for (uint32_t i = a->head; i != a->tail; i++)
        if (a->waiting[i % LS_CORE_BLOCKS_AT].kernel == kernel)
            a->waiting[i % LS_CORE_BLOCKS_AT].cores = cores;
    for (uint32_t i = 0; i < a->due_count; i++)
        if (a->due[i].launch.kernel == kernel)
            a->due[i].launch.cores = cores;
}

bool ahead_init(core *c, uint32_t delay_cycles)
{
    c->blocks.ahead = ls_domain_alloc(c->domain, sizeof *c->blocks.ahead);
    if (c->blocks.ahead == NULL)
        return false;
    c->blocks.ahead->delay = delay_cycles;
    ls_event_init(&c->blocks.ahead->event, start_due, c);
    return true;
}
