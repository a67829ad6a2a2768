/* place.h: resources of one compute unit that work-groups hold: wave slots, vector and scalar registers, LDS,
 * work-group slots, barriers. Registers and LDS are allocated in contiguous pieces, by masks, so that
 * scattered free room does not help. Plain state and arithmetic, independent of engine and messages. */
#ifndef MODEL_AMD_PLACE_H
#define MODEL_AMD_PLACE_H

#include "model/cu/cu_api.h"

#define PLACE_WORDS 4u /* of 64 units each: the most that a mask has */
#define PLACE_GROUPS_MAX 128u

/* Why a work-group does not fit. */
typedef enum place_limit {
    PLACE_FITS,
    PLACE_GROUPS,   /* work-group slots */
    PLACE_BARRIERS, /* of work-groups with more than one wave */
    PLACE_WAVES,
    PLACE_VGPRS,
    PLACE_SGPRS,
    PLACE_LDS,
    PLACE_LIMIT_COUNT
} place_limit;
const char *place_limit_name(place_limit limit); /* "waves" */

/* Needs of a work-group, in units of the capacity. */
typedef struct place_need {
    uint32_t waves;
    uint32_t vgprs, sgprs; /* units per wave */
    uint32_t lds;          /* units */
    bool one_half;         /* of the compute unit: RDNA's CU mode */
} place_need;

typedef struct place_spec {
    ls_cu_capacity capacity;
    uint32_t vgpr_units, sgpr_units, lds_units; /* per SIMD, per SIMD, per compute unit */
} place_spec;

/* Resources of one resident work-group. */
typedef struct place_group {
    uint16_t waves, lds_first, lds_count, vgpr_count, sgpr_count;
    uint8_t barrier_half; /* the half whose barrier it holds, if it has more than one wave */
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
    uint16_t vgpr_first[LS_CU_WAVES_PER_GROUP_MAX], sgpr_first[LS_CU_WAVES_PER_GROUP_MAX];
} place_group;

/* Set bits are taken. */
typedef struct place_simd {
    uint64_t vgprs[PLACE_WORDS], sgprs[PLACE_WORDS];
    uint32_t waves;
} place_simd;

typedef struct place_cu {
    place_simd simd[LS_CU_SIMDS_MAX];
    uint64_t lds[PLACE_WORDS];
    uint64_t slots[PLACE_GROUPS_MAX / 64];
    uint32_t waves, groups;              /* resident */
    uint32_t barriers[LS_CU_HALVES_MAX]; /* taken, by half */
    uint32_t next_simd;                  /* where the next work-group's first wave goes if it can */
    place_group group[PLACE_GROUPS_MAX];
} place_cu;

/* Refuses a capacity that the masks cannot hold. */
ls_status place_init(place_spec *spec, const ls_cu_capacity *capacity, ls_error *err);

/* Needs of a program's waves: registers per lane, lanes of a wave, scalar registers. */
place_need place_need_of(const place_spec *spec, uint32_t waves, uint32_t vgprs, uint32_t lanes,
                         uint32_t sgprs, uint32_t lds_bytes, bool one_half);

/* Takes room on the compute unit: *slot and simd[] receive its place. Returns PLACE_FITS, or the exhausted
 * resource (then nothing is taken). */
place_limit place_take(const place_spec *spec, place_cu *cu, const place_need *need, uint16_t *slot,
                       uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX]);
void place_give(place_cu *cu, uint16_t slot);

/* How many work-groups fit on an empty compute unit, and the resource that prevents one more. */
uint32_t place_most(const place_spec *spec, const place_need *need, place_limit *limit);

#endif
