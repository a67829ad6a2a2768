/* remote_build.c: see remote_build.h. */
#include "model/gpu/remote_build.h"

#include "model/gpu/remote_l2.h"

#include <stdio.h>

/* Some ways of each set go to the part for other GPUs' memory. */
static ls_status divide(const gpu_remote_plan *plan, partition_spec *own, ls_error *err)
{
    const ls_block_type *model = ls_machine_model(plan->machine, LS_L2_SLOT);
    if (!partition_is_model(model))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "rdma.at is memory, but l2.model is '%s', which cannot stand before it", model->name);
    *own = *(const partition_spec *)ls_machine_spec(plan->machine, LS_L2_SLOT);
    if (plan->cache == RDMA_NEVER)
        return LS_OK;
    if (plan->ways >= own->l2.ways)
        return ls_fail(err, LS_ERR_INPUT,
                       "rdma.ways is %llu, but l2.ways is %llu: some remain for the own memory",
                       (unsigned long long)plan->ways, (unsigned long long)own->l2.ways);
    own->l2.ways -= plan->ways;
    return LS_OK;
}

ls_status gpu_remote_slices(const gpu_remote_plan *plan, ls_region *region, const char *name, uint32_t channel,
                            ls_error *err)
{
    gpu_instance *gpu = plan->gpu;
    partition_spec own;
    char part_name[80];
    if (!plan->behind)
        return ls_machine_block(plan->machine, region, name, LS_L2_SLOT, &gpu->l2[channel], err);
    ls_status status = divide(plan, &own, err);
    if (status == LS_OK && gpu->remote_l2 == NULL) {
        gpu->remote_l2 = ls_engine_alloc(gpu->engine, gpu->channel_count * sizeof *gpu->remote_l2);
        gpu->flushes = plan->cache != RDMA_NEVER;
        if (gpu->remote_l2 == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for L2");
    }
    if (status == LS_OK)
        status = ls_block_create(region, name, ls_machine_model(plan->machine, LS_L2_SLOT), &own,
                                 &gpu->l2[channel], err);
    if (status != LS_OK)
        return status;
    snprintf(part_name, sizeof part_name, "%s.remote", name);
    const remote_l2_spec part =
        remote_l2_part(ls_machine_spec(plan->machine, LS_L2_SLOT), plan->cache, plan->ways);
    return remote_l2_create(region, part_name, &part, &gpu->remote_l2[channel], err);
}

ls_status gpu_remote_attach(const gpu_instance *gpu, const ls_l2_wiring *wiring, ls_link *to_peer,
                            ls_error *err)
{
    const remote_l2_wiring part = { .channel = wiring->channel,
                                    .map = wiring->map,
                                    .l2 = gpu->l2_ports[wiring->channel],
                                    .to_core = wiring->to_core,
                                    .requester_count = wiring->core_count,
                                    .requests_max = wiring->requests_max,
                                    .to_peer = to_peer,
                                    .owners = gpu->owners };
    return remote_l2_attach(gpu->remote_l2[wiring->channel], &part, err);
}

void *gpu_memory_receiver(const gpu_instance *gpu, uint32_t channel)
{
    return gpu->remote_l2 != NULL ? ls_block_state(gpu->remote_l2[channel]) : gpu->l2_ports[channel].self;
}

ls_receive_fn gpu_memory_receive(const gpu_instance *gpu, uint32_t channel)
{
    return gpu->remote_l2 != NULL ? remote_l2_receive
                                  : ((const ls_l2_ops *)gpu->l2_ports[channel].ops)->receive;
}
