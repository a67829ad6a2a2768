/* test_amd_exec_memory.c: loads, stores and atomics of every address form: values, faults, ranges, and
 * that short cuts do what the three steps do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "amd_memory.h"

static void scalar_loads(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX1010, 32);
    uint32_t *memory = rig_at(&r, r.buffer);
    for (uint32_t i = 0; i < 64; i++)
        memory[i] = 100 + i;
    memcpy(&r.wave.sgpr[4], &r.buffer, 8);
    r.wave.sgpr[9] = 8;
    amd_inst inst = rig_inst(AMD_S_LOAD_DWORDX4, AMD_SMEM);
    inst.offset = 16;
    rig_run(&r, &inst);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(r.wave.sgpr[20 + i], 104 + i);
    inst = rig_inst(AMD_S_LOAD_DWORDX16, AMD_SMEM);
    inst.flags = AMD_SOFFSET_REG;
    inst.src[1].code = 9;
    inst.offset = -4;
    rig_run(&r, &inst);
    assert_int_equal(r.wave.sgpr[20], 101);
    assert_int_equal(r.wave.sgpr[35], 116);
    /* A buffer of 3 dwords: the fourth reads 0. */
    r.wave.sgpr[6] = 12;
    inst = rig_inst(AMD_S_BUFFER_LOAD_DWORDX4, AMD_SMEM);
    r.wave.sgpr[23] = 77;
    rig_run(&r, &inst);
    assert_int_equal(r.wave.sgpr[22], 102);
    assert_int_equal(r.wave.sgpr[23], 0);
    /* Clocks, stores, atomics. */
    r.wave.time = 0x1234567890ull;
    inst = rig_inst(AMD_S_MEMTIME, AMD_SMEM);
    rig_run(&r, &inst);
    assert_int_equal(r.wave.sgpr[20], 0x34567890);
    assert_int_equal(r.wave.sgpr[21], 0x12);
    inst = rig_inst(AMD_S_STORE_DWORDX2, AMD_SMEM);
    inst.offset = 40;
    rig_run(&r, &inst);
    assert_int_equal(memory[10], 0x34567890);
    assert_int_equal(memory[11], 0x12);
    inst = rig_inst(AMD_S_ATOMIC_ADD, AMD_SMEM);
    inst.flags = AMD_GLC;
    r.wave.sgpr[20] = 5;
    rig_run(&r, &inst);
    assert_int_equal(r.wave.sgpr[20], 100);
    assert_int_equal(memory[0], 105);
    /* Nothing there. */
    r.wave.sgpr[5] = 0x77;
    inst = rig_inst(AMD_S_LOAD_DWORD, AMD_SMEM);
    rig_run(&r, &inst);
    assert_int_equal(r.wave.stop, AMD_FAULTED);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_UNMAPPED);
    rig_fini(&r);
}

