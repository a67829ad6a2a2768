/* test_amd_model_memory.c: loads, stores and atomics of every address form against a model that reads what an
 * instruction does out of its mnemonic and does it byte by byte. Every lane has a place of its own; memory, LDS and
 * all registers must be as the model says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd_memory.h"
#include "isa/model/atomics.h"
#include "isa/model/others.h"

#include <stdio.h>

enum {
    V_ADDRESS = 0,
    V_DATA = 4,
    V_DATA2 = 8,
    V_RESULT = 16,
    REGISTERS = 32,
    S_BASE = 4,
    S_DATA = 20,
    STRIDE = 32
};

/* The meaning of a mnemonic. */
typedef struct meaning {
    enum { LOAD, STORE, ATOMIC, NOTHING } does;
    char what[24];        /* of atomics: "add", "cmpswap" */
    unsigned bytes;       /* of one place */
    unsigned places;      /* 2: read2, write2, wrxchg2 */
    unsigned step;        /* of the two offsets, in bytes */
    bool sign, low, high; /* extension; one half of a register */
    bool returns, source2, addtid;
    unsigned components; /* typed: how many, else 0 */
    bool d16;
} meaning;

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

static unsigned size_of_words(const char *name)
{
    static const struct {
        const char *word;
        unsigned bytes;
    } sizes[] = { { "dwordx16", 64 }, { "dwordx8", 32 }, { "dwordx4", 16 }, { "dwordx3", 12 },
                  { "dwordx2", 8 },   { "dword", 4 },    { "b128", 16 },    { "b96", 12 },
                  { "64", 8 },        { "byte", 1 },     { "short", 2 },    { "b32", 4 },
                  { "u32", 4 },       { "i32", 4 },      { "f32", 4 },      { "b16", 2 },
                  { "_u8", 1 },       { "_i8", 1 },      { "_b8", 1 },      { "u16", 2 },
                  { "i16", 2 } };
    char bare[64];
    snprintf(bare, sizeof bare, "%s", name);
    char *st64 = strstr(bare, "st64"); /* not a size */
    if (st64)
        memset(st64, '.', 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (has(bare, sizes[i].word))
            return sizes[i].bytes;
    return 0;
}

/* False: not an instruction of this test. */
static bool understand(const char *name, meaning *m)
{
    *m = (meaning){ .places = 1 };
    if (has(name, "format")) {
        m->does = has(name, "load") ? LOAD : STORE;
        m->components = has(name, "xyzw") ? 4 : has(name, "xyz") ? 3 : has(name, "xy") ? 2 : 1;
        m->d16 = has(name, "d16");
        m->bytes = 16;
        return true;
    }
    if (has(name, "lds_dword") || has(name, "load_lds") || has(name, "ds_pk_"))
        return false;
    bool ds = strncmp(name, "ds_", 3) == 0;
    const char *atomic = strstr(name, "atomic_");
    if (!atomic && !ds) {
        m->does = has(name, "load") ? LOAD : has(name, "store") ? STORE : NOTHING;
        m->bytes = size_of_words(name);
        m->sign = has(name, "sbyte") || has(name, "sshort");
        m->high = has(name, "d16_hi");
        m->low = has(name, "d16") && !m->high;
        m->addtid = has(name, "addtid");
        return m->does != NOTHING && m->bytes;
    }
    if (atomic) {
        char what[12] = "";
        if (sscanf(atomic, "atomic_%11[a-z]", what) != 1 ||
            has(name, "_pk_")) /* pairs: test_amd_exec_cdna.c */
            return false;
        bool floats = has(name, "_f32") || has(name, "_f64"); /* as gfx9 names them */
        snprintf(m->what, sizeof m->what, "%s%s", floats ? "f" : "", what);
        m->does = ATOMIC;
        m->bytes = has(name, "_x2") || has(name, "_f64") ? 8 : 4;
        return true;
    }
    m->bytes = size_of_words(name + 3);
    m->places = has(name, "2_b") || has(name, "2st64") || has(name, "xchg2") ? 2 : 1;
    m->source2 = has(name, "src2");
    if (m->source2)
        m->places = 1;
    m->step = m->bytes * (has(name, "st64") ? 64 : 1);
    m->addtid = has(name, "addtid");
    m->returns = has(name, "rtn");
    if (strncmp(name, "ds_read", 7) == 0 || (strncmp(name, "ds_write", 8) == 0 && !m->source2)) {
        m->does = has(name, "read") ? LOAD : STORE;
        m->sign = has(name, "_i8") || has(name, "_i16");
        m->high = has(name, "d16_hi");
        m->low = has(name, "d16") && !m->high;
        return m->bytes != 0;
    }
    char op[16], type = 0;
    const char *last = strrchr(name, '_');
    if (!last || sscanf(name, "ds_%15[a-z]", op) != 1 || !m->bytes)
        return false;
    type = last[1];
    m->does = ATOMIC;
    if (strcmp(op, "swizzle") == 0 || strcmp(op, "permute") == 0 || strcmp(op, "bpermute") == 0)
        return false;
    if (strcmp(op, "min") == 0 || strcmp(op, "max") == 0)
        snprintf(m->what, sizeof m->what, "%c%s", type == 'i' ? 's' : type, op);
    else if (strcmp(op, "cmpst") == 0)
        snprintf(m->what, sizeof m->what, "%s", type == 'f' ? "fcmpswap" : "cmpswap");
    else if (strcmp(op, "wrxchg") == 0 || strcmp(op, "write") == 0)
        snprintf(m->what, sizeof m->what, "swap");
    else
        snprintf(m->what, sizeof m->what, "%s%s", type == 'f' ? "f" : "", op);
    return true;
}

/* ---------------------------------------------------------------------------------------------- the model */

static uint8_t image[RIG_BYTES], lds[RIG_LDS];
static uint32_t want[REGISTERS][64], scalars[128];
static uint64_t seed;
static size_t covered[AMD_TARGET_COUNT][AMD_OP_COUNT];

static uint32_t any_word(void)
{
    static const uint32_t special[] = { 0,      1,      0x7f,       0x80,       0xff,      0x7fff,
                                        0x8000, 0xffff, 0x7fffffff, 0x80000000, UINT32_MAX };
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t r = (uint32_t)(seed >> 33);
    return r % 4 == 0 ? special[(r >> 8) % 11] : r << 1 ^ (uint32_t)(seed >> 7);
}

/* Numbers that single, double and half precision hold exactly, where instructions see floats. */
static uint32_t any_float(bool high_word)
{
    static const uint32_t singles[] = {
        0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0xc0400000, 0x41200000
    };
    static const uint32_t doubles[] = {
        0x3ff00000, 0xbff00000, 0x40000000, 0x3fe00000, 0xc0080000, 0x40240000
    };
    return high_word ? doubles[any_word() % 6] : singles[any_word() % 6];
}

static uint64_t read_bytes(const uint8_t *at, unsigned bytes)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bytes && i < 8; i++)
        r |= (uint64_t)at[i] << 8 * i;
    return r;
}
static void write_bytes(uint8_t *at, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes && i < 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t half_of(uint32_t single)
{
    return (uint32_t)converted(F32, single, F16, (rules){ 0 }, (rules){ 0 });
}
static uint32_t single_of(uint32_t half)
{
    return (uint32_t)converted(F16, half & 65535, F32, (rules){ 0 }, (rules){ 0 });
}

/* Typed: four singles in memory, as many components as requested in registers. */
static void typed(const meaning *m, bool packs, uint8_t *at, unsigned lane)
{
    for (unsigned i = 0; i < m->components; i++) {
        unsigned reg = m->d16 && packs ? i / 2 : i, shift = m->d16 && packs && i % 2 ? 16 : 0;
        if (m->does == LOAD) {
            uint32_t x = (uint32_t)read_bytes(at + 4 * i, 4);
            uint32_t *to = &want[V_RESULT + reg][lane];
            if (!m->d16)
                *to = x;
            else if (shift)
                *to = (*to & 0xffff) | half_of(x) << 16;
            else /* a load of a whole half register leaves 0 above */
                *to = half_of(x);
        } else {
            uint32_t x = want[V_DATA + reg][lane] >> shift;
            write_bytes(at + 4 * i, 4, m->d16 ? single_of(x) : x);
        }
    }
    if (m->does == STORE)
        for (unsigned i = m->components; i < 4; i++) /* absent components are 0 */
            write_bytes(at + 4 * i, 4, 0);
}

/* One place of one lane: `slot` counts places. */
static void apply(const meaning *m, uint8_t *at, const uint8_t *other, unsigned lane, unsigned slot, bool ds,
                  bool returns)
{
    unsigned words = (m->bytes + 3) / 4;
    uint32_t(*data)[64] = slot ? want + V_DATA2 : want + V_DATA;
    uint32_t(*result)[64] = want + V_RESULT + slot * words;
    if (m->does == LOAD) {
        if (m->bytes >= 4) {
            for (unsigned i = 0; i < words; i++)
                result[i][lane] = (uint32_t)read_bytes(at + 4 * i, 4);
            return;
        }
        uint64_t x = read_bytes(at, m->bytes);
        uint32_t value = m->sign ? (uint32_t)sx(x, 8 * m->bytes) : (uint32_t)x;
        uint32_t old = result[0][lane];
        result[0][lane] = m->high  ? (value & 0xffff) << 16 | (old & 0xffff)
                          : m->low ? (old & 0xffff0000) | (value & 0xffff)
                                   : value;
    } else if (m->does == STORE) {
        for (unsigned i = 0; i < m->bytes; i++)
            at[i] = (uint8_t)(data[i / 4][lane] >> (8 * (i % 4) + (m->high ? 16 : 0)));
    } else {
        uint64_t old = read_bytes(at, m->bytes);
#define WORDS(r) (m->bytes == 8 ? (r)[0][lane] | (uint64_t)(r)[1][lane] << 32 : (r)[0][lane])
        uint64_t d = WORDS(data), c = WORDS(want + V_DATA2);
        if (has(m->what, "cmpswap")) { /* LDS: comparand first; others: operand first, then the comparand */
            c = ds ? WORDS(want + V_DATA) : WORDS(want + V_DATA + words);
            d = ds ? WORDS(want + V_DATA2) : WORDS(want + V_DATA);
        }
        if (m->source2)
            d = read_bytes(other, m->bytes);
        write_bytes(at, m->bytes, changed(m->what, m->bytes, old, d, c));
        if (returns)
            for (unsigned i = 0; i < words; i++)
                result[i][lane] = (uint32_t)(old >> 32 * i);
#undef WORDS
    }
}

/* ----------------------------------------------------------------------------------------------- the runs */

static void fill(rig *r, const meaning *m)
{
    uint8_t *memory = rig_at(r, r->buffer);
    bool floats = m->what[0] == 'f' || m->components;
    for (unsigned i = 0; i < RIG_BYTES; i += 4)
        write_bytes(image + i, 4, floats ? any_float(m->bytes == 8 && i / 4 % 2) : any_word());
    for (unsigned i = 0; i < RIG_LDS; i += 4)
        write_bytes(lds + i, 4, floats ? any_float(m->bytes == 8 && i / 4 % 2) : any_word());
    memcpy(memory, image, sizeof image);
    memcpy(r->lds, lds, sizeof lds);
    for (unsigned v = 0; v < REGISTERS; v++)
        for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
            uint32_t x = floats ? any_float(m->bytes == 8 && v % 2) : any_word();
            if (m->components && m->d16)
                x = half_of(any_float(false)) | half_of(any_float(false)) << 16;
            rig_v(r, v)[lane] = want[v][lane] = x;
        }
    for (unsigned s = 0; s < 100; s++)
        r->wave.sgpr[s] = any_word();
}

