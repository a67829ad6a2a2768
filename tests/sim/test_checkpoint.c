/* test_checkpoint.c: the file of a checkpoint: what is written is read, damage of any byte is one clear line, and the file
 * before stays. The options of a simulation as bytes. Whole simulations: tests/e2e/test_checkpoint.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "sim/checkpoint.h"
#include "sim/session_checkpoint.h"
#include "workload/temp_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "run.ck"; /* in a directory of this test */

static void write_file(const char *text)
{
    checkpoint_writer *w;
    ls_error err;
    uint64_t zeros[4096] = { 0 };
    assert_int_equal(checkpoint_create(&w, &err), LS_OK);
    checkpoint_add(w, "text", text, strlen(text));
    checkpoint_add(w, "zeros", zeros, sizeof zeros);
    checkpoint_add(w, "empty", NULL, 0);
    assert_int_equal(checkpoint_write(w, path, &err), LS_OK);
    checkpoint_destroy(w);
}

static void test_round_trip(void **state)
{
    checkpoint_reader *r;
    ls_error err;
    const void *bytes;
    size_t size;
    (void)state;
    write_file("one");
    write_file("two"); /* replaces it */
    assert_int_equal(checkpoint_open(path, &r, &err), LS_OK);
    assert_int_equal(checkpoint_find(r, "text", &bytes, &size, &err), LS_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "two", 3);
    assert_int_equal(checkpoint_find(r, "zeros", &bytes, &size, &err), LS_OK);
    assert_int_equal(size, 4096 * 8);
    checkpoint_drop(r, "zeros");
    assert_int_equal(checkpoint_find(r, "zeros", &bytes, &size, &err), LS_OK);
    assert_int_equal(checkpoint_find(r, "empty", &bytes, &size, &err), LS_OK);
    assert_int_equal(size, 0);
    assert_true(checkpoint_has(r, "text"));
    assert_false(checkpoint_has(r, "tex"));
    assert_int_equal(checkpoint_find(r, "engine", &bytes, &size, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "has no section 'engine'"));
    checkpoint_close(r);
}

static ls_status open_bytes(const char *data, size_t bytes, ls_error *err)
{
    checkpoint_reader *r;
    FILE *file = fopen(path, "wb"); /* without waiting for the disk */
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    ls_status status = checkpoint_open(path, &r, err);
    assert_true((status == LS_OK) == (r != NULL));
    checkpoint_close(r);
    return status;
}

/* Every byte counts, and so does every length. */
static void test_damage(void **state)
{
    mem_arena arena = { 0 };
    ls_error err;
    char *data;
    size_t bytes;
    (void)state;
    write_file("a text that is not long");
    assert_int_equal(file_read(&arena, path, 1 << 20, &data, &bytes, &err), LS_OK);
    assert_int_equal(open_bytes(data, bytes, &err), LS_OK);
    for (size_t i = 0; i < bytes; i++) {
        data[i] ^= (char)(1 << i % 8);
        assert_int_equal(open_bytes(data, bytes, &err), LS_ERR_INPUT);
        assert_null(strchr(err.what, '\n'));
        data[i] ^= (char)(1 << i % 8);
        assert_int_equal(open_bytes(data, i, &err), LS_ERR_INPUT);
    }
    data[8] ^= 3; /* the version */
    assert_int_equal(open_bytes(data, bytes, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "has version 7 of the format; this is 4"));
    arena_fini(&arena);
}

static void test_previous_stays(void **state)
{
    checkpoint_writer *w;
    ls_error err;
    (void)state;
    write_file("before");
    assert_int_equal(checkpoint_create(&w, &err), LS_OK);
    checkpoint_add(w, "a name that is far too long for a section of a checkpoint", "x", 1);
    assert_int_equal(checkpoint_write(w, path, &err), LS_ERR_INTERNAL);
    checkpoint_destroy(w);
    checkpoint_reader *r;
    assert_int_equal(checkpoint_open(path, &r, &err), LS_OK);
    checkpoint_close(r);
}

/* Every byte of the options is a member of the table: other bytes give other saved bytes. */
static void test_options_are_whole(void **state)
{
    static const char *const texts[] = { "a", "b" };
    static const ls_sim_setting settings[] = { { "n", 3 }, { NULL, 4 } };
    ls_sim_options o, back;
    mem_arena arena = { 0 };
    bytes_out out = { 0 }, again = { 0 };
    ls_error err;
    (void)state;
    memset(&o, 0, sizeof o);
    o = (ls_sim_options){ .size = sizeof o,
                          .platform = "p",
                          .sets = texts,
                          .set_count = 2,
                          .fidelity = "basic",
                          .plugins = texts,
                          .plugin_count = 1,
                          .seed = 9,
                          .workload = "w",
                          .kernels = "1-2",
                          .cta_limit = 7,
                          .profile = "auto",
                          .warm_l2 = true,
                          .unknown_as_alu = true,
                          .skip_unmodelled = true,
                          .gpu = "g",
                          .settings = settings,
                          .setting_count = 2,
                          .variant = "v",
                          .verify = true,
                          .strict = true,
                          .memory_bytes = 5,
                          .max_instructions = 6,
                          .record = "r",
                          .kernel = "k",
                          .grid = "1",
                          .group = "2",
                          .offset = "3",
                          .args = texts,
                          .arg_count = 2,
                          .prints = texts,
                          .print_count = 1,
                          .dumps = texts,
                          .dump_count = 1,
                          .gpus = 4,
                          .on = "gpu1",
                          .devices = "unified",
                          .spread = "blocked",
                          .pages = "one",
                          .timeline = "t",
                          .timeline_format = "f",
                          .timeline_filters = texts,
                          .timeline_filter_count = 2,
                          .check_memory = true,
                          .source = true,
                          .platform_dirs = texts,
                          .platform_dir_count = 2 };
    checkpoint_put_options(&out, &o);
    bytes_in in = { .at = out.bytes.at, .end = out.bytes.at + out.bytes.count };
    assert_int_equal(checkpoint_get_options(&in, &arena, &back, &err), LS_OK);
    assert_true(bytes_at_end(&in));
    checkpoint_put_options(&again, &back);
    assert_int_equal(out.bytes.count, again.bytes.count);
    assert_memory_equal(out.bytes.at, again.bytes.at, out.bytes.count);
    assert_string_equal(back.timeline_filters[1], "b");
    assert_int_equal(back.settings[1].value, 4);
    assert_null(back.settings[1].name);
    assert_int_equal(back.gpus, 4);
    /* A member that nobody put into the table would stay zero. */
    for (size_t at = sizeof(size_t); at < sizeof o; at += sizeof(uint32_t)) {
        uint32_t word, saved;
        memcpy(&word, (const char *)&o + at, sizeof word);
        memcpy(&saved, (const char *)&back + at, sizeof saved);
        assert_true(word == 0 || saved != 0);
    }
    /* Cut anywhere: found, and nothing is read behind the end. */
    for (size_t i = 0; i < out.bytes.count; i++) {
        bytes_in cut = { .at = out.bytes.at, .end = out.bytes.at + i };
        (void)checkpoint_get_options(&cut, &arena, &back, &err);
        assert_false(bytes_at_end(&cut));
    }
    vec_fini(&out.bytes);
    vec_fini(&again.bytes);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_previous_stays),
        cmocka_unit_test(test_options_are_whole),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
