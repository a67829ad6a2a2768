/* run_trace.c: see run_trace.h. */
#include "sim/run_trace.h"

#include "base/file.h"
#include "base/log.h"
#include "model/gpu/gpu.h"
#include "model/gpu/shape.h"
#include "report/source.h"
#include "sim/run_ranks.h"
#include "sim/run_roofline.h"
#include "sim/session_sample.h"

#include <inttypes.h>
#include <string.h>

typedef struct kernel_taker {
    ls_engine *engine;
    uint32_t slot;
    const gpu_instance *gpu; /* whose slot it is */
    run_shares shares;       /* if another rank runs it */
} kernel_taker;

static bool take_share(void *self, const metric_source *source, void *counters, size_t bytes)
{
    kernel_taker *taker = self;
    if (taker->shares.is_used)
        return run_shares_take(&taker->shares, source, counters, bytes);
    return source->gpu == (int32_t)taker->gpu->number &&
           gpu_take_kernel(taker->engine, source->path, taker->slot, counters, bytes);
}

static void forget_shares(void *self)
{
    const kernel_taker *taker = self;
    if (!taker->shares.is_used)
        gpu_forget_kernel(taker->gpu, taker->slot);
}

/* After each kernel: its counters become an interval of the metrics. */
static ls_status kernel_done(void *self, const replay_kernel *kernel, ls_error *err)
{
    run_trace *t = self;
    const metric_interval interval = {
        .gpu = (int32_t)t->gpu->number,
        .kernel = kernel->number,
        .kernel_name = kernel->name,
        .stream = (int64_t)kernel->stream,
        .begin = ls_clock_time(t->clock, kernel->begin),
        .end = ls_clock_time(t->clock, kernel->end),
    };
    if (t->kernel_ended != NULL)
        t->kernel_ended(t->kernel_ended_self);
    gpu_roofline_update(&t->roofline);
    run_occupancy_add(&t->occupancy, kernel);
    log_info("kernel %" PRIu64 " %s has ended: cycles %" PRIu64 " to %" PRIu64, kernel->number, kernel->name,
             kernel->begin, kernel->end);
    if (!spans_add(&t->busy, kernel->begin, kernel->end) ||
        !vec_push(&t->done_ns, host_clock_ns() - t->began_ns) ||
        !vec_push(&t->intervals, metrics_interval_count(t->metrics)))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (t->source != NULL) {
        const replay_counted *counted = kernel->counted;
        ls_status status =
            counted == NULL
                ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for counts of instructions")
                : source_add(t->source, kernel->name, 1, counted->insts, counted->count, err);
        if (status != LS_OK)
            return status;
    }
    kernel_taker taker = { .engine = t->engine, .slot = kernel->slot, .gpu = t->gpu };
    ls_status shared = run_shares_begin(&taker.shares, t->gpu, kernel->slot, t->metrics, err);
    if (shared != LS_OK)
        return shared;
    ls_time next =
        kernel->next_begin == LS_CYCLE_MAX ? LS_TIME_MAX : ls_clock_time(t->clock, kernel->next_begin);
    if (t->shared_groups != NULL) /* open until the run ends */
        return kernel_groups_mark(t->shared_groups, t->metrics, &interval, 0, take_share, forget_shares,
                                  &taker, err);
    return kernel_groups_mark(&t->groups, t->metrics, &interval, next, take_share, forget_shares, &taker, err);
}

