/* meet.c: see meet.h. Touches nothing outside of it. */
#include "workload/profile/meet.h"

#include "model/core/rates.h"

#include <stdlib.h>

#define STEP 4u /* cycles in which all cores have a turn */

bool meet_init(meet *m, uint32_t cores, uint32_t slices, uint32_t lines)
{
    *m = (meet){ .cores = cores, .slices = slices };
    m->of = calloc(cores, sizeof *m->of);
    m->time = calloc(slices, sizeof *m->time);
    m->lines = calloc(lines, sizeof *m->lines);
    return m->of != NULL && m->time != NULL && m->lines != NULL;
}

void meet_fini(meet *m)
{
    for (uint32_t i = 0; m->of != NULL && i < m->cores; i++)
        ls_vec_fini(&m->of[i].requests);
    free(m->of);
    free(m->time);
    free(m->lines);
    *m = (meet){ 0 };
}

bool meet_add(meet *m, uint32_t core, meet_request request)
{
    meet_list *list = &m->of[core];
    request.at = list->sent;
    list->sent += (uint32_t)__builtin_popcount(request.sectors);
    return ls_vec_push(&list->requests, request);
}

/* One request at its slice; the cycles for which it keeps the slice from the next one beside its own. */
static uint64_t serve(meet *m, const meet_rules *rules, meet_list *list, const meet_request *r, uint32_t epoch)
{
    meet_line *line = &m->lines[r->line];
    uint64_t *time = &m->time[r->slice], arrival = (list->begin + r->at) << RATES_SHIFT, still = 0;
    if (line->epoch != epoch)
        *line = (meet_line){ .epoch = epoch };
    *time = *time > arrival ? *time : arrival;
    for (uint32_t set = r->sectors; set != 0; set &= set - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(set);
        *time += rules->slice_cycle;
        uint64_t now = *time >> RATES_SHIFT, done = now;
        if ((r->pending >> i & 1) != 0 && line->fill[i] == 0) {
            done = line->fill[i] = (uint32_t)now + rules->latency_cycles;
            line->merged[i] = 1;
        } else if ((r->pending >> i & 1) != 0 && now < line->fill[i]) {
            done = line->fill[i];
            if (line->merged[i]++ >= rules->merge) {
                still += done - now;
                *time = done << RATES_SHIFT;
            }
        }
        list->done = done > list->done ? done : list->done;
    }
    return still;
}

/* Time goes on from epoch to epoch, counted from the first core of each. */
static void begin_epoch(meet *m)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < m->cores; i++)
        if (m->of[i].requests.count > 0 && m->of[i].done < first)
            first = m->of[i].done;
    first = first == UINT64_MAX ? 0 : first;
    for (uint32_t i = 0; i < m->cores; i++) {
        m->of[i].begin = m->of[i].done > first ? m->of[i].done - first : 0;
        m->of[i].done = m->of[i].begin;
    }
    for (uint32_t i = 0; i < m->slices; i++)
        m->time[i] = m->time[i] > first << RATES_SHIFT ? m->time[i] - (first << RATES_SHIFT) : 0;
}

uint64_t meet_settle(meet *m, const meet_rules *rules, uint32_t epoch)
{
    uint64_t still = 0;
    bool more = m->shared && rules->latency_cycles > 0;
    if (more)
        begin_epoch(m);
    for (uint64_t now = 0; more; now += STEP) {
        more = false;
        for (uint32_t core = 0; core < m->cores; core++) {
            meet_list *list = &m->of[core];
            const meet_request *r = list->requests.at;
            for (; list->next < list->requests.count && list->begin + r[list->next].at <= now; list->next++)
                still += serve(m, rules, list, &r[list->next], epoch);
            more |= list->next < list->requests.count;
        }
    }
    for (uint32_t core = 0; core < m->cores; core++) {
        m->of[core].requests.count = m->of[core].next = 0;
        m->of[core].sent = 0;
    }
    m->shared = false;
    return rules->latency_cycles == 0 ? 0 : still * MEET_ONE / rules->latency_cycles;
}
