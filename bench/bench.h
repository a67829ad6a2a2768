/* bench.h: helpers of the bench programs: arguments, and machines that cannot fail to build. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "lockstep/lockstep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GHZ UINT64_C(1000000000)

static inline void must(ls_status status, const ls_error *err)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "bench: %s\n", err->what);
    exit(1);
}

/* The number at argv[index], or `otherwise` if there is none. */
static inline uint64_t argument(int argc, char **argv, int index, uint64_t otherwise)
{
    return index < argc ? strtoull(argv[index], NULL, 10) : otherwise;
}

static inline ls_engine *bench_engine(void)
{
    ls_error err = { 0 };
    ls_engine *engine = NULL;
    must(ls_engine_create(1, &engine, &err), &err);
    return engine;
}

static inline ls_region *bench_domain(ls_engine *engine, uint32_t number)
{
    ls_error err = { 0 };
    ls_clock clock;
    ls_domain *domain = NULL;
    char name[16];
    snprintf(name, sizeof name, "d%" PRIu32, number);
    must(ls_clock_init(&clock, ls_ratio_make(GHZ, 1), &err), &err);
    must(ls_domain_create(engine, name, clock, &domain, &err), &err);
    return ls_domain_region(domain, 0);
}

static inline ls_link *bench_link(ls_engine *engine, const ls_link_spec *spec)
{
    ls_error err = { 0 };
    ls_link *link = NULL;
    must(ls_link_create(engine, spec, &link, &err), &err);
    return link;
}

static inline ls_run_result bench_run(ls_engine *engine, const ls_run_options *options)
{
    ls_error err = { 0 };
    ls_run_result result;
    must(ls_run(engine, options, &result, &err), &err);
    return result;
}

#endif
