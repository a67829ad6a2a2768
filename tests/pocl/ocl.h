/* ocl.h: a CPU device of the installed OpenCL (PoCL), as an oracle that is not ours. Everything is shared
 * virtual memory, so that a buffer's address is a plain pointer of this process and kernels take the same
 * packed values as on the simulator. */
#ifndef POCL_OCL_H
#define POCL_OCL_H

#include "lockstep/driver.h"

typedef struct ocl_device ocl_device;
typedef struct ocl_program ocl_program;

/* LS_ERR_UNSUPPORTED if there is no PoCL. */
ls_status ocl_open(ocl_device **out, ls_error *err);
void ocl_close(ocl_device *device);

/* A zeroed buffer; NULL if there is no memory. */
void *ocl_alloc(ocl_device *device, size_t bytes);
void ocl_free(ocl_device *device, void *buffer);

ls_status ocl_build(ocl_device *device, const char *source, size_t bytes, const char *options,
                    ocl_program **out, ls_error *err);
void ocl_program_free(ocl_program *program);

/* Names and arguments of the kernels; texts live as long as the program. */
typedef enum ocl_space { OCL_PRIVATE, OCL_GLOBAL, OCL_CONSTANT, OCL_LOCAL } ocl_space;
#define OCL_ARGS_MAX 24
typedef struct ocl_kernel_info {
    char name[64];
    uint32_t required_group[3]; /* 0: any */
    size_t arg_count;
    struct {
        char name[32], type[32];
        ocl_space space;
    } args[OCL_ARGS_MAX];
} ocl_kernel_info;
size_t ocl_kernel_count(const ocl_program *program);
ls_status ocl_kernel_get_info(ocl_program *program, size_t index, ocl_kernel_info *out, ls_error *err);

/* Runs a kernel and waits for it. */
ls_status ocl_run(ocl_program *program, const char *kernel, const uint32_t grid[3], const uint32_t group[3],
                  const ls_gpu_arg *args, size_t arg_count, ls_error *err);

#endif
