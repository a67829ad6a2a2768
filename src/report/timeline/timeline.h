/* timeline.h: a run as a timeline: taps of blocks (lockstep/timeline.h) -> spool -> merged events -> slices on
 * tracks -> a file for a viewer.
 *
 *   filter.c    which kernels, times, blocks and kinds
 *   spool.c     events of all domains in a temporary file, and back in one order
 *   build.c     events -> slices, lanes, counters; build_request.c those of memory and fabric
 *   writer.h    the functions of a format; perfetto.c, chrome.c, daisen.c, kanata.c and spans.c are formats
 *   spans_pack.c  spans as the data of a page, which src/report/page/timeline*.js draws
 *   timeline.c  the listener, and the way from the end of the run to the file */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "lockstep/timeline.h"

typedef struct timeline timeline;
struct timeline_spans;

typedef enum timeline_format {
    TIMELINE_PERFETTO,
    TIMELINE_CHROME,
    TIMELINE_DAISEN4,
    TIMELINE_DAISEN5,
    TIMELINE_KANATA,
    TIMELINE_PAGE, /* a page with the viewer of reports and nothing else */
    TIMELINE_FORMATS
} timeline_format;

typedef struct timeline_options {
    const char *path;
    const char *format;         /* a name of timeline_format_names; NULL: by the extension */
    const char *const *filters; /* "kernel=*gemm*", "time=10us-20us" ...; see filter.h */
    size_t filter_count;
    const char *command; /* how the run was started, for files that have a place for it; may be NULL */
} timeline_options;

extern const char *const timeline_format_names[TIMELINE_FORMATS + 1]; /* "perfetto" ...; ends with NULL */
const char *timeline_kind_name(ls_tap_kind kind);
ls_status timeline_format_of(const char *path, const char *format, timeline_format *out, ls_error *err);
/* Before a long run: are path, format and filters good? Nothing is created. */
ls_status timeline_check(const timeline_options *options, ls_error *err);

/* Copies its options. */
ls_status timeline_create(const timeline_options *options, timeline **out, ls_error *err);
void timeline_destroy(timeline *t); /* NULL is fine */
/* Before the run, after the machine is built. */
ls_status timeline_attach(timeline *t, ls_engine *engine, ls_error *err);
/* After the run, or the part of it that there is; `end`: until when it ran. Writes the whole file or none. Filters that
 * matched nothing become warnings of the engine. */
ls_status timeline_write(timeline *t, ls_time end, ls_error *err);
/* Slices that were written, by ls_tap_kind; events that were recorded. */
uint64_t timeline_count(const timeline *t, ls_tap_kind kind);
uint64_t timeline_events(const timeline *t);
/* The same as timeline_write() for a report: *out (spans.h) is the timeline's own. Both may be called, in any order. */
ls_status timeline_make_spans(timeline *t, ls_time end, const struct timeline_spans **out, ls_error *err);

#endif
