/* run_accelsim.c: see run_accelsim.h. Names, order and shapes of the lines are Accel-Sim's (the patterns that
 * its scripts apply are in tests/data/accelsim_stats_patterns.txt). As there, counters accumulate from kernel
 * to kernel, except those of the last kernel alone: gpu_sim_cycle, gpu_sim_insn, gpu_ipc, gpu_occupancy,
 * L2_BW. A line whose quantity this simulator does not have is not printed. */
#include "sim/run_accelsim.h"

#include "lockstep/version.h"
#include "model/gpu/shape.h"

#include <inttypes.h>

#define REPLY_BYTES 32u /* Accel-Sim counts a sector for every answer of L2 */

/* In Accel-Sim's words: GLOBAL_ACC_R or _W of one level of caches. */
typedef struct split {
    uint64_t hit, hit_reserved, miss, sector_miss, mshr_hit;
} split;

/* Numbers of one kernel, or of all so far. */
typedef struct numbers {
    run_trace_numbers n;
    uint64_t warp_insts, thread_insts; /* as Accel-Sim counts them */
    uint64_t ctas, resident_warps, active_cycles, replies;
    uint64_t shared_conflicts, l1_conflicts;
    split l1_reads, l1_writes, l2_reads, l2_writes;
} numbers;

typedef struct printer {
    const run_trace *t;
    uint32_t warp_slots;
    FILE *to;
} printer;

/* ----------------------------------------------------------------------------------------------- counting */

static split read_split(const run_trace *t, size_t scope, const char *type, const char *prefix,
                        const char *what)
{
    static const char *const names[] = { "hits", "pending_hits", "misses", "sector_misses", "merges" };
    uint64_t values[LS_COUNT_OF(names)];
    for (size_t i = 0; i < LS_COUNT_OF(names); i++) {
        char name[64];
        snprintf(name, sizeof name, "%sglobal_%s_%s", prefix, what, names[i]);
        values[i] = run_trace_counter(t, scope, type, name); /* writes have no merges: 0 */
    }
    return (split){ values[0], values[1], values[2], values[3], values[4] };
}

static void count(const run_trace *t, size_t scope, numbers *out)
{
    *out = (numbers){
        .n = run_trace_count_scope(t, scope),
        .ctas = run_trace_counter(t, scope, "core/*", "ctas"),
        .resident_warps = run_trace_counter(t, scope, "core/*", "resident_warps"),
        .active_cycles = run_trace_counter(t, scope, "core/*", "resident_cycles"),
        .replies = run_trace_counter(t, scope, "l2/*", "replies"),
        .shared_conflicts = run_trace_counter(t, scope, "core/*", "bank_conflict_cycles"),
        .l1_conflicts = run_trace_counter(t, scope, "core/*", "l1_bank_conflicts"),
        .l1_reads = read_split(t, scope, "core/*", "l1_", "read"),
        .l1_writes = read_split(t, scope, "core/*", "l1_", "write"),
        .l2_reads = read_split(t, scope, "l2/*", "", "read"),
        .l2_writes = read_split(t, scope, "l2/*", "", "write"),
    };
    out->warp_insts = run_trace_accelsim_warp_insts(&out->n);
    out->thread_insts = run_trace_accelsim_thread_insts(&out->n);
}

static void add_split(split *to, const split *s)
{
    to->hit += s->hit;
    to->hit_reserved += s->hit_reserved;
    to->miss += s->miss;
    to->sector_miss += s->sector_miss;
    to->mshr_hit += s->mshr_hit;
}

static void add(numbers *to, const numbers *x)
{
    to->n.l1_accesses += x->n.l1_accesses;
    to->n.l1_misses += x->n.l1_misses;
    to->n.l1_pending += x->n.l1_pending;
    to->n.l1_fails += x->n.l1_fails;
    to->n.l2_accesses += x->n.l2_accesses;
    to->n.l2_misses += x->n.l2_misses;
    to->n.l2_pending += x->n.l2_pending;
    to->n.l2_fails += x->n.l2_fails;
    to->n.dram_reads += x->n.dram_reads;
    to->n.dram_writes += x->n.dram_writes;
    to->warp_insts += x->warp_insts;
    to->thread_insts += x->thread_insts;
    to->ctas += x->ctas;
    to->resident_warps += x->resident_warps;
    to->active_cycles += x->active_cycles;
    to->replies += x->replies;
    to->shared_conflicts += x->shared_conflicts;
    to->l1_conflicts += x->l1_conflicts;
    add_split(&to->l1_reads, &x->l1_reads);
    add_split(&to->l1_writes, &x->l1_writes);
    add_split(&to->l2_reads, &x->l2_reads);
    add_split(&to->l2_writes, &x->l2_writes);
}

