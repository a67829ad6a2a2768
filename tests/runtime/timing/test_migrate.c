/* test_migrate.c: memory whose pages move while programs run: under every model of slot `migrate` the bytes are those of an
 * array of the host that gets the same commands, for any number of threads. */
#include "increment_rig.h"

#include "lockstep/random.h"
#include "model/migrate/migrate.h"
#include "runtime/timing/timing.h"

typedef struct model {
    const char *name;
    const char *sets[4]; /* more keys */
} model;

static const model models[] = {
    { "page", { NULL } },
    { "page", { "migrate.pin=1", NULL } },
    { "page", { "migrate.threshold=4", "migrate.prefetch=2", NULL } },
    { "esi", { NULL } },
    { "esi", { "migrate.in_flight=1", NULL } },
    { "split", { NULL } },
};

static rig open_checked(const model *m, uint32_t threads, uint64_t memory, bool check_memory)
{
    char text[64];
    const char *sets[12] = { "gpus.clusters=2", "fabric.model=pcie", "host.model=cpu", text,
                             "migrate.check=true" };
    size_t count = 5;
    snprintf(text, sizeof text, "migrate.model=%s", m->name);
    for (size_t i = 0; m->sets[i]; i++)
        sets[count++] = m->sets[i];
    const ls_gpu_options options = { .memory_bytes = memory,
                                     .threads = threads,
                                     .check_memory = check_memory,
                                     .platform = NANO,
                                     .platform_gpus = GPUS,
                                     .sets = sets,
                                     .set_count = count };
    return open_increment(&options);
}

static rig open_rig(const model *m, uint32_t threads, uint64_t memory)
{
    return open_checked(m, threads, memory, true);
}

/* A page follows the GPUs that use it. */
static void follows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LS_COUNT_OF(models); i++) {
        const model *m = &models[i];
        rig r = open_rig(m, 1, 256 * PAGE);
        ls_gpu_address buffer;
        uint32_t data[PAGE / 4], got[PAGE / 4];
        bool moves = m->sets[0] == NULL || strstr(m->sets[0], "in_flight") != NULL;
        for (uint32_t k = 0; k < PAGE / 4; k++)
            data[k] = 3 * k;
        OK(ls_gpu_alloc(r.context, PAGE, &buffer, &err));
        OK(ls_gpu_copy_in(r.context, buffer, data, sizeof data, &err));
        assert_int_equal(ls_gpu_place_of(r.context, buffer), 0);
        for (uint32_t gpu = 1; gpu < 6; gpu++) {
            OK(add_one(&r, gpu % GPUS, buffer, PAGE / 4, (ls_groups){ 0 }));
            if (moves)
                assert_int_equal(ls_gpu_place_of(r.context, buffer), gpu % GPUS);
        }
        OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
        for (uint32_t k = 0; k < PAGE / 4; k++)
            assert_int_equal(got[k], 3 * k + 5);
        OK(ls_gpu_free(r.context, buffer, &err));
        close_rig(&r);
    }
}

