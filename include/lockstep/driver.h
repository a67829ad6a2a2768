/* driver.h: running programs on simulated AMD GPUs: devices, memory, code objects, launches, queues, events.
 *
 *     system    a machine with one or more simulated GPUs
 *     context   a client of the machine: its selected GPU, allocations, modules and queues
 *     module    a code object loaded into a GPU's memory; kernels are found in it by name
 *     queue     commands that run in order, or without one if the queue is unordered; several queues of one GPU
 *               run independently of each other
 *     event     one command's state: pending, running, done or failed with the fault's text
 *
 * Calls without a queue in their name are blocking: they return when they are done, and do not wait for
 * queues. Calls of a queue return at once; host memory that they name must stay valid until the command is
 * done. Everything may be called from several threads at once, except destroying what another call still
 * uses. A failed command fails the pending rest of its queue; ls_gpu_queue_sync() reports the first
 * failure once, and the queue is usable again. */
#ifndef LOCKSTEP_DRIVER_H
#define LOCKSTEP_DRIVER_H

#include "lockstep/counts.h"
#include "lockstep/groups.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ls_gpu_system ls_gpu_system;
typedef struct ls_gpu_context ls_gpu_context;
typedef struct ls_gpu_module ls_gpu_module;
typedef struct ls_gpu_kernel ls_gpu_kernel; /* belongs to its module */
typedef struct ls_gpu_queue ls_gpu_queue;
typedef struct ls_gpu_event ls_gpu_event;

typedef uint64_t ls_gpu_address; /* in the simulated GPU's memory; 0 is never a valid one */

/* ----------------------------------------------------------------------------------------------- systems */

typedef struct ls_gpu_options {
    const char *const *gpus; /* names of ls_gpu_model(); NULL: one gfx1030 */
    size_t gpu_count;
    uint64_t memory_bytes;     /* of each GPU; 0: the model's size */
    uint32_t threads;          /* of the host for one launch; 0: 1. The result does not depend on it */
    uint64_t max_instructions; /* of one wavefront before the launch is stopped; 0: no limit */
    /* How commands are executed: "emulate" or NULL computes results and counts instructions; "time" also
     * simulates durations. */
    const char *mode;
    /* Waves that have ended count as arrived at a barrier, as on hardware; otherwise that is a fault. */
    bool lenient_barriers;
    /* Mode "emulate" only: a launch fails at the first error of three kinds. These are an access to a byte
     * outside of every live allocation, use of a value that depends on unwritten registers or memory, and a
     * race between waves. Launches then use one thread, and take many times as long. */
    bool strict;
    /* JSON lines, one per executed wavefront instruction with the registers that it wrote; NULL: none. The
     * file appears with ls_gpu_system_close_trace(). The filter is "group=X,Y,Z", "wave=N", "pc=FROM-TO"
     * and "kernel=NAME" in any number and order, separated by spaces; NULL: everything. Launches then use
     * one thread. */
    const char *trace_path, *trace_filter;
    /* Path of a packed recording of all wavefronts, without data, that can be run again on any platform; NULL:
     * none. The file appears with ls_gpu_system_close_trace(), unless a launch failed. */
    const char *record_path;
    /* Mode "time", which it implies: the platform, by the name of a file in the search path or its path; NULL:
     * one with the instruction set of gpus. It says how many GPUs there are; gpus, if given, has one element: the
     * instruction set that programs are for ("gfx803" also on RDNA, "gfx1010" also on GCN). Commands begin when the program waits,
     * all ready ones together, and events have simulated times. */
    const char *platform;
    const char *const *sets; /* "key=value": overrides of the platform's keys; of equal ones the last counts */
    size_t set_count;
    const char *const *platform_dirs; /* searched first */
    size_t platform_dir_count;
    uint64_t seed; /* of the machine's random streams */
    /* A platform may be a system of several GPUs (machine `system`), or platform_gpus (not 0) makes one of a platform
     * of one GPU. Programs see all of its AMD GPUs, in their order. `on` names one of them, as in "gpu1": then they
     * see that one only. */
    uint32_t platform_gpus;
    const char *on;
    /* One more device: all GPUs as one, see ls_gpu_system_unified(). The GPUs must be of one kind and, in simulated
     * time, on a fabric. */
    bool unified;
    const char *spread; /* of its work-groups over GPUs: "blocked" (as NULL): parts that follow each other;
                         * "interleaved": in turn; "central": GPU 0 places them on the compute units of all */
    const char
        *pages; /* of its memory: "interleaved" (as NULL): page by page in turn; "blocked": parts of each
                         * allocation; "one": GPU 0; "first-touch": the GPU that uses it first (of a system whose
                         * pages move: slot `migrate`; until then it lies on the host) */
    /* Mode "time" only: every read of kernels and copies is compared with the last write that happened before it. A wrong
     * value ends the program with LS_ERR_CHECK; races are counted and reported as warnings. Times do not change. */
    bool check_memory;
    /* The debugger of `lockstep debug`, which stops launches; NULL: none. Not for other programs. */
    const struct ls_gpu_debugger *debugger;
    /* Mode "emulate" only, and without effect in mode "time": simulated addresses are pointers of this process too. Kernels
     * and the program then share all memory. LS_ERR_UNSUPPORTED if the process has something else at those addresses. */
    bool host_addresses;
} ls_gpu_options;

