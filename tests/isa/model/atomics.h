/* atomics.h: the effect of atomic operations on memory, by the word in their mnemonics. */
#ifndef TESTS_ISA_MODEL_ATOMICS_H
#define TESTS_ISA_MODEL_ATOMICS_H

#include "isa/model/functions.h"

/* The new value of a place: `d` is the operand, `c` the comparand or second operand. */
static inline uint64_t changed(const char *what, unsigned bytes, uint64_t m, uint64_t d, uint64_t c)
{
    unsigned bits = 8 * bytes;
    format f = bytes == 8 ? F64 : F32;
    s128 sm = sx(m, bits), sd = sx(d, bits);
#define IS(word) (strcmp(what, word) == 0)
    if (IS("swap"))
        return d;
    if (IS("cmpswap"))
        return m - c ? m : d;
    if (IS("fcmpswap"))
        return order(f, m, c) == 0 ? d : m;
    if (IS("add"))
        return wrap_u((s128)m + d, bits, false);
    if (IS("sub"))
        return wrap_u((s128)m - d, bits, false);
    if (IS("rsub"))
        return wrap_u((s128)d - m, bits, false);
    if (IS("csub"))
        return wrap_u((s128)m - d, bits, true);
    if (IS("smin"))
        return sd < sm ? d : m;
    if (IS("smax"))
        return sd > sm ? d : m;
    if (IS("umin"))
        return d < m ? d : m;
    if (IS("umax"))
        return d > m ? d : m;
    if (IS("fmin"))
        return order(f, d, m) == -1 ? d : m;
    if (IS("fmax"))
        return order(f, d, m) == 1 ? d : m;
    if (IS("fadd"))
        return sum(f, m, d, (rules){ 0 });
    if (IS("and"))
        return m + d - (m | d);
    if (IS("or"))
        return m + d - (m & d);
    if (IS("xor"))
        return (m | d) - (m & d);
    if (IS("mskor"))
        return (m - (m & d)) | c;
    if (IS("inc"))
        return m >= d ? 0 : m + 1;
    if (IS("dec"))
        return m == 0 || m > d ? d : m - 1;
    if (IS("wrap"))
        return wrap_u(m >= d ? (s128)m - d : (s128)m + c, bits, false);
    if (IS("condxchg")) {
        uint64_t r = 0;
        for (unsigned h = 0; h < 64; h += 32) {
            uint64_t new_half = d >> h & UINT32_MAX;
            r |= (new_half >= 0x80000000 ? new_half - 0x80000000 : m >> h & UINT32_MAX) << h;
        }
        return r;
    }
#undef IS
    fail_msg("no atomic '%s'", what);
    return 0;
}

#endif
