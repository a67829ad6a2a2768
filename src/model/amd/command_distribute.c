/* command_distribute.c: assigns work-groups to compute units. Dispatchers take turns; placement.h decides
 * which compute unit is tried first. Free places are bit masks. A compute unit without room is not tried again
 * before something on it ends. */
#include "model/amd/command_impl.h"

#include <string.h>

/* The next work-group's waves: at the grid's edges it may be smaller. */
uint32_t command_next_waves(const dispatcher *d)
{
    const ls_cu_kernel *k = &d->packet->kernel;
    uint32_t items = 1, lanes = k->program->lanes;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t left = k->grid[i] - d->next[i] * k->group[i];
        items *= left < k->group[i] ? left : k->group[i];
    }
    return (items + lanes - 1) / lanes;
}

void command_find_group(dispatcher *d)
{
    uint64_t number = ls_groups_at(&d->packet->kernel.which, d->sent);
    for (uint32_t i = 0; i < 3; i++) {
        d->next[i] = (uint32_t)(number % d->groups[i]);
        number /= d->groups[i];
    }
}

void command_next_group(dispatcher *d)
{
    d->sent++;
    if (d->packet->kernel.which.count != 0) {
        if (d->sent < d->total)
            command_find_group(d);
        return;
    }
    for (uint32_t i = 0; i < 3 && ++d->next[i] == d->groups[i]; i++)
        d->next[i] = 0;
}

uint32_t command_take_scratch(command *c, dispatcher *d)
{
    uint64_t word = d->first_place;
    while (word + 1 < c->place_words && d->places[word] == UINT64_MAX)
        word++;
    uint32_t bit = (uint32_t)__builtin_ctzll(~d->places[word]);
    d->places[word] |= UINT64_C(1) << bit;
    d->first_place = word;
    return (uint32_t)word * 64 + bit;
}

void command_count_blocked(command *c, place_limit limit)
{
    uint64_t *counters[PLACE_LIMIT_COUNT] = { NULL,
                                              &c->n.blocked_groups,
                                              &c->n.blocked_barriers,
                                              &c->n.blocked_waves,
                                              &c->n.blocked_vgprs,
                                              &c->n.blocked_sgprs,
                                              &c->n.blocked_lds };
    if (counters[limit] != NULL)
        (*counters[limit])++;
}

