/* test_cu_memory.c: memory instructions of a compute unit: data that replies carry, missing waits, order
 * of returns, atomics, lines per access, LDS banks in closed form, scalar loads, barriers, faults,
 * refusals. */
#include "cu_rig.h"

/* Words are made with llvm-mc from the comments above them. */

/* data[64K + i] = data[i] + 1: s_load_dwordx2 s[4:5], s[0:1], 0x0; s_lshl_b32 s6, s2, 6; v_add_u32 v0,
 * vcc, s6, v0; v_lshlrev_b32 v1, 2, v0; s_waitcnt lgkmcnt(0); v_mov_b32 v2, s5; v_add_u32 v1, vcc, s4, v1;
 * v_addc_u32 v2, vcc, 0, v2, vcc; flat_load_dword v3, v[1:2]; v_add_u32 v4, vcc, 0x10000, v1; v_addc_u32
 * v5, vcc, 0, v2, vcc; s_waitcnt vmcnt(0) lgkmcnt(0); v_add_u32 v3, vcc, 1, v3; flat_store_dword v[4:5],
 * v3; s_endpgm */
static const uint32_t increment8[] = {
    0xc0060100, 0x00000000, 0x8e068602, 0x32000006, 0x24020082, 0xbf8c007f, 0x7e040205,
    0x32020204, 0x38040480, 0xdc500000, 0x03000001, 0x320802ff, 0x00010000, 0x380a0480,
    0xbf8c0070, 0x32060681, 0xdc700000, 0x00000304, 0xbf810000,
};

/* The same for gfx10: global_load_dword v3, v1, s[4:5], ... */
static const uint32_t increment10[] = {
    0xf4040100, 0xfa000000, 0x8f068502, 0x4a000006, 0x34020082, 0xbf8cc07f, 0xdc308000, 0x03040001,
    0x4a0802ff, 0x00010000, 0xbf8c3f70, 0x4a060681, 0xdc708000, 0x00040304, 0xbf810000,
};

/* v3 is 7, then loaded; v6 is taken before the wait, v7 after it; both are stored. */
static const uint32_t forgetful8[] = {
    0xc0060100, 0x00000000, 0x24020082, 0x7e060287, 0xbf8c007f, 0x7e040205, 0x32020204,
    0x38040480, 0xdc500000, 0x03000001, 0x7e0c0303, 0xbf8c0070, 0x7e0e0303, 0x320802ff,
    0x00010000, 0x380a0480, 0xdc740000, 0x00000604, 0xbf810000,
};

/* flat_atomic_add v8, v[1:2], v3 glc: 1 to word (lane & 3); the old value to word lane of data + 64K */
static const uint32_t count8[] = {
    0xc0060100, 0x00000000, 0x26020083, 0x24020282, 0x240c0082, 0xbf8c007f, 0x7e040205, 0x32020204,
    0x38040480, 0x7e060281, 0xdd090000, 0x08000301, 0x7e0a0205, 0x32080c04, 0x380a0a80, 0x320808ff,
    0x00010000, 0x380a0a80, 0xbf8c0070, 0xdc700000, 0x00000804, 0xbf810000,
};

/* global_atomic_cmpswap v4, v1, v[2:3], s[4:5] glc: word lane becomes lane + 100 if it is lane; the old
 * value goes to data + 64K */
static const uint32_t swap10[] = {
    0xf4040100, 0xfa000000, 0x34020082, 0x4a0400ff, 0x00000064, 0x7e060300, 0xbf8cc07f, 0xdcc58000,
    0x04040201, 0x4a0a02ff, 0x00010000, 0xbf8c3f70, 0xdc708000, 0x00040405, 0xbf810000,
};

/* s_load_dwordx16 s[8:23], s[4:5], 0x20; the first and the last of them are stored to words 0 and 1 */
static const uint32_t scalar8[] = {
    0xc0060100, 0x00000000, 0xbf8c007f, 0xc0120202, 0x00000020, 0xbf8c007f, 0x7e060208,
    0x7e080217, 0x7e020204, 0x7e040205, 0xdc740000, 0x00000301, 0xbf810000,
};

