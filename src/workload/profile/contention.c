/* contention.c: see contention.h. Touches nothing outside of it. */
#include "workload/profile/contention.h"

#include "model/core/rates.h"

#include <stdlib.h>

#define STEP 4u /* cycles in which all cores have a turn */

bool contention_init(contention *m, uint32_t cores, uint32_t slices, uint32_t lines)
{
    *m = (contention){ .cores = cores, .slices = slices };
    m->begin = calloc(cores, sizeof *m->begin);
    m->done = calloc(cores, sizeof *m->done);
    m->time = calloc(slices, sizeof *m->time);
    m->lines = calloc(lines, sizeof *m->lines);
    return m->begin != NULL && m->done != NULL && m->time != NULL && m->lines != NULL &&
           contention_divide(m, 1);
}

void contention_fini(contention *m)
{
    free(m->begin);
    free(m->done);
    free(m->time);
    free(m->lines);
    free(m->of);
    *m = (contention){ 0 };
}

bool contention_divide(contention *m, uint32_t parts)
{
    free(m->of);
    m->of = calloc((size_t)parts * m->cores, sizeof *m->of);
    m->parts = parts;
    return m->of != NULL;
}

/* One request at its slice; the cycles for which it keeps the slice from the next one beside its own. */
static uint64_t serve(contention *m, const contention_rules *rules, const sent_request *r, uint64_t begin,
                      uint64_t *last, uint32_t epoch)
{
    contention_line *line = &m->lines[r->l2];
    uint64_t *time = &m->time[r->set >> rules->set_bits], arrival = (begin + r->at) << RATES_SHIFT, still = 0;
    if (line->epoch != epoch)
        *line = (contention_line){ .epoch = epoch };
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
        *last = done > *last ? done : *last;
    }
    return still;
}

/* Time goes on from epoch to epoch, counted from the first core of each. */
void contention_begin(contention *m, const sent_list *sent)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < m->cores; i++)
        if (sent[i].sectors > 0 && m->done[i] < first)
            first = m->done[i];
    first = first == UINT64_MAX ? 0 : first;
    for (uint32_t i = 0; i < m->cores; i++)
        m->begin[i] = m->done[i] > first ? m->done[i] - first : 0;
    for (uint32_t i = 0; i < m->slices; i++)
        m->time[i] = m->time[i] > first << RATES_SHIFT ? m->time[i] - (first << RATES_SHIFT) : 0;
}

uint64_t contention_settle(contention *m, uint32_t part, const sent_list *sent, const contention_rules *rules,
                           uint32_t epoch)
{
    contention_core *of = &m->of[(size_t)part * m->cores];
    uint64_t still = 0, next = 0;
    for (uint32_t i = 0; i < m->cores; i++)
        of[i] = (contention_core){ .done = m->begin[i] };
    while (next != UINT64_MAX) {
        uint64_t now = (next + STEP - 1) / STEP * STEP;
        next = UINT64_MAX;
        for (uint32_t i = 0; i < m->cores; i++) {
            const uint32_t *numbers = sent[i].to[part].at;
            for (; of[i].next < sent[i].to[part].count; of[i].next++) {
                const sent_request *r = &sent[i].requests.at[numbers[of[i].next]];
                if ((r->flags & SENT_BYPASS) != 0)
                    continue;
                uint64_t at = m->begin[i] + r->at;
                if (at > now) {
                    next = at < next ? at : next;
                    break;
                }
                still += serve(m, rules, r, m->begin[i], &of[i].done, epoch);
            }
        }
    }
    return still;
}

void contention_end(contention *m)
{
    for (uint32_t i = 0; i < m->cores; i++) {
        m->done[i] = m->begin[i];
        for (uint32_t part = 0; part < m->parts; part++) {
            uint64_t done = m->of[(size_t)part * m->cores + i].done;
            m->done[i] = done > m->done[i] ? done : m->done[i];
        }
    }
}
