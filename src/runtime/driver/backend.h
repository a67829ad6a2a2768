/* backend.h: the interface that executes the driver's commands: memory and launches of a machine with several
 * GPUs. The driver above it has contexts, queues, events and code objects; a back end does not see them. There
 * are two. Emulation (backend_emulate.c) runs a command to its end at once. Timing (src/runtime/timing)
 * submits commands, which advance together in simulated time. */
#ifndef RUNTIME_DRIVER_BACKEND_H
#define RUNTIME_DRIVER_BACKEND_H

#include "isa/amd/amd.h"
#include "lockstep/driver.h"

/* How the unified device divides work-groups: consecutive ones for each GPU, in turn, or by GPU 0's dispatcher. */
typedef enum drv_spread { DRV_SPREAD_BLOCKED, DRV_SPREAD_INTERLEAVED, DRV_SPREAD_CENTRAL } drv_spread;

typedef struct drv_machine {
    const ls_gpu_model *const *gpus;
    const uint64_t *memory_bytes; /* per GPU */
    size_t gpu_count;
    uint32_t threads;
    uint64_t max_instructions;
    bool lenient_barriers, strict, host_addresses;
    const char *trace_path, *trace_filter;
    const char *record_path;
    /* Timing. gpus is NULL then: the platform says what it is, target which instruction set programs have
     * (NULL: the platform's own). */
    const char *platform, *target;
    const char *const *sets, *const *platform_dirs;
    size_t set_count, platform_dir_count;
    uint64_t seed;
    uint32_t platform_gpus;
    const char *on;
    bool check_memory;                      /* compare reads with the last writes */
    bool unified;                           /* there is one more device, of all GPUs: number gpu_count */
    drv_spread spread;                      /* of its work-groups */
    const struct ls_gpu_debugger *debugger; /* NULL: none */
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
    ls_groups which;                  /* of the work-groups: those that run; all zero: all */
    uint32_t dynamic_lds_bytes;
    uint32_t first_unit, unit_count; /* compute units that may have them; unit_count 0: all */
    const void *kernarg;             /* complete, hidden arguments too */
    uint32_t kernarg_bytes, kernarg_align;
    const char *kernel; /* for traces, as is the target */
    amd_target target;
    const ls_gpu_kernel *origin; /* the driver's kernel, for messages and debuggers; NULL: not known */
} drv_dispatch;

/* Facts about the GPU for hidden arguments. */
typedef struct drv_facts {
    uint32_t shared_base_hi, private_base_hi; /* upper halves of flat addresses */
    uint64_t queue_address;
} drv_facts;

typedef enum drv_work_kind {
    DRV_WORK_LAUNCH,
    DRV_WORK_IN,
    DRV_WORK_OUT,
    DRV_WORK_COPY,
    DRV_WORK_FILL,
} drv_work_kind;

/* A command that was submitted; the driver's memory, until it is over. */
typedef struct drv_work {
    drv_work_kind kind;
    size_t gpu;
    void *program;
    const drv_dispatch *dispatch;
    uint64_t to, from, bytes;
    const void *host_from;
    void *host_to;
    const void *pattern;
    size_t pattern_bytes;
    /* The answer. */
    bool is_over;
    ls_status status;
    ls_error failure; /* unless the status is LS_OK */
    ls_gpu_counts counts;
    uint64_t began_ns, ended_ns; /* simulated */
    uint32_t checked;            /* the back end's: its number in the memory checker */
} drv_work;

/* A range of pages that get places; see drv_backend.place. */
typedef struct drv_placement {
    uint64_t address;
    size_t pages;
    const uint16_t *gpus; /* of each page */
    bool is_fresh;        /* nothing has been written to it: its content need not move */
} drv_placement;

/* Commands of different GPUs may run at once, in different threads; those of one GPU do not. alloc, free and
 * protect may be called at any time. Addresses are the same for all GPUs. */
