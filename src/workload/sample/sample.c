/* sample.c: see sample.h. */
#include "workload/sample/sample.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "workload/sample/sample_blocks.h"
#include "workload/sample/sample_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- the option */

static const char *const words[] = { "sieve", "blocks", "error=2%", "cold" };

static ls_status read_error(const char *text, size_t bytes, double *out, ls_error *err)
{
    char copy[32], *end;
    snprintf(copy, sizeof copy, "%.*s", (int)(bytes < sizeof copy ? bytes : sizeof copy - 1), text);
    double value = strtod(copy, &end);
    if (end == copy || strcmp(end, "%") != 0 || !(value >= 0.1 && value <= 50))
        return ls_fail(err, LS_ERR_USAGE,
                       "--sample error=%s: the error is 0.1%% to 50%% of the total, as in error=2%%", copy);
    *out = value / 100;
    return LS_OK;
}

ls_status sample_spec_read(const char *text, sample_spec *out, ls_error *err)
{
    *out = (sample_spec){ 0 };
    for (const char *at = text; at != NULL; at = strchr(at, ','), at = at != NULL ? at + 1 : NULL) {
        size_t bytes = strcspn(at, ",");
        ls_status status = LS_OK;
        if (bytes == 5 && strncmp(at, "sieve", 5) == 0)
            out->kernels = true;
        else if (bytes == 6 && strncmp(at, "blocks", 6) == 0)
            out->blocks = true;
        else if (bytes == 4 && strncmp(at, "cold", 4) == 0)
            out->cold = true;
        else if (bytes > 6 && strncmp(at, "error=", 6) == 0)
            status = read_error(at + 6, bytes - 6, &out->error, err);
        else {
            char word[64], quoted[80];
            snprintf(word, sizeof word, "%.*s", (int)(bytes < sizeof word ? bytes : sizeof word - 1), at);
            ls_fail(err, LS_ERR_USAGE,
                    "--sample cannot be '%s': sieve, error=PERCENT, blocks, or several with commas",
                    quote_text(word, strlen(word), quoted, sizeof quoted));
            return ls_error_nearest(err, nearest_of(word, words, LS_COUNT_OF(words)));
        }
        if (status != LS_OK)
            return status;
        out->kernels = out->kernels || out->error > 0;
    }
    if (out->cold && !out->kernels)
        return ls_fail(err, LS_ERR_USAGE,
                       "--sample cold is about kernels that others stand for: add sieve or error=2%%");
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ the plan */

typedef struct unit {
    uint64_t name, shape; /* name: its number among the names */
    uint64_t instructions;
    uint32_t stratum;
    uint32_t index; /* in the order of adding */
    bool is_first;  /* of its name: instruction caches and TLBs are empty. It stands for no other */
    bool chosen, is_measured;
    sample_measure measure;
} unit;

typedef struct stratum {
    sample_stratum sums;
    uint32_t *members; /* in the order of the workload */
    uint64_t chosen;   /* how many so far */
    uint64_t turn;     /* of the sequence that spreads them */
} stratum;

struct sample_plan {
    sample_spec spec;
    mem_arena arena;
    string_map names;
    LS_VEC(unit) units;
    stratum *strata;
    size_t stratum_count;
    uint64_t rounds, measured;
    uint64_t *wanted; /* scratch, by stratum */
    sample_stratum *sums;
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for a sample");
}

ls_status sample_plan_create(const sample_spec *spec, sample_plan **out, ls_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return no_memory(err);
    (*out)->spec = *spec;
    return LS_OK;
}

void sample_plan_destroy(sample_plan *p)
{
    if (p == NULL)
        return;
    vec_fini(&p->units);
    map_fini(&p->names);
    arena_fini(&p->arena);
    free(p);
}

ls_status sample_plan_add(sample_plan *p, const char *name, uint64_t shape, uint64_t instructions,
                          ls_error *err)
{
    uintptr_t number = (uintptr_t)map_get(&p->names, name);
    bool is_first = number == 0;
    if (is_first) {
        number = p->names.count + 1;
        if (!map_put(&p->names, name, (void *)number))
            return no_memory(err);
    }
    const unit u = { .name = number,
                     .shape = shape,
                     .instructions = instructions,
                     .index = (uint32_t)p->units.count,
                     .is_first = is_first };
    return vec_push(&p->units, u) ? LS_OK : no_memory(err);
}

static int by_stratum(const void *a, const void *b)
{
    const unit *x = *(unit *const *)a, *y = *(unit *const *)b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->is_first != y->is_first)
        return x->is_first ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Numbers strata from the sorted list. Without sampling between kernels each is its own. */
static size_t number_strata(const sample_plan *p, unit **sorted)
{
    size_t count = 0;
    const unit *first = NULL;
    for (size_t i = 0; i < p->units.count; i++) {
        unit *u = sorted[i];
        bool same = p->spec.kernels && first != NULL && !first->is_first && u->name == first->name &&
                    u->shape == first->shape &&
                    (double)u->instructions <= SAMPLE_SPREAD * (double)first->instructions;
        if (!same) {
            first = u;
            count++;
        }
        u->stratum = (uint32_t)(count - 1);
    }
    return count;
}

static bool make_strata(sample_plan *p)
{
    unit **sorted = malloc((p->units.count + 1) * sizeof(unit *));
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < p->units.count; i++)
        sorted[i] = &p->units.at[i];
    qsort(sorted, p->units.count, sizeof *sorted, by_stratum);
    p->stratum_count = number_strata(p, sorted);
    free(sorted);
    p->strata = arena_array(&p->arena, p->stratum_count + 1, sizeof *p->strata);
    p->wanted = arena_array(&p->arena, p->stratum_count + 1, sizeof *p->wanted);
    p->sums = arena_array(&p->arena, p->stratum_count + 1, sizeof *p->sums);
    uint32_t *members = arena_array(&p->arena, p->units.count + 1, sizeof *members);
    if (p->strata == NULL || p->wanted == NULL || p->sums == NULL || members == NULL)
        return false;
    memset(p->strata, 0, (p->stratum_count + 1) * sizeof *p->strata);
    for (size_t i = 0; i < p->units.count; i++) {
        sample_stratum *s = &p->strata[p->units.at[i].stratum].sums;
        s->units++;
        s->size += (double)p->units.at[i].instructions;
    }
    for (size_t h = 0; h < p->stratum_count; h++) {
        p->strata[h].members = members;
        members += p->strata[h].sums.units;
        p->wanted[h] = 0;
    }
    for (size_t i = 0; i < p->units.count; i++) {
        uint32_t h = p->units.at[i].stratum;
        p->strata[h].members[p->wanted[h]++] = (uint32_t)i;
    }
    return true;
}

