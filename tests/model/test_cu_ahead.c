/* test_cu_ahead.c: a wave that is alone on its SIMD issues ahead of time, without visible effect. Random
 * programs, with a few or many waves, take the same cycles, have the same counts and leave the same registers
 * as one instruction at a time. Programs read registers that LDS is still to write, too. */
#include "cu_rig.h"

#define WORDS_MAX 400u
#define REGISTERS 8u

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static uint32_t vgpr(void)
{
    return 2 + draw(REGISTERS - 2);
}

/* One instruction of gfx803: v1 is the address in LDS of the lane, v2 to v7 and s4 to s9 hold anything. */
static size_t one(uint32_t *to)
{
    uint32_t a = vgpr(), b = vgpr(), c = vgpr(), s = 4 + draw(5);
    switch (draw(16)) {
    case 0: /* v_mul_lo_u32 */
        to[0] = 0xd2850000u | a;
        to[1] = (256 + b) | (256 + c) << 9;
        return 2;
    case 1: /* v_readfirstlane_b32 */
        to[0] = 0x7e000500u | s << 17 | (256 + a);
        return 1;
    case 2: /* v_add_u32 with a scalar */
        to[0] = 0x32000000u | a << 17 | b << 9 | s;
        return 1;
    case 3: /* ds_read_b32, ds_read_b128 */
        to[0] = (draw(2) ? 0xd86c0000u : 0xd9fe0000u) | draw(4) * 16;
        to[1] = (draw(2) ? 2u : 3u) << 24 | 1;
        return 2;
    case 4: /* ds_write_b32 */
        to[0] = 0xd81a0000u | draw(4) * 16;
        to[1] = a << 8 | 1;
        return 2;
    case 5: /* s_waitcnt lgkmcnt(n) */
        to[0] = 0xbf8c007fu | draw(4) << 8;
        return 1;
    case 6: /* s_nop, s_setprio, s_barrier */
        to[0] = draw(8) != 0 ? 0xbf800000u | draw(8) : draw(2) ? 0xbf8f0000u | draw(4) : 0xbf8a0000u;
        return 1;
    case 7: /* s_branch over an instruction */
        to[0] = 0xbf820001u;
        to[1] = 0x7e000280u | 2 << 17; /* v_mov_b32 v2, 0 */
        return 2;
    case 8: /* v_cmpx_lt_u32, then all lanes again */
        to[0] = 0x7db20000u | a << 9 | (256 + b);
        to[1] = 0xbefe01c1u; /* s_mov_b64 exec, -1 */
        return 2;
    case 9:
    case 10: /* s_add_u32 */
        to[0] = 0x80000000u | s << 16 | (4 + draw(5)) << 8 | (4 + draw(5));
        return 1;
    default: /* v_add_f32, v_and_b32, v_xor_b32 */
        to[0] = (draw(3) == 0 ? 0x02000000u
                 : draw(2)    ? 0x26000000u
                              : 0x2a000000u) |
                a << 17 | b << 9 | (256 + c);
        return 1;
    }
}

static size_t program(uint32_t *to, unsigned instructions)
{
    size_t count = 0;
    to[count++] = 0xbefc00c1; /* s_mov_b32 m0, -1 */
    to[count++] = 0x24020084; /* v_lshlrev_b32 v1, 4, v0 */
    for (uint32_t r = 2; r < REGISTERS; r++)
        to[count++] = 0x24000000u | r << 17 | 0 << 9 | (128 + r); /* v_lshlrev_b32 r, r, v0 */
    for (unsigned i = 0; i < instructions; i++)
        count += one(to + count);
    to[count++] = 0xbf810000; /* s_endpgm */
    return count;
}

typedef struct outcome {
    uint64_t cycles;
    cu_counters counters;
    ls_cu_tally tally;
    uint32_t registers[40][REGISTERS * 64];
} outcome;

static void run(const uint32_t *words, size_t count, uint32_t shape, bool ahead, outcome *out)
{
    rig *r = rig_create();
    rig_spec(r, "gcn");
    r->spec.simds = 1u << shape % 3;
    r->spec.turn_cycles = shape / 3 % 2 ? r->spec.simds : 1;
    r->spec.lds_latency_cycles = shape / 6 % 2 ? 5 : 48;
    r->spec.scalar_wait_cycles = shape / 12 % 4 == 3 ? 16 : 0;
    r->policy = shape / 48 % 2 ? "gto" : "lrr";
    rig_build(r, "gcn", 64, 30);
    r->code->latency = shape / 96 % 2 ? 25 : 4;
    r->cu->goes_ahead = ahead;
    rig_program(r, AMD_GFX803, false, words, count);
    uint32_t group = shape / 192 % 2 ? 128 : 64, groups = 1 + shape / 384 % 9;
    rig_run(r, group * groups, group, 4096);
    memset(out, 0, sizeof *out);
    out->cycles = rig_cycles(r);
    out->counters = r->cu->counters;
    out->tally = r->tally;
    uint32_t waves = r->cu->wave_total < 40 ? r->cu->wave_total : 40;
    for (uint32_t i = 0; i < waves; i++)
        memcpy(out->registers[i], r->cu->vgprs + (size_t)i * AMD_VGPR_ROWS * 64, sizeof out->registers[i]);
    rig_destroy(r);
}

static void nobody_sees_it(void **state)
{
    (void)state;
    static outcome plain, ahead;
    for (uint32_t i = 0; i < 400; i++) {
        seed = i * 7919 + 1;
        uint32_t words[WORDS_MAX], shape = draw(3456);
        size_t count = program(words, 20 + draw(150));
        run(words, count, shape, false, &plain);
        run(words, count, shape, true, &ahead);
        assert_int_equal(ahead.cycles, plain.cycles);
        assert_memory_equal(&ahead.counters, &plain.counters, sizeof plain.counters);
        assert_memory_equal(&ahead.tally, &plain.tally, sizeof plain.tally);
        assert_memory_equal(ahead.registers, plain.registers, sizeof plain.registers);
    }
}

/* It does happen: fewer cycles have to be run, for the same result. */
static void fewer_cycles_are_run(void **state)
{
    (void)state;
    uint32_t words[WORDS_MAX];
    size_t count = 0;
    while (count < 256)
        words[count++] = 0x02020501; /* v_add_f32 v1, v1, v2 */
    words[count++] = 0xbf810000;
    uint64_t took[2], run_cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        rig *r = rig_create();
        rig_spec(r, "gcn");
        rig_build(r, "gcn", 64, 100);
        r->cu->goes_ahead = i == 1;
        rig_program(r, AMD_GFX803, false, words, count);
        rig_run(r, 64, 64, 0);
        assert_int_equal(r->tally.instructions, 257);
        took[i] = rig_cycles(r);
        run_cycles[i] = r->result.ticks;
        rig_destroy(r);
    }
    assert_int_equal(took[0], took[1]);
    assert_true(run_cycles[1] * 3 < run_cycles[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_sees_it),
        cmocka_unit_test(fewer_cycles_are_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
