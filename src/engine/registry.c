/* registry.c: the block and machine types that exist: types of the program itself, found in a linker section,
 * and types of plug-ins.
 *
 * The list is the one piece of state in the library that is not inside an engine. It grows only through
 * ls_plugin_load(), before anything runs. */
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "lockstep/block.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

extern const ls_registration *const __start_ls_registry[] __attribute__((weak, visibility("hidden")));
extern const ls_registration *const __stop_ls_registry[] __attribute__((weak, visibility("hidden")));

static struct registry {
    LS_VEC(const ls_block_type *) blocks;
    LS_VEC(const ls_machine_type *) machines;
    bool loaded;
} registry;

static int compare_blocks(const void *a, const void *b)
{
    const ls_block_type *x = *(const ls_block_type *const *)a, *y = *(const ls_block_type *const *)b;
    int order = strcmp(x->slot, y->slot);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int compare_machines(const void *a, const void *b)
{
    const ls_machine_type *x = *(const ls_machine_type *const *)a, *y = *(const ls_machine_type *const *)b;
    return strcmp(x->name, y->name);
}

static ls_status check_abi(const char *kind, const char *name, uint32_t abi, ls_error *err)
{
    if (abi == LS_ABI_VERSION)
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE, "%s '%s' was built for ABI version %u, this is version %u: rebuild it",
                   kind, name, abi, LS_ABI_VERSION);
}

/* ------------------------------------------------------------------------------------------------- slots */

/* Section number `index` of all machines, in order; NULL past the last. */
static const ls_section *section_number(size_t index)
{
    for (size_t i = 0; i < registry.machines.count; i++) {
        if (index < registry.machines.at[i]->section_count)
            return &registry.machines.at[i]->sections[index];
        index -= registry.machines.at[i]->section_count;
    }
    return NULL;
}

static const char *slot_at(const void *self, size_t i)
{
    (void)self;
    return section_number(i)->slot;
}

static bool has_choices_of(const ls_param *params, size_t count, const char *slot)
{
    for (size_t i = 0; i < count; i++)
        if (params[i].slot != NULL && strcmp(params[i].slot, slot) == 0)
            return true;
    return false;
}

/* A key takes models of the slot as choices: a policy. The block that has the key checks their ports. */
static bool is_policy_slot(const char *slot)
{
    for (size_t i = 0; i < registry.blocks.count; i++)
        if (has_choices_of(registry.blocks.at[i]->params, registry.blocks.at[i]->param_count, slot))
            return true;
    for (size_t i = 0; i < registry.machines.count; i++)
        if (has_choices_of(registry.machines.at[i]->params, registry.machines.at[i]->param_count, slot))
            return true;
    return false;
}

/* Slots that had another name. */
static const struct {
    const char *before, *now;
} renamed[] = {
    { "l1-cache", "l1" },       { "l2-cache", "l2" },  { "amd.l2", "l2" },    { "line-channel", "channel" },
    { "line-home", "channel" }, { "line-mmu", "mmu" }, { "line-tlb", "tlb" },
};

static const char *nearest_slot(const char *slot, size_t section_count)
{
    for (size_t i = 0; i < LS_COUNT_OF(renamed); i++)
        if (strcmp(renamed[i].before, slot) == 0)
            return renamed[i].now;
    return nearest_name(slot, section_count, slot_at, NULL);
}

static bool is_choice(const ls_param *params, size_t count, const ls_block_type *model)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; params[i].slot != NULL && strcmp(params[i].slot, model->slot) == 0; k++) {
            if (params[i].choices == NULL || params[i].choices[k] == NULL)
                break;
            if (strcmp(params[i].choices[k], model->name) == 0)
                return true;
        }
    return false;
}

