/* rt.h: the objects of the HSA runtime on simulated GPUs, and the functions of its files.
 *
 *     runtime    all of it: the system, agents, pools, the lock                 system.c, agent.c, ending.c
 *     memory     allocations, locked memory, bytes that both sides see          pool.c, mirror.c
 *     signals    values, waits, handlers                                        signal.c, handler.c
 *     work       queues, their packets, copies, and the steps that run them     queue.c, step.c, dispatch.c, copy.c
 *     code       code objects, executables, symbols                             code.c
 *
 * One lock, rt.lock, guards everything but the values of signals and the indices of queues, which are atomic. A thread
 * that waits for a signal steps: it begins all work that is ready and lets the driver run until some of it is over. One
 * thread steps at a time. Nothing begins before a thread waits or asks, so simulated times do not depend on the host. */
#ifndef HSA_RT_H
#define HSA_RT_H

#include "base/vec.h"
#include "client/client.h"
#include "hsa/functions.h"

#include <pthread.h>
#include <stdatomic.h>

#define RT_GPUS_MAX CLIENT_GPUS_MAX
#define RT_PAGE 4096u
/* Timestamps of the program begin here: HIP takes the time 0 for no time, and puts the host's clock in its place. */
#define RT_BEGIN_NS 1000u

typedef struct rt_agent rt_agent;

typedef struct rt_pool {
    rt_agent *agent;
    uint32_t segment, flags;
    uint64_t bytes;
} rt_pool;

/* Its handle is its address; so is that of its only instruction set. */
struct rt_agent {
    bool is_gpu;
    size_t gpu;                /* the driver's number */
    const ls_gpu_model *model; /* NULL: the host */
    char isa[96];
    uint32_t compute_units;
    uint64_t memory_bytes;
    rt_pool pools[3];
    size_t pool_count;
    ls_gpu_queue *commands; /* of the driver, unordered: what has begun */
    uint64_t busy_ns;       /* emulation: the end of its last command on the estimated clock */
    uint32_t running;       /* jobs that have begun */
};

typedef enum rt_kind {
    RT_DEVICE, /* of a GPU's pool */
    RT_HOST,   /* of a host pool; kernels and the program see it at the same address */
    RT_LOCKED, /* memory of the program that kernels see at another address */
    RT_CODE,   /* the image of a code object */
} rt_kind;

/* Memory that both sides know. */
typedef struct rt_range {
    rt_kind kind;
    uint64_t address; /* simulated */
    uint64_t bytes;
    uint8_t *host; /* where the program has it; NULL: nowhere */
    uint8_t
        *shadow; /* bytes that both sides had when they were last made equal; NULL: they are the same bytes */
    uint64_t base;   /* of the driver's allocation */
    uint64_t mapped; /* bytes of host pages to give back; 0: none */
    const rt_pool *pool;
    void *user_data;
} rt_range;

typedef struct rt_queue {
    amd_queue *shared; /* what the program and kernels see; its address is the handle */
    rt_agent *agent;
    uint64_t next;       /* the packet that comes next */
    uint32_t unfinished; /* packets that have begun */
    hsa_queue_callback callback;
    void *data;
} rt_queue;

typedef struct rt_copy {
    uint64_t to, from; /* simulated; 0: the host's side is used */
    uint8_t *host_to;
    const uint8_t *host_from;
    uint64_t bytes, rows, slices;                    /* rows of so many bytes */
    uint64_t to_row, to_slice, from_row, from_slice; /* pitches */
    bool is_fill;
    uint32_t pattern;
} rt_copy;

/* Work that has begun, or a copy that waits for signals. */
typedef struct rt_job {
    struct rt_job *next;
    rt_agent *agent;
    rt_queue *queue; /* NULL: a copy */
    rt_copy copy;
    LS_VEC(ls_gpu_event *) events;
    LS_VEC(uint64_t) reached; /* addresses of ranges whose bytes the kernel may have changed */
    LS_VEC(hsa_signal_t) waits;
    hsa_signal_t completion;
    uint64_t cost_ns; /* emulation, beyond the instructions of a launch */
} rt_job;

typedef struct rt_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a signal, work, or the role of the stepping thread */
    hsa_status_t status;    /* of the start */
    bool is_timed, is_stepping, is_ending;
    uint32_t references; /* of hsa_init() */
    ls_gpu_context *context;
    rt_agent agents[1 + RT_GPUS_MAX]; /* the host, then GPUs */
    size_t agent_count;
    LS_VEC(rt_range) ranges; /* by address */
    LS_VEC(rt_queue *) queues;
    rt_job *copies, **copies_end;   /* that wait, in the order of their calls */
    rt_job *running, **running_end; /* that have begun */
    uint32_t polls;                 /* loads of signals since the last call that changed something */
    uint64_t active_ns;             /* host clock: the last such call */
    uint64_t next_queue_id;
} rt_state;

