/* drv.h: the driver's own structs, shared by the files of src/runtime/driver.
 *
 * One lock per system guards everything except the work of a running command. A thread that waits for a
 * command also executes. With the lock held it becomes the GPU's executor, if there is none, and runs ready
 * commands in the order of submission. So a blocking call costs no switch of threads. The first call that does
 * not block starts a worker thread per GPU, which does the same for commands without a waiting thread.
 *
 * An ordered queue offers its first command, an unordered queue all of its commands. OpenCL keeps the order of its
 * commands itself. So each of its queues has one unordered queue here, for the commands that have begun.
 *
 * With timing no command runs before a thread waits. Then all ready commands are submitted together, and time
 * passes until one of them is over, which may make others ready. One thread does that for the whole system. */
#ifndef RUNTIME_DRIVER_DRV_H
#define RUNTIME_DRIVER_DRV_H

#include "base/vec.h"
#include "runtime/driver/backend.h"
#include "workload/hsa/hsa.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct drv_command drv_command;

/* Runs without the lock. */
typedef ls_status (*drv_run_fn)(drv_command *command, ls_gpu_counts *counts, ls_error *err);

struct drv_command {
    drv_command *next;
    drv_run_fn run; /* NULL: a mark */
    ls_gpu_queue *queue;
    ls_gpu_event *event; /* its own */
    ls_gpu_event *waits; /* must be finished before; NULL: none */
    uint64_t sequence;   /* of submission, over the system */
    drv_work *work;      /* timing: submitted */
    union {
        struct {
            uint64_t to, from, bytes;
            const void *host_from;
            void *host_to;
            uint8_t pattern[128];
            size_t pattern_bytes;
        } copy;
        struct {
            void *program;
            drv_dispatch dispatch; /* its arguments follow the command */
        } launch;
        struct {
            ls_status (*call)(void *self, ls_error *err);
            void *self;
        } host;
    };
    max_align_t tail[];
};

struct ls_gpu_event {
    ls_gpu_system *system;
    atomic_uint references;
    bool is_users;            /* set by the host */
    ls_gpu_event_state state; /* under the lock, as the rest */
    ls_gpu_counts counts;
    uint64_t queued_ns, began_ns, ended_ns;
    ls_error failure; /* of LS_GPU_FAILED; not initialised otherwise */
};

struct ls_gpu_queue {
    ls_gpu_context *context;
    size_t gpu;
    ls_gpu_queue *next_of_gpu; /* all queues of the GPU */
    ls_gpu_queue *next;        /* of the context; not the default ones */
    drv_command *head, *tail;  /* pending and running, in the order of submission */
    bool is_unordered;         /* all commands may run, not only the head */
    bool is_default;           /* of blocking calls: one's failure is not another's */
    bool is_closing;           /* commands that wait for the host fail */
    bool has_failed;
    ls_error failure;
};

typedef struct drv_gpu {
    const ls_gpu_model *model;
    uint64_t memory_bytes, used_bytes;
    ls_gpu_queue *queues;
    uint64_t pending; /* commands in them */
    bool is_executing;
    bool has_worker;
    pthread_t worker;
    pthread_cond_t work; /* wakes the worker */
} drv_gpu;

/* How the unified device divides memory; drv_spread says how it divides work. */
typedef enum drv_pages {
    DRV_PAGES_INTERLEAVED,
    DRV_PAGES_BLOCKED,
    DRV_PAGES_ONE,
    DRV_PAGES_FIRST_TOUCH
} drv_pages;

struct ls_gpu_system {
    const drv_backend *backend;
    void *machine; /* of the back end */
    drv_gpu *gpus;
    size_t gpu_count; /* devices: the GPUs, and after them the unified device if there is one */
    size_t unified;   /* its number, and how many GPUs there are; SIZE_MAX: there is none */
    drv_pages pages;
    size_t next_page;      /* of DRV_PAGES_INTERLEAVED: the GPU whose turn it is */
    ls_gpu_model together; /* of the unified device */
    pthread_mutex_t lock;
    pthread_cond_t done; /* a command is over, an executor's role is free */
    unsigned waiters;    /* for done */
    bool is_stopping;
    uint64_t sequence;
    /* Timing. */
    bool is_advancing;
    uint64_t in_flight; /* submitted and not over */
};

typedef struct drv_range {
    uint64_t address, bytes;
    size_t gpu;       /* device that it was allocated on */
    uint16_t *places; /* the GPU of each page of drv_page_bytes(); NULL: all are on `gpu` */
    bool is_module;   /* not to be freed by the user */
    bool is_host;     /* memory of the host; gpu is 0 then */
    bool is_written;  /* a command of the host wrote to it */
    uint64_t
        launches; /* of the context, before it was allocated: if there were more since, kernels may have written */
} drv_range;

struct ls_gpu_context {
    ls_gpu_system *system;
    size_t selected;
    LS_VEC(drv_range) ranges; /* by address */
    ls_gpu_queue *queues;
    ls_gpu_queue *defaults; /* one per GPU */
    ls_gpu_module *modules;
    ls_gpu_counts counts;
    uint64_t launches; /* that were made */
};

