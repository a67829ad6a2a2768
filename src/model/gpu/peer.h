/* peer.h: model `packets` of slot `peer` (lockstep/peer.h): NVLink or PCIe, behind a fabric.
 *
 * Sectors of one line that a requester sends together become one packet of up to 128 bytes. Answers to writes are
 * collected: one small message acknowledges several packets. */
#ifndef MODEL_GPU_PEER_H
#define MODEL_GPU_PEER_H

#include "lockstep/peer.h"
#include "engine/fabric_ends.h"
#include "model/memory/mem.h"

#define PEER_COPY_SECTORS 16u /* of a packet of a copy, at most */

typedef struct peer_spec {
    uint64_t hop_cycles, packets_per_cycle, in_flight, served_in_flight, open_packets, combine_cycles;
    uint64_t header_bytes, ack_bytes, ack_packets, ack_cycles;
    uint64_t copy_bytes, copy_in_flight;
} peer_spec;

#endif
