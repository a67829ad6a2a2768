/* Counts of static instructions: rows of units lie apart, chunks come when they are needed, sums go over all units. */
#include "isa/inst_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_units_have_rows_of_their_own(void **state)
{
    (void)state;
    inst_counts *counts = inst_counts_create(3, 10);
    assert_true(inst_counts_grow(counts, 10));
    for (uint32_t unit = 0; unit < 3; unit++) {
        inst_counts_at(counts, unit, 7)->executed = 10 + unit;
        inst_counts_at(counts, unit, 7)->stalls[INST_STALLS - 1] = unit;
        inst_counts_at(counts, unit, 8)->lanes = 100;
    }
    inst_count sum = inst_counts_sum(counts, 7);
    assert_int_equal(sum.executed, 33);
    assert_int_equal(sum.stalls[INST_STALLS - 1], 3);
    assert_int_equal(sum.lanes, 0);
    assert_int_equal(inst_counts_sum(counts, 8).lanes, 300);
    inst_counts_destroy(counts);
}

static void test_chunks_come_when_they_are_needed(void **state)
{
    (void)state;
    inst_counts *counts = inst_counts_create(2, 3 * INST_CHUNK);
    assert_int_equal(counts->chunk_count, 0);
    assert_int_equal(inst_counts_sum(counts, 5).executed, 0); /* of a row without memory */
    assert_true(inst_counts_grow(counts, INST_CHUNK));
    assert_int_equal(counts->chunk_count, 1);
    inst_count *before = inst_counts_at(counts, 1, INST_CHUNK - 1);
    before->bytes = 4;
    assert_true(inst_counts_grow(counts, INST_CHUNK + 1));
    assert_int_equal(counts->chunk_count, 2);
    assert_ptr_equal(inst_counts_at(counts, 1, INST_CHUNK - 1), before); /* rows stay where they are */
    assert_true(inst_counts_grow(counts, 1));
    assert_int_equal(counts->chunk_count, 2);
    assert_true(inst_counts_grow(counts, 3 * INST_CHUNK));
    assert_false(inst_counts_grow(counts, 9 * INST_CHUNK)); /* more than rows_max */
    inst_counts_at(counts, 0, INST_CHUNK)->requests = 1;
    inst_counts_at(counts, 1, INST_CHUNK)->requests = 2;
    assert_int_equal(inst_counts_sum(counts, INST_CHUNK).requests, 3);
    assert_int_equal(inst_counts_sum(counts, INST_CHUNK - 1).bytes, 4);
    inst_counts_destroy(counts);
    inst_counts_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_have_rows_of_their_own),
        cmocka_unit_test(test_chunks_come_when_they_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
