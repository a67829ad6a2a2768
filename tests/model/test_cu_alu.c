/* test_cu_alu.c: how long arithmetic takes in a compute unit: chains and independent instructions, rates,
 * several waves on one SIMD and on all of them. The tests assert slopes: cycles per instruction between two
 * lengths. */
#include "cu_rig.h"

#define LONG 96u
#define SHORT 32u

/* Cycles of a program that is one word (or two) `count` times, then s_endpgm. */
static uint64_t cycles(const char *model, amd_target target, const uint32_t *words, unsigned per,
                       unsigned count, uint32_t grid)
{
    uint32_t code[LONG * 8 + 1];
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < per; j++)
            code[at++] = words[j];
    code[at++] = 0xbf810000;
    rig *r = rig_simple(model, target, code, at, grid, 64);
    uint64_t result = rig_cycles(r);
    rig_destroy(r);
    return result;
}

/* Cycles per repetition, times 16. */
static uint64_t slope(const char *model, amd_target target, const uint32_t *words, unsigned per, uint32_t grid)
{
    return (cycles(model, target, words, per, LONG, grid) - cycles(model, target, words, per, SHORT, grid)) *
           16 / (LONG - SHORT);
}

#define SLOPE(model, target, grid, ...)                                                                       \
    slope(model, target, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, grid)

static void gcn_rates(void **state)
{
    (void)state;
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0x02020501), 4 * 16);              /* v_add_f32 v1, v1, v2 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0x02060b04), 4 * 16);              /* v_add_f32 v3, v4, v5 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0x7e024501), 16 * 16);             /* v_rcp_f32 v1, v1 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0xd2850001, 0x00020501), 16 * 16); /* v_mul_lo_u32 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0xd2800002, 0x00020902), 32 * 16); /* v_add_f64 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0xd1cc0002, 0x04120902), 64 * 16); /* v_fma_f64 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0x80048104), 4 * 16);              /* s_add_u32 s4, s4, 1 */
}

/* Instructions that only pass time: s_nop takes its number plus one turns of four cycles, s_sleep 64 cycles for each of its
 * number and its own turn. */
static void waits_take_their_number(void **state)
{
    (void)state;
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0xbf800000), 4 * 16);         /* s_nop 0 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0xbf800003), 16 * 16);        /* s_nop 3 */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64, 0xbf8e0004), (4 + 256) * 16); /* s_sleep 4 */
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0xbf800003), 4 * 16);       /* s_nop 3 */
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0xbf850000), 5 * 16);       /* s_cbranch_scc1, not taken */
}

/* Two waves on one SIMD share its vector unit; on two SIMDs they do not. A vector and a scalar chain
 * overlap. */
static void gcn_waves(void **state)
{
    (void)state;
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64 * 4, 0x02020501), 4 * 16);
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64 * 8, 0x02020501), 8 * 16);
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64 * 40, 0x02020501), 40 * 16);
    /* One of each per wave: two waves of a SIMD keep both units busy. */
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64 * 4, 0x02020501, 0x80048104), 8 * 16);
    assert_int_equal(SLOPE("gcn", AMD_GFX803, 64 * 8, 0x02020501, 0x80048104), 8 * 16);
}

/* v_readfirstlane_b32 s4, v0; s_add_u32 s5, s4, s4: the scalar unit reads what the vector unit wrote. */
static void gcn_scalar_wait(void **state)
{
    (void)state;
    for (unsigned extra = 0; extra <= 16; extra += 16) {
        uint64_t took[2];
        for (unsigned i = 0; i < 2; i++) {
            uint32_t code[2 * LONG + 1];
            unsigned count = i == 0 ? SHORT : LONG;
            for (unsigned j = 0; j < count; j++) {
                code[2 * j] = 0x7e080500;
                code[2 * j + 1] = 0x80050404;
            }
            code[2 * count] = 0xbf810000;
            rig *r = rig_create();
            rig_spec(r, "gcn");
            r->spec.scalar_wait_cycles = extra;
            rig_build(r, "gcn", 64, 100);
            rig_program(r, AMD_GFX803, false, code, 2 * count + 1);
            rig_run(r, 64, 64, 0);
            took[i] = rig_cycles(r);
            rig_destroy(r);
        }
        assert_int_equal(took[1] - took[0], (8 + extra) * (LONG - SHORT));
    }
}

/* Straight code of v_add_f32 with an instruction cache of this latency: cycles of one more line of 16
 * instructions. */
static uint64_t line_cycles(uint32_t latency)
{
    uint64_t took[2];
    for (unsigned i = 0; i < 2; i++) {
        static uint32_t code[16 * 48 + 1];
        unsigned count = 16 * (i == 0 ? 16 : 48);
        for (unsigned j = 0; j < count; j++)
            code[j] = 0x02020501;
        code[count] = 0xbf810000;
        rig *r = rig_create();
        rig_spec(r, "gcn");
        rig_build(r, "gcn", 64, 100);
        r->code->latency = latency;
        rig_program(r, AMD_GFX803, false, code, count + 1);
        rig_run(r, 64, 64, 0);
        assert_int_equal(r->cu->counters.fetches, count / 16 + 1);
        took[i] = rig_cycles(r);
        rig_destroy(r);
    }
    return (took[1] - took[0]) / 32;
}

/* A wave requests one line at a time and has room for four. A short latency hides behind 64 cycles of work; a
 * long one is the cost of a line. (An R9 Nano takes 26.6 cycles per v_add_f32 of straight code that misses:
 * 425 per line.) */
static void gcn_straight_code(void **state)
{
    (void)state;
    assert_int_equal(line_cycles(4), 64);
    assert_int_equal(line_cycles(40), 64);
    assert_int_equal(line_cycles(425), 425);
}

static void rdna_rates(void **state)
{
    (void)state;
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0x06020501), 5 * 16); /* v_add_f32 v1, v1, v2 */
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0x06060b05, 0x06080b05, 0x060c0f07, 0x06101309,
                           0x0614170b),
                     5 * 16);
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0x7e025501), 10 * 16); /* v_rcp_f32 v1, v1 */
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0x80048104), 2 * 16);  /* s_add_u32 s4, s4, 1 */
    assert_int_equal(SLOPE("rdna", AMD_GFX1010, 32, 0xd5690001, 0x00020501),
                     8 * 16); /* v_mul_lo_u32 v1, v1, v2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcn_rates),         cmocka_unit_test(waits_take_their_number),
        cmocka_unit_test(gcn_waves),         cmocka_unit_test(gcn_scalar_wait),
        cmocka_unit_test(gcn_straight_code), cmocka_unit_test(rdna_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
