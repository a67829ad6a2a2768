/* set_hash.c: the tables of set_hash.h. */
#include "model/policy/set_hash.h"

#include <string.h>

#define PLACE_HASHES "none", "xor", "ipoly"
const char *const place_hash_names[] = { PLACE_HASHES, NULL };
const char *const slice_hash_names[] = { PLACE_HASHES, "ipoly_modulo", NULL };
const char *const set_hash_names[] = { PLACE_HASHES, "bits", NULL };

/* Irreducible polynomials by degree. Memory channels use other ones (address.c, set_hash_ipoly()); for degrees
 * 3 to 6 these are their mirror images. Hashes by polynomials without a common factor are independent, so
 * lines that share a channel still use all of its sets. */
static const uint32_t polynomials[SET_HASH_BITS_MAX + 1] = { 0,      0x3,    0x7,    0xd,    0x19,   0x29,
                                                             0x61,   0xc1,   0x11b,  0x211,  0x409,  0x805,
                                                             0x1053, 0x201b, 0x4443, 0x8003, 0x1100b };

uint32_t set_hash_ipoly(uint64_t high, uint32_t low, unsigned bits)
{
    /* Bit i of the result is flipped by the parity of those bits of `high` that row i of the polynomial's
     * matrix has (16 places: 0x0f59, 0x11eb, 0x03d6, 0x07ac; 32: 0x3e69, 0x7cd2, 0x47cd, 0x0f9a, 0x1f34; 64:
     * 0x79461, 0x0bca3, 0x17946, 0x2f28c, 0x5e518, 0x3ca30). Written out here: the flips of each four bits of
     * `high`. */
    /* clang-format off */
    static const uint8_t flips[3][5][16] = {
        {
            { 0, 3, 6, 5, 12, 15, 10, 9, 11, 8, 13, 14, 7, 4, 1, 2 },
            { 0, 5, 10, 15, 7, 2, 13, 8, 14, 11, 4, 1, 9, 12, 3, 6 },
            { 0, 15, 13, 2, 9, 6, 4, 11, 1, 14, 12, 3, 8, 7, 5, 10 },
            { 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2 },
            { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
        },
        {
            { 0, 5, 10, 15, 20, 17, 30, 27, 13, 8, 7, 2, 25, 28, 19, 22 },
            { 0, 26, 17, 11, 7, 29, 22, 12, 14, 20, 31, 5, 9, 19, 24, 2 },
            { 0, 28, 29, 1, 31, 3, 2, 30, 27, 7, 6, 26, 4, 24, 25, 5 },
            { 0, 19, 3, 16, 6, 21, 5, 22, 0, 19, 3, 16, 6, 21, 5, 22 },
            { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
        },
        {
            { 0, 3, 6, 5, 12, 15, 10, 9, 24, 27, 30, 29, 20, 23, 18, 17 },
            { 0, 48, 35, 19, 5, 53, 38, 22, 10, 58, 41, 25, 15, 63, 44, 28 },
            { 0, 20, 40, 60, 19, 7, 59, 47, 38, 50, 14, 26, 53, 33, 29, 9 },
            { 0, 15, 30, 17, 60, 51, 34, 45, 59, 52, 37, 42, 7, 8, 25, 22 },
            { 0, 53, 41, 28, 17, 36, 56, 13, 0, 53, 41, 28, 17, 36, 56, 13 },
        },
    };
    /* clang-format on */
    const uint8_t(*of)[16] = flips[bits - 4];
    uint32_t out = low ^ of[0][high & 15] ^ of[1][high >> 4 & 15] ^ of[2][high >> 8 & 15] ^
                   of[3][high >> 12 & 15] ^ of[4][high >> 16 & 15];
    return out;
}

static uint32_t bits_of(uint32_t sets)
{
    uint32_t bits = 0;
    while (bits < 31 && (UINT32_C(1) << bits) < sets)
        bits++;
    return bits;
}

/* The set bits that bit n of a line's number flips, for each n. */
static void xor_columns(uint32_t columns[SET_HASH_BYTES * 8], uint32_t bits)
{
    for (uint32_t n = 0; n < SET_HASH_BYTES * 8; n++)
        columns[n] = n < 2 * bits ? UINT32_C(1) << n % bits : 0;
}

static void ipoly_columns(uint32_t columns[SET_HASH_BYTES * 8], uint32_t sets)
{
    uint32_t bits = bits_of(sets), power = 1; /* power: x^n by the polynomial */
    bits = bits < SET_HASH_BITS_MAX ? bits : SET_HASH_BITS_MAX;
    for (uint32_t n = 0; n < SET_HASH_BYTES * 8; n++) {
        uint32_t kept = sets > UINT32_C(1) << bits && n >= bits && n < 32 ? UINT32_C(1) << n : 0;
        columns[n] = power ^ kept;
        power <<= 1;
        if (power >> bits & 1)
            power ^= polynomials[bits];
    }
}

static void accelsim_columns(uint32_t columns[SET_HASH_BYTES * 8], uint32_t bits)
{
    for (uint32_t n = 0; n < SET_HASH_BYTES * 8; n++)
        columns[n] = n < bits ? UINT32_C(1) << n : set_hash_ipoly(UINT64_C(1) << (n - bits), 0, bits);
}

static ls_status mask_columns(uint32_t columns[SET_HASH_BYTES * 8], const ls_uints *masks, uint32_t sets,
                              uint32_t line_bytes, ls_error *err)
{
    uint32_t bits = bits_of(sets), shift = bits_of(line_bytes);
    uint64_t rows[32];
    if (sets != UINT32_C(1) << bits)
        return ls_fail(err, LS_ERR_INPUT, "hash 'bits' needs a power of two of sets, not %u", sets);
    if (masks->count != bits)
        return ls_fail(err, LS_ERR_INPUT, "hash_masks has %zu masks, but %u sets need %u: one for each bit",
                       masks->count, sets, bits);
    for (uint32_t i = 0; i < bits; i++) {
        uint64_t mask = masks->at[i];
        if ((mask & (line_bytes - 1)) != 0)
            return ls_fail(err, LS_ERR_INPUT,
                           "mask %u of hash_masks (0x%llx) has bits inside of a line of %u bytes", i,
                           (unsigned long long)mask, line_bytes);
        if (mask >> shift >> SET_HASH_BYTES * 8 != 0)
            return ls_fail(err, LS_ERR_INPUT, "mask %u of hash_masks (0x%llx) has bits from 2^%u on", i,
                           (unsigned long long)mask, shift + SET_HASH_BYTES * 8);
        for (uint32_t n = 0; n < SET_HASH_BYTES * 8; n++)
            columns[n] |= (uint32_t)(mask >> shift >> n & 1) << i;
        /* The rest of it without the masks before it: zero means that some sets are never used. */
        rows[i] = mask;
        for (uint32_t k = 0; k < i; k++)
            if ((rows[i] & rows[k] & (~rows[k] + 1)) != 0)
                rows[i] ^= rows[k];
        if (rows[i] == 0)
            return ls_fail(
                err, LS_ERR_INPUT,
                "mask %u of hash_masks (0x%llx) follows from the masks before it: half of the sets would "
                "never be used",
                i, (unsigned long long)mask);
    }
    return LS_OK;
}

/* Entries from `first` to its double: those before, with the flips of one more bit. A machine has a table per slice, so
 * four are filled at once. */
static void fill_half(uint32_t table[256], uint32_t first, uint32_t flips)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    table[0] = 0;
    if (first < 4) {
        for (uint32_t i = 0; i < first; i++)
            table[first + i] = table[i] ^ flips;
        return;
    }
    for (uint32_t i = 0; i < first; i += 4) {
        four entries;
        memcpy(&entries, &table[i], sizeof entries);
        entries ^= flips;
        memcpy(&table[first + i], &entries, sizeof entries);
    }
}

ls_status set_hash_find(uint32_t kind, uint32_t sets, ls_domain *domain, set_hash_plugin **out, ls_error *err)
{
    policy_found found;
    ls_status status = policy_find(POLICY_HASH, kind - SET_HASH_KINDS, &found, err);
    if (status != LS_OK)
        return status;
    *out = ls_domain_alloc(domain, sizeof **out);
    if (*out == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a hash");
    **out = (set_hash_plugin){ .ops = found.ops, .sets = sets, .domain = domain };
    return policy_failure(POLICY_HASH, &found, domain, "named a set that is not there", &(*out)->failure, err);
}

uint32_t set_hash_ask(const set_hash_plugin *plugin, uint64_t number)
{
    uint32_t set = plugin->ops->set(number, plugin->sets);
    if (LS_LIKELY(set < plugin->sets))
        return set;
    ls_domain_fail(plugin->domain, plugin->failure);
    return 0;
}

ls_status set_hash_fill(set_hash_table table, const set_hash_spec *spec, uint32_t sets, uint32_t line_bytes,
                        bool accelsim, ls_error *err)
{
    uint32_t columns[SET_HASH_BYTES * 8] = { 0 }, bits = bits_of(sets);
    ls_status status = LS_OK;
    if (spec->kind == SET_HASH_MASKS)
        status = mask_columns(columns, &spec->masks, sets, line_bytes, err);
    else if (spec->kind == SET_HASH_XOR)
        xor_columns(columns, bits);
    else if (accelsim && bits >= 4 && bits <= 6)
        accelsim_columns(columns, bits);
    else
        ipoly_columns(columns, sets);
    for (uint32_t n = 0; n < SET_HASH_BYTES * 8; n++)
        fill_half(table[n / 8], 1u << n % 8, columns[n]);
    return status;
}
