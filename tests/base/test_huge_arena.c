/* test_huge_arena.c: zeroed pieces on lines of their own, arenas that share one huge_arena, several threads at
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

static void pieces_are_zeroed_and_apart(void **state)
{
    (void)state;
    huge_memory huge_arena;
    huge_arena_init(&huge_arena);
    unsigned char *last = NULL;
    size_t last_bytes = 0;
    for (size_t i = 0; i < 3000; i++) {
        size_t bytes = 1 + i * 7919 % 40000; /* 60 MB in all: more than one piece */
        unsigned char *at = huge_arena_take(&huge_arena, bytes);
        assert_non_null(at);
        assert_int_equal((uintptr_t)at % 128, 0);
        assert_true(last == NULL || at >= last + last_bytes || at + bytes <= last);
        assert_int_equal(at[0], 0);
        assert_int_equal(at[bytes - 1], 0);
        at[0] = at[bytes - 1] = 0xFF;
        last = at;
        last_bytes = bytes;
    }
    huge_arena_fini(&huge_arena);
    assert_null(huge_arena.pieces);
}

static void large_and_impossible_requests(void **state)
{
    (void)state;
    huge_memory huge_arena;
    huge_arena_init(&huge_arena);
    size_t bytes = (size_t)100 << 20;
    char *at = huge_arena_take(&huge_arena, bytes);
    assert_non_null(at);
    at[bytes - 1] = 1;
    assert_null(huge_arena_take(&huge_arena, SIZE_MAX));
    assert_null(huge_arena_take(&huge_arena, PTRDIFF_MAX));
    assert_null(huge_arena_take(&huge_arena, (size_t)1 << 60));
    assert_non_null(huge_arena_take(&huge_arena, 1)); /* a refusal leaves it in order */
    huge_arena_fini(&huge_arena);
}

/* Blocks of all sizes from arenas on one huge arena: each keeps what was written to it, small ones share
 * chunks. */
static void arenas_share_a_ground(void **state)
{
    (void)state;
    enum { ARENAS = 7, BLOCKS = 2100 };
    static struct {
        unsigned char *at;
        size_t bytes;
    } block[BLOCKS];
    huge_memory huge_arena;
    huge_arena_init(&huge_arena);
    mem_arena arenas[ARENAS] = { 0 };
    for (size_t i = 0; i < ARENAS; i++)
        arenas[i].huge_arena = &huge_arena;
    for (size_t i = 0; i < BLOCKS; i++) {
        block[i].bytes = i % 97 == 0 ? 5000 + i * 50 : i * 7919 % 300;
        block[i].at = arena_alloc_aligned(&arenas[i % ARENAS], block[i].bytes, 64);
        assert_non_null(block[i].at);
        assert_int_equal((uintptr_t)block[i].at % 64, 0);
        for (size_t k = 0; k < block[i].bytes; k++)
            assert_int_equal(block[i].at[k], 0);
        memset(block[i].at, (int)(i % 251), block[i].bytes);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        for (size_t k = 0; k < block[i].bytes; k++)
            assert_int_equal(block[i].at[k], i % 251);
    for (size_t i = 0; i < ARENAS; i++)
        arena_fini(&arenas[i]);
    huge_arena_fini(&huge_arena);
}

typedef struct grower {
    mem_arena arena;
    unsigned char fill;
    size_t wrong;
} grower;

static void *grow(void *argument)
{
    enum { BLOCKS = 4000 };
    static _Thread_local unsigned char *blocks[BLOCKS];
    grower *g = argument;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = arena_alloc(&g->arena, 64 + i);
        if (blocks[i] == NULL)
            g->wrong++;
        else
            memset(blocks[i], g->fill, 64 + i);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        for (size_t k = 0; blocks[i] != NULL && k < 64 + i; k++)
            g->wrong += blocks[i][k] != g->fill;
    return NULL;
}

static void threads_grow_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    huge_memory huge_arena;
    huge_arena_init(&huge_arena);
    pthread_t threads[THREADS];
    grower growers[THREADS] = { 0 };
    for (size_t i = 0; i < THREADS; i++) {
        growers[i].arena.huge_arena = &huge_arena;
        growers[i].fill = (unsigned char)(i + 1);
        assert_int_equal(pthread_create(&threads[i], NULL, grow, &growers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(growers[i].wrong, 0);
        arena_fini(&growers[i].arena);
    }
    huge_arena_fini(&huge_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_and_apart),
        cmocka_unit_test(large_and_impossible_requests),
        cmocka_unit_test(arenas_share_a_ground),
        cmocka_unit_test(threads_grow_at_once),
    };
    return cmocka_run_group_tests_name("huge_arena", tests, NULL, NULL);
}
