/* position_rig.h: runs a simulation, saves the position before each of its kernels, and runs it from there: for the tests of
 * positions. */
#ifndef TESTS_SIM_POSITION_RIG_H
#define TESTS_SIM_POSITION_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/sim.h"
#include "sim/session.h"
#include "workload/position.h"

#include <stdio.h>
#include <string.h>

static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };
static ls_error err;

static inline void ok(ls_status status)
{
    if (status != LS_OK)
        fail_msg("%s: %s", err.where, err.what);
}

typedef struct kernel_row {
    ls_sim_kernel kernel;
    char name[64];
    uint64_t instructions;
} kernel_row;

enum { ROWS_MAX = 32 };

typedef struct run_rows {
    kernel_row at[ROWS_MAX];
    uint8_t positions[ROWS_MAX][POSITION_BYTES];
    size_t count;
    uint64_t hash, instructions;
} run_rows;

static inline ls_sim_options options_of(const char *platform, const char *workload)
{
    return (ls_sim_options){ LS_SIM_OPTIONS, .platform = platform, .platform_dirs = dirs,
                             .platform_dir_count = 1, .workload = workload };
}

static inline void read_kernel(ls_sim *sim, size_t i, run_rows *out)
{
    bool trace = sim->has_trace || sim->has_devices;
    source_position p;
    ls_sim_metric metric;
    kernel_row *row = &out->at[i];
    ok(ls_sim_get_kernel(sim, i, &row->kernel, &err));
    snprintf(row->name, sizeof row->name, "%s", row->kernel.name);
    ok(ls_sim_find_metric(sim, i, trace ? "core/*" : "cu/*", NULL,
                          trace ? "warp_instructions" : "instructions", &metric, &err));
    row->instructions = metric.value;
    ok(session_position(sim, i, &p, &err));
    position_write(&p, out->positions[i]);
}

/* Runs a workload from a saved position on; NULL: all of it. */
static inline void run_from(const ls_sim_options *options, const uint8_t *position, uint32_t threads,
                            run_rows *out)
{
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = threads };
    source_position from;
    ls_sim *sim;
    if (position)
        ok(position_read(position, POSITION_BYTES, "memory", &from, &err));
    ok(session_open_at(options, position ? &from : NULL, &sim, &err));
    ok(ls_sim_run(sim, &how, &err));
    assert_false(ls_sim_get_result(sim).partial);
    out->count = ls_sim_kernel_count(sim);
    assert_in_range(out->count, 1, ROWS_MAX);
    for (size_t i = 0; i < out->count; i++)
        read_kernel(sim, i, out);
    out->hash = sim->program.result.hash;
    out->instructions = sim->program.result.counts.instructions;
    ls_sim_close(sim);
}

/* The kernels of `rest` are the last ones of `whole`. */
static inline void compare_kernels(const run_rows *whole, const run_rows *rest, size_t first)
{
    uint64_t instructions = 0;
    assert_int_equal(rest->count, whole->count - first);
    for (size_t i = 0; i < rest->count; i++) {
        const kernel_row *a = &whole->at[first + i], *b = &rest->at[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->kernel.number, b->kernel.number);
        assert_true(b->instructions > 0);
        assert_int_equal(a->instructions, b->instructions);
        assert_memory_equal(whole->positions[first + i], rest->positions[i], POSITION_BYTES);
        instructions += b->instructions;
    }
    if (rest->instructions) /* of a program: those without time do not count */
        assert_int_equal(rest->instructions, instructions);
}

static inline void compare_times(const run_rows *a, const run_rows *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->at[i].kernel.begin, b->at[i].kernel.begin);
        assert_int_equal(a->at[i].kernel.end, b->at[i].kernel.end);
    }
}

static inline ls_status open_at(const ls_sim_options *options, const source_position *from)
{
    ls_sim *sim;
    ls_status status = session_open_at(options, from, &sim, &err);
    ls_sim_close(sim);
    return status;
}

#endif
