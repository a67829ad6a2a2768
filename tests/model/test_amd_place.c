/* test_amd_place.c: resources of a compute unit that work-groups hold: how many fit, where they go, which
 * resource is exhausted, and that free but scattered room does not help. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/amd/place.h"

#include <string.h>

static const ls_cu_capacity gcn = { .simds = 4,
                                    .waves_per_simd = 10,
                                    .groups = 40,
                                    .vgprs_per_simd = 1024,
                                    .vgpr_unit = 16,
                                    .sgprs_per_simd = 800,
                                    .sgpr_unit = 16,
                                    .lds_bytes = 65536,
                                    .lds_unit = 512,
                                    .lane_width = 16,
                                    .halves = 1,
                                    .barriers = 16 };
static const ls_cu_capacity rdna = { .simds = 4,
                                     .waves_per_simd = 20,
                                     .groups = 80,
                                     .vgprs_per_simd = 1024,
                                     .vgpr_unit = 8,
                                     .lds_bytes = 131072,
                                     .lds_unit = 512,
                                     .lane_width = 32,
                                     .halves = 2,
                                     .barriers = 16 };

static place_spec spec_of(const ls_cu_capacity *capacity)
{
    place_spec spec;
    ls_error err;
    assert_int_equal(place_init(&spec, capacity, &err), LS_OK);
    return spec;
}

static uint32_t most(const ls_cu_capacity *capacity, uint32_t waves, uint32_t vgprs, uint32_t lanes,
                     uint32_t sgprs, uint32_t lds, bool one_half, place_limit *limit)
{
    place_spec spec = spec_of(capacity);
    place_need need = place_need_of(&spec, waves, vgprs, lanes, sgprs, lds, one_half);
    return place_most(&spec, &need, limit);
}

/* GCN's table of occupancy: 10 waves up to 24 registers, 8 with 32, 4 with 64, 2 with 128, 1 with 256. */
static void occupancy(void **unused)
{
    place_limit limit;
    (void)unused;
    assert_int_equal(most(&gcn, 1, 24, 64, 16, 0, false, &limit), 40);
    assert_int_equal(limit, PLACE_GROUPS);
    assert_int_equal(most(&gcn, 4, 24, 64, 16, 0, false, &limit), 10);
    assert_int_equal(limit, PLACE_WAVES);
    assert_int_equal(most(&gcn, 1, 32, 64, 16, 0, false, &limit), 32);
    assert_int_equal(limit, PLACE_VGPRS);
    assert_int_equal(most(&gcn, 1, 64, 64, 16, 0, false, &limit), 16);
    assert_int_equal(most(&gcn, 1, 128, 64, 16, 0, false, &limit), 8);
    assert_int_equal(most(&gcn, 1, 129, 64, 16, 0, false, &limit), 4);
    assert_int_equal(most(&gcn, 1, 256, 64, 16, 0, false, &limit), 4);
    /* 800 scalar registers: 7 waves of 102 (112 with the unit of 16). */
    assert_int_equal(most(&gcn, 1, 4, 64, 102, 0, false, &limit), 28);
    assert_int_equal(limit, PLACE_SGPRS);
    assert_int_equal(most(&gcn, 1, 4, 64, 16, 20000, false, &limit), 3);
    assert_int_equal(limit, PLACE_LDS);
    assert_int_equal(most(&gcn, 1, 4, 64, 16, 65537, false, &limit), 0);
    /* Work-groups of 16 waves go over all SIMDs. */
    assert_int_equal(most(&gcn, 16, 24, 64, 16, 0, false, &limit), 2);
    assert_int_equal(most(&gcn, 16, 84, 64, 16, 0, false, &limit), 0);
}

/* LLVM, AMDGPUBaseInfo: a work-group of one wave needs no barrier and is limited by wave slots alone. Others
 * are limited by 16 barriers of a compute unit, or by 32 of a dual one when they may use both halves. */
static void barriers_limit_groups_of_several_waves(void **unused)
{
    place_limit limit;
    (void)unused;
    for (uint32_t waves = 1; waves <= 10; waves++) {
        uint32_t by_waves = 40 / waves, expected = waves > 1 && by_waves > 16 ? 16 : by_waves;
        assert_int_equal(most(&gcn, waves, 4, 64, 16, 0, false, &limit), expected);
        if (waves > 1)
            assert_int_equal(limit, by_waves > 16 ? PLACE_BARRIERS : PLACE_WAVES);
    }
    for (uint32_t waves = 1; waves <= 10; waves++) {
        uint32_t both = 80 / waves, half = 40 / waves;
        uint32_t expected_both = waves > 1 && both > 32 ? 32 : both;
        uint32_t expected_half = 2 * (waves > 1 && half > 16 ? 16 : half);
        assert_int_equal(most(&rdna, waves, 4, 32, 16, 0, false, &limit), expected_both);
        assert_int_equal(most(&rdna, waves, 4, 32, 16, 0, true, &limit), expected_half);
    }
    /* RDNA 2: 64 waves are 32 work-groups of 2, with no barrier to spare. */
    ls_cu_capacity rdna2 = rdna;
    rdna2.waves_per_simd = 16;
    rdna2.groups = 64;
    assert_int_equal(most(&rdna2, 2, 4, 32, 16, 0, false, &limit), 32);
    assert_int_equal(most(&rdna2, 1, 4, 32, 16, 0, false, &limit), 64);
    /* A work-group that ends frees its barrier, and work-groups of both kinds share them. */
    place_spec spec = spec_of(&rdna);
    place_need pair = place_need_of(&spec, 2, 4, 32, 16, 0, true), wide = pair;
    place_cu cu = { 0 };
    uint16_t slot[33];
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
    wide.one_half = false;
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(place_take(&spec, &cu, i % 2 == 0 ? &pair : &wide, &slot[i], simd), PLACE_FITS);
    assert_int_equal(place_take(&spec, &cu, &pair, &slot[32], simd), PLACE_BARRIERS);
    assert_int_equal(place_take(&spec, &cu, &wide, &slot[32], simd), PLACE_BARRIERS);
    place_give(&cu, slot[5]);
    assert_int_equal(place_take(&spec, &cu, &wide, &slot[5], simd), PLACE_FITS);
    for (uint32_t i = 0; i < 32; i++)
        place_give(&cu, slot[i]);
    assert_int_equal(cu.barriers[0] + cu.barriers[1], 0);
}

