/* tracez_write.c: one kernel as a .tracez file. Lines are collected first: a dictionary is trained on them, and must
 * stand before the pages. Memory is bounded by what is collected, one thread block, and the index. */
#include "workload/accelsim/tracez.h"

#include "base/text.h"
#include "base/vec.h"
#include "isa/sass/sass.h"
#include "workload/accelsim/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zdict.h>
#include <zstd.h>

#define LEVEL 3
#define COLLECT_BYTES (8u << 20) /* of lines, before the dictionary is made */
#define SAMPLE_BYTES (1u << 20)
#define SAMPLE_EVERY 8u   /* lines */
#define SAMPLES_LEAST 64u /* with fewer a dictionary is not worth its bytes */

/* A page that waits for the dictionary: lines without the last line end. */
typedef struct page {
    size_t at, bytes;
    uint32_t insts;
} page;

typedef struct warp_pages {
    uint32_t insts, pages;
} warp_pages;

typedef struct block_row {
    uint32_t numbers[TRACEZ_BLOCK_NUMBERS];
} block_row;

struct tracez_writer {
    FILE *stream;
    char *path;
    text_buffer header;
    uint64_t offset;
    bool started;  /* header and dictionary are written */
    bool clusters; /* the first block says where it is in its cluster */
    ZSTD_CCtx *zstd;
    ZSTD_CDict *dictionary;
    text_buffer text; /* of the pages that wait */
    LS_VEC(page) pages;
    LS_VEC(warp_pages) warps;
    LS_VEC(block_row) rows;
    text_buffer index;
    uint32_t blocks;
    char *packed;
    size_t packed_capacity;
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status put(tracez_writer *w, const void *data, size_t bytes, ls_error *err)
{
    if (bytes > 0 && fwrite(data, 1, bytes, w->stream) != bytes)
        return ls_fail(err, LS_ERR_IO, "cannot write '%s': %s", w->path, strerror(errno));
    w->offset += bytes;
    return LS_OK;
}

static void number(char *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (char)(value >> 8 * i & 0xff);
}

static ls_status put_u32(tracez_writer *w, uint32_t value, ls_error *err)
{
    char bytes[4];
    number(bytes, value, 4);
    return put(w, bytes, 4, err);
}

static void index_number(tracez_writer *w, uint64_t value, unsigned bytes)
{
    char text[8];
    number(text, value, bytes);
    text_addn(&w->index, text, bytes);
}

void tracez_abort(tracez_writer *w)
{
    if (!w)
        return;
    if (w->stream)
        fclose(w->stream);
    ZSTD_freeCCtx(w->zstd);
    ZSTD_freeCDict(w->dictionary);
    text_fini(&w->header);
    text_fini(&w->text);
    text_fini(&w->index);
    vec_fini(&w->pages);
    vec_fini(&w->warps);
    vec_fini(&w->rows);
    free(w->packed);
    free(w->path);
    free(w);
}

ls_status tracez_create(const char *path, const char *header, size_t bytes, tracez_writer **out, ls_error *err)
{
    tracez_writer *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w)
        return no_memory(err);
    w->path = strdup(path);
    w->zstd = ZSTD_createCCtx();
    text_addn(&w->header, header, bytes);
    ls_status status = LS_OK;
    if (!w->path || !w->zstd || w->header.failed ||
        ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)))
        status = no_memory(err);
    else if (memchr(header, '\0', bytes))
        status = ls_fail(err, LS_ERR_UNSUPPORTED, "the header of a .tracez file cannot have a zero byte");
    else if (!(w->stream = fopen(path, "wbxe")))
        status = ls_fail(err, LS_ERR_IO, "cannot create '%s': %s", path, strerror(errno));
    if (status != LS_OK) {
        tracez_abort(w);
        return status;
    }
    *out = w;
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------- dictionary */

