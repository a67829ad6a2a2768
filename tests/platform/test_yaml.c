/* test_yaml.c: the strict YAML reader: values, their positions, refusals. */
#include "platform/load.h"

#include "base/text.h"
#include "platform/yaml.h"

typedef struct fixture {
    mem_arena arena;
    config_problems problems;
    yaml_document yaml;
} fixture;

static int set_up(void **state)
{
    *state = calloc(1, sizeof(fixture));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    arena_fini(&f->arena);
    problems_fini(&f->problems);
    free(f);
    return 0;
}

static void read_bytes(fixture *f, const char *text, size_t bytes)
{
    source_place place = { .file = "f" };
    problems_fini(&f->problems);
    /* An exact copy on the heap: one byte too many is seen by the address sanitizer. */
    char *copy = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, text, bytes);
    yaml_read(&f->arena, &place, copy, bytes, &f->yaml, &f->problems);
    free(copy);
}

static void read_good(fixture *f, const char *text)
{
    char line[1024];
    read_bytes(f, text, strlen(text));
    if (f->problems.count > 0)
        fail_msg("%s", ls_error_text(&f->problems.at[0].error, line, sizeof line));
    assert_false(problems_any(&f->problems));
    assert_true(f->yaml.complete);
}

static void expect_problem_bytes(fixture *f, const char *text, size_t bytes, const char *expected)
{
    char line[1024];
    read_bytes(f, text, bytes);
    assert_true(f->problems.count > 0);
    assert_string_equal(ls_error_text(&f->problems.at[0].error, line, sizeof line), expected);
    assert_int_equal(f->problems.at[0].error.status, LS_ERR_INPUT);
}

static void expect_problem(fixture *f, const char *text, const char *expected)
{
    expect_problem_bytes(f, text, strlen(text), expected);
}

static const yaml_entry *entry(const fixture *f, size_t i, const char *path)
{
    assert_true(i < f->yaml.count);
    assert_string_equal(f->yaml.entries[i].path, path);
    return &f->yaml.entries[i];
}

static void expect_scalar(const fixture *f, size_t i, const char *path, const char *text)
{
    const yaml_entry *e = entry(f, i, path);
    assert_false(e->list);
    assert_int_equal(e->item_count, 1);
    assert_string_equal(e->items[0].text, text);
}

static void test_nested_keys_join_with_dots(void **state)
{
    fixture *f = *state;
    read_good(f, "a: 1\ncore:\n  l1: {size: 64, ways: 4}\n  l2.size: 8\nb.c: x\n");
    assert_int_equal(f->yaml.count, 5);
    expect_scalar(f, 0, "a", "1");
    expect_scalar(f, 1, "core.l1.size", "64");
    expect_scalar(f, 2, "core.l1.ways", "4");
    expect_scalar(f, 3, "core.l2.size", "8");
    expect_scalar(f, 4, "b.c", "x");
}

static void test_places(void **state)
{
    fixture *f = *state;
    read_good(f, "a: 1\nm\xc3\xbc: {b:   2}\r\nc:\n  - 3\n  -   4\n");
    const yaml_entry *b = entry(f, 1, "m\xc3\xbc.b");
    assert_int_equal(b->line, 2);
    assert_int_equal(b->column, 6);
    assert_int_equal(b->items[0].line, 2);
    assert_int_equal(b->items[0].column, 11);
    const yaml_entry *c = entry(f, 2, "c");
    assert_true(c->list);
    assert_int_equal(c->item_count, 2);
    assert_int_equal(c->items[1].line, 5);
    assert_int_equal(c->items[1].column, 7);
}

static void test_scalar_styles(void **state)
{
    fixture *f = *state;
    read_good(f, "a: '64'\nb: \"x\\ty\"\nc: |\n  two\n  lines\nd: on\ne: \"\"\nf: []\n");
    assert_true(entry(f, 0, "a")->items[0].quoted);
    expect_scalar(f, 1, "b", "x\ty");
    expect_scalar(f, 2, "c", "two\nlines\n");
    expect_scalar(f, 3, "d", "on");
    assert_false(entry(f, 3, "d")->items[0].quoted);
    expect_scalar(f, 4, "e", "");
    assert_true(entry(f, 5, "f")->list);
    assert_int_equal(entry(f, 5, "f")->item_count, 0);
}

static void test_comments(void **state)
{
    fixture *f = *state;
    read_good(f, "a: 1 # datasheet, p. 4  \n"
                 "b: \"# not\" # but this\n"
                 "c: 'x # y'\n"
                 "d: [1, 2,  # first\n"
                 "    3]     # last\n"
                 "e: {f: 1, g: 2} # both\n"
                 "h: # of a block list\n"
                 "  - 1\n"
                 "  - 2\n"
                 "i: don't   #   it's\n"
                 "j: a#b\n"
                 "k: |  # header\n"
                 "  # text\n"
                 "# alone\n"
                 "\xc3\xbc: \"\xc3\xbc\" # \xc3\xbc\n"
                 "l: 2##3\n"
                 "m: 3 #\n"
                 "n: \"two\n"
                 "  # lines\" # end\n");
    static const struct {
        const char *path, *comment;
    } expected[] = { { "a", "datasheet, p. 4" },
                     { "b", "but this" },
                     { "c", "" },
                     { "d", "last" },
                     { "e.f", "both" },
                     { "e.g", "both" },
                     { "h", "of a block list" },
                     { "i", "it's" },
                     { "j", "" },
                     { "k", "" },
                     { "\xc3\xbc", "\xc3\xbc" },
                     { "l", "" },
                     { "m", "" },
                     { "n", "end" } };
    assert_int_equal(f->yaml.count, LS_COUNT_OF(expected));
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++)
        assert_string_equal(entry(f, i, expected[i].path)->comment, expected[i].comment);
}

