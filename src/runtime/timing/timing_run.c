/* timing_run.c: commands become packets of command processors; the engine runs until one of them is over.
 * All are in a command processor's one queue and run side by side: the driver keeps the order of its own queues. */
#include "runtime/timing/timing_impl.h"

#include "isa/amd/exec/fault.h"
#include "runtime/driver/fault.h"
#include "isa/amd/exec/limits.h"
#include "isa/amd/exec/start.h"
#include "model/migrate/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACKET_BYTES 64u
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

/* ------------------------------------------------------------------------------------------ slots, pieces */

timing_slot *timing_free_slot(timing *t)
{
    for (size_t i = 0; i < t->slots.count; i++)
        if (!t->slots.at[i]->work)
            return t->slots.at[i];
    timing_slot *slot = calloc(1, sizeof *slot);
    if (!slot || !vec_push(&t->slots, slot)) {
        free(slot);
        return NULL;
    }
    slot->arguments = slot->scratch = SIZE_MAX;
    return slot;
}

void timing_free_pieces(timing *t, timing_slot *slot)
{
    timing_gpu *g = &t->gpus[slot->gpu];
    if (slot->arguments != SIZE_MAX)
        g->pieces.at[slot->arguments].is_used = false;
    if (slot->scratch != SIZE_MAX)
        g->pieces.at[slot->scratch].is_used = false;
    slot->arguments = slot->scratch = SIZE_MAX;
}

/* The smallest free piece that is large enough, or a new one. Pieces are kept: written data goes through
 * caches, and the initial content of scratch does not matter. */
