/* output.c: the sending ends of a domain's links, with an injection limit that they share.
 *
 * The limit is the source's part of a distributed crossbar: nothing in the middle has to know about it. Back-
 * pressure costs nothing while it lasts, because a sender that cannot send leaves its event with the link and
 * is called when a credit or the wire comes back. */
#include "queueing.h"

typedef struct output_counters {
    uint64_t sent, sent_bytes;
    uint64_t credit_stalls, width_stalls, inject_stalls;
} output_counters;

static const ls_metric output_metrics[] = {
    LS_METRIC_COUNTER(output_counters, sent, "messages", "messages put on links"),
    LS_METRIC_COUNTER(output_counters, sent_bytes, "bytes", "bytes put on links"),
    LS_METRIC_COUNTER(output_counters, credit_stalls, "waits", "times a sender had to wait for a credit"),
    LS_METRIC_COUNTER(output_counters, width_stalls, "waits", "times a sender had to wait for the wire"),
    LS_METRIC_COUNTER(output_counters, inject_stalls, "waits",
                      "times a sender had to wait for its turn to inject"),
};

typedef struct output {
    ls_region *region;
    bool stamps;
    uint32_t client;
    uint32_t count;
    struct {
        ls_link *link;
        const char *peer;
    } to[QUEUEING_MAX_PEERS];
    queueing_pace pace;
    output_counters counters;
} output;

static uint32_t output_destinations(const void *self)
{
    return ((const output *)self)->count;
}

static bool output_send(void *self, uint32_t destination, const queueing_message *message, ls_cycle now)
{
    output *o = self;
    if (!queueing_pace_ready(&o->pace, now))
        return false;
    queueing_message *payload = ls_link_send(o->to[destination].link, message->bytes);
    if (!payload)
        return false;
    *payload = *message;
    if (o->stamps)
        payload->client = o->client;
    queueing_pace_take(&o->pace, message->bytes, now);
    o->counters.sent++;
    o->counters.sent_bytes += message->bytes;
    return true;
}

static void output_wait(void *self, uint32_t destination, ls_event *event, ls_cycle now)
{
    output *o = self;
    ls_link *link = o->to[destination].link;
    if (!queueing_pace_ready(&o->pace, now)) {
        o->counters.inject_stalls++;
        ls_schedule_at(o->region, event, o->pace.next);
        return;
    }
    if (ls_link_credits(link) == 0)
        o->counters.credit_stalls++;
    else
        o->counters.width_stalls++;
    ls_link_wait(link, event);
}

static const char *output_peer(const void *self, uint32_t destination)
{
    return ((const output *)self)->to[destination].peer;
}

static const queueing_output_ops output_ops = {
    .destinations = output_destinations,
    .send = output_send,
    .wait = output_wait,
    .peer = output_peer,
};

static ls_status output_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    output *o = state;
    const queueing_output_spec *s = spec;
    o->region = ls_block_region(block);
    o->stamps = s->stamps;
    o->client = s->client;
    return queueing_pace_init(&o->pace, s->width, err);
}

static const ls_port_decl output_ports[] = {
    { .name = "output", .interface = QUEUEING_OUTPUT, .ops = &output_ops },
};

static const ls_state_row output_rows[] = {
    LS_STATE_FIXED_SPAN(output, region, to),
    LS_STATE_DATA_SPAN(output, pace, counters),
};

/* Not registered: the machine places it, a platform file cannot. */
const ls_block_type queueing_output_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.output",
    .name = "links",
    .help = "sending ends of links, with an injection limit",
    .spec_size = sizeof(queueing_output_spec),
    .state_size = sizeof(output),
    .metrics = output_metrics,
    .metric_count = LS_COUNT_OF(output_metrics),
    .counters_offset = offsetof(output, counters),
    .ports = output_ports,
    .port_count = LS_COUNT_OF(output_ports),
    .init = output_init,
    .rows = output_rows,
    .row_count = LS_COUNT_OF(output_rows),
};

ls_status queueing_output_add(ls_block *block, ls_link *link, const char *peer, ls_error *err)
{
    output *o = ls_block_state(block);
    if (o->count == QUEUEING_MAX_PEERS)
        return ls_fail(err, LS_ERR_USAGE, "%s: more than %d destinations", ls_block_name(block),
                       QUEUEING_MAX_PEERS);
    o->to[o->count].link = link;
    o->to[o->count].peer = peer;
    o->count++;
    return LS_OK;
}

const ls_link *queueing_output_link(ls_block *block, uint32_t destination)
{
    const output *o = ls_block_state(block);
    return destination < o->count ? o->to[destination].link : NULL;
}

/* ------------------------------------------------------------------------------------------------- pace */

ls_status queueing_pace_init(queueing_pace *pace, ls_ratio width, ls_error *err)
{
    /* rest + bytes * den stays below 2^32 * 2^31 + 2^32. */
    if (width.num > UINT32_MAX || width.den > INT32_MAX)
        return ls_fail(err, LS_ERR_INPUT, "a width of %llu/%llu bytes per cycle has too many digits",
                       (unsigned long long)width.num, (unsigned long long)width.den);
    *pace = (queueing_pace){ .width = width };
    return LS_OK;
}

void queueing_pace_take(queueing_pace *pace, uint32_t bytes, ls_cycle now)
{
    if (pace->width.num == 0) {
        pace->next = now + 1;
        return;
    }
    uint64_t used = now > pace->next ? 0 : pace->rest;
    used += bytes * pace->width.den;
    pace->next = now + used / pace->width.num;
    pace->rest = used % pace->width.num;
    if (pace->next == now) {
        pace->next = now + 1;
        pace->rest = 0;
    }
}
