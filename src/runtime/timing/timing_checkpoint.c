/* timing_checkpoint.c: checkpoints of programs and recordings in simulated time. A checkpoint is taken while the engine
 * rests inside of a run. It has four sections: the log of the host code up to this run, the packets that are with command
 * processors, the memory of all places, and the state of the machine.
 *
 * To resume, the host code runs again from its beginning. It gets its answers from the log, and no time passes. At its
 * end the host code waits for the run in which the checkpoint was taken: now packets, memory and machine are restored, and
 * time passes again. */
#include "runtime/timing/timing_impl.h"

#include "base/memory_image.h"
#include "lockstep/state.h"
#include "runtime/driver/drv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for a checkpoint");
}

static timing *of(const ls_gpu_system *system)
{
    return system->backend == &drv_backend_time ? system->machine : NULL;
}

/* ------------------------------------------------------------------------------------------------ begins */

/* Observers of a run keep things of their own that no checkpoint has. */
static ls_status check_options(const timing *t, ls_error *err)
{
    const char *what = t->check                 ? "a memory check (--check-memory)"
                       : t->record              ? "a recording that is written (--record)"
                       : t->debugger            ? "a debugger"
                       : t->counts_instructions ? "counts per instruction (--source)"
                                                : NULL;
    if (what == NULL)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED, "%s cannot be part of a checkpoint", what);
}

static ls_status begin(timing *t, ls_error *err)
{
    ls_status status = check_options(t, err);
    if (status != LS_OK || t->log != NULL)
        return status;
    t->log = calloc(1, sizeof *t->log);
    if (t->log == NULL)
        return no_memory(err);
    t->log->engine = t->engine;
    return LS_OK;
}

ls_status timing_checkpoint_begin(ls_gpu_system *system, ls_error *err)
{
    timing *t = of(system);
    ls_status status =
        t != NULL ? begin(t, err)
                  : ls_fail(err, LS_ERR_UNSUPPORTED, "only programs in simulated time have checkpoints");
    if (status == LS_OK)
        t->log->is_kept = true;
    return status;
}

ls_status timing_checkpoint_resume(ls_gpu_system *system, const timing_image *image, ls_error *err)
{
    timing *t = of(system);
    ls_status status = begin(t, err);
    if (status != LS_OK)
        return status;
    t->log->replays = true;
    t->log->in = (bytes_in){ .at = image->log.at, .end = image->log.at + image->log.bytes };
    t->image = *image;
    return LS_OK;
}

bool timing_checkpoint_is_replaying(const ls_gpu_system *system)
{
    return timing_log_replays(of(system) != NULL ? of(system)->log : NULL);
}

void timing_checkpoint_share(const ls_gpu_system *system, void *counters, size_t bytes)
{
    if (of(system) != NULL)
        timing_log_share(of(system)->log, counters, bytes);
}

/* ----------------------------------------------------------------------------------------------- objects */

/* What blocks point to: packets, with their kernels and transfers, and instructions of the kernels. */
static bool list_objects(const timing *t, ls_state_object **out, size_t *count)
{
    const timing_log *log = t->log;
    *count = 0;
    *out = calloc(2 * log->flying.count + 1, sizeof **out);
    for (size_t i = 0; *out != NULL && i < log->flying.count; i++) {
        const ls_command_packet *p = log->flying.at[i];
        (*out)[(*count)++] = (ls_state_object){ p, sizeof *p };
        if (p->kind != LS_PACKET_KERNEL)
            continue;
        const cu_code *code = p->kernel.code;
        (*out)[(*count)++] =
            (ls_state_object){ code->insts, (code->program->op_count + UINT64_C(1)) * sizeof *code->insts };
    }
    return *out != NULL;
}

/* ----------------------------------------------------------------------------------------------- packets */

/* The number of a packet that is linked to another, from 1; 0: none. */
static uint64_t number_of(const timing_log *log, const ls_command_packet *packet)
{
    for (size_t i = 0; packet != NULL && i < log->flying.count; i++)
        if (log->flying.at[i] == packet)
            return i + 1;
    return 0;
}

static const ls_command_packet *packet_of(const ls_dma_job *job)
{
    return job == NULL ? NULL
                       : (const ls_command_packet *)(const void *)((const char *)job -
                                                                   offsetof(ls_command_packet, transfer));
}

