/* session_compare.c: two files of results side by side, for clients of lockstep/sim.h. */
#include "report/compare.h"
#include "sim/session.h"

#include <stdlib.h>

struct ls_sim_diff {
    saved_results *a, *b;
    result_diff rows;
};

ls_status ls_sim_compare(const char *path_a, const char *path_b, const ls_sim_compare_options *options,
                         ls_sim_diff **out, ls_error *err)
{
    ls_sim_compare_options o = { LS_SIM_COMPARE_OPTIONS };
    *out = NULL;
    ls_status status = options ? session_take(&o, sizeof o, options, "ls_sim_compare_options", err) : LS_OK;
    if (status == LS_OK && !(o.threshold >= 0 && o.threshold <= 1))
        status = ls_fail(err, LS_ERR_USAGE, "a threshold is from 0 to 1");
    if (status != LS_OK)
        return status;
    ls_sim_diff *d = calloc(1, sizeof *d);
    if (!d)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    const compare_options how = {
        .metric = o.metric, .kernel = o.kernel, .per_block = o.per_block, .threshold = o.threshold
    };
    status = saved_load(path_a, &d->a, err);
    if (status == LS_OK)
        status = saved_load(path_b, &d->b, err);
    if (status == LS_OK)
        status = compare_runs(d->a, d->b, &how, &d->rows, err);
    if (status != LS_OK) { /* the rows are not there */
        saved_destroy(d->a);
        saved_destroy(d->b);
        free(d);
        return status;
    }
    *out = d;
    return LS_OK;
}

void ls_sim_diff_close(ls_sim_diff *d)
{
    if (!d)
        return;
    compare_fini(&d->rows);
    saved_destroy(d->a);
    saved_destroy(d->b);
    free(d);
}

static ls_sim_diff_side side_of(const saved_results *saved)
{
    return (ls_sim_diff_side){ .path = saved->path, .platform = saved->platform, .partial = saved->partial };
}

ls_sim_diff_info ls_sim_diff_get(const ls_sim_diff *d)
{
    return (ls_sim_diff_info){
        .a = side_of(d->a),
        .b = side_of(d->b),
        .compared = d->rows.compared,
        .metrics = d->rows.rows.count,
        .times = d->rows.times.count,
        .keys = d->rows.keys.count,
        .only_a = d->rows.only_a,
        .only_b = d->rows.only_b,
    };
}

static ls_status no_row(size_t row, size_t count, ls_error *err)
{
    return ls_fail(err, LS_ERR_USAGE, "the list has %zu rows: there is no row %zu", count, row);
}

ls_status ls_sim_get_diff(const ls_sim_diff *d, ls_sim_diff_list list, size_t row, ls_sim_diff_row *out,
                          ls_error *err)
{
    bool times = list == LS_SIM_DIFF_TIMES;
    size_t count = times ? d->rows.times.count : d->rows.rows.count;
    if (row >= count)
        return no_row(row, count, err);
    const compare_row *r = times ? &d->rows.times.at[row] : &d->rows.rows.at[row];
    *out = (ls_sim_diff_row){
        .kernel = r->kernel,
        .kernel_name = r->kernel_name,
        .block = r->block,
        .type = r->type,
        .name = r->name,
        .unit = r->unit,
        .a = r->a,
        .b = r->b,
        .difference = r->difference,
    };
    return LS_OK;
}

ls_status ls_sim_get_diff_key(const ls_sim_diff *d, size_t row, ls_sim_diff_key *out, ls_error *err)
{
    if (row >= d->rows.keys.count)
        return no_row(row, d->rows.keys.count, err);
    *out = (ls_sim_diff_key){ d->rows.keys.at[row].key, d->rows.keys.at[row].a, d->rows.keys.at[row].b };
    return LS_OK;
}
