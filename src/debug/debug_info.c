/* debug_info.c: the topics of `info`: registers, waves, groups, kernel, arguments, allocations. */
#include "debug/debug_impl.h"

#include "base/text.h"
#include "isa/amd/exec/limits.h"

#include <inttypes.h>
#include <string.h>

const ls_gpu_kernel_info *debug_kernel(const debugger *d)
{
    return d->launch ? &d->launch->dispatch->origin->info : NULL;
}

uint64_t debug_arg_value(const debugger *d, const ls_gpu_arg_info *arg)
{
    const drv_dispatch *dispatch = d->launch->dispatch;
    uint64_t value = 0;
    uint32_t bytes = arg->bytes < 8 ? arg->bytes : 8;
    if ((uint64_t)arg->offset + bytes <= dispatch->kernarg_bytes)
        memcpy(&value, (const uint8_t *)dispatch->kernarg + arg->offset, bytes);
    return value;
}

/* The argument whose buffer an address lies in; *offset: where in it. */
static const char *buffer_of(const debugger *d, uint64_t address, uint64_t *offset)
{
    const ls_gpu_kernel_info *info = debug_kernel(d);
    const ls_gpu_context *context = d->launch->dispatch->origin->module->context;
    for (size_t i = 0; i < context->ranges.count; i++) {
        const drv_range *range = &context->ranges.at[i];
        if (address - range->address >= range->bytes)
            continue;
        for (size_t k = 0; k < info->arg_count; k++)
            if (info->args[k].kind == LS_GPU_ARG_BUFFER &&
                debug_arg_value(d, &info->args[k]) == range->address) {
                *offset = address - range->address;
                return info->args[k].name;
            }
    }
    return NULL;
}

const char *debug_address_text(const debugger *d, debug_address address, char *out, size_t bytes)
{
    uint64_t offset;
    const char *name = !address.in_lds && d->launch ? buffer_of(d, address.at, &offset) : NULL;
    if (address.in_lds)
        snprintf(out, bytes, "lds:0x%" PRIx64, address.at);
    else if (name && *name && offset)
        snprintf(out, bytes, "0x%" PRIx64 " <%s+0x%" PRIx64 ">", address.at, name, offset);
    else if (name && *name)
        snprintf(out, bytes, "0x%" PRIx64 " <%s>", address.at, name);
    else
        snprintf(out, bytes, "0x%" PRIx64, address.at);
    return out;
}

/* --------------------------------------------------------------------------------------------- registers */

static void print_special(debugger *d, const amd_wave *wave)
{
    char pc[320];
    uint64_t vcc = wave->sgpr[AMD_VCC_LO] | (wave->lanes == 64 ? (uint64_t)wave->sgpr[AMD_VCC_HI] << 32 : 0);
    int digits = wave->lanes / 4;
    fprintf(d->out, "pc    %s (0x%" PRIx64 ")\n", debug_pc_text(d, debug_wave_pc(d, d->wave), pc, sizeof pc),
            debug_wave_pc(d, d->wave));
    fprintf(d->out, "exec  0x%0*" PRIx64 "  vcc 0x%0*" PRIx64 "  scc %u  m0 0x%08x  mode 0x%x\n", digits,
            amd_wave_exec(wave), digits, vcc, wave->scc, wave->sgpr[AMD_M0], wave->mode);
    debug_say_counters(d, wave);
}

static void print_scalars(debugger *d, const amd_wave *wave)
{
    unsigned count = amd_limits_sgprs(&d->launch->program->kernel), used = debug_kernel(d)->sgprs;
    count = used > 0 && used < count ? used : count;
    count = count > 106 ? 106 : count;
    for (unsigned i = 0; i < count; i++) {
        if (i % 8 == 0)
            fprintf(d->out, "%ss%-4u", i ? "\n" : "", i);
        fprintf(d->out, " 0x%08x", wave->sgpr[i]);
    }
    fputc('\n', d->out);
}

static void print_vector(debugger *d, const amd_wave *wave, unsigned number)
{
    const uint32_t *lanes = wave->vgpr + (size_t)number * wave->lanes;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        if (lane == 0)
            fprintf(d->out, "v%-4u", number);
        else if (lane % 8 == 0)
            fprintf(d->out, "\n [%2u]", lane);
        fprintf(d->out, " 0x%08x", lanes[lane]);
    }
    fputc('\n', d->out);
}

static ls_status print_one(debugger *d, const amd_wave *wave, const char *word, ls_error *err)
{
    char name[64];
    debug_register r;
    const char *at = name;
    snprintf(name, sizeof name, "%s%s", *word == '$' ? "" : "$", word);
    if (strcmp(name, "$s") == 0 || strcmp(name, "$sgprs") == 0) {
        print_scalars(d, wave);
        return LS_OK;
    }
    if (strcmp(name, "$v") == 0 || strcmp(name, "$vgprs") == 0) {
        for (unsigned i = 0; i < wave->vgpr_count; i++)
            print_vector(d, wave, i);
        return LS_OK;
    }
    ls_status status = debug_register_parse(&at, &r, err);
    if (status != LS_OK)
        return status;
    debug_line line = { .id = DEBUG_CMD_PRINT, .args = name, .args_bytes = strlen(name) };
    return debug_print(d, &line, err);
}