static void set_address(rig *r, unsigned lane, uint64_t address, bool wide)
{
    rig_v(r, V_ADDRESS)[lane] = want[V_ADDRESS][lane] = (uint32_t)address;
    if (wide)
        rig_v(r, V_ADDRESS + 1)[lane] = want[V_ADDRESS + 1][lane] = (uint32_t)(address >> 32);
}

static void descriptor(rig *r, bool gfx10)
{
    r->wave.sgpr[S_BASE] = (uint32_t)r->buffer;
    r->wave.sgpr[S_BASE + 1] = (uint32_t)(r->buffer >> 32);
    r->wave.sgpr[S_BASE + 2] = RIG_BYTES;
    r->wave.sgpr[S_BASE + 3] =
        gfx10 ? 0xfac | 77u << 12 | 3u << 28 : 0xfac | 14u << 15 | 7u << 12; /* 32_32_32_32 float */
}

/* Where a byte of a lane's private memory lies: dwords of the lanes lie side by side. */
static uint8_t *scratch_at(rig *r, unsigned lane, unsigned byte)
{
    unsigned lanes = r->wave.lanes;
    uint64_t wave = r->group.scratch + (uint64_t)r->wave.index * lanes * r->group.scratch_bytes;
    return rig_at(r, wave + byte / 4 * 4 * lanes + 4 * lane + byte % 4);
}

