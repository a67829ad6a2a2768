/* groups.h: intervals of kernels that may run side by side.
 *
 * A kernel that ran alone has everything that was counted since the last interval. Kernels that overlap,
 * directly or through others, form a group. Each has the counts that blocks keep per kernel. When the last of
 * them has ended, an interval of its own, marked as shared, has the rest. So sums over intervals are the run's
 * values in either case. */
#ifndef REPORT_GROUPS_H
#define REPORT_GROUPS_H

#include "report/metrics.h"

/* All zero is the start. */
typedef struct kernel_groups {
    bool is_open;
    metric_interval shared;
    uint32_t kernels; /* of the group */
} kernel_groups;

/* Blocks forget the kernel's counts: nothing reads them. */
typedef void (*kernel_groups_forget_fn)(void *self);

/* Once per kernel, in the order of ends. next_begin: the begin of the first kernel whose end was not reported
 * yet; LS_TIME_MAX: there is none. take and self as for metrics_mark_part(). forget does the same for all
 * blocks at once, without the counts; NULL: take is called for each. The flags of *kernel are set here. */
ls_status kernel_groups_mark(kernel_groups *groups, metric_store *metrics, const metric_interval *kernel,
                             ls_time next_begin, metrics_take_fn take, kernel_groups_forget_fn forget,
                             void *self, ls_error *err);
/* At the end of a run whose last group is still open: the interval with its shared values. */
ls_status kernel_groups_close(kernel_groups *groups, metric_store *metrics, ls_error *err);

#endif
