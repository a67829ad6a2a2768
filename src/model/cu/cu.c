/* cu.c: the compute unit as a block: its keys and counters, its life and wiring, and its cycle. It runs a
 * cycle only if something can move in it: a wave whose time has come, a request to send, an instruction to
 * fetch, an access that ends. */
#include "model/cu/cu.h"
#include "model/cu/cu_state.h"

#include <stdio.h>

#define CU_KEY(field, unit, gcn, rdna, cdna, min, max, help)                                                  \
    LS_PARAM_UINT(cu_spec, field, unit, gcn, min, max, help),
static const ls_param cu_gcn_params[] = {
#include "model/cu/cu_keys.def"
};
#undef CU_KEY
#define CU_KEY(field, unit, gcn, rdna, cdna, min, max, help)                                                  \
    LS_PARAM_UINT(cu_spec, field, unit, rdna, min, max, help),
static const ls_param cu_rdna_params[] = {
#include "model/cu/cu_keys.def"
};
#undef CU_KEY
#define CU_KEY(field, unit, gcn, rdna, cdna, min, max, help)                                                  \
    LS_PARAM_UINT(cu_spec, field, unit, cdna, min, max, help),
static const ls_param cu_cdna_params[] = {
#include "model/cu/cu_keys.def"
};
#undef CU_KEY

#define CU_STALL(name_, why_, help_)                                                                          \
    {                                                                                                         \
        .name = "stall_" name_, .kind = LS_METRIC_KIND_COUNTER,                                               \
        .offset = offsetof(cu_counters, stall) + (why_) * sizeof(uint64_t), .unit = "cycles",                 \
        .help = "cycles without issue in which a wave " help_                                                 \
    }
#define COUNT(field, unit, help) LS_METRIC_COUNTER(cu_counters, field, unit, help),
static const ls_metric cu_metrics[] = {
#include "model/cu/cu_metrics.def"
    CU_STALL("vmcnt", CU_WHY_VM, "waited for vmcnt"),
    CU_STALL("lgkmcnt", CU_WHY_LGKM, "waited for lgkmcnt"),
    CU_STALL("expcnt", CU_WHY_EXP, "waited for expcnt"),
    CU_STALL("vscnt", CU_WHY_VS, "waited for vscnt"),
    CU_STALL("fetch", CU_WHY_FETCH, "had no instruction"),
    CU_STALL("barrier", CU_WHY_BARRIER, "waited at a barrier"),
    CU_STALL("sleep", CU_WHY_SLEEP, "slept"),
    CU_STALL("dependence", CU_WHY_DEPEND, "waited for its last instruction, or for its SIMD's turn"),
    CU_STALL("valu", CU_WHY_UNIT + CU_UNIT_VALU, "found the vector ALU busy"),
    CU_STALL("scalar", CU_WHY_UNIT + CU_UNIT_SCALAR, "found the scalar unit busy"),
    CU_STALL("vmem", CU_WHY_UNIT + CU_UNIT_VMEM, "found the vector memory path full"),
    CU_STALL("lds", CU_WHY_UNIT + CU_UNIT_LDS, "found LDS busy"),
    CU_STALL("branch", CU_WHY_UNIT + CU_UNIT_BRANCH, "found the branch unit busy"),
#define CU_LATENCY(level_, name_, help_)                                                                      \
    LS_METRIC_FINE_HISTOGRAM("latency_" name_,                                                                \
                             offsetof(cu_counters, latency) + (level_) * sizeof(ls_histogram), "cycles",      \
                             "time from issue to the last line of vector loads and atomics " help_)
    CU_LATENCY(CU_LEVEL_L1, "l1", "that caches above L2 answered"),
    CU_LATENCY(CU_LEVEL_L2, "l2", "with L2 as the farthest level"),
    CU_LATENCY(CU_LEVEL_DRAM, "dram", "with DRAM as the farthest level"),
    CU_LATENCY(CU_LEVEL_REMOTE, "remote", "with memory of another GPU or of the host as the farthest level"),
    LS_METRIC_RATIO(cu_counters, "ipc", instructions, resident_cycles, "",
                    "instructions per cycle with waves"),
    LS_METRIC_RATIO(cu_counters, "occupancy_waves", wave_cycles, resident_cycles, "waves",
                    "resident waves on average"),
    LS_METRIC_RATIO(cu_counters, "lines_per_access", vector_lines, vector_accesses, "requests",
                    "lines per vector memory instruction"),
    LS_METRIC_RATIO(cu_counters, "vector_load_latency", vector_load_cycles, vector_loads, "cycles",
                    "average of vector loads, from issue to registers"),
    LS_METRIC_RATIO(cu_counters, "scalar_load_latency", scalar_load_cycles, scalar_loads, "cycles",
                    "average of scalar loads, from issue to registers"),
    LS_METRIC_RATIO(cu_counters, "fetch_latency", fetch_cycles, fetches, "cycles",
                    "average of instruction fetches"),
};
#undef COUNT

