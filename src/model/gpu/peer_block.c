/* peer_block.c: the block of peer.h: how it is built, its keys, counters and state. */
#include "lockstep/state.h"
#include "model/gpu/peer_state.h"
#include "model/keys.h"

#include <stdio.h>
#include <string.h>

#define OPEN_MAX 255u /* packets of a requester that may grow */

/* ------------------------------------------------------------------------------------------------------ set-up */

static ls_status peer_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    peer *p = state;
    p->spec = spec;
    p->name = ls_block_name(block);
    p->tap = ls_block_tap(block);
    p->region = ls_block_region(block);
    p->domain = ls_region_domain(p->region);
    if (p->spec->copy_bytes % LS_SECTOR_BYTES != 0)
        return ls_fail(err, LS_ERR_INPUT, "peer.copy_bytes is %llu, it must be a multiple of %u",
                       (unsigned long long)p->spec->copy_bytes, LS_SECTOR_BYTES);
    p->end = (ls_fabric_end){ .name = p->name, .region = p->region, .receive = peer_receive, .receiver = p };
    p->end.receive_credits[LS_FABRIC_REQUEST] = p->end.receive_credits[LS_FABRIC_COPY] =
        (uint32_t)p->spec->served_in_flight;
    p->end.receive_credits[LS_FABRIC_DATA] = (uint32_t)p->spec->served_in_flight;
    for (uint32_t i = 0; i < PEER_WAYS; i++) {
        p->ways[i].peer = p;
        ls_event_init(&p->ways[i].ready, peer_way_ready, &p->ways[i]);
    }
    return ls_ticker_add(p->region, &p->ticker, peer_tick, p, err);
}

static ls_fabric_end *peer_end(void *self)
{
    return &((peer *)self)->end;
}

static void peer_describe(const void *spec, ls_peer_shape *out)
{
    *out = (ls_peer_shape){ .hop_cycles = (uint32_t)((const peer_spec *)spec)->hop_cycles };
}

/* Behind L2 a channel has the packets of many cores. */
static uint32_t open_packets(const peer_spec *spec, const ls_peer_wiring *wiring)
{
    uint64_t cores = wiring->behind ? (wiring->core_count + wiring->channels - 1) / wiring->channels : 1;
    return spec->open_packets * cores < OPEN_MAX ? (uint32_t)(spec->open_packets * cores) : OPEN_MAX;
}

static void *copy_links(ls_domain *domain, ls_link *const *from, uint32_t count)
{
    ls_link **to = ls_domain_alloc(domain, count * sizeof *to);
    if (to != NULL)
        memcpy(to, from, count * sizeof *to);
    return to;
}

