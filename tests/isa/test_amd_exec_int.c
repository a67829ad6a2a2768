/* Integer and bit operations of the vector unit: known values, carries, saturation, packed halves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd_exec.h"

static rig r;

static int setup(void **state)
{
    (void)state;
    rig_init(&r, AMD_GFX1030, 64);
    return 0;
}

static void test_known_values(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        uint32_t a, b, c, expect;
    } rows[] = {
        { AMD_V_LSHLREV_B32, 33, 3, 0, 6 },
        { AMD_V_LSHRREV_B32, 20, 0x80000000, 0, 0x800 },
        { AMD_V_LSHRREV_B32, 33, 0x80000000, 0, 0x40000000 }, /* five bits of the amount count */
        { AMD_V_ASHRREV_I32, 4, 0x80000000, 0, 0xf8000000 },
        { AMD_V_LSHL_ADD_U32, 3, 4, 5, 53 },
        { AMD_V_ADD_LSHL_U32, 3, 4, 2, 28 },
        { AMD_V_LSHL_OR_B32, 1, 4, 3, 19 },
        { AMD_V_XAD_U32, 5, 3, 10, 16 },
        { AMD_V_ADD3_U32, 1, 2, 0xffffffff, 2 },
        { AMD_V_AND_OR_B32, 0xff, 0x0f, 0x100, 0x10f },
        { AMD_V_BFE_U32, 0xabcdef12, 8, 8, 0xef },
        { AMD_V_BFE_I32, 0xabcdef12, 8, 8, 0xffffffef },
        { AMD_V_BFE_I32, 0xabcdef12, 8, 0, 0 },
        { AMD_V_BFE_I32, 0xabcdef12, 24, 8, 0xffffffab },
        { AMD_V_BFE_I32, 0xabcdef12, 28, 8, 0xfffffffa }, /* beyond bit 31: the sign */
        { AMD_V_BFE_I32, 0x7bcdef12, 28, 31, 7 },
        { AMD_V_BFE_U32, 0xabcdef12, 28, 8, 10 },
        { AMD_V_BFI_B32, 0xff00, 0x1234, 0xabcd, 0x12cd },
        { AMD_V_BFM_B32, 8, 4, 0, 0xff0 },
        { AMD_V_ALIGNBIT_B32, 0x12345678, 0x9abcdef0, 8, 0x789abcde },
        { AMD_V_ALIGNBYTE_B32, 0x12345678, 0x9abcdef0, 1, 0x789abcde },
        { AMD_V_PERM_B32, 0x44332211, 0x88776655, 0x07000c0d, 0x445500ff },
        { AMD_V_PERM_B32, 0x00008000, 0x80000000, 0x0b0a0908, 0x00ffff00 },
        { AMD_V_BFREV_B32, 0x80000001, 0, 0, 0x80000001 },
        { AMD_V_FFBH_U32, 0x00010000, 0, 0, 15 },
        { AMD_V_FFBH_U32, 0, 0, 0, 0xffffffff },
        { AMD_V_FFBL_B32, 0x00010000, 0, 0, 16 },
        { AMD_V_FFBH_I32, 0xffff0000, 0, 0, 16 },
        { AMD_V_FFBH_I32, 0xffffffff, 0, 0, 0xffffffff },
        { AMD_V_BCNT_U32_B32, 0xf0f0f0f0, 4, 0, 20 },
        { AMD_V_MUL_HI_U32, 0x80000000, 6, 0, 3 },
        { AMD_V_MUL_HI_I32, 0xffffffff, 5, 0, 0xffffffff },
        { AMD_V_MUL_U32_U24, 0xff000003, 0x01000005, 0, 15 },
        { AMD_V_MUL_I32_I24, 0x00ffffff, 7, 0, 0xfffffff9 },
        { AMD_V_MUL_HI_I32_I24, 0x00800000, 0x007fffff, 0, 0xffffc000 },
        { AMD_V_MAD_U32_U24, 0x01000002, 3, 4, 10 },
        { AMD_V_MAD_I32_I24, 0x00ffffff, 3, 4, 1 },
        { AMD_V_MAD_I32_I16, 0xffff, 3, 4, 1 },
        { AMD_V_MAD_U32_U16, 0xffff, 0xffff, 1, 0xfffe0002 },
        { AMD_V_MED3_I32, 0xffffffff, 5, 3, 3 },
        { AMD_V_MED3_U32, 0xffffffff, 5, 3, 5 },
        { AMD_V_MIN3_I32, 0xffffffff, 5, 3, 0xffffffff },
        { AMD_V_MAX3_U32, 0xffffffff, 5, 3, 0xffffffff },
        { AMD_V_SAD_U8, 0x01ff0203, 0x02000204, 100, 357 },
        { AMD_V_SAD_HI_U8, 0x00000003, 0x00000001, 1, 0x20001 },
        { AMD_V_SAD_U16, 0x00050001, 0x00010005, 1, 9 },
        { AMD_V_SAD_U32, 3, 10, 1, 8 },
        { AMD_V_MSAD_U8, 0x01ff0203, 0x00000204, 1, 2 },
        { AMD_V_LERP_U8, 0x01020304, 0x03040506, 0x00010001, 0x02030405 },
        { AMD_V_CVT_PK_U16_U32, 0x12345, 0x42, 0, 0x0042ffff },
        { AMD_V_CVT_PK_I16_I32, 0xffff0000, 0x12345, 0, 0x7fff8000 },
        { AMD_V_PACK_B32_F16, 0x11113c00, 0x22224000, 0, 0x40003c00 },
        { AMD_V_DOT4_I32_I8, 0xff020304, 0x01010101, 10, 18 },
        { AMD_V_DOT4_U32_U8, 0xff020304, 0x01010101, 10, 274 },
        { AMD_V_DOT8_I32_I4, 0xf1f1f1f1, 0x11111111, 3, 3 },
        { AMD_V_DOT2_I32_I16, 0xffff0002, 0x00030004, 1, 6 },
        { AMD_V_PK_ADD_U16, 0xffff0001, 0x00010002, 0, 0x00000003 },
        { AMD_V_PK_MUL_LO_U16, 0x00030004, 0x00050006, 0, 0x000f0018 },
        { AMD_V_PK_MAD_I16, 0xffff0004, 0x00050006, 0x00010001, 0xfffc0019 },
        { AMD_V_PK_ASHRREV_I16, 0x00040001, 0x80008000, 0, 0xf800c000 },
        { AMD_V_PK_MIN_I16, 0xffff0001, 0x00010002, 0, 0xffff0001 },
        { AMD_V_PK_ADD_F16, 0x3c003c00, 0x40003c00, 0, 0x42004000 },
        { AMD_V_PK_FMA_F16, 0x40003c00, 0x42003c00, 0x3c003c00, 0x47004000 },
        { AMD_V_XOR3_B32, 1, 2, 4, 7 },
        { AMD_V_SAT_PK_U8_I16, 0xffff0123, 0, 0, 0x000000ff },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint32_t got = rig_op(&r, rows[k].op, rows[k].a, rows[k].b, rows[k].c);
        if (got != rows[k].expect)
            fail_msg("%s(%x, %x, %x): %x, not %x", amd_op_name(rows[k].op), rows[k].a, rows[k].b, rows[k].c,
                     got, rows[k].expect);
    }
    assert_int_equal(rig_op64(&r, AMD_V_LSHLREV_B64, 40, 3, 0), UINT64_C(3) << 40);
    assert_int_equal(rig_op64(&r, AMD_V_ASHRREV_I64, 4, UINT64_C(1) << 63, 0), UINT64_C(0xf800000000000000));
    assert_int_equal(rig_op64(&r, AMD_V_MAD_U64_U32, 0xffffffff, 0xffffffff, 1), UINT64_C(0xfffffffe00000002));
    assert_int_equal(rig_op64(&r, AMD_V_MAD_I64_I32, 0xffffffff, 5, 1), (uint64_t)-4);
    assert_int_equal(rig_op64(&r, AMD_V_QSAD_PK_U16_U8, UINT64_C(0x0807060504030201), 0x04030201, 0),
                     UINT64_C(0x000c000800040000));
}

