/* test_ring.c: a bounded queue keeps order, limit and count, also when its positions wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/ring.h"

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(ring_size_for(1), 1);
    assert_int_equal(ring_size_for(2), 2);
    assert_int_equal(ring_size_for(3), 4);
    assert_int_equal(ring_size_for(64), 64);
    assert_int_equal(ring_size_for(65), 128);
    assert_int_equal(ring_size_for(UINT32_C(1) << 31), UINT32_C(1) << 31);
}

static void first_in_first_out(void **state)
{
    (void)state;
    int at[8];
    index_ring ring;
    ring_init(&ring, 5); /* the limit is not a power of two */
    assert_int_equal(ring.mask, 7);
    ring.head = ring.tail = UINT32_MAX - 10; /* positions wrap on the way */
    assert_true(ring_empty(&ring));
    int in = 0, out = 0;
    for (unsigned round = 0; round < 30; round++) {
        while (!ring_full(&ring))
            at[ring_push(&ring)] = in++;
        assert_int_equal(ring_count(&ring), 5);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(at[ring_at(&ring, i)], out + (int)i);
        for (unsigned i = 0; i < 1 + round % 5; i++) {
            assert_int_equal(at[ring_front(&ring)], out);
            assert_int_equal(at[ring_pop(&ring)], out++);
        }
    }
    assert_int_equal(ring_count(&ring), (uint32_t)(in - out));
}

static void one_place(void **state)
{
    (void)state;
    index_ring ring;
    ring_init(&ring, 1);
    assert_int_equal(ring_push(&ring), 0);
    assert_true(ring_full(&ring));
    assert_int_equal(ring_pop(&ring), 0);
    assert_true(ring_empty(&ring));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
