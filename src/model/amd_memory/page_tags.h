/* page_tags.h: tags of pages of several sizes, for TLBs that know pages which can be split and merged. Pages of the usual
 * size have their number as key, so that a TLB with pages of one size is a plain tag store. No two pages overlap. */
#ifndef MODEL_AMD_MEMORY_PAGE_TAGS_H
#define MODEL_AMD_MEMORY_PAGE_TAGS_H

#include "model/cache/tag_store.h"

#define PAGE_TAGS_SIZES 32u

typedef struct page_tags {
    tag_store tags;
    uint32_t shift;                  /* log2 of the usual size */
    uint32_t sizes;                  /* bit by log2 of a size: there is a page of it */
    uint32_t count[PAGE_TAGS_SIZES]; /* pages by log2 of their size */
} page_tags;

/* LRU. Memory comes from the domain. */
ls_status page_tags_init(page_tags *p, uint32_t shift, uint64_t entries, uint64_t ways, ls_domain *domain);

/* The page of an address, used now; TAG_STORE_NONE: it is not known. */
uint32_t page_tags_find(page_tags *p, uint64_t address);
/* Notes a page, in place of pages that it overlaps and of another one of its set. Returns its entry. */
uint32_t page_tags_insert(page_tags *p, uint64_t address, uint32_t size_log2);
/* Forgets pages that have bytes of the range. */
void page_tags_forget(page_tags *p, uint64_t address, uint64_t bytes);

/* Of an entry that is not empty. */
static inline uint32_t page_tags_size_log2(const page_tags *p, uint32_t entry)
{
    uint32_t code = (uint32_t)(tag_store_key(&p->tags, entry) >> 56);
    return code != 0 ? code : p->shift;
}

static inline uint64_t page_tags_address(const page_tags *p, uint32_t entry)
{
    uint64_t number = tag_store_key(&p->tags, entry) & ((UINT64_C(1) << 56) - 1);
    return number << page_tags_size_log2(p, entry);
}

/* Rows of its state. */
#define PAGE_TAGS_ROWS 2
extern const struct ls_state_row page_tags_rows[PAGE_TAGS_ROWS];

#endif
