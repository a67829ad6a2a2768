/* replay.c: the workload side of the dispatcher: kernels and thread blocks out of a trace. */
#include "runtime/replay_impl.h"

#include "isa/sass/sass.h"
#include "runtime/replay_ranks.h"

#include <stdlib.h>

/* Warp instructions of a kernel that are enough to know its hit rates. */
#define PROFILE_SAMPLE 25000u
#define READERS_MAX 64u /* threads that read blocks */

/* ---------------------------------------------------------------------------------------------- hit rates */

static ls_status read_block(open_kernel *o, ls_cta *cta, bool *end, ls_error *err)
{
    if (o->read == o->limit) {
        *end = true;
        return LS_OK;
    }
    o->read++;
    return share_next(o->share, cta, end, err);
}

static ls_cta *keep_block(open_kernel *o, ls_error *err)
{
    ls_cta *cta = calloc(1, sizeof *cta);
    if (cta != NULL && vec_push(&o->kept, cta))
        return cta;
    free(cta);
    ls_fail(err, LS_ERR_NOMEM, "no memory for a thread block");
    return NULL;
}

static ls_status profile_next(void *self, const ls_cta **out, ls_error *err)
{
    open_kernel *o = self;
    bool end = false;
    *out = NULL;
    if (o->next_profiled < o->kept.count) {
        *out = o->kept.at[o->next_profiled++];
        return LS_OK;
    }
    ls_cta *cta = keep_block(o, err);
    if (cta == NULL)
        return LS_ERR_NOMEM;
    ls_status status = read_block(o, cta, &end, err);
    if (status != LS_OK || end) {
        o->kept.count--;
        ls_cta_fini(cta);
        free(cta);
        return status;
    }
    o->next_profiled++;
    *out = cta;
    return LS_OK;
}

/* The blocks that a profile begins with, each thread a part of them with a kernel of its own. */
typedef struct parallel_read {
    open_kernel *o;
    trace_kernel *kernels[READERS_MAX];
    ls_error errors[READERS_MAX];
    uint32_t threads;
} parallel_read;

static void read_part(void *self, uint32_t thread)
{
    parallel_read *r = self;
    if (thread >= r->threads)
        return;
    uint64_t at = r->o->kept.count * thread / r->threads, end = r->o->kept.count * (thread + 1) / r->threads;
    ls_error *err = &r->errors[thread];
    bool over = false;
    ls_status status = kernel_seek(r->kernels[thread], at, err);
    for (; status == LS_OK && at < end; at++)
        status = kernel_next_cta(r->kernels[thread], r->o->kept.at[at], &over, err);
    if (status == LS_OK && over)
        (void)ls_fail(err, LS_ERR_INPUT, "the kernel has fewer thread blocks than its grid");
}

static ls_status read_parts(parallel_read *read, thread_pool *pool, ls_error *err)
{
    pool_run(pool, read_part, read);
    for (uint32_t i = 0; i < read->threads; i++)
        if (read->errors[i].status != LS_OK) {
            if (err != NULL)
                *err = read->errors[i];
            return read->errors[i].status;
        }
    read->o->read = read->o->kept.count;
    return kernel_seek(read->o->kernel, read->o->read, err);
}

/* With spare threads, the first wave of blocks is read before the profile needs it. */
static ls_status read_ahead(const trace_replay *r, open_kernel *o, ls_error *err)
{
    const ls_kernel_info *info = kernel_get_info(o->kernel);
    uint64_t wave = (uint64_t)ls_dispatch_blocks_per_core(&r->shape.rules, info, o->limit) * r->shape.cores;
    wave = wave < o->limit ? wave : o->limit;
    parallel_read read = { .o = o, .threads = r->threads < READERS_MAX ? r->threads : READERS_MAX };
    if (r->pool == NULL || wave < read.threads || !kernel_is_parallel(o->kernel) || share_is_known(o->share))
        return LS_OK;
    ls_status status = LS_OK;
    while (status == LS_OK && o->kept.count < wave)
        status = keep_block(o, err) == NULL ? LS_ERR_NOMEM : LS_OK;
    read.kernels[0] = o->kernel;
    for (uint32_t i = 1; status == LS_OK && i < read.threads; i++)
        status = trace_open_kernel(r->trace, o->command, &read.kernels[i], err);
    if (status == LS_OK)
        status = read_parts(&read, r->pool, err);
    for (uint32_t i = 1; i < read.threads; i++)
        if (read.kernels[i] != NULL)
            kernel_close(read.kernels[i]);
    return status;
}

