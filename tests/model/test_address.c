/* test_address.c: the address map: places worked out by hand for three real configurations, a second
 * reading of the rules bit by bit, and properties that every map must have. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/random.h"
#include "model/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define GDDR6_BITS "0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"
#define HBM_BITS "0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS"

/* accelsim-configs: SM75_RTX2060, SM86_RTX3070, SM7_QV100. */
static const mem_map_spec rtx2060 = { .channels = 12,
                                      .slices_per_channel = 2,
                                      .slice_hash = MEM_HASH_NONE,
                                      .bit_map = "dramid@8;00000000.00000000.00000000.00000000." GDDR6_BITS };
static const mem_map_spec rtx3070 = { .channels = 16,
                                      .slices_per_channel = 2,
                                      .slice_hash = MEM_HASH_IPOLY,
                                      .bit_map = "dramid@8;00000000.00000000.00000000.00000000." GDDR6_BITS };
static const mem_map_spec qv100 = { .channels = 32,
                                    .slices_per_channel = 2,
                                    .slice_hash = MEM_HASH_IPOLY,
                                    .bit_map = "dramid@8;00000000.00000000.00000000.00000000." HBM_BITS };

/* 160 slices: 5 groups of 32. */
static const mem_map_spec hopper = { .channels = 40,
                                     .slices_per_channel = 4,
                                     .slice_hash = MEM_HASH_IPOLY_MODULO,
                                     .bit_map = "dramid@8;00000000.00000000.00000000.00000000." HBM_BITS };

static mem_map make(const mem_map_spec *spec)
{
    mem_map map;
    ls_error err = { 0 };
    if (mem_map_init(&map, spec, &err) != LS_OK)
        fail_msg("%s", err.what);
    return map;
}

