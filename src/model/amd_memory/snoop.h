/* snoop.h: coherence between the L2s of several dies (XCDs). In front of the home of a channel's lines stands a snoop
 * filter (slot "line-snoop"): it knows which L2s may have a copy of a line. A write that reaches it from one L2 sends
 * probes to the others, and is answered when these have dropped the bytes that they did not write themselves.
 *
 * So a line that one die wrote back (buffer_wbl2, a kernel's end) is old nowhere else. A line that it has only in its
 * own L2 is not seen by others: that is the program's duty, as the ISA says. */
#ifndef MODEL_AMD_MEMORY_SNOOP_H
#define MODEL_AMD_MEMORY_SNOOP_H

#include "lockstep/line.h"
#include "model/memory/mem.h"

#define LINE_SNOOP_DIES_MAX 8u

typedef struct line_probe {
    uint64_t address;
} line_probe;

typedef struct line_probe_ack {
    uint32_t die;
} line_probe_ack;

/* The filter; `home` is the cache behind it. Requesters 0 to dies - 1 of its port are the dies' L2s, others keep no
 * lines. entries: lines that it knows; a line that it forgets is dropped by the L2s as well. */
ls_status line_snoop_create(ls_region *region, const char *name, uint32_t dies, uint64_t entries,
                            const mem_map *map, ls_block *home, ls_block **out, ls_error *err);
/* The link that sends line_probe to a die. */
void line_snoop_set_probe(ls_block *snoop, uint32_t die, ls_link *link);
/* Receives line_probe_ack; the receiver is the block's state. */
void line_snoop_receive_ack(void *state, ls_link *link, const void *payload, ls_cycle now);

/* A die's end: drops lines of its slices, which must be caches of this folder. */
ls_status line_snoop_end_create(ls_region *region, const char *name, uint32_t die, const mem_map *slices,
                                ls_block *const *caches, uint32_t channels, ls_block **out, ls_error *err);
void line_snoop_end_set_ack(ls_block *end, uint32_t channel, ls_link *link);
/* Receives line_probe of a channel. */
void *line_snoop_end_receiver(ls_block *end, uint32_t channel);
void line_snoop_end_receive(void *receiver, ls_link *link, const void *payload, ls_cycle now);

#endif
