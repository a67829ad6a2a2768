/* test_tensor.c: matrix instructions by shape and type against closed forms: published multiply-adds per cycle and
 * SM, and the cycles of warp-group instructions that were measured. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/sass/sass.h"
#include "model/core/tensor.h"

#include <stdio.h>
#include <string.h>

static ls_inst decode(uint32_t version, const char *opcode, uint32_t sources)
{
    static const uint16_t dst = 16, srcs[] = { 8, 9, 10 };
    const sass_line line = { .opcode = opcode,
                             .opcode_bytes = strlen(opcode),
                             .dsts = &dst,
                             .dst_count = 1,
                             .srcs = srcs,
                             .src_count = sources };
    ls_error err;
    ls_inst inst;
    assert_int_equal(sass_decode(version, &line, false, &inst, &err), LS_OK);
    return inst;
}

static const tensor_spec a100 = { .fma = { [LS_TENSOR_FP16] = 1024,
                                           [LS_TENSOR_FP16_SUM16] = 1024,
                                           [LS_TENSOR_BF16] = 1024,
                                           [LS_TENSOR_TF32] = 512,
                                           [LS_TENSOR_FP64] = 64,
                                           [LS_TENSOR_INT8] = 2048,
                                           [LS_TENSOR_INT4] = 4096,
                                           [LS_TENSOR_BIT] = 16384 },
                                  .warp_percent = 100,
                                  .base_cycles = 11,
                                  .pass_cycles = 7 };
static const tensor_spec h100 = { .fma = { [LS_TENSOR_FP16] = 2048,
                                           [LS_TENSOR_BF16] = 2048,
                                           [LS_TENSOR_TF32] = 1024,
                                           [LS_TENSOR_FP64] = 128,
                                           [LS_TENSOR_INT8] = 4096,
                                           [LS_TENSOR_FP8] = 4096,
                                           [LS_TENSOR_FP8_SUM16] = 4096 },
                                  .warp_percent = 62,
                                  .base_cycles = 8,
                                  .pass_cycles = 8 };
static const tensor_spec v100 = { .fma = { [LS_TENSOR_FP16] = 512, [LS_TENSOR_FP16_SUM16] = 512 },
                                  .warp_percent = 100,
                                  .base_cycles = 10 };

static tensor_rates rates_of(const tensor_spec *spec)
{
    tensor_rates rates;
    tensor_init(&rates, spec, 4, 128, 1020);
    return rates;
}

/* interval = M * N * K * 4 sub-cores / (FMA per cycle and SM). */
static void test_warp_instructions(void **state)
{
    (void)state;
    static const struct {
        const tensor_spec *spec;
        uint32_t version;
        const char *opcode;
        uint32_t interval, latency;
    } cases[] = {
        { &v100, 70, "HMMA.884.F32.F32.STEP0", 2, 10 }, { &v100, 70, "HMMA.884.F16.F16.STEP1", 4, 10 },
        { &a100, 80, "HMMA.1688.F32", 4, 18 },          { &a100, 80, "HMMA.16816.F32", 8, 25 },
        { &a100, 80, "HMMA.16816.F16", 8, 25 },         { &a100, 80, "HMMA.16816.F32.BF16", 8, 25 },
        { &a100, 80, "HMMA.SP.16832.F32", 8, 25 },      { &a100, 80, "HMMA.1684.F32.TF32", 4, 18 },
        { &a100, 80, "HMMA.1688.F32.TF32", 8, 25 },     { &a100, 80, "IMMA.8816.S8.S8", 2, 18 },
        { &a100, 80, "IMMA.16816.S8.S8", 4, 18 },       { &a100, 80, "IMMA.16832.S8.S8", 8, 25 },
        { &a100, 80, "IMMA.SP.16864.S8.S8", 8, 25 },    { &a100, 80, "IMMA.16864.S4.S4", 8, 25 },
        { &a100, 80, "BMMA.168256.XOR.POPC", 8, 25 },   { &a100, 80, "DMMA.884", 16, 25 },
        { &h100, 90, "HMMA.16816.F32", 6, 24 }, /* 62 % of 2048: 6.45 */
        { &h100, 90, "HMMA.1688.F32", 3, 16 },          { &h100, 90, "DMMA.8x8x4", 8, 24 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tensor_rates rates = rates_of(cases[i].spec);
        ls_inst inst = decode(cases[i].version, cases[i].opcode, 3);
        tensor_cost cost = { 0 };
        if (!tensor_cost_of(&rates, &inst, &cost) || cost.interval != cases[i].interval ||
            cost.latency != cases[i].latency)
            fail_msg("%s: interval %u and latency %u instead of %u and %u", cases[i].opcode, cost.interval,
                     cost.latency, cases[i].interval, cases[i].latency);
    }
}

/* max(N / 2, 16 + N / 4) for every N with A and B in shared memory, N / 2 with A in registers. */
static void test_group_instructions(void **state)
{
    (void)state;
    static const struct {
        const char *name, *end;
        uint32_t k;
    } kinds[] = {
        { "HGMMA", "F32", 16 },           { "HGMMA", "F32.BF16", 16 },      { "HGMMA", "F32.TF32", 8 },
        { "QGMMA", "F32.E4M3.E4M3", 32 }, { "QGMMA", "F16.E5M2.E5M2", 32 }, { "IGMMA", "S8.S8", 32 },
    };
    tensor_rates rates = rates_of(&h100);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint32_t n = 8; n <= 256; n += 8) {
            char opcode[64];
            tensor_cost cost = { 0 };
            snprintf(opcode, sizeof opcode, "%s.64x%ux%u.%s", kinds[i].name, n, kinds[i].k, kinds[i].end);
            ls_inst inst = decode(90, opcode, 1);
            assert_true(tensor_cost_of(&rates, &inst, &cost));
            assert_int_equal(cost.interval, n / 2 > 16 + n / 4 ? n / 2 : 16 + n / 4);
            assert_int_equal(cost.latency, cost.interval);
            inst = decode(90, opcode, 3);
            assert_true(tensor_cost_of(&rates, &inst, &cost));
            assert_int_equal(cost.interval, n / 2);
        }
    ls_inst sparse = decode(90, "HGMMA.SP.64x256x32.F32", 1);
    tensor_cost cost;
    assert_true(tensor_cost_of(&rates, &sparse, &cost));
    assert_int_equal(cost.interval, 144); /* 16 + N / 2: bound by shared memory */
}

/* Without a rate, the class counts. */
static void test_unknown(void **state)
{
    (void)state;
    tensor_rates rates = rates_of(&h100), none = rates_of(&(tensor_spec){ .warp_percent = 100 });
    tensor_cost cost;
    static const char *const opcodes[] = { "HMMA",
                                           "HMMA.F32",
                                           "HMMA.17817.F32",
                                           "IMMA.16864.S4.S4",
                                           "BMMA.168256.XOR.POPC",
                                           "HGMMA.64x12x16.F32",
                                           "HGMMA.64x512x16.F32",
                                           "FFMA" };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        ls_inst inst = decode(90, opcodes[i], 3);
        if (tensor_cost_of(&rates, &inst, &cost))
            fail_msg("%s has a rate", opcodes[i]);
    }
    ls_inst known = decode(90, "HMMA.16816.F32", 3);
    assert_false(tensor_cost_of(&none, &known, &cost));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warp_instructions),
        cmocka_unit_test(test_group_instructions),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