static void expect_error(const mem_map_spec *spec, ls_status status, const char *part)
{
    mem_map map;
    ls_error err = { 0 };
    assert_int_equal(mem_map_init(&map, spec, &err), status);
    if (strstr(err.what, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.what, part);
}

/* ----------------------------------------------------------------------------------------------- by hand */

typedef struct hand_case {
    uint64_t address;
    uint32_t channel, slice;
    uint64_t local;
    uint32_t bank, row, column;
} hand_case;

static void check_cases(const mem_map_spec *spec, const hand_case *cases, size_t count)
{
    mem_map map = make(spec);
    for (size_t i = 0; i < count; i++) {
        const hand_case *c = &cases[i];
        ls_sector_place place = mem_map_place(&map, c->address);
        ls_dram_place dram = mem_map_dram(&map, c->address);
        if (place.channel != c->channel || place.slice != c->slice || place.local != c->local ||
            dram.bank != c->bank || dram.row != c->row || dram.column != c->column)
            fail_msg("case %zu: channel %u slice %u local 0x%llx bank %u row %u column %u", i, place.channel,
                     place.slice, (unsigned long long)place.local, dram.bank, dram.row, dram.column);
    }
}

/* 12 channels, no hash: the channel is (address / 256) % 12, the map applies to the quotient and the low
 * byte. Fields: S 0-4, C 5-6, B 7, C 8-11, B 12-14, R 15-27. The slice is bit 7, which local leaves out. */
static void test_rtx2060(void **state)
{
    (void)state;
    static const hand_case cases[] = {
        { 0x0, 0, 0, 0x0, 0, 0, 0 },
        { 0x1f, 0, 0, 0x1f, 0, 0, 31 },
        { 0x80, 0, 1, 0x0, 1, 0, 0 },
        { 256 * 11, 11, 0, 0x0, 0, 0, 0 },
        { 256 * 12, 0, 0, 0x80, 0, 0, 128 },             /* quotient 1: bit 8 is column bit 7 */
        { 256 * 13 + 0x80, 1, 1, 0x80, 1, 0, 128 },      /* and the slice bit */
        { 256 * (12 * 16 + 5), 5, 0, 0x800, 2, 0, 0 },   /* quotient 16: bit 12 is bank bit 1 */
        { 256 * (12 * 128 + 7), 7, 0, 0x4000, 0, 1, 0 }, /* quotient 128: bit 15 is row bit 0 */
        { UINT64_C(256) * 12 * ((1 << 20) | 3), 0, 0, (UINT64_C(1) << 27) | 0x180, 0, 0,
          384 }, /* past the row */
    };
    check_cases(&rtx2060, cases, LS_COUNT_OF(cases));
}

/* 16 channels: address bits 8-11, fields above move up by 4: C 12-15, B 16-18, R 19-31. The hash sees bits
 * 13 and up: bit 13 flips place bits 0 and 2, bit 14 flips 1 and 3; the place is channel * 2 + slice. */
static void test_rtx3070(void **state)
{
    (void)state;
    static const hand_case cases[] = {
        { 0x0, 0, 0, 0x0, 0, 0, 0 },
        { 0x80, 0, 1, 0x0, 1, 0, 0 },
        { 0x500, 5, 0, 0x0, 0, 0, 0 },
        { 0x1000, 0, 0, 0x80, 0, 0, 128 }, /* bit 12: below what the hash sees */
        { 0x2000, 2, 1, 0x100, 0, 0, 256 },
        { 0x4000, 5, 0, 0x200, 0, 0, 512 },
        { 0x2080, 2, 0, 0x100, 1, 0, 256 },
        { 0x10000, 6, 1, 0x800, 2, 0, 0 },       /* bit 16 is a3 of the hash: places 0, 2 and 3 */
        { 0x80000, 3, 1, 0x4000, 0, 1, 0 },      /* bit 19 is a6: places 0, 1 and 2 */
        { 0x2000000, 9, 1, 0x100000, 0, 64, 0 }, /* bit 25 is a12: places 0, 1 and 4 */
    };
    mem_map map = make(&rtx3070);
    assert_int_equal(map.hash_bits, 5);
    check_cases(&rtx3070, cases, LS_COUNT_OF(cases));
}

/* 32 channels: address bits 8-12; B at 13, C 14-16, B 17-19, R 20-32. The hash sees bits 14 and up. */
static void test_qv100(void **state)
{
    (void)state;
    static const hand_case cases[] = {
        { 0x0, 0, 0, 0x0, 0, 0, 0 },         { 0xe0, 0, 0, 0xe0, 0, 0, 0xe0 },
        { 0x1f00, 31, 0, 0x0, 0, 0, 0 },     { 0x2000, 0, 1, 0x0, 1, 0, 0 },
        { 0x4000, 1, 1, 0x100, 0, 0, 256 },  /* a0: places 0 and 1 */
        { 0x8000, 3, 0, 0x200, 0, 0, 512 },  /* a1: places 1 and 2 */
        { 0x20000, 12, 0, 0x800, 2, 0, 0 },  /* a3: places 3 and 4 */
        { 0x100000, 2, 1, 0x4000, 0, 1, 0 }, /* a6: places 0 and 2 */
    };
    mem_map map = make(&qv100);
    assert_int_equal(map.hash_bits, 6);
    assert_int_equal(map.slice_count, 64);
    check_cases(&qv100, cases, LS_COUNT_OF(cases));
}

/* ------------------------------------------------------------------------------------------- bit by bit */

static uint32_t ipoly_bit_by_bit(uint64_t high, uint32_t low, unsigned bits)
{
    /* -1 ends a row; the rows are those of formats/accelsim.md. */
    static const int rows4[4][12] = { { 11, 10, 9, 8, 6, 4, 3, 0, -1 },
                                      { 12, 8, 7, 6, 5, 3, 1, 0, -1 },
                                      { 9, 8, 7, 6, 4, 2, 1, -1 },
                                      { 10, 9, 8, 7, 5, 3, 2, -1 } };
    static const int rows5[5][12] = { { 13, 12, 11, 10, 9, 6, 5, 3, 0, -1 },
                                      { 14, 13, 12, 11, 10, 7, 6, 4, 1, -1 },
                                      { 14, 10, 9, 8, 7, 6, 3, 2, 0, -1 },
                                      { 11, 10, 9, 8, 7, 4, 3, 1, -1 },
                                      { 12, 11, 10, 9, 8, 5, 4, 2, -1 } };
    static const int rows6[6][12] = {
        { 18, 17, 16, 15, 12, 10, 6, 5, 0, -1 }, { 15, 13, 12, 11, 10, 7, 5, 1, 0, -1 },
        { 16, 14, 13, 12, 11, 8, 6, 2, 1, -1 },  { 17, 15, 14, 13, 12, 9, 7, 3, 2, -1 },
        { 18, 16, 15, 14, 13, 10, 8, 4, 3, -1 }, { 17, 16, 15, 14, 11, 9, 5, 4, -1 }
    };
    uint32_t out = low;
    for (unsigned i = 0; i < bits; i++) {
        const int *row = bits == 4 ? rows4[i] : bits == 5 ? rows5[i] : rows6[i];
        for (; *row >= 0; row++)
            out ^= (uint32_t)(high >> *row & 1) << i;
    }
    return out;
}

/* Takes the bits of `address` one at a time; the map's character for a bit, or 0. */
static char map_char(const char *map, uint32_t bit)
{
    size_t at = strlen(map);
    while (at-- > 0) {
        if (map[at] == '.')
            continue;
        if (map[at] == ';')
            return 0;
        if (bit-- == 0)
            return map[at];
    }
    return 0;
}

static void second_opinion(const mem_map_spec *spec, uint32_t shift, uint64_t address, ls_sector_place *place,
                           ls_dram_place *dram)
{
    uint32_t channels = (uint32_t)spec->channels, slices = (uint32_t)spec->slices_per_channel;
    uint32_t k = 0, slice_bits = 0, next = 1;
    while (next < channels)
        next *= 2, k++;
    while ((1u << slice_bits) < slices)
        slice_bits++;
    bool whole = next == channels;
    uint64_t above = address >> shift, low = address & ((UINT64_C(1) << shift) - 1);
    uint64_t rest = (above / channels) << shift | low;
    *place = (ls_sector_place){ .channel = (uint32_t)(above % channels) };
    *dram = (ls_dram_place){ 0 };
    uint32_t banks = 0, rows = 0, columns = 0, kept = 0;
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint64_t value = rest >> bit & 1;
        char c = map_char(spec->bit_map, bit);
        bool of_slice = c == 'B' && banks < slice_bits;
        if (c == 'B')
            dram->bank |= (uint32_t)(value << banks++);
        else if (c == 'R')
            dram->row |= (uint32_t)(value << rows++);
        else if (c == 'C' || c == 'S')
            dram->column |= (uint32_t)(value << columns++);
        if (!of_slice && kept < 64)
            place->local |= value << kept++;
    }
    place->slice = dram->bank % slices;
    uint64_t high = whole ? above >> (k + slice_bits) : above / channels;
    if (spec->slice_hash == MEM_HASH_IPOLY) {
        uint32_t global = ipoly_bit_by_bit(high, place->channel * slices + place->slice, k + slice_bits);
        global %= channels * slices;
        place->channel = global / slices;
        place->slice = global % slices;
    } else if (spec->slice_hash == MEM_HASH_XOR) {
        place->channel ^= (uint32_t)(high % channels);
    } else if (spec->slice_hash == MEM_HASH_IPOLY_MODULO) {
        uint32_t global = place->channel * slices + place->slice, group = channels * slices, bits = 0;
        for (; group % 2 == 0; group /= 2)
            bits++;
        group = 1u << bits; /* slices of a group */
        global = global / group * group + ipoly_bit_by_bit(place->local >> shift, global % group, bits);
        place->channel = global / slices;
        place->slice = global % slices;
    }
}

