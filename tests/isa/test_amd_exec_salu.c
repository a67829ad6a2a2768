/* The scalar unit: results and SCC, 64-bit operands, EXEC, jumps, hardware registers, indexed registers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd_exec.h"

static rig r;

static uint32_t scalar(amd_op op, uint32_t a, uint32_t b, uint32_t *scc)
{
    r.wave.sgpr[4] = a;
    r.wave.sgpr[5] = b;
    r.wave.scc = *scc;
    amd_inst in = sop(AMD_SOP2, op, 6, 4, 5, 0);
    assert_true(rig_run(&r, &in));
    *scc = r.wave.scc;
    return r.wave.sgpr[6];
}

static uint64_t scalar64(amd_op op, uint64_t a, uint64_t b, uint32_t *scc)
{
    memcpy(&r.wave.sgpr[4], &a, 8);
    memcpy(&r.wave.sgpr[8], &b, 8);
    r.wave.scc = *scc;
    amd_inst in = sop(AMD_SOP2, op, 12, 4, 8, 0);
    assert_true(rig_run(&r, &in));
    *scc = r.wave.scc;
    return r.wave.sgpr[12] | (uint64_t)r.wave.sgpr[13] << 32;
}

static int setup(void **state)
{
    (void)state;
    rig_init(&r, AMD_GFX803, 64);
    return 0;
}

static void test_results_and_scc(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        uint32_t a, b, scc, result, scc_after;
    } rows[] = {
        { AMD_S_ADD_U32, 0xffffffff, 1, 0, 0, 1 },
        { AMD_S_ADD_U32, 1, 2, 1, 3, 0 },
        { AMD_S_SUB_U32, 1, 2, 0, 0xffffffff, 1 },
        { AMD_S_ADD_I32, 0x7fffffff, 1, 0, 0x80000000, 1 },
        { AMD_S_ADD_I32, 0xffffffff, 1, 1, 0, 0 },
        { AMD_S_SUB_I32, 0x80000000, 1, 0, 0x7fffffff, 1 },
        { AMD_S_SUB_I32, 1, 2, 1, 0xffffffff, 0 },
        { AMD_S_ADDC_U32, 0xffffffff, 0xffffffff, 1, 0xffffffff, 1 },
        { AMD_S_ADDC_U32, 0xffffffff, 0, 1, 0, 1 },
        { AMD_S_SUBB_U32, 0, 0xffffffff, 1, 0, 1 },
        { AMD_S_SUBB_U32, 5, 3, 1, 1, 0 },
        { AMD_S_MIN_I32, 0xffffffff, 1, 0, 0xffffffff, 1 },
        { AMD_S_MIN_U32, 0xffffffff, 1, 1, 1, 0 },
        { AMD_S_MAX_I32, 0xffffffff, 1, 1, 1, 0 },
        { AMD_S_MAX_U32, 0xffffffff, 1, 0, 0xffffffff, 1 },
        { AMD_S_CSELECT_B32, 7, 9, 1, 7, 1 },
        { AMD_S_CSELECT_B32, 7, 9, 0, 9, 0 },
        { AMD_S_AND_B32, 0xf0, 0x0f, 1, 0, 0 },
        { AMD_S_NAND_B32, 0xffffffff, 0xffffffff, 1, 0, 0 },
        { AMD_S_ORN2_B32, 0, 0xfffffffe, 0, 1, 1 },
        { AMD_S_ANDN2_B32, 0xff, 0x0f, 0, 0xf0, 1 },
        { AMD_S_XNOR_B32, 5, 5, 0, 0xffffffff, 1 },
        { AMD_S_LSHL_B32, 1, 33, 0, 2, 1 },
        { AMD_S_LSHR_B32, 1, 1, 1, 0, 0 },
        { AMD_S_ASHR_I32, 0x80000000, 31, 0, 0xffffffff, 1 },
        { AMD_S_BFM_B32, 4, 8, 1, 0xf00, 1 },
        { AMD_S_MUL_I32, 0xffffffff, 3, 1, 0xfffffffd, 1 },
        { AMD_S_MUL_HI_U32, 0xffffffff, 0xffffffff, 0, 0xfffffffe, 0 },
        { AMD_S_MUL_HI_I32, 0xffffffff, 0xffffffff, 0, 0, 0 },
        { AMD_S_BFE_U32, 0xabcdef12, 8 | 8 << 16, 0, 0xef, 1 },
        { AMD_S_BFE_U32, 0xabcdef12, 8, 1, 0, 0 },
        { AMD_S_BFE_U32, 0xabcdef12, 4 | 32 << 16, 0, 0x0abcdef1, 1 },
        { AMD_S_BFE_I32, 0x0000f000, 12 | 4 << 16, 0, 0xffffffff, 1 },
        { AMD_S_BFE_I32, 0x80000000, 28 | 31 << 16, 0, 0xfffffff8, 1 },
        { AMD_S_ABSDIFF_I32, 2, 7, 0, 5, 1 },
        { AMD_S_PACK_LL_B32_B16, 0x11112222, 0x33334444, 1, 0x44442222, 1 },
        { AMD_S_PACK_LH_B32_B16, 0x11112222, 0x33334444, 0, 0x33332222, 0 },
        { AMD_S_PACK_HH_B32_B16, 0x11112222, 0x33334444, 0, 0x33331111, 0 },
        { AMD_S_LSHL3_ADD_U32, 0x20000001, 1, 0, 9, 1 },
        { AMD_S_CMP_GT_I32, 0xffffffff, 1, 1, 0, 0 },
        { AMD_S_CMP_GT_U32, 0xffffffff, 1, 0, 0, 1 },
        { AMD_S_BITCMP1_B32, 0x10, 36, 0, 0, 1 },
        { AMD_S_BITCMP0_B32, 0x10, 4, 1, 0, 0 },
        { AMD_S_NOT_B32, 0xffffffff, 0, 1, 0, 0 },
        { AMD_S_BREV_B32, 1, 0, 1, 0x80000000, 1 },
        { AMD_S_BCNT0_I32_B32, 0xff, 0, 0, 24, 1 },
        { AMD_S_BCNT1_I32_B32, 0, 0, 1, 0, 0 },
        { AMD_S_FF1_I32_B32, 0x100, 0, 0, 8, 0 },
        { AMD_S_FF1_I32_B32, 0, 0, 0, 0xffffffff, 0 },
        { AMD_S_FF0_I32_B32, 0xff, 0, 0, 8, 0 },
        { AMD_S_FLBIT_I32_B32, 0x0000ffff, 0, 0, 16, 0 },
        { AMD_S_FLBIT_I32, 0xffffff00, 0, 0, 24, 0 },
        { AMD_S_FLBIT_I32, 0xffffffff, 0, 0, 0xffffffff, 0 },
        { AMD_S_SEXT_I32_I8, 0x180, 0, 1, 0xffffff80, 1 },
        { AMD_S_SEXT_I32_I16, 0x18000, 0, 1, 0xffff8000, 1 },
        { AMD_S_ABS_I32, 0x80000000, 0, 0, 0x80000000, 1 },
        { AMD_S_ABS_I32, 0xfffffff0, 0, 0, 16, 1 },
        { AMD_S_WQM_B32, 0x00100002, 0, 0, 0x00f0000f, 1 },
        { AMD_S_QUADMASK_B32, 0x00100002, 0, 0, 0x21, 1 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint32_t scc = rows[k].scc;
        bool compare = strncmp(amd_op_name(rows[k].op), "s_cmp", 5) == 0 ||
                       strncmp(amd_op_name(rows[k].op), "s_bitc", 6) == 0;
        r.wave.sgpr[6] = 0;
        uint32_t result = scalar(rows[k].op, rows[k].a, rows[k].b, &scc);
        if ((!compare && result != rows[k].result) || scc != rows[k].scc_after)
            fail_msg("%s(%x, %x): %x, scc %u", amd_op_name(rows[k].op), rows[k].a, rows[k].b, result, scc);
    }
}

static void test_64_bits(void **state)
{
    (void)state;
    uint32_t scc = 0;
    assert_int_equal(scalar64(AMD_S_AND_B64, UINT64_C(0xff00000000), UINT64_C(0xf000000000), &scc),
                     UINT64_C(0xf000000000));
    assert_int_equal(scc, 1);
    assert_int_equal(scalar64(AMD_S_LSHL_B64, 1, 40, &scc), UINT64_C(1) << 40);
    assert_int_equal(scalar64(AMD_S_ASHR_I64, UINT64_C(1) << 63, 60, &scc), UINT64_C(0xfffffffffffffff8));
    assert_int_equal(scalar64(AMD_S_BFE_I64, UINT64_C(0xf0000000000), 40 | 4 << 16, &scc), UINT64_MAX);
    assert_int_equal(scalar64(AMD_S_BFE_U64, UINT64_MAX, 1 | 64 << 16, &scc), UINT64_MAX >> 1);
    assert_int_equal(scalar64(AMD_S_BFM_B64, 4, 0, &scc), 15);
    assert_int_equal(scalar64(AMD_S_BREV_B64, 1, 0, &scc), UINT64_C(1) << 63);
    assert_int_equal((uint32_t)scalar64(AMD_S_FF1_I32_B64, UINT64_C(1) << 40, 0, &scc), 40);
    assert_int_equal((uint32_t)scalar64(AMD_S_BCNT1_I32_B64, UINT64_MAX, 0, &scc), 64);
    /* Constants: integers are sign extended, 1.0 is a double, a literal is zero extended. */
    amd_inst in = sop(AMD_SOP1, AMD_S_MOV_B64, 20, AMD_INT_MINUS + 1, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[21], UINT32_MAX);
    in.src[0].code = AMD_FLOAT + 2;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[21], 0x3ff00000);
    in.src[0].code = AMD_LITERAL;
    in.literal = 0x80000000;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[20], 0x80000000);
    assert_int_equal(r.wave.sgpr[21], 0);
}

