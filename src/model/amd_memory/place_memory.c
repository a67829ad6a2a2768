/* place_memory.c: see place_memory.h. May touch its own table and the bytes of its channel. */
#include "model/amd_memory/place_memory.h"

#include "lockstep/state.h"
#include "model/amd_memory/line_store.h"

#include <stdlib.h>
#include <string.h>

static void fini(void *state)
{
    free(((ls_memory *)state)->pages);
}

/* The address space belongs to the host, which restores it and its bytes before it attaches a new machine to it. */
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(ls_memory, host, bytes),
};

static const ls_block_type memory_type = { .abi = LS_ABI_VERSION,
                                           .slot = "memory",
                                           .name = "place",
                                           .help = "the bytes and page states of one channel",
                                           .state_size = sizeof(ls_memory),
                                           .rows = rows,
                                           .row_count = LS_COUNT_OF(rows),
                                           .fini = fini };

ls_status line_memory_create(ls_region *region, const char *name, ls_block **out, ls_error *err)
{
    return ls_block_create(region, name, &memory_type, NULL, out, err);
}

ls_memory *line_memory_of(ls_block *memory)
{
    return ls_block_state(memory);
}

ls_status line_memory_attach(ls_block *memory, memory_space *space, ls_error *err)
{
    ls_memory *m = ls_block_state(memory);
    const address_space_view view = address_space_look(space);
    size_t count = address_space_extents(space, NULL, 0);
    memory_extent *extents = malloc((count + 1) * sizeof *extents);
    free(m->pages);
    m->pages =
        calloc(1, (size_t)(view.bytes >> LS_PAGE_SHIFT) + 1); /* the host gives pages when they are used */
    m->host = view.host;
    m->bytes = view.bytes;
    bool ok = extents != NULL && m->pages != NULL;
    count = ok ? address_space_extents(space, extents, count) : 0;
    for (size_t i = 0; i < count; i++)
        line_memory_change(memory, &(ls_page_change){ .address = extents[i].start,
                                                      .bytes = extents[i].end - extents[i].start,
                                                      .state = extents[i].state });
    free(extents);
    return ok ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for the pages of '%s'", ls_block_name(memory));
}

void line_memory_change(ls_block *memory, const ls_page_change *change)
{
    ls_memory *m = ls_block_state(memory);
    uint64_t first = (change->address - LS_WINDOW_BASE) >> LS_PAGE_SHIFT;
    memset(m->pages + first, (int)change->state, (size_t)(change->bytes >> LS_PAGE_SHIFT));
}

/* Of bytes inside of a line. */
static bool is_mapped(const ls_memory *m, uint64_t address, uint64_t bytes)
{
    return bytes == 0 || (memory_state(m, address) != 0 && memory_state(m, address + bytes - 1) != 0);
}

bool line_memory_load(ls_block *memory, uint64_t address, const void *from, uint64_t bytes)
{
    const ls_memory *m = ls_block_state(memory);
    if (!is_mapped(m, address, bytes))
        return false;
    memcpy(memory_at(m, address), from, bytes);
    return true;
}

bool line_memory_copy_out(const ls_block *memory, uint64_t address, void *to, uint64_t bytes)
{
    const ls_memory *m = ls_block_state((ls_block *)(uintptr_t)memory);
    if (!is_mapped(m, address, bytes))
        return false;
    memcpy(to, memory_at(m, address), bytes);
    return true;
}

/* ------------------------------------------------------------------------------------------- for plug-ins */

bool ls_memory_read_line(const ls_memory *m, uint64_t address, uint8_t *to, uint32_t line_bytes)
{
    bool mapped = memory_state(m, address) != 0;
    if (mapped)
        memcpy(to, memory_at(m, address), line_bytes);
    else
        memset(to, 0, line_bytes);
    return mapped;
}

bool ls_memory_write_line(ls_memory *m, uint64_t address, const uint8_t *from, const uint64_t mask[2])
{
    bool mapped = memory_state(m, address) != 0;
    if (mapped)
        store_merge_bytes(memory_at(m, address), from, mask);
    return mapped;
}

bool ls_memory_is_mapped(const ls_memory *m, uint64_t address, bool write)
{
    return (memory_state(m, address) & (write ? LS_PAGE_WRITE : LS_PAGE_READ)) != 0;
}
