/* workload.c: the list of workloads, where their kernels lie, and one run from options to result. */
#include "workloads/workload.h"

#include "base/file.h"
#include "base/text.h"
#include "workloads/run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_SEED 0x10c5u
#define WORKLOADS_MAX 256

/* ----------------------------------------------------------------------------------------------- registry */

extern const wl_workload *const __start_ls_workloads[] __attribute__((weak, visibility("hidden")));
extern const wl_workload *const __stop_ls_workloads[] __attribute__((weak, visibility("hidden")));

static const wl_workload *sorted[WORKLOADS_MAX];
static size_t sorted_count;
static pthread_once_t sorted_once = PTHREAD_ONCE_INIT;

static int compare(const void *a, const void *b)
{
    const wl_workload *x = *(const wl_workload *const *)a, *y = *(const wl_workload *const *)b;
    if ((x->suite != NULL) != (y->suite != NULL))
        return x->suite ? 1 : -1;
    if (x->is_micro != y->is_micro)
        return x->is_micro ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void sort(void)
{
    for (const wl_workload *const *w = __start_ls_workloads; w < __stop_ls_workloads; w++)
        if (sorted_count < WORKLOADS_MAX)
            sorted[sorted_count++] = *w;
    qsort(sorted, sorted_count, sizeof sorted[0], compare);
}

size_t wl_count(void)
{
    pthread_once(&sorted_once, sort);
    return sorted_count;
}

const wl_workload *wl_at(size_t index)
{
    return index < wl_count() ? sorted[index] : NULL;
}

static const char *name_at(const void *self, size_t i)
{
    (void)self;
    return sorted[i]->name;
}

ls_status wl_find(const char *name, const wl_workload **out, ls_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < wl_count(); i++)
        if (strcmp(sorted[i]->name, name) == 0) {
            *out = sorted[i];
            return LS_OK;
        }
    ls_fail(err, LS_ERR_USAGE, "there is no workload '%s' (lockstep workload list shows them)", name);
    return ls_error_nearest(err, nearest_name(name, sorted_count, name_at, NULL));
}

/* ------------------------------------------------------------------------------------------- kernel files */

static bool is_file(const char *directory, const char *rest, const char *target, const char *variant,
                    const char *name, char *out, size_t out_bytes)
{
    int n = snprintf(out, out_bytes, "%s%s/%s%s%s/%s.co", directory, rest, target, *variant ? "-" : "",
                     variant, name);
    return n > 0 && (size_t)n < out_bytes && file_exists(out);
}

/* A program that embeds the library has its own directory: then the library's path decides. Debian's libraries
 * are one level deeper than others. */
static bool is_beside_library(mem_arena *arena, const char *target, const char *variant, const char *name,
                              char *out, size_t out_bytes)
{
    static const char *const beside[] = { "/share/lockstep/kernels", "/../share/lockstep/kernels",
                                          "/../../share/lockstep/kernels" };
    char *directory;
    if (path_of_library(arena, &directory, NULL) != LS_OK || !directory)
        return false;
    for (size_t i = 0; i < LS_COUNT_OF(beside); i++)
        if (is_file(directory, beside[i], target, variant, name, out, out_bytes))
            return true;
    return false;
}

ls_status wl_kernel_path(const char *name, const char *target, const char *variant, char *out,
                         size_t out_bytes, ls_error *err)
{
    /* The build tree, the installed tree. */
    static const char *const beside[] = { "/share/lockstep/kernels", "/../share/lockstep/kernels" };
    const char *set = getenv("LOCKSTEP_KERNELS");
    mem_arena arena = { 0 };
    char *directory;
    ls_status status = LS_OK;
    bool found = false;
    if (!variant)
        variant = "";
    if (set && *set) {
        found = is_file(set, "", target, variant, name, out, out_bytes);
    } else {
        status = path_of_executable(&arena, &directory, err);
        for (size_t i = 0; i < LS_COUNT_OF(beside) && status == LS_OK && !found; i++)
            found = is_file(directory, beside[i], target, variant, name, out, out_bytes);
        if (status == LS_OK && !found)
            found = is_beside_library(&arena, target, variant, name, out, out_bytes);
    }
    arena_fini(&arena);
    if (status != LS_OK || found)
        return status;
    out[0] = '\0';
    return ls_fail(
        err, LS_ERR_IO,
        "there is no compiled kernel file %s%s%s/%s.co in %s: they are built with the simulator if clang-15, "
        "lld-15 and rocm-device-libs are installed; LOCKSTEP_KERNELS names another directory",
        target, *variant ? "-" : "", variant, name,
        set && *set ? set : "share/lockstep/kernels beside the program");
}

/* -------------------------------------------------------------------------------------------------- a run */

static const char *option_name_at(const void *self, size_t i)
{
    return ((const wl_workload *)self)->options[i].name;
}

static ls_status set_option(wl_run *r, const wl_setting *setting, ls_error *err)
{
    const wl_workload *w = r->workload;
    for (size_t i = 0; i < w->option_count; i++) {
        const wl_option *o = &w->options[i];
        if (strcmp(o->name, setting->name) != 0)
            continue;
        if (setting->value < o->min)
            return ls_fail(err, LS_ERR_USAGE,
                           "option '%s' of workload %s is at least %" PRIu64 ", not %" PRIu64, o->name,
                           w->name, o->min, setting->value);
        if (o->max && setting->value > o->max)
            return ls_fail(err, LS_ERR_USAGE,
                           "option '%s' of workload %s is at most %" PRIu64 ", not %" PRIu64, o->name, w->name,
                           o->max, setting->value);
        r->values[i] = setting->value;
        return LS_OK;
    }
    ls_fail(err, LS_ERR_USAGE, "workload %s has no option '%s'", w->name, setting->name);
    return ls_error_nearest(err, nearest_name(setting->name, w->option_count, option_name_at, w));
}

