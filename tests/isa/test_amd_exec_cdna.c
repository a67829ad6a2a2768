/* What is new on gfx90a and gfx942: matrix instructions against plain products, whose shape is read from the
 * mnemonic and whose layout is computed the other way around (from lanes to elements); the 8-bit formats;
 * packed floats; the registers that a wave starts with. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/exec/limits.h"
#include "isa/amd/exec/matrix.h"
#include "isa/amd/exec/memory.h"
#include "isa/amd/exec/start.h"
#include "isa/amd/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANES = 64, ROWS = AMD_VGPR_ROWS_GFX9, A0 = 16, B0 = 24, C0 = 64, D0 = 128 };

static _Alignas(64) uint32_t file[ROWS * LANES];
static amd_wave wave;
static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void wave_init(amd_target target)
{
    memset(file, 0, sizeof file);
    wave = (amd_wave){
        .vgpr = file, .vgpr_count = 256, .lanes = LANES, .target = (uint8_t)target, .mode = 0x2f0
    };
    memset(&wave.sgpr[AMD_EXEC_LO], 0xff, 8);
}

static uint32_t *reg(unsigned n)
{
    return file + (size_t)n * LANES;
}

/* --- number formats ------------------------------------------------------------------------------------- */

static double eight_to_double(uint32_t x, int mantissa)
{
    int bias = mantissa == 3 ? 8 : 16, field = (int)(x >> mantissa) & ((1 << (7 - mantissa)) - 1);
    double m = x & ((1u << mantissa) - 1);
    if (x == 0x80)
        return NAN;
    double value = field ? ldexp(1 + ldexp(m, -mantissa), field - bias) : ldexp(m, 1 - bias - mantissa);
    return x & 0x80 ? -value : value;
}

static uint64_t encode(const char *type, double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (strcmp(type, "f64") == 0) {
        uint64_t wide;
        memcpy(&wide, &value, sizeof wide);
        return wide;
    }
    if (strcmp(type, "f32") == 0 || strcmp(type, "xf32") == 0)
        return bits;
    if (strncmp(type, "bf16", 4) == 0)
        return bits >> 16;
    if (strcmp(type, "i8") == 0)
        return (uint8_t)(int8_t)value;
    if (strcmp(type, "f16") == 0) { /* of small whole numbers and their quarters */
        if (value == 0)
            return 0;
        return (bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 127 + 15) << 10 | (bits >> 13 & 0x3ff);
    }
    for (uint32_t x = 0; x < 256; x++)
        if (eight_to_double(x, strcmp(type, "fp8") == 0 ? 3 : 2) == value)
            return x;
    fail_msg("%g is no %s", value, type);
    return 0;
}

static unsigned width(const char *type)
{
    return strcmp(type, "f64") == 0                      ? 64
           : strstr(type, "f32")                         ? 32
           : strstr(type, "f16") || strstr(type, "bf16") ? 16
                                                         : 8;
}

static void put(unsigned first, unsigned lane, unsigned value, unsigned bits, uint64_t x)
{
    if (bits == 64) {
        reg(first + 2 * value)[lane] = (uint32_t)x;
        reg(first + 2 * value + 1)[lane] = (uint32_t)(x >> 32);
    } else {
        reg(first + value * bits / 32)[lane] |= (uint32_t)x << value * bits % 32;
    }
}

/* --- shapes, from the mnemonic -------------------------------------------------------------------------- */

typedef struct shape {
    int m, n, k, blocks;
    char acc[8], a[8], b[8];
    bool sparse;
} shape;

