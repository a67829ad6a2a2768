/* stamp.h: makes kernels of the rows of one .def file, for LANES lanes. Included with these set:
 *   LANES      32 or 64
 *   LANES_DEF  the .def file
 *   output: LANES_STAMP_PROTOTYPES, LANES_STAMP_KERNELS or LANES_STAMP_ROWS
 *
 * The words of a row: op, the types of destination and sources, and a statement for one lane that sets D from
 * S0, S1, S2. `i` is the lane and `w` the wave; the statement must not change them. Half-precision values are
 * held as float.
 *   I1 I2 I3     integers and moves: with floating-point operands, the host's usual environment
 *   L1           one source, and a statement about all lanes at once: sets t[] from a[]
 *   X3           with a quicker statement for waves in which something holds
 *   E1 E2 E3     the environment comes second; NaNs are what the statement makes of them
 *   F1 F2 F3     arithmetic of one type: a NaN result is the first NaN source made quiet, or the default NaN
 *   A3           as F3; S2 is the old destination
 *   J3           as I3; S2 is the old destination
 *   O2 O3        32-bit integers that also set CO, the carry; S2 of O3 is the carry in (0 or all ones)
 *   W2 W3        as E2, E3 with a bit out: sets D and CO
 *   CMP          compare: both v_cmp and v_cmpx
 *   P2 P3 PA     packed: the statement holds for each half; PA: S2 is the old destination
 *   M3           v_fma_mix: sources are float already; the flags say where the result goes
 *   SAT2 SAT3    the same operation as an earlier row, with the clamp bit set */

#define LANES_ARGS_                                                                                           \
    (uint32_t * d, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *mask,             \
     const amd_wave *w)
#define KERNEL_NAME(op) LANES_PASTE(op, LANES, LANES_VARIANT)
#define SAT_NAME(op) LANES_PASTE(op##_SAT, LANES, LANES_VARIANT)

#undef I1
#undef L1
#undef I2
#undef I3
#undef X3
#undef J3
#undef E1
#undef E2
#undef E3
#undef F1
#undef F2
#undef F3
#undef A3
#undef O2
#undef O3
#undef W2
#undef W3
#undef CMP
#undef P2
#undef P3
#undef PA
#undef M3
#undef SAT2
#undef SAT3
#undef SATP2
#undef SATP3

#if defined(LANES_STAMP_PROTOTYPES)

#define PROTOTYPE_(name) uint64_t name LANES_ARGS_;
#define I1(op, D, A, x) PROTOTYPE_(KERNEL_NAME(op))
#define L1(op, D, A, x) PROTOTYPE_(KERNEL_NAME(op))
#define I2(op, D, A, B, x) PROTOTYPE_(KERNEL_NAME(op))
#define I3(op, D, A, B, C, x) PROTOTYPE_(KERNEL_NAME(op))
#define X3(op, D, A, B, C, when, quick, x) PROTOTYPE_(KERNEL_NAME(op))
#define J3(op, env, D, A, B, x) PROTOTYPE_(KERNEL_NAME(op))
#define E1(op, env, D, A, x) PROTOTYPE_(KERNEL_NAME(op))
#define E2(op, env, D, A, B, x) PROTOTYPE_(KERNEL_NAME(op))
#define E3(op, env, D, A, B, C, x) PROTOTYPE_(KERNEL_NAME(op))
#define F1(op, env, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define F2(op, env, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define F3(op, env, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define A3(op, env, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define O2(op, x) PROTOTYPE_(KERNEL_NAME(op))
#define O3(op, x) PROTOTYPE_(KERNEL_NAME(op))
#define W2(op, env, D, A, B, x) PROTOTYPE_(KERNEL_NAME(op))
#define W3(op, env, D, A, B, C, x) PROTOTYPE_(KERNEL_NAME(op))
#define CMP(op, opx, env, A, B, x) PROTOTYPE_(KERNEL_NAME(op))
#define P2(op, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define P3(op, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define PA(op, T, x) PROTOTYPE_(KERNEL_NAME(op))
#define M3(op, D, flags, x) PROTOTYPE_(KERNEL_NAME(op))
#define SAT2(op, D, A, B, x) PROTOTYPE_(SAT_NAME(op))
#define SAT3(op, D, A, B, C, x) PROTOTYPE_(SAT_NAME(op))
#define SATP2(op, T, x) PROTOTYPE_(SAT_NAME(op))
#define SATP3(op, T, x) PROTOTYPE_(SAT_NAME(op))
#include LANES_DEF

