/* profile_save.c: a profiler in a checkpoint: the contents of its caches and of the estimates of DRAM. Caches by reuse
 * distance are not saved: no run uses them. */
#include "workload/profile/walk.h"

void profiler_save(const trace_profiler *p, bytes_out *out)
{
    size_t slices = p->shape.map.slice_count, lines = (size_t)p->l2_levels * p->l2_level_lines;
    out->failed |= p->method != LS_PROFILE_CACHE;
    bytes_put64(out, p->epoch);
    bytes_put64(out, lines);
    for (uint32_t i = 0; i < p->l2_levels; i++)
        level_save(&p->l2[i], out);
    for (uint32_t i = 0; i < p->shape.map.channels; i++)
        bytes_put(out, &p->channels[i], sizeof p->channels[i]);
    bytes_put(out, p->slice_sectors, slices * sizeof *p->slice_sectors);
    bytes_put(out, p->fills, slices * sizeof *p->fills);
    bytes_put(out, p->l2_contention.begin, p->shape.cores * sizeof *p->l2_contention.begin);
    bytes_put(out, p->l2_contention.done, p->shape.cores * sizeof *p->l2_contention.done);
    bytes_put(out, p->l2_contention.time, slices * sizeof *p->l2_contention.time);
    bytes_put(out, p->l2_contention.lines, lines * sizeof *p->l2_contention.lines);
    bytes_put64(out, p->has_l1);
    bytes_put64(out, p->l1_ways);
    if (!p->has_l1)
        return;
    bytes_put64(out, p->cores[0].l1.tags.set_count);
    bytes_put64(out, p->cores[0].l1.tags.kind == REPLACEMENT_FIFO);
    for (uint32_t i = 0; i < p->shape.cores; i++)
        level_save(&p->cores[i].l1, out);
}

/* Caches of L1 are made for the kernel that comes first. */
static ls_status load_l1(trace_profiler *p, bytes_in *in, ls_error *err)
{
    uint64_t sets = bytes_get64(in), fifo = bytes_get64(in);
    in->failed |= sets == 0 || sets > 1u << 20 || p->l1_ways == 0 || p->l1_ways > 1u << 20;
    for (uint32_t i = 0; i < p->shape.cores && !in->failed; i++) {
        level *l1 = &p->cores[i].l1;
        level_fini(l1);
        if (!level_init(l1, (uint32_t)sets, p->l1_ways, fifo != 0, false))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the L1 caches of a profile");
        level_load(l1, in);
    }
    return LS_OK;
}

ls_status profiler_load(trace_profiler *p, bytes_in *in, ls_error *err)
{
    size_t slices = p->shape.map.slice_count, lines = (size_t)p->l2_levels * p->l2_level_lines;
    p->epoch = (uint32_t)bytes_get64(in);
    in->failed |= bytes_get64(in) != lines;
    for (uint32_t i = 0; i < p->l2_levels && !in->failed; i++)
        level_load(&p->l2[i], in);
    for (uint32_t i = 0; i < p->shape.map.channels; i++) {
        const dram_service *service = p->channels[i].service;
        bytes_get(in, &p->channels[i], sizeof p->channels[i]);
        p->channels[i].service = service;
    }
    bytes_get(in, p->slice_sectors, slices * sizeof *p->slice_sectors);
    bytes_get(in, p->fills, slices * sizeof *p->fills);
    bytes_get(in, p->l2_contention.begin, p->shape.cores * sizeof *p->l2_contention.begin);
    bytes_get(in, p->l2_contention.done, p->shape.cores * sizeof *p->l2_contention.done);
    bytes_get(in, p->l2_contention.time, slices * sizeof *p->l2_contention.time);
    bytes_get(in, p->l2_contention.lines, lines * sizeof *p->l2_contention.lines);
    p->has_l1 = bytes_get64(in) != 0;
    p->l1_ways = (uint32_t)bytes_get64(in);
    return p->has_l1 && !in->failed ? load_l1(p, in, err) : LS_OK;
}