static bool shape_of(amd_op op, shape *s)
{
    char rest[24] = "";
    const char *name = amd_op_name(op);
    memset(s, 0, sizeof *s);
    s->sparse = strncmp(name, "v_smfmac", 8) == 0;
    if (sscanf(name, s->sparse ? "v_smfmac_%3s_%dx%dx%d%23s" : "v_mfma_%3s_%dx%dx%d%23s", s->acc, &s->m, &s->n,
               &s->k, rest) != 5)
        return false;
    const char *at = rest;
    bool old = *at != '_';
    int blocks = 0, used = 0;
    if (sscanf(at, "_%db_%n", &blocks, &used) == 1 && used)
        at += used;
    else
        at += !old;
    if (sscanf(at, "%7[a-z0-9]_%7s", s->a, s->b) == 1)
        strcpy(s->b, s->a);
    s->blocks = blocks ? blocks : 1;
    if (old && s->k == 2) /* the bfloat16 products that only gfx90a has */
        s->blocks = s->m == 32 ? 2 : s->m == 16 ? 4 : 16;
    return true;
}

/* From a lane and the number of a value to the element. */
typedef struct element {
    int block, row, k;
} element;

static element source_element(const shape *s, int lane, int value, int depth)
{
    if (strcmp(s->a, "f64") == 0)
        return s->m == 16 ? (element){ 0, lane % 16, lane / 16 }
                          : (element){ lane / 4 % 4, lane % 4, lane / 16 };
    if (s->blocks > 1)
        return (element){ lane / s->m, lane % s->m, value };
    int per_lane = depth * s->m / LANES;
    return (element){ 0, lane % s->m, lane / s->m * per_lane + value };
}

static element result_element(const shape *s, int lane, int value) /* k is the column here */
{
    if (strcmp(s->acc, "f64") == 0)
        return s->m == 16 ? (element){ 0, 4 * value + lane / 16, lane % 16 }
                          : (element){ lane / 4 % 4, lane / 16, lane % 4 };
    if (s->m == 32)
        return (element){ value / 16, value % 16 / 4 * 8 + lane / 32 * 4 + value % 4, lane % 32 };
    if (s->m == 16)
        return (element){ value / 4, lane / 16 * 4 + value % 4, lane % 16 };
    return (element){ lane / 4, value, lane % 4 };
}

static double a_of[16][32][64], b_of[16][32][64], c_of[16][32][32];

/* Whole numbers from -7 to 7: exact in every format, and so are their sums. */
static double small_number(void)
{
    return (double)(int)(next_random() % 15) - 7;
}

static void fill_dense(const shape *s, unsigned first, const char *type, int columns, double (*of)[32][64])
{
    int values = strcmp(type, "f64") == 0 ? 1 : s->blocks > 1 ? s->k : s->k * columns / LANES;
    for (int lane = 0; lane < LANES; lane++)
        for (int v = 0; v < values; v++) {
            element at = source_element(s, lane, v, s->k);
            double x = small_number();
            of[at.block][at.row][at.k] = x;
            put(first, (unsigned)lane, (unsigned)v, width(type), encode(type, x));
        }
}

/* Two of every four values, and the index that says which. Set `set` of the index register. */
static void fill_sparse(const shape *s, unsigned set)
{
    int per_lane = s->k / 2 * s->m / LANES;
    memset(a_of, 0, sizeof a_of);
    for (int lane = 0; lane < LANES; lane++) {
        uint32_t index = 0;
        for (int v = 0; v < per_lane; v += 2) {
            int low = (int)(next_random() % 3), high = low + 1 + (int)(next_random() % (unsigned)(3 - low));
            int quad = lane / s->m * per_lane * 2 + v / 2 * 4;
            double x = small_number(), y = small_number();
            a_of[0][lane % s->m][quad + low] = x;
            a_of[0][lane % s->m][quad + high] = y;
            put(A0, (unsigned)lane, (unsigned)v, width(s->a), encode(s->a, x));
            put(A0, (unsigned)lane, (unsigned)v + 1, width(s->a), encode(s->a, y));
            index |= (uint32_t)(low | high << 2) << 2 * v;
        }
        reg(C0)[lane] = index << set * 2u * (unsigned)per_lane | (set ? next_random() & 0xffu : 0);
    }
}

