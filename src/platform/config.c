/* config.c: the resolved configuration as an object: loading, asking, specs, canonical text and hash. */
#include "platform/config.h"

#include "base/file.h"
#include "platform/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct platform_config {
    mem_arena arena;
    config_layers layers;
    resolved_config resolved;
    const char *name, *title, *source;
    const char *yaml;
    hash128 hash;
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* -------------------------------------------------------------------------------------------------- text */

static bool is_plain(const char *text)
{
    for (const char *s = text; *s; s++) {
        bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        if (!letter && *s != '_' && *s != '.' && !(*s == '-' && s > text))
            return false;
    }
    return text[0] != '\0' && strcasecmp(text, "null") != 0;
}

void config_add_scalar(text_buffer *out, const ls_param *param, const char *text)
{
    bool quote = param->type == LS_PARAM_TYPE_TEXT || (param->type == LS_PARAM_TYPE_CHOICE && !is_plain(text));
    if (quote)
        yaml_quote(out, text);
    else
        text_add(out, text);
}

static bool write_yaml(platform_config *config)
{
    static const ls_param name = { .type = LS_PARAM_TYPE_CHOICE };
    text_buffer text = { 0 };
    text_add(&text, "machine: ");
    config_add_scalar(&text, &name, config->resolved.machine->name);
    text_add(&text, "\n");
    for (size_t i = 0; i < config->resolved.value_count; i++) {
        const config_value *value = &config->resolved.values[i];
        text_printf(&text, "%s: ", value->key->path);
        config_add_scalar(&text, value->key->param, value->text);
        text_add(&text, "\n");
    }
    config->yaml = text.failed ? NULL : arena_strdup(&config->arena, text_get(&text));
    config->hash = hash128_of(text_get(&text), text.count);
    text_fini(&text);
    return config->yaml != NULL;
}

bool config_assumes(const config_value *value)
{
    const value_origin *origin = &value->origins[0];
    return origin->kind == LS_ORIGIN_FILE && strstr(origin->comment, "assumption:") != NULL;
}

size_t config_assumption_count(const platform_config *config)
{
    size_t count = 0;
    for (size_t i = 0; i < config_value_count(config); i++)
        count += config_assumes(config_at(config, i));
    return count;
}

const char *origin_text(const value_origin *origin, char *out, size_t out_bytes)
{
    if (origin->kind == LS_ORIGIN_FILE)
        snprintf(out, out_bytes, "%s:%u", origin->file, (unsigned)origin->line);
    else
        snprintf(out, out_bytes, "%s", origin->kind == LS_ORIGIN_SET ? "--set" : "default");
    return out;
}

/* -------------------------------------------------------------------------------------------------- load */

/* "dir/rtx3070.yaml" is rtx3070. */
static const char *short_name(mem_arena *arena, const char *path)
{
    const char *base = path_base(path);
    size_t bytes = strlen(base);
    if (ends_with(base, ".yaml"))
        bytes -= strlen(".yaml");
    return arena_strndup(arena, base, bytes);
}

/* Free text describes the file in which it stands; that of the bases is only checked. */
static const char *own_text(platform_config *config, const char *key, config_problems *problems)
{
    for (size_t i = 1; i < config->layers.file_count; i++)
        layers_text(&config->layers.files[i], key, problems);
    const char *text = layers_text(&config->layers.files[0], key, problems);
    return text ? text : "";
}

static void load(platform_config *config, const config_request *request, config_problems *problems)
{
    layers_load(&config->arena, request, &config->layers, problems);
    if (!config->layers.complete)
        return; /* a key that is missing now may stand in a part that could not be read */
    config->name = short_name(&config->arena, config->layers.files[0].place.file);
    config->title = own_text(config, "title", problems);
    config->source = own_text(config, "source", problems);
    config_resolve(&config->arena, &config->layers, &config->resolved, problems);
    if (!config->name || (!problems_any(problems) && !write_yaml(config)))
        problems_no_memory(problems);
}