/* The first compute unit, from the one on whose turn it is, that the dispatcher has not found full; cu_count: none. */
static uint32_t next_candidate(const command *c, const dispatcher *d)
{
    uint32_t first = d->at.left > 0 ? d->at.core : c->next_cu; /* of a chunk that is not sent yet: its own */
    for (uint32_t i = 0; i <= c->cu_words; i++) {
        uint32_t word = (first / 64 + i) % c->cu_words;
        uint64_t open = ~d->full[word];
        if (word == c->cu_words - 1)
            open &= c->cu_tail;
        if (i == 0)
            open &= UINT64_MAX << first % 64;
        if (open != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(open);
    }
    return c->cu_count;
}

uint32_t command_next_open(const command *c, const dispatcher *d, uint32_t first)
{
    for (uint32_t word = first / 64; word < c->cu_words; word++) {
        uint64_t open = ~d->full[word];
        if (word == c->cu_words - 1)
            open &= c->cu_tail;
        if (word == first / 64)
            open &= UINT64_MAX << first % 64;
        if (open != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(open);
    }
    return c->cu_count;
}

/* Neighbours in the order of compute units are in different clusters: a small grid spreads over the GPU. */
static uint32_t cluster_of(const command *c, uint32_t cu)
{
    return cu % c->clusters;
}

command_sent command_try(command *c, dispatcher *d, uint32_t cu, const place_need *need)
{
    ls_link *link = c->orders[cluster_of(c, cu)];
    if (!ls_link_ready(link))
        return COMMAND_BUSY;
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX];
    uint16_t slot;
    place_limit limit = place_take(&c->place, &c->cus[cu], need, &slot, simd);
    if (limit != PLACE_FITS) {
        command_count_blocked(c, limit);
        d->full[cu / 64] |= UINT64_C(1) << cu % 64;
        return COMMAND_FULL;
    }
    ls_cluster_order *order = ls_link_send(link, 1);
    order->kind = LS_CLUSTER_LAUNCH;
    order->tag = 0;
    ls_cu_launch *launch = &order->launch;
    launch->kernel = (uint32_t)(d - c->dispatchers);
    memcpy(launch->id, d->next, sizeof launch->id);
    launch->scratch_place = command_take_scratch(c, d);
    launch->cu = (uint16_t)(cu / c->clusters);
    launch->slot = slot;
    launch->wave_count = (uint16_t)need->waves;
    memcpy(launch->simd, simd, sizeof simd);
    c->owner[cu][slot] = (uint8_t)(d - c->dispatchers);
    c->scratch[cu][slot] = launch->scratch_place;
    if (LS_UNLIKELY(d->packet->watch != NULL))
        d->packet->watch->sent(d->packet->watch->self, cu, slot, ls_region_now(c->region));
    command_next_group(d);
    d->packet->groups++;
    d->packet->waves += need->waves;
    c->n.work_groups++;
    c->n.wavefronts += need->waves;
    return COMMAND_SENT;
}

/* Sends the dispatcher's next work-group; how many waves it has, 0 if there is no room or the link is not
 * ready. */
static uint32_t send_next(command *c, dispatcher *d, bool *again)
{
    place_need need = d->need;
    need.waves = command_next_waves(d);
    for (;;) {
        uint32_t cu = next_candidate(c, d);
        if (cu == c->cu_count)
            return 0;
        command_sent sent = command_try(c, d, cu, &need);
        if (sent == COMMAND_FULL)
            continue;
        if (sent == COMMAND_BUSY) {
            *again = true;
            return 0;
        }
        uint32_t next = placement_next(&d->at, &c->placement, cu, c->cu_count);
        c->next_cu = d->at.left == 0 ? next : cu + 1 == c->cu_count ? 0 : cu + 1;
        return need.waves;
    }
}

/* A dispatcher that follows gets its work-groups from elsewhere. */
static bool distributes(const dispatcher *d)
{
    return d->phase == DISPATCHER_DEAL && !d->is_cancelled && d->sent < d->total &&
           d->role != DISPATCHER_FOLLOWS;
}

/* Work-groups that others stand for (ls_packet_watch). */
static void leave_out(dispatcher *d)
{
    const ls_packet_watch *watch = d->packet->watch;
    uint64_t skip = d->role == DISPATCHER_ALONE ? watch->skip(watch->self, d->sent) : 0;
    if (skip == 0 || skip >= d->total - d->sent)
        return;
    d->sent += skip;
    d->done += skip;
    command_find_group(d);
}

void command_distribute(command *c, ls_cycle now, bool *again)
{
    uint32_t count = (uint32_t)c->spec->dispatchers;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (c->next_dispatcher + i) % count;
        dispatcher *d = &c->dispatchers[at];
        if (!distributes(d))
            continue;
        if (LS_UNLIKELY(d->packet->watch != NULL))
            leave_out(d);
        uint32_t waves =
            d->role == DISPATCHER_LEADS ? command_send_anywhere(c, d, again) : send_next(c, d, again);
        if (waves == 0)
            continue;
        uint64_t cycles = waves * c->spec->wave_cycles;
        cycles = cycles > c->spec->group_cycles ? cycles : c->spec->group_cycles;
        c->next_distribution = now + cycles;
        c->n.dispatch_cycles += cycles;
        c->next_dispatcher = (at + 1) % count;
        return;
    }
}

bool command_may_distribute(const command *c)
{
    for (uint32_t i = 0; i < c->spec->dispatchers; i++) {
        const dispatcher *d = &c->dispatchers[i];
        if (!distributes(d))
            continue;
        if (d->role == DISPATCHER_LEADS ? command_any_open(c, d) : next_candidate(c, d) != c->cu_count)
            return true;
    }
    return false;
}
