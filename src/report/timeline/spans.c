/* spans.c: the writer that keeps a timeline in memory, and the one that makes a page of it alone. */
#include "report/timeline/spans.h"

#include "base/demangle.h"
#include "report/page/page.h"
#include "report/timeline/filter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- tracks */

static void set_place(timeline_spans *s, uint32_t track, size_t place)
{
    while (s->place_of.count <= track)
        if (!vec_push(&s->place_of, 0)) {
            s->is_out_of_memory = true;
            return;
        }
    s->place_of.at[track] = (uint32_t)place;
}

static void keep_lane(timeline_spans *s, const timeline_track *track)
{
    const timeline_track *block = track->parent, *process = block->parent;
    const timeline_row row = { .process = arena_strdup(&s->arena, process->name),
                               .block = arena_strdup(&s->arena, block->name),
                               .word = arena_strdup(&s->arena, track->word),
                               .name = arena_strdup(&s->arena, track->name),
                               .order = { process->order, block->order, track->order, track->lane } };
    set_place(s, track->id, s->rows.count);
    if (!row.process || !row.block || !row.word || !row.name || !vec_push(&s->rows, row))
        s->is_out_of_memory = true;
}

/* Those without a unit count things that are spans already. */
static void keep_counter(timeline_spans *s, const timeline_track *track)
{
    set_place(s, track->id, SIZE_MAX);
    if (track->unit == NULL || track->unit[0] == 0 || track->parent == NULL || track->parent->parent == NULL)
        return;
    const timeline_track *block = track->parent, *process = block->parent;
    const span_counter counter = { .process = arena_strdup(&s->arena, process->name),
                                   .block = arena_strdup(&s->arena, block->name),
                                   .name = arena_strdup(&s->arena, track->name),
                                   .unit = arena_strdup(&s->arena, track->unit),
                                   .order = { process->order, block->order, UINT32_MAX, 0 } };
    set_place(s, track->id, s->counters.count);
    if (!counter.process || !counter.block || !counter.name || !counter.unit ||
        !vec_push(&s->counters, counter))
        s->is_out_of_memory = true;
}

static void keep_track(void *self, const timeline_track *track)
{
    if (track->type == TRACK_LANE)
        keep_lane(self, track);
    else if (track->type == TRACK_COUNTER)
        keep_counter(self, track);
}

/* Half of the values: of each two neighbours the larger one. */
static void thin_counters(timeline_spans *s)
{
    s->points = 0;
    for (size_t i = 0; i < s->counters.count; i++) {
        span_counter *c = &s->counters.at[i];
        size_t half = (c->times.count + 1) / 2;
        for (size_t k = 0; k < half; k++) {
            double first = c->values.at[2 * k];
            double second = 2 * k + 1 < c->values.count ? c->values.at[2 * k + 1] : first;
            c->times.at[k] = c->times.at[2 * k];
            c->values.at[k] = first > second ? first : second;
        }
        c->times.count = c->values.count = half;
        s->points += half;
    }
}

static void keep_count(void *self, const timeline_track *track, ls_time time, double value)
{
    timeline_spans *s = self;
    uint32_t place = track->id < s->place_of.count ? s->place_of.at[track->id] : UINT32_MAX;
    if (place >= s->counters.count)
        return;
    if (s->points >= SPANS_POINTS)
        thin_counters(s);
    span_counter *counter = &s->counters.at[place];
    s->points++;
    if (!vec_push(&counter->times, time) || !vec_push(&counter->values, value))
        s->is_out_of_memory = true;
}

/* -------------------------------------------------------------------------------------------------- spans */

/* Numbers of groups and warps go to the span; those of names of kernels belong to the name. */
static void make_pattern(const timeline_slice *slice, char *text, size_t bytes, timeline_span *span,
                         uint8_t *numbers)
{
    bool is_numbered =
        slice->part == SLICE_WHOLE && (slice->kind == LS_TAP_GROUP || slice->kind == LS_TAP_WARP);
    size_t at = 0;
    for (const char *from = slice->name; *from != 0 && at + 1 < bytes;) {
        if (!is_numbered || !isdigit((unsigned char)*from) || *numbers == SPAN_NUMBERS) {
            text[at++] = *from++;
            continue;
        }
        char *end;
        span->numbers[(*numbers)++] = (uint32_t)strtoul(from, &end, 10);
        from = end;
        text[at++] = '#';
    }
    text[at] = 0;
}

