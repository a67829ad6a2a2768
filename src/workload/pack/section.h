/* section.h: the frame of a packed file: sections with a kind, a codec and a checksum, and the payloads of
 * small records inside them. */
#ifndef PACK_SECTION_H
#define PACK_SECTION_H

#include "base/arena.h"
#include "base/hash.h"
#include "workload/pack/block.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------ writing */

typedef struct pack_out {
    FILE *stream;
    const char *path; /* for messages */
    uint64_t offset;  /* where the next section begins */
    struct ZSTD_CCtx_s *zstd;
    hash_stream *content;
    pack_bytes packed, split; /* scratch */
} pack_out;

/* Writes the file header. `level` is Zstandard's, 1 to 19. On failure there is nothing to finish. */
ls_status pack_out_init(pack_out *out, FILE *stream, const char *path, int level, ls_error *err);
/* The same for a file with LS_PACK_FLAG_*. */
ls_status pack_out_init_flags(pack_out *out, FILE *stream, const char *path, int level, uint32_t flags,
                              ls_error *err);
void pack_out_fini(pack_out *out);
/* The payload may be compressed up to `split` only, if the rest is random; split == bytes: whole or not at
 * all; 0: not at all. */
ls_status pack_put_section(pack_out *out, uint32_t kind, const void *payload, size_t bytes, size_t split,
                           ls_error *err);
ls_status pack_put_trailer(pack_out *out, uint64_t directory, ls_error *err);
/* Adds a section to the hash of the content, if it belongs to that: not where things are, and not how
 * small. */
void pack_hash_section(hash_stream *content, uint32_t kind, const void *payload, size_t bytes);

/* ------------------------------------------------------------------------------------------------ reading */

/* A file with random access; several readers may share one descriptor. */
typedef struct pack_in {
    int fd;
    uint64_t bytes;
    const char *path;            /* for messages */
    uint32_t flags;              /* LS_PACK_FLAG_* that the file must have */
    uint32_t version;            /* of the file, after pack_get_frame() */
    struct ZSTD_DCtx_s *zstd;    /* NULL until something compressed is read */
    pack_bytes stored, unpacked; /* scratch */
    struct {
        uint8_t *at;
        size_t count;
    } payload; /* of the section read last, in one of these, followed by LS_PACK_SLACK readable bytes */
} pack_in;

ls_status pack_in_init(pack_in *in, int fd, uint64_t bytes, const char *path, ls_error *err);
void pack_in_fini(pack_in *in);
/* Checks header and trailer. */
ls_status pack_get_frame(pack_in *in, uint64_t *directory, hash128 *content, ls_error *err);
/* Compares the headers of all sections, whose payloads are checked when they are read, with the hash of the
 * content. One small read per section. */
ls_status pack_check_content(pack_in *in, hash128 content, ls_error *err);
/* Reads all sections and compares their hash with the trailer's. They follow each other without gaps. */
ls_status pack_verify_sections(pack_in *in, ls_error *err); /* pack_verify.c */
/* Kind and length with header of the section at `offset`; nothing of its content is checked. */
ls_status pack_peek_section(pack_in *in, uint64_t offset, uint32_t *kind, uint64_t *whole, ls_error *err);
/* Reads and checks the section of this kind at `offset` into in->payload. `whole` is its length with its
 * header as an index gave it, 0 if it is not known. `what` names it in messages. */
ls_status pack_get_section(pack_in *in, uint32_t kind, uint64_t offset, uint64_t whole, const char *what,
                           ls_error *err);

/* Reads the directory at offset `directory`: the offsets of the catalog and of the indices of its entries. */
typedef struct pack_directory {
    uint64_t catalog, count;
    uint64_t *indices; /* in the arena */
} pack_directory;
ls_status pack_get_directory(pack_in *in, mem_arena *arena, uint64_t directory, pack_directory *out,
                             ls_error *err);

/* ------------------------------------------------------------------------------------------------ records */

/* Numbers and texts one after another; failures stick, so that one check at the end is enough. */

bool pack_add_varint(pack_bytes *b, uint64_t value);
bool pack_add_bytes(pack_bytes *b, const void *data, size_t bytes);
bool pack_add_text(pack_bytes *b, const char *text, size_t bytes); /* its length, then itself */

typedef struct pack_record {
    const uint8_t *at, *end;
    bool failed; /* it ended too early */
} pack_record;

uint64_t pack_take_long_varint(pack_record *r);
static inline uint64_t pack_take_varint(pack_record *r)
{
    if (LS_LIKELY(r->at < r->end && *r->at < 0x80)) /* nearly all of them */
        return *r->at++;
    return pack_take_long_varint(r);
}
static inline uint64_t pack_take_number(pack_record *r, uint64_t most)
{
    uint64_t v = pack_take_varint(r);
    if (LS_LIKELY(v <= most))
        return v;
    r->failed = true;
    return 0;
}
const char *pack_take_text(pack_record *r, size_t *bytes);

#endif
