/* command.h: the command processor: takes packets from queues, runs kernels through its dispatchers and
 * copies through the DMA engine, and says when each began and ended. What the runtime sees of a simulated AMD
 * GPU. */
#ifndef MODEL_AMD_COMMAND_H
#define MODEL_AMD_COMMAND_H

#include "model/amd/cluster.h"
#include "model/amd/dma.h"
#include "model/amd/place.h"

#define COMMAND_BLOCK "gpu0.command"

typedef enum command_kind { COMMAND_KERNEL, COMMAND_TRANSFER } command_kind;

/* One command; the client's memory, from its submission until it was taken back. */
typedef struct command_packet {
    struct command_packet *next;
    void *client;      /* untouched */
    uint8_t kind;      /* command_kind */
    uint64_t sequence; /* of submission; the command processor's */
    /* COMMAND_TRANSFER: the transfer. COMMAND_KERNEL: the packet and the arguments, written before the kernel
     * starts. */
    dma_job transfer;
    cu_kernel kernel;
    uint32_t sgprs; /* of a wave, as the descriptor says */
    bool one_half;  /* RDNA: CU mode */
    /* What became of it. */
    ls_time begin, end;
    uint64_t groups, waves; /* that ran */
    cu_tally tally;
    bool has_fault;
    cu_done fault; /* of the first work-group, in the order of the grid, that had one */
    uint32_t groups_per_cu, waves_per_cu;
    place_limit limit; /* of how many work-groups fit on a compute unit at once */
} command_packet;

/* Packets of one queue run one after another; queues run side by side. The client's memory. */
typedef struct command_queue {
    struct command_queue *next;
    command_packet *head, *tail;
    bool is_busy; /* its first packet runs */
} command_queue;

/* All of these while the engine rests. */
void command_add_queue(ls_block *command, command_queue *queue);
void command_remove_queue(ls_block *command, command_queue *queue); /* it must be empty */
/* Refuses a work-group that no compute unit has room for. */
ls_status command_submit(ls_block *command, command_queue *queue, command_packet *packet, ls_error *err);
/* The packet that ended first of those that nobody has taken yet; NULL: none. */
command_packet *command_take(ls_block *command);
/* Between runs: whether kernels have begun that have not ended, or that nobody has taken, and when the first
 * did. */
bool command_unfinished(const ls_block *command, ls_time *begin);
/* How many work-groups of a kernel can be resident at once: each has its own scratch place below that. */
uint64_t command_places(const ls_block *command, const command_packet *packet);

typedef struct command_wires {
    cu_capacity capacity; /* of each compute unit */
    uint32_t clusters, cus_per_cluster;
    ls_link *const *orders; /* per cluster: cluster_order */
    ls_block *dma;
    bool flush;    /* caches above L2 write back: a kernel's end flushes them */
    void *machine; /* the builder's: command_machine() gives it back */
} command_wires;
ls_status command_attach(ls_block *command, const command_wires *wires, ls_error *err);
void *command_machine(ls_block *command);
void command_receive_done(void *state, ls_link *link, const void *payload, ls_cycle now); /* cu_done */
void command_receive_ack(void *state, ls_link *link, const void *payload, ls_cycle now);  /* cluster_ack */

#endif
