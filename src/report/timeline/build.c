/* build.c: events of kernels, copies, work-groups, warps, states and counters become slices and values. */
#include "report/timeline/build.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAM_INTERVAL_FS (LS_FS_PER_SECOND / 1000000) /* 1 us: one value of a channel's bandwidth */

static const struct {
    const char *name, *milestone; /* of Daisen's */
} states[LS_TAP_STATES] = {
    [LS_STATE_ACTIVE] = { "active", "work" },
    [LS_STATE_FETCH] = { "fetch", "queue" },
    [LS_STATE_BARRIER] = { "barrier", "dependency" },
    [LS_STATE_FENCE] = { "fence", "dependency" },
    [LS_STATE_ASYNC] = { "async", "data" },
    [LS_STATE_MBARRIER] = { "mbarrier", "dependency" },
    [LS_STATE_MEMORY] = { "memory", "data" },
    [LS_STATE_SCALAR] = { "scalar memory", "data" },
    [LS_STATE_EXPORT] = { "export", "data" },
    [LS_STATE_DEPENDENCE] = { "dependence", "dependency" },
    [LS_STATE_UNIT] = { "unit", "hardware_resource" },
    [LS_STATE_SLEEP] = { "sleep", "other" },
    [LS_STATE_DRAIN] = { "drain", "data" },
};

/* ------------------------------------------------------------------------------------------------- set-up */

static uint32_t process_of(const builder *b, const char *name, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (strcmp(b->blocks[i].process_name, name) == 0)
            return b->blocks[i].process_number;
    return b->process_count;
}

static bool init_block(builder *b, uint32_t i, const ls_block *block)
{
    build_block *to = &b->blocks[i];
    const char *name = ls_block_name(block), *dot = strchr(name, '.');
    to->name = name;
    to->own_name = dot != NULL ? dot + 1 : name;
    char *process = arena_strdup(&b->arena, dot != NULL ? name : "system");
    if (process == NULL)
        return false;
    if (dot != NULL)
        process[dot - name] = 0;
    to->process_name = process;
    to->process_number = process_of(b, process, i);
    b->process_count += to->process_number == b->process_count;
    unsigned gpu;
    if (sscanf(process, "gpu%u", &gpu) == 1 && gpu >= b->gpu_count && gpu < 1024)
        b->gpu_count = gpu + 1;
    to->is_amd = strcmp(ls_block_type_of(block)->slot, "cu") == 0;
    to->is_shown = true;
    for (size_t k = 0; k < b->filter->block_count && to->is_shown; k++)
        to->is_shown = false;
    for (size_t k = 0; k < b->filter->block_count && !to->is_shown; k++)
        to->is_shown = glob_match(b->filter->blocks[k].pattern, name);
    return true;
}

