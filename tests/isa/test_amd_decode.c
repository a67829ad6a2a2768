/* The contents of the decoder's records, and that it never reads past the last byte. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/amd.h"
#include "isa/amd/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static amd_inst decode(amd_target target, unsigned lanes, uint32_t w0, uint32_t w1, uint32_t w2)
{
    const uint32_t words[5] = { w0, w1, w2, 0, 0 };
    amd_inst inst;
    assert_true(amd_decode(target, lanes, (const uint8_t *)words, sizeof words, &inst));
    return inst;
}

static void test_scalar_record(void **state)
{
    (void)state;
    amd_inst inst = decode(AMD_GFX803, 64, 0x80ff0201, 0x12345678, 0); /* s_sub_u32 */
    assert_int_equal(inst.format, AMD_SOP2);
    inst = decode(AMD_GFX803, 64, 0x800502ff, 0x12345678, 0);
    assert_int_equal(inst.op, AMD_S_ADD_U32);
    assert_int_equal(inst.bytes, 8);
    assert_int_equal(inst.literal, 0x12345678);
    assert_int_equal(inst.sdst.code, 5);
    assert_int_equal(inst.src[0].code, AMD_LITERAL);
    assert_int_equal(inst.src[1].code, 2);
    assert_int_equal(inst.src_count, 2);
    assert_int_equal(inst.class_, AMD_CLASS_SALU);
    inst = decode(AMD_GFX1010, 32, 0xbf82fffe, 0, 0); /* s_branch */
    assert_int_equal(inst.op, AMD_S_BRANCH);
    assert_int_equal(inst.simm, -2);
    assert_int_equal(inst.class_, AMD_CLASS_BRANCH);
}

static void test_scalar_memory_record(void **state)
{
    (void)state;
    amd_inst inst =
        decode(AMD_GFX1030, 32, 0xf4040204, 0xfa1ffffc, 0); /* s_load_dwordx2 s[8:9], s[8:9], -0x4 */
    assert_int_equal(inst.op, AMD_S_LOAD_DWORDX2);
    assert_int_equal(inst.offset, -4);
    assert_int_equal(inst.flags, AMD_IMM_OFFSET);
    assert_int_equal(inst.sdst.dwords, 2);
    assert_int_equal(inst.src[0].code, 8);
    inst = decode(AMD_GFX1030, 32, 0xf4040204, 0x14000010, 0);
    assert_int_equal(inst.flags, AMD_IMM_OFFSET | AMD_SOFFSET_REG);
    assert_int_equal(inst.src[1].code, 10);
    assert_int_equal(inst.offset, 16);
}

static void test_masks_follow_the_wave(void **state)
{
    (void)state;
    amd_inst inst = decode(AMD_GFX1010, 32, 0x7d040501, 0, 0); /* v_cmp */
    assert_int_equal(inst.sdst.code, AMD_VCC_LO);
    assert_int_equal(inst.sdst.dwords, 1);
    inst = decode(AMD_GFX1010, 64, 0x7d040501, 0, 0);
    assert_int_equal(inst.sdst.dwords, 2);
    assert_int_equal(inst.sdst.kind, AMD_KIND_MASK);
    inst = decode(AMD_GFX1010, 64, 0x50040501, 0, 0); /* v_add_co_ci_u32_e32 */
    assert_int_equal(inst.op, AMD_V_ADD_CO_CI_U32);
    assert_int_equal(inst.sdst.code, AMD_VCC_LO);
    assert_int_equal(inst.src[2].code, AMD_VCC_LO);
    assert_int_equal(inst.src_count, 3);
}

static void test_cmpx_writes_exec(void **state)
{
    (void)state;
    amd_inst inst = decode(AMD_GFX1030, 32, 0x7da40501, 0, 0); /* v_cmpx_eq_u32 / gfx10 */
    assert_int_equal(inst.sdst.code, AMD_EXEC_LO);
    inst = decode(AMD_GFX803, 64, 0x7db40501, 0, 0);
    assert_int_equal(inst.sdst.code, AMD_VCC_LO);
}

