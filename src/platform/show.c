/* show.c: prints configurations, their differences, platforms and problems. Keys: explain.c. */
#include "platform/show.h"

#include "base/json.h"
#include "platform/table.h"

#include <string.h>

#define PLACE_BYTES 512

/* A value in a table: quoted where it could be taken for nothing or for two words. */
static const char *cell_text(const ls_config_value *value, ls_text *buffer)
{
    ls_text_clear(buffer);
    ls_config_add_scalar(buffer, value->key->param, value->text);
    return ls_text_get(buffer);
}

/* Free text may have lines and control characters; a table has neither. */
static const char *one_line(const char *text, char *out, size_t out_bytes)
{
    size_t used = 0;
    for (const char *s = text; *s && used + 1 < out_bytes; s++)
        out[used++] = (char)((unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s);
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
    return out;
}

/* ------------------------------------------------------------------------------------------------- config */

static void print_heading(FILE *out, const ls_config *config)
{
    char hash[LS_HASH_TEXT_BYTES], line[1024];
    fprintf(out, "platform  %s (%s)\n", ls_config_name(config), ls_config_path(config));
    for (size_t i = 1; ls_config_file(config, i); i++)
        fprintf(out, "base      %s\n", ls_config_file(config, i));
    if (ls_config_title(config)[0])
        fprintf(out, "title     %s\n", one_line(ls_config_title(config), line, sizeof line));
    if (ls_config_source(config)[0])
        fprintf(out, "source    %s\n", one_line(ls_config_source(config), line, sizeof line));
    fprintf(out, "machine   %s\n", ls_config_machine(config)->name);
    fprintf(out, "hash      %s\n\n", ls_hash_text(ls_config_hash(config), hash));
}

static ls_status show_table(FILE *out, const ls_config *config, ls_error *err)
{
    ls_table table = { 0 };
    ls_text text = { 0 };
    char place[PLACE_BYTES];
    print_heading(out, config);
    ls_table_add(&table, "KEY", "VALUE", "UNIT", "FROM", "SOURCE");
    for (size_t i = 0; i < ls_config_count(config); i++) {
        const ls_config_value *value = ls_config_at(config, i);
        ls_table_add(&table, value->key->path, cell_text(value, &text), value->key->param->unit,
                     ls_origin_text(&value->origins[0], place, sizeof place), value->origins[0].comment);
    }
    ls_text_fini(&text);
    ls_status status = ls_table_print(&table, out, "", err);
    for (size_t i = 0; i < ls_config_dropped_count(config) && status == LS_OK; i++) {
        const ls_config_drop *drop = ls_config_dropped(config, i);
        fprintf(out, "%snot used: %s = %s (%s), of model '%s'\n", i == 0 ? "\n" : "", drop->key->path,
                drop->origin.text, ls_origin_text(&drop->origin, place, sizeof place), drop->key->model->name);
    }
    return status;
}

static ls_status show_yaml(FILE *out, const ls_config *config, ls_error *err)
{
    char hash[LS_HASH_TEXT_BYTES], place[PLACE_BYTES];
    ls_text text = { 0 };
    ls_text_printf(&text, "# %s, resolved; hash %s\n", ls_config_name(config),
                   ls_hash_text(ls_config_hash(config), hash));
    const char *const names[] = { "title", "source" };
    const char *const texts[] = { ls_config_title(config), ls_config_source(config) };
    for (size_t i = 0; i < 2; i++) {
        if (!texts[i][0])
            continue;
        ls_text_printf(&text, "%s: ", names[i]);
        ls_yaml_quote(&text, texts[i]);
        ls_text_add(&text, "\n");
    }
    ls_text_printf(&text, "machine: %s\n", ls_config_machine(config)->name);
    for (size_t i = 0; i < ls_config_count(config); i++) {
        const ls_config_value *value = ls_config_at(config, i);
        const ls_origin *origin = &value->origins[0];
        const char *unit = value->key->param->unit;
        ls_text_printf(&text, "%s: ", value->key->path);
        ls_config_add_scalar(&text, value->key->param, value->text);
        ls_text_printf(&text, "  # %s%s%s%s%s\n", unit, unit[0] ? "; " : "",
                       ls_origin_text(origin, place, sizeof place), origin->comment[0] ? "; " : "",
                       origin->comment);
    }
    bool failed = text.failed;
    if (!failed)
        fputs(ls_text_get(&text), out);
    ls_text_fini(&text);
    return failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : LS_OK;
}

static void json_pair(ls_json *j, const char *key, const char *text)
{
    ls_json_key(j, key);
    ls_json_string(j, text);
}

/* The nearest double; "text" beside it is exact. */
static void json_decimal(ls_json *j, const char *text)
{
    double number;
    if (ls_parse_real(text, strlen(text), &number, NULL) == LS_OK)
        ls_json_real(j, number);
    else
        ls_json_null(j);
}

static void json_value(ls_json *j, const ls_config_value *value)
{
    ls_json_key(j, "value");
    switch (value->key->param->type) {
    case LS_PARAM_TYPE_BOOL:
        ls_json_bool(j, value->value.boolean);
        break;
    case LS_PARAM_TYPE_UINT:
        ls_json_u64(j, value->value.uint);
        break;
    case LS_PARAM_TYPE_REAL:
        ls_json_real(j, value->value.real);
        break;
    case LS_PARAM_TYPE_UINTS:
        ls_json_flat(j);
        ls_json_array(j);
        for (size_t i = 0; i < value->value.uints.count; i++)
            ls_json_u64(j, value->value.uints.at[i]);
        ls_json_end(j);
        break;
    case LS_PARAM_TYPE_FREQ: /* in MHz, as in the file */
    case LS_PARAM_TYPE_RATIO:
        json_decimal(j, value->text);
        break;
    default:
        ls_json_string(j, value->text);
        break;
    }
    json_pair(j, "text", value->text);
}

static void json_origin(ls_json *j, const ls_origin *origin)
{
    static const char *const kinds[] = {
        [LS_ORIGIN_DEFAULT] = "default", [LS_ORIGIN_FILE] = "file", [LS_ORIGIN_SET] = "set"
    };
    json_pair(j, "from", kinds[origin->kind]);
    if (origin->kind == LS_ORIGIN_FILE) {
        json_pair(j, "file", origin->file);
        ls_json_key(j, "line");
        ls_json_u64(j, origin->line);
        ls_json_key(j, "column");
        ls_json_u64(j, origin->column);
    }
    if (origin->comment[0])
        json_pair(j, "source", origin->comment);
}

static void json_entry(ls_json *j, const ls_config_value *value)
{
    const ls_param *param = value->key->param;
    ls_json_flat(j);
    ls_json_object(j);
    json_pair(j, "key", value->key->path);
    json_value(j, value);
    json_pair(j, "type", ls_value_type_name(param->type));
    if (param->unit[0])
        json_pair(j, "unit", param->unit);
    json_origin(j, &value->origins[0]);
    json_pair(j, "help", param->help);
    ls_json_key(j, "overrides");
    ls_json_array(j);
    for (size_t i = 1; i < value->origin_count; i++) {
        ls_json_object(j);
        json_pair(j, "text", value->origins[i].text);
        json_origin(j, &value->origins[i]);
        ls_json_end(j);
    }
    ls_json_end(j);
    ls_json_end(j);
}

static ls_status show_json(FILE *out, const ls_config *config, ls_error *err)
{
    char hash[LS_HASH_TEXT_BYTES];
    ls_json j;
    ls_json_to_file(&j, out, 2);
    ls_json_object(&j);
    json_pair(&j, "platform", ls_config_name(config));
    ls_json_key(&j, "files");
    ls_json_array(&j);
    for (size_t i = 0; ls_config_file(config, i); i++)
        ls_json_string(&j, ls_config_file(config, i));
    ls_json_end(&j);
    json_pair(&j, "title", ls_config_title(config));
    json_pair(&j, "source", ls_config_source(config));
    json_pair(&j, "machine", ls_config_machine(config)->name);
    json_pair(&j, "hash", ls_hash_text(ls_config_hash(config), hash));
    ls_json_key(&j, "values");
    ls_json_array(&j);
    for (size_t i = 0; i < ls_config_count(config); i++)
        json_entry(&j, ls_config_at(config, i));
    ls_json_end(&j);
    ls_json_key(&j, "not_used");
    ls_json_array(&j);
    for (size_t i = 0; i < ls_config_dropped_count(config); i++) {
        const ls_config_drop *drop = ls_config_dropped(config, i);
        ls_json_flat(&j);
        ls_json_object(&j);
        json_pair(&j, "key", drop->key->path);
        json_pair(&j, "text", drop->origin.text);
        json_pair(&j, "model", drop->key->model->name);
        json_origin(&j, &drop->origin);
        ls_json_end(&j);
    }
    ls_json_end(&j);
    ls_json_end(&j);
    return ls_json_finish(&j, err);
}

ls_status ls_show_config(FILE *out, const ls_config *config, ls_show_format format, ls_error *err)
{
    if (format == LS_SHOW_JSON)
        return show_json(out, config, err);
    return format == LS_SHOW_YAML ? show_yaml(out, config, err) : show_table(out, config, err);
}

/* --------------------------------------------------------------------------------------------------- diff */

ls_status ls_show_diff(FILE *out, const ls_config *a, const ls_config *b, size_t *differences, ls_error *err)
{
    ls_table table = { 0 };
    ls_text left = { 0 }, right = { 0 };
    *differences = 0;
    ls_table_add(&table, "KEY", ls_config_name(a), ls_config_name(b), "UNIT");
    if (ls_config_machine(a) != ls_config_machine(b)) {
        ++*differences;
        ls_table_add(&table, "machine", ls_config_machine(a)->name, ls_config_machine(b)->name);
    }
    for (size_t i = 0; i < ls_config_count(a); i++) {
        const ls_config_value *value = ls_config_at(a, i), *other = ls_config_find(b, value->key->path);
        if (other && strcmp(value->text, other->text) == 0)
            continue;
        ++*differences;
        ls_table_add(&table, value->key->path, cell_text(value, &left), other ? cell_text(other, &right) : "-",
                     value->key->param->unit);
    }
    for (size_t i = 0; i < ls_config_count(b); i++) {
        const ls_config_value *value = ls_config_at(b, i);
        if (ls_config_find(a, value->key->path))
            continue;
        ++*differences;
        ls_table_add(&table, value->key->path, "-", cell_text(value, &right), value->key->param->unit);
    }
    ls_text_fini(&left);
    ls_text_fini(&right);
    if (*differences > 0)
        return ls_table_print(&table, out, "", err);
    ls_arena_fini(&table.arena);
    fprintf(out, "no differences\n");
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ catalog */

ls_status ls_show_catalog(FILE *out, const ls_platform *platforms, size_t count, ls_error *err)
{
    ls_table table = { 0 };
    char line[1024];
    fprintf(out, "Platforms\n");
    if (count == 0)
        fprintf(out, "  none on the search path; name one as a file, or see --platform-dir\n");
    for (size_t i = 0; i < count; i++) {
        const ls_platform *p = &platforms[i];
        bool broken = p->error.status != LS_OK;
        ls_table_add(&table, p->name, p->machine[0] ? p->machine : "-",
                     broken ? ls_error_text(&p->error, line, sizeof line)
                            : one_line(p->title, line, sizeof line));
    }
    ls_status status = ls_table_print(&table, out, "  ", err);
    if (status != LS_OK)
        return status;
    fprintf(out, "Machines\n");
    for (size_t i = 0; i < ls_registry_machine_count(); i++)
        ls_table_add(&table, ls_registry_machine(i)->name, ls_registry_machine(i)->help);
    status = ls_table_print(&table, out, "  ", err);
    if (status != LS_OK)
        return status;
    fprintf(out, "Models\n");
    for (size_t i = 0; i < ls_registry_block_count(); i++) {
        const ls_block_type *type = ls_registry_block(i);
        bool first = i == 0 || strcmp(type->slot, ls_registry_block(i - 1)->slot) != 0;
        ls_table_add(&table, first ? type->slot : "", type->name, type->help ? type->help : "");
    }
    return ls_table_print(&table, out, "  ", err);
}

void ls_show_problems(FILE *out, const ls_problems *problems)
{
    char text[1024], line[2048];
    for (size_t i = 0; i < problems->count; i++) {
        ls_error_text(&problems->at[i].error, text, sizeof text);
        fprintf(out, "%s\n", ls_quote(text, strlen(text), line, sizeof line));
    }
    if (problems->lost > 0)
        fprintf(out, "and %zu more\n", problems->lost);
}
