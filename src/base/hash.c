/* hash.c: content hashes over libxxhash's XXH3. */
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

static hash128 from_xxh(XXH128_hash_t value)
{
    return (hash128){ .high = value.high64, .low = value.low64 };
}

/* libxxhash's state is opaque and has an alignment of its own. */
static XXH3_state_t *state_of(hash_stream *hasher)
{
    return (XXH3_state_t *)(void *)hasher;
}

hash128 hash128_of(const void *data, size_t bytes)
{
    return from_xxh(XXH3_128bits(bytes > 0 ? data : "", bytes));
}

bool hash_same(hash128 a, hash128 b)
{
    return a.high == b.high && a.low == b.low;
}

const char *hash128_text(hash128 hash, char out[LS_HASH_TEXT_BYTES])
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

bool hash_parse(const char *text, hash128 *out)
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
    *out = (hash128){ .high = half[0], .low = half[1] };
    return true;
}

ls_status hasher_create(hash_stream **out, ls_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    *out = (hash_stream *)(void *)state;
    if (state == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a hash");
    hasher_reset(*out);
    return LS_OK;
}

void hasher_destroy(hash_stream *hasher)
{
    if (hasher != NULL)
        XXH3_freeState(state_of(hasher));
}

void hasher_reset(hash_stream *hasher)
{
    XXH3_128bits_reset(state_of(hasher));
}

void hasher_add(hash_stream *hasher, const void *data, size_t bytes)
{
    if (bytes > 0)
        XXH3_128bits_update(state_of(hasher), data, bytes);
}

void hasher_add_field(hash_stream *hasher, const void *data, size_t bytes)
{
    /* Little endian on any host. */
    unsigned char length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)bytes >> (8 * i));
    hasher_add(hasher, length, sizeof length);
    hasher_add(hasher, data, bytes);
}

hash128 hasher_get(const hash_stream *hasher)
{
    return from_xxh(XXH3_128bits_digest((const XXH3_state_t *)(const void *)hasher));
}
