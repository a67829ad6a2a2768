/* lds_shape.c: lanes in LDS, eight at a time. The bodies are compiled for AVX2 and for any x86-64; the host decides. */
#include "model/cu/lds_shape.h"

#include <string.h>

typedef uint32_t shape_vector __attribute__((vector_size(32)));

#define SHAPE static inline __attribute__((always_inline))

bool lds_shape_learn(lds_shape *shape, const uint32_t *addresses, unsigned lanes)
{
    shape->parts = (uint8_t)(lanes / LDS_SHAPE_PART);
    shape->low = shape->high = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        int64_t offset = (int64_t)addresses[lane] - addresses[0];
        if (offset < -(1 << 20) || offset > 1 << 20)
            return false;
        shape->offset[lane] = (uint32_t)offset;
        shape->low = offset < shape->low ? (int32_t)offset : shape->low;
        shape->high = offset > shape->high ? (int32_t)offset : shape->high;
    }
    for (unsigned part = 0; part < shape->parts; part++) {
        const uint32_t *offset = &shape->offset[part * LDS_SHAPE_PART];
        shape->step[part] = offset[1] - offset[0];
        for (unsigned i = 2; i < LDS_SHAPE_PART; i++)
            if (offset[i] - offset[i - 1] != shape->step[part])
                shape->step[part] = LDS_SHAPE_MIXED;
        unsigned same = 0;
        while (memcmp(offset, &shape->offset[same * LDS_SHAPE_PART], LDS_SHAPE_PART * sizeof *offset) != 0)
            same++;
        shape->same[part] = (uint8_t)same;
    }
    return true;
}

/* --- the bodies ----------------------------------------------------------------------------------------- */

SHAPE bool shape_is(const lds_shape *shape, const uint32_t *addresses)
{
    shape_vector wrong = { 0 }, base = wrong + addresses[0];
    for (unsigned part = 0; part < shape->parts; part++) {
        shape_vector at, offset;
        memcpy(&at, addresses + part * LDS_SHAPE_PART, sizeof at);
        memcpy(&offset, shape->offset + part * LDS_SHAPE_PART, sizeof offset);
        wrong |= (at - base) ^ offset;
    }
    uint64_t words[4];
    memcpy(words, &wrong, sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) == 0;
}

SHAPE void shape_move(uint32_t *to, const void *from)
{
    shape_vector value;
    memcpy(&value, from, sizeof value);
    memcpy(to, &value, sizeof value);
}

/* Lanes one behind the other: dword i of lane l is at 4 * (l * dwords + i). */
SHAPE void shape_load_dense(const uint8_t *from, uint32_t *to, unsigned dwords, unsigned stride)
{
    shape_vector in[4];
    memcpy(in, from, dwords * sizeof in[0]);
    if (dwords == 1) {
        memcpy(to, &in[0], sizeof in[0]);
    } else if (dwords == 2) {
        shape_vector even = __builtin_shufflevector(in[0], in[1], 0, 2, 4, 6, 8, 10, 12, 14);
        shape_vector odd = __builtin_shufflevector(in[0], in[1], 1, 3, 5, 7, 9, 11, 13, 15);
        memcpy(to, &even, sizeof even);
        memcpy(to + stride, &odd, sizeof odd);
    } else {
        /* Pairs of lanes l and l + 4 beside each other, then their dwords. */
        shape_vector a = __builtin_shufflevector(in[0], in[2], 0, 1, 2, 3, 8, 9, 10, 11);
        shape_vector b = __builtin_shufflevector(in[0], in[2], 4, 5, 6, 7, 12, 13, 14, 15);
        shape_vector c = __builtin_shufflevector(in[1], in[3], 0, 1, 2, 3, 8, 9, 10, 11);
        shape_vector d = __builtin_shufflevector(in[1], in[3], 4, 5, 6, 7, 12, 13, 14, 15);
        shape_vector ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
        shape_vector cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
        shape_vector ab_high = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
        shape_vector cd_high = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
        shape_vector out[4] = { __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13),
                                __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15),
                                __builtin_shufflevector(ab_high, cd_high, 0, 1, 8, 9, 4, 5, 12, 13),
                                __builtin_shufflevector(ab_high, cd_high, 2, 3, 10, 11, 6, 7, 14, 15) };
        for (unsigned i = 0; i < 4; i++)
            memcpy(to + i * stride, &out[i], sizeof out[i]);
    }
}

