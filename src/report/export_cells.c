/* export_cells.c: the numbers of one scope and type as text, for the kernels of JSON and CSV: a fixed list of columns
 * per type. Kernels may be many thousands, so nothing here calls printf for the usual numbers. */
#include "report/export_impl.h"

#include "base/text.h"

#include <string.h>

static const char *const histogram_parts[EXPORT_HISTOGRAM_CELLS] = { ".count", ".sum", ".min", ".max" };

size_t export_cell_count(const metric_type *type)
{
    size_t count = 0;
    for (size_t k = 0; k < type->metric_count; k++)
        count += type->metrics[k].kind == LS_METRIC_KIND_HISTOGRAM ? EXPORT_HISTOGRAM_CELLS : 1;
    return count;
}

size_t export_cell_parts(const ls_metric *metric, const char *const **parts)
{
    static const char *const one[] = { "" };
    bool histogram = metric->kind == LS_METRIC_KIND_HISTOGRAM;
    *parts = histogram ? histogram_parts : one;
    return histogram ? EXPORT_HISTOGRAM_CELLS : 1;
}

/* A quotient with nine digits from the first that is not zero. */
static char *put_rounded(char *to, double value)
{
    if (value == 0) {
        *to++ = '0';
        return to;
    }
    if (!(value >= 1e-3 && value < 1e8))
        return to + snprintf(to, EXPORT_CELL_BYTES, "%.9g", value);
    uint64_t unit = 100000000; /* the value of a 1 in the last of the nine digits */
    for (double limit = 10; value >= limit; limit *= 10)
        unit /= 10;
    for (double v = value; v < 1; v *= 10)
        unit *= 10;
    uint64_t scaled = (uint64_t)(value * (double)unit + 0.5), fraction = scaled % unit;
    to = format_uint(to, scaled / unit);
    if (fraction == 0)
        return to;
    *to++ = '.';
    while (fraction != 0) { /* below `unit`, so it is 0 at the latest with unit 1 */
        unit /= 10;
        const uint64_t digit = fraction / unit;
        *to++ = (char)('0' + digit);
        fraction -= digit * unit;
    }
    return to;
}

/* Separators and marks of one or two bytes: a call of the library costs more than they do. */
static char *put_text(char *to, const char *text)
{
    while (*text != '\0')
        *to++ = *text++;
    *to = '\0';
    return to;
}

/* The cells of one metric; each is followed by style->separator. */
static char *put_metric(char *to, ls_metric_kind kind, const metric_parts *v, const export_cell_style *style)
{
    bool absent = style->hides_zeros && v->a == 0 && (v->b == 0 || kind == LS_METRIC_KIND_RATIO);
    if (kind == LS_METRIC_KIND_RATIO) {
        char real[LS_FORMAT_BYTES];
        double quotient = v->b != 0 ? (double)v->a / (double)v->b : 0;
        if (absent || v->b == 0)
            to = put_text(to, style->absent);
        else if (style->is_exact)
            to = put_text(to, format_real(quotient, real, EXPORT_CELL_BYTES));
        else
            to = put_rounded(to, quotient);
        return put_text(to, style->separator);
    }
    if (kind != LS_METRIC_KIND_HISTOGRAM) {
        to = absent ? put_text(to, style->absent) : format_uint(to, v->a);
        return put_text(to, style->separator);
    }
    const uint64_t cells[EXPORT_HISTOGRAM_CELLS] = { v->b, v->a, v->min, v->max };
    for (size_t i = 0; i < EXPORT_HISTOGRAM_CELLS; i++) {
        bool empty = absent || (i >= 2 && v->b == 0); /* an empty one has no least and largest value */
        to = empty ? put_text(to, style->absent) : format_uint(to, cells[i]);
        to = put_text(to, style->separator);
    }
    return to;
}

char *export_put_cells(char *to, const metric_totals *totals, size_t type, const metric_type *declared,
                       const export_cell_style *style)
{
    if (!metric_totals_has(totals, type)) {
        for (size_t i = export_cell_count(declared); i > 0; i--)
            to = put_text(put_text(to, style->absent), style->separator);
        return to;
    }
    for (size_t k = 0; k < declared->metric_count; k++) {
        const metric_parts parts = metric_totals_get(totals, type, k);
        to = put_metric(to, declared->metrics[k].kind, &parts, style);
    }
    return to;
}

size_t export_cells_bytes(const metric_store *m)
{
    size_t cells = 0;
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        metric_type type = metrics_type_at(m, t);
        cells += export_cell_count(&type);
    }
    return (cells + 1) * (EXPORT_CELL_BYTES + 8);
}
