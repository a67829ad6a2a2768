/* svm.h: shared virtual memory: allocations that have the same address for the host and for kernels. The
 * host's pages lie at the numerical address of the simulated memory; mapping copies from one to the other. */
#ifndef OPENCL_SVM_H
#define OPENCL_SVM_H

#include "opencl/ocl.h"

/* Whether the host's address space has room where simulated addresses are. */
bool ocl_svm_possible(void);
/* Whether [pointer, pointer + bytes) lies in one SVM allocation of the context. */
bool ocl_svm_find(cl_context context, const void *pointer, size_t bytes);

#endif
