/* shadow.c: see shadow.h: pages in a hash table that grows. */
#include "runtime/memcheck/shadow.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 1024u

static size_t bucket_of(const shadow *s, uint64_t number)
{
    return (number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->bucket_count - 1);
}

static bool grow(shadow *s)
{
    size_t count = s->bucket_count > 0 ? s->bucket_count * 2 : FIRST_BUCKETS;
    shadow_page **made = calloc(count, sizeof *made), **old = s->buckets;
    size_t old_count = s->bucket_count;
    if (!made)
        return false;
    s->buckets = made;
    s->bucket_count = count;
    s->bytes += (count - old_count) * sizeof(void *);
    for (size_t i = 0; i < old_count; i++)
        for (shadow_page *p = old[i], *next; p; p = next) {
            next = p->next;
            size_t to = bucket_of(s, p->number);
            p->next = made[to];
            made[to] = p;
        }
    free(old);
    return true;
}

static size_t unit_bytes(const shadow_page *p)
{
    return (LS_PAGE_BYTES >> p->shift) * sizeof *p->units;
}

shadow_page *shadow_find(shadow *s, uint64_t address, bool create)
{
    uint64_t number = address >> LS_PAGE_SHIFT;
    if (s->last && s->last->number == number)
        return s->last;
    for (shadow_page *p = s->bucket_count > 0 ? s->buckets[bucket_of(s, number)] : NULL; p; p = p->next)
        if (p->number == number)
            return s->last = p;
    if (!create || (s->page_count >= s->bucket_count && !grow(s)))
        return NULL;
    shadow_page *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->number = number;
    made->shift = 2;
    made->units = calloc(1, unit_bytes(made));
    if (!made->units) {
        free(made);
        return NULL;
    }
    size_t at = bucket_of(s, number);
    made->next = s->buckets[at];
    s->buckets[at] = made;
    s->page_count++;
    s->bytes += sizeof *made + unit_bytes(made);
    return s->last = made;
}

bool shadow_refine(shadow *s, shadow_page *page)
{
    if (page->shift == 0)
        return true;
    shadow_unit *made = malloc(LS_PAGE_BYTES * sizeof *made);
    if (!made)
        return false;
    for (size_t i = 0; i < LS_PAGE_BYTES; i++)
        made[i] = page->units[i >> page->shift];
    s->bytes += LS_PAGE_BYTES * sizeof *made - unit_bytes(page);
    free(page->units);
    page->units = made;
    page->shift = 0;
    return true;
}

void shadow_forget(shadow *s, uint64_t address, uint64_t bytes)
{
    for (uint64_t end = address + bytes; address < end;) {
        uint64_t page_end = (address | (LS_PAGE_BYTES - 1)) + 1, to = page_end < end ? page_end : end;
        shadow_page *p = shadow_find(s, address, false);
        for (; p && address < to; address++) {
            shadow_unknow(p, address);
            *shadow_at(p, address) = (shadow_unit){ 0 };
        }
        address = to;
    }
}

void shadow_fini(shadow *s)
{
    for (size_t i = 0; i < s->bucket_count; i++)
        for (shadow_page *p = s->buckets[i], *next; p; p = next) {
            next = p->next;
            free(p->units);
            free(p);
        }
    free(s->buckets);
    *s = (shadow){ 0 };
}