/* The buffer that the engine writes while the transfer runs; NULL: none. */
static uint8_t *written_buffer(const ls_command_packet *p)
{
    return p->kind == LS_PACKET_TRANSFER && p->transfer.kind == LS_DMA_OUT ? p->transfer.host_to : NULL;
}

static void save_packets(const timing *t, bytes_out *out)
{
    const timing_log *log = t->log;
    bytes_put64(out, log->flying.count);
    for (size_t i = 0; i < log->flying.count; i++) {
        const ls_command_packet *p = log->flying.at[i];
        bytes_put(out, p, sizeof *p);
        bytes_put64(out, number_of(log, p->next));
        bytes_put64(out, number_of(log, packet_of(p->transfer.next)));
        if (written_buffer(p) != NULL)
            bytes_put(out, written_buffer(p), p->transfer.bytes);
    }
}

/* What the program asked for must be what it asked for before. */
static bool is_same(const ls_command_packet *a, const ls_command_packet *b)
{
    const ls_cu_kernel *x = &a->kernel, *y = &b->kernel;
    return a->kind == b->kind && a->transfer.kind == b->transfer.kind &&
           a->transfer.bytes == b->transfer.bytes && a->transfer.to == b->transfer.to &&
           a->transfer.from == b->transfer.from && a->shared == b->shared &&
           (a->kind != LS_PACKET_KERNEL ||
            (x->number == y->number && x->kernarg == y->kernarg && x->scratch == y->scratch &&
             x->lds_bytes == y->lds_bytes && memcmp(x->grid, y->grid, sizeof x->grid) == 0 &&
             memcmp(x->group, y->group, sizeof x->group) == 0));
}

/* Everything that the machine has filled in; pointers stay those of this process. */
static void take_over(ls_command_packet *p, const ls_command_packet *saved)
{
    ls_command_packet own = *p;
    *p = *saved;
    p->client = own.client;
    p->kernel = own.kernel;
    p->limit = own.limit;
    p->watch = own.watch;
    p->transfer.host_from = own.transfer.host_from;
    p->transfer.host_to = own.transfer.host_to;
    p->transfer.pattern = own.transfer.pattern;
    p->transfer.done = own.transfer.done;
    p->transfer.self = own.transfer.self;
}

static ls_command_packet *flying_at(const timing_log *log, uint64_t number)
{
    return number == 0 || number > log->flying.count ? NULL : log->flying.at[number - 1];
}

static void load_packets(const timing *t, bytes_in *in)
{
    timing_log *log = t->log;
    log->differs = log->differs || bytes_get64(in) != log->flying.count;
    for (size_t i = 0; i < log->flying.count && !log->differs; i++) {
        ls_command_packet *p = log->flying.at[i], saved;
        bytes_get(in, &saved, sizeof saved);
        const ls_command_packet *next = flying_at(log, bytes_get64(in));
        ls_command_packet *after = flying_at(log, bytes_get64(in));
        log->differs = in->failed || !is_same(p, &saved);
        if (log->differs)
            return;
        take_over(p, &saved);
        p->next = (ls_command_packet *)(uintptr_t)next;
        p->transfer.next = after != NULL ? &after->transfer : NULL;
        if (written_buffer(p) != NULL)
            bytes_get(in, written_buffer(p), p->transfer.bytes);
    }
}

/* ------------------------------------------------------------------------------------------------ ranks */

/* A packet as the rank of its GPU has it. */
typedef struct told_packet {
    uint64_t number, next, after; /* from 1; 0: none */
    uint64_t bytes;               /* of its buffer, which follow */
    ls_command_packet packet;
} told_packet;

static void tell_packets(const timing *t, bytes_out *out)
{
    const timing_log *log = t->log;
    for (size_t i = 0; i < log->flying.count; i++) {
        const ls_command_packet *p = log->flying.at[i];
        if (!timing_is_here(t, t->ranks->flying_gpus.at[i]))
            continue;
        told_packet told = { .number = i + 1,
                             .next = number_of(log, p->next),
                             .after = number_of(log, packet_of(p->transfer.next)),
                             .bytes = written_buffer(p) != NULL ? p->transfer.bytes : 0,
                             .packet = *p };
        bytes_put(out, &told, sizeof told);
        bytes_put(out, written_buffer(p), told.bytes);
    }
}

