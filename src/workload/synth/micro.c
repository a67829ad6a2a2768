/* micro.c: generators of one-purpose traces: chain (each instruction needs the one before) and throughput
 * (none needs another). Nothing but these instructions and an EXIT, so that cycles per instruction can be
 * read off the slope. */
#include "workload/synth/kind.h"

#include "isa/sass/sass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef enum op_kind { OP_PLAIN, OP_BARRIER, OP_LOAD, OP_STORE, OP_ATOMIC } op_kind;
typedef enum op_place { IN_GLOBAL, IN_SHARED, IN_LOCAL } op_place;

/* Instructions that can be chained or repeated. Opcodes whose spelling changed have one name per generation:
 * before Volta, Volta, Turing, later; NULL: this generation has none. */
typedef struct micro_op {
    const char *name;
    const char *opcode[4];
    unsigned sources; /* registers that it usually reads */
    bool result;
    op_kind kind;
    op_place place;
    unsigned width;      /* bytes per lane; 0: no addresses */
    uint64_t step_bytes; /* from one access to the next, if the user says nothing */
} micro_op;

#define DRAM_STEP 65536u /* far enough for another row of any memory */

/* clang-format off */
#define SAME(opcode_) { opcode_, opcode_, opcode_, opcode_ }
static const micro_op ops[] = {
    { "FFMA",     SAME("FFMA"),                                      3, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "FADD",     SAME("FADD"),                                      2, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "IMAD",     { "XMAD", "IMAD", "IMAD", "IMAD" },                3, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "IADD",     SAME("IADD3"),                                     3, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "MOV",      SAME("MOV"),                                       1, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "SHFL",     SAME("SHFL.BFLY"),                                 1, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "LDC",      SAME("LDC"),                                       1, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "HFMA2",    SAME("HFMA2"),                                     3, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "S2R",      SAME("S2R"),                                       0, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "MUFU",     SAME("MUFU.RCP"),                                  1, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "DADD",     SAME("DADD"),                                      2, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "DFMA",     SAME("DFMA"),                                      3, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "HMMA",     { NULL, "HMMA.884.F32.F32.STEP0", "HMMA.1688.F32", "HMMA.16816.F32" },
                                                                     3, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "TEX",      SAME("TEX"),                                       1, true,  OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "BRA",      SAME("BRA"),                                       0, false, OP_PLAIN, IN_GLOBAL, 0, 0 },
    { "BAR",      { "BAR.SYNC", "BAR.SYNC", "BAR.SYNC", "BAR.SYNC.DEFER_BLOCKING" },
                                                                     0, false, OP_BARRIER, IN_GLOBAL, 0, 0 },
    { "LDG",      { "LDG.E", "LDG.E.SYS", "LDG.E.SYS", "LDG.E" },    1, true,  OP_LOAD, IN_GLOBAL, 4, 0 },
    { "LDG_L2",   { "LDG.E.CG", "LDG.E.STRONG.GPU", "LDG.E.STRONG.GPU", "LDG.E.STRONG.GPU" },
                                                                     1, true,  OP_LOAD, IN_GLOBAL, 4, 0 },
    { "LDG_DRAM", { "LDG.E", "LDG.E.SYS", "LDG.E.SYS", "LDG.E" },
                                                                     1, true,  OP_LOAD, IN_GLOBAL, 4, DRAM_STEP },
    { "LDL",      SAME("LDL"),                                       1, true,  OP_LOAD, IN_LOCAL, 4, 0 },
    { "LDS",      { "LDS.U.32", "LDS", "LDS", "LDS" },               1, true,  OP_LOAD, IN_SHARED, 4, 0 },
    { "LDS128",   { "LDS.U.128", "LDS.128", "LDS.128", "LDS.128" },  1, true,  OP_LOAD, IN_SHARED, 16, 0 },
    { "STG",      { "STG.E", "STG.E.SYS", "STG.E.SYS", "STG.E" },    2, false, OP_STORE, IN_GLOBAL, 4, 0 },
    { "ATOMG",    { "ATOM.E.ADD", "ATOMG.E.ADD.STRONG.GPU", "ATOMG.E.ADD.STRONG.GPU",
                    "ATOMG.E.ADD.STRONG.GPU" },                      2, true,  OP_ATOMIC, IN_GLOBAL, 4, 0 },
};
/* clang-format on */

