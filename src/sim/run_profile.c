/* run_profile.c: see run_profile.h. */
#include "sim/run_profile.h"

#include "base/pool.h"
#include "platform/needs.h"
#include "workload/share.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- building */

/* Before setting a key that only this kind of machine has. */
static ls_status check_machine(const run_profile_options *o, ls_error *err)
{
    platform_config *config;
    char text[1024];
    config_request request = o->platform;
    ls_status status = config_load(&request, &config, NULL, err);
    if (status != LS_OK)
        return status;
    const char *machine = config_machine(config)->name;
    for (size_t next = 0; o->warn && config_next_idle(config, &next, text, sizeof text);)
        o->warn(o->warn_self, text);
    if (strcmp(machine, "gpu") != 0)
        status =
            ls_fail(err, LS_ERR_USAGE,
                    "profile: platform '%s' is a machine of type '%s', which runs no traces of NVIDIA GPUs",
                    config_name(config), machine);
    config_destroy(config);
    return status;
}

/* The platform's keys, and one more: profiles are about machines whose memory is a formula. */
static ls_status build_machine(run_profile *p, const run_profile_options *o, ls_error *err)
{
    config_request request = o->platform;
    const char **sets = calloc(request.set_count + 1, sizeof *sets);
    if (sets == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (request.set_count)
        memcpy(sets, request.sets, request.set_count * sizeof *sets);
    sets[request.set_count++] = "core.memory=analytic";
    request.sets = sets;
    ls_status status = check_machine(o, err);
    if (status == LS_OK)
        status = config_load(&request, &p->config, NULL, err);
    if (status == LS_OK)
        status = machine_create(p->config, 1, &p->machine, err);
    if (status == LS_OK)
        status = gpu_get_shape(ls_machine_engine(p->machine), &p->shape, err);
    if (status == LS_OK)
        status = gpu_shape_check(&p->shape, err);
    free(sets);
    return status;
}

static ls_status build(run_profile *p, const run_profile_options *o, ls_error *err)
{
    const trace_options options = { .unknown_opcodes_as_alu = o->unknown_opcodes_as_alu, .drop_values = true };
    p->cta_limit = o->cta_limit;
    p->sample = o->sample;
    p->unmodelled.allowed = o->allow_unmodelled;
    p->profile.method = o->method;
    ls_status status = build_machine(p, o, err);
    if (status == LS_OK)
        status = trace_open(o->trace, &options, &p->trace, err);
    if (status == LS_OK)
        status = select_kernels(p->trace, o->kernels, &p->selection, err);
    if (status == LS_OK)
        status = profiler_create(&p->shape, o->method, &p->profiler, err);
    if (status == LS_OK && o->threads > 1)
        status = pool_create(o->threads, &p->pool, err);
    if (status == LS_OK && p->pool != NULL)
        status = profiler_use(p->profiler, p->pool, err);
    return status;
}

void run_profile_close(run_profile *p)
{
    profile_fini(&p->profile);
    profiler_destroy(p->profiler);
    pool_destroy(p->pool);
    selection_fini(&p->selection);
    trace_close(p->trace);
    machine_destroy(p->machine);
    config_destroy(p->config);
}

/* ---------------------------------------------------------------------------------------------- profiling */

typedef struct blocks {
    shared_streams *share;
    run_profile *p;
    const trace_kernel *kernel;
    uint64_t command;
    unmodelled_scan scan;
} blocks;

static ls_status next_block(void *self, const ls_cta **out, ls_error *err)
{
    blocks *b = self;
    bool end = false;
    ls_cta *cta = calloc(1, sizeof *cta);
    *out = NULL;
    if (cta == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a thread block");
    ls_status status = share_next(b->share, cta, &end, err);
    if (status == LS_OK && !end)
        status = unmodelled_block(&b->p->unmodelled, &b->scan, b->p->trace, b->command, b->p->cta_limit,
                                  b->kernel, cta, err);
    if (status == LS_OK && !end) {
        *out = cta;
        return LS_OK;
    }
    ls_cta_fini(cta);
    free(cta);
    return status;
}

static void block_done(void *self, const ls_cta *cta)
{
    ls_cta *own = (ls_cta *)(uintptr_t)cta;
    (void)self;
    ls_cta_fini(own);
    free(own);
}

static ls_status profile_kernel(run_profile *p, uint64_t command, ls_error *err)
{
    blocks b = { .p = p, .command = command };
    trace_kernel *from;
    ls_status status = trace_open_kernel(p->trace, command, &from, err);
    b.kernel = from;
    if (status == LS_OK)
        status = share_create(from, &b.share, err);
    if (status != LS_OK) {
        kernel_close(from);
        return status;
    }
    kernel_limit(from, p->cta_limit);
    const profile_request request = { .info = kernel_get_info(from),
                                      .insts = kernel_inst_table(from),
                                      .command = command,
                                      .ctas = kernel_blocks(from),
                                      .source = { .self = &b, .next = next_block, .done = block_done },
                                      .sample = p->sample };
    kernel_profile kernel;
    status = profiler_run(p->profiler, &request, &kernel, err);
    share_destroy(b.share);
    kernel_close(from);
    if (status != LS_OK)
        return status;
    if (!vec_push(&p->profile.kernels, kernel)) {
        profile_kernel_fini(&kernel);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a profile");
    }
    return LS_OK;
}

ls_status run_profile_make(run_profile *p, const run_profile_options *o, ls_error *err)
{
    ls_status status = build(p, o, err);
    if (status == LS_OK)
        status = profile_hash(o->trace, o->kernels, o->cta_limit, &p->shape, o->method, &p->profile.hash, err);
    for (size_t i = 0; status == LS_OK && i < p->selection.count; i++)
        status = profile_kernel(p, p->selection.at[i].command, err);
    return status;
}

ls_status run_profile_cache(const run_profile *p, mem_arena *arena, const char **path, ls_error *err)
{
    *path = profile_cache_path(arena, p->profile.hash);
    return *path ? profile_make_folders(arena, *path, err) : LS_OK;
}
