/* config.c: the resolved configuration as an object: loading, asking, specs, canonical text and hash. */
#include "platform/config.h"

#include "base/file.h"
#include "platform/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ls_config {
    ls_arena arena;
    ls_layers layers;
    ls_resolved resolved;
    const char *name, *title, *source;
    const char *yaml;
    ls_hash hash;
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

void ls_config_add_scalar(ls_text *out, const ls_param *param, const char *text)
{
    bool quote = param->type == LS_PARAM_TYPE_TEXT || (param->type == LS_PARAM_TYPE_CHOICE && !is_plain(text));
    if (quote)
        ls_yaml_quote(out, text);
    else
        ls_text_add(out, text);
}

static bool write_yaml(ls_config *config)
{
    static const ls_param name = { .type = LS_PARAM_TYPE_CHOICE };
    ls_text text = { 0 };
    ls_text_add(&text, "machine: ");
    ls_config_add_scalar(&text, &name, config->resolved.machine->name);
    ls_text_add(&text, "\n");
    for (size_t i = 0; i < config->resolved.value_count; i++) {
        const ls_config_value *value = &config->resolved.values[i];
        ls_text_printf(&text, "%s: ", value->key->path);
        ls_config_add_scalar(&text, value->key->param, value->text);
        ls_text_add(&text, "\n");
    }
    config->yaml = text.failed ? NULL : ls_arena_strdup(&config->arena, ls_text_get(&text));
    config->hash = ls_hash_of(ls_text_get(&text), text.count);
    ls_text_fini(&text);
    return config->yaml != NULL;
}

bool ls_config_assumes(const ls_config_value *value)
{
    const ls_origin *origin = &value->origins[0];
    return origin->kind == LS_ORIGIN_FILE && strstr(origin->comment, "assumption:") != NULL;
}

size_t ls_config_assumption_count(const ls_config *config)
{
    size_t count = 0;
    for (size_t i = 0; i < ls_config_count(config); i++)
        count += ls_config_assumes(ls_config_at(config, i));
    return count;
}

const char *ls_origin_text(const ls_origin *origin, char *out, size_t out_bytes)
{
    if (origin->kind == LS_ORIGIN_FILE)
        snprintf(out, out_bytes, "%s:%u", origin->file, (unsigned)origin->line);
    else
        snprintf(out, out_bytes, "%s", origin->kind == LS_ORIGIN_SET ? "--set" : "default");
    return out;
}

/* -------------------------------------------------------------------------------------------------- load */

/* "dir/rtx3070.yaml" is rtx3070. */
static const char *short_name(ls_arena *arena, const char *path)
{
    const char *base = ls_path_base(path);
    size_t bytes = strlen(base);
    if (ls_ends_with(base, ".yaml"))
        bytes -= strlen(".yaml");
    return ls_arena_strndup(arena, base, bytes);
}

/* Free text describes the file in which it stands; that of the bases is only checked. */
static const char *own_text(ls_config *config, const char *key, ls_problems *problems)
{
    for (size_t i = 1; i < config->layers.file_count; i++)
        ls_layers_text(&config->layers.files[i], key, problems);
    const char *text = ls_layers_text(&config->layers.files[0], key, problems);
    return text ? text : "";
}

static void load(ls_config *config, const ls_config_request *request, ls_problems *problems)
{
    ls_layers_load(&config->arena, request, &config->layers, problems);
    if (!config->layers.complete)
        return; /* what is missing now may stand in what could not be read */
    config->name = short_name(&config->arena, config->layers.files[0].place.file);
    config->title = own_text(config, "title", problems);
    config->source = own_text(config, "source", problems);
    ls_resolve(&config->arena, &config->layers, &config->resolved, problems);
    if (!config->name || (!ls_problems_any(problems) && !write_yaml(config)))
        ls_problems_no_memory(problems);
}