static const char *const op_names[] = {
    "FFMA",     "FADD", "IMAD", "IADD",   "MOV", "SHFL",  "LDC", "HFMA2", "S2R",
    "MUFU",     "DADD", "DFMA", "HMMA",   "TEX", "BRA",   "BAR", "LDG",   "LDG_L2",
    "LDG_DRAM", "LDL",  "LDS",  "LDS128", "STG", "ATOMG", NULL,
};
/* The same after "none", for the second instruction of a mixture. */
static const char *const mix_names[] = {
    "none",   "FFMA",     "FADD", "IMAD", "IADD",   "MOV", "SHFL",  "LDC", "HFMA2",
    "S2R",    "MUFU",     "DADD", "DFMA", "HMMA",   "TEX", "BRA",   "BAR", "LDG",
    "LDG_L2", "LDG_DRAM", "LDL",  "LDS",  "LDS128", "STG", "ATOMG", NULL,
};
_Static_assert(LS_COUNT_OF(op_names) == LS_COUNT_OF(ops) + 1, "one name for each op, in the same order");
_Static_assert(LS_COUNT_OF(mix_names) == LS_COUNT_OF(op_names) + 1, "one more");

static const char *const source_names[] = { "0", "1", "2", "3", "4", "usual", NULL };
#define USUAL_SOURCES 5u

typedef struct micro_spec {
    synth_common common;
    uint32_t op, mix, sources;
    uint64_t count, warps, ctas, lane_stride_bytes, step_bytes, warp_step_bytes, registers, spacing, lanes;
    char opcode[SYNTH_TEXT_BYTES]; /* "": that of op */
} micro_spec;

#define MICRO_PARAMS                                                                                          \
    LS_PARAM_CHOICE(micro_spec, op, "op", "FFMA", op_names, "the instruction"),                               \
        LS_PARAM_UINT(micro_spec, count, "instructions", 64, 1, 16384,                                        \
                      "instructions of a warp, without EXIT"),                                                \
        LS_PARAM_CHOICE(micro_spec, sources, "sources", "usual", source_names, "registers that it reads"),    \
        LS_PARAM_UINT(micro_spec, warps, "", 1, 1, 32, "warps of a block"),                                   \
        LS_PARAM_UINT(micro_spec, ctas, "blocks", 1, 1, 65536, "thread blocks"),                              \
        LS_PARAM_UINT(micro_spec, lane_stride_bytes, "bytes", 4, 0, 65536, "from lane to lane"),              \
        LS_PARAM_UINT(micro_spec, step_bytes, "bytes", 0, 0, 16777216,                                        \
                      "from one access to the next; 0: the same again (LDG_DRAM: 65536)"),                    \
        LS_PARAM_UINT(micro_spec, warp_step_bytes, "bytes", 0, 0, 16777216, "from warp to warp"),             \
        LS_PARAM_TEXT(micro_spec, opcode, "opcode", "",                                                       \
                      "written instead of op's own, as in HMMA.16816.F16; registers are those of op")

static const ls_param chain_params[] = { MICRO_PARAMS };
static const ls_param throughput_params[] = {
    MICRO_PARAMS,
    LS_PARAM_CHOICE(micro_spec, mix, "mix", "none", mix_names, "an instruction that takes turns with it"),
    LS_PARAM_UINT(micro_spec, registers, "", 64, 1, 200, "registers that results go to in turn"),
    LS_PARAM_UINT(micro_spec, spacing, "registers", 0, 0, 64,
                  "from one result to the next; 0: as many as a result covers, so that none overlap"),
    LS_PARAM_UINT(micro_spec, lanes, "lanes", 32, 1, 32, "active lanes of instructions without addresses"),
};

/* Instruction i of the trace; every second one is the mixture's. */
static const micro_op *op_at(const micro_spec *s, uint64_t i)
{
    return &ops[s->mix > 0 && i % 2 == 1 ? s->mix - 1 : s->op];
}
static const char *opcode_of(const micro_spec *s, const micro_op *op, uint32_t version)
{
    if (s->opcode[0] != '\0' && op == &ops[s->op])
        return s->opcode;
    return op->opcode[version < 70 ? 0 : version < 75 ? 1 : version < 80 ? 2 : 3];
}
static unsigned sources_of(const micro_spec *s, const micro_op *op)
{
    return s->sources == USUAL_SOURCES ? op->sources : s->sources;
}
static uint64_t step_of(const micro_spec *s, const micro_op *op)
{
    return s->step_bytes ? s->step_bytes : op->step_bytes;
}
static uint64_t stride_of(const micro_spec *s, const micro_op *op)
{
    return op->place == IN_LOCAL ? 0
                                 : s->lane_stride_bytes; /* each lane has its own memory at the same address */
}

