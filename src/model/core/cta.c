/* cta.c: thread blocks on a core: arrival, resources, barriers and completion. */
#include "model/core/cga.h"
#include "model/core/flow.h"
#include "model/core/l1.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------ arrival */

/* Slots side by side; those of resident warps are among the taken ones. */
static uint32_t find_warps(const core *c, uint32_t count)
{
    uint64_t slots = c->spec->warp_slots >= 64 ? UINT64_MAX : (UINT64_C(1) << c->spec->warp_slots) - 1;
    uint64_t run = slots & ~c->blocks.taken_warps; /* slots at which so many free ones begin, first 1 */
    for (uint32_t length = 1; length < count;) {
        uint32_t more = length < count - length ? length : count - length;
        run &= run >> more;
        length += more;
    }
    return run == 0 ? UINT32_MAX : (uint32_t)__builtin_ctzll(run);
}

/* The first cycle in which the core's next warp fetches: warps start one after another, and none before the
 * kernel's first instructions are there. */
static ls_cycle warp_start(core *c, const core_launch *launch)
{
    ls_cycle now = ls_region_now(c->region), start = now > c->blocks.start_free ? now : c->blocks.start_free;
    c->blocks.start_free = start + c->spec->warp_start_cycles;
    if (c->blocks.cold[launch->kernel].number != launch->number) {
        c->blocks.cold[launch->kernel].number = launch->number;
        c->blocks.cold[launch->kernel].until = now + c->spec->cold_start_cycles;
    }
    ls_cycle there = c->blocks.cold[launch->kernel].until;
    return start > there ? start : there;
}

static void start_warp(core *c, uint32_t warp, uint32_t slot, const ls_warp_stream *stream)
{
    cta_state *cta = &c->blocks.at[slot];
    warp_state *w = &c->front.warps[warp];
    front_sub *s = &c->front.subs[warp_sub(c, warp)];
    memset(w, 0, sizeof *w);
    w->insts = cta->launch.insts;
    w->next = cta->launch.cta->dyns + stream->first;
    w->end = w->next + stream->count;
    w->cta = (uint16_t)slot;
    s->age[warp / c->sub_count] = c->blocks.warps_started++;
    if (stream->count == 0)
        return;
    w->resident = true;
    c->front.changed |= 1u << warp_sub(c, warp);
    cta->warps_left++;
    c->blocks.warps++;
    s->resident |= warp_bit(c, warp);
    if (ls_tap_wants(c->tap, LS_TAP_WARP))
        core_tap_warp(c, warp, LS_TAP_BEGIN, ls_region_now(c->region));
    ls_cycle start = warp_start(c, &cta->launch);
    if (start > ls_region_now(c->region))
        front_hold(c, warp, start);
    else
        c->front.need_fetch |= UINT64_C(1) << warp;
}

void cta_refuse(core *c)
{
    ls_domain_fail(c->domain,
                   "the model of slot 'dispatch' sent a thread block to a core that has no room for it");
}

static uint64_t registers_of(const core *c, const ls_kernel_info *info)
{
    uint64_t unit = c->spec->register_unit;
    return allocation_units(info->registers, unit) * unit * ls_kernel_warps(info) * 32;
}

/* The dispatcher counts as well; this is for one that does not. */
static bool has_room(const core *c, const ls_kernel_info *info)
{
    uint64_t registers = registers_of(c, info), shared_bytes = info->shared_bytes;
    if (c->blocks.resident >= c->spec->cta_slots)
        return false;
    for (uint32_t i = 0; i < CORE_CTAS_MAX; i++)
        if (c->blocks.at[i].used) {
            registers += registers_of(c, c->blocks.at[i].launch.info);
            shared_bytes += c->blocks.at[i].launch.info->shared_bytes;
        }
    return registers <= c->spec->registers && shared_bytes <= c->spec->shared_kib * 1024;
}

