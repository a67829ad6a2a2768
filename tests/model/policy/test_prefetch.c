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
    prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_NEXT_LINE, .degree = 3, .distance = 2 }, 128, NULL,
                  NULL);
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
        prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_STRIDE, .degree = 2, .distance = 1 }, 64, NULL,
                      NULL);
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
    prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_STRIDE, .degree = 4, .distance = 3 }, 128, NULL,
                  NULL);
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

/* --------------------------------------------------------------------------------------------- plug-ins */

static size_t bytes_of(const ls_prefetch_shape *shape)
{
    return shape->line_bytes == 256 ? 0 : sizeof(uint64_t); /* none for lines of 256 bytes: refused */
}

/* Counts its calls: as many lines as calls so far, one page further in the third call. */
static uint32_t count_calls(void *state, const ls_prefetch_shape *shape, uint64_t line, uint64_t *out)
{
    uint64_t calls = ++*(uint64_t *)state;
    for (uint64_t i = 0; i < calls && i < LS_PREFETCH_DEGREE_MAX; i++)
        out[i] = line + i + (calls == 3 ? shape->page_lines : 0);
    return (uint32_t)calls;
}

static const ls_prefetch_ops counting_ops = { .state_bytes = bytes_of, .train = count_calls };
static const ls_port_decl counting_ports[] = {
    { .name = LS_PREFETCH_PORT, .interface = LS_PREFETCH_INTERFACE, .ops = &counting_ops },
};
static const ls_block_type counting = { .abi = LS_ABI_VERSION,
                                        .slot = LS_PREFETCH_SLOT,
                                        .name = "a-counting",
                                        .help = "for the test",
                                        .ports = counting_ports,
                                        .port_count = 1 };
LS_REGISTER_BLOCK(counting);
static const ls_prefetch_ops half_ops = { .state_bytes = bytes_of };
static const ls_port_decl half_ports[] = {
    { .name = LS_PREFETCH_PORT, .interface = LS_PREFETCH_INTERFACE, .ops = &half_ops },
};
static const ls_block_type half = { .abi = LS_ABI_VERSION,
                                    .slot = LS_PREFETCH_SLOT,
                                    .name = "b-half",
                                    .help = "not whole",
                                    .ports = half_ports,
                                    .port_count = 1 };
LS_REGISTER_BLOCK(half);

/* A run with one prefetcher of the plug-in; the requests of `calls` calls. Ends with the run's error, if any. */
static ls_status run_plugin(uint32_t calls, uint64_t degree, uint32_t *last, ls_error *err)
{
    ls_engine *engine;
    ls_domain *domain;
    ls_clock clock;
    prefetcher *p;
    uint64_t out[PREFETCH_DEGREE_MAX];
    const prefetch_spec spec = { .kind = PREFETCH_KINDS, .degree = degree, .distance = 1 };
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "cache", clock, &domain, NULL), LS_OK);
    assert_int_equal(prefetch_create(&spec, 128, domain, &p, err), LS_OK);
    for (uint32_t i = 0; i < calls; i++)
        *last = prefetch_train(p, 64, out);
    ls_status status = ls_run(engine, NULL, NULL, err);
    ls_engine_destroy(engine);
    return status;
}

static void test_plugin(void **state)
{
    (void)state;
    ls_error err;
    uint32_t last = 0;
    prefetcher p;
    assert_int_equal(run_plugin(2, 8, &last, &err), LS_OK);
    assert_int_equal(last, 2); /* its state counts */
    /* The third call names lines of the next page. */
    assert_int_equal(run_plugin(3, 8, &last, &err), LS_ERR_INPUT);
    assert_int_equal(last, 0);
    assert_string_equal(err.what,
                        "cache: prefetch policy 'a-counting' named more lines than its degree, or a line of "
                        "another page");
    assert_int_equal(run_plugin(2, 1, &last, &err), LS_ERR_INPUT);
    assert_int_equal(prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_KINDS }, 256, NULL, &err),
                     LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what,
                        "prefetch policy 'a-counting' wants 0 bytes for a cache, it must be 1 to 1048576");
    assert_int_equal(prefetch_init(&p, &(prefetch_spec){ .kind = PREFETCH_KINDS + 1 }, 128, NULL, &err),
                     LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "prefetch policy 'b-half' leaves out the function 'train'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_line),
        cmocka_unit_test(test_stride),
        cmocka_unit_test(test_stride_of_many),
        cmocka_unit_test(test_plugin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
