/* partition_line.c: requests for several sectors of one line. They pass the queues as one and are looked up at once. The tags, the
 * fills and the way out are busy with them for as long as with their sectors one by one, and the answer leaves with the last. */
#include "model/memory/partition_impl.h"

/* Cycles that a part of the slice needs for the sectors of a request. */
static ls_cycle cycles_of(const partition *p, const ls_sector_message *m)
{
    return (ls_sector_count(m) + p->width - 1) / p->width;
}

/* A write of whole sectors. Those that the cache cannot take now follow. */
static sector_cache_outcome write_sectors(partition *p, slice *s, uint32_t i)
{
    pending_request *r = &p->requests[i];
    if (r->left == 0) {
        if (sector_cache_write_part(&s->l2, r->message.address, r->message.local, r->message.sectors))
            return SECTOR_CACHE_HIT;
        r->left = r->message.sectors;
    }
    for (; r->left != 0; r->left &= r->left - 1) {
        uint64_t offset = (uint64_t)(uint32_t)__builtin_ctz(r->left) * SECTOR_BYTES;
        sector_cache_outcome outcome = sector_cache_stall_write(&s->l2, r->message.address + offset, i);
        if (outcome == SECTOR_CACHE_HIT)
            outcome = sector_cache_write(&s->l2, r->message.address + offset, r->message.local + offset,
                                         UINT32_MAX, i);
        if (outcome == SECTOR_CACHE_FAIL || outcome == SECTOR_CACHE_STALLED)
            return outcome;
    }
    return SECTOR_CACHE_HIT;
}

sector_cache_outcome partition_line_look_up(partition *p, slice *s, uint32_t i)
{
    pending_request *r = &p->requests[i];
    sector_cache_outcome outcome;
    if (r->message.kind == LS_SECTOR_WRITE) {
        outcome = write_sectors(p, s, i);
    } else {
        sector_cache_part part;
        outcome =
            sector_cache_read_part(&s->l2, r->message.address, r->message.local, r->message.sectors, i, &part);
        if (outcome != SECTOR_CACHE_FAIL && outcome != SECTOR_CACHE_STALLED)
            r->left = part.waits;
        if (r->message.away)
            s->away_reads += ls_sector_bits(part.missed);
    }
    if (outcome == SECTOR_CACHE_FAIL)
        return outcome;
    s->look_at = p->now + cycles_of(p, &r->message);
    r->ready = s->look_at;
    return outcome;
}
