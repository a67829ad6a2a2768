/* partition_impl.h: the state of the L2 slices of a channel, and what partition*.c offer each other. Nothing else includes it. */
#ifndef MODEL_PARTITION_IMPL_H
#define MODEL_PARTITION_IMPL_H

#include "model/memory/partition.h"

#include "base/list.h"
#include "base/ring.h"
#include "lockstep/l2.h"
#include "lockstep/state.h"
#include "model/cache/sector_cache_state.h"
#include "model/dram/dram.h"
#include "model/memory/mem.h"

/* How long a message keeps the parts of a slice busy. */
typedef struct line_cost {
    uint16_t port_cycles,
        port_rest; /* cycles of the way out, and hundredths; of one sector 0 if only the width counts */
    uint16_t sectors;
    uint16_t cycles; /* of the tags and the fills, if it is for several sectors */
} line_cost;

#define SLICES_MAX 4
#define SECTORS_OF_LINE (SECTOR_CACHE_LINE_BYTES / SECTOR_BYTES)

typedef struct partition_counters {
    uint64_t requests, replies;
    uint64_t input_stalls;    /* cycles in which an aged request found the input queue full */
    uint64_t output_stalls;   /* cycles in which an answer could not enter the network */
    uint64_t dram_stalls;     /* cycles in which a miss could not go to DRAM */
    uint64_t coalesced;       /* reads that were answered with another one */
    uint64_t coalesce_stalls; /* requests that waited for an entry of the coalescer */
    uint64_t far_reads;       /* sectors that the other half of L2 was asked for */
    uint64_t far_others;      /* other accesses that were passed to it */
    uint64_t far_drops;       /* copies that the other half was told to forget */
    uint64_t parked;          /* reads that waited for the value of a semaphore */
    sector_cache_counters l2;
} partition_counters;

typedef struct pending_request {
    ls_sector_message message;
    ls_link *link; /* the link whose buffer entry it holds */
    ls_cycle ready;
    uint32_t next;
    uint32_t entry; /* of the slice's coalescer: its answer is that of others, too; else COALESCE_NONE */
    uint32_t left; /* of a request for several sectors: MSHRs that it waits for, or sectors to write; else 0 */
} pending_request;

/* Values of semaphores: those that an operation has named, up to a prime number of them in a channel. */
#define SEMAPHORES_MAX 1021u
#define SEMAPHORE_BYTES 0xfu /* that a store writes */
typedef struct semaphore {
    uint64_t address; /* + 1; 0: the place is free */
    uint64_t value;
} semaphore;

typedef struct queue {
    index_list list; /* of pending requests */
    uint32_t count;
} queue;

/* Reads of one sector that met in front of a slice: one of them goes to the cache. */
#define COALESCE_NONE UINT32_MAX
typedef struct coalesce_entry {
    uint64_t address;
    index_list members; /* without the one that goes to the cache */
    uint32_t count;     /* with it */
    uint32_t next;      /* of the same hash, or free */
} coalesce_entry;

typedef struct slice {
    /* A chain: requests for the tags, which are counted, and behind them those that have not been here for the delay. */
    queue input;
    uint32_t input_last;               /* the youngest of the first, if there is any */
    uint32_t delay_first, delay_count; /* the others; delay_first: if there is any */
    queue output;
    queue held;          /* requests that wait for an entry of the coalescer, and all behind them */
    queue home;          /* requests of the other half of L2 for sectors at home here */
    uint32_t away_reads; /* sectors on their way from the other half */
    uint32_t coalesce_used;
    index_pool coalesce_pool;
    coalesce_entry *coalesce; /* NULL: there is none */
    uint32_t *coalesce_heads; /* by hash; entry + 1 */
    uint8_t *copied;          /* by hash of a line: the other half may have copies; NULL: L2 is one */
    queue parked; /* reads that wait for the value of a semaphore; they keep their buffer entry of the link */
    ls_cycle last_arrival; /* of the output port of the crossbar, which lets `width` through per cycle */
    uint32_t arrived;      /* of them in that cycle */
    ls_cycle next;         /* nothing to do before this cycle */
    ls_cycle port_at; /* when the way out has room for the next answer, if its width is not all that counts */
    uint32_t port_rest; /* hundredths of that cycle that are taken */
    /* Requests for several sectors take the tags, and the fills, for as long as they would one by one. */
    ls_cycle look_at, fill_at;
    /* If special: cycles from which on the oldest request can leave the output, and the delay; LS_CYCLE_MAX: none can. And
     * that before which nothing else is to do. */
    ls_cycle answer_at, arrive_at, work_at;
    /* The input queue has no room for all in the delay, so that stalls may have to be counted. While it has, those whose delay is
     * over leave it when the tags look for them, and arrive_at is LS_CYCLE_MAX. */
    bool crowded;
    /* Fills, misses, answers to fills, or requests before those of the input queue may be there. */
    bool chores;
    uint32_t spare;      /* unless it is crowded: requests that may come before it can be */
    uint32_t line_token; /* of a line of which DRAM has not got all sectors yet, + 1; 0: there is none */
    /* The input queue was full in this cycle, and nothing has looked since. Then arrive_at is LS_CYCLE_MAX. 0: it was not. */
    ls_cycle stalled_at;
    index_ring fill_ring;
    uint64_t *fills; /* sectors that DRAM has brought */
    sector_cache l2;
    ls_event output_event;
    bool output_waiting;
    struct partition *owner;
} slice;

