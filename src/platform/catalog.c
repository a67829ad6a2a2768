/* catalog.c: lists platforms and keys. Opens platform files; uses the registry. */
#include "platform/catalog.h"

#include "base/text.h"
#include "platform/layers.h"

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* A text of the file, or of its nearest base that has it; "" if there is none. */
static const char *text_of(const config_layers *layers, const char *key, size_t file_limit)
{
    config_problems ignored = { 0 };
    const char *text = NULL;
    for (size_t i = 0; i < layers->file_count && i < file_limit && !text; i++)
        text = layers_text(&layers->files[i], key, &ignored);
    problems_fini(&ignored);
    return text ? text : "";
}

static ls_status describe(mem_arena *arena, const config_request *request, platform_entry *platform,
                          ls_error *err)
{
    config_problems problems = { 0 };
    config_layers *layers = arena_alloc(arena, sizeof *layers);
    if (!layers)
        return no_memory(err);
    layers_load(arena, request, layers, &problems);
    platform->title = text_of(layers, "title", 1);
    platform->machine = text_of(layers, "machine", LS_LAYERS_LIMIT);
    problems_sort(&problems);
    ls_error_clear(&platform->error);
    ls_status status = problems_first(&problems, &platform->error);
    problems_fini(&problems);
    return status == LS_ERR_NOMEM ? no_memory(err) : LS_OK;
}

ls_status catalog_platforms(mem_arena *arena, const char *const *platform_dirs, size_t platform_dir_count,
                            platform_entry **out, size_t *count, ls_error *err)
{
    platform_search search;
    search_file *files;
    *out = NULL;
    *count = 0;
    ls_status status = search_create(arena, platform_dirs, platform_dir_count, &search, err);
    if (status == LS_OK)
        status = search_list(arena, &search, &files, count, err);
    if (status != LS_OK)
        return status;
    *out = arena_array(arena, *count + 1, sizeof **out);
    if (!*out)
        return no_memory(err);
    for (size_t i = 0; i < *count && status == LS_OK; i++) {
        config_request request = { .platform = files[i].path,
                                   .platform_dirs = platform_dirs,
                                   .platform_dir_count = platform_dir_count };
        (*out)[i] = (platform_entry){ .name = files[i].name, .path = files[i].path };
        status = describe(arena, &request, &(*out)[i], err);
    }
    return status;
}

ls_status catalog_schemas(mem_arena *arena, machine_schema **out, size_t *count, ls_error *err)
{
    *count = 0;
    *out = arena_array(arena, ls_registry_machine_count() + 1, sizeof **out);
    if (!*out)
        return no_memory(err);
    for (size_t i = 0; i < ls_registry_machine_count(); i++) {
        ls_status status = schema_create(arena, ls_registry_machine(i), &(*out)[*count], err);
        if (status == LS_OK)
            ++*count;
        else if (status != LS_ERR_UNSUPPORTED)
            return status;
    }
    ls_error_clear(err);
    return LS_OK;
}

typedef struct key_list {
    const machine_schema *schemas;
    size_t count;
} key_list;

static const char *key_at(const void *self, size_t i)
{
    const key_list *list = self;
    for (size_t s = 0; s < list->count; s++) {
        if (i < list->schemas[s].sorted_count)
            return list->schemas[s].sorted[i]->path;
        i -= list->schemas[s].sorted_count;
    }
    return NULL;
}

const char *catalog_nearest_key(const machine_schema *schemas, size_t count, const char *path)
{
    key_list list = { .schemas = schemas, .count = count };
    size_t keys = 0;
    for (size_t s = 0; s < count; s++)
        keys += schemas[s].sorted_count;
    return nearest_name(path, keys, key_at, &list);
}