static amd_inst matrix_inst(const amd_row *row, unsigned d, unsigned c)
{
    amd_inst in = { .op = row->op, .format = AMD_VOP3P, .src_count = 3 };
    in.vdst = (amd_operand){ (uint16_t)d, amd_shape_table[row->dst].dwords, AMD_KIND_WIDE };
    in.src[0] = (amd_operand){ AMD_VGPR + A0, amd_shape_table[row->src[0]].dwords, AMD_KIND_WIDE };
    in.src[1] = (amd_operand){ AMD_VGPR + B0, amd_shape_table[row->src[1]].dwords, AMD_KIND_WIDE };
    in.src[2] = (amd_operand){ (uint16_t)c, amd_shape_table[row->src[2]].dwords, AMD_KIND_WIDE };
    in.sdst.code = AMD_NO_OPERAND;
    return in;
}

static double result_at(const char *type, unsigned first, int lane, int value)
{
    if (strcmp(type, "f64") == 0) {
        uint64_t bits = reg(first + 2u * (unsigned)value)[lane] |
                        (uint64_t)reg(first + 2u * (unsigned)value + 1)[lane] << 32;
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    uint32_t bits = reg(first + (unsigned)value)[lane];
    float x;
    memcpy(&x, &bits, sizeof x);
    return strcmp(type, "i32") == 0 ? (double)(int32_t)bits : (double)x;
}

static void check_products(const shape *s, unsigned first, unsigned words, const char *name)
{
    int values = (int)words / (strcmp(s->acc, "f64") == 0 ? 2 : 1);
    for (int lane = 0; lane < LANES; lane++)
        for (int v = 0; v < values; v++) {
            element at = result_element(s, lane, v);
            double sum = c_of[at.block][at.row][at.k];
            for (int k = 0; k < s->k; k++)
                sum += a_of[at.block][at.row][k] * b_of[at.block][at.k][k];
            if (result_at(s->acc, first, lane, v) != sum)
                fail_msg("%s: D[%d][%d] of block %d is %g, not %g", name, at.row, at.k, at.block,
                         result_at(s->acc, first, lane, v), sum);
        }
}

static void fill_c(const shape *s, unsigned first, unsigned words)
{
    int values = (int)words / (strcmp(s->acc, "f64") == 0 ? 2 : 1);
    for (int lane = 0; lane < LANES; lane++)
        for (int v = 0; v < values; v++) {
            element at = result_element(s, lane, v);
            double x = small_number();
            c_of[at.block][at.row][at.k] = x;
            if (strcmp(s->acc, "i32") == 0)
                reg(first + (unsigned)v)[lane] = (uint32_t)(int32_t)x;
            else
                put(first, (unsigned)lane, (unsigned)v, strcmp(s->acc, "f64") == 0 ? 64 : 32,
                    encode(s->acc, x));
        }
}

/* Every matrix instruction of a target: exact sums, all lanes off, C and D in both register files. */
static void check_target(amd_target target, unsigned at_least)
{
    unsigned seen = 0;
    for (unsigned op = 1; op < AMD_OP_COUNT; op++) {
        shape s;
        if (!shape_of((amd_op)op, &s) || !amd_op_exists(target, (amd_op)op))
            continue;
        const amd_row *row = amd_table_find_op(target, AMD_VOP3P, (amd_op)op);
        assert_non_null(row);
        for (unsigned turn = 0; turn < 2; turn++) {
            unsigned words = amd_shape_table[row->dst].dwords, d = turn ? 256 + 64 : D0;
            wave_init(target);
            memset(&wave.sgpr[AMD_EXEC_LO], 0, 8); /* it does not count */
            if (s.sparse)
                fill_sparse(&s, turn);
            else
                fill_dense(&s, A0, s.a, s.m, a_of);
            fill_dense(&s, B0, s.b, s.n, b_of);
            fill_c(&s, s.sparse ? d : C0, words);
            amd_inst in = matrix_inst(row, AMD_VGPR + d, AMD_VGPR + C0);
            in.dmask = (uint8_t)(s.sparse ? turn : 0);
            amd_body body = amd_exec_find(target, LANES, &in);
            assert_non_null(body);
            body(&wave, &in);
            check_products(&s, d, words, amd_op_name((amd_op)op));
        }
        seen++;
    }
    assert_true(seen >= at_least);
}

static void test_matrix_gfx90a(void **state)
{
    (void)state;
    check_target(AMD_GFX90A, 27);
}

static void test_matrix_gfx942(void **state)
{
    (void)state;
    check_target(AMD_GFX942, 46);
}

/* A constant as C; one block of A for several; rotated B. */
static void test_matrix_fields(void **state)
{
    (void)state;
    shape s;
    assert_true(shape_of(AMD_V_MFMA_F32_4X4X1_16B_F32, &s));
    const amd_row *row = amd_table_find_op(AMD_GFX90A, AMD_VOP3P, AMD_V_MFMA_F32_4X4X1_16B_F32);
    wave_init(AMD_GFX90A);
    fill_dense(&s, A0, "f32", 4, a_of);
    fill_dense(&s, B0, "f32", 4, b_of);
    amd_inst in = matrix_inst(row, AMD_VGPR + D0, AMD_FLOAT + 2); /* 1.0 */
    in.dim = 2;                                                   /* groups of four blocks */
    in.dmask = 3;                                                 /* the last of each */
    in.simm = 3;                                                  /* by 16 lanes, which are four blocks */
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    for (int b = 0; b < 16; b++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                assert_true(result_at("f32", D0, 4 * b + j, i) ==
                            1 + a_of[b / 4 * 4 + 3][i][0] * b_of[(b + 4) % 16][j][0]);
}

/* gfx942: signs in place of the permutation of B. */
static void test_matrix_signs(void **state)
{
    (void)state;
    shape s;
    assert_true(shape_of(AMD_V_MFMA_F64_16X16X4_F64, &s));
    const amd_row *row = amd_table_find_op(AMD_GFX942, AMD_VOP3P, AMD_V_MFMA_F64_16X16X4_F64);
    wave_init(AMD_GFX942);
    fill_dense(&s, A0, "f64", 16, a_of);
    fill_dense(&s, B0, "f64", 16, b_of);
    fill_c(&s, C0, 8);
    amd_inst in = matrix_inst(row, AMD_VGPR + D0, AMD_VGPR + C0);
    in.neg = 5; /* A and C */
    amd_exec_find(AMD_GFX942, LANES, &in)(&wave, &in);
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++)
            a_of[0][i][k] = -a_of[0][i][k];
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            c_of[0][i][j] = -c_of[0][i][j];
    check_products(&s, D0, 8, "v_mfma_f64_16x16x4_f64");
}

/* Random floats: within one rounding per product of the exact sum. CDNA 2 takes 16-bit denormals for 0. */
static void test_matrix_rounding(void **state)
{
    (void)state;
    const amd_row *row = amd_table_find_op(AMD_GFX942, AMD_VOP3P, AMD_V_MFMA_F32_16X16X4_F32);
    wave_init(AMD_GFX942);
    for (unsigned lane = 0; lane < LANES; lane++) {
        reg(A0)[lane] = 0x3f000000u + next_random() % 0x1000000u;
        reg(B0)[lane] = 0xbf000000u + next_random() % 0x1000000u;
    }
    amd_inst in = matrix_inst(row, AMD_VGPR + D0, AMD_INT_0);
    amd_exec_find(AMD_GFX942, LANES, &in)(&wave, &in);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            double sum = 0, size = 0;
            for (int k = 0; k < 4; k++) {
                double x = result_at("f32", A0, 16 * k + i, 0) * result_at("f32", B0, 16 * k + j, 0);
                sum += x;
                size += fabs(x);
            }
            assert_true(fabs(result_at("f32", D0, 16 * (i / 4) + j, i % 4) - sum) <= 4 * size * 0x1p-24);
        }
    row = amd_table_find_op(AMD_GFX942, AMD_VOP3P, AMD_V_MFMA_F32_16X16X16_F16);
    for (unsigned target = AMD_GFX90A; target <= AMD_GFX942; target++) {
        wave_init((amd_target)target);
        for (unsigned lane = 0; lane < LANES; lane++) {
            reg(A0)[lane] = 1;      /* 2^-24 */
            reg(B0)[lane] = 0x6800; /* 2^11 */
        }
        in = matrix_inst(row, AMD_VGPR + D0, AMD_INT_0);
        amd_exec_find((amd_target)target, LANES, &in)(&wave, &in);
        assert_true(result_at("f32", D0, 5, 2) == (target == AMD_GFX90A ? 0.0 : 4 * 0x1p-13));
    }
}