/* A policy is chosen by name, so a plug-in's may not have the name of a built-in one. */
static ls_status check_policy(const ls_block_type *model, ls_error *err)
{
    bool taken = false;
    for (size_t i = 0; i < registry.blocks.count && !taken; i++)
        taken = is_choice(registry.blocks.at[i]->params, registry.blocks.at[i]->param_count, model);
    for (size_t i = 0; i < registry.machines.count && !taken; i++)
        taken = is_choice(registry.machines.at[i]->params, registry.machines.at[i]->param_count, model);
    if (!taken)
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT,
                   "policy '%s' of slot '%s' has the name of a built-in one: choose another name", model->name,
                   model->slot);
}

/* How many ports of a section a model has, by name. */
static size_t ports_in_common(const ls_section *section, const ls_block_type *model)
{
    size_t count = 0;
    for (size_t i = 0; i < section->port_count; i++)
        for (size_t k = 0; k < model->port_count; k++)
            count += strcmp(section->ports[i].name, model->ports[k].name) == 0;
    return count;
}

/* A model of a plug-in: its slot exists, and it has every port of it. Where it has the first port of none of the slots of
 * that name, the most similar one says what is missing. */
static ls_status check_slot(const ls_block_type *model, ls_error *err)
{
    const ls_section *likest = NULL;
    bool taken = false;
    size_t count = 0;
    ls_status status = LS_OK;
    for (const ls_section *section; (section = section_number(count)) != NULL && status == LS_OK; count++) {
        if (strcmp(section->slot, model->slot) != 0)
            continue;
        if (likest == NULL || ports_in_common(section, model) > ports_in_common(likest, model))
            likest = section;
        if (ls_section_takes(section, model)) {
            taken = true;
            status = ls_section_check(section, model, err);
        }
    }
    if (taken || status != LS_OK)
        return status;
    if (likest != NULL)
        return ls_section_check(likest, model, err);
    if (is_policy_slot(model->slot))
        return check_policy(model, err);
    ls_fail(err, LS_ERR_INPUT,
            "model '%s' names slot '%s', which no machine has (a machine of another "
            "plug-in is loaded first)",
            model->name, model->slot);
    return err != NULL ? ls_error_nearest(err, nearest_slot(model->slot, count)) : LS_ERR_INPUT;
}

static ls_status check_slots(const ls_registration *const *first, const ls_registration *const *last,
                             ls_error *err)
{
    ls_status status = LS_OK;
    for (const ls_registration *const *at = first; at < last && status == LS_OK; at++)
        if ((*at)->block != NULL)
            status = check_slot((*at)->block, err);
    return status;
}

/* ------------------------------------------------------------------------------------------ registrations */

/* All or nothing: the types are added only if every one of them is good. */
static ls_status add_all(const ls_registration *const *first, const ls_registration *const *last, bool plugin,
                         ls_error *err)
{
    size_t blocks = registry.blocks.count, machines = registry.machines.count;
    ls_status status = LS_OK;
    for (const ls_registration *const *at = first; at < last && status == LS_OK; at++) {
        const ls_block_type *block = (*at)->block;
        const ls_machine_type *machine = (*at)->machine;
        if (block != NULL) {
            status = check_abi("block", block->name, block->abi, err);
            for (size_t i = 0; i < registry.blocks.count && status == LS_OK; i++)
                if (compare_blocks(&registry.blocks.at[i], &block) == 0)
                    status = ls_fail(err, LS_ERR_USAGE, "block '%s/%s' is registered twice", block->slot,
                                     block->name);
            if (status == LS_OK && !vec_push(&registry.blocks, block))
                status = ls_fail(err, LS_ERR_NOMEM, "no memory for the block registry");
        }
        if (machine != NULL) {
            status = check_abi("machine", machine->name, machine->abi, err);
            for (size_t i = 0; i < registry.machines.count && status == LS_OK; i++)
                if (compare_machines(&registry.machines.at[i], &machine) == 0)
                    status = ls_fail(err, LS_ERR_USAGE, "machine '%s' is registered twice", machine->name);
            if (status == LS_OK && !vec_push(&registry.machines, machine))
                status = ls_fail(err, LS_ERR_NOMEM, "no memory for the machine registry");
        }
    }
    if (status == LS_OK && plugin) /* test programs have models without the machines that use them */
        status = check_slots(first, last, err);
    if (status != LS_OK) {
        registry.blocks.count = blocks;
        registry.machines.count = machines;
        return status;
    }
    if (registry.blocks.count > 0)
        qsort(registry.blocks.at, registry.blocks.count, sizeof *registry.blocks.at, compare_blocks);
    if (registry.machines.count > 0)
        qsort(registry.machines.at, registry.machines.count, sizeof *registry.machines.at, compare_machines);
    return LS_OK;
}

