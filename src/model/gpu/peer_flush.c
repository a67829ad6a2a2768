/* peer_flush.c: flushes of L2's part for other GPUs' memory (remote_l2.h), a part of the block of peer.h. The device queue
 * asks for one at the end of a kernel, a core for a fence of system scope. */
#include "lockstep/state.h"
#include "model/gpu/peer_state.h"

ls_status flush_engine_init(peer *p, const ls_peer_wiring *wiring, ls_error *err)
{
    flush_engine *f = &p->flush;
    f->core_count = wiring->core_count;
    f->slices = wiring->channels * wiring->map->slices_per_channel;
    f->total = wiring->fences_max + 1; /* the device queue has one at a time */
    f->asks = ls_domain_alloc(p->domain, f->total * sizeof *f->asks);
    f->to_core = ls_domain_alloc(p->domain, f->core_count * sizeof(ls_link *));
    if (f->asks == NULL || f->to_core == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", p->name);
    for (uint32_t i = 0; i < f->core_count && wiring->fences != NULL; i++)
        f->to_core[i] = wiring->fences[i];
    return LS_OK;
}

static void ask(peer *p, const ls_sector_message *m, ls_link *link)
{
    flush_engine *f = &p->flush;
    flush_ask *slot = &f->asks[(f->head + f->count++) % f->total];
    *slot = (flush_ask){ .link = link };
    if (m != NULL)
        slot->m = *m;
    p->n.flushes++;
    ls_ticker_wake(&p->ticker);
}

void flush_engine_start(peer *p)
{
    ask(p, NULL, NULL);
}

void peer_receive_flush(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    (void)now;
    ask(state, payload, link);
}

/* Of a slice. */
void flush_engine_answer(peer *p)
{
    p->flush.left--;
    ls_domain_progress(p->domain);
}

static void ask_slices(peer *p)
{
    flush_engine *f = &p->flush;
    uint32_t per_channel = p->map.slices_per_channel;
    for (; f->sent < f->slices && !p->ways[PEER_WAY_MEMORY].waits; f->sent++) {
        ls_link *link = p->to_memory[f->sent / per_channel];
        ls_sector_message *slot = ls_link_send(link, 1);
        if (slot == NULL) {
            p->n.memory_waits++;
            peer_wait(p, PEER_WAY_MEMORY, link);
            return;
        }
        *slot = (ls_sector_message){ .token = PEER_FLUSH_TOKEN,
                                     .core = (uint16_t)p->memory_id,
                                     .slice = LS_SECTOR_SLICE(f->sent % per_channel),
                                     .kind = LS_SECTOR_FLUSH,
                                     .remote = true };
    }
}

static void answer_all(peer *p)
{
    flush_engine *f = &p->flush;
    for (; f->served > 0 && !p->ways[PEER_WAY_FENCE].waits; f->served--) {
        const flush_ask *first = &f->asks[f->head];
        if (first->link == NULL) {
            peer_notify(p, (ls_peer_notice){ .is_flush = 1 }, NULL);
        } else {
            ls_link *link = f->to_core[first->m.core];
            ls_sector_message *slot = ls_link_send(link, 1);
            if (slot == NULL) {
                peer_wait(p, PEER_WAY_FENCE, link);
                return;
            }
            *slot = first->m;
            ls_link_release(first->link, 1);
        }
        f->head = (f->head + 1) % f->total;
        f->count--;
    }
}

void flush_engine_cycle(peer *p)
{
    flush_engine *f = &p->flush;
    if (f->count == 0)
        return;
    if (f->served == 0) {
        f->served = f->count;
        f->sent = 0;
        f->left = f->slices;
        p->n.flush_rounds++;
    }
    ask_slices(p);
    if (f->left == 0)
        answer_all(p);
}

bool flush_engine_has_work(const peer *p)
{
    const flush_engine *f = &p->flush;
    if (f->count == 0)
        return false;
    return f->served == 0 || (f->sent < f->slices && !p->ways[PEER_WAY_MEMORY].waits) ||
           (f->left == 0 && !p->ways[PEER_WAY_FENCE].waits);
}

static uint64_t ask_length(const void *self)
{
    return ((const flush_engine *)self)->total;
}

static const ls_state_row ask_rows[] = { LS_STATE_DATA(flush_ask, m), LS_STATE_LINK(flush_ask, link) };

const ls_state_row flush_engine_rows[FLUSH_ENGINE_ROWS] = {
    LS_STATE_FIXED(flush_engine, to_core),
    LS_STATE_FIXED_SPAN(flush_engine, core_count, unused),
    LS_STATE_ARRAY_OF(flush_engine, asks, ask_length, ask_rows),
    LS_STATE_DATA_SPAN(flush_engine, head, left),
};
