/* address.c: the address map: text to bit fields, and addresses to places. No state but the map itself.
 *
 * With 2^k channels the channel is a field of k bits at the interleaving boundary, and every field of the map
 * above it moves up by k. Otherwise the part above the boundary is divided by the number of channels and the
 * map applies to the quotient. A slice is chosen by the lowest bank bits, so that it owns its banks, and then
 * hashed together with the channel. */
#include "base/text.h"
#include "model/memory/mem.h"
#include "model/policy/set_hash.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "dramid@"
#define SHIFT_MAX 32 /* 4 GiB in one channel */
#define CHANNELS_MAX 4096
#define SLICES_MAX 64

/* The map's fields as masks of address bits. */
typedef struct fields {
    uint64_t bank, row, column;
} fields;

static uint32_t log2_ceil(uint64_t value)
{
    uint32_t bits = 0;
    while (bits < 63 && (UINT64_C(1) << bits) < value)
        bits++;
    return bits;
}

static inline uint64_t gather_run(const mem_run *run, uint64_t address)
{
    return (address & run->mask) >> run->shift;
}

/* Runs that are not there have an empty mask. */
static inline uint64_t gather(const mem_bits *bits, uint64_t address)
{
    uint64_t out = gather_run(&bits->run[0], address) | gather_run(&bits->run[1], address);
    for (uint32_t i = 2; LS_UNLIKELY(i < bits->runs); i++)
        out |= gather_run(&bits->run[i], address);
    return out;
}

/* The same of bits in up to three pieces. */
static inline uint64_t gather_three(const mem_bits *bits, uint64_t address)
{
    return gather_run(&bits->run[0], address) | gather_run(&bits->run[1], address) |
           gather_run(&bits->run[2], address);
}

/* ----------------------------------------------------------------------------------------------- placing */

/* The address inside its channel as the map sees it: with 2^k channels the fields have moved instead. */
static inline uint64_t rest_of(const mem_map *map, uint64_t address)
{
    if (map->power_of_two)
        return address;
    uint64_t low = (UINT64_C(1) << map->interleave_shift) - 1;
    return ((address >> map->interleave_shift) / map->channels) << map->interleave_shift | (address & low);
}

/* Any map. */
static __attribute__((noinline)) ls_sector_place place_any(const mem_map *map, uint64_t address)
{
    ls_sector_place place;
    uint64_t above = address >> map->interleave_shift;
    uint64_t rest, high; /* high: the bits that a hash may use */
    if (map->power_of_two) {
        rest = address;
        place.channel = (uint32_t)above & (map->channels - 1);
        high = above >> (map->channel_shift + map->slice_shift);
    } else {
        high = above / map->channels;
        place.channel = (uint32_t)(above - high * map->channels);
        rest = high << map->interleave_shift | (address & ((UINT64_C(1) << map->interleave_shift) - 1));
    }
    place.slice = (uint32_t)gather(&map->slice, rest);
    place.local = gather(&map->local, rest);
    if (map->hash == MEM_HASH_IPOLY) {
        uint32_t global = place.channel << map->slice_shift | place.slice;
        for (uint32_t i = 0; i < MEM_HASH_BYTES; i++)
            global ^= map->hash_of[i][high >> 8 * i & 0xff];
        if (!map->power_of_two)
            global %= map->slice_count;
        place.channel = global >> map->slice_shift;
        place.slice = global & (map->slices_per_channel - 1);
    } else if (map->hash == MEM_HASH_XOR) {
        place.channel ^= (uint32_t)high & (map->channels - 1);
    } else if (map->hash == MEM_HASH_IPOLY_MODULO) {
        /* The bits that flip are above those that they flip, so that no two addresses meet. */
        uint64_t above_local = place.local >> map->interleave_shift;
        uint32_t global = place.channel << map->slice_shift | place.slice;
        for (uint32_t i = 0; i < MEM_HASH_BYTES; i++)
            global ^= map->hash_of[i][above_local >> 8 * i & 0xff];
        place.channel = global >> map->slice_shift;
        place.slice = global & (map->slices_per_channel - 1);
    }
    return place;
}

