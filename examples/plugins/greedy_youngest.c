/* greedy_youngest.c: a warp scheduler that stays with a warp for at most `patience` instructions in a row and
 * then takes the youngest warp that can issue. One file: built in or loaded with --plugin, nothing else
 * changes. */
#include "lockstep/scheduler.h"

/* Parameters from the platform file. */
typedef struct spec {
    uint64_t patience;
} spec;

/* Counters. */
typedef struct counters {
    uint64_t stays, switches;
} counters;

typedef struct state {
    const spec *spec;
    uint32_t in_a_row[LS_SCHEDULER_WARPS]; /* per sub-core: instructions of its last warp */
    counters n;
} state;

static uint32_t choose(void *self, const ls_scheduler_view *view)
{
    state *s = self;
    uint32_t *in_a_row = &s->in_a_row[view->sub_core];
    if ((view->ready >> view->last & 1) != 0 && *in_a_row < s->spec->patience) {
        (*in_a_row)++;
        s->n.stays++;
        return view->last;
    }
    uint32_t youngest = (uint32_t)__builtin_ctz(view->ready);
    for (uint32_t rest = view->ready; rest != 0; rest &= rest - 1) {
        uint32_t warp = (uint32_t)__builtin_ctz(rest);
        if (view->age[warp] > view->age[youngest])
            youngest = warp;
    }
    *in_a_row = 1;
    s->n.switches += youngest != view->last;
    return youngest;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    (void)block;
    (void)err;
    ((state *)self)->spec = from_platform;
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, patience, "instructions", 16, 1, 1000000, "most instructions of a warp in a row"),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, stays, "instructions", "issued by the same warp as the one before"),
    LS_METRIC_COUNTER(counters, switches, "times", "another warp was taken"),
};

static const ls_scheduler_ops ops = { .choose = choose };
static const ls_port_decl ports[] = {
    { .name = LS_SCHEDULER_PORT, .interface = LS_SCHEDULER_INTERFACE, .ops = &ops },
};

/* Warps of NVIDIA's cores and waves of AMD's compute units are chosen alike: the same model in both slots. */
#define MODEL(variable_, slot_)                                                                               \
    static const ls_block_type variable_ = {                                                                  \
        .abi = LS_ABI_VERSION,                                                                                \
        .slot = slot_,                                                                                        \
        .name = "greedy-youngest",                                                                            \
        .help = "the last warp for a while, then the youngest",                                               \
        LS_BLOCK_PARAMS(spec, params),                                                                        \
        LS_BLOCK_STATE(state, n, metrics, ports),                                                             \
        .init = init,                                                                                         \
    };                                                                                                        \
    LS_REGISTER_BLOCK(variable_)

MODEL(greedy_youngest, LS_SCHEDULER_SLOT);
MODEL(greedy_youngest_wave, LS_WAVE_SCHEDULER_SLOT);
