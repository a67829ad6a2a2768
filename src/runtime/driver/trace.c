/* trace.c: the filter's text and the file of the instruction trace. */
#include "runtime/driver/trace.h"

#include "base/log.h"
#include "base/text.h"

#include <string.h>

static const char *const keys[] = { "group", "wave", "pc", "kernel", "with" };

static ls_status parse_u32(const char *text, size_t bytes, uint32_t *out, ls_error *err)
{
    uint64_t value;
    ls_status status = parse_u64(text, bytes, &value, err);
    if (status == LS_OK && value > UINT32_MAX)
        status = ls_fail(err, LS_ERR_INPUT, "'%.*s' is too large", (int)bytes, text);
    if (status == LS_OK)
        *out = (uint32_t)value;
    return status;
}

static ls_status parse_group(emulate_trace_filter *filter, const char *text, size_t bytes, ls_error *err)
{
    ls_status status = LS_OK;
    size_t axis = 0;
    filter->one_group = true;
    for (;;) {
        size_t n = bytes;
        const char *comma = memchr(text, ',', bytes);
        if (comma)
            n = (size_t)(comma - text);
        if (axis == 3)
            return ls_fail(err, LS_ERR_USAGE, "a work-group has at most three coordinates");
        status = parse_u32(text, n, &filter->group[axis++], err);
        if (status != LS_OK || !comma)
            return status;
        text += n + 1;
        bytes -= n + 1;
    }
}

static ls_status parse_pc(emulate_trace_filter *filter, const char *text, size_t bytes, ls_error *err)
{
    const char *dash = memchr(text, '-', bytes);
    ls_status status;
    if (!dash)
        return ls_fail(err, LS_ERR_USAGE, "a range of addresses is FROM-TO");
    status = parse_u64(text, (size_t)(dash - text), &filter->pc_from, err);
    if (status == LS_OK)
        status = parse_u64(dash + 1, bytes - (size_t)(dash + 1 - text), &filter->pc_to, err);
    if (status == LS_OK && filter->pc_from >= filter->pc_to)
        status = ls_fail(err, LS_ERR_USAGE, "the range '%.*s' is empty", (int)bytes, text);
    return status;
}

static ls_status parse_item(drv_trace *trace, const char *item, size_t bytes, ls_error *err)
{
    const char *equals = memchr(item, '=', bytes);
    size_t key_bytes = equals ? (size_t)(equals - item) : bytes;
    const char *value = equals ? equals + 1 : item + bytes;
    size_t value_bytes = (size_t)(item + bytes - value);
    char key[32];
    snprintf(key, sizeof key, "%.*s", (int)(key_bytes < 31 ? key_bytes : 31), item);
    if (strcmp(key, "group") == 0)
        return parse_group(&trace->filter, value, value_bytes, err);
    if (strcmp(key, "pc") == 0)
        return parse_pc(&trace->filter, value, value_bytes, err);
    if (strcmp(key, "wave") == 0) {
        trace->filter.one_wave = true;
        return parse_u32(value, value_bytes, &trace->filter.wave, err);
    }
    if (strcmp(key, "kernel") == 0 && value_bytes > 0 && value_bytes < sizeof trace->kernel) {
        memcpy(trace->kernel, value, value_bytes);
        trace->kernel[value_bytes] = '\0';
        return LS_OK;
    }
    if (strcmp(key, "with") == 0 && value_bytes == 7 && memcmp(value, "sources", 7) == 0) {
        trace->filter.sources = true;
        return LS_OK;
    }
    ls_fail(err, LS_ERR_USAGE,
            "'%s' is no trace filter: group=X,Y,Z, wave=N, pc=FROM-TO, kernel=NAME or with=sources", key);
    return ls_error_nearest(err, nearest_of(key, keys, LS_COUNT_OF(keys)));
}

ls_status drv_trace_parse(drv_trace *trace, const char *filter, ls_error *err)
{
    ls_status status = LS_OK;
    trace->filter = (emulate_trace_filter){ 0 };
    trace->kernel[0] = '\0';
    for (const char *at = filter ? filter : ""; *at && status == LS_OK;) {
        size_t n = strcspn(at, " ");
        if (n > 0)
            status = parse_item(trace, at, n, err);
        at += n + (at[n] == ' ');
    }
    if (status == LS_OK)
        return LS_OK;
    ls_error_prefix(err, "trace filter");
    if (err)
        err->status = LS_ERR_USAGE;
    return LS_ERR_USAGE;
}

ls_status drv_trace_open(drv_trace *trace, const char *path, const char *filter, ls_error *err)
{
    ls_status status = drv_trace_parse(trace, filter, err);
    if (status != LS_OK || !path)
        return status;
    status = file_writer_open(&trace->writer, path, err);
    trace->is_open = status == LS_OK;
    snprintf(trace->text, sizeof trace->text, "%s", filter ? filter : "");
    if (status == LS_OK && ends_with(path, TRACE_FILE_SUFFIX))
        status = trace_writer_create(trace->writer.stream, &trace->packed, err);
    return status;
}

ls_status drv_trace_close(drv_trace *trace, ls_error *err)
{
    if (!trace->is_open)
        return LS_OK;
    trace->is_open = false;
    ls_status status = trace->packed ? trace_writer_finish(trace->packed, err) : LS_OK;
    trace->packed = NULL;
    if (trace->text[0] && trace->matched == 0)
        log_warn("the instruction trace is empty: no executed instruction matches the filter%s%s",
                 trace->text[0] == ' ' ? "" : " ", trace->text);
    if (status == LS_OK)
        return file_writer_commit(&trace->writer, err);
    file_writer_abort(&trace->writer);
    return status;
}

void drv_trace_abort(drv_trace *trace)
{
    trace_writer_abort(trace->packed);
    trace->packed = NULL;
    if (trace->is_open)
        file_writer_abort(&trace->writer);
    trace->is_open = false;
}