/* All but the first wave: s_sleep 4; then s_barrier; s_endpgm */
static const uint32_t barrier8[] = {
    0x7e080500, 0xbf068004, 0xbf850001, 0xbf8e0004, 0xbf8a0000, 0xbf810000,
};

/* data[i] = 7 through LDS: s_load_dwordx2 s[4:5], s[0:1], 0x0; s_mov_b32 m0, -1; v_lshlrev_b32 v1, 2, v0; v_mov_b32 v2,
 * 7; v_mov_b32 v3, 9; s_waitcnt lgkmcnt(0); v_mov_b32 v6, s5; v_add_u32 v5, vcc, s4, v1; v_addc_u32 v6, vcc, 0, v6,
 * vcc; ds_write_b32 v1, v2; s_waitcnt lgkmcnt(0); ds_read_b32 v4, v1; s_waitcnt lgkmcnt(0); flat_store_dword v[5:6],
 * v4; s_waitcnt vmcnt(0); s_endpgm */
#define SEVENS_DATA 11 /* the word with the register that ds_write_b32 writes */
static const uint32_t sevens8[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24020082, 0x7e040287, 0x7e060289, 0xbf8c007f,
    0x7e0c0205, 0x320a0204, 0x380c0c80, 0xd81a0000, 0x00000201, 0xbf8c007f, 0xd86c0000,
    0x04000001, 0xbf8c007f, 0xdc700000, 0x00000405, 0xbf8c0f70, 0xbf810000,
};

#define WORDS(name) name, sizeof(name) / sizeof(name)[0]

static rig *prepare(const char *model, amd_target target, const uint32_t *words, size_t count,
                    uint32_t line_bytes)
{
    rig *r = rig_create();
    rig_spec(r, model);
    rig_build(r, model, line_bytes, 100);
    rig_program(r, target, false, words, count);
    for (uint32_t i = 0; i < 8192; i++)
        rig_data(r)[i] = i * 3;
    return r;
}

static void check_increment(rig *r, uint32_t items)
{
    const uint32_t *out = rig_data(r) + 16384;
    for (uint32_t i = 0; i < items; i++)
        assert_int_equal(out[i], i * 3 + 1);
    assert_int_equal(out[items], 0);
}

/* Many work-groups, the last one partial, on either core with either instruction set; also with a memory
 * that refuses every third request. */
static void increment(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        const char *model = i & 1 ? "rdna" : "gcn";
        bool gfx10 = i & 2;
        rig *r = prepare(model, gfx10 ? AMD_GFX1010 : AMD_GFX803, gfx10 ? increment10 : increment8,
                         gfx10 ? sizeof increment10 / 4 : sizeof increment8 / 4, i & 1 ? 128 : 64);
        if (i & 4)
            r->vector[0]->refuse_every = r->vector[1]->refuse_every = r->code->refuse_every =
                r->scalar->refuse_every = 3;
        uint32_t group = gfx10 ? 32 : 64;
        rig_run(r, 6000, group, 0);
        check_increment(r, 6000);
        assert_int_equal(r->tally.loads, 6000 + (6000 + group - 1) / group);
        assert_int_equal(r->tally.stores, 6000);
        /* 250 lines of 64 bytes (375 work-groups of 64 dwords are 4 each), 128-byte lines hold 32 dwords */
        uint64_t lines = r->vector[0]->reads + r->vector[1]->reads;
        assert_int_equal(lines, i & 1 ? (6000 + 31) / 32 : (6000 + 15) / 16);
        rig_destroy(r);
    }
}

static void old_value_without_wait(void **state)
{
    (void)state;
    rig *r = prepare("gcn", AMD_GFX803, WORDS(forgetful8), 64);
    rig_run(r, 64, 64, 0);
    const uint32_t *out =
        rig_data(r) + 16384; /* each lane's pair begins at its dword: the last one's is whole */
    assert_int_equal(out[0], 7);
    assert_int_equal(out[63], 7);
    assert_int_equal(out[64], 63 * 3);
    rig_destroy(r);
}

