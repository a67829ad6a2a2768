/* dram_reads_first.c: a DRAM scheduler that serves reads before writes, as nobody waits for a write. Among equals the
 * open row goes first, then the oldest request. After READS_IN_A_ROW reads a write has its turn, so that none waits for
 * ever. Chosen by channels of either vendor: `dram.scheduler: reads-first`. */
#include "lockstep/policy.h"

#define READS_IN_A_ROW 32u

typedef struct state {
    uint32_t reads; /* since the last write */
} state;

static size_t state_bytes(uint32_t banks)
{
    (void)banks;
    return sizeof(state);
}

/* Smaller is better. */
static uint32_t rank(const ls_dram_waiting *request, bool writes_first)
{
    return (request->write != writes_first ? 2u : 0u) + (request->row_hit ? 0u : 1u);
}

static uint32_t choose(void *self, const ls_dram_waiting *requests, uint32_t count)
{
    state *s = self;
    bool writes_first = s->reads >= READS_IN_A_ROW;
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) /* the oldest comes first */
        if (rank(&requests[i], writes_first) < rank(&requests[best], writes_first))
            best = i;
    s->reads = requests[best].write ? 0 : s->reads + 1;
    return best;
}

static const ls_dram_scheduler_ops ops = { .state_bytes = state_bytes, .choose = choose };
static const ls_port_decl ports[] = {
    { .name = LS_DRAM_SCHEDULER_PORT, .interface = LS_DRAM_SCHEDULER_INTERFACE, .ops = &ops },
};

static const ls_block_type dram_reads_first = {
    .abi = LS_ABI_VERSION,
    .slot = LS_DRAM_SCHEDULER_SLOT,
    .name = "reads-first",
    .help = "reads before writes, then open rows, then the oldest",
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(dram_reads_first);
