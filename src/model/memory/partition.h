/* partition.h: a memory partition: L2 slices of one channel in front of its DRAM. */
#ifndef MODEL_PARTITION_H
#define MODEL_PARTITION_H

#include "lockstep/block.h"
#include "model/cache/cache.h"
#include "model/memory/mem.h"

/* Wiring, before the run. to_core: by core. in_links_max: what all links together can deliver
 * before an entry is given back. */
ls_status partition_attach(ls_block *partition, const mem_map *map, ls_link *const *to_core,
                           uint32_t core_count, uint32_t in_links_max, ls_error *err);
void partition_receive(void *state, ls_link *link, const void *payload, ls_cycle now);
/* Marks a sector valid in L2 without time: memory copies of a trace. */
void partition_warm(ls_block *partition, uint64_t address);

/* What a profile needs to know of it. */
typedef struct partition_shape {
    cache_spec l2; /* of a slice */
    uint64_t delay_cycles;
    uint64_t percent; /* of one sector per cycle, what a slice serves */
} partition_shape;
partition_shape partition_get_shape(const ls_block *partition);

/* The channel that an address belongs to. */
uint32_t partition_channel(ls_block *partition, uint64_t address);

#endif
