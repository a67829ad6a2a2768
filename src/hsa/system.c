/* system.c: the runtime as a whole: hsa_init() starts the system that the environment describes; it ends with the process. */
#include "hsa/rt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

rt_state rt = { .lock = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER,
                .status = HSA_NOT_INITIALIZED,
                .copies_end = &rt.copies,
                .running_end = &rt.running };

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t rt_host_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

hsa_status_t rt_tell(const ls_error *err, hsa_status_t code)
{
    char text[1024];
    client_complain("%s", ls_error_text(err, text, sizeof text));
    return code;
}

/* What the program printed before must not be lost. Its own exit handlers may wait for the GPU, so they are not called. */
_Noreturn void rt_die(const ls_error *err)
{
    atomic_store(&client.has_finding, true);
    fflush(NULL);
    (void)rt_tell(err, HSA_ERROR);
    client_end();
    fflush(NULL);
    _exit(ls_status_exit_code(err->status));
}

hsa_status_t rt_refuse(const char *function, const char *why)
{
    static const char *told[32];
    static size_t count;
    bool is_new = true;
    pthread_mutex_lock(&rt.lock);
    for (size_t i = 0; i < count; i++)
        is_new &= strcmp(told[i], function) != 0;
    if (is_new && count < LS_COUNT_OF(told))
        told[count++] = function;
    pthread_mutex_unlock(&rt.lock);
    if (is_new)
        client_complain("%s: %s", function, why);
    return HSA_ERROR;
}

uint64_t rt_now(const rt_agent *agent)
{
    uint64_t last = agent ? agent->busy_ns : 0;
    if (rt.is_timed)
        return ls_gpu_system_now(client.system);
    for (size_t i = 1; !agent && i < rt.agent_count; i++)
        last = rt.agents[i].busy_ns > last ? rt.agents[i].busy_ns : last;
    return last;
}

/* ---------------------------------------------------------------------------------------------- beginning */

static void fork_child(void)
{
    client.is_child = true;
}

static hsa_status_t start_system(void)
{
    static const ls_gpu_options more = { .host_addresses = true };
    client_settings settings;
    ls_error err;
    client.library = "lockstep-hsa";
    client.interface = "HSA";
    if (client_settings_read(&settings, &err) != LS_OK)
        return rt_tell(&err, HSA_ERROR);
    if (settings.unified) {
        client_complain("LOCKSTEP_DEVICES: unified devices are for OpenCL programs; HIP sees each GPU");
        return HSA_ERROR;
    }
    if (client_begin(&settings, &more) != LS_OK)
        return HSA_ERROR;
    rt.is_timed = ls_gpu_system_is_timed(client.system);
    if (ls_gpu_context_create(client.system, &rt.context, &err) != LS_OK)
        return rt_tell(&err, HSA_OUT_OF_RESOURCES);
    rt_agents_add(&settings);
    for (size_t i = 1; i < rt.agent_count; i++) {
        ls_status status = ls_gpu_select(rt.context, rt.agents[i].gpu, &err);
        if (status == LS_OK)
            status = ls_gpu_queue_create_unordered(rt.context, &rt.agents[i].commands, &err);
        if (status != LS_OK)
            return rt_tell(&err, HSA_OUT_OF_RESOURCES);
    }
    if (rt.is_timed)
        rt_hostcalls_begin();
    pthread_atfork(NULL, NULL, fork_child);
    return HSA_OK;
}

static void start(void)
{
    rt.status = start_system();
}

hsa_status_t rt_start(void)
{
    pthread_once(&once, start);
    return rt.status;
}

HSA_API hsa_status_t hsa_init(void)
{
    hsa_status_t status = rt_start();
    pthread_mutex_lock(&rt.lock);
    rt.references += status == HSA_OK;
    pthread_mutex_unlock(&rt.lock);
    return status;
}

/* The system stays for the next hsa_init(), and for results at the end of the process. */
HSA_API hsa_status_t hsa_shut_down(void)
{
    hsa_status_t status = HSA_OK;
    pthread_mutex_lock(&rt.lock);
    if (rt.references > 0)
        rt.references--;
    else
        status = HSA_NOT_INITIALIZED;
    pthread_mutex_unlock(&rt.lock);
    return status;
}

/* ------------------------------------------------------------------------------------------------- ending */

#define PATIENCE_NS UINT64_C(10000000000)

/* A step of another thread may be under way: it has some time to end. */
__attribute__((destructor)) static void end(void)
{
    uint64_t until;
    if (!client.system || client.is_child)
        return;
    until = rt_host_ns() + PATIENCE_NS;
    pthread_mutex_lock(&rt.lock);
    rt.is_ending = true;
    while (rt.is_stepping && rt_host_ns() < until) {
        pthread_mutex_unlock(&rt.lock);
        usleep(1000);
        pthread_mutex_lock(&rt.lock);
    }
    bool is_idle = !rt.is_stepping;
    pthread_mutex_unlock(&rt.lock);
    if (is_idle)
        client_end();
    else
        client_complain("the process ends while a kernel runs; traces, metrics, timeline and summary are not "
                        "written");
}

/* ------------------------------------------------------------------------------------------------- system */

