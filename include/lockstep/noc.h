/* noc.h: the slot `noc`: the network between the cores (machine `amd`: the clusters of compute units or shader arrays,
 * and the DMA engine) and the memory partitions of a GPU.
 *
 * A model is a block type of slot "noc" whose port table provides "noc" with interface LS_NOC_INTERFACE. The
 * builder of the machine describes its end points and its message classes in a plan. The model creates
 * domains, blocks and links, and returns one link to send on for each class and pair of end points. End points
 * send on these links and receive from links as if they were connected directly. The network itself is not a
 * block: a model's type has neither state nor init. */
#ifndef LOCKSTEP_NOC_H
#define LOCKSTEP_NOC_H

#include "lockstep/block.h"

#define LS_NOC_SLOT "noc"
#define LS_NOC_PORT "noc"
#define LS_NOC_INTERFACE "noc/1"

/* The two sides of a network; messages go from one side to the other. */
typedef enum ls_noc_side { LS_NOC_CORES, LS_NOC_MEMORIES, LS_NOC_SIDES } ls_noc_side;

typedef struct ls_noc_endpoint {
    ls_region *region;
    const char *name; /* for reports */
    uint32_t lanes;   /* messages that it can send or take per cycle; 0 counts as 1 */
    ls_receive_fn receive;
    void *receiver;
} ls_noc_endpoint;

/* Messages of one class go one way and never wait for those of another class inside the network. */
typedef struct ls_noc_class {
    const char *name; /* "request": links are named request3.14, by sender and receiver */
    ls_noc_side from; /* to the other side */
    uint32_t payload_bytes;
    /* The receiver of a message, as an index of the other side, and its bytes on the wires. */
    uint32_t (*destination)(const void *self, const void *payload);
    uint32_t (*wire_bytes)(const void *self, const void *payload);
} ls_noc_class;

#define LS_NOC_CLASSES_MAX 2

typedef struct ls_noc_plan {
    ls_engine *engine;
    const char *prefix; /* of all names: "gpu0." */
    ls_clock clock;     /* of the network */
    const ls_noc_endpoint *side[LS_NOC_SIDES];
    uint32_t count[LS_NOC_SIDES];
    ls_noc_class classes[LS_NOC_CLASSES_MAX];
    uint32_t class_count;
    const void *self;       /* first argument of the classes' functions; it lives as long as the engine */
    uint32_t spare_credits; /* beyond the credits of a round trip, where the platform has no key for it */
} ls_noc_plan;

/* A network without load; by class. */
typedef struct ls_noc_shape {
    uint32_t latency_cycles[LS_NOC_CLASSES_MAX]; /* from sender to receiver; the mean over all pairs */
    uint32_t credits[LS_NOC_CLASSES_MAX]; /* messages that a sender has on the way to one receiver, at most */
    uint32_t receive_max[LS_NOC_CLASSES_MAX]; /* messages that a receiver can get before it releases any */
} ls_noc_shape;

/* The function table that a model's port "noc" provides. `spec` is the model's section of the platform file. */
typedef struct ls_noc_ops {
    /* Creates nothing; it may be called without build(), for a machine whose cores send no messages. Of the end
     * points it reads the numbers and lanes only. */
    ls_status (*describe)(const void *spec, const ls_noc_plan *plan, ls_noc_shape *out, ls_error *err);
    /* links: by class, [sender * receivers + receiver], provided by the caller. Pairs may share a link. */
    ls_status (*build)(const void *spec, const ls_noc_plan *plan, ls_link **const *links, ls_error *err);
} ls_noc_ops;

#endif
