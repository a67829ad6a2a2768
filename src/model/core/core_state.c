/* core_state.c: the state table of the core (lockstep/state.h).
 *
 * Pointers into a kernel's instructions, a thread block's stream and hit rates are saved as places in them: the launch table
 * has the kernel and the block again when a state is loaded. A pointer that an ended block or kernel has left behind means
 * nothing to its core. It is saved as NULL. Tables of patterns of addresses only save work: a loaded core starts them anew. */
#include "lockstep/state.h"
#include "model/cache/tag_store_state.h"
#include "model/core/flow.h"
#include "model/core/options_state.h"

static uint64_t one(const void *self)
{
    (void)self;
    return 1;
}

/* ------------------------------------------------------------------------------------------------- launches */

static const ls_launch_kernel *kernel_of(const core *c, const core_launch *l)
{
    const ls_launch_kernel *k = l->kernel < LS_CORE_KERNELS ? &c->blocks.launches->kernels[l->kernel] : NULL;
    return k != NULL && k->insts != NULL && l->insts == k->insts ? k : NULL;
}

/* The block and its kernel have not ended, or only the block has and its row was not taken again. */
static bool launch_is_known(const core *c, const core_launch *l)
{
    const ls_launch_table *table = c->blocks.launches;
    return l->cta != NULL && kernel_of(c, l) != NULL && l->block < table->block_count &&
           table->blocks[l->block] == l->cta;
}

static uint64_t encode_launch(const void *state, const void *self, const void *pointer)
{
    (void)pointer;
    return launch_is_known(state, self);
}

static void *decode_cta(void *state, void *self, uint64_t code)
{
    const ls_launch_table *table = ((const core *)state)->blocks.launches;
    const core_launch *l = self;
    (void)code;
    return l->block < table->block_count && l->kernel < LS_CORE_KERNELS ? table->blocks[l->block] : NULL;
}

#define DECODE_OF_KERNEL(field_)                                                                              \
    static void *decode_##field_(void *state, void *self, uint64_t code)                                      \
    {                                                                                                         \
        (void)code;                                                                                           \
        const ls_launch_table *table = ((const core *)state)->blocks.launches;                                \
        return (void *)(uintptr_t)table->kernels[((const core_launch *)self)->kernel].field_;                 \
    }
DECODE_OF_KERNEL(insts)
DECODE_OF_KERNEL(info)
DECODE_OF_KERNEL(rates)

static const ls_state_row launch_rows[] = {
    LS_STATE_CODED(core_launch, cta, encode_launch, decode_cta),
    LS_STATE_CODED(core_launch, insts, encode_launch, decode_insts),
    LS_STATE_CODED(core_launch, info, encode_launch, decode_info),
    LS_STATE_DATA_SPAN(core_launch, block, depends),
    LS_STATE_CODED(core_launch, rates, encode_launch, decode_rates),
    LS_STATE_OWN(core_launch, counts), /* counts per instruction are not saved: refused by name */
};

static const ls_state_row cta_rows[] = {
    LS_STATE_DATA(cta_state, used),
    LS_STATE_PART(cta_state, launch, launch_rows),
    LS_STATE_DATA_SPAN(cta_state, start, signalled),
};

static const ls_state_row due_rows[] = {
    LS_STATE_DATA(ahead_due, start),
    LS_STATE_PART(ahead_due, launch, launch_rows),
};

static const ls_state_row ahead_rows[] = {
    LS_STATE_PARTS(core_ahead, waiting, launch_rows),
    LS_STATE_DATA_SPAN(core_ahead, head, tail),
    LS_STATE_PARTS(core_ahead, due, due_rows),
    LS_STATE_DATA_SPAN(core_ahead, due_count, most),
    LS_STATE_FIXED(core_ahead, delay),
    LS_STATE_EVENT(core_ahead, event),
};

