/* timeline.c: the listener of a machine's taps, and the way from the recorded events to the file. */
#include "report/timeline/timeline.h"

#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "report/timeline/build.h"
#include "report/timeline/spans.h"
#include "report/timeline/spool.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const timeline_format_names[TIMELINE_FORMATS + 1] = { "perfetto", "chrome", "daisen4", "daisen5",
                                                                  "kanata",   "html",   NULL };
static const struct {
    const char *extensions;
    const timeline_writer *writer;
} formats[TIMELINE_FORMATS] = {
    [TIMELINE_PERFETTO] = { ".pftrace .perfetto-trace", &writer_perfetto },
    [TIMELINE_CHROME] = { ".json .json.gz", &writer_chrome },
    [TIMELINE_DAISEN4] = { ".sqlite3", &writer_daisen4 },
    [TIMELINE_DAISEN5] = { "", &writer_daisen5 },
    [TIMELINE_KANATA] = { ".kanata .log .kanata.gz .log.gz", &writer_kanata },
    [TIMELINE_PAGE] = { ".html", &writer_page },
};

/* Names of a domain: only its own thread adds some. */
typedef struct domain_names {
    LS_VEC(const char *) at;
    string_map numbers; /* from 1 */
} domain_names;

struct timeline {
    mem_arena arena;
    const char *path, *command;
    timeline_format format;
    timeline_filter filter;
    ls_engine *engine;
    ls_tap_listener listener;
    event_spool *spool;
    domain_names *names;
    uint32_t domain_count;
    void *writer_state;
    timeline_spans spans; /* of timeline_make_spans() */
    bool has_spans;
    uint64_t counts[LS_TAP_KINDS];
};

/* ------------------------------------------------------------------------------------------------ options */

static bool has_extension(const char *name, const char *extensions)
{
    size_t length = strlen(name);
    for (const char *at = extensions; at != NULL && *at != 0; at = strchr(at, ' ')) {
        at += *at == ' ';
        size_t bytes = strcspn(at, " ");
        if (length > bytes && strncasecmp(name + length - bytes, at, bytes) == 0)
            return true;
    }
    return false;
}

ls_status timeline_format_of(const char *path, const char *format, timeline_format *out, ls_error *err)
{
    char quoted[200];
    for (int i = 0; i < TIMELINE_FORMATS; i++)
        if (format != NULL ? strcmp(format, timeline_format_names[i]) == 0
                           : has_extension(path_base(path), formats[i].extensions)) {
            *out = (timeline_format)i;
            return LS_OK;
        }
    if (format != NULL) {
        ls_fail(err, LS_ERR_USAGE, "there is no format of timelines '%s'", format);
        return ls_error_nearest(err, nearest_of(format, timeline_format_names, TIMELINE_FORMATS));
    }
    return ls_fail(
        err, LS_ERR_USAGE,
        "cannot tell the format of timeline '%s' from its name: use .pftrace (Perfetto), .json or .json.gz "
        "(Chrome), .sqlite3 (Daisen), .html (a page), .kanata or .log (Konata)",
        quote_text(path, strlen(path), quoted, sizeof quoted));
}

ls_status timeline_check(const timeline_options *options, ls_error *err)
{
    timeline_format format;
    timeline_filter filter;
    mem_arena arena = { 0 };
    ls_status status = timeline_format_of(options->path, options->format, &format, err);
    if (status == LS_OK)
        status = filter_parse(&arena, options->filters, options->filter_count, &filter, err);
    if (status == LS_OK && options->path != NULL)
        status = file_check_writable(options->path, err);
    arena_fini(&arena);
    return status;
}

ls_status timeline_create(const timeline_options *options, timeline **out, ls_error *err)
{
    timeline *t = calloc(1, sizeof *t);
    *out = t;
    ls_status status = t ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a timeline");
    if (status == LS_OK)
        status = timeline_check(options, err);
    if (status == LS_OK)
        status = timeline_format_of(options->path, options->format, &t->format, err);
    if (status == LS_OK)
        status = filter_parse(&t->arena, options->filters, options->filter_count, &t->filter, err);
    if (status == LS_OK) {
        t->path = options->path ? arena_strdup(&t->arena, options->path) : NULL;
        t->command = options->command ? arena_strdup(&t->arena, options->command) : NULL;
        t->writer_state = calloc(1, formats[t->format].writer->size);
        if (t->writer_state == NULL || (options->path != NULL && t->path == NULL))
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for a timeline");
    }
    if (status != LS_OK) {
        timeline_destroy(t);
        *out = NULL;
    }
    return status;
}

