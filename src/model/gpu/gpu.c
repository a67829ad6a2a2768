/* gpu.c: builds a GPU: one domain for the dispatcher, one per core, one per memory channel (its L2 slices on
 * the L2 clock, its DRAM on the DRAM clock).
 *
 * The network between cores and memory channels is a model of the slot `noc`. Its latency is split over both
 * directions so that both are long: the lookahead, and so the length of windows, is the shortest link. */
#include "model/gpu/gpu.h"

#include "base/text.h"
#include "lockstep/l1.h"
#include "lockstep/scheduler.h"
#include "model/gpu/network.h"
#include "model/gpu/peer_build.h"
#include "model/gpu/remote_build.h"
#include "model/gpu/shape.h"
#include "model/gpu/slots.h"
#include "model/memory/partition.h"
#include "model/keys.h"
#include "model/policy/set_hash.h"

#include <stdio.h>
#include <string.h>

#define AHEAD_CYCLES 560u /* of windows, where nothing but blocks that are sent ahead needs to be in time */
#define BLOCK_CREDITS 64u
#define CLUSTER_CREDITS 64u
#define CLUSTER_ROWS 16384u /* blocks that are read before their clusters are complete, at most */
#define GPU_PART "gpu"      /* the handles of an engine */

typedef struct gpu_spec {
    uint64_t cores;
    ls_ratio core_clock, l2_clock, dram_clock;
    uint64_t dispatch_latency_cycles, refill_latency_cycles;
    uint64_t channels, slices_per_channel, interleave_bytes;
    uint32_t slice_hash;
    const char *bit_map;
    uint64_t halves, half_latency_cycles, half_cores;
    uint32_t rdma_at, rdma_cache; /* enums of model/memory/rdma_keys.h */
    uint64_t rdma_ways;
    uint64_t gpcs, tpc_cores, tpc_latency_cycles, gpc_latency_cycles, cluster_width;
} gpu_spec;

typedef struct builder {
    ls_machine *machine;
    ls_engine *engine;
    const gpu_spec *spec;
    gpu_instance *gpu;
    uint32_t cores, channels;
    gpu_network network;
    ls_clock core_clock, l2_clock, dram_clock;
    ls_region *dispatch_region, **core_regions, **l2_regions;
    ls_link **to_memory, **to_core; /* [core * channels + channel] and [channel * cores + core] */
    ls_link **launches, **dones;
    ls_launch_table *table;   /* of thread blocks and kernels, by number */
    bool ahead;               /* cores start blocks that have been sent ahead */
    uint32_t refill_cycles;   /* from the end of a block to the start of the next one in its place */
    uint32_t dispatch_cycles; /* of the links between the dispatcher and cores */
    gpu_peer_links peers;     /* all NULL: there is no fabric */
    ls_link **to_cores;       /* [core * cores + core]: of one GPC; NULL: there are no clusters */
    char prefix[16];          /* of all names: "gpu0." */
} builder;

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

/* "gpu0.core3"; returns its end. */
static char *put_name(const builder *b, char *name, const char *kind, uint32_t number)
{
    return format_uint(stpcpy(stpcpy(name, b->prefix), kind), number);
}

static const char *numbered(const builder *b, char *name, const char *kind, uint32_t number)
{
    put_name(b, name, kind, number);
    return name;
}

static const ls_core_ops *core_ops_of(const builder *b, uint32_t core)
{
    return b->gpu->core_ports[core].ops;
}

static const ls_l2_ops *l2_ops_of(const builder *b, uint32_t channel)
{
    return b->gpu->l2_ports[channel].ops;
}

/* The block of slot "core.PART" of one core, if its model has a port for it. */
static ls_status build_part(builder *b, uint32_t i, const char *part, const char *interface, const char *port,
                            ls_error *err)
{
    ls_block *core = b->gpu->cores[i], *block;
    char name[64], section[32];
    if (ls_block_type_port(ls_block_type_of(core), interface, true) == NULL)
        return LS_OK;
    stpcpy(stpcpy(put_name(b, name, "core", i), "."), part);
    stpcpy(stpcpy(section, "core."), part);
    TRY(ls_machine_block(b->machine, b->core_regions[i], name, section, &block, err));
    return ls_block_connect(core, port, block, port, err);
}

