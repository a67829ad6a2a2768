/* gpu.c: builds a GPU: one domain for the dispatcher, one per core, one per memory channel (its L2 slices on
 * the L2 clock, its DRAM on the DRAM clock).
 *
 * The request and reply crossbars are distributed: injection is limited at the source (one request per core
 * and cycle, one answer per slice and cycle), output ports at the destination. Their latency is split between
 * the links so that both directions are long: the lookahead, and so the length of windows, is the shorter of
 * the two. */
#include "model/gpu/gpu.h"

#include "lockstep/scheduler.h"
#include "model/cache/cache.h"
#include "model/core/core_api.h"
#include "model/dispatch/dispatch.h"
#include "model/gpu/shape.h"
#include "model/memory/mem.h"
#include "model/memory/partition.h"

#include <stdio.h>
#include <string.h>

#define CREDITS_TO_SPARE 64u
#define AHEAD_CYCLES 560u /* of windows, where nothing but blocks that are sent ahead needs to be in time */
#define BLOCK_CREDITS 64u

typedef struct gpu_spec {
    uint64_t cores;
    ls_ratio core_clock, l2_clock, dram_clock;
    uint64_t request_latency_cycles, reply_latency_cycles, dispatch_latency_cycles, refill_latency_cycles;
    uint64_t link_credits;
    uint64_t channels, slices_per_channel, interleave_bytes;
    uint32_t slice_hash;
    const char *bit_map;
} gpu_spec;

typedef struct builder {
    ls_machine *machine;
    ls_engine *engine;
    const gpu_spec *spec;
    uint32_t cores, channels, credits;
    mem_map map;
    ls_clock core_clock, l2_clock, dram_clock;
    ls_region *dispatch_region, **core_regions, **l2_regions;
    ls_block *dispatch, **core_blocks, **partition_blocks;
    ls_link **to_memory, **to_core; /* [core * channels + channel] and [channel * cores + core] */
    ls_link **launches, **dones;
    bool analytic;            /* cores send no requests: there are no links to memory */
    bool ahead;               /* cores start blocks that have been sent ahead */
    uint32_t refill_cycles;   /* from the end of a block to the start of the next one in its place */
    uint32_t dispatch_cycles; /* of the links between the dispatcher and cores */
} builder;

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

