/* round_robin_dependent.c: programmatic dependent launches: kernels of one stream that overlap.
 *
 * When all blocks of a kernel have been sent, and each has signalled (PREEXIT) or ended, the next kernel of the stream is
 * launched. Its blocks start beside those that still run. A warp that waits for the kernel before (ACQBULK) goes on when that
 * one has ended: its stores are done then. Traces do not say how a kernel was launched. A kernel whose first block has no
 * ACQBULK was not launched so, and begins when the one before has ended. */
#include "model/dispatch/round_robin_impl.h"

/* Only in a machine whose dispatcher can keep blocks that it has read. */
static bool lets_others_start(const dispatch *d, const kernel_state *k)
{
    return d->held != NULL && k->exhausted && k->sent > 0 && k->signalled == k->sent && k->done < k->sent;
}

kernel_state *dispatch_stream_before(dispatch *d, uint64_t stream, bool *busy)
{
    kernel_state *last = NULL;
    *busy = false;
    for (uint32_t i = 0; i < d->slots; i++) {
        kernel_state *k = &d->kernels[i];
        if (!k->used || k->kernel.info->stream != stream)
            continue;
        *busy |= !lets_others_start(d, k);
        if (last == NULL || k->number > last->number)
            last = k;
    }
    return last;
}

void dispatch_begin_after(dispatch *d, kernel_state *k, const kernel_state *before)
{
    k->after = before->number;
    k->early = true;
    k->told = d->core_count;
}

static bool waits_itself(const kernel_state *k, const ls_cta *cta)
{
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_inst *inst = &k->kernel.insts[cta->dyns[i].inst];
        if ((inst->flags & LS_INST_ASYNC_OP) != 0 && inst->class_ != LS_CLASS_tensor_group &&
            inst->async_op == LS_ASYNC_DEPENDS)
            return true;
    }
    return false;
}

bool dispatch_look_at_dependent(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    if (k->early) {
        k->early = false;
        spare_cta *first = dispatch_read(d, slot);
        if (first == NULL)
            return false;
        d->held[d->held_count++] = first->block;
        k->depends = waits_itself(k, &first->cta);
    }
    return k->after == 0 || k->depends;
}

void dispatch_block_signals(dispatch *d, uint32_t block)
{
    sent_block *b = &d->sent[block];
    d->kernels[b->kernel].signalled += !b->signalled;
    b->signalled = true;
}

void dispatch_end_dependence(dispatch *d, const kernel_state *ended)
{
    for (uint32_t i = 0; i < d->slots; i++) {
        kernel_state *k = &d->kernels[i];
        if (!k->used || k->after != ended->number)
            continue;
        k->after = 0;
        if (k->depends) {
            k->told = 0;
        } else { /* as if it had been launched now */
            ls_cycle latency = k->ready - k->begin;
            k->begin = ended->end;
            k->ready = k->begin + latency;
            k->early = false;
        }
    }
}

bool dispatch_tell_cores(dispatch *d)
{
    bool more = false;
    for (uint32_t slot = 0; slot < d->slots; slot++) {
        kernel_state *k = &d->kernels[slot];
        for (; k->used && k->depends && k->after == 0 && k->told < d->core_count; k->told++) {
            ls_link *link = d->to_core[k->told];
            if (d->loads[k->told].by_kernel[slot] == 0)
                continue;
            ls_core_launch *message = ls_link_ready(link) ? ls_link_send(link, 1) : NULL;
            if (message == NULL) {
                more = true;
                break;
            }
            *message = (ls_core_launch){ .block = LS_LAUNCH_NONE, .kernel = slot, .depends = LS_DEPENDS_END };
        }
    }
    return more;
}
