/* JSON: valid by a reader of our own, and the values where they belong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"

#include <ctype.h>

/* ----------------------------------------------------------------------------------------- a small reader */

static void skip_space(const char **p)
{
    while (**p == ' ' || **p == '\n' || **p == '\t' || **p == '\r')
        (*p)++;
}

static void skip_string(const char **p)
{
    assert_int_equal(**p, '"');
    for ((*p)++; **p != '"'; (*p)++) {
        assert_true((unsigned char)**p >= 0x20);
        if (**p == '\\') {
            (*p)++;
            assert_non_null(strchr("\"\\/bfnrtu", **p));
        }
    }
    (*p)++;
}

static void skip_number(const char **p)
{
    char *end;
    assert_true(**p == '-' || isdigit((unsigned char)**p));
    strtod(*p, &end);
    assert_true(end > *p);
    *p = end;
}

/* Moves over one value, failing the test if it is not valid JSON. */
static void skip_value(const char **p)
{
    skip_space(p);
    if (**p == '{' || **p == '[') {
        bool object = *(*p)++ == '{';
        skip_space(p);
        for (bool first = true; **p != (object ? '}' : ']'); first = false) {
            if (!first) {
                assert_int_equal(**p, ',');
                (*p)++;
                skip_space(p);
            }
            if (object) {
                skip_string(p);
                skip_space(p);
                assert_int_equal(**p, ':');
                (*p)++;
            }
            skip_value(p);
            skip_space(p);
        }
        (*p)++;
    } else if (**p == '"')
        skip_string(p);
    else if (strncmp(*p, "true", 4) == 0 || strncmp(*p, "null", 4) == 0)
        *p += 4;
    else if (strncmp(*p, "false", 5) == 0)
        *p += 5;
    else
        skip_number(p);
}

/* The value at a path such as "values", "types", "l1/cycle", NULL; or at an index of an array as "#1". */
static const char *find(const char *p, ...)
{
    va_list keys;
    va_start(keys, p);
    for (const char *key; (key = va_arg(keys, const char *)) != NULL;) {
        skip_space(&p);
        bool object = *p == '{';
        assert_true(object || *p == '[');
        p++;
        for (long index = 0;; index++) {
            skip_space(&p);
            if (*p == '}' || *p == ']') {
                va_end(keys);
                return NULL;
            }
            bool found = !object && key[0] == '#' && index == strtol(key + 1, NULL, 10);
            if (object) {
                const char *name = p + 1;
                skip_string(&p);
                found = strlen(key) == (size_t)(p - name - 1) && strncmp(name, key, strlen(key)) == 0;
                skip_space(&p);
                p++;
            }
            skip_space(&p);
            if (found)
                break;
            skip_value(&p);
            skip_space(&p);
            p += *p == ',';
        }
    }
    va_end(keys);
    return p;
}

static void assert_starts(const char *at, const char *expected)
{
    assert_non_null(at);
    if (strncmp(at, expected, strlen(expected)) != 0)
        fail_msg("expected %s, found %.40s", expected, at);
}

/* -------------------------------------------------------------------------------------------------- tests */

