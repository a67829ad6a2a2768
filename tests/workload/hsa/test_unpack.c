/* test_unpack.c: compressed offload bundles: versions 1 to 3, zlib and zstd, padding, damage and false sizes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/hsa/hsa.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PLAIN_BYTES 4096

/* One entry for gfx942 with recognizable bytes; deflate shrinks it well. */
static void make_plain(uint8_t *plain)
{
    const char id[] = "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
    uint64_t words[] = { 1, 2048, 1024, sizeof id - 1 };
    memset(plain, 0, PLAIN_BYTES);
    memcpy(plain, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(plain + 24, words, sizeof words);
    memcpy(plain + 56, id, sizeof id - 1);
    for (unsigned i = 0; i < 1024; i++)
        plain[2048 + i] = (uint8_t)(i * i >> 4);
}

/* The head as LLVM's documents give it, then the compressed bytes, then padding. */
static size_t pack(unsigned version, unsigned method, const uint8_t *plain, size_t plain_bytes, uint8_t *out,
                   size_t capacity)
{
    size_t width = version == 3 ? 8 : 4, at = 8;
    uint16_t fields[] = { (uint16_t)version, (uint16_t)method };
    uint64_t total, hash = 0x0123456789abcdef, claimed = plain_bytes;
    memcpy(out, "CCOB", 4);
    memcpy(out + 4, fields, sizeof fields);
    at += version == 1 ? 0 : width;
    memcpy(out + at, &claimed, width);
    at += width;
    memcpy(out + at, &hash, 8);
    at += 8;
    if (method == 0) {
        uLongf room = capacity - at;
        assert_int_equal(compress(out + at, &room, plain, plain_bytes), Z_OK);
        at += room;
    } else {
        size_t n = ZSTD_compress(out + at, capacity - at, plain, plain_bytes, 3);
        assert_false(ZSTD_isError(n));
        at += n;
    }
    total = at;
    if (version > 1)
        memcpy(out + 8, &total, width);
    return at;
}

static ls_status unpack(const uint8_t *packed, size_t bytes, const uint8_t *expected, ls_error *err)
{
    mem_arena arena = { 0 };
    const void *plain;
    size_t plain_bytes;
    ls_status status = hsa_bundle_unpack(&arena, packed, bytes, &plain, &plain_bytes, err);
    if (status == LS_OK && expected) {
        const void *object;
        size_t object_bytes;
        assert_int_equal(plain_bytes, PLAIN_BYTES);
        assert_memory_equal(plain, expected, PLAIN_BYTES);
        assert_int_equal(hsa_bundle_pick(plain, plain_bytes, "gfx942", &object, &object_bytes, err), LS_OK);
        assert_int_equal(object_bytes, 1024);
        assert_ptr_equal(object, (const uint8_t *)plain + 2048);
    }
    arena_fini(&arena);
    return status;
}

static void all_versions(void **state)
{
    uint8_t plain[PLAIN_BYTES], packed[8192];
    ls_error err;
    (void)state;
    make_plain(plain);
    for (unsigned version = 1; version <= 3; version++)
        for (unsigned method = 0; method <= 1; method++) {
            memset(packed, 0, sizeof packed);
            size_t bytes = pack(version, method, plain, sizeof plain, packed, sizeof packed);
            assert_true(hsa_is_packed_bundle(packed, bytes));
            assert_false(hsa_is_bundle(packed, bytes));
            assert_int_equal(unpack(packed, bytes, plain, &err), LS_OK);
            assert_int_equal(unpack(packed, bytes + 512, plain, &err), LS_OK); /* padding */
            for (size_t n = 8; n < bytes; n++)
                assert_int_not_equal(unpack(packed, n, NULL, &err), LS_OK);
        }
}

static void other_data(void **state)
{
    mem_arena arena = { 0 };
    const void *plain;
    size_t bytes;
    ls_error err;
    (void)state;
    assert_int_equal(hsa_bundle_unpack(&arena, "CCO", 3, &plain, &bytes, &err), LS_OK);
    assert_int_equal(bytes, 3);
    assert_string_equal((const char *)plain, "CCO");
    arena_fini(&arena);
}

static void refusals(void **state)
{
    uint8_t plain[PLAIN_BYTES], packed[8192] = { 0 };
    ls_error err;
    (void)state;
    make_plain(plain);
    size_t bytes = pack(2, 1, plain, sizeof plain, packed, sizeof packed);
    packed[4] = 4;
    assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "version 4"));
    packed[4] = 2;
    packed[6] = 7;
    assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "method 7"));
    packed[6] = 1;
    packed[8]++; /* one byte more than the file has */
    assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "but the file has"));
    /* A bundle of 4 GiB, and one that the compressed bytes cannot hold. */
    bytes = pack(2, 1, plain, sizeof plain, packed, sizeof packed);
    memset(packed + 12, 0xff, 4);
    assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "larger than 256 MiB"));
    memcpy(packed + 12, &(uint32_t){ 200u << 20 }, 4);
    assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "cannot hold them"));
    /* One byte less than there is; and content that is no bundle. */
    for (unsigned method = 0; method <= 1; method++) {
        bytes = pack(2, method, plain, sizeof plain, packed, sizeof packed);
        memcpy(packed + 12, &(uint32_t){ PLAIN_BYTES - 1 }, 4);
        assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_INPUT);
        assert_non_null(strstr(err.what, "is damaged"));
    }
    plain[0] = 'x';
    bytes = pack(3, 0, plain, sizeof plain, packed, sizeof packed);
    assert_int_equal(unpack(packed, bytes, NULL, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "something else"));
}

/* Every flipped bit is refused or gives a bundle of the right size; nothing is read outside. */
static void flips(void **state)
{
    uint8_t plain[PLAIN_BYTES], packed[8192] = { 0 };
    ls_error err;
    (void)state;
    make_plain(plain);
    for (unsigned method = 0; method <= 1; method++) {
        size_t bytes = pack(2, method, plain, sizeof plain, packed, sizeof packed);
        for (size_t bit = 0; bit < bytes * 8; bit += 3) {
            packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            unpack(packed, bytes, NULL, &err);
            packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_int_equal(unpack(packed, bytes, plain, &err), LS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_versions),
        cmocka_unit_test(other_data),
        cmocka_unit_test(refusals),
        cmocka_unit_test(flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
