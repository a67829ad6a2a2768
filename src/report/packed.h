/* packed.h: compressed text files, chosen by the end of their names: ".gz" (zlib) and ".zst" (Zstandard). */
#ifndef REPORT_PACKED_H
#define REPORT_PACKED_H

#include "base/arena.h"
#include "lockstep/status.h"

#include <stdio.h>

typedef enum packed_kind { PACKED_NONE, PACKED_GZIP, PACKED_ZSTD } packed_kind;

packed_kind packed_suffix_of(const char *path);
size_t packed_suffix_bytes(const char *path); /* of ".gz" or ".zst" at its end; else 0 */

/* A stream that compresses into another one. PACKED_NONE: it is the other one. */
typedef struct packed_writer {
    FILE *stream; /* write here */
    FILE *to;
    struct packed_state *state;
} packed_writer;
ls_status packed_writer_open(packed_writer *w, packed_kind kind, FILE *to, ls_error *err);
/* Writes what is left. A failure shows in the stream below (ferror). */
void packed_writer_close(packed_writer *w);

/* As file_read(), decompressed; more than limit bytes are an error. */
ls_status packed_read(mem_arena *arena, const char *path, size_t limit, char **data, size_t *bytes,
                      ls_error *err);

#endif
