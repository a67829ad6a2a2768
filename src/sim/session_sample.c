/* session_sample.c: see session_sample.h. */
#include "sim/session_sample.h"

#include "base/hash.h"
#include "base/text.h"
#include "sim/session.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* clang-format off */
#define COUNT(field, unit, help) LS_METRIC_COUNTER(session_sample_counters, field, unit, help)
static const ls_metric table[] = {
    COUNT(kernels, "kernels", "of the workload, simulated or not"),
    COUNT(simulated_kernels, "kernels", "that were simulated"),
    COUNT(strata, "strata", "kernels of one name, launch shape and number of instructions; 0: none stands for others"),
    COUNT(instructions, "instructions", "that warps or wavefronts of all kernels execute"),
    COUNT(simulated_instructions, "instructions", "of them simulated"),
    COUNT(cut_kernels, "kernels", "simulated ones whose thread blocks were in a steady state, so that the rest was left out"),
    COUNT(simulated_cycles, "cycles", "that simulated kernels took"),
    COUNT(estimated_cycles, "cycles", "that all kernels would take"),
    COUNT(low_cycles, "cycles", "lower end of the 95 % interval of that"),
    COUNT(high_cycles, "cycles", "upper end of it"),
    COUNT(error_ppm, "ppm", "half of the interval over the estimate"),
    COUNT(goal_ppm, "ppm", "the error that was asked for; 0: none"),
};
/* clang-format on */

/* ------------------------------------------------------------------------------------------------- opening */

