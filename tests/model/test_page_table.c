/* test_page_table.c: pages at home, mapped pages, runs of frames, and the view of a GPU. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/memory/page_table.h"

#define BASE UINT64_C(0x100000000)
#define PAGE PAGE_TABLE_BYTES

static page_table *make(void)
{
    page_table *t = NULL;
    assert_int_equal(page_table_create(&t, NULL), LS_OK);
    return t;
}

static void at_home(void **state)
{
    page_table *t = make();
    uint64_t run, address = mem_place_virtual(3, BASE + 5);
    (void)state;
    page_place at = page_table_run(t, address, 100000, &run);
    assert_int_equal(at.place, 3);
    assert_int_equal(at.frame, BASE + 5);
    assert_int_equal(run, 100000);
    page_table_set_home(t, 0, 2); /* programs see GPU 2 alone: its addresses have no bits above 40 */
    assert_int_equal(page_table_find(t, BASE).place, 2);
    assert_int_equal(page_table_find(t, BASE).frame, BASE);
    page_table_destroy(t);
}

static void mapped(void **state)
{
    page_table *t = make();
    uint64_t run, home = mem_place_virtual(1, BASE);
    (void)state;
    /* Two pages on GPU 2, then one on the host, then one at home. */
    assert_int_equal(page_table_map(t, home, 2 * PAGE, (page_place){ 2, BASE + 9 * PAGE }, NULL), LS_OK);
    assert_int_equal(page_table_map(t, home + 2 * PAGE, PAGE, (page_place){ MEM_PLACE_HOST, BASE }, NULL),
                     LS_OK);
    assert_int_equal(page_table_entries(t), 3);
    page_place at = page_table_run(t, home + 10, 4 * PAGE - 10, &run);
    assert_int_equal(at.place, 2);
    assert_int_equal(at.frame, BASE + 9 * PAGE + 10);
    assert_int_equal(run, 2 * PAGE - 10);
    at = page_table_run(t, home + 2 * PAGE, 2 * PAGE, &run);
    assert_int_equal(at.place, MEM_PLACE_HOST);
    assert_int_equal(run, PAGE);
    at = page_table_run(t, home + 3 * PAGE + 1, 7, &run);
    assert_int_equal(at.place, 1);
    assert_int_equal(at.frame, BASE + 3 * PAGE + 1);
    assert_int_equal(run, 7);
    /* A new place for a page that has one; then home again. */
    assert_int_equal(page_table_map(t, home, PAGE, (page_place){ 0, BASE }, NULL), LS_OK);
    assert_int_equal(page_table_entries(t), 3);
    assert_int_equal(page_table_find(t, home).place, 0);
    page_table_clear(t, home, 8 * PAGE);
    assert_int_equal(page_table_entries(t), 0);
    assert_int_equal(page_table_find(t, home).place, 1);
    page_table_destroy(t);
}

/* Pages that cross a leaf of the table, and a range that is none. */
static void edges(void **state)
{
    page_table *t = make();
    ls_error err;
    uint64_t near_end = BASE + (2u << 20) - PAGE;
    (void)state;
    assert_int_equal(page_table_map(t, near_end, 3 * PAGE, (page_place){ 1, BASE }, NULL), LS_OK);
    assert_int_equal(page_table_find(t, near_end + 2 * PAGE + 3).frame, BASE + 2 * PAGE + 3);
    assert_int_equal(page_table_find(t, near_end + 3 * PAGE).place, 0);
    assert_int_equal(page_table_map(t, BASE + 1, PAGE, (page_place){ 1, BASE }, &err), LS_ERR_USAGE);
    assert_int_equal(page_table_map(t, BASE, PAGE / 2, (page_place){ 1, BASE }, &err), LS_ERR_USAGE);
    assert_int_equal(page_table_map(t, BASE, PAGE, (page_place){ MEM_PLACES, BASE }, &err), LS_ERR_USAGE);
    assert_int_equal(page_table_entries(t), 3);
    page_table_destroy(t);
}

/* Own pages have no bits above 40, those of others have 1 + their place. */
static void views(void **state)
{
    page_table *t = make();
    (void)state;
    assert_int_equal(page_table_map(t, BASE, PAGE, (page_place){ 2, BASE + PAGE }, NULL), LS_OK);
    for (uint32_t own = 0; own < 3; own++) {
        page_view view = { .table = t, .own = own };
        ls_pages pages = page_view_pages(&view);
        ls_page page = pages.look(pages.self, BASE);
        assert_int_equal(page.gpu, 2);
        assert_int_equal(page.physical, (own == 2 ? 0 : UINT64_C(3) << 40) + BASE + PAGE);
        page = pages.look(pages.self, mem_place_virtual(1, BASE));
        assert_int_equal(page.gpu, 1);
        assert_int_equal(page.physical, (own == 1 ? 0 : UINT64_C(2) << 40) + BASE);
    }
    /* A copy of the own comes before the table. */
    const page_copy copy = { .address = BASE, .bytes = 2 * PAGE, .frame = BASE + 7 * PAGE };
    page_view view = { .table = t, .own = 1, .copies = &copy, .copy_count = 1 };
    ls_pages pages = page_view_pages(&view);
    assert_int_equal(pages.look(pages.self, BASE + PAGE).physical, BASE + 8 * PAGE);
    assert_int_equal(pages.look(pages.self, BASE + PAGE).gpu, 1);
    assert_int_equal(pages.look(pages.self, BASE + 2 * PAGE).gpu, 0);
    page_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_home),
        cmocka_unit_test(mapped),
        cmocka_unit_test(edges),
        cmocka_unit_test(views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
