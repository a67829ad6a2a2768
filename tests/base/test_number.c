/* test_number.c: the inputs that each parser accepts or refuses, and the exact messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void u64_good(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        { "0", 0 },
        { "007", 7 },
        { "1_000_000", 1000000 },
        { "18446744073709551615", UINT64_MAX },
        { "18_446_744_073_709_551_615", UINT64_MAX },
        { "000000000000000000000000000000000001", 1 },
        { "0x0", 0 },
        { "0xfFfF_0000", 0xFFFF0000 },
        { "0xffffffffffffffff", UINT64_MAX },
        { "0x00000000000000000000000000000001", 1 },
        { "0b1010", 10 },
        { "0b1111_1111", 255 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        uint64_t value = 99;
        assert_int_equal(parse_u64(cases[i].text, strlen(cases[i].text), &value, NULL), LS_OK);
        assert_true(value == cases[i].value);
    }
}

/* Every parser leaves *out alone when it fails, and leaves the place to the caller. */
#define REFUSES(parse, type, initial, text_, what_)                                                           \
    do {                                                                                                      \
        type value = initial;                                                                                 \
        ls_error err;                                                                                         \
        assert_int_equal(parse(text_, strlen(text_), &value, &err), LS_ERR_INPUT);                            \
        assert_string_equal(err.what, what_);                                                                 \
        assert_string_equal(err.where, "");                                                                   \
        assert_true(value == initial);                                                                        \
        assert_int_equal(parse(text_, strlen(text_), &value, NULL), LS_ERR_INPUT);                            \
    } while (0)

static void u64_bad(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } cases[] = {
        { "", "'' is not a whole number: it is empty" },
        { "12x4", "'12x4' is not a whole number: unexpected 'x' at character 3" },
        { " 1", "' 1' is not a whole number: unexpected ' ' at character 1" },
        { "1 ", "'1 ' is not a whole number: unexpected ' ' at character 2" },
        { "+1", "'+1' is not a whole number: unexpected '+' at character 1" },
        { "-1", "'-1' must not be negative" },
        { "-", "'-' is not a whole number: unexpected '-' at character 1" },
        { "1.", "'1.' is not a whole number: unexpected '.' at character 2" },
        { ".5", "'.5' is not a whole number: unexpected '.' at character 1" },
        { "1e3", "'1e3' is not a whole number: unexpected 'e' at character 2" },
        { "0x", "'0x' is not a whole number: a digit is missing at character 3" },
        { "0b", "'0b' is not a whole number: a digit is missing at character 3" },
        { "0xg", "'0xg' is not a whole number: unexpected 'g' at character 3" },
        { "0b2", "'0b2' is not a whole number: unexpected '2' at character 3" },
        { "0X1", "'0X1' is not a whole number: unexpected 'X' at character 2" },
        { "_1", "'_1' is not a whole number: unexpected '_' at character 1" },
        { "1_", "'1_' is not a whole number: unexpected '_' at character 2" },
        { "1__2", "'1__2' is not a whole number: unexpected '_' at character 2" },
        { "0x_1", "'0x_1' is not a whole number: unexpected '_' at character 3" },
        { "0_x1", "'0_x1' is not a whole number: unexpected '_' at character 2" },
        { "1\xC2\xB5", "'1\xC2\xB5' is not a whole number: unexpected '\xC2\xB5' at character 2" },
        { "1\xFF", "'1\\xFF' is not a whole number: unexpected '\\xFF' at character 2" },
        { "18446744073709551616",
          "'18446744073709551616' is too large: the largest number is 18446744073709551615" },
        { "99999999999999999999",
          "'99999999999999999999' is too large: the largest number is 18446744073709551615" },
        { "0x10000000000000000",
          "'0x10000000000000000' is too large: the largest number is 18446744073709551615" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        REFUSES(parse_u64, uint64_t, 99, cases[i].text, cases[i].what);
    /* The length counts, not the terminator. */
    uint64_t value;
    ls_error err;
    assert_int_equal(parse_u64("123", 2, &value, &err), LS_OK);
    assert_int_equal(value, 12);
    assert_int_equal(parse_u64("1\0002", 3, &value, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "'1\\x002' is not a whole number: unexpected '\\x00' at character 2");
}

static void i64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        { "0", 0 },
        { "-0", 0 },
        { "-1", -1 },
        { "-0x10", -16 },
        { "9223372036854775807", INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "-0x8000000000000000", INT64_MIN },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        int64_t value = 99;
        assert_int_equal(parse_i64(cases[i].text, strlen(cases[i].text), &value, NULL), LS_OK);
        assert_true(value == cases[i].value);
    }
    REFUSES(parse_i64, int64_t, 99, "9223372036854775808",
            "'9223372036854775808' is too large: the largest number is 9223372036854775807");
    REFUSES(parse_i64, int64_t, 99, "-9223372036854775809",
            "'-9223372036854775809' is too small: the smallest number is -9223372036854775808");
    REFUSES(parse_i64, int64_t, 99, "-", "'-' is not a whole number: a digit is missing at character 2");
    REFUSES(parse_i64, int64_t, 99, "--1", "'--1' is not a whole number: unexpected '-' at character 2");
    REFUSES(parse_i64, int64_t, 99, "", "'' is not a whole number: it is empty");
}

