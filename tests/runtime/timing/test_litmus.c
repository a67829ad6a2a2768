/* test_litmus.c: litmus tests over two GPUs, for each place of the RDMA engine, each policy of L2, each model of pages that
 * move, and each home of the variables. A test sweeps the delay between its threads. Outcomes that the memory model forbids never appear; those
 * that it allows and that the test is about do, so that a machine which orders everything is noticed too.
 *
 * Scopes: a load or store with glc is of system scope, s_waitcnt orders it (release), buffer_wbinvl1_vol is an
 * acquire. */
#include "remote_rig.h"

#include "model/amd_memory/place_memory.h"
#include "model/fabric/host.h"
#include "model/migrate/migrate.h"

#define STEPS 24u /* of a sweep */
#define STEP 6u   /* turns of the delay loop, some 40 cycles each */
#define VARIABLE 256u
#define SECOND (64u << 10) /* offset of variables y */
#define RESULTS (128u << 10)
#define THREADS_MAX 4u
#define FABRIC "fabric: {model: full, link_latency_ns: 250}"
#define MOVED_BYTES (UINT64_C(2) << 20) /* of memory whose pages move, of each GPU */

/* ------------------------------------------------------------------------------------------------ threads
 * For gfx803, one lane. Arguments: a, b, where to write r0 and r1, turns of the delay loop. */

