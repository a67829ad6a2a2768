/* unmodelled.c: see unmodelled.h. */
#include "workload/unmodelled.h"

#include "base/text.h"
#include "isa/sass/sass.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define ANY (LS_INST_UNMODELLED | LS_INST_IGNORED)

/* Reads the kernel once more to say how much of it is not modelled. */
static ls_status refuse(sass_trace *trace, uint64_t command, uint64_t limit, ls_error *err)
{
    trace_kernel *kernel;
    trace_stats stats = { 0 };
    ls_cta cta = { 0 };
    ls_status status = trace_open_kernel(trace, command, &kernel, err);
    if (status != LS_OK)
        return status;
    kernel_limit(kernel, limit);
    status = trace_stats_read(&stats, kernel, &cta, err);
    if (status == LS_OK) {
        const ls_kernel_info *info = kernel_get_info(kernel);
        const opcode_list *list = &stats.unmodelled;
        uint64_t number = 0;
        char text[256], sum[LS_FORMAT_BYTES], name[96];
        for (uint64_t i = 0; i <= command; i++)
            number += trace_command_at(trace, i)->kind == LS_COMMAND_KERNEL;
        status =
            ls_fail(err, LS_ERR_UNSUPPORTED,
                    "kernel %" PRIu64 " '%s' executes %s instructions that are not modelled (%s), the first "
                    "is %s at pc 0x%" PRIx64 "; --unmodelled skip runs it without their effects",
                    number, quote_text(info->name, strlen(info->name), name, sizeof name),
                    format_count(opcode_list_sum(list), sum, sizeof sum),
                    opcode_list_text(list, text, sizeof text), list->at[0].opcode, list->at[0].pc);
    }
    kernel_close(kernel);
    ls_cta_fini(&cta);
    trace_stats_fini(&stats);
    return status;
}

ls_status unmodelled_block(unmodelled_insts *u, unmodelled_scan *scan, sass_trace *trace, uint64_t command,
                           uint64_t limit, const trace_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    const ls_inst *insts = kernel_inst_table(kernel);
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
    const char *name = sass_opcode_name(row);
    const sass_line line = { .opcode = name, .opcode_bytes = strlen(name) };
    ls_error err;
    ls_inst inst = { 0 };
    return sass_decode(90, &line, false, &inst, &err) == LS_OK ? inst.flags : 0;
}

const char *unmodelled_text(const unmodelled_insts *u, uint32_t flag, char *out, size_t bytes, uint64_t *sum)
{
    opcode_list list = { 0 };
    for (uint32_t i = 0; i < u->rows; i++) {
        const char *name = sass_opcode_name(u->order[i]);
        if ((flags_of(u->order[i]) & flag) != 0)
            (void)opcode_list_add(&list, name, strlen(name), u->pc[u->order[i]], u->count[u->order[i]]);
    }
    *sum = opcode_list_sum(&list);
    bool any = list.count > 0;
    if (any)
        opcode_list_text(&list, out, bytes);
    opcode_list_fini(&list);
    return any ? out : NULL;
}
