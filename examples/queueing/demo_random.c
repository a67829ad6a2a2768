/* demo_random.c: waiting times of M/D/1 and M/M/1 queues against the formulas, as a table and as a plot. */
#include "base/pool.h"
#include "base/text.h"
#include "closed_form.h"
#include "demo.h"
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum { LOADS = 9, SERVERS = 16, SERVICE_CYCLES = 1000, CURVE = 91 };

typedef struct waiting {
    uint64_t messages;
    double mean;  /* in service times */
    double error; /* half of the 95 % interval, from the spread of the servers */
} waiting;

/* Each server is one sample of the same queue: their spread is a measure of the mean's error. */
static waiting waiting_read(const rig *r)
{
    static const double student = 2.131; /* t distribution, 15 degrees of freedom, 97.5 % */
    double sum = 0, squares = 0;
    for (int i = 0; i < SERVERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "server%d", i);
        ls_histogram h = rig_histogram(r, "queueing.server", name, "wait");
        double mean = (double)h.sum / (double)h.count / SERVICE_CYCLES;
        sum += mean;
        squares += mean * mean;
    }
    ls_histogram all = rig_histogram(r, "queueing.server", NULL, "wait");
    double variance = (squares - sum * sum / SERVERS) / (SERVERS - 1);
    return (waiting){ .messages = all.count,
                      .mean = (double)all.sum / (double)all.count / SERVICE_CYCLES,
                      .error = student * sqrt(variance / SERVERS) };
}

/* Two simulations of one load, side by side: they share nothing, so each has a thread for itself. */
typedef struct waiting_pair {
    const demo *d;
    int load; /* tenths of rho */
    waiting of[2];
    bool ok[2];
} waiting_pair;

enum { FIXED, EXPONENTIAL };

/* High loads need more messages, because waits there are alike for a long time. */
static void waiting_run(void *self, uint32_t model)
{
    static const char *const names[] = { "fixed", "exponential" };
    waiting_pair *pair = self;
    char sets[160];
    snprintf(sets, sizeof sets, "server.model=%s client.load=0.000%d client.messages=%d", names[model],
             pair->load, pair->load < 8 ? 62500 : 100000);
    rig r;
    if (!demo_open(pair->d, &r, "md1.yaml", sets) || !demo_run(&r, NULL, NULL))
        return;
    pair->of[model] = waiting_read(&r);
    pair->ok[model] = true;
    rig_close(&r);
}

static bool waiting_plot(const demo *d, const waiting *fixed, const waiting *exponential)
{
    double rho[LOADS], md1[LOADS], mm1[LOADS], curve_rho[CURVE], md1_curve[CURVE], mm1_curve[CURVE];
    for (int i = 0; i < LOADS; i++) {
        rho[i] = (i + 1) / 10.0;
        md1[i] = fixed[i].mean;
        mm1[i] = exponential[i].mean;
    }
    for (int i = 0; i < CURVE; i++) {
        curve_rho[i] = i / 100.0;
        md1_curve[i] = md1_wait(curve_rho[i]);
        mm1_curve[i] = mm1_wait(curve_rho[i]);
    }
    const plot_series series[] = {
        { "M/D/1 formula", curve_rho, md1_curve, CURVE, LS_PLOT_LINE },
        { "M/D/1 simulated", rho, md1, LOADS, LS_PLOT_POINTS },
        { "M/M/1 formula", curve_rho, mm1_curve, CURVE, LS_PLOT_LINE },
        { "M/M/1 simulated", rho, mm1, LOADS, LS_PLOT_POINTS },
    };
    const plot_figure plot = { .title = "Mean wait in a queue",
                               .x_label = "utilisation rho",
                               .y_label = "mean wait",
                               .y_unit = "service times",
                               .x_zero = true,
                               .y_zero = true,
                               .series = series,
                               .series_count = LS_COUNT_OF(series) };
    ls_error err;
    char path[1024];
    printf("\n");
    mkdir(d->out, 0777); /* if it cannot be made, writing the file says why */
    snprintf(path, sizeof path, "%s/md1.svg", d->out);
    plot_text_options options = { .columns = 100, .rows = 24, .color = d->color };
    if (plot_write_text(&plot, &options, stdout, &err) || plot_write_svg(&plot, path, &err))
        return demo_failed(&err);
    printf("\n  The same plot: %s\n", path);
    return true;
}

/* Good: closer than twice the interval, and at rho 0.5 (a million messages) closer than 1 %. */
static bool waiting_print(const demo *d, double rho, const waiting *fixed, const waiting *exponential)
{
    double md1 = md1_wait(rho), mm1 = mm1_wait(rho);
    double md1_error = fixed->mean / md1 - 1, mm1_error = exponential->mean / mm1 - 1;
    bool good =
        fabs(fixed->mean - md1) < 2 * fixed->error && fabs(exponential->mean - mm1) < 2 * exponential->error;
    if (rho > 0.45 && rho < 0.55)
        good &= fixed->messages >= 1000000 && fabs(md1_error) < 0.01;
    char messages[32];
    printf("  %5.1f %10s  %8.4f %8.4f %8.4f %+7.2f%%   %8.4f %8.4f %8.4f %+7.2f%%  %s\n", rho,
           format_count(fixed->messages, messages, sizeof messages), md1, fixed->mean, fixed->error,
           100 * md1_error, mm1, exponential->mean, exponential->error, 100 * mm1_error,
           demo_verdict(d, good));
    fflush(stdout);
    return good;
}

bool demo_waiting(const demo *d)
{
    demo_heading(d, 3, "Waiting times of random traffic: M/D/1 and M/M/1");
    printf(
        "  16 Poisson clients send to 16 servers at random. Mean wait in units of the service time S:\n"
        "  M/D/1 (every service takes S): rho / (2 (1 - rho)); M/M/1 (exponential, mean S): rho / (1 - rho).\n"
        "  S is 1000 cycles, so that arrivals on whole cycles are as good as arrivals at any time.\n"
        "  +- is the 95 %% interval that the spread of the 16 servers gives.\n\n");
    printf("  %5s %10s  %-35s   %-35s\n", "", "", "   M/D/1", "   M/M/1");
    printf("  %5s %10s  %8s %8s %8s %8s   %8s %8s %8s %8s\n", "rho", "messages", "formula", "mean", "+-",
           "error", "formula", "mean", "+-", "error");
    waiting fixed[LOADS], exponential[LOADS];
    thread_pool *pool;
    ls_error err;
    if (pool_create(2, &pool, &err))
        return demo_failed(&err);
    bool ok = true, complete = true;
    for (int i = 0; i < LOADS && complete; i++) {
        waiting_pair pair = { .d = d, .load = i + 1 };
        pool_run(pool, waiting_run, &pair);
        complete = pair.ok[FIXED] && pair.ok[EXPONENTIAL];
        fixed[i] = pair.of[FIXED];
        exponential[i] = pair.of[EXPONENTIAL];
        if (complete)
            ok &= waiting_print(d, pair.load / 10.0, &fixed[i], &exponential[i]);
    }
    pool_destroy(pool);
    return complete && waiting_plot(d, fixed, exponential) && ok;
}
