/* workload.h: the interface of workloads. A workload has kernels in NAME/NAME.cl. Its host in NAME/NAME.c runs
 * them through the driver and checks the result against a reference on the CPU. The file ends with
 * WL_REGISTER(workload).
 *
 * A host reads from top to bottom without error handling between its lines: the first call that fails is
 * remembered in the wl_run, and every later one does nothing. Only before touching an array must it check
 * wl_failed().
 *
 *     static void run(wl_run *r)
 *     {
 *         uint32_t n = wl_u32(r, "size");
 *         float *a = wl_random_f32(r, n, -1, 1), *b = wl_zeros(r, n, sizeof *b);
 *         ls_gpu_address da = wl_upload(r, a, n * sizeof *a), db = wl_buffer(r, n * sizeof *b);
 *         wl_launch(r, "negate", WL_1D(n), WL_1D(64), WL_ARG(da), WL_ARG(db), WL_ARG(n));
 *         wl_download(r, b, db, n * sizeof *b);
 *         if (!wl_checking(r))
 *             return;
 *         for (uint32_t i = 0; i < n; i++)
 *             if (!wl_expect_f32(r, "b", i, b[i], -a[i], 0))
 *                 return;
 *     } */
#ifndef WORKLOADS_WORKLOAD_H
#define WORKLOADS_WORKLOAD_H

#include "lockstep/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wl_run wl_run;

/* A number of the problem. The first one of a workload is called "size" and is set by `lockstep emulate NAME
 * --size N`; the others are set with --param name=value. */
typedef struct wl_option {
    const char *name;
    uint64_t value;    /* default */
    uint64_t min, max; /* inclusive; max 0: no limit */
    const char *help;  /* one line, with the unit */
} wl_option;

/* Names of an option's values, from 0 on. */
typedef struct wl_value_names {
    const char *option;       /* NULL ends a list of them */
    const char *const *names; /* up to a NULL */
} wl_value_names;

typedef struct wl_workload {
    const char *name;    /* also of the folder and of the kernel file */
    const char *summary; /* one line, no full stop */
    const char *source;  /* where the algorithm comes from */
    const wl_option *options;
    size_t option_count;
    void (*run)(wl_run *run);
    const wl_value_names *value_names; /* NULL: all values are numbers */
    const char *kernels; /* the kernel file (any folder's KERNELS.cl) if several share one; NULL: the name */
    bool is_micro;       /* a microbenchmark: listed apart */
    bool divides;        /* it divides itself over several GPUs */
    const char *suite;   /* "mi300a": one of its benchmarks, listed apart, for CDNA only; NULL: none */
    bool races;          /* its work-groups race: what the emulator makes of them depends on their order */
} wl_workload;

/* The GPUs that a run uses. */
typedef enum wl_devices {
    WL_SINGLE,     /* one of them */
    WL_DISCRETE,   /* all, each with its own memory; parts are exchanged by copies between GPUs */
    WL_UNIFIED,    /* all as one device */
    WL_LOCALITY,   /* all, with addresses in common; each part of the data lies on the GPU that works on it */
    WL_DUPLICATED, /* all, each with the whole problem; a workload sees one part */
    WL_DEVICES_COUNT
} wl_devices;
extern const char *const wl_devices_names[WL_DEVICES_COUNT + 1]; /* "single" ..., then NULL */

#define WL_OPTIONS(table_) .options = (table_), .option_count = LS_COUNT_OF(table_)

/* Data in a linker section; nothing runs before main. */
#define WL_REGISTER(workload_)                                                                                \
    __attribute__((section("ls_workloads"),                                                                   \
                   used)) static const wl_workload *const wl_registered_##workload_ = &(workload_)

/* ----------------------------------------------------------------------- for the workloads: inside run() */

/* The options' values. Reading an option that the workload does not have fails the run. */
uint64_t wl_u64(wl_run *r, const char *option);
uint32_t wl_u32(wl_run *r, const char *option); /* the option's max must fit */

