/* facts.h: the instructions of the files amd_*.txt, decoded, and waves full of corner values for them. */
#ifndef TESTS_ISA_MODEL_FACTS_H
#define TESTS_ISA_MODEL_FACTS_H

#include "isa/model/operands.h"

#include <stdio.h>

static inline uint32_t facts_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) ^ (uint32_t)(*state >> 15);
}

/* Values at which instructions change their minds, by width. */
static inline uint64_t facts_corner(unsigned kind, uint64_t *seed)
{
    static const uint32_t words[] = {
        0,          1,          2,          3,          31,         32,         33,         63,
        64,         0x7f,       0x80,       0xff,       0x100,      0x7fff,     0x8000,     0xffff,
        0x10000,    0x7fffff,   0x800000,   0xffffff,   0x1000000,  0x7fffffff, 0x80000000, 0x80000001,
        0xffffffff, 0xfffffffe, 0x7fff7fff, 0x80008000, 0x00010001, 0xffff0001, 0x55555555, 0xaaaaaaaa,
    };
    static const uint32_t singles[] = {
        0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x807fffff, 0x800000,   0x80800000,
        0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x3f000000, 0xbf000000, 0x3effffff, 0x40000000,
        0x3fc00000, 0x40200000, 0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000,
        0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345,
        0x477fe000, 0x477ff000, 0x33800000, 0x33000000, 0x33000001, 0x38800000, 0x387fffff, 0x43800000,
        0x5f000000, 0x1f800000, 0x20000000, 0x43808000, 0xc3808000, 0x00ffffff, 0x0b800000, 0x7e800000,
    };
    static const uint16_t halves[] = {
        0,      0x8000, 1,      0x8001, 0x3ff,  0x83ff, 0x400,  0x8400, 0x3c00, 0xbc00, 0x3bff, 0x3c01,
        0x3800, 0xb800, 0x37ff, 0x4000, 0x3e00, 0x4100, 0x6400, 0x63ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
        0x7e00, 0xfe55, 0x7c01, 0xfd23, 0x77ff, 0x7800, 0x1400, 0x0800, 0x5c00, 0x5c08, 0xdc08, 0x7a00,
    };
    static const uint64_t doubles[] = {
        0,
        UINT64_C(0x8000000000000000),
        1,
        UINT64_C(0x8000000000000001),
        UINT64_C(0x000fffffffffffff),
        UINT64_C(0x0010000000000000),
        UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff0000000000000),
        UINT64_C(0x3fefffffffffffff),
        UINT64_C(0x3ff0000000000001),
        UINT64_C(0x3fe0000000000000),
        UINT64_C(0x4000000000000000),
        UINT64_C(0x3ff8000000000000),
        UINT64_C(0x41dfffffffc00000),
        UINT64_C(0x41e0000000000000),
        UINT64_C(0xc1e0000000000000),
        UINT64_C(0xc1e0000000200000),
        UINT64_C(0x41efffffffe00000),
        UINT64_C(0x41f0000000000000),
        UINT64_C(0x7fefffffffffffff),
        UINT64_C(0xffefffffffffffff),
        UINT64_C(0x7ff0000000000000),
        UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000000),
        UINT64_C(0xfff8000012345678),
        UINT64_C(0x7ff0000000000001),
        UINT64_C(0x36a0000000000000),
        UINT64_C(0x3690000000000001),
        UINT64_C(0x47efffffe0000000),
        UINT64_C(0x47effffff0000000),
        UINT64_C(0x380fffffe0000000),
        UINT64_C(0x43f0000000000000),
        UINT64_C(0x4350000000000001),
        UINT64_C(0x7fe0000000000000),
    };
#define PICK_(table) table[facts_random(seed) % (sizeof table / sizeof *table)]
    uint32_t choice = facts_random(seed) % 16;
    uint64_t any = (uint64_t)facts_random(seed) << 32 | facts_random(seed);
    switch (kind) {
    case AMD_KIND_F16:
        return (choice < 9 ? PICK_(halves) : any & 65535) | (any >> 32 & 0xffff0000);
    case AMD_KIND_PKF16:
        return choice < 10 ? PICK_(halves) | (uint32_t)PICK_(halves) << 16 : any & UINT32_MAX;
    case AMD_KIND_F32:
        if (choice < 8)
            return PICK_(singles);
        /* exponents near 1, so that sums and products of sources overlap; or anything */
        return choice < 13 ? ((any & 0x807fffff) | (119 + (any >> 32) % 17) << 23) : any & UINT32_MAX;
    case AMD_KIND_F64:
        if (choice < 8)
            return PICK_(doubles);
        return choice < 13 ? (any & UINT64_C(0x800fffffffffffff)) | (1015 + any % 17) << 52 : any;
    case AMD_KIND_B64:
        if (choice < 6)
            return PICK_(words) | (uint64_t)PICK_(words) << 32;
        return choice < 10 ? (uint64_t)(int64_t)(int32_t)PICK_(words) : choice < 12 ? PICK_(doubles) : any;
    default:
        return choice < 8 ? PICK_(words) : choice < 10 ? PICK_(singles) : any & UINT32_MAX;
    }
#undef PICK_
}

