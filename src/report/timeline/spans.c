/* spans.c: the writer that keeps a timeline in memory, and its form as JSON. */
#include "report/timeline/spans.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/timeline/filter.h"

#include <inttypes.h>
#include <string.h>

typedef struct span_keeper {
    timeline_spans spans; /* first: timeline_get_spans() gives it out */
    mem_arena arena;
    LS_VEC(timeline_span) list;
    LS_VEC(timeline_row) rows;
    LS_VEC(const char *) names;
    LS_VEC(uint32_t) row_of; /* by id of track */
    string_map numbers;      /* of names, from 1 */
    bool is_out_of_memory;
} span_keeper;

static void keep_track(void *self, const timeline_track *track)
{
    span_keeper *k = self;
    uint32_t row = (uint32_t)k->rows.count;
    while (k->row_of.count <= track->id)
        if (!vec_push(&k->row_of, 0)) {
            k->is_out_of_memory = true;
            return;
        }
    if (track->type != TRACK_LANE)
        return;
    const timeline_row to = { .process = arena_strdup(&k->arena, track->parent->parent->name),
                              .block = arena_strdup(&k->arena, track->parent->name),
                              .name = arena_strdup(&k->arena, track->name) };
    if (!to.process || !to.block || !to.name || !vec_push(&k->rows, to))
        k->is_out_of_memory = true;
    else
        k->row_of.at[track->id] = row;
}

static uint32_t number_of(span_keeper *k, const char *name)
{
    uintptr_t number = (uintptr_t)map_get(&k->numbers, name);
    if (number == 0) {
        const char *copy = arena_strdup(&k->arena, name);
        number = k->names.count + 1;
        if (!copy || !vec_push(&k->names, copy) || !map_put(&k->numbers, name, (void *)number)) {
            k->is_out_of_memory = true;
            return 0;
        }
    }
    return (uint32_t)number - 1;
}

static void keep_end(void *self, const timeline_slice *slice)
{
    span_keeper *k = self;
    if (k->list.count >= SPANS_MOST) {
        k->spans.left_out++;
        return;
    }
    if (slice->track->id >= k->row_of.count)
        return;
    const timeline_span span = { .begin = slice->begin,
                                 .length = slice->end - slice->begin,
                                 .track = k->row_of.at[slice->track->id],
                                 .name = number_of(k, slice->name) & 0xffffff,
                                 .kind = slice->part == SLICE_STATE ? LS_TAP_STALL : slice->kind };
    if (!vec_push(&k->list, span))
        k->is_out_of_memory = true;
}

static ls_status keep_open(void *self, const writer_file *file, ls_error *err)
{
    return (void)self, (void)file, (void)err, LS_OK;
}

static ls_status keep_close(void *self, ls_time end, ls_error *err)
{
    span_keeper *k = self;
    (void)end;
    k->spans.at = k->list.at;
    k->spans.count = k->list.count;
    k->spans.tracks = k->rows.at;
    k->spans.track_count = k->rows.count;
    k->spans.names = k->names.at;
    k->spans.name_count = k->names.count;
    return k->is_out_of_memory ? ls_fail(err, LS_ERR_NOMEM, "no memory for the spans of a timeline") : LS_OK;
}

static void keep_free(void *self)
{
    span_keeper *k = self;
    vec_fini(&k->list);
    vec_fini(&k->rows);
    vec_fini(&k->names);
    vec_fini(&k->row_of);
    map_fini(&k->numbers);
    arena_fini(&k->arena);
    *k = (span_keeper){ 0 };
}

const timeline_writer writer_spans = {
    .open = keep_open,
    .track = keep_track,
    .end = keep_end,
    .close = keep_close,
    .abort = keep_free,
    .size = sizeof(span_keeper),
    .kinds = ~LS_TAP_BIT(LS_TAP_INSTRUCTION),
};

/* --------------------------------------------------------------------------------------------------- JSON */

static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++)
        if (*at == '"' || *at == '\\' || *at == '<') /* a page may hold it */
            fprintf(to, "\\u%04x", *at);
        else if (*at < 0x20)
            fprintf(to, "\\u%04x", *at);
        else
            fputc(*at, to);
    fputc('"', to);
}

static void put_column(FILE *to, const timeline_spans *spans, const char *name, unsigned column)
{
    uint64_t before = 0;
    fprintf(to, ",\n\"%s\":[", name);
    for (size_t i = 0; i < spans->count; i++) {
        const timeline_span *s = &spans->at[i];
        uint64_t begin = s->begin / 1000;
        int64_t value = column == 0   ? (int64_t)s->track
                        : column == 1 ? (int64_t)s->name
                        : column == 2 ? (int64_t)s->kind
                        : column == 3 ? (int64_t)(begin - before)
                                      : (int64_t)(s->begin + s->length) / 1000 - (int64_t)begin;
        fprintf(to, "%s%" PRId64, i > 0 ? "," : "", value);
        before = begin;
    }
    fputc(']', to);
}

ls_status spans_write_json(const timeline_spans *spans, FILE *to, ls_error *err)
{
    static const char *const columns[] = { "track", "name", "kind", "begin_ps", "length_ps" };
    fprintf(to, "{\"left_out\":%zu,\n\"tracks\":[", spans->left_out);
    for (size_t i = 0; i < spans->track_count; i++) {
        fputs(i > 0 ? ",[" : "[", to);
        put_text(to, spans->tracks[i].process);
        fputc(',', to);
        put_text(to, spans->tracks[i].block);
        fputc(',', to);
        put_text(to, spans->tracks[i].name);
        fputc(']', to);
    }
    fputs("],\n\"names\":[", to);
    for (size_t i = 0; i < spans->name_count; i++) {
        fputs(i > 0 ? "," : "", to);
        put_text(to, spans->names[i]);
    }
    fputs("],\n\"kinds\":[", to);
    for (size_t i = 0; i < LS_TAP_KINDS; i++)
        fprintf(to, "%s\"%s\"", i > 0 ? "," : "", timeline_kind_names[i]);
    fputc(']', to);
    for (unsigned i = 0; i < LS_COUNT_OF(columns); i++)
        put_column(to, spans, columns[i], i);
    fputs("}\n", to);
    return ferror(to) ? ls_fail(err, LS_ERR_IO, "the spans of a timeline could not be written") : LS_OK;
}
