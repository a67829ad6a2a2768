/* write_zip.c: plain, xz, Zstandard and gzip files with one write function. The levels are the tools' own
 * defaults, so that the files have the usual sizes. */
#define ZLIB_CONST /* zlib only reads its input */
#include "workload/accelsim/write_zip.h"

#include "workload/accelsim/tracez.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define BUFFER_BYTES 65536
#define XZ_PRESET 6
#define ZSTD_LEVEL 3
#define GZIP_LEVEL 6
#define GZIP_WINDOW (15 + 16) /* the largest window, with gzip's header */
#define GZIP_MEMORY 8

struct zip_writer {
    FILE *stream;
    char *path;
    text_compression compression;
    lzma_stream xz;
    z_stream gz;
    ZSTD_CCtx *zst;
    uint8_t buffer[BUFFER_BYTES];
};

static const char *const suffixes[LS_COMPRESS_COUNT] = {
    [LS_COMPRESS_SAME] = "",    [LS_COMPRESS_NONE] = "",  [LS_COMPRESS_XZ] = ".xz",
    [LS_COMPRESS_ZST] = ".zst", [LS_COMPRESS_GZ] = ".gz", [LS_COMPRESS_TRACEZ] = TRACEZ_SUFFIX,
};

const char *const compression_names[LS_COMPRESS_COUNT + 1] = {
    [LS_COMPRESS_SAME] = "same", [LS_COMPRESS_NONE] = "none", [LS_COMPRESS_XZ] = "xz",
    [LS_COMPRESS_ZST] = "zst",   [LS_COMPRESS_GZ] = "gz",     [LS_COMPRESS_TRACEZ] = "tracez",
};

const char *zip_suffix(text_compression compression)
{
    return suffixes[compression];
}

text_compression zip_of_name(const char *name)
{
    for (text_compression c = LS_COMPRESS_XZ; c < LS_COMPRESS_COUNT; c++)
        if (ends_with(name, suffixes[c]))
            return c;
    return LS_COMPRESS_NONE;
}

void zip_abort(zip_writer *zip)
{
    if (!zip)
        return;
    if (zip->stream)
        fclose(zip->stream);
    if (zip->compression == LS_COMPRESS_XZ)
        lzma_end(&zip->xz);
    if (zip->compression == LS_COMPRESS_GZ)
        deflateEnd(&zip->gz);
    ZSTD_freeCCtx(zip->zst);
    free(zip->path);
    free(zip);
}

