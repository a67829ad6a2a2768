/* chrome.c: timelines as JSON trace events (.json, .json.gz), which chrome://tracing and Perfetto open. Slices with others
 * inside are B and E, all others X. Times are microseconds with six digits: picoseconds. */
#include "base/file.h"
#include "report/packed.h"
#include "report/timeline/filter.h"
#include "report/timeline/writer.h"

#include <inttypes.h>

typedef struct chrome {
    file_writer file;
    packed_writer packed;
    bool has_begun; /* something is in the list */
} chrome;

static ls_status chrome_open(void *self, const writer_file *file, ls_error *err)
{
    chrome *c = self;
    ls_status status = file_writer_open(&c->file, file->path, err);
    if (status != LS_OK)
        return status;
    status = packed_writer_open(&c->packed, packed_suffix_of(file->path), c->file.stream, err);
    if (status != LS_OK) {
        file_writer_abort(&c->file);
        return status;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"lockstep timeline\"},\"traceEvents\":[",
          c->packed.stream);
    return LS_OK;
}

static FILE *next(chrome *c)
{
    fputs(c->has_begun ? ",\n" : "\n", c->packed.stream);
    c->has_begun = true;
    return c->packed.stream;
}

static void put_time(FILE *to, const char *name, ls_time time)
{
    uint64_t ps = time / 1000;
    fprintf(to, ",\"%s\":%" PRIu64 ".%06u", name, ps / 1000000, (unsigned)(ps % 1000000));
}

static void put_text(FILE *to, const char *name, const char *text)
{
    fprintf(to, "\"%s\":\"", name);
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++)
        if (*at == '"' || *at == '\\')
            fprintf(to, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(to, "\\u%04x", *at);
        else
            fputc(*at, to);
    fputc('"', to);
}

static void chrome_track(void *self, const timeline_track *track)
{
    chrome *c = self;
    if (track->type == TRACK_PROCESS) {
        FILE *to = next(c);
        fprintf(to, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{", track->id);
        put_text(to, "name", track->name);
        fputs("}}", to);
    } else if (track->type == TRACK_LANE) {
        FILE *to = next(c);
        fprintf(to, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{", track->process,
                track->id);
        char name[128];
        snprintf(name, sizeof name, "%s %s", track->parent->name, track->name);
        put_text(to, "name", name);
        fputs("}}", to);
        to = next(c);
        fprintf(
            to,
            "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}",
            track->process, track->id, track->id);
    }
}

/* Has slices inside: it is told at its begin. */
static bool is_outer(const timeline_slice *slice)
{
    return slice->part == SLICE_WHOLE && (slice->kind == LS_TAP_WARP || slice->kind == LS_TAP_REQUEST ||
                                          slice->kind == LS_TAP_TRANSFER || slice->kind == LS_TAP_MIGRATION);
}

static void put_head(FILE *to, char phase, const timeline_slice *slice, ls_time time)
{
    fprintf(to, "{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", phase, slice->track->process, slice->track->id);
    put_time(to, "ts", time);
}

static void put_body(FILE *to, const timeline_slice *slice)
{
    fputc(',', to);
    put_text(to, "name", slice->name);
    const char *category = slice->part == SLICE_STATE     ? "stall"
                           : slice->part == SLICE_STAGE   ? "stage"
                           : slice->part == SLICE_SERVICE ? "service"
                                                          : timeline_kind_names[slice->kind];
    fprintf(to, ",\"cat\":\"%s\"", category);
    if (slice->arg_count == 0)
        return;
    fputs(",\"args\":{", to);
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const slice_arg *arg = &slice->args[i];
        fputs(i > 0 ? "," : "", to);
        if (arg->text != NULL)
            put_text(to, arg->name, arg->text);
        else if (arg->is_address)
            fprintf(to, "\"%s\":\"0x%" PRIx64 "\"", arg->name, arg->number);
        else
            fprintf(to, "\"%s\":%" PRIu64, arg->name, arg->number);
    }
    fputc('}', to);
}

static void put_flow(chrome *c, char phase, const timeline_slice *slice)
{
    FILE *to = next(c);
    put_head(to, phase, slice, slice->begin);
    fprintf(to, ",\"name\":\"request\",\"cat\":\"flow\",\"id\":%" PRIu64 "%s}", slice->flow,
            phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void chrome_begin(void *self, const timeline_slice *slice)
{
    chrome *c = self;
    if (!is_outer(slice))
        return;
    FILE *to = next(c);
    put_head(to, 'B', slice, slice->begin);
    put_body(to, slice);
    fputc('}', to);
}

static void chrome_end(void *self, const timeline_slice *slice)
{
    chrome *c = self;
    FILE *to = next(c);
    if (is_outer(slice)) {
        put_head(to, 'E', slice, slice->end);
        fputc('}', to);
        return;
    }
    put_head(to, 'X', slice, slice->begin);
    put_time(to, "dur", slice->end - slice->begin);
    put_body(to, slice);
    fputc('}', to);
}

static void chrome_flow(void *self, const timeline_slice *slice, flow_phase phase)
{
    put_flow(self, phase == FLOW_START ? 's' : phase == FLOW_STEP ? 't' : 'f', slice);
}

static void chrome_count(void *self, const timeline_track *track, ls_time time, double value)
{
    chrome *c = self;
    FILE *to = next(c);
    fprintf(to, "{\"ph\":\"C\",\"pid\":%u", track->process);
    put_time(to, "ts", time);
    char name[160];
    if (track->parent->type == TRACK_PROCESS)
        snprintf(name, sizeof name, "%s", track->name);
    else
        snprintf(name, sizeof name, "%s %s", track->parent->name, track->name);
    fputc(',', to);
    put_text(to, "name", name);
    fprintf(to, ",\"args\":{\"%s\":%.6g}}", track->unit != NULL && track->unit[0] != 0 ? track->unit : "value",
            value);
}

static ls_status chrome_close(void *self, ls_time end, ls_error *err)
{
    chrome *c = self;
    (void)end;
    fputs("\n]}\n", c->packed.stream);
    packed_writer_close(&c->packed);
    return file_writer_commit(&c->file, err);
}

static void chrome_abort(void *self)
{
    chrome *c = self;
    packed_writer_close(&c->packed);
    file_writer_abort(&c->file);
}

const timeline_writer writer_chrome = {
    .open = chrome_open,
    .track = chrome_track,
    .begin = chrome_begin,
    .end = chrome_end,
    .flow = chrome_flow,
    .count = chrome_count,
    .close = chrome_close,
    .abort = chrome_abort,
    .size = sizeof(chrome),
    .kinds = ~LS_TAP_BIT(LS_TAP_INSTRUCTION),
};