static void real(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "0", 0 },
        { "-0.0", 0 },
        { "1.5", 1.5 },
        { "-2.5e-3", -2.5e-3 },
        { "1E+3", 1000 },
        { "0.1", 0.1 },
        { "1_000.000_5", 1000.0005 },
        { "1.7976931348623157e308", 1.7976931348623157e308 },
        { "4.9e-324", 4.9406564584124654e-324 },
        { "9007199254740993", 9007199254740992.0 }, /* a tie goes to even */
        { "0e999999999999999999999", 0 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        double value = 99;
        assert_int_equal(parse_real(cases[i].text, strlen(cases[i].text), &value, NULL), LS_OK);
        assert_true(value == cases[i].value);
    }
    static const struct {
        const char *text, *what;
    } bad[] = {
        { "", "'' is not a number: it is empty" },
        { "1.", "'1.' is not a number: a digit is missing at character 3" },
        { ".5", "'.5' is not a number: unexpected '.' at character 1" },
        { "1.5.2", "'1.5.2' is not a number: unexpected '.' at character 4" },
        { "1e", "'1e' is not a number: a digit is missing at character 3" },
        { "1e+", "'1e+' is not a number: a digit is missing at character 4" },
        { "1e5x", "'1e5x' is not a number: unexpected 'x' at character 4" },
        { "1._5", "'1._5' is not a number: unexpected '_' at character 3" },
        { "1,5", "'1,5' is not a number: unexpected ',' at character 2" },
        { "nan", "'nan' is not a number: unexpected 'n' at character 1" },
        { "-inf", "'-inf' is not a number: unexpected 'i' at character 2" },
        { "0x1p3", "'0x1p3' is not a number: unexpected 'x' at character 2" },
        { "1e309", "'1e309' is too large: the largest number is about 1.8e308" },
        { "-1e309", "'-1e309' is too large: the largest number is about 1.8e308" },
        { "1e-400", "'1e-400' is too small: the smallest number above 0 is about 4.9e-324" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++)
        REFUSES(parse_real, double, 99.0, bad[i].text, bad[i].what);
}

static void real_of_any_length(void **state)
{
    (void)state;
    char text[5000];
    memset(text, '9', sizeof text);
    double value;
    ls_error err;
    assert_int_equal(parse_real(text, 300, &value, &err), LS_OK);
    assert_true(value == 1e300);
    assert_int_equal(parse_real(text, 1023, &value, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "too large"));
    assert_int_equal(parse_real(text, sizeof text, &value, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "at most 1023 characters"));
    assert_true(strlen(err.what) < 150);
}

static void ratio(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t num, den;
    } cases[] = {
        { "0", 0, 1 },
        { "0.000", 0, 1 },
        { "1365", 1365, 1 },
        { "3500.5", 7001, 2 },
        { "1.250", 5, 4 },
        { "0.1", 1, 10 },
        { "1_000.5", 2001, 2 },
        { "0000000000000000000000001.5", 3, 2 },
        { "1.5000000000000000000000000", 3, 2 },
        { "999999999999999999", UINT64_C(999999999999999999), 1 },
        { "0.000000000000000001", 1, UINT64_C(1000000000000000000) },
        { "1.23456789012345678", UINT64_C(61728394506172839), UINT64_C(50000000000000000) },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_ratio value;
        assert_int_equal(parse_ratio(cases[i].text, strlen(cases[i].text), &value, NULL), LS_OK);
        assert_true(value.num == cases[i].num && value.den == cases[i].den);
    }
    static const struct {
        const char *text, *what;
    } bad[] = {
        { "", "'' is not a number: it is empty" },
        { "1.", "'1.' is not a number: a digit is missing at character 3" },
        { ".5", "'.5' is not a number: unexpected '.' at character 1" },
        { "1e3", "'1e3' is not a number: unexpected 'e' at character 2" },
        { "-1.5", "'-1.5' must not be negative" },
        { "1000000000000000000",
          "'1000000000000000000' has more than 18 digits, the most that are kept exactly" },
        { "1.234567890123456789",
          "'1.234567890123456789' has more than 18 digits, the most that are kept exactly" },
        { "0.0000000000000000001", "'0.0000000000000000001' has more than 18 digits after the point" },
        { "99999999999999999999999999999999999999",
          "'99999999999999999999999999999999999999' has more than 18 digits, the most that are kept exactly" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++) {
        ls_ratio value = { 99, 98 };
        ls_error err;
        assert_int_equal(parse_ratio(bad[i].text, strlen(bad[i].text), &value, &err), LS_ERR_INPUT);
        assert_string_equal(err.what, bad[i].what);
        assert_true(value.num == 99 && value.den == 98);
    }
}