/* ----------------------------------------------------------------------------------------------- printing */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* Per cent of the warp slots of cores that have a warp. */
static double occupancy(const printer *p, const numbers *x)
{
    return 100 * ratio((double)x->resident_warps, (double)x->active_cycles * p->warp_slots);
}

/* GB/s between L2 and the cores. */
static double bandwidth(const printer *p, const numbers *x)
{
    double seconds = (double)ls_clock_time(p->t->clock, x->n.cycles) * 1e-15;
    return ratio((double)x->replies * REPLY_BYTES, seconds) * 1e-9;
}

static void print_split(const printer *p, const char *level, const char *type, const split *s)
{
    const struct {
        const char *status;
        uint64_t value;
    } rows[] = {
        { "HIT", s->hit },           { "HIT_RESERVED", s->hit_reserved },
        { "MISS", s->miss },         { "SECTOR_MISS", s->sector_miss },
        { "MSHR_HIT", s->mshr_hit }, { "TOTAL_ACCESS", s->hit + s->hit_reserved + s->miss + s->sector_miss },
    };
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        fprintf(p->to, "\t%s_breakdown[%s][%s] = %" PRIu64 "\n", level, type, rows[i].status, rows[i].value);
}

static void print_caches(const printer *p, const numbers *sum)
{
    const run_trace_numbers *n = &sum->n;
    fprintf(p->to, "\tL1D_total_cache_accesses = %" PRIu64 "\n\tL1D_total_cache_misses = %" PRIu64 "\n",
            n->l1_accesses, n->l1_misses);
    fprintf(p->to,
            "\tL1D_total_cache_miss_rate = %.4f\n\tL1D_total_cache_pending_hits = %" PRIu64
            "\n\tL1D_total_cache_reservation_fails = %" PRIu64 "\n",
            ratio((double)n->l1_misses, (double)n->l1_accesses), n->l1_pending, n->l1_fails);
    fputs("\nTotal_core_cache_stats:\n", p->to);
    print_split(p, "Total_core_cache_stats", "GLOBAL_ACC_R", &sum->l1_reads);
    print_split(p, "Total_core_cache_stats", "GLOBAL_ACC_W", &sum->l1_writes);
}

static void print_l2(const printer *p, const numbers *sum)
{
    const run_trace_numbers *n = &sum->n;
    fputs("\n========= L2 cache stats =========\n", p->to);
    fprintf(p->to,
            "L2_total_cache_accesses = %" PRIu64 "\nL2_total_cache_misses = %" PRIu64
            "\nL2_total_cache_miss_rate = %.4f\nL2_total_cache_pending_hits = %" PRIu64
            "\nL2_total_cache_reservation_fails = %" PRIu64 "\nL2_total_cache_breakdown:\n",
            n->l2_accesses, n->l2_misses, ratio((double)n->l2_misses, (double)n->l2_accesses), n->l2_pending,
            n->l2_fails);
    print_split(p, "L2_cache_stats", "GLOBAL_ACC_R", &sum->l2_reads);
    print_split(p, "L2_cache_stats", "GLOBAL_ACC_W", &sum->l2_writes);
}

/* Whole seconds since the start, at least one, as Accel-Sim has them; rates are of these. */
static void print_rates(const printer *p, const numbers *sum, double wall_seconds)
{
    uint64_t s = wall_seconds < 1 ? 1 : (uint64_t)wall_seconds;
    uint64_t cycle_rate = sum->n.cycles / s;
    double hz = 1 / ((double)ls_clock_time(p->t->clock, 1000000) * 1e-21);
    fprintf(p->to,
            "\ngpgpu_simulation_time = %" PRIu64 " days, %" PRIu64 " hrs, %" PRIu64 " min, %" PRIu64
            " sec (%" PRIu64 " sec)\n",
            s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, s);
    fprintf(p->to,
            "gpgpu_simulation_rate = %" PRIu64 " (inst/sec)\ngpgpu_simulation_rate = %" PRIu64
            " (cycle/sec)\n",
            sum->thread_insts / s, cycle_rate);
    fprintf(p->to, "gpgpu_silicon_slowdown = %.0fx\n", ratio(hz, (double)cycle_rate));
}

