/* spans.h: a timeline in memory, for a page that draws it: 24 bytes per span, names and tracks by number. */
#ifndef REPORT_TIMELINE_SPANS_H
#define REPORT_TIMELINE_SPANS_H

#include "report/timeline/writer.h"

typedef struct timeline_span {
    ls_time begin;      /* fs */
    uint64_t length;    /* fs */
    uint32_t track;     /* index of tracks */
    uint32_t name : 24; /* index of names */
    uint32_t kind : 8;  /* ls_tap_kind; states have LS_TAP_STALL */
} timeline_span;

typedef struct timeline_row {
    const char *process, *block, *name; /* "gpu0", "core3", "warp 17" */
} timeline_row;

typedef struct timeline_spans {
    const timeline_span *at; /* by the time of their ends; those inside others come first */
    size_t count;
    size_t left_out; /* beyond SPANS_MOST */
    const timeline_row *tracks;
    size_t track_count;
    const char *const *names;
    size_t name_count;
} timeline_spans;

#define SPANS_MOST 1000000u

/* {"tracks":[[process,block,name],...],"names":[...],"kinds":[...],"left_out":0,
 *  "track":[...],"name":[...],"kind":[...],"begin_ps":[...],"length_ps":[...]}; begins are differences to the one before. */
ls_status spans_write_json(const timeline_spans *spans, FILE *to, ls_error *err);

#endif