/* Random launches, moves, copies and fills; the time at the end. */
static uint64_t random_commands(const model *m, uint32_t threads, uint64_t seed)
{
    enum { PAGES = 12, BYTES = PAGES * PAGE, WORDS = BYTES / 4, GROUPS = WORDS / 64 };
    static uint8_t mirror[BYTES], got[BYTES], data[BYTES];
    rig r = open_rig(m, threads, 256 * PAGE);
    ls_gpu_address buffer;
    ls_random random;
    ls_random_init(&random, seed);
    memset(mirror, 0, sizeof mirror);
    OK(ls_gpu_alloc_zeroed(r.context, BYTES, &buffer, &err));
    for (uint32_t i = 0; i < 18; i++) {
        size_t from = (size_t)ls_random_below(&random, BYTES - 1),
               to = (size_t)ls_random_below(&random, BYTES - 1);
        size_t bytes = 1 + (size_t)ls_random_below(&random, BYTES - (from > to ? from : to));
        size_t page = (size_t)ls_random_below(&random, PAGES);
        uint32_t gpu = (uint32_t)ls_random_below(&random, GPUS);
        for (size_t k = 0; k < bytes; k++)
            data[k] = (uint8_t)ls_random_next(&random);
        switch (i % 6) {
        case 0:
            OK(ls_gpu_copy_in(r.context, buffer + to, data, bytes, &err));
            memcpy(mirror + to, data, bytes);
            break;
        case 2:
            OK(ls_gpu_copy(r.context, buffer + to, buffer + from, bytes, &err));
            memmove(mirror + to, mirror + from, bytes);
            break;
        case 4:
            OK(ls_gpu_place(r.context, buffer + page * PAGE,
                            (1 + ls_random_below(&random, PAGES - page)) * PAGE, gpu, &err));
            break;
        default: {
            uint32_t first = (uint32_t)ls_random_below(&random, GROUPS);
            uint32_t count = 1 + (uint32_t)ls_random_below(&random, GROUPS - first);
            OK(add_one(&r, gpu, buffer, WORDS, (ls_groups){ .first = first, .count = count }));
            for (size_t k = (size_t)first * 64; k < (size_t)(first + count) * 64; k++) {
                uint32_t word;
                memcpy(&word, mirror + 4 * k, 4);
                word++;
                memcpy(mirror + 4 * k, &word, 4);
            }
        }
        }
        if (i % 6 == 5) {
            OK(ls_gpu_peek(r.context, got, buffer, BYTES, &err));
            assert_memory_equal(got, mirror, BYTES);
        }
    }
    OK(ls_gpu_copy_out(r.context, got, buffer, BYTES, &err));
    assert_memory_equal(got, mirror, BYTES);
    uint64_t end = ls_gpu_system_now(r.system);
    OK(ls_gpu_free(r.context, buffer, &err));
    close_rig(&r);
    return end;
}

static void random_all(void **unused)
{
    static const uint32_t threads[] = { 2, 3, 8 };
    (void)unused;
    for (size_t i = 0; i < LS_COUNT_OF(models); i++) {
        uint64_t one = random_commands(&models[i], 1, 11 + i);
        assert_int_equal(random_commands(&models[i], threads[i % 3], 11 + i), one);
    }
}

/* All GPUs increment the same words at once, in work-groups of their own: pages go back and forth. */
static uint64_t race_free(const model *m, uint32_t threads)
{
    enum { WORDS = 4 * PAGE / 4, GROUPS = WORDS / 64 };
    static uint32_t got[WORDS];
    rig r = open_rig(m, threads, 256 * PAGE);
    ls_gpu_queue *queues[GPUS];
    ls_gpu_address buffer;
    OK(ls_gpu_alloc_zeroed(r.context, sizeof got, &buffer, &err));
    for (uint32_t i = 0; i < GPUS; i++) {
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_queue_create(r.context, &queues[i], &err));
    }
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < GPUS; i++) {
            uint32_t words = WORDS;
            ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(words) };
            ls_gpu_launch l = { .grid = { WORDS },
                                .group = { 64 },
                                .args = args,
                                .arg_count = 2,
                                .groups = {
                                    .first = i, .stride = GPUS, .count = (GROUPS - i + GPUS - 1) / GPUS } };
            OK(ls_gpu_queue_launch(queues[i], r.increment[i], &l, NULL, &err));
        }
        OK(ls_gpu_sync(r.context, &err));
    }
    OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(got[i], 3);
    uint64_t end = ls_gpu_system_now(r.system);
    close_rig(&r);
    return end;
}

static void shared_pages(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LS_COUNT_OF(models); i++) {
        uint64_t one = race_free(&models[i], 1);
        assert_int_equal(race_free(&models[i], 3), one);
    }
}

