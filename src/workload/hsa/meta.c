/* meta.c: reads kernels and their arguments from a metadata tree. The names of versions 3 to 6 and those of
 * version 2 stand side by side in one table per struct. */
#include "workload/hsa/meta.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define ARG_BYTES_LIMIT (1u << 20) /* of one argument; OpenCL devices allow a few KiB in all */

static const char *const kind_names[] = {
#define HSA_ARG(id, name, hidden) name,
#include "workload/hsa/args.def"
#undef HSA_ARG
};

static const bool kind_hidden[] = {
#define HSA_ARG(id, name, hidden) hidden,
#include "workload/hsa/args.def"
#undef HSA_ARG
};

const char *hsa_arg_kind_name(hsa_arg_kind kind)
{
    return (size_t)kind < HSA_ARG_KIND_COUNT ? kind_names[kind] : "";
}

bool hsa_arg_is_hidden(hsa_arg_kind kind)
{
    return (size_t)kind < HSA_ARG_KIND_COUNT && kind_hidden[kind];
}

/* -------------------------------------------------------------------------------------------------- tree */

const meta_node *meta_get(const meta_node *map, const char *key)
{
    if (!map || map->kind != META_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->children[i].key, key) == 0)
            return &map->children[i];
    return NULL;
}

const char *meta_text(const meta_node *map, const char *key)
{
    const meta_node *node = meta_get(map, key);
    return node && node->kind == META_TEXT ? node->text : "";
}

uint64_t meta_number(const meta_node *map, const char *key, uint64_t fallback)
{
    const meta_node *node = meta_get(map, key);
    return node && (node->kind == META_NUMBER || node->kind == META_BOOL) ? node->number : fallback;
}

const meta_node *meta_kernels(const meta_node *root)
{
    const meta_node *list = meta_get(root, "amdhsa.kernels");
    if (!list)
        list = meta_get(root, "Kernels");
    return list && list->kind == META_LIST ? list : NULL;
}

const char *meta_kernel_symbol(const meta_node *kernel)
{
    const char *symbol = meta_text(kernel, ".symbol");
    return *symbol ? symbol : meta_text(kernel, "Name");
}

/* --------------------------------------------------------------------------------------------- arguments */

/* The value under either of two names. */
static const char *either_text(const meta_node *map, const char *name, const char *name_v2)
{
    const char *text = meta_text(map, name);
    return *text ? text : meta_text(map, name_v2);
}

static uint64_t either_number(const meta_node *map, const char *name, const char *name_v2, uint64_t fallback)
{
    return meta_number(map, name, meta_number(map, name_v2, fallback));
}

/* "GlobalBuffer" to "global_buffer"; a text that is so already stays. NULL without memory. */
static const char *snake(mem_arena *arena, const char *text)
{
    size_t bytes = strlen(text), n = 0;
    char *out = arena_alloc(arena, 2 * bytes + 1);
    if (!out)
        return NULL;
    for (size_t i = 0; i < bytes; i++) {
        if (i > 0 && isupper((unsigned char)text[i]))
            out[n++] = '_';
        out[n++] = (char)tolower((unsigned char)text[i]);
    }
    return out;
}

