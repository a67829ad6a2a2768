/* ranks.c: the meetings of a machine that is divided over ranks.
 *
 * A link between two ranks has its sender's half on one and its receiver's half on the other; both have built the whole
 * link. The sender's rank gives new messages to the receiver's, as they lie in their slots; the receiver's rank gives
 * returned credits to the sender's. Both arrive before the next meeting begins, which is when they become visible in one
 * process, too. */
#include "engine/ranks_impl.h"

#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* A piece of the bytes between two ranks: this head, then `count` slots or credit entries of one link. */
typedef struct rank_piece {
    uint32_t link;
    uint32_t count;
    uint32_t is_credit;
    uint32_t unused;
} rank_piece;

/* ------------------------------------------------------------------------------------------------- set-up */

static bool alloc_state(ls_engine *engine, const rank_transport *transport)
{
    rank_state *r = calloc(1, sizeof *r);
    engine->ranks = r;
    if (r == NULL)
        return false;
    r->transport = *transport;
    r->owner = calloc(engine->groups.count + 1, sizeof *r->owner);
    r->with = calloc(transport->ranks, sizeof *r->with);
    r->out = calloc(transport->ranks, sizeof *r->out);
    r->send = calloc(transport->ranks, sizeof *r->send);
    r->in = calloc(transport->ranks, sizeof *r->in);
    return r->owner != NULL && r->with != NULL && r->out != NULL && r->send != NULL && r->in != NULL;
}

void ranks_free(ls_engine *engine)
{
    rank_state *r = engine->ranks;
    if (r == NULL)
        return;
    for (uint32_t i = 0; i < r->transport.ranks && r->out != NULL; i++)
        vec_fini(&r->out[i].bytes);
    vec_fini(&r->links);
    vec_fini(&r->kept.bytes);
    vec_fini(&r->kept_at);
    free(r->owner);
    free(r->with);
    free(r->out);
    free(r->send);
    free(r->in);
    free(r);
    engine->ranks = NULL;
}

static bool add_links(ls_engine *engine)
{
    rank_state *r = engine->ranks;
    for (size_t i = 0; i < engine->links.count; i++) {
        ls_link *link = engine->links.at[i];
        uint32_t from = r->owner[link->from->domain->group->id], to = r->owner[link->to->domain->group->id];
        if (from == to || (from != r->transport.rank && to != r->transport.rank))
            continue;
        bool sends = from == r->transport.rank;
        const rank_link added = { .link = link, .peer = sends ? to : from, .sends = sends };
        if (!vec_push(&r->links, added))
            return false;
        r->with[added.peer] = 1;
    }
    return true;
}

ls_status ranks_attach(ls_engine *engine, const rank_transport *transport, ls_error *err)
{
    if (engine->started || engine->ranks != NULL)
        return ls_fail(err, LS_ERR_USAGE, "a machine is divided once, before its first run");
    if (transport->ranks == 0 || transport->ranks > RANKS_MAX || transport->rank >= transport->ranks)
        return ls_fail(err, LS_ERR_USAGE, "rank %u of %u: allowed are 1 to %u", transport->rank,
                       transport->ranks, RANKS_MAX);
    if (!alloc_state(engine, transport)) {
        ranks_free(engine);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %u ranks", transport->ranks);
    }
    rank_state *r = engine->ranks;
    ls_status status = ranks_divide(engine, transport->ranks, r->owner, err);
    if (status == LS_OK && !add_links(engine))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the links between %u ranks", transport->ranks);
    if (status != LS_OK) {
        ranks_free(engine);
        return status;
    }
    for (size_t i = 0; i < engine->groups.count; i++) {
        uint64_t domains = 0;
        for (size_t k = 0; k < engine->domains.count; k++)
            domains += engine->domains.at[k]->group == engine->groups.at[i];
        engine->groups.at[i]->is_away = r->owner[i] != transport->rank;
        r->n.groups += r->owner[i] == transport->rank && domains > 0;
        r->n.domains += r->owner[i] == transport->rank ? domains : 0;
    }
    return LS_OK;
}

uint32_t ranks_count(const ls_engine *engine)
{
    return engine->ranks != NULL ? engine->ranks->transport.ranks : 1;
}

uint32_t ranks_here(const ls_engine *engine)
{
    return engine->ranks != NULL ? engine->ranks->transport.rank : 0;
}

uint32_t ranks_owner(const ls_block *block)
{
    const ls_domain *domain = block->region->domain;
    return domain->engine->ranks != NULL ? domain->engine->ranks->owner[domain->group->id] : 0;
}

