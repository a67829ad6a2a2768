/* test_places.c: memory with places: pages on other GPUs than they were allocated on, moved with their content; launches of
 * parts of a grid. In simulated time, and in emulation with the same results. */
#include "increment_rig.h"

#include "lockstep/random.h"

static rig open_rig(bool timed, uint32_t threads)
{
    static const char *const names[GPUS] = { "gfx803", "gfx803", "gfx803" };
    const char *set = "gpus.clusters=2";
    ls_gpu_options options = { .memory_bytes = 16 * PAGE, .threads = threads };
    if (timed) {
        options.platform = NANO;
        options.check_memory = true;
        options.platform_gpus = GPUS;
        options.sets = &set;
        options.set_count = 1;
    } else {
        options.gpus = names;
        options.gpu_count = GPUS;
    }
    return open_increment(&options);
}

static uint64_t used_on(rig *r, size_t gpu)
{
    uint64_t used, total;
    ls_gpu_system_memory(r->system, gpu, &used, &total);
    return used;
}

/* A buffer of 7 pages in three parts, each incremented by its GPU; then all of it comes home. */
static uint64_t divide(bool timed, uint32_t threads)
{
    enum { WORDS = 7 * PAGE / 4, GROUPS = WORDS / 64, PER_PAGE = PAGE / 4 / 64 };
    static uint32_t data[WORDS], got[WORDS];
    static const uint32_t odd[] = { 1, 3, 5 };
    rig r = open_rig(timed, threads);
    ls_gpu_address buffer;
    uint64_t bytes[GPUS], before[GPUS], end;
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = 7 * i;
    for (uint32_t i = 0; i < GPUS; i++)
        before[i] = used_on(&r, i);
    OK(ls_gpu_alloc(r.context, sizeof data, &buffer, &err));
    OK(ls_gpu_distribute(r.context, buffer, bytes, &err));
    assert_int_equal(bytes[0], 2 * PAGE);
    assert_int_equal(bytes[1], 2 * PAGE);
    assert_int_equal(bytes[2], 3 * PAGE);
    for (uint32_t i = 0; i < GPUS; i++)
        assert_int_equal(used_on(&r, i) - before[i], bytes[i]);
    assert_int_equal(ls_gpu_place_of(r.context, buffer + 4 * PAGE - 1), 1);
    assert_int_equal(ls_gpu_place_of(r.context, buffer + 4 * PAGE), 2);
    OK(ls_gpu_copy_in(r.context, buffer, data, sizeof data, &err));
    for (uint32_t i = 0; i < GPUS; i++)
        OK(add_one(&r, i, buffer, WORDS,
                   (ls_groups){ .first = 2 * i * PER_PAGE, .count = (i == 2 ? 3 : 2) * PER_PAGE }));
    OK(add_one(&r, 0, buffer, WORDS, (ls_groups){ .list = odd, .count = 3 }));
    OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(got[i], 7 * i + 1 + (i / 64 == 1 || i / 64 == 3 || i / 64 == 5));
    /* Two pages change places with their content, the middle of the buffer comes home. */
    OK(ls_gpu_place(r.context, buffer, PAGE, 2, &err));
    OK(ls_gpu_place(r.context, buffer + 6 * PAGE, PAGE, 0, &err));
    OK(ls_gpu_place(r.context, buffer + 2 * PAGE, 3 * PAGE, 0, &err));
    OK(add_one(&r, 0, buffer, WORDS, (ls_groups){ .first = PER_PAGE, .count = 4 * PER_PAGE }));
    OK(add_one(&r, 2, buffer, WORDS, (ls_groups){ .first = 0, .count = PER_PAGE }));
    OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(got[i], 7 * i + 1 + (i / 64 == 1 || i / 64 == 3 || i / 64 == 5) + (i < 5 * PAGE / 4));
    OK(ls_gpu_free(r.context, buffer, &err));
    for (uint32_t i = 0; i < GPUS; i++)
        assert_int_equal(used_on(&r, i), before[i]);
    /* Nothing is left of it. */
    OK(ls_gpu_alloc(r.context, sizeof data, &buffer, &err));
    OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(got[i], 0);
    end = ls_gpu_system_now(r.system);
    close_rig(&r);
    return end;
}

static void divided(void **unused)
{
    (void)unused;
    assert_int_equal(divide(false, 1), 0);
    uint64_t one = divide(true, 1);
    assert_int_equal(divide(true, 2), one);
    assert_int_equal(divide(true, 3), one);
    assert_int_equal(divide(true, 8), one);
}

