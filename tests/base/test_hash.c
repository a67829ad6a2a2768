/* test_hash.c: known answers, pieces that add up, and the text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"

/* The published value of XXH3's 128-bit hash of nothing. */
static void known_answer(void **state)
{
    (void)state;
    char text[LS_HASH_TEXT_BYTES];
    assert_string_equal(hash128_text(hash128_of("", 0), text), "99aa06d3014798d86001c324468d497f");
    assert_string_equal(hash128_text(hash128_of(NULL, 0), text), "99aa06d3014798d86001c324468d497f");
    assert_false(hash_same(hash128_of("a", 1), hash128_of("b", 1)));
    assert_true(hash_same(hash128_of("a", 1), hash128_of("ab", 1)));
}

static void pieces_add_up(void **state)
{
    (void)state;
    unsigned char data[3000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7919 >> 3);
    hash_stream *hasher;
    assert_int_equal(hasher_create(&hasher, NULL), LS_OK);
    for (size_t piece = 1; piece < sizeof data; piece = piece * 3 + 1) {
        hasher_reset(hasher);
        for (size_t at = 0; at < sizeof data; at += piece)
            hasher_add(hasher, data + at, at + piece < sizeof data ? piece : sizeof data - at);
        hasher_add(hasher, NULL, 0);
        assert_true(hash_same(hasher_get(hasher), hash128_of(data, sizeof data)));
    }
    /* Looking does not end it. */
    hasher_reset(hasher);
    hasher_add(hasher, "a", 1);
    assert_true(hash_same(hasher_get(hasher), hash128_of("a", 1)));
    hasher_add(hasher, "b", 1);
    assert_true(hash_same(hasher_get(hasher), hash128_of("ab", 2)));
    hasher_destroy(hasher);
    hasher_destroy(NULL);
}

static void fields_do_not_run_together(void **state)
{
    (void)state;
    hash_stream *hasher;
    assert_int_equal(hasher_create(&hasher, NULL), LS_OK);
    hasher_add_field(hasher, "ab", 2);
    hasher_add_field(hasher, "c", 1);
    hash128 first = hasher_get(hasher);
    hasher_reset(hasher);
    hasher_add_field(hasher, "a", 1);
    hasher_add_field(hasher, "bc", 2);
    assert_false(hash_same(hasher_get(hasher), first));
    hasher_destroy(hasher);
}

static void text_form(void **state)
{
    (void)state;
    hash128 hash = { UINT64_C(0x0123456789abcdef), UINT64_C(0x00000000000000ff) }, back;
    char text[LS_HASH_TEXT_BYTES];
    assert_string_equal(hash128_text(hash, text), "0123456789abcdef00000000000000ff");
    assert_true(hash_parse(text, &back));
    assert_true(hash_same(hash, back));
    assert_true(hash_parse("0123456789ABCDEF00000000000000FF", &back));
    assert_true(hash_same(hash, back));
    static const char *const bad[] = {
        "",
        "0",
        "0123456789abcdef00000000000000f",
        "0123456789abcdef00000000000000ff0",
        "0123456789abcdeg00000000000000ff",
        "0x23456789abcdef00000000000000ff",
    };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++)
        assert_false(hash_parse(bad[i], &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answer),
        cmocka_unit_test(pieces_add_up),
        cmocka_unit_test(fields_do_not_run_together),
        cmocka_unit_test(text_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
