/* trace.c: the instruction trace: one line of JSON per executed instruction with the registers that it wrote.
 * Scalars are compared with their previous values, so that implicit writes of vcc, exec and m0 show up too. */
#include "base/file.h"
#include "runtime/emulate/emulate.h"
#include "runtime/emulate/emulate_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace_shadow {
    uint32_t sgpr[128];
    uint32_t scc;
    uint64_t time; /* of the wave after its last line: a smaller one is a new wave */
    uint32_t work_group[3];
    bool known;
} trace_shadow;

struct emulate_trace {
    FILE *file;
    amd_target target;
    unsigned lanes;
    emulate_trace_filter filter;
    trace_shadow shadow[AMD_WAVES_MAX];
};

ls_status emulate_trace_create(FILE *file, amd_target target, unsigned lanes,
                               const emulate_trace_filter *filter, emulate_trace **out, ls_error *err)
{
    emulate_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instruction trace");
    trace->file = file;
    trace->target = target;
    trace->lanes = lanes;
    if (filter)
        trace->filter = *filter;
    *out = trace;
    return LS_OK;
}

static bool trace_wants(const emulate_trace *trace, const emulate_step *step)
{
    const emulate_trace_filter *filter = &trace->filter;
    if (filter->one_group && memcmp(filter->group, step->work_group, sizeof filter->group) != 0)
        return false;
    if (filter->one_wave && filter->wave != step->wave->index)
        return false;
    if (filter->pc_to == 0)
        return true;
    return step->pc >= filter->pc_from && step->pc < filter->pc_to;
}

static void trace_scalar_name(unsigned code, char *out, size_t capacity)
{
    static const struct {
        unsigned code;
        const char *name;
    } named[] = {
        { AMD_VCC_LO, "vcc_lo" },   { AMD_VCC_HI, "vcc_hi" },   { AMD_M0, "m0" },
        { AMD_EXEC_LO, "exec_lo" }, { AMD_EXEC_HI, "exec_hi" },
    };
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (named[i].code == code) {
            snprintf(out, capacity, "%s", named[i].name);
            return;
        }
    snprintf(out, capacity, "s%u", code);
}

static bool trace_is_destination(const amd_inst *inst, unsigned code)
{
    const amd_operand *both[2] = { &inst->sdst, &inst->vdst };
    bool store = inst->format == AMD_SMEM && inst->sdst.dwords == 0;
    for (unsigned i = 0; i < 2 && !store; i++)
        if (both[i]->dwords != 0 && code >= both[i]->code && code < both[i]->code + both[i]->dwords)
            return true;
    return false;
}

static void trace_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
}

static void trace_writes(emulate_trace *trace, const emulate_step *step, const trace_shadow *shadow)
{
    const amd_wave *wave = step->wave;
    const amd_inst *inst = step->inst;
    const char *comma = "";
    for (unsigned code = 0; code < 128; code++) {
        bool changed = !shadow->known || shadow->sgpr[code] != wave->sgpr[code];
        if (code == AMD_NULL || !(trace_is_destination(inst, code) || (shadow->known && changed)))
            continue;
        char name[16];
        trace_scalar_name(code, name, sizeof name);
        fprintf(trace->file, "%s\"%s\":\"0x%" PRIx32 "\"", comma, name, wave->sgpr[code]);
        comma = ",";
    }
    if (shadow->known && shadow->scc != wave->scc) {
        fprintf(trace->file, "%s\"scc\":%" PRIu32, comma, wave->scc);
        comma = ",";
    }
    if (inst->vdst.dwords == 0 || inst->vdst.code < AMD_VGPR || inst->vdst.code >= AMD_VGPR + 256)
        return;
    for (unsigned i = 0; i < inst->vdst.dwords; i++) {
        unsigned reg = inst->vdst.code - AMD_VGPR + i;
        const uint32_t *lanes = wave->vgpr + (size_t)reg * wave->lanes;
        fprintf(trace->file, "%s\"v%u\":[", comma, reg);
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            fprintf(trace->file, "%s\"0x%" PRIx32 "\"", lane == 0 ? "" : ",", lanes[lane]);
        fputc(']', trace->file);
        comma = ",";
    }
}

void emulate_trace_hook(void *self, const emulate_step *step)
{
    emulate_trace *trace = self;
    const amd_wave *wave = step->wave;
    if (wave->index >= AMD_WAVES_MAX)
        return;
    trace_shadow *shadow = &trace->shadow[wave->index];
    if (shadow->time >= wave->time ||
        memcmp(shadow->work_group, step->work_group, sizeof step->work_group) != 0)
        shadow->known = false;
    if (trace_wants(trace, step)) {
        char text[160];
        amd_print(trace->target, trace->lanes, step->inst, text, sizeof text);
        const uint32_t *id = step->work_group;
        fprintf(trace->file,
                "{\"group\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "],\"wave\":%u,\"pc\":\"0x%" PRIx64
                "\",\"text\":\"",
                id[0], id[1], id[2], wave->index, step->pc);
        trace_text(trace->file, text);
        fprintf(trace->file, "\",\"exec\":\"0x%" PRIx64 "\",\"writes\":{", amd_wave_exec(wave));
        trace_writes(trace, step, shadow);
        fputs("}}\n", trace->file);
    }
    memcpy(shadow->sgpr, wave->sgpr, sizeof shadow->sgpr);
    memcpy(shadow->work_group, step->work_group, sizeof shadow->work_group);
    shadow->scc = wave->scc;
    shadow->time = wave->time;
    shadow->known = true;
}

ls_status emulate_trace_finish(emulate_trace *trace, ls_error *err)
{
    errno = 0;
    bool bad = fflush(trace->file) != 0 || ferror(trace->file) != 0;
    const char *reason = bad ? file_write_reason(trace->file, errno) : "";
    free(trace);
    return bad ? ls_fail(err, LS_ERR_IO, "the instruction trace could not be written: %s", reason) : LS_OK;
}
