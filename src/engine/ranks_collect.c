/* ranks_collect.c: the state of the whole machine on rank 0, between runs, so that ls_engine_save() there writes the bytes
 * that one process would write.
 *
 * Every other rank sends the state of its domains, of its halves of links and of its blocks. On rank 0 they go into the
 * parts of the machine that stand still there; no run looks at these. States of blocks are kept as bytes. */
#include "engine/ranks_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct collection {
    ls_engine *engine;
    const ls_state_objects *objects; /* NULL: none */
    save_events events;
    uint32_t rank; /* whose bytes they are */
} collection;

static uint32_t owner_of(const collection *c, const ls_region *region)
{
    return c->engine->ranks->owner[region->domain->group->id];
}

/* --------------------------------------------------------------------------------------------------- links */

static ls_status put_sender(const collection *c, const ls_link *link, bytes_out *out, ls_error *err)
{
    const uint64_t head[] = { link->tail,          link->wire_cycle,  link->wire_free, link->home,
                              link_released(link), link->wake_queued, link->wake.cycle };
    bytes_put(out, head, sizeof head);
    save_put_credits(link, out);
    return save_waiters(link, &c->events, out, err);
}

static void get_sender(const collection *c, ls_link *link, bytes_in *in)
{
    uint64_t head[7];
    bytes_get(in, head, sizeof head);
    link->tail = head[0];
    link->wire_cycle = head[1];
    link->wire_free = head[2];
    link->home = (uint32_t)head[3];
    link->wake_queued = head[5] != 0;
    link->wake.cycle = head[6];
    in->failed |= !link_make_credits(link);
    save_get_credits(link, (uint32_t)head[4], in);
    link->waiters = NULL;
    for (uint64_t i = 0, count = bytes_get64(in); i < count && !in->failed; i++) {
        ls_event *event = load_event(&c->events, in);
        if (event != NULL)
            link_add_waiter(link, event);
    }
}

static void put_receiver(const ls_link *link, bytes_out *out)
{
    const uint64_t head[] = { link->head, link->tail - link->head };
    bytes_put(out, head, sizeof head);
    for (uint64_t i = link->head; i != link->tail; i++)
        save_put_message(link, i, out);
}

/* The messages lie in their slots already if the sender is here. */
static void get_receiver(const collection *c, ls_link *link, bytes_in *in)
{
    uint64_t head[2];
    bytes_get(in, head, sizeof head);
    link->head = head[0];
    bool is_here = owner_of(c, link->from) == 0;
    in->failed |= head[1] > link->credit_total || (head[1] > 0 && !link_make_slots(link));
    for (uint64_t i = 0; i < head[1] && !in->failed; i++) {
        arrival **at = &link->slots[(link->head + i) & link->slot_mask];
        if (*at == NULL)
            *at = ls_domain_alloc(link->to->domain, link->slot_bytes);
        in->failed = *at == NULL || (size_t)(in->end - in->at) < link->slot_bytes;
        if (in->failed)
            return;
        if (is_here)
            in->at += link->slot_bytes;
        else
            save_get_message(link, link->head + i, in);
    }
}

/* -------------------------------------------------------------------------------------------------- machine */

static ls_status put_machine(const collection *c, bytes_out *out, ls_error *err)
{
    const ls_engine *engine = c->engine;
    ls_status status = LS_OK;
    for (size_t i = 0; i < engine->domains.count && status == LS_OK; i++) {
        const ls_domain *domain = engine->domains.at[i];
        if (domain->group->is_away)
            continue;
        bytes_put(out, &domain->tally.pending, sizeof domain->tally.pending);
        bytes_put64(out, domain->tally.progress);
        bytes_put(out, &domain->random, sizeof domain->random);
        for (uint32_t r = 0; r < domain->region_count && status == LS_OK; r++)
            status = save_region(domain->regions[r], &c->events, out, err);
    }
    for (size_t i = 0; i < engine->links.count && status == LS_OK; i++) {
        const ls_link *link = engine->links.at[i];
        if (!link->from->domain->group->is_away)
            status = put_sender(c, link, out, err);
        if (!link->to->domain->group->is_away)
            put_receiver(link, out);
    }
    for (size_t i = 0; i < engine->blocks.count && status == LS_OK; i++) {
        if (!ranks_runs(engine->blocks.at[i]))
            continue;
        size_t at = out->bytes.count;
        bytes_put64(out, 0);
        status = rows_save(engine->blocks.at[i], c->objects, out, err);
        uint64_t bytes = out->bytes.count - at - sizeof bytes;
        if (!out->failed)
            memcpy(out->bytes.at + at, &bytes, sizeof bytes);
    }
    return status;
}