static void rdna_occupancy(void **unused)
{
    place_limit limit;
    (void)unused;
    assert_int_equal(most(&rdna, 1, 48, 32, 106, 0, false, &limit), 80);
    assert_int_equal(most(&rdna, 1, 64, 32, 106, 0, false, &limit), 64);
    assert_int_equal(limit, PLACE_VGPRS);
    /* A wave of 64 lanes takes two rows per register. */
    assert_int_equal(most(&rdna, 1, 64, 64, 106, 0, false, &limit), 32);
    /* 40 KiB of LDS: one per half in CU mode, three if the whole is theirs. */
    assert_int_equal(most(&rdna, 1, 8, 32, 106, 40960, true, &limit), 2);
    assert_int_equal(most(&rdna, 1, 8, 32, 106, 40960, false, &limit), 3);
    /* 32 waves of a work-group fit on one half of 40 only once. */
    assert_int_equal(most(&rdna, 32, 8, 32, 106, 0, true, &limit), 2);
}

/* In CU mode a work-group stays on its half, and halves take turns. */
static void halves(void **unused)
{
    place_spec spec = spec_of(&rdna);
    place_need need = place_need_of(&spec, 4, 8, 32, 106, 1024, true);
    static place_cu cu;
    (void)unused;
    memset(&cu, 0, sizeof cu);
    for (uint32_t i = 0; i < 6; i++) {
        uint16_t slot;
        uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
        assert_int_equal(place_take(&spec, &cu, &need, &slot, simd), PLACE_FITS);
        assert_int_equal(slot, i);
        for (uint32_t wave = 0; wave < 4; wave++)
            assert_int_equal(simd[wave] / 2, i % 2);
        assert_int_not_equal(simd[0], simd[1]);
    }
    for (uint32_t simd = 0; simd < 4; simd++)
        assert_int_equal(cu.simd[simd].waves, 6);
}

/* 64 units of registers on a SIMD: waves of 16 units fill it; every second one goes, and a wave of 17 does
 * not fit although 32 units are free. */
static void fragmentation(void **unused)
{
    ls_cu_capacity one = gcn;
    one.simds = 1;
    place_spec spec = spec_of(&one);
    place_need need = place_need_of(&spec, 1, 64, 64, 16, 0, false), larger;
    static place_cu cu;
    uint16_t slot[4], other;
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
    (void)unused;
    memset(&cu, 0, sizeof cu);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(place_take(&spec, &cu, &need, &slot[i], simd), PLACE_FITS);
    assert_int_equal(place_take(&spec, &cu, &need, &other, simd), PLACE_VGPRS);
    place_give(&cu, slot[0]);
    place_give(&cu, slot[2]);
    larger = place_need_of(&spec, 1, 68, 64, 16, 0, false);
    assert_int_equal(larger.vgprs, 17);
    assert_int_equal(place_take(&spec, &cu, &larger, &other, simd), PLACE_VGPRS);
    place_give(&cu, slot[1]);
    assert_int_equal(place_take(&spec, &cu, &larger, &other, simd), PLACE_FITS);
    place_give(&cu, slot[3]);
    place_give(&cu, other);
    assert_int_equal(cu.waves, 0);
    assert_int_equal(cu.groups, 0);
    for (uint32_t i = 0; i < PLACE_WORDS; i++)
        assert_int_equal(cu.simd[0].vgprs[i] | cu.simd[0].sgprs[i] | cu.lds[i], 0);
}

/* A refused work-group holds nothing, at any point of refusal. */
static void refusal_leaves_nothing(void **unused)
{
    place_spec spec = spec_of(&gcn);
    place_need need = place_need_of(&spec, 16, 84, 64, 16, 512, false);
    static place_cu cu, before;
    uint16_t slot;
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
    (void)unused;
    memset(&cu, 0, sizeof cu);
    memset(&before, 0, sizeof before);
    assert_int_equal(place_take(&spec, &cu, &need, &slot, simd), PLACE_VGPRS);
    assert_memory_equal(cu.simd, before.simd, sizeof cu.simd);
    assert_memory_equal(cu.lds, before.lds, sizeof cu.lds);
    assert_int_equal(cu.waves + cu.groups, 0);
}

static void bad_capacity(void **unused)
{
    ls_cu_capacity wrong = gcn;
    place_spec spec;
    ls_error err;
    (void)unused;
    wrong.vgpr_unit = 1;
    assert_int_equal(place_init(&spec, &wrong, &err), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "vector registers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy),      cmocka_unit_test(barriers_limit_groups_of_several_waves),
        cmocka_unit_test(rdna_occupancy), cmocka_unit_test(halves),
        cmocka_unit_test(fragmentation),  cmocka_unit_test(refusal_leaves_nothing),
        cmocka_unit_test(bad_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
