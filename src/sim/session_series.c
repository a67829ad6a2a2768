/* session_series.c: metrics over time (lockstep/sim.h). */
#include "sim/session.h"

#include <math.h>

ls_status session_series_begin(ls_sim *s, const ls_sim_run_options *o, ls_error *err)
{
    series_options options = { .patterns = o->series, .pattern_count = o->series_count };
    if (!o->series_every && o->series_count > 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "metrics over time need the length of an interval, as in --series-every 500ns");
    if (!o->series_every)
        return LS_OK;
    ls_status status = series_parse_interval(o->series_every, session_clock(s), &options.every, err);
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
