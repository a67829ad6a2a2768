/* tlb.c: L1 TLB, L2 TLB and page-table walkers of one core. */
#include "model/tlb/tlb.h"

ls_status tlb_check(const tlb_spec *spec, ls_error *err)
{
    if ((spec->page_kib & (spec->page_kib - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "tlb.page_kib is %llu, it must be a power of two",
                       (unsigned long long)spec->page_kib);
    if (spec->entries % spec->ways != 0)
        return ls_fail(err, LS_ERR_INPUT, "tlb.entries (%llu) is no multiple of tlb.ways (%llu)",
                       (unsigned long long)spec->entries, (unsigned long long)spec->ways);
    if (spec->l2_entries % spec->l2_ways != 0)
        return ls_fail(err, LS_ERR_INPUT, "tlb.l2_entries (%llu) is no multiple of tlb.l2_ways (%llu)",
                       (unsigned long long)spec->l2_entries, (unsigned long long)spec->l2_ways);
    return LS_OK;
}

bool tlb_init(tlb *t, const tlb_spec *spec, tlb_counters *counters, ls_domain *domain)
{
    *t = (tlb){ .spec = spec, .n = counters };
    t->page_shift = 10 + (uint32_t)__builtin_ctzll(spec->page_kib);
    return tag_store_init_plain(&t->l1, spec->entries / spec->ways, spec->ways, domain, NULL) == LS_OK &&
           (spec->l2_entries == 0 || tag_store_init_plain(&t->l2, spec->l2_entries / spec->l2_ways,
                                                          spec->l2_ways, domain, NULL) == LS_OK);
}

/* Translations that have come since the last call enter the TLBs, in the order of their coming. */
static void retire(tlb *t, ls_cycle now)
{
    for (;;) {
        uint32_t first = TAG_STORE_NONE;
        for (uint32_t i = 0; i < t->miss_count; i++)
            if (t->misses[i].ready <= now &&
                (first == TAG_STORE_NONE || t->misses[i].ready < t->misses[first].ready))
                first = i;
        if (first == TAG_STORE_NONE)
            return;
        (void)tag_store_enter(&t->l1, t->misses[first].page);
        if (t->spec->l2_entries != 0)
            (void)tag_store_enter(&t->l2, t->misses[first].page);
        t->miss_count--;
        for (uint32_t i = first; i < t->miss_count; i++)
            t->misses[i] = t->misses[i + 1];
    }
}

/* When a walk that may begin at `from` ends. */
static ls_cycle walk(tlb *t, ls_cycle from)
{
    uint32_t walker = 0;
    for (uint32_t i = 1; i < t->spec->walkers; i++)
        if (t->walker_free[i] < t->walker_free[walker])
            walker = i;
    ls_cycle begin = t->walker_free[walker] > from ? t->walker_free[walker] : from;
    t->n->walks++;
    t->n->walk_cycles += t->spec->walk_latency_cycles;
    t->n->walk_wait_cycles += begin - from;
    return t->walker_free[walker] = begin + t->spec->walk_latency_cycles;
}

tlb_outcome tlb_translate(tlb *t, uint64_t address, ls_cycle now, ls_cycle *ready)
{
    uint64_t page = address >> t->page_shift;
    if (t->miss_count > 0)
        retire(t, now);
    *ready = now;
    if (tag_store_find(&t->l1, page) != TAG_STORE_NONE) {
        t->n->accesses++;
        t->n->hits++;
        return TLB_HIT;
    }
    ls_cycle soonest = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < t->miss_count; i++) {
        if (t->misses[i].page == page) {
            t->n->accesses++;
            t->n->pending_hits++;
            *ready = t->misses[i].ready;
            return TLB_WAIT;
        }
        soonest = t->misses[i].ready < soonest ? t->misses[i].ready : soonest;
    }
    if (t->miss_count == t->spec->miss_entries) {
        t->n->full++;
        *ready = soonest;
        return TLB_FULL;
    }
    t->n->accesses++;
    t->n->misses++;
    ls_cycle known = now;
    bool in_l2 = false;
    if (t->spec->l2_entries != 0) {
        in_l2 = tag_store_find(&t->l2, page) != TAG_STORE_NONE;
        known += t->spec->l2_latency_cycles;
        t->n->l2_hits += in_l2;
    }
    *ready = in_l2 ? known : walk(t, known);
    t->misses[t->miss_count++] = (tlb_miss){ .page = page, .ready = *ready };
    return TLB_WAIT;
}
