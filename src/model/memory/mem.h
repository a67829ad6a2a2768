/* mem.h: messages between cores and memory partitions, and the mapping of addresses to them. */
#ifndef MODEL_MEM_H
#define MODEL_MEM_H

#include "lockstep/param.h"
#include "lockstep/sector.h"

#include <stdbool.h>
#include <stdint.h>

/* Which partition (memory channel), slice, bank, row and column an address belongs to. The rules are those of
 * GPGPU-Sim's "dramid@B;bits" maps, so that imported configurations place data as Accel-Sim does.
 *
 * The map names the bits of an address inside its channel, MSB first, the last character is bit 0: R row, B
 * bank, C column, S burst (column bits too), 0 unused; '.', '|' and blanks do not count. Unnamed address bits
 * (above the map, or '0') do not distinguish places in DRAM. */
typedef struct mem_map_spec {
    uint64_t channels, slices_per_channel;
    uint64_t interleave_bytes; /* neighbours in one channel; "dramid@B;" in bit_map says 1 << B instead */
    uint32_t slice_hash;       /* mem_slice_hash */
    const char *bit_map;       /* "dramid@8;0000RRRR.RBBBCCCC.BCCSSSSS", or the same without its prefix */
} mem_map_spec;

/* In the order of slice_hash_names. IPOLY_MODULO is for 2^k * odd slices: the remainder by the odd number picks a group of
 * 2^k slices, IPOLY the slice in it. */
typedef enum mem_slice_hash {
    MEM_HASH_NONE,
    MEM_HASH_XOR,
    MEM_HASH_IPOLY,
    MEM_HASH_IPOLY_MODULO
} mem_slice_hash;

/* Bits to gather from an address, lowest first: each run of neighbours moves down as one. */
#define MEM_RUNS_MAX 16
typedef struct mem_run {
    uint64_t mask;
    uint32_t shift;
    uint32_t unused;
} mem_run;

typedef struct mem_bits {
    uint32_t count; /* bits */
    uint32_t runs;
    mem_run run[MEM_RUNS_MAX];
} mem_bits;

#define MEM_HASH_BYTES 3
#define MEM_SPREAD_BYTES 4 /* MEM_HASH_BYTES, and room for the slice's bits between them */

typedef struct ls_address_map {
    uint32_t channels, slices_per_channel, slice_count;
    uint32_t interleave_shift, channel_shift; /* channel_shift: log2 of channels, 0 if that is not whole */
    uint32_t slice_shift;                     /* log2 of slices_per_channel */
    bool power_of_two;                        /* channels is */
    uint32_t hash, hash_bits;             /* hash_bits: of an IPOLY place, or of one in its group, up to 8 */
    uint8_t hash_of[MEM_HASH_BYTES][256]; /* IPOLY is linear: one look per byte of the bits it sees */
    /* With IPOLY_MODULO and no power of two: what the bits above the channel change in a place, by byte. One look for slice
     * and hash. */
    uint8_t spread_of[MEM_SPREAD_BYTES][256];
    /* mem_map_place_spread(): the bits that the lowest byte brings into `local`, from the interleaving boundary on; what the
     * bytes above it brought into the last place, and these bytes. */
    uint8_t lowest_local[256];
    uint64_t upper, upper_local;
    uint32_t upper_place;
    uint32_t slice_mask; /* slices_per_channel - 1 */
    uint64_t low_mask;   /* the bits below the interleaving boundary */
    bool spreads;        /* spread_of has all of it */
    mem_bits local;      /* of the address without the channel: all bits except the slice's */
    mem_bits slice;      /* the lowest bank bits */
    mem_bits bank, row, column;
    /* mem_map_place_again(): the lowest bits that change nothing but the same bits of `local`; the last
     * answer without them, and the address above them that it is for. */
    uint32_t plain_bits;
    uint64_t last_above;
    ls_sector_place last;
} mem_map;

ls_status mem_map_init(mem_map *map, const mem_map_spec *spec, ls_error *err);
ls_sector_place mem_map_place(const mem_map *map, uint64_t address);
/* The other way: the address that has this place, or MEM_NO_ADDRESS. Tries channels and slices: not for every request. */
#define MEM_NO_ADDRESS UINT64_MAX
uint64_t mem_map_address(const mem_map *map, const ls_sector_place *place);
/* The same for the one owner of a map that spreads: addresses of one region of memory cost less. */
void mem_map_set_upper(mem_map *map, uint64_t upper);
static inline ls_sector_place mem_map_place_spread(mem_map *map, uint64_t address)
{
    const uint32_t shift = map->interleave_shift, channels = map->channels;
    const uint64_t above = address >> shift, high = above / channels;
    const uint32_t channel = (uint32_t)(above % channels), lowest = high & 0xff;
    if (LS_UNLIKELY(high >> 8 != map->upper))
        mem_map_set_upper(map, high >> 8);
    const uint32_t global = channel << map->slice_shift ^ map->upper_place ^ map->spread_of[0][lowest];
    return (ls_sector_place){ .channel = global >> map->slice_shift,
                              .slice = global & map->slice_mask,
                              .local = map->upper_local | (uint64_t)map->lowest_local[lowest] << shift |
                                       (address & map->low_mask) };
}
/* The same for the one owner of any map: neighbours of the address before cost less. */
static inline ls_sector_place mem_map_place_again(mem_map *map, uint64_t address)
{
    uint64_t above = address >> map->plain_bits, below = address ^ above << map->plain_bits;
    if (above != map->last_above) {
        map->last_above = above;
        map->last =
            map->spreads ? mem_map_place_spread(map, address ^ below) : mem_map_place(map, address ^ below);
    }
    ls_sector_place place = map->last;
    place.local |= below;
    return place;
}
/* The channel alone, for maps for which mem_map_is_plain(): a few operations. */
static inline bool mem_map_is_plain(const mem_map *map)
{
    return map->power_of_two && map->slices_per_channel == 1 && map->hash != MEM_HASH_XOR &&
           map->hash != MEM_HASH_IPOLY_MODULO;
}
static inline uint32_t mem_map_plain_channel(const mem_map *map, uint64_t address)
{
    uint64_t above = address >> map->interleave_shift;
    uint32_t channel = (uint32_t)above & (map->channels - 1);
    if (map->hash == MEM_HASH_NONE)
        return channel;
    above >>= map->channel_shift;
    return channel ^ map->hash_of[0][above & 0xff] ^ map->hash_of[1][above >> 8 & 0xff] ^
           map->hash_of[2][above >> 16 & 0xff];
}
ls_dram_place mem_map_dram(const mem_map *map, uint64_t address);
/* All sectors of a line of 128 bytes are in one row of one bank of one channel. */
bool mem_map_line_in_row(const mem_map *map);
/* And in one slice. */
bool mem_map_keeps_lines(const mem_map *map);

#endif
