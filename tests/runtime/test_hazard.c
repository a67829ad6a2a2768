/* test_hazard.c: wait states that gfx90a and gfx942 need. Each row is an instruction (the bytes are llvm-mc-19's), one
 * that comes too soon after it, and the wait states between them that LLVM's hazard recognizer puts there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/strict/hazard.h"

#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *name;
    amd_target target;
    const char *first, *last;
    unsigned need;
} row;

/* clang-format off */
static const row broken[] = {
    { "vmem_sgpr", AMD_GFX90A, "0005087e", "000050e000010180", 5 },
    { "vmem_saddr", AMD_GFX942, "040089d200070100", "008050dc02000401", 5 },
    { "div_fmas", AMD_GFX90A, "0003947d", "0100e2d102071204", 4 },
    { "dpp_vgpr", AMD_GFX90A, "0203027e", "fa02067e011101ff", 2 },
    { "dpp_exec", AMD_GFX90A, "0003b47d", "fa02067e041101ff", 5 },
    { "lane_select", AMD_GFX90A, "0005087e", "050089d201090000", 4 },
    { "lane_select_write", AMD_GFX90A, "0005087e", "01008ad287080000", 4 },
    { "getreg", AMD_GFX90A, "011800ba01000000", "01f880b8", 2 },
    { "setreg_twice", AMD_GFX942, "011800ba01000000", "011800ba02000000", 2 },
    { "m0", AMD_GFX90A, "0000fcbe", "00006cd900000001", 1 },
    { "late_data", AMD_GFX90A, "00807cdc00027f00", "8002087e", 1 },
    { "late_data_942", AMD_GFX942, "00807cdc00027f00", "8002087e", 2 },
    { "trans", AMD_GFX942, "0245027e", "01030602", 1 },
    { "partial", AMD_GFX942, "f906023e02150404", "01090602", 1 },
    { "scalar_read", AMD_GFX942, "0005087e", "04080602", 2 },
    { "vcc_read", AMD_GFX942, "0003947d", "040b0600", 2 },
    { "readlane", AMD_GFX942, "0203027e", "0105087e", 1 },
    { "readlane_exec", AMD_GFX942, "0003b47d", "0305087e", 4 },
    { "valu_mfma", AMD_GFX90A, "0903027e", "0400cdd300051204", 2 },
    { "exec_mfma", AMD_GFX90A, "0003b47d", "0400cdd30a051204", 4 },
    { "valu_4x4", AMD_GFX90A, "0400cad300051204", "053f3c02", 5 },
    { "store_4x4", AMD_GFX90A, "0400cad300051204", "008070dc1e057f00", 5 },
    { "ds_4x4", AMD_GFX90A, "0400cad300051204", "00001ad81e050000", 5 },
    { "ab_4x4", AMD_GFX90A, "0400cad300051204", "2800cdd30405a204", 5 },
    { "waw_4x4", AMD_GFX90A, "0400cad300051204", "80020e7e", 5 },
    { "load_waw_4x4", AMD_GFX90A, "0400cad300051204", "008050dc1e007f05", 5 },
    { "c_4x4", AMD_GFX90A, "0400cad300051204", "0600cdd332051a04", 2 },
    { "valu_16x16", AMD_GFX90A, "0400cdd300051204", "053f3c02", 11 },
    { "store_16x16", AMD_GFX90A, "0400cdd300051204", "008070dc1e057f00", 11 },
    { "ds_16x16", AMD_GFX90A, "0400cdd300051204", "00001ad81e050000", 11 },
    { "ab_16x16", AMD_GFX90A, "0400cdd300051204", "2800cdd30405a204", 11 },
    { "waw_16x16", AMD_GFX90A, "0400cdd300051204", "80020e7e", 11 },
    { "load_waw_16x16", AMD_GFX90A, "0400cdd300051204", "008050dc1e007f05", 11 },
    { "c_16x16", AMD_GFX90A, "0400cdd300051204", "0600cdd332051a04", 8 },
    { "valu_32x32", AMD_GFX90A, "0400ccd300051204", "053f3c02", 19 },
    { "store_32x32", AMD_GFX90A, "0400ccd300051204", "008070dc1e057f00", 19 },
    { "ds_32x32", AMD_GFX90A, "0400ccd300051204", "00001ad81e050000", 19 },
    { "ab_32x32", AMD_GFX90A, "0400ccd300051204", "2800cdd30405a204", 19 },
    { "waw_32x32", AMD_GFX90A, "0400ccd300051204", "80020e7e", 19 },
    { "load_waw_32x32", AMD_GFX90A, "0400ccd300051204", "008050dc1e007f05", 19 },
    { "c_32x32", AMD_GFX90A, "0400ccd300051204", "0600cdd332051a04", 16 },
    { "war_16x16", AMD_GFX90A, "0400cdd300052204", "8002127e", 7 },
    { "war_32x32", AMD_GFX90A, "0400ccd300055204", "80022a7e", 15 },
    { "agpr", AMD_GFX90A, "0480cdd300051204", "0140d8d305010018", 11 },
    { "f64_store", AMD_GFX90A, "0400eed300051204", "008074dc1e047f00", 18 },
    { "f64_valu", AMD_GFX90A, "0400eed300051204", "1e0080d204090200", 11 },
    { "f64_small_store", AMD_GFX90A, "0400efd300051204", "008074dc1e047f00", 9 },
    { "f64_small_c", AMD_GFX90A, "0400efd300051204", "0400efd300051204", 4 },
    { "f64_fma", AMD_GFX90A, "0400efd300051204", "1e00ccd120459204", 2 },
    { "dot", AMD_GFX90A, "0140a6d30207121c", "01030a02", 3 },
    { "store_4x4f32", AMD_GFX942, "0400c2d300031204", "008070dc28057f00", 4 },
    { "valu_4x4f32", AMD_GFX942, "0400c2d300031204", "05676402", 4 },
    { "ab_4x4f32", AMD_GFX942, "0400c2d300031204", "2800cdd30405a204", 4 },
    { "store_16x16f32", AMD_GFX942, "0400c5d300031204", "008070dc28057f00", 10 },
    { "valu_16x16f32", AMD_GFX942, "0400c5d300031204", "05676402", 10 },
    { "ab_16x16f32", AMD_GFX942, "0400c5d300031204", "2800cdd30405a204", 10 },
    { "store_16x16f16", AMD_GFX942, "0400cdd300051204", "008070dc28057f00", 7 },
    { "valu_16x16f16", AMD_GFX942, "0400cdd300051204", "05676402", 7 },
    { "ab_16x16f16", AMD_GFX942, "0400cdd300051204", "2800cdd30405a204", 7 },
    { "store_32x32f16", AMD_GFX942, "0400ccd300051204", "008070dc28057f00", 11 },
    { "valu_32x32f16", AMD_GFX942, "0400ccd300051204", "05676402", 11 },
    { "ab_32x32f16", AMD_GFX942, "0400ccd300051204", "2800cdd30405a204", 11 },
    { "store_32x32f16_2b", AMD_GFX942, "0400c8d300051204", "008070dc28057f00", 19 },
    { "valu_32x32f16_2b", AMD_GFX942, "0400c8d300051204", "05676402", 19 },
    { "ab_32x32f16_2b", AMD_GFX942, "0400c8d300051204", "2800cdd30405a204", 19 },
    { "store_fp8", AMD_GFX942, "0400f3d300051204", "008070dc28057f00", 7 },
    { "valu_fp8", AMD_GFX942, "0400f3d300051204", "05676402", 7 },
    { "ab_fp8", AMD_GFX942, "0400f3d300051204", "2800cdd30405a204", 7 },
    { "store_xf32", AMD_GFX942, "0400bfd300051204", "008070dc28057f00", 11 },
    { "valu_xf32", AMD_GFX942, "0400bfd300051204", "05676402", 11 },
    { "ab_xf32", AMD_GFX942, "0400bfd300051204", "2800cdd30405a204", 11 },
    { "store_sparse", AMD_GFX942, "0400e2d300792204", "008070dc28057f00", 7 },
    { "valu_sparse", AMD_GFX942, "0400e2d300792204", "05676402", 7 },
    { "ab_sparse", AMD_GFX942, "0400e2d300792204", "2800cdd30405a204", 7 },
    { "c_same_4x4", AMD_GFX942, "0400c2d300031204", "0400c2d300031204", 2 },
    { "c_other_16x16", AMD_GFX942, "0400cdd300051204", "0600cdd332051a04", 5 },
    { "c_other_f32", AMD_GFX942, "0400c5d300031204", "0600c5d332671a04", 8 },
    { "war_942", AMD_GFX942, "0400cdd300052204", "8002127e", 3 },
};

