/* scaling.c: workloads, curves and runs of the study of 1 to 16 GPUs. */
#include "cli/study/scaling.h"

#include "base/text.h"

#include <string.h>

#define PLATFORM "r9nano"
#define LINK_GPUS 4u /* of the curves over a number of the link */

/* Sizes are ours: large enough that one GPU is busy for several launches' time, small enough for a study of minutes. MT
 * writes to all GPUs, FIR reads a few samples of its neighbour, AES reads nothing of others. */
static const scaling_workload workloads[] = {
    { .label = "AES", .name = "aes", .size = 2097152, .grows = "size", .grows_by = 131072 },
    { .label = "FIR", .name = "fir", .size = 1048576, .grows = "size", .grows_by = 65536 },
    { .label = "MT",
      .name = "matrixtranspose",
      .size = 1024,
      .weak_size = 512,
      .grows = "height",
      .grows_by = 128,
      .is_sensitive = true },
    { .label = "all-reduce",
      .name = "all_reduce",
      .is_collective = true,
      .size = 262144,
      .is_sensitive = true },
    { .label = "all-to-all", .name = "all_to_all", .is_collective = true, .size = 262144 },
};

static const char *const fabrics[] = { "pcie", "ring", "switch" };
#define FABRICS LS_COUNT_OF(fabrics)
#define SENSITIVE_FABRIC 2u

static const uint32_t gpu_counts[SCALING_POINTS_MAX] = { 1, 2, 4, 8, 16 };
/* Of the switch: a factor of 4 and of 2 around the default. */
static const uint32_t latencies_ns[] = { 25, 100, 400, 1600 };
static const uint32_t widths_gb_s[] = { 6, 12, 25, 50, 100 };

/* ---------------------------------------------------------------------------------------------------- plan */

static bool is_chosen(const scaling_request *request, const char *name)
{
    for (size_t i = 0; i < request->workload_count; i++)
        if (strcmp(request->workloads[i], name) == 0)
            return true;
    return request->workload_count == 0;
}

static ls_status check_names(const scaling_request *request, ls_error *err)
{
    const char *names[LS_COUNT_OF(workloads)];
    for (size_t i = 0; i < LS_COUNT_OF(workloads); i++)
        names[i] = workloads[i].name;
    for (size_t i = 0; i < request->workload_count; i++) {
        const char *name = request->workloads[i];
        size_t w = 0;
        if (strchr(name, ':') != NULL)
            return ls_fail(err, LS_ERR_USAGE,
                           "'%s': a study of scaling has sizes of its own (--shrink halves them)", name);
        while (w < LS_COUNT_OF(names) && strcmp(names[w], name) != 0)
            w++;
        if (w == LS_COUNT_OF(names)) {
            ls_fail(err, LS_ERR_USAGE, "the study of scaling has no workload '%s'", name);
            return ls_error_nearest(err, nearest_of(name, names, w));
        }
    }
    return LS_OK;
}

static bool has_part(const scaling_workload *w, scaling_part part)
{
    return part == SCALING_BUS                              ? w->is_collective
           : part == SCALING_STRONG || part == SCALING_WEAK ? !w->is_collective
                                                            : w->is_sensitive;
}

static void plan_points(const scaling_request *request, scaling_curve *curve)
{
    const uint32_t *x = curve->part == SCALING_LATENCY ? latencies_ns
                        : curve->part == SCALING_WIDTH ? widths_gb_s
                                                       : gpu_counts;
    size_t count = curve->part == SCALING_LATENCY ? LS_COUNT_OF(latencies_ns)
                   : curve->part == SCALING_WIDTH ? LS_COUNT_OF(widths_gb_s)
                                                  : LS_COUNT_OF(gpu_counts);
    bool is_link = curve->part == SCALING_LATENCY || curve->part == SCALING_WIDTH;
    for (size_t i = 0; i < count; i++) {
        if (is_link ? request->gpus_max < LINK_GPUS : x[i] > request->gpus_max)
            continue;
        if (curve->part == SCALING_BUS && x[i] == 1)
            continue;
        curve->x[curve->count++] = x[i];
    }
}

ls_status scaling_plan(const scaling_request *request, scaling_result *out, ls_error *err)
{
    out->count = 0;
    ls_status status = check_names(request, err);
    if (status != LS_OK)
        return status;
    for (scaling_part part = 0; part < SCALING_PARTS; part++)
        for (size_t w = 0; w < LS_COUNT_OF(workloads); w++)
            for (size_t f = 0; f < FABRICS; f++) {
                scaling_curve *curve = &out->curves[out->count];
                bool is_link = part == SCALING_LATENCY || part == SCALING_WIDTH;
                if (!is_chosen(request, workloads[w].name) || !has_part(&workloads[w], part) ||
                    (is_link && f != SENSITIVE_FABRIC) || out->count == SCALING_CURVES_MAX)
                    continue;
                *curve = (scaling_curve){ .part = part, .workload = &workloads[w], .fabric = fabrics[f] };
                plan_points(request, curve);
                out->count += curve->count > 0;
            }
    return LS_OK;
}