/* Every eighth line; *count of them, each as long as sizes says. */
static bool collect_samples(const tracez_writer *w, text_buffer *samples, size_t **sizes, unsigned *count)
{
    LS_VEC(size_t) found = { 0 };
    uint64_t line = 0;
    bool done = true;
    for (const char *at = text_get(&w->text), *end = at + w->text.count; at < end && done; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((stop ? stop + 1 : end) - at);
        if (samples->count + bytes > SAMPLE_BYTES)
            break;
        if (line % SAMPLE_EVERY == 0) {
            text_addn(samples, at, bytes);
            done = vec_push(&found, bytes);
        }
        at += bytes;
    }
    *sizes = found.at;
    *count = (unsigned)found.count;
    return done && !samples->failed;
}

/* A kernel that is too small to train on has no dictionary. */
static ls_status train(tracez_writer *w, char **dictionary, size_t *bytes, ls_error *err)
{
    text_buffer samples = { 0 };
    size_t *sizes = NULL;
    unsigned count = 0;
    *bytes = 0;
    *dictionary = malloc(TRACEZ_DICTIONARY_BYTES);
    bool memory = *dictionary && collect_samples(w, &samples, &sizes, &count);
    if (memory && count >= SAMPLES_LEAST) {
        size_t made =
            ZDICT_trainFromBuffer(*dictionary, TRACEZ_DICTIONARY_BYTES, text_get(&samples), sizes, count);
        *bytes = ZDICT_isError(made) ? 0 : made;
    }
    text_fini(&samples);
    free(sizes);
    return memory ? LS_OK : no_memory(err);
}

static ls_status start(tracez_writer *w, ls_error *err)
{
    char *dictionary = NULL;
    size_t bytes = 0;
    w->started = true;
    ls_status status = train(w, &dictionary, &bytes, err);
    if (status == LS_OK && bytes > 0) {
        w->dictionary = ZSTD_createCDict(dictionary, bytes, LEVEL);
        if (!w->dictionary || ZSTD_isError(ZSTD_CCtx_refCDict(w->zstd, w->dictionary)))
            status = no_memory(err);
    }
    if (status == LS_OK)
        status = put(w, text_get(&w->header), w->header.count + 1, err);
    if (status == LS_OK)
        status = put_u32(w, (uint32_t)bytes, err);
    if (status == LS_OK)
        status = put_u32(w, TRACEZ_PAGE_INSTS | (w->clusters ? 0 : TRACEZ_NO_CLUSTERS), err);
    if (status == LS_OK)
        status = put(w, dictionary, bytes, err);
    free(dictionary);
    return status;
}

/* -------------------------------------------------------------------------------------------------- pages */

static ls_status put_page(tracez_writer *w, const page *p, ls_error *err)
{
    size_t room = ZSTD_compressBound(p->bytes);
    if (room > w->packed_capacity) {
        char *larger = realloc(w->packed, room);
        if (!larger)
            return no_memory(err);
        w->packed = larger;
        w->packed_capacity = room;
    }
    size_t bytes = ZSTD_compress2(w->zstd, w->packed, room, text_get(&w->text) + p->at, p->bytes);
    if (ZSTD_isError(bytes) || bytes > UINT32_MAX)
        return ls_fail(err, LS_ERR_NOMEM, "cannot compress '%s': the library has no memory left", w->path);
    ls_status status = put_u32(w, (uint32_t)bytes, err);
    return status == LS_OK ? put(w, w->packed, bytes, err) : status;
}

static ls_status put_warp(tracez_writer *w, const warp_pages *warp, const page *pages, ls_error *err)
{
    index_number(w, warp->insts, 4);
    index_number(w, warp->pages, 4);
    index_number(w, warp->pages > 0 ? w->offset : 0, 8);
    if (warp->pages == 0)
        return LS_OK;
    ls_status status = put_u32(w, warp->insts, err);
    if (status == LS_OK)
        status = put_u32(w, warp->pages, err);
    for (uint32_t i = 0; i < warp->pages && status == LS_OK; i++) {
        status = put_page(w, &pages[i], err);
        index_number(w, pages[i].insts, 4);
    }
    return status;
}