/* A 64-bit sum of two halves, against the host's, with a carry in every lane of its own. */
static void test_carries(void **state)
{
    (void)state;
    uint64_t seed = 1, low_carry = 0;
    uint64_t a[64], b[64];
    for (unsigned i = 0; i < 64; i++) {
        a[i] = (uint64_t)corner(&seed) << 32 | corner(&seed);
        b[i] = (uint64_t)corner(&seed) << 32 | corner(&seed);
        rig_vgpr(&r, 2)[i] = (uint32_t)a[i];
        rig_vgpr(&r, 3)[i] = (uint32_t)(a[i] >> 32);
        rig_vgpr(&r, 4)[i] = (uint32_t)b[i];
        rig_vgpr(&r, 5)[i] = (uint32_t)(b[i] >> 32);
        low_carry |= (uint64_t)((uint64_t)(uint32_t)a[i] + (uint32_t)b[i] > UINT32_MAX) << i;
    }
    amd_inst low = vop(AMD_V_ADD_CO_U32, V(8), V(2), V(4), AMD_NO_OPERAND);
    amd_inst high = vop(AMD_V_ADD_CO_CI_U32, V(9), V(3), V(5), AMD_VCC_LO);
    assert_true(rig_run(&r, &low));
    assert_int_equal(rig_vcc(&r), low_carry);
    assert_true(rig_run(&r, &high));
    for (unsigned i = 0; i < 64; i++) {
        uint64_t sum = rig_vgpr(&r, 8)[i] | (uint64_t)rig_vgpr(&r, 9)[i] << 32;
        assert_int_equal(sum, a[i] + b[i]);
        assert_int_equal(rig_vcc(&r) >> i & 1, a[i] + b[i] < a[i]);
    }
    low.op = AMD_V_SUB_CO_U32;
    high.op = AMD_V_SUB_CO_CI_U32;
    high.sdst.code = 10;
    assert_true(rig_run(&r, &low));
    assert_true(rig_run(&r, &high));
    for (unsigned i = 0; i < 64; i++) {
        uint64_t difference = rig_vgpr(&r, 8)[i] | (uint64_t)rig_vgpr(&r, 9)[i] << 32;
        assert_int_equal(difference, a[i] - b[i]);
        assert_int_equal(r.wave.sgpr[10 + i / 32] >> i % 32 & 1, a[i] < b[i]);
    }
    /* Lanes that are off keep their register and have no carry. */
    r.wave.sgpr[AMD_EXEC_LO] = 1;
    r.wave.sgpr[AMD_EXEC_HI] = 0;
    uint32_t kept = rig_vgpr(&r, 8)[7];
    rig_fill(&r, 2, UINT32_MAX);
    rig_fill(&r, 4, 1);
    low.op = AMD_V_ADD_CO_U32;
    assert_true(rig_run(&r, &low));
    assert_int_equal(rig_vcc(&r), 1);
    assert_int_equal(rig_vgpr(&r, 8)[7], kept);
    assert_int_equal(rig_vgpr(&r, 8)[0], 0);
}

