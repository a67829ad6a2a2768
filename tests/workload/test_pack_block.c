/* test_pack_block.c: the streams of a packed block: every thread block comes back unchanged. No bytes make the
 * decoder crash or take more memory than their size explains. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/random.h"
#include "workload/pack/block.h"

#include <stdlib.h>

#define INSTS 40 /* of the made-up kernel; every third one has addresses */

typedef struct codec {
    pack_encoder encoder;
    pack_decoder decoder;
    uint32_t plain[INSTS + 1];
    uint8_t *payload;
    size_t bytes;
} codec;

static bool has_addresses(uint32_t inst)
{
    return inst % 3 == 1;
}

static void codec_init(codec *c)
{
    const uint32_t grid[3] = { 4, 3, 2 };
    *c = (codec){ 0 };
    for (uint32_t i = INSTS; i-- > 0;)
        c->plain[i] = has_addresses(i) ? 0 : c->plain[i + 1] + 1;
    pack_encoder_kernel(&c->encoder, grid);
    for (uint32_t i = 0; i < INSTS; i++)
        assert_true(pack_encoder_inst(&c->encoder, has_addresses(i)));
    assert_true(pack_decoder_init(&c->decoder, grid, c->plain, INSTS));
}

static void codec_fini(codec *c)
{
    pack_encoder_fini(&c->encoder);
    pack_decoder_fini(&c->decoder);
    free(c->payload);
}

/* Into memory of exactly the size that is promised, so that a sanitizer sees one byte too many. */
static void codec_take(codec *c)
{
    free(c->payload);
    c->bytes = pack_encoder_bytes(&c->encoder);
    c->payload = calloc(1, c->bytes + LS_PACK_SLACK);
    assert_non_null(c->payload);
    assert_true(pack_encoder_split(&c->encoder) <= c->bytes);
    pack_encoder_take(&c->encoder, c->payload);
}

/* ------------------------------------------------------------------------------------------ thread blocks */

static void add(ls_cta *cta, uint32_t inst, uint32_t mask, uint32_t mode, const uint64_t *words,
                uint32_t count)
{
    assert_true(cta_reserve(cta, cta->warp_count, 1, 32));
    uint32_t addr = mode == 3 ? LS_ADDR_NONE : (uint32_t)cta->addr_count << 2 | mode;
    cta->dyns[cta->dyn_count++] = (ls_dyn){ inst, mask, addr };
    for (uint32_t i = 0; i < count; i++)
        cta->addrs[cta->addr_count++] = words[i];
}

static void begin(ls_cta *cta, uint64_t index, uint32_t warps)
{
    cta->dyn_count = cta->addr_count = 0;
    assert_true(cta_reserve(cta, warps, 0, 0));
    cta->index = index;
    cta->id[0] = (uint32_t)(index % 4);
    cta->id[1] = (uint32_t)(index / 4 % 3);
    cta->id[2] = (uint32_t)(index / 12);
    cta->warp_count = warps;
    memset(cta->warps, 0, warps * sizeof *cta->warps);
}

/* Addresses of every shape: on a line, shifted, near, far and anywhere. */
static uint32_t random_words(ls_random *r, uint32_t mask, uint64_t words[32])
{
    static const uint64_t spans[] = { 64, 4096, 1 << 20, UINT64_C(1) << 31, UINT64_MAX };
    uint64_t span = spans[ls_random_below(r, 5)],
             base = UINT64_C(0x7f0000000000) + ls_random_below(r, 1 << 16);
    bool line = ls_random_below(r, 2) == 0;
    uint32_t count = 0;
    for (uint32_t m = mask; m; m &= m - 1, count++)
        words[count] = line ? base + span / 64 * (uint32_t)__builtin_ctz(m) : base + ls_random_below(r, span);
    return count;
}

static void random_access(ls_random *r, ls_cta *cta, uint32_t inst, uint32_t mask)
{
    uint64_t words[32] = { 0 };
    uint32_t mode = (uint32_t)ls_random_below(r, 4);
    if (mode == LS_ADDR_STRIDE) {
        words[0] = ls_random_below(r, 3) ? UINT64_C(0x7f1200000000) + 128 * cta->dyn_count : 0;
        words[1] = words[0] ? (uint64_t)((int64_t)ls_random_below(r, 3) * 4 - 4) : 0;
        add(cta, inst, mask, mode, words, 2);
    } else
        add(cta, inst, mask, mode, words, mode == 3 ? 0 : random_words(r, mask, words));
}

