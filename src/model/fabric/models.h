/* models.h: keys that models of slot `fabric` share. */
#ifndef MODEL_FABRIC_MODELS_H
#define MODEL_FABRIC_MODELS_H

#include "lockstep/fabric.h"
#include "model/fabric/network.h"

extern const char *const fabric_framings[], *const fabric_arbitrations[];

/* Where GPUs have links of their own, the host is joined with each of them beside these. */
typedef struct fabric_host_keys {
    ls_ratio host_gb_s, host_latency_ns;
} fabric_host_keys;

/* The keys of fabric_keys, for a spec with a member `keys`; defaults that differ between models are arguments.
 * queue_messages: 128 covers two port latencies of 40 ns and more at a message per ns. */
/* clang-format off */
#define FABRIC_UINT_(spec_, field_, unit_, default_, min_, max_, help_)                                       \
    { .name = #field_, .type = LS_PARAM_TYPE_UINT, .offset = offsetof(spec_, keys.field_),                    \
      .default_text = (default_), .min = (min_), .max = (max_), .unit = (unit_), .help = (help_) }
#define FABRIC_KEYS(spec_, flit_, framing_, header_, payload_)                                                \
    LS_PARAM_CHOICE(spec_, keys.framing, "framing", framing_, fabric_framings,                                \
                    "bytes on a link: percent of the message with its header, or packets with headers of the link"), \
    FABRIC_UINT_(spec_, encoding_percent, "%", "25", 0, 100, "added to each message for the link's encoding"), \
    FABRIC_UINT_(spec_, packet_header_bytes, "bytes", LS_TEXT_OF(header_), 0, 256, "header, checksum and framing of a packet"), \
    FABRIC_UINT_(spec_, packet_payload_bytes, "bytes", LS_TEXT_OF(payload_), 16, 65536, "data of a packet, at most"), \
    LS_PARAM_FREQ(spec_, keys.clock_hz, "clock_mhz", "1000", "clock of ports and switches"),                   \
    FABRIC_UINT_(spec_, flit_bytes, "bytes", flit_, 0, 4096, "a message takes whole flits; 0: the bytes that the fastest link carries in a cycle"), \
    FABRIC_UINT_(spec_, buffer_messages, "messages", "0", 0, 4096, "buffer at the end of a link, for each virtual channel; 0: enough for the full rate with 64 bytes of data each"), \
    FABRIC_UINT_(spec_, queue_messages, "messages", "128", 1, 4096, "of one class that an end has on the way into its port"), \
    FABRIC_UINT_(spec_, virtual_channels, "channels", "1", 1, 5, "of each class of messages"),                 \
    LS_PARAM_RATIO(spec_, keys.port_latency_ns, "port_latency_ns", "ns", "0", 0, 100000, "between an end and its port, each way; 0: the shortest link of its GPU, which keeps windows as long as in a GPU alone"), \
    LS_PARAM_CHOICE(spec_, keys.arbitration, "arbitration", "round-robin", fabric_arbitrations, "which message passes an output first")
/* clang-format on */

#endif