static void faults(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX803, 64);
    amd_inst load = rig_inst(AMD_FLAT_LOAD_DWORD, AMD_FLAT), store = rig_inst(AMD_FLAT_STORE_DWORD, AMD_FLAT);
    for (unsigned lane = 0; lane < 64; lane++)
        rig_address(&r, 0, lane, r.buffer + lane * 4);
    rig_address(&r, 0, 37, r.buffer + RIG_BYTES - 2); /* its end lies in no page */
    rig_run(&r, &load);
    assert_int_equal(r.wave.stop, AMD_FAULTED);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_UNMAPPED);
    assert_int_equal(r.wave.fault.lane, 37);
    assert_int_equal(r.wave.fault.address, r.buffer + RIG_BYTES - 2);
    assert_false(r.wave.fault.write);
    rig_exec(&r, ~(1ull << 37));
    rig_run(&r, &load); /* a lane that is switched off does not matter */
    assert_int_equal(r.wave.stop, AMD_RUNNING);
    rig_address(&r, 0, 5, r.fixed);
    rig_run(&r, &load);
    assert_int_equal(r.wave.stop, AMD_RUNNING);
    rig_run(&r, &store);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_READ_ONLY);
    assert_int_equal(r.wave.fault.lane, 5);
    assert_true(r.wave.fault.write);
    static const uint64_t wild[] = {
        0, 4, UINT64_MAX, UINT64_MAX - 3, LS_WINDOW_BASE - 4, 0x7fffffffffffull, 1ull << 63
    };
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++)
        for (unsigned all = 0; all < 2; all++) {
            for (unsigned lane = 0; lane < 64; lane++)
                rig_address(&r, 0, lane, all ? wild[i] : r.buffer + lane * 4);
            rig_exec(&r, UINT64_MAX);
            rig_address(&r, 0, 63, wild[i]);
            rig_run(&r, all ? &store : &load);
            assert_int_equal(r.wave.fault.kind, LS_FAULT_UNMAPPED);
            assert_int_equal(r.wave.fault.lane, all ? 0 : 63);
        }
    /* Atomics must be aligned. */
    for (unsigned lane = 0; lane < 64; lane++)
        rig_address(&r, 0, lane, r.buffer + lane * 4);
    rig_address(&r, 0, 9, r.buffer + 2);
    amd_inst add = rig_inst(AMD_FLAT_ATOMIC_ADD, AMD_FLAT);
    rig_run(&r, &add);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_MISALIGNED);
    assert_int_equal(r.wave.fault.lane, 9);
    /* GCN3's LDS too, gfx10's not. */
    rig_v(&r, 0)[3] = 6;
    amd_inst read = rig_inst(AMD_DS_READ_B32, AMD_DS);
    rig_run(&r, &read);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_MISALIGNED);
    assert_int_equal(r.wave.fault.lane, 3);
    r.wave.target = AMD_GFX1010;
    rig_run(&r, &read);
    assert_int_equal(r.wave.stop, AMD_RUNNING);
    rig_fini(&r);
}

static void extensions_and_halves(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        uint32_t expect;
    } rows[] = {
        { AMD_GLOBAL_LOAD_UBYTE, 0x85 },           { AMD_GLOBAL_LOAD_SBYTE, 0xffffff85 },
        { AMD_GLOBAL_LOAD_USHORT, 0x9685 },        { AMD_GLOBAL_LOAD_SSHORT, 0xffff9685 },
        { AMD_GLOBAL_LOAD_UBYTE_D16, 0xaaaa0085 }, { AMD_GLOBAL_LOAD_UBYTE_D16_HI, 0x0085bbbb },
        { AMD_GLOBAL_LOAD_SBYTE_D16, 0xaaaaff85 }, { AMD_GLOBAL_LOAD_SBYTE_D16_HI, 0xff85bbbb },
        { AMD_GLOBAL_LOAD_SHORT_D16, 0xaaaa9685 }, { AMD_GLOBAL_LOAD_SHORT_D16_HI, 0x9685bbbb },
    };
    rig r;
    rig_init(&r, AMD_GFX1030, 32);
    memcpy(rig_at(&r, r.buffer + 33), "\x85\x96\x55\x44", 4);
    memcpy(&r.wave.sgpr[4], &r.buffer, 8);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        amd_inst inst = rig_inst(rows[i].op, AMD_GLOBAL);
        inst.flags = AMD_SADDR;
        inst.offset = 3;
        rig_v(&r, 0)[7] = 30;
        rig_v(&r, 16)[7] = 0xaaaabbbb;
        rig_run(&r, &inst);
        assert_int_equal(r.wave.stop, AMD_RUNNING);
        assert_int_equal(rig_v(&r, 16)[7], rows[i].expect);
    }
    amd_inst inst = rig_inst(AMD_GLOBAL_STORE_SHORT_D16_HI, AMD_GLOBAL);
    inst.flags = AMD_SADDR;
    rig_exec(&r, 1u << 7);
    rig_v(&r, 4)[7] = 0x12345678;
    rig_run(&r, &inst);
    uint16_t half;
    memcpy(&half, rig_at(&r, r.buffer + 30), 2);
    assert_int_equal(half, 0x1234);
    inst = rig_inst(AMD_GLOBAL_STORE_BYTE_D16_HI, AMD_GLOBAL);
    inst.flags = AMD_SADDR;
    rig_run(&r, &inst);
    memcpy(&half, rig_at(&r, r.buffer + 30), 2);
    assert_int_equal(half, 0x1234);
    rig_fini(&r);
}

