/* unpack.c: compressed offload bundles, as clang writes them with --offload-compress. "CCOB", the version (2 bytes)
 * and the method (2 bytes: 0 is zlib, 1 is zstd) come first. Then follow the size of the whole file (4 bytes in
 * version 2, 8 in version 3, absent in version 1) and the size of the bundle inside (4 bytes, 8 in version 3).
 * Last come 8 bytes of an MD5 sum, which readers of LLVM do not check either, and the compressed bundle. */
#include "workload/hsa/hsa.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define MAGIC "CCOB"
#define MAGIC_BYTES 4
#define FIXED_BYTES 8 /* magic, version, method */
#define HASH_BYTES 8
#define VERSION_MAX 3
#define DEFLATE_RATIO 1032 /* the most that deflate can expand a byte to */
#define ZSTD_BLOCK_HEAD 3  /* bytes before each block of zstd, which gives at most ZSTD_BLOCKSIZE_MAX bytes */

enum { METHOD_ZLIB, METHOD_ZSTD };

typedef struct header {
    unsigned version, method;
    uint64_t plain_bytes;
    const uint8_t *packed;
    size_t packed_bytes;
} header;

bool hsa_is_packed_bundle(const void *data, size_t bytes)
{
    return bytes >= FIXED_BYTES && memcmp(data, MAGIC, MAGIC_BYTES) == 0;
}

static uint64_t field(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static ls_status read_header(const uint8_t *data, size_t bytes, header *h, ls_error *err)
{
    h->version = (unsigned)field(data + MAGIC_BYTES, 2);
    h->method = (unsigned)field(data + MAGIC_BYTES + 2, 2);
    if (h->version < 1 || h->version > VERSION_MAX)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "compressed offload bundles of version %u are not read, only 1 to %d", h->version,
                       VERSION_MAX);
    if (h->method != METHOD_ZLIB && h->method != METHOD_ZSTD)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "the offload bundle is compressed by method %u; 0 (zlib) and 1 (zstd) are read",
                       h->method);
    size_t width = h->version == 3 ? 8 : 4, file_width = h->version == 1 ? 0 : width;
    size_t head = FIXED_BYTES + file_width + width + HASH_BYTES;
    if (bytes < head)
        return ls_fail(err, LS_ERR_INPUT, "the compressed offload bundle ends inside of its head");
    uint64_t total = file_width ? field(data + FIXED_BYTES, file_width) : bytes;
    if (total < head || total > bytes)
        return ls_fail(err, LS_ERR_INPUT,
                       "the compressed offload bundle claims %" PRIu64 " bytes, but the file has %zu", total,
                       bytes);
    h->plain_bytes = field(data + FIXED_BYTES + file_width, width);
    h->packed = data + head;
    h->packed_bytes = (size_t)total - head;
    return LS_OK;
}

/* The number of bytes that the compressed ones can become, so that memory stays in proportion to the file. */
static uint64_t plain_bound(const header *h)
{
    if (h->method == METHOD_ZLIB)
        return (uint64_t)h->packed_bytes * DEFLATE_RATIO;
    unsigned long long content = ZSTD_getFrameContentSize(h->packed, h->packed_bytes);
    if (content == ZSTD_CONTENTSIZE_ERROR)
        return 0;
    if (content != ZSTD_CONTENTSIZE_UNKNOWN)
        return content;
    return ((uint64_t)h->packed_bytes / ZSTD_BLOCK_HEAD + 1) * ZSTD_BLOCKSIZE_MAX;
}

/* Bytes after the compressed ones are padding. */
static bool unpack_zlib(const header *h, uint8_t *out)
{
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)h->packed,
                        .avail_in = (uInt)h->packed_bytes,
                        .next_out = out,
                        .avail_out = (uInt)h->plain_bytes };
    if (inflateInit(&stream) != Z_OK)
        return false;
    bool good = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == h->plain_bytes;
    inflateEnd(&stream);
    return good;
}

static bool unpack_zstd(const header *h, uint8_t *out)
{
    size_t frame = ZSTD_findFrameCompressedSize(h->packed, h->packed_bytes);
    if (ZSTD_isError(frame))
        return false;
    return ZSTD_decompress(out, (size_t)h->plain_bytes, h->packed, frame) == h->plain_bytes;
}

ls_status hsa_bundle_unpack(mem_arena *arena, const void *data, size_t bytes, const void **plain,
                            size_t *plain_bytes, ls_error *err)
{
    header h = { 0 };
    *plain = data;
    *plain_bytes = bytes;
    if (!hsa_is_packed_bundle(data, bytes))
        return LS_OK;
    ls_status status = read_header(data, bytes, &h, err);
    if (status != LS_OK)
        return status;
    if (h.plain_bytes > HSA_FILE_LIMIT || h.packed_bytes > HSA_FILE_LIMIT)
        return ls_fail(err, LS_ERR_INPUT, "an offload bundle of %" PRIu64 " bytes is larger than %u MiB",
                       h.plain_bytes, HSA_FILE_LIMIT >> 20);
    const char *method = h.method == METHOD_ZLIB ? "zlib" : "zstd";
    if (h.plain_bytes > plain_bound(&h))
        return ls_fail(err, LS_ERR_INPUT,
                       "the compressed offload bundle claims %" PRIu64
                       " bytes, but its %zu bytes of %s cannot hold them",
                       h.plain_bytes, h.packed_bytes, method);
    uint8_t *out = arena_alloc(arena, (size_t)h.plain_bytes + 1);
    if (!out)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (h.method == METHOD_ZLIB ? !unpack_zlib(&h, out) : !unpack_zstd(&h, out))
        return ls_fail(err, LS_ERR_INPUT,
                       "the compressed offload bundle is damaged: %s does not give %" PRIu64 " bytes", method,
                       h.plain_bytes);
    if (!hsa_is_bundle(out, (size_t)h.plain_bytes))
        return ls_fail(err, LS_ERR_INPUT, "the compressed offload bundle holds something else than a bundle");
    *plain = out;
    *plain_bytes = (size_t)h.plain_bytes;
    return LS_OK;
}