static ls_status build_core(builder *b, uint32_t i, ls_error *err)
{
    gpu_instance *gpu = b->gpu;
    char name[64];
    ls_domain *domain;
    TRY(ls_domain_create(b->engine, numbered(b, name, "sm", i), b->core_clock, &domain, err));
    b->core_regions[i] = ls_domain_region(domain, 0);
    TRY(ls_machine_block(b->machine, b->core_regions[i], numbered(b, name, "core", i), "core", &gpu->cores[i],
                         err));
    TRY(ls_block_port(gpu->cores[i], LS_CORE_INTERFACE, &gpu->core_ports[i], err));
    TRY(build_part(b, i, "scheduler", LS_SCHEDULER_INTERFACE, LS_SCHEDULER_PORT, err));
    return build_part(b, i, "l1", LS_L1_INTERFACE, LS_L1_PORT, err);
}

static gpu_remote_plan remote_plan(const builder *b)
{
    const gpu_spec *spec = b->spec;
    return (gpu_remote_plan){ .machine = b->machine,
                              .gpu = b->gpu,
                              .behind = spec->rdma_at == RDMA_AT_MEMORY && ls_machine_fabric(b->machine),
                              .cache = spec->rdma_cache,
                              .ways = spec->rdma_ways };
}

static ls_status build_channel(builder *b, uint32_t i, ls_error *err)
{
    gpu_instance *gpu = b->gpu;
    char name[64];
    ls_domain *domain;
    /* The DRAM's region comes first: at equal times it runs before L2, as data moves up. */
    TRY(ls_domain_create(b->engine, numbered(b, name, "mem", i), b->dram_clock, &domain, err));
    TRY(ls_domain_add_region(domain, b->l2_clock, &b->l2_regions[i], err));
    const gpu_remote_plan remote = remote_plan(b);
    TRY(gpu_remote_slices(&remote, b->l2_regions[i], numbered(b, name, "l2_", i), i, err));
    TRY(ls_block_port(gpu->l2[i], LS_L2_INTERFACE, &gpu->l2_ports[i], err));
    TRY(ls_machine_block(b->machine, ls_domain_region(domain, 0), numbered(b, name, "dram", i), "dram",
                         &gpu->dram[i], err));
    TRY(ls_block_connect(gpu->l2[i], LS_DRAM_PORT, gpu->dram[i], LS_DRAM_PORT, err));
    return ls_block_connect(gpu->dram[i], LS_DRAM_REPLY_PORT, gpu->l2[i], LS_DRAM_REPLY_PORT, err);
}

static ls_status build_blocks(builder *b, ls_error *err)
{
    gpu_instance *gpu = b->gpu;
    char name[64];
    ls_domain *domain;
    snprintf(name, sizeof name, "%sfront", b->prefix);
    TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
    b->dispatch_region = ls_domain_region(domain, 0);
    snprintf(name, sizeof name, "%sdispatch", b->prefix);
    TRY(ls_machine_block(b->machine, b->dispatch_region, name, "dispatch", &gpu->dispatch, err));
    TRY(ls_block_port(gpu->dispatch, LS_DISPATCH_INTERFACE, &gpu->dispatch_port, err));
    for (uint32_t i = 0; i < b->cores; i++)
        TRY(build_core(b, i, err));
    for (uint32_t i = 0; i < b->channels; i++)
        TRY(build_channel(b, i, err));
    core_ops_of(b, 0)->describe(gpu->core_ports[0].self, &gpu->core_shape);
    gpu_dispatch_ops(gpu)->describe(gpu->dispatch_port.self, &gpu->dispatch_shape);
    if (gpu->dispatch_shape.kernel_slots < 1 || gpu->dispatch_shape.kernel_slots > LS_CORE_KERNELS)
        return ls_fail(err, LS_ERR_INPUT,
                       "model 'dispatch/%s' has %u kernels side by side, it must have 1 to %d",
                       ls_block_type_of(gpu->dispatch)->name, gpu->dispatch_shape.kernel_slots,
                       LS_CORE_KERNELS);
    return LS_OK;
}

