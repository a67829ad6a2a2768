/* bank.h: the command-level DRAM channel (model `bank`), shared by the bank*.c files only.
 *
 *   bank_setup.c    keys of the platform file -> numbers; the block
 *   bank_queue.c    requests that wait for their bank: FCFS, FR-FCFS with or without a cap, or as a plug-in says
 *   bank_command.c  the banks and the command bus: which command leaves in which cycle
 *   bank_refresh.c  its refreshes
 *   bank_wheel.h    its banks that wait for their time
 *   bank.c          the data pipe, answers, when to look and to wake; arrivals
 *
 * A request passes the front (a fixed delay), the queue and the slot of its bank (one request per bank is
 * being served). Then come its commands, the data pipe (cl or wl cycles), and for a read the return queue.
 *
 * The command side is lazy: bank_advance() runs its cycles up to the present only when the outcome can be
 * visible. That is when data of a command could have come out, or when a caller checks for room. It jumps from
 * one cycle with a command to the next. Every rule is a time from which on something is allowed, so its
 * decisions are the same as with every cycle. Columns of one request that nothing can come between are decided at once. */
#ifndef MODEL_DRAM_BANK_H
#define MODEL_DRAM_BANK_H

#include "base/list.h"
#include "model/dram/dram.h"
#include "model/dram/timing.h"
#include "model/policy/policy.h"

#define BANK_NONE UINT32_MAX
#define BANK_GROUPS_MAX 16
#define BANK_WHEEL 64 /* cycles */
#define BANK_PARTS_MAX 8

/* The next command of a busy bank. */
enum { BANK_READ, BANK_WRITE, BANK_ACTIVATE, BANK_PRECHARGE, BANK_WANTS };
/* From BANK_SCHEDULERS on: types of slot "dram.scheduler", in the order of the registry. */
enum { BANK_FRFCFS, BANK_FRFCFS_CAP, BANK_FCFS, BANK_SCHEDULERS };
enum { BANK_BUS_SINGLE, BANK_BUS_DUAL, BANK_BUS_ACCELSIM };
enum { BANK_GROUP_LOW, BANK_GROUP_HIGH };
enum { BANK_REFRESH_ALL, BANK_REFRESH_ONE };
enum { BANK_HASH_NONE, BANK_HASH_XOR, BANK_HASH_IPOLY }; /* as place_hash_names */

typedef struct bank_spec {
    uint32_t timing; /* index into dram_timing_names */
    uint32_t scheduler, command_bus, group_bits, hash;
    bool refresh, turnaround;
    uint32_t refresh_banks; /* BANK_REFRESH_ */
    uint64_t queue_entries, write_queue_entries, write_high, write_low;
    uint64_t return_entries, request_limit, scheduler_cap;
    uint64_t front_latency_cycles;
    ls_ratio front_clock; /* 0: the DRAM clock */
    dram_timing keys;     /* 0: as the timing set says */
} bank_spec;

/* Cycles between commands, ready to be added to the cycle of the first one. */
typedef struct bank_times {
    uint32_t burst; /* data on the bus */
    uint32_t ccd, ccdl, rrd, rrdl, rcd, rcdwr, ras, rp, rc, cl, wl, rtpl, faw, refi, rfc, rfcb;
    uint32_t rtw;       /* read to write command */
    uint32_t wtr, wtrl; /* write to read command; in one bank group */
    uint32_t wtp;       /* write to precharge */
} bank_times;

/* Waiting or being served. Links are indices of requests, BANK_NONE at the end. Reads that were pushed together are
 * the parts of one request. Each part joins the queue, is served, and counts for itself, in their order. Only the
 * answer is one, with the last of them. */
typedef struct bank_request {
    ls_cycle pushed, enter; /* enter: the first cycle in which its first part in front may join the queue */
    uint32_t row, token;
    uint32_t next;         /* newer one of the same row; in the free list the next one */
    uint32_t last;         /* newest of its row, valid in the oldest */
    uint32_t older, newer; /* neighbouring rows of the bank, valid in the oldest of a row */
    uint8_t bank, atoms;   /* atoms: still to move, of the part that is being served */
    bool write;
    uint8_t parts;
    uint8_t in_front, waiting, unsent; /* parts in front, in the queue, and without their last command */
    uint8_t steps[BANK_PARTS_MAX - 1]; /* cycles from the enter of a part to that of the next one */
    uint16_t span;                     /* the steps of the parts in front, together */
    uint8_t unused[8];                 /* the size is a power of two */
} bank_request;

