/* reference.c: the tables of measured facts, which are shipped, and optional files beside them: traces and
 * Accel-Sim's configurations, which are not shipped. */
#include "base/file.h"
#include "cli/validate/validate.h"
#include "platform/import.h"
#include "platform/search.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CSV_LIMIT ((size_t)16 << 20)

/* Where the tables lie that are shipped: installed, in the source beside a build, or here. */
static ls_status find_shipped(mem_arena *arena, const char **out, ls_error *err)
{
    static const char *const places[] = { "../share/lockstep/reference", "../data/reference" };
    char *own;
    ls_status status = path_of_executable(arena, &own, err);
    *out = NULL;
    for (size_t i = 0; status == LS_OK && i < LS_COUNT_OF(places) && *out == NULL; i++) {
        const char *dir = path_join(arena, own, places[i]);
        if (!dir)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
        if (file_is_dir(dir))
            *out = dir;
    }
    if (status == LS_OK && *out == NULL && file_is_dir("data/reference"))
        *out = "data/reference";
    return status;
}

/* Finds the optional files beside the tables. */
static ls_status find_beside(validate_reference *ref, const char *dir, ls_error *err)
{
    const char *traces = path_join(ref->arena, dir, "../traces");
    const char *configs = path_join(ref->arena, dir, "../formats/accelsim-configs");
    if (!traces || !configs)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    ref->traces = file_is_dir(traces) ? traces : NULL;
    ref->configs = file_is_dir(configs) ? configs : NULL;
    return LS_OK;
}

ls_status validate_reference_open(validate_reference *ref, mem_arena *arena, const char *dir, ls_error *err)
{
    *ref = (validate_reference){ .arena = arena, .threads = 1 };
    const char *given = dir ? dir : getenv(VALIDATE_VARIABLE);
    ls_status status = LS_OK;
    if (given && *given) {
        if (!file_is_dir(given)) {
            ls_fail(err, LS_ERR_USAGE,
                    "the reference data is not there: --reference or $" VALIDATE_VARIABLE
                    " is a directory with accelsim_micro_anchors.csv, beside 'traces'");
            return ls_error_at(err, given, 0, 0);
        }
        ref->dir = arena_strdup(arena, given);
        return ref->dir ? find_beside(ref, given, err) : ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    }
    status = find_shipped(arena, &ref->dir, err);
    if (status == LS_OK && !ref->dir)
        return ls_fail(err, LS_ERR_USAGE,
                       "the tables of the reference are neither installed nor in data/reference: give their "
                       "directory with --reference DIR or $" VALIDATE_VARIABLE);
    return status == LS_OK ? find_beside(ref, VALIDATE_TRACES_BESIDE, err) : status;
}