static void flat_apertures(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX803, 64);
    for (unsigned lane = 0; lane < 64; lane++) {
        rig_address(&r, 0, lane, r.group.private_base + 16);
        for (unsigned i = 0; i < 2; i++)
            rig_v(&r, 4 + i)[lane] = 1000 * i + lane;
    }
    rig_address(&r, 0, 1, r.buffer + 64);
    rig_address(&r, 0, 2, r.group.shared_base + 128);
    amd_inst store = rig_inst(AMD_FLAT_STORE_DWORDX2, AMD_FLAT),
             load = rig_inst(AMD_FLAT_LOAD_DWORDX2, AMD_FLAT);
    rig_run(&r, &store);
    assert_int_equal(r.wave.stop, AMD_RUNNING);
    uint32_t word;
    memcpy(&word, rig_at(&r, r.buffer + 68), 4);
    assert_int_equal(word, 1001);
    memcpy(&word, r.lds + 128, 4);
    assert_int_equal(word, 2);
    /* Wave 1, lane 5, dwords 4 and 5: interleaved by lanes. */
    uint64_t wave = r.group.scratch + 64 * 256;
    memcpy(&word, rig_at(&r, wave + 4 * 256 + 5 * 4), 4);
    assert_int_equal(word, 5);
    memcpy(&word, rig_at(&r, wave + 5 * 256 + 5 * 4), 4);
    assert_int_equal(word, 1005);
    rig_run(&r, &load);
    for (unsigned lane = 0; lane < 64; lane++)
        assert_int_equal(rig_v(&r, 17)[lane], 1000 + lane);
    rig_address(&r, 0, 3, r.group.shared_base + RIG_LDS - 4); /* the second dword is past the end */
    rig_run(&r, &load);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_LDS_RANGE);
    assert_int_equal(r.wave.fault.lane, 3);
    r.wave.stop = AMD_RUNNING;
    rig_address(&r, 0, 3, r.group.private_base + 16);
    /* Private memory ends after 256 bytes. */
    rig_address(&r, 0, 60, r.group.private_base + 252);
    rig_run(&r, &load);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_UNMAPPED);
    assert_int_equal(r.wave.fault.lane, 60);
    assert_int_equal(r.wave.fault.address, r.group.private_base + 252);
    rig_fini(&r);
}

static void lds_ranges(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX803, 64);
    for (uint32_t i = 0; i < RIG_LDS / 4; i++)
        memcpy(r.lds + i * 4, &i, 4);
    for (unsigned lane = 0; lane < 64; lane++)
        rig_v(&r, 0)[lane] = lane * 32 + 16;
    rig_v(&r, 0)[9] = RIG_LDS - 260;
    amd_inst inst = rig_inst(AMD_DS_READ2ST64_B32, AMD_DS);
    inst.offset = 0;
    inst.simm = 1;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[2], (2 * 32 + 16) / 4);
    assert_int_equal(rig_v(&r, 17)[2], (2 * 32 + 16) / 4 + 64);
    assert_int_equal(rig_v(&r, 17)[9], RIG_LDS / 4 - 1); /* the last one */
    rig_v(&r, 0)[9] = RIG_LDS - 256;
    rig_run(&r, &inst);
    assert_int_equal(r.wave.fault.kind, LS_FAULT_LDS_RANGE);
    assert_int_equal(r.wave.fault.lane, 9);
    assert_int_equal(r.wave.fault.address, RIG_LDS);
    r.wave.stop = AMD_RUNNING;
    rig_v(&r, 0)[9] = 9 * 32 + 16;
    r.wave.sgpr[AMD_M0] = 20; /* GCN3's own limit */
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], 4);
    assert_int_equal(rig_v(&r, 16)[1], 0);
    r.wave.sgpr[AMD_M0] = UINT32_MAX;
    inst = rig_inst(AMD_DS_WRITE2_B64, AMD_DS);
    inst.offset = 1;
    inst.simm = 2;
    rig_exec(&r, 1u << 1);
    rig_v(&r, 4)[1] = 0x11;
    rig_v(&r, 5)[1] = 0x22;
    rig_v(&r, 8)[1] = 0x33;
    rig_v(&r, 9)[1] = 0x44;
    rig_run(&r, &inst);
    uint32_t words[4];
    memcpy(words, r.lds + 48 + 8, 16);
    assert_int_equal(words[0], 0x11);
    assert_int_equal(words[1], 0x22);
    assert_int_equal(words[2], 0x33);
    assert_int_equal(words[3], 0x44);
    rig_fini(&r);
}

