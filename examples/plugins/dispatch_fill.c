/* dispatch_fill.c: fills one core with blocks before the next. One kernel at a time, one block per cycle. */
#include "lockstep/dispatch.h"

#define LAUNCH_CYCLES 5000u /* from a kernel's launch to its first block */
typedef struct state {
    ls_region *region;
    ls_dispatch_wiring wiring;
    uint32_t per_core, *load; /* blocks of a core, at most; at each core */
    ls_cta *ctas;
    uint32_t *free, cta_count, free_count; /* free: blocks at no core */
    ls_dispatch_work work;
    ls_dispatch_kernel kernel;
    uint64_t sent, done; /* blocks of the kernel */
    bool end;
    ls_cycle begin, last_end; /* begin LS_CYCLE_MAX: no kernel runs */
    ls_event pump;
    ls_error failure;
    struct counters {
        uint64_t kernels, active_cycles;
    } n;
} state;
static void next_kernel(void *self, ls_cycle begin)
{
    state *s = self;
    const ls_dispatch_rules rules = { s->wiring.capacity, s->wiring.core_count, .spread = false };
    if (s->work.next_kernel(s->work.self, &s->kernel, &s->end, &s->failure) != LS_OK || s->end ||
        s->kernel.info == NULL)
        return;
    s->per_core = ls_dispatch_blocks_per_core(&rules, s->kernel.info, s->kernel.ctas);
    if (s->per_core == 0)
        ls_fail(&s->failure, LS_ERR_INPUT, "kernel '%s' does not fit on a core", s->kernel.info->name);
    s->kernel.slot = 0;
    ls_dispatch_set_kernel(s->wiring.launches, &s->kernel);
    s->sent = s->done = 0;
    s->begin = s->last_end = begin;
    ls_domain_pending(ls_region_domain(s->region), 1);
    ls_schedule_at(s->region, &s->pump, begin + (s->kernel.continues ? 0 : LAUNCH_CYCLES));
}

static void pump(void *self, ls_cycle now)
{
    state *s = self;
    uint32_t core = 0;
    bool end = false;
    ls_link *const *links = s->wiring.to_core;
    while (core < s->wiring.core_count && (s->load[core] == s->per_core || !ls_link_ready(links[core])))
        core++;
    if (s->sent == s->kernel.ctas || core == s->wiring.core_count)
        return; /* until a block ends */
    uint32_t block = s->free[s->free_count - 1];
    if (s->failure.status != LS_OK ||
        s->work.next_cta(s->work.self, &s->kernel, &s->ctas[block], &end, &s->failure) != LS_OK || end) {
        ls_domain_fail(ls_region_domain(s->region), "a kernel has fewer thread blocks than its grid");
        return;
    }
    ls_core_launch *launch = ls_link_send(links[core], 1);
    *launch = ls_dispatch_launch(&s->kernel, block, s->n.kernels + 1, s->per_core, s->wiring.core_count);
    s->free_count--;
    s->load[core]++;
    s->sent++;
    ls_schedule_at(s->region, &s->pump, now + 1);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    const ls_core_done *done = payload;
    s->free[s->free_count++] = done->block;
    s->load[done->core]--;
    s->last_end = done->cycle > s->last_end ? done->cycle : s->last_end;
    ls_link_release(link, 1);
    ls_cancel(&s->pump);
    if (++s->done < s->kernel.ctas) {
        ls_schedule(s->region, &s->pump, 0);
        return;
    }
    s->n.kernels++, s->n.active_cycles += s->last_end - s->begin;
    ls_domain_pending(ls_region_domain(s->region), -1);
    s->work.kernel_done(s->work.self, &s->kernel, s->begin, s->last_end);
    s->begin = LS_CYCLE_MAX;
    ls_domain_stop(ls_region_domain(s->region));
    next_kernel(s, now);
}

static void describe(const void *self, ls_dispatch_shape *out)
{
    (void)self, *out = (ls_dispatch_shape){ .launch_latency_cycles = LAUNCH_CYCLES, .kernel_slots = 1 };
}

static ls_status attach(void *self, const ls_dispatch_wiring *wiring, ls_error *err)
{
    state *s = self;
    uint32_t count = (uint32_t)(wiring->core_count * wiring->capacity.cta_slots);
    s->wiring = *wiring;
    s->load = ls_domain_alloc(ls_region_domain(s->region), wiring->core_count * sizeof *s->load);
    s->ctas = ls_domain_alloc(ls_region_domain(s->region), count * sizeof *s->ctas);
    s->free = ls_domain_alloc(ls_region_domain(s->region), count * sizeof *s->free);
    if (s->load == NULL || s->ctas == NULL || s->free == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the dispatcher");
    for (s->cta_count = s->free_count = count; count-- > 0; s->free[count] = count)
        wiring->launches->blocks[count] = &s->ctas[count];
    return LS_OK;
}

static void start(void *self, const ls_dispatch_work *work)
{
    ((state *)self)->work = *work;
    next_kernel(self, 0);
}

static void progress(const void *self, ls_dispatch_progress *out)
{
    const state *s = self;
    *out = (ls_dispatch_progress){ s->n.kernels, s->end, s->begin, s->failure.status ? &s->failure : NULL };
}

static ls_status init(ls_block *block, void *self, const void *spec, ls_error *err)
{
    state *s = self;
    s->region = ls_block_region(block);
    s->begin = LS_CYCLE_MAX;
    ls_event_init(&s->pump, pump, s);
    return (void)spec, (void)err, LS_OK;
}

static void fini(void *self)
{
    for (state *s = self; s->cta_count > 0;)
        ls_cta_fini(&s->ctas[--s->cta_count]);
}

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(struct counters, kernels, "kernels", "kernels run"),
    LS_METRIC_COUNTER(struct counters, active_cycles, "cycles", "with a kernel launched"),
};
static const ls_dispatch_ops ops = {
    describe, attach, receive, start, next_kernel, progress, ls_core_takes_no_kernel
};
static const ls_port_decl ports[] = { { LS_DISPATCH_PORT, LS_DISPATCH_INTERFACE, &ops, 0 } };
static const ls_block_type dispatch_fill = {
    .abi = LS_ABI_VERSION,
    .slot = LS_DISPATCH_SLOT,
    .name = "fill",
    .help = "one core full of thread blocks, then the next",
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
    .fini = fini,
};
LS_REGISTER_BLOCK(dispatch_fill);