ls_sector_place mem_map_place(const mem_map *map, uint64_t address)
{
    if (!map->spreads)
        return place_any(map, address);
    uint64_t above = address >> map->interleave_shift, high = above / map->channels;
    uint64_t rest = high << map->interleave_shift | (address & ((UINT64_C(1) << map->interleave_shift) - 1));
    uint32_t global = (uint32_t)(above - high * map->channels) << map->slice_shift;
    for (uint32_t i = 0; i < MEM_SPREAD_BYTES; i++)
        global ^= map->spread_of[i][high >> 8 * i & 0xff];
    return (ls_sector_place){ .channel = global >> map->slice_shift,
                              .slice = global & (map->slices_per_channel - 1),
                              .local = gather_three(&map->local, rest) };
}

/* Places of addresses in the first channel of which only one byte is not 0. A hash of IPOLY is linear, and so are the slice's
 * bits: the place of any address is the sum of its bytes' places. */
static void set_spread(mem_map *map, uint64_t slice_mask)
{
    uint64_t above = slice_mask >> map->interleave_shift;
    if (map->hash != MEM_HASH_IPOLY_MODULO || map->power_of_two || map->interleave_shift > 16 ||
        above << map->interleave_shift != slice_mask || above >> 8 * MEM_SPREAD_BYTES != 0 ||
        map->local.runs > 3)
        return;
    for (uint32_t i = 0; i < MEM_SPREAD_BYTES * 256; i++) {
        uint64_t high = (uint64_t)(i % 256) << 8 * (i / 256);
        ls_sector_place place = place_any(map, high * map->channels << map->interleave_shift);
        map->spread_of[i / 256][i % 256] = (uint8_t)(place.channel << map->slice_shift | place.slice);
        if (i < 256)
            map->lowest_local[i] = (uint8_t)(place.local >> map->interleave_shift);
    }
    map->slice_mask = map->slices_per_channel - 1;
    map->low_mask = (UINT64_C(1) << map->interleave_shift) - 1;
    map->spreads = true;
    map->upper = UINT64_MAX;
}

void mem_map_set_upper(mem_map *map, uint64_t upper)
{
    const ls_sector_place place = place_any(map, (upper << 8) * map->channels << map->interleave_shift);
    map->upper = upper;
    map->upper_place = place.channel << map->slice_shift | place.slice;
    map->upper_local = place.local;
}

static inline uint64_t scatter(const mem_bits *bits, uint64_t value)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < bits->runs; i++)
        out |= value << bits->run[i].shift & bits->run[i].mask;
    return out;
}

/* The address of a place whose channel and slice bits have these values before the hash. */
static uint64_t unhashed(const mem_map *map, uint64_t local, uint32_t channel, uint32_t slice)
{
    uint64_t rest = scatter(&map->local, local) | scatter(&map->slice, slice);
    if (map->power_of_two)
        return rest | (uint64_t)channel << map->interleave_shift;
    uint64_t low = (UINT64_C(1) << map->interleave_shift) - 1;
    return ((rest >> map->interleave_shift) * map->channels + channel) << map->interleave_shift | (rest & low);
}

static bool is_at(const mem_map *map, uint64_t address, const ls_sector_place *place)
{
    ls_sector_place found = mem_map_place(map, address);
    return found.channel == place->channel && found.slice == place->slice && found.local == place->local;
}

uint64_t mem_map_address(const mem_map *map, const ls_sector_place *place)
{
    uint64_t address = unhashed(map, place->local, place->channel, place->slice);
    if (is_at(map, address, place))
        return address;
    for (uint32_t i = 0; i < map->slice_count; i++) {
        address = unhashed(map, place->local, i >> map->slice_shift, i & (map->slices_per_channel - 1));
        if (is_at(map, address, place))
            return address;
    }
    return MEM_NO_ADDRESS;
}

