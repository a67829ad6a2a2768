/* amd_read.c: recordings of AMD programs, read from the end: directory, catalog, each launch's index; then
 * the work-groups that are wanted, in any order and from several threads. Keeps a few unpacked blocks;
 * everything that the file says is checked before it is used. */
#include "workload/pack/amd_file.h"

#include "base/arena.h"
#include "base/file.h"
#include "isa/amd/exec/tape.h"
#include "model/memory/place.h"
#include "workload/pack/section.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define CACHE_BLOCKS 8
#define ADDRESS_LIMIT (UINT64_C(1) << 46)
#define GROUP_ITEMS_MAX 1024

typedef struct file_block {
    uint64_t offset, whole;
    uint64_t first; /* work-group */
} file_block;

typedef struct file_launch {
    uint64_t code_offset;
    file_block *blocks; /* one more at the end, whose first is the number of work-groups */
    uint64_t block_count;
} file_launch;

/* A block in memory, and where its work-groups are. */
typedef struct cached_block {
    size_t launch;
    uint64_t block; /* + 1; 0: none */
    uint8_t *payload;
    uint64_t *starts; /* two for each work-group: where its bytes begin, and how many they are */
    uint64_t used;    /* when it was wanted last */
} cached_block;

struct amd_file {
    pthread_mutex_t lock; /* of in and cache */
    pack_in in;
    mem_arena arena;
    hash128 content;
    const char *producer;
    uint32_t version;
    amd_file_command *commands;
    size_t command_count;
    amd_file_launch *launches;
    file_launch *places;
    size_t launch_count;
    cached_block cache[CACHE_BLOCKS];
    uint64_t clock;
};

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status fail_file(const amd_file *f, ls_error *err, const char *what)
{
    ls_fail(err, LS_ERR_INPUT, "%s", what);
    return ls_error_at(err, f->in.path, 0, 0);
}

/* ------------------------------------------------------------------------------------------------ catalog */

static const char *take_name(amd_file *f, pack_record *r)
{
    size_t bytes;
    const char *text = pack_take_text(r, &bytes);
    r->failed = r->failed || memchr(text, 0, bytes) != NULL;
    return arena_strndup(&f->arena, text, bytes);
}

/* Whole pages of a place. */
static bool is_memory_good(const amd_file_command *c)
{
    bool whole = ((c->to | c->from | c->bytes) & (LS_PAGE_BYTES - 1)) == 0, frames = c->kind == AMD_FILE_MAP;
    return whole && c->gpu <= MEM_PLACE_HOST && c->bytes > 0 && c->bytes <= MEM_PLACE_FRAME &&
           c->to >= LS_WINDOW_BASE && c->to <= (frames ? MEM_PLACE_FRAME : ADDRESS_LIMIT) &&
           c->from <= MEM_PLACE_FRAME;
}

static bool take_commands(amd_file *f, pack_record *r)
{
    uint64_t count = pack_take_number(r, (uint64_t)(r->end - r->at));
    f->commands = arena_array(&f->arena, count + 1, sizeof *f->commands);
    if (!f->commands)
        return false;
    f->command_count = count;
    for (uint64_t i = 0; i < count; i++) {
        amd_file_command *c = &f->commands[i];
        c->kind = (amd_file_kind)pack_take_number(r, AMD_FILE_KIND_COUNT - 1);
        c->gpu = (uint32_t)pack_take_number(r, UINT32_MAX);
        c->launch = (uint32_t)pack_take_number(r, UINT32_MAX);
        c->to = pack_take_varint(r);
        c->from = pack_take_varint(r);
        c->bytes = pack_take_varint(r);
        c->local = pack_take_number(r, 1) != 0;
        r->failed = r->failed || (c->kind >= AMD_FILE_MAP && !is_memory_good(c));
        c->beside_count = pack_take_number(r, i < (uint64_t)(r->end - r->at) ? i : (uint64_t)(r->end - r->at));
        uint32_t *beside = arena_array(&f->arena, c->beside_count + 1, sizeof *beside);
        if (!beside)
            return false;
        for (size_t n = 0; n < c->beside_count; n++) {
            beside[n] = (uint32_t)(i - pack_take_number(r, i));
            r->failed = r->failed || beside[n] == i || (n > 0 && beside[n] <= beside[n - 1]);
        }
        c->beside = beside;
    }
    return true;
}

