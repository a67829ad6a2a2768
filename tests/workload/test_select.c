/* test_select.c: kernel selections against a trace of four kernels that lies in memory. */
#include "kernel_text.h"

#include "workload/select.h"

/* --- a trace without files ------------------------------------------------------------------------------ */

static const char *const names[] = { "", "_Z4gemmPf", "_Z4copyPf", "", "_Z5sgemmPf", "_Z4copyPi" };
static unsigned opened;

static void close_kernel(trace_kernel *kernel)
{
    free(kernel);
}

static ls_status open_kernel(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err)
{
    static const trace_kernel_ops ops = { .close = close_kernel };
    (void)trace, (void)err;
    *out = calloc(1, sizeof **out);
    (*out)->ops = &ops;
    (*out)->info.name = (char *)(uintptr_t)names[index];
    opened++;
    return LS_OK;
}

static trace_cmd commands[] = {
    { .kind = LS_COMMAND_COPY_IN }, { .kind = LS_COMMAND_KERNEL }, { .kind = LS_COMMAND_KERNEL },
    { .kind = LS_COMMAND_OTHER },   { .kind = LS_COMMAND_KERNEL }, { .kind = LS_COMMAND_KERNEL },
};
static const trace_source_ops trace_ops = { .open_kernel = open_kernel };
static sass_trace trace = { .ops = &trace_ops, .commands = commands, .command_count = 6 };

/* "1:1 3:4": number and command of each chosen kernel, or the error. */
static const char *chosen(const char *text)
{
    static char out[256];
    kernel_selection selection;
    ls_error err;
    out[0] = '\0';
    opened = 0;
    if (select_kernels(&trace, text, &selection, &err) != LS_OK) {
        assert_int_equal(err.status, LS_ERR_USAGE);
        return strcpy(out, err.what);
    }
    for (size_t i = 0; i < selection.count; i++)
        sprintf(out + strlen(out), "%s%u:%u", i ? " " : "", (unsigned)selection.at[i].number,
                (unsigned)selection.at[i].command);
    selection_fini(&selection);
    return out;
}

/* --- tests ---------------------------------------------------------------------------------------------- */

static void test_numbers(void **state)
{
    (void)state;
    assert_string_equal(chosen(NULL), "1:1 2:2 3:4 4:5");
    assert_string_equal(chosen("2"), "2:2");
    assert_string_equal(chosen("4,1"), "1:1 4:5"); /* in the order of the list */
    assert_string_equal(chosen("2-3"), "2:2 3:4");
    assert_string_equal(chosen("3-"), "3:4 4:5");
    assert_string_equal(chosen("-2"), "1:1 2:2");
    assert_string_equal(chosen("1-2,2-3,2"), "1:1 2:2 3:4"); /* each once */
    assert_string_equal(chosen("2-99"), "2:2 3:4 4:5");
    assert_int_equal(opened, 0); /* no header was read for this */
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(chosen("name:*gemm*"), "1:1 3:4");
    assert_int_equal(opened, 4);
    assert_string_equal(chosen("name:_Z4copyP?"), "2:2 4:5");
    assert_string_equal(chosen("1,name:*copyPi"), "1:1 4:5");
}

static void test_errors(void **state)
{
    (void)state;
    assert_string_equal(chosen("5"), "kernels '5': the trace has 4 kernels");
    assert_string_equal(chosen("1,9-12"), "kernels '9-12': the trace has 4 kernels");
    assert_string_equal(chosen("name:*fft*"), "kernels 'name:*fft*': no kernel has such a name");
    assert_string_equal(chosen("name:"), "kernels 'name:': a pattern must follow 'name:'");
    assert_string_equal(chosen("3-2"), "kernels '3-2': the range is empty");
    static const char *const bad[] = { "",      "0",  "x",  "-",    "1,,2",
                                       "1-2-3", "1 ", "+1", "name", "99999999999999999999" };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++)
        assert_non_null(strstr(chosen(bad[i]),
                               "not a number from 1 on, a range such as 3-7, or name:PATTERN"));
}

static const char *name_at(const void *self, uint64_t i)
{
    return ((const char *const *)self)[i];
}

/* Anything that has names, without a trace. */
static void test_without_a_trace(void **state)
{
    static const char *const all[] = { "scan", "gemm_1", "gemm_2", "scan" };
    kernel_selection selection;
    ls_error err;
    (void)state;
    assert_int_equal(select_named(4, name_at, all, "name:gemm*,4-", &selection, NULL), LS_OK);
    assert_int_equal(selection.count, 3);
    assert_int_equal(selection.at[0].command, 1);
    assert_int_equal(selection.at[0].number, 2);
    assert_int_equal(selection.at[2].command, 3);
    selection_fini(&selection);
    assert_int_equal(select_named(4, name_at, all, NULL, &selection, NULL), LS_OK);
    assert_int_equal(selection.count, 4);
    selection_fini(&selection);
    assert_int_equal(select_named(4, name_at, all, "2,5", &selection, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "4 kernels"));
    assert_null(selection.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_trace),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
