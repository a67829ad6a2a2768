/* monitor_impl.h: what the run's half (monitor.c) and the server's half (server.c) share, all of it under the lock. */
#ifndef MONITOR_MONITOR_IMPL_H
#define MONITOR_MONITOR_IMPL_H

#include "monitor/monitor.h"

#include <pthread.h>

struct MHD_Daemon;

/* What a client wants of the run. */
typedef enum monitor_command {
    MONITOR_NONE,
    MONITOR_PAUSE,
    MONITOR_CONTINUE,
    MONITOR_STEP,
    MONITOR_STOP
} monitor_command;

/* A text that the run writes and the server reads. */
typedef struct monitor_text {
    char *data;
    size_t bytes;
    uint64_t made_ns;   /* 0: never */
    uint64_t wanted_ns; /* when a client last asked for it; 0: never */
} monitor_text;

struct monitor {
    monitor_options options;
    struct MHD_Daemon *daemon;
    uint16_t port;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a command came */
    monitor_command command;
    ls_time step_fs;
    monitor_text state, waits;

    /* Of the run's thread alone. */
    ls_run_sampler sampler;
    bool is_paused;
    const char *ended; /* NULL while it runs */
    uint64_t began_ns, rated_ns;
    ls_run_progress last, rated;
    double fs_per_second, events_per_second; /* of host time */
};

/* --- server.c --- */

ls_status monitor_serve(monitor *m, ls_error *err);
void monitor_stop_serving(monitor *m);

/* --- pages, made from page.html, page.js, page.css, sweep.html and sweep.js --- */

extern const unsigned char monitor_page_html[], monitor_page_js[], monitor_page_css[];
extern const size_t monitor_page_html_bytes, monitor_page_js_bytes, monitor_page_css_bytes;
extern const unsigned char monitor_sweep_html[], monitor_sweep_js[];
extern const size_t monitor_sweep_html_bytes, monitor_sweep_js_bytes;

#endif
