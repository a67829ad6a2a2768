/* Thread blocks of the core: how many fit (warps, registers, shared memory, slots), which slots they take, whose warps
 * a barrier counts, in which order ends are reported, and blocks that are sent ahead. */
#include "model/core_rig.h"

#define BLOCKS 40u

typedef struct bench {
    rig *r;
    ls_cta ctas[BLOCKS];
    ls_cta *rows[BLOCKS];
    ls_core_done ends[BLOCKS]; /* in the order of arrival */
    uint32_t count, at_once;   /* blocks; those sent at the beginning, the others one per end */
    uint32_t sent, ended;
    uint32_t per_core; /* ls_core_launch.ctas_per_core */
} bench;

static void send(bench *b)
{
    ls_core_launch *launch = ls_link_send(b->r->launch, 1);
    assert_non_null(launch);
    *launch = (ls_core_launch){ .block = b->sent++, .number = 1, .ctas_per_core = b->per_core, .cores = 1 };
}

static void begin(void *self, ls_cycle now)
{
    bench *b = self;
    (void)now;
    for (uint32_t i = 0; i < b->at_once; i++)
        send(b);
}

static void block_ends(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    bench *b = self;
    (void)now;
    memcpy(&b->ends[b->ended++], payload, sizeof b->ends[0]);
    ls_link_release(link, 1);
    if (b->sent < b->count)
        send(b);
}

/* The warps of block i are those that the rig has from first[i] on, `each` of them. */
static void add_block(bench *b, uint32_t first, uint32_t each)
{
    ls_cta *cta = &b->ctas[b->count];
    *cta = b->r->cta;
    cta->warps = b->r->warps + first;
    cta->warp_count = each;
    cta->index = b->count;
    b->rows[b->count] = cta;
    b->count++;
    b->at_once = b->per_core = b->count;
}

/* Blocks of `warps` warps with this many registers per thread and bytes of shared memory. */
static ls_status run(bench *b, uint32_t warps, uint32_t registers, uint32_t shared_bytes, ls_error *err)
{
    rig *r = b->r;
    r->done_receiver = (rig_receiver){ block_ends, b };
    rig_build(r);
    r->info = (ls_kernel_info){ .name = (char *)(uintptr_t) "test",
                                .grid = { b->count, 1, 1 },
                                .block = { 32 * warps, 1, 1 },
                                .registers = registers,
                                .shared_bytes = shared_bytes,
                                .binary_version = 86 };
    r->table.kernels[0] = (ls_launch_kernel){ .insts = r->insts, .info = &r->info };
    r->table.blocks = b->rows;
    r->table.block_count = b->count;
    ls_event_init(&r->start, begin, b);
    ls_schedule(ls_domain_region(r->outside, 0), &r->start, 0);
    ls_run_result result;
    return ls_run(r->engine, &(ls_run_options){ .threads = 1 }, &result, err);
}

static bench *bench_create(void)
{
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->r = rig_create();
    return b;
}

static void bench_destroy(bench *b)
{
    rig_destroy(b->r);
    free(b);
}

/* A warp with n dependent instructions. */
static void chain(bench *b, uint32_t n)
{
    if (b->r->inst_count == 0)
        (void)rig_alu(b->r, LS_CLASS_fp32, 5, 5);
    rig_warp(b->r);
    for (uint32_t i = 0; i < n; i++)
        rig_do(b->r, 0);
}

/* --------------------------------------------------------------------------------------------------- limits */

typedef struct limit {
    const char *name;
    uint64_t warp_slots, cta_slots, registers, shared_kib;
    uint32_t warps, registers_each, shared_bytes;
    uint32_t fits;
} limit;