/* A chain has no parameter for them. */
static uint64_t lanes_of(const micro_spec *s)
{
    return s->lanes ? s->lanes : SYNTH_WARP;
}
static uint32_t mask_of(const micro_spec *s)
{
    return SYNTH_FULL >> (SYNTH_WARP - lanes_of(s));
}

static ls_status micro_check(const void *spec, ls_error *err)
{
    const micro_spec *s = spec;
    uint32_t version = synth_versions[s->common.binary_version];
    for (uint64_t i = 0; i < 2; i++) {
        const micro_op *op = op_at(s, i);
        if (!opcode_of(s, op, version))
            return ls_fail(err, LS_ERR_USAGE, "binary_version %" PRIu32 " has no %s", version, op->name);
    }
    return LS_OK;
}

static void micro_shape(const micro_spec *s, synth_launch *out)
{
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)(s->warps * SYNTH_WARP);
    out->shared_bytes = op_at(s, 0)->place == IN_SHARED || op_at(s, 1)->place == IN_SHARED ? 32768 : 0;
    out->registers = 32;
}

/* ------------------------------------------------------------------------------------------------ program */

#define ADDRESS_REG 2u
#define CHAIN_REG 4u
#define SPARE_REG 8u   /* sources that no instruction writes */
#define RESULT_REG 16u /* where independent results go */

/* `chained` is the register that the first source is, and the result goes to `result`. */
static void add_op(synth_program *p, const micro_spec *s, const micro_op *op, unsigned chained,
                   unsigned result)
{
    char sources[64] = "", dst[16] = "0";
    unsigned count = sources_of(s, op);
    size_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned reg = i == 0 ? chained : SPARE_REG + i;
        if ((op->kind == OP_STORE || op->kind == OP_ATOMIC) && count > 1)
            reg = i == 0 ? ADDRESS_REG : i == 1 ? chained : SPARE_REG + i; /* the address, then the data */
        used += (size_t)snprintf(sources + used, sizeof sources - used, " R%u", reg);
    }
    if (op->result)
        snprintf(dst, sizeof dst, "1 R%u", result);
    synth_op(p, "%s %s %u%s %u", dst, opcode_of(s, op, p->version), count, sources, op->width);
}

static void chain_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const micro_spec *s = spec;
    (void)launch;
    for (uint64_t i = 0; i < s->count; i++)
        add_op(p, s, op_at(s, i), CHAIN_REG, CHAIN_REG);
    synth_exit(p);
}

/* Registers that a result covers. */
static uint64_t result_span(const micro_spec *s, const micro_op *op, uint32_t version)
{
    const char *opcode = opcode_of(s, op, version);
    const uint16_t dst = RESULT_REG;
    const sass_line line = { .opcode = opcode, .opcode_bytes = strlen(opcode), .dsts = &dst, .dst_count = 1 };
    ls_error err;
    ls_inst inst = { 0 };
    return sass_decode(version, &line, true, &inst, &err) == LS_OK && inst.dst_span > 1 ? inst.dst_span : 1;
}

static void throughput_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const micro_spec *s = spec;
    (void)launch;
    uint64_t spacing = s->spacing;
    for (uint64_t i = 0; i < 2 && s->spacing == 0; i++) {
        uint64_t span = result_span(s, op_at(s, i), p->version);
        spacing = span > spacing ? span : spacing;
    }
    uint64_t results = s->registers > spacing ? s->registers / spacing : 1;
    for (uint64_t i = 0; i < s->count; i++)
        add_op(p, s, op_at(s, i), SPARE_REG, RESULT_REG + (unsigned)(i % results * spacing));
    synth_exit(p);
}

/* -------------------------------------------------------------------------------------------------- warps */

static uint64_t address_at(const micro_spec *s, const micro_op *op, uint64_t i, uint64_t warp)
{
    static const uint64_t bases[] = {
        [IN_GLOBAL] = UINT64_C(0x7f0000000000), [IN_SHARED] = 0, [IN_LOCAL] = 0xfffc00
    };
    return bases[op->place] + i * step_of(s, op) + warp * s->warp_step_bytes;
}