static void profile_done(void *self, const ls_cta *cta)
{
    (void)self;
    (void)cta; /* kept for the run */
}

static ls_status find_rates(trace_replay *r, open_kernel *o, ls_error *err)
{
    const ls_kernel_info *info = kernel_get_info(o->kernel);
    if (r->options.profile != NULL) {
        const kernel_profile *found = profile_find(r->options.profile, o->command);
        if (found == NULL)
            return ls_fail(err, LS_ERR_INPUT, "the profile has no kernel for '%s', number %llu of the list",
                           info->name, (unsigned long long)o->number);
        o->sampled = found->insts == 0 ? 1 : (double)found->walked / (double)found->insts;
        return profile_rates(found, &r->shape, &o->rates, err);
    }
    kernel_profile found;
    const profile_request request = { .info = info,
                                      .insts = kernel_inst_table(o->kernel),
                                      .command = o->command,
                                      .ctas = o->limit,
                                      .source = { .self = o, .next = profile_next, .done = profile_done },
                                      .sample = PROFILE_SAMPLE };
    ls_status status = read_ahead(r, o, err);
    if (status == LS_OK)
        status = profiler_run(r->profiler, &request, &found, err);
    if (status != LS_OK)
        return status;
    o->sampled = found.insts == 0 ? 1 : (double)found.walked / (double)found.insts;
    status = profile_rates(&found, &r->shape, &o->rates, err);
    profile_kernel_fini(&found);
    return status;
}

/* ---------------------------------------------------------------------------------- the dispatcher's side */

/* Commands come in the order of the list, as do the selected ones. */
static bool selected(trace_replay *r, uint64_t command)
{
    const kernel_selection *selection = r->options.selection;
    if (selection == NULL)
        return true;
    while (r->next_selected < selection->count && selection->at[r->next_selected].command < command)
        r->next_selected++;
    return r->next_selected < selection->count && selection->at[r->next_selected].command == command;
}

/* Without simulated memory it is the profile's caches that a copy fills. */
static void warm(trace_replay *r, uint64_t address, uint64_t bytes)
{
    if (!r->shape.analytic)
        gpu_warm(r->gpu, address, bytes);
    else if (r->profiler != NULL)
        profiler_warm(r->profiler, address, bytes);
}

/* The end of the commands that may be read now. *known: whether there are any; else *end says that none will come. */
static uint64_t command_limit(trace_replay *r, bool *known, bool *end)
{
    *known = true;
    if (r->options.program == NULL)
        return trace_command_count(r->trace);
    const device_command *kernels = device_queue_kernels(r->gpu->queue);
    *known = kernels != NULL;
    if (kernels == NULL) {
        *end = device_queue_is_done(r->gpu->queue);
        return r->next.command;
    }
    if (r->next.command < kernels->first)
        r->next.command = kernels->first;
    r->continues = kernels->continues;
    return kernels->end;
}

/* The dispatcher requests kernels early: problems are reported in the order of the list. */
static ls_status hold(trace_replay *r, bool *end)
{
    *end = true;
    if (r->options.program != NULL)
        device_queue_abandon(r->gpu->queue);
    return LS_OK;
}

