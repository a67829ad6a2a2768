/* address_space.c: the reserved range, the state of its pages and the list of allocations. Touches no host
 * memory but its own two mappings. */
#include "base/address_space.h"

#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WINDOW_DEFAULT_BYTES (64ull << 30)
#define WINDOW_LEAST_BYTES (64ull << 20)
#define WINDOW_MOST_BYTES (64ull << 40)

struct memory_space {
    uint8_t *host;
    _Atomic uint8_t *pages;
    uint64_t bytes;
    uint64_t mapped;
    _Atomic uint64_t generation;
    pthread_mutex_t lock;          /* guards extents and mapped */
    LS_VEC(memory_extent) extents; /* by address; one per alloc or map */
    address_space_changed changed; /* NULL: nobody watches */
    void *changed_self;
};

/* --- life ----------------------------------------------------------------------------------------------- */

static void *space_reserve(uint64_t bytes, int protection)
{
    void *at = mmap(NULL, (size_t)bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void *space_reserve_here(uint64_t bytes)
{
    void *wanted = (void *)(uintptr_t)LS_WINDOW_BASE;
    void *at = mmap(wanted, (size_t)bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == wanted)
        return at;
    if (at != MAP_FAILED)
        munmap(at, (size_t)bytes); /* kernels that do not know the flag */
    return NULL;
}

static ls_status space_create(uint64_t bytes, bool here, memory_space **out, ls_error *err)
{
    bool any = bytes == 0;
    if (any)
        bytes = WINDOW_DEFAULT_BYTES;
    if (bytes > WINDOW_MOST_BYTES)
        return ls_fail(err, LS_ERR_USAGE, "a simulated memory of %llu bytes is too large (at most 64 TiB)",
                       (unsigned long long)bytes);
    bytes = (bytes + LS_PAGE_BYTES - 1) & ~(uint64_t)(LS_PAGE_BYTES - 1);
    memory_space *address_space = calloc(1, sizeof *address_space);
    if (!address_space)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the simulated memory");
    for (;;) {
        address_space->host = here ? space_reserve_here(bytes) : space_reserve(bytes, PROT_NONE);
        if (address_space->host || !any || bytes / 2 < WINDOW_LEAST_BYTES)
            break;
        bytes /= 2;
    }
    address_space->bytes = bytes;
    if (address_space->host)
        address_space->pages = space_reserve(bytes >> LS_PAGE_SHIFT, PROT_READ | PROT_WRITE);
    if (!address_space->pages || pthread_mutex_init(&address_space->lock, NULL) != 0) {
        bool taken = here && !address_space->host;
        if (address_space->host)
            munmap(address_space->host, (size_t)bytes);
        if (address_space->pages)
            munmap((void *)address_space->pages, (size_t)(bytes >> LS_PAGE_SHIFT));
        free(address_space);
        if (taken)
            return ls_fail(err, LS_ERR_UNSUPPORTED,
                           "the %llu MiB from 0x%llx on are not free in this process: no shared addresses",
                           (unsigned long long)(bytes >> 20), (unsigned long long)LS_WINDOW_BASE);
        return ls_fail(err, LS_ERR_NOMEM, "the host cannot reserve %llu MiB of addresses for simulated memory",
                       (unsigned long long)(bytes >> 20));
    }
    /* Large pages would make a byte cost 2 MiB. */
    madvise(address_space->host, (size_t)bytes, MADV_NOHUGEPAGE);
    *out = address_space;
    return LS_OK;
}

ls_status address_space_create(uint64_t bytes, memory_space **out, ls_error *err)
{
    return space_create(bytes, false, out, err);
}

ls_status address_space_create_here(uint64_t bytes, memory_space **out, ls_error *err)
{
    return space_create(bytes, true, out, err);
}

void address_space_destroy(memory_space *address_space)
{
    if (!address_space)
        return;
    munmap(address_space->host, (size_t)address_space->bytes);
    munmap((void *)address_space->pages, (size_t)(address_space->bytes >> LS_PAGE_SHIFT));
    pthread_mutex_destroy(&address_space->lock);
    vec_fini(&address_space->extents);
    free(address_space);
}

uint64_t address_space_bytes(const memory_space *address_space)
{
    return address_space->bytes;
}

uint64_t address_space_mapped_bytes(const memory_space *address_space)
{
    memory_space *open = (memory_space *)address_space;
    pthread_mutex_lock(&open->lock);
    uint64_t mapped = address_space->mapped;
    pthread_mutex_unlock(&open->lock);
    return mapped;
}

/* --- extents -------------------------------------------------------------------------------------------- */

/* The first extent that ends after the address. */
static size_t space_place(const memory_space *address_space, uint64_t address)
{
    size_t low = 0, high = address_space->extents.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address_space->extents.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void space_mark(memory_space *address_space, uint64_t start, uint64_t end, uint32_t state)
{
    for (uint64_t page = (start - LS_WINDOW_BASE) >> LS_PAGE_SHIFT;
         page < (end - LS_WINDOW_BASE) >> LS_PAGE_SHIFT; page++)
        atomic_store_explicit(&address_space->pages[page], (uint8_t)state, memory_order_relaxed);
    if (address_space->changed)
        address_space->changed(address_space->changed_self, start, end - start, state);
}

void address_space_watch(memory_space *address_space, address_space_changed changed, void *self)
{
    pthread_mutex_lock(&address_space->lock);
    address_space->changed = changed;
    address_space->changed_self = self;
    pthread_mutex_unlock(&address_space->lock);
}

static bool space_whole(const memory_space *address_space, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - LS_WINDOW_BASE;
    return bytes > 0 && address >= LS_WINDOW_BASE && offset < address_space->bytes &&
           bytes <= address_space->bytes - offset;
}

/* Called with the lock held; [start, end) is free and in the address space, `at` is its place in the list. */
static ls_status space_insert(memory_space *address_space, size_t at, uint64_t start, uint64_t end,
                              uint32_t state, ls_error *err)
{
    if (!vec_reserve(&address_space->extents, 1))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the list of allocations");
    uint8_t *host = address_space->host + (start - LS_WINDOW_BASE);
    if (mprotect(host, (size_t)(end - start), PROT_READ | PROT_WRITE) != 0)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory for %llu simulated bytes",
                       (unsigned long long)(end - start));
    memory_extent *extents = address_space->extents.at;
    memmove(extents + at + 1, extents + at, (address_space->extents.count - at) * sizeof *extents);
    extents[at] = (memory_extent){ .start = start, .end = end, .state = state };
    address_space->extents.count++;
    address_space->mapped += end - start;
    space_mark(address_space, start, end, state);
    return LS_OK;
}

static ls_status space_alloc_locked(memory_space *address_space, uint64_t bytes, uint64_t align,
                                    uint32_t state, uint64_t *out, ls_error *err)
{
    uint64_t limit = LS_WINDOW_BASE + address_space->bytes;
    uint64_t start = LS_WINDOW_BASE;
    for (size_t i = 0; i <= address_space->extents.count; i++) {
        uint64_t next = i < address_space->extents.count ? address_space->extents.at[i].start : limit;
        start = (start + align - 1) & ~(align - 1);
        if (start < next && next - start >= bytes + LS_PAGE_BYTES) {
            ls_status status = space_insert(address_space, i, start, start + bytes, state, err);
            if (status == LS_OK)
                *out = start;
            return status;
        }
        if (i < address_space->extents.count)
            start = address_space->extents.at[i].end + LS_PAGE_BYTES;
    }
    return ls_fail(err, LS_ERR_NOMEM, "no %llu free bytes in the simulated memory of %llu MiB",
                   (unsigned long long)bytes, (unsigned long long)(address_space->bytes >> 20));
}

ls_status address_space_alloc(memory_space *address_space, uint64_t bytes, uint64_t align, uint32_t state,
                              uint64_t *out, ls_error *err)
{
    if (align < LS_PAGE_BYTES)
        align = LS_PAGE_BYTES;
    if (bytes > address_space->bytes || align > address_space->bytes)
        return ls_fail(err, LS_ERR_NOMEM, "%llu bytes do not fit into the simulated memory of %llu MiB",
                       (unsigned long long)bytes, (unsigned long long)(address_space->bytes >> 20));
    if ((align & (align - 1)) != 0)
        return ls_fail(err, LS_ERR_USAGE, "the alignment %llu is not a power of two",
                       (unsigned long long)align);
    if (bytes == 0)
        bytes = 1;
    bytes = (bytes + LS_PAGE_BYTES - 1) & ~(uint64_t)(LS_PAGE_BYTES - 1);
    pthread_mutex_lock(&address_space->lock);
    ls_status status = space_alloc_locked(address_space, bytes, align, state, out, err);
    pthread_mutex_unlock(&address_space->lock);
    return status;
}

ls_status address_space_map(memory_space *address_space, uint64_t address, uint64_t bytes, uint32_t state,
                            ls_error *err)
{
    if (!space_whole(address_space, address, bytes) || ((address | bytes) & (LS_PAGE_BYTES - 1)) != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "0x%llx with %llu bytes is no range of pages in the simulated memory",
                       (unsigned long long)address, (unsigned long long)bytes);
    pthread_mutex_lock(&address_space->lock);
    size_t at = space_place(address_space, address);
    ls_status status;
    if (at < address_space->extents.count && address_space->extents.at[at].start < address + bytes)
        status = ls_fail(err, LS_ERR_USAGE, "0x%llx is already mapped",
                         (unsigned long long)address_space->extents.at[at].start);
    else
        status = space_insert(address_space, at, address, address + bytes, state, err);
    pthread_mutex_unlock(&address_space->lock);
    return status;
}

ls_status address_space_free(memory_space *address_space, uint64_t address, ls_error *err)
{
    pthread_mutex_lock(&address_space->lock);
    size_t at = space_place(address_space, address);
    if (at >= address_space->extents.count || address_space->extents.at[at].start != address) {
        pthread_mutex_unlock(&address_space->lock);
        return ls_fail(err, LS_ERR_USAGE, "nothing was allocated at 0x%llx", (unsigned long long)address);
    }
    memory_extent gone = address_space->extents.at[at];
    space_mark(address_space, gone.start, gone.end, 0);
    /* The pages read 0 again, and the host gets its memory back. */
    madvise(address_space->host + (gone.start - LS_WINDOW_BASE), (size_t)(gone.end - gone.start),
            MADV_DONTNEED);
    memmove(address_space->extents.at + at, address_space->extents.at + at + 1,
            (address_space->extents.count - at - 1) * sizeof *address_space->extents.at);
    address_space->extents.count--;
    address_space->mapped -= gone.end - gone.start;
    atomic_fetch_add(&address_space->generation, 1);
    pthread_mutex_unlock(&address_space->lock);
    return LS_OK;
}

/* Splits extents at the ends of the range: an extent has one state. */
static bool space_split(memory_space *address_space, uint64_t address)
{
    size_t at = space_place(address_space, address);
    if (at >= address_space->extents.count || address_space->extents.at[at].start >= address)
        return true;
    if (!vec_reserve(&address_space->extents, 1))
        return false;
    memory_extent *extents = address_space->extents.at;
    memmove(extents + at + 1, extents + at, (address_space->extents.count - at) * sizeof *extents);
    extents[at].end = address;
    extents[at + 1].start = address;
    address_space->extents.count++;
    return true;
}

ls_status address_space_protect(memory_space *address_space, uint64_t address, uint64_t bytes, uint32_t state,
                                ls_error *err)
{
    if (state == 0 || !space_whole(address_space, address, bytes) ||
        ((address | bytes) & (LS_PAGE_BYTES - 1)) != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "0x%llx with %llu bytes is no range of pages in the simulated memory",
                       (unsigned long long)address, (unsigned long long)bytes);
    if (!address_space_host(address_space, address, bytes))
        return ls_fail(err, LS_ERR_USAGE, "not all of 0x%llx with %llu bytes is mapped",
                       (unsigned long long)address, (unsigned long long)bytes);
    pthread_mutex_lock(&address_space->lock);
    ls_status status = LS_OK;
    if (!space_split(address_space, address) || !space_split(address_space, address + bytes)) {
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the list of allocations");
    } else {
        for (size_t i = space_place(address_space, address);
             i < address_space->extents.count && address_space->extents.at[i].start < address + bytes; i++)
            address_space->extents.at[i].state = state;
        space_mark(address_space, address, address + bytes, state);
        atomic_fetch_add(&address_space->generation, 1);
    }
    pthread_mutex_unlock(&address_space->lock);
    return status;
}

bool address_space_find(memory_space *address_space, uint64_t address, memory_extent *out)
{
    pthread_mutex_lock(&address_space->lock);
    size_t at = space_place(address_space, address);
    bool found = at < address_space->extents.count && address_space->extents.at[at].start <= address;
    if (found)
        *out = address_space->extents.at[at];
    pthread_mutex_unlock(&address_space->lock);
    return found;
}

size_t address_space_extents(memory_space *address_space, memory_extent *out, size_t capacity)
{
    pthread_mutex_lock(&address_space->lock);
    size_t count = address_space->extents.count;
    if (count > 0 && capacity > 0)
        memcpy(out, address_space->extents.at, (count < capacity ? count : capacity) * sizeof *out);
    pthread_mutex_unlock(&address_space->lock);
    return count;
}

uint64_t address_space_generation(const memory_space *address_space)
{
    return atomic_load(&address_space->generation);
}

/* --- the host's view ------------------------------------------------------------------------------------ */

address_space_view address_space_look(const memory_space *address_space)
{
    return (address_space_view){ .host = address_space->host,
                                 .pages = address_space->pages,
                                 .bytes = address_space->bytes };
}

/* The first address of the range that is not mapped, or its end. */
static uint64_t space_hole(const memory_space *address_space, uint64_t address, uint64_t bytes)
{
    address_space_view view = address_space_look(address_space);
    uint64_t end = address + bytes;
    for (uint64_t at = address; at < end; at = (at | (LS_PAGE_BYTES - 1)) + 1)
        if (address_space_state(&view, at) == 0)
            return at;
    return end;
}

void *address_space_host(const memory_space *address_space, uint64_t address, uint64_t bytes)
{
    if (!space_whole(address_space, address, bytes) ||
        space_hole(address_space, address, bytes) != address + bytes)
        return NULL;
    return address_space->host + (address - LS_WINDOW_BASE);
}

static ls_status space_refuse(const memory_space *address_space, uint64_t address, uint64_t bytes,
                              ls_error *err)
{
    uint64_t hole = address;
    if (space_whole(address_space, address, bytes))
        hole = space_hole(address_space, address, bytes);
    return ls_fail(err, LS_ERR_USAGE, "0x%llx is not mapped (access to 0x%llx with %llu bytes)",
                   (unsigned long long)hole, (unsigned long long)address, (unsigned long long)bytes);
}

ls_status address_space_read(const memory_space *address_space, uint64_t address, void *out, uint64_t bytes,
                             ls_error *err)
{
    if (bytes == 0)
        return LS_OK;
    const void *host = address_space_host(address_space, address, bytes);
    if (!host)
        return space_refuse(address_space, address, bytes, err);
    memcpy(out, host, (size_t)bytes);
    return LS_OK;
}

ls_status address_space_write(memory_space *address_space, uint64_t address, const void *data, uint64_t bytes,
                              ls_error *err)
{
    if (bytes == 0)
        return LS_OK;
    void *host = address_space_host(address_space, address, bytes);
    if (!host)
        return space_refuse(address_space, address, bytes, err);
    memcpy(host, data, (size_t)bytes);
    return LS_OK;
}