/* Chooses one more of the members from kernel `next` on. Multiples of the golden ratio spread any number of them evenly; a
 * place that is taken gives its turn to the one after it. */
static bool choose_one(sample_plan *p, stratum *s, size_t next)
{
    const double golden = 0.6180339887498949;
    double place = 0.5 + golden * (double)s->turn;
    uint64_t units = s->sums.units, first = 0;
    while (first < units && p->units.at[s->members[first]].index < next)
        first++;
    uint64_t at = first + (uint64_t)((place - floor(place)) * (double)(units - first));
    if (p->spec.in_order && p->spec.error > 0 && p->rounds == 0)
        at = s->turn < units ? s->turn : 0; /* early */
    s->turn++;
    for (uint64_t i = first; i < units; i++, at = at + 1 < units ? at + 1 : first) {
        unit *u = &p->units.at[s->members[at]];
        if (u->chosen)
            continue;
        u->chosen = true;
        s->chosen++;
        return true;
    }
    return false;
}

/* Two members show how much they differ. A stratum with much of the work gets more of them; one that has two members
 * gets one, except where an error is the goal. */
static uint64_t first_choice(const sample_plan *p, const stratum *s, double all)
{
    uint64_t units = s->sums.units;
    if (!p->spec.kernels)
        return units;
    double share = all > 0 ? s->sums.size / all : 0;
    uint64_t want = units <= 2 && p->spec.error == 0 ? 1 : share >= 0.2 ? 4 : share >= 0.05 ? 3 : 2;
    return want < units ? want : units;
}

ls_status sample_plan_begin(sample_plan *p, ls_error *err)
{
    double all = 0;
    if (!make_strata(p))
        return no_memory(err);
    for (size_t h = 0; h < p->stratum_count; h++)
        all += p->strata[h].sums.size;
    for (size_t h = 0; h < p->stratum_count; h++)
        for (uint64_t n = first_choice(p, &p->strata[h], all); n > 0; n--)
            (void)choose_one(p, &p->strata[h], 0);
    p->rounds = 1;
    return LS_OK;
}

size_t sample_plan_count(const sample_plan *p)
{
    return p->units.count;
}

uint64_t sample_plan_instructions(const sample_plan *p, size_t kernel)
{
    return p->units.at[kernel].instructions;
}

uint64_t sample_plan_stratum(const sample_plan *p, size_t kernel)
{
    return p->units.at[kernel].stratum;
}

bool sample_plan_wants(const sample_plan *p, size_t kernel)
{
    return kernel < p->units.count && p->units.at[kernel].chosen && !p->units.at[kernel].is_measured;
}

void sample_plan_measured(sample_plan *p, size_t kernel, const sample_measure *measure)
{
    unit *u = &p->units.at[kernel];
    u->is_measured = true;
    u->measure = *measure;
    p->measured++;
    sample_stratum_add(&p->strata[u->stratum].sums, (double)u->instructions, measure->cycles,
                       measure->variance);
}

/* ------------------------------------------------------------------------------------------------ choosing */

