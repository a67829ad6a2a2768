/* format.c: numbers as text: exact for machines, short for people. Never dependent on the locale. */
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* A truncated number looks like another number, so a number that does not fit becomes "#". */
static const char *put(char *out, size_t out_bytes, const char *text)
{
    size_t length = strlen(text);
    if (out_bytes == 0)
        return "#";
    if (length >= out_bytes) {
        text = out_bytes >= 2 ? "#" : "";
        length = out_bytes >= 2;
    }
    memcpy(out, text, length + 1);
    return out;
}

/* ------------------------------------------------------------------------------------------------ exact */

char *format_uint(char *out, uint64_t value)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0)
        *out++ = digits[--count];
    *out = '\0';
    return out;
}

/* printf() writes the decimal point of the user's locale, which may be several bytes. */
static void plain_point(char *text)
{
    char *from = text + strspn(text, "+-0123456789eE");
    if (*from == '\0' || *from == '.')
        return;
    char *rest = from + strcspn(from, "0123456789eE");
    *from = '.';
    memmove(from + 1, rest, strlen(rest) + 1);
}

static bool reads_back(const char *text, double value)
{
    double back;
    return parse_real(text, strlen(text), &back, NULL) == LS_OK && back == value;
}

/* Doubles lie twice as far apart above a power of two as below it. So a text of 16 digits a little above may
 * read back correctly where the closest one, a little below, does not. */
static bool reads_back_from_above(char *text, size_t text_bytes, double value)
{
    snprintf(text, text_bytes, "%#.16g", value);
    plain_point(text);
    char *last = text + strcspn(text, "e") - 1;
    if (*last < '0' || *last >= '9')
        return false;
    ++*last;
    return reads_back(text, value);
}

/* The digits of a fraction with its point before bit `point`, until what is left is less than half of the distance to
 * the next double. Distances are whole numbers of the same unit: 2 above and `below` below. Most fractions and ten times
 * them fit into 64 bits. */
#define SHORT_POINT_MAX 59u
#define PUT_FRACTION(name_, type_)                                                                            \
    static bool name_(type_ rest, type_ below, unsigned point, bool even, char *out)                          \
    {                                                                                                         \
        const type_ one = (type_)1 << point;                                                                  \
        type_ above = 2;                                                                                      \
        bool low = false, high = false;                                                                       \
        for (; !low && !high; out++) {                                                                        \
            rest *= 10;                                                                                       \
            above *= 10;                                                                                      \
            below *= 10;                                                                                      \
            *out = (char)('0' + (int)(rest >> point));                                                        \
            rest &= one - 1;                                                                                  \
            low = rest < below || (even && rest == below);                                                    \
            high = rest + above > one || (even && rest + above == one);                                       \
        }                                                                                                     \
        if (high && (!low || rest * 2 > one || (rest * 2 == one && out[-1] % 2 != 0)))                        \
            ++out[-1];                                                                                        \
        *out = '\0';                                                                                          \
        return true;                                                                                          \
    }
PUT_FRACTION(put_fraction_64, uint64_t)
PUT_FRACTION(put_fraction_128, u128)

/* The same for most numbers of results, those from 0.0001 to 1e9, by the method of Steele and White. All numbers are
 * whole multiples of a quarter of the last bit; the distance to the next double is half as long below a power of two. */
static bool format_short(double value, char *out)
{
    const double size = fabs(value);
    if (value == 0 && !signbit(value)) {
        format_uint(out, 0);
        return true;
    }
    if (!(size >= 1e-4 && size < 1e9))
        return false;
    if (value < 0)
        *out++ = '-';
    const uint64_t whole = (uint64_t)size;
    out = format_uint(out, whole);
    if ((double)whole == size)
        return true;
    int exponent;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(size, &exponent), 53);
    const unsigned point = (unsigned)(53 - exponent) + 2; /* its place, in bits */
    const uint64_t below = mantissa == UINT64_C(1) << 52 ? 1 : 2;
    *out++ = '.';
    if (point <= SHORT_POINT_MAX)
        return put_fraction_64(mantissa << 2 & ((UINT64_C(1) << point) - 1), below, point, mantissa % 2 == 0,
                               out);
    return put_fraction_128((u128)mantissa << 2 & (((u128)1 << point) - 1), below, point, mantissa % 2 == 0,
                            out);
}

