/* handler.c: functions of the program that are called when a signal's condition holds, on one thread of the runtime. The
 * same thread runs work that nobody waits for: a program may wait for its handlers in other ways than by signals. It
 * does so only when the program has called nothing for a while, so that work begins at the same simulated time in every
 * run. */
#include "hsa/rt.h"

#include <time.h>

#define QUIET_NS UINT64_C(50000000)
#define LOOK_NS 5000000L

typedef struct rt_handler {
    hsa_signal_t signal;
    uint32_t condition;
    int64_t than;
    hsa_amd_signal_handler function;
    void *arg;
} rt_handler;

static LS_VEC(rt_handler) handlers;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool has_thread;

void rt_handlers_wake(void)
{
    if (handlers.count > 0)
        pthread_cond_signal(&wake);
}

/* Calls one handler whose condition holds; false: there is none. */
static bool call_one(void)
{
    for (size_t i = 0; i < handlers.count; i++) {
        const rt_handler h = handlers.at[i];
        const int64_t value = rt_signal_value(h.signal);
        if (!rt_condition_holds(h.condition, value, h.than))
            continue;
        for (size_t k = i + 1; k < handlers.count; k++)
            handlers.at[k - 1] = handlers.at[k];
        handlers.count--;
        pthread_mutex_unlock(&rt.lock);
        const bool again = h.function(value, h.arg);
        pthread_mutex_lock(&rt.lock);
        if (again)
            (void)vec_push(&handlers, h); /* there was room for it before */
        return true;
    }
    return false;
}

static void *run(void *self)
{
    (void)self;
    pthread_mutex_lock(&rt.lock);
    while (!rt.is_ending) {
        struct timespec until;
        if (call_one())
            continue;
        if (rt_has_work() && rt_host_ns() - rt.active_ns > QUIET_NS && rt_step())
            continue;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (rt_has_work() || handlers.count > 0)
            pthread_cond_timedwait(&wake, &rt.lock, &until);
        else
            pthread_cond_wait(&wake, &rt.lock);
    }
    pthread_mutex_unlock(&rt.lock);
    return NULL;
}

static bool start_thread(void)
{
    pthread_t thread;
    if (has_thread)
        return true;
    has_thread = pthread_create(&thread, NULL, run, NULL) == 0;
    if (has_thread)
        pthread_detach(thread);
    return has_thread;
}

HSA_API hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, uint32_t condition,
                                                  hsa_signal_value_t than, hsa_amd_signal_handler function,
                                                  void *arg)
{
    const rt_handler h = { signal, condition, than, function, arg };
    if (signal.handle == 0 || !function)
        return HSA_INVALID_ARGUMENT;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    bool good = vec_push(&handlers, h) && start_thread();
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&rt.lock);
    return good ? HSA_OK : HSA_OUT_OF_RESOURCES;
}