/* A GPU that can be simulated. */
typedef struct ls_gpu_model {
    const char *name;   /* "gfx1010" */
    const char *target; /* the processor that code objects name: "gfx1010" */
    const char *help;   /* one line */
    uint64_t memory_bytes;
    uint32_t lds_bytes;      /* largest per work-group */
    uint32_t group_size_max; /* work-items of one work-group */
    uint32_t compute_units;
    uint32_t wave_sizes; /* 64, or 32 | 64 */
    uint32_t wave_size;  /* wavefront size that compilers choose for it */
    uint32_t clock_mhz;
} ls_gpu_model;

LS_API size_t ls_gpu_model_count(void);
LS_API const ls_gpu_model *ls_gpu_model_at(size_t index); /* NULL beyond the last */

/* options NULL: one GPU with default settings. */
LS_API ls_status ls_gpu_system_create(const ls_gpu_options *options, ls_gpu_system **out, ls_error *err);
/* Its contexts must be destroyed before. NULL is fine, here and in every other destroy. */
LS_API void ls_gpu_system_destroy(ls_gpu_system *system);
LS_API size_t ls_gpu_system_gpu_count(const ls_gpu_system *system);
LS_API const ls_gpu_model *ls_gpu_system_gpu(const ls_gpu_system *system,
                                             size_t gpu); /* NULL beyond the last */
/* The number of the unified device, for ls_gpu_select() and ls_gpu_system_gpu(); SIZE_MAX: there is none. It is not
 * among those that ls_gpu_system_gpu_count() counts. */
LS_API size_t ls_gpu_system_unified(const ls_gpu_system *system);
/* Bytes that are allocated on a GPU now, of all contexts; and how many it has. Of the unified device: of all GPUs. */
LS_API void ls_gpu_system_memory(ls_gpu_system *system, size_t gpu, uint64_t *used, uint64_t *total);

/* Completes the instruction trace and the recording; without it no file is left. Does nothing if there is
 * none. */
LS_API ls_status ls_gpu_system_close_trace(ls_gpu_system *system, ls_error *err);
/* Whether time is simulated; nanoseconds that have passed in the machine, 0 if it is not. */
LS_API bool ls_gpu_system_is_timed(const ls_gpu_system *system);
LS_API uint64_t ls_gpu_system_now(const ls_gpu_system *system);
/* What ls_gpu_options.check_memory has found so far; false: memory is not checked. */
typedef struct ls_gpu_memory_check {
    uint64_t judged_bytes;    /* that reads got, and that were those of the last write */
    uint64_t unordered_bytes; /* that reads got, of which no write is known to be the last */
    uint64_t races;           /* accesses without order, dword by dword */
} ls_gpu_memory_check;
LS_API bool ls_gpu_system_memory_check(const ls_gpu_system *system, ls_gpu_memory_check *out);

/* ---------------------------------------------------------------------------------------------- contexts */

