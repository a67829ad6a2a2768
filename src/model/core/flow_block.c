/* flow_block.c: thread blocks that are at a core before there is room for them. May touch its core only.
 *
 * Cores that exchange nothing but blocks with the dispatcher would still have to meet it as often as a
 * message needs to it. So it sends some ahead: a core that finishes a block starts the next one by itself,
 * as long after that as the dispatcher would have needed to send it one. Only which core runs a block is
 * decided earlier. */
#include "model/core/flow.h"

/* When the block that arrives now may start. */
static ls_cycle start_of(flow *f, uint32_t kernel, ls_cycle now)
{
    if (f->ended_kernel != kernel) {
        f->ended_kernel = kernel;
        f->end_head = f->end_tail;
    }
    if (f->end_head == f->end_tail)
        return now;
    ls_cycle start = f->ends[f->end_head++ % FLOW_WAITING] + f->block_delay;
    return start > now ? start : now;
}

static void set_due(flow *f, const core_launch *launch, ls_cycle start)
{
    f->due[f->due_count++] = (flow_due){ .start = start, .launch = *launch };
}

bool flow_block_arrives(core *c, const core_launch *launch)
{
    flow *f = c->flow;
    if (f->places[launch->kernel] >= launch->ctas_per_core) {
        f->waiting[f->wait_tail++ % FLOW_WAITING] = *launch;
        return true;
    }
    f->places[launch->kernel]++;
    ls_cycle now = ls_region_now(c->region), start = start_of(f, launch->kernel, now);
    if (start <= now)
        return false;
    set_due(f, launch, start);
    return true;
}

void flow_block_ended(core *c, uint32_t kernel)
{
    flow *f = c->flow;
    ls_cycle now = ls_region_now(c->region);
    if (f->wait_head != f->wait_tail && f->waiting[f->wait_head % FLOW_WAITING].kernel == kernel) {
        set_due(f, &f->waiting[f->wait_head++ % FLOW_WAITING], now + f->block_delay);
        return; /* the next one has its place */
    }
    f->places[kernel]--;
    if (f->ended_kernel != kernel)
        f->end_head = f->end_tail;
    f->ended_kernel = kernel;
    if (f->end_tail - f->end_head < FLOW_WAITING)
        f->ends[f->end_tail++ % FLOW_WAITING] = now;
}

ls_cycle flow_start_blocks(core *c, ls_cycle now)
{
    flow *f = c->flow;
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < f->due_count;) {
        flow_due due = f->due[i];
        if (due.start > now) {
            next = due.start < next ? due.start : next;
            i++;
            continue;
        }
        f->due_count--;
        for (uint32_t k = i; k < f->due_count; k++) /* they keep their order */
            f->due[k] = f->due[k + 1];
        cta_start(c, &due.launch);
        next = LS_CYCLE_MAX; /* an empty block ends at once, and another one is due */
        i = 0;
    }
    return next;
}

void flow_block_shares(core *c, uint32_t kernel, uint32_t cores)
{
    flow *f = c->flow;
    for (uint32_t i = f->wait_head; i != f->wait_tail; i++)
        if (f->waiting[i % FLOW_WAITING].kernel == kernel)
            f->waiting[i % FLOW_WAITING].cores = cores;
    for (uint32_t i = 0; i < f->due_count; i++)
        if (f->due[i].launch.kernel == kernel)
            f->due[i].launch.cores = cores;
}

bool core_starts_blocks(const ls_block *block)
{
    const core *c = ls_block_state((ls_block *)(uintptr_t)block);
    return c->flow != NULL;
}

void core_set_block_delay(ls_block *block, uint32_t cycles)
{
    core *c = ls_block_state(block);
    c->flow->block_delay = cycles;
}
