/* The parts of an instruction around its operation: EXEC, constants, modifiers, SDWA, DPP, halves of
 * registers, indexed registers, lanes read and written one by one. */
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
    rig_init(&r, AMD_GFX803, 64);
    for (unsigned i = 0; i < 64; i++) {
        rig_vgpr(&r, 1)[i] = i;
        rig_vgpr(&r, 2)[i] = 1000 + i;
    }
    return 0;
}

static void run(const amd_inst *in)
{
    assert_true(rig_run(&r, in));
}

static void test_exec(void **state)
{
    (void)state;
    r.wave.sgpr[AMD_EXEC_LO] = 0x0000ff00;
    r.wave.sgpr[AMD_EXEC_HI] = 0x80000000;
    amd_inst in = vop(AMD_V_ADD_F32, V(3), INT(0), V(1), AMD_NO_OPERAND);
    rig_fill(&r, 3, 7);
    in.op = AMD_V_OR_B32;
    run(&in);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(rig_vgpr(&r, 3)[i], (i >= 8 && i < 16) || i == 63 ? i : 7);
    in = vop(AMD_V_CMP_GE_U32, AMD_NO_OPERAND, V(1), INT(0), AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vcc(&r), UINT64_C(0x800000000000ff00));
    /* v_cmpx of gfx803 writes both; gfx10 has EXEC as destination. */
    in = vop(AMD_V_CMPX_GT_U32, AMD_NO_OPERAND, V(1), INT(10), AMD_NO_OPERAND);
    in.sdst.code = 20;
    run(&in);
    assert_int_equal(amd_wave_exec(&r.wave), UINT64_C(0x800000000000f800));
    assert_int_equal(r.wave.sgpr[20], 0xf800);
    r.wave.sgpr[AMD_EXEC_LO] = r.wave.sgpr[AMD_EXEC_HI] = 0;
    in = vop(AMD_V_READFIRSTLANE_B32, 30, V(2), AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(r.wave.sgpr[30], 1000);
    in = vop(AMD_V_READLANE_B32, 31, V(2), INT(9), AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(r.wave.sgpr[31], 1009);
    in = vop(AMD_V_WRITELANE_B32, V(3), INT(33), INT(64), AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 33);
    r.wave.sgpr[AMD_EXEC_HI] = 0x10;
    in = vop(AMD_V_READFIRSTLANE_B32, 30, V(2), AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(r.wave.sgpr[30], 1036);
}

static void test_constants(void **state)
{
    (void)state;
    amd_inst in = vop(AMD_V_MOV_B32, V(3), AMD_INT_MINUS + 15, AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[63], (uint32_t)-16);
    in.src[0].code = AMD_FLOAT + 8;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x3e22f983);
    in.src[0].code = AMD_LITERAL;
    in.literal = 0x12345678;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[9], 0x12345678);
    in.src[0].code = AMD_SCC;
    r.wave.scc = 1;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[9], 1);
    /* 1.0 is as wide as the operand; a literal is the upper half of a double. */
    rig_fill(&r, 4, 0);
    in = vop(AMD_V_ADD_F16, V(3), AMD_FLOAT + 2, V(4), AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[5], 0x3c00);
    rig_fill64(&r, 4, 0);
    in = vop(AMD_V_ADD_F64, V(6), AMD_FLOAT + 2, V(4), AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 7)[5], 0x3ff00000);
    in.src[0].code = AMD_LITERAL;
    in.literal = 0x40000000;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 7)[5], 0x40000000);
    assert_int_equal(rig_vgpr(&r, 6)[5], 0);
}

static void test_modifiers(void **state)
{
    (void)state;
    rig_fill(&r, 4, of_f32(-3));
    rig_fill(&r, 5, of_f32(2));
    amd_inst in = vop(AMD_V_ADD_F32, V(3), V(4), V(5), AMD_NO_OPERAND);
    in.abs = 1;
    in.neg = 2;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], of_f32(1));
    in.abs = in.neg = 0;
    in.flags = AMD_CLAMP;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0);
    /* The output modifier needs flushed denormals and no IEEE mode. */
    in.flags = 0;
    in.omod = 2;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], of_f32(-1));
    r.wave.mode = MODE_FLUSH_32;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], of_f32(-4));
    /* NaN becomes 0 by DX10_CLAMP only. */
    rig_fill(&r, 4, 0x7fc00000);
    in.omod = 0;
    in.flags = AMD_CLAMP;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x7fc00000);
    r.wave.mode |= MODE_DX10;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0);
}