static void random_warp(ls_random *r, ls_cta *cta, uint32_t warp, uint32_t length)
{
    uint32_t inst = 0, mask = UINT32_MAX;
    cta->warps[warp].first = (uint32_t)cta->dyn_count;
    for (uint32_t i = 0; i < length; i++, inst++) {
        if (inst == INSTS || ls_random_below(r, 12) == 0)
            inst = (uint32_t)ls_random_below(r, INSTS);
        if (ls_random_below(r, 6) == 0)
            mask = ls_random_below(r, 3)   ? (uint32_t)ls_random_next(r)
                   : ls_random_below(r, 2) ? UINT32_MAX
                                           : 0;
        if (has_addresses(inst))
            random_access(r, cta, inst, mask);
        else
            add(cta, inst, mask, 3, NULL, 0);
    }
    cta->warps[warp].count = (uint32_t)cta->dyn_count - cta->warps[warp].first;
}

static void expect_same(const ls_cta *a, const ls_cta *b)
{
    assert_int_equal(a->index, b->index);
    assert_memory_equal(a->id, b->id, sizeof a->id);
    assert_int_equal(a->warp_count, b->warp_count);
    for (uint32_t w = 0; w < a->warp_count; w++) {
        assert_int_equal(a->warps[w].count, b->warps[w].count);
        for (uint32_t i = 0; i < a->warps[w].count; i++) {
            const ls_dyn *da = &a->dyns[a->warps[w].first + i], *db = &b->dyns[b->warps[w].first + i];
            assert_int_equal(da->inst, db->inst);
            assert_int_equal(da->mask, db->mask);
            assert_int_equal(da->addr & 3, db->addr & 3);
            uint64_t count = da->addr == LS_ADDR_NONE           ? 0
                             : (da->addr & 3) == LS_ADDR_STRIDE ? 2
                                                                : (uint64_t)__builtin_popcount(da->mask);
            assert_memory_equal(a->addrs + (da->addr >> 2) * (count > 0),
                                b->addrs + (db->addr >> 2) * (count > 0), count * sizeof *a->addrs);
        }
    }
}

/* Encodes `count` random thread blocks into one payload and reads them back. */
static void round_trip(codec *c, uint64_t seed, uint32_t count, uint32_t length)
{
    ls_cta *made = calloc(count, sizeof *made), read = { 0 };
    ls_random r;
    ls_error err;
    const char *problem;
    assert_non_null(made);
    ls_random_init(&r, seed);
    for (uint32_t i = 0; i < count; i++) {
        begin(&made[i], i, 1 + (uint32_t)ls_random_below(&r, 5));
        for (uint32_t w = 0; w < made[i].warp_count; w++)
            random_warp(&r, &made[i], w, (uint32_t)ls_random_below(&r, length));
        if (ls_random_below(&r, 4) == 0)
            made[i].id[1] = 77; /* out of order */
        assert_int_equal(pack_encode(&c->encoder, &made[i], &err), LS_OK);
    }
    codec_take(c);
    bool wide = c->decoder.columns.wide_vectors;
    for (int plain = 0; plain < 2; plain++) { /* as on this host, and as on any */
        c->decoder.columns.wide_vectors = wide && !plain;
        assert_null(pack_decoder_begin(&c->decoder, c->payload, c->bytes));
        for (uint32_t i = 0; i < count; i++) {
            assert_true(pack_decode(&c->decoder, i, &read, &problem));
            assert_null(problem);
            expect_same(&made[i], &read);
        }
        assert_true(pack_decoder_at_end(&c->decoder));
    }
    c->decoder.columns.wide_vectors = wide;
    for (uint32_t i = 0; i < count; i++)
        ls_cta_fini(&made[i]);
    ls_cta_fini(&read);
    free(made);
}

static void test_random(void **state)
{
    (void)state;
    codec c;
    codec_init(&c);
    for (uint64_t seed = 0; seed < 90; seed++) {
        c.encoder.without_columns = seed % 3 == 0;
        round_trip(&c, seed, 1 + (uint32_t)(seed % 7), 1 + (uint32_t)(seed * 17 % 900));
    }
    codec_fini(&c);
}