HSA_API hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    static const struct {
        hsa_status_t status;
        const char *text;
    } known[] = {
        { HSA_OK, "success" },
        { HSA_BREAK, "an iteration was stopped by its callback" },
        { HSA_ERROR, "an error; a line of lockstep-hsa on standard error says more" },
        { HSA_INVALID_ARGUMENT, "an argument is not valid" },
        { HSA_INVALID_QUEUE_CREATION, "a queue of this kind cannot be created" },
        { HSA_INVALID_ALLOCATION, "this allocation is not possible" },
        { HSA_INVALID_AGENT, "there is no such agent" },
        { HSA_INVALID_SIGNAL, "there is no such signal" },
        { HSA_INVALID_QUEUE, "there is no such queue" },
        { HSA_OUT_OF_RESOURCES, "the simulated GPU or the host has no room left" },
        { HSA_NOT_INITIALIZED, "the runtime was not started" },
        { HSA_INVALID_ISA, "there is no such instruction set" },
        { HSA_INVALID_CODE_OBJECT, "the code object is not valid" },
        { HSA_INVALID_EXECUTABLE, "there is no such executable" },
        { HSA_FROZEN_EXECUTABLE, "the executable is frozen" },
        { HSA_INVALID_SYMBOL_NAME, "there is no symbol of this name" },
    };
    if (!text)
        return HSA_INVALID_ARGUMENT;
    for (size_t i = 0; i < LS_COUNT_OF(known); i++)
        if (known[i].status == status) {
            *text = known[i].text;
            return HSA_OK;
        }
    *text = "unknown status";
    return HSA_INVALID_ARGUMENT;
}

HSA_API hsa_status_t hsa_system_get_info(uint32_t what, void *value)
{
    if (rt_start() != HSA_OK)
        return HSA_NOT_INITIALIZED;
    if (!value)
        return HSA_INVALID_ARGUMENT;
    switch (what) {
    case 0: /* version of the standard: 1.1 */
    case 1:
        *(uint16_t *)value = 1;
        return HSA_OK;
    case 2: /* time, in ticks of the next */
        pthread_mutex_lock(&rt.lock);
        *(uint64_t *)value = RT_BEGIN_NS + rt_now(NULL);
        pthread_mutex_unlock(&rt.lock);
        return HSA_OK;
    case 3: /* ticks per second: they are nanoseconds */
        *(uint64_t *)value = 1000000000u;
        return HSA_OK;
    case 4: /* longest wait */
        *(uint64_t *)value = UINT64_MAX;
        return HSA_OK;
    case 5: /* little endian */
        *(uint32_t *)value = 0;
        return HSA_OK;
    case 6: /* 64-bit addresses */
        *(uint32_t *)value = 1;
        return HSA_OK;
    case 7: /* a bit per extension: none of the standard */
        memset(value, 0, 128);
        return HSA_OK;
    case 0x200:
        *(const char **)value = "lockstep " LS_VERSION_STRING;
        return HSA_OK;
    case 0x201: /* memory of the program that kernels use without being asked */
    case 0x202:
        *(bool *)value = false;
        return HSA_OK;
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

#define EXTENSION_LOADER 0x201

HSA_API hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor,
                                                    bool *result)
{
    (void)minor;
    if (!result)
        return HSA_INVALID_ARGUMENT;
    *result = extension == EXTENSION_LOADER && major == 1;
    return HSA_OK;
}

/* Programs have device addresses at the same place, so the answer is the question. */
static hsa_status_t query_host_address(const void *device, const void **host)
{
    if (!device || !host)
        return HSA_INVALID_ARGUMENT;
    *host = device;
    return HSA_OK;
}

static hsa_status_t query_segments(void *segments, size_t *count)
{
    (void)segments;
    if (!count)
        return HSA_INVALID_ARGUMENT;
    *count = 0;
    return HSA_OK;
}

static hsa_status_t query_executable(const void *device, hsa_executable_t *executable)
{
    (void)device;
    (void)executable;
    return HSA_INVALID_ARGUMENT;
}

HSA_API hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                                          void *table)
{
    static hsa_status_t (*const host)(const void *, const void **) = query_host_address;
    static hsa_status_t (*const segments)(void *, size_t *) = query_segments;
    static hsa_status_t (*const executable)(const void *, hsa_executable_t *) = query_executable;
    void *functions[8] = { 0 };
    if (!table || extension != EXTENSION_LOADER || major != 1)
        return HSA_INVALID_ARGUMENT;
    memcpy(&functions[0], &host, sizeof host);
    memcpy(&functions[1], &segments, sizeof segments);
    memcpy(&functions[2], &executable, sizeof executable);
    memcpy(table, functions, bytes < sizeof functions ? bytes : sizeof functions);
    return HSA_OK;
}

HSA_API hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data)
{
    if (rt_start() != HSA_OK)
        return HSA_NOT_INITIALIZED;
    if (!callback)
        return HSA_INVALID_ARGUMENT;
    for (size_t i = 0; i < rt.agent_count; i++) {
        hsa_status_t status = callback((hsa_agent_t){ (uint64_t)(uintptr_t)&rt.agents[i] }, data);
        if (status != HSA_OK)
            return status;
    }
    return HSA_OK;
}