static void test_document_frame(void **state)
{
    fixture *f = *state;
    read_good(f, "\xef\xbb\xbf%YAML 1.1\n---\na: 1\n...\n");
    expect_scalar(f, 0, "a", "1");
    expect_problem(f, "", "f:1:1: the file is empty");
    expect_problem(f, "# only a comment\n", "f:2:1: the file is empty");
    expect_problem(f, "---\n", "f:2:1: the file is empty");
    expect_problem(f, "just text\n", "f:1:1: a platform file must be a mapping of keys to values");
    expect_problem(f, "- a\n- b\n", "f:1:1: a platform file must be a mapping of keys to values");
    expect_problem(f, "a: 1\n---\nb: 2\n", "f:2:1: a platform file must hold one document only");
    assert_false(f->yaml.complete);
}

static void test_duplicates(void **state)
{
    fixture *f = *state;
    expect_problem(f, "a: 1\nb: 2\na: 3\n", "f:3:1: duplicate key 'a', first set on line 1");
    expect_problem(f, "a:\n  b: 1\na.b: 2\n", "f:3:1: duplicate key 'a.b', first set on line 2");
    expect_problem(f, "a: {b: 1}\na: {c: 1}\n", "f:2:1: duplicate key 'a', first set on line 1");
    expect_problem(f, "a: 1\n\"a\": 1\n", "f:2:1: duplicate key 'a', first set on line 1");
    assert_true(f->yaml.complete);
}

static void test_decorations_are_refused(void **state)
{
    fixture *f = *state;
    expect_problem(f, "a: &x 1\n", "f:1:4: anchors are not allowed in a platform file: '&x'");
    expect_problem(f, "a: *x\n", "f:1:4: aliases are not allowed in a platform file: '*x'");
    expect_problem(f, "a: !!int 1\n",
                   "f:1:4: tags are not allowed in a platform file: 'tag:yaml.org,2002:int'");
    expect_problem(f, "a: !x [1]\n", "f:1:4: tags are not allowed in a platform file: '!x'");
    expect_problem(f, "&x a: 1\n", "f:1:1: anchors are not allowed in a platform file: '&x'");
    expect_problem(f, "%TAG !e! tag:e,2000:\n---\na: 1\n",
                   "f:1:1: tags are not allowed in a platform file: '%TAG'");
    expect_problem(f, "a: 1\n<<: *x\n", "f:2:5: aliases are not allowed in a platform file: '*x'");
    assert_true(entry(f, 1, "<<")->broken);
}

static void test_values_must_be_there(void **state)
{
    fixture *f = *state;
    expect_problem(f, "a:\n", "f:1:3: 'a' has no value");
    expect_problem(f, "a: ~\n", "f:1:4: 'a' has no value");
    expect_problem(f, "a: null\n", "f:1:4: 'a' has no value");
    expect_problem(f, "a: {}\n", "f:1:1: 'a' has no value");
    expect_problem(f, "a: [1, ]\nb: [1, ~]\n", "f:2:8: 'b' has no value");
    expect_problem(f, "a: \"x\\0y\"\n", "f:1:4: the value of 'a' contains a NUL character");
    expect_problem(f, "\"x\\0y\": 1\n", "f:1:1: the key 'x\\x00y' contains a NUL character");
}

static void test_shapes_that_are_refused(void **state)
{
    fixture *f = *state;
    expect_problem(f, "a: [1, [2, 3], 4]\n", "f:1:8: an element of 'a' must be a single value, not a list");
    assert_true(entry(f, 0, "a")->broken);
    expect_problem(f, "a: [{b: 1}]\n", "f:1:5: an element of 'a' must be a single value, not a mapping");
    expect_problem(f, "? [a, b]\n: 1\nc: 2\n", "f:1:3: a key must be a name, not a list");
    expect_scalar(f, 0, "c", "2");
    expect_problem(f, "a..b: 1\n", "f:1:1: the key 'a..b' has an empty part");
    expect_problem(f, ".a: 1\n", "f:1:1: the key '.a' has an empty part");
    expect_problem(f, "a.: 1\n", "f:1:1: the key 'a.' has an empty part");
    expect_problem(f, "\"\": 1\n", "f:1:1: the key '' has an empty part");
}

