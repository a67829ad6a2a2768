/* test_json.c: the written text is exact, and wrong use is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_document(json_writer *j)
{
    json_begin_object(j);
    json_key(j, "name");
    json_string(j, "core0");
    json_key(j, "empty");
    json_begin_object(j);
    json_end(j);
    json_key(j, "values");
    json_array(j);
    json_u64(j, UINT64_MAX);
    json_i64(j, INT64_MIN);
    json_real(j, 0.1);
    json_bool(j, true);
    json_bool(j, false);
    json_null(j);
    json_array(j);
    json_end(j);
    json_end(j);
    json_key(j, "buckets");
    json_flat(j);
    json_array(j);
    json_u64(j, 1);
    json_begin_object(j);
    json_key(j, "k");
    json_u64(j, 2);
    json_end(j);
    json_end(j);
    json_end(j);
}

static void compact(void **state)
{
    (void)state;
    text_buffer text = { 0 };
    json_writer j;
    json_to_text(&j, &text, 0);
    write_document(&j);
    assert_int_equal(json_finish(&j, NULL), LS_OK);
    assert_string_equal(text_get(&text),
                        "{\"name\":\"core0\",\"empty\":{},\"values\":[18446744073709551615,"
                        "-9223372036854775808,0.1,true,false,null,[]],\"buckets\":[1,{\"k\":2}]}");
    text_fini(&text);
}

static void members(void **state)
{
    (void)state;
    text_buffer text = { 0 };
    json_writer j;
    json_to_text(&j, &text, 2);
    json_begin_object(&j);
    json_put_u64(&j, "launches", 7);
    json_put_text(&j, "name", NULL);
    json_put_sizes(&j, "grid", (const uint32_t[]){ 64, 2, 1 });
    json_end(&j);
    assert_int_equal(json_finish(&j, NULL), LS_OK);
    assert_string_equal(text_get(&text),
                        "{\n  \"launches\": 7,\n  \"name\": null,\n  \"grid\": [64, 2, 1]\n}\n");
    text_fini(&text);
}

static const char indented_text[] = "{\n"
                                    "  \"name\": \"core0\",\n"
                                    "  \"empty\": {},\n"
                                    "  \"values\": [\n"
                                    "    18446744073709551615,\n"
                                    "    -9223372036854775808,\n"
                                    "    0.1,\n"
                                    "    true,\n"
                                    "    false,\n"
                                    "    null,\n"
                                    "    []\n"
                                    "  ],\n"
                                    "  \"buckets\": [1, {\"k\": 2}]\n"
                                    "}\n";

static void indented(void **state)
{
    (void)state;
    char *memory = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&memory, &bytes);
    json_writer j;
    json_to_file(&j, stream, 2);
    write_document(&j);
    assert_int_equal(json_finish(&j, NULL), LS_OK);
    fclose(stream);
    assert_string_equal(memory, indented_text);
    free(memory);
}

static void strings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
        const char *json;
    } cases[] = {
        { "", 0, "\"\"" },
        { "plain / text", 12, "\"plain / text\"" },
        { "\"\\", 2, "\"\\\"\\\\\"" },
        { "\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"" },
        { "a\0b\x01\x1F\x7F", 6, "\"a\\u0000b\\u0001\\u001f\\u007f\"" },
        { "\xC2\xB5s \xF0\x9F\x98\x80", 8, "\"\xC2\xB5s \xF0\x9F\x98\x80\"" },
        { "a\xFFz", 3, "\"a\xEF\xBF\xBDz\"" },
        { "\xC0\x80", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
        { "\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
        { "cut \xE2\x82", 6, "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        text_buffer text = { 0 };
        json_writer j;
        json_to_text(&j, &text, 0);
        json_stringn(&j, cases[i].bytes, cases[i].count);
        assert_int_equal(json_finish(&j, NULL), LS_OK);
        assert_string_equal(text_get(&text), cases[i].json);
        text_fini(&text);
    }
}

static void reals(void **state)
{
    (void)state;
    text_buffer text = { 0 };
    json_writer j;
    json_to_text(&j, &text, 0);
    json_array(&j);
    json_real(&j, NAN);
    json_real(&j, -INFINITY);
    json_real(&j, 1e300);
    json_real(&j, -0.0);
    json_real(&j, 3);
    json_string(&j, NULL);
    json_end(&j);
    assert_int_equal(json_finish(&j, NULL), LS_OK);
    assert_string_equal(text_get(&text), "[null,null,1e+300,-0,3,null]");
    text_fini(&text);
}

/* One letter per call: { [ } end, k key, v value, and the text that json_finish() must return. */
static void misuse(void **state)
{
    (void)state;
    static const struct {
        const char *calls, *what;
    } cases[] = {
        { "", "no value at all" },
        { "{", "an object or array without its end" },
        { "[[}", "an object or array without its end" },
        { "}", "an end without a beginning" },
        { "{}}", "an end without a beginning" },
        { "vv", "a second value at the top" },
        { "{}{}", "a second value at the top" },
        { "{v}", "a value without a key in an object" },
        { "{[}}", "a value without a key in an object" },
        { "{kvv}", "a value without a key in an object" },
        { "{k}", "a key without a value" },
        { "{kkv}", "a key without a value" },
        { "[kv}", "a key outside of an object" },
        { "k", "a key outside of an object" },
        { "{k[kv}}", "a key outside of an object" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        text_buffer text = { 0 };
        json_writer j;
        ls_error err;
        json_to_text(&j, &text, 2);
        for (const char *c = cases[i].calls; *c != '\0'; c++) {
            switch (*c) {
            case '{':
                json_begin_object(&j);
                break;
            case '[':
                json_array(&j);
                break;
            case '}':
                json_end(&j);
                break;
            case 'k':
                json_key(&j, "k");
                break;
            default:
                json_u64(&j, 1);
                break;
            }
        }
        assert_int_equal(json_finish(&j, &err), LS_ERR_INTERNAL);
        assert_non_null(strstr(err.what, cases[i].what));
        text_fini(&text);
    }
}

static void depth(void **state)
{
    (void)state;
    for (unsigned levels = LS_JSON_DEPTH; levels <= LS_JSON_DEPTH + 1; levels++) {
        text_buffer text = { 0 };
        json_writer j;
        json_to_text(&j, &text, 0);
        for (unsigned i = 0; i < levels; i++)
            json_array(&j);
        for (unsigned i = 0; i < levels; i++)
            json_end(&j);
        assert_int_equal(json_finish(&j, NULL), levels == LS_JSON_DEPTH ? LS_OK : LS_ERR_INTERNAL);
        if (levels == LS_JSON_DEPTH)
            assert_int_equal(text.count, 2 * LS_JSON_DEPTH);
        text_fini(&text);
    }
}

static void failed_writes(void **state)
{
    (void)state;
    FILE *stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    setvbuf(stream, NULL, _IONBF, 0);
    json_writer j;
    json_to_file(&j, stream, 0);
    json_u64(&j, 1);
    assert_int_equal(json_finish(&j, NULL), LS_ERR_IO);
    fclose(stream);
    text_buffer text = { .failed = true };
    json_to_text(&j, &text, 0);
    json_u64(&j, 1);
    assert_int_equal(json_finish(&j, NULL), LS_ERR_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact),       cmocka_unit_test(indented), cmocka_unit_test(strings),
        cmocka_unit_test(reals),         cmocka_unit_test(misuse),   cmocka_unit_test(depth),
        cmocka_unit_test(failed_writes), cmocka_unit_test(members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
