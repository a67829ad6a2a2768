/* explain.c: the meaning of a key in each of its declarations, and the origin of its value in a
 * configuration. */
#include "platform/show_impl.h"
#include "platform/system.h"

#include <string.h>

static const char *default_of(const ls_param *param)
{
    return param->default_text ? param->default_text : "none: the key is required";
}

static void add_owner(key_table *table, const machine_schema *schema, const config_key *key)
{
    char text[LS_PLACE_BYTES];
    if (key->model)
        snprintf(text, sizeof text, "machine '%s', section '%s', model '%s' of slot '%s'",
                 schema->machine->name, key->section->path, key->model->name, key->section->slot);
    else if (key->section)
        snprintf(text, sizeof text, "machine '%s', chooses the model of slot '%s'", schema->machine->name,
                 key->section->slot);
    else
        snprintf(text, sizeof text, "machine '%s'", schema->machine->name);
    table_add(table, "of", text);
}

static void add_choices(key_table *table, const config_key *key)
{
    const char *choice;
    for (size_t i = 0; (choice = value_choice(key->param, i)) != NULL; i++) {
        const ls_block_type *model = NULL;
        char line[LS_PLACE_BYTES];
        if (key_is_model(key))
            model = ls_registry_find_block(key->section->slot, choice);
        else if (key->param->slot != NULL)
            model = ls_registry_find_block(key->param->slot, choice);
        snprintf(line, sizeof line, "%s%s%s", choice, model && model->help ? ": " : "",
                 model && model->help ? model->help : "");
        table_add(table, i == 0 ? "choices" : "", line);
    }
}

static ls_status explain_declaration(FILE *out, const machine_schema *schema, const config_key *key,
                                     ls_error *err)
{
    key_table table = { 0 };
    char range[160];
    const ls_param *param = key->param;
    fprintf(out, "%s: %s\n", key->path, param->help);
    add_owner(&table, schema, key);
    table_add(&table, "type", value_type_name(param->type));
    if (param->unit[0])
        table_add(&table, "unit", param->unit);
    if (value_range_text(param, range, sizeof range)[0])
        table_add(&table, "range", range);
    if (param->type == LS_PARAM_TYPE_CHOICE)
        add_choices(&table, key);
    table_add(&table, "default", default_of(param));
    const ls_need *needs = key->model ? key->model->needs : key->section ? NULL : schema->machine->needs;
    size_t count = key->model ? key->model->need_count : key->section ? 0 : schema->machine->need_count;
    for (size_t i = 0; i < count; i++)
        if (glob_match(needs[i].keys, param->name))
            table_add(&table, "acts with", needs[i].condition);
    return table_print(&table, out, "  ", err);
}

/* ------------------------------------------------------------------------------------------------- values */

static ls_status explain_value(FILE *out, const platform_config *config, const char *path, const char *title,
                               ls_error *err)
{
    const config_value *value = config_find(config, path);
    key_table table = { 0 };
    char place[LS_PLACE_BYTES];
    fprintf(out, "in %s:\n", title);
    for (size_t i = 0; value && i < value->origin_count; i++) {
        const value_origin *origin = &value->origins[i];
        text_buffer text = { 0 };
        config_add_scalar(&text, value->key->param, origin->text);
        table_add(&table, i == 0 ? "value" : "overrides", text_get(&text),
                  origin_text(origin, place, sizeof place), origin->comment);
        table.failed |= text.failed;
        text_fini(&text);
    }
    for (size_t i = 0; i < config_dropped_count(config); i++) {
        const config_drop *drop = config_dropped(config, i);
        if (strcmp(drop->key->path, path) == 0)
            table_add(&table, "not used", drop->origin.text, origin_text(&drop->origin, place, sizeof place),
                      drop->origin.comment);
    }
    ls_status status = table_print(&table, out, "  ", err);
    if (value && status == LS_OK && config_assumes(value))
        fprintf(out, "  an assumption: results of this platform list it\n");
    const config_key *key = schema_find(config_schema(config), path);
    if (!value && key && key->section && status == LS_OK)
        fprintf(out, "  not in force: %s.model is '%s'\n", key->section->path,
                config_model(config, key->section->path)->name);
    return status;
}

/* ----------------------------------------------------------------------------------------------- sections */

static ls_status list_section(FILE *out, const machine_schema *schema, const char *path,
                              const platform_config *config, ls_error *err)
{
    key_table table = { 0 };
    size_t bytes = strlen(path);
    fprintf(out, "%s: a section of machine '%s'\n", path, schema->machine->name);
    for (size_t i = 0; i < schema->count; i++) {
        const config_key *key = &schema->keys[i];
        if (strncmp(key->path, path, bytes) != 0 || key->path[bytes] != '.')
            continue;
        const config_value *value = config ? config_find(config, key->path) : NULL;
        if (config && (!value || value->key != key))
            continue;
        const char *text = value                      ? value->text
                           : key->param->default_text ? key->param->default_text
                                                      : "(required)";
        table_add(&table, key->path, text, key->param->unit, key->model ? key->model->name : "",
                  key->param->help);
    }
    return table_print(&table, out, "  ", err);
}

/* --------------------------------------------------------------------------------------------------- all */