/* Rank 0's packets of other ranks become what the machine has made of them. No block here uses them. */
static bool hear_packets(const timing *t, rank_bytes bytes)
{
    bytes_in in = { .at = bytes.at, .end = bytes.at + bytes.count };
    while (in.at != in.end) {
        told_packet told;
        bytes_get(&in, &told, sizeof told);
        ls_command_packet *p = in.failed ? NULL : flying_at(t->log, told.number);
        if (p == NULL || !is_same(p, &told.packet) ||
            told.bytes != (written_buffer(p) != NULL ? p->transfer.bytes : 0))
            return false;
        take_over(p, &told.packet);
        ls_command_packet *after = flying_at(t->log, told.after);
        p->next = flying_at(t->log, told.next);
        p->transfer.next = after != NULL ? &after->transfer : NULL;
        if (told.bytes > 0)
            bytes_get(&in, written_buffer(p), told.bytes);
        if (in.failed)
            return false;
    }
    return true;
}

/* All ranks: rank 0 gets the packets of the others. */
static ls_status collect_packets(const timing *t, ls_error *err)
{
    bytes_out own = { 0 };
    const rank_bytes *in;
    if (ranks_here(t->engine) != 0)
        tell_packets(t, &own);
    ls_status status = ranks_give(t->engine, 0, (rank_bytes){ own.bytes.at, own.bytes.count }, &in, err);
    for (uint32_t i = 1; i < ranks_count(t->engine) && status == LS_OK && ranks_here(t->engine) == 0; i++)
        if (!hear_packets(t, in[i]))
            status = ls_fail(err, LS_ERR_INTERNAL, "rank %u has other commands than rank 0", i);
    vec_fini(&own.bytes);
    return status;
}

/* Staging buffers of commands with several packets: bytes of one packet may be the input of another. */
static bool is_first_of_job(const timing *t, size_t slot)
{
    const timing_slot *s = t->slots.at[slot];
    bool first = s->work != NULL && s->job != NULL && s->job->staging != NULL;
    for (size_t i = 0; i < slot && first; i++)
        first = t->slots.at[i]->work == NULL || t->slots.at[i]->job != s->job;
    return first;
}

static void save_staging(const timing *t, bytes_out *out)
{
    for (size_t i = 0; i < t->slots.count; i++)
        if (is_first_of_job(t, i))
            bytes_put(out, t->slots.at[i]->job->staging, t->slots.at[i]->job->work->bytes);
}

static void load_staging(const timing *t, bytes_in *in)
{
    for (size_t i = 0; i < t->slots.count; i++)
        if (is_first_of_job(t, i))
            bytes_get(in, t->slots.at[i]->job->staging, t->slots.at[i]->job->work->bytes);
}

/* ------------------------------------------------------------------------------------------------ memory */

/* One memory, which rank `owner` has. */
static ls_status save_space(const timing *t, memory_space *space, uint32_t owner, memory_image_bytes *out,
                            ls_error *err)
{
    memory_image_bytes own = { 0 };
    const rank_bytes *in;
    if (owner == ranks_here(t->engine) && !memory_image_save(space, owner == 0 ? out : &own))
        return no_memory(err);
    if (owner == 0)
        return LS_OK;
    ls_status status = ranks_give(t->engine, 0, (rank_bytes){ own.at, own.count }, &in, err);
    if (status == LS_OK && ranks_here(t->engine) == 0) {
        if (vec_reserve(out, in[owner].count)) {
            memcpy(out->at + out->count, in[owner].at, in[owner].count);
            out->count += in[owner].count;
        } else {
            status = no_memory(err);
        }
    }
    vec_fini(&own);
    return status;
}

static ls_status save_memory(const timing *t, memory_image_bytes *out, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < t->gpu_count && status == LS_OK; i++)
        status = save_space(t, t->gpus[i].space, timing_rank_of(t, i), out, err);
    if (status == LS_OK && t->host_space != NULL)
        status = save_space(t, t->host_space, ranks_owner(t->host->memory), out, err);
    return status;
}

static ls_status load_memory(const timing *t, const uint8_t *at, const uint8_t *end, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++)
        status = memory_image_load(t->gpus[i].space, &at, end, err);
    if (status == LS_OK && t->host_space != NULL)
        status = memory_image_load(t->host_space, &at, end, err);
    if (status == LS_OK && at != end)
        status = ls_fail(err, LS_ERR_INPUT, "the saved memory is larger than the memory of this machine");
    return status;
}

