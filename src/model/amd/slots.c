/* slots.c: the slots of machine `amd`, and the ports that a model of each has. An interface lists the functions of
 * its table in order: a model that lacks one is refused by name before anything is built. */
#include "model/amd/build.h"

/* Every member of a table is a function, so that their number follows from its size. */
#define CHECK(functions_, ops_, optional_)                                                                    \
    _Static_assert(LS_COUNT_OF(functions_) - 1 + (optional_) == sizeof(ops_) / sizeof(void (*)(void)),        \
                   "a name for each function of " #ops_)

static const char *const memory_functions[] = { "attach", "request", NULL };
CHECK(memory_functions, ls_line_memory_ops, 1); /* delay */
static const char *const joining_functions[] = { "attach", NULL };
CHECK(joining_functions, ls_line_memory_ops, 2); /* a TLB may wire requesters to its cache */
static const char *const cache_functions[] = { "set_below", NULL };
CHECK(cache_functions, ls_line_cache_ops, 7); /* a model without lines has no use for the rest */
static const char *const home_functions[] = { "set_below", "set_home", NULL };
CHECK(home_functions, ls_line_cache_ops, 6);
static const char *const tlb_functions[] = { "set_below", "describe", "set_mmu", "receive", "discard", NULL };
CHECK(tlb_functions, ls_tlb_ops, 1); /* set_shootdowns */
static const char *const mmu_functions[] = { "attach",     "receiver", "receive", "set_reply",
                                             "page_bytes", "discard",  NULL };
CHECK(mmu_functions, ls_mmu_ops, 3); /* walks to the host */
static const char *const channel_functions[] = { "attach", "set_memory", NULL };
CHECK(channel_functions, ls_channel_ops, 0);
static const char *const cu_functions[] = { "capacity", "attach",      "receive_launch",
                                            "cancel",   "take_kernel", NULL };
CHECK(cu_functions, ls_cu_ops, 1); /* open */
static const char *const scheduler_functions[] = { "choose", NULL };
CHECK(scheduler_functions, ls_scheduler_ops, 0);
static const char *const dma_functions[] = { "attach", "start", NULL };
CHECK(dma_functions, ls_dma_ops, 0);
static const char *const command_functions[] = { "attach", "receive_done", "receive_ack", "submit",
                                                 "take",   "unfinished",   "places",      NULL };
CHECK(command_functions, ls_command_ops, 1); /* together */
static const char *const dram_functions[] = { "ready", "push", NULL };
CHECK(dram_functions, ls_dram_ops, 1); /* of several reads at once */
static const char *const reply_functions[] = { "ready", "done", NULL };
CHECK(reply_functions, ls_dram_reply_ops, 0);

static const char *const noc_functions[] = { "describe", "build", NULL };
CHECK(noc_functions, ls_noc_ops, 0);

static const ls_interface memory = { LS_LINE_MEMORY_INTERFACE, "lockstep/line.h", memory_functions };
static const ls_interface joining = { LS_LINE_MEMORY_INTERFACE, "lockstep/line.h", joining_functions };
static const ls_interface cache = { LS_LINE_CACHE_INTERFACE, "lockstep/line_cache.h", cache_functions };
static const ls_interface home = { LS_LINE_CACHE_INTERFACE, "lockstep/line_cache.h", home_functions };
static const ls_interface tlb = { LS_TLB_INTERFACE, "lockstep/tlb.h", tlb_functions };
static const ls_interface mmu = { LS_MMU_INTERFACE, "lockstep/tlb.h", mmu_functions };
static const ls_interface channel = { LS_CHANNEL_INTERFACE, "lockstep/channel.h", channel_functions };
static const ls_interface cu = { LS_CU_INTERFACE, "lockstep/cu.h", cu_functions };
static const ls_interface scheduler = { LS_SCHEDULER_INTERFACE, "lockstep/scheduler.h", scheduler_functions };
static const ls_interface dma = { LS_DMA_INTERFACE, "lockstep/dma.h", dma_functions };
static const ls_interface command = { LS_COMMAND_INTERFACE, "lockstep/command.h", command_functions };
static const ls_interface dram = { LS_DRAM_INTERFACE, "lockstep/dram.h", dram_functions };
static const ls_interface reply = { LS_DRAM_REPLY_INTERFACE, "lockstep/dram.h", reply_functions };

static const char *const rdma_functions[] = { "attach", "end", NULL };
CHECK(rdma_functions, ls_rdma_ops, 0);

static const ls_interface rdma = { LS_RDMA_INTERFACE, "lockstep/rdma.h", rdma_functions };
static const ls_interface noc = { LS_NOC_INTERFACE, "lockstep/noc.h", noc_functions };

static const ls_slot_port cache_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = &memory },
    { .name = LS_LINE_CACHE_PORT, .interface = &cache },
};
static const ls_slot_port l2_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = &memory },
    { .name = LS_LINE_CACHE_PORT, .interface = &home },
};
static const ls_slot_port tlb_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = &joining },
    { .name = LS_TLB_PORT, .interface = &tlb },
};
static const ls_slot_port mmu_ports[] = { { .name = LS_MMU_PORT, .interface = &mmu } };
static const ls_slot_port channel_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = &memory },
    { .name = LS_CHANNEL_PORT, .interface = &channel },
    { .name = LS_DRAM_PORT, .interface = &dram, .used = true, .optional = true },
    { .name = LS_DRAM_REPLY_PORT, .interface = &reply, .optional = true },
};
static const ls_slot_port cu_ports[] = {
    { .name = LS_CU_PORT, .interface = &cu },
    { .name = LS_SCHEDULER_PORT, .interface = &scheduler, .used = true, .optional = true },
};
static const ls_slot_port scheduler_ports[] = { { .name = LS_SCHEDULER_PORT, .interface = &scheduler } };
static const ls_slot_port dma_ports[] = { { .name = LS_DMA_PORT, .interface = &dma } };
static const ls_slot_port command_ports[] = { { .name = LS_COMMAND_PORT, .interface = &command } };
static const ls_slot_port rdma_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = &memory },
    { .name = LS_RDMA_PORT, .interface = &rdma },
};
static const ls_slot_port noc_ports[] = { { .name = LS_NOC_PORT, .interface = &noc } };
static const ls_slot_port dram_ports[] = {
    { .name = LS_DRAM_PORT, .interface = &dram },
    { .name = LS_DRAM_REPLY_PORT, .interface = &reply, .used = true },
};

