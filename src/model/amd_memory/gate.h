/* gate.h: the way into a domain: block of slot "line-gate". Requests that come over links are handed to the
 * caches behind it (L2 slices by address, or one L1 of a shader array) in the order of each link, and
 * answered over links. */
#ifndef MODEL_AMD_MEMORY_GATE_H
#define MODEL_AMD_MEMORY_GATE_H

#include "model/amd_memory/line.h"
#include "model/memory/mem.h"

/* For `links` pairs of links. credits: of each link that comes in. */
ls_status line_gate_create(ls_region *region, const char *name, uint32_t links, uint32_t credits,
                           ls_block **out, ls_error *err);
/* The receiver of incoming link i; its receive function is line_gate_receive, its payload a line_message. */
void *line_gate_receiver(ls_block *gate, uint32_t i);
void line_gate_receive(void *receiver, ls_link *link, const void *payload, ls_cycle now);
/* Where requests of link i are answered: a link whose receiver is the hub that sent them. */
void line_gate_set_reply(ls_block *gate, uint32_t i, ls_link *link);
/* The caches, by slice of the map; map NULL: there is one. */
ls_status line_gate_set_slices(ls_block *gate, const mem_map *map, ls_block *const *caches, uint32_t count,
                               ls_error *err);

#endif
