/* unmodelled.c: see unmodelled.h. */
#include "workload/unmodelled.h"

#include "base/text.h"
#include "isa/sass/sass.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ANY (LS_INST_UNMODELLED | LS_INST_IGNORED)

/* Its flags, without those of effects that the machine has. A wait for the kernel before has a large effect if another
 * fidelity has it: kernels that overlap there follow each other here. */
static uint32_t effects_of(const unmodelled_scan *scan, const ls_inst *inst)
{
    bool modelled = (inst->flags & ANY) != 0 && scan->models != NULL && scan->models(scan->machine, inst);
    if (!modelled && scan->hint != NULL && (inst->flags & LS_INST_ASYNC_OP) != 0 &&
        inst->async_op == LS_ASYNC_DEPENDS)
        return LS_INST_UNMODELLED;
    return modelled ? 0 : inst->flags & ANY;
}

/* Drops opcodes of which the machine models every instruction of the kernel. */
static void keep_unmodelled(opcode_list *list, const unmodelled_scan *scan, const trace_kernel *kernel)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const ls_inst *insts = kernel_inst_table(kernel);
        bool keep = false;
        for (uint32_t k = 0; k < kernel->inst_count && !keep; k++)
            keep = (effects_of(scan, &insts[k]) & LS_INST_UNMODELLED) != 0 &&
                   strcmp(sass_opcode_name(insts[k].opcode), list->at[i].opcode) == 0;
        if (keep) {
            opcode_tally moved = list->at[i];
            list->at[i] = list->at[kept];
            list->at[kept++] = moved;
        }
    }
    for (size_t i = kept; i < list->count; i++)
        free(list->at[i].opcode);
    list->count = kept;
}

/* Reads the kernel once more to say how much of it is not modelled. */
static ls_status refuse(const unmodelled_scan *scan, sass_trace *trace, uint64_t command, uint64_t limit,
                        ls_error *err)
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
        opcode_list *list = &stats.unmodelled;
        keep_unmodelled(list, scan, kernel);
        if (list->count == 0) {
            list = &stats.ignored;
            keep_unmodelled(list, scan, kernel);
        }
        uint64_t number = 0;
        char text[256], sum[LS_FORMAT_BYTES], name[96];
        for (uint64_t i = 0; i <= command; i++)
            number += trace_command_at(trace, i)->kind == LS_COMMAND_KERNEL;
        status =
            ls_fail(err, LS_ERR_UNSUPPORTED,
                    "kernel %" PRIu64 " '%s' executes %s instructions that are not modelled (%s), the first "
                    "is %s at pc 0x%" PRIx64 "%s%s; --unmodelled skip runs it without their effects",
                    number, quote_text(info->name, strlen(info->name), name, sizeof name),
                    format_count(opcode_list_sum(list), sum, sizeof sum),
                    opcode_list_text(list, text, sizeof text), list->at[0].opcode, list->at[0].pc,
                    scan->hint != NULL ? ": " : "", scan->hint != NULL ? scan->hint : "");
    }
    kernel_close(kernel);
    ls_cta_fini(&cta);
    trace_stats_fini(&stats);
    return status;
}

/* A block like one that was looked at adds the same numbers. False: none was. */
static bool count_again(unmodelled_insts *u, const unmodelled_scan *scan, const ls_cta *like)
{
    const unmodelled_body *b = scan->bodies;
    while (b != scan->bodies + UNMODELLED_BODIES && b->like != like)
        b++;
    if (like == NULL || b == scan->bodies + UNMODELLED_BODIES)
        return false;
    for (uint32_t i = 0; i < b->rows; i++)
        u->count[b->row[i]] += b->count[i];
    return true;
}

static void add_to_body(unmodelled_body *b, uint16_t row)
{
    uint32_t i = 0;
    while (i < b->rows && b->row[i] != row)
        i++;
    if (i == UNMODELLED_BODY_ROWS) {
        b->like = NULL;
        return;
    }
    if (i == b->rows) {
        b->row[i] = row;
        b->count[i] = 0;
        b->rows++;
    }
    b->count[i]++;
}

ls_status unmodelled_block(unmodelled_insts *u, unmodelled_scan *scan, sass_trace *trace, uint64_t command,
                           uint64_t limit, const trace_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    const ls_inst *insts = kernel_inst_table(kernel);
    for (; scan->insts < kernel->inst_count; scan->insts++)
        scan->flags |= effects_of(scan, &insts[scan->insts]);
    if (scan->flags == 0 || count_again(u, scan, cta->like))
        return LS_OK;
    unmodelled_body body = { .like = cta->like };
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_inst *inst = &insts[cta->dyns[i].inst];
        uint32_t flags = (inst->flags & ANY) == 0 ? 0 : effects_of(scan, inst);
        if (flags == 0)
            continue;
        if ((flags & LS_INST_UNMODELLED) != 0 && !u->allowed)
            return refuse(scan, trace, command, limit, err);
        assert(inst->opcode < LS_UNMODELLED_ROWS);
        if (u->count[inst->opcode]++ == 0) {
            u->pc[inst->opcode] = inst->pc;
            u->order[u->rows++] = inst->opcode;
        }
        add_to_body(&body, inst->opcode);
    }
    if (body.like != NULL)
        scan->bodies[scan->next_body++ % UNMODELLED_BODIES] = body;
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