/* Longer than a path that is kept, and runs longer than one run may be. */
static void test_long_warp(void **state)
{
    (void)state;
    codec c;
    codec_init(&c);
    round_trip(&c, 1234, 1, 3 * LS_PACK_PATH_LIMIT);
    codec_fini(&c);
}

static void fill_alike(ls_cta *cta, uint64_t index)
{
    begin(cta, index, 8);
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        cta->warps[w].first = (uint32_t)cta->dyn_count;
        for (uint32_t i = 0; i < INSTS; i++) {
            const uint64_t words[2] = { UINT64_C(0x7f0000000000) + 4096 * index + 128 * w + 8192 * i, 4 };
            if (has_addresses(i))
                add(cta, i, UINT32_MAX, LS_ADDR_STRIDE, words, 2);
            else
                add(cta, i, i == 5 ? 0 : UINT32_MAX, 3, NULL, 0);
        }
        cta->warps[w].count = INSTS;
    }
}

/* Warps that do the same with addresses that go on evenly need a byte and their ops, and nothing else. */
static void test_regular_is_small(void **state)
{
    (void)state;
    codec c;
    ls_cta cta = { 0 }, read = { 0 };
    ls_error err;
    const char *problem;
    codec_init(&c);
    for (uint64_t i = 0; i < 24; i++) {
        fill_alike(&cta, i);
        assert_int_equal(pack_encode(&c.encoder, &cta, &err), LS_OK);
    }
    assert_int_equal(c.encoder.cta_count, 24);
    assert_int_equal(c.encoder.dyn_count, 24 * 8 * INSTS);
    codec_take(&c);
    assert_true(c.bytes <
                24 * 8 * (13 + 1) + 24 * 8 * 13 + 400); /* ops, a byte for each warp, starts of blocks */
    assert_null(pack_decoder_begin(&c.decoder, c.payload, c.bytes));
    for (uint64_t i = 0; i < 24; i++) {
        assert_true(pack_decode(&c.decoder, i, &read, &problem));
        assert_null(problem);
        fill_alike(&cta, i);
        expect_same(&cta, &read);
    }
    ls_cta_fini(&cta);
    ls_cta_fini(&read);
    codec_fini(&c);
}

/* A warp whose mask changes with every second instruction, and which loads from four lanes. */
static void fill_divergent(ls_cta *cta, uint64_t index, uint32_t warps, uint32_t same)
{
    begin(cta, index, warps);
    for (uint32_t w = 0; w < warps; w++) {
        cta->warps[w].first = (uint32_t)cta->dyn_count;
        for (uint32_t i = 0; i < 24; i++) {
            uint64_t base = UINT64_C(0x7f0000000000) + 1000 * i;
            const uint64_t words[4] = { base, base + 28, base + 8, base + 400 };
            uint32_t mask = UINT32_C(0x0f) << (i / 2 + (w < same ? 0 : w));
            add(cta, i, mask, has_addresses(i) ? LS_ADDR_DELTA : 3, words, has_addresses(i) ? 4 : 0);
        }
        cta->warps[w].count = 24;
    }
}

static size_t column(const codec *c, int which)
{
    return c->encoder.columns.streams[which].count;
}

/* The size of a divergent warp: 12 segments of 2, each with a mask of its own, and 8 accesses of 4 lanes, all
 * within 64 KiB. */
