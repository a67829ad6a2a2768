/* debugger.h: the interface between launches and the debugger (src/debug). Emulated, one launch runs at a time. In
 * simulated time several may run side by side: `begin` says whose instruction comes next. */
#ifndef RUNTIME_DRIVER_DEBUGGER_H
#define RUNTIME_DRIVER_DEBUGGER_H

#include "lockstep/time.h"
#include "runtime/driver/backend.h"
#include "runtime/emulate/emulate.h"

/* Bytes of an address that a level of the memory has. */
typedef struct drv_copy {
    const char *name; /* of the block: "gpu0.l2_3" */
    uint64_t value;   /* bytes that it does not have are 0 */
    uint8_t has,
        has_newer; /* bit i: it has byte i; it has written to byte i, and the level below has not got it */
} drv_copy;

/* A machine in simulated time, while it stands inside a cycle. */
typedef struct drv_view {
    void *self;
    /* The newest bytes: what L2 has, else what is below it; before them bytes that a cache above wrote and still keeps.
     * Messages under way are not looked at. */
    ls_status (*read)(void *self, uint64_t address, void *to, uint64_t bytes, ls_error *err);
    /* All levels that have some of up to 8 bytes of one line, from the compute units down; returns how many. */
    size_t (*copies)(void *self, uint64_t address, uint32_t bytes, drv_copy *out, size_t room);
    /* The compute units of all GPUs, for cu_debug.h; NULL past the last. *gpu: its number in the system. */
    void *(*unit)(void *self, size_t index, uint32_t *gpu);
    const ls_clock *clock; /* of the compute units */
} drv_view;

/* A launch that begins. Everything is borrowed until it ends. */
typedef struct drv_launched {
    uint64_t number; /* from 1 on */
    size_t gpu;
    const amd_program *program;
    const drv_dispatch *dispatch;
    uint64_t kernarg;            /* simulated address of its arguments */
    memory_space *address_space; /* emulated; else NULL */
    const drv_view *view;        /* in simulated time; else NULL */
    bool resumes;                /* it has begun before: another launch had its turn */
} drv_launched;

typedef struct ls_gpu_debugger {
    emulate_debugger hooks;
    void (*begin)(void *self, const drv_launched *launch);
    void (*end)(void *self, ls_status status, const ls_gpu_counts *counts);
} ls_gpu_debugger;

#endif