/* Fills the wave before an instruction: every register has something, the sources' have corner values. */
static inline void facts_fill(machine *m, amd_target target, unsigned lanes, const amd_inst *in,
                              uint64_t *seed)
{
    static bool filled;
    if (!filled) {
        for (unsigned r = 0; r < 256; r++)
            for (unsigned i = 0; i < 64; i++)
                m->vgpr[r][i] = facts_random(seed);
        filled = true;
    }
    m->wave = (amd_wave){ .lanes = (uint8_t)lanes, .target = (uint8_t)target, .pc = 0x1000, .trapsts = 0x1ff };
    for (unsigned s = 0; s < 128; s++)
        m->wave.sgpr[s] = (uint32_t)facts_corner(facts_random(seed) & 1 ? AMD_KIND_B32 : AMD_KIND_F32, seed);
    m->wave.sgpr[AMD_M0] = (facts_random(seed) & 3) | (facts_random(seed) & 3) << 16;
    if (strstr(amd_op_name((amd_op)in->op), "movrel") && in->op != AMD_V_MOVRELSD_2_B32)
        m->wave.sgpr[AMD_M0] &= 3;
    m->wave.sgpr[AMD_NULL] = target == AMD_GFX803 ? facts_random(seed) : 0;
    m->wave.scc = facts_random(seed) & 1;
    uint32_t how = facts_random(seed) % 8;
    m->wave.sgpr[AMD_EXEC_LO] = how < 4 ? UINT32_MAX : how == 7 ? 0x80000000 : facts_random(seed);
    m->wave.sgpr[AMD_EXEC_HI] = lanes == 32 ? 0 : how < 4 ? UINT32_MAX : how == 7 ? 0 : facts_random(seed);
    if (facts_random(seed) % 16 == 0)
        m->wave.sgpr[AMD_VCC_LO] = m->wave.sgpr[AMD_VCC_HI] = 0;
    for (unsigned k = 0; k < 4; k++) {
        const amd_operand *o = k < 3 ? &in->src[k] : &in->vdst;
        if ((k < 3 && k >= in->src_count) || o->code == AMD_NO_OPERAND)
            continue;
        bool sdwa = in->form == AMD_SDWA && k < 3;
        bool wide = kind_bits(o->kind) == 64;
        for (unsigned i = 0; i < lanes && o->code >= AMD_VGPR && o->code < AMD_VGPR + 256; i++) {
            uint64_t x = facts_corner(sdwa && i & 1 ? AMD_KIND_B32 : o->kind, seed);
            if (k > 0 && k < 3 && in->src[0].code >= AMD_VGPR && in->src[0].code < AMD_VGPR + 255 &&
                facts_random(seed) % 8 == 0) {
                /* sometimes what another source is, or next to it */
                uint32_t(*r)[64] = &m->vgpr[in->src[0].code - AMD_VGPR];
                x = r[0][i] | (wide && in->src[0].dwords == 2 ? (uint64_t)r[1][i] << 32 : 0);
                x ^= facts_random(seed) & 1;
            }
            m->vgpr[o->code - AMD_VGPR][i] = (uint32_t)x;
            if (wide && o->code < AMD_VGPR + 255)
                m->vgpr[o->code - AMD_VGPR + 1][i] = (uint32_t)(x >> 32);
        }
        if (o->code < 106 && k < 3) {
            uint64_t x = facts_corner(o->kind, seed);
            m->wave.sgpr[o->code] = (uint32_t)x;
            if (wide && o->code < 105)
                m->wave.sgpr[o->code + 1] = (uint32_t)(x >> 32);
        }
    }
}

typedef void (*facts_call)(amd_target target, unsigned lanes, const amd_inst *in, const char *text);

static inline void facts_line(amd_target target, unsigned lanes, const char *line, facts_call call)
{
    uint8_t code[24];
    size_t count = 0;
    amd_inst in;
    for (; line[0] != '\t' && line[0] && count < sizeof code; line += 2) {
        unsigned byte;
        if (sscanf(line, "%2x", &byte) != 1)
            return;
        code[count++] = (uint8_t)byte;
    }
    if (amd_decode(target, lanes, code, count, &in))
        call(target, lanes, &in, *line ? line + 1 : line);
}

/* Every line of the files, for each target that has it, gfx10 with both wave sizes. */
static inline void facts_each(facts_call call)
{
    static const struct {
        const char *name;
        amd_target target;
    } files[] = { { "gfx803", AMD_GFX803 }, { "gfx10", AMD_GFX1010 },   { "gfx1010", AMD_GFX1010 },
                  { "gfx10", AMD_GFX1030 }, { "gfx1030", AMD_GFX1030 }, { "gfx9", AMD_GFX90A },
                  { "gfx90a", AMD_GFX90A }, { "gfx9", AMD_GFX942 },     { "gfx942", AMD_GFX942 } };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[512], line[640];
        snprintf(path, sizeof path, "%s/tests/isa/amd_%s.txt", LS_SOURCE_DIR, files[f].name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            line[strcspn(line, "\n")] = '\0';
            if (strncmp(line, "lanes", 5) == 0)
                continue;
            facts_line(files[f].target, 64, line, call);
            if (amd_target_is_gfx10(files[f].target))
                facts_line(files[f].target, 32, line, call);
        }
        fclose(file);
    }
}

#endif
