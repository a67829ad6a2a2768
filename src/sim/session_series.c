/* session_series.c: metrics over time (lockstep/sim.h). */
#include "sim/session.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static ls_status refuse(const char *text, ls_error *err)
{
    char quoted[80];
    quote_text(text, strlen(text), quoted, sizeof quoted);
    return ls_fail(err, LS_ERR_USAGE, "'%s' is no interval of time: write it as in 500ns, 2us or 1000cycles",
                   quoted);
}

/* "1000cycles" of the cores' clock, or a time. */
static ls_status parse_interval(const ls_sim *s, const char *text, ls_time *out, ls_error *err)
{
    static const char unit[] = "cycles";
    size_t bytes = strlen(text), tail = sizeof unit - 1;
    if (bytes <= tail || strcmp(text + bytes - tail, unit) != 0)
        return parse_time(text, bytes, out, err) == LS_OK ? LS_OK : refuse(text, err);
    uint64_t cycles;
    ls_status status = parse_u64(text, bytes - tail, &cycles, err);
    if (status != LS_OK)
        return refuse(text, err);
    const ls_clock *clock = session_clock(s);
    if (!clock)
        return ls_fail(err, LS_ERR_USAGE,
                       "an interval of '%s' needs a machine with cores: give a time, as in 500ns", text);
    *out = ls_clock_time(clock, cycles);
    return LS_OK;
}

ls_status session_series_begin(ls_sim *s, const ls_sim_run_options *o, ls_error *err)
{
    series_options options = { .patterns = o->series, .pattern_count = o->series_count };
    if (!o->series_every && o->series_count > 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "metrics over time need the length of an interval, as in --series-every 500ns");
    if (!o->series_every)
        return LS_OK;
    ls_status status = parse_interval(s, o->series_every, &options.every, err);
    return status == LS_OK ? series_create(s->metrics, &options, &s->series, err) : status;
}

ls_sim_series ls_sim_get_series(const ls_sim *s)
{
    if (!s->series)
        return (ls_sim_series){ 0 };
    return (ls_sim_series){ .every = series_every(s->series),
                            .intervals = series_intervals(s->series),
                            .columns = series_columns(s->series) };
}

ls_status ls_sim_get_series_column(const ls_sim *s, size_t column, ls_sim_series_column *out, ls_error *err)
{
    size_t columns = ls_sim_get_series(s).columns;
    if (column >= columns)
        return ls_fail(err, LS_ERR_USAGE, "there is no column %zu of metrics over time: there are %zu", column,
                       columns);
    series_column c = series_column_at(s->series, column);
    *out = (ls_sim_series_column){ .gpu = c.gpu,
                                   .type = c.type,
                                   .name = c.metric->name,
                                   .unit = metric_unit(c.metric),
                                   .kind = c.metric->kind };
    return LS_OK;
}

double ls_sim_series_value(const ls_sim *s, size_t interval, size_t column)
{
    ls_sim_series have = ls_sim_get_series(s);
    double value;
    return interval < have.intervals && column < have.columns &&
                   series_value(s->series, interval, column, &value)
               ? value
               : (double)NAN;
}