/* Whether something failed; then the host returns. */
bool wl_failed(const wl_run *r);
/* Fails the run with the host's own reason: a size that does not work. */
void wl_fail(wl_run *r, ls_status status, const char *fmt, ...) LS_PRINTF(3, 4);
/* True if the result is to be compared with the reference (--verify) and nothing has failed. */
bool wl_checking(const wl_run *r);

/* Host arrays live until the run is over; count may be 0. NULL if the run has failed. Random values come from
 * the run's fixed seed: the same on every host and for every GPU. */
void *wl_zeros(wl_run *r, size_t count, size_t element_bytes);
float *wl_random_f32(wl_run *r, size_t count, float low, float high);
double *wl_random_f64(wl_run *r, size_t count, double low, double high);
uint32_t *wl_random_u32(wl_run *r, size_t count, uint32_t limit); /* in [0, limit); limit 0: all values */
uint8_t *wl_random_u8(wl_run *r, size_t count);
uint64_t wl_random(wl_run *r, uint64_t limit); /* one number */

/* Buffers of the GPU live until the run is over; 0 bytes become 1. */
ls_gpu_address wl_buffer(wl_run *r, size_t bytes);                   /* undefined */
ls_gpu_address wl_upload(wl_run *r, const void *data, size_t bytes); /* a new buffer with this content */
ls_gpu_address wl_zeroed(wl_run *r, size_t bytes);                   /* 0, without a command */
void wl_write(wl_run *r, ls_gpu_address to, const void *from, size_t bytes);
void wl_download(wl_run *r, void *to, ls_gpu_address from, size_t bytes);
/* The same in no simulated time, on one GPU: bytes that were there before, or are looked at afterwards. Presets come before the
 * first command. */
void wl_preset(wl_run *r, ls_gpu_address to, const void *from, size_t bytes);
void wl_look(wl_run *r, void *to, ls_gpu_address from, size_t bytes);

/* --- several GPUs. With one, or all as one device, there is one part. ---
 *
 * Work consists of `units` in a row, each of equally many work-groups of every launch that follows. Part i of n has the
 * units from units * i / n on. A launch runs each part on its GPU, all at the same time. Buffers of wl_buffer() and
 * wl_upload() exist once per GPU: writes go to all, and a launch gets the one of its GPU. */
void wl_divide(wl_run *r, uint32_t units);
uint32_t wl_parts(const wl_run *r);
uint32_t wl_part_begin(const wl_run *r, uint32_t part); /* its first unit; of part n: their number */
/* A buffer with unit_bytes for each unit. A part reads `before` and `after` bytes more, and writes its own alone. */
ls_gpu_address wl_divided(wl_run *r, size_t bytes, size_t unit_bytes, size_t before, size_t after);
/* A buffer that every part uses anywhere. WL_DISCRETE: one per GPU; what a GPU writes is in its own alone. */
ls_gpu_address wl_shared(wl_run *r, size_t bytes);
/* The same for a buffer that all parts read from its begin to its end at the same time. WL_LOCALITY: its pages go to the
 * GPUs in turn, so that no GPU has to serve all others at once. */
ls_gpu_address wl_read_by_all(wl_run *r, size_t bytes);
/* WL_DISCRETE: bytes of a shared buffer that a part has written go to the other GPUs. Else nothing is to be done. The
 * copies run when the next launch or download waits for them. */
void wl_exchange(wl_run *r, ls_gpu_address shared, uint32_t part, size_t offset, size_t bytes);
/* From the shared buffer of this part. */
void wl_download_part(wl_run *r, uint32_t part, void *to, ls_gpu_address from, size_t bytes);

/* --- GPUs that do different things. Commands of a part run in order, beside those of other parts. The calls return
 * before the commands have run; reading results waits for all of them. --- */

