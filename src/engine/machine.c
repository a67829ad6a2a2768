/* machine.c: the functions that a machine type's build() may call. */
#include "engine/machine.h"

#include "base/text.h"

#include <string.h>

ls_engine *ls_machine_engine(ls_machine *machine)
{
    return machine->engine;
}

uint32_t ls_machine_number(const ls_machine *machine)
{
    return machine->number;
}

bool ls_machine_fabric(const ls_machine *machine)
{
    return machine->has_fabric;
}

bool ls_machine_migrates(const ls_machine *machine)
{
    return machine->migrates;
}

uint32_t ls_machine_parts(const ls_machine *machine)
{
    return machine->parts;
}

/* --------------------------------------------------------------------------------------- ports of a slot */

static const ls_port_decl *port_named(const ls_block_type *model, const char *name)
{
    for (size_t i = 0; i < model->port_count; i++)
        if (strcmp(model->ports[i].name, name) == 0)
            return &model->ports[i];
    return NULL;
}

bool ls_section_takes(const ls_section *section, const ls_block_type *model)
{
    return strcmp(section->slot, model->slot) == 0 &&
           (section->port_count == 0 || section->ports[0].optional ||
            port_named(model, section->ports[0].name) != NULL);
}

static ls_status check_functions(const ls_slot_port *port, const ls_block_type *model, const void *ops,
                                 ls_error *err)
{
    for (size_t i = 0; port->interface->functions[i] != NULL; i++) {
        void (*function)(void);
        memcpy(&function, (const char *)ops + i * sizeof function, sizeof function);
        if (function == NULL)
            return ls_fail(err, LS_ERR_INPUT, "model '%s/%s' lacks function '%s' of its port '%s' (see %s)",
                           model->slot, model->name, port->interface->functions[i], port->name,
                           port->interface->header);
    }
    return LS_OK;
}

ls_status ls_section_check(const ls_section *section, const ls_block_type *model, ls_error *err)
{
    for (size_t i = 0; i < section->port_count; i++) {
        const ls_slot_port *port = &section->ports[i];
        const ls_port_decl *is = port_named(model, port->name);
        if (is == NULL && port->optional)
            continue;
        if (is == NULL || (is->ops == NULL) != port->used)
            return ls_fail(err, LS_ERR_INPUT,
                           "model '%s/%s' lacks port '%s', which a model of its slot %s: %s", model->slot,
                           model->name, port->name, port->used ? "uses" : "provides", port->interface->header);
        if (strcmp(is->interface, port->interface->name) != 0)
            return ls_fail(err, LS_ERR_INPUT, "port '%s' of model '%s/%s' speaks '%s', its slot speaks '%s'",
                           port->name, model->slot, model->name, is->interface, port->interface->name);
        ls_status status = port->used ? LS_OK : check_functions(port, model, is->ops, err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- for build() */

/* The number of a section; section_count if there is none of that name. */
static size_t find_section(const ls_machine *machine, const char *section)
{
    size_t i = 0;
    while (i < machine->type->section_count && strcmp(machine->type->sections[i].path, section) != 0)
        i++;
    return i;
}

const ls_block_type *ls_machine_model(ls_machine *machine, const char *section)
{
    size_t i = find_section(machine, section);
    return i < machine->type->section_count ? machine->models[i] : NULL;
}

const void *ls_machine_spec(ls_machine *machine, const char *section)
{
    if (section == NULL)
        return machine->spec;
    size_t i = find_section(machine, section);
    return i < machine->type->section_count ? machine->specs[i] : NULL;
}

static const char *section_at(const void *self, size_t i)
{
    return ((const ls_section *)self)[i].path;
}

ls_status ls_machine_block(ls_machine *machine, ls_region *region, const char *name, const char *section,
                           ls_block **out, ls_error *err)
{
    const ls_block_type *model = ls_machine_model(machine, section);
    if (model == NULL) {
        *out = NULL;
        ls_fail(err, LS_ERR_INTERNAL, "block '%s' wants section '%s', which the machine does not declare",
                name, section);
        return ls_error_nearest(err, nearest_name(section, machine->type->section_count, section_at,
                                                  machine->type->sections));
    }
    return ls_block_create(region, name, model, ls_machine_spec(machine, section), out, err);
}