/* *out is NULL, with the reason in r->held, if it cannot be read. */
ls_status replay_open_kernel(trace_replay *r, const source_position *at, uint64_t number, open_kernel **out,
                             ls_error *err)
{
    trace_kernel *kernel;
    *out = NULL;
    if (position_open_kernel(at, r->trace, &kernel, &r->held) != LS_OK)
        return LS_OK;
    if (gpu_shape_l1(&r->shape, 0).accelsim_rules)
        kernel_as_accelsim(kernel);
    open_kernel *o = calloc(1, sizeof *o);
    if (o == NULL || !vec_push(&r->open, o)) {
        free(o);
        kernel_close(kernel);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a kernel");
    }
    uint64_t ctas = ls_kernel_cta_count(kernel_get_info(kernel));
    o->kernel = kernel;
    o->scan = (unmodelled_scan){ .models = gpu_shape_models,
                                 .machine = &r->shape,
                                 .hint = gpu_shape_async_hint(&r->shape) };
    o->number = number;
    o->command = at->command;
    o->limit = r->options.cta_limit != 0 && r->options.cta_limit < ctas ? r->options.cta_limit : ctas;
    o->is_analytic = r->shape.analytic;
    ls_status status = share_create(kernel, &o->share, err);
    if (status == LS_OK && r->options.count_instructions) {
        o->counts = inst_counts_create(r->gpu->core_count, kernel->inst_capacity);
        if (o->counts == NULL)
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for counts of instructions");
    }
    if (status == LS_OK)
        *out = o;
    return status;
}

void replay_describe(open_kernel *o, ls_dispatch_kernel *out)
{
    *out = (ls_dispatch_kernel){ .info = kernel_get_info(o->kernel),
                                 .insts = kernel_inst_table(o->kernel),
                                 .ctas = o->limit,
                                 .handle = o,
                                 .rates = o->is_analytic ? &o->rates : NULL,
                                 .counts = o->counts };
}

/* Opens the kernel of the next command. */
static ls_status open_kernel_now(trace_replay *r, ls_dispatch_kernel *out, bool *end, ls_error *err)
{
    open_kernel *o;
    ls_status status = replay_open_kernel(r, &r->next, r->seen, &o, err);
    if (status != LS_OK)
        return status;
    if (o == NULL)
        return hold(r, end);
    r->next.command++;
    if (r->options.sample != NULL)
        status = replay_sample_open(r, o, err);
    if (status != LS_OK)
        return status;
    replay_describe(o, out);
    out->continues = r->continues;
    return r->shape.analytic ? find_rates(r, o, err) : LS_OK;
}

static ls_status next_kernel(void *self, ls_dispatch_kernel *out, bool *end, ls_error *err)
{
    trace_replay *r = self;
    bool known;
    out->info = NULL;
    if (r->is_resuming)
        return LS_OK;
    if (r->options.sample != NULL)
        return replay_sample_next(r, end) ? open_kernel_now(r, out, end, err) : LS_OK;
    uint64_t limit = command_limit(r, &known, end);
    for (; r->next.command < limit; r->next.command++) {
        const trace_cmd *command = trace_command_at(r->trace, r->next.command);
        if (command->kind == LS_COMMAND_COPY_IN && r->options.warm_l2)
            warm(r, command->address, command->bytes);
        r->seen += command->kind == LS_COMMAND_KERNEL;
        if (command->kind != LS_COMMAND_KERNEL || !selected(r, r->next.command))
            continue;
        return open_kernel_now(r, out, end, err);
    }
    if (r->options.program == NULL)
        *end = true;
    else if (known && r->open.count == 0) /* its kernels have been read and have ended */
        device_queue_kernels_done(r->gpu->queue);
    return LS_OK;
}

/* Matrix instructions without a rate take the time of their class: the results shall say so. */
static void find_guesses(trace_replay *r, open_kernel *o)
{
    const ls_inst *insts = kernel_inst_table(o->kernel);
    for (; o->timed < o->kernel->inst_count; o->timed++)
        if (gpu_shape_guesses(&r->shape, &insts[o->timed]) && r->guessed++ == 0) {
            r->guessed_opcode = insts[o->timed].opcode;
            r->guessed_pc = insts[o->timed].pc;
        }
}

