/* amd_gpu.c: builds an AMD GPU: a domain for the command processor and the DMA engine, one per cluster of compute units
 * (GCN: those that share a scalar and an instruction cache; RDNA: a dual compute unit), one per shader array that has an
 * L1, one per memory channel with its L2 slices. Only links join domains; they are the long wires of the chip. */
#include "model/amd/amd_gpu.h"

#include "model/amd/command.h"
#include "model/line/cache.h"
#include "model/line/gate.h"
#include "model/line/home.h"
#include "model/line/hub.h"

#include <stdio.h>
#include <string.h>

#define CREDITS_TO_SPARE 32u

typedef struct amd_gpu_spec {
    uint32_t target;
    ls_ratio core_clock, dram_clock;
    uint64_t clusters, cus_per_cluster, vector_caches, units_per_cu, arrays;
    uint64_t line_bytes;
    uint64_t dispatch_latency_cycles, request_latency_cycles, reply_latency_cycles, array_latency_cycles;
    uint64_t memory_mib, channels, slices_per_channel, interleave_bytes;
    uint32_t slice_hash;
    const char *bit_map;
} amd_gpu_spec;

/* What stays of a built machine; found through the command processor. */
typedef struct amd_gpu {
    amd_gpu_facts facts;
    mem_map map;
    uint32_t line_bytes;
    ls_block **caches; /* all of them */
    uint32_t cache_count;
    ls_block **l2, **homes;
    uint32_t l2_count, home_count;
} amd_gpu;

typedef struct builder {
    ls_machine *machine;
    ls_engine *engine;
    const amd_gpu_spec *spec;
    amd_gpu *gpu;
    uint32_t clusters, per_cluster, arrays, channels, slices,
        uppers; /* uppers: domains that send to partitions */
    uint32_t caches_per_cluster;
    ls_clock core_clock, dram_clock;
    ls_region *command_region, **cluster_regions, **array_regions, **l2_regions;
    ls_block *command, *dma, *dma_hub;
    ls_block **cus, **cluster_blocks, **cluster_caches, **cluster_hubs, **array_gates, **array_hubs, **gates;
    ls_link **orders, **acks, **dones;
} builder;

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

static void keep_cache(builder *b, ls_block *cache)
{
    b->gpu->caches[b->gpu->cache_count++] = cache;
}

/* --------------------------------------------------------------------------------------------------------- blocks */

static ls_status build_front(builder *b, ls_error *err)
{
    ls_domain *domain;
    TRY(ls_domain_create(b->engine, "gpu0.front", b->core_clock, &domain, err));
    b->command_region = ls_domain_region(domain, 0);
    TRY(ls_machine_block(b->machine, b->command_region, COMMAND_BLOCK, "command", &b->command, err));
    TRY(ls_machine_block(b->machine, b->command_region, "gpu0.dma", "dma", &b->dma, err));
    TRY(line_hub_create(b->command_region, "gpu0.dma.hub", b->gpu->line_bytes, &b->dma_hub, err));
    return dma_attach(b->dma, b->dma_hub, err);
}

/* A cache of a cluster, above its way out. */
static ls_status build_cache(builder *b, uint32_t cluster, const char *name, const char *section,
                             ls_block **out, ls_error *err)
{
    TRY(ls_machine_block(b->machine, b->cluster_regions[cluster], name, section, out, err));
    TRY(line_cache_set_below(*out, b->cluster_hubs[cluster], err));
    line_cache_set_passing(*out, LINE_GLC);
    keep_cache(b, *out);
    return LS_OK;
}

static ls_status build_cu(builder *b, uint32_t cluster, uint32_t index, ls_block *scalar, ls_block *code,
                          ls_error *err)
{
    char name[64];
    ls_block *cu;
    cu_wires wires = { .cluster = cluster,
                       .index = index,
                       .vector_count = (uint32_t)b->spec->vector_caches,
                       .to_command = b->dones[cluster] };
    snprintf(name, sizeof name, "gpu0.cluster%u.cu%u", cluster, index);
    TRY(ls_machine_block(b->machine, b->cluster_regions[cluster], name, "cu", &cu, err));
    b->cus[(size_t)cluster * b->per_cluster + index] = cu;
    for (uint32_t i = 0; i < wires.vector_count; i++) {
        ls_block *cache;
        snprintf(name, sizeof name, "gpu0.cluster%u.cu%u.vector%u", cluster, index, i);
        TRY(build_cache(b, cluster, name, "vector_cache", &cache, err));
        b->cluster_caches[cluster * b->caches_per_cluster + index * wires.vector_count + i] = cache;
        TRY(line_join(cache, &cu_vector_client[i], ls_block_state(cu), &wires.vector[i], err));
    }
    TRY(line_join(scalar, &cu_scalar_client, ls_block_state(cu), &wires.scalar, err));
    TRY(line_join(code, &cu_code_client, ls_block_state(cu), &wires.code, err));
    return cu_attach(cu, &wires, err);
}

