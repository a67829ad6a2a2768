/* args.c: the memory from which a kernel reads its arguments: explicit ones at the code object's offsets,
 * hidden ones with values of the launch. Versions 4 and 5 have different hidden arguments; both are read from
 * the metadata. */
#include "runtime/driver/drv.h"

#include <inttypes.h>
#include <string.h>

#define LOCAL_ALIGN 16u /* of local memory whose element type is not known */

static const char *shown(const char *name)
{
    return *name ? name : "without a name";
}

/* ----------------------------------------------------------------------------------------------- explicit */

/* Local memory follows the kernel's own, argument after argument; the argument is its place. */
static ls_status place_local(const hsa_arg *arg, uint64_t bytes, uint64_t *end, uint8_t *out, ls_error *err)
{
    uint64_t align = arg->pointee_align ? arg->pointee_align : LOCAL_ALIGN,
             place = (*end + align - 1) & ~(align - 1);
    if (bytes == 0 || bytes > UINT32_MAX || place + bytes > UINT32_MAX)
        return ls_fail(err, LS_ERR_USAGE, "%" PRIu64 " bytes of local memory for argument '%s'", bytes,
                       shown(arg->name));
    memcpy(out + arg->offset, &place, arg->bytes < 8 ? arg->bytes : 8);
    *end = place + bytes;
    return LS_OK;
}

static ls_status place_each(const hsa_kernel *k, const ls_gpu_launch *launch, uint64_t *lds_end, uint8_t *out,
                            ls_error *err)
{
    if (launch->arg_count != k->explicit_count)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' has %zu arguments, not %zu", k->name, k->explicit_count,
                       launch->arg_count);
    if (launch->arg_count > 0 && !launch->args)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' has %zu arguments, but args is NULL", k->name,
                       k->explicit_count);
    for (size_t i = 0; i < launch->arg_count; i++) {
        const ls_gpu_arg *given = &launch->args[i];
        const hsa_arg *arg = &k->args[i];
        ls_status status = LS_OK;
        if ((arg->kind == HSA_ARG_LOCAL) != (given->data == NULL))
            return ls_fail(err, LS_ERR_USAGE, "argument %zu (%s) of kernel '%s' is %slocal memory", i + 1,
                           shown(arg->name), k->name, given->data ? "" : "not ");
        if (arg->kind == HSA_ARG_LOCAL)
            status = place_local(arg, given->bytes, lds_end, out, err);
        else if (given->bytes != arg->bytes)
            return ls_fail(err, LS_ERR_USAGE,
                           "argument %zu (%s%s%s) of kernel '%s' has %" PRIu32 " bytes, not %zu", i + 1,
                           arg->type_name, *arg->type_name ? " " : "", shown(arg->name), k->name, arg->bytes,
                           given->bytes);
        else
            memcpy(out + arg->offset, given->data, given->bytes);
        if (status != LS_OK)
            return ls_error_prefix(err, "kernel '%s'", k->name);
    }
    return LS_OK;
}

/* A code object without metadata: the arguments in the order given, each at a multiple of its size, as in a C
 * struct. */
static ls_status place_in_order(const hsa_kernel *k, const ls_gpu_launch *launch, uint8_t *out, ls_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < launch->arg_count; i++) {
        const ls_gpu_arg *given = &launch->args[i];
        if (given->data == NULL)
            return ls_fail(err, LS_ERR_USAGE,
                           "argument %zu of kernel '%s' cannot be local memory: the code object does not "
                           "describe its arguments",
                           i + 1, k->name);
        size_t align = given->bytes & (~given->bytes + 1); /* the largest power of two that divides it */
        align = align > 16 ? 16 : align;
        at = align == 0 ? at : (at + align - 1) & ~(align - 1);
        if (at + given->bytes > k->kernarg_bytes)
            return ls_fail(err, LS_ERR_USAGE,
                           "argument %zu of kernel '%s' does not fit: the kernel has %" PRIu32
                           " bytes of arguments",
                           i + 1, k->name, k->kernarg_bytes);
        memcpy(out + at, given->data, given->bytes);
        at += given->bytes;
    }
    return LS_OK;
}

/* A C struct may be padded at its end. */
static ls_status place_packed(const hsa_kernel *k, const ls_gpu_launch *launch, uint64_t *lds_end,
                              uint8_t *out, ls_error *err)
{
    uint32_t wanted = k->has_args ? k->explicit_bytes : k->kernarg_bytes, padded = (wanted + 15) & ~15u;
    ls_status status = LS_OK;
    if (launch->packed_bytes > padded || (k->has_args && launch->packed_bytes < wanted))
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' has %" PRIu32 " bytes of arguments, not %zu", k->name,
                       wanted, launch->packed_bytes);
    memcpy(out, launch->packed, launch->packed_bytes < wanted ? launch->packed_bytes : wanted);
    for (size_t i = 0; i < k->explicit_count && status == LS_OK; i++) {
        uint32_t bytes;
        if (k->args[i].kind != HSA_ARG_LOCAL || k->args[i].bytes < 4)
            continue;
        memcpy(&bytes, out + k->args[i].offset, sizeof bytes);
        status = place_local(&k->args[i], bytes, lds_end, out, err);
    }
    return status;
}

