/* litmus.h: litmus tests over two GPUs, for each place of the RDMA engine, each policy of L2, each model of
 * pages that move, and each home of the variables. A test sweeps the delay between its threads. Outcomes that the memory model forbids never appear; those
 * that it allows and that the test is about do, so that a machine which orders everything is noticed too.
 *
 * The memory checker is on: no read that happens after a write gets another value, and the races are known.
 *
 * A test program includes this file, and defines `litmus`: the programs of its instruction set. */
#ifndef TESTS_RUNTIME_TIMING_LITMUS_H
#define TESTS_RUNTIME_TIMING_LITMUS_H

#include "remote_rig.h"

#include "model/amd_memory/place_memory.h"
#include "model/fabric/host.h"
#include "model/migrate/migrate.h"

#define STEPS 24u /* of a sweep */
#define VARIABLE 256u
#define SECOND (64u << 10) /* offset of variables y */
#define RESULTS (128u << 10)
#define THREADS_MAX 4u
#define FABRIC "fabric: {model: full, link_latency_ns: 250}"
#define MOVED_BYTES (UINT64_C(2) << 20) /* of memory whose pages move, of each GPU */

typedef struct litmus_program {
    const uint32_t *words;
    size_t count;
} litmus_program;
#define LITMUS(words_)                                                                                        \
    {                                                                                                         \
        words_, LS_COUNT_OF(words_)                                                                           \
    }

/* One lane runs each. Arguments: a, b, where to write r0 and r1, turns of the delay loop. Loads and stores of the
 * programs are of system scope unless they are called plain. */
typedef struct litmus_set {
    const remote_kind *kind;
    const char *const (*modes)[4]; /* keys of a machine, up to a NULL */
    uint32_t mode_count;
    uint32_t still_modes;           /* the first of them: pages stay */
    uint32_t step;                  /* turns of the delay loop in a step of the sweep: some 240 cycles */
    litmus_program release;         /* plain a = 1; release; b = 1 */
    litmus_program acquire;         /* plain look at b; r0 = a; acquire; plain r1 = b */
    litmus_program stale;           /* plain look at b; r0 = a; plain r1 = b */
    litmus_program store_load;      /* a = 1; wait for it; r0 = b */
    litmus_program store_pass_load; /* a = 1; r0 = b, without a wait */
    litmus_program load_store;      /* r0 = a; wait for it; b = 1 */
    litmus_program store;           /* a = 1 */
    litmus_program two_loads;       /* r0 = a; wait for it; r1 = b */
    litmus_program
        counting; /* as often as the delay says, by each lane: old = atomic a += 1; atomic b[old] += 1 */
} litmus_set;

static const litmus_set litmus;

/* ------------------------------------------------------------------------------------------------------ rig */

#define HOMES 4u /* of x and y: bit 0 and bit 1 */

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
    remote_open_kind(&r->base, litmus.kind, 2, FABRIC, litmus.modes[mode]);
    ls_block *directory = ls_engine_part(r->base.engine, MIGRATE_PART, 0);
    assert_int_equal(directory != NULL, mode >= litmus.still_modes);
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
    const memcheck_work work = { .kind = MEMCHECK_OUT, .from = from, .bytes = bytes };
    uint32_t command = memcheck_begin(r->base.check, &work);
    remote_transfer(&r->base, 0, LS_DMA_OUT, 0, r->host_space != NULL ? from : mem_place_at_home(0, from),
                    bytes, to, &packet);
    remote_run(&r->base, 1, 1);
    memcheck_end(r->base.check, command, to);
    OK(memcheck_flush(r->base.check, 0, &err));
}

typedef struct thread {
    const litmus_program *program;
    uint32_t gpu;
    bool swapped; /* a is y and b is x; else a is x and b is y */
} thread;

typedef struct results {
    memcheck_counts check;
    uint32_t r[STEPS][THREADS_MAX][2];
} results;

/* The first threads are delayed in the first half of the sweep, the others in the second half. */
static uint32_t delay_of(uint32_t step, uint32_t number, uint32_t count)
{
    bool first = number < count / 2, first_half = step < STEPS / 2;
    return first == first_half ? (step % (STEPS / 2)) * litmus.step : 0;
}

