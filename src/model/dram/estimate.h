/* estimate.h: how long DRAM channels need for a sequence of requests, without simulating commands: for models
 * that need a bandwidth and a latency instead of a DRAM (core.memory: analytic). */
#ifndef MODEL_DRAM_ESTIMATE_H
#define MODEL_DRAM_ESTIMATE_H

#include "lockstep/block.h"

#define ESTIMATE_BANKS_MAX 64

/* A channel, in cycles of the DRAM clock. */
typedef struct dram_service {
    uint32_t latency_cycles;            /* of a lonely read of an open row, from the request to its data */
    uint32_t open_cycles, close_cycles; /* more if the bank is closed; and more still if another row is open */
    uint32_t atom_num, atom_den;        /* the bus needs atom_num / atom_den cycles per atom */
    uint32_t banks, groups;             /* banks 0: rows and banks do not matter */
    uint32_t column_cycles;             /* between columns of one row */
    uint32_t read_row, write_row; /* from one row of a bank to the next, without the columns after the first */
    uint32_t row_cycles;          /* at the least */
    uint32_t activate_cycles;     /* between activates of the channel, on average */
    uint32_t turn_cycles;         /* lost when the bus turns from reads to writes and back */
    uint32_t queue;               /* requests among which the scheduler can choose */
    uint32_t write_buffer;        /* atoms of write-backs that it takes before a request must wait */
    uint32_t hash, bank_bits;     /* of banks, by row */
    bool in_order;                /* no request passes an older one */
} dram_service;

/* From a block of slot dram. LS_ERR_UNSUPPORTED for a model without a description here. */
ls_status dram_get_service(const ls_block *dram, dram_service *out, ls_error *err);

#define ESTIMATE_QUEUE_MAX 512
#define ESTIMATE_NONE UINT16_MAX

/* Requests to one channel in the order of arrival. They wait in a queue, by bank and row; when it is full, the
 * bank that is least advanced in time serves the row that has waited longest, whole. */
typedef struct dram_estimate {
    const dram_service *service;
    uint32_t waiting; /* atoms */
    struct {
        uint32_t row;
        uint16_t atoms, next;
    } rows[ESTIMATE_QUEUE_MAX];
    uint16_t free_row;
    uint16_t oldest[ESTIMATE_BANKS_MAX], newest[ESTIMATE_BANKS_MAX];
    uint32_t open[ESTIMATE_BANKS_MAX]; /* the row that was served last, plus 1 */
    /* Served since the times were last added up. */
    uint64_t bank_cycles[ESTIMATE_BANKS_MAX];
    uint32_t served, activates, reads_in, writes_in;
    uint64_t busy_cycles, atoms; /* of all that were served */
    /* In sequence, as if there were no queue: the latency of a lonely read. */
    uint32_t last_row[ESTIMATE_BANKS_MAX]; /* plus 1 */
    uint64_t reads, closed, conflicts;
} dram_estimate;

void dram_estimate_init(dram_estimate *e, const dram_service *service);
/* `atoms` neighbours of one row. */
void dram_estimate_add(dram_estimate *e, uint32_t number, uint32_t row, uint32_t atoms, bool write);
/* Serves what waits and adds up the times. */
void dram_estimate_flush(dram_estimate *e);

#endif
