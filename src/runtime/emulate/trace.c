/* trace.c: fills records of the instruction trace while a launch runs. Scalars are compared with their previous values, so
 * that implicit writes of vcc, exec and m0 show up too. Addresses and source values are taken before an instruction
 * executes, because it may write its own sources. */
#include "base/file.h"
#include "runtime/emulate/emulate.h"
#include "runtime/emulate/emulate_impl.h"
#include "runtime/emulate/trace_file.h"

#include <errno.h>
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
    trace_writer *packed; /* NULL: JSON */
    const amd_program *program;
    trace_launch launch;
    mem_arena arena; /* of the launch's texts */
    emulate_trace_filter filter;
    uint64_t count; /* of records */
    trace_shadow shadow[AMD_WAVES_MAX];
    emulate_hook next; /* another hook before instructions; NULL: none */
    void *next_self;
    trace_record record;
    amd_access access;
};

/* ----------------------------------------------------------------------------------------------- launch */

static bool is_register(const amd_operand *o)
{
    return o->dwords != 0 && o->code != AMD_NULL &&
           (o->code < 128 || (o->code >= AMD_VGPR && o->code < AMD_VGPR + 256));
}

static bool describe_ops(emulate_trace *trace)
{
    const amd_program *program = trace->program;
    trace_op *ops = arena_array(&trace->arena, (size_t)program->op_count + 1, sizeof *ops);
    if (!ops)
        return false;
    ops[0] = (trace_op){ .pc = "", .text = "" };
    for (uint32_t i = 1; i <= program->op_count; i++) {
        const amd_step *step = &program->ops[i];
        char text[160] = "", pc[300];
        amd_print(program->kernel.target, program->lanes, step->inst, text, sizeof text);
        ops[i].text = arena_strdup(&trace->arena, text);
        ops[i].pc = arena_strdup(&trace->arena,
                                 amd_program_pc(program, step->next - step->inst->bytes, pc, sizeof pc));
        if (!ops[i].text || !ops[i].pc)
            return false;
        for (unsigned k = 0; k < step->inst->src_count && k < TRACE_SOURCES; k++)
            if (is_register(&step->inst->src[k])) {
                unsigned n = ops[i].source_count++;
                ops[i].sources[n].code = step->inst->src[k].code;
                ops[i].sources[n].dwords = step->inst->src[k].dwords;
            }
    }
    trace->launch.ops = ops;
    return true;
}

ls_status emulate_trace_create(const emulate_trace_to *to, const amd_program *program,
                               const emulate_trace_filter *filter, emulate_trace **out, ls_error *err)
{
    emulate_trace *trace = calloc(1, sizeof *trace);
    *out = NULL;
    if (!trace)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instruction trace");
    trace->file = to->file;
    trace->packed = to->packed;
    trace->program = program;
    trace->launch = (trace_launch){
        .number = to->launch, .kernel = program->name, .lanes = program->lanes, .op_count = program->op_count
    };
    if (filter)
        trace->filter = *filter;
    if (!describe_ops(trace)) {
        arena_fini(&trace->arena);
        free(trace);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instruction trace");
    }
    if (trace->packed)
        trace_writer_launch(trace->packed, &trace->launch);
    else
        trace_print_launch(trace->file, &trace->launch);
    *out = trace;
    return LS_OK;
}

void emulate_trace_attach(emulate_trace *trace, emulate_launch *launch)
{
    trace->next = launch->before;
    trace->next_self = launch->before_self;
    launch->before = emulate_trace_before;
    launch->before_self = trace;
    launch->hook = emulate_trace_hook;
    launch->hook_self = trace;
}

uint64_t emulate_trace_count(const emulate_trace *trace)
{
    return trace->count;
}

/* ------------------------------------------------------------------------------------------------ before */

static bool trace_wants(const emulate_trace *trace, const emulate_step *step)
{
    const emulate_trace_filter *filter = &trace->filter;
    if (filter->one_group && memcmp(filter->group, step->work_group, sizeof filter->group) != 0)
        return false;
    if (filter->one_wave && filter->wave != step->wave->index)
        return false;
    if (filter->pc_to == 0)
        return true;
    uint64_t pc = filter->pc_to <= LS_WINDOW_BASE ? step->pc - trace->program->kernel.entry : step->pc;
    return pc >= filter->pc_from && pc < filter->pc_to;
}

static void add_scalar(trace_values *values, unsigned code, uint32_t value)
{
    if (values->scalar_count == LS_COUNT_OF(values->scalars))
        return;
    values->scalars[values->scalar_count].code = (uint8_t)code;
    values->scalars[values->scalar_count++].value = value;
}

static void add_vector(trace_values *values, const amd_wave *wave, unsigned number)
{
    if (values->vector_count == TRACE_VECTORS)
        return;
    values->vectors[values->vector_count].number = (uint8_t)number;
    memcpy(values->vectors[values->vector_count++].lane, wave->vgpr + (size_t)number * wave->lanes,
           wave->lanes * sizeof(uint32_t));
}

static void trace_reads(emulate_trace *trace, const emulate_step *step)
{
    const trace_op *op = &trace->launch.ops[trace->record.op];
    trace_values *reads = &trace->record.reads;
    reads->scalar_count = reads->vector_count = 0;
    for (unsigned i = 0; i < op->source_count; i++)
        for (unsigned k = 0; k < op->sources[i].dwords; k++) {
            unsigned code = op->sources[i].code + k;
            if (code < 128)
                add_scalar(reads, code, step->wave->sgpr[code]);
            else if (code >= AMD_VGPR && code < AMD_VGPR + 256)
                add_vector(reads, step->wave, code - AMD_VGPR);
        }
}

