/* bytes.h: numbers and texts as a row of bytes, for saved states. The writer is sticky: after a failure every call does
 * nothing, and one test at the end is enough. The reader checks the end, so bytes of any content are safe to read. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdint.h>

/* Bytes that are written. failed: the host has no memory left. All zero is empty; vec_fini(&out.bytes) frees. */
typedef struct bytes_out {
    LS_VEC(uint8_t) bytes;
    bool failed;
} bytes_out;

void bytes_put(bytes_out *out, const void *data, size_t bytes);
void bytes_put64(bytes_out *out, uint64_t value);
void bytes_put_double(bytes_out *out, double value);
void bytes_put_text(bytes_out *out, const char *text); /* NULL stays NULL */

/* Bytes that are read. failed: they came to an end too early, or a caller found them wrong; everything after that reads
 * zeros. */
typedef struct bytes_in {
    const uint8_t *at, *end;
    bool failed;
} bytes_in;

void bytes_get(bytes_in *in, void *data, size_t bytes);
uint64_t bytes_get64(bytes_in *in);
double bytes_get_double(bytes_in *in);
/* In the arena; NULL: it was NULL, or in->failed. */
const char *bytes_get_text(bytes_in *in, mem_arena *arena);
/* A count of elements that take at least `each` bytes (at least 1): more than can follow is a failure and 0. */
uint64_t bytes_get_count(bytes_in *in, size_t each);
/* All has been read, and nothing was wrong. */
bool bytes_at_end(const bytes_in *in);

#endif