/* --- the cycle ------------------------------------------------------------------------------------------ */

/* How many of the next `cycles` from c->counted_to on had an issue; forgets them. */
static uint64_t cu_active(cu *c, uint64_t cycles)
{
    unsigned by = (unsigned)c->counted_to & 63;
    uint64_t turned = c->active >> by | c->active << (64 - by) % 64;
    uint64_t gone = cycles < 64 ? turned & ((1ull << cycles) - 1) : turned;
    turned ^= gone;
    c->active = turned << by | turned >> (64 - by) % 64;
    return gone == 1 ? 1 : (uint64_t)__builtin_popcountll(gone);
}

void cu_count_cycles(cu *c, ls_cycle now)
{
    uint64_t cycles = now - c->counted_to;
    if (cycles == 0)
        return;
    uint64_t active = c->active != 0 ? cu_active(c, cycles) : 0;
    c->counted_to = now;
    if (c->resident == 0)
        return;
    cu_counters *n = &c->counters;
    n->resident_cycles += cycles;
    n->wave_cycles += cycles * c->resident;
    n->active_cycles += active;
    cycles -= active;
    if (cycles == 0)
        return;
    uint64_t held[LS_CU_SIMDS_MAX / 2];
    memcpy(held, c->held, sizeof held);
    held[0] |= held[1] | held[2] | held[3];
    uint32_t why = c->waiting_mask | (uint32_t)held[0] | (uint32_t)(held[0] >> 32);
    for (uint32_t left = why; left != 0; left &= left - 1)
        n->stall[__builtin_ctz(left)] += cycles;
    if (LS_UNLIKELY(c->counted))
        cu_counts_stall(c, why, cycles);
}

/* Cycles since the unit last changed are not in its counters yet. */
static void cu_settle(void *self, ls_cycle end)
{
    cu *c = self;
    if (end > c->counted_to)
        cu_count_cycles(c, end);
}

void cu_wake(cu *c, ls_cycle at, ls_cycle now)
{
    if (c->awake)
        return;
    if (at <= now) {
        ls_cancel(&c->alarm);
        c->awake = true;
        ls_ticker_wake(&c->ticker);
    } else if (!ls_event_scheduled(&c->alarm)) {
        ls_schedule(c->region, &c->alarm, at - now);
    } else if (c->alarm.cycle > at) {
        ls_cancel(&c->alarm);
        ls_schedule(c->region, &c->alarm, at - now);
    }
}

static void cu_alarm(void *self, ls_cycle now)
{
    cu *c = self;
    (void)now;
    c->awake = true;
    ls_ticker_wake(&c->ticker);
}

static inline ls_cycle cu_earlier(ls_cycle a, ls_cycle b)
{
    return a < b ? a : b;
}