ls_dram_place mem_map_dram(const mem_map *map, uint64_t address)
{
    uint64_t rest = rest_of(map, address);
    return (ls_dram_place){ .bank = (uint32_t)gather(&map->bank, rest),
                            .row = (uint32_t)gather(&map->row, rest),
                            .column = (uint32_t)gather(&map->column, rest) };
}

bool mem_map_line_in_row(const mem_map *map)
{
    const ls_dram_place row = mem_map_dram(map, 0);
    for (uint64_t at = LS_SECTOR_BYTES; at < LS_SECTOR_LINE_BYTES; at += LS_SECTOR_BYTES) {
        const ls_dram_place in_row = mem_map_dram(map, at);
        if (mem_map_place(map, at).channel != mem_map_place(map, 0).channel || in_row.bank != row.bank ||
            in_row.row != row.row)
            return false;
    }
    return true;
}

bool mem_map_keeps_lines(const mem_map *map)
{
    const ls_sector_place home = mem_map_place(map, 0);
    for (uint64_t at = LS_SECTOR_BYTES; at < LS_SECTOR_LINE_BYTES; at += LS_SECTOR_BYTES) {
        const ls_sector_place place = mem_map_place(map, at);
        if (place.slice != home.slice || place.local != (home.local | at))
            return false;
    }
    return mem_map_line_in_row(map);
}

/* ----------------------------------------------------------------------------------------------- reading */

/* "dramid@8;": the interleaving, and where the map proper begins. */
static ls_status read_prefix(const char *text, uint32_t *shift, const char **rest, ls_error *err)
{
    const char *digits = text + strlen(PREFIX);
    char *end = NULL;
    unsigned long value = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || value > SHIFT_MAX)
        return ls_fail(err, LS_ERR_INPUT, "no bit number from 0 to %d after '" PREFIX "' (position %zu)",
                       SHIFT_MAX, strlen(PREFIX) + 1);
    if (*end != ';')
        return ls_fail(err, LS_ERR_INPUT, "no ';' after '" PREFIX "%lu' (position %zu)", value,
                       (size_t)(end - text) + 1);
    *shift = (uint32_t)value;
    *rest = end + 1;
    return LS_OK;
}

static ls_status read_interleaving(mem_map *map, const mem_map_spec *spec, const char **rest, ls_error *err)
{
    *rest = spec->bit_map;
    if (strncmp(spec->bit_map, PREFIX, strlen(PREFIX)) == 0)
        return read_prefix(spec->bit_map, &map->interleave_shift, rest, err);
    map->interleave_shift = log2_ceil(spec->interleave_bytes);
    if (map->interleave_shift > SHIFT_MAX || UINT64_C(1) << map->interleave_shift != spec->interleave_bytes)
        return ls_fail(err, LS_ERR_INPUT, "interleave_bytes is %llu, it must be a power of two up to 4 GiB",
                       (unsigned long long)spec->interleave_bytes);
    return LS_OK;
}

static bool is_gap(char c)
{
    return c == '.' || c == '|' || c == ' ' || c == '\t';
}

/* Characters from `map` to the end of `text`, MSB first. */
static ls_status read_fields(const char *text, const char *map, fields *out, ls_error *err)
{
    uint32_t bit = 0;
    for (const char *c = map; *c; c++)
        bit += !is_gap(*c);
    if (bit > 64)
        return ls_fail(err, LS_ERR_INPUT, "it names %u bits, an address has 64", bit);
    for (const char *c = map; *c; c++) {
        if (is_gap(*c))
            continue;
        uint64_t mask = UINT64_C(1) << --bit;
        size_t position = (size_t)(c - text) + 1;
        char quoted[8];
        switch (*c) {
        case 'R':
        case 'r':
            out->row |= mask;
            break;
        case 'B':
        case 'b':
            out->bank |= mask;
            break;
        case 'C':
        case 'c':
        case 'S':
        case 's':
            out->column |= mask;
            break;
        case '0':
            break;
        default:
            return ls_fail(err, LS_ERR_INPUT, "'%s' (position %zu) is none of R, B, C, S, 0 and '.'%s",
                           quote_text(c, 1, quoted, sizeof quoted), position,
                           *c == 'D' || *c == 'd' ? ": channel bits are those at interleave_bytes" : "");
        }
    }
    return LS_OK;
}

