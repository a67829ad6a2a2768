/* scaling_text.c: ls_scaling as a table. Touches only the stream it was given. */
#include "report/scaling_text.h"

#include "base/text.h"

/* The largest of the three terms of a window's time, with the most threads. */
static void write_limit(const ls_scaling *s, FILE *to)
{
    uint32_t threads = s->threads[LS_SCALING_POINTS - 1];
    double shared = s->work_seconds / (threads ? threads : 1);
    double barriers = s->barrier_seconds * (double)s->windows;
    char number[32];
    if (barriers > shared && barriers > s->span_seconds)
        fprintf(to, "The barriers limit it: %s of them take %s in all; longer windows need longer links.\n",
                format_count(s->windows, number, sizeof number),
                format_si(barriers, "s", (char[32]){ 0 }, 32));
    else if (s->span_seconds >= shared)
        fprintf(to,
                "The busiest domain of each window limits it: no machine gets beyond %.2fx; split it "
                "or give it less work.\n",
                s->work_seconds / s->span_seconds);
    else
        fprintf(to, "The number of threads limits it: there is work for more than %u.\n", threads);
}

void scaling_print(const ls_scaling *s, FILE *to)
{
    if (!(s->work_seconds > 0) || !(s->span_seconds > 0)) {
        fputs("Expected scaling: nothing was measured.\n", to);
        return;
    }
    char number[32];
    fputs("Expected scaling on other machines\n\n", to);
    fputs("  threads  speed-up  efficiency\n", to);
    for (int i = 0; i < LS_SCALING_POINTS; i++)
        if (s->threads[i])
            fprintf(to, "  %7u  %7.2fx  %9.1f%%\n", s->threads[i], s->speedup[i],
                    100 * s->speedup[i] / s->threads[i]);
    fputc('\n', to);
    fprintf(to, "  work         %s  (all domains)\n", format_si(s->work_seconds, "s", number, sizeof number));
    fprintf(to, "  span         %s  (the longest domain of each window)\n",
            format_si(s->span_seconds, "s", number, sizeof number));
    fprintf(to, "  parallelism  %.2f  (work / span)\n", s->work_seconds / s->span_seconds);
    fprintf(to, "  windows      %s", format_count(s->windows, number, sizeof number));
    if (s->barrier_seconds > 0)
        fprintf(to, "  (%s per barrier)", format_si(s->barrier_seconds, "s", number, sizeof number));
    fputs("\n\n", to);
    write_limit(s, to);
}

void scaling_ranks_text(const ls_engine *engine, FILE *to)
{
    ls_scaling_ranks r;
    if (!ls_scaling_report_ranks(engine, 0, &r))
        return;
    fputs("\nExpected scaling over ranks (run --mpi), one thread each\n\n", to);
    fprintf(to, "  %5s  %12s  %14s", "ranks", "busiest rank", "bytes");
    for (int n = 0; n < LS_SCALING_NETWORKS; n++)
        fprintf(to, "  %20s", ls_scaling_networks[n].name);
    fputc('\n', to);
    for (uint32_t i = 0; ls_scaling_report_ranks(engine, i, &r); i++) {
        fprintf(to, "  %5u  %12s  %14s", r.ranks, format_si(r.busy_seconds, "s", (char[32]){ 0 }, 32),
                format_count(r.bytes, (char[32]){ 0 }, 32));
        for (int n = 0; n < LS_SCALING_NETWORKS; n++)
            fprintf(to, "  %19.2fx", r.speedup[n]);
        fputc('\n', to);
    }
    fputs("\n  networks: ", to);
    for (int n = 0; n < LS_SCALING_NETWORKS; n++)
        fprintf(to, "%s%s and %s", n > 0 ? "; " : "",
                format_si(ls_scaling_networks[n].latency_seconds, "s", (char[32]){ 0 }, 32),
                format_si(ls_scaling_networks[n].bytes_per_second, "B/s", (char[32]){ 0 }, 32));
    fputc('\n', to);
}

void scaling_groups_text(const ls_engine *engine, FILE *to)
{
    ls_scaling_group g;
    uint32_t used = 0;
    for (uint32_t i = 0; ls_scaling_report_group(engine, i, &g); i++)
        used += g.domains > 0;
    if (used < 2)
        return;
    fputs("\n  group             domains     windows      window        work        span\n", to);
    for (uint32_t i = 0; ls_scaling_report_group(engine, i, &g); i++)
        if (g.domains > 0)
            fprintf(to, "  %-16s  %7u  %10s  %10s  %10s  %10s\n", g.name, g.domains,
                    format_count(g.windows, (char[32]){ 0 }, 32),
                    format_time(g.window_fs, (char[32]){ 0 }, 32),
                    format_si(g.work_seconds, "s", (char[32]){ 0 }, 32),
                    format_si(g.span_seconds, "s", (char[32]){ 0 }, 32));
    const ls_link *limiting;
    ls_time between = ls_engine_cross_lookahead(engine, &limiting), stop = ls_engine_stop_delay(engine);
    if (between == LS_TIME_MAX)
        return;
    fprintf(to, "\nGroups meet every %s. The shortest link between them, %s, allows %s",
            format_time(between < stop ? between : stop, (char[32]){ 0 }, 32), ls_link_name(limiting),
            format_time(between, (char[32]){ 0 }, 32));
    if (stop < between)
        fprintf(to, "; a stop takes effect within %s", format_time(stop, (char[32]){ 0 }, 32));
    fputs(".\n", to);
}
