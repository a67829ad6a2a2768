/* session_ranks.c: see session_ranks.h. */
#include "sim/session_ranks.h"

#include "sim/session.h"

#include <stdlib.h>
#include <string.h>

/* What the ranks compare before the run. */
typedef struct rank_card {
    ls_status status;
    ls_error err;
    char version[32], config_hash[LS_HASH_TEXT_BYTES], workload[512];
    uint64_t seed, blocks;
} rank_card;

static rank_card card_of(const ls_sim *s, ls_status opened, const ls_error *err)
{
    rank_card card = { .status = opened };
    snprintf(card.version, sizeof card.version, "%s", LS_VERSION_STRING);
    if (opened != LS_OK || s == NULL) {
        card.err = *err;
        return card;
    }
    snprintf(card.config_hash, sizeof card.config_hash, "%s", s->config_hash);
    snprintf(card.workload, sizeof card.workload, "%s", s->workload != NULL ? s->workload : "");
    card.seed = s->seed;
    card.blocks = ls_engine_block_count(s->engine);
    return card;
}

/* The first difference between rank 0 and another one. */
static ls_status compare_cards(const rank_card *cards, uint32_t ranks, ls_error *err)
{
    for (uint32_t i = 0; i < ranks; i++)
        if (cards[i].status != LS_OK) {
            if (err != NULL)
                *err = cards[i].err;
            return i == 0 ? cards[i].status : ls_error_prefix(err, "rank %u", i);
        }
    for (uint32_t i = 1; i < ranks; i++) {
        const rank_card *a = &cards[0], *b = &cards[i];
        const char *what = strcmp(a->version, b->version) != 0           ? "version of Lockstep"
                           : strcmp(a->workload, b->workload) != 0       ? "workload"
                           : strcmp(a->config_hash, b->config_hash) != 0 ? "configuration"
                           : a->seed != b->seed                          ? "seed"
                           : a->blocks != b->blocks                      ? "machine"
                                                                         : NULL;
        if (what != NULL)
            return ls_fail(err, LS_ERR_USAGE, "rank %u has another %s than rank 0", i, what);
    }
    return LS_OK;
}

ls_status session_ranks_divide(ls_sim *s, ls_status opened, const rank_transport *transport, bool *is_lost,
                               ls_error *err)
{
    uint32_t ranks = transport->ranks;
    ls_error own = { 0 };
    if (opened == LS_OK && s != NULL && ranks > 1)
        opened = ranks_attach(s->engine, transport, err);
    if (opened == LS_OK && s != NULL && s->has_program)
        opened = timing_orders_begin(s->program.request.system, s->kind != RUN_RECORDING, err);
    if (err != NULL)
        own = *err;
    own.status = opened;
    const rank_card card = card_of(s, opened, &own);
    rank_card *cards = calloc(ranks, sizeof *cards);
    rank_bytes *out = calloc(ranks, sizeof *out), *in = calloc(ranks, sizeof *in);
    ls_status status = cards != NULL && out != NULL && in != NULL
                           ? LS_OK
                           : ls_fail(err, LS_ERR_NOMEM, "no memory for %u ranks", ranks);
    for (uint32_t i = 0; i < ranks && status == LS_OK; i++)
        out[i] = (rank_bytes){ (const uint8_t *)&card, sizeof card };
    if (status == LS_OK)
        status = transport->exchange(transport->self, out, in, NULL, err);
    *is_lost = status != LS_OK;
    for (uint32_t i = 0; i < ranks && status == LS_OK; i++) {
        if (i == transport->rank)
            cards[i] = card;
        else if (in[i].count == sizeof card)
            memcpy(&cards[i], in[i].at, sizeof card);
        else
            status = ls_fail(err, LS_ERR_USAGE, "rank %u has another version of Lockstep than rank %u", i,
                             transport->rank);
    }
    if (status == LS_OK)
        status = compare_cards(cards, ranks, err);
    free(cards);
    free(out);
    free(in);
    return status;
}

bool session_ranks_lost(const ls_sim *s)
{
    return s != NULL && s->engine != NULL && ranks_lost(s->engine);
}

ls_status session_ranks_report(ls_sim *s, ls_error *err)
{
    uint32_t count = ranks_count(s->engine);
    if (count == 1)
        return LS_OK;
    s->ranks = arena_array(&s->arena, count, sizeof *s->ranks);
    if (s->ranks == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the report of %u ranks", count);
    s->rank_count = count;
    return ranks_report(s->engine, s->ranks, err);
}