static void test_halves(void **state)
{
    (void)state;
    rig_fill(&r, 3, 0xabcd1234);
    rig_fill(&r, 4, 0x40003c00);
    amd_inst in = vop(AMD_V_ADD_F16, V(3), V(4), V(4), AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x4000); /* gfx803 clears the upper half */
    rig_init(&r, AMD_GFX1030, 32);
    rig_fill(&r, 3, 0xabcd1234);
    rig_fill(&r, 4, 0x40003c00);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0xabcd4000);
    in.op_sel = 1 | 8; /* upper half of the first source, upper half of the destination */
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x42004000);
    in = vop(AMD_V_PK_ADD_F16, V(3), V(4), V(4), AMD_NO_OPERAND);
    in.format = AMD_VOP3P;
    in.op_sel = 1;
    in.op_sel_hi = 2;
    in.neg_hi = 1;
    run(&in); /* low: high + low; high: -low + high */
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x3c004200);
    in = vop(AMD_V_FMA_MIX_F32, V(3), V(4), V(4), V(5));
    in.format = AMD_VOP3P;
    in.op_sel = 1;
    in.op_sel_hi = 3;
    rig_fill(&r, 5, of_f32(10));
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], of_f32(12));
    in.op = AMD_V_FMA_MIXHI_F16;
    rig_fill(&r, 3, 0x11112222);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x4a002222);
}

static void test_sdwa(void **state)
{
    (void)state;
    rig_fill(&r, 4, 0x80f07f01);
    rig_fill(&r, 5, 0x00000010);
    rig_fill(&r, 3, 0x11223344);
    amd_inst in = vop(AMD_V_OR_B32, V(3), V(4), V(5), AMD_NO_OPERAND);
    in.form = AMD_SDWA;
    in.sdwa.src_sel[0] = 3;
    in.sdwa.src_sel[1] = 6;
    in.sdwa.dst_sel = 6;
    in.sext = 1;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0xffffff90);
    in.sext = 0;
    in.sdwa.dst_sel = 1;
    in.sdwa.dst_unused = 2;
    rig_fill(&r, 3, 0x11223344);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x11229044);
    in.sdwa.dst_unused = 0;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x9000);
    in.sdwa.dst_unused = 1;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0xffff9000);
    in.sdwa.src_sel[0] = 5;
    in.sdwa.dst_sel = 5;
    in.sdwa.dst_unused = 2;
    rig_fill(&r, 3, 0x11223344);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 0x80f03344);
}

static void dpp(unsigned ctrl, uint32_t flags)
{
    amd_inst in = vop(AMD_V_MOV_B32, V(3), V(1), AMD_NO_OPERAND, AMD_NO_OPERAND);
    in.form = AMD_DPP16;
    in.dpp.ctrl = (uint16_t)ctrl;
    in.dpp.row_mask = in.dpp.bank_mask = 15;
    in.flags = flags;
    rig_fill(&r, 3, 99);
    run(&in);
}

static void test_dpp(void **state)
{
    (void)state;
    const uint32_t *v = rig_vgpr(&r, 3);
    dpp(0x1b, 0); /* quad_perm:[3,2,1,0] */
    assert_int_equal(v[0], 3);
    assert_int_equal(v[6], 5);
    dpp(0x101, 0); /* row_shl:1 */
    assert_int_equal(v[0], 1);
    assert_int_equal(v[15], 99);
    dpp(0x111, AMD_BOUND_CTRL); /* row_shr:1 */
    assert_int_equal(v[17], 16);
    assert_int_equal(v[16], 0);
    dpp(0x121, 0); /* row_ror:1 */
    assert_int_equal(v[16], 31);
    dpp(0x130, 0); /* wave_shl:1 */
    assert_int_equal(v[15], 16);
    assert_int_equal(v[63], 99);
    dpp(0x13c, 0); /* wave_ror:1 */
    assert_int_equal(v[0], 63);
    dpp(0x140, 0);
    assert_int_equal(v[0], 15);
    dpp(0x141, 0);
    assert_int_equal(v[0], 7);
    dpp(0x142, 0); /* row_bcast:15 */
    assert_int_equal(v[5], 99);
    assert_int_equal(v[20], 15);
    assert_int_equal(v[50], 47);
    dpp(0x143, 0);
    assert_int_equal(v[31], 99);
    assert_int_equal(v[40], 31);
    /* A source lane that is off is like none, unless FI; masks keep rows and banks. */
    r.wave.sgpr[AMD_EXEC_LO] = 0xfffffffe;
    dpp(0x00, 0);
    assert_int_equal(v[1], 99);
    assert_int_equal(v[5], 4);
    dpp(0x00, AMD_FI);
    assert_int_equal(v[1], 0);
    assert_int_equal(v[0], 99);
    rig_init(&r, AMD_GFX1010, 32);
    for (unsigned i = 0; i < 32; i++)
        rig_vgpr(&r, 1)[i] = i;
    v = rig_vgpr(&r, 3);
    dpp(0x155, 0); /* row_share:5 */
    assert_int_equal(v[20], 21);
    dpp(0x163, 0); /* row_xmask:3 */
    assert_int_equal(v[20], 23);
    amd_inst in = vop(AMD_V_MOV_B32, V(3), V(1), AMD_NO_OPERAND, AMD_NO_OPERAND);
    in.form = AMD_DPP8;
    for (unsigned k = 0; k < 8; k++)
        in.dpp8[k] = (uint8_t)(7 - k);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[9], 14);
    in.form = AMD_DPP16;
    memset(in.dpp8, 0, sizeof in.dpp8);
    in.dpp.ctrl = 0xe4;
    in.dpp.row_mask = 2;
    in.dpp.bank_mask = 1;
    rig_fill(&r, 3, 99);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[0], 99);
    assert_int_equal(rig_vgpr(&r, 3)[18], 18);
    assert_int_equal(rig_vgpr(&r, 3)[20], 99);
}