SHAPE void shape_load(const lds_shape *shape, const uint8_t *lds, uint32_t *to, unsigned dwords,
                      unsigned stride)
{
    for (unsigned part = 0; part < shape->parts; part++) {
        const uint32_t *offset = shape->offset + part * LDS_SHAPE_PART;
        uint32_t *at = to + part * LDS_SHAPE_PART, step = shape->step[part];
        if (shape->same[part] != part) {
            for (unsigned i = 0; i < dwords; i++)
                shape_move(at + i * stride, to + shape->same[part] * LDS_SHAPE_PART + i * stride);
        } else if (step == 0) {
            const uint8_t *from = lds + (int32_t)offset[0];
            for (unsigned i = 0; i < dwords; i++) {
                uint32_t dword;
                memcpy(&dword, from + i * 4, sizeof dword);
                shape_vector all = (shape_vector){ 0 } + dword;
                memcpy(at + i * stride, &all, sizeof all);
            }
        } else if (step == dwords * 4) {
            shape_load_dense(lds + (int32_t)offset[0], at, dwords, stride);
        } else {
            for (unsigned lane = 0; lane < LDS_SHAPE_PART; lane++)
                for (unsigned i = 0; i < dwords; i++)
                    memcpy(at + lane + i * stride, lds + (int32_t)offset[lane] + i * 4, 4);
        }
    }
}

/* In the order of the lanes: of those that meet, the last one stays. */
SHAPE void shape_store(const lds_shape *shape, uint8_t *lds, const uint32_t *from, unsigned dwords,
                       unsigned stride)
{
    for (unsigned part = 0; part < shape->parts; part++) {
        const uint32_t *offset = shape->offset + part * LDS_SHAPE_PART;
        const uint32_t *at = from + part * LDS_SHAPE_PART;
        if (dwords == 1 && shape->step[part] == 4) {
            memcpy(lds + (int32_t)offset[0], at, LDS_SHAPE_PART * sizeof *at);
            continue;
        }
        for (unsigned lane = 0; lane < LDS_SHAPE_PART; lane++)
            for (unsigned i = 0; i < dwords; i++)
                memcpy(lds + (int32_t)offset[lane] + i * 4, at + lane + i * stride, 4);
    }
}

SHAPE void shape_take(uint32_t *to, const uint32_t *from, unsigned count, unsigned lanes)
{
    for (unsigned i = 0; i < count; i++, to += lanes, from += 64)
        for (unsigned lane = 0; lane < lanes; lane += 2 * LDS_SHAPE_PART) {
            shape_move(to + lane, from + lane);
            shape_move(to + lane + LDS_SHAPE_PART, from + lane + LDS_SHAPE_PART);
        }
}

/* --- for each kind of host ------------------------------------------------------------------------------ */

#define SHAPE_HOST(name, how)                                                                                 \
    how static bool name##_is(const lds_shape *shape, const uint32_t *addresses)                              \
    {                                                                                                         \
        return shape_is(shape, addresses);                                                                    \
    }                                                                                                         \
    how static void name##_load(const lds_shape *shape, const uint8_t *lds, uint32_t *to, unsigned dwords,    \
                                unsigned stride)                                                              \
    {                                                                                                         \
        if (dwords == 1)                                                                                      \
            shape_load(shape, lds, to, 1, stride);                                                            \
        else if (dwords == 2)                                                                                 \
            shape_load(shape, lds, to, 2, stride);                                                            \
        else                                                                                                  \
            shape_load(shape, lds, to, 4, stride);                                                            \
    }                                                                                                         \
    how static void name##_store(const lds_shape *shape, uint8_t *lds, const uint32_t *from, unsigned dwords, \
                                 unsigned stride)                                                             \
    {                                                                                                         \
        if (dwords == 1)                                                                                      \
            shape_store(shape, lds, from, 1, stride);                                                         \
        else if (dwords == 2)                                                                                 \
            shape_store(shape, lds, from, 2, stride);                                                         \
        else                                                                                                  \
            shape_store(shape, lds, from, 4, stride);                                                         \
    }                                                                                                         \
    how static void name##_take(uint32_t *to, const uint32_t *from, unsigned count, unsigned lanes)           \
    {                                                                                                         \
        if (lanes == 64)                                                                                      \
            shape_take(to, from, count, 64);                                                                  \
        else                                                                                                  \
            shape_take(to, from, count, 32);                                                                  \
    }                                                                                                         \
    static const lds_shape_ops name = { name##_is, name##_load, name##_store, name##_take };

SHAPE_HOST(shape_any, )
#if defined(__x86_64__)
SHAPE_HOST(shape_avx2, __attribute__((target("avx2"))))
#endif

const lds_shape_ops *lds_shape_host(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return &shape_avx2;
#endif
    return &shape_any;
}
