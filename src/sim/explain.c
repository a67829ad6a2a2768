/* explain.c: what limits the run of a result file, and its costliest kernels, with the evidence (lockstep/sim.h). */
#include "sim/explain.h"

#include "sim/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* One call of ls_sim_explain(). */
typedef struct explain {
    mem_arena arena;
    saved_results *saved;
    summary_saved summary;
    summary_input in;
    rule_finding *found;
    explain_experiment *experiments; /* each set of changes once */
    size_t experiment_count;
    bool color;
    FILE *to;
} explain;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* --------------------------------------------------------------------------------------------- the result */

static ls_status load(explain *x, const char *path, ls_error *err)
{
    ls_status status = saved_load(path, &x->saved, err);
    if (status != LS_OK)
        return status;
    bool has_config = x->saved->config_text[0] != 0;
    if (!has_config || !saved_has_blocks(x->saved, LS_SAVED_RUN)) {
        ls_fail(err, LS_ERR_INPUT, "it has no %s, which the rules need: write JSON or SQLite",
                has_config ? "values of single blocks" : "configuration");
        return ls_error_at(err, path, 0, 0);
    }
    x->found = calloc(rule_count, sizeof *x->found);
    x->experiments = calloc(rule_count, sizeof *x->experiments);
    if (!x->found || !x->experiments)
        return no_memory(err);
    return summary_open_saved(&x->summary, x->saved, &x->in, err);
}

/* --------------------------------------------------------------------------------------------- experiments */

/* "KEY*2", "KEY/2" or "KEY=VALUE", with a blank or the end behind it. */
static const char *one_set(mem_arena *arena, const char *change, size_t bytes, const char *config_text,
                           facts_machine machine)
{
    size_t name = strcspn(change, "*/=");
    const char *key = arena_strndup(arena, change, name), *scope = facts_is_system(config_text) ? "gpus." : "";
    double value = key && name < bytes ? facts_key_number(config_text, machine, key) : NAN;
    double factor = strtod(change + name + 1, NULL);
    if (isnan(value))
        return NULL;
    if (change[name] == '=')
        return value == factor ? NULL : arena_printf(arena, "%s%s=%g", scope, key, factor);
    double changed = change[name] == '*' ? value * factor : value / factor;
    if (value == floor(value))
        changed = changed < 1 ? 1 : floor(changed);
    /* 0 means "as the model says": there is no number to change. */
    return value == 0 || changed == value ? NULL : arena_printf(arena, "%s%s=%.10g", scope, key, changed);
}

const char **explain_sets(mem_arena *arena, const rule *r, const char *config_text, facts_machine machine,
                          size_t *count)
{
    const char *changes = rule_experiment(r, machine);
    const char **sets = arena_array(arena, 8, sizeof *sets);
    *count = 0;
    for (const char *at = changes; sets && at && *at && *count < 8;) {
        size_t bytes = strcspn(at, " ");
        const char *set = one_set(arena, at, bytes, config_text, machine);
        if (set)
            sets[(*count)++] = set;
        at += bytes + strspn(at + bytes, " ");
    }
    return *count > 0 ? sets : NULL;
}

static void add_experiment(explain *x, const rule_finding *finding, const char **sets, size_t count)
{
    size_t i = 0;
    for (; i < x->experiment_count; i++) {
        const explain_experiment *e = &x->experiments[i];
        bool same = e->set_count == count;
        for (size_t k = 0; same && k < count; k++)
            same = strcmp(e->sets[k], sets[k]) == 0;
        if (same)
            return;
    }
    x->experiments[x->experiment_count++] = (explain_experiment){
        .rule = finding->rule, .estimate = finding->gain, .sets = sets, .set_count = count
    };
}

/* ------------------------------------------------------------------------------------------------ printing */

static void put_evidence(const explain *x, const rule *r, const fact_set *facts)
{
    char text[512];
    size_t used = 0;
    for (const char *at = r->evidence; *at;) {
        size_t bytes = strcspn(at, " ");
        fact which = fact_find(at, bytes);
        char number[64];
        if (which < FACT_COUNT && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "",
                                     fact_table[which].name, fact_text(facts, which, number, sizeof number));
        at += bytes + strspn(at + bytes, " ");
    }
    fprintf(x->to, "     evidence  ");
    summary_wrap(text, 15, x->to);
}

static void put_finding(explain *x, size_t index, const rule_finding *finding, const fact_set *facts)
{
    char text[1024];
    size_t count;
    fprintf(x->to, "\n  %zu. %s%s%s: estimate %.0f %% of the time\n     ", index + 1, x->color ? BOLD : "",
            finding->rule->title, x->color ? PLAIN : "", 100 * finding->gain);
    summary_wrap(rule_sentence(finding->rule, facts, text, sizeof text), 5, x->to);
    put_evidence(x, finding->rule, facts);
    const char **sets = explain_sets(&x->arena, finding->rule, x->saved->config_text, facts->machine, &count);
    if (!sets)
        return;
    size_t used = (size_t)snprintf(text, sizeof text, "%s:", finding->rule->try_title);
    for (size_t i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " -s %s", sets[i]);
    fprintf(x->to, "     try       ");
    summary_wrap(text, 15, x->to);
    add_experiment(x, finding, sets, count);
}

