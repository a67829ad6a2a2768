/* build_request.c: memory requests: things with steps, whose events come from several blocks. A request has stages inside its slice, and a slice in each block that serves it. */
#include "report/timeline/build.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *milestone;
} steps[LS_TAP_STEPS] = {
#define STEP(id_, name_, daisen_, help_) { name_, daisen_ },
#include "lockstep/timeline_steps.def"
#undef STEP
};

static const char *const accesses[LS_ACCESSES] = { "read", "write", "atomic" };

static void end_services(builder *b, build_task *task, uint32_t from, ls_time time)
{
    for (uint32_t i = TASK_SERVICES; i-- > from;) {
        if (task->services[i].slice.id == 0)
            continue;
        slice_end(b, &task->services[i].slice, time);
        lane_give(b, task->services[i].block, LANES_SERVICE, task->services[i].lane);
    }
}

static void begin_service(builder *b, build_task *task, uint32_t level, uint32_t block, ls_time time)
{
    timeline_slice *slice = &task->services[level].slice;
    uint32_t lane = lane_take(b, block, LANES_SERVICE);
    task->services[level].block = block;
    task->services[level].lane = lane;
    *slice = (timeline_slice){ .id = ++b->next_id,
                               .parent = task->slice.id,
                               .kind = task->slice.kind,
                               .part = SLICE_SERVICE,
                               .track = lane_track(b, block, LANES_SERVICE, lane),
                               .name = task->slice.name,
                               .flow = task->slice.flow };
    slice->args[slice->arg_count++] = task->slice.args[0];
    slice_begin(b, slice, time);
    if (b->writer->flow == NULL || task->slice.id == 0 || slice->id == 0)
        return;
    if (!task->has_flow)
        b->writer->flow(b->self, &task->slice, FLOW_START);
    task->has_flow = true;
    b->writer->flow(b->self, slice, FLOW_STEP);
}

/* The request is in this block now. */
static void visit(builder *b, build_task *task, uint32_t block, ls_time time)
{
    if (block == task->block) {
        end_services(b, task, 0, time);
        return;
    }
    for (uint32_t i = 0; i < TASK_SERVICES; i++)
        if (task->services[i].slice.id != 0 && task->services[i].block == block) {
            end_services(b, task, i + 1, time);
            return;
        }
    uint32_t level = 0;
    while (level < TASK_SERVICES - 1 && task->services[level].slice.id != 0)
        level++;
    end_services(b, task, level, time);
    if (b->blocks[block].is_shown)
        begin_service(b, task, level, block, time);
}

/* It leaves this block: those behind it have ended, and those before it go on. */
static void leave(builder *b, build_task *task, uint32_t block, ls_time time)
{
    for (uint32_t i = 0; i < TASK_SERVICES; i++)
        if (task->services[i].slice.id != 0 && task->services[i].block == block)
            end_services(b, task, i, time);
}

void request_end(builder *b, build_task *task, ls_time time)
{
    end_services(b, task, 0, time);
    if (task->has_flow && task->slice.id != 0) { /* without a reply: it ends where the request ends */
        timeline_slice last = task->slice;
        last.begin = time;
        b->writer->flow(b->self, &last, FLOW_END);
    }
    task_child(b, task, SLICE_STAGE, time, NULL, NULL);
    slice_end(b, &task->slice, time);
}

static void begin(builder *b, const ls_tap_event *e, lane_class class_, uint64_t key, const char *name)
{
    build_task *task = task_begin(b, key, e->id);
    if (task == NULL)
        return;
    task->block = e->block;
    task->lane = lane_take(b, e->block, class_);
    task->slice.kind = e->kind;
    task->slice.id = ++b->next_id;
    task->slice.flow = task->slice.id;
    task->slice.name = name;
    task->slice.track = lane_track(b, e->block, class_, task->lane);
    slice_arg_number(&task->slice, "address", e->value, true);
    slice_begin(b, &task->slice, e->time);
}

static void step(builder *b, build_task *task, const ls_tap_event *e)
{
    if (e->what >= LS_TAP_STEPS)
        return;
    if (e->what == LS_STEP_REPLY)
        leave(b, task, e->block, e->time);
    else
        visit(b, task, e->block, e->time);
    bool is_reply = e->what == LS_STEP_REPLY;
    uint64_t flow = task->slice.flow;
    if (is_reply && flow != 0) { /* the flow ends at the stage of the reply, which is told with its begin */
        timeline_slice *child = &task->child;
        task_child(b, task, SLICE_STAGE, e->time, NULL, NULL);
        *child = (timeline_slice){ .id = ++b->next_id,
                                   .parent = task->slice.id,
                                   .kind = task->slice.kind,
                                   .part = SLICE_STAGE,
                                   .track = task->slice.track,
                                   .name = steps[e->what].name,
                                   .flow = flow,
                                   .ends_flow = true };
        task->child_kind = steps[e->what].milestone;
        task->slice.flow = 0;
        slice_begin(b, child, e->time);
        if (task->has_flow)
            b->writer->flow(b->self, child, FLOW_END);
        task->has_flow = false;
        return;
    }
    task_child(b, task, SLICE_STAGE, e->time, steps[e->what].name, steps[e->what].milestone);
}

static void handle(builder *b, const ls_tap_event *e, lane_class class_, uint64_t key)
{
    build_task *task = task_find(b, key, e->id);
    if (task == NULL)
        return;
    if (e->phase == LS_TAP_STEP) {
        step(b, task, e);
        return;
    }
    request_end(b, task, e->time);
    lane_give(b, task->block, class_, task->lane);
    task_forget(b, task);
}

void build_request(builder *b, const ls_tap_event *e)
{
    build_block *block = &b->blocks[e->block];
    uint64_t key =
        task_key(LS_TAP_REQUEST, (e->id & LS_TAP_ANY_GPU) != 0 ? UINT32_MAX : block->process_number);
    if (e->phase != LS_TAP_BEGIN) {
        handle(b, e, LANES_REQUEST, key);
        return;
    }
    bool is_taken = block->is_shown && (b->shown & LS_TAP_BIT(LS_TAP_REQUEST)) != 0 &&
                    (b->filter->kernel_count == 0 || b->running > 0) &&
                    block->requests++ % b->filter->every == 0;
    build_task *old = task_find(b, key, e->id); /* its end was not recorded */
    if (old != NULL) {
        request_end(b, old, e->time);
        lane_give(b, old->block, LANES_REQUEST, old->lane);
        task_forget(b, old);
    }
    if (is_taken)
        begin(b, e, LANES_REQUEST, key, accesses[e->what < LS_ACCESSES ? e->what : 0]);
}