extern rt_state rt;

/* --- system.c --- */

/* HSA_OK once the system is there. Starts it at the first call. */
hsa_status_t rt_start(void);
/* The error that stands for a driver's failure, which is told on standard error. */
hsa_status_t rt_tell(const ls_error *err, hsa_status_t code);
/* A command failed: tells it, writes the results and ends the process. */
_Noreturn void rt_die(const ls_error *err);
uint64_t rt_host_ns(void);
/* Nanoseconds, simulated or estimated. Of all GPUs if agent is NULL. With the lock held. */
uint64_t rt_now(const rt_agent *agent);
/* A function that this runtime does not have: one line, once per function. */
hsa_status_t rt_refuse(const char *function, const char *why);

/* --- agent.c --- */

void rt_agents_add(const client_settings *settings);
/* NULL: there is no such agent. */
rt_agent *rt_agent_of(hsa_agent_t agent);
rt_pool *rt_pool_of(hsa_amd_memory_pool_t pool);

/* --- pool.c --- */

/* Memory of the host that kernels see, too; at least bytes, whole pages. With the lock held. NULL: none left. */
void *rt_host_alloc(uint64_t bytes, const rt_pool *pool);
/* Adds a range; false: no memory. With the lock held, as the rest. */
bool rt_range_add(const rt_range *range);
/* The range that has the simulated address; NULL: none. Good until the list changes. */
rt_range *rt_range_at(uint64_t address);
/* Takes it out and gives its memory back. */
hsa_status_t rt_range_free(uint64_t address);
/* Host pages at a simulated address; false: something else is there. */
bool rt_map_pages(uint64_t address, uint64_t bytes);

/* --- mirror.c --- */

/* The program's changes of shared bytes become visible to kernels. With the lock held. */
void rt_mirror_in(void);
/* The ranges that a kernel with these arguments may write, by address. */
bool rt_mirror_reach(const void *arguments, size_t bytes, rt_job *job);
/* Changes of kernels in these ranges become visible to the program. */
void rt_mirror_out(const rt_job *job);

/* The same in both directions while kernels run: for hostcall.c, between two windows of the simulation. */
void rt_mirror_between(bool out, uint64_t signal);

/* --- hostcall.c --- */

/* In simulated time: kernels that call the host (printf) are answered while they run. */
void rt_hostcalls_begin(void);
/* A thread of the program begins to wait for a change of the signal from this value, for a short time. */
void rt_hostcalls_watched(hsa_signal_t signal, int64_t than);

/* --- signal.c --- */

static inline amd_signal *rt_signal(hsa_signal_t signal)
{
    return (amd_signal *)(uintptr_t)signal.handle;
}
static inline int64_t rt_signal_value(hsa_signal_t signal)
{
    return atomic_load_explicit(&rt_signal(signal)->value, memory_order_acquire);
}
bool rt_condition_holds(uint32_t condition, int64_t value, int64_t than);
/* The work of a completion signal is over. handle 0 is fine. With the lock held. */
void rt_signal_complete(hsa_signal_t signal, uint64_t start, uint64_t end);
hsa_status_t rt_signal_create(int64_t value, int64_t kind, hsa_signal_t *out);
/* A call of the program that changes something. With the lock held. */
void rt_active(void);

/* --- handler.c --- */

/* Wakes the thread that calls handlers, which looks at all of their signals. With the lock held. */
void rt_handlers_wake(void);

/* --- step.c --- */

/* Begins work that is ready and lets the driver run until some of it is over. False: nothing could be done, or another
 * thread steps. With the lock held, which it gives up meanwhile. */
bool rt_step(void);
/* Whether packets or copies are left. */
bool rt_has_work(void);
/* For dispatch.c and copy.c: work that has begun. */
void rt_job_begun(rt_job *job);
rt_job *rt_job_create(rt_agent *agent);
void rt_job_free(rt_job *job);

/* --- dispatch.c, copy.c --- */

void rt_dispatch_begin(rt_queue *queue, const aql_dispatch *packet);
/* Estimated nanoseconds of a launch. */
uint64_t rt_dispatch_ns(const rt_agent *agent, const ls_gpu_counts *counts);
bool rt_copy_begin(rt_job *job);

/* --- code.c --- */

/* The kernel whose descriptor has this address; NULL: none. */
ls_gpu_kernel *rt_kernel_at(uint64_t descriptor);

#endif
