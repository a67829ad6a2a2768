/* schema.c: builds the list of keys of a machine from the registry's tables. It checks the tables once, so
 * that a mistake in one (often a plug-in's) is an error with a name. Uses base and the registry. */
#include "platform/schema.h"

#include "base/text.h"
#include "platform/value.h"

#include <stdlib.h>
#include <string.h>

const char *const schema_reserved[] = { "machine", "base", "title", "source", NULL };

bool schema_is_reserved(const char *path)
{
    for (size_t i = 0; i < LS_SCHEMA_RESERVED_COUNT; i++)
        if (path[0] == schema_reserved[i][0] && strcmp(path, schema_reserved[i]) == 0)
            return true;
    return false;
}

typedef struct builder {
    mem_arena *arena;
    const ls_machine_type *machine;
    config_key *keys;
    size_t count;
    ls_error *err;
} builder;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------------ tables */

/* Checks the declaration of a key, and reads its default. */
static ls_status check_param(builder *b, config_key *key, size_t spec_size)
{
    const ls_param *param = key->param;
    const char *path = key->path;
    if (!param->unit || !param->help)
        return ls_fail(b->err, LS_ERR_INTERNAL, "the declaration of '%s' has no unit or help", path);
    size_t bytes = value_field_bytes(param->type);
    if (bytes == 0)
        return ls_fail(b->err, LS_ERR_INTERNAL, "the declaration of '%s' has no valid type", path);
    if (param->offset > spec_size || bytes > spec_size - param->offset)
        return ls_fail(b->err, LS_ERR_INTERNAL, "the field of '%s' lies outside its spec", path);
    if (param->type == LS_PARAM_TYPE_CHOICE && (!param->choices || !param->choices[0]))
        return ls_fail(b->err, LS_ERR_INTERNAL, "the declaration of '%s' has no choices", path);
    if (!param->default_text)
        return LS_OK;
    ls_status status = value_parse(b->arena, param, path, param->default_text, &key->default_value,
                                   &key->default_text, b->err);
    if (status == LS_OK || status == LS_ERR_NOMEM)
        return status;
    ls_error_prefix(b->err, "the default is not valid");
    if (b->err)
        b->err->status = LS_ERR_INTERNAL;
    return LS_ERR_INTERNAL;
}

/* Names that need no quoting in a file and that --set can split: parts of letters, digits, '_' and '-'. */
static bool valid_path(const char *path)
{
    bool empty = true;
    for (const char *s = path; *s; s++) {
        bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        if (*s == '.' ? empty : !letter && *s != '_' && *s != '-')
            return false;
        empty = *s == '.';
    }
    return !empty;
}

/* "section.name". */
static const char *joined(mem_arena *arena, const char *section, const char *name)
{
    size_t before = strlen(section), after = strlen(name);
    char *path = arena_alloc(arena, before + after + 2);
    if (path) {
        memcpy(path, section, before);
        path[before] = '.';
        memcpy(path + before + 1, name, after);
    }
    return path;
}

/* Every row is of some key: a name that was changed elsewhere is found. */
static ls_status check_needs(builder *b, const char *owner, const ls_param *params, size_t param_count,
                             const ls_need *needs, size_t need_count)
{
    size_t at = 0; /* rows stand in the order of keys, mostly: each search goes on where the last one ended */
    for (size_t i = 0; i < need_count; i++) {
        const char *keys = needs[i].keys;
        bool found = false;
        for (size_t k = 0; k < param_count && !found; k++) {
            at = at + 1 < param_count ? at + 1 : 0;
            const char *name = params[at].name;
            found = (keys[0] == name[0] || keys[0] == '*') && glob_match(keys, name);
        }
        at -= at > 0; /* the next row may be about the same key */
        if (!found || strchr(needs[i].condition, '=') == NULL)
            return ls_fail(b->err, LS_ERR_INTERNAL, "'%s' says when '%s' acts: %s", owner, needs[i].keys,
                           found ? "the condition has no '='" : "it has no such key");
    }
    return LS_OK;
}

