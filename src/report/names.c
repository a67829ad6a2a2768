/* names.c: metrics of this simulator under the names of other tools. */
#include "report/names.h"

#include "base/text.h"
#include "base/vec.h"
#include "report/export_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXACT NAMES_EXACT
#define APPROXIMATE NAMES_APPROXIMATE
#define NAME(name_, unit_, how_, scale_, numerator_, denominator_, remark_)                                   \
    { (name_), (unit_), (how_), (scale_), (numerator_), (denominator_), (remark_) },
/* clang-format off */
static const names_entry ncu[] = {
#include "report/names_ncu.def"
};
static const names_entry rocprof[] = {
#include "report/names_rocprof.def"
};
/* clang-format on */

const names_entry *names_list(names_kind kind, size_t *count)
{
    *count = kind == NAMES_NCU ? LS_COUNT_OF(ncu) : LS_COUNT_OF(rocprof);
    return kind == NAMES_NCU ? ncu : rocprof;
}

/* ------------------------------------------------------------------------------------------------- terms */

/* Facts of one kernel that are no metrics. */
typedef struct kernel_facts {
    double cycles, ns, lanes;
} kernel_facts;

/* A product of facts and at most one metric. */
typedef struct term {
    bool cycles, ns, lanes;
    double factor;         /* counts of blocks */
    uint32_t first, count; /* of names.places: the metric in each type that has it; 0: no metric */
} term;

typedef struct place {
    uint32_t type, metric;
} place;

typedef struct resolved {
    const names_entry *entry;
    uint32_t first, numerators, denominators; /* of names.terms */
} resolved;

/* The names that the machine has, resolved once for all kernels. */
typedef struct names {
    const metric_store *m;
    metric_totals *totals;
    LS_VEC(place) places;
    LS_VEC(term) terms;
    LS_VEC(resolved) list;
    bool failed; /* no memory */
} names;

static void count_blocks(const names *n, const char *pattern, term *out)
{
    size_t blocks = 0;
    for (size_t t = 0; t < metrics_type_count(n->m); t++)
        if (glob_match(pattern, metrics_type_at(n->m, t).name))
            blocks += metrics_type_at(n->m, t).sources;
    out->factor *= (double)blocks;
}

/* "type.name". False if no type has the metric. */
static bool find_metric(names *n, const char *text, term *out)
{
    const char *dot = strrchr(text, '.');
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%.*s", dot ? (int)(dot - text) : 0, text);
    out->first = (uint32_t)n->places.count;
    for (uint32_t t = 0; t < metrics_type_count(n->m); t++) {
        metric_type type = metrics_type_at(n->m, t);
        for (uint32_t k = 0; glob_match(pattern, type.name) && k < type.metric_count; k++)
            if (strcmp(type.metrics[k].name, dot + 1) == 0) {
                const place found = { t, k };
                n->failed = !vec_push(&n->places, found) || n->failed;
                out->count++;
            }
    }
    return out->count > 0;
}

static bool read_factor(names *n, const char *text, term *out)
{
    if (strcmp(text, "@cycles") == 0)
        return out->cycles = true;
    if (strcmp(text, "@ns") == 0)
        return out->ns = true;
    if (strcmp(text, "@lanes") == 0)
        return out->lanes = true;
    if (strncmp(text, "@count:", 7) != 0)
        return find_metric(n, text, out);
    count_blocks(n, text + 7, out);
    return out->factor > 0;
}

/* A sum of terms; false if the machine lacks all of its metrics. Single ones may be missing: no GPU has every cache. */
static bool read_sum(names *n, const char *text, uint32_t *count)
{
    for (*count = 0; *text;) {
        size_t bytes = strcspn(text, " ");
        char word[160];
        term t = { .factor = 1 };
        bool has = true;
        for (size_t at = 0; at < bytes && has;) {
            size_t part = strcspn(text + at, "& ");
            snprintf(word, sizeof word, "%.*s", (int)part, text + at);
            has = read_factor(n, word, &t);
            at += part + 1;
        }
        if (has) {
            n->failed = !vec_push(&n->terms, t) || n->failed;
            (*count)++;
        }
        text += bytes + (text[bytes] == ' ');
    }
    return *count > 0;
}

static void names_fini(names *n)
{
    metric_totals_destroy(n->totals);
    vec_fini(&n->places);
    vec_fini(&n->terms);
    vec_fini(&n->list);
}

static void resolve(names *n, names_kind kind)
{
    size_t count;
    const names_entry *entries = names_list(kind, &count);
    for (size_t i = 0; i < count; i++) {
        resolved r = { .entry = &entries[i], .first = (uint32_t)n->terms.count };
        bool has = read_sum(n, entries[i].numerator, &r.numerators);
        if (has && entries[i].denominator[0])
            has = read_sum(n, entries[i].denominator, &r.denominators);
        if (has)
            n->failed = !vec_push(&n->list, r) || n->failed;
    }
}

/* Without totals: only to see which names there are. */
static ls_status names_init(names *n, names_kind kind, const metric_store *m, bool with_totals, ls_error *err)
{
    *n = (names){ .m = m };
    resolve(n, kind);
    ls_status status = n->failed ? ls_fail(err, LS_ERR_NOMEM, "no memory for results") : LS_OK;
    return status == LS_OK && with_totals ? metric_totals_create(m, &n->totals, err) : status;
}