void timeline_destroy(timeline *t)
{
    if (t == NULL)
        return;
    timeline_spans_fini(&t->spans);
    spool_destroy(t->spool);
    for (uint32_t i = 0; t->names != NULL && i < t->domain_count; i++) {
        for (size_t k = 0; k < t->names[i].at.count; k++)
            free((char *)(uintptr_t)t->names[i].at.at[k]);
        vec_fini(&t->names[i].at);
        map_fini(&t->names[i].numbers);
    }
    free(t->names);
    free(t->writer_state);
    arena_fini(&t->arena);
    free(t);
}

/* ---------------------------------------------------------------------------------------------- listening */

/* Kinds that have to be recorded to show others: kernels name groups, and groups warps. */
static uint32_t needed_kinds(const timeline *t)
{
    uint32_t kinds = t->filter.kinds & formats[t->format].writer->kinds;
    if ((kinds & LS_TAP_BIT(LS_TAP_STALL)) != 0)
        kinds |= LS_TAP_BIT(LS_TAP_WARP);
    if ((kinds & LS_TAP_BIT(LS_TAP_WARP)) != 0)
        kinds |= LS_TAP_BIT(LS_TAP_GROUP);
    return kinds | LS_TAP_BIT(LS_TAP_KERNEL);
}

/* Kernels are the GPU's, and requests pass through blocks that the filter may not name. */
static uint32_t wants(void *self, const ls_block *block)
{
    timeline *t = self;
    uint32_t kinds = needed_kinds(t);
    if (!filter_takes_block(&t->filter, ls_block_name(block)))
        kinds &= LS_TAP_BIT(LS_TAP_KERNEL) | LS_TAP_BIT(LS_TAP_COPY) | LS_TAP_BIT(LS_TAP_REQUEST) |
                 LS_TAP_BIT(LS_TAP_TRANSFER) | LS_TAP_BIT(LS_TAP_MIGRATION);
    return kinds;
}

static void take(void *self, uint32_t domain, const ls_tap_event *events, size_t count)
{
    spool_take(((timeline *)self)->spool, domain, events, count);
}

static uint64_t name_of(void *self, uint32_t domain, const char *text)
{
    domain_names *names = &((timeline *)self)->names[domain];
    uintptr_t number = (uintptr_t)map_get(&names->numbers, text);
    if (number != 0)
        return number;
    char *copy = strdup(text);
    if (copy == NULL || !vec_push(&names->at, copy)) {
        free(copy);
        return 0;
    }
    number = names->at.count;
    (void)map_put(&names->numbers, text, (void *)number); /* else it is kept twice */
    return number;
}

/* A file of Konata shows the pipeline of one core. */
static ls_status check_pipeline(const timeline *t, const ls_engine *engine, ls_error *err)
{
    uint32_t cores = 0, taken = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        const ls_block *block = ls_engine_block(engine, i);
        bool is_taken = t->filter.block_count == 0;
        if (strcmp(ls_block_type_of(block)->slot, "core") != 0)
            continue;
        cores++;
        first = first != NULL ? first : ls_block_name(block);
        for (size_t k = 0; k < t->filter.block_count; k++)
            is_taken = is_taken || glob_match(t->filter.blocks[k].pattern, ls_block_name(block));
        taken += is_taken;
    }
    if (cores == 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "timeline '%s': only cores of NVIDIA GPUs show their pipelines to Konata", t->path);
    if (taken == 1)
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE,
                   "timeline '%s' shows the pipeline of one core, but %u fit: add --timeline-filter block=%s",
                   t->path, taken, first);
}

ls_status timeline_attach(timeline *t, ls_engine *engine, ls_error *err)
{
    if (t->format == TIMELINE_KANATA && check_pipeline(t, engine, err) != LS_OK)
        return LS_ERR_USAGE;
    t->engine = engine;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        uint32_t id = ls_domain_id(ls_region_domain(ls_block_region(ls_engine_block(engine, i))));
        t->domain_count = id >= t->domain_count ? id + 1 : t->domain_count;
    }
    t->names = calloc(t->domain_count + 1, sizeof *t->names);
    if (t->names == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a timeline");
    ls_status status = spool_create(t->domain_count, &t->spool, err);
    t->listener = (ls_tap_listener){ .self = t,
                                     .wants = wants,
                                     .take = take,
                                     .name = name_of,
                                     .from = t->filter.from,
                                     .until = t->filter.until,
                                     .kept = LS_TAP_BIT(LS_TAP_KERNEL) | LS_TAP_BIT(LS_TAP_COPY) |
                                             LS_TAP_BIT(LS_TAP_GROUP) | LS_TAP_BIT(LS_TAP_WARP),
                                     .buffer_events = SPOOL_CHUNK_EVENTS };
    return status == LS_OK ? ls_engine_listen(engine, &t->listener, err) : status;
}