static void print_kernel(const printer *p, const replay_kernel *kernel, const numbers *x, const numbers *sum,
                         double wall_seconds)
{
    FILE *to = p->to;
    fprintf(to, "\nkernel_name = %s \nkernel_launch_uid = %" PRIu64 " \nkernel_stream_id = %" PRIu64 "\n",
            kernel->name, kernel->number, kernel->stream);
    fprintf(to, "gpu_sim_cycle = %" PRIu64 "\ngpu_sim_insn = %" PRIu64 "\ngpu_ipc = %12.4f\n", x->n.cycles,
            x->thread_insts, ratio((double)x->thread_insts, (double)x->n.cycles));
    fprintf(to, "gpu_tot_sim_cycle = %" PRIu64 "\ngpu_tot_sim_insn = %" PRIu64 "\ngpu_tot_ipc = %12.4f\n",
            sum->n.cycles, sum->thread_insts, ratio((double)sum->thread_insts, (double)sum->n.cycles));
    fprintf(to, "gpu_tot_issued_cta = %" PRIu64 "\ngpu_occupancy = %.4f%% \ngpu_tot_occupancy = %.4f%% \n",
            sum->ctas, occupancy(p, x), occupancy(p, sum));
    fprintf(to, "L2_BW  = %12.4f GB/Sec\nL2_BW_total  = %12.4f GB/Sec\n", bandwidth(p, x), bandwidth(p, sum));
    fprintf(to, "gpu_total_sim_rate=%" PRIu64 "\n",
            sum->thread_insts / (wall_seconds < 1 ? 1 : (uint64_t)wall_seconds));
    print_caches(p, sum);
    fprintf(to, "\ngpgpu_n_tot_w_icount = %" PRIu64 "\n", sum->warp_insts);
    fprintf(to, "gpgpu_n_shmem_bkconflict = %" PRIu64 "\ngpgpu_n_l1cache_bkconflict = %" PRIu64 "\n",
            sum->shared_conflicts, sum->l1_conflicts);
    fprintf(to, "total dram reads = %" PRIu64 "\ntotal dram writes = %" PRIu64 "\n", sum->n.dram_reads,
            sum->n.dram_writes);
    print_l2(p, sum);
    print_rates(p, sum, wall_seconds);
}

/* --------------------------------------------------------------------------------------------------- both */

ls_status run_accelsim_check(const run_trace *t, ls_error *err)
{
    gpu_shape shape;
    ls_status status = gpu_shape_of(t->gpu, &shape, err);
    if (status != LS_OK)
        return status;
    return shape.analytic
               ? ls_fail(err, LS_ERR_USAGE,
                         "run: --stats accelsim needs caches that count, but core.memory is analytic: "
                         "leave --fidelity memory out")
               : LS_OK;
}

ls_status run_accelsim_print(const run_trace *t, bool partial, double wall_seconds, FILE *to, ls_error *err)
{
    gpu_shape shape;
    ls_status status = gpu_shape_of(t->gpu, &shape, err);
    if (status != LS_OK)
        return status;
    const printer p = { .t = t, .warp_slots = (uint32_t)shape.rules.capacity.warp_slots, .to = to };
    numbers sum = { 0 };
    span_list busy = { 0 }; /* kernels that ran side by side count once in gpu_tot_sim_cycle */
    uint64_t kernels = replay_kernel_count(t->replay);
    fprintf(to, "Accel-Sim's statistics, by Lockstep [build lockstep-%s]\n", LS_VERSION_STRING);
    for (uint64_t i = 0; i < kernels; i++) {
        const replay_kernel *kernel = replay_kernel_at(t->replay, i);
        numbers x, shared;
        size_t rest, scope = run_trace_scope(t, i, &rest);
        count(t, scope, &x);
        x.n.cycles = kernel->end - kernel->begin;
        add(&sum, &x);
        if (rest != LS_METRICS_RUN) { /* work of L2 and DRAM for all kernels that ran side by side */
            count(t, rest, &shared);
            add(&sum, &shared);
        }
        (void)spans_add(&busy, kernel->begin, kernel->end); /* run_trace_run() had memory for the same */
        sum.n.cycles = busy.total;
        print_kernel(&p, kernel, &x, &sum,
                     i < t->done_ns.count ? (double)t->done_ns.at[i] * 1e-9 : wall_seconds);
    }
    spans_fini(&busy);
    if (partial)
        fputs("GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n", to);
    fputs("GPGPU-Sim: *** exit detected ***\n", to);
    return LS_OK;
}
