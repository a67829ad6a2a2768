/* build_memory.c: shader arrays with their L1, memory partitions (L2 slices, an optional cache on the
 * memory's side, the DRAM channel), and the MMU with its links. */
#include "model/amd/build.h"

void build_name(char *out, const char *pattern, const uint32_t *numbers)
{
    for (; *pattern != 0; pattern++) {
        if (*pattern != '#') {
            *out++ = *pattern;
            continue;
        }
        char digits[10];
        size_t count = 0;
        uint32_t number = *numbers++;
        do
            digits[count++] = (char)('0' + number % 10);
        while ((number /= 10) != 0);
        while (count > 0)
            *out++ = digits[--count];
    }
    *out = 0;
}

/* Of a link between a cluster and its shader array. */
uint32_t build_pair_credits(uint32_t latency)
{
    return 2 * latency + BUILD_CREDITS_TO_SPARE;
}

ls_status build_join_array(builder *b, uint32_t cluster, uint32_t array, uint32_t at, uint32_t latency,
                           ls_error *err)
{
    char name[96];
    ls_block *hub = b->cluster_hubs[cluster], *gate = b->array_gates[array];
    ls_region *from = b->cluster_regions[cluster], *to = b->array_regions[array];
    ls_link *request, *reply;
    ls_link_spec spec = { .name = name,
                          .from = from,
                          .to = to,
                          .from_name = ls_block_name(hub),
                          .to_name = ls_block_name(gate),
                          .latency_cycles = latency,
                          .credits = build_pair_credits(latency),
                          .payload_bytes = sizeof(ls_line_message),
                          .receive = line_gate_receive,
                          .receiver = line_gate_receiver(gate, at) };
    PART_NAME(b, name, "request.array#.#", array, at);
    TRY(ls_link_create(b->engine, &spec, &request, err));
    PART_NAME(b, name, "reply.array#.#", array, at);
    spec.from = to;
    spec.to = from;
    spec.from_name = ls_block_name(gate);
    spec.to_name = ls_block_name(hub);
    spec.receive = line_hub_receive;
    spec.receiver = ls_block_state(hub);
    TRY(ls_link_create(b->engine, &spec, &reply, err));
    line_gate_set_reply(gate, at, reply);
    return line_hub_set_links(hub, at, NULL, &request, 1, err);
}

ls_status build_arrays(builder *b, ls_error *err)
{
    char name[64];
    uint32_t credits = build_pair_credits((uint32_t)b->spec->array_latency_cycles);
    for (uint32_t i = 0; i < b->arrays; i++) {
        ls_domain *domain;
        ls_block *l1;
        uint32_t count = 0;
        for (uint32_t k = 0; k < b->clusters; k++)
            count += build_array_of(b, k) == i;
        PART_NAME(b, name, "array#", i);
        TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
        ls_region *region = b->array_regions[i] = ls_domain_region(domain, 0);
        PART_NAME(b, name, "array#.gate", i);
        TRY(line_gate_create(region, name, count, count * credits, &b->array_gates[i], err));
        PART_NAME(b, name, "array#.hub", i);
        TRY(line_hub_create(region, name, b->gpu->line_bytes, &b->array_hubs[i], err));
        PART_NAME(b, name, "array#.l1", i);
        TRY(ls_machine_block(b->machine, region, name, "l1", &l1, err));
        TRY(line_cache_set_below(l1, b->array_hubs[i], err));
        line_cache_set_passing(l1, LS_LINE_DLC);
        b->writes_back = b->writes_back || line_cache_writes_back(l1);
        build_keep_cache(b, l1);
        TRY(line_gate_set_slices(b->array_gates[i], NULL, &l1, 1, err));
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < b->clusters && b->arrays > 0; k++) {
        uint32_t array = build_array_of(b, k);
        at = k > 0 && build_array_of(b, k - 1) == array ? at + 1 : 0;
        TRY(build_join_array(b, k, array, at, (uint32_t)b->spec->array_latency_cycles, err));
    }
    return LS_OK;
}

/* The DRAM of a channel, if its model uses one. */
static ls_status build_dram(builder *b, uint32_t i, ls_region *region, ls_block *channel, ls_error *err)
{
    char name[64];
    ls_block *dram;
    if (ls_block_type_port(ls_block_type_of(channel), LS_DRAM_INTERFACE, true) == NULL)
        return LS_OK;
    PART_NAME(b, name, "partition#.dram", i);
    TRY(ls_machine_block(b->machine, region, name, "dram", &dram, err));
    TRY(ls_block_connect(channel, LS_DRAM_PORT, dram, LS_DRAM_PORT, err));
    return ls_block_connect(dram, LS_DRAM_REPLY_PORT, channel, LS_DRAM_REPLY_PORT, err);
}