static void test_permlane(void **state)
{
    (void)state;
    rig_init(&r, AMD_GFX1030, 32);
    for (unsigned i = 0; i < 32; i++)
        rig_vgpr(&r, 1)[i] = i;
    r.wave.sgpr[4] = 0x76543210;
    r.wave.sgpr[5] = 0x00000000;
    amd_inst in = vop(AMD_V_PERMLANE16_B32, V(3), V(1), 4, 5);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[3], 3);
    assert_int_equal(rig_vgpr(&r, 3)[12], 0);
    assert_int_equal(rig_vgpr(&r, 3)[28], 16);
    in.op = AMD_V_PERMLANEX16_B32;
    run(&in);
    assert_int_equal(rig_vgpr(&r, 3)[3], 19);
    assert_int_equal(rig_vgpr(&r, 3)[20], 4);
}

static void test_indexed(void **state)
{
    (void)state;
    r.wave.sgpr[4] = 3;
    rig_fill(&r, 7, 77);
    amd_inst on = sop(AMD_SOPC, AMD_S_SET_GPR_IDX_ON, AMD_NO_OPERAND, 4, AMD_NO_OPERAND, 1);
    run(&on);
    amd_inst in = vop(AMD_V_MOV_B32, V(20), V(4), AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 20)[0], 77); /* v4 with index 3 */
    on.simm = 8;
    run(&on);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 23)[0], 0); /* destination indexed, source not */
    amd_inst off = sop(AMD_SOPP, AMD_S_SET_GPR_IDX_OFF, AMD_NO_OPERAND, AMD_NO_OPERAND, AMD_NO_OPERAND, 0);
    run(&off);
    r.wave.sgpr[AMD_M0] = 5;
    in = vop(AMD_V_MOVRELS_B32, V(10), V(2), AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 10)[0], 77);
    in = vop(AMD_V_MOVRELD_B32, V(10), V(7), AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 15)[0], 77);
    r.wave.sgpr[AMD_M0] = 0x10000; /* far outside: stays inside the file */
    run(&in);
    in = vop(AMD_V_SWAP_B32, V(1), V(2), AMD_NO_OPERAND, AMD_NO_OPERAND);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 1)[4], 1004);
    assert_int_equal(rig_vgpr(&r, 2)[4], 4);
}

static void test_counting_lanes(void **state)
{
    (void)state;
    amd_inst in = vop(AMD_V_MBCNT_LO_U32_B32, V(3), AMD_INT_MINUS, INT(0), AMD_NO_OPERAND);
    run(&in);
    in = vop(AMD_V_MBCNT_HI_U32_B32, V(4), AMD_INT_MINUS, V(3), AMD_NO_OPERAND);
    run(&in);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(rig_vgpr(&r, 4)[i], i);
    r.wave.sgpr[10] = 0xaaaaaaaa;
    r.wave.sgpr[11] = 0xffff0000;
    in = vop(AMD_V_CNDMASK_B32, V(5), V(1), V(2), 10);
    run(&in);
    assert_int_equal(rig_vgpr(&r, 5)[0], 0);
    assert_int_equal(rig_vgpr(&r, 5)[1], 1001);
    assert_int_equal(rig_vgpr(&r, 5)[33], 33);
    assert_int_equal(rig_vgpr(&r, 5)[63], 1063);
    in = vop(AMD_V_CNDMASK_B32, V(5), V(1), V(2), AMD_NULL); /* 0 in all lanes, though EXEC follows it */
    run(&in);
    assert_int_equal(rig_vgpr(&r, 5)[1], 1);
    assert_int_equal(rig_vgpr(&r, 5)[33], 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_exec, setup),           cmocka_unit_test_setup(test_constants, setup),
        cmocka_unit_test_setup(test_modifiers, setup),      cmocka_unit_test_setup(test_halves, setup),
        cmocka_unit_test_setup(test_sdwa, setup),           cmocka_unit_test_setup(test_dpp, setup),
        cmocka_unit_test_setup(test_permlane, setup),       cmocka_unit_test_setup(test_indexed, setup),
        cmocka_unit_test_setup(test_counting_lanes, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