/* Whether kernels reach the memory of other parts: with a fabric, and in emulation. Copies always do. */
bool wl_reaches(const wl_run *r);
/* A command, for wl_wait_on(). 0: none. */
typedef uint32_t wl_event;
/* The byte of that part's own copy of a wl_buffer(). Commands of all parts may use it. */
ls_gpu_address wl_of(const wl_run *r, uint32_t part, ls_gpu_address address);
/* Host to one GPU. from stays as it is until all commands were waited for. to: as wl_of() returns it. */
void wl_write_on(wl_run *r, uint32_t part, ls_gpu_address to, const void *from, size_t bytes);
/* One GPU to the host; blocks. It counts as downloaded. */
void wl_read_on(wl_run *r, uint32_t part, void *to, ls_gpu_address from, size_t bytes);
wl_event wl_copy_on(wl_run *r, uint32_t part, ls_gpu_address to, ls_gpu_address from, size_t bytes);
/* Later commands of the part wait for the event of another one. */
void wl_wait_on(wl_run *r, uint32_t part, wl_event event);
/* Waits for all commands; simulated time is measured from here on. */
void wl_measure(wl_run *r);
/* Waits for all commands: nanoseconds from the first begin to the last end since wl_measure(). 0 in emulation. */
uint64_t wl_measured_ns(wl_run *r);

/* How long bytes took between GPUs. */
typedef struct wl_transfer {
    uint64_t bytes; /* of the array that a collective works on; 0: loads were measured */
    double factor;  /* bus bandwidth = bytes / time * factor */
    uint64_t ns;    /* of all of it; 0: time is not simulated */
    double load_ns; /* of one load; 0: bytes were measured */
    uint64_t ranks; /* that took part */
} wl_transfer;
/* Becomes a part of the result. */
void wl_report(wl_run *r, const wl_transfer *transfer);

/* Simulated time of the part of a program that its benchmark measures. */
typedef struct wl_region {
    double ns, low_ns, high_ns; /* the ends of its interval: equal if all of it was simulated */
    double simulated;           /* share that was; 0: no region */
} wl_region;
void wl_report_region(wl_run *r, const wl_region *region);
/* Whether time is simulated, and how much has passed. */
bool wl_is_timed(const wl_run *r);
uint64_t wl_now_ns(const wl_run *r);

typedef struct wl_size {
    uint32_t x, y, z;
} wl_size;
#define WL_1D(x_) ((wl_size){ (uint32_t)(x_), 1, 1 })
#define WL_2D(x_, y_) ((wl_size){ (uint32_t)(x_), (uint32_t)(y_), 1 })
#define WL_3D(x_, y_, z_) ((wl_size){ (uint32_t)(x_), (uint32_t)(y_), (uint32_t)(z_) })
/* n rounded up to a multiple of group, for a grid whose kernel checks its bound. */
uint32_t wl_round_up(uint32_t n, uint32_t group);

/* Arguments in the order of the kernel's; each a variable of the type that the kernel has. */
#define WL_ARG(variable_) LS_GPU_ARG(variable_)
#define WL_LOCAL(bytes_) LS_GPU_LOCAL(bytes_)
/* grid in work-items. Launches run in order; the kernel is one of NAME.cl. */
#define wl_launch(r_, kernel_, grid_, group_, ...)                                                            \
    wl_launch_args((r_), (kernel_), (grid_), (group_), (const ls_gpu_arg[]){ __VA_ARGS__ },                   \
                   sizeof((const ls_gpu_arg[]){ __VA_ARGS__ }) / sizeof(ls_gpu_arg))
void wl_launch_args(wl_run *r, const char *kernel, wl_size grid, wl_size group, const ls_gpu_arg *args,
                    size_t arg_count);
/* Of the whole grid, only these work-groups run; on one GPU. */
#define wl_launch_groups(r_, groups_, kernel_, grid_, group_, ...)                                            \
    wl_launch_groups_args((r_), (groups_), (kernel_), (grid_), (group_), (const ls_gpu_arg[]){ __VA_ARGS__ }, \
                          sizeof((const ls_gpu_arg[]){ __VA_ARGS__ }) / sizeof(ls_gpu_arg))
void wl_launch_groups_args(wl_run *r, ls_groups groups, const char *kernel, wl_size grid, wl_size group,
                           const ls_gpu_arg *args, size_t arg_count);