static void test_values(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    char *text = fixture_export(f, LS_EXPORT_JSON, NULL);
    const char *end = text;
    skip_value(&end);
    assert_string_equal(end, "\n");

    assert_starts(find(text, "format", NULL), "\"lockstep-results\",");
    assert_starts(find(text, "partial", NULL), "false,");
    assert_null(find(text, "partial_reason", NULL));
    assert_starts(find(text, "warnings", NULL), "[],");
    assert_starts(find(text, "run", "end_time_fs", NULL), "4000000,");
    assert_starts(find(text, "run", "cycles", NULL), "4,"); /* and not the engine's steps */
    assert_starts(find(text, "run", "engine", "region_cycles", NULL), "77");
    assert_starts(find(text, "run", "config", NULL), "\"machine: gpu\\nl1: \\\"64 KiB\\\"\\n\"");
    assert_starts(find(text, "metrics", "#0", "unit", NULL), "\"sectors\"");
    assert_starts(find(text, "metrics", "#6", "help", NULL), "\"refreshes, \\\"all bank\\\"\"");
    assert_starts(find(text, "blocks", "#1", "path", NULL), "\"gpu0.l1[1]\"");
    assert_starts(find(text, "blocks", "#1", "gpu", NULL), "0");
    assert_null(find(text, "blocks", "#2", "gpu", NULL));
    assert_starts(find(text, "untouched", "#0", "name", NULL), "\"refreshes\"");
    assert_null(find(text, "untouched", "#2", NULL));

    assert_starts(find(text, "values", "types", "l1/cycle", "hits", NULL), "2000000,");
    assert_starts(find(text, "values", "types", "l1/cycle", "queue_peak", NULL), "12,");
    assert_starts(find(text, "values", "types", "l1/cycle", "hit_rate", "value", NULL), "0.5,");
    assert_starts(find(text, "values", "types", "l1/cycle", "wait", NULL),
                  "{\"count\": 2, \"sum\": 5, \"min\": 0, \"max\": 5, \"buckets\": {\"0\": 1, \"4\": 1}}");
    assert_starts(find(text, "values", "blocks", "gpu0.l1[0]", "hits", NULL), "1500000,");
    assert_starts(find(text, "values", "blocks", "dram", "reads", NULL), "18446744073709551615,");
    assert_starts(find(text, "values", "blocks", "dram", "refresh_rate", NULL),
                  "{\"numerator\": 0, \"denominator\": 0}");

    assert_starts(find(text, "kernels", "#0", "name", NULL), "\"void add<int, 4>(int*, \\\"x\\\")\"");
    assert_starts(find(text, "kernels", "#0", "stream", NULL), "7,");
    assert_starts(find(text, "schema", NULL), "3,");
    assert_starts(find(text, "columns", "l1/cycle", NULL),
                  "[\"hits\", \"accesses\", \"hit_rate\", \"queue_peak\", \"wait.count\", \"wait.sum\", "
                  "\"wait.min\", \"wait.max\"]");
    assert_starts(find(text, "kernels", "#0", "types", "l1/cycle", NULL), "[1500000,2000000,0.75,9,2,5,0,5]");
    assert_starts(find(text, "kernels", "#1", "types", "l1/cycle", NULL),
                  "[500000,2000000,0.25,12,0,0,null,null]");
    assert_starts(find(text, "kernels", "#1", "types", "dram/bank", NULL), "[18446744073709551615,0,3,null]");
    assert_null(find(text, "kernels", "#0", "blocks", NULL));
    assert_null(find(text, "kernels", "#2", NULL));

    assert_starts(find(text, "host", "threads", NULL), "2,");
    assert_starts(find(text, "host", "wall_seconds", NULL), "1.5");
    assert_null(find(text, "run", "threads", NULL));
    assert_null(find(text, "run", "command", NULL));
    free(text);
    fixture_destroy(f);
}

/* On request kernels have each block that did something, and histograms their buckets. */
static void test_per_block(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    const export_options options = { .per_block = true };
    char *text = fixture_export(f, LS_EXPORT_JSON, &options);
    const char *end = text;
    skip_value(&end);
    assert_string_equal(end, "\n");
    assert_null(find(text, "kernels", "#0", "blocks", "gpu0.l1[1]", NULL));
    assert_starts(find(text, "kernels", "#0", "blocks", "gpu0.l1[0]", "wait", "buckets", NULL),
                  "{\"0\": 1, \"4\": 1}");
    assert_starts(find(text, "kernels", "#1", "blocks", "gpu0.l1[1]", "hit_rate", "value", NULL), "0.25,");
    assert_starts(find(text, "kernels", "#1", "types", "l1/cycle", NULL), "[500000,");
    free(text);
    fixture_destroy(f);
}

static void test_partial_and_odd_bytes(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    f->results.partial = true;
    f->results.partial_reason = "stopped\tearly";
    f->results.platform = "bad\xff\x01";
    fixture_mark(f->m, 9, "\xc3\x28", 0, 0);
    char *text = fixture_export(f, LS_EXPORT_JSON, NULL);
    const char *end = text;
    skip_value(&end);
    assert_starts(find(text, "partial", NULL), "true,");
    assert_starts(find(text, "partial_reason", NULL), "\"stopped\\tearly\",");
    assert_starts(find(text, "run", "platform", NULL), "\"bad\xef\xbf\xbd\\u0001\"");
    assert_starts(find(text, "kernels", "#2", "kernel", NULL), "9,");
    free(text);
    fixture_destroy(f);
}

static void test_warnings(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    fixture_warn(f);
    f->results.has_cycles = false;
    char *text = fixture_export(f, LS_EXPORT_JSON, NULL);
    const char *end = text;
    skip_value(&end);
    assert_string_equal(end, "\n");
    assert_starts(find(text, "warnings", "#0", "kind", NULL), "\"key\"");
    assert_starts(find(text, "warnings", "#0", "text", NULL),
                  "\"'a.b' has no effect: it needs \\\"c\\\", not \\\"d\\\"\"");
    assert_starts(find(text, "warnings", "#1", "kind", NULL), "\"unmodelled\"");
    assert_null(find(text, "warnings", "#2", NULL));
    assert_null(find(text, "run", "cycles", NULL)); /* a machine without kernels has none */
    free(text);
    fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_per_block),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_partial_and_odd_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
