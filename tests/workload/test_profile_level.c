/* test_profile_level.c: the two sources of hits against each other and against closed forms: a cache
 * without time, and reuse distances. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/profile/level.h"

#include <math.h>

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 4) * below) >> 28);
}

static bool hits(level *l, uint32_t set, uint64_t line)
{
    level_victim victim;
    level_line *found = level_look(l, set, line, true, &victim);
    bool hit = found->valid != 0;
    found->valid = 15;
    return hit;
}

/* In one set, LRU keeps a line while fewer lines than there are ways have been used since: both say the
 * same, access by access. 600 ways: more than the table of probabilities has steps. */
static void test_fully_associative(void **state)
{
    (void)state;
    static const uint32_t ways[] = { 1, 2, 16, 600 };
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        level lru, distances;
        assert_true(level_init(&lru, 1, ways[w], false, false));
        assert_true(level_init(&distances, 1, ways[w], false, true));
        uint32_t count = 0;
        seed = 7;
        for (uint32_t i = 0; i < 20000; i++) {
            /* Near and far reuse in turn. */
            uint64_t line = i / 500 % 2 == 0 ? draw(ways[w] + ways[w] / 2 + 2) : draw(4 * ways[w]);
            bool expected = hits(&lru, 0, line);
            assert_int_equal(hits(&distances, 0, line), expected);
            count += expected;
        }
        assert_in_range(count, 1000, 19000);
        level_fini(&lru);
        level_fini(&distances);
    }
}

/* A sweep over n lines again and again: LRU and FIFO have all of them or none. */
static void test_sweep(void **state)
{
    (void)state;
    for (uint32_t lines = 60; lines <= 68; lines += 4)
        for (int kind = 0; kind < 3; kind++) {
            level l;
            uint32_t count = 0;
            assert_true(level_init(&l, 1, 64, kind == 1, kind == 2));
            for (uint32_t i = 0; i < 10 * lines; i++)
                count += hits(&l, 0, i % lines);
            assert_int_equal(count, lines <= 64 ? 9 * lines : 0);
            level_fini(&l);
        }
}

/* Lines drawn evenly from n, in a cache of c lines: a hit in c / n of all cases. With sets, distances only
 * describe the average spread of lines; the correction accounts for that. */
static void test_random(void **state)
{
    (void)state;
    const uint32_t sets = 64, ways = 4, lines = 512, tries = 200000;
    level lru, distances;
    assert_true(level_init(&lru, sets, ways, false, false));
    assert_true(level_init(&distances, sets, ways, false, true));
    uint32_t in_cache = 0, by_distance = 0;
    seed = 3;
    for (uint32_t i = 0; i < tries; i++) {
        uint32_t line = draw(lines);
        in_cache += hits(&lru, line % sets, line);
        by_distance += hits(&distances, line % sets, line);
    }
    /* Each set has eight lines for its four ways. */
    assert_true(fabs((double)in_cache / tries - 0.5) < 0.01);
    assert_true(fabs((double)by_distance / tries - 0.5) < 0.03);
    level_fini(&lru);
    level_fini(&distances);
}

/* Sets are picked as the caches of the machine pick them. */
static void test_sets(void **state)
{
    (void)state;
    level_index x;
    seed = 1;
    for (uint32_t bits = 4; bits <= 6; bits++) {
        level_index_init(&x, &(set_hash_spec){ .kind = SET_HASH_IPOLY }, UINT64_C(1) << bits);
        for (uint32_t i = 0; i < 1000; i++) {
            uint64_t line = (uint64_t)draw(1u << 27) << 8 | draw(256);
            assert_int_equal(level_set(&x, line),
                             set_hash_ipoly(line >> bits, (uint32_t)line & ((1u << bits) - 1), bits));
        }
    }
    level_index_init(&x, &(set_hash_spec){ .kind = SET_HASH_XOR }, 16);
    assert_int_equal(level_set(&x, 0xa5), 0xf);
    level_index_init(&x, &(set_hash_spec){ 0 }, 16);
    assert_int_equal(level_set(&x, 0xa5), 5);
    /* 128 sets: 0xc1 is the polynomial, so x^7 is x^6 + 1. */
    level_index_init(&x, &(set_hash_spec){ .kind = SET_HASH_IPOLY }, 128);
    assert_int_equal(level_set(&x, 0x25), 0x25);
    assert_int_equal(level_set(&x, 0x80), 0x41);
    static const uint64_t masks[] = { 0x80 | 0x1000,
                                      0x100 }; /* of addresses: bits 0 and 5 of the line; bit 1 */
    level_index_init(&x, &(set_hash_spec){ .kind = SET_HASH_MASKS, .masks = { masks, 2 } }, 4);
    assert_int_equal(level_set(&x, 0x21), 0);
    assert_int_equal(level_set(&x, 0x22), 3);
}

