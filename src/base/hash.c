/* hash.c: content hashes over libxxhash's XXH3. */
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

static ls_hash from_xxh(XXH128_hash_t value)
{
    return (ls_hash){ .high = value.high64, .low = value.low64 };
}

/* libxxhash keeps its state behind an opaque, aligned pointer of its own. */
static XXH3_state_t *state_of(ls_hasher *hasher)
{
    return (XXH3_state_t *)(void *)hasher;
}

ls_hash ls_hash_of(const void *data, size_t bytes)
{
    return from_xxh(XXH3_128bits(bytes > 0 ? data : "", bytes));
}

bool ls_hash_same(ls_hash a, ls_hash b)
{
    return a.high == b.high && a.low == b.low;
}

const char *ls_hash_text(ls_hash hash, char out[LS_HASH_TEXT_BYTES])
{
    snprintf(out, LS_HASH_TEXT_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
    return out;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool ls_hash_parse(const char *text, ls_hash *out)
{
    uint64_t half[2] = { 0, 0 };
    for (unsigned i = 0; i < 32; i++) {
        int digit = hex_digit(text[i]); /* stops at the terminator: it is no digit */
        if (digit < 0)
            return false;
        half[i / 16] = half[i / 16] << 4 | (uint64_t)digit;
    }
    if (text[32] != '\0')
        return false;
    *out = (ls_hash){ .high = half[0], .low = half[1] };
    return true;
}

ls_status ls_hasher_create(ls_hasher **out, ls_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    *out = (ls_hasher *)(void *)state;
    if (state == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a hash");
    ls_hasher_reset(*out);
    return LS_OK;
}

void ls_hasher_destroy(ls_hasher *hasher)
{
    if (hasher != NULL)
        XXH3_freeState(state_of(hasher));
}

void ls_hasher_reset(ls_hasher *hasher)
{
    XXH3_128bits_reset(state_of(hasher));
}

void ls_hasher_add(ls_hasher *hasher, const void *data, size_t bytes)
{
    if (bytes > 0)
        XXH3_128bits_update(state_of(hasher), data, bytes);
}

void ls_hasher_add_field(ls_hasher *hasher, const void *data, size_t bytes)
{
    /* Little endian whatever the host is. */
    unsigned char length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)bytes >> (8 * i));
    ls_hasher_add(hasher, length, sizeof length);
    ls_hasher_add(hasher, data, bytes);
}

ls_hash ls_hasher_get(const ls_hasher *hasher)
{
    return from_xxh(XXH3_128bits_digest((const XXH3_state_t *)(const void *)hasher));
}
