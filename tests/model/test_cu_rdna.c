/* test_cu_rdna.c: differences of dual compute units: results that take longer than the next instruction, the
 * transcendental unit, wave64 in two passes. Also other instruction sets on them, clauses, vscnt, explicit
 * invalidates, and loads that return in order on either core. */
#include "cu_rig.h"

#define TRANS_LATENCY 10u /* the default of trans_latency_cycles */
#define WORDS(name) name, sizeof(name) / sizeof(name)[0]

static uint64_t cycles(const char *model, amd_target target, bool wave64, const uint32_t *words, unsigned per,
                       unsigned count, uint32_t waves, uint64_t simds)
{
    uint32_t code[96 * 8 + 1];
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < per; j++)
            code[at++] = words[j];
    code[at++] = 0xbf810000;
    rig *r = rig_create();
    rig_spec(r, model);
    r->spec.simds = simds;
    r->spec.halves = simds < 2 ? 1 : r->spec.halves;
    rig_build(r, model, 128, 100);
    rig_program(r, target, wave64, code, at);
    uint32_t group = r->program->lanes;
    rig_run(r, group * waves, group, 0);
    uint64_t result = rig_cycles(r);
    rig_destroy(r);
    return result;
}

/* Cycles of 64 more repetitions. */
static uint64_t more(const char *model, amd_target target, bool wave64, const uint32_t *words, unsigned per,
                     uint32_t waves, uint64_t simds)
{
    return cycles(model, target, wave64, words, per, 96, waves, simds) -
           cycles(model, target, wave64, words, per, 32, waves, simds);
}

#define MORE(target, wave64, waves, ...)                                                                      \
    more("rdna", target, wave64, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4,  \
         waves, 1)

/* v_add_f32 v3, v5, v5 and the like: none reads what another writes */
#define APART 0x06060b05, 0x06080b05, 0x060c0f07, 0x06101309, 0x0614170b

static void passes(void **state)
{
    (void)state;
    assert_int_equal(MORE(AMD_GFX1010, false, 1, APART), 64 * 5);
    assert_int_equal(MORE(AMD_GFX1010, true, 1, APART), 64 * 10);
    assert_int_equal(MORE(AMD_GFX1010, true, 1, 0x06020501), 64 * 5); /* v_add_f32 v1, v1, v2 */
    /* Other waves fill the gaps of a chain: five fit into one latency. */
    assert_int_equal(MORE(AMD_GFX1010, false, 5, 0x06020501), 64 * 5);
    assert_in_range(MORE(AMD_GFX1010, false, 10, 0x06020501), 64 * 10, 64 * 11); /* fetches get in between */
    /* GCN3's waves of 64 on it, and waves of 32 on a GCN compute unit. */
    assert_int_equal(MORE(AMD_GFX803, false, 1, 0x02020501), 64 * 5);
    /* Five of them: the three oldest keep the unit busy (two cycles each, so a chain continues after six).
     * Then two are left, which wait for a result of five cycles. */
    assert_int_equal(MORE(AMD_GFX803, false, 5, 0x02020501), 64 * (6 + 5));
    assert_int_equal(more("gcn", AMD_GFX1010, false, (const uint32_t[]){ 0x06020501 }, 1, 1, 4), 64 * 4);
}

static void transcendental(void **state)
{
    (void)state;
    /* v_rcp_f32 v3, v5; v_rcp_f32 v4, v5: one in four cycles */
    assert_int_equal(MORE(AMD_GFX1010, false, 1, 0x7e065505, 0x7e085505), 64 * 8);
    /* v_rcp_f32 v3, v5 and three additions of others: side by side */
    assert_int_equal(MORE(AMD_GFX1010, false, 1, 0x7e065505, 0x060c0f07, 0x06101309, 0x0614170b), 64 * 4);
}

/* v_rcp_f32 v3, v5, some additions of others, then v_add_f32 v3, v5, v5: its result comes in five cycles, and not before
 * the one of v_rcp_f32. */
static void write_after_write(void **state)
{
    (void)state;
    static const uint32_t words[] = { 0x7e065505, 0x06080b05, 0x060c0f07, 0x06101309, 0x0614170b };
    for (uint32_t others = 1; others <= 4; others++) {
        uint32_t code[6];
        memcpy(code, words, sizeof words);
        code[1 + others] = 0x06060b05;
        uint32_t held = TRANS_LATENCY - 5, free_at = others + 1;
        assert_int_equal(more("rdna", AMD_GFX1010, false, code, others + 2, 1, 1),
                         64 * ((held > free_at ? held : free_at) + 1));
    }
}

/* Dwords eight bytes apart, the last one at the end of a line: s_load_dwordx2 s[4:5], s[0:1], 0x0; v_lshlrev_b32 v1, 3,
 * v0; s_waitcnt lgkmcnt(0); global_load_dword v2, v1, s[4:5] offset:4; s_waitcnt vmcnt(0); s_endpgm */
static void up_to_the_end_of_a_line(void **state)
{
    (void)state;
    static const uint32_t words[] = { 0xf4040100, 0xfa000000, 0x34020083, 0xbf8cc07f,
                                      0xdc308004, 0x02040001, 0xbf8c3f70, 0xbf810000 };
    rig *r = rig_simple("rdna", AMD_GFX1010, WORDS(words), 32, 32);
    assert_int_equal(r->vector[0]->reads + r->vector[1]->reads, 2);
    rig_destroy(r);
}

