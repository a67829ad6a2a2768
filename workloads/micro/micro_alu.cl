/* micro_alu.cl: one instruction, repeated: MGPUSim's generated microbenchmarks (its section 4.2).
 *
 * A row at the end makes a kernel for each power of two up to 1024 of an instruction. The assembly of a vector
 * instruction works on %0, the chain's value, and %1; a scalar one works on s20 and s21. For other targets
 * than AMD GPUs the same chain is written in C, so that an OpenCL for the CPU can check the results. */

#ifdef __AMDGCN__
#define VECTOR(count, code, in_c) __asm__ volatile(".rept " #count "\n\t" code "\n\t.endr" : "+v"(x) : "v"(y))
#define SCALAR(count, code, in_c)                                                                             \
    __asm__ volatile("v_readfirstlane_b32 s20, %0\n\tv_readfirstlane_b32 s21, %1\n\t"                         \
                     ".rept " #count "\n\t" code "\n\t.endr\n\tv_mov_b32 %0, s20"                             \
                     : "+v"(x)                                                                                \
                     : "v"(y)                                                                                 \
                     : "s20", "s21", "scc")
#else
#define VECTOR(count, code, in_c)                                                                             \
    for (uint i = 0; i < count; i++)                                                                          \
    x = in_c
#define SCALAR VECTOR
#endif

#define KERNEL(name, type, count, unit, code, in_c)                                                           \
    __kernel void name##_##count(__global type *data, uint repeats)                                           \
    {                                                                                                         \
        type x = data[0], y = data[1];                                                                        \
        for (uint r = 0; r < repeats; r++) {                                                                  \
            unit(count, code, in_c);                                                                          \
        }                                                                                                     \
        data[2 + get_global_id(0)] = x;                                                                       \
    }

#define KERNELS(name, type, unit, code, in_c)                                                                 \
    KERNEL(name, type, 1, unit, code, in_c)                                                                   \
    KERNEL(name, type, 2, unit, code, in_c)                                                                   \
    KERNEL(name, type, 4, unit, code, in_c)                                                                   \
    KERNEL(name, type, 8, unit, code, in_c)                                                                   \
    KERNEL(name, type, 16, unit, code, in_c)                                                                  \
    KERNEL(name, type, 32, unit, code, in_c)                                                                  \
    KERNEL(name, type, 64, unit, code, in_c)                                                                  \
    KERNEL(name, type, 128, unit, code, in_c)                                                                 \
    KERNEL(name, type, 256, unit, code, in_c)                                                                 \
    KERNEL(name, type, 512, unit, code, in_c)                                                                 \
    KERNEL(name, type, 1024, unit, code, in_c)

KERNELS(v_add_f32, float, VECTOR, "v_add_f32 %0, %0, %1", x + y)
KERNELS(v_mul_f32, float, VECTOR, "v_mul_f32 %0, %0, %1", x *y)
KERNELS(v_fma_f32, float, VECTOR, "v_fma_f32 %0, %0, %1, %1", fma(x, y, y))
KERNELS(v_fma_f64, double, VECTOR, "v_fma_f64 %0, %0, %1, %1", fma(x, y, y))
KERNELS(v_max_u32, uint, VECTOR, "v_max_u32 %0, %0, %1", max(x, y))
KERNELS(v_xor_b32, uint, VECTOR, "v_xor_b32 %0, %0, %1", x ^ y)
KERNELS(v_mul_lo_u32, uint, VECTOR, "v_mul_lo_u32 %0, %0, %1", x *y)
KERNELS(v_rcp_f32, float, VECTOR, "v_rcp_f32 %0, %0", 1.0f / x)
KERNELS(s_add_u32, uint, SCALAR, "s_add_u32 s20, s20, s21", x + y)
KERNELS(s_mul_i32, uint, SCALAR, "s_mul_i32 s20, s20, s21", x *y)
