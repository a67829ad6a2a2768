/* machine.c: the questions that a machine type's build() may ask. */
#include "engine/machine.h"

#include "base/text.h"

#include <string.h>

ls_engine *ls_machine_engine(ls_machine *machine)
{
    return machine->engine;
}

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
        return ls_error_nearest(err, ls_nearest(section, machine->type->section_count, section_at,
                                                machine->type->sections));
    }
    return ls_block_create(region, name, model, ls_machine_spec(machine, section), out, err);
}
