/* fault.c: see fault.h. */
#include "runtime/driver/fault.h"

#include "runtime/driver/drv.h"
#include "workload/hsa/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEAR_BYTES ((uint64_t)1 << 30) /* a pointer that is farther away is no overrun of a buffer */

static void append(ls_error *err, const char *text)
{
    size_t used = strlen(err->what);
    snprintf(err->what + used, sizeof err->what - used, "%s", text);
}

/* " at fir.cl:12", if the code object has a line table. */
static void add_line(const ls_gpu_module *module, uint64_t pc, ls_error *err)
{
    hsa_lines *lines;
    hsa_place place;
    char text[160];
    if (hsa_lines_read(module->object, &lines, NULL) != LS_OK)
        return;
    if (hsa_lines_find(lines, pc - module->base, &place)) {
        snprintf(text, sizeof text, " (%s:%u)", hsa_lines_base(place.file), place.line);
        append(err, text);
    }
    hsa_lines_destroy(lines);
}

/* The distance of an address from a range; 0: inside. */
static uint64_t distance(const drv_range *range, uint64_t address)
{
    if (address < range->address)
        return range->address - address;
    uint64_t behind = address - range->address;
    return behind < range->bytes ? 0 : behind - range->bytes + 1;
}

/* The argument that points to the begin of a range; "" if none does. */
static const char *argument_of(const drv_dispatch *dispatch, uint64_t address)
{
    const ls_gpu_kernel_info *info = &dispatch->origin->info;
    for (size_t i = 0; i < info->arg_count; i++) {
        const ls_gpu_arg_info *arg = &info->args[i];
        uint64_t value = 0;
        if (arg->kind != LS_GPU_ARG_BUFFER || arg->bytes != 8 ||
            (uint64_t)arg->offset + 8 > dispatch->kernarg_bytes)
            continue;
        memcpy(&value, (const uint8_t *)dispatch->kernarg + arg->offset, sizeof value);
        if (value == address)
            return arg->name;
    }
    return "";
}

static void add_nearest(const drv_dispatch *dispatch, const ls_fault *fault, ls_error *err)
{
    ls_gpu_context *context = dispatch->origin->module->context;
    const drv_range *best = NULL;
    char text[240], whose[100] = "";
    pthread_mutex_lock(&context->system->lock);
    for (size_t i = 0; i < context->ranges.count; i++) {
        const drv_range *range = &context->ranges.at[i];
        if (range->is_module && distance(range, fault->address) != 0)
            continue;
        if (!best || distance(range, fault->address) < distance(best, fault->address))
            best = range;
    }
    if (best && distance(best, fault->address) > NEAR_BYTES) {
        append(err, "; no allocation is near");
    } else if (best) {
        const char *name = best->is_module ? "the code object" : argument_of(dispatch, best->address);
        uint64_t behind = fault->address - best->address;
        if (*name)
            snprintf(whose, sizeof whose, best->is_module ? " of %.80s" : " of argument %.80s", name);
        if (fault->address < best->address)
            snprintf(text, sizeof text, "%" PRIu64 " bytes before", best->address - fault->address);
        else if (behind < best->bytes)
            snprintf(text, sizeof text, "at byte %" PRIu64 " of", behind);
        else
            snprintf(text, sizeof text, "%" PRIu64 " bytes past the end of", behind - best->bytes);
        append(err, "; it is ");
        append(err, text);
        snprintf(text, sizeof text, " the nearest allocation, %" PRIu64 " bytes%s at 0x%" PRIx64, best->bytes,
                 whose, best->address);
        append(err, text);
    }
    pthread_mutex_unlock(&context->system->lock);
}

void drv_fault_explain(const drv_dispatch *dispatch, const ls_fault *fault, uint64_t pc, ls_error *err)
{
    if (!err || !dispatch->origin)
        return;
    if (fault->bytes != 0 && (fault->kind == LS_FAULT_UNMAPPED || fault->kind == LS_FAULT_READ_ONLY))
        add_nearest(dispatch, fault, err);
    add_line(dispatch->origin->module, pc, err);
}
