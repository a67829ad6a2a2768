/* config.c: the resolved configuration as an object: loading, asking, specs, canonical text and hash. */
#include "platform/config.h"

#include "base/file.h"
#include "platform/config_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add_yaml(text_buffer *text, const platform_config *config)
{
    const resolved_config *resolved = &config->resolved;
    static const ls_param name = { .type = LS_PARAM_TYPE_CHOICE };
    text_add(text, "machine: ");
    config_add_scalar(text, &name, resolved->machine->name);
    text_add(text, "\n");
    for (size_t i = 0; i < config_own_count(config); i++) {
        const config_value *value = &resolved->values[i];
        text_add(text, value->key->path);
        text_add(text, ": ");
        config_add_scalar(text, value->key->param, value->text);
        text_add(text, "\n");
    }
}

static bool write_yaml(platform_config *config)
{
    text_buffer text = { 0 };
    add_yaml(&text, config);
    if (config->parts.count > 0)
        system_yaml(&text, &config->parts);
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
    size_t used = strlen(out);
    if (origin->scope[0])
        snprintf(out + used, out_bytes - used, " (%s)", origin->scope);
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
    size_t own = config->layers.own_file;
    for (size_t i = own + 1; i < config->layers.file_count; i++)
        layers_text(&config->layers.files[i], key, problems);
    const char *text = layers_text(&config->layers.files[own], key, problems);
    return text ? text : "";
}

/* The values of all GPUs, after those of the system itself. */
static bool add_part_values(platform_config *config)
{
    resolved_config *out = &config->resolved;
    size_t count = out->value_count;
    for (size_t i = 0; i < config->parts.count; i++)
        count += config_value_count(config->parts.at[i].config);
    config_value *values = arena_array(&config->arena, count + 1, sizeof *values);
    config_key *keys = arena_array(&config->arena, count + 1, sizeof *keys);
    if (!values || !keys)
        return false;
    memcpy(values, out->values, out->value_count * sizeof *values);
    config->part_values = count - out->value_count;
    for (size_t i = 0; i < config->parts.count; i++) {
        const platform_config *part = config->parts.at[i].config;
        for (size_t k = 0; k < config_value_count(part); k++) {
            config_key *key = &keys[out->value_count];
            config_value *value = &values[out->value_count++];
            *value = *config_at(part, k);
            *key = *value->key;
            key->path = arena_printf(&config->arena, "gpu%zu.%s", i, key->path);
            value->key = key;
            if (!key->path)
                return false;
        }
    }
    out->values = values;
    return true;
}

void config_finish(platform_config *config, const config_request *request, config_problems *problems)
{
    config_layers *layers = &config->layers;
    const ls_machine_type *machine = config_find_machine(layers, problems);
    bool is_inline = layers->label && layers->own_file == 0, is_system = machine == &system_machine;
    config->name =
        is_inline ? machine ? machine->name : "" : short_name(&config->arena, config_file_path(config));
    if (config->name && request->gpus > 0 && !layers->label)
        config->name = arena_printf(&config->arena, "%u x %s", request->gpus, config->name);
    config->title = own_text(config, "title", problems);
    config->source = own_text(config, "source", problems);
    config->resolved.machine = machine;
    if (is_system && layers->label)
        return; /* a system in a system: the outer one reports it */
    if (is_system)
        system_load(&config->arena, request, layers, &config->parts, problems);
    for (size_t i = 0; i < config->parts.count; i++)
        config->parts.at[i].config->system = config;
    if (is_system && config->parts.count == 0)
        return; /* without its list it is not known which keys are those of GPUs */
    config_resolve(&config->arena, layers, machine, &config->resolved, problems);
    bool is_good = !problems_any(problems);
    if (!config->name || (is_good && is_system && !add_part_values(config)) ||
        (is_good && !write_yaml(config)))
        problems_no_memory(problems);
}