static void micro_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const micro_spec *s = spec;
    uint64_t warp = (uint64_t)w->id[0] * s->warps + w->index;
    (void)launch;
    for (uint64_t i = 0; i < s->count; i++) {
        const micro_op *op = op_at(s, i);
        w->mask = op->kind == OP_PLAIN ? mask_of(s) : SYNTH_FULL;
        if (op->width)
            synth_lanes(w, (uint32_t)i, address_at(s, op, i, warp), (int64_t)stride_of(s, op));
        else
            synth_run(w, (uint32_t)i, (uint32_t)i + 1);
    }
    w->mask = SYNTH_FULL;
    synth_run(w, (uint32_t)s->count, (uint32_t)s->count + 1);
}

/* -------------------------------------------------------------------------------------------------- facts */

static void micro_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const micro_spec *s = spec;
    uint64_t warps = s->ctas * s->warps;
    (void)launch;
    f->warp_insts += warps * synth_here(p);
    f->thread_insts += warps * SYNTH_WARP * (synth_here(p) - s->count);
    for (uint64_t i = 0; i < s->count; i++)
        f->thread_insts += warps * (op_at(s, i)->kind == OP_PLAIN ? lanes_of(s) : SYNTH_WARP);
    bool global = false;
    for (uint64_t i = 0; i < s->count; i++) {
        const micro_op *op = op_at(s, i);
        uint64_t stride = stride_of(s, op), sectors = 0;
        if (op->kind == OP_BARRIER)
            f->barriers += warps;
        if (op->width && op->place == IN_SHARED)
            f->shared_accesses += warps;
        if (!op->width || op->place != IN_GLOBAL)
            continue;
        global = true;
        for (uint64_t warp = 0; warp < (s->warp_step_bytes % SYNTH_SECTOR ? warps : 1); warp++)
            sectors += synth_sectors(address_at(s, op, i, warp), SYNTH_WARP, op->width, stride);
        sectors *= s->warp_step_bytes % SYNTH_SECTOR ? 1 : warps;
        *(op->kind == OP_LOAD    ? &f->global_loads
          : op->kind == OP_STORE ? &f->global_stores
                                 : &f->global_atomics) += warps;
        *(op->kind == OP_LOAD    ? &f->load_sectors
          : op->kind == OP_STORE ? &f->store_sectors
                                 : &f->atomic_sectors) += sectors;
    }
    if (!global)
        return;
    /* The closed form holds if all accesses share the same bytes, or if no two share any; otherwise it is
     * unknown. */
    const micro_op *op = op_at(s, 0);
    uint64_t stride = stride_of(s, op), step = step_of(s, op), warp_step = warps > 1 ? s->warp_step_bytes : 0;
    uint64_t once = stride >= op->width ? SYNTH_WARP * op->width : stride * (SYNTH_WARP - 1) + op->width;
    uint64_t span = stride * (SYNTH_WARP - 1) + op->width, steps = step && s->count > 1 ? s->count : 1;
    bool apart = (step == 0 || step >= span) && (warp_step == 0 || warp_step >= span + step * (steps - 1));
    bool simple = s->mix == 0 && apart && (stride == 0 || stride >= op->width);
    f->global_bytes = simple ? once * steps * (warp_step ? warps : 1) : LS_SYNTH_UNKNOWN;
}

static void chain_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    (void)launch;
    micro_shape(spec, out);
    out->name = "_Z5chainPf";
}

static void throughput_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    (void)launch;
    micro_shape(spec, out);
    out->name = "_Z10throughputPf";
}

const synth_kind synth_chain = {
    .name = "chain",
    .help = "instructions of which each reads the result of the one before",
    .spec_size = sizeof(micro_spec),
    .params = chain_params,
    .param_count = LS_COUNT_OF(chain_params),
    .check = micro_check,
    .launch = chain_launch,
    .assemble = chain_assemble,
    .warp = micro_warp,
    .facts = micro_facts,
};

const synth_kind synth_throughput = {
    .name = "throughput",
    .help = "independent instructions in several warps",
    .spec_size = sizeof(micro_spec),
    .params = throughput_params,
    .param_count = LS_COUNT_OF(throughput_params),
    .check = micro_check,
    .launch = throughput_launch,
    .assemble = throughput_assemble,
    .warp = micro_warp,
    .facts = micro_facts,
};
