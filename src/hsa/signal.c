/* signal.c: signals: 64 bytes of memory that kernels see, and waits of the program. A wait lets work run in the thread that
 * waits. A wait with a short time limit is a look from time to time, as HIP's thread for host calls does: it runs nothing. */
#include "hsa/rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLAB_BYTES 65536u
#define SHORT_WAIT_NS UINT64_C(1000000000)
#define NAP_NS UINT64_C(50000)     /* between two looks of a wait that runs nothing */
#define SLEEP_NS UINT64_C(1000000) /* longest sleep of a wait while another thread steps */
#define POLLS_MAX 256u             /* loads in a row that are taken for a wait */

static LS_VEC(amd_signal *) unused;

void rt_active(void)
{
    rt.polls = 0;
    rt.active_ns = rt_host_ns();
}

/* -------------------------------------------------------------------------------------------- life and death */

static bool add_slab(void)
{
    uint8_t *slab = vec_reserve(&unused, SLAB_BYTES / sizeof(amd_signal))
                        ? rt_host_alloc(SLAB_BYTES, &rt.agents[0].pools[1])
                        : NULL;
    for (size_t at = SLAB_BYTES; slab && at > 0;) {
        at -= sizeof(amd_signal);
        unused.at[unused.count++] = (amd_signal *)(void *)(slab + at);
    }
    return slab != NULL;
}

/* With the lock held. */
static hsa_status_t create(int64_t value, int64_t kind, hsa_signal_t *out)
{
    if (unused.count == 0 && !add_slab())
        return HSA_OUT_OF_RESOURCES;
    amd_signal *signal = unused.at[--unused.count];
    memset(signal, 0, sizeof *signal);
    signal->kind = kind;
    if (rt.is_timed && kind == SIGNAL_USER) { /* a kernel that changes the signal sends a message */
        signal->event_mailbox = (uint64_t)(uintptr_t)signal->reserved3;
        signal->event_id = 1;
    }
    atomic_store(&signal->value, value);
    *out = (hsa_signal_t){ (uint64_t)(uintptr_t)signal };
    return HSA_OK;
}

hsa_status_t rt_signal_create(int64_t value, int64_t kind, hsa_signal_t *out)
{
    pthread_mutex_lock(&rt.lock);
    hsa_status_t status = create(value, kind, out);
    pthread_mutex_unlock(&rt.lock);
    return status;
}

HSA_API hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                       hsa_signal_t *out)
{
    if (!out || (count > 0 && !consumers))
        return HSA_INVALID_ARGUMENT;
    return rt_start() == HSA_OK ? rt_signal_create(value, SIGNAL_USER, out) : HSA_NOT_INITIALIZED;
}

HSA_API hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count,
                                           const hsa_agent_t *consumers, uint64_t attributes,
                                           hsa_signal_t *out)
{
    (void)attributes;
    return hsa_signal_create(value, count, consumers, out);
}

HSA_API hsa_status_t hsa_signal_destroy(hsa_signal_t signal)
{
    bool good = true;
    if (signal.handle == 0)
        return HSA_INVALID_ARGUMENT;
    pthread_mutex_lock(&rt.lock);
    rt_signal(signal)->kind = 0;
    good = vec_push(&unused, rt_signal(signal));
    pthread_mutex_unlock(&rt.lock);
    return good ? HSA_OK : HSA_OUT_OF_RESOURCES;
}

HSA_API hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **out)
{
    if (signal.handle == 0 || !out)
        return HSA_INVALID_ARGUMENT;
    *out = (volatile hsa_signal_value_t *)(void *)&rt_signal(signal)->value;
    return HSA_OK;
}

/* ----------------------------------------------------------------------------------------------------- values */

void rt_signal_complete(hsa_signal_t signal, uint64_t start, uint64_t end)
{
    if (signal.handle == 0)
        return;
    amd_signal *s = rt_signal(signal);
    s->start_ts = RT_BEGIN_NS + start;
    s->end_ts = RT_BEGIN_NS + end;
    atomic_fetch_sub_explicit(&s->value, 1, memory_order_acq_rel);
    pthread_cond_broadcast(&rt.changed);
    rt_handlers_wake();
}

/* The program changed a value; a doorbell says that there are packets. */
static void tell(hsa_signal_t signal)
{
    pthread_mutex_lock(&rt.lock);
    if (rt_signal(signal)->kind == SIGNAL_DOORBELL)
        rt_active();
    pthread_cond_broadcast(&rt.changed);
    rt_handlers_wake();
    pthread_mutex_unlock(&rt.lock);
}

/* A program that asks again and again waits. */
static void poll(void)
{
    pthread_mutex_lock(&rt.lock);
    if (++rt.polls > POLLS_MAX)
        (void)rt_step();
    pthread_mutex_unlock(&rt.lock);
}

#define LOAD(order)                                                                                           \
    HSA_API hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal)                                   \
    {                                                                                                         \
        hsa_signal_value_t value = rt_signal_value(signal);                                                   \
        if (value != 0)                                                                                       \
            poll();                                                                                           \
        return value;                                                                                         \
    }
LOAD(relaxed)
LOAD(scacquire)

