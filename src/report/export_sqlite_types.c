/* export_sqlite_types.c: values in the database: per type of block a table with one row per scope (a run or a
 * kernel), and one with a row per scope and block. A metric is a column; a ratio, and the mean of a histogram,
 * is computed from other columns when it is read. These rows take a few bytes per number. The views show each
 * number as a row of its own. */
#include "report/export_sqlite.h"

#include "base/map.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum column_part {
    PART_VALUE,
    PART_NUMERATOR,
    PART_DENOMINATOR,
    PART_COUNT,
    PART_SUM,
    PART_MIN,
    PART_MAX,
    PART_QUOTIENT, /* not stored */
} column_part;

enum { NAME_BYTES = 160 };

typedef struct column {
    size_t metric;
    column_part part;
    char name[NAME_BYTES];
    char above[NAME_BYTES], below[NAME_BYTES]; /* of a quotient: the columns it is made of */
} column;

typedef LS_VEC(column) columns;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
}

/* ------------------------------------------------------------------------------------------------ columns */

static bool add_column(columns *list, size_t metric, column_part part, const char *name, const char *suffix)
{
    column c = { .metric = metric, .part = part };
    int bytes = snprintf(c.name, sizeof c.name, "%s%s", name, suffix);
    return bytes > 0 && (size_t)bytes < sizeof c.name && vec_push(list, c);
}

/* The column that holds the counter at this offset, if another metric declares it. */
static bool find_operand(const metric_type *type, uint32_t offset, char *out)
{
    for (size_t k = 0; k < type->metric_count; k++) {
        const ls_metric *metric = &type->metrics[k];
        const char *part = NULL;
        if (metric->kind == LS_METRIC_KIND_COUNTER && metric->offset == offset)
            part = "";
        else if (metric->kind == LS_METRIC_KIND_HISTOGRAM &&
                 offset == metric->offset + offsetof(ls_histogram, sum))
            part = ".sum";
        else if (metric->kind == LS_METRIC_KIND_HISTOGRAM &&
                 offset == metric->offset + offsetof(ls_histogram, count))
            part = ".count";
        if (part) {
            snprintf(out, NAME_BYTES, "%s%s", metric->name, part);
            return true;
        }
    }
    return false;
}

static bool add_ratio(columns *list, const metric_type *type, size_t k)
{
    const ls_metric *metric = &type->metrics[k];
    char above[NAME_BYTES], below[NAME_BYTES];
    if (!find_operand(type, metric->offset, above)) {
        snprintf(above, sizeof above, "%.*s.numerator", NAME_BYTES - 16, metric->name);
        if (!add_column(list, k, PART_NUMERATOR, above, ""))
            return false;
    }
    if (!find_operand(type, metric->denominator, below)) {
        snprintf(below, sizeof below, "%.*s.denominator", NAME_BYTES - 16, metric->name);
        if (!add_column(list, k, PART_DENOMINATOR, below, ""))
            return false;
    }
    if (!add_column(list, k, PART_QUOTIENT, metric->name, ""))
        return false;
    column *c = &list->at[list->count - 1];
    memcpy(c->above, above, sizeof above);
    memcpy(c->below, below, sizeof below);
    return true;
}

static bool add_histogram(columns *list, const ls_metric *metric, size_t k)
{
    static const char *const suffixes[] = { ".count", ".sum", ".min", ".max" };
    for (size_t i = 0; i < LS_COUNT_OF(suffixes); i++)
        if (!add_column(list, k, (column_part)(PART_COUNT + i), metric->name, suffixes[i]))
            return false;
    if (!add_column(list, k, PART_QUOTIENT, metric->name, ""))
        return false;
    column *c = &list->at[list->count - 1];
    snprintf(c->above, sizeof c->above, "%.*s.sum", NAME_BYTES - 16, metric->name);
    snprintf(c->below, sizeof c->below, "%.*s.count", NAME_BYTES - 16, metric->name);
    return true;
}