static void atomics(void **state)
{
    (void)state;
    rig *r = prepare("gcn", AMD_GFX803, WORDS(count8), 64);
    memset(rig_data(r), 0, 64);
    rig_run(r, 64, 64, 0);
    const uint32_t *data = rig_data(r), *out = data + 16384;
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(data[i], 16);
    for (uint32_t lane = 0; lane < 64; lane++) /* lanes of one address in order */
        assert_int_equal(out[lane], lane / 4);
    assert_int_equal(r->vector[0]->atomics, 16); /* four addresses in each message */
    rig_destroy(r);
    r = prepare("rdna", AMD_GFX1010, WORDS(swap10), 128);
    for (uint32_t i = 0; i < 32; i++)
        rig_data(r)[i] = i & 1 ? i : 1000 + i;
    rig_run(r, 32, 32, 0);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(rig_data(r)[i], i & 1 ? i + 100 : 1000 + i);
        assert_int_equal(rig_data(r)[16384 + i], i & 1 ? i : 1000 + i);
    }
    assert_int_equal(r->vector[0]->atomics, 2); /* operands and comparands of half a line each */
    rig_destroy(r);
}

static void scalar_loads(void **state)
{
    (void)state;
    rig *r = prepare("gcn", AMD_GFX803, WORDS(scalar8), 64);
    rig_run(r, 1, 1, 0);
    assert_int_equal(rig_data(r)[0], 8 * 3);
    assert_int_equal(rig_data(r)[1], 23 * 3);
    assert_int_equal(r->scalar->reads, 3); /* 64 bytes from byte 32 on are two lines */
    /* Two loads in sequence, 100 cycles of memory each and one to send. */
    assert_int_equal(r->cu->counters.scalar_loads, 2);
    assert_in_range(r->cu->counters.scalar_load_cycles, 202, 206);
    rig_destroy(r);
}

/* s_mov_b32 m0, -1; v_mul_u32_u24 v1, bytes, v0; the access; s_waitcnt lgkmcnt(0); s_endpgm */
static uint64_t lds_cycles(const char *model, amd_target target, uint32_t bytes, uint32_t op,
                           uint32_t operands, uint64_t *conflicts)
{
    const uint32_t words8[] = { 0xbefc00c1, 0x100200ff, bytes, op, operands, 0xbf8c007f, 0xbf810000 };
    rig *r = rig_create();
    rig_spec(r, model);
    rig_build(r, model, 64, 100);
    rig_program(r, target, false, WORDS(words8));
    rig_run(r, 64, 64, 65536);
    uint64_t cycles = r->cu->counters.lds_cycles;
    *conflicts = r->cu->counters.lds_conflict_cycles;
    rig_destroy(r);
    return cycles;
}

/* Stride of n dwords over 32 banks: gcd(n, 32) lanes of each 32 use the same bank. */
static void lds_banks(void **state)
{
    (void)state;
    const struct {
        uint32_t stride, gcd;
    } rows[] = { { 1, 1 }, { 2, 2 },   { 3, 1 },  { 4, 4 },   { 6, 2 },
                 { 8, 8 }, { 16, 16 }, { 31, 1 }, { 32, 32 }, { 33, 1 } };
    uint64_t conflicts;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(lds_cycles("gcn", AMD_GFX803, rows[i].stride * 4, 0xd86c0000, 0x02000001, &conflicts),
                         rows[i].gcd * 2); /* ds_read_b32 v2, v1: 32 lanes at a time */
        assert_int_equal(conflicts, (rows[i].gcd - 1) * 2);
    }
    /* All lanes at one dword: broadcast. */
    assert_int_equal(lds_cycles("gcn", AMD_GFX803, 0, 0xd86c0000, 0x02000001, &conflicts), 2);
    /* The same with 12 bytes, which are no power of two: ds_read_b96 v[4:6], v1. */
    assert_int_equal(lds_cycles("gcn", AMD_GFX803, 0, 0xd9fc0000, 0x04000001, &conflicts), 2);
    assert_int_equal(lds_cycles("gcn", AMD_GFX803, 16, 0xd9fc0000, 0x04000001, &conflicts), 8);
    /* 8 and 16 bytes per lane without a gap: 128 bytes per cycle. */
    assert_int_equal(lds_cycles("gcn", AMD_GFX803, 8, 0xd8ec0000, 0x02000001, &conflicts), 4);
    assert_int_equal(conflicts, 0);
    assert_int_equal(lds_cycles("gcn", AMD_GFX803, 16, 0xd9fe0000, 0x04000001, &conflicts), 8);
    assert_int_equal(lds_cycles("gcn", AMD_GFX803, 8, 0xd86e0100, 0x04000001, &conflicts),
                     4); /* ds_read2_b32 */
}