/* Sequences that need nothing. */
static const row fine[] = {
    { "c_same_16x16", AMD_GFX90A, "0400cdd3000512040400cdd300051204", "", 0 },
    { "c_same_942", AMD_GFX942, "0400cdd3000512040400cdd300051204", "", 0 },
    { "salu_sgpr_vmem", AMD_GFX90A, "800084be000050e000010180", "", 0 },
    { "trans_gfx90a", AMD_GFX90A, "0245027e01030602", "", 0 },
    { "trans_trans", AMD_GFX942, "0245027e0149067e", "", 0 },
    { "store_of_8_bytes", AMD_GFX942, "008074dc00027f008002067e", "", 0 },
    { "other_register", AMD_GFX942, "0400cdd30005120408676402", "", 0 },
    { "return_between", AMD_GFX90A, "0005087e1e1d80be000050e000010180", "", 0 },
    { "nops", AMD_GFX942, "0005087e020080bf00008cbf8000a8be000050e000010180", "", 0 },
};
/* clang-format on */

#define MOST 8

/* Decodes a sequence; returns the number of instructions. */
static unsigned decode(amd_target target, const char *hex, amd_inst *out)
{
    uint8_t bytes[128];
    size_t count = strlen(hex) / 2, at = 0;
    unsigned n = 0;
    assert_true(count <= sizeof bytes);
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (uint8_t)value;
    }
    while (at < count) {
        assert_true(n < MOST && amd_decode(target, 64, bytes + at, count - at, &out[n]));
        at += out[n++].bytes;
    }
    return n;
}

