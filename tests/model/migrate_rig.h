/* migrate_rig.h: abstract GPUs (migrate_gpu.h) on a real fabric with the real host and directory: building, running, and the
 * rules that hold when all is at rest. */
#ifndef TESTS_MODEL_MIGRATE_RIG_H
#define TESTS_MODEL_MIGRATE_RIG_H

#include "migrate_gpu.h"

/* ------------------------------------------------------------------------------------------------- building */

static const ls_state_row mrig_rows[] = {
    LS_STATE_FIXED_SPAN(mrig_gpu, end, id),
    LS_STATE_EVENT(mrig_gpu, event),
    LS_STATE_DATA_SPAN(mrig_gpu, random, unused),
};
static const ls_block_type mrig_type = { .abi = LS_ABI_VERSION,
                                         .slot = "test",
                                         .name = "abstract gpu",
                                         .state_size = sizeof(mrig_gpu),
                                         .rows = mrig_rows,
                                         .row_count = LS_COUNT_OF(mrig_rows) };

static inline mrig_gpu *mrig_gpu_at(const mrig *r, uint32_t i)
{
    ls_fabric_end *end = ls_engine_part(r->engine, LS_FABRIC_END_PART, i);
    return end->receiver;
}

static inline void mrig_add_gpu(mrig *r, uint32_t i)
{
    char name[16];
    ls_clock clock;
    ls_domain *domain;
    ls_group *group;
    ls_block *block;
    snprintf(name, sizeof name, "gpu%u", i);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, name, clock, &domain, NULL), LS_OK);
    assert_int_equal(ls_group_create(r->engine, name, &group, NULL), LS_OK);
    assert_int_equal(ls_domain_set_group(domain, group, NULL), LS_OK);
    assert_int_equal(ls_block_create(ls_domain_region(domain, 0), name, &mrig_type, NULL, &block, NULL),
                     LS_OK);
    mrig_gpu *g = ls_block_state(block);
    memcpy(g->name, name, sizeof name);
    g->rig = r;
    g->id = i;
    g->end = (ls_fabric_end){ .name = g->name,
                              .number = i,
                              .region = ls_domain_region(domain, 0),
                              .receive = mrig_receive,
                              .receiver = g };
    for (uint32_t c = 0; c < LS_FABRIC_COPY; c++)
        g->end.receive_credits[c] = 64;
    ls_random_init(&g->random, 77 + i + 1000 * r->seed);
    ls_event_init(&g->event, mrig_step, g);
    assert_int_equal(ls_engine_add_part(r->engine, LS_FABRIC_END_PART, &g->end, NULL), LS_OK);
}

static inline ls_status mrig_build_slot(mrig *r, const char *slot, const char *model, const char *const *sets,
                                        ls_error *err)
{
    const ls_block_type *type = ls_registry_find_block(slot, model);
    assert_non_null(type);
    void *spec = ls_engine_alloc(r->engine, type->spec_size);
    frig_fill(type, sets, spec);
    if (strcmp(slot, LS_HOST_SLOT) == 0)
        return ls_host_build(r->engine, type, spec, r->gpus, err);
    if (strcmp(slot, LS_MIGRATE_SLOT) == 0)
        return ls_migrate_build(r->engine, type, spec, r->gpus, err);
    ls_fabric_plan plan;
    ls_status status = fabric_collect_ends(r->engine, r->gpus, &plan, err);
    const ls_fabric_ops *ops = ls_block_type_port(type, LS_FABRIC_INTERFACE, false)->ops;
    return status == LS_OK ? ops->build(r->engine, spec, &plan, err) : status;
}

/* Two ranges, the first at GPU 0 and the second at the last GPU, unless migrate.start or the capacity say otherwise. */
static inline void mrig_add_ranges(mrig *r)
{
    ls_error err = { 0 };
    for (uint32_t i = 0; i < MRIG_RANGES; i++) {
        r->range[i] = (migrate_range){ .address = mem_place_virtual(i, LS_WINDOW_BASE + (3 + i) * MRIG_BLOCK),
                                       .bytes = MRIG_BLOCK };
        for (uint32_t place = 0; place < r->gpus; place++)
            r->range[i].frames[place] = LS_WINDOW_BASE + (10 + 7 * place + 3 * i) * MRIG_BLOCK;
        r->range[i].frames[MEM_PLACE_HOST] = LS_WINDOW_BASE + (1 + i) * MRIG_BLOCK;
        if (migrate_add_range(r->directory, &r->range[i], i == 0 ? 0 : r->gpus - 1, &err) != LS_OK)
            fail_msg("%s", err.what);
    }
}

static inline ls_status mrig_try_open(mrig *r, const char *model, const char *const *sets,
                                      const char *fabric_model, ls_error *err)
{
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    for (uint32_t i = 0; i < r->gpus; i++)
        mrig_add_gpu(r, i);
    assert_int_equal(mrig_build_slot(r, LS_HOST_SLOT, "cpu", NULL, err), LS_OK);
    ls_status status = mrig_build_slot(r, LS_MIGRATE_SLOT, model, sets, err);
    if (status != LS_OK)
        return status;
    assert_int_equal(mrig_build_slot(r, LS_FABRIC_SLOT, fabric_model, NULL, err), LS_OK);
    r->host = ls_engine_part(r->engine, HOST_PART, 0);
    r->directory = ls_engine_part(r->engine, MIGRATE_PART, 0);
    assert_int_equal(address_space_create(UINT64_C(1) << 25, &r->space, err), LS_OK);
    assert_int_equal(address_space_map(r->space, LS_WINDOW_BASE + MRIG_BLOCK, MRIG_BYTES,
                                       LS_PAGE_READ | LS_PAGE_WRITE, err),
                     LS_OK);
    assert_int_equal(line_memory_attach(r->host->memory, r->space, err), LS_OK);
    return LS_OK;
}

