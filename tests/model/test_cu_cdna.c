/* test_cu_cdna.c: compute units of CDNA in closed form: rates of the vector unit, matrix instructions in the unit beside
 * it, and write-backs of a die's L2. */
#include "cu_rig.h"

#include "isa/amd/exec/matrix.h"

#define MFMA_32X32X8_F16                                                                                      \
    0xd3cc0000, 0x04022510 /* v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15] */
#define MFMA_16X16X16_F16                                                                                     \
    0xd3cd0000, 0x04022510 /* v_mfma_f32_16x16x16_f16 v[0:3], v[16:17], v[18:19], v[0:3] */
#define MFMA_32X32X2_F32 0xd3c40000, 0x04022510 /* v_mfma_f32_32x32x2_f32 v[0:15], v16, v18, v[0:15] */
#define MFMA_16X16X4_F64 0xd3ee0000, 0x04022510 /* v_mfma_f64_16x16x4_f64 v[0:7], v[16:17], v[18:19], v[0:7] */
#define SMFMAC_16X16X32_F16                                                                                   \
    0xd3e20000, 0x04622910                   /* v_smfmac_f32_16x16x32_f16 v[0:3], v[16:17], v[20:23], v24 */
#define ADD_F32 0x0234391c                   /* v_add_f32 v26, v28, v28 */
#define PK_FMA_F32 0xd3b0401a, 0x1c72391c    /* v_pk_fma_f32 v[26:27], v[28:29], v[28:29], v[28:29] */
#define FMA_F64 0xd1cc001a, 0x0472391c       /* v_fma_f64 v[26:27], v[28:29], v[28:29], v[28:29] */
#define RCP_F32 0x7e34451c                   /* v_rcp_f32 v26, v28 */
#define RCP_F64 0x7e344b1c                   /* v_rcp_f64 v[26:27], v[28:29] */
#define DIV_FIXUP_F32 0xd1de001a, 0x0472391c /* v_div_fixup_f32 v26, v28, v28, v28 */
#define MUL_LO_U32 0xd285001a, 0x0002391c    /* v_mul_lo_u32 v26, v28, v28 */
#define LSHLREV_B64 0xd28f001a, 0x00023883   /* v_lshlrev_b64 v[26:27], 3, v[28:29] */

/* The cycles of `count` repetitions by waves on one SIMD. */
static uint64_t cycles(amd_target target, const uint32_t *words, unsigned per, unsigned count, uint32_t waves)
{
    uint32_t code[96 * 8 + 1];
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < per; j++)
            code[at++] = words[j];
    code[at++] = 0xbf810000;
    rig *r = rig_create();
    rig_spec(r, "cdna");
    rig_build(r, "cdna", 128, 100);
    rig_program(r, target, true, code, at);
    /* Work-groups of one wave go to the SIMDs in turn. */
    rig_run(r, 64 * 4 * waves, 64, 0);
    uint64_t result = rig_cycles(r);
    rig_destroy(r);
    return result;
}

#define MORE(target, waves, ...)                                                                              \
    (cycles(target, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, 96, waves) -  \
     cycles(target, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, 32, waves))

static void vector_rates(void **state)
{
    (void)state;
    assert_int_equal(MORE(AMD_GFX942, 1, ADD_F32), 64 * 4);
    assert_int_equal(MORE(AMD_GFX942, 1, PK_FMA_F32),
                     64 * 4); /* two products per lane: 256 operations per cycle and CU */
    assert_int_equal(MORE(AMD_GFX942, 1, FMA_F64), 64 * 4);
    assert_int_equal(MORE(AMD_GFX90A, 1, FMA_F64), 64 * 4);
    assert_int_equal(MORE(AMD_GFX942, 1, LSHLREV_B64), 64 * 4);
    assert_int_equal(MORE(AMD_GFX942, 1, DIV_FIXUP_F32), 64 * 4);
    assert_int_equal(MORE(AMD_GFX942, 1, RCP_F32), 64 * 16);
    assert_int_equal(MORE(AMD_GFX942, 1, RCP_F64), 64 * 16);
    assert_int_equal(MORE(AMD_GFX942, 1, MUL_LO_U32), 64 * 16);
}

/* Peak of a CU: 4 SIMDs, each with an instruction in that many cycles. */
static void matrix_rates(void **state)
{
    (void)state;
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_32X32X8_F16), 64 * 32); /* 4 * 2 * 32 * 32 * 8 / 32 = 2048 */
    assert_int_equal(MORE(AMD_GFX90A, 1, MFMA_32X32X8_F16), 64 * 64); /* 1024 */
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_16X16X16_F16), 64 * 16);
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_32X32X2_F32), 64 * 64);
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_16X16X4_F64), 64 * 32);
    assert_int_equal(MORE(AMD_GFX942, 1, SMFMAC_16X16X32_F16), 64 * 16);
    assert_int_equal(MORE(AMD_GFX942, 2, MFMA_16X16X16_F16), 2 * 64 * 16); /* one matrix unit for both waves */
}

