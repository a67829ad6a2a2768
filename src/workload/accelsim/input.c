/* input.c: reads plain, xz, zstd and gzip files piece by piece through one interface. Several concatenated
 * streams, as `pzstd` and `cat` make them, are one file. Memory is bounded even if a file claims to need
 * more. */
#include "workload/accelsim/input.h"

#include "base/file.h"
#include "base/text.h"
#include "workload/accelsim/tracez.h"

#include <errno.h>
#include <lzma.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define RAW_BYTES (64u << 10)
#define XZ_MEMORY (256ull << 20) /* xz -9 needs 65 MB */
#define ZSTD_WINDOW_LOG 27       /* 128 MB; more only with zstd --ultra --long */

typedef enum input_kind { PLAIN, XZ, ZSTANDARD, GZIP, TRACEZ } input_kind;

struct acc_input {
    int fd; /* -1: from memory */
    const unsigned char *memory;
    size_t memory_bytes;
    char *name;
    input_kind kind;
    bool at_end;   /* of the file */
    bool inside;   /* a compressed stream has begun and not ended */
    bool finished; /* nothing more will come */
    unsigned long long file_bytes;
    lzma_stream xz;
    ZSTD_DStream *zstd;
    z_stream gz;
    bool has_xz, has_gz;
    tracez *pages;
    uint64_t whole_bytes;         /* of the file */
    const void *start;            /* of the memory */
    size_t raw_at, raw_count;     /* bytes left in raw */
    unsigned char raw[RAW_BYTES]; /* last: it is not cleared */
};

static ls_status fail(const acc_input *input, ls_error *err, ls_status status, const char *what)
{
    ls_fail(err, status, "%s", what);
    return ls_error_at(err, input->name, 0, 0);
}

/* ---------------------------------------------------------------------------------------------- raw bytes */

static ls_status read_raw(acc_input *input, void *to, size_t bytes, size_t *got, ls_error *err)
{
    *got = 0;
    if (input->fd < 0) {
        *got = bytes < input->memory_bytes ? bytes : input->memory_bytes;
        if (*got)
            memcpy(to, input->memory, *got);
        input->memory += *got;
        input->memory_bytes -= *got;
    } else {
        ssize_t count;
        do
            count = read(input->fd, to, bytes);
        while (count < 0 && errno == EINTR);
        if (count < 0) {
            ls_fail(err, LS_ERR_IO, "cannot read: %s", strerror(errno));
            return ls_error_at(err, input->name, 0, 0);
        }
        *got = (size_t)count;
    }
    input->file_bytes += *got;
    input->at_end = *got == 0;
    return LS_OK;
}

static ls_status refill(acc_input *input, ls_error *err)
{
    if (input->raw_count || input->at_end)
        return LS_OK;
    input->raw_at = 0;
    return read_raw(input, input->raw, sizeof input->raw, &input->raw_count, err);
}

/* ----------------------------------------------------------------------------------------------------- xz */

static ls_status start_xz(acc_input *input, ls_error *err)
{
    input->xz = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&input->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
        return fail(input, err, LS_ERR_NOMEM, "no memory for reading xz data");
    input->has_xz = true;
    return LS_OK;
}

