/* math64.cl: the math built-in functions for double, as math32.cl. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define UNARY(name)                                                                                           \
    __kernel void f64_##name(__global const double *a, __global double *out)                                  \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = name(a[i]);                                                                             \
    }
#define BINARY(name)                                                                                          \
    __kernel void f64_##name(__global const double *a, __global const double *b, __global double *out)        \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = name(a[i], b[i]);                                                                       \
    }

UNARY(acos)
UNARY(asin)
UNARY(asinh)
UNARY(atan)
UNARY(cbrt)
UNARY(cos)
UNARY(cosh)
UNARY(erf)
UNARY(exp)
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(rsqrt)
UNARY(sin)
UNARY(sinpi)
UNARY(sqrt)
UNARY(tan)
UNARY(tanh)
BINARY(atan2)
BINARY(hypot)
BINARY(pow)

__kernel void f64_divide(__global const double *a, __global const double *b, __global double *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = a[i] / b[i];
}

__kernel void f64_reciprocal(__global const double *a, __global double *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = 1.0 / a[i];
}
