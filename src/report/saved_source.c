/* saved_source.c: counts per instruction, read back from JSON and SQLite. Results of runs without --source have none. */
#include "report/saved_impl.h"

#include "report/source.h"
#include "report/sqlite.h"

#include <cjson/cJSON.h>
#include <string.h>

#define FIXED 6 /* counts before the stalls */

static ls_status foreign(const char *what, ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "this is no results file of ours: its 'source' has no valid %s", what);
}

/* The book, made when its first kernel is there. */
static source_book *book_of(saved_results *s, const char *machine, double request_bytes)
{
    if (!s->source)
        s->source = source_create(strcmp(machine, "amd") == 0 ? SOURCE_AMD : SOURCE_NVIDIA,
                                  request_bytes >= 1 && request_bytes <= 4096 ? (uint32_t)request_bytes : 32);
    return s->source;
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
}

/* --------------------------------------------------------------------------------------------------- JSON */

static const cJSON *part(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = part(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = part(object, name);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e18 ? item->valuedouble : -1;
}

static ls_status read_inst(saved_results *s, const char *kernel, const cJSON *item, ls_error *err)
{
    const char *const *reasons;
    size_t stalls = source_reasons(s->source->machine, &reasons), i = 0;
    inst_counted inst = { .text = text_of(item, "text") };
    inst_count *n = &inst.n;
    uint64_t *const fixed[FIXED] = {
        &n->executed, &n->lanes, &n->bytes, &n->requests, &n->hits, &n->conflicts
    };
    const cJSON *value;
    if (number_of(item, "pc") < 0)
        return foreign("'pc'", err);
    inst.pc = (uint64_t)number_of(item, "pc");
    if (part(item, "file")) {
        inst.file = text_of(item, "file");
        inst.line = number_of(item, "line") >= 0 ? (uint32_t)number_of(item, "line") : 0;
    }
    cJSON_ArrayForEach(value, part(item, "counts"))
    {
        if (!cJSON_IsNumber(value) || value->valuedouble < 0 || i >= FIXED + stalls)
            return foreign("'counts'", err);
        *(i < FIXED ? fixed[i] : &n->stalls[i - FIXED]) = (uint64_t)value->valuedouble;
        i++;
    }
    return i == FIXED + stalls ? source_add(s->source, kernel, 0, &inst, 1, err) : foreign("'counts'", err);
}

ls_status saved_json_source(saved_results *s, const cJSON *root, ls_error *err)
{
    const cJSON *source = part(root, "source"), *kernel, *item;
    ls_status status = LS_OK;
    if (!source)
        return LS_OK;
    if (!book_of(s, text_of(source, "machine"), number_of(source, "request_bytes")))
        return no_memory(err);
    cJSON_ArrayForEach(kernel, part(source, "kernels"))
    {
        double launches = number_of(kernel, "launches");
        status = source_add(s->source, text_of(kernel, "name"), launches > 0 ? (uint64_t)launches : 0, NULL, 0,
                            err);
        cJSON_ArrayForEach(item, part(kernel, "instructions"))
        {
            if (status == LS_OK)
                status = read_inst(s, text_of(kernel, "name"), item, err);
        }
        if (status != LS_OK)
            return status;
    }
    cJSON_ArrayForEach(item, part(source, "lines"))
    {
        double line = number_of(item, "line");
        status = source_add_line(s->source, text_of(item, "file"), line > 0 ? (uint32_t)line : 0,
                                 text_of(item, "text"), err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- SQLite */

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite.column_text(s, column);
    return text ? text : "";
}

ls_status saved_source_kernel(saved_results *saved, sqlite3_stmt *s, ls_error *err)
{
    if (!book_of(saved, text_at(s, 2), sqlite.column_double(s, 3)))
        return no_memory(err);
    return source_add(saved->source, text_at(s, 0), (uint64_t)sqlite.column_int64(s, 1), NULL, 0, err);
}

ls_status saved_source_inst(saved_results *saved, sqlite3_stmt *s, ls_error *err)
{
    inst_counted inst = { .pc = (uint64_t)sqlite.column_int64(s, 1), .text = text_at(s, 2) };
    inst_count *n = &inst.n;
    uint64_t *const fixed[FIXED] = {
        &n->executed, &n->lanes, &n->bytes, &n->requests, &n->hits, &n->conflicts
    };
    if (!saved->source)
        return foreign("kernels", err);
    if (sqlite.column_type(s, 3) != SQLITE_NULL) {
        inst.file = text_at(s, 3);
        inst.line = (uint32_t)sqlite.column_int64(s, 4);
    }
    for (int i = 0; i < FIXED; i++)
        *fixed[i] = (uint64_t)sqlite.column_int64(s, 5 + i);
    return source_add(saved->source, text_at(s, 0), 0, &inst, 1, err);
}

ls_status saved_source_stall(saved_results *saved, sqlite3_stmt *s, ls_error *err)
{
    const char *const *reasons;
    inst_counted inst = { .pc = (uint64_t)sqlite.column_int64(s, 1) };
    if (!saved->source)
        return foreign("kernels", err);
    size_t count = source_reasons(saved->source->machine, &reasons), i = 0;
    while (i < count && strcmp(reasons[i], text_at(s, 2)) != 0)
        i++;
    if (i == count)
        return foreign("'reason'", err);
    inst.n.stalls[i] = (uint64_t)sqlite.column_int64(s, 3);
    return source_add(saved->source, text_at(s, 0), 0, &inst, 1, err);
}

ls_status saved_source_line(saved_results *saved, sqlite3_stmt *s, ls_error *err)
{
    if (!saved->source)
        return foreign("kernels", err);
    return source_add_line(saved->source, text_at(s, 0), (uint32_t)sqlite.column_int64(s, 1), text_at(s, 2),
                           err);
}
