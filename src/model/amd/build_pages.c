/* build_pages.c: page walks that go to the host, and pages that move: the page agent beside the RDMA engine, and its
 * links to the MMU. */
#include "model/amd/build.h"

#include "lockstep/host.h"

/* ----------------------------------------------------------------------------------- parts that must take part */

static ls_status check_cache(const builder *b, const char *section, ls_error *err)
{
    const ls_block_type *model = ls_machine_model(b->machine, section);
    if (!line_cache_is_model(model))
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "%s.model is '%s', which cannot forget the lines of a page: pages of this system migrate", section,
            model->name);
    const line_cache_spec *spec = ls_machine_spec(b->machine, section);
    if (spec->prefetch.kind != PREFETCH_NONE)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "%s has a prefetcher, but pages of this system migrate: it would fetch lines of pages "
                       "that have left",
                       section);
    return LS_OK;
}

/* A page's lines leave every cache before the page does. */
static ls_status check_caches(const builder *b, ls_error *err)
{
    TRY(check_cache(b, "vector_cache", err));
    TRY(check_cache(b, "scalar_cache", err));
    TRY(check_cache(b, "instruction_cache", err));
    TRY(check_cache(b, "l2", err));
    if (b->arrays > 0)
        TRY(check_cache(b, "l1", err));
    if (b->writes_back)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "a cache above L2 writes back, but pages of this system migrate: use another write_policy");
    if (b->spec->rdma_cache != RDMA_NEVER)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "rdma.cache is not never, but pages of this system migrate: L2 keeps no lines of other GPUs");
    return LS_OK;
}

ls_status build_check_pages(builder *b, ls_error *err)
{
    if (b->migrates && b->gpu->mmu == NULL)
        return ls_fail(
            err, LS_ERR_INPUT,
            "tlb.model is '%s', which asks no MMU, but pages of this system migrate: use tlb.model: cycle",
            ls_machine_model(b->machine, "tlb")->name);
    b->host_walks = b->gpu->mmu != NULL && (b->migrates || line_mmu_walks_host(b->gpu->mmu));
    if (b->host_walks && !b->fabric)
        return ls_fail(err, LS_ERR_INPUT,
                       "mmu.walks is 'host', but the GPU is on no fabric that leads to a host");
    return b->migrates ? check_caches(b, err) : LS_OK;
}

/* ---------------------------------------------------------------------------------------------- the DMA engine */

/* Where pages move, the addresses `to` and `from` of all transfers are virtual: also of memory that does not move, and
 * of the command processor's own transfers. The system's page table or directory says where each page lies, near or far,
 * and the page stays there (LS_WALK_STAY). One exception: an address whose bits 40 and up are 1 + MEM_PLACE_HOST is
 * physical, of host memory, and passes as it is. Elsewhere these addresses are physical, as the GPU sees them. */
ls_status build_dma_tlb(builder *b, ls_block **memory, ls_error *err)
{
    char name[64];
    ls_block *tlb;
    PART_NAME(b, name, "dma.tlb", 0);
    TRY(ls_machine_block(b->machine, b->command_region, name, "tlb", &tlb, err));
    TRY(line_tlb_set_below(tlb, *memory, err));
    TRY(line_tlb_set_shootdowns(tlb, 0, LS_WALK_STAY, err));
    if (line_tlb_questions(tlb) > 0)
        b->gpu->tlbs[b->gpu->tlb_count++] = tlb;
    b->gpu->dma_translates = true;
    *memory = tlb;
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- the agent */

ls_status build_agent(builder *b, ls_region *region, ls_block **out, ls_error *err)
{
    char name[64];
    page_agent_spec spec = b->spec->agent;
    if (!b->host_walks)
        return LS_OK;
    if ((spec.counters & (spec.counters - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "agent.counters is %llu, it must be a power of two or 0",
                       (unsigned long long)spec.counters);
    spec.moves = b->migrates;
    PART_NAME(b, name, "agent", 0);
    return page_agent_create(region, name, &spec, out, err);
}

ls_status build_join_agent(builder *b, ls_block *agent, ls_block *hub, ls_fabric_end *end, ls_error *err)
{
    char name[64];
    ls_block *mmu = b->gpu->mmu;
    page_agent_wiring wiring = { .line_bytes = b->gpu->line_bytes, .end = end, .memory = hub };
    ls_link *to_agent;
    if (agent == NULL)
        return LS_OK;
    ls_link_spec spec = { .name = name,
                          .from = b->mmu_region,
                          .to = ls_block_region(agent),
                          .from_name = ls_block_name(mmu),
                          .to_name = ls_block_name(agent),
                          .latency_cycles = build_remote_latency(b, 0),
                          .credits = 2 * build_remote_latency(b, 0) + BUILD_CREDITS_TO_SPARE,
                          .payload_bytes = sizeof(ls_page_walk),
                          .receive = page_agent_receive_mmu,
                          .receiver = ls_block_state(agent) };
    PART_NAME(b, name, "walk.host", 0);
    TRY(ls_link_create(b->engine, &spec, &to_agent, err));
    TRY(line_mmu_set_host(mmu, to_agent, &wiring.walks, err));
    PART_NAME(b, name, "page.host", 0);
    spec.from = spec.to;
    spec.to = b->mmu_region;
    spec.from_name = ls_block_name(agent);
    spec.to_name = ls_block_name(mmu);
    spec.latency_cycles = build_remote_latency(b, 1);
    spec.receive = line_mmu_ops(mmu)->receive_host;
    spec.receiver = ls_block_state(mmu);
    TRY(ls_link_create(b->engine, &spec, &wiring.mmu, err));
    TRY(page_agent_attach(agent, &wiring, err));
    return ls_engine_add_part(b->engine, LS_HOST_WALKS_PART, agent, err);
}
