/* page_tags.c: see page_tags.h. A look-up tries each size that occurs. */
#include "model/amd_memory/page_tags.h"

#include "model/cache/tag_store_state.h"

ls_status page_tags_init(page_tags *p, uint32_t shift, uint64_t entries, uint64_t ways, ls_domain *domain)
{
    p->shift = shift;
    return tag_store_init_plain(&p->tags, entries / ways, ways, domain, NULL);
}

static uint64_t key_of(const page_tags *p, uint64_t address, uint32_t size_log2)
{
    return address >> size_log2 | (uint64_t)(size_log2 == p->shift ? 0 : size_log2) << 56;
}

uint32_t page_tags_find(page_tags *p, uint64_t address)
{
    for (uint32_t left = p->sizes; left != 0; left &= left - 1) {
        uint32_t at = tag_store_find(&p->tags, key_of(p, address, (uint32_t)__builtin_ctz(left)));
        if (at != TAG_STORE_NONE)
            return at;
    }
    return TAG_STORE_NONE;
}

static void forget_size(page_tags *p, uint32_t entry)
{
    uint32_t size = page_tags_size_log2(p, entry);
    if (--p->count[size] == 0)
        p->sizes &= ~(1u << size);
}

void page_tags_forget(page_tags *p, uint64_t address, uint64_t bytes)
{
    tag_store *s = &p->tags;
    for (uint32_t cursor = 0, i; s->present > 0 && (i = tag_store_walk(s, &cursor)) != TAG_STORE_NONE;
         cursor++) {
        if (!tag_store_has(s, i))
            continue;
        uint64_t first = page_tags_address(p, i), size = UINT64_C(1) << page_tags_size_log2(p, i);
        if (first < address + bytes && address < first + size) {
            forget_size(p, i);
            tag_store_drop(s, i);
        }
    }
}

uint32_t page_tags_insert(page_tags *p, uint64_t address, uint32_t size_log2)
{
    uint64_t key = key_of(p, address, size_log2);
    uint32_t at = tag_store_find(&p->tags, key);
    if (at != TAG_STORE_NONE)
        return at;
    if ((p->sizes & ~(1u << size_log2)) != 0)
        page_tags_forget(p, address >> size_log2 << size_log2, UINT64_C(1) << size_log2);
    at = tag_store_victim(&p->tags, tag_store_set_of(&p->tags, key));
    if (tag_store_has(&p->tags, at))
        forget_size(p, at);
    tag_store_place(&p->tags, at, key);
    p->count[size_log2]++;
    p->sizes |= 1u << size_log2;
    return at;
}

const ls_state_row page_tags_rows[PAGE_TAGS_ROWS] = {
    LS_STATE_PART(page_tags, tags, tag_store_rows),
    LS_STATE_DATA_SPAN(page_tags, shift, count),
};