static bool run_limit(const limit *l, uint32_t count)
{
    bench *b = bench_create();
    b->r->spec.warp_slots = l->warp_slots;
    b->r->spec.cta_slots = l->cta_slots;
    b->r->spec.registers = l->registers;
    b->r->spec.shared_kib = l->shared_kib;
    for (uint32_t w = 0; w < l->warps; w++)
        chain(b, 40);
    for (uint32_t i = 0; i < count; i++)
        add_block(b, 0, l->warps);
    ls_error err = { 0 };
    ls_status status = run(b, l->warps, l->registers_each, l->shared_bytes, &err);
    if (status == LS_OK) {
        assert_int_equal(b->ended, count);
        assert_int_equal(b->r->core->n.ctas, count);
        assert_int_equal(b->r->core->blocks.resident, 0);
        assert_int_equal(b->r->core->blocks.taken_warps, 0);
    } else {
        assert_non_null(strstr(err.what, "slot 'dispatch' sent a thread block to a core that has no room"));
    }
    bench_destroy(b);
    return status == LS_OK;
}

static void a_block_needs_warps_registers_and_shared_memory(void **state)
{
    (void)state;
    static const limit limits[] = {
        { "warps", 32, 32, 65536, 96, 4, 16, 0, 8 },
        { "warps that leave a rest", 32, 32, 65536, 96, 5, 16, 0, 6 },
        { "slots", 64, 7, 65536, 96, 2, 16, 0, 7 },
        { "registers", 64, 32, 65536, 96, 4, 64, 0, 8 },
        { "registers, rounded up", 64, 32, 65536, 96, 4, 49, 0, 9 }, /* 52 * 128 each; ten would fit with 49 */
        { "shared memory", 64, 32, 65536, 96, 1, 16, 16 * 1024, 6 },
        { "shared memory and one byte", 64, 32, 65536, 96, 1, 16, 16 * 1024 + 1, 5 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(limits); i++) {
        if (!run_limit(&limits[i], limits[i].fits) || run_limit(&limits[i], limits[i].fits + 1))
            fail_msg("%s: not exactly %u blocks", limits[i].name, limits[i].fits);
    }
}

/* A block's warps have slots side by side. Blocks 0 and 2 end early, so two holes of two slots are free. A block of
 * two warps fits, a block of four does not. */
static void a_block_takes_slots_side_by_side(void **state)
{
    (void)state;
    bench *b = bench_create();
    b->r->spec.warp_slots = 8;
    for (uint32_t i = 0; i < 4; i++) {
        chain(b, i % 2 == 0 ? 4 : 60);
        chain(b, i % 2 == 0 ? 4 : 60);
    }
    chain(b, 70);
    chain(b, 70);
    for (uint32_t i = 0; i < 5; i++)
        add_block(b, 2 * i, 2);
    b->at_once = 4;
    ls_error err = { 0 };
    assert_int_equal(run(b, 2, 16, 0, &err), LS_OK);
    assert_int_equal(b->ended, 5);
    /* The fifth had the slots of the first, before the long ones had ended. */
    assert_int_equal(b->ends[4].block, 4);
    assert_true(b->ends[4].start < b->ends[2].cycle);
    assert_int_equal(b->r->core->blocks.at[0].launch.block, 4);
    assert_int_equal(b->r->core->blocks.at[0].first_warp, 0);
    bench_destroy(b);
}

/* ------------------------------------------------------------------------------------- barriers and release */

/* Block 0: its second warp comes to the barrier after `late` instructions. Block 1: four arrivals of its own warps,
 * which must not count for block 0. */
static void a_barrier_counts_warps_of_its_own_block(void **state)
{
    (void)state;
    uint64_t ends[2][2];
    for (uint32_t k = 0; k < 2; k++) {
        bench *b = bench_create();
        uint32_t add = rig_alu(b->r, LS_CLASS_fp32, 5, 5);
        uint32_t barrier = rig_flag(b->r, LS_CLASS_barrier, LS_INST_BARRIER, 0);
        for (uint32_t w = 0; w < 4; w++) {
            rig_warp(b->r);
            for (uint32_t i = 0; w == 1 && i < 40 + 10 * k; i++)
                rig_do(b->r, add);
            rig_do(b->r, barrier);
            if (w < 2)
                for (uint32_t i = 0; i < 20; i++)
                    rig_do(b->r, add);
            else
                rig_do(b->r, barrier);
        }
        add_block(b, 0, 2);
        add_block(b, 2, 2);
        ls_error err = { 0 };
        assert_int_equal(run(b, 2, 16, 0, &err), LS_OK);
        assert_int_equal(b->ends[0].block, 1);
        assert_int_equal(b->ends[1].block, 0);
        for (uint32_t i = 0; i < 2; i++)
            ends[k][i] = b->ends[i].cycle - b->ends[i].start;
        bench_destroy(b);
    }
    assert_true(ends[0][0] < 60);
    assert_int_equal(ends[1][0], ends[0][0]);
    assert_int_equal(ends[1][1] - ends[0][1], 10 * 9); /* ten dependent instructions more before the barrier */
    assert_true(ends[0][1] > 60 * 9);
}

/* Ends are reported in the order in which blocks end, not in the order of their starts. */
static void ends_are_reported_as_they_happen(void **state)
{
    (void)state;
    static const uint32_t lengths[] = { 50, 10, 40, 20, 30 }, order[] = { 1, 3, 4, 2, 0 };
    for (core_alu_model alu = ALU_CYCLE; alu <= ALU_ISSUE; alu++) {
        bench *b = bench_create();
        b->r->spec.alu = alu;
        for (uint32_t i = 0; i < 5; i++)
            chain(b, lengths[i]);
        for (uint32_t i = 0; i < 5; i++)
            add_block(b, i, 1);
        ls_error err = { 0 };
        assert_int_equal(run(b, 1, 16, 0, &err), LS_OK);
        for (uint32_t i = 0; i < 5; i++) {
            assert_int_equal(b->ends[i].block, order[i]);
            if (i > 0)
                assert_in_range(b->ends[i].cycle - b->ends[i - 1].cycle, 10 * 9 - 5, 10 * 9 + 5);
        }
        bench_destroy(b);
    }
}

/* --------------------------------------------------------------------------------------------- blocks ahead */

/* One block fits; the others wait at the core. Each starts `delay` cycles after the one before has ended. */
static void a_block_that_was_sent_ahead_follows_after_the_delay(void **state)
{
    (void)state;
    for (uint32_t delay = 1; delay <= 31; delay += 15) {
        bench *b = bench_create();
        b->r->spec.cta_slots = 1;
        b->r->refill_cycles = delay;
        chain(b, 12);
        for (uint32_t i = 0; i < 6; i++)
            add_block(b, 0, 1);
        b->per_core = 1;
        ls_error err = { 0 };
        assert_int_equal(run(b, 1, 16, 0, &err), LS_OK);
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(b->ends[i].block, i);
            if (i > 0)
                assert_int_equal(b->ends[i].start, b->ends[i - 1].cycle + delay);
        }
        bench_destroy(b);
    }
}