const char *format_real(double value, char *out, size_t out_bytes)
{
    char text[48];
    if (format_short(value, text))
        return put(out, out_bytes, text);
    if (isnan(value))
        return put(out, out_bytes, "nan");
    if (isinf(value))
        return put(out, out_bytes, value < 0 ? "-inf" : "inf");
    /* 15 digits find every shorter text too, except where denormals have less precision than that; 17 always
     * read back. */
    for (int digits = fabs(value) < 0x1p-1022 ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        plain_point(text);
        if (reads_back(text, value) || (digits == 16 && reads_back_from_above(text, sizeof text, value)))
            break;
    }
    return put(out, out_bytes, text);
}

const char *format_ratio(ls_ratio value, char *out, size_t out_bytes)
{
    char text[LS_FORMAT_BYTES];
    uint64_t rest = value.den;
    while (rest != 0 && rest % 2 == 0)
        rest /= 2;
    while (rest != 0 && rest % 5 == 0)
        rest /= 5;
    if (rest != 1) {
        snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, value.num, value.den);
        return put(out, out_bytes, text);
    }
    /* Long division; it ends, after at most 63 digits. */
    size_t used = (size_t)(format_uint(text, value.num / value.den) - text);
    uint64_t remainder = value.num % value.den;
    if (remainder != 0)
        text[used++] = '.';
    while (remainder != 0) {
        u128 tenfold = (u128)remainder * 10;
        text[used++] = (char)('0' + (int)(tenfold / value.den));
        remainder = (uint64_t)(tenfold % value.den);
    }
    text[used] = '\0';
    return put(out, out_bytes, text);
}

/* ------------------------------------------------------------------------------------------- for people */

const char *format_count(uint64_t value, char *out, size_t out_bytes)
{
    char digits[24], text[32];
    size_t count = (size_t)(format_uint(digits, value) - digits);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return put(out, out_bytes, text);
}

/* value / 1000^steps with three digits; false if rounding makes it 1000, which belongs to the next prefix. */
static bool three_digits(double scaled, char out[16])
{
    if (scaled < 9.995)
        snprintf(out, 16, "%d.%02d", (int)(scaled * 100 + 0.5) / 100, (int)(scaled * 100 + 0.5) % 100);
    else if (scaled < 99.95)
        snprintf(out, 16, "%d.%d", (int)(scaled * 10 + 0.5) / 10, (int)(scaled * 10 + 0.5) % 10);
    else if (scaled < 999.5)
        snprintf(out, 16, "%d", (int)(scaled + 0.5));
    else
        return false;
    return true;
}

const char *format_time(ls_time value, char *out, size_t out_bytes)
{
    static const char *const units[] = { "fs", "ps", "ns", "us", "ms", "s" };
    char text[48], number[16];
    if (value == LS_TIME_MAX)
        return put(out, out_bytes, "never");
    if (value < 1000) {
        snprintf(text, sizeof text, "%" PRIu64 " fs", value);
        return put(out, out_bytes, text);
    }
    uint64_t unit_fs = 1;
    for (size_t i = 1; i < LS_COUNT_OF(units); i++) {
        unit_fs *= 1000;
        if (three_digits((double)value / (double)unit_fs, number)) {
            snprintf(text, sizeof text, "%s %s", number, units[i]);
            return put(out, out_bytes, text);
        }
    }
    snprintf(text, sizeof text, "%" PRIu64 " s", value / unit_fs + (value % unit_fs >= unit_fs / 2));
    return put(out, out_bytes, text);
}

const char *format_si(double value, const char *unit, char *out, size_t out_bytes)
{
    static const char *const prefixes[] = { "a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    char number[32] = "0", text[LS_FORMAT_BYTES];
    const char *prefix = "";
    double size = fabs(value);
    if (!isfinite(value))
        format_real(value, number, sizeof number);
    else if (size >= 5e-22) { /* below that nothing is left of three digits: 0 */
        double scaled = size * 1e18;
        size_t i = 0;
        char digits[16];
        while (i < LS_COUNT_OF(prefixes) && !three_digits(scaled, digits)) {
            i++;
            scaled = i <= 6 ? size * pow(10, 18.0 - 3.0 * (double)i) : size / pow(10, 3.0 * ((double)i - 6));
        }
        if (i < LS_COUNT_OF(prefixes)) {
            prefix = prefixes[i];
            snprintf(number, sizeof number, "%s%s", value < 0 ? "-" : "", digits);
        } else {
            snprintf(number, sizeof number, "%.2e", value);
            plain_point(number);
        }
    }
    bool space = unit[0] != '\0' || prefix[0] != '\0';
    int length = snprintf(text, sizeof text, "%s%s%s%s", number, space ? " " : "", prefix, unit);
    return put(out, out_bytes, length < (int)sizeof text ? text : "#");
}
