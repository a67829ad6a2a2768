/* set_hash.h: which set of a cache a line goes to when more bits of its number count than the lowest ones.
 * Used by the caches of both vendors, by profiles of traces, and (set_hash_ipoly()) by memory channels and
 * DRAM banks.
 *
 * Every hash here is linear over GF(2): each bit of a line's number flips certain bits of its set. So a hash
 * is a table with a row per byte of the number, and a look-up is five loads for every hash.
 *
 *   none   the lowest bits are the set
 *   xor    the bits above them are added, once
 *   ipoly  the number as a polynomial, modulo an irreducible one: lines whose distance is a power of two use all
 *          sets in turn, and a region of the cache's size fills every set once
 *   bits   as the platform says: bit i of the set is the parity of the address bits of mask i
 *
 * A plug-in's hash (lockstep/policy.h) is any function; it is called for each look-up of a set. */
#ifndef MODEL_POLICY_SET_HASH_H
#define MODEL_POLICY_SET_HASH_H

#include "model/policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

#define SET_HASH_BYTES 5 /* of a line's number that count: memory has less than 2^40 lines */
#define SET_HASH_BITS_MAX 16

typedef enum set_hash_kind {
    SET_HASH_NONE,
    SET_HASH_XOR,
    SET_HASH_IPOLY,
    SET_HASH_MASKS,
    SET_HASH_KINDS /* from here on: types of slot "hash", in the order of the registry */
} set_hash_kind;
extern const char *const set_hash_names[]; /* in the order of set_hash_kind, then NULL */
/* The same without masks: hashes of addresses to memory slices and banks. */
extern const char *const place_hash_names[];
extern const char *const slice_hash_names[]; /* the same, and ipoly_modulo */
#define SET_HASH_HELP                                                                                                \
    "how addresses pick sets: the lowest bits; xor: the next bits added; ipoly: all bits by a polynomial; bits: by " \
    "hash_masks; or as a plug-in says"
#define SET_HASH_MASKS_HELP "for each bit of a set's number, lowest first, the address bits whose parity it is"

/* Keys of the platform. */
typedef struct set_hash_spec {
    uint32_t kind;  /* set_hash_kind, or a plug-in's number */
    ls_uints masks; /* of SET_HASH_MASKS: bits of addresses, one mask for each bit of a set's number */
} set_hash_spec;

typedef uint32_t set_hash_table[SET_HASH_BYTES][256];

/* Fills the table for any built-in kind but SET_HASH_NONE. `accelsim`: with 16, 32 or 64 sets ipoly is GPGPU-Sim's
 * (set_hash_ipoly()). Sets that are no power of two take a remainder of the answer; beyond 2^SET_HASH_BITS_MAX sets
 * ipoly leaves the bits above those as they are. Fails for masks that do not fit the sets. */
ls_status set_hash_fill(set_hash_table table, const set_hash_spec *spec, uint32_t sets, uint32_t line_bytes,
                        bool accelsim, ls_error *err);

static inline uint32_t set_hash_of(uint32_t (*table)[256], uint64_t number)
{
    return table[0][number & 0xff] ^ table[1][number >> 8 & 0xff] ^ table[2][number >> 16 & 0xff] ^
           table[3][number >> 24 & 0xff] ^ table[4][number >> 32 & 0xff];
}

/* A plug-in's hash. */
typedef struct set_hash_plugin {
    const ls_hash_ops *ops;
    uint32_t sets;
    ls_domain *domain;
    const char *failure; /* for ls_domain_fail(): the plug-in named a set that is not there */
} set_hash_plugin;

/* For kinds from SET_HASH_KINDS on. Fails when the host has no memory left, or for a plug-in whose table is not
 * whole, which the error names. */
ls_status set_hash_find(uint32_t kind, uint32_t sets, ls_domain *domain, set_hash_plugin **out, ls_error *err);
uint32_t set_hash_ask(const set_hash_plugin *plugin, uint64_t number);

/* Spreads addresses over `1 << bits` places (bits 4, 5 or 6) as GPGPU-Sim's IPOLY does: `high` are the
 * address bits above those of `low`. */
uint32_t set_hash_ipoly(uint64_t high, uint32_t low, unsigned bits);

/* clang-format off */
#define SET_HASH_PARAMS(spec_, field, prefix, default_)                                                       \
    POLICY_PARAM(spec_, field.kind, prefix "hash", default_, set_hash_names, LS_HASH_SLOT, SET_HASH_HELP),    \
    LS_PARAM_UINTS(spec_, field.masks, prefix "hash_masks", "", "[]", 1, 0, SET_HASH_MASKS_HELP)
/* clang-format on */

#endif
