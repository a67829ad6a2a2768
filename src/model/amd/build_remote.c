/* build_remote.c: the RDMA engine and its links: from each hub above L2, and to each memory partition. They are beside
 * the network of the slot `noc`, so that this one has the same shape as in a GPU alone. */
#include "model/amd/build.h"

#define SLICES_MAX 4u /* of a channel: memory.slices_per_channel */

uint32_t build_remote_latency(const builder *b, uint32_t class)
{
    return b->spec->rdma_latency_cycles != 0 ? (uint32_t)b->spec->rdma_latency_cycles
                                             : b->network.latency[class];
}

static uint32_t credits_of(const builder *b)
{
    return build_remote_latency(b, 0) + build_remote_latency(b, 1) + BUILD_CREDITS_TO_SPARE;
}

uint32_t build_remote_credits(const builder *b)
{
    return b->fabric ? credits_of(b) : 0;
}

/* Link i from a hub to a gate, where it has number `at`, and the link back. */
static ls_status join(builder *b, const char *const names[2], uint32_t i, ls_block *hub, ls_block *gate,
                      uint32_t at, ls_link **out, ls_error *err)
{
    char name[96];
    ls_link *reply;
    ls_link_spec spec = { .name = name,
                          .from = ls_block_region(hub),
                          .to = ls_block_region(gate),
                          .from_name = ls_block_name(hub),
                          .to_name = ls_block_name(gate),
                          .latency_cycles = build_remote_latency(b, 0),
                          .credits = credits_of(b),
                          .payload_bytes = sizeof(ls_line_message),
                          .receive = line_gate_receive,
                          .receiver = line_gate_receiver(gate, at) };
    build_name(name, names[0], (const uint32_t[]){ b->gpu->number, i });
    TRY(ls_link_create(b->engine, &spec, out, err));
    build_name(name, names[1], (const uint32_t[]){ b->gpu->number, i });
    spec.from = ls_block_region(gate);
    spec.to = ls_block_region(hub);
    spec.from_name = ls_block_name(gate);
    spec.to_name = ls_block_name(hub);
    spec.latency_cycles = build_remote_latency(b, 1);
    spec.receive = line_hub_receive;
    spec.receiver = ls_block_state(hub);
    TRY(ls_link_create(b->engine, &spec, &reply, err));
    line_gate_set_reply(gate, at, reply);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- the parts of L2 */

static bool keeps_remote(const builder *b)
{
    return b->remote_hubs != NULL && b->spec->rdma_cache != RDMA_NEVER;
}

/* Where L2 keeps no lines of other GPUs, their requests still take the time of a look. */
static ls_status build_passing(builder *b, ls_region *region, const char *name, ls_block **out, ls_error *err)
{
    const ls_block_type *model = ls_machine_model(b->machine, "l2");
    if (!line_cache_is_model(model))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "rdma.at is memory, but l2.model is '%s', which cannot stand before it", model->name);
    line_cache_spec part = *(const line_cache_spec *)ls_machine_spec(b->machine, "l2");
    part.size_kib = part.ways = 1;
    part.write_policy = WRITE_EVICT;
    part.hash.kind = SET_HASH_NONE;
    part.prefetch.kind = PREFETCH_NONE;
    return ls_block_create(region, name, model, &part, out, err);
}

/* A part of a slice: some ways of each set. */
static ls_status build_part(builder *b, ls_region *region, const char *name, bool remote, ls_block **out,
                            ls_error *err)
{
    const ls_block_type *model = ls_machine_model(b->machine, "l2");
    const line_cache_spec *whole = ls_machine_spec(b->machine, "l2");
    uint64_t ways = b->spec->rdma_ways;
    if (!line_cache_is_model(model))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "rdma.cache is not never, but l2.model is '%s', which has no ways to give away",
                       model->name);
    if (ways >= whole->ways)
        return ls_fail(err, LS_ERR_INPUT,
                       "rdma.ways is %llu, but l2.ways is %llu: some remain for the own memory",
                       (unsigned long long)ways, (unsigned long long)whole->ways);
    if (whole->size_kib * ways % whole->ways != 0)
        return ls_fail(err, LS_ERR_INPUT, "rdma.ways is %llu: %llu of %llu ways of %llu KiB are no whole KiB",
                       (unsigned long long)ways, (unsigned long long)ways, (unsigned long long)whole->ways,
                       (unsigned long long)whole->size_kib);
    line_cache_spec part = *whole;
    part.ways = remote ? ways : whole->ways - ways;
    part.size_kib = whole->size_kib * part.ways / whole->ways;
    if (remote) {
        part.write_policy = b->spec->rdma_cache == RDMA_PARTITIONED ? WRITE_THROUGH : WRITE_EVICT;
        part.prefetch.kind = PREFETCH_NONE;
    }
    return ls_block_create(region, name, model, &part, out, err);
}

ls_status build_slice(builder *b, ls_region *region, const char *name, ls_block **out, ls_error *err)
{
    return keeps_remote(b) ? build_part(b, region, name, false, out, err)
                           : ls_machine_block(b->machine, region, name, "l2", out, err);
}

/* Lines of other GPUs have a part of each slice of their own. They are written through, so that a release needs no
 * instruction that writes L2 back. System-scope accesses (glc) and copies pass it. */