static uint32_t clamped(amd_op op, uint32_t a, uint32_t b, uint32_t c)
{
    rig_fill(&r, 2, a);
    rig_fill(&r, 4, b);
    rig_fill(&r, 6, c);
    amd_inst in = vop(op, V(8), V(2), V(4), V(6));
    in.flags = AMD_CLAMP;
    assert_true(rig_run(&r, &in));
    return rig_vgpr(&r, 8)[5];
}

static void test_saturation(void **state)
{
    (void)state;
    assert_int_equal(clamped(AMD_V_ADD_NC_U32, 0xffffffff, 2, 0), 0xffffffff);
    assert_int_equal(clamped(AMD_V_SUB_NC_U32, 1, 2, 0), 0);
    assert_int_equal(clamped(AMD_V_ADD_NC_I32, 0x7fffffff, 1, 0), 0x7fffffff);
    assert_int_equal(clamped(AMD_V_SUB_NC_I32, 0x80000000, 1, 0), 0x80000000);
    assert_int_equal(clamped(AMD_V_MAD_U32_U24, 0xffffff, 0xffffff, 1), 0xffffffff);
    assert_int_equal(clamped(AMD_V_PK_ADD_I16, 0x7fff8000, 0x00018000, 0), 0x7fff8000);
    assert_int_equal(clamped(AMD_V_DOT4_I32_I8, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff), 0x7fffffff);
    assert_int_equal(clamped(AMD_V_ADD_CO_U32, 0xffffffff, 2, 0), 0xffffffff);
    assert_int_equal(rig_vcc(&r), UINT64_MAX);
}

