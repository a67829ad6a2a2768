/* counters.c: the counters of a fabric's switches and links, by class of messages. */
#include "model/fabric/network.h"

/* clang-format off */
#define LINK(name_, field_, unit_, help_)                                                                     \
    { .name = (name_), .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(noc_link_counters, field_),         \
      .unit = (unit_), .help = (help_) }
#define LINK_CLASS(class_, name_)                                                                             \
    LINK(name_ "_flits", flits[class_], "flits", "flits of class " name_ " that passed"),                     \
    LINK(name_ "_bytes", bytes[class_], "bytes", "bytes of class " name_ ", with overhead of the link"),      \
    LINK(name_ "_stall_cycles", stall_cycles[class_], "cycles", "messages of class " name_ " that waited for this link")
static const ls_metric link_metrics[] = {
    LINK_CLASS(LS_FABRIC_REQUEST, "request"),
    LINK_CLASS(LS_FABRIC_DATA, "data"),
    LINK_CLASS(LS_FABRIC_WALK, "walk"),
    LINK_CLASS(LS_FABRIC_INVALIDATE, "invalidate"),
    LINK_CLASS(LS_FABRIC_MIGRATE, "migrate"),
    LINK_CLASS(LS_FABRIC_COPY, "copy"),
    LINK("busy_cycles", busy_cycles, "cycles", "the link carried a flit"),
    LINK("cycles", cycles, "cycles", "up to the last flit"),
    { .name = "utilisation", .kind = LS_METRIC_KIND_RATIO, .offset = offsetof(noc_link_counters, busy_cycles),
      .denominator = offsetof(noc_link_counters, cycles), .unit = "", .help = "busy_cycles / cycles" },
};

#define GROUP(name_, field_, unit_, help_)                                                                    \
    { .name = (name_), .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(noc_counters, field_),              \
      .unit = (unit_), .help = (help_) }
#define GROUP_CLASS(class_, name_)                                                                            \
    GROUP(name_ "_messages", messages[class_], "messages", "of class " name_ ", from this end"),              \
    GROUP(name_ "_latency_cycles", latency[class_], "cycles", "of messages of class " name_ " to this end, summed"), \
    GROUP(name_ "_hops", hops[class_], "messages", "of class " name_ " that left for another node")
static const ls_metric switch_metrics[] = {
    GROUP_CLASS(LS_FABRIC_REQUEST, "request"),
    GROUP_CLASS(LS_FABRIC_DATA, "data"),
    GROUP_CLASS(LS_FABRIC_WALK, "walk"),
    GROUP_CLASS(LS_FABRIC_INVALIDATE, "invalidate"),
    GROUP_CLASS(LS_FABRIC_MIGRATE, "migrate"),
    GROUP_CLASS(LS_FABRIC_COPY, "copy"),
    LS_METRIC_PEAK(noc_counters, peak, "messages", "most messages in this node at once"),
};
/* clang-format on */

_Static_assert(LS_FABRIC_CLASSES <= NOC_CLASSES_MAX, "classes of a fabric");
_Static_assert((int)LS_FABRIC_CLASSES == (int)LS_TRANSFERS && (int)LS_FABRIC_COPY == (int)LS_TRANSFER_COPY,
               "classes on timelines");

static const ls_state_row link_rows[] = { LS_STATE_DATA_SPAN(noc_link_counters, flits, cycles) };

const ls_block_type fabric_link_type = {
    .abi = LS_ABI_VERSION,
    .slot = "fabric.link",
    .name = "counters",
    .help = "traffic of one direction of a link",
    .state_size = sizeof(noc_link_counters),
    .metrics = link_metrics,
    .metric_count = LS_COUNT_OF(link_metrics),
    .rows = link_rows,
    .row_count = LS_COUNT_OF(link_rows),
};

const ls_block_type fabric_switch_type = {
    .abi = LS_ABI_VERSION,
    .slot = "fabric.switch",
    .name = "cut-through",
    .help = "a switch, or the port of an end, that passes whole messages",
    .state_size = sizeof(noc_group),
    .metrics = switch_metrics,
    .metric_count = LS_COUNT_OF(switch_metrics),
    .counters_offset = offsetof(noc_group, n),
    .init = noc_group_init,
    .waits = noc_group_waits,
    .rows = noc_group_rows,
    .row_count = NOC_GROUP_ROWS,
};