/* Waiting requests of one bank, by row. The row that is being served stands apart: it is served until it is
 * empty. */
typedef struct bank_rows {
    uint32_t first, last, row; /* of the row being served; first is BANK_NONE if there is none */
    uint32_t served;           /* of it, while others waited */
    index_order order;         /* the other rows, by the age of their oldest request */
} bank_rows;

typedef struct bank {
    ls_cycle at[BANK_WANTS]; /* from when on it may send, as far as it is itself concerned */
    ls_cycle look;           /* while in the wheel: when to look at it again */
    uint64_t bit;            /* in the masks of the channel */
    uint32_t row;            /* open, or the last that was */
    uint32_t request;        /* being served, while busy */
    uint32_t want;           /* its next command, while busy */
    uint32_t number, group;
    bank_rows rows[2]; /* [1]: writes, if they wait apart */
    bool open;
    uint8_t unused[11]; /* the size is a power of two */
} bank;

typedef struct bank_group {
    ls_cycle at[BANK_WANTS];
} bank_group;

/* On its way through the data pipe, or a read in the return queue. */
typedef struct bank_data {
    ls_cycle due, pushed; /* due: in cycles of the pipe, which stands still while the return queue is full */
    uint32_t token;
    bool write;
    bool more; /* the answer comes with a later part */
} bank_data;

typedef struct bank_channel {
    /* The command side. Masks have a bit per bank. Invariants: a busy bank is in the mask ripe[want] or in
     * one slot of the wheel; no other bank is in any of them. */
    ls_cycle next; /* the next cycle with something to do; LS_CYCLE_MAX: none */
    uint64_t busy; /* banks with a request */
    uint64_t ripe[BANK_WANTS];
    ls_cycle at[BANK_WANTS]; /* from when on the channel lets a command through, as in groups and banks */
    ls_cycle refresh_due;
    uint32_t refresh_step; /* one by one: cycles from one bank to the next; 0: all at once */
    uint32_t refresh_bank; /* the next of them */
    uint64_t wheel_bits;   /* bit i: wheel[i] != 0 */
    uint64_t queued[2];    /* banks with waiting requests; [1]: writes, if they wait apart */
    uint32_t waiting[2], limit[2];
    uint32_t write_high, write_low;
    ls_cycle front_at; /* when the first in front may join the queue; LS_CYCLE_MAX: none there, or no room */
    ls_cycle taken;    /* the last cycle in which a bank may have taken a request */
    uint32_t turn, bank_mask; /* turn: the bank that comes first */
    bool apart, draining;     /* writes wait apart; and are being worked off */
    uint32_t bus, cap;        /* cap: of requests from one row; UINT32_MAX: none */
    bool in_order;            /* not by rows: FCFS, or a plug-in's scheduler */
    index_list arrived[2];    /* of these: in the order of arrival; [1]: writes, if they wait apart */
    uint32_t activate_turn;
    ls_cycle faw_at[4]; /* when the window of each of the last four activates ends */
    ls_cycle pipe_last; /* due of the last data that entered the pipe */
    uint64_t pipe_held; /* cycles in which the pipe stood still */
    uint32_t pipe_depth;
    bank_times times;
    bank *banks;
    bank_request *requests;
    uint32_t *front; /* ring of requests */
    uint32_t front_head, front_tail, ring_mask;
    uint32_t front_seen; /* those before it may have joined until look_at; */
    uint32_t seen_parts; /* parts of these, still in front */
    index_pool request_pool;
    uint32_t writes_coming; /* requests to write whose last command has not been sent */
    bank_data *pipe;        /* ring */
    uint32_t pipe_head, pipe_tail;
    ls_dram_counters n;
    bank_group groups[BANK_GROUPS_MAX];
    uint64_t wheel[BANK_WHEEL]; /* banks to look at in that cycle, modulo BANK_WHEEL */

    /* The block. */
    ls_port reply;
    ls_region *region;
    const ls_tap *tap;
    ls_domain *domain;
    ls_event wake; /* at the next cycle in which the outside sees something */
    bool awake;
    uint32_t look_head; /* what was in the pipe at the last look begins here */
    ls_cycle look_at;   /* of the first look since then, which may have been skipped; LS_CYCLE_MAX: none */
    uint32_t lag[2];    /* cycles until a command can be seen from outside: a read's; a write's, if less */
    uint32_t count, capacity; /* requests inside */
    ls_cycle active_since;    /* active_cycles are counted up to here */
    bank_data *returns;       /* ring */
    uint32_t return_head, return_tail, return_mask, return_limit;
    ls_cycle front_stamp, front_last; /* of the last request: when it came, when it may join the queue */
    uint64_t front_phase;             /* front_stamp modulo front_period */
    uint64_t front_latency;
    ls_ratio front_ratio;   /* front clock / DRAM clock */
    uint64_t front_period;  /* DRAM cycles after which both clocks stand as before */
    uint32_t *front_delays; /* cycles until a request may join the queue, by its phase; 0: not
                             * known yet; NULL: the period is too long */
    uint32_t parts_max;     /* of a request */
    bool plain;             /* FR-FCFS without a queue for writes, and a bus each for rows and columns */
    bool runs;              /* and the columns of a request may be sent in one go */
    uint32_t hash, bank_bits;
    const bank_spec *spec;
    const char *name;

    /* A plug-in's scheduler. */
    const ls_dram_scheduler_ops *scheduler; /* NULL: none */
    const char *failure;                    /* for ls_domain_fail(): it chose a request that is not there */
    ls_dram_waiting *waiting_view;
    uint32_t *waiting_numbers; /* of the requests in waiting_view */
    uint8_t *scheduler_state;
    size_t scheduler_bytes;
} bank_channel;