ls_status build_partition(builder *b, uint32_t i, ls_error *err)
{
    char name[64];
    ls_domain *domain;
    ls_region *region;
    ls_block *home, **slices = &b->gpu->l2[i * b->slices];
    PART_NAME(b, name, "partition#", i);
    /* The DRAM's region comes first: at equal times it runs before L2, as data moves up. */
    TRY(ls_domain_create(b->engine, name, b->dram_clock, &domain, err));
    TRY(ls_domain_add_region(domain, b->core_clock, &region, err));
    b->l2_regions[i] = region;
    PART_NAME(b, name, "partition#.gate", i);
    TRY(line_gate_create(region, name, b->uppers + 1 + b->fabric,
                         b->network.requests_max + build_remote_credits(b), &b->gates[i], err));
    PART_NAME(b, name, "partition#.channel", i);
    TRY(ls_machine_block(b->machine, region, name, "channel", &home, err));
    TRY(build_dram(b, i, ls_domain_region(domain, 0), home, err));
    PART_NAME(b, name, "partition#.memory", i);
    TRY(line_memory_create(region, name, &b->gpu->memories[i], err));
    ls_memory *memory = line_memory_of(b->gpu->memories[i]);
    TRY(line_channel_attach(home, memory, &b->gpu->map, b->gpu->line_bytes, err));
    ls_block *below = home;
    if (b->spec->memory_cache) {
        PART_NAME(b, name, "partition#.memory_cache", i);
        TRY(ls_machine_block(b->machine, region, name, "memory_cache", &below, err));
        TRY(line_cache_set_below(below, home, err));
        line_cache_set_map(below, &b->gpu->map);
        build_keep_cache(b, below);
    }
    if (b->xcds > 0) {
        line_cache_set_passing(below, b->spec->copies_in_l2 ? 0u : LS_LINE_SYSTEM);
        line_cache_set_home(below, memory);
        TRY(build_snoop(b, i, region, &below, err));
        return line_gate_set_slices(b->gates[i], &b->gpu->map, &below, 1, err);
    }
    for (uint32_t k = 0; k < b->slices; k++) {
        PART_NAME(b, name, "partition#.l2_#", i, k);
        TRY(build_slice(b, region, name, &slices[k], err));
        line_cache_set_passing(slices[k], (b->spec->copies_in_l2 ? 0u : LS_LINE_SYSTEM) |
                                              (b->migrates ? LS_LINE_PAGE : 0u));
        TRY(line_cache_set_below(slices[k], below, err));
        line_cache_set_map(slices[k], &b->gpu->map);
        line_cache_set_home(slices[k], memory);
        build_keep_cache(b, slices[k]);
    }
    TRY(line_gate_set_slices(b->gates[i], &b->gpu->map, slices, b->slices, err));
    return build_remote_slices(b, i, err);
}

/* The runtime may bring a page table after the GPU is built. */
static ls_page look_up(void *self, uint64_t address)
{
    const amd_gpu *g = self;
    return g->pages.look != NULL ? g->pages.look(g->pages.self, address) : (ls_page){ .physical = address };
}

ls_status build_mmu(builder *b, ls_error *err)
{
    amd_gpu *g = b->gpu;
    ls_domain *domain;
    const ls_pages pages = { .look = look_up, .self = g };
    char name[64];
    if (g->tlb_count == 0)
        return LS_OK;
    PART_NAME(b, name, "mmu", 0);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    ls_region *region = b->mmu_region = ls_domain_region(domain, 0);
    PART_NAME(b, name, "mmu.l2", 0);
    TRY(ls_machine_block(b->machine, region, name, "mmu", &g->mmu, err));
    uint32_t questions = line_tlb_questions(g->tlbs[0]);
    TRY(line_mmu_attach(g->mmu, &pages, g->tlb_count, questions, err));
    if (line_tlb_page_bytes(g->tlbs[0]) != line_mmu_page_bytes(g->mmu))
        return ls_fail(err, LS_ERR_INPUT,
                       "tlb.page_kib is %llu, but mmu.page_kib is %llu: they must be the same",
                       (unsigned long long)line_tlb_page_bytes(g->tlbs[0]) / 1024,
                       (unsigned long long)line_mmu_page_bytes(g->mmu) / 1024);
    for (uint32_t i = 0; i < g->tlb_count; i++) {
        ls_link *ask, *answer;
        ls_link_spec spec = { .name = name,
                              .from = ls_block_region(g->tlbs[i]),
                              .to = region,
                              .from_name = ls_block_name(g->tlbs[i]),
                              .to_name = ls_block_name(g->mmu),
                              .latency_cycles = (uint32_t)b->spec->mmu_latency_cycles,
                              .credits = questions,
                              .payload_bytes = sizeof(ls_page_walk),
                              .receive = line_mmu_ops(g->mmu)->receive,
                              .receiver = line_mmu_receiver(g->mmu, i) };
        PART_NAME(b, name, "walk#", i);
        TRY(ls_link_create(b->engine, &spec, &ask, err));
        line_tlb_set_mmu(g->tlbs[i], ask);
        PART_NAME(b, name, "page#", i);
        spec.from = region;
        spec.to = ls_block_region(g->tlbs[i]);
        spec.from_name = ls_block_name(g->mmu);
        spec.to_name = ls_block_name(g->tlbs[i]);
        spec.receive = line_tlb_ops(g->tlbs[i])->receive;
        spec.receiver = ls_block_state(g->tlbs[i]);
        TRY(ls_link_create(b->engine, &spec, &answer, err));
        line_mmu_set_reply(g->mmu, i, answer);
    }
    return LS_OK;
}
