/* timing_split.c: copies and fills whose bytes lie in several places become several packets, each for the GPU that
 * holds its bytes. Frames of one GPU that follow each other are one packet, also if other pages lie between them in
 * the program's addresses: the host's side then goes through a staging buffer. Bytes that lie in memory of the host are
 * the CPU's: it moves them at once. */
#include "runtime/timing/timing_impl.h"

#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* An index of t->gpus. The driver checked that the range is allocated. */
static uint32_t gpu_at(const timing *t, page_place at)
{
    return t->index_of[at.place];
}

/* The bytes of a transfer that lie in one run of frames on both sides. */
static uint64_t run_of(const timing *t, const drv_work *work, uint64_t offset, page_place *to,
                       page_place *from)
{
    uint64_t left = work->bytes - offset, run = left, other;
    if (work->kind != DRV_WORK_OUT)
        *to = page_table_run(t->pages, work->to + offset, left, &run);
    if (work->kind == DRV_WORK_OUT || work->kind == DRV_WORK_COPY) {
        *from = page_table_run(t->pages, work->from + offset, left, &other);
        run = other < run ? other : run;
    }
    return run;
}

/* Bytes of which no GPU has either side. */
static bool is_of_host(const drv_work *work, page_place to, page_place from)
{
    bool reads = work->kind == DRV_WORK_OUT || work->kind == DRV_WORK_COPY,
         writes = work->kind != DRV_WORK_OUT;
    return (!writes || to.place == MEM_PLACE_HOST) && (!reads || from.place == MEM_PLACE_HOST);
}

/* A copy between GPUs runs on the one that gets the bytes, one to the host on the one that has them. */
static timing_part part_of(const timing *t, const drv_work *work, page_place to, page_place from,
                           uint64_t bytes)
{
    timing_part part = { .kind = work->kind, .gpu = UINT32_MAX, .bytes = bytes };
    if (is_of_host(work, to, from))
        return part;
    part.gpu = gpu_at(t, work->kind == DRV_WORK_OUT || to.place == MEM_PLACE_HOST ? from : to);
    uint32_t own = t->gpus[part.gpu].number;
    if (work->kind != DRV_WORK_OUT)
        part.to = mem_place_physical(own, to.place, to.frame);
    if (work->kind == DRV_WORK_OUT || work->kind == DRV_WORK_COPY)
        part.from = mem_place_physical(own, from.place, from.frame);
    return part;
}

/* DMA engines that translate addresses move any range; its pages stay. */
static timing_part virtual_part(const timing *t, const drv_work *work, bool to_host)
{
    bool out = work->kind == DRV_WORK_OUT || to_host;
    return (timing_part){ .kind = work->kind,
                          .gpu = timing_holder(t, out ? work->from : work->to),
                          .to = work->to,
                          .from = work->from,
                          .bytes = work->bytes };
}

bool timing_is_whole(const timing *t, const drv_work *work, timing_part *part)
{
    page_place to = { 0 }, from = { 0 };
    uint64_t run = run_of(t, work, 0, &to, &from);
    bool has_way = work->kind != DRV_WORK_COPY || to.place == from.place || t->has_fabric;
    if (is_of_host(work, to, from) || (!t->directory && (run < work->bytes || !has_way)))
        return false;
    *part = t->directory ? virtual_part(t, work, to.place == MEM_PLACE_HOST)
                         : part_of(t, work, to, from, work->bytes);
    part->host_from = work->host_from;
    part->host_to = work->host_to;
    part->pattern = work->pattern;
    part->pattern_bytes = (uint32_t)work->pattern_bytes;
    return true;
}

void timing_job_free(timing_job *job)
{
    if (!job)
        return;
    vec_fini(&job->parts);
    vec_fini(&job->stretches);
    free(job->staging);
    free(job);
}

void timing_job_deliver(const timing *t, timing_job *job)
{
    for (size_t i = 0; i < job->stretches.count; i++) {
        const timing_stretch *s = &job->stretches.at[i];
        if (s->host)
            memcpy(s->host, s->staged, s->bytes);
        else
            timing_host_write(t, s->frame, s->staged, s->bytes);
    }
}

/* ---------------------------------------------------------------------------------- in memory of the host */

