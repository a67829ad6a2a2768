/* l1.h: how the core reaches its L1. The built-in model is a cache that the core calls directly; another model of slot
 * "core.l1" is called through its table (l1_other.c). */
#ifndef MODEL_CORE_L1_H
#define MODEL_CORE_L1_H

#include "lockstep/l1.h"
#include "model/core/core.h"

typedef struct l1_spec {
    uint64_t banks, latency_cycles;
    uint64_t size_kib; /* of L1 alone, independent of shared memory; 0: by unified_kib, or sets and ways */
    bool flush;        /* when the core becomes idle */
    sector_cache_spec cache;
} l1_spec;

/* The state of the built-in model. */
typedef struct l1_sectored {
    const l1_spec *spec;
    ls_domain *domain;
    ls_l1_wiring wiring;
    sector_cache cache;
    sector_cache_spec cache_spec; /* spec->cache with all ways that it can ever have */
    sector_cache_counters *counters;
    sector_cache_counters own_counters; /* unless the core has some for it */
    uint32_t cursor;                    /* while `cleaning`: lines before it are clean */
    bool cleaning;                      /* the core is idle, and dirty lines leave L1 before it is emptied */
    bool idle;                          /* the core has no thread block */
    bool *global; /* beside each entry of the miss queue, for requests that leave by the table */
} l1_sectored;

/* l1.c: how large the built-in L1 is. */
ls_status l1_check(const l1_spec *spec, const ls_l1_wiring *wiring, ls_error *err);
sector_cache_spec l1_whole(const l1_spec *spec,
                           const ls_l1_wiring *wiring); /* with all ways that it can ever have */
uint32_t l1_ways(const l1_spec *spec, const ls_l1_wiring *wiring,
                 uint64_t shared_bytes); /* beside so much shared memory */
/* The built-in model behind a port; NULL: the port leads to another one. */
l1_sectored *l1_built_in(const ls_port *port);
void l1_begin(l1_sectored *l1, uint64_t shared_bytes);
void l1_end(l1_sectored *l1);
/* A sector of a line that is written back left the miss queue. */
void l1_clean_on(l1_sectored *l1);

/* l1_other.c: the same by the table of another model. Its answers are checked: nonsense ends the run. */
ls_status l1_attach(core *c, ls_error *err);
sector_cache_outcome l1_other_access(core *c, const l1_access *access, uint32_t token);
bool l1_other_request(core *c, ls_l1_request *out);
void l1_other_fill(core *c, uint64_t address);
bool l1_other_answer(core *c, uint32_t *token);
ls_cycle l1_other_next(const core *c);
void l1_begin_block(core *c, uint64_t shared_bytes);
void l1_end_blocks(core *c);

static inline bool l1_may_answer(const core *c) /* l1_answer() need not be asked otherwise */
{
    return LS_UNLIKELY(c->ldst.l1 == NULL) || sector_cache_has_ready(c->ldst.l1);
}
static inline bool l1_answer(core *c, uint32_t *token)
{
    if (LS_UNLIKELY(c->ldst.l1 == NULL))
        return l1_other_answer(c, token);
    if (!sector_cache_has_ready(c->ldst.l1))
        return false;
    ls_sector_level level = (ls_sector_level)sector_cache_ready_level(c->ldst.l1);
    (void)sector_cache_next_ready(c->ldst.l1, token);
    flight_came_from(c, *token, level);
    return true;
}
static inline void l1_fill(core *c, uint64_t address, ls_sector_level level)
{
    if (LS_UNLIKELY(c->ldst.l1 == NULL))
        l1_other_fill(c, address);
    else
        sector_cache_fill_from(c->ldst.l1, address, (uint8_t)level);
}
/* The next cycle with an answer or a request; LS_CYCLE_MAX if there is none. */
static inline ls_cycle l1_next(const core *c)
{
    if (LS_UNLIKELY(c->ldst.l1 == NULL))
        return l1_other_next(c);
    return sector_cache_has_ready(c->ldst.l1) || sector_cache_front_miss(c->ldst.l1) != NULL ? c->now + 1
                                                                                             : LS_CYCLE_MAX;
}

#endif