static void test_compares_and_class(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        uint32_t a, b;
        bool expect;
    } rows[] = {
        { AMD_V_CMP_LT_I32, 0xffffffff, 0, true },
        { AMD_V_CMP_LT_U32, 0xffffffff, 0, false },
        { AMD_V_CMP_GE_I16, 0x7fff, 0xffff8000, true },
        { AMD_V_CMP_NE_U16, 0x10005, 0x20005, false },
        { AMD_V_CMP_LG_F32, 0x7fc00000, 0x3f800000, false },
        { AMD_V_CMP_NEQ_F32, 0x7fc00000, 0x3f800000, true },
        { AMD_V_CMP_U_F32, 0x7fc00000, 0, true },
        { AMD_V_CMP_O_F32, 0x7fc00000, 0, false },
        { AMD_V_CMP_EQ_F32, 0x80000000, 0, true },
        { AMD_V_CMP_NLT_F32, 0x7fc00000, 0, true },
        { AMD_V_CMP_CLASS_F32, 0x7f800001, 1, true },
        { AMD_V_CMP_CLASS_F32, 0x7fc00001, 1, false },
        { AMD_V_CMP_CLASS_F32, 0x7fc00001, 2, true },
        { AMD_V_CMP_CLASS_F32, 0xff800000, 4, true },
        { AMD_V_CMP_CLASS_F32, 0xbf800000, 8, true },
        { AMD_V_CMP_CLASS_F32, 0x80000001, 16, true },
        { AMD_V_CMP_CLASS_F32, 0x80000000, 32, true },
        { AMD_V_CMP_CLASS_F32, 0, 64, true },
        { AMD_V_CMP_CLASS_F32, 1, 128, true },
        { AMD_V_CMP_CLASS_F32, 0x3f800000, 256, true },
        { AMD_V_CMP_CLASS_F32, 0x7f800000, 512, true },
        { AMD_V_CMP_CLASS_F32, 0x7f800000, 0x1ff, false },
        { AMD_V_CMP_CLASS_F16, 0x3ff, 128, true },
        { AMD_V_CMP_LT_F16, 0xbc00, 0x3c00, true },
        { AMD_V_CMP_T_U32, 0, 0, true },
        { AMD_V_CMP_F_F32, 0, 0, false },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        (void)rig_op(&r, rows[k].op, rows[k].a, rows[k].b, 0);
        if (rig_vcc(&r) != (rows[k].expect ? UINT64_MAX : 0))
            fail_msg("%s(%x, %x)", amd_op_name(rows[k].op), rows[k].a, rows[k].b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_known_values, setup),
        cmocka_unit_test_setup(test_carries, setup),
        cmocka_unit_test_setup(test_saturation, setup),
        cmocka_unit_test_setup(test_compares_and_class, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
