/* test_list.c: lists, pools and orders of the elements of an array, against plain arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/list.h"

#define COUNT 13u

/* The links are not the first member and not the only one. */
typedef struct element {
    uint64_t other;
    uint32_t next, older;
    uint16_t short_next;
    uint32_t newer;
} element;

static element elements[COUNT];

static uint32_t draw(uint32_t below)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void links_lie_in_their_elements(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        elements[i] = (element){ .next = 70000 + i, .newer = INDEX_NONE, .short_next = (uint16_t)(40 + i) };
        assert_int_equal(index_link(INDEX_LINKS(elements, next), i), 70000 + i);
        assert_int_equal(index_link(INDEX_LINKS(elements, newer), i), INDEX_NONE);
        assert_int_equal(index_link(INDEX_LINKS(elements, short_next), i), 40 + i);
        index_link_set(INDEX_LINKS(elements, short_next), i, INDEX_NONE);
        index_link_set(INDEX_LINKS(elements, newer), i, 80000 + i);
        const element *e = &elements[i];
        assert_int_equal(e->newer, 80000 + i);
        assert_int_equal(e->short_next, INDEX_NONE_16);
        assert_int_equal(index_link(INDEX_LINKS(elements, short_next), i), INDEX_NONE);
        assert_int_equal(e->next, 70000 + i); /* and its neighbours are as before */
        assert_int_equal(e->older, 0);
    }
    index_link_set(INDEX_LINKS(elements, short_next), 0, INDEX_16_MAX);
    assert_int_equal(index_link(INDEX_LINKS(elements, short_next), 0), INDEX_16_MAX);
}

static void check_first_in_first_out(index_links next)
{
    index_list list = INDEX_LIST_EMPTY;
    uint32_t in = 0, out = 0;
    assert_true(index_list_empty(&list));
    for (uint32_t round = 0; round < 500; round++) {
        if (in - out < COUNT && draw(2) == 0)
            index_list_append(&list, next, in++ % COUNT);
        else if (in != out)
            assert_int_equal(index_list_pop(&list, next), out++ % COUNT);
        assert_int_equal(index_list_empty(&list), in == out);
        uint32_t length = 0;
        for (uint32_t i = list.first; i != INDEX_NONE; i = index_link(next, i))
            length++;
        assert_int_equal(length, in - out);
    }
    assert_true(in > 2 * COUNT);
}

static void list_is_first_in_first_out(void **state)
{
    (void)state;
    check_first_in_first_out(INDEX_LINKS(elements, next));
    check_first_in_first_out(INDEX_LINKS(elements, short_next));
}

static void check_losses_anywhere(index_links next)
{
    index_list list = INDEX_LIST_EMPTY;
    static const uint32_t leave[] = { 2, 0, 5, 3 }; /* inside, the first, the last, inside */
    for (uint32_t i = 0; i < 6; i++)
        index_list_append(&list, next, i);
    for (uint32_t i = 0; i < 4; i++)
        index_list_remove(&list, next, leave[i]);
    index_list_append(&list, next, 9);
    static const uint32_t left[] = { 1, 4, 9 };
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(index_list_pop(&list, next), left[i]);
    assert_true(index_list_empty(&list));
    index_list_append(&list, next, 6);
    index_list_remove(&list, next, 6);
    assert_true(index_list_empty(&list));
}

static void list_loses_elements_anywhere(void **state)
{
    (void)state;
    check_losses_anywhere(INDEX_LINKS(elements, next));
    check_losses_anywhere(INDEX_LINKS(elements, short_next));
}

static void check_pool(index_links next)
{
    index_pool pool = INDEX_POOL_NEW;
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(index_pool_take(&pool, next), i);
    index_pool_give(&pool, next, 1);
    index_pool_give(&pool, next, 3);
    assert_int_equal(index_pool_next(&pool), 3);
    assert_int_equal(index_pool_take(&pool, next), 3);
    assert_int_equal(index_pool_take(&pool, next), 1);
    for (uint32_t i = 4; i < COUNT; i++) {
        assert_false(index_pool_empty(&pool, COUNT));
        assert_int_equal(index_pool_next(&pool), i);
        assert_int_equal(index_pool_take(&pool, next), i); /* only now those that were never used */
    }
    assert_true(index_pool_empty(&pool, COUNT));
    index_pool_give(&pool, next, 7);
    assert_false(index_pool_empty(&pool, COUNT));
    assert_int_equal(index_pool_take(&pool, next), 7);
    assert_true(index_pool_empty(&pool, COUNT));
}

static void pool_gives_the_last_back_first(void **state)
{
    (void)state;
    check_pool(INDEX_LINKS(elements, next));
    check_pool(INDEX_LINKS(elements, short_next));
}

static void assert_order(const index_order *order, const uint32_t *expected, uint32_t count)
{
    uint32_t at = order->oldest, before = INDEX_NONE;
    for (uint32_t k = 0; k < count; k++) {
        assert_int_equal(at, expected[k]);
        assert_int_equal(elements[at].older, before);
        before = at;
        at = elements[at].newer;
    }
    assert_int_equal(at, INDEX_NONE);
    assert_int_equal(order->newest, before);
}

static void order_keeps_neighbours(void **state)
{
    (void)state;
    const index_links older = INDEX_LINKS(elements, older), newer = INDEX_LINKS(elements, newer);
    index_order order = INDEX_ORDER_EMPTY;
    uint32_t expected[COUNT], count = 0, unused[COUNT], left = COUNT;
    for (uint32_t i = 0; i < COUNT; i++)
        unused[i] = i;
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t what = draw(4), place = draw(count + 1);
        if (what < 2 && left > 0) {
            uint32_t i = unused[--left];
            if (what == 0) {
                place = count;
                index_order_append(&order, older, newer, i);
            } else {
                index_order_insert(&order, older, newer, i, place == 0 ? INDEX_NONE : expected[place - 1]);
            }
            memmove(&expected[place + 1], &expected[place], (count++ - place) * sizeof *expected);
            expected[place] = i;
        } else if (place < count) {
            index_order_remove(&order, older, newer, expected[place]);
            unused[left++] = expected[place];
            memmove(&expected[place], &expected[place + 1], (--count - place) * sizeof *expected);
        }
        assert_order(&order, expected, count);
    }
}

static void renewed_elements_are_the_newest(void **state)
{
    (void)state;
    const index_links older = INDEX_LINKS(elements, older), newer = INDEX_LINKS(elements, newer);
    index_order order = INDEX_ORDER_EMPTY;
    for (uint32_t i = 0; i < 4; i++)
        index_order_append(&order, older, newer, i);
    index_order_renew(&order, older, newer, 1);
    assert_order(&order, (const uint32_t[]){ 0, 2, 3, 1 }, 4);
    index_order_renew(&order, older, newer, 0); /* the oldest */
    assert_order(&order, (const uint32_t[]){ 2, 3, 1, 0 }, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_lie_in_their_elements),  cmocka_unit_test(list_is_first_in_first_out),
        cmocka_unit_test(list_loses_elements_anywhere), cmocka_unit_test(pool_gives_the_last_back_first),
        cmocka_unit_test(order_keeps_neighbours),       cmocka_unit_test(renewed_elements_are_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
