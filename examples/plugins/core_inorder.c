/* core_inorder.c: a core that runs one thread block at a time. Each cycle it issues an instruction of one warp
 * or sends the request for one sector; warps take turns. An instruction takes a fixed time; an access to
 * memory waits for all of its sectors: there is no L1. Barriers, registers and units cost nothing. */
#include "lockstep/core.h"

#define WARPS 32u
#define LATENCY_CYCLES 6u /* of an instruction */
typedef struct warp {
    const ls_dyn *next, *end;
    ls_cycle ready;
    uint32_t lanes, answers; /* lanes whose sectors are to be sent; answers that it waits for */
} warp;

typedef struct state {
    ls_region *region;
    ls_ticker ticker;
    ls_core_wiring wiring;
    ls_core_launch block;
    const ls_cta *cta; /* of the block; NULL: there is none */
    const ls_inst *insts;
    ls_cycle start;
    warp warps[WARPS];
    uint32_t turn;
    struct counters {
        uint64_t instructions, sectors;
    } n;
} state;

/* The sector of the first lane that is left, for all lanes that touch it. */
static void send_sector(state *s, uint32_t index)
{
    warp *w = &s->warps[index];
    const ls_dyn *dyn = w->next - 1;
    uint64_t at[32];
    ls_cta_addresses(s->cta, dyn, at);
    uint64_t sector = at[__builtin_ctz(w->lanes)] / LS_SECTOR_BYTES * LS_SECTOR_BYTES;
    ls_sector_place place = ls_address_map_place(s->wiring.map, sector);
    ls_sector_message *message = ls_link_send(s->wiring.to_memory[place.channel], 1);
    if (message == NULL)
        return; /* again in its next turn */
    uint8_t op = s->insts[dyn->inst].mem_op;
    uint8_t kind = op == LS_MEM_LOAD    ? LS_SECTOR_READ
                   : op == LS_MEM_STORE ? LS_SECTOR_WRITE
                                        : LS_SECTOR_ATOMIC;
    *message = (ls_sector_message){
        sector,       place.local,   UINT32_MAX, index, (uint16_t)s->wiring.id, LS_SECTOR_SLICE(place.slice),
        .kind = kind, .global = true
    };
    for (uint32_t lane = 0; lane < 32; lane++)
        if ((w->lanes >> lane & 1) != 0 && at[lane] - sector < LS_SECTOR_BYTES)
            w->lanes ^= 1u << lane;
    w->answers++;
    s->n.sectors++;
}

static void issue(state *s, warp *w, ls_cycle now)
{
    const ls_dyn *dyn = w->next++;
    uint8_t space = s->insts[dyn->inst].space;
    if (dyn->addr != LS_ADDR_NONE && (space == LS_SPACE_GLOBAL || space == LS_SPACE_LOCAL))
        w->lanes = dyn->mask;
    w->ready = now + LATENCY_CYCLES;
    s->n.instructions++;
}

static bool tick(void *self, ls_cycle now)
{
    state *s = self;
    bool busy = false, acted = false;
    for (uint32_t tried = 0; tried < WARPS && !acted; tried++) {
        uint32_t index = s->turn = (s->turn + 1) % WARPS;
        warp *w = &s->warps[index];
        busy = busy || w->next < w->end || w->lanes != 0 || w->answers > 0 || w->ready > now;
        acted = w->ready <= now && (w->lanes != 0 || (w->answers == 0 && w->next < w->end));
        if (acted && w->lanes != 0)
            send_sector(s, index);
        else if (acted)
            issue(s, w, now);
    }
    ls_core_done *done = busy || s->cta == NULL ? NULL : ls_link_send(s->wiring.to_dispatch, 1);
    if (done != NULL) {
        *done = (ls_core_done){ s->block.block, s->block.kernel, (uint16_t)s->wiring.id, s->start, now, 0 };
        s->cta = NULL;
        ls_domain_pending(ls_region_domain(s->region), -1);
    }
    return s->cta != NULL;
}

static void receive_launch(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    const ls_core_launch launch = *(const ls_core_launch *)payload;
    ls_link_release(link, 1);
    if (launch.block != LS_LAUNCH_NONE && s->cta != NULL)
        ls_domain_fail(ls_region_domain(s->region), "core/inorder got a block before the last one ended");
    if (launch.block == LS_LAUNCH_NONE || s->cta != NULL)
        return; /* without a block: news for cores that share bandwidth by a formula */
    const ls_cta *cta = s->cta = s->wiring.launches->blocks[launch.block];
    s->insts = s->wiring.launches->kernels[launch.kernel].insts;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const ls_dyn *first = cta->dyns + cta->warps[i].first;
        s->warps[i] = (warp){ first, first + cta->warps[i].count, now, 0, 0 };
    }
    s->block = launch, s->start = now;
    ls_domain_pending(ls_region_domain(s->region), 1);
    ls_ticker_wake(&s->ticker);
}

static void receive_reply(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    ((state *)self)->warps[((const ls_sector_message *)payload)->token].answers--;
    (void)now, ls_link_release(link, 1);
}

static void describe(const void *self, ls_core_shape *out)
{
    (void)self, *out = (ls_core_shape){ .capacity = { WARPS, 1, 65536, 102400, 8 } };
}

static ls_status attach(void *self, const ls_core_wiring *wiring, ls_error *err)
{
    ((state *)self)->wiring = *wiring;
    return wiring->refill_cycles > 0 ? ls_fail(err, LS_ERR_INPUT, "refill_latency_cycles must be 0") : LS_OK;
}

static ls_status init(ls_block *block, void *self, const void *spec, ls_error *err)
{
    state *s = self;
    s->region = ls_block_region(block);
    return (void)spec, ls_ticker_add(s->region, &s->ticker, tick, s, err);
}

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(struct counters, instructions, "instructions", "issued by warps"),
    LS_METRIC_COUNTER(struct counters, sectors, "sectors", "requested from L2"),
};
static const ls_core_ops ops = {
    describe, attach, receive_launch, receive_reply, ls_core_takes_no_kernel, ls_core_counts_no_work, NULL
};
static const ls_port_decl ports[] = { { .name = LS_CORE_PORT, .interface = LS_CORE_INTERFACE, .ops = &ops } };
static const ls_block_type core_inorder = {
    .abi = LS_ABI_VERSION,
    .slot = LS_CORE_SLOT,
    .name = "inorder",
    .help = "one instruction or request per cycle, warps in turn",
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
};
LS_REGISTER_BLOCK(core_inorder);
