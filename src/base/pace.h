/* pace.h: decides when a thread gives its CPU to other programs by itself.
 *
 * A busy host takes the CPU away from a thread when its time slice is over, in the middle of a piece of work that all
 * other threads wait for. A thread that gives the CPU away a little earlier, between two pieces, keeps nobody waiting.
 * How long the host leaves a thread alone is learned: a slice that was interrupted was too long. The logic has no
 * clock of its own: the caller brings the time and the number of interruptions. No result depends on it. */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_SLICE_LEAST_NS UINT64_C(500000)
#define PACE_SLICE_MOST_NS UINT64_C(3000000)
#define PACE_GAVE_NS UINT64_C(500000) /* a CPU that was away for so long was used by another program */

typedef struct pace {
    uint64_t began_ns; /* of the slice: the thread has had the CPU since then, as far as it knows */
    uint64_t slice_ns; /* its length */
    uint64_t switches; /* host_switches() at the beginning of the slice */
    bool is_crowded;   /* another program wants this CPU */
} pace;

void pace_init(pace *p, uint64_t now_ns, uint64_t switches);
/* A slice is over. True: give the CPU away now, and call pace_begin() after that. */
bool pace_end(pace *p, uint64_t now_ns, uint64_t switches);
/* The thread has the CPU again, after it gave it away for gave_ns. */
void pace_begin(pace *p, uint64_t now_ns, uint64_t gave_ns, uint64_t switches);
/* The same after it waited for work. */
void pace_wait(pace *p, uint64_t now_ns, uint64_t switches);

static inline bool pace_is_over(const pace *p, uint64_t now_ns)
{
    return now_ns - p->began_ns >= p->slice_ns;
}

#endif