/* The platform file that is shipped for one of Accel-Sim's configurations: accelsim-rtx3070 for SM86_RTX3070. */
static ls_status read_shipped(const validate_reference *ref, const char *name, config_request *out,
                              ls_error *err)
{
    platform_search search;
    ls_error none;
    const char *path, *gpu = strchr(name, '_');
    char *file = arena_printf(ref->arena, "accelsim-%s", gpu ? gpu + 1 : name), *text;
    size_t bytes;
    if (!file)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    for (char *c = file; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    ls_status status = search_create(ref->arena, ref->platform_dirs, ref->platform_dir_count, &search, err);
    if (status != LS_OK)
        return status;
    if (search_find(ref->arena, &search, file, NULL, &path, &none) != LS_OK)
        return LS_OK; /* not among the shipped ones */
    status = file_read(ref->arena, path, CSV_LIMIT, &text, &bytes, err);
    if (status == LS_OK) {
        out->text = text;
        out->text_bytes = bytes;
    }
    return status;
}

ls_status validate_import(const validate_reference *ref, const char *name, config_request *out, ls_error *err)
{
    platform_import import;
    const char *dir = ref->configs ? path_join(ref->arena, ref->configs, name) : NULL;
    *out = (config_request){ .platform = arena_strdup(ref->arena, name) };
    if (!out->platform || (ref->configs && !dir))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    if (!dir || !file_is_dir(dir))
        return read_shipped(ref, name, out, err);
    const import_file files[] = {
        { .path = path_join(ref->arena, dir, "gpgpusim.config") },
        { .path = path_join(ref->arena, dir, "trace.config") },
    };
    if (!files[0].path || !files[1].path)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    ls_status status = import_accelsim(ref->arena, files, LS_COUNT_OF(files), &import, err);
    if (status == LS_OK) {
        out->text = import.yaml;
        out->text_bytes = import.yaml_bytes;
    }
    return status;
}

ls_status validate_skip_traces(validate_report *report, validate_section *section, ls_error *err)
{
    section->summary =
        arena_printf(&report->arena,
                     "%s: skipped: it needs the traces, which are not shipped: --reference DIR with "
                     "DIR/../traces",
                     section->name);
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

ls_status validate_list_traces(const validate_reference *ref, const char ***names, size_t *count,
                               ls_error *err)
{
    LS_VEC(const char *) found = { 0 };
    DIR *dir = ref->traces ? opendir(ref->traces) : NULL;
    if (!dir) {
        ls_fail(err, LS_ERR_INPUT, "the reference has no traces");
        return ls_error_at(err, ref->traces ? ref->traces : ref->dir, 0, 0);
    }
    bool memory = true;
    for (struct dirent *entry; memory && (entry = readdir(dir));) {
        const char *list = arena_printf(ref->arena, "%s/%s/kernelslist.g", ref->traces, entry->d_name);
        const char *name = arena_strdup(ref->arena, entry->d_name);
        memory = list && name && (!file_exists(list) || vec_push(&found, name));
    }
    closedir(dir);
    *names = memory ? arena_array(ref->arena, found.count + 1, sizeof **names) : NULL;
    *count = found.count;
    if (*names && found.count) {
        memcpy(*names, found.at, found.count * sizeof **names);
        qsort(*names, found.count, sizeof **names, by_name);
    }
    vec_fini(&found);
    return *names ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for the list of traces");
}

/* ---------------------------------------------------------------------------------------------------- CSV */

/* The cell at *text, terminated in place; *text moves past it. Commas and line breaks inside quotes do not
 * count. */
static const char *next_cell(char **text, bool *last)
{
    char *from = *text, *to = from, *cell = from;
    bool quoted = false;
    for (; *from && (quoted || (*from != ',' && *from != '\n')); from++) {
        if (*from == '"')
            quoted = !quoted;
        else if (*from != '\r')
            *to++ = *from;
    }
    *last = *from != ',';
    *text = *from ? from + 1 : from;
    *to = 0;
    return cell;
}

ls_status validate_csv_read(const validate_reference *ref, const char *name, validate_csv *out, ls_error *err)
{
    char *text;
    size_t bytes, lines = 1, column = 0;
    const char *path = path_join(ref->arena, ref->dir, name);
    *out = (validate_csv){ 0 };
    if (!path)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    ls_status status = file_read(ref->arena, path, CSV_LIMIT, &text, &bytes, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == 0) {
            ls_fail(err, LS_ERR_INPUT, "a byte of value 0: this is no CSV file");
            return ls_error_at(err, path, lines, 0);
        }
        lines += text[i] == '\n';
    }
    out->columns = 1;
    for (const char *c = text; *c && *c != '\n'; c++)
        out->columns += *c == ',';
    out->cells = arena_array(ref->arena, lines * out->columns, sizeof *out->cells);
    if (!out->cells)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", path);
    size_t row = 0;
    for (char *at = text; *at;) {
        bool last;
        const char *cell = next_cell(&at, &last);
        if (column < out->columns)
            out->cells[row * out->columns + column] = cell;
        column++;
        if (!last)
            continue;
        if (column != out->columns) {
            ls_fail(err, LS_ERR_INPUT, "this line has %zu columns and the first one %zu", column,
                    out->columns);
            return ls_error_at(err, path, row + 1, 0);
        }
        row++;
        column = 0;
    }
    if (column != 0) {
        ls_fail(err, LS_ERR_INPUT, "the file ends inside a line");
        return ls_error_at(err, path, row + 1, 0);
    }
    out->rows = row ? row - 1 : 0;
    return LS_OK;
}

ls_status validate_csv_column(const validate_csv *csv, const char *name, size_t *out, ls_error *err)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (csv->cells[i] && strcmp(csv->cells[i], name) == 0) {
            *out = i;
            return LS_OK;
        }
    return ls_fail(err, LS_ERR_INPUT, "the reference has no column '%s'", name);
}

const char *validate_csv_at(const validate_csv *csv, size_t row, size_t column)
{
    return csv->cells[(row + 1) * csv->columns + column];
}

double validate_csv_real(const validate_csv *csv, size_t row, size_t column)
{
    const char *cell = validate_csv_at(csv, row, column);
    double value;
    return parse_real(cell, strlen(cell), &value, NULL) == LS_OK ? value : NAN;
}