static const ls_state_row block_rows[] = {
    LS_STATE_PARTS(thread_blocks, at, cta_rows),
    LS_STATE_DATA_SPAN(thread_blocks, resident, cold),
    LS_STATE_ARRAY_OF(thread_blocks, ahead, one, ahead_rows),
    LS_STATE_FIXED_SPAN(thread_blocks, launches, to_dispatch),
    LS_STATE_DATA_SPAN(thread_blocks, done_ring, done),
    LS_STATE_EVENT(thread_blocks, done_event),
    LS_STATE_DATA(thread_blocks, done_waiting),
};

/* --------------------------------------------------------------------------------------- warps and flights */

#define INSTS_MAX (1u << 24) /* of a kernel; real ones have thousands */

/* The launch of a warp's block; NULL: the block has ended. */
static const core_launch *launch_of(const core *c, const warp_state *w)
{
    const cta_state *cta = w->cta < CORE_CTAS_MAX ? &c->blocks.at[w->cta] : NULL;
    return cta != NULL && cta->used && cta->launch.cta != NULL ? &cta->launch : NULL;
}

/* Place + 1 of an element in an array; 0: it is none. */
static uint64_t place_in(const void *array, size_t bytes, uint64_t count, const void *element)
{
    uintptr_t distance = (uintptr_t)element - (uintptr_t)array;
    bool is_one = array != NULL && distance % bytes == 0 && distance / bytes < count;
    return is_one ? distance / bytes + 1 : 0;
}

static uint64_t encode_dyn_of(const core *c, const warp_state *w, const void *dyn)
{
    const core_launch *l = launch_of(c, w);
    return l == NULL ? 0 : place_in(l->cta->dyns, sizeof(ls_dyn), l->cta->dyn_count + 1, dyn);
}

static void *decode_dyn_of(const core *c, const warp_state *w, uint64_t code)
{
    const core_launch *l = launch_of(c, w);
    return l == NULL || code - 1 > l->cta->dyn_count ? NULL : &l->cta->dyns[code - 1];
}

static uint64_t encode_inst_of(const core *c, const warp_state *w, const void *inst)
{
    const core_launch *l = launch_of(c, w);
    return l == NULL ? 0 : place_in(l->insts, sizeof(ls_inst), INSTS_MAX, inst);
}

static void *decode_inst_of(const core *c, const warp_state *w, uint64_t code)
{
    const core_launch *l = launch_of(c, w);
    return l == NULL || code > INSTS_MAX ? NULL : (void *)(uintptr_t)&l->insts[code - 1];
}

static uint64_t encode_warp_dyn(const void *state, const void *self, const void *pointer)
{
    return encode_dyn_of(state, self, pointer);
}
static void *decode_warp_dyn(void *state, void *self, uint64_t code)
{
    return decode_dyn_of(state, self, code);
}
static uint64_t encode_warp_inst(const void *state, const void *self, const void *pointer)
{
    return encode_inst_of(state, self, pointer);
}
static void *decode_warp_inst(void *state, void *self, uint64_t code)
{
    return decode_inst_of(state, self, code);
}

static const ls_state_row warp_rows[] = {
    LS_STATE_CODED(warp_state, next, encode_warp_dyn, decode_warp_dyn),
    LS_STATE_CODED(warp_state, end, encode_warp_dyn, decode_warp_dyn),
    LS_STATE_CODED(warp_state, insts, encode_warp_inst, decode_warp_inst),
    LS_STATE_CODED(warp_state, head, encode_warp_inst, decode_warp_inst),
    LS_STATE_DATA_SPAN(warp_state, pending, busy_until),
};

