/* test_line_store.c: lines of a cache and pages of a TLB against plain lists: which lines are found and
 * evicted, and which bytes are valid. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/cache/tag_store.h"
#include "model/amd_memory/line_store.h"
#include "model/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 512

static ls_engine *engine;
static ls_domain *domain;

static int set_up(void **state)
{
    ls_clock clock;
    (void)state;
    return ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL) != LS_OK ||
           ls_engine_create(1, &engine, NULL) != LS_OK ||
           ls_domain_create(engine, "d", clock, &domain, NULL) != LS_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ls_engine_destroy(engine);
    return 0;
}

/* --- a list of present lines, oldest first --- */

typedef struct naive {
    struct {
        uint64_t address;
        uint32_t set;
        uint32_t line;
        bool kept, aged;
    } at[LINES_MAX];
    uint32_t count;
} naive;

static uint32_t naive_find(const naive *n, uint64_t address)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->at[i].address == address)
            return i;
    return UINT32_MAX;
}

static void naive_remove(naive *n, uint32_t i)
{
    memmove(&n->at[i], &n->at[i + 1], (n->count - i - 1) * sizeof n->at[0]);
    n->count--;
}

static void naive_add(naive *n, uint64_t address, uint32_t set)
{
    n->at[n->count].address = address;
    n->at[n->count].set = set;
    n->at[n->count].line = UINT32_MAX;
    n->at[n->count].aged = false;
    n->at[n->count++].kept = false;
}

/* The victim for a new line of a set: its address, 0 if there is an empty way, 1 if all are kept. */
static uint64_t naive_victim(const naive *n, uint32_t set, uint32_t ways)
{
    uint64_t victim = 1;
    uint32_t used = 0;
    for (uint32_t i = 0; i < n->count; i++)
        if (n->at[i].set == set) {
            used++;
            if (!n->at[i].kept && victim == 1)
                victim = n->at[i].address;
        }
    uint32_t first = UINT32_MAX; /* of aged lines, which go first */
    for (uint32_t i = 0; i < n->count; i++)
        if (n->at[i].set == set && n->at[i].aged && n->at[i].line < first) {
            first = n->at[i].line;
            victim = n->at[i].address;
        }
    return used < ways ? 0 : victim;
}

static void make_store(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, uint32_t policy,
                       bool hashed)
{
    const set_hash_spec hash = { .kind = hashed ? SET_HASH_IPOLY : SET_HASH_NONE };
    assert_int_equal(store_init(s, sets, ways, line_bytes, policy, &hash, domain, NULL), LS_OK);
}

static void lines_go_in_order(void **state)
{
    (void)state;
    static const struct {
        uint32_t sets, ways, line_bytes;
        replacement_kind order;
        bool hashed;
    } shapes[] = {
        { 4, 4, 64, REPLACEMENT_LRU, false },  { 8, 16, 128, REPLACEMENT_LRU, false },
        { 3, 5, 64, REPLACEMENT_LRU, false },  { 1, 64, 64, REPLACEMENT_LRU, true },
        { 16, 8, 64, REPLACEMENT_FIFO, true }, { 5, 1, 128, REPLACEMENT_FIFO, false },
        { 2, 256, 64, REPLACEMENT_LRU, true },
    };
    for (size_t k = 0; k < LS_COUNT_OF(shapes); k++) {
        store s;
        static naive n;
        ls_random random;
        n.count = 0;
        ls_random_init(&random, k + 1);
        make_store(&s, shapes[k].sets, shapes[k].ways, shapes[k].line_bytes, shapes[k].order,
                   shapes[k].hashed);
        uint32_t span = shapes[k].sets * shapes[k].ways * 2;
        for (uint32_t step = 0; step < 20000; step++) {
            uint64_t address = (1 + ls_random_below(&random, span)) * shapes[k].line_bytes;
            uint32_t set = store_set_of(&s, address), line = store_find(&s, address);
            uint32_t i = naive_find(&n, address);
            assert_int_equal(line == STORE_NONE, i == UINT32_MAX);
            assert_int_equal(s.tags.present, n.count);
            uint32_t what = (uint32_t)ls_random_below(&random, 100);
            if (line != STORE_NONE) {
                assert_int_equal(store_address(&s, line), address);
                if (n.at[i].kept) {
                    if (what < 50) { /* its fetch ends: it is as good as new */
                        store_release(&s, line);
                        naive_remove(&n, i);
                        naive_add(&n, address, set);
                    }
                } else if (what < 5) {
                    store_drop(&s, line);
                    naive_remove(&n, i);
                } else if (what < 15) {
                    store_age(&s, line);
                    n.at[i].aged = true;
                    n.at[i].line = line;
                } else if (what < 20) { /* of its missing bytes */
                    store_keep(&s, line, 7);
                    n.at[i].kept = true;
                    n.at[i].aged = false;
                } else {
                    store_touch(&s, line);
                    if (shapes[k].order == REPLACEMENT_LRU) {
                        naive_remove(&n, i);
                        naive_add(&n, address, set);
                    }
                }
                continue;
            }
            uint64_t expected = naive_victim(&n, set, shapes[k].ways);
            line = store_victim(&s, set);
            if (expected == 1) {
                assert_int_equal(line, STORE_NONE);
                continue;
            }
            assert_int_equal(tag_store_set_at(&s.tags, line), set);
            if (expected == 0)
                assert_true(store_is_empty(&s, line));
            else
                assert_int_equal(store_address(&s, line), expected);
            if (expected != 0)
                naive_remove(&n, naive_find(&n, expected));
            store_place(&s, line, address);
            naive_add(&n, address, set);
            if (what < 30) {
                store_keep(&s, line, 7);
                n.at[n.count - 1].kept = true;
            }
        }
    }
}

