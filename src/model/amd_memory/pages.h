/* pages.h: where pages lie: what page-table walkers ask. One GPU has every page where its address says;
 * machines of several GPUs bring a table of their own. */
#ifndef MODEL_AMD_MEMORY_PAGES_H
#define MODEL_AMD_MEMORY_PAGES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct line_page {
    uint64_t physical; /* address of the page */
    uint32_t gpu;      /* whose memory it is in */
    uint32_t unused;
} line_page;

/* A table that does not change while the machine runs. */
typedef struct line_pages {
    line_page (*look)(void *self, uint64_t address); /* address: of the page */
    void *self;
} line_pages;

/* Addresses are places; all of it is GPU 0's. */
line_pages line_pages_identity(void);

#endif
