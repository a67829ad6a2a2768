/* code.c: code objects: readers, executables and their symbols. A code object becomes a module of the driver, which places
 * its image in the GPU's memory and applies its relocations. */
#include "hsa/rt.h"

#include "runtime/driver/drv.h"

#include <stdlib.h>
#include <string.h>

typedef struct rt_reader {
    const void *data; /* the program's, until the reader is destroyed */
    size_t bytes;
} rt_reader;

typedef struct rt_symbol {
    struct rt_symbol *next;
    const hsa_kernel *kernel; /* NULL: a variable */
    const hsa_variable *variable;
    ls_gpu_module *module;
    rt_agent *agent;
} rt_symbol;

typedef struct rt_module {
    struct rt_module *next;
    ls_gpu_module *module;
    rt_agent *agent;
} rt_module;

typedef struct rt_executable {
    rt_module *modules;
    rt_symbol *symbols;
    bool is_frozen;
} rt_executable;

/* Kernels that can be dispatched. */
typedef struct rt_entry {
    uint64_t descriptor;
    ls_gpu_kernel *kernel;
} rt_entry;
static LS_VEC(rt_entry) entries;

ls_gpu_kernel *rt_kernel_at(uint64_t descriptor)
{
    for (size_t i = entries.count; i > 0; i--)
        if (entries.at[i - 1].descriptor == descriptor)
            return entries.at[i - 1].kernel;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- readers */

HSA_API hsa_status_t hsa_code_object_reader_create_from_memory(const void *data, size_t bytes,
                                                               hsa_code_object_reader_t *out)
{
    if (!data || bytes == 0 || !out)
        return HSA_INVALID_ARGUMENT;
    rt_reader *reader = malloc(sizeof *reader);
    if (!reader)
        return HSA_OUT_OF_RESOURCES;
    *reader = (rt_reader){ data, bytes };
    out->handle = (uint64_t)(uintptr_t)reader;
    return HSA_OK;
}

HSA_API hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader)
{
    if (reader.handle == 0)
        return HSA_INVALID_ARGUMENT;
    free((void *)(uintptr_t)reader.handle);
    return HSA_OK;
}

/* ------------------------------------------------------------------------------------------------ executables */

static rt_executable *executable_of(hsa_executable_t executable)
{
    return (rt_executable *)(uintptr_t)executable.handle;
}

HSA_API hsa_status_t hsa_executable_create_alt(uint32_t profile, uint32_t rounding, const char *options,
                                               hsa_executable_t *out)
{
    (void)profile;
    (void)rounding;
    (void)options;
    if (!out)
        return HSA_INVALID_ARGUMENT;
    rt_executable *executable = calloc(1, sizeof *executable);
    if (!executable)
        return HSA_OUT_OF_RESOURCES;
    out->handle = (uint64_t)(uintptr_t)executable;
    return HSA_OK;
}

/* The program reads descriptors, so it has the image too; in simulated time as a copy. With the lock held. */
static bool show_image(const ls_gpu_module *module, rt_agent *agent)
{
    rt_range range = { .kind = RT_CODE,
                       .address = module->base,
                       .bytes = module->object->image_bytes,
                       .base = module->base,
                       .pool = &agent->pools[0] };
    if (rt.is_timed) {
        if (!rt_map_pages(range.address, range.bytes))
            return false;
        range.mapped = (range.bytes + RT_PAGE - 1) & ~(uint64_t)(RT_PAGE - 1);
        memcpy((void *)(uintptr_t)range.address, module->object->image, (size_t)range.bytes);
    }
    range.host = (uint8_t *)(uintptr_t)range.address;
    return rt_range_add(&range);
}

static bool add_entries(ls_gpu_module *module)
{
    for (size_t i = 0; i < module->object->kernel_count; i++) {
        ls_gpu_kernel *kernel = ls_gpu_module_kernel(module, i);
        const rt_entry entry = { ls_gpu_kernel_address(kernel), kernel };
        if (!vec_push(&entries, entry))
            return false;
    }
    return true;
}

