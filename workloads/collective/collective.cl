/* collective.cl: parts of arrays are copied or added, in the memory of any GPU. Offsets and counts are in words; offsets are
 * multiples of 16 words, a line. Work-items go through the words in strides of the grid, four words at a time and four
 * such pieces in flight. */

#define PIECE 4u
#define PIECES 4u

static uint4 load(__global const uint *from)
{
    return *(__global const uint4 *)from;
}

static void store(__global uint *to, uint4 words)
{
    *(__global uint4 *)to = words;
}

/* whole_ for each four pieces, piece_ for each one that is left, one_ for the last words. */
#define FOR_ALL_WORDS(count_, whole_, piece_, one_)                                                           \
    do {                                                                                                      \
        const uint stride = PIECE * (uint)get_global_size(0);                                                 \
        uint i = PIECE * (uint)get_global_id(0);                                                              \
        for (; i < (count_) && (count_)-i >= (PIECES - 1) * stride + PIECE; i += PIECES * stride)             \
            whole_(i, stride);                                                                                \
        for (; i < (count_) && (count_)-i >= PIECE; i += stride)                                              \
            piece_(i);                                                                                        \
        for (; i < (count_); i++)                                                                             \
            one_(i);                                                                                          \
    } while (0)

__kernel void collective_copy(__global uint *to, uint to_at, __global const uint *from, uint from_at,
                              uint count)
{
    to += to_at;
    from += from_at;
#define WHOLE(i_, stride_)                                                                                    \
    do {                                                                                                      \
        uint4 words[PIECES];                                                                                  \
        for (uint p = 0; p < PIECES; p++)                                                                     \
            words[p] = load(from + i_ + p * stride_);                                                         \
        for (uint p = 0; p < PIECES; p++)                                                                     \
            store(to + i_ + p * stride_, words[p]);                                                           \
    } while (0)
#define SINGLE(i_) store(to + i_, load(from + i_))
#define ONE(k_) to[k_] = from[k_]
    FOR_ALL_WORDS(count, WHOLE, SINGLE, ONE);
#undef WHOLE
#undef SINGLE
#undef ONE
}

/* to = a + b */
__kernel void collective_add(__global uint *to, uint to_at, __global const uint *a, uint a_at,
                             __global const uint *b, uint b_at, uint count)
{
    to += to_at;
    a += a_at;
    b += b_at;
#define WHOLE(i_, stride_)                                                                                    \
    do {                                                                                                      \
        uint4 left[PIECES], right[PIECES];                                                                    \
        for (uint p = 0; p < PIECES; p++) {                                                                   \
            left[p] = load(a + i_ + p * stride_);                                                             \
            right[p] = load(b + i_ + p * stride_);                                                            \
        }                                                                                                     \
        for (uint p = 0; p < PIECES; p++)                                                                     \
            store(to + i_ + p * stride_, left[p] + right[p]);                                                 \
    } while (0)
#define SINGLE(i_) store(to + i_, load(a + i_) + load(b + i_))
#define ONE(k_) to[k_] = a[k_] + b[k_]
    FOR_ALL_WORDS(count, WHOLE, SINGLE, ONE);
#undef WHOLE
#undef SINGLE
#undef ONE
}

/* a = a + b, and the sum is also written to another array. */
__kernel void collective_add_send(__global uint *to, uint to_at, __global uint *a, uint a_at,
                                  __global const uint *b, uint b_at, uint count)
{
    to += to_at;
    a += a_at;
    b += b_at;
#define WHOLE(i_, stride_)                                                                                    \
    do {                                                                                                      \
        uint4 left[PIECES], right[PIECES];                                                                    \
        for (uint p = 0; p < PIECES; p++) {                                                                   \
            left[p] = load(a + i_ + p * stride_);                                                             \
            right[p] = load(b + i_ + p * stride_);                                                            \
        }                                                                                                     \
        for (uint p = 0; p < PIECES; p++) {                                                                   \
            store(to + i_ + p * stride_, left[p] + right[p]);                                                 \
            store(a + i_ + p * stride_, left[p] + right[p]);                                                  \
        }                                                                                                     \
    } while (0)
#define SINGLE(i_)                                                                                            \
    do {                                                                                                      \
        const uint4 sum = load(a + i_) + load(b + i_);                                                        \
        store(to + i_, sum);                                                                                  \
        store(a + i_, sum);                                                                                   \
    } while (0)
#define ONE(k_) to[k_] = a[k_] += b[k_]
    FOR_ALL_WORDS(count, WHOLE, SINGLE, ONE);
#undef WHOLE
#undef SINGLE
#undef ONE
}

/* Past the caches of the own GPU. */
static uint load_remote(__global uint *from)
{
#if defined(__AMDGCN__)
    return atomic_load_explicit((volatile __global atomic_uint *)from, memory_order_relaxed,
                                memory_scope_all_svm_devices);
#else
    return *(volatile __global uint *)from;
#endif
}

/* loads times: at = data[at]. */
__kernel void peer_chase(__global uint *data, __global uint *out, uint loads)
{
    uint at = 0;
    for (uint i = 0; i < loads; i++)
        at = load_remote(data + at);
    *out = at;
}
