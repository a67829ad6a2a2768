/* lds_shape.h: how the lanes of a wave lie in LDS, relative to lane 0. An instruction mostly finds them as it
 * did the last time; then the banks take as long as they did, and whole groups of lanes can be moved at once.
 * Touches registers and bytes that it is given, nothing else. */
#ifndef MODEL_CU_LDS_SHAPE_H
#define MODEL_CU_LDS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#define LDS_SHAPE_PART 8u /* lanes of a part */
#define LDS_SHAPE_PARTS 8u
#define LDS_SHAPE_MIXED UINT32_MAX

typedef struct lds_shape {
    _Alignas(32) uint32_t offset[64]; /* of the lanes, modulo 2^32 */
    int32_t low, high;                /* the least and the largest of them */
    uint8_t parts;                    /* 4 or 8: of 32 or 64 lanes */
    uint8_t same[LDS_SHAPE_PARTS];    /* the first part that has the same offsets */
    uint32_t step[LDS_SHAPE_PARTS];   /* from lane to lane of a part; LDS_SHAPE_MIXED: not always the same */
} lds_shape;

/* From the addresses of the lanes, all active. False: they are too far apart. */
bool lds_shape_learn(lds_shape *shape, const uint32_t *addresses, unsigned lanes);

/* For this host's vectors. `dwords` of a lane: 1, 2 or 4. Columns: dword i of lane l is at [i *
 * LDS_SHAPE_COLUMN + l]. */
#define LDS_SHAPE_COLUMN 64u
typedef struct lds_shape_ops {
    /* Do the lanes lie like that? */
    bool (*is)(const lds_shape *shape, const uint32_t *addresses);
    /* `lds`: the place of lane 0. */
    void (*load)(const lds_shape *shape, const uint8_t *lds, uint32_t *columns, unsigned dwords);
    /* From registers of `stride` lanes. */
    void (*store)(const lds_shape *shape, uint8_t *lds, const uint32_t *from, unsigned dwords,
                  unsigned stride);
    /* `count` registers of `lanes`, from columns of 64. */
    void (*take)(uint32_t *to, const uint32_t *from, unsigned count, unsigned lanes);
} lds_shape_ops;
/* plain: portable functions. */
const lds_shape_ops *lds_shape_host(bool plain);

#endif