bool ranks_lost(const ls_engine *engine)
{
    return engine->ranks != NULL && engine->ranks->broken != LS_OK;
}

bool ranks_runs(const ls_block *block)
{
    return !block->region->domain->group->is_away;
}

/* ------------------------------------------------------------------------------------------------ transport */

/* Every later call fails with the same line. */
static ls_status break_off(rank_state *r, ls_status status, const ls_error *why)
{
    r->broken = status;
    r->why = *why;
    return status;
}

static ls_status still_broken(const rank_state *r, ls_error *err)
{
    if (err != NULL)
        *err = r->why;
    return r->broken;
}

static ls_status call(rank_state *r, ls_status (*fn)(void *, uint64_t *, size_t, ls_error *), uint64_t *values,
                      size_t count, ls_error *err)
{
    ls_error why = { 0 };
    if (r->broken != LS_OK)
        return still_broken(r, err);
    uint64_t start = host_clock_ns();
    ls_status status = fn(r->transport.self, values, count, &why);
    r->wait_ns += host_clock_ns() - start;
    if (status == LS_OK)
        return LS_OK;
    break_off(r, status, &why);
    return still_broken(r, err);
}

ls_status ranks_send(rank_state *r, const uint8_t *with, ls_error *err)
{
    ls_error why = { 0 };
    if (r->broken != LS_OK)
        return still_broken(r, err);
    bool failed = false;
    for (uint32_t i = 0; i < r->transport.ranks; i++) {
        failed |= r->out[i].failed;
        r->send[i] = (rank_bytes){ r->out[i].bytes.at, r->out[i].bytes.count };
        r->in[i] = (rank_bytes){ 0 };
    }
    uint64_t start = host_clock_ns();
    ls_status status = failed ? ls_fail(&why, LS_ERR_NOMEM, "no memory for the messages between ranks")
                              : r->transport.exchange(r->transport.self, r->send, r->in, with, &why);
    r->wait_ns += host_clock_ns() - start;
    for (uint32_t i = 0; i < r->transport.ranks; i++) {
        uint64_t *bytes = with != NULL ? &r->n.link_bytes : &r->n.other_bytes;
        *bytes += i == r->transport.rank ? 0 : r->send[i].count;
        vec_clear(&r->out[i].bytes);
    }
    if (status == LS_OK)
        return LS_OK;
    break_off(r, status, &why);
    return still_broken(r, err);
}

ls_status ranks_tell(ls_engine *engine, rank_bytes out, const rank_bytes **in, ls_error *err)
{
    return ranks_give(engine, UINT32_MAX, out, in, err);
}

ls_status ranks_give(ls_engine *engine, uint32_t to, rank_bytes out, const rank_bytes **in, ls_error *err)
{
    rank_state *r = engine->ranks;
    *in = NULL;
    if (r == NULL)
        return LS_OK;
    for (uint32_t i = 0; i < r->transport.ranks; i++)
        if (i != r->transport.rank && (to == UINT32_MAX || to == i))
            bytes_put(&r->out[i], out.at, out.count);
    ls_status status = ranks_send(r, NULL, err);
    r->in[r->transport.rank] = out;
    *in = r->in;
    return status;
}

/* ------------------------------------------------------------------------------------------------- meetings */

/* Once: a machine may have been loaded since it was divided. */
ls_status ranks_start(ls_engine *engine, ls_error *err)
{
    rank_state *r = engine->ranks;
    if (r->broken != LS_OK)
        return still_broken(r, err);
    for (size_t i = 0; i < r->links.count && !r->started; i++) {
        rank_link *l = &r->links.at[i];
        l->packed = l->link->tail;
        l->packed_back = atomic_load_explicit(&l->link->released, memory_order_relaxed);
    }
    r->started = true;
    return LS_OK;
}

static void pack_messages(rank_state *r, rank_link *l)
{
    const ls_link *link = l->link;
    bytes_out *out = &r->out[l->peer];
    const rank_piece piece = { .link = link->id, .count = (uint32_t)(link->tail - l->packed) };
    if (piece.count == 0)
        return;
    bytes_put(out, &piece, sizeof piece);
    for (; l->packed != link->tail; l->packed++)
        save_put_message(link, l->packed, out);
    r->n.messages += piece.count;
}

static void pack_credits(rank_state *r, rank_link *l)
{
    const ls_link *link = l->link;
    bytes_out *out = &r->out[l->peer];
    uint32_t end = atomic_load_explicit(&link->released, memory_order_relaxed);
    const rank_piece piece = { .link = link->id, .count = end - l->packed_back, .is_credit = 1 };
    if (piece.count == 0)
        return;
    bytes_put(out, &piece, sizeof piece);
    for (; l->packed_back != end; l->packed_back++)
        bytes_put64(out, link->credit_ring[l->packed_back & link->ring_mask]);
    r->n.credits += piece.count;
}