static void block_done(void *self, const ls_dispatch_kernel *kernel, ls_cycle begin, ls_cycle end)
{
    (void)self;
    sample_blocks_end(&((open_kernel *)kernel->handle)->steady, begin, end);
}

static ls_status next_cta(void *self, const ls_dispatch_kernel *kernel, ls_cta *cta, bool *end, ls_error *err)
{
    trace_replay *r = self;
    open_kernel *o = kernel->handle;
    ls_status status = LS_OK;
    if (o->next_kept < o->kept.count) {
        ls_cta *kept = o->kept.at[o->next_kept++];
        ls_cta_fini(cta);
        *cta = *kept;
        free(kept);
    } else {
        status = replay_sample_skip(o, cta, err);
        if (status == LS_OK)
            status = read_block(o, cta, end, err);
    }
    if (status != LS_OK || *end)
        return status;
    if (o->steady.wave > 0 && !o->steady.is_warm && !replay_sample_touch(r, o, cta))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a sample");
    find_guesses(r, o);
    if (o->counts != NULL && !inst_counts_grow(o->counts, o->kernel->inst_count))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for counts of instructions");
    return unmodelled_block(&r->unmodelled, &o->scan, r->trace, o->command, r->options.cta_limit, o->kernel,
                            cta, err);
}

static void close_kernel(trace_replay *r, open_kernel *o)
{
    for (size_t i = 0; i < r->open.count; i++)
        if (r->open.at[i] == o) {
            r->open.at[i] = r->open.at[--r->open.count];
            break;
        }
    for (; o->next_kept < o->kept.count; o->next_kept++) {
        ls_cta_fini(o->kept.at[o->next_kept]);
        free(o->kept.at[o->next_kept]);
    }
    vec_fini(&o->kept);
    profile_rates_fini(&o->rates);
    share_destroy(o->share);
    inst_counts_destroy(o->counts);
    kernel_close(o->kernel);
    free(o);
}

static void kernel_done(void *self, const ls_dispatch_kernel *kernel, ls_cycle begin, ls_cycle end)
{
    trace_replay *r = self;
    open_kernel *o = kernel->handle;
    const char *name = arena_strdup(&r->names, kernel->info->name != NULL ? kernel->info->name : "");
    replay_kernel done = { .name = name != NULL ? name : "",
                           .number = o->number,
                           .stream = kernel->info->stream,
                           .command = o->command,
                           .begin = begin,
                           .end = end,
                           .ctas = o->read,
                           .threads = ls_kernel_threads(kernel->info),
                           .registers = kernel->info->registers,
                           .shared_bytes = kernel->info->shared_bytes,
                           .slot = kernel->slot,
                           .sampled = o->sampled };
    if (r->options.sample != NULL)
        replay_sample_done(r, o, &done);
    if (o->counts != NULL)
        done.counted = replay_counted_make(o->kernel, o->counts);
    if (!vec_push(&r->kernels, done))
        replay_counted_free(done.counted);
    close_kernel(r, o);
    if (r->options.program != NULL && r->gpu->flushes && r->gpu->owners->count > 0)
        device_queue_kernel_ended(r->gpu->queue, end);
}

/* ---------------------------------------------------------------------------------------- the user's side */

static ls_dispatch_progress progress_of(const trace_replay *r)
{
    ls_dispatch_progress progress = r->told;
    if (!r->is_away)
        r->dispatch->progress(r->dispatch_self, &progress);
    return progress;
}