#define SCATTERED "dramid@10;0000000R.RRRRRBRR.RRRBRRRR.RBBCCCCC.BCBSSSSS"

static void test_bit_by_bit(void **state)
{
    (void)state;
    const mem_map_spec specs[] = {
        rtx2060,
        rtx3070,
        qv100,
        { .channels = 16, .slices_per_channel = 2, .slice_hash = MEM_HASH_XOR, .bit_map = rtx3070.bit_map },
        { .channels = 8, .slices_per_channel = 2, .slice_hash = MEM_HASH_IPOLY, .bit_map = rtx3070.bit_map },
        { .channels = 12, .slices_per_channel = 2, .slice_hash = MEM_HASH_IPOLY, .bit_map = rtx3070.bit_map },
        { .channels = 22, .slices_per_channel = 2, .slice_hash = MEM_HASH_IPOLY, .bit_map = qv100.bit_map },
        { .channels = 1, .slices_per_channel = 1, .bit_map = qv100.bit_map },
        hopper,
        { .channels = 48,
          .slices_per_channel = 4,
          .slice_hash = MEM_HASH_IPOLY_MODULO,
          .bit_map = qv100.bit_map },
        { .channels = 6, .slices_per_channel = 4, .bit_map = SCATTERED },
        { .channels = 40, .slices_per_channel = 4, .slice_hash = MEM_HASH_IPOLY_MODULO, .bit_map = SCATTERED },
        { .channels = 16, .slices_per_channel = 4, .slice_hash = MEM_HASH_IPOLY, .bit_map = SCATTERED },
    };
    ls_random random;
    ls_random_init(&random, 7);
    for (size_t i = 0; i < LS_COUNT_OF(specs); i++) {
        mem_map map = make(&specs[i]);
        for (int n = 0; n < 2000; n++) {
            uint64_t address = ls_random_next(&random) >> (16 + n % 24);
            ls_sector_place place = mem_map_place(&map, address), expected_place;
            ls_dram_place dram = mem_map_dram(&map, address), expected_dram;
            second_opinion(&specs[i], map.interleave_shift, address, &expected_place, &expected_dram);
            assert_int_equal(place.channel, expected_place.channel);
            assert_int_equal(place.slice, expected_place.slice);
            assert_int_equal(place.local, expected_place.local);
            assert_int_equal(dram.bank, expected_dram.bank);
            assert_int_equal(dram.row, expected_dram.row);
            assert_int_equal(dram.column, expected_dram.column);
            /* And back. Where a remainder follows the hash, two addresses may share a place. */
            uint64_t back = mem_map_address(&map, &place);
            if (map.power_of_two || map.hash == MEM_HASH_NONE || map.hash == MEM_HASH_IPOLY_MODULO)
                assert_int_equal(back, address);
            ls_sector_place again = mem_map_place(&map, back);
            assert_memory_equal(&again, &place, sizeof again);
        }
    }
}

