/* checkpoint.c: see checkpoint.h. */
#include "sim/checkpoint.h"

#include "base/file.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#define MAGIC "LSCKPT\r\n"
#define VERSION 4u /* changes with the format, and with the meaning of the state that blocks save */
#define LEVEL 1    /* of zstd: a checkpoint shall not take long */
#define SECTIONS_MAX 4096u
#define FILE_MAX ((size_t)1 << 36)

typedef struct file_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t table_at, sections, file_bytes;
    hash128 whole; /* of the file, with this field all zero */
} file_header;
_Static_assert(sizeof(file_header) == 56, "the header has no padding");

typedef struct section {
    char name[CHECKPOINT_NAME_BYTES];
    uint64_t at, packed_bytes, bytes; /* place and sizes in the file; size of the content */
    hash128 content;
} section;
_Static_assert(sizeof(section) == CHECKPOINT_NAME_BYTES + 40, "a row of the table has no padding");

/* ------------------------------------------------------------------------------------------------- writing */

struct checkpoint_writer {
    bytes_out file; /* begins with the header */
    LS_VEC(section) sections;
    ZSTD_CCtx *zstd;
    ls_error failure;
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for a checkpoint");
}

ls_status checkpoint_create(checkpoint_writer **out, ls_error *err)
{
    static const file_header none;
    checkpoint_writer *w = calloc(1, sizeof *w);
    *out = w;
    if (w == NULL)
        return no_memory(err);
    w->zstd = ZSTD_createCCtx();
    bytes_put(&w->file, &none, sizeof none);
    if (w->zstd != NULL && !w->file.failed)
        return LS_OK;
    checkpoint_destroy(w);
    *out = NULL;
    return no_memory(err);
}

void checkpoint_destroy(checkpoint_writer *w)
{
    if (w == NULL)
        return;
    vec_fini(&w->file.bytes);
    vec_fini(&w->sections);
    ZSTD_freeCCtx(w->zstd);
    free(w);
}

void checkpoint_add(checkpoint_writer *w, const char *name, const void *bytes, size_t size)
{
    section s = { .at = w->file.bytes.count, .bytes = size, .content = hash128_of(bytes, size) };
    if (w->failure.status != LS_OK)
        return;
    if (strlen(name) >= sizeof s.name || w->sections.count == SECTIONS_MAX) {
        ls_fail(&w->failure, LS_ERR_INTERNAL, "a checkpoint has no room for a section '%s'", name);
        return;
    }
    memcpy(s.name, name, strlen(name));
    size_t bound = ZSTD_compressBound(size);
    if (!vec_reserve(&w->file.bytes, bound)) {
        no_memory(&w->failure);
        return;
    }
    size_t packed = ZSTD_compressCCtx(w->zstd, w->file.bytes.at + s.at, bound, bytes, size, LEVEL);
    if (ZSTD_isError(packed)) {
        ls_fail(&w->failure, LS_ERR_INTERNAL, "section '%s' of a checkpoint cannot be packed: %s", name,
                ZSTD_getErrorName(packed));
        return;
    }
    s.packed_bytes = packed;
    w->file.bytes.count += packed;
    if (!vec_push(&w->sections, s))
        no_memory(&w->failure);
}

void checkpoint_add_out(checkpoint_writer *w, const char *name, bytes_out *out)
{
    if (out->failed && w->failure.status == LS_OK)
        no_memory(&w->failure);
    checkpoint_add(w, name, out->bytes.at, out->bytes.count);
    vec_fini(&out->bytes);
}

uint64_t checkpoint_packed_bytes(const checkpoint_writer *w)
{
    return w->file.bytes.count + w->sections.count * sizeof *w->sections.at;
}