/* Without regard to underscores: version 2 has HiddenMultiGridSyncArg for hidden_multigrid_sync_arg. */
static bool same_words(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_");
        b += strspn(b, "_");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static hsa_arg_kind find_kind(const char *name)
{
    for (size_t i = 1; i < HSA_ARG_KIND_COUNT; i++)
        if (same_words(kind_names[i], name))
            return (hsa_arg_kind)i;
    return HSA_ARG_UNKNOWN;
}

static const char *kind_name_at(const void *self, size_t i)
{
    (void)self;
    return kind_names[i + 1];
}

/* Neither the driver nor the caller can supply an argument of an unknown kind. */
static ls_status unknown_kind(const char *name, ls_error *err)
{
    const char *near = nearest_name(name, HSA_ARG_KIND_COUNT - 1, kind_name_at, NULL);
    char quoted[64];
    if (!*name)
        return ls_fail(err, LS_ERR_INPUT, "the metadata does not say what kind it is");
    quote_text(name, strlen(name), quoted, sizeof quoted);
    return ls_fail(err, LS_ERR_UNSUPPORTED, "its kind '%s' is not known%s%s%s", quoted,
                   near ? "; the nearest is '" : "", near ? near : "", near ? "'" : "");
}

/* Version 2 gives no offsets: arguments follow each other, each aligned as it says. */
static ls_status read_arg(mem_arena *arena, const meta_node *node, uint64_t *end, hsa_arg *arg, ls_error *err)
{
    uint64_t bytes = either_number(node, ".size", "Size", 0), align = meta_number(node, "Align", 1);
    uint64_t offset = *end;
    *arg = (hsa_arg){
        .name = either_text(node, ".name", "Name"),
        .type_name = either_text(node, ".type_name", "TypeName"),
        .kind_name = snake(arena, either_text(node, ".value_kind", "ValueKind")),
        .pointee_align = (uint32_t)either_number(node, ".pointee_align", "PointeeAlign", 0),
        .address_space = snake(arena, either_text(node, ".address_space", "AddrSpaceQual")),
        .access = snake(arena, either_text(node, ".access", "AccQual")),
        .actual_access = snake(arena, either_text(node, ".actual_access", "ActualAccQual")),
        .is_const = either_number(node, ".is_const", "IsConst", 0) != 0,
        .is_restrict = either_number(node, ".is_restrict", "IsRestrict", 0) != 0,
        .is_volatile = either_number(node, ".is_volatile", "IsVolatile", 0) != 0,
        .is_pipe = either_number(node, ".is_pipe", "IsPipe", 0) != 0,
    };
    if (!arg->kind_name || !arg->address_space || !arg->access || !arg->actual_access)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    arg->kind = find_kind(arg->kind_name);
    if (arg->kind == HSA_ARG_UNKNOWN)
        return unknown_kind(arg->kind_name, err);
    if (align == 0 || align > 4096 || (align & (align - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "an argument's alignment is %llu", (unsigned long long)align);
    offset = meta_number(node, ".offset", (offset + align - 1) & ~(align - 1));
    if (bytes == 0 || bytes > ARG_BYTES_LIMIT || offset > ARG_BYTES_LIMIT)
        return ls_fail(err, LS_ERR_INPUT, "an argument has %llu bytes at offset %llu",
                       (unsigned long long)bytes, (unsigned long long)offset);
    arg->offset = (uint32_t)offset;
    arg->bytes = (uint32_t)bytes;
    if (arg->pointee_align > 4096 || (arg->pointee_align & (arg->pointee_align - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "local memory of an argument is aligned to %lu",
                       (unsigned long)arg->pointee_align);
    *end = offset + bytes;
    return LS_OK;
}

/* Explicit arguments first: a launch indexes them by position. */
static void move_hidden_last(hsa_arg *args, hsa_arg *scratch, size_t count, hsa_kernel *kernel)
{
    size_t at = 0;
    memcpy(scratch, args, count * sizeof *args);
    for (int hidden = 0; hidden < 2; hidden++) {
        for (size_t i = 0; i < count; i++)
            if (hsa_arg_is_hidden(scratch[i].kind) == (hidden == 1))
                args[at++] = scratch[i];
        if (!hidden)
            kernel->explicit_count = at;
    }
    for (size_t i = 0; i < kernel->explicit_count; i++)
        if (args[i].offset + args[i].bytes > kernel->explicit_bytes)
            kernel->explicit_bytes = args[i].offset + args[i].bytes;
}

static ls_status read_args(mem_arena *arena, const meta_node *list, hsa_kernel *kernel, ls_error *err)
{
    size_t count = list && list->kind == META_LIST ? list->count : 0;
    hsa_arg *args = arena_array(arena, count + 1, sizeof *args);
    hsa_arg *scratch = arena_array(arena, count + 1, sizeof *args);
    uint64_t end = 0;
    if (!args || !scratch)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; i < count; i++) {
        ls_status status = read_arg(arena, &list->children[i], &end, &args[i], err);
        if (status != LS_OK)
            return ls_error_prefix(err, "argument %zu of kernel '%s'", i + 1, kernel->name);
        if (args[i].offset + args[i].bytes > kernel->kernarg_bytes)
            kernel->kernarg_bytes = args[i].offset + args[i].bytes;
    }
    move_hidden_last(args, scratch, count, kernel);
    kernel->args = args;
    kernel->arg_count = count;
    kernel->has_args = true;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- kernels */

static void read_sizes(const meta_node *list, uint32_t sizes[3])
{
    if (!list || list->kind != META_LIST || list->count != 3)
        return;
    for (size_t i = 0; i < 3; i++)
        sizes[i] = list->children[i].number <= UINT32_MAX ? (uint32_t)list->children[i].number : 0;
}

static void raise(uint32_t *value, uint64_t to)
{
    if (to > *value && to <= UINT32_MAX)
        *value = (uint32_t)to;
}

ls_status meta_apply(mem_arena *arena, const meta_node *node, hsa_kernel *kernel, ls_error *err)
{
    const meta_node *attrs = meta_get(node, "Attrs"), *props = meta_get(node, "CodeProps");
    const char *name = either_text(node, ".name", "Name");
    uint64_t align;
    if (*name)
        kernel->name = name;
    /* Sizes of version 2 stand in an inner map; of later ones in the kernel's own. */
    if (!props)
        props = node;
    raise(&kernel->kernarg_bytes, either_number(props, ".kernarg_segment_size", "KernargSegmentSize", 0));
    if (kernel->kernarg_bytes > ARG_BYTES_LIMIT)
        return ls_fail(err, LS_ERR_INPUT, "kernel '%s' has %lu bytes of arguments", kernel->name,
                       (unsigned long)kernel->kernarg_bytes);
    align = either_number(props, ".kernarg_segment_align", "KernargSegmentAlign", 16);
    if (align > kernel->kernarg_align && align <= 4096 && (align & (align - 1)) == 0)
        kernel->kernarg_align = (uint32_t)align;
    /* The descriptor has only the allocation, in granules. */
    kernel->sgprs = (uint32_t)either_number(props, ".sgpr_count", "NumSGPRs", kernel->sgprs);
    kernel->vgprs = (uint32_t)either_number(props, ".vgpr_count", "NumVGPRs", kernel->vgprs);
    kernel->sgpr_spills = (uint32_t)either_number(props, ".sgpr_spill_count", "NumSpilledSGPRs", 0);
    kernel->vgpr_spills = (uint32_t)either_number(props, ".vgpr_spill_count", "NumSpilledVGPRs", 0);
    kernel->group_size_max =
        (uint32_t)either_number(props, ".max_flat_workgroup_size", "MaxFlatWorkGroupSize", 0);
    kernel->uses_dynamic_stack = either_number(props, ".uses_dynamic_stack", "IsDynamicCallStack", 0) != 0;
    read_sizes(meta_get(node, ".reqd_workgroup_size"), kernel->required_group);
    read_sizes(meta_get(attrs, "ReqdWorkGroupSize"), kernel->required_group);
    read_sizes(meta_get(node, ".workgroup_size_hint"), kernel->hinted_group);
    read_sizes(meta_get(attrs, "WorkGroupSizeHint"), kernel->hinted_group);
    kernel->vector_hint = meta_text(node, ".vec_type_hint");
    if (!*kernel->vector_hint && attrs)
        kernel->vector_hint = meta_text(attrs, "VecTypeHint");
    return read_args(arena, meta_get(node, ".args") ? meta_get(node, ".args") : meta_get(node, "Args"), kernel,
                     err);
}
