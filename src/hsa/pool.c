/* pool.c: memory: allocations of pools, memory of the program that was locked, and the list of all of it.
 *
 * In emulation a simulated address is a pointer of the process, so both sides use the same bytes. In simulated time bytes
 * live in caches and channels of the machine; the program has pages of its own at the same address, which mirror.c keeps
 * equal. Locked memory is at two addresses in both cases. */
#include "hsa/rt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + RT_PAGE - 1) & ~(uint64_t)(RT_PAGE - 1);
}

/* ------------------------------------------------------------------------------------------------- the list */

/* The first range that begins after the address. */
static size_t range_after(uint64_t address)
{
    size_t low = 0, high = rt.ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rt.ranges.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

rt_range *rt_range_at(uint64_t address)
{
    size_t at = range_after(address);
    rt_range *range = at > 0 ? &rt.ranges.at[at - 1] : NULL;
    return range && address - range->address < range->bytes ? range : NULL;
}

bool rt_range_add(const rt_range *range)
{
    size_t at = range_after(range->address);
    if (!vec_reserve(&rt.ranges, 1))
        return false;
    memmove(&rt.ranges.at[at + 1], &rt.ranges.at[at], (rt.ranges.count - at) * sizeof *range);
    rt.ranges.at[at] = *range;
    rt.ranges.count++;
    return true;
}

static void release(const rt_range *range)
{
    if (range->mapped)
        munmap((void *)(uintptr_t)range->address, (size_t)range->mapped);
    if (range->shadow)
        munmap(range->shadow, (size_t)range->bytes);
}

hsa_status_t rt_range_free(uint64_t address)
{
    rt_range *found = rt_range_at(address);
    ls_error err;
    if (!found || found->address != address)
        return HSA_INVALID_ALLOCATION;
    const rt_range range = *found;
    memmove(found, found + 1, (size_t)(rt.ranges.at + rt.ranges.count - (found + 1)) * sizeof *found);
    rt.ranges.count--;
    release(&range);
    if (range.kind == RT_CODE)
        return HSA_OK; /* it goes with its module */
    /* It waits for commands that have begun. Those of other threads may take the lock when they are over. */
    pthread_mutex_unlock(&rt.lock);
    ls_status status = ls_gpu_free(rt.context, range.base, &err);
    pthread_mutex_lock(&rt.lock);
    return status == LS_OK ? HSA_OK : rt_tell(&err, HSA_ERROR);
}

/* --------------------------------------------------------------------------------------------- taking memory */

bool rt_map_pages(uint64_t address, uint64_t bytes)
{
    void *wanted = (void *)(uintptr_t)address;
    void *at = mmap(wanted, (size_t)whole_pages(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == wanted)
        return true;
    if (at != MAP_FAILED)
        munmap(at, (size_t)whole_pages(bytes)); /* kernels that do not know the flag */
    return false;
}

static uint8_t *shadow_of(uint64_t bytes)
{
    void *at =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Simulated memory that stands for memory of the host. Where the machine has a host, kernels reach it over the fabric. */
static ls_status take_for_host(uint64_t bytes, uint64_t *out, ls_error *err)
{
    if (ls_gpu_system_has_host(client.system))
        return ls_gpu_alloc_host(rt.context, bytes, out, err);
    ls_status status = ls_gpu_select(rt.context, rt.agents[1].gpu, err);
    return status == LS_OK ? ls_gpu_alloc(rt.context, bytes, out, err) : status;
}

void *rt_host_alloc(uint64_t bytes, const rt_pool *pool)
{
    rt_range range = { .kind = RT_HOST, .bytes = whole_pages(bytes), .pool = pool };
    ls_error err;
    if (take_for_host(range.bytes, &range.address, &err) != LS_OK) {
        rt_tell(&err, HSA_OUT_OF_RESOURCES);
        return NULL;
    }
    range.base = range.address;
    range.host = (uint8_t *)(uintptr_t)range.address;
    if (rt.is_timed) {
        range.shadow = shadow_of(range.bytes);
        if (rt_map_pages(range.address, range.bytes))
            range.mapped = range.bytes;
        if (!range.shadow || !range.mapped)
            client_complain("the process has something else at 0x%llx, where memory of kernels would be",
                            (unsigned long long)range.address);
    }
    if ((!rt.is_timed || (range.shadow && range.mapped)) && rt_range_add(&range))
        return range.host;
    release(&range);
    (void)ls_gpu_free(rt.context, range.base, NULL);
    return NULL;
}

static void *device_alloc(uint64_t bytes, const rt_pool *pool)
{
    rt_range range = { .kind = RT_DEVICE, .bytes = whole_pages(bytes), .pool = pool };
    ls_error err;
    ls_status status = ls_gpu_select(rt.context, pool->agent->gpu, &err);
    if (status == LS_OK)
        status = ls_gpu_alloc(rt.context, bytes, &range.address, &err);
    if (status != LS_OK)
        return NULL; /* programs try large sizes: no line for that */
    range.base = range.address;
    range.host = rt.is_timed ? NULL : (uint8_t *)(uintptr_t)range.address;
    if (rt_range_add(&range))
        return (void *)(uintptr_t)range.address;
    (void)ls_gpu_free(rt.context, range.base, NULL);
    return NULL;
}

HSA_API hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags,
                                                  void **out)
{
    const rt_pool *p = rt_pool_of(pool);
    (void)flags;
    if (!p || !out || bytes == 0)
        return HSA_INVALID_ARGUMENT;
    if (p->segment != SEGMENT_GLOBAL)
        return HSA_INVALID_ALLOCATION;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    *out = bytes > p->bytes ? NULL : p->agent->is_gpu ? device_alloc(bytes, p) : rt_host_alloc(bytes, p);
    pthread_mutex_unlock(&rt.lock);
    return *out ? HSA_OK : HSA_OUT_OF_RESOURCES;
}

HSA_API hsa_status_t hsa_amd_memory_pool_free(void *pointer)
{
    hsa_status_t status = HSA_OK;
    if (!pointer)
        return HSA_OK;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    status = rt_range_free((uint64_t)(uintptr_t)pointer);
    pthread_mutex_unlock(&rt.lock);
    return status;
}

/* -------------------------------------------------------------------------------------------------- locking */

/* The pages of the program's memory get a second address, at which kernels see them. The offset in a page is the same. */
static hsa_status_t lock(void *host, size_t bytes, void **out)
{
    const uint64_t offset = (uint64_t)(uintptr_t)host % RT_PAGE, whole = whole_pages(offset + bytes);
    rt_range range = { .kind = RT_LOCKED, .bytes = bytes, .host = host, .pool = &rt.agents[0].pools[1] };
    ls_error err;
    if (take_for_host(whole, &range.base, &err) != LS_OK)
        return rt_tell(&err, HSA_OUT_OF_RESOURCES);
    range.address = range.base + offset;
    range.shadow = shadow_of(bytes);
    if (range.shadow && rt_range_add(&range)) {
        *out = (void *)(uintptr_t)range.address;
        return HSA_OK;
    }
    release(&range);
    (void)ls_gpu_free(rt.context, range.base, NULL);
    return HSA_OUT_OF_RESOURCES;
}

HSA_API hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t bytes, hsa_agent_t *agents, int count,
                                                 hsa_amd_memory_pool_t pool, uint32_t flags, void **out)
{
    (void)agents;
    (void)count;
    (void)flags;
    if (!host || bytes == 0 || !out || !rt_pool_of(pool))
        return HSA_INVALID_ARGUMENT;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    hsa_status_t status = lock(host, bytes, out);
    pthread_mutex_unlock(&rt.lock);
    return status;
}

HSA_API hsa_status_t hsa_amd_memory_lock(void *host, size_t bytes, hsa_agent_t *agents, int count, void **out)
{
    return hsa_amd_memory_lock_to_pool(host, bytes, agents, count,
                                       (hsa_amd_memory_pool_t){ (uint64_t)(uintptr_t)&rt.agents[0].pools[1] },
                                       0, out);
}

HSA_API hsa_status_t hsa_amd_memory_unlock(void *host)
{
    hsa_status_t status = HSA_INVALID_ARGUMENT;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    for (size_t i = 0; i < rt.ranges.count; i++)
        if (rt.ranges.at[i].kind == RT_LOCKED && rt.ranges.at[i].host == host) {
            status = rt_range_free(rt.ranges.at[i].address);
            break;
        }
    pthread_mutex_unlock(&rt.lock);
    return status;
}

/* --------------------------------------------------------------------------------------------------- access */

/* Whether the GPUs can use each other's memory is a question of the machine, and asked with the pools. */
HSA_API hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents,
                                                 const uint32_t *flags, const void *pointer)
{
    hsa_status_t status = HSA_OK;
    (void)flags;
    if (count == 0 || !agents || !pointer)
        return HSA_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < count; i++)
        if (!rt_agent_of(agents[i]))
            return HSA_INVALID_AGENT;
    pthread_mutex_lock(&rt.lock);
    const rt_range *range = rt_range_at((uint64_t)(uintptr_t)pointer);
    if (!range)
        status = HSA_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < count && status == HSA_OK; i++) {
        const rt_agent *a = rt_agent_of(agents[i]);
        bool of_other = range->kind == RT_DEVICE && a->is_gpu && a != range->pool->agent;
        if (of_other && !ls_gpu_system_reaches(client.system))
            status = HSA_INVALID_ARGUMENT;
    }
    pthread_mutex_unlock(&rt.lock);
    return status;
}

