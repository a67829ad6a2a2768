/* timing_log.h: the log of a program in simulated time: everything that its host code learns from the machine, in order.
 * With it the host code runs again up to a checkpoint while the machine does nothing (timing_checkpoint.c). It has the
 * results of runs, the packets that were over, counters for those who watch commands, bytes that were copied to the
 * program, and answers of the directory of pages.
 *
 * A function of this file does one of three things: nothing (there is no log), it writes its value, or it replaces the
 * value by the one that was written. A program that asks for another kind of value than the log has next does something
 * else than before; all further values are zeros then, and timing_log_check() says so. */
#ifndef RUNTIME_TIMING_TIMING_LOG_H
#define RUNTIME_TIMING_TIMING_LOG_H

#include "base/bytes.h"
#include "lockstep/command.h"
#include "lockstep/engine.h"

typedef enum timing_log_kind {
    TIMING_LOG_RUN = 1, /* the result of one run of the engine */
    TIMING_LOG_PACKET,  /* a packet that is over */
    TIMING_LOG_NONE,    /* no more of them */
    TIMING_LOG_COUNTERS,
    TIMING_LOG_BYTES,      /* of the program's memory */
    TIMING_LOG_UNFINISHED, /* the begin of the first kernel that has not ended */
    TIMING_LOG_SHARE,      /* counts of one kernel */
    TIMING_LOG_PAGES,      /* an answer of the directory */
} timing_log_kind;

/* What a command processor has filled in when a packet is over. */
typedef struct timing_results {
    ls_time begin, end;
    uint64_t groups, waves, number;
    ls_cu_tally tally;
    ls_cu_done fault;
    uint64_t has_fault, uses_host;
} timing_results;

void timing_results_get(timing_results *results, const ls_command_packet *packet);
void timing_results_set(const timing_results *results, ls_command_packet *packet);

typedef struct timing_log {
    bool replays;
    bool is_kept;  /* after a replay, for further checkpoints */
    bytes_out out; /* what was written */
    bytes_in in;   /* what is replayed, of memory of the owner */
    bool differs;  /* the program asked for something else */
    ls_engine *engine;
    LS_VEC(uint64_t) counters; /* the last that were logged, block by block */
    /* Packets that are with command processors, in the order of submission. */
    LS_VEC(ls_command_packet *) flying;
} timing_log;

void timing_log_fini(timing_log *log);
/* LS_OK, or why the log is of no use any more. */
ls_status timing_log_check(const timing_log *log, ls_error *err);
static inline bool timing_log_replays(const timing_log *log)
{
    return log != NULL && log->replays;
}
/* A replay has used everything: the machine takes over. */
bool timing_log_is_over(const timing_log *log);

/* log NULL: nothing happens, here and below. */
void timing_log_value(timing_log *log, timing_log_kind kind, void *value, size_t bytes);
/* The same for long rows of bytes that mostly end with zeros. */
void timing_log_share(timing_log *log, void *bytes, size_t count);
/* The counters of all blocks. A replay sets them, as far as they changed. */
void timing_log_counters(timing_log *log);
/* A packet was submitted. False: the host has no memory. */
bool timing_log_submit(timing_log *log, ls_command_packet *packet);
/* Packet is what the machine gave (NULL: none), or NULL in a replay; returns the packet, or the one of the log. */
ls_command_packet *timing_log_take(timing_log *log, ls_command_packet *packet);

#endif