static void random_victims_are_those_that_may_go(void **state)
{
    (void)state;
    enum { WAYS = 8 };
    store s;
    uint32_t seen = 0;
    make_store(&s, 1, WAYS, 64, REPLACEMENT_RANDOM, false);
    for (uint32_t way = 0; way < WAYS; way++) {
        uint32_t line = store_victim(&s, 0);
        store_place(&s, line, way * 64);
    }
    store_keep(&s, 3, 0);
    store_keep(&s, 4, 0);
    for (uint32_t i = 0; i < 200; i++)
        seen |= 1u << store_victim(&s, 0);
    assert_int_equal(seen, 0xff & ~(1u << 3 | 1u << 4));
    for (uint32_t way = 0; way < WAYS; way++)
        store_keep(&s, way, 0);
    assert_int_equal(store_victim(&s, 0), STORE_NONE);
    store_drop(&s, 5);
    assert_int_equal(store_victim(&s, 0), 5); /* an empty one before all others */
}

static void bytes_are_valid_one_by_one(void **state)
{
    (void)state;
    for (uint32_t line_bytes = 64; line_bytes <= 128; line_bytes *= 2) {
        store s;
        ls_random random;
        ls_random_init(&random, line_bytes);
        make_store(&s, 4, 2, line_bytes, REPLACEMENT_LRU, false);
        for (uint32_t round = 0; round < 300; round++) {
            uint8_t expect[128] = { 0 }, data[128], from_below[128];
            bool written[128] = { false };
            store_place(&s, 0, round * line_bytes);
            for (uint32_t i = 0; i < 128; i++)
                from_below[i] = (uint8_t)(i ^ round);
            uint32_t writes = (uint32_t)ls_random_below(&random, 6);
            for (uint32_t w = 0; w < writes; w++) {
                uint64_t mask[2] = { ls_random_next(&random),
                                     line_bytes == 128 ? ls_random_next(&random) : 0 };
                for (uint32_t k = 0; k < 2 && w % 2 == 0; k++)
                    mask[0] &= ls_random_next(&random);
                if (ls_random_below(&random, 4) == 0)
                    mask[0] = UINT64_MAX;
                for (uint32_t i = 0; i < line_bytes; i++) {
                    data[i] = (uint8_t)ls_random_next(&random);
                    if ((mask[i / 64] >> i % 64 & 1) != 0) {
                        expect[i] = data[i];
                        written[i] = true;
                    }
                }
                store_write(&s, 0, data, mask, w % 2 == 0);
            }
            bool full = true;
            for (uint32_t i = 0; i < line_bytes; i++) {
                assert_int_equal(s.lines[0].valid[i / 64] >> i % 64 & 1, written[i]);
                assert_true((s.lines[0].dirty[i / 64] >> i % 64 & 1) == 0 || written[i]);
                full = full && written[i];
            }
            assert_int_equal(store_is_full(&s, 0), full);
            store_fill(&s, 0, from_below);
            assert_true(store_is_full(&s, 0));
            for (uint32_t i = 0; i < line_bytes; i++)
                assert_int_equal(store_bytes(&s, 0)[i], written[i] ? expect[i] : from_below[i]);
        }
    }
}