/* Runs `first`, then `apart` wait states of s_nop, then `last`. */
static bool runs(const row *r, unsigned apart, hazard_finding *found)
{
    static amd_inst insts[MOST], last[MOST], nops[MOST];
    hazard_wave wave = { 0 };
    unsigned count = decode(r->target, r->first, insts), steps = 0;
    for (unsigned i = 0; i < count; i++)
        if (!hazard_step(&wave, r->target, &insts[i], ++steps, found))
            return false;
    for (unsigned i = 0; apart > 0; i++) {
        unsigned some = apart < 16 ? apart : 16;
        char hex[16];
        snprintf(hex, sizeof hex, "%02x0080bf", some - 1);
        decode(r->target, hex, &nops[i]);
        assert_true(hazard_step(&wave, r->target, &nops[i], ++steps, found));
        apart -= some;
    }
    count = decode(r->target, r->last, last);
    for (unsigned i = 0; i < count; i++)
        if (!hazard_step(&wave, r->target, &last[i], ++steps, found))
            return false;
    return true;
}

static void violations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const row *r = &broken[i];
        for (unsigned apart = 0; apart < r->need; apart++) {
            hazard_finding found = { 0 };
            if (runs(r, apart, &found))
                fail_msg("%s: nothing found with %u wait states of %u", r->name, apart, r->need);
            if (found.need != r->need || found.have != apart)
                fail_msg("%s: %u of %u wait states, not %u of %u (%s)", r->name, found.have, found.need, apart,
                         r->need, found.rule);
            assert_int_equal(found.after->op, 1);
        }
        hazard_finding found = { 0 };
        if (!runs(r, r->need, &found))
            fail_msg("%s: found with all %u wait states: %s", r->name, r->need, found.rule);
    }
}

static void sequences_without(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        hazard_finding found = { 0 };
        if (!runs(&fine[i], 0, &found))
            fail_msg("%s: %s", fine[i].name, found.rule);
    }
}

/* The other targets wait by themselves. */
static void other_targets(void **state)
{
    hazard_wave wave = { 0 };
    hazard_finding found;
    amd_inst insts[MOST];
    (void)state;
    assert_int_equal(decode(AMD_GFX803,
                            "0005087e"
                            "000050e000010180",
                            insts),
                     2);
    assert_true(hazard_step(&wave, AMD_GFX803, &insts[0], 1, &found));
    assert_true(hazard_step(&wave, AMD_GFX803, &insts[1], 2, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violations),
        cmocka_unit_test(sequences_without),
        cmocka_unit_test(other_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