ls_status checkpoint_write(checkpoint_writer *w, const char *path, ls_error *err)
{
    if (w->failure.status != LS_OK) {
        if (err != NULL)
            *err = w->failure;
        return w->failure.status;
    }
    file_header header = { .magic = MAGIC,
                           .version = VERSION,
                           .header_bytes = sizeof header,
                           .table_at = w->file.bytes.count,
                           .sections = w->sections.count };
    bytes_put(&w->file, w->sections.at, w->sections.count * sizeof *w->sections.at);
    if (w->file.failed)
        return no_memory(err);
    header.file_bytes = w->file.bytes.count;
    memcpy(w->file.bytes.at, &header, sizeof header);
    header.whole = hash128_of(w->file.bytes.at, w->file.bytes.count);
    memcpy(w->file.bytes.at, &header, sizeof header);
    ls_status status = file_write(path, w->file.bytes.at, w->file.bytes.count, err);
    w->file.bytes.count = header.table_at;
    return status;
}

/* ------------------------------------------------------------------------------------------------- reading */

struct checkpoint_reader {
    mem_arena arena;
    const char *path;
    uint8_t *file;
    size_t file_bytes;
    section *sections;
    uint8_t **contents; /* by section; NULL: not unpacked */
    size_t count;
};

static ls_status damaged(const checkpoint_reader *r, const char *what, ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "checkpoint '%s' is damaged: %s", r->path, what);
}

static ls_status check_header(const checkpoint_reader *r, file_header *h, ls_error *err)
{
    static const hash128 none;
    if (r->file_bytes < sizeof *h || memcmp(r->file, MAGIC, sizeof h->magic) != 0)
        return ls_fail(err, LS_ERR_INPUT, "'%s' is not a checkpoint", r->path);
    memcpy(h, r->file, sizeof *h);
    if (h->version != VERSION || h->header_bytes != sizeof *h)
        return ls_fail(err, LS_ERR_INPUT, "checkpoint '%s' has version %" PRIu32 " of the format; this is %u",
                       r->path, h->version, VERSION);
    if (h->file_bytes > r->file_bytes)
        return ls_fail(err, LS_ERR_INPUT,
                       "checkpoint '%s' is cut short: it has %zu bytes, its header says %" PRIu64, r->path,
                       r->file_bytes, h->file_bytes);
    memcpy(r->file + offsetof(file_header, whole), &none, sizeof none);
    bool is_whole = h->file_bytes == r->file_bytes && hash_same(h->whole, hash128_of(r->file, r->file_bytes));
    return is_whole ? LS_OK : damaged(r, "its checksum is wrong", err);
}

static ls_status check_table(checkpoint_reader *r, const file_header *h, ls_error *err)
{
    if (h->sections > SECTIONS_MAX || h->table_at < sizeof *h || h->table_at > r->file_bytes ||
        r->file_bytes - h->table_at != h->sections * sizeof *r->sections)
        return damaged(r, "its table of sections is wrong", err);
    r->count = (size_t)h->sections;
    r->sections = arena_array(&r->arena, r->count + 1, sizeof *r->sections);
    r->contents = arena_array(&r->arena, r->count + 1, sizeof *r->contents);
    if (r->sections == NULL || r->contents == NULL)
        return no_memory(err);
    memcpy(r->sections, r->file + h->table_at, r->count * sizeof *r->sections);
    for (size_t i = 0; i < r->count; i++) {
        const section *s = &r->sections[i];
        if (s->name[sizeof s->name - 1] != '\0' || s->at > h->table_at ||
            s->packed_bytes > h->table_at - s->at || s->bytes > FILE_MAX)
            return damaged(r, "its table of sections is wrong", err);
    }
    return LS_OK;
}

/* A reader that checkpoint_open() gives out, with the file that it has read. One per process. */
static struct {
    checkpoint_reader *reader;
    struct stat file;
} kept;

static checkpoint_reader *take_kept(const char *path)
{
    struct stat now;
    checkpoint_reader *r = kept.reader;
    if (r == NULL || strcmp(r->path, path) != 0 || stat(path, &now) != 0 || now.st_ino != kept.file.st_ino ||
        now.st_dev != kept.file.st_dev || now.st_size != kept.file.st_size ||
        now.st_mtim.tv_sec != kept.file.st_mtim.tv_sec || now.st_mtim.tv_nsec != kept.file.st_mtim.tv_nsec)
        return NULL;
    kept.reader = NULL;
    return r;
}

