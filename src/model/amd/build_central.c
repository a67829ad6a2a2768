/* build_central.c: joins the command processor of the first GPU of a system with that of each other one, so that it can place
 * work-groups on all compute units (`spread` central). The MGPUSim paper calls it an extra connection (section 6.2) and
 * gives no latency. */
#include "model/amd/build.h"
#include "model/amd/central.h"

ls_status build_central(builder *b, const ls_cu_capacity *capacity, ls_error *err)
{
    char name[64], order[64], report[64];
    const char *const names[] = { order, report };
    amd_gpu *leader = amd_gpu_of(b->engine, 0);
    bool joined;
    central_wiring wiring = { .cus = b->clusters * b->per_cluster, .capacity = *capacity };
    /* Another model of the command processor may know nothing of other GPUs. */
    if (!b->fabric || ls_block_port(b->command, CENTRAL_USER_INTERFACE, &wiring.user, NULL) != LS_OK)
        return LS_OK;
    PART_NAME(b, name, "central", 0);
    TRY(central_create(b->command_region, name, &wiring, &b->gpu->central, err));
    if (leader == NULL || leader->central == NULL)
        return LS_OK;
    PART_NAME(b, order, "central.order", 0);
    PART_NAME(b, report, "central.report", 0);
    TRY(central_join(leader->central, b->gpu->central, names, (uint32_t)b->spec->central_latency_cycles,
                     &joined, err));
    leader->followers += joined;
    return LS_OK;
}
