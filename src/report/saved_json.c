/* saved_json.c: the JSON of export_json.c, read back with cJSON. Only the values of single blocks are read;
 * those of whole types are sums of them. */
#include "report/saved_impl.h"

#include "base/file.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct json_in {
    ls_saved *saved;
    const cJSON *root;
    ls_map kinds; /* "type\nname" -> the entry of "metrics" */
    ls_map types; /* block path -> type */
} json_in;

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
        if (!ls_map_put(&in->kinds, key, (void *)(uintptr_t)item))
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(in->root, "blocks"))
    {
        const char *path = text_of(item, "path"), *type = text_of(item, "type");
        if (!path || !type)
            return misses(err, "an entry of 'blocks' has no path or type");
        if (!ls_map_put(&in->types, path, (void *)(uintptr_t)type))
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    return LS_OK;
}

static ls_status read_metric(json_in *in, uint32_t scope, const char *block, const char *type,
                             const cJSON *item, ls_error *err)
{
    char key[256];
    snprintf(key, sizeof key, "%s\n%s", type, item->string);
    const cJSON *declared = ls_map_get(&in->kinds, key);
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

static ls_status read_blocks(json_in *in, uint32_t scope, const cJSON *blocks, ls_error *err)
{
    ls_status status = LS_OK;
    const cJSON *block, *item;
    cJSON_ArrayForEach(block, blocks)
    {
        const char *type = ls_map_get(&in->types, block->string);
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
            status = read_blocks(in, (uint32_t)in->saved->kernels.count,
                                 cJSON_GetObjectItemCaseSensitive(kernel, "blocks"), err);
        if (status != LS_OK)
            break;
    }
    return status;
}

static ls_status read_facts(json_in *in, ls_error *err)
{
    ls_saved *s = in->saved;
    const cJSON *run = cJSON_GetObjectItemCaseSensitive(in->root, "run");
    const char *format = text_of(in->root, "format");
    if (!format || strcmp(format, "lockstep-results") != 0)
        return misses(err, "its 'format' is not 'lockstep-results'");
    if (!run)
        return misses(err, "it has no 'run'");
    const char *platform = text_of(run, "platform"), *config = text_of(run, "config");
    const char *command = text_of(cJSON_GetObjectItemCaseSensitive(in->root, "host"), "command");
    s->platform = ls_arena_strdup(&s->arena, platform ? platform : "");
    s->config_text = ls_arena_strdup(&s->arena, config ? config : "");
    s->command = ls_arena_strdup(&s->arena, command ? command : "");
    s->end_time_fs = number_of(run, "end_time_fs");
    s->partial = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(in->root, "partial"));
    return s->platform && s->config_text && s->command
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
}

ls_status saved_load_json(ls_saved *s, const char *file, ls_error *err)
{
    char *data;
    size_t bytes;
    ls_status status = ls_file_read(&s->arena, file, SAVED_FILE_LIMIT, &data, &bytes, err);
    if (status != LS_OK)
        return status;
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
    status = read_facts(&in, err);
    if (status == LS_OK)
        status = index_declarations(&in, err);
    if (status == LS_OK)
        status = read_blocks(&in, LS_SAVED_RUN,
                             cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "values"),
                                                              "blocks"),
                             err);
    if (status == LS_OK)
        status = read_kernels(&in, err);
    ls_map_fini(&in.kinds);
    ls_map_fini(&in.types);
    cJSON_Delete(root);
    return status;
}
