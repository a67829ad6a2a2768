/* channel.h: the memory channel below the last cache: block of slot "line-home". Hands lines to a DRAM model
 * (lockstep/dram.h) of another region of the domain and moves their bytes to and from the simulated memory: a
 * write's bytes enter it when the write is handed to DRAM, a read's are taken when DRAM answers. Provides
 * LINE_MEMORY_PORT and the port "reply"; uses the port "dram". */
#ifndef MODEL_AMD_MEMORY_CHANNEL_H
#define MODEL_AMD_MEMORY_CHANNEL_H

#include "base/address_space.h"
#include "model/amd_memory/line.h"
#include "model/memory/mem.h"

#define LINE_CHANNEL_SLOT "line-home"

typedef struct line_channel_spec {
    uint64_t queue_entries; /* requests inside, waiting or in DRAM */
    uint64_t delay_cycles;  /* from the cache to the channel, and half of it is not: one way */
} line_channel_spec;

/* Attaches the simulated memory and the address map (copied), and says how long a line is. Fails if a line
 * does not lie in one row of one bank. Called again with the memory if there was none (NULL) while the
 * machine was built. */
ls_status line_channel_attach(ls_block *home, ls_address_space *window, const mem_map *map,
                              uint32_t line_bytes, ls_error *err);

#endif
