/* explain_try.c: runs a result's workload again with changed keys, several at a time, and prints the gains. */
#include "sim/explain.h"

#include "base/spans.h"

#include "base/text.h"

#include <pthread.h>
#include <string.h>

#define JOBS_MAX 64

/* The experiments that threads take one after another. Number 0 is the workload as it was. */
typedef struct trial {
    pthread_mutex_t lock;
    const ls_sim_options *options;
    explain_experiment *at;
    size_t count, next;
} trial;

/* The time with a kernel at work. Kernels side by side count once. False: the host has no memory left. */
static bool busy_time(ls_sim *sim, ls_time *out)
{
    ls_sim_kernel k;
    span_list busy = { 0 };
    bool good = true;
    for (size_t i = 0; good && ls_sim_get_kernel(sim, i, &k, NULL) == LS_OK; i++)
        good = spans_add(&busy, k.begin, k.end);
    *out = busy.total;
    spans_fini(&busy);
    return good;
}

static void run_one(const ls_sim_options *base, explain_experiment *e)
{
    ls_sim_options options = *base;
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 1 };
    mem_arena arena = { 0 };
    ls_sim *sim = NULL;
    const char **sets = arena_array(&arena, base->set_count + e->set_count + 1, sizeof *sets);
    ls_status status = sets ? LS_OK : ls_fail(&e->error, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; sets && i < base->set_count + e->set_count; i++)
        sets[i] = i < base->set_count ? base->sets[i] : e->sets[i - base->set_count];
    options.sets = sets;
    options.set_count = base->set_count + e->set_count;
    if (status == LS_OK)
        status = ls_sim_open(&options, &sim, &e->error);
    if (status == LS_OK)
        status = ls_sim_run(sim, &how, &e->error);
    if (status == LS_OK) {
        e->cycles = ls_sim_get_result(sim).cycles;
        e->has_run = busy_time(sim, &e->busy);
        if (!e->has_run)
            ls_fail(&e->error, LS_ERR_NOMEM, "the host has no memory left");
    }
    ls_sim_close(sim);
    arena_fini(&arena);
}

static void *work(void *self)
{
    trial *t = self;
    for (;;) {
        pthread_mutex_lock(&t->lock);
        size_t mine = t->next++;
        pthread_mutex_unlock(&t->lock);
        if (mine >= t->count)
            return NULL;
        run_one(t->options, &t->at[mine]);
    }
}

static void run_all(trial *t, uint32_t jobs)
{
    pthread_t threads[JOBS_MAX];
    uint32_t started = 0;
    pthread_mutex_init(&t->lock, NULL);
    for (uint32_t i = 1; i < jobs && i < t->count && i < JOBS_MAX; i++)
        started += pthread_create(&threads[started], NULL, work, t) == 0;
    (void)work(t);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&t->lock);
}

static void put_row(FILE *to, const explain_experiment *e, const explain_experiment *base)
{
    char cycles[LS_FORMAT_BYTES], time[LS_FORMAT_BYTES], text[512];
    const char *title = e->rule ? e->rule->try_title : "as it is";
    if (!e->has_run) {
        fprintf(to, "  %-32.32s  not possible: %s\n", title, ls_error_text(&e->error, text, sizeof text));
        return;
    }
    fprintf(to, "  %-32.32s %14s %12s", title, format_count(e->cycles, cycles, sizeof cycles),
            format_time(e->busy, time, sizeof time));
    if (e != base)
        fprintf(to, " %+8.1f %% %8.3f x %10.0f %%", 100 * ((double)e->busy / (double)base->busy - 1),
                e->busy > 0 ? (double)base->busy / (double)e->busy : 0, 100 * e->estimate);
    fputc('\n', to);
}

ls_status explain_try(const saved_results *saved, const ls_sim_options *rerun, uint32_t jobs,
                      double result_cycles, explain_experiment *experiments, size_t count, FILE *to,
                      ls_error *err)
{
    mem_arena arena = { 0 };
    ls_sim_options options = *rerun;
    explain_experiment *all = arena_array(&arena, count + 1, sizeof *all);
    if (!all)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    /* Nothing is written again. */
    options.record = NULL;
    options.print_count = options.dump_count = 0;
    options.strict = options.verify = false;
    all[0] = (explain_experiment){ 0 };
    memcpy(all + 1, experiments, count * sizeof *all);
    trial t = { .options = &options, .at = all, .count = count + 1 };
    run_all(&t, jobs > 0 ? jobs : 1);
    ls_status status = LS_OK;
    if (!all[0].has_run) {
        char text[1024];
        status = ls_fail(err, LS_ERR_USAGE, "the run cannot be repeated: %s",
                         ls_error_text(&all[0].error, text, sizeof text));
    } else {
        fprintf(to, "\n%-34s %14s %12s %10s %10s %12s\n", "experiments", "cycles", "time", "change",
                "speed-up", "estimate");
        for (size_t i = 0; i <= count; i++)
            put_row(to, &all[i], &all[0]);
        if ((double)all[0].cycles != result_cycles)
            fprintf(to, "  %s has %.0f cycles: it was made by other options, files or another version\n",
                    saved->path, result_cycles);
    }
    arena_fini(&arena);
    return status;
}
