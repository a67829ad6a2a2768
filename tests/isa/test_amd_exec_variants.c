/* Every variant of the vector bodies gives the same bits. Tested are all operations, random and special
 * operands, and every combination of modifiers and EXEC of an encoding, for both wave sizes, all targets and
 * several MODEs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd_exec.h"

#include "isa/amd/exec/matrix.h"

static const uint32_t modes[] = {
    MODE_ALL | MODE_IEEE, MODE_FLUSH_32, MODE_FLUSH_32 | MODE_DX10, 0, 0xf5, 0xfa, 0xcf
};

/* A random instruction of the operation; the same for every variant. */
static amd_inst random_inst(amd_op op, bool gfx10, uint64_t *seed)
{
    unsigned codes[3];
    for (unsigned k = 0; k < 3; k++) {
        uint32_t r = next_random(seed);
        codes[k] = r % 8 == 0   ? 2 * (r >> 8) % 40
                   : r % 8 == 1 ? INT((r >> 8) % 65)
                   : r % 8 == 2 ? AMD_FLOAT + (r >> 8) % 8
                                : V((r >> 8) % 10);
    }
    bool mask = op == AMD_V_CNDMASK_B32 || op == AMD_V_ADDC_U32 || op == AMD_V_SUBB_U32 ||
                op == AMD_V_SUBBREV_U32 || op == AMD_V_ADD_CO_CI_U32 || op == AMD_V_SUB_CO_CI_U32 ||
                op == AMD_V_SUBREV_CO_CI_U32;
    if (mask)
        codes[2] = AMD_VCC_LO;
    amd_inst in = vop(op, V(next_random(seed) % 10), codes[0], codes[1], codes[2]);
    in.literal = corner(seed);
    uint32_t r = next_random(seed);
    in.sdst.code = r & 1 ? AMD_VCC_LO : 10;
    if (r & 2)
        return in;
    in.neg = (uint8_t)(r >> 4 & 7);
    in.abs = (uint8_t)(r >> 7 & 7);
    in.neg_hi = (uint8_t)(r >> 10 & 7);
    in.op_sel = (uint8_t)(r >> 13 & 15);
    in.op_sel_hi = (uint8_t)(r >> 17 & 7);
    in.omod = (uint8_t)(r >> 20 & 3);
    in.flags = r >> 22 & 1 ? AMD_CLAMP : 0;
    in.form = (uint8_t)(r >> 24 & 3);
    r = next_random(seed);
    if (in.form == AMD_DPP8 && !gfx10)
        in.form = AMD_PLAIN;
    if (in.form != AMD_PLAIN) {
        in.src[0].code = (uint16_t)V(r & 7);
        in.op_sel = 0;
    }
    if (in.form == AMD_SDWA) {
        in.sdwa.dst_sel = (uint8_t)((r >> 3) % 7);
        in.sdwa.dst_unused = (uint8_t)((r >> 6) % 3);
        in.sdwa.src_sel[0] = (uint8_t)((r >> 9) % 7);
        in.sdwa.src_sel[1] = (uint8_t)((r >> 12) % 7);
        in.sext = (uint8_t)(r >> 15 & 3);
    } else if (in.form == AMD_DPP16) {
        static const uint16_t ctrl[] = { 0x1b,  0x101, 0x113, 0x127, 0x130, 0x134, 0x138,
                                         0x13c, 0x140, 0x141, 0x142, 0x143, 0x155, 0x167 };
        in.dpp.ctrl = ctrl[(r >> 3) % 14];
        in.dpp.row_mask = (uint8_t)(r >> 8 & 15);
        in.dpp.bank_mask = (uint8_t)(r >> 12 & 15);
        in.flags |= r >> 16 & 1 ? AMD_BOUND_CTRL : 0;
        in.flags |= r >> 17 & 1 ? AMD_FI : 0;
    } else if (in.form == AMD_DPP8) {
        for (unsigned k = 0; k < 8; k++)
            in.dpp8[k] = (uint8_t)(r >> 3 * k & 7);
    }
    return in;
}

static uint64_t hash_state(const rig *r, uint64_t h)
{
    for (unsigned k = 0; k < 128; k++)
        h = (h ^ r->wave.sgpr[k]) * UINT64_C(0x100000001b3);
    for (unsigned k = 0; k < VGPRS * r->wave.lanes; k++)
        h = (h ^ r->vgpr[k]) * UINT64_C(0x100000001b3);
    return (h ^ r->wave.scc) * UINT64_C(0x100000001b3);
}

