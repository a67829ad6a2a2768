/* saved_csv.c: the CSV of export_csv.c (a row per kernel) and of export_tidy.c (a row per number), read back. Which of
 * the two it is, and where each column stands, is in the first line. */
#include "report/saved_impl.h"

#include "base/file.h"
#include "base/text.h"
#include "report/packed.h"

#include <stdlib.h>
#include <string.h>

enum { SCOPE, KERNEL, KERNEL_NAME, BLOCK, TYPE, METRIC, KIND, STAT, VALUE, UNIT, COLUMNS };
static const char *const column_names[COLUMNS] = { "scope",  "kernel", "kernel_name", "block", "type",
                                                   "metric", "kind",   "stat",        "value", "unit" };

typedef struct csv_in {
    saved_results *saved;
    const char *file;
    char *at, *end;
    uint64_t line;
    bool is_whole;          /* the last line has an end */
    LS_VEC(char *) cells;   /* of this line */
    size_t cell_count;      /* of the first line */
    size_t column[COLUMNS]; /* tidy: where each stands */
} csv_in;

static ls_status damaged(const csv_in *in, ls_error *err, const char *what)
{
    ls_fail(err, LS_ERR_INPUT, "%s", what);
    return ls_error_at(err, in->file, in->line, 0);
}

/* Takes the next cell out of the text, in place; a quoted one loses its quotes. Returns the character after it; 0: it
 * does not end. */
static char next_cell(csv_in *in)
{
    char *to = in->at;
    if (*in->at == '"') {
        in->at++;
        for (;; in->at++) {
            if (in->at >= in->end)
                return 0;
            if (*in->at == '"' && *++in->at != '"')
                break;
            *to++ = *in->at;
        }
    } else {
        while (in->at < in->end && *in->at != ',' && *in->at != '\r' && *in->at != '\n')
            *to++ = *in->at++;
    }
    char after = '\n';
    if (in->at < in->end)
        after = *in->at++;
    if (after == '\r' && in->at < in->end && *in->at == '\n')
        in->at++;
    *to = 0;
    return after;
}

/* Splits the next line; no cells: the end of the file. */
static ls_status next_line(csv_in *in, ls_error *err)
{
    vec_clear(&in->cells);
    if (in->at >= in->end)
        return LS_OK;
    in->line++;
    for (char after = ','; after == ',';) {
        if (!vec_push(&in->cells, in->at))
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
        after = next_cell(in);
        if (after == 0)
            return damaged(in, err, "a quoted cell does not end");
    }
    if (in->line > 1 && in->cells.count != in->cell_count)
        return damaged(in, err, "the line has another number of cells than the first");
    return LS_OK;
}

static ls_status read_number(const csv_in *in, const char *text, double *out, ls_error *err)
{
    ls_status status = parse_real(text, strlen(text), out, err);
    return status == LS_OK ? LS_OK : ls_error_at(err, in->file, in->line, 0);
}

/* Facts are rows of a kind of their own. Facts that are not numbers, and unknown ones, are skipped. */
static ls_status read_fact(csv_in *in, char *const *cell, double *begin_fs, ls_error *err)
{
    saved_results *s = in->saved;
    const char *name = cell[METRIC], *value = cell[VALUE];
    ls_status status = LS_OK;
    double number = 0;
    bool of_kernel = strcmp(cell[SCOPE], "kernel") == 0;
    if (!of_kernel && strcmp(name, "platform") == 0)
        s->platform = arena_strdup(&s->arena, value);
    else if (!of_kernel && strcmp(name, "command") == 0)
        s->command = arena_strdup(&s->arena, value);
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
            status = parse_u64(cell[KERNEL], strlen(cell[KERNEL]), &id, err);
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
        if (parse_u64(cell[KERNEL], strlen(cell[KERNEL]), &id, err) != LS_OK)
            return ls_error_at(err, in->file, in->line, 0);
        number.scope = saved_kernel_scope(in->saved, id, cell[KERNEL_NAME]);
        if (number.scope == LS_SAVED_RUN)
            return damaged(in, err, "a value of a kernel that the file does not list");
    }
    ls_status status = read_number(in, cell[VALUE], &number.value, err);
    return status == LS_OK ? saved_add(in->saved, &number, err) : status;
}

static ls_status read_tidy_head(csv_in *in, ls_error *err)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        size_t i = 0;
        while (i < in->cell_count && strcmp(in->cells.at[i], column_names[c]) != 0)
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

static ls_status read_tidy(csv_in *in, ls_error *err)
{
    ls_status status = read_tidy_head(in, err);
    bool complete = false; /* the host's rows come last */
    double begin_fs = 0;
    while (status == LS_OK && (status = next_line(in, err)) == LS_OK && in->cells.count > 0) {
        char *cell[COLUMNS];
        for (size_t c = 0; c < COLUMNS; c++)
            cell[c] = in->cells.at[in->column[c]];
        if (strcmp(cell[KIND], "fact") == 0)
            status = read_fact(in, cell, &begin_fs, err);
        else if (strcmp(cell[STAT], "untouched") != 0)
            status = read_value(in, cell, err);
        complete = complete || strcmp(cell[METRIC], "wall_time") == 0;
    }
    if (status == LS_OK && !complete)
        status = damaged(in, err, "the file is cut short: its last rows, those of the host, are missing");
    return status;
}

/* ---------------------------------------------------------------------------------------- a row per kernel */

enum { ROW, ID, NAME, BEGIN, END, PLATFORM, PARTIAL, LABELS };
static const char *const label_names[LABELS] = { "row",    "kernel",   "name",   "begin_fs",
                                                 "end_fs", "platform", "partial" };

