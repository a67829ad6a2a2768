/* profile.h: how often the accesses of each static instruction hit L1, L2 or go to DRAM, found without
 * simulating time. What `lockstep profile` prints and what `core.memory: analytic` runs on.
 *
 *   level.c, reuse.c    a cache without time
 *   contention.c              cores that wait for each other's sectors at L2
 *   lanes.c             the addresses of a warp -> lines and sectors
 *   walk.c              thread blocks on cores, and the threads that walk them in epochs
 *   walk_core.c         warps of a core in an epoch, accesses through L1
 *   walk_part.c         what they send to L2 (sent.h) in part of its slices and DRAM
 *   profile.c           from counts to rates
 *   profile_file.c      profiles in files, and where they are kept */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/vec.h"
#include "isa/stream.h"
#include "model/gpu/shape.h"

typedef enum ls_profile_method { LS_PROFILE_CACHE, LS_PROFILE_REUSE } ls_profile_method;
extern const char *const ls_profile_method_names[]; /* "cache", "reuse", NULL */

/* Accesses of one static instruction that went equally deep. */
typedef struct ls_profile_count {
    uint64_t insts;   /* warp instructions with an active lane */
    uint64_t sectors; /* that they touched */
    uint64_t l2;      /* sent to L2 */
    uint64_t dram;    /* read from or written to DRAM because of them */
} ls_profile_count;

typedef struct ls_profile_inst {
    uint64_t pc;
    ls_profile_count level[RATES_LEVELS];
} ls_profile_inst;

typedef struct ls_profile_kernel {
    char *name;
    uint64_t command; /* index in the trace's list */
    uint64_t id;
    ls_profile_inst *at; /* by pc, ascending; only instructions with accesses */
    uint32_t count;
    uint64_t l2_sectors, slice_sectors;  /* of all slices; of the busiest */
    uint64_t dram_atoms, channel_cycles; /* of all channels; DRAM cycles that the busiest needs */
    uint64_t reads, closed, conflicts;   /* lines read; of them from a closed bank; with another row open */
    uint64_t slice_stalls;  /* slices stood still for DRAM, in 1/256 of its latency: contention.h */
    uint64_t walked, insts; /* warp instructions: walked; in the kernel, estimated */
} ls_profile_kernel;

typedef struct ls_profile {
    ls_hash hash; /* of trace, geometry and method */
    ls_profile_method method;
    LS_VEC(ls_profile_kernel) kernels;
} ls_profile;

void ls_profile_fini(ls_profile *profile);
const ls_profile_kernel *ls_profile_find(const ls_profile *profile, uint64_t command);
void ls_profile_kernel_fini(ls_profile_kernel *kernel);
/* All instructions together. */
ls_profile_inst ls_profile_sum(const ls_profile_kernel *kernel);

/* The rates of a kernel on a machine. ls_profile_rates_fini() is due after success. */
ls_status ls_profile_rates(const ls_profile_kernel *kernel, const gpu_shape *shape, rates_kernel *out,
                           ls_error *err);
void ls_profile_rates_fini(rates_kernel *rates);

/* --------------------------------------------------------------------------------------------- making one */

/* Thread blocks, in the order of the kernel. */
typedef struct ls_profile_source {
    void *self;
    /* The block that comes next, which stays valid until it is given back; NULL after the last. */
    ls_status (*next)(void *self, const ls_cta **cta, ls_error *err);
    void (*done)(void *self, const ls_cta *cta);
} ls_profile_source;

typedef struct ls_profile_request {
    const ls_kernel_info *info;
    const ls_inst *insts;
    uint64_t command, ctas;
    ls_profile_source source;
    /* So many warp instructions (or a fortieth of the kernel up to 20 times as many, or up to four times as
     * many so that a wave of blocks is in it) with cold caches, and so many with warm ones, stand for the
     * kernel; 0: all are walked. */
    uint64_t sample;
} ls_profile_request;

/* Caches keep what they hold from kernel to kernel, as those of the machine do. */
typedef struct ls_profiler ls_profiler;
ls_status ls_profiler_create(const gpu_shape *shape, ls_profile_method method, ls_profiler **out,
                             ls_error *err);
void ls_profiler_destroy(ls_profiler *profiler);
/* Walks with all threads of the pool from now on, which has to outlive the profiler or the next call; NULL:
 * with the caller alone, as at first. What is found is the same. Not while a kernel is walked. */
ls_status ls_profiler_use(ls_profiler *profiler, ls_pool *pool, ls_error *err);
/* A copy to the device: its bytes are in L2. */
void ls_profiler_warm(ls_profiler *profiler, uint64_t address, uint64_t bytes);
/* *out is valid after success only; ls_profile_kernel_fini() is due then. */
ls_status ls_profiler_run(ls_profiler *profiler, const ls_profile_request *request, ls_profile_kernel *out,
                          ls_error *err);

/* -------------------------------------------------------------------------------------------------- files */

/* Identifies a profile: the trace (its files' names, sizes and times), what of it is run, the machine's
 * geometry. */
ls_status ls_profile_hash(const char *trace_path, const char *kernels, uint64_t cta_limit,
                          const gpu_shape *shape, ls_profile_method method, ls_hash *out, ls_error *err);
/* A complete file or none. */
ls_status ls_profile_write(const ls_profile *profile, const char *path, ls_error *err);
ls_status ls_profile_read(const char *path, ls_profile *out, ls_error *err);
/* Where profiles are kept: $XDG_CACHE_HOME/lockstep/profiles or $HOME/.cache/lockstep/profiles, and the file
 * of this hash in it. NULL if neither variable is set or without memory. */
char *ls_profile_cache_path(ls_arena *arena, ls_hash hash);
/* Makes the folders that lead to `path`. */
ls_status ls_profile_make_folders(ls_arena *arena, const char *path, ls_error *err);

#endif
