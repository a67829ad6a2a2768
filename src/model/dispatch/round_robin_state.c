/* round_robin_state.c: the state table of the block scheduler (lockstep/state.h). Kernels are saved as numbers that the workload
 * gives them. Thread blocks are saved as their places in the kernel, and read again when a state is loaded. */
#include "model/dispatch/round_robin_impl.h"

#include <stdlib.h>

static uint64_t encode_kernel(const void *state, const void *self, const void *handle)
{
    const dispatch *d = state;
    (void)handle;
    return d->work.number_of(d->work.self, self);
}

/* The kernel that waits for its stream has no row in the launch table. */
static void *decode_waiting(void *state, void *self, uint64_t number)
{
    dispatch *d = state;
    ls_dispatch_kernel *kernel = self;
    bool found = d->work.find_kernel != NULL && d->work.find_kernel(d->work.self, number, kernel);
    return found ? kernel->handle : NULL;
}

static void *decode_kernel(void *state, void *self, uint64_t number)
{
    dispatch *d = state;
    ls_dispatch_kernel *kernel = self;
    if (decode_waiting(state, self, number) == NULL || kernel->slot >= KERNELS_MAX)
        return NULL;
    ls_dispatch_set_kernel(d->launches, kernel);
    return kernel->handle;
}

typedef struct wanted_block {
    uint64_t index;
    uint32_t row;
} wanted_block;

static int by_index(const void *a, const void *b)
{
    uint64_t x = ((const wanted_block *)a)->index, y = ((const wanted_block *)b)->index;
    return (x > y) - (x < y);
}

/* Reads the blocks of a kernel again, up to the last that was sent, and keeps those that cores have. Instructions get
 * the same numbers again, which follow from the order of reading. */
static bool read_again(dispatch *d, uint32_t slot, wanted_block *wanted, ls_cta *unused)
{
    const kernel_state *k = &d->kernels[slot];
    size_t count = 0, next = 0;
    for (uint32_t i = 0; i < d->made_count; i++)
        if (d->sent[i].used && d->sent[i].kernel == slot)
            wanted[count++] = (wanted_block){ d->sent[i].index, i };
    qsort(wanted, count, sizeof *wanted, by_index);
    for (uint64_t i = 0; i < k->read; i++) {
        bool is_wanted = next < count && wanted[next].index == i, end = false;
        ls_cta *cta = is_wanted ? &d->made[wanted[next++].row]->cta : unused;
        if (d->work.next_cta(d->work.self, &k->kernel, cta, &end, &d->failure) != LS_OK || end)
            return false;
    }
    return next == count;
}

static bool read_all_again(dispatch *d)
{
    wanted_block *wanted = calloc((size_t)d->made_count + 1, sizeof *wanted);
    ls_cta unused = { 0 };
    bool ok = wanted != NULL;
    for (uint32_t slot = 0; slot < KERNELS_MAX && ok; slot++)
        if (d->kernels[slot].used)
            ok = read_again(d, slot, wanted, &unused);
    ls_cta_fini(&unused);
    free(wanted);
    return ok;
}

/* The launch table stands for its rows: their number, of which some are in use. */
static uint64_t encode_launches(const void *state, const void *self, const void *launches)
{
    (void)self;
    (void)launches;
    return (uint64_t)((const dispatch *)state)->made_count + 1;
}

static void *decode_launches(void *state, void *self, uint64_t code)
{
    dispatch *d = state;
    (void)self;
    if (code - 1 > d->launches->block_count)
        return NULL;
    while (d->made_count < code - 1)
        if (dispatch_take_cta(d) == NULL)
            return NULL;
    for (uint32_t i = d->made_count; i-- > 0;)
        if (!d->sent[i].used) {
            d->made[i]->next = d->spare;
            d->spare = d->made[i];
        }
    return read_all_again(d) ? d->launches : NULL;
}

static uint64_t core_length(const void *self)
{
    return ((const dispatch *)self)->core_count;
}
static uint64_t open_length(const void *self)
{
    return LS_BITSET_WORDS(((const dispatch *)self)->core_count);
}
static uint64_t row_length(const void *self)
{
    return ((const dispatch *)self)->launches->block_count;
}

#define KERNEL_ROWS(decode_)                                                                                  \
    {                                                                                                         \
        LS_STATE_FIXED_SPAN(ls_dispatch_kernel, info, insts), LS_STATE_DATA(ls_dispatch_kernel, ctas),        \
            LS_STATE_CODED(ls_dispatch_kernel, handle, encode_kernel, decode_),                               \
            LS_STATE_DATA(ls_dispatch_kernel, slot), LS_STATE_FIXED_SPAN(ls_dispatch_kernel, rates, counts),  \
            LS_STATE_DATA(ls_dispatch_kernel, continues),                                                     \
    }
static const ls_state_row kernel_rows[] = KERNEL_ROWS(decode_kernel);
static const ls_state_row waiting_rows[] = KERNEL_ROWS(decode_waiting);

static uint64_t cluster_length(const void *self)
{
    return ((const dispatch *)self)->cluster_rows;
}

static uint64_t held_length(const void *self)
{
    const dispatch *d = self;
    return d->held == NULL ? 0 : d->launches->block_count;
}

static const ls_state_row launched_rows[] = {
    LS_STATE_PART(kernel_state, kernel, kernel_rows),
    LS_STATE_DATA_SPAN(kernel_state, used, end),
};

const ls_state_row dispatch_rows[DISPATCH_ROWS] = {
    LS_STATE_FIXED_SPAN(dispatch, spec, work),
    LS_STATE_DATA(dispatch, n),
    LS_STATE_FIXED_SPAN(dispatch, capacity, to_core),
    LS_STATE_ARRAY(dispatch, loads, core_length),
    LS_STATE_ARRAY(dispatch, open, open_length),
    LS_STATE_FIXED(dispatch, core_count),
    LS_STATE_DATA(dispatch, next_core),
    LS_STATE_FIXED_SPAN(dispatch, link_latency, placement_rule),
    LS_STATE_DATA_SPAN(dispatch, place, turn),
    LS_STATE_FIXED(dispatch, refill_cycles),
    LS_STATE_PARTS(dispatch, kernels, launched_rows),
    LS_STATE_DATA_SPAN(dispatch, ended, launch_count),
    LS_STATE_PARTS(dispatch, waiting, waiting_rows),
    LS_STATE_DATA(dispatch, waiting_count),
    LS_STATE_FIXED_SPAN(dispatch, sorted, priority_count),
    LS_STATE_DATA_SPAN(dispatch, order, active_since),
    LS_STATE_CODED(dispatch, launches, encode_launches, decode_launches),
    LS_STATE_FIXED(dispatch, made),
    LS_STATE_ARRAY(dispatch, sent, row_length),
    LS_STATE_FIXED_SPAN(dispatch, made_count, spare),
    LS_STATE_FIXED_SPAN(dispatch, gpcs, cluster_rows),
    LS_STATE_ARRAY(dispatch, clusters, cluster_length),
    LS_STATE_ARRAY(dispatch, cluster_left, cluster_length),
    LS_STATE_ARRAY(dispatch, held, held_length),
    LS_STATE_DATA_SPAN(dispatch, held_count, cluster_number),
    LS_STATE_EVENT(dispatch, pump),
    LS_STATE_DATA(dispatch, failure),
};
