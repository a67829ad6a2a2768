/* saved_json.c: the JSON of export_json.c, read back with cJSON. Of the run only the values of single blocks are read;
 * those of whole types are sums of them. Kernels have values of types, in the order of "columns", and values of blocks
 * if the file was written with them. Schema 2, which had only the latter, is read too. */
#include "report/saved_impl.h"

#include "base/file.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct json_in {
    saved_results *saved;
    const cJSON *root;
    string_map kinds; /* "type\nname" -> the entry of "metrics" */
    string_map types; /* block path -> type */
    string_map lists; /* type -> its column_list */
} json_in;

/* One number of a kernel's array. */
typedef struct column {
    uint32_t metric;
    enum { COLUMN_VALUE, COLUMN_SUM, COLUMN_COUNT, COLUMN_OTHER } part;
} column;

typedef struct column_list {
    size_t count;
    column *at;
} column_list;

static ls_status misses(ls_error *err, const char *what)
{
    return ls_fail(err, LS_ERR_INPUT, "this is no results file of ours: %s", what);
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static ls_status index_declarations(json_in *in, ls_error *err)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(in->root, "metrics"))
    {
        const char *type = text_of(item, "type"), *name = text_of(item, "name");
        if (!type || !name || !text_of(item, "kind"))
            return misses(err, "an entry of 'metrics' has no type, name or kind");
        char key[256];
        int bytes = snprintf(key, sizeof key, "%s\n%s", type, name);
        if (bytes < 0 || (size_t)bytes >= sizeof key)
            return misses(err, "a metric's name is longer than any of ours");
        if (!map_put(&in->kinds, key, (void *)(uintptr_t)item))
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(in->root, "blocks"))
    {
        const char *path = text_of(item, "path"), *type = text_of(item, "type");
        if (!path || !type)
            return misses(err, "an entry of 'blocks' has no path or type");
        if (!map_put(&in->types, path, (void *)(uintptr_t)type))
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    return LS_OK;
}

static ls_status read_metric(json_in *in, uint32_t scope, const char *block, const char *type,
                             const cJSON *item, ls_error *err)
{
    char key[256];
    snprintf(key, sizeof key, "%s\n%s", type, item->string);
    const cJSON *declared = map_get(&in->kinds, key);
    if (!declared)
        return misses(err, "a value of a metric that it does not list");
    saved_number number = { .scope = scope,
                            .block = block,
                            .type = type,
                            .metric = item->string,
                            .kind = text_of(declared, "kind"),
                            .unit = text_of(declared, "unit"),
                            .stat = "value" };
    if (cJSON_IsNumber(item)) {
        number.value = item->valuedouble;
        return saved_add(in->saved, &number, err);
    }
    ls_status status = LS_OK;
    const cJSON *stat;
    cJSON_ArrayForEach(stat, item)
    {
        if (!cJSON_IsNumber(stat))
            continue;
        number.stat = stat->string;
        number.value = stat->valuedouble;
        status = saved_add(in->saved, &number, err);
        if (status != LS_OK)
            break;
    }
    return status;
}

/* "wait.sum" is a part of the histogram "wait"; other metrics have one number, with their own name. */
static ls_status read_column(json_in *in, const char *type, const char *name, column *out, ls_error *err)
{
    static const char *const parts[] = { [COLUMN_SUM] = ".sum", [COLUMN_COUNT] = ".count" };
    char key[256];
    snprintf(key, sizeof key, "%s\n%s", type, name);
    const cJSON *declared = map_get(&in->kinds, key);
    out->part = COLUMN_VALUE;
    char *dot = strrchr(key, '.');
    if (!declared && dot) {
        out->part = COLUMN_OTHER;
        for (int i = COLUMN_SUM; i <= COLUMN_COUNT; i++)
            if (strcmp(dot, parts[i]) == 0)
                out->part = (unsigned)i;
        *dot = 0;
        declared = map_get(&in->kinds, key);
    }
    if (!declared)
        return misses(err, "a column of a metric that it does not list");
    return saved_metric(in->saved, type, text_of(declared, "name"), text_of(declared, "kind"),
                        text_of(declared, "unit"), &out->metric, err);
}

static ls_status read_columns(json_in *in, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *type, *name;
    cJSON_ArrayForEach(type, cJSON_GetObjectItemCaseSensitive(in->root, "columns"))
    {
        column_list *list = arena_alloc(&in->saved->arena, sizeof *list);
        size_t count = (size_t)cJSON_GetArraySize(type);
        if (list)
            list->at = arena_array(&in->saved->arena, count + 1, sizeof *list->at);
        if (!list || !list->at || !map_put(&in->lists, type->string, list))
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
        list->count = 0;
        cJSON_ArrayForEach(name, type)
        {
            if (!cJSON_IsString(name))
                return misses(err, "a column without a name");
            status = read_column(in, type->string, name->valuestring, &list->at[list->count++], err);
            if (status != LS_OK)
                return status;
        }
    }
    return status;
}

