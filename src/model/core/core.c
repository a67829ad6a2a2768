/* core.c: the core block: its parameters and counters, its set-up, and how it sleeps. */
#include "lockstep/state.h"
#include "model/core/core.h"

#include "model/keys.h"

#include <string.h>

static const char *const unit_names[] = {
#define UNIT(name, help) #name,
#include "model/core/units.def"
#undef UNIT
    NULL
};
static const char *const alu_names[] = { "cycle", "issue", NULL };
static const char *const group_names[] = { "warps", "lockstep", NULL }; /* as tensor_groups */
static const char *const fetch_names[] = { "perfect", "cycle", NULL };
static const char *const translation_names[] = { "none", "cycle", NULL };
static const char *const async_names[] = { "none", "cycle", NULL };
static const char *const group_wait_names[] = { "complete", "read", NULL };
static const char *const memory_names[] = { "cycle", "analytic", NULL };
static const char *const latency_names[] = { "drawn", "expected", NULL };
static const char *const place_names[] = { "before-l2", "before-l1", NULL };

/* clang-format off */
#define KEY_SPEC core_spec

static const ls_param params[] = {
    KEY("sub_cores", sub_cores, "", "4", 1, CORE_SUBS_MAX, "warp schedulers, each with its own units"),
    KEY("warp_slots", warp_slots, "warps", "64", 1, CORE_WARPS_MAX, "resident warps"),
    KEY("cta_slots", cta_slots, "blocks", "32", 1, CORE_CTAS_MAX, "resident thread blocks"),
    KEY("registers", registers, "registers", "65536", 1024, 1 << 20, "32-bit registers of the core"),
    KEY("register_unit", register_unit, "registers", "4", 1, 256,
        "registers per thread are allocated in multiples of this"),
    KEY("shared_kib", shared_kib, "KiB", "96", 0, 1024, "shared memory that kernels can use"),
    KEY_CHOICE("alu", alu, "cycle", alu_names,
           "cycle: every stage of the pipeline, every cycle; issue: from issue to issue, with queues and latencies"),
    KEY("collectors", collectors, "", "2", 1, CORE_COLLECTORS_MAX, "operand collectors per sub-core"),
    KEY("register_banks", register_banks, "", "2", 1, CORE_BANKS_MAX, "register banks per sub-core"),
    KEY("collect_steps", collect_steps, "", "2", 1, 8, "operand collector steps per cycle"),
    KEY("result_buses", result_buses, "", "8", 1, 255, "results written per cycle"),
    KEY("forward_cycles", forward_cycles, "cycles", "0", 0, 5,
        "results are forwarded: with 5, a dependent instruction issues class latency cycles after its producer; with 0, "
        "5 cycles later"),
    KEY("fetch_rounds", fetch_rounds, "", "4", 1, 16, "warps decoded per cycle"),
    KEY("branch_cycles", branch_cycles, "cycles", "0", 0, 255,
        "from a taken branch to the next instruction of its warp; 0: as after any other instruction"),
    KEY("warp_start_cycles", warp_start_cycles, "cycles", "0", 0, 1000,
        "from the start of a warp to that of the core's next one; 0: all warps of a block at once"),
    KEY("cold_start_cycles", cold_start_cycles, "cycles", "0", 0, 100000,
        "from the first block of a kernel on a core to its first instruction"),
    KEY_FLAG("track_spans", track_spans, "true", "vector loads mark every register they write"),
    KEY_FLAG("accelsim_rules", accelsim_rules, "false",
         "dependences on the zero register, L1 bypass, access widths and barriers as Accel-Sim has them"),
    KEY("shared_latency_cycles", shared_latency_cycles, "cycles", "20", 1, 63, "pipeline of shared memory"),
    KEY("shared_banks", shared_banks, "", "32", 1, 64, "banks of shared memory, 4 bytes wide"),
    KEY_FLAG("shared_first_word", shared_first_word, "false",
         "conflicts look at the first word of a wide access only, as Accel-Sim does"),
    KEY("unified_kib", unified_kib, "KiB", "0", 0, 1024,
        "L1 and shared memory together: L1 has what the kernel's carve-out leaves; 0: L1 has a fixed size"),
    LS_PARAM_UINTS(core_spec, shared_options_kib, "shared_options_kib", "KiB", "[]", 0, 1024,
                   "sizes that shared memory can be given"),
    KEY("network_queue", network_queue, "requests", "512", 1, 4096, "requests waiting for the network"),
    KEY_FLAG("bypass_l1", bypass_l1, "false", "global loads and stores go past L1"),
    KEY_FLAG("perfect_memory", perfect_memory, "false",
         "requests past L1 are answered at once, without network, L2 and DRAM"),
    KEY("network_sectors_per_cycle", network_width, "sectors", "1", 1, 8, "requests sent, and answers taken"),
#include "model/core/options_keys.def"
#include "model/core/async_keys.def"
#include "model/core/analytic_keys.def"
#define TENSOR(name_, key_, bits_, help_)                                                                      \
    KEY("tensor." #key_ "_fma", tensor.fma[LS_TENSOR_##name_], "FMA/cycle", "0", 0, 65536,               \
        "matrix instructions of " help_ ": multiply-adds per cycle and SM; 0: latency and interval of the class"),
#include "lockstep/tensor.def"
#undef TENSOR
    KEY("tensor.warp_percent", tensor.warp_percent, "%", "100", 1, 100,
        "of tensor.*_fma, what matrix instructions of one warp reach; those of warp groups reach all"),
    KEY("tensor.base_cycles", tensor.base_cycles, "cycles", "11", 1, 255,
        "latency of a matrix instruction of one warp, without its passes"),
    KEY("tensor.pass_cycles", tensor.pass_cycles, "cycles", "7", 0, 255,
        "the same, for every 128 bits of a row of A"),
    KEY_CHOICE("tensor.groups", tensor.groups, "warps", group_names,
           "matrix instructions of warp groups: warps: each warp has its own, and registers wait for it; lockstep: four "
           "warps run one together, WARPGROUP.DEPBAR waits for it"),
#define CLASS(name_, help_)                                                                                   \
    KEY_CHOICE("class." #name_ ".unit", classes[LS_CLASS_##name_].unit, "int", unit_names, help_ ": unit"),   \
    KEY("class." #name_ ".latency_cycles", classes[LS_CLASS_##name_].latency_cycles, "cycles", "4", 1,        \
        CORE_WHEEL - 4, help_ ": latency"),                                                                   \
    KEY("class." #name_ ".interval_cycles", classes[LS_CLASS_##name_].interval_cycles, "cycles", "1", 1,      \
        1000, help_ ": initiation interval"),
#include "lockstep/classes.def"
#undef CLASS
};

static const ls_need needs[] = {
    { "icache.*", "fetch=cycle" },
    { "ccache.*", "constant=cycle" },
    { "tlb.*", "translation=cycle" },
    { "async", "memory=cycle" },
    { "mbarrier.*", "async=cycle memory=cycle" },
    { "tma.*", "async=cycle memory=cycle" },
    { "tlb.l2_ways", "tlb.l2_entries!=0" },
    { "tlb.l2_latency_cycles", "tlb.l2_entries!=0" },
    { "tlb.waiting", "tlb.place=before-l2" },
    { "analytic_latency", "memory=analytic" },
    { "shared_options_kib", "unified_kib!=0 l1.size_kib=0" },
    { "network_queue", "memory=cycle" },
    /* Instructions of a type that has a rate do not take the class's. */
    { "class.tensor_half.*_cycles", "tensor.fp16_fma=0,tensor.fp16_sum16_fma=0,tensor.bf16_fma=0,tensor.tf32_fma=0" },
    { "class.tensor_int.*_cycles", "tensor.int8_fma=0,tensor.int4_fma=0" },
    { "class.tensor_bit.*_cycles", "tensor.bit_fma=0" },
    { "class.tensor_double.*_cycles", "tensor.fp64_fma=0" },
    { "tensor.groups", "alu=cycle" },
    /* In lock step a result is there when the units are free again: the interval is the latency. */
    { "class.tensor_group.latency_cycles", "tensor.groups=warps,alu=issue" },
    { "result_buses", "alu=cycle" },
    { "fetch_rounds", "alu=cycle" },
#define CLASS(name_, help_)                                                                                   \
    { "class." #name_ ".latency_cycles", "class." #name_ ".unit!=memory" },                                   \
    { "class." #name_ ".interval_cycles", "class." #name_ ".unit!=memory" },
#include "lockstep/classes.def"
#undef CLASS
    { "network_sectors_per_cycle", "memory=cycle" },
    { "bypass_l1", "memory=cycle" },
    { "perfect_memory", "memory=cycle" },
};

#define COUNT(field_, unit_, help_) LS_METRIC_COUNTER(core_counters, field_, unit_, help_)
#define STALL(reason_, name_, help_)                                                                          \
    { .name = "stall_" name_, .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(core_counters, stalls[reason_]), \
      .unit = "issue slots", .help = (help_) }

/* In contrast to stalls, one slot may count for several reasons: each that some warp of the scheduler had. */
#define STACK(reason_, name_, help_)                                                                          \
    { .name = "stack_" name_, .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(core_counters, stack[reason_]),  \
      .unit = "issue slots", .help = (help_) }

static const ls_metric metrics[] = {
    COUNT(resident_cycles, "cycles", "cycles with a resident warp, summed over cores"),
    COUNT(warp_instructions, "instructions", "warp instructions completed"),
    COUNT(thread_instructions, "instructions", "active lanes of completed instructions"),
    LS_METRIC_RATIO(core_counters, "ipc", warp_instructions, resident_cycles, "instructions/cycle",
                    "warp instructions per active core cycle"),
    COUNT(ctas, "blocks", "thread blocks run"),
    COUNT(resident_warps, "warp cycles", "resident warps, summed over cycles"),
    LS_METRIC_RATIO(core_counters, "occupancy", resident_warps, resident_cycles, "warps", "resident warps per cycle"),
    COUNT(issue_slots, "issue slots", "issue opportunities of all schedulers"),
    COUNT(issued, "issue slots", "slots that issued"),
    LS_METRIC_RATIO(core_counters, "issue_rate", issued, issue_slots, "", "issued / issue slots"),
    STALL(STALL_IDLE, "idle", "no warp on the scheduler"),
    STALL(STALL_FETCH, "fetch", "no decoded instruction"),
    STALL(STALL_BARRIER, "barrier", "waits for the thread block"),
    STALL(STALL_FENCE, "fence", "waits for a memory barrier or an atomic"),
    STALL(STALL_ASYNC, "async", "waits for asynchronous copies, or for matrix instructions of its warp group"),
    STALL(STALL_MBARRIER, "mbarrier", "waits for the phase of an mbarrier"),
    STALL(STALL_MEMORY, "memory", "an operand comes from memory"),
    STALL(STALL_DEPENDENCE, "dependence", "an operand comes from an execution unit"),
    STALL(STALL_UNIT, "unit", "the unit's issue register is taken"),
    STACK(STALL_FETCH, "fetch", "among others: a warp without a decoded instruction"),
    STACK(STALL_BARRIER, "barrier", "among others: a warp that waits for its thread block"),
    STACK(STALL_FENCE, "fence", "among others: a warp that waits for a memory barrier or an atomic"),
    STACK(STALL_ASYNC, "async", "among others: a warp that waits for asynchronous copies, or for matrix instructions of its warp group"),
    STACK(STALL_MBARRIER, "mbarrier", "among others: a warp that waits for the phase of an mbarrier"),
    STACK(STALL_MEMORY, "memory", "among others: a warp with an operand from memory"),
    STACK(STALL_DEPENDENCE, "dependence", "among others: a warp with an operand from an execution unit"),
    STACK(STALL_UNIT, "unit", "among others: a warp whose unit is taken"),
    COUNT(memory_instructions, "instructions", "instructions through the load/store unit"),
    COUNT(memory_sectors, "sectors", "32-byte sectors after coalescing"),
    COUNT(memory_bytes, "bytes", "that active lanes asked for, outside of shared memory (core.alu cycle)"),
    COUNT(shared_accesses, "instructions", "shared-memory instructions"),
    COUNT(bank_conflict_cycles, "cycles", "extra cycles for shared-memory bank conflicts"),
    COUNT(l1_bank_conflicts, "cycles", "cycles in which a busy L1 bank held an instruction up"),
    COUNT(unknown_opcodes, "instructions", "opcodes of no table, taken for integer instructions by request"),
    COUNT(async_copy_misses, "instructions", "asynchronous copies with an L1 miss"),
    COUNT(network_stalls, "times", "times that a request had to wait for the network"),
    COUNT(network_stall_cycles, "cycles", "cycles in which the oldest request could not enter the network"),
    COUNT(requests_sent, "requests", "sector requests sent to memory"),
    COUNT(replies, "replies", "answers from memory"),
    COUNT(register_reads, "reads", "register bank reads"),
    COUNT(register_bank_waits, "reads", "reads that waited behind another of their bank"),
#define METRICS_TYPE core_counters
#define METRICS_FIELD l1
#define METRICS_PREFIX "l1_"
#define METRICS_LABEL "L1: "
#include "model/cache/sector_cache_metrics.def"
#define OPTION(name_, field_, unit_, help_)                                                                   \
    { .name = (name_), .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(core_counters, options.field_),     \
      .unit = (unit_), .help = (help_) },
#include "model/core/options_metrics.def"
#include "model/core/analytic_metrics.def"
#include "model/core/async_metrics.def"
#undef OPTION
#define FLOPS(kind_, name_, help_)                                                                            \
    { .name = "flops_" name_, .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(core_counters, flops[kind_]),    \
      .unit = "FLOP", .help = (help_) }
    FLOPS(FLOPS_HALF, "half", "operations of packed half-precision instructions"),
    FLOPS(FLOPS_SINGLE, "single", "single-precision operations; a multiply-add is two"),
    FLOPS(FLOPS_DOUBLE, "double", "double-precision operations"),
    FLOPS(FLOPS_TENSOR, "tensor", "operations of matrix instructions"),
#define LATENCY(level_, name_, help_)                                                                         \
    LS_METRIC_FINE_HISTOGRAM("latency_" name_, offsetof(core_counters, latency[level_]), "cycles",            \
                             "time in the load/store unit and memory of loads and atomics " help_)
    LATENCY(LEVEL_L1, "l1", "that found all sectors in L1"),
    LATENCY(LEVEL_L2, "l2", "with L2 as the farthest level"),
    LATENCY(LEVEL_DRAM, "dram", "with DRAM as the farthest level"),
    LATENCY(LEVEL_REMOTE, "remote", "with memory of another GPU as the farthest level"),
    COUNT(peak_flops, "FLOP", "single-precision operations that the units could have done"),
    { .name = "single_of_peak", .kind = LS_METRIC_KIND_RATIO, .offset = offsetof(core_counters, flops[FLOPS_SINGLE]),
      .denominator = offsetof(core_counters, peak_flops), .unit = "", .help = "flops_single / peak_flops" },
#define CLASS(name_, help_)                                                                                   \
    { .name = "issued_" #name_, .kind = LS_METRIC_KIND_COUNTER,                                               \
      .offset = offsetof(core_counters, by_class[LS_CLASS_##name_]), .unit = "instructions", .help = help_ },
#include "lockstep/classes.def"
#undef CLASS
};
/* clang-format on */

/* ----------------------------------------------------------------------------------------------- sleeping */

/* While something waits for a unit the turns of the schedulers go on, though the core sleeps. */
void core_count_sleep(core *c, ls_cycle now)
{
    if (c->dozing)
        c->front.turn = (uint32_t)((c->front.turn + (now - c->last_tick - 1)) % c->sub_count);
}

void core_count_time(core *c, ls_cycle until)
{
    const uint64_t cycles = c->resident_warps_then == 0 ? 0 : until - c->time_counted_until;
    c->n.resident_cycles += cycles;
    c->n.resident_warps += cycles * c->resident_warps_then;
    c->n.issue_slots += cycles * c->sub_count;
    c->time_counted_until = until;
}

/* Counters of the core's time end where its number of warps changed, and a scheduler's stalls where it was looked at last: both are
 * brought up to `end`. A core with alu: issue runs ahead of its clock, so its counters may already show later cycles. */
static void settle(void *self, ls_cycle end)
{
    core *c = self;
    if (c->spec->alu != ALU_CYCLE || c->resident_warps_then == 0)
        return;
    if (end > c->last_tick + 1) {
        core_count_sleep(c, end);
        c->last_tick = end - 1;
    }
    core_count_time(c, c->last_tick + 1);
    front_count_stalls(c, end);
}

bool core_sleep(core *c, ls_cycle next)
{
    if (next == c->now + 1)
        return true;
    if (ls_event_scheduled(&c->timer) && c->timer.cycle != next)
        ls_cancel(&c->timer);
    if (next != LS_CYCLE_MAX && !ls_event_scheduled(&c->timer))
        ls_schedule_at(c->region, &c->timer, next);
    return false;
}

static void core_timer(void *self, ls_cycle now)
{
    core *c = self;
    (void)now;
    ls_ticker_wake(&c->ticker);
}

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status check_spec(const core_spec *spec, ls_error *err)
{
    if (spec->warp_slots % spec->sub_cores != 0)
        return ls_fail(err, LS_ERR_INPUT, "warp_slots (%llu) is no multiple of sub_cores (%llu)",
                       (unsigned long long)spec->warp_slots, (unsigned long long)spec->sub_cores);
    if (spec->warp_slots / spec->sub_cores > CORE_SUB_WARPS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "more than %d warps per sub-core", CORE_SUB_WARPS_MAX);
    if (spec->alu == ALU_ISSUE && (spec->options.fetch != OPTION_OFF || spec->options.constant != OPTION_OFF))
        return ls_fail(err, LS_ERR_UNSUPPORTED, "alu 'issue' has no %s: set %s to perfect, or alu to cycle",
                       spec->options.fetch != OPTION_OFF ? "stage of fetching" : "constant caches",
                       spec->options.fetch != OPTION_OFF ? "fetch" : "constant");
    for (int i = 0; i < LS_CLASS_COUNT; i++) {
        bool memory =
            i == LS_CLASS_load || i == LS_CLASS_store || i == LS_CLASS_atomic || i == LS_CLASS_async_copy;
        if (memory && spec->classes[i].unit != UNIT_memory)
            return ls_fail(err, LS_ERR_INPUT, "class.%s.unit must be memory",
                           inst_class_name((ls_inst_class)i));
    }
    if (spec->analytic.memory == ANALYTIC_ON && spec->options.translation != OPTION_OFF)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "memory 'analytic' knows no address translation: set translation to none");
    return options_check(&spec->options, err);
}

static void init_classes(core *c)
{
    uint32_t first[UNIT_COUNT]; /* a class of the unit */
    for (uint32_t i = LS_CLASS_COUNT; i-- > 0;)
        first[c->spec->classes[i].unit] = i;
    for (uint32_t i = 0; i < LS_CLASS_COUNT; i++) {
        const core_class *class_ = &c->spec->classes[i];
        const ls_inst any = { .class_ = (uint8_t)i };
        c->pipes.classes[i] = (pipe_class){
            .latency = (uint16_t)class_->latency_cycles,
            .interval = (uint16_t)(class_->interval_cycles > 0 ? class_->interval_cycles : 1),
            .result = (uint16_t)pipes_result_cycles(c, class_->latency_cycles),
            .unit = (uint8_t)class_->unit,
            .tensor = ls_inst_is_tensor(&any) != 0,
        };
        c->pipes.ways[i] = (pipe_way){ .unit_bit = (uint16_t)(1u << class_->unit),
                                       .unit = (uint8_t)class_->unit,
                                       .class_ = (uint8_t)i };
        if (c->pipes.classes[i].tensor ||
            class_->latency_cycles != c->spec->classes[first[class_->unit]].latency_cycles)
            c->pipes.uneven |= 1u << class_->unit;
    }
}

static void init_order(core *c)
{
    for (uint32_t turn = 0; turn < c->sub_count; turn++)
        for (uint32_t set = 0; set < 1u << c->sub_count; set++) {
            uint32_t *order = &c->front.order[turn][set];
            *order = FRONT_LAST;
            for (uint32_t place = c->sub_count; place-- > 0;) {
                const uint32_t sub = (turn + place) % c->sub_count;
                *order = (set >> sub & 1) != 0 ? *order << 4 | sub : *order;
            }
        }
}

static ls_status core_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    core *c = state;
    c->spec = spec;
    ls_status status = check_spec(c->spec, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "%s", ls_block_name(block));
    tensor_init(&c->pipes.tensor, &c->spec->tensor, (uint32_t)c->spec->sub_cores,
                (uint32_t)c->spec->shared_banks * 4, CORE_WHEEL - 4);
    init_classes(c);
    c->region = ls_block_region(block);
    c->domain = ls_region_domain(c->region);
    c->name = ls_block_name(block);
    c->tap = ls_block_tap(block);
    c->sub_count = (uint32_t)c->spec->sub_cores;
    init_order(c);
    c->front.last_fetched = (uint32_t)c->spec->warp_slots - 1;
    c->ldst.dispatch = c->ldst.next_wb = c->ldst.next_global = NO_FLIGHT;
    c->ldst.shared_last = LS_CYCLE_MAX;
    ls_event_init(&c->timer, core_timer, c);
    ls_event_init(&c->ldst.network_event, ldst_network_event, c);
    cta_init(c);
    ring_init(&c->ldst.shared_ring, (uint32_t)c->spec->shared_latency_cycles);
    ring_init(&c->ldst.out_ring, (uint32_t)c->spec->network_queue);
    uint32_t out_size = ring_size_for((uint32_t)c->spec->network_queue);
    c->ldst.out = ls_domain_alloc(c->domain, out_size * sizeof *c->ldst.out);
    c->ldst.out_channel = ls_domain_alloc(c->domain, out_size * sizeof *c->ldst.out_channel);
    bool ok = c->ldst.out != NULL && c->ldst.out_channel != NULL;
    if (!ok || !flights_init(c) || !options_init(c) || !coalesce_init(c))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    if (c->spec->analytic.memory == ANALYTIC_ON && (c->analytic = analytic_create(c)) == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    /* Where memory is a formula, kernels with mbarriers and bulk copies are refused by name. */
    if (c->spec->async.model == ASYNC_CYCLE && c->analytic == NULL && !async_init(c))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    c->ldst.memory_next = LS_CYCLE_MAX;
    for (uint32_t warp = 0; warp < c->spec->warp_slots; warp++) {
        c->front.warp_sub[warp] = (uint8_t)(warp % c->sub_count);
        c->front.warp_bit[warp] = 1u << (warp / c->sub_count);
        c->front.warp[warp] = &c->front.warps[warp];
    }
    for (uint32_t sub = 0; sub < CORE_SUBS_MAX; sub++) {
        c->front.at[sub] = &c->front.subs[sub];
        c->pipes.at[sub] = &c->pipes.subs[sub];
    }
    for (uint32_t sub = 0; sub < c->sub_count; sub++)
        c->front.subs[sub].last_issued = (uint8_t)(c->spec->warp_slots / c->sub_count - 1);
    c->alu = c->spec->alu == ALU_CYCLE ? &core_alu_cycle
             : c->analytic != NULL     ? &core_alu_flow
                                       : &core_alu_flow_simulated;
    if (!c->alu->init(c))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    return ls_ticker_add(c->region, &c->ticker, c->alu->tick, c, err);
}

static void core_waits(const void *state, ls_wait_sink *sink)
{
    const core *c = state;
    char detail[224], mbarrier_text[128];
    for (uint32_t warp = 0; warp < c->spec->warp_slots; warp++) {
        const warp_state *w = &c->front.warps[warp];
        if (!w->resident)
            continue;
        const front_sub *s = &c->front.subs[warp_sub(c, warp)];
        uint32_t bit = warp_bit(c, warp);
        static const char *const waits[] = { "cluster barrier", "matrix instructions of its warp group",
                                             "registers of other warps", "the kernel before" };
        front_wait special = front_waits_for(c, warp);
        const char *why = special != FRONT_WAIT_NONE ? waits[special - FRONT_WAIT_CLUSTER]
                          : s->barrier & bit         ? "barrier"
                          : s->fence & bit           ? "memory barrier or atomic"
                          : s->mbarrier & bit ? mbarrier_describe(c, warp, mbarrier_text, sizeof mbarrier_text)
                          : s->elsewhere & bit ? "bulk copies"
                          : s->async & bit     ? "asynchronous copies"
                          : s->blocked & bit   ? "a register"
                          : w->stores > 0      ? "acknowledgement of a store"
                                               : "issue";
        unsigned long long pc = w->next < w->end ? (unsigned long long)w->insts[w->next->inst].pc : 0;
        snprintf(detail, sizeof detail, "warp %u, pc 0x%llx: %s (%u in flight, %u stores, %u atomics)", warp,
                 pc, why, w->in_flight, w->stores, w->atomics);
        ls_wait_report(sink, c->name, s->barrier & bit ? c->name : "memory", detail);
    }
}

static const ls_port_decl ports[] = {
    { .name = LS_CORE_PORT, .interface = LS_CORE_INTERFACE, .ops = &core_ops },
    { .name = CORE_PROFILE_PORT, .interface = CORE_PROFILE_INTERFACE, .ops = &core_profile },
    { .name = "scheduler", .interface = LS_SCHEDULER_INTERFACE, .offset = offsetof(core, front.scheduler) },
    { .name = LS_L1_PORT, .interface = LS_L1_INTERFACE, .offset = offsetof(core, ldst.l1_port) },
};

static const ls_block_type core_cycle = {
    .abi = LS_ABI_VERSION,
    .slot = LS_CORE_SLOT,
    .name = "cycle",
    .help = "sub-cores with collectors and units simulated cycle by cycle",
    .spec_size = sizeof(core_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(core),
    .rows = core_state_rows,
    .row_count = CORE_STATE_ROWS,
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(core, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = core_init,
    .waits = core_waits,
    .settle = settle,
};
LS_REGISTER_BLOCK(core_cycle);
