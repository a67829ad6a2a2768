/* test_amd_model_others.c: memory operations that are no load, store or atomic of an address (model/others.h):
 * exchanges of lanes, counters, times, stores out of LDS, and operations without effect. Corner and random
 * operands, each target and wave size; memory, LDS and all registers must be as the manuals say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd_memory.h"
#include "isa/model/others.h"

enum {
    V_ADDRESS = 0,
    V_DATA = 4,
    V_RESULT = 16,
    REGISTERS = 32,
    S_BASE = 4,
    S_DATA = 20,
    SCALARS = 100,
    ROUNDS = 64
};

/* The state that the model expects. */
static uint8_t image[RIG_BYTES], lds[RIG_LDS];
static uint32_t want[REGISTERS][64], scalars[SCALARS];
static size_t covered[AMD_TARGET_COUNT][AMD_OP_COUNT];
static uint64_t seed;

static uint32_t any_word(void)
{
    static const uint32_t special[] = { 0, 1, 4, 0x7c, 0x80, 0xfc, 0x100, 0x7fffffff, 0x80000000, UINT32_MAX };
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t r = (uint32_t)(seed >> 33);
    return r % 4 == 0 ? special[(r >> 8) % 10] : r << 1 ^ (uint32_t)(seed >> 7);
}

static uint64_t any_mask(unsigned lanes)
{
    uint64_t mask = any_word() | (uint64_t)any_word() << 32;
    return lanes == 32 ? mask & UINT32_MAX : mask;
}

static void fill(rig *r)
{
    for (unsigned i = 0; i < RIG_BYTES; i++)
        image[i] = (uint8_t)any_word();
    for (unsigned i = 0; i < RIG_LDS; i++)
        lds[i] = (uint8_t)any_word();
    for (unsigned v = 0; v < REGISTERS; v++)
        for (unsigned lane = 0; lane < r->wave.lanes; lane++)
            want[v][lane] = any_word();
    for (unsigned s = 0; s < SCALARS; s++)
        scalars[s] = any_word();
    scalars[S_BASE] = (uint32_t)r->buffer;
    scalars[S_BASE + 1] = (uint32_t)(r->buffer >> 32);
    scalars[S_BASE + 2] = RIG_BYTES;
    scalars[S_BASE + 3] = amd_target_is_gfx10((amd_target)r->wave.target) ? 0xfac | 77u << 12 | 3u << 28
                                                                          : 0xfac | 14u << 15 | 7u << 12;
    memcpy(rig_at(r, r->buffer), image, sizeof image);
    memcpy(r->lds, lds, sizeof lds);
    for (unsigned v = 0; v < REGISTERS; v++)
        memcpy(rig_v(r, v), want[v], r->wave.lanes * sizeof(uint32_t));
    memcpy(r->wave.sgpr, scalars, sizeof scalars);
    r->wave.time = any_word() | (uint64_t)any_word() << 32;
}

static void compare_all(rig *r, amd_op op)
{
    const char *name = amd_op_name(op), *target = amd_target_name((amd_target)r->wave.target);
    const uint8_t *memory = rig_at(r, r->buffer);
    if (r->wave.stop != AMD_RUNNING)
        fail_msg("%s on %s: fault %d", name, target, (int)r->wave.fault.kind);
    for (unsigned i = 0; memcmp(memory, image, RIG_BYTES) != 0 && i < RIG_BYTES; i++)
        if (memory[i] != image[i])
            fail_msg("%s on %s: byte %u of memory is %02x, not %02x", name, target, i, memory[i], image[i]);
    for (unsigned i = 0; memcmp(r->lds, lds, RIG_LDS) != 0 && i < RIG_LDS; i++)
        if (r->lds[i] != lds[i])
            fail_msg("%s on %s: byte %u of LDS is %02x, not %02x", name, target, i, r->lds[i], lds[i]);
    for (unsigned v = 0; v < REGISTERS; v++)
        for (unsigned lane = 0; lane < r->wave.lanes; lane++)
            if (rig_v(r, v)[lane] != want[v][lane])
                fail_msg("%s on %s: v%u of lane %u of %u is %x, not %x", name, target, v, lane, r->wave.lanes,
                         rig_v(r, v)[lane], want[v][lane]);
    for (unsigned s = 0; s < SCALARS; s++)
        if (r->wave.sgpr[s] != scalars[s])
            fail_msg("%s on %s: s%u is %x, not %x", name, target, s, r->wave.sgpr[s], scalars[s]);
}

