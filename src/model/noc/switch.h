/* switch.h: the switches of one domain: input buffers by virtual channel, routing, arbitration, credits.
 *
 * A message travels as flits. A flit that wins arbitration in cycle t stands in the next switch in cycle t +
 * latency of the edge. A message's first flit reserves a virtual channel of each output that it passes, the
 * last one gives it back (wormhole switching). A virtual channel has buffer_flits places at the receiving
 * switch; the sender counts credits, which take as long to come back as a flit takes to arrive.
 *
 * All switches of a domain form one block. So a hop inside a domain is a write into the neighbour's buffer,
 * with the cycle from which it counts: no event, no copy, no link. A hop to another domain is a link of the
 * engine for each virtual channel. Both have the same timing, so the division into domains changes no result.
 *
 * A cut-through network passes whole messages. A buffer place holds a message of any size. A message leaves for the
 * next switch when its first flit has come, and occupies the wire for the time of all its flits. It never runs out
 * of flits on a wire that is faster than the last one: it starts late enough. It moves with one decision per
 * switch, however long it is. An output to an end point waits for the last flit.
 *
 * The virtual channel follows from class, source and destination. With one route for each pair of end points,
 * messages of one class between one pair keep their order. */
#ifndef MODEL_NOC_SWITCH_H
#define MODEL_NOC_SWITCH_H

#include "base/list.h"
#include "lockstep/timeline.h"

#define NOC_VCS_MAX 32u
#define NOC_CLASSES_MAX 8u
#define NOC_NONE UINT32_MAX
#define NOC_NO_OWNER UINT16_MAX
#define NOC_WHEEL 64u /* cycles that a switch can be woken in advance */

typedef struct noc_link_counters {
    uint64_t flits[NOC_CLASSES_MAX];
    uint64_t stall_cycles[NOC_CLASSES_MAX]; /* flits ready at the front of a buffer that had to wait */
    uint64_t bytes[NOC_CLASSES_MAX];        /* of whole messages, before they are cut into flits */
    uint64_t busy_cycles;
    uint64_t cycles; /* up to the last flit */
} noc_link_counters;

typedef struct noc_counters {
    uint64_t messages[NOC_CLASSES_MAX];
    uint64_t latency[NOC_CLASSES_MAX]; /* cycles from entering the first switch to leaving the last, summed */
    uint64_t hops[NOC_CLASSES_MAX];    /* flits over edges between switches */
    uint64_t peak;                     /* most messages in the domain at once */
} noc_counters;

/* The order in which virtual channels and inputs pass an output. */
typedef enum noc_arbitration {
    NOC_ROUND_ROBIN, /* virtual channels in turn, and the inputs of each in turn: fair at each switch */
    NOC_OLDEST       /* the message that entered the network first: fair over the whole network */
} noc_arbitration;

typedef uint32_t (*noc_payload_fn)(const void *self, const void *payload);

/* A message in the domain; its payload stands beside it in noc_group.payloads. */
typedef struct noc_message {
    uint16_t source, destination; /* end points */
    uint16_t flits;
    uint8_t class_index, path;
    ls_cycle entered;
    uint32_t next;  /* free list */
    uint32_t bytes; /* on wires */
    uint16_t used;  /* bytes of the payload that are in use */
    uint8_t unused[2];
    uint32_t number; /* for timelines; 0: it is not told */
} noc_message;

/* The content of a link between two domains: every flit has the header, the first one also the payload. */
typedef struct noc_wire {
    uint16_t source, destination, flits;
    uint8_t class_index;
    bool first;
    ls_cycle entered;
    uint32_t bytes;
    uint32_t lag; /* as noc_flit.lag */
    uint16_t used;
    uint8_t path, unused[1]; /* saved bytes have no holes */
    uint32_t number;
} noc_wire;

typedef struct noc_flit {
    uint32_t message;
    uint32_t lag;   /* cut-through: cycles from the arrival of the first flit to that of the last */
    ls_cycle ready; /* when it stands in the buffer */
} noc_flit;

typedef enum noc_port_kind {
    NOC_UNUSED,
    NOC_ENDPOINT, /* input: whole messages of an end point; output: to an end point */
    NOC_NEAR,     /* a switch of this domain */
    NOC_FAR       /* a switch of another domain, by links */
} noc_port_kind;

/* A virtual channel of an input port: a ring of flits, or of whole messages at an end point's port. */
typedef struct noc_input_vc {
    noc_flit *ring;
    uint32_t mask, head, count;
    uint32_t passed;   /* flits of the front message that have left */
    uint32_t incoming; /* message whose flits are arriving from another domain */
    uint8_t output, output_vc;
    bool routed;
    ls_cycle since; /* when the front flit could have left at the soonest */
    ls_link *link;  /* the link whose buffer entries it holds: end points and far ports */
} noc_input_vc;

