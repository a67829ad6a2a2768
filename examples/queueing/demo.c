/* demo.c: the queueing machine against theory, shown by `make demo`. Usage: queueing-demo [FOLDER [OUT]],
 * where FOLDER has the platform files (examples/queueing) and OUT gets the plot (build/demo). */
#include "demo.h"

#include "base/pool.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------- printing */

void demo_heading(const demo *d, int number, const char *title)
{
    printf("\n%s%d. %s%s\n\n", d->color ? "\033[1m" : "", number, title, d->color ? "\033[0m" : "");
}

const char *demo_verdict(const demo *d, bool ok)
{
    if (d->color)
        return ok ? "\033[32mok\033[0m" : "\033[31mWRONG\033[0m";
    return ok ? "ok" : "WRONG";
}

bool demo_failed(const ls_error *err)
{
    char text[1024];
    fflush(stdout);
    fprintf(stderr, "queueing-demo: %s\n", ls_error_text(err, text, sizeof text));
    return false;
}

bool demo_open(const demo *d, rig *r, const char *file, const char *sets)
{
    ls_error err;
    return rig_open(r, d->folder, file, sets, &err) ? demo_failed(&err) : true;
}

bool demo_run(rig *r, const ls_run_options *options, ls_run_result *result)
{
    ls_error err;
    if (!ls_run(r->engine, options, result, &err))
        return true;
    rig_close(r);
    return demo_failed(&err);
}

/* ------------------------------------------------------------------------------------------- determinism */

static bool demo_threads(const demo *d)
{
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    demo_heading(d, 4, "The same bits on any number of threads");
    printf(
        "  16 clients and 8 servers under load: two clocks, few credits, bounded queues, random everything.\n"
        "  The hash covers every counter and histogram of every block. This host has %u CPUs; what is fast\n"
        "  depends on it, what is simulated does not.\n\n",
        cpu_count());
    printf("  %7s  %-16s %12s %12s %10s %14s\n", "threads", "hash of counters", "messages", "events",
           "seconds", "events/second");
    uint64_t first = 0;
    bool ok = true;
    for (size_t i = 0; i < LS_COUNT_OF(threads); i++) {
        rig r;
        ls_run_result result;
        ls_error err;
        uint64_t hash;
        if (!demo_open(d, &r, "busy.yaml", "client.messages=50000"))
            return false;
        uint64_t start = host_clock_ns();
        if (!demo_run(&r, &(ls_run_options){ .threads = threads[i] }, &result))
            return false;
        double seconds = (double)(host_clock_ns() - start) / 1e9;
        ls_status status = rig_hash(&r, &hash, &err);
        rig_close(&r);
        if (status)
            return demo_failed(&err);
        first = i == 0 ? hash : first;
        ok &= hash == first;
        uint64_t events = result.events + result.messages + result.ticks;
        char messages_text[32], events_text[32], rate_text[32];
        printf("  %7u  %016llx %12s %12s %10.2f %14s  %s\n", threads[i], (unsigned long long)hash,
               format_count(result.messages, messages_text, sizeof messages_text),
               format_count(events, events_text, sizeof events_text), seconds,
               format_count((uint64_t)((double)events / seconds), rate_text, sizeof rate_text),
               demo_verdict(d, hash == first));
        fflush(stdout);
    }
    return ok;
}

/* ---------------------------------------------------------------------------------------------- deadlock */

/* The report up to and including its cycle of waiters. */
static void print_cycle(const char *report)
{
    const char *end = strstr(report, "all waiters");
    size_t bytes = end ? (size_t)(end - report) : strlen(report);
    while (bytes > 0) {
        const char *newline = memchr(report, '\n', bytes);
        size_t line = newline ? (size_t)(newline - report) + 1 : bytes;
        printf("    %.*s", (int)line, report);
        report += line;
        bytes -= line;
    }
}

static bool demo_deadlock(const demo *d)
{
    demo_heading(d, 5, "A deadlock has a name");
    printf(
        "  Three servers in a ring keep a request until the next one has room. When the ring is full nobody\n"
        "  can move; the run ends at once and says who waits for whom:\n\n");
    rig r;
    ls_error err;
    if (!demo_open(d, &r, "deadlock.yaml", ""))
        return false;
    ls_status status = ls_run(r.engine, &(ls_run_options){ .threads = d->threads }, NULL, &err);
    if (status == LS_ERR_DEADLOCK)
        print_cycle(ls_engine_report(r.engine));
    rig_close(&r);
    if (status == LS_ERR_DEADLOCK)
        return true;
    if (status)
        return demo_failed(&err);
    printf("  no deadlock: %s\n", demo_verdict(d, false));
    return false;
}

int main(int argc, char **argv)
{
    const demo d = {
        .folder = argc > 1 ? argv[1] : "examples/queueing",
        .out = argc > 2 ? argv[2] : "build/demo",
        .threads = 2,
        .color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
    };
    uint64_t start = host_clock_ns();
    printf("Lockstep %s: a machine of queues, simulated and calculated\n", LS_VERSION_STRING);
    bool ok = demo_latency(&d);
    ok = demo_saturation(&d) && ok;
    ok = demo_waiting(&d) && ok;
    ok = demo_threads(&d) && ok;
    ok = demo_deadlock(&d) && ok;
    printf("\n%s in %.1f seconds\n", ok ? "Everything agrees" : "SOMETHING IS WRONG",
           (double)(host_clock_ns() - start) / 1e9);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
