/* object.c: puts a code object together: target and version, the kernels with their descriptors and
 * metadata, the variables. */
#include "workload/hsa/hsa.h"

#include "base/text.h"
#include "workload/hsa/image.h"
#include "workload/hsa/meta.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTOR_BYTES 64
#define KERNEL_CODE_BYTES 256 /* amd_kernel_code_t of version 2 */
#define KERNARG_LIMIT (1u << 20)
#define PROPERTY_WAVE32 (1u << 10)

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------ target and version */

/* EF_AMDGPU_MACH: the low byte of e_flags. */
static const struct mach {
    uint8_t mach;
    char name[16];
} machs[] = {
    { 0x20, "gfx600" },
    { 0x21, "gfx601" },
    { 0x22, "gfx700" },
    { 0x23, "gfx701" },
    { 0x24, "gfx702" },
    { 0x25, "gfx703" },
    { 0x26, "gfx704" },
    { 0x28, "gfx801" },
    { 0x29, "gfx802" },
    { 0x2a, "gfx803" },
    { 0x2b, "gfx810" },
    { 0x2c, "gfx900" },
    { 0x2d, "gfx902" },
    { 0x2e, "gfx904" },
    { 0x2f, "gfx906" },
    { 0x30, "gfx908" },
    { 0x31, "gfx909" },
    { 0x32, "gfx90c" },
    { 0x33, "gfx1010" },
    { 0x34, "gfx1011" },
    { 0x35, "gfx1012" },
    { 0x36, "gfx1030" },
    { 0x37, "gfx1031" },
    { 0x38, "gfx1032" },
    { 0x39, "gfx1033" },
    { 0x3a, "gfx602" },
    { 0x3b, "gfx705" },
    { 0x3c, "gfx805" },
    { 0x3d, "gfx1035" },
    { 0x3e, "gfx1034" },
    { 0x3f, "gfx90a" },
    { 0x40, "gfx940" },
    { 0x41, "gfx1100" },
    { 0x42, "gfx1013" },
    { 0x43, "gfx1150" },
    { 0x44, "gfx1103" },
    { 0x45, "gfx1036" },
    { 0x46, "gfx1101" },
    { 0x47, "gfx1102" },
    { 0x48, "gfx1200" },
    { 0x4a, "gfx1151" },
    { 0x4b, "gfx941" },
    { 0x4c, "gfx942" },
    { 0x4e, "gfx1201" },
    { 0x4f, "gfx950" },
    { 0x55, "gfx1152" },
    { 0x58, "gfx1153" },
    /* Version 6: code for a family, with the subset that all of its members have. */
    { 0x51, "gfx9-generic" },
    { 0x52, "gfx10-1-generic" },
    { 0x53, "gfx10-3-generic" },
    { 0x54, "gfx11-generic" },
    { 0x59, "gfx12-generic" },
    { 0x5f, "gfx9-4-generic" },
};

/* The members that we run of those families. */
static const struct generic {
    const char *name;
    amd_target member;
} generics[] = {
    { "gfx10-1-generic", AMD_GFX1010 },
    { "gfx10-3-generic", AMD_GFX1030 },
    { "gfx9-4-generic", AMD_GFX942 },
};

bool hsa_target_runs(const char *name, const char *target)
{
    for (size_t i = 0; i < LS_COUNT_OF(generics); i++)
        if (strcmp(generics[i].name, name) == 0 && strcmp(amd_target_name(generics[i].member), target) == 0)
            return true;
    return strcmp(name, target) == 0;
}

static bool find_target(const char *name, amd_target *out)
{
    for (size_t i = 0; i < LS_COUNT_OF(generics); i++)
        if (strcmp(generics[i].name, name) == 0) {
            *out = generics[i].member;
            return true;
        }
    return amd_target_find(name, out);
}

/* Version 2 names the target by three numbers in a note: vendor and architecture names follow them. */
static const char *target_of_note(hsa_object *o, const image_note *note)
{
    uint32_t numbers[3];
    if (note->bytes < 16)
        return NULL;
    memcpy(numbers, note->at + 4, sizeof numbers);
    return arena_printf(&o->arena, "gfx%" PRIu32 "%" PRIx32 "%" PRIx32, numbers[0], numbers[1], numbers[2]);
}