static inline ls_cycle cu_later(ls_cycle a, ls_cycle b)
{
    return a > b ? a : b;
}

/* The SIMD is served the next time that it can be. */
static void cu_look(cu *c, unsigned s, ls_cycle now)
{
    ls_cycle at = cu_served(c, s, c->ticked_once && c->ticked == now ? now + 1 : now);
    c->next[s] = cu_earlier(c->next[s], at);
    cu_wake(c, at, now);
}

void cu_path_free(cu *c, unsigned path, ls_cycle now)
{
    c->pipes[path].full = false;
    for (unsigned i = 0; i < c->spec->simds; i++) {
        const cu_simd *simd = &c->simds[i];
        if (simd->half != path || simd->ready[CU_UNIT_VMEM] == 0)
            continue;
        cu_look(c, i, now);
    }
}

void cu_scalar_free(cu *c, ls_cycle now)
{
    for (unsigned i = 0; i < c->spec->simds; i++)
        if (c->simds[i].scalar_full)
            cu_look(c, i, now);
}

static ls_cycle cu_next(const cu *c, ls_cycle now, bool fetch)
{
    ls_cycle next = fetch ? now + 1 : c->timed_next;
    for (unsigned i = 0; i < c->simd_count; i += 2) /* an absent SIMD is never due */
        next = cu_earlier(next, cu_earlier(c->next[i], c->next[i + 1]));
    for (uint32_t left = c->sending; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        ls_cycle at = now + 1;
        if (i != CU_SENDS_SCALAR)
            at = c->accesses[c->pipes[i].queue.first].start;
        else if (c->scalars[c->scalar_queue.first].line_count == 0)
            at = c->scalars[c->scalar_queue.first].issued + c->spec->clock_read_cycles;
        next = cu_earlier(next, cu_later(now + 1, at));
    }
    return next;
}

static bool cu_tick(void *self, ls_cycle now)
{
    cu *c = self;
    if (c->counted_to != now)
        cu_count_cycles(c, now);
    c->awake = true; /* the calls below set times that count when the next cycle is chosen */
    if (c->timed_next <= now)
        cu_access_timed(c, now);
    for (uint32_t left = c->sending; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        if (i == CU_SENDS_SCALAR)
            cu_scalar_send(c, now);
        else
            cu_vector_send(c, i, now);
    }
    unsigned issued = 0;
    for (unsigned i = (unsigned)now & (c->turn - 1); i < c->simd_count; i += c->turn)
        if (c->next[i] <= now) {
            c->serving = (uint8_t)i;
            issued += cu_issue_simd(c, i, now);
        }
    c->serving = 0;
    c->ticked = now;
    c->ticked_once = true;
    if (issued != 0) {
        c->active |= 1ull << now % 64;
        ls_domain_progress(c->domain);
    }
    bool fetch = c->want_mask != 0 && !c->code_refused && cu_fetch_run(c, now);
    ls_cycle next = cu_next(c, now, fetch);
    if (next <= now + 1)
        return true;
    c->awake = false;
    if (next != UINT64_MAX)
        cu_wake(c, next, now);
    return false;
}

/* --- wiring --------------------------------------------------------------------------------------------- */

ls_cu_capacity cu_get_capacity(const ls_block *block)
{
    const cu_spec *s = ls_block_spec(block);
    return (ls_cu_capacity){ .simds = (uint32_t)s->simds,
                             .waves_per_simd = (uint32_t)s->waves_per_simd,
                             .groups = (uint32_t)s->groups,
                             .vgprs_per_simd = (uint32_t)s->vgpr_rows,
                             .vgpr_unit = (uint32_t)s->vgpr_unit,
                             .sgprs_per_simd = (uint32_t)s->sgprs,
                             .sgpr_unit = (uint32_t)s->sgpr_unit,
                             .lds_bytes = (uint32_t)s->lds_kib * 1024,
                             .lds_unit = (uint32_t)s->lds_unit_bytes,
                             .lane_width = (uint32_t)s->lane_width,
                             .halves = (uint32_t)s->halves,
                             .barriers = (uint32_t)s->barriers };
}