static void compare_all(rig *r, const char *text)
{
    const uint8_t *memory = rig_at(r, r->buffer);
    if (r->wave.stop != AMD_RUNNING)
        fail_msg("%s: fault %d at %llx", text, (int)r->wave.fault.kind,
                 (unsigned long long)r->wave.fault.address);
    for (unsigned i = 0; i < RIG_BYTES; i++)
        if (memory[i] != image[i])
            fail_msg("%s: byte %u of memory is %02x, not %02x", text, i, memory[i], image[i]);
    for (unsigned i = 0; i < RIG_LDS; i++)
        if (r->lds[i] != lds[i])
            fail_msg("%s: byte %u of LDS is %02x, not %02x", text, i, r->lds[i], lds[i]);
    for (unsigned v = 0; v < REGISTERS; v++)
        for (unsigned lane = 0; lane < r->wave.lanes; lane++)
            if (rig_v(r, v)[lane] != want[v][lane])
                fail_msg("%s: v%u of lane %u is %x, not %x", text, v, lane, rig_v(r, v)[lane], want[v][lane]);
    for (unsigned s = 0; s < 100; s++)
        if (r->wave.sgpr[s] != scalars[s])
            fail_msg("%s: s%u is %x, not %x", text, s, r->wave.sgpr[s], scalars[s]);
}

