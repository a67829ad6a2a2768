/* system.c: the GPUs that can be simulated, machines of them, and contexts. */
#include "runtime/driver/drv.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 64
#define GIB ((uint64_t)1 << 30)

/* Generic devices: the instruction set with the sizes of the GPU that is best known for it. The platform
 * files of real GPUs say more when timing needs it. */
static const ls_gpu_model models[] = {
    { .name = "gfx803",
      .target = "gfx803",
      .help = "GCN 3, with the sizes of the R9 Nano",
      .memory_bytes = 4 * GIB,
      .lds_bytes = 65536,
      .group_size_max = 1024,
      .compute_units = 64,
      .wave_sizes = 64,
      .wave_size = 64,
      .clock_mhz = 1000 },
    { .name = "gfx1010",
      .target = "gfx1010",
      .help = "RDNA, with the sizes of the RX 5700 XT",
      .memory_bytes = 8 * GIB,
      .lds_bytes = 65536,
      .group_size_max = 1024,
      .compute_units = 40,
      .wave_sizes = 32 | 64,
      .wave_size = 32,
      .clock_mhz = 1755 },
    { .name = "gfx1030",
      .target = "gfx1030",
      .help = "RDNA 2, with the sizes of the RX 6800 XT",
      .memory_bytes = 16 * GIB,
      .lds_bytes = 65536,
      .group_size_max = 1024,
      .compute_units = 72,
      .wave_sizes = 32 | 64,
      .wave_size = 32,
      .clock_mhz = 2015 },
    { .name = "gfx90a",
      .target = "gfx90a",
      .help = "CDNA 2, with the sizes of the MI210",
      .memory_bytes = 64 * GIB,
      .lds_bytes = 65536,
      .group_size_max = 1024,
      .compute_units = 104,
      .wave_sizes = 64,
      .wave_size = 64,
      .clock_mhz = 1700 },
    { .name = "gfx942",
      .target = "gfx942",
      .help = "CDNA 3, with the sizes of the MI300A",
      .memory_bytes = 128 * GIB,
      .lds_bytes = 65536,
      .group_size_max = 1024,
      .compute_units = 228,
      .wave_sizes = 64,
      .wave_size = 64,
      .clock_mhz = 2100 },
};

size_t ls_gpu_model_count(void)
{
    return LS_COUNT_OF(models);
}

const ls_gpu_model *ls_gpu_model_at(size_t index)
{
    return index < LS_COUNT_OF(models) ? &models[index] : NULL;
}

static const char *model_name_at(const void *self, size_t i)
{
    (void)self;
    return models[i].name;
}