/* Any power-of-two stride uses all sets when upper bits help to pick them, and so do neighbours. */
static void hashed_sets_spread_strides(void **state)
{
    (void)state;
    for (uint32_t bits = 1; bits <= 12; bits++) {
        uint32_t sets = 1u << bits;
        uint8_t used[1u << 12];
        store plain, hashed;
        make_store(&plain, sets, 4, 64, REPLACEMENT_LRU, false);
        make_store(&hashed, sets, 4, 64, REPLACEMENT_LRU, true);
        for (uint32_t shift = 0; shift + bits < 8 * SET_HASH_BYTES; shift++) {
            uint32_t count = 0, plain_count = 0;
            memset(used, 0, sizeof used);
            for (uint64_t i = 0; i < sets; i++) {
                uint8_t *at = &used[store_set_of(&hashed, (i << shift) * 64)];
                count += (*at & 1) == 0;
                *at |= 1;
                at = &used[store_set_of(&plain, (i << shift) * 64)];
                plain_count += (*at & 2) == 0;
                *at |= 2;
            }
            assert_int_equal(count, sets);
            assert_int_equal(plain_count, shift < bits ? sets >> shift : 1);
        }
    }
}

/* Lines of one channel use all of its sets, for any power of two as their distance: the channel's hash and the
 * set's have no common factor. */
static void channels_and_sets_are_independent(void **state)
{
    (void)state;
    for (uint32_t channel_bits = 1; channel_bits <= 6; channel_bits++)
        for (uint32_t bits = 3; bits <= 8; bits++) {
            mem_map map;
            const mem_map_spec spec = { .channels = 1u << channel_bits,
                                        .slices_per_channel = 1,
                                        .interleave_bytes = 256,
                                        .slice_hash = MEM_HASH_IPOLY,
                                        .bit_map = "RRRRRRRR.RRRRRRRR.RRBBBBCC.CCCSSSSS" };
            store s;
            assert_int_equal(mem_map_init(&map, &spec, NULL), LS_OK);
            assert_true(mem_map_is_plain(&map));
            make_store(&s, 1u << bits, 4, 64, REPLACEMENT_LRU, true);
            uint32_t places = 1u << (channel_bits + bits);
            uint8_t *used = calloc(places, 1);
            assert_non_null(used);
            /* Strides from the first one that leaves the channel's own bits alone. Accel-Sim's hash sees 13
             * bits. */
            for (uint32_t shift = 8 + channel_bits; shift + bits < 20; shift++) {
                uint32_t count = 0;
                memset(used, 0, places);
                for (uint64_t i = 0; i < places; i++) {
                    ls_sector_place place = mem_map_place(&map, i << shift);
                    assert_int_equal(place.channel, mem_map_plain_channel(&map, i << shift));
                    uint32_t at = place.channel << bits | store_set_of(&s, place.local);
                    count += used[at] == 0;
                    used[at] = 1;
                }
                /* Without a common factor every place is used once. */
                assert_int_equal(count, places);
            }
            free(used);
        }
}

static void pages_go_in_order(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = { { 1, 32 }, { 4, 64 }, { 32, 2 }, { 3, 7 }, { 8, 1 } };
    for (size_t k = 0; k < LS_COUNT_OF(shapes); k++) {
        tag_store b;
        static naive n;
        ls_random random;
        uint32_t sets = shapes[k][0], ways = shapes[k][1];
        n.count = 0;
        ls_random_init(&random, k + 1);
        assert_int_equal(tag_store_init_plain(&b, sets, ways, domain, NULL), LS_OK);
        for (uint32_t step = 0; step < 20000; step++) {
            uint64_t page =
                2 + ls_random_below(&random, sets * ways * 2 + 1) * 37; /* 0 and 1 say other things below */
            uint32_t set = (uint32_t)(page % sets), i = naive_find(&n, page);
            assert_int_equal(tag_store_find(&b, page) == TAG_STORE_NONE, i == UINT32_MAX);
            if (i != UINT32_MAX) {
                naive_remove(&n, i);
            } else {
                uint64_t victim = naive_victim(&n, set, ways);
                uint32_t entry = tag_store_insert(&b, page);
                assert_int_equal(tag_store_set_at(&b, entry), set);
                assert_int_equal(tag_store_key(&b, entry), page);
                if (victim != 0)
                    naive_remove(&n, naive_find(&n, victim));
            }
            naive_add(&n, page, set);
            if (ls_random_below(&random, 500) == 0) {
                uint64_t first = ls_random_below(&random, sets * ways * 37), last = first + 200;
                tag_store_forget(&b, first, last);
                for (uint32_t at = 0; at < n.count;)
                    if (n.at[at].address >= first && n.at[at].address <= last)
                        naive_remove(&n, at);
                    else
                        at++;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_in_order),
        cmocka_unit_test(random_victims_are_those_that_may_go),
        cmocka_unit_test(bytes_are_valid_one_by_one),
        cmocka_unit_test(hashed_sets_spread_strides),
        cmocka_unit_test(channels_and_sets_are_independent),
        cmocka_unit_test(pages_go_in_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
