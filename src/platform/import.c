/* import.c: the way of an import: read the files, walk the table, write the platform, list what is left over.
 * Also the functions on which the converters stand. */
#include "platform/import_rows.h"

#include "base/file.h"
#include "platform/config.h"
#include "platform/table.h"

#include <stdlib.h>
#include <string.h>

#define MACHINE "gpu"
#define COMMENT_COLUMN 46
#define LINE_BYTES 1024

bool import_no_memory(importer *im)
{
    im->status = ls_fail(im->err, LS_ERR_NOMEM, "the host has no memory left");
    return false;
}

/* ------------------------------------------------------------------------------------- what options say */

static const import_row *row_of(const char *option)
{
    for (size_t i = 0; i < import_row_count; i++)
        if (import_rows[i].option && strcmp(import_rows[i].option, option) == 0)
            return &import_rows[i];
    return NULL;
}

static ls_status place(importer *im, const char *option)
{
    const import_option *given = import_find(im, option);
    return given ? ls_error_at(im->err, given->file, given->line, 0)
                 : ls_error_at(im->err, im->first_file, 0, 0);
}

bool import_fail(importer *im, const char *option, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ls_failv(im->err, LS_ERR_INPUT, fmt, args);
    va_end(args);
    ls_error_prefix(im->err, "-%s", option);
    im->status = place(im, option);
    return false;
}

const char *import_value(const importer *im, const char *option)
{
    const import_option *given = import_find(im, option);
    if (given)
        return given->value;
    const import_row *row = row_of(option);
    return row ? row->fallback : NULL;
}

bool import_fail_with(importer *im, const char *option)
{
    ls_error_prefix(im->err, "-%s", option);
    im->status = place(im, option);
    return false;
}

bool import_uint(importer *im, const char *option, uint64_t *out)
{
    const char *value = import_value(im, option);
    if (!value)
        return import_fail(im, option, "it must be given");
    return parse_u64(value, strlen(value), out, im->err) == LS_OK ? true : import_fail_with(im, option);
}

bool import_fields(importer *im, const char *option, const char *separators, uint64_t *out, size_t count,
                   const char **rest)
{
    const char *value = import_value(im, option), *at = value;
    char quoted[128];
    if (!value)
        return import_fail(im, option, "it must be given");
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strcspn(at, separators);
        if (bytes == 0)
            return import_fail(im, option, "'%s' has %zu fields, %zu are needed",
                               quote_text(value, strlen(value), quoted, sizeof quoted), i, count);
        if (parse_u64(at, bytes, &out[i], im->err) != LS_OK)
            return import_fail_with(im, option);
        at += bytes + (at[bytes] != '\0');
    }
    if (rest)
        *rest = at;
    else if (*at)
        return import_fail(im, option, "'%s' has more than %zu fields",
                           quote_text(value, strlen(value), quoted, sizeof quoted), count);
    return true;
}

/* -------------------------------------------------------------------------------------- what is written */

/* With the machine at hand nothing is written that it would refuse. */
static bool check(importer *im, const char *key, const char *value, const char *option)
{
    key_value parsed;
    const char *canonical;
    if (!im->has_schema)
        return true;
    const config_key *first = schema_find(&im->schema, key);
    if (!first) {
        im->status = ls_fail(im->err, LS_ERR_INTERNAL,
                             "the import writes '%s', which is no key of machine '%s'", key, MACHINE);
        return false;
    }
    for (const config_key *k = first; k; k = k->same)
        if (value_parse(im->arena, k->param, key, value, &parsed, &canonical, NULL) == LS_OK)
            return true;
    im->status = value_parse(im->arena, first->param, key, value, &parsed, &canonical, im->err);
    if (option) {
        ls_error_prefix(im->err, "-%s", option);
        im->status = place(im, option);
    }
    return false;
}

static void write_line(importer *im, const char *key, const char *value, const char *comment)
{
    size_t before = im->yaml.count;
    text_printf(&im->yaml, "%s: %s", key, value);
    size_t used = im->yaml.count - before;
    int gap = used + 2 < COMMENT_COLUMN ? (int)(COMMENT_COLUMN - used) : 2;
    text_printf(&im->yaml, "%*s# %s\n", gap, "", comment);
}

static const char *comment_of(const importer *im, const char *option, const char *how, char *out,
                              size_t out_bytes)
{
    if (!option)
        return how;
    snprintf(out, out_bytes, "%s-%s%s%s", import_find(im, option) ? "from " : "Accel-Sim's default of ",
             option, how ? "; " : "", how ? how : "");
    return out;
}

bool import_put(importer *im, const char *key, const char *value, const char *option, const char *how)
{
    char comment[LINE_BYTES];
    if (!check(im, key, value, option))
        return false;
    write_line(im, key, value, comment_of(im, option, how, comment, sizeof comment));
    return true;
}