#elif defined(LANES_STAMP_KERNELS)

/* Fits the first parameter list; a plain macro for the body keeps every kernel one line in the debugger. */
#define KERNEL_(name, ...)                                                                                    \
    uint64_t name LANES_ARGS_                                                                                 \
    {                                                                                                         \
        d = __builtin_assume_aligned(d, 64);                                                                  \
        a = __builtin_assume_aligned(a, 64);                                                                  \
        b = __builtin_assume_aligned(b, 64);                                                                  \
        c = __builtin_assume_aligned(c, 64);                                                                  \
        mask = __builtin_assume_aligned(mask, 64);                                                            \
        (void)d, (void)a, (void)b, (void)c, (void)mask, (void)w;                                              \
        __VA_ARGS__                                                                                           \
    }

#define INT_BODY_(D_, loads, x)                                                                               \
    LANES_ARRAY(t, 2);                                                                                        \
    LANES_LOOP                                                                                                \
    {                                                                                                         \
        loads TYPE_##D_ D;                                                                                    \
        x;                                                                                                    \
        STORE_##D_(t, D);                                                                                     \
    }                                                                                                         \
    WRITE_##D_(t);                                                                                            \
    return 0;

/* Results are looked at in registers; only a NaN or a partial EXEC takes the longer way. */
#define FLOAT_BODY_(T, count, loads, x)                                                                       \
    LANES_ARRAY(t, 2);                                                                                        \
    LANES_LOOP                                                                                                \
    {                                                                                                         \
        loads TYPE_##T D;                                                                                     \
        x;                                                                                                    \
        STORE_##T(t, D);                                                                                      \
    }                                                                                                         \
    if (__builtin_expect(ANY_NAN_##T(t) || mask != lanes_ones, 0)) {                                          \
        LANES_LOOP                                                                                            \
        FIX_##T(t, NAN_##T##_##count);                                                                        \
        return 0;                                                                                             \
    }                                                                                                         \
    COPY_##T(t);                                                                                              \
    return 0;
#define BODY_F32_(count, loads, x) FLOAT_BODY_(F32, count, loads, x)
#define BODY_F64_(count, loads, x) FLOAT_BODY_(F64, count, loads, x)

/* Halves: the statement sees values of single precision, and conversions take all lanes at once. */
#define BODY_F16_(count, loads, x)                                                                            \
    HALVES_(count, LANES, halves_in, x)                                                                       \
    LANES_ARRAY(t, 1);                                                                                        \
    halves_out(t, u[0], LANES, w);                                                                            \
    if (__builtin_expect(nan, 0)) {                                                                           \
        LANES_LOOP                                                                                            \
        t[i] = f16_is_nan(t[i]) ? NAN_F16_##count : t[i];                                                     \
    }                                                                                                         \
    WRITE_F16(t);                                                                                             \
    return 0;
#define HALVES_(count, n, in, x)                                                                              \
    float u[3][n] __attribute__((aligned(64)));                                                               \
    in(u[0], a, LANES, w);                                                                                    \
    if (count > 1)                                                                                            \
        in(u[1], b, LANES, w);                                                                                \
    if (count > 2)                                                                                            \
        in(u[2], c, LANES, w);                                                                                \
    HALVES_LOOP_(n)                                                                                           \
    {                                                                                                         \
        float S0 = u[0][i], S1 = count > 1 ? u[1][i] : 0, S2 = count > 2 ? u[2][i] : 0, D;                    \
        (void)S1, (void)S2;                                                                                   \
        x;                                                                                                    \
        u[0][i] = D;                                                                                          \
    }                                                                                                         \
    bool nan = kernel_any_nan((const uint32_t *)(const void *)u[0], n);

#define BITS_BODY_(D_, loads, x)                                                                              \
    LANES_ARRAY(t, 2);                                                                                        \
    LANES_ARRAY(bits, 1);                                                                                     \
    LANES_LOOP                                                                                                \
    {                                                                                                         \
        loads TYPE_##D_ D;                                                                                    \
        bool CO;                                                                                              \
        x;                                                                                                    \
        STORE_##D_(t, D);                                                                                     \
        bits[i] = CO ? UINT32_MAX : 0;                                                                        \
    }                                                                                                         \
    WRITE_##D_(t);                                                                                            \
    return LANES_BITS(bits);

#define PACKED_WORDS_(T, third, x)                                                                            \
    LANES_ARRAY(t, 1);                                                                                        \
    LANES_LOOP                                                                                                \
    {                                                                                                         \
        uint32_t r[2];                                                                                        \
        for (unsigned h = 0; h < 2; h++) {                                                                    \
            uint32_t x0 = a[i] >> 16 * h & 0xffffu, x1 = b[i] >> 16 * h & 0xffffu, x2 = third;                \
            TYPE_##T S0 = HALF_##T(x0), S1 = HALF_##T(x1), S2 = HALF_##T(x2), D;                              \
            (void)S2;                                                                                         \
            x;                                                                                                \
            r[h] = BITS_##T(D) & 0xffffu;                                                                     \
        }                                                                                                     \
        t[i] = r[0] | r[1] << 16;                                                                             \
    }                                                                                                         \
    WRITE_U32(t);                                                                                             \
    return 0;
#define PACKED_THIRD_ (c[i] >> 16 * h & 0xffffu)
#define PACKED_U16_(count, third, x) PACKED_WORDS_(U16, third, x)
#define PACKED_I16_(count, third, x) PACKED_WORDS_(I16, third, x)
#define PACKED_Q16_(count, third, x) PACKED_WORDS_(Q16, third, x)
#define PACKED_R16_(count, third, x) PACKED_F16_(count, third, x)
#define PACKED_F16_(count, third, x)                                                                          \
    HALVES_(count, 2 * LANES, halves_in_both, x)                                                              \
    LANES_ARRAY(t, 1);                                                                                        \
    halves_out_both(t, u[0], LANES, w);                                                                       \
    if (__builtin_expect(nan, 0)) {                                                                           \
        LANES_LOOP                                                                                            \
        {                                                                                                     \
            uint32_t r[2];                                                                                    \
            for (unsigned h = 0; h < 2; h++)                                                                  \
                r[h] = kernel_nan_16(t[i] >> 16 * h & 0xffffu, a[i] >> 16 * h & 0xffffu,                      \
                                     b[i] >> 16 * h & 0xffffu, third);                                        \
            t[i] = r[0] | r[1] << 16;                                                                         \
        }                                                                                                     \
    }                                                                                                         \
    WRITE_U32(t);                                                                                             \
    return 0;

#define LOADS1_(A) TYPE_##A S0 = LOAD_##A(a);
#define LOADS2_(A, B)                                                                                         \
    TYPE_##A S0 = LOAD_##A(a);                                                                                \
    TYPE_##B S1 = LOAD_##B(b);
#define LOADS3_(A, B, C)                                                                                      \
    TYPE_##A S0 = LOAD_##A(a);                                                                                \
    TYPE_##B S1 = LOAD_##B(b);                                                                                \
    TYPE_##C S2 = LOAD_##C(c);

#define I1(op, D, A, x) KERNEL_(KERNEL_NAME(op), INT_BODY_(D, LOADS1_(A), x))
#define L1(op, D, A, x) KERNEL_(KERNEL_NAME(op), LANES_ARRAY(t, 2); x; WRITE_##D(t); return 0;)
#define I2(op, D, A, B, x) KERNEL_(KERNEL_NAME(op), INT_BODY_(D, LOADS2_(A, B), x))
#define I3(op, D, A, B, C, x) KERNEL_(KERNEL_NAME(op), INT_BODY_(D, LOADS3_(A, B, C), x))
#define X3(op, D, A, B, C, when, quick, x)                                                                    \
    KERNEL_(KERNEL_NAME(op), if (when){ INT_BODY_(D, LOADS2_(A, B), quick) } INT_BODY_(D, LOADS3_(A, B, C), x))
#define J3(op, env, D, A, B, x) I3(op, D, A, B, D, x)
#define E1(op, env, D, A, x) I1(op, D, A, x)
#define E2(op, env, D, A, B, x) I2(op, D, A, B, x)
#define E3(op, env, D, A, B, C, x) I3(op, D, A, B, C, x)
#define F1(op, env, T, x) KERNEL_(KERNEL_NAME(op), BODY_##T##_(1, LOADS1_(T), x))
#define F2(op, env, T, x) KERNEL_(KERNEL_NAME(op), BODY_##T##_(2, LOADS2_(T, T), x))
#define F3(op, env, T, x) KERNEL_(KERNEL_NAME(op), BODY_##T##_(3, LOADS3_(T, T, T), x))
#define A3(op, env, T, x) F3(op, env, T, x)
#define O2(op, x) KERNEL_(KERNEL_NAME(op), BITS_BODY_(U32, LOADS2_(U32, U32), x))
#define O3(op, x) KERNEL_(KERNEL_NAME(op), BITS_BODY_(U32, LOADS3_(U32, U32, U32), x))
#define W2(op, env, D, A, B, x) KERNEL_(KERNEL_NAME(op), BITS_BODY_(D, LOADS2_(A, B), x))
#define W3(op, env, D, A, B, C, x) KERNEL_(KERNEL_NAME(op), BITS_BODY_(D, LOADS3_(A, B, C), x))
#define CMP(op, opx, env, A, B, x)                                                                            \
    KERNEL_(                                                                                                  \
        KERNEL_NAME(op), LANES_ARRAY(bits, 1); LANES_LOOP {                                                   \
            LOADS2_(A, B)(void) S0;                                                                           \
            (void)S1;                                                                                         \
            bits[i] = (x) ? UINT32_MAX : 0;                                                                   \
        } return LANES_BITS(bits);)
#define P2(op, T, x) KERNEL_(KERNEL_NAME(op), PACKED_##T##_(2, 0, x))
#define P3(op, T, x) KERNEL_(KERNEL_NAME(op), PACKED_##T##_(3, PACKED_THIRD_, x))
#define PA(op, T, x) P3(op, T, x)
#define M3(op, D, flags, x) I3(op, D, F32, F32, F32, x)
#define SAT2(op, D, A, B, x) KERNEL_(SAT_NAME(op), INT_BODY_(D, LOADS2_(A, B), x))
#define SAT3(op, D, A, B, C, x) KERNEL_(SAT_NAME(op), INT_BODY_(D, LOADS3_(A, B, C), x))
#define SATP2(op, T, x) KERNEL_(SAT_NAME(op), PACKED_##T##_(2, 0, x))
#define SATP3(op, T, x) KERNEL_(SAT_NAME(op), PACKED_##T##_(3, PACKED_THIRD_, x))
#include LANES_DEF

#undef KERNEL_
#undef INT_BODY_
#undef FLOAT_BODY_
#undef BODY_F16_
#undef BODY_F32_
#undef BODY_F64_
#undef HALVES_
#undef BITS_BODY_
#undef PACKED_WORDS_
#undef PACKED_U16_
#undef PACKED_I16_
#undef PACKED_Q16_
#undef PACKED_R16_
#undef PACKED_F16_
#undef PACKED_THIRD_
#undef LOADS1_
#undef LOADS2_
#undef LOADS3_

#else /* LANES_STAMP_ROWS: entries of a table of lanes_row by operation; LANES_SAT_ROWS: the clamping ones */

#if defined(LANES_SAT_ROWS)
#define ROW_(op, env, flags, count, D, A, B, C)
#define SAT_ROW_(op, flags, count, D, A, B, C)                                                                \
    [AMD_##op] = { SAT_NAME(op), LANES_ROW_ENV(LANES_ENV_NONE, LANES_##D, LANES_##A, LANES_##B, LANES_##C),   \
                   flags,        count,                                                                       \
                   LANES_##D,    { LANES_##A, LANES_##B, LANES_##C } },
#else
#define ROW_(op, env, flags, count, D, A, B, C)                                                               \
    [AMD_##                                                                                                   \
        op] = { KERNEL_NAME(op), LANES_ROW_ENV(LANES_ENV_##env, LANES_##D, LANES_##A, LANES_##B, LANES_##C),  \
                flags,           count,                                                                       \
                LANES_##D,       { LANES_##A, LANES_##B, LANES_##C } },
#define SAT_ROW_(op, flags, count, D, A, B, C)
#endif
#define I1(op, D, A, x) ROW_(op, NONE, 0, 1, D, A, NONE, NONE)
#define L1(op, D, A, x) ROW_(op, NONE, 0, 1, D, A, NONE, NONE)
#define I2(op, D, A, B, x) ROW_(op, NONE, 0, 2, D, A, B, NONE)
#define I3(op, D, A, B, C, x) ROW_(op, NONE, 0, 3, D, A, B, C)
#define X3(op, D, A, B, C, when, quick, x) ROW_(op, NONE, 0, 3, D, A, B, C)
#define J3(op, env, D, A, B, x) ROW_(op, env, LANES_ACC, 3, D, A, B, D)
#define E1(op, env, D, A, x) ROW_(op, env, 0, 1, D, A, NONE, NONE)
#define E2(op, env, D, A, B, x) ROW_(op, env, 0, 2, D, A, B, NONE)
#define E3(op, env, D, A, B, C, x) ROW_(op, env, 0, 3, D, A, B, C)
#define F1(op, env, T, x) ROW_(op, env, 0, 1, T, T, NONE, NONE)
#define F2(op, env, T, x) ROW_(op, env, 0, 2, T, T, T, NONE)
#define F3(op, env, T, x) ROW_(op, env, 0, 3, T, T, T, T)
#define A3(op, env, T, x) ROW_(op, env, LANES_ACC, 3, T, T, T, T)
#define O2(op, x) ROW_(op, NONE, LANES_CARRY, 2, U32, U32, U32, NONE)
#define O3(op, x) ROW_(op, NONE, LANES_CARRY, 3, U32, U32, U32, MASK)
#define W2(op, env, D, A, B, x) ROW_(op, env, LANES_CARRY, 2, D, A, B, NONE)
#define W3(op, env, D, A, B, C, x) ROW_(op, env, LANES_CARRY, 3, D, A, B, C)
#define CMP(op, opx, env, A, B, x)                                                                            \
    ROW_(op, env, LANES_COMPARE, 2, NONE, A, B, NONE)                                                         \
    CMPX_ROW_(op, opx, env, A, B)
#if defined(LANES_SAT_ROWS)
#define CMPX_ROW_(op, opx, env, A, B)
#else
#define CMPX_ROW_(op, opx, env, A, B)                                                                         \
    [AMD_##opx] = { KERNEL_NAME(op),                                                                          \
                    LANES_ROW_ENV(LANES_ENV_##env, LANES_NONE, LANES_##A, LANES_##B, LANES_NONE),             \
                    LANES_COMPARE | LANES_EXEC,                                                               \
                    2,                                                                                        \
                    LANES_NONE,                                                                               \
                    { LANES_##A, LANES_##B, LANES_NONE } },
#endif
#define PACKED_ROW_(op, env, flags, count, P) ROW_(op, env, flags, count, P, P, P, P)
#define PU16_(op, flags, count) PACKED_ROW_(op, NONE, LANES_PACKED | (flags), count, P16)
#define PI16_(op, flags, count) PACKED_ROW_(op, NONE, LANES_PACKED | (flags), count, P16)
#define PF16_(op, flags, count) PACKED_ROW_(op, F64, LANES_PACKED | (flags), count, PF16)
#define PQ16_(op, flags, count) PACKED_ROW_(op, NONE, LANES_PACKED | (flags), count, PF16)
#define PR16_(op, flags, count) PACKED_ROW_(op, NONE, LANES_PACKED | (flags), count, PF16)
#define P2(op, T, x) P##T##_(op, 0, 2)
#define P3(op, T, x) P##T##_(op, 0, 3)
#define PA(op, T, x) P##T##_(op, LANES_ACC, 3)
#define M3(op, D, flags, x) ROW_(op, F32, LANES_MIX | (flags), 3, D, F32, F32, F32)
#define SAT2(op, D, A, B, x) SAT_ROW_(op, 0, 2, D, A, B, NONE)
#define SAT3(op, D, A, B, C, x) SAT_ROW_(op, 0, 3, D, A, B, C)
#define SATP2(op, T, x) SAT_ROW_(op, LANES_PACKED, 2, P16, P16, P16, NONE)
#define SATP3(op, T, x) SAT_ROW_(op, LANES_PACKED, 3, P16, P16, P16, P16)
#include LANES_DEF

#undef ROW_
#undef SAT_ROW_
#undef CMPX_ROW_
#undef PACKED_ROW_
#undef PU16_
#undef PI16_
#undef PF16_
#undef PQ16_
#undef PR16_

#endif

#undef LANES_ARGS_
#undef KERNEL_NAME
#undef SAT_NAME
