/* channel.h: memory channels of machine `amd`, below the last cache: they move the bytes of lines to and from
 * the simulated memory, at the pace of a DRAM model.
 *
 * A model is a block of slot "channel" that provides the ports "memory" (lockstep/line.h) and "channel". A
 * channel that uses the port "dram" and provides the port "reply" (lockstep/dram.h) gets the platform's DRAM
 * model. Without these ports there is no DRAM. docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_CHANNEL_H
#define LOCKSTEP_CHANNEL_H

#include "lockstep/dram.h"
#include "lockstep/line_cache.h"

#define LS_CHANNEL_SLOT "channel"
#define LS_CHANNEL_PORT "channel"
#define LS_CHANNEL_INTERFACE "line-channel/2"

typedef struct ls_channel_ops {
    /* While the machine is built. Fails if the map tears a line apart. The map outlives the block. */
    ls_status (*attach)(void *self, const ls_address_map *map, uint32_t line_bytes, ls_error *err);
    /* Before the first run. */
    void (*set_memory)(void *self, ls_memory *memory);
} ls_channel_ops;

/* The driver maps, unmaps or protects pages: plain data that every channel's memory gets between runs, before time
 * passes again. It takes no simulated time. */
typedef struct ls_page_change {
    uint64_t address, bytes; /* whole pages of 4 KiB */
    uint32_t state;          /* 0: not mapped; 1: for reading; 3: for reading and writing */
    uint32_t unused;
} ls_page_change;

/* Copies a line out of the channel's memory. False: its page is not mapped; then the bytes are 0. */
LS_API bool ls_memory_read_line(const ls_memory *memory, uint64_t address, uint8_t *to, uint32_t line_bytes);
/* Writes the bytes of the mask (one bit per byte of the line). False: its page is not mapped, nothing is
 * written. */
LS_API bool ls_memory_write_line(ls_memory *memory, uint64_t address, const uint8_t *from,
                                 const uint64_t mask[2]);

#endif
