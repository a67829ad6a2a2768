/* replay_counts.c: counts of static instructions of a trace's kernel, with their text. A trace has opcodes and registers;
 * "LDG.E R4, R2" names the destinations first. */
#include "isa/sass/sass.h"
#include "runtime/replay.h"
#include "workload/inst_text.h"

#include <stdlib.h>
#include <string.h>

static void put_register(text_buffer *text, uint32_t reg, bool first)
{
    text_add(text, first ? " " : ", ");
    if (reg == LS_REG_ZERO)
        text_add(text, "RZ");
    else if (reg < LS_REG_UNIFORM)
        text_printf(text, "R%u", reg);
    else if (reg == LS_REG_UNIFORM_ZERO)
        text_add(text, "URZ");
    else if (reg < LS_REG_PREDICATE)
        text_printf(text, "UR%u", reg - LS_REG_UNIFORM);
    else if (reg < LS_REG_UNIFORM_PREDICATE)
        text_printf(text, "P%u", reg - LS_REG_PREDICATE);
    else
        text_printf(text, "UP%u", reg - LS_REG_UNIFORM_PREDICATE);
}

/* The opcode with its modifiers, as the trace has it; without a text the opcode's name. */
static void put_text(const trace_kernel *kernel, uint32_t number, text_buffer *text)
{
    const ls_inst *inst = &kernel->insts[number];
    inst_words words;
    inst_fields fields;
    if (kernel->ops->text != NULL && kernel->ops->text(kernel, number, &words) &&
        inst_fields_read(words.body, &fields))
        text_printf(text, "%.*s", (int)fields.opcode_bytes, fields.opcode);
    else
        text_add(text, sass_opcode_name(inst->opcode));
    for (uint32_t i = 0; i < inst->dst_count; i++)
        put_register(text, inst->dst[i], i == 0);
    for (uint32_t i = 0; i < inst->src_count; i++)
        put_register(text, inst->src[i], inst->dst_count + i == 0);
}

replay_counted *replay_counted_make(const trace_kernel *kernel, const inst_counts *counts)
{
    replay_counted *out = calloc(1, sizeof *out);
    if (out == NULL)
        return NULL;
    out->insts = calloc(kernel->inst_count + 1, sizeof *out->insts);
    text_buffer text = { 0 };
    bool good = out->insts != NULL;
    for (uint32_t i = 0; good && i < kernel->inst_count; i++) {
        text_clear(&text);
        put_text(kernel, i, &text);
        char *copy = arena_strdup(&out->arena, text_get(&text));
        good = copy != NULL;
        out->insts[out->count++] =
            (inst_counted){ .pc = kernel->insts[i].pc, .text = copy, .n = inst_counts_sum(counts, i) };
    }
    text_fini(&text);
    if (good)
        return out;
    replay_counted_free(out);
    return NULL;
}

void replay_counted_free(replay_counted *counted)
{
    if (counted == NULL)
        return;
    arena_fini(&counted->arena);
    free(counted->insts);
    free(counted);
}
