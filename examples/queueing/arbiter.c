/* arbiter.c: slot queueing.arbiter: which of several waiting inputs comes next. Two policies; a third is one
 * more file like this one. */
#include "queueing.h"

/* ------------------------------------------------------------------------------------------ round-robin */

/* Fair: the search starts after the last winner, so that every input is served at least once in as many grants
 * as there are inputs. */
typedef struct round_robin {
    uint32_t last;
} round_robin;

static uint32_t round_robin_pick(void *self, uint64_t waiting, const ls_time *born_fs)
{
    round_robin *r = self;
    (void)born_fs;
    uint64_t behind = r->last == 63 ? 0 : waiting & (UINT64_MAX << (r->last + 1));
    r->last = (uint32_t)__builtin_ctzll(behind ? behind : waiting);
    return r->last;
}

static ls_status round_robin_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    (void)block, (void)spec, (void)err;
    ((round_robin *)state)->last = QUEUEING_MAX_PEERS - 1; /* so that input 0 is first */
    return LS_OK;
}

static const queueing_arbiter_ops round_robin_ops = { .pick = round_robin_pick };

static const ls_port_decl round_robin_ports[] = {
    { .name = "arbiter", .interface = QUEUEING_ARBITER, .ops = &round_robin_ops },
};

static const ls_state_row round_robin_rows[] = { LS_STATE_DATA(round_robin, last) };

static const ls_block_type round_robin_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.arbiter",
    .name = "round-robin",
    .help = "inputs in turn",
    .state_size = sizeof(round_robin),
    .ports = round_robin_ports,
    .port_count = LS_COUNT_OF(round_robin_ports),
    .init = round_robin_init,
    .rows = round_robin_rows,
    .row_count = LS_COUNT_OF(round_robin_rows),
};
LS_REGISTER_BLOCK(round_robin_type);

/* ----------------------------------------------------------------------------------------------- oldest */

/* Fair by age: the message that was made first wins; of equals, that of the lowest input. */
static uint32_t oldest_pick(void *self, uint64_t waiting, const ls_time *born_fs)
{
    (void)self;
    uint32_t best = (uint32_t)__builtin_ctzll(waiting);
    for (uint64_t rest = waiting & (waiting - 1); rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(rest);
        if (born_fs[i] < born_fs[best])
            best = i;
    }
    return best;
}

static const queueing_arbiter_ops oldest_ops = { .pick = oldest_pick };

static const ls_port_decl oldest_ports[] = {
    { .name = "arbiter", .interface = QUEUEING_ARBITER, .ops = &oldest_ops },
};

static const ls_block_type oldest_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.arbiter",
    .name = "oldest",
    .help = "the message that was made first",
    .ports = oldest_ports,
    .port_count = LS_COUNT_OF(oldest_ports),
};
LS_REGISTER_BLOCK(oldest_type);
