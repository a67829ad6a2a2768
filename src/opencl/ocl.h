/* ocl.h: the objects of the OpenCL driver, and the functions of its files. It uses the driver interface
 * (lockstep/driver.h); src/client starts it and writes results when the process ends.
 *
 *     library    all of it: the simulated system, its devices, the lock          platform.c
 *     commands   their dependences and execution                                 schedule.c, execute.c
 *     objects    one file per kind                                               context.c, queue.c, ...
 *
 * One lock, ocl.lock, guards the state of queues, events, mappings and lists. A command runs without it. A
 * second lock, ocl.gpu_lock, guards driver calls that are not commands (allocations, modules); it is never
 * taken with ocl.lock held. An object lives as long as it has references: from the program, from an object
 * made of it, or from an incomplete command. */
#ifndef OPENCL_OCL_H
#define OPENCL_OCL_H

#include "client/client.h"
#include "lockstep/driver.h"
#include "opencl/info.h"
#include "opencl/object.h"

#include <pthread.h>

#define OCL_GPUS_MAX CLIENT_GPUS_MAX
#define OCL_ARG_ALIGN 16u

/* ------------------------------------------------------------------------------------------------ library */

struct _cl_platform_id {
    ocl_object base;
};

struct _cl_device_id {
    ocl_object base;
    size_t gpu; /* index in the system */
    const ls_gpu_model *model;
    uint64_t memory_bytes;
    uint32_t compute_units; /* that it says to have: programs choose their amount of work by it */
    uint32_t first_unit;    /* of a sub-device: its first compute unit among those of the root */
    cl_device_id root;      /* itself, or the device whose part it is: only that executes commands */
    cl_device_id parent;    /* NULL: no sub-device */
    cl_device_partition_property *partition; /* how it was made */
    size_t partition_words;
    /* Under ocl.lock: */
    cl_event ready, ready_tail; /* commands that could run, in the order in which they became so */
    /* Simulated time: commands that have begun and are not over, and their driver events. Only the executor
     * uses them. */
    cl_event *begun;
    ls_gpu_event **under_way;
    size_t begun_count, begun_room;
    bool is_executing;
    pthread_t executor; /* the executing thread, if any */
    bool has_worker, worker_sleeps;
    pthread_t worker;
    pthread_cond_t work;
    uint64_t busy_ns; /* time is not simulated: the end of its last command, by estimate */
};

typedef struct ocl_library {
    pthread_mutex_t lock, gpu_lock;
    pthread_cond_t done; /* an event changed, or a device is free */
    unsigned waiters;
    bool is_stopping, is_forking; /* no command begins */
    atomic_bool is_ending;        /* the process does: see ending.h */
    ls_gpu_system *system;
    bool is_timed;      /* it simulates time: then nothing happens by itself, see execute.c */
    unsigned callbacks; /* of events, to be called yet */
    uint64_t host_ns; /* time is not simulated: the end of the last command that the program has waited for */
    cl_int status;    /* of creating the system; CL_SUCCESS once it is there */
    struct _cl_platform_id platform;
    struct _cl_device_id devices[OCL_GPUS_MAX];
    cl_uint device_count;
} ocl_library;

extern ocl_library ocl;

/* Builds the system of LOCKSTEP_GPU and the others at the first call. */
cl_int ocl_start(void);
/* The error code that stands for a driver's failure. */
cl_int ocl_code_of(ls_status status, cl_int otherwise);

/* Sub-devices (subdevice.c). */
bool ocl_device_divides(cl_device_id device);
cl_uint ocl_device_parts_max(cl_device_id device);
/* Whether a device is another one, or a part of it: code for the whole runs on its parts. */
bool ocl_device_is_part(cl_device_id device, cl_device_id whole);
void ocl_device_retain(cl_device_id device);
void ocl_device_release(cl_device_id device);

/* A list of functions to call back when an object goes; newest first. */
typedef struct ocl_callback {
    struct ocl_callback *next;
    void *function; /* as the object's kind declares it */
    void *user_data;
} ocl_callback;
/* Adds to the front of a list: the standard wants the last one called first. */
cl_int ocl_callback_add(ocl_callback **list, void *function, void *user_data);

/* ----------------------------------------------------------------------------------------------- contexts */

struct _cl_context {
    ocl_object base;
    ls_gpu_context *gpu;
    cl_uint device_count;
    cl_device_id devices[OCL_GPUS_MAX];
    cl_context_properties *properties; /* as given, with the final 0; NULL: none */
    size_t property_count;
    void(CL_CALLBACK *notify)(const char *text, const void *info, size_t bytes, void *user_data);
    void *notify_data;
    ocl_callback *destructors;
};