static ls_status add_key(builder *b, const ls_section *section, const ls_block_type *model,
                         const ls_param *param, size_t spec_size)
{
    if (!param->name || !param->name[0])
        return ls_fail(b->err, LS_ERR_INTERNAL, "a parameter of %s '%s' has no name",
                       model ? "model" : "machine", model ? model->name : b->machine->name);
    const char *path = section ? joined(b->arena, section->path, param->name) : param->name;
    if (!path)
        return no_memory(b->err);
    if (!valid_path(param->name) || strlen(path) > LS_YAML_PATH_LIMIT)
        return ls_fail(b->err, LS_ERR_INTERNAL, "'%s' is not a valid name for a key", path);
    config_key *key = &b->keys[b->count++];
    *key = (config_key){ .path = path, .param = param, .section = section, .model = model };
    return check_param(b, key, spec_size);
}

/* ---------------------------------------------------------------------------------------------- sections */

/* Every block type that can stand in the section, in the registry's order; out may be NULL. */
static size_t models_of(const ls_section *section, const ls_block_type **out)
{
    size_t count = 0;
    for (size_t i = 0; i < ls_registry_block_count(); i++) {
        const ls_block_type *type = ls_registry_block(i);
        if (!ls_section_takes(section, type))
            continue;
        if (out)
            out[count] = type;
        count++;
    }
    return count;
}

/* `<section>.model` is a parameter like any other, whose choices are the models' names. */
static ls_status add_model_key(builder *b, const ls_section *section, const ls_block_type **models,
                               size_t count)
{
    const char **names = arena_array(b->arena, count + 1, sizeof *names);
    ls_param *param = arena_alloc(b->arena, sizeof *param);
    if (!names || !param)
        return no_memory(b->err);
    for (size_t i = 0; i < count; i++)
        names[i] = models[i]->name;
    if (section->default_model && !ls_registry_find_block(section->slot, section->default_model)) {
        ls_fail(b->err, LS_ERR_UNSUPPORTED,
                "section '%s' wants model '%s' of slot '%s', which is not registered", section->path,
                section->default_model, section->slot);
        return ls_error_nearest(b->err, nearest_of(section->default_model, names, count));
    }
    *param = (ls_param){ .name = "model",
                         .type = LS_PARAM_TYPE_CHOICE,
                         .default_text = section->default_model,
                         .min = 1,
                         .max = 0,
                         .choices = names,
                         .unit = "",
                         .help = section->help ? section->help : "" };
    return add_key(b, section, NULL, param, sizeof(uint32_t));
}

static ls_status add_section(builder *b, const ls_section *section)
{
    size_t count = models_of(section, NULL);
    if (count == 0)
        return ls_fail(b->err, LS_ERR_UNSUPPORTED,
                       "section '%s' needs slot '%s', for which no model is registered", section->path,
                       section->slot);
    const ls_block_type **models = arena_array(b->arena, count, sizeof(void *));
    if (!models)
        return no_memory(b->err);
    models_of(section, models);
    if (!valid_path(section->path))
        return ls_fail(b->err, LS_ERR_INTERNAL, "'%s' is not a valid name for a section", section->path);
    ls_status status = add_model_key(b, section, models, count);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        for (size_t j = 0; j < models[i]->param_count && status == LS_OK; j++)
            status = add_key(b, section, models[i], &models[i]->params[j], models[i]->spec_size);
        if (status == LS_OK)
            status = check_needs(b, models[i]->name, models[i]->params, models[i]->param_count,
                                 models[i]->needs, models[i]->need_count);
    }
    return status;
}

