/* timing_run.c: commands become packets of command processors; the engine runs until one of them is over.
 * All are in a command processor's one queue and run side by side: the driver keeps the order of its own queues. */
#include "runtime/timing/timing_impl.h"

#include "isa/amd/exec/fault.h"
#include "runtime/driver/fault.h"
#include "model/migrate/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FS_PER_NS 1000000u

static uint64_t host_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------------- begins */

ls_status timing_submit_packet(timing *t, const timing_gpu *g, ls_command_packet *packet, ls_error *err)
{
    ls_status status = t->ranks != NULL ? timing_ranks_submit(t, g, packet, err)
                                        : g->command->submit(g->command_self, packet, err);
    return status == LS_OK && !timing_log_submit(t->log, packet) ? no_memory(err) : status;
}

/* A part of a command becomes a packet of its GPU. job NULL: it is all of the command. */
static ls_status submit_part(timing *t, drv_work *work, timing_job *job, const timing_part *part, bool local,
                             ls_error *err)
{
    timing_slot *slot = timing_free_slot(t);
    ls_status status = LS_OK;
    if (!slot)
        return no_memory(err);
    if (t->record && part->which.list != NULL)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "a recording has launches of whole grids, ranges or every n-th work-group: kernel %s runs a list",
            work->dispatch->kernel);
    slot->gpu = part->gpu;
    slot->kind = part->kind;
    slot->bytes = part->bytes;
    slot->command = job ? job->command : t->commands - 1;
    slot->job = job;
    const timing_gpu *g = &t->gpus[slot->gpu];
    if (part->kind == DRV_WORK_LAUNCH)
        status = timing_fill_launch(t, slot, work, &part->which, err);
    else
        timing_fill_transfer(slot, part);
    if (status == LS_OK && part->kind == DRV_WORK_LAUNCH)
        status = timing_grid_check(t, slot, part, err);
    if (status == LS_OK && part->kind == DRV_WORK_LAUNCH)
        status = timing_counts_begin(t, slot->gpu, &slot->packet.kernel, &slot->counts, err);
    if (status == LS_OK && part->kind == DRV_WORK_LAUNCH && t->blocks &&
        !slot->packet.kernel.program->uses_gws)
        status = timing_blocks_begin(t, slot, err);
    if (status == LS_OK && part->kind == DRV_WORK_LAUNCH)
        timing_check_launch(t, slot, work);
    if (status == LS_OK && part->kind == DRV_WORK_LAUNCH)
        timing_debug_launch(t, slot, work);
    slot->packet.shared = part->shared;
    if (status == LS_OK && local) /* past all queues: no time of the host link */
        slot->packet.transfer.local = true;
    else if (status == LS_OK && part->kind != DRV_WORK_LAUNCH)
        status = timing_stage(t, g, &slot->packet.transfer, 0, &slot->staged, err);
    if (status == LS_OK && t->record)
        status = timing_record_begin(t, slot, work, local, err);
    if (status == LS_OK)
        status = timing_submit_packet(t, g, &slot->packet, err);
    if (status != LS_OK) {
        (void)timing_record_end(slot, false, NULL);
        timing_free_pieces(t, slot);
        timing_unstage(t, &slot->packet.transfer, &slot->staged);
        timing_counts_end(&slot->counts);
        timing_blocks_free(slot);
        return status;
    }
    if (part->kind == DRV_WORK_LAUNCH)
        t->launches++;
    if (part->kind == DRV_WORK_LAUNCH && slot->command < t->notes.count)
        t->notes.at[slot->command].launches++;
    slot->work = work;
    slot->packet.client = slot;
    slot->host_began_ns = host_ns();
    return LS_OK;
}

/* The parts of a job that may begin now. */
static ls_status submit_phase(timing *t, timing_job *job, ls_error *err)
{
    size_t end = job->next < job->second ? job->second : job->parts.count;
    ls_status status = LS_OK;
    for (; job->next < end && status == LS_OK; job->next++) {
        status = submit_part(t, job->work, job, &job->parts.at[job->next], job->local, err);
        job->left += status == LS_OK;
    }
    return status;
}

static ls_status submit_job(timing *t, timing_job *job, ls_error *err)
{
    ls_status status = submit_phase(t, job, err);
    if (status == LS_OK || job->left > 0) { /* packets that were submitted still use it */
        if (status != LS_OK) {
            job->work->status = status;
            job->work->failure = *err;
            job->second = job->next = job->parts.count;
        }
        return LS_OK;
    }
    timing_job_free(job);
    return status;
}

/* Bytes that the program gets. */
static void log_read_bytes(timing *t, const drv_work *work)
{
    if (t->log != NULL && work->kind == DRV_WORK_OUT && work->host_to != NULL && work->status == LS_OK)
        timing_log_value(t->log, TIMING_LOG_BYTES, work->host_to, work->bytes);
}

