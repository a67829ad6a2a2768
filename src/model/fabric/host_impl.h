/* host_impl.h: the state of a host, for host.c (messages and answers), host_memory.c and host_iommu.c. */
#ifndef MODEL_FABRIC_HOST_IMPL_H
#define MODEL_FABRIC_HOST_IMPL_H

#include "base/list.h"
#include "lockstep/line.h"
#include "model/fabric/host.h"
#include "model/migrate/migrate.h"

typedef struct host_spec {
    ls_ratio clock_hz, memory_latency_ns, memory_gb_s, walk_latency_ns;
    uint64_t requests, copies, walks, walk_queue, line_bytes;
} host_spec;

typedef struct host_counters {
    uint64_t reads, writes, atomics, faults, read_bytes, write_bytes;
    uint64_t memory_cycles, memory_busy_cycles; /* of accesses, summed; that the memory was busy */
    uint64_t walks, walk_cycles, walk_wait_cycles;
    uint64_t fabric_waits; /* an answer found its link full */
    uint64_t walk_peak;
} host_counters;

typedef struct host_job {
    ls_link *link; /* of the message: its buffer entry is released with the answer */
    ls_cycle taken, ready;
    uint64_t address;
    uint32_t next, token;
    uint16_t from;
    uint8_t class_index, kind;
    union {
        ls_line_message line;
        migrate_body walk;
    } body;
} host_job;

struct host;

/* Answers of one class on their way to the fabric. */
typedef struct host_out {
    struct host *host;
    uint32_t class_index;
    bool waits;
    index_list jobs;
    ls_event ready;
} host_out;

typedef struct host {
    const host_spec *spec;
    ls_region *region;
    const char *name;
    ls_memory *memory;
    ls_fabric_end end;
    ls_pages pages[LS_HOST_GPUS_MAX];
    ls_host_directory directory; /* ops NULL: no page is managed */
    uint32_t memory_latency, walk_latency;
    uint64_t byte_time; /* 2^-32 cycles per byte of memory bandwidth */
    uint32_t line_bytes, job_count;
    host_counters n;
    host_job *jobs;
    index_pool pool;
    index_list accesses;        /* in memory, in the order of `ready` */
    index_list walking, queued; /* in the IOMMU, and waiting for a walk */
    uint32_t walk_count, queued_count;
    uint64_t memory_free; /* 2^-32 cycles: from when on the memory is idle */
    ls_event access_event, walk_event;
    host_out out[LS_FABRIC_CLASSES];
} host;

static inline index_links host_links(const host *h)
{
    return INDEX_LINKS(h->jobs, next);
}

/* Schedules an event unless it is. */
static inline void host_arm(host *h, ls_event *event, ls_cycle at)
{
    if (!ls_event_scheduled(event))
        ls_schedule_at(h->region, event, at);
}

/* A job is done: its answer goes to the fabric. */
void host_answer(host *h, uint32_t job);
/* The same without an answer: its buffer entry is released. */
void host_job_end(host *h, uint32_t job);

/* host_memory.c: a job of class REQUEST or COPY enters the memory; event of the first access that ends. */
void host_memory_begin(host *h, uint32_t job, ls_cycle now);
void host_memory_event(void *self, ls_cycle now);
/* For ls_host_ops. */
ls_cycle host_take_turn(void *self, uint64_t bytes, ls_cycle now);
void host_access_line(void *self, ls_line_message *line);

/* host_iommu.c: a job of class WALK enters the IOMMU; event of the first walk that ends. */
void host_iommu_begin(host *h, uint32_t job, ls_cycle now);
void host_iommu_event(void *self, ls_cycle now);
ls_status host_copy_pages(void *self, uint32_t gpu, const ls_pages *pages, ls_error *err);

#endif