/* --- the 8-bit formats ---------------------------------------------------------------------------------- */

static void run_1(amd_op op, amd_format format, unsigned dst, unsigned a, unsigned b, unsigned op_sel)
{
    amd_inst in = { .op = (uint16_t)op, .format = (uint8_t)format, .src_count = 2, .op_sel = (uint8_t)op_sel };
    in.vdst.code = (uint16_t)(AMD_VGPR + dst);
    in.sdst.code = AMD_NO_OPERAND;
    in.src[0].code = (uint16_t)(AMD_VGPR + a);
    in.src[1].code = (uint16_t)(AMD_VGPR + b);
    in.src[2].code = AMD_NO_OPERAND;
    amd_body body = amd_exec_find(AMD_GFX942, LANES, &in);
    assert_non_null(body);
    body(&wave, &in);
}

static void test_eights(void **state)
{
    (void)state;
    for (int mantissa = 2; mantissa <= 3; mantissa++)
        for (unsigned code = 0; code < 256; code++) {
            wave_init(AMD_GFX942);
            reg(1)[0] = code | 0x100;
            run_1(mantissa == 3 ? AMD_V_CVT_F32_FP8 : AMD_V_CVT_F32_BF8, AMD_VOP1, 2, 1, 1, 0);
            double value = eight_to_double(code, mantissa), found = result_at("f32", 2, 0, 0);
            assert_true(code == 0x80 ? isnan(found) : found == value);
            /* And back, into the upper half; the lower one stays. */
            reg(3)[0] = 0x1234;
            run_1(mantissa == 3 ? AMD_V_CVT_PK_FP8_F32 : AMD_V_CVT_PK_BF8_F32, AMD_VOP3, 3, 2, 2, 8);
            assert_int_equal(reg(3)[0], code * 0x01010000u | 0x1234);
            run_1(mantissa == 3 ? AMD_V_CVT_SR_FP8_F32 : AMD_V_CVT_SR_BF8_F32, AMD_VOP3, 3, 2, 4, 4);
            assert_int_equal(reg(3)[0], code * 0x01010000u | code << 8 | 0x34);
        }
}