/* With GPU 0 selected. */
LS_API ls_status ls_gpu_context_create(ls_gpu_system *system, ls_gpu_context **out, ls_error *err);
/* Waits for its commands; commands that depend on an event that was never set fail. Then frees its queues,
 * modules and memory. Events may outlive it, but not the system. */
LS_API void ls_gpu_context_destroy(ls_gpu_context *context);
/* Where the following allocations, modules and queues of the context go. */
LS_API ls_status ls_gpu_select(ls_gpu_context *context, size_t gpu, ls_error *err);
LS_API size_t ls_gpu_selected(const ls_gpu_context *context);

/* ------------------------------------------------------------------------------------------------ memory */

/* At least bytes (more than 0), aligned to 4096. They read 0, but no hardware promises that: to strict checks they are
 * undefined. LS_ERR_UNSUPPORTED when the simulated GPU has no room. */
LS_API ls_status ls_gpu_alloc(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out, ls_error *err);
/* The same with bytes that are 0 from the start, as strict checks see it too. No command, so no simulated time. */
LS_API ls_status ls_gpu_alloc_zeroed(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out,
                                     ls_error *err);
/* Memory of the host that kernels of all GPUs use where it is, over the fabric (pinned). Copies between it and the
 * program's own memory are the CPU's and take no simulated time. LS_ERR_UNSUPPORTED in simulated time without a host:
 * see ls_gpu_system_has_host(). In emulation it is memory like any other. */
LS_API ls_status ls_gpu_alloc_host(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out,
                                   ls_error *err);
LS_API bool ls_gpu_system_has_host(const ls_gpu_system *system);
/* address comes from ls_gpu_alloc(), or is 0. Waits for the queued commands of the context. */
LS_API ls_status ls_gpu_free(ls_gpu_context *context, ls_gpu_address address, ls_error *err);

/* Host to GPU, GPU to host, GPU to GPU (also between two GPUs; overlapping ranges behave as memmove). A range
 * must lie inside one allocation of the context or one global variable of its modules. */
LS_API ls_status ls_gpu_copy_in(ls_gpu_context *context, ls_gpu_address to, const void *from, size_t bytes,
                                ls_error *err);
LS_API ls_status ls_gpu_copy_out(ls_gpu_context *context, void *to, ls_gpu_address from, size_t bytes,
                                 ls_error *err);
LS_API ls_status ls_gpu_copy(ls_gpu_context *context, ls_gpu_address to, ls_gpu_address from, size_t bytes,
                             ls_error *err);
/* Repeats a pattern of 1 to 128 bytes; bytes is a multiple of pattern_bytes. */
LS_API ls_status ls_gpu_fill(ls_gpu_context *context, ls_gpu_address to, const void *pattern,
                             size_t pattern_bytes, size_t bytes, ls_error *err);

/* --- places: memory that lies on another GPU than the one it was allocated on --- */

/* The size of a page: ranges with a place begin and end with one. */
LS_API uint64_t ls_gpu_page_bytes(const ls_gpu_system *system);
/* Moves a range of whole pages inside one allocation to a GPU, with their content. Waits for the queued commands of the
 * context. Addresses stay as they are. In simulated time content takes the time of a copy; fresh memory takes none. */
LS_API ls_status ls_gpu_place(ls_gpu_context *context, ls_gpu_address address, uint64_t bytes, size_t gpu,
                              ls_error *err);
/* The same of a whole allocation: its pages in as many parts as there are GPUs, the first on GPU 0 and so on. Each gets
 * pages / GPUs pages, the last one also the rest; fewer pages than GPUs are all on GPU 0. out[i] (may be NULL): the
 * bytes on GPU i. */
LS_API ls_status ls_gpu_distribute(ls_gpu_context *context, ls_gpu_address address, uint64_t *out,
                                   ls_error *err);
/* Whether a kernel may use memory that lies on another GPU: in emulation, on a fabric, and of course on one GPU. */
LS_API bool ls_gpu_system_reaches(const ls_gpu_system *system);
/* The GPU that has the byte now, or LS_GPU_ON_HOST; SIZE_MAX if nothing is allocated there. */
#define LS_GPU_ON_HOST (SIZE_MAX - 1)
LS_API size_t ls_gpu_place_of(ls_gpu_context *context, ls_gpu_address address);

