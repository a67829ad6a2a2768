/* build.h: from merged events to slices on tracks. Things that may overlap (requests, transfers, kernels of several
 * streams) get lanes: the lowest one that is free, in the order of time, so that slices of a track nest. */
#ifndef REPORT_TIMELINE_BUILD_H
#define REPORT_TIMELINE_BUILD_H

#include "base/arena.h"
#include "base/vec.h"
#include "report/timeline/filter.h"
#include "report/timeline/writer.h"

typedef enum lane_class {
    LANES_KERNEL,
    LANES_COPY,
    LANES_GROUP,
    LANES_WARP,
    LANES_REQUEST,
    LANES_TRANSFER,
    LANES_MIGRATION,
    LANES_ASK,
    LANES_SERVICE,
    LANE_CLASSES
} lane_class;

typedef struct build_lanes {
    LS_VEC(timeline_track *) tracks; /* NULL: not used yet */
    LS_VEC(bool) busy;
    const char *location;
} build_lanes;

typedef struct build_counter {
    timeline_track *track;
    ls_time time;  /* of a value that is not written yet; of DRAM: begin of the interval */
    double value;  /* now */
    bool is_dirty; /* the value is not written yet */
} build_counter;

typedef struct build_block {
    const char *name, *process_name, *own_name;
    timeline_track *process, *track;
    uint32_t process_number; /* of its process, from 0 */
    bool is_amd;             /* a compute unit: it has wavefronts, not warps */
    bool is_shown;           /* the filter takes it */
    uint64_t requests;       /* begun: for 1 of n */
    build_lanes lanes[LANE_CLASSES];
    build_counter warps, dram;
} build_block;

#define TASK_SERVICES 5u /* levels of caches, and memory */
/* A thing that has begun. */
typedef struct build_task {
    struct build_task *next; /* in its chain of the table, or of the spare ones */
    uint64_t key[2];
    timeline_slice slice; /* id 0: hidden, it is there for its parts only */
    timeline_slice child; /* state or stage; id 0: none */
    uint32_t block, lane;
    struct {
        timeline_slice slice; /* id 0: none */
        uint32_t block, lane;
    } services[TASK_SERVICES]; /* a block that it is in, and one behind that */
    const char *child_kind;    /* of Daisen's, of the child */
    ls_time step_time;         /* of its last step, which is the only one at this time */
    bool has_step;
    bool has_flow;   /* its flow was told */
    bool is_pending; /* began before the time of the filter: it is not written yet */
    char text[96];   /* its name, if no other place has it */
} build_task;

typedef struct builder {
    mem_arena arena;
    timeline_filter *filter;
    const timeline_writer *writer;
    void *self;     /* of the writer */
    uint32_t shown; /* kinds */
    build_block *blocks;
    uint32_t block_count, process_count, track_count, gpu_count;
    timeline_track **processes;
    build_counter *process_warps; /* by process */
    build_task **table;
    size_t table_size, task_count;
    build_task *spare;
    LS_VEC(build_task *) pending;
    bool has_started; /* the time of the filter has begun */
    uint64_t next_id;
    uint64_t running;      /* chosen kernels */
    ls_tap_event early[4]; /* steps of one request that came before its begin, at the same time */
    uint32_t early_count;
    uint64_t counts[LS_TAP_KINDS];
    bool is_out_of_memory;
    ls_time last; /* of an event */
} builder;

ls_status build_init(builder *b, ls_engine *engine, timeline_filter *filter, const timeline_writer *writer,
                     void *self, ls_error *err);
void build_fini(builder *b);
/* name: of an event whose value is one; else NULL. */
void build_event(builder *b, const ls_tap_event *event, const char *name);
void build_end(builder *b, ls_time end); /* b->last is the end then, if it is later */

/* Of build_task.c. */
build_task *task_find(const builder *b, uint64_t kind_block, uint64_t id);
build_task *task_begin(builder *b, uint64_t kind_block, uint64_t id); /* NULL: no memory */
void task_forget(builder *b, build_task *task);
static inline uint64_t task_key(ls_tap_kind kind, uint32_t place)
{
    return (uint64_t)kind << 32 | place;
}
timeline_track *lane_track(builder *b, uint32_t block, lane_class class_, uint32_t lane);
uint32_t lane_take(builder *b, uint32_t block, lane_class class_); /* the lowest that is free */
void lane_give(builder *b, uint32_t block, lane_class class_, uint32_t lane);
timeline_track *counter_track(builder *b, const timeline_track *parent, const char *name, const char *unit);
/* Tells the writer, unless the slice is hidden. */
void slice_begin(builder *b, timeline_slice *slice, ls_time time);
void slice_end(builder *b, timeline_slice *slice, ls_time time);
void slice_arg_number(timeline_slice *slice, const char *name, uint64_t number, bool is_address);
void slice_arg_text(timeline_slice *slice, const char *name, const char *text);
/* The task's state or stage ends; another one begins unless name is NULL. */
void task_child(builder *b, build_task *task, slice_part part, ls_time time, const char *name,
                const char *kind);

/* Of build_request.c. */
void build_request(builder *b, const ls_tap_event *event);
void build_transfer(builder *b, const ls_tap_event *event);
void build_migration(builder *b, const ls_tap_event *event);
void request_end(builder *b, build_task *task, ls_time time);

#endif