static ls_status build_cluster_domain(builder *b, uint32_t i, ls_error *err)
{
    char name[64], command[64];
    ls_domain *domain;
    snprintf(name, sizeof name, "gpu0.cluster%u", i);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    ls_region *region = b->cluster_regions[i] = ls_domain_region(domain, 0);
    snprintf(name, sizeof name, "gpu0.cluster%u.orders", i);
    TRY(cluster_create(region, name, &b->cluster_blocks[i], err));
    snprintf(name, sizeof name, "gpu0.cluster%u.hub", i);
    TRY(line_hub_create(region, name, b->gpu->line_bytes, &b->cluster_hubs[i], err));
    ls_link_spec spec = { .name = name,
                          .from = b->command_region,
                          .to = region,
                          .latency_cycles = (uint32_t)b->spec->dispatch_latency_cycles,
                          .credits = (uint32_t)b->spec->dispatch_latency_cycles * 2 + CREDITS_TO_SPARE,
                          .payload_bytes = sizeof(cluster_order),
                          .receive = cluster_receive,
                          .receiver = ls_block_state(b->cluster_blocks[i]) };
    snprintf(name, sizeof name, "order%u", i);
    TRY(ls_link_create(b->engine, &spec, &b->orders[i], err));
    spec.from = region;
    spec.to = b->command_region;
    spec.receiver = ls_block_state(b->command);
    snprintf(name, sizeof name, "ack%u", i);
    spec.payload_bytes = sizeof(cluster_ack);
    spec.receive = command_receive_ack;
    TRY(ls_link_create(b->engine, &spec, &b->acks[i], err));
    snprintf(command, sizeof command, "done%u", i);
    spec.name = command;
    spec.payload_bytes = sizeof(cu_done);
    spec.receive = command_receive_done;
    return ls_link_create(b->engine, &spec, &b->dones[i], err);
}

static ls_status build_cluster(builder *b, uint32_t i, ls_error *err)
{
    char name[64];
    ls_block *scalar, *code;
    ls_block **caches = &b->cluster_caches[i * b->caches_per_cluster];
    TRY(build_cluster_domain(b, i, err));
    snprintf(name, sizeof name, "gpu0.cluster%u.scalar", i);
    TRY(build_cache(b, i, name, "scalar_cache", &scalar, err));
    snprintf(name, sizeof name, "gpu0.cluster%u.code", i);
    TRY(build_cache(b, i, name, "instruction_cache", &code, err));
    caches[b->caches_per_cluster - 2] = scalar;
    caches[b->caches_per_cluster - 1] = code;
    for (uint32_t k = 0; k < b->per_cluster; k++)
        TRY(build_cu(b, i, k, scalar, code, err));
    /* The first cluster of a shader array empties its L1 too. */
    bool first = b->arrays > 0 && (i == 0 || i * b->arrays / b->clusters != (i - 1) * b->arrays / b->clusters);
    return cluster_attach(b->cluster_blocks[i],
                          &(cluster_wires){ .number = i,
                                            .cus = &b->cus[(size_t)i * b->per_cluster],
                                            .cu_count = b->per_cluster,
                                            .caches = caches,
                                            .cache_count = b->caches_per_cluster,
                                            .caches_below = first,
                                            .acks = b->acks[i] },
                          err);
}

static uint32_t array_of(const builder *b, uint32_t cluster)
{
    return cluster * b->arrays / b->clusters;
}

