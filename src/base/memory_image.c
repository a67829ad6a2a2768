/* memory_image.c: see memory_image.h. Pages that the host has never given to the process are zero and are not touched:
 * the kernel's table of pages says which these are. Without that table all mapped pages are read. */
#include "base/memory_image.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 512u /* of the kernel's table that are read together */
#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_SWAPPED (UINT64_C(1) << 62)

typedef struct page_walk {
    int table; /* of the kernel; -1: it cannot be read */
    uint64_t entry[ENTRIES];
    uintptr_t first; /* host page of entry[0] */
    size_t count;
    size_t host_page;
} page_walk;

static void walk_begin(page_walk *walk)
{
    *walk = (page_walk){ .table = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) };
    walk->host_page = (size_t)sysconf(_SC_PAGESIZE);
}

static void walk_end(const page_walk *walk)
{
    if (walk->table >= 0)
        close(walk->table);
}

/* Whether the host has given memory for the page; true if that is not known. */
static bool is_touched(page_walk *walk, const uint8_t *page)
{
    uintptr_t number = (uintptr_t)page / walk->host_page;
    if (walk->table < 0 || walk->host_page != LS_PAGE_BYTES)
        return true;
    if (number - walk->first >= walk->count) {
        ssize_t got =
            pread(walk->table, walk->entry, sizeof walk->entry, (off_t)(number * sizeof walk->entry[0]));
        walk->first = number;
        walk->count = got > 0 ? (size_t)got / sizeof walk->entry[0] : 0;
        if (walk->count == 0)
            return true;
    }
    return (walk->entry[number - walk->first] & (ENTRY_PRESENT | ENTRY_SWAPPED)) != 0;
}

static bool is_zero(const uint8_t *page)
{
    const uint64_t *words = (const uint64_t *)(const void *)page;
    for (size_t i = 0; i < LS_PAGE_BYTES / sizeof *words; i += 8) {
        uint64_t any = 0;
        for (size_t k = 0; k < 8; k++)
            any |= words[i + k];
        if (any != 0)
            return false;
    }
    return true;
}

static bool put(memory_image_bytes *out, const void *data, size_t bytes)
{
    if (!vec_reserve(out, bytes))
        return false;
    memcpy(out->at + out->count, data, bytes);
    out->count += bytes;
    return true;
}

/* The mapped ranges; free them with vec_fini(). */
typedef LS_VEC(memory_extent) extent_list;

static bool list_extents(memory_space *space, extent_list *out)
{
    size_t count = address_space_extents(space, NULL, 0);
    if (!vec_reserve(out, count + 1))
        return false;
    out->count = address_space_extents(space, out->at, count);
    return true;
}

/* An image: pairs of an address and a page; a pair with address 0 and no page ends it. */
bool memory_image_save(memory_space *space, memory_image_bytes *out)
{
    extent_list extents = { 0 };
    page_walk walk;
    const uint64_t none = 0;
    bool ok = list_extents(space, &extents);
    walk_begin(&walk);
    for (size_t i = 0; i < extents.count && ok; i++) {
        const memory_extent *e = &extents.at[i];
        const uint8_t *host = address_space_host(space, e->start, e->end - e->start);
        for (uint64_t at = e->start; host != NULL && at < e->end && ok; at += LS_PAGE_BYTES) {
            const uint8_t *page = host + (at - e->start);
            if (is_touched(&walk, page) && !is_zero(page))
                ok = put(out, &at, sizeof at) && put(out, page, LS_PAGE_BYTES);
        }
    }
    walk_end(&walk);
    vec_fini(&extents);
    return ok && put(out, &none, sizeof none);
}

static uint64_t next_address(const uint8_t *at, const uint8_t *end)
{
    uint64_t address = 0;
    if ((size_t)(end - at) >= sizeof address)
        memcpy(&address, at, sizeof address);
    return address;
}

static ls_status damaged(ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "the saved memory does not fit the memory of this machine");
}

/* The pages of one mapped range, which follow each other in the image. */
static bool load_extent(page_walk *walk, const memory_extent *e, uint8_t *host, const uint8_t **at,
                        const uint8_t *end)
{
    for (uint64_t address = e->start; address < e->end; address += LS_PAGE_BYTES) {
        uint8_t *page = host + (address - e->start);
        if (next_address(*at, end) != address) {
            if (is_touched(walk, page) && !is_zero(page))
                memset(page, 0, LS_PAGE_BYTES);
            continue;
        }
        if ((size_t)(end - *at) < sizeof address + LS_PAGE_BYTES)
            return false;
        memcpy(page, *at + sizeof address, LS_PAGE_BYTES);
        *at += sizeof address + LS_PAGE_BYTES;
    }
    return true;
}

ls_status memory_image_load(memory_space *space, const uint8_t **at, const uint8_t *end, ls_error *err)
{
    extent_list extents = { 0 };
    page_walk walk;
    if (!list_extents(space, &extents)) {
        vec_fini(&extents);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    bool ok = true;
    walk_begin(&walk);
    for (size_t i = 0; i < extents.count && ok; i++) {
        const memory_extent *e = &extents.at[i];
        uint8_t *host = address_space_host(space, e->start, e->end - e->start);
        ok = host != NULL && load_extent(&walk, e, host, at, end);
    }
    walk_end(&walk);
    vec_fini(&extents);
    if (!ok || (size_t)(end - *at) < sizeof(uint64_t) || next_address(*at, end) != 0)
        return damaged(err);
    *at += sizeof(uint64_t);
    return LS_OK;
}
