/* test_bundle.c: offload bundles: their contents, the choice of an entry, refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/hsa/hsa.h"

#include <string.h>

static uint8_t file[1024];
static size_t used;

static void put(const void *data, size_t bytes)
{
    memcpy(file + used, data, bytes);
    used += bytes;
}

static void put64(uint64_t value)
{
    put(&value, sizeof value);
}

static void entry(const char *id, uint64_t offset, uint64_t bytes)
{
    put64(offset);
    put64(bytes);
    put64(strlen(id));
    put(id, strlen(id));
}

static void build(uint64_t count)
{
    memset(file, 0, sizeof file);
    used = 0;
    put("__CLANG_OFFLOAD_BUNDLE__", 24);
    put64(count);
    entry("host-x86_64-unknown-linux--", 512, 0);
    entry("hipv4-amdgcn-amd-amdhsa--gfx1010", 512, 16);
    entry("hip-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-", 528, 8);
    file[528] = 42;
}

static void listing(void **state)
{
    mem_arena arena = { 0 };
    ls_error err;
    const hsa_bundle_entry *entries;
    size_t count;
    (void)state;
    build(3);
    assert_true(hsa_is_bundle(file, sizeof file));
    assert_false(hsa_is_bundle(file, 23));
    assert_int_equal(hsa_bundle_list(&arena, file, sizeof file, &entries, &count, &err), LS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(entries[0].target, "");
    assert_string_equal(entries[1].target, "gfx1010");
    assert_string_equal(entries[2].target, "gfx906");
    assert_string_equal(entries[2].id, "hip-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
    assert_int_equal(entries[2].offset, 528);
    arena_fini(&arena);
}

static void picking(void **state)
{
    ls_error err;
    const void *object;
    size_t bytes;
    (void)state;
    build(3);
    assert_int_equal(hsa_bundle_pick(file, sizeof file, "gfx906", &object, &bytes, &err), LS_OK);
    assert_int_equal(bytes, 8);
    assert_int_equal(*(const uint8_t *)object, 42);
    assert_int_equal(hsa_bundle_pick(file, sizeof file, "gfx803", &object, &bytes, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "no code object for gfx803, only for: gfx1010, gfx906"));
    assert_int_equal(hsa_bundle_pick(file, sizeof file, NULL, &object, &bytes, &err), LS_ERR_USAGE);
    build(2);
    assert_int_equal(hsa_bundle_pick(file, sizeof file, NULL, &object, &bytes, &err), LS_OK);
    assert_int_equal(bytes, 16);
    build(1);
    assert_int_equal(hsa_bundle_pick(file, sizeof file, NULL, &object, &bytes, &err), LS_ERR_INPUT);
    /* A file that is no bundle is the object itself. */
    assert_int_equal(hsa_bundle_pick("abc", 3, "gfx803", &object, &bytes, &err), LS_OK);
    assert_int_equal(bytes, 3);
}

static void damage(void **state)
{
    mem_arena arena = { 0 };
    ls_error err;
    const hsa_bundle_entry *entries;
    size_t count;
    (void)state;
    build(UINT64_MAX);
    assert_int_equal(hsa_bundle_list(&arena, file, sizeof file, &entries, &count, &err), LS_ERR_INPUT);
    for (size_t n = 0; n < used; n++) {
        build(3);
        assert_int_equal(hsa_bundle_list(&arena, file, n, &entries, &count, &err), LS_ERR_INPUT);
    }
    build(3);
    memset(file + 32, 0xff, 8); /* the first offset */
    assert_int_equal(hsa_bundle_list(&arena, file, sizeof file, &entries, &count, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "entry 1"));
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing),
        cmocka_unit_test(picking),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
