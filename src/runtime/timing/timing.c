/* timing.c: the back end `time`: a machine of a platform file with simulated memory, and the driver's requests
 * that take no simulated time. Commands are in timing_run.c. */
#include "runtime/timing/timing_impl.h"

#include "isa/amd/exec/start.h"
#include "runtime/driver/drv.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_EXTRA                                                                                          \
    ((uint64_t)16 << 30) /* of addresses: scratch, arguments, the page after each allocation */
#define WATCHDOG_FS (UINT64_C(100) * 1000000000000) /* 100 ms */

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ----------------------------------------------------------------------------------------- life and death */

static void destroy(void *self)
{
    timing *t = self;
    if (!t)
        return;
    for (size_t i = 0; i < t->slots.count; i++) {
        (void)timing_record_end(t->slots.at[i], false, NULL);
        free(t->slots.at[i]->setup);
        free(t->slots.at[i]);
    }
    vec_fini(&t->slots);
    vec_fini(&t->pieces);
    vec_fini(&t->freed);
    record_abort(t->record);
    if (t->address_space)
        address_space_watch(t->address_space, NULL, NULL);
    machine_destroy(t->machine);
    timing_leftover_free(t->leftover);
    config_destroy(t->config);
    address_space_destroy(t->address_space);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static ls_status load(timing *t, const drv_machine *m, ls_error *err)
{
    const config_request request = { .platform = m->platform,
                                     .sets = m->sets,
                                     .set_count = m->set_count,
                                     .platform_dirs = m->platform_dirs,
                                     .platform_dir_count = m->platform_dir_count,
                                     .gpus = m->platform_gpus };
    size_t index = 0;
    ls_status status = config_load(&request, &t->config, NULL, err);
    if (status == LS_OK)
        status =
            config_choose_part(t->config, AMD_GPU_MACHINE, "programs", m->on, &t->gpu_number, &index, err);
    if (status != LS_OK)
        return status;
    t->gpu_config = config_part_count(t->config) > 0 ? config_part(t->config, t->gpu_number) : t->config;
    if (strcmp(config_machine(t->gpu_config)->name, AMD_GPU_MACHINE) != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "platform '%s' is a machine of type '%s', which executes no programs",
                       config_name(t->config), config_machine(t->config)->name);
    status = machine_create(t->config, m->seed, &t->machine, err);
    if (status == LS_OK)
        status = machine_set_busy(t->machine, t->gpu_number, err);
    if (status != LS_OK)
        return status;
    t->engine = ls_machine_engine(t->machine);
    t->gpu = amd_gpu_of(t->engine, (uint32_t)index);
    ls_port command = amd_gpu_command(t->gpu);
    t->command = command.ops;
    t->command_self = command.self;
    return LS_OK;
}

/* Programs for another instruction set than the machine's run, with its times. */
ls_status timing_warn_foreign(timing *t, const char *target, ls_error *err)
{
    static const char *const families[][2] = { { "gfx803", "GCN 3" },
                                               { "gfx1010", "RDNA" },
                                               { "gfx1030", "RDNA 2" } };
    const char *own = amd_gpu_get_facts(t->gpu)->target, *family = own;
    for (size_t i = 0; i < LS_COUNT_OF(families); i++)
        if (strcmp(families[i][0], own) == 0)
            family = families[i][1];
    if (strcmp(target, own) == 0)
        return LS_OK;
    ls_status status =
        ls_engine_warn(t->engine, "foreign",
                       "%s code on a %s machine: %s executes %s, other instructions get its timing", target,
                       family, config_name(t->gpu_config), own);
    return status == LS_OK ? LS_OK : no_memory(err);
}

/* The GPU as the driver describes it: the platform's sizes, limited by its instruction set. */
static ls_status describe(timing *t, const drv_machine *m, ls_error *err)
{
    const amd_gpu_facts *facts = amd_gpu_get_facts(t->gpu);
    const char *target = m->target ? m->target : facts->target;
    for (size_t i = 0; i < ls_gpu_model_count(); i++)
        if (strcmp(ls_gpu_model_at(i)->target, target) == 0) {
            t->model = *ls_gpu_model_at(i);
            t->model.name = config_name(t->gpu_config);
            t->model.help = config_title(t->gpu_config);
            t->model.memory_bytes = m->memory_bytes[0] ? m->memory_bytes[0] : facts->memory_bytes;
            t->model.compute_units = facts->compute_units;
            t->model.clock_mhz = facts->clock_mhz;
            if (facts->lds_bytes < t->model.lds_bytes)
                t->model.lds_bytes = facts->lds_bytes;
            return timing_warn_foreign(t, target, err);
        }
    return ls_fail(err, LS_ERR_USAGE, "there is no instruction set '%s': gfx803, gfx1010 or gfx1030", target);
}

/* The part of a queue that kernels read: the upper halves of the apertures. */
static ls_status write_queue(timing *t, ls_error *err)
{
    uint32_t queue[64] = { 0 };
    queue[64 / 4] = AMD_SHARED_BASE_HI;
    queue[68 / 4] = AMD_PRIVATE_BASE_HI;
    ls_status status = address_space_alloc(t->address_space, LS_PAGE_BYTES, LS_PAGE_BYTES,
                                           LS_PAGE_READ | LS_PAGE_WRITE, &t->queue_record, err);
    return status == LS_OK ? amd_gpu_load(t->gpu, t->queue_record, queue, sizeof queue, err) : status;
}

/* The lock is held, and the engine does not run. */
static void pages_changed(void *self, uint64_t address, uint64_t bytes, uint32_t state)
{
    timing *t = self;
    amd_gpu_change_pages(t->gpu, &(ls_page_change){ .address = address, .bytes = bytes, .state = state });
}

static ls_status create(const drv_machine *m, void **self, ls_error *err)
{
    timing *t = calloc(1, sizeof *t);
    *self = NULL;
    if (!t)
        return no_memory(err);
    pthread_mutex_init(&t->lock, NULL);
    t->max_instructions = m->max_instructions;
    t->lenient_barriers = m->lenient_barriers;
    t->options = (ls_run_options){ .threads = m->threads ? m->threads : 1, .watchdog_fs = WATCHDOG_FS };
    ls_status status = load(t, m, err);
    if (status == LS_OK)
        status = describe(t, m, err);
    if (status == LS_OK)
        status = address_space_create(2 * t->model.memory_bytes + WINDOW_EXTRA, &t->address_space, err);
    if (status == LS_OK)
        status = amd_gpu_set_memory(t->gpu, t->address_space, err);
    if (status == LS_OK)
        address_space_watch(t->address_space, pages_changed, t);
    if (status == LS_OK)
        status = write_queue(t, err);
    if (status == LS_OK && m->record_path)
        status = record_create(m->record_path, config_name(t->gpu_config), &t->record, err);
    if (status == LS_OK)
        *self = t;
    else
        destroy(t);
    return status;
}

static ls_status close_trace(void *self, ls_error *err)
{
    timing *t = self;
    recorder *rec = t->record;
    t->record = NULL;
    return rec ? record_finish(rec, err) : LS_OK;
}

/* ------------------------------------------------------------------------------------------------- memory */

static ls_status alloc(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err)
{
    timing *t = self;
    (void)gpu;
    pthread_mutex_lock(&t->lock);
    ls_status status = address_space_alloc(t->address_space, bytes, LS_PAGE_BYTES,
                                           LS_PAGE_READ | LS_PAGE_WRITE, address, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* The driver has waited for everything that could still use it. */
static ls_status release_memory(void *self, uint64_t address, ls_error *err)
{
    timing *t = self;
    memory_extent extent;
    pthread_mutex_lock(&t->lock);
    if (address_space_find(t->address_space, address, &extent)) {
        timing_piece piece = { .address = extent.start, .bytes = extent.end - extent.start };
        if (!vec_push(&t->freed, piece))
            amd_gpu_discard(t->gpu, piece.address, piece.bytes);
    }
    ls_status status = address_space_free(t->address_space, address, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static ls_status protect(void *self, uint64_t address, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    ls_status status = address_space_protect(t->address_space, address, bytes, LS_PAGE_READ, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static ls_status write(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    (void)gpu;
    pthread_mutex_lock(&t->lock);
    ls_status status = timing_poke(t, to, from, bytes, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static ls_status read(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    (void)gpu;
    pthread_mutex_lock(&t->lock);
    ls_status status = timing_peek(t, to, from, bytes, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* Fresh memory, of which no cache has a line. */
static ls_status load_image(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                            ls_error *err)
{
    timing *t = self;
    (void)gpu;
    pthread_mutex_lock(&t->lock);
    ls_status status = amd_gpu_load(t->gpu, to, from, bytes, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* ----------------------------------------------------------------------------------------------- programs */

static void facts(void *self, size_t gpu, drv_facts *out)
{
    timing *t = self;
    (void)gpu;
    *out = (drv_facts){ .shared_base_hi = AMD_SHARED_BASE_HI,
                        .private_base_hi = AMD_PRIVATE_BASE_HI,
                        .queue_address = t->queue_record };
}

static void release(void *self, void *program)
{
    timing_program *p = program;
    (void)self;
    if (!p)
        return;
    cu_code_destroy(p->code);
    amd_program_destroy(p->program);
    free(p);
}

static ls_status prepare(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err)
{
    const amd_kernel kernel = { .name = code->name,
                                .target = code->target,
                                .code = code->code,
                                .code_bytes = code->code_bytes,
                                .entry = code->entry,
                                .rsrc1 = code->rsrc1,
                                .rsrc2 = code->rsrc2,
                                .rsrc3 = code->rsrc3,
                                .properties = (uint16_t)code->properties,
                                .lds_bytes = code->lds_bytes,
                                .scratch_bytes = code->scratch_bytes,
                                .kernarg_bytes = code->kernarg_bytes };
    timing *t = self;
    timing_program *p = calloc(1, sizeof *p);
    (void)gpu;
    *program = NULL;
    if (!p)
        return no_memory(err);
    ls_status status = amd_program_create(&kernel, t->address_space, &p->program, err);
    if (status == LS_OK)
        status = cu_code_create(p->program, &p->code, err);
    if (status == LS_OK)
        *program = p;
    else
        release(t, p);
    return status;
}

static const ls_gpu_model *model(void *self, size_t gpu)
{
    (void)gpu;
    return &((timing *)self)->model;
}

static uint64_t now(void *self)
{
    return atomic_load(&((timing *)self)->now_ns);
}

const drv_backend drv_backend_time = {
    .name = "time",
    .create = create,
    .destroy = destroy,
    .close_trace = close_trace,
    .alloc = alloc,
    .free = release_memory,
    .protect = protect,
    .load = load_image,
    .write = write,
    .read = read,
    .facts = facts,
    .prepare = prepare,
    .release = release,
    .model = model,
    .submit = timing_submit,
    .advance = timing_advance,
    .now = now,
};

/* ----------------------------------------------------------------------------- for others than the driver */

static timing *of(const ls_gpu_system *system)
{
    return system->backend == &drv_backend_time ? system->machine : NULL;
}

ls_engine *timing_engine(const ls_gpu_system *system)
{
    return of(system) ? of(system)->engine : NULL;
}

const platform_config *timing_config(const ls_gpu_system *system)
{
    return of(system) ? of(system)->config : NULL;
}

amd_gpu *timing_gpu(const ls_gpu_system *system)
{
    return of(system) ? of(system)->gpu : NULL;
}

const platform_config *timing_gpu_config(const ls_gpu_system *system)
{
    return of(system) ? of(system)->gpu_config : NULL;
}

uint32_t timing_gpu_number(const ls_gpu_system *system)
{
    return of(system) ? (uint32_t)of(system)->gpu_number : 0;
}

void timing_set_options(ls_gpu_system *system, const ls_run_options *options)
{
    if (of(system))
        of(system)->options = *options;
}

void timing_watch(ls_gpu_system *system,
                  ls_status (*over)(void *self, const timing_record *record, ls_error *err), void *self)
{
    timing *t = of(system);
    if (!t)
        return;
    t->over = over;
    t->over_self = self;
}

bool timing_unfinished(const ls_gpu_system *system, ls_time *begin)
{
    const timing *t = of(system);
    return t && t->command->unfinished(t->command_self, begin);
}

ls_run_result timing_result(const ls_gpu_system *system)
{
    return of(system) ? of(system)->result : (ls_run_result){ 0 };
}
