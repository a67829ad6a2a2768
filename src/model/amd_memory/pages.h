/* pages.h: the page table of one GPU: every page lies where its address says. Machines of several GPUs bring a
 * table of their own. */
#ifndef MODEL_AMD_MEMORY_PAGES_H
#define MODEL_AMD_MEMORY_PAGES_H

#include "lockstep/tlb.h"

/* Addresses are places; all of it is GPU 0's. */
ls_pages line_pages_identity(void);

#endif
