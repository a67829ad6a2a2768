/* test_cu_group.c: work-groups in a compute unit: private memory of each, FLAT accesses to LDS and to memory
 * at once, cancelled kernels, priorities, sleep. Also their counters after their end. */
#include "cu_rig.h"

#define WORDS(name) name, sizeof(name) / sizeof(name)[0]

/* v4 to v7 are the lane's number and the next three; scratch_store_dwordx4 v1, v[4:7], off;
 * scratch_load_dwordx4 v[8:11], v1, off; global_store_dwordx4 v2, v[8:11], s[4:5] to 16 * item + 1024 *
 * work-group */
static const uint32_t scratch10[] = {
    0x7e080300, 0x4a0a0081, 0x4a0c0082, 0x4a0e0083, 0x7e020290, 0xdc784000, 0x007d0401,
    0xf4040100, 0xfa000000, 0xbbfd0000, 0xdc384000, 0x087d0001, 0x34040084, 0x8f068a02,
    0xbf8c0070, 0x4a040406, 0xdc788000, 0x00040802, 0xbf810000,
};

static void private_memory(void **state)
{
    (void)state;
    for (unsigned gcn = 0; gcn < 2; gcn++) {
        const char *model = gcn ? "gcn" : "rdna";
        rig *r = rig_create();
        rig_spec(r, model);
        rig_build(r, model, 128, 60);
        rig_program(r, AMD_GFX1030, false, WORDS(scratch10));
        r->scratch_bytes = 48;
        rig_run(r, 64 * 100, 64, 0);
        assert_int_equal(r->fault.kind, LS_FAULT_NONE);
        const uint32_t *out = rig_data(r);
        for (uint32_t i = 0; i < 64 * 100; i++)
            for (uint32_t j = 0; j < 4; j++)
                assert_int_equal(out[i * 4 + j], i % 64 + j);
        rig_destroy(r);
    }
}

/* Even lanes: word lane of LDS, odd ones: word lane of the data. flat_store_dword v[7:8], v9 (100 + lane);
 * flat_load_dword v10, v[7:8]; flat_store_dword v[11:12], v10 to data + 64K */
static const uint32_t flat8[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24020082, 0x26040081, 0x7d940481, 0xbf8c007f, 0x7e060204,
    0x7e080205, 0x7e0a0280, 0x7e0c02ff, 0x00010000, 0x000e0705, 0x00100906, 0x320e0307, 0x321200ff,
    0x00000064, 0xdc700000, 0x00000907, 0xbf8c0070, 0xdc500000, 0x0a000007, 0x32160303, 0x321616ff,
    0x00010000, 0x7e180304, 0xbf8c0070, 0xdc700000, 0x00000a0b, 0xbf810000,
};

static void flat(void **state)
{
    (void)state;
    rig *r = rig_create();
    rig_spec(r, "gcn");
    rig_build(r, "gcn", 64, 60);
    rig_program(r, AMD_GFX803, false, WORDS(flat8));
    rig_run(r, 64, 64, 256);
    assert_int_equal(r->fault.kind, LS_FAULT_NONE);
    const uint32_t *data = rig_data(r);
    for (uint32_t lane = 0; lane < 64; lane++) {
        assert_int_equal(data[16384 + lane], 100 + lane);
        assert_int_equal(data[lane], lane & 1 ? 100 + lane : 0);
    }
    rig_destroy(r);
}

typedef struct canceller {
    ls_event event;
    rig *r;
} canceller;

static void cancel_now(void *self, ls_cycle now)
{
    canceller *k = self;
    cu_cancel(k->r->cu, 0, now);
}

/* s_branch to itself: only a cancelled kernel ends. */
static void cancelled(void **state)
{
    (void)state;
    static const uint32_t forever8[] = { 0xbf82ffff };
    canceller k = { 0 };
    rig *r = rig_create();
    rig_spec(r, "gcn");
    rig_build(r, "gcn", 64, 60);
    rig_program(r, AMD_GFX803, false, WORDS(forever8));
    k.r = r;
    ls_event_init(&k.event, cancel_now, &k);
    ls_schedule_at(ls_domain_region(r->cluster, 0), &k.event, 5000);
    rig_run(r, 64 * 20, 64, 0);
    assert_int_equal(r->fault.kind, LS_FAULT_NONE);
    assert_in_range(r->last_done, 5000 + RIG_WIRE, 5000 + 10 * RIG_WIRE);
    assert_true(r->tally.instructions > 1000);
    assert_int_equal(r->cu->resident, 0);
    assert_int_equal(r->cu->counters.work_groups, 20);
    rig_destroy(r);
}

/* The second wave of a SIMD says s_setprio 3 first and then has its chain done before the first. */
static void priority(void **state)
{
    (void)state;
    /* v_readfirstlane_b32 s4, v0; s_cmp_eq_u32 s4, 0; s_cbranch_scc1 over s_setprio 3; s_nop 15 (until both
     * are there); 64 times v_add_f32 v1, v1, v2; s_memtime s[8:9]; s_load_dwordx2 s[10:11], s[0:1], 0x0;
     * s_waitcnt lgkmcnt(0); v_lshlrev_b32 v0, 2, v0; v_mov_b32 v3, s8; v_mov_b32 v6, s11; v_add_u32 v5, vcc,
     * s10, v0; flat_store_dword v[5:6], v3; s_endpgm */
    uint32_t words[81] = { 0x7e080500, 0xbf068004, 0xbf850001, 0xbf8f0003, 0xbf80000f };
    unsigned at = 5;
    for (unsigned i = 0; i < 64; i++)
        words[at++] = 0x02020501;
    static const uint32_t end[] = { 0xc0900200, 0x00000000, 0xc0060280, 0x00000000, 0xbf8c007f, 0x24000082,
                                    0x7e060208, 0x7e0c020b, 0x320a000a, 0xdc700000, 0x00000305 };
    memcpy(words + at, end, sizeof end);
    at += sizeof end / 4;
    words[at++] = 0xbf810000;
    rig *r = rig_create();
    rig_spec(r, "gcn");
    r->spec.simds = r->spec.turn_cycles = 1;
    rig_build(r, "gcn", 64, 20);
    rig_program(r, AMD_GFX803, false, words, at);
    rig_run(r, 128, 128, 0);
    assert_int_equal(r->fault.kind, LS_FAULT_NONE);
    const uint32_t *time = rig_data(r);
    assert_true(time[0] != 0 && time[64] != 0);
    assert_true(time[64] + 200 < time[0]); /* 64 instructions of 4 cycles later */
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_memory),
        cmocka_unit_test(flat),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