static ls_status peer_attach(void *self, const ls_peer_wiring *wiring, ls_error *err)
{
    peer *p = self;
    p->end.number = wiring->number;
    p->map = *wiring->map;
    p->requesters = wiring->requesters;
    p->open_packets = open_packets(p->spec, wiring);
    p->memory_id = wiring->core_count;
    p->channels = wiring->channels;
    p->to_queue = wiring->to_queue;
    p->to_core = copy_links(p->domain, wiring->to_core, p->requesters);
    p->to_memory = copy_links(p->domain, wiring->to_memory, p->channels);
    p->sector_total = wiring->requests_max;
    p->ask_total = (uint32_t)p->spec->in_flight;
    p->serve_total = 2 * (uint32_t)p->spec->served_in_flight;
    p->sectors = ls_domain_alloc(p->domain, p->sector_total * sizeof *p->sectors);
    p->asks = ls_domain_alloc(p->domain, p->ask_total * sizeof *p->asks);
    p->serves = ls_domain_alloc(p->domain, p->serve_total * sizeof *p->serves);
    size_t open = (size_t)p->requesters * p->open_packets;
    p->open = ls_domain_alloc(p->domain, open * sizeof *p->open);
    p->notice_total = (uint32_t)p->spec->served_in_flight + 2; /* signals, and ends of a copy and a flush */
    p->notices = ls_domain_alloc(p->domain, p->notice_total * sizeof *p->notices);
    if (p->to_core == NULL || p->to_memory == NULL || p->sectors == NULL || p->asks == NULL ||
        p->serves == NULL || p->open == NULL || p->notices == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", p->name);
    memset(p->open, 0xff, open * sizeof *p->open); /* INDEX_NONE */
    p->sector_pool = p->ask_pool = p->serve_pool = INDEX_POOL_NEW;
    p->opened = INDEX_ORDER_EMPTY;
    p->input = p->requests = p->answered = p->incoming = p->answers = INDEX_LIST_EMPTY;
    for (uint32_t i = 0; i < PEER_ENDS; i++)
        p->acks[i].serves = INDEX_LIST_EMPTY;
    ls_status status = copy_engine_init(p, err);
    return status == LS_OK ? flush_engine_init(p, wiring, err) : status;
}

static void peer_waits(const void *state, ls_wait_sink *sink)
{
    const peer *p = state;
    char detail[96];
    if (p->in_flight > 0) {
        snprintf(detail, sizeof detail, "%u packets for other GPUs have no answer", p->in_flight);
        ls_wait_report(sink, p->name, "fabric", detail);
    }
    if (p->flush.served > 0) {
        snprintf(detail, sizeof detail, "%u slices of L2 have not written back", p->flush.left);
        ls_wait_report(sink, p->name, "l2", detail);
    }
    if (p->copy.is_busy) {
        snprintf(detail, sizeof detail, "copy to end %u: %llu of %llu bytes are acknowledged", p->copy.job.to,
                 (unsigned long long)p->copy.acked_bytes, (unsigned long long)p->copy.job.bytes);
        ls_wait_report(sink, p->name, "fabric", detail);
    }
}

/* ------------------------------------------------------------------------------------------------------ tables */

static uint64_t sector_length(const void *self)
{
    return ((const peer *)self)->sector_total;
}
static uint64_t ask_length(const void *self)
{
    return ((const peer *)self)->ask_total;
}
static uint64_t serve_length(const void *self)
{
    return ((const peer *)self)->serve_total;
}
static uint64_t notice_length(const void *self)
{
    return ((const peer *)self)->notice_total;
}
static uint64_t open_length(const void *self)
{
    return (uint64_t)((const peer *)self)->requesters * ((const peer *)self)->open_packets;
}

/* clang-format off */
static const ls_state_row sector_rows[] = {
    LS_STATE_DATA(peer_sector, m), LS_STATE_LINK(peer_sector, link), LS_STATE_DATA(peer_sector, next),
};
static const ls_state_row serve_rows[] = {
    LS_STATE_DATA(peer_serve, packet), LS_STATE_LINK(peer_serve, link), LS_STATE_DATA_SPAN(peer_serve, next, is_copy),
};
static const ls_state_row notice_rows[] = {
    LS_STATE_DATA(peer_pending_notice, notice), LS_STATE_LINK(peer_pending_notice, link),
};
static const ls_state_row way_rows[] = {
    LS_STATE_FIXED(peer_way, peer), LS_STATE_EVENT(peer_way, ready), LS_STATE_DATA(peer_way, waits),
};
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(peer, spec, end),
    LS_STATE_DATA(peer, map), /* with the place of the last address */
    LS_STATE_FIXED_SPAN(peer, requesters, to_queue),
    LS_STATE_ARRAY_OF(peer, sectors, sector_length, sector_rows),
    LS_STATE_ARRAY(peer, asks, ask_length),
    LS_STATE_ARRAY_OF(peer, serves, serve_length, serve_rows),
    LS_STATE_FIXED_SPAN(peer, sector_total, serve_total),
    LS_STATE_ARRAY(peer, open, open_length),
    LS_STATE_DATA_SPAN(peer, acks, signals),
    LS_STATE_LINK(peer, from_queue),
    LS_STATE_ARRAY_OF(peer, notices, notice_length, notice_rows),
    LS_STATE_FIXED_SPAN(peer, notice_total, unused),
    { LS_STATE_ROW_(peer, copy, LS_STATE_KIND_PARTS), .element = sizeof(copy_engine), .rows = copy_engine_rows,
      .row_count = COPY_ENGINE_ROWS },
    { LS_STATE_ROW_(peer, flush, LS_STATE_KIND_PARTS), .element = sizeof(flush_engine), .rows = flush_engine_rows,
      .row_count = FLUSH_ENGINE_ROWS },
    LS_STATE_PARTS(peer, ways, way_rows),
    LS_STATE_DATA(peer, n),
};

#define KEY_SPEC peer_spec

