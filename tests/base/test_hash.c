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
    assert_string_equal(ls_hash_text(ls_hash_of("", 0), text), "99aa06d3014798d86001c324468d497f");
    assert_string_equal(ls_hash_text(ls_hash_of(NULL, 0), text), "99aa06d3014798d86001c324468d497f");
    assert_false(ls_hash_same(ls_hash_of("a", 1), ls_hash_of("b", 1)));
    assert_true(ls_hash_same(ls_hash_of("a", 1), ls_hash_of("ab", 1)));
}

static void pieces_add_up(void **state)
{
    (void)state;
    unsigned char data[3000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7919 >> 3);
    ls_hasher *hasher;
    assert_int_equal(ls_hasher_create(&hasher, NULL), LS_OK);
    for (size_t piece = 1; piece < sizeof data; piece = piece * 3 + 1) {
        ls_hasher_reset(hasher);
        for (size_t at = 0; at < sizeof data; at += piece)
            ls_hasher_add(hasher, data + at, at + piece < sizeof data ? piece : sizeof data - at);
        ls_hasher_add(hasher, NULL, 0);
        assert_true(ls_hash_same(ls_hasher_get(hasher), ls_hash_of(data, sizeof data)));
    }
    /* Looking does not end it. */
    ls_hasher_reset(hasher);
    ls_hasher_add(hasher, "a", 1);
    assert_true(ls_hash_same(ls_hasher_get(hasher), ls_hash_of("a", 1)));
    ls_hasher_add(hasher, "b", 1);
    assert_true(ls_hash_same(ls_hasher_get(hasher), ls_hash_of("ab", 2)));
    ls_hasher_destroy(hasher);
    ls_hasher_destroy(NULL);
}

static void fields_do_not_run_together(void **state)
{
    (void)state;
    ls_hasher *hasher;
    assert_int_equal(ls_hasher_create(&hasher, NULL), LS_OK);
    ls_hasher_add_field(hasher, "ab", 2);
    ls_hasher_add_field(hasher, "c", 1);
    ls_hash first = ls_hasher_get(hasher);
    ls_hasher_reset(hasher);
    ls_hasher_add_field(hasher, "a", 1);
    ls_hasher_add_field(hasher, "bc", 2);
    assert_false(ls_hash_same(ls_hasher_get(hasher), first));
    ls_hasher_destroy(hasher);
}

static void text_form(void **state)
{
    (void)state;
    ls_hash hash = { UINT64_C(0x0123456789abcdef), UINT64_C(0x00000000000000ff) }, back;
    char text[LS_HASH_TEXT_BYTES];
    assert_string_equal(ls_hash_text(hash, text), "0123456789abcdef00000000000000ff");
    assert_true(ls_hash_parse(text, &back));
    assert_true(ls_hash_same(hash, back));
    assert_true(ls_hash_parse("0123456789ABCDEF00000000000000FF", &back));
    assert_true(ls_hash_same(hash, back));
    static const char *const bad[] = {
        "",
        "0",
        "0123456789abcdef00000000000000f",
        "0123456789abcdef00000000000000ff0",
        "0123456789abcdeg00000000000000ff",
        "0x23456789abcdef00000000000000ff",
    };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++)
        assert_false(ls_hash_parse(bad[i], &back));
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