ls_status ls_registry_check(ls_error *err)
{
    if (registry.loaded)
        return LS_OK;
    /* A failure repeats itself at every call: those who cannot return an error must not swallow it. */
    ls_status status = add_all(__start_ls_registry, __stop_ls_registry, false, err);
    registry.loaded = status == LS_OK;
    return status;
}

/* ----------------------------------------------------------------------------------------------- look-ups */

size_t ls_registry_block_count(void)
{
    ls_registry_check(NULL);
    return registry.blocks.count;
}

const ls_block_type *ls_registry_block(size_t index)
{
    return index < ls_registry_block_count() ? registry.blocks.at[index] : NULL;
}

const ls_block_type *ls_registry_find_block(const char *slot, const char *name)
{
    for (size_t i = 0; i < ls_registry_block_count(); i++)
        if (strcmp(registry.blocks.at[i]->slot, slot) == 0 && strcmp(registry.blocks.at[i]->name, name) == 0)
            return registry.blocks.at[i];
    return NULL;
}

size_t ls_registry_machine_count(void)
{
    ls_registry_check(NULL);
    return registry.machines.count;
}

const ls_machine_type *ls_registry_machine(size_t index)
{
    return index < ls_registry_machine_count() ? registry.machines.at[index] : NULL;
}

const ls_machine_type *ls_registry_find_machine(const char *name)
{
    for (size_t i = 0; i < ls_registry_machine_count(); i++)
        if (strcmp(registry.machines.at[i]->name, name) == 0)
            return registry.machines.at[i];
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- plug-ins */

ls_status ls_plugin_load(const char *path, ls_error *err)
{
    ls_status status = ls_registry_check(err);
    if (status != LS_OK)
        return status;
    /* Without a '/' dlopen() would search the system's directories, never the user's. */
    char local[4096];
    if (strchr(path, '/') == NULL && snprintf(local, sizeof local, "./%s", path) < (int)sizeof local)
        path = local;
    status = file_check_input(path, err);
    if (status != LS_OK)
        return status;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        status = ls_fail(err, LS_ERR_IO, "cannot load plug-in: %s", dlerror());
    } else {
        /* A function pointer out of dlsym(): POSIX promises that the representations agree. */
        ls_plugin_info (*entry)(void);
        void *symbol = dlsym(handle, "lockstep_plugin");
        memcpy(&entry, &symbol, sizeof entry);
        if (symbol == NULL) {
            status =
                ls_fail(err, LS_ERR_INPUT, "not a Lockstep plug-in: it was built without -DLOCKSTEP_PLUGIN");
        } else {
            ls_plugin_info info = entry();
            status = check_abi("plug-in", path, info.abi, err);
            if (status == LS_OK && info.first == info.last)
                status = ls_fail(err, LS_ERR_INPUT, "the plug-in registers no block and no machine");
            if (status == LS_OK)
                status = add_all(info.first, info.last, true, err);
        }
        /* A good plug-in stays loaded: its types are in use until the program ends. */
        if (status != LS_OK)
            dlclose(handle);
    }
    if (status != LS_OK && err != NULL)
        ls_error_at(err, path, 0, 0);
    return status;
}