static ls_status take_piece(timing_gpu *g, uint64_t bytes, size_t *out, ls_error *err)
{
    timing_piece *best = NULL, piece = { .bytes = bytes, .is_used = true };
    for (size_t i = 0; i < g->pieces.count; i++) {
        timing_piece *p = &g->pieces.at[i];
        if (!p->is_used && p->bytes >= bytes && (!best || p->bytes < best->bytes))
            best = p;
    }
    if (best) {
        best->is_used = true;
        *out = (size_t)(best - g->pieces.at);
        return LS_OK;
    }
    piece.bytes = (bytes + LS_PAGE_BYTES - 1) & ~(uint64_t)(LS_PAGE_BYTES - 1);
    ls_status status = timing_alloc(g, piece.bytes, g->align, &piece.address, err);
    if (status != LS_OK)
        return status;
    if (!vec_push(&g->pieces, piece)) {
        address_space_free(g->space, timing_frame(piece.address), NULL);
        return no_memory(err);
    }
    *out = g->pieces.count - 1;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- launches */

/* The AQL packet of the dispatch, as kernels find it through their dispatch pointer. */
static void write_packet(const timing_slot *slot, uint8_t *out)
{
    const ls_cu_kernel *k = &slot->packet.kernel;
    uint16_t half[32] = { 0 };
    uint32_t word[16];
    half[0] = 2 | 1 << 8; /* a kernel dispatch, with a barrier bit */
    half[1] = (uint16_t)k->dims;
    for (unsigned i = 0; i < 3; i++)
        half[2 + i] = (uint16_t)k->group[i];
    memcpy(word, half, sizeof word);
    memcpy(&word[3], k->grid, sizeof k->grid);
    word[6] = k->program->kernel.scratch_bytes;
    word[7] = k->lds_bytes;
    memcpy(&word[8], &k->program->kernel.entry, 8);
    memcpy(&word[10], &k->kernarg, 8);
    memcpy(out, word, PACKET_BYTES);
}

static ls_status place_arguments(timing *t, timing_slot *slot, const drv_dispatch *d, ls_error *err)
{
    uint64_t align = d->kernarg_align > PACKET_BYTES ? d->kernarg_align : PACKET_BYTES;
    uint64_t bytes = align + d->kernarg_bytes;
    timing_gpu *g = &t->gpus[slot->gpu];
    ls_command_packet *p = &slot->packet;
    if (bytes > slot->setup_capacity) {
        uint8_t *setup = realloc(slot->setup, bytes);
        if (!setup)
            return no_memory(err);
        slot->setup = setup;
        slot->setup_capacity = bytes;
    }
    ls_status status = take_piece(g, bytes, &slot->arguments, err);
    if (status != LS_OK)
        return status;
    p->kernel.packet = g->pieces.at[slot->arguments].address;
    p->kernel.kernarg = p->kernel.packet + align;
    memset(slot->setup, 0, align);
    write_packet(slot, slot->setup);
    memcpy(slot->setup + align, d->kernarg, d->kernarg_bytes);
    p->transfer = (ls_dma_job){ .kind = LS_DMA_IN,
                                .local = true,
                                .to = t->directory ? p->kernel.packet : timing_frame(p->kernel.packet),
                                .host_from = slot->setup,
                                .bytes = bytes };
    return LS_OK;
}

static ls_status place_scratch(timing *t, timing_slot *slot, ls_error *err)
{
    timing_gpu *g = &t->gpus[slot->gpu];
    ls_cu_kernel *k = &slot->packet.kernel;
    uint32_t items = k->group[0] * k->group[1] * k->group[2], lanes = k->program->lanes;
    k->scratch_bytes = (k->program->kernel.scratch_bytes + 15) & ~15u;
    k->scratch = 0;
    k->scratch_place_bytes = (uint64_t)((items + lanes - 1) / lanes) * lanes * k->scratch_bytes;
    if (k->scratch_place_bytes == 0)
        return LS_OK;
    uint64_t bytes = k->scratch_place_bytes * g->command->places(g->command_self, &slot->packet);
    ls_status status = take_piece(g, bytes, &slot->scratch, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "kernel %s: private memory for the waves that run at once",
                               k->program->name);
    k->scratch = g->pieces.at[slot->scratch].address;
    return LS_OK;
}

ls_command_packet timing_packet_of(const amd_kernel *kernel)
{
    bool is_gfx10 = amd_target_is_gfx10(kernel->target);
    return (ls_command_packet){ .kind = LS_PACKET_KERNEL,
                                /* Granules of 8; on gfx10 every wave has all scalar registers. */
                                .sgprs = is_gfx10 ? 106 : ((kernel->rsrc1 >> 6 & 15) + 1) * 8,
                                /* GCN's code knows no modes: on RDNA its work-groups use both halves, as in
                              * NaviSim. */
                                .one_half = is_gfx10 && (kernel->rsrc1 >> 29 & 1) == 0 };
}

ls_status timing_fill_launch(timing *t, timing_slot *slot, const drv_work *work, const ls_groups *which,
                             ls_error *err)
{
    const timing_program *program = work->program;
    const drv_dispatch *d = work->dispatch;
    const amd_kernel *a = &program->program->kernel;
    ls_command_packet *p = &slot->packet;
    ls_status status = amd_limits_launch(program->program, d->grid, d->group,
                                         (uint64_t)a->lds_bytes + d->dynamic_lds_bytes, err);
    if (status != LS_OK)
        return status;
    *p = timing_packet_of(a);
    p->kernel = (ls_cu_kernel){ .program = program->program,
                                .code = program->code,
                                .number = (uint32_t)t->launches,
                                .dims = d->dims,
                                .lds_bytes = a->lds_bytes + d->dynamic_lds_bytes,
                                .queue = t->gpus[slot->gpu].queue_record,
                                .max_instructions = t->max_instructions,
                                .lenient_barriers = t->lenient_barriers };
    p->kernel.which = *which;
    memcpy(p->kernel.grid, d->grid, sizeof d->grid);
    memcpy(p->kernel.group, d->group, sizeof d->group);
    status = place_arguments(t, slot, d, err);
    return status == LS_OK ? place_scratch(t, slot, err) : status;
}

static void fill_transfer(timing_slot *slot, const timing_part *part)
{
    static const uint8_t kinds[] = { [DRV_WORK_IN] = LS_DMA_IN,
                                     [DRV_WORK_OUT] = LS_DMA_OUT,
                                     [DRV_WORK_COPY] = LS_DMA_COPY,
                                     [DRV_WORK_FILL] = LS_DMA_FILL };
    slot->packet = (ls_command_packet){ .kind = LS_PACKET_TRANSFER,
                                        .transfer = { .kind = kinds[part->kind],
                                                      .to = part->to,
                                                      .from = part->from,
                                                      .bytes = part->bytes,
                                                      .host_from = part->host_from,
                                                      .host_to = part->host_to,
                                                      .pattern = part->pattern,
                                                      .pattern_bytes = part->pattern_bytes } };
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
        fill_transfer(slot, part);
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
        status = g->command->submit(g->command_self, &slot->packet, err);
    if (status != LS_OK) {
        (void)timing_record_end(slot, false, NULL);
        timing_free_pieces(t, slot);
        timing_unstage(t, &slot->packet.transfer, &slot->staged);
        return status;
    }
    if (part->kind == DRV_WORK_LAUNCH)
        t->launches++;
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

static ls_status submit_work(timing *t, drv_work *work, bool local, ls_error *err)
{
    timing_part part = { .kind = work->kind, .gpu = (uint32_t)work->gpu };
    timing_job *job;
    t->commands++;
    bool launch = work->kind == DRV_WORK_LAUNCH;
    if (launch)
        part.which = work->dispatch->which;
    if (launch ? part.gpu < t->gpu_count : timing_is_whole(t, work, &part))
        return submit_part(t, work, NULL, &part, local, err);
    ls_status status = launch ? timing_spread(t, work, &job, err) : timing_split(t, work, &job, err);
    if (status != LS_OK)
        return status;
    job->local = local;
    job->command = t->commands - 1;
    if (job->parts.count > 0)
        return submit_job(t, job, err);
    timing_job_deliver(t, job); /* all of it was the CPU's */
    timing_job_free(job);
    timing_check_end(t, work);
    work->began_ns = work->ended_ns = atomic_load(&t->now_ns);
    work->is_over = true;
    t->ended++;
    return LS_OK;
}

static ls_status submit(timing *t, drv_work *work, bool local, ls_error *err)
{
    timing_discard_freed(t);
    work->began_ns = UINT64_MAX;
    work->status = LS_OK;
    if (timing_is_skipping(t))
        return timing_skip_command(t, work, local, err);
    timing_check_begin(t, work);
    ls_status status = submit_work(t, work, local, err);
    if (status != LS_OK) {
        work->status = status;
        timing_check_end(t, work);
    }
    return status;
}

ls_status timing_submit(void *self, drv_work *work, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    ls_status status = t->is_broken ? t->broken.status : LS_OK;
    if (t->is_broken)
        *err = t->broken;
    else
        status = submit(t, work, false, err);
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
    fail_work(slot->work, status, &err);
}

/* What a packet adds to its command. */
static void end_packet(timing *t, timing_slot *slot)
{
    const ls_command_packet *p = &slot->packet;
    drv_work *work = slot->work;
    ls_error err;
    if (slot->kind == DRV_WORK_LAUNCH) {
        timing_add_counts(&work->counts, p);
        work->counts.host_ns = host_ns() - slot->host_began_ns;
        work->counts.simulated_ns = (p->end - p->begin) / FS_PER_NS;
    }
    if (p->has_fault)
        report_fault(t, slot);
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
    for (size_t i = 0; i < t->gpu_count && !p; i++)
        p = t->gpus[i].command->take(t->gpus[i].command_self);
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
    ls_status status = ls_run(t->engine, &options, &piece, err);
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

ls_status timing_settle(timing *t, ls_error *err)
{
    ls_status status = LS_OK;
    bool any = true;
    while (t->directory && !migrate_is_idle(t->directory) && status == LS_OK && any)
        status = run_once(t, &any, err);
    if (status == LS_OK && t->directory && !migrate_is_idle(t->directory))
        status = ls_fail(err, LS_ERR_INTERRUPTED, "pages are on their way, but time does not pass any more");
    return status;
}

/* Runs the engine until a packet is over. */
static ls_status run_on(timing *t, ls_error *err)
{
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
        *err = t->broken;
        timing_job_free(job);
        return t->broken.status;
    }
    timing_discard_freed(t);
    return run_until(t, work, submit_job(t, job, err), err);
}

static ls_status at_once(timing *t, drv_work *work, ls_error *err)
{
    if (t->is_broken) {
        *err = t->broken;
        return t->broken.status;
    }
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