static ls_status set_bits(mem_bits *bits, uint64_t mask, const char *what, ls_error *err)
{
    *bits = (mem_bits){ .count = (uint32_t)__builtin_popcountll(mask) };
    uint32_t below = 0; /* bits gathered so far */
    while (mask != 0) {
        uint32_t low = (uint32_t)__builtin_ctzll(mask);
        uint64_t run = mask & ~(mask + (UINT64_C(1) << low)); /* the carry goes through the lowest run */
        if (bits->runs == MEM_RUNS_MAX)
            return ls_fail(err, LS_ERR_UNSUPPORTED, "the %s bits lie in more than %d pieces", what,
                           MEM_RUNS_MAX);
        bits->run[bits->runs++] = (mem_run){ .mask = run, .shift = low - below };
        below += (uint32_t)__builtin_popcountll(run);
        mask &= ~run;
    }
    return LS_OK;
}

/* Moves the bits at and above `from` up by `by`; false if one falls off. */
static bool move_up(uint64_t *mask, uint32_t from, uint32_t by)
{
    uint64_t low = (UINT64_C(1) << from) - 1;
    uint64_t high = *mask & ~low;
    *mask = high << by | (*mask & low);
    return high << by >> by == high;
}

static uint64_t lowest_bits(uint64_t mask, uint32_t count)
{
    uint64_t out = 0;
    for (; count > 0 && mask != 0; count--) {
        out |= mask & (~mask + 1);
        mask &= mask - 1;
    }
    return out;
}

static ls_status place_fields(mem_map *map, fields f, ls_error *err)
{
    uint32_t at = map->interleave_shift, by = map->channel_shift;
    if (!move_up(&f.bank, at, by) || !move_up(&f.row, at, by) || !move_up(&f.column, at, by))
        return ls_fail(err, LS_ERR_INPUT, "with the bits of %u channels it has more than 64", map->channels);
    uint64_t channel_mask = ((UINT64_C(1) << by) - 1) << at;
    uint64_t slice_mask = lowest_bits(f.bank, map->slice_shift);
    ls_status status = set_bits(&map->bank, f.bank, "bank", err);
    if (status == LS_OK)
        status = set_bits(&map->row, f.row, "row", err);
    if (status == LS_OK)
        status = set_bits(&map->column, f.column, "column", err);
    if (status == LS_OK)
        status = set_bits(&map->slice, slice_mask, "slice", err);
    if (status == LS_OK)
        status = set_bits(&map->local, ~(channel_mask | slice_mask), "other", err);
    if (status != LS_OK)
        return status;
    if (map->slice.count < map->slice_shift)
        return ls_fail(err, LS_ERR_INPUT, "%u bank bits are too few for %u slices per channel",
                       map->bank.count, map->slices_per_channel);
    if (map->row.count > 32 || map->bank.count > 32 || map->column.count > 32)
        return ls_fail(err, LS_ERR_INPUT, "it has more than 32 bits of one kind");
    set_spread(map, slice_mask);
    return LS_OK;
}

static ls_status check_counts(const mem_map_spec *spec, ls_error *err)
{
    if (spec->channels == 0 || spec->channels > CHANNELS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "there are %llu memory channels, it must be 1 to %d",
                       (unsigned long long)spec->channels, CHANNELS_MAX);
    if (spec->slices_per_channel == 0 || spec->slices_per_channel > SLICES_MAX ||
        (spec->slices_per_channel & (spec->slices_per_channel - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT,
                       "there are %llu L2 slices per channel, it must be a power of two up to %d",
                       (unsigned long long)spec->slices_per_channel, SLICES_MAX);
    if (spec->bit_map == NULL)
        return ls_fail(err, LS_ERR_INPUT, "there is no address map");
    return LS_OK;
}

static ls_status check_hash(const mem_map *map, ls_error *err)
{
    if (map->hash == MEM_HASH_XOR && !map->power_of_two)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "slice hash 'xor' needs a power of two of channels, not %u",
                       map->channels);
    if (map->hash == MEM_HASH_IPOLY_MODULO && map->hash_bits > 8)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "slice hash 'ipoly_modulo' spreads over groups of up to 256 slices, but %u channels of %u have "
            "groups of %u",
            map->channels, map->slices_per_channel, 1u << map->hash_bits);
    if (map->hash == MEM_HASH_IPOLY && map->hash_bits > 8)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "slice hash 'ipoly' spreads over up to 256 slices, but %u channels of %u need %u",
                       map->channels, map->slices_per_channel, 1u << map->hash_bits);
    return LS_OK;
}

