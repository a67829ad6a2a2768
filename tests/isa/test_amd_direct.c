/* test_amd_direct.c: entries of direct lists do what the instruction's body does, bit for bit: vector and scalar
 * operations with random operands of every kind, in several MODEs, whatever state the host's floating point was in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/exec/start.h"
#include "isa/amd_exec.h"

#include <stdio.h>

typedef struct full_rig {
    amd_wave wave;
    amd_group group;
    _Alignas(64) uint32_t vgpr[AMD_VGPR_ROWS_GFX9 * 64];
} full_rig;

static full_rig by_body, by_entries;
static const uint32_t modes[] = {
    MODE_ALL | MODE_IEEE, MODE_FLUSH_32, MODE_FLUSH_32 | MODE_DX10, 0, 0xf5, 0xfa, 0xcf
};

static const amd_direct *after_last(amd_wave *wave, const amd_direct *entry)
{
    (void)wave;
    return entry;
}

enum { WIDTH = 64 * 16 }; /* registers that instructions use, in words */

/* Values without NaNs take the vector path; with them the way through the body is tried. */
static void fill(full_rig *r, amd_target target, unsigned lanes, bool tame, uint64_t *seed)
{
    memset(&r->wave, 0, sizeof r->wave);
    r->wave.vgpr = r->vgpr;
    r->wave.vgpr_count = 256;
    r->wave.lanes = (uint8_t)lanes;
    r->wave.target = (uint8_t)target;
    r->wave.group = &r->group;
    r->wave.mode = modes[next_random(seed) % (sizeof modes / sizeof *modes)];
    r->wave.scc = next_random(seed) & 1;
    for (unsigned k = 0; k < 124; k++)
        r->wave.sgpr[k] = corner(seed);
    r->wave.sgpr[AMD_M0] = next_random(seed) & 0x00030003;
    r->wave.sgpr[AMD_EXEC_LO] = UINT32_MAX;
    r->wave.sgpr[AMD_EXEC_HI] = lanes == 64 ? UINT32_MAX : 0;
    for (unsigned k = 0; k < WIDTH; k++) {
        uint32_t x = next_random(seed);
        r->vgpr[k] = tame ? (x & 0x807fffffu) | (96 + next_random(seed) % 64) << 23 : corner(seed);
    }
    if (next_random(seed) % 4 == 0)
        for (unsigned k = 0; k < 8; k++) /* small numbers: counts of shifts, classes */
            r->wave.sgpr[k] = next_random(seed) % 70;
}

static void copy(full_rig *to, const full_rig *from)
{
    to->wave = from->wave;
    to->wave.vgpr = to->vgpr;
    memcpy(to->vgpr, from->vgpr, WIDTH * sizeof *to->vgpr);
}

static void compare(const amd_inst *in, const char *variant, unsigned lanes, unsigned shape)
{
    const amd_wave *a = &by_body.wave, *b = &by_entries.wave;
    bool same = memcmp(a->sgpr, b->sgpr, sizeof a->sgpr) == 0 && a->scc == b->scc && a->mode == b->mode &&
                a->stop == b->stop && b->zero == 0;
    if (!same || memcmp(by_body.vgpr, by_entries.vgpr, WIDTH * sizeof by_body.vgpr[0]) != 0)
        fail_msg("%s (%s, %u lanes, mode 0x%x, shape %u) differs from its body", amd_op_name((amd_op)in->op),
                 variant, lanes, a->mode, shape);
}

/* The wave's host state before: of the body that ran last. */
static void stir(amd_wave *wave, uint32_t r)
{
    amd_inst in = vop(r & 1   ? AMD_V_RCP_F32
                      : r & 2 ? AMD_V_ADD_F32
                              : AMD_V_MAC_F32,
                      V(200), V(200), V(200), V(200));
    amd_body body = amd_exec_find((amd_target)wave->target, wave->lanes, &in);
    if (r & 4 && body)
        body(wave, &in);
}

static bool agrees(const amd_inst *in, unsigned count, amd_direct *list, const char *variant, uint64_t *seed)
{
    unsigned lanes = by_body.wave.lanes;
    list[count] = (amd_direct){ .run = after_last };
    copy(&by_entries, &by_body);
    uint32_t r = next_random(seed);
    list[0].body(&by_body.wave, in);
    amd_wave_rest(&by_body.wave);
    stir(&by_entries.wave, r);
    amd_direct_sync(&by_entries.wave);
    assert_ptr_equal(amd_direct_run(&by_entries.wave, list), &list[count]);
    amd_wave_rest(&by_entries.wave);
    memcpy(&by_entries.vgpr[200 * lanes], &by_body.vgpr[200 * lanes], lanes * 4);
    compare(in, variant, lanes, count);
    return true;
}