typedef struct partition {
    const partition_spec *spec;
    ls_region *region;
    ls_domain *domain;
    ls_port dram;
    ls_ticker ticker;
    ls_event timer;
    ls_cycle now;
    bool
        special; /* one of: two halves, a coalescer, an ideal cache, requests for several sectors or semaphores have come */
    bool awake; /* it ticks; else the timer stands at the first of the slices' next cycles, if there is any */
    uint32_t width, input_queue, output_queue; /* as in the spec */
    uint32_t
        port_cost; /* hundredths of a cycle that an answer takes of the way out; 0: width is all that counts */
    line_cost line_costs[1u << SECTORS_OF_LINE]; /* of messages, by their sectors */
    partition_counters n;
    mem_map map;
    uint32_t slice_count;
    bool line_in_row;                         /* all sectors of a line are in one row of one bank */
    uint32_t sector_columns[SECTORS_OF_LINE]; /* of a line's sectors, behind that of the line */
    slice slices[SLICES_MAX];
    slice *slice_of[SLICES_MAX]; /* the same: one load for a message's */
    ls_link **to_core;
    pending_request *requests;
    uint32_t request_count;
    index_pool request_pool;
    uint64_t *dram_reads; /* by token: the sector that is read */
    uint32_t *dram_next;
    uint8_t *dram_left;   /* by token: of a line, sectors that have not come; else 0 */
    index_pool dram_pool; /* tokens without a read */
    uint32_t dram_tokens;
    const ls_tap *tap;
    struct partition_told *told; /* requests that wait for DRAM; NULL while nobody listens */
    uint32_t coalesce_mask;      /* of slice.coalesce_heads */
    uint32_t channel;
    bool halves;        /* L2 has two; the ways to the other one: */
    uint32_t away_most; /* slice.away_reads: the rest of the MSHRs is for requests at home */
    uint32_t copied_mask;
    ls_link *ways[PARTITION_HALF_WAYS];
    semaphore *semaphores; /* SEMAPHORES_MAX places, found by hash */
    uint32_t semaphore_count;
} partition;

/* partition_semaphore.c: before the look-up of request i, the oldest of a queue. False: it waits, and is in the list of
 * those. */
bool partition_semaphore(partition *p, slice *s, queue *from, uint32_t i);
bool partition_semaphore_init(partition *p);

/* Reads from the other half take a line's sectors if fewer than half of the MSHRs are theirs. Then a line that is at home here
 * must still find room. */
#define HALVES_MSHRS_LEAST (2 * (2 * SECTORS_OF_LINE - 1))

/* partition_half.c. A request that is away, or one at home that may have copies. */
typedef enum half_step {
    HALF_WAIT, /* not now */
    HALF_GONE, /* the other half has it */
    HALF_HERE  /* look it up */
} half_step;
half_step partition_half_step(partition *p, slice *s, uint32_t i);
/* Whether the other half may have copies of sectors of a line that is at home here. */
static inline uint8_t *partition_copied(const partition *p, slice *s, uint64_t address)
{
    uint64_t line = address / SECTOR_CACHE_LINE_BYTES;
    return &s->copied[(uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 40) & p->copied_mask];
}
/* Asks the home for the sectors of a miss; false if its home is here. */
bool partition_half_ask(partition *p, slice *s, const sector_cache_miss *miss);
extern const partition_half_ops partition_half;

/* A fill of several sectors, as it waits in slice.fills: the address of the line, the level, the sectors. */
#define FILL_SECTORS_SHIFT 60
static inline uint64_t partition_fill_of(uint64_t address, uint32_t sectors)
{
    return address | (uint64_t)sectors << FILL_SECTORS_SHIFT;
}

