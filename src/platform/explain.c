/* explain.c: what a key means, wherever it is declared, and how a configuration came to its value. */
#include "platform/show.h"
#include "platform/table.h"

#include <string.h>

#define PLACE_BYTES 512

static const char *default_of(const ls_param *param)
{
    return param->default_text ? param->default_text : "none: the key is required";
}

static void add_owner(ls_table *table, const ls_schema *schema, const ls_key *key)
{
    char text[PLACE_BYTES];
    if (key->model)
        snprintf(text, sizeof text, "machine '%s', section '%s', model '%s' of slot '%s'",
                 schema->machine->name, key->section->path, key->model->name, key->section->slot);
    else if (key->section)
        snprintf(text, sizeof text, "machine '%s', chooses the model of slot '%s'", schema->machine->name,
                 key->section->slot);
    else
        snprintf(text, sizeof text, "machine '%s'", schema->machine->name);
    ls_table_add(table, "of", text);
}

static void add_choices(ls_table *table, const ls_key *key)
{
    const char *choice;
    for (size_t i = 0; (choice = ls_value_choice(key->param, i)) != NULL; i++) {
        const ls_block_type *model = NULL;
        char line[PLACE_BYTES];
        if (ls_key_is_model(key))
            model = ls_registry_find_block(key->section->slot, choice);
        else if (key->param->slot != NULL)
            model = ls_registry_find_block(key->param->slot, choice);
        snprintf(line, sizeof line, "%s%s%s", choice, model && model->help ? ": " : "",
                 model && model->help ? model->help : "");
        ls_table_add(table, i == 0 ? "choices" : "", line);
    }
}

static ls_status explain_declaration(FILE *out, const ls_schema *schema, const ls_key *key, ls_error *err)
{
    ls_table table = { 0 };
    char range[160];
    const ls_param *param = key->param;
    fprintf(out, "%s: %s\n", key->path, param->help);
    add_owner(&table, schema, key);
    ls_table_add(&table, "type", ls_value_type_name(param->type));
    if (param->unit[0])
        ls_table_add(&table, "unit", param->unit);
    if (ls_value_range_text(param, range, sizeof range)[0])
        ls_table_add(&table, "range", range);
    if (param->type == LS_PARAM_TYPE_CHOICE)
        add_choices(&table, key);
    ls_table_add(&table, "default", default_of(param));
    const ls_need *needs = key->model ? key->model->needs : key->section ? NULL : schema->machine->needs;
    size_t count = key->model ? key->model->need_count : key->section ? 0 : schema->machine->need_count;
    for (size_t i = 0; i < count; i++)
        if (ls_glob(needs[i].keys, param->name))
            ls_table_add(&table, "acts with", needs[i].condition);
    return ls_table_print(&table, out, "  ", err);
}

/* ------------------------------------------------------------------------------------------------- values */

static ls_status explain_value(FILE *out, const ls_config *config, const char *path, ls_error *err)
{
    const ls_config_value *value = ls_config_find(config, path);
    ls_table table = { 0 };
    char place[PLACE_BYTES];
    fprintf(out, "in %s:\n", ls_config_name(config));
    for (size_t i = 0; value && i < value->origin_count; i++) {
        const ls_origin *origin = &value->origins[i];
        ls_text text = { 0 };
        ls_config_add_scalar(&text, value->key->param, origin->text);
        ls_table_add(&table, i == 0 ? "value" : "overrides", ls_text_get(&text),
                     ls_origin_text(origin, place, sizeof place), origin->comment);
        table.failed |= text.failed;
        ls_text_fini(&text);
    }
    for (size_t i = 0; i < ls_config_dropped_count(config); i++) {
        const ls_config_drop *drop = ls_config_dropped(config, i);
        if (strcmp(drop->key->path, path) == 0)
            ls_table_add(&table, "not used", drop->origin.text,
                         ls_origin_text(&drop->origin, place, sizeof place), drop->origin.comment);
    }
    ls_status status = ls_table_print(&table, out, "  ", err);
    if (value && status == LS_OK && ls_config_assumes(value))
        fprintf(out, "  an assumption: results of this platform list it\n");
    const ls_key *key = ls_schema_find(ls_config_schema(config), path);
    if (!value && key && key->section && status == LS_OK)
        fprintf(out, "  not in force: %s.model is '%s'\n", key->section->path,
                ls_config_model(config, key->section->path)->name);
    return status;
}

/* ----------------------------------------------------------------------------------------------- sections */

static ls_status list_section(FILE *out, const ls_schema *schema, const char *path, const ls_config *config,
                              ls_error *err)
{
    ls_table table = { 0 };
    size_t bytes = strlen(path);
    fprintf(out, "%s: a section of machine '%s'\n", path, schema->machine->name);
    for (size_t i = 0; i < schema->count; i++) {
        const ls_key *key = &schema->keys[i];
        if (strncmp(key->path, path, bytes) != 0 || key->path[bytes] != '.')
            continue;
        const ls_config_value *value = config ? ls_config_find(config, key->path) : NULL;
        if (config && (!value || value->key != key))
            continue;
        const char *text = value                      ? value->text
                           : key->param->default_text ? key->param->default_text
                                                      : "(required)";
        ls_table_add(&table, key->path, text, key->param->unit, key->model ? key->model->name : "",
                     key->param->help);
    }
    return ls_table_print(&table, out, "  ", err);
}

/* --------------------------------------------------------------------------------------------------- all */

static ls_status explain(FILE *out, const char *path, const ls_schema *schemas, size_t count,
                         const ls_config *config, ls_error *err)
{
    size_t found = 0;
    ls_status status = LS_OK;
    for (size_t s = 0; s < count; s++) {
        const ls_key *key = ls_schema_find(&schemas[s], path);
        for (; key && status == LS_OK; key = key->same) {
            if (found++ > 0)
                fputc('\n', out);
            status = explain_declaration(out, &schemas[s], key, err);
        }
        if (status == LS_OK && ls_schema_is_section(&schemas[s], path)) {
            if (found++ > 0)
                fputc('\n', out);
            status = list_section(out, &schemas[s], path, config, err);
        }
    }
    if (status != LS_OK)
        return status;
    if (found > 0)
        return config && ls_schema_find(&schemas[0], path) ? explain_value(out, config, path, err) : LS_OK;
    char quoted[80];
    ls_fail(err, LS_ERR_INPUT, "unknown key '%s'%s%s%s", ls_quote(path, strlen(path), quoted, sizeof quoted),
            config ? " for machine '" : "", config ? ls_config_machine(config)->name : "", config ? "'" : "");
    return ls_error_nearest(err, ls_catalog_nearest_key(schemas, count, path));
}

ls_status ls_show_key(FILE *out, const char *path, const ls_config *config, ls_error *err)
{
    if (config)
        return explain(out, path, ls_config_schema(config), 1, config, err);
    ls_arena arena = { 0 };
    ls_schema *schemas;
    size_t count;
    ls_status status = ls_catalog_schemas(&arena, &schemas, &count, err);
    if (status == LS_OK)
        status = explain(out, path, schemas, count, NULL, err);
    ls_arena_fini(&arena);
    return status;
}
