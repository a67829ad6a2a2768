/* Prefetchers against a model with a list of all accesses, and streams whose answer is known. */
#include "model/policy/prefetch.h"

#include "lockstep/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* after the others: cmocka uses what they define */
#include <cmocka.h>

static void test_next_line(void **state)
{
    (void)state;
    prefetcher p;
    uint64_t out[PREFETCH_DEGREE_MAX];
    prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_NEXT_LINE, .degree = 3, .distance = 2 }, 128);
    assert_int_equal(prefetch_train(&p, 64, out), 3);
    assert_int_equal(out[0], 66);
    assert_int_equal(out[1], 67);
    assert_int_equal(out[2], 68);
    /* 32 lines of 128 bytes are a page: lines 64 to 95. */
    assert_int_equal(prefetch_train(&p, 92, out), 2);
    assert_int_equal(out[1], 95);
    assert_int_equal(prefetch_train(&p, 95, out), 0);
}

/* Forwards and backwards: known after two equal steps. */
static void test_stride(void **state)
{
    (void)state;
    static const int64_t strides[] = { 1, 2, 5, -1, -3 };
    for (size_t k = 0; k < LS_COUNT_OF(strides); k++) {
        prefetcher p;
        uint64_t out[PREFETCH_DEGREE_MAX], line = strides[k] > 0 ? 640 : 640 + 63;
        prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_STRIDE, .degree = 2, .distance = 1 }, 64);
        for (uint32_t i = 0; i < 8; i++, line += (uint64_t)strides[k]) {
            uint32_t count = prefetch_train(&p, line, out);
            assert_int_equal(count, i < 2 ? 0 : 2);
            for (uint32_t n = 0; n < count; n++)
                assert_int_equal(out[n], line + (uint64_t)((n + 1) * strides[k]));
        }
        prefetch_train(&p, 641, out);                      /* another step */
        assert_int_equal(prefetch_train(&p, 650, out), 0); /* and another: the pattern is lost */
    }
}

/* The same by looking through everything that ever came: the last accesses of the page, unless 16 others were used
 * since. */
typedef struct past {
    uint64_t lines[20000];
    uint32_t count;
} past;

static int64_t naive_stride(const past *h, uint32_t page_lines)
{
    uint64_t page = h->lines[h->count - 1] / page_lines, own[20000], others[PREFETCH_STREAMS] = { 0 };
    uint32_t own_count = 0, other_count = 0;
    for (uint32_t i = h->count; i-- > 0;) {
        uint64_t at = h->lines[i] / page_lines;
        if (at == page) {
            own[own_count++] = h->lines[i];
            other_count = 0;
            continue;
        }
        bool known = false;
        for (uint32_t n = 0; n < other_count; n++)
            known |= others[n] == at;
        if (!known)
            others[other_count++] = at;
        if (other_count == PREFETCH_STREAMS)
            break;
    }
    int64_t steps[2] = { 0 };
    uint32_t found = 0;
    for (uint32_t i = 0; i + 1 < own_count && found < 2; i++)
        if (own[i] != own[i + 1])
            steps[found++] = (int64_t)(own[i] - own[i + 1]);
    return found == 2 && steps[0] == steps[1] ? steps[0] : 0;
}

static void test_stride_of_many(void **state)
{
    (void)state;
    static past h;
    prefetcher p;
    ls_random random;
    uint64_t out[PREFETCH_DEGREE_MAX], at[24] = { 0 };
    uint32_t known = 0;
    h.count = 0;
    ls_random_init(&random, 7);
    prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_STRIDE, .degree = 4, .distance = 3 }, 128);
    for (uint32_t step = 0; step < 4000; step++) {
        /* Streams of a page each, many at a time, with steps that change now and then. */
        uint32_t s = (uint32_t)ls_random_below(&random, step % 1000 < 500 ? 12 : 24);
        at[s] = ls_random_below(&random, 6) == 0 ? ls_random_below(&random, 32) : (at[s] + 1 + s % 3) % 32;
        uint64_t line = s * 32 + at[s];
        h.lines[h.count++] = line;
        uint32_t count = prefetch_train(&p, line, out), expected = 0;
        int64_t stride = naive_stride(&h, 32);
        for (int64_t i = 3; i < 7 && stride != 0; i++) {
            uint64_t next = line + (uint64_t)(stride * i);
            if (next / 32 != line / 32)
                break;
            assert_true(expected < count);
            assert_int_equal(out[expected++], next);
        }
        assert_int_equal(count, expected);
        known += stride != 0;
    }
    assert_true(known > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_line),
        cmocka_unit_test(test_stride),
        cmocka_unit_test(test_stride_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