ls_status build_remote_slices(builder *b, uint32_t i, ls_error *err)
{
    char name[64];
    ls_block *parts[SLICES_MAX];
    ls_region *region = b->l2_regions[i];
    if (b->remote_hubs == NULL)
        return LS_OK;
    PART_NAME(b, name, "partition#.remote", i);
    TRY(line_hub_create(region, name, b->gpu->line_bytes, &b->remote_hubs[i], err));
    for (uint32_t k = 0; k < b->slices; k++) {
        PART_NAME(b, name, "partition#.l2_#.remote", i, k);
        if (keeps_remote(b))
            TRY(build_part(b, region, name, true, &parts[k], err));
        else
            TRY(build_passing(b, region, name, &parts[k], err));
        line_cache_set_passing(parts[k],
                               keeps_remote(b) ? LS_LINE_SYSTEM | LS_LINE_GLC | LS_LINE_DLC : LINE_PASS_ALL);
        TRY(line_cache_set_below(parts[k], b->remote_hubs[i], err));
        line_cache_set_map(parts[k], &b->gpu->map);
        build_keep_cache(b, parts[k]);
    }
    return line_gate_set_remote(b->gates[i], parts, b->slices, err);
}

/* ------------------------------------------------------------------------------------------ the RDMA engine */

/* Requests of other GPUs go to the own partitions. */
static ls_status build_served(builder *b, ls_region *region, ls_block **hub, ls_error *err)
{
    static const char *const names[] = { "gpu#.request.served.#", "gpu#.reply.served.#" };
    char name[64];
    ls_link **links = ls_engine_alloc(b->engine, b->channels * sizeof(ls_link *));
    if (links == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the links of an RDMA engine");
    PART_NAME(b, name, "rdma.hub", 0);
    TRY(line_hub_create(region, name, b->gpu->line_bytes, hub, err));
    for (uint32_t k = 0; k < b->channels; k++)
        TRY(join(b, names, k, *hub, b->gates[k], b->uppers + 1, &links[k], err));
    return line_hub_set_links(*hub, b->uppers + 1, &b->gpu->map, links, b->channels, err);
}

/* Behind L2: hubs above it send everything to it, and the caches before these hubs pass invalidates on. */
static ls_status build_above(builder *b, bool homes, ls_error *err)
{
    uint32_t clusters = b->clusters * b->caches_per_cluster, first = b->arrays > 0 ? clusters : 0;
    for (uint32_t i = 0; i <= b->uppers; i++)
        line_hub_set_behind(build_hub_of(b, i), b->gpu->number, homes && i < b->uppers);
    for (uint32_t i = first; i < clusters + b->arrays && keeps_remote(b); i++)
        TRY(line_cache_pass_invalidates(b->gpu->caches[i], err));
    return LS_OK;
}

/* Requests for other GPUs: of the own caches and the DMA engine, or of L2. */
static ls_status build_requests(builder *b, ls_region *region, ls_block *rdma, ls_error *err)
{
    static const char *const names[] = { "gpu#.request.remote.#", "gpu#.reply.remote.#" };
    char name[64];
    ls_block *gate;
    bool behind = b->remote_hubs != NULL, homes = b->gpu->tlb_count == 0;
    uint32_t hubs = behind ? b->channels : b->uppers + 1;
    PART_NAME(b, name, "rdma.gate", 0);
    TRY(line_gate_create(region, name, hubs, hubs * credits_of(b), &gate, err));
    TRY(line_gate_set_slices(gate, NULL, &rdma, 1, err));
    for (uint32_t i = 0; i < hubs; i++) {
        ls_link *link;
        ls_block *hub = behind ? b->remote_hubs[i] : build_hub_of(b, i);
        TRY(join(b, names, i, hub, gate, i, &link, err));
        if (behind)
            TRY(line_hub_set_links(hub, i, NULL, &link, 1, err));
        else
            line_hub_set_remote(hub, link, b->gpu->number, homes && i < b->uppers);
    }
    return behind ? build_above(b, homes, err) : LS_OK;
}

/* A line of a message has the same size at both ends. */
static ls_status check_lines(const builder *b, ls_error *err)
{
    const amd_gpu *first = amd_gpu_of(b->engine, 0);
    if (first == NULL || first->line_bytes == b->gpu->line_bytes)
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT,
                   "line_bytes is %u here and %u in gpu%u: AMD GPUs on one fabric have lines of one size",
                   b->gpu->line_bytes, first->line_bytes, first->number);
}

ls_status build_remote(builder *b, ls_error *err)
{
    char name[64];
    ls_domain *domain;
    ls_block *rdma, *hub, *agent = NULL;
    TRY(build_check_pages(b, err));
    if (!b->fabric) {
        for (uint32_t i = 0; i < b->uppers; i++)
            line_hub_set_remote(build_hub_of(b, i), NULL, b->gpu->number, b->gpu->tlb_count == 0);
        return LS_OK;
    }
    TRY(check_lines(b, err));
    PART_NAME(b, name, "rdma", 0);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    ls_region *region = ls_domain_region(domain, 0);
    TRY(ls_machine_block(b->machine, region, name, "rdma", &rdma, err));
    TRY(build_served(b, region, &hub, err));
    TRY(build_agent(b, region, &agent, err));
    ls_rdma_wiring wiring = { .region = region,
                              .name = ls_block_name(rdma),
                              .number = b->gpu->number,
                              .line_bytes = b->gpu->line_bytes,
                              .memory = hub };
    if (agent != NULL)
        wiring.agent = page_agent_port(agent);
    TRY(line_rdma_attach(rdma, &wiring, err));
    TRY(build_join_agent(b, agent, hub, line_rdma_end(rdma), err));
    TRY(build_requests(b, region, rdma, err));
    return ls_engine_add_part(b->engine, LS_FABRIC_END_PART, line_rdma_end(rdma), err);
}