HSA_API hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent,
                                                           hsa_code_object_reader_t reader,
                                                           const char *options, hsa_loaded_code_object_t *out)
{
    rt_executable *executable = executable_of(handle);
    const rt_reader *from = (const rt_reader *)(uintptr_t)reader.handle;
    rt_agent *a = rt_agent_of(agent);
    ls_error err;
    (void)options;
    if (!executable || !from)
        return HSA_INVALID_EXECUTABLE;
    if (!a || !a->is_gpu)
        return HSA_INVALID_AGENT;
    if (executable->is_frozen)
        return HSA_FROZEN_EXECUTABLE;
    rt_module *m = calloc(1, sizeof *m);
    if (!m)
        return HSA_OUT_OF_RESOURCES;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    ls_status status = ls_gpu_select(rt.context, a->gpu, &err);
    if (status == LS_OK)
        status = ls_gpu_module_load(rt.context, from->data, from->bytes, &m->module, &err);
    if (status == LS_OK && (!show_image(m->module, a) || !add_entries(m->module)))
        status = ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left for a code object");
    if (status == LS_OK) {
        m->agent = a;
        m->next = executable->modules;
        executable->modules = m;
    }
    pthread_mutex_unlock(&rt.lock);
    if (status != LS_OK) {
        free(m);
        return rt_tell(&err, HSA_INVALID_CODE_OBJECT);
    }
    if (out)
        out->handle = (uint64_t)(uintptr_t)m;
    return HSA_OK;
}

HSA_API hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
    rt_executable *executable = executable_of(handle);
    (void)options;
    if (!executable)
        return HSA_INVALID_EXECUTABLE;
    if (executable->is_frozen)
        return HSA_FROZEN_EXECUTABLE;
    executable->is_frozen = true;
    return HSA_OK;
}

static void remove_entries(const ls_gpu_module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < entries.count; i++)
        if (entries.at[i].kernel->module != module)
            entries.at[kept++] = entries.at[i];
    entries.count = kept;
}

HSA_API hsa_status_t hsa_executable_destroy(hsa_executable_t handle)
{
    rt_executable *executable = executable_of(handle);
    if (!executable)
        return HSA_INVALID_EXECUTABLE;
    while (executable->symbols) {
        rt_symbol *symbol = executable->symbols;
        executable->symbols = symbol->next;
        free(symbol);
    }
    while (executable->modules) {
        rt_module *m = executable->modules;
        executable->modules = m->next;
        pthread_mutex_lock(&rt.lock);
        rt_active();
        remove_entries(m->module);
        (void)rt_range_free(m->module->base);
        pthread_mutex_unlock(&rt.lock);
        ls_gpu_module_unload(m->module);
        free(m);
    }
    free(executable);
    return HSA_OK;
}

/* A variable that the object leaves to the program: such objects are refused when they are loaded. */
HSA_API hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
                                                                 hsa_agent_t agent, const char *name,
                                                                 void *address)
{
    (void)executable;
    (void)agent;
    (void)name;
    (void)address;
    return rt_refuse("hsa_executable_agent_global_variable_define",
                     "variables of a code object are defined in the object itself");
}

/* ---------------------------------------------------------------------------------------------------- symbols */

static hsa_status_t add_symbol(rt_executable *executable, const rt_symbol *symbol,
                               hsa_executable_symbol_t *out)
{
    rt_symbol *s = malloc(sizeof *s);
    if (!s)
        return HSA_OUT_OF_RESOURCES;
    *s = *symbol;
    pthread_mutex_lock(&rt.lock);
    s->next = executable->symbols;
    executable->symbols = s;
    pthread_mutex_unlock(&rt.lock);
    out->handle = (uint64_t)(uintptr_t)s;
    return HSA_OK;
}

/* False: the module has no symbol of this name. */
static bool find_symbol(const rt_module *m, const char *name, rt_symbol *out)
{
    const hsa_object *object = m->module->object;
    *out = (rt_symbol){ .module = m->module, .agent = m->agent };
    for (size_t i = 0; i < object->kernel_count; i++)
        if (strcmp(object->kernels[i].symbol, name) == 0) {
            out->kernel = &object->kernels[i];
            return true;
        }
    for (size_t i = 0; i < object->variable_count; i++)
        if (strcmp(object->variables[i].name, name) == 0) {
            out->variable = &object->variables[i];
            return true;
        }
    return false;
}