/* Strata with a measured unit, for the statistics. A total that lacks a stratum is no total: then nothing is known. */
static bool collect(const sample_plan *p)
{
    for (size_t h = 0; h < p->stratum_count; h++) {
        p->sums[h] = p->strata[h].sums;
        if (p->sums[h].measured == 0)
            return false;
    }
    return p->stratum_count > 0;
}

/* The allowance for bias is part of the interval, so it is no part of what sampling may use up. */
static double sampling_goal(const sample_plan *p)
{
    double bias = SAMPLE_BIAS < p->spec.error / 2 ? SAMPLE_BIAS : p->spec.error / 2;
    return p->spec.error - bias;
}

static bool choose_more(sample_plan *p, size_t next)
{
    bool any = false;
    if (p->spec.error == 0 || !collect(p))
        return false;
    if (sample_allocate(p->sums, p->stratum_count, sampling_goal(p), p->wanted) == 0)
        return false;
    for (size_t h = 0; h < p->stratum_count; h++)
        while (p->strata[h].chosen < p->wanted[h] && choose_one(p, &p->strata[h], next))
            any = true;
    p->rounds += any;
    return any;
}

bool sample_plan_more(sample_plan *p)
{
    return choose_more(p, 0);
}

void sample_plan_look(sample_plan *p, size_t next)
{
    if (p->spec.error == 0)
        return;
    for (size_t i = 0; i < p->units.count; i++) /* decide when what was chosen is known */
        if (p->units.at[i].chosen && !p->units.at[i].is_measured)
            return;
    (void)choose_more(p, next);
}

/* ------------------------------------------------------------------------------------------------- results */

static void count_measured(const sample_plan *p, sample_result *out)
{
    for (size_t i = 0; i < p->units.count; i++) {
        const unit *u = &p->units.at[i];
        out->instructions += u->instructions;
        if (!u->is_measured)
            continue;
        double share =
            u->measure.blocks > 0 ? (double)u->measure.simulated_blocks / (double)u->measure.blocks : 1;
        out->simulated_kernels++;
        out->simulated_instructions += (uint64_t)(share * (double)u->instructions);
        out->simulated_cycles += (double)u->measure.cycles_simulated;
        out->cut_kernels += u->measure.simulated_blocks < u->measure.blocks;
    }
}

double sample_plan_value_with(const sample_plan *p, const double *cycles)
{
    double sum = 0;
    for (size_t h = 0; h < p->stratum_count; h++) {
        const stratum *s = &p->strata[h];
        sample_stratum same = { .units = s->sums.units, .size = s->sums.size };
        for (uint64_t i = 0; i < s->sums.units; i++) {
            const unit *u = &p->units.at[s->members[i]];
            if (u->is_measured)
                sample_stratum_add(&same, (double)u->instructions, cycles[s->members[i]], 0);
        }
        sum += same.measured > 0 ? sample_stratum_value(&same) : 0;
    }
    return sum;
}

double sample_plan_projected(const sample_plan *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->units.count; i++) {
        const sample_measure *m = &p->units.at[i].measure;
        if (p->units.at[i].is_measured && m->simulated_blocks < m->blocks)
            sum += m->projected - m->cycles;
    }
    return sum;
}

/* Cycles of measured kernels that thread blocks stand for that were left out. */
static double left_out(const sample_plan *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->units.count; i++) {
        const sample_measure *m = &p->units.at[i].measure;
        if (p->units.at[i].is_measured && m->simulated_blocks < m->blocks)
            sum += m->cycles - (double)m->cycles_simulated;
    }
    return sum;
}

void sample_plan_estimate(const sample_plan *p, sample_result *out)
{
    *out = (sample_result){ .kernels = p->units.count,
                            .strata = p->spec.kernels ? p->stratum_count : 0,
                            .rounds = p->rounds,
                            .goal = p->spec.error };
    count_measured(p, out);
    size_t count = 0;
    double x = 0, y = 0, missing = 0;
    for (size_t h = 0; h < p->stratum_count; h++) {
        const sample_stratum *s = &p->strata[h].sums;
        if (s->measured > 0)
            p->sums[count++] = *s;
        else
            missing += s->size;
        x += s->x;
        y += s->y;
    }
    if (count == 0)
        return;
    sample_total t = sample_estimate(p->sums, count);
    /* A run that ended early: strata without a measurement go with the rate of the others, and anything may be. */
    double guess = x > 0 ? missing * y / x : 0;
    double cut = left_out(p);
    /* Of kernels that were cut, in all: a steady state may still drift by its limit. */
    cut = y > 0 ? cut * t.value / y : 0;
    double half = t.half + SAMPLE_BIAS * t.guessed + SAMPLE_STEADY * cut + guess;
    out->cycles = t.value + guess;
    out->low = out->cycles - half > out->simulated_cycles ? out->cycles - half : out->simulated_cycles;
    out->high = out->cycles + half;
    out->error = out->cycles > 0 ? half / out->cycles : 0;
}