static void exchanges(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX803, 64);
    for (unsigned lane = 0; lane < 64; lane++) {
        rig_v(&r, 0)[lane] = (lane + 1) * 4;
        rig_v(&r, 4)[lane] = 100 + lane;
    }
    amd_inst inst = rig_inst(AMD_DS_BPERMUTE_B32, AMD_DS);
    rig_exec(&r, ~(1ull << 10));
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], 101);
    assert_int_equal(rig_v(&r, 16)[63], 100);
    assert_int_equal(rig_v(&r, 16)[9], 0); /* its source is switched off */
    inst.op = AMD_DS_PERMUTE_B32;
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[1], 100);
    assert_int_equal(rig_v(&r, 16)[0], 163);
    assert_int_equal(rig_v(&r, 16)[11], 0); /* no lane writes it */
    inst.op = AMD_DS_SWIZZLE_B32;
    inst.src[0].code = AMD_VGPR + 4;
    inst.offset = 0x1f | 1 << 10; /* and 0x1f, xor 1 */
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], 101);
    assert_int_equal(rig_v(&r, 16)[33], 132);
    inst.offset = 0x8000 | 0x1b; /* 3 2 1 0 */
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[4], 107);
    r.wave.target = AMD_GFX1010;
    inst.offset = 0xc000 | 1 << 5; /* rotate by 1 */
    rig_run(&r, &inst);
    assert_int_equal(rig_v(&r, 16)[0], 101);
    assert_int_equal(rig_v(&r, 16)[31], 100);
    rig_fini(&r);
}

static void counters(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, AMD_GFX1010, 32);
    r.wave.sgpr[AMD_M0] = 64;
    uint32_t start = 1000;
    memcpy(r.lds + 72, &start, 4);
    rig_exec(&r, 0x70f);
    amd_inst inst = rig_inst(AMD_DS_APPEND, AMD_DS);
    inst.offset = 8;
    rig_run(&r, &inst);
    memcpy(&start, r.lds + 72, 4);
    assert_int_equal(start, 1007);
    assert_int_equal(rig_v(&r, 16)[0], 1000);
    assert_int_equal(rig_v(&r, 16)[9], 1000);
    assert_int_equal(rig_v(&r, 16)[5], 0);
    inst.op = AMD_DS_CONSUME;
    rig_run(&r, &inst);
    memcpy(&start, r.lds + 72, 4);
    assert_int_equal(start, 1000);
    assert_int_equal(rig_v(&r, 16)[9], 1007);
    rig_fini(&r);
}

