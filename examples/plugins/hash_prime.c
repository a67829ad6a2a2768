/* hash_prime.c: sets by the remainder of a prime: the largest one that is not above the number of sets. Lines whose
 * distance is a power of two use all sets but the last few. No hash of bits can do that, as it is not linear. Chosen
 * by any cache of either vendor: `l2.hash: prime`. */
#include "lockstep/policy.h"

static bool is_prime(uint32_t n)
{
    for (uint32_t i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return n > 1;
}

/* Called for every look-up, so primes of usual sizes stand in a table. */
static uint32_t prime_below(uint32_t sets)
{
    static const uint16_t primes[] = { 1, 2, 3, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191 };
    for (uint32_t bits = 0; bits < LS_COUNT_OF(primes); bits++)
        if (sets == UINT32_C(1) << bits)
            return primes[bits];
    while (sets > 1 && !is_prime(sets))
        sets--;
    return sets;
}

static uint32_t set_of(uint64_t line, uint32_t sets)
{
    return (uint32_t)(line % prime_below(sets));
}

static const ls_hash_ops ops = { .set = set_of };
static const ls_port_decl ports[] = {
    { .name = LS_HASH_PORT, .interface = LS_HASH_INTERFACE, .ops = &ops },
};

static const ls_block_type hash_prime = {
    .abi = LS_ABI_VERSION,
    .slot = LS_HASH_SLOT,
    .name = "prime",
    .help = "the remainder of a prime",
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(hash_prime);