HSA_API hsa_status_t hsa_memory_register(void *pointer, size_t bytes)
{
    return pointer && bytes > 0 ? HSA_OK : HSA_INVALID_ARGUMENT;
}

HSA_API hsa_status_t hsa_memory_deregister(void *pointer, size_t bytes)
{
    (void)pointer;
    (void)bytes;
    return HSA_OK;
}

/* The range of a pointer that a kernel or the program uses. With the lock held. */
static const rt_range *range_of_pointer(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const rt_range *range = rt_range_at(address);
    for (size_t i = 0; !range && i < rt.ranges.count; i++) {
        const rt_range *r = &rt.ranges.at[i];
        if (r->kind == RT_LOCKED && address - (uint64_t)(uintptr_t)r->host < r->bytes)
            range = r;
    }
    return range;
}

static hsa_status_t list_agents(void *(*alloc)(size_t bytes), uint32_t *count, hsa_agent_t **out)
{
    if (!alloc || !count || !out)
        return HSA_OK;
    *out = alloc(rt.agent_count * sizeof **out);
    if (!*out)
        return HSA_OUT_OF_RESOURCES;
    *count = (uint32_t)rt.agent_count;
    for (size_t i = 0; i < rt.agent_count; i++)
        (*out)[i] = (hsa_agent_t){ (uint64_t)(uintptr_t)&rt.agents[i] };
    return HSA_OK;
}