bool ocl_context_has(cl_context context, cl_device_id device);
/* Calls the context's notification function, if there is one. */
void ocl_context_notify(cl_context context, const char *text);
void ocl_context_release(cl_context context);

/* ------------------------------------------------------------------------------------------------- queues */

struct _cl_command_queue {
    ocl_object base;
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    cl_queue_properties *property_list; /* as given to ...WithProperties, with the final 0; NULL: none */
    size_t property_count;
    ls_gpu_queue *gpu_queue; /* simulated time: has the commands that have begun, unordered; else NULL */
    /* Under ocl.lock: */
    cl_event first, last; /* all commands that are not complete, in the order of submission */
    cl_event barrier;     /* an out-of-order command must wait for it; NULL or not complete */
    bool is_poisoned;     /* a command faulted; later commands fail until the error was reported */
    /* Time is not simulated: the ends of the last command and of the last barrier that are complete. */
    uint64_t end_ns, barrier_ns;
};

void ocl_queue_release(cl_command_queue queue);

/* ------------------------------------------------------------------------------------------------- events */

typedef struct ocl_dependent {
    cl_event event;
    bool is_explicit; /* of a wait list: our failure is its failure */
} ocl_dependent;

typedef struct ocl_event_callback {
    struct ocl_event_callback *next;
    cl_int when;
    void(CL_CALLBACK *function)(cl_event event, cl_int status, void *user_data);
    void *user_data;
} ocl_event_callback;

/* The work of a command; without locks. It may write the reason of a failure into err. */
typedef cl_int (*ocl_run)(cl_event command, ls_error *err);
/* Simulated time: puts what it does into the driver's queue, with the event of the last part; run follows
 * when that is over. Leaves the event NULL if this command can only be done at once, by run alone. */
typedef cl_int (*ocl_begin)(cl_event command, ls_gpu_queue *queue, ls_gpu_event **under_way, ls_error *err);

struct _cl_event {
    ocl_object base;
    cl_context context;
    cl_command_queue queue; /* NULL: a user event */
    cl_command_type type;
    cl_int status;    /* CL_QUEUED ... CL_COMPLETE or negative; under ocl.lock, as all until the times */
    unsigned missing; /* dependences that are not complete, and one until it is submitted */
    cl_int inherited; /* the failure of an explicit dependence; CL_SUCCESS: none */
    ocl_dependent *dependents;
    size_t dependent_count, dependent_room;
    ocl_event_callback *callbacks;
    cl_event ready_next;                             /* in the device's list */
    cl_event previous, next;                         /* in the queue's list */
    uint64_t queued_ns, submit_ns, start_ns, end_ns; /* simulated */
    ocl_run run;                                     /* NULL: nothing to do (markers) */
    ocl_begin begin;                                 /* NULL: run does it all */
    ls_gpu_event *under_way;                         /* NULL: it has not begun */
    void (*finish)(cl_event command); /* after run or instead of it; NULL: none. Without locks */
    uint64_t cost_ns;                 /* time is not simulated: an estimate, set by run */
    uint64_t earliest_ns; /* time is not simulated: the end of the last command that it waits for */
    ocl_object *held[8];  /* references that the command keeps until it is complete */
    unsigned held_count;
    ocl_object **more_held; /* beyond those, NULL-terminated; inside of the payload */
    bool poisons;           /* a failure of run fails what follows in an in-order queue */
    max_align_t payload[];
};

/* The command's data that depends on its kind. */
static inline void *ocl_payload(cl_event command)
{
    return command->payload;
}

/* ----------------------------------------------------------------------------------------------- schedule */

/* A command of the queue with room for a payload (zeroed), not yet submitted; NULL: no memory. */
cl_event ocl_command_create(cl_command_queue queue, cl_command_type type, ocl_run run, size_t payload_bytes);
/* Keeps a reference of a mem, kernel, sampler until the command is complete; at most 8 of them. NULL is
 * fine. */
void ocl_command_hold(cl_event command, void *object);
/* Never submitted: frees it. */
void ocl_command_discard(cl_event command);
/* Takes over the command. wait_list must have been checked. Blocking: returns the command's own failure.
 * *event is set if event is not NULL. */
cl_int ocl_command_submit(cl_event command, cl_uint wait_count, const cl_event *wait_list, bool is_blocking,
                          cl_event *event);
/* CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT or CL_SUCCESS. */
cl_int ocl_check_waits(cl_context context, cl_uint wait_count, const cl_event *wait_list);
/* Everything that most enqueue functions check first: the queue, and the wait list. */
cl_int ocl_check_enqueue(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list);

/* Drops the references that the command keeps. Without the lock. */
void ocl_command_let_go(cl_event command);
bool ocl_is_in_order(const struct _cl_command_queue *queue);
/* Takes the callbacks that the status reaches, in the order in which they were set (with the lock held), and
 * calls them (without). */
ocl_event_callback *ocl_take_callbacks(cl_event event, cl_int status);
void ocl_call_back(cl_event event, cl_int status, ocl_event_callback *list);

/* All of these with ocl.lock held. */
void ocl_event_complete(cl_event event, cl_int status);
void ocl_wait_event(cl_event event); /* executes ready commands meanwhile */
void ocl_wait_queue(cl_command_queue queue);
void ocl_wake_workers(void);
/* Executes one command of the device; false if none is ready, or another thread executes. In simulated time
 * one command begins; if none can, time advances until one is over. */
bool ocl_step(cl_device_id device);
/* Called when the program queries an event's state: a program that polls must see the event end. */
void ocl_move_on(const struct _cl_event *event);
/* By the device's clock, in nanoseconds. */
uint64_t ocl_now(const struct _cl_device_id *device);
/* What the program knows of it: commands are queued at this time. */
uint64_t ocl_host_now(void);
void ocl_event_release(cl_event event); /* without the lock */
void ocl_release_any(void *object);     /* a reference to an object of any kind */

/* Simulated duration of moving bytes between host and device or inside of a device. */
uint64_t ocl_copy_ns(uint64_t bytes);

/* ------------------------------------------------------------------------------------------------- memory */

typedef struct ocl_mapping {
    struct ocl_mapping *next;
    void *pointer; /* address returned to the program */
    bool is_own;   /* allocated for the mapping */
    cl_map_flags flags;
    size_t origin[3], region[3]; /* of a buffer: bytes in [0] */
    size_t row_pitch, slice_pitch;
    size_t bytes;
} ocl_mapping;

struct _cl_mem {
    ocl_object base;
    cl_context context;
    cl_mem_object_type type;
    cl_mem_flags flags;
    size_t bytes;           /* of an image: all of its storage */
    ls_gpu_address address; /* on the device; of a sub-buffer: inside of its parent */
    void *host_ptr;         /* as given with CL_MEM_USE_HOST_PTR (of a sub-buffer: inside of it) */
    cl_mem parent;          /* buffer of a sub-buffer or of an image; retained */
    size_t origin;          /* of a sub-buffer */
    bool is_svm;            /* its storage is SVM of the program */
    bool is_pinned;         /* its storage is memory of the simulated host, which all devices reach */
    cl_mem_properties *properties;
    size_t property_count;
    ocl_callback *destructors;
    /* Under ocl.lock: */
    ocl_mapping *mappings;
    cl_uint map_count;
    /* Images: */
    cl_image_format format;
    cl_image_desc desc;
    size_t element_bytes, row_pitch, slice_pitch; /* as they are stored on the device */
    size_t host_row_pitch, host_slice_pitch;      /* of host_ptr */
    uint32_t descriptor[8];                       /* the kernel's argument points to a copy of it */
    ls_gpu_address descriptor_address;            /* of its copy on the device; 0: none */
};

/* Allocates on the context's first device. */
cl_int ocl_gpu_alloc(cl_context context, uint64_t bytes, ls_gpu_address *out);
void ocl_gpu_free(cl_context context, ls_gpu_address address);
/* Checks flags and host_ptr as clCreateBuffer and clCreateImage want them. */
cl_int ocl_check_mem_flags(cl_mem_flags flags, const void *host_ptr);
/* A mem with its common fields set and nothing allocated on the device; retains the context. NULL: no
 * memory. */
cl_mem ocl_mem_create(cl_context context, cl_mem_object_type type, cl_mem_flags flags);
void ocl_mem_release(cl_mem mem);
/* Releases the parts of an image beside its storage (image.c). Called when the last reference goes. */
void ocl_image_fini(cl_mem image);

