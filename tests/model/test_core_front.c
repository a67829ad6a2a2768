/* Front end of the core: scoreboard, issue, units, barriers. Expected cycles are closed forms of latency,
 * interval and the length of the program; other costs of a block cancel in differences of two runs. */
#include "model/core_rig.h"

/* Cycles of n instructions of one warp; each reads the result of the one before. */
static uint64_t chain(uint32_t n, uint64_t latency, uint64_t forward)
{
    rig *r = rig_create();
    r->spec.classes[LS_CLASS_fp32].latency_cycles = latency;
    r->spec.forward_cycles = forward;
    uint32_t add = rig_alu(r, LS_CLASS_fp32, 5, 5);
    for (uint32_t i = 0; i < n; i++)
        rig_do(r, add);
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void a_dependent_chain_costs_n_latencies(void **state)
{
    (void)state;
    static const uint64_t latencies[] = { 8, 13, 29, 70 };
    for (size_t i = 0; i < LS_COUNT_OF(latencies); i++) {
        uint64_t one = chain(1, latencies[i], 0);
        assert_int_equal(chain(11, latencies[i], 0) - one, 10 * (latencies[i] + 5));
        assert_int_equal(chain(12, latencies[i], 0) - one, 11 * (latencies[i] + 5));
        one = chain(1, latencies[i], 5);
        assert_int_equal(chain(11, latencies[i], 5) - one, 10 * latencies[i]);
    }
}

/* n instructions of one unit without dependences. */
static uint64_t independent(uint32_t n, uint64_t interval, uint32_t warps)
{
    rig *r = rig_create();
    r->spec.sub_cores = 1;
    r->spec.warp_slots = 32;
    r->spec.classes[LS_CLASS_sfu].latency_cycles = 20;
    r->spec.classes[LS_CLASS_sfu].interval_cycles = interval;
    uint32_t inst[16];
    for (uint32_t i = 0; i < 16; i++)
        inst[i] = rig_alu(r, LS_CLASS_sfu, (uint16_t)(10 + i), 0);
    for (uint32_t w = 0; w < warps; w++) {
        rig_warp(r);
        for (uint32_t i = 0; i < n; i++)
            rig_do(r, inst[i % 16]);
    }
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void a_unit_takes_one_instruction_per_interval(void **state)
{
    (void)state;
    assert_int_equal(independent(8, 8, 1) - independent(1, 8, 1), 7 * 8);
    assert_int_equal(independent(8, 8, 4) - independent(1, 8, 1), 31 * 8);
    assert_int_equal(independent(8, 2, 4) - independent(1, 2, 1), 31 * 2);
}

/* An instruction reads the results of two, of latencies `first` and `second`; another result is pending meanwhile. */
static uint64_t reads_two(uint64_t first, uint64_t second, uint64_t other)
{
    rig *r = rig_create();
    r->spec.classes[LS_CLASS_fp64].latency_cycles = other;
    r->spec.classes[LS_CLASS_fp32].latency_cycles = first;
    r->spec.classes[LS_CLASS_sfu].latency_cycles = second;
    r->spec.classes[LS_CLASS_int_alu].latency_cycles = 600;
    rig_do(r, rig_alu(r, LS_CLASS_fp64, 12, 0));
    rig_do(r, rig_alu(r, LS_CLASS_fp32, 10, 0));
    rig_do(r, rig_alu(r, LS_CLASS_sfu, 11, 0));
    uint32_t use = rig_alu(r, LS_CLASS_int_alu, 13, 10);
    r->insts[use].src_count = 2;
    r->insts[use].src[1] = 11;
    r->insts[use].src_span[1] = 1;
    rig_do(r, use);
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void a_warp_waits_for_the_last_register_that_it_reads(void **state)
{
    (void)state;
    uint64_t base = reads_two(30, 60, 100);
    assert_int_equal(reads_two(30, 60, 300), base);
    assert_int_equal(reads_two(40, 60, 100), base);
    assert_int_equal(reads_two(30, 70, 100), base + 10);
    assert_int_equal(reads_two(110, 60, 100) - reads_two(90, 60, 100), 20);
    assert_int_equal(reads_two(30, 60, 10), base);
}

/* A load writes width / 4 registers from 10 on; an instruction reads or writes `span` registers from `reg` on. True
 * if it waits for the load. */
static bool waits_for(uint32_t width, uint16_t reg, bool as_source, uint8_t span)
{
    rig *r = rig_create();
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, (uint8_t)width, 10, 0);
    uint32_t use = as_source ? rig_alu(r, LS_CLASS_fp32, 50, reg) : rig_alu(r, LS_CLASS_fp32, reg, 0);
    *(as_source ? &r->insts[use].src_span[0] : &r->insts[use].dst_span) = span;
    uint32_t mark = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, 0);
    rig_access(r, load, RIG_ALL, RIG_FAR_ADDRESS, width);
    rig_do(r, use);
    rig_access(r, mark, RIG_ALL, 0, 4);
    (void)rig_run(r);
    ls_cycle sent = 0;
    for (uint32_t i = 0; i < r->logged; i++)
        if (r->log[i].message.kind == LS_SECTOR_WRITE)
            sent = r->log[i].cycle;
    assert_int_not_equal(sent, 0);
    bool waited = sent > r->log[0].cycle + RIG_NEAR; /* the load took RIG_FAR */
    rig_destroy(r);
    return waited;
}

static void a_register_is_pending_from_issue_to_write_back(void **state)
{
    (void)state;
    for (int source = 0; source < 2; source++) {
        assert_true(waits_for(4, 10, source, 1));
        assert_false(waits_for(4, 11, source, 1));
        assert_false(waits_for(4, 9, source, 1));
        assert_true(waits_for(16, 13, source, 1));
        assert_false(waits_for(16, 14, source, 1));
        /* The other one is wide as well: up to the first register, and into it. */
        assert_false(waits_for(4, 6, source, 4));
        assert_true(waits_for(4, 7, source, 4));
    }
}

/* Nine instructions of latency 40 that read and write one register. */
static uint64_t through(uint16_t reg, bool accelsim)
{
    rig *r = rig_create();
    r->spec.accelsim_rules = accelsim;
    r->spec.classes[LS_CLASS_fp32].latency_cycles = 40;
    uint32_t add = rig_alu(r, LS_CLASS_fp32, reg, reg);
    for (uint32_t i = 0; i < 9; i++)
        rig_do(r, add);
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void constant_registers_never_wait(void **state)
{
    (void)state;
    static const uint16_t constants[] = { LS_REG_ZERO, LS_REG_UNIFORM_ZERO, LS_REG_PREDICATE_TRUE,
                                          LS_REG_UNIFORM_PREDICATE_TRUE };
    for (size_t i = 0; i < LS_COUNT_OF(constants); i++) {
        assert_true(through(constants[i], false) < 2 * 45);
        assert_true(through(constants[i], true) > 8 * 45);
        assert_true(through((uint16_t)(constants[i] - 1), false) > 8 * 45);
    }
}

/* `warps` warps. The last one runs `before` dependent instructions, then all arrive at a barrier, then the
 * first runs `after`. early: this many of the others end without the barrier. */
static uint64_t meeting(uint32_t warps, uint32_t before, uint32_t after, uint32_t early, uint32_t flags)
{
    rig *r = rig_create();
    uint32_t add = rig_alu(r, LS_CLASS_fp32, 5, 5);
    uint32_t barrier = rig_flag(r, LS_CLASS_barrier, LS_INST_BARRIER, 0);
    uint32_t arrive = rig_flag(r, LS_CLASS_barrier, flags, 0);
    for (uint32_t w = 0; w < warps; w++) {
        rig_warp(r);
        if (w == warps - 1)
            for (uint32_t i = 0; i < before; i++)
                rig_do(r, add);
        else
            rig_do(r, add);
        if (w == warps - 1)
            rig_do(r, arrive);
        else if (w == 0 || w > early)
            rig_do(r, barrier);
        if (w == 0)
            for (uint32_t i = 0; i < after; i++)
                rig_do(r, add);
    }
    uint64_t cycles = rig_run(r);
    if (before > 10)
        assert_true(r->core->n.stalls[STALL_BARRIER] > 0);
    rig_destroy(r);
    return cycles;
}

static void a_barrier_opens_with_its_last_warp(void **state)
{
    (void)state;
    for (uint32_t warps = 2; warps <= 8; warps += 3) {
        uint64_t base = meeting(warps, 20, 20, 0, LS_INST_BARRIER);
        assert_int_equal(meeting(warps, 30, 20, 0, LS_INST_BARRIER) - base, 10 * 9);
        assert_int_equal(meeting(warps, 20, 33, 0, LS_INST_BARRIER) - base, 13 * 9);
    }
    /* Warps that have ended are not waited for. */
    assert_int_equal(meeting(8, 30, 20, 5, LS_INST_BARRIER) - meeting(8, 20, 20, 5, LS_INST_BARRIER), 10 * 9);
    /* A warp that only arrives counts as well. */
    assert_int_equal(meeting(4, 30, 20, 0, LS_INST_ARRIVE) - meeting(4, 20, 20, 0, LS_INST_ARRIVE), 10 * 9);
}

/* A warp that only arrives goes on at once: its own chain overlaps with the wait of the others. */
static void arriving_does_not_wait(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        rig *r = rig_create();
        uint32_t add = rig_alu(r, LS_CLASS_fp32, 5, 5);
        uint32_t barrier = rig_flag(r, LS_CLASS_barrier, LS_INST_BARRIER, 0);
        uint32_t first = rig_flag(r, LS_CLASS_barrier, k == 0 ? LS_INST_ARRIVE : LS_INST_BARRIER, 0);
        rig_warp(r);
        rig_do(r, first);
        for (uint32_t i = 0; i < 40; i++)
            rig_do(r, add);
        rig_warp(r);
        for (uint32_t i = 0; i < 40; i++)
            rig_do(r, add);
        rig_do(r, barrier);
        cycles[k] = rig_run(r);
        rig_destroy(r);
    }
    assert_true(cycles[0] < 50 * 9);
    assert_true(cycles[1] > 79 * 9);
}

/* A taken branch costs branch_cycles, a branch that falls through costs nothing extra. */
static uint64_t branches(uint64_t branch_cycles, bool taken)
{
    rig *r = rig_create();
    r->spec.branch_cycles = branch_cycles;
    uint32_t branch = rig_alu(r, LS_CLASS_branch, 0, 0);
    uint32_t next = rig_alu(r, LS_CLASS_branch, 0, 0);
    uint32_t other = rig_alu(r, LS_CLASS_branch, 0, 0);
    (void)next;
    for (uint32_t i = 0; i < 10; i++)
        rig_do(r, taken ? (i % 2 == 0 ? branch : other) : branch + i % 2);
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void a_taken_branch_costs_its_cycles(void **state)
{
    (void)state;
    assert_int_equal(branches(30, true) - branches(20, true), 9 * 10);
    /* In turns: from the first of two to the second it falls through, back it is taken: 4 of 9. */
    assert_int_equal(branches(30, false) - branches(20, false), 4 * 10);
}

/* Counters of one block: issue slots are issued, or stalled for exactly one reason. */
static void every_issue_slot_has_one_reason(void **state)
{
    (void)state;
    rig *r = rig_create();
    uint32_t add = rig_alu(r, LS_CLASS_fp32, 5, 5);
    for (uint32_t w = 0; w < 6; w++) {
        rig_warp(r);
        for (uint32_t i = 0; i < 10 + w; i++)
            rig_do(r, add);
    }
    (void)rig_run(r);
    const core_counters *n = &r->core->n;
    uint64_t stalls = 0;
    for (uint32_t i = 0; i < STALL_COUNT; i++)
        stalls += n->stalls[i];
    assert_int_equal(n->issued, 6 * 10 + 15);
    /* In its last cycle the block ends before the schedulers have their turn. */
    assert_int_equal(n->issue_slots, (n->resident_cycles - 1) * 4);
    assert_int_equal(n->issued + stalls, n->issue_slots);
    assert_int_equal(n->thread_instructions, 32 * n->warp_instructions);
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dependent_chain_costs_n_latencies),
        cmocka_unit_test(a_unit_takes_one_instruction_per_interval),
        cmocka_unit_test(a_warp_waits_for_the_last_register_that_it_reads),
        cmocka_unit_test(a_register_is_pending_from_issue_to_write_back),
        cmocka_unit_test(constant_registers_never_wait),
        cmocka_unit_test(a_barrier_opens_with_its_last_warp),
        cmocka_unit_test(arriving_does_not_wait),
        cmocka_unit_test(a_taken_branch_costs_its_cycles),
        cmocka_unit_test(every_issue_slot_has_one_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
