/* facts.c: see facts.h. Each fact is computed here once, from metrics whose names the models declare. */
#include "report/facts.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ATOM_BYTES 32.0
#define SECTOR_BYTES 32.0
#define WARP_LANES 32.0
#define FS_PER_S 1e15

const fact_entry fact_table[FACT_COUNT] = {
#define FACT(name_, unit_, help_) [FACT_##name_] = { #name_, unit_, help_ },
#include "report/facts.def"
#undef FACT
};

/* One computation. */
typedef struct facts_work {
    const fact_reader *r;
    const fact_scope *scope;
    facts_machine machine;
    double *f;
} facts_work;

/* ------------------------------------------------------------------------------------------------- reading */

/* A counter; NaN: it is not counted. */
static double count(const facts_work *w, const char *type, const char *name)
{
    double a, b;
    return w->r->metric(w->r->self, w->scope->scope, type, w->scope->path, name, &a, &b) ? a : NAN;
}

static double count_or_0(const facts_work *w, const char *type, const char *name)
{
    double value = count(w, type, name);
    return isnan(value) ? 0 : value;
}

static double ratio(const facts_work *w, const char *type, const char *name)
{
    double a, b;
    if (!w->r->metric(w->r->self, w->scope->scope, type, w->scope->path, name, &a, &b) || b <= 0)
        return NAN;
    return a / b;
}

static double key(const facts_work *w, const char *name)
{
    return facts_key_number(w->r->config_text, w->machine, name);
}