static void test_exec_and_null(void **state)
{
    (void)state;
    r.wave.sgpr[4] = 0xf;
    r.wave.sgpr[5] = 0;
    amd_inst in = sop(AMD_SOP1, AMD_S_AND_SAVEEXEC_B64, 10, 4, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(amd_wave_exec(&r.wave), 0xf);
    assert_int_equal(r.wave.sgpr[10], UINT32_MAX);
    assert_int_equal(r.wave.sgpr[11], UINT32_MAX);
    assert_int_equal(r.wave.scc, 1);
    rig_init(&r, AMD_GFX1030, 32);
    r.wave.sgpr[4] = 0;
    in = sop(AMD_SOP1, AMD_S_ANDN2_SAVEEXEC_B32, 10, 4, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(amd_wave_exec(&r.wave), 0);
    assert_int_equal(r.wave.scc, 0);
    /* null takes nothing and spoils no neighbour */
    r.wave.sgpr[AMD_EXEC_LO] = 5;
    in = sop(AMD_SOP1, AMD_S_MOV_B64, AMD_NULL, AMD_INT_MINUS, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[AMD_NULL], 0);
    assert_int_equal(r.wave.sgpr[AMD_EXEC_LO], 5);
    in = sop(AMD_SOP1, AMD_S_MOV_B64, 8, AMD_NULL, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[9], 0);
}

static void test_jumps(void **state)
{
    (void)state;
    r.wave.pc = 0x1000;
    amd_inst in = sop(AMD_SOPP, AMD_S_BRANCH, AMD_NO_OPERAND, AMD_NO_OPERAND, AMD_NO_OPERAND, -4);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.pc, 0xff0);
    in.op = AMD_S_CBRANCH_SCC1;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.pc, 0xff0);
    in.op = AMD_S_CBRANCH_VCCZ;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.pc, 0xfe0);
    in.op = AMD_S_CBRANCH_EXECZ;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.pc, 0xfe0);
    r.wave.sgpr[4] = 0x2000;
    r.wave.sgpr[5] = 1;
    in = sop(AMD_SOP1, AMD_S_SWAPPC_B64, 4, 4, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.pc, UINT64_C(0x100002000));
    assert_int_equal(r.wave.sgpr[4], 0xfe0);
    in = sop(AMD_SOPP, AMD_S_BARRIER, AMD_NO_OPERAND, AMD_NO_OPERAND, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.stop, AMD_AT_BARRIER);
    in.op = AMD_S_ENDPGM;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.stop, AMD_ENDED);
    in.op = AMD_S_TRAP;
    in.simm = 2;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.fault.kind, LS_FAULT_TRAP);
}

