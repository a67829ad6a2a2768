/* show.c: prints configurations, their differences, platforms and problems. Keys: explain.c; systems:
 * show_system.c. */
#include "base/json.h"
#include "platform/show_impl.h"

#include <string.h>

const char *show_cell(const config_value *value, text_buffer *buffer)
{
    text_clear(buffer);
    config_add_scalar(buffer, value->key->param, value->text);
    return text_get(buffer);
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

static void print_heading(FILE *out, const platform_config *config)
{
    char hash[LS_HASH_TEXT_BYTES], line[1024];
    fprintf(out, "platform  %s (%s)\n", config_name(config), config_file_path(config));
    for (size_t i = 1; config_file(config, i); i++)
        fprintf(out, "base      %s\n", config_file(config, i));
    if (config_title(config)[0])
        fprintf(out, "title     %s\n", one_line(config_title(config), line, sizeof line));
    if (config_source(config)[0])
        fprintf(out, "source    %s\n", one_line(config_source(config), line, sizeof line));
    fprintf(out, "machine   %s\n", config_machine(config)->name);
    fprintf(out, "hash      %s\n", hash128_text(config_hash_of(config), hash));
    show_system_heading(out, config);
    fputc('\n', out);
}

/* Keys of models that were not chosen; label: of the GPU. */
static void print_dropped(FILE *out, const platform_config *config, const char *label, bool *is_first)
{
    char place[LS_PLACE_BYTES];
    for (size_t i = 0; i < config_dropped_count(config); i++) {
        const config_drop *drop = config_dropped(config, i);
        fprintf(out, "%snot used: %s%s = %s (%s), of model '%s'\n", *is_first ? "\n" : "", label,
                drop->key->path, drop->origin.text, origin_text(&drop->origin, place, sizeof place),
                drop->key->model->name);
        *is_first = false;
    }
}

static ls_status show_table(FILE *out, const platform_config *config, ls_error *err)
{
    key_table table = { 0 };
    text_buffer text = { 0 };
    char place[LS_PLACE_BYTES];
    bool is_first = true;
    print_heading(out, config);
    table_add(&table, "KEY", "VALUE", "UNIT", "FROM", "SOURCE");
    for (size_t i = 0; i < config_own_count(config); i++) {
        const config_value *value = config_at(config, i);
        table_add(&table, value->key->path, show_cell(value, &text), value->key->param->unit,
                  origin_text(&value->origins[0], place, sizeof place), value->origins[0].comment);
    }
    if (config_part_count(config) > 0)
        show_system_table(&table, config);
    text_fini(&text);
    ls_status status = table_print(&table, out, "", err);
    if (status == LS_OK)
        print_dropped(out, config, "", &is_first);
    for (size_t i = 0; i < config_part_count(config) && status == LS_OK; i++) {
        snprintf(place, sizeof place, "gpu%zu.", i);
        print_dropped(out, config_part(config, i), place, &is_first);
    }
    return status;
}

void show_yaml_value(text_buffer *text, const char *indent, const char *path, const config_value *value)
{
    char place[LS_PLACE_BYTES];
    const value_origin *origin = &value->origins[0];
    const char *unit = value->key->param->unit;
    text_printf(text, "%s%s: ", indent, path);
    config_add_scalar(text, value->key->param, value->text);
    text_printf(text, "  # %s%s%s%s%s\n", unit, unit[0] ? "; " : "", origin_text(origin, place, sizeof place),
                origin->comment[0] ? "; " : "", origin->comment);
}

static ls_status show_yaml(FILE *out, const platform_config *config, ls_error *err)
{
    char hash[LS_HASH_TEXT_BYTES];
    text_buffer text = { 0 };
    text_printf(&text, "# %s, resolved; hash %s\n", config_name(config),
                hash128_text(config_hash_of(config), hash));
    const char *const names[] = { "title", "source" };
    const char *const texts[] = { config_title(config), config_source(config) };
    for (size_t i = 0; i < 2; i++) {
        if (!texts[i][0])
            continue;
        text_printf(&text, "%s: ", names[i]);
        yaml_quote(&text, texts[i]);
        text_add(&text, "\n");
    }
    text_printf(&text, "machine: %s\n", config_machine(config)->name);
    for (size_t i = 0; i < config_own_count(config); i++)
        show_yaml_value(&text, "", config_at(config, i)->key->path, config_at(config, i));
    if (config_part_count(config) > 0)
        show_system_yaml(&text, config);
    bool failed = text.failed;
    if (!failed)
        fputs(text_get(&text), out);
    text_fini(&text);
    return failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : LS_OK;
}

static void json_pair(json_writer *j, const char *key, const char *text)
{
    json_key(j, key);
    json_string(j, text);
}

/* The nearest double; "text" beside it is exact. */
static void json_decimal(json_writer *j, const char *text)
{
    double number;
    if (parse_real(text, strlen(text), &number, NULL) == LS_OK)
        json_real(j, number);
    else
        json_null(j);
}

static void json_value(json_writer *j, const config_value *value)
{
    json_key(j, "value");
    switch (value->key->param->type) {
    case LS_PARAM_TYPE_BOOL:
        json_bool(j, value->value.boolean);
        break;
    case LS_PARAM_TYPE_UINT:
        json_u64(j, value->value.uint);
        break;
    case LS_PARAM_TYPE_REAL:
        json_real(j, value->value.real);
        break;
    case LS_PARAM_TYPE_UINTS:
        json_flat(j);
        json_array(j);
        for (size_t i = 0; i < value->value.uints.count; i++)
            json_u64(j, value->value.uints.at[i]);
        json_end(j);
        break;
    case LS_PARAM_TYPE_TEXTS:
        json_flat(j);
        json_array(j);
        for (size_t i = 0; i < value->value.texts.count; i++)
            json_string(j, value->value.texts.at[i]);
        json_end(j);
        break;
    case LS_PARAM_TYPE_FREQ: /* in MHz, as in the file */
    case LS_PARAM_TYPE_RATIO:
        json_decimal(j, value->text);
        break;
    default:
        json_string(j, value->text);
        break;
    }
    json_pair(j, "text", value->text);
}

static void json_origin(json_writer *j, const value_origin *origin)
{
    static const char *const kinds[] = {
        [LS_ORIGIN_DEFAULT] = "default", [LS_ORIGIN_FILE] = "file", [LS_ORIGIN_SET] = "set"
    };
    json_pair(j, "from", kinds[origin->kind]);
    if (origin->kind == LS_ORIGIN_FILE) {
        json_pair(j, "file", origin->file);
        json_key(j, "line");
        json_u64(j, origin->line);
        json_key(j, "column");
        json_u64(j, origin->column);
    }
    if (origin->scope[0])
        json_pair(j, "for", origin->scope);
    if (origin->comment[0])
        json_pair(j, "source", origin->comment);
}

static void json_entry(json_writer *j, const config_value *value)
{
    const ls_param *param = value->key->param;
    json_flat(j);
    json_begin_object(j);
    json_pair(j, "key", value->key->path);
    json_value(j, value);
    json_pair(j, "type", value_type_name(param->type));
    if (param->unit[0])
        json_pair(j, "unit", param->unit);
    json_origin(j, &value->origins[0]);
    json_pair(j, "help", param->help);
    json_key(j, "overrides");
    json_array(j);
    for (size_t i = 1; i < value->origin_count; i++) {
        json_begin_object(j);
        json_pair(j, "text", value->origins[i].text);
        json_origin(j, &value->origins[i]);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void json_dropped(json_writer *j, const platform_config *config, const char *label)
{
    for (size_t i = 0; i < config_dropped_count(config); i++) {
        const config_drop *drop = config_dropped(config, i);
        char path[LS_YAML_PATH_LIMIT + 64];
        snprintf(path, sizeof path, "%s%s", label, drop->key->path);
        json_flat(j);
        json_begin_object(j);
        json_pair(j, "key", path);
        json_pair(j, "text", drop->origin.text);
        json_pair(j, "model", drop->key->model->name);
        json_origin(j, &drop->origin);
        json_end(j);
    }
}

static void json_gpus(json_writer *j, const platform_config *config)
{
    char hash[LS_HASH_TEXT_BYTES];
    json_key(j, "gpus");
    json_array(j);
    for (size_t i = 0; i < config_part_count(config); i++) {
        const platform_config *part = config_part(config, i);
        json_flat(j);
        json_begin_object(j);
        json_pair(j, "name", config_part_name(config, i));
        json_pair(j, "platform", config_name(part));
        json_pair(j, "title", config_title(part));
        json_pair(j, "machine", config_machine(part)->name);
        json_pair(j, "hash", hash128_text(config_hash_of(part), hash));
        json_end(j);
    }
    json_end(j);
}

static ls_status show_json(FILE *out, const platform_config *config, ls_error *err)
{
    char hash[LS_HASH_TEXT_BYTES];
    json_writer j;
    json_to_file(&j, out, 2);
    json_begin_object(&j);
    json_pair(&j, "platform", config_name(config));
    json_key(&j, "files");
    json_array(&j);
    for (size_t i = 0; config_file(config, i); i++)
        json_string(&j, config_file(config, i));
    json_end(&j);
    json_pair(&j, "title", config_title(config));
    json_pair(&j, "source", config_source(config));
    json_pair(&j, "machine", config_machine(config)->name);
    json_pair(&j, "hash", hash128_text(config_hash_of(config), hash));
    if (config_part_count(config) > 0)
        json_gpus(&j, config);
    json_key(&j, "values");
    json_array(&j);
    for (size_t i = 0; i < config_value_count(config); i++)
        json_entry(&j, config_at(config, i));
    json_end(&j);
    json_key(&j, "not_used");
    json_array(&j);
    json_dropped(&j, config, "");
    for (size_t i = 0; i < config_part_count(config); i++) {
        char label[32];
        snprintf(label, sizeof label, "gpu%zu.", i);
        json_dropped(&j, config_part(config, i), label);
    }
    json_end(&j);
    json_end(&j);
    return json_finish(&j, err);
}

ls_status show_config(FILE *out, const platform_config *config, show_format format, ls_error *err)
{
    if (format == LS_SHOW_JSON)
        return show_json(out, config, err);
    return format == LS_SHOW_YAML ? show_yaml(out, config, err) : show_table(out, config, err);
}

/* --------------------------------------------------------------------------------------------------- diff */

/* The value of a key of the platform itself; NULL if there is none. */
static const config_value *own_value(const platform_config *config, const char *path)
{
    for (size_t i = 0; i < config_own_count(config); i++)
        if (strcmp(config_at(config, i)->key->path, path) == 0)
            return config_at(config, i);
    return NULL;
}

/* The rows of keys that both platforms have themselves, or only one of them. */
static void diff_own(key_table *table, const platform_config *a, const platform_config *b, size_t *differences)
{
    text_buffer left = { 0 }, right = { 0 };
    for (size_t i = 0; i < config_own_count(a); i++) {
        const config_value *value = config_at(a, i), *other = own_value(b, value->key->path);
        if (other && strcmp(value->text, other->text) == 0)
            continue;
        ++*differences;
        table_add(table, value->key->path, show_cell(value, &left), other ? show_cell(other, &right) : "-",
                  value->key->param->unit);
    }
    for (size_t i = 0; i < config_own_count(b); i++) {
        const config_value *value = config_at(b, i);
        if (own_value(a, value->key->path))
            continue;
        ++*differences;
        table_add(table, value->key->path, "-", show_cell(value, &right), value->key->param->unit);
    }
    text_fini(&left);
    text_fini(&right);
}

ls_status show_diff(FILE *out, const platform_config *a, const platform_config *b, size_t *differences,
                    ls_error *err)
{
    key_table table = { 0 };
    *differences = 0;
    table_add(&table, "KEY", config_name(a), config_name(b), "UNIT");
    if (config_machine(a) != config_machine(b)) {
        ++*differences;
        table_add(&table, "machine", config_machine(a)->name, config_machine(b)->name);
    }
    bool of_a = config_part_count(a) > 0, of_b = config_part_count(b) > 0;
    if (of_a == of_b) /* else one has keys of a GPU, the other those of a system */
        diff_own(&table, a, b, differences);
    if (of_a || of_b)
        show_system_diff(&table, a, b, differences);
    if (*differences > 0)
        return table_print(&table, out, "", err);
    arena_fini(&table.arena);
    fprintf(out, "no differences\n");
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ catalog */

ls_status show_catalog(FILE *out, const platform_entry *platforms, size_t count, ls_error *err)
{
    key_table table = { 0 };
    char line[1024];
    fprintf(out, "Platforms\n");
    if (count == 0)
        fprintf(out, "  none on the search path; name one as a file, or see --platform-dir\n");
    for (size_t i = 0; i < count; i++) {
        const platform_entry *p = &platforms[i];
        bool broken = p->error.status != LS_OK;
        table_add(&table, p->name, p->machine[0] ? p->machine : "-",
                  broken ? ls_error_text(&p->error, line, sizeof line)
                         : one_line(p->title, line, sizeof line));
    }
    ls_status status = table_print(&table, out, "  ", err);
    if (status != LS_OK)
        return status;
    fprintf(out, "Machines\n");
    for (size_t i = 0; i < ls_registry_machine_count(); i++)
        table_add(&table, ls_registry_machine(i)->name, ls_registry_machine(i)->help);
    status = table_print(&table, out, "  ", err);
    if (status != LS_OK)
        return status;
    fprintf(out, "Models\n");
    for (size_t i = 0; i < ls_registry_block_count(); i++) {
        const ls_block_type *type = ls_registry_block(i);
        bool first = i == 0 || strcmp(type->slot, ls_registry_block(i - 1)->slot) != 0;
        table_add(&table, first ? type->slot : "", type->name, type->help ? type->help : "");
    }
    return table_print(&table, out, "  ", err);
}

void show_problems(FILE *out, const config_problems *problems)
{
    char text[1024], line[2048];
    for (size_t i = 0; i < problems->count; i++) {
        ls_error_text(&problems->at[i].error, text, sizeof text);
        fprintf(out, "%s\n", quote_text(text, strlen(text), line, sizeof line));
    }
    if (problems->lost > 0)
        fprintf(out, "and %zu more\n", problems->lost);
}
