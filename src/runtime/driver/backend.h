/* backend.h: what executes the driver's commands: memory and launches of a machine with several GPUs. The
 * driver above it keeps contexts, queues, events and code objects; a back end knows none of them.
 * Emulation is one, timing will be another. */
#ifndef RUNTIME_DRIVER_BACKEND_H
#define RUNTIME_DRIVER_BACKEND_H

#include "isa/amd/amd.h"
#include "lockstep/driver.h"

typedef struct drv_machine {
    const ls_gpu_model *const *gpus;
    const uint64_t *memory_bytes; /* per GPU */
    size_t gpu_count;
    uint32_t threads;
    uint64_t max_instructions;
    bool lenient_barriers;
    const char *trace_path, *trace_filter;
    const char *record_path;
} drv_machine;

/* A kernel in simulated memory. */
typedef struct drv_code {
    const char *name;
    amd_target target;
    uint64_t code, code_bytes; /* the executable segment */
    uint64_t entry;
    uint32_t rsrc1, rsrc2, rsrc3, properties;
    uint32_t lds_bytes, scratch_bytes, kernarg_bytes;
} drv_code;

typedef struct drv_dispatch {
    uint32_t dims, grid[3], group[3]; /* none is 0 */
    uint32_t dynamic_lds_bytes;
    const void *kernarg; /* complete, hidden arguments too */
    uint32_t kernarg_bytes, kernarg_align;
    const char *kernel; /* for traces, as is the target */
    amd_target target;
} drv_dispatch;

/* What hidden arguments say about the GPU. */
typedef struct drv_facts {
    uint32_t shared_base_hi, private_base_hi; /* upper halves of flat addresses */
    uint64_t queue_address;
} drv_facts;

/* Commands of different GPUs may run at once, in different threads; those of one GPU do not. alloc, free and
 * protect may be called at any time. Addresses are the same for all GPUs. */
typedef struct drv_backend {
    const char *name;
    ls_status (*create)(const drv_machine *machine, void **self, ls_error *err);
    void (*destroy)(void *self);
    ls_status (*close_trace)(void *self, ls_error *err);

    ls_status (*alloc)(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err);
    ls_status (*free)(void *self, uint64_t address, ls_error *err);
    /* Whole pages become read-only for programs, after the host wrote them. */
    ls_status (*protect)(void *self, uint64_t address, uint64_t bytes, ls_error *err);
    ls_status (*write)(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
    ls_status (*read)(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err);
    ls_status (*copy)(void *self, size_t gpu, uint64_t to, uint64_t from, uint64_t bytes, ls_error *err);
    ls_status (*fill)(void *self, size_t gpu, uint64_t to, const void *pattern, size_t pattern_bytes,
                      uint64_t bytes, ls_error *err);

    void (*facts)(void *self, size_t gpu, drv_facts *out);
    /* Decodes; refuses what it cannot execute. */
    ls_status (*prepare)(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err);
    void (*release)(void *self, void *program);
    /* Adds to *counts, also when it fails. */
    ls_status (*run)(void *self, size_t gpu, void *program, const drv_dispatch *dispatch,
                     ls_gpu_counts *counts, ls_error *err);
} drv_backend;

extern const drv_backend drv_backend_emulate;

#endif