/* The parts of a transfer that are the CPU's. `staging` has room for all of it. */
static void move_on_host(const timing *t, const drv_work *work, uint8_t *staging)
{
    page_place to = { 0 }, from = { 0 };
    uint64_t run;
    for (uint64_t offset = 0; offset < work->bytes; offset += run) {
        run = run_of(t, work, offset, &to, &from);
        if (!is_of_host(work, to, from))
            continue;
        const uint8_t *bytes = staging + offset;
        if (work->kind == DRV_WORK_COPY)
            timing_host_read(t, from.frame, staging + offset, run);
        for (uint64_t i = 0; work->kind == DRV_WORK_FILL && i < run; i++)
            staging[offset + i] = ((const uint8_t *)work->pattern)[(offset + i) % work->pattern_bytes];
        if (work->kind == DRV_WORK_IN)
            bytes = work->host_from ? (const uint8_t *)work->host_from + offset : NULL;
        if (work->kind != DRV_WORK_OUT && bytes)
            timing_host_write(t, to.frame, bytes, run);
        else if (work->kind == DRV_WORK_OUT && work->host_to)
            timing_host_read(t, from.frame, (uint8_t *)work->host_to + offset, run);
    }
}

/* -------------------------------------------------------------------------------------------- with the host */

/* Copies with the host, GPU by GPU: *staged bytes of the staging buffer are used. Frames of a GPU follow each other in
 * the buffer as they do in its memory. */
static bool stage_gpu(timing *t, timing_job *job, const drv_work *work, uint32_t gpu, uint64_t *staged)
{
    page_place to = { 0 }, from = { 0 };
    uint64_t run;
    size_t first = job->parts.count;
    for (uint64_t offset = 0; offset < work->bytes; offset += run) {
        run = run_of(t, work, offset, &to, &from);
        timing_part part = part_of(t, work, to, from, run);
        if (part.gpu != gpu)
            continue;
        uint8_t *buffer = job->staging + *staged;
        uint64_t frame = part.kind == DRV_WORK_OUT ? part.from : part.to;
        timing_part *last = job->parts.count > first ? &job->parts.at[job->parts.count - 1] : NULL;
        *staged += run;
        if (work->kind == DRV_WORK_OUT && work->host_to) {
            const timing_stretch stretch = { .staged = buffer,
                                             .host = (uint8_t *)work->host_to + offset,
                                             .bytes = run };
            if (!vec_push(&job->stretches, stretch))
                return false;
        } else if (work->host_from) {
            memcpy(buffer, (const uint8_t *)work->host_from + offset, run);
        }
        if (last && (last->kind == DRV_WORK_OUT ? last->from : last->to) + last->bytes == frame) {
            last->bytes += run;
            continue;
        }
        part.host_from = work->host_from ? buffer : NULL;
        part.host_to = work->host_to ? buffer : NULL;
        if (!vec_push(&job->parts, part))
            return false;
    }
    return true;
}