ls_status config_load(const config_request *request, platform_config **out, config_problems *problems,
                      ls_error *err)
{
    config_problems own = { 0 };
    if (!problems)
        problems = &own;
    *out = NULL;
    if (!request->platform)
        return ls_fail(err, LS_ERR_USAGE, "no platform is given");
    platform_config *config = calloc(1, sizeof *config);
    if (!config)
        return no_memory(err);
    load(config, request, problems);
    problems_sort(problems);
    ls_status status = problems_first(problems, err);
    problems_fini(&own);
    if (status == LS_OK)
        *out = config;
    else
        config_destroy(config);
    return status;
}

void config_destroy(platform_config *config)
{
    if (!config)
        return;
    arena_fini(&config->arena);
    free(config);
}

/* ---------------------------------------------------------------------------------------------------
 * queries */

const char *config_name(const platform_config *config)
{
    return config->name;
}

const char *config_file_path(const platform_config *config)
{
    return config->layers.files[0].place.file;
}

const char *config_title(const platform_config *config)
{
    return config->title;
}

const char *config_source(const platform_config *config)
{
    return config->source;
}

const ls_machine_type *config_machine(const platform_config *config)
{
    return config->resolved.machine;
}

const machine_schema *config_schema(const platform_config *config)
{
    return &config->resolved.schema;
}

const char *config_file(const platform_config *config, size_t index)
{
    return index < config->layers.file_count ? config->layers.files[index].place.file : NULL;
}

bool config_is_own(const platform_config *config)
{
    return config->layers.is_own;
}

size_t config_value_count(const platform_config *config)
{
    return config->resolved.value_count;
}

const config_value *config_at(const platform_config *config, size_t index)
{
    return &config->resolved.values[index];
}

const config_value *config_find(const platform_config *config, const char *path)
{
    for (size_t i = 0; i < config->resolved.value_count; i++)
        if (strcmp(config->resolved.values[i].key->path, path) == 0)
            return &config->resolved.values[i];
    return NULL;
}

size_t config_dropped_count(const platform_config *config)
{
    return config->resolved.drop_count;
}

const config_drop *config_dropped(const platform_config *config, size_t index)
{
    return &config->resolved.drops[index];
}

const ls_block_type *config_model(const platform_config *config, const char *section)
{
    const ls_machine_type *machine = config->resolved.machine;
    for (size_t i = 0; i < machine->section_count; i++)
        if (strcmp(machine->sections[i].path, section) == 0)
            return config->resolved.models[i];
    return NULL;
}

const char *config_yaml(const platform_config *config)
{
    return config->yaml;
}

hash128 config_hash_of(const platform_config *config)
{
    return config->hash;
}

/* -------------------------------------------------------------------------------------------------- spec */

static const char *section_at(const void *self, size_t i)
{
    return ((const ls_section *)self)[i].path;
}

ls_status config_spec(const platform_config *config, const char *section, void *spec, size_t spec_bytes,
                      ls_error *err)
{
    const ls_machine_type *machine = config->resolved.machine;
    const ls_block_type *model = section ? config_model(config, section) : NULL;
    if (section && !model) {
        ls_fail(err, LS_ERR_INTERNAL, "machine '%s' has no section '%s'", machine->name, section);
        return ls_error_nearest(err,
                                nearest_name(section, machine->section_count, section_at, machine->sections));
    }
    size_t needed = model ? model->spec_size : machine->spec_size;
    if (spec_bytes != needed)
        return ls_fail(err, LS_ERR_INTERNAL, "the spec of %s '%s' has %zu bytes, not %zu",
                       section ? "section" : "machine", section ? section : machine->name, needed, spec_bytes);
    memset(spec, 0, spec_bytes);
    for (size_t i = 0; i < config->resolved.value_count; i++) {
        const config_value *value = &config->resolved.values[i];
        const config_key *key = value->key;
        bool wanted = section ? key->model && strcmp(key->section->path, section) == 0 : !key->section;
        if (wanted)
            value_store(key->param, &value->value, spec);
    }
    return LS_OK;
}