/* clang-format off */
#define SLOT(path_, slot_, model_, ports_, help_)                                                             \
    { .path = (path_), .slot = (slot_), .default_model = (model_), .help = (help_), .ports = (ports_),        \
      .port_count = LS_COUNT_OF(ports_) }

const ls_section amd_sections[AMD_SECTIONS] = {
    SLOT("command", LS_COMMAND_SLOT, "cycle", command_ports, "command processor and dispatchers"),
    SLOT("dma", LS_DMA_SLOT, "line", dma_ports, "copies, and the link to the host"),
    SLOT("cu", LS_CU_SLOT, "gcn", cu_ports, "compute units"),
    SLOT("cu.scheduler", LS_WAVE_SCHEDULER_SLOT, "oldest", scheduler_ports, "which wave of a SIMD issues first"),
    SLOT("vector_cache", LS_VECTOR_CACHE_SLOT, "cycle", cache_ports, "vector memory, per compute unit"),
    SLOT("scalar_cache", LS_SCALAR_CACHE_SLOT, "cycle", cache_ports, "scalar memory, per cluster"),
    SLOT("instruction_cache", LS_INSTRUCTION_CACHE_SLOT, "cycle", cache_ports, "code, per cluster"),
    SLOT("l1", LS_L1_CACHE_SLOT, "cycle", cache_ports, "RDNA's L1, per shader array"),
    SLOT("noc", LS_NOC_SLOT, "crossbar", noc_ports, "network between clusters (or shader arrays), DMA engine and memory partitions"),
    SLOT("l2", LS_L2_CACHE_SLOT, "lines", l2_ports, "a slice of L2"),
    SLOT("memory_cache", LS_MEMORY_CACHE_SLOT, "cycle", cache_ports, "on the memory's side of L2, per channel"),
    SLOT("tlb", LS_TLB_SLOT, "none", tlb_ports, "L1 TLBs, one in front of each cache of a cluster"),
    SLOT("mmu", LS_MMU_SLOT, "cycle", mmu_ports, "L2 TLB and page-table walkers"),
    SLOT("channel", LS_CHANNEL_SLOT, "window", channel_ports, "from L2 to the DRAM"),
    SLOT("dram", LS_DRAM_SLOT, "bank", dram_ports, "memory channels"),
    SLOT("rdma", LS_RDMA_SLOT, "line", rdma_ports, "memory of other GPUs, in a system with a fabric"),
};
/* clang-format on */