ls_status checkpoint_keep(checkpoint_reader *r, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < r->count && status == LS_OK; i++) {
        const void *bytes;
        size_t size;
        status = checkpoint_find(r, r->sections[i].name, &bytes, &size, err);
    }
    if (status == LS_OK && stat(r->path, &kept.file) != 0)
        status = ls_fail(err, LS_ERR_IO, "checkpoint '%s' is gone", r->path);
    if (status == LS_OK)
        kept.reader = r;
    return status;
}

ls_status checkpoint_open(const char *path, checkpoint_reader **out, ls_error *err)
{
    file_header header;
    *out = take_kept(path);
    if (*out != NULL)
        return LS_OK;
    checkpoint_reader *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return no_memory(err);
    r->path = arena_strdup(&r->arena, path);
    char *data = NULL;
    ls_status status =
        r->path == NULL ? no_memory(err) : file_read(&r->arena, path, FILE_MAX, &data, &r->file_bytes, err);
    r->file = (uint8_t *)data;
    if (status == LS_OK)
        status = check_header(r, &header, err);
    if (status == LS_OK)
        status = check_table(r, &header, err);
    if (status == LS_OK)
        *out = r;
    else
        checkpoint_close(r);
    return status;
}

void checkpoint_close(checkpoint_reader *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count && r->contents != NULL; i++)
        free(r->contents[i]);
    arena_fini(&r->arena);
    free(r);
}

const char *checkpoint_path(const checkpoint_reader *r)
{
    return r->path;
}

static size_t index_of(const checkpoint_reader *r, const char *name)
{
    size_t i = 0;
    while (i < r->count && strcmp(r->sections[i].name, name) != 0)
        i++;
    return i;
}

bool checkpoint_has(const checkpoint_reader *r, const char *name)
{
    return index_of(r, name) < r->count;
}

ls_status checkpoint_find(checkpoint_reader *r, const char *name, const void **bytes, size_t *size,
                          ls_error *err)
{
    size_t i = index_of(r, name);
    *bytes = NULL;
    *size = 0;
    if (i == r->count)
        return ls_fail(err, LS_ERR_INPUT, "checkpoint '%s' has no section '%s'", r->path, name);
    const section *s = &r->sections[i];
    if (r->contents[i] == NULL) {
        const uint8_t *packed = r->file + s->at;
        if (ZSTD_getFrameContentSize(packed, (size_t)s->packed_bytes) != s->bytes)
            return damaged(r, "a section has another size than its table says", err);
        uint8_t *content = malloc((size_t)s->bytes + 1);
        if (content == NULL)
            return no_memory(err);
        size_t got = ZSTD_decompress(content, (size_t)s->bytes, packed, (size_t)s->packed_bytes);
        if (ZSTD_isError(got) || got != s->bytes || !hash_same(hash128_of(content, got), s->content)) {
            free(content);
            return ls_fail(err, LS_ERR_INPUT, "checkpoint '%s' is damaged: the checksum of '%s' is wrong",
                           r->path, name);
        }
        r->contents[i] = content;
    }
    *bytes = r->contents[i];
    *size = (size_t)s->bytes;
    return LS_OK;
}

ls_status checkpoint_find_in(checkpoint_reader *r, const char *name, bytes_in *in, ls_error *err)
{
    const void *bytes;
    size_t size;
    ls_status status = checkpoint_find(r, name, &bytes, &size, err);
    *in = (bytes_in){ .at = bytes, .end = (const uint8_t *)bytes + size, .failed = status != LS_OK };
    return status;
}

ls_status checkpoint_check_end(const checkpoint_reader *r, const char *name, const bytes_in *in, ls_error *err)
{
    if (bytes_at_end(in))
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT, "checkpoint '%s': section '%s' does not fit this version of Lockstep",
                   r->path, name);
}

void checkpoint_drop(checkpoint_reader *r, const char *name)
{
    size_t i = index_of(r, name);
    if (i == r->count)
        return;
    free(r->contents[i]);
    r->contents[i] = NULL;
}
