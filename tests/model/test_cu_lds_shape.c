/* test_cu_lds_shape.c: lanes in LDS, eight at a time, against one lane at a time. Shapes of programs and
 * random shapes, with the vectors of this host and with portable code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/cu/lds_shape.h"

#include <string.h>

#define BYTES 4096u

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Rows of a tile that all lanes of a row share, columns in a row, and random addresses. */
static void draw_addresses(uint32_t *addresses, unsigned lanes, unsigned bytes)
{
    unsigned kind = draw(5), width = 4u << draw(4), base = draw(8) * bytes + 256;
    for (unsigned lane = 0; lane < lanes; lane++)
        switch (kind) {
        case 0: /* consecutive */
            addresses[lane] = base + lane * bytes;
            break;
        case 1: /* a row for each `width` lanes */
            addresses[lane] = base + lane / width * 64;
            break;
        case 2: /* the same row again */
            addresses[lane] = base + lane % width * bytes;
            break;
        case 3: /* backwards, with gaps */
            addresses[lane] = base + (lanes - lane) * 2 * bytes;
            break;
        default:
            addresses[lane] = draw((BYTES - 16) / bytes) * bytes;
            break;
        }
}

static void as_one_by_one(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        const lds_shape_ops *ops = lds_shape_host(i & 1);
        unsigned lanes = i & 2 ? 64 : 32, dwords = 1u << draw(3);
        uint32_t addresses[64], columns[4 * LDS_SHAPE_COLUMN], registers[4 * 64], back[4 * 64];
        uint8_t lds[BYTES], want[BYTES];
        draw_addresses(addresses, lanes, dwords * 4);
        lds_shape shape;
        assert_true(lds_shape_learn(&shape, addresses, lanes));
        assert_true(ops->is(&shape, addresses));
        for (unsigned j = 0; j < BYTES; j++)
            lds[j] = want[j] = (uint8_t)draw(256);
        for (unsigned j = 0; j < 4 * 64; j++)
            registers[j] = draw(1u << 24);
        ops->load(&shape, lds + addresses[0], columns, dwords);
        ops->take(back, columns, dwords, lanes);
        for (unsigned lane = 0; lane < lanes; lane++)
            for (unsigned dword = 0; dword < dwords; dword++) {
                uint32_t value;
                memcpy(&value, lds + addresses[lane] + dword * 4, 4);
                assert_int_equal(columns[dword * LDS_SHAPE_COLUMN + lane], value);
                assert_int_equal(back[dword * lanes + lane], value);
            }
        ops->store(&shape, lds + addresses[0], registers, dwords, lanes);
        for (unsigned lane = 0; lane < lanes; lane++)
            for (unsigned dword = 0; dword < dwords; dword++)
                memcpy(want + addresses[lane] + dword * 4, &registers[dword * lanes + lane], 4);
        assert_memory_equal(lds, want, BYTES);
    }
}

/* Another base is the same shape; another lane is not, wherever it is. */
static void knows_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 512; i++) {
        const lds_shape_ops *ops = lds_shape_host(i & 1);
        unsigned lanes = i & 2 ? 64 : 32, other = 1 + draw(lanes - 1);
        uint32_t addresses[64];
        draw_addresses(addresses, lanes, 4);
        lds_shape shape;
        assert_true(lds_shape_learn(&shape, addresses, lanes));
        for (unsigned lane = 0; lane < lanes; lane++)
            addresses[lane] += 1024;
        assert_true(ops->is(&shape, addresses));
        addresses[other] += 4;
        assert_false(ops->is(&shape, addresses));
    }
}

static void refuses_what_is_far(void **state)
{
    (void)state;
    uint32_t addresses[32] = { 0 };
    lds_shape shape;
    assert_true(lds_shape_learn(&shape, addresses, 32));
    assert_int_equal(shape.low, 0);
    assert_int_equal(shape.high, 0);
    addresses[7] = 40;
    addresses[9] = 0;
    addresses[0] = 16;
    assert_true(lds_shape_learn(&shape, addresses, 32));
    assert_int_equal(shape.low, -16);
    assert_int_equal(shape.high, 24);
    addresses[31] = 0x80000000u;
    assert_false(lds_shape_learn(&shape, addresses, 32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_by_one),
        cmocka_unit_test(knows_its_own),
        cmocka_unit_test(refuses_what_is_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
