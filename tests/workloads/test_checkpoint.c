/* test_checkpoint.c: workloads in simulated time that are saved in the middle of a kernel or a copy and go on in another
 * machine, with another number of threads: `workloads_checkpoint [CASE | every PLATFORM]`. Memory, counts, times, what a watcher of
 * commands sees, and all counters must be those of the run that was not interrupted. Exit code 77 (skipped) without
 * compiled kernels. */
#include "sizes.h"

#include "base/hash.h"
#include "lockstep/driver.h"
#include "runtime/timing/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77
#define PLATFORMS LS_SOURCE_DIR "/platforms/"
#define POINTS 4u /* checkpoints of a run */

typedef struct row {
    const char *name, *platform, *workload;
    uint64_t size; /* 0: all options have the values of sizes.h */
    uint32_t gpus;
    wl_devices devices;
    const char *spread;
    const char *sets[6];
} row;

#define SYSTEM "gpus.clusters=2", "fabric.model=pcie", "host.model=cpu"

/* Small GPUs: the state of a large one is only more of the same. */
static const row rows[] = {
    { "gcn", "r9nano", "fir", 2048, 1, WL_SINGLE, NULL, { "clusters=2" } },
    { "rdna", "w6800", "bitonicsort", 256, 1, WL_SINGLE, NULL, { "clusters=6" } },
    { "discrete", "r9nano", "fir", 1024, 2, WL_DISCRETE, NULL, { "gpus.clusters=2" } },
    { "central", "r9nano", "fir", 1024, 2, WL_UNIFIED, "central", { SYSTEM } },
    { "page", "r9nano", "fir", 1024, 2, WL_UNIFIED, NULL, { SYSTEM, "migrate.model=page" } },
    { "split", "r9nano", "fir", 1024, 2, WL_UNIFIED, NULL, { SYSTEM, "migrate.model=split" } },
    /* With `all` only. */
    { "esi", "r9nano", "fir", 1024, 4, WL_UNIFIED, NULL, { SYSTEM, "migrate.model=esi" } },
    { "unified", "r9nano", "fir", 2048, 4, WL_UNIFIED, NULL, { SYSTEM } },
    { "lds", "r9nano", "matrixtranspose", 64, 1, WL_SINGLE, NULL, { "clusters=2", "tlb.model=none" } },
    { "r9nano", "r9nano", "fir", 4096, 1, WL_SINGLE, NULL, { 0 } },
    { "w6800", "w6800", "fir", 4096, 1, WL_SINGLE, NULL, { 0 } },
    { "r9nano-x4", "r9nano-x4", "fir", 8192, 0, WL_UNIFIED, NULL, { "migrate.model=split" } },
    { "locality", "r9nano-x4", "fir", 8192, 0, WL_LOCALITY, NULL, { 0 } },
};
#define QUICK 6u

typedef struct outcome {
    uint64_t hash, instructions, lanes, wavefronts, now_ns;
    ls_run_result engine;
    uint64_t seen;     /* by the watcher */
    uint64_t counters; /* of all blocks */
} outcome;

typedef struct run_state {
    ls_run_pause pause; /* first: take() gets it */
    ls_gpu_system *system;
    ls_time at[POINTS];
    timing_image images[POINTS];
    size_t count;
    uint64_t seen;
} run_state;

static int runs, failures;

static void complain(const row *r, const char *what, const char *more)
{
    failures++;
    printf("%s (%s on %s): %s %s\n", r->name, r->workload, r->platform, what, more);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    return hash128_of(data, bytes).high ^ (hash << 7 | hash >> 57);
}

static uint64_t counters_of(const ls_engine *engine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const char *at = (const char *)ls_block_state(block) + type->counters_offset;
        for (size_t k = 0; k < type->metric_count; k++)
            if (type->metrics[k].kind == LS_METRIC_KIND_HISTOGRAM)
                hash = mix(hash, at + type->metrics[k].offset, sizeof(ls_histogram));
            else if (type->metrics[k].kind != LS_METRIC_KIND_RATIO)
                hash = mix(hash, at + type->metrics[k].offset, sizeof(uint64_t));
    }
    return hash;
}

/* Sees a command and all counters at its end. */
static ls_status watch(void *self, const timing_record *record, ls_error *err)
{
    run_state *s = self;
    const uint64_t numbers[] = { record->kind,  record->gpu,          record->command,     record->number,
                                 record->begin, record->end,          record->bytes,       record->groups,
                                 record->waves, record->instructions, record->waves_per_cu };
    ls_time next;
    bool more = timing_unfinished(s->system, &next);
    (void)err;
    s->seen = mix(s->seen, numbers, sizeof numbers);
    s->seen = mix(s->seen, &next, sizeof next) + more;
    s->seen += counters_of(timing_engine(s->system));
    return LS_OK;
}

static void copy(timing_section *section)
{
    uint8_t *own = malloc(section->bytes + 1);
    if (section->bytes > 0)
        memcpy(own, section->at, section->bytes);
    section->at = own;
}

static ls_status take(ls_run_pause *pause, ls_error *err)
{
    run_state *s = (run_state *)(void *)pause;
    ls_status status = timing_checkpoint_save(s->system, &s->images[s->count], err);
    if (status != LS_OK)
        return status;
    copy(&s->images[s->count].log);
    s->count++;
    if (s->count < POINTS && s->at[s->count] > s->at[s->count - 1])
        pause->at = s->at[s->count];
    return LS_OK;
}

