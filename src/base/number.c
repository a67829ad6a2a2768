/* number.c: exact parsing of numbers, with the position of the first wrong character. */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum {
    QUOTE_BYTES = 64,  /* of the user's text in an error */
    REAL_BYTES = 1024, /* longest text of a real number, with its terminator */
    RATIO_DIGITS = 18  /* 10^18 fits into 64 bits */
};

static uint64_t power_of_10(size_t exponent) /* up to 19 */
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* ----------------------------------------------------------------------------------------------- errors */

/* "'12x4' is not a number: unexpected 'x' at character 3". The text before `at` is ASCII, so bytes are
 * characters. */
static ls_status fail_at(ls_error *err, const char *s, size_t bytes, size_t at, const char *noun)
{
    char text[QUOTE_BYTES], wrong[24];
    quote_text(s, bytes, text, sizeof text);
    if (bytes == 0)
        return ls_fail(err, LS_ERR_INPUT, "'' is not a %s: it is empty", noun);
    if (at >= bytes)
        return ls_fail(err, LS_ERR_INPUT, "'%s' is not a %s: a digit is missing at character %zu", text, noun,
                       at + 1);
    uint32_t code;
    size_t length = utf8_next(s + at, bytes - at, &code);
    return ls_fail(err, LS_ERR_INPUT, "'%s' is not a %s: unexpected '%s' at character %zu", text, noun,
                   quote_text(s + at, length > 0 ? length : 1, wrong, sizeof wrong), at + 1);
}

/* "'300' is too large: the largest is ...". */
static ls_status fail_range(ls_error *err, const char *s, size_t bytes, const char *problem)
{
    char text[QUOTE_BYTES];
    return ls_fail(err, LS_ERR_INPUT, "'%s' %s", quote_text(s, bytes, text, sizeof text), problem);
}

/* --------------------------------------------------------------------------------------- whole numbers */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* A digit, or an underscore that stands between two digits. */
static bool in_run(const char *s, size_t bytes, size_t at, size_t first, int base)
{
    if (digit_of(s[at]) < base)
        return true;
    return s[at] == '_' && at > first && s[at - 1] != '_' && at + 1 < bytes && digit_of(s[at + 1]) < base;
}

/* Reads an unsigned whole number from s[*at] to the end. False with *at on the first wrong character (bytes: a
 * digit is missing). *overflow: the value does not fit. */
static bool scan_whole(const char *s, size_t bytes, size_t *at, uint64_t *value, bool *overflow)
{
    int base = 10;
    if (bytes - *at >= 2 && s[*at] == '0' && (s[*at + 1] == 'x' || s[*at + 1] == 'b')) {
        base = s[*at + 1] == 'x' ? 16 : 2;
        *at += 2;
    }
    *value = 0;
    *overflow = false;
    size_t first = *at;
    for (; *at < bytes; ++*at) {
        if (!in_run(s, bytes, *at, first, base))
            return false;
        if (s[*at] == '_')
            continue;
        if (__builtin_mul_overflow(*value, (uint64_t)base, value) ||
            __builtin_add_overflow(*value, (uint64_t)digit_of(s[*at]), value))
            *overflow = true;
    }
    return *at > first;
}

ls_status parse_u64(const char *s, size_t bytes, uint64_t *out, ls_error *err)
{
    uint64_t value;
    bool overflow;
    size_t at = 0;
    if (!scan_whole(s, bytes, &at, &value, &overflow)) {
        int64_t negative;
        if (bytes > 1 && s[0] == '-' && parse_i64(s, bytes, &negative, NULL) == LS_OK)
            return fail_range(err, s, bytes, "must not be negative");
        return fail_at(err, s, bytes, at, "whole number");
    }
    if (overflow)
        return fail_range(err, s, bytes, "is too large: the largest number is 18446744073709551615");
    *out = value;
    return LS_OK;
}

