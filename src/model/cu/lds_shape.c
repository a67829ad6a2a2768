/* lds_shape.c: lanes in LDS, eight at a time. The bodies (lds_shape_body.h) are compiled for AVX2
 * and for any host; the host decides. */
#include "model/cu/lds_shape.h"

#include <string.h>

typedef uint32_t shape_vector __attribute__((vector_size(32)));

bool lds_shape_learn(lds_shape *shape, const uint32_t *addresses, unsigned lanes)
{
    shape->parts = (uint8_t)(lanes / LDS_SHAPE_PART);
    shape->low = shape->high = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        int64_t offset = (int64_t)addresses[lane] - addresses[0];
        if (offset < -(1 << 20) || offset > 1 << 20)
            return false;
        shape->offset[lane] = (uint32_t)offset;
        shape->low = offset < shape->low ? (int32_t)offset : shape->low;
        shape->high = offset > shape->high ? (int32_t)offset : shape->high;
    }
    for (unsigned part = 0; part < shape->parts; part++) {
        const uint32_t *offset = &shape->offset[part * LDS_SHAPE_PART];
        shape->step[part] = offset[1] - offset[0];
        for (unsigned i = 2; i < LDS_SHAPE_PART; i++)
            if (offset[i] - offset[i - 1] != shape->step[part])
                shape->step[part] = LDS_SHAPE_MIXED;
        unsigned same = 0;
        while (memcmp(offset, &shape->offset[same * LDS_SHAPE_PART], LDS_SHAPE_PART * sizeof *offset) != 0)
            same++;
        shape->same[part] = (uint8_t)same;
    }
    return true;
}

/* --- for each kind of host ------------------------------------------------------------------------------ */

#define NAME(what) shape_any_##what
#define HOW
#include "model/cu/lds_shape_body.h"

#if defined(__x86_64__)
#define NAME(what) shape_avx2_##what
#define HOW __attribute__((target("avx2")))
#include "model/cu/lds_shape_body.h"
#endif

const lds_shape_ops *lds_shape_host(bool plain)
{
#if defined(__x86_64__)
    if (!plain && __builtin_cpu_supports("avx2"))
        return &shape_avx2_ops;
#endif
    (void)plain;
    return &shape_any_ops;
}
