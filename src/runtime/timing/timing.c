/* timing.c: the back end `time`: a machine of a platform file with simulated memory, and the driver's requests
 * that take no simulated time. Commands are in timing_run.c. */
#include "runtime/timing/timing_orders.h"

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

static void destroy_gpus(timing *t)
{
    for (size_t i = 0; i < t->gpu_count; i++) {
        vec_fini(&t->gpus[i].pieces);
        vec_fini(&t->gpus[i].chunks);
        vec_fini(&t->gpus[i].copies);
        address_space_destroy(t->gpus[i].space);
    }
    free(t->gpus);
}

static void destroy(void *self)
{
    timing *t = self;
    if (!t)
        return;
    for (size_t i = 0; i < t->slots.count; i++) {
        (void)timing_record_end(t->slots.at[i], false, NULL);
        timing_counts_end(&t->slots.at[i]->counts);
        timing_blocks_free(t->slots.at[i]);
        free(t->slots.at[i]->setup);
        free(t->slots.at[i]);
    }
    if (t->log)
        timing_log_fini(t->log);
    free(t->log);
    timing_ranks_free(t->ranks);
    vec_fini(&t->slots);
    vec_fini(&t->held);
    vec_fini(&t->notes);
    timing_flat_fini(t);
    vec_fini(&t->freed);
    vec_fini(&t->ranges);
    record_abort(t->record);
    timing_record_fini(t);
    for (size_t i = 0; i < t->gpu_count; i++)
        if (t->gpus[i].space)
            address_space_watch(t->gpus[i].space, NULL, NULL);
    timing_close_host(t);
    machine_destroy(t->machine);
    memcheck_destroy(t->check);
    timing_leftover_free(t->leftover);
    config_destroy(t->config);
    destroy_gpus(t);
    address_space_destroy(t->host_space);
    page_table_destroy(t->pages);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static bool is_amd(const platform_config *config)
{
    return strcmp(config_machine(config)->name, AMD_GPU_MACHINE) == 0;
}

/* The numbers in the system of the GPUs that programs see; *first is the index of the first among the AMD GPUs. */
static ls_status choose_gpus(timing *t, const char *on, size_t *numbers, size_t *first, ls_error *err)
{
    ls_status status = config_choose_part(t->config, AMD_GPU_MACHINE, "programs", on, &numbers[0], first, err);
    t->gpu_count = 0;
    if (status != LS_OK)
        return status;
    if (config_part_count(t->config) == 0 && !is_amd(t->config))
        return ls_fail(err, LS_ERR_USAGE,
                       "platform '%s' is a machine of type '%s', which executes no programs",
                       config_name(t->config), config_machine(t->config)->name);
    t->gpu_count = 1;
    for (size_t i = numbers[0] + 1; !on && i < config_part_count(t->config); i++)
        if (is_amd(config_part(t->config, i)))
            numbers[t->gpu_count++] = i;
    return LS_OK;
}

/* GPUs that programs see with others have their number in their addresses. A GPU alone has none, unless it is on a fabric
 * and has no TLBs: then its hubs tell its own memory by the number. */
static void number_gpus(timing *t, const size_t *numbers, size_t first)
{
    memset(t->index_of, 0xff, sizeof t->index_of);
    for (size_t i = 0; i < t->gpu_count; i++) {
        timing_gpu *g = &t->gpus[i];
        g->number = (uint32_t)numbers[i];
        g->config = config_part_count(t->config) > 0 ? config_part(t->config, numbers[i]) : t->config;
        g->gpu = amd_gpu_of(t->engine, (uint32_t)(first + i));
        bool needs_home = t->gpu_count > 1 || (t->has_fabric && amd_gpu_page_bytes(g->gpu) == 0);
        g->home = needs_home ? g->number : 0;
        ls_port command = amd_gpu_command(g->gpu);
        g->command = command.ops;
        g->command_self = command.self;
        g->view = (page_view){ .table = t->pages, .own = g->number };
        page_table_set_home(t->pages, g->home, g->number);
        t->index_of[g->number] = (uint32_t)i;
        if (t->gpu_count > 1 && amd_gpu_page_bytes(g->gpu) > t->page_bytes)
            t->page_bytes = amd_gpu_page_bytes(g->gpu);
    }
}

static ls_status load(timing *t, const drv_machine *m, ls_error *err)
{
    const config_request request = { .platform = m->platform,
                                     .sets = m->sets,
                                     .set_count = m->set_count,
                                     .platform_dirs = m->platform_dirs,
                                     .platform_dir_count = m->platform_dir_count,
                                     .gpus = m->platform_gpus };
    size_t numbers[MEM_PLACE_GPUS], first = 0;
    ls_status status = config_load(&request, &t->config, NULL, err);
    if (status == LS_OK)
        status = choose_gpus(t, m->on, numbers, &first, err);
    if (status == LS_OK)
        status = page_table_create(&t->pages, err);
    if (status == LS_OK) {
        t->gpus = calloc(t->gpu_count, sizeof *t->gpus);
        status = t->gpus ? LS_OK : no_memory(err);
    }
    if (status != LS_OK) {
        t->gpu_count = 0;
        return status;
    }
    status = machine_create(t->config, m->seed, &t->machine, err);
    if (status == LS_OK)
        status = machine_set_busy(t->machine, numbers, t->gpu_count, err);
    if (status != LS_OK)
        return status;
    t->engine = ls_machine_engine(t->machine);
    const ls_machine *part = machine_part(t->machine, numbers[0]);
    t->has_fabric = part && ls_machine_fabric(part);
    number_gpus(t, numbers, first);
    return LS_OK;
}

/* Programs for another instruction set than the machine's run, with its times. */
ls_status timing_warn_foreign(timing *t, const timing_gpu *g, const char *target, ls_error *err)
{
    static const char *const families[][2] = { { "gfx803", "GCN 3" },
                                               { "gfx1010", "RDNA" },
                                               { "gfx1030", "RDNA 2" },
                                               { "gfx90a", "CDNA 2" },
                                               { "gfx942", "CDNA 3" } };
    const char *own = amd_gpu_get_facts(g->gpu)->target, *family = own;
    amd_target set, machine_set;
    bool matrices = amd_target_find(target, &set) && amd_target_is_gfx9(set);
    if (matrices && amd_target_find(own, &machine_set) && !amd_target_is_gfx9(machine_set))
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "%s has no timing for %s: platforms mi300a, mi300x and mi210 have, and `lockstep emulate` runs its "
            "programs",
            config_name(g->config), target);
    for (size_t i = 0; i < LS_COUNT_OF(families); i++)
        if (strcmp(families[i][0], own) == 0)
            family = families[i][1];
    if (strcmp(target, own) == 0)
        return LS_OK;
    ls_status status =
        ls_engine_warn(t->engine, "foreign",
                       "%s code on a %s machine: %s executes %s, other instructions get its timing", target,
                       family, config_name(g->config), own);
    return status == LS_OK ? LS_OK : no_memory(err);
}