/* image NULL: from the beginning; with points: and saves there. */
static bool run(const row *r, uint32_t threads, const timing_image *image, run_state *points, outcome *out)
{
    char platform[256], text[900];
    const wl_workload *w;
    ls_error err;
    uint64_t values[SIZES_VALUES_MAX];
    wl_setting settings[SIZES_VALUES_MAX] = { { .name = "size", .value = r->size } };
    size_t setting_count = 1;
    wl_result result = { 0 };
    run_state none = { .pause = { .at = LS_TIME_MAX } }, *s = points != NULL ? points : &none;
    snprintf(platform, sizeof platform, PLATFORMS "%s.yaml", r->platform);
    ls_gpu_options options = { .platform = platform,
                               .sets = r->sets,
                               .threads = threads,
                               .platform_gpus = r->gpus > 1 ? r->gpus : 0,
                               .unified = r->devices == WL_UNIFIED,
                               .spread = r->spread };
    while (r->sets[options.set_count] != NULL)
        options.set_count++;
    ls_status status = ls_gpu_system_create(&options, &s->system, &err);
    runs++;
    if (status == LS_OK) {
        timing_watch(s->system, watch, s);
        ls_run_options how = timing_options(s->system);
        how.threads = threads;
        how.window_fs = threads == 2 ? 7000000 : 0;
        how.pause = points != NULL ? &points->pause : NULL;
        timing_set_options(s->system, &how);
    }
    if (status == LS_OK && points != NULL)
        status = timing_checkpoint_begin(s->system, &err);
    if (status == LS_OK && image != NULL)
        status = timing_checkpoint_resume(s->system, image, &err);
    if (status == LS_OK)
        status = wl_find(r->workload, &w, &err);
    if (status == LS_OK && r->size == 0 && sizes_get(w, 2, values))
        for (setting_count = 0; setting_count < w->option_count; setting_count++)
            settings[setting_count] = (wl_setting){ w->options[setting_count].name, values[setting_count] };
    if (status == LS_OK)
        status = wl_run_workload(&(wl_request){ .workload = w,
                                                .system = s->system,
                                                .devices = r->devices,
                                                .settings = settings,
                                                .setting_count = setting_count,
                                                .check = true },
                                 &result, &err);
    if (status != LS_OK)
        complain(r, image != NULL ? "resumed:" : "fails:", ls_error_text(&err, text, sizeof text));
    memset(out, 0, sizeof *out);
    if (status == LS_OK && image != NULL && timing_checkpoint_is_replaying(s->system))
        complain(r, "resumed:", "the program ended before its checkpoint");
    if (status == LS_OK) {
        *out = (outcome){ .hash = result.hash,
                          .instructions = result.counts.instructions,
                          .lanes = result.counts.active_lanes,
                          .wavefronts = result.counts.wavefronts,
                          .now_ns = ls_gpu_system_now(s->system),
                          .seen = s->seen,
                          .counters = counters_of(timing_engine(s->system)) };
        out->engine = timing_result(s->system);
        out->engine.windows = 0;
    }
    ls_gpu_system_destroy(s->system);
    return status == LS_OK;
}

static void compare(const row *r, const outcome *a, const outcome *b, const char *what)
{
    char more[200];
    if (memcmp(a, b, sizeof *a) == 0)
        return;
    snprintf(more, sizeof more, "%s%s%s%s%s", a->hash != b->hash ? "memory, " : "",
             a->now_ns != b->now_ns ? "time, " : "", a->seen != b->seen ? "what a watcher saw, " : "",
             a->counters != b->counters ? "counters, " : "",
             a->engine.events != b->engine.events ? "events" : "");
    complain(r, what, more);
}

/* The same numbers in every run of the test, another list for each row. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void try_row(const row *r, uint64_t seed, uint32_t resumes)
{
    outcome whole, saved, resumed;
    run_state points = { 0 };
    if (!run(r, 1, NULL, NULL, &whole))
        return;
    for (size_t i = 0; i < POINTS; i++)
        points.at[i] =
            whole.engine.end_time / POINTS * i + next_random(&seed) % (whole.engine.end_time / POINTS);
    points.pause.at = points.at[0];
    points.pause.take = take;
    if (!run(r, 2, NULL, &points, &saved))
        return;
    compare(r, &whole, &saved, "a run with checkpoints has other results:");
    if (points.count == 0)
        complain(r, "has no checkpoint", "");
    for (size_t i = 0; i < points.count && i < resumes; i++) {
        size_t which = points.count - 1 - i; /* late ones first: they have the most to restore */
        char what[100];
        snprintf(what, sizeof what, "resumed at %" PRIu64 " fs, with other results:", points.at[which]);
        if (run(r, i % 2 == 0 ? 1 : 3, &points.images[which], NULL, &resumed))
            compare(r, &whole, &resumed, what);
    }
    for (size_t i = 0; i < points.count; i++) {
        free((void *)(uintptr_t)points.images[i].log.at);
        timing_image_free(&points.images[i]);
    }
}

int main(int argc, char **argv)
{
    char path[1024];
    ls_error err;
    if (wl_kernel_path("fir", "gfx803", "", path, sizeof path, &err) != LS_OK) {
        printf("skipped: %s\n", err.what);
        return SKIPPED;
    }
    bool every = argc > 2 && strcmp(argv[1], "every") == 0;
    for (size_t i = 0; every && i < wl_count(); i++) {
        const row r = { .name = "every", .platform = argv[2], .workload = wl_at(i)->name };
        if (!wl_at(i)->suite)
            try_row(&r, i, POINTS);
    }
    for (size_t i = 0; !every && i < LS_COUNT_OF(rows); i++)
        if (argc < 2 ? i < QUICK : strcmp(argv[1], "all") == 0 || strcmp(argv[1], rows[i].name) == 0)
            try_row(&rows[i], i * 77 + 5, argc < 2 ? 1 : POINTS);
    printf("%d runs, %d failures\n", runs, failures);
    return failures == 0 ? 0 : 1;
}
