/* record.c: writes launches and work-groups into a recording. */
#include "runtime/record/record.h"

#include "workload/pack/pack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct recorder {
    amd_file_writer *file;
    pthread_mutex_t lock; /* of the rest */
    uint64_t launches;
    bool failed; /* a launch did not end: there will be no file */
};

struct record_launch {
    recorder *rec;
    amd_file_launch shape; /* grid, work-groups, and those that run */
    amd_tape_code code;
    amd_file_part *part;
    uint32_t number;
    /* The first failure. */
    pthread_mutex_t lock;
    ls_status status;
    ls_error err;
    /* The work-group that the emulator runs. */
    uint32_t id[3];
    uint32_t wave_count; /* 0: none yet */
    amd_tape_writer waves[AMD_WAVES_MAX];
    amd_access access;
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ----------------------------------------------------------------------------------------------- the file */

ls_status record_create(const char *path, const char *producer, recorder **out, ls_error *err)
{
    recorder *rec = calloc(1, sizeof *rec);
    if (!rec)
        return no_memory(err);
    ls_status status = amd_file_create(path, LS_PACK_LEVEL, producer, &rec->file, err);
    if (status != LS_OK) {
        free(rec);
        return ls_error_prefix(err, "recording");
    }
    pthread_mutex_init(&rec->lock, NULL);
    *out = rec;
    return LS_OK;
}

static void destroy(recorder *rec)
{
    pthread_mutex_destroy(&rec->lock);
    free(rec);
}

ls_status record_finish(recorder *rec, ls_error *err)
{
    ls_status status = LS_OK;
    if (!rec->failed && rec->launches == 0)
        status = ls_fail(err, LS_ERR_USAGE, "nothing was launched: there is nothing to record");
    if (rec->failed || status != LS_OK)
        amd_file_abort(rec->file);
    else
        status = amd_file_finish(rec->file, err);
    destroy(rec);
    return status;
}

void record_abort(recorder *rec)
{
    if (!rec)
        return;
    amd_file_abort(rec->file);
    destroy(rec);
}

static void give_up(recorder *rec)
{
    pthread_mutex_lock(&rec->lock);
    rec->failed = true;
    pthread_mutex_unlock(&rec->lock);
}

ls_status record_command(recorder *rec, const amd_file_command *command, uint32_t *number, ls_error *err)
{
    uint32_t own;
    ls_status status = amd_file_add(rec->file, command, number ? number : &own, err);
    if (status != LS_OK)
        give_up(rec);
    return status;
}

/* ----------------------------------------------------------------------------------------------- launches */

/* The mapped address ranges, in memory of the caller. */
static bool find_extents(memory_space *address_space, amd_file_launch *launch)
{
    size_t capacity = 0, count = address_space_extents(address_space, NULL, 0);
    /* Others may allocate in between. */
    while (count > capacity) {
        free(launch->extents);
        capacity = count + 16;
        launch->extents = malloc(capacity * sizeof *launch->extents);
        if (!launch->extents)
            return false;
        count = address_space_extents(address_space, launch->extents, capacity);
    }
    launch->extent_count = count;
    return true;
}

static ls_status begin(record_launch *launch, const record_what *what, ls_error *err)
{
    const amd_start *start = what->start;
    amd_file_launch info = { .kernel = start->program->kernel,
                             .lanes = start->program->lanes,
                             .dims = what->dims,
                             .lds_bytes = what->lds_bytes,
                             .kernarg = start->kernarg,
                             .packet = start->packet,
                             .queue = start->queue,
                             .dispatch_id = start->dispatch_id,
                             .argument_bytes = what->argument_bytes,
                             .scratch = what->scratch,
                             .scratch_bytes = what->scratch_bytes,
                             .first = what->which.first,
                             .stride = what->which.stride != 0 ? what->which.stride : 1,
                             .part = what->which.count };
    amd_file_command command = { .gpu = what->gpu,
                                 .beside = what->beside,
                                 .beside_count = what->beside_count };
    memcpy(info.grid, start->grid, sizeof info.grid);
    memcpy(info.group, start->group, sizeof info.group);
    launch->shape = info;
    bool good = find_extents(what->address_space, &info) && amd_tape_code_init(&launch->code, start->program);
    ls_status status = good ? LS_OK : no_memory(err);
    if (status == LS_OK)
        status = amd_file_begin(launch->rec->file, &command, &info, start->program->code, &launch->number,
                                &launch->part, err);
    free(info.extents);
    return status;
}

static void destroy_launch(record_launch *launch)
{
    for (size_t i = 0; i < AMD_WAVES_MAX; i++)
        amd_tape_writer_fini(&launch->waves[i]);
    amd_tape_code_fini(&launch->code);
    pthread_mutex_destroy(&launch->lock);
    free(launch);
}

uint32_t record_number(const record_launch *launch)
{
    return launch->number;
}

ls_status record_begin(recorder *rec, const record_what *what, record_launch **out, ls_error *err)
{
    record_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return no_memory(err);
    launch->rec = rec;
    pthread_mutex_init(&launch->lock, NULL);
    ls_status status = begin(launch, what, err);
    if (status == LS_OK) {
        pthread_mutex_lock(&rec->lock);
        rec->launches++;
        pthread_mutex_unlock(&rec->lock);
        *out = launch;
        return LS_OK;
    }
    destroy_launch(launch);
    give_up(rec);
    return ls_error_prefix(err, "recording");
}

const amd_tape_code *record_code(const record_launch *launch)
{
    return &launch->code;
}

/* -------------------------------------------------------------------------------------------- work-groups */

void record_group(void *self, const uint32_t id[3], amd_tape_writer *waves, uint32_t wave_count)
{
    record_launch *launch = self;
    amd_tape_bytes bytes = { 0 };
    uint64_t instructions = 0;
    ls_error err;
    bool good = vec_push(&bytes, (uint8_t)wave_count); /* at most AMD_WAVES_MAX: a varint of one byte */
    for (uint32_t i = 0; i < wave_count; i++) {
        instructions += waves[i].steps;
        good = good && amd_tape_end(&waves[i], &bytes);
    }
    ls_status status = good ? LS_OK : ls_fail(&err, LS_ERR_NOMEM, "no memory to record a work-group");
    if (status == LS_OK)
        status = amd_file_put(launch->part, amd_file_group_index(&launch->shape, id), wave_count, instructions,
                              bytes.at, bytes.count, &err);
    vec_fini(&bytes);
    if (status == LS_OK)
        return;
    pthread_mutex_lock(&launch->lock);
    if (launch->status == LS_OK) {
        launch->status = status;
        launch->err = err;
    }
    pthread_mutex_unlock(&launch->lock);
}

void record_hook(void *self, const emulate_step *step)
{
    record_launch *launch = self;
    amd_wave *wave = (amd_wave *)step->wave;
    amd_tape_writer *writer = &launch->waves[wave->index];
    if (launch->wave_count > 0 && memcmp(launch->id, step->work_group, sizeof launch->id) != 0) {
        record_group(launch, launch->id, launch->waves, launch->wave_count);
        launch->wave_count = 0;
    }
    memcpy(launch->id, step->work_group, sizeof launch->id);
    if (wave->time == 0) {
        amd_tape_begin(writer, &launch->code);
        if (wave->index >= launch->wave_count)
            launch->wave_count = wave->index + 1u;
    }
    const amd_access *access = NULL;
    if (amd_tape_wants(&launch->code, step->pc)) {
        /* Only the address is needed here. A fault of the instruction is reported when it executes. */
        ls_fault fault = wave->fault;
        uint8_t stop = wave->stop;
        if (!amd_mem_address(wave, step->inst, &launch->access))
            launch->access = (amd_access){ 0 };
        wave->fault = fault;
        wave->stop = stop;
        access = &launch->access;
    }
    amd_tape_put(writer, step->pc, amd_wave_exec(wave), access, wave->group);
}

ls_status record_end(record_launch *launch, bool good, ls_error *err)
{
    ls_status status = LS_OK;
    if (good && launch->wave_count > 0)
        record_group(launch, launch->id, launch->waves, launch->wave_count);
    if (good && launch->status != LS_OK) {
        status = launch->status;
        if (err)
            *err = launch->err;
    }
    if (good && status == LS_OK)
        status = amd_file_end(launch->part, err);
    if (!good || status != LS_OK)
        give_up(launch->rec);
    destroy_launch(launch);
    return status == LS_OK ? LS_OK : ls_error_prefix(err, "recording");
}
