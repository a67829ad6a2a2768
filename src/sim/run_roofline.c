/* run_roofline.c: see run_roofline.h. */
#include "sim/run_roofline.h"

#include "base/text.h"

ls_status run_roofline_begin(gpu_roofline *r, const gpu_instance *gpu, metric_store *metrics, ls_error *err)
{
    ls_status status = gpu_roofline_init(r, gpu, err);
    if (status != LS_OK)
        return status;
    const metric_source source = { .path = r->path,
                                   .type = GPU_ROOFLINE_TYPE,
                                   .gpu = (int32_t)gpu->number,
                                   .stream = LS_METRICS_NONE,
                                   .metrics = gpu_roofline_metrics,
                                   .metric_count = gpu_roofline_metric_count,
                                   .counters = &r->n,
                                   .counters_size = sizeof r->n };
    return metrics_add(metrics, &source, err);
}

/* False if there is no value, for example of an unknown peak. */
static bool ratio(metric_store *metrics, size_t scope, const char *name, double *out)
{
    metric_value value;
    *out = 0;
    if (metrics_get(metrics, scope, GPU_ROOFLINE_TYPE, NULL, name, &value, NULL) != LS_OK || !value.present)
        return false;
    *out = value.ratio;
    return true;
}

/* With thousands separators and a point in every locale. */
static const char *rate_text(double rate, char out[LS_FORMAT_BYTES])
{
    char whole[LS_FORMAT_BYTES];
    uint64_t tenths = (uint64_t)(rate * 10 + 0.5);
    snprintf(out, LS_FORMAT_BYTES, "%.*s.%u", LS_FORMAT_BYTES - 4,
             format_count(tenths / 10, whole, sizeof whole), (unsigned)(tenths % 10));
    return out;
}

static const char *rate(metric_store *metrics, size_t scope, const char *name, char out[LS_FORMAT_BYTES])
{
    double value;
    if (!ratio(metrics, scope, name, &value))
        return "-";
    return rate_text(value, out);
}

/* A kernel comes near one roof of several: that of the units which it keeps busiest. */
static const char *nearest_roof(metric_store *metrics, size_t scope, char *out, size_t bytes)
{
    static const struct {
        const char *metric, *kind;
    } roofs[] = { { "share_single", "single" },
                  { "share_half", "half" },
                  { "share_double", "double" },
                  { "share_tensor", "tensor" } };
    double best = 0, value;
    size_t found = 0;
    for (size_t i = 0; i < LS_COUNT_OF(roofs); i++)
        if (ratio(metrics, scope, roofs[i].metric, &value) && value > best) {
            best = value;
            found = i;
        }
    if (best <= 0)
        return "-";
    snprintf(out, bytes, "%.1f%% %s", 100 * best, roofs[found].kind);
    return out;
}

void run_roofline_row(metric_store *metrics, size_t scope, const char *number, const char *name, FILE *to)
{
    if (name == NULL) {
        fprintf(to, "\n  %5s  %-36s %14s %14s %14s %8s %11s\n", "", "roofline", "GFLOP/s", "of peak",
                "DRAM GB/s", "of peak", "FLOP/byte");
        return;
    }
    char flops[LS_FORMAT_BYTES], bytes[LS_FORMAT_BYTES], nearest[48], share[16] = "-", intensity[24] = "-";
    double value;
    if (ratio(metrics, scope, "share_dram", &value))
        snprintf(share, sizeof share, "%.1f%%", 100 * value);
    if (ratio(metrics, scope, "intensity", &value))
        snprintf(intensity, sizeof intensity, "%.3f", value);
    fprintf(to, "  %5s  %-36.36s %14s %14s %14s %8s %11s\n", number, name,
            rate(metrics, scope, "rate_flops", flops), nearest_roof(metrics, scope, nearest, sizeof nearest),
            rate(metrics, scope, "rate_dram", bytes), share, intensity);
}

/* A roof of 0 is unknown. */
static const char *roof(metric_store *metrics, const char *name, char out[LS_FORMAT_BYTES])
{
    double value;
    return ratio(metrics, LS_METRICS_RUN, name, &value) && value > 0 ? rate_text(value, out) : "unknown";
}

void run_roofline_peaks(metric_store *metrics, FILE *to)
{
    char half[LS_FORMAT_BYTES], single[LS_FORMAT_BYTES], twice[LS_FORMAT_BYTES], dram[LS_FORMAT_BYTES];
    fprintf(to, "         peaks: single %s, half %s, double %s GFLOP/s; DRAM %s GB/s\n",
            roof(metrics, "roof_single", single), roof(metrics, "roof_half", half),
            roof(metrics, "roof_double", twice), roof(metrics, "roof_dram", dram));
}