static bool start(zip_writer *zip)
{
    switch (zip->compression) {
    case LS_COMPRESS_XZ:
        return lzma_easy_encoder(&zip->xz, XZ_PRESET, LZMA_CHECK_CRC64) == LZMA_OK;
    case LS_COMPRESS_GZ:
        return deflateInit2(&zip->gz, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) ==
               Z_OK;
    case LS_COMPRESS_ZST:
        zip->zst = ZSTD_createCCtx();
        return zip->zst &&
               !ZSTD_isError(ZSTD_CCtx_setParameter(zip->zst, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
               !ZSTD_isError(ZSTD_CCtx_setParameter(zip->zst, ZSTD_c_checksumFlag, 1));
    default:
        return true;
    }
}

ls_status zip_create(const char *path, text_compression compression, zip_writer **out, ls_error *err)
{
    *out = NULL;
    zip_writer *zip = calloc(1, sizeof *zip);
    if (!zip)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    zip->xz = (lzma_stream)LZMA_STREAM_INIT;
    zip->path = strdup(path);
    zip->compression = compression;
    if (!zip->path || !start(zip)) {
        zip_abort(zip);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    zip->stream = fopen(path, "wbxe");
    if (!zip->stream) {
        ls_status status = ls_fail(err, LS_ERR_IO, "cannot create '%s': %s", path, strerror(errno));
        zip_abort(zip);
        return status;
    }
    *out = zip;
    return LS_OK;
}

static ls_status put(zip_writer *zip, const void *data, size_t bytes, ls_error *err)
{
    if (bytes > 0 && fwrite(data, 1, bytes, zip->stream) != bytes)
        return ls_fail(err, LS_ERR_IO, "cannot write '%s': %s", zip->path, strerror(errno));
    return LS_OK;
}

static ls_status fail_library(const zip_writer *zip, ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "cannot compress '%s': the library has no memory left", zip->path);
}

static ls_status write_xz(zip_writer *zip, const void *data, size_t bytes, bool last, ls_error *err)
{
    zip->xz.next_in = data;
    zip->xz.avail_in = bytes;
    for (;;) {
        zip->xz.next_out = zip->buffer;
        zip->xz.avail_out = sizeof zip->buffer;
        lzma_ret ret = lzma_code(&zip->xz, last ? LZMA_FINISH : LZMA_RUN);
        if (ret != LZMA_OK && ret != LZMA_STREAM_END)
            return fail_library(zip, err);
        ls_status status = put(zip, zip->buffer, sizeof zip->buffer - zip->xz.avail_out, err);
        if (status != LS_OK)
            return status;
        if (last ? ret == LZMA_STREAM_END : zip->xz.avail_in == 0 && zip->xz.avail_out > 0)
            return LS_OK;
    }
}

static ls_status write_gz(zip_writer *zip, const void *data, size_t bytes, bool last, ls_error *err)
{
    const uint8_t *from = data;
    do {
        uInt piece = bytes > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)bytes;
        zip->gz.next_in = from;
        zip->gz.avail_in = piece;
        bytes -= piece;
        from += piece;
        int ret;
        do {
            zip->gz.next_out = zip->buffer;
            zip->gz.avail_out = sizeof zip->buffer;
            ret = deflate(&zip->gz, last && bytes == 0 ? Z_FINISH : Z_NO_FLUSH);
            if (ret == Z_STREAM_ERROR)
                return fail_library(zip, err);
            ls_status status = put(zip, zip->buffer, sizeof zip->buffer - zip->gz.avail_out, err);
            if (status != LS_OK)
                return status;
        } while (zip->gz.avail_out == 0);
    } while (bytes > 0);
    return LS_OK;
}

static ls_status write_zst(zip_writer *zip, const void *data, size_t bytes, bool last, ls_error *err)
{
    ZSTD_inBuffer in = { data, bytes, 0 };
    size_t left;
    do {
        ZSTD_outBuffer out = { zip->buffer, sizeof zip->buffer, 0 };
        left = ZSTD_compressStream2(zip->zst, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return fail_library(zip, err);
        ls_status status = put(zip, zip->buffer, out.pos, err);
        if (status != LS_OK)
            return status;
    } while (last ? left > 0 : in.pos < in.size);
    return LS_OK;
}

static ls_status write_any(zip_writer *zip, const void *data, size_t bytes, bool last, ls_error *err)
{
    switch (zip->compression) {
    case LS_COMPRESS_XZ:
        return write_xz(zip, data, bytes, last, err);
    case LS_COMPRESS_GZ:
        return write_gz(zip, data, bytes, last, err);
    case LS_COMPRESS_ZST:
        return write_zst(zip, data, bytes, last, err);
    default:
        return put(zip, data, bytes, err);
    }
}

ls_status zip_write(zip_writer *zip, const void *data, size_t bytes, ls_error *err)
{
    return bytes > 0 ? write_any(zip, data, bytes, false, err) : LS_OK;
}

ls_status zip_finish(zip_writer *zip, ls_error *err)
{
    ls_status status = write_any(zip, "", 0, true, err);
    FILE *stream = zip->stream;
    zip->stream = NULL;
    if (fclose(stream) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_IO, "cannot write '%s': %s", zip->path, strerror(errno));
    zip_abort(zip);
    return status;
}
