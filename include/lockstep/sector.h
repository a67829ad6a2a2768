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
 * write's is its acknowledgement. A read, or a write of whole sectors, may be for several sectors of one line of 128 bytes, if the
 * model of L2 takes these (ls_l2_ops.takes_lines). */
#define LS_SECTOR_LINE_BYTES 128u
typedef struct ls_sector_message {
    uint64_t address;     /* of the sector; for several, of their line */
    uint64_t local;       /* the same without its channel: it picks a set of L2 */
    uint32_t byte_mask;   /* of a write; of an operation on a semaphore its operand */
    uint32_t token;       /* the core's: identifies the requesting instruction or cache */
    uint16_t core;        /* the requester */
    uint16_t slice : 12;  /* within the channel; LS_SECTOR_SLICE() */
    uint16_t sectors : 4; /* a bit for each of several sectors of the line; 0: it is for one */
    uint8_t kind;         /* ls_sector_kind */
    bool global : 1;      /* for an access to global memory: counted apart */
    bool remote : 1;      /* other GPUs' memory, for the part of L2 that keeps it (rdma.at: memory) */
    bool system : 1;      /* system scope: performed where the memory is */
    uint8_t level : 2;    /* ls_sector_level, of an answer; of a request 0 */
    /* Operation on a semaphore (lockstep/stream.h): a read is answered when the value is at least the operand, an atomic adds
     * it, a write sets it. */
    bool semaphore : 1;
    /* L2 of two halves (memory.halves): the request went to the half of its core, and its home is in the other one; a slice
     * asks the home for a sector of which it will keep a copy. */
    bool away : 1;
    bool half : 1;
    uint16_t number; /* of the request among its core's, for timelines; 0: nobody listens */
} ls_sector_message;

/* The value of `slice` for a number below 4096. */
#define LS_SECTOR_SLICE(number) ((uint16_t)((number)&0xfffu))

/* How many of four bits are set: a table for hosts on which a population count is a call. */
static inline uint32_t ls_sector_bits(uint32_t sectors)
{
    static const uint8_t bits[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };
    return bits[sectors];
}

/* How many sectors a message is for. */
static inline uint32_t ls_sector_count(const ls_sector_message *m)
{
    return m->sectors != 0 ? ls_sector_bits(m->sectors) : 1;
}

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
