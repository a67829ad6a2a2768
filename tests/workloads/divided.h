/* divided.h: runs a workload that divides itself over the GPUs of a system, and compares outcomes. */
#ifndef TESTS_WORKLOADS_DIVIDED_H
#define TESTS_WORKLOADS_DIVIDED_H

#include "lockstep/driver.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

typedef struct sized {
    const char *workload;
    uint64_t size;
} sized;

typedef struct outcome {
    uint64_t hash, instructions, waves, now_ns;
    ls_gpu_memory_check check;
} outcome;

static int runs, failures;

static void complain(const char *workload, const char *where, const char *what)
{
    failures++;
    printf("%s %s: %s\n", workload, where, what);
}

/* Verifies the result, too. */
static void run_on(ls_gpu_system *system, const sized *what, wl_devices devices, const char *where,
                   outcome *out)
{
    const wl_workload *w;
    wl_setting size = { .name = "size", .value = what->size };
    wl_result result = { 0 };
    ls_error err;
    char text[900];
    ls_status status = wl_find(what->workload, &w, &err);
    if (status == LS_OK)
        status = wl_run_workload(&(wl_request){ .workload = w,
                                                .system = system,
                                                .devices = devices,
                                                .settings = &size,
                                                .setting_count = 1,
                                                .check = true },
                                 &result, &err);
    runs++;
    *out = (outcome){ .hash = result.hash,
                      .instructions = result.counts.instructions,
                      .waves = result.counts.wavefronts,
                      .now_ns = ls_gpu_system_now(system) };
    if (status != LS_OK)
        complain(what->workload, where, ls_error_text(&err, text, sizeof text));
    /* The programs have no races, so every byte that a write has defined is judged. */
    bool checked = ls_gpu_system_memory_check(system, &out->check);
    if (ls_gpu_system_is_timed(system) && (!checked || out->check.judged_bytes == 0))
        complain(what->workload, where, "its memory was not checked");
    if (out->check.races != 0 || out->check.unordered_bytes != 0)
        complain(what->workload, where, "races");
}

/* Its memory is checked, if it simulates time. */
static ls_gpu_system *make_system(const ls_gpu_options *options, const char *where)
{
    ls_gpu_system *system = NULL;
    ls_gpu_options checked = *options;
    ls_error err;
    char text[900];
    checked.check_memory = options->platform != NULL;
    if (ls_gpu_system_create(&checked, &system, &err) != LS_OK)
        complain("system", where, ls_error_text(&err, text, sizeof text));
    return system;
}

#endif
