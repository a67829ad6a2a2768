/* reuse.c: see reuse.h. Touches nothing outside of its tree. */
#include "workload/profile/reuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 256u /* of the table of probabilities */

struct reuse {
    uint32_t lines, size; /* size: times before they are renumbered, a power of two */
    uint32_t now;         /* the last time given out; times start at 1 */
    uint32_t marks;       /* lines that have been used */
    uint32_t *tree;       /* [1, size]: sums of marks; a mark stands at the time of each line's last use */
    uint32_t *last;       /* by line; 0: not used */
    uint32_t *at;         /* by time: line + 1, or 0 */
    uint32_t step, sets, ways;
    uint32_t hit[STEPS + 1]; /* at distance i * step */
};

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Fewer than `ways` of `distance` lines in one of `sets` sets. */
static double probability(uint32_t distance, uint32_t sets, uint32_t ways)
{
    if (distance < ways)
        return 1;
    if (sets == 1)
        return 0;
    double p = 1.0 / sets, sum = 0;
    for (uint32_t k = 0; k < ways; k++)
        sum += exp(log_choose(distance, k) + k * log(p) + (distance - k) * log1p(-p));
    return sum > 1 ? 1 : sum;
}

reuse *reuse_create(uint32_t lines, uint32_t sets, uint32_t ways)
{
    reuse *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->lines = lines;
    r->sets = sets;
    r->ways = ways;
    r->size = 2;
    while (r->size < 2 * lines)
        r->size *= 2;
    r->tree = calloc((size_t)r->size + 1, sizeof *r->tree);
    r->last = calloc(lines, sizeof *r->last);
    r->at = calloc((size_t)r->size + 1, sizeof *r->at);
    if (r->tree == NULL || r->last == NULL || r->at == NULL) {
        reuse_destroy(r);
        return NULL;
    }
    /* Up to twice the capacity; beyond that nothing stays. */
    r->step = (2 * sets * ways + STEPS - 1) / STEPS;
    for (uint32_t i = 0; i <= STEPS; i++)
        r->hit[i] = (uint32_t)(probability(i * r->step, sets, ways) * REUSE_ONE + 0.5);
    return r;
}

void reuse_destroy(reuse *r)
{
    if (r == NULL)
        return;
    free(r->tree);
    free(r->last);
    free(r->at);
    free(r);
}

void reuse_clear(reuse *r)
{
    memset(r->tree, 0, ((size_t)r->size + 1) * sizeof *r->tree);
    memset(r->at, 0, ((size_t)r->size + 1) * sizeof *r->at);
    memset(r->last, 0, r->lines * sizeof *r->last);
    r->now = r->marks = 0;
}

static void add(reuse *r, uint32_t time, uint32_t value)
{
    for (; time <= r->size; time += time & (~time + 1))
        r->tree[time] += value;
}

static uint32_t sum_to(const reuse *r, uint32_t time)
{
    uint32_t sum = 0;
    for (; time != 0; time &= time - 1)
        sum += r->tree[time];
    return sum;
}

/* Times run out: the last uses keep their order and move to the front. */
static void renumber(reuse *r)
{
    uint32_t to = 0;
    for (uint32_t time = 1; time <= r->now; time++) {
        if (r->at[time] == 0)
            continue;
        r->at[++to] = r->at[time];
        r->last[r->at[to] - 1] = to;
    }
    memset(r->at + to + 1, 0, (r->size - to) * sizeof *r->at);
    memset(r->tree, 0, ((size_t)r->size + 1) * sizeof *r->tree);
    for (uint32_t time = 1; time <= to; time++)
        add(r, time, 1);
    r->now = to;
}

void reuse_forget(reuse *r, uint32_t line)
{
    if (r->last[line] == 0)
        return;
    add(r, r->last[line], UINT32_MAX); /* minus one */
    r->at[r->last[line]] = 0;
    r->last[line] = 0;
    r->marks--;
}

uint32_t reuse_touch(reuse *r, uint32_t line)
{
    uint32_t distance = REUSE_FIRST;
    if (r->last[line] != 0) {
        distance = r->marks - sum_to(r, r->last[line]);
        reuse_forget(r, line);
    }
    if (r->now == r->size)
        renumber(r);
    r->last[line] = ++r->now;
    r->at[r->now] = line + 1;
    r->marks++;
    add(r, r->now, 1);
    return distance;
}

uint32_t reuse_hit(const reuse *r, uint32_t distance)
{
    if (distance < r->ways)
        return REUSE_ONE;
    uint32_t i = distance / r->step;
    if (i >= STEPS || r->sets == 1) /* all lines in one set: a matter of distance, not of chance */
        return 0;
    uint64_t part = distance % r->step;
    return (uint32_t)((r->hit[i] * (r->step - part) + r->hit[i + 1] * part) / r->step);
}