typedef struct noc_output_vc {
    uint16_t owner; /* input port * vcs + input vc whose message passes; NOC_NO_OWNER */
    uint8_t last_port;
    bool starved; /* a flit found no credit: the next credit wakes the switch */
    uint32_t credits;
    uint32_t returns_head, returns_count, returns_mask;
    ls_cycle *returns; /* cycles from which credits on their way count */
    ls_link *link;     /* far ports and end points */
    ls_event ready;    /* waits for the link */
    struct noc_group *group;
    uint32_t at;
} noc_output_vc;

typedef struct noc_input {
    noc_port_kind kind;
    uint8_t dimension, phase;
    uint32_t peer, peer_port; /* near: the switch and its output port */
    uint32_t latency_cycles;  /* near: of a credit */
    const char *name;         /* the sender, for reports */
} noc_input;

typedef struct noc_output {
    noc_port_kind kind;
    uint8_t dimension, last_vc;
    bool dateline;
    uint32_t peer, peer_port; /* near: the switch and its input port */
    uint32_t latency_cycles, interval_cycles;
    uint64_t interval_fixed_point; /* cut-through: 2^-32 cycles per flit */
    ls_cycle free_at;
    uint64_t early; /* cut-through: the wire is free so many 2^-32 cycles before free_at */
    noc_link_counters *n;
    const ls_tap *tap; /* of the link's block */
    const char *name;
} noc_output;

typedef struct noc_switch {
    uint32_t id;                    /* in the graph */
    uint32_t ports;                 /* numbers below this one are in use */
    uint32_t pairs;                 /* ports * vcs */
    uint64_t occupied[NOC_VCS_MAX]; /* by virtual channel: input ports with flits */
    uint32_t busy_vcs;              /* virtual channels with such ports */
    noc_input *inputs;              /* [port] */
    noc_output *outputs;
    noc_input_vc *input_vcs; /* [port * vcs + vc] */
    noc_output_vc *output_vcs;
} noc_switch;

/* Where an end point is attached. */
typedef struct noc_place_of {
    uint16_t at_switch; /* in the graph */
    uint8_t port, lanes;
} noc_place_of; /* the first port of its outputs, and how many */

typedef struct noc_group {
    ls_region *region;
    ls_domain *domain;
    ls_ticker ticker;
    ls_event timer;
    ls_cycle now;
    bool awake;
    noc_counters n;
    /* the same for the whole network */
    uint32_t vcs, per_class, layers, classes, flit_bytes, payload_bytes, phases;
    bool cut_through;
    noc_arbitration arbitration;
    noc_payload_fn destination[NOC_CLASSES_MAX], wire_bytes[NOC_CLASSES_MAX];
    const void *self;
    noc_payload_fn path, used_bytes; /* of the payload; NULL: path 0, all bytes */
    noc_payload_fn counted;          /* the class that counters name; NULL: its own */
    const noc_place_of *places;      /* [end point] */
    const uint8_t *route;            /* noc_graph.route */
    const ls_tap *tap;               /* of the block, if its network is told; else one that wants nothing */
    uint32_t graph_switches;
    /* its switches */
    uint32_t switch_count, words;
    noc_switch *switches;
    uint64_t *wheel; /* [cycle % NOC_WHEEL * words]: switches to run */
    uint64_t slots;  /* of the wheel: not empty */
    /* [output * vcs + input vc]: input ports that want it; valid where the virtual channel's bit of open[output] is set.
     * open[] is all zero between switches. */
    uint64_t *want;
    uint32_t *open;
    noc_message *messages;
    char *payloads;
    uint32_t message_max;
    index_pool message_pool;
    uint32_t live, told; /* told: number of the last message that was */
} noc_group;

/* Receives messages of one class from one end point. */
typedef struct noc_inlet {
    noc_group *group;
    uint32_t at; /* switch, in the group */
    uint16_t endpoint;
    uint8_t class_index, port, lanes;
} noc_inlet;

/* Receives flits of one virtual channel from a switch of another domain. */
typedef struct noc_pipe {
    noc_group *group;
    uint32_t at;
    uint8_t port, vc;
} noc_pipe;

extern const ls_block_type noc_group_type;
/* Its members, for types that count by other names. */
#define NOC_GROUP_ROWS 11
extern const ls_state_row noc_group_rows[NOC_GROUP_ROWS];
ls_status noc_group_init(ls_block *block, void *state, const void *spec, ls_error *err);
void noc_group_waits(const void *self, ls_wait_sink *sink);

void noc_inlet_receive(void *inlet, ls_link *link, const void *payload, ls_cycle now);
void noc_pipe_receive(void *pipe, ls_link *link, const void *payload, ls_cycle now);
void noc_output_ready(void *output_vc, ls_cycle now);

/* switch_tap.c: events for timelines. A message enters; it passes an output: a link, or the way to its end point. */
extern const ls_tap noc_no_tap;
void noc_tell_enter(noc_group *g, noc_message *m);
void noc_tell_pass(const noc_group *g, const noc_message *m, const noc_output *out);

#endif
