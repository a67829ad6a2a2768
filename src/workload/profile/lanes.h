/* lanes.h: the addresses of one warp instruction as lines of 128 bytes with their sectors. */
#ifndef PROFILE_LANES_H
#define PROFILE_LANES_H

#include "isa/stream.h"

#define LANES_LINES_MAX 288 /* 32 lanes of 32 bytes in different lines, and local memory word by word */

typedef struct lanes_line {
    uint64_t line;     /* address / 128 */
    uint8_t sectors;   /* touched */
    uint8_t full;      /* of these, written in all their bytes; stores only */
    uint16_t requests; /* sectors, or transactions of an atomic */
} lanes_line;

typedef struct lanes {
    uint32_t count;    /* lines */
    uint32_t sectors;  /* requests of all lines */
    uint8_t place[64]; /* by hash of a line: its number plus 1; 0: none */
    lanes_line at[LANES_LINES_MAX];
} lanes;

/* Where the words of local memory lie: see coalesce.c of the core. */
typedef struct lanes_local {
    uint32_t core, core_count, first_thread, block_threads, blocks_per_core;
} lanes_local;

void lanes_of(lanes *out, const ls_cta *cta, const ls_dyn *dyn, const ls_inst *inst, uint32_t width,
              ls_mem_space space, const lanes_local *local);

#endif