static double share(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static double at_most_1(double value)
{
    return value > 1 ? 1 : value;
}

/* ------------------------------------------------------------------------------------------- both machines */

/* Shares of the bus: DRAM counts its cycles with data in its own clock. */
static void read_dram(const facts_work *w, double bytes_of_kernels)
{
    double channels = (double)w->r->blocks(w->r->self, "dram/*", w->scope->path);
    double busy = count(w, "dram/*", "busy_cycles"), mhz = key(w, "clock.dram_mhz");
    double atoms = count_or_0(w, "dram/*", "reads") + count_or_0(w, "dram/*", "writes");
    double bytes = atoms * ATOM_BYTES,
           part = bytes_of_kernels >= 0 && bytes > 0 ? bytes_of_kernels / bytes : 1;
    double cycles = w->scope->busy_fs * mhz * 1e6 / FS_PER_S;
    part = part > 1 ? 1 : part;
    w->f[FACT_dram] = at_most_1(share(busy * part, channels * cycles));
    w->f[FACT_dram_rate] = share(bytes * part * 1e6, w->scope->busy_fs);
    w->f[FACT_row_hits] = ratio(w, "dram/*", "row_hit_rate");
}

/* The busiest link of the fabric, over the whole run. */
static void read_fabric(const facts_work *w)
{
    double most = NAN;
    for (size_t i = 0; w->scope->end_fs > 0 && !w->scope->path; i++) {
        double a, b;
        const char *path = w->r->block(w->r->self, "fabric.link/*", i);
        if (!path)
            break;
        if (w->r->metric(w->r->self, w->scope->scope, "fabric.link/*", path, "utilisation", &a, &b) && b > 0 &&
            !(a / b <= most))
            most = a / b;
    }
    w->f[FACT_fabric] = at_most_1(most);
}

static void read_occupancy(const facts_work *w, double warps, double resident, double slots)
{
    w->f[FACT_warps] = share(warps, resident);
    w->f[FACT_warp_slots] = slots;
    w->f[FACT_occupancy] = at_most_1(share(w->f[FACT_warps], slots));
}

/* Launches take their latency inside of the kernel's time, and no core has a warp then. */
static void read_launches(const facts_work *w, double latency, double resident)
{
    double cycles = w->f[FACT_cycles], launched = w->scope->launched_fs / w->scope->busy_fs * cycles;
    w->f[FACT_launching] = at_most_1(share((double)w->scope->kernels * latency, launched));
    w->f[FACT_core_use] = at_most_1(share(resident, w->f[FACT_cores] * cycles * (1 - w->f[FACT_launching])));
    w->f[FACT_blocks_per_core] =
        share(w->f[FACT_blocks] * (double)w->scope->gpus, w->f[FACT_kernels] * w->f[FACT_cores]);
}

static void read_common(const facts_work *w, double mhz)
{
    w->f[FACT_cycles] = round(w->scope->busy_fs * mhz * 1e6 / FS_PER_S);
    w->f[FACT_time] = w->scope->busy_fs * 1e-9;
    w->f[FACT_kernels] = (double)w->scope->kernels;
    read_fabric(w);
}

/* -------------------------------------------------------------------------------------------------- NVIDIA */

static void read_nvidia_stalls(const facts_work *w)
{
    static const struct {
        fact fact;
        const char *name;
    } rows[] = { { FACT_issued, "issued" },
                 { FACT_stall_memory, "stall_memory" },
                 { FACT_stall_barrier, "stall_barrier" },
                 { FACT_stall_fence, "stall_fence" },
                 { FACT_stall_async, "stall_async" },
                 { FACT_stall_mbarrier, "stall_mbarrier" },
                 { FACT_stall_dependence, "stall_dependence" },
                 { FACT_stall_unit, "stall_unit" },
                 { FACT_stall_fetch, "stall_fetch" } };
    double slots = count(w, "core/*", "issue_slots");
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        w->f[rows[i].fact] = share(count(w, "core/*", rows[i].name), slots);
}

static void read_nvidia_limits(const facts_work *w)
{
    static const struct {
        fact fact;
        const char *name;
    } rows[] = { { FACT_by_grid, "grid_blocks" },
                 { FACT_by_warps, "warp_blocks" },
                 { FACT_by_slots, "slot_blocks" },
                 { FACT_by_registers, "register_blocks" },
                 { FACT_by_shared, "shared_blocks" } };
    double blocks = count(w, "occupancy/*", "blocks");
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        w->f[rows[i].fact] = share(count(w, "occupancy/*", rows[i].name), blocks);
    w->f[FACT_theoretical] =
        at_most_1(share(ratio(w, "occupancy/*", "theoretical"), key(w, "core.warp_slots")));
}

static void read_nvidia_memory(const facts_work *w, double resident)
{
    double shared = count(w, "core/*", "shared_accesses"), all = count(w, "core/*", "memory_instructions");
    double sectors = count(w, "core/*", "memory_sectors"), bytes = count_or_0(w, "core/*", "memory_bytes");
    w->f[FACT_sectors] = share(sectors, all - shared);
    /* Lanes that read the same bytes ask for more than they touch. */
    w->f[FACT_coalescing] = bytes > 0 ? at_most_1(share(bytes, sectors * SECTOR_BYTES)) : NAN;
    w->f[FACT_conflicts] = at_most_1(share(count(w, "core/*", "bank_conflict_cycles"), resident));
    w->f[FACT_atomics] = share(count(w, "core/*", "issued_atomic"), all);
    w->f[FACT_l1_hits] = ratio(w, "core/*", "l1_hit_rate");
    w->f[FACT_l2_hits] = ratio(w, "l2/*", "hit_rate");
    double l2_cycles = w->scope->busy_fs * key(w, "clock.l2_mhz") * 1e6 / FS_PER_S;
    double slices =
        (double)w->r->blocks(w->r->self, "l2/*", w->scope->path) * key(w, "memory.slices_per_channel");
    w->f[FACT_l2_use] = at_most_1(share(count(w, "l2/*", "requests"), slices * l2_cycles));
    w->f[FACT_network] = at_most_1(share(count(w, "core/*", "network_stall_cycles"), resident));
    w->f[FACT_tlb_misses] = share(count(w, "core/*", "tlb_misses"), count(w, "core/*", "tlb_accesses"));
    read_dram(w, -1);
    /* Where memory is a formula, the roofline has its bytes. */
    double formula = ratio(w, "roofline/*", "share_dram");
    if (!(w->f[FACT_dram] > 0) && formula > 0) {
        w->f[FACT_dram] = formula;
        w->f[FACT_dram_rate] = ratio(w, "roofline/*", "rate_dram");
    }
}

static void read_nvidia(const facts_work *w)
{
    double *f = w->f;
    double resident = count(w, "core/*", "resident_cycles");
    f[FACT_cores] = (double)w->r->blocks(w->r->self, "core/*", w->scope->path);
    read_common(w, key(w, "clock.core_mhz"));
    f[FACT_blocks] = count(w, "core/*", "ctas");
    f[FACT_instructions] = count(w, "core/*", "warp_instructions");
    f[FACT_ipc] = share(f[FACT_instructions], f[FACT_cycles]);
    f[FACT_lanes] = share(count(w, "core/*", "thread_instructions"), WARP_LANES * f[FACT_instructions]);
    read_nvidia_stalls(w);
    read_launches(w, key(w, "dispatch.launch_latency_cycles"), resident);
    read_occupancy(w, count(w, "core/*", "resident_warps"), resident, key(w, "core.warp_slots"));
    read_nvidia_limits(w);
    read_nvidia_memory(w, resident);
    f[FACT_single] = ratio(w, "roofline/*", "share_single");
    f[FACT_half] = ratio(w, "roofline/*", "share_half");
    f[FACT_twice] = ratio(w, "roofline/*", "share_double");
    f[FACT_tensor] = ratio(w, "roofline/*", "share_tensor");
}

/* ----------------------------------------------------------------------------------------------------- AMD */

static void read_amd_stalls(const facts_work *w, double resident)
{
    static const struct {
        fact fact;
        const char *names[4];
    } rows[] = { { FACT_issued, { "active_cycles" } },
                 { FACT_stall_memory, { "stall_vmcnt", "stall_vscnt", "stall_vmem" } },
                 { FACT_stall_scalar, { "stall_lgkmcnt" } },
                 { FACT_stall_barrier, { "stall_barrier" } },
                 { FACT_stall_dependence, { "stall_dependence" } },
                 { FACT_stall_unit, { "stall_valu", "stall_scalar", "stall_lds", "stall_branch" } },
                 { FACT_stall_fetch, { "stall_fetch" } } };
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
        double most = 0; /* one cycle can count under several of them */
        for (size_t k = 0; k < LS_COUNT_OF(rows[i].names) && rows[i].names[k]; k++) {
            double here = count_or_0(w, "cu/*", rows[i].names[k]);
            most = here > most ? here : most;
        }
        w->f[rows[i].fact] = share(most, resident);
    }
}

