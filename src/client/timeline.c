/* timeline.c: see timeline.h. */
#include "client/timeline.h"

#include "client/client.h"
#include "report/timeline/timeline.h"
#include "runtime/timing/timing.h"

#include <errno.h>
#include <string.h>

static timeline *drawn; /* NULL: none. It stays when the process ends, as the system does. */

ls_status client_timeline_begin(const client_settings *s, ls_error *err)
{
    if (s->timeline_path == NULL)
        return LS_OK;
    const timeline_options options = { .path = s->timeline_path,
                                       .format = s->timeline_format,
                                       .filters = s->timeline_filters,
                                       .filter_count = s->timeline_filter_count,
                                       .command = program_invocation_short_name };
    ls_status status = timeline_create(&options, &drawn, err);
    if (status == LS_OK)
        status = timeline_attach(drawn, timing_engine(client.system), err);
    return status == LS_OK ? LS_OK : ls_error_prefix(err, "LOCKSTEP_TIMELINE");
}

ls_status client_timeline_end(void (*warn)(const char *text), ls_error *err)
{
    size_t before = 0, count = 0;
    if (drawn == NULL)
        return LS_OK;
    ls_engine *engine = timing_engine(client.system);
    (void)ls_engine_warnings(engine, &before);
    ls_status status = timeline_write(drawn, timing_result(client.system).end_time, err);
    const ls_warning *warnings = ls_engine_warnings(engine, &count);
    for (size_t i = before; i < count; i++)
        warn(warnings[i].text);
    return status;
}
