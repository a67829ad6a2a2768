/* build_cluster.c: the command processor's domain, and those of clusters: compute units with their caches and
 * TLBs. */
#include "model/amd/build.h"
#include "model/amd/cluster.h"

#include <stdio.h>

ls_status build_front(builder *b, ls_error *err)
{
    char name[64];
    ls_domain *domain;
    ls_block *dma;
    PART_NAME(b, name, "command", 0);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    b->command_region = b->gpu->command_region = ls_domain_region(domain, 0);
    TRY(ls_machine_block(b->machine, b->command_region, name, "command", &b->command, err));
    TRY(ls_block_port(b->command, LS_COMMAND_INTERFACE, &b->gpu->command, err));
    PART_NAME(b, name, "dma", 0);
    TRY(ls_machine_block(b->machine, b->command_region, name, "dma", &dma, err));
    TRY(ls_block_port(dma, LS_DMA_INTERFACE, &b->dma, err));
    PART_NAME(b, name, "dma.hub", 0);
    TRY(line_hub_create(b->command_region, name, b->gpu->line_bytes, &b->dma_hub, err));
    ls_block *memory = b->dma_hub;
    if (b->migrates)
        TRY(build_dma_tlb(b, &memory, err));
    return ((const ls_dma_ops *)b->dma.ops)->attach(b->dma.self, memory, err);
}

/* A cache of a cluster, above its way out. */
static ls_status build_cache(builder *b, uint32_t cluster, const char *name, const char *section,
                             ls_block **out, ls_error *err)
{
    TRY(ls_machine_block(b->machine, b->cluster_regions[cluster], name, section, out, err));
    TRY(line_cache_set_below(*out, b->cluster_hubs[cluster], err));
    line_cache_set_passing(*out, LS_LINE_GLC);
    b->writes_back = b->writes_back || line_cache_writes_back(*out);
    build_keep_cache(b, *out);
    return LS_OK;
}

/* An L1 TLB in front of a cache, or the cache itself where none is configured. */
static ls_status build_tlb(builder *b, uint32_t cluster, const char *cache_name, ls_block *cache,
                           ls_block **out, ls_error *err)
{
    char name[80];
    snprintf(name, sizeof name, "%s.tlb", cache_name);
    TRY(ls_machine_block(b->machine, b->cluster_regions[cluster], name, "tlb", out, err));
    TRY(line_tlb_set_below(*out, cache, err));
    if (b->migrates)
        TRY(line_tlb_set_shootdowns(*out, b->arrays > 0 ? 2 : 1, 0, err));
    if (line_tlb_questions(*out) > 0)
        b->gpu->tlbs[b->gpu->tlb_count++] = *out;
    return LS_OK;
}

/* A compute unit with its scheduler, if its model uses one. */
static ls_status build_cu_block(builder *b, uint32_t cluster, uint32_t index, ls_port *out, ls_error *err)
{
    char name[64];
    ls_block *cu, *scheduler;
    PART_NAME(b, name, "cluster#.cu#", cluster, index);
    TRY(ls_machine_block(b->machine, b->cluster_regions[cluster], name, "cu", &cu, err));
    TRY(ls_block_port(cu, LS_CU_INTERFACE, out, err));
    const ls_port_decl *used = ls_block_type_port(ls_block_type_of(cu), LS_SCHEDULER_INTERFACE, true);
    if (used == NULL)
        return LS_OK;
    PART_NAME(b, name, "cluster#.cu#.scheduler", cluster, index);
    TRY(ls_machine_block(b->machine, b->cluster_regions[cluster], name, "cu.scheduler", &scheduler, err));
    return ls_block_connect(cu, used->name, scheduler, LS_SCHEDULER_PORT, err);
}