void cta_start(core *c, const core_launch *launch)
{
    uint32_t slot = 0;
    while (slot < CORE_CTAS_MAX && c->blocks.at[slot].used)
        slot++;
    uint32_t warps = (ls_kernel_threads(launch->info) + 31) / 32;
    uint32_t first = find_warps(c, warps);
    if (slot == CORE_CTAS_MAX || first == UINT32_MAX || !has_room(c, launch->info)) {
        cta_refuse(c);
        return;
    }
    if (c->blocks.resident == 0)
        l1_begin_block(c, (uint64_t)launch->info->shared_bytes * launch->ctas_per_core);
    cta_state *cta = &c->blocks.at[slot];
    c->blocks.last_start = ls_region_now(c->region);
    *cta = (cta_state){ .used = true,
                        .launch = *launch,
                        .start = ls_region_now(c->region),
                        .first_warp = (uint16_t)first,
                        .warp_count = (uint16_t)warps };
    c->blocks.resident++;
    if (c->options.any)
        options_start_cta(c, slot);
    if (c->options.cga != NULL)
        cga_start_block(c, slot);
    if (c->async != NULL)
        async_start_cta(c, slot);
    if (c->kernel_banks != NULL) {
        banks_blocks_changed(c, launch);
        banks_count_for(c, launch->kernel);
    }
    core_counts_begin(c, launch);
    core_set_apart(c);
    c->n.ctas++;
    if (ls_tap_wants(c->tap, LS_TAP_GROUP))
        core_tap_group(c, slot, LS_TAP_BEGIN);
    for (uint32_t w = 0; w < warps; w++) {
        static const ls_warp_stream empty = { 0 };
        c->blocks.taken_warps |= UINT64_C(1) << (first + w);
        start_warp(c, first + w, slot, w < launch->cta->warp_count ? &launch->cta->warps[w] : &empty);
    }
    if (cta->warps_left == 0)
        cta_finish(c, slot);
}

static core_launch find_launch(const ls_launch_table *table, const ls_core_launch *message)
{
    const ls_launch_kernel *kernel = &table->kernels[message->kernel];
    return (core_launch){ .cta = table->blocks[message->block],
                          .insts = kernel->insts,
                          .info = kernel->info,
                          .block = message->block,
                          .kernel = message->kernel,
                          .number = message->number,
                          .ctas_per_core = message->ctas_per_core,
                          .cores = message->cores,
                          .cluster = message->cluster,
                          .depends = message->depends,
                          .rates = kernel->rates,
                          .counts = kernel->counts };
}

/* The kernel before has ended, and all that it wrote is there. */
static void end_dependence(core *c, uint32_t kernel)
{
    for (uint32_t i = 0; i < CORE_CTAS_MAX; i++) {
        cta_state *cta = &c->blocks.at[i];
        if (!cta->used || cta->launch.kernel != kernel)
            continue;
        cta->launch.depends = LS_DEPENDS_NOT;
        for (uint32_t w = cta->first_warp; w < (uint32_t)cta->first_warp + cta->warp_count; w++)
            if (front_waits_for(c, w) == FRONT_WAIT_KERNEL)
                front_let_go(c, w, ls_region_now(c->region));
    }
    ls_ticker_wake(&c->ticker);
}

void cta_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    core *c = self;
    const ls_core_launch *message = payload;
    (void)now;
    if (message->block == LS_LAUNCH_NONE && message->depends == LS_DEPENDS_END) {
        end_dependence(c, message->kernel);
        ls_link_release(link, 1);
        return;
    }
    if (message->block == LS_LAUNCH_NONE) {
        for (uint32_t i = 0; i < CORE_CTAS_MAX; i++)
            if (c->blocks.at[i].used && c->blocks.at[i].launch.kernel == message->kernel)
                c->blocks.at[i].launch.cores = message->cores;
        if (c->blocks.ahead != NULL)
            ahead_shares(c, message->kernel, message->cores);
        ls_link_release(link, 1);
        return;
    }
    const core_launch launch = find_launch(c->blocks.launches, message);
    ls_domain_pending(c->domain, 1);
    if (c->blocks.ahead == NULL || !ahead_arrives(c, &launch))
        cta_start(c, &launch);
    ls_link_release(link, 1);
    ls_ticker_wake(&c->ticker);
}

/* --------------------------------------------------------------------------------------------- completion */

