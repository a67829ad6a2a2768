/* build_xcd.c: dies of compute units (XCDs) with an L2 each, as on CDNA 3. The domain of an XCD has the slices of its L2
 * and the way to memory. The memory-side cache of a channel is the home of its lines; a snoop filter in front of it
 * keeps L2s from holding what another die has written back. */
#include "model/amd/build.h"
#include "model/amd_memory/snoop.h"

ls_status build_check_xcds(const builder *b, ls_error *err)
{
    const amd_gpu_spec *s = b->spec;
    if (b->clusters % b->xcds != 0)
        return ls_fail(err, LS_ERR_INPUT, "%u clusters do not divide among %u XCDs (clusters, xcds)",
                       b->clusters, b->xcds);
    if (!s->memory_cache || s->slices_per_channel != 1)
        return ls_fail(err, LS_ERR_INPUT,
                       "with xcds the memory-side cache is the home of lines: memory.cached must be true and "
                       "memory.slices_per_channel 1");
    if (b->fabric)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a GPU with XCDs cannot be part of a system with a fabric yet");
    return LS_OK;
}

/* Slices are picked as the channels of a map of their own. */
static ls_status slice_map(const builder *b, mem_map *map, ls_error *err)
{
    const amd_gpu_spec *s = b->spec;
    const mem_map_spec spec = { .channels = s->xcd_slices,
                                .slices_per_channel = 1,
                                .interleave_bytes = s->xcd_interleave_bytes,
                                .slice_hash = s->slice_hash,
                                .bit_map = s->bit_map };
    return mem_map_init(map, &spec, err);
}

static ls_status build_slices(builder *b, uint32_t xcd, ls_region *region, const mem_map *map,
                              ls_memory *pages, ls_error *err)
{
    char name[64];
    uint32_t count = (uint32_t)b->spec->xcd_slices;
    ls_block **slices = &b->gpu->l2[xcd * count];
    for (uint32_t i = 0; i < count; i++) {
        PART_NAME(b, name, "xcd#.l2_#", xcd, i);
        TRY(ls_machine_block(b->machine, region, name, "l2", &slices[i], err));
        TRY(line_cache_set_below(slices[i], b->array_hubs[xcd], err));
        line_cache_set_passing(slices[i], LS_LINE_DLC);
        line_cache_set_map(slices[i], map);
        TRY(line_cache_set_pages(slices[i], pages, err));
        build_keep_cache(b, slices[i]);
    }
    PART_NAME(b, name, "xcd#.probes", xcd);
    TRY(line_snoop_end_create(region, name, xcd, map, slices, b->channels, &b->snoop_ends[xcd], err));
    return line_gate_set_slices(b->array_gates[xcd], map, slices, count, err);
}

static ls_status build_one(builder *b, uint32_t xcd, const mem_map *map, ls_error *err)
{
    char name[64];
    ls_domain *domain;
    uint32_t clusters = b->clusters / b->xcds;
    uint32_t credits = build_pair_credits((uint32_t)b->spec->xcd_latency_cycles);
    ls_block **pages = &b->gpu->memories[b->channels + xcd];
    PART_NAME(b, name, "xcd#", xcd);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    ls_region *region = b->array_regions[xcd] = ls_domain_region(domain, 0);
    PART_NAME(b, name, "xcd#.gate", xcd);
    TRY(line_gate_create(region, name, clusters, clusters * credits, &b->array_gates[xcd], err));
    PART_NAME(b, name, "xcd#.hub", xcd);
    TRY(line_hub_create(region, name, b->gpu->line_bytes, &b->array_hubs[xcd], err));
    line_hub_set_line_cycles(b->array_hubs[xcd], b->spec->xcd_line_cycles);
    PART_NAME(b, name, "xcd#.pages", xcd);
    TRY(line_memory_create(region, name, pages, err));
    return build_slices(b, xcd, region, map, line_memory_of(*pages), err);
}

ls_status build_xcds(builder *b, ls_error *err)
{
    mem_map map;
    TRY(slice_map(b, &map, err));
    for (uint32_t i = 0; i < b->xcds; i++)
        TRY(build_one(b, i, &map, err));
    for (uint32_t k = 0; k < b->clusters; k++)
        TRY(build_join_array(b, k, build_array_of(b, k), k / b->xcds, (uint32_t)b->spec->xcd_latency_cycles,
                             err));
    return LS_OK;
}

ls_status build_snoop(builder *b, uint32_t i, ls_region *region, ls_block **home, ls_error *err)
{
    char name[64];
    PART_NAME(b, name, "partition#.snoop", i);
    TRY(line_snoop_create(region, name, b->xcds, b->spec->snoop_entries, &b->gpu->map, *home, &b->snoops[i],
                          err));
    *home = b->snoops[i];
    return LS_OK;
}

/* One channel and one die. Probes and answers travel as long as answers and requests of the network without load. */
static ls_status join(builder *b, uint32_t channel, uint32_t xcd, ls_error *err)
{
    char name[64];
    ls_link *probe, *ack;
    ls_link_spec spec = { .name = name,
                          .from = b->l2_regions[channel],
                          .to = b->array_regions[xcd],
                          .from_name = ls_block_name(b->snoops[channel]),
                          .to_name = ls_block_name(b->snoop_ends[xcd]),
                          .latency_cycles = b->network.latency[1],
                          .credits = 64,
                          .payload_bytes = sizeof(line_probe),
                          .receive = line_snoop_end_receive,
                          .receiver = line_snoop_end_receiver(b->snoop_ends[xcd], channel) };
    PART_NAME(b, name, "probe.#.#", channel, xcd);
    TRY(ls_link_create(b->engine, &spec, &probe, err));
    line_snoop_set_probe(b->snoops[channel], xcd, probe);
    PART_NAME(b, name, "probed.#.#", channel, xcd);
    spec.from = b->array_regions[xcd];
    spec.to = b->l2_regions[channel];
    spec.from_name = ls_block_name(b->snoop_ends[xcd]);
    spec.to_name = ls_block_name(b->snoops[channel]);
    spec.latency_cycles = b->network.latency[0];
    spec.payload_bytes = sizeof(line_probe_ack);
    spec.receive = line_snoop_receive_ack;
    spec.receiver = ls_block_state(b->snoops[channel]);
    TRY(ls_link_create(b->engine, &spec, &ack, err));
    line_snoop_end_set_ack(b->snoop_ends[xcd], channel, ack);
    return LS_OK;
}

ls_status build_join_snoops(builder *b, ls_error *err)
{
    for (uint32_t channel = 0; channel < b->channels; channel++)
        for (uint32_t xcd = 0; xcd < b->xcds; xcd++)
            TRY(join(b, channel, xcd, err));
    return LS_OK;
}