/* The owner of a map asks for addresses near each other, and sometimes for others. */
static void test_owner_finds_the_same_places(void **state)
{
    (void)state;
    const mem_map_spec specs[] = {
        hopper,
        { .channels = 40,
          .slices_per_channel = 4,
          .slice_hash = MEM_HASH_IPOLY_MODULO,
          .bit_map = qv100.bit_map },
        { .channels = 40, .slices_per_channel = 4, .slice_hash = MEM_HASH_IPOLY_MODULO, .bit_map = SCATTERED },
        { .channels = 8, .slices_per_channel = 2, .slice_hash = MEM_HASH_IPOLY, .bit_map = rtx3070.bit_map },
    };
    ls_random random;
    ls_random_init(&random, 11);
    bool spreads = false;
    for (size_t i = 0; i < LS_COUNT_OF(specs); i++) {
        mem_map map = make(&specs[i]);
        spreads |= map.spreads;
        uint64_t base = 0;
        for (int n = 0; n < 3000; n++) {
            if (n % 50 == 0)
                base = ls_random_next(&random) >> (16 + n % 24);
            uint64_t address = base + ls_random_below(&random, UINT64_C(1) << (8 + n % 16));
            ls_sector_place place = mem_map_place(&map, address), owned = mem_map_place_again(&map, address);
            assert_int_equal(owned.channel, place.channel);
            assert_int_equal(owned.slice, place.slice);
            assert_int_equal(owned.local, place.local);
        }
    }
    assert_true(spreads);
}

/* -------------------------------------------------------------------------------------------- properties */

/* Every sector of the first `sectors` has a place of its own: sectors are numbered by their place in a bit
 * set. */
static void check_bijective(const mem_map_spec *spec, uint32_t sectors)
{
    mem_map map = make(spec);
    uint32_t per_slice = sectors; /* more than any slice gets */
    uint8_t *seen = calloc(map.slice_count, per_slice);
    uint32_t *count = calloc(map.slice_count, sizeof *count);
    assert_non_null(seen);
    assert_non_null(count);
    for (uint32_t i = 0; i < sectors; i++) {
        ls_sector_place place = mem_map_place(&map, (uint64_t)i * 32);
        uint32_t global = place.channel * map.slices_per_channel + place.slice;
        assert_true(place.channel < map.channels && place.slice < map.slices_per_channel);
        assert_int_equal(place.local % 32, 0);
        assert_true(place.local / 32 < per_slice);
        uint8_t *mark = &seen[(size_t)global * per_slice + place.local / 32];
        assert_int_equal(*mark, 0);
        *mark = 1;
        count[global]++;
    }
    /* A multiple of all strides was placed: every slice has the same share. */
    for (uint32_t s = 0; s < map.slice_count; s++)
        assert_int_equal(count[s], sectors / map.slice_count);
    free(seen);
    free(count);
}