static ls_status submit_work(timing *t, drv_work *work, bool local, ls_error *err)
{
    timing_part part = { .kind = work->kind, .gpu = (uint32_t)work->gpu };
    timing_job *job;
    ls_status status = timing_note_command(t, work, 0, err);
    if (status != LS_OK)
        return status;
    bool launch = work->kind == DRV_WORK_LAUNCH;
    if (launch)
        part.which = work->dispatch->which;
    if (launch ? part.gpu < t->gpu_count : timing_is_whole(t, work, &part))
        return submit_part(t, work, NULL, &part, local, err);
    status = launch ? timing_spread(t, work, &job, err) : timing_split(t, work, &job, err);
    if (status != LS_OK)
        return status;
    job->local = local;
    job->command = t->commands - 1;
    if (job->parts.count > 0)
        return submit_job(t, job, err);
    timing_job_deliver(t, job); /* all of it was the CPU's */
    timing_job_free(job);
    log_read_bytes(t, work);
    timing_check_end(t, work);
    work->began_ns = work->ended_ns = atomic_load(&t->now_ns);
    work->is_over = true;
    t->ended++;
    return LS_OK;
}

/* The simulation that was stopped says so itself. */
ls_status timing_lost(const timing *t, ls_error *err)
{
    if (err)
        *err = t->broken;
    if (t->broken.status != LS_ERR_INTERRUPTED)
        (void)ls_error_prefix(err, "the GPUs are lost since an earlier error");
    return t->broken.status;
}

ls_status timing_begin_work(timing *t, drv_work *work, bool local, ls_error *err)
{
    if (t->sample && work->kind == DRV_WORK_LAUNCH) {
        bool skip;
        ls_status sampled = timing_sample_launch(t, &skip, err);
        if (sampled == LS_OK && skip)
            sampled = timing_skip_launch(t, work, err);
        if (sampled != LS_OK)
            work->status = sampled;
        if (sampled != LS_OK || skip)
            return sampled;
    }
    timing_check_begin(t, work);
    ls_status status = submit_work(t, work, local, err);
    if (status != LS_OK) {
        work->status = status;
        timing_check_end(t, work);
    }
    return status;
}

static ls_status submit(timing *t, drv_work *work, bool local, ls_error *err)
{
    timing_discard_freed(t);
    work->began_ns = UINT64_MAX;
    work->status = LS_OK;
    return timing_is_skipping(t) ? timing_skip_command(t, work, local, err)
                                 : timing_begin_work(t, work, local, err);
}

