/* place.h: the GPU or host that holds an address, in bits 40 and up of addresses of a system of several GPUs.
 *
 * Two kinds of addresses have these bits:
 *
 *   virtual    one space for the system. The bits are the number of the GPU that the address is at home on: 0 for
 *              GPU 0, whose addresses are those of a GPU alone.
 *   physical   relative to the GPU that uses it. The bits are 0 for its own memory, else 1 + the place. So a GPU with
 *              neighbours sees the addresses that it sees alone.
 *
 * The rest of an address (its frame) is the same everywhere: it begins at LS_WINDOW_BASE in each memory. */
#ifndef MODEL_MEMORY_PLACE_H
#define MODEL_MEMORY_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define MEM_PLACE_SHIFT 40u
#define MEM_PLACE_FRAME ((UINT64_C(1) << MEM_PLACE_SHIFT) - 1) /* mask of the other bits */
#define MEM_PLACE_GPUS 64u                                     /* places 0 to 63: GPUs by number */
#define MEM_PLACE_HOST 64u
#define MEM_PLACES 65u

/* The address inside the memory that holds it. */
static inline uint64_t mem_place_frame(uint64_t address)
{
    return address & MEM_PLACE_FRAME;
}

/* --- virtual addresses --- */

static inline uint32_t mem_place_home(uint64_t address)
{
    return (uint32_t)(address >> MEM_PLACE_SHIFT);
}

static inline uint64_t mem_place_virtual(uint32_t gpu, uint64_t frame)
{
    return (uint64_t)gpu << MEM_PLACE_SHIFT | frame;
}

/* --- physical addresses --- */

static inline bool mem_place_is_remote(uint64_t address)
{
    return address >> MEM_PLACE_SHIFT != 0;
}

/* Of a remote address. */
static inline uint32_t mem_place_of(uint64_t address)
{
    return (uint32_t)(address >> MEM_PLACE_SHIFT) - 1;
}

/* A frame at a place, as GPU `own` sees it. */
static inline uint64_t mem_place_physical(uint32_t own, uint32_t place, uint64_t frame)
{
    return (place == own ? 0 : (uint64_t)place + 1) << MEM_PLACE_SHIFT | frame;
}

/* A page at home, as GPU `own` sees it. */
static inline uint64_t mem_place_at_home(uint32_t own, uint64_t address)
{
    return mem_place_physical(own, mem_place_home(address), mem_place_frame(address));
}

#endif