/* An addition of the same wave finds the vector unit free after 4 cycles, unless the matrix needs all of it. */
static void additions_beside_a_matrix(void **state)
{
    (void)state;
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_16X16X16_F16, ADD_F32, ADD_F32, ADD_F32), 64 * 16);
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_16X16X16_F16, ADD_F32, ADD_F32, ADD_F32, ADD_F32), 64 * 20);
    assert_int_equal(MORE(AMD_GFX942, 1, SMFMAC_16X16X32_F16, ADD_F32, ADD_F32),
                     64 * 16); /* 8 cycles are left */
    assert_int_equal(MORE(AMD_GFX942, 1, SMFMAC_16X16X32_F16, ADD_F32, ADD_F32, ADD_F32), 64 * 20);
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_16X16X4_F64, ADD_F32), 64 * 36);
    assert_int_equal(MORE(AMD_GFX942, 1, MFMA_32X32X2_F32, ADD_F32), 64 * 68);
    assert_int_equal(MORE(AMD_GFX90A, 1, MFMA_32X32X2_F32, ADD_F32), 64 * 64);
}

/* The calculator's table: instruction, cycles on gfx90a and gfx942 (0: not there), cycles that the VALU is taken on gfx942. */
static void matrix_table(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        unsigned gfx90a, gfx942, alone;
    } rows[] = {
        { AMD_V_MFMA_F32_16X16X8_XF32, 0, 16, 4 },     { AMD_V_MFMA_F32_32X32X4_XF32, 0, 32, 4 },
        { AMD_V_MFMA_F32_32X32X1_2B_F32, 64, 64, 64 }, { AMD_V_MFMA_F32_4X4X1_16B_F32, 8, 8, 8 },
        { AMD_V_MFMA_F32_32X32X4_2B_F16, 64, 64, 4 },  { AMD_V_MFMA_F32_16X16X4_4B_F16, 32, 32, 4 },
        { AMD_V_MFMA_F32_4X4X4_16B_F16, 8, 8, 4 },     { AMD_V_MFMA_F32_32X32X8_F16, 64, 32, 4 },
        { AMD_V_MFMA_I32_32X32X16_I8, 0, 32, 4 },      { AMD_V_MFMA_I32_16X16X32_I8, 0, 16, 4 },
        { AMD_V_MFMA_F32_16X16X16_BF16, 32, 16, 4 },   { AMD_V_SMFMAC_I32_32X32X32_I8, 0, 32, 8 },
        { AMD_V_MFMA_F64_16X16X4_F64, 32, 32, 32 },    { AMD_V_MFMA_F64_4X4X4_4B_F64, 16, 16, 16 },
        { AMD_V_MFMA_F32_32X32X16_FP8_BF8, 0, 32, 4 }, { AMD_V_SMFMAC_F32_16X16X64_BF8_FP8, 0, 16, 8 },
        { AMD_V_MFMA_F32_32X32X4BF16, 64, 0, 0 },      { AMD_V_MFMA_I32_16X16X16I8, 32, 0, 0 }
    };
    unsigned alone;
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
        if (rows[i].gfx90a != 0)
            assert_int_equal(cu_code_matrix(rows[i].op, AMD_GFX90A, &alone), rows[i].gfx90a);
        if (rows[i].gfx942 == 0)
            continue;
        assert_int_equal(cu_code_matrix(rows[i].op, AMD_GFX942, &alone), rows[i].gfx942);
        assert_int_equal(alone, rows[i].alone);
    }
    assert_int_equal(cu_code_matrix(AMD_V_FMA_F32, AMD_GFX942, &alone), 0);
}

/* buffer_wbl2 sc1; s_waitcnt vmcnt(0): a flush of the level below the first cache, which the wave waits for. On gfx90a, with
 * one L2, the instruction accesses nothing. */
static void write_back_of_l2(void **state)
{
    (void)state;
    static const uint32_t words[] = { 0xe0a08000, 0x00000000, 0xbf8c0f70, 0xbf810000 };
    for (unsigned older = 0; older < 2; older++) {
        rig *r = rig_create();
        rig_spec(r, "cdna");
        rig_build(r, "cdna", 128, 100);
        rig_program(r, older ? AMD_GFX90A : AMD_GFX942, true, words, 4);
        const cu_inst *inst = &r->timing->insts[1];
        assert_int_equal(inst->what, older ? CU_MEMORY : CU_WRITE_BACK);
        assert_int_equal(inst->raises, 1u << CU_VM);
        rig_destroy(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_rates),
        cmocka_unit_test(matrix_rates),
        cmocka_unit_test(additions_beside_a_matrix),
        cmocka_unit_test(matrix_table),
        cmocka_unit_test(write_back_of_l2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