/* Reads and writes at once, past all queues: for functions of ls_gpu_queue_call(), which must not wait. The
 * order against launches that run at the same time is the caller's business. */
LS_API ls_status ls_gpu_peek(ls_gpu_context *context, void *to, ls_gpu_address from, size_t bytes,
                             ls_error *err);
LS_API ls_status ls_gpu_poke(ls_gpu_context *context, ls_gpu_address to, const void *from, size_t bytes,
                             ls_error *err);
/* The same in no simulated time at all: as if the bytes had changed, or been seen, by magic. Caches that have them change
 * too. Commands may be under way; answers that are on their way to a cache keep the old bytes. */
LS_API ls_status ls_gpu_look(ls_gpu_context *context, void *to, ls_gpu_address from, size_t bytes,
                             ls_error *err);
LS_API ls_status ls_gpu_patch(ls_gpu_context *context, ls_gpu_address to, const void *from, size_t bytes,
                              ls_error *err);
/* The bytes from the address on that belong to the same allocation, code objects too; 0 if there are none. */
LS_API uint64_t ls_gpu_reach(ls_gpu_context *context, ls_gpu_address address);

/* ----------------------------------------------------------------------------------------------- modules */

/* A code object (ELF, versions 2 to 6, linked or not), or an offload bundle with one for the selected GPU. data may be freed
 * afterwards. */
LS_API ls_status ls_gpu_module_load(ls_gpu_context *context, const void *data, size_t bytes,
                                    ls_gpu_module **out, ls_error *err);
LS_API ls_status ls_gpu_module_load_file(ls_gpu_context *context, const char *path, ls_gpu_module **out,
                                         ls_error *err);
/* Waits for the commands of the context that are queued. */
LS_API void ls_gpu_module_unload(ls_gpu_module *module);
LS_API size_t ls_gpu_module_kernel_count(const ls_gpu_module *module);
LS_API ls_gpu_kernel *ls_gpu_module_kernel(ls_gpu_module *module, size_t index); /* NULL beyond the last */
LS_API ls_status ls_gpu_module_find(ls_gpu_module *module, const char *kernel, ls_gpu_kernel **out,
                                    ls_error *err);
/* A __global or __constant variable of the program. */
LS_API ls_status ls_gpu_module_variable(ls_gpu_module *module, const char *name, ls_gpu_address *address,
                                        uint64_t *bytes, ls_error *err);
/* The bytes of all __global variables, those of inner linkage included; constants do not count. */
LS_API uint64_t ls_gpu_module_variable_bytes(const ls_gpu_module *module);

typedef enum ls_gpu_arg_kind {
    LS_GPU_ARG_VALUE,
    LS_GPU_ARG_BUFFER, /* an address in global or constant memory */
    LS_GPU_ARG_LOCAL,  /* local memory that the launch sizes */
    LS_GPU_ARG_IMAGE,
    LS_GPU_ARG_SAMPLER,
    LS_GPU_ARG_OTHER, /* pipes, queues */
} ls_gpu_arg_kind;

/* Texts are "" where the code object does not say. */
typedef struct ls_gpu_arg_info {
    const char *name, *type_name;
    ls_gpu_arg_kind kind;
    uint32_t offset, bytes; /* in the packed arguments */
    const char *access;     /* "read_only", "write_only", "read_write" */
    const char *space;      /* "global", "constant", "local", "private", "generic" */
    bool is_const, is_restrict, is_volatile, is_pipe;
} ls_gpu_arg_info;

typedef struct ls_gpu_kernel_info {
    const char *name;
    size_t arg_count; /* explicit ones */
    const ls_gpu_arg_info *args;
    uint32_t packed_bytes; /* of the explicit arguments */
    uint32_t wave_size;
    uint32_t sgprs, vgprs;
    uint32_t lds_bytes;     /* static part, of one work-group */
    uint32_t scratch_bytes; /* of one work-item */
    uint32_t group_size_max;
    uint32_t required_group[3]; /* 0: any */
    uint32_t hinted_group[3];   /* work_group_size_hint; 0: none */
    const char *vector_hint;    /* vec_type_hint: "float4"; "": none */
} ls_gpu_kernel_info;