/* ds_swizzle_b32 by the text of the manuals: the lane that lane i reads. */
static unsigned swizzled(unsigned mode, unsigned i, bool gfx10)
{
    unsigned j = 0, mask = mode & 31;
    if (gfx10 && mode >= 0xe000) {
        for (unsigned bit = 0; bit < 5; bit++) /* reversed, the places of the mask dropped */
            j |= (i >> (4 - bit) & 1) << bit;
        for (unsigned bit = 0; bit < 5; bit++)
            j /= mask >> bit & 1 ? 2 : 1;
        return (j | (i & mask)) + (i & 32);
    }
    if (gfx10 && mode >= 0xc000) {
        unsigned by = mode >> 5 & 31;
        for (unsigned n = 0; n < (mode >> 10 & 1 ? 32 - by : by); n++)
            j++;
        return ((i & mask) | ((i + j) & ~mask & 31)) + (i & 32);
    }
    if (mode & 0x8000)
        return i / 4 * 4 + (mode >> 2 * (i % 4)) % 4;
    for (unsigned bit = 0; bit < 5; bit++) {
        unsigned x = i >> bit & 1;
        x = mode >> bit & 1 ? x : 0;
        x = mode >> (5 + bit) & 1 ? 1 : x;
        j |= (mode >> (10 + bit) & 1 ? 1 - x : x) << bit;
    }
    return j + (i & 32);
}

/* ds_permute: lane i gives its word to the lane that its address names; the last giver counts. ds_bpermute: lane i takes
 * the word of that lane. gfx10 exchanges within halves of 32 lanes. A lane that is off gives 0 and keeps its own. */
static void permuted(bool gfx10, bool take, unsigned lanes, uint64_t exec, uint32_t offset)
{
    uint32_t result[64] = { 0 };
    for (unsigned lane = 0; lane < lanes; lane++) {
        unsigned named =
            (want[V_ADDRESS][lane] + offset) / 4 % (gfx10 ? 32 : 64) + (gfx10 ? lane / 32 * 32 : 0);
        if (take)
            result[lane] = exec >> named & 1 ? want[V_DATA][named] : 0;
        else if (exec >> lane & 1)
            result[named] = want[V_DATA][lane];
    }
    for (unsigned lane = 0; lane < lanes; lane++)
        if (exec >> lane & 1)
            want[V_RESULT][lane] = result[lane];
}