static ls_status read_xz(acc_input *input, void *to, size_t bytes, size_t *got, ls_error *err)
{
    input->xz.next_out = to;
    input->xz.avail_out = bytes;
    while (input->xz.avail_out == bytes && !input->finished) {
        ls_status status = refill(input, err);
        if (status != LS_OK)
            return status;
        input->xz.next_in = input->raw + input->raw_at;
        input->xz.avail_in = input->raw_count;
        lzma_ret result = lzma_code(&input->xz, input->at_end ? LZMA_FINISH : LZMA_RUN);
        input->raw_at += input->raw_count - input->xz.avail_in;
        input->raw_count = input->xz.avail_in;
        if (result == LZMA_STREAM_END)
            input->finished = true;
        else if (result == LZMA_BUF_ERROR)
            return fail(input, err, LS_ERR_INPUT, "the xz data ends too early: the file is truncated");
        else if (result == LZMA_MEM_ERROR)
            return fail(input, err, LS_ERR_NOMEM, "no memory for reading xz data");
        else if (result == LZMA_MEMLIMIT_ERROR)
            return fail(input, err, LS_ERR_UNSUPPORTED,
                        "the xz data needs more than 256 MB of memory: compress it with xz -9 or less");
        else if (result != LZMA_OK)
            return fail(input, err, LS_ERR_INPUT, "the xz data is damaged");
    }
    *got = bytes - input->xz.avail_out;
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- zstd */

static ls_status start_zstd(acc_input *input, ls_error *err)
{
    input->zstd = ZSTD_createDStream();
    if (!input->zstd ||
        ZSTD_isError(ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
        return fail(input, err, LS_ERR_NOMEM, "no memory for reading zstd data");
    return LS_OK;
}

static ls_status read_zstd(acc_input *input, void *to, size_t bytes, size_t *got, ls_error *err)
{
    ZSTD_outBuffer out = { to, bytes, 0 };
    while (out.pos == 0 && !input->finished) {
        ls_status status = refill(input, err);
        if (status != LS_OK)
            return status;
        ZSTD_inBuffer in = { input->raw + input->raw_at, input->raw_count, 0 };
        size_t result = ZSTD_decompressStream(input->zstd, &out, &in);
        input->raw_at += in.pos;
        input->raw_count -= in.pos;
        if (ZSTD_isError(result)) {
            if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
                return fail(input, err, LS_ERR_UNSUPPORTED,
                            "the zstd data needs a window of more than 128 MB: compress it without --long");
            return fail(input, err, LS_ERR_INPUT, "the zstd data is damaged");
        }
        if (in.pos || out.pos)
            input->inside = result != 0;
        if (input->at_end && out.pos == 0) {
            if (input->inside)
                return fail(input, err, LS_ERR_INPUT, "the zstd data ends too early: the file is truncated");
            input->finished = true;
        }
    }
    *got = out.pos;
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- gzip */

static ls_status start_gzip(acc_input *input, ls_error *err)
{
    if (inflateInit2(&input->gz, 15 + 16) != Z_OK)
        return fail(input, err, LS_ERR_NOMEM, "no memory for reading gzip data");
    input->has_gz = true;
    return LS_OK;
}

static ls_status read_gzip(acc_input *input, void *to, size_t bytes, size_t *got, ls_error *err)
{
    input->gz.next_out = to;
    input->gz.avail_out = (uInt)(bytes < 1u << 30 ? bytes : 1u << 30);
    uInt room = input->gz.avail_out;
    while (input->gz.avail_out == room && !input->finished) {
        ls_status status = refill(input, err);
        if (status != LS_OK)
            return status;
        if (input->at_end && input->raw_count == 0) {
            if (input->inside)
                return fail(input, err, LS_ERR_INPUT, "the gzip data ends too early: the file is truncated");
            input->finished = true;
            break;
        }
        if (!input->inside && input->file_bytes && inflateReset(&input->gz) != Z_OK)
            return fail(input, err, LS_ERR_INTERNAL, "zlib cannot be reset");
        input->inside = true;
        input->gz.next_in = input->raw + input->raw_at;
        input->gz.avail_in = (uInt)input->raw_count;
        int result = inflate(&input->gz, Z_NO_FLUSH);
        input->raw_at += input->raw_count - input->gz.avail_in;
        input->raw_count = input->gz.avail_in;
        if (result == Z_STREAM_END)
            input->inside = false; /* another member may follow */
        else if (result == Z_MEM_ERROR)
            return fail(input, err, LS_ERR_NOMEM, "no memory for reading gzip data");
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return fail(input, err, LS_ERR_INPUT, "the gzip data is damaged");
    }
    *got = room - input->gz.avail_out;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- tracez */

/* The name decides, as in Accel-Sim, or the zero byte behind the header. */
static bool is_tracez(const acc_input *input)
{
    return input->kind == PLAIN &&
           (ends_with(input->name, TRACEZ_SUFFIX) || tracez_is(input->raw, input->raw_count));
}

static ls_status start_tracez(acc_input *input, ls_error *err)
{
    input->kind = TRACEZ;
    return tracez_open(input->name, input->fd, input->start, input->whole_bytes, &input->pages, err);
}

/* ---------------------------------------------------------------------------------------------- interface */

static ls_status start(acc_input *input, ls_error *err)
{
    static const struct {
        const char *magic;
        size_t bytes;
        input_kind kind;
        const char *unsupported;
    } magics[] = {
        { "\xfd"
          "7zXZ\0",
          6, XZ, NULL },
        { "\x28\xb5\x2f\xfd", 4, ZSTANDARD, NULL },
        { "\x1f\x8b", 2, GZIP, NULL },
        { "BZh", 3, PLAIN, "bzip2 is not supported: compress the file with xz, zstd or gzip" },
        { "\x04\x22\x4d\x18", 4, PLAIN, "lz4 is not supported: compress the file with xz, zstd or gzip" },
        { "PK\x03\x04", 4, PLAIN, "zip is not supported: compress the file with xz, zstd or gzip" },
    };
    /* A pipe may return less than requested. */
    while (input->raw_count < 6 && !input->at_end) {
        size_t got;
        ls_status status =
            read_raw(input, input->raw + input->raw_count, RAW_BYTES - input->raw_count, &got, err);
        if (status != LS_OK)
            return status;
        input->raw_count += got;
    }
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (input->raw_count < magics[i].bytes || memcmp(input->raw, magics[i].magic, magics[i].bytes) != 0)
            continue;
        if (magics[i].unsupported)
            return fail(input, err, LS_ERR_UNSUPPORTED, magics[i].unsupported);
        input->kind = magics[i].kind;
        break;
    }
    if (is_tracez(input))
        return start_tracez(input, err);
    return input->kind == XZ          ? start_xz(input, err)
           : input->kind == ZSTANDARD ? start_zstd(input, err)
           : input->kind == GZIP      ? start_gzip(input, err)
                                      : LS_OK;
}

static ls_status create(const char *name, int fd, const void *data, uint64_t bytes, acc_input **out,
                        ls_error *err)
{
    acc_input *input = malloc(sizeof *input);
    if (input) {
        memset(input, 0, offsetof(acc_input, raw)); /* a trace may have thousands of files */
        input->name = strdup(name);
    }
    if (!input || !input->name) {
        if (fd >= 0)
            close(fd);
        free(input);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    input->fd = fd;
    input->memory = input->start = data;
    input->memory_bytes = fd < 0 ? (size_t)bytes : 0;
    input->whole_bytes = bytes;
    ls_status status = start(input, err);
    if (status != LS_OK) {
        acc_input_close(input);
        return status;
    }
    *out = input;
    return LS_OK;
}

ls_status acc_input_open(const char *path, acc_input **out, ls_error *err)
{
    int fd;
    uint64_t bytes = 0;
    *out = NULL;
    ls_status status = file_open(path, &fd, &bytes, err);
    return status != LS_OK ? status : create(path, fd, NULL, bytes, out, err);
}

ls_status acc_input_open_memory(const char *name, const void *data, size_t bytes, acc_input **out,
                                ls_error *err)
{
    *out = NULL;
    return create(name, -1, data, bytes, out, err);
}

void acc_input_close(acc_input *input)
{
    if (!input)
        return;
    if (input->fd >= 0)
        close(input->fd);
    if (input->has_xz)
        lzma_end(&input->xz);
    if (input->has_gz)
        inflateEnd(&input->gz);
    ZSTD_freeDStream(input->zstd);
    tracez_close(input->pages);
    free(input->name);
    free(input);
}

ls_status acc_input_read(acc_input *input, void *to, size_t bytes, size_t *got, ls_error *err)
{
    *got = 0;
    if (bytes == 0)
        return LS_OK;
    switch (input->kind) {
    case XZ:
        return read_xz(input, to, bytes, got, err);
    case ZSTANDARD:
        return read_zstd(input, to, bytes, got, err);
    case GZIP:
        return read_gzip(input, to, bytes, got, err);
    case TRACEZ:
        return tracez_read(input->pages, to, bytes, got, err);
    case PLAIN:
        break;
    }
    if (input->raw_count == 0)
        return input->at_end ? LS_OK : read_raw(input, to, bytes, got, err);
    *got = bytes < input->raw_count ? bytes : input->raw_count;
    memcpy(to, input->raw + input->raw_at, *got);
    input->raw_at += *got;
    input->raw_count -= *got;
    return LS_OK;
}

const char *acc_input_kind(const acc_input *input)
{
    static const char *const names[] = {
        [PLAIN] = "plain", [XZ] = "xz", [ZSTANDARD] = "zstd", [GZIP] = "gzip", [TRACEZ] = "tracez"
    };
    return names[input->kind];
}

unsigned long long acc_input_file_bytes(const acc_input *input)
{
    if (input->kind == TRACEZ)
        return input->whole_bytes;
    return input->file_bytes;
}

bool acc_input_has_blocks(const acc_input *input)
{
    return input->kind == TRACEZ;
}

ls_status acc_input_seek(acc_input *input, uint64_t block, uint64_t *line, ls_error *err)
{
    return tracez_seek(input->pages, block, line, err);
}
