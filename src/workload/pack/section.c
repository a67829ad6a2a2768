/* section.c: sections of a packed file: compressed if that helps, checked by the XXH3 of the uncompressed
 * payload. Touches the file and nothing else; the meaning of payloads is defined elsewhere. */
#include "workload/pack/section.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* Decompressing costs time whenever a trace is loaded, and a frame has a price of its own. So a payload is
 * compressed only if it is not small and if that saves enough: half of it, or seven eighths of a payload that
 * loading waits for. The random part of it is compressed only if that saves half of it. */
#define RAW_BYTES 256
#define LOADED_RAW_BYTES 2048
#define LEAST 2
#define LOADED_LEAST 8
#define GUESS_BYTES 2048 /* bytes read of a section whose length is not known */
/* Memory for a payload is taken at once up to this size; beyond it only as the data really arrives. */
#define TRUSTED_BYTES (UINT64_C(4) << 20)

static const char *const kind_names[LS_PACK_KIND_COUNT] = {
    [0] = "nothing",
    [LS_PACK_BLOCK] = "block",
    [LS_PACK_VALUES] = "values",
    [LS_PACK_TABLE] = "instruction table",
    [LS_PACK_INDEX] = "index",
    [LS_PACK_CATALOG] = "catalog",
    [LS_PACK_DIRECTORY] = "directory",
    [LS_PACK_AMD_CODE] = "code",
    [LS_PACK_AMD_GROUPS] = "work-groups",
    [LS_PACK_AMD_INDEX] = "index of a launch",
    [LS_PACK_AMD_CATALOG] = "catalog of launches",
};

/* Libraries that were built for it choose the widest vectors of the host; others do not have this
 * function. */
extern XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t bytes) __attribute__((weak));

static uint64_t checksum(const void *data, size_t bytes)
{
    return XXH3_64bits_dispatch ? XXH3_64bits_dispatch(data, bytes) : XXH3_64bits(data, bytes);
}

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static bool reserve(pack_bytes *b, size_t bytes)
{
    if (bytes <= b->capacity)
        return true;
    size_t capacity = bytes > b->capacity * 2 ? bytes : b->capacity * 2;
    uint8_t *at = realloc(b->at, capacity);
    if (!at)
        return false;
    b->at = at;
    b->capacity = capacity;
    return true;
}

/* ------------------------------------------------------------------------------------------------ writing */

static ls_status put(pack_out *out, const void *data, size_t bytes, ls_error *err)
{
    if (bytes > 0 && fwrite(data, 1, bytes, out->stream) != bytes)
        return ls_fail(err, LS_ERR_IO, "cannot write '%s': %s", out->path, strerror(errno));
    out->offset += bytes;
    return LS_OK;
}

ls_status pack_out_init(pack_out *out, FILE *stream, const char *path, int level, ls_error *err)
{
    return pack_out_init_flags(out, stream, path, level, 0, err);
}

ls_status pack_out_init_flags(pack_out *out, FILE *stream, const char *path, int level, uint32_t flags,
                              ls_error *err)
{
    *out = (pack_out){ .stream = stream, .path = path, .zstd = ZSTD_createCCtx() };
    uint8_t header[LS_PACK_HEADER_BYTES] = { 0 };
    ls_status status = hasher_create(&out->content, err);
    if (status == LS_OK &&
        (!out->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_compressionLevel, level))))
        status = fail_memory(err);
    if (status == LS_OK) {
        /* The section header has the sizes and the checksum already. */
        ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_contentSizeFlag, 0);
        memcpy(header, LS_PACK_MAGIC, LS_PACK_MAGIC_BYTES);
        /* The layout of recordings has not changed since the first version. */
        put_u32(header + 8, flags & LS_PACK_FLAG_AMD ? LS_PACK_FIRST_VERSION : LS_PACK_VERSION);
        put_u32(header + 12, flags);
        write_u64(header + 24, checksum(header, 24));
        status = put(out, header, sizeof header, err);
    }
    if (status != LS_OK)
        pack_out_fini(out);
    return status;
}