struct ls_gpu_kernel {
    ls_gpu_module *module;
    const hsa_kernel *hsa;
    ls_gpu_kernel_info info;
    void *program; /* decoded at the first launch; under the module's lock */
};

struct ls_gpu_module {
    ls_gpu_context *context;
    ls_gpu_module *next;
    size_t gpu;
    hsa_object *object;
    uint64_t base; /* where its image is */
    ls_gpu_kernel *kernels;
    pthread_mutex_t lock;
};

/* ----------------------------------------------------------------------------------------------- memory.c */

/* Takes memory of the GPU for the context, or says that there is none left. */
ls_status drv_take(ls_gpu_context *context, size_t gpu, uint64_t bytes, bool is_module, uint64_t *out,
                   ls_error *err);
ls_status drv_give_back(ls_gpu_context *context, uint64_t address, bool is_module, ls_error *err);
/* Whether [address, address + bytes) lies in one range of the context; *gpu is where. bytes 0 is always
 * fine. */
/* The GPUs of the system, without the unified device. */
static inline size_t drv_gpus(const ls_gpu_system *system)
{
    return system->unified == SIZE_MAX ? system->gpu_count : system->unified;
}
/* Smallest piece of memory that has a place. */
uint64_t drv_page_bytes(const ls_gpu_system *system);
/* With the lock held or before the first command: the host writes to a range. */
void drv_mark_written(ls_gpu_context *context, uint64_t address);
ls_status drv_check_range(ls_gpu_context *context, uint64_t address, uint64_t bytes, const char *what,
                          size_t *gpu, ls_error *err);

/* ------------------------------------------------------------------------------------------------ queue.c */

/* Nanoseconds: of the host, or simulated. */
uint64_t drv_now(const ls_gpu_system *system);
/* A command of a queue, followed by a payload of tail_bytes. NULL: no memory. */
drv_command *drv_command_create(ls_gpu_queue *queue, drv_run_fn run, size_t tail_bytes);
/* Puts it into its queue and gives the event if wanted. Takes over the command. */
void drv_submit(drv_command *command, ls_gpu_event **event);
/* The same, and waits. For default queues. */
ls_status drv_submit_wait(drv_command *command, ls_error *err);
/* Waits until everything that the context has queued is over, also by failing. */
void drv_drain(ls_gpu_context *context);
void drv_queue_init(ls_gpu_queue *queue, ls_gpu_context *context, size_t gpu);
/* With the lock held: lets things happen that may end a command; false if nothing can. */
bool drv_step_locked(ls_gpu_system *system);
/* The same, or sleeps until something happens; whether it executed. */
bool drv_step_or_sleep_locked(ls_gpu_system *system);
/* Runs or fails all commands and takes it out of its GPU. */
void drv_queue_fini(ls_gpu_queue *queue);
void drv_stop_workers(ls_gpu_system *system);
/* With the lock held: executes ready commands until the event is over. */
void drv_wait_locked(ls_gpu_system *system, const ls_gpu_event *event);
void drv_wake_locked(ls_gpu_system *system);

/* ------------------------------------------------------------------------------------------------- time.c */

/* With timing: one turn of the system. Submits what is ready, lets time pass, finishes what is over. */
bool drv_time_step_locked(ls_gpu_system *system);
/* For time.c: queue.c's. */
bool drv_is_ready(const drv_command *command);
/* The command that the queue offers after `command` (NULL: the first one); NULL: none. */
static inline drv_command *drv_offered(const ls_gpu_queue *queue, const drv_command *command)
{
    if (!command)
        return queue->head;
    return queue->is_unordered ? command->next : NULL;
}
ls_status drv_refusal(const drv_command *command, ls_error *err);
/* Takes the command out of its queue and frees it. */
void drv_finish(drv_command *command, ls_status status);
/* For time.c: commands of command.c and launch.c. Describes the command for a back end with timing; false: the
 * host executes it. */
bool drv_command_work(const drv_command *command, drv_work *out);

/* ------------------------------------------------------------------------------------------------ event.c */

ls_gpu_event *drv_event_create(ls_gpu_system *system); /* pending, one reference; NULL: no memory */
static inline bool drv_event_is_over(const ls_gpu_event *event)
{
    return event->state == LS_GPU_DONE || event->state == LS_GPU_FAILED;
}

/* ----------------------------------------------------------------------------------------------- launch.c */

ls_status drv_run_launch(drv_command *command, ls_gpu_counts *counts, ls_error *err);

/* ----------------------------------------------------------------------------------------------- module.c */

void drv_module_destroy(ls_gpu_module *module);

/* ------------------------------------------------------------------------------------------------- args.c */

/* Lays the arguments out for the kernel: out has kernel->kernarg_bytes, zeroed. *dynamic_lds: LDS of local
 * arguments, beyond the kernel's own. */
ls_status drv_args_place(const hsa_kernel *kernel, const ls_gpu_launch *launch, uint8_t *out,
                         uint32_t *dynamic_lds, ls_error *err);
void drv_args_hidden(const hsa_kernel *kernel, const drv_dispatch *dispatch, const ls_gpu_launch *launch,
                     const drv_facts *facts, uint8_t *out);

#endif