static size_t most_keys(const ls_machine_type *machine)
{
    size_t count = machine->param_count;
    for (size_t s = 0; s < machine->section_count; s++) {
        count++;
        for (size_t i = 0; i < ls_registry_block_count(); i++) {
            const ls_block_type *type = ls_registry_block(i);
            if (ls_section_takes(&machine->sections[s], type))
                count += type->param_count;
        }
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------- index */

static int compare_keys(const void *a, const void *b)
{
    const config_key *x = *(const config_key *const *)a, *y = *(const config_key *const *)b;
    int order = strcmp(x->path, y->path);
    if (order != 0)
        return order;
    return x < y ? -1 : x > y; /* of one array: the order of declaration */
}

/* Two keys may share a path only as parameters of two models of one section. */
static ls_status index_keys(builder *b, machine_schema *out)
{
    const config_key **sorted = arena_array(b->arena, b->count + 1, sizeof(void *));
    if (!sorted)
        return no_memory(b->err);
    for (size_t i = 0; i < b->count; i++)
        sorted[i] = &b->keys[i];
    qsort(sorted, b->count, sizeof(void *), compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        const config_key *key = sorted[i], *last = i > 0 ? sorted[i - 1] : NULL;
        if (!last || strcmp(key->path, last->path) != 0)
            continue;
        if (key->section != last->section || !last->model || key->model == last->model)
            return ls_fail(b->err, LS_ERR_INTERNAL, "the key '%s' is declared twice", key->path);
        b->keys[last - b->keys].same = key;
    }
    for (size_t i = 0; i < b->count; i++)
        if (i == 0 || strcmp(sorted[i]->path, sorted[kept - 1]->path) != 0)
            sorted[kept++] = sorted[i];
    out->sorted = sorted;
    out->sorted_count = kept;
    for (size_t i = 0; i + 1 < kept; i++) /* paths that begin with this one would come next */
        if (starts_with(sorted[i + 1]->path, sorted[i]->path) && schema_is_section(out, sorted[i]->path))
            return ls_fail(b->err, LS_ERR_INTERNAL, "the key '%s' is declared as a value and as a section",
                           sorted[i]->path);
    return LS_OK;
}

ls_status schema_create(mem_arena *arena, const ls_machine_type *machine, machine_schema *out, ls_error *err)
{
    builder b = { .arena = arena, .machine = machine, .err = err };
    *out = (machine_schema){ .machine = machine };
    b.keys = arena_array(arena, most_keys(machine) + 1, sizeof *b.keys);
    if (!b.keys)
        return no_memory(err);
    ls_status status = LS_OK;
    for (size_t i = 0; i < machine->param_count && status == LS_OK; i++)
        status = add_key(&b, NULL, NULL, &machine->params[i], machine->spec_size);
    if (status == LS_OK)
        status = check_needs(&b, machine->name, machine->params, machine->param_count, machine->needs,
                             machine->need_count);
    for (size_t i = 0; i < machine->section_count && status == LS_OK; i++)
        status = add_section(&b, &machine->sections[i]);
    if (status == LS_OK)
        status = index_keys(&b, out);
    out->keys = b.keys;
    out->count = b.count;
    for (size_t i = 0; i < LS_SCHEMA_RESERVED_COUNT && status == LS_OK; i++)
        if (schema_find(out, schema_reserved[i]) || schema_is_section(out, schema_reserved[i]))
            status = ls_fail(err, LS_ERR_INTERNAL, "the key '%s' is reserved", schema_reserved[i]);
    if (status != LS_OK && status != LS_ERR_NOMEM)
        ls_error_prefix(err, "machine '%s'", machine->name);
    return status;
}

/* The first of sorted whose path is not before `path` (compared over `bytes`). */
static size_t lower_bound(const machine_schema *schema, const char *path, size_t bytes)
{
    size_t low = 0, high = schema->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strncmp(schema->sorted[middle]->path, path, bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const config_key *schema_find(const machine_schema *schema, const char *path)
{
    size_t at = lower_bound(schema, path, strlen(path) + 1);
    return at < schema->sorted_count && strcmp(schema->sorted[at]->path, path) == 0 ? schema->sorted[at]
                                                                                    : NULL;
}

bool schema_is_section(const machine_schema *schema, const char *path)
{
    char prefix[LS_YAML_PATH_LIMIT + 2];
    size_t bytes = strlen(path);
    if (bytes + 2 > sizeof prefix)
        return false;
    memcpy(prefix, path, bytes);
    prefix[bytes] = '.';
    size_t at = lower_bound(schema, prefix, bytes + 1);
    return at < schema->sorted_count && strncmp(schema->sorted[at]->path, prefix, bytes + 1) == 0;
}
