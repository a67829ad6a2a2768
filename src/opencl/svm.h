/* svm.h: shared virtual memory: allocations that have the same address for the host and for kernels. The
 * host's pages lie at the numerical address of the simulated memory; mapping copies from one to the other. */
#ifndef OPENCL_SVM_H
#define OPENCL_SVM_H

#include "opencl/ocl.h"

/* Whether the host's address space has room where simulated addresses are. */
bool ocl_svm_possible(void);
/* Whether [pointer, pointer + bytes) lies in one SVM allocation of the context. */
bool ocl_svm_find(cl_context context, const void *pointer, size_t bytes);

/* --- svm_fine.c: fine-grained allocations. --- */

/* `bytes` of host pages at `start` and the device's at the same address become equal, and stay so around commands. */
bool ocl_svm_fine_add(cl_context context, uintptr_t start, size_t bytes);
void ocl_svm_fine_remove(uintptr_t start);
/* Before a command: the program's changes go to the device. After it: the other way. Without locks. */
cl_int ocl_svm_fine_give(cl_context context, ls_error *err);
cl_int ocl_svm_fine_take(cl_context context, ls_error *err);

#endif
