/* switch_type.c: counters, saved state and type of the switches of a domain. */
#include "model/noc/switch.h"

/* clang-format off */
#define COUNT(name_, field_, unit_, help_)                                                                    \
    { .name = (name_), .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(noc_counters, field_),              \
      .unit = (unit_), .help = (help_) }
#define MEAN(name_, sum_, count_, unit_, help_)                                                               \
    { .name = (name_), .kind = LS_METRIC_KIND_RATIO, .offset = offsetof(noc_counters, sum_),                  \
      .denominator = offsetof(noc_counters, count_), .unit = (unit_), .help = (help_) }
static const ls_metric metrics[] = {
    COUNT("request_messages", messages[0], "messages", "requests that entered the network"),
    COUNT("reply_messages", messages[1], "messages", "replies that entered the network"),
    COUNT("request_latency_cycles", latency[0], "cycles", "of requests in the switches, summed"),
    COUNT("reply_latency_cycles", latency[1], "cycles", "of replies in the switches, summed"),
    COUNT("request_hops", hops[0], "flits", "flits of requests times edges between switches"),
    COUNT("reply_hops", hops[1], "flits", "flits of replies times edges between switches"),
    LS_METRIC_PEAK(noc_counters, peak, "messages", "most messages in the network at once"),
    MEAN("request_latency", latency[0], messages[0], "cycles", "mean time of a request in the switches"),
    MEAN("reply_latency", latency[1], messages[1], "cycles", "mean time of a reply in the switches"),
};
/* clang-format on */

/* -------------------------------------------------------------------------------------------------- state */

static uint64_t ring_length(const void *self)
{
    const noc_input_vc *in = self;
    return in->ring != NULL ? (uint64_t)in->mask + 1 : 0;
}

static uint64_t returns_length(const void *self)
{
    const noc_output_vc *o = self;
    return o->returns != NULL ? (uint64_t)o->returns_mask + 1 : 0;
}

static uint64_t port_count(const void *self)
{
    return ((const noc_switch *)self)->ports;
}

static uint64_t pair_count(const void *self)
{
    return ((const noc_switch *)self)->pairs;
}

static uint64_t switch_total(const void *self)
{
    return ((const noc_group *)self)->switch_count;
}

static uint64_t wheel_length(const void *self)
{
    return (uint64_t)NOC_WHEEL * ((const noc_group *)self)->words;
}

static uint64_t message_total(const void *self)
{
    return (uint64_t)((const noc_group *)self)->message_max + 1;
}

static uint64_t payload_total(const void *self)
{
    return message_total(self) * ((const noc_group *)self)->payload_bytes;
}

static const ls_state_row input_vc_rows[] = {
    LS_STATE_ARRAY(noc_input_vc, ring, ring_length),
    LS_STATE_DATA_SPAN(noc_input_vc, mask, since),
    LS_STATE_FIXED(noc_input_vc, link),
};

static const ls_state_row output_vc_rows[] = {
    LS_STATE_DATA_SPAN(noc_output_vc, owner, returns_mask),
    LS_STATE_ARRAY(noc_output_vc, returns, returns_length),
    LS_STATE_FIXED(noc_output_vc, link),
    LS_STATE_EVENT(noc_output_vc, ready),
    LS_STATE_FIXED_SPAN(noc_output_vc, group, at),
};

static const ls_state_row output_rows[] = {
    LS_STATE_DATA_SPAN(noc_output, kind, early),
    LS_STATE_FIXED_SPAN(noc_output, n, name),
};

static const ls_state_row switch_rows[] = {
    LS_STATE_DATA_SPAN(noc_switch, id, busy_vcs),
    LS_STATE_FIXED(noc_switch, inputs),
    LS_STATE_ARRAY_OF(noc_switch, outputs, port_count, output_rows),
    LS_STATE_ARRAY_OF(noc_switch, input_vcs, pair_count, input_vc_rows),
    LS_STATE_ARRAY_OF(noc_switch, output_vcs, pair_count, output_vc_rows),
};

const ls_state_row noc_group_rows[NOC_GROUP_ROWS] = {
    LS_STATE_FIXED_SPAN(noc_group, region, ticker),
    LS_STATE_EVENT(noc_group, timer),
    LS_STATE_DATA_SPAN(noc_group, now, n),
    LS_STATE_FIXED_SPAN(noc_group, vcs, words),
    LS_STATE_ARRAY_OF(noc_group, switches, switch_total, switch_rows),
    LS_STATE_ARRAY(noc_group, wheel, wheel_length),
    LS_STATE_DATA(noc_group, slots),
    LS_STATE_FIXED_SPAN(noc_group, want, open), /* hold nothing between cycles */
    LS_STATE_ARRAY(noc_group, messages, message_total),
    LS_STATE_ARRAY(noc_group, payloads, payload_total),
    LS_STATE_DATA_SPAN(noc_group, message_max, told),
};

const ls_block_type noc_group_type = {
    .abi = LS_ABI_VERSION,
    .slot = "noc.switches",
    .name = "wormhole",
    .help = "switches with virtual channels and credits",
    .state_size = sizeof(noc_group),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(noc_group, n),
    .init = noc_group_init,
    .waits = noc_group_waits,
    .rows = noc_group_rows,
    .row_count = NOC_GROUP_ROWS,
};
