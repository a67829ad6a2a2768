/* memory_atomic.c: atomic operations on memory. Global memory is shared between host threads, so they use the
 * host's atomics there. LDS belongs to one work-group, which one thread runs. */
#include "isa/amd/exec/floats.h"
#include "isa/amd/exec/memory_impl.h"

static float atomic_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t atomic_b32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double atomic_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t atomic_b64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* One text for both widths: S is the signed type, TO_F and TO_B go between bits and floats. */
#define ATOMIC_NEW(S, TO_F, TO_B)                                                                             \
    switch (what) {                                                                                           \
    case AMD_ATOMIC_SWAP:                                                                                     \
        return d;                                                                                             \
    case AMD_ATOMIC_CMPSWAP:                                                                                  \
        return m == c ? d : m;                                                                                \
    case AMD_ATOMIC_ADD:                                                                                      \
        return m + d;                                                                                         \
    case AMD_ATOMIC_SUB:                                                                                      \
        return m - d;                                                                                         \
    case AMD_ATOMIC_RSUB:                                                                                     \
        return d - m;                                                                                         \
    case AMD_ATOMIC_SMIN:                                                                                     \
        return (S)m < (S)d ? m : d;                                                                           \
    case AMD_ATOMIC_UMIN:                                                                                     \
        return m < d ? m : d;                                                                                 \
    case AMD_ATOMIC_SMAX:                                                                                     \
        return (S)m > (S)d ? m : d;                                                                           \
    case AMD_ATOMIC_UMAX:                                                                                     \
        return m > d ? m : d;                                                                                 \
    case AMD_ATOMIC_AND:                                                                                      \
        return m & d;                                                                                         \
    case AMD_ATOMIC_OR:                                                                                       \
        return m | d;                                                                                         \
    case AMD_ATOMIC_XOR:                                                                                      \
        return m ^ d;                                                                                         \
    case AMD_ATOMIC_MSKOR:                                                                                    \
        return (m & ~d) | c;                                                                                  \
    case AMD_ATOMIC_INC:                                                                                      \
        return m >= d ? 0 : m + 1;                                                                            \
    case AMD_ATOMIC_DEC:                                                                                      \
        return m == 0 || m > d ? d : m - 1;                                                                   \
    case AMD_ATOMIC_WRAP:                                                                                     \
        return m >= d ? m - d : m + c;                                                                        \
    case AMD_ATOMIC_CSUB:                                                                                     \
        return m >= d ? m - d : 0;                                                                            \
    case AMD_ATOMIC_FCMPSWAP:                                                                                 \
        return TO_F(m) == TO_F(c) ? d : m;                                                                    \
    case AMD_ATOMIC_FMIN:                                                                                     \
        return TO_F(d) < TO_F(m) ? d : m;                                                                     \
    case AMD_ATOMIC_FMAX:                                                                                     \
        return TO_F(d) > TO_F(m) ? d : m;                                                                     \
    case AMD_ATOMIC_FADD:                                                                                     \
        return TO_B(TO_F(m) + TO_F(d));                                                                       \
    default:                                                                                                  \
        break;                                                                                                \
    }

/* Two numbers of 16 bits, rounded to nearest even; denormals are kept. */
static uint32_t atomic_pair(amd_atomic what, uint32_t m, uint32_t d)
{
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += 16) {
        uint32_t x = m >> at & 0xffff, y = d >> at & 0xffff, sum;
        if (what == AMD_ATOMIC_PK_ADD_F16) {
            sum = f16_round(f32_bits(f16_value(x) + f16_value(y)), 0);
        } else {
            uint32_t bits = atomic_b32(atomic_f32(x << 16) + atomic_f32(y << 16));
            bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
            sum = nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        }
        result |= (sum & 0xffff) << at;
    }
    return result;
}

static uint32_t atomic_new32(amd_atomic what, uint32_t m, uint32_t d, uint32_t c)
{
    if (what == AMD_ATOMIC_PK_ADD_F16 || what == AMD_ATOMIC_PK_ADD_BF16)
        return atomic_pair(what, m, d);
    ATOMIC_NEW(int32_t, atomic_f32, atomic_b32)
    return m;
}

static uint64_t atomic_new64(amd_atomic what, uint64_t m, uint64_t d, uint64_t c)
{
    ATOMIC_NEW(int64_t, atomic_f64, atomic_b64)
    if (what == AMD_ATOMIC_CONDXCHG) {
        uint64_t low = (d & 0x80000000u) != 0 ? d & 0x7fffffffu : m & 0xffffffffu;
        uint64_t high = (d >> 63) != 0 ? d >> 32 & 0x7fffffffu : m >> 32;
        return high << 32 | low;
    }
    return m;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the atomic functions change *place */
static uint32_t atomic_shared32(uint32_t *place, amd_atomic what, uint32_t d, uint32_t c)
{
    switch (what) {
    case AMD_ATOMIC_ADD:
        return __atomic_fetch_add(place, d, __ATOMIC_SEQ_CST);
    case AMD_ATOMIC_SUB:
        return __atomic_fetch_sub(place, d, __ATOMIC_SEQ_CST);
    case AMD_ATOMIC_SWAP:
        return __atomic_exchange_n(place, d, __ATOMIC_SEQ_CST);
    default:
        break;
    }
    uint32_t old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(place, &old, atomic_new32(what, old, d, c), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    return old;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the atomic functions change *place */
static uint64_t atomic_shared64(uint64_t *place, amd_atomic what, uint64_t d, uint64_t c)
{
    uint64_t old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(place, &old, atomic_new64(what, old, d, c), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    return old;
}

/* data: the operand, then the comparand; receives the old value. `place` is aligned. */
void mem_atomic_memory(uint8_t *place, unsigned bytes, amd_atomic what, uint32_t *data, bool shared)
{
    if (bytes == 4) {
        uint32_t *at = (uint32_t *)(void *)place;
        uint32_t d = data[0], c = data[1];
        if (shared) {
            data[0] = atomic_shared32(at, what, d, c);
        } else {
            data[0] = *at;
            *at = atomic_new32(what, *at, d, c);
        }
        return;
    }
    uint64_t *at = (uint64_t *)(void *)place;
    uint64_t d, c, old;
    memcpy(&d, data, sizeof d);
    memcpy(&c, data + 2, sizeof c);
    if (shared) {
        old = atomic_shared64(at, what, d, c);
    } else {
        old = *at;
        *at = atomic_new64(what, old, d, c);
    }
    memcpy(data, &old, sizeof old);
}

void amd_atomic_apply(uint8_t *place, uint32_t bytes, amd_atomic what, uint32_t data[4])
{
    mem_atomic_memory(place, bytes, what, data, false);
}
