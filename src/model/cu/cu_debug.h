/* cu_debug.h: a compute unit for a debugger that stopped in it (cu_debugger in cu_api.h): its waves, their accesses in
 * flight, why they wait. Reads the unit; only registers of waves may be changed through it. */
#ifndef MODEL_CU_CU_DEBUG_H
#define MODEL_CU_CU_DEBUG_H

#include "model/cu/cu_api.h"

typedef struct cu_look {
    amd_wave *arch;
    const ls_cu_kernel *kernel;
    const char *name;              /* of the compute unit */
    const uint32_t *id;            /* of its work-group */
    uint64_t pc;                   /* of its next instruction */
    uint32_t cluster, unit;        /* the compute unit, within its cluster */
    uint32_t simd, slot;           /* where the wave is */
    uint64_t issued;               /* instructions */
    uint32_t counter[CU_COUNTERS]; /* vmcnt, lgkmcnt, expcnt, vscnt */
    uint32_t limit[CU_COUNTERS];   /* that its next instruction allows; more than any counter: no limit */
    uint64_t fetch_bytes;          /* of its instruction buffer that are there */
    ls_cycle cycle;                /* of the compute unit's clock */
    bool has_ended;                /* it executes nothing more; its work-group is still there */
} cu_look;

uint32_t cu_debug_slots(const void *cu); /* of waves */
/* The wave of a slot; false: none. */
bool cu_debug_look(void *cu, uint32_t slot, cu_look *out);
/* Its registers; the slot has had a wave. */
amd_wave *cu_debug_arch(void *cu, uint32_t slot);
/* The slots of the waves of its work-group, by their index; returns how many. */
uint32_t cu_debug_group(const void *cu, uint32_t slot, uint16_t out[LS_CU_WAVES_PER_GROUP_MAX]);

/* The wave that a report of this unit says has faulted; NULL: it is not here, or its slot was used again. */
const amd_wave *cu_debug_faulted(const void *cu, const ls_cu_done *done);

/* A memory instruction that is under way. */
typedef struct cu_flight {
    uint64_t pc;
    const amd_inst *inst;
    ls_cycle issued;
    uint32_t lines, sent, back; /* messages of it: all, sent, answered. LDS has none. */
    uint8_t counters;           /* bit i: it holds counter i */
    bool is_complete;           /* it waits for older ones, which return first */
} cu_flight;
/* Those of a wave, the oldest first; returns how many there are, of which `room` are in out. */
size_t cu_debug_flights(void *cu, uint32_t slot, cu_flight *out, size_t room);

/* Why the wave does not issue its next instruction in this cycle, as one sentence without a full stop. */
void cu_debug_waits(const void *cu, uint32_t slot, char *out, size_t bytes);

#endif
