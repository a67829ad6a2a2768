/* packed.c: see packed.h. */
#include "report/packed.h"

#include "base/file.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <zlib.h>
#include <zstd.h>

enum { CHUNK_BYTES = 65536, GZIP_LEVEL = 6, ZSTD_LEVEL = 3, GZIP_HEADER = 16 };

typedef struct packed_state {
    packed_kind kind;
    FILE *to;
    z_stream gzip;
    ZSTD_CCtx *zstd;
    unsigned char chunk[CHUNK_BYTES];
    bool failed;
} packed_state;

size_t packed_suffix_bytes(const char *path)
{
    static const char *const suffixes[] = { ".gz", ".zst" };
    size_t length = strlen(path);
    for (size_t i = 0; i < 2; i++) {
        size_t bytes = strlen(suffixes[i]);
        if (length > bytes && strcasecmp(path + length - bytes, suffixes[i]) == 0)
            return bytes;
    }
    return 0;
}

packed_kind packed_suffix_of(const char *path)
{
    size_t bytes = packed_suffix_bytes(path);
    return bytes == 0 ? PACKED_NONE : bytes == 3 ? PACKED_GZIP : PACKED_ZSTD;
}

/* ------------------------------------------------------------------------------------------------ writing */

static bool drain(packed_state *s, size_t bytes)
{
    s->failed = s->failed || fwrite(s->chunk, 1, bytes, s->to) != bytes;
    return !s->failed;
}

static bool put_gzip(packed_state *s, const char *data, size_t bytes, bool last)
{
    s->gzip.next_in = (unsigned char *)(uintptr_t)data;
    s->gzip.avail_in = (unsigned)bytes;
    do {
        s->gzip.next_out = s->chunk;
        s->gzip.avail_out = CHUNK_BYTES;
        if (deflate(&s->gzip, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
            s->failed = true;
        if (!drain(s, CHUNK_BYTES - s->gzip.avail_out))
            return false;
    } while (s->gzip.avail_out == 0);
    return true;
}

static bool put_zstd(packed_state *s, const char *data, size_t bytes, bool last)
{
    ZSTD_inBuffer in = { data, bytes, 0 };
    size_t left;
    do {
        ZSTD_outBuffer out = { s->chunk, CHUNK_BYTES, 0 };
        left = ZSTD_compressStream2(s->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            s->failed = true;
        if (!drain(s, out.pos))
            return false;
    } while (last ? left != 0 : in.pos < in.size);
    return true;
}

static ssize_t on_write(void *self, const char *data, size_t bytes)
{
    packed_state *s = self;
    bool good = s->kind == PACKED_GZIP ? put_gzip(s, data, bytes, false) : put_zstd(s, data, bytes, false);
    return good ? (ssize_t)bytes : 0;
}

static void drop(packed_state *s)
{
    if (s && s->kind == PACKED_GZIP)
        deflateEnd(&s->gzip);
    if (s)
        ZSTD_freeCCtx(s->zstd);
    free(s);
}

ls_status packed_writer_open(packed_writer *w, packed_kind kind, FILE *to, ls_error *err)
{
    *w = (packed_writer){ .stream = to, .to = to };
    if (kind == PACKED_NONE)
        return LS_OK;
    packed_state *s = calloc(1, sizeof *s);
    bool good = s != NULL;
    if (good) {
        s->to = to;
        if (kind == PACKED_GZIP)
            good = deflateInit2(&s->gzip, GZIP_LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, 8,
                                Z_DEFAULT_STRATEGY) == Z_OK;
        else
            good = (s->zstd = ZSTD_createCCtx()) != NULL &&
                   !ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
                   !ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1));
        s->kind = good ? kind : PACKED_NONE;
    }
    w->stream = good ? fopencookie(s, "w", (cookie_io_functions_t){ .write = on_write }) : NULL;
    if (!w->stream) {
        drop(s);
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for compressing the results");
    }
    w->state = s;
    return LS_OK;
}

void packed_writer_close(packed_writer *w)
{
    packed_state *s = w->state;
    if (!s)
        return;
    bool good = fclose(w->stream) == 0 && !s->failed;
    if (good)
        (void)(s->kind == PACKED_GZIP ? put_gzip(s, NULL, 0, true) : put_zstd(s, NULL, 0, true));
    drop(s);
    *w = (packed_writer){ .to = w->to };
}

/* ------------------------------------------------------------------------------------------------ reading */

static ls_status damaged(ls_error *err, const char *path)
{
    ls_fail(err, LS_ERR_INPUT, "the compressed file is damaged or cut short");
    return ls_error_at(err, path, 0, 0);
}

static void unpack_gzip(const char *data, size_t bytes, size_t limit, text_buffer *out, bool *good)
{
    z_stream z = { 0 };
    *good = false;
    if (inflateInit2(&z, MAX_WBITS + GZIP_HEADER) != Z_OK)
        return;
    static _Thread_local unsigned char chunk[CHUNK_BYTES];
    size_t given = 0;
    int code = Z_OK;
    while (code == Z_OK && out->count <= limit) {
        if (z.avail_in == 0) {
            size_t part = bytes - given < CHUNK_BYTES ? bytes - given : CHUNK_BYTES;
            z.next_in = (unsigned char *)(uintptr_t)(data + given);
            z.avail_in = (unsigned)part;
            given += part;
        }
        z.next_out = chunk;
        z.avail_out = CHUNK_BYTES;
        code = inflate(&z, Z_NO_FLUSH);
        text_addn(out, (const char *)chunk, CHUNK_BYTES - z.avail_out);
    }
    *good = code == Z_STREAM_END;
    inflateEnd(&z);
}

static void unpack_zstd(const char *data, size_t bytes, size_t limit, text_buffer *out, bool *good)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer in = { data, bytes, 0 };
    static _Thread_local char chunk[CHUNK_BYTES];
    size_t left = 1;
    *good = zstd != NULL;
    while (*good && (in.pos < in.size || left != 0) && out->count <= limit) {
        ZSTD_outBuffer to = { chunk, CHUNK_BYTES, 0 };
        size_t before = in.pos;
        left = ZSTD_decompressStream(zstd, &to, &in);
        *good = !ZSTD_isError(left) && (to.pos > 0 || in.pos > before || left == 0);
        text_addn(out, chunk, to.pos);
    }
    ZSTD_freeDCtx(zstd);
}

ls_status packed_read(mem_arena *arena, const char *path, size_t limit, char **data, size_t *bytes,
                      ls_error *err)
{
    ls_status status = file_read(arena, path, limit, data, bytes, err);
    packed_kind kind = packed_suffix_of(path);
    if (status != LS_OK || kind == PACKED_NONE)
        return status;
    text_buffer text = { 0 };
    bool good = false;
    (kind == PACKED_GZIP ? unpack_gzip : unpack_zstd)(*data, *bytes, limit, &text, &good);
    if (text.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    else if (text.count > limit) {
        ls_fail(err, LS_ERR_INPUT, "the file has more than %zu bytes", limit);
        status = ls_error_at(err, path, 0, 0);
    } else if (!good)
        status = damaged(err, path);
    if (status == LS_OK) {
        *bytes = text.count;
        *data = arena_strndup(arena, text_get(&text), text.count);
        status = *data ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    text_fini(&text);
    return status;
}
