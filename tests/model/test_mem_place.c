/* Addresses of a system: the place in bits 40 and up, virtual and relative. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/memory/place.h"

#define FRAME UINT64_C(0x123456780)

static void test_gpu_alone(void **state)
{
    (void)state;
    assert_int_equal(mem_place_virtual(0, FRAME), FRAME);
    assert_int_equal(mem_place_at_home(0, FRAME), FRAME);
    assert_false(mem_place_is_remote(FRAME));
}

static void test_own_memory_has_no_place(void **state)
{
    (void)state;
    uint64_t address = mem_place_virtual(5, FRAME);
    assert_int_equal(address, UINT64_C(0x50123456780));
    assert_int_equal(mem_place_home(address), 5);
    assert_int_equal(mem_place_at_home(5, address), FRAME);
}

static void test_remote_memory(void **state)
{
    (void)state;
    uint64_t zero = mem_place_at_home(5, FRAME), last = mem_place_at_home(5, mem_place_virtual(63, FRAME));
    uint64_t host = mem_place_physical(0, MEM_PLACE_HOST, FRAME);
    assert_true(mem_place_is_remote(zero) && mem_place_is_remote(last) && mem_place_is_remote(host));
    assert_int_equal(zero, UINT64_C(0x10123456780));
    assert_int_equal(mem_place_of(zero), 0);
    assert_int_equal(mem_place_of(last), 63);
    assert_int_equal(mem_place_of(host), MEM_PLACE_HOST);
    assert_int_equal(mem_place_frame(zero), FRAME);
    assert_int_equal(mem_place_frame(host), FRAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_alone),
        cmocka_unit_test(test_own_memory_has_no_place),
        cmocka_unit_test(test_remote_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
