/* Counts per instruction: launches of a kernel add up by address, the costliest come first, shares of bytes, CSV. */
#include "report/source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMORY = 6 }; /* of the reasons of cores */

static inst_counted inst(uint64_t pc, const char *text, uint64_t executed, uint64_t memory)
{
    inst_counted i = { .pc = pc, .text = text, .n = { .executed = executed } };
    i.n.stalls[MEMORY] = memory;
    return i;
}

static void test_reasons_are_in_the_order_of_the_counts(void **state)
{
    (void)state;
    const char *const *names;
    assert_int_equal(source_reasons(SOURCE_NVIDIA, &names), 9);
    assert_string_equal(names[MEMORY], "memory");
    assert_int_equal(source_reasons(SOURCE_AMD, &names), 13);
    assert_string_equal(names[0], "vmcnt");
    assert_string_equal(names[12], "branch");
}

static void test_launches_add_up_by_address(void **state)
{
    (void)state;
    source_book *book = source_create(SOURCE_NVIDIA, 32);
    const inst_counted first[] = { inst(32, "C", 1, 0), inst(0, "A", 1, 5), inst(64, "never", 0, 0) };
    const inst_counted second[] = { inst(16, "B", 2, 0), inst(32, "C", 3, 7) };
    assert_false(source_has(book, "k"));
    assert_int_equal(source_add(book, "k", 1, first, 3, NULL), LS_OK);
    assert_true(source_has(book, "k"));
    assert_int_equal(source_add(book, "k", 1, second, 2, NULL), LS_OK);
    assert_int_equal(source_add(book, "other", 1, second, 1, NULL), LS_OK);
    assert_int_equal(book->kernels.count, 2);
    const source_kernel *k = &book->kernels.at[0];
    assert_int_equal(k->launches, 2);
    assert_int_equal(k->insts.count, 3);
    assert_string_equal(k->insts.at[0].text, "A");
    assert_string_equal(k->insts.at[1].text, "B");
    assert_string_equal(k->insts.at[2].text, "C");
    assert_int_equal(k->insts.at[2].n.executed, 4);
    assert_int_equal(source_stalls(book, &k->insts.at[2].n), 7);
    assert_int_equal(source_cost(book, &k->insts.at[2].n), 11);
    source_destroy(book);
}

static void test_instructions_of_a_file_are_kept_without_counts(void **state)
{
    (void)state;
    source_book *book = source_create(SOURCE_NVIDIA, 32);
    const inst_counted none = inst(16, "B", 0, 0), stalled = inst(16, NULL, 0, 9);
    assert_int_equal(source_add(book, "k", 0, &none, 1, NULL), LS_OK);
    assert_int_equal(source_add(book, "k", 0, &stalled, 1, NULL), LS_OK);
    assert_int_equal(book->kernels.at[0].insts.count, 1);
    assert_string_equal(book->kernels.at[0].insts.at[0].text, "B");
    assert_int_equal(book->kernels.at[0].insts.at[0].n.stalls[MEMORY], 9);
    source_destroy(book);
}

static void test_the_costliest_come_first(void **state)
{
    (void)state;
    source_book *book = source_create(SOURCE_NVIDIA, 32);
    const inst_counted a[] = { inst(0, "a0", 10, 0), inst(8, "a1", 0, 40), inst(16, "a2", 10, 0) };
    const inst_counted b[] = { inst(0, "b0", 1, 29), inst(8, "b1", 10, 0) };
    source_top top[3];
    assert_int_equal(source_costliest(book, top, 3), 0);
    assert_int_equal(source_add(book, "a", 1, a, 3, NULL), LS_OK);
    assert_int_equal(source_add(book, "b", 1, b, 2, NULL), LS_OK);
    assert_int_equal(source_costliest(book, top, 3), 3);
    assert_string_equal(top[0].inst->text, "a1");
    assert_string_equal(top[1].inst->text, "b0");
    assert_string_equal(top[1].kernel->name, "b");
    assert_string_equal(top[2].inst->text, "a0"); /* the first of equal ones */
    assert_float_equal(top[0].share, 0.4, 1e-12);
    assert_int_equal(source_costliest(book, top, 1), 1);
    assert_string_equal(top[0].inst->text, "a1");
    source_destroy(book);
}

static void test_shares_of_bytes_and_the_main_stall(void **state)
{
    (void)state;
    source_book *book = source_create(SOURCE_NVIDIA, 32);
    inst_count n = { .bytes = 128, .requests = 16 };
    assert_float_equal(source_coalescing(book, &n), 0.25, 1e-12);
    n.requests = 1; /* all lanes ask for the same bytes */
    assert_float_equal(source_coalescing(book, &n), 1, 1e-12);
    n = (inst_count){ .requests = 1 };
    assert_true(isnan(source_coalescing(book, &n)));
    assert_null(source_main_stall(book, &n));
    n.stalls[2] = 3;
    n.stalls[MEMORY] = 4;
    assert_string_equal(source_main_stall(book, &n), "memory");
    source_destroy(book);
}

static void test_csv_has_a_row_per_instruction(void **state)
{
    (void)state;
    source_book *book = source_create(SOURCE_NVIDIA, 32);
    inst_counted i = inst(16, "LDG.E R4, R2", 2, 7);
    i.file = "a.cl";
    i.line = 3;
    i.n.lanes = 64;
    assert_int_equal(source_add(book, "k", 2, &i, 1, NULL), LS_OK);
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    source_csv(book, to);
    fclose(to);
    assert_string_equal(
        text,
        "kernel,launches,pc,instruction,file,line,executed,lanes,bytes,requests,request_bytes,hits,"
        "conflicts,stall_idle,stall_fetch,stall_barrier,stall_fence,stall_async,stall_mbarrier,stall_memory,"
        "stall_dependence,stall_unit\n"
        "k,2,16,\"LDG.E R4, R2\",a.cl,3,2,64,0,0,32,0,0,0,0,0,0,0,0,7,0,0\n");
    free(text);
    source_destroy(book);
}

static void test_text_names_what_is_left_out(void **state)
{
    (void)state;
    source_book *book = source_create(SOURCE_NVIDIA, 32);
    const inst_counted list[] = { inst(0, "FIRST", 1, 0), inst(16, "SECOND", 1, 98) };
    assert_int_equal(source_add(book, "k", 1, list, 2, NULL), LS_OK);
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    source_print(book, 1, to);
    fclose(to);
    assert_non_null(strstr(text, "SECOND"));
    assert_null(strstr(text, "FIRST"));
    assert_non_null(strstr(text, "99.0 %"));
    assert_non_null(strstr(text, "... and 1 more"));
    free(text);
    source_destroy(book);
    source_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons_are_in_the_order_of_the_counts),
        cmocka_unit_test(test_launches_add_up_by_address),
        cmocka_unit_test(test_instructions_of_a_file_are_kept_without_counts),
        cmocka_unit_test(test_the_costliest_come_first),
        cmocka_unit_test(test_shares_of_bytes_and_the_main_stall),
        cmocka_unit_test(test_csv_has_a_row_per_instruction),
        cmocka_unit_test(test_text_names_what_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