static const ls_gpu_model *find_model(const char *name, ls_error *err)
{
    for (size_t i = 0; i < LS_COUNT_OF(models); i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    ls_fail(err, LS_ERR_USAGE, "there is no GPU '%s': gfx803, gfx1010, gfx1030, gfx90a or gfx942", name);
    ls_error_nearest(err, nearest_name(name, LS_COUNT_OF(models), model_name_at, NULL));
    return NULL;
}

const char *ls_gpu_class_name(size_t class_index)
{
    return class_index < AMD_CLASS_COUNT ? amd_class_name((amd_class)class_index) : NULL;
}

/* ------------------------------------------------------------------------------------------------ systems */

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* The modes, each with its back end. */
static const struct {
    const char *name;
    const drv_backend *backend;
} modes[] = { { "emulate", &drv_backend_emulate }, { "time", &drv_backend_time } };

static const char *mode_name_at(const void *self, size_t i)
{
    (void)self;
    return modes[i].name;
}

static ls_status find_backend(const char *mode, const drv_backend **out, ls_error *err)
{
    if (!mode)
        mode = modes[0].name;
    for (size_t i = 0; i < LS_COUNT_OF(modes); i++) {
        if (strcmp(modes[i].name, mode) != 0)
            continue;
        *out = modes[i].backend;
        return LS_OK;
    }
    ls_fail(err, LS_ERR_USAGE, "there is no mode '%s': emulate or time", mode);
    return ls_error_nearest(err, nearest_name(mode, LS_COUNT_OF(modes), mode_name_at, NULL));
}

/* A GPU of the instruction set, where only that is given. */
static const char *default_platform(const ls_gpu_options *options)
{
    const char *target = options->gpus ? options->gpus[0] : "gfx1030";
    static const char *const platforms[][2] = {
        { "gfx803", "r9nano" }, { "gfx1010", "rx5500xt" }, { "gfx90a", "mi210" }, { "gfx942", "mi300a" }
    };
    for (size_t i = 0; i < LS_COUNT_OF(platforms); i++)
        if (strcmp(platforms[i][0], target) == 0)
            return platforms[i][1];
    return "w6800";
}

static ls_status make_gpus(ls_gpu_system *system, size_t count, ls_error *err)
{
    system->gpus = calloc(count, sizeof *system->gpus);
    if (!system->gpus)
        return no_memory(err);
    system->gpu_count = count;
    for (size_t i = 0; i < count; i++)
        pthread_cond_init(&system->gpus[i].work, NULL);
    return LS_OK;
}

/* A choice of the unified device by name; NULL is the first. */
static ls_status choose(const char *what, const char *text, const char *const *names, uint32_t *out,
                        ls_error *err)
{
    for (*out = 0; text && names[*out]; ++*out)
        if (strcmp(names[*out], text) == 0)
            return LS_OK;
    if (!text)
        return LS_OK;
    char list[128];
    size_t at = 0;
    for (size_t i = 0; names[i] && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                               i == 0         ? ""
                               : names[i + 1] ? ", "
                                              : " or ",
                               names[i]);
    return ls_fail(err, LS_ERR_USAGE, "%s of the unified device cannot be '%s': %s", what, text, list);
}

static ls_status choose_spread(const char *text, drv_spread *out, ls_error *err)
{
    static const char *const spreads[] = { "blocked", "interleaved", "central", NULL };
    uint32_t spread;
    ls_status status = choose("the spread", text, spreads, &spread, err);
    *out = (drv_spread)spread;
    return status;
}

/* All GPUs as one, after them in the list of devices. */
static ls_status unify(ls_gpu_system *system, const ls_gpu_options *options, ls_error *err)
{
    static const char *const pages[] = { "interleaved", "blocked", "one", "first-touch", NULL };
    size_t gpus = system->gpu_count - 1;
    drv_spread spread; /* emulation has no use for it */
    uint32_t place;
    ls_status status = choose_spread(options->spread, &spread, err);
    if (status == LS_OK)
        status = choose("the pages", options->pages, pages, &place, err);
    if (status != LS_OK)
        return status;
    system->pages = (drv_pages)place;
    system->together = *system->gpus[0].model;
    for (size_t i = 1; i < gpus; i++) {
        const ls_gpu_model *model = system->gpus[i].model;
        if (strcmp(model->target, system->together.target) != 0 ||
            strcmp(model->name, system->together.name) != 0)
            return ls_fail(err, LS_ERR_UNSUPPORTED,
                           "GPUs 0 (%s) and %zu (%s) are of different kinds: they are no "
                           "unified device",
                           system->together.name, i, model->name);
        system->together.compute_units += model->compute_units;
        system->together.memory_bytes += model->memory_bytes;
    }
    system->gpus[gpus].model = &system->together;
    system->unified = gpus;
    return LS_OK;
}

static ls_status build_timed(ls_gpu_system *system, const ls_gpu_options *options, ls_error *err)
{
    drv_machine machine = { .threads = options->threads,
                            .max_instructions = options->max_instructions,
                            .lenient_barriers = options->lenient_barriers,
                            .memory_bytes = &options->memory_bytes,
                            .record_path = options->record_path,
                            .platform = options->platform ? options->platform : default_platform(options),
                            .target = options->gpus ? options->gpus[0] : NULL,
                            .sets = options->sets,
                            .set_count = options->set_count,
                            .platform_dirs = options->platform_dirs,
                            .platform_dir_count = options->platform_dir_count,
                            .seed = options->seed,
                            .platform_gpus = options->platform_gpus,
                            .on = options->on,
                            .check_memory = options->check_memory,
                            .debugger = options->debugger,
                            .unified = options->unified };
    ls_status status = choose_spread(options->spread, &machine.spread, err);
    if (status != LS_OK)
        return status;
    if (options->gpus && options->gpu_count != 1)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a platform says how many GPUs there are: one instruction set is given, not %zu",
                       options->gpu_count);
    if (options->trace_path)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "instruction traces are written by emulation only");
    if (options->strict)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "strict checks are made by emulation only, not in simulated time");
    status = system->backend->create(&machine, &system->machine, err);
    if (status == LS_OK)
        status = make_gpus(system, system->backend->gpu_count(system->machine) + options->unified, err);
    for (size_t i = 0; i + options->unified < system->gpu_count && status == LS_OK; i++) {
        system->gpus[i].model = system->backend->model(system->machine, i);
        system->gpus[i].memory_bytes = system->gpus[i].model->memory_bytes;
    }
    return status == LS_OK && options->unified ? unify(system, options, err) : status;
}