static bool split_host(timing *t, timing_job *job, const drv_work *work)
{
    uint64_t staged = 0;
    for (uint32_t i = 0; i < t->gpu_count; i++)
        if (!stage_gpu(t, job, work, i, &staged))
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------- inside of the GPUs */

/* The pattern at an offset of the range: the job has it twice, one after the other. */
static bool split_fill(timing *t, timing_job *job, const drv_work *work)
{
    page_place to = { 0 }, from = { 0 };
    uint64_t run;
    bool joins = LS_PAGE_BYTES % work->pattern_bytes == 0;
    memcpy(job->pattern, work->pattern, work->pattern_bytes);
    memcpy(job->pattern + work->pattern_bytes, work->pattern, work->pattern_bytes);
    for (uint32_t gpu = 0; gpu < t->gpu_count; gpu++) {
        timing_part *last = NULL;
        for (uint64_t offset = 0; offset < work->bytes; offset += run) {
            run = run_of(t, work, offset, &to, &from);
            timing_part part = part_of(t, work, to, from, run);
            if (part.gpu != gpu)
                continue;
            if (joins && last && last->to + last->bytes == part.to) {
                last->bytes += run;
                continue;
            }
            part.pattern = job->pattern + offset % work->pattern_bytes;
            part.pattern_bytes = (uint32_t)work->pattern_bytes;
            if (!vec_push(&job->parts, part))
                return false;
            last = &job->parts.at[job->parts.count - 1];
        }
    }
    return true;
}

static bool overlaps(const drv_work *work)
{
    return work->to < work->from + work->bytes && work->from < work->to + work->bytes;
}

/* Runs of both sides. A copy whose ends touch each other reads all before it writes, as one without a fabric does: both
 * go through the host. */
static bool split_copy(timing *t, timing_job *job, const drv_work *work)
{
    page_place to = { 0 }, from = { 0 };
    uint64_t run;
    bool through_host = overlaps(work);
    for (uint64_t offset = 0; offset < work->bytes; offset += run) {
        run = run_of(t, work, offset, &to, &from);
        through_host |= to.place != from.place && !t->has_fabric;
        if (!is_of_host(work, to, from) && !vec_push(&job->parts, part_of(t, work, to, from, run)))
            return false;
    }
    job->second = job->parts.count;
    if (!through_host) {
        move_on_host(t, work, job->staging);
        return true;
    }
    const drv_work out = { .kind = DRV_WORK_OUT, .from = work->from, .bytes = work->bytes };
    const drv_work in = { .kind = DRV_WORK_IN, .to = work->to, .bytes = work->bytes };
    job->parts.count = 0;
    for (uint32_t phase = 0; phase < 2; phase++) {
        const drv_work *half = phase == 0 ? &out : &in;
        for (uint64_t offset = 0; offset < work->bytes; offset += run) {
            run = run_of(t, half, offset, &to, &from);
            timing_part part = part_of(t, half, to, from, run);
            if (part.gpu == UINT32_MAX && phase == 0)
                timing_host_read(t, from.frame, job->staging + offset, run);
            else if (part.gpu == UINT32_MAX &&
                     !vec_push(&job->stretches,
                               ((timing_stretch){
                                   .staged = job->staging + offset, .bytes = run, .frame = to.frame })))
                return false;
            if (part.gpu == UINT32_MAX)
                continue;
            part.host_to = part.kind == DRV_WORK_OUT ? job->staging + offset : NULL;
            part.host_from = part.kind == DRV_WORK_IN ? job->staging + offset : NULL;
            if (!vec_push(&job->parts, part))
                return false;
        }
        if (phase == 0)
            job->second = job->parts.count;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ launches */

/* The part of GPU i: contiguous parts in the shares of compute units, or each n-th work-group. If GPU 0 places them, each
 * has all. */
static ls_groups share_of(const timing *t, uint32_t gpu, const ls_groups *all, uint64_t total, uint64_t *given)
{
    uint64_t units = 0, stride = all->stride != 0 ? all->stride : 1;
    ls_groups share = { .list = all->list, .stride = stride };
    if (t->spread == DRV_SPREAD_CENTRAL) {
        share = *all;
        share.count = total;
        return share;
    }
    if (t->spread == DRV_SPREAD_INTERLEAVED) {
        share.first = all->first + gpu * stride;
        share.stride = stride * t->gpu_count;
        share.count = gpu < total ? (total - gpu + t->gpu_count - 1) / t->gpu_count : 0;
        return share;
    }
    for (size_t i = 0; i < t->gpu_count; i++)
        units += t->gpus[i].model.compute_units;
    uint64_t most = (total + units - 1) / units * t->gpus[gpu].model.compute_units, left = total - *given;
    share.first = all->first + *given * stride;
    share.count = left < most ? left : most;
    *given += share.count;
    return share;
}

ls_status timing_spread(timing *t, drv_work *work, timing_job **out, ls_error *err)
{
    const drv_dispatch *d = work->dispatch;
    uint64_t total = 1, given = 0;
    timing_job *job = calloc(1, sizeof *job);
    *out = NULL;
    if (!job)
        return no_memory(err);
    for (uint32_t i = 0; i < 3; i++)
        total *= (d->grid[i] + (uint64_t)d->group[i] - 1) / d->group[i];
    total = d->which.count != 0 ? d->which.count : total;
    uint32_t shared = t->spread == DRV_SPREAD_CENTRAL ? ++t->shared : 0;
    for (uint32_t i = 0; i < t->gpu_count; i++) {
        timing_part part = { .kind = DRV_WORK_LAUNCH, .gpu = i, .shared = shared };
        part.which = share_of(t, i, &d->which, total, &given);
        if (part.which.count > 0 && !vec_push(&job->parts, part)) {
            timing_job_free(job);
            return no_memory(err);
        }
    }
    job->second = job->parts.count;
    job->work = work;
    *out = job;
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- transfers */

ls_status timing_split(timing *t, drv_work *work, timing_job **out, ls_error *err)
{
    timing_job *job = calloc(1, sizeof *job);
    bool good = job != NULL;
    *out = NULL;
    if (good && (work->kind != DRV_WORK_FILL || t->host)) {
        job->staging = malloc(work->bytes);
        good = job->staging != NULL;
    }
    if (good && work->kind != DRV_WORK_COPY && t->host)
        move_on_host(t, work, job->staging);
    if (good && work->kind == DRV_WORK_FILL)
        good = split_fill(t, job, work);
    else if (good && work->kind == DRV_WORK_COPY)
        good = split_copy(t, job, work);
    else
        good = good && split_host(t, job, work);
    if (!good) {
        timing_job_free(job);
        return no_memory(err);
    }
    if (job->second == 0)
        job->second = job->parts.count;
    job->work = work;
    *out = job;
    return LS_OK;
}
