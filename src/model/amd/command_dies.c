/* command_dies.c: work-groups of a GPU of several dies (XCDs). The command processors of all dies see each launch; die k
 * of n takes the work-groups k, k + n, k + 2 n, ... of the grid and sends them to its own compute units, one per
 * interval. So dies do not wait for each other. */
#include "model/amd/command_impl.h"

ls_status command_dies_attach(command *c, uint32_t dies, ls_error *err)
{
    if (dies > COMMAND_DIES_MAX || c->clusters % dies != 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%u dies of %u clusters; up to %u, of as many each", dies,
                       c->clusters, COMMAND_DIES_MAX);
    c->dies = dies;
    c->die_cus = ls_domain_alloc(c->domain, dies * sizeof *c->die_cus);
    if (c->die_cus == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the command processor of %u dies", dies);
    for (uint32_t cu = 0; cu < c->cu_count; cu++)
        c->die_cus[cu % c->clusters % dies][cu / 64] |= UINT64_C(1) << cu % 64;
    return LS_OK;
}

static bool has_work(const command *c, const dispatcher *d, uint32_t die)
{
    return d->phase == DISPATCHER_DEAL && !d->is_cancelled && d->die_sent[die] * c->dies + die < d->total;
}

/* The first of the die's compute units, from the one on whose turn it is, that the dispatcher has not found full;
 * cu_count: none. */
static uint32_t next_open(const command *c, const dispatcher *d, uint32_t die)
{
    uint32_t first = c->die_cu[die];
    for (uint32_t i = 0; i <= c->cu_words; i++) {
        uint32_t word = (first / 64 + i) % c->cu_words;
        uint64_t open = ~d->full[word] & c->die_cus[die][word];
        if (i == 0)
            open &= UINT64_MAX << first % 64;
        if (open != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(open);
    }
    return c->cu_count;
}

/* Of the die's next work-group: its place in the grid. */
static void find_group(command *c, dispatcher *d, uint32_t die)
{
    uint64_t number = d->die_sent[die] * c->dies + die;
    if (d->packet->kernel.which.count != 0)
        number = ls_groups_at(&d->packet->kernel.which, number);
    for (uint32_t i = 0; i < 3; i++) {
        d->next[i] = (uint32_t)(number % d->groups[i]);
        number /= d->groups[i];
    }
}

/* Sends one work-group; its waves, 0: no room, or *again: a link was not ready. */
static uint32_t send_to(command *c, dispatcher *d, uint32_t die, bool *again)
{
    place_need need = d->need;
    find_group(c, d, die);
    need.waves = command_next_waves(d);
    for (;;) {
        uint32_t cu = next_open(c, d, die);
        if (cu == c->cu_count)
            return 0;
        command_sent sent = command_try(c, d, cu, &need);
        if (sent == COMMAND_FULL)
            continue;
        if (sent == COMMAND_BUSY) {
            *again = true;
            return 0;
        }
        d->die_sent[die]++;
        c->die_cu[die] = cu + 1 < c->cu_count ? cu + 1 : 0;
        return need.waves;
    }
}

static void distribute_to(command *c, uint32_t die, ls_cycle now, bool *again)
{
    uint32_t count = (uint32_t)c->spec->dispatchers;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (c->die_dispatcher[die] + i) % count;
        dispatcher *d = &c->dispatchers[at];
        if (!has_work(c, d, die))
            continue;
        uint32_t waves = send_to(c, d, die, again);
        if (waves == 0)
            continue;
        uint64_t cycles = waves * c->spec->wave_cycles;
        cycles = cycles > c->spec->group_cycles ? cycles : c->spec->group_cycles;
        c->die_next[die] = now + cycles;
        c->n.dispatch_cycles += cycles;
        c->die_dispatcher[die] = (at + 1) % count;
        return;
    }
}

void command_dies_distribute(command *c, ls_cycle now, bool *again)
{
    if (c->active == 0)
        return;
    for (uint32_t die = 0; die < c->dies; die++)
        if (now >= c->die_next[die])
            distribute_to(c, die, now, again);
}

ls_cycle command_dies_next(const command *c)
{
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; c->active > 0 && i < c->spec->dispatchers; i++) {
        const dispatcher *d = &c->dispatchers[i];
        if (d->phase != DISPATCHER_DEAL)
            continue;
        for (uint32_t die = 0; die < c->dies; die++)
            if (c->die_next[die] < next && has_work(c, d, die) && next_open(c, d, die) != c->cu_count)
                next = c->die_next[die];
    }
    return next;
}
