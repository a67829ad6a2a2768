/* debugger.h: the interface between emulated launches and the debugger (src/debug). One launch runs at a time. */
#ifndef RUNTIME_DRIVER_DEBUGGER_H
#define RUNTIME_DRIVER_DEBUGGER_H

#include "runtime/driver/backend.h"
#include "runtime/emulate/emulate.h"

/* A launch that begins. Everything is borrowed until it ends. */
typedef struct drv_launched {
    uint64_t number; /* from 1 on */
    size_t gpu;
    const amd_program *program;
    const drv_dispatch *dispatch;
    uint64_t kernarg; /* simulated address of its arguments */
    memory_space *address_space;
} drv_launched;

typedef struct ls_gpu_debugger {
    emulate_debugger hooks;
    void (*begin)(void *self, const drv_launched *launch);
    void (*end)(void *self, ls_status status, const ls_gpu_counts *counts);
} ls_gpu_debugger;

#endif
