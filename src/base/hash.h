/* hash.h: a 128-bit hash of content (XXH3), for "is this the same configuration, trace, result?". The value
 * is the same on every host. Not for secrets: it does not resist an attacker. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ls_hash {
    uint64_t high, low;
} ls_hash;

#define LS_HASH_TEXT_BYTES 33 /* 32 hexadecimal digits and the terminator */

ls_hash ls_hash_of(const void *data, size_t bytes);
bool ls_hash_same(ls_hash a, ls_hash b);
/* Lower case, high half first. Returns out. */
const char *ls_hash_text(ls_hash hash, char out[LS_HASH_TEXT_BYTES]);
/* Exactly 32 hexadecimal digits of either case; false for anything else. */
bool ls_hash_parse(const char *text, ls_hash *out);

/* Piece by piece: the cuts between pieces do not matter. */
typedef struct ls_hasher ls_hasher;

ls_status ls_hasher_create(ls_hasher **out, ls_error *err);
void ls_hasher_destroy(ls_hasher *hasher); /* NULL is fine */
void ls_hasher_reset(ls_hasher *hasher);
void ls_hasher_add(ls_hasher *hasher, const void *data, size_t bytes);
/* Adds the length and then the bytes, so that "ab","c" differs from "a","bc". */
void ls_hasher_add_field(ls_hasher *hasher, const void *data, size_t bytes);
/* Of everything added since the start or the last reset; adding may go on. */
ls_hash ls_hasher_get(const ls_hasher *hasher);

#endif