static void put_findings(explain *x, const fact_set *facts)
{
    size_t count = rules_apply(facts, x->found);
    if (count == 0)
        fprintf(x->to, "\n  no rule fires: no single limit stands out\n");
    for (size_t i = 0; i < count; i++)
        put_finding(x, i, &x->found[i], facts);
}

static void put_kernels(explain *x)
{
    summary_kernel top[SUMMARY_KERNELS];
    size_t count = summary_costliest(x->in.launches, x->in.launch_count, top, SUMMARY_KERNELS);
    double all = 0;
    for (size_t i = 0; i < x->in.launch_count; i++)
        all += x->in.launches[i].end_fs - x->in.launches[i].begin_fs;
    for (size_t i = 0; i < count && x->in.launch_count > 1; i++) {
        char name[256], time[LS_FORMAT_BYTES];
        fact_set facts;
        fprintf(x->to,
                "\n%s%s%s: %" PRIu64
                " launch%s, %s, %.1f %% of the time of kernels; the longest is number %" PRIu64 "\n",
                x->color ? BOLD : "", summary_name(top[i].name, 60, name, sizeof name), x->color ? PLAIN : "",
                top[i].launches, top[i].launches == 1 ? "" : "es",
                format_time((ls_time)top[i].time_fs, time, sizeof time),
                all > 0 ? 100 * top[i].time_fs / all : 0, top[i].longest->number);
        summary_launch_facts(&x->in, top[i].longest, &facts);
        if (facts.machine == FACTS_NONE)
            fprintf(x->to, "  it ran together with others, and has no numbers of its own\n");
        else
            put_findings(x, &facts);
    }
}

static ls_status try_all(explain *x, const ls_sim_explain_options *o, double cycles, ls_error *err)
{
    ls_sim_options options;
    ls_error why = { 0 };
    if (x->experiment_count == 0) {
        fprintf(x->to, "\nno experiment: none of these rules has one for this machine\n");
        return LS_OK;
    }
    ls_status status = !x->saved->command[0] || !o->rerun
                           ? ls_fail(&why, LS_ERR_USAGE, "the result does not say how it was made")
                           : o->rerun(o->rerun_self, x->saved->command, &options, &why);
    if (status != LS_OK) {
        char text[1024];
        return ls_fail(err, LS_ERR_USAGE, "the run cannot be repeated: %s",
                       ls_error_text(&why, text, sizeof text));
    }
    return explain_try(x->saved, &options, o->jobs, cycles, x->experiments, x->experiment_count, x->to, err);
}

static ls_status explain_result(explain *x, const char *path, const ls_sim_explain_options *o, ls_error *err)
{
    fact_set facts;
    char time[LS_FORMAT_BYTES], cycles[64];
    ls_status status = load(x, path, err);
    if (status != LS_OK)
        return status;
    summary_run_facts(&x->in, &facts);
    if (facts.machine == FACTS_NONE)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "'%s' has no kernels on a GPU: there is nothing to explain",
                       path);
    fprintf(x->to, "%s%s%s: %s cycles, %s on %s%s\n", x->color ? BOLD : "", path, x->color ? PLAIN : "",
            fact_text(&facts, FACT_cycles, cycles, sizeof cycles),
            format_time((ls_time)x->in.busy_fs, time, sizeof time), x->saved->platform,
            x->saved->partial ? " (partial)" : "");
    put_findings(x, &facts);
    put_kernels(x);
    summary_instructions(&x->in, x->to);
    return o->experiments ? try_all(x, o, facts.at[FACT_cycles], err) : LS_OK;
}

ls_status ls_sim_explain(const char *result, const ls_sim_explain_options *options, FILE *to, ls_error *err)
{
    ls_sim_explain_options o = { LS_SIM_EXPLAIN_OPTIONS };
    ls_status status = options ? session_take(&o, sizeof o, options, "ls_sim_explain_options", err) : LS_OK;
    if (status != LS_OK)
        return status;
    /* A failure leaves nothing half-written. */
    char *text = NULL;
    size_t bytes = 0;
    explain x = { .to = open_memstream(&text, &bytes), .color = o.color };
    if (!x.to)
        return no_memory(err);
    status = explain_result(&x, result, &o, err);
    if (fclose(x.to) != 0 && status == LS_OK)
        status = no_memory(err);
    if (status == LS_OK)
        fwrite(text, 1, bytes, to);
    free(text);
    summary_saved_fini(&x.summary);
    free(x.found);
    free(x.experiments);
    saved_destroy(x.saved);
    arena_fini(&x.arena);
    return status;
}