static const slice_arg *first_number(const timeline_slice *slice)
{
    for (uint32_t i = 0; i < slice->arg_count; i++)
        if (slice->args[i].text == NULL)
            return &slice->args[i];
    return NULL;
}

static uint32_t label_of(timeline_spans *s, const timeline_slice *slice, timeline_span *span)
{
    char text[512], key[600];
    span_label label = { .kind = slice->kind, .part = (uint8_t)slice->part };
    const slice_arg *arg = slice->part == SLICE_WHOLE ? first_number(slice) : NULL;
    make_pattern(slice, text, sizeof text, span, &label.numbers);
    if (slice->kind == LS_TAP_KERNEL) /* a name that it does not know stays as it is */
        (void)demangle(slice->name, false, text, sizeof text);
    snprintf(key, sizeof key, "%d %d %s %s", slice->kind, (int)slice->part, arg != NULL ? arg->name : "",
             text);
    uintptr_t number = (uintptr_t)map_get(&s->numbers, key);
    if (number == 0) {
        label.text = arena_strdup(&s->arena, text);
        label.value = arg != NULL ? arena_strdup(&s->arena, arg->name) : NULL;
        label.is_address = arg != NULL && arg->is_address;
        label.has_parent =
            slice->part == SLICE_SERVICE || (slice->part == SLICE_WHOLE && slice->kind == LS_TAP_GROUP);
        number = s->labels.count + 1;
        if (!label.text || !vec_push(&s->labels, label) || !map_put(&s->numbers, key, (void *)number)) {
            s->is_out_of_memory = true;
            return 0;
        }
    }
    s->labels.at[number - 1].uses++;
    span->value = arg != NULL ? arg->number : 0;
    return (uint32_t)number - 1;
}

static void keep_end(void *self, const timeline_slice *slice)
{
    timeline_spans *s = self;
    bool always = slice->part == SLICE_WHOLE && (slice->kind == LS_TAP_KERNEL || slice->kind == LS_TAP_COPY ||
                                                 slice->kind == LS_TAP_GROUP || slice->kind == LS_TAP_WARP);
    if (s->list.count >= SPANS_MOST && (!always || s->list.count >= 2 * (size_t)SPANS_MOST)) {
        s->left_out++;
        return;
    }
    if (slice->track->id >= s->place_of.count || s->is_out_of_memory)
        return;
    timeline_span span = { .id = slice->id,
                           .parent = slice->parent,
                           .begin = slice->begin,
                           .end = slice->end,
                           .row = s->place_of.at[slice->track->id] };
    span.label = label_of(s, slice, &span);
    if (!vec_push(&s->list, span))
        s->is_out_of_memory = true;
}

/* ------------------------------------------------------------------------------------------------ the end */