ls_status parse_i64(const char *s, size_t bytes, int64_t *out, ls_error *err)
{
    uint64_t value;
    bool overflow;
    bool negative = bytes > 0 && s[0] == '-';
    size_t at = negative;
    if (!scan_whole(s, bytes, &at, &value, &overflow))
        return fail_at(err, s, bytes, at, "whole number");
    if (overflow || value > (uint64_t)INT64_MAX + negative)
        return fail_range(err, s, bytes,
                          negative ? "is too small: the smallest number is -9223372036854775808"
                                   : "is too large: the largest number is 9223372036854775807");
    /* -2^63 has no positive counterpart, so the sign goes in before the conversion. */
    *out = negative ? -(int64_t)(value - (value > 0)) - (value > 0) : (int64_t)value;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------ decimal fractions */

/* value * 10^-places, without zeros at the end of the fraction. */
typedef struct decimal {
    u128 value;
    size_t places;
    size_t digits; /* from the first that is not 0 */
    bool too_long; /* more digits than can be kept: value means nothing */
} decimal;

static void decimal_digit(decimal *d, char c)
{
    d->value = d->value * 10 + (unsigned)(c - '0');
    d->digits += d->digits > 0 || c != '0';
    d->too_long |= d->digits > 36;
}

/* Reads digits[.digits] from s[*at] on and stops after it; false with *at where a digit is missing. */
static bool scan_decimal(const char *s, size_t bytes, size_t *at, decimal *d)
{
    *d = (decimal){ 0 };
    size_t first = *at;
    for (; *at < bytes && in_run(s, bytes, *at, first, 10); ++*at)
        if (s[*at] != '_')
            decimal_digit(d, s[*at]);
    if (*at == first)
        return false;
    if (*at == bytes || s[*at] != '.')
        return true;
    first = ++*at;
    size_t zeros = 0; /* they count only if another digit follows */
    for (; *at < bytes && in_run(s, bytes, *at, first, 10); ++*at) {
        if (s[*at] == '_')
            continue;
        if (s[*at] == '0') {
            zeros++;
            continue;
        }
        d->places += zeros + 1;
        for (; zeros > 0 && !d->too_long; zeros--)
            decimal_digit(d, '0');
        zeros = 0;
        decimal_digit(d, s[*at]);
    }
    return *at > first;
}

ls_status parse_ratio(const char *s, size_t bytes, ls_ratio *out, ls_error *err)
{
    decimal d;
    size_t at = 0;
    if (!scan_decimal(s, bytes, &at, &d) || at < bytes) {
        double negative;
        if (bytes > 1 && s[0] == '-' && parse_real(s, bytes, &negative, NULL) == LS_OK)
            return fail_range(err, s, bytes, "must not be negative");
        return fail_at(err, s, bytes, at, "number");
    }
    if (d.too_long || d.digits > RATIO_DIGITS)
        return fail_range(err, s, bytes, "has more than 18 digits, the most that are kept exactly");
    if (d.places > RATIO_DIGITS)
        return fail_range(err, s, bytes, "has more than 18 digits after the point");
    *out = ls_ratio_make((uint64_t)d.value, power_of_10(d.places));
    return LS_OK;
}

ls_status parse_time(const char *s, size_t bytes, ls_time *out, ls_error *err)
{
    static const char *const units[] = { "fs", "ps", "ns", "us", "ms", "s" };
    decimal d;
    size_t at = 0;
    if (!scan_decimal(s, bytes, &at, &d))
        return fail_at(err, s, bytes, at, "time");
    if (at == bytes)
        return fail_range(err, s, bytes, "has no unit: fs, ps, ns, us, ms or s");
    size_t unit = 0;
    while (unit < LS_COUNT_OF(units) &&
           (strlen(units[unit]) != bytes - at || memcmp(units[unit], s + at, bytes - at) != 0))
        unit++;
    if (unit == LS_COUNT_OF(units)) {
        bool letter = (s[at] >= 'a' && s[at] <= 'z') || (s[at] >= 'A' && s[at] <= 'Z');
        if (!letter)
            return fail_at(err, s, bytes, at, "time");
        char text[QUOTE_BYTES], wrong[QUOTE_BYTES];
        quote_text(s + at, bytes - at, wrong, sizeof wrong);
        quote_text(s, bytes, text, sizeof text);
        ls_fail(err, LS_ERR_INPUT,
                "'%s' is not a time: unknown unit '%s' at character %zu (fs, ps, ns, us, ms, s)", text, wrong,
                at + 1);
        return ls_error_nearest(err, nearest_of(wrong, units, LS_COUNT_OF(units)));
    }
    size_t power = 3 * unit;
    if (d.places > power)
        return fail_range(err, s, bytes, "is not a whole number of femtoseconds");
    uint64_t factor = power_of_10(power - d.places);
    if (d.too_long || d.value > LS_TIME_MAX || d.value * factor >= LS_TIME_MAX)
        return fail_range(err, s, bytes, "is too long: simulated time ends after 18446 seconds");
    *out = (ls_time)(d.value * factor);
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------- real numbers */

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod() without the user's locale, which may have a decimal comma. */
static double to_double(const char *s)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale != (locale_t)0 ? strtod_l(s, NULL, c_locale) : strtod(s, NULL);
}

ls_status parse_real(const char *s, size_t bytes, double *out, ls_error *err)
{
    /* The grammar is checked here; strtod() then rounds what is known to be a plain decimal number. */
    decimal d;
    size_t at = bytes > 0 && s[0] == '-';
    if (!scan_decimal(s, bytes, &at, &d))
        return fail_at(err, s, bytes, at, "number");
    if (at < bytes && (s[at] == 'e' || s[at] == 'E')) {
        at++;
        at += at < bytes && (s[at] == '-' || s[at] == '+');
        size_t first = at;
        while (at < bytes && s[at] >= '0' && s[at] <= '9')
            at++;
        if (at == first)
            return fail_at(err, s, bytes, at, "number");
    }
    if (at < bytes)
        return fail_at(err, s, bytes, at, "number");
    if (bytes >= REAL_BYTES)
        return fail_range(err, s, bytes, "is too long: a number has at most 1023 characters");
    char plain[REAL_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < bytes; i++)
        if (s[i] != '_')
            plain[used++] = s[i];
    plain[used] = '\0';
    double value = to_double(plain);
    if (!isfinite(value))
        return fail_range(err, s, bytes, "is too large: the largest number is about 1.8e308");
    if (value == 0 && d.digits > 0)
        return fail_range(err, s, bytes, "is too small: the smallest number above 0 is about 4.9e-324");
    *out = value;
    return LS_OK;
}

ls_status parse_bool(const char *s, size_t bytes, bool *out, ls_error *err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = { { "true", true }, { "false", false }, { "yes", true }, { "no", false },
                  { "on", true },   { "off", false },   { "1", true },   { "0", false } };
    for (size_t i = 0; i < 2; i++)
        if (bytes == strlen(words[i].word) && memcmp(s, words[i].word, bytes) == 0) {
            *out = words[i].value;
            return LS_OK;
        }
    static const char *const valid[] = { "true", "false" };
    char text[QUOTE_BYTES];
    quote_text(s, bytes, text, sizeof text);
    const char *nearest = nearest_of(text, valid, 2);
    for (size_t i = 2; i < LS_COUNT_OF(words); i++)
        if (strcmp(text, words[i].word) == 0)
            nearest = words[i].value ? "true" : "false";
    ls_fail(err, LS_ERR_INPUT, "'%s' is neither true nor false", text);
    return ls_error_nearest(err, nearest);
}