/* Tries of the dispatcher that found no room, by the resource. */
static void read_amd_limits(const facts_work *w)
{
    static const struct {
        fact fact;
        const char *names[2];
    } rows[] = { { FACT_by_slots, { "blocked_groups", "blocked_barriers" } },
                 { FACT_by_warps, { "blocked_waves" } },
                 { FACT_by_registers, { "blocked_vgprs", "blocked_sgprs" } },
                 { FACT_by_shared, { "blocked_lds" } } };
    double tries[LS_COUNT_OF(rows)] = { 0 }, all = 0;
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
        for (size_t k = 0; k < LS_COUNT_OF(rows[i].names) && rows[i].names[k]; k++)
            tries[i] += count_or_0(w, "command/*", rows[i].names[k]);
        all += tries[i];
    }
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        w->f[rows[i].fact] = all > 0 ? tries[i] / all : 0;
    w->f[FACT_by_grid] = all > 0 ? 0 : 1;
}

static void read_amd_memory(const facts_work *w, double resident)
{
    double accesses = count(w, "cu/*", "vector_accesses"), lines = count(w, "cu/*", "vector_lines");
    double line = key(w, "vector_cache.line_bytes"), bytes = count_or_0(w, "cu/*", "vector_bytes");
    w->f[FACT_sectors] = share(lines, accesses);
    w->f[FACT_coalescing] = bytes > 0 ? at_most_1(share(bytes, lines * line)) : NAN;
    w->f[FACT_conflicts] = at_most_1(share(count(w, "cu/*", "lds_conflict_cycles"), resident));
    w->f[FACT_atomics] = at_most_1(share(count(w, "l2/*", "atomics"), lines));
    w->f[FACT_l1_hits] = ratio(w, "vector_cache/*", "read_hit_rate");
    w->f[FACT_l2_hits] = ratio(w, "l2/*", "read_hit_rate");
    double requests =
        count_or_0(w, "l2/*", "reads") + count_or_0(w, "l2/*", "writes") + count_or_0(w, "l2/*", "atomics");
    w->f[FACT_l2_use] = at_most_1(share(requests, (double)w->r->blocks(w->r->self, "l2/*", w->scope->path) *
                                                      w->f[FACT_cycles]));
    w->f[FACT_tlb_misses] = share(count(w, "tlb/*", "misses"), count(w, "tlb/*", "accesses"));
    /* Copies go through DRAM too, and are not a kernel's. */
    double moved = count_or_0(w, "channel/*", "read_bytes") + count_or_0(w, "channel/*", "write_bytes");
    double copied = (count_or_0(w, "dma/*", "lines_read") + count_or_0(w, "dma/*", "lines_written")) *
                    key(w, "line_bytes");
    read_dram(w, moved > copied ? moved - copied : 0);
}

static double read_amd_lanes(const facts_work *w)
{
    double insts = count_or_0(w, "cu/*", "instructions_valu") + count_or_0(w, "cu/*", "instructions_trans") +
                   count_or_0(w, "cu/*", "instructions_valu_64") + count_or_0(w, "cu/*", "instructions_vmem") +
                   count_or_0(w, "cu/*", "instructions_flat") + count_or_0(w, "cu/*", "instructions_lds");
    double turn = key(w, "cu.turn_cycles"), width = key(w, "cu.lane_width"), lanes = count(w, "cu/*", "lanes");
    /* RDNA also runs waves of 32: there the lanes of a wave are not known, and 32 is the careful guess. */
    double wave = turn * width >= 64 ? 64 : 32;
    return at_most_1(share(lanes, insts * wave));
}

