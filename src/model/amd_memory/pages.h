/* pages.h: the page table of one GPU: every page lies where its address says. Machines of several GPUs bring a
 * table of their own. */
#ifndef MODEL_AMD_MEMORY_PAGES_H
#define MODEL_AMD_MEMORY_PAGES_H

#include "lockstep/tlb.h"

typedef ls_page line_page;
typedef ls_pages line_pages;

/* Addresses are places; all of it is GPU 0's. */
line_pages line_pages_identity(void);

#endif
