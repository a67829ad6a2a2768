/* amd_gpu.c: the machine type `amd`. The command processor and the DMA engine have a domain, and the MMU has
 * one. Each cluster of compute units has one (GCN: units that share a scalar and an instruction cache; RDNA: a
 * dual compute unit). Each shader array with an L1 and each memory channel with its L2 slices has one. Only
 * links join domains; they are the long wires of the chip. */
#include "model/amd/build.h"

#include "model/cu/cu_api.h"
#include "model/keys.h"
#include "model/policy/set_hash.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ machine */

static const char *const target_names[] = { "gfx803", "gfx1010", "gfx1030", "gfx90a", "gfx942", NULL };

static void *array_of_pointers(builder *b, size_t count, bool *failed)
{
    void *memory = ls_engine_alloc(b->engine, (count > 0 ? count : 1) * sizeof(void *));
    *failed |= memory == NULL;
    return memory;
}

static ls_status reserve(builder *b, ls_error *err)
{
    bool failed = false;
    size_t cus = (size_t)b->clusters * b->per_cluster,
           cluster_caches = (size_t)b->clusters * b->caches_per_cluster;
    size_t l2 = b->xcds > 0 ? (size_t)b->xcds * b->spec->xcd_slices : (size_t)b->channels * b->slices;
    b->gpu = ls_engine_alloc(b->engine, sizeof *b->gpu);
    if (b->gpu == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU");
    b->gpu->engine = b->engine;
    b->gpu->number = ls_machine_number(b->machine);
    b->cluster_regions = array_of_pointers(b, b->clusters, &failed);
    b->array_regions = array_of_pointers(b, b->arrays, &failed);
    b->l2_regions = array_of_pointers(b, b->channels, &failed);
    b->cus = ls_engine_alloc(b->engine, cus * sizeof *b->cus);
    failed |= b->cus == NULL;
    b->gpu->cus = b->cus;
    b->gpu->cu_count = (uint32_t)cus;
    b->cluster_blocks = array_of_pointers(b, b->clusters, &failed);
    b->cluster_caches = array_of_pointers(b, cluster_caches, &failed);
    b->cluster_hubs = array_of_pointers(b, b->clusters, &failed);
    b->array_gates = array_of_pointers(b, b->arrays, &failed);
    b->array_hubs = array_of_pointers(b, b->arrays, &failed);
    b->gates = array_of_pointers(b, b->channels, &failed);
    b->orders = array_of_pointers(b, b->clusters, &failed);
    b->acks = array_of_pointers(b, b->clusters, &failed);
    b->dones = array_of_pointers(b, b->clusters, &failed);
    b->gpu->caches = array_of_pointers(b, cluster_caches + b->arrays + 2 * l2 + b->channels, &failed);
    if (b->fabric && b->spec->rdma_at == RDMA_AT_MEMORY)
        b->remote_hubs = array_of_pointers(b, b->channels, &failed);
    b->gpu->tlbs = array_of_pointers(b, cluster_caches + 1, &failed);
    b->gpu->l2 = array_of_pointers(b, l2, &failed);
    b->gpu->memories = array_of_pointers(b, b->channels + b->xcds, &failed);
    if (b->xcds > 0) {
        b->snoops = array_of_pointers(b, b->channels, &failed);
        b->snoop_ends = array_of_pointers(b, b->xcds, &failed);
    }
    return failed ? ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU of %zu compute units", cus) : LS_OK;
}

static ls_status describe(builder *b, ls_error *err)
{
    const amd_gpu_spec *s = b->spec;
    const mem_map_spec map = { .channels = s->channels,
                               .slices_per_channel = s->slices_per_channel,
                               .interleave_bytes = s->interleave_bytes,
                               .slice_hash = s->slice_hash,
                               .bit_map = s->bit_map };
    amd_gpu *g = b->gpu;
    g->line_bytes = (uint32_t)s->line_bytes;
    g->l2_count = b->xcds > 0 ? b->xcds * (uint32_t)s->xcd_slices : b->channels * b->slices;
    g->home_count = b->channels;
    g->xcds = b->xcds;
    if (s->line_bytes != 64 && s->line_bytes != 128)
        return ls_fail(err, LS_ERR_INPUT, "line_bytes is %llu; lines have 64 or 128 bytes",
                       (unsigned long long)s->line_bytes);
    if (s->interleave_bytes % s->line_bytes != 0)
        return ls_fail(err, LS_ERR_INPUT,
                       "memory.interleave_bytes is %llu, which is no multiple of a line of %llu bytes",
                       (unsigned long long)s->interleave_bytes, (unsigned long long)s->line_bytes);
    if (b->xcds > 0)
        TRY(build_check_xcds(b, err));
    if (b->arrays > b->clusters)
        return ls_fail(err, LS_ERR_INPUT, "%u shader arrays have only %u clusters", b->arrays, b->clusters);
    return mem_map_init(&g->map, &map, err);
}

/* The rest is divided by these. */
static ls_status check_capacity(const ls_cu_capacity *c, ls_error *err)
{
    if (c->halves != 0 && c->simds != 0 && c->lane_width != 0)
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT, "a compute unit says that it has %u SIMDs of %u lanes in %u parts",
                   c->simds, c->lane_width, c->halves);
}