/* Every atomic on one lane: memory 10, operand 3 (and 10 to compare with). */
static void atomics(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        uint32_t memory, data, more, expect;
    } rows[] = {
        { AMD_GLOBAL_ATOMIC_SWAP, 10, 3, 0, 3 },
        { AMD_GLOBAL_ATOMIC_CMPSWAP, 10, 3, 10, 3 },
        { AMD_GLOBAL_ATOMIC_CMPSWAP, 10, 3, 11, 10 },
        { AMD_GLOBAL_ATOMIC_ADD, 10, 3, 0, 13 },
        { AMD_GLOBAL_ATOMIC_SUB, 10, 11, 0, UINT32_MAX },
        { AMD_GLOBAL_ATOMIC_SMIN, 10, UINT32_MAX, 0, UINT32_MAX },
        { AMD_GLOBAL_ATOMIC_UMIN, 10, UINT32_MAX, 0, 10 },
        { AMD_GLOBAL_ATOMIC_SMAX, 10, UINT32_MAX, 0, 10 },
        { AMD_GLOBAL_ATOMIC_UMAX, 10, UINT32_MAX, 0, UINT32_MAX },
        { AMD_GLOBAL_ATOMIC_AND, 10, 3, 0, 2 },
        { AMD_GLOBAL_ATOMIC_OR, 10, 3, 0, 11 },
        { AMD_GLOBAL_ATOMIC_XOR, 10, 3, 0, 9 },
        { AMD_GLOBAL_ATOMIC_INC, 10, 10, 0, 0 },
        { AMD_GLOBAL_ATOMIC_INC, 10, 11, 0, 11 },
        { AMD_GLOBAL_ATOMIC_DEC, 0, 7, 0, 7 },
        { AMD_GLOBAL_ATOMIC_DEC, 10, 7, 0, 7 },
        { AMD_GLOBAL_ATOMIC_DEC, 5, 7, 0, 4 },
        { AMD_GLOBAL_ATOMIC_CSUB, 5, 7, 0, 0 },
        { AMD_GLOBAL_ATOMIC_FMIN, 0x3f800000, 0xbf800000, 0, 0xbf800000 },
        { AMD_GLOBAL_ATOMIC_FMAX, 0x3f800000, 0xbf800000, 0, 0x3f800000 },
        { AMD_GLOBAL_ATOMIC_FCMPSWAP, 0x80000000, 7, 0, 7 }, /* -0 equals 0 */
        { AMD_DS_RSUB_RTN_U32, 10, 3, 0, (uint32_t)-7 },
        { AMD_DS_CMPST_RTN_B32, 10, 10, 3, 3 }, /* LDS: comparand first */
        { AMD_DS_MSKOR_RTN_B32, 0xff, 0x0f, 0x100, 0x1f0 },
        { AMD_DS_WRAP_RTN_B32, 10, 4, 100, 6 },
        { AMD_DS_WRAP_RTN_B32, 3, 4, 100, 103 },
        { AMD_DS_ADD_RTN_F32, 0x3f800000, 0x3f800000, 0, 0x40000000 },
        { AMD_DS_WRXCHG_RTN_B32, 10, 3, 0, 3 },
    };
    rig r;
    rig_init(&r, AMD_GFX1030, 64);
    rig_exec(&r, 1ull << 40);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool lds = rows[i].op >= AMD_DS_ADD_F32 && strncmp(amd_op_name(rows[i].op), "ds_", 3) == 0;
        amd_inst inst = rig_inst(rows[i].op, lds ? AMD_DS : AMD_GLOBAL);
        inst.flags = AMD_GLC;
        rig_address(&r, 0, 40, lds ? 96 : r.buffer + 96);
        uint32_t *place = lds ? (uint32_t *)(void *)(r.lds + 96) : rig_at(&r, r.buffer + 96);
        *place = rows[i].memory;
        rig_v(&r, 4)[40] = rows[i].data;
        rig_v(&r, 5)[40] = rig_v(&r, 8)[40] = rows[i].more;
        rig_v(&r, 16)[40] = 12345;
        rig_run(&r, &inst);
        assert_int_equal(r.wave.stop, AMD_RUNNING);
        assert_int_equal(*place, rows[i].expect);
        assert_int_equal(rig_v(&r, 16)[40], rows[i].memory);
    }
    /* Without glc nothing returns; all lanes of a wave add up. */
    amd_inst inst = rig_inst(AMD_GLOBAL_ATOMIC_ADD_X2, AMD_GLOBAL);
    rig_exec(&r, UINT64_MAX);
    for (unsigned lane = 0; lane < 64; lane++) {
        rig_address(&r, 0, lane, r.buffer + 8);
        rig_v(&r, 4)[lane] = 0x80000000;
        rig_v(&r, 5)[lane] = lane;
        rig_v(&r, 16)[lane] = 9;
    }
    rig_run(&r, &inst);
    uint64_t sum;
    memcpy(&sum, rig_at(&r, r.buffer + 8), 8);
    assert_int_equal(sum, (63ull * 32 << 32) + 64ull * 0x80000000);
    assert_int_equal(rig_v(&r, 16)[0], 9);
    rig_fini(&r);
}