LS_API const ls_gpu_kernel_info *ls_gpu_kernel_get_info(const ls_gpu_kernel *kernel);
/* Of its descriptor (64 bytes), in the memory of the GPU. */
LS_API ls_gpu_address ls_gpu_kernel_address(const ls_gpu_kernel *kernel);
/* Bytes of its argument block, hidden arguments included. */
LS_API uint32_t ls_gpu_kernel_complete_bytes(const ls_gpu_kernel *kernel);

/* ---------------------------------------------------------------------------------------------- launches */

/* One explicit argument; the code object knows its place. Local memory has data NULL and its size in
 * bytes. */
typedef struct ls_gpu_arg {
    const void *data;
    size_t bytes;
} ls_gpu_arg;

#define LS_GPU_ARG(variable_) ((ls_gpu_arg){ &(variable_), sizeof(variable_) })
#define LS_GPU_LOCAL(bytes_) ((ls_gpu_arg){ NULL, (bytes_) })

typedef struct ls_gpu_launch {
    uint32_t dims; /* 1 to 3, what get_work_dim() says; 0: up to the last size above 1 */
    /* Work-items, and work-items of one work-group. Dimensions after the last given one may be 0, which counts
     * as 1. Any other 0 is an error. The grid need not be a multiple of the group. */
    uint32_t grid[3], group[3];
    uint64_t offset[3]; /* first value of get_global_id() */
    ls_groups groups;   /* the work-groups that run; all zero: all of the grid */
    uint32_t lds_bytes; /* of a work-group, beyond what the kernel and its local arguments have */
    /* Either args, one for each explicit argument, or the explicit arguments as one block laid out as
     * ls_gpu_kernel_info says (for scalars and pointers: as a C struct). */
    const ls_gpu_arg *args;
    size_t arg_count;
    const void *packed;
    size_t packed_bytes;
    ls_gpu_address printf_buffer; /* for the hidden argument of that name; 0: none */
    /* For clients that lay out all arguments themselves: the whole block, hidden ones too. packed and args are NULL then.
     * It has at least the bytes that the kernel reads; the rest is ignored. */
    const void *complete;
    size_t complete_bytes;
    /* In simulated time: the compute units that may have its work-groups; unit_count 0: all. On RDNA they go to whole
     * dual compute units. */
    uint32_t first_unit, unit_count;
} ls_gpu_launch;

LS_API ls_status ls_gpu_run(ls_gpu_context *context, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                            ls_error *err);

/* The same with counts, which are complete also when it fails. */
struct ls_gpu_counts;
LS_API ls_status ls_gpu_run_counted(ls_gpu_context *context, ls_gpu_kernel *kernel,
                                    const ls_gpu_launch *launch, struct ls_gpu_counts *counts, ls_error *err);

/* ------------------------------------------------------------------------------------------------ queues */

/* On the selected GPU. */
LS_API ls_status ls_gpu_queue_create(ls_gpu_context *context, ls_gpu_queue **out, ls_error *err);
/* A queue whose commands do not wait for each other, and of which a failed command fails no other. It has no marks
 * and no waits. For clients that keep the order themselves. */
LS_API ls_status ls_gpu_queue_create_unordered(ls_gpu_context *context, ls_gpu_queue **out, ls_error *err);
/* Waits for its commands. */
LS_API void ls_gpu_queue_destroy(ls_gpu_queue *queue);

/* The last argument but one may be NULL; an event that is given must be released. Arguments of a launch and
 * fill patterns are copied. */
LS_API ls_status ls_gpu_queue_copy_in(ls_gpu_queue *queue, ls_gpu_address to, const void *from, size_t bytes,
                                      ls_gpu_event **event, ls_error *err);
LS_API ls_status ls_gpu_queue_copy_out(ls_gpu_queue *queue, void *to, ls_gpu_address from, size_t bytes,
                                       ls_gpu_event **event, ls_error *err);
LS_API ls_status ls_gpu_queue_copy(ls_gpu_queue *queue, ls_gpu_address to, ls_gpu_address from, size_t bytes,
                                   ls_gpu_event **event, ls_error *err);