/* Hit rates from a file: the requested one, or with "auto" one that `lockstep profile` has kept. */
static ls_status load_profile(run_trace *t, const run_trace_options *options, bool *found, ls_error *err)
{
    gpu_shape shape;
    hash128 hash;
    mem_arena arena = { 0 };
    *found = false;
    ls_status status = gpu_shape_of(t->gpu, &shape, err);
    if (status != LS_OK)
        return status;
    if (!shape.analytic)
        return options->profile == NULL
                   ? LS_OK
                   : ls_fail(err, LS_ERR_USAGE,
                             "a profile is of use with core.memory analytic only: add --fidelity "
                             "memory, or leave --profile out");
    const char *path = options->profile;
    bool automatic = path != NULL && strcmp(path, "auto") == 0;
    t->rates = "sampled from each kernel as it starts";
    if (automatic) {
        status = profile_hash(options->path, options->kernels, options->cta_limit, &shape, LS_PROFILE_CACHE,
                              &hash, err);
        path = status == LS_OK ? profile_cache_path(&arena, hash) : NULL;
        if (path != NULL && !file_exists(path))
            path = NULL;
    }
    if (status == LS_OK && path != NULL)
        status = profile_read(path, &t->profile, err);
    if (status == LS_OK && path != NULL)
        status = profile_hash(options->path, options->kernels, options->cta_limit, &shape, t->profile.method,
                              &hash, err);
    if (status == LS_OK && path != NULL && !hash_same(hash, t->profile.hash))
        status = ls_fail(
            err, LS_ERR_INPUT,
            "profile '%s' is of another trace, choice of kernels or platform: make it anew with `lockstep "
            "profile`",
            path);
    *found = status == LS_OK && path != NULL;
    if (*found) {
        snprintf(t->rates_text, sizeof t->rates_text, "%s profile %s (method %s)",
                 automatic ? "cached" : "the",
                 automatic ? hash128_text(hash, (char[LS_HASH_TEXT_BYTES]){ 0 }) : path,
                 profile_method_names[t->profile.method]);
        t->rates = t->rates_text;
    }
    arena_fini(&arena);
    return status;
}

static ls_status sample_trace(run_trace *t, session_sample *sample, ls_error *err)
{
    ls_dispatch_shape shape = { 0 };
    gpu_dispatch_ops(t->gpu)->describe(t->gpu->dispatch_port.self, &shape);
    return session_sample_trace(sample, t->trace, &t->selection, shape.kernel_slots > 1, err);
}

ls_status run_trace_begin(run_trace *t, const run_trace_options *options, ls_engine *engine,
                          metric_store *metrics, ls_error *err)
{
    t->metrics = metrics;
    t->engine = engine;
    const trace_options trace = { .unknown_opcodes_as_alu = options->unknown_opcodes_as_alu,
                                  .drop_values = true };
    ls_status status = options->from ? position_check(options->from, options->path, err) : LS_OK;
    t->is_borrowed = options->trace != NULL;
    t->trace = options->trace;
    t->shared_groups = options->groups;
    t->source = options->source;
    if (status == LS_OK && !t->is_borrowed)
        status = trace_open(options->path, &trace, &t->trace, err);
    if (status == LS_OK)
        status = select_kernels(t->trace, options->kernels, &t->selection, err);
    if (status != LS_OK)
        return status;
    bool found = false;
    if (options->warm_l2 && options->profile)
        return ls_fail(err, LS_ERR_USAGE,
                       "--warm-l2 has no effect with --profile: hit rates come from the profile, not from the "
                       "copies of the trace; leave one of them out");
    t->gpu = gpu_at(engine, options->gpu);
    if (t->gpu != NULL)
        status = load_profile(t, options, &found, err);
    if (status != LS_OK)
        return status;
    if (options->sample != NULL && t->gpu != NULL)
        status = sample_trace(t, options->sample, err);
    if (status != LS_OK)
        return status;
    const replay_options replay = {
        .sample = options->sample != NULL ? options->sample->plan : NULL,
        .cold = options->sample != NULL && options->sample->spec.cold,
        .sample_blocks = options->sample != NULL && options->sample->spec.blocks,
        .selection = &t->selection,
        .from = options->from,
        .gpu = options->gpu,
        .profile = found ? &t->profile : NULL,
        .cta_limit = options->cta_limit,
        .warm_l2 = options->warm_l2,
        .allow_unmodelled = options->allow_unmodelled,
        .program = options->program,
        .count_instructions = options->source != NULL,
        .kernel_done = kernel_done,
        .kernel_done_self = t,
    };
    status = replay_create(engine, t->trace, &replay, &t->replay, err);
    if (status == LS_OK) {
        t->engine = engine;
        t->clock = ls_region_clock(ls_block_region(t->gpu->dispatch));
        status = run_roofline_begin(&t->roofline, t->gpu, metrics, err);
        if (status == LS_OK)
            status = run_occupancy_begin(&t->occupancy, t->gpu, metrics, err);
    }
    return status;
}

void run_trace_close(run_trace *t)
{
    replay_destroy(t->replay);
    spans_fini(&t->busy);
    vec_fini(&t->done_ns);
    vec_fini(&t->intervals);
    profile_fini(&t->profile);
    selection_fini(&t->selection);
    if (!t->is_borrowed)
        trace_close(t->trace);
}

