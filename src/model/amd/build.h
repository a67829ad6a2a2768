/* build.h: a GPU while it is being built. For amd_gpu.c (the machine and its keys), build_cluster.c (command
 * processor, clusters of compute units) and build_memory.c (shader arrays, memory partitions, MMU). Also for
 * network.c (between these), build_remote.c (the way to other GPUs) and slots.c (the models of each slot). */
#ifndef MODEL_AMD_BUILD_H
#define MODEL_AMD_BUILD_H

#include "lockstep/noc.h"
#include "lockstep/scheduler.h"
#include "model/amd/amd_gpu.h"
#include "lockstep/command.h"
#include "model/amd_memory/cache.h"
#include "model/amd_memory/place_memory.h"
#include "model/amd_memory/gate.h"
#include "model/amd_memory/channel.h"
#include "model/amd_memory/hub.h"
#include "model/amd_memory/page_agent.h"
#include "model/amd_memory/rdma.h"
#include "model/amd_memory/tlb.h"
#include "model/memory/rdma_keys.h"

#define BUILD_CREDITS_TO_SPARE 32u

typedef struct amd_gpu_spec {
    uint32_t target;
    ls_ratio core_clock, dram_clock;
    uint64_t clusters, cus_per_cluster, vector_caches, units_per_cu, arrays;
    bool keeps_code; /* instruction caches are not emptied */
    uint64_t xcds, xcd_slices, xcd_interleave_bytes, xcd_latency_cycles;
    uint64_t snoop_entries;
    ls_ratio xcd_line_cycles;
    uint64_t line_bytes;
    uint64_t dispatch_latency_cycles, array_latency_cycles, mmu_latency_cycles, rdma_latency_cycles;
    uint64_t central_latency_cycles;
    uint64_t memory_mib, channels, slices_per_channel, interleave_bytes;
    uint32_t slice_hash;
    bool memory_cache, copies_in_l2;
    uint32_t rdma_at, rdma_cache; /* enums of model/memory/rdma_keys.h */
    uint64_t rdma_ways;
    const char *bit_map;
    page_agent_spec agent;
} amd_gpu_spec;

/* A built machine: ls_engine_part() gives it back. Blocks are known by the ports of their slots. */
struct amd_gpu {
    ls_engine *engine;
    uint32_t number; /* of the instance: names begin with "gpu<number>." */
    amd_gpu_facts facts;
    mem_map map;
    uint32_t line_bytes;
    ls_region *command_region;
    ls_port command;       /* ls_command_ops */
    ls_block *central;     /* its end of the connection for `spread` central; NULL: none */
    uint32_t followers;    /* GPUs whose compute units its command processor can use */
    ls_cu_kernels kernels; /* that run, by number: for messages */
    ls_block **caches;     /* all of them */
    uint32_t cache_count;
    const ls_port *cus; /* cluster by cluster */
    uint32_t cu_count;
    ls_block **l2, **memories; /* memories: by channel, then the page tables of XCDs */
    uint32_t l2_count, home_count, xcds;
    ls_block **tlbs, *mmu; /* tlbs: TLBs that translate; mmu: NULL without any */
    uint32_t tlb_count;
    bool dma_translates; /* the DMA engine has a TLB */
    ls_pages pages;      /* that TLBs ask; look NULL: every page lies where its address says */
};

/* The network between hubs and gates. */
typedef struct builder_network {
    const ls_noc_ops *ops;
    ls_noc_plan plan;
    ls_noc_endpoint *hubs, *gates;
    uint32_t requests_max; /* that a gate can get before it releases any */
    uint32_t latency[2];   /* without load: of requests and answers */
    char prefix[16];
} builder_network;

typedef struct builder {
    ls_machine *machine;
    ls_engine *engine;
    const amd_gpu_spec *spec;
    amd_gpu *gpu;
    uint32_t clusters, per_cluster, arrays, channels, slices,
        uppers;    /* uppers: domains that send to partitions */
    uint32_t xcds; /* not 0: arrays as well; each has the L2 of its clusters */
    uint32_t caches_per_cluster;
    bool fabric;      /* it has an RDMA engine */
    bool migrates;    /* pages of its system move */
    bool host_walks;  /* page walks go to the host */
    bool writes_back; /* true if a cache above L2 writes back: then writes of compute units reach L2 only by a
                       * flush */
    ls_clock core_clock, dram_clock;
    ls_region *command_region, **cluster_regions, **array_regions, **l2_regions, *mmu_region;
    ls_block *command;
    ls_port dma; /* ls_dma_ops */
    ls_block *dma_hub;
    ls_port *cus; /* ls_cu_ops */
    ls_block **cluster_blocks, **cluster_caches, **cluster_hubs, **array_gates, **array_hubs, **gates;
    ls_block **snoops; /* by partition, and the ends of their probes by XCD; NULL: no XCDs */
    ls_block **snoop_ends;
    ls_block **remote_hubs; /* behind L2, by partition; NULL: the RDMA engine is not behind L2 */
    ls_link **orders, **acks, **dones;
    builder_network network;
} builder;

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

