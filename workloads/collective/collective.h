/* collective.h: arrays of ranks, and moves of their parts, for the collectives. Each rank has two arrays: data, and
 * received, with room for a whole part of each rank. Rank k has GPU k modulo the GPUs. */
#ifndef WORKLOADS_COLLECTIVE_H
#define WORKLOADS_COLLECTIVE_H

#include "workloads/workload.h"

#define COLLECTIVE_RANKS_MAX 64u

/* How bytes get from one GPU to another. */
typedef enum collective_via {
    COLLECTIVE_STORE, /* a kernel of the sender writes to the receiver's memory */
    COLLECTIVE_LOAD,  /* a kernel of the receiver reads the sender's memory */
    COLLECTIVE_COPY   /* the copy engine of the receiver */
} collective_via;
extern const char *const collective_via_names[]; /* "store", "load", "copy", NULL */
extern const wl_value_names collective_names[];  /* of the options that all of them have */

/* clang-format off */
#define COLLECTIVE_OPTIONS                                                                                              \
    { "size", 262144, 1, 1u << 30, "bytes of the array of each rank, rounded up to words of 4" },                       \
    { "via", 0, 0, 2, "0 store: the sender's kernel writes; 1 load: the receiver's reads; 2 copy: copy engine" },       \
    { "ranks", 0, 0, COLLECTIVE_RANKS_MAX, "arrays that take part, on the GPUs in turn; 0: one on each" },              \
    { "groups", 64, 1, 4096, "most work-groups of a launch, 256 work-items each" }
/* clang-format on */

typedef enum collective_array { COLLECTIVE_DATA, COLLECTIVE_RECEIVED, COLLECTIVE_ARRAYS } collective_array;

typedef struct collective {
    wl_run *r;
    collective_via via;
    uint32_t groups;       /* most of a launch */
    uint32_t ranks, words; /* words of an array */
    uint32_t part_words;   /* of a part, one for each rank: whole lines */
    ls_gpu_address array[COLLECTIVE_ARRAYS][COLLECTIVE_RANKS_MAX]; /* where each rank has it */
    uint32_t *input;                                               /* of all ranks, one after another */
    wl_event last[COLLECTIVE_RANKS_MAX]; /* of each rank: the event of its latest move */
} collective;

/* A stretch of an array of a rank, in words. */
typedef struct collective_place {
    uint32_t rank;
    collective_array array;
    uint32_t at, count;
} collective_place;

/* Fails if kernels cannot use memory of other GPUs. */
void collective_check_reach(wl_run *r, const char *advice);
/* Arrays with random words in data; received is 0. Time is measured from here on. */
void collective_open(collective *c, wl_run *r);
/* Part p of an array. Parts at the end of data may be short or empty; those of received have all their room. */
collective_place collective_part(const collective *c, uint32_t rank, collective_array array, uint32_t p);
uint32_t collective_gpu(const collective *c, uint32_t rank);
uint32_t collective_words(const collective *c, collective_array array);

/* Moves words between ranks, in the way of `via`; from says how many. Returns the event of the command. */
wl_event collective_move(collective *c, collective_place to, collective_place from);
/* to = from + with, by a kernel of the rank; from says how many words. */
wl_event collective_add(collective *c, uint32_t rank, collective_place to, collective_place from,
                        collective_place with);
/* The rank's data += its received words, and the sum is also written to `to`. */
wl_event collective_add_send(collective *c, collective_place to, collective_place own);
/* Later commands of a rank wait for the event. */
void collective_wait(collective *c, uint32_t rank, wl_event event);

/* Ring steps: the reducing half leaves the sum of part k in the data of rank k; the gathering half brings part k of rank
 * k to all. unsummed (COLLECTIVE_STORE): the sum of the own part is still due. */
void collective_ring_reduce(collective *c);
void collective_ring_gather(collective *c, bool unsummed);

/* Time and bytes become a part of the result. */
void collective_report(collective *c, double factor);
/* An array of a rank, from its GPU; NULL if the run has failed. */
uint32_t *collective_fetch(collective *c, uint32_t rank, collective_array array);
/* Sums of all ranks. */
uint32_t *collective_sums(const collective *c);
/* Compares a stretch of an array of a rank with the same stretch of `want`. */
bool collective_expect(collective *c, const char *name, const uint32_t *got, const uint32_t *want,
                       collective_place place);

#endif