static ls_status build_cu(builder *b, uint32_t cluster, uint32_t index, ls_block *scalar, ls_block *code,
                          ls_error *err)
{
    char name[64];
    ls_port *cu = &b->cus[(size_t)cluster * b->per_cluster + index];
    ls_cu_wiring wiring = { .cluster = cluster,
                            .index = index,
                            .vector_count = (uint32_t)b->spec->vector_caches,
                            .scalar = scalar,
                            .code = code,
                            .to_command = b->dones[cluster],
                            .kernels = &b->gpu->kernels };
    TRY(build_cu_block(b, cluster, index, cu, err));
    for (uint32_t i = 0; i < wiring.vector_count; i++) {
        ls_block *cache;
        PART_NAME(b, name, "cluster#.cu#.vector#", cluster, index, i);
        TRY(build_cache(b, cluster, name, "vector_cache", &cache, err));
        TRY(build_tlb(b, cluster, name, cache, &wiring.vector[i], err));
        b->cluster_caches[cluster * b->caches_per_cluster + index * wiring.vector_count + i] = cache;
    }
    return ((const ls_cu_ops *)cu->ops)->attach(cu->self, &wiring, err);
}

static ls_status build_cluster_domain(builder *b, uint32_t i, ls_error *err)
{
    const ls_command_ops *command = b->gpu->command.ops;
    char name[64], done[64];
    ls_domain *domain;
    PART_NAME(b, name, "cluster#", i);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    ls_region *region = b->cluster_regions[i] = ls_domain_region(domain, 0);
    PART_NAME(b, name, "cluster#.orders", i);
    TRY(cluster_create(region, name, &b->cluster_blocks[i], err));
    PART_NAME(b, name, "cluster#.hub", i);
    TRY(line_hub_create(region, name, b->gpu->line_bytes, &b->cluster_hubs[i], err));
    ls_link_spec spec = { .name = name,
                          .from = b->command_region,
                          .to = region,
                          .latency_cycles = (uint32_t)b->spec->dispatch_latency_cycles,
                          .credits = (uint32_t)b->spec->dispatch_latency_cycles * 2 + BUILD_CREDITS_TO_SPARE,
                          .payload_bytes = sizeof(ls_cluster_order),
                          .receive = cluster_receive,
                          .receiver = ls_block_state(b->cluster_blocks[i]) };
    PART_NAME(b, name, "order#", i);
    TRY(ls_link_create(b->engine, &spec, &b->orders[i], err));
    spec.from = region;
    spec.to = b->command_region;
    spec.receiver = b->gpu->command.self;
    PART_NAME(b, name, "ack#", i);
    spec.payload_bytes = sizeof(ls_cluster_ack);
    spec.receive = command->receive_ack;
    TRY(ls_link_create(b->engine, &spec, &b->acks[i], err));
    PART_NAME(b, done, "done#", i);
    spec.name = done;
    spec.payload_bytes = sizeof(ls_cu_done);
    spec.receive = command->receive_done;
    return ls_link_create(b->engine, &spec, &b->dones[i], err);
}

ls_status build_cluster(builder *b, uint32_t i, ls_error *err)
{
    char name[64];
    ls_block *scalar, *code, *scalar_tlb, *code_tlb;
    ls_block **caches = &b->cluster_caches[i * b->caches_per_cluster];
    TRY(build_cluster_domain(b, i, err));
    PART_NAME(b, name, "cluster#.scalar", i);
    TRY(build_cache(b, i, name, "scalar_cache", &scalar, err));
    TRY(build_tlb(b, i, name, scalar, &scalar_tlb, err));
    PART_NAME(b, name, "cluster#.code", i);
    TRY(build_cache(b, i, name, "instruction_cache", &code, err));
    TRY(build_tlb(b, i, name, code, &code_tlb, err));
    caches[b->caches_per_cluster - 2] = scalar;
    caches[b->caches_per_cluster - 1] = code;
    for (uint32_t k = 0; k < b->per_cluster; k++)
        TRY(build_cu(b, i, k, scalar_tlb, code_tlb, err));
    return cluster_attach(b->cluster_blocks[i],
                          &(cluster_wires){ .number = i,
                                            .cus = &b->cus[(size_t)i * b->per_cluster],
                                            .cu_count = b->per_cluster,
                                            .caches = caches,
                                            .cache_count = b->caches_per_cluster -
                                                           b->spec->keeps_code, /* code is the last */
                                            .caches_below = b->arrays > 0,
                                            .flushes_only = b->xcds > 0,
                                            .acks = b->acks[i] },
                          err);
}
