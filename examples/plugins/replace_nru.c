/* replace_nru.c: "not recently used" replacement: one bit per line, set by use. The first line without it goes; when
 * all have it, all but the newest lose it. One file: built in or loaded with --plugin, and chosen by any cache of
 * either vendor: `l2.replacement: nru`. */
#include "lockstep/policy.h"

#include <string.h>

/* The state of a set: a bit per way. */
static size_t set_bytes(uint32_t ways)
{
    return (ways + 63) / 64 * sizeof(uint64_t);
}

static void use(void *set, uint32_t ways, uint32_t way)
{
    uint64_t *used = set;
    uint32_t words = (ways + 63) / 64, count = 0;
    used[way / 64] |= UINT64_C(1) << way % 64;
    for (uint32_t i = 0; i < words; i++)
        count += (uint32_t)__builtin_popcountll(used[i]);
    if (count < ways)
        return;
    memset(used, 0, words * sizeof *used);
    used[way / 64] |= UINT64_C(1) << way % 64;
}

/* The first line that may go and was not used; if all were, the first that may go. */
static uint32_t victim(void *set, uint32_t ways, const uint64_t *allowed)
{
    const uint64_t *used = set;
    uint32_t words = (ways + 63) / 64;
    for (uint32_t i = 0; i < words; i++)
        if ((allowed[i] & ~used[i]) != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(allowed[i] & ~used[i]);
    for (uint32_t i = 0; i < words; i++)
        if (allowed[i] != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(allowed[i]);
    return 0;
}

static const ls_replacement_ops ops = { .set_bytes = set_bytes, .insert = use, .use = use, .victim = victim };
static const ls_port_decl ports[] = {
    { .name = LS_REPLACEMENT_PORT, .interface = LS_REPLACEMENT_INTERFACE, .ops = &ops },
};

static const ls_block_type replace_nru = {
    .abi = LS_ABI_VERSION,
    .slot = LS_REPLACEMENT_SLOT,
    .name = "nru",
    .help = "the first line that was not used recently",
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(replace_nru);
