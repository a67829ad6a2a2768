/* test_lines.c: source lines and inlined frames of a code object that clang compiled with -g. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "workload/hsa/lines.h"

#include <string.h>

typedef struct fixture {
    hsa_object *object;
    hsa_lines *lines;
    uint64_t entry;
} fixture;

static hsa_object *load(const char *path)
{
    mem_arena arena = { 0 };
    hsa_object *object;
    ls_error err;
    char *data;
    size_t bytes;
    assert_int_equal(file_read(&arena, path, HSA_FILE_LIMIT, &data, &bytes, &err), LS_OK);
    assert_int_equal(hsa_object_read(data, bytes, &object, &err), LS_OK);
    arena_fini(&arena);
    return object;
}

static int set_up(void **state)
{
    static fixture f;
    ls_error err;
    f.object = load(LS_SOURCE_DIR "/tests/data/debug/reverse.co");
    f.entry = f.object->kernels[0].entry;
    if (hsa_lines_read(f.object, &f.lines, &err) != LS_OK)
        fail_msg("%s", err.what);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    hsa_lines_destroy(f->lines);
    hsa_object_destroy(f->object);
    return 0;
}

static void test_find(void **state)
{
    const fixture *f = *state;
    hsa_place place;
    assert_true(hsa_lines_find(f->lines, f->entry, &place));
    assert_int_equal(place.line, 13);
    assert_string_equal(hsa_lines_base(place.file), "reverse.cl");
    assert_true(hsa_lines_find(f->lines, f->entry + 0x6c, &place));
    assert_int_equal(place.line, 5);
    assert_true(hsa_lines_find(f->lines, f->entry + 0xd4, &place));
    assert_int_equal(place.line, 18);
    assert_false(hsa_lines_find(f->lines, f->entry + 0xd8, &place));
    assert_false(hsa_lines_find(f->lines, 0, &place));
    assert_true(hsa_lines_is_start(f->lines, f->entry + 0x68));
    assert_false(hsa_lines_is_start(f->lines, f->entry + 0x6c));
}

static void test_starts(void **state)
{
    const fixture *f = *state;
    uint64_t at[4];
    uint32_t line = 17;
    assert_int_equal(hsa_lines_starts(f->lines, "reverse.cl", &line, at, 4), 1);
    assert_int_equal(at[0], f->entry + 0xa0);
    /* A line without code is the next one that has some; the inlined function has its line too. */
    line = 11;
    assert_int_equal(hsa_lines_starts(f->lines, "reverse.cl", &line, at, 4), 1);
    assert_int_equal(line, 13);
    line = 5;
    assert_true(hsa_lines_starts(f->lines, "reverse.cl", &line, at, 4) >= 1);
    line = 19;
    assert_int_equal(hsa_lines_starts(f->lines, "reverse.cl", &line, at, 4), 0);
    line = 5;
    assert_int_equal(hsa_lines_starts(f->lines, "everse.cl", &line, at, 4), 0);
}

static void test_frames(void **state)
{
    const fixture *f = *state;
    hsa_frame frames[4];
    assert_int_equal(hsa_lines_frames(f->lines, f->entry + 0x6c, frames, 4), 2);
    assert_string_equal(frames[0].name, "scale");
    assert_true(frames[0].is_inlined);
    assert_int_equal(frames[0].at.line, 5);
    assert_string_equal(frames[1].name, "reverse");
    assert_false(frames[1].is_inlined);
    assert_int_equal(frames[1].at.line, 14);
    assert_int_equal(hsa_lines_frames(f->lines, f->entry, frames, 4), 1);
    assert_int_equal(hsa_lines_frames(f->lines, 0, frames, 4), 0);
}

static void test_without(void **state)
{
    (void)state;
    hsa_object *object = load(LS_SOURCE_DIR "/workloads/prebuilt/gfx1030/fir.co");
    hsa_lines *lines;
    ls_error err;
    assert_int_equal(hsa_lines_read(object, &lines, &err), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "compile the kernels with -g"));
    hsa_object_destroy(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_starts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frames, set_up, tear_down),
        cmocka_unit_test(test_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