static unsigned any_code(uint64_t *seed, bool scalars)
{
    uint32_t r = next_random(seed);
    switch (scalars ? r % 6 : 5) {
    case 0:
        return 2 * (r >> 8) % 40;
    case 1:
        return INT((r >> 8) % 81); /* also -1 to -16 */
    case 2:
        return AMD_FLOAT + (r >> 8) % 9;
    case 3:
        return AMD_LITERAL;
    default:
        return V((r >> 8) % 12);
    }
}

static bool takes_mask(amd_op op)
{
    return op == AMD_V_CNDMASK_B32 || op == AMD_V_ADDC_U32 || op == AMD_V_SUBB_U32 ||
           op == AMD_V_SUBBREV_U32 || op == AMD_V_ADD_CO_CI_U32 || op == AMD_V_SUB_CO_CI_U32 ||
           op == AMD_V_SUBREV_CO_CI_U32;
}

/* Tries one random instruction of the operation; true if it has direct entries. */
static bool try_vector(amd_op op, amd_target target, unsigned lanes, const char *variant, uint64_t *seed)
{
    amd_inst in =
        vop(op, V(next_random(seed) % 12), any_code(seed, true), any_code(seed, true), any_code(seed, true));
    if (takes_mask(op))
        in.src[2].code = next_random(seed) & 1 ? AMD_VCC_LO : 10;
    uint32_t r = next_random(seed);
    in.literal = corner(seed);
    in.sdst.code = r & 1 ? AMD_VCC_LO : r & 2 ? AMD_EXEC_LO : r & 4 && target != AMD_GFX803 ? AMD_NULL : 12;
    if ((r & 24) == 0) {
        in.neg = (uint8_t)(r >> 8 & 7);
        in.abs = (uint8_t)(r >> 11 & 7);
    }
    fill(&by_body, target, lanes, r & 32, seed);
    amd_direct list[AMD_DIRECT_PARTS + 1] = { 0 };
    list[0] = (amd_direct){ .inst = &in, .body = amd_exec_find(target, lanes, &in) };
    unsigned count = amd_direct_valu(target, lanes, &in, list);
    return count != 0 && agrees(&in, count, list, variant, seed);
}

static void test_vector(void **state)
{
    (void)state;
    static const struct {
        amd_target target;
        unsigned lanes;
    } on[4] = { { AMD_GFX1030, 32 }, { AMD_GFX1030, 64 }, { AMD_GFX803, 64 }, { AMD_GFX942, 64 } };
    for (size_t v = 0; amd_exec_variant_name(v); v++) {
        const char *name = amd_exec_variant_name(v);
        if (!amd_exec_use_variant(name))
            continue;
        unsigned ops = 0, tried = 0;
        uint64_t seed = 7;
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            unsigned found = 0;
            for (unsigned k = 0; k < 4; k++) /* most operations have none: three tries tell */
                for (unsigned n = 0; n < (found ? 80 : 12); n++)
                    found += try_vector((amd_op)op, on[k].target, on[k].lanes, name, &seed);
            ops += found != 0;
            tried += found;
        }
        if (strcmp(name, "plain") == 0)
            assert_int_equal(ops, 0);
        else
            assert_true(ops >= 100 && tried >= 5000);
    }
}

static bool try_scalar(amd_op op, amd_target target, uint64_t *seed)
{
    unsigned lanes = target == AMD_GFX803 || next_random(seed) & 1 ? 64 : 32;
    uint32_t r = next_random(seed);
    unsigned dst = r % 16 == 0   ? AMD_VCC_LO
                   : r % 16 == 1 ? AMD_M0
                   : r % 16 == 2 ? AMD_EXEC_LO
                   : r % 16 == 3 ? AMD_NULL
                                 : r / 16 % 40 * 2;
    unsigned codes[2];
    for (unsigned k = 0; k < 2; k++)
        while ((codes[k] = any_code(seed, true)) >= AMD_VGPR) {
        }
    amd_inst in = sop(AMD_SOP2, op, dst, codes[0], codes[1], (int16_t)next_random(seed));
    in.literal = corner(seed);
    fill(&by_body, target, lanes, false, seed);
    amd_direct list[2] = { { .inst = &in, .body = amd_exec_find(target, lanes, &in) } };
    return amd_direct_salu(target, &in, list) && agrees(&in, 1, list, "scalar", seed);
}