ls_status run_trace_end(run_trace *t, const ls_run_result *result, ls_error *err)
{
    gpu_roofline_update(&t->roofline); /* including the work of an interrupted kernel */
    ls_cycle begin;
    if (replay_unfinished(t->replay, &begin) &&
        !spans_add(&t->busy, begin, ls_clock_cycle_at(t->clock, result->end_time)))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return LS_OK;
}

ls_status run_trace_run(run_trace *t, const ls_run_options *options, ls_run_result *result, ls_error *err)
{
    t->began_ns = host_clock_ns();
    ls_status status = replay_run(t->replay, options, result, err);
    ls_error ending;
    ls_status ended = run_trace_end(t, result, &ending);
    if (status == LS_OK && ended != LS_OK && err != NULL)
        *err = ending;
    return status == LS_OK ? ended : status;
}

/* ------------------------------------------------------------------------------------------------ numbers */

uint64_t run_trace_counter(const run_trace *t, size_t scope, const char *type, const char *name)
{
    metric_value value;
    if (metrics_get(t->metrics, scope, type, NULL, name, &value, NULL) != LS_OK)
        return 0;
    return value.value;
}

run_trace_numbers run_trace_count_scope(const run_trace *t, size_t index)
{
    run_trace_numbers n = {
        .overlapped = index != LS_METRICS_RUN && metrics_interval_at(t->metrics, index)->overlapped,
        .warp_insts = run_trace_counter(t, index, "core/*", "warp_instructions"),
        .thread_insts = run_trace_counter(t, index, "core/*", "thread_instructions"),
        .l1_accesses = run_trace_counter(t, index, "core/*", "l1_accesses"),
        .l1_misses = run_trace_counter(t, index, "core/*", "l1_misses") +
                     run_trace_counter(t, index, "core/*", "l1_sector_misses"),
        .l1_pending = run_trace_counter(t, index, "core/*", "l1_pending_hits"),
        .l1_fails = run_trace_counter(t, index, "core/*", "l1_fail_line") +
                    run_trace_counter(t, index, "core/*", "l1_fail_mshr") +
                    run_trace_counter(t, index, "core/*", "l1_fail_merge") +
                    run_trace_counter(t, index, "core/*", "l1_fail_queue"),
        .l2_accesses = run_trace_counter(t, index, "l2/*", "accesses"),
        .l2_misses = run_trace_counter(t, index, "l2/*", "misses") +
                     run_trace_counter(t, index, "l2/*", "sector_misses"),
        .l2_pending = run_trace_counter(t, index, "l2/*", "pending_hits"),
        .l2_fails = run_trace_counter(t, index, "l2/*", "fail_line") +
                    run_trace_counter(t, index, "l2/*", "fail_mshr") +
                    run_trace_counter(t, index, "l2/*", "fail_merge") +
                    run_trace_counter(t, index, "l2/*", "fail_queue"),
        .dram_reads = run_trace_counter(t, index, "dram/*", "reads"),
        .dram_writes = run_trace_counter(t, index, "dram/*", "writes"),
        .async_misses = run_trace_counter(t, index, "core/*", "async_copy_misses"),
    };
    /* Memory that is not simulated: numbers of the formula. */
    n.l2_accesses += run_trace_counter(t, index, "core/*", "expected_l2_sectors");
    n.l2_misses += run_trace_counter(t, index, "core/*", "expected_l2_misses");
    n.dram_reads += run_trace_counter(t, index, "core/*", "expected_dram_sectors");
    return n;
}

size_t run_trace_scope(const run_trace *t, size_t kernel, size_t *shared)
{
    size_t scope = t->intervals.at[kernel];
    bool has =
        scope + 1 < metrics_interval_count(t->metrics) && metrics_interval_at(t->metrics, scope + 1)->shared;
    if (shared != NULL)
        *shared = has ? scope + 1 : LS_METRICS_RUN;
    return scope;
}

run_trace_numbers run_trace_count(const run_trace *t, size_t kernel)
{
    bool all = kernel == LS_METRICS_RUN;
    run_trace_numbers n = run_trace_count_scope(t, all ? LS_METRICS_RUN : t->intervals.at[kernel]);
    n.cycles = all ? t->busy.total
                   : replay_kernel_at(t->replay, kernel)->end - replay_kernel_at(t->replay, kernel)->begin;
    return n;
}

uint64_t run_trace_unknown(const run_trace *t)
{
    return run_trace_counter(t, LS_METRICS_RUN, "core/*", "unknown_opcodes");
}

