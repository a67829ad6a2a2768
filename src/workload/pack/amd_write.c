/* amd_write.c: a recording, written from front to back: code, work-groups and index of each launch in the
 * order of the launches, at the end the catalog and the directory. Work-groups that come too early are kept,
 * launches too: the file is the same however many threads made it. */
#include "workload/pack/amd_file.h"

#include "base/file.h"
#include "base/vec.h"
#include "workload/pack/section.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

/* A block ends when it has this much: enough for the compressor, little enough to skip for one work-group. */
#define BLOCK_BYTES 262144
#define BLOCK_GROUPS 4096

typedef struct early_group {
    uint64_t index, instructions;
    uint32_t waves;
    pack_bytes bytes;
} early_group;

typedef struct full_block {
    pack_bytes payload;
    uint64_t groups;
} full_block;

struct amd_file_part {
    amd_file_writer *writer;
    uint32_t launch;
    uint64_t group_count, next; /* work-groups of the launch; the next work-group of the block */
    LS_VEC(early_group) early;  /* a heap: the smallest index first */
    pack_bytes payload;         /* of the present block */
    uint64_t payload_groups;
    LS_VEC(full_block) full; /* not in the file yet: another launch is before this one */
    pack_bytes index;
    uint64_t block_count, block_end; /* where the last block in the file ended */
    pack_bytes code; /* to be written before the first block; empty: it is in the file already */
    bool ended;
    amd_file_part *younger;
};

typedef struct code_place {
    hash128 hash;
    uint64_t address;
    uint64_t offset; /* 0: still to come */
} code_place;

struct amd_file_writer {
    pthread_mutex_t lock;
    file_writer file;
    pack_out out;
    char *producer;
    LS_VEC(amd_file_command) commands;
    LS_VEC(amd_file_launch) launches;
    LS_VEC(uint64_t) indices; /* offset of each launch's */
    LS_VEC(code_place) codes;
    amd_file_part *oldest, *youngest;
};

const char *const amd_file_kind_names[AMD_FILE_KIND_COUNT] = {
    [AMD_FILE_LAUNCH] = "launch", [AMD_FILE_COPY_IN] = "copy in", [AMD_FILE_COPY_OUT] = "copy out",
    [AMD_FILE_COPY] = "copy",     [AMD_FILE_FILL] = "fill",       [AMD_FILE_MAP] = "memory",
    [AMD_FILE_PLACE] = "place",   [AMD_FILE_OWN] = "own copy",
};

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ----------------------------------------------------------------------------------------- life and death */

static void destroy_part(amd_file_part *part)
{
    for (size_t i = 0; i < part->early.count; i++)
        free(part->early.at[i].bytes.at);
    for (size_t i = 0; i < part->full.count; i++)
        free(part->full.at[i].payload.at);
    vec_fini(&part->early);
    vec_fini(&part->full);
    free(part->payload.at);
    free(part->index.at);
    free(part->code.at);
    free(part);
}

static void destroy(amd_file_writer *w)
{
    for (amd_file_part *part = w->oldest, *next; part; part = next) {
        next = part->younger;
        destroy_part(part);
    }
    for (size_t i = 0; i < w->launches.count; i++) {
        free((char *)w->launches.at[i].kernel.name);
        free(w->launches.at[i].extents);
    }
    for (size_t i = 0; i < w->commands.count; i++)
        free((uint32_t *)w->commands.at[i].beside);
    pack_out_fini(&w->out);
    vec_fini(&w->commands);
    vec_fini(&w->launches);
    vec_fini(&w->indices);
    vec_fini(&w->codes);
    pthread_mutex_destroy(&w->lock);
    free(w->producer);
    free(w);
}