void pack_out_fini(pack_out *out)
{
    ZSTD_freeCCtx(out->zstd);
    hasher_destroy(out->content);
    free(out->packed.at);
    free(out->split.at);
    *out = (pack_out){ 0 };
}

/* Into out->packed; codec and size describe the best form to store: the compressed one only if it is `least`
 * times smaller. */
static ls_status compress(pack_out *out, const uint8_t *payload, size_t bytes, size_t split, size_t least,
                          uint32_t *codec, size_t *stored, ls_error *err)
{
    size_t bound = ZSTD_compressBound(bytes), rest = bytes - split;
    if (!reserve(&out->packed, 4 + bound + rest) || !reserve(&out->split, 4 + bound + rest))
        return fail_memory(err);
    size_t whole = ZSTD_compress2(out->zstd, out->packed.at, bound, payload, bytes), part = whole;
    if (rest > 0)
        part = ZSTD_compress2(out->zstd, out->split.at + 4, bound, payload, split);
    if (ZSTD_isError(whole) || ZSTD_isError(part))
        return fail_memory(err);
    *codec = LS_PACK_RAW;
    *stored = bytes;
    if (rest > 0 && 4 + part + rest < whole + rest / 2) {
        if (4 + part < split / least) {
            put_u32(out->split.at, (uint32_t)part);
            memcpy(out->split.at + 4 + part, payload + split, rest);
            pack_bytes other = out->packed;
            out->packed = out->split;
            out->split = other;
            *codec = LS_PACK_SPLIT;
            *stored = 4 + part + rest;
        }
    } else if (whole < bytes / least) {
        *codec = LS_PACK_ZSTD;
        *stored = whole;
    }
    return LS_OK;
}

static void hash_section(hash_stream *content, uint32_t kind, uint64_t bytes, uint64_t sum)
{
    uint8_t logical[20];
    if (kind == LS_PACK_INDEX || kind == LS_PACK_AMD_INDEX || kind == LS_PACK_DIRECTORY)
        return;
    put_u32(logical, kind);
    write_u64(logical + 4, bytes);
    write_u64(logical + 12, sum);
    hasher_add(content, logical, sizeof logical);
}

void pack_hash_section(hash_stream *content, uint32_t kind, const void *payload, size_t bytes)
{
    hash_section(content, kind, bytes, checksum(payload, bytes));
}

ls_status pack_put_section(pack_out *out, uint32_t kind, const void *payload, size_t bytes, size_t split,
                           ls_error *err)
{
    if (bytes > LS_PACK_RAW_LIMIT)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a thread block needs %zu bytes in '%s', more than the format has", bytes, out->path);
    uint8_t header[LS_PACK_SECTION_BYTES];
    const void *stored = payload;
    size_t stored_bytes = bytes;
    uint32_t codec = LS_PACK_RAW;
    bool read_often = kind == LS_PACK_BLOCK || kind == LS_PACK_TABLE;
    if (split > 0 && bytes > (read_often ? LOADED_RAW_BYTES : RAW_BYTES)) {
        ls_status status = compress(out, payload, bytes, split, read_often ? LOADED_LEAST : LEAST, &codec,
                                    &stored_bytes, err);
        if (status != LS_OK)
            return status;
        if (codec != LS_PACK_RAW)
            stored = out->packed.at;
    }
    uint64_t hash = checksum(payload, bytes);
    put_u32(header, kind);
    put_u32(header + 4, codec);
    write_u64(header + 8, stored_bytes);
    write_u64(header + 16, bytes);
    write_u64(header + 24, hash);
    pack_hash_section(out->content, kind, payload, bytes);
    ls_status status = put(out, header, sizeof header, err);
    return status == LS_OK ? put(out, stored, stored_bytes, err) : status;
}