ls_status session_sample_open(session_sample *s, const ls_sim_options *o, bool at_position, ls_error *err)
{
    ls_status status = sample_spec_read(o->sample, &s->spec, err);
    if (status != LS_OK || !session_is_sampled(s))
        return status;
    const struct {
        bool is_given;
        const char *why;
    } refused[] = {
        { o->cta_limit != 0, "--ctas cuts every kernel, and --sample estimates whole ones" },
        { o->warm_l2, "--warm-l2 fills L2 with copies, and --sample with what skipped kernels touched" },
        { o->record != NULL, "a recording has every launch, and --sample simulates only some" },
        { o->check_memory, "--check-memory follows every access, and --sample simulates only some" },
        { o->gpus > 1 || o->devices != NULL, "--sample is for one GPU, and the workload runs on several" },
        { at_position, "a sampled run begins at the beginning, not at a position" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(refused); i++)
        if (refused[i].is_given)
            return ls_fail(err, LS_ERR_USAGE, "%s: leave one of them out", refused[i].why);
    return LS_OK;
}

static uint64_t shape_of(const ls_kernel_info *info)
{
    const uint64_t shape[] = { info->block[0], info->block[1], info->block[2], info->shared_bytes,
                               info->registers };
    hash128 hash = hash128_of(shape, sizeof shape);
    uint64_t out;
    memcpy(&out, &hash, sizeof out);
    return out;
}

ls_status session_sample_trace(session_sample *s, sass_trace *trace, const kernel_selection *selection,
                               bool side_by_side, ls_error *err)
{
    ls_status status = sample_plan_create(&s->spec, &s->plan, err);
    uint64_t stream = 0;
    for (size_t i = 0; i < selection->count && status == LS_OK; i++) {
        ls_kernel_info info = { 0 };
        uint64_t insts;
        status = trace_describe(trace, selection->at[i].command, &info, &insts, err);
        if (status != LS_OK)
            break;
        if (i > 0 && info.stream != stream && side_by_side)
            return ls_fail(err, LS_ERR_UNSUPPORTED,
                           "--sample is for kernels one after another: kernel %" PRIu64
                           " is of stream %" PRIu64 " and may run beside those of stream %" PRIu64
                           "; with -s dispatch.concurrent_kernels=1 it does not",
                           selection->at[i].number, info.stream, stream);
        stream = info.stream;
        status = sample_plan_add(s->plan, info.name ? info.name : "", shape_of(&info), insts, err);
    }
    return status == LS_OK ? sample_plan_begin(s->plan, err) : status;
}

ls_status session_sample_add_metrics(session_sample *s, metric_store *metrics, ls_error *err)
{
    const metric_source source = { .path = "sample",
                                   .type = SESSION_SAMPLE_TYPE,
                                   .gpu = LS_METRICS_NONE,
                                   .stream = LS_METRICS_NONE,
                                   .metrics = table,
                                   .metric_count = LS_COUNT_OF(table),
                                   .counters = &s->n,
                                   .counters_size = sizeof s->n };
    return metrics_add(metrics, &source, err);
}

void session_sample_fini(session_sample *s)
{
    sample_plan_destroy(s->plan);
    s->plan = NULL;
}

/* ------------------------------------------------------------------------------------------------- results */

static uint64_t rounded(double value)
{
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void estimate_text(const sample_result *r, text_buffer *out)
{
    char cycles[LS_FORMAT_BYTES], low[LS_FORMAT_BYTES], high[LS_FORMAT_BYTES];
    text_printf(out, "%s cycles +- %.2f %% (95 %%: %s to %s)",
                format_count(rounded(r->cycles), cycles, sizeof cycles), 100 * r->error,
                format_count(rounded(r->low), low, sizeof low),
                format_count(rounded(r->high), high, sizeof high));
}

static void sampled_text(const sample_result *r, text_buffer *out)
{
    char some[LS_FORMAT_BYTES], all[LS_FORMAT_BYTES];
    text_printf(out, "%s of %s kernels", format_count(r->simulated_kernels, some, sizeof some),
                format_count(r->kernels, all, sizeof all));
    if (r->strata > 0)
        text_printf(out, " in %" PRIu64 " strata", r->strata);
    if (r->cut_kernels > 0)
        text_printf(out, ", %" PRIu64 " of them cut short", r->cut_kernels);
    text_printf(out, ", %.2f %% of the instructions", percent(r->simulated_instructions, r->instructions));
}

ls_status session_sample_end(session_sample *s, ls_engine *engine, ls_error *err)
{
    const sample_result *r = &s->result;
    if (s->plan == NULL)
        return LS_OK;
    sample_plan_estimate(s->plan, &s->result);
    s->n = (session_sample_counters){ .kernels = r->kernels,
                                      .simulated_kernels = r->simulated_kernels,
                                      .strata = r->strata,
                                      .instructions = r->instructions,
                                      .simulated_instructions = r->simulated_instructions,
                                      .cut_kernels = r->cut_kernels,
                                      .simulated_cycles = rounded(r->simulated_cycles),
                                      .estimated_cycles = rounded(r->cycles),
                                      .low_cycles = rounded(r->low),
                                      .high_cycles = rounded(r->high),
                                      .error_ppm = rounded(r->error * 1e6),
                                      .goal_ppm = rounded(r->goal * 1e6) };
    text_buffer sampled = { 0 }, estimate = { 0 };
    sampled_text(r, &sampled);
    estimate_text(r, &estimate);
    ls_status status = ls_engine_warn(engine, "sample", "all numbers are of a sample: %s; the whole takes %s",
                                      text_get(&sampled), text_get(&estimate));
    if (status == LS_OK && r->goal > 0 && r->error > r->goal)
        status = ls_engine_warn(engine, "sample",
                                "the interval is +- %.2f %%, wider than the %.2f %% that were asked for: %s",
                                100 * r->error, 100 * r->goal,
                                r->simulated_kernels < r->kernels
                                    ? "kernels that come once are chosen before their differences are known"
                                    : "every kernel was simulated");
    text_fini(&sampled);
    text_fini(&estimate);
    return status == LS_OK ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

void session_sample_print(const session_sample *s, FILE *to)
{
    if (s->plan == NULL)
        return;
    text_buffer sampled = { 0 };
    char cycles[LS_FORMAT_BYTES], low[LS_FORMAT_BYTES], high[LS_FORMAT_BYTES];
    const sample_result *r = &s->result;
    sampled_text(r, &sampled);
    fprintf(to, "  %-22s %14s  cycles +- %.2f %%: %s to %s with 95 %% confidence\n", "estimate",
            format_count(rounded(r->cycles), cycles, sizeof cycles), 100 * r->error,
            format_count(rounded(r->low), low, sizeof low), format_count(rounded(r->high), high, sizeof high));
    fprintf(to, "  %-22s %14s  %s; all below is of these\n", "sampled", "", text_get(&sampled));
    text_fini(&sampled);
}

bool ls_sim_get_sample(const ls_sim *sim, ls_sim_sample *out)
{
    const sample_result *r = &sim->sample.result;
    *out = (ls_sim_sample){ .kernels = r->kernels,
                            .simulated_kernels = r->simulated_kernels,
                            .strata = r->strata,
                            .instructions = r->instructions,
                            .simulated_instructions = r->simulated_instructions,
                            .cut_kernels = r->cut_kernels,
                            .simulated_cycles = rounded(r->simulated_cycles),
                            .cycles = r->cycles,
                            .low = r->low,
                            .high = r->high,
                            .error = r->error,
                            .goal = r->goal };
    return sim->sample.plan != NULL && sim->has_run;
}