static void test_bijective_and_balanced(void **state)
{
    (void)state;
    check_bijective(&rtx2060, 12 * 2 * 2048);
    check_bijective(&rtx3070, 1 << 16);
    check_bijective(&qv100, 1 << 16);
    mem_map_spec xored = rtx3070;
    xored.slice_hash = MEM_HASH_XOR;
    check_bijective(&xored, 1 << 16);
    check_bijective(&hopper, 40 * 4 * 512);
}

/* Strides of powers of two, which put everything into one slice without a hash, spread with IPOLY. */
static void test_ipoly_spreads_strides(void **state)
{
    (void)state;
    mem_map hashed = make(&rtx3070);
    mem_map_spec plain_spec = rtx3070;
    plain_spec.slice_hash = MEM_HASH_NONE;
    mem_map plain = make(&plain_spec);
    for (uint32_t shift = 13; shift <= 19; shift++) {
        uint64_t slices = 0, plain_slices = 0;
        for (uint64_t i = 0; i < 32; i++) {
            ls_sector_place place = mem_map_place(&hashed, i << shift);
            slices |= UINT64_C(1) << (place.channel * 2 + place.slice);
            place = mem_map_place(&plain, i << shift);
            plain_slices |= UINT64_C(1) << (place.channel * 2 + place.slice);
        }
        assert_int_equal(__builtin_popcountll(slices), 32);
        assert_int_equal(__builtin_popcountll(plain_slices), 1);
    }
}

/* So it does over fewer places than Accel-Sim has polynomials for. */
static void test_ipoly_of_few_channels(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 4; bits++) {
        mem_map_spec spec = rtx3070;
        spec.channels = 1u << bits;
        spec.slices_per_channel = 1;
        check_bijective(&spec, 1 << 14);
        mem_map map = make(&spec);
        for (uint32_t shift = 8; shift <= 24; shift++) {
            uint64_t channels = 0;
            for (uint64_t i = 0; i < spec.channels; i++)
                channels |= UINT64_C(1) << mem_map_place(&map, i << shift).channel;
            assert_int_equal(__builtin_popcountll(channels), spec.channels);
            assert_int_equal(mem_map_plain_channel(&map, UINT64_C(5) << shift),
                             mem_map_place(&map, UINT64_C(5) << shift).channel);
        }
    }
}

/* And over more. */
static void test_ipoly_of_many_channels(void **state)
{
    (void)state;
    for (uint32_t bits = 7; bits <= 8; bits++) {
        mem_map_spec spec = rtx3070;
        spec.channels = 1u << bits;
        spec.slices_per_channel = 1;
        check_bijective(&spec, 1 << 16);
        mem_map map = make(&spec);
        for (uint32_t shift = 8; shift <= 24; shift++) {
            uint32_t seen[256] = { 0 }, count = 0;
            for (uint64_t i = 0; i < spec.channels; i++)
                count += seen[mem_map_plain_channel(&map, i << shift)]++ == 0;
            assert_int_equal(count, spec.channels);
            assert_int_equal(mem_map_plain_channel(&map, UINT64_C(5) << shift),
                             mem_map_place(&map, UINT64_C(5) << shift).channel);
        }
    }
}

/* The fields of a map without holes and the channel together give the address back. */
static void test_dram_places_are_unique(void **state)
{
    (void)state;
    mem_map map = make(&rtx2060);
    uint32_t sectors = 12 * 16 * 4 * 64; /* 4 rows of 64 sectors in every bank of every channel */
    uint8_t *seen = calloc(sectors, 1);
    assert_non_null(seen);
    for (uint32_t i = 0; i < sectors; i++) {
        ls_sector_place place = mem_map_place(&map, (uint64_t)i * 32);
        ls_dram_place dram = mem_map_dram(&map, (uint64_t)i * 32);
        uint32_t at = ((place.channel * 16 + dram.bank) * 4 + dram.row) * 64 + dram.column / 32;
        if (at >= sectors) {
            fail_msg("sector %u: channel %u bank %u row %u column %u", i, place.channel, dram.bank, dram.row,
                     dram.column);
            break;
        }
        assert_int_equal(seen[at], 0);
        seen[at] = 1;
        assert_int_equal(place.slice, dram.bank & 1); /* without a hash a slice owns its banks */
    }
    free(seen);
}

/* ------------------------------------------------------------------------------------------------ reading */