static inline void mrig_open(mrig *r, const char *model, const char *const *sets, const char *fabric_model)
{
    ls_error err = { 0 };
    if (mrig_try_open(r, model, sets, fabric_model, &err) != LS_OK)
        fail_msg("%s", err.what);
    mrig_add_ranges(r);
}

/* The threads begin. */
static inline void mrig_start(mrig *r)
{
    for (uint32_t i = 0; i < r->gpus; i++) {
        mrig_gpu *g = mrig_gpu_at(r, i);
        for (uint32_t k = 0; k < r->threads; k++) {
            g->threads[k].left = r->accesses + 1;
            ls_domain_pending(ls_region_domain(g->end.region), 1);
            mrig_next(g, &g->threads[k], 0);
        }
        mrig_wake(g);
    }
}

static inline ls_status mrig_run(mrig *r, uint32_t host_threads, ls_cycle until, ls_error *err)
{
    ls_run_options options = { .threads = host_threads, .until = until * UINT64_C(1000000) };
    return ls_run(r->engine, &options, NULL, err);
}

static inline const directory *mrig_directory(const mrig *r)
{
    return ls_block_state(r->directory);
}

static inline void mrig_run_ok(mrig *r, uint32_t host_threads)
{
    ls_error err = { 0 };
    if (mrig_run(r, host_threads, 0, &err) != LS_OK)
        fail_msg("%s", err.what);
    if (r->wrong != 0)
        fail_msg("%s", r->why);
}

/* The number of a line where the directory says that it is. */
static inline uint32_t mrig_value(const mrig *r, uint32_t line)
{
    uint32_t place, value = 0;
    uint64_t frame, run;
    assert_true(migrate_find(r->directory, mrig_virtual(r, line), 64, &place, &frame, &run));
    assert_int_equal(frame, mrig_frame(r, place, line));
    if (place != MEM_PLACE_HOST)
        return mrig_gpu_at(r, place)->memory[line];
    assert_true(line_memory_copy_out(r->host->memory, frame, &value, sizeof value));
    return value;
}

/* Pages tile the ranges, with sizes inside the limits; each has a holder; what is resident adds up. */
static inline void mrig_check_pages(const mrig *r)
{
    const directory *d = mrig_directory(r);
    uint64_t resident[MEM_PLACES] = { 0 };
    for (uint32_t i = 0; i < MRIG_RANGES; i++)
        for (uint64_t at = 0; at < MRIG_BLOCK;) {
            uint32_t unit = dir_find(d, r->range[i].address + at);
            assert_int_not_equal(unit, DIR_NOWHERE);
            const dir_page *p = &d->pages[unit];
            uint64_t bytes = UINT64_C(1) << d->sizes[unit];
            assert_int_equal(p->address, r->range[i].address + at);
            assert_true(d->sizes[unit] >= d->unit_log2 && d->sizes[unit] <= d->largest_log2);
            assert_int_equal(at % bytes, 0);
            assert_true(dir_holder_count(p) >= 1);
            assert_true(!dir_is_exclusive(p) || dir_holder_count(p) == 1);
            assert_int_equal(p->grants, 0);
            assert_int_equal(p->remote & ~p->mappers, 0);
            for (uint64_t mask = p->holders; mask != 0; mask &= mask - 1)
                resident[__builtin_ctzll(mask)] += bytes;
            at += bytes;
        }
    assert_true(d->n.resident_peak <= d->capacity);
    for (uint32_t i = 0; i < r->gpus; i++) {
        assert_int_equal(resident[i], d->resident[i]);
        assert_true(resident[i] <= d->capacity);
        assert_int_equal(d->leaving[i], 0);
    }
}

/* Nothing is left under way, every question was granted once, and no number was lost. */
static inline void mrig_at_rest(const mrig *r)
{
    const directory *d = mrig_directory(r);
    uint64_t asks = 0, grants = 0, writes = 0, sum = 0, done = 0;
    assert_true(migrate_is_idle(r->directory));
    for (uint32_t i = 0; i < r->gpus; i++) {
        const mrig_gpu *g = mrig_gpu_at(r, i);
        asks += g->asks;
        grants += g->grants;
        writes += g->writes;
        done += g->reads + g->writes;
        assert_int_equal(g->shoot_count, 0);
    }
    assert_int_equal(done, (uint64_t)r->gpus * r->threads * r->accesses);
    assert_int_equal(asks, grants);
    assert_int_equal(asks, d->n.asks);
    assert_int_equal(grants, d->n.grants);
    for (uint32_t line = 0; line < MRIG_LINES; line++) {
        if (r->newest[line] != 0)
            assert_int_equal(mrig_value(r, line), r->newest[line]);
        sum += r->newest[line];
    }
    assert_int_equal(sum, writes);
    mrig_check_pages(r);
}

/* All that must not depend on threads. */
static inline uint64_t mrig_hash(const mrig *r)
{
    const directory *d = mrig_directory(r);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < r->gpus; i++) {
        const mrig_gpu *g = mrig_gpu_at(r, i);
        hash = (hash ^ g->hash ^ g->shots << 20 ^ g->arrivals << 40) * UINT64_C(0x100000001b3);
    }
    for (size_t i = 0; i < sizeof d->n / sizeof(uint64_t); i++)
        hash = (hash ^ ((const uint64_t *)(const void *)&d->n)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline void mrig_close(mrig *r)
{
    ls_engine_destroy(r->engine);
    address_space_destroy(r->space);
    r->engine = NULL;
}

#endif