ls_status cu_attach(ls_block *block, const cu_wires *wires, ls_error *err)
{
    cu *c = ls_block_state(block);
    c->wires = *wires;
    if (wires->vector_count == 0 || wires->vector_count > c->spec->halves)
        return ls_fail(err, LS_ERR_USAGE,
                       "vector_caches is %u, but %s has only %llu paths to them (cu.halves; cu.model)",
                       wires->vector_count, ls_block_name(block), (unsigned long long)c->spec->halves);
    c->line_bytes = wires->vector[0].line_bytes;
    if (wires->vector[wires->vector_count - 1].line_bytes != c->line_bytes ||
        wires->scalar.line_bytes != c->line_bytes || wires->code.line_bytes != c->line_bytes)
        return ls_fail(
            err, LS_ERR_USAGE,
            "%s: its caches have lines of %u (vector), %u (scalar) and %u (code) bytes; they must be the "
            "same",
            ls_block_name(block), c->line_bytes, wires->scalar.line_bytes, wires->code.line_bytes);
    if (c->line_bytes > LS_LINE_BYTES_MAX || c->line_bytes < c->spec->fetch_bytes ||
        (c->line_bytes & (c->line_bytes - 1)) != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "%s: lines of %u bytes; a power of two from fetch_bytes (%llu) to %u",
                       ls_block_name(block), c->line_bytes, (unsigned long long)c->spec->fetch_bytes,
                       LS_LINE_BYTES_MAX);
    c->line_shift = (uint32_t)__builtin_ctz(c->line_bytes);
    c->scheduler_kind = scheduler_kind_of(&c->scheduler);
    c->pipe_count = wires->vector_count;
    for (unsigned i = 0; i < c->spec->simds; i++)
        c->simds[i].half = (uint8_t)(i * c->pipe_count / c->spec->simds);
    return LS_OK;
}

static void cu_port_capacity(const void *self, ls_cu_capacity *out)
{
    *out = cu_get_capacity(((const cu *)self)->block);
}

static ls_status cu_port_attach(void *self, const ls_cu_wiring *wiring, ls_error *err)
{
    cu *c = self;
    ls_status status = LS_OK;
    cu_wires wires = { .cluster = wiring->cluster,
                       .index = wiring->index,
                       .vector_count = wiring->vector_count,
                       .to_command = wiring->to_command,
                       .kernels = wiring->kernels };
    for (uint32_t i = 0; i < wires.vector_count && status == LS_OK; i++)
        status = ls_line_join(wiring->vector[i], &cu_vector_client[i], c, &wires.vector[i], err);
    if (status == LS_OK)
        status = ls_line_join(wiring->scalar, &cu_scalar_client, c, &wires.scalar, err);
    if (status == LS_OK)
        status = ls_line_join(wiring->code, &cu_code_client, c, &wires.code, err);
    return status == LS_OK ? cu_attach(c->block, &wires, err) : status;
}

static bool cu_port_take_kernel(void *self, uint32_t number, void *counters, size_t bytes)
{
    return cu_take_kernel(((cu *)self)->block, number, counters, bytes);
}

static const ls_cu_ops cu_ops = { .capacity = cu_port_capacity,
                                  .attach = cu_port_attach,
                                  .receive_launch = cu_receive_launch,
                                  .cancel = cu_cancel,
                                  .take_kernel = cu_port_take_kernel,
                                  .open = cu_grid_open };

bool cu_is_model(const ls_port *port)
{
    return port->ops == &cu_ops;
}

const char *ls_cu_kernel_name(const ls_cu_kernel *kernel)
{
    return kernel->program->name;
}

uint32_t ls_cu_kernel_lanes(const ls_cu_kernel *kernel)
{
    return kernel->program->lanes;
}