static ls_status list_columns(const metric_type *type, columns *list, ls_error *err)
{
    for (size_t k = 0; k < type->metric_count; k++) {
        const ls_metric *metric = &type->metrics[k];
        bool good = metric->kind == LS_METRIC_KIND_RATIO ? add_ratio(list, type, k)
                    : metric->kind == LS_METRIC_KIND_HISTOGRAM
                        ? add_histogram(list, metric, k)
                        : add_column(list, k, PART_VALUE, metric->name, "");
        if (!good)
            return no_memory(err);
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- tables */

void sqlite_add_definition(text_buffer *sql, const char *name, bool is_extreme, const char *above,
                           const char *below, bool has_default)
{
    sqlite_add_quoted(sql, '"', name, "");
    if (is_extreme) /* NULL without samples */
        return;
    if (!above) {
        text_add(sql, has_default ? " DEFAULT 0" : "");
        return;
    }
    text_add(sql, " AS (CAST(");
    sqlite_add_quoted(sql, '"', above, "");
    text_add(sql, " AS REAL) / "); /* NULL if the divisor is 0 */
    sqlite_add_quoted(sql, '"', below, "");
    text_add(sql, ") VIRTUAL");
}

static void add_definition(text_buffer *sql, const column *c, bool has_default)
{
    bool is_quotient = c->part == PART_QUOTIENT;
    sqlite_add_definition(sql, c->name, c->part == PART_MIN || c->part == PART_MAX,
                          is_quotient ? c->above : NULL, is_quotient ? c->below : NULL, has_default);
}

/* The columns that a table has; none: there is no such table. */
static ls_status read_columns(const sqlite_out *o, const char *type, const char *suffix, string_map *known,
                              ls_error *err)
{
    sqlite3_stmt *s = NULL;
    if (o->is_new)
        return LS_OK;
    ls_status status = sqlite_prepare(o, "SELECT name FROM pragma_table_xinfo(?1 || ?2)", &s, err);
    if (status != LS_OK)
        return status;
    sqlite.bind_text(s, 1, type, -1, SQLITE_STATIC);
    sqlite.bind_text(s, 2, suffix, -1, SQLITE_STATIC);
    int code;
    while (status == LS_OK && (code = sqlite.step(s)) == SQLITE_ROW)
        if (!map_put(known, (const char *)sqlite.column_text(s, 0), known))
            status = no_memory(err);
    if (status == LS_OK && code != SQLITE_DONE)
        status = sqlite_fail(o, code, err);
    sqlite.finalize(s);
    return status;
}

/* keys: the columns that name a row, and afterwards what ends the table. */
static ls_status prepare_table(const sqlite_out *o, const char *type, const char *suffix, const columns *list,
                               bool *changed, ls_error *err)
{
    bool of_blocks = suffix[0] != '\0';
    string_map known = { 0 };
    text_buffer sql = { 0 };
    ls_status status = read_columns(o, type, suffix, &known, err);
    if (status == LS_OK && known.count == 0) {
        text_add(&sql, "CREATE TABLE ");
        sqlite_add_quoted(&sql, '"', type, suffix);
        text_add(&sql, of_blocks ? SQLITE_BLOCKS_TABLE_HEAD : SQLITE_TYPE_TABLE_HEAD);
        for (size_t i = 0; i < list->count; i++) {
            text_add(&sql, ", ");
            add_definition(&sql, &list->at[i], !of_blocks);
        }
        text_add(&sql, of_blocks ? ", PRIMARY KEY(scope, block)) WITHOUT ROWID" : ")");
        status = sqlite_run_text(o, &sql, err);
        *changed = true;
    } else {
        for (size_t i = 0; i < list->count && status == LS_OK; i++) {
            if (map_has(&known, list->at[i].name))
                continue;
            text_add(&sql, "ALTER TABLE ");
            sqlite_add_quoted(&sql, '"', type, suffix);
            text_add(&sql, " ADD COLUMN ");
            add_definition(&sql, &list->at[i], false);
            status = sqlite_run_text(o, &sql, err);
            *changed = true;
        }
    }
    text_fini(&sql);
    map_fini(&known);
    return status;
}

ls_status sqlite_types_prepare(const sqlite_out *o, const metric_store *m, ls_error *err)
{
    ls_status status = LS_OK;
    bool changed = false;
    for (size_t t = 0; t < metrics_type_count(m) && status == LS_OK; t++) {
        metric_type type = metrics_type_at(m, t);
        columns list = { 0 };
        status = list_columns(&type, &list, err);
        if (status == LS_OK)
            status = prepare_table(o, type.name, "", &list, &changed, err);
        if (status == LS_OK)
            status = prepare_table(o, type.name, SQLITE_BLOCKS_SUFFIX, &list, &changed, err);
        vec_fini(&list);
    }
    return status == LS_OK && changed ? sqlite_types_views(o, err) : status;
}

/* ------------------------------------------------------------------------------------------------- values */

static metric_part word_of(column_part part)
{
    bool second = part == PART_DENOMINATOR || part == PART_COUNT;
    return second             ? METRIC_PART_B
           : part == PART_MIN ? METRIC_PART_MIN
           : part == PART_MAX ? METRIC_PART_MAX
                              : METRIC_PART_A;
}

static uint64_t part_of(column_part part, const metric_parts *v)
{
    metric_part word = word_of(part);
    return word == METRIC_PART_B     ? v->b
           : word == METRIC_PART_MIN ? v->min
           : word == METRIC_PART_MAX ? v->max
                                     : v->a;
}

/* Where a value of the totals stands, and the number that the statement holds: equal ones are not bound again. */
typedef struct counted_word {
    const uint64_t *at;
    const uint64_t *samples; /* of min or max: their number, and the value is NULL if it is 0; else NULL */
    uint64_t bound;
} counted_word;

/* The two tables of a type while they are filled. */
typedef struct type_rows {
    columns list;    /* the stored columns */
    columns counted; /* those of them that the run counted: a row of `total` has no others */
    sqlite3_stmt *total, *block;
    struct counted_word *words; /* of each counted column */
    bool is_bound;
} type_rows;

/* all: the list has every stored column, in the order of a new table, which therefore need not be named. */
static ls_status prepare_insert(const sqlite_out *o, const char *type, const char *suffix, const columns *list,
                                bool all, sqlite3_stmt **out, ls_error *err)
{
    text_buffer sql = { 0 };
    bool of_blocks = suffix[0] != '\0';
    text_add(&sql, "INSERT INTO ");
    sqlite_add_quoted(&sql, '"', type, suffix);
    if (!all || !o->is_new) {
        text_add(&sql, of_blocks ? "(scope, block" : "(scope");
        for (size_t i = 0; i < list->count; i++) {
            text_add(&sql, ", ");
            sqlite_add_quoted(&sql, '"', list->at[i].name, "");
        }
        text_add(&sql, ")");
    }
    text_add(&sql, of_blocks ? " VALUES(?, ?" : " VALUES(?");
    for (size_t i = 0; i < list->count; i++)
        text_add(&sql, ", ?");
    text_add(&sql, ")");
    ls_status status = sql.failed ? no_memory(err) : sqlite_prepare(o, text_get(&sql), out, err);
    text_fini(&sql);
    return status;
}

static void close_rows(type_rows *rows, size_t types)
{
    for (size_t t = 0; t < types && rows; t++) {
        sqlite.finalize(rows[t].total);
        sqlite.finalize(rows[t].block);
        vec_fini(&rows[t].list);
        vec_fini(&rows[t].counted);
        free(rows[t].words);
    }
    free(rows);
}

/* Some kernel ran beside others: its zeros are unknown values. */
static bool has_overlap(const metric_store *m)
{
    bool found = false;
    for (size_t i = 0; i < metrics_interval_count(m) && !found; i++)
        found = metrics_interval_at(m, i)->overlapped;
    return found;
}

/* Whether a column is zero in every scope, because it is zero in the run. A level may be zero at its end only. */
static bool is_zero(const metric_type *type, const metric_totals *run, size_t t, const column *c)
{
    const metric_parts v = metric_totals_get(run, t, c->metric);
    if (type->metrics[c->metric].kind == LS_METRIC_KIND_LEVEL)
        return false;
    return part_of(c->part, &v) == 0;
}

/* Whether every number of a type is 0 by default in its table. A table of an earlier version has no defaults, nor does
 * a column that an earlier run did not have. */
static ls_status read_defaults(const sqlite_out *o, const char *type, const columns *list, bool *all,
                               ls_error *err)
{
    sqlite3_int64 defaults = 0, stored = 0;
    char sql[400];
    *all = true;
    if (o->is_new)
        return LS_OK;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM pragma_table_info('%.200s') WHERE dflt_value = '0'", type);
    ls_status status = sqlite_query(o, sql, &defaults, err);
    for (size_t i = 0; i < list->count; i++)
        stored += list->at[i].part != PART_MIN && list->at[i].part != PART_MAX;
    *all = defaults >= stored;
    return status;
}

/* Lists the columns of a type that rows of totals have. */
static ls_status list_counted(const sqlite_out *o, const metric_store *m, const metric_totals *run, size_t t,
                              type_rows *rows, ls_error *err)
{
    const metric_type type = metrics_type_at(m, t);
    bool defaults = false;
    ls_status status = read_defaults(o, type.name, &rows->list, &defaults, err);
    bool all = !defaults || !metric_totals_has(run, t) || has_overlap(m);
    for (size_t i = 0; i < rows->list.count && status == LS_OK; i++)
        if ((all || !is_zero(&type, run, t, &rows->list.at[i])) && !vec_push(&rows->counted, rows->list.at[i]))
            status = no_memory(err);
    rows->words = calloc(rows->counted.count + 1, sizeof *rows->words);
    if (status != LS_OK || !rows->words)
        return status != LS_OK ? status : no_memory(err);
    for (size_t i = 0; i < rows->counted.count; i++) {
        const column *c = &rows->counted.at[i];
        bool is_extreme = c->part == PART_MIN || c->part == PART_MAX;
        rows->words[i] = (counted_word){
            .at = metric_totals_word(run, t, c->metric, word_of(c->part)),
            .samples = is_extreme ? metric_totals_word(run, t, c->metric, METRIC_PART_B) : NULL,
        };
    }
    return LS_OK;
}

static ls_status open_rows(const sqlite_out *o, const metric_store *m, const metric_totals *run,
                           type_rows *rows, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t t = 0; t < metrics_type_count(m) && status == LS_OK; t++) {
        metric_type type = metrics_type_at(m, t);
        columns *list = &rows[t].list;
        status = list_columns(&type, list, err);
        size_t stored = 0;
        for (size_t i = 0; i < list->count; i++)
            if (list->at[i].part != PART_QUOTIENT)
                list->at[stored++] = list->at[i];
        list->count = stored;
        if (status == LS_OK)
            status = list_counted(o, m, run, t, &rows[t], err);
        if (status == LS_OK)
            status = prepare_insert(o, type.name, "", &rows[t].counted, rows[t].counted.count == list->count,
                                    &rows[t].total, err);
        if (status == LS_OK)
            status = prepare_insert(o, type.name, SQLITE_BLOCKS_SUFFIX, list, true, &rows[t].block, err);
    }
    return status;
}

static int bind_part(sqlite3_stmt *s, int at, column_part part, const metric_parts *v, bool hides_zeros)
{
    uint64_t number = part_of(part, v);
    bool absent = (hides_zeros && number == 0) || ((part == PART_MIN || part == PART_MAX) && v->b == 0);
    return absent ? sqlite.bind_null(s, at) : sqlite_bind_u64(s, at, number);
}

static int finish_row(sqlite3_stmt *s, int code)
{
    if (code == SQLITE_OK)
        code = sqlite.step(s);
    int reset = sqlite.reset(s);
    return code == SQLITE_DONE ? reset : code;
}

/* Binds the columns that differ from the row before; the others are still there. Min and max are bound every time. */
static int bind_totals(type_rows *rows, bool hides_zeros)
{
    int code = SQLITE_OK;
    bool keeps = rows->is_bound && !hides_zeros;
    for (size_t i = 0; i < rows->counted.count && code == SQLITE_OK; i++) {
        counted_word *word = &rows->words[i];
        uint64_t value = *word->at;
        if (keeps && value == word->bound && !word->samples)
            continue;
        bool absent = (hides_zeros && value == 0) || (word->samples && *word->samples == 0);
        word->bound = value;
        code = absent ? sqlite.bind_null(rows->total, (int)i + 2)
                      : sqlite_bind_u64(rows->total, (int)i + 2, value);
    }
    rows->is_bound = !hides_zeros;
    return code;
}

static ls_status put_totals(const sqlite_out *o, const metric_store *m, type_rows *rows,
                            const metric_totals *totals, size_t scope, ls_error *err)
{
    const metric_interval *kernel = metrics_interval_at(m, scope);
    bool hides_zeros = kernel && kernel->overlapped;
    int64_t key = o->scope_base + (kernel ? 1 + (int64_t)scope : 0);
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        if (!metric_totals_has(totals, t) || (hides_zeros && !metric_totals_active(totals, t)))
            continue;
        sqlite3_stmt *s = rows[t].total;
        int code = sqlite.bind_int64(s, 1, key);
        if (code == SQLITE_OK)
            code = bind_totals(&rows[t], hides_zeros);
        code = finish_row(s, code);
        if (code != SQLITE_OK)
            return sqlite_fail(o, code, err);
    }
    return LS_OK;
}

