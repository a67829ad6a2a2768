/* page_table.c: see page_table.h. Two levels: leaves of 2 MiB of addresses appear with their first entry. */
#include "model/memory/page_table.h"

#include <stdlib.h>

#define LEAF_SHIFT 21u
#define LEAF_PAGES ((1u << LEAF_SHIFT) / PAGE_TABLE_BYTES)
#define LEAVES (UINT64_C(1) << (MEM_PLACE_SHIFT - LEAF_SHIFT)) /* of one home */

/* An entry is the frame with 1 + place in bits 40 and up; 0: none. */
typedef struct page_leaf {
    uint64_t entry[LEAF_PAGES];
} page_leaf;

struct page_table {
    uint32_t homes[MEM_PLACE_GPUS];     /* the GPU of each home */
    page_leaf **leaves[MEM_PLACE_GPUS]; /* by home; NULL: it has no entries */
    uint64_t entries;
};

ls_status page_table_create(page_table **out, ls_error *err)
{
    page_table *t = calloc(1, sizeof *t);
    if (!t)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the page table");
    for (uint32_t i = 0; i < MEM_PLACE_GPUS; i++)
        t->homes[i] = i;
    *out = t;
    return LS_OK;
}

void page_table_destroy(page_table *t)
{
    if (!t)
        return;
    for (uint32_t home = 0; home < MEM_PLACE_GPUS; home++) {
        for (uint64_t i = 0; t->leaves[home] && i < LEAVES; i++)
            free(t->leaves[home][i]);
        free(t->leaves[home]);
    }
    free(t);
}

void page_table_set_home(page_table *t, uint32_t home, uint32_t gpu)
{
    t->homes[home] = gpu;
}

uint32_t page_table_home(const page_table *t, uint64_t address)
{
    uint32_t home = mem_place_home(address);
    return home < MEM_PLACE_GPUS ? t->homes[home] : home;
}

uint64_t page_table_entries(const page_table *t)
{
    return t->entries;
}

/* ------------------------------------------------------------------------------------------------ entries */

static uint64_t *entry_of(const page_table *t, uint64_t address)
{
    uint32_t home = mem_place_home(address);
    uint64_t frame = mem_place_frame(address);
    if (home >= MEM_PLACE_GPUS || !t->leaves[home] || !t->leaves[home][frame >> LEAF_SHIFT])
        return NULL;
    return &t->leaves[home][frame >> LEAF_SHIFT]->entry[frame / PAGE_TABLE_BYTES % LEAF_PAGES];
}

static bool make_leaf(page_table *t, uint64_t address)
{
    uint32_t home = mem_place_home(address);
    uint64_t at = mem_place_frame(address) >> LEAF_SHIFT;
    if (!t->leaves[home])
        t->leaves[home] = calloc(LEAVES, sizeof *t->leaves[home]);
    if (t->leaves[home] && !t->leaves[home][at])
        t->leaves[home][at] = calloc(1, sizeof *t->leaves[home][at]);
    return t->leaves[home] && t->leaves[home][at];
}

ls_status page_table_map(page_table *t, uint64_t address, uint64_t bytes, page_place to, ls_error *err)
{
    uint64_t end = address + bytes;
    if (((address | bytes | to.frame) & (PAGE_TABLE_BYTES - 1)) != 0 || to.place >= MEM_PLACES ||
        mem_place_home(address) >= MEM_PLACE_GPUS || mem_place_home(end - 1) != mem_place_home(address))
        return ls_fail(err, LS_ERR_USAGE, "0x%llx with %llu bytes is no range of pages",
                       (unsigned long long)address, (unsigned long long)bytes);
    for (uint64_t at = address; at < end; at = ((at >> LEAF_SHIFT) + 1) << LEAF_SHIFT)
        if (!make_leaf(t, at))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the page table");
    for (uint64_t at = address; at < end; at += PAGE_TABLE_BYTES) {
        uint64_t *entry = entry_of(t, at);
        t->entries += *entry == 0;
        *entry = (uint64_t)(to.place + 1) << MEM_PLACE_SHIFT | (to.frame + (at - address));
    }
    return LS_OK;
}

void page_table_clear(page_table *t, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; at < address + bytes && t->entries > 0; at += PAGE_TABLE_BYTES) {
        uint64_t *entry = entry_of(t, at);
        if (!entry)
            continue;
        t->entries -= *entry != 0;
        *entry = 0;
    }
}

page_place page_table_find(const page_table *t, uint64_t address)
{
    const uint64_t *entry = t->entries > 0 ? entry_of(t, address) : NULL;
    if (!entry || *entry == 0)
        return (page_place){ .place = page_table_home(t, address), .frame = mem_place_frame(address) };
    return (page_place){ .place = mem_place_of(*entry),
                         .frame = mem_place_frame(*entry) | address % PAGE_TABLE_BYTES };
}

page_place page_table_run(const page_table *t, uint64_t address, uint64_t bytes, uint64_t *run_bytes)
{
    page_place first = page_table_find(t, address);
    uint64_t run = PAGE_TABLE_BYTES - address % PAGE_TABLE_BYTES;
    if (t->entries == 0)
        run = bytes;
    while (run < bytes) {
        page_place next = page_table_find(t, address + run);
        if (next.place != first.place || next.frame != first.frame + run)
            break;
        run += PAGE_TABLE_BYTES;
    }
    *run_bytes = run < bytes ? run : bytes;
    return first;
}

/* -------------------------------------------------------------------------------------------------- views */

static ls_page look(void *self, uint64_t address)
{
    const page_view *view = self;
    for (size_t i = 0; i < view->copy_count; i++) {
        const page_copy *copy = &view->copies[i];
        if (address - copy->address < copy->bytes)
            return (ls_page){ .physical = copy->frame + (address - copy->address), .gpu = view->own };
    }
    page_place at = page_table_find(view->table, address);
    return (ls_page){ .physical = mem_place_physical(view->own, at.place, at.frame), .gpu = at.place };
}

ls_pages page_view_pages(page_view *view)
{
    return (ls_pages){ .look = look, .self = view };
}
