/* dispatch.c: kernel dispatch packets become launches of the driver. The program has laid out all arguments, hidden ones
 * too, as the code object says. */
#include "hsa/rt.h"

#include <inttypes.h>
#include <string.h>

#define LAUNCH_NS 1000u /* estimated, to begin with */

/* Each compute unit executes one wavefront instruction per clock: as the OpenCL driver estimates. */
uint64_t rt_dispatch_ns(const rt_agent *agent, const ls_gpu_counts *counts)
{
    const uint64_t per_us = (uint64_t)agent->compute_units * agent->model->clock_mhz;
    return LAUNCH_NS + counts->instructions / per_us * 1000 + counts->instructions % per_us * 1000 / per_us;
}

static ls_gpu_kernel *find(const rt_queue *queue, const aql_dispatch *packet)
{
    ls_gpu_kernel *kernel = rt_kernel_at(packet->kernel_object);
    ls_error err;
    if (kernel)
        return kernel;
    ls_fail(&err, LS_ERR_CHECK,
            "queue %" PRIu64 ": a dispatch packet names a kernel at 0x%" PRIx64
            ", where no code object is loaded",
            queue->shared->hsa.id, packet->kernel_object);
    rt_die(&err);
}

/* The arguments must be memory that the packet processor can read. */
static const void *arguments_of(const aql_dispatch *packet, const ls_gpu_kernel *kernel)
{
    static const uint64_t none[2];
    const uint32_t bytes = ls_gpu_kernel_complete_bytes(kernel);
    const rt_range *range = rt_range_at(packet->kernarg);
    ls_error err;
    if (bytes == 0)
        return none;
    if (range && range->host && range->bytes - (packet->kernarg - range->address) >= bytes)
        return range->host + (packet->kernarg - range->address);
    ls_fail(&err, LS_ERR_CHECK,
            "kernel '%s': its %" PRIu32 " bytes of arguments at 0x%" PRIx64 " are not in memory of the host",
            ls_gpu_kernel_get_info(kernel)->name, bytes, packet->kernarg);
    rt_die(&err);
}

void rt_dispatch_begin(rt_queue *queue, const aql_dispatch *packet)
{
    ls_gpu_kernel *kernel = find(queue, packet);
    const ls_gpu_kernel_info *info = ls_gpu_kernel_get_info(kernel);
    const uint32_t dims = packet->setup & 3;
    ls_gpu_launch launch = { .dims = dims == 0 ? 3 : dims,
                             .complete = arguments_of(packet, kernel),
                             .complete_bytes = ls_gpu_kernel_complete_bytes(kernel) };
    rt_job *job = rt_job_create(queue->agent);
    ls_gpu_event *event = NULL;
    ls_error err;
    for (uint32_t i = 0; i < 3; i++) {
        launch.grid[i] = packet->grid[i];
        launch.group[i] = packet->group[i];
    }
    if (packet->group_bytes > info->lds_bytes)
        launch.lds_bytes = packet->group_bytes - info->lds_bytes;
    ls_status status = job ? LS_OK : ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK && !rt_mirror_reach(launch.complete, launch.complete_bytes, job))
        status = ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK) {
        rt_mirror_in();
        job->queue = queue;
        job->completion = packet->completion;
        status = ls_gpu_queue_launch(queue->agent->commands, kernel, &launch, &event, &err);
    }
    if (status == LS_OK && !vec_push(&job->events, event))
        status = ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left");
    if (status != LS_OK)
        rt_die(&err);
    rt_job_begun(job);
}