/* More pages than a GPU holds: some lie on the host. */
static void spilled(void **unused)
{
    enum { WORDS = 320 * PAGE / 4 };
    static uint32_t got[WORDS];
    static const model small[] = { { "page", { "migrate.capacity_mib=1", NULL } },
                                   { "esi", { "migrate.capacity_mib=1", NULL } },
                                   { "split",
                                     { "migrate.capacity_mib=1", "migrate.largest_kib=128", NULL } } };
    (void)unused;
    for (size_t i = 0; i < LS_COUNT_OF(small); i++) {
        rig r = open_rig(&small[i], 2, 2048 * PAGE);
        ls_gpu_address buffer;
        OK(ls_gpu_alloc_zeroed(r.context, sizeof got, &buffer, &err));
        for (uint32_t round = 0; round < 2; round++)
            OK(add_one(&r, 1, buffer, WORDS, (ls_groups){ 0 }));
        OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
        for (uint32_t k = 0; k < WORDS; k++)
            assert_int_equal(got[k], 2);
        close_rig(&r);
    }
}

/* --------------------------------------------------------------------------------- pages that are on their way */

static const model eager = { "page", { "migrate.prefetch=64", NULL } };

static bool is_moving(const rig *r)
{
    return !migrate_is_idle(ls_engine_part(timing_engine(r->system), MIGRATE_PART, 0));
}

/* GPU 1 uses the first page. The pages behind it follow when the kernel is over already. */
static ls_gpu_address begin_move(rig *r, uint32_t pages)
{
    ls_gpu_address buffer;
    OK(ls_gpu_alloc_zeroed(r->context, (uint64_t)pages * PAGE, &buffer, &err));
    OK(add_one(r, 1, buffer, 64, (ls_groups){ 0 }));
    assert_true(is_moving(r));
    return buffer;
}

/* A free waits until the pages have arrived. The memory that comes next gets the same frames: a line of the old pages that
 * arrived later would destroy it. */