/* "prefix3" or "prefix3.14": there are thousands of links, and printf takes as long as all else about one. */
static char *put_number(char *at, uint32_t number)
{
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static const char *numbered(char *name, const char *prefix, uint32_t first, const uint32_t *second)
{
    size_t length = strlen(prefix);
    memcpy(name, prefix, length);
    char *end = put_number(name + length, first);
    if (second != NULL) {
        *end++ = '.';
        end = put_number(end, *second);
    }
    *end = 0;
    return name;
}

/* Slots whose blocks the builder wires by hand take no plug-in: it could not know the wiring. */
static ls_status check_models(builder *b, ls_error *err)
{
    static const char *const wired[][2] = { { "dispatch", "round-robin" },
                                            { "core", "cycle" },
                                            { "l2", "cycle" } };
    for (size_t i = 0; i < LS_COUNT_OF(wired); i++) {
        const char *model = ls_machine_model(b->machine, wired[i][0])->name;
        if (strcmp(model, wired[i][1]) != 0)
            return ls_fail(
                err, LS_ERR_UNSUPPORTED,
                "%s.model is '%s', but the slot '%s' takes no blocks of plug-ins: only '%s' can stand there "
                "(open slots: core.scheduler, dram)",
                wired[i][0], model, wired[i][0], wired[i][1]);
    }
    return LS_OK;
}

static ls_status build_blocks(builder *b, ls_error *err)
{
    char name[64];
    TRY(check_models(b, err));
    ls_domain *domain;
    TRY(ls_domain_create(b->engine, "gpu0.front", b->core_clock, &domain, err));
    b->dispatch_region = ls_domain_region(domain, 0);
    TRY(ls_machine_block(b->machine, b->dispatch_region, GPU_DISPATCH_BLOCK, "dispatch", &b->dispatch, err));
    for (uint32_t i = 0; i < b->cores; i++) {
        ls_block *scheduler;
        snprintf(name, sizeof name, "gpu0.sm%u", i);
        TRY(ls_domain_create(b->engine, name, b->core_clock, &domain, err));
        b->core_regions[i] = ls_domain_region(domain, 0);
        snprintf(name, sizeof name, "gpu0.core%u", i);
        TRY(ls_machine_block(b->machine, b->core_regions[i], name, "core", &b->core_blocks[i], err));
        snprintf(name, sizeof name, "gpu0.core%u.scheduler", i);
        TRY(ls_machine_block(b->machine, b->core_regions[i], name, "core.scheduler", &scheduler, err));
        TRY(ls_block_connect(b->core_blocks[i], "scheduler", scheduler, LS_SCHEDULER_PORT, err));
    }
    for (uint32_t i = 0; i < b->channels; i++) {
        /* The DRAM's region comes first: at equal times it runs before L2, as data moves up. */
        ls_block *dram;
        snprintf(name, sizeof name, "gpu0.mem%u", i);
        TRY(ls_domain_create(b->engine, name, b->dram_clock, &domain, err));
        TRY(ls_domain_add_region(domain, b->l2_clock, &b->l2_regions[i], err));
        snprintf(name, sizeof name, "gpu0.l2_%u", i);
        TRY(ls_machine_block(b->machine, b->l2_regions[i], name, "l2", &b->partition_blocks[i], err));
        snprintf(name, sizeof name, "gpu0.dram%u", i);
        TRY(ls_machine_block(b->machine, ls_domain_region(domain, 0), name, "dram", &dram, err));
        TRY(ls_block_connect(b->partition_blocks[i], "dram", dram, "dram", err));
        TRY(ls_block_connect(dram, "reply", b->partition_blocks[i], "reply", err));
    }
    return LS_OK;
}

static ls_status build_links(builder *b, ls_error *err)
{
    char name[64];
    for (uint32_t i = 0; i < b->cores; i++) {
        const char *core_name = ls_block_name(b->core_blocks[i]);
        numbered(name, "launch", i, NULL);
        TRY(ls_link_create(b->engine,
                           &(ls_link_spec){ .name = name,
                                            .from = b->dispatch_region,
                                            .to = b->core_regions[i],
                                            .from_name = GPU_DISPATCH_BLOCK,
                                            .to_name = core_name,
                                            .latency_cycles = b->dispatch_cycles,
                                            .credits = b->ahead ? CORE_AHEAD_MAX : BLOCK_CREDITS,
                                            .payload_bytes = sizeof(core_launch),
                                            .receive = core_receive_launch,
                                            .receiver = ls_block_state(b->core_blocks[i]) },
                           &b->launches[i], err));
        numbered(name, "done", i, NULL);
        TRY(ls_link_create(b->engine,
                           &(ls_link_spec){ .name = name,
                                            .from = b->core_regions[i],
                                            .to = b->dispatch_region,
                                            .from_name = core_name,
                                            .to_name = GPU_DISPATCH_BLOCK,
                                            .latency_cycles = b->dispatch_cycles,
                                            .credits = b->ahead ? CORE_AHEAD_MAX : BLOCK_CREDITS,
                                            .payload_bytes = sizeof(core_done),
                                            .receive = dispatch_receive,
                                            .receiver = ls_block_state(b->dispatch) },
                           &b->dones[i], err));
        for (uint32_t k = 0; k < b->channels && !b->analytic; k++) {
            const char *memory_name = ls_block_name(b->partition_blocks[k]);
            numbered(name, "request", i, &k);
            TRY(ls_link_create(b->engine,
                               &(ls_link_spec){ .name = name,
                                                .from = b->core_regions[i],
                                                .to = b->l2_regions[k],
                                                .from_name = core_name,
                                                .to_name = memory_name,
                                                .latency_cycles = (uint32_t)b->spec->request_latency_cycles,
                                                .credits = b->credits,
                                                .payload_bytes = sizeof(mem_message),
                                                .receive = partition_receive,
                                                .receiver = ls_block_state(b->partition_blocks[k]) },
                               &b->to_memory[(size_t)i * b->channels + k], err));
            numbered(name, "reply", k, &i);
            TRY(ls_link_create(b->engine,
                               &(ls_link_spec){ .name = name,
                                                .from = b->l2_regions[k],
                                                .to = b->core_regions[i],
                                                .from_name = memory_name,
                                                .to_name = core_name,
                                                .latency_cycles = (uint32_t)b->spec->reply_latency_cycles,
                                                .credits = b->credits,
                                                .payload_bytes = sizeof(mem_message),
                                                .receive = core_receive_reply,
                                                .receiver = ls_block_state(b->core_blocks[i]) },
                               &b->to_core[(size_t)k * b->cores + i], err));
        }
    }
    return LS_OK;
}

static ls_status attach_all(builder *b, ls_error *err)
{
    uint32_t credits = b->credits;
    core_capacity capacity = core_get_capacity(b->core_blocks[0]);
    TRY(dispatch_attach(b->dispatch, &capacity, b->launches, b->cores, b->dispatch_cycles,
                        b->ahead ? b->refill_cycles : 0, err));
    for (uint32_t i = 0; b->ahead && i < b->cores; i++)
        TRY(core_take_ahead(b->core_blocks[i], b->refill_cycles, err));
    for (uint32_t i = 0; i < b->cores; i++)
        TRY(core_set_kernels(b->core_blocks[i], dispatch_slots(b->dispatch), err));
    for (uint32_t i = 0; i < b->cores; i++)
        TRY(core_attach(b->core_blocks[i], i, b->cores, &b->map, &b->to_memory[(size_t)i * b->channels],
                        credits * b->channels, b->dones[i], err));
    if (b->analytic)
        return gpu_attach_rates(b->engine, (uint32_t)b->spec->request_latency_cycles,
                                (uint32_t)b->spec->reply_latency_cycles, credits, err);
    for (uint32_t k = 0; k < b->channels; k++)
        TRY(partition_attach(b->partition_blocks[k], &b->map, &b->to_core[(size_t)k * b->cores], b->cores,
                             credits * b->cores, err));
    return LS_OK;
}

/* What passes between the dispatcher and cores decides how long windows are if nothing else is sent. Blocks
 * that are sent ahead need not be there soon; a kernel's first ones still are in time. */
static uint32_t dispatch_cycles(const builder *b)
{
    uint32_t cycles = (uint32_t)b->spec->dispatch_latency_cycles;
    uint32_t launch = dispatch_launch_latency(b->dispatch) / 2;
    uint32_t longer = launch < AHEAD_CYCLES ? launch : AHEAD_CYCLES;
    return core_starts_blocks(b->core_blocks[0]) && longer > cycles ? longer : cycles;
}

static ls_status build(ls_machine *machine, const void *spec, ls_error *err)
{
    builder b = { .machine = machine, .engine = ls_machine_engine(machine), .spec = spec };
    b.cores = (uint32_t)b.spec->cores;
    b.channels = (uint32_t)b.spec->channels;
    /* Enough for a message per cycle from one core to one partition, there and back. */
    b.credits =
        b.spec->link_credits != 0
            ? (uint32_t)b.spec->link_credits
            : (uint32_t)(b.spec->request_latency_cycles + b.spec->reply_latency_cycles) + CREDITS_TO_SPARE;
    TRY(ls_clock_init(&b.core_clock, b.spec->core_clock, err));
    TRY(ls_clock_init(&b.l2_clock, b.spec->l2_clock, err));
    TRY(ls_clock_init(&b.dram_clock, b.spec->dram_clock, err));
    mem_map_spec map = { .channels = b.spec->channels,
                         .slices_per_channel = b.spec->slices_per_channel,
                         .interleave_bytes = b.spec->interleave_bytes,
                         .slice_hash = b.spec->slice_hash,
                         .bit_map = b.spec->bit_map };
    TRY(mem_map_init(&b.map, &map, err));
    size_t pairs = (size_t)b.cores * b.channels;
    b.core_regions = ls_engine_alloc(b.engine, b.cores * sizeof *b.core_regions);
    b.core_blocks = ls_engine_alloc(b.engine, b.cores * sizeof *b.core_blocks);
    b.l2_regions = ls_engine_alloc(b.engine, b.channels * sizeof *b.l2_regions);
    b.partition_blocks = ls_engine_alloc(b.engine, b.channels * sizeof *b.partition_blocks);
    b.to_memory = ls_engine_alloc(b.engine, pairs * sizeof *b.to_memory);
    b.to_core = ls_engine_alloc(b.engine, pairs * sizeof *b.to_core);
    b.launches = ls_engine_alloc(b.engine, b.cores * sizeof *b.launches);
    b.dones = ls_engine_alloc(b.engine, b.cores * sizeof *b.dones);
    if (b.core_regions == NULL || b.core_blocks == NULL || b.l2_regions == NULL ||
        b.partition_blocks == NULL || b.to_memory == NULL || b.to_core == NULL || b.launches == NULL ||
        b.dones == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a GPU of %u cores", b.cores);
    TRY(build_blocks(&b, err));
    b.analytic = core_is_analytic(b.core_blocks[0]);
    uint32_t there_and_back = 2 * (uint32_t)b.spec->dispatch_latency_cycles;
    b.refill_cycles =
        b.spec->refill_latency_cycles != 0 ? (uint32_t)b.spec->refill_latency_cycles : there_and_back;
    b.ahead = core_starts_blocks(b.core_blocks[0]) || b.refill_cycles != there_and_back;
    b.dispatch_cycles = dispatch_cycles(&b);
    TRY(build_links(&b, err));
    return attach_all(&b, err);
}

void gpu_warm(ls_engine *engine, uint64_t address, uint64_t bytes)
{
    ls_block *first = ls_engine_find_block(engine, "gpu0.l2_0");
    if (first == NULL)
        return;
    for (uint64_t at = address & ~(uint64_t)31; at < address + bytes; at += 32) {
        char name[32];
        snprintf(name, sizeof name, "gpu0.l2_%u", partition_channel(first, at));
        partition_warm(ls_engine_find_block(engine, name), at);
    }
}

bool gpu_take_kernel(const ls_engine *engine, const char *path, uint32_t slot, void *counters, size_t bytes)
{
    ls_block *block = ls_engine_find_block(engine, path);
    const char *is = block != NULL ? ls_block_type_of(block)->slot : "";
    if (strcmp(is, "core") == 0)
        return core_take_kernel(block, slot, counters, bytes);
    return strcmp(is, "dispatch") == 0 && dispatch_take_kernel(block, slot, counters, bytes);
}

static const char *const hash_names[] = { "none", "xor", "ipoly", NULL };

/* clang-format off */
static const ls_param params[] = {
    LS_PARAM_UINT(gpu_spec, cores, "", 46, 1, 1024, "streaming multiprocessors"),
    LS_PARAM_FREQ(gpu_spec, core_clock, "clock.core_mhz", "1132", "clock of the cores"),
    LS_PARAM_FREQ(gpu_spec, l2_clock, "clock.l2_mhz", "1132", "clock of the L2 slices and the network"),
    LS_PARAM_FREQ(gpu_spec, dram_clock, "clock.dram_mhz", "3500.5", "command clock of the DRAM"),
    { .name = "noc.request_latency_cycles", .type = LS_PARAM_TYPE_UINT,
      .offset = offsetof(gpu_spec, request_latency_cycles), .default_text = "90", .min = 1, .max = 2000,
      .unit = "cycles", .help = "from a core to a memory partition, in core cycles" },
    { .name = "noc.reply_latency_cycles", .type = LS_PARAM_TYPE_UINT,
      .offset = offsetof(gpu_spec, reply_latency_cycles), .default_text = "90", .min = 1, .max = 2000,
      .unit = "cycles", .help = "from a memory partition to a core, in L2 cycles" },
    { .name = "noc.credits", .type = LS_PARAM_TYPE_UINT, .offset = offsetof(gpu_spec, link_credits),
      .default_text = "0", .min = 0, .max = 4096, .unit = "messages",
      .help = "buffer entries per core and partition, in each direction; 0: 64 more than there and back take" },
    LS_PARAM_UINT(gpu_spec, dispatch_latency_cycles, "cycles", 90, 1, 2000, "between the dispatcher and a core"),
    LS_PARAM_UINT(gpu_spec, refill_latency_cycles, "cycles", 0, 0, 4000,
                  "from the end of a thread block to the start of the next one in its place; 0: twice "
                  "dispatch_latency_cycles, there and back"),
    { .name = "memory.channels", .type = LS_PARAM_TYPE_UINT, .offset = offsetof(gpu_spec, channels),
      .default_text = "16", .min = 1, .max = 64, .unit = "", .help = "memory channels" },
    { .name = "memory.slices_per_channel", .type = LS_PARAM_TYPE_UINT,
      .offset = offsetof(gpu_spec, slices_per_channel), .default_text = "2", .min = 1, .max = 4, .unit = "",
      .help = "L2 slices per memory channel" },
    { .name = "memory.interleave_bytes", .type = LS_PARAM_TYPE_UINT, .offset = offsetof(gpu_spec, interleave_bytes),
      .default_text = "256", .min = 32, .max = 65536, .unit = "bytes", .help = "consecutive bytes in one channel" },
    LS_PARAM_CHOICE(gpu_spec, slice_hash, "memory.slice_hash", "ipoly", hash_names, "how addresses pick slices"),
    LS_PARAM_TEXT(gpu_spec, bit_map, "memory.bit_map",
                  "0000.RRRRRRRR.RBBBCCCC.BCCSSSSS", "address bits inside a channel: row, bank, column, burst"),
};
/* clang-format on */

static const ls_section sections[] = {
    { .path = "dispatch", .slot = "dispatch", .default_model = "round-robin", .help = "block scheduler" },
    { .path = "core", .slot = "core", .default_model = "cycle", .help = "streaming multiprocessors" },
    { .path = "core.scheduler",
      .slot = LS_SCHEDULER_SLOT,
      .default_model = "lrr",
      .help = "order in which warps are considered for issue" },
    { .path = "l2", .slot = "l2", .default_model = "cycle", .help = "memory partitions" },
    { .path = "dram", .slot = "dram", .default_model = "bank", .help = "memory channels" },
};

static const ls_machine_type gpu = {
    .abi = LS_ABI_VERSION,
    .name = "gpu",
    .help = "one GPU that replays traces",
    .spec_size = sizeof(gpu_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .sections = sections,
    .section_count = LS_COUNT_OF(sections),
    .build = build,
};
LS_REGISTER_MACHINE(gpu);