static void test_scalar(void **state)
{
    (void)state;
    unsigned ops = 0;
    uint64_t seed = 11;
    for (int op = 1; op < AMD_OP_COUNT; op++) {
        unsigned found = 0;
        for (unsigned n = 0; n < (found ? 200 : 8) && strncmp(amd_op_name((amd_op)op), "s_", 2) == 0; n++)
            found += try_scalar((amd_op)op, n & 1 ? AMD_GFX1030 : AMD_GFX803, &seed);
        ops += found != 0;
    }
    assert_true(ops >= 100);
}

/* v_rsq_f32 by Newton's method: all floats of two binades; others differ from them by powers of 4. */
static void test_rsq(void **state)
{
    (void)state;
    amd_inst in = vop(AMD_V_RSQ_F32, V(1), V(0), AMD_NO_OPERAND, AMD_NO_OPERAND);
    for (size_t v = 0; amd_exec_variant_name(v); v++) {
        if (strcmp(amd_exec_variant_name(v), "avx512") != 0 || !amd_exec_use_variant(amd_exec_variant_name(v)))
            continue;
        uint64_t seed = 1;
        fill(&by_body, AMD_GFX1030, 64, false, &seed);
        by_body.wave.mode = MODE_ALL;
        copy(&by_entries, &by_body);
        amd_direct list[2] = { { .inst = &in, .body = amd_exec_find(AMD_GFX1030, 64, &in) },
                               { .run = after_last } };
        assert_int_equal(amd_direct_valu(AMD_GFX1030, 64, &in, list), 1);
        for (uint32_t x = 0x3f800000; x < 0x40800000; x += 64) {
            for (unsigned i = 0; i < 64; i++)
                by_body.vgpr[i] = by_entries.vgpr[i] = x + i;
            list[0].body(&by_body.wave, &in);
            amd_direct_sync(&by_entries.wave);
            amd_direct_run(&by_entries.wave, list);
            if (memcmp(&by_body.vgpr[64], &by_entries.vgpr[64], 256) != 0)
                fail_msg("v_rsq_f32 of one of 0x%08x to 0x%08x", x, x + 63);
        }
        amd_wave_rest(&by_body.wave);
        amd_wave_rest(&by_entries.wave);
    }
}

/* A branch goes where its body goes. */
static void test_branches(void **state)
{
    (void)state;
    static const amd_op ops[] = { AMD_S_BRANCH,        AMD_S_CBRANCH_SCC0,  AMD_S_CBRANCH_SCC1,
                                  AMD_S_CBRANCH_VCCZ,  AMD_S_CBRANCH_VCCNZ, AMD_S_CBRANCH_EXECZ,
                                  AMD_S_CBRANCH_EXECNZ };
    uint64_t seed = 3;
    for (unsigned n = 0; n < 200; n++) {
        amd_inst in = sop(AMD_SOPP, ops[n % 7], AMD_NO_OPERAND, AMD_NO_OPERAND, AMD_NO_OPERAND, (int)n - 100);
        fill(&by_body, AMD_GFX1030, n & 1 ? 32 : 64, false, &seed);
        if (n & 2)
            by_body.wave.sgpr[AMD_EXEC_LO] = by_body.wave.sgpr[AMD_EXEC_HI] = 0;
        if (n & 4)
            by_body.wave.sgpr[AMD_VCC_LO] = by_body.wave.sgpr[AMD_VCC_HI] = 0;
        amd_direct entry = { .inst = &in, .next = 0x1000 };
        assert_true(amd_direct_branch(&in, &entry));
        copy(&by_entries, &by_body);
        by_body.wave.pc = 0x1000;
        amd_exec_find(AMD_GFX1030, by_body.wave.lanes, &in)(&by_body.wave, &in);
        assert_ptr_equal(amd_direct_run(&by_entries.wave, &entry), &entry);
        assert_int_equal(by_entries.wave.pc, by_body.wave.pc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_rsq),
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