static void send_done(core *c)
{
    while (!ring_empty(&c->blocks.done_ring)) {
        ls_core_done *message = ls_link_send(c->blocks.to_dispatch, 1);
        if (message == NULL) {
            if (!c->blocks.done_waiting) {
                c->blocks.done_waiting = true;
                ls_link_wait(c->blocks.to_dispatch, &c->blocks.done_event);
            }
            return;
        }
        *message = c->blocks.done[ring_pop(&c->blocks.done_ring)];
    }
}

static void done_event(void *self, ls_cycle now)
{
    core *c = self;
    (void)now;
    c->blocks.done_waiting = false;
    send_done(c);
}

/* The block lets the next kernel of its stream start; once is enough. */
void cta_signal(core *c, uint32_t slot)
{
    cta_state *cta = &c->blocks.at[slot];
    if (cta->signalled)
        return;
    cta->signalled = true;
    c->blocks.done[ring_push(&c->blocks.done_ring)] = (ls_core_done){
        .block = cta->launch.block, .kernel = cta->launch.kernel, .core = (uint16_t)c->id, .signals = true
    };
    if (!c->blocks.done_waiting)
        send_done(c);
}

void cta_init(core *c)
{
    ls_event_init(&c->blocks.done_event, done_event, c);
    ring_init(&c->blocks.done_ring, CORE_CTAS_MAX * 2);
}

void cta_finish(core *c, uint32_t slot)
{
    cta_state *cta = &c->blocks.at[slot];
    for (uint32_t w = 0; w < cta->warp_count; w++)
        c->blocks.taken_warps &= ~(UINT64_C(1) << (cta->first_warp + w));
    cta->used = false;
    c->blocks.resident--;
    if (c->options.cga != NULL)
        cga_end_block(c, slot);
    if (c->async != NULL)
        async_end_cta(c, slot);
    if (ls_tap_wants(c->tap, LS_TAP_GROUP))
        core_tap_group(c, slot, LS_TAP_END);
    ls_domain_pending(c->domain, -1);
    c->blocks.done[ring_push(&c->blocks.done_ring)] = (ls_core_done){ .block = cta->launch.block,
                                                                      .kernel = cta->launch.kernel,
                                                                      .core = (uint16_t)c->id,
                                                                      .start = cta->start,
                                                                      .cycle = ls_region_now(c->region) };
    if (c->kernel_banks != NULL)
        banks_blocks_changed(c, &cta->launch);
    if (c->blocks.ahead != NULL)
        ahead_ended(c, cta->launch.kernel);
    if (c->blocks.resident == 0 && !ahead_waits(c))
        l1_end_blocks(c);
    if (!c->blocks.done_waiting)
        send_done(c);
}

/* ----------------------------------------------------------------------------------------------- barriers */

static void leave_barrier(core *c, uint32_t warp)
{
    c->front.subs[warp_sub(c, warp)].barrier &= ~warp_bit(c, warp);
    c->front.warps[warp].barrier_name = 0;
}

/* Named barriers at which all have arrived. */
void cta_release_named(core *c, cta_state *cta)
{
    for (uint32_t left = cta->named_used; left != 0; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(left);
        uint32_t need = cta->named_need[id] != 0 ? cta->named_need[id] : cta->warps_left;
        if (cta->named[id] < need)
            continue;
        cta->named[id] = 0;
        cta->named_used &= (uint16_t) ~(1u << id);
        c->front.changed |= (1u << c->sub_count) - 1;
        for (uint32_t w = cta->first_warp; w < (uint32_t)cta->first_warp + cta->warp_count; w++)
            if (c->front.warps[w].barrier_name == id + 1) {
                leave_barrier(c, w);
                if (c->flow != NULL)
                    flow_leave_barrier(c, w, cta->named_at[id]);
            }
    }
}

