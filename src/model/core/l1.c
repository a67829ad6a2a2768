/* l1.c: how large L1 is. Three keys may say so: unified_kib (L1 has what shared memory leaves), l1.size_kib (it has
 * a size of its own), or l1.sets and l1.ways alone. What contradicts another one is refused. */
#include "model/core/core.h"

#define LINE_BYTES 128u
#define DEFAULT_WAYS 256u

static uint64_t way_bytes(const core_spec *spec)
{
    return spec->l1.sets * LINE_BYTES;
}

static ls_status check_whole(const core_spec *spec, const char *key, uint64_t kib, ls_error *err)
{
    uint64_t bytes = kib * 1024, ways = bytes / way_bytes(spec);
    if (bytes % way_bytes(spec) != 0 || ways == 0 || ways > CORE_L1_WAYS_MAX)
        return ls_fail(
            err, LS_ERR_INPUT,
            "%s is %llu KiB: with %llu sets of 128-byte lines that is no whole number of ways from 1 to %u",
            key, (unsigned long long)kib, (unsigned long long)spec->l1.sets, CORE_L1_WAYS_MAX);
    if (spec->l1.ways != 0 && spec->l1.ways != ways)
        return ls_fail(
            err, LS_ERR_INPUT,
            "%s is %llu KiB, but l1.sets and l1.ways (%llu x %llu lines of 128 bytes) are %llu bytes: "
            "leave l1.ways out, or set it to %llu",
            key, (unsigned long long)kib, (unsigned long long)spec->l1.sets, (unsigned long long)spec->l1.ways,
            (unsigned long long)(way_bytes(spec) * spec->l1.ways), (unsigned long long)ways);
    return LS_OK;
}

ls_status l1_check(const core_spec *spec, ls_error *err)
{
    uint64_t shared = spec->shared_kib, unified = spec->unified_kib, size = spec->l1_size_kib;
    if (unified != 0 && shared > unified)
        return ls_fail(err, LS_ERR_INPUT, "shared_kib (%llu) is more than unified_kib (%llu)",
                       (unsigned long long)shared, (unsigned long long)unified);
    for (size_t i = 0; unified != 0 && i < spec->shared_options_kib.count; i++)
        if (spec->shared_options_kib.at[i] > unified)
            return ls_fail(err, LS_ERR_INPUT,
                           "shared_options_kib has %llu, which is more than unified_kib (%llu)",
                           (unsigned long long)spec->shared_options_kib.at[i], (unsigned long long)unified);
    if (unified != 0 && size != 0 && size + shared > unified)
        return ls_fail(
            err, LS_ERR_INPUT,
            "l1.size_kib (%llu) and shared_kib (%llu) together are more than unified_kib (%llu): lower one "
            "of them, or set unified_kib to 0",
            (unsigned long long)size, (unsigned long long)shared, (unsigned long long)unified);
    if (size != 0)
        return check_whole(spec, "l1.size_kib", size, err);
    return unified != 0 ? check_whole(spec, "unified_kib", unified, err) : LS_OK;
}

sector_cache_spec l1_whole(const core_spec *spec)
{
    sector_cache_spec l1 = spec->l1;
    uint64_t kib = spec->l1_size_kib != 0 ? spec->l1_size_kib : spec->unified_kib;
    if (kib != 0)
        l1.ways = kib * 1024 / way_bytes(spec);
    else if (l1.ways == 0)
        l1.ways = DEFAULT_WAYS;
    return l1;
}

/* Those that are left when shared memory takes the smallest option that holds `shared_bytes`. */
uint32_t l1_ways(const core_spec *spec, uint64_t shared_bytes)
{
    uint32_t ways = (uint32_t)l1_whole(spec).ways;
    if (spec->unified_kib == 0 || spec->l1_size_kib != 0)
        return ways;
    uint64_t chosen = spec->unified_kib;
    for (size_t i = 0; i < spec->shared_options_kib.count; i++) {
        uint64_t option = spec->shared_options_kib.at[i];
        if (option * 1024 >= shared_bytes && option < chosen)
            chosen = option;
    }
    /* Rounded to the nearest whole way, at least one. */
    uint64_t left = ((spec->unified_kib - chosen) * 2 * ways + spec->unified_kib) / (2 * spec->unified_kib);
    return left == 0 ? 1 : (uint32_t)left;
}