/* A flight keeps its warp, and so its block, from ending. */
static uint64_t encode_flight_inst(const void *state, const void *self, const void *pointer)
{
    const core *c = state;
    return encode_inst_of(c, &c->front.warps[((const flight *)self)->warp], pointer);
}
static void *decode_flight_inst(void *state, void *self, uint64_t code)
{
    const core *c = state;
    return decode_inst_of(c, &c->front.warps[((const flight *)self)->warp % CORE_WARPS_MAX], code);
}
static uint64_t encode_flight_dyn(const void *state, const void *self, const void *pointer)
{
    const core *c = state;
    return encode_dyn_of(c, &c->front.warps[((const flight *)self)->warp], pointer);
}
static void *decode_flight_dyn(void *state, void *self, uint64_t code)
{
    const core *c = state;
    return decode_dyn_of(c, &c->front.warps[((const flight *)self)->warp % CORE_WARPS_MAX], code);
}

static const ls_state_row flight_rows[] = {
    LS_STATE_CODED(flight, inst, encode_flight_inst, decode_flight_inst),
    LS_STATE_CODED(flight, dyn, encode_flight_dyn, decode_flight_dyn),
    LS_STATE_DATA_SPAN(flight, mask, taken),
};

/* Entries from here on were never used. */
static uint64_t flight_length(const void *self)
{
    (void)self;
    return CORE_FLIGHTS;
}

static const ls_state_row flight_table_rows[] = {
    LS_STATE_ARRAY_OF(flight_table, at, flight_length, flight_rows),
    LS_STATE_DATA_SPAN(flight_table, free, issued),
};

/* ------------------------------------------------------------------------------------ front end, pipes, memory */

static const ls_state_row front_sub_rows[] = {
    LS_STATE_DATA_SPAN(front_sub, resident, age), LS_STATE_OWN(front_sub, charged), /* as core_launch.counts */
};

static const ls_state_row front_rows[] = {
    LS_STATE_FIXED_SPAN(front_end, scheduler, scheduler_kind),
    LS_STATE_PARTS(front_end, subs, front_sub_rows),
    LS_STATE_FIXED_SPAN(front_end, at, warp),
    LS_STATE_PARTS(front_end, warps, warp_rows),
    LS_STATE_DATA_SPAN(front_end, changed, turn),
};

static const ls_state_row pipe_rows[] = {
    LS_STATE_DATA(pipes, subs),
    LS_STATE_FIXED_SPAN(pipes, at, uneven),
    LS_STATE_DATA_SPAN(pipes, execute_at, wheel_count),
};

static uint64_t bank_length(const void *self)
{
    return (uint64_t)((const l1_bank *)self)->ring.mask + 1;
}
static uint64_t reply_length(const void *self)
{
    return (uint64_t)((const load_store *)self)->reply_ring.mask + 1;
}
static uint64_t out_length(const void *self)
{
    return (uint64_t)((const load_store *)self)->out_ring.mask + 1;
}

static const ls_state_row bank_rows[] = {
    LS_STATE_DATA(l1_bank, ring),
    LS_STATE_ARRAY(l1_bank, at, bank_length),
    LS_STATE_DATA(l1_bank, last_in),
};

static const ls_state_row ldst_rows[] = {
    LS_STATE_DATA(load_store, dispatch),
    LS_STATE_FIXED(load_store, patterns),
    LS_STATE_DATA_SPAN(load_store, sector_count, wb_turn),
    LS_STATE_PARTS(load_store, banks, bank_rows),
    LS_STATE_DATA_SPAN(load_store, queued_accesses, look_at),
    LS_STATE_FIXED_SPAN(load_store, l1, l1_latency_cycles),
    LS_STATE_DATA(load_store, reply_ring),
    LS_STATE_ARRAY(load_store, replies, reply_length),
    LS_STATE_FIXED_SPAN(load_store, map, remote_in_l2),
    LS_STATE_DATA(load_store, out_ring),
    LS_STATE_ARRAY(load_store, out, out_length),
    LS_STATE_ARRAY(load_store, out_channel, out_length),
    LS_STATE_EVENT(load_store, network_event),
    LS_STATE_DATA_SPAN(load_store, network_waiting, hold),
};

static const ls_state_row analytic_rows[] = {
    LS_STATE_FIXED_SPAN(analytic, machine, expected),
    LS_STATE_DATA_SPAN(analytic, unit_free, request_tail),
};

