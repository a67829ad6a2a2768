/* math32.cl: the math built-in functions for float; the test compares with references in higher precision and
 * the limits of the OpenCL specification. The kernel's name after f32_ is the reference's. */

#define UNARY(name)                                                                                           \
    __kernel void f32_##name(__global const float *a, __global float *out)                                    \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = name(a[i]);                                                                             \
    }
#define BINARY(name)                                                                                          \
    __kernel void f32_##name(__global const float *a, __global const float *b, __global float *out)           \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = name(a[i], b[i]);                                                                       \
    }

UNARY(acos)
UNARY(acosh)
UNARY(acospi)
UNARY(asin)
UNARY(asinh)
UNARY(asinpi)
UNARY(atan)
UNARY(atanh)
UNARY(atanpi)
UNARY(cbrt)
UNARY(cos)
UNARY(cosh)
UNARY(cospi)
UNARY(erf)
UNARY(erfc)
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
UNARY(sinh)
UNARY(sinpi)
UNARY(sqrt)
UNARY(tan)
UNARY(tanh)
UNARY(tanpi)
UNARY(tgamma)
BINARY(atan2)
BINARY(atan2pi)
BINARY(hypot)
BINARY(pow)

__kernel void f32_powr(__global const float *a, __global const float *b, __global float *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = powr(fabs(a[i]), b[i]);
}

__kernel void f32_divide(__global const float *a, __global const float *b, __global float *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = a[i] / b[i];
}

__kernel void f32_reciprocal(__global const float *a, __global float *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = 1.0f / a[i];
}

/* a to a whole power, and its root; the reference knows the numbers. */
__kernel void f32_pown7(__global const float *a, __global float *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = pown(a[i], 7);
}

__kernel void f32_rootn3(__global const float *a, __global float *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = rootn(a[i], 3);
}

__kernel void f32_sincos_sin(__global const float *a, __global float *out)
{
    const size_t i = get_global_id(0);
    float cosine;
    out[i * 32] = sincos(a[i], &cosine);
}

__kernel void f32_sincos_cos(__global const float *a, __global float *out)
{
    const size_t i = get_global_id(0);
    float cosine;
    sincos(a[i], &cosine);
    out[i * 32] = cosine;
}

/* Built from several operations of tame inputs: near the CPU's results. */
__kernel void geometry(__global const float4 *unit, __global const float4 *unit_b, __global float *out_ulp1000)
{
    const size_t i = get_global_id(0);
    const float4 x = fabs(unit[i]) + 0.25f, y = fabs(unit_b[i]) + 0.5f;
    __global float *to = out_ulp1000 + i * 32;
    to[0] = dot(x, y);
    to[1] = length(x);
    to[2] = distance(x, y + 2.0f);
    vstore4(normalize(x), 2, to);
    to[3] = fast_length(x.xy);
    vstore3(cross(x.xyz, (float3)(-y.x, y.y, y.z)), 1, to + 1);
    vstore4(mix(x, y, 0.25f), 4, to);
    vstore4(smoothstep((float4)(0.0f), (float4)(2.0f), x), 5, to);
    vstore4(step(x, y), 6, to);
    to[28] = degrees(x.x);
    to[29] = radians(x.y);
    to[30] = mad(x.x, y.x, x.z);
}

__kernel void native(__global const float *unit, __global float *out_ulp65536)
{
    const size_t i = get_global_id(0);
    const float x = fabs(unit[i]) + 0.5f;
    __global float *to = out_ulp65536 + i * 32;
    to[0] = native_sin(x);
    to[1] = native_cos(x * 0.5f);
    to[2] = native_exp(x);
    to[3] = native_exp2(x);
    to[4] = native_log(x + 1.0f);
    to[5] = native_log2(x + 1.0f);
    to[6] = native_sqrt(x);
    to[7] = native_rsqrt(x);
    to[8] = native_recip(x);
    to[9] = native_divide(x, x + 1.0f);
    to[10] = native_powr(x, 1.5f);
    to[11] = half_exp(x);
    to[12] = half_sqrt(x);
    to[13] = half_divide(x, 3.0f);
}
