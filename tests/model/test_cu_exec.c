/* test_cu_exec.c: waves that execute for a compute unit of a plug-in (lockstep/cu_exec.h): instructions and what is told of
 * them, data of messages, atomics, counters, barriers, faults, limits. The memory here answers at once, or when all
 * waves wait, in reverse order. */
#include "cu_rig.h"

#include "lockstep/cu_exec.h"

/* Words are made with llvm-mc from the comments above them. data[64K + i] = data[i] + 1: s_load_dwordx2 s[4:5], s[0:1], 0x0;
 * s_lshl_b32 s6, s2, 6; v_add_u32 v0, vcc, s6, v0; v_lshlrev_b32 v1, 2, v0; s_waitcnt lgkmcnt(0); v_mov_b32 v2, s5;
 * v_add_u32 v1, vcc, s4, v1; v_addc_u32 v2, vcc, 0, v2, vcc; flat_load_dword v3, v[1:2]; v_add_u32 v4, vcc, 0x10000, v1;
 * v_addc_u32 v5, vcc, 0, v2, vcc; s_waitcnt vmcnt(0) lgkmcnt(0); v_add_u32 v3, vcc, 1, v3; flat_store_dword v[4:5], v3;
 * s_endpgm */
static const uint32_t increment8[] = {
    0xc0060100, 0x00000000, 0x8e068602, 0x32000006, 0x24020082, 0xbf8c007f, 0x7e040205,
    0x32020204, 0x38040480, 0xdc500000, 0x03000001, 0x320802ff, 0x00010000, 0x380a0480,
    0xbf8c0070, 0x32060681, 0xdc700000, 0x00000304, 0xbf810000,
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
/* All but the first wave: s_sleep 4; then s_barrier; s_endpgm */
static const uint32_t barrier8[] = {
    0x7e080500, 0xbf068004, 0xbf850001, 0xbf8e0004, 0xbf8a0000, 0xbf810000,
};
#define WORDS(name) name, sizeof(name) / sizeof(name)[0]

typedef struct toy {
    uint32_t unused;
} toy;
static const ls_block_type toy_type = {
    .abi = LS_ABI_VERSION, .slot = "toy", .name = "toy", .help = "a place for waves", .state_size = sizeof(toy)
};

typedef struct bench {
    rig *r;
    ls_cu_exec *exec;
    ls_cu_launch launch;
    uint32_t line_bytes, waves;
    bool late;               /* answers come when no wave can step, the last request first */
    bool unmapped, canceled; /* every answer is a fault; the kernel is cancelled at the first access */
    ls_line_message held[256];
    uint32_t held_count, messages, results[LS_CU_IDLE + 1];
    ls_cu_step first_access;
} bench;

static void answer(bench *b, ls_line_message *m)
{
    uint8_t *line = address_space_host(b->r->address_space, m->address, b->line_bytes);
    if (b->unmapped) {
        m->flags |= LS_LINE_FAULT;
    } else if (m->kind == LS_LINE_READ) {
        memcpy(m->data, line, b->line_bytes);
    } else if (m->kind == LS_LINE_WRITE) {
        for (uint32_t i = 0; i < b->line_bytes; i++)
            if (m->mask[i / 64] >> i % 64 & 1)
                line[i] = m->data[i];
    } else if (m->kind == LS_LINE_ATOMIC) {
        (void)ls_line_atomic(m, line);
    }
    (void)ls_cu_exec_reply(b->exec, m);
}

static void access_begins(bench *b, const ls_cu_step *step)
{
    if (b->messages == 0)
        b->first_access = *step;
    for (uint32_t i = 0; i < step->messages; i++) {
        assert_true(b->held_count < LS_COUNT_OF(b->held));
        ls_cu_exec_message(b->exec, step->access, i, &b->held[b->held_count]);
        b->messages++;
        if (b->late)
            b->held_count++;
        else
            answer(b, &b->held[b->held_count]);
    }
    if (b->canceled)
        ls_cu_exec_cancel(b->exec, 0);
}

static void run_waves(void *self, ls_cycle now)
{
    bench *b = self;
    ls_cu_exec_start(b->exec, &b->launch);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < b->waves; i++) {
            ls_cu_step step;
            ls_cu_inst next;
            bool has = ls_cu_exec_peek(b->exec, ls_cu_exec_wave(b->launch.slot, i), &next);
            ls_cu_result result = ls_cu_exec_step(b->exec, ls_cu_exec_wave(b->launch.slot, i), now, &step);
            assert_int_equal(has, result != LS_CU_IDLE);
            if (has)
                assert_memory_equal(&next, &step.inst, sizeof next);
            b->results[result]++;
            if (result == LS_CU_ACCESS)
                access_begins(b, &step);
            moved |= result != LS_CU_IDLE && result != LS_CU_WAITS;
        }
        if (!moved && b->held_count > 0) {
            answer(b, &b->held[--b->held_count]);
            moved = true;
        }
    }
}