ls_status pack_put_trailer(pack_out *out, uint64_t directory, ls_error *err)
{
    uint8_t trailer[LS_PACK_TRAILER_BYTES];
    hash128 content = hasher_get(out->content);
    write_u64(trailer, directory);
    write_u64(trailer + 8, out->offset + sizeof trailer);
    write_u64(trailer + 16, content.high);
    write_u64(trailer + 24, content.low);
    write_u64(trailer + 32, checksum(trailer, 32));
    memcpy(trailer + 40, LS_PACK_END_MAGIC, LS_PACK_MAGIC_BYTES);
    return put(out, trailer, sizeof trailer, err);
}

/* ------------------------------------------------------------------------------------------------ reading */

ls_status pack_in_init(pack_in *in, int fd, uint64_t bytes, const char *path, ls_error *err)
{
    *in = (pack_in){ .fd = fd, .bytes = bytes, .path = path };
    (void)err;
    return LS_OK;
}

void pack_in_fini(pack_in *in)
{
    ZSTD_freeDCtx(in->zstd);
    free(in->stored.at);
    free(in->unpacked.at);
    *in = (pack_in){ 0 };
}

/* Exactly these bytes, which lie inside the file. */
static ls_status read_at(const pack_in *in, uint64_t offset, void *data, size_t bytes, ls_error *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(in->fd, (uint8_t *)data + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ls_fail(err, LS_ERR_IO, "cannot read at offset %" PRIu64 ": %s", offset + done, strerror(errno));
            return ls_error_at(err, in->path, 0, 0);
        }
        if (n == 0) {
            ls_fail(err, LS_ERR_INPUT, "the file became shorter while it was read: nothing at offset %" PRIu64,
                    offset + done);
            return ls_error_at(err, in->path, 0, 0);
        }
        done += (size_t)n;
    }
    return LS_OK;
}

static ls_status fail_frame(const pack_in *in, ls_error *err, const char *what)
{
    ls_fail(err, LS_ERR_INPUT, "%s", what);
    return ls_error_at(err, in->path, 0, 0);
}

ls_status pack_get_frame(pack_in *in, uint64_t *directory, hash128 *content, ls_error *err)
{
    uint8_t header[LS_PACK_HEADER_BYTES], trailer[LS_PACK_TRAILER_BYTES];
    if (in->bytes < sizeof header)
        return fail_frame(in, err, "not a packed trace: it is too short");
    ls_status status = read_at(in, 0, header, sizeof header, err);
    if (status != LS_OK)
        return status;
    if (memcmp(header, LS_PACK_MAGIC, LS_PACK_MAGIC_BYTES) != 0)
        return fail_frame(in, err, "not a packed trace: it starts otherwise");
    if (get_u64(header + 24) != checksum(header, 24))
        return fail_frame(in, err, "the file header is damaged: its checksum is wrong");
    uint32_t version = get_u32(header + 8);
    bool known = version >= LS_PACK_FIRST_VERSION && version <= LS_PACK_VERSION;
    if (known && (get_u32(header + 12) ^ in->flags) == LS_PACK_FLAG_AMD)
        return fail_frame(in, err,
                          in->flags == 0
                              ? "this is a recording of an AMD program, not a trace of NVIDIA warps"
                              : "this is a trace of NVIDIA warps, not a recording of an AMD program");
    if (!known || get_u32(header + 12) != in->flags) {
        ls_fail(err, LS_ERR_UNSUPPORTED,
                "packed trace of version %" PRIu32 " with flags 0x%" PRIx32
                "; this program reads versions %u to %u",
                version, get_u32(header + 12), LS_PACK_FIRST_VERSION, LS_PACK_VERSION);
        return ls_error_at(err, in->path, 0, 0);
    }
    if (in->bytes < sizeof header + sizeof trailer)
        return fail_frame(in, err, "the file is cut off: it has no trailer");
    status = read_at(in, in->bytes - sizeof trailer, trailer, sizeof trailer, err);
    if (status != LS_OK)
        return status;
    if (memcmp(trailer + 40, LS_PACK_END_MAGIC, LS_PACK_MAGIC_BYTES) != 0)
        return fail_frame(in, err, "the file is cut off: its last bytes are no trailer");
    if (get_u64(trailer + 32) != checksum(trailer, 32))
        return fail_frame(in, err, "the trailer is damaged: its checksum is wrong");
    if (get_u64(trailer + 8) != in->bytes) {
        ls_fail(err, LS_ERR_INPUT, "the file has %" PRIu64 " bytes, but its trailer says %" PRIu64, in->bytes,
                get_u64(trailer + 8));
        return ls_error_at(err, in->path, 0, 0);
    }
    in->version = version;
    *directory = get_u64(trailer);
    *content = (hash128){ get_u64(trailer + 16), get_u64(trailer + 24) };
    return LS_OK;
}