/* Writes all that waits. */
static ls_status flush(tracez_writer *w, ls_error *err)
{
    ls_status status = w->started ? LS_OK : start(w, err);
    const page *pages = w->pages.at;
    const warp_pages *warps = w->warps.at;
    for (size_t b = 0; b < w->rows.count && status == LS_OK; b++) {
        for (uint32_t i = 0; i < TRACEZ_BLOCK_NUMBERS; i++)
            index_number(w, w->rows.at[b].numbers[i], 4);
        for (uint32_t i = 0; i < w->rows.at[b].numbers[10] && status == LS_OK; i++, warps++) {
            status = put_warp(w, warps, pages, err);
            pages += warps->pages;
        }
        w->blocks++;
    }
    vec_clear(&w->rows);
    vec_clear(&w->warps);
    vec_clear(&w->pages);
    text_clear(&w->text);
    return status == LS_OK && w->index.failed ? no_memory(err) : status;
}

/* How many executions from `first` on make a page: a replay region is never cut. */
static uint32_t page_length(const trace_kernel *kernel, const ls_dyn *dyns, uint32_t first, uint32_t count)
{
    bool inside = false;
    uint32_t n = 0;
    for (; first + n < count && (n < TRACEZ_PAGE_INSTS || inside); n++) {
        uint16_t row = kernel->insts[dyns[first + n].inst].opcode;
        if (sass_opcode_is_mark(row))
            inside = sass_opcode_name(row)[7] == 'S'; /* REPLAY_START */
    }
    return n;
}

static ls_status add_warp(tracez_writer *w, const trace_kernel *kernel, const ls_kernel_info *info,
                          const ls_cta *cta, uint32_t warp, ls_error *err)
{
    warp_pages row = { .insts = cta->warps[warp].count };
    for (uint32_t first = 0; first < row.insts; row.pages++) {
        uint32_t count = page_length(kernel, cta->dyns + cta->warps[warp].first, first, row.insts);
        page p = { .at = w->text.count, .insts = count };
        ls_status status = write_warp(&w->text, kernel, info, cta, warp, first, count, err);
        if (status != LS_OK)
            return status;
        p.bytes = w->text.count - p.at - 1; /* without the last line end */
        if (!vec_push(&w->pages, p))
            return no_memory(err);
        first += count;
    }
    return vec_push(&w->warps, row) ? LS_OK : no_memory(err);
}

ls_status tracez_add(tracez_writer *w, const trace_kernel *kernel, const ls_kernel_info *info,
                     const ls_cta *cta, ls_error *err)
{
    if (!kernel->ops->text)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel '%s' comes from a source without text", info->name);
    block_row row = { .numbers = { cta->id[0], cta->id[1], cta->id[2] } };
    if (w->blocks == 0 && w->rows.count == 0)
        w->clusters = cta->in_cluster;
    memcpy(row.numbers + 3, cta->id, sizeof cta->id); /* a cluster of its own */
    if (cta->in_cluster) {
        memcpy(row.numbers + 3, cta->cluster, sizeof cta->cluster);
        memcpy(row.numbers + 6, cta->cluster_cta, sizeof cta->cluster_cta);
        row.numbers[9] = cta->cluster_rank;
    }
    row.numbers[10] = cta->warp_count;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < cta->warp_count && status == LS_OK; i++)
        status = add_warp(w, kernel, info, cta, i, err);
    if (status == LS_OK && !vec_push(&w->rows, row))
        status = no_memory(err);
    return status == LS_OK && (w->started || w->text.count >= COLLECT_BYTES) ? flush(w, err) : status;
}

ls_status tracez_finish(tracez_writer *w, ls_error *err)
{
    ls_status status = flush(w, err);
    uint64_t index = w->offset;
    char bytes[8];
    if (status == LS_OK)
        status = put_u32(w, w->blocks, err);
    if (status == LS_OK)
        status = put(w, text_get(&w->index), w->index.count, err);
    number(bytes, index, 8);
    if (status == LS_OK)
        status = put(w, bytes, 8, err);
    FILE *stream = w->stream;
    w->stream = NULL;
    if (fclose(stream) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_IO, "cannot write '%s': %s", w->path, strerror(errno));
    tracez_abort(w);
    return status;
}