/* A pair of links between a hub and entry `at` of a gate. */
static ls_status build_pair(builder *b, const char *name, ls_region *from, ls_block *hub, ls_region *to,
                            ls_block *gate, uint32_t at, uint32_t request_cycles, uint32_t reply_cycles,
                            ls_link **out, ls_error *err)
{
    char text[64];
    ls_link *reply;
    uint32_t credits = request_cycles + reply_cycles + CREDITS_TO_SPARE;
    ls_link_spec spec = { .name = text,
                          .from = from,
                          .to = to,
                          .from_name = ls_block_name(hub),
                          .to_name = ls_block_name(gate),
                          .latency_cycles = request_cycles,
                          .credits = credits,
                          .payload_bytes = sizeof(line_message),
                          .receive = line_gate_receive,
                          .receiver = line_gate_receiver(gate, at) };
    snprintf(text, sizeof text, "request.%s.%u", name, at);
    TRY(ls_link_create(b->engine, &spec, out, err));
    snprintf(text, sizeof text, "reply.%s.%u", name, at);
    spec.from = to;
    spec.to = from;
    spec.from_name = ls_block_name(gate);
    spec.to_name = ls_block_name(hub);
    spec.latency_cycles = reply_cycles;
    spec.receive = line_hub_receive;
    spec.receiver = ls_block_state(hub);
    TRY(ls_link_create(b->engine, &spec, &reply, err));
    line_gate_set_reply(gate, at, reply);
    return LS_OK;
}

static uint32_t pair_credits(uint32_t request_cycles, uint32_t reply_cycles)
{
    return request_cycles + reply_cycles + CREDITS_TO_SPARE;
}

static ls_status build_arrays(builder *b, ls_error *err)
{
    char name[64];
    uint32_t latency = (uint32_t)b->spec->array_latency_cycles;
    for (uint32_t i = 0; i < b->arrays; i++) {
        ls_domain *domain;
        ls_block *l1;
        uint32_t count = 0;
        for (uint32_t k = 0; k < b->clusters; k++)
            count += array_of(b, k) == i;
        snprintf(name, sizeof name, "gpu0.array%u", i);
        TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
        ls_region *region = b->array_regions[i] = ls_domain_region(domain, 0);
        snprintf(name, sizeof name, "gpu0.array%u.gate", i);
        TRY(line_gate_create(region, name, count, pair_credits(latency, latency), &b->array_gates[i], err));
        snprintf(name, sizeof name, "gpu0.array%u.hub", i);
        TRY(line_hub_create(region, name, b->gpu->line_bytes, &b->array_hubs[i], err));
        snprintf(name, sizeof name, "gpu0.array%u.l1", i);
        TRY(ls_machine_block(b->machine, region, name, "l1", &l1, err));
        TRY(line_cache_set_below(l1, b->array_hubs[i], err));
        line_cache_set_passing(l1, LINE_DLC);
        keep_cache(b, l1);
        TRY(line_gate_set_slices(b->array_gates[i], NULL, &l1, 1, err));
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < b->clusters && b->arrays > 0; k++) {
        uint32_t array = array_of(b, k);
        ls_link *link;
        at = k > 0 && array_of(b, k - 1) == array ? at + 1 : 0;
        snprintf(name, sizeof name, "array%u", array);
        TRY(build_pair(b, name, b->cluster_regions[k], b->cluster_hubs[k], b->array_regions[array],
                       b->array_gates[array], at, latency, latency, &link, err));
        TRY(line_hub_set_links(b->cluster_hubs[k], NULL, &link, 1, err));
    }
    return LS_OK;
}