static ls_status set_options(wl_run *r, const wl_request *request, ls_error *err)
{
    const wl_workload *w = request->workload;
    ls_status status = LS_OK;
    r->values = arena_array(&r->arena, w->option_count + 1, sizeof *r->values);
    if (!r->values)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; i < w->option_count; i++)
        r->values[i] = w->options[i].value;
    for (size_t i = 0; i < request->setting_count && status == LS_OK; i++)
        status = set_option(r, &request->settings[i], err);
    return status;
}

const char *const wl_devices_names[WL_DEVICES_COUNT + 1] = { "single",   "discrete",   "unified",
                                                             "locality", "duplicated", NULL };

static ls_status check_devices(wl_run *r, const wl_request *request, ls_error *err)
{
    size_t gpus = ls_gpu_system_gpu_count(request->system);
    r->devices = request->devices;
    r->system = request->system;
    r->parts = 1;
    if (request->devices == WL_UNIFIED && ls_gpu_system_unified(request->system) == SIZE_MAX)
        return ls_fail(err, LS_ERR_USAGE, "the system has no unified device");
    if (request->devices == WL_SINGLE || request->devices == WL_UNIFIED)
        return LS_OK;
    if (!request->workload->divides)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "workload %s does not divide itself over GPUs: it runs on one, or on all as one device "
                       "(--devices unified)",
                       request->workload->name);
    r->parts = (uint32_t)gpus;
    return LS_OK;
}

static ls_status prepare(wl_run *r, const wl_request *request, ls_error *err)
{
    const wl_workload *w = request->workload;
    const ls_gpu_model *model = ls_gpu_system_gpu(request->system, request->gpu);
    char path[4096];
    if (w->suite && (model->wave_sizes != 64 || strcmp(model->target, "gfx803") == 0))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "workload %s of the suite %s is for gfx90a and gfx942 (--gpu gfx942), not for %s",
                       w->name, w->suite, model->target);
    ls_status status = set_options(r, request, err);
    if (status == LS_OK)
        status = check_devices(r, request, err);
    if (status == LS_OK)
        status = ls_gpu_context_create(request->system, &r->context, err);
    if (status == LS_OK)
        status = ls_gpu_select(r->context,
                               request->devices == WL_UNIFIED ? ls_gpu_system_unified(request->system)
                               : r->parts > 1                 ? 0
                                                              : request->gpu,
                               err);
    if (status == LS_OK)
        status = wl_kernel_path(w->kernels ? w->kernels : w->name, model->target, request->variant, path,
                                sizeof path, err);
    if (status == LS_OK)
        status = r->parts > 1 ? divide_open(r, path, err)
                              : ls_gpu_module_load_file(r->context, path, &r->module, err);
    if (status == LS_OK)
        status = hasher_create(&r->downloads, err);
    return status;
}

const char *const *wl_names_of(const wl_workload *workload, const char *option)
{
    for (const wl_value_names *v = workload->value_names; v && v->option; v++)
        if (strcmp(v->option, option) == 0)
            return v->names;
    return NULL;
}

static const char *value_name_at(const void *self, size_t i)
{
    return ((const char *const *)self)[i];
}

ls_status wl_parse_setting(const wl_workload *workload, const char *option, const char *text, uint64_t *out,
                           ls_error *err)
{
    const char *const *names = wl_names_of(workload, option);
    size_t count = 0;
    for (; names && names[count]; count++)
        if (strcmp(names[count], text) == 0) {
            *out = count;
            return LS_OK;
        }
    ls_status status = parse_u64(text, strlen(text), out, err);
    if (status == LS_OK || !names)
        return status;
    ls_fail(err, LS_ERR_USAGE, "workload %s has no '%s'", workload->name, text);
    return ls_error_nearest(err, nearest_name(text, count, value_name_at, names));
}

ls_status wl_name_size(const wl_workload *workload, wl_setting *settings, size_t count, ls_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (settings[i].name)
            continue;
        if (workload->option_count == 0)
            return ls_fail(err, LS_ERR_USAGE, "workload %s has no size", workload->name);
        settings[i].name = workload->options[0].name;
    }
    return LS_OK;
}

ls_status wl_run_workload(const wl_request *request, wl_result *out, ls_error *err)
{
    ls_error local;
    wl_run r = { .workload = request->workload, .check = request->check, .err = err ? err : &local };
    ls_status status;
    *out = (wl_result){ 0 };
    ls_random_init(&r.random, request->seed ? request->seed : USUAL_SEED);
    status = prepare(&r, request, r.err);
    if (status == LS_OK) {
        r.workload->run(&r);
        status = r.status;
        if (status == LS_OK && r.check && r.compared == 0)
            status = ls_fail(r.err, LS_ERR_INTERNAL, "workload %s compared nothing", r.workload->name);
        out->compared = r.compared;
        out->is_wrong = r.is_wrong;
        out->hash = hasher_get(r.downloads).low;
        out->transfer = r.transfer;
        out->region = r.region;
    }
    peers_release(&r);
    if (r.context)
        ls_gpu_context_counts(r.context, &out->counts);
    ls_gpu_context_destroy(r.context);
    vec_fini(&r.arrays);
    hasher_destroy(r.downloads);
    arena_fini(&r.arena);
    return status;
}