/* A box in memory: a place and the distance of rows and slices, in bytes. */
typedef struct ocl_box {
    ls_gpu_address address; /* on the device, or */
    void *host;             /* of the host, if not NULL */
    size_t row_pitch, slice_pitch;
} ocl_box;
/* Copies region (bytes, rows, slices) from one to the other, whichever they are; joins what is contiguous. */
ls_status ocl_box_copy(ls_gpu_context *gpu, const ocl_box *to, const ocl_box *from, const size_t region[3],
                       ls_error *err);

/* Adds a mapping of a mem, or finds (and takes out) the one of a pointer. Take ocl.lock themselves. */
cl_int ocl_mapping_add(cl_mem mem, const ocl_mapping *mapping, ocl_mapping **out);
ocl_mapping *ocl_mapping_take(cl_mem mem, void *pointer);
/* For clEnqueueUnmapMemObject of an image (image.c): writes back the mapped part. */
ls_status ocl_image_unmap(cl_mem image, const ocl_mapping *mapping, ls_error *err);

/* ----------------------------------------------------------------------------------------------- samplers */

struct _cl_sampler {
    ocl_object base;
    cl_context context;
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    cl_sampler_properties *properties;
    size_t property_count;
    uint32_t descriptor[4];
    ls_gpu_address descriptor_address;
};

void ocl_sampler_release(cl_sampler sampler);

/* The eight bytes of an image or sampler argument for kernels of a device; 0 and an error if they cannot be
 * made (image.c, sampler.c). */
cl_int ocl_image_argument(cl_mem image, cl_device_id device, uint64_t *out);
cl_int ocl_sampler_argument(cl_sampler sampler, cl_device_id device, uint64_t *out);

/* ----------------------------------------------------------------------------------------------- programs */

typedef struct ocl_build {
    cl_build_status status;
    cl_program_binary_type binary_type;
    char *options; /* never NULL */
    char *log;     /* never NULL */
    unsigned char *binary;
    size_t binary_bytes;
    bool has_arg_info;     /* -cl-kernel-arg-info was given: programs may query arguments */
    ls_gpu_module *module; /* of an executable */
    ls_gpu_module *wide;   /* the same for large work-groups; NULL: not needed yet (wide.c) */
    bool has_tried_wide;
    ls_gpu_module *printf_asked; /* for which printf_used holds (printf.c) */
    bool printf_used;
} ocl_build;

struct _cl_program {
    ocl_object base;
    cl_context context;
    cl_uint device_count;
    cl_device_id devices[OCL_GPUS_MAX];
    char *source; /* NULL: made from binaries or linked */
    ocl_build builds[OCL_GPUS_MAX];
    ocl_callback *destructors;
    atomic_uint kernel_count; /* kernel objects that are there */
    pthread_mutex_t lock;     /* one build at a time */
};

void ocl_program_release(cl_program program);
ocl_build *ocl_program_build(cl_program program, cl_device_id device); /* NULL: not one of its devices */

/* ------------------------------------------------------------------------------------------------ kernels */

typedef struct ocl_arg {
    bool is_set;
    size_t local_bytes; /* of local memory */
    ocl_object *object; /* a mem or sampler; watched, not retained. NULL for null buffers */
} ocl_arg;

struct _cl_kernel {
    ocl_object base;
    cl_program program; /* retained */
    char *name;
    ls_gpu_kernel *of_device[OCL_GPUS_MAX]; /* by index in the program's devices; NULL: not built for it */
    const ls_gpu_kernel_info *info;         /* of the first object that is present */
    /* Under ocl.lock: */
    ocl_arg *args;
    uint8_t *packed; /* values as the kernel wants them; buffers are resolved at the launch */
};

void ocl_kernel_release(cl_kernel kernel);
/* A kernel of the program for larger work-groups than its code allows; NULL: there can be none (wide.c). */
ls_gpu_kernel *ocl_wide_kernel(cl_program program, cl_uint index, const char *name);

/* ------------------------------------------------------------------------------------------------- printf */

/* Moves a buffer or image to a device, with its content: whole pages of its allocation. */
cl_int ocl_mem_move(cl_mem mem, cl_device_id device, ls_error *err);

/* A launch as it was captured; the payload of its command. */
typedef struct ocl_launch {
    cl_kernel kernel;
    ls_gpu_kernel *gpu_kernel;
    ls_gpu_launch launch; /* packed points into the memory after this struct */
} ocl_launch;

/* Before and after a launch runs, without locks: support for the kernel's printf (printf.c). */
cl_int ocl_printf_begin(cl_event command, ocl_launch *launch, ls_error *err);
void ocl_printf_end(cl_event command, ocl_launch *launch);

#endif