static ls_status fail_section(const pack_in *in, const char *what, uint64_t offset, ls_error *err,
                              const char *problem)
{
    ls_fail(err, LS_ERR_INPUT, "%s at offset %" PRIu64 " %s", what, offset, problem);
    return ls_error_at(err, in->path, 0, 0);
}

/* Decompresses into in->unpacked, whose memory grows with the actual output, up to `raw` bytes and `rest`
 * more. Returns NULL, or the text of an error. */
static const char *unpack(pack_in *in, const uint8_t *stored, size_t stored_bytes, uint64_t raw, size_t rest,
                          bool *memory)
{
    in->unpacked.count = 0;
    if (!in->zstd)
        in->zstd = ZSTD_createDCtx();
    *memory = in->zstd != NULL;
    if (!*memory)
        return NULL;
    if (raw <= TRUSTED_BYTES) {
        *memory = reserve(&in->unpacked, (size_t)raw + rest + LS_PACK_SLACK);
        if (!*memory)
            return NULL;
        size_t bytes = ZSTD_decompressDCtx(in->zstd, in->unpacked.at, (size_t)raw, stored, stored_bytes);
        if (ZSTD_isError(bytes))
            return "is damaged: it cannot be decompressed";
        in->unpacked.count = bytes;
        return bytes == raw ? NULL : "is damaged: it has another length than it says";
    }
    ZSTD_inBuffer from = { stored, stored_bytes, 0 };
    ZSTD_DCtx_reset(in->zstd, ZSTD_reset_session_only);
    for (uint64_t room = TRUSTED_BYTES;; room = raw / 2 < room ? raw : room * 2) {
        *memory = reserve(&in->unpacked, (size_t)room + rest + LS_PACK_SLACK);
        if (!*memory)
            return NULL;
        ZSTD_outBuffer to = { in->unpacked.at, (size_t)room, in->unpacked.count };
        size_t left = ZSTD_decompressStream(in->zstd, &to, &from);
        in->unpacked.count = to.pos;
        if (ZSTD_isError(left))
            return "is damaged: it cannot be decompressed";
        if (left == 0)
            return from.pos == from.size && to.pos == raw ? NULL
                                                          : "is damaged: it has another length than it says";
        if (from.pos == from.size && to.pos < to.size)
            return "is damaged: its compressed data ends too early";
        if (room == raw)
            return "is damaged: it is longer than it says";
    }
}

/* The payload from the stored bytes, for any codec. */
static const char *restore(pack_in *in, uint32_t codec, uint8_t *stored, size_t bytes, uint64_t raw,
                           bool *memory)
{
    size_t frame = codec == LS_PACK_ZSTD ? bytes : 0, rest;
    if (codec == LS_PACK_SPLIT) {
        frame = bytes >= 4 ? get_u32(stored) : 0;
        if (bytes < 4 || frame > bytes - 4)
            return "is damaged: its parts do not fit together";
        stored += 4;
        bytes -= 4;
    }
    rest = bytes - frame;
    if (rest > raw)
        return "is damaged: its parts do not fit together";
    in->payload.at = stored; /* where it is, if nothing is compressed */
    in->payload.count = rest;
    if (frame > 0) {
        const char *problem = unpack(in, stored, frame, raw - rest, rest, memory);
        if (problem || !*memory)
            return problem;
        memcpy(in->unpacked.at + in->unpacked.count, stored + frame, rest);
        in->payload.at = in->unpacked.at;
        in->payload.count = in->unpacked.count + rest;
    }
    return in->payload.count == raw ? NULL : "is damaged: it has another length than it says";
}

