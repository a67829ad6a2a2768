/* test_amd_model_salu.c: every scalar instruction against a model that was written from the manuals by other
 * means (model/salu.def). Each form that LLVM knows (amd_*.txt) runs with corner and random operands and both
 * wave sizes. The whole state must be as the model says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/model/facts.h"

/* A row's inputs and outputs besides its operands. */
typedef struct scalars {
    bool scc, no_result, register_source;
    uint64_t exec, pc, vcc;
    bool lanes_on;
    uint32_t m0, mode, trapsts, literal, field;
    uint8_t stop, sleep, indexed;
    unsigned source, shift; /* register numbers, for indexed moves */
    const uint32_t *sgpr;
} scalars;

static void set_register(scalars *s, int64_t simm, uint32_t value)
{
    unsigned id = simm & 63, at = simm >> 6 & 31, width = (unsigned)(simm >> 11 & 31) + 1;
    uint32_t *to = id == 1 ? &s->mode : id == 3 ? &s->trapsts : NULL;
    for (unsigned i = 0; to && i < width && at + i < 32; i++)
        *to = (*to & ~(1u << (at + i))) | (value >> i & 1) << (at + i);
    if (id == 1)
        s->indexed = s->mode >> 27 & 1;
}

typedef void (*model)(uint64_t A, uint64_t B, int64_t K, uint64_t *result, scalars *S);
#define D (*result)
#define ROW(op, ...)                                                                                          \
    static void model_##op(uint64_t A, uint64_t B, int64_t K, uint64_t *result, scalars *S)                   \
    {                                                                                                         \
        (void)A, (void)B, (void)K, (void)result, (void)S;                                                     \
        __VA_ARGS__;                                                                                          \
    }
#include "isa/model/salu.def"
#undef ROW
#undef D
#undef BITS
#undef FLAG
#undef LOGIC
#define ROW(op, ...) [AMD_##op] = model_##op,
static const model models[AMD_OP_COUNT] = {
#include "isa/model/salu.def"
};
#undef ROW

static machine start, want;
static size_t covered[AMD_TARGET_COUNT][AMD_OP_COUNT];
static bool reported[AMD_OP_COUNT];
static unsigned wrong;

static bool is_wide(const amd_operand *o)
{
    return kind_bits(o->kind) == 64 || (o->kind == AMD_KIND_MASK && o->dwords == 2);
}

static void write_scalar(machine *m, unsigned code, bool wide, uint64_t value)
{
    if (code == AMD_NULL && m->wave.target != AMD_GFX803)
        return;
    m->wave.sgpr[code] = (uint32_t)value;
    if (wide)
        m->wave.sgpr[code + 1] = (uint32_t)(value >> 32);
}

/* Changes *m as the instruction does. */
static void run_model(machine *m, const amd_inst *in)
{
    const char *name = amd_op_name((amd_op)in->op);
    bool i64 = strstr(name, "i64") != NULL,
         has_source = in->src_count > 0 && in->src[0].code != AMD_NO_OPERAND;
    bool wide = is_wide(&in->sdst), has_dst = in->sdst.code < AMD_INT_0;
    uint64_t s[2] = { 0, 0 };
    for (unsigned k = 0; k < 2 && k < in->src_count; k++)
        s[k] =
            scalar_operand(m, in, in->src[k].code, is_wide(&in->src[k]) ? AMD_KIND_B64 : AMD_KIND_B32, i64) &
            ones(is_wide(&in->src[k]) ? 64 : 32);
    uint64_t d = has_dst ? scalar_operand(m, in, in->sdst.code, wide ? AMD_KIND_B64 : AMD_KIND_B32, false) : 0;
    scalars x = { .scc = m->wave.scc,
                  .register_source = has_source,
                  .exec = m->wave.sgpr[AMD_EXEC_LO] | (uint64_t)m->wave.sgpr[AMD_EXEC_HI] << 32,
                  .pc = m->wave.pc,
                  .vcc = machine_vcc(m),
                  .lanes_on = machine_exec(m) != 0,
                  .m0 = m->wave.sgpr[AMD_M0],
                  .mode = m->wave.mode,
                  .trapsts = m->wave.trapsts,
                  .literal = in->literal,
                  .field = in->src_count > 1 && in->src[1].code != AMD_NO_OPERAND ? in->src[1].code & 15u
                                                                                  : (uint32_t)in->simm & 15u,
                  .sleep = m->wave.wait_sleep,
                  .indexed = m->wave.gpr_idx_mode,
                  .source = in->src[0].code,
                  .sgpr = start.wave.sgpr };
    if (strncmp(name, "s_cmpk", 6) == 0 && !has_dst) /* the decoder calls it a source */
        d = s[0];
    models[in->op](s[0], s[1], in->simm, &d, &x);
    m->wave.scc = x.scc;
    m->wave.pc = x.pc;
    m->wave.mode = x.mode;
    m->wave.trapsts = x.trapsts;
    m->wave.stop = x.stop;
    m->wave.wait_sleep = x.sleep;
    m->wave.gpr_idx_mode = x.indexed;
    m->wave.sgpr[AMD_M0] = x.m0;
    /* The saved EXEC is written first, except where the new one is the result. */
    if (has_dst && !x.no_result && in->format != AMD_SOPC && in->format != AMD_SOPP && !strstr(name, "wrexec"))
        write_scalar(m, in->sdst.code + x.shift, wide, d);
    if (strstr(name, "exec_b") || strstr(name, "subvector")) {
        m->wave.sgpr[AMD_EXEC_LO] = (uint32_t)x.exec;
        m->wave.sgpr[AMD_EXEC_HI] = (uint32_t)(x.exec >> 32);
    }
    if (strstr(name, "wrexec"))
        write_scalar(m, in->sdst.code, wide, d);
}

