/* build_request.c: things with steps, whose events may come from several blocks: memory requests, messages on the fabric,
 * pages that move. Each has stages inside its slice, and a slice in each other block that it is in. */
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
    if (b->writer->flow == NULL || slice->flow == 0 || task->slice.id == 0 || slice->id == 0)
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

static build_task *begin(builder *b, const ls_tap_event *e, lane_class class_, uint64_t key, const char *name)
{
    build_task *task = task_begin(b, key, e->id);
    if (task == NULL)
        return NULL;
    task->block = e->block;
    task->lane = lane_take(b, e->block, class_);
    task->slice.kind = e->kind;
    task->slice.id = ++b->next_id;
    task->slice.name = name;
    task->slice.track = lane_track(b, e->block, class_, task->lane);
    return task;
}

static void step(builder *b, build_task *task, const ls_tap_event *e)
{
    if (e->what >= LS_TAP_STEPS)
        return;
    /* A TLB that has the page lets the request go. */
    if (e->what == LS_STEP_REPLY || (e->what == LS_STEP_QUEUE && e->block != task->block))
        leave(b, task, e->block, e->time);
    else {
        if (e->what == LS_STEP_LINK)
            end_services(b, task, 0, e->time); /* it has left the link before */
        visit(b, task, e->block, e->time);
    }
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

/* A fetch of code is told when its cache has taken it: then the cache has told its first steps. */
static void keep_early(builder *b, const ls_tap_event *e)
{
    if (b->early_count > 0 && (b->early[0].id != e->id || b->early[0].time != e->time))
        b->early_count = 0;
    if (e->phase == LS_TAP_STEP && e->kind == LS_TAP_REQUEST && b->early_count < LS_COUNT_OF(b->early))
        b->early[b->early_count++] = *e;
}

static void apply_early(builder *b, build_task *task, const ls_tap_event *begin)
{
    for (uint32_t i = 0; i < b->early_count; i++)
        if (b->early[i].id == begin->id && b->early[i].time == begin->time)
            step(b, task, &b->early[i]);
    b->early_count = 0;
}

static void handle(builder *b, const ls_tap_event *e, lane_class class_, uint64_t key)
{
    build_task *task = task_find(b, key, e->id);
    if (task == NULL) {
        keep_early(b, e);
        return;
    }
    if (e->phase == LS_TAP_STEP) {
        step(b, task, e);
        return;
    }
    request_end(b, task, e->time);
    lane_give(b, task->block, class_, task->lane);
    task_forget(b, task);
}

/* Is it on the timeline? A thing of the same id whose end was not recorded ends now. */
static bool is_taken(builder *b, const ls_tap_event *e, lane_class class_, uint64_t key)
{
    build_block *block = &b->blocks[e->block];
    bool takes = block->is_shown && (b->shown & LS_TAP_BIT(e->kind)) != 0 &&
                 (b->filter->kernel_count == 0 || b->running > 0) && block->requests++ % b->filter->every == 0;
    build_task *old = task_find(b, key, e->id);
    if (old != NULL) {
        request_end(b, old, e->time);
        lane_give(b, old->block, class_, old->lane);
        task_forget(b, old);
    }
    return takes;
}

void build_request(builder *b, const ls_tap_event *e)
{
    uint64_t key = task_key(LS_TAP_REQUEST,
                            (e->id & LS_TAP_ANY_GPU) != 0 ? UINT32_MAX : b->blocks[e->block].process_number);
    if (e->phase != LS_TAP_BEGIN) {
        handle(b, e, LANES_REQUEST, key);
        return;
    }
    if (!is_taken(b, e, LANES_REQUEST, key))
        return;
    build_task *task = begin(b, e, LANES_REQUEST, key, accesses[e->what < LS_ACCESSES ? e->what : 0]);
    if (task == NULL)
        return;
    task->slice.flow = task->slice.id;
    slice_arg_number(&task->slice, "address", e->value, true);
    slice_begin(b, &task->slice, e->time);
    apply_early(b, task, e);
}

/* ------------------------------------------------------------------------------------- fabric and its pages */

static const char *end_name(const builder *b, uint32_t number, char *text, size_t bytes)
{
    if (number < b->gpu_count)
        snprintf(text, bytes, "gpu%u", number);
    else
        snprintf(text, bytes, "host");
    return text;
}

void build_transfer(builder *b, const ls_tap_event *e)
{
    static const char *const classes[LS_TRANSFERS] = { "request",    "data",    "walk",
                                                       "invalidate", "migrate", "copy" };
    uint64_t key = task_key(LS_TAP_TRANSFER, UINT32_MAX);
    char from[16], to[16];
    if (e->phase != LS_TAP_BEGIN) {
        handle(b, e, LANES_TRANSFER, key);
        return;
    }
    build_task *task = is_taken(b, e, LANES_TRANSFER, key) ? begin(b, e, LANES_TRANSFER, key, NULL) : NULL;
    if (task == NULL)
        return;
    snprintf(task->text, sizeof task->text, "%s, %s to %s", e->what < LS_TRANSFERS ? classes[e->what] : "?",
             end_name(b, e->more >> 16, from, sizeof from), end_name(b, e->more & 0xffff, to, sizeof to));
    task->slice.name = task->text;
    slice_arg_number(&task->slice, "bytes", e->value, false);
    slice_begin(b, &task->slice, e->time);
}

static void name_change(const builder *b, const ls_tap_event *e, char *text, size_t bytes)
{
    static const char *const changes[LS_TAP_PAGES] = { "question", "copy page", "share page", "move page",
                                                       "drop page" };
    char from[16], to[16];
    const char *change = e->what < LS_TAP_PAGES ? changes[e->what] : "?";
    uint32_t source = e->more >> 8 & 0xff;
    if (e->what == LS_TAP_PAGE_ASK)
        snprintf(text, bytes, "%s of %s", change, end_name(b, source, from, sizeof from));
    else if (e->what == LS_TAP_PAGE_DROP)
        snprintf(text, bytes, "%s of %s", change, end_name(b, e->more & 0xff, to, sizeof to));
    else
        snprintf(text, bytes, "%s, %s to %s", change, end_name(b, source, from, sizeof from),
                 end_name(b, e->more & 0xff, to, sizeof to));
}

void build_migration(builder *b, const ls_tap_event *e)
{
    lane_class class_ = (e->id & LS_TAP_ASK) != 0 ? LANES_ASK : LANES_MIGRATION;
    uint64_t key = task_key(LS_TAP_MIGRATION, UINT32_MAX);
    if (e->phase != LS_TAP_BEGIN) {
        handle(b, e, class_, key);
        return;
    }
    build_task *task = is_taken(b, e, class_, key) ? begin(b, e, class_, key, NULL) : NULL;
    if (task == NULL)
        return;
    name_change(b, e, task->text, sizeof task->text);
    task->slice.name = task->text;
    slice_arg_number(&task->slice, "address", e->value, true);
    if (class_ == LANES_MIGRATION)
        slice_arg_number(&task->slice, "bytes", e->slot, false);
    slice_begin(b, &task->slice, e->time);
}
