/* command_log.c: see command_log.h. */
#include "commands/command_log.h"

#include "base/text.h"
#include "model/amd/amd_gpu.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- recording */

typedef struct kernel_taker {
    const command_log *log;
    uint32_t number, gpu;
    bool is_shared; /* a machine that is divided over ranks: the counts came from the GPU's rank */
    bytes_out own;
    bytes_in left;
} kernel_taker;

/* Before the counts of one source. */
typedef struct share_head {
    uint32_t source, bytes;
} share_head;

enum { SHARE_BYTES = 32768 }; /* more than any block counts */

/* All counts of the kernel at once, on the rank that runs its GPU. The others have none. */
static void put_shares(kernel_taker *taker)
{
    static _Thread_local char counters[SHARE_BYTES];
    const metric_store *metrics = taker->log->metrics;
    for (size_t i = 0; i < metrics_source_count(metrics); i++) {
        const metric_source *source = metrics_source_at(metrics, i);
        size_t bytes = source->counters_size < SHARE_BYTES ? source->counters_size : SHARE_BYTES;
        memset(counters, 0, bytes);
        if (source->gpu != (int32_t)taker->gpu ||
            !amd_gpu_take_kernel(timing_engine(taker->log->system), source->path, taker->number, counters,
                                 bytes))
            continue;
        while (bytes > 0 && counters[bytes - 1] == 0)
            bytes--;
        bytes_put(&taker->own, &(share_head){ (uint32_t)i, (uint32_t)bytes }, sizeof(share_head));
        bytes_put(&taker->own, counters, bytes);
    }
}

/* The sources come in the order of the store. */
static bool take_told(kernel_taker *taker, const metric_source *source, void *counters, size_t bytes)
{
    bytes_in at = taker->left;
    share_head head;
    bytes_get(&at, &head, sizeof head);
    if (at.failed || metrics_source_at(taker->log->metrics, head.source) != source || head.bytes > bytes)
        return false;
    bytes_get(&at, counters, head.bytes);
    taker->left = at;
    return true;
}

static bool take_share(void *self, const metric_source *source, void *counters, size_t bytes)
{
    kernel_taker *taker = self;
    if (timing_is_divided(taker->log->system) && !taker->is_shared) {
        put_shares(taker);
        taker->is_shared = true;
        (void)timing_share_rows(taker->log->system, taker->gpu, &taker->own, &taker->left, NULL);
    }
    bool taken = taker->is_shared ? take_told(taker, source, counters, bytes)
                                  : amd_gpu_take_kernel(timing_engine(taker->log->system), source->path,
                                                        taker->number, counters, bytes);
    if (taken)
        timing_checkpoint_share(taker->log->system, counters, bytes);
    return taken;
}