/* --- short cuts against the three steps ----------------------------------------------------------------- */

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void scene(rig *r, uint32_t seed, amd_format format)
{
    uint32_t *memory = rig_at(r, r->buffer), *scratch = rig_at(r, r->group.scratch);
    for (unsigned i = 0; i < RIG_BYTES / 4; i++)
        memory[i] = random_next(&seed) * 2654435761u;
    for (unsigned i = 0; i < 64 * 2 * 256 / 4; i++)
        scratch[i] = random_next(&seed) * 2654435761u;
    for (unsigned i = 0; i < RIG_LDS; i++)
        r->lds[i] = (uint8_t)random_next(&seed);
    for (unsigned i = 0; i < 32 * 64; i++)
        r->vgpr[i] = random_next(&seed) * 2654435761u;
    uint32_t shape = random_next(&seed) % 5, first = random_next(&seed) % 512 * 16,
             stride = random_next(&seed) % 8 * 4;
    unsigned align = random_next(&seed) % 3 == 0 ? 1 : 16;
    for (unsigned lane = 0; lane < r->wave.lanes; lane++) {
        uint32_t at = first + lane * 4;
        if (shape == 1)
            at = first;
        else if (shape == 2)
            at = random_next(&seed) % 8000 / align * align;
        else if (shape == 3)
            at = first + lane * stride;
        if (format == AMD_DS)
            rig_v(r, 0)[lane] = shape == 4 ? at : at % 3500 / align * align;
        else if (format == AMD_MUBUF)
            rig_v(r, 0)[lane] = at % 200 / 4 * 4;
        else
            rig_address(r, 0, lane, r->buffer + at);
    }
    uint64_t exec = UINT64_MAX;
    if (random_next(&seed) % 2)
        exec = (uint64_t)random_next(&seed) << 40 ^ (uint64_t)random_next(&seed) << 20 ^ random_next(&seed);
    rig_exec(r, r->wave.lanes == 64 ? exec : (uint32_t)exec);
    /* A resource as private memory has it. */
    r->wave.sgpr[4] = (uint32_t)r->group.scratch;
    r->wave.sgpr[5] = (uint32_t)(r->group.scratch >> 32) | 1u << 31;
    r->wave.sgpr[6] = UINT32_MAX;
    r->wave.sgpr[7] = 0xfacu | (r->wave.lanes == 64 ? 3u : 2u) << 21 | 1u << 23;
    r->wave.sgpr[7] |= r->wave.target == AMD_GFX803 ? 1u << 19 : 3u << 28;
}

