/* test_shipped.c: the tables of shipped platform files say what the YAML reader says. */
#include "platform/load.h"

#include "base/file.h"
#include "platform/shipped.h"

#include <glob.h>

static void assert_same_item(const yaml_item *a, const yaml_item *b)
{
    assert_string_equal(a->text, b->text);
    assert_int_equal(a->quoted, b->quoted);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->column, b->column);
}

static void assert_same_entry(const yaml_entry *a, const yaml_entry *b)
{
    assert_string_equal(a->path, b->path);
    assert_int_equal(a->element, b->element);
    assert_null(a->scope);
    assert_int_equal(a->list, b->list);
    assert_int_equal(a->broken, b->broken);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->column, b->column);
    assert_string_equal(a->comment, b->comment);
    assert_int_equal(a->item_count, b->item_count);
    for (size_t i = 0; i < a->item_count; i++)
        assert_same_item(&a->items[i], &b->items[i]);
}

static void check_file(const char *path)
{
    mem_arena arena = { 0 };
    config_problems problems = { 0 };
    source_place place = { .file = path };
    yaml_document read, shipped;
    char *text;
    size_t bytes;
    assert_int_equal(file_read(&arena, path, LS_YAML_FILE_LIMIT, &text, &bytes, NULL), LS_OK);
    yaml_read(&arena, &place, text, bytes, &read, &problems);
    if (!shipped_read(&arena, text, bytes, &shipped, &problems))
        fail_msg("%s is not in the tables", path);
    assert_false(problems_any(&problems));
    assert_true(shipped.complete);
    assert_int_equal(shipped.count, read.count);
    for (size_t i = 0; i < read.count; i++)
        assert_same_entry(&shipped.entries[i], &read.entries[i]);
    /* A changed file is another one. */
    text[bytes / 2] ^= 1;
    assert_false(shipped_read(&arena, text, bytes, &shipped, &problems));
    text[bytes / 2] ^= 1;
    assert_false(shipped_read(&arena, text, bytes - 1, &shipped, &problems));
    problems_fini(&problems);
    arena_fini(&arena);
}

static void test_every_file(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(LS_SOURCE_DIR "/platforms/*.yaml", 0, NULL, &files), 0);
    assert_int_equal(files.gl_pathc, shipped_platforms.file_count);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_file(files.gl_pathv[i]);
    globfree(&files);
}

/* Two readers of the same file do not share what they may change. */
static void test_entries_are_copies(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    config_problems problems = { 0 };
    yaml_document one, two;
    char *text;
    size_t bytes;
    assert_int_equal(file_read(&arena, LS_SOURCE_DIR "/platforms/rtx3070.yaml", LS_YAML_FILE_LIMIT, &text,
                               &bytes, NULL),
                     LS_OK);
    assert_true(shipped_read(&arena, text, bytes, &one, &problems));
    assert_true(shipped_read(&arena, text, bytes, &two, &problems));
    assert_ptr_not_equal(one.entries, two.entries);
    assert_ptr_not_equal(one.entries[0].items, two.entries[0].items);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_entries_are_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