/* A number of a kernel. The sum of a histogram follows its count, which is known then. */
static ls_status put_column(json_in *in, uint32_t scope, const column *c, double value, double count,
                            ls_error *err)
{
    bool ratio = in->saved->metrics.at[c->metric].kind == LS_METRIC_KIND_RATIO;
    if (c->part == COLUMN_COUNT || c->part == COLUMN_OTHER)
        return LS_OK;
    return saved_put(in->saved, scope, LS_SAVED_TYPE, c->metric, value,
                     c->part == COLUMN_SUM ? count
                     : ratio               ? 1
                                           : 0,
                     err);
}

static ls_status read_types(json_in *in, uint32_t scope, const cJSON *types, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *type, *item;
    cJSON_ArrayForEach(type, types)
    {
        if (!cJSON_IsArray(type)) /* schema 2 */
            continue;
        const column_list *list = map_get(&in->lists, type->string);
        size_t i = 0;
        double count = 0;
        if (!list)
            return misses(err, "values of a type without columns");
        cJSON_ArrayForEach(item, type)
        {
            if (i == list->count)
                return misses(err, "a kernel has more numbers than columns");
            const column *c = &list->at[i++];
            count = c->part == COLUMN_COUNT ? item->valuedouble : count;
            if (cJSON_IsNumber(item))
                status = put_column(in, scope, c, item->valuedouble, count, err);
            if (status != LS_OK)
                return status;
        }
    }
    return status;
}

static ls_status read_blocks(json_in *in, uint32_t scope, const cJSON *blocks, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *block, *item;
    cJSON_ArrayForEach(block, blocks)
    {
        const char *type = map_get(&in->types, block->string);
        if (!type)
            return misses(err, "values of a block that it does not list");
        cJSON_ArrayForEach(item, block)
        {
            status = read_metric(in, scope, block->string, type, item, err);
            if (status != LS_OK)
                return status;
        }
    }
    return status;
}

static ls_status read_kernels(json_in *in, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(in->root, "kernels"))
    {
        const char *name = text_of(kernel, "name");
        if (!name)
            return misses(err, "a kernel has no name");
        status = saved_add_kernel(in->saved, (uint64_t)number_of(kernel, "kernel"), name,
                                  number_of(kernel, "begin_fs"), number_of(kernel, "end_fs"), err);
        if (status == LS_OK)
            in->saved->kernels.at[in->saved->kernels.count - 1].gpu = (int32_t)number_of(kernel, "gpu");
        if (status == LS_OK)
            status = read_types(in, (uint32_t)in->saved->kernels.count,
                                cJSON_GetObjectItemCaseSensitive(kernel, "types"), err);
        if (status == LS_OK)
            status = read_blocks(in, (uint32_t)in->saved->kernels.count,
                                 cJSON_GetObjectItemCaseSensitive(kernel, "blocks"), err);
        if (status != LS_OK)
            break;
    }
    return status;
}

static ls_status read_facts(json_in *in, ls_error *err)
{
    saved_results *s = in->saved;
    const cJSON *run = cJSON_GetObjectItemCaseSensitive(in->root, "run");
    const char *format = text_of(in->root, "format");
    if (!format || strcmp(format, "lockstep-results") != 0)
        return misses(err, "its 'format' is not 'lockstep-results'");
    if (!run)
        return misses(err, "it has no 'run'");
    const char *platform = text_of(run, "platform"), *config = text_of(run, "config");
    const char *command = text_of(cJSON_GetObjectItemCaseSensitive(in->root, "host"), "command");
    s->platform = arena_strdup(&s->arena, platform ? platform : "");
    s->config_text = arena_strdup(&s->arena, config ? config : "");
    s->command = arena_strdup(&s->arena, command ? command : "");
    s->end_time_fs = number_of(run, "end_time_fs");
    s->partial = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(in->root, "partial"));
    return s->platform && s->config_text && s->command
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
}

ls_status saved_parse_json(saved_results *s, const char *file, char *data, size_t bytes, ls_error *err)
{
    const char *stopped = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(data, bytes + 1, &stopped, true);
    if (!root) {
        uint64_t line = 1;
        for (const char *at = data; at < stopped && at < data + bytes; at++)
            line += *at == '\n';
        ls_fail(err, LS_ERR_INPUT, "this is not valid JSON, or it is cut short");
        return ls_error_at(err, file, line, 0);
    }
    json_in in = { .saved = s, .root = root };
    ls_status status = read_facts(&in, err);
    if (status == LS_OK)
        status = index_declarations(&in, err);
    if (status == LS_OK)
        status = read_blocks(&in, LS_SAVED_RUN,
                             cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "values"),
                                                              "blocks"),
                             err);
    if (status == LS_OK)
        status = read_columns(&in, err);
    if (status == LS_OK)
        status = read_kernels(&in, err);
    if (status == LS_OK)
        status = saved_json_more(s, root, err);
    map_fini(&in.lists);
    map_fini(&in.kinds);
    map_fini(&in.types);
    cJSON_Delete(root);
    return status;
}

ls_status saved_load_json(saved_results *s, const char *file, ls_error *err)
{
    char *data;
    size_t bytes;
    ls_status status = file_read(&s->arena, file, SAVED_FILE_LIMIT, &data, &bytes, err);
    return status == LS_OK ? saved_parse_json(s, file, data, bytes, err) : status;
}
