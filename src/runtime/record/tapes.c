/* tapes.c: see tapes.h. Memory of ended work-groups is reused for new ones. */
#include "runtime/record/tapes.h"

#include "isa/amd/exec/start.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A work-group in flight. The tapes stand first, because the compute unit holds pointers to them. */
typedef struct tapes_group {
    amd_tape tapes[AMD_WAVES_MAX];
    amd_file_group bytes;
    amd_tape_memory *memory; /* of AMD_WAVES_MAX waves at most, as many as the launch's work-groups have */
    struct tapes_group *next, *older; /* of the free ones; of all */
} tapes_group;

struct tapes {
    cu_tapes ops;
    amd_file *file;
    size_t launch;
    const amd_file_launch *info;
    amd_tape_code code;
    uint32_t waves_max;
    pthread_mutex_t lock; /* of the rest */
    tapes_group *free, *all;
    ls_status status;
    ls_error err;
};

static void destroy_group(tapes_group *group)
{
    amd_file_group_fini(&group->bytes);
    free(group->memory);
    free(group);
}

static tapes_group *take_group(tapes *t)
{
    pthread_mutex_lock(&t->lock);
    tapes_group *group = t->free;
    if (group)
        t->free = group->next;
    pthread_mutex_unlock(&t->lock);
    if (group)
        return group;
    group = calloc(1, sizeof *group);
    if (!group)
        return NULL;
    group->memory = malloc(((size_t)t->waves_max * t->code.memory_count + 1) * sizeof *group->memory);
    if (!group->memory) {
        destroy_group(group);
        return NULL;
    }
    pthread_mutex_lock(&t->lock);
    group->older = t->all;
    t->all = group;
    pthread_mutex_unlock(&t->lock);
    return group;
}

static void give_back(tapes *t, tapes_group *group)
{
    pthread_mutex_lock(&t->lock);
    group->next = t->free;
    t->free = group;
    pthread_mutex_unlock(&t->lock);
}

static amd_tape *fail(tapes *t, tapes_group *group, ls_status status, const ls_error *err)
{
    if (group)
        give_back(t, group);
    pthread_mutex_lock(&t->lock);
    if (t->status == LS_OK) {
        t->status = status;
        t->err = *err;
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static amd_tape *open_group(void *self, const uint32_t id[3], uint32_t wave_count)
{
    tapes *t = self;
    const amd_file_launch *l = t->info;
    ls_error err;
    tapes_group *group = take_group(t);
    if (!group)
        return fail(t, NULL, ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left"), &err);
    uint64_t index = amd_file_group_index(l, id);
    ls_status status = amd_file_read(t->file, t->launch, index, &group->bytes, &err);
    if (status != LS_OK)
        return fail(t, group, status, &err);
    /* The number of waves is a varint, but no work-group has so many that it takes two bytes. */
    const uint8_t *at = group->bytes.at + 1, *end = group->bytes.at + group->bytes.count;
    bool good = group->bytes.count > 0 && group->bytes.at[0] == wave_count && wave_count <= t->waves_max;
    for (uint32_t i = 0; i < wave_count && good; i++)
        good = amd_tape_open(&group->tapes[i], &t->code, group->memory + (size_t)i * t->code.memory_count, &at,
                             end);
    if (good && at == end)
        return group->tapes;
    status = ls_fail(&err, LS_ERR_INPUT, "launch %zu (%s): the tapes of work-group %" PRIu64 " are damaged",
                     t->launch + 1, l->kernel.name, index);
    return fail(t, group, status, &err);
}

static void close_group(void *self, amd_tape *tape)
{
    give_back(self, (tapes_group *)(void *)tape);
}

ls_status tapes_create(amd_file *file, size_t launch, const amd_program *program, tapes **out, ls_error *err)
{
    tapes *t = calloc(1, sizeof *t);
    if (!t || !amd_tape_code_init(&t->code, program)) {
        free(t);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    t->ops = (cu_tapes){ .self = t, .open = open_group, .close = close_group };
    t->file = file;
    t->launch = launch;
    t->info = amd_file_launch_at(file, launch);
    uint32_t items = t->info->group[0] * t->info->group[1] * t->info->group[2];
    t->waves_max = (items + t->info->lanes - 1) / t->info->lanes;
    pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return LS_OK;
}

void tapes_destroy(tapes *t)
{
    if (!t)
        return;
    for (tapes_group *group = t->all, *older; group; group = older) {
        older = group->older;
        destroy_group(group);
    }
    amd_tape_code_fini(&t->code);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

const cu_tapes *tapes_of(tapes *t)
{
    return &t->ops;
}

ls_status tapes_status(tapes *t, ls_error *err)
{
    pthread_mutex_lock(&t->lock);
    ls_status status = t->status;
    if (status != LS_OK && err)
        *err = t->err;
    pthread_mutex_unlock(&t->lock);
    return status;
}
