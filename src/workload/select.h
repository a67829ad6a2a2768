/* select.h: which kernels of a trace are meant: "3-7,12,name:*gemm*".
 *
 * Terms are separated by commas; a kernel is chosen if any of them matches. N and N-M count the kernels of
 * the list from 1, as `lockstep trace info` shows them; N- and -M are open ranges. name:GLOB compares
 * kernel names with * and ?. A term that matches nothing is an error: it is a slip more often than a wish. */
#ifndef WORKLOAD_SELECT_H
#define WORKLOAD_SELECT_H

#include "workload/trace.h"

typedef struct selected_kernel {
    uint64_t command; /* index for trace_open_kernel() */
    uint64_t number;  /* of the kernel in the list, from 1 */
} selected_kernel;

typedef struct kernel_selection {
    selected_kernel *at; /* in the order of the list */
    size_t count;
} kernel_selection;

/* text NULL chooses all kernels. Names are read from the kernels' headers only if a term needs them. */
ls_status select_kernels(sass_trace *trace, const char *text, kernel_selection *out, ls_error *err);
/* The same for anything that has names: kernel i, from 0, is the command of its number. */
ls_status select_named(uint64_t count, const char *(*name_at)(const void *self, uint64_t i), const void *self,
                       const char *text, kernel_selection *out, ls_error *err);
/* The place of a command in a selection; its count: it is not selected. A selection that is NULL has all. */
size_t selection_find(const kernel_selection *selection, uint64_t command);
void selection_fini(kernel_selection *selection);

#endif
