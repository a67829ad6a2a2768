/* hash.h: a 128-bit hash of content (XXH3), for "is this the same configuration, trace, result?". The value
 * is the same on every host. Not for secrets: it does not resist an attacker. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hash128 {
    uint64_t high, low;
} hash128;

#define LS_HASH_TEXT_BYTES 33 /* 32 hexadecimal digits and the terminator */

hash128 hash128_of(const void *data, size_t bytes);
bool hash_same(hash128 a, hash128 b);
/* Lower case, high half first. Returns out. */
const char *hash128_text(hash128 hash, char out[LS_HASH_TEXT_BYTES]);
/* Exactly 32 hexadecimal digits of either case; false for anything else. */
bool hash_parse(const char *text, hash128 *out);

/* Piece by piece: the cuts between pieces do not matter. */
typedef struct hash_stream hash_stream;

ls_status hasher_create(hash_stream **out, ls_error *err);
void hasher_destroy(hash_stream *hasher); /* NULL is fine */
void hasher_reset(hash_stream *hasher);
void hasher_add(hash_stream *hasher, const void *data, size_t bytes);
/* Adds the length and then the bytes, so that "ab","c" differs from "a","bc". */
void hasher_add_field(hash_stream *hasher, const void *data, size_t bytes);
/* Of everything added since the start or the last reset; adding may go on. */
hash128 hasher_get(const hash_stream *hasher);

#endif