/* A vector or LDS instruction on one rig. */
static void run_vector(rig *r, amd_op op, amd_format as, const meaning *m, bool returns)
{
    bool gfx10 = amd_target_is_gfx10((amd_target)r->wave.target), ds = as == AMD_DS;
    bool packs = r->wave.target != AMD_GFX803, flat_offset = packs;
    bool scratch = as == AMD_SCRATCH, typed_buffer = m->components != 0;
    char text[96];
    snprintf(text, sizeof text, "%s as %s on %s, %u lanes", amd_op_name(op), amd_format_name(as),
             amd_target_name((amd_target)r->wave.target), r->wave.lanes);
    fill(r, m);
    r->wave.sgpr[AMD_M0] = 0x10000;
    uint64_t exec = any_word() | (uint64_t)any_word() << 32;
    exec = r->wave.lanes == 32 ? exec & UINT32_MAX : exec;
    rig_exec(r, exec);
    amd_inst inst = rig_inst(op, as);
    inst.src[0].dwords = 2;
    inst.vdst.dwords = inst.src[1].dwords = (uint8_t)((m->bytes + 3) / 4);
    inst.offset = ds && m->places == 2 ? 0 : as == AMD_FLAT && !flat_offset ? 0 : 16;
    inst.simm = m->places == 2 ? (has(amd_op_name(op), "st64") ? 3 : 200) : 0;
    if (m->source2)
        inst.offset = 0x100; /* dwords */
    if (as == AMD_MUBUF || as == AMD_MTBUF) {
        descriptor(r, gfx10);
        inst.flags = AMD_OFFEN;
        inst.simm = as == AMD_MTBUF ? (gfx10 ? 77 : 14 | 7 << 4) : 0;
        if (typed_buffer && m->d16)
            inst.vdst.dwords = inst.src[1].dwords = (uint8_t)(packs ? (m->components + 1) / 2 : m->components);
    }
    if (m->addtid && !ds) {
        inst.flags |= AMD_SADDR;
        memcpy(&r->wave.sgpr[S_BASE], &r->buffer, 8);
    }
    if (returns && !ds)
        inst.flags |= AMD_GLC;
    unsigned stride = ds ? (m->places == 2 || m->source2 ? 8 : STRIDE) : 64, private_stride = 16;
    for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
        uint64_t place = (uint64_t)lane * stride;
        set_address(r, lane,
                    ds || as == AMD_MUBUF || as == AMD_MTBUF ? place
                    : scratch                                ? private_stride
                                                             : r->buffer + place,
                    as == AMD_FLAT || as == AMD_GLOBAL);
    }
    memcpy(scalars, r->wave.sgpr, sizeof scalars);
    if (scratch) /* the model's private memory is a page of the image that is copied over */
        for (unsigned lane = 0; lane < r->wave.lanes; lane++)
            for (unsigned b = 0; b < 64; b++)
                *scratch_at(r, lane, b) = image[lane * 64 + b];
    static uint8_t private_bytes[64][64];
    for (unsigned lane = 0; lane < 64; lane++)
        memcpy(private_bytes[lane], image + lane * 64, 64);
    for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        uint8_t *base = ds ? lds : scratch ? private_bytes[lane] : image;
        uint64_t place = m->addtid ? lane * 4 : scratch ? private_stride : (uint64_t)lane * stride;
        if (typed_buffer) {
            typed(m, packs, base + place + 16, lane);
            continue;
        }
        for (unsigned slot = 0; slot < m->places; slot++) {
            uint64_t at = place + (m->places == 2 ? m->step * (slot ? (unsigned)inst.simm : 0)
                                   : m->source2   ? 0
                                                  : (uint64_t)inst.offset);
            apply(m, base + at, m->source2 ? base + place + 0x400 : NULL, lane, slot, ds, returns);
        }
    }
    rig_run(r, &inst);
    if (scratch) {
        for (unsigned lane = 0; lane < r->wave.lanes; lane++)
            for (unsigned b = 0; b < 64; b++)
                if (*scratch_at(r, lane, b) != private_bytes[lane][b])
                    fail_msg("%s: private byte %u of lane %u", text, b, lane);
    }
    compare_all(r, text);
    covered[r->wave.target][op]++;
}

