/* block.h: thread blocks to the streams of a packed block, and back. */
#ifndef PACK_BLOCK_H
#define PACK_BLOCK_H

#include "workload/pack/column.h"

/* The last access of a memory instruction in this block. The encoder and the decoder keep the same values, and
 * so predict the same next access. */
typedef struct pack_memory {
    uint64_t last, next;        /* its first address, and where it goes if it makes the same step again */
    uint64_t first, first_step; /* that of its first execution in each warp, and the step from warp to warp */
    uint64_t stride;
    uint64_t anchor;      /* base of near and far addresses */
    uint32_t warp_serial; /* of its last execution; smaller than the block's first: none yet */
    uint32_t list_serial; /* the thread block of its last list of addresses */
    uint32_t list_at, list_count;
} pack_memory;

/* Where masks change: flags of static instructions that both sides learn in a block. next[i] is the first
 * flagged one at or after i, or LS_PACK_NO_CHANGE. */
#define LS_PACK_NO_CHANGE UINT32_MAX

static inline void pack_flag_change(uint32_t *next, uint32_t inst)
{
    uint32_t old = next[inst];
    for (uint32_t i = inst + 1; i-- > 0 && next[i] == old;)
        next[i] = inst;
}

/* Masks that are known: see LS_PACK_KNOWN_MASKS. */
typedef struct pack_masks {
    uint32_t mask[LS_PACK_KNOWN_MASKS];
    uint32_t lanes[LS_PACK_KNOWN_MASKS]; /* how many each has */
    uint32_t next;                       /* the oldest of the ring */
    uint32_t now;                        /* the one in force: an index */
} pack_masks;

static inline void pack_masks_reset(pack_masks *m)
{
    *m = (pack_masks){ .mask = { UINT32_MAX }, .lanes = { 32 }, .next = LS_PACK_FIXED_MASKS };
}
/* Takes the place of the oldest and is in force. */
static inline void pack_masks_add(pack_masks *m, uint32_t mask)
{
    m->now = m->next;
    m->mask[m->now] = mask;
    /* Written out, because without an instruction for it the compiler calls a function. */
    uint32_t n = mask - (mask >> 1 & 0x55555555u);
    n = (n & 0x33333333u) + (n >> 2 & 0x33333333u);
    m->lanes[m->now] = (((n + (n >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
    m->next = m->now + 1 < LS_PACK_KNOWN_MASKS ? m->now + 1 : LS_PACK_FIXED_MASKS;
}

/* --- encoding ------------------------------------------------------------------------------------------- */

#define LS_PACK_CANDIDATES 16 /* paths that are looked at before one is written in full */

/* All zero is valid. Begin a kernel, then add its instructions and thread blocks, taking the payload whenever
 * the block is large enough. */
typedef struct pack_encoder {
    pack_bytes streams[LS_PACK_STREAM_COUNT];
    columns_out columns;
    bool without_columns; /* as the first version of the format was */
    pack_masks masks;
    struct {
        ls_dyn *dyns; /* LS_PACK_PATH_LIMIT of them */
        uint32_t count;
        uint64_t hash;
        uint64_t number;       /* among those of the block that were written in full */
        size_t shape_at;       /* position of its description, to mark it when it is used again */
        bool kept, in_columns; /* in columns: it has no number, and is written in full when it comes again */
    } paths[LS_PACK_CANDIDATES];
    uint32_t next_path, kept_count;
    uint64_t path_count; /* paths of the block that were written in full */
    uint32_t warp_serial, first_warp_serial, cta_serial;
    uint64_t cta_count, dyn_count, word_count; /* of the block */
    uint32_t grid[3];
    /* Per static instruction. */
    pack_memory *memory;
    uint32_t *anchored; /* first_warp_serial of the block in which its anchor was written */
    uint32_t *changes;
    uint8_t *has_addresses;
    size_t inst_count, inst_capacity;
    bool has_records; /* the present thread block: columns have no place for them */
} pack_encoder;

void pack_encoder_fini(pack_encoder *e);
void pack_encoder_kernel(pack_encoder *e, const uint32_t grid[3]);
bool pack_encoder_inst(pack_encoder *e, bool has_addresses);
/* Only addresses of instructions that have some, and instructions that were added; else LS_ERR_INTERNAL. */
ls_status pack_encode(pack_encoder *e, const ls_cta *cta, ls_error *err);
/* Bytes of the payload so far. */
size_t pack_encoder_bytes(const pack_encoder *e);
/* Of these, up to where they are likely to compress well; 0: nothing is to be compressed. */
size_t pack_encoder_split(const pack_encoder *e);
/* Writes the payload (pack_encoder_bytes() long) and starts the next block. */
void pack_encoder_take(pack_encoder *e, uint8_t *payload);

/* --- decoding ------------------------------------------------------------------------------------------- */

/* An execution of a warp that has addresses. */
typedef struct pack_access {
    pack_memory *memory; /* of its instruction */
    uint32_t at;         /* in the warp */
    uint32_t lanes;
} pack_access;

typedef struct pack_path {
    ls_dyn *dyns; /* their addr is not yet filled */
    pack_access *accesses;
    uint32_t count, access_count;
    uint32_t capacity; /* of both */
    uint64_t number;   /* among those of the block that were written in full */
} pack_path;

typedef struct pack_decoder {
    pack_stream streams[LS_PACK_STREAM_COUNT];
    columns_in columns;
    pack_masks masks;
    pack_path paths[LS_PACK_KEPT_PATHS];
    uint32_t kept_count;
    uint64_t path_count;
    uint32_t warp_serial, first_warp_serial, cta_serial;
    uint32_t grid[3];
    /* Per static instruction. */
    const uint32_t *plain; /* how many from here on have no addresses; one more, 0; borrowed */
    ls_dyn *blank;         /* an execution with no lanes and no addresses */
    pack_memory *memory;   /* only those with addresses are touched */
    uint32_t *changes;
    uint32_t inst_count;
    pack_access *accesses; /* of the warp that is being read */
    size_t access_capacity;
    bool short_stream; /* a stream of varints ended too early */
} pack_decoder;

/* `plain` is borrowed; false without memory. */
bool pack_decoder_init(pack_decoder *d, const uint32_t grid[3], const uint32_t *plain, uint32_t inst_count);
void pack_decoder_fini(pack_decoder *d);
/* Begins a block. The payload is borrowed until the last thread block was read, and LS_PACK_SLACK bytes after
 * it must be readable. Returns NULL, or the text of an error. */
const char *pack_decoder_begin(pack_decoder *d, const uint8_t *payload, size_t bytes);
/* Reads the next thread block, which is number `index` of its kernel. *problem is NULL, or the text of an
 * error in the payload. False without memory. */
bool pack_decode(pack_decoder *d, uint64_t index, ls_cta *cta, const char **problem);
/* Whether everything was read, as after the last thread block. */
bool pack_decoder_at_end(const pack_decoder *d);

#endif