static int compare_order(const uint32_t *a, const uint32_t *b)
{
    for (unsigned i = 0; i < 4; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *left, const void *right, void *rows)
{
    const timeline_row *at = rows;
    return compare_order(at[*(const uint32_t *)left].order, at[*(const uint32_t *)right].order);
}

static int compare_labels(const void *left, const void *right, void *labels)
{
    const span_label *at = labels;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (at[a].uses != at[b].uses)
        return at[a].uses > at[b].uses ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_counters(const void *left, const void *right)
{
    return compare_order(((const span_counter *)left)->order, ((const span_counter *)right)->order);
}

/* out[old place] = new place; order[new place] = old place. */
static bool sort_places(void *items, size_t count, int (*compare)(const void *, const void *, void *),
                        uint32_t **order, uint32_t **out)
{
    *order = calloc(count + 1, sizeof **order);
    *out = calloc(count + 1, sizeof **out);
    if (*order == NULL || *out == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        (*order)[i] = (uint32_t)i;
    if (count > 1)
        qsort_r(*order, count, sizeof **order, compare, items);
    for (size_t i = 0; i < count; i++)
        (*out)[(*order)[i]] = (uint32_t)i;
    return true;
}

static bool is_inside(uint8_t part)
{
    return part == SLICE_STATE || part == SLICE_STAGE;
}

static int compare_spans(const void *left, const void *right, void *self)
{
    const timeline_span *a = left, *b = right;
    const timeline_spans *s = self;
    bool inside_a = is_inside(s->labels.at[a->label].part), inside_b = is_inside(s->labels.at[b->label].part);
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (inside_a != inside_b)
        return inside_a ? 1 : -1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool sort_rows_and_labels(timeline_spans *s)
{
    uint32_t *rows, *row_to, *labels = NULL, *label_to = NULL;
    timeline_row *old_rows = calloc(s->rows.count + 1, sizeof *old_rows);
    span_label *old_labels = calloc(s->labels.count + 1, sizeof *old_labels);
    bool good = sort_places(s->rows.at, s->rows.count, compare_rows, &rows, &row_to) && old_rows && old_labels;
    good = good && sort_places(s->labels.at, s->labels.count, compare_labels, &labels, &label_to);
    for (size_t i = 0; good && i < s->rows.count; i++)
        old_rows[i] = s->rows.at[i];
    for (size_t i = 0; good && i < s->labels.count; i++)
        old_labels[i] = s->labels.at[i];
    for (size_t i = 0; good && i < s->rows.count; i++)
        s->rows.at[i] = old_rows[rows[i]];
    for (size_t i = 0; good && i < s->labels.count; i++)
        s->labels.at[i] = old_labels[labels[i]];
    for (size_t i = 0; good && i < s->list.count; i++) {
        s->list.at[i].row = row_to[s->list.at[i].row];
        s->list.at[i].label = label_to[s->list.at[i].label];
    }
    free(rows);
    free(row_to);
    free(labels);
    free(label_to);
    free(old_rows);
    free(old_labels);
    return good;
}

ls_status timeline_spans_finish(timeline_spans *s, ls_time end, ls_error *err)
{
    s->end = end;
    if (s->is_out_of_memory || !sort_rows_and_labels(s))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the spans of a timeline");
    if (s->list.count > 1)
        qsort_r(s->list.at, s->list.count, sizeof *s->list.at, compare_spans, s);
    if (s->counters.count > 1)
        qsort(s->counters.at, s->counters.count, sizeof *s->counters.at, compare_counters);
    for (size_t i = 0; i < s->list.count; i++)
        s->rows.at[s->list.at[i].row].counts[is_inside(s->labels.at[s->list.at[i].label].part)]++;
    return LS_OK;
}

void timeline_spans_fini(timeline_spans *s)
{
    for (size_t i = 0; i < s->counters.count; i++) {
        vec_fini(&s->counters.at[i].times);
        vec_fini(&s->counters.at[i].values);
    }
    vec_fini(&s->list);
    vec_fini(&s->rows);
    vec_fini(&s->labels);
    vec_fini(&s->counters);
    vec_fini(&s->place_of);
    map_fini(&s->numbers);
    arena_fini(&s->arena);
    *s = (timeline_spans){ 0 };
}

/* ------------------------------------------------------------------------------------------------ writers */

static ls_status keep_open(void *self, const writer_file *file, ls_error *err)
{
    return (void)self, (void)file, (void)err, LS_OK;
}

static ls_status keep_close(void *self, ls_time end, ls_error *err)
{
    return timeline_spans_finish(self, end, err);
}

static void keep_free(void *self)
{
    timeline_spans_fini(self);
}

const timeline_writer writer_spans = {
    .open = keep_open,
    .track = keep_track,
    .end = keep_end,
    .count = keep_count,
    .close = keep_close,
    .abort = keep_free,
    .size = sizeof(timeline_spans),
    .kinds = ~LS_TAP_BIT(LS_TAP_INSTRUCTION),
};

typedef struct span_page {
    timeline_spans spans; /* first: the functions above take it */
    const char *path, *command;
} span_page;

static ls_status page_open(void *self, const writer_file *file, ls_error *err)
{
    span_page *p = self;
    (void)err;
    p->path = file->path;
    p->command = file->command;
    return LS_OK;
}

static ls_status page_close(void *self, ls_time end, ls_error *err)
{
    span_page *p = self;
    ls_status status = timeline_spans_finish(&p->spans, end, err);
    const page_input in = { .title = p->command != NULL ? p->command : "Timeline", .timeline = &p->spans };
    if (status == LS_OK)
        status = page_write_file(&in, p->path, err);
    timeline_spans_fini(&p->spans);
    return status;
}

const timeline_writer writer_page = {
    .open = page_open,
    .track = keep_track,
    .end = keep_end,
    .count = keep_count,
    .close = page_close,
    .abort = keep_free,
    .size = sizeof(span_page),
    .kinds = ~LS_TAP_BIT(LS_TAP_INSTRUCTION),
};
