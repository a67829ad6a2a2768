/* scheduler.c: the built-in warp schedulers, as blocks of slots "core.scheduler" and "cu.scheduler". */
#include "model/core/scheduler.h"

#include "lockstep/state.h"

static uint32_t choose_lrr(void *self, const ls_scheduler_view *v)
{
    (void)self;
    return scheduler_lrr(v->last, v->ready);
}

static uint32_t choose_gto(void *self, const ls_scheduler_view *v)
{
    (void)self;
    return scheduler_gto(v);
}

static uint32_t choose_oldest(void *self, const ls_scheduler_view *v)
{
    (void)self;
    return scheduler_oldest(v);
}

static uint32_t choose_two_level(void *self, const ls_scheduler_view *v)
{
    return scheduler_two_level(self, v);
}

static const ls_scheduler_ops all_ops[] = {
    [SCHED_LRR] = { choose_lrr },
    [SCHED_GTO] = { choose_gto },
    [SCHED_OLDEST] = { choose_oldest },
    [SCHED_TWO_LEVEL] = { choose_two_level },
};

scheduler_kind scheduler_kind_of(const ls_port *port)
{
    for (int kind = 0; kind < SCHED_FOREIGN; kind++)
        if (port->ops == &all_ops[kind])
            return (scheduler_kind)kind;
    return SCHED_FOREIGN;
}

static ls_status two_level_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    (void)block;
    (void)err;
    ((scheduler_state *)state)->spec = spec;
    return LS_OK;
}

static const ls_state_row rows[] = { LS_STATE_FIXED(scheduler_state, spec) };

#define PORT(kind_)                                                                                           \
    .ports = &(const ls_port_decl){ LS_SCHEDULER_PORT, LS_SCHEDULER_INTERFACE, &all_ops[kind_], 0 },          \
    .port_count = 1

#define SIMPLE(variable_, slot_, kind_, name_, help_)                                                         \
    static const ls_block_type variable_ = { .abi = LS_ABI_VERSION,                                           \
                                             .slot = slot_,                                                   \
                                             .name = name_,                                                   \
                                             .help = help_,                                                   \
                                             .state_size = sizeof(scheduler_state),                           \
                                             .rows = rows,                                                    \
                                             .row_count = LS_COUNT_OF(rows),                                  \
                                             PORT(kind_) };                                                   \
    LS_REGISTER_BLOCK(variable_)

static const ls_param two_level_params[] = {
    LS_PARAM_UINT(scheduler_two_level_spec, active, "warps", 8, 1, 32, "warps of the inner group"),
};

#define TWO_LEVEL(variable_, slot_)                                                                           \
    static const ls_block_type variable_ = {                                                                  \
        .abi = LS_ABI_VERSION,                                                                                \
        .slot = slot_,                                                                                        \
        .name = "two-level",                                                                                  \
        .help = "round robin inside a group of neighbours; another group when none of it is ready",           \
        .spec_size = sizeof(scheduler_two_level_spec),                                                        \
        .params = two_level_params,                                                                           \
        .param_count = LS_COUNT_OF(two_level_params),                                                         \
        .state_size = sizeof(scheduler_state),                                                                \
        .rows = rows,                                                                                         \
        .row_count = LS_COUNT_OF(rows),                                                                       \
        .init = two_level_init,                                                                               \
        PORT(SCHED_TWO_LEVEL),                                                                                \
    };                                                                                                        \
    LS_REGISTER_BLOCK(variable_)

/* The same four in the slots of both machines, whose waves and warps they order alike. */
#define SCHEDULERS(of_, slot_)                                                                                \
    SIMPLE(of_##_lrr, slot_, SCHED_LRR, "lrr", "round robin: the next ready warp after the last one");        \
    SIMPLE(of_##_gto, slot_, SCHED_GTO, "gto",                                                                \
           "greedy then oldest: the last warp while it can, then the oldest");                                \
    SIMPLE(of_##_oldest, slot_, SCHED_OLDEST, "oldest", "the ready warp that has been there longest");        \
    TWO_LEVEL(of_##_two_level, slot_)

SCHEDULERS(warp, LS_SCHEDULER_SLOT);
SCHEDULERS(wave, LS_WAVE_SCHEDULER_SLOT);