static ls_status read_target(hsa_object *o, const image_file *file, const meta_node *meta, ls_error *err)
{
    static const char *const settings[] = { "", "any", "off", "on" };
    const char *said = meta_text(meta, "amdhsa.target");
    for (size_t i = 0; i < LS_COUNT_OF(machs); i++)
        if (machs[i].mach == (file->flags & 0xff))
            o->target_name = machs[i].name;
    if (o->version == 2 && file->isa_v2.bytes > 0 && !o->target_name)
        o->target_name = target_of_note(o, &file->isa_v2);
    if (!o->target_name)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "the code object is for the unknown processor 0x%02x",
                       (unsigned)(file->flags & 0xff));
    o->xnack = o->sramecc = "";
    if (o->version >= 4) {
        o->xnack = settings[file->flags >> 8 & 3];
        o->sramecc = settings[file->flags >> 10 & 3];
    } else if (o->version == 3) {
        o->xnack = file->flags & 0x100 ? "on" : "";
        o->sramecc = file->flags & 0x200 ? "on" : "";
    }
    o->isa_name = *said ? said : arena_printf(&o->arena, "amdgcn-amd-amdhsa--%s", o->target_name);
    o->has_target = find_target(o->target_name, &o->target);
    return o->isa_name ? LS_OK : no_memory(err);
}

static ls_status read_version(hsa_object *o, const image_file *file, ls_error *err)
{
    o->version = file->abi + 2u;
    if (file->abi == 0 && file->note_version != 0)
        o->version = file->note_version;
    if (o->version < 2 || o->version > 6)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "code objects of version %u are not read, only 2 to 6",
                       o->version);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- descriptors */