/* Rounded to the nearest, and to the even one of two; too large is NaN, or the largest with FP16_OVFL. */
static void test_eights_rounding(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        wave_init(AMD_GFX942);
        reg(1)[0] = 0x38000000u + next_random() % 0x0b000000u; /* 2^-15 to 2^7 */
        run_1(AMD_V_CVT_PK_FP8_F32, AMD_VOP3, 3, 1, 1, 0);
        double x = result_at("f32", 1, 0, 0), best = INFINITY;
        for (unsigned code = 0; code < 0x80; code++)
            best = fmin(best, fabs(eight_to_double(code, 3) - x));
        assert_true(fabs(eight_to_double(reg(3)[0] & 0xff, 3) - x) == best);
    }
    wave_init(AMD_GFX942);
    reg(1)[0] = 0x41040000; /* 8.25: halfway between 8 and 8.5 does not exist; 8 is next */
    reg(1)[1] = 0x41080000; /* 8.5: halfway between 8 and 9 */
    reg(1)[2] = 0x41180000; /* 9.5: halfway between 9 and 10 */
    reg(1)[3] = 0x447a0000; /* 1000 */
    run_1(AMD_V_CVT_PK_FP8_F32, AMD_VOP3, 3, 1, 1, 0);
    assert_int_equal(reg(3)[0] & 0xff, 0x58);
    assert_int_equal(reg(3)[1] & 0xff, 0x58);
    assert_int_equal(reg(3)[2] & 0xff, 0x5a);
    assert_int_equal(reg(3)[3] & 0xff, 0x80);
    wave.mode |= 1u << 23;
    run_1(AMD_V_CVT_PK_FP8_F32, AMD_VOP3, 3, 1, 1, 0);
    assert_int_equal(reg(3)[3] & 0xff, 0x7f);
}

