/* page_agent_impl.h: the state of a page agent, for page_agent.c (walks, shootdowns, messages), page_move.c (lines of
 * pages) and page_agent_type.c (set-up, counters, saved state). */
#ifndef MODEL_AMD_MEMORY_PAGE_AGENT_IMPL_H
#define MODEL_AMD_MEMORY_PAGE_AGENT_IMPL_H

#include "base/list.h"
#include "lockstep/timeline.h"
#include "lockstep/tlb.h"
#include "model/amd_memory/page_agent.h"
#include "model/amd_memory/page_tags.h"
#include "model/migrate/migrate.h"

#define AGENT_SHOOTDOWNS 128u /* that the host has open here */
#define AGENT_ARRIVALS 256u   /* pages on their way here */
#define AGENT_COUNTED 64u     /* messages about counted pages that have not left */

/* A message without data on its way to the fabric. */
typedef struct agent_message {
    uint32_t next, token;
    uint8_t class_index, kind;
    migrate_body body;
} agent_message;

typedef struct agent_way {
    struct agent *agent;
    uint32_t class_index;
    bool waits;
    index_list messages;
    ls_event ready; /* while a message waits for its link */
} agent_way;

/* A walk of the MMU, by its token. */
typedef struct agent_walk {
    ls_cycle begun;
    uint64_t address;
    uint32_t next;  /* of those that wait for room at the host */
    uint32_t grant; /* the host's number of the answer */
    ls_page_walk question;
} agent_walk;

typedef struct agent_shootdown {
    ls_link *link; /* its message keeps its buffer entry until it is answered */
    ls_cycle begun;
    uint32_t next, token;
    uint32_t lines, read, left; /* lines of the page; read: that were asked for; left: not yet on the fabric */
    migrate_body body;
} agent_shootdown;

/* A line of a page that leaves. */
typedef struct agent_line {
    uint32_t next, shootdown;
    ls_line_message m;
} agent_line;

/* A line of a page that comes. */
typedef struct agent_piece {
    ls_link *link;
    uint32_t next, arrival;
    ls_line_message m;
} agent_piece;

/* A page that comes. */
typedef struct agent_arrival {
    uint32_t token, left; /* left: lines that are not in memory; 0: the entry is free */
    uint16_t from, unused;
} agent_arrival;

typedef struct agent_counter {
    uint64_t address; /* virtual: of the page */
    uint32_t count, limit;
} agent_counter;

typedef struct agent {
    const page_agent_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    ls_fabric_end *end;
    ls_link *mmu;
    ls_line_port reads, writes;
    uint32_t line_bytes, line_shift, walk_count, message_count;
    page_agent_counters n;

    agent_message *messages;
    index_pool message_pool;
    agent_way ways[LS_FABRIC_CLASSES];

    agent_walk *walks;
    index_list held;                /* walks that wait for room at the host */
    uint32_t walks_open, walks_max; /* walks_max: 0 until the first one */

    ls_page_walk *out; /* ring: to the MMU */
    uint32_t out_head, out_tail, out_size;
    ls_event mmu_event;
    bool mmu_waits;

    agent_shootdown shootdowns[AGENT_SHOOTDOWNS];
    index_pool shootdown_pool;
    index_list shooting; /* that wait for room in the MMU */
    uint32_t shootdowns_open, at_mmu;

    index_list sending; /* shootdowns whose page is read */
    agent_line *lines;
    index_pool line_pool;
    index_list pieces_out; /* of lines, that wait for the fabric */
    uint32_t lines_open;
    agent_piece *pieces;
    index_pool piece_pool;
    index_list incoming; /* of pieces, that wait for the memory */
    agent_arrival arrivals[AGENT_ARRIVALS];
    uint32_t arrivals_open, counted_open;
    bool read_refused, write_refused;
    ls_cycle next_step; /* one line is read and one written in a cycle */
    ls_event event;

    page_tags remote; /* pages of other memories, by their physical addresses */
    agent_counter *counters;
} agent;

/* page_agent.c: a message without data goes to the host's end. */
void agent_send(agent *a, ls_fabric_class class, migrate_kind kind, uint32_t token, const migrate_body *body);
void agent_way_ready(void *self, ls_cycle now);
void agent_mmu_ready(void *self, ls_cycle now);
/* A page is forgotten and, if it had to be, on its way: the host is told. */
void agent_end_shootdown(agent *a, uint32_t shootdown);
/* A message of this class may go: false if its link is busy; then agent_way_ready() follows. */
ls_fabric_message *agent_slot(agent *a, ls_fabric_class class, uint32_t wire_bytes);

/* page_move.c */
void agent_begin_send(agent *a, uint32_t shootdown, ls_cycle now);
void agent_take_piece(agent *a, ls_link *link, const ls_fabric_message *message, ls_cycle now);
void agent_send_pieces(agent *a, ls_cycle now);
void agent_step(void *self, ls_cycle now);
extern const ls_line_client_ops agent_read_client, agent_write_client;

#endif
