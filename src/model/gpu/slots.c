/* slots.c: see slots.h. Each interface lists the functions of its table in order: a model that lacks one is
 * refused by name before anything is built. */
#include "model/gpu/slots.h"

#include "lockstep/dispatch.h"
#include "lockstep/l1.h"
#include "lockstep/l2.h"
#include "lockstep/noc.h"
#include "lockstep/peer.h"
#include "lockstep/scheduler.h"
#include "model/core/core_api.h"
#include "model/memory/partition.h"

/* Every member of a table is a function, so that their number follows from its size. */
#define CHECK(functions_, ops_)                                                                               \
    _Static_assert(LS_COUNT_OF(functions_) - 1 == sizeof(ops_) / sizeof(void (*)(void)),                      \
                   "a name for each function of " #ops_)

static const char *const core_functions[] = {
    "describe", "attach", "receive_launch", "receive_reply", "take_kernel", "work", NULL
};
_Static_assert(LS_COUNT_OF(core_functions) - 1 + 1 == sizeof(ls_core_ops) / sizeof(void (*)(void)),
               "a name for each function of ls_core_ops but receive_cluster");
static const char *const core_profile_functions[] = { "l1",          "network_width", "guesses_time",
                                                      "models",      "drops_async",   "counts_instructions",
                                                      "set_machine", "machine",       NULL };
CHECK(core_profile_functions, core_profile_ops);
static const char *const scheduler_functions[] = { "choose", NULL };
CHECK(scheduler_functions, ls_scheduler_ops);
static const char *const l1_functions[] = { "describe", "attach", "access", "request", "fill",
                                            "answer",   "next",   "begin",  "end",     NULL };
CHECK(l1_functions, ls_l1_ops);
static const char *const l2_functions[] = { "attach", "receive", "warm", NULL };
_Static_assert(LS_COUNT_OF(l2_functions) - 1 + 1 == sizeof(ls_l2_ops) / sizeof(void (*)(void)),
               "a name for each function of ls_l2_ops but takes_lines");
static const char *const l2_profile_functions[] = { "shape", "flush", NULL };
CHECK(l2_profile_functions, partition_profile_ops);
static const char *const noc_functions[] = { "describe", "build", NULL };
CHECK(noc_functions, ls_noc_ops);
static const char *const dispatch_functions[] = { "describe", "attach",   "receive",     "start",
                                                  "resume",   "progress", "take_kernel", NULL };
CHECK(dispatch_functions, ls_dispatch_ops);
static const char *const dram_functions[] = { "ready", "push", NULL };
_Static_assert(LS_COUNT_OF(dram_functions) - 1 + 1 == sizeof(ls_dram_ops) / sizeof(void (*)(void)),
               "a name for each function of ls_dram_ops but push_several");
static const char *const reply_functions[] = { "ready", "done", NULL };
CHECK(reply_functions, ls_dram_reply_ops);

static const char *const peer_functions[] = { "describe",      "attach",          "end", "receive_request",
                                              "receive_reply", "receive_command", NULL };
_Static_assert(LS_COUNT_OF(peer_functions) - 1 + 1 == sizeof(ls_peer_ops) / sizeof(void (*)(void)),
               "a name for each function of ls_peer_ops but receive_flush");

static const ls_interface core = { LS_CORE_INTERFACE, "lockstep/core.h", core_functions };
static const ls_interface core_profile_interface = { CORE_PROFILE_INTERFACE, "model/core/core_api.h",
                                                     core_profile_functions };
static const ls_interface scheduler = { LS_SCHEDULER_INTERFACE, "lockstep/scheduler.h", scheduler_functions };
static const ls_interface l1 = { LS_L1_INTERFACE, "lockstep/l1.h", l1_functions };
static const ls_interface l2 = { LS_L2_INTERFACE, "lockstep/l2.h", l2_functions };
static const ls_interface l2_profile = { PARTITION_PROFILE_INTERFACE, "model/memory/partition.h",
                                         l2_profile_functions };
static const ls_interface noc = { LS_NOC_INTERFACE, "lockstep/noc.h", noc_functions };
static const ls_interface dispatch = { LS_DISPATCH_INTERFACE, "lockstep/dispatch.h", dispatch_functions };
static const ls_interface dram = { LS_DRAM_INTERFACE, "lockstep/dram.h", dram_functions };
static const ls_interface reply = { LS_DRAM_REPLY_INTERFACE, "lockstep/dram.h", reply_functions };

static const ls_interface peer = { LS_PEER_INTERFACE, "lockstep/peer.h", peer_functions };

static const ls_slot_port peer_ports[] = { { .name = LS_PEER_PORT, .interface = &peer } };
static const ls_slot_port core_ports[] = {
    { .name = LS_CORE_PORT, .interface = &core },
    { .name = CORE_PROFILE_PORT, .interface = &core_profile_interface, .optional = true },
    { .name = LS_SCHEDULER_PORT, .interface = &scheduler, .used = true, .optional = true },
    { .name = LS_L1_PORT, .interface = &l1, .used = true, .optional = true },
};
static const ls_slot_port scheduler_ports[] = { { .name = LS_SCHEDULER_PORT, .interface = &scheduler } };
static const ls_slot_port l1_ports[] = { { .name = LS_L1_PORT, .interface = &l1 } };
static const ls_slot_port l2_ports[] = {
    { .name = LS_L2_PORT, .interface = &l2 },
    { .name = PARTITION_PROFILE_PORT, .interface = &l2_profile, .optional = true },
    { .name = LS_DRAM_PORT, .interface = &dram, .used = true },
    { .name = LS_DRAM_REPLY_PORT, .interface = &reply },
};
static const ls_slot_port noc_ports[] = { { .name = LS_NOC_PORT, .interface = &noc } };
static const ls_slot_port dispatch_ports[] = { { .name = LS_DISPATCH_PORT, .interface = &dispatch } };
static const ls_slot_port dram_ports[] = {
    { .name = LS_DRAM_PORT, .interface = &dram },
    { .name = LS_DRAM_REPLY_PORT, .interface = &reply, .used = true },
};

#define PORTS(ports_) .ports = (ports_), .port_count = LS_COUNT_OF(ports_)

const ls_section gpu_sections[GPU_SECTIONS] = {
    { .path = "dispatch",
      .slot = LS_DISPATCH_SLOT,
      .default_model = "round-robin",
      .help = "block scheduler",
      PORTS(dispatch_ports) },
    { .path = "core",
      .slot = LS_CORE_SLOT,
      .default_model = "cycle",
      .help = "streaming multiprocessors",
      PORTS(core_ports) },
    { .path = "core.scheduler",
      .slot = LS_SCHEDULER_SLOT,
      .default_model = "lrr",
      .help = "order in which warps are considered for issue",
      PORTS(scheduler_ports) },
    { .path = "core.l1",
      .slot = LS_L1_SLOT,
      .default_model = "sectored",
      .help = "L1 data cache of a core",
      PORTS(l1_ports) },
    { .path = "noc",
      .slot = LS_NOC_SLOT,
      .default_model = "crossbar",
      .help = "network between cores and memory partitions",
      PORTS(noc_ports) },
    { .path = "l2",
      .slot = LS_L2_SLOT,
      .default_model = "cycle",
      .help = "memory partitions",
      PORTS(l2_ports) },
    { .path = "dram",
      .slot = LS_DRAM_SLOT,
      .default_model = "bank",
      .help = "memory channels",
      PORTS(dram_ports) },
    { .path = "peer",
      .slot = LS_PEER_SLOT,
      .default_model = "packets",
      .help = "memory of other GPUs, in a system with a fabric",
      PORTS(peer_ports) },
};
