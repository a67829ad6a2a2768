/* saved_csv.c: the tidy CSV of export_csv.c, read back. Columns are found by the names of the first line. */
#include "report/saved_impl.h"

#include "base/file.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { SCOPE, KERNEL, KERNEL_NAME, BLOCK, TYPE, METRIC, KIND, STAT, VALUE, UNIT, COLUMNS };
static const char *const column_names[COLUMNS] = { "scope",  "kernel", "kernel_name", "block", "type",
                                                   "metric", "kind",   "stat",        "value", "unit" };
#define CELLS_MAX 64

typedef struct csv_in {
    ls_saved *saved;
    const char *file;
    char *at, *end;
    uint64_t line;
    size_t column[COLUMNS]; /* where each stands */
    size_t cell_count;      /* of the first line */
} csv_in;

static ls_status damaged(const csv_in *in, ls_error *err, const char *what)
{
    ls_fail(err, LS_ERR_INPUT, "%s", what);
    return ls_error_at(err, in->file, in->line, 0);
}

/* Splits the next line in place; quoted cells lose their quotes. Returns the number of cells, 0 at the end,
 * CELLS_MAX + 1 for a cell that does not end. */
static size_t next_line(csv_in *in, char **cells)
{
    if (in->at >= in->end)
        return 0;
    in->line++;
    size_t count = 0;
    for (;;) {
        char *to = in->at;
        if (count < CELLS_MAX)
            cells[count] = to;
        count++;
        if (*in->at == '"') {
            in->at++;
            for (;; in->at++) {
                if (in->at >= in->end)
                    return CELLS_MAX + 1;
                if (*in->at == '"' && *++in->at != '"')
                    break;
                *to++ = *in->at;
            }
        } else {
            while (in->at < in->end && !strchr(",\r\n", *in->at))
                *to++ = *in->at++;
        }
        char after = '\n';
        if (in->at < in->end)
            after = *in->at++;
        if (after == '\r' && in->at < in->end && *in->at == '\n')
            in->at++;
        *to = 0;
        if (after != ',')
            return count;
    }
}

static ls_status read_head(csv_in *in, ls_error *err)
{
    char *cells[CELLS_MAX];
    in->cell_count = next_line(in, cells);
    if (in->cell_count > CELLS_MAX)
        return damaged(in, err, "this is no results file of ours");
    for (size_t c = 0; c < COLUMNS; c++) {
        size_t i = 0;
        while (i < in->cell_count && strcmp(cells[i], column_names[c]) != 0)
            i++;
        if (i == in->cell_count) {
            ls_fail(err, LS_ERR_INPUT, "this is no results file of ours: there is no column '%s'",
                    column_names[c]);
            return ls_error_at(err, in->file, 1, 0);
        }
        in->column[c] = i;
    }
    return LS_OK;
}

static ls_status read_number(const csv_in *in, const char *text, double *out, ls_error *err)
{
    ls_status status = ls_parse_real(text, strlen(text), out, err);
    return status == LS_OK ? LS_OK : ls_error_at(err, in->file, in->line, 0);
}

/* Facts are rows of a kind of their own; those that are not numbers matter as little as those we do not
 * know. */
static ls_status read_fact(csv_in *in, char *const *cell, double *begin_fs, ls_error *err)
{
    ls_saved *s = in->saved;
    const char *name = cell[METRIC], *value = cell[VALUE];
    ls_status status = LS_OK;
    double number = 0;
    bool of_kernel = strcmp(cell[SCOPE], "kernel") == 0;
    if (!of_kernel && strcmp(name, "platform") == 0)
        s->platform = ls_arena_strdup(&s->arena, value);
    else if (!of_kernel && strcmp(name, "command") == 0)
        s->command = ls_arena_strdup(&s->arena, value);
    else if (!of_kernel && strcmp(name, "partial") == 0)
        s->partial = strcmp(value, "0") != 0;
    else if (!of_kernel && strcmp(name, "end_time") == 0)
        status = read_number(in, value, &s->end_time_fs, err);
    else if (of_kernel && strcmp(name, "begin") == 0)
        status = read_number(in, value, begin_fs, err);
    else if (of_kernel && strcmp(name, "end") == 0) {
        uint64_t id;
        status = read_number(in, value, &number, err);
        if (status == LS_OK)
            status = ls_parse_u64(cell[KERNEL], strlen(cell[KERNEL]), &id, err);
        if (status == LS_OK)
            status = saved_add_kernel(s, id, cell[KERNEL_NAME], *begin_fs, number, err);
    }
    if (!s->platform || !s->command)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    return status;
}

static ls_status read_value(csv_in *in, char *const *cell, ls_error *err)
{
    saved_number number = { .block = cell[BLOCK],
                            .type = cell[TYPE],
                            .metric = cell[METRIC],
                            .kind = cell[KIND],
                            .unit = cell[UNIT],
                            .stat = cell[STAT] };
    if (strcmp(cell[SCOPE], "kernel") == 0) {
        uint64_t id;
        if (ls_parse_u64(cell[KERNEL], strlen(cell[KERNEL]), &id, err) != LS_OK)
            return ls_error_at(err, in->file, in->line, 0);
        number.scope = saved_kernel_scope(in->saved, id, cell[KERNEL_NAME]);
        if (number.scope == LS_SAVED_RUN)
            return damaged(in, err, "a value of a kernel that the file does not list");
    }
    ls_status status = read_number(in, cell[VALUE], &number.value, err);
    return status == LS_OK ? saved_add(in->saved, &number, err) : status;
}

ls_status saved_load_csv(ls_saved *s, const char *file, ls_error *err)
{
    csv_in in = { .saved = s, .file = file };
    size_t bytes;
    ls_status status = ls_file_read(&s->arena, file, SAVED_FILE_LIMIT, &in.at, &bytes, err);
    if (status != LS_OK)
        return status;
    in.end = in.at + bytes;
    status = read_head(&in, err);
    bool complete = false; /* the host's rows come last */
    double begin_fs = 0;
    while (status == LS_OK) {
        char *found[CELLS_MAX], *cell[COLUMNS];
        size_t count = next_line(&in, found);
        if (count == 0)
            break;
        if (count != in.cell_count)
            return damaged(&in, err, "the line has another number of cells than the first");
        for (size_t c = 0; c < COLUMNS; c++)
            cell[c] = found[in.column[c]];
        if (strcmp(cell[KIND], "fact") == 0)
            status = read_fact(&in, cell, &begin_fs, err);
        else if (strcmp(cell[STAT], "untouched") != 0)
            status = read_value(&in, cell, err);
        complete = complete || strcmp(cell[METRIC], "wall_time") == 0;
    }
    if (status == LS_OK && !complete)
        status = damaged(&in, err, "the file is cut short: its last rows, those of the host, are missing");
    return status;
}
