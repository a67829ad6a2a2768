/* machine.c: builds a machine from a configuration. Uses the engine's public interface only. */
#include "platform/machine.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct ls_machine {
    const ls_config *config;
    const ls_machine_type *type;
    ls_engine *engine;
    ls_arena arena;       /* of the specs */
    void *spec;           /* of the machine itself */
    void **section_specs; /* per section of the type */
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* A spec may be empty: then any address will do. */
static ls_status fill_spec(ls_machine *machine, const char *section, size_t bytes, void **out, ls_error *err)
{
    *out = ls_arena_alloc(&machine->arena, bytes > 0 ? bytes : 1);
    return *out ? ls_config_spec(machine->config, section, *out, bytes, err) : no_memory(err);
}

static ls_status fill_specs(ls_machine *machine, ls_error *err)
{
    const ls_machine_type *type = machine->type;
    ls_status status = fill_spec(machine, NULL, type->spec_size, &machine->spec, err);
    if (status != LS_OK)
        return status;
    machine->section_specs = ls_arena_array(&machine->arena, type->section_count + 1, sizeof(void *));
    if (!machine->section_specs)
        return no_memory(err);
    for (size_t i = 0; i < type->section_count && status == LS_OK; i++) {
        const char *path = type->sections[i].path;
        status = fill_spec(machine, path, ls_config_model(machine->config, path)->spec_size,
                           &machine->section_specs[i], err);
    }
    return status;
}

ls_status ls_machine_create(const ls_config *config, uint64_t seed, ls_machine **out, ls_error *err)
{
    *out = NULL;
    ls_machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return no_memory(err);
    machine->config = config;
    machine->type = ls_config_machine(config);
    ls_status status = ls_engine_create(seed, &machine->engine, err);
    if (status == LS_OK)
        status = fill_specs(machine, err);
    if (status == LS_OK && machine->type->build)
        status = machine->type->build(machine, machine->spec, err);
    if (status == LS_OK)
        status = ls_engine_check_ports(machine->engine, err);
    if (status == LS_OK) {
        *out = machine;
        return LS_OK;
    }
    if (err && status != LS_ERR_NOMEM) {
        ls_error_prefix(err, "machine '%s'", machine->type->name);
        if (err->where[0] == '\0')
            ls_error_at(err, ls_config_path(config), 0, 0);
    }
    ls_machine_destroy(machine);
    return status;
}

void ls_machine_destroy(ls_machine *machine)
{
    if (!machine)
        return;
    ls_engine_destroy(machine->engine);
    ls_arena_fini(&machine->arena);
    free(machine);
}

const ls_config *ls_machine_config(const ls_machine *machine)
{
    return machine->config;
}

ls_engine *ls_machine_engine(ls_machine *machine)
{
    return machine->engine;
}

const ls_block_type *ls_machine_model(ls_machine *machine, const char *section)
{
    return ls_config_model(machine->config, section);
}

const void *ls_machine_spec(ls_machine *machine, const char *section)
{
    if (!section)
        return machine->spec;
    for (size_t i = 0; i < machine->type->section_count; i++)
        if (strcmp(machine->type->sections[i].path, section) == 0)
            return machine->section_specs[i];
    return NULL;
}

static const char *section_at(const void *self, size_t i)
{
    return ((const ls_section *)self)[i].path;
}

ls_status ls_machine_block(ls_machine *machine, ls_region *region, const char *name, const char *section,
                           ls_block **out, ls_error *err)
{
    const ls_block_type *model = ls_machine_model(machine, section);
    if (!model) {
        *out = NULL;
        ls_fail(err, LS_ERR_INTERNAL, "block '%s' wants section '%s', which the machine does not declare",
                name, section);
        return ls_error_nearest(err, ls_nearest(section, machine->type->section_count, section_at,
                                                machine->type->sections));
    }
    return ls_block_create(region, name, model, ls_machine_spec(machine, section), out, err);
}
