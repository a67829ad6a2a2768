/* groups.c: see groups.h. */
#include "report/groups.h"

#include <stdio.h>

/* Shares of a kernel that ran alone are in the difference since the last interval; the blocks forget them. */
static void forget_shares(const metric_store *metrics, metrics_take_fn take, void *self)
{
    enum { BYTES = 32768 };
    static _Thread_local char unused[BYTES];
    for (size_t i = 0; i < metrics_source_count(metrics); i++)
        (void)take(self, metrics_source_at(metrics, i), unused, BYTES);
}

static ls_status mark_shared(kernel_groups *g, metric_store *metrics, ls_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "(shared by %u kernels)", g->kernels);
    g->shared.kernel_name = name;
    return metrics_mark(metrics, &g->shared, err);
}

ls_status kernel_groups_mark(kernel_groups *g, metric_store *metrics, const metric_interval *kernel,
                             ls_time next_begin, metrics_take_fn take, kernel_groups_forget_fn forget,
                             void *self, ls_error *err)
{
    metric_interval interval = *kernel;
    if (!g->is_open) {
        g->shared = interval;
        g->shared.stream = LS_METRICS_NONE;
        g->shared.overlapped = g->shared.shared = true;
        g->kernels = 0;
    }
    g->shared.begin = interval.begin < g->shared.begin ? interval.begin : g->shared.begin;
    g->shared.end = interval.end > g->shared.end ? interval.end : g->shared.end;
    g->kernels++;
    interval.overlapped = g->is_open || next_begin < g->shared.end;
    interval.shared = false;
    g->is_open = next_begin < g->shared.end;
    if (!interval.overlapped) {
        if (forget != NULL)
            forget(self);
        else
            forget_shares(metrics, take, self);
        return metrics_mark(metrics, &interval, err);
    }
    ls_status status = metrics_mark_part(metrics, &interval, take, self, err);
    return status != LS_OK || g->is_open ? status : mark_shared(g, metrics, err);
}

ls_status kernel_groups_close(kernel_groups *g, metric_store *metrics, ls_error *err)
{
    if (!g->is_open)
        return LS_OK;
    g->is_open = false;
    return mark_shared(g, metrics, err);
}