/* The state stays as its rank has saved it: only there are the things that it names, such as kernels of a trace. */
static void keep_block(rank_state *r, size_t block, bytes_in *in)
{
    uint64_t bytes = bytes_get64(in);
    in->failed |= bytes > (size_t)(in->end - in->at);
    if (in->failed)
        return;
    r->kept_at.at[block] = (rank_span){ r->kept.bytes.count, (size_t)bytes };
    bytes_put(&r->kept, in->at, (size_t)bytes);
    in->at += bytes;
}

bool ranks_kept(const ls_block *block, size_t index, rank_bytes *out)
{
    const ls_engine *engine = block->region->domain->engine;
    const rank_state *r = engine->ranks;
    if (r == NULL || ranks_runs(block) || index >= r->kept_at.count || r->kept_at.at[index].bytes == 0)
        return false;
    *out = (rank_bytes){ r->kept.bytes.at + r->kept_at.at[index].at, r->kept_at.at[index].bytes };
    return true;
}

static bool clear_kept(ls_engine *engine)
{
    rank_state *r = engine->ranks;
    vec_clear(&r->kept.bytes);
    r->kept_at.count = 0;
    if (!vec_reserve(&r->kept_at, engine->blocks.count))
        return false;
    r->kept_at.count = engine->blocks.count;
    memset(r->kept_at.at, 0, engine->blocks.count * sizeof *r->kept_at.at);
    return true;
}

static ls_status get_machine(const collection *c, bytes_in *in, ls_error *err)
{
    ls_engine *engine = c->engine;
    ls_status status = LS_OK;
    for (size_t i = 0; i < engine->domains.count && !in->failed && status == LS_OK; i++) {
        ls_domain *domain = engine->domains.at[i];
        if (owner_of(c, domain->regions[0]) != c->rank)
            continue;
        bytes_get(in, &domain->tally.pending, sizeof domain->tally.pending);
        domain->tally.progress = bytes_get64(in);
        bytes_get(in, &domain->random, sizeof domain->random);
        for (uint32_t r = 0; r < domain->region_count && !in->failed && status == LS_OK; r++)
            status = load_region(domain->regions[r], &c->events, in, err);
    }
    for (size_t i = 0; i < engine->links.count && !in->failed && status == LS_OK; i++) {
        ls_link *link = engine->links.at[i];
        if (owner_of(c, link->from) == c->rank)
            get_sender(c, link, in);
        if (owner_of(c, link->to) == c->rank && !in->failed)
            get_receiver(c, link, in);
    }
    for (size_t i = 0; i < engine->blocks.count && !in->failed && status == LS_OK; i++)
        if (ranks_owner(engine->blocks.at[i]) == c->rank)
            keep_block(engine->ranks, i, in);
    if (status == LS_OK && (in->failed || in->at != in->end))
        status = ls_fail(err, LS_ERR_INPUT, "the state of rank %u does not fit this machine", c->rank);
    return status;
}

static void reset_away(const ls_engine *engine)
{
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t r = 0; r < engine->domains.at[i]->region_count; r++)
            if (engine->domains.at[i]->group->is_away)
                wheel_reset(engine->domains.at[i]->regions[r]);
}

ls_status ranks_collect(ls_engine *engine, ls_error *err)
{
    return ranks_collect_with(engine, NULL, err);
}

ls_status ranks_collect_with(ls_engine *engine, const ls_state_objects *objects, ls_error *err)
{
    rank_state *r = engine->ranks;
    collection c = { .engine = engine, .objects = objects };
    if (r == NULL || r->transport.ranks == 1)
        return LS_OK;
    ls_status status = LS_OK;
    for (size_t i = 0; i < engine->blocks.count && status == LS_OK; i++)
        status = rows_check(engine->blocks.at[i], err);
    if (status == LS_OK)
        status = save_events_list(engine, &c.events, err);
    if (status == LS_OK && r->transport.rank != 0)
        status = put_machine(&c, &r->out[0], err);
    /* A rank that cannot be saved takes part, so that no other waits for it. */
    bool is_stuck = ranks_any(engine, status != LS_OK);
    if (status == LS_OK && is_stuck)
        status = ls_fail(err, LS_ERR_UNSUPPORTED, "another rank cannot be saved now");
    if (status == LS_OK)
        status = ranks_send(r, NULL, err);
    vec_clear(&r->out[0].bytes);
    if (status == LS_OK && r->transport.rank == 0)
        reset_away(engine);
    if (status == LS_OK && r->transport.rank == 0 && !clear_kept(engine))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the states of other ranks");
    for (c.rank = 1; c.rank < r->transport.ranks && status == LS_OK && r->transport.rank == 0; c.rank++) {
        bytes_in in = { .at = r->in[c.rank].at, .end = r->in[c.rank].at + r->in[c.rank].count };
        status = get_machine(&c, &in, err);
    }
    if (status == LS_OK && r->kept.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the states of other ranks");
    save_events_fini(&c.events);
    return status;
}