/* gfx90a and gfx942 have registers that the other models have no room for. */
static ls_status check_target(const builder *b, ls_error *err)
{
    const char *target = target_names[b->spec->target], *model = ls_machine_model(b->machine, "cu")->name;
    bool older = strcmp(model, "gcn") == 0 || strcmp(model, "rdna") == 0;
    if (older && (strcmp(target, "gfx90a") == 0 || strcmp(target, "gfx942") == 0))
        return ls_fail(err, LS_ERR_INPUT, "target %s needs cu.model " CU_CDNA ", not %s", target, model);
    return LS_OK;
}

static void set_facts(builder *b, const ls_cu_capacity *capacity)
{
    const amd_gpu_spec *s = b->spec;
    b->gpu->facts =
        (amd_gpu_facts){ .target = target_names[s->target],
                         .memory_bytes = s->memory_mib << 20,
                         .compute_units = (uint32_t)(s->clusters * s->cus_per_cluster * s->units_per_cu),
                         .lds_bytes = capacity->lds_bytes / capacity->halves,
                         .clock_mhz = (uint32_t)(s->core_clock.num / s->core_clock.den / 1000000),
                         .clusters = b->clusters,
                         .cus_per_cluster = b->per_cluster,
                         .line_bytes = b->gpu->line_bytes };
}

static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    builder b = { .machine = machine, .engine = ls_machine_engine(machine), .spec = spec };
    b.clusters = (uint32_t)b.spec->clusters;
    b.per_cluster = (uint32_t)b.spec->cus_per_cluster;
    b.xcds = (uint32_t)b.spec->xcds;
    b.arrays = b.xcds > 0 ? b.xcds : (uint32_t)b.spec->arrays;
    b.channels = (uint32_t)b.spec->channels;
    b.slices = (uint32_t)b.spec->slices_per_channel;
    b.uppers = b.arrays > 0 ? b.arrays : b.clusters;
    b.fabric = ls_machine_fabric(machine);
    b.migrates = ls_machine_migrates(machine);
    b.caches_per_cluster = b.per_cluster * (uint32_t)b.spec->vector_caches + 2;
    TRY(ls_clock_init(&b.core_clock, b.spec->core_clock, err));
    TRY(ls_clock_init(&b.dram_clock, b.spec->dram_clock, err));
    TRY(reserve(&b, err));
    TRY(describe(&b, err));
    TRY(build_network_plan(&b, err));
    TRY(build_front(&b, err));
    for (uint32_t i = 0; i < b.clusters; i++)
        TRY(build_cluster(&b, i, err));
    TRY(b.xcds > 0 ? build_xcds(&b, err) : build_arrays(&b, err));
    for (uint32_t i = 0; i < b.channels; i++)
        TRY(build_partition(&b, i, err));
    TRY(build_network(&b, err));
    if (b.xcds > 0)
        TRY(build_join_snoops(&b, err));
    TRY(build_mmu(&b, err));
    TRY(build_remote(&b, err));
    ls_cu_capacity capacity;
    ((const ls_cu_ops *)b.cus[0].ops)->capacity(b.cus[0].self, &capacity);
    TRY(check_capacity(&capacity, err));
    TRY(check_target(&b, err));
    set_facts(&b, &capacity);
    const ls_command_wiring wiring = { .capacity = capacity,
                                       .clusters = b.clusters,
                                       .cus_per_cluster = b.per_cluster,
                                       .orders = b.orders,
                                       .dma = b.dma,
                                       .kernels = &b.gpu->kernels,
                                       .flush = b.writes_back,
                                       .dies = b.xcds };
    TRY(((const ls_command_ops *)b.gpu->command.ops)->attach(b.gpu->command.self, &wiring, err));
    TRY(build_central(&b, &capacity, err));
    return ls_engine_add_part(b.engine, AMD_GPU_MACHINE, b.gpu, err);
}