static double term_value(const names *n, const term *t, const kernel_facts *k)
{
    double value = t->factor * (t->cycles ? k->cycles : 1) * (t->ns ? k->ns : 1) * (t->lanes ? k->lanes : 1);
    if (t->count == 0)
        return value;
    double sum = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const place *p = &n->places.at[t->first + i];
        sum += (double)metric_totals_get(n->totals, p->type, p->metric).a;
    }
    return value * sum;
}

/* False: a ratio over zero. */
static bool value_of(const names *n, const resolved *r, const kernel_facts *k, double *out)
{
    double numerator = 0, denominator = r->denominators ? 0 : 1;
    for (uint32_t i = 0; i < r->numerators; i++)
        numerator += term_value(n, &n->terms.at[r->first + i], k);
    for (uint32_t i = 0; i < r->denominators; i++)
        denominator += term_value(n, &n->terms.at[r->first + r->numerators + i], k);
    *out = denominator > 0 ? r->entry->scale * numerator / denominator : 0;
    return denominator > 0;
}

ls_status names_check(names_kind kind, const metric_store *m, ls_error *err)
{
    names n;
    ls_status status = names_init(&n, kind, m, false, err);
    /* Both tools know DRAM; the machine must have the cores that the names are about. */
    bool fits = false;
    for (size_t t = 0; t < metrics_type_count(m); t++)
        fits = fits || glob_match(kind == NAMES_NCU ? "core/*" : "cu/*", metrics_type_at(m, t).name);
    if (status == LS_OK && !fits)
        status = ls_fail(err, LS_ERR_USAGE, "names of %s are for %s: this machine has none of their counters",
                         kind == NAMES_NCU ? "ncu" : "rocprof",
                         kind == NAMES_NCU ? "traces of NVIDIA GPUs" : "programs of AMD GPUs");
    names_fini(&n);
    return status;
}

/* ----------------------------------------------------------------------------------------------- printing */

static void put_number(FILE *to, bool has, double value)
{
    if (has)
        fprintf(to, "%.15g", value);
}

static void put_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static kernel_facts facts_of(const run_results *r, const metric_interval *kernel)
{
    uint64_t cycles = 0;
    export_cycles(r, kernel, &cycles);
    return (kernel_facts){ .cycles = (double)cycles, .ns = (double)(kernel->end - kernel->begin) * 1e-6 };
}

static void put_ncu_kernel(const names *n, const run_results *r, const metric_interval *kernel, FILE *to)
{
    kernel_facts facts = facts_of(r, kernel);
    for (size_t i = 0; i < n->list.count; i++) {
        const names_entry *e = n->list.at[i].entry;
        double value;
        bool has = value_of(n, &n->list.at[i], &facts, &value);
        fprintf(to, "\"%" PRIu64 "\",\"0\",\"lockstep\",\"127.0.0.1\",",
                kernel->kernel - (kernel->kernel > 0));
        put_quoted(to, kernel->kernel_name);
        fprintf(to, ",\"\",\"1\",\"%" PRId64 "\",\"Command line profiler metrics\",\"%s\",\"%s\",\"",
                kernel->stream < 0 ? 0 : kernel->stream, e->name, e->unit);
        put_number(to, has, value);
        fputs("\"\n", to);
    }
}

ls_status names_print_ncu(const run_results *r, FILE *to, ls_error *err)
{
    names n;
    ls_status status = names_init(&n, NAMES_NCU, r->metrics, true, err);
    fputs(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\","
        "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n",
        to);
    for (size_t i = 0; status == LS_OK && i < metrics_interval_count(r->metrics); i++) {
        const metric_interval *kernel = metrics_interval_at(r->metrics, i);
        status = metric_totals_load(n.totals, i, err);
        if (status == LS_OK && !kernel->shared)
            put_ncu_kernel(&n, r, kernel, to);
    }
    names_fini(&n);
    return status;
}

static void put_rocprof_launch(const names *n, const run_results *r, const names_launch *l, size_t index,
                               FILE *to)
{
    kernel_facts facts = facts_of(r, metrics_interval_at(r->metrics, l->interval));
    facts.lanes = l->lanes;
    fprintf(to, "%zu,", index);
    put_quoted(to, l->kernel);
    fprintf(to, ",%" PRIu32 ",0,%" PRIu64 ",0,0,%" PRIu64 ",%" PRIu64, l->gpu, l->number, l->grid, l->group);
    fprintf(to, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",0,%" PRIu32 ",%" PRIu32 ",0x0,0x0", l->lds_bytes,
            l->scratch_bytes, l->vgprs, l->sgprs, l->lanes);
    uint64_t queued = l->queued / 1000000, begin = l->begin / 1000000, end = l->end / 1000000;
    fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, queued, begin, end, end,
            end - begin);
    for (size_t i = 0; i < n->list.count; i++) {
        double value;
        bool has = value_of(n, &n->list.at[i], &facts, &value);
        fputc(',', to);
        put_number(to, has, value);
    }
    fputc('\n', to);
}

ls_status names_print_rocprof(const run_results *r, const names_launch *launches, size_t count, FILE *to,
                              ls_error *err)
{
    names n;
    ls_status status = names_init(&n, NAMES_ROCPROF, r->metrics, true, err);
    fputs(
        "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,"
        "DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs",
        to);
    for (size_t i = 0; i < n.list.count; i++)
        fprintf(to, ",%s", n.list.at[i].entry->name);
    fputc('\n', to);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        status = metric_totals_load(n.totals, launches[i].interval, err);
        if (status == LS_OK)
            put_rocprof_launch(&n, r, &launches[i], i, to);
    }
    names_fini(&n);
    return status;
}
