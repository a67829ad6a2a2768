/* settings.h: settings from environment variables for the system that programs see. docs/opencl.md
 * lists the variables; `lockstep exec` sets them. */
#ifndef CLIENT_SETTINGS_H
#define CLIENT_SETTINGS_H

#include "lockstep/driver.h"

#define CLIENT_GPUS_MAX 16

typedef struct client_settings {
    const char *gpus[CLIENT_GPUS_MAX]; /* LOCKSTEP_GPU: names with commas between them; one GPU per name */
    size_t gpu_count;
    uint64_t memory_bytes;      /* LOCKSTEP_MEMORY: bytes of each GPU, also 512M or 2G; 0: the model's */
    uint32_t threads;           /* LOCKSTEP_THREADS */
    uint32_t compute_units;     /* LOCKSTEP_COMPUTE_UNITS: of each GPU; 0: the model's */
    uint32_t platform_gpus;     /* LOCKSTEP_GPUS in mode time: GPUs of the platform; 0: as many as it has */
    bool unified;               /* LOCKSTEP_DEVICES: unified */
    const char *spread, *pages; /* LOCKSTEP_SPREAD, LOCKSTEP_PAGES: of the unified device */
    const char *mode;           /* LOCKSTEP_MODE; NULL: the driver's default */
    const char *platform;       /* LOCKSTEP_PLATFORM: of mode time; NULL: one with the GPU's instruction set */
    const char *sets[32];       /* LOCKSTEP_SET: KEY=VALUE, with blanks between them */
    size_t set_count;
    uint64_t max_instructions;             /* LOCKSTEP_MAX_INSTRUCTIONS: of one wavefront; 0: no limit */
    bool strict;                           /* LOCKSTEP_STRICT: 1 checks what programs do */
    bool check_memory;                     /* LOCKSTEP_CHECK_MEMORY: 1 compares reads with the last writes */
    const char *trace_path, *trace_filter; /* LOCKSTEP_TRACE, LOCKSTEP_TRACE_FILTER */
    const char *record_path;               /* LOCKSTEP_RECORD */
    const char *metrics_path;              /* LOCKSTEP_METRICS */
    bool summary;                          /* LOCKSTEP_SUMMARY: 1 prints it when the process ends */
    /* In mode time. */
    const char *rocprof_path; /* LOCKSTEP_ROCPROF */
    const char *series_every; /* LOCKSTEP_SERIES_EVERY; NULL: no metrics over time */
    const char *series_path;  /* LOCKSTEP_SERIES_OUT: their file; NULL: none */
    const char *series[32];   /* LOCKSTEP_SERIES: metrics, with blanks between them; none: the usual ones */
    size_t series_count;
    const char *monitor,
        *monitor_token; /* LOCKSTEP_MONITOR: the port of the live page; LOCKSTEP_MONITOR_TOKEN */
    const char *timeline_path, *timeline_format; /* LOCKSTEP_TIMELINE, LOCKSTEP_TIMELINE_FORMAT */
    const char *timeline_filters[32];            /* LOCKSTEP_TIMELINE_FILTER, with blanks between them */
    size_t timeline_filter_count;
} client_settings;

/* The texts live as long as the process. */
ls_status client_settings_read(client_settings *out, ls_error *err);

#endif