/* --------------------------------------------------------------------------------- for those who run it */

amd_gpu *amd_gpu_of(const ls_engine *engine, uint32_t index)
{
    return ls_engine_part(engine, AMD_GPU_MACHINE, index);
}

const amd_gpu_facts *amd_gpu_get_facts(const amd_gpu *gpu)
{
    return &gpu->facts;
}

ls_port amd_gpu_command(const amd_gpu *gpu)
{
    return gpu->command;
}

uint32_t amd_gpu_followers(const amd_gpu *gpu)
{
    return gpu->followers;
}

const ls_clock *amd_gpu_clock(const amd_gpu *gpu)
{
    return ls_region_clock(gpu->command_region);
}

const ls_block *amd_gpu_block(const amd_gpu *gpu)
{
    return gpu->caches[0];
}

ls_status amd_gpu_set_memory(amd_gpu *g, memory_space *space, ls_error *err)
{
    for (uint32_t i = 0; i < g->home_count + g->xcds; i++)
        TRY(line_memory_attach(g->memories[i], space, err));
    return LS_OK;
}

void amd_gpu_change_pages(amd_gpu *g, const ls_page_change *change)
{
    for (uint32_t i = 0; i < g->home_count + g->xcds; i++)
        line_memory_change(g->memories[i], change);
}

/* The memory of the channel that has an address, and how many of the bytes from there on lie in the same line. */
static ls_block *memory_of(const amd_gpu *g, uint64_t address, uint64_t bytes, uint64_t *piece)
{
    uint64_t left = g->line_bytes - address % g->line_bytes;
    *piece = left < bytes ? left : bytes;
    return g->memories[mem_map_place(&g->map, address).channel];
}

static ls_status not_mapped(uint64_t address, ls_error *err)
{
    return ls_fail(err, LS_ERR_USAGE, "0x%llx is not mapped", (unsigned long long)address);
}

ls_status amd_gpu_load(amd_gpu *g, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        ls_block *memory = memory_of(g, to + done, bytes - done, &piece);
        if (!line_memory_load(memory, to + done, (const uint8_t *)from + done, piece))
            return not_mapped(to + done, err);
    }
    return LS_OK;
}

ls_status amd_gpu_copy_out(const amd_gpu *g, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        const ls_block *memory = memory_of(g, from + done, bytes - done, &piece);
        if (!line_memory_copy_out(memory, from + done, (uint8_t *)to + done, piece))
            return not_mapped(from + done, err);
    }
    return LS_OK;
}

bool amd_gpu_set_pages(amd_gpu *g, const ls_pages *pages)
{
    g->pages = *pages;
    return g->mmu != NULL;
}

uint64_t amd_gpu_page_bytes(const amd_gpu *g)
{
    return g->mmu != NULL ? line_mmu_page_bytes(g->mmu) : 0;
}

bool amd_gpu_dma_is_virtual(const amd_gpu *g)
{
    return g->dma_translates;
}

uint32_t amd_gpu_number(const amd_gpu *g)
{
    return g->number;
}

void amd_gpu_discard_lines(amd_gpu *g, uint64_t physical, uint64_t bytes)
{
    for (uint32_t i = 0; i < g->cache_count; i++)
        line_cache_discard(g->caches[i], physical, bytes);
}

