/* prefetch_block.c: a prefetch policy that fetches the rest of a block of lines once two lines of the block were
 * wanted. A block has `prefetch_degree` + 2 lines. One file: built in or loaded with --plugin, and chosen by any cache
 * of either vendor: `l2.prefetch: block`. */
#include "lockstep/policy.h"

#define ENTRIES 64u /* blocks that a cache remembers, by their lowest bits */

typedef struct entry {
    uint64_t block; /* + 1; 0: not in use */
    uint64_t first; /* the line that was wanted first */
} entry;

static size_t state_bytes(const ls_prefetch_shape *shape)
{
    (void)shape;
    return ENTRIES * sizeof(entry);
}

static uint32_t train(void *state, const ls_prefetch_shape *shape, uint64_t line,
                      uint64_t out[LS_PREFETCH_DEGREE_MAX])
{
    uint64_t lines = shape->degree + 2, block = line / lines;
    entry *e = (entry *)state + block % ENTRIES;
    uint32_t count = 0;
    if (e->block != block + 1) {
        *e = (entry){ .block = block + 1, .first = line };
        return 0;
    }
    if (e->first == line)
        return 0;
    for (uint64_t i = block * lines; i < (block + 1) * lines && count < shape->degree; i++)
        if (i != line && i != e->first && i / shape->page_lines == line / shape->page_lines)
            out[count++] = i;
    *e = (entry){ 0 }; /* once */
    return count;
}

static const ls_prefetch_ops ops = { .state_bytes = state_bytes, .train = train };
static const ls_port_decl ports[] = {
    { .name = LS_PREFETCH_PORT, .interface = LS_PREFETCH_INTERFACE, .ops = &ops },
};

static const ls_block_type prefetch_block = {
    .abi = LS_ABI_VERSION,
    .slot = LS_PREFETCH_SLOT,
    .name = "block",
    .help = "the rest of a block of lines of which two were wanted",
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(prefetch_block);
