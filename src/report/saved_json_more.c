/* saved_json_more.c: the parts of a JSON file that only reports need: warnings, facts of the host, histograms, metrics
 * over time, and the labels of kernels. All of them may be missing. */
#include "report/saved_impl.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static const cJSON *part(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = part(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *name, double otherwise)
{
    const cJSON *item = part(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static ls_status read_warnings(saved_results *s, const cJSON *root, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *item;
    cJSON_ArrayForEach(item, part(root, "warnings"))
    {
        status = saved_add_warning(s, text_of(item, "kind"), text_of(item, "text"), err);
        if (status != LS_OK)
            break;
    }
    return status;
}

static ls_status read_help(saved_results *s, const cJSON *root, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *item;
    cJSON_ArrayForEach(item, part(root, "metrics"))
    {
        status = saved_set_help(s, text_of(item, "type"), text_of(item, "name"), text_of(item, "help"), err);
        if (status != LS_OK)
            break;
    }
    return status;
}

/* The kernels are in the order of the file. */
static void read_labels(saved_results *s, const cJSON *root)
{
    size_t i = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, part(root, "kernels"))
    {
        saved_kernel *kernel = &s->kernels.at[i++];
        kernel->gpu = (int32_t)number_of(item, "gpu", -1);
        kernel->stream = (int32_t)number_of(item, "stream", -1);
        kernel->cycles = number_of(item, "cycles", 0);
        kernel->shared = cJSON_IsTrue(part(item, "shared"));
        kernel->overlapped = kernel->shared || cJSON_IsTrue(part(item, "overlapped"));
    }
}

static ls_status read_buckets(saved_results *s, const cJSON *root, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *type, *metric, *bucket;
    cJSON_ArrayForEach(type, part(part(root, "values"), "types"))
    {
        cJSON_ArrayForEach(metric, type)
        {
            cJSON_ArrayForEach(bucket, part(metric, "buckets"))
            {
                status = saved_add_bucket(s, type->string, metric->string, strtod(bucket->string, NULL),
                                          bucket->valuedouble, err);
                if (status != LS_OK)
                    return status;
            }
        }
    }
    return status;
}

static ls_status read_series(saved_results *s, const cJSON *root, ls_error *err)
{
    const cJSON *series = part(root, "series"), *item, *value;
    const cJSON *values = part(series, "values") ? part(series, "values")->child : NULL;
    ls_status status = LS_OK;
    double intervals = number_of(series, "intervals", 0);
    if (!(intervals >= 0 && intervals <= 1e6))
        return ls_fail(err, LS_ERR_INPUT,
                       "this is no results file of ours: its 'series' has no valid 'intervals'");
    s->series_every_fs = number_of(series, "every_fs", 0);
    s->series_intervals = (size_t)intervals;
    cJSON_ArrayForEach(item, part(series, "columns"))
    {
        const saved_series column = { .gpu = (int32_t)number_of(item, "gpu", -1),
                                      .type = text_of(item, "type"),
                                      .name = text_of(item, "name"),
                                      .unit = text_of(item, "unit") };
        status = saved_add_series(s, &column, err);
        if (status != LS_OK)
            break;
        size_t i = 0;
        cJSON_ArrayForEach(value, values)
        {
            if (i == s->series_intervals)
                break;
            if (cJSON_IsNumber(value))
                s->series.at[s->series.count - 1].values[i] = value->valuedouble;
            i++;
        }
        values = values ? values->next : NULL;
    }
    return status;
}

ls_status saved_json_more(saved_results *s, const cJSON *root, ls_error *err)
{
    const cJSON *host = part(root, "host");
    s->version = arena_strdup(&s->arena, text_of(root, "lockstep"));
    if (!s->version) {
        s->version = "";
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    s->cycles = number_of(part(root, "run"), "cycles", 0);
    s->host = (saved_host){ .wall_seconds = number_of(host, "wall_seconds", 0),
                            .threads = number_of(host, "threads", 0),
                            .windows = number_of(host, "windows", 0) };
    read_labels(s, root);
    ls_status status = read_warnings(s, root, err);
    if (status == LS_OK)
        status = read_help(s, root, err);
    if (status == LS_OK)
        status = read_buckets(s, root, err);
    if (status == LS_OK)
        status = read_series(s, root, err);
    return status == LS_OK ? saved_json_source(s, root, err) : status;
}