/* s_load_dwordx2 s[4:5], s[0:1], 0x0; v_and_b32 v1, 0xffffffe0, v0; v_lshlrev_b32 v1, 7, v1; s_waitcnt
 * lgkmcnt(0); s_clause 0x1 (or s_nop 0); global_load_dword v2, v1, s[4:5]; global_load_dword v3, v1,
 * s[4:5] offset:256; s_waitcnt vmcnt(0); s_endpgm */
static void clause(void **state)
{
    (void)state;
    for (unsigned with = 0; with < 2; with++) {
        const uint32_t words[] = {
            0xf4040100,
            0xfa000000,
            0x360200ff,
            0xffffffe0,
            0x34020287,
            0xbf8cc07f,
            with ? 0xbfa10001 : 0xbf800000,
            0xdc308000,
            0x02040001,
            0xdc308100,
            0x03040001,
            0xbf8c3f70,
            0xbf810000,
        };
        rig *r = rig_create();
        rig_spec(r, "rdna");
        r->spec.simds = r->spec.halves = 1;
        r->policy = "lrr";
        rig_build(r, "rdna", 128, 100);
        rig_program(r, AMD_GFX1010, false, WORDS(words));
        rig_run(r, 64, 64, 0);
        const uint64_t *log = r->vector[0]->log;
        assert_int_equal(r->vector[0]->logged, 4);
        uint64_t first = log[0], other = 2 * r->data + 4096 - first; /* of either wave */
        const uint64_t apart[] = { first, other, first + 256, other + 256 };
        const uint64_t together[] = { first, first + 256, other, other + 256 };
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(log[i], with ? together[i] : apart[i]);
        rig_destroy(r);
    }
}

/* global_load_dword v2, v1, s[4:5]; global_load_dword v3, v1, s[4:5] offset:1024; s_waitcnt vmcnt(1); v2
 * is stored: the first one is slow, so the second one waits for it. */
static void in_order(void **state)
{
    (void)state;
    static const uint32_t words[] = {
        0xf4040100, 0xfa000000, 0x34020082, 0xbf8cc07f, 0xdc308000, 0x02040001, 0xdc308400,
        0x03040001, 0xbf8c3f71, 0x4a0802ff, 0x00010000, 0xdc708000, 0x00040204, 0xbf810000,
    };
    for (unsigned gcn = 0; gcn < 2; gcn++) {
        const char *model = gcn ? "gcn" : "rdna";
        rig *r = rig_create();
        rig_spec(r, model);
        rig_build(r, model, 128, 50);
        rig_program(r, AMD_GFX1010, false, WORDS(words));
        r->vector[0]->slow_end = r->data + 512;
        r->vector[0]->slow_latency = 700;
        for (uint32_t i = 0; i < 1024; i++)
            rig_data(r)[i] = 7 * i;
        rig_run(r, 32, 32, 0);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(rig_data(r)[16384 + i], 7 * i);
        assert_true(rig_cycles(r) > 700);
        assert_int_equal(r->cu->counters.vector_loads, 2);
        assert_true(r->cu->counters.vector_load_cycles > 2 * 700 - 10);
        rig_destroy(r);
    }
}

/* global_store_dword; s_waitcnt_vscnt null, 0x0; buffer_gl0_inv; buffer_gl1_inv; global_load_dword;
 * s_waitcnt vmcnt(0); s_dcache_inv; s_endpgm */
static void stores_and_invalidates(void **state)
{
    (void)state;
    static const uint32_t words[] = {
        0xf4040100, 0xfa000000, 0x34020082, 0xbf8cc07f, 0xdc708000, 0x00040001,
        0xbbfd0000, 0xe1c40000, 0x00000000, 0xe1c80000, 0x00000000, 0xdc308000,
        0x02040001, 0xbf8c3f70, 0xf4800000, 0x00000000, 0xbf810000,
    };
    rig *r = rig_simple("rdna", AMD_GFX1010, WORDS(words), 32, 32);
    assert_int_equal(r->vector[0]->invalidates, 2);
    assert_int_equal(r->scalar->invalidates, 1);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(rig_data(r)[i], i);
    assert_true(r->cu->counters.stall[CU_WHY_VS] >= 100); /* the store's time */
    assert_true(r->cu->counters.stall[CU_WHY_VM] >= 100);
    assert_int_equal(r->vector[0]->log[0], r->data);
    assert_int_equal(r->vector[0]->log[3], r->data); /* after both invalidates */
    rig_destroy(r);
}

/* s_memtime twice: the difference is stored. */
static void clocks(void **state)
{
    (void)state;
    static const uint32_t words[] = {
        0xc0900200, 0x00000000, 0xbf8c007f, 0xc0900280, 0x00000000, 0xbf8c007f, 0x808c080a, 0xc0060100,
        0x00000000, 0xbf8c007f, 0x7e020204, 0x7e040205, 0x7e06020c, 0xdc700000, 0x00000301, 0xbf810000,
    };
    rig *r = rig_simple("gcn", AMD_GFX803, WORDS(words), 1, 1);
    /* 40 cycles to read a clock, up to a turn until it is noticed, a turn for s_waitcnt. */
    assert_in_range(rig_data(r)[0], 44, 48);
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),
        cmocka_unit_test(transcendental),
        cmocka_unit_test(write_after_write),
        cmocka_unit_test(up_to_the_end_of_a_line),
        cmocka_unit_test(clause),
        cmocka_unit_test(in_order),
        cmocka_unit_test(stores_and_invalidates),
        cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