static void test_columns(void **state)
{
    (void)state;
    codec c;
    ls_cta cta = { 0 };
    ls_error err;
    codec_init(&c);
    fill_divergent(&cta, 0, 1, 0);
    assert_int_equal(pack_encode(&c.encoder, &cta, &err), LS_OK);
    assert_int_equal(column(&c, LS_COLUMN_SEGMENTS), 12 * 8);
    assert_int_equal(column(&c, LS_COLUMN_TOKENS), 12 * 2);
    assert_int_equal(column(&c, LS_COLUMN_CODES), 12);
    assert_int_equal(column(&c, LS_COLUMN_MASKS), 12 * 4);
    assert_int_equal(column(&c, LS_COLUMN_GAPS), 8);
    assert_int_equal(column(&c, LS_COLUMN_ACCESSES), 8 * 2);
    assert_int_equal(column(&c, LS_COLUMN_NEAR), 8 * 4 * 2);
    assert_int_equal(column(&c, LS_COLUMN_FAR) + column(&c, LS_COLUMN_WIDE), 0);
    assert_int_equal(c.encoder.streams[LS_PACK_PATH].count, 0);
    fill_divergent(&cta, 1, 3, 0); /* a path seen before, which is now worth keeping, and two others */
    assert_int_equal(pack_encode(&c.encoder, &cta, &err), LS_OK);
    assert_int_equal(column(&c, LS_COLUMN_TOKENS), 3 * 12 * 2);
    assert_int_equal(column(&c, LS_COLUMN_SEGMENTS), 12 * 8);
    assert_true(c.encoder.streams[LS_PACK_PATH].count > 0);
    codec_take(&c);
    assert_int_equal(column(&c, LS_COLUMN_TOKENS), 0);
    fill_divergent(&cta, 0, 2, 2); /* two that go the same way */
    assert_int_equal(pack_encode(&c.encoder, &cta, &err), LS_OK);
    assert_int_equal(column(&c, LS_COLUMN_TOKENS), 0);
    ls_cta_fini(&cta);
    codec_fini(&c);
}

/* More masks, or fewer accesses, than columns can say: nothing is left of the attempt. */
static void test_not_in_columns(void **state)
{
    (void)state;
    codec c;
    ls_cta cta = { 0 };
    ls_error err;
    codec_init(&c);
    begin(&cta, 0, 2);
    for (uint32_t i = 0; i < 300; i++)
        add(&cta, i % INSTS, i + 1, 3, NULL, 0);
    cta.warps[0].count = 300;
    cta.warps[1].first = 300;
    for (uint32_t i = 0; i < 300; i++) {
        const uint64_t words[2] = { 4096, 4 };
        bool last = i == 299; /* instruction 19 */
        add(&cta, i % INSTS, i & 1, last ? LS_ADDR_STRIDE : 3, words, last ? 2 : 0);
    }
    cta.warps[1].count = 300;
    assert_int_equal(pack_encode(&c.encoder, &cta, &err), LS_OK);
    for (int i = LS_COLUMN_TOKENS; i < LS_COLUMN_COUNT; i++)
        assert_int_equal(column(&c, i), 0);
    assert_true(c.encoder.streams[LS_PACK_PATH].count > 0);
    assert_int_equal(columns_bytes(&c.encoder.columns), 0);
    ls_cta_fini(&cta);
    codec_fini(&c);
}

/* -------------------------------------------------------------------------------------------- wrong input */

static void expect_refused(codec *c, ls_cta *cta)
{
    ls_error err;
    assert_int_equal(pack_encode(&c->encoder, cta, &err), LS_ERR_INTERNAL);
}

static void test_inconsistent(void **state)
{
    (void)state;
    codec c;
    ls_cta cta = { 0 };
    const uint64_t words[2] = { 1, 2 };
    codec_init(&c);
    begin(&cta, 0, 1);
    add(&cta, INSTS, UINT32_MAX, 3, NULL, 0); /* an instruction that was not added */
    cta.warps[0].count = 1;
    expect_refused(&c, &cta);
    begin(&cta, 0, 1);
    add(&cta, 0, UINT32_MAX, LS_ADDR_STRIDE, words, 2); /* addresses of an instruction that has none */
    cta.warps[0].count = 1;
    expect_refused(&c, &cta);
    begin(&cta, 0, 1);
    add(&cta, 1, UINT32_MAX, LS_ADDR_LIST, words, 2); /* 2 words for 32 lanes */
    cta.warps[0].count = 1;
    expect_refused(&c, &cta);
    begin(&cta, 0, 1);
    cta.warps[0].count = 7; /* executions that are not there */
    expect_refused(&c, &cta);
    ls_cta_fini(&cta);
    codec_fini(&c);
}

