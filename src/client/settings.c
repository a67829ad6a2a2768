/* settings.c: the environment variables of the library, read once. A value that is wrong is an error, never
 * ignored. */
#include "client/settings.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* A number in [0, max], with a unit if it may have one; *out keeps its value if the variable is not set. */
static ls_status read_number(const char *name, bool is_size, uint64_t max, uint64_t *out, ls_error *err)
{
    const char *text = variable(name);
    size_t length = text ? strlen(text) : 0;
    unsigned shift = 0;
    uint64_t value;
    ls_status status;
    if (!text)
        return LS_OK;
    if (is_size && length > 1) {
        const char unit = text[length - 1];
        shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
        length -= shift > 0;
    }
    status = parse_u64(text, length, &value, err);
    if (status == LS_OK && value > max >> shift)
        status = ls_fail(err, LS_ERR_USAGE, "'%s' is too large", text);
    if (status != LS_OK)
        return ls_error_at(err, name, 0, 0);
    *out = value << shift;
    return LS_OK;
}

static ls_status read_gpus(client_settings *s, ls_error *err)
{
    static char names[512];
    const char *text = variable("LOCKSTEP_GPU");
    uint64_t copies = 1;
    ls_status status = read_number("LOCKSTEP_GPUS", false, CLIENT_GPUS_MAX, &copies, err);
    char *rest = NULL;
    size_t given;
    if (status != LS_OK)
        return status;
    if (strlen(text ? text : "") >= sizeof names)
        return ls_error_at((ls_fail(err, LS_ERR_USAGE, "too many GPUs"), err), "LOCKSTEP_GPU", 0, 0);
    strcpy(names, text ? text : "gfx1030");
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        if (s->gpu_count == CLIENT_GPUS_MAX)
            return ls_error_at((ls_fail(err, LS_ERR_USAGE, "more than %d GPUs", CLIENT_GPUS_MAX), err),
                               "LOCKSTEP_GPU", 0, 0);
        s->gpus[s->gpu_count++] = name;
    }
    given = s->gpu_count;
    if (given == 0 || copies == 0 || given * copies > CLIENT_GPUS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "a system has 1 to %d GPUs: see LOCKSTEP_GPU and LOCKSTEP_GPUS",
                       CLIENT_GPUS_MAX);
    for (; s->gpu_count < given * copies; s->gpu_count++)
        s->gpus[s->gpu_count] = s->gpus[s->gpu_count - given];
    return LS_OK;
}