static int put_buckets(sqlite3_stmt *s, int64_t scope, int64_t block, int64_t metric, const ls_histogram *h,
                       bool is_fine)
{
    int code = SQLITE_OK;
    for (unsigned b = 0; b < LS_HISTOGRAM_BUCKETS && code == SQLITE_OK; b++) {
        if (h->bucket[b] == 0)
            continue;
        sqlite.bind_int64(s, 1, scope);
        sqlite.bind_int64(s, 2, block);
        sqlite.bind_int64(s, 3, metric);
        sqlite_bind_u64(s, 4, ls_histogram_least(b, is_fine));
        code = finish_row(s, sqlite_bind_u64(s, 5, h->bucket[b]));
    }
    return code;
}

/* One block in one scope. */
static int put_block(const sqlite_out *o, const type_rows *rows, const metric_view *view, size_t source,
                     int64_t scope, sqlite3_stmt *buckets, size_t type, bool hides_zeros)
{
    sqlite3_stmt *s = rows->block;
    int64_t block = o->block_base + (int64_t)source;
    int code = sqlite.bind_int64(s, 1, scope);
    if (code == SQLITE_OK)
        code = sqlite.bind_int64(s, 2, block);
    for (size_t i = 0; i < rows->list.count && code == SQLITE_OK; i++) {
        const column *c = &rows->list.at[i];
        metric_value v;
        metric_view_source(view, source, c->metric, &v);
        bool histogram = v.kind == LS_METRIC_KIND_HISTOGRAM;
        const metric_parts parts = { .a = histogram ? v.histogram.sum : v.value,
                                     .b = histogram ? v.histogram.count : v.denominator,
                                     .min = v.histogram.min,
                                     .max = v.histogram.max };
        code = bind_part(s, (int)i + 3, c->part, &parts, hides_zeros);
        if (code == SQLITE_OK && c->part == PART_COUNT)
            code = put_buckets(buckets, scope, block, o->metric_base[type] + (int64_t)c->metric, &v.histogram,
                               v.is_fine);
    }
    return finish_row(s, code);
}

