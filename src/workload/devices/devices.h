/* devices.h: work for several GPUs at the same time: lists of devices, and collectives that are generated.
 *
 * A device list is a text file of our own (docs/multi-gpu.md): a section per device with its traces, copies to other
 * devices, signals, waits and delays. A collective is such a list without a file: "synth:all-reduce,bytes=1048576". */
#ifndef DEVICES_DEVICES_H
#define DEVICES_DEVICES_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "lockstep/sector.h"
#include "model/gpu/device_queue.h"
#include "workload/trace.h"

#define DEVICES_MAX 64u
#define DEVICES_HEAD "lockstep devices 1" /* first line of a list */

/* An address range of one device. */
typedef struct devices_range {
    uint64_t begin, end;
    uint32_t device;
} devices_range;

/* Where addresses live. */
typedef enum devices_owners {
    DEVICES_DECLARED,    /* on the device whose traces have a copy to them; else where they are used */
    DEVICES_RANGES,      /* as a file says; else where they are used */
    DEVICES_FIRST_TOUCH, /* pages: on the device whose kernels are the first to use them */
} devices_owners;

/* One device. Commands name other devices (`to`); delays are in nanoseconds (`cycles`). */
typedef struct devices_device {
    LS_VEC(sass_trace *) traces;
    LS_VEC(const char *) paths; /* of the traces, in the list's memory */
    LS_VEC(device_command) commands;
    LS_VEC(uint64_t) lines; /* of the list, by command */
    sass_trace *trace;      /* all traces, one behind the other */
    bool is_given;
} devices_device;

/* What a collective moved, for its bandwidth. bytes 0: it is none. */
typedef struct devices_collective {
    const char *name;
    uint64_t bytes; /* that a bandwidth counts */
    double factor;  /* bus bandwidth = algorithm bandwidth * factor */
    uint64_t steps; /* latency: bytes is 0, and a step is one access */
} devices_collective;

typedef struct devices_list {
    mem_arena arena;
    const char *path; /* of errors */
    devices_device at[DEVICES_MAX];
    uint32_t count; /* devices 0 to count - 1 */
    LS_VEC(const char *) signals;
    text_buffer names; /* of signals: device_command.text is an offset */
    LS_VEC(devices_range) ranges;
    devices_owners owners;
    uint64_t page_bytes; /* of DEVICES_FIRST_TOUCH */
    devices_collective collective;
} devices_list;

/* Whether a workload is a device list or a collective; cheap. */
bool devices_is(const char *path);
/* Reads and checks it. devices: how many GPUs there are; a list with another device is an error. */
ls_status devices_open(const char *path, uint32_t devices, const trace_options *options, devices_list **out,
                       ls_error *err);
/* The same of a text in memory, with a NUL behind it, which is changed; path: of its files and errors. */
ls_status devices_open_memory(const char *path, char *text, size_t bytes, uint32_t devices,
                              const trace_options *options, devices_list **out, ls_error *err);
void devices_close(devices_list *list);
/* Which work this is: the list or the collective as written, its traces, owners of addresses, and how many devices. */
ls_status devices_identity(const devices_list *list, hash128 *out, ls_error *err);
/* waits.c: an error that names the cycle if devices wait for each other. */
ls_status devices_check_waits(const devices_list *list, ls_error *err);

/* The addresses of other devices, as one device sees them: sorted and disjoint; `owner` is a device. Owned by the
 * list. */
ls_status devices_owner_ranges(devices_list *list, uint32_t device, const ls_owner_range **out,
                               uint32_t *count, ls_error *err);

/* --- for the files of this folder --- */

ls_status devices_no_memory(ls_error *err);
/* Adds a command to a device; line: of the list, 0: none. */
ls_status devices_add(devices_list *list, uint32_t device, const device_command *command, uint64_t line,
                      ls_error *err);
/* Adds a trace to a device and its kernels as a command. */
ls_status devices_add_trace(devices_list *list, uint32_t device, const char *path, bool continues,
                            uint64_t line, const trace_options *options, ls_error *err);
/* The number of a signal, by name. */
ls_status devices_signal(devices_list *list, const char *name, uint32_t *out, ls_error *err);
/* When all commands are there: joins traces, matches signals and waits. */
ls_status devices_finish(devices_list *list, ls_error *err);

/* join.c: traces one behind the other. They stay the caller's and outlive it. */
ls_status join_traces(sass_trace *const *traces, size_t count, const trace_options *options, sass_trace **out,
                      ls_error *err);

/* collective.c */
bool collective_is(const char *text); /* behind "synth:" */
size_t collective_count(void);
const char *collective_name(size_t index);
const char *collective_help(size_t index);
ls_status collective_make(devices_list *list, const char *text, const trace_options *options, ls_error *err);

/* owners.c */
ls_status devices_read_ranges(devices_list *list, const char *path, ls_error *err);

#endif
