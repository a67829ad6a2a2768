/* diff_reference.c: the math functions in long double, and the distance of a result in units in the last
 * place. The limits are those of the OpenCL specification for the full profile. */
#include "diff.h"

#include <math.h>
#include <string.h>

#define PI_L 3.141592653589793238462643383279502884L

static long double acospi_of(long double x)
{
    return acosl(x) / PI_L;
}

static long double asinpi_of(long double x)
{
    return asinl(x) / PI_L;
}

static long double atanpi_of(long double x)
{
    return atanl(x) / PI_L;
}

static long double atan2pi_of(long double y, long double x)
{
    return atan2l(y, x) / PI_L;
}

/* The arguments are reduced to a quarter turn before pi comes in: exact. */
static long double sinpi_of(long double x)
{
    if (!isfinite(x))
        return NAN;
    long double turn = fmodl(x, 2);
    if (turn == 0 || fabsl(turn) == 1)
        return copysignl(0, x);
    if (fabsl(turn) > 0.5L)
        turn = fabsl(turn) < 1.5L ? copysignl(1, turn) - turn : turn - copysignl(2, turn);
    return fabsl(turn) == 0.5L ? copysignl(1, turn) : sinl(turn * PI_L);
}

static long double cospi_of(long double x)
{
    if (!isfinite(x))
        return NAN;
    const long double turn = fabsl(fmodl(x, 2)), half = turn > 1 ? 2 - turn : turn;
    return half == 0.5L ? 0 : sinl((0.5L - half) * PI_L);
}

/* tanpi(n) is 0 for even, -0 for odd n (with the sign of n); tanpi(n + 1/2) is infinite, + for even n. */
static long double tanpi_of(long double x)
{
    if (!isfinite(x))
        return NAN;
    const long double turn = fmodl(x, 2), size = fabsl(turn);
    if (size == 0)
        return copysignl(0, x);
    if (size == 1)
        return -copysignl(0, x);
    if (size == 0.5L)
        return copysignl(INFINITY, x);
    if (size == 1.5L)
        return -copysignl(INFINITY, x);
    const long double half = fmodl(x, 1);
    return tanl((fabsl(half) > 0.5L ? half - copysignl(1, half) : half) * PI_L);
}

static long double exp10_of(long double x)
{
    return powl(10, x);
}

static long double rsqrt_of(long double x)
{
    return 1 / sqrtl(x);
}

static long double divide(long double x, long double y)
{
    return x / y;
}

static long double reciprocal(long double x)
{
    return 1 / x;
}

/* glibc's powl takes -2^63 for odd. */
static long double pow_of(long double x, long double y)
{
    return isinf(x) ? (long double)pow((double)x, (double)y) : powl(x, y);
}

static long double pown7(long double x)
{
    return powl(x, 7);
}

/* powr(0, 0), powr(inf, 0) and powr(1, inf) are NaN, where pow has 1; its base is never negative. */
static long double powr_of(long double x, long double y)
{
    const long double base = fabsl(x);
    if (isnan(base) || isnan(y) || (y == 0 && (base == 0 || isinf(base))) || (base == 1 && isinf(y)))
        return NAN;
    return powl(base, y);
}

static const reference references[] = {
    { "acos", acosl, NULL, 4, 4, false },       { "acosh", acoshl, NULL, 4, 4, false },
    { "acospi", acospi_of, NULL, 5, 5, false }, { "asin", asinl, NULL, 4, 4, false },
    { "asinh", asinhl, NULL, 4, 4, false },     { "asinpi", asinpi_of, NULL, 5, 5, false },
    { "atan", atanl, NULL, 5, 5, false },       { "atanh", atanhl, NULL, 5, 5, false },
    { "atanpi", atanpi_of, NULL, 5, 5, false }, { "cbrt", cbrtl, NULL, 2, 2, false },
    { "cos", cosl, NULL, 4, 4, false },         { "cosh", coshl, NULL, 4, 4, false },
    { "cospi", cospi_of, NULL, 4, 4, false },   { "erf", erfl, NULL, 16, 16, false },
    { "erfc", erfcl, NULL, 16, 16, false },     { "exp", expl, NULL, 3, 3, false },
    { "exp2", exp2l, NULL, 3, 3, false },       { "exp10", exp10_of, NULL, 3, 3, false },
    { "expm1", expm1l, NULL, 3, 3, false },     { "log", logl, NULL, 3, 3, false },
    { "log2", log2l, NULL, 3, 3, false },       { "log10", log10l, NULL, 3, 3, false },
    { "log1p", log1pl, NULL, 2, 2, false },     { "rsqrt", rsqrt_of, NULL, 2, 2, false },
    { "sin", sinl, NULL, 4, 4, false },         { "sinh", sinhl, NULL, 4, 4, false },
    { "sinpi", sinpi_of, NULL, 4, 4, false },   { "sqrt", sqrtl, NULL, 3, 0.5, true },
    { "tan", tanl, NULL, 5, 5, false },         { "tanh", tanhl, NULL, 5, 5, false },
    { "tanpi", tanpi_of, NULL, 6, 6, false },   { "tgamma", tgammal, NULL, 16, 16, false },
    { "atan2", NULL, atan2l, 6, 6, false },     { "atan2pi", NULL, atan2pi_of, 6, 6, false },
    { "hypot", NULL, hypotl, 4, 4, false },     { "pow", NULL, pow_of, 16, 16, false },
    { "powr", NULL, powr_of, 16, 16, false },   { "divide", NULL, divide, 2.5, 0.5, false },
    { "pown7", pown7, NULL, 16, 16, false },    { "reciprocal", reciprocal, NULL, 2.5, 0.5, true },
    { "rootn3", cbrtl, NULL, 16, 16, false },   { "sincos_sin", sinl, NULL, 4, 4, false },
    { "sincos_cos", cosl, NULL, 4, 4, false },
};

const reference *reference_find(const char *kernel, bool *found)
{
    *found = true;
    if (strncmp(kernel, "f32_", 4) != 0 && strncmp(kernel, "f64_", 4) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        if (strcmp(references[i].name, kernel + 4) == 0)
            return &references[i];
    *found = false;
    return NULL;
}

double reference_ulps(double got, long double expected, unsigned bytes)
{
    const int digits = bytes == 2   ? 11
                       : bytes == 4 ? 24
                                    : 53,
              lowest = bytes == 2   ? -13
                       : bytes == 4 ? -125
                                    : -1021;
    const int highest = bytes == 2 ? 16 : bytes == 4 ? 128 : 1024;
    if (isnan(got) || isnan(expected))
        return isnan(got) && isnan(expected) ? 0 : (double)INFINITY;
    if (isinf(got) && isinf(expected))
        return (got > 0) == (expected > 0) ? 0 : (double)INFINITY;
    if (isinf(expected))
        return (double)INFINITY;
    int exponent = lowest;
    if (expected != 0)
        frexpl(expected, &exponent);
    exponent = exponent < lowest ? lowest : exponent > highest ? highest : exponent;
    const long double unit = ldexpl(1, exponent - digits);
    /* As if the range went on: an infinity stands one unit beyond the largest number. */
    const long double value = isinf(got) ? copysignl(ldexpl(1, highest), got) : (long double)got;
    if (isinf(got) && fabsl(expected) >= ldexpl(1, highest) && (expected > 0) == (got > 0))
        return 0;
    return (double)(fabsl(value - expected) / unit);
}
