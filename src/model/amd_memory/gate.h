/* gate.h: the entry of a domain: block of slot "line-gate". Requests that come over links go to the caches of
 * the domain in the order of each link, and answers return over links. The caches are L2 slices by address, or
 * one L1 of a shader array. */
#ifndef MODEL_AMD_MEMORY_GATE_H
#define MODEL_AMD_MEMORY_GATE_H

#include "lockstep/line.h"
#include "model/memory/mem.h"

/* For the requests of `hubs` hubs. requests_max: that links can deliver before a buffer entry is released. */
ls_status line_gate_create(ls_region *region, const char *name, uint32_t hubs, uint32_t requests_max,
                           ls_block **out, ls_error *err);
/* The payload of links is a ls_line_message. A link of hub i alone: its receiver, and its receive function. */
void *line_gate_receiver(ls_block *gate, uint32_t i);
void line_gate_receive(void *receiver, ls_link *link, const void *payload, ls_cycle now);
/* A link of any hubs: the number of the hub stands in the message. All messages of a hub come over the same link.
 * The receiver is the block's state. */
void line_gate_receive_any(void *state, ls_link *link, const void *payload, ls_cycle now);
/* Where requests of hub i are answered: a link that leads to it. Hubs may share it. */
void line_gate_set_reply(ls_block *gate, uint32_t i, ls_link *link);
/* The caches, by slice of the map; map NULL: there is one. */
ls_status line_gate_set_slices(ls_block *gate, const mem_map *map, ls_block *const *caches, uint32_t count,
                               ls_error *err);
/* After the slices: caches for lines of other GPUs (model/memory/place.h), one for each slice. Invalidates and flushes
 * are for them alone. */
ls_status line_gate_set_remote(ls_block *gate, ls_block *const *caches, uint32_t count, ls_error *err);

#endif