bool import_put_pairs(importer *im, const char *section, const import_pair *pairs, size_t count,
                      const char *option, const char *how)
{
    char key[128], comment[LINE_BYTES], list[LINE_BYTES] = "{";
    size_t used = 1;
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%s.%s", section, pairs[i].name);
        if (!check(im, key, pairs[i].value, option))
            return false;
        int more = snprintf(list + used, sizeof list - used, "%s%s: %s", i == 0 ? "" : ", ", pairs[i].name,
                            pairs[i].value);
        used += (size_t)more;
        if (used + 2 > sizeof list)
            return import_fail(im, option ? option : section, "its values do not fit on a line");
    }
    memcpy(list + used, "}", 2);
    write_line(im, section, list, comment_of(im, option, how, comment, sizeof comment));
    return true;
}

bool import_put_uint(importer *im, const char *key, uint64_t value, const char *option, const char *how)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return import_put(im, key, text, option, how);
}

bool import_put_fixed(importer *im, const char *key, const char *value, const char *why)
{
    return import_put(im, key, value, NULL, why);
}

/* ------------------------------------------------------------------------------------------------ notes */

void import_note(importer *im, const char *option, import_fate fate, const char *why)
{
    const import_option *given = import_find(im, option);
    if (!given && fate != LS_IMPORT_MISSING)
        return;
    const char *value = import_value(im, option);
    import_remark note = { .fate = fate,
                           .option = arena_printf(im->arena, "-%s", option),
                           .value = value ? value : "",
                           .file = given ? given->file : "",
                           .line = given ? given->line : 0,
                           .order = given ? (size_t)(given - im->options.at) + 1 : 0,
                           .why = why };
    if (!note.option || !vec_push(&im->notes, note))
        (void)import_no_memory(im);
}

/* Numbers are compared as such: 0x20, 32 and 32.0 are the same. */
static bool same_value(const char *a, const char *b)
{
    double x, y;
    if (parse_real(a, strlen(a), &x, NULL) == LS_OK && parse_real(b, strlen(b), &y, NULL) == LS_OK)
        return x >= y && x <= y;
    return strcmp(a, b) == 0;
}

/* The options of the table that have no key. */
static void note_rows(importer *im)
{
    for (size_t i = 0; i < import_row_count && im->status == LS_OK; i++) {
        const import_row *row = &import_rows[i];
        if (!row->option || row->convert)
            continue;
        const char *value = import_value(im, row->option);
        if (row->neutral ? value && !same_value(value, row->neutral) : !row->key)
            import_note(im, row->option, row->fate, row->why);
    }
}

static const char *row_name(const void *self, size_t i)
{
    (void)self;
    return import_rows[i].option ? import_rows[i].option : "";
}

static void note_unknown(importer *im)
{
    for (size_t i = 0; i < im->options.count && im->status == LS_OK; i++) {
        const import_option *option = &im->options.at[i];
        if (!option->name || option->row)
            continue;
        const char *near = nearest_name(option->name, import_row_count, row_name, NULL);
        const char *why = near && near[0] ? arena_printf(im->arena, "-%s", near) : "";
        if (why)
            import_note(im, option->name, LS_IMPORT_UNKNOWN, why);
        else
            (void)import_no_memory(im);
    }
}

static int compare_notes(const void *a, const void *b)
{
    const import_remark *x = a, *y = b;
    if (x->fate != y->fate)
        return x->fate < y->fate ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return strcmp(x->option, y->option);
}

static const char *const fate_titles[] = {
    [LS_IMPORT_UNKNOWN] = "not known",
    [LS_IMPORT_MISSING] = "not modelled",
    [LS_IMPORT_QUIET] = "no effect on timing in trace mode",
};

static const char *note_place(const import_remark *note, char *out, size_t out_bytes)
{
    if (note->line == 0)
        snprintf(out, out_bytes, "default");
    else
        snprintf(out, out_bytes, "%s:%u", path_base(note->file), (unsigned)note->line);
    return out;
}

static void write_notes(importer *im)
{
    for (size_t i = 0; i < im->notes.count; i++) {
        const import_remark *note = &im->notes.at[i];
        char where[LINE_BYTES], line[2 * LINE_BYTES];
        if (i == 0 || note[-1].fate != note->fate)
            text_printf(&im->yaml, "\n# %s:\n", fate_titles[note->fate]);
        bool unknown = note->fate == LS_IMPORT_UNKNOWN;
        int bytes = snprintf(line, sizeof line, "%s %s (%s)%s%s", note->option, note->value,
                             note_place(note, where, sizeof where),
                             note->why[0] ? unknown ? " nearest: " : ": " : "", note->why);
        size_t kept = (size_t)bytes < sizeof line ? (size_t)bytes : sizeof line - 1;
        char quoted[2 * LINE_BYTES];
        text_printf(&im->yaml, "#   %s\n", quote_text(line, kept, quoted, sizeof quoted));
    }
}