static ls_status put_blocks(const sqlite_out *o, const metric_store *m, const type_rows *rows,
                            const metric_view *view, size_t scope, sqlite3_stmt *buckets, ls_error *err)
{
    const metric_interval *kernel = metrics_interval_at(m, scope);
    int64_t key = o->scope_base + (kernel ? 1 + (int64_t)scope : 0);
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        if (kernel && !metric_view_active(view, i))
            continue;
        size_t type = metrics_source_type(m, i);
        int code = put_block(o, &rows[type], view, i, key, buckets, type, kernel && kernel->overlapped);
        if (code != SQLITE_OK)
            return sqlite_fail(o, code, err);
    }
    return LS_OK;
}

static ls_status fill_blocks(const sqlite_out *o, const metric_store *m, const type_rows *rows, bool per_block,
                             ls_error *err)
{
    metric_view *view = NULL;
    sqlite3_stmt *buckets = NULL;
    ls_status status = sqlite_prepare(o, "INSERT INTO buckets VALUES(?, ?, ?, ?, ?)", &buckets, err);
    if (status == LS_OK)
        status = metric_view_create(m, &view, err);
    if (status == LS_OK)
        status = metric_view_load(view, LS_METRICS_RUN, err);
    if (status == LS_OK)
        status = put_blocks(o, m, rows, view, LS_METRICS_RUN, buckets, err);
    size_t kernels = per_block ? metrics_interval_count(m) : 0;
    for (size_t i = 0; i < kernels && status == LS_OK; i++) {
        status = metric_view_load(view, i, err);
        if (status == LS_OK)
            status = put_blocks(o, m, rows, view, i, buckets, err);
    }
    sqlite.finalize(buckets);
    metric_view_destroy(view);
    return status;
}

ls_status sqlite_types_fill(const sqlite_out *o, const metric_store *m, bool per_block, ls_error *err)
{
    size_t types = metrics_type_count(m);
    type_rows *rows = calloc(types + 1, sizeof *rows);
    metric_totals *totals = NULL;
    ls_status status = rows ? metric_totals_create(m, &totals, err) : no_memory(err);
    if (status == LS_OK)
        status = metric_totals_load(totals, LS_METRICS_RUN, err);
    if (status == LS_OK)
        status = open_rows(o, m, totals, rows, err);
    if (status == LS_OK)
        status = put_totals(o, m, rows, totals, LS_METRICS_RUN, err);
    for (size_t i = 0; i < metrics_interval_count(m) && status == LS_OK; i++) {
        status = metric_totals_load(totals, i, err);
        if (status == LS_OK)
            status = put_totals(o, m, rows, totals, i, err);
    }
    if (status == LS_OK)
        status = fill_blocks(o, m, rows, per_block, err);
    metric_totals_destroy(totals);
    close_rows(rows, types);
    return status;
}
