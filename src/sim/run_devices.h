/* run_devices.h: the part of a simulation that is about several GPUs of one system at the same time: device lists and
 * collectives. Each GPU has a run_trace of its own. */
#ifndef SIM_RUN_DEVICES_H
#define SIM_RUN_DEVICES_H

#include "sim/run_trace.h"
#include "workload/devices/devices.h"

/* All zero is nothing. */
typedef struct run_devices {
    mem_arena arena;
    devices_list *list;
    run_trace *at; /* by device; without a trace for a device that has no commands */
    device_program *programs;
    uint32_t count;
    kernel_groups groups; /* of all GPUs */
    metric_store *metrics;
    ls_engine *engine;
    source_position begin; /* of the list; kind 0: not known yet */
} run_devices;

/* Opens the list and connects it to the machine's GPUs. run_devices_close() is due in every case. */
ls_status run_devices_begin(run_devices *r, const run_trace_options *options, const char *platform,
                            ls_engine *engine, metric_store *metrics, ls_error *err);
void run_devices_close(run_devices *r);
ls_status run_devices_run(run_devices *r, const ls_run_options *options, ls_run_result *result, ls_error *err);

/* --- run_position.c --- */

/* Before the run: the devices begin at a position, which was saved from the same list. */
ls_status run_devices_go_to(run_devices *r, const source_position *from, ls_error *err);
/* After the run: the position at a time of it, after all commands and kernels that had ended then. */
ls_status run_devices_position(run_devices *r, ls_time time, source_position *out, ls_error *err);
/* The same before a kernel of a device, by its place in replay_kernel_at(). */
ls_status run_devices_position_before(run_devices *r, uint32_t device, uint64_t kernel, source_position *out,
                                      ls_error *err);

/* --- run_trace_save.c --- */

/* As run_trace_save(), run_trace_resume() and replay_resumed(), for all devices. */
ls_status run_devices_save(run_devices *r, checkpoint_writer *writer, ls_error *err);
ls_status run_devices_resume(run_devices *r, checkpoint_reader *reader, uint32_t threads, ls_error *err);
void run_devices_resumed(run_devices *r);

/* --- run_devices.c --- */

/* Whether the device has commands. */
bool run_devices_has(const run_devices *r, uint32_t device);
/* When the last command of the list ended, and of one device. 0: none has. */
ls_time run_devices_end(const run_devices *r);
ls_time run_devices_end_of(const run_devices *r, uint32_t device);
/* The longest device, in cycles of its core clock. */
ls_cycle run_devices_cycles(const run_devices *r);
/* Bytes per second; 0: not a collective that moves data. */
double run_devices_bus_bandwidth(const run_devices *r);
/* One line per device, and the bandwidth of a collective. */
void run_devices_head(const run_devices *r, FILE *to);
/* One line per device, the kernels, and the bandwidth of a collective. */
void run_devices_table(const run_devices *r, FILE *to);

#endif