static void report(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rig *r = self;
    (void)now;
    memcpy(&r->last, payload, sizeof r->last);
    r->done++;
    ls_link_release(link, 1);
}

static bench *bench_create(amd_target target, const uint32_t *words, size_t count, uint32_t line_bytes,
                           uint32_t waves)
{
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->r = rig_create();
    b->line_bytes = line_bytes;
    b->waves = waves;
    rig_program(b->r, target, false, words, count);
    return b;
}

static void bench_run(bench *b)
{
    rig *r = b->r;
    ls_clock clock;
    ls_block *block;
    ls_error err = { 0 };
    uint32_t items = b->waves * r->program->lanes;
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ RIG_HZ, 1 }, NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "command", clock, &r->command, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "cluster", clock, &r->cluster, NULL), LS_OK);
    ls_region *region = ls_domain_region(r->cluster, 0);
    assert_int_equal(ls_block_create(region, "toy", &toy_type, NULL, &block, NULL), LS_OK);
    ls_link_spec up = { .name = "reports",
                        .from = region,
                        .to = ls_domain_region(r->command, 0),
                        .latency_cycles = RIG_WIRE,
                        .credits = 4,
                        .payload_bytes = sizeof(ls_cu_done),
                        .receive = report,
                        .receiver = r };
    assert_int_equal(ls_link_create(r->engine, &up, &r->reports, NULL), LS_OK);
    r->kernel = (ls_cu_kernel){ .program = r->program,
                                .code = r->timing,
                                .dims = 1,
                                .grid = { items, 1, 1 },
                                .group = { items, 1, 1 },
                                .kernarg = r->args,
                                .max_instructions = r->kernel.max_instructions };
    r->kernels.at[0] = &r->kernel;
    const ls_cu_capacity capacity = { .simds = 4, .waves_per_simd = 10, .groups = 8 };
    const ls_cu_wiring wiring = { .cluster = 3, .index = 2, .to_command = r->reports, .kernels = &r->kernels };
    assert_int_equal(ls_cu_exec_create(block, &wiring, &capacity, 48, &b->exec, &err), LS_ERR_INPUT);
    assert_int_equal(ls_cu_exec_create(block, &wiring, &capacity, b->line_bytes, &b->exec, &err), LS_OK);
    b->launch = (ls_cu_launch){ .slot = 5, .wave_count = (uint16_t)b->waves };
    ls_event_init(&r->start, run_waves, b);
    ls_schedule(region, &r->start, 0);
    assert_int_equal(ls_run(r->engine, &(ls_run_options){ .threads = 1 }, &r->result, &err), LS_OK);
    assert_int_equal(r->done, 1);
    assert_int_equal(r->last.slot, 5);
    assert_int_equal(r->last.cluster, 3);
    assert_int_equal(r->last.cu, 2);
}

static void bench_destroy(bench *b)
{
    rig_destroy(b->r);
    free(b);
}

/* ---------------------------------------------------------------------------------------------------- tests */

static void loads_and_stores_move_data(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        bench *b = bench_create(AMD_GFX803, WORDS(increment8), k < 2 ? 64 : 128, 4);
        b->late = k % 2 == 1;
        uint32_t *data = rig_data(b->r);
        for (uint32_t i = 0; i < 256; i++)
            data[i] = 1000 + 7 * i;
        bench_run(b);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(data[16384 + i], 1001 + 7 * i);
        /* A scalar load of 8 bytes, then a load and a store of 256 bytes, of each wave. */
        assert_int_equal(b->messages, 4 * (1 + 2 * 256 / b->line_bytes));
        assert_int_equal(b->first_access.scalar, true);
        assert_int_equal(b->first_access.piece_bytes, 8);
        assert_true(b->first_access.addresses != NULL && b->first_access.inst.pc == b->r->code_at);
        assert_int_equal(b->r->last.fault.kind, LS_FAULT_NONE);
        assert_int_equal(b->r->last.tally.instructions, 4 * 15);
        assert_int_equal(b->r->last.tally.stores, 256);
        assert_int_equal(b->results[LS_CU_ENDED], 4);
        /* s_waitcnt holds a wave while its data is away, and only then. */
        assert_int_equal(b->results[LS_CU_WAITS] > 0, b->late);
        bench_destroy(b);
    }
}

