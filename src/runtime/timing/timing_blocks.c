/* timing_blocks.c: launches of which not all work-groups run in simulated time (--sample blocks). The command processor asks
 * before it sends a work-group (ls_packet_watch). When those that have ended are in a steady state (sample_blocks.h), it
 * leaves whole waves of them out. After the launch these are emulated, so that the data are right. A kernel whose work-groups
 * wait for each other cannot run like that; one that only shares atomics can. */
#include "runtime/timing/timing_impl.h"

#include "model/amd/place.h"
#include "workload/sample/sample_blocks.h"

#include <stdlib.h>

/* The work-groups of one launch. The command processor's domain writes it while the engine runs. */
typedef struct timing_blocks {
    ls_packet_watch watch;
    sample_blocks steady;
    uint64_t skipped_at, skipped; /* work-groups, in the order in which they are sent */
    uint32_t cus;
    ls_cycle began[][PLACE_GROUPS_MAX]; /* by compute unit and slot: of the work-group there */
} timing_blocks;

static void sent(void *self, uint32_t cu, uint32_t slot, ls_cycle now)
{
    timing_blocks *b = self;
    if (cu < b->cus && slot < PLACE_GROUPS_MAX)
        b->began[cu][slot] = now;
}

static void ended(void *self, uint32_t cu, uint32_t slot, ls_cycle now)
{
    timing_blocks *b = self;
    if (cu < b->cus && slot < PLACE_GROUPS_MAX)
        sample_blocks_end(&b->steady, b->began[cu][slot], now);
}

static uint64_t skip(void *self, uint64_t before)
{
    timing_blocks *b = self;
    uint64_t count = sample_blocks_skip(&b->steady, before);
    if (count > 0) {
        b->skipped_at = before;
        b->skipped = count;
    }
    return count;
}

ls_status timing_blocks_begin(timing *t, timing_slot *slot, ls_error *err)
{
    const timing_gpu *g = &t->gpus[slot->gpu];
    const amd_gpu_facts *facts = amd_gpu_get_facts(g->gpu);
    uint32_t cus = facts->clusters * facts->cus_per_cluster;
    timing_blocks *b = calloc(1, sizeof *b + cus * sizeof b->began[0]);
    if (b == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for the work-groups of a launch");
    b->cus = cus;
    b->watch = (ls_packet_watch){ .self = b, .sent = sent, .ended = ended, .skip = skip };
    sample_blocks_begin(&b->steady, ls_cu_kernel_groups(&slot->packet.kernel),
                        g->command->places(g->command_self, &slot->packet));
    slot->blocks = b;
    slot->packet.watch = &b->watch;
    return LS_OK;
}

ls_status timing_blocks_end(timing *t, timing_slot *slot, const drv_work *work, ls_error *err)
{
    const timing_blocks *b = slot->blocks;
    const ls_groups *all = &slot->packet.kernel.which;
    uint64_t stride = all->stride != 0 ? all->stride : 1, instructions;
    if (b->skipped == 0)
        return LS_OK;
    const ls_groups left = {
        .first = all->first + b->skipped_at * stride, .count = b->skipped, .stride = stride, .list = all->list
    };
    ls_status status = timing_sample_publish(t, err);
    return status == LS_OK ? timing_emulate_groups(t, slot, work, &left, &instructions, err) : status;
}

void timing_blocks_measure(const timing_slot *slot, sample_measure *m)
{
    const timing_blocks *b = slot->blocks;
    if (b == NULL || b->skipped == 0)
        return;
    double variance, more = sample_blocks_cycles(&b->steady, &variance);
    m->cycles += more;
    m->variance = variance;
    m->blocks = m->simulated_blocks + b->skipped;
    /* The clock of the launch begins with its first work-groups. */
    m->projected = (double)m->cycles_simulated * (double)m->blocks / (double)m->simulated_blocks;
}

void timing_blocks_free(timing_slot *slot)
{
    free(slot->blocks);
    slot->blocks = NULL;
    slot->packet.watch = NULL;
}
