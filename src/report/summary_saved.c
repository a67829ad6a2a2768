/* summary_saved.c: a result file as the input of a summary. */
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

/* Intervals that kernels share are none. */
static bool is_shared(const saved_kernel *k)
{
    return strncmp(k->name, "(shared by ", 11) == 0;
}

ls_status summary_open_saved(summary_saved *s, const saved_results *saved, summary_input *in, ls_error *err)
{
    in->reader = facts_of_saved(&s->reading, saved);
    s->launches = calloc(saved->kernels.count + 1, sizeof *s->launches);
    if (!s->launches || !s->reading.totals)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; i < saved->kernels.count; i++) {
        const saved_kernel *k = &saved->kernels.at[i];
        if (!is_shared(k))
            s->launches[in->launch_count++] = (summary_launch){ .name = k->name,
                                                                .number = k->id,
                                                                .gpu = k->gpu,
                                                                .begin_fs = k->begin_fs,
                                                                .end_fs = k->end_fs,
                                                                .scope = i + 1 };
    }
    in->launches = s->launches;
    in->busy_fs = summary_busy(s->launches, in->launch_count, LS_METRICS_NONE);
    in->end_fs = saved->end_time_fs;
    in->source = saved->source;
    return LS_OK;
}

void summary_saved_fini(summary_saved *s)
{
    facts_saved_fini(&s->reading);
    free(s->launches);
    s->launches = NULL;
}
