/* build_task.c: tables of the builder: things that have begun, tracks and lanes. */
#include "report/timeline/build.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- tasks */

static size_t place_of(const builder *b, uint64_t kind_block, uint64_t id)
{
    uint64_t mixed = (kind_block * UINT64_C(0x9e3779b97f4a7c15)) ^ (id * UINT64_C(0xc2b2ae3d27d4eb4f));
    return (size_t)(mixed >> 32) & (b->table_size - 1);
}

build_task *task_find(const builder *b, uint64_t kind_block, uint64_t id)
{
    build_task *task = b->table_size > 0 ? b->table[place_of(b, kind_block, id)] : NULL;
    while (task != NULL && (task->key[0] != kind_block || task->key[1] != id))
        task = task->next;
    return task;
}

static bool grow(builder *b)
{
    size_t old = b->table_size, size = old > 0 ? 2 * old : 1024;
    build_task **from = b->table, **to = calloc(size, sizeof(build_task *));
    if (to == NULL)
        return false;
    b->table = to;
    b->table_size = size;
    for (size_t i = 0; i < old; i++)
        for (build_task *task = from[i], *next; task != NULL; task = next) {
            next = task->next;
            build_task **place = &to[place_of(b, task->key[0], task->key[1])];
            task->next = *place;
            *place = task;
        }
    free(from);
    return true;
}

build_task *task_begin(builder *b, uint64_t kind_block, uint64_t id)
{
    build_task *task = b->spare;
    if (b->task_count >= b->table_size && !grow(b))
        task = NULL;
    else if (task != NULL)
        b->spare = task->next;
    else
        task = arena_alloc(&b->arena, sizeof *task);
    if (task == NULL) {
        b->is_out_of_memory = true;
        return NULL;
    }
    memset(task, 0, sizeof *task);
    task->key[0] = kind_block;
    task->key[1] = id;
    build_task **place = &b->table[place_of(b, kind_block, id)];
    task->next = *place;
    *place = task;
    b->task_count++;
    return task;
}

void task_forget(builder *b, build_task *task)
{
    build_task **at = &b->table[place_of(b, task->key[0], task->key[1])];
    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
    task->next = b->spare;
    b->spare = task;
    b->task_count--;
}

/* ------------------------------------------------------------------------------------------------- tracks */

static timeline_track *make_track(builder *b, const timeline_track *parent, track_type type, const char *name)
{
    timeline_track *track = arena_alloc(&b->arena, sizeof *track);
    if (track == NULL) {
        b->is_out_of_memory = true;
        return NULL;
    }
    *track = (timeline_track){ .id = ++b->track_count, .parent = parent, .type = type, .name = name };
    track->process = parent == NULL ? track->id : parent->process;
    return track;
}

static void show_track(const builder *b, const timeline_track *track)
{
    if (track != NULL && b->writer->track != NULL)
        b->writer->track(b->self, track);
}

/* The track of the block, with that of its process before it. */
static timeline_track *block_track(builder *b, build_block *block)
{
    timeline_track **process = &b->processes[block->process_number];
    if (*process == NULL) {
        *process = make_track(b, NULL, TRACK_PROCESS, block->process_name);
        if (*process != NULL)
            (*process)->order = block->process_number;
        show_track(b, *process);
    }
    if (block->track == NULL && *process != NULL) {
        block->track = make_track(b, *process, TRACK_BLOCK, block->own_name);
        if (block->track != NULL)
            block->track->order = (uint32_t)(block - b->blocks);
        show_track(b, block->track);
    }
    block->process = *process;
    return block->track;
}

static const char *lane_word(const build_block *block, lane_class class_)
{
    static const char *const words[LANE_CLASSES] = {
        [LANES_KERNEL] = "kernel",       [LANES_COPY] = "copy",       [LANES_GROUP] = "group",
        [LANES_WARP] = "warp",           [LANES_REQUEST] = "request", [LANES_TRANSFER] = "message",
        [LANES_MIGRATION] = "migration", [LANES_ASK] = "question",    [LANES_SERVICE] = "service",
    };
    return class_ == LANES_WARP && block->is_amd ? "wave" : words[class_];
}

