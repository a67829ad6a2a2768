/* analytic.h: core.memory: analytic. The load/store unit of a core whose memory is a formula (rates.h) and
 * not a machine: no request leaves the core. */
#ifndef MODEL_CORE_ANALYTIC_H
#define MODEL_CORE_ANALYTIC_H

#include "model/core/rates.h"

#include "lockstep/engine.h"

#include <stdbool.h>

struct core;

typedef enum analytic_model { ANALYTIC_OFF, ANALYTIC_ON } analytic_model;
/* DRAWN: each access has the latency of one level, and the levels come as often as the profile says.
 * EXPECTED: each has the mean of the levels' latencies (Swift-Sim's equation 1). */
typedef enum analytic_latency { ANALYTIC_DRAWN, ANALYTIC_EXPECTED } analytic_latency;

typedef struct analytic_spec {
    uint32_t memory;  /* analytic_model */
    uint32_t latency; /* analytic_latency */
} analytic_spec;

/* Sectors, as the formula has them; all of them expected values. */
typedef struct analytic_counters {
    uint64_t l2_sectors, l2_misses, dram_sectors;
    uint64_t mshr_cycles;  /* in which the unit waited for an MSHR */
    uint64_t queue_cycles; /* that loads waited for bandwidth of the network, L2 or DRAM, summed over loads */
} analytic_counters;

typedef struct analytic analytic;

/* NULL when the host has no memory left. */
analytic *analytic_create(struct core *c);
void analytic_set_machine(struct core *c, const rates_machine *machine);
void analytic_attach(struct core *c, const rates_machine *machine);

/* The instruction in c->ldst.dispatch has been coalesced (c->ldst.sector_count) or its bank conflicts are counted. */
void analytic_take(struct core *c, uint16_t index);
void analytic_cycle(struct core *c);
bool analytic_can_take(const struct core *c);
ls_cycle analytic_next(const struct core *c); /* LS_CYCLE_MAX: nothing is on its way */
/* A read-only cache asks for a line; its answer is options_reply(). */
bool analytic_request(struct core *c, uint32_t token);

/* --- for flow.c, which knows no flights and no present --- */

struct ls_inst;
ls_cycle *analytic_unit(struct core *c); /* the first cycle in which the unit takes an instruction */
/* Cycles in which the sectors of c->ldst.sectors enter the banks, in order; two of one bank need two. */
uint32_t analytic_rounds(const struct core *c);
/* Its sectors go to the network one by one, and not through the banks of L1. */
bool analytic_bypasses(const struct core *c, const struct ls_inst *inst);

#endif
