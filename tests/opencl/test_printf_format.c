/* test_printf_format.c: records of a printf buffer become the text that C's printf would give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opencl/printf.h"

#include <string.h>

/* A buffer as a kernel leaves it; strings are found by their addresses on the host. */
typedef struct tape {
    uint8_t at[4096];
    size_t count, start;
} tape;

static size_t fetch(void *self, uint64_t address, char *out, size_t room)
{
    const char *text = (const char *)(uintptr_t)address;
    size_t bytes = strlen(text) < room ? strlen(text) : room;
    (void)self;
    memcpy(out, text, bytes);
    return bytes;
}

static void put(tape *t, const void *data, size_t bytes)
{
    memcpy(t->at + t->count, data, bytes);
    t->count += (bytes + 3) & ~(size_t)3;
    uint32_t whole = (uint32_t)(t->count - t->start);
    memcpy(t->at + t->start, &whole, sizeof whole);
}

static void begin(tape *t, const char *format)
{
    uint64_t address = (uint64_t)(uintptr_t)format;
    uint32_t head[2] = { 0, 0 };
    t->start = t->count;
    put(t, head, sizeof head);
    put(t, &address, sizeof address);
}

static void argument(tape *t, const void *data, uint32_t bytes)
{
    put(t, &bytes, sizeof bytes);
    put(t, data, bytes);
}

#define ARGUMENT(tape_, type_, ...)                                                                           \
    argument((tape_), (type_[]){ __VA_ARGS__ }, sizeof((type_[]){ __VA_ARGS__ }))

static void expect(tape *t, const char *text)
{
    text_buffer out = { 0 };
    ls_error err;
    assert_int_equal(ocl_printf_format(t->at, t->count, fetch, NULL, &out, &err), LS_OK);
    assert_string_equal(text_get(&out), text);
    text_fini(&out);
}

static void scalars(void **state)
{
    (void)state;
    tape t = { .count = 0 };
    begin(&t, "%d|%5u|%-4x|%ld|%hhd %c%%\n");
    ARGUMENT(&t, int32_t, -7);
    ARGUMENT(&t, uint32_t, 4000000000u);
    ARGUMENT(&t, uint32_t, 0xab);
    ARGUMENT(&t, int64_t, INT64_MIN);
    ARGUMENT(&t, int32_t, 511); /* a char: its low byte */
    ARGUMENT(&t, int32_t, 'q');
    begin(&t, "%.2f %g %a %s|%6s|\n");
    ARGUMENT(&t, float, 1.255f);
    ARGUMENT(&t, double, 1e-9);
    ARGUMENT(&t, float, 1.0f);
    ARGUMENT(&t, uint64_t, (uint64_t)(uintptr_t) "words");
    ARGUMENT(&t, uint64_t, (uint64_t)(uintptr_t) "six");
    expect(&t, "-7|4000000000|ab  |-9223372036854775808|-1 q%\n1.25 1e-09 0x1p+0 words|   six|\n");
}

static void vectors(void **state)
{
    (void)state;
    tape t = { .count = 0 };
    begin(&t, "%v4hlf;%v3hhd;%v2hu;%04.1v2hlf;%v2ld");
    ARGUMENT(&t, float, 1, 2.5f, -3, 0);
    ARGUMENT(&t, int8_t, 1, -2, 3, 99); /* of three there are four in memory */
    ARGUMENT(&t, uint16_t, 65535, 1);
    ARGUMENT(&t, float, 1.25f, 2);
    ARGUMENT(&t, int64_t, -1, 5000000000);
    expect(&t, "1.000000,2.500000,-3.000000,0.000000;1,-2,3;65535,1;01.2,02.0;-1,5000000000");
}

static void oddities(void **state)
{
    (void)state;
    tape t = { .count = 0 };
    begin(&t, "100%! of %y and %d"); /* no conversions, and one argument too few */
    expect(&t, "100%! of %y and ");
    t.count = 0;
    begin(&t, "%f");
    ARGUMENT(&t, uint16_t, 0x3e00); /* half a float */
    expect(&t, "1.500000");
}

static void damage(void **state)
{
    (void)state;
    tape t = { .count = 0 };
    text_buffer out = { 0 };
    ls_error err;
    begin(&t, "first\n");
    begin(&t, "second\n");
    uint32_t whole = 4096;
    memcpy(t.at + t.start, &whole, sizeof whole);
    assert_int_equal(ocl_printf_format(t.at, t.count, fetch, NULL, &out, &err), LS_ERR_INPUT);
    assert_string_equal(text_get(&out), "first\n");
    whole = 0; /* here the buffer was full */
    memcpy(t.at + t.start, &whole, sizeof whole);
    text_clear(&out);
    assert_int_equal(ocl_printf_format(t.at, t.count, fetch, NULL, &out, &err), LS_OK);
    assert_string_equal(text_get(&out), "first\n");
    text_fini(&out);
}

static void prelude(void **state)
{
    (void)state;
    assert_true(ocl_printf_wanted("kernel void f() { printf(\"x\"); }"));
    assert_true(ocl_printf_wanted("#include \"a.h\"\n"));
    assert_false(ocl_printf_wanted("kernel void f() {}"));
    assert_non_null(strstr(ocl_printf_prelude(), "#define printf("));
    assert_non_null(strstr(ocl_printf_prelude(), OCL_PRINTF_MARK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars), cmocka_unit_test(vectors), cmocka_unit_test(oddities),
        cmocka_unit_test(damage),  cmocka_unit_test(prelude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
