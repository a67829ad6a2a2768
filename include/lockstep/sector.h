/* sector.h: messages between cores and L2 slices: requests for sectors of 32 bytes and their answers. Also the
 * location of an address: its memory channel, its L2 slice, its bank, row and column of DRAM. */
#ifndef LOCKSTEP_SECTOR_H
#define LOCKSTEP_SECTOR_H

#include "lockstep/version.h"

#include <stdbool.h>
#include <stdint.h>

#define LS_SECTOR_BYTES 32u

typedef enum ls_sector_kind {
    LS_SECTOR_READ,
    LS_SECTOR_WRITE,
    LS_SECTOR_ATOMIC,
    LS_SECTOR_FLUSH, /* no sector: L2 writes other GPUs' memory back, forgets it, and then answers */
} ls_sector_kind;

/* Where the bytes of an answer were found. */
typedef enum ls_sector_level {
    LS_SECTOR_L2,
    LS_SECTOR_DRAM,
    LS_SECTOR_REMOTE, /* memory of another GPU */
} ls_sector_level;

/* A request for one sector, and its answer: the answer is the request sent back. Every request has one: a
 * write's is its acknowledgement. */
typedef struct ls_sector_message {
    uint64_t address;   /* of the sector */
    uint64_t local;     /* the same without its channel: it picks a set of L2 */
    uint32_t byte_mask; /* of a write */
    uint32_t token;     /* the core's: identifies the requesting instruction or cache */
    uint16_t core;      /* the requester */
    uint16_t slice;     /* within the channel */
    uint8_t kind;       /* ls_sector_kind */
    bool global : 1;    /* for an access to global memory: counted apart */
    bool remote : 1;    /* other GPUs' memory, for the part of L2 that keeps it (rdma.at: memory) */
    bool system : 1;    /* system scope: performed where the memory is */
    uint8_t level : 2;  /* ls_sector_level, of an answer; of a request 0 */
    uint8_t unused : 3; /* 0, so that equal messages have equal bytes */
    uint16_t number;    /* of the request among its core's, for timelines; 0: nobody listens */
} ls_sector_message;

/* Which channel, slice, bank, row and column an address belongs to: `memory` in the platform file. */
typedef struct ls_address_map ls_address_map;

typedef struct ls_sector_place {
    uint32_t channel, slice; /* slice: within the channel */
    uint64_t local;          /* the address without its channel and slice bits: the L2 set index sees it */
} ls_sector_place;

typedef struct ls_dram_place {
    uint32_t bank, row, column;
} ls_dram_place;

/* In a system of several GPUs: addresses that belong to others, sorted and disjoint. All else is the GPU's own. Does
 * not change while the machine runs. */
typedef struct ls_owner_range {
    uint64_t begin, end;
    uint32_t owner; /* end of the fabric: the number of the GPU */
} ls_owner_range;
typedef struct ls_address_owners {
    const ls_owner_range *ranges;
    uint32_t count;
} ls_address_owners;

/* The range of an address; NULL: it is the GPU's own. */
static inline const ls_owner_range *ls_address_owner(const ls_address_owners *owners, uint64_t address)
{
    uint32_t low = 0, high = owners->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (owners->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < owners->count && owners->ranges[low].begin <= address ? &owners->ranges[low] : (void *)0;
}

LS_API ls_sector_place ls_address_map_place(const ls_address_map *map, uint64_t address);
LS_API ls_dram_place ls_address_map_dram(const ls_address_map *map, uint64_t address);

#endif
