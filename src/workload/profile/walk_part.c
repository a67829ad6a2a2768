/* walk_part.c: requests of an epoch at their slices of L2, and the slices' requests to DRAM. May touch the
 * slices and channels of its part, and the answers in the requests to them. */
#include "workload/profile/walk.h"

static void to_dram(trace_profiler *p, uint32_t channel, uint64_t line, uint8_t sectors, bool write)
{
    ls_dram_place at = mem_map_dram(&p->shape.map, line * SECTOR_CACHE_LINE_BYTES);
    dram_estimate_add(&p->channels[channel], at.bank, at.row, walk_ones(sectors), write);
}

/* The level that serves a read or an atomic. */
static void fetch(trace_profiler *p, walk_part *part, sent_request *r, level_line *line, uint32_t slice,
                  uint32_t channel)
{
    bool bypass = (r->flags & SENT_BYPASS) != 0;
    uint8_t missing = (uint8_t)(r->sectors & ~line->valid), waiting = (uint8_t)(r->sectors & line->fresh);
    if (missing != 0) {
        to_dram(p, channel, r->line, missing, false);
        r->dram = (uint8_t)(r->dram + walk_ones(missing));
        line->valid |= missing;
        line->fresh |= missing;
    }
    if ((r->flags & SENT_ATOMIC) != 0)
        line->dirty |= r->sectors;
    if (bypass && waiting != 0 && ++line->asked >= walk_merge_limit(p)) {
        /* These stall their cores one after another. Each is waited for by itself; after that all data in
         * flight has arrived. */
        part->slice_stalls += (uint64_t)walk_ones(waiting) * CONTENTION_ONE;
        line->filled = ++p->fills[slice];
        line->fresh = line->deep = 0;
        line->asked = 0;
    }
    r->deep = (uint8_t)(r->sectors & line->fresh);
}

static void at_l2(trace_profiler *p, walk_part *part, sent_request *r)
{
    const uint32_t slice = r->set >> p->l2_index.bits, channel = walk_channel(p, r->set);
    const bool write = (r->flags & SENT_WRITE) != 0;
    level *l2 = walk_level(p, r->set);
    level_victim victim;
    level_line *line = level_look(l2, walk_set_in_level(p, r->set), r->line, true, &victim);
    part->l2_lines += (line->valid | line->dirty) == 0;
    part->l2_sectors += r->requests;
    p->slice_sectors[slice] += r->requests;
    r->dram = r->deep = 0;
    if (victim.dirty != 0) {
        to_dram(p, channel, victim.line, victim.dirty, true);
        r->dram = (uint8_t)walk_ones(victim.dirty);
    }
    if (line->stamp != p->epoch || line->filled != p->fills[slice]) {
        line->stamp = p->epoch;
        line->filled = p->fills[slice];
        line->fresh = line->deep = 0;
        line->asked = 0;
    }
    r->l2 = (uint32_t)(line - l2->lines) + (uint32_t)(l2 - p->l2) * p->l2_level_lines;
    r->pending = write ? 0 : (uint8_t)(r->sectors & (line->fresh | ~line->valid));
    part->shared |= (r->flags & SENT_BYPASS) == 0 && (r->pending & line->fresh) != 0;
    if (write) {
        line->valid |= r->full;
        line->dirty |= r->sectors;
    } else {
        fetch(p, part, r, line, slice, channel);
    }
}

void walk_part_run(trace_profiler *p, uint32_t number)
{
    walk_part *part = &p->parts[number];
    const uint32_t cores = p->shape.cores;
    part->shared = false;
    for (uint32_t core = 0; core < cores; core++)
        part->next[core] = 0;
    for (uint32_t slot = 1; slot <= p->slots; slot++)
        for (uint32_t core = 0; core < cores; core++) {
            const sent_list *sent = &p->sent[core];
            const uint32_t *numbers = sent->to[number].at, end = sent->slots[slot];
            size_t i = part->next[core], count = sent->to[number].count;
            for (; i < count && numbers[i] < end; i++)
                at_l2(p, part, &sent->requests.at[numbers[i]]);
            part->next[core] = i;
        }
}