ls_status ls_config_load(const ls_config_request *request, ls_config **out, ls_problems *problems,
                         ls_error *err)
{
    ls_problems own = { 0 };
    if (!problems)
        problems = &own;
    *out = NULL;
    if (!request->platform)
        return ls_fail(err, LS_ERR_USAGE, "no platform is given");
    ls_config *config = calloc(1, sizeof *config);
    if (!config)
        return no_memory(err);
    load(config, request, problems);
    ls_problems_sort(problems);
    ls_status status = ls_problems_first(problems, err);
    ls_problems_fini(&own);
    if (status == LS_OK)
        *out = config;
    else
        ls_config_destroy(config);
    return status;
}

void ls_config_destroy(ls_config *config)
{
    if (!config)
        return;
    ls_arena_fini(&config->arena);
    free(config);
}

/* --------------------------------------------------------------------------------------------------- ask */

const char *ls_config_name(const ls_config *config)
{
    return config->name;
}

const char *ls_config_path(const ls_config *config)
{
    return config->layers.files[0].place.file;
}

const char *ls_config_title(const ls_config *config)
{
    return config->title;
}

const char *ls_config_source(const ls_config *config)
{
    return config->source;
}

const ls_machine_type *ls_config_machine(const ls_config *config)
{
    return config->resolved.machine;
}

const ls_schema *ls_config_schema(const ls_config *config)
{
    return &config->resolved.schema;
}

const char *ls_config_file(const ls_config *config, size_t index)
{
    return index < config->layers.file_count ? config->layers.files[index].place.file : NULL;
}

bool ls_config_is_own(const ls_config *config)
{
    return config->layers.is_own;
}

size_t ls_config_count(const ls_config *config)
{
    return config->resolved.value_count;
}

const ls_config_value *ls_config_at(const ls_config *config, size_t index)
{
    return &config->resolved.values[index];
}

const ls_config_value *ls_config_find(const ls_config *config, const char *path)
{
    for (size_t i = 0; i < config->resolved.value_count; i++)
        if (strcmp(config->resolved.values[i].key->path, path) == 0)
            return &config->resolved.values[i];
    return NULL;
}

size_t ls_config_dropped_count(const ls_config *config)
{
    return config->resolved.drop_count;
}

const ls_config_drop *ls_config_dropped(const ls_config *config, size_t index)
{
    return &config->resolved.drops[index];
}

const ls_block_type *ls_config_model(const ls_config *config, const char *section)
{
    const ls_machine_type *machine = config->resolved.machine;
    for (size_t i = 0; i < machine->section_count; i++)
        if (strcmp(machine->sections[i].path, section) == 0)
            return config->resolved.models[i];
    return NULL;
}

const char *ls_config_yaml(const ls_config *config)
{
    return config->yaml;
}

ls_hash ls_config_hash(const ls_config *config)
{
    return config->hash;
}

/* -------------------------------------------------------------------------------------------------- spec */

static const char *section_at(const void *self, size_t i)
{
    return ((const ls_section *)self)[i].path;
}

ls_status ls_config_spec(const ls_config *config, const char *section, void *spec, size_t spec_bytes,
                         ls_error *err)
{
    const ls_machine_type *machine = config->resolved.machine;
    const ls_block_type *model = section ? ls_config_model(config, section) : NULL;
    if (section && !model) {
        ls_fail(err, LS_ERR_INTERNAL, "machine '%s' has no section '%s'", machine->name, section);
        return ls_error_nearest(err,
                                ls_nearest(section, machine->section_count, section_at, machine->sections));
    }
    size_t needed = model ? model->spec_size : machine->spec_size;
    if (spec_bytes != needed)
        return ls_fail(err, LS_ERR_INTERNAL, "the spec of %s '%s' has %zu bytes, not %zu",
                       section ? "section" : "machine", section ? section : machine->name, needed, spec_bytes);
    memset(spec, 0, spec_bytes);
    for (size_t i = 0; i < config->resolved.value_count; i++) {
        const ls_config_value *value = &config->resolved.values[i];
        const ls_key *key = value->key;
        bool wanted = section ? key->model && strcmp(key->section->path, section) == 0 : !key->section;
        if (wanted)
            ls_value_store(key->param, &value->value, spec);
    }
    return LS_OK;
}