/* Warps start `warp_start_cycles` apart, and none before cold_start_cycles after the first block of the kernel. */
static void warps_start_one_after_another(void **state)
{
    (void)state;
    uint64_t ends[3];
    for (uint32_t k = 0; k < 3; k++) {
        bench *b = bench_create();
        b->r->spec.warp_start_cycles = k == 1 ? 50 : 0;
        b->r->spec.cold_start_cycles = k == 2 ? 300 : 0;
        for (uint32_t w = 0; w < 4; w++)
            chain(b, 10);
        add_block(b, 0, 4);
        ls_error err = { 0 };
        assert_int_equal(run(b, 4, 16, 0, &err), LS_OK);
        ends[k] = b->ends[0].cycle - b->ends[0].start;
        bench_destroy(b);
    }
    /* Four warps at once fetch in turn, so the last is up to three cycles behind the first. */
    assert_in_range(ends[1] - ends[0], 3 * 50 - 3, 3 * 50);
    assert_int_equal(ends[2] - ends[0], 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_needs_warps_registers_and_shared_memory),
        cmocka_unit_test(a_block_takes_slots_side_by_side),
        cmocka_unit_test(a_barrier_counts_warps_of_its_own_block),
        cmocka_unit_test(ends_are_reported_as_they_happen),
        cmocka_unit_test(a_block_that_was_sent_ahead_follows_after_the_delay),
        cmocka_unit_test(warps_start_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