ls_status amd_file_create(const char *path, int level, const char *producer, amd_file_writer **out,
                          ls_error *err)
{
    amd_file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return fail_memory(err);
    w->producer = strdup(producer);
    ls_status status = w->producer ? file_writer_open(&w->file, path, err) : fail_memory(err);
    if (status != LS_OK) {
        free(w->producer);
        free(w);
        return status;
    }
    pthread_mutex_init(&w->lock, NULL);
    status = pack_out_init_flags(&w->out, w->file.stream, w->file.path, level, LS_PACK_FLAG_AMD, err);
    if (status == LS_OK) {
        *out = w;
        return LS_OK;
    }
    file_writer_abort(&w->file);
    destroy(w);
    return status;
}

void amd_file_abort(amd_file_writer *w)
{
    if (!w)
        return;
    file_writer_abort(&w->file);
    destroy(w);
}

/* ------------------------------------------------------------------------------------------------- blocks */

static ls_status write_block(amd_file_part *part, const full_block *block, ls_error *err)
{
    pack_out *out = &part->writer->out;
    uint64_t start = out->offset;
    ls_status status = pack_put_section(out, LS_PACK_AMD_GROUPS, block->payload.at, block->payload.count,
                                        block->payload.count, err);
    if (status != LS_OK)
        return status;
    bool good = pack_add_varint(&part->index, start - part->block_end) &&
                pack_add_varint(&part->index, out->offset - start) &&
                pack_add_varint(&part->index, block->groups);
    part->block_end = out->offset;
    part->block_count++;
    return good ? LS_OK : fail_memory(err);
}

/* The present block is full. */
static ls_status close_block(amd_file_part *part, ls_error *err)
{
    if (part->payload_groups == 0)
        return LS_OK;
    full_block block = { .payload = part->payload, .groups = part->payload_groups };
    if (!vec_push(&part->full, block))
        return fail_memory(err);
    part->payload = (pack_bytes){ 0 };
    part->payload_groups = 0;
    return LS_OK;
}

static ls_status write_code(amd_file_part *part, ls_error *err)
{
    amd_file_writer *w = part->writer;
    if (part->code.count == 0)
        return LS_OK;
    code_place *place = &w->codes.at[w->launches.at[part->launch].code];
    place->offset = w->out.offset;
    ls_status status =
        pack_put_section(&w->out, LS_PACK_AMD_CODE, part->code.at, part->code.count, part->code.count, err);
    part->code.count = 0;
    return status;
}

static ls_status write_index(amd_file_part *part, ls_error *err)
{
    amd_file_writer *w = part->writer;
    pack_bytes head = { 0 };
    uint64_t offset = w->out.offset;
    bool good = pack_add_varint(&head, part->launch) &&
                pack_add_varint(&head, w->codes.at[w->launches.at[part->launch].code].offset) &&
                pack_add_varint(&head, part->block_count) &&
                pack_add_bytes(&head, part->index.at, part->index.count) && vec_push(&w->indices, offset);
    ls_status status = good
                           ? pack_put_section(&w->out, LS_PACK_AMD_INDEX, head.at, head.count, head.count, err)
                           : fail_memory(err);
    free(head.at);
    return status;
}