static const ls_param params[] = {
    KEY("hop_cycles", hop_cycles, "cycles", "0", 0, 2000,
        "between a core or an L2 slice and this block, one way; 0: as between cores and L2"),
    KEY("packets_per_cycle", packets_per_cycle, "packets", "4", 1, 64, "in each direction, of the L2 clock"),
    KEY("in_flight", in_flight, "packets", "4096", 1, 65536, "of this GPU without an answer"),
    KEY("served_in_flight", served_in_flight, "packets", "2048", 1, 32768,
        "of other GPUs without an answer: requests, and as many pieces of copies"),
    KEY("open_packets", open_packets, "packets", "16", 1, 64, "of a core that wait for further sectors of their line"),
    KEY("combine_cycles", combine_cycles, "cycles", "64", 0, 1024, "that a packet waits for them"),
    KEY("header_bytes", header_bytes, "bytes", "16", 0, 256,
        "of a packet, beside its payload; a fabric whose framing is `packet` has headers of its own"),
    KEY("ack_bytes", ack_bytes, "bytes", "16", 1, 256, "of a message that acknowledges writes; likewise"),
    KEY("ack_packets", ack_packets, "packets", "16", 1, LS_PEER_ACKS, "that one such message acknowledges, at most"),
    KEY("ack_cycles", ack_cycles, "cycles", "256", 0, 4096,
        "that an acknowledgement waits for others, while requests of its GPU are being served"),
    KEY("copy_bytes", copy_bytes, "bytes", "256", 32, PEER_COPY_SECTORS * 32, "payload of a packet of the copy engine"),
    KEY("copy_in_flight", copy_in_flight, "packets", "4096", 1, 65536, "of the copy engine without an answer"),
};

static const ls_need needs[] = {
    { "header_bytes", "//fabric.framing=percent" },
    { "ack_bytes", "//fabric.framing=percent" },
    { "*", "//fabric.model!=none" },
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(peer_counters, reads, "packets", "reads of other GPUs' memory"),
    LS_METRIC_COUNTER(peer_counters, writes, "packets", "writes to other GPUs' memory"),
    LS_METRIC_COUNTER(peer_counters, atomics, "packets", "atomics in other GPUs' memory"),
    LS_METRIC_COUNTER(peer_counters, sectors, "sectors", "sectors of these packets"),
    LS_METRIC_COUNTER(peer_counters, answers, "packets", "of them that were answered"),
    LS_METRIC_COUNTER(peer_counters, latency_cycles, "cycles", "from the first sector of a packet to its answer, summed"),
    LS_METRIC_RATIO(peer_counters, "mean_latency", latency_cycles, answers, "cycles", "of an answered packet"),
    LS_METRIC_COUNTER(peer_counters, served_reads, "packets", "reads by other GPUs"),
    LS_METRIC_COUNTER(peer_counters, served_writes, "packets", "writes by other GPUs"),
    LS_METRIC_COUNTER(peer_counters, served_atomics, "packets", "atomics by other GPUs"),
    LS_METRIC_COUNTER(peer_counters, copies, "copies", "copies that have ended"),
    LS_METRIC_COUNTER(peer_counters, copy_packets, "packets", "sent by the copy engine"),
    LS_METRIC_COUNTER(peer_counters, copy_bytes, "bytes", "payload of these packets"),
    LS_METRIC_COUNTER(peer_counters, served_copy_packets, "packets", "of other GPUs' copy engines"),
    LS_METRIC_COUNTER(peer_counters, signals_sent, "signals", "sent to other GPUs"),
    LS_METRIC_COUNTER(peer_counters, signals, "signals", "that have come from other GPUs"),
    LS_METRIC_COUNTER(peer_counters, payload_bytes_out, "bytes", "data in packets sent"),
    LS_METRIC_COUNTER(peer_counters, payload_bytes_in, "bytes", "data in packets received"),
    LS_METRIC_COUNTER(peer_counters, fabric_waits, "times", "a packet had to wait for the fabric"),
    LS_METRIC_COUNTER(peer_counters, memory_waits, "times", "a sector had to wait for the link to L2"),
    LS_METRIC_COUNTER(peer_counters, in_flight_stalls, "times", "a sector found in_flight reached"),
    LS_METRIC_PEAK(peer_counters, in_flight_peak, "packets", "most without an answer"),
    LS_METRIC_COUNTER(peer_counters, flushes, "flushes", "of L2's part for other GPUs: ends of kernels, fences of system scope"),
    LS_METRIC_COUNTER(peer_counters, flush_rounds, "rounds", "over all slices that these flushes needed"),
};
/* clang-format on */

static const ls_peer_ops ops = { .describe = peer_describe,
                                 .attach = peer_attach,
                                 .end = peer_end,
                                 .receive_request = peer_receive_request,
                                 .receive_reply = peer_receive_reply,
                                 .receive_command = peer_receive_command,
                                 .receive_flush = peer_receive_flush };
static const ls_port_decl ports[] = {
    { .name = LS_PEER_PORT, .interface = LS_PEER_INTERFACE, .ops = &ops },
};

static const ls_block_type peer_packets = {
    .abi = LS_ABI_VERSION,
    .slot = LS_PEER_SLOT,
    .name = "packets",
    .help = "sectors of a line in one packet, acknowledgements collected, a copy engine",
    LS_BLOCK_PARAMS(peer_spec, params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    LS_BLOCK_STATE(peer, n, metrics, ports),
    .init = peer_init,
    .waits = peer_waits,
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
};
LS_REGISTER_BLOCK(peer_packets);