/* ------------------------------------------------------------------------------------------ saving, loading */

ls_status timing_checkpoint_save(ls_gpu_system *system, timing_image *image, ls_error *err)
{
    const timing *t = of(system);
    bytes_out host = { 0 };
    memory_image_bytes memory = { 0 };
    ls_state_object *objects = NULL;
    size_t count, machine_bytes = 0;
    void *machine = NULL;
    *image = (timing_image){ 0 };
    ls_status status = timing_log_check(t->log, err);
    if (status != LS_OK)
        return status;
    if (t->ranks != NULL)
        status = collect_packets(t, err);
    save_packets(t, &host);
    save_staging(t, &host);
    if (status == LS_OK)
        status = save_memory(t, &memory, err);
    if (status == LS_OK && (host.failed || !list_objects(t, &objects, &count)))
        status = no_memory(err);
    if (status == LS_OK)
        status = ranks_collect_with(t->engine, &(ls_state_objects){ objects, count }, err);
    if (status == LS_OK && ranks_here(t->engine) == 0)
        status = ls_engine_save_with(t->engine, &(ls_state_objects){ objects, count }, &machine,
                                     &machine_bytes, err);
    free(objects);
    if (status != LS_OK) {
        vec_fini(&host.bytes);
        vec_fini(&memory);
        return status;
    }
    image->log = (timing_section){ t->log->out.bytes.at, t->log->out.bytes.count };
    image->host = (timing_section){ host.bytes.at, host.bytes.count };
    image->memory = (timing_section){ memory.at, memory.count };
    image->machine = (timing_section){ machine, machine_bytes };
    return LS_OK;
}

void timing_image_free(timing_image *image)
{
    free((void *)(uintptr_t)image->host.at);
    free((void *)(uintptr_t)image->memory.at);
    free((void *)(uintptr_t)image->machine.at);
    *image = (timing_image){ 0 };
}

/* The log goes on behind what was replayed, if there will be more checkpoints. */
static ls_status go_on(timing *t, ls_error *err)
{
    timing_log *log = t->log;
    const timing_image image = t->image;
    log->replays = false;
    log->in = (bytes_in){ 0 };
    t->image = (timing_image){ 0 };
    if (log->is_kept) {
        bytes_put(&log->out, image.log.at, image.log.bytes);
    } else {
        timing_log_fini(log);
        free(log);
        t->log = NULL;
    }
    return image.arrived != NULL ? image.arrived(image.arrived_self, err) : LS_OK;
}

static ls_status restore(timing *t, ls_error *err)
{
    const timing_image *image = &t->image;
    bytes_in host = { .at = image->host.at, .end = image->host.at + image->host.bytes };
    load_packets(t, &host);
    if (!t->log->differs)
        load_staging(t, &host);
    t->log->differs = t->log->differs || !bytes_at_end(&host);
    ls_status status = timing_log_check(t->log, err);
    ls_state_object *objects = NULL;
    size_t count;
    if (status == LS_OK)
        status = load_memory(t, image->memory.at, image->memory.at + image->memory.bytes, err);
    if (status == LS_OK && !list_objects(t, &objects, &count))
        status = no_memory(err);
    if (status == LS_OK)
        status = ls_engine_load_with(t->engine, &(ls_state_objects){ objects, count }, image->machine.at,
                                     image->machine.bytes, err);
    free(objects);
    return status == LS_OK ? go_on(t, err) : status;
}

ls_status timing_run_engine(timing *t, const ls_run_options *options, ls_run_result *piece, ls_error *err)
{
    ls_status status = t->log != NULL ? timing_log_check(t->log, err) : LS_OK;
    if (status == LS_OK && timing_log_replays(t->log)) {
        if (!timing_log_is_over(t->log)) {
            timing_log_value(t->log, TIMING_LOG_RUN, piece, sizeof *piece);
            return timing_log_check(t->log, err);
        }
        status = restore(t, err);
    }
    if (status != LS_OK) {
        *piece = (ls_run_result){ 0 };
        return status;
    }
    if (t->ranks != NULL)
        t->ranks->is_gathered = false;
    status = ls_run(t->engine, options, piece, err);
    if (status == LS_OK)
        timing_log_value(t->log, TIMING_LOG_RUN, piece, sizeof *piece);
    return status;
}