/* --- packed floats -------------------------------------------------------------------------------------- */

static void test_packed_floats(void **state)
{
    (void)state;
    wave_init(AMD_GFX90A);
    for (unsigned i = 0; i < 4; i++) { /* v[2:3] = 1, 2; v[4:5] = 4, 8 */
        uint32_t bits[4] = { 0x3f800000, 0x40000000, 0x40800000, 0x41000000 };
        reg(2 + i)[7] = bits[i];
    }
    wave.sgpr[10] = 0x40400000; /* 3 and 5 */
    wave.sgpr[11] = 0x40a00000;
    amd_inst in = { .op = AMD_V_PK_FMA_F32, .format = AMD_VOP3P, .src_count = 3, .op_sel_hi = 5, .op_sel = 1 };
    in.vdst = (amd_operand){ AMD_VGPR + 6, 2, AMD_KIND_PK32 };
    in.sdst.code = AMD_NO_OPERAND;
    in.src[0].code = AMD_VGPR + 2;
    in.src[1].code = AMD_VGPR + 4;
    in.src[2].code = 10;
    in.neg_hi = 4;
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    assert_true(result_at("f32", 6, 7, 0) == 2.0 * 4 + 3); /* op_sel: the upper half of the first source */
    assert_true(result_at("f32", 7, 7, 0) == 2.0 * 4 - 5); /* op_sel_hi: the lower half of the second */
    in.op = AMD_V_PK_MOV_B32;
    in.src_count = 2;
    in.op_sel = 2;
    in.neg_hi = 0;
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    assert_true(result_at("f32", 6, 7, 0) == 1.0);
    assert_true(result_at("f32", 7, 7, 0) == 8.0);
    in.op = AMD_V_PK_ADD_F32;
    in.src[1].code = AMD_FLOAT + 4; /* 2.0 is in the lower half only */
    in.op_sel = 0;
    in.op_sel_hi = 3;
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    assert_true(result_at("f32", 6, 7, 0) == 3.0 && result_at("f32", 7, 7, 0) == 2.0);
}

/* --- moves between the files, and pairs in atomics ------------------------------------------------------ */

static void test_moves(void **state)
{
    (void)state;
    wave_init(AMD_GFX90A);
    reg(1)[9] = 77;
    amd_inst in = { .op = AMD_V_ACCVGPR_WRITE_B32, .format = AMD_VOP3P, .src_count = 1 };
    in.vdst = (amd_operand){ AMD_AGPR + 2, 1, AMD_KIND_B32 };
    in.src[0] = (amd_operand){ AMD_VGPR + 1, 1, AMD_KIND_B32 };
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    assert_int_equal(reg(256 + 2)[9], 77);
    in.op = AMD_V_ACCVGPR_MOV_B32;
    in.format = AMD_VOP1;
    in.vdst.code = AMD_AGPR + 255;
    in.src[0].code = AMD_AGPR + 2;
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    in.op = AMD_V_ACCVGPR_READ_B32;
    in.format = AMD_VOP3P;
    in.vdst.code = AMD_VGPR + 3;
    in.src[0].code = AMD_AGPR + 255;
    wave.sgpr[AMD_EXEC_LO] = 1u << 9;
    reg(256 + 255)[8] = 5;
    amd_exec_find(AMD_GFX90A, LANES, &in)(&wave, &in);
    assert_int_equal(reg(3)[9], 77);
    assert_int_equal(reg(3)[8], 0); /* off */
}