HSA_API hsa_status_t hsa_amd_pointer_info(const void *pointer, hsa_amd_pointer_info_t *info,
                                          void *(*alloc)(size_t bytes), uint32_t *count, hsa_agent_t **agents)
{
    hsa_amd_pointer_info_t found = { .size = sizeof found, .type = POINTER_UNKNOWN };
    if (!pointer || !info || info->size == 0)
        return HSA_INVALID_ARGUMENT;
    pthread_mutex_lock(&rt.lock);
    const rt_range *range = range_of_pointer(pointer);
    if (range) {
        found.type = range->kind == RT_LOCKED ? POINTER_LOCKED : POINTER_HSA;
        found.agent_base = (void *)(uintptr_t)range->address;
        found.host_base = range->host;
        found.bytes = range->bytes;
        found.user_data = range->user_data;
        found.owner = (hsa_agent_t){ (uint64_t)(uintptr_t)(range->pool ? range->pool->agent : &rt.agents[0]) };
        found.global_flags = range->pool ? range->pool->flags : POOL_COARSE;
    }
    const bool is_known = range != NULL;
    pthread_mutex_unlock(&rt.lock);
    found.size = info->size < sizeof found ? info->size : sizeof found;
    memcpy(info, &found, found.size);
    return is_known ? list_agents(alloc, count, agents) : HSA_OK;
}

HSA_API hsa_status_t hsa_amd_pointer_info_set_userdata(const void *pointer, void *data)
{
    pthread_mutex_lock(&rt.lock);
    rt_range *range = rt_range_at((uint64_t)(uintptr_t)pointer);
    if (range)
        range->user_data = data;
    pthread_mutex_unlock(&rt.lock);
    return range ? HSA_OK : HSA_INVALID_ARGUMENT;
}
