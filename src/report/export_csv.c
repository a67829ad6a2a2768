/* export_csv.c: results as CSV for data frames: one row per kernel, one numeric column per metric of each type of
 * block, and the run's row last. Quoting and line ends as in RFC 4180. Touches only the stream it was given.
 *
 * A column is called "type.metric [unit]", without the brackets if there is no unit. A cell is empty if there is no
 * number: a ratio over zero, a block that the kernel's GPU does not have, a value that overlapping kernels share. */
#include "report/export_impl.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void export_csv_text(FILE *to, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, to);
        return;
    }
    fputc('"', to);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', to);
        fputc(*s, to);
    }
    fputc('"', to);
}

/* The name of a cell's column. A count of values has no unit. */
static void put_column(FILE *to, const char *type, const ls_metric *metric, const char *part)
{
    const char *unit = strcmp(part, ".count") == 0 ? "" : metric_unit(metric);
    char name[320];
    int bytes = snprintf(name, sizeof name, "%s.%s%s%s%s%s", type, metric->name, part, unit[0] ? " [" : "",
                         unit, unit[0] ? "]" : "");
    fputc(',', to);
    if (bytes > 0 && (size_t)bytes < sizeof name)
        export_csv_text(to, name);
}

static void put_head(FILE *to, const metric_store *m)
{
    fputs(
        "row,gpu,kernel,name,stream,begin_fs,end_fs,cycles,overlapped,platform,config_hash,seed,partial,warnings",
        to);
    for (size_t t = 0; m && t < metrics_type_count(m); t++) {
        metric_type type = metrics_type_at(m, t);
        for (size_t k = 0; k < type.metric_count; k++) {
            const char *const *parts;
            size_t count = export_cell_parts(&type.metrics[k], &parts);
            for (size_t i = 0; i < count; i++)
                put_column(to, type.name, &type.metrics[k], parts[i]);
        }
    }
    fputs("\r\n", to);
}

static void put_label(FILE *to, int64_t value)
{
    if (value >= 0)
        fprintf(to, "%" PRId64, value);
    fputc(',', to);
}

/* Up to the columns of the run, which stay empty. */
static void put_kernel_labels(FILE *to, const run_results *r, const metric_interval *k)
{
    uint64_t cycles = 0;
    fputs(k->shared ? "shared," : "kernel,", to);
    put_label(to, k->gpu);
    fprintf(to, "%" PRIu64 ",", k->kernel);
    export_csv_text(to, k->kernel_name);
    fputc(',', to);
    put_label(to, k->stream);
    fprintf(to, "%" PRIu64 ",%" PRIu64 ",", k->begin, k->end);
    if (export_cycles(r, k, &cycles))
        fprintf(to, "%" PRIu64, cycles);
    fputs(k->overlapped ? ",1,,,,," : ",0,,,,,", to);
}

static ls_status put_run_labels(FILE *to, const run_results *r, ls_error *err)
{
    char hash[64];
    fprintf(to, "run,,,,,0,%" PRIu64 ",", r->end_time);
    if (r->has_cycles)
        fprintf(to, "%" PRIu64, r->cycles);
    fputs(",,", to);
    export_csv_text(to, export_text_or(r->platform, ""));
    fprintf(to, ",%s,%" PRIu64 ",%d,", export_config_hash(r, hash), r->seed, r->partial);
    /* One line per warning, in one cell; the reason of a partial run is the first. */
    text_buffer cell = { 0 };
    if (r->partial)
        text_printf(&cell, "partial: %s\n",
                    export_text_or(r->partial_reason, "the run did not come to its end"));
    for (size_t i = 0; i < r->warning_count; i++)
        text_printf(&cell, "%s: %s\n", r->warnings[i].kind, r->warnings[i].text);
    bool good = !cell.failed;
    export_csv_text(to, text_get(&cell));
    text_fini(&cell);
    return good ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for results");
}

typedef struct csv_out {
    FILE *to;
    const metric_store *m;
    metric_totals *totals;
    char *cells;
} csv_out;

/* The metrics of one scope and the end of the line. */
static ls_status put_cells(const csv_out *o, size_t scope, const export_cell_style *style, ls_error *err)
{
    ls_status status = metric_totals_load(o->totals, scope, err);
    if (status != LS_OK)
        return status;
    char *at = o->cells;
    for (size_t t = 0; t < metrics_type_count(o->m); t++) {
        metric_type type = metrics_type_at(o->m, t);
        at = export_put_cells(at, o->totals, t, &type, style);
    }
    if (at > o->cells) { /* a comma stands after every cell; here one before each */
        fputc(',', o->to);
        fwrite(o->cells, 1, (size_t)(at - o->cells) - 1, o->to);
    }
    return LS_OK;
}

static ls_status put_rows(const csv_out *o, const run_results *r, ls_error *err)
{
    ls_status status = LS_OK;
    export_cell_style style = { .absent = "", .separator = "," };
    for (size_t i = 0; o->m && i < metrics_interval_count(o->m) && status == LS_OK; i++) {
        const metric_interval *kernel = metrics_interval_at(o->m, i);
        style.hides_zeros = kernel->overlapped;
        put_kernel_labels(o->to, r, kernel);
        status = put_cells(o, i, &style, err);
        fputs("\r\n", o->to);
    }
    if (status == LS_OK)
        status = put_run_labels(o->to, r, err);
    style = (export_cell_style){ .absent = "", .separator = ",", .is_exact = true };
    if (status == LS_OK && o->m)
        status = put_cells(o, LS_METRICS_RUN, &style, err);
    fputs("\r\n", o->to);
    return status;
}

ls_status export_csv(const run_results *r, FILE *to, ls_error *err)
{
    csv_out o = { .to = to, .m = r->metrics };
    ls_status status = LS_OK;
    if (o.m) {
        status = metric_totals_create(o.m, &o.totals, err);
        o.cells = malloc(export_cells_bytes(o.m));
        if (status == LS_OK && !o.cells)
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for results");
    }
    if (status == LS_OK) {
        put_head(to, o.m);
        status = put_rows(&o, r, err);
    }
    free(o.cells);
    metric_totals_destroy(o.totals);
    return status;
}
