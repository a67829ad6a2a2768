/* agent.c: the host and the simulated GPUs as agents: their properties, instruction sets and kinds of memory. */
#include "hsa/rt.h"

#include <stdio.h>
#include <string.h>

#define HOST_POOL_BYTES (UINT64_C(64) << 30) /* that the host's pools say they have */

/* Properties that programs ask for and that do not follow from the driver's model. */
typedef struct rt_family {
    const char *target;
    uint32_t chip_id, simds, waves_per_cu, l1_kib, l2_kib, memory_bits, memory_mhz;
    const char *features; /* of the instruction set's name */
} rt_family;

/* By the public descriptions of the GPUs: R9 Nano, RX 5700 XT, W6800 (as platforms have them), MI210, MI300A. */
static const rt_family families[] = {
    { "gfx803", 0x7300, 4, 40, 16, 2048, 4096, 500, "" },
    { "gfx1010", 0x731f, 2, 40, 16, 4096, 256, 1750, "" },
    { "gfx1030", 0x73a3, 2, 32, 16, 4096, 256, 2000, "" },
    { "gfx90a", 0x740f, 4, 32, 16, 8192, 4096, 1600, ":sramecc+:xnack-" },
    { "gfx942", 0x74a0, 4, 32, 32, 4096, 8192, 2600, ":sramecc+:xnack-" },
};

static const rt_family *family_of(const rt_agent *agent)
{
    for (size_t i = 0; i < LS_COUNT_OF(families); i++)
        if (strcmp(families[i].target, agent->model->target) == 0)
            return &families[i];
    return &families[2];
}

/* -------------------------------------------------------------------------------------------------- adding */

static void add_host(void)
{
    static const uint32_t flags[] = { POOL_KERNARG | POOL_FINE, POOL_FINE, POOL_COARSE };
    rt_agent *host = &rt.agents[0];
    host->pool_count = LS_COUNT_OF(flags);
    for (size_t i = 0; i < host->pool_count; i++)
        host->pools[i] =
            (rt_pool){ .agent = host, .segment = SEGMENT_GLOBAL, .flags = flags[i], .bytes = HOST_POOL_BYTES };
    rt.agent_count = 1;
}

static void add_gpu(size_t gpu, const client_settings *settings)
{
    rt_agent *agent = &rt.agents[rt.agent_count++];
    uint64_t used;
    agent->is_gpu = true;
    agent->gpu = gpu;
    agent->model = ls_gpu_system_gpu(client.system, gpu);
    ls_gpu_system_memory(client.system, gpu, &used, &agent->memory_bytes);
    agent->compute_units = settings->compute_units ? settings->compute_units : agent->model->compute_units;
    snprintf(agent->isa, sizeof agent->isa, "amdgcn-amd-amdhsa--%s%s", agent->model->target,
             family_of(agent)->features);
    agent->pool_count = 2;
    agent->pools[0] = (rt_pool){
        .agent = agent, .segment = SEGMENT_GLOBAL, .flags = POOL_COARSE, .bytes = agent->memory_bytes
    };
    agent->pools[1] = (rt_pool){ .agent = agent, .segment = SEGMENT_GROUP, .bytes = agent->model->lds_bytes };
}

void rt_agents_add(const client_settings *settings)
{
    size_t count = ls_gpu_system_gpu_count(client.system);
    add_host();
    for (size_t i = 0; i < count && i < RT_GPUS_MAX; i++)
        add_gpu(i, settings);
}

rt_agent *rt_agent_of(hsa_agent_t agent)
{
    for (size_t i = 0; i < rt.agent_count; i++)
        if ((uint64_t)(uintptr_t)&rt.agents[i] == agent.handle)
            return &rt.agents[i];
    return NULL;
}