static void check(amd_target target, unsigned lanes, const amd_inst *in, const char *text, uint64_t *seed)
{
    const char *name = amd_op_name((amd_op)in->op);
    amd_body body = amd_exec_find(target, lanes, in);
    if (!body || !models[in->op])
        return;
    bool relative = strstr(name, "movrel") != NULL, hwreg = strstr(name, "getreg") || strstr(name, "setreg");
    for (unsigned k = 0; k < in->src_count; k++) {
        unsigned code = in->src[k].code;
        if ((code == AMD_NULL && target == AMD_GFX803) || code == AMD_LDS_DIRECT || code == AMD_POPS_WAVE_ID ||
            (code >= AMD_SHARED_BASE && code <= AMD_PRIVATE_LIMIT))
            return;
        if (relative && code > 96)
            return;
    }
    if ((relative && in->sdst.code > 96) || (in->sdst.code == AMD_NULL && target == AMD_GFX803))
        return;
    unsigned id = in->simm & 63;
    if (strstr(name, "getreg") && id != 1 && id != 3) /* others say what the machine is */
        return;
    facts_fill(&start, target, lanes, in, seed);
    start.wave.mode = facts_random(seed) & 0x3ff;
    if (hwreg && target == AMD_GFX803)
        start.wave.mode |= facts_random(seed) & 1 ? 1u << 27 : 0;
    start.wave.gpr_idx_mode = start.wave.mode >> 27 & 1;
    start.wave.trapsts = facts_random(seed) & 0x1ff;
    if (strstr(name, "bfe") && in->src[1].code < 100) /* fields that end before, at and after the top */
        start.wave.sgpr[in->src[1].code] = (facts_random(seed) % 70) | (facts_random(seed) % 128) << 16;
    if (in->op == AMD_S_MOVRELS_B64 || in->op == AMD_S_MOVRELD_B64)
        start.wave.sgpr[AMD_M0] &= 2;
    if (relative && in->op != AMD_S_MOVRELSD_2_B32)
        start.wave.sgpr[AMD_M0] &= 3;
    if (strstr(name, "subvector") || facts_random(seed) % 4 == 0) { /* EXEC halves that are empty */
        start.wave.sgpr[AMD_EXEC_LO] = facts_random(seed) & 1 ? facts_random(seed) : 0;
        start.wave.sgpr[AMD_EXEC_HI] = lanes == 64 && facts_random(seed) & 1 ? facts_random(seed) : 0;
        if (in->sdst.code < 100 && facts_random(seed) & 1)
            start.wave.sgpr[in->sdst.code] = 0;
    }
    amd_wave have = start.wave;
    static amd_group group;
    have.group = &group;
    body(&have, in);
    amd_wave_rest(&have);
    memcpy(&want.wave, &start.wave, sizeof want.wave);
    run_model(&want, in);
    covered[target][in->op]++;
    unsigned bad = 128;
    for (unsigned s = 0; s < 128; s++)
        if (have.sgpr[s] != want.wave.sgpr[s] && bad == 128)
            bad = s;
    bool same = have.scc == want.wave.scc && have.pc == want.wave.pc && have.mode == want.wave.mode &&
                have.trapsts == want.wave.trapsts && have.stop == want.wave.stop &&
                have.wait_sleep == want.wave.wait_sleep && have.gpr_idx_mode == want.wave.gpr_idx_mode;
    if (bad == 128 && same)
        return;
    wrong++;
    if (reported[in->op])
        return;
    reported[in->op] = true;
    print_message("%s, %u lanes: %s\n", amd_target_name(target), lanes, text);
    if (bad < 128)
        print_message("  s%u: %x, not %x\n", bad, have.sgpr[bad], want.wave.sgpr[bad]);
    else
        print_message("  scc %u not %u, pc %llx not %llx, mode %x not %x, trapsts %x not %x, stop %u not %u\n",
                      have.scc, want.wave.scc, (unsigned long long)have.pc, (unsigned long long)want.wave.pc,
                      have.mode, want.wave.mode, have.trapsts, want.wave.trapsts, have.stop, want.wave.stop);
    for (unsigned k = 0; k < in->src_count && k < 2; k++)
        print_message("  source %u: %llx\n", k,
                      (unsigned long long)scalar_operand(&start, in, in->src[k].code,
                                                         is_wide(&in->src[k]) ? AMD_KIND_B64 : AMD_KIND_B32,
                                                         false));
}

static uint64_t seed_of_line;
static void check_line(amd_target target, unsigned lanes, const amd_inst *in, const char *text)
{
    bool scalar = in->format <= AMD_SOPP;
    unsigned rounds = covered[target][in->op] < 200 ? 40 : 4;
    for (unsigned n = 0; scalar && n < rounds; n++)
        check(target, lanes, in, text, &seed_of_line);
}

static void test_against_model(void **state)
{
    (void)state;
    seed_of_line = 77;
    facts_each(check_line);
    assert_int_equal(wrong, 0);
}

/* A row per executed operation, and each was compared on each target that has it. */
static void test_complete(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            amd_inst in = { .op = (uint16_t)op, .format = AMD_SOP1 };
            if (!amd_op_exists((amd_target)t, (amd_op)op) || !amd_exec_find((amd_target)t, 64, &in) ||
                covered[t][op])
                continue;
            print_message("%s on %s has no row in model/salu.def, or was never run\n", amd_op_name((amd_op)op),
                          amd_target_name((amd_target)t));
            missing++;
        }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_model),
                                        cmocka_unit_test(test_complete) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