uint32_t ls_cu_kernel_vgprs(const ls_cu_kernel *kernel)
{
    return kernel->program->vgprs;
}

/* --- life ----------------------------------------------------------------------------------------------- */

static void cu_rates(cu *c)
{
    const cu_spec *s = c->spec;
    const uint64_t rate[CU_RATE_COUNT] = { [CU_RATE_FULL] = 1,
                                           [CU_RATE_HALF] = s->half_rate,
                                           [CU_RATE_QUARTER] = s->quarter_rate,
                                           [CU_RATE_DIVIDE] = s->divide_rate,
                                           [CU_RATE_PACKED] = s->packed_rate,
                                           [CU_RATE_DOUBLE] = s->double_rate,
                                           [CU_RATE_DOUBLE_SLOW] = s->double_slow_rate,
                                           [CU_RATE_DOUBLE_TRANS] = s->double_trans_rate,
                                           [CU_RATE_TRANS] = s->trans_rate,
                                           [CU_RATE_MATRIX] = 1 };
    const uint64_t latency[CU_RATE_COUNT] = { [CU_RATE_FULL] = s->valu_latency_cycles,
                                              [CU_RATE_HALF] = s->half_latency_cycles,
                                              [CU_RATE_QUARTER] = s->quarter_latency_cycles,
                                              [CU_RATE_DIVIDE] = s->quarter_latency_cycles,
                                              [CU_RATE_DOUBLE] = s->double_latency_cycles,
                                              [CU_RATE_DOUBLE_SLOW] = s->double_slow_latency_cycles,
                                              [CU_RATE_DOUBLE_TRANS] = s->double_slow_latency_cycles,
                                              [CU_RATE_TRANS] = s->trans_latency_cycles };
    for (unsigned wide = 0; wide < 2; wide++)
        for (unsigned i = 0; i < CU_RATE_COUNT; i++) {
            uint64_t passes = (32u << wide) / s->lane_width;
            uint64_t busy = (passes != 0 ? passes : 1) * rate[i];
            c->busy[i][wide] = (uint16_t)busy;
            c->latency[i][wide] = (uint16_t)(latency[i] > busy ? latency[i] : busy);
        }
    c->tracks = s->valu_latency_cycles != 0;
    c->goes_ahead = !c->tracks;
}

static ls_status cu_check(const ls_block *block, const cu_spec *s, ls_error *err)
{
    const struct {
        const char *name;
        uint64_t value;
    } powers[] = { { "fetch_bytes", s->fetch_bytes },
                   { "lds_banks", s->lds_banks },
                   { "turn_cycles", s->turn_cycles } };
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++)
        if ((powers[i].value & (powers[i].value - 1)) != 0)
            return ls_fail(err, LS_ERR_USAGE, "%s: %s is %llu; it must be a power of two",
                           ls_block_name(block), powers[i].name, (unsigned long long)powers[i].value);
    if (s->buffer_bytes < 2 * s->fetch_bytes && s->buffer_bytes < s->fetch_bytes + 32)
        return ls_fail(
            err, LS_ERR_USAGE,
            "%s: buffer_bytes is %llu; a wave must hold a fetch of %llu and the instruction before it",
            ls_block_name(block), (unsigned long long)s->buffer_bytes, (unsigned long long)s->fetch_bytes);
    if (s->simds % s->turn_cycles != 0 && s->turn_cycles != 1)
        return ls_fail(err, LS_ERR_USAGE, "%s: %llu SIMDs cannot take turns of %llu cycles",
                       ls_block_name(block), (unsigned long long)s->simds, (unsigned long long)s->turn_cycles);
    return LS_OK;
}

/* The next part of one piece of memory; with a base of NULL only the sizes are added up. */
static void *cu_part(uint8_t *base, size_t *used, size_t bytes)
{
    void *part = base ? base + *used : NULL;
    *used += (bytes + 63) & ~(size_t)63;
    return part;
}

