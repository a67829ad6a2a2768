/* test_migrate_map.c: ranges and pages of the directory, and the functions for the driver. */
#include "migrate_mix.h"

#define KIB UINT64_C(1024)

static const char *const *const checked = (const char *const[]){ "check=true", NULL };

static void open_with(const char *model, uint32_t gpus, const char *const *sets)
{
    memset(&r, 0, sizeof r);
    r.gpus = gpus;
    r.pace = r.hot = 1;
    mrig_open(&r, model, sets, "full");
}

static void expect_place(uint64_t address, uint64_t bytes, uint32_t place, uint64_t run)
{
    uint32_t got;
    uint64_t frame, got_run;
    assert_true(migrate_find(r.directory, address, bytes, &got, &frame, &got_run));
    assert_int_equal(got, place);
    assert_int_equal(got_run, run);
    uint32_t line = mrig_line_at(&r, address & ~UINT64_C(63));
    assert_int_equal(frame, mrig_frame(&r, place, line) + address % 64);
}

static void expect_error(ls_status status, const ls_error *err, const char *text)
{
    assert_int_not_equal(status, LS_OK);
    if (strstr(err->what, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, err->what);
}

static void test_find(void **state)
{
    (void)state;
    uint32_t place;
    uint64_t frame, run;
    open_with("esi", 3, checked);
    uint64_t a = r.range[0].address, b = r.range[1].address;
    expect_place(a + 100, 8192, 0, 8192);
    expect_place(a + MRIG_BLOCK - 10, 8192, 0, 10);
    expect_place(b, UINT64_C(1) << 30, 2, MRIG_BLOCK);
    assert_false(migrate_find(r.directory, a - 1, 1, &place, &frame, &run));
    assert_false(migrate_find(r.directory, a + MRIG_BLOCK, 1, &place, &frame, &run));
    assert_false(migrate_find(r.directory, 0, 1, &place, &frame, &run));
    assert_true(migrate_is_idle(r.directory));
    mrig_close(&r);
}

/* Pages of every model begin and end where the driver says. */
static void test_set_place(void **state)
{
    (void)state;
    static const char *const models[] = { "page", "esi", "split" };
    for (uint32_t i = 0; i < LS_COUNT_OF(models); i++) {
        ls_error err = { 0 };
        open_with(models[i], 3, checked);
        uint64_t a = r.range[0].address;
        assert_int_equal(migrate_set_place(r.directory, a + 12 * KIB, 8 * KIB, 1, &err), LS_OK);
        assert_int_equal(migrate_set_place(r.directory, a + 20 * KIB, 4 * KIB, MEM_PLACE_HOST, &err), LS_OK);
        expect_place(a, MRIG_BLOCK, 0, 12 * KIB);
        expect_place(a + 12 * KIB, MRIG_BLOCK, 1, 8 * KIB);
        expect_place(a + 20 * KIB, MRIG_BLOCK, MEM_PLACE_HOST, 4 * KIB);
        expect_place(a + 24 * KIB, MRIG_BLOCK, 0, MRIG_BLOCK - 24 * KIB);
        assert_int_equal(mrig_directory(&r)->resident[0], MRIG_BLOCK - 12 * KIB);
        assert_int_equal(mrig_directory(&r)->resident[1], 8 * KIB);
        mrig_check_pages(&r);
        assert_int_equal(migrate_set_place(r.directory, a, MRIG_BLOCK, 2, &err), LS_OK);
        expect_place(a, MRIG_BLOCK, 2, MRIG_BLOCK);
        mrig_check_pages(&r);
        if (i == 2) /* split: it is one page again */
            assert_int_equal(mrig_directory(&r)->sizes[dir_find(mrig_directory(&r), a)], 21);
        expect_error(migrate_set_place(r.directory, a + 100, 4096, 1, &err), &err, "not whole pages");
        expect_error(migrate_set_place(r.directory, a, 2 * MRIG_BLOCK, 1, &err), &err,
                     "not inside one managed range");
        expect_error(migrate_set_place(r.directory, 4096, 4096, 1, &err), &err,
                     "not inside one managed range");
        expect_error(migrate_set_place(r.directory, a, 4096, 3, &err), &err, "the system has 3 GPUs");
        mrig_close(&r);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    ls_error err = { 0 };
    open_with("split", 2, checked);
    migrate_range more = r.range[1];
    expect_error(migrate_add_range(r.directory, &more, 0, &err), &err, "overlaps");
    more.address += MRIG_BLOCK / 2;
    expect_error(migrate_add_range(r.directory, &more, 0, &err), &err, "not of whole 2 MiB");
    more.address = mem_place_virtual(5, LS_WINDOW_BASE);
    more.bytes = 40 * MRIG_BLOCK;
    expect_error(migrate_add_range(r.directory, &more, 2, &err), &err, "cannot lie on GPU 2");
    assert_int_equal(migrate_add_range(r.directory, &more, 1, &err), LS_OK); /* arrays grow */
    assert_int_equal(mrig_directory(&r)->range_count, 3);
    expect_place(r.range[0].address, 1, 0, 1);
    assert_int_equal(mrig_directory(&r)->resident[1], 41 * MRIG_BLOCK);
    /* The units of a range that is gone are used again. */
    assert_int_equal(migrate_remove_range(r.directory, r.range[0].address, &err), LS_OK);
    assert_int_equal(mrig_directory(&r)->resident[0], 0);
    expect_error(migrate_remove_range(r.directory, r.range[0].address, &err), &err,
                 "no managed memory begins at");
    uint32_t room = mrig_directory(&r)->unit_room;
    assert_int_equal(migrate_add_range(r.directory, &r.range[0], 1, &err), LS_OK);
    assert_int_equal(dir_find_range(mrig_directory(&r), r.range[0].address)->first_unit, 0);
    assert_int_equal(mrig_directory(&r)->unit_room, room);
    expect_place(r.range[0].address, 1, 1, 1);
    mrig_close(&r);
}

/* Memory that no program uses has pages of its own, which never merge with others. */
static void test_unused(void **state)
{
    (void)state;
    ls_error err = { 0 };
    open_with("split", 2, checked);
    const directory *d = mrig_directory(&r);
    migrate_range more = r.range[0];
    more.address = mem_place_virtual(5, LS_WINDOW_BASE);
    more.used = 70 * KIB - 5; /* pages of 64, 4 and 2 KiB */
    assert_int_equal(migrate_add_range(r.directory, &more, 0, &err), LS_OK);
    static const uint64_t begin[] = { 0, 64, 68, 70, 72, 80, 96, 128, 256, 512, 1024, 2048 };
    for (uint32_t i = 0; i + 1 < LS_COUNT_OF(begin); i++) {
        uint32_t unit = dir_find(d, more.address + begin[i] * KIB);
        assert_int_equal(d->pages[unit].address, more.address + begin[i] * KIB);
        assert_int_equal(dir_page_bytes(d, unit), (begin[i + 1] - begin[i]) * KIB);
        assert_int_equal((d->pages[unit].flags & DIR_UNUSED) != 0, begin[i] >= 70);
    }
    assert_int_equal(migrate_set_place(r.directory, more.address, 128 * KIB, 1, &err), LS_OK);
    assert_int_equal(d->sizes[dir_find(d, more.address)], 16);
    assert_int_equal(d->resident[1], MRIG_BLOCK + 128 * KIB);
    mrig_close(&r);
    open_with("esi", 2, (const char *const[]){ "page_kib=64", NULL });
    assert_int_equal(migrate_add_range(r.directory, &more, 0, &err), LS_OK);
    assert_int_equal(migrate_set_place(r.directory, more.address + 64 * KIB, 6 * KIB, 1, &err), LS_OK);
    assert_int_equal(mrig_directory(&r)->resident[1], MRIG_BLOCK + 64 * KIB);
    expect_error(migrate_set_place(r.directory, more.address, 68 * KIB, 1, &err), &err,
                 "migrate.page_kib is 64");
    mrig_close(&r);
}

/* A GPU holds no more than its capacity: the rest begins on the host, and what comes later drives pages out. */
static void test_capacity(void **state)
{
    (void)state;
    ls_error err = { 0 };
    open_with("page", 2, (const char *const[]){ "capacity_mib=1", "check=true", NULL });
    uint64_t a = r.range[0].address, half = MRIG_BLOCK / 2;
    expect_place(a, MRIG_BLOCK, 0, half);
    expect_place(a + half, MRIG_BLOCK, MEM_PLACE_HOST, half);
    assert_int_equal(migrate_move(r.directory, a + half, 64 * KIB, 0, &err), LS_OK);
    mrig_run_ok(&r, 1);
    assert_true(migrate_is_idle(r.directory));
    expect_place(a + half, MRIG_BLOCK, 0, 64 * KIB);
    assert_int_equal(mrig_directory(&r)->n.spills, 16);
    mrig_check_pages(&r);
    mrig_close(&r);
    open_with("page", 2, (const char *const[]){ "start=host", NULL });
    expect_place(r.range[0].address, MRIG_BLOCK, MEM_PLACE_HOST, MRIG_BLOCK);
    mrig_close(&r);
}

/* Pages move with their numbers, to GPUs and to the host, however they lie. */
static void test_move(void **state)
{
    (void)state;
    static const char *const models[] = { "page", "esi", "split" };
    for (uint32_t i = 0; i < LS_COUNT_OF(models); i++) {
        ls_error err = { 0 };
        open_with(models[i], 3, checked);
        uint64_t a = r.range[0].address;
        for (uint32_t line = 0; line < MRIG_LINES / 2; line++)
            r.newest[line] = mrig_gpu_at(&r, 0)->memory[line] = line + 1;
        assert_int_equal(migrate_move(r.directory, a + 4 * KIB, 64 * KIB, 1, &err), LS_OK);
        assert_false(migrate_is_idle(r.directory));
        expect_error(migrate_remove_range(r.directory, a, &err), &err, "on their way");
        mrig_run_ok(&r, 1);
        assert_true(migrate_is_idle(r.directory));
        assert_int_equal(migrate_move(r.directory, a, 12 * KIB, MEM_PLACE_HOST, &err), LS_OK);
        assert_int_equal(migrate_move(r.directory, a + 32 * KIB, 4 * KIB, 2, &err), LS_OK);
        mrig_run_ok(&r, 1);
        expect_place(a, MRIG_BLOCK, MEM_PLACE_HOST, 12 * KIB);
        expect_place(a + 12 * KIB, MRIG_BLOCK, 1, 20 * KIB);
        expect_place(a + 32 * KIB, MRIG_BLOCK, 2, 4 * KIB);
        expect_place(a + 36 * KIB, MRIG_BLOCK, 1, 32 * KIB);
        expect_place(a + 68 * KIB, MRIG_BLOCK, 0, MRIG_BLOCK - 68 * KIB);
        for (uint32_t line = 0; line < 128 * KIB / 64; line++)
            assert_int_equal(mrig_value(&r, line), line + 1);
        mrig_check_pages(&r);
        assert_int_equal(migrate_remove_range(r.directory, a, &err), LS_OK);
        mrig_close(&r);
    }
}

/* A page that a GPU was granted can only be moved. A range whose pages are on their way stays. */
static void test_in_use(void **state)
{
    (void)state;
    ls_error err = { 0 };
    open_with("esi", 2, checked);
    r.threads = r.accesses = 1;
    r.write_percent = 100;
    mrig_start(&r);
    mrig_run_ok(&r, 1);
    expect_error(migrate_set_place(r.directory, r.range[0].address, 4096, 1, &err), &err,
                 "it can only be moved");
    assert_int_equal(migrate_move(r.directory, r.range[0].address, 4096, MEM_PLACE_HOST, &err), LS_OK);
    mrig_run_ok(&r, 1);
    expect_place(r.range[0].address, 8192, MEM_PLACE_HOST, 4096);
    assert_int_equal(mrig_value(&r, mrig_gpu_at(&r, 0)->threads[0].line),
                     r.newest[mrig_gpu_at(&r, 0)->threads[0].line]);
    mrig_close(&r);
    open_with("page", 2, checked);
    r.threads = 1;
    r.accesses = 5;
    mrig_start(&r);
    assert_int_equal(mrig_run(&r, 1, 1000, &err), LS_OK);
    expect_error(migrate_remove_range(r.directory, r.range[0].address, &err), &err, "is on its way");
    mrig_close(&r);
}

static void test_keys(void **state)
{
    (void)state;
    static const struct {
        const char *model, *set, *other, *text;
    } bad[] = {
        { "page", "page_kib=3", "pin=0", "migrate.page_kib is 3, which is no power of 2" },
        { "split", "largest_kib=1000", "asks=9", "migrate.largest_kib is 1000, which is no power of 2" },
        { "split", "largest_kib=1", "smallest_kib=2",
          "migrate.smallest_kib is 2, but migrate.largest_kib is 1" },
        { "page", "page_kib=512", "capacity_mib=1", "less than four pages of 512 KiB" },
    };
    for (uint32_t i = 0; i < LS_COUNT_OF(bad); i++) {
        ls_error err = { 0 };
        memset(&r, 0, sizeof r);
        r.gpus = 2;
        const char *const sets[] = { bad[i].set, bad[i].other, NULL };
        expect_error(mrig_try_open(&r, bad[i].model, sets, "full", &err), &err, bad[i].text);
        ls_engine_destroy(r.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),   cmocka_unit_test(test_set_place), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_unused), cmocka_unit_test(test_capacity),  cmocka_unit_test(test_move),
        cmocka_unit_test(test_in_use), cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