static ls_status build_partition(builder *b, uint32_t i, ls_error *err)
{
    char name[64];
    ls_domain *domain;
    ls_region *region;
    ls_block *dram, *home, **slices = &b->gpu->l2[i * b->slices];
    uint32_t credits =
        pair_credits((uint32_t)b->spec->request_latency_cycles, (uint32_t)b->spec->reply_latency_cycles);
    snprintf(name, sizeof name, "gpu0.partition%u", i);
    /* The DRAM's region comes first: at equal times it runs before L2, as data moves up. */
    TRY(ls_domain_create(b->engine, name, b->dram_clock, &domain, err));
    TRY(ls_domain_add_region(domain, b->core_clock, &region, err));
    b->l2_regions[i] = region;
    snprintf(name, sizeof name, "gpu0.partition%u.gate", i);
    TRY(line_gate_create(region, name, b->uppers + 1, credits, &b->gates[i], err));
    snprintf(name, sizeof name, "gpu0.partition%u.channel", i);
    TRY(ls_machine_block(b->machine, region, name, "channel", &home, err));
    snprintf(name, sizeof name, "gpu0.partition%u.dram", i);
    TRY(ls_machine_block(b->machine, ls_domain_region(domain, 0), name, "dram", &dram, err));
    TRY(ls_block_connect(home, "dram", dram, "dram", err));
    TRY(ls_block_connect(dram, "reply", home, "reply", err));
    TRY(line_home_attach(home, NULL, &b->gpu->map, b->gpu->line_bytes, err));
    b->gpu->homes[i] = home;
    for (uint32_t k = 0; k < b->slices; k++) {
        snprintf(name, sizeof name, "gpu0.partition%u.l2_%u", i, k);
        TRY(ls_machine_block(b->machine, region, name, "l2", &slices[k], err));
        TRY(line_cache_set_below(slices[k], home, err));
        line_cache_set_map(slices[k], &b->gpu->map);
        keep_cache(b, slices[k]);
    }
    return line_gate_set_slices(b->gates[i], &b->gpu->map, slices, b->slices, err);
}

/* From whatever is above the partitions to all of them. */
static ls_status build_network(builder *b, ls_error *err)
{
    char name[64];
    ls_link *links[256];
    for (uint32_t i = 0; i <= b->uppers; i++) {
        ls_block *hub = i == b->uppers ? b->dma_hub : b->arrays > 0 ? b->array_hubs[i] : b->cluster_hubs[i];
        ls_region *region = i == b->uppers  ? b->command_region
                            : b->arrays > 0 ? b->array_regions[i]
                                            : b->cluster_regions[i];
        for (uint32_t k = 0; k < b->channels; k++) {
            snprintf(name, sizeof name, "partition%u", k);
            TRY(build_pair(b, name, region, hub, b->l2_regions[k], b->gates[k], i,
                           (uint32_t)b->spec->request_latency_cycles, (uint32_t)b->spec->reply_latency_cycles,
                           &links[k], err));
        }
        TRY(line_hub_set_links(hub, &b->gpu->map, links, b->channels, err));
    }
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------------- machine */

static const char *const target_names[] = { "gfx803", "gfx1010", "gfx1030", NULL };

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
    size_t l2 = (size_t)b->channels * b->slices;
    b->gpu = ls_engine_alloc(b->engine, sizeof *b->gpu);
    if (b->gpu == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU");
    b->cluster_regions = array_of_pointers(b, b->clusters, &failed);
    b->array_regions = array_of_pointers(b, b->arrays, &failed);
    b->l2_regions = array_of_pointers(b, b->channels, &failed);
    b->cus = array_of_pointers(b, cus, &failed);
    b->cluster_blocks = array_of_pointers(b, b->clusters, &failed);
    b->cluster_caches = array_of_pointers(b, cluster_caches, &failed);
    b->cluster_hubs = array_of_pointers(b, b->clusters, &failed);
    b->array_gates = array_of_pointers(b, b->arrays, &failed);
    b->array_hubs = array_of_pointers(b, b->arrays, &failed);
    b->gates = array_of_pointers(b, b->channels, &failed);
    b->orders = array_of_pointers(b, b->clusters, &failed);
    b->acks = array_of_pointers(b, b->clusters, &failed);
    b->dones = array_of_pointers(b, b->clusters, &failed);
    b->gpu->caches = array_of_pointers(b, cluster_caches + b->arrays + l2, &failed);
    b->gpu->l2 = array_of_pointers(b, l2, &failed);
    b->gpu->homes = array_of_pointers(b, b->channels, &failed);
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
    g->l2_count = b->channels * b->slices;
    g->home_count = b->channels;
    if (s->line_bytes != 64 && s->line_bytes != 128)
        return ls_fail(err, LS_ERR_INPUT, "line_bytes is %llu; lines have 64 or 128 bytes",
                       (unsigned long long)s->line_bytes);
    if (s->interleave_bytes % s->line_bytes != 0)
        return ls_fail(err, LS_ERR_INPUT,
                       "memory.interleave_bytes is %llu, which is no multiple of a line of %llu bytes",
                       (unsigned long long)s->interleave_bytes, (unsigned long long)s->line_bytes);
    if (b->arrays > b->clusters)
        return ls_fail(err, LS_ERR_INPUT, "%u shader arrays have only %u clusters", b->arrays, b->clusters);
    return mem_map_init(&g->map, &map, err);
}

static void set_facts(builder *b, const cu_capacity *capacity)
{
    const amd_gpu_spec *s = b->spec;
    b->gpu->facts =
        (amd_gpu_facts){ .target = target_names[s->target],
                         .memory_bytes = s->memory_mib << 20,
                         .compute_units = (uint32_t)(s->clusters * s->cus_per_cluster * s->units_per_cu),
                         .lds_bytes = capacity->lds_bytes / capacity->halves,
                         .clock_mhz = (uint32_t)(s->core_clock.num / s->core_clock.den / 1000000) };
}

static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    builder b = { .machine = machine, .engine = ls_machine_engine(machine), .spec = spec };
    b.clusters = (uint32_t)b.spec->clusters;
    b.per_cluster = (uint32_t)b.spec->cus_per_cluster;
    b.arrays = (uint32_t)b.spec->arrays;
    b.channels = (uint32_t)b.spec->channels;
    b.slices = (uint32_t)b.spec->slices_per_channel;
    b.uppers = b.arrays > 0 ? b.arrays : b.clusters;
    b.caches_per_cluster = b.per_cluster * (uint32_t)b.spec->vector_caches + 2;
    TRY(ls_clock_init(&b.core_clock, b.spec->core_clock, err));
    TRY(ls_clock_init(&b.dram_clock, b.spec->dram_clock, err));
    TRY(reserve(&b, err));
    TRY(describe(&b, err));
    TRY(build_front(&b, err));
    for (uint32_t i = 0; i < b.clusters; i++)
        TRY(build_cluster(&b, i, err));
    TRY(build_arrays(&b, err));
    for (uint32_t i = 0; i < b.channels; i++)
        TRY(build_partition(&b, i, err));
    TRY(build_network(&b, err));
    cu_capacity capacity = cu_get_capacity(b.cus[0]);
    set_facts(&b, &capacity);
    return command_attach(b.command,
                          &(command_wires){ .capacity = capacity,
                                            .clusters = b.clusters,
                                            .cus_per_cluster = b.per_cluster,
                                            .orders = b.orders,
                                            .dma = b.dma,
                                            .machine = b.gpu },
                          err);
}

