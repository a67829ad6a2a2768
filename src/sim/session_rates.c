/* session_rates.c: hit rates of a trace on a platform, for clients of lockstep/sim.h. */
#include "base/file.h"
#include "sim/run_profile.h"
#include "sim/session.h"

#include <stdlib.h>
#include <string.h>

struct ls_sim_rates {
    mem_arena arena;
    run_profile made;
};

_Static_assert((int)LS_SIM_RATE_L1 == RATES_L1 && (int)LS_SIM_RATE_WAIT == RATES_WAIT &&
                   (int)LS_SIM_RATE_L2 == RATES_L2 && (int)LS_SIM_RATE_DRAM == RATES_DRAM &&
                   (int)LS_SIM_RATE_LEVELS == RATES_LEVELS,
               "the public levels are those of profiles");

static ls_status find_method(const char *name, profile_method *out, ls_error *err)
{
    size_t count = 0;
    *out = LS_PROFILE_CACHE;
    for (; profile_method_names[count]; count++)
        if (name && strcmp(profile_method_names[count], name) == 0)
            *out = (profile_method)count;
    if (!name || strcmp(profile_method_names[*out], name) == 0)
        return LS_OK;
    ls_fail(err, LS_ERR_USAGE, "there is no method '%s' of making profiles", name);
    return ls_error_nearest(err, nearest_of(name, profile_method_names, count));
}

static ls_status make(ls_sim_rates *r, const ls_sim_options *o, const ls_sim_profile_options *how,
                      ls_error *err)
{
    run_profile_options options = {
        .trace = o->workload,
        .kernels = o->kernels,
        .cta_limit = o->cta_limit,
        .sample = how->sample,
        .threads = how->threads,
        .unknown_opcodes_as_alu = o->unknown_as_alu,
        .allow_unmodelled = o->skip_unmodelled,
        .warn = how->warn,
        .warn_self = how->warn_self,
    };
    if (!o->platform || !o->workload)
        return ls_fail(err, LS_ERR_USAGE, "a profile needs a platform and a trace");
    ls_status status = find_method(how->method, &options.method, err);
    if (status == LS_OK)
        status = ls_sim_load_plugins(o->plugins, o->plugin_count, err);
    if (status == LS_OK)
        status = session_request(&r->arena, o, &options.platform, err);
    return status == LS_OK ? run_profile_make(&r->made, &options, err) : status;
}

ls_status ls_sim_rates_make(const ls_sim_options *options, const ls_sim_profile_options *how,
                            ls_sim_rates **out, ls_error *err)
{
    ls_sim_options o;
    ls_sim_profile_options h = { 0 };
    *out = NULL;
    ls_status status = session_take(&o, sizeof o, options, "ls_sim_options", err);
    if (status == LS_OK && how)
        status = session_take(&h, sizeof h, how, "ls_sim_profile_options", err);
    if (status != LS_OK)
        return status;
    ls_sim_rates *r = calloc(1, sizeof *r);
    if (!r)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    status = make(r, &o, &h, err);
    if (status == LS_OK)
        *out = r;
    else
        ls_sim_rates_close(r);
    return status;
}

void ls_sim_rates_close(ls_sim_rates *r)
{
    if (!r)
        return;
    run_profile_close(&r->made);
    arena_fini(&r->arena);
    free(r);
}

size_t ls_sim_rates_kernel_count(const ls_sim_rates *r)
{
    return r->made.profile.kernels.count;
}

size_t ls_sim_rates_inst_count(const ls_sim_rates *r, size_t kernel)
{
    return kernel < r->made.profile.kernels.count ? r->made.profile.kernels.at[kernel].count : 0;
}

ls_status ls_sim_get_rate(const ls_sim_rates *r, size_t kernel, size_t inst, ls_sim_rate *out, ls_error *err)
{
    if (kernel >= r->made.profile.kernels.count)
        return ls_fail(err, LS_ERR_USAGE, "the profile has %zu kernels: there is no kernel %zu",
                       r->made.profile.kernels.count, kernel);
    const kernel_profile *k = &r->made.profile.kernels.at[kernel];
    if (inst != LS_SIM_RUN && inst >= k->count)
        return ls_fail(err, LS_ERR_USAGE, "kernel %zu of the profile has %u instructions: there is no %zu",
                       kernel, k->count, inst);
    const profile_inst counts = inst == LS_SIM_RUN ? profile_sum(k) : k->at[inst];
    *out = (ls_sim_rate){ .kernel = r->made.selection.at[kernel].number,
                          .name = k->name,
                          .pc = inst == LS_SIM_RUN ? 0 : counts.pc };
    for (int level = 0; level < RATES_LEVELS; level++) {
        out->at[level] = counts.level[level].insts;
        out->accesses += counts.level[level].insts;
        out->sectors += counts.level[level].sectors;
        out->l2_sectors += counts.level[level].l2;
        out->dram_sectors += counts.level[level].dram;
    }
    return LS_OK;
}

ls_status ls_sim_rates_write(ls_sim_rates *r, const char *path, const char **written, ls_error *err)
{
    ls_status status = path ? LS_OK : run_profile_cache(&r->made, &r->arena, &path, err);
    if (status == LS_OK && path)
        status = profile_write(&r->made.profile, path, err);
    if (written)
        *written = status == LS_OK && path ? arena_strdup(&r->arena, path) : NULL;
    return status;
}

ls_status ls_sim_profile(const ls_sim_options *options, const ls_sim_profile_options *how, const char *path,
                         ls_error *err)
{
    ls_sim_rates *rates = NULL;
    ls_status status = path && strcmp(path, "-") != 0 ? file_check_writable(path, err) : LS_OK;
    if (status == LS_OK)
        status = ls_sim_rates_make(options, how, &rates, err);
    if (status == LS_OK)
        status = ls_sim_rates_write(rates, path, NULL, err);
    ls_sim_rates_close(rates);
    return status;
}
