/* Expressions of the debugger: precedence, registers, and refusals. */
#include "debug/debug_expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A register's value tells which one it is. */
static ls_status read(void *self, const debug_register *r, uint64_t *out, ls_error *err)
{
    (void)self, (void)err;
    *out = (uint64_t)r->kind * 100000 + r->first * 100 + r->count * 10 + r->lane;
    return LS_OK;
}

static ls_status name(void *self, const char *text, size_t bytes, uint64_t *out, ls_error *err)
{
    (void)self;
    if (bytes != 3 || memcmp(text, "out", 3) != 0)
        return ls_fail(err, LS_ERR_USAGE, "no such name");
    *out = 0x1000;
    return LS_OK;
}

static ls_status load(void *self, uint64_t address, uint32_t bytes, uint64_t *out, ls_error *err)
{
    (void)self, (void)err;
    *out = address * 2 + bytes;
    return LS_OK;
}

static const debug_scope scope = { .read = read, .name = name, .load = load };

static void is(const char *text, uint64_t expected)
{
    uint64_t value = 0;
    const char *end;
    ls_error err;
    if (debug_eval(text, &scope, &value, &end, &err) != LS_OK)
        fail_msg("%s: %s", text, err.what);
    assert_string_equal(end, "");
    if (value != expected)
        fail_msg("%s is %llu, not %llu", text, (unsigned long long)value, (unsigned long long)expected);
}

static void is_wrong(const char *text, const char *says)
{
    uint64_t value = 0;
    const char *end;
    ls_error err;
    assert_int_equal(debug_eval(text, &scope, &value, &end, &err), LS_ERR_USAGE);
    if (!strstr(err.what, says))
        fail_msg("'%s' does not say '%s'", err.what, says);
}

static void test_operators(void **state)
{
    (void)state;
    is("1 + 2 * 3", 7);
    is("(1 + 2) * 3", 9);
    is("10 - 3 - 2", 5);
    is("1 << 4 | 1", 17);
    is("7 & 3 == 3", 1);
    is("2 > 1 && 3 != 4", 1);
    is("0 || 2 <= 1", 0);
    is("!0 + ~0", 0);
    is("-1 == 0xffffffffffffffff", 1);
    is("17 % 5 + 17 / 5", 5);
    is("1 << 64", 0);
    is("out + 0x10", 0x1010);
    is("*(out + 4)", 0x1004 * 2 + 4);
    is_wrong("1 / 0", "division by 0");
    is_wrong("1 +", "a value is missing at the end");
    is_wrong("(1", "')' is missing");
    is_wrong("in + 1", "no such name");
    is_wrong("0x", "0x");
}

static void test_registers(void **state)
{
    (void)state;
    is("$s4", 410);
    is("$s[4:5]", 420);
    is("$v3[7]", 100000 + 317);
    is("$v[2:3][1]", 100000 + 221);
    is("$exec - 200000", (uint64_t)DEBUG_EXEC * 100 + 10);
    is_wrong("$q", "'$q' is no register");
    is_wrong("$s106", "there is no register s106");
    is_wrong("$v256", "there is no register v256");
    is_wrong("$v3[64]", "there is no lane 64");
    is_wrong("$s[5:4]", "is no register");
    is_wrong("$s[0:16]", "is no register");
}

/* Where the expression ends is the caller's business. */
static void test_end(void **state)
{
    (void)state;
    uint64_t value = 0;
    const char *end;
    assert_int_equal(debug_eval("16 :f32", &scope, &value, &end, NULL), LS_OK);
    assert_string_equal(end, ":f32");
    assert_int_equal(value, 16);
}

static void test_depth(void **state)
{
    (void)state;
    char text[400];
    memset(text, '(', sizeof text);
    text[sizeof text - 1] = '\0';
    is_wrong(text, "nested too deeply");
    memset(text, '-', sizeof text - 1);
    is_wrong(text, "nested too deeply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