static ls_status build_links(builder *b, ls_error *err)
{
    const gpu_instance *gpu = b->gpu;
    const char *dispatch_name = ls_block_name(gpu->dispatch);
    char name[64];
    for (uint32_t i = 0; i < b->cores; i++) {
        const char *core_name = ls_block_name(gpu->cores[i]);
        numbered(b, name, "launch", i);
        TRY(ls_link_create(b->engine,
                           &(ls_link_spec){ .name = name,
                                            .from = b->dispatch_region,
                                            .to = b->core_regions[i],
                                            .from_name = dispatch_name,
                                            .to_name = core_name,
                                            .latency_cycles = b->dispatch_cycles,
                                            .credits = b->ahead ? LS_CORE_BLOCKS_AT : BLOCK_CREDITS,
                                            .payload_bytes = sizeof(ls_core_launch),
                                            .receive = core_ops_of(b, i)->receive_launch,
                                            .receiver = gpu->core_ports[i].self },
                           &b->launches[i], err));
        numbered(b, name, "done", i);
        TRY(ls_link_create(b->engine,
                           &(ls_link_spec){ .name = name,
                                            .from = b->core_regions[i],
                                            .to = b->dispatch_region,
                                            .from_name = core_name,
                                            .to_name = dispatch_name,
                                            .latency_cycles = b->dispatch_cycles,
                                            .credits = b->ahead ? LS_CORE_BLOCKS_AT : BLOCK_CREDITS,
                                            .payload_bytes = sizeof(ls_core_done),
                                            .receive = gpu_dispatch_ops(gpu)->receive,
                                            .receiver = gpu->dispatch_port.self },
                           &b->dones[i], err));
    }
    if (gpu->core_shape.sends_no_requests)
        return LS_OK;
    return gpu_network_build(&b->network, b->to_memory, b->to_core, err);
}

/* The network between the cores of a GPC: a link for each pair, and one of a core to itself, for blocks of a cluster that
 * share a core. */
static ls_status build_clusters(builder *b, ls_error *err)
{
    const gpu_spec *spec = b->spec;
    const gpu_instance *gpu = b->gpu;
    const uint32_t tpc = (uint32_t)spec->tpc_cores, gpcs = (uint32_t)spec->gpcs;
    char name[64];
    if (gpcs == 0 || gpu->core_shape.cluster_bytes == 0)
        return LS_OK;
    if (b->ahead)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "cluster.gpcs: blocks of a cluster cannot be sent ahead: set refill_latency_cycles to 0");
    b->to_cores = ls_engine_alloc(b->engine, (size_t)b->cores * b->cores * sizeof(ls_link *));
    if (b->to_cores == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU of %u cores", b->cores);
    for (uint32_t i = 0; i < b->cores; i++)
        for (uint32_t k = 0; k < b->cores; k++) {
            if (ls_core_gpc(i, tpc, gpcs) != ls_core_gpc(k, tpc, gpcs))
                continue;
            bool near = i / tpc == k / tpc;
            format_uint(stpcpy(put_name(b, name, "cluster", i), "_"), k);
            TRY(ls_link_create(b->engine,
                               &(ls_link_spec){ .name = name,
                                                .from = b->core_regions[i],
                                                .to = b->core_regions[k],
                                                .from_name = ls_block_name(gpu->cores[i]),
                                                .to_name = ls_block_name(gpu->cores[k]),
                                                .latency_cycles = (uint32_t)(near ? spec->tpc_latency_cycles
                                                                                  : spec->gpc_latency_cycles),
                                                .credits = CLUSTER_CREDITS,
                                                .payload_bytes = gpu->core_shape.cluster_bytes,
                                                .receive = core_ops_of(b, k)->receive_cluster,
                                                .receiver = gpu->core_ports[k].self },
                               &b->to_cores[(size_t)i * b->cores + k], err));
        }
    return LS_OK;
}