LS_API ls_status ls_gpu_queue_fill(ls_gpu_queue *queue, ls_gpu_address to, const void *pattern,
                                   size_t pattern_bytes, size_t bytes, ls_gpu_event **event, ls_error *err);
LS_API ls_status ls_gpu_queue_launch(ls_gpu_queue *queue, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                                     ls_gpu_event **event, ls_error *err);
/* Calls the host in order. The function must not wait for commands of the same GPU. */
LS_API ls_status ls_gpu_queue_call(ls_gpu_queue *queue, ls_status (*call)(void *self, ls_error *err),
                                   void *self, ls_gpu_event **event, ls_error *err);
/* An event that is done when everything before it is. */
LS_API ls_status ls_gpu_queue_mark(ls_gpu_queue *queue, ls_gpu_event **event, ls_error *err);
/* Later commands of the queue wait for the event, which may belong to any queue. If the event failed, they
 * fail too. */
LS_API ls_status ls_gpu_queue_wait(ls_gpu_queue *queue, ls_gpu_event *event, ls_error *err);
/* Waits for everything in the queue; returns the first error since the last call. */
LS_API ls_status ls_gpu_queue_sync(ls_gpu_queue *queue, ls_error *err);
/* The same for all queues of the context. */
LS_API ls_status ls_gpu_sync(ls_gpu_context *context, ls_error *err);

/* ------------------------------------------------------------------------------------------------ events */

typedef enum ls_gpu_event_state {
    LS_GPU_PENDING,
    LS_GPU_RUNNING,
    LS_GPU_DONE,
    LS_GPU_FAILED,
} ls_gpu_event_state;

/* Counts of a launch; zero for other commands. */
#define LS_GPU_CLASS_MAX 16
typedef struct ls_gpu_counts {
    uint64_t launches, work_groups, wavefronts;
    LS_COUNT_MEMBERS(LS_GPU_CLASS_MAX)
    uint64_t host_ns;      /* time that the host needed */
    uint64_t simulated_ns; /* time that it took, if time is simulated; 0 otherwise */
} ls_gpu_counts;

static inline void ls_gpu_counts_add(ls_gpu_counts *to, const ls_gpu_counts *from)
{
    to->launches += from->launches;
    to->work_groups += from->work_groups;
    to->wavefronts += from->wavefronts;
    LS_COUNTS_ADD(to, from);
    to->host_ns += from->host_ns;
    to->simulated_ns += from->simulated_ns;
}

LS_API const char *ls_gpu_class_name(size_t class_index); /* NULL beyond the last */

LS_API ls_gpu_event_state ls_gpu_event_get_state(const ls_gpu_event *event);
/* Whether it is done or failed; looks only, and lets no simulated time pass. */
LS_API bool ls_gpu_event_is_over(const ls_gpu_event *event);
/* LS_OK, or the error of the command. */
LS_API ls_status ls_gpu_event_wait(ls_gpu_event *event, ls_error *err);
/* Waits until one of them (more than none) is over: the place of the first that is. */
LS_API size_t ls_gpu_event_wait_any(ls_gpu_event *const *events, size_t count);
LS_API void ls_gpu_event_get_counts(const ls_gpu_event *event, ls_gpu_counts *out);
/* Nanoseconds when it was queued, when it began and when it ended; 0 as long as it has not. Simulated ones if
 * time is simulated, else the host's. */
LS_API void ls_gpu_event_get_times(const ls_gpu_event *event, uint64_t *queued, uint64_t *began,
                                   uint64_t *ended);
LS_API void ls_gpu_event_retain(ls_gpu_event *event);
LS_API void ls_gpu_event_release(ls_gpu_event *event); /* NULL is fine */
/* An event that the host sets, once: to done, or to failed with an error. */
LS_API ls_status ls_gpu_event_create(ls_gpu_context *context, ls_gpu_event **out, ls_error *err);
LS_API ls_status ls_gpu_event_set(ls_gpu_event *event, const ls_error *failure, ls_error *err);

/* Everything that the context executed so far. */
LS_API void ls_gpu_context_counts(const ls_gpu_context *context, ls_gpu_counts *out);

#endif