HSA_API hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name,
                                                       const hsa_agent_t *agent, hsa_executable_symbol_t *out)
{
    rt_executable *executable = executable_of(handle);
    rt_symbol symbol;
    if (!executable)
        return HSA_INVALID_EXECUTABLE;
    if (!name || !out)
        return HSA_INVALID_ARGUMENT;
    for (const rt_module *m = executable->modules; m; m = m->next)
        if ((!agent || rt_agent_of(*agent) == m->agent) && find_symbol(m, name, &symbol))
            return add_symbol(executable, &symbol, out);
    return HSA_INVALID_SYMBOL_NAME;
}

HSA_API hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle, symbol_callback callback,
                                                    void *data)
{
    rt_executable *executable = executable_of(handle);
    if (!executable)
        return HSA_INVALID_EXECUTABLE;
    if (!callback)
        return HSA_INVALID_ARGUMENT;
    for (const rt_module *m = executable->modules; m; m = m->next) {
        const hsa_object *object = m->module->object;
        for (size_t i = 0; i < object->kernel_count + object->variable_count; i++) {
            rt_symbol symbol = { .module = m->module, .agent = m->agent };
            hsa_executable_symbol_t given;
            if (i < object->kernel_count)
                symbol.kernel = &object->kernels[i];
            else
                symbol.variable = &object->variables[i - object->kernel_count];
            hsa_status_t status = add_symbol(executable, &symbol, &given);
            if (status == HSA_OK)
                status = callback(handle, given, data);
            if (status != HSA_OK)
                return status;
        }
    }
    return HSA_OK;
}

#define GIVE(type, answer)                                                                                    \
    do {                                                                                                      \
        const type given_ = (answer);                                                                         \
        memcpy(value, &given_, sizeof given_);                                                                \
        return HSA_OK;                                                                                        \
    } while (0)

static hsa_status_t kernel_info(const rt_symbol *s, uint32_t what, void *value)
{
    switch (what) {
    case 11:
        GIVE(uint32_t, s->kernel->kernarg_bytes);
    case 12:
        GIVE(uint32_t, s->kernel->kernarg_align);
    case 13:
        GIVE(uint32_t, s->kernel->lds_bytes);
    case 14:
        GIVE(uint32_t, s->kernel->scratch_bytes);
    case 15:
        GIVE(bool, s->kernel->uses_dynamic_stack);
    case 18:
        GIVE(uint32_t, 0);
    case 22:
        GIVE(uint64_t, s->module->base + s->kernel->descriptor);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

static hsa_status_t variable_info(const rt_symbol *s, uint32_t what, void *value)
{
    switch (what) {
    case 6: /* allocated for an agent; global */
        GIVE(uint32_t, 0);
    case 7:
        GIVE(uint32_t, 0);
    case 8:
        GIVE(uint32_t, 16);
    case 9:
        GIVE(uint32_t, (uint32_t)s->variable->bytes);
    case 10:
        GIVE(bool, !s->variable->writable);
    case 21:
        GIVE(uint64_t, s->module->base + s->variable->address);
    default:
        return HSA_INVALID_ARGUMENT;
    }
}

HSA_API hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, uint32_t what, void *value)
{
    const rt_symbol *s = (const rt_symbol *)(uintptr_t)symbol.handle;
    if (!s || !value)
        return HSA_INVALID_ARGUMENT;
    const char *name = s->kernel ? s->kernel->symbol : s->variable->name;
    switch (what) {
    case 0:
        GIVE(uint32_t, s->kernel ? SYMBOL_KERNEL : SYMBOL_VARIABLE);
    case 1:
        GIVE(uint32_t, (uint32_t)strlen(name));
    case 2: /* without an end: its length was asked before */
        memcpy(value, name, strlen(name));
        return HSA_OK;
    case 3:
        GIVE(uint32_t, 0);
    case 4:
        return HSA_OK;
    case 5: /* linkage: of the program */
        GIVE(uint32_t, 1);
    case 17:
        GIVE(bool, true);
    case 20:
        GIVE(uint64_t, (uint64_t)(uintptr_t)s->agent);
    default:
        return s->kernel ? kernel_info(s, what, value) : variable_info(s, what, value);
    }
}