static void test_prefix_is_optional(void **state)
{
    (void)state;
    mem_map_spec plain = rtx3070;
    plain.bit_map = "RRRRRRRRRRRRRBBBCCCCBCCSSSSS";
    plain.interleave_bytes = 256;
    mem_map with = make(&rtx3070), without = make(&plain);
    assert_memory_equal(&with, &without, sizeof with);
    plain.bit_map = "rrrr rrrr|rrrr.rbbbcccc.bccsssss";
    without = make(&plain);
    assert_memory_equal(&with, &without, sizeof with);
    /* The prefix wins over interleave_bytes. */
    plain.bit_map = "dramid@8;" GDDR6_BITS;
    plain.interleave_bytes = 4096;
    without = make(&plain);
    assert_memory_equal(&with, &without, sizeof with);
}

static void test_errors(void **state)
{
    (void)state;
    const mem_map_spec good = {
        .channels = 16, .slices_per_channel = 2, .interleave_bytes = 256, .bit_map = GDDR6_BITS
    };
    mem_map_spec s = good;
    (void)make(&s);
    s.bit_map = "RRRR.RBBBxCCC";
    expect_error(&s, LS_ERR_INPUT, "address map 'RRRR.RBBBxCCC': 'x' (position 10) is none of");
    s.bit_map = "RRRR.DBBBCCC";
    expect_error(&s, LS_ERR_INPUT, "'D' (position 6)");
    expect_error(&s, LS_ERR_INPUT, "channel bits");
    s.bit_map = "dramid@;RRRRBBCC";
    expect_error(&s, LS_ERR_INPUT, "no bit number from 0 to 32 after 'dramid@' (position 8)");
    s.bit_map = "dramid@-1;RRRRBBCC";
    expect_error(&s, LS_ERR_INPUT, "no bit number");
    s.bit_map = "dramid@33;RRRRBBCC";
    expect_error(&s, LS_ERR_INPUT, "no bit number");
    s.bit_map = "dramid@8RRRRBBCC";
    expect_error(&s, LS_ERR_INPUT, "no ';' after 'dramid@8' (position 9)");
    s.bit_map = "00000000.00000000.00000000.00000000.00000000.0000RRRR.RBBBCCCC.BCCSSSSS.0";
    expect_error(&s, LS_ERR_INPUT, "names 65 bits");
    s.bit_map = "R0000000.00000000.00000000.00000000.00000000.0000RRRR.RBBBCCCC.BCCSSSSS";
    expect_error(&s, LS_ERR_INPUT, "more than 64");
    s.bit_map = "RRRRRRRRRRRRCCCC";
    expect_error(&s, LS_ERR_INPUT, "0 bank bits are too few for 2 slices");
    s.bit_map = "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRBBCC";
    expect_error(&s, LS_ERR_INPUT, "more than 32 bits of one kind");
    s.bit_map = "BRBRBRBRBRBRBRBRBRBRBRBRBRBRBRBRBRBR";
    expect_error(&s, LS_ERR_UNSUPPORTED, "bank bits lie in more than 16 pieces");
    s.bit_map = NULL;
    expect_error(&s, LS_ERR_INPUT, "no address map");
    s = good;
    s.interleave_bytes = 300;
    expect_error(&s, LS_ERR_INPUT, "interleave_bytes is 300");
    s.interleave_bytes = 0;
    expect_error(&s, LS_ERR_INPUT, "interleave_bytes is 0");
    s = good;
    s.channels = 0;
    expect_error(&s, LS_ERR_INPUT, "0 memory channels");
    s = good;
    s.slices_per_channel = 3;
    expect_error(&s, LS_ERR_INPUT, "3 L2 slices per channel");
    s = good;
    s.channels = 12;
    s.slice_hash = MEM_HASH_XOR;
    expect_error(&s, LS_ERR_UNSUPPORTED, "'xor' needs a power of two");
    s.channels = 256;
    s.slice_hash = MEM_HASH_IPOLY;
    expect_error(&s, LS_ERR_UNSUPPORTED, "256 channels of 2 need 512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owner_finds_the_same_places),
        cmocka_unit_test(test_rtx2060),
        cmocka_unit_test(test_rtx3070),
        cmocka_unit_test(test_qv100),
        cmocka_unit_test(test_bit_by_bit),
        cmocka_unit_test(test_bijective_and_balanced),
        cmocka_unit_test(test_ipoly_spreads_strides),
        cmocka_unit_test(test_ipoly_of_few_channels),
        cmocka_unit_test(test_ipoly_of_many_channels),
        cmocka_unit_test(test_dram_places_are_unique),
        cmocka_unit_test(test_prefix_is_optional),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