static ls_status info_registers(debugger *d, const char *names, size_t bytes, ls_error *err)
{
    const amd_wave *wave = debug_wave(d, err);
    ls_status status = LS_OK;
    if (!wave)
        return LS_ERR_USAGE;
    if (bytes == 0) {
        print_special(d, wave);
        print_scalars(d, wave);
        fprintf(d->out, "(vector registers: info registers v, info registers v3)\n");
    }
    for (const char *p = names, *end = names + bytes; p < end && status == LS_OK;) {
        size_t n = strcspn(p, " ");
        n = n > (size_t)(end - p) ? (size_t)(end - p) : n;
        char word[60];
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (n > 0)
            status = print_one(d, wave, word, err);
        p += n + 1;
    }
    return status;
}

/* Values of the operands that an instruction reads. */
void debug_sources(debugger *d)
{
    const emulate_stop *s = d->stop;
    const amd_wave *wave = s->waves[s->wave];
    if (!s->inst)
        return;
    for (unsigned i = 0; i < s->inst->src_count; i++) {
        const amd_operand *o = &s->inst->src[i];
        if (o->dwords == 0 || (o->code >= 128 && o->code < AMD_VGPR) || o->code >= AMD_VGPR + 256)
            continue;
        bool vector = o->code >= AMD_VGPR;
        unsigned first = vector ? o->code - AMD_VGPR : o->code;
        for (unsigned k = 0; k < o->dwords && k < 4 && (!vector || first + k < wave->vgpr_count); k++) {
            if (vector)
                fprintf(d->out, "   v%u[%u] = 0x%08x\n", first + k, wave->fault.lane,
                        wave->vgpr[(size_t)(first + k) * wave->lanes + wave->fault.lane % wave->lanes]);
            else if (first + k < 128)
                fprintf(d->out, "   s%u = 0x%08x\n", first + k, wave->sgpr[first + k]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ waves */

static ls_status info_waves(debugger *d, ls_error *err)
{
    static const char *const states[] = { "runs", "at barrier", "ended", "faulted" };
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    const emulate_stop *s = d->stop;
    if (s->unit) {
        debug_timed_waves(d);
        return LS_OK;
    }
    fprintf(d->out, "  %-16s%-12s%-10s%-20s%s\n", "wave", "state", "count", "exec", "pc");
    for (uint32_t i = 0; i < s->wave_count; i++) {
        const amd_wave *w = s->waves[i];
        char name[64], mask[32], pc[320];
        snprintf(name, sizeof name, "%u,%u,%u.%u", s->work_group[0], s->work_group[1], s->work_group[2], i);
        snprintf(mask, sizeof mask, "0x%0*" PRIx64, w->lanes / 4, amd_wave_exec(w));
        fprintf(d->out, "%c %-16s%-12s%-10" PRIu64 "%-20s%s\n", i == d->wave ? '*' : ' ', name,
                states[w->stop], w->time, mask,
                w->stop == AMD_ENDED ? "-" : debug_pc_text(d, debug_wave_pc(d, i), pc, sizeof pc));
    }
    return LS_OK;
}

static ls_status info_groups(debugger *d, ls_error *err)
{
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    const emulate_stop *s = d->stop;
    const drv_dispatch *l = d->launch->dispatch;
    uint64_t n[3];
    if (s->unit)
        return debug_timed_groups(d);
    for (unsigned i = 0; i < 3; i++)
        n[i] = ((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i];
    uint64_t number = s->work_group[0] + n[0] * (s->work_group[1] + n[1] * s->work_group[2]);
    fprintf(d->out,
            "work-group %u,%u,%u (%" PRIu64 " of %" PRIu64
            ") has %u wave%s and %u bytes of LDS; work-groups run one after another\n",
            s->work_group[0], s->work_group[1], s->work_group[2], number + 1, n[0] * n[1] * n[2],
            s->wave_count, s->wave_count == 1 ? "" : "s", s->waves[0]->group->lds_bytes);
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- kernel */

static ls_status not_running(ls_error *err)
{
    return ls_fail(err, LS_ERR_USAGE, "the program is not running: 'run' starts it");
}

static ls_status info_kernel(debugger *d, ls_error *err)
{
    const ls_gpu_kernel_info *k = debug_kernel(d);
    if (!k)
        return not_running(err);
    const drv_dispatch *l = d->launch->dispatch;
    fprintf(d->out, "%s for %s, launch %" PRIu64 ": grid %u,%u,%u, work-groups of %u,%u,%u\n", k->name,
            amd_target_name(l->target), d->launch->number, l->grid[0], l->grid[1], l->grid[2], l->group[0],
            l->group[1], l->group[2]);
    fprintf(d->out,
            "wave%u, %u SGPRs, %u VGPRs, %u bytes of LDS, %u bytes of private memory, code at 0x%" PRIx64 "\n",
            k->wave_size, k->sgprs, k->vgprs, k->lds_bytes + l->dynamic_lds_bytes, k->scratch_bytes,
            d->launch->program->kernel.entry);
    fprintf(d->out, "%s\n", d->lines ? "source lines are known" : d->lines_error.what);
    return LS_OK;
}

static ls_status info_args(debugger *d, ls_error *err)
{
    const ls_gpu_kernel_info *k = debug_kernel(d);
    if (!k)
        return not_running(err);
    for (size_t i = 0; i < k->arg_count; i++) {
        const ls_gpu_arg_info *arg = &k->args[i];
        uint64_t value = debug_arg_value(d, arg);
        fprintf(d->out, "%s = ", *arg->name ? arg->name : "(no name)");
        if (arg->kind == LS_GPU_ARG_VALUE && strcmp(arg->type_name, "float") == 0) {
            float f;
            memcpy(&f, &value, sizeof f);
            fprintf(d->out, "%.9g", (double)f);
        } else if (arg->kind == LS_GPU_ARG_VALUE)
            fprintf(d->out, "%" PRIu64, value);
        else
            fprintf(d->out, "0x%" PRIx64, value);
        fprintf(d->out, "%s%s%s\n", *arg->type_name ? " (" : "", arg->type_name, *arg->type_name ? ")" : "");
    }
    return LS_OK;
}

static ls_status info_allocations(debugger *d, ls_error *err)
{
    if (!d->launch)
        return not_running(err);
    const ls_gpu_context *context = d->launch->dispatch->origin->module->context;
    for (size_t i = 0; i < context->ranges.count; i++) {
        const drv_range *range = &context->ranges.at[i];
        uint64_t offset;
        const char *name = range->is_module ? "code object" : buffer_of(d, range->address, &offset);
        fprintf(d->out, "0x%" PRIx64 "  %12" PRIu64 " bytes  %s\n", range->address, range->bytes,
                name ? name : "");
    }
    return LS_OK;
}

static ls_status info_line(debugger *d, ls_error *err)
{
    hsa_place place;
    char pc[320];
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    uint64_t at = debug_wave_pc(d, d->wave);
    if (!d->lines)
        return ls_fail(err, LS_ERR_USAGE, "%s", d->lines_error.what);
    if (!debug_place_of(d, at, &place))
        return ls_fail(err, LS_ERR_USAGE, "%s belongs to no source line", debug_pc_text(d, at, pc, sizeof pc));
    fprintf(d->out, "%s is line %u of %s\n", debug_pc_text(d, at, pc, sizeof pc), place.line, place.file);
    return LS_OK;
}

static ls_status info_source(debugger *d, ls_error *err)
{
    if (!d->launch)
        return not_running(err);
    if (!d->lines)
        return ls_fail(err, LS_ERR_USAGE, "%s", d->lines_error.what);
    for (size_t i = 0; hsa_lines_file(d->lines, i); i++)
        fprintf(d->out, "%s\n", hsa_lines_file(d->lines, i));
    return LS_OK;
}

ls_status debug_info(debugger *d, const debug_line *line, ls_error *err)
{
    static const char *const topics[] = { "registers",   "waves", "groups", "kernel", "args",  "allocations",
                                          "breakpoints", "line",  "source", "time",   "waits", "memory" };
    size_t n = 0, found = SIZE_MAX;
    while (n < line->args_bytes && line->args[n] != ' ')
        n++;
    for (size_t i = 0; i < LS_COUNT_OF(topics) && n > 0 && found == SIZE_MAX; i++)
        if (strncmp(topics[i], line->args, n) == 0)
            found = i;
    const char *rest = line->args + n;
    size_t rest_bytes = line->args_bytes - n;
    while (rest_bytes > 0 && *rest == ' ')
        rest++, rest_bytes--;
    switch (found) {
    case 0:
        return info_registers(d, rest, rest_bytes, err);
    case 1:
        return info_waves(d, err);
    case 2:
        return info_groups(d, err);
    case 3:
        return info_kernel(d, err);
    case 4:
        return info_args(d, err);
    case 5:
        return info_allocations(d, err);
    case 6:
        debug_break_list(d);
        return LS_OK;
    case 7:
        return info_line(d, err);
    case 8:
        return info_source(d, err);
    case 9:
        return debug_info_time(d, err);
    case 10:
        return debug_info_waits(d, err);
    case 11: {
        char text[300];
        snprintf(text, sizeof text, "%.*s", (int)(rest_bytes < 299 ? rest_bytes : 299), rest);
        return debug_info_memory(d, text, err);
    }
    default:
        break;
    }
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)(n < 39 ? n : 39), line->args);
    ls_fail(
        err, LS_ERR_USAGE,
        "info knows registers, waves, groups, kernel, args, allocations, breakpoints, line, source, time, waits and memory");
    return ls_error_nearest(err, n ? nearest_of(word, topics, LS_COUNT_OF(topics)) : NULL);
}
