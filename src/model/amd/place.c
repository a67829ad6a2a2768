/* place.c: work-groups take and give back their part of a compute unit. */
#include "model/amd/place.h"

#include "isa/registers.h"

#include <stdlib.h>
#include <string.h>

static const char *const limit_names[PLACE_LIMIT_COUNT] = {
    "none", "work-group slots", "barriers", "wave slots", "vgprs", "sgprs", "lds"
};

const char *place_limit_name(place_limit limit)
{
    return limit < PLACE_LIMIT_COUNT ? limit_names[limit] : "?";
}

/* -------------------------------------------------------------------------------------------------- masks */

#define NO_ROOM UINT32_MAX

/* The lowest `count` neighbours that are free, of the units [from, to). */
static uint32_t mask_find(const uint64_t mask[PLACE_WORDS], uint32_t from, uint32_t to, uint32_t count)
{
    uint32_t at = from, run = 0;
    if (count == 0)
        return from;
    while (at < to) {
        uint64_t word = mask[at / 64] >> (at % 64);
        uint32_t left = 64 - at % 64;
        if (word & 1) {
            run = 0;
            at += word == UINT64_MAX ? left : (uint32_t)__builtin_ctzll(~word);
            continue;
        }
        uint32_t is_free = word == 0 ? left : (uint32_t)__builtin_ctzll(word);
        is_free = is_free < left ? is_free : left;
        is_free = is_free < to - at ? is_free : to - at;
        run += is_free;
        at += is_free;
        if (run >= count)
            return at - run;
    }
    return NO_ROOM;
}

static void mask_flip(uint64_t mask[PLACE_WORDS], uint32_t first, uint32_t count)
{
    while (count > 0) {
        uint32_t shift = first % 64, here = 64 - shift < count ? 64 - shift : count;
        mask[first / 64] ^= (here == 64 ? UINT64_MAX : (UINT64_C(1) << here) - 1) << shift;
        first += here;
        count -= here;
    }
}

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status check_units(uint32_t units, const char *what, ls_error *err)
{
    if (units == 0 || units > PLACE_WORDS * 64)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a compute unit gives out %u pieces of %s; 1 to %u can be counted", units, what,
                       PLACE_WORDS * 64);
    return LS_OK;
}

ls_status place_init(place_spec *spec, const ls_cu_capacity *capacity, ls_error *err)
{
    const ls_cu_capacity *c = capacity;
    if (c->simds == 0 || c->simds > LS_CU_SIMDS_MAX || c->waves_per_simd == 0 || c->groups == 0 ||
        c->groups > PLACE_GROUPS_MAX || c->halves == 0 || c->halves > LS_CU_HALVES_MAX ||
        c->simds % c->halves != 0 || c->barriers == 0 || c->lane_width == 0 || c->vgpr_unit == 0 ||
        c->lds_unit == 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a compute unit of %u SIMDs in %u parts with %u waves each and %u work-groups",
                       c->simds, c->halves, c->waves_per_simd, c->groups);
    const bool limited = c->sgpr_unit != 0 && c->sgprs_per_simd != 0; /* by scalar registers */
    *spec = (place_spec){ .capacity = *c,
                          .vgpr_units = c->vgprs_per_simd / c->vgpr_unit,
                          .sgpr_units = limited ? c->sgprs_per_simd / c->sgpr_unit : 1,
                          .lds_units = c->lds_bytes / c->lds_unit };
    if (!limited)
        spec->capacity.sgpr_unit = 0;
    ls_status status = check_units(spec->vgpr_units, "vector registers (cu.vgpr_rows / cu.vgpr_unit)", err);
    if (status == LS_OK)
        status = check_units(spec->sgpr_units, "scalar registers (cu.sgprs / cu.sgpr_unit)", err);
    if (status == LS_OK)
        status = check_units(spec->lds_units, "LDS (cu.lds_kib / cu.lds_unit_bytes)", err);
    return status;
}

place_need place_need_of(const place_spec *spec, uint32_t waves, uint32_t vgprs, uint32_t lanes,
                         uint32_t sgprs, uint32_t lds_bytes, bool one_half)
{
    const ls_cu_capacity *c = &spec->capacity;
    /* A SIMD that is wider than a wave still gives it whole rows. */
    uint32_t rows = (lanes + c->lane_width - 1) / c->lane_width;
    return (place_need){ .waves = waves,
                         .vgprs = allocation_units(vgprs * rows, c->vgpr_unit),
                         .sgprs = allocation_units(sgprs, c->sgpr_unit),
                         .lds = allocation_units(lds_bytes, c->lds_unit),
                         .one_half = one_half && c->halves > 1 };
}

/* ----------------------------------------------------------------------------------------- taking, giving */

static void give_wave(place_cu *cu, place_group *g, uint32_t wave)
{
    place_simd *simd = &cu->simd[g->simd[wave]];
    mask_flip(simd->vgprs, g->vgpr_first[wave], g->vgpr_count);
    mask_flip(simd->sgprs, g->sgpr_first[wave], g->sgpr_count);
    simd->waves--;
    cu->waves--;
}

static place_limit take_on(const place_spec *spec, place_simd *simd, const place_need *need, place_group *g,
                           uint32_t wave)
{
    if (simd->waves == spec->capacity.waves_per_simd)
        return PLACE_WAVES;
    uint32_t vgpr = mask_find(simd->vgprs, 0, spec->vgpr_units, need->vgprs);
    if (vgpr == NO_ROOM)
        return PLACE_VGPRS;
    uint32_t sgpr = mask_find(simd->sgprs, 0, spec->sgpr_units, need->sgprs);
    if (sgpr == NO_ROOM)
        return PLACE_SGPRS;
    mask_flip(simd->vgprs, vgpr, need->vgprs);
    mask_flip(simd->sgprs, sgpr, need->sgprs);
    simd->waves++;
    g->vgpr_first[wave] = (uint16_t)vgpr;
    g->sgpr_first[wave] = (uint16_t)sgpr;
    return PLACE_FITS;
}