static ls_status peek(pack_in *in, uint64_t offset, uint8_t header[LS_PACK_SECTION_BYTES], uint32_t *kind,
                      uint64_t *whole, ls_error *err)
{
    uint64_t room = in->bytes - LS_PACK_TRAILER_BYTES;
    if (offset < LS_PACK_HEADER_BYTES || offset > room || room - offset < LS_PACK_SECTION_BYTES)
        return fail_section(in, "a section", offset, err, "is outside the file");
    ls_status status = read_at(in, offset, header, LS_PACK_SECTION_BYTES, err);
    if (status != LS_OK)
        return status;
    *kind = get_u32(header);
    *whole = get_u64(header + 8);
    if (*kind == 0 || *kind >= LS_PACK_KIND_COUNT || *whole > room - offset - LS_PACK_SECTION_BYTES)
        return fail_section(in, "a section", offset, err, "is damaged: its header is impossible");
    *whole += LS_PACK_SECTION_BYTES;
    return LS_OK;
}

ls_status pack_peek_section(pack_in *in, uint64_t offset, uint32_t *kind, uint64_t *whole, ls_error *err)
{
    uint8_t header[LS_PACK_SECTION_BYTES];
    return peek(in, offset, header, kind, whole, err);
}

ls_status pack_check_content(pack_in *in, hash128 content, ls_error *err)
{
    uint64_t offset = LS_PACK_HEADER_BYTES, end = in->bytes - LS_PACK_TRAILER_BYTES;
    hash_stream *hasher;
    ls_status status = hasher_create(&hasher, err);
    if (status != LS_OK)
        return status;
    while (status == LS_OK && offset < end) {
        uint8_t header[LS_PACK_SECTION_BYTES];
        uint32_t kind = 0;
        uint64_t whole = 0;
        status = peek(in, offset, header, &kind, &whole, err);
        if (status == LS_OK)
            hash_section(hasher, kind, get_u64(header + 16), get_u64(header + 24));
        offset += whole;
    }
    if (status == LS_OK && !hash_same(hasher_get(hasher), content))
        status = fail_frame(in, err, "the hash of the content is not the one in the trailer");
    hasher_destroy(hasher);
    return status;
}