/* partition_coalesce.c: requests in front of a slice. */
bool partition_coalesce_init(partition *p, slice *s);
/* Request i has come; false: it waits for an entry, or has joined another one. */
bool partition_coalesce(partition *p, slice *s, uint32_t i);
/* Request i, which has an entry, is in the output: those that joined it follow. */
void partition_coalesce_answer(partition *p, slice *s, uint32_t i);
/* The oldest request that waited and can go on; COALESCE_NONE: there is none now. */
uint32_t partition_coalesce_next(partition *p, slice *s);

/* ------------------------------------------------------------------------------------------------- queues */

static inline void partition_put(partition *p, queue *q, uint32_t i)
{
    index_list_append(&q->list, INDEX_LINKS(p->requests, next), i);
    q->count++;
}

static inline uint32_t partition_take(partition *p, queue *q)
{
    q->count--;
    return index_list_pop(&q->list, INDEX_LINKS(p->requests, next));
}

/* The same for a caller that has looked at it. */
static inline void partition_take_first(queue *q, const pending_request *first)
{
    q->count--;
    q->list.first = first->next;
}

/* Behind all others in the delay. True: there are none. */
static inline bool partition_delay(partition *p, slice *s, uint32_t i)
{
    bool first = s->delay_count++ == 0;
    if (first)
        s->delay_first = i;
    if (first && s->input.count == 0)
        s->input.list.first = i;
    else
        index_link_set(INDEX_LINKS(p->requests, next), s->input.list.last, i);
    s->input.list.last = i;
    return first;
}

/* The delay of the oldest is over. */
static inline void partition_end_delay(partition *p, slice *s)
{
    s->input_last = s->delay_first;
    s->delay_first = index_link(INDEX_LINKS(p->requests, next), s->input_last);
    s->delay_count--;
    s->input.count++;
}

/* All whose delay is over by cycle `now`. */
static inline void partition_end_delays(partition *p, slice *s, ls_cycle now)
{
    while (s->delay_count > 0 && p->requests[s->delay_first].ready < now)
        partition_end_delay(p, s);
}

/* The cycle after that in which it is over. */
static inline ls_cycle partition_arrives_at(const partition *p, const slice *s)
{
    return s->delay_count > 0 ? p->requests[s->delay_first].ready + 1 : LS_CYCLE_MAX;
}

/* While it sleeps. */
static inline void partition_wake_at(partition *p, ls_cycle at)
{
    if (ls_event_scheduled(&p->timer)) {
        if (p->timer.cycle <= at)
            return;
        ls_cancel(&p->timer);
    }
    ls_schedule_at(p->region, &p->timer, at);
}

static inline void partition_wake_now(partition *p, slice *s)
{
    s->next = s->work_at = 0;
    s->chores = true;
    p->awake = true;
    ls_ticker_wake(&p->ticker);
}

/* partition_line.c. If special: a request is in the delay, and the first there, or the slice is crowded or may be now. */
void partition_notice(partition *p, slice *s, const pending_request *r);

/* A request is at the slice: the output port of the crossbar lets `width` through per cycle. */
static inline void partition_arrive(partition *p, slice *s, uint32_t i, ls_cycle now, bool special)
{
    pending_request *r = &p->requests[i];
    if (s->last_arrival < now) {
        s->last_arrival = now;
        s->arrived = 0;
    } else if (s->arrived == p->width) {
        s->last_arrival++;
        s->arrived = 0;
    }
    s->arrived++;
    r->ready = s->last_arrival + p->spec->delay_cycles;
    bool first = partition_delay(p, s, i);
    if (special) {
        if (first || LS_UNLIKELY(s->spare == 0))
            partition_notice(p, s, r);
        else
            s->spare--;
        return;
    }
    if (first) /* else the slice is due for those before it */
        s->next = r->ready < s->next ? r->ready + 1 : s->next;
}

/* partition.c. ready: DRAM takes it, as the caller knows. */
bool partition_send_to_dram(partition *p, slice *s, const sector_cache_miss *miss, bool ready);

/* partition_line.c */
void partition_become_special(partition *p);

/* partition_cycle.c */
bool partition_tick(void *self, ls_cycle now);
void partition_timer(void *self, ls_cycle now);
void partition_output_event(void *self, ls_cycle now);

/* partition_state.c: the state table of the block. */
#define PARTITION_ROWS 20
extern const ls_state_row partition_rows[PARTITION_ROWS];

#endif
