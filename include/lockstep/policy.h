/* policy.h: policies that a plug-in can bring to caches of both vendors.
 *
 * A replacement policy is a block type of slot "replacement" whose one port has the table below. A cache uses it
 * when its key `replacement` has the type's name: `l2.replacement: my-policy`. No block is created: the cache
 * holds the state of its sets and calls the table. Built-in policies are called directly. */
#ifndef LOCKSTEP_POLICY_H
#define LOCKSTEP_POLICY_H

#include "lockstep/block.h"

#define LS_REPLACEMENT_SLOT "replacement"
#define LS_REPLACEMENT_PORT "replacement"
#define LS_REPLACEMENT_INTERFACE "replacement/1"

/* `set`: the state of one set, of set_bytes() bytes, zero at first and again when the cache is emptied. Ways are
 * numbered from 0. All four functions are required. */
typedef struct ls_replacement_ops {
    size_t (*set_bytes)(uint32_t ways);                     /* at least 1, at most LS_REPLACEMENT_BYTES_MAX */
    void (*insert)(void *set, uint32_t ways, uint32_t way); /* a new line stands in this way */
    void (*use)(void *set, uint32_t ways, uint32_t way);    /* a request found its line there */
    /* The way whose line goes: one whose bit in allowed[way / 64] is set; at least one is. Called for full sets.
     * Any other answer ends the run with an error. */
    uint32_t (*victim)(void *set, uint32_t ways, const uint64_t *allowed);
} ls_replacement_ops;

#define LS_REPLACEMENT_BYTES_MAX 65536u

#endif