#define LIST_MAX 32
#define LIST_BYTES 4096
/* Words with blanks between them; `texts` keeps them. */
static ls_status read_list(const char *name, char texts[LIST_BYTES], const char *out[LIST_MAX], size_t *count,
                           ls_error *err)
{
    const char *text = variable(name);
    char *rest = NULL;
    if (strlen(text ? text : "") >= LIST_BYTES)
        return ls_error_at((ls_fail(err, LS_ERR_USAGE, "too many settings"), err), name, 0, 0);
    strcpy(texts, text ? text : "");
    for (char *word = strtok_r(texts, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (*count == LIST_MAX)
            return ls_error_at((ls_fail(err, LS_ERR_USAGE, "more than %d settings", LIST_MAX), err), name, 0,
                               0);
        out[(*count)++] = word;
    }
    return LS_OK;
}

static ls_status read_timeline(client_settings *s, bool is_timed, ls_error *err)
{
    static char texts[LIST_BYTES];
    s->timeline_path = variable("LOCKSTEP_TIMELINE");
    s->timeline_format = variable("LOCKSTEP_TIMELINE_FORMAT");
    ls_status status =
        read_list("LOCKSTEP_TIMELINE_FILTER", texts, s->timeline_filters, &s->timeline_filter_count, err);
    if (status == LS_OK && s->timeline_path && !is_timed)
        status =
            ls_error_at((ls_fail(err, LS_ERR_USAGE, "it shows simulated time: set LOCKSTEP_PLATFORM"), err),
                        "LOCKSTEP_TIMELINE", 0, 0);
    return status;
}

/* A word for each setting of mode time that makes no sense alone. */
static ls_status read_live(client_settings *s, bool timed, ls_error *err)
{
    static char texts[LIST_BYTES];
    const char *text = variable("LOCKSTEP_SERIES");
    s->rocprof_path = variable("LOCKSTEP_ROCPROF");
    s->series_every = variable("LOCKSTEP_SERIES_EVERY");
    s->series_path = variable("LOCKSTEP_SERIES_OUT");
    s->monitor = variable("LOCKSTEP_MONITOR");
    s->monitor_token = variable("LOCKSTEP_MONITOR_TOKEN");
    const char *needs_time = s->rocprof_path   ? "LOCKSTEP_ROCPROF"
                             : s->series_every ? "LOCKSTEP_SERIES_EVERY"
                             : s->monitor      ? "LOCKSTEP_MONITOR"
                                               : NULL;
    if (needs_time && !timed) {
        ls_fail(err, LS_ERR_USAGE, "it is about simulated time: set LOCKSTEP_PLATFORM");
        return ls_error_at(err, needs_time, 0, 0);
    }
    if ((text || s->series_path) && !s->series_every) {
        ls_fail(err, LS_ERR_USAGE, "metrics over time need an interval: set LOCKSTEP_SERIES_EVERY");
        return ls_error_at(err, text ? "LOCKSTEP_SERIES" : "LOCKSTEP_SERIES_OUT", 0, 0);
    }
    if (s->series_every && !s->series_path && !s->monitor) {
        ls_fail(err, LS_ERR_USAGE, "metrics over time need a file or a page: set LOCKSTEP_SERIES_OUT");
        return ls_error_at(err, "LOCKSTEP_SERIES_EVERY", 0, 0);
    }
    if (s->monitor_token && !s->monitor)
        return ls_fail(err, LS_ERR_USAGE, "LOCKSTEP_MONITOR_TOKEN needs LOCKSTEP_MONITOR");
    return read_list("LOCKSTEP_SERIES", texts, s->series, &s->series_count, err);
}

static ls_status read_devices(client_settings *s, ls_error *err)
{
    const char *text = variable("LOCKSTEP_DEVICES");
    s->spread = variable("LOCKSTEP_SPREAD");
    s->pages = variable("LOCKSTEP_PAGES");
    s->unified = text && strcmp(text, "unified") == 0;
    if (text && !s->unified && strcmp(text, "discrete") != 0)
        return ls_error_at((ls_fail(err, LS_ERR_USAGE, "'%s' is not discrete or unified", text), err),
                           "LOCKSTEP_DEVICES", 0, 0);
    return LS_OK;
}

/* The platform says how many GPUs there are, or LOCKSTEP_GPUS makes more of a platform of one. */
static ls_status read_timed_gpus(client_settings *s, ls_error *err)
{
    uint64_t copies = 0;
    ls_status status = read_number("LOCKSTEP_GPUS", false, CLIENT_GPUS_MAX, &copies, err);
    size_t named = copies > 0 ? s->gpu_count / copies : s->gpu_count;
    if (status == LS_OK && named > 1)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "GPUs in simulated time are those of a platform, with one instruction set: LOCKSTEP_GPU "
            "has %zu",
            named);
    s->platform_gpus = copies > 1 ? (uint32_t)copies : 0;
    s->gpu_count = 1;
    return status;
}

ls_status client_settings_read(client_settings *out, ls_error *err)
{
    static char sets[LIST_BYTES];
    uint64_t threads = 1, compute_units = 0, strict = 0, check_memory = 0, summary = 0;
    ls_status status;
    *out = (client_settings){ 0 };
    status = read_gpus(out, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_MEMORY", true, (uint64_t)1 << 40, &out->memory_bytes, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_THREADS", false, 1024, &threads, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_COMPUTE_UNITS", false, 4096, &compute_units, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_MAX_INSTRUCTIONS", false, UINT64_MAX, &out->max_instructions, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_STRICT", false, 1, &strict, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_CHECK_MEMORY", false, 1, &check_memory, err);
    if (status == LS_OK)
        status = read_number("LOCKSTEP_SUMMARY", false, 1, &summary, err);
    out->strict = strict != 0;
    out->summary = summary != 0;
    out->check_memory = check_memory != 0;
    out->threads = (uint32_t)threads;
    out->compute_units = (uint32_t)compute_units;
    out->mode = variable("LOCKSTEP_MODE");
    out->platform = variable("LOCKSTEP_PLATFORM");
    if (status == LS_OK)
        status = read_list("LOCKSTEP_SET", sets, out->sets, &out->set_count, err);
    bool timed = out->mode ? strcmp(out->mode, "time") == 0 : out->platform != NULL;
    if (status == LS_OK)
        status = read_devices(out, err);
    if (status == LS_OK && timed)
        status = read_timed_gpus(out, err);
    if (status == LS_OK)
        status = read_timeline(out, timed, err);
    /* The platform has an instruction set of its own. */
    if (out->platform && !variable("LOCKSTEP_GPU"))
        out->gpu_count = 0;
    out->trace_path = variable("LOCKSTEP_TRACE");
    out->trace_filter = variable("LOCKSTEP_TRACE_FILTER");
    out->record_path = variable("LOCKSTEP_RECORD");
    out->metrics_path = variable("LOCKSTEP_METRICS");
    if (status == LS_OK)
        status = read_live(out, timed, err);
    return status;
}