static void test_modifiers(void **state)
{
    (void)state;
    amd_inst inst =
        decode(AMD_GFX1010, 64, 0xd5038107, 0x30020501, 0); /* v_add_f32_e64 v7, -|v1|, v2 clamp div:2 */
    char text[128];
    assert_int_equal(inst.op, AMD_V_ADD_F32);
    assert_int_equal(inst.format, AMD_VOP3);
    assert_int_equal(inst.neg, 1);
    assert_int_equal(inst.abs, 1);
    assert_int_equal(inst.omod, 2);
    assert_int_equal(inst.flags, AMD_CLAMP);
    amd_print(AMD_GFX1010, 64, &inst, text, sizeof text);
    assert_string_equal(text, "v_add_f32_e64 v7, -|v1|, v2 clamp mul:4");
    inst = decode(AMD_GFX1010, 64, 0x060404f9, 0x06061605, 0);
    assert_int_equal(inst.form, AMD_SDWA);
    assert_int_equal(inst.sdwa.dst_sel, 6);
    assert_int_equal(inst.sdwa.dst_unused, 2);
    inst = decode(AMD_GFX1010, 64, 0x7e0202e9, 0xfac68805, 0);
    assert_int_equal(inst.form, AMD_DPP8);
    assert_int_equal(inst.dpp8[7], 7);
}

static void test_constant_multiply_add(void **state)
{
    (void)state;
    amd_inst inst = decode(AMD_GFX1010, 32, 0x580404ff & ~0x1ffu, 0x3f800000, 0);
    assert_int_equal(inst.op, AMD_V_FMAMK_F32);
    assert_int_equal(inst.src[1].code, AMD_LITERAL);
    assert_int_equal(inst.src[2].code, AMD_VGPR + 2);
    assert_int_equal(inst.src_count, 3);
}

static void test_image_addresses(void **state)
{
    (void)state;
    amd_inst inst =
        decode(AMD_GFX1030, 32, 0xf0800f0a, 0x00840404, 0x11100908); /* 2D, one word of addresses */
    assert_int_equal(inst.op, AMD_IMAGE_SAMPLE);
    assert_int_equal(inst.bytes, 12);
    assert_true(inst.flags & AMD_NSA);
    assert_int_equal(inst.src[0].dwords, 2);
    assert_int_equal(inst.nsa[0], 8);
    assert_int_equal(inst.vdst.dwords, 4);
    assert_int_equal(inst.src[2].dwords, 8);
}

/* Bytes end at every place: valid instructions need all of theirs, and in an allocation of that size a
 * sanitizer detects any read past it. */
static void test_truncation(void **state)
{
    (void)state;
    static const uint32_t whole[][5] = {
        { 0x800502ff, 1 },
        { 0xd5038107, 0x300204ff, 7 },
        { 0xf0800f0a, 0x00840404, 0x11100908 },
        { 0xf4040204, 0xfa000000 },
    };
    static const unsigned bytes[] = { 8, 12, 12, 8 };
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        for (unsigned count = 0; count <= bytes[i]; count++) {
            uint8_t *copy = malloc(count ? count : 1);
            amd_inst inst;
            assert_non_null(copy);
            memcpy(copy, whole[i], count);
            bool known = amd_decode(AMD_GFX1030, 32, copy, count, &inst);
            assert_int_equal(known, count == bytes[i]);
            if (!known)
                assert_int_equal(inst.bytes, count < 4 ? count : 4);
            free(copy);
        }
}

static void test_unknown(void **state)
{
    (void)state;
    static const uint32_t words[2] = { 0xffffffff, 0xffffffff };
    amd_inst inst;
    char text[32];
    assert_false(amd_decode(AMD_GFX803, 64, (const uint8_t *)words, sizeof words, &inst));
    assert_int_equal(inst.bytes, 4);
    assert_int_equal(inst.op, AMD_OP_INVALID);
    assert_int_equal(amd_print(AMD_GFX803, 64, &inst, text, sizeof text), strlen("<unknown>"));
    assert_string_equal(text, "<unknown>");
}

static void test_print_cuts(void **state)
{
    (void)state;
    amd_inst inst = decode(AMD_GFX803, 64, 0x800502ff, 0x12345678, 0);
    char text[8] = "xxxxxxx";
    size_t length = amd_print(AMD_GFX803, 64, &inst, text, sizeof text);
    assert_int_equal(length, strlen("s_add_u32 s5, 0x12345678, s2"));
    assert_string_equal(text, "s_add_u");
    assert_int_equal(amd_print(AMD_GFX803, 64, &inst, NULL, 0), length);
}

