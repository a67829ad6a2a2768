/* address_space.h: simulated memory. One reserved range of host addresses stands for the addresses of a
 * simulated machine; host pages appear when they are touched. A table beside it says which pages are mapped,
 * so that even a wrong simulated address never reaches host memory outside of the range. Independent of the
 * simulated machine. */
#ifndef BASE_ADDRESS_SPACE_H
#define BASE_ADDRESS_SPACE_H

#include "lockstep/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LS_PAGE_SHIFT 12
#define LS_PAGE_BYTES 4096u
/* Simulated addresses begin here: a null pointer and small offsets from it are never mapped. */
#define LS_WINDOW_BASE 0x100000000u

enum { /* the state of a page; 0: unmapped */
       LS_PAGE_READ = 1u,
       LS_PAGE_WRITE = 2u, /* by simulated programs; the host writes read-only pages too (a loader must) */
};

typedef struct memory_space memory_space;

/* A run of mapped pages with one state, as large as it is known to be. */
typedef struct memory_extent {
    uint64_t start, end; /* simulated addresses, [start, end) */
    uint32_t state;      /* LS_PAGE_* */
} memory_extent;

/* Reserves `bytes` (rounded up to pages; 0: 64 GiB, or as much of it as the host gives) from
 * LS_WINDOW_BASE on. Costs no memory until pages are written. LS_ERR_NOMEM if the host refuses. */
ls_status address_space_create(uint64_t bytes, memory_space **out, ls_error *err);
/* The same with simulated addresses that are host addresses, too. LS_ERR_UNSUPPORTED if the process has something else
 * there. */
ls_status address_space_create_here(uint64_t bytes, memory_space **out, ls_error *err);
void address_space_destroy(memory_space *address_space);
uint64_t address_space_bytes(const memory_space *address_space);
/* Bytes that are mapped at present. */
uint64_t address_space_mapped_bytes(const memory_space *address_space);

/* Takes the lowest free range that fits. align: a power of two, at least a page is kept. The bytes read 0.
 * A page that is never mapped follows each allocation, so that running off its end is noticed. */
ls_status address_space_alloc(memory_space *address_space, uint64_t bytes, uint64_t align, uint32_t state,
                              uint64_t *out, ls_error *err);
/* Maps whole pages at a given address; they must be free. */
ls_status address_space_map(memory_space *address_space, uint64_t address, uint64_t bytes, uint32_t state,
                            ls_error *err);
/* Gives back what one alloc or map at `address` took; its host memory too. LS_ERR_USAGE if there is
 * nothing. */
ls_status address_space_free(memory_space *address_space, uint64_t address, ls_error *err);
/* Changes the state of mapped pages, for example to read-only after loading. */
ls_status address_space_protect(memory_space *address_space, uint64_t address, uint64_t bytes, uint32_t state,
                                ls_error *err);

/* Called with every change of page states, under the lock of the address space: state 0 is unmapped. NULL: nobody is. */
typedef void (*address_space_changed)(void *self, uint64_t address, uint64_t bytes, uint32_t state);
void address_space_watch(memory_space *address_space, address_space_changed changed, void *self);

/* The whole allocation around an address, or false. Threads may call it while others allocate. */
bool address_space_find(memory_space *address_space, uint64_t address, memory_extent *out);
/* The mapped ranges, by address: fills at most `capacity` and returns how many there are. */
size_t address_space_extents(memory_space *address_space, memory_extent *out, size_t capacity);
/* Rises with every free and protect: extents found before may be wrong. */
uint64_t address_space_generation(const memory_space *address_space);

/* The host's view of [address, address + bytes), or NULL if a page of it is not mapped. The pointer stays
 * good until the range is freed. */
void *address_space_host(const memory_space *address_space, uint64_t address, uint64_t bytes);
/* Copies between the host and the address space; LS_ERR_USAGE names the first address that is not mapped. */
ls_status address_space_read(const memory_space *address_space, uint64_t address, void *out, uint64_t bytes,
                             ls_error *err);
ls_status address_space_write(memory_space *address_space, uint64_t address, const void *data, uint64_t bytes,
                              ls_error *err);

/* --- for those who touch it a million times a second --- */

/* host[0] is LS_WINDOW_BASE; pages[i] the state of page i. Both never move. Pages that were ever mapped stay
 * accessible to the host, so that a stale extent is wrong but harmless. */
typedef struct address_space_view {
    uint8_t *host;
    const _Atomic uint8_t *pages;
    uint64_t bytes;
} address_space_view;
address_space_view address_space_look(const memory_space *address_space);

/* The state of the page of an address; 0 outside of the address space. */
static inline uint32_t address_space_state(const address_space_view *view, uint64_t address)
{
    uint64_t offset = address - LS_WINDOW_BASE;
    if (offset >= view->bytes)
        return 0;
    return atomic_load_explicit(&view->pages[offset >> LS_PAGE_SHIFT], memory_order_relaxed);
}

#endif