/* One piece of another rank. False: it does not belong to a link with that rank, or is cut short. */
static bool take_piece(ls_engine *engine, uint32_t peer, bytes_in *in, bool *no_memory)
{
    const rank_state *r = engine->ranks;
    rank_piece piece;
    bytes_get(in, &piece, sizeof piece);
    if (in->failed || piece.link >= engine->links.count)
        return false;
    ls_link *link = engine->links.at[piece.link];
    const ls_region *other = piece.is_credit ? link->to : link->from;
    const ls_region *own = piece.is_credit ? link->from : link->to;
    size_t bytes = piece.is_credit ? sizeof(ls_cycle) : link->slot_bytes;
    if (r->owner[other->domain->group->id] != peer || own->domain->group->is_away ||
        piece.count > link->credit_total || bytes * piece.count > (size_t)(in->end - in->at))
        return false;
    for (uint32_t i = 0; i < piece.count && !*no_memory; i++, in->at += bytes) {
        ls_cycle cycle;
        memcpy(&cycle, in->at, sizeof cycle);
        *no_memory = !(piece.is_credit ? link_take_credit(link, cycle) : link_take_message(link, in->at));
    }
    return true;
}

ls_status ranks_exchange(ls_engine *engine, ls_error *err)
{
    rank_state *r = engine->ranks;
    ls_error why;
    for (size_t i = 0; i < r->links.count; i++)
        if (r->links.at[i].sends)
            pack_messages(r, &r->links.at[i]);
        else
            pack_credits(r, &r->links.at[i]);
    ls_status status = ranks_send(r, r->with, err);
    bool no_memory = false;
    for (uint32_t i = 0; i < r->transport.ranks && status == LS_OK; i++) {
        bytes_in in = { .at = r->in[i].at, .end = r->in[i].at + r->in[i].count };
        while (in.at != in.end && status == LS_OK)
            if (!take_piece(engine, i, &in, &no_memory))
                status = ls_fail(&why, LS_ERR_INPUT, "rank %u sent bytes that fit no link of this machine", i);
        if (no_memory)
            status = ls_fail(&why, LS_ERR_NOMEM, "no memory for the messages of rank %u", i);
        if (status != LS_OK) {
            break_off(r, status, &why);
            status = still_broken(r, err);
        }
    }
    return status;
}

/* Everything as the least of something, so that one call is enough. */
ls_status ranks_meet(ls_engine *engine, rank_news *news, ls_error *err)
{
    rank_state *r = engine->ranks;
    uint64_t values[] = { news->start,      news->until,      !news->is_stopped,
                          !news->is_failed, !news->is_paused, !news->is_stopping };
    ls_status status = call(r, r->transport.least, values, LS_COUNT_OF(values), err);
    *news = (rank_news){ .start = values[0],
                         .until = values[1],
                         .is_stopped = values[2] == 0,
                         .is_failed = values[3] == 0,
                         .is_paused = values[4] == 0,
                         .is_stopping = values[5] == 0 };
    r->n.meetings++;
    return status;
}

bool ranks_any(ls_engine *engine, bool here)
{
    uint64_t value = !here;
    if (engine->ranks != NULL)
        (void)call(engine->ranks, engine->ranks->transport.least, &value, 1, NULL);
    return value == 0;
}

uint64_t ranks_total(ls_engine *engine, uint64_t here)
{
    if (engine->ranks != NULL)
        (void)call(engine->ranks, engine->ranks->transport.sum, &here, 1, NULL);
    return here;
}

uint64_t ranks_most(ls_engine *engine, uint64_t here)
{
    uint64_t value = ~here;
    if (engine->ranks != NULL)
        (void)call(engine->ranks, engine->ranks->transport.least, &value, 1, NULL);
    return ~value;
}

/* ------------------------------------------------------------------------------------------------ end of a run */

/* One rank's end of a run. */
typedef struct rank_end {
    ls_status status;
    uint32_t failing; /* domain */
    ls_error err;
} rank_end;

/* As in one process: what ended the run itself, then the first domain that failed. */
static const rank_end *choose_end(const rank_end *ends, uint32_t ranks)
{
    const rank_end *chosen = &ends[0];
    for (uint32_t i = 0; i < ranks; i++)
        if (ends[i].failing == UINT32_MAX && ends[i].status != LS_OK && ends[i].status != LS_ERR_DEADLOCK)
            return &ends[i];
    for (uint32_t i = 1; i < ranks; i++)
        if (ends[i].failing < chosen->failing)
            chosen = &ends[i];
    return chosen;
}

