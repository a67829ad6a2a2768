/* round_robin_cluster.c: clusters: blocks that go to the cores of one GPC in the same cycle, or not at all.
 *
 * The blocks of a cluster do not follow each other in the grid if it has more than one row. So blocks are read and kept until
 * a cluster is complete. Traces do not say how large clusters are: the block after the last of a row of clusters does, or the
 * end of the grid. Each rank goes to the core of the GPC with the fewest blocks that has room, the first of them in the order
 * of cores: ranks 0, 1, 2, 3, 4 of an empty GPC of an H800 run on SMs 0, 1, 14, 15, 28 (hopper.md, measured). */
#include "model/dispatch/round_robin_impl.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------- blocks and sizes */

/* The size of clusters along an axis, as far as this block tells it; 0: it does not. */
static uint32_t size_of(const ls_cta *cta, const ls_kernel_info *info, uint32_t axis)
{
    if (!cta->in_cluster || info->grid[axis] == 1)
        return 1;
    if (cta->cluster[axis] > 0)
        return (cta->id[axis] - cta->cluster_cta[axis]) / cta->cluster[axis];
    return cta->id[axis] + 1 == info->grid[axis] ? cta->id[axis] + 1 : 0;
}

static void learn_sizes(kernel_state *k, const ls_cta *cta)
{
    for (uint32_t axis = 0; axis < 3; axis++)
        if (k->cluster[axis] == 0)
            k->cluster[axis] = size_of(cta, k->kernel.info, axis);
}

/* Reads one block and keeps it; false at the end of the kernel, and for a failure. */
static bool keep_block(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    spare_cta *spare = dispatch_read(d, slot);
    if (spare == NULL)
        return false;
    learn_sizes(k, &spare->cta);
    d->held[d->held_count++] = spare->block;
    return true;
}

static bool sizes_known(const kernel_state *k)
{
    return k->cluster[0] != 0 && k->cluster[1] != 0 && k->cluster[2] != 0;
}

static uint32_t gpc_cores(const dispatch *d, uint32_t gpc)
{
    uint32_t cores = 0;
    for (uint32_t core = 0; core < d->core_count; core++)
        cores += ls_core_gpc(core, d->tpc_cores, d->gpcs) == gpc;
    return cores;
}

static bool fits(const dispatch *d, const kernel_state *k)
{
    for (uint32_t gpc = 0; gpc < d->gpcs; gpc++)
        if ((uint64_t)gpc_cores(d, gpc) * k->per_core >= k->cluster_size)
            return true;
    return false;
}

bool dispatch_find_clusters(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    const ls_kernel_info *info = k->kernel.info;
    memcpy(k->cluster, info->cluster, sizeof k->cluster);
    while (!sizes_known(k) && keep_block(d, slot)) {
    }
    if (d->failure.status != LS_OK)
        return false;
    for (uint32_t axis = 0; axis < 3;
         axis++) /* the kernel ended before it was clear, as with a limit of blocks */
        k->cluster[axis] = k->cluster[axis] == 0 ? 1 : k->cluster[axis];
    uint64_t size = (uint64_t)k->cluster[0] * k->cluster[1] * k->cluster[2];
    if (size == 1) {
        k->cluster_size = 1;
        return true;
    }
    const ls_dispatch_rules rules = { .capacity = d->capacity, .core_count = d->core_count };
    k->per_core = ls_dispatch_blocks_per_core(&rules, info, k->kernel.ctas);
    k->cluster_size = (uint32_t)(size > LS_CLUSTER_BLOCKS ? LS_CLUSTER_BLOCKS + 1 : size);
    if (size <= LS_CLUSTER_BLOCKS && fits(d, k))
        return true;
    dispatch_fail(
        d, "kernel '%s' has clusters of %llu blocks: a GPC has room for %llu, and a cluster has at most %u",
        info->name, (unsigned long long)size, (unsigned long long)gpc_cores(d, 0) * k->per_core,
        LS_CLUSTER_BLOCKS);
    return false;
}

/* ------------------------------------------------------------------------------------------------- placement */

/* The core of the GPC for one more block; core_count: none has room. */
static uint32_t choose_core(const dispatch *d, const kernel_state *k, uint32_t slot, uint32_t gpc)
{
    uint32_t best = d->core_count;
    for (uint32_t first = gpc * d->tpc_cores; first < d->core_count; first += d->gpcs * d->tpc_cores)
        for (uint32_t core = first; core < first + d->tpc_cores && core < d->core_count; core++)
            if (dispatch_has_room(d, &d->loads[core], k, slot) &&
                (best == d->core_count || d->loads[core].ctas < d->loads[best].ctas))
                best = core;
    return best;
}