double facts_amd_peak(const char *config_text, fact which)
{
    enum { MULTIPLY_ADD = 2, PACKED = 2 };
    char target[64];
    double lanes = facts_key_number(config_text, FACTS_AMD, "cu.simds") *
                   facts_key_number(config_text, FACTS_AMD, "cu.lane_width");
    double peak = lanes * MULTIPLY_ADD * facts_key_number(config_text, FACTS_AMD, "clock.core_mhz") * 1e-3;
    if (which == FACT_twice)
        return peak / facts_key_number(config_text, FACTS_AMD, "cu.double_slow_rate");
    /* GCN 3 has no packed instructions. */
    if (which == FACT_half && facts_key(config_text, FACTS_AMD, "target", target, sizeof target) &&
        strncmp(target, "gfx8", 4) != 0)
        peak *= PACKED;
    return peak;
}

static void read_amd_arithmetic(const facts_work *w)
{
    static const struct {
        fact fact;
        const char *name;
    } rows[] = { { FACT_single, "flops_single" },
                 { FACT_half, "flops_half" },
                 { FACT_twice, "flops_double" } };
    double ns = w->scope->busy_fs * 1e-6 * w->f[FACT_cores];
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        w->f[rows[i].fact] = at_most_1(share(count(w, "cu/*", rows[i].name),
                                             ns * facts_amd_peak(w->r->config_text, rows[i].fact)));
}

static void read_amd(const facts_work *w)
{
    double *f = w->f;
    double resident = count(w, "cu/*", "resident_cycles"), mhz = key(w, "clock.core_mhz");
    double simds = key(w, "cu.simds"), turn = key(w, "cu.turn_cycles");
    f[FACT_cores] = (double)w->r->blocks(w->r->self, "cu/*", w->scope->path);
    read_common(w, mhz);
    f[FACT_blocks] = count(w, "cu/*", "work_groups");
    f[FACT_instructions] = count(w, "cu/*", "instructions");
    f[FACT_ipc] = share(f[FACT_instructions], f[FACT_cycles]);
    f[FACT_lanes] = read_amd_lanes(w);
    read_amd_stalls(w, resident);
    read_launches(w, key(w, "command.launch_cycles") + key(w, "command.finish_cycles"), resident);
    read_occupancy(w, count(w, "cu/*", "wave_cycles"), resident, simds * key(w, "cu.waves_per_simd"));
    read_amd_limits(w);
    read_amd_memory(w, resident);
    f[FACT_valu] = at_most_1(share(count(w, "cu/*", "instructions_valu") * (turn > 1 ? turn : 1),
                                   f[FACT_cores] * simds * f[FACT_cycles]));
    read_amd_arithmetic(w);
    double gpus = (double)w->r->blocks(w->r->self, "dma/*", w->scope->path);
    if (w->scope->end_fs > 0)
        f[FACT_copying] =
            at_most_1(share(count(w, "dma/*", "busy_cycles"), gpus * w->scope->end_fs * mhz * 1e6 / FS_PER_S));
}

void facts_read(const fact_reader *reader, const fact_scope *scope, fact_set *out)
{
    facts_work w = { .r = reader, .scope = scope, .f = out->at };
    for (size_t i = 0; i < FACT_COUNT; i++)
        out->at[i] = NAN;
    if (count_or_0(&w, "core/*", "issue_slots") > 0 || count_or_0(&w, "core/*", "resident_cycles") > 0)
        w.machine = FACTS_NVIDIA;
    else if (count_or_0(&w, "cu/*", "resident_cycles") > 0)
        w.machine = FACTS_AMD;
    out->machine = w.machine;
    if (w.machine == FACTS_NVIDIA)
        read_nvidia(&w);
    else if (w.machine == FACTS_AMD)
        read_amd(&w);
}

/* --------------------------------------------------------------------------------------------------- texts */

fact fact_find(const char *name, size_t bytes)
{
    size_t i = 0;
    while (i < FACT_COUNT &&
           (strlen(fact_table[i].name) != bytes || memcmp(fact_table[i].name, name, bytes) != 0))
        i++;
    return (fact)i;
}

const char *fact_text(const fact_set *facts, fact which, char *out, size_t out_bytes)
{
    double value = facts->at[which];
    const char *unit = fact_table[which].unit;
    char number[LS_FORMAT_BYTES];
    bool is_rate = strchr(unit, '/') != NULL || strcmp(unit, "us") == 0;
    if (isnan(value))
        snprintf(out, out_bytes, "-");
    else if (strcmp(unit, "%") == 0)
        snprintf(out, out_bytes, "%.1f %%", 100 * value);
    else if (value >= 0 && value < 1e18 && value == floor(value))
        snprintf(out, out_bytes, "%s", format_count((uint64_t)value, number, sizeof number));
    else
        snprintf(out, out_bytes, value < 10 ? "%.2f%s%s" : "%.1f%s%s", value, is_rate ? " " : "",
                 is_rate ? unit : "");
    return out;
}