/* The whole grid on one part. Arguments are used as they are: addresses come from wl_of(). */
#define wl_launch_on(r_, part_, kernel_, grid_, group_, ...)                                                  \
    wl_launch_on_args((r_), (part_), (kernel_), (grid_), (group_), (const ls_gpu_arg[]){ __VA_ARGS__ },       \
                      sizeof((const ls_gpu_arg[]){ __VA_ARGS__ }) / sizeof(ls_gpu_arg))
wl_event wl_launch_on_args(wl_run *r, uint32_t part, const char *kernel, wl_size grid, wl_size group,
                           const ls_gpu_arg *args, size_t arg_count);

/* Compares one element with the reference; the first difference fails the run (LS_ERR_CHECK) with its place
 * and both values. Floats differ if they are further apart than tolerance * max(1, |want|); a NaN equals a
 * NaN. Return false when the run has failed. */
bool wl_expect_f32(wl_run *r, const char *array, size_t index, float got, float want, float tolerance);
bool wl_expect_f64(wl_run *r, const char *array, size_t index, double got, double want, double tolerance);
bool wl_expect_u32(wl_run *r, const char *array, size_t index, uint32_t got, uint32_t want);
bool wl_expect_u64(wl_run *r, const char *array, size_t index, uint64_t got, uint64_t want);
/* Whole arrays. */
bool wl_expect_bytes(wl_run *r, const char *array, const void *got, const void *want, size_t bytes);
bool wl_expect_f32s(wl_run *r, const char *array, const float *got, const float *want, size_t count,
                    float tolerance);

/* ------------------------------------------------------------------------------- for programs that run
 * workloads */

/* Sorted by name; microbenchmarks after the others, then suites. */
size_t wl_count(void);
const wl_workload *wl_at(size_t index);
/* LS_ERR_USAGE with the nearest name if there is none. */
ls_status wl_find(const char *name, const wl_workload **out, ls_error *err);

typedef struct wl_setting {
    const char *name;
    uint64_t value;
} wl_setting;

/* Names of the values of an option; NULL: they are numbers. */
const char *const *wl_names_of(const wl_workload *workload, const char *option);
/* The value of a setting: a number, or a name of the option. */
ls_status wl_parse_setting(const wl_workload *workload, const char *option, const char *text, uint64_t *out,
                           ls_error *err);
/* A setting without a name is the size: it gets the name of the workload's first option. */
ls_status wl_name_size(const wl_workload *workload, wl_setting *settings, size_t count, ls_error *err);

typedef struct wl_request {
    const wl_workload *workload;
    ls_gpu_system *system;
    size_t gpu; /* WL_SINGLE: the one that it uses */
    wl_devices devices;
    const wl_setting *settings; /* unknown names and values out of range are refused */
    size_t setting_count;
    bool check;
    const char *variant; /* "", or a variant of the kernels that the tests build: "O0", "wave64" */
    uint64_t seed;       /* 0: the usual one */
} wl_request;

typedef struct wl_result {
    ls_gpu_counts counts;
    uint64_t compared;    /* elements that were compared with the reference */
    bool is_wrong;        /* one of them differs; the error says which */
    uint64_t hash;        /* of everything that was downloaded: equal for equal results */
    wl_transfer transfer; /* of a workload that measures one */
    wl_region region;     /* likewise */
} wl_result;

/* Runs it. A difference is LS_ERR_CHECK, as is a fault of the kernel; *out is filled as far as the run
 * came. */
ls_status wl_run_workload(const wl_request *request, wl_result *out, ls_error *err);

/* Where NAME's code object for a target is: $LOCKSTEP_KERNELS, then share/lockstep/kernels beside the program's
 * directory or beside the library's, then in the install prefix of either. The error says what was looked for and
 * how it comes to be. */
ls_status wl_kernel_path(const char *name, const char *target, const char *variant, char *out,
                         size_t out_bytes, ls_error *err);

#endif