/* A GPU whose memory is a formula has none that others could use. */
static ls_status build_peers(builder *b, ls_error *err)
{
    if (!ls_machine_fabric(b->machine) || b->gpu->core_shape.sends_no_requests)
        return LS_OK;
    const gpu_peer_plan plan = { .machine = b->machine,
                                 .gpu = b->gpu,
                                 .prefix = b->prefix,
                                 .clock = b->l2_clock,
                                 .dispatch_region = b->dispatch_region,
                                 .core_regions = b->core_regions,
                                 .l2_regions = b->l2_regions,
                                 .noc = &b->network.shape };
    return gpu_peer_build(&plan, &b->peers, err);
}

/* Links of a channel to its requesters: the cores and, behind them, the way to other GPUs. */
static ls_link **requesters_of(const builder *b, uint32_t channel)
{
    ls_link **to_core = &b->to_core[(size_t)channel * b->cores];
    if (b->peers.from_memory == NULL)
        return to_core;
    ls_link **links = ls_engine_alloc(b->engine, (b->cores + 1) * sizeof(ls_link *));
    if (links != NULL) {
        memcpy(links, to_core, b->cores * sizeof(ls_link *));
        links[b->cores] = b->peers.from_memory[channel];
    }
    return links;
}

/* Cores may ask L2 for several sectors at once. Requests for other GPUs are for one each. */
static bool takes_lines(const builder *b)
{
    const ls_l2_ops *l2 = l2_ops_of(b, 0);
    return l2->takes_lines != NULL && l2->takes_lines(b->gpu->l2_ports[0].self) &&
           mem_map_keeps_lines(&b->gpu->map) && !ls_machine_fabric(b->machine);
}

/* The rows that messages between the dispatcher and cores name. */
static ls_status make_table(builder *b, ls_error *err)
{
    uint64_t per_core = b->ahead ? LS_CORE_BLOCKS_AT : b->gpu->core_shape.capacity.cta_slots;
    ls_launch_table *table = b->table = ls_engine_alloc(b->engine, sizeof *table);
    if (table != NULL) {
        table->block_count = (uint32_t)(per_core * b->cores) + 1 + (b->to_cores != NULL ? CLUSTER_ROWS : 0);
        table->blocks = ls_engine_alloc(b->engine, table->block_count * sizeof(ls_cta *));
    }
    return table != NULL && table->blocks != NULL
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU of %u cores", b->cores);
}

/* The ways from a channel to the one as far in the other half of L2. */
static ls_status join_half(builder *b, uint32_t from, ls_error *err)
{
    static const char *const names[] = { "halfask", "halfpass", "halfanswer" };
    uint32_t to = (from + b->channels / 2) % b->channels;
    ls_link *ways[PARTITION_HALF_WAYS];
    ls_port port, partner;
    char name[64];
    TRY(ls_block_port(b->gpu->l2[from], PARTITION_HALF_INTERFACE, &port, err));
    TRY(ls_block_port(b->gpu->l2[to], PARTITION_HALF_INTERFACE, &partner, err));
    const partition_half_ops *ops = port.ops;
    for (int way = 0; way < PARTITION_HALF_WAYS; way++) {
        /* What is passed is answered from there: it bears both ways. */
        uint32_t ways_long = way == PARTITION_HALF_PASS ? 2 : 1;
        numbered(b, name, names[way], from);
        TRY(ls_link_create(b->engine,
                           &(ls_link_spec){ .name = name,
                                            .from = b->l2_regions[from],
                                            .to = b->l2_regions[to],
                                            .from_name = ls_block_name(b->gpu->l2[from]),
                                            .to_name = ls_block_name(b->gpu->l2[to]),
                                            .latency_cycles =
                                                ways_long * (uint32_t)b->spec->half_latency_cycles,
                                            .credits = ops->credits(port.self, (partition_half_way)way,
                                                                    b->cores, b->gpu->map.slices_per_channel),
                                            .payload_bytes = sizeof(ls_sector_message),
                                            .receive = ops->receive[way],
                                            .receiver = partner.self },
                           &ways[way], err));
    }
    return ops->join(port.self, ways, err);
}