ls_status import_print_notes(const platform_import *import, import_fate fate, FILE *out, size_t *count,
                             ls_error *err)
{
    key_table table = { 0 };
    *count = 0;
    for (size_t i = 0; i < import->note_count; i++) {
        const import_remark *note = &import->notes[i];
        char where[LINE_BYTES], cells[4][LINE_BYTES];
        if (note->fate != fate)
            continue;
        if (++*count == 1)
            table_add(&table, "OPTION", "VALUE", "FROM", fate == LS_IMPORT_UNKNOWN ? "NEAREST" : "WHY");
        note_place(note, where, sizeof where);
        const char *const texts[4] = { note->option, note->value, where, note->why };
        for (size_t k = 0; k < 4; k++)
            quote_text(texts[k], strlen(texts[k]), cells[k], sizeof cells[k]);
        table_add(&table, cells[0], cells[1], cells[2], cells[3]);
    }
    if (*count == 0)
        return LS_OK;
    fprintf(out, "%s:\n", fate_titles[fate]);
    return table_print(&table, out, "  ", err);
}

/* ---------------------------------------------------------------------------------------- the whole way */

static bool read_files(importer *im)
{
    for (size_t i = 0; i < im->file_count; i++) {
        const import_file *file = &im->files[i];
        char *text = NULL;
        size_t bytes = 0;
        if (!file->text) {
            im->status = file_read(im->arena, file->path, LS_IMPORT_FILE_LIMIT, &text, &bytes, im->err);
            if (im->status != LS_OK)
                return false;
        }
        if (!import_read(im, file->path, file->text ? file->text : text,
                         file->text ? file->text_bytes : bytes))
            return false;
    }
    return true;
}

/* The directory of the first file names the GPU in Accel-Sim's tree. */
static void write_head(importer *im)
{
    char line[LINE_BYTES];
    const char *dir = path_dir(im->arena, im->first_file);
    const char *name = dir ? path_base(dir) : "";
    if (!name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        name = path_base(im->first_file);
    text_add(&im->yaml, "title: ");
    snprintf(line, sizeof line, "%s, as Accel-Sim has it", name);
    yaml_quote(&im->yaml, line);
    text_add(&im->yaml, "\nsource: ");
    text_buffer names = { 0 };
    for (size_t i = 0; i < im->file_count; i++)
        text_printf(&names, "%s%s", i == 0 ? "" : ", ", path_base(im->files[i].path));
    yaml_quote(&im->yaml, text_get(&names));
    im->yaml.failed |= names.failed;
    text_fini(&names);
    text_add(&im->yaml, "\nmachine: " MACHINE "\n");
}

static bool write_keys(importer *im)
{
    for (size_t i = 0; i < import_row_count; i++) {
        const import_row *row = &import_rows[i];
        if (!row->option && !row->convert)
            text_printf(&im->yaml, "\n# %s\n", row->key);
        else if (row->convert && !row->convert(im, row))
            return false;
    }
    return true;
}

static ls_status run(importer *im, platform_import *out)
{
    if (!read_files(im))
        return im->status;
    const ls_machine_type *machine = ls_registry_find_machine(MACHINE);
    im->has_schema = machine && schema_create(im->arena, machine, &im->schema, NULL) == LS_OK;
    write_head(im);
    if (!write_keys(im))
        return im->status;
    note_unknown(im);
    note_rows(im);
    if (im->notes.count > 0)
        qsort(im->notes.at, im->notes.count, sizeof *im->notes.at, compare_notes);
    write_notes(im);
    if (im->status != LS_OK)
        return im->status;
    import_remark *notes = arena_array(im->arena, im->notes.count + 1, sizeof *notes);
    char *yaml = im->yaml.failed ? NULL : arena_strndup(im->arena, text_get(&im->yaml), im->yaml.count);
    if (!notes || !yaml) {
        (void)import_no_memory(im);
        return im->status;
    }
    if (im->notes.count > 0)
        memcpy(notes, im->notes.at, im->notes.count * sizeof *notes);
    *out = (platform_import){
        .yaml = yaml, .yaml_bytes = im->yaml.count, .notes = notes, .note_count = im->notes.count
    };
    return LS_OK;
}

ls_status import_accelsim(mem_arena *arena, const import_file *files, size_t file_count, platform_import *out,
                          ls_error *err)
{
    ls_error unused = { 0 };
    *out = (platform_import){ 0 };
    if (file_count == 0)
        return ls_fail(err, LS_ERR_USAGE, "there is no file to import");
    importer im = { .arena = arena,
                    .files = files,
                    .file_count = file_count,
                    .first_file = files[0].path,
                    .err = err ? err : &unused };
    ls_status status = run(&im, out);
    vec_fini(&im.options);
    vec_fini(&im.notes);
    map_fini(&im.by_name);
    text_fini(&im.yaml);
    return status;
}
