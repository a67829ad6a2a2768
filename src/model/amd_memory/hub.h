/* hub.h: the way out of a domain: block of slot "line-hub". The caches of a cluster (or a copy engine) share
 * one link to each place their lines can live in: the memory partitions, or the shader array's L1. Provides
 * LS_LINE_MEMORY_PORT.
 *
 * An invalidate or a flush goes to every place and is answered when all have answered. It does not go to other GPUs:
 * it is about the caches of one. */
#ifndef MODEL_AMD_MEMORY_HUB_H
#define MODEL_AMD_MEMORY_HUB_H

#include "lockstep/line.h"
#include "model/memory/mem.h"

/* Makes the block. line_bytes: of the caches at the other ends of the links. */
ls_status line_hub_create(ls_region *region, const char *name, uint32_t line_bytes, ls_block **out,
                          ls_error *err);
/* Links for requests by channel of the map; map NULL: there is one place, links[0]. Both are copied. Places
 * may share a link. The payload of links is a ls_line_message with the hub's number and the place. Replies
 * come back over links whose receive function is line_hub_receive and whose receiver is the block's state. */
ls_status line_hub_set_links(ls_block *hub, uint32_t number, const mem_map *map, ls_link *const *links,
                             uint32_t count, ls_error *err);
/* In a system of several GPUs: requests for another memory than that of GPU `own` go over this link, with a physical
 * address (model/memory/place.h). NULL: there is no fabric, and nothing is mapped at such addresses. homes: requests
 * have virtual addresses, because no TLB is before the hub, and pages lie at home; else they have physical ones. */
void line_hub_set_remote(ls_block *hub, ls_link *remote, uint32_t own, bool homes);
/* The same, but these requests go to the place of the rest of their address: the RDMA engine is behind L2. */
void line_hub_set_behind(ls_block *hub, uint32_t own, bool homes);
void line_hub_receive(void *state, ls_link *link, const void *payload, ls_cycle now);
/* The port takes so many cycles for each line, in either direction; 0: no limit. */
void line_hub_set_line_cycles(ls_block *hub, ls_ratio cycles);

#endif