/* The GPU as the driver describes it: the platform's sizes, limited by its instruction set. */
static ls_status describe(timing *t, timing_gpu *g, const drv_machine *m, ls_error *err)
{
    const amd_gpu_facts *facts = amd_gpu_get_facts(g->gpu);
    const char *target = m->target ? m->target : facts->target;
    for (size_t i = 0; i < ls_gpu_model_count(); i++)
        if (strcmp(ls_gpu_model_at(i)->target, target) == 0) {
            g->model = *ls_gpu_model_at(i);
            g->model.name = config_name(g->config);
            g->model.help = config_title(g->config);
            g->model.memory_bytes = m->memory_bytes[0] ? m->memory_bytes[0] : facts->memory_bytes;
            g->model.compute_units = facts->compute_units;
            g->model.clock_mhz = facts->clock_mhz;
            if (facts->lds_bytes < g->model.lds_bytes)
                g->model.lds_bytes = facts->lds_bytes;
            return timing_warn_foreign(t, g, target, err);
        }
    return ls_fail(err, LS_ERR_USAGE,
                   "there is no instruction set '%s': gfx803, gfx1010, gfx1030, gfx90a or gfx942", target);
}

/* The part of a queue that kernels read: the upper halves of the apertures. */
static ls_status write_queue(timing_gpu *g, ls_error *err)
{
    uint32_t queue[64] = { 0 };
    queue[64 / 4] = AMD_SHARED_BASE_HI;
    queue[68 / 4] = AMD_PRIVATE_BASE_HI;
    ls_status status = timing_alloc(g, LS_PAGE_BYTES, g->align, &g->queue_record, err);
    return status == LS_OK ? amd_gpu_load(g->gpu, timing_frame(g->queue_record), queue, sizeof queue, err)
                           : status;
}

/* The lock is held, and the engine does not run. */
static void pages_changed(void *self, uint64_t address, uint64_t bytes, uint32_t state)
{
    timing_gpu *g = self;
    amd_gpu_change_pages(g->gpu, &(ls_page_change){ .address = address, .bytes = bytes, .state = state });
}

