/* ending.c: the end of the process: submitted commands still run for a while, so that their output and counts
 * are not lost. After that no command begins. The program's own objects may be gone by now, so its functions
 * are not called and only memory that certainly exists is touched. */
#include "opencl/ending.h"

#include "opencl/ocl.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_SECONDS 10 /* for all that is queued, and then for a kernel that runs */

/* The stack of the thread that ends the process: main may have returned. */
static uintptr_t stack_start, stack_end;

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *start;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &start, &bytes) == 0) {
        stack_start = (uintptr_t)start;
        stack_end = stack_start + bytes;
    }
    pthread_attr_destroy(&attributes);
}

bool ocl_host_is_gone(const void *host, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)host;
    unsigned char resident[64];
    if (!ocl.is_ending || bytes == 0)
        return false;
    if (at < stack_end && at + bytes > stack_start)
        return true;
    for (uintptr_t p = at / page * page; p < at + bytes; p += page * sizeof resident) {
        uintptr_t length = at + bytes - p;
        if (length > page * sizeof resident)
            length = page * sizeof resident;
        if (mincore((void *)p, length, resident) != 0) /* something of it is not mapped */
            return true;
    }
    return false;
}

/* True if another thread executes commands. With ocl.lock held. */
static bool is_busy_elsewhere(void)
{
    for (cl_uint i = 0; i < ocl.device_count; i++)
        if (ocl.devices[i].is_executing && !pthread_equal(ocl.devices[i].executor, pthread_self()))
            return true;
    return false;
}

static bool is_past(const struct timespec *until)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

static bool wait_until(const struct timespec *until)
{
    int code;
    ocl.waiters++;
    code = pthread_cond_timedwait(&ocl.done, &ocl.lock, until);
    ocl.waiters--;
    return code == 0;
}

/* Executes every command that can run. A command cannot run if it waits for an event that will never be
 * set. */
static void drain(const struct timespec *until)
{
    for (;;) {
        bool stepped = false;
        for (cl_uint i = 0; i < ocl.device_count; i++)
            stepped |= !is_past(until) && ocl_step(&ocl.devices[i]);
        if (!stepped && (!is_busy_elsewhere() || !wait_until(until)))
            return;
    }
}

static struct timespec patience(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    return until;
}

bool ocl_stop(void)
{
    struct timespec until = patience();
    bool is_idle = true;
    find_stack();
    pthread_mutex_lock(&ocl.lock);
    ocl.is_ending = true;
    drain(&until);
    ocl.is_stopping = true; /* a waiter is released when its command can no longer run */
    pthread_cond_broadcast(&ocl.done);
    until = patience();
    while (is_idle && is_busy_elsewhere())
        is_idle = wait_until(&until);
    pthread_mutex_unlock(&ocl.lock);
    return is_idle;
}
