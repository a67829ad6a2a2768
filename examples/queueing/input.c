/* input.c: the receiving ends of a domain's links: a buffer per link, and one path from all of them to the
 * sink.
 *
 * This is the destination's part of a distributed crossbar: output arbitration lives here, in the receiver's
 * domain, so no domain in the middle has to see all the traffic. A message keeps its buffer entry (and the
 * sender its lost credit) until the sink has taken it. */
#include "queueing.h"

#include <stdio.h>

typedef struct input_counters {
    uint64_t received, received_bytes, granted;
    uint64_t sink_stalls;
    uint64_t waiting, waiting_peak;
    ls_histogram grant_wait;
} input_counters;

static const ls_metric input_metrics[] = {
    LS_METRIC_COUNTER(input_counters, received, "messages", "messages that arrived on links"),
    LS_METRIC_COUNTER(input_counters, received_bytes, "bytes", "bytes that arrived on links"),
    LS_METRIC_COUNTER(input_counters, granted, "messages", "messages handed to the sink"),
    LS_METRIC_COUNTER(input_counters, sink_stalls, "waits",
                      "times the path stopped because the sink was full"),
    LS_METRIC_LEVEL(input_counters, waiting, "messages", "messages in the buffers now"),
    LS_METRIC_PEAK(input_counters, waiting_peak, "messages", "most messages in the buffers at once"),
    LS_METRIC_HISTOGRAM(input_counters, grant_wait, "cycles", "time from arrival to the sink"),
};

typedef struct input input;

/* One link's buffer: a ring with an entry per credit, so it cannot overflow. */
typedef struct lane {
    input *owner;
    ls_link *link;
    uint32_t index;
    uint32_t head, count, size;
    queueing_message *at;
} lane;

struct input {
    ls_port sink, arbiter;
    ls_region *region;
    ls_ticker ticker;
    ls_event turn; /* wakes the ticker when the path is free again */
    queueing_pace pace;
    const char *name;
    uint64_t waiting; /* bit i: lane i has a message; born_fs[i] is that of its oldest */
    ls_time born_fs[QUEUEING_MAX_PEERS];
    uint32_t count;
    lane lanes[QUEUEING_MAX_PEERS];
    input_counters counters;
};

static bool input_sink_has_room(const input *in)
{
    const queueing_sink_ops *sink = in->sink.ops;
    return !sink->room || sink->room(in->sink.self);
}

static void input_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    lane *l = self;
    input *in = l->owner;
    (void)link;

    queueing_message *entry = &l->at[(l->head + l->count) % l->size];
    *entry = *(const queueing_message *)payload;
    entry->arrived = now;
    if (l->count++ == 0) {
        in->waiting |= UINT64_C(1) << l->index;
        in->born_fs[l->index] = entry->born_fs;
    }

    in->counters.received++;
    in->counters.received_bytes += entry->bytes;
    if (++in->counters.waiting > in->counters.waiting_peak)
        in->counters.waiting_peak = in->counters.waiting;
    ls_domain_pending(ls_region_domain(in->region), 1);
    ls_ticker_wake(&in->ticker);
}

static void input_grant(input *in, ls_cycle now)
{
    const queueing_arbiter_ops *arbiter = in->arbiter.ops;
    lane *l = &in->lanes[arbiter->pick(in->arbiter.self, in->waiting, in->born_fs)];
    queueing_message message = l->at[l->head];

    l->head = (l->head + 1) % l->size;
    if (--l->count == 0)
        in->waiting &= ~(UINT64_C(1) << l->index);
    else
        in->born_fs[l->index] = l->at[l->head].born_fs;
    ls_link_release(l->link, 1);
    queueing_pace_take(&in->pace, message.bytes, now);

    in->counters.granted++;
    in->counters.waiting--;
    ls_histogram_add(&in->counters.grant_wait, now - message.arrived);
    ls_domain_pending(ls_region_domain(in->region), -1);
    const queueing_sink_ops *sink = in->sink.ops;
    sink->take(in->sink.self, &message, now);
}

/* Runs in the cycle of an arrival and then only in cycles in which it can do something. */
static bool input_tick(void *self, ls_cycle now)
{
    input *in = self;
    if (in->waiting == 0)
        return false;
    if (!queueing_pace_ready(&in->pace, now)) {
        if (!ls_event_scheduled(&in->turn))
            ls_schedule_at(in->region, &in->turn, in->pace.next);
        return false;
    }
    if (!input_sink_has_room(in)) {
        in->counters.sink_stalls++;
        return false; /* until input_resume() */
    }
    input_grant(in, now);
    return in->waiting != 0;
}