#define WINDOW_LEAST (UINT64_C(1) << 32)

/* Addresses for twice the GPU's memory. A host that has fewer (valgrind, a limit) gives what it can: programs that need
 * more are refused when they allocate. */
static ls_status reserve_space(timing_gpu *g, ls_error *err)
{
    const uint64_t wanted = 2 * g->model.memory_bytes + WINDOW_EXTRA;
    const uint64_t most = MEM_PLACE_FRAME + 1 - LS_WINDOW_BASE;
    uint64_t bytes = wanted < most ? wanted : most;
    ls_status status = address_space_create(bytes, &g->space, err);
    while (status == LS_ERR_NOMEM && bytes / 2 >= WINDOW_LEAST) {
        bytes /= 2;
        status = address_space_create(bytes, &g->space, err);
    }
    return status;
}

static ls_status set_up_gpu(timing *t, timing_gpu *g, const drv_machine *m, ls_error *err)
{
    const ls_pages pages = page_view_pages(&g->view);
    ls_status status = describe(t, g, m, err);
    if (status != LS_OK)
        return status;
    status = reserve_space(g, err);
    if (status == LS_OK)
        status = amd_gpu_set_memory(g->gpu, g->space, err);
    if (status != LS_OK)
        return status;
    g->align = t->gpu_count > 1 ? t->page_bytes : LS_PAGE_BYTES;
    if (t->gpu_count > 1 || ls_engine_part(t->engine, HOST_PART, 0) != NULL)
        (void)amd_gpu_set_pages(g->gpu, &pages);
    address_space_watch(g->space, pages_changed, g);
    return write_queue(g, err);
}

static ls_status check_unified(timing *t, const drv_machine *m, ls_error *err)
{
    t->unified = true;
    t->spread = m->spread;
    if (t->gpu_count > 1 && !t->has_fabric)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "a unified device needs a fabric: its GPUs use each other's memory, and those of platform "
            "'%s' are not connected",
            config_name(t->config));
    for (size_t i = 0; i < t->gpu_count && t->gpu_count > 1; i++)
        if (amd_gpu_page_bytes(t->gpus[i].gpu) == 0)
            return ls_fail(err, LS_ERR_UNSUPPORTED,
                           "a unified device needs TLBs, which find the places of pages: gpu%u has none "
                           "(tlb.model)",
                           t->gpus[i].number);
    if (t->spread == DRV_SPREAD_CENTRAL && amd_gpu_followers(t->gpus[0].gpu) + 1 != t->gpu_count)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "spread central needs command processors of model 'cycle' and GPUs with the same compute units: "
            "the one of gpu%u can use %u other GPUs of %zu",
            t->gpus[0].number, amd_gpu_followers(t->gpus[0].gpu), t->gpu_count - 1);
    return LS_OK;
}

static ls_status create(const drv_machine *m, void **self, ls_error *err)
{
    timing *t = calloc(1, sizeof *t);
    *self = NULL;
    if (!t)
        return no_memory(err);
    pthread_mutex_init(&t->lock, NULL);
    t->page_bytes = LS_PAGE_BYTES;
    t->max_instructions = m->max_instructions;
    t->lenient_barriers = m->lenient_barriers;
    t->options = (ls_run_options){ .threads = m->threads ? m->threads : 1, .watchdog_fs = WATCHDOG_FS };
    ls_status status = load(t, m, err);
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++)
        status = set_up_gpu(t, &t->gpus[i], m, err);
    if (status == LS_OK)
        status = timing_set_up_host(t, err);
    if (status == LS_OK)
        timing_set_up_migration(t);
    if (status == LS_OK && m->unified)
        status = check_unified(t, m, err);
    if (status == LS_OK && m->record_path && t->directory)
        status = ls_fail(err, LS_ERR_UNSUPPORTED,
                         "a recording has pages that stay where they are: migrate.model must be none");
    if (status == LS_OK && m->record_path && t->unified && t->spread == DRV_SPREAD_CENTRAL)
        status =
            ls_fail(err, LS_ERR_UNSUPPORTED,
                    "a recording says which GPU runs a work-group: spread must be blocked or interleaved");
    if (status == LS_OK && m->record_path)
        status = record_create(m->record_path, config_name(t->gpus[0].config), &t->record, err);
    if (status == LS_OK)
        status = timing_debug_set_up(t, m->debugger, err);
    if (status == LS_OK && m->check_memory)
        status = memcheck_create(&t->check, err);
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