/* a = 1; wait for it; b = 1. */
static const uint32_t release[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc700000, 0x00000600, 0xbf8c0070, 0xdc710000, 0x00000602, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* look at b; r0 = a (glc); buffer_wbinvl1_vol; r1 = b. */
static const uint32_t acquire[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xdc500000, 0x09000002, 0xbf8c0070, 0xbf06800a, 0xbf850003,
    0x808a810a, 0xbf800007, 0xbf82fffb, 0xdc510000, 0x07000000, 0xbf8c0070, 0xe0fc0000, 0x00000000, 0xbf8c0f70,
    0xdc500000, 0x08000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* look at b; r0 = a (glc); r1 = b. */
static const uint32_t stale[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207,
    0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xdc500000, 0x09000002, 0xbf8c0070,
    0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb, 0xdc510000, 0x07000000, 0xbf8c0070,
    0xdc500000, 0x08000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* a = 1; wait for it; r0 = b (glc). */
static const uint32_t store_load[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc710000, 0x00000600, 0xbf8c0070, 0xdc510000, 0x07000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* a = 1; r0 = b (glc), without a wait. */
static const uint32_t store_pass_load[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc710000, 0x00000600, 0xdc510000, 0x07000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* r0 = a (glc); wait for it; b = 1. */
static const uint32_t load_store[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc510000, 0x07000000, 0xbf8c0070, 0xdc710000, 0x00000602, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* a = 1. */
static const uint32_t store[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207,
    0x7e080208, 0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a,
    0xbf800007, 0xbf82fffb, 0xdc710000, 0x00000600, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* r0 = a (glc); wait for it; r1 = b (glc). */
static const uint32_t two_loads[] = {
    0xbefe0181, 0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e040206, 0x7e060207, 0x7e080208,
    0x7e0a0209, 0x7e0c0281, 0x7e0e0280, 0x7e100280, 0xbf06800a, 0xbf850003, 0x808a810a, 0xbf800007, 0xbf82fffb,
    0xdc510000, 0x07000000, 0xbf8c0070, 0xdc510000, 0x08000002, 0xbf8c0070, 0xdc740000, 0x00000704, 0xbf810000,
};
/* delay times, by each lane: old = atomic a += 1; atomic b[old] += 1. */
static const uint32_t counting[] = {
    0xc00e0100, 0x00000000, 0xbf8c007f, 0x7e000204, 0x7e020205, 0x7e0c0281, 0xdd090000,
    0x07000600, 0xbf8c0070, 0x24100e82, 0x7e060207, 0x32041006, 0x38060680, 0xdd080000,
    0x00000602, 0x808a810a, 0xbf07800a, 0xbf85fff4, 0xbf8c0070, 0xbf810000,
};

/* ------------------------------------------------------------------------------------------------------ rig */

static const char *const modes[][4] = {
    { NULL },
    { "gpus.rdma.at=memory", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=read-only", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=partitioned", NULL },
    /* Pages move. A page that a GPU may write is nowhere else, so no stale line is ever seen. */
    { "host.model=cpu", "migrate.model=page", "migrate.check=true", NULL },
    { "host.model=cpu", "migrate.model=page", "migrate.threshold=3", NULL },
    { "host.model=cpu", "migrate.model=esi", "migrate.check=true", NULL },
    { "host.model=cpu", "migrate.model=split", "migrate.check=true", NULL },
};
#define MODES LS_COUNT_OF(modes)
#define STILL_MODES 4u /* the first: pages stay */
#define HOMES 4u       /* of x and y: bit 0 and bit 1 */

/* Two GPUs, and memory for variables on each. */
typedef struct rig {
    remote_rig base;
    memory_space *host_space; /* NULL: pages stay */
    uint64_t frames[2][3];    /* of the variables of a GPU: on each GPU and the host */
} rig;

static void open_rig(rig *r, uint32_t mode)
{
    const uint32_t pages = LS_PAGE_READ | LS_PAGE_WRITE;
    memset(r, 0, sizeof *r);
    remote_open(&r->base, 2, FABRIC, modes[mode]);
    ls_block *directory = ls_engine_part(r->base.engine, MIGRATE_PART, 0);
    assert_int_equal(directory != NULL, mode >= STILL_MODES);
    if (directory == NULL)
        return;
    const host_part *host = ls_engine_part(r->base.engine, HOST_PART, 0);
    OK(address_space_create(REMOTE_SPACE, &r->host_space, &err));
    for (uint32_t g = 0; g < 2; g++) {
        const ls_pages table = page_view_pages(&r->base.gpus[g].view);
        OK(host_set_pages(host->host, g, &table, &err));
        for (uint32_t place = 0; place < 3; place++) {
            memory_space *space = place == 2 ? r->host_space : r->base.gpus[place].space;
            OK(address_space_alloc(space, MOVED_BYTES, MOVED_BYTES, pages, &r->frames[g][place], &err));
        }
    }
    for (uint32_t g = 0; g < 2; g++) /* again: with the pages that were mapped since */
        OK(amd_gpu_set_memory(r->base.gpus[g].gpu, r->base.gpus[g].space, &err));
    OK(line_memory_attach(host->memory, r->host_space, &err));
    for (uint32_t g = 0; g < 2; g++) {
        const migrate_range range = {
            .address = mem_place_virtual(g, r->frames[g][g]),
            .bytes = MOVED_BYTES,
            .frames = { [0] = r->frames[g][0], [1] = r->frames[g][1], [MEM_PLACE_HOST] = r->frames[g][2] }
        };
        OK(migrate_add_range(directory, &range, g, &err));
    }
}

static void close_rig(rig *r)
{
    remote_close(&r->base);
    address_space_destroy(r->host_space);
}

/* The virtual address of a variable. */
static uint64_t at(const rig *r, uint32_t gpu, uint64_t offset)
{
    return r->host_space != NULL ? mem_place_virtual(gpu, r->frames[gpu][gpu] + offset)
                                 : remote_at(&r->base, gpu, offset);
}

/* Copies variables to the host; DMA engines have virtual addresses where pages move. */
static void fetch(rig *r, uint64_t from, void *to, uint64_t bytes)
{
    ls_command_packet packet;
    remote_transfer(&r->base, 0, LS_DMA_OUT, 0, r->host_space != NULL ? from : mem_place_at_home(0, from),
                    bytes, to, &packet);
    remote_run(&r->base, 1, 1);
}

typedef struct thread {
    const uint32_t *words;
    size_t count;
    uint32_t gpu;
    bool swapped; /* a is y and b is x; else a is x and b is y */
} thread;
#define THREAD(words_, gpu_, swapped_)                                                                        \
    {                                                                                                         \
        words_, LS_COUNT_OF(words_), gpu_, swapped_                                                           \
    }

typedef struct results {
    uint32_t r[STEPS][THREADS_MAX][2];
} results;

/* The first threads are delayed in the first half of the sweep, the others in the second half. */
static uint32_t delay_of(uint32_t step, uint32_t number, uint32_t count)
{
    bool first = number < count / 2, first_half = step < STEPS / 2;
    return first == first_half ? (step % (STEPS / 2)) * STEP : 0;
}

static void sweep(const thread *threads, uint32_t count, uint32_t homes, uint32_t mode, results *out)
{
    static uint32_t words[STEPS * THREADS_MAX * 16];
    rig r;
    ls_command_packet packets[THREADS_MAX];
    uint32_t programs[THREADS_MAX];
    open_rig(&r, mode);
    for (uint32_t i = 0; i < count; i++)
        programs[i] = remote_program(&r.base, threads[i].words, threads[i].count);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t x = at(&r, homes & 1, step * VARIABLE), y = at(&r, homes >> 1, SECOND + step * VARIABLE);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t args[] = { threads[i].swapped ? y : x, threads[i].swapped ? x : y,
                                      at(&r, 0, RESULTS + (step * THREADS_MAX + i) * 64),
                                      delay_of(step, i, count) };
            remote_launch_beside(&r.base, threads[i].gpu, programs[i], 64, args, 4, &packets[i]);
        }
        remote_run(&r.base, count, 1);
        for (uint32_t i = 0; i < count; i++)
            assert_false(packets[i].has_fault);
    }
    fetch(&r, at(&r, 0, RESULTS), words, sizeof words);
    for (uint32_t step = 0; step < STEPS; step++)
        for (uint32_t i = 0; i < count; i++)
            memcpy(out->r[step][i], &words[(step * THREADS_MAX + i) * 16], 8);
    close_rig(&r);
}

/* Of threads t and u: how often the registers had these values. */
static uint32_t seen(const results *all, uint32_t t, uint32_t k, uint32_t a, uint32_t u, uint32_t l,
                     uint32_t b)
{
    uint32_t count = 0;
    for (uint32_t step = 0; step < STEPS; step++)
        count += all->r[step][t][k] == a && all->r[step][u][l] == b;
    return count;
}

/* ---------------------------------------------------------------------------------------------------- tests */

/* Writer: x = 1; y = 1. Reader: r0 = y; r1 = x. */
static void message_passing(void **state)
{
    (void)state;
    static const thread threads[] = { THREAD(release, 0, false), THREAD(acquire, 1, true) };
    for (uint32_t mode = 0; mode < MODES; mode++)
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            results all;
            sweep(threads, 2, homes, mode, &all);
            assert_int_equal(seen(&all, 1, 0, 1, 1, 1, 0), 0);
            assert_true(seen(&all, 1, 0, 1, 1, 1, 1) > 0);
            assert_true(mode >= STILL_MODES ||
                        seen(&all, 1, 0, 0, 1, 1, 0) + seen(&all, 1, 0, 0, 1, 1, 1) > 0);
        }
}

/* Without an acquire the reader's first cache still has the old line. */
static void message_passing_without_acquire(void **state)
{
    (void)state;
    static const thread threads[] = { THREAD(release, 0, false), THREAD(stale, 1, true) };
    for (uint32_t mode = 0; mode < STILL_MODES; mode++) {
        results all;
        sweep(threads, 2, 0, mode, &all);
        assert_true(seen(&all, 1, 0, 1, 1, 1, 0) > 0);
    }
}

/* x = 1; r0 = y and y = 1; r0 = x. */
static void store_buffering(void **state)
{
    (void)state;
    static const thread threads[] = { THREAD(store_load, 0, false), THREAD(store_load, 1, true) };
    static const thread weak[] = { THREAD(store_pass_load, 0, false), THREAD(store_pass_load, 1, true) };
    for (uint32_t mode = 0; mode < MODES; mode++) {
        results all;
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            sweep(threads, 2, homes, mode, &all);
            assert_int_equal(seen(&all, 0, 0, 0, 1, 0, 0), 0);
            assert_true(seen(&all, 0, 0, 0, 1, 0, 1) > 0 || mode >= STILL_MODES);
            assert_true(seen(&all, 0, 0, 1, 1, 0, 0) > 0 || mode >= STILL_MODES);
        }
        if (mode >= STILL_MODES)
            continue;
        sweep(weak, 2, 1, mode, &all); /* each reads the own memory: quicker than its store */
        assert_true(seen(&all, 0, 0, 0, 1, 0, 0) > 0);
    }
}

/* r0 = x; y = 1 and r0 = y; x = 1. */
static void load_buffering(void **state)
{
    (void)state;
    static const thread threads[] = { THREAD(load_store, 0, false), THREAD(load_store, 1, true) };
    for (uint32_t mode = 0; mode < MODES; mode++)
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            results all;
            sweep(threads, 2, homes, mode, &all);
            assert_int_equal(seen(&all, 0, 0, 1, 1, 0, 1), 0);
            assert_true(seen(&all, 0, 0, 0, 1, 0, 1) > 0 || mode >= STILL_MODES);
            assert_true(seen(&all, 0, 0, 1, 1, 0, 0) > 0 || mode >= STILL_MODES);
        }
}

/* Two writers; two readers that must not see their stores in different orders. */
static void independent_reads_of_independent_writes(void **state)
{
    (void)state;
    static const thread threads[] = { THREAD(store, 0, false), THREAD(two_loads, 0, false),
                                      THREAD(store, 1, true), THREAD(two_loads, 1, true) };
    for (uint32_t mode = 0; mode < MODES; mode++)
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            results all;
            uint32_t wrong = 0, both = 0;
            sweep(threads, 4, homes, mode, &all);
            for (uint32_t step = 0; step < STEPS; step++) {
                const uint32_t *one = all.r[step][1], *two = all.r[step][3]; /* x then y; y then x */
                wrong += one[0] == 1 && one[1] == 0 && two[0] == 1 && two[1] == 0;
                both += (one[0] | one[1] | two[0] | two[1]) != 0;
            }
            assert_int_equal(wrong, 0);
            assert_true(both > 0);
        }
}

/* Two waves of each GPU count, 20 times in 64 lanes: every number comes once. */
static void atomics(void **state)
{
    (void)state;
    static uint32_t values[4 * 64 * 20];
    for (uint32_t mode = 0; mode < MODES; mode++)
        for (uint32_t home = 0; home < 2; home++) {
            rig r;
            ls_command_packet packets[2];
            open_rig(&r, mode);
            uint32_t program = remote_program(&r.base, counting, LS_COUNT_OF(counting));
            const uint64_t args[] = { at(&r, home, 0), at(&r, 1 - home, SECOND), 0, 20 };
            for (uint32_t g = 0; g < 2; g++)
                remote_launch_beside(&r.base, g, program, 128, args, 4, &packets[g]);
            remote_run(&r.base, 2, 2);
            fetch(&r, args[1], values, sizeof values);
            for (uint32_t i = 0; i < LS_COUNT_OF(values); i++)
                assert_int_equal(values[i], 1);
            close_rig(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_passing),
        cmocka_unit_test(message_passing_without_acquire),
        cmocka_unit_test(store_buffering),
        cmocka_unit_test(load_buffering),
        cmocka_unit_test(independent_reads_of_independent_writes),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