ls_status drv_args_place(const hsa_kernel *kernel, const ls_gpu_launch *launch, uint8_t *out,
                         uint32_t *dynamic_lds, ls_error *err)
{
    uint64_t lds_end = kernel->lds_bytes;
    ls_status status;
    if (launch->args && launch->packed)
        return ls_fail(err, LS_ERR_USAGE, "a launch of '%s' has both single and packed arguments",
                       kernel->name);
    if (launch->packed)
        status = place_packed(kernel, launch, &lds_end, out, err);
    else if (!kernel->has_args && launch->args != NULL)
        status = place_in_order(kernel, launch, out, err);
    else
        status = place_each(kernel, launch, &lds_end, out, err);
    *dynamic_lds = (uint32_t)(lds_end - kernel->lds_bytes);
    return status;
}

/* ------------------------------------------------------------------------------------------------- hidden */

static uint64_t hidden_value(hsa_arg_kind kind, const drv_dispatch *d, const uint64_t offset[3],
                             const drv_facts *facts)
{
    switch (kind) {
    case HSA_ARG_GLOBAL_OFFSET_X:
        return offset[0];
    case HSA_ARG_GLOBAL_OFFSET_Y:
        return offset[1];
    case HSA_ARG_GLOBAL_OFFSET_Z:
        return offset[2];
    case HSA_ARG_BLOCK_COUNT_X: /* whole work-groups only; the remainder says if there is one more */
        return d->grid[0] / d->group[0];
    case HSA_ARG_BLOCK_COUNT_Y:
        return d->grid[1] / d->group[1];
    case HSA_ARG_BLOCK_COUNT_Z:
        return d->grid[2] / d->group[2];
    case HSA_ARG_GROUP_SIZE_X:
        return d->group[0];
    case HSA_ARG_GROUP_SIZE_Y:
        return d->group[1];
    case HSA_ARG_GROUP_SIZE_Z:
        return d->group[2];
    case HSA_ARG_REMAINDER_X:
        return d->grid[0] % d->group[0];
    case HSA_ARG_REMAINDER_Y:
        return d->grid[1] % d->group[1];
    case HSA_ARG_REMAINDER_Z:
        return d->grid[2] % d->group[2];
    case HSA_ARG_GRID_DIMS:
        return d->dims;
    case HSA_ARG_DYNAMIC_LDS:
        return d->dynamic_lds_bytes;
    case HSA_ARG_PRIVATE_BASE:
        return facts->private_base_hi;
    case HSA_ARG_SHARED_BASE:
        return facts->shared_base_hi;
    case HSA_ARG_QUEUE_PTR:
        return facts->queue_address;
    default: /* no host calls, no device queue, no heap: a null pointer */
        return 0;
    }
}

/* Version 4 has a place for it 24 bytes after the first hidden argument, which compilers name only when they
 * support printf. A program that finds the buffer by itself looks there too. */
static void place_printf(const hsa_kernel *kernel, uint64_t buffer, uint8_t *out)
{
    uint32_t place = UINT32_MAX;
    for (size_t i = kernel->explicit_count; i < kernel->arg_count; i++) {
        const hsa_arg *arg = &kernel->args[i];
        if (arg->kind == HSA_ARG_GLOBAL_OFFSET_X)
            place = arg->offset + 24;
        bool is_place =
            arg->offset == place && (arg->kind == HSA_ARG_NONE || arg->kind == HSA_ARG_HOSTCALL_BUFFER);
        if (arg->bytes == sizeof buffer && (arg->kind == HSA_ARG_PRINTF_BUFFER || is_place))
            memcpy(out + arg->offset, &buffer, sizeof buffer);
    }
}

void drv_args_hidden(const hsa_kernel *kernel, const drv_dispatch *dispatch, const ls_gpu_launch *launch,
                     const drv_facts *facts, uint8_t *out)
{
    for (size_t i = kernel->explicit_count; i < kernel->arg_count; i++) {
        const hsa_arg *arg = &kernel->args[i];
        uint64_t value = hidden_value(arg->kind, dispatch, launch->offset, facts);
        memcpy(out + arg->offset, &value, arg->bytes < sizeof value ? arg->bytes : sizeof value);
    }
    if (launch->printf_buffer != 0)
        place_printf(kernel, launch->printf_buffer, out);
}
