/* session_summary.c: the summary of a simulation: what ran, warnings that a reader must know, and report/summary.h. */
#include "sim/session.h"

#include "report/ranks_text.h"
#include "report/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TITLE "\033[1m"
#define ALARM "\033[31m"
#define PLAIN "\033[0m"

static void put_head(ls_sim *s, const run_results *r, bool color, FILE *to)
{
    if (!s->has_program)
        fprintf(to, "%s%s on %s%s\n", color ? TITLE : "", s->workload ? s->workload : "-", r->platform,
                color ? PLAIN : "");
    if (r->partial)
        fprintf(to, "%sPARTIAL RESULTS%s: %s\n", color ? ALARM : "", color ? PLAIN : "",
                r->partial_reason[0] ? r->partial_reason : "the run did not end");
    summary_warnings(r->warnings, r->warning_count, color, to);
    session_sample_print(&s->sample, to);
    if (s->has_program)
        run_program_head(&s->program, to);
    else if (s->has_devices)
        run_devices_head(&s->devices, to);
    if (r->hit_rates)
        fprintf(to, "  %-22s %14s  %s\n", "hit rates", "", r->hit_rates);
}

static void put_end(const run_results *r, FILE *to)
{
    char wall[LS_FORMAT_BYTES], speed[LS_FORMAT_BYTES];
    double seconds = r->host.wall_seconds;
    fprintf(to, "\n  %s on %" PRIu32 " host thread%s", format_si(seconds, "s", wall, sizeof wall),
            r->host.threads, r->host.threads == 1 ? "" : "s");
    if (r->has_cycles && seconds > 0)
        fprintf(to, ", %s per second", format_si((double)r->cycles / seconds, "cycles", speed, sizeof speed));
    fprintf(to, "; every counter: --all\n");
}

bool session_summary(ls_sim *s, bool color, FILE *to)
{
    run_results r = session_results(s, NULL, NULL);
    if (!r.has_cycles || !r.clock)
        return false;
    summary_launch *launches = calloc(s->kernels.count + 1, sizeof *launches);
    if (!launches)
        return false;
    for (size_t i = 0; i < s->kernels.count; i++) {
        const ls_sim_kernel *k = &s->kernels.at[i].k;
        launches[i] = (summary_launch){ .name = k->name,
                                        .number = k->number,
                                        .gpu = (int32_t)k->gpu,
                                        .begin_fs = (double)k->begin,
                                        .end_fs = (double)k->end,
                                        .scope = s->kernels.at[i].scope };
    }
    const summary_input in = { .reader = facts_of_store(s->metrics, r.config_text),
                               .launches = launches,
                               .launch_count = s->kernels.count,
                               .busy_fs = (double)ls_clock_span(r.clock, r.cycles),
                               .end_fs = (double)r.end_time,
                               .color = color,
                               .source = s->source };
    put_head(s, &r, color, to);
    summary_print(&in, to);
    if (r.host.rank_count > 0) {
        fputc('\n', to);
        ranks_print(r.host.ranks, r.host.rank_count, to);
    }
    put_end(&r, to);
    free(launches);
    return true;
}
