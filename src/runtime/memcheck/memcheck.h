/* memcheck.h: checks the memory of programs that run in simulated time. It listens to the accesses of compute units
 * (cu_observer) and to the commands of the driver, and keeps the last write of every byte. A read whose last write
 * happened before it, with no other write beside it, must have that write's value. Accesses without order are races:
 * they are counted, and their values are not judged. docs/multi-gpu.md has the rules of order.
 *
 * Events of compute units go to a log for each. memcheck_flush() merges them by time, while the engine rests. So findings do not
 * depend on threads. Everything but the logs belongs to the thread that runs the engine. */
#ifndef RUNTIME_MEMCHECK_MEMCHECK_H
#define RUNTIME_MEMCHECK_MEMCHECK_H

#include "model/cu/cu_api.h"

typedef struct memcheck memcheck;

ls_status memcheck_create(memcheck **out, ls_error *err);
void memcheck_destroy(memcheck *m); /* NULL is fine */

/* --- commands -------------------------------------------------------------------------------------------- */

typedef enum memcheck_kind {
    MEMCHECK_LAUNCH,
    MEMCHECK_IN,   /* bytes of the host to memory */
    MEMCHECK_OUT,  /* and back */
    MEMCHECK_COPY, /* from memory to memory */
    MEMCHECK_FILL,
} memcheck_kind;

typedef struct memcheck_work {
    memcheck_kind kind;
    const amd_program *program; /* of a launch */
    uint64_t to, from, bytes;   /* virtual addresses */
    const void *data;           /* IN: the bytes; FILL: the pattern */
    size_t pattern_bytes;
} memcheck_work;

/* A command begins; it happens after all commands that have ended. Returns its number, from 1; 0: no memory, which the
 * next flush reports. */
uint32_t memcheck_begin(memcheck *m, const memcheck_work *work);
/* It has ended. data: what an OUT got, NULL otherwise, or if it failed. A wrong byte is reported by the next flush. */
void memcheck_end(memcheck *m, uint32_t command, const void *data);
/* The host writes at once: images of code; or, for a command that has begun, before its waves: arguments of a launch.
 * command 0: the write is on its own. */
void memcheck_write(memcheck *m, uint32_t command, uint64_t to, const void *data, uint64_t bytes);
/* Memory was freed: nothing is known of its bytes. */
void memcheck_forget(memcheck *m, uint64_t address, uint64_t bytes);
/* For the kernel of a launch's packet on a GPU. */
cu_observer memcheck_observe(memcheck *m, uint32_t gpu, uint32_t command);

/* --- findings -------------------------------------------------------------------------------------------- */

/* Merges the logs, if they have at least so many bytes: 0 for all that is there. LS_ERR_CHECK: a read got a wrong
 * value. No cycle may run before the times in the logs afterwards. */
ls_status memcheck_flush(memcheck *m, uint64_t at_least, ls_error *err);
/* For ls_run_options.between. */
ls_status memcheck_between(void *self, ls_error *err);

typedef struct memcheck_counts {
    uint64_t reads;           /* lanes' reads, and reads of copies, piece by piece */
    uint64_t judged;          /* of their bytes: they had the value of the last write */
    uint64_t unordered;       /* bytes that a write without order may have changed */
    uint64_t unknown;         /* bytes whose value nothing had shown yet */
    uint64_t races;           /* pairs of accesses, dword by dword */
    uint64_t segments, waves; /* of all waves: stretches of accesses between two waits */
    uint64_t shadow_bytes;    /* of the host, for pages, waves and segments */
} memcheck_counts;
memcheck_counts memcheck_get_counts(const memcheck *m);

/* Pairs of instructions that race, in the order in which they were found. */
size_t memcheck_race_count(const memcheck *m);
/* One line about a pair: the accesses that were seen first. times: how often. */
const char *memcheck_race_at(const memcheck *m, size_t index, uint64_t *times);

#endif
