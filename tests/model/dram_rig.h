/* dram_rig.h: a rig for the tests of DRAM models: a channel alone with a driver that pushes requests at given
 * cycles and logs the times of the answers. All of it runs on one clock of 1 GHz. The driver has a region of its own, so that
 * its pushes come after all that the channel does in the same cycle. */
#ifndef TESTS_MODEL_DRAM_RIG_H
#define TESTS_MODEL_DRAM_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/dram/bank.h"

#include <string.h>

#define RIG_HZ UINT64_C(1000000000)
/* A request that is pushed in cycle t is in the queue from cycle t + 2 on. It reaches the channel with the
 * next edge and leaves the front at the end of that cycle. */
#define RIG_ENTER 2u

typedef struct rig_request {
    ls_cycle at; /* push; not before the one in front of it */
    uint32_t bank, row;
    bool write;
    uint8_t atoms;
    uint8_t several;       /* reads from this one on that are pushed together; 0: alone */
    uint8_t taken;         /* set by the run: of these, at once */
    ls_cycle pushed, done; /* set by the run; done: LS_CYCLE_MAX if never, or with a later one */
} rig_request;

/* Is there room for a read in this cycle? NULL: always. */
typedef bool (*rig_room_fn)(const void *self, ls_cycle now);

typedef struct rig_driver {
    ls_port dram;
    ls_region *region, *channel_region;
    ls_event event;
    rig_request *requests;
    size_t count, next;
    rig_room_fn room;
    const void *room_self;
    bool ask;       /* waits until the channel is ready; else it has to be */
    bool force;     /* does not check for room: the front must have room for everything */
    ls_cycle until; /* reads the counters then, even if requests are pending; 0: when all is done */
} rig_driver;

static inline bool rig_ready(void *self, uint32_t token)
{
    rig_driver *d = self;
    (void)token;
    return d->room == NULL || d->room(d->room_self, ls_region_now(d->channel_region));
}

static inline void rig_done(void *self, uint32_t token, bool write)
{
    rig_driver *d = self;
    assert_true(token < d->count);
    rig_request *r = &d->requests[token + d->requests[token].taken - 1];
    assert_int_equal(r->write, write);
    assert_true(r->done == LS_CYCLE_MAX); /* once */
    r->done = ls_region_now(d->channel_region);
}

static const ls_dram_reply_ops rig_reply_ops = { .ready = rig_ready, .done = rig_done };

/* One request, or the first of several, as many as are taken; 0: none is. */
static inline uint32_t rig_push_first(rig_driver *d)
{
    const ls_dram_ops *dram = d->dram.ops;
    const rig_request *r = &d->requests[d->next];
    const ls_dram_request request = {
        .bank = r->bank, .row = r->row, .token = (uint32_t)d->next, .write = r->write, .atoms = r->atoms
    };
    if (r->several != 0 && !d->force)
        return dram->push_several(d->dram.self, &request, r->several);
    if (!d->force && !dram->ready(d->dram.self, r->write))
        return 0;
    dram->push(d->dram.self, &request);
    return 1;
}

static inline void rig_push(void *self, ls_cycle now)
{
    rig_driver *d = self;
    while (d->next < d->count && d->requests[d->next].at <= now) {
        rig_request *r = &d->requests[d->next];
        uint32_t taken = rig_push_first(d);
        if (taken == 0) {
            if (!d->ask)
                fail_msg("the channel is full in cycle %llu", (unsigned long long)now);
            ls_schedule(d->region, &d->event, 1);
            return;
        }
        r->taken = (uint8_t)taken;
        for (uint32_t i = 0; i < taken; i++)
            r[i].pushed = now;
        if (taken < r->several) /* the others follow */
            r[taken].several = (uint8_t)(r->several - taken);
        d->next += taken;
    }
    if (d->next < d->count)
        ls_schedule_at(d->region, &d->event, d->requests[d->next].at);
}

static const ls_port_decl rig_ports[] = {
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .offset = offsetof(rig_driver, dram) },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .ops = &rig_reply_ops },
};

static const ls_block_type rig_driver_type = {
    .abi = LS_ABI_VERSION,
    .slot = "test",
    .name = "dram-driver",
    .state_size = sizeof(rig_driver),
    .ports = rig_ports,
    .port_count = LS_COUNT_OF(rig_ports),
};

static inline uint32_t rig_timing(const char *name)
{
    for (uint32_t i = 0; dram_timing_names[i] != NULL; i++)
        if (strcmp(dram_timing_names[i], name) == 0)
            return i;
    fail_msg("there is no timing '%s'", name);
    return 0;
}

/* The defaults of the platform keys, without refresh. */
static inline bank_spec rig_spec(const char *timing)
{
    return (bank_spec){
        .timing = rig_timing(timing), .turnaround = true, .queue_entries = 64, .return_entries = 192
    };
}

static inline dram_timing rig_times(const bank_spec *spec)
{
    return dram_timing_resolve(spec->timing, &spec->keys);
}

/* Runs all requests to their answers and returns the counters. Of `driver`, only room, room_self, ask and
 * force are used. */
static inline ls_dram_counters rig_run_model(const char *model, const void *spec, rig_driver driver,
                                             rig_request *requests, size_t count)
{
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_block *dram = NULL, *block = NULL;
    ls_clock clock;
    ls_error err = { 0 };
    const ls_block_type *type = ls_registry_find_block("dram", model);
    assert_non_null(type);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(RIG_HZ, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "channel", clock, &domain, NULL), LS_OK);
    ls_region *region = NULL, *channel_region = ls_domain_region(domain, 0);
    assert_int_equal(ls_domain_add_region(domain, clock, &region, NULL), LS_OK);
    if (ls_block_create(channel_region, "dram", type, spec, &dram, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_int_equal(ls_block_create(region, "driver", &rig_driver_type, NULL, &block, NULL), LS_OK);
    assert_int_equal(ls_block_connect(block, "dram", dram, "dram", NULL), LS_OK);
    assert_int_equal(ls_block_connect(dram, "reply", block, "reply", NULL), LS_OK);
    assert_int_equal(ls_engine_check_ports(engine, NULL), LS_OK);
    rig_driver *d = ls_block_state(block);
    driver.dram = d->dram;
    *d = driver;
    d->region = region;
    d->channel_region = channel_region;
    d->requests = requests;
    d->count = count;
    for (size_t i = 0; i < count; i++)
        requests[i].done = LS_CYCLE_MAX;
    ls_event_init(&d->event, rig_push, d);
    if (count > 0)
        ls_schedule_at(region, &d->event, requests[0].at);
    const ls_run_options options = { .threads = 1, .until = ls_clock_time(&clock, driver.until) };
    if (ls_run(engine, &options, NULL, &err) != LS_OK)
        fail_msg("%s", err.what);
    for (size_t i = 0; i < count && driver.until == 0; i += requests[i].taken)
        if (requests[i + requests[i].taken - 1].done == LS_CYCLE_MAX)
            fail_msg("request %zu was never answered", i);
    ls_dram_counters counters =
        *(const ls_dram_counters *)(const void *)((const char *)ls_block_state(dram) + type->counters_offset);
    ls_engine_destroy(engine);
    return counters;
}

static inline ls_dram_counters rig_run(const bank_spec *spec, rig_request *requests, size_t count)
{
    return rig_run_model("bank", spec, (rig_driver){ 0 }, requests, count);
}

#endif