static uint32_t word(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t long_word(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Registers as the hardware allocates them; the metadata knows better how many are used. */
static void count_registers(const hsa_object *o, hsa_kernel *k)
{
    bool gfx10 = strncmp(o->target_name, "gfx1", 4) == 0; /* and later: gfx11, gfx12 */
    bool cdna = amd_target_is_gfx9(o->target);
    uint32_t granule = (gfx10 && k->wave_size == 32) || cdna ? 8 : 4;
    k->vgprs = ((k->rsrc1 & 0x3f) + 1) * granule;
    k->sgprs = gfx10 ? 106 : ((k->rsrc1 >> 6 & 0xf) + 1) * 8;
}

static ls_status read_descriptor(const hsa_object *o, hsa_kernel *k, ls_error *err)
{
    const uint8_t *d = image_at(o, k->descriptor, DESCRIPTOR_BYTES);
    if (!d)
        return ls_fail(err, LS_ERR_INPUT, "the descriptor of kernel '%s' lies outside of the segments",
                       k->name);
    k->lds_bytes = word(d);
    k->scratch_bytes = word(d + 4);
    k->kernarg_bytes = word(d + 8);
    k->entry = k->descriptor + long_word(d + 16);
    k->rsrc3 = word(d + 44);
    k->rsrc1 = word(d + 48);
    k->rsrc2 = word(d + 52);
    k->properties = word(d + 56) & 0xffff;
    k->wave_size = k->properties & PROPERTY_WAVE32 ? 32 : 64;
    return LS_OK;
}

static ls_status read_kernel_code(const hsa_object *o, hsa_kernel *k, ls_error *err)
{
    const uint8_t *d = image_at(o, k->descriptor, KERNEL_CODE_BYTES);
    uint64_t kernarg;
    if (!d)
        return ls_fail(err, LS_ERR_INPUT, "the head of kernel '%s' lies outside of the segments", k->name);
    if (word(d) != 1)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "kernel '%s' has the code version %" PRIu32 ".%" PRIu32 ", only 1.x is read", k->name,
                       word(d), word(d + 4));
    k->entry = k->descriptor + long_word(d + 16);
    k->rsrc1 = word(d + 48);
    k->rsrc2 = word(d + 52);
    k->properties = word(d + 56);
    k->scratch_bytes = word(d + 60);
    k->lds_bytes = word(d + 64);
    kernarg = long_word(d + 72);
    k->kernarg_bytes = kernarg <= KERNARG_LIMIT ? (uint32_t)kernarg : UINT32_MAX;
    k->wave_size = d[103] == 5 ? 32 : 64; /* a power of two */
    return LS_OK;
}

static ls_status add_kernel(hsa_object *o, const image_file *file, const image_symbol *symbol,
                            const meta_node *node, hsa_kernel *k, ls_error *err)
{
    ls_status status;
    const image_symbol *function;
    size_t length = strlen(symbol->name);
    *k = (hsa_kernel){ .symbol = symbol->name, .descriptor = symbol->address, .kernarg_align = 16 };
    k->name = symbol->name;
    if (o->version > 2 && ends_with(symbol->name, ".kd"))
        k->name = arena_strndup(&o->arena, symbol->name, length - 3);
    if (!k->name)
        return no_memory(err);
    status = o->version == 2 ? read_kernel_code(o, k, err) : read_descriptor(o, k, err);
    if (status != LS_OK)
        return status;
    if (k->kernarg_bytes > KERNARG_LIMIT)
        return ls_fail(err, LS_ERR_INPUT, "kernel '%s' has more than %u bytes of arguments", k->name,
                       KERNARG_LIMIT);
    if (!image_segment(o, k->entry) || !image_segment(o, k->entry)->executable || (k->entry & 3) != 0)
        return ls_fail(err, LS_ERR_INPUT, "the entry 0x%" PRIx64 " of kernel '%s' is not in executable code",
                       k->entry, k->name);
    count_registers(o, k);
    function = o->version == 2 ? symbol : image_find(file, k->name);
    if (function && k->entry - function->address < function->bytes &&
        image_at(o, k->entry, function->bytes - (k->entry - function->address)))
        k->code_bytes = function->bytes - (k->entry - function->address);
    return node ? meta_apply(&o->arena, node, k, err) : LS_OK;
}

/* ----------------------------------------------------------------------------------- kernels, variables */

static bool is_kernel_symbol(const hsa_object *o, const image_symbol *s)
{
    if (!s->is_defined)
        return false;
    if (o->version == 2)
        return s->type == STT_AMDGPU_HSA_KERNEL;
    return s->type == STT_OBJECT && s->bytes == DESCRIPTOR_BYTES && ends_with(s->name, ".kd");
}

/* seen: symbols that are kernels already. */
static ls_status collect_kernels(hsa_object *o, const image_file *file, const meta_node *list,
                                 hsa_kernel *kernels, string_map *seen, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; list && i < list->count && status == LS_OK; i++) {
        const char *name = meta_kernel_symbol(&list->children[i]);
        const image_symbol *symbol = image_find(file, name);
        if (!symbol)
            return ls_fail(err, LS_ERR_INPUT, "the metadata names kernel '%s', but there is no such symbol",
                           name);
        if (map_has(seen, name))
            return ls_fail(err, LS_ERR_INPUT, "the metadata names kernel '%s' twice", name);
        if (!map_put(seen, name, NULL))
            return no_memory(err);
        status = add_kernel(o, file, symbol, &list->children[i], &kernels[o->kernel_count++], err);
    }
    for (size_t i = 0; i < file->symbol_count && status == LS_OK; i++) {
        const image_symbol *symbol = &file->symbols[i];
        if (!is_kernel_symbol(o, symbol) || map_has(seen, symbol->name))
            continue;
        if (!map_put(seen, symbol->name, NULL))
            return no_memory(err);
        status = add_kernel(o, file, symbol, NULL, &kernels[o->kernel_count++], err);
    }
    return status;
}

static ls_status read_kernels(hsa_object *o, const image_file *file, const meta_node *meta, ls_error *err)
{
    const meta_node *list = meta_kernels(meta);
    size_t most = (list ? list->count : 0) + file->symbol_count;
    hsa_kernel *kernels = arena_array(&o->arena, most + 1, sizeof *kernels);
    string_map seen = { 0 };
    ls_status status;
    if (!kernels)
        return no_memory(err);
    status = collect_kernels(o, file, list, kernels, &seen, err);
    map_fini(&seen);
    o->kernels = kernels;
    return status;
}