static void test_constants_of_sopk(void **state)
{
    (void)state;
    r.wave.sgpr[3] = 0x7fffffff;
    amd_inst in = sop(AMD_SOPK, AMD_S_ADDK_I32, 3, AMD_NO_OPERAND, AMD_NO_OPERAND, 1);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[3], 0x80000000);
    assert_int_equal(r.wave.scc, 1);
    in = sop(AMD_SOPK, AMD_S_MOVK_I32, 3, AMD_NO_OPERAND, AMD_NO_OPERAND, -2);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[3], 0xfffffffe);
    in = sop(AMD_SOPK, AMD_S_CMPK_LT_I32, AMD_NO_OPERAND, 3, AMD_NO_OPERAND, -1);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.scc, 1);
    in.op = AMD_S_CMPK_EQ_U32; /* the constant is zero extended here */
    in.simm = -2;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.scc, 0);
    in = sop(AMD_SOPK, AMD_S_CMOVK_I32, 3, AMD_NO_OPERAND, AMD_NO_OPERAND, 9);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[3], 0xfffffffe);
}

static void test_hardware_registers(void **state)
{
    (void)state;
    /* MODE[7:4]: register 1, offset 4, width 4 */
    int field = 1 | 4 << 6 | 3 << 11;
    amd_inst in = sop(AMD_SOPK, AMD_S_SETREG_IMM32_B32, AMD_NO_OPERAND, AMD_LITERAL, AMD_NO_OPERAND, field);
    in.literal = 0xfc;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.mode, 0xc0 | MODE_IEEE);
    in = sop(AMD_SOPK, AMD_S_GETREG_B32, 7, AMD_NO_OPERAND, AMD_NO_OPERAND, field);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[7], 0xc);
    in.op = AMD_S_DENORM_MODE;
    in.format = AMD_SOPP;
    in.simm = 5;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.mode, 0x50 | MODE_IEEE);
    in.op = AMD_S_SLEEP;
    in.simm = 3;
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.wait_sleep, 3);
}

static void test_relative_registers(void **state)
{
    (void)state;
    r.wave.sgpr[AMD_M0] = 3;
    r.wave.sgpr[7] = 77;
    amd_inst in = sop(AMD_SOP1, AMD_S_MOVRELS_B32, 20, 4, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[20], 77);
    in = sop(AMD_SOP1, AMD_S_MOVRELD_B32, 20, 7, AMD_NO_OPERAND, 0);
    assert_true(rig_run(&r, &in));
    assert_int_equal(r.wave.sgpr[23], 77);
    r.wave.sgpr[AMD_M0] = 0xffff; /* beyond the file: stays inside */
    assert_true(rig_run(&r, &in));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_results_and_scc, setup),
        cmocka_unit_test_setup(test_64_bits, setup),
        cmocka_unit_test_setup(test_exec_and_null, setup),
        cmocka_unit_test_setup(test_jumps, setup),
        cmocka_unit_test_setup(test_constants_of_sopk, setup),
        cmocka_unit_test_setup(test_hardware_registers, setup),
        cmocka_unit_test_setup(test_relative_registers, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
