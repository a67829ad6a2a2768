/* column.h: warps whose path no other warp takes, as columns of fixed width. Where lanes diverge, masks change
 * after every few instructions and each access has addresses of its own. Nothing can be predicted, so no state
 * is kept between executions, and a warp is read by plain copies. Used by encode.c and decode.c. */
#ifndef PACK_COLUMN_H
#define PACK_COLUMN_H

#include "workload/pack/format.h"
#include "workload/trace.h"

typedef struct pack_bytes {
    uint8_t *at;
    size_t count, capacity;
} pack_bytes;

typedef struct pack_stream {
    const uint8_t *at, *end;
} pack_stream;

/* Executions and address words that may be written past the last one, because whole vectors are written. */
#define LS_COLUMN_SPARE_DYNS 8
#define LS_COLUMN_SPARE_WORDS 40

/* --- writing -------------------------------------------------------------------------------------------- */

typedef struct columns_out {
    pack_bytes streams[LS_COLUMN_COUNT];
    uint16_t slots[2 * LS_COLUMN_SEGMENT_LIMIT]; /* by hash: number of a segment + 1 */
    uint32_t segment_count;
    uint64_t anchors[LS_COLUMN_ANCHOR_LIMIT];
    uint32_t anchor_count, anchor; /* the last one used */
} columns_out;

void columns_clear(columns_out *c);
void columns_fini(columns_out *c);
/* How many segments a warp has: runs of consecutive instructions with one mask. */
uint32_t columns_segments(const ls_dyn *dyns, uint32_t count);
/* Adds a warp and writes its numbers into `shape`. *fits is false, and nothing is added, if columns cannot
 * represent it. False without memory. */
bool columns_put(columns_out *c, const ls_cta *cta, const ls_warp_stream *warp, pack_bytes *shape, bool *fits);
/* Bytes of all columns with their lengths; 0 if there are none. */
size_t columns_bytes(const columns_out *c);
void columns_take(const columns_out *c, uint8_t *payload);

/* --- reading -------------------------------------------------------------------------------------------- */

typedef struct columns_segment {
    uint32_t from, bytes; /* of ls_dyn */
} columns_segment;

typedef struct columns_in {
    pack_stream streams[LS_COLUMN_COUNT];
    columns_segment *segments; /* LS_COLUMN_SEGMENT_LIMIT */
    bool wide_vectors;         /* the host has them */
} columns_in;

/* The numbers of a warp, from its shape. */
typedef struct columns_warp {
    uint32_t count; /* executed instructions */
    uint64_t segments, masks, accesses;
} columns_warp;

/* The static instructions. */
typedef struct columns_insts {
    const ls_dyn *blank;   /* an execution of each, and LS_COLUMN_SPARE_DYNS more */
    const uint32_t *plain; /* 0: it has addresses */
} columns_insts;

bool columns_init(columns_in *c); /* false without memory */
void columns_end(columns_in *c);
/* Begins a block; `bytes` 0: it has no columns. Returns NULL, or the text of an error. */
const char *columns_begin(columns_in *c, const uint8_t *payload, size_t bytes, uint32_t inst_count);
/* Fills the executions of a warp at `to` and appends its addresses to the thread block, which has `room` of
 * them in all. */
const char *columns_read(columns_in *c, const columns_warp *w, const columns_insts *insts, ls_dyn *to,
                         ls_cta *cta, uint64_t room);
bool columns_at_end(const columns_in *c);

#endif