/* ----------------------------------------------------------------------------------------------- for who runs it */

static amd_gpu *find(ls_engine *engine)
{
    ls_block *command = ls_engine_find_block(engine, COMMAND_BLOCK);
    return command != NULL ? command_machine(command) : NULL;
}

const amd_gpu_facts *amd_gpu_get_facts(ls_engine *engine)
{
    amd_gpu *g = find(engine);
    return g != NULL ? &g->facts : NULL;
}

ls_status amd_gpu_set_memory(ls_engine *engine, ls_window *window, ls_error *err)
{
    amd_gpu *g = find(engine);
    for (uint32_t i = 0; i < g->home_count; i++)
        TRY(line_home_attach(g->homes[i], window, &g->map, g->line_bytes, err));
    for (uint32_t i = 0; i < g->l2_count; i++)
        line_cache_set_home(g->l2[i], window);
    return LS_OK;
}

void amd_gpu_discard(ls_engine *engine, uint64_t address, uint64_t bytes)
{
    amd_gpu *g = find(engine);
    for (uint32_t i = 0; i < g->cache_count; i++)
        line_cache_discard(g->caches[i], address, bytes);
}

/* ---------------------------------------------------------------------------------------------------------- tables */

static const char *const hash_names[] = { "none", "xor", "ipoly", NULL };

/* clang-format off */
#define KEY_UINT(field_, name_, unit_, default_, min_, max_, help_)                                           \
    { .name = (name_), .type = LS_PARAM_TYPE_UINT, .offset = offsetof(amd_gpu_spec, field_),                  \
      .default_text = (default_), .min = (min_), .max = (max_), .unit = (unit_), .help = (help_) }

