/* run.h: one run of a workload, as workload.c starts it and helpers.c serves it. */
#ifndef WORKLOADS_RUN_H
#define WORKLOADS_RUN_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "lockstep/random.h"
#include "workloads/workload.h"

#define WL_GPUS_MAX 64

typedef enum wl_share { WL_COPIES, WL_DIVIDED, WL_SHARED, WL_IN_TURN } wl_share;

/* A buffer of a run on several GPUs. */
typedef struct wl_array {
    wl_share share;
    ls_gpu_address on[WL_GPUS_MAX]; /* of each GPU; the host knows it by the first */
    size_t bytes, unit_bytes, before, after;
} wl_array;

struct wl_run {
    const wl_workload *workload;
    uint64_t *values; /* of the options */
    ls_gpu_context *context;
    ls_gpu_module *module;
    /* Several GPUs. parts is 1 with one, and with all as one device. */
    wl_devices devices;
    ls_gpu_system *system;
    uint32_t parts, units;
    ls_gpu_module **modules;
    ls_gpu_queue **queues;
    LS_VEC(wl_array *) arrays;     /* in the arena */
    LS_VEC(ls_gpu_event *) events; /* of commands of single parts since wl_measure(), or since the begin */
    uint32_t first_event;          /* number of the first of them */
    uint64_t measured_from_ns;
    wl_transfer transfer;
    wl_region region;
    mem_arena arena;
    ls_random random;
    hash_stream *downloads;
    bool check;
    uint64_t compared;
    bool is_wrong;
    ls_status status; /* the first failure stays */
    ls_error *err;    /* of the program that runs it; not NULL */
};

/* --- divide.c: the same calls with several GPUs --- */

ls_gpu_address divide_alloc(wl_run *r, wl_array array, bool zeroed);
void divide_write(wl_run *r, ls_gpu_address to, const void *from, size_t bytes);
void divide_download(wl_run *r, void *to, ls_gpu_address from, size_t bytes);
void divide_launch(wl_run *r, const char *kernel, ls_gpu_launch *launch);
/* The host's names of GPU memory: the first GPU's copy. NULL: no buffer. */
wl_array *divide_array(const wl_run *r, ls_gpu_address address);
/* peers.c */
void peers_release(wl_run *r);
/* Modules and queues on all GPUs. */
ls_status divide_open(wl_run *r, const char *path, ls_error *err);

#endif
