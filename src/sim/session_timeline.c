/* session_timeline.c: the timeline of a simulation: made with the machine, written after the run. */
#include "sim/session.h"

#include "report/timeline/timeline.h"

#include "base/text.h"

#include <string.h>

ls_status session_timeline_open(ls_sim *s, const ls_sim_options *o, ls_error *err)
{
    if (o->timeline == NULL) {
        const char *without = o->timeline_format         ? "timeline-format"
                              : o->timeline_filter_count ? "timeline-filter"
                                                         : NULL;
        return without ? ls_fail(err, LS_ERR_USAGE, "--%s has no effect without --timeline FILE", without)
                       : LS_OK;
    }
    text_buffer command = { 0 };
    text_printf(&command, "lockstep run --platform %s %s", o->platform, o->workload ? o->workload : "");
    const timeline_options options = { .path = o->timeline,
                                       .format = o->timeline_format,
                                       .filters = o->timeline_filters,
                                       .filter_count = o->timeline_filter_count,
                                       .command = text_get(&command) };
    ls_status status = timeline_create(&options, &s->timeline, err);
    text_fini(&command);
    return status == LS_OK ? timeline_attach(s->timeline, s->engine, err) : status;
}

ls_status ls_sim_write_timeline(ls_sim *s, ls_error *err)
{
    if (s->timeline == NULL || !s->has_run)
        return ls_fail(err, LS_ERR_USAGE,
                       s->timeline ? "the simulation has not run" : "the simulation has no timeline");
    return timeline_write(s->timeline, s->result.end_time, err);
}

ls_status ls_sim_timeline_count(const ls_sim *s, const char *kind, uint64_t *out, ls_error *err)
{
    for (int i = 0; s->timeline != NULL && i < LS_TAP_KINDS; i++)
        if (strcmp(kind, timeline_kind_name((ls_tap_kind)i)) == 0) {
            *out = timeline_count(s->timeline, (ls_tap_kind)i);
            return LS_OK;
        }
    *out = 0;
    return s->timeline == NULL ? ls_fail(err, LS_ERR_USAGE, "the simulation has no timeline")
                               : ls_fail(err, LS_ERR_USAGE, "there is no kind '%s' on timelines", kind);
}