/* ---------------------------------------------------------------------------------------------------- runs */

static uint64_t shrunk(uint64_t size, unsigned shrink)
{
    return size >> shrink ? size >> shrink : 1;
}

static ls_status run_point(const scaling_request *request, scaling_curve *curve, size_t i, ls_error *err)
{
    const scaling_workload *w = curve->workload;
    uint32_t x = curve->x[i],
             gpus = curve->part == SCALING_LATENCY || curve->part == SCALING_WIDTH ? LINK_GPUS : x;
    char fabric[64], key[64];
    const char *sets[2] = { fabric, key };
    wl_setting settings[2] = { { "size", shrunk(w->size, request->shrink) } };
    size_t setting_count = 1;
    curve->size[i] = settings[0].value;
    if (curve->part == SCALING_WEAK) {
        curve->size[i] = shrunk(w->grows_by, request->shrink) * gpus;
        if (w->weak_size != 0)
            settings[0].value = shrunk(w->weak_size, request->shrink);
        settings[w->weak_size != 0 ? setting_count++ : 0] = (wl_setting){ w->grows, curve->size[i] };
    } else if (w->is_collective) {
        settings[setting_count++] = (wl_setting){ "via", 1 }; /* loads: the fastest way over PCI Express */
    }
    snprintf(fabric, sizeof fabric, "fabric.model=%s", curve->fabric);
    snprintf(key, sizeof key, "fabric.link_%s=%u", curve->part == SCALING_LATENCY ? "latency_ns" : "gb_s", x);
    const program_job job = { .platform = { .platform = PLATFORM,
                                            .gpus = gpus > 1 ? gpus : 0,
                                            .sets = sets,
                                            .set_count = gpus == 1                        ? 0
                                                         : curve->part >= SCALING_LATENCY ? 2
                                                                                          : 1,
                                            .platform_dirs = request->platform_dirs,
                                            .platform_dir_count = request->platform_dir_count },
                              .devices = gpus == 1          ? WL_SINGLE
                                         : w->is_collective ? WL_DISCRETE
                                                            : WL_LOCALITY,
                              .workload = w->name,
                              .settings = settings,
                              .setting_count = setting_count,
                              .threads = request->threads,
                              .verify = true };
    return program_simulate(&job, &curve->results[i], err);
}

/* A run of one GPU has no fabric: the first curve of a workload has it for all. */
static const scaling_curve *same_point(const scaling_result *result, const scaling_curve *curve, size_t i)
{
    for (const scaling_curve *c = result->curves; c < curve; c++)
        if (c->part == curve->part && c->workload == curve->workload && curve->x[i] == 1 && c->x[i] == 1)
            return c;
    return NULL;
}

ls_status scaling_run(const scaling_request *request, scaling_result *out, ls_error *err)
{
    ls_status status = scaling_plan(request, out, err);
    for (size_t k = 0; k < out->count && status == LS_OK; k++) {
        scaling_curve *curve = &out->curves[k];
        for (size_t i = 0; i < curve->count && status == LS_OK; i++) {
            const scaling_curve *same = curve->part <= SCALING_WEAK ? same_point(out, curve, i) : NULL;
            if (same != NULL) {
                curve->results[i] = same->results[i];
                curve->size[i] = same->size[i];
                continue;
            }
            if (request->progress != NULL)
                request->progress(request->progress_self, curve, curve->x[i]);
            status = run_point(request, curve, i, err);
        }
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- numbers */

static double seconds(const scaling_curve *curve, size_t i)
{
    const program_result *r = &curve->results[i];
    return curve->workload->is_collective ? (double)r->transfer.ns * 1e-9 : r->kernel_seconds;
}

double scaling_value(const scaling_curve *curve, size_t i)
{
    const wl_transfer *t = &curve->results[i].transfer;
    if (curve->part == SCALING_STRONG || curve->part == SCALING_WEAK)
        return seconds(curve, 0) / seconds(curve, i);
    if (curve->part == SCALING_BUS)
        return (double)t->bytes / (double)t->ns * t->factor;
    return 1e6 * seconds(curve, i);
}

static const struct {
    const char *name, *title, *x_label;
} parts[SCALING_PARTS] = {
    [SCALING_STRONG] = { "strong", "Strong scaling: times faster than one GPU", "GPUs" },
    [SCALING_WEAK] = { "weak", "Weak scaling: time of one GPU / time of n GPUs with n times the problem",
                       "GPUs" },
    [SCALING_BUS] = { "collective", "Collectives: bus bandwidth, GB/s", "GPUs" },
    [SCALING_LATENCY] = { "latency", "Latency of a link, 4 GPUs at a switch: time, us", "ns" },
    [SCALING_WIDTH] = { "bandwidth", "Bandwidth of a link, 4 GPUs at a switch: time, us", "GB/s" },
};

const char *scaling_part_name(scaling_part part)
{
    return parts[part].name;
}

const char *scaling_part_title(scaling_part part)
{
    return parts[part].title;
}

const char *scaling_x_label(scaling_part part)
{
    return parts[part].x_label;
}