/* Bytes of memory that a lane is about to use. */
static void trace_peek(const amd_wave *wave, bool in_lds, uint64_t address, uint32_t *out, uint32_t bytes)
{
    const amd_group *group = wave->group;
    if (in_lds && address <= group->lds_bytes && bytes <= group->lds_bytes - address)
        memcpy(out, group->lds + address, bytes);
    else if (!in_lds)
        (void)address_space_read(group->memory->address_space, address, out, bytes, NULL);
}

static void trace_lane(emulate_trace *trace, const amd_wave *wave, unsigned lane)
{
    const amd_access *from = &trace->access;
    trace_access *to = &trace->record.access;
    uint32_t dwords = trace_piece_dwords(to);
    bool in_lds =
        from->space == AMD_SPACE_LDS || (from->space == AMD_SPACE_FLAT && (from->in_lds >> lane & 1));
    for (unsigned p = 0; p < from->pieces; p++) {
        uint32_t *data = &to->data[lane][p * dwords];
        to->address[p][lane] = from->address[p][lane];
        memset(data, 0, dwords * sizeof *data);
        if (from->kind == AMD_ACCESS_LOAD)
            trace_peek(wave, in_lds, from->address[p][lane], data, from->piece_bytes);
        else
            memcpy(data, &from->data[lane][p * dwords], dwords * sizeof *data);
    }
    if (from->kind == AMD_ACCESS_ATOMIC) {
        memset(to->old[lane], 0, sizeof to->old[lane]);
        trace_peek(wave, in_lds, from->address[0][lane], to->old[lane],
                   from->piece_bytes < 8 ? from->piece_bytes : 8u);
    }
}

static void trace_take_access(emulate_trace *trace, const emulate_step *step)
{
    /* The addresses alone are wanted: a fault is reported when the instruction executes. */
    amd_wave *wave = (amd_wave *)(uintptr_t)step->wave;
    trace_access *to = &trace->record.access;
    ls_fault fault = wave->fault;
    uint8_t stop = wave->stop;
    to->kind = AMD_ACCESS_NONE;
    if (amd_mem_kind(step->inst) == AMD_ACCESS_NONE)
        return;
    bool good = amd_mem_address(wave, step->inst, &trace->access);
    wave->fault = fault;
    wave->stop = stop;
    const amd_access *from = &trace->access;
    if (!good ||
        (from->kind != AMD_ACCESS_LOAD && from->kind != AMD_ACCESS_STORE && from->kind != AMD_ACCESS_ATOMIC))
        return;
    to->kind = from->kind;
    to->space = from->space;
    to->pieces = from->pieces;
    to->piece_bytes = from->piece_bytes;
    to->lanes = from->lanes;
    to->in_lds = from->space == AMD_SPACE_FLAT ? from->in_lds & from->lanes : 0;
    if (trace_piece_dwords(to) * to->pieces > AMD_DATA_DWORDS)
        to->kind = AMD_ACCESS_NONE;
    for (unsigned lane = 0; to->kind != AMD_ACCESS_NONE && lane < 64; lane++)
        if (from->lanes >> lane & 1)
            trace_lane(trace, wave, lane);
}

void emulate_trace_before(void *self, const emulate_step *step)
{
    emulate_trace *trace = self;
    if (trace->next)
        trace->next(trace->next_self, step);
    if (!trace_wants(trace, step))
        return;
    trace->record.op = amd_program_place(trace->program, step->pc);
    trace->record.has_reads = trace->filter.sources;
    if (trace->filter.sources)
        trace_reads(trace, step);
    trace_take_access(trace, step);
}

/* ------------------------------------------------------------------------------------------------- after */

static bool trace_is_destination(const amd_inst *inst, unsigned code)
{
    const amd_operand *both[2] = { &inst->sdst, &inst->vdst };
    bool store = inst->format == AMD_SMEM && inst->sdst.dwords == 0;
    for (unsigned i = 0; i < 2 && !store; i++)
        if (both[i]->dwords != 0 && code >= both[i]->code && code < both[i]->code + both[i]->dwords)
            return true;
    return false;
}

static void trace_writes(emulate_trace *trace, const emulate_step *step, const trace_shadow *shadow)
{
    const amd_wave *wave = step->wave;
    const amd_inst *inst = step->inst;
    trace_values *writes = &trace->record.writes;
    writes->scalar_count = writes->vector_count = 0;
    for (unsigned code = 0; code < 128; code++) {
        bool changed = !shadow->known || shadow->sgpr[code] != wave->sgpr[code];
        if (code != AMD_NULL && (trace_is_destination(inst, code) || (shadow->known && changed)))
            add_scalar(writes, code, wave->sgpr[code]);
    }
    writes->has_scc = shadow->known && shadow->scc != wave->scc;
    writes->scc = wave->scc;
    if (inst->vdst.dwords == 0 || inst->vdst.code < AMD_VGPR || inst->vdst.code >= AMD_VGPR + 256)
        return;
    for (unsigned i = 0; i < inst->vdst.dwords; i++)
        add_vector(writes, wave, inst->vdst.code - AMD_VGPR + i);
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
        trace_record *r = &trace->record;
        memcpy(r->group, step->work_group, sizeof r->group);
        r->wave = wave->index;
        r->exec = amd_wave_exec(wave);
        trace_writes(trace, step, shadow);
        trace->count++;
        if (trace->packed)
            trace_writer_put(trace->packed, r);
        else
            trace_print_json(trace->file, &trace->launch, r);
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
    arena_fini(&trace->arena);
    free(trace);
    return bad ? ls_fail(err, LS_ERR_IO, "the instruction trace could not be written: %s", reason) : LS_OK;
}