static void cu_divide(cu *c, uint8_t *base, size_t *used)
{
    size_t small = c->spec->vector_in_flight, waves = c->wave_total, groups = c->spec->groups;
    c->waves = cu_part(base, used, waves * sizeof *c->waves);
    c->groups = cu_part(base, used, groups * sizeof *c->groups);
    c->reports = cu_part(base, used, groups * sizeof *c->reports);
    c->accesses = cu_part(base, used, (small + CU_LARGE_ACCESSES) * sizeof *c->accesses);
    c->pool.addresses = cu_part(base, used, small * 64 * sizeof *c->pool.addresses);
    c->pool.data = cu_part(base, used, small * 64 * 4 * sizeof *c->pool.data);
    c->pool.lines = cu_part(base, used, small * CU_SMALL_LINES * sizeof *c->pool.lines);
    c->vgprs = cu_part(base, used, waves * c->register_rows * 64 * sizeof *c->vgprs);
    c->lds_bytes = cu_part(base, used, groups * (AMD_LDS_MAX + 64));
    c->pool.large = cu_part(base, used, CU_LARGE_ACCESSES * sizeof *c->pool.large);
    c->pool.large_lines =
        cu_part(base, used, (size_t)CU_LARGE_ACCESSES * CU_LARGE_LINES * sizeof *c->pool.large_lines);
}

/* All tables in one piece: unused parts are never touched, and many pieces take the host longer than one. */
static bool cu_make_tables(cu *c)
{
    size_t bytes = 0, used = 0;
    cu_divide(c, NULL, &bytes);
    uint8_t *base = ls_domain_alloc(c->domain, bytes);
    if (!base)
        return false;
    cu_divide(c, base, &used);
    c->small = INDEX_POOL_NEW;
    c->large = (index_pool){ INDEX_NONE, (uint32_t)c->spec->vector_in_flight };
    return true;
}

/* One file for VGPRs and AGPRs. */
static bool cu_is_cdna(const ls_block_type *type)
{
    return strcmp(type->name, CU_CDNA) == 0;
}

static ls_status cu_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    cu *c = state;
    c->spec = spec;
    c->block = block;
    c->region = ls_block_region(block);
    c->domain = ls_region_domain(c->region);
    c->tap = ls_block_tap(block);
    ls_status status = cu_check(block, c->spec, err);
    if (status != LS_OK)
        return status;
    c->turn = (uint32_t)c->spec->turn_cycles;
    c->simd_count = (uint32_t)c->spec->simds;
    c->timed_next = UINT64_MAX;
    c->pipe_count = 1;
    c->wave_total = (uint32_t)(c->spec->simds * c->spec->waves_per_simd);
    c->register_rows = cu_is_cdna(ls_block_type_of(block)) ? AMD_VGPR_ROWS_GFX9 : AMD_VGPR_ROWS;
    cu_rates(c);
    if (!cu_make_tables(c))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %s", ls_block_name(block));
    for (unsigned i = 0; i < LS_CU_SIMDS_MAX; i++) {
        c->simds[i].waves = &c->waves[i < c->spec->simds ? i * c->spec->waves_per_simd : 0];
        c->simds[i].clause_slot = UINT8_MAX;
        c->next[i] = UINT64_MAX;
    }
    for (unsigned i = 0; i < CU_TIMED; i++)
        c->timed[i] = INDEX_LIST_EMPTY;
    c->scalar_pool = INDEX_POOL_NEW;
    c->scalar_queue = INDEX_LIST_EMPTY;
    c->pipes[0].queue = c->pipes[1].queue = INDEX_LIST_EMPTY;
    c->lds.ops = lds_shape_host(false);
    ls_event_init(&c->alarm, cu_alarm, c);
    ls_event_init(&c->report, cu_group_report, c);
    return ls_ticker_add(c->region, &c->ticker, cu_tick, c, err);
}