static void instructions_name_their_registers(void **state)
{
    (void)state;
    bench *b = bench_create(AMD_GFX803, WORDS(increment8), 64, 1);
    bench_run(b);
    const ls_cu_inst *load = &b->first_access.inst; /* s_load_dwordx2 s[4:5], s[0:1] */
    assert_int_equal(load->unit, LS_CU_UNIT_SCALAR);
    assert_int_equal(load->bytes, 8);
    assert_true(load->read_count >= 1 && load->write_count == 1);
    assert_int_equal(load->reads[0].first, 0);
    assert_int_equal(load->reads[0].last, 1);
    assert_int_equal(load->writes[0].first, 4);
    assert_int_equal(load->writes[0].last, 5);
    bench_destroy(b);
}

static void atomics_happen_once_per_lane(void **state)
{
    (void)state;
    bench *b = bench_create(AMD_GFX803, WORDS(count8), 64, 1);
    bench_run(b);
    const uint32_t *data = rig_data(b->r);
    uint32_t seen[4] = { 0 };
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(data[i], 16);
    for (uint32_t lane = 0; lane < 64; lane++) { /* lanes of one word see each other's sums, in their order */
        assert_int_equal(data[16384 + lane], seen[lane % 4]);
        seen[lane % 4]++;
    }
    bench_destroy(b);
    b = bench_create(AMD_GFX1030, WORDS(swap10), 128, 1);
    uint32_t *words = rig_data(b->r);
    for (uint32_t i = 0; i < 32; i++)
        words[i] = i % 2 == 0 ? i : 5000 + i;
    bench_run(b);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(words[i], i % 2 == 0 ? i + 100 : 5000 + i);
        assert_int_equal(words[16384 + i], i % 2 == 0 ? i : 5000 + i);
    }
    bench_destroy(b);
}

static void waves_meet_at_a_barrier(void **state)
{
    (void)state;
    bench *b = bench_create(AMD_GFX803, WORDS(barrier8), 64, 6);
    bench_run(b);
    assert_int_equal(b->results[LS_CU_BARRIER], 6);
    assert_int_equal(b->r->last.tally.barriers, 1);
    assert_int_equal(b->results[LS_CU_ENDED], 6);
    /* Until the last one has come, those at the barrier have no instruction. */
    assert_true(b->results[LS_CU_IDLE] >= 5);
    bench_destroy(b);
}

static void faults_limits_and_cancelling_end_the_work_group(void **state)
{
    (void)state;
    bench *b = bench_create(AMD_GFX803, WORDS(increment8), 64, 3);
    b->unmapped = b->late = true;
    bench_run(b);
    assert_int_equal(b->r->last.fault.kind, LS_FAULT_UNMAPPED);
    assert_int_equal(b->r->last.fault_pc, b->r->code_at);
    assert_int_equal(b->results[LS_CU_ENDED], 0);
    bench_destroy(b);
    b = bench_create(AMD_GFX803, WORDS(increment8), 64, 1);
    b->r->kernel.max_instructions = 5;
    bench_run(b);
    assert_int_equal(b->r->last.fault.kind, LS_FAULT_LIMIT);
    assert_int_equal(b->r->last.tally.instructions, 5);
    bench_destroy(b);
    b = bench_create(AMD_GFX803, WORDS(increment8), 64, 2);
    b->late = b->canceled = true;
    bench_run(b);
    assert_int_equal(b->r->last.fault.kind, LS_FAULT_NONE);
    assert_int_equal(b->messages, 1); /* and its answer was waited for */
    bench_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_move_data),
        cmocka_unit_test(instructions_name_their_registers),
        cmocka_unit_test(atomics_happen_once_per_lane),
        cmocka_unit_test(waves_meet_at_a_barrier),
        cmocka_unit_test(faults_limits_and_cancelling_end_the_work_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
