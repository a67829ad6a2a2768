/* place_memory.h: the memory of one channel: block of slot "memory" in the channel's domain. It knows where the bytes
 * of the channel's addresses are and which pages are mapped. Only the blocks of its domain touch it in a run: the
 * channel moves bytes, L2 slices look at pages. Pages change by messages (ls_page_change) between runs, in no
 * simulated time; a loader's bytes come in the same way. */
#ifndef MODEL_AMD_MEMORY_PLACE_MEMORY_H
#define MODEL_AMD_MEMORY_PLACE_MEMORY_H

#include "base/address_space.h"
#include "lockstep/channel.h"

struct ls_memory {
    uint8_t *host;  /* [0] is LS_WINDOW_BASE; NULL: it has no memory yet */
    uint8_t *pages; /* state of each page: this channel's own copy */
    uint64_t bytes;
};

ls_status line_memory_create(ls_region *region, const char *name, ls_block **out, ls_error *err);
/* Before the first run. Pages that are mapped already are mapped here too. */
ls_status line_memory_attach(ls_block *memory, memory_space *space, ls_error *err);
ls_memory *line_memory_of(ls_block *memory);

/* Between runs. The range is inside of the address space. */
void line_memory_change(ls_block *memory, const ls_page_change *change);
/* Between runs: bytes of this channel, to mapped pages. False: a page is not mapped, nothing is written. */
bool line_memory_load(ls_block *memory, uint64_t address, const void *from, uint64_t bytes);
/* Between runs, the other way: bytes of this channel, past all caches. False: a page is not mapped. */
bool line_memory_copy_out(const ls_block *memory, uint64_t address, void *to, uint64_t bytes);

/* The state of the page of an address; 0 outside of the memory. */
static inline uint32_t memory_state(const ls_memory *m, uint64_t address)
{
    uint64_t offset = address - LS_WINDOW_BASE;
    return offset >= m->bytes ? 0 : m->pages[offset >> LS_PAGE_SHIFT];
}
static inline uint8_t *memory_at(const ls_memory *m, uint64_t address)
{
    return m->host + (address - LS_WINDOW_BASE);
}

#endif
