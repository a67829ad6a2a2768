/* spans_pack.c: spans as the data of a page: one JSON object whose columns are bytes in base64. Numbers have seven bits per
 * byte, the lowest first; a set top bit says that more follow. Times are picoseconds: each begin is the distance to the end
 * before it on its row and depth, so that states of a warp, which touch each other, need one byte for it. */
#include "report/timeline/filter.h"
#include "report/timeline/spans.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define PS_FS 1000u

typedef LS_VEC(uint8_t) bytes_vec;

static bool put(bytes_vec *to, uint64_t value)
{
    bool good = true;
    for (; value >= 0x80; value >>= 7)
        good = vec_push(to, (uint8_t)(value | 0x80)) && good;
    return vec_push(to, (uint8_t)value) && good;
}

/* Small numbers of both signs become small ones. */
static bool put_signed(bytes_vec *to, int64_t value)
{
    return put(to, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_base64(json_writer *j, const char *key, const bytes_vec *from)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bytes = (from->count + 2) / 3 * 4, at = 1;
    char *text = malloc(bytes + 3);
    if (text == NULL) {
        j->misuse = "no memory for a timeline";
        return;
    }
    text[0] = '"';
    for (size_t i = 0; i < from->count; i += 3) {
        size_t left = from->count - i;
        uint32_t three = (uint32_t)from->at[i] << 16 | (left > 1 ? (uint32_t)from->at[i + 1] << 8 : 0) |
                         (left > 2 ? from->at[i + 2] : 0u);
        text[at++] = digits[three >> 18];
        text[at++] = digits[three >> 12 & 63];
        text[at++] = left > 1 ? digits[three >> 6 & 63] : '=';
        text[at++] = left > 2 ? digits[three & 63] : '=';
    }
    text[at++] = '"';
    json_key(j, key);
    json_raw(j, text, at);
    free(text);
}

/* ------------------------------------------------------------------------------------------------- tables */

static void put_rows(json_writer *j, const timeline_spans *s)
{
    json_key(j, "rows");
    json_array(j);
    for (size_t i = 0; i < s->rows.count; i++) {
        const timeline_row *row = &s->rows.at[i];
        json_array(j);
        json_string(j, row->process);
        json_string(j, row->block);
        json_string(j, row->word);
        json_string(j, row->name);
        json_u64(j, row->counts[0]);
        json_u64(j, row->counts[1]);
        json_end(j);
    }
    json_end(j);
}

static void put_labels(json_writer *j, const timeline_spans *s)
{
    json_key(j, "labels");
    json_array(j);
    for (size_t i = 0; i < s->labels.count; i++) {
        const span_label *label = &s->labels.at[i];
        json_array(j);
        json_string(j, label->text);
        json_u64(j, label->kind);
        json_u64(j, label->part);
        json_u64(j, label->numbers);
        json_string(j, label->value);
        json_bool(j, label->is_address);
        json_bool(j, label->has_parent);
        json_end(j);
    }
    json_end(j);
}

static void put_counters(json_writer *j, const timeline_spans *s, bool *good)
{
    json_key(j, "counters");
    json_array(j);
    for (size_t i = 0; i < s->counters.count; i++) {
        const span_counter *counter = &s->counters.at[i];
        bytes_vec points = { 0 };
        uint64_t before = 0;
        for (size_t k = 0; k < counter->times.count; k++) {
            uint64_t time = counter->times.at[k] / PS_FS;
            *good = put(&points, time - before) && *good;
            /* Thousandths: three digits after the point. */
            *good = put(&points, (uint64_t)(counter->values.at[k] * 1000 + 0.5)) && *good;
            before = time;
        }
        json_begin_object(j);
        json_put_text(j, "process", counter->process);
        json_put_text(j, "block", counter->block);
        json_put_text(j, "name", counter->name);
        json_put_text(j, "unit", counter->unit);
        json_put_u64(j, "count", counter->times.count);
        put_base64(j, "points", &points);
        json_end(j);
        vec_fini(&points);
    }
    json_end(j);
}

/* ------------------------------------------------------------------------------------------------ columns */

typedef struct span_columns {
    bytes_vec gap, length, label, numbers, value, parent;
} span_columns;

/* Where a span with parts elsewhere stands. */
typedef struct span_place {
    uint64_t id;
    uint32_t place;
} span_place;

static int compare_places(const void *left, const void *right)
{
    const span_place *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool may_be_parent(const span_label *label)
{
    return label->part == SLICE_WHOLE && label->kind != LS_TAP_GROUP && label->kind != LS_TAP_WARP;
}

/* By id; ids may be far above the number of spans, as many may be left out. */
static span_place *list_places(const timeline_spans *s, size_t *count)
{
    span_place *places = calloc(s->list.count + 1, sizeof *places);
    *count = 0;
    for (size_t i = 0; places != NULL && i < s->list.count; i++)
        if (may_be_parent(&s->labels.at[s->list.at[i].label]))
            places[(*count)++] = (span_place){ .id = s->list.at[i].id, .place = (uint32_t)i };
    if (*count > 1)
        qsort(places, *count, sizeof *places, compare_places);
    return places;
}

/* From a span to its parent; 0: it is not there. */
static int64_t parent_distance(const span_place *places, size_t count, const timeline_span *span, size_t at)
{
    const span_place key = { .id = span->parent };
    const span_place *found = bsearch(&key, places, count, sizeof *places, compare_places);
    return found != NULL ? (int64_t)at - (int64_t)found->place : 0;
}

static bool fill_columns(const timeline_spans *s, span_columns *c)
{
    uint64_t end = 0, value = 0;
    size_t place_count;
    span_place *places = list_places(s, &place_count);
    uint32_t row = UINT32_MAX, at = 0;
    bool good = places != NULL;
    for (size_t i = 0; good && i < s->list.count; i++) {
        const timeline_span *span = &s->list.at[i];
        const span_label *label = &s->labels.at[span->label];
        if (span->row != row) {
            row = span->row;
            at = 0;
            value = 0;
        }
        if (at == 0 || at == s->rows.at[row].counts[0])
            end = 0;
        at++;
        uint64_t begin = span->begin / PS_FS, length = span->end / PS_FS - begin;
        good = put_signed(&c->gap, (int64_t)(begin - end)) && put(&c->length, length) &&
               put(&c->label, span->label);
        end = begin + length;
        for (unsigned k = 0; good && k < label->numbers; k++)
            good = put(&c->numbers, span->numbers[k]);
        if (good && label->value != NULL) {
            good = put_signed(&c->value, (int64_t)(span->value - value));
            value = span->value;
        }
        if (good && label->has_parent)
            good = put_signed(&c->parent, parent_distance(places, place_count, span, i));
    }
    free(places);
    return good;
}

static void put_columns(json_writer *j, const span_columns *c)
{
    json_key(j, "columns");
    json_begin_object(j);
    put_base64(j, "gap", &c->gap);
    put_base64(j, "length", &c->length);
    put_base64(j, "label", &c->label);
    put_base64(j, "numbers", &c->numbers);
    put_base64(j, "value", &c->value);
    put_base64(j, "parent", &c->parent);
    json_end(j);
}

ls_status timeline_spans_write(const timeline_spans *s, FILE *to, ls_error *err)
{
    span_columns columns = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { 0 } };
    json_writer j;
    bool good = fill_columns(s, &columns);
    json_to_file(&j, to, 0);
    json_begin_object(&j);
    json_put_u64(&j, "version", 1);
    json_put_u64(&j, "spans", s->list.count);
    json_put_u64(&j, "left_out", s->left_out);
    json_put_u64(&j, "end_ps", s->end / PS_FS);
    json_key(&j, "kinds");
    json_array(&j);
    for (size_t i = 0; i < LS_TAP_KINDS; i++)
        json_string(&j, timeline_kind_names[i]);
    json_end(&j);
    put_rows(&j, s);
    put_labels(&j, s);
    put_counters(&j, s, &good);
    put_columns(&j, &columns);
    json_end(&j);
    ls_status status =
        good ? json_finish(&j, err) : ls_fail(err, LS_ERR_NOMEM, "no memory for the spans of a timeline");
    vec_fini(&columns.gap);
    vec_fini(&columns.length);
    vec_fini(&columns.label);
    vec_fini(&columns.numbers);
    vec_fini(&columns.value);
    vec_fini(&columns.parent);
    return status;
}
