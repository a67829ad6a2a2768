/* spans.h: a timeline in memory, for a page that draws it: spans on rows, texts by number. spans.c collects it, and
 * spans_pack.c writes it as the data of a page (docs/timelines.md says how). */
#ifndef REPORT_TIMELINE_SPANS_H
#define REPORT_TIMELINE_SPANS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/timeline/writer.h"

/* A text of spans. Each '#' stands for a number of the span, so that "warp 3 of group 17" needs no text of its own. */
typedef struct span_label {
    const char *text;
    const char *value; /* name of the spans' value: "address", "bytes"; NULL: they have none */
    uint32_t uses;
    uint8_t kind, part, numbers; /* ls_tap_kind, slice_part, how many '#' */
    bool is_address, has_parent;
} span_label;

#define SPAN_NUMBERS 2u
typedef struct timeline_span {
    uint64_t id, parent; /* of the slice; parent 0: none */
    ls_time begin, end;
    uint64_t value;
    uint32_t row, label;
    uint32_t numbers[SPAN_NUMBERS];
} timeline_span;

typedef struct timeline_row {
    const char *process, *block, *word, *name; /* "gpu0", "core3", "warp", "warp 17" */
    uint32_t order[4];                         /* place among the rows: process, block, kind of lane, lane */
    uint32_t counts[2];                        /* spans; spans inside of those */
} timeline_row;

/* A counter: values from a time on. */
typedef struct span_counter {
    const char *process, *block, *name, *unit;
    uint32_t order[4];
    LS_VEC(ls_time) times;
    LS_VEC(double) values;
} span_counter;

typedef struct timeline_spans {
    mem_arena arena;
    LS_VEC(timeline_span) list; /* by row, depth and time after timeline_spans_finish() */
    LS_VEC(timeline_row) rows;
    LS_VEC(span_label) labels; /* the most used first after timeline_spans_finish() */
    LS_VEC(span_counter) counters;
    LS_VEC(uint32_t) place_of; /* by id of track: its row or counter */
    string_map numbers;        /* of labels, from 1 */
    ls_time end;
    uint64_t points;   /* of counters */
    uint64_t left_out; /* beyond SPANS_MOST */
    bool is_out_of_memory;
} timeline_spans;

/* Spans that a page has. Kernels, copies, work-groups and warps are there beyond it too, up to twice as many. */
#define SPANS_MOST 1000000u
/* Values of counters; beyond it the larger of two neighbours stays. */
#define SPANS_POINTS 200000u

/* Of the rows and the spans on them, once. */
ls_status timeline_spans_finish(timeline_spans *s, ls_time end, ls_error *err);
void timeline_spans_fini(timeline_spans *s);
/* One JSON object; columns of spans are numbers of variable length in base64. */
ls_status timeline_spans_write(const timeline_spans *spans, FILE *to, ls_error *err);

#endif