static ls_status build(ls_gpu_system *system, const ls_gpu_options *options, ls_error *err)
{
    const ls_gpu_model *chosen[GPUS_MAX];
    uint64_t bytes[GPUS_MAX];
    size_t count = options && options->gpus ? options->gpu_count : 1;
    drv_machine machine = { .gpus = chosen, .memory_bytes = bytes, .gpu_count = count };
    if (options && options->platform)
        return ls_fail(err, LS_ERR_USAGE, "emulation has no platform: leave '%s' out, or choose mode time",
                       options->platform);
    if (options && options->set_count > 0)
        return ls_fail(err, LS_ERR_USAGE, "emulation has no keys to set: '%s' needs a platform, or mode time",
                       options->sets[0]);
    if (options && options->check_memory)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "memory is checked in simulated time only: choose a platform, or strict checks");
    if (options && options->trace_filter && !options->trace_path)
        return ls_fail(err, LS_ERR_USAGE, "a filter of instructions needs a file to write them to");
    if (options) {
        machine.threads = options->threads;
        machine.max_instructions = options->max_instructions;
        machine.lenient_barriers = options->lenient_barriers;
        machine.strict = options->strict;
        machine.host_addresses = options->host_addresses;
        machine.trace_path = options->trace_path;
        machine.trace_filter = options->trace_filter;
        machine.record_path = options->record_path;
        machine.unified = options->unified;
        machine.debugger = options->debugger;
    }
    ls_status status = make_gpus(system, count + machine.unified, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        drv_gpu *gpu = &system->gpus[i];
        gpu->model = find_model(options && options->gpus ? options->gpus[i] : "gfx1030", err);
        if (!gpu->model)
            return LS_ERR_USAGE;
        gpu->memory_bytes =
            options && options->memory_bytes ? options->memory_bytes : gpu->model->memory_bytes;
        if (gpu->memory_bytes > ((uint64_t)1 << 40))
            return ls_fail(err, LS_ERR_USAGE, "a GPU has at most 1 TiB of memory");
        chosen[i] = gpu->model;
        bytes[i] = gpu->memory_bytes;
    }
    if (machine.unified)
        status = unify(system, options, err);
    return status == LS_OK ? system->backend->create(&machine, &system->machine, err) : status;
}

ls_status ls_gpu_system_create(const ls_gpu_options *options, ls_gpu_system **out, ls_error *err)
{
    size_t count = options && options->gpus ? options->gpu_count : 1;
    const drv_backend *backend = NULL;
    ls_gpu_system *system;
    ls_status status;
    *out = NULL;
    status = find_backend(options && options->mode       ? options->mode
                          : options && options->platform ? "time"
                                                         : NULL,
                          &backend, err);
    if (status != LS_OK)
        return status;
    if (count == 0 || count > GPUS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "a system has 1 to %d GPUs, not %zu", GPUS_MAX, count);
    system = calloc(1, sizeof *system);
    if (!system)
        return no_memory(err);
    system->backend = backend;
    system->unified = SIZE_MAX;
    pthread_mutex_init(&system->lock, NULL);
    pthread_cond_init(&system->done, NULL);
    /* Without options the first mode is taken, which has no time. */
    status = options && backend == &drv_backend_time ? build_timed(system, options, err)
                                                     : build(system, options, err);
    if (status == LS_OK)
        *out = system;
    else
        ls_gpu_system_destroy(system);
    return status;
}

void ls_gpu_system_destroy(ls_gpu_system *system)
{
    if (!system)
        return;
    drv_stop_workers(system);
    if (system->machine)
        system->backend->destroy(system->machine);
    for (size_t i = 0; i < system->gpu_count; i++)
        pthread_cond_destroy(&system->gpus[i].work);
    pthread_cond_destroy(&system->done);
    pthread_mutex_destroy(&system->lock);
    free(system->gpus);
    free(system);
}

