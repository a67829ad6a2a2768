/* test_window.c: simulated memory: ranges, pages, what is refused, and that only touched pages cost
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/address_space.h"
#include "base/memory_image.h"

#include <string.h>

#define BOTH (LS_PAGE_READ | LS_PAGE_WRITE)

static void allocations(void **state)
{
    (void)state;
    memory_space *address_space;
    assert_int_equal(address_space_create(1u << 20, &address_space, NULL), LS_OK);
    assert_int_equal(address_space_bytes(address_space), 1u << 20);
    uint64_t a, b, c;
    assert_int_equal(address_space_alloc(address_space, 5000, 0, BOTH, &a, NULL), LS_OK);
    assert_int_equal(address_space_alloc(address_space, 1, 65536, BOTH, &b, NULL), LS_OK);
    assert_int_equal(a, LS_WINDOW_BASE);
    assert_int_equal(b % 65536, 0);
    assert_true(b >= a + 8192 + LS_PAGE_BYTES); /* a page between them stays free */
    assert_int_equal(address_space_mapped_bytes(address_space), 8192 + 4096);
    /* The gap is used, and freed memory reads 0 again. */
    assert_int_equal(address_space_alloc(address_space, 4096, 0, BOTH, &c, NULL), LS_OK);
    assert_int_equal(c, a + 8192 + LS_PAGE_BYTES);
    assert_int_equal(address_space_write(address_space, a + 4090, "0123456789", 10, NULL), LS_OK);
    uint64_t before = address_space_generation(address_space);
    assert_int_equal(address_space_free(address_space, a, NULL), LS_OK);
    assert_true(address_space_generation(address_space) > before);
    assert_null(address_space_host(address_space, a, 1));
    assert_int_equal(address_space_alloc(address_space, 8192, 0, BOTH, &a, NULL), LS_OK);
    assert_int_equal(a, LS_WINDOW_BASE);
    char text[10];
    assert_int_equal(address_space_read(address_space, a + 4090, text, 10, NULL), LS_OK);
    assert_memory_equal(text, "\0\0\0\0\0\0\0\0\0", 10);
    memory_extent extent;
    assert_true(address_space_find(address_space, a + 8191, &extent));
    assert_int_equal(extent.start, a);
    assert_int_equal(extent.end, a + 8192);
    assert_false(address_space_find(address_space, a + 8192, &extent));
    assert_false(address_space_find(address_space, 0, &extent));
    memory_extent all[3];
    assert_int_equal(address_space_extents(address_space, NULL, 0), 3);
    all[2].end = 7;
    assert_int_equal(address_space_extents(address_space, all, 2), 3);
    assert_int_equal(all[0].start, a);
    assert_int_equal(all[1].end, c + 4096);
    assert_int_equal(all[2].end, 7);
    assert_int_equal(address_space_alloc(address_space, 1u << 20, 0, BOTH, &c, NULL), LS_ERR_NOMEM);
    assert_int_equal(address_space_alloc(address_space, UINT64_MAX, 0, BOTH, &c, NULL), LS_ERR_NOMEM);
    assert_int_equal(address_space_alloc(address_space, 1, 5000, BOTH, &c, NULL), LS_ERR_USAGE);
    assert_int_equal(address_space_free(address_space, a + 4096, NULL), LS_ERR_USAGE);
    address_space_destroy(address_space);
}

static void refusals(void **state)
{
    (void)state;
    memory_space *address_space;
    ls_error error;
    assert_int_equal(address_space_create(1u << 20, &address_space, NULL), LS_OK);
    uint64_t base = LS_WINDOW_BASE;
    assert_int_equal(address_space_map(address_space, base + 8192, 8192, BOTH, NULL), LS_OK);
    assert_int_equal(address_space_map(address_space, base + 12288, 4096, BOTH, NULL), LS_ERR_USAGE);
    assert_int_equal(address_space_map(address_space, base + 100, 4096, BOTH, NULL), LS_ERR_USAGE);
    assert_int_equal(address_space_map(address_space, base + (1u << 20), 4096, BOTH, NULL), LS_ERR_USAGE);
    assert_int_equal(address_space_map(address_space, base - 4096, 8192, BOTH, NULL), LS_ERR_USAGE);
    char byte = 0;
    assert_int_equal(address_space_write(address_space, base + 8192 + 8191, "ab", 2, &error), LS_ERR_USAGE);
    assert_non_null(strstr(error.what, "0x100004000 is not mapped"));
    assert_int_equal(address_space_read(address_space, base + 8192, &byte, UINT64_MAX, NULL), LS_ERR_USAGE);
    assert_int_equal(address_space_read(address_space, UINT64_MAX, &byte, 1, NULL), LS_ERR_USAGE);
    assert_int_equal(address_space_read(address_space, 0, &byte, 0, NULL), LS_OK);
    assert_int_equal(address_space_create(UINT64_MAX, &address_space, NULL), LS_ERR_USAGE);
    address_space_destroy(address_space);
}