void amd_gpu_discard_pages(amd_gpu *g, uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < g->tlb_count; i++)
        line_tlb_discard(g->tlbs[i], address, bytes);
    if (g->mmu != NULL)
        line_mmu_discard(g->mmu, address, bytes);
    else
        amd_gpu_discard_lines(g, address, bytes);
}

void amd_gpu_discard(amd_gpu *g, uint64_t address, uint64_t bytes)
{
    amd_gpu_discard_lines(g, address, bytes);
    if (g->mmu != NULL)
        amd_gpu_discard_pages(g, address, bytes);
}

bool amd_gpu_find_cu(ls_engine *engine, const char *path, ls_port *cu)
{
    ls_block *block = ls_engine_find_block(engine, path);
    return block != NULL && ls_block_port(block, LS_CU_INTERFACE, cu, NULL) == LS_OK;
}

bool amd_gpu_take_kernel(ls_engine *engine, const char *path, uint32_t number, void *counters, size_t bytes)
{
    ls_port cu;
    return amd_gpu_find_cu(engine, path, &cu) &&
           ((const ls_cu_ops *)cu.ops)->take_kernel(cu.self, number, counters, bytes);
}

/* ------------------------------------------------------------------------------------------------- tables */

/* clang-format off */
#define KEY_SPEC amd_gpu_spec

static const ls_param params[] = {
    LS_PARAM_CHOICE(amd_gpu_spec, target, "target", "gfx803", target_names, "instruction set of programs"),
    LS_PARAM_FREQ(amd_gpu_spec, core_clock, "clock.core_mhz", "1000", "clock of compute units, caches and network"),
    LS_PARAM_FREQ(amd_gpu_spec, dram_clock, "clock.dram_mhz", "500", "command clock of the DRAM"),
    LS_PARAM_UINT(amd_gpu_spec, clusters, "", 16, 1, 256, "groups of compute units that share scalar and instruction caches"),
    LS_PARAM_UINT(amd_gpu_spec, cus_per_cluster, "", 4, 1, 16, "compute units (dual ones count once) of a cluster"),
    LS_PARAM_UINT(amd_gpu_spec, vector_caches, "", 1, 1, 2, "vector caches of a compute unit; RDNA: 2"),
    LS_PARAM_UINT(amd_gpu_spec, units_per_cu, "", 1, 1, 2, "how many compute units programs see for each; RDNA: 2"),
    LS_PARAM_UINT(amd_gpu_spec, arrays, "", 0, 0, 64, "shader arrays with an L1; 0: clusters go to L2 directly"),
    LS_PARAM_BOOL(amd_gpu_spec, keeps_code, false, "a kernel's start leaves instruction caches as they are"),
    LS_PARAM_UINT(amd_gpu_spec, xcds, "", 0, 0, 8, "dies of compute units (XCDs) with an L2 each; 0: one L2 beside the memory channels"),
    KEY("xcd.slices", xcd_slices, "", "16", 1, 16, "slices (channels) of the L2 of an XCD"),
    KEY("xcd.interleave_bytes", xcd_interleave_bytes, "bytes", "256", 64, 65536, "consecutive bytes in one slice of it"),
    KEY("xcd.latency_cycles", xcd_latency_cycles, "cycles", "20", 1, 2000, "between a cluster and the L2 of its XCD, one way"),
    LS_PARAM_RATIO(amd_gpu_spec, xcd_line_cycles, "xcd.line_cycles", "cycles", "0", 0, 64,
                   "of the port between an XCD and the memory, for each line it reads or writes; 0: no limit"),
    KEY("snoop.entries", snoop_entries, "lines", "4096", 64, 1048576, "of each channel's snoop filter, which knows the XCDs that may have a line"),
    LS_PARAM_UINT(amd_gpu_spec, line_bytes, "bytes", 64, 64, 128, "of all caches"),
    KEY("dispatch_latency_cycles", dispatch_latency_cycles, "cycles", "40", 1, 2000,
        "between the command processor and a cluster"),
    KEY("central_latency_cycles", central_latency_cycles, "cycles", "500", 1, 100000,
        "between the command processors of the first GPU and of this one, for --spread central"),
    KEY("noc.array_latency_cycles", array_latency_cycles, "cycles", "20", 1, 2000,
        "between a cluster and the L1 of its shader array, one way"),
    KEY("noc.mmu_latency_cycles", mmu_latency_cycles, "cycles", "40", 1, 2000,
        "between an L1 TLB and the MMU, one way"),
    KEY("noc.rdma_latency_cycles", rdma_latency_cycles, "cycles", "0", 0, 2000,
        "between a cluster or L2 slice and the RDMA engine, one way; 0: as between clusters and L2"),
    KEY_CHOICE("rdma.at", rdma_at, "l1", rdma_at_names, "whose misses the RDMA engine takes: l1, or memory: those of L2"),
    KEY_CHOICE("rdma.cache", rdma_cache, "never", rdma_cache_names,
               "lines of other GPUs that L2 keeps: none; lines that are read; lines that are read or written"),
    KEY("rdma.ways", rdma_ways, "lines", "4", 1, 255, "of each set of L2 for lines of other GPUs"),
    KEY("agent.lines_in_flight", agent.lines_in_flight, "lines", "64", 1, 4096,
        "of pages that leave: read from memory and not yet on the fabric"),
    KEY("agent.buffer_pieces", agent.buffer_pieces, "lines", "128", 1, 4096, "of pages that come: not yet in memory"),
    KEY("agent.counters", agent.counters, "pages", "1024", 0, 65536,
        "pages of other memories whose accesses are counted (a power of two); 0: none"),
    KEY("memory.size_mib", memory_mib, "MiB", "4096", 1, 1048576, "memory of the GPU"),
    KEY("memory.channels", channels, "", "8", 1, 256, "memory channels"),
    KEY("memory.slices_per_channel", slices_per_channel, "", "1", 1, 4, "L2 slices per memory channel"),
    KEY("memory.interleave_bytes", interleave_bytes, "bytes", "256", 64, 65536, "consecutive bytes in one channel"),
    LS_PARAM_CHOICE(amd_gpu_spec, slice_hash, "memory.slice_hash", "none", slice_hash_names, "how addresses pick slices"),
    KEY_FLAG("memory.cached", memory_cache, "false", "a cache between L2 and each channel (memory_cache)"),
    KEY_FLAG("memory.copies_in_l2", copies_in_l2, "false", "host copies leave their lines in L2; else they pass it"),
    LS_PARAM_TEXT(amd_gpu_spec, bit_map, "memory.bit_map", "RRRRRRRR.RRRRRRRR.RRBBBBCC.CCCSSSSS",
                  "address bits inside a channel: row, bank, column, burst"),
};