/* bank_queue.c */
/* A request joins it, or a part of it: the first one of those that wait, and the others stay with it. */
void bank_queue_add(bank_channel *c, uint32_t kind, uint32_t request);
static inline void bank_queue_count(bank_channel *c, uint32_t kind, uint32_t parts)
{
    c->waiting[kind] += parts;
    if (c->waiting[0] + c->waiting[1] > c->n.queue_peak)
        c->n.queue_peak = c->waiting[0] + c->waiting[1];
}
/* The first request of the row that the bank serves, or parts of it, leave. */
static inline uint32_t bank_queue_take_first(bank_channel *c, uint32_t kind, bank *b, uint32_t parts)
{
    bank_rows *rows = &b->rows[kind];
    uint32_t request = rows->first;
    c->requests[request].waiting = (uint8_t)(c->requests[request].waiting - parts);
    if (c->requests[request].waiting == 0) {
        rows->first = c->requests[request].next;
        if (rows->first == BANK_NONE && rows->order.oldest == BANK_NONE)
            c->queued[kind] &= ~b->bit;
    }
    return request;
}
/* The next request of a bank that has one; it, or a part of it, leaves the queue. A plug-in's scheduler may choose one of
 * another free bank. `t`: the present cycle. */
uint32_t bank_queue_take_any(bank_channel *c, uint32_t kind, bank *b, ls_cycle t);
/* The same. Mostly the bank goes on with a row. */
static inline uint32_t bank_queue_take(bank_channel *c, uint32_t kind, bank *b, ls_cycle t)
{
    bank_rows *rows = &b->rows[kind];
    if (kind != 0 || rows->first == BANK_NONE || rows->served >= c->cap)
        return bank_queue_take_any(c, kind, b, t);
    c->waiting[0]--;
    rows->served += rows->order.oldest != BANK_NONE;
    return bank_queue_take_first(c, 0, b, 1);
}
/* Parts of the request that the bank takes next, without a cap. */
static inline void bank_queue_take_parts(bank_channel *c, bank *b, uint32_t parts, ls_cycle t)
{
    bank_rows *rows = &b->rows[0];
    if (rows->first == BANK_NONE) {
        bank_queue_take_any(c, 0, b, t);
        parts--;
    }
    if (parts == 0)
        return;
    c->waiting[0] -= parts;
    rows->served += rows->order.oldest != BANK_NONE ? parts : 0;
    bank_queue_take_first(c, 0, b, parts);
}
/* The plug-in's scheduler that the spec names. */
ls_status bank_queue_init(bank_channel *c, ls_error *err);

/* bank_refresh.c */
/* What is due by cycle t; something is. */
void bank_refresh(bank_channel *c, ls_cycle t);

/* bank.c */
extern const ls_dram_ops bank_ops;
void bank_wake(void *self, ls_cycle now);
void bank_settle(void *self, ls_cycle end);

/* bank_command.c */
/* Runs all command cycles up to and including `to`. */
void bank_run(bank_channel *c, ls_cycle to);
static inline void bank_advance(bank_channel *c, ls_cycle to)
{
    if (c->next <= to)
        bank_run(c, to);
}
/* Lets the requests that have passed the front by cycle t join the queue. */
void bank_join(bank_channel *c, ls_cycle t);

#endif