/* Any byte changed: an answer or a problem with words, and never more than the bytes can explain. */
static void test_damaged(void **state)
{
    (void)state;
    codec c;
    ls_cta cta = { 0 };
    codec_init(&c);
    round_trip(&c, 7, 3, 200);
    size_t problems = 0;
    for (size_t at = 0; at < c.bytes; at++) {
        static const uint8_t changes[] = { 0x01, 0x80, 0xff };
        for (size_t k = 0; k < sizeof changes; k++) {
            const char *problem;
            c.payload[at] ^= changes[k];
            problem = pack_decoder_begin(&c.decoder, c.payload, c.bytes);
            for (uint64_t i = 0; i < 3 && !problem; i++)
                assert_true(pack_decode(&c.decoder, i, &cta, &problem));
            problems += problem || !pack_decoder_at_end(&c.decoder);
            assert_true(cta.dyn_capacity < 10000000);
            c.payload[at] ^= changes[k];
        }
    }
    assert_true(problems > c.bytes / 10);
    ls_cta_fini(&cta);
    codec_fini(&c);
}

/* The bytes of a column in a payload that has been taken. */
static uint8_t *column_of(const codec *c, int which)
{
    uint8_t *at = c->payload + 4 * LS_PACK_STREAM_COUNT;
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        at += get_u32(c->payload + 4 * i);
    const uint8_t *sizes = at;
    at += 4 * LS_COLUMN_COUNT;
    for (int i = 0; i < which; i++)
        at += get_u32(sizes + 4 * i);
    return at;
}

/* Accesses in columns say how far they are from the one before: nowhere else than to an instruction that has
 * addresses, and that has none yet. */
static void test_misplaced_access(void **state)
{
    (void)state;
    static const struct {
        uint32_t access;
        uint8_t gap;
        const char *problem;
    } cases[] = {
        { 0, 1, "an access belongs to an instruction that has no addresses" },
        { 3, 2, "an access belongs to an instruction that has no addresses" },
        { 7, 5, "an access belongs to no instruction" },
        { 0, 0, "two accesses belong to one instruction" },
        { 5, 0, "two accesses belong to one instruction" },
    };
    codec c;
    ls_cta cta = { 0 };
    ls_error err;
    codec_init(&c);
    fill_divergent(&cta, 0, 1, 0);
    assert_int_equal(pack_encode(&c.encoder, &cta, &err), LS_OK);
    codec_take(&c);
    uint8_t *gaps = column_of(&c, LS_COLUMN_GAPS);
    assert_int_equal(gaps[0], 2);
    const bool wide = c.decoder.columns.wide_vectors;
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        size_t k = i / 2;
        uint8_t good = gaps[cases[k].access];
        gaps[cases[k].access] = cases[k].gap;
        c.decoder.columns.wide_vectors = wide && i % 2 == 0;
        const char *problem = pack_decoder_begin(&c.decoder, c.payload, c.bytes);
        if (!problem)
            assert_true(pack_decode(&c.decoder, 0, &cta, &problem));
        assert_non_null(problem);
        assert_string_equal(problem, cases[k].problem);
        gaps[cases[k].access] = good;
    }
    ls_cta_fini(&cta);
    codec_fini(&c);
}

static void test_short(void **state)
{
    (void)state;
    codec c;
    ls_cta cta = { 0 };
    uint8_t *copy;
    codec_init(&c);
    round_trip(&c, 9, 1, 100);
    assert_int_not_equal(get_u32(c.payload + 4 * LS_PACK_SHAPE), 0);
    for (size_t bytes = 0; bytes < c.bytes; bytes++) {
        copy = calloc(1, bytes + LS_PACK_SLACK);
        assert_non_null(copy);
        memcpy(copy, c.payload, bytes);
        const char *problem = pack_decoder_begin(&c.decoder, copy, bytes);
        if (!problem) /* it ends where the columns begin */
            assert_true(pack_decode(&c.decoder, 0, &cta, &problem));
        assert_non_null(problem);
        free(copy);
    }
    ls_cta_fini(&cta);
    codec_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),           cmocka_unit_test(test_long_warp),
        cmocka_unit_test(test_regular_is_small), cmocka_unit_test(test_inconsistent),
        cmocka_unit_test(test_damaged),          cmocka_unit_test(test_short),
        cmocka_unit_test(test_columns),          cmocka_unit_test(test_not_in_columns),
        cmocka_unit_test(test_misplaced_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