/* The bits of a place that the address bits above it flip. Accel-Sim has polynomials for 4 to 6 bits. */
static uint32_t ipoly_of(uint64_t high, uint32_t bits)
{
    static const uint32_t polynomials[9] = { 0, 3, 7, 0xb, 0, 0, 0, 0x83, 0x11d };
    if (bits == 0)
        return 0; /* one slice in all */
    if (bits >= 4 && bits <= 6)
        return set_hash_ipoly(high, 0, bits);
    uint32_t out = 0, power = 1; /* power: x^n by the polynomial */
    for (uint32_t n = 0; n < bits + 8 * MEM_HASH_BYTES; n++) {
        if (n >= bits && high >> (n - bits) & 1)
            out ^= power;
        power <<= 1;
        if (power >> bits & 1)
            power ^= polynomials[bits];
    }
    return out;
}

ls_status mem_map_init(mem_map *map, const mem_map_spec *spec, ls_error *err)
{
    ls_status status = check_counts(spec, err);
    if (status != LS_OK)
        return status;
    *map = (mem_map){ .channels = (uint32_t)spec->channels,
                      .slices_per_channel = (uint32_t)spec->slices_per_channel,
                      .hash = spec->slice_hash };
    map->slice_shift = log2_ceil(map->slices_per_channel);
    map->slice_count = map->channels * map->slices_per_channel;
    map->power_of_two = (map->channels & (map->channels - 1)) == 0;
    map->channel_shift = map->power_of_two ? log2_ceil(map->channels) : 0;
    map->hash_bits = log2_ceil(map->channels) + map->slice_shift;
    if (map->hash == MEM_HASH_IPOLY_MODULO)
        map->hash_bits = (uint32_t)__builtin_ctz(map->slice_count);
    status = check_hash(map, err);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; map->hash >= MEM_HASH_IPOLY && i < MEM_HASH_BYTES * 256; i++)
        map->hash_of[i / 256][i % 256] =
            (uint8_t)ipoly_of((uint64_t)(i % 256) << 8 * (i / 256), map->hash_bits);

    fields f = { 0 };
    const char *rest = NULL;
    status = read_interleaving(map, spec, &rest, err);
    if (status == LS_OK)
        status = read_fields(spec->bit_map, rest, &f, err);
    if (status == LS_OK)
        status = place_fields(map, f, err);
    if (status != LS_OK) {
        char quoted[128];
        return ls_error_prefix(err, "address map '%s'",
                               quote_text(spec->bit_map, strlen(spec->bit_map), quoted, sizeof quoted));
    }
    ls_sector_place origin = mem_map_place(map, 0), place;
    do {
        place = mem_map_place(map, UINT64_C(1) << map->plain_bits);
    } while (place.channel == origin.channel && place.slice == origin.slice &&
             place.local == UINT64_C(1) << map->plain_bits && ++map->plain_bits < 12);
    map->last_above = UINT64_MAX;
    return LS_OK;
}

/* --------------------------------------------------------------------------------- for models of any slot */

ls_sector_place ls_address_map_place(const ls_address_map *map, uint64_t address)
{
    return mem_map_place(map, address);
}

ls_dram_place ls_address_map_dram(const ls_address_map *map, uint64_t address)
{
    return mem_map_dram(map, address);
}