/* Cores for all blocks of a cluster, which count as taken; false: the GPC has no room for all. */
static bool place(dispatch *d, uint32_t slot, uint32_t gpc, uint16_t cores[LS_CLUSTER_BLOCKS])
{
    const kernel_state *k = &d->kernels[slot];
    uint32_t placed = 0;
    for (; placed < k->cluster_size; placed++) {
        uint32_t core = choose_core(d, k, slot, gpc);
        if (core == d->core_count || !ls_link_ready(d->to_core[core]))
            break;
        cores[placed] = (uint16_t)core;
        dispatch_add_load(&d->loads[core], k, slot);
    }
    if (placed == k->cluster_size)
        return true;
    while (placed > 0)
        dispatch_take_load(&d->loads[cores[--placed]], k, slot);
    return false;
}

/* ---------------------------------------------------------------------------------------------------- sending */

static bool same_cluster(const ls_cta *a, const ls_cta *b)
{
    return memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0;
}

/* The first kept block of the kernel; held_count: none. */
static uint32_t first_held(const dispatch *d, uint32_t slot)
{
    uint32_t i = 0;
    while (i < d->held_count && d->sent[d->held[i]].kernel != slot)
        i++;
    return i;
}

/* Puts the blocks of the kernel's next cluster in the order of their ranks; returns how many there are. Fewer than a cluster
 * has: the kernel has no more, as with a limit of blocks. */
static uint32_t gather(dispatch *d, uint32_t slot, uint32_t rows[LS_CLUSTER_BLOCKS])
{
    const kernel_state *k = &d->kernels[slot];
    for (;;) {
        uint32_t first = first_held(d, slot), found = 0;
        for (uint32_t i = first; i < d->held_count && found < k->cluster_size; i++)
            if (d->sent[d->held[i]].kernel == slot &&
                same_cluster(&d->made[d->held[i]]->cta, &d->made[d->held[first]]->cta))
                rows[found++] = d->held[i];
        if (found == k->cluster_size || !keep_block(d, slot))
            return found;
    }
}

static void drop_held(dispatch *d, uint32_t row)
{
    uint32_t i = 0;
    while (d->held[i] != row)
        i++;
    memmove(&d->held[i], &d->held[i + 1], (d->held_count - i - 1) * sizeof *d->held);
    d->held_count--;
}

static uint32_t free_row(const dispatch *d)
{
    uint32_t row = 0;
    while (row < d->cluster_rows && d->clusters[row].number != 0)
        row++;
    return row;
}

static void send_all(dispatch *d, uint32_t slot, const uint32_t rows[LS_CLUSTER_BLOCKS], uint32_t count,
                     const uint16_t cores[LS_CLUSTER_BLOCKS])
{
    kernel_state *k = &d->kernels[slot];
    uint32_t row = free_row(d);
    ls_launch_cluster *cluster = &d->clusters[row];
    *cluster = (ls_launch_cluster){ .number = ++d->cluster_number, .size = count };
    d->cluster_left[row] = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = d->made[rows[i]]->cta.cluster_rank;
        cluster->cores[rank < count ? rank : i] = cores[rank < count ? rank : i];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = d->made[rows[i]]->cta.cluster_rank;
        ls_core_launch *message = ls_link_send(d->to_core[cores[rank < count ? rank : i]], 1);
        *message = ls_dispatch_launch(&k->kernel, rows[i], k->number, k->per_core, k->cores);
        message->cluster = row + 1;
        message->depends = k->after != 0 ? LS_DEPENDS : LS_DEPENDS_NOT;
        d->sent[rows[i]].cluster = row + 1;
        drop_held(d, rows[i]);
        k->sent++;
    }
}

bool dispatch_send_cluster(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    uint32_t rows[LS_CLUSTER_BLOCKS], count = gather(d, slot, rows);
    uint16_t cores[LS_CLUSTER_BLOCKS];
    if (d->failure.status != LS_OK)
        return false;
    if (count == 0) {
        k->exhausted = true;
        return false;
    }
    if (count < k->cluster_size)
        k->cluster_size = count; /* the last one, cut short */
    for (uint32_t i = 0; i < d->gpcs; i++) {
        uint32_t gpc = (d->next_gpc + i) % d->gpcs;
        if (!place(d, slot, gpc, cores))
            continue;
        send_all(d, slot, rows, count, cores);
        d->next_gpc = (gpc + 1) % d->gpcs;
        return true;
    }
    k->no_room = d->n.ctas + 1; /* until the next block ends */
    return false;
}

void dispatch_end_cluster(dispatch *d, uint32_t row)
{
    if (row != 0 && --d->cluster_left[row - 1] == 0)
        d->clusters[row - 1].number = 0;
}