static void protection(void **state)
{
    (void)state;
    memory_space *address_space;
    assert_int_equal(address_space_create(1u << 20, &address_space, NULL), LS_OK);
    uint64_t a;
    assert_int_equal(address_space_alloc(address_space, 3 * 4096, 0, BOTH, &a, NULL), LS_OK);
    assert_int_equal(address_space_protect(address_space, a + 4096, 4096, LS_PAGE_READ, NULL), LS_OK);
    address_space_view view = address_space_look(address_space);
    assert_int_equal(address_space_state(&view, a + 4095), BOTH);
    assert_int_equal(address_space_state(&view, a + 4096), LS_PAGE_READ);
    assert_int_equal(address_space_state(&view, a + 8192), BOTH);
    assert_int_equal(address_space_state(&view, a + 3 * 4096), 0);
    assert_int_equal(address_space_state(&view, 0), 0);
    assert_int_equal(address_space_state(&view, UINT64_MAX), 0);
    memory_extent extent;
    assert_true(address_space_find(address_space, a + 5000, &extent));
    assert_int_equal(extent.end - extent.start, 4096);
    assert_int_equal(extent.state, LS_PAGE_READ);
    assert_int_equal(address_space_write(address_space, a + 5000, "x", 1, NULL), LS_OK); /* the host may */
    assert_int_equal(address_space_protect(address_space, a, 4 * 4096, LS_PAGE_READ, NULL), LS_ERR_USAGE);
    address_space_destroy(address_space);
}

static void large_windows_cost_nothing(void **state)
{
    (void)state;
    memory_space *address_space;
    assert_int_equal(address_space_create(0, &address_space, NULL), LS_OK);
    uint64_t bytes = address_space_bytes(address_space), a;
    assert_true(bytes >= 64u << 20);
    assert_int_equal(address_space_alloc(address_space, bytes / 2, 0, BOTH, &a, NULL), LS_OK);
    assert_int_equal(address_space_write(address_space, a + bytes / 4, "x", 1, NULL), LS_OK);
    char byte = 0;
    assert_int_equal(address_space_read(address_space, a + bytes / 4, &byte, 1, NULL), LS_OK);
    assert_int_equal(byte, 'x');
    address_space_destroy(address_space);
}

/* Simulated addresses that are pointers, too; only one space of a process can have them. */
static void shared_addresses(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* its shadow memory is there */
#endif
    memory_space *address_space, *second;
    ls_error error;
    uint64_t a;
    assert_int_equal(address_space_create_here(1u << 20, &address_space, &error), LS_OK);
    assert_int_equal(address_space_alloc(address_space, 100, 0, BOTH, &a, NULL), LS_OK);
    *(uint32_t *)(uintptr_t)a = 0x12345678;
    uint32_t value = 0;
    assert_int_equal(address_space_read(address_space, a, &value, 4, NULL), LS_OK);
    assert_int_equal(value, 0x12345678);
    assert_int_equal(address_space_create_here(1u << 20, &second, &error), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.what, "0x100000000"));
    address_space_destroy(address_space);
}

/* Two ranges, of which few pages hold anything; the same memory elsewhere, with other bytes. */
static void images(void **state)
{
    (void)state;
    memory_space *spaces[2];
    memory_image_bytes image = { 0 };
    uint64_t a, b;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(address_space_create(1u << 30, &spaces[i], NULL), LS_OK);
        assert_int_equal(address_space_alloc(spaces[i], 256u << 20, 0, BOTH, &a, NULL), LS_OK);
        assert_int_equal(address_space_alloc(spaces[i], 8192, 0, BOTH, &b, NULL), LS_OK);
    }
    assert_int_equal(address_space_write(spaces[0], a + 100000, "first", 5, NULL), LS_OK);
    assert_int_equal(address_space_write(spaces[0], b + 8191, "z", 1, NULL), LS_OK);
    assert_int_equal(address_space_write(spaces[0], a, "\0", 1, NULL), LS_OK); /* touched, and zero */
    assert_true(memory_image_save(spaces[0], &image));
    assert_int_equal(image.count, 2 * (LS_PAGE_BYTES + 8) + 8);

    char byte = 1, text[6] = { 0 };
    assert_int_equal(address_space_write(spaces[1], a + 5, "old", 3, NULL), LS_OK);
    const uint8_t *at = image.at, *end = at + image.count;
    assert_int_equal(memory_image_load(spaces[1], &at, end, NULL), LS_OK);
    assert_ptr_equal(at, end);
    assert_int_equal(address_space_read(spaces[1], a + 5, &byte, 1, NULL), LS_OK);
    assert_int_equal(byte, 0);
    assert_int_equal(address_space_read(spaces[1], a + 100000, text, 5, NULL), LS_OK);
    assert_string_equal(text, "first");
    assert_int_equal(address_space_read(spaces[1], b + 8191, &byte, 1, NULL), LS_OK);
    assert_int_equal(byte, 'z');

    at = image.at;
    assert_int_equal(memory_image_load(spaces[1], &at, end - 100, NULL), LS_ERR_INPUT);
    assert_int_equal(address_space_free(spaces[1], b, NULL), LS_OK); /* a page of it is not mapped any more */
    at = image.at;
    assert_int_equal(memory_image_load(spaces[1], &at, end, NULL), LS_ERR_INPUT);
    vec_fini(&image);
    address_space_destroy(spaces[0]);
    address_space_destroy(spaces[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations),      cmocka_unit_test(refusals),
        cmocka_unit_test(protection),       cmocka_unit_test(large_windows_cost_nothing),
        cmocka_unit_test(shared_addresses), cmocka_unit_test(images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
