/* matrix.c: matrix instructions of gfx90a and gfx942. The values of A and B are collected from the lanes that
 * hold them, multiplied and added up in the order of k, and spread over the lanes of D. docs/amd-isa.md lists
 * the choices about order and rounding. Reads and writes registers of one wave. */
#include "isa/amd/exec/matrix.h"

#include "isa/amd/exec/eights.h"
#include "isa/amd/exec/lanes.h"

#include <math.h>

enum { LANES_64 = 64, VALUES_MAX = 2048, WORDS_MAX = 32 * LANES_64 };

typedef enum matrix_type {
    TYPE_F32,
    TYPE_XF32, /* a float of which the upper 19 bits count */
    TYPE_F16,
    TYPE_BF16,
    TYPE_FP8,
    TYPE_BF8,
    TYPE_I8,
    TYPE_I32,
    TYPE_F64,
} matrix_type;

static const amd_matrix matrices[AMD_OP_COUNT] = {
#define MATRIX(op, rows, columns, depth, count, type_a, type_b, type_c)                                       \
    [AMD_##op] = { rows, columns, depth, count, TYPE_##type_a, TYPE_##type_b, TYPE_##type_c, false },
#define SPARSE(op, rows, columns, depth, count, type_a, type_b, type_c)                                       \
    [AMD_##op] = { rows, columns, depth, count, TYPE_##type_a, TYPE_##type_b, TYPE_##type_c, true },
#include "isa/amd/exec/matrix.def"
#undef MATRIX
#undef SPARSE
};

const amd_matrix *amd_matrix_of(unsigned op)
{
    return op < AMD_OP_COUNT && matrices[op].m ? &matrices[op] : NULL;
}

/* --- where values lie ----------------------------------------------------------------------------------- */

/* A place in an operand: the lane, and the number of the value among those that the lane holds. */
typedef struct matrix_place {
    unsigned lane, value;
} matrix_place;

/* Row (of A) or column (of B) `i` of block `b`, at `k` of `depth` values along the product. */
static matrix_place source_place(const amd_matrix *x, unsigned b, unsigned i, unsigned k, unsigned depth)
{
    if (x->a == TYPE_F64)
        return (matrix_place){ 16 * k + (x->m == 4 ? 4 * b : 0) + i, 0 };
    if (x->blocks > 1)
        return (matrix_place){ x->m * b + i, k };
    unsigned per_lane = depth / (LANES_64 / x->m);
    return (matrix_place){ x->m * (k / per_lane) + i, k % per_lane };
}

/* Element (i, j) of block `b` of C and D. */
static matrix_place result_place(const amd_matrix *x, unsigned b, unsigned i, unsigned j)
{
    if (x->c == TYPE_F64)
        return x->m == 16 ? (matrix_place){ 16 * (i % 4) + j, i / 4 }
                          : (matrix_place){ 16 * i + 4 * b + j, 0 };
    if (x->m == 32)
        return (matrix_place){ 32 * (i / 4 % 2) + j, 16 * b + 4 * (i / 8) + i % 4 };
    if (x->m == 16)
        return (matrix_place){ 16 * (i / 4) + j, 4 * b + i % 4 };
    return (matrix_place){ 4 * b + j, i };
}

/* BLGP: the lane whose values of B a lane gets. */
static unsigned permuted_lane(unsigned blgp, unsigned lane)
{
    switch (blgp) {
    case 1: /* the lower half to both */
        return lane & 31;
    case 2:
        return 32 | (lane & 31);
    case 3: /* rotated by 16 */
        return (lane + 16) & 63;
    case 4: /* one row of 16 to all */
    case 5:
    case 6:
    case 7:
        return 16 * (blgp - 4) + (lane & 15);
    default:
        return lane;
    }
}

/* --- values --------------------------------------------------------------------------------------------- */

static unsigned width_of(matrix_type type)
{
    return type == TYPE_F64                                            ? 64
           : type == TYPE_F32 || type == TYPE_XF32 || type == TYPE_I32 ? 32
           : type == TYPE_F16 || type == TYPE_BF16                     ? 16
                                                                       : 8;
}

static const uint32_t *row_of(const amd_wave *w, unsigned code)
{
    return w->vgpr + (size_t)(code - AMD_VGPR) * LANES_64;
}

static uint64_t bits_at(const amd_wave *w, unsigned code, matrix_type type, matrix_place at)
{
    unsigned width = width_of(type), bit = at.value * width;
    if (width == 64)
        return row_of(w, code + 2 * at.value)[at.lane] | (uint64_t)row_of(w, code + 2 * at.value + 1)[at.lane]
                                                             << 32;
    return row_of(w, code + bit / 32)[at.lane] >> bit % 32 & (uint32_t)((UINT64_C(1) << width) - 1);
}

/* To nearest even, with ten bits after the point. */
static float round_xf32(uint32_t x)
{
    if ((x & 0x7fffffffu) < 0x7f800000u)
        x += 0xfff + (x >> 13 & 1);
    return f32_of(x & 0xffffe000u);
}

/* Every value of A and B is exact as a double. `flush`: denormals of 16 bits count as 0. */
static double value_of(matrix_type type, uint64_t bits, bool flush)
{
    uint32_t x = (uint32_t)bits;
    switch (type) {
    case TYPE_F32:
        return (double)f32_of(x);
    case TYPE_XF32:
        return (double)round_xf32(x);
    case TYPE_F16:
        return flush && (x & 0x7c00) == 0 ? 0.0 : (double)f16_value(x);
    case TYPE_BF16:
        return flush && (x & 0x7f80) == 0 ? 0.0 : (double)f32_of(x << 16);
    case TYPE_FP8:
        return (double)fp8_value(x);
    case TYPE_BF8:
        return (double)bf8_value(x);
    case TYPE_I8:
        return (double)(int8_t)x;
    default:
        return f64_of(bits);
    }
}

/* --- the product ---------------------------------------------------------------------------------------- */

typedef struct matrix_work {
    const amd_matrix *x;
    double a[VALUES_MAX], b[VALUES_MAX]; /* [block][row or column][k]; of sparse A also the zeros */
    uint32_t c[WORDS_MAX], d[WORDS_MAX]; /* as registers: [value][lane] */
} matrix_work;

static void collect_b(const amd_wave *w, const amd_inst *inst, bool flush, matrix_work *work)
{
    const amd_matrix *x = work->x;
    /* gfx942: single blocks of short types have no such field; on gfx90a doubles have none. */
    bool none = w->target == AMD_GFX942 ? x->a != TYPE_F32 && x->blocks == 1 : x->a == TYPE_F64;
    unsigned blgp = none || x->sparse ? 0 : (unsigned)inst->simm;
    double sign = inst->neg & 2 ? -1.0 : 1.0;
    for (unsigned b = 0; b < x->blocks; b++)
        for (unsigned j = 0; j < x->n; j++)
            for (unsigned k = 0; k < x->k; k++) {
                matrix_place at = source_place(x, b, j, k, x->k);
                at.lane = permuted_lane(blgp, at.lane);
                uint64_t bits = bits_at(w, inst->src[1].code, (matrix_type)x->b, at);
                work->b[(b * x->n + j) * x->k + k] = sign * value_of((matrix_type)x->b, bits, flush);
            }
}

/* CBSZ, ABID: groups of 2^cbsz blocks all use one of their blocks of A. */
static void collect_a(const amd_wave *w, const amd_inst *inst, bool flush, matrix_work *work)
{
    const amd_matrix *x = work->x;
    unsigned group = x->blocks > 1 && x->a != TYPE_F64 && 1u << inst->dim <= x->blocks ? 1u << inst->dim : 1;
    double sign = inst->neg & 1 ? -1.0 : 1.0;
    for (unsigned b = 0; b < x->blocks; b++) {
        unsigned from = b / group * group + (group > 1 ? inst->dmask % group : 0);
        for (unsigned i = 0; i < x->m; i++)
            for (unsigned k = 0; k < x->k; k++) {
                uint64_t bits =
                    bits_at(w, inst->src[0].code, (matrix_type)x->a, source_place(x, from, i, k, x->k));
                work->a[(b * x->m + i) * x->k + k] = sign * value_of((matrix_type)x->a, bits, flush);
            }
    }
}

/* Sparse: a lane keeps two values of every four along its part of k; two bits of the index for each say which.
 * Indices of 16-bit values take 8 bits, of 8-bit values 16: ABID chooses the set if CBSZ is 0. */
static void collect_sparse(const amd_wave *w, const amd_inst *inst, matrix_work *work)
{
    const amd_matrix *x = work->x;
    unsigned kept = x->k / 2u, per_lane = kept / (LANES_64 / x->m), set_bits = 2 * per_lane;
    unsigned set = inst->dim == 0 ? inst->dmask % (32 / set_bits) : 0;
    for (unsigned i = 0; i < (unsigned)x->m * x->k; i++)
        work->a[i] = 0;
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned e = 0; e < kept; e++) {
            matrix_place at = source_place(x, 0, i, e, kept);
            uint32_t index = row_of(w, inst->src[2].code)[at.lane] >> set * set_bits;
            unsigned first = e / per_lane * per_lane * 2 + at.value / 2 * 4;
            unsigned k = first + (index >> 2 * at.value & 3);
            uint64_t bits = bits_at(w, inst->src[0].code, (matrix_type)x->a, at);
            work->a[i * x->k + k] += value_of((matrix_type)x->a, bits, false);
        }
}

static void collect_c(const amd_wave *w, const amd_inst *inst, matrix_work *work)
{
    const amd_matrix *x = work->x;
    unsigned code = x->sparse ? inst->vdst.code : inst->src[2].code, words = inst->vdst.dwords;
    if (code >= AMD_VGPR) {
        memcpy(work->c, row_of(w, code), (size_t)words * LANES_64 * sizeof *work->c);
        return;
    }
    bool wide = x->c == TYPE_F64;
    uint64_t value = lanes_scalar(w, inst, code, wide ? LANES_F64 : LANES_U32);
    for (unsigned i = 0; i < words; i++)
        for (unsigned lane = 0; lane < LANES_64; lane++)
            work->c[i * LANES_64 + lane] = (uint32_t)(wide && i % 2 ? value >> 32 : value);
}

/* One element of D: C plus the products in the order of k, each fused with its addition. */
static float element_f32(const double *a, const double *b, unsigned k, float sum)
{
    for (unsigned i = 0; i < k; i++)
        sum = fmaf((float)a[i], (float)b[i], sum);
    return sum;
}

static double element_f64(const double *a, const double *b, unsigned k, double sum)
{
    for (unsigned i = 0; i < k; i++)
        sum = fma(a[i], b[i], sum);
    return sum;
}

static uint32_t element_i32(const double *a, const double *b, unsigned k, uint32_t sum)
{
    for (unsigned i = 0; i < k; i++)
        sum += (uint32_t)((int32_t)a[i] * (int32_t)b[i]);
    return sum;
}

static void multiply_element(matrix_work *work, const double *a, const double *b, matrix_place at, bool flush,
                             bool minus_c)
{
    const amd_matrix *x = work->x;
    if (x->c == TYPE_F64) {
        unsigned low = 2 * at.value * LANES_64 + at.lane, high = low + LANES_64;
        double c = f64_of(work->c[low] | (uint64_t)work->c[high] << 32);
        uint64_t bits = f64_bits(element_f64(a, b, x->k, minus_c ? -c : c));
        if (f64_is_nan(bits))
            bits = UINT64_C(0x7ff8000000000000);
        work->d[low] = (uint32_t)bits;
        work->d[high] = (uint32_t)(bits >> 32);
        return;
    }
    unsigned word = at.value * LANES_64 + at.lane;
    if (x->c == TYPE_I32) {
        work->d[word] = element_i32(a, b, x->k, work->c[word]);
        return;
    }
    uint32_t bits =
        f32_bits(element_f32(a, b, x->k, f32_of(f32_flush(work->c[word], flush ? UINT32_MAX : 0))));
    work->d[word] = f32_is_nan(bits) ? 0x7fc00000u : f32_flush(bits, flush ? UINT32_MAX : 0);
}

void amd_matrix_body(amd_wave *wave, const amd_inst *inst)
{
    matrix_work work = { .x = amd_matrix_of(inst->op) };
    const amd_matrix *x = work.x;
    amd_wave_rest(wave); /* sums round to nearest even and keep denormals, whatever MODE says */
    /* CDNA 2 takes denormals of products of 16-bit values for 0; CDNA 3 keeps them. */
    bool flush = wave->target == AMD_GFX90A && (x->a == TYPE_F16 || x->a == TYPE_BF16);
    if (x->sparse)
        collect_sparse(wave, inst, &work);
    else
        collect_a(wave, inst, flush, &work);
    collect_b(wave, inst, flush, &work);
    collect_c(wave, inst, &work);
    for (unsigned b = 0; b < x->blocks; b++)
        for (unsigned i = 0; i < x->m; i++)
            for (unsigned j = 0; j < x->n; j++)
                multiply_element(&work, work.a + (size_t)(b * x->m + i) * x->k,
                                 work.b + (size_t)(b * x->n + j) * x->k, result_place(x, b, i, j), flush,
                                 inst->neg & 4);
    memcpy(wave->vgpr + (size_t)(inst->vdst.code - AMD_VGPR) * LANES_64, work.d,
           (size_t)inst->vdst.dwords * LANES_64 * sizeof *work.d);
}