static uint32_t take_u32(pack_record *r)
{
    return (uint32_t)pack_take_number(r, UINT32_MAX);
}

static bool take_extents(amd_file *f, pack_record *r, amd_file_launch *l)
{
    uint64_t count = pack_take_number(r, (uint64_t)(r->end - r->at)), end = 0;
    l->extents = arena_array(&f->arena, count + 1, sizeof *l->extents);
    if (!l->extents)
        return false;
    l->extent_count = count;
    for (uint64_t i = 0; i < count; i++) {
        memory_extent *e = &l->extents[i];
        e->start = end + (pack_take_number(r, ADDRESS_LIMIT >> LS_PAGE_SHIFT) << LS_PAGE_SHIFT);
        e->end = e->start + (pack_take_number(r, ADDRESS_LIMIT >> LS_PAGE_SHIFT) << LS_PAGE_SHIFT);
        e->state = (uint32_t)pack_take_number(r, LS_PAGE_READ | LS_PAGE_WRITE);
        r->failed = r->failed || e->start < LS_WINDOW_BASE || e->end <= e->start || e->end > ADDRESS_LIMIT ||
                    e->state == 0;
        end = e->end;
    }
    return true;
}

static bool take_launch(amd_file *f, pack_record *r, amd_file_launch *l, bool has_part)
{
    amd_kernel *k = &l->kernel;
    k->name = take_name(f, r);
    k->target = (amd_target)pack_take_number(r, AMD_TARGET_COUNT - 1);
    k->code = pack_take_number(r, ADDRESS_LIMIT);
    k->code_bytes = pack_take_number(r, LS_PACK_RAW_LIMIT);
    k->entry = pack_take_number(r, ADDRESS_LIMIT);
    k->rsrc1 = take_u32(r);
    k->rsrc2 = take_u32(r);
    k->rsrc3 = take_u32(r);
    k->properties = (uint16_t)pack_take_number(r, UINT16_MAX);
    k->lds_bytes = take_u32(r);
    k->scratch_bytes = (uint32_t)pack_take_number(r, UINT32_MAX / 64);
    k->kernarg_bytes = take_u32(r);
    l->lanes = take_u32(r);
    l->dims = (uint32_t)pack_take_number(r, 3);
    for (unsigned i = 0; i < 3; i++)
        l->grid[i] = take_u32(r);
    for (unsigned i = 0; i < 3; i++)
        l->group[i] = (uint32_t)pack_take_number(r, GROUP_ITEMS_MAX);
    l->lds_bytes = take_u32(r);
    l->kernarg = pack_take_varint(r);
    l->packet = pack_take_varint(r);
    l->queue = pack_take_varint(r);
    l->dispatch_id = pack_take_varint(r);
    l->waves = pack_take_varint(r);
    l->instructions = pack_take_varint(r);
    l->argument_bytes = take_u32(r);
    l->scratch = pack_take_number(r, ADDRESS_LIMIT);
    l->scratch_bytes = pack_take_number(r, ADDRESS_LIMIT);
    if (!k->name || !take_extents(f, r, l))
        return false;
    if (has_part) {
        l->part = pack_take_varint(r);
        l->first = pack_take_varint(r);
        l->stride = pack_take_varint(r);
    }
    uint64_t items = 1, groups = 1;
    for (unsigned i = 0; i < 3 && !r->failed; i++) {
        uint64_t along = l->group[i] ? ((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i] : 0;
        items *= l->group[i];
        r->failed = along == 0 || groups > UINT64_MAX / 2 / along;
        groups *= along;
    }
    r->failed = r->failed || items > GROUP_ITEMS_MAX || (l->lanes != 32 && l->lanes != 64) || l->dims == 0 ||
                k->code < LS_WINDOW_BASE || k->code_bytes == 0;
    if (l->part != 0)
        r->failed = r->failed || l->stride == 0 || l->first >= groups || l->part > groups ||
                    (l->part > 1 && (groups - 1 - l->first) / l->stride < l->part - 1);
    l->groups = l->part != 0 ? l->part : groups;
    return true;
}

static ls_status read_catalog(amd_file *f, ls_error *err)
{
    pack_record r = { f->in.payload.at, f->in.payload.at + f->in.payload.count, false };
    uint64_t version = pack_take_varint(&r);
    if (!r.failed && version != AMD_FILE_VERSION && version != AMD_FILE_VERSION_ONE_GPU) {
        ls_fail(err, LS_ERR_UNSUPPORTED,
                "recording of an AMD program of version %" PRIu64 "; this program reads versions %u and %u",
                version, AMD_FILE_VERSION_ONE_GPU, AMD_FILE_VERSION);
        return ls_error_at(err, f->in.path, 0, 0);
    }
    f->version = (uint32_t)version;
    f->producer = take_name(f, &r);
    if (!f->producer || !take_commands(f, &r))
        return fail_memory(err);
    uint64_t count = pack_take_number(&r, (uint64_t)(r.end - r.at));
    f->launches = arena_array(&f->arena, count + 1, sizeof *f->launches);
    f->places = arena_array(&f->arena, count + 1, sizeof *f->places);
    if (!f->launches || !f->places)
        return fail_memory(err);
    f->launch_count = count;
    for (uint64_t i = 0; i < count && !r.failed; i++)
        if (!take_launch(f, &r, &f->launches[i], version == AMD_FILE_VERSION))
            return fail_memory(err);
    for (size_t i = 0; i < f->command_count; i++)
        r.failed = r.failed || (f->commands[i].kind == AMD_FILE_LAUNCH && f->commands[i].launch >= count);
    return r.failed || r.at != r.end ? fail_file(f, err, "the catalog of launches is wrong") : LS_OK;
}

static ls_status read_index(amd_file *f, size_t number, uint64_t offset, ls_error *err)
{
    file_launch *place = &f->places[number];
    ls_status status = pack_get_section(&f->in, LS_PACK_AMD_INDEX, offset, 0, "the index of a launch", err);
    if (status != LS_OK)
        return status;
    pack_record r = { f->in.payload.at, f->in.payload.at + f->in.payload.count, false };
    uint64_t launch = pack_take_varint(&r), end = LS_PACK_HEADER_BYTES, groups = 0;
    place->code_offset = pack_take_varint(&r);
    uint64_t count = pack_take_number(&r, (uint64_t)(r.end - r.at));
    place->blocks = arena_array(&f->arena, count + 1, sizeof *place->blocks);
    if (!place->blocks)
        return fail_memory(err);
    place->block_count = count;
    for (uint64_t i = 0; i < count && !r.failed; i++) {
        uint64_t gap = pack_take_number(&r, f->in.bytes), whole = pack_take_number(&r, f->in.bytes);
        uint64_t in_block = pack_take_varint(&r);
        place->blocks[i] = (file_block){ .offset = end + gap, .whole = whole, .first = groups };
        r.failed = r.failed || end + gap + whole > f->in.bytes || in_block == 0 ||
                   in_block > f->launches[number].groups - groups;
        end += gap + whole;
        groups += in_block;
    }
    place->blocks[count].first = groups;
    if (r.failed || r.at != r.end || launch != number || groups != f->launches[number].groups)
        return fail_file(f, err, "the index of a launch is wrong");
    return LS_OK;
}

static ls_status read_directory(amd_file *f, uint64_t directory, ls_error *err)
{
    pack_directory d;
    ls_status status = pack_get_directory(&f->in, &f->arena, directory, &d, err);
    if (status == LS_OK)
        status = pack_get_section(&f->in, LS_PACK_AMD_CATALOG, d.catalog, 0, "the catalog of launches", err);
    if (status == LS_OK)
        status = read_catalog(f, err);
    if (status == LS_OK && f->launch_count != d.count)
        return fail_file(f, err, "catalog and directory have different numbers of launches");
    for (size_t i = 0; i < f->launch_count && status == LS_OK; i++)
        status = read_index(f, i, d.indices[i], err);
    return status;
}

/* -------------------------------------------------------------------------------------------- opening it */

bool amd_file_accepts(const uint8_t *head, size_t bytes)
{
    return bytes >= 16 && memcmp(head, LS_PACK_MAGIC, LS_PACK_MAGIC_BYTES) == 0 &&
           (get_u32(head + 12) & LS_PACK_FLAG_AMD) != 0;
}

bool amd_file_is(const char *path)
{
    uint8_t head[LS_PACK_HEADER_BYTES];
    int fd;
    /* Only a file: looking at a pipe would take what its reader needs. */
    if (file_open(path, &fd, NULL, NULL) != LS_OK)
        return false;
    ssize_t bytes = read(fd, head, sizeof head);
    close(fd);
    return bytes > 0 && amd_file_accepts(head, (size_t)bytes);
}

ls_status amd_file_open(const char *path, amd_file **out, ls_error *err)
{
    uint64_t size;
    int fd;
    ls_status status = file_open(path, &fd, &size, err);
    if (status != LS_OK)
        return status;
    amd_file *f = calloc(1, sizeof *f);
    if (!f) {
        close(fd);
        return fail_memory(err);
    }
    pthread_mutex_init(&f->lock, NULL);
    uint64_t directory = 0;
    char *name = arena_strdup(&f->arena, path);
    status = pack_in_init(&f->in, fd, size, name, err);
    f->in.flags = LS_PACK_FLAG_AMD;
    if (status == LS_OK && !name)
        status = fail_memory(err);
    if (status == LS_OK)
        status = pack_get_frame(&f->in, &directory, &f->content, err);
    if (status == LS_OK)
        status = pack_check_content(&f->in, f->content, err);
    if (status == LS_OK)
        status = read_directory(f, directory, err);
    if (status == LS_OK)
        *out = f;
    else
        amd_file_close(f);
    return status;
}

void amd_file_close(amd_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < CACHE_BLOCKS; i++) {
        free(f->cache[i].payload);
        free(f->cache[i].starts);
    }
    close(f->in.fd);
    pack_in_fini(&f->in);
    arena_fini(&f->arena);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

uint32_t amd_file_version(const amd_file *f)
{
    return f->version;
}

const char *amd_file_producer(const amd_file *f)
{
    return f->producer;
}

hash128 amd_file_content(const amd_file *f)
{
    return f->content;
}

uint64_t amd_file_bytes(const amd_file *f)
{
    return f->in.bytes;
}

size_t amd_file_command_count(const amd_file *f)
{
    return f->command_count;
}

const amd_file_command *amd_file_command_at(const amd_file *f, size_t index)
{
    return index < f->command_count ? &f->commands[index] : NULL;
}

size_t amd_file_launch_count(const amd_file *f)
{
    return f->launch_count;
}

const amd_file_launch *amd_file_launch_at(const amd_file *f, size_t index)
{
    return index < f->launch_count ? &f->launches[index] : NULL;
}

static const char *name_at(const void *self, uint64_t i)
{
    return ((const amd_file *)self)->launches[i].kernel.name;
}

ls_status amd_file_select(const amd_file *f, const char *text, kernel_selection *out, ls_error *err)
{
    return select_named(f->launch_count, name_at, f, text, out, err);
}

/* --------------------------------------------------------------------------------------------------- code */

ls_status amd_file_window(const amd_file *f, memory_space **out, ls_error *err)
{
    uint64_t end = LS_WINDOW_BASE + LS_PAGE_BYTES;
    for (size_t i = 0; i < f->launch_count; i++) {
        const amd_file_launch *l = &f->launches[i];
        uint64_t code = mem_place_frame(l->kernel.code) + l->kernel.code_bytes;
        uint64_t last = l->extent_count ? l->extents[l->extent_count - 1].end : 0;
        end = code > end ? code : end;
        end = last > end ? last : end;
    }
    return address_space_create(end - LS_WINDOW_BASE + LS_PAGE_BYTES, out, err);
}

ls_status amd_file_program(amd_file *f, size_t launch, memory_space *address_space, amd_program **out,
                           ls_error *err)
{
    const amd_kernel *k = &f->launches[launch].kernel;
    uint64_t frame = mem_place_frame(k->code), page = LS_PAGE_BYTES - 1;
    uint64_t start = frame & ~page, end = (frame + k->code_bytes + page) & ~page;
    memory_extent extent;
    ls_status status = LS_OK;
    if (!address_space_find(address_space, frame, &extent))
        status = address_space_map(address_space, start, end - start, LS_PAGE_READ, err);
    pthread_mutex_lock(&f->lock);
    if (status == LS_OK)
        status = pack_get_section(&f->in, LS_PACK_AMD_CODE, f->places[launch].code_offset, 0, "the code", err);
    if (status == LS_OK && f->in.payload.count != k->code_bytes)
        status = fail_file(f, err, "a code section has another length than its launch says");
    if (status == LS_OK)
        status = address_space_write(address_space, frame, f->in.payload.at, k->code_bytes, err);
    pthread_mutex_unlock(&f->lock);
    if (status == LS_OK)
        status = amd_program_create_at(k, address_space, frame, out, err);
    if (status == LS_OK && (*out)->lanes != f->launches[launch].lanes) {
        amd_program_destroy(*out);
        *out = NULL;
        status = fail_file(f, err, "a launch has another wave size than its code");
    }
    return status;
}

/* -------------------------------------------------------------------------------------------- work-groups */

void amd_file_group_fini(amd_file_group *group)
{
    free(group->at);
    *group = (amd_file_group){ 0 };
}

static uint64_t find_block(const file_launch *place, uint64_t group)
{
    uint64_t low = 0, high = place->block_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (place->blocks[middle].first <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static ls_status load_block(amd_file *f, size_t launch, uint64_t block, cached_block *to, ls_error *err)
{
    const file_block *b = &f->places[launch].blocks[block];
    uint64_t groups = b[1].first - b[0].first;
    to->block = 0;
    ls_status status = pack_get_section(&f->in, LS_PACK_AMD_GROUPS, b->offset, b->whole, "work-groups", err);
    if (status != LS_OK)
        return status;
    size_t bytes = f->in.payload.count;
    if (groups > bytes)
        return fail_file(f, err, "a block has fewer work-groups than its index says");
    uint8_t *payload = realloc(to->payload, bytes + LS_PACK_SLACK);
    to->payload = payload ? payload : to->payload;
    uint64_t *starts = realloc(to->starts, groups * 2 * sizeof *starts);
    to->starts = starts ? starts : to->starts;
    if (!payload || !starts)
        return fail_memory(err);
    memcpy(payload, f->in.payload.at, bytes);
    memset(payload + bytes, 0, LS_PACK_SLACK);
    pack_record r = { payload, payload + bytes, false };
    for (uint64_t i = 0; i < groups && !r.failed; i++) {
        size_t length;
        const char *at = pack_take_text(&r, &length);
        starts[2 * i] = (uint64_t)((const uint8_t *)at - payload);
        starts[2 * i + 1] = length;
    }
    if (r.failed || r.at != r.end)
        return fail_file(f, err, "work-groups do not fit into their block");
    to->launch = launch;
    to->block = block + 1;
    return LS_OK;
}

static ls_status get_block(amd_file *f, size_t launch, uint64_t block, const cached_block **out, ls_error *err)
{
    cached_block *oldest = &f->cache[0];
    for (size_t i = 0; i < CACHE_BLOCKS; i++) {
        cached_block *c = &f->cache[i];
        if (c->block == block + 1 && c->launch == launch) {
            c->used = ++f->clock;
            *out = c;
            return LS_OK;
        }
        if (c->used < oldest->used)
            oldest = c;
    }
    oldest->used = ++f->clock;
    *out = oldest;
    return load_block(f, launch, block, oldest, err);
}

static ls_status read_group(amd_file *f, size_t launch, uint64_t index, amd_file_group *out, ls_error *err)
{
    const file_launch *place = &f->places[launch];
    uint64_t block = find_block(place, index);
    const cached_block *cached;
    ls_status status = get_block(f, launch, block, &cached, err);
    if (status != LS_OK)
        return status;
    const uint64_t *start = &cached->starts[2 * (index - place->blocks[block].first)];
    size_t bytes = (size_t)start[1];
    if (out->capacity < bytes + AMD_TAPE_SLACK) {
        uint8_t *at = realloc(out->at, bytes + AMD_TAPE_SLACK);
        if (!at)
            return fail_memory(err);
        out->at = at;
        out->capacity = bytes + AMD_TAPE_SLACK;
    }
    memcpy(out->at, cached->payload + start[0], bytes);
    memset(out->at + bytes, 0, AMD_TAPE_SLACK);
    out->count = bytes;
    return LS_OK;
}

ls_status amd_file_read(amd_file *f, size_t launch, uint64_t index, amd_file_group *out, ls_error *err)
{
    if (launch >= f->launch_count || index >= f->launches[launch].groups)
        return ls_fail(err, LS_ERR_USAGE, "launch %zu has no work-group %" PRIu64, launch, index);
    pthread_mutex_lock(&f->lock);
    ls_status status = read_group(f, launch, index, out, err);
    pthread_mutex_unlock(&f->lock);
    return status;
}