/* Random moves, copies and fills of a buffer; an array of the host has the same bytes at the end. */
static void random_moves(void **unused)
{
    enum { PAGES = 6, BYTES = PAGES * PAGE };
    static uint8_t mirror[BYTES], got[BYTES], data[BYTES];
    rig r = open_rig(true, 2);
    ls_gpu_address buffer;
    ls_random random;
    (void)unused;
    ls_random_init(&random, 3);
    memset(mirror, 0, sizeof mirror);
    OK(ls_gpu_select(r.context, 1, &err));
    OK(ls_gpu_alloc_zeroed(r.context, BYTES, &buffer, &err));
    for (uint32_t i = 0; i < 60; i++) {
        size_t from = (size_t)ls_random_below(&random, BYTES - 1),
               to = (size_t)ls_random_below(&random, BYTES - 1);
        size_t bytes = 1 + (size_t)ls_random_below(&random, BYTES - (from > to ? from : to));
        size_t page = (size_t)ls_random_below(&random, PAGES),
               pattern = 1 + (size_t)ls_random_below(&random, 9);
        OK(ls_gpu_place(r.context, buffer + page * PAGE, (1 + ls_random_below(&random, PAGES - page)) * PAGE,
                        (size_t)ls_random_below(&random, GPUS), &err));
        for (size_t k = 0; k < bytes; k++)
            data[k] = (uint8_t)ls_random_next(&random);
        if (i % 3 == 0) {
            OK(ls_gpu_copy_in(r.context, buffer + to, data, bytes, &err));
            memcpy(mirror + to, data, bytes);
        } else if (i % 3 == 1) {
            OK(ls_gpu_copy(r.context, buffer + to, buffer + from, bytes, &err));
            memmove(mirror + to, mirror + from, bytes);
        } else if (bytes >= pattern) {
            bytes -= bytes % pattern;
            OK(ls_gpu_fill(r.context, buffer + to, data, pattern, bytes, &err));
            for (size_t k = 0; k < bytes; k++)
                mirror[to + k] = data[k % pattern];
        }
        if (i % 10 == 9) {
            OK(ls_gpu_peek(r.context, got, buffer, BYTES, &err));
            assert_memory_equal(got, mirror, BYTES);
        }
    }
    OK(ls_gpu_copy_out(r.context, got, buffer, BYTES, &err));
    assert_memory_equal(got, mirror, BYTES);
    close_rig(&r);
}

/* Fresh memory moves in no time; content takes the time of its copies. */
static void costs(void **unused)
{
    static uint8_t data[4 * PAGE];
    rig r = open_rig(true, 1);
    ls_gpu_address buffer;
    (void)unused;
    OK(ls_gpu_alloc(r.context, sizeof data, &buffer, &err));
    uint64_t begin = ls_gpu_system_now(r.system);
    OK(ls_gpu_place(r.context, buffer, sizeof data, 1, &err));
    assert_int_equal(ls_gpu_system_now(r.system), begin);
    OK(ls_gpu_copy_in(r.context, buffer, data, sizeof data, &err));
    begin = ls_gpu_system_now(r.system);
    OK(ls_gpu_place(r.context, buffer, sizeof data, 2, &err));
    /* Twice over a host link of 15.75 bytes per cycle of 1 ns. */
    assert_true(ls_gpu_system_now(r.system) - begin > 2 * sizeof data / 16);
    close_rig(&r);
}

/* Bad input: one line each, and nothing has changed. */
static void refusals(bool timed)
{
    rig r = open_rig(timed, 1);
    ls_gpu_address buffer, other;
    const uint32_t list[] = { 2, 64 };
    OK(ls_gpu_alloc(r.context, 3 * PAGE, &buffer, &err));
    REFUSED(ls_gpu_place(r.context, buffer, PAGE, 3, &err), LS_ERR_USAGE,
            "memory cannot lie on GPU 3: the system has 3, counted from 0");
    REFUSED(ls_gpu_place(r.context, buffer + 100, PAGE, 1, &err), LS_ERR_USAGE,
            "is no range of whole pages of 4096 bytes");
    REFUSED(ls_gpu_place(r.context, buffer, PAGE / 2, 1, &err), LS_ERR_USAGE, "is no range of whole pages");
    REFUSED(ls_gpu_place(r.context, buffer + PAGE, 3 * PAGE, 1, &err), LS_ERR_USAGE,
            "the allocation ends after 8192");
    REFUSED(ls_gpu_place(r.context, buffer + (UINT64_C(1) << 30), PAGE, 1, &err), LS_ERR_USAGE,
            "nothing is allocated there");
    REFUSED(ls_gpu_distribute(r.context, 4096, NULL, &err), LS_ERR_USAGE, "nothing is allocated there");
    OK(ls_gpu_place(r.context, buffer + PAGE, PAGE, 1, &err));
    REFUSED(ls_gpu_free(r.context, buffer + PAGE, &err), LS_ERR_USAGE, "is not the address of an allocation");
    /* GPU 1 has 16 pages, and a code object in some of them. */
    OK(ls_gpu_alloc(r.context, 7 * PAGE, &other, &err));
    OK(ls_gpu_place(r.context, other, 7 * PAGE, 1, &err));
    OK(ls_gpu_alloc(r.context, 3 * PAGE, &other, &err));
    REFUSED(ls_gpu_place(r.context, other, 3 * PAGE, 1, &err), LS_ERR_UNSUPPORTED, "GPU 1 (");
    assert_int_equal(ls_gpu_place_of(r.context, other), 0);
    REFUSED(ls_gpu_alloc(r.context, 16 * PAGE, &other, &err), LS_ERR_UNSUPPORTED, "GPU 0 (");
    REFUSED(add_one(&r, 0, buffer, 640, (ls_groups){ .first = 8, .count = 3 }), LS_ERR_USAGE,
            "there is no work-group 10: the grid has 10, counted from 0");
    REFUSED(add_one(&r, 0, buffer, 640, (ls_groups){ .list = list, .count = 2 }), LS_ERR_USAGE,
            "there is no work-group 64");
    REFUSED(add_one(&r, 0, buffer, 640, (ls_groups){ .first = 1 }), LS_ERR_USAGE, "a launch of 0 work-groups");
    OK(ls_gpu_free(r.context, buffer, &err));
    REFUSED(ls_gpu_place(r.context, buffer, PAGE, 1, &err), LS_ERR_USAGE, "nothing is allocated there");
    close_rig(&r);
}

static void refused(void **unused)
{
    (void)unused;
    refusals(false);
    refusals(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divided),
        cmocka_unit_test(random_moves),
        cmocka_unit_test(costs),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