/* ----------------------------------------------------------------------------------------------- alu: issue */

/* The block of a warp has not ended. */
static bool flow_is_resident(const core *c, const flow_warp *w)
{
    for (uint32_t i = 0; i < CORE_CTAS_MAX; i++)
        if (w->launch == &c->blocks.at[i].launch)
            return c->blocks.at[i].used && launch_is_known(c, w->launch);
    return false;
}

static uint64_t encode_flow_addrs(const void *state, const void *self, const void *pointer)
{
    const flow_warp *w = self;
    return flow_is_resident(state, w) && w->launch->cta->addrs == pointer;
}
static void *decode_flow_addrs(void *state, void *self, uint64_t code)
{
    const flow_warp *w = self;
    (void)state;
    (void)code;
    return w->launch != NULL && w->launch->cta != NULL ? w->launch->cta->addrs : NULL;
}
static uint64_t encode_flow_moves(const void *state, const void *self, const void *pointer)
{
    const flow_warp *w = self;
    return flow_is_resident(state, w) && w->launch->cta->moves == pointer;
}
static void *decode_flow_moves(void *state, void *self, uint64_t code)
{
    const flow_warp *w = self;
    (void)state;
    (void)code;
    return w->launch != NULL && w->launch->cta != NULL ? w->launch->cta->moves : NULL;
}

static const ls_state_row flow_warp_rows[] = {
    LS_STATE_DATA(flow_warp, key),
    LS_STATE_OWN(flow_warp, launch),
    LS_STATE_CODED(flow_warp, addrs, encode_flow_addrs, decode_flow_addrs),
    LS_STATE_CODED(flow_warp, moves, encode_flow_moves, decode_flow_moves),
    LS_STATE_DATA_SPAN(flow_warp, started, flight),
};

/* The kernel whose program this is; LS_CORE_KERNELS: it has ended. */
static uint32_t kernel_with(const core *c, const ls_inst *insts)
{
    uint32_t k = 0;
    while (k < LS_CORE_KERNELS && (insts == NULL || c->blocks.launches->kernels[k].insts != insts))
        k++;
    return k;
}

static uint64_t encode_program(const void *state, const void *self, const void *pointer)
{
    uint32_t k = kernel_with(state, pointer);
    (void)self;
    return k < LS_CORE_KERNELS ? (uint64_t)k + 1 : 0;
}
static void *decode_program(void *state, void *self, uint64_t code)
{
    (void)self;
    return code > LS_CORE_KERNELS
               ? NULL
               : (void *)(uintptr_t)((const core *)state)->blocks.launches->kernels[code - 1].insts;
}

/* The lower half of a key is the place of the instruction in its program. */
static const ls_inst *first_of(const flow_inst *d)
{
    return d->inst == NULL || d->key == 0
               ? NULL
               : (const ls_inst *)((uintptr_t)d->inst - (uintptr_t)(uint32_t)d->key * sizeof *d->inst);
}

static uint64_t encode_flow_inst(const void *state, const void *self, const void *pointer)
{
    (void)pointer;
    return encode_program(state, self, first_of(self));
}
static void *decode_flow_inst(void *state, void *self, uint64_t code)
{
    const ls_inst *insts = decode_program(state, self, code);
    uint32_t place = (uint32_t)((const flow_inst *)self)->key;
    return insts == NULL || place >= INSTS_MAX ? NULL : (void *)(uintptr_t)&insts[place];
}

#define OTHER_RATE UINT32_MAX