static void test_atomic_pairs(void **state)
{
    (void)state;
    uint32_t place = 0x3c004000, data[4] = { 0x4200c000, 0, 0, 0 }; /* halves: (1, 2) + (3, -2) */
    amd_atomic_apply((uint8_t *)&place, 4, AMD_ATOMIC_PK_ADD_F16, data);
    assert_int_equal(place, 0x44000000);
    assert_int_equal(data[0], 0x3c004000);
    place = 0x3f804000; /* bfloat16: (1, 2) + (3, 2^-9): the lower sum is halfway and stays even */
    data[0] = 0x40403b00;
    amd_atomic_apply((uint8_t *)&place, 4, AMD_ATOMIC_PK_ADD_BF16, data);
    assert_int_equal(place, 0x40804000);
}

/* --- the start ------------------------------------------------------------------------------------------ */

static void test_start(void **state)
{
    (void)state;
    for (unsigned target = AMD_GFX90A; target <= AMD_GFX942; target++) {
        /* 24 registers, of which 8 are AGPRs; three axes of work-items. */
        amd_program program = { .lanes = 64,
                                .kernel = { .target = (amd_target)target, .rsrc1 = 2, .rsrc3 = 3 } };
        program.kernel.rsrc2 = 2u << 11;
        program.vgprs = amd_limits_vgprs(&program.kernel, 64);
        program.accumulation = program.vgprs - amd_limits_first_agpr(&program.kernel, program.vgprs);
        assert_int_equal(program.vgprs, 24);
        assert_int_equal(program.accumulation, 8);
        amd_start start = { .program = &program, .grid = { 4, 4, 8 }, .group = { 4, 4, 8 } };
        amd_group group = { .scratch = 0x10000000000, .scratch_bytes = 16 };
        uint32_t size[3] = { 4, 4, 8 };
        amd_wave started;
        memset(file, 0xff, sizeof file);
        amd_wave_start(&start, &group, size, 2, 1, file, &started);
        assert_int_equal(file[0], 4 << 20);
        assert_int_equal(file[27], 3 | 2 << 10 | 5 << 20);
        assert_int_equal(reg(1)[27], 0); /* no register per axis */
        assert_int_equal(reg(256 + 7)[63], 0);
        assert_int_equal(reg(256 + 8)[63], UINT32_MAX);
        assert_int_equal(started.sgpr[AMD_FLAT_SCRATCH_LO], target == AMD_GFX942 ? 64 * 16 : 0);
        unsigned code = 0;
        amd_inst in = { .op = AMD_V_ACCVGPR_READ_B32, .format = AMD_VOP3P, .src_count = 1 };
        in.vdst = (amd_operand){ AMD_VGPR + 15, 1, AMD_KIND_B32 };
        in.sdst.code = in.src[1].code = in.src[2].code = in.src[3].code = AMD_NO_OPERAND;
        in.src[0] = (amd_operand){ AMD_AGPR + 7, 1, AMD_KIND_B32 };
        assert_false(amd_limits_stray(&program, &in, &code));
        in.src[0].code = AMD_AGPR + 8;
        assert_true(amd_limits_stray(&program, &in, &code));
        assert_int_equal(code, AMD_AGPR + 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_gfx90a),   cmocka_unit_test(test_matrix_gfx942),
        cmocka_unit_test(test_matrix_fields),   cmocka_unit_test(test_matrix_signs),
        cmocka_unit_test(test_matrix_rounding), cmocka_unit_test(test_eights),
        cmocka_unit_test(test_eights_rounding), cmocka_unit_test(test_packed_floats),
        cmocka_unit_test(test_start),           cmocka_unit_test(test_moves),
        cmocka_unit_test(test_atomic_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
