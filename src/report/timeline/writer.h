/* writer.h: a format of timelines: a struct of functions, each of which may be NULL. The builder calls them in the
 * order of time: a track before its first slice, a parent's begin before its children's, ends from the inside out. */
#ifndef REPORT_TIMELINE_WRITER_H
#define REPORT_TIMELINE_WRITER_H

#include "report/timeline/timeline.h"

typedef enum track_type {
    TRACK_PROCESS, /* a GPU, the fabric, the host */
    TRACK_BLOCK,   /* a core, a memory partition; has no slices itself */
    TRACK_LANE,    /* slices that nest */
    TRACK_COUNTER,
} track_type;

typedef struct timeline_track {
    uint32_t id;                         /* from 1, in the order of use */
    uint32_t process;                    /* id of its process track */
    const struct timeline_track *parent; /* NULL: a process */
    const char *name;                    /* "gpu0", "core3", "warp 17", "active warps" */
    const char *location;                /* lanes: the same for all lanes of a kind: "gpu0.core3.warps" */
    const char *unit;                    /* of a counter */
    const char *word;                    /* lanes: "warp" */
    uint32_t order, lane;                /* place among its sisters; lanes: of their kind, and which of them */
    track_type type;
} timeline_track;

/* Parts of things: slices inside others, or of the same thing elsewhere. */
typedef enum slice_part {
    SLICE_WHOLE,
    SLICE_STATE,   /* of a warp */
    SLICE_STAGE,   /* of a request, between two steps */
    SLICE_SERVICE, /* a request in another block: the time that it spends there */
} slice_part;

/* A flow leads from a request through the blocks that serve it to its reply. */
typedef enum flow_phase { FLOW_START, FLOW_STEP, FLOW_END } flow_phase;

#define SLICE_ARGS 4
typedef struct slice_arg {
    const char *name;
    const char *text; /* NULL: a number */
    uint64_t number;
    bool is_address; /* the number is shown in hexadecimal */
} slice_arg;

typedef struct timeline_slice {
    uint64_t id, parent; /* from 1, in the order of begins; parent 0: the run */
    uint8_t kind;        /* ls_tap_kind */
    slice_part part;
    const timeline_track *track;
    const char *name; /* valid until the end */
    ls_time begin, end;
    uint64_t flow; /* 0: none. Slices with the same one belong together, in the order of time. */
    bool ends_flow;
    slice_arg args[SLICE_ARGS];
    uint32_t arg_count;
} timeline_slice;

typedef struct writer_file {
    const char *path, *command;
    ls_engine *engine; /* for the topology */
    uint32_t scale;    /* of Perfetto's times */
} writer_file;

typedef struct timeline_writer {
    ls_status (*open)(void *self, const writer_file *file, ls_error *err);
    void (*track)(void *self, const timeline_track *track);
    void (*begin)(void *self, const timeline_slice *slice);
    void (*end)(void *self, const timeline_slice *slice);
    /* For formats that tell flows beside slices. The start comes with the first step, so that each has an end. */
    void (*flow)(void *self, const timeline_slice *slice, flow_phase phase);
    /* The task has waited until now: `what` it waited for, as a kind of Daisen's. */
    void (*step)(void *self, const timeline_slice *task, ls_time time, const char *kind, const char *what);
    void (*count)(void *self, const timeline_track *track, ls_time time, double value);
    /* An instruction of a pipeline, as it was recorded; name: its text, for a begin. */
    void (*instruction)(void *self, const ls_tap_event *event, const char *name);
    /* The run ended at this time. The file gets its name, or there is none. */
    ls_status (*close)(void *self, ls_time end, ls_error *err);
    void (*abort)(void *self); /* in place of close */
    size_t size;               /* of its state, zeroed before open */
    uint32_t kinds;            /* that it can show */
} timeline_writer;

extern const timeline_writer writer_perfetto, writer_chrome, writer_daisen4, writer_daisen5, writer_kanata,
    writer_spans, writer_page;

#endif
