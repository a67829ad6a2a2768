/* block.h: thread blocks to the streams of a packed block, and back. */
#ifndef PACK_BLOCK_H
#define PACK_BLOCK_H

#include "workload/pack/format.h"
#include "workload/trace.h"

/* What a memory instruction did last, in this block: the encoder and the decoder keep the same, and so agree on
 * what it will probably do next. */
typedef struct ls_pack_memory {
    uint64_t warp_serial; /* of its last execution; smaller than the block's first: none yet */
    uint64_t last, step;  /* its first address, and the change to that */
    uint64_t first, first_step; /* the same for its first execution in each warp */
    uint64_t stride;
    uint64_t list_serial; /* the thread block of its last list of addresses */
    uint32_t list_at, list_count;
} ls_pack_memory;

/* --- encoding ---------------------------------------------------------------------------------------------- */

typedef struct ls_pack_bytes {
    uint8_t *at;
    size_t count, capacity;
} ls_pack_bytes;

/* All zero is valid. Begin a kernel, then add its instructions and thread blocks, taking the payload whenever the
 * block is large enough. */
typedef struct ls_pack_encoder {
    ls_pack_bytes streams[LS_PACK_STREAM_COUNT];
    uint32_t recent[LS_PACK_RECENT_MASKS];
    uint64_t warp_serial, first_warp_serial, cta_serial;
    uint64_t last_base; /* of any instruction in this block */
    uint64_t cta_count, dyn_count;
    uint32_t grid[3];
    ls_pack_memory *memory; /* per static instruction */
    uint8_t *has_addresses;
    size_t inst_count, inst_capacity;
} ls_pack_encoder;

void ls_pack_encoder_fini(ls_pack_encoder *e);
void ls_pack_encoder_kernel(ls_pack_encoder *e, const uint32_t grid[3]);
bool ls_pack_encoder_inst(ls_pack_encoder *e, bool has_addresses);
/* Only addresses of instructions that have some, and instructions that were added; else LS_ERR_INTERNAL. */
ls_status ls_pack_encode(ls_pack_encoder *e, const ls_cta *cta, ls_error *err);
/* Bytes of the payload so far. */
size_t ls_pack_encoder_bytes(const ls_pack_encoder *e);
/* Writes the payload (ls_pack_encoder_bytes() long) and starts the next block. */
void ls_pack_encoder_take(ls_pack_encoder *e, uint8_t *payload);

/* --- decoding ---------------------------------------------------------------------------------------------- */

typedef struct ls_pack_stream {
    const uint8_t *at, *end;
} ls_pack_stream;

typedef struct ls_pack_decoder {
    ls_pack_stream streams[LS_PACK_STREAM_COUNT];
    uint32_t recent[LS_PACK_RECENT_MASKS];
    uint64_t warp_serial, first_warp_serial, cta_serial;
    uint64_t last_base;
    uint32_t grid[3];
    const uint32_t *plain; /* per static instruction: how many from here on have no addresses; borrowed */
    ls_pack_memory *memory; /* per static instruction, of which only those with addresses are touched */
    uint32_t inst_count;
} ls_pack_decoder;

/* `plain` is borrowed; false without memory. */
bool ls_pack_decoder_init(ls_pack_decoder *d, const uint32_t grid[3], const uint32_t *plain, uint32_t inst_count);
void ls_pack_decoder_fini(ls_pack_decoder *d);
/* Begins a block. The payload is borrowed until the last thread block was read, and LS_PACK_SLACK bytes behind it
 * can be read. Returns NULL, or what is wrong. */
const char *ls_pack_decoder_begin(ls_pack_decoder *d, const uint8_t *payload, size_t bytes);
/* Reads the next thread block, which is number `index` of its kernel. *problem is NULL, or what is wrong with the
 * payload. False without memory. */
bool ls_pack_decode(ls_pack_decoder *d, uint64_t index, ls_cta *cta, const char **problem);
/* Whether everything was read, as after the last thread block. */
bool ls_pack_decoder_at_end(const ls_pack_decoder *d);

#endif