static ls_status join_halves(builder *b, ls_error *err)
{
    for (uint32_t k = 0; k < b->channels; k++)
        TRY(join_half(b, k, err));
    return LS_OK;
}

static ls_status attach_all(builder *b, ls_error *err)
{
    gpu_instance *gpu = b->gpu;
    const ls_noc_shape *noc = &b->network.shape;
    bool requests = !gpu->core_shape.sends_no_requests;
    TRY(make_table(b, err));
    uint32_t refill_cycles = b->ahead ? b->refill_cycles : 0;
    const ls_dispatch_wiring dispatch = { .capacity = gpu->core_shape.capacity,
                                          .to_core = b->launches,
                                          .core_count = b->cores,
                                          .link_latency_cycles = b->dispatch_cycles,
                                          .refill_cycles = refill_cycles,
                                          .launches = b->table,
                                          .gpcs = b->to_cores != NULL ? (uint32_t)b->spec->gpcs : 0,
                                          .tpc_cores = (uint32_t)b->spec->tpc_cores };
    TRY(gpu_dispatch_ops(gpu)->attach(gpu->dispatch_port.self, &dispatch, err));
    for (uint32_t i = 0; i < b->cores; i++) {
        const ls_core_wiring core = { .id = i,
                                      .core_count = b->cores,
                                      .kernel_slots = gpu->dispatch_shape.kernel_slots,
                                      .map = &gpu->map,
                                      .to_memory = &b->to_memory[(size_t)i * b->channels],
                                      .channels = requests ? b->channels : 0,
                                      .replies_max = noc->receive_max[GPU_REPLY] + b->peers.reply_credits,
                                      .to_dispatch = b->dones[i],
                                      .launches = b->table,
                                      .refill_cycles = refill_cycles,
                                      .to_peer = b->peers.from_core != NULL ? b->peers.from_core[i] : NULL,
                                      .owners = gpu->owners,
                                      .remote_in_l2 = gpu->remote_l2 != NULL,
                                      .half_channels = b->spec->halves == 2 ? b->channels / 2 : 0,
                                      .half = i / (uint32_t)b->spec->half_cores & 1,
                                      .to_cores =
                                          b->to_cores != NULL ? &b->to_cores[(size_t)i * b->cores] : NULL,
                                      .cluster_width = (uint32_t)b->spec->cluster_width,
                                      .lines = requests && takes_lines(b) };
        TRY(core_ops_of(b, i)->attach(gpu->core_ports[i].self, &core, err));
    }
    if (!requests)
        return gpu_attach_rates(gpu, noc->latency_cycles[GPU_REQUEST], noc->latency_cycles[GPU_REPLY],
                                noc->credits[GPU_REQUEST], err);
    for (uint32_t k = 0; k < b->channels; k++) {
        ls_link **requesters = requesters_of(b, k);
        if (requesters == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU of %u cores", b->cores);
        const ls_l2_wiring l2 = { .channel = k,
                                  .slices = gpu->map.slices_per_channel,
                                  .map = &gpu->map,
                                  .to_core = requesters,
                                  .core_count = b->cores + (b->peers.from_memory != NULL),
                                  .requests_max = noc->receive_max[GPU_REQUEST] + b->peers.request_credits,
                                  .halves = b->spec->halves == 2 };
        TRY(l2_ops_of(b, k)->attach(gpu->l2_ports[k].self, &l2, err));
        if (gpu->remote_l2 != NULL)
            TRY(gpu_remote_attach(gpu, &l2, b->peers.from_part[k], err));
    }
    return b->spec->halves == 2 ? join_halves(b, err) : LS_OK;
}

/* The latency between the dispatcher and cores decides the length of windows if nothing else is sent. Blocks
 * that are sent ahead need not arrive soon; a kernel's first ones are still in time. */
static uint32_t dispatch_cycles(const builder *b)
{
    uint32_t cycles = (uint32_t)b->spec->dispatch_latency_cycles;
    uint64_t launch = b->gpu->dispatch_shape.launch_latency_cycles / 2;
    uint32_t longer = launch < AHEAD_CYCLES ? (uint32_t)launch : AHEAD_CYCLES;
    return b->gpu->core_shape.wants_blocks_ahead && longer > cycles ? longer : cycles;
}

static ls_status prepare(builder *b, ls_error *err)
{
    const gpu_spec *spec = b->spec;
    gpu_instance *gpu = b->gpu = ls_engine_alloc(b->engine, sizeof *gpu);
    if (gpu == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU");
    b->cores = (uint32_t)spec->cores;
    b->channels = (uint32_t)spec->channels;
    *gpu = (gpu_instance){ .engine = b->engine,
                           .number = ls_machine_number(b->machine),
                           .core_count = b->cores,
                           .l1 = ls_machine_model(b->machine, LS_L1_SLOT),
                           .channel_count = b->channels };
    snprintf(b->prefix, sizeof b->prefix, "gpu%u.", gpu->number);
    TRY(ls_clock_init(&b->core_clock, spec->core_clock, err));
    TRY(ls_clock_init(&b->l2_clock, spec->l2_clock, err));
    TRY(ls_clock_init(&b->dram_clock, spec->dram_clock, err));
    mem_map_spec map = { .channels = spec->channels,
                         .slices_per_channel = spec->slices_per_channel,
                         .interleave_bytes = spec->interleave_bytes,
                         .slice_hash = spec->slice_hash,
                         .bit_map = spec->bit_map };
    TRY(mem_map_init(&gpu->map, &map, err));
    if (spec->halves == 2 &&
        (spec->channels % 2 != 0 || !partition_is_model(ls_machine_model(b->machine, LS_L2_SLOT))))
        return ls_fail(
            err, LS_ERR_INPUT,
            "memory.halves is 2: that needs an even number of memory.channels, not %llu, and l2.model: cycle",
            (unsigned long long)spec->channels);
    size_t pairs = (size_t)b->cores * b->channels;
    gpu->cores = ls_engine_alloc(b->engine, b->cores * sizeof *gpu->cores);
    gpu->core_ports = ls_engine_alloc(b->engine, b->cores * sizeof *gpu->core_ports);
    gpu->l2 = ls_engine_alloc(b->engine, b->channels * sizeof *gpu->l2);
    gpu->l2_ports = ls_engine_alloc(b->engine, b->channels * sizeof *gpu->l2_ports);
    gpu->dram = ls_engine_alloc(b->engine, b->channels * sizeof *gpu->dram);
    b->core_regions = ls_engine_alloc(b->engine, b->cores * sizeof *b->core_regions);
    b->l2_regions = ls_engine_alloc(b->engine, b->channels * sizeof *b->l2_regions);
    b->to_memory = ls_engine_alloc(b->engine, pairs * sizeof *b->to_memory);
    b->to_core = ls_engine_alloc(b->engine, pairs * sizeof *b->to_core);
    b->launches = ls_engine_alloc(b->engine, b->cores * sizeof *b->launches);
    b->dones = ls_engine_alloc(b->engine, b->cores * sizeof *b->dones);
    if (gpu->cores == NULL || gpu->core_ports == NULL || gpu->l2 == NULL || gpu->l2_ports == NULL ||
        gpu->dram == NULL || b->core_regions == NULL || b->l2_regions == NULL || b->to_memory == NULL ||
        b->to_core == NULL || b->launches == NULL || b->dones == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU of %u cores", b->cores);
    return LS_OK;
}

ls_status gpu_build(ls_machine *machine, gpu_instance **out, ls_error *err)
{
    builder b = { .machine = machine,
                  .engine = ls_machine_engine(machine),
                  .spec = ls_machine_spec(machine, NULL) };
    *out = NULL;
    if (ls_machine_migrates(machine))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "pages of a GPU that replays traces stay where they are: migrate.model must be none");
    TRY(prepare(&b, err));
    TRY(build_blocks(&b, err));
    uint32_t there_and_back = 2 * (uint32_t)b.spec->dispatch_latency_cycles;
    b.refill_cycles =
        b.spec->refill_latency_cycles != 0 ? (uint32_t)b.spec->refill_latency_cycles : there_and_back;
    b.ahead = b.gpu->core_shape.wants_blocks_ahead || b.refill_cycles != there_and_back;
    b.dispatch_cycles = dispatch_cycles(&b);
    TRY(gpu_network_plan(&b.network, machine, b.gpu, b.prefix, b.l2_clock, b.core_regions, b.l2_regions, err));
    TRY(build_links(&b, err));
    TRY(build_clusters(&b, err));
    TRY(build_peers(&b, err));
    TRY(attach_all(&b, err));
    TRY(ls_engine_add_part(b.engine, GPU_PART, b.gpu, err));
    *out = b.gpu;
    return LS_OK;
}

static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    gpu_instance *gpu;
    (void)spec;
    return gpu_build(machine, &gpu, err);
}

gpu_instance *gpu_at(const ls_engine *engine, uint32_t index)
{
    return ls_engine_part(engine, GPU_PART, index);
}

void gpu_warm(const gpu_instance *gpu, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address & ~(uint64_t)(LS_SECTOR_BYTES - 1); at < address + bytes;
         at += LS_SECTOR_BYTES) {
        const ls_port *l2 = &gpu->l2_ports[mem_map_place(&gpu->map, at).channel];
        ((const ls_l2_ops *)l2->ops)->warm(l2->self, at);
    }
}

