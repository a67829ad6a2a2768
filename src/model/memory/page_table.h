/* page_table.h: the page table of a system of GPUs: the place and the frame of each page of virtual addresses.
 *
 * A page without an entry lies at home: on the GPU that bits 40 and up of its address name, in the frame that the other
 * bits name. Entries are the exceptions. GPUs see the table through a view, which answers with physical addresses
 * relative to that GPU (place.h). The table does not change while the machine runs. */
#ifndef MODEL_MEMORY_PAGE_TABLE_H
#define MODEL_MEMORY_PAGE_TABLE_H

#include "lockstep/status.h"
#include "lockstep/tlb.h"
#include "model/memory/place.h"

#define PAGE_TABLE_BYTES 4096u /* of a page */

typedef struct page_table page_table;

/* Where an address lies. */
typedef struct page_place {
    uint32_t place; /* as in place.h */
    uint64_t frame; /* address in the memory of the place */
} page_place;

ls_status page_table_create(page_table **out, ls_error *err);
void page_table_destroy(page_table *table); /* NULL is fine */

/* Pages whose bits 40 and up are `home` are at home on GPU `gpu`. Without this call: on the GPU of that number. */
void page_table_set_home(page_table *table, uint32_t home, uint32_t gpu);
uint32_t page_table_home(const page_table *table, uint64_t address);

/* Maps whole pages to frames that follow each other at a place. LS_ERR_NOMEM, and then nothing has changed. */
ls_status page_table_map(page_table *table, uint64_t address, uint64_t bytes, page_place to, ls_error *err);
/* The pages are at home again. */
void page_table_clear(page_table *table, uint64_t address, uint64_t bytes);
/* Entries of the table: pages that are not at home. */
uint64_t page_table_entries(const page_table *table);

/* Of any address. */
page_place page_table_find(const page_table *table, uint64_t address);
/* The same with the bytes from there on, at most `bytes`, that lie in frames that follow each other. */
page_place page_table_run(const page_table *table, uint64_t address, uint64_t bytes, uint64_t *run_bytes);

/* Read-only pages of which a GPU has a copy of its own. */
typedef struct page_copy {
    uint64_t address, bytes; /* virtual */
    uint64_t frame;
} page_copy;

/* A view for the MMU of GPU `own`; gpu of its answers is the place. The table and the copies outlive it. */
typedef struct page_view {
    const page_table *table;
    uint32_t own;
    const page_copy *copies;
    size_t copy_count;
} page_view;
ls_pages page_view_pages(page_view *view);

#endif
