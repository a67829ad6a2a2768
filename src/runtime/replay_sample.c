/* replay_sample.c: a trace of which only some kernels run: those that a plan (workload/sample) wants, one at a time. The
 * dispatcher asks for the next one when the last has ended, so that the plan knows its cycles. */
#include "runtime/replay_impl.h"

bool replay_sample_next(trace_replay *r, bool *end)
{
    sample_plan *plan = r->options.sample;
    const kernel_selection *all = r->options.selection;
    if (r->open.count > 0) /* asked again at its end */
        return false;
    for (;;) {
        while (r->unit < all->count && !sample_plan_wants(plan, r->unit))
            r->unit++;
        if (r->unit < all->count)
            break;
        if (!sample_plan_more(plan)) {
            *end = true;
            return false;
        }
        r->unit = 0;
    }
    r->next.command = all->at[r->unit].command;
    r->seen = all->at[r->unit].number;
    return true;
}

#define LINE_SECTORS 4u /* of the sectored caches */

static uint64_t l2_sectors(const trace_replay *r)
{
    const sector_cache_spec *slice = &r->shape.l2;
    return slice->sets * slice->ways * LINE_SECTORS * r->shape.map.slice_count;
}

ls_status replay_sample_open(trace_replay *r, open_kernel *o, ls_error *err)
{
    const ls_kernel_info *info = kernel_get_info(o->kernel);
    o->unit = r->unit++;
    o->is_cold = o->unit > 0 && r->last_unit + 1 != o->unit && !r->options.cold;
    r->last_unit = o->unit;
    if (!r->options.sample_blocks)
        return LS_OK;
    sample_blocks_begin(&o->steady, o->limit,
                        (uint64_t)ls_dispatch_blocks_per_core(&r->shape.rules, info, o->limit) *
                            r->shape.cores);
    return sample_warm_begin(&r->touched, l2_sectors(r), err);
}

bool replay_sample_touch(trace_replay *r, open_kernel *o, const ls_cta *cta)
{
    bool good = sample_warm_block(&r->touched, o->kernel, cta);
    sample_blocks_touch(&o->steady, r->touched.sectors.count, r->touched.limit);
    return good;
}

/* Blocks that stand for those of a steady state are left out. Text has no random access: it is read. */
ls_status replay_sample_skip(open_kernel *o, ls_cta *cta, ls_error *err)
{
    uint64_t skip = sample_blocks_skip(&o->steady, o->read);
    ls_status status = LS_OK;
    bool end = false;
    if (skip == 0)
        return LS_OK;
    o->read += skip;
    if (o->kernel->ops->seek != NULL)
        return kernel_seek(o->kernel, o->read, err);
    for (uint64_t i = 0; i < skip && status == LS_OK && !end; i++)
        status = share_next(o->share, cta, &end, err);
    return status;
}

void replay_sample_done(trace_replay *r, open_kernel *o, replay_kernel *done)
{
    double variance = 0;
    done->skipped_ctas = o->steady.skipped;
    done->skipped_cycles = sample_blocks_cycles(&o->steady, &variance);
    done->ctas -= done->skipped_ctas;
    const sample_measure measure = { .cycles = (double)(done->end - done->begin) + done->skipped_cycles,
                                     .variance = variance,
                                     .blocks = o->limit,
                                     .simulated_blocks = done->ctas,
                                     .cycles_simulated = done->end - done->begin,
                                     .projected = sample_blocks_projected(&o->steady, done->begin) };
    sample_plan_measured(r->options.sample, o->unit, &measure);
}

static void warm_sector(void *self, uint64_t address)
{
    const trace_replay *r = self;
    gpu_warm(r->gpu, address, 1);
}

/* Without simulated memory hit rates come from each kernel by itself. */
ls_status replay_sample_warm(trace_replay *r, ls_error *err)
{
    open_kernel *o = r->open.count > 0 ? r->open.at[0] : NULL;
    if (o == NULL || !o->is_cold || r->shape.analytic)
        return LS_OK;
    o->is_cold = false;
    bool enough = false;
    ls_status status = sample_warm_begin(&r->warm, l2_sectors(r), err);
    for (size_t i = o->unit; i > 0 && status == LS_OK && !enough; i--) {
        trace_kernel *before;
        status = trace_open_kernel(r->trace, r->options.selection->at[i - 1].command, &before, err);
        if (status != LS_OK)
            break;
        status = sample_warm_kernel(&r->warm, before, &enough, err);
        kernel_close(before);
    }
    if (status == LS_OK)
        sample_warm_each(&r->warm, warm_sector, r);
    return status;
}