static void run_scalar(rig *r, amd_op op, const meaning *m, bool returns)
{
    const char *name = amd_op_name(op);
    char text[96];
    snprintf(text, sizeof text, "%s on %s", name, amd_target_name((amd_target)r->wave.target));
    fill(r, m);
    descriptor(r, amd_target_is_gfx10((amd_target)r->wave.target));
    rig_exec(r, any_word());
    amd_inst inst = rig_inst(op, AMD_SMEM);
    inst.offset = has(name, "scratch") ? 0 : 16;
    inst.sdst.dwords = (uint8_t)(m->bytes / 4);
    if (returns)
        inst.flags |= AMD_GLC;
    memcpy(scalars, r->wave.sgpr, sizeof scalars);
    uint8_t *at = image + inst.offset;
    if (m->does == LOAD) {
        for (unsigned i = 0; i < m->bytes / 4; i++)
            scalars[S_DATA + i] = (uint32_t)read_bytes(at + 4 * i, 4);
    } else if (m->does == STORE) {
        for (unsigned i = 0; i < m->bytes / 4; i++)
            write_bytes(at + 4 * i, 4, scalars[S_DATA + i]);
    } else {
        unsigned words = m->bytes / 4;
        uint64_t old = read_bytes(at, m->bytes), d = scalars[S_DATA], c = scalars[S_DATA + words];
        if (words == 2) {
            d |= (uint64_t)scalars[S_DATA + 1] << 32;
            c |= (uint64_t)scalars[S_DATA + 3] << 32;
        }
        write_bytes(at, m->bytes, changed(m->what, m->bytes, old, d, c));
        for (unsigned i = 0; returns && i < words; i++)
            scalars[S_DATA + i] = (uint32_t)(old >> 32 * i);
    }
    rig_run(r, &inst);
    compare_all(r, text);
    covered[r->wave.target][op]++;
}

