/* Pipes of the core: issue registers, operand collectors, register banks, units, result buses and write-back; and both
 * models of them (alu: cycle, alu: issue). Expected cycles are closed forms; other costs of a block cancel in
 * differences of two runs. */
#include "model/core_rig.h"

/* One warp on one sub-core, so that only the pipes decide. */
static rig *one_sub(core_alu_model alu)
{
    rig *r = rig_create();
    r->spec.alu = alu;
    r->spec.sub_cores = 1;
    r->spec.warp_slots = 32;
    r->spec.fetch_rounds = 16;
    return r;
}

static void set_class(rig *r, uint8_t class_, uint64_t latency, uint64_t interval)
{
    r->spec.classes[class_].latency_cycles = latency;
    r->spec.classes[class_].interval_cycles = interval;
}

static uint64_t finish(rig *r)
{
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

/* ---------------------------------------------------------------------------------------- units and ports */

/* n pairs of independent instructions of two classes that take their unit for `interval` cycles each. */
static uint64_t pairs(core_alu_model alu, uint32_t n, uint8_t first, uint8_t second, uint64_t interval)
{
    rig *r = one_sub(alu);
    set_class(r, first, 20, interval);
    set_class(r, second, 20, interval);
    uint32_t a[8], b[8];
    for (uint32_t i = 0; i < 8; i++) {
        a[i] = rig_alu(r, first, (uint16_t)(10 + i), 0);
        b[i] = rig_alu(r, second, (uint16_t)(30 + i), 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        rig_do(r, a[i % 8]);
        rig_do(r, b[i % 8]);
    }
    return finish(r);
}

static void units_work_side_by_side(void **state)
{
    (void)state;
    for (core_alu_model alu = ALU_CYCLE; alu <= ALU_ISSUE; alu++)
        for (uint64_t interval = 4; interval <= 16; interval *= 2) {
            /* Two units take a pair in one interval; one unit needs two. */
            assert_int_equal(pairs(alu, 12, LS_CLASS_fp32, LS_CLASS_sfu, interval) -
                                 pairs(alu, 4, LS_CLASS_fp32, LS_CLASS_sfu, interval),
                             8 * interval);
            assert_int_equal(pairs(alu, 12, LS_CLASS_sfu, LS_CLASS_sfu, interval) -
                                 pairs(alu, 4, LS_CLASS_sfu, LS_CLASS_sfu, interval),
                             16 * interval);
        }
}

/* A burst on a slow unit, then one instruction of another unit with latency `latency`. The burst has short results. */
static uint64_t behind_a_burst(uint64_t collectors, uint32_t burst, uint64_t latency)
{
    rig *r = one_sub(ALU_CYCLE);
    r->spec.collectors = collectors;
    set_class(r, LS_CLASS_sfu, 4, 32);
    set_class(r, LS_CLASS_fp32, latency, 1);
    for (uint32_t i = 0; i < burst; i++)
        rig_do(r, rig_alu(r, LS_CLASS_sfu, (uint16_t)(10 + i), 0));
    rig_do(r, rig_alu(r, LS_CLASS_fp32, 40, 0));
    return finish(r);
}

/* A unit, the register before it, the collectors and its issue register hold instructions. The one behind them does
 * not issue before the unit has taken another. */
static void waiting_instructions_fill_collectors_and_the_issue_register(void **state)
{
    (void)state;
    for (uint64_t collectors = 1; collectors <= 4; collectors++) {
        /* One in the unit, one before it, one per collector, one in the issue register: issue goes on. But all
         * collectors are taken, so the last instruction waits for one in its own issue register. */
        uint32_t fits = (uint32_t)collectors + 1;
        uint64_t alone = behind_a_burst(collectors, 1, 600);
        uint64_t free_ = behind_a_burst(collectors, fits, 600);
        uint64_t full = behind_a_burst(collectors, fits + 1, 600);
        assert_true(free_ - alone < 32);
        assert_true(full - free_ > 16 && full - free_ < 64);
        assert_int_equal(behind_a_burst(collectors, fits + 2, 600) - full, 32);
    }
}

/* ------------------------------------------------------------------------------------------- register banks */

/* An instruction with `sources` operands, one bank apart or all in one bank; `steps` per cycle. */
static uint64_t operands(uint32_t sources, uint32_t distance, uint64_t steps, uint64_t *waits)
{
    rig *r = one_sub(ALU_CYCLE);
    r->spec.register_banks = 4;
    r->spec.collect_steps = steps;
    uint32_t inst = rig_alu(r, LS_CLASS_fp32, 40, 8);
    r->insts[inst].src_count = (uint8_t)sources;
    for (uint32_t i = 0; i < sources; i++) {
        r->insts[inst].src[i] = (uint16_t)(8 + i * distance);
        r->insts[inst].src_span[i] = 1;
    }
    rig_do(r, inst);
    uint64_t cycles = rig_run(r);
    assert_int_equal(r->core->n.register_reads, sources);
    *waits = r->core->n.register_bank_waits;
    rig_destroy(r);
    return cycles;
}

static void a_bank_gives_one_operand_per_step(void **state)
{
    (void)state;
    uint64_t waits, one = operands(1, 1, 1, &waits);
    assert_int_equal(waits, 0);
    assert_int_equal(operands(3, 1, 1, &waits), one);
    assert_int_equal(waits, 0);
    assert_int_equal(operands(2, 4, 1, &waits), one + 1);
    assert_int_equal(waits, 1);
    assert_int_equal(operands(3, 4, 1, &waits), one + 2);
    assert_int_equal(waits, 2);
    /* Two steps per cycle: the second operand costs no cycle or one, the third and the first differ by one. */
    one = operands(1, 4, 2, &waits);
    assert_int_equal(operands(3, 4, 2, &waits), one + 1);
}

/* A result of `writer` cycles goes to register dst, while a second instruction reads register 9, and 11 as well if it has
 * two sources. */
static uint64_t read_under_write(uint64_t writer, uint16_t dst, uint64_t steps, uint32_t sources)
{
    rig *r = one_sub(ALU_CYCLE);
    r->spec.register_banks = 2;
    r->spec.collect_steps = steps;
    set_class(r, LS_CLASS_fp32, writer, 1);
    set_class(r, LS_CLASS_sfu, 60, 1);
    rig_do(r, rig_alu(r, LS_CLASS_fp32, dst, 0));
    for (uint32_t i = 0; i < 8; i++)
        rig_do(r, rig_alu(r, LS_CLASS_branch, 0, 0));
    uint32_t reader = rig_alu(r, LS_CLASS_sfu, 41, 9);
    r->insts[reader].src_count = (uint8_t)sources;
    r->insts[reader].src[1] = 11;
    r->insts[reader].src_span[1] = 1;
    rig_do(r, reader);
    uint64_t cycles = rig_run(r);
    assert_int_equal(r->core->n.register_reads, sources);
    assert_int_equal(r->core->n.register_bank_waits, sources - 1);
    rig_destroy(r);
    return cycles;
}

static void a_write_back_has_its_bank_before_readers(void **state)
{
    (void)state;
    uint32_t later = 0;
    uint64_t base = read_under_write(40, 20, 1, 1); /* it is written long after the read */
    for (uint64_t writer = 1; writer <= 30; writer++) {
        assert_int_equal(read_under_write(writer, 20, 1, 1), base); /* the other bank */
        uint64_t same = read_under_write(writer, 21, 1, 1);
        assert_true(same == base || same == base + 1);
        later += same == base + 1;
    }
    assert_int_equal(later, 1); /* in the cycle of the write, and only then */
}

/* Of two steps the first is for the collector and the second for the read: a write-back has only the first. Another
 * operand of the bank is read in the first step of the next cycle. */
static void a_write_back_takes_the_first_step(void **state)
{
    (void)state;
    uint32_t later = 0;
    uint64_t one = read_under_write(40, 20, 2, 1), two = read_under_write(40, 20, 2, 2);
    assert_int_equal(two, one);
    for (uint64_t writer = 1; writer <= 30; writer++) {
        assert_int_equal(read_under_write(writer, 21, 2, 1), one);
        uint64_t same = read_under_write(writer, 21, 2, 2);
        assert_true(same == two || same == two + 1);
        later += same == two + 1;
    }
    assert_int_equal(later, 1);
}

static void sets_of_banks(void **state)
{
    (void)state;
    uint8_t counts[8] = { 0 };
    for (uint32_t i = 0; i < 200; i++) {
        uint64_t set = 0, in = 0;
        uint32_t sum = 0;
        counts[i * 5 % 8] = (uint8_t)(i * 7 % 3 == 0 ? 0 : i * 11 % 32);
        for (uint32_t bank = 0; bank < 8; bank++) {
            set += counts[bank] * PIPE_BANK(bank);
            in |= counts[bank] != 0 ? PIPE_BANK(bank) : 0;
            sum += counts[bank];
        }
        assert_int_equal(pipe_banks_in(set), in);
        assert_int_equal(pipe_banks_sum(set), sum);
    }
}

/* ---------------------------------------------------------------------------------------------- write-back */

/* Two instructions, one behind the other: the first has latency `first`, the second `second`. */
static uint64_t two_results(uint8_t other, uint64_t first, uint64_t second, uint64_t buses)
{
    rig *r = one_sub(ALU_CYCLE);
    r->spec.result_buses = buses;
    r->spec.classes[LS_CLASS_half].unit = UNIT_sp;
    set_class(r, LS_CLASS_fp32, first, 1);
    set_class(r, other, second, 1);
    rig_do(r, rig_alu(r, LS_CLASS_fp32, 10, 0));
    rig_do(r, rig_alu(r, other, 11, 0));
    return finish(r);
}

/* The block ends with the later of both results. The second one enters one cycle after the first. */
static void results_of_one_unit_leave_one_by_one(void **state)
{
    (void)state;
    for (uint64_t latency = 12; latency <= 50; latency += 19) {
        uint64_t first = two_results(LS_CLASS_half, latency, 5, 8);
        assert_int_equal(two_results(LS_CLASS_half, latency, latency - 2, 8), first);
        assert_int_equal(two_results(LS_CLASS_half, latency, latency - 1, 8),
                         first + 1); /* in the same cycle */
        assert_int_equal(two_results(LS_CLASS_half, latency, latency, 8), first + 1);
        assert_int_equal(two_results(LS_CLASS_half, latency, latency + 1, 8), first + 2);
    }
}

static void results_of_two_units_need_two_buses(void **state)
{
    (void)state;
    uint64_t first = two_results(LS_CLASS_sfu, 20, 5, 1);
    assert_int_equal(two_results(LS_CLASS_sfu, 20, 19, 2), first);
    assert_int_equal(two_results(LS_CLASS_sfu, 20, 19, 1), first + 1);
    assert_int_equal(two_results(LS_CLASS_sfu, 20, 18, 1), first);
}

/* Four sub-cores with one warp each deliver four results in three cycles. */
static uint64_t stream(uint32_t n, uint64_t buses)
{
    rig *r = rig_create();
    r->spec.result_buses = buses;
    r->spec.fetch_rounds = 16;
    set_class(r, LS_CLASS_fp32, 20, 3);
    uint32_t inst[8];
    for (uint32_t i = 0; i < 8; i++)
        inst[i] = rig_alu(r, LS_CLASS_fp32, (uint16_t)(10 + i), 0);
    for (uint32_t w = 0; w < 4; w++) {
        rig_warp(r);
        for (uint32_t i = 0; i < n; i++)
            rig_do(r, inst[i % 8]);
    }
    return finish(r);
}

static void result_buses_limit_the_core(void **state)
{
    (void)state;
    assert_int_equal(stream(96, 4) - stream(32, 4), 64 * 3);
    /* Sub-cores have the bus in their order: three of them take all of its cycles, and the last one follows. */
    assert_int_equal(stream(96, 1) - stream(32, 1), 64 * 3 + 64 * 3);
}

/* ---------------------------------------------------------------------------------- the two models of pipes */

/* n instructions of one warp; with `src` each reads the result of the one before. */
static uint64_t run_of(core_alu_model alu, uint32_t n, uint64_t latency, uint64_t interval, bool dependent,
                       uint64_t forward)
{
    rig *r = one_sub(alu);
    r->spec.forward_cycles = forward;
    set_class(r, LS_CLASS_fp32, latency, interval);
    uint32_t inst[16];
    for (uint32_t i = 0; i < 16; i++)
        inst[i] = rig_alu(r, LS_CLASS_fp32, (uint16_t)(10 + (dependent ? 0 : i)), dependent ? 10 : 0);
    for (uint32_t i = 0; i < n; i++)
        rig_do(r, inst[i % 16]);
    return finish(r);
}

static void both_models_have_latency_and_interval(void **state)
{
    (void)state;
    for (core_alu_model alu = ALU_CYCLE; alu <= ALU_ISSUE; alu++) {
        for (uint64_t latency = 10; latency <= 70; latency += 30)
            for (uint64_t forward = 0; forward <= 5; forward += 5)
                assert_int_equal(run_of(alu, 12, latency, 1, true, forward) -
                                     run_of(alu, 2, latency, 1, true, forward),
                                 10 * (latency + 5 - forward));
        for (uint64_t interval = 2; interval <= 32; interval *= 4)
            assert_int_equal(run_of(alu, 24, 20, interval, false, 5) - run_of(alu, 8, 20, interval, false, 5),
                             16 * interval);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_work_side_by_side),
        cmocka_unit_test(waiting_instructions_fill_collectors_and_the_issue_register),
        cmocka_unit_test(a_bank_gives_one_operand_per_step),
        cmocka_unit_test(a_write_back_has_its_bank_before_readers),
        cmocka_unit_test(a_write_back_takes_the_first_step),
        cmocka_unit_test(sets_of_banks),
        cmocka_unit_test(results_of_one_unit_leave_one_by_one),
        cmocka_unit_test(results_of_two_units_need_two_buses),
        cmocka_unit_test(result_buses_limit_the_core),
        cmocka_unit_test(both_models_have_latency_and_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