ls_status pack_get_section(pack_in *in, uint32_t kind, uint64_t offset, uint64_t whole, const char *what,
                           ls_error *err)
{
    uint64_t room = in->bytes - LS_PACK_TRAILER_BYTES;
    if (offset < LS_PACK_HEADER_BYTES || offset > room || room - offset < LS_PACK_SECTION_BYTES)
        return fail_section(in, what, offset, err, "is outside the file");
    if (whole > room - offset)
        return fail_section(in, what, offset, err, "ends behind the end of the file");
    /* One system call for all of it, or for its probable length. */
    uint64_t first = whole >= LS_PACK_SECTION_BYTES ? whole : GUESS_BYTES;
    if (first > room - offset)
        first = room - offset;
    if (!reserve(&in->stored, (size_t)first + LS_PACK_SLACK))
        return fail_memory(err);
    ls_status status = read_at(in, offset, in->stored.at, (size_t)first, err);
    if (status != LS_OK)
        return status;
    const uint8_t *header = in->stored.at;
    uint64_t stored_bytes = get_u64(header + 8), raw = get_u64(header + 16), hash = get_u64(header + 24);
    uint32_t codec = get_u32(header + 4);
    if (get_u32(header) != kind || codec > LS_PACK_SPLIT) {
        char problem[96];
        snprintf(problem, sizeof problem,
                 "is damaged: kind %" PRIu32 ", codec %" PRIu32 ", where %s is expected", get_u32(header),
                 codec, kind_names[kind]);
        return fail_section(in, what, offset, err, problem);
    }
    if (raw > LS_PACK_RAW_LIMIT || (codec == LS_PACK_RAW && raw != stored_bytes))
        return fail_section(in, what, offset, err, "is damaged: its size is impossible");
    if (stored_bytes > room - offset - LS_PACK_SECTION_BYTES ||
        (whole != 0 && stored_bytes + LS_PACK_SECTION_BYTES != whole))
        return fail_section(in, what, offset, err,
                            "is damaged: its size is not that of the index or the file");
    whole = stored_bytes + LS_PACK_SECTION_BYTES;
    if (whole > first) {
        if (!reserve(&in->stored, (size_t)whole + LS_PACK_SLACK))
            return fail_memory(err);
        status = read_at(in, offset + first, in->stored.at + first, (size_t)(whole - first), err);
        if (status != LS_OK)
            return status;
    }
    bool memory = true;
    const char *problem =
        restore(in, codec, in->stored.at + LS_PACK_SECTION_BYTES, (size_t)stored_bytes, raw, &memory);
    if (!memory)
        return fail_memory(err);
    if (!problem && checksum(in->payload.at, in->payload.count) != hash)
        problem = "is damaged: its checksum is wrong";
    if (problem)
        return fail_section(in, what, offset, err, problem);
    memset(in->payload.at + raw, 0, LS_PACK_SLACK);
    return LS_OK;
}

ls_status pack_get_directory(pack_in *in, mem_arena *arena, uint64_t directory, pack_directory *out,
                             ls_error *err)
{
    ls_status status = pack_get_section(in, LS_PACK_DIRECTORY, directory, 0, "the directory", err);
    if (status != LS_OK)
        return status;
    pack_record r = { in->payload.at, in->payload.at + in->payload.count, false };
    out->catalog = pack_take_varint(&r);
    out->count = pack_take_number(&r, in->payload.count);
    out->indices = arena_array(arena, out->count + 1, sizeof *out->indices);
    if (!out->indices)
        return fail_memory(err);
    for (uint64_t i = 0; i < out->count; i++)
        out->indices[i] = pack_take_varint(&r);
    if (!r.failed && r.at == r.end)
        return LS_OK;
    ls_fail(err, LS_ERR_INPUT, "the directory is wrong");
    return ls_error_at(err, in->path, 0, 0);
}

/* ------------------------------------------------------------------------------------------------ records */

bool pack_add_bytes(pack_bytes *b, const void *data, size_t bytes)
{
    if (!reserve(b, b->count + bytes))
        return false;
    if (bytes > 0)
        memcpy(b->at + b->count, data, bytes);
    b->count += bytes;
    return true;
}

bool pack_add_varint(pack_bytes *b, uint64_t value)
{
    uint8_t bytes[LS_VARINT_BYTES];
    return pack_add_bytes(b, bytes, (size_t)(write_varint(bytes, value) - bytes));
}

bool pack_add_text(pack_bytes *b, const char *text, size_t bytes)
{
    return pack_add_varint(b, bytes) && pack_add_bytes(b, text, bytes);
}

uint64_t pack_take_long_varint(pack_record *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at >= r->end)
            break;
        uint64_t byte = *r->at++;
        v |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    r->failed = true;
    return 0;
}

const char *pack_take_text(pack_record *r, size_t *bytes)
{
    uint64_t count = pack_take_varint(r);
    if (r->failed || count > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        *bytes = 0;
        return "";
    }
    const char *text = (const char *)r->at;
    r->at += count;
    *bytes = (size_t)count;
    return text;
}