size_t ls_gpu_system_gpu_count(const ls_gpu_system *system)
{
    return drv_gpus(system);
}

size_t ls_gpu_system_unified(const ls_gpu_system *system)
{
    return system->unified;
}

const ls_gpu_model *ls_gpu_system_gpu(const ls_gpu_system *system, size_t gpu)
{
    return gpu < system->gpu_count ? system->gpus[gpu].model : NULL;
}

void ls_gpu_system_memory(ls_gpu_system *system, size_t gpu, uint64_t *used, uint64_t *total)
{
    *used = *total = 0;
    if (gpu >= system->gpu_count)
        return;
    pthread_mutex_lock(&system->lock);
    size_t first = gpu == system->unified ? 0 : gpu, end = gpu == system->unified ? gpu : gpu + 1;
    for (size_t i = first; i < end; i++) {
        *used += system->gpus[i].used_bytes;
        *total += system->gpus[i].memory_bytes;
    }
    pthread_mutex_unlock(&system->lock);
}

bool ls_gpu_system_is_timed(const ls_gpu_system *system)
{
    return system->backend->now != NULL;
}

bool ls_gpu_system_memory_check(const ls_gpu_system *system, ls_gpu_memory_check *out)
{
    *out = (ls_gpu_memory_check){ 0 };
    return system->backend->checked != NULL && system->backend->checked(system->machine, out);
}

uint64_t ls_gpu_system_now(const ls_gpu_system *system)
{
    return system->backend->now ? system->backend->now(system->machine) : 0;
}

ls_status ls_gpu_system_close_trace(ls_gpu_system *system, ls_error *err)
{
    return system->backend->close_trace(system->machine, err);
}

/* ----------------------------------------------------------------------------------------------- contexts */

ls_status ls_gpu_context_create(ls_gpu_system *system, ls_gpu_context **out, ls_error *err)
{
    ls_gpu_context *context = calloc(1, sizeof *context);
    *out = NULL;
    if (!context)
        return no_memory(err);
    context->system = system;
    context->defaults = calloc(system->gpu_count, sizeof *context->defaults);
    if (!context->defaults) {
        free(context);
        return no_memory(err);
    }
    for (size_t i = 0; i < system->gpu_count; i++) {
        context->defaults[i].is_default = true;
        drv_queue_init(&context->defaults[i], context, i);
    }
    *out = context;
    return LS_OK;
}

void ls_gpu_context_destroy(ls_gpu_context *context)
{
    if (!context)
        return;
    while (context->queues)
        ls_gpu_queue_destroy(context->queues);
    for (size_t i = 0; i < context->system->gpu_count; i++)
        drv_queue_fini(&context->defaults[i]);
    while (context->modules) {
        ls_gpu_module *module = context->modules;
        context->modules = module->next;
        drv_module_destroy(module);
    }
    for (size_t i = context->ranges.count; i-- > 0;)
        if (drv_give_back(context, context->ranges.at[i].address, false, NULL) != LS_OK)
            free(context->ranges.at[i].places); /* on lost GPUs memory goes with the system */
    vec_fini(&context->ranges);
    free(context->defaults);
    free(context);
}

ls_status ls_gpu_select(ls_gpu_context *context, size_t gpu, ls_error *err)
{
    if (gpu >= context->system->gpu_count)
        return ls_fail(err, LS_ERR_USAGE, "there is no GPU %zu: the system has %zu, counted from 0", gpu,
                       drv_gpus(context->system));
    pthread_mutex_lock(&context->system->lock);
    context->selected = gpu;
    pthread_mutex_unlock(&context->system->lock);
    return LS_OK;
}

size_t ls_gpu_selected(const ls_gpu_context *context)
{
    size_t gpu;
    pthread_mutex_lock(&context->system->lock);
    gpu = context->selected;
    pthread_mutex_unlock(&context->system->lock);
    return gpu;
}

void ls_gpu_context_counts(const ls_gpu_context *context, ls_gpu_counts *out)
{
    pthread_mutex_lock(&context->system->lock);
    *out = context->counts;
    pthread_mutex_unlock(&context->system->lock);
}
