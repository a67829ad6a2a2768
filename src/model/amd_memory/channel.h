/* channel.h: the memory channel below the last cache: model "window" of slot "channel". Hands lines to a DRAM
 * model (lockstep/dram.h) of another region of the domain and moves their bytes to and from the simulated
 * memory. A write's bytes enter it when the write goes to DRAM; a read's bytes are taken when DRAM answers.
 * Provides LS_LINE_MEMORY_PORT and the port "reply"; uses the port "dram". */
#ifndef MODEL_AMD_MEMORY_CHANNEL_H
#define MODEL_AMD_MEMORY_CHANNEL_H

#include "lockstep/channel.h"
#include "lockstep/line.h"
#include "model/memory/mem.h"

typedef struct line_channel_spec {
    uint64_t queue_entries; /* requests inside, waiting or in DRAM */
    uint64_t delay_cycles;  /* from the cache to the channel, and half of it is not: one way */
} line_channel_spec;

/* Wiring of any model of slot "channel", by interface: lockstep/channel.h says more. */
ls_status line_channel_attach(ls_block *home, ls_memory *memory, const mem_map *map, uint32_t line_bytes,
                              ls_error *err);

#endif