/* A column of numbers. */
typedef struct number_column {
    bool is_used; /* the least and largest value of a histogram are not */
    bool is_sum;  /* of a histogram, whose count is the column before */
    uint32_t metric;
} number_column;

typedef struct wide_head {
    size_t label[LABELS];
    size_t first;           /* column of numbers */
    number_column *numbers; /* from there on */
} wide_head;

/* "type.metric [unit]", or "type.metric.count [unit]" and so on for a histogram; cut into pieces in place. */
static ls_status read_number_column(csv_in *in, char *name, number_column *out, ls_error *err)
{
    char *unit = strstr(name, " [");
    if (unit) {
        *unit = 0;
        unit += 2;
        unit[strcspn(unit, "]")] = 0;
    }
    char *slash = strrchr(name, '/'), *metric = slash ? strchr(slash, '.') : strchr(name, '.');
    if (!metric)
        return damaged(in, err, "a column of numbers has no name of the form type.metric");
    *metric++ = 0;
    char *part = strchr(metric, '.');
    out->is_sum = part && strcmp(part, ".sum") == 0;
    out->is_used = !part || out->is_sum;
    if (part)
        *part = 0;
    return saved_metric(in->saved, name, metric, part ? "histogram" : NULL, unit, &out->metric, err);
}

static ls_status read_wide_head(csv_in *in, wide_head *head, ls_error *err)
{
    for (size_t l = 0; l < LABELS; l++) {
        size_t i = 0;
        while (i < in->cell_count && strcmp(in->cells.at[i], label_names[l]) != 0)
            i++;
        if (i == in->cell_count) {
            ls_fail(err, LS_ERR_INPUT, "this is no results file of ours: there is no column '%s'",
                    label_names[l]);
            return ls_error_at(err, in->file, 1, 0);
        }
        head->label[l] = i;
    }
    head->first = 0;
    while (head->first < in->cell_count && !strchr(in->cells.at[head->first], '.'))
        head->first++;
    head->numbers = arena_array(&in->saved->arena, in->cell_count - head->first + 1, sizeof *head->numbers);
    if (!head->numbers)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    ls_status status = LS_OK;
    for (size_t i = head->first; i < in->cell_count && status == LS_OK; i++)
        status = read_number_column(in, in->cells.at[i], &head->numbers[i - head->first], err);
    return status;
}

static ls_status read_labels(csv_in *in, const wide_head *head, bool is_run, ls_error *err)
{
    saved_results *s = in->saved;
    char *cell[LABELS];
    for (size_t l = 0; l < LABELS; l++)
        cell[l] = in->cells.at[head->label[l]];
    double begin, end;
    ls_status status = read_number(in, cell[BEGIN], &begin, err);
    if (status == LS_OK)
        status = read_number(in, cell[END], &end, err);
    if (status != LS_OK)
        return status;
    if (is_run) {
        s->end_time_fs = end;
        s->partial = strcmp(cell[PARTIAL], "0") != 0;
        s->platform = arena_strdup(&s->arena, cell[PLATFORM]);
        return s->platform ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    }
    uint64_t id;
    if (parse_u64(cell[ID], strlen(cell[ID]), &id, err) != LS_OK)
        return ls_error_at(err, in->file, in->line, 0);
    return saved_add_kernel(s, id, cell[NAME], begin, end, err);
}

static ls_status read_numbers(csv_in *in, const wide_head *head, uint32_t scope, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = head->first; i < in->cell_count && status == LS_OK; i++) {
        const number_column *c = &head->numbers[i - head->first];
        const char *text = in->cells.at[i];
        double value, count = 0;
        if (!c->is_used || !text[0])
            continue;
        status = read_number(in, text, &value, err);
        if (status == LS_OK && c->is_sum)
            status = read_number(in, in->cells.at[i - 1], &count, err);
        if (status == LS_OK)
            status = saved_put(in->saved, scope, LS_SAVED_TYPE, c->metric, value, count, err);
    }
    return status;
}

static ls_status read_wide(csv_in *in, ls_error *err)
{
    wide_head head = { 0 };
    ls_status status = read_wide_head(in, &head, err);
    bool complete = false; /* the run's row comes last */
    while (status == LS_OK && (status = next_line(in, err)) == LS_OK && in->cells.count > 0) {
        bool is_run = strcmp(in->cells.at[head.label[ROW]], "run") == 0;
        complete = complete || is_run;
        status = read_labels(in, &head, is_run, err);
        if (status == LS_OK)
            status = read_numbers(in, &head, is_run ? LS_SAVED_RUN : (uint32_t)in->saved->kernels.count, err);
    }
    if (status == LS_OK && (!complete || !in->is_whole))
        status = damaged(in, err, "the file is cut short: its last row, that of the run, is not complete");
    return status;
}

ls_status saved_load_csv(saved_results *s, const char *file, ls_error *err)
{
    csv_in in = { .saved = s, .file = file };
    size_t bytes;
    ls_status status = packed_read(&s->arena, file, SAVED_FILE_LIMIT, &in.at, &bytes, err);
    if (status != LS_OK)
        return status;
    in.end = in.at + bytes;
    in.is_whole = bytes > 0 && in.end[-1] == '\n';
    status = next_line(&in, err);
    in.cell_count = in.cells.count;
    if (status == LS_OK)
        status =
            in.cell_count && strcmp(in.cells.at[0], "row") == 0 ? read_wide(&in, err) : read_tidy(&in, err);
    vec_fini(&in.cells);
    return status;
}