timeline_track *lane_track(builder *b, uint32_t number, lane_class class_, uint32_t lane)
{
    build_block *block = &b->blocks[number];
    build_lanes *lanes = &block->lanes[class_];
    while (lanes->tracks.count <= lane) {
        timeline_track *none = NULL;
        if (!vec_push(&lanes->tracks, none) || !vec_push(&lanes->busy, false)) {
            b->is_out_of_memory = true;
            return NULL;
        }
    }
    if (lanes->tracks.at[lane] != NULL)
        return lanes->tracks.at[lane];
    const char *word = lane_word(block, class_);
    size_t bytes = strlen(block->name) + strlen(word) + 24;
    char *name = arena_alloc(&b->arena, bytes), *location = arena_alloc(&b->arena, bytes);
    const timeline_track *parent = block_track(b, block);
    timeline_track *track = name && location && parent ? make_track(b, parent, TRACK_LANE, name) : NULL;
    if (track == NULL) {
        b->is_out_of_memory = true;
        return NULL;
    }
    snprintf(name, bytes, "%s %u", word, lane);
    if (lanes->location == NULL) {
        snprintf(location, bytes, "%s.%s", block->name, word);
        lanes->location = location;
    }
    track->location = lanes->location;
    track->word = word;
    track->order = class_;
    track->lane = lane;
    lanes->tracks.at[lane] = track;
    show_track(b, track);
    return track;
}

uint32_t lane_take(builder *b, uint32_t block, lane_class class_)
{
    build_lanes *lanes = &b->blocks[block].lanes[class_];
    uint32_t lane = 0;
    while (lane < lanes->busy.count && lanes->busy.at[lane])
        lane++;
    if (lane_track(b, block, class_, lane) != NULL)
        lanes->busy.at[lane] = true;
    return lane;
}

void lane_give(builder *b, uint32_t block, lane_class class_, uint32_t lane)
{
    build_lanes *lanes = &b->blocks[block].lanes[class_];
    if (lane < lanes->busy.count)
        lanes->busy.at[lane] = false;
}

timeline_track *counter_track(builder *b, const timeline_track *parent, const char *name, const char *unit)
{
    timeline_track *track = make_track(b, parent, TRACK_COUNTER, name);
    if (track == NULL)
        return NULL;
    track->unit = unit;
    show_track(b, track);
    return track;
}

/* ------------------------------------------------------------------------------------------------- slices */

void slice_arg_number(timeline_slice *slice, const char *name, uint64_t number, bool is_address)
{
    slice->args[slice->arg_count++] = (slice_arg){ .name = name, .number = number, .is_address = is_address };
}

void slice_arg_text(timeline_slice *slice, const char *name, const char *text)
{
    slice->args[slice->arg_count++] = (slice_arg){ .name = name, .text = text };
}

void slice_begin(builder *b, timeline_slice *slice, ls_time time)
{
    slice->begin = time;
    if (slice->track == NULL)
        slice->id = 0;
    if (slice->id != 0 && b->writer->begin != NULL)
        b->writer->begin(b->self, slice);
    if (slice->id != 0 && slice->part <= SLICE_STATE)
        b->counts[slice->part == SLICE_STATE ? LS_TAP_STALL : slice->kind]++;
}

void slice_end(builder *b, timeline_slice *slice, ls_time time)
{
    if (slice->id == 0)
        return;
    slice->end = time;
    if (b->writer->end != NULL)
        b->writer->end(b->self, slice);
    slice->id = 0;
}

void task_child(builder *b, build_task *task, slice_part part, ls_time time, const char *name,
                const char *kind)
{
    timeline_slice *child = &task->child;
    if (child->id != 0) {
        if (b->writer->step != NULL && task->slice.id != 0 && !(task->has_step && task->step_time == time))
            b->writer->step(b->self, &task->slice, time, task->child_kind, child->name);
        task->step_time = time;
        task->has_step = true;
        slice_end(b, child, time);
    }
    if (name == NULL || task->slice.id == 0)
        return;
    *child = (timeline_slice){ .id = ++b->next_id,
                               .parent = task->slice.id,
                               .kind = task->slice.kind,
                               .part = part,
                               .track = task->slice.track,
                               .name = name };
    task->child_kind = kind;
    slice_begin(b, child, time);
}