static ls_status explain(FILE *out, const char *path, const machine_schema *schemas, size_t count,
                         const platform_config *config, ls_error *err)
{
    size_t found = 0;
    ls_status status = LS_OK;
    for (size_t s = 0; s < count; s++) {
        const config_key *key = schema_find(&schemas[s], path);
        for (; key && status == LS_OK; key = key->same) {
            if (found++ > 0)
                fputc('\n', out);
            status = explain_declaration(out, &schemas[s], key, err);
        }
        if (status == LS_OK && schema_is_section(&schemas[s], path)) {
            if (found++ > 0)
                fputc('\n', out);
            status = list_section(out, &schemas[s], path, config, err);
        }
    }
    if (status != LS_OK)
        return status;
    if (found > 0)
        return config && schema_find(&schemas[0], path)
                   ? explain_value(out, config, path, config_name(config), err)
                   : LS_OK;
    char quoted[80];
    ls_fail(err, LS_ERR_INPUT, "unknown key '%s'%s%s%s", quote_text(path, strlen(path), quoted, sizeof quoted),
            config ? " for machine '" : "", config ? config_machine(config)->name : "", config ? "'" : "");
    return ls_error_nearest(err, catalog_nearest_key(schemas, count, path));
}

/* ---------------------------------------------------------------------------------------------- systems */

/* Whether two GPUs have the key in the same way. */
static bool same_value(const platform_config *a, const platform_config *b, const char *path)
{
    const config_value *x = config_find(a, path), *y = config_find(b, path);
    bool same = config_machine(a) == config_machine(b) && (x != NULL) == (y != NULL) &&
                strcmp(config_name(a), config_name(b)) == 0 && (!x || x->origin_count == y->origin_count);
    char left[LS_PLACE_BYTES], right[LS_PLACE_BYTES];
    for (size_t i = 0; same && x && i < x->origin_count; i++)
        same = strcmp(x->origins[i].text, y->origins[i].text) == 0 &&
               strcmp(origin_text(&x->origins[i], left, sizeof left),
                      origin_text(&y->origins[i], right, sizeof right)) == 0;
    return same;
}

/* The meaning of the key in the machine of a GPU, unless an earlier GPU has the same. */
static ls_status explain_machine(FILE *out, const platform_config *config, const system_scope *scope,
                                 size_t gpu, size_t *found, ls_error *err)
{
    const machine_schema *schema = config_schema(config_part(config, gpu));
    ls_status status = LS_OK;
    for (size_t i = 0; i < gpu; i++)
        if (scope->has[i] && config_machine(config_part(config, i)) == schema->machine)
            return LS_OK;
    if (schema_is_section(schema, scope->path)) {
        fprintf(out, "%s", (*found)++ > 0 ? "\n" : "");
        status = list_section(out, schema, scope->path, config_part(config, gpu), err);
    }
    for (const config_key *key = schema_find(schema, scope->path); key && status == LS_OK; key = key->same) {
        fprintf(out, "%s", (*found)++ > 0 ? "\n" : "");
        status = explain_declaration(out, schema, key, err);
    }
    return status;
}

static ls_status explain_system(FILE *out, const char *path, const platform_config *config, ls_error *err)
{
    system_scope scope;
    size_t count = config_part_count(config), found = 0;
    ls_status status = system_find_scope(config, path, &scope, err);
    for (size_t i = 0; i < count && status == LS_OK; i++)
        if (scope.has[i])
            status = explain_machine(out, config, &scope, i, &found, err);
    for (size_t i = 0, run; i < count && status == LS_OK && found > 0; i += run) {
        const platform_config *part = config_part(config, i);
        char label[LS_SCOPE_BYTES], title[LS_PLACE_BYTES];
        for (run = 1; i + run < count && scope.has[i + run] && scope.has[i] &&
                      same_value(part, config_part(config, i + run), scope.path);
             run++)
            ;
        snprintf(title, sizeof title, "%s (%s)", system_scope_text(i, run, SIZE_MAX, label),
                 config_name(part));
        if (scope.has[i] && schema_find(config_schema(part), scope.path))
            status = explain_value(out, part, scope.path, title, err);
    }
    if (status != LS_OK || found > 0)
        return status;
    char quoted[80];
    mem_arena arena = { 0 };
    const char *near = NULL;
    for (size_t i = 0; i < count && !near; i++)
        near = scope.has[i] ? catalog_nearest_key(config_schema(config_part(config, i)), 1, scope.path) : NULL;
    ls_fail(err, LS_ERR_INPUT, "unknown key '%s' for %s of platform '%s'",
            quote_text(path, strlen(path), quoted, sizeof quoted), scope.name, config_name(config));
    ls_error_nearest(err, near ? arena_printf(&arena, "%s.%s", scope.name, near) : NULL);
    arena_fini(&arena);
    return LS_ERR_INPUT;
}

ls_status show_key(FILE *out, const char *path, const platform_config *config, ls_error *err)
{
    bool is_own =
        config && (schema_find(config_schema(config), path) || schema_is_section(config_schema(config), path));
    if (config && config_part_count(config) > 0 && !is_own)
        return explain_system(out, path, config, err);
    if (config)
        return explain(out, path, config_schema(config), 1, config, err);
    mem_arena arena = { 0 };
    machine_schema *schemas;
    size_t count;
    ls_status status = catalog_schemas(&arena, &schemas, &count, err);
    if (status == LS_OK)
        status = explain(out, path, schemas, count, NULL, err);
    arena_fini(&arena);
    return status;
}