void gpu_flush_l2(const gpu_instance *gpu)
{
    for (uint32_t i = 0; i < gpu->channel_count; i++) {
        ls_port port;
        if (ls_block_port(gpu->l2[i], PARTITION_PROFILE_INTERFACE, &port, NULL) == LS_OK)
            ((const partition_profile_ops *)port.ops)->flush(port.self);
    }
}

bool gpu_take_kernel(const ls_engine *engine, const char *path, uint32_t slot, void *counters, size_t bytes)
{
    ls_block *block = ls_engine_find_block(engine, path);
    ls_port port;
    if (block == NULL)
        return false;
    if (ls_block_port(block, LS_CORE_INTERFACE, &port, NULL) == LS_OK)
        return ((const ls_core_ops *)port.ops)->take_kernel(port.self, slot, counters, bytes);
    if (ls_block_port(block, LS_DISPATCH_INTERFACE, &port, NULL) == LS_OK)
        return ((const ls_dispatch_ops *)port.ops)->take_kernel(port.self, slot, counters, bytes);
    return false;
}

void gpu_forget_kernel(const gpu_instance *gpu, uint32_t slot)
{
    enum { BYTES = 32768 };
    static _Thread_local char unused[BYTES];
    const ls_port *dispatch = &gpu->dispatch_port;
    (void)((const ls_dispatch_ops *)dispatch->ops)->take_kernel(dispatch->self, slot, unused, BYTES);
    for (uint32_t i = 0; i < gpu->core_count; i++) {
        const ls_port *core = &gpu->core_ports[i];
        (void)((const ls_core_ops *)core->ops)->take_kernel(core->self, slot, unused, BYTES);
    }
}