static void input_turn(void *self, ls_cycle now)
{
    (void)now;
    ls_ticker_wake(&((input *)self)->ticker);
}

static void input_resume(void *self)
{
    ls_ticker_wake(&((input *)self)->ticker);
}

static const queueing_source_ops input_source_ops = { .resume = input_resume };

static void input_waits(const void *self, ls_wait_sink *sink)
{
    const input *in = self;
    const queueing_sink_ops *ops = in->sink.ops;
    if (in->waiting == 0 || input_sink_has_room(in))
        return;
    char detail[64];
    snprintf(detail, sizeof detail, "no room for the %llu waiting", (unsigned long long)in->counters.waiting);
    ls_wait_report(sink, in->name, ops->name(in->sink.self), detail);
}

static ls_status input_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    input *in = state;
    const queueing_input_spec *s = spec;
    in->region = ls_block_region(block);
    in->name = ls_block_name(block);
    ls_event_init(&in->turn, input_turn, in);
    ls_status status = queueing_pace_init(&in->pace, s->width, err);
    if (status)
        return status;
    return ls_ticker_add(in->region, &in->ticker, input_tick, in, err);
}

static const ls_port_decl input_ports[] = {
    { .name = "source", .interface = QUEUEING_SOURCE, .ops = &input_source_ops },
    { .name = "sink", .interface = QUEUEING_SINK, .offset = offsetof(input, sink) },
    { .name = "arbiter", .interface = QUEUEING_ARBITER, .offset = offsetof(input, arbiter) },
};

static uint64_t lane_length(const void *self)
{
    return ((const lane *)self)->size;
}

static const ls_state_row lane_rows[] = {
    LS_STATE_FIXED_SPAN(lane, owner, index),
    LS_STATE_DATA_SPAN(lane, head, count),
    LS_STATE_FIXED(lane, size),
    LS_STATE_ARRAY(lane, at, lane_length),
};

static const ls_state_row input_rows[] = {
    LS_STATE_FIXED_SPAN(input, sink, ticker),
    LS_STATE_EVENT(input, turn),
    LS_STATE_DATA(input, pace),
    LS_STATE_FIXED(input, name),
    LS_STATE_DATA_SPAN(input, waiting, born_fs),
    LS_STATE_FIXED(input, count),
    LS_STATE_PARTS(input, lanes, lane_rows),
    LS_STATE_DATA(input, counters),
};

/* Not registered: the machine places it, a platform file cannot. */
const ls_block_type queueing_input_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.input",
    .name = "links",
    .help = "receiving ends of links, their buffers and one path to the sink",
    .spec_size = sizeof(queueing_input_spec),
    .state_size = sizeof(input),
    .metrics = input_metrics,
    .metric_count = LS_COUNT_OF(input_metrics),
    .counters_offset = offsetof(input, counters),
    .ports = input_ports,
    .port_count = LS_COUNT_OF(input_ports),
    .init = input_init,
    .waits = input_waits,
    .rows = input_rows,
    .row_count = LS_COUNT_OF(input_rows),
};

ls_status queueing_input_add(ls_block *block, const ls_link_spec *spec, ls_link **out, ls_error *err)
{
    input *in = ls_block_state(block);
    if (in->count == QUEUEING_MAX_PEERS)
        return ls_fail(err, LS_ERR_USAGE, "%s: more than %d links", in->name, QUEUEING_MAX_PEERS);
    ls_domain *domain = ls_region_domain(in->region);

    lane *l = &in->lanes[in->count];
    *l = (lane){ .owner = in, .index = in->count, .size = spec->credits };
    l->at = ls_domain_alloc(domain, spec->credits * sizeof *l->at);
    if (!l->at)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the %u buffer entries of %s", spec->credits,
                       in->name);

    ls_link_spec complete = *spec;
    complete.to = in->region;
    complete.to_name = in->name;
    complete.payload_bytes = sizeof(queueing_message);
    complete.receive = input_receive;
    complete.receiver = l;
    ls_status status = ls_link_create(ls_domain_engine(domain), &complete, &l->link, err);
    if (status)
        return status;
    in->count++;
    *out = l->link;
    return LS_OK;
}
