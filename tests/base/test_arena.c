/* test_arena.c: zeroed, aligned, never moved, and honest about overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

static void zeroed_and_aligned(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    for (size_t align = 1; align <= 4096; align *= 2)
        for (size_t bytes = 0; bytes < 200; bytes += 7) {
            unsigned char *at = arena_alloc_aligned(&arena, bytes, align);
            assert_non_null(at);
            assert_int_equal((uintptr_t)at % align, 0);
            assert_int_equal((uintptr_t)at % 16, 0);
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(at[i], 0);
            memset(at, 0xFF, bytes);
        }
    assert_null(arena_alloc_aligned(&arena, 1, 8192));
    assert_null(arena_alloc_aligned(&arena, 1, 48));
    arena_fini(&arena);
    assert_null(arena.chunks);
    assert_int_equal(arena.total_bytes, 0);
}

/* Every block keeps the value written to it while others of all sizes come and go around it. */
static void blocks_do_not_overlap(void **state)
{
    (void)state;
    enum { BLOCKS = 2000 };
    static struct {
        unsigned char *at;
        size_t bytes;
    } block[BLOCKS];
    mem_arena arena = { 0 };
    for (size_t i = 0; i < BLOCKS; i++) {
        block[i].bytes = i % 97 == 0 ? 5000 + i * 10 : i * 7919 % 300;
        block[i].at = arena_alloc(&arena, block[i].bytes);
        assert_non_null(block[i].at);
        memset(block[i].at, (int)(i % 251), block[i].bytes);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        for (size_t k = 0; k < block[i].bytes; k++)
            assert_int_equal(block[i].at[k], i % 251);
    arena_fini(&arena);
}

static void small_blocks_share_chunks(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    for (size_t i = 0; i < 10000; i++)
        assert_non_null(arena_alloc(&arena, 16));
    /* Doubling wastes less than half; red zones of sanitizer builds double each block. */
    assert_in_range(arena.total_bytes, 160000, 1000000);
    /* A large block in between does not throw away the rest of the chunk in use. */
    size_t used = arena.used, size = arena.size;
    assert_non_null(arena_alloc(&arena, 100 << 20));
    assert_int_equal(arena.used, used);
    assert_int_equal(arena.size, size);
    arena_fini(&arena);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc_aligned(&arena, SIZE_MAX - 100, 4096));
    assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
    assert_null(arena_strndup(&arena, "", SIZE_MAX));
    assert_non_null(arena_array(&arena, 0, 8));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, PTRDIFF_MAX));
    assert_non_null(arena_alloc(&arena, 1));
    arena_fini(&arena);
}

static void texts(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    assert_string_equal(arena_strdup(&arena, "sector"), "sector");
    assert_string_equal(arena_strdup(&arena, ""), "");
    assert_string_equal(arena_strndup(&arena, "row_hit", 3), "row");
    assert_string_equal(arena_strndup(&arena, NULL, 0), "");
    assert_string_equal(arena_printf(&arena, "core%d.%s", 12, "l1"), "core12.l1");
    assert_int_equal(strlen(arena_printf(&arena, "%10000d", 1)), 10000);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_and_aligned),
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(small_blocks_share_chunks),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