rt_pool *rt_pool_of(hsa_amd_memory_pool_t pool)
{
    for (size_t i = 0; i < rt.agent_count; i++)
        for (size_t k = 0; k < rt.agents[i].pool_count; k++)
            if ((uint64_t)(uintptr_t)&rt.agents[i].pools[k] == pool.handle)
                return &rt.agents[i].pools[k];
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- answers */

#define GIVE(type, ...)                                                                                       \
    do {                                                                                                      \
        const type given_ = __VA_ARGS__;                                                                      \
        memcpy(value, &given_, sizeof given_);                                                                \
        return HSA_OK;                                                                                        \
    } while (0)

/* At most bytes - 1 characters, the rest 0. */
static hsa_status_t give_text(void *value, const char *text, size_t bytes)
{
    memset(value, 0, bytes);
    memcpy(value, text, strnlen(text, bytes - 1));
    return HSA_OK;
}

static hsa_status_t gpu_name(const rt_agent *a, void *value)
{
    char text[64];
    snprintf(text, sizeof text, "Lockstep %s", a->model->name);
    return give_text(value, text, 64);
}

/* Where a GPU would be on a bus: one per slot. */
static uint32_t bus_place(const rt_agent *a)
{
    return a->is_gpu ? (uint32_t)(a->gpu + 1) << 8 : 0;
}

/* Answers about the standard's attributes. */
static hsa_status_t standard_info(const rt_agent *a, uint32_t what, void *value)
{
    typedef struct three {
        uint16_t at[3];
    } three;
    typedef struct four {
        uint32_t at[4];
    } four;
    const bool gpu = a->is_gpu;
    switch (what) {
    case 0:
        return give_text(value, gpu ? a->model->target : "Lockstep host", 64);
    case 1:
        return give_text(value, gpu ? "AMD" : "CPU", 64);
    case 2: /* features: kernels */
        GIVE(uint32_t, gpu ? 1 : 0);
    case 3: /* 64-bit addresses */
        GIVE(uint32_t, 1);
    case 4: /* profile: base for GPUs, full for the host */
        GIVE(uint32_t, gpu ? 0 : 1);
    case 5: /* rounding: near */
        GIVE(uint32_t, gpu ? 2 : 0);
    case 6:
        GIVE(uint32_t, gpu ? a->model->wave_size : 0);
    case 7:
        GIVE(three, gpu ? (three){ { 1024, 1024, 1024 } } : (three){ { 0 } });
    case 8:
        GIVE(uint32_t, gpu ? a->model->group_size_max : 0);
    case 9:
        GIVE(hsa_dim3_t, gpu ? (hsa_dim3_t){ UINT32_MAX, UINT32_MAX, UINT32_MAX } : (hsa_dim3_t){ 0, 0, 0 });
    case 10:
        GIVE(uint32_t, gpu ? UINT32_MAX : 0);
    case 11: /* fine barriers */
        GIVE(uint32_t, gpu ? 32 : 0);
    case 12: /* queues */
        GIVE(uint32_t, gpu ? 128 : 0);
    case 13: /* packets of a queue, least and most */
        GIVE(uint32_t, gpu ? 64 : 0);
    case 14:
        GIVE(uint32_t, gpu ? 131072 : 0);
    case 15: /* several producers */
        GIVE(uint32_t, 0);
    case 16: /* node */
        GIVE(uint32_t, (uint32_t)(a - rt.agents));
    case 17:
        GIVE(uint32_t, gpu ? 1 : 0);
    case 18:
        GIVE(four, gpu ? (four){ { family_of(a)->l1_kib << 10, family_of(a)->l2_kib << 10, 0, 0 } }
                       : (four){ { 32768, 0, 0, 0 } });
    case 19:
        GIVE(hsa_isa_t, { gpu ? (uint64_t)(uintptr_t)a : 0 });
    case 20: /* extensions: images, as far as sizes of pitched memory follow from them; see refused.c */
        memset(value, 0, 128);
        if (gpu)
            *(uint8_t *)value = 1u << 1;
        return HSA_OK;
    case 21:
    case 22:
        GIVE(uint16_t, 1);
    case 23: /* rounding modes of the base profile */
        GIVE(uint32_t, gpu ? 2 : 0);
    case 24: /* fast half precision */
        GIVE(bool, gpu);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

static uint32_t cooperative_units(const rt_agent *a)
{
    /* Work-groups of RDNA use pairs of compute units; HIP counts those. */
    return a->compute_units;
}

/* Answers about AMD's attributes. */
static hsa_status_t amd_info(const rt_agent *a, uint32_t what, void *value)
{
    typedef struct flush {
        uint32_t *memory, *registers;
    } flush;
    static uint32_t flushed[2]; /* programs write here to flush host writes: they need no flush */
    const bool gpu = a->is_gpu;
    char text[32];
    switch (what) {
    case 0xA000:
        GIVE(uint32_t, gpu ? family_of(a)->chip_id : 0);
    case 0xA001: /* bytes of a line */
        GIVE(uint32_t, 64);
    case 0xA002:
        GIVE(uint32_t, gpu ? a->compute_units : 1);
    case 0xA003:
        GIVE(uint32_t, gpu ? a->model->clock_mhz : 0);
    case 0xA004:
        GIVE(uint32_t, (uint32_t)(a - rt.agents));
    case 0xA005: /* watch points */
        GIVE(uint32_t, 0);
    case 0xA006:
        GIVE(uint32_t, bus_place(a));
    case 0xA007:
        GIVE(uint32_t, gpu ? family_of(a)->memory_bits : 0);
    case 0xA008:
        GIVE(uint32_t, gpu ? family_of(a)->memory_mhz : 0);
    case 0xA009:
        return gpu ? gpu_name(a, value) : give_text(value, "Lockstep host", 64);
    case 0xA00A:
        GIVE(uint32_t, gpu ? family_of(a)->waves_per_cu : 0);
    case 0xA00B:
        GIVE(uint32_t, gpu ? family_of(a)->simds : 0);
    case 0xA00C: /* shader engines, and arrays of each */
    case 0xA00D:
        GIVE(uint32_t, gpu ? 1 : 0);
    case 0xA00E:
        GIVE(flush, { &flushed[0], &flushed[1] });
    case 0xA00F: /* domain */
        GIVE(uint32_t, 0);
    case 0xA010: /* cooperative queues */
        GIVE(bool, gpu);
    case 0xA011:
        snprintf(text, sizeof text, "%s-%016x", gpu ? "GPU" : "CPU", (unsigned)(a - rt.agents));
        return give_text(value, text, 21);
    case 0xA012: /* revision */
        GIVE(uint32_t, 0);
    case 0xA013: /* direct use of managed memory by the host */
        GIVE(bool, false);
    case 0xA014:
        GIVE(uint32_t, gpu ? cooperative_units(a) : 0);
    case 0xA015: /* memory that is free */
        if (gpu) {
            uint64_t used, total;
            ls_gpu_system_memory(client.system, a->gpu, &used, &total);
            GIVE(uint64_t, total - used);
        }
        GIVE(uint64_t, 0);
    case 0xA016: /* ticks per second of timestamps */
        GIVE(uint64_t, 1000000000u);
    case 0xA107: /* of the ASIC's family */
        GIVE(uint32_t, 0);
    case 0xA10A: /* DMA engines, and those between GPUs */
        GIVE(uint32_t, gpu ? 1 : 0);
    case 0xA10B:
        GIVE(uint32_t, 0);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

/* Sizes of images: most texels of each kind, layers, handles, samplers. */
static hsa_status_t image_info(const rt_agent *a, uint32_t what, void *value)
{
    typedef struct two {
        uint32_t at[2];
    } two;
    typedef struct three {
        uint32_t at[3];
    } three;
    if (!a->is_gpu)
        return HSA_INVALID_ARGUMENT;
    switch (what) {
    case 0x3000: /* rows: alone, in arrays, of buffers */
    case 0x3001:
        GIVE(uint32_t, 16384);
    case 0x3002:
        GIVE(uint32_t, UINT32_MAX);
    case 0x3003: /* planes: alone, in arrays, with depths */
    case 0x3004:
    case 0x3005:
    case 0x3006:
        GIVE(two, { { 16384, 16384 } });
    case 0x3007:
        GIVE(three, { { 16384, 16384, 8192 } });
    case 0x3008:
        GIVE(uint32_t, 8192);
    case 0x3009: /* for reading, for both, samplers */
        GIVE(uint32_t, 128);
    case 0x300A:
        GIVE(uint32_t, 64);
    case 0x300B:
        GIVE(uint32_t, 16);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

HSA_API hsa_status_t hsa_agent_get_info(hsa_agent_t agent, uint32_t what, void *value)
{
    const rt_agent *a = rt_agent_of(agent);
    if (!a)
        return HSA_INVALID_AGENT;
    if (!value)
        return HSA_INVALID_ARGUMENT;
    if (what >= 0xA000)
        return amd_info(a, what, value);
    return what >= 0x3000 ? image_info(a, what, value) : standard_info(a, what, value);
}

HSA_API hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                                   uint16_t minor, bool *result)
{
    (void)extension;
    (void)major;
    (void)minor;
    if (!rt_agent_of(agent))
        return HSA_INVALID_AGENT;
    if (!result)
        return HSA_INVALID_ARGUMENT;
    *result = false;
    return HSA_OK;
}

/* All memory is coherent when a kernel begins and ends, whatever is asked for. */
HSA_API hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, uint32_t type)
{
    (void)type;
    return rt_agent_of(agent) ? HSA_OK : HSA_INVALID_AGENT;
}

/* ----------------------------------------------------------------------------------------- instruction sets */

HSA_API hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent,
                                            hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data)
{
    const rt_agent *a = rt_agent_of(agent);
    if (!a)
        return HSA_INVALID_AGENT;
    if (!callback)
        return HSA_INVALID_ARGUMENT;
    return a->is_gpu ? callback((hsa_isa_t){ agent.handle }, data) : HSA_OK;
}

HSA_API hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, uint32_t what, void *value)
{
    typedef struct three {
        uint16_t at[3];
    } three;
    typedef struct two {
        bool at[2];
    } two;
    typedef struct modes {
        bool at[3];
    } modes;
    const rt_agent *a = rt_agent_of((hsa_agent_t){ isa.handle });
    if (!a || !a->is_gpu)
        return HSA_INVALID_ISA;
    if (!value)
        return HSA_INVALID_ARGUMENT;
    switch (what) {
    case 0:
        GIVE(uint32_t, (uint32_t)strlen(a->isa) + 1);
    case 1:
        memcpy(value, a->isa, strlen(a->isa) + 1);
        return HSA_OK;
    case 2: /* call conventions */
        GIVE(uint32_t, 1);
    case 3:
        GIVE(uint32_t, a->model->wave_size);
    case 4:
        GIVE(uint32_t, family_of(a)->waves_per_cu);
    case 5: /* machine models: large only; profiles: base only */
        GIVE(two, { { false, true } });
    case 6:
        GIVE(two, { { true, false } });
    case 7: /* rounding: default, zero, near */
    case 8:
        GIVE(modes, { { false, false, true } });
    case 9:
        GIVE(bool, true);
    case 12:
        GIVE(three, { { 1024, 1024, 1024 } });
    case 13:
        GIVE(uint32_t, a->model->group_size_max);
    case 14:
        GIVE(hsa_dim3_t, { UINT32_MAX, UINT32_MAX, UINT32_MAX });
    case 16:
        GIVE(uint64_t, UINT32_MAX);
    case 17:
        GIVE(uint32_t, 32);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

/* --------------------------------------------------------------------------------------------------- memory */

HSA_API hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                        hsa_status_t (*callback)(hsa_amd_memory_pool_t pool,
                                                                                 void *data),
                                                        void *data)
{
    rt_agent *a = rt_agent_of(agent);
    if (!a)
        return HSA_INVALID_AGENT;
    if (!callback)
        return HSA_INVALID_ARGUMENT;
    for (size_t i = 0; i < a->pool_count; i++) {
        hsa_status_t status = callback((hsa_amd_memory_pool_t){ (uint64_t)(uintptr_t)&a->pools[i] }, data);
        if (status != HSA_OK)
            return status;
    }
    return HSA_OK;
}

HSA_API hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, uint32_t what, void *value)
{
    const rt_pool *p = rt_pool_of(pool);
    const bool global = p && p->segment == SEGMENT_GLOBAL;
    if (!p || !value)
        return HSA_INVALID_ARGUMENT;
    switch (what) {
    case 0:
        GIVE(uint32_t, p->segment);
    case 1:
        GIVE(uint32_t, p->flags);
    case 2:
    case 16: /* largest allocation */
        GIVE(size_t, p->bytes);
    case 5: /* can be allocated */
        GIVE(bool, global);
    case 6: /* granule, alignment */
    case 7:
        GIVE(size_t, global ? RT_PAGE : 0);
    case 15: /* accessible by all */
        GIVE(bool, global && !p->agent->is_gpu);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

/* 0: never, 1: by default, 2: after hsa_amd_agents_allow_access(). In emulation all agents see all memory. In simulated time
 * the program does not see a GPU's memory directly, as without a large PCI window. */
static uint32_t access_of(const rt_agent *a, const rt_pool *p)
{
    if (p->segment != SEGMENT_GLOBAL)
        return a == p->agent ? 1 : 0;
    if (a == p->agent || !p->agent->is_gpu)
        return 1;
    if (!a->is_gpu)
        return rt.is_timed ? 0 : 2;
    return ls_gpu_system_reaches(client.system) ? 2 : 0;
}

HSA_API hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                                        uint32_t what, void *value)
{
    const rt_agent *a = rt_agent_of(agent);
    const rt_pool *p = rt_pool_of(pool);
    if (!a)
        return HSA_INVALID_AGENT;
    if (!p || !value)
        return HSA_INVALID_ARGUMENT;
    const bool far = a != p->agent;
    switch (what) {
    case 0:
        GIVE(uint32_t, access_of(a, p));
    case 1: /* links between them */
        GIVE(uint32_t, far ? 1 : 0);
    case 2:
        if (far)
            GIVE(hsa_amd_link_info, { .atomic_32 = true,
                                      .atomic_64 = true,
                                      .coherent = true,
                                      .type = a->is_gpu && p->agent->is_gpu ? LINK_XGMI : LINK_PCIE,
                                      .numa_distance = 20 });
        return HSA_OK;
    default:
        return HSA_INVALID_ARGUMENT;
    }
}