static void test_broken_syntax(void **state)
{
    fixture *f = *state;
    expect_problem(f, "a: {b: 1\n",
                   "f:2:1: not valid YAML: the file ends too early: did not find expected ',' or '}' (while "
                   "parsing a flow mapping from line 1 on)");
    expect_problem(f, "a: \"x\n",
                   "f:2:1: not valid YAML: the file ends too early: found unexpected end of stream (while "
                   "scanning a quoted scalar from line 1 on)");
    expect_problem(
        f, "a: 1\nb\nc: 2\n",
        "f:3:1: not valid YAML: could not find expected ':' (while scanning a simple key from line 2 "
        "on)");
    expect_problem(f, "a: 1\n\tb: 2\n",
                   "f:2:1: not valid YAML: found a tab character that violates indentation (while scanning a "
                   "plain scalar from line 1 on)");
    assert_false(f->yaml.complete);
}

static void test_bytes_that_are_refused(void **state)
{
    fixture *f = *state;
    expect_problem_bytes(f, "a: 1\nb: \0\n", 10, "f:2:4: the file contains a NUL byte");
    expect_problem(f, "a: \xff\n", "f:1:4: the file is not UTF-8 (byte 0xff)");
    expect_problem(f, "a: \xc3\xbc\xc0\x80\n", "f:1:5: the file is not UTF-8 (byte 0xc0)");
    expect_problem(f, "a: 1\nb: x\x01y\n", "f:2:5: not valid YAML: control characters are not allowed");
}

static void test_nesting_limit(void **state)
{
    fixture *f = *state;
    static const char opening[] = "a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {";
    char text[256];
    snprintf(text, sizeof text, "%sa: 1}}}}}}}}}}}}}}}", opening);
    read_good(f, text);
    expect_scalar(f, 0, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", "1");
    char deeper[300];
    snprintf(deeper, sizeof deeper, "a: {%s}", text);
    expect_problem(f, deeper, "f:1:64: nested more than 16 levels deep");
    memset(text, '[', 100);
    memcpy(text, "a: ", 3);
    text[100] = '\0';
    expect_problem(f, text, "f:1:5: an element of 'a' must be a single value, not a list");
    char line[256];
    assert_string_equal(ls_error_text(&f->problems.at[1].error, line, sizeof line),
                        "f:1:19: nested more than 16 levels deep");
}

static void test_long_keys_and_files(void **state)
{
    fixture *f = *state;
    char key[301] = "", text[320], expected[256];
    memset(key, 'k', 300);
    snprintf(text, sizeof text, "%s: 1\n", key);
    snprintf(expected, sizeof expected, "f:1:1: a key is longer than 255 bytes: '%.76s...'", key);
    expect_problem(f, text, expected);

    size_t bytes = LS_YAML_FILE_LIMIT + 1;
    char *large = malloc(bytes);
    assert_non_null(large);
    memset(large, ' ', bytes);
    expect_problem_bytes(f, large, bytes, "f: the file is larger than 1048576 bytes");
    free(large);
}

/* Many problems cost only as much as the list can hold. */
static void test_problems_are_bounded(void **state)
{
    fixture *f = *state;
    text_buffer text = { 0 };
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "a%d:\n", i);
    read_bytes(f, text_get(&text), text.count);
    assert_int_equal(f->problems.count, LS_PROBLEM_LIMIT);
    assert_int_equal(f->problems.lost, 1000 - LS_PROBLEM_LIMIT);
    text_fini(&text);
}

/* Each line is searched for its comment once: with a search per key this would take minutes. */
static void test_many_keys_on_one_line(void **state)
{
    fixture *f = *state;
    text_buffer text = { 0 };
    text_add(&text, "{");
    for (int i = 0; i < 80000; i++)
        text_printf(&text, "k%d: 1,", i);
    text_add(&text, "} # all of them\n");
    read_good(f, text_get(&text));
    assert_int_equal(f->yaml.count, 80000);
    assert_string_equal(entry(f, 79999, "k79999")->comment, "all of them");
    text_fini(&text);
}

static void test_quote_reads_back(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = { "",
                                         "plain",
                                         "it's \"quoted\" \\ # no",
                                         "two\nlines\tand \x01\x7f",
                                         "\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xef\xbf\xbf",
                                         "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80",
                                         "end \xc2\x85" };
    for (size_t i = 0; i < LS_COUNT_OF(texts); i++) {
        text_buffer text = { 0 };
        text_add(&text, "a: ");
        yaml_quote(&text, texts[i]);
        read_good(f, text_get(&text));
        expect_scalar(f, 0, "a", texts[i]);
        text_fini(&text);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nested_keys_join_with_dots),
        TEST(test_places),
        TEST(test_scalar_styles),
        TEST(test_comments),
        TEST(test_document_frame),
        TEST(test_duplicates),
        TEST(test_decorations_are_refused),
        TEST(test_values_must_be_there),
        TEST(test_shapes_that_are_refused),
        TEST(test_broken_syntax),
        TEST(test_bytes_that_are_refused),
        TEST(test_nesting_limit),
        TEST(test_long_keys_and_files),
        TEST(test_problems_are_bounded),
        TEST(test_many_keys_on_one_line),
        TEST(test_quote_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
