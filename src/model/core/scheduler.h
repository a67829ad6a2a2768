/* scheduler.h: the built-in warp schedulers. They are blocks like those of a plug-in; the core knows them by
 * their functions and calls them inline. */
#ifndef MODEL_CORE_SCHEDULER_H
#define MODEL_CORE_SCHEDULER_H

#include "lockstep/scheduler.h"

typedef struct scheduler_two_level_spec {
    uint64_t active; /* warps of the inner group */
} scheduler_two_level_spec;

typedef struct scheduler_state {
    const scheduler_two_level_spec *spec; /* of two-level; unused by the others */
} scheduler_state;

/* Which of them a port leads to. */
typedef enum scheduler_kind {
    SCHED_LRR,
    SCHED_GTO,
    SCHED_OLDEST,
    SCHED_TWO_LEVEL,
    SCHED_FOREIGN
} scheduler_kind;
scheduler_kind scheduler_kind_of(const ls_port *port);

/* Round robin: the next one after the last. */
static inline uint32_t scheduler_lrr(uint32_t last, uint32_t ready)
{
    uint32_t after = last >= 31 ? 0 : ready & (~1u << last);
    return (uint32_t)__builtin_ctz(after != 0 ? after : ready);
}

static inline uint32_t scheduler_oldest(const ls_scheduler_view *v)
{
    uint32_t oldest = (uint32_t)__builtin_ctz(v->ready);
    for (uint32_t set = v->ready & (v->ready - 1); set != 0; set &= set - 1) {
        uint32_t warp = (uint32_t)__builtin_ctz(set);
        if (v->age[warp] < v->age[oldest])
            oldest = warp;
    }
    return oldest;
}

/* Greedy: the last one as long as it can, then the oldest. */
static inline uint32_t scheduler_gto(const ls_scheduler_view *v)
{
    return (v->ready >> v->last & 1) != 0 ? v->last : scheduler_oldest(v);
}

/* The inner group is the warps around the last issued one; it is left only when none of it is ready. */
static inline uint32_t scheduler_two_level(const scheduler_state *s, const ls_scheduler_view *v)
{
    uint32_t group = (uint32_t)s->spec->active;
    uint32_t inner = group >= 32 ? UINT32_MAX : ((1u << group) - 1) << (v->last / group * group);
    return scheduler_lrr(v->last, (v->ready & inner) != 0 ? v->ready & inner : v->ready);
}

/* One of v->ready, by whichever scheduler. */
static inline uint32_t scheduler_choose(scheduler_kind kind, const ls_port *port, const ls_scheduler_view *v)
{
    switch (kind) {
    case SCHED_LRR:
        return scheduler_lrr(v->last, v->ready);
    case SCHED_GTO:
        return scheduler_gto(v);
    case SCHED_OLDEST:
        return scheduler_oldest(v);
    case SCHED_TWO_LEVEL:
        return scheduler_two_level(port->self, v);
    case SCHED_FOREIGN:
        break;
    }
    return ((const ls_scheduler_ops *)port->ops)->choose(port->self, v);
}

#endif
