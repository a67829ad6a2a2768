/* fixture.h: helpers of the engine's unit tests: engines and domains without error handling, a log of calls
 * with their times, and clocks computed a second time in 128 bits. */
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/lockstep.h"

#include <stdlib.h>
#include <string.h>

#define GHZ UINT64_C(1000000000) /* a period of exactly 10^6 fs */
#define FS_PER_GHZ_CYCLE UINT64_C(1000000)

__extension__ typedef unsigned __int128 wide;

static inline ls_clock hertz(uint64_t hz)
{
    ls_clock clock = { 0 };
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(hz, 1), NULL), LS_OK);
    return clock;
}

/* The time of an edge and the first edge at or after a time, from the definition of the period alone. */
static inline uint64_t edge_time(uint64_t hz, uint64_t cycle)
{
    return (uint64_t)((wide)cycle * LS_FS_PER_SECOND / hz);
}

static inline uint64_t first_edge(uint64_t hz, uint64_t time)
{
    uint64_t cycle = (uint64_t)((wide)time * hz / LS_FS_PER_SECOND);
    while (edge_time(hz, cycle) < time)
        cycle++;
    while (cycle > 0 && edge_time(hz, cycle - 1) >= time)
        cycle--;
    return cycle;
}

static inline ls_engine *new_engine(void)
{
    ls_engine *engine = NULL;
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_non_null(engine);
    return engine;
}

static inline ls_region *new_domain(ls_engine *engine, const char *name, uint64_t hz)
{
    ls_domain *domain = NULL;
    ls_error err = { 0 };
    if (ls_domain_create(engine, name, hertz(hz), &domain, &err) != LS_OK)
        fail_msg("%s", err.what);
    return ls_domain_region(domain, 0);
}

static inline ls_region *new_region(ls_region *beside, uint64_t hz)
{
    ls_region *region = NULL;
    assert_int_equal(ls_domain_add_region(ls_region_domain(beside), hertz(hz), &region, NULL), LS_OK);
    return region;
}

static inline ls_link *new_link(ls_engine *engine, const ls_link_spec *spec)
{
    ls_link *link = NULL;
    ls_error err = { 0 };
    if (ls_link_create(engine, spec, &link, &err) != LS_OK)
        fail_msg("%s", err.what);
    return link;
}

static inline ls_run_result run_with(ls_engine *engine, const ls_run_options *options)
{
    ls_run_result result;
    ls_error err = { 0 };
    if (ls_run(engine, options, &result, &err) != LS_OK)
        fail_msg("%s", err.what);
    return result;
}

static inline ls_run_result run_all(ls_engine *engine)
{
    return run_with(engine, &(ls_run_options){ .threads = 1 });
}

/* --- a log of (id, cycle) --- */

typedef struct log_entry {
    uint64_t id, cycle;
} log_entry;

typedef struct run_log {
    log_entry at[4096];
    size_t count;
} run_log;

static inline void log_add(run_log *log, uint64_t id, uint64_t cycle)
{
    assert_true(log->count < LS_COUNT_OF(log->at));
    log->at[log->count++] = (log_entry){ id, cycle };
}

static inline void assert_log_(const run_log *log, const log_entry *expected, size_t count, const char *file,
                               int line)
{
    for (size_t i = 0; i < count && i < log->count; i++)
        if (log->at[i].id != expected[i].id || log->at[i].cycle != expected[i].cycle) {
            print_error("entry %zu is %llu in cycle %llu, expected %llu in cycle %llu\n", i,
                        (unsigned long long)log->at[i].id, (unsigned long long)log->at[i].cycle,
                        (unsigned long long)expected[i].id, (unsigned long long)expected[i].cycle);
            _fail(file, line);
        }
    if (log->count != count) {
        print_error("%zu entries, expected %zu\n", log->count, count);
        _fail(file, line);
    }
}
#define assert_log(log, ...)                                                                                  \
    assert_log_((log), (const log_entry[]){ __VA_ARGS__ },                                                    \
                sizeof((const log_entry[]){ __VA_ARGS__ }) / sizeof(log_entry), __FILE__, __LINE__)

/* --- an event that logs when it ran, and then does one more thing --- */

typedef struct probe {
    ls_event event;
    run_log *log;
    uint64_t id;
    void (*then)(void *self, ls_cycle now);
    void *self;
} probe;

static inline void probe_run(void *self, ls_cycle now)
{
    probe *p = self;
    if (p->log != NULL)
        log_add(p->log, p->id, now);
    if (p->then != NULL)
        p->then(p->self, now);
}

static inline void probe_init(probe *p, run_log *log, uint64_t id, void (*then)(void *, ls_cycle), void *self)
{
    *p = (probe){ .log = log, .id = id, .then = then, .self = self };
    ls_event_init(&p->event, probe_run, p);
}

#endif
