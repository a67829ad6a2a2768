/* cache_wire.c: wiring of whatever block stands in a slot for caches: the functions of cache.h, by
 * interface. */
#include "model/amd_memory/cache.h"

static const line_cache_ops *cache_ops(const ls_block *cache)
{
    return line_find_ops(cache, LINE_CACHE_INTERFACE);
}

/* ls_block_state() takes no const block: blocks are named by pointers to const where only their state is
 * read. */
static void *state_of(const ls_block *block)
{
    return ls_block_state((ls_block *)(uintptr_t)block);
}

ls_status line_cache_set_below(ls_block *cache, ls_block *memory, ls_error *err)
{
    const line_cache_ops *ops = cache_ops(cache);
    if (ops == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "block '%s' (%s '%s') is no cache: it provides no '%s'",
                       ls_block_name(cache), ls_block_type_of(cache)->slot, ls_block_type_of(cache)->name,
                       LINE_CACHE_INTERFACE);
    return ops->set_below(ls_block_state(cache), cache, memory, err);
}

void line_cache_set_home(ls_block *cache, const ls_address_space *window)
{
    cache_ops(cache)->set_home(ls_block_state(cache), window);
}

void line_cache_set_passing(ls_block *cache, uint32_t flags)
{
    cache_ops(cache)->set_passing(ls_block_state(cache), flags);
}

void line_cache_set_map(ls_block *cache, const mem_map *map)
{
    cache_ops(cache)->set_map(ls_block_state(cache), map);
}

bool line_cache_writes_back(const ls_block *cache)
{
    return cache_ops(cache)->writes_back(state_of(cache));
}

void line_cache_discard(ls_block *cache, uint64_t address, uint64_t bytes)
{
    cache_ops(cache)->discard(ls_block_state(cache), address, bytes);
}

uint64_t line_cache_dirty_lines(const ls_block *cache)
{
    return cache_ops(cache)->dirty_lines(state_of(cache));
}