static void short_cuts(void **state)
{
    (void)state;
    static const amd_format formats[] = { AMD_FLAT, AMD_GLOBAL, AMD_DS, AMD_MUBUF };
    static const char *const prefix[] = { "flat_", "global_", "ds_", "buffer_" };
    unsigned checked = 0;
    for (unsigned shape = 0; shape < 3; shape++) {
        rig a, b;
        rig_init(&a, shape == 0 ? AMD_GFX803 : AMD_GFX1030, shape == 2 ? 32 : 64);
        rig_init(&b, shape == 0 ? AMD_GFX803 : AMD_GFX1030, shape == 2 ? 32 : 64);
        for (unsigned op = 1; op < AMD_OP_COUNT; op++)
            for (unsigned f = 0; f < 4; f++) {
                if (strncmp(amd_op_name((amd_op)op), prefix[f], strlen(prefix[f])) != 0)
                    continue;
                amd_inst inst = rig_inst((amd_op)op, formats[f]);
                if (formats[f] == AMD_MUBUF)
                    inst.flags = AMD_OFFEN;
                amd_body body = amd_exec_find_memory((amd_target)a.wave.target, a.wave.lanes, &inst);
                amd_access_kind kind = amd_mem_kind(&inst);
                if (!body || (kind != AMD_ACCESS_LOAD && kind != AMD_ACCESS_STORE))
                    continue;
                for (uint32_t seed = 1; seed <= 24; seed++) {
                    inst.offset = (int32_t)(seed % 3 * 4);
                    inst.simm = (int32_t)(seed % 2 * 3);
                    scene(&a, seed * 977 + op, formats[f]);
                    scene(&b, seed * 977 + op, formats[f]);
                    amd_access access;
                    rig_run(&a, &inst);
                    b.wave.stop = AMD_RUNNING;
                    if (amd_mem_address(&b.wave, &inst, &access) && amd_mem_perform(&b.wave, &inst, &access))
                        amd_mem_writeback(&b.wave, &inst, &access);
                    assert_int_equal(a.wave.stop, b.wave.stop);
                    assert_memory_equal(a.vgpr, b.vgpr, 32 * 64 * 4);
                    assert_memory_equal(a.lds, b.lds, RIG_LDS);
                    assert_memory_equal(rig_at(&a, a.buffer), rig_at(&b, b.buffer), RIG_BYTES);
                    assert_memory_equal(rig_at(&a, a.group.scratch), rig_at(&b, b.group.scratch),
                                        64 * 2 * 256);
                    checked++;
                }
            }
        rig_fini(&a);
        rig_fini(&b);
    }
    assert_true(checked > 3000);
}

static void every_memory_operation_has_a_body(void **state)
{
    (void)state;
    static const char *const without[] = { "ds_gws", "ds_ordered_count", "image_get_lod", "image_msaa_load",
                                           "image_bvh" };
    static const char *const prefix[] = {
        "flat_",  "global_", "scratch_", "buffer_",  "tbuffer_", "image_",
        "s_load", "s_store", "s_buffer", "s_atomic", "s_dcache", "s_scratch"
    };
    for (unsigned op = 1; op < AMD_OP_COUNT; op++) {
        const char *name = amd_op_name((amd_op)op);
        bool memory = strncmp(name, "ds_", 3) == 0, skip = strstr(name, "_c_") != NULL ||
                                                           strcmp(name, "image_sample_c") == 0 ||
                                                           strcmp(name, "image_gather4_c") == 0;
        for (size_t i = 0; i < sizeof prefix / sizeof prefix[0]; i++)
            memory = memory || strncmp(name, prefix[i], strlen(prefix[i])) == 0;
        for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
            skip = skip || strncmp(name, without[i], strlen(without[i])) == 0;
        skip = skip || strstr(name, "format_d16_hi_x") != NULL; /* no compiler uses them */
        if (!memory || skip)
            continue;
        amd_inst inst = rig_inst((amd_op)op, AMD_FLAT);
        if (!amd_exec_find_memory(AMD_GFX1030, 32, &inst))
            fail_msg("%s has no body", name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_loads),
        cmocka_unit_test(faults),
        cmocka_unit_test(extensions_and_halves),
        cmocka_unit_test(flat_apertures),
        cmocka_unit_test(lds_ranges),
        cmocka_unit_test(exchanges),
        cmocka_unit_test(counters),
        cmocka_unit_test(atomics),
        cmocka_unit_test(short_cuts),
        cmocka_unit_test(every_memory_operation_has_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
