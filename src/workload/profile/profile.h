/* profile.h: how often the accesses of each static instruction hit L1, L2 or go to DRAM, found without
 * simulating time. `lockstep profile` prints these rates and `core.memory: analytic` uses them.
 *
 *   level.c, reuse.c    a cache without time
 *   contention.c              cores that wait for each other's sectors at L2
 *   lanes.c             the addresses of a warp -> lines and sectors
 *   walk.c              thread blocks on cores, and the threads that walk them in epochs
 *   walk_core.c         warps of a core in an epoch, accesses through L1
 *   walk_part.c         their requests to L2 (sent.h) in part of its slices and DRAM
 *   profile.c           from counts to rates
 *   profile_file.c      profiles in files, and where they are kept */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/vec.h"
#include "isa/stream.h"
#include "model/gpu/shape.h"

typedef enum profile_method { LS_PROFILE_CACHE, LS_PROFILE_REUSE } profile_method;
extern const char *const profile_method_names[]; /* "cache", "reuse", NULL */

/* Accesses of one static instruction that went equally deep. */
typedef struct profile_count {
    uint64_t insts;   /* warp instructions with an active lane */
    uint64_t sectors; /* that they touched */
    uint64_t l2;      /* sent to L2 */
    uint64_t dram;    /* read from or written to DRAM because of them */
} profile_count;

typedef struct profile_inst {
    uint64_t pc;
    profile_count level[RATES_LEVELS];
} profile_inst;

typedef struct kernel_profile {
    char *name;
    uint64_t command; /* index in the trace's list */
    uint64_t id;
    profile_inst *at; /* by pc, ascending; only instructions with accesses */
    uint32_t count;
    uint64_t l2_sectors, slice_sectors;  /* of all slices; of the busiest */
    uint64_t dram_atoms, channel_cycles; /* of all channels; DRAM cycles that the busiest needs */
    uint64_t reads, closed, conflicts;   /* lines read; of them from a closed bank; with another row open */
    uint64_t slice_stalls;  /* slices stood still for DRAM, in 1/256 of its latency: contention.h */
    uint64_t walked, insts; /* warp instructions: walked; in the kernel, estimated */
} kernel_profile;

typedef struct trace_profile {
    hash128 hash; /* of trace, geometry and method */
    profile_method method;
    LS_VEC(kernel_profile) kernels;
} trace_profile;

void profile_fini(trace_profile *profile);
const kernel_profile *profile_find(const trace_profile *profile, uint64_t command);
void profile_kernel_fini(kernel_profile *kernel);
/* All instructions together. */
profile_inst profile_sum(const kernel_profile *kernel);

/* The rates of a kernel on a machine. profile_rates_fini() is due after success. */
ls_status profile_rates(const kernel_profile *kernel, const gpu_shape *shape, rates_kernel *out,
                        ls_error *err);
void profile_rates_fini(rates_kernel *rates);

/* --------------------------------------------------------------------------------------------- making one */

/* Thread blocks, in the order of the kernel. */
typedef struct profile_source {
    void *self;
    /* The block that comes next, which stays valid until it is given back; NULL after the last. */
    ls_status (*next)(void *self, const ls_cta **cta, ls_error *err);
    void (*done)(void *self, const ls_cta *cta);
} profile_source;

typedef struct profile_request {
    const ls_kernel_info *info;
    const ls_inst *insts;
    uint64_t command, ctas;
    profile_source source;
    /* A sample of this many warp instructions with cold caches, and one with warm caches, represents the
     * kernel; 0: all are walked. It grows to a fortieth of the kernel, up to 20 times as many, or to one wave
     * of blocks, up to four times as many. */
    uint64_t sample;
} profile_request;

/* Caches keep what they hold from kernel to kernel, as those of the machine do. */
typedef struct trace_profiler trace_profiler;
ls_status profiler_create(const gpu_shape *shape, profile_method method, trace_profiler **out, ls_error *err);
void profiler_destroy(trace_profiler *profiler);
/* From now on walks with all threads of the pool, which must outlive the profiler or the next call. NULL, the
 * initial state: with the caller's thread alone. The results are the same. Not while a kernel is walked. */
ls_status profiler_use(trace_profiler *profiler, thread_pool *pool, ls_error *err);
/* A copy to the device: its bytes are in L2. */
void profiler_warm(trace_profiler *profiler, uint64_t address, uint64_t bytes);
/* For checkpoints, between kernels: what the caches hold. Loading is for a profiler of the same machine; in->failed: it is
 * of another one. */
void profiler_save(const trace_profiler *profiler, bytes_out *out);
ls_status profiler_load(trace_profiler *profiler, bytes_in *in, ls_error *err);
/* *out is valid after success only; profile_kernel_fini() is due then. */
ls_status profiler_run(trace_profiler *profiler, const profile_request *request, kernel_profile *out,
                       ls_error *err);

/* -------------------------------------------------------------------------------------------------- files */

/* Identifies a profile: the trace (its files' names, sizes and times), what of it is run, the machine's
 * geometry. */
ls_status profile_hash(const char *trace_path, const char *kernels, uint64_t cta_limit, const gpu_shape *shape,
                       profile_method method, hash128 *out, ls_error *err);
/* A complete file or none. */
ls_status profile_write(const trace_profile *profile, const char *path, ls_error *err);
ls_status profile_read(const char *path, trace_profile *out, ls_error *err);
/* Where profiles are kept: $XDG_CACHE_HOME/lockstep/profiles or $HOME/.cache/lockstep/profiles, and the file
 * of this hash in it. NULL if neither variable is set or without memory. */
char *profile_cache_path(mem_arena *arena, hash128 hash);
/* Makes the folders that lead to `path`. */
ls_status profile_make_folders(mem_arena *arena, const char *path, ls_error *err);

#endif