static void test_waitcnt(void **state)
{
    (void)state;
    amd_waitcnt wait = amd_waitcnt_decode(AMD_GFX803, 0x0f70);
    assert_int_equal(wait.vm, 0);
    assert_int_equal(wait.exp, 7);
    assert_int_equal(wait.lgkm, 15);
    wait = amd_waitcnt_decode(AMD_GFX90A, 0xcf72); /* as gfx803, with two more bits of vmcnt */
    assert_int_equal(wait.vm, 50);
    assert_int_equal(wait.lgkm, 15);
    wait = amd_waitcnt_decode(AMD_GFX1010, 0xc07f);
    assert_int_equal(wait.vm, 63);
    assert_int_equal(wait.lgkm, 0);
    assert_int_equal(wait.vs, 63);
}

static void test_targets(void **state)
{
    (void)state;
    amd_target target = AMD_TARGET_COUNT;
    assert_true(amd_target_find("amdgcn-amd-amdhsa--gfx1010:xnack-", &target));
    assert_int_equal(target, AMD_GFX1010);
    assert_true(amd_target_find("gfx803", &target));
    assert_int_equal(target, AMD_GFX803);
    assert_true(amd_target_find("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", &target));
    assert_int_equal(target, AMD_GFX90A);
    assert_false(amd_target_find("gfx900", &target));
    assert_false(amd_target_find("", &target));
}

/* Every operation has a row, and every row's opcode finds that row again. */
static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < amd_table_row_count(); i++) {
        const amd_row *row = &amd_table_rows[i];
        for (unsigned t = 0; t < AMD_TARGET_COUNT; t++)
            if (row->opcode[t] != AMD_NO_OPCODE) {
                assert_true(row->opcode[t] < amd_table_opcodes((amd_format)row->format));
                assert_ptr_equal(amd_table_find((amd_target)t, (amd_format)row->format, row->opcode[t]), row);
            }
    }
    for (unsigned op = 1; op < AMD_OP_COUNT; op++) {
        amd_op found;
        bool exists = false;
        for (unsigned t = 0; t < AMD_TARGET_COUNT; t++)
            exists = exists || amd_op_exists((amd_target)t, (amd_op)op);
        assert_true(exists);
        assert_true(amd_op_find(amd_op_name((amd_op)op), &found));
        assert_int_equal(found, op);
    }
    assert_string_equal(amd_op_name(AMD_V_ADD_F32), "v_add_f32");
    assert_string_equal(amd_op_name(AMD_EXPORT), "exp");
}

/* The mnemonics that real programs were seen to use. */
static void test_real_programs(void **state)
{
    (void)state;
    for (unsigned t = 0; t <= AMD_GFX1030; t++) { /* gfx9 has no list */
        char path[512], line[256];
        snprintf(path, sizeof path, "%s/data/reference/isa_coverage_%s.csv", LS_SOURCE_DIR,
                 amd_target_name((amd_target)t));
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        while (fgets(line, sizeof line, file)) {
            static const char *const suffixes[] = { "_e32", "_e64", "_sdwa", "_dpp8", "_dpp" };
            amd_op op;
            line[strcspn(line, ",\n")] = '\0';
            for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
                size_t length = strlen(line), cut = strlen(suffixes[i]);
                if (length > cut && strcmp(line + length - cut, suffixes[i]) == 0)
                    line[length - cut] = '\0';
            }
            if (!amd_op_find(line, &op) || !amd_op_exists((amd_target)t, op))
                fail_msg("%s: %s is not there", amd_target_name((amd_target)t), line);
        }
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_record),
        cmocka_unit_test(test_scalar_memory_record),
        cmocka_unit_test(test_masks_follow_the_wave),
        cmocka_unit_test(test_cmpx_writes_exec),
        cmocka_unit_test(test_modifiers),
        cmocka_unit_test(test_constant_multiply_add),
        cmocka_unit_test(test_image_addresses),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_print_cuts),
        cmocka_unit_test(test_waitcnt),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_real_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