ls_status timing_submit(void *self, drv_work *work, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    ls_status status = t->is_broken ? timing_lost(t, err) : submit(t, work, false, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* --------------------------------------------------------------------------------------------------- ends */

void timing_add_counts(ls_gpu_counts *to, const ls_command_packet *p)
{
    to->launches++;
    to->work_groups += p->groups;
    to->wavefronts += p->waves;
    LS_COUNTS_ADD(to, &p->tally);
}

void timing_describe_launch(timing_record *record, const ls_command_packet *p)
{
    if (!p)
        return;
    const ls_cu_kernel *k = &p->kernel;
    record->counts = k->counts;
    record->program = k->program;
    record->grid_items = record->group_items = 1;
    for (uint32_t d = 0; d < k->dims; d++) {
        record->grid_items *= k->grid[d];
        record->group_items *= k->group[d];
    }
    record->lds_bytes = k->lds_bytes;
    record->scratch_bytes = k->scratch_bytes;
    record->vgprs = k->program->vgprs;
    record->sgprs = p->sgprs;
    record->lanes = k->program->lanes;
}

static ls_status report(timing *t, const timing_slot *slot, ls_error *err)
{
    const ls_command_packet *p = &slot->packet;
    bool launch = slot->kind == DRV_WORK_LAUNCH;
    timing_record record = { .kind = slot->kind,
                             .gpu = t->gpus[slot->gpu].number,
                             .command = slot->command,
                             .kernel = launch ? p->kernel.program->name : NULL,
                             .number = launch ? p->kernel.number : t->others++,
                             .begin = p->begin,
                             .end = p->end,
                             .bytes = slot->bytes,
                             .groups = p->groups,
                             .waves = p->waves,
                             .instructions = p->tally.instructions,
                             .groups_per_cu = p->groups_per_cu,
                             .waves_per_cu = p->waves_per_cu,
                             .limit = launch ? p->limit : NULL };
    timing_describe_launch(&record, launch ? p : NULL);
    timing_describe_source(&record, launch ? slot->work->dispatch : NULL);
    if (t->over)
        timing_log_counters(t->log);
    return t->over ? t->over(t->over_self, &record, err) : LS_OK;
}

static void fail_work(drv_work *work, ls_status status, const ls_error *err)
{
    if (work->status != LS_OK || status == LS_OK)
        return;
    work->status = status;
    work->failure = *err;
}

static void report_fault(const timing *t, const timing_slot *slot)
{
    const ls_command_packet *p = &slot->packet;
    amd_fault_place place = { .pc = p->fault.fault_pc, .wave = p->fault.fault_wave };
    char reach[160], why[256];
    ls_error err;
    memcpy(place.work_group, p->fault.id, sizeof place.work_group);
    const ls_fault *fault = &p->fault.fault;
    if (fault->kind == LS_FAULT_UNMAPPED && fault->bytes != 0 &&
        timing_explain_reach(t, &t->gpus[slot->gpu], fault->address, reach, sizeof reach)) {
        snprintf(why, sizeof why, "lane %u %s %u bytes that it cannot reach: %s", fault->lane,
                 fault->write ? "writes" : "reads", fault->bytes, reach);
        place.why = why;
    }
    ls_status status = amd_fault_report(p->kernel.program, fault, &place, NULL, 0, &err);
    const ls_fault known =
        place.why ? (ls_fault){ .kind = fault->kind } : *fault; /* its address is explained */
    if (slot->work->dispatch)
        drv_fault_explain(slot->work->dispatch, &known, place.pc, &err);
    if (fault->bytes != 0)
        timing_debug_registers(t, slot, &err);
    timing_share(t, timing_rank_of(t, slot->gpu), &err, sizeof err);
    fail_work(slot->work, status, &err);
}

/* What a packet adds to its command. */
static void end_packet(timing *t, timing_slot *slot)
{
    const ls_command_packet *p = &slot->packet;
    drv_work *work = slot->work;
    ls_error err;
    if (slot->kind == DRV_WORK_LAUNCH && t->sample)
        timing_sample_measured(t, p->kernel.number, slot->gpu, p, slot);
    if (slot->kind == DRV_WORK_LAUNCH) {
        timing_add_counts(&work->counts, p);
        work->counts.host_ns = host_ns() - slot->host_began_ns;
        work->counts.simulated_ns = (p->end - p->begin) / FS_PER_NS;
    }
    if (p->has_fault)
        report_fault(t, slot);
    else if (slot->blocks != NULL)
        fail_work(work, timing_blocks_end(t, slot, work, &err), &err);
    timing_debug_end(t, slot, work->status);
    ls_status status = timing_record_end(slot, work->status == LS_OK, &err);
    if (status != LS_OK) {
        work->status = status;
        work->failure = err;
    }
    work->began_ns = p->begin / FS_PER_NS < work->began_ns ? p->begin / FS_PER_NS : work->began_ns;
    work->ended_ns = p->end / FS_PER_NS > work->ended_ns ? p->end / FS_PER_NS : work->ended_ns;
    if (!p->transfer.local || p->kind == LS_PACKET_KERNEL)
        fail_work(work, report(t, slot, &err), &err);
    timing_free_pieces(t, slot);
    timing_unstage(t, &slot->packet.transfer, &slot->staged);
    timing_counts_end(&slot->counts);
    timing_blocks_free(slot);
    slot->work = NULL;
}

static void end_work(timing *t, timing_slot *slot)
{
    drv_work *work = slot->work;
    timing_job *job = slot->job;
    ls_error err;
    end_packet(t, slot);
    if (job && --job->left > 0)
        return;
    if (job && job->next < job->parts.count && work->status == LS_OK) {
        fail_work(work, submit_phase(t, job, &err), &err);
        if (job->left > 0)
            return;
    }
    if (job && work->kind == DRV_WORK_LAUNCH) {
        work->counts.launches = 1;
        work->counts.simulated_ns = work->ended_ns - work->began_ns;
    }
    if (job && work->status == LS_OK)
        timing_job_deliver(t, job);
    timing_job_free(job);
    log_read_bytes(t, work);
    timing_check_end(t, work);
    work->is_over = true;
    t->ended++;
}

static bool has_launch(const timing *t)
{
    for (size_t i = 0; i < t->slots.count; i++)
        if (t->slots.at[i]->work && t->slots.at[i]->packet.kind == LS_PACKET_KERNEL)
            return true;
    return false;
}

/* GPU by GPU; those of a GPU in the order of their ends. */
ls_command_packet *timing_take(timing *t)
{
    ls_command_packet *p = NULL;
    if (t->ranks != NULL && !timing_log_replays(t->log))
        return timing_log_take(t->log, timing_ranks_take(t));
    for (size_t i = 0; i < t->gpu_count && !p && !timing_log_replays(t->log); i++)
        p = t->gpus[i].command->take(t->gpus[i].command_self);
    p = timing_log_take(t->log, p);
    if (t->ranks != NULL && p != NULL)
        timing_ranks_forget(t->ranks, p);
    return p;
}

/* Runs the engine once, and takes the packets that are over. */
static ls_status run_once(timing *t, bool *any, ls_error *err)
{
    ls_run_result piece;
    uint64_t windows = t->result.windows;
    ls_run_options options = t->options;
    options.scaling = options.scaling && has_launch(t); /* copies say nothing about compute units */
    if (t->check) {
        options.between = memcheck_between;
        options.between_self = t->check;
    }
    ls_status status = timing_sample_refresh(t, err);
    if (status != LS_OK)
        return status;
    status = timing_run_engine(t, &options, &piece, err);
    t->result = piece;
    t->result.windows += windows;
    atomic_store(&t->now_ns, piece.end_time / FS_PER_NS);
    if (status == LS_OK && piece.partial)
        status = ls_fail(err, LS_ERR_INTERRUPTED, "the simulation was interrupted");
    *any = false;
    for (ls_command_packet *p; status == LS_OK && (p = timing_take(t)) != NULL; *any = true)
        end_work(t, p->client);
    return status == LS_OK ? timing_check_findings(t, err) : status;
}

ls_status timing_rest(timing *t, ls_error *err)
{
    bool any = true;
    ls_status status = LS_OK;
    while (status == LS_OK && any)
        status = run_once(t, &any, err);
    return status;
}

ls_status timing_settle(timing *t, ls_error *err)
{
    ls_status status = LS_OK;
    bool any = true;
    if (t->is_broken && !timing_is_settled(t))
        return timing_lost(t, err);
    while (!timing_is_settled(t) && status == LS_OK && any)
        status = run_once(t, &any, err);
    if (status == LS_OK && !timing_is_settled(t))
        status = ls_fail(err, LS_ERR_INTERRUPTED, "pages are on their way, but time does not pass any more");
    return status;
}

/* Runs the engine until a packet is over. */
static ls_status run_on(timing *t, ls_error *err)
{
    if (timing_is_skipping(t) && t->held.count > 0)
        return timing_skip_stuck(t, err);
    for (;;) {
        bool any;
        ls_status status = run_once(t, &any, err);
        if (status != LS_OK || any)
            return status;
        bool waiting = false;
        for (size_t i = 0; i < t->slots.count; i++)
            waiting |= t->slots.at[i]->work != NULL;
        if (!waiting || t->options.until != 0)
            return ls_fail(err, LS_ERR_INTERRUPTED, "the simulation came to its end before the program did");
    }
}

/* The state cannot be trusted after this: submitted commands stay with the command processor for good. */
static void give_up(timing *t, ls_status status, ls_error *err)
{
    t->is_broken = true;
    t->broken = *err;
    t->broken.status = status;
    for (size_t i = 0; i < t->slots.count; i++)
        t->slots.at[i]->work = NULL;
}

ls_status timing_advance(void *self, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    /* An access of the host, or a page that moved, may have let time pass already. */
    ls_status status = t->ended > 0 ? LS_OK : run_on(t, err);
    t->ended = 0;
    if (status != LS_OK)
        give_up(t, status, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* ---------------------------------------------------------------------------------------- past all queues */

static ls_status run_until(timing *t, const drv_work *work, ls_status status, ls_error *err)
{
    while (status == LS_OK && !work->is_over)
        status = run_on(t, err);
    if (work->is_over)
        t->ended--; /* the driver does not know of it */
    if (status == LS_OK && work->status != LS_OK) {
        *err = work->failure;
        status = work->status;
    }
    return status;
}

ls_status timing_run_job(timing *t, timing_job *job, ls_error *err)
{
    const drv_work *work = job->work;
    if (t->is_broken) {
        timing_job_free(job);
        return timing_lost(t, err);
    }
    timing_discard_freed(t);
    return run_until(t, work, submit_job(t, job, err), err);
}

static ls_status at_once(timing *t, drv_work *work, ls_error *err)
{
    if (t->is_broken)
        return timing_lost(t, err);
    return run_until(t, work, submit(t, work, true, err), err);
}

ls_status timing_write(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    drv_work work = { .kind = DRV_WORK_IN, .gpu = gpu, .to = to, .host_from = from, .bytes = bytes };
    pthread_mutex_lock(&t->lock);
    ls_status status = at_once(t, &work, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

ls_status timing_read(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    drv_work work = { .kind = DRV_WORK_OUT, .gpu = gpu, .from = from, .host_to = to, .bytes = bytes };
    pthread_mutex_lock(&t->lock);
    ls_status status = at_once(t, &work, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}