/* The same for all compute units, without a search by name. */
static void forget_kernel(void *self)
{
    enum { BYTES = 32768 };
    static _Thread_local char unused[BYTES];
    const kernel_taker *taker = self;
    for (size_t i = 0; i < taker->log->units.count; i++) {
        const ls_port *cu = &taker->log->units.at[i];
        (void)((const ls_cu_ops *)cu->ops)->take_kernel(cu->self, taker->number, unused, BYTES);
    }
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status find_units(command_log *log, ls_error *err)
{
    ls_port cu;
    for (size_t i = 0; i < metrics_source_count(log->metrics); i++)
        if (amd_gpu_find_cu(timing_engine(log->system), metrics_source_at(log->metrics, i)->path, &cu) &&
            !vec_push(&log->units, cu))
            return no_memory(err);
    return LS_OK;
}

static ls_status mark_kernel(command_log *log, const timing_record *record, ls_error *err)
{
    const metric_interval interval = { .gpu = (int32_t)record->gpu,
                                       .kernel = record->number + 1,
                                       .kernel_name = record->kernel,
                                       .stream = 0,
                                       .begin = record->begin,
                                       .end = record->end };
    kernel_taker taker = { .log = log, .number = (uint32_t)record->number, .gpu = record->gpu };
    ls_time next;
    ls_status status = log->units.count == 0 ? find_units(log, err) : LS_OK;
    if (status != LS_OK)
        return status;
    (void)timing_unfinished(log->system, &next);
    status = kernel_groups_mark(&log->groups, log->metrics, &interval, next, take_share, forget_kernel, &taker,
                                err);
    vec_fini(&taker.own.bytes);
    return status;
}

/* The scope of an earlier launch goes to a longer one of the same name. */
static ls_status keep_facts(command_log *log, const timing_record *record, ls_error *err)
{
    launch_facts_launch launch = { .name = record->kernel,
                                   .launch = log->intervals.count,
                                   .gpu = (int32_t)record->gpu,
                                   .begin = record->begin,
                                   .end = record->end };
    size_t scope, replaced;
    (void)timing_unfinished(log->system, &launch.next_begin);
    ls_status status = launch_facts_add(log->facts, &launch, &scope, &replaced, err);
    if (status == LS_OK && replaced != SIZE_MAX)
        log->intervals.at[replaced] = SUMMARY_NO_SCOPE;
    return status == LS_OK && !vec_push(&log->intervals, scope) ? no_memory(err) : status;
}

/* After each command: a kernel's counters become an interval of the metrics, or some of them are kept as facts. */
static ls_status keep_command(command_log *log, const timing_record *record, ls_error *err)
{
    timing_record kept = *record;
    kept.kernel = record->kernel ? arena_strdup(log->arena, record->kernel) : NULL;
    if ((record->kernel && !kept.kernel) || !vec_push(&log->records, kept))
        return no_memory(err);
    if (record->kind != DRV_WORK_LAUNCH)
        return LS_OK;
    if (log->source != NULL && record->counts != NULL) {
        ls_status status = command_source_add(log->source, record, err);
        if (status != LS_OK)
            return status;
    }
    if (!spans_add(&log->busy, ls_clock_cycle_at(log->clock, record->begin),
                   ls_clock_cycle_at(log->clock, record->end)))
        return no_memory(err);
    if (log->metrics == NULL)
        return LS_OK;
    if (log->facts != NULL)
        return keep_facts(log, &kept, err);
    if (!vec_push(&log->intervals, metrics_interval_count(log->metrics)))
        return no_memory(err);
    return mark_kernel(log, &kept, err);
}

static ls_status command_over(void *self, const timing_record *record, ls_error *err)
{
    command_log *log = self;
    ls_status status = keep_command(log, record, err);
    if (log->after != NULL)
        log->after();
    if (log->kernel_ended != NULL && record->kind == DRV_WORK_LAUNCH &&
        !timing_checkpoint_is_replaying(log->system))
        log->kernel_ended(log->kernel_ended_self);
    return status;
}

void command_log_begin(command_log *log, ls_gpu_system *system, mem_arena *arena)
{
    log->system = system;
    log->arena = arena;
    log->clock = amd_gpu_clock(timing_gpu_at(system, 0));
    timing_watch(system, command_over, log);
}

void command_log_fini(command_log *log)
{
    vec_fini(&log->records);
    vec_fini(&log->intervals);
    vec_fini(&log->units);
    spans_fini(&log->busy);
}

ls_status command_log_end(command_log *log, ls_time end, ls_error *err)
{
    ls_time begin;
    if (timing_unfinished(log->system, &begin) &&
        !spans_add(&log->busy, ls_clock_cycle_at(log->clock, begin), ls_clock_cycle_at(log->clock, end)))
        return no_memory(err);
    return LS_OK;
}

ls_status command_log_launches(const command_log *log, summary_launch **out, size_t *count, ls_error *err)
{
    *count = 0;
    *out = calloc(log->records.count + 1, sizeof **out);
    if (!*out)
        return no_memory(err);
    for (size_t i = 0; i < log->records.count; i++) {
        const timing_record *r = &log->records.at[i];
        if (r->kind != DRV_WORK_LAUNCH)
            continue;
        (*out)[*count] =
            (summary_launch){ .name = r->kernel,
                              .number = r->number + 1,
                              .gpu = (int32_t)r->gpu,
                              .begin_fs = (double)r->begin,
                              .end_fs = (double)r->end,
                              .scope = log->metrics ? log->intervals.at[*count] : SUMMARY_NO_SCOPE };
        (*count)++;
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- tables */

/* Times of kernels and copies, over all commands. */
typedef struct command_times {
    span_list kernels, copies; /* those side by side count once */
    ls_time begin, end;        /* first begin and last end */
    uint64_t kernel_count, copy_count, copy_bytes;
} command_times;

static command_times sum_times(const command_log *log)
{
    command_times t = { .begin = LS_TIME_MAX };
    for (size_t i = 0; i < log->records.count; i++) {
        const timing_record *r = &log->records.at[i];
        if (r->kind == DRV_WORK_LAUNCH) {
            (void)spans_add(&t.kernels, r->begin, r->end); /* log->busy had memory for as many */
            t.kernel_count++;
        } else {
            (void)spans_add(&t.copies, r->begin, r->end);
            t.copy_count++;
            t.copy_bytes += r->bytes;
        }
        t.begin = r->begin < t.begin ? r->begin : t.begin;
        t.end = r->end > t.end ? r->end : t.end;
    }
    return t;
}

static void time_line(FILE *to, const char *what, ls_time time, const char *more)
{
    char text[LS_FORMAT_BYTES];
    fprintf(to, "  %-22s %14s  %s\n", what, format_time(time, text, sizeof text), more);
}

uint64_t command_log_gpus(const command_log *log)
{
    uint64_t gpus = 0;
    for (size_t i = 0; i < log->records.count; i++)
        if (log->records.at[i].kind == DRV_WORK_LAUNCH)
            gpus |= UINT64_C(1) << log->records.at[i].gpu;
    return gpus != 0 ? gpus : UINT64_C(1) << timing_gpu_number(log->system, 0);
}

/* Those with kernels: "GPU 1", "GPUs 0 to 3", "2 GPUs". */
static void name_gpus(const command_log *log, char *out, size_t bytes)
{
    uint64_t gpus = command_log_gpus(log);
    unsigned first = (unsigned)__builtin_ctzll(gpus), count = (unsigned)__builtin_popcountll(gpus);
    uint64_t row = gpus >> first;
    if (count == 1)
        snprintf(out, bytes, "GPU %u", first);
    else if ((row & (row + 1)) == 0)
        snprintf(out, bytes, "GPUs %u to %u", first, first + count - 1);
    else
        snprintf(out, bytes, "%u GPUs", count);
}

void command_log_print_times(const command_log *log, FILE *to)
{
    command_times t = sum_times(log);
    char more[160], size[LS_FORMAT_BYTES];
    char where[64];
    name_gpus(log, where, sizeof where);
    snprintf(more, sizeof more, "%" PRIu64 " launches, %s", t.kernel_count, where);
    time_line(to, "kernel time", t.kernels.total, more);
    snprintf(more, sizeof more, "%" PRIu64 " copies and fills, %s", t.copy_count,
             format_si((double)t.copy_bytes, "B", size, sizeof size));
    time_line(to, "copy time", t.copies.total, more);
    time_line(to, "total time", t.end > t.begin ? t.end - t.begin : 0, "from the first command to the last");
    spans_fini(&t.kernels);
    spans_fini(&t.copies);
}

ls_status command_log_print_rocprof(const command_log *log, const run_results *results, FILE *to,
                                    ls_error *err)
{
    names_launch *launches = calloc(log->records.count + 1, sizeof *launches);
    size_t count = 0;
    if (!launches)
        return no_memory(err);
    for (size_t i = 0; i < log->records.count; i++) {
        const timing_record *r = &log->records.at[i];
        if (r->kind != DRV_WORK_LAUNCH)
            continue;
        launches[count] = (names_launch){ .interval = log->intervals.at[count],
                                          .kernel = r->kernel,
                                          .gpu = r->gpu,
                                          .number = r->number,
                                          .grid = r->grid_items,
                                          .group = r->group_items,
                                          .lds_bytes = r->lds_bytes,
                                          .scratch_bytes = r->scratch_bytes,
                                          .vgprs = r->vgprs,
                                          .sgprs = r->sgprs,
                                          .lanes = r->lanes,
                                          .queued = r->begin,
                                          .begin = r->begin,
                                          .end = r->end };
        count++;
    }
    ls_status status = names_print_rocprof(results, launches, count, to, err);
    free(launches);
    return status;
}