static void against_model(void **state)
{
    (void)state;
    static const amd_format formats[] = { AMD_SMEM, AMD_DS,     AMD_MUBUF,  AMD_MTBUF,
                                          AMD_FLAT, AMD_GLOBAL, AMD_SCRATCH };
    static const char *const prefixes[] = {
        "s_", "ds_", "buffer_", "tbuffer_", "flat_", "global_", "scratch_"
    };
    seed = 5;
    for (int t = 0; t < AMD_TARGET_COUNT; t++) {
        for (unsigned lanes = amd_target_is_gfx10((amd_target)t) ? 32 : 64; lanes <= 64; lanes += 32) {
            rig r;
            rig_init(&r, (amd_target)t, lanes);
            for (int op = 1; op < AMD_OP_COUNT; op++) {
                meaning m;
                const char *name = amd_op_name((amd_op)op);
                if (!amd_exec_has((amd_target)t, (amd_op)op) || strncmp(name, "image", 5) == 0 ||
                    !understand(name, &m))
                    continue;
                for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
                    amd_inst probe = { .op = (uint16_t)op, .format = (uint8_t)formats[f] };
                    if (strncmp(name, prefixes[f], strlen(prefixes[f])) != 0 ||
                        (strncmp(name, "s_", 2) == 0) != (f == 0) ||
                        !amd_exec_find_memory((amd_target)t, lanes, &probe))
                        continue;
                    for (unsigned round = 0; round < 6; round++) {
                        bool returns = formats[f] == AMD_DS ? m.returns : m.does == ATOMIC && round & 1;
                        if (formats[f] == AMD_SMEM)
                            run_scalar(&r, (amd_op)op, &m, returns);
                        else
                            run_vector(&r, (amd_op)op, formats[f], &m, returns);
                    }
                }
            }
            rig_fini(&r);
        }
    }
}

/* Each executed operation ran, but for those of test_amd_model_valu.c, _salu.c, _image.c and _others.c. */
static void complete(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            const char *name = amd_op_name((amd_op)op);
            amd_inst scalar = { .op = (uint16_t)op, .format = AMD_SOP1 };
            if (strncmp(name, "v_", 2) == 0 || strncmp(name, "image_", 6) == 0 ||
                other_of((amd_op)op) != OTHER_NONE || !amd_exec_has((amd_target)t, (amd_op)op) ||
                amd_exec_find((amd_target)t, 64, &scalar) || covered[t][op])
                continue;
            /* Pairs: test_amd_exec_cdna.c. Loads into LDS: as those of buffers. Caches: nothing happens. */
            if (strstr(name, "_pk_") || strstr(name, "load_lds") || strstr(name, "l2") ||
                strcmp(name, "buffer_inv") == 0)
                continue;
            print_message("%s on %s was never run\n", name, amd_target_name((amd_target)t));
            missing++;
        }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(against_model), cmocka_unit_test(complete) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