#define STORE(order)                                                                                          \
    HSA_API void hsa_signal_store_##order(hsa_signal_t signal, hsa_signal_value_t value)                      \
    {                                                                                                         \
        atomic_store(&rt_signal(signal)->value, value);                                                       \
        tell(signal);                                                                                         \
    }                                                                                                         \
    HSA_API void hsa_signal_silent_store_##order(hsa_signal_t signal, hsa_signal_value_t value)               \
    {                                                                                                         \
        atomic_store(&rt_signal(signal)->value, value);                                                       \
    }
STORE(relaxed)
STORE(screlease)

#define CHANGE(name, call, order)                                                                             \
    HSA_API void hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t value)                   \
    {                                                                                                         \
        call(&rt_signal(signal)->value, value);                                                               \
        tell(signal);                                                                                         \
    }
#define CHANGES(name, call)                                                                                   \
    CHANGE(name, call, relaxed)                                                                               \
    CHANGE(name, call, scacquire)                                                                             \
    CHANGE(name, call, screlease) CHANGE(name, call, scacq_screl)
CHANGES(add, atomic_fetch_add)
CHANGES(subtract, atomic_fetch_sub)
CHANGES(and, atomic_fetch_and)
CHANGES(or, atomic_fetch_or)
CHANGES(xor, atomic_fetch_xor)

HSA_API hsa_signal_value_t hsa_signal_exchange_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value)
{
    hsa_signal_value_t old = atomic_exchange(&rt_signal(signal)->value, value);
    tell(signal);
    return old;
}

HSA_API hsa_signal_value_t hsa_signal_cas_scacq_screl(hsa_signal_t signal, hsa_signal_value_t expected,
                                                      hsa_signal_value_t value)
{
    atomic_compare_exchange_strong(&rt_signal(signal)->value, &expected, value);
    tell(signal);
    return expected;
}

/* ------------------------------------------------------------------------------------------------------ waits */

bool rt_condition_holds(uint32_t condition, int64_t value, int64_t than)
{
    switch (condition) {
    case CONDITION_EQ:
        return value == than;
    case CONDITION_NE:
        return value != than;
    case CONDITION_LT:
        return value < than;
    default:
        return value >= than;
    }
}

/* Until something changes. With the lock held. */
static void sleep_locked(uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&rt.changed, &rt.lock, &until);
}

/* A look from time to time, without running anything. */
static hsa_signal_value_t watch(hsa_signal_t signal, uint32_t condition, int64_t than, uint64_t ns)
{
    const uint64_t end = rt_host_ns() + ns;
    if (condition == CONDITION_NE)
        rt_hostcalls_watched(signal, than);
    int64_t value = rt_signal_value(signal);
    while (!rt_condition_holds(condition, value, than)) {
        const uint64_t now = rt_host_ns();
        if (now >= end)
            break;
        const struct timespec nap = { .tv_nsec = (long)(end - now < NAP_NS ? end - now : NAP_NS) };
        nanosleep(&nap, NULL);
        value = rt_signal_value(signal);
    }
    return value;
}

static hsa_signal_value_t wait(hsa_signal_t signal, uint32_t condition, int64_t than, uint64_t timeout_ns)
{
    int64_t value = rt_signal_value(signal);
    const uint64_t begin = rt_host_ns();
    if (rt_condition_holds(condition, value, than))
        return value;
    if (timeout_ns < SHORT_WAIT_NS)
        return watch(signal, condition, than, timeout_ns);
    pthread_mutex_lock(&rt.lock);
    for (;;) {
        value = rt_signal_value(signal);
        if (rt_condition_holds(condition, value, than) || rt_host_ns() - begin >= timeout_ns)
            break;
        if (!rt_step())
            sleep_locked(SLEEP_NS);
    }
    pthread_mutex_unlock(&rt.lock);
    return value;
}

HSA_API hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, uint32_t condition,
                                                     hsa_signal_value_t than, uint64_t timeout_ns,
                                                     uint32_t hint)
{
    (void)hint;
    return wait(signal, condition, than, timeout_ns);
}

HSA_API hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t signal, uint32_t condition,
                                                   hsa_signal_value_t than, uint64_t timeout_ns, uint32_t hint)
{
    (void)hint;
    return wait(signal, condition, than, timeout_ns);
}

/* -------------------------------------------------------------------------------------------------- profiling */

/* Times are always kept. */
HSA_API hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    (void)enable;
    return queue ? HSA_OK : HSA_INVALID_QUEUE;
}

HSA_API hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
    (void)enable;
    return HSA_OK;
}

static hsa_status_t give_times(hsa_signal_t signal, hsa_amd_times *out)
{
    if (signal.handle == 0)
        return HSA_INVALID_SIGNAL;
    if (!out)
        return HSA_INVALID_ARGUMENT;
    *out = (hsa_amd_times){ rt_signal(signal)->start_ts, rt_signal(signal)->end_ts };
    return HSA_OK;
}

HSA_API hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                         hsa_amd_times *out)
{
    return rt_agent_of(agent) ? give_times(signal, out) : HSA_INVALID_AGENT;
}

HSA_API hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_times *out)
{
    return give_times(signal, out);
}
