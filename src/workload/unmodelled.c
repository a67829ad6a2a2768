/* unmodelled.c: see unmodelled.h. */
#include "workload/unmodelled.h"

#include "base/text.h"
#include "isa/sass/sass.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define ANY (LS_INST_UNMODELLED | LS_INST_IGNORED)

/* Reads the kernel once more to say how much of it is not modelled. */
static ls_status refuse(ls_trace *trace, uint64_t command, uint64_t limit, ls_error *err)
{
    ls_kernel *kernel;
    ls_trace_stats stats = { 0 };
    ls_cta cta = { 0 };
    ls_status status = ls_trace_open_kernel(trace, command, &kernel, err);
    if (status != LS_OK)
        return status;
    ls_kernel_limit(kernel, limit);
    status = ls_trace_stats_read(&stats, kernel, &cta, err);
    if (status == LS_OK) {
        const ls_kernel_info *info = ls_kernel_get_info(kernel);
        const ls_opcode_list *list = &stats.unmodelled;
        uint64_t number = 0;
        char text[256], sum[LS_FORMAT_BYTES], name[96];
        for (uint64_t i = 0; i <= command; i++)
            number += ls_trace_command(trace, i)->kind == LS_COMMAND_KERNEL;
        status =
            ls_fail(err, LS_ERR_UNSUPPORTED,
                    "kernel %" PRIu64 " '%s' executes %s instructions that are not modelled (%s), the first "
                    "is %s at pc 0x%" PRIx64 "; --unmodelled skip runs it without their effects",
                    number, ls_quote(info->name, strlen(info->name), name, sizeof name),
                    ls_format_count(ls_opcode_list_sum(list), sum, sizeof sum),
                    ls_opcode_list_text(list, text, sizeof text), list->at[0].opcode, list->at[0].pc);
    }
    ls_kernel_close(kernel);
    ls_cta_fini(&cta);
    ls_trace_stats_fini(&stats);
    return status;
}

ls_status ls_unmodelled_block(ls_unmodelled *u, ls_unmodelled_scan *scan, ls_trace *trace, uint64_t command,
                              uint64_t limit, const ls_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    const ls_inst *insts = ls_kernel_insts(kernel);
    for (; scan->insts < kernel->inst_count; scan->insts++)
        scan->flags |= insts[scan->insts].flags;
    if ((scan->flags & ANY) == 0)
        return LS_OK;
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_inst *inst = &insts[cta->dyns[i].inst];
        if ((inst->flags & ANY) == 0)
            continue;
        if ((inst->flags & LS_INST_UNMODELLED) != 0 && !u->allowed)
            return refuse(trace, command, limit, err);
        assert(inst->opcode < LS_UNMODELLED_ROWS);
        if (u->count[inst->opcode]++ == 0) {
            u->pc[inst->opcode] = inst->pc;
            u->order[u->rows++] = inst->opcode;
        }
    }
    return LS_OK;
}

/* The rows do not say which flag they have; a decoded instruction does. */
static uint32_t flags_of(uint16_t row)
{
    const char *name = ls_sass_opcode_name(row);
    const ls_sass_line line = { .opcode = name, .opcode_bytes = strlen(name) };
    ls_error err;
    ls_inst inst = { 0 };
    return ls_sass_decode(90, &line, false, &inst, &err) == LS_OK ? inst.flags : 0;
}

const char *ls_unmodelled_text(const ls_unmodelled *u, uint32_t flag, char *out, size_t bytes, uint64_t *sum)
{
    ls_opcode_list list = { 0 };
    for (uint32_t i = 0; i < u->rows; i++) {
        const char *name = ls_sass_opcode_name(u->order[i]);
        if ((flags_of(u->order[i]) & flag) != 0)
            (void)ls_opcode_list_add(&list, name, strlen(name), u->pc[u->order[i]], u->count[u->order[i]]);
    }
    *sum = ls_opcode_list_sum(&list);
    bool any = list.count > 0;
    if (any)
        ls_opcode_list_text(&list, out, bytes);
    ls_opcode_list_fini(&list);
    return any ? out : NULL;
}