/* ----------------------------------------------------------------------------------------------- programs */

static void facts(void *self, size_t gpu, drv_facts *out)
{
    timing *t = self;
    *out = (drv_facts){ .shared_base_hi = AMD_SHARED_BASE_HI,
                        .private_base_hi = AMD_PRIVATE_BASE_HI,
                        .queue_address = t->gpus[gpu < t->gpu_count ? gpu : 0].queue_record };
}

void timing_release(void *self, void *program)
{
    timing_program *p = program;
    (void)self;
    if (!p)
        return;
    cu_code_destroy(p->code);
    amd_program_destroy(p->program);
    free(p);
}

ls_status timing_prepare(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err)
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
    *program = NULL;
    if (!p)
        return no_memory(err);
    gpu = gpu < t->gpu_count ? gpu : 0;
    ls_status status =
        amd_program_create_at(&kernel, t->gpus[gpu].space, timing_frame(kernel.code), &p->program, err);
    if (status == LS_OK)
        status = cu_code_create(p->program, &p->code, err);
    if (status == LS_OK)
        *program = p;
    else
        timing_release(t, p);
    return status;
}

static const ls_gpu_model *model(void *self, size_t gpu)
{
    return &((timing *)self)->gpus[gpu].model;
}

static size_t gpu_count(void *self)
{
    return ((timing *)self)->gpu_count;
}

static bool reaches(void *self)
{
    const timing *t = self;
    return t->has_fabric || t->gpu_count == 1;
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
    .alloc = timing_order_alloc,
    .has_host = timing_has_host,
    .host_alloc = timing_order_host_alloc,
    .free = timing_order_free,
    .protect = timing_order_protect,
    .manage = timing_order_manage,
    .place_now = timing_order_place_now,
    .page_bytes = timing_page_bytes,
    .turn_bytes = timing_turn_bytes,
    .place = timing_order_place,
    .reaches = reaches,
    .replicate = timing_order_replicate,
    .load = timing_order_load,
    .write = timing_order_write,
    .read = timing_order_read,
    .look = timing_order_look,
    .patch = timing_order_patch,
    .facts = facts,
    .prepare = timing_order_prepare,
    .release = timing_order_release,
    .gpu_count = gpu_count,
    .model = model,
    .submit = timing_order_submit,
    .advance = timing_order_advance,
    .now = now,
    .checked = timing_checked,
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

amd_gpu *timing_gpu_at(const ls_gpu_system *system, size_t gpu)
{
    return of(system) ? of(system)->gpus[gpu].gpu : NULL;
}

const platform_config *timing_gpu_config(const ls_gpu_system *system, size_t gpu)
{
    return of(system) ? of(system)->gpus[gpu].config : NULL;
}

uint32_t timing_gpu_number(const ls_gpu_system *system, size_t gpu)
{
    return of(system) ? of(system)->gpus[gpu].number : 0;
}

const ls_clock *timing_clock(const ls_gpu_system *system, uint32_t number)
{
    const timing *t = of(system);
    return amd_gpu_clock(t->gpus[t->index_of[number]].gpu);
}

ls_run_options timing_options(const ls_gpu_system *system)
{
    return of(system)->options;
}

void timing_set_options(ls_gpu_system *system, const ls_run_options *options)
{
    if (of(system))
        of(system)->options = *options;
}

void timing_count_instructions(ls_gpu_system *system)
{
    timing *t = of(system);
    if (t)
        t->counts_instructions = true;
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

const memcheck *timing_memcheck(const ls_gpu_system *system)
{
    return of(system) ? of(system)->check : NULL;
}

bool timing_unfinished(const ls_gpu_system *system, ls_time *begin)
{
    const timing *t = of(system);
    *begin = LS_TIME_MAX;
    for (size_t i = 0; t && i < t->gpu_count && !timing_log_replays(t->log); i++) {
        ls_time first;
        if (timing_is_here(t, (uint32_t)i) &&
            t->gpus[i].command->unfinished(t->gpus[i].command_self, &first) && first < *begin)
            *begin = first;
    }
    if (t && !timing_log_replays(t->log))
        *begin = timing_ranks_unfinished(t, *begin);
    timing_log_value(t ? t->log : NULL, TIMING_LOG_UNFINISHED, begin, sizeof *begin);
    return *begin != LS_TIME_MAX;
}

ls_run_result timing_result(const ls_gpu_system *system)
{
    return of(system) ? of(system)->result : (ls_run_result){ 0 };
}
