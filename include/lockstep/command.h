/* command.h: the command processor of machine `amd`: It takes packets from its queue, sends work-groups of
 * kernels to compute units and transfers to the DMA engine, and records when each packet began and ended.
 *
 * A model is a block of slot "command" that provides the port "command" of this interface. Links join it to
 * every cluster of compute units: orders go, ends of work-groups and acknowledgements come. The runtime
 * submits packets between runs. docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_COMMAND_H
#define LOCKSTEP_COMMAND_H

#include "lockstep/cu.h"
#include "lockstep/dma.h"

#define LS_COMMAND_SLOT "command"
#define LS_COMMAND_PORT "command"
#define LS_COMMAND_INTERFACE "command/3"

/* ----------------------------------------------------------------------------------- to and from clusters */

typedef enum ls_cluster_kind {
    LS_CLUSTER_LAUNCH,     /* a work-group for the compute unit launch.cu */
    LS_CLUSTER_CANCEL,     /* ends the work-groups of launch.kernel */
    LS_CLUSTER_INVALIDATE, /* empties the caches of the cluster; answered with an ls_cluster_ack */
    LS_CLUSTER_FLUSH,      /* writes dirty lines back to L2; answered with an ls_cluster_ack */
    LS_CLUSTER_OPEN,       /* opens the barrier of the grid of launch.kernel */
} ls_cluster_kind;

typedef struct ls_cluster_order {
    uint32_t kind, tag; /* tag: comes back in the answer */
    ls_cu_launch launch;
} ls_cluster_order;

typedef struct ls_cluster_ack {
    uint32_t cluster, tag;
} ls_cluster_ack;

/* ---------------------------------------------------------------------------------------------- packets */

typedef enum ls_packet_kind { LS_PACKET_KERNEL, LS_PACKET_TRANSFER } ls_packet_kind;

/* Looks at the work-groups of a launch, from the command processor's domain. Compute units are numbered as the command
 * processor places them; a slot is a work-group's place on one. A model need not call it: then nothing is left out. */
typedef struct ls_packet_watch {
    void *self;
    void (*sent)(void *self, uint32_t cu, uint32_t slot, ls_cycle now);
    void (*ended)(void *self, uint32_t cu, uint32_t slot, ls_cycle now);
    /* Before a work-group is sent, with the number of those before it: how many are left out here. */
    uint64_t (*skip)(void *self, uint64_t sent);
} ls_packet_watch;

/* One command; the client's memory, from its submission until it was taken back. */
typedef struct ls_command_packet {
    struct ls_command_packet *next; /* the command processor's, as has_begun is */
    void *client;                   /* untouched */
    uint8_t kind;                   /* ls_packet_kind */
    bool barrier;                   /* all packets before it end first; those after it begin later */
    bool has_begun;
    /* LS_PACKET_TRANSFER: the transfer. LS_PACKET_KERNEL: the packet and the arguments, written before the
     * kernel starts; none if it has no bytes. */
    ls_dma_job transfer;
    ls_cu_kernel kernel;
    uint32_t sgprs; /* of a wave, as the descriptor says */
    bool one_half;  /* RDNA: CU mode */
    /* Not 0: every GPU has a packet of this launch, with this number, which no other has while they run. The first GPU
     * places its work-groups on the compute units of all of them. */
    uint32_t shared;
    /* Filled by the command processor. */
    ls_time begin, end;
    uint64_t groups, waves; /* that ran */
    ls_cu_tally tally;
    bool has_fault;
    ls_cu_done fault; /* of the first work-group, in the order of the grid, that had one */
    uint32_t groups_per_cu, waves_per_cu;
    const char *limit;            /* of how many work-groups fit on a compute unit at once: "vgprs" */
    uint64_t number;              /* of a transfer: among those of its command processor */
    const ls_packet_watch *watch; /* the client's, of a kernel; NULL: none */
    /* Compute units that may have its work-groups, numbered as the command processor places them; cu_count 0: all. Only for
     * models with together(). */
    uint32_t first_cu, cu_count;
} ls_command_packet;

/* ------------------------------------------------------------------------------------------------- wiring */