/* A level that counts as full drives out what it has, oldest first, as dirty as that is. */
static void test_full(void **state)
{
    (void)state;
    level l;
    level_victim victim;
    assert_true(level_init(&l, 2, 4, false, false));
    level_look(&l, 0, 10, true, &victim)->dirty = 3;
    level_look(&l, 0, 12, true, &victim)->dirty = 0;
    assert_int_equal(victim.dirty, 0);
    level_fill(&l);
    level_look(&l, 0, 14, true, &victim);
    assert_int_equal(victim.line, 10 + LEVEL_COPY);
    assert_int_equal(victim.dirty, 3);
    level_look(&l, 0, 16, true, &victim);
    assert_int_equal(victim.line, 12 + LEVEL_COPY);
    assert_int_equal(victim.dirty, 0);
    level_look(&l, 0, 18, true, &victim); /* now it is full indeed */
    assert_int_equal(victim.line, 10);
    assert_int_equal(victim.dirty, 3);
    level_look(&l, 1, 11, true, &victim); /* nothing is known of this set */
    assert_int_equal(victim.dirty, 0);
    level_fini(&l);
}

/* A level that is loaded goes on as the one that was saved does: partly filled sets, full ones, and copies. */
static void test_save(void **state)
{
    (void)state;
    static const uint32_t accesses[] = { 0, 20, 2000 };
    for (size_t a = 0; a < sizeof accesses / sizeof accesses[0]; a++)
        for (int kind = 0; kind < 4; kind++) {
            level l, loaded, other;
            assert_true(level_init(&l, 16, 4, kind % 2 != 0, false));
            assert_true(level_init(&loaded, 16, 4, kind % 2 != 0, false));
            assert_true(level_init(&other, 4, 16, kind % 2 != 0, false));
            seed = 11 + (uint32_t)kind;
            for (uint32_t i = 0; i < accesses[a]; i++) {
                uint64_t line = draw(150);
                (void)hits(&l, line % 16, line);
            }
            if (kind >= 2)
                level_fill(&l);
            bytes_out out = { 0 };
            level_save(&l, &out);
            assert_false(out.failed);
            bytes_in in = { .at = out.bytes.at, .end = out.bytes.at + out.bytes.count };
            level_load(&loaded, &in);
            assert_true(bytes_at_end(&in));
            in = (bytes_in){ .at = out.bytes.at, .end = out.bytes.at + out.bytes.count };
            level_load(&other, &in);
            assert_true(in.failed);
            uint32_t count = 0;
            for (uint32_t i = 0; i < 3000; i++) {
                uint64_t line = draw(150);
                level_victim gone[2];
                level_line *at = level_look(&l, line % 16, line, true, &gone[0]);
                level_line *again = level_look(&loaded, line % 16, line, true, &gone[1]);
                assert_int_equal(at->valid, again->valid);
                assert_int_equal(gone[0].dirty, gone[1].dirty);
                if (gone[0].dirty != 0)
                    assert_true(gone[0].line == gone[1].line);
                count += at->valid != 0;
                at->valid = again->valid = 15;
                at->dirty = again->dirty = (uint8_t)(i % 16);
            }
            assert_in_range(count, 500, 2500);
            vec_fini(&out.bytes);
            level_fini(&l);
            level_fini(&loaded);
            level_fini(&other);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fully_associative),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