/* Changes the expected state, and the instruction where it needs settings of its own. */
static void model(rig *r, amd_op op, uint64_t exec, amd_inst *inst)
{
    bool gfx10 = amd_target_is_gfx10((amd_target)r->wave.target), swizzles = r->wave.target != AMD_GFX803;
    unsigned lanes = r->wave.lanes;
    switch (other_of(op)) {
    case OTHER_TIME:
        inst->sdst.dwords = 2;
        scalars[S_DATA] = (uint32_t)r->wave.time;
        scalars[S_DATA + 1] = (uint32_t)(r->wave.time >> 32);
        break;
    case OTHER_WAVE_ID:
        scalars[S_DATA] = r->wave.index = (uint8_t)(any_word() % 16);
        break;
    case OTHER_SWIZZLE:
        inst->offset = (int32_t)(any_word() & 0xffff);
        uint32_t swapped[64];
        for (unsigned lane = 0; lane < lanes; lane++) {
            unsigned from = swizzled((unsigned)inst->offset, lane, swizzles);
            swapped[lane] = exec >> from & 1 ? want[V_ADDRESS][from] : 0;
        }
        for (unsigned lane = 0; lane < lanes; lane++)
            if (exec >> lane & 1)
                want[V_RESULT][lane] = swapped[lane];
        break;
    case OTHER_PERMUTE:
    case OTHER_BPERMUTE:
        inst->offset = (int32_t)(any_word() & 0xffff);
        permuted(gfx10, other_of(op) == OTHER_BPERMUTE, lanes, exec, (uint32_t)inst->offset);
        break;
    case OTHER_COUNTER: { /* one word of LDS at M0 + offset; every lane that is on gets its old value */
        inst->offset = (int32_t)(any_word() % 256 * 4);
        r->wave.sgpr[AMD_M0] = any_word() % 512 * 4 | (any_word() & 0xffff0000);
        uint8_t *at = lds + (r->wave.sgpr[AMD_M0] & 0xffff) + inst->offset;
        uint32_t old, on = 0;
        memcpy(&old, at, 4);
        for (unsigned lane = 0; lane < lanes; lane++)
            if (exec >> lane & 1) {
                want[V_RESULT][lane] = old;
                on++;
            }
        uint32_t now = op == AMD_DS_APPEND ? old + on : old - on;
        memcpy(at, &now, 4);
        break;
    }
    case OTHER_LDS_STORE: /* lane i: the word of LDS at M0 + the offset + 4 i */
        r->wave.sgpr[AMD_M0] = any_word() % 512 * 4;
        inst->flags = AMD_OFFEN;
        inst->offset = 16;
        for (unsigned lane = 0; lane < lanes; lane++) {
            want[V_ADDRESS][lane] = rig_v(r, V_ADDRESS)[lane] = lane * 64;
            if (exec >> lane & 1)
                memcpy(image + lane * 64 + 16, lds + r->wave.sgpr[AMD_M0] + 16 + 4 * lane, 4);
        }
        break;
    case OTHER_NOTHING:
    case OTHER_NONE:
        break;
    }
}

static amd_format format_of(amd_op op)
{
    const char *name = amd_op_name(op);
    return name[0] == 's' ? AMD_SMEM : name[0] == 'd' ? AMD_DS : AMD_MUBUF;
}

static void against_model(void **state)
{
    (void)state;
    seed = 8;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (unsigned lanes = amd_target_is_gfx10((amd_target)t) ? 32 : 64; lanes <= 64; lanes += 32) {
            rig r;
            rig_init(&r, (amd_target)t, lanes);
            for (int op = 1; op < AMD_OP_COUNT; op++) {
                if (other_of((amd_op)op) == OTHER_NONE || !amd_exec_has((amd_target)t, (amd_op)op))
                    continue;
                /* a swizzle has 65,536 modes */
                unsigned rounds = other_of((amd_op)op) == OTHER_SWIZZLE ? 32 * ROUNDS : ROUNDS;
                for (unsigned round = 0; round < rounds; round++) {
                    if (round % 32 == 0)
                        fill(&r);
                    uint64_t exec = any_mask(lanes) | (other_of((amd_op)op) == OTHER_COUNTER);
                    rig_exec(&r, exec);
                    amd_inst inst = rig_inst((amd_op)op, format_of((amd_op)op));
                    model(&r, (amd_op)op, exec, &inst);
                    rig_run(&r, &inst);
                    compare_all(&r, (amd_op)op);
                }
                covered[t][op]++;
            }
            rig_fini(&r);
        }
}

static void complete(void **state)
{
    (void)state;
    unsigned operations = 0;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            if (other_of((amd_op)op) == OTHER_NONE || !amd_exec_has((amd_target)t, (amd_op)op))
                continue;
            if (!covered[t][op])
                fail_msg("%s on %s was never run", amd_op_name((amd_op)op), amd_target_name((amd_target)t));
            operations++;
        }
    assert_true(operations > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(against_model), cmocka_unit_test(complete) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