typedef struct drv_backend {
    const char *name;
    ls_status (*create)(const drv_machine *machine, void **self, ls_error *err);
    void (*destroy)(void *self);
    ls_status (*close_trace)(void *self, ls_error *err);

    ls_status (*alloc)(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err);
    /* NULL: allocations are as good as that. Memory of the host that all GPUs reach. */
    ls_status (*host_alloc)(void *self, uint64_t bytes, uint64_t *address, ls_error *err);
    bool (*has_host)(void *self);
    /* NULL is fine. The exact size of an allocation: programs may use no byte beyond it. */
    ls_status (*bound)(void *self, uint64_t address, uint64_t bytes, ls_error *err);
    /* NULL is fine. The allocation has a defined content: zeros. */
    ls_status (*zeroed)(void *self, uint64_t address, uint64_t bytes, ls_error *err);
    ls_status (*free)(void *self, uint64_t address, ls_error *err);
    /* Whole pages become read-only for programs, after the host wrote them. */
    ls_status (*protect)(void *self, uint64_t address, uint64_t bytes, ls_error *err);
    /* NULL, here and below: pages never move by themselves. Called after alloc, for all but code. */
    ls_status (*manage)(void *self, uint64_t address, uint64_t bytes, bool first_touch, ls_error *err);
    /* The GPU that has a page now, or LS_GPU_ON_HOST; SIZE_MAX: the page stays where the driver put it. */
    size_t (*place_now)(void *self, uint64_t address);
    /* NULL, here and below: memory has no places. Bytes of a page that can be placed. */
    uint64_t (*page_bytes)(void *self);
    /* Bytes that the unified device places together: a page, or more where pages of several sizes move. NULL: a page. */
    uint64_t (*turn_bytes)(void *self);
    /* Moves whole pages of one allocation to GPUs, with their content. No command uses them now. */
    ls_status (*place)(void *self, const drv_placement *placement, ls_error *err);
    bool (*reaches)(void *self); /* kernels may use memory of other GPUs; NULL: they may */
    /* Read-only pages of the unified device: every GPU gets a copy. They begin with these bytes. */
    ls_status (*replicate)(void *self, uint64_t address, uint64_t bytes, const void *data, uint64_t data_bytes,
                           ls_error *err);
    /* An image into memory that nothing has used since it was allocated. */
    ls_status (*load)(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
    ls_status (*write)(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
    ls_status (*read)(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err);
    /* NULL: as read and write. In no simulated time, also while commands are under way. */
    ls_status (*look)(void *self, void *to, uint64_t from, uint64_t bytes, ls_error *err);
    ls_status (*patch)(void *self, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
    ls_status (*copy)(void *self, size_t gpu, uint64_t to, uint64_t from, uint64_t bytes, ls_error *err);
    ls_status (*fill)(void *self, size_t gpu, uint64_t to, const void *pattern, size_t pattern_bytes,
                      uint64_t bytes, ls_error *err);

    void (*facts)(void *self, size_t gpu, drv_facts *out);
    /* Decodes the kernel; refuses instructions without a body. */
    ls_status (*prepare)(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err);
    void (*release)(void *self, void *program);
    /* Adds to *counts, also when it fails. */
    ls_status (*run)(void *self, size_t gpu, void *program, const drv_dispatch *dispatch,
                     ls_gpu_counts *counts, ls_error *err);

    /* --- timing only, else NULL ------------------------------------------------------------------------- */

    /* The driver does not call run, copy and fill of a back end that has these. One thread at a time submits and
     * advances. Write and read are accesses of the host outside of all queues. */

    size_t (*gpu_count)(void *self); /* the platform says how many there are */
    const ls_gpu_model *(*model)(void *self, size_t gpu);
    /* Starts it; it runs beside everything that was submitted and is not over. */
    ls_status (*submit)(void *self, drv_work *work, ls_error *err);
    /* Lets time pass until one or more of the submitted commands are over. Fails if time cannot pass: then
     * nothing that was submitted will ever be over, and all of it is forgotten. */
    ls_status (*advance)(void *self, ls_error *err);
    uint64_t (*now)(void *self);                           /* simulated nanoseconds */
    bool (*checked)(void *self, ls_gpu_memory_check *out); /* false: memory is not checked */
} drv_backend;

extern const drv_backend drv_backend_emulate;
extern const drv_backend drv_backend_time;

#endif