/* Writes what its turn has come for. */
static ls_status drain(amd_file_writer *w, ls_error *err)
{
    ls_status status = LS_OK;
    while (w->oldest && status == LS_OK) {
        amd_file_part *part = w->oldest;
        status = write_code(part, err);
        for (size_t i = 0; i < part->full.count && status == LS_OK; i++)
            status = write_block(part, &part->full.at[i], err);
        for (size_t i = 0; i < part->full.count; i++)
            free(part->full.at[i].payload.at);
        vec_clear(&part->full);
        if (!part->ended)
            break;
        if (status == LS_OK)
            status = write_index(part, err);
        w->oldest = part->younger;
        if (!w->oldest)
            w->youngest = NULL;
        destroy_part(part);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- launches */

static bool add_command(amd_file_writer *w, amd_file_command command, uint32_t *number)
{
    uint32_t *beside = malloc((command.beside_count + 1) * sizeof *beside);
    *number = (uint32_t)w->commands.count;
    if (!beside)
        return false;
    if (command.beside_count > 0)
        memcpy(beside, command.beside, command.beside_count * sizeof *beside);
    command.beside = beside;
    if (vec_push(&w->commands, command))
        return true;
    free(beside);
    return false;
}

ls_status amd_file_add(amd_file_writer *w, const amd_file_command *command, uint32_t *number, ls_error *err)
{
    pthread_mutex_lock(&w->lock);
    bool good = add_command(w, *command, number);
    pthread_mutex_unlock(&w->lock);
    return good ? LS_OK : fail_memory(err);
}

/* Which code section it is; *is_new if the file does not have it yet. */
static bool find_code(amd_file_writer *w, const amd_kernel *kernel, const uint8_t *code, uint32_t *number,
                      bool *is_new)
{
    code_place place = { .hash = hash128_of(code, (size_t)kernel->code_bytes), .address = kernel->code };
    *is_new = false;
    for (size_t i = 0; i < w->codes.count; i++)
        if (w->codes.at[i].address == place.address && hash_same(w->codes.at[i].hash, place.hash)) {
            *number = (uint32_t)i;
            return true;
        }
    *is_new = true;
    *number = (uint32_t)w->codes.count;
    return vec_push(&w->codes, place);
}

static ls_status begin(amd_file_writer *w, const amd_file_command *command, const amd_file_launch *launch,
                       const uint8_t *code, uint32_t *number, amd_file_part *part, ls_error *err)
{
    amd_file_launch own = *launch;
    bool is_new;
    own.groups = amd_file_groups(launch);
    own.waves = own.instructions = 0;
    own.kernel.name = strdup(launch->kernel.name);
    own.extents = malloc((launch->extent_count + 1) * sizeof *own.extents);
    amd_file_command own_command = *command;
    own_command.kind = AMD_FILE_LAUNCH;
    own_command.launch = (uint32_t)w->launches.count;
    bool good = own.kernel.name && own.extents && find_code(w, &launch->kernel, code, &own.code, &is_new) &&
                vec_reserve(&w->launches, 1) &&
                (!is_new || pack_add_bytes(&part->code, code, (size_t)launch->kernel.code_bytes)) &&
                add_command(w, own_command, number);
    if (!good) {
        free((char *)own.kernel.name);
        free(own.extents);
        return fail_memory(err);
    }
    if (launch->extent_count > 0)
        memcpy(own.extents, launch->extents, launch->extent_count * sizeof *own.extents);
    part->launch = own_command.launch;
    part->group_count = own.groups;
    /* There is room. It takes over name and extents: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    (void)vec_push(&w->launches, own);
    if (w->youngest)
        w->youngest->younger = part;
    else
        w->oldest = part;
    w->youngest = part;
    return LS_OK;
}

ls_status amd_file_begin(amd_file_writer *w, const amd_file_command *command, const amd_file_launch *launch,
                         const uint8_t *code, uint32_t *number, amd_file_part **out, ls_error *err)
{
    amd_file_part *part = calloc(1, sizeof *part);
    if (!part)
        return fail_memory(err);
    part->writer = w;
    part->block_end = LS_PACK_HEADER_BYTES;
    pthread_mutex_lock(&w->lock);
    ls_status status = begin(w, command, launch, code, number, part, err);
    pthread_mutex_unlock(&w->lock);
    if (status == LS_OK)
        *out = part;
    else
        destroy_part(part);
    return status;
}

/* The heap of work-groups that came too early. */
static bool push_early(amd_file_part *part, early_group group)
{
    if (!vec_push(&part->early, group))
        return false;
    early_group *at = part->early.at;
    for (size_t i = part->early.count - 1; i > 0 && at[(i - 1) / 2].index > at[i].index; i = (i - 1) / 2) {
        early_group swap = at[i];
        at[i] = at[(i - 1) / 2];
        at[(i - 1) / 2] = swap;
    }
    return true;
}

static early_group pop_early(amd_file_part *part)
{
    early_group *at = part->early.at, first = at[0];
    size_t count = --part->early.count;
    at[0] = at[count];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            if (at[child].index < at[least].index)
                least = child;
        if (least == i)
            return first;
        early_group swap = at[i];
        at[i] = at[least];
        at[least] = swap;
        i = least;
    }
}

static ls_status append(amd_file_part *part, const early_group *group, ls_error *err)
{
    amd_file_launch *launch = &part->writer->launches.at[part->launch];
    if (part->payload_groups > 0 &&
        (part->payload.count + group->bytes.count > BLOCK_BYTES || part->payload_groups == BLOCK_GROUPS)) {
        ls_status status = close_block(part, err);
        if (status != LS_OK)
            return status;
    }
    launch->waves += group->waves;
    launch->instructions += group->instructions;
    part->payload_groups++;
    part->next++;
    bool good = pack_add_varint(&part->payload, group->bytes.count) &&
                pack_add_bytes(&part->payload, group->bytes.at, group->bytes.count);
    return good ? LS_OK : fail_memory(err);
}

static ls_status put(amd_file_part *part, early_group group, ls_error *err)
{
    if (group.index >= part->group_count || group.index < part->next)
        return ls_fail(err, LS_ERR_INTERNAL, "work-group %" PRIu64 " was recorded twice or is none",
                       group.index);
    if (group.index > part->next) {
        early_group own = group;
        own.bytes = (pack_bytes){ 0 };
        if (!pack_add_bytes(&own.bytes, group.bytes.at, group.bytes.count) || !push_early(part, own)) {
            free(own.bytes.at);
            return fail_memory(err);
        }
        return LS_OK;
    }
    ls_status status = append(part, &group, err);
    while (status == LS_OK && part->early.count > 0 && part->early.at[0].index == part->next) {
        early_group early = pop_early(part);
        status = append(part, &early, err);
        free(early.bytes.at);
    }
    return status == LS_OK && part->writer->oldest == part ? drain(part->writer, err) : status;
}

ls_status amd_file_put(amd_file_part *part, uint64_t index, uint32_t waves, uint64_t instructions,
                       const uint8_t *bytes, size_t count, ls_error *err)
{
    early_group group = { .index = index,
                          .instructions = instructions,
                          .waves = waves,
                          .bytes = { .at = (uint8_t *)bytes, .count = count, .capacity = count } };
    pthread_mutex_lock(&part->writer->lock);
    ls_status status = put(part, group, err);
    pthread_mutex_unlock(&part->writer->lock);
    return status;
}

ls_status amd_file_end(amd_file_part *part, ls_error *err)
{
    amd_file_writer *w = part->writer;
    pthread_mutex_lock(&w->lock);
    ls_status status = LS_OK;
    if (part->next != part->group_count)
        status =
            ls_fail(err, LS_ERR_INTERNAL, "launch %u: %" PRIu64 " of %" PRIu64 " work-groups were recorded",
                    part->launch, part->next, part->group_count);
    if (status == LS_OK)
        status = close_block(part, err);
    part->ended = true;
    if (status == LS_OK)
        status = drain(w, err);
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* ------------------------------------------------------------------------------------------------ catalog */

static bool add_numbers(pack_bytes *b, const uint64_t *numbers, size_t count)
{
    bool done = true;
    for (size_t i = 0; i < count; i++)
        done = done && pack_add_varint(b, numbers[i]);
    return done;
}

static bool add_launch(pack_bytes *b, const amd_file_launch *l)
{
    const amd_kernel *k = &l->kernel;
    const uint64_t numbers[] = {
        k->target,   k->code,         k->code_bytes,     k->entry,         k->rsrc1,         k->rsrc2,
        k->rsrc3,    k->properties,   k->lds_bytes,      k->scratch_bytes, k->kernarg_bytes, l->lanes,
        l->dims,     l->grid[0],      l->grid[1],        l->grid[2],       l->group[0],      l->group[1],
        l->group[2], l->lds_bytes,    l->kernarg,        l->packet,        l->queue,         l->dispatch_id,
        l->waves,    l->instructions, l->argument_bytes, l->scratch,       l->scratch_bytes, l->extent_count
    };
    bool done = pack_add_text(b, k->name, strlen(k->name)) && add_numbers(b, numbers, LS_COUNT_OF(numbers));
    uint64_t end = 0;
    for (size_t i = 0; i < l->extent_count && done; i++) {
        const memory_extent *e = &l->extents[i];
        const uint64_t page[] = { (e->start - end) >> LS_PAGE_SHIFT, (e->end - e->start) >> LS_PAGE_SHIFT,
                                  e->state };
        done = add_numbers(b, page, LS_COUNT_OF(page));
        end = e->end;
    }
    return done;
}

/* Files of one GPU are as they always were. */
static bool is_of_one_gpu(const amd_file_writer *w)
{
    for (size_t i = 0; i < w->commands.count; i++)
        if (w->commands.at[i].kind >= AMD_FILE_MAP)
            return false;
    for (size_t i = 0; i < w->launches.count; i++)
        if (w->launches.at[i].part != 0)
            return false;
    return true;
}

static bool make_catalog(const amd_file_writer *w, pack_bytes *b)
{
    bool one = is_of_one_gpu(w);
    bool done = pack_add_varint(b, one ? AMD_FILE_VERSION_ONE_GPU : AMD_FILE_VERSION) &&
                pack_add_text(b, w->producer, strlen(w->producer)) && pack_add_varint(b, w->commands.count);
    for (size_t i = 0; i < w->commands.count && done; i++) {
        const amd_file_command *c = &w->commands.at[i];
        const uint64_t numbers[] = { c->kind, c->gpu,   c->launch, c->to,
                                     c->from, c->bytes, c->local,  c->beside_count };
        done = add_numbers(b, numbers, LS_COUNT_OF(numbers));
        for (size_t n = 0; n < c->beside_count && done; n++)
            done = pack_add_varint(b, i - c->beside[n]);
    }
    done = done && pack_add_varint(b, w->launches.count);
    for (size_t i = 0; i < w->launches.count && done; i++) {
        const amd_file_launch *l = &w->launches.at[i];
        const uint64_t part[] = { l->part, l->first, l->stride };
        done = add_launch(b, l) && (one || add_numbers(b, part, LS_COUNT_OF(part)));
    }
    return done;
}

ls_status amd_file_finish(amd_file_writer *w, ls_error *err)
{
    pack_bytes payload = { 0 };
    ls_status status = LS_OK;
    if (w->oldest)
        status = ls_fail(err, LS_ERR_INTERNAL, "a launch of the recording has not ended");
    uint64_t catalog = w->out.offset, directory = 0;
    if (status == LS_OK && !make_catalog(w, &payload))
        status = fail_memory(err);
    if (status == LS_OK)
        status = pack_put_section(&w->out, LS_PACK_AMD_CATALOG, payload.at, payload.count, payload.count, err);
    payload.count = 0;
    directory = w->out.offset;
    if (status == LS_OK &&
        !(pack_add_varint(&payload, catalog) && pack_add_varint(&payload, w->indices.count) &&
          add_numbers(&payload, w->indices.at, w->indices.count)))
        status = fail_memory(err);
    if (status == LS_OK)
        status = pack_put_section(&w->out, LS_PACK_DIRECTORY, payload.at, payload.count, payload.count, err);
    if (status == LS_OK)
        status = pack_put_trailer(&w->out, directory, err);
    free(payload.at);
    if (status == LS_OK)
        status = file_writer_commit(&w->file, err);
    else
        file_writer_abort(&w->file);
    destroy(w);
    return status;
}
