/* machine.c: builds a machine from a configuration. */
#include "platform/machine.h"

#include "base/arena.h"
#include "engine/machine.h"
#include "platform/needs.h"
#include "platform/system.h"

#include <stdlib.h>
#include <string.h>

/* A machine made from a configuration; other code sees only `base`. */
typedef struct configured_machine {
    ls_machine base;
    const platform_config *config;
    mem_arena arena;  /* of the specs */
    bool owns_engine; /* else it stands beside others in one */
    ls_group *group;  /* of a GPU of a system: that of all its domains */
    ls_time alone;    /* the lookahead of the group before the fabric came: as with the GPU alone */
    ls_machine **parts;
    size_t part_count;
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

static bool same_assumption(const config_value *a, const config_value *b)
{
    return a && b && config_assumes(b) && strcmp(a->text, b->text) == 0 &&
           strcmp(a->origins[0].comment, b->origins[0].comment) == 0;
}

/* Those of the GPUs of a system: once for neighbours that share an assumption. */
static ls_status list_of_parts(ls_engine *engine, const platform_config *config)
{
    ls_status status = LS_OK;
    size_t count = config_part_count(config);
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < config_value_count(config_part(config, p)) && status == LS_OK; i++) {
            const config_value *value = config_at(config_part(config, p), i);
            const char *path = value->key->path;
            char scope[LS_SCOPE_BYTES];
            size_t run = 1;
            if (!config_assumes(value) ||
                (p > 0 && same_assumption(value, config_find(config_part(config, p - 1), path))))
                continue;
            while (p + run < count && same_assumption(value, config_find(config_part(config, p + run), path)))
                run++;
            status = ls_engine_warn(engine, "assumption", "%s.%s is %s: %s",
                                    system_scope_text(p, run, count, scope), path, value->text,
                                    value->origins[0].comment);
        }
    return status;
}

/* Results say which numbers of their platform no source gives. */
static ls_status list_assumptions(ls_engine *engine, const platform_config *config)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < config_own_count(config) && status == LS_OK; i++) {
        const config_value *value = config_at(config, i);
        if (config_assumes(value))
            status = ls_engine_warn(engine, "assumption", "%s is %s: %s", value->key->path, value->text,
                                    value->origins[0].comment);
    }
    return status == LS_OK ? list_of_parts(engine, config) : status;
}

static configured_machine *configured(const ls_machine *machine)
{
    return (configured_machine *)(uintptr_t)machine;
}

/* Warnings of a platform about a built machine. A GPU of a system leaves them to the system. */
static ls_status add_warnings(const configured_machine *m, ls_error *err)
{
    ls_status status = config_warn(m->config, m->base.engine, err);
    if (status == LS_OK && list_assumptions(m->base.engine, m->config) != LS_OK)
        status = no_memory(err);
    return status;
}

static ls_status build(configured_machine *m, ls_error *err)
{
    ls_status status = m->base.specs ? LS_OK : fill_specs(m, err);
    if (status == LS_OK)
        engine_begin_machine(m->base.engine);
    if (status == LS_OK && m->base.type->build)
        status = m->base.type->build(&m->base, m->base.spec, err);
    if (status == LS_OK)
        status = ls_engine_check_ports(m->base.engine, err);
    if (err && status != LS_OK && status != LS_ERR_NOMEM) {
        ls_error_prefix(err, "machine '%s'", m->base.type->name);
        if (err->where[0] == '\0')
            ls_error_at(err, config_file_path(m->config), 0, 0);
    }
    return status;
}

/* A GPU of a system. Its domains are a group, so that its windows are as long as with the GPU alone. */
static ls_status build_part(const configured_machine *system, size_t number, ls_machine **out, ls_error *err)
{
    char name[LS_SCOPE_BYTES];
    ls_engine *engine = system->base.engine;
    configured_machine *m = calloc(1, sizeof *m);
    *out = m ? &m->base : NULL;
    if (!m)
        return no_memory(err);
    m->config = config_part(system->config, number);
    m->base.type = config_machine(m->config);
    m->base.number = (uint32_t)number;
    m->base.engine = engine;
    m->base.has_fabric = system_has_fabric(&system->base);
    m->base.migrates = system_migrates(&system->base);
    system_scope_text(number, 1, SIZE_MAX, name);
    ls_status status = build(m, err);
    if (status != LS_OK && status != LS_ERR_NOMEM)
        return ls_error_prefix(err, "%s", name);
    if (status == LS_OK)
        status = ls_group_create(engine, name, &m->group, err);
    if (status == LS_OK)
        status = engine_group_machine(engine, m->group, err);
    m->alone = status == LS_OK ? ls_group_lookahead(m->group, NULL) : 0;
    return status;
}

static ls_status build_parts(configured_machine *m, ls_error *err)
{
    size_t count = config_part_count(m->config);
    ls_status status = fill_specs(m, err); /* its GPUs need to know whether there is a fabric */
    m->parts = arena_array(&m->arena, count + 1, sizeof(void *));
    if (!m->parts)
        return no_memory(err);
    m->base.parts = (uint32_t)count;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        status = build_part(m, i, &m->parts[i], err);
        m->part_count += m->parts[i] != NULL;
    }
    return status;
}

/* In `engine`; NULL: in one of its own. */
static ls_status create(const platform_config *config, ls_engine *engine, uint64_t seed, uint32_t number,
                        ls_machine **out, ls_error *err)
{
    *out = NULL;
    if (engine && config_part_count(config) > 0)
        return ls_fail(err, LS_ERR_USAGE, "platform '%s' is a system, which has an engine of its own",
                       config_name(config));
    configured_machine *m = calloc(1, sizeof *m);
    if (!m)
        return no_memory(err);
    m->config = config;
    m->base.type = config_machine(config);
    m->base.number = number;
    m->base.engine = engine;
    m->owns_engine = !engine;
    ls_status status = engine ? LS_OK : ls_engine_create(seed, &m->base.engine, err);
    if (status == LS_OK && config_part_count(config) > 0)
        status = build_parts(m, err);
    if (status == LS_OK)
        status = build(m, err);
    if (status == LS_OK)
        status = add_warnings(m, err);
    if (status == LS_OK)
        *out = &m->base;
    else
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

ls_machine *machine_part(const ls_machine *machine, size_t number)
{
    const configured_machine *m = configured(machine);
    return number < m->part_count ? m->parts[number] : NULL;
}

ls_status machine_set_busy(ls_machine *machine, const size_t *numbers, size_t count, ls_error *err)
{
    ls_time quickest = LS_TIME_MAX;
    for (size_t i = 0; i < count; i++) {
        const ls_machine *part = machine_part(machine, numbers[i]);
        if (part && configured(part)->alone < quickest)
            quickest = configured(part)->alone;
    }
    return quickest != LS_TIME_MAX ? engine_stop_as_alone(machine->engine, quickest, err) : LS_OK;
}

void machine_destroy(ls_machine *machine)
{
    if (!machine)
        return;
    if (configured(machine)->owns_engine)
        ls_engine_destroy(machine->engine);
    for (size_t i = 0; i < configured(machine)->part_count; i++)
        machine_destroy(configured(machine)->parts[i]);
    arena_fini(&configured(machine)->arena);
    free(configured(machine));
}

const platform_config *machine_config(const ls_machine *machine)
{
    return configured(machine)->config;
}
