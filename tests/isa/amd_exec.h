/* amd_exec.h: one wave with registers, and instructions built by hand, for the tests of the AMD bodies. */
#ifndef TESTS_ISA_AMD_EXEC_H
#define TESTS_ISA_AMD_EXEC_H

#include "isa/amd/exec/exec.h"
#include "isa/amd/exec/wave.h"

#include <stdlib.h>

#define VGPRS 32
#define V(n) (AMD_VGPR + (n))
#define INT(n) (AMD_INT_0 + (n))

typedef struct rig {
    amd_wave wave;
    amd_group group;
    _Alignas(64) uint32_t vgpr[VGPRS * 64];
} rig;

enum { MODE_FLUSH_32 = 0xc0, MODE_ALL = 0xf0, MODE_DX10 = 0x100, MODE_IEEE = 0x200 };

static inline void rig_init(rig *r, amd_target target, unsigned lanes)
{
    memset(r, 0, sizeof *r);
    r->wave.vgpr = r->vgpr;
    r->wave.vgpr_count = VGPRS;
    r->wave.lanes = (uint8_t)lanes;
    r->wave.target = (uint8_t)target;
    r->wave.mode = MODE_ALL | MODE_IEEE;
    r->wave.group = &r->group;
    r->wave.sgpr[AMD_EXEC_LO] = UINT32_MAX;
    r->wave.sgpr[AMD_EXEC_HI] = lanes == 64 ? UINT32_MAX : 0;
}

static inline uint32_t *rig_vgpr(rig *r, unsigned n)
{
    return &r->vgpr[n * r->wave.lanes];
}

static inline void rig_fill(rig *r, unsigned n, uint32_t value)
{
    for (unsigned i = 0; i < r->wave.lanes; i++)
        rig_vgpr(r, n)[i] = value;
}

static inline void rig_fill64(rig *r, unsigned n, uint64_t value)
{
    rig_fill(r, n, (uint32_t)value);
    rig_fill(r, n + 1, (uint32_t)(value >> 32));
}

/* A vector instruction; unused sources are AMD_NO_OPERAND. */
static inline amd_inst vop(amd_op op, unsigned dst, unsigned s0, unsigned s1, unsigned s2)
{
    amd_inst in = { .op = (uint16_t)op, .format = AMD_VOP3, .op_sel_hi = 7 };
    unsigned codes[3] = { s0, s1, s2 };
    in.vdst.code = (uint16_t)dst;
    in.sdst.code = AMD_VCC_LO;
    for (unsigned k = 0; k < 3; k++) {
        in.src[k].code = (uint16_t)codes[k];
        if (codes[k] != AMD_NO_OPERAND)
            in.src_count = (uint8_t)(k + 1);
    }
    return in;
}

static inline amd_inst sop(amd_format format, amd_op op, unsigned dst, unsigned s0, unsigned s1, int simm)
{
    amd_inst in = vop(op, AMD_NO_OPERAND, s0, s1, AMD_NO_OPERAND);
    in.format = (uint8_t)format;
    in.sdst.code = (uint16_t)dst;
    in.simm = simm;
    return in;
}

/* False if there is no body. */
static inline bool rig_run(rig *r, const amd_inst *in)
{
    amd_body body = amd_exec_find((amd_target)r->wave.target, r->wave.lanes, in);
    if (body)
        body(&r->wave, in);
    amd_wave_rest(&r->wave);
    return body != NULL;
}

/* One operation on the same values in every lane; the result of lane 5. Registers 2, 4 and 6 are the sources,
 * 8 the destination (and the accumulator, which starts with c). */
static inline uint32_t rig_op(rig *r, amd_op op, uint32_t a, uint32_t b, uint32_t c)
{
    rig_fill(r, 2, a);
    rig_fill(r, 4, b);
    rig_fill(r, 6, c);
    rig_fill(r, 8, c);
    amd_inst in = vop(op, V(8), V(2), V(4), V(6));
    if (!rig_run(r, &in))
        abort();
    return rig_vgpr(r, 8)[5];
}

static inline uint64_t rig_op64(rig *r, amd_op op, uint64_t a, uint64_t b, uint64_t c)
{
    rig_fill64(r, 2, a);
    rig_fill64(r, 4, b);
    rig_fill64(r, 6, c);
    rig_fill64(r, 8, c);
    amd_inst in = vop(op, V(8), V(2), V(4), V(6));
    if (!rig_run(r, &in))
        abort();
    return (uint64_t)rig_vgpr(r, 9)[5] << 32 | rig_vgpr(r, 8)[5];
}

static inline uint64_t rig_vcc(const rig *r)
{
    return r->wave.sgpr[AMD_VCC_LO] | (uint64_t)r->wave.sgpr[AMD_VCC_HI] << 32;
}

static inline float as_f32(uint32_t x)
{
    float f;
    memcpy(&f, &x, sizeof f);
    return f;
}
static inline uint32_t of_f32(float f)
{
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    return x;
}
static inline double as_f64(uint64_t x)
{
    double f;
    memcpy(&f, &x, sizeof f);
    return f;
}
static inline uint64_t of_f64(double f)
{
    uint64_t x;
    memcpy(&x, &f, sizeof x);
    return x;
}

/* A small generator of its own, so that a failure repeats. */
static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) ^ (uint32_t)(*state >> 15);
}

/* Random words with many special ones: limits, denormals, infinities, NaNs of all widths. */
static inline uint32_t corner(uint64_t *state)
{
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x807fffff, 0x800000,   0x3f800000,
        0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
        0xffffffff, 0x7fffffff, 0x3c00,     0x7c00fc00, 0x7e007c01, 0x00010400, 0x03ff8001, 0x7ff00000,
        0x7ff80000, 0xfff00000, 0x3ff00000, 0x00100000, 0x4b800000, 0xcf000000, 0x4f800000, 0x33800000,
    };
    uint32_t r = next_random(state);
    if ((r & 3) == 0)
        return special[next_random(state) % (sizeof special / sizeof *special)];
    return next_random(state) ^ r << 7;
}

#endif