static ls_status agree(ls_engine *engine, ls_status status, uint32_t failing, ls_error *err)
{
    rank_end own = { .status = status, .failing = failing };
    rank_end *ends = calloc(ranks_count(engine), sizeof *ends);
    const rank_bytes *in;
    if (err != NULL)
        own.err = *err;
    own.err.status = status;
    if (ends == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the ends of the ranks");
    ls_status told = ranks_tell(engine, (rank_bytes){ (const uint8_t *)&own, sizeof own }, &in, err);
    for (uint32_t i = 0; i < ranks_count(engine) && told == LS_OK; i++)
        if (in[i].count == sizeof own)
            memcpy(&ends[i], in[i].at, sizeof own);
    if (told == LS_OK) {
        const rank_end *end = choose_end(ends, ranks_count(engine));
        if (err != NULL)
            *err = end->err;
        told = end->status;
    }
    free(ends);
    return told;
}

ls_status ranks_agree(ls_engine *engine, ls_status status, ls_error *err)
{
    if (engine->ranks == NULL)
        return status;
    if (engine->ranks->broken != LS_OK)
        return still_broken(engine->ranks, err);
    return agree(engine, status, UINT32_MAX, err);
}

ls_status ranks_finish(ls_engine *engine, ls_status status, uint32_t failing, ls_run_result *result,
                       ls_error *err)
{
    rank_state *r = engine->ranks;
    if (r->broken != LS_OK)
        return still_broken(r, err);
    r->n.windows += result->windows;
    uint64_t least[] = { status == LS_OK, failing, ~result->end_time };
    uint64_t sums[] = { result->events, result->messages, result->ticks, result->region_cycles,
                        result->windows };
    ls_status told = call(r, r->transport.least, least, LS_COUNT_OF(least), err);
    if (told == LS_OK)
        told = call(r, r->transport.sum, sums, LS_COUNT_OF(sums), err);
    if (told == LS_OK && (least[0] == 0 || least[1] != UINT32_MAX))
        told = status = agree(engine, status, failing, err);
    if (told != LS_OK && told != LS_ERR_DEADLOCK)
        return told;
    result->end_time = engine->last_cycle = ~least[2];
    result->events = sums[0];
    result->messages = sums[1];
    result->ticks = sums[2];
    result->region_cycles = sums[3];
    result->windows = sums[4];
    told = ranks_gather_counters(engine, status == LS_OK ? err : NULL);
    return status == LS_OK ? told : status;
}

/* ------------------------------------------------------------------------------------------------- reports */

typedef struct rank_held {
    uint32_t link, held;
} rank_held;

void ranks_share_held(ls_engine *engine)
{
    rank_state *r = engine->ranks;
    for (size_t i = 0; r != NULL && i < r->links.count; i++) {
        const rank_link *l = &r->links.at[i];
        const rank_held held = { l->link->id, link_held(l->link) };
        if (!l->sends)
            bytes_put(&r->out[l->peer], &held, sizeof held);
    }
    if (r == NULL || ranks_send(r, NULL, NULL) != LS_OK)
        return;
    for (uint32_t i = 0; i < r->transport.ranks; i++)
        for (size_t k = 0; k + sizeof(rank_held) <= r->in[i].count; k += sizeof(rank_held)) {
            rank_held held;
            memcpy(&held, r->in[i].at + k, sizeof held);
            if (held.link >= engine->links.count || engine->links.at[held.link]->from->domain->group->is_away)
                continue;
            ls_link *link = engine->links.at[held.link];
            link->head = atomic_load_explicit(&link->released, memory_order_relaxed) + held.held;
        }
}

ls_status ranks_report(ls_engine *engine, rank_counts *out, ls_error *err)
{
    const rank_bytes *in;
    rank_state *r = engine->ranks;
    if (r == NULL) {
        *out = (rank_counts){ .groups = engine->groups.count, .domains = engine->domains.count };
        return LS_OK;
    }
    rank_counts own = r->n;
    ls_status status = ranks_tell(engine, (rank_bytes){ (const uint8_t *)&own, sizeof own }, &in, err);
    for (uint32_t i = 0; i < r->transport.ranks && status == LS_OK; i++)
        if (in[i].count == sizeof own)
            memcpy(&out[i], in[i].at, sizeof own);
    return status;
}