static const ls_need needs[] = {
    { "central_latency_cycles", "//fabric.model!=none" },
    { "noc.array_latency_cycles", "arrays!=0" },
    { "arrays", "xcds=0" },
    { "xcd.slices", "xcds!=0" },
    { "xcd.interleave_bytes", "xcds!=0" },
    { "xcd.latency_cycles", "xcds!=0" },
    { "xcd.line_cycles", "xcds!=0" },
    { "snoop.entries", "xcds!=0" },
    { "noc.mmu_latency_cycles", "tlb.model!=none" },
    { "noc.rdma_latency_cycles", "//fabric.model!=none" },
    { "agent.lines_in_flight", "//migrate.model!=none" },
    { "agent.buffer_pieces", "//migrate.model!=none" },
    { "agent.counters", "//migrate.model!=none" },
    { "rdma.at", "//fabric.model!=none" },
    { "rdma.cache", "rdma.at=memory //fabric.model!=none" },
    { "rdma.ways", "rdma.cache!=never rdma.at=memory //fabric.model!=none" },
};
/* clang-format on */

static const ls_machine_type amd_machine = {
    .abi = LS_ABI_VERSION,
    .name = AMD_GPU_MACHINE,
    .help = "one AMD GPU that executes programs",
    .spec_size = sizeof(amd_gpu_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .sections = amd_sections,
    .section_count = AMD_SECTIONS,
    .build = build,
};
LS_REGISTER_MACHINE(amd_machine);
