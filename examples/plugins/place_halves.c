/* place_halves.c: work-groups go to the two halves of a chip in turn: core 0, the first core of the other half, core 1,
 * and so on. Neighbouring work-groups then share no half, which spreads their requests over the network. Chosen by the
 * dispatchers of either vendor: `dispatch.placement: halves`, `command.placement: halves`. */
#include "lockstep/policy.h"

/* state[0]: work-groups so far. The core of the last one does not matter. */
static uint32_t next(uint64_t state[LS_PLACEMENT_WORDS], uint32_t core, uint32_t cores)
{
    (void)core;
    uint64_t number = ++state[0] % cores;
    uint32_t lower = (cores + 1) / 2; /* cores of the first half */
    return (uint32_t)(number / 2 + (number % 2 != 0 ? lower : 0));
}

static const ls_placement_ops ops = { .next = next };
static const ls_port_decl ports[] = {
    { .name = LS_PLACEMENT_PORT, .interface = LS_PLACEMENT_INTERFACE, .ops = &ops },
};

static const ls_block_type place_halves = {
    .abi = LS_ABI_VERSION,
    .slot = LS_PLACEMENT_SLOT,
    .name = "halves",
    .help = "the halves of the chip in turn",
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(place_halves);
