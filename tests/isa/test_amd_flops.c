/* test_amd_flops.c: floating-point operations of AMD instructions: by type, multiply-adds as two, packed ones as both halves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/flops.h"

#include <string.h>

static void expect(amd_op op, unsigned count, amd_flops_type type)
{
    amd_flops flops = amd_op_flops(op);
    if (flops.count != count || (count > 0 && flops.type != type))
        fail_msg("%s: %u operations of type %d", amd_op_name(op), flops.count, (int)flops.type);
}

static void operations(void **state)
{
    (void)state;
    expect(AMD_V_ADD_F32, 1, AMD_FLOPS_SINGLE);
    expect(AMD_V_FMAC_F32, 2, AMD_FLOPS_SINGLE);
    expect(AMD_V_MADAK_F32, 2, AMD_FLOPS_SINGLE);
    expect(AMD_V_MUL_F64, 1, AMD_FLOPS_DOUBLE);
    expect(AMD_V_FMA_F64, 2, AMD_FLOPS_DOUBLE);
    expect(AMD_V_SUB_F16, 1, AMD_FLOPS_HALF);
    expect(AMD_V_PK_ADD_F16, 2, AMD_FLOPS_HALF);
    expect(AMD_V_PK_FMA_F16, 4, AMD_FLOPS_HALF);
    expect(AMD_V_DOT2_F32_F16, 4, AMD_FLOPS_HALF);
}

/* Comparisons, conversions, minima, roundings, transcendental functions and memory have none. */
static void others_have_none(void **state)
{
    static const char *const none[] = { "v_cmp",   "v_cvt",  "v_min",   "v_max",   "v_med3",  "v_rcp",
                                        "v_rsq",   "v_sqrt", "v_sin",   "v_cos",   "v_exp",   "v_log",
                                        "v_floor", "v_ceil", "v_trunc", "v_fract", "v_rndne", "v_ldexp",
                                        "s_",      "ds_",    "global_", "buffer_" };
    unsigned counted = 0;
    (void)state;
    for (int op = 0; op < AMD_OP_COUNT; op++) {
        const char *name = amd_op_name((amd_op)op);
        amd_flops flops = amd_op_flops((amd_op)op);
        counted += flops.count > 0;
        if (flops.count > 0 && !strstr(name, "_f16") && !strstr(name, "_f32") && !strstr(name, "_f64"))
            fail_msg("%s has operations", name);
        for (size_t i = 0; i < sizeof none / sizeof *none; i++)
            if (flops.count > 0 && strncmp(name, none[i], strlen(none[i])) == 0)
                fail_msg("%s has operations", name);
    }
    assert_int_equal(counted, 43);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(operations), cmocka_unit_test(others_have_none) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
