/* test_registers.c: which registers operands cover, which never change, and sets of registers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/registers.h"

static void kinds(void **state)
{
    (void)state;
    uint32_t general = 0, predicates = 0, constants = 0;
    for (uint32_t reg = 0; reg < LS_REG_COUNT; reg++) {
        general += reg_is_general(reg);
        predicates += reg_is_predicate(reg);
        constants += reg_is_constant(reg);
    }
    assert_int_equal(general, 256);
    assert_int_equal(predicates, 16);
    assert_int_equal(constants, 4);
    assert_true(reg_is_constant(255) && reg_is_constant(319) && reg_is_constant(327) && reg_is_constant(335));
}

static void spans_end_before_zero(void **state)
{
    (void)state;
    assert_int_equal(reg_clamp_span(0, 4), 4);
    assert_int_equal(reg_clamp_span(251, 4), 4);
    assert_int_equal(reg_clamp_span(252, 4), 3);
    assert_int_equal(reg_clamp_span(254, 4), 1);
    assert_int_equal(reg_clamp_span(LS_REG_ZERO, 4), 1);
    assert_int_equal(reg_clamp_span(LS_REG_UNIFORM, 64), 63);
    assert_int_equal(reg_clamp_span(LS_REG_UNIFORM_ZERO, 2), 1);
    assert_int_equal(reg_clamp_span(LS_REG_PREDICATE, 2), 1);
}

static void operands(void **state)
{
    (void)state;
    const ls_inst inst = { .dst = { 8, 20 },
                           .dst_count = 2,
                           .dst_span = 4,
                           .src = { 2, 40, 2, LS_REG_COUNT - 1 },
                           .src_span = { 2, 0, 1, 2 },
                           .src_count = 4 };
    assert_int_equal(inst_dst_end(&inst, 0, true), 12);
    assert_int_equal(inst_dst_end(&inst, 0, false), 9);
    assert_int_equal(inst_dst_end(&inst, 1, true), 21); /* the first result alone is wide */
    assert_int_equal(inst_src_end(&inst, 0, true), 4);
    assert_int_equal(inst_src_end(&inst, 0, false), 3);
    assert_int_equal(inst_src_end(&inst, 1, true), 41); /* at least one register */
    assert_int_equal(inst_src_end(&inst, 3, true), LS_REG_COUNT);
    assert_false(inst_src_again(&inst, 0));
    assert_false(inst_src_again(&inst, 1));
    assert_true(inst_src_again(&inst, 2));
}

static void banks(void **state)
{
    (void)state;
    assert_int_equal(reg_bank(0, 0, 8), 1);
    assert_int_equal(reg_bank(7, 0, 8), 0);
    assert_int_equal(reg_bank(7, 3, 8), 3);
}

static void units(void **state)
{
    (void)state;
    assert_int_equal(allocation_units(0, 8), 0);
    assert_int_equal(allocation_units(1, 8), 1);
    assert_int_equal(allocation_units(8, 8), 1);
    assert_int_equal(allocation_units(9, 8), 2);
    assert_int_equal(allocation_units(9, 1), 9);
    assert_int_equal(allocation_units(9, 0), 0); /* not limited */
}

static void sets(void **state)
{
    (void)state;
    uint64_t set[REG_WORDS] = { 0 };
    assert_true(reg_set_empty(set));
    for (uint32_t reg = 0; reg < LS_REG_COUNT; reg++) {
        reg_set_add(set, reg);
        for (uint32_t other = 0; other < LS_REG_COUNT; other++)
            assert_int_equal(reg_set_has(set, other), other == reg);
        assert_false(reg_set_empty(set));
        reg_set_remove(set, reg);
        assert_true(reg_set_empty(set));
    }
}

/* The first register of the set that the instruction uses, if the set holds `reg` alone. */
static uint32_t meets(const ls_inst *inst, uint32_t reg, bool spans)
{
    uint64_t set[REG_WORDS] = { 0 };
    reg_set_add(set, reg);
    return inst_first_in_set(inst, set, spans);
}

static void instruction_and_set(void **state)
{
    (void)state;
    const ls_inst inst = { .dst = { 8, LS_REG_PREDICATE },
                           .dst_count = 2,
                           .dst_span = 4,
                           .src = { 2, 40 },
                           .src_span = { 2, 1 },
                           .src_count = 2 };
    for (uint32_t reg = 0; reg < LS_REG_COUNT; reg++) {
        bool first = reg == 2 || reg == 40 || reg == 8 || reg == LS_REG_PREDICATE;
        bool covered = first || reg == 3 || (reg > 8 && reg < 12);
        assert_int_equal(meets(&inst, reg, false), first ? reg : LS_REG_COUNT);
        assert_int_equal(meets(&inst, reg, true), covered ? reg : LS_REG_COUNT);
    }
    /* Sources, the first registers of results, the rest of the first result: in this order. */
    static const uint32_t order[] = { 2, 3, 40, 8, LS_REG_PREDICATE, 9, 10, 11 };
    uint64_t set[REG_WORDS] = { 0 };
    for (size_t i = sizeof order / sizeof *order; i-- > 0;) {
        reg_set_add(set, order[i]);
        assert_int_equal(inst_first_in_set(&inst, set, true), order[i]);
    }
}

/* Long operands of uniform registers, and an instruction without any: each has a way of its own. */
static void long_and_short_operands(void **state)
{
    (void)state;
    const ls_inst uniform = { .dst = { LS_REG_UNIFORM + 8 },
                              .dst_count = 1,
                              .dst_span = 4,
                              .src = { 2, LS_REG_UNIFORM + 4 },
                              .src_span = { 2, 2 },
                              .src_count = 2 };
    const ls_inst plain = { .dst = { 6 }, .dst_count = 1, .src = { 5, LS_REG_UNIFORM }, .src_count = 2 };
    for (uint32_t reg = 0; reg < LS_REG_COUNT; reg++) {
        bool covered = reg == 2 || reg == 3 || reg == LS_REG_UNIFORM + 4 || reg == LS_REG_UNIFORM + 5 ||
                       (reg >= LS_REG_UNIFORM + 8 && reg < LS_REG_UNIFORM + 12);
        assert_int_equal(meets(&uniform, reg, true), covered ? reg : LS_REG_COUNT);
        covered = reg == 5 || reg == 6 || reg == LS_REG_UNIFORM;
        assert_int_equal(meets(&plain, reg, true), covered ? reg : LS_REG_COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(spans_end_before_zero),
        cmocka_unit_test(operands),
        cmocka_unit_test(banks),
        cmocka_unit_test(units),
        cmocka_unit_test(sets),
        cmocka_unit_test(instruction_and_set),
        cmocka_unit_test(long_and_short_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