/* Kernels before the position count, so that the others keep their numbers. */
static ls_status go_to(trace_replay *r, const source_position *from, ls_error *err)
{
    uint64_t count = trace_command_count(r->trace);
    if (from->command > count)
        return ls_fail(err, LS_ERR_INPUT, "the position is before command %llu, but the trace has %llu",
                       (unsigned long long)from->command, (unsigned long long)count);
    r->next = *from;
    for (uint64_t i = 0; i < from->command; i++)
        r->seen += trace_command_at(r->trace, i)->kind == LS_COMMAND_KERNEL;
    return position_check_start(from, err);
}

ls_status replay_create(ls_engine *engine, sass_trace *trace, const replay_options *options,
                        trace_replay **out, ls_error *err)
{
    *out = NULL;
    const gpu_instance *gpu = gpu_at(engine, options != NULL ? options->gpu : 0);
    if (gpu == NULL)
        return ls_fail(err, LS_ERR_USAGE, "this machine has no GPU that runs traces");
    trace_replay *r = calloc(1, sizeof *r);
    if (r == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a replay");
    r->engine = engine;
    r->trace = trace;
    r->gpu = gpu;
    r->dispatch = gpu_dispatch_ops(gpu);
    r->dispatch_self = gpu->dispatch_port.self;
    if (options != NULL)
        r->options = *options;
    r->unmodelled.allowed = r->options.allow_unmodelled;
    r->last_unit = SIZE_MAX;
    const source_position kernel = { .command = r->options.program != NULL ? r->options.program->kernel : 0 };
    ls_status status = go_to(r, r->options.from != NULL ? r->options.from : &kernel, err);
    if (status == LS_OK)
        status = gpu_shape_of(gpu, &r->shape, err);
    if (status == LS_OK && r->options.count_instructions && !gpu_shape_counts_instructions(&r->shape))
        status =
            ls_fail(err, LS_ERR_UNSUPPORTED,
                    "counts per instruction need cores of model cycle with core.alu cycle: leave --source or "
                    "--fidelity out");
    if (status == LS_OK && r->shape.analytic && r->options.profile == NULL)
        status = profiler_create(&r->shape, LS_PROFILE_CACHE, &r->profiler, err);
    if (status != LS_OK) {
        free(r);
        return status;
    }
    *out = r;
    return LS_OK;
}

void replay_destroy(trace_replay *r)
{
    if (r == NULL)
        return;
    while (r->open.count > 0)
        close_kernel(r, r->open.at[0]);
    vec_fini(&r->open);
    for (size_t i = 0; i < r->kernels.count; i++)
        replay_counted_free(r->kernels.at[i].counted);
    vec_fini(&r->kernels);
    profiler_destroy(r->profiler);
    sample_warm_fini(&r->warm);
    sample_warm_fini(&r->touched);
    pool_destroy(r->pool);
    arena_fini(&r->names);
    free(r);
}

uint64_t replay_kernel_count(const trace_replay *r)
{
    return r->kernels.count;
}

bool replay_unfinished(const trace_replay *r, ls_cycle *begin)
{
    *begin = progress_of(r).oldest;
    return *begin != LS_CYCLE_MAX;
}

const replay_kernel *replay_kernel_at(const trace_replay *r, uint64_t index)
{
    return index < r->kernels.count ? &r->kernels.at[index] : NULL;
}

uint64_t replay_guessed(const trace_replay *r, const char **opcode, uint64_t *pc)
{
    *opcode = sass_opcode_name(r->guessed_opcode);
    *pc = r->guessed_pc;
    return r->guessed;
}

const unmodelled_insts *replay_unmodelled(const trace_replay *r)
{
    return &r->unmodelled;
}

static void add_result(ls_run_result *sum, const ls_run_result *piece)
{
    uint64_t windows = sum->windows + piece->windows; /* the rest counts from the start of the engine */
    *sum = *piece;
    sum->windows = windows;
}

/* Profiles are made by as many threads as run the machine. */
static ls_status set_threads(trace_replay *r, uint32_t threads, ls_error *err)
{
    if (threads == r->threads)
        return LS_OK;
    thread_pool *pool = NULL;
    ls_status status = LS_OK;
    if (r->profiler != NULL && threads > 1)
        status = pool_create(threads, &pool, err);
    if (status == LS_OK && r->profiler != NULL)
        status = profiler_use(r->profiler, pool, err);
    pool_destroy(r->pool);
    r->pool = pool;
    r->threads = threads;
    return status;
}

/* Begin of the first kernel whose end was not reported yet, except for the one that is being reported. */
static ls_cycle next_begin(const trace_replay *r)
{
    ls_cycle next = progress_of(r).oldest;
    for (size_t i = r->reported + 1; i < r->kernels.count; i++)
        next = r->kernels.at[i].begin < next ? r->kernels.at[i].begin : next;
    return next;
}

ls_status replay_start(trace_replay *r, uint32_t threads, ls_error *err)
{
    ls_status status = set_threads(r, threads > 1 ? threads : 1, err);
    if (status != LS_OK || r->started)
        return status;
    const ls_dispatch_work work = { .self = r,
                                    .next_kernel = next_kernel,
                                    .next_cta = next_cta,
                                    .kernel_done = kernel_done,
                                    .block_done = r->options.sample_blocks ? block_done : NULL,
                                    .number_of = replay_number_of,
                                    .find_kernel = replay_find_kernel };
    r->dispatch->start(r->dispatch_self, &work);
    r->started = true;
    r->is_away = !ranks_runs(r->gpu->dispatch);
    r->told.oldest = LS_CYCLE_MAX;
    if (r->options.sample != NULL)
        status = replay_sample_warm(r, err);
    if (status != LS_OK)
        return status;
    return r->options.program != NULL ? device_queue_start(r->gpu->queue, r->options.program, err) : LS_OK;
}

static ls_status failed(const ls_error *failure, ls_error *err)
{
    if (err != NULL)
        *err = *failure;
    return failure->status;
}

/* Reports the kernels that have ended since the last call. */
static ls_status report(trace_replay *r, ls_error *err)
{
    for (; r->reported < r->kernels.count; r->reported++)
        if (r->options.kernel_done != NULL) {
            r->kernels.at[r->reported].next_begin = next_begin(r);
            ls_status status =
                r->options.kernel_done(r->options.kernel_done_self, &r->kernels.at[r->reported], err);
            if (status != LS_OK)
                return status;
        }
    return LS_OK;
}

/* No kernel that has not ended was launched before the last end. */
static bool was_idle(const trace_replay *r, const ls_dispatch_progress *progress)
{
    ls_cycle last = 0;
    for (size_t i = r->reported; i < r->kernels.count; i++)
        last = r->kernels.at[i].end > last ? r->kernels.at[i].end : last;
    return progress->oldest >= last;
}

/* After a piece of the run. *ended: a kernel has, which is why the piece ended. */
static ls_status look_at(trace_replay *r, const ls_run_result *piece, bool *ended, ls_error *err)
{
    ls_dispatch_progress progress = progress_of(r);
    if (progress.ended != r->ended && !r->shape.analytic && was_idle(r, &progress))
        gpu_flush_l2(r->gpu);
    ls_status status = report(r, err);
    if (status != LS_OK)
        return status;
    if (!piece->partial && progress.idle && r->held.status != LS_OK)
        return failed(&r->held, err);
    *ended = *ended || progress.ended != r->ended;
    r->ended = progress.ended;
    return r->options.sample != NULL ? replay_sample_warm(r, err) : LS_OK;
}

/* --------------------------------------------------------------------------------------------------- ranks */

/* What the other ranks need to know after a piece of the run; those of GPUs elsewhere have nothing to say. */
static void tell(const trace_replay *r, replay_told *out)
{
    ls_dispatch_progress progress = progress_of(r);
    *out = (replay_told){ .is_here = !r->is_away,
                          .ended = progress.ended,
                          .is_idle = progress.idle,
                          .oldest = progress.oldest,
                          .held = r->held,
                          .guessed = r->guessed,
                          .guessed_pc = r->guessed_pc,
                          .guessed_opcode = r->guessed_opcode,
                          .unmodelled = r->unmodelled,
                          .kernels = &r->kernels.at[r->reported],
                          .kernel_count = r->kernels.count - r->reported };
    if (progress.failure != NULL)
        out->failure = *progress.failure;
}

static ls_status hear(trace_replay *r, const replay_told *in, ls_error *err)
{
    r->told_failure = in->failure;
    r->told = (ls_dispatch_progress){ .ended = in->ended,
                                      .idle = in->is_idle,
                                      .oldest = in->oldest,
                                      .failure = in->failure.status != LS_OK ? &r->told_failure : NULL };
    r->held = in->held;
    r->guessed = in->guessed;
    r->guessed_pc = in->guessed_pc;
    r->guessed_opcode = in->guessed_opcode;
    r->unmodelled = in->unmodelled;
    for (size_t i = 0; i < in->kernel_count; i++) {
        replay_kernel kernel = in->kernels[i];
        kernel.name = arena_strdup(&r->names, kernel.name);
        if (kernel.name == NULL || !vec_push(&r->kernels, kernel))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the kernels of other ranks");
    }
    return LS_OK;
}

/* After a piece of the run: every rank knows how far the GPUs of the others are, so that all go on or end together. */
static ls_status share_progress(trace_replay *const *replays, size_t count, ls_error *err)
{
    ls_engine *engine = replays[0]->engine;
    mem_arena arena = { 0 };
    if (ranks_count(engine) == 1)
        return LS_OK;
    replay_told *told = arena_array(&arena, count, sizeof *told);
    if (told == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the progress of %zu GPUs", count);
    for (size_t i = 0; i < count; i++)
        tell(replays[i], &told[i]);
    ls_status status = replay_ranks_share(engine, told, count, &arena, err);
    for (size_t i = 0; i < count && status == LS_OK; i++)
        if (replays[i]->is_away)
            status = hear(replays[i], &told[i], err);
    arena_fini(&arena);
    return status;
}

ls_status replay_run_all(trace_replay *const *replays, size_t count, const ls_run_options *options,
                         ls_run_result *result, ls_error *err)
{
    *result = (ls_run_result){ 0 };
    for (size_t i = 0; i < count; i++) {
        ls_status status = replay_start(replays[i], options != NULL ? options->threads : 1, err);
        if (status != LS_OK)
            return status;
    }
    for (bool more = count > 0; more;) {
        ls_run_result piece;
        ls_status status = ls_run(replays[0]->engine, options, &piece, err);
        add_result(result, &piece);
        if (status == LS_OK || status == LS_ERR_DEADLOCK) {
            ls_error sharing;
            ls_status shared = share_progress(replays, count, &sharing);
            if (shared != LS_OK)
                return failed(&sharing, err);
        }
        bool all_idle = true;
        for (size_t i = 0; i < count; i++) {
            ls_dispatch_progress progress = progress_of(replays[i]);
            if (progress.failure != NULL)
                return failed(progress.failure, err);
            all_idle = all_idle && progress.idle;
        }
        result->limited = piece.limited && !all_idle; /* requests that ended kernels left do not count */
        for (size_t i = 0; i < count && status == LS_ERR_DEADLOCK; i++)
            if (replays[i]->held.status != LS_OK) /* others wait for this one */
                return failed(&replays[i]->held, err);
        if (status != LS_OK)
            return status;
        bool ended = false;
        for (size_t i = 0; i < count; i++) {
            status = look_at(replays[i], &piece, &ended, err);
            if (status != LS_OK)
                return status;
        }
        more = ended && !all_idle && !piece.partial;
    }
    return LS_OK;
}

ls_status replay_run(trace_replay *replay, const ls_run_options *options, ls_run_result *result, ls_error *err)
{
    return replay_run_all(&replay, 1, options, result, err);
}