/* The kernel in the upper half, the place in its rates in the lower one. */
static uint64_t encode_rate(const void *state, const void *self, const void *pointer)
{
    const core *c = state;
    uint32_t k = kernel_with(c, first_of(self));
    const rates_kernel *rates = k < LS_CORE_KERNELS ? c->blocks.launches->kernels[k].rates : NULL;
    if (rates == NULL)
        return 0;
    uint64_t place =
        pointer == &rates->other ? OTHER_RATE : place_in(rates->at, sizeof *rates->at, rates->count, pointer);
    return place == 0 ? 0 : ((uint64_t)k + 1) << 32 | place;
}
static void *decode_rate(void *state, void *self, uint64_t code)
{
    uint64_t k = (code >> 32) - 1, place = code & UINT32_MAX;
    const rates_kernel *rates =
        k < LS_CORE_KERNELS ? ((const core *)state)->blocks.launches->kernels[k].rates : NULL;
    (void)self;
    if (rates == NULL || (place != OTHER_RATE && place - 1 >= rates->count))
        return NULL;
    return (void *)(uintptr_t)(place == OTHER_RATE ? &rates->other : &rates->at[place - 1]);
}

static const ls_state_row flow_inst_rows[] = {
    LS_STATE_DATA(flow_inst, key),
    LS_STATE_CODED(flow_inst, inst, encode_flow_inst, decode_flow_inst),
    LS_STATE_DATA_SPAN(flow_inst, uses, unit_bit),
    LS_STATE_CODED(flow_inst, rate, encode_rate, decode_rate),
    LS_STATE_DATA_SPAN(flow_inst, space, partial),
};

static uint64_t flow_inst_length(const void *self)
{
    (void)self;
    return FLOW_INSTS;
}

static const ls_state_row flow_rows[] = {
    LS_STATE_DATA_SPAN(flow, next, subs),
    LS_STATE_PARTS(flow, warps, flow_warp_rows),
    LS_STATE_DATA_SPAN(flow, barrier_at, ended),
    LS_STATE_FIXED_SPAN(flow, port_shift, collectors),
    LS_STATE_DATA(flow, kernel),
    LS_STATE_CODED(flow, kernel_insts, encode_program, decode_program),
    LS_STATE_DATA_SPAN(flow, horizon, reasons),
    LS_STATE_FIXED_SPAN(flow, shapes, shaped),
    LS_STATE_DATA_SPAN(flow, insts_used, ready),
    LS_STATE_ARRAY_OF(flow, insts, flow_inst_length, flow_inst_rows),
    LS_STATE_FIXED(flow, unit),
    LS_STATE_ARRAY(flow, simulated, one),
};

/* -------------------------------------------------------------------------------------------------- options */

static uint64_t miss_length(const void *self)
{
    return ((const readonly *)self)->total;
}
static uint64_t look_length(const void *self)
{
    return (uint64_t)((const readonly *)self)->look_ring.mask + 1;
}
static uint64_t send_length(const void *self)
{
    return (uint64_t)((const readonly *)self)->send_ring.mask + 1;
}
static uint64_t l0_lines(const void *self)
{
    return tag_store_count(&((const readonly *)self)->l0[0]);
}

#define PREFETCHED_ROW(i_)                                                                                    \
    {                                                                                                         \
        LS_STATE_ROW_(readonly, prefetched[i_], LS_STATE_KIND_ARRAY), .element = sizeof(bool),                \
                                                                      .length = l0_lines                      \
    }

static const ls_state_row readonly_rows[] = {
    LS_STATE_FIXED_SPAN(readonly, spec, sectors),
    LS_STATE_PARTS(readonly, l0, tag_store_rows),
    LS_STATE_PART(readonly, l1, tag_store_rows),
    PREFETCHED_ROW(0),
    PREFETCHED_ROW(1),
    PREFETCHED_ROW(2),
    PREFETCHED_ROW(3),
    LS_STATE_ARRAY(readonly, misses, miss_length),
    LS_STATE_ARRAY(readonly, fills, miss_length),
    LS_STATE_FIXED(readonly, total),
    LS_STATE_DATA_SPAN(readonly, look_ring, send_ring),
    LS_STATE_ARRAY(readonly, looks, look_length),
    LS_STATE_ARRAY(readonly, sends, send_length),
    LS_STATE_DATA(readonly, look_free),
    LS_STATE_FIXED(readonly, filled),
};