static void release_barrier(core *c, cta_state *cta)
{
    if (LS_UNLIKELY(cta->named_used != 0) && c->flow == NULL)
        cta_release_named(c, cta);
    if (c->flow != NULL) {
        if (cta->named_used != 0 || (cta->at_barrier != 0 && cta->at_barrier >= cta->warps_left))
            flow_left_barrier(c, (uint32_t)(cta - c->blocks.at));
        return;
    }
    if (cta->at_barrier == 0 || cta->at_barrier < cta->warps_left)
        return;
    cta->at_barrier = 0;
    c->front.changed |= (1u << c->sub_count) - 1;
    for (uint32_t w = cta->first_warp; w < (uint32_t)cta->first_warp + cta->warp_count; w++)
        if (c->front.warps[w].barrier_name == 0)
            leave_barrier(c, w);
}

/* The number of a barrier of its own, from 0, or CORE_NAMED: that of the block, for all its warps. Older traces name
 * none, and Accel-Sim takes all for one. */
uint32_t cta_barrier_name(const core *c, const cta_state *cta, const ls_inst *inst, const ls_dyn *dyn)
{
    if (inst->barrier_form == LS_BARRIER_UNNAMED || c->spec->accelsim_rules)
        return CORE_NAMED;
    uint32_t id = inst->barrier_id;
    if (inst->barrier_form == LS_BARRIER_REGISTER) {
        const uint64_t *record = ls_cta_record(cta->launch.cta, dyn);
        id = record != NULL ? (uint32_t)record[1] % CORE_NAMED : 0;
    }
    bool whole = inst->barrier_warps == 0 || inst->barrier_warps >= cta->warp_count;
    return id == 0 && whole ? CORE_NAMED : id;
}

void cta_arrive_named(core *c, cta_state *cta, uint32_t warp, uint32_t id, uint32_t need, bool waits)
{
    if (waits) {
        c->front.subs[warp_sub(c, warp)].barrier |= warp_bit(c, warp);
        c->front.warps[warp].barrier_name = (uint8_t)(id + 1);
    }
    cta->named_used |= (uint16_t)(1u << id);
    cta->named_need[id] = (uint8_t)need;
    cta->named[id]++;
}

/* A warp that only arrives does not wait. */
void cta_barrier(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn)
{
    cta_state *cta = &c->blocks.at[c->front.warps[warp].cta];
    bool waits = (inst->flags & LS_INST_ARRIVE) == 0 || c->spec->accelsim_rules;
    uint32_t id = cta_barrier_name(c, cta, inst, dyn);
    if (LS_UNLIKELY(id != CORE_NAMED)) {
        cta_arrive_named(c, cta, warp, id, inst->barrier_warps, waits);
    } else {
        if (waits)
            c->front.subs[warp_sub(c, warp)].barrier |= warp_bit(c, warp);
        cta->at_barrier++;
    }
    release_barrier(c, cta);
}

/* A warp whose stream ends at a barrier has left it. */
void cta_leave_at_end(core *c, cta_state *cta, uint32_t warp)
{
    uint32_t name = c->front.warps[warp].barrier_name;
    leave_barrier(c, warp);
    if (name != 0)
        cta->named[name - 1]--;
    else
        cta->at_barrier--;
}

/* A warp ends at the end of its stream, once everything it started is done. */
void cta_warp_maybe_done(core *c, uint32_t warp)
{
    warp_state *w = &c->front.warps[warp];
    if (!w->resident || w->next != w->end || w->in_flight != 0 || w->stores != 0 || w->atomics != 0 ||
        w->busy_until > c->now)
        return;
    front_sub *s = &c->front.subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp);
    w->resident = false;
    if (ls_tap_wants(c->tap, LS_TAP_WARP))
        core_tap_warp(c, warp, LS_TAP_END, c->now);
    c->front.changed |= 1u << warp_sub(c, warp);
    s->resident &= ~bit;
    s->buffered &= ~bit;
    s->blocked &= ~bit;
    s->fence &= ~bit;
    s->async &= ~bit;
    s->elsewhere &= ~bit;
    s->mbarrier &= ~bit;
    c->blocks.warps--;
    cta_state *cta = &c->blocks.at[w->cta];
    cta->warps_left--;
    if (OPTION_ON(c->options.any))
        options_end_warp(c, warp);
    if ((s->barrier & bit) != 0)
        cta_leave_at_end(c, cta, warp);
    release_barrier(c, cta);
    if (cta->warps_left == 0)
        cta_finish(c, w->cta);
}