typedef struct ls_command_wiring {
    ls_cu_capacity capacity; /* of each compute unit */
    uint32_t clusters, cus_per_cluster;
    ls_link *const *orders; /* per cluster: sends ls_cluster_order; the array outlives the block */
    ls_port dma;            /* an ls_dma_ops */
    ls_cu_kernels *kernels; /* launches by number, for the orders; outlives the block */
    bool flush;             /* caches above L2 write back: a kernel's end flushes them */
    uint32_t
        dies; /* not 0: so many XCDs; cluster i belongs to number i % dies, whose L2 the flush is for too */
} ls_command_wiring;

/* Provided port. */
typedef struct ls_command_ops {
    /* Before the run. */
    ls_status (*attach)(void *self, const ls_command_wiring *wiring, ls_error *err);
    /* An ls_cu_done and an ls_cluster_ack: each releases its link's buffer entry. */
    void (*receive_done)(void *self, ls_link *link, const void *payload, ls_cycle now);
    void (*receive_ack)(void *self, ls_link *link, const void *payload, ls_cycle now);
    /* All others between runs. */
    /* Puts the packet at the end of the queue; it runs beside those before it. Refuses a work-group that no compute unit
     * has room for. */
    ls_status (*submit)(void *self, ls_command_packet *packet, ls_error *err);
    /* The packet that ended first of those not taken yet; NULL: none. The end of a packet stops the run
     * (ls_domain_stop). */
    ls_command_packet *(*take)(void *self);
    /* Whether kernels have begun that were not taken yet, and when the first of them did (else LS_TIME_MAX). */
    bool (*unfinished)(const void *self, ls_time *begin);
    /* How many work-groups of a kernel can be resident at once: ls_cu_launch.scratch_place is below. */
    uint64_t (*places)(const void *self, const ls_command_packet *packet);
    /* The same for a cooperative launch, whose work-groups must be there at once. NULL: the model cannot open the barrier
     * of a grid, and cooperative launches are refused. */
    uint64_t (*together)(const void *self, const ls_command_packet *packet);
} ls_command_ops;

/* ---------------------------------------------------------------------------------------- for every model */

/* The queue, and packets that have ended. A model whose state begins with one can put take and unfinished of the table
 * to the functions below. */
typedef struct ls_packets {
    ls_region *region;
    ls_command_packet *head, *tail; /* that have not ended, in the order of submission */
    ls_command_packet *done_head, *done_tail;
    /* Something is always due one lookahead after the end of a packet. So a run that ends there ends at the same time
     * however long windows are. */
    ls_event rest;
    uint64_t rest_cycles; /* 0: not known yet */
} ls_packets;

LS_API void ls_packets_init(ls_packets *packets, ls_region *region);
LS_API ls_command_packet *ls_packets_take(void *packets);
LS_API bool ls_packets_unfinished(const void *packets, ls_time *begin);
/* Puts a packet at the end of the queue. */
LS_API void ls_packets_submit(ls_packets *packets, ls_command_packet *packet);
/* Begins the first packet of the queue that may, and says when; NULL: none. kernels: false passes over kernels. */
LS_API ls_command_packet *ls_packets_begin(ls_packets *packets, bool kernels);
/* A packet that has begun has ended: take() gives it back. Stops the run. */
LS_API void ls_packets_end(ls_packets *packets, ls_command_packet *packet);
/* Before submission: says how many work-groups of the kernel fit on a compute unit and which resource limits them, or
 * refuses a kernel of which none fits. A transfer always fits. */
LS_API ls_status ls_packet_fit(ls_command_packet *packet, const ls_cu_capacity *capacity, ls_error *err);
/* The next work-group in the order of the grid (number packet->groups, which it counts): id and waves, which go to
 * SIMDs in turn. All else is 0, also the kernel: row 0 of ls_cu_kernels. */
LS_API void ls_packet_launch(ls_command_packet *packet, const ls_cu_capacity *capacity, ls_cu_launch *launch);
/* Adds the end of a work-group to its packet: counts, and the fault that comes first in the order of the grid. */
LS_API void ls_packet_add_done(ls_command_packet *packet, const ls_cu_done *done);

#endif