static const ls_state_row icache_rows[] = {
    LS_STATE_PART(icache, levels, readonly_rows),
    LS_STATE_DATA_SPAN(icache, base, parked),
};

static const ls_state_row ccache_rows[] = {
    LS_STATE_PART(ccache, levels, readonly_rows),
    LS_STATE_DATA_SPAN(ccache, base, parked),
};

static const ls_state_row tlb_rows[] = {
    LS_STATE_FIXED_SPAN(tlb, spec, page_shift),
    LS_STATE_PART(tlb, l1, tag_store_rows),
    LS_STATE_PART(tlb, l2, tag_store_rows),
    LS_STATE_DATA_SPAN(tlb, miss_count, walker_free),
};

static uint64_t waiting_length(const void *self)
{
    return ((const translate *)self)->capacity;
}

static const ls_state_row translate_rows[] = {
    LS_STATE_PART(translate, tlb, tlb_rows),
    LS_STATE_ARRAY(translate, at, waiting_length),
    LS_STATE_DATA(translate, count),
    LS_STATE_FIXED(translate, capacity),
};

static const ls_state_row lane_rows[] = {
    LS_STATE_DATA_SPAN(cga_lane, ring, out),
    LS_STATE_EVENT(cga_lane, event),
    LS_STATE_DATA(cga_lane, waits),
};

static const ls_state_row cga_rows[] = {
    LS_STATE_FIXED_SPAN(cga, to_cores, width),
    LS_STATE_DATA_SPAN(cga, blocks, wire),
    LS_STATE_PARTS(cga, lanes, lane_rows),
    LS_STATE_DATA_SPAN(cga, token_ring, stalled),
};

static const ls_state_row option_rows[] = {
    LS_STATE_FIXED_SPAN(core_options, any, due), /* it looks at once */
    LS_STATE_ARRAY_OF(core_options, icache, one, icache_rows),
    LS_STATE_ARRAY_OF(core_options, ccache, one, ccache_rows),
    LS_STATE_ARRAY_OF(core_options, translate, one, translate_rows),
    LS_STATE_ARRAY(core_options, fences, one),
    LS_STATE_ARRAY_OF(core_options, cga, one, cga_rows),
    LS_STATE_ARRAY(core_options, wgmma, one),
};

static const ls_state_row async_rows[] = {
    LS_STATE_FIXED(core_async, spec),
    LS_STATE_EVENT(core_async, event),
    LS_STATE_DATA_SPAN(core_async, mbarriers, acts),
};

/* Blocks before the warps, and warps before the flights: pointers of later ones follow from earlier ones. */
const ls_state_row core_state_rows[CORE_STATE_ROWS] = {
    LS_STATE_FIXED_SPAN(core, spec, ticker),
    LS_STATE_EVENT(core, timer),
    LS_STATE_DATA_SPAN(core, now, dozing),
    LS_STATE_FIXED(core, alu),
    LS_STATE_PART(core, blocks, block_rows),
    LS_STATE_PART(core, front, front_rows),
    LS_STATE_PART(core, flights, flight_table_rows),
    LS_STATE_PART(core, pipes, pipe_rows),
    LS_STATE_PART(core, ldst, ldst_rows),
    LS_STATE_ARRAY_OF(core, flow, one, flow_rows),
    LS_STATE_ARRAY_OF(core, analytic, one, analytic_rows),
    LS_STATE_PART(core, options, option_rows),
    LS_STATE_ARRAY_OF(core, async, one, async_rows),
    LS_STATE_DATA(core, n),
    { LS_STATE_ROW_(core, kernel_banks, LS_STATE_KIND_ARRAY), .element = 1, .length = banks_bytes },
    LS_STATE_DATA_SPAN(core, mixed, counted),
    LS_STATE_DATA_SPAN(core, tap_requests, tap_states),
};