static void cu_waits(const void *self, ls_wait_sink *sink)
{
    static const char *const names[CU_WHY_KEPT] = {
        "vmcnt", "lgkmcnt", "expcnt", "vscnt", "an instruction fetch", "a barrier", "the end of s_sleep"
    };
    const cu *c = self;
    for (uint32_t i = 0; i < c->wave_total; i++) {
        const cu_wave *w = &c->waves[i];
        if (w->state == CU_FREE || (w->state == CU_ENDED && w->in_flight == 0))
            continue;
        const char *what = w->state == CU_ENDED ? "answers from memory" : "its turn";
        if (w->why != 0 && w->state == CU_RUNNING)
            what = names[__builtin_ctz(w->why)];
        char detail[400], pc[300];
        const uint32_t *id = w->group->arch.id;
        snprintf(detail, sizeof detail, "work-group %u,%u,%u, wave %u, pc %s: %s", id[0], id[1], id[2],
                 w->arch.index, amd_program_pc(w->group->kernel->program, w->arch.pc, pc, sizeof pc), what);
        ls_wait_report(sink, ls_block_name(c->block), "memory", detail);
    }
}

static const ls_port_decl cu_ports[] = {
    { .name = LS_CU_PORT, .interface = LS_CU_INTERFACE, .ops = &cu_ops },
    { .name = "scheduler", .interface = LS_SCHEDULER_INTERFACE, .offset = offsetof(cu, scheduler) },
    { .name = LS_STATE_PORT, .interface = LS_STATE_INTERFACE, .ops = &cu_state_ops },
};

static const ls_need cu_needs[] = {
    { "sgprs", "sgpr_unit!=0" },
    { "sgpr_unit", "sgprs!=0" },
    { "packed_rate", "model=" CU_CDNA }, /* others do not have these instructions */
    /* Results have latencies of their own only where registers are tracked. */
    { "half_latency_cycles", "valu_latency_cycles!=0" },
    { "quarter_latency_cycles", "valu_latency_cycles!=0" },
    { "trans_latency_cycles", "valu_latency_cycles!=0" },
    { "double_latency_cycles", "valu_latency_cycles!=0" },
    { "double_slow_latency_cycles", "valu_latency_cycles!=0" },
    { "scalar_wait_cycles", "valu_latency_cycles=0" },
};

#define CU_TYPE(name_, help_, params_)                                                                        \
    {                                                                                                         \
        .abi = LS_ABI_VERSION, .slot = LS_CU_SLOT, .name = (name_), .help = (help_),                          \
        .spec_size = sizeof(cu_spec), .params = (params_),                                                    \
        .param_count = sizeof(params_) / sizeof((params_)[0]), .needs = cu_needs,                             \
        .need_count = LS_COUNT_OF(cu_needs), .state_size = sizeof(cu), .metrics = cu_metrics,                 \
        .metric_count = sizeof cu_metrics / sizeof cu_metrics[0], .counters_offset = offsetof(cu, counters),  \
        .ports = cu_ports, .port_count = LS_COUNT_OF(cu_ports), .init = cu_init, .waits = cu_waits,           \
        .settle = cu_settle, .rows = cu_rows, .row_count = CU_ROW_COUNT                                       \
    }
static const ls_block_type cu_gcn =
    CU_TYPE("gcn", "GCN compute unit: SIMDs take turns, vector results at once", cu_gcn_params);
static const ls_block_type cu_rdna =
    CU_TYPE("rdna", "RDNA dual compute unit: every SIMD issues every cycle", cu_rdna_params);
static const ls_block_type cu_cdna =
    CU_TYPE(CU_CDNA, "CDNA compute unit: as GCN, with matrix units and one register file", cu_cdna_params);
LS_REGISTER_BLOCK(cu_gcn);
LS_REGISTER_BLOCK(cu_cdna);
LS_REGISTER_BLOCK(cu_rdna);