static uint64_t free_on_the_way(uint32_t threads)
{
    enum { PAGES = 48, WORDS = PAGES * PAGE / 4 };
    static uint32_t data[WORDS], got[WORDS];
    rig r = open_rig(&eager, threads, 512 * PAGE);
    ls_gpu_address old = begin_move(&r, PAGES), fresh;
    OK(ls_gpu_free(r.context, old, &err));
    assert_false(is_moving(&r));
    OK(ls_gpu_alloc(r.context, sizeof data, &fresh, &err));
    assert_int_equal(fresh, old);
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = 7 * i;
    OK(ls_gpu_copy_in(r.context, fresh, data, sizeof data, &err));
    OK(add_one(&r, 1, fresh, WORDS, (ls_groups){ 0 }));
    OK(add_one(&r, 2, fresh, WORDS, (ls_groups){ 0 }));
    OK(ls_gpu_copy_out(r.context, got, fresh, sizeof got, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(got[i], data[i] + 2);
    REFUSED(ls_gpu_free(r.context, old + PAGE, &err), LS_ERR_USAGE, "is not the address of an allocation");
    uint64_t end = ls_gpu_system_now(r.system);
    close_rig(&r);
    return end;
}

static void frees_wait_for_pages(void **unused)
{
    static const uint32_t threads[] = { 2, 3, 8 };
    (void)unused;
    uint64_t one = free_on_the_way(1);
    for (size_t i = 0; i < LS_COUNT_OF(threads); i++)
        assert_int_equal(free_on_the_way(threads[i]), one);
}

/* ------------------------------------------------------------------------------------------------------ lost GPUs */

static ls_status breaks(void *self, ls_error *error)
{
    (void)self;
    return ls_fail(error, LS_ERR_INTERNAL, "a link broke");
}

/* After an error of the machine itself no GPU runs anything: launches, copies, peer copies and moves fail with that error,
 * memory whose pages are on their way cannot be freed, and everything can be closed. */
static void lost_gpus(void **unused)
{
    rig r = open_checked(&eager, 1, 512 * PAGE, false); /* the checker has the hook that breaks here */
    const ls_run_options stopped = { .threads = 1, .between = breaks };
    ls_gpu_address other, moving = 0;
    uint32_t word = 1;
    (void)unused;
    OK(ls_gpu_alloc_zeroed(r.context, PAGE, &other, &err));
    moving = begin_move(&r, 48);
    timing_set_options(r.system, &stopped);
    assert_int_equal(add_one(&r, 2, other, 64, (ls_groups){ 0 }), LS_ERR_INTERNAL);
    for (uint32_t gpu = 0; gpu < GPUS; gpu++)
        REFUSED(add_one(&r, gpu, other, 64, (ls_groups){ 0 }), LS_ERR_INTERNAL,
                "the GPUs are lost since an earlier error: a link broke");
    REFUSED(ls_gpu_copy_in(r.context, other, &word, sizeof word, &err), LS_ERR_INTERNAL, "the GPUs are lost");
    REFUSED(ls_gpu_copy(r.context, other, other + 64, 64, &err), LS_ERR_INTERNAL, "the GPUs are lost");
    REFUSED(ls_gpu_peek(r.context, &word, other, sizeof word, &err), LS_ERR_INTERNAL, "the GPUs are lost");
    REFUSED(ls_gpu_place(r.context, other, PAGE, 1, &err), LS_ERR_INTERNAL, "the GPUs are lost");
    REFUSED(
        ls_gpu_free(r.context, moving, &err), LS_ERR_INTERNAL,
        "cannot be freed, pages of it may be on their way: the GPUs are lost since an earlier error: a link broke");
    assert_int_equal(ls_gpu_reach(r.context, moving), 48 * PAGE); /* it is still there */
    close_rig(&r);
}

static void gpus_that_are_not_there(void **unused)
{
    rig r = open_rig(&models[0], 1, 64 * PAGE);
    ls_gpu_address buffer;
    (void)unused;
    OK(ls_gpu_alloc(r.context, PAGE, &buffer, &err));
    REFUSED(ls_gpu_select(r.context, GPUS, &err), LS_ERR_USAGE,
            "there is no GPU 3: the system has 3, counted from 0");
    REFUSED(ls_gpu_place(r.context, buffer, PAGE, GPUS, &err), LS_ERR_USAGE,
            "memory cannot lie on GPU 3: the system has 3");
    close_rig(&r);
}

static void refusals(void **unused)
{
    const char *sets[] = { "fabric.model=pcie", "migrate.model=esi", "host.model=cpu", "gpus.tlb.model=none" };
    ls_gpu_options options = { .platform = NANO, .platform_gpus = 2, .sets = sets, .set_count = 2 };
    ls_gpu_system *system;
    (void)unused;
    REFUSED(ls_gpu_system_create(&options, &system, &err), LS_ERR_INPUT,
            "migrate.model is 'esi', but host.model is 'none': the IOMMU of the host has the directory");
    options.set_count = 4;
    assert_int_not_equal(ls_gpu_system_create(&options, &system, &err), LS_OK);
    options.set_count = 1;
    options.unified = true;
    options.pages = "first-touch";
    OK(ls_gpu_system_create(&options, &system, &err));
    ls_gpu_context *context;
    ls_gpu_address buffer;
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_select(context, ls_gpu_system_unified(system), &err));
    REFUSED(ls_gpu_alloc(context, PAGE, &buffer, &err), LS_ERR_UNSUPPORTED,
            "pages by first touch need a system whose pages move: migrate.model is 'none'");
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows),      cmocka_unit_test(random_all),
        cmocka_unit_test(shared_pages), cmocka_unit_test(spilled),
        cmocka_unit_test(refusals),     cmocka_unit_test(frees_wait_for_pages),
        cmocka_unit_test(lost_gpus),    cmocka_unit_test(gpus_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