/* ------------------------------------------------------------------------------------------------ writing */

static void warn_of_filters(const timeline *t)
{
    char from[LS_FORMAT_BYTES], until[LS_FORMAT_BYTES];
    bool is_told = false;
    uint64_t all = 0;
    for (size_t i = 0; i < t->filter.kernel_count; i++)
        if (t->filter.kernels[i].matches == 0) {
            (void)ls_engine_warn(t->engine, "flag",
                                 "--timeline-filter kernel=%s: no kernel of the run has this %s",
                                 t->filter.kernels[i].text, t->filter.kernels[i].pattern ? "name" : "number");
            is_told = true;
        }
    for (size_t i = 0; i < t->filter.block_count; i++)
        if (t->filter.blocks[i].matches == 0) {
            (void)ls_engine_warn(
                t->engine, "flag",
                "--timeline-filter block=%s: the machine has no block of this name, as %s is one",
                t->filter.blocks[i].pattern, ls_block_name(ls_engine_block(t->engine, 0)));
            is_told = true;
        }
    for (int i = 0; i < LS_TAP_KINDS; i++)
        all += t->counts[i];
    if (all > 0 || is_told)
        return;
    if (t->filter.has_time)
        (void)ls_engine_warn(t->engine, "flag",
                             "--timeline-filter time=%s-%s: nothing was recorded in this time",
                             format_time(t->filter.from, from, sizeof from),
                             format_time(t->filter.until, until, sizeof until));
    else
        (void)ls_engine_warn(t->engine, "flag",
                             "the timeline is empty: nothing of the run fits its filters and format");
}

static void build_all(timeline *t, builder *b, ls_time end)
{
    ls_tap_event event;
    uint32_t domain;
    while (spool_next(t->spool, &event, &domain)) {
        const domain_names *names = &t->names[domain];
        bool is_named =
            event.phase == LS_TAP_BEGIN && (event.kind == LS_TAP_KERNEL || event.kind == LS_TAP_INSTRUCTION);
        uint64_t number = event.kind == LS_TAP_INSTRUCTION ? event.more : event.value;
        build_event(b, &event,
                    is_named && number > 0 && number <= names->at.count ? names->at.at[number - 1] : NULL);
    }
    build_end(b, end);
}

/* Reads all events again, so that several writers can have them. */
static ls_status write_with(timeline *t, const timeline_writer *writer, void *state, ls_time end,
                            ls_error *err)
{
    const writer_file file = {
        .path = t->path, .command = t->command, .engine = t->engine, .scale = t->filter.scale
    };
    builder b;
    ls_engine_flush_taps(t->engine);
    end = end < t->filter.until ? end : t->filter.until;
    ls_status status = spool_start(t->spool, err);
    if (status == LS_OK)
        status = build_init(&b, t->engine, &t->filter, writer, state, err);
    if (status != LS_OK)
        return status;
    status = writer->open(state, &file, err);
    if (status == LS_OK) {
        build_all(t, &b, end);
        status = spool_status(t->spool, err);
        if (status == LS_OK && b.is_out_of_memory)
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for the timeline");
        if (status == LS_OK)
            status = writer->close(state, b.last > end ? b.last : end, err);
        else
            writer->abort(state);
    }
    memcpy(t->counts, b.counts, sizeof t->counts);
    build_fini(&b);
    return status;
}

ls_status timeline_write(timeline *t, ls_time end, ls_error *err)
{
    ls_status status = write_with(t, formats[t->format].writer, t->writer_state, end, err);
    if (status == LS_OK)
        warn_of_filters(t);
    return status;
}

ls_status timeline_make_spans(timeline *t, ls_time end, const timeline_spans **out, ls_error *err)
{
    *out = &t->spans;
    ls_status status = t->has_spans ? LS_OK : write_with(t, &writer_spans, &t->spans, end, err);
    t->has_spans = status == LS_OK;
    return status;
}

uint64_t timeline_count(const timeline *t, ls_tap_kind kind)
{
    return t->counts[kind];
}

const char *timeline_kind_name(ls_tap_kind kind)
{
    return timeline_kind_names[kind];
}

uint64_t timeline_events(const timeline *t)
{
    return t->spool != NULL ? spool_count(t->spool) : 0;
}