/* clang-format off */
#define KEY_SPEC gpu_spec

static const ls_param params[] = {
    LS_PARAM_UINT(gpu_spec, cores, "", 46, 1, 1024, "streaming multiprocessors"),
    LS_PARAM_FREQ(gpu_spec, core_clock, "clock.core_mhz", "1132", "clock of the cores"),
    LS_PARAM_FREQ(gpu_spec, l2_clock, "clock.l2_mhz", "1132", "clock of the L2 slices and the network"),
    LS_PARAM_FREQ(gpu_spec, dram_clock, "clock.dram_mhz", "3500.5", "command clock of the DRAM"),
    LS_PARAM_UINT(gpu_spec, dispatch_latency_cycles, "cycles", 90, 1, 2000, "between the dispatcher and a core"),
    LS_PARAM_UINT(gpu_spec, refill_latency_cycles, "cycles", 0, 0, 4000,
                  "from the end of a thread block to the start of the next one in its place; 0: twice "
                  "dispatch_latency_cycles, there and back"),
    KEY("memory.channels", channels, "", "16", 1, 64, "memory channels"),
    KEY("memory.slices_per_channel", slices_per_channel, "", "2", 1, 4, "L2 slices per memory channel"),
    KEY("memory.interleave_bytes", interleave_bytes, "bytes", "256", 32, 65536, "consecutive bytes in one channel"),
    LS_PARAM_CHOICE(gpu_spec, slice_hash, "memory.slice_hash", "ipoly", slice_hash_names, "how addresses pick slices"),
    LS_PARAM_TEXT(gpu_spec, bit_map, "memory.bit_map",
                  "0000.RRRRRRRR.RBBBCCCC.BCCSSSSS", "address bits inside a channel: row, bank, column, burst"),
    KEY("memory.halves", halves, "", "1", 1, 2,
        "halves of L2: with 2, a core's requests go to the near one, which copies sectors at home in the other"),
    KEY("memory.half_latency_cycles", half_latency_cycles, "cycles", "48", 1, 1000, "from one half of L2 to the other"),
    KEY("memory.half_cores", half_cores, "cores", "8", 1, 1024, "neighbours in one half: so many in turn"),
    KEY_CHOICE("rdma.at", rdma_at, "l1", rdma_at_names, "whose misses go to other GPUs: l1, or memory: those of L2"),
    KEY_CHOICE("rdma.cache", rdma_cache, "never", rdma_cache_names,
               "sectors of other GPUs that L2 keeps: none; those that are read; those that are read or written"),
    KEY("rdma.ways", rdma_ways, "lines", "4", 1, 255, "of each set of L2 for memory of other GPUs"),
    KEY("cluster.gpcs", gpcs, "", "0", 0, 64,
        "groups of cores (GPCs): blocks of a cluster run on cores of one of them; 0: the GPU knows no clusters"),
    KEY("cluster.tpc_cores", tpc_cores, "cores", "2", 1, 16,
        "cores that are numbered side by side and nearest to each other (TPC); TPCs belong to the GPCs in turn"),
    KEY("cluster.tpc_latency_cycles", tpc_latency_cycles, "cycles", "76", 1, 2000,
        "of the network between cores, inside of a TPC, one way"),
    KEY("cluster.gpc_latency_cycles", gpc_latency_cycles, "cycles", "88", 1, 2000, "the same between TPCs of a GPC"),
    KEY("cluster.bytes_per_cycle", cluster_width, "bytes", "16", 1, 1024, "that a core sends into this network"),
};

static const ls_need needs[] = {
    { "memory.halves", "core.memory=cycle" },
    { "memory.half_*", "memory.halves=2 core.memory=cycle" },
    { "rdma.at", "//fabric.model!=none core.memory=cycle" },
    { "rdma.cache", "rdma.at=memory //fabric.model!=none" },
    { "rdma.ways", "rdma.cache!=never rdma.at=memory //fabric.model!=none" },
    { "cluster.tpc_cores", "cluster.gpcs!=0" },
    { "cluster.tpc_latency_cycles", "cluster.gpcs!=0" },
    { "cluster.gpc_latency_cycles", "cluster.gpcs!=0" },
    { "cluster.bytes_per_cycle", "cluster.gpcs!=0" },
};
/* clang-format on */

static const ls_machine_type gpu = {
    .abi = LS_ABI_VERSION,
    .name = GPU_MACHINE,
    .help = "one GPU that replays traces",
    .spec_size = sizeof(gpu_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .sections = gpu_sections,
    .section_count = GPU_SECTIONS,
    .build = build,
};
LS_REGISTER_MACHINE(gpu);