void run_trace_warn(const run_trace *t, ls_engine *engine)
{
    const char *opcode;
    uint64_t pc, guessed = replay_guessed(t->replay, &opcode, &pc);
    if (guessed > 0)
        (void)ls_engine_warn(
            engine, "tensor",
            "%llu static matrix instructions have a shape or type without a rate on this platform "
            "and take the time of their class; the first is %s at pc 0x%llx",
            (unsigned long long)guessed, opcode, (unsigned long long)pc);
    static const struct {
        uint32_t flag;
        const char *kind, *what;
    } rows[] = { { LS_INST_UNMODELLED, "unmodelled", "are not modelled and ran without their effects" },
                 { LS_INST_IGNORED, "ignored", "have smaller effects that are not modelled" } };
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
        char text[512], count[LS_FORMAT_BYTES];
        uint64_t sum;
        if (unmodelled_text(replay_unmodelled(t->replay), rows[i].flag, text, sizeof text, &sum) != NULL)
            (void)ls_engine_warn(engine, rows[i].kind, "%s instructions %s: %s",
                                 format_count(sum, count, sizeof count), rows[i].what, text);
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void print_row(FILE *to, const char *number, const char *name, const run_trace_numbers *n)
{
    char cycles[LS_FORMAT_BYTES], insts[LS_FORMAT_BYTES], reads[LS_FORMAT_BYTES], l2[16];
    snprintf(l2, sizeof l2, "%.1f%%", percent(n->l2_accesses - n->l2_misses - n->l2_pending, n->l2_accesses));
    format_count(n->dram_reads + n->dram_writes, reads, sizeof reads);
    /* L2 and DRAM do not know whose a request is. Where they are formulas, each core does. */
    bool unknown = n->overlapped && n->l2_accesses == 0;
    fprintf(to, "  %5s  %-36.36s %14s %14s %7.3f %7.1f%% %8s %12s\n", number, name,
            format_count(n->cycles, cycles, sizeof cycles), format_count(n->warp_insts, insts, sizeof insts),
            n->cycles == 0 ? 0 : (double)n->warp_insts / (double)n->cycles,
            percent(n->l1_accesses - n->l1_misses - n->l1_pending, n->l1_accesses), unknown ? "shared" : l2,
            unknown ? "shared" : reads);
}

uint64_t run_trace_accelsim_warp_insts(const run_trace_numbers *n)
{
    return n->warp_insts + n->async_misses;
}

uint64_t run_trace_accelsim_thread_insts(const run_trace_numbers *n)
{
    return n->thread_insts + 32 * n->async_misses;
}

enum { ROWS_MAX = 40 };

static void roofline_table(const run_trace *t, FILE *to)
{
    uint64_t count = replay_kernel_count(t->replay);
    run_roofline_row(t->metrics, LS_METRICS_RUN, "", NULL, to);
    for (uint64_t i = 0; i < count && i < ROWS_MAX; i++) {
        char number[24];
        const replay_kernel *kernel = replay_kernel_at(t->replay, i);
        snprintf(number, sizeof number, "%" PRIu64, kernel->number);
        run_roofline_row(t->metrics, t->intervals.at[i], number, kernel->name, to);
    }
    run_roofline_row(t->metrics, LS_METRICS_RUN, "", "all", to);
    run_roofline_peaks(t->metrics, to);
}

void run_trace_table(const run_trace *t, FILE *to)
{
    uint64_t count = replay_kernel_count(t->replay);
    fprintf(to, "\n  %5s  %-36s %14s %14s %7s %8s %8s %12s\n", "", "kernel", "cycles", "warp insts", "IPC",
            "L1 hits", "L2 hits", "DRAM atoms");
    for (uint64_t i = 0; i < count && i < ROWS_MAX; i++) {
        char number[24];
        const replay_kernel *kernel = replay_kernel_at(t->replay, i);
        snprintf(number, sizeof number, "%" PRIu64, kernel->number);
        run_trace_numbers n = run_trace_count(t, i);
        print_row(to, number, kernel->name, &n);
    }
    if (count > ROWS_MAX)
        fprintf(to, "         ... and %" PRIu64 " more; every kernel is in the files of --out\n",
                count - ROWS_MAX);
    run_trace_numbers all = run_trace_count(t, LS_METRICS_RUN);
    print_row(to, "", "all", &all);
    roofline_table(t, to);
    fputc('\n', to);
}