static void load(platform_config *config, const config_request *request, config_problems *problems)
{
    layers_load(&config->arena, request, &config->layers, problems);
    if (config->layers.complete) /* else a missing key may stand in a part that could not be read */
        config_finish(config, request, problems);
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
    if (config->layers.parts)
        problems_unique(problems);
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
    for (size_t i = 0; i < config->parts.count; i++)
        config_destroy(config->parts.at[i].config);
    arena_fini(&config->arena);
    free(config);
}

/* ---------------------------------------------------------------------------------------------------
 * queries */

const platform_config *config_system(const platform_config *config)
{
    return config->system;
}

const char *config_name(const platform_config *config)
{
    return config->name;
}

const char *config_file_path(const platform_config *config)
{
    return config->layers.files[config->layers.own_file].place.file;
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

size_t config_own_count(const platform_config *config)
{
    return config->resolved.value_count - config->part_values;
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

size_t config_part_count(const platform_config *config)
{
    return config->parts.count;
}

const platform_config *config_part(const platform_config *config, size_t number)
{
    return config->parts.at[number].config;
}

const char *config_part_name(const platform_config *config, size_t number)
{
    return config->parts.at[number].name;
}

ls_status config_find_part(const platform_config *config, const char *text, size_t *number, ls_error *err)
{
    size_t named = 0, count = config->parts.count;
    uint64_t given;
    const char *digits = strncmp(text, "gpu", 3) == 0 ? text + 3 : text;
    *number = 0;
    if (parse_u64(digits, strlen(digits), &given, NULL) == LS_OK) {
        *number = (size_t)given;
        if (given < count)
            return LS_OK;
        return ls_fail(err, LS_ERR_USAGE, "there is no GPU %llu: platform '%s' has %zu, from gpu0 to gpu%zu",
                       (unsigned long long)given, config->name, count, count - 1);
    }
    for (size_t i = count; i > 0; i--)
        if (strcmp(config->parts.at[i - 1].name, text) == 0) {
            *number = i - 1;
            named++;
        }
    if (named == 1)
        return LS_OK;
    if (named > 1)
        return ls_fail(err, LS_ERR_USAGE, "'%s' names %zu GPUs of platform '%s', the first is gpu%zu", text,
                       named, config->name, *number);
    return ls_fail(err, LS_ERR_USAGE, "platform '%s' has no GPU '%s': it has %zu, from gpu0 to gpu%zu",
                   config->name, text, count, count - 1);
}

static bool part_is(const platform_config *config, size_t number, const char *machine)
{
    return strcmp(config_machine(config_part(config, number))->name, machine) == 0;
}

ls_status config_choose_part(const platform_config *config, const char *machine, const char *work,
                             const char *on, size_t *number, size_t *index, ls_error *err)
{
    size_t count = config->parts.count;
    *number = *index = 0;
    if (count == 0) {
        if (!on || strcmp(on, "gpu0") == 0 || strcmp(on, "0") == 0)
            return LS_OK;
        return ls_fail(err, LS_ERR_USAGE, "platform '%s' is one GPU, gpu0: there is no '%s'", config->name,
                       on);
    }
    if (on) {
        ls_status status = config_find_part(config, on, number, err);
        if (status != LS_OK)
            return status;
    } else {
        while (*number < count && !part_is(config, *number, machine))
            ++*number;
    }
    if (*number == count)
        return ls_fail(err, LS_ERR_USAGE, "no GPU of platform '%s' runs %s", config->name, work);
    if (!part_is(config, *number, machine))
        return ls_fail(err, LS_ERR_USAGE,
                       "gpu%zu of platform '%s' is a machine of type '%s', which runs no %s", *number,
                       config->name, config_machine(config_part(config, *number))->name, work);
    for (size_t i = 0; i < *number; i++)
        *index += part_is(config, i, machine);
    return LS_OK;
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
    /* The values of a system's GPUs belong into the specs of those. */
    for (size_t i = 0; i < config_own_count(config); i++) {
        const config_value *value = &config->resolved.values[i];
        const config_key *key = value->key;
        bool wanted = section ? key->model && strcmp(key->section->path, section) == 0 : !key->section;
        if (wanted)
            value_store(key->param, &value->value, spec);
    }
    return LS_OK;
}
