/* network.h: builds a fabric: the ends of an engine, joined by switches (src/model/noc) in a shape.
 *
 * The port of a GPU is a domain in the GPU's group, so a GPU and its port share windows. Every switch is a domain and a
 * group of its own. Links between chips are the only links between groups. */
#ifndef MODEL_FABRIC_NETWORK_H
#define MODEL_FABRIC_NETWORK_H

#include "engine/fabric_ends.h"
#include "model/fabric/shape.h"
#include "model/noc/network.h"

/* How many bytes a message takes on a link. */
typedef enum fabric_framing {
    FABRIC_PERCENT, /* the message with its header, and a share of that for encoding */
    FABRIC_PACKET,  /* the data in packets, each with a header of the link's protocol */
} fabric_framing;

/* The keys that all shapes have. */
typedef struct fabric_keys {
    ls_ratio clock_hz;
    uint64_t flit_bytes, buffer_messages, queue_messages, virtual_channels;
    ls_ratio port_latency_ns;
    uint32_t arbitration; /* noc_arbitration */
    uint32_t framing;     /* fabric_framing */
    uint64_t encoding_percent, packet_header_bytes, packet_payload_bytes;
} fabric_keys;

/* A built fabric, as part FABRIC_PART of the engine. */
#define FABRIC_PART "fabric"
typedef struct fabric {
    fabric_keys keys;
    noc_graph graph;
    noc_network network;
    uint32_t paths, ends;
} fabric;

/* Bytes on a link, and the path of a message. */
uint32_t fabric_wire_bytes(const fabric *f, const ls_fabric_message *message);
uint32_t fabric_path(const fabric *f, const ls_fabric_message *message);

/* Adds the switches and links of a shape whose ends are there. */
typedef ls_status (*fabric_shape_fn)(fabric_shape *shape, const void *spec, uint32_t gpus, bool has_host,
                                     ls_error *err);

/* Shapes the fabric, builds it, and fills in the ends' links. */
ls_status fabric_build(ls_engine *engine, const fabric_keys *keys, fabric_shape_fn shape, const void *spec,
                       const ls_fabric_plan *plan, ls_error *err);

extern const ls_block_type fabric_switch_type, fabric_link_type;

#endif