/* All waves on the SIMDs [first, first + count), in turn from `start` on. */
static place_limit take_waves(const place_spec *spec, place_cu *cu, const place_need *need, place_group *g,
                              uint32_t first, uint32_t count, uint32_t start)
{
    for (uint32_t wave = 0; wave < need->waves; wave++) {
        place_limit limit = PLACE_WAVES;
        for (uint32_t i = 0; i < count && limit != PLACE_FITS; i++) {
            uint32_t simd = first + (start + wave + i) % count;
            place_limit here = take_on(spec, &cu->simd[simd], need, g, wave);
            g->simd[wave] = (uint8_t)simd;
            /* Wave slots are the least interesting reason: any other one is reported instead. */
            limit = here == PLACE_FITS || limit == PLACE_WAVES ? here : limit;
        }
        if (limit != PLACE_FITS) {
            while (wave-- > 0)
                give_wave(cu, g, wave);
            return limit;
        }
        cu->waves++;
    }
    return PLACE_FITS;
}

/* The barrier for a work-group on `halves` parts of the compute unit; it is on part `half`. A work-group on
 * all of it takes one from the part with more free ones. */
static bool find_barrier(const place_spec *spec, const place_cu *cu, uint32_t half, uint32_t halves,
                         uint32_t *found)
{
    *found = half;
    for (uint32_t i = 0; halves == 1 && i < spec->capacity.halves; i++)
        *found = cu->barriers[i] < cu->barriers[*found] ? i : *found;
    return cu->barriers[*found] < spec->capacity.barriers;
}

static place_limit take_half(const place_spec *spec, place_cu *cu, const place_need *need, place_group *g,
                             uint32_t half, uint32_t halves)
{
    uint32_t simds = spec->capacity.simds / halves, lds = spec->lds_units / halves, barrier = 0;
    if (need->waves > 1 && !find_barrier(spec, cu, half, halves, &barrier))
        return PLACE_BARRIERS;
    uint32_t at = mask_find(cu->lds, half * lds, (half + 1) * lds, need->lds);
    if (at == NO_ROOM)
        return PLACE_LDS;
    place_limit limit = take_waves(spec, cu, need, g, half * simds, simds, cu->next_simd % simds);
    if (limit != PLACE_FITS)
        return limit;
    mask_flip(cu->lds, at, need->lds);
    g->lds_first = (uint16_t)at;
    g->barrier_half = (uint8_t)barrier;
    cu->barriers[barrier] += need->waves > 1;
    return PLACE_FITS;
}

place_limit place_take(const place_spec *spec, place_cu *cu, const place_need *need, uint16_t *slot,
                       uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX])
{
    uint32_t at = cu->slots[0] != UINT64_MAX   ? (uint32_t)__builtin_ctzll(~cu->slots[0])
                  : cu->slots[1] != UINT64_MAX ? 64 + (uint32_t)__builtin_ctzll(~cu->slots[1])
                                               : PLACE_GROUPS_MAX;
    if (at >= spec->capacity.groups)
        return PLACE_GROUPS;
    place_group *g = &cu->group[at];
    g->waves = (uint16_t)need->waves;
    g->vgpr_count = (uint16_t)need->vgprs;
    g->sgpr_count = (uint16_t)need->sgprs;
    g->lds_count = (uint16_t)need->lds;
    uint32_t halves = need->one_half ? spec->capacity.halves : 1;
    uint32_t per_half = spec->capacity.simds / halves;
    place_limit limit = PLACE_LDS;
    for (uint32_t i = 0; i < halves && limit != PLACE_FITS; i++) {
        uint32_t half = (cu->next_simd / per_half + i) % halves;
        limit = take_half(spec, cu, need, g, half, halves);
    }
    if (limit != PLACE_FITS)
        return limit;
    cu->slots[at / 64] |= UINT64_C(1) << at % 64;
    cu->groups++;
    /* One half after the other; without halves, one SIMD after the other. */
    if (halves > 1)
        cu->next_simd = (g->simd[0] / per_half + 1) % halves * per_half + (cu->next_simd + 1) % per_half;
    else
        cu->next_simd = (g->simd[need->waves - 1] + 1u) % spec->capacity.simds;
    *slot = (uint16_t)at;
    memcpy(simd, g->simd, need->waves);
    return PLACE_FITS;
}

void place_give(place_cu *cu, uint16_t slot)
{
    place_group *g = &cu->group[slot];
    for (uint32_t wave = 0; wave < g->waves; wave++)
        give_wave(cu, g, wave);
    mask_flip(cu->lds, g->lds_first, g->lds_count);
    cu->barriers[g->barrier_half] -= g->waves > 1;
    cu->slots[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    cu->groups--;
}

uint32_t place_most(const place_spec *spec, const place_need *need, place_limit *limit)
{
    place_cu *cu = calloc(1, sizeof *cu);
    uint16_t slot;
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
    *limit = PLACE_FITS;
    if (cu == NULL)
        return 0;
    do
        *limit = place_take(spec, cu, need, &slot, simd);
    while (*limit == PLACE_FITS);
    uint32_t most = cu->groups;
    free(cu);
    return most;
}