static inline void build_keep_cache(builder *b, ls_block *cache)
{
    b->gpu->caches[b->gpu->cache_count++] = cache;
}

/* Which shader array or XCD a cluster belongs to. Neighbours are in different XCDs, as work-groups are. */
static inline uint32_t build_array_of(const builder *b, uint32_t cluster)
{
    if (b->xcds > 0)
        return cluster % b->xcds;
    return cluster * b->arrays / b->clusters;
}

/* Writes a name with a number for each # of the pattern: BUILD_NAME(name, "cluster#.cu#", 3, 1). A machine
 * has two thousand names, and printf would take as long as all else about a link. */
void build_name(char *out, const char *pattern, const uint32_t *numbers);
#define BUILD_NAME(out, pattern, ...) build_name(out, pattern, (const uint32_t[]){ __VA_ARGS__ })
/* The same of a domain or block of this instance: PART_NAME(b, name, "cluster#", 3) is "gpu0.cluster3". */
#define PART_NAME(b, out, pattern, ...) BUILD_NAME(out, "gpu#." pattern, (b)->gpu->number, __VA_ARGS__)

/* slots.c: the slots of the machine and the ports that their models have. */
#define AMD_SECTIONS 16
extern const ls_section amd_sections[AMD_SECTIONS];

/* build_cluster.c */
ls_status build_front(builder *b, ls_error *err);
ls_status build_cluster(builder *b, uint32_t cluster, ls_error *err);
/* build_memory.c */
ls_status build_arrays(builder *b, ls_error *err);
ls_status build_partition(builder *b, uint32_t partition, ls_error *err);
/* The links between a cluster and the domain of its shader array or XCD, where it is number `at`. */
ls_status build_join_array(builder *b, uint32_t cluster, uint32_t array, uint32_t at, uint32_t latency,
                           ls_error *err);
uint32_t build_pair_credits(uint32_t latency);
/* build_xcd.c: dies of compute units with an L2 each; memory_cache is the home of lines behind them. */
ls_status build_check_xcds(const builder *b, ls_error *err);
ls_status build_xcds(builder *b, ls_error *err);
/* The snoop filter of a partition in front of the home of its lines: *home before, the filter after. */
ls_status build_snoop(builder *b, uint32_t partition, ls_region *region, ls_block **home, ls_error *err);
/* Links of probes and their answers; after the partitions. */
ls_status build_join_snoops(builder *b, ls_error *err);
/* The MMU, if there are L1 TLBs. */
ls_status build_mmu(builder *b, ls_error *err);
/* network.c: the plan comes before the partitions, the links after them. */
ls_status build_network_plan(builder *b, ls_error *err);
ls_status build_network(builder *b, ls_error *err);
/* Of end point i of the network that sends to partitions; the last one is the DMA engine's. */
ls_block *build_hub_of(const builder *b, uint32_t i);
/* build_remote.c: if the RDMA engine is behind L2, the parts of it in a partition with those slices. */
ls_status build_remote_slices(builder *b, uint32_t partition, ls_error *err);
/* An L2 slice: the part of it for the own memory. */
ls_status build_slice(builder *b, ls_region *region, const char *name, ls_block **out, ls_error *err);
/* The RDMA engine, if the system has a fabric; last of all, so that the rest is as in a GPU alone. */
ls_status build_remote(builder *b, ls_error *err);
/* build_pages.c: whether the parts of this GPU can take part, where pages move or walks go to the host. */
ls_status build_check_pages(builder *b, ls_error *err);
/* Where pages move: a TLB between the DMA engine and its hub, which is *memory before and the TLB after. */
ls_status build_dma_tlb(builder *b, ls_block **memory, ls_error *err);
/* The page agent beside the RDMA engine, and its links to the MMU. *out stays NULL if the GPU needs none. */
ls_status build_agent(builder *b, ls_region *region, ls_block **out, ls_error *err);
ls_status build_join_agent(builder *b, ls_block *agent, ls_block *hub, ls_fabric_end *end, ls_error *err);
/* Links between the MMU's domain and the RDMA engine's, one way. */
uint32_t build_remote_latency(const builder *b, uint32_t class);
/* build_central.c: the connection between the command processors of the first GPU and of this one, on a fabric. */
ls_status build_central(builder *b, const ls_cu_capacity *capacity, ls_error *err);
/* Requests that a partition's gate can get from it. */
uint32_t build_remote_credits(const builder *b);

#endif