static void barrier(void **state)
{
    (void)state;
    rig *r = prepare("gcn", AMD_GFX803, WORDS(barrier8), 64);
    rig_run(r, 256, 256, 0);
    assert_int_equal(r->tally.barriers, 1);
    assert_int_equal(r->cu->counters.barriers, 1);
    assert_true(rig_cycles(r) > 4 * 64);
    assert_true(r->cu->counters.stall[CU_WHY_BARRIER] > 200); /* the first wave waits for the sleeping ones */
    rig_destroy(r);
    /* A wave that ends instead of arriving: a fault, or nothing at all. s_cbranch_scc1 to s_endpgm */
    const uint32_t leaves8[] = { 0x7e080500, 0xbf068004, 0xbf850001, 0xbf8a0000, 0xbf810000 };
    for (unsigned lenient = 0; lenient < 2; lenient++) {
        r = prepare("gcn", AMD_GFX803, WORDS(leaves8), 64);
        r->kernel.lenient_barriers = lenient;
        rig_run(r, 128, 128, 0);
        assert_int_equal(r->fault.kind, lenient ? LS_FAULT_NONE : LS_FAULT_BARRIER);
        if (!lenient) {
            assert_int_equal(r->last.fault_wave, 1);
            assert_int_equal(r->last.fault_pc, r->code_at + 12);
        }
        rig_destroy(r);
    }
}

static void faults(void **state)
{
    (void)state;
    /* The argument points to nothing. */
    rig *r = prepare("gcn", AMD_GFX803, WORDS(increment8), 64);
    uint64_t nowhere = r->data + RIG_DATA_BYTES; /* the page that is never mapped */
    assert_int_equal(address_space_write(r->address_space, r->args, &nowhere, 8, NULL), LS_OK);
    rig_run(r, 640, 64, 0);
    assert_int_equal(r->fault.kind, LS_FAULT_UNMAPPED);
    assert_int_equal(r->fault.bytes, 4);
    assert_false(r->fault.write);
    assert_int_equal(r->fault.address % 256, 0);
    assert_int_equal(r->last.fault_pc, r->code_at + 9 * 4);
    rig_destroy(r);
    /* s_branch to itself, until the limit */
    const uint32_t forever8[] = { 0xbf82ffff };
    r = prepare("rdna", AMD_GFX803, WORDS(forever8), 128);
    r->kernel.max_instructions = 1000;
    rig_run(r, 64, 64, 0);
    assert_int_equal(r->fault.kind, LS_FAULT_LIMIT);
    assert_int_equal(r->tally.instructions, 1000);
    rig_destroy(r);
}

/* A program goes, and the next one gets its place in the host's memory: what the compute unit remembers of the old
 * LDS instructions must not be taken for the new ones. */
static void lds_of_another_program(void **state)
{
    (void)state;
    uint32_t words[sizeof sevens8 / 4];
    memcpy(words, sevens8, sizeof words);
    rig *r = prepare("gcn", AMD_GFX803, WORDS(sevens8), 64);
    rig_run(r, 256, 64, 65536);
    assert_int_equal(rig_data(r)[63], 7);
    amd_program *old = r->program;
    cu_code *place = r->timing;
    words[SEVENS_DATA] = 0x00000301; /* ds_write_b32 v1, v3 */
    rig_program(r, AMD_GFX803, false, WORDS(words));
    memcpy(place->insts, r->timing->insts, (r->program->op_count + 1) * sizeof *place->insts);
    place->program = r->program;
    cu_code_destroy(r->timing);
    r->timing = place;
    r->next = r->done = 0;
    rig_run(r, 256, 64, 65536);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(rig_data(r)[i], 9);
    amd_program_destroy(old);
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increment), cmocka_unit_test(old_value_without_wait),
        cmocka_unit_test(atomics),   cmocka_unit_test(scalar_loads),
        cmocka_unit_test(lds_banks), cmocka_unit_test(barrier),
        cmocka_unit_test(faults),    cmocka_unit_test(lds_of_another_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