static void boolean(void **state)
{
    (void)state;
    bool value = false;
    assert_int_equal(parse_bool("true", 4, &value, NULL), LS_OK);
    assert_true(value);
    assert_int_equal(parse_bool("false", 5, &value, NULL), LS_OK);
    assert_false(value);
    static const struct {
        const char *text, *nearest;
    } bad[] = {
        { "True", "true" }, { "FALSE", "false" }, { "yes", "true" }, { "off", "false" }, { "1", "true" },
        { "0", "false" },   { "flase", "false" }, { "", "" },        { "maybe", "" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++) {
        ls_error err;
        value = true;
        assert_int_equal(parse_bool(bad[i].text, strlen(bad[i].text), &value, &err), LS_ERR_INPUT);
        assert_string_equal(err.nearest, bad[i].nearest);
        assert_true(value);
    }
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ls_time value;
    } cases[] = {
        { "17fs", 17 },
        { "12ps", 12000 },
        { "200ns", 200000000 },
        { "1.5us", 1500000000 },
        { "3ms", UINT64_C(3000000000000) },
        { "2s", UINT64_C(2000000000000000) },
        { "0s", 0 },
        { "0.000000000000001s", 1 },
        { "1_000ns", 1000000000 },
        { "18446744073709551614fs", LS_TIME_MAX - 1 },
        { "18446.744073709551614s", LS_TIME_MAX - 1 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_time value = 99;
        assert_int_equal(parse_time(cases[i].text, strlen(cases[i].text), &value, NULL), LS_OK);
        assert_true(value == cases[i].value);
    }
    static const struct {
        const char *text, *what, *nearest;
    } bad[] = {
        { "", "'' is not a time: it is empty", "" },
        { "200", "'200' has no unit: fs, ps, ns, us, ms or s", "" },
        { "ns", "'ns' is not a time: unexpected 'n' at character 1", "" },
        { "5 ns", "'5 ns' is not a time: unexpected ' ' at character 2", "" },
        { "5NS", "'5NS' is not a time: unknown unit 'NS' at character 2 (fs, ps, ns, us, ms, s)", "ns" },
        { "5sec", "'5sec' is not a time: unknown unit 'sec' at character 2 (fs, ps, ns, us, ms, s)", "" },
        { "5nss", "'5nss' is not a time: unknown unit 'nss' at character 2 (fs, ps, ns, us, ms, s)", "ns" },
        { "5ns\n", "'5ns\\x0A' is not a time: unknown unit 'ns\\x0A' at character 2 (fs, ps, ns, us, ms, s)",
          "" },
        { "-1ns", "'-1ns' is not a time: unexpected '-' at character 1", "" },
        { "1.5fs", "'1.5fs' is not a whole number of femtoseconds", "" },
        { "0.0000000000000001s", "'0.0000000000000001s' is not a whole number of femtoseconds", "" },
        { "18446744073709551615fs",
          "'18446744073709551615fs' is too long: simulated time ends after 18446 seconds", "" },
        { "20000s", "'20000s' is too long: simulated time ends after 18446 seconds", "" },
        { "99999999999999999999999999999999999999s",
          "'99999999999999999999999999999999999999s' is too long: simulated time ends after 18446 seconds",
          "" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++) {
        ls_time value = 99;
        ls_error err;
        assert_int_equal(parse_time(bad[i].text, strlen(bad[i].text), &value, &err), LS_ERR_INPUT);
        assert_string_equal(err.what, bad[i].what);
        assert_string_equal(err.nearest, bad[i].nearest);
        assert_int_equal(value, 99);
    }
}

static void monster_value_is_one_short_line(void **state)
{
    (void)state;
    size_t bytes = 1 << 20;
    char *monster = malloc(bytes);
    assert_non_null(monster);
    memset(monster, '7', bytes);
    uint64_t u;
    int64_t i;
    double d;
    ls_ratio r;
    bool b;
    ls_time t;
    ls_error err[6];
    assert_int_equal(parse_u64(monster, bytes, &u, &err[0]), LS_ERR_INPUT);
    assert_int_equal(parse_i64(monster, bytes, &i, &err[1]), LS_ERR_INPUT);
    assert_int_equal(parse_real(monster, bytes, &d, &err[2]), LS_ERR_INPUT);
    assert_int_equal(parse_ratio(monster, bytes, &r, &err[3]), LS_ERR_INPUT);
    assert_int_equal(parse_bool(monster, bytes, &b, &err[4]), LS_ERR_INPUT);
    assert_int_equal(parse_time(monster, bytes, &t, &err[5]), LS_ERR_INPUT);
    for (unsigned k = 0; k < 6; k++) {
        assert_in_range(strlen(err[k].what), 30, 200);
        assert_memory_equal(err[k].what, "'7777", 5);
        assert_non_null(strstr(err[k].what, "777...'"));
    }
    free(monster);
}

int main(void)
{
    setlocale(LC_ALL, ""); /* numbers must not care */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u64_good),
        cmocka_unit_test(u64_bad),
        cmocka_unit_test(i64),
        cmocka_unit_test(real),
        cmocka_unit_test(ratio),
        cmocka_unit_test(real_of_any_length),
        cmocka_unit_test(boolean),
        cmocka_unit_test(times),
        cmocka_unit_test(monster_value_is_one_short_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
