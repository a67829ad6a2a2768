/* test_text.c: the growing text, UTF-8 and quoting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void grows(void **state)
{
    (void)state;
    text_buffer text = { 0 };
    assert_string_equal(text_get(&text), "");
    text_add(&text, "warp ");
    text_addn(&text, "12345", 2);
    text_printf(&text, ", pc 0x%x", 64);
    assert_string_equal(text_get(&text), "warp 12, pc 0x40");
    assert_int_equal(text.count, 16);
    text_clear(&text);
    assert_string_equal(text_get(&text), "");
    for (unsigned i = 0; i < 10000; i++)
        text_printf(&text, "%u,", i % 10);
    assert_int_equal(text.count, 20000);
    assert_int_equal(strlen(text_get(&text)), 20000);
    text_printf(&text, "%5000d", 7);
    assert_int_equal(text.count, 25000);
    assert_int_equal(text.at[24999], '7');
    assert_false(text.failed);
    text_fini(&text);
    text_addn(&text, NULL, 0);
    assert_string_equal(text_get(&text), "");
    text_fini(&text);
}

static void failure_is_sticky(void **state)
{
    (void)state;
    text_buffer text = { 0 };
    text_add(&text, "a");
    text_addn(&text, "", SIZE_MAX); /* refused before it is read */
    assert_true(text.failed);
    text_add(&text, "b");
    text_printf(&text, "c");
    assert_string_equal(text_get(&text), "a");
    text_clear(&text);
    assert_false(text.failed);
    text_fini(&text);
}

static void ends(void **state)
{
    (void)state;
    assert_true(starts_with("kernel-1.traceg", "kernel"));
    assert_true(starts_with("x", ""));
    assert_false(starts_with("ker", "kernel"));
    assert_true(ends_with("a.yaml", ".yaml"));
    assert_true(ends_with("a", ""));
    assert_false(ends_with("yaml", ".yaml"));
    assert_false(ends_with("a.yaml ", ".yaml"));
}

static void utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count, good;
    } cases[] = {
        { "", 0, 0 },
        { "plain", 5, 5 },
        { "a\0b", 3, 3 },
        { "\x7F", 1, 1 },
        { "\x80", 1, 0 },             /* continuation without lead */
        { "a\xC2\xB5s", 4, 4 },       /* U+00B5 */
        { "\xC2\x80", 2, 2 },         /* lowest of two bytes */
        { "\xDF\xBF", 2, 2 },         /* highest of two bytes */
        { "\xE0\xA0\x80", 3, 3 },     /* lowest of three */
        { "\xEF\xBF\xBF", 3, 3 },     /* highest of three */
        { "\xF0\x90\x80\x80", 4, 4 }, /* lowest of four */
        { "\xF4\x8F\xBF\xBF", 4, 4 }, /* U+10FFFF */
        { "\xC0\x80", 2, 0 },         /* overlong NUL */
        { "\xC1\xBF", 2, 0 },         /* overlong DEL */
        { "\xE0\x9F\xBF", 3, 0 },     /* overlong U+07FF */
        { "\xF0\x8F\xBF\xBF", 4, 0 }, /* overlong U+FFFF */
        { "\xED\x9F\xBF", 3, 3 },     /* last before the surrogates */
        { "\xED\xA0\x80", 3, 0 },     /* first surrogate */
        { "\xED\xBF\xBF", 3, 0 },     /* last surrogate */
        { "\xEE\x80\x80", 3, 3 },     /* first after them */
        { "\xF4\x90\x80\x80", 4, 0 }, /* U+110000 */
        { "\xF5\x80\x80\x80", 4, 0 },
        { "\xFE", 1, 0 },
        { "\xFF\xFF", 2, 0 },
        { "ok\xE2\x82", 4, 2 },     /* cut in the middle */
        { "ok\xE2\x28\xA1", 5, 2 }, /* wrong continuation */
        { "\xF0\x9F\x98\x80!\xF0\x9F\x98", 8, 5 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        /* An exact copy, so that a sanitizer sees a read past the end. */
        char *copy = malloc(cases[i].count + 1);
        assert_non_null(copy);
        memcpy(copy, cases[i].bytes, cases[i].count);
        copy = realloc(copy, cases[i].count > 0 ? cases[i].count : 1);
        assert_int_equal(utf8_check(copy, cases[i].count), cases[i].good);
        free(copy);
    }
    uint32_t code = 0;
    assert_int_equal(utf8_next("\xF0\x9F\x98\x80", 4, &code), 4);
    assert_int_equal(code, 0x1F600);
    assert_int_equal(utf8_next("", 0, &code), 0);
}

static void quotes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count, room;
        const char *quoted;
    } cases[] = {
        { "plain text", 10, 64, "plain text" },
        { "", 0, 64, "" },
        { "a\nb\tc\0d", 7, 64, "a\\x0Ab\\x09c\\x00d" },
        { "\x7F\xFF", 2, 64, "\\x7F\\xFF" },
        { "\xC2\xB5s", 3, 64, "\xC2\xB5s" },
        { "\xC2\x85", 2, 64, "\\xC2\\x85" },            /* a line break in disguise */
        { "\xE2\x80\xAEx", 4, 64, "\\xE2\\x80\\xAEx" }, /* would reverse the line */
        { "\xEF\xBB\xBFx", 4, 64, "\\xEF\\xBB\\xBFx" }, /* byte order mark */
        { "abcdefgh", 8, 9, "abcdefgh" },               /* fits exactly */
        { "abcdefghi", 9, 9, "abcde..." },
        { "abcd\xC2\xB5zz", 8, 8, "abcd..." }, /* not cut inside a character */
        { "abc\xC2\xB5zzz", 8, 8, "abc..." },
        { "ab\nzzz", 6, 8, "ab..." }, /* nor inside an escape */
        { "abc", 3, 4, "abc" },
        { "abcd", 4, 4, "..." },
        { "abcd", 4, 3, ".." },
        { "abcd", 4, 1, "" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        char out[64];
        memset(out, '!', sizeof out);
        assert_ptr_equal(quote_text(cases[i].bytes, cases[i].count, out, cases[i].room), out);
        assert_string_equal(out, cases[i].quoted);
        if (cases[i].room < sizeof out)
            assert_int_equal(out[cases[i].room], '!');
    }
    assert_string_equal(quote_text("x", 1, NULL, 0), "");
}

/* Ten megabytes of zeros are one short line, at once. */
static void quotes_a_monster(void **state)
{
    (void)state;
    size_t bytes = 10 << 20;
    char *monster = calloc(1, bytes);
    char out[32];
    assert_non_null(monster);
    assert_string_equal(quote_text(monster, bytes, out, sizeof out), "\\x00\\x00\\x00\\x00\\x00\\x00\\x00...");
    free(monster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),  cmocka_unit_test(failure_is_sticky),
        cmocka_unit_test(ends),   cmocka_unit_test(utf8),
        cmocka_unit_test(quotes), cmocka_unit_test(quotes_a_monster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
