/* hostcall.c: kernels that call the host while they run, in simulated time. A kernel puts its call into memory that it
 * shares with the host, changes a signal, sends a message (s_sendmsg) and waits for the answer. A thread of HIP looks at the
 * signal all the time. Here the simulation stands still between two windows until that thread has answered, so the call
 * takes no simulated time, and the answer comes at the same simulated time in every run. In emulation both sides use the
 * same bytes, and nothing of this is needed. */
#include "hsa/rt.h"

#include "isa/amd/exec/salu.h"
#include "runtime/timing/timing.h"

#include <time.h>

#define PATIENCE_NS UINT64_C(10000000000)
#define WINDOWS_MAX 100000u /* after a message, in which the change of a signal must come */
#define WATCHED_MAX 16

/* Signals that threads of the program look at: the value from which the last look waits for a change. */
static struct {
    pthread_mutex_t lock;
    struct {
        uint64_t signal;
        int64_t than;
    } at[WATCHED_MAX];
    size_t count;
} watched = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t seen; /* messages */
static uint32_t windows_left;

void rt_hostcalls_watched(hsa_signal_t signal, int64_t than)
{
    size_t i = 0;
    if (!rt.is_timed)
        return;
    pthread_mutex_lock(&watched.lock);
    while (i < watched.count && watched.at[i].signal != signal.handle)
        i++;
    if (i < WATCHED_MAX) {
        watched.at[i].signal = signal.handle;
        watched.at[i].than = than;
        watched.count = i < watched.count ? watched.count : i + 1;
    }
    pthread_mutex_unlock(&watched.lock);
}

/* The thread that looks at the signal has come back to wait for a change from the present value: it has answered. */
static bool is_answered(uint64_t signal, int64_t value)
{
    bool answered = true;
    pthread_mutex_lock(&watched.lock);
    for (size_t i = 0; i < watched.count; i++)
        if (watched.at[i].signal == signal)
            answered = watched.at[i].than == value;
    pthread_mutex_unlock(&watched.lock);
    return answered;
}

/* A watched signal that a kernel has changed in its memory; 0: none. */
static uint64_t find_changed(ls_error *err)
{
    for (size_t i = 0; i < WATCHED_MAX; i++) {
        amd_signal now;
        pthread_mutex_lock(&watched.lock);
        const uint64_t signal = i < watched.count ? watched.at[i].signal : 0;
        pthread_mutex_unlock(&watched.lock);
        if (signal == 0)
            return 0;
        if (timing_look_between(client.system, &now, signal, sizeof now, err) != LS_OK)
            continue; /* it was destroyed with its memory */
        if (now.value != rt_signal((hsa_signal_t){ signal })->value)
            return signal;
    }
    return 0;
}

static ls_status answer(uint64_t signal, ls_error *err)
{
    const uint64_t until = rt_host_ns() + PATIENCE_NS;
    const struct timespec nap = { .tv_nsec = 20000 };
    rt_mirror_between(true, signal);
    const int64_t value = rt_signal_value((hsa_signal_t){ signal });
    while (!is_answered(signal, value)) {
        if (rt_host_ns() > until)
            return ls_fail(err, LS_ERR_INTERRUPTED,
                           "a kernel called the host, which did not answer in 10 seconds");
        nanosleep(&nap, NULL);
    }
    rt_mirror_between(false, signal);
    return LS_OK;
}

/* Between two windows, on the thread that steps; no other thread changes the list of ranges meanwhile, or it is waited for. */
static ls_status between(void *self, ls_error *err)
{
    const uint64_t messages = atomic_load_explicit(&amd_message_count, memory_order_relaxed);
    (void)self;
    if (messages == seen && windows_left == 0)
        return LS_OK;
    if (messages != seen)
        windows_left = WINDOWS_MAX;
    seen = messages;
    windows_left--;
    if (pthread_mutex_trylock(&rt.lock) != 0) {
        windows_left = WINDOWS_MAX; /* in the next window */
        return LS_OK;
    }
    const uint64_t signal = find_changed(err);
    ls_status status = LS_OK;
    if (signal != 0) {
        windows_left = WINDOWS_MAX; /* there may be more */
        status = answer(signal, err);
    }
    pthread_mutex_unlock(&rt.lock);
    return status;
}

void rt_hostcalls_begin(void)
{
    ls_run_options options = timing_options(client.system);
    options.between = between;
    timing_set_options(client.system, &options);
}