static ls_status read_variables(hsa_object *o, const image_file *file, ls_error *err)
{
    hsa_variable *variables = arena_array(&o->arena, file->symbol_count + 1, sizeof *variables);
    if (!variables)
        return no_memory(err);
    for (size_t i = 0; i < file->symbol_count; i++) {
        const image_symbol *s = &file->symbols[i];
        if (s->type != STT_OBJECT || s->bytes == 0 || !s->is_defined || s->is_absolute ||
            is_kernel_symbol(o, s) || !image_at(o, s->address, s->bytes))
            continue;
        variables[o->variable_count++] = (hsa_variable){ .name = s->name,
                                                         .address = s->address,
                                                         .bytes = s->bytes,
                                                         .writable = image_segment(o, s->address)->writable };
    }
    o->variables = variables;
    return LS_OK;
}

static ls_status read_printfs(hsa_object *o, const meta_node *meta, ls_error *err)
{
    const meta_node *list = meta_get(meta, "amdhsa.printf");
    const char **texts;
    if (!list)
        list = meta_get(meta, "Printf");
    if (!list || list->kind != META_LIST)
        return LS_OK;
    texts = arena_array(&o->arena, list->count + 1, sizeof *texts);
    if (!texts)
        return no_memory(err);
    for (size_t i = 0; i < list->count; i++)
        if (list->children[i].kind == META_TEXT)
            texts[o->printf_count++] = list->children[i].text;
    o->printfs = texts;
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- all */

static ls_status read_object(hsa_object *o, const void *data, size_t bytes, ls_error *err)
{
    image_file file;
    const meta_node *meta = NULL;
    ls_status status = image_read(o, data, bytes, &file, err);
    if (status == LS_OK)
        status = read_version(o, &file, err);
    if (status == LS_OK && o->version == 2 && file.yaml.bytes > 0)
        status = meta_read_yaml(&o->arena, file.yaml.at, file.yaml.bytes, &meta, err);
    else if (status == LS_OK && o->version > 2 && file.msgpack.bytes > 0)
        status = meta_read_msgpack(&o->arena, file.msgpack.at, file.msgpack.bytes, &meta, err);
    if (status == LS_OK)
        status = read_target(o, &file, meta, err);
    if (status == LS_OK)
        status = read_kernels(o, &file, meta, err);
    if (status == LS_OK)
        status = read_variables(o, &file, err);
    if (status == LS_OK)
        status = read_printfs(o, meta, err);
    image_fini(&file);
    return status;
}

ls_status hsa_object_read(const void *data, size_t bytes, hsa_object **out, ls_error *err)
{
    hsa_object *o;
    ls_status status;
    *out = NULL;
    if (bytes > HSA_FILE_LIMIT)
        return ls_fail(err, LS_ERR_INPUT, "a code object of %zu bytes is larger than %u MiB", bytes,
                       HSA_FILE_LIMIT >> 20);
    o = calloc(1, sizeof *o);
    if (!o)
        return no_memory(err);
    status = read_object(o, data, bytes, err);
    if (status == LS_OK)
        *out = o;
    else
        hsa_object_destroy(o);
    return status;
}

void hsa_object_destroy(hsa_object *object)
{
    if (!object)
        return;
    arena_fini(&object->arena);
    free(object);
}

const hsa_kernel *hsa_object_find(const hsa_object *object, const char *kernel)
{
    for (size_t i = 0; i < object->kernel_count; i++)
        if (strcmp(object->kernels[i].name, kernel) == 0)
            return &object->kernels[i];
    return NULL;
}

static const char *kernel_name_at(const void *self, size_t i)
{
    return ((const hsa_object *)self)->kernels[i].name;
}

const char *hsa_object_nearest(const hsa_object *object, const char *kernel)
{
    return nearest_name(kernel, object->kernel_count, kernel_name_at, object);
}
