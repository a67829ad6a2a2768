/* cu_fixed.c: a compute unit in which every work-group takes the same time and computes nothing: the bound that the
 * command processor sets. Memory keeps its contents, so programs that check their results find none; cu_inorder.c executes.
 *
 * It shows the interface of lockstep/cu.h: a capacity for the dispatcher, launches in, ends out over a link. */
#include "lockstep/cu.h"

#define GROUPS 40u

typedef struct spec {
    uint64_t group_cycles;
} spec;

typedef struct counters {
    uint64_t work_groups, wavefronts;
} counters;

typedef struct group {
    ls_cu_done done;
    ls_cycle due;
} group;

typedef struct state {
    const spec *spec;
    ls_region *region;
    ls_link *to_command;
    uint16_t cluster, index;
    group ring[GROUPS]; /* in the order of arrival, which is that of `due` */
    uint32_t first, count;
    ls_event event;
    counters n;
} state;

/* A CU of GCN. */
static void capacity(const void *self, ls_cu_capacity *out)
{
    (void)self;
    *out = (ls_cu_capacity){ .simds = 4,
                             .waves_per_simd = 10,
                             .groups = GROUPS,
                             .vgprs_per_simd = 1024,
                             .vgpr_unit = 16,
                             .lds_bytes = 65536,
                             .lds_unit = 256,
                             .lane_width = 16,
                             .halves = 1,
                             .barriers = GROUPS };
}

static ls_status attach(void *self, const ls_cu_wiring *wiring, ls_error *err)
{
    state *s = self;
    (void)err;
    s->to_command = wiring->to_command;
    s->cluster = (uint16_t)wiring->cluster;
    s->index = (uint16_t)wiring->index;
    return LS_OK;
}

/* Sends the ends that are due. The compute units of a cluster share the link: this one may have to wait. */
static void end_groups(void *self, ls_cycle now)
{
    state *s = self;
    for (; s->count > 0; s->count--, s->first = (s->first + 1) % GROUPS) {
        const group *g = &s->ring[s->first];
        if (g->due > now) {
            ls_schedule_at(s->region, &s->event, g->due);
            return;
        }
        if (!ls_link_ready(s->to_command)) {
            ls_link_wait(s->to_command, &s->event);
            return;
        }
        *(ls_cu_done *)ls_link_send(s->to_command, sizeof g->done) = g->done;
    }
}

static void receive_launch(void *self, const ls_cu_launch *launch, ls_cycle now)
{
    state *s = self;
    group *g = &s->ring[(s->first + s->count) % GROUPS];
    *g = (group){ .done = { .kernel = launch->kernel,
                            .cu = s->index,
                            .slot = launch->slot,
                            .cluster = s->cluster,
                            .id = { launch->id[0], launch->id[1], launch->id[2] } },
                  .due = now + s->spec->group_cycles };
    s->n.work_groups++;
    s->n.wavefronts += launch->wave_count;
    if (s->count++ == 0)
        ls_schedule_at(s->region, &s->event, g->due);
}

/* No program faults here, so none is cancelled. */
static void cancel(void *self, uint32_t kernel, ls_cycle now)
{
    (void)self, (void)kernel, (void)now;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = from_platform;
    s->region = ls_block_region(block);
    ls_event_init(&s->event, end_groups, s);
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, group_cycles, "cycles", 1000, 1, 1000000, "of every work-group"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, work_groups, "groups", "work-groups that came"),
    LS_METRIC_COUNTER(counters, wavefronts, "waves", "their waves"),
};
static const ls_cu_ops cu_ops = { capacity, attach, receive_launch, cancel, ls_cu_takes_no_kernel, NULL };
static const ls_port_decl ports[] = {
    { .name = LS_CU_PORT, .interface = LS_CU_INTERFACE, .ops = &cu_ops },
};
static const ls_block_type cu_fixed = {
    .abi = LS_ABI_VERSION,
    .slot = LS_CU_SLOT,
    .name = "fixed",
    .help = "every work-group takes the same time and computes nothing",
    LS_BLOCK_PARAMS(spec, params),
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
};
LS_REGISTER_BLOCK(cu_fixed);
