/* test_format.c: texts that read back exactly, and short ones for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "lockstep/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void real(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { -0.0, "-0" },
        { 1, "1" },
        { 0.1, "0.1" },
        { 1.0 / 3, "0.3333333333333333" },
        { 1e22, "1e+22" },
        { 123456789.125, "123456789.125" },
        { 5e-324, "5e-324" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 9007199254740991, "9007199254740991" },
        { 0x1p-1018, "3.5601181736115222e-307" },
        { 0x1p-44, "5.684341886080802e-14" },
        { 0x1p-791, "7.678447687145631e-239" }, /* the closest 16 digits read back as another double */
        { NAN, "nan" },
        { INFINITY, "inf" },
        { -INFINITY, "-inf" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char out[LS_FORMAT_BYTES];
        assert_string_equal(format_real(cases[i].value, out, sizeof out), cases[i].text);
    }
}

static void real_reads_back(void **state)
{
    (void)state;
    ls_random random;
    ls_random_init(&random, 5);
    for (unsigned i = 0; i < 5000; i++) {
        uint64_t bits = ls_random_next(&random);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char out[LS_FORMAT_BYTES];
        format_real(value, out, sizeof out);
        assert_int_equal(parse_real(out, strlen(out), &back, NULL), LS_OK);
        assert_memory_equal(&value, &back, sizeof value);
        assert_true(strlen(out) <= 24);
    }
}

static void ratio(void **state)
{
    (void)state;
    static const struct {
        uint64_t num, den;
        const char *text;
    } cases[] = {
        { 0, 1, "0" },
        { 1365, 1, "1365" },
        { 7001, 2, "3500.5" },
        { 1, 8, "0.125" },
        { 3, 20, "0.15" },
        { 1, 3, "1/3" },
        { 10, 7, "10/7" },
        { 1, 0, "1/0" },
        { UINT64_MAX, 1, "18446744073709551615" },
        { UINT64_MAX, 2, "9223372036854775807.5" },
        { 1, UINT64_C(1) << 63, "0.000000000000000000108420217248550443400745280086994171142578125" },
        { 1, UINT64_C(10000000000000000000), "0.0000000000000000001" },
        { UINT64_MAX, UINT64_MAX - 1, "18446744073709551615/18446744073709551614" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char out[LS_FORMAT_BYTES];
        ls_ratio value = { cases[i].num, cases[i].den };
        assert_string_equal(format_ratio(value, out, sizeof out), cases[i].text);
    }
}

static void count(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { 12, "12" },
        { 999, "999" },
        { 1000, "1,000" },
        { 12345, "12,345" },
        { 1234567, "1,234,567" },
        { UINT64_MAX, "18,446,744,073,709,551,615" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char out[LS_FORMAT_BYTES];
        assert_string_equal(format_count(cases[i].value, out, sizeof out), cases[i].text);
    }
}

static void time_for_people(void **state)
{
    (void)state;
    static const struct {
        ls_time value;
        const char *text;
    } cases[] = {
        { 0, "0 fs" },
        { 999, "999 fs" },
        { 1000, "1.00 ps" },
        { 1234567, "1.23 ns" },
        { 12345678, "12.3 ns" },
        { 200000000, "200 ns" },
        { 999400000, "999 ns" },
        { 999600000, "1.00 us" },
        { 9996000000, "10.0 us" },
        { UINT64_C(3000000000000), "3.00 ms" },
        { UINT64_C(1500000000000000), "1.50 s" },
        { UINT64_C(1234500000000000000), "1235 s" },
        { LS_TIME_MAX - 1, "18447 s" },
        { LS_TIME_MAX, "never" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char out[LS_FORMAT_BYTES];
        assert_string_equal(format_time(cases[i].value, out, sizeof out), cases[i].text);
    }
}

static void si(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *unit, *text;
    } cases[] = {
        { 0, "B", "0 B" },
        { 12.3e6, "B", "12.3 MB" },
        { 1, "", "1.00" },
        { 999.4, "B/s", "999 B/s" },
        { 999.6, "B/s", "1.00 kB/s" },
        { 1365e6, "Hz", "1.37 GHz" },
        { -2.5e-6, "s", "-2.50 us" },
        { 4.2e5, "", "420 k" },
        { 7e20, "B", "700 EB" },
        { 1e24, "B", "1.00e+24 B" },
        { 1e-30, "s", "0 s" },
        { NAN, "B", "nan B" },
        { -INFINITY, "B", "-inf B" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char out[LS_FORMAT_BYTES];
        assert_string_equal(format_si(cases[i].value, cases[i].unit, out, sizeof out), cases[i].text);
    }
}

/* A number that is cut would be another number. */
static void too_little_room(void **state)
{
    (void)state;
    char out[8];
    assert_string_equal(format_count(1234567, out, sizeof out), "#");
    assert_string_equal(format_count(123456, out, sizeof out), "123,456");
    assert_string_equal(format_real(1.0 / 3, out, sizeof out), "#");
    assert_string_equal(format_ratio((ls_ratio){ 12345678, 1 }, out, 2), "#");
    assert_string_equal(format_time(1000, out, 1), "");
    assert_string_equal(format_si(1e3, "B", NULL, 0), "#");
}

/* The shortest of all texts that read back, and of these the closest: as printf() with 15, 16 or 17 digits. Numbers of
 * this size have a method of their own. */
static void short_real(void **state)
{
    (void)state;
    ls_random random;
    ls_random_init(&random, 7);
    for (int i = 0; i < 20000; i++) {
        char out[LS_FORMAT_BYTES], text[48];
        uint64_t over = ls_random_next(&random) >> (24 + i % 30),
                 under = ls_random_next(&random) >> (34 + i % 28);
        double value = (double)over / (double)(under | 1), back;
        if (i % 16 == 0) { /* beside a power of two, where the distances differ */
            uint64_t bits = (uint64_t)(1012 + i % 40) << 52;
            bits += (uint64_t)(i / 16 % 5) - 2;
            memcpy(&value, &bits, sizeof value);
        }
        if (value < 1e-4 || value >= 1e9)
            continue;
        int digits = 15;
        do
            snprintf(text, sizeof text, "%.*g", digits, value);
        while (sscanf(text, "%lf", &back) == 1 && back != value && ++digits <= 17);
        format_real(value, out, sizeof out);
        if (digits == 17 && strlen(out) < strlen(text)) { /* 16 digits that are not the closest */
            assert_int_equal(parse_real(out, strlen(out), &back, NULL), LS_OK);
            assert_true(back == value);
            continue;
        }
        assert_string_equal(out, text);
    }
    char out[LS_FORMAT_BYTES];
    assert_string_equal(format_real(-0.0, out, sizeof out), "-0");
    assert_string_equal(format_real(0.0001, out, sizeof out), "0.0001");
    assert_string_equal(format_real(999999999.5, out, sizeof out), "999999999.5");
    assert_string_equal(format_real(-0.1, out, sizeof out), "-0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real),  cmocka_unit_test(short_real),      cmocka_unit_test(real_reads_back),
        cmocka_unit_test(ratio), cmocka_unit_test(count),           cmocka_unit_test(time_for_people),
        cmocka_unit_test(si),    cmocka_unit_test(too_little_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