static const ls_param params[] = {
    LS_PARAM_CHOICE(amd_gpu_spec, target, "target", "gfx803", target_names, "instruction set of programs"),
    LS_PARAM_FREQ(amd_gpu_spec, core_clock, "clock.core_mhz", "1000", "clock of compute units, caches and network"),
    LS_PARAM_FREQ(amd_gpu_spec, dram_clock, "clock.dram_mhz", "500", "command clock of the DRAM"),
    LS_PARAM_UINT(amd_gpu_spec, clusters, "", 16, 1, 256, "groups of compute units that share scalar and instruction caches"),
    LS_PARAM_UINT(amd_gpu_spec, cus_per_cluster, "", 4, 1, 16, "compute units (dual ones count once) of a cluster"),
    LS_PARAM_UINT(amd_gpu_spec, vector_caches, "", 1, 1, 2, "vector caches of a compute unit; RDNA: 2"),
    LS_PARAM_UINT(amd_gpu_spec, units_per_cu, "", 1, 1, 2, "how many compute units programs see for each; RDNA: 2"),
    LS_PARAM_UINT(amd_gpu_spec, arrays, "", 0, 0, 64, "shader arrays with an L1; 0: clusters go to L2 directly"),
    LS_PARAM_UINT(amd_gpu_spec, line_bytes, "bytes", 64, 64, 128, "of all caches"),
    KEY_UINT(dispatch_latency_cycles, "dispatch_latency_cycles", "cycles", "40", 1, 2000,
             "between the command processor and a cluster"),
    KEY_UINT(request_latency_cycles, "noc.request_latency_cycles", "cycles", "40", 1, 2000,
             "from a cluster (or shader array) to a memory partition"),
    KEY_UINT(reply_latency_cycles, "noc.reply_latency_cycles", "cycles", "40", 1, 2000, "and back"),
    KEY_UINT(array_latency_cycles, "noc.array_latency_cycles", "cycles", "20", 1, 2000,
             "between a cluster and the L1 of its shader array, one way"),
    KEY_UINT(memory_mib, "memory.size_mib", "MiB", "4096", 1, 1048576, "memory of the GPU"),
    KEY_UINT(channels, "memory.channels", "", "8", 1, 256, "memory channels"),
    KEY_UINT(slices_per_channel, "memory.slices_per_channel", "", "1", 1, 4, "L2 slices per memory channel"),
    KEY_UINT(interleave_bytes, "memory.interleave_bytes", "bytes", "256", 64, 65536, "consecutive bytes in one channel"),
    LS_PARAM_CHOICE(amd_gpu_spec, slice_hash, "memory.slice_hash", "none", hash_names, "how addresses pick slices"),
    LS_PARAM_TEXT(amd_gpu_spec, bit_map, "memory.bit_map", "RRRRRRRR.RRRRRRRR.RRBBBBCC.CCCSSSSS",
                  "address bits inside a channel: row, bank, column, burst"),
};

static const ls_section sections[] = {
    { .path = "command", .slot = "command", .default_model = "cycle", .help = "command processor and dispatchers" },
    { .path = "dma", .slot = "dma", .default_model = "line", .help = "copies, and the link to the host" },
    { .path = "cu", .slot = "cu", .default_model = "gcn", .help = "compute units" },
    { .path = "vector_cache", .slot = LINE_CACHE_SLOT, .default_model = "cycle", .help = "vector memory, per compute unit" },
    { .path = "scalar_cache", .slot = LINE_CACHE_SLOT, .default_model = "cycle", .help = "scalar memory, per cluster" },
    { .path = "instruction_cache", .slot = LINE_CACHE_SLOT, .default_model = "cycle", .help = "code, per cluster" },
    { .path = "l1", .slot = LINE_CACHE_SLOT, .default_model = "cycle", .help = "RDNA's L1, per shader array" },
    { .path = "l2", .slot = LINE_CACHE_SLOT, .default_model = "cycle", .help = "a slice of L2" },
    { .path = "channel", .slot = LINE_HOME_SLOT, .default_model = "window", .help = "from L2 to the DRAM" },
    { .path = "dram", .slot = "dram", .default_model = "bank", .help = "memory channels" },
};
/* clang-format on */

static const ls_machine_type amd_machine = {
    .abi = LS_ABI_VERSION,
    .name = AMD_GPU_MACHINE,
    .help = "one AMD GPU that executes programs",
    .spec_size = sizeof(amd_gpu_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .sections = sections,
    .section_count = LS_COUNT_OF(sections),
    .build = build,
};
LS_REGISTER_MACHINE(amd_machine);
