/* machine.c: builds a machine from a configuration. */
#include "platform/machine.h"

#include "base/arena.h"
#include "engine/machine.h"
#include "platform/needs.h"

#include <stdlib.h>

/* A machine made from a configuration; other code sees only `base`. */
typedef struct configured_machine {
    ls_machine base;
    const platform_config *config;
    mem_arena arena;  /* of the specs */
    bool owns_engine; /* else it stands beside others in one */
} configured_machine;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* A spec may be empty: then any address will do. */
static ls_status fill_spec(configured_machine *m, const char *section, size_t bytes, const void **out,
                           ls_error *err)
{
    void *spec = arena_alloc(&m->arena, bytes > 0 ? bytes : 1);
    *out = spec;
    return spec ? config_spec(m->config, section, spec, bytes, err) : no_memory(err);
}

static ls_status fill_specs(configured_machine *m, ls_error *err)
{
    const ls_machine_type *type = m->base.type;
    ls_status status = fill_spec(m, NULL, type->spec_size, &m->base.spec, err);
    if (status != LS_OK)
        return status;
    const ls_block_type **models = arena_array(&m->arena, type->section_count + 1, sizeof *models);
    const void **specs = arena_array(&m->arena, type->section_count + 1, sizeof *specs);
    if (!models || !specs)
        return no_memory(err);
    for (size_t i = 0; i < type->section_count && status == LS_OK; i++) {
        const char *path = type->sections[i].path;
        models[i] = config_model(m->config, path);
        status = ls_section_check(&type->sections[i], models[i], err);
        if (status == LS_OK)
            status = fill_spec(m, path, models[i]->spec_size, &specs[i], err);
    }
    m->base.models = models;
    m->base.specs = specs;
    return status;
}

/* Results say which numbers of their platform no source gives. */
static ls_status list_assumptions(ls_engine *engine, const platform_config *config)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < config_value_count(config) && status == LS_OK; i++) {
        const config_value *value = config_at(config, i);
        if (config_assumes(value))
            status = ls_engine_warn(engine, "assumption", "%s is %s: %s", value->key->path, value->text,
                                    value->origins[0].comment);
    }
    return status;
}

/* In `engine`; NULL: in one of its own. */
static ls_status create(const platform_config *config, ls_engine *engine, uint64_t seed, uint32_t number,
                        ls_machine **out, ls_error *err)
{
    *out = NULL;
    configured_machine *m = calloc(1, sizeof *m);
    if (!m)
        return no_memory(err);
    m->config = config;
    m->base.type = config_machine(config);
    m->base.number = number;
    m->base.engine = engine;
    m->owns_engine = !engine;
    ls_status status = engine ? LS_OK : ls_engine_create(seed, &m->base.engine, err);
    if (status == LS_OK)
        status = fill_specs(m, err);
    if (status == LS_OK)
        engine_begin_machine(m->base.engine);
    if (status == LS_OK && m->base.type->build)
        status = m->base.type->build(&m->base, m->base.spec, err);
    if (status == LS_OK)
        status = ls_engine_check_ports(m->base.engine, err);
    if (status == LS_OK)
        status = config_warn(config, m->base.engine, err);
    if (status == LS_OK && list_assumptions(m->base.engine, config) != LS_OK)
        status = no_memory(err);
    if (status == LS_OK) {
        *out = &m->base;
        return LS_OK;
    }
    if (err && status != LS_ERR_NOMEM) {
        ls_error_prefix(err, "machine '%s'", m->base.type->name);
        if (err->where[0] == '\0')
            ls_error_at(err, config_file_path(config), 0, 0);
    }
    machine_destroy(&m->base);
    return status;
}

ls_status machine_create(const platform_config *config, uint64_t seed, ls_machine **out, ls_error *err)
{
    return create(config, NULL, seed, 0, out, err);
}

ls_status machine_add(const platform_config *config, ls_engine *engine, uint32_t number, ls_machine **out,
                      ls_error *err)
{
    return create(config, engine, 0, number, out, err);
}

static configured_machine *configured(const ls_machine *machine)
{
    return (configured_machine *)(uintptr_t)machine;
}

void machine_destroy(ls_machine *machine)
{
    if (!machine)
        return;
    if (configured(machine)->owns_engine)
        ls_engine_destroy(machine->engine);
    arena_fini(&configured(machine)->arena);
    free(configured(machine));
}

const platform_config *machine_config(const ls_machine *machine)
{
    return configured(machine)->config;
}
