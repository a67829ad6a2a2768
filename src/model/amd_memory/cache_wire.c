/* cache_wire.c: wiring of any model that stands in a slot for caches: the functions of cache.h, by
 * interface. */
#include "model/amd_memory/cache.h"

static const ls_line_cache_ops *cache_ops(const ls_block *cache)
{
    return ls_block_type_port(ls_block_type_of(cache), LS_LINE_CACHE_INTERFACE, false)->ops;
}

/* ls_block_state() takes no const block: blocks are named by pointers to const where only their state is
 * read. */
static void *state_of(const ls_block *block)
{
    return ls_block_state((ls_block *)(uintptr_t)block);
}

ls_status line_cache_set_below(ls_block *cache, ls_block *memory, ls_error *err)
{
    ls_port port;
    ls_status status = ls_block_port(cache, LS_LINE_CACHE_INTERFACE, &port, err);
    return status == LS_OK ? cache_ops(cache)->set_below(port.self, cache, memory, err) : status;
}

void line_cache_set_home(ls_block *cache, const ls_memory *memory)
{
    cache_ops(cache)->set_home(ls_block_state(cache), memory);
}

void line_cache_set_passing(ls_block *cache, uint32_t flags)
{
    if (cache_ops(cache)->set_passing != NULL)
        cache_ops(cache)->set_passing(ls_block_state(cache), flags);
}

void line_cache_set_map(ls_block *cache, const mem_map *map)
{
    if (cache_ops(cache)->set_map != NULL)
        cache_ops(cache)->set_map(ls_block_state(cache), map);
}

bool line_cache_writes_back(const ls_block *cache)
{
    return cache_ops(cache)->writes_back != NULL && cache_ops(cache)->writes_back(state_of(cache));
}

ls_status line_cache_pass_invalidates(ls_block *cache, ls_error *err)
{
    if (cache_ops(cache)->pass_invalidates == NULL)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "'%s': its model cannot stand above an L2 with lines of other GPUs: rdma.cache must be never",
            ls_block_name(cache));
    cache_ops(cache)->pass_invalidates(ls_block_state(cache));
    return LS_OK;
}

void line_cache_discard(ls_block *cache, uint64_t address, uint64_t bytes)
{
    if (cache_ops(cache)->discard != NULL)
        cache_ops(cache)->discard(ls_block_state(cache), address, bytes);
}

uint64_t line_cache_dirty_lines(const ls_block *cache)
{
    return cache_ops(cache)->dirty_lines != NULL ? cache_ops(cache)->dirty_lines(state_of(cache)) : 0;
}