static void sweep(const thread *threads, uint32_t count, uint32_t homes, uint32_t mode, results *out)
{
    static uint32_t words[STEPS * THREADS_MAX * 16];
    rig r;
    ls_command_packet packets[THREADS_MAX];
    uint32_t programs[THREADS_MAX];
    open_rig(&r, mode);
    for (uint32_t i = 0; i < count; i++)
        programs[i] = remote_program(&r.base, threads[i].program->words, threads[i].program->count);
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
    out->check = memcheck_get_counts(r.base.check);
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

/* How often thread t did not see the flag. */
static uint32_t not_heard(const results *all, uint32_t t)
{
    uint32_t count = 0;
    for (uint32_t step = 0; step < STEPS; step++)
        count += all->r[step][t][0] == 0;
    return count;
}

/* ---------------------------------------------------------------------------------------------------- tests */

/* Writer: x = 1; y = 1. Reader: r0 = y; r1 = x. */
static void message_passing(void **state)
{
    (void)state;
    const thread threads[] = { { &litmus.release, 0, false }, { &litmus.acquire, 1, true } };
    for (uint32_t mode = 0; mode < litmus.mode_count; mode++)
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            results all;
            sweep(threads, 2, homes, mode, &all);
            assert_int_equal(seen(&all, 1, 0, 1, 1, 1, 0), 0);
            assert_true(seen(&all, 1, 0, 1, 1, 1, 1) > 0);
            /* The look, and a read that did not hear of the store. */
            if (litmus.kind->target == AMD_GFX803) /* one wave: on RDNA two do the same */
                assert_true(all.check.races <= STEPS + not_heard(&all, 1));
            assert_true(mode >= litmus.still_modes ||
                        seen(&all, 1, 0, 0, 1, 1, 0) + seen(&all, 1, 0, 0, 1, 1, 1) > 0);
        }
}

/* Without an acquire the reader's first cache still has the old line. */
static void message_passing_without_acquire(void **state)
{
    (void)state;
    const thread threads[] = { { &litmus.release, 0, false }, { &litmus.stale, 1, true } };
    for (uint32_t mode = 0; mode < litmus.still_modes; mode++) {
        results all;
        sweep(threads, 2, 0, mode, &all);
        assert_true(seen(&all, 1, 0, 1, 1, 1, 0) > 0);
        assert_true(all.check.races > STEPS + not_heard(&all, 1)); /* what it heard of, too */
    }
}

/* x = 1; r0 = y and y = 1; r0 = x. */
static void store_buffering(void **state)
{
    (void)state;
    const thread threads[] = { { &litmus.store_load, 0, false }, { &litmus.store_load, 1, true } };
    const thread weak[] = { { &litmus.store_pass_load, 0, false }, { &litmus.store_pass_load, 1, true } };
    for (uint32_t mode = 0; mode < litmus.mode_count; mode++) {
        results all;
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            sweep(threads, 2, homes, mode, &all);
            assert_int_equal(seen(&all, 0, 0, 0, 1, 0, 0), 0);
            assert_true(seen(&all, 0, 0, 0, 1, 0, 1) > 0 || mode >= litmus.still_modes);
            assert_true(seen(&all, 0, 0, 1, 1, 0, 0) > 0 || mode >= litmus.still_modes);
        }
        if (mode >= litmus.still_modes)
            continue;
        sweep(weak, 2, 1, mode, &all); /* each reads the own memory: quicker than its store */
        assert_true(seen(&all, 0, 0, 0, 1, 0, 0) > 0);
    }
}

/* r0 = x; y = 1 and r0 = y; x = 1. */
static void load_buffering(void **state)
{
    (void)state;
    const thread threads[] = { { &litmus.load_store, 0, false }, { &litmus.load_store, 1, true } };
    for (uint32_t mode = 0; mode < litmus.mode_count; mode++)
        for (uint32_t homes = 0; homes < HOMES; homes++) {
            results all;
            sweep(threads, 2, homes, mode, &all);
            assert_int_equal(seen(&all, 0, 0, 1, 1, 0, 1), 0);
            assert_true(seen(&all, 0, 0, 0, 1, 0, 1) > 0 || mode >= litmus.still_modes);
            assert_true(seen(&all, 0, 0, 1, 1, 0, 0) > 0 || mode >= litmus.still_modes);
        }
}

/* Two writers; two readers that must not see their stores in different orders. */
static void independent_reads_of_independent_writes(void **state)
{
    (void)state;
    const thread threads[] = { { &litmus.store, 0, false },
                               { &litmus.two_loads, 0, false },
                               { &litmus.store, 1, true },
                               { &litmus.two_loads, 1, true } };
    for (uint32_t mode = 0; mode < litmus.mode_count; mode++)
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

/* 128 work-items of each GPU count, 20 times: every number comes once. */
static void atomics(void **state)
{
    (void)state;
    static uint32_t values[4 * 64 * 20];
    for (uint32_t mode = 0; mode < litmus.mode_count; mode++)
        for (uint32_t home = 0; home < 2; home++) {
            rig r;
            ls_command_packet packets[2];
            open_rig(&r, mode);
            uint32_t program = remote_program(&r.base, litmus.counting.words, litmus.counting.count);
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

#define LITMUS_TESTS                                                                                          \
    cmocka_unit_test(message_passing), cmocka_unit_test(message_passing_without_acquire),                     \
        cmocka_unit_test(store_buffering), cmocka_unit_test(load_buffering),                                  \
        cmocka_unit_test(independent_reads_of_independent_writes), cmocka_unit_test(atomics)

#endif