/* The effect of an operation on random waves, as one number. */
static uint64_t signature(amd_op op, amd_target target, unsigned lanes, unsigned rounds)
{
    static rig r;
    uint64_t seed = (uint64_t)op * 977 + 13, h = UINT64_C(0xcbf29ce484222325);
    for (unsigned round = 0; round < rounds; round++) {
        rig_init(&r, target, lanes);
        r.wave.mode = modes[next_random(&seed) % (sizeof modes / sizeof *modes)];
        for (unsigned k = 0; k < 106; k++)
            r.wave.sgpr[k] = corner(&seed);
        r.wave.sgpr[AMD_VCC_LO] = next_random(&seed);
        r.wave.sgpr[AMD_VCC_HI] = next_random(&seed);
        r.wave.sgpr[AMD_M0] = next_random(&seed) & 0x00030003;
        for (unsigned k = 0; k < VGPRS * lanes; k++)
            r.vgpr[k] = corner(&seed);
        if (next_random(&seed) & 1) {
            r.wave.sgpr[AMD_EXEC_LO] = next_random(&seed);
            r.wave.sgpr[AMD_EXEC_HI] = lanes == 64 ? next_random(&seed) : 0;
        }
        amd_inst in = random_inst(op, target != AMD_GFX803, &seed);
        if (rig_run(&r, &in))
            h = hash_state(&r, h);
    }
    return h;
}

static bool vector_op(amd_op op)
{
    if (amd_matrix_of(op)) /* one body for all variants; it needs more registers than there are here */
        return false;
    return strncmp(amd_op_name(op), "v_", 2) == 0;
}

static void test_variants_agree(void **state)
{
    (void)state;
    static uint64_t plain[AMD_OP_COUNT][4];
    static const struct {
        amd_target target;
        unsigned lanes;
    } on[4] = { { AMD_GFX803, 64 }, { AMD_GFX1010, 32 }, { AMD_GFX1030, 64 }, { AMD_GFX1030, 32 } };
    unsigned compared = 0;
    assert_true(amd_exec_use_variant("plain"));
    for (int op = 1; op < AMD_OP_COUNT; op++)
        for (unsigned k = 0; k < 4 && vector_op((amd_op)op); k++)
            plain[op][k] = signature((amd_op)op, on[k].target, on[k].lanes, 12);
    for (size_t v = 0; amd_exec_variant_name(v); v++) {
        if (!amd_exec_use_variant(amd_exec_variant_name(v)))
            continue;
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            for (unsigned k = 0; k < 4 && vector_op((amd_op)op); k++) {
                compared++;
                if (signature((amd_op)op, on[k].target, on[k].lanes, 12) != plain[op][k])
                    fail_msg("%s: %s differs from plain on %s with %u lanes", amd_exec_variant_name(v),
                             amd_op_name((amd_op)op), amd_target_name(on[k].target), on[k].lanes);
            }
        }
    }
    assert_true(compared >= 4 * 400);
}

/* Unknown names change nothing. */
static void test_variant_names(void **state)
{
    (void)state;
    assert_true(amd_exec_use_variant("plain"));
    assert_false(amd_exec_use_variant("sse9"));
    assert_string_equal(amd_exec_variant(), "plain");
    size_t count = 0;
    while (amd_exec_variant_name(count))
        count++;
    assert_string_equal(amd_exec_variant_name(count - 1), "plain");
}

/* Every operation of the scalar and vector units that compute can use has a body. */
static void test_coverage(void **state)
{
    (void)state;
    static const char *const graphics[] = { "v_interp_",      "s_cbranch_g_fork",  "s_cbranch_i_fork",
                                            "s_cbranch_join", "s_rfe_restore_b64", "v_screen_partition" };
    for (int target = 0; target < AMD_TARGET_COUNT; target++) {
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            const char *name = amd_op_name((amd_op)op);
            bool skip = strncmp(name, "v_", 2) != 0 && strncmp(name, "s_", 2) != 0;
            for (size_t k = 0; k < sizeof graphics / sizeof *graphics; k++)
                skip |= strncmp(name, graphics[k], strlen(graphics[k])) == 0;
            if (!skip && amd_op_exists((amd_target)target, (amd_op)op) &&
                !amd_exec_has((amd_target)target, (amd_op)op))
                fail_msg("%s has no body on %s", name, amd_target_name((amd_target)target));
        }
    }
    assert_false(amd_exec_has(AMD_GFX803, AMD_V_PERMLANE16_B32));
    assert_false(amd_exec_has(AMD_GFX803, AMD_OP_INVALID));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_variant_names),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