ls_status build_init(builder *b, ls_engine *engine, timeline_filter *filter, const timeline_writer *writer,
                     void *self, ls_error *err)
{
    *b = (builder){ .filter = filter, .writer = writer, .self = self, .shown = filter->kinds & writer->kinds };
    b->has_started = filter->from == 0;
    b->block_count = ls_engine_block_count(engine);
    b->blocks = arena_array(&b->arena, b->block_count + 1, sizeof *b->blocks);
    bool good = b->blocks != NULL;
    for (uint32_t i = 0; good && i < b->block_count; i++)
        good = init_block(b, i, ls_engine_block(engine, i));
    b->processes = arena_array(&b->arena, b->process_count + 1, sizeof(timeline_track *));
    b->process_warps = arena_array(&b->arena, b->process_count + 1, sizeof *b->process_warps);
    if (!good || b->processes == NULL || b->process_warps == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a timeline");
    return LS_OK;
}

void build_fini(builder *b)
{
    for (uint32_t i = 0; b->blocks != NULL && i < b->block_count; i++)
        for (int k = 0; k < LANE_CLASSES; k++) {
            vec_fini(&b->blocks[i].lanes[k].tracks);
            vec_fini(&b->blocks[i].lanes[k].busy);
        }
    vec_fini(&b->pending);
    free(b->table);
    arena_fini(&b->arena);
}

/* ----------------------------------------------------------------------------------------------- counters */

static void write_counter(const builder *b, build_counter *counter)
{
    if (counter->is_dirty && b->writer->count != NULL && counter->track != NULL)
        b->writer->count(b->self, counter->track, counter->time, counter->value);
    counter->is_dirty = false;
}

/* Changes at one time are one value. */
static void add_to_counter(builder *b, build_counter *counter, const timeline_track *parent, const char *name,
                           ls_time time, double change)
{
    time = time < b->filter->from ? b->filter->from : time;
    if (counter->track == NULL)
        counter->track = counter_track(b, parent, name, "");
    if (counter->is_dirty && counter->time != time)
        write_counter(b, counter);
    counter->time = time;
    counter->value += change;
    counter->is_dirty = true;
}

static void count_warp(builder *b, const build_task *task, ls_time time, int change)
{
    build_block *block = &b->blocks[task->block];
    const char *name = block->is_amd ? "active waves" : "active warps";
    if (task->slice.track == NULL)
        return;
    add_to_counter(b, &block->warps, task->slice.track->parent, name, time, change);
    add_to_counter(b, &b->process_warps[block->process_number], task->slice.track->parent->parent, name, time,
                   change);
}

/* The bandwidth of the interval that ends before `begin`; nothing was moved in the next one. */
static void end_dram_interval(builder *b, build_counter *c, ls_time begin)
{
    if (c->value == 0 || b->writer->count == NULL || c->track == NULL)
        return;
    b->writer->count(b->self, c->track, c->time, c->value / ((double)DRAM_INTERVAL_FS * 1e-15) * 1e-9);
    if (begin != c->time + DRAM_INTERVAL_FS)
        b->writer->count(b->self, c->track, c->time + DRAM_INTERVAL_FS, 0);
}

static void count_dram(builder *b, const ls_tap_event *event)
{
    build_counter *c = &b->blocks[event->block].dram;
    ls_time begin = event->time / DRAM_INTERVAL_FS * DRAM_INTERVAL_FS;
    if (b->filter->kernel_count > 0 && b->running == 0)
        return;
    if (c->track == NULL) {
        const timeline_track *parent = NULL;
        /* A lane makes the tracks above it; the counter stands beside the lanes. */
        timeline_track *lane = lane_track(b, event->block, LANES_SERVICE, 0);
        parent = lane != NULL ? lane->parent : NULL;
        c->track = counter_track(b, parent, "bandwidth", "GB/s");
    }
    if (c->time != begin) {
        end_dram_interval(b, c, begin);
        c->value = 0;
        c->time = begin;
    }
    c->value += (double)event->value;
    b->counts[LS_TAP_DRAM]++;
}

/* ------------------------------------------------------------------------------------------ begins and ends */

static bool is_shown(const builder *b, ls_tap_kind kind)
{
    return (b->shown & LS_TAP_BIT(kind)) != 0;
}

/* The slice of a new task: written now, or when the time of the filter begins. */
static void show(builder *b, build_task *task, ls_time time)
{
    task->slice.id = ++b->next_id;
    if (!b->has_started) {
        task->is_pending = true;
        if (!vec_push(&b->pending, task))
            b->is_out_of_memory = true;
        return;
    }
    slice_begin(b, &task->slice, time);
}

/* The time of the filter begins: shows all that has begun before and goes on. */
static void start_time(builder *b)
{
    b->has_started = true;
    for (size_t i = 0; i < b->pending.count; i++) {
        build_task *task = b->pending.at[i];
        if (task == NULL)
            continue;
        task->is_pending = false;
        slice_begin(b, &task->slice, b->filter->from);
        if (task->slice.kind == LS_TAP_WARP)
            count_warp(b, task, b->filter->from, 1);
    }
    vec_clear(&b->pending);
}

static void end_task(builder *b, build_task *task, lane_class class_, ls_time time)
{
    if (task->is_pending) {
        for (size_t i = 0; i < b->pending.count; i++)
            if (b->pending.at[i] == task)
                b->pending.at[i] = NULL;
        task->slice.id = 0;
    }
    task_child(b, task, SLICE_STATE, time, NULL, NULL);
    slice_end(b, &task->slice, time);
    if (class_ != LANES_GROUP && class_ != LANES_WARP)
        lane_give(b, task->block, class_, task->lane);
    task_forget(b, task);
}

static void begin_kernel(builder *b, const ls_tap_event *e, const char *name)
{
    const build_block *block = &b->blocks[e->block];
    if (!filter_takes_kernel(b->filter, e->more, name))
        return;
    build_task *task = task_begin(b, task_key(LS_TAP_KERNEL, block->process_number), e->id);
    if (task == NULL)
        return;
    b->running++;
    task->block = e->block;
    task->slice.kind = LS_TAP_KERNEL;
    task->slice.name = name;
    if (!is_shown(b, LS_TAP_KERNEL))
        return;
    task->lane = lane_take(b, e->block, LANES_KERNEL);
    task->slice.track = lane_track(b, e->block, LANES_KERNEL, task->lane);
    slice_arg_number(&task->slice, "number", e->more, false);
    slice_arg_number(&task->slice, "stream", e->what, false);
    show(b, task, e->time);
}

static void build_kernel(builder *b, const ls_tap_event *e, const char *name)
{
    if (e->phase == LS_TAP_BEGIN) {
        begin_kernel(b, e, name != NULL ? name : "kernel");
        return;
    }
    build_task *task = task_find(b, task_key(LS_TAP_KERNEL, b->blocks[e->block].process_number), e->id);
    if (task == NULL)
        return;
    b->running--;
    end_task(b, task, LANES_KERNEL, e->time);
}

static void build_copy(builder *b, const ls_tap_event *e)
{
    static const char *const names[LS_COPIES] = { "host to GPU", "GPU to host", "inside the GPU", "fill",
                                                  "GPU to GPU" };
    build_task *task = task_find(b, task_key(LS_TAP_COPY, e->block), e->id);
    if (e->phase == LS_TAP_END && task != NULL)
        end_task(b, task, LANES_COPY, e->time);
    if (e->phase != LS_TAP_BEGIN || !is_shown(b, LS_TAP_COPY))
        return;
    task = task_begin(b, task_key(LS_TAP_COPY, e->block), e->id);
    if (task == NULL)
        return;
    task->block = e->block;
    task->lane = lane_take(b, e->block, LANES_COPY);
    task->slice.kind = LS_TAP_COPY;
    task->slice.name = names[e->what < LS_COPIES ? e->what : LS_COPY_INSIDE];
    task->slice.track = lane_track(b, e->block, LANES_COPY, task->lane);
    slice_arg_number(&task->slice, "bytes", e->value, false);
    show(b, task, e->time);
}

static void begin_group(builder *b, const ls_tap_event *e)
{
    const build_block *block = &b->blocks[e->block];
    const build_task *kernel = task_find(b, task_key(LS_TAP_KERNEL, block->process_number), e->value);
    if ((kernel == NULL && b->filter->kernel_count > 0) || e->id % b->filter->every != 0 || !block->is_shown)
        return;
    build_task *task = task_begin(b, task_key(LS_TAP_GROUP, e->block), e->slot);
    if (task == NULL)
        return;
    task->block = e->block;
    task->slice.kind = LS_TAP_GROUP;
    task->slice.parent = kernel != NULL ? kernel->slice.id : 0;
    snprintf(task->text, sizeof task->text, "group %llu", (unsigned long long)e->id);
    task->slice.name = task->text;
    if (!is_shown(b, LS_TAP_GROUP))
        return;
    task->slice.track = lane_track(b, e->block, LANES_GROUP, e->slot);
    slice_arg_text(&task->slice, "kernel", kernel != NULL ? kernel->slice.name : "");
    slice_arg_number(&task->slice, block->is_amd ? "waves" : "warps", e->more, false);
    show(b, task, e->time);
}

static void build_group(builder *b, const ls_tap_event *e)
{
    if (e->phase == LS_TAP_BEGIN) {
        begin_group(b, e);
        return;
    }
    build_task *task = task_find(b, task_key(LS_TAP_GROUP, e->block), e->slot);
    if (task != NULL)
        end_task(b, task, LANES_GROUP, e->time);
}

static void begin_warp(builder *b, const ls_tap_event *e)
{
    const build_task *group = task_find(b, task_key(LS_TAP_GROUP, e->block), e->value);
    const build_block *block = &b->blocks[e->block];
    if (group == NULL || !is_shown(b, LS_TAP_WARP))
        return;
    build_task *task = task_begin(b, task_key(LS_TAP_WARP, e->block), e->slot);
    if (task == NULL)
        return;
    task->block = e->block;
    task->slice.kind = LS_TAP_WARP;
    task->slice.parent = group->slice.id != 0 ? group->slice.id : group->slice.parent;
    snprintf(task->text, sizeof task->text, "%s %llu of %.40s", block->is_amd ? "wave" : "warp",
             (unsigned long long)e->id, group->text);
    task->slice.name = task->text;
    task->slice.track = lane_track(b, e->block, LANES_WARP, e->slot);
    show(b, task, e->time);
    if (b->has_started)
        count_warp(b, task, e->time, 1);
}

static void build_warp(builder *b, const ls_tap_event *e)
{
    if (e->phase == LS_TAP_BEGIN) {
        begin_warp(b, e);
        return;
    }
    build_task *task = task_find(b, task_key(LS_TAP_WARP, e->block), e->slot);
    if (task == NULL)
        return;
    if (!task->is_pending)
        count_warp(b, task, e->time, -1);
    end_task(b, task, LANES_WARP, e->time);
}

static void build_state(builder *b, const ls_tap_event *e)
{
    build_task *task = task_find(b, task_key(LS_TAP_WARP, e->block), e->slot);
    if (task == NULL || !is_shown(b, LS_TAP_STALL) || e->what >= LS_TAP_STATES)
        return;
    task_child(b, task, SLICE_STATE, e->time, states[e->what].name, states[e->what].milestone);
}

void build_event(builder *b, const ls_tap_event *event, const char *name)
{
    if (!b->has_started && event->time >= b->filter->from)
        start_time(b);
    b->last = event->time;
    switch (event->kind) {
    case LS_TAP_KERNEL:
        build_kernel(b, event, name);
        break;
    case LS_TAP_COPY:
        build_copy(b, event);
        break;
    case LS_TAP_GROUP:
        build_group(b, event);
        break;
    case LS_TAP_WARP:
        build_warp(b, event);
        break;
    case LS_TAP_STALL:
        build_state(b, event);
        break;
    case LS_TAP_REQUEST:
        build_request(b, event);
        break;
    case LS_TAP_TRANSFER:
        build_transfer(b, event);
        break;
    case LS_TAP_MIGRATION:
        build_migration(b, event);
        break;
    case LS_TAP_DRAM:
        count_dram(b, event);
        break;
    case LS_TAP_INSTRUCTION:
        if (b->writer->instruction != NULL && (b->filter->kernel_count == 0 || b->running > 0)) {
            b->writer->instruction(b->self, event, name);
            b->counts[LS_TAP_INSTRUCTION] += event->phase == LS_TAP_BEGIN;
        }
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------------------------------------------- the end */

static int latest_first(const void *left, const void *right)
{
    const build_task *a = *(build_task *const *)left, *b = *(build_task *const *)right;
    return a->slice.id < b->slice.id ? 1 : a->slice.id > b->slice.id ? -1 : 0;
}

void build_end(builder *b, ls_time end)
{
    end = b->last > end ? b->last : end; /* a core may run ahead of the end */
    if (!b->has_started && end > b->filter->from)
        start_time(b);
    build_task **open = calloc(b->task_count + 1, sizeof(build_task *));
    size_t count = 0;
    if (open == NULL) {
        b->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < b->table_size; i++)
        for (build_task *task = b->table[i]; task != NULL; task = task->next)
            open[count++] = task;
    qsort(open, count, sizeof(build_task *), latest_first);
    for (size_t i = 0; i < count; i++) {
        if (open[i]->is_pending)
            open[i]->slice.id = 0;
        request_end(b, open[i], end);
    }
    free(open);
    for (uint32_t i = 0; i < b->block_count; i++) {
        write_counter(b, &b->blocks[i].warps);
        end_dram_interval(b, &b->blocks[i].dram, 0);
    }
    for (uint32_t i = 0; i < b->process_count; i++)
        write_counter(b, &b->process_warps[i]);
}
