/* test_sass.c: opcodes to instructions: classes, memory, widths, spans, and Accel-Sim's view. Expected values
 * are from NVIDIA's tables, from real traces and from Accel-Sim's opcode maps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/sass/sass.h"

#include <stdio.h>
#include <string.h>

/* One instruction in a hurry: R4 as destination if there is one, R8, R12, ... as sources. */
static ls_inst decode(uint32_t sm, const char *opcode, uint32_t dsts, uint32_t srcs, uint32_t width)
{
    static const uint16_t dst[] = { 4 }, src[] = { 8, 12, 16, 20 };
    const sass_line line = {
        .pc = 0x90,
        .opcode = opcode,
        .opcode_bytes = strlen(opcode),
        .dsts = dst,
        .srcs = src,
        .dst_count = dsts,
        .src_count = srcs,
        .width = width,
        .imm = 7,
    };
    ls_inst inst;
    ls_error err;
    if (sass_decode(sm, &line, false, &inst, &err) != LS_OK)
        fail_msg("%s: %s", opcode, err.what);
    return inst;
}

/* --- classes and memory --------------------------------------------------------------------------------- */

static void test_fields(void **state)
{
    (void)state;
    ls_inst inst = decode(80, "LDG.E.128.CONSTANT.SYS", 1, 1, 16);
    assert_int_equal(inst.pc, 0x90);
    assert_int_equal(inst.imm, 7);
    assert_string_equal(sass_opcode_name(inst.opcode), "LDG");
    assert_int_equal(inst.class_, LS_CLASS_load);
    assert_int_equal(inst.mem_op, LS_MEM_LOAD);
    assert_int_equal(inst.space, LS_SPACE_GLOBAL);
    assert_int_equal(inst.width_bytes, 16);
    assert_int_equal(inst.accel_width_bytes, 16);
    assert_int_equal(inst.dst_count, 1);
    assert_int_equal(inst.dst[0], 4);
    assert_int_equal(inst.dst_span, 4);
    assert_int_equal(inst.src_count, 1);
    assert_int_equal(inst.src[0], 8);
    assert_int_equal(inst.src_span[0], 2);
    assert_int_equal(inst.flags, 0);
}

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        ls_inst_class class_;
        ls_mem_op op;
        ls_mem_space space;
    } cases[] = {
        { "FFMA", LS_CLASS_fp32, LS_MEM_NONE, LS_SPACE_NONE },
        { "HFMA2.MMA", LS_CLASS_half, LS_MEM_NONE, LS_SPACE_NONE },
        { "HMUL2", LS_CLASS_half_mul, LS_MEM_NONE, LS_SPACE_NONE },
        { "DFMA", LS_CLASS_fp64, LS_MEM_NONE, LS_SPACE_NONE },
        { "IADD3.X", LS_CLASS_int_alu, LS_MEM_NONE, LS_SPACE_NONE },
        { "IMAD.WIDE.U32", LS_CLASS_int_mul, LS_MEM_NONE, LS_SPACE_NONE },
        { "POPC", LS_CLASS_bit, LS_MEM_NONE, LS_SPACE_NONE },
        { "F2FP.PACK_AB", LS_CLASS_convert, LS_MEM_NONE, LS_SPACE_NONE },
        { "PRMT", LS_CLASS_move, LS_MEM_NONE, LS_SPACE_NONE },
        { "PLOP3.LUT", LS_CLASS_predicate, LS_MEM_NONE, LS_SPACE_NONE },
        { "SHFL.BFLY", LS_CLASS_shuffle, LS_MEM_NONE, LS_SPACE_NONE },
        { "VOTE.ANY", LS_CLASS_vote, LS_MEM_NONE, LS_SPACE_NONE },
        { "S2R", LS_CLASS_special_reg, LS_MEM_NONE, LS_SPACE_NONE },
        { "LDC.64", LS_CLASS_const_load, LS_MEM_LOAD, LS_SPACE_CONST },
        { "MUFU.RCP", LS_CLASS_sfu, LS_MEM_NONE, LS_SPACE_NONE },
        { "HMMA.16816.F32", LS_CLASS_tensor_half, LS_MEM_NONE, LS_SPACE_NONE },
        { "IMMA.16832.S8.S8", LS_CLASS_tensor_int, LS_MEM_NONE, LS_SPACE_NONE },
        { "BMMA.88128", LS_CLASS_tensor_bit, LS_MEM_NONE, LS_SPACE_NONE },
        { "DMMA.884", LS_CLASS_tensor_double, LS_MEM_NONE, LS_SPACE_NONE },
        { "ULDC.64", LS_CLASS_uniform, LS_MEM_LOAD, LS_SPACE_CONST },
        { "UIADD3", LS_CLASS_uniform, LS_MEM_NONE, LS_SPACE_NONE },
        { "BSSY", LS_CLASS_branch, LS_MEM_NONE, LS_SPACE_NONE },
        { "TEX.SCR.LL", LS_CLASS_texture, LS_MEM_LOAD, LS_SPACE_TEXTURE },
        { "SUST.D.BA.2D", LS_CLASS_surface, LS_MEM_STORE, LS_SPACE_SURFACE },
        { "LD.E", LS_CLASS_load, LS_MEM_LOAD, LS_SPACE_GENERIC },
        { "LDL", LS_CLASS_load, LS_MEM_LOAD, LS_SPACE_LOCAL },
        { "LDS.U.128", LS_CLASS_load, LS_MEM_LOAD, LS_SPACE_SHARED },
        { "STG.E", LS_CLASS_store, LS_MEM_STORE, LS_SPACE_GLOBAL },
        { "ATOMG.E.ADD.STRONG.GPU", LS_CLASS_atomic, LS_MEM_ATOMIC, LS_SPACE_GLOBAL },
        { "ATOMS.ADD", LS_CLASS_atomic, LS_MEM_ATOMIC, LS_SPACE_SHARED },
        { "RED.E.ADD.STRONG.GPU", LS_CLASS_atomic, LS_MEM_REDUCTION, LS_SPACE_GLOBAL },
        { "LDGSTS.E.BYPASS.128", LS_CLASS_async_copy, LS_MEM_ASYNC_COPY, LS_SPACE_GLOBAL },
        { "LDSM.16.M88.4", LS_CLASS_load, LS_MEM_MATRIX, LS_SPACE_SHARED },
        { "BAR.SYNC", LS_CLASS_barrier, LS_MEM_NONE, LS_SPACE_NONE },
        { "MEMBAR.SC.GPU", LS_CLASS_fence, LS_MEM_NONE, LS_SPACE_NONE },
        { "LDGDEPBAR", LS_CLASS_depbar, LS_MEM_NONE, LS_SPACE_NONE },
        { "CCTL.IVALL", LS_CLASS_cache_control, LS_MEM_NONE, LS_SPACE_NONE },
        { "EXIT", LS_CLASS_exit, LS_MEM_NONE, LS_SPACE_NONE },
        { "NOP", LS_CLASS_misc, LS_MEM_NONE, LS_SPACE_NONE },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_inst inst = decode(80, cases[i].opcode, 0, 0, 0);
        if (inst.class_ != cases[i].class_ || inst.mem_op != cases[i].op || inst.space != cases[i].space)
            fail_msg("%s is %s, %s, %s", cases[i].opcode, inst_class_name((ls_inst_class)inst.class_),
                     mem_op_name((ls_mem_op)inst.mem_op), mem_space_name((ls_mem_space)inst.space));
    }
    assert_int_equal(decode(90, "HGMMA.64x64x16.F32", 1, 2, 0).class_, LS_CLASS_tensor_group);
}

static void test_flags(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        uint32_t flags;
    } cases[] = {
        { "EXIT", LS_INST_EXIT },
        { "BAR.SYNC.DEFER_BLOCKING", LS_INST_BARRIER },
        { "BAR.ARV", LS_INST_BARRIER | LS_INST_ARRIVE },
        { "MEMBAR.SC.GPU", LS_INST_FENCE },
        { "LDGDEPBAR", LS_INST_ASYNC_COMMIT },
        { "DEPBAR.LE", LS_INST_ASYNC_WAIT },
        { "LDG.E.CONSTANT", 0 },
        { "LDG.E.STRONG.SM", 0 },
        { "LDG.E.STRONG.GPU", LS_INST_BYPASS_L1 | LS_INST_ACCEL_BYPASS },
        { "LDG.E.STRONG.SYS", LS_INST_BYPASS_L1 | LS_INST_SYSTEM }, /* Accel-Sim looks for GPU only */
        { "LDG.E.SYS", 0 },                                         /* weak, as Volta and Turing write it */
        { "MEMBAR.SC.SYS", LS_INST_FENCE | LS_INST_SYSTEM },
        { "STG.E.STRONG.GPU", LS_INST_BYPASS_L1 }, /* and at loads only */
        { "LD.E.STRONG.GPU", LS_INST_BYPASS_L1 },
        { "LDGSTS.E.128", 0 },
        { "LDGSTS.E.BYPASS.128", LS_INST_BYPASS_L1 },
        { "ATOMG.E.ADD.STRONG.GPU", LS_INST_BYPASS_L1 | LS_INST_ACCEL_BYPASS },
        { "ATOM.E.ADD", LS_INST_BYPASS_L1 | LS_INST_ACCEL_BYPASS },
        { "RED.E.ADD.STRONG.GPU", LS_INST_BYPASS_L1 | LS_INST_ACCEL_BYPASS },
        { "ATOMS.ADD", 0 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        uint32_t flags = decode(80, cases[i].opcode, 0, 0, 0).flags;
        if (flags != cases[i].flags)
            fail_msg("%s has the flags %x instead of %x", cases[i].opcode, flags, cases[i].flags);
    }
    assert_int_equal(decode(61, "LDG.E.CG", 1, 1, 4).flags, LS_INST_BYPASS_L1);
}

/* --- widths --------------------------------------------------------------------------------------------- */

/* An instruction that moves data or makes warps wait without a model must be refused, not executed silently.
 * No row of these classes may lack a memory operation, a wait or a mark. */
static void test_no_silent_effects(void **state)
{
    (void)state;
    const uint32_t says = LS_INST_UNMODELLED | LS_INST_IGNORED | LS_INST_FENCE | LS_INST_ASYNC_COMMIT |
                          LS_INST_ASYNC_WAIT | LS_INST_BARRIER;
    for (size_t row = 0; row < sass_opcode_count(); row++) {
        ls_inst inst = decode(90, sass_opcode_name(row), 0, 0, 0);
        bool memory = inst.class_ == LS_CLASS_load || inst.class_ == LS_CLASS_store ||
                      inst.class_ == LS_CLASS_atomic || inst.class_ == LS_CLASS_async_copy;
        bool waits = inst.class_ == LS_CLASS_fence || inst.class_ == LS_CLASS_depbar ||
                     inst.class_ == LS_CLASS_barrier || inst.class_ == LS_CLASS_cache_control;
        bool untraced = (inst.space == LS_SPACE_TEXTURE || inst.space == LS_SPACE_SURFACE) &&
                        strcmp(sass_opcode_name(row), "TXQ") != 0 &&
                        strcmp(sass_opcode_name(row), "SUQUERY") != 0; /* query a size */
        if ((memory && inst.mem_op == LS_MEM_NONE) || waits || untraced)
            if ((inst.flags & says) == 0)
                fail_msg("%s does nothing and nobody says so", sass_opcode_name(row));
    }
    static const char *const bulk[] = { "UTMALDG.2D",   "UTMASTG.3D",   "UTMAREDG.2D.ADD",
                                        "UTMAPF.2D",    "UTMACMDFLUSH", "UBLKCP.S.G",
                                        "UBLKRED",      "UBLKPF",       "SYNCS.EXCH.64",
                                        "USYNCS",       "ARRIVES",      "UCGABAR_ARV",
                                        "UCGABAR_WAIT", "STAS",         "REDAS" };
    for (size_t i = 0; i < sizeof bulk / sizeof *bulk; i++)
        assert_int_not_equal(decode(90, bulk[i], 0, 0, 0).flags & LS_INST_UNMODELLED, 0);
}

static void test_widths(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        unsigned width, accel;
    } cases[] = {
        { "LDG.E", 4, 4 },
        { "LDG.E.64", 8, 8 },
        { "LDG.E.128.CONSTANT", 16, 16 },
        { "LDG.E.U8", 1, 1 },
        { "LDG.E.U16", 2, 2 },
        { "LDG.E.S8", 1, 4 }, /* Accel-Sim knows no S */
        { "LDG.E.S16.SYS", 2, 4 },
        { "LDG.E.LTC128B", 4, 4 },
        { "LDS.U.32", 4, 4 },
        { "LDG.E.ENL2.256", 32, 32 },
        { "ATOMG.E.ADD.F64.RN.STRONG.GPU", 8, 4 },
        { "ATOMG.E.ADD.64.STRONG.GPU", 8, 8 },
        { "ATOMG.E.MIN.S64.STRONG.GPU", 8, 4 },
        { "RED.E.ADD.F16x2.RN", 4, 4 },
        { "RED.E.ADD.F32x4.RN", 16, 4 },
        { "LDGSTS.E.BYPASS.LTC128B.128", 16, 16 },
        { "LDSM.16.M88.4", 16, 2 },
        { "LDSM.16.MT88.2", 16, 2 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_inst inst = decode(80, cases[i].opcode, 1, 1, 4);
        if (inst.width_bytes != cases[i].width || inst.accel_width_bytes != cases[i].accel)
            fail_msg("%s: %u and %u bytes", cases[i].opcode, inst.width_bytes, inst.accel_width_bytes);
    }
    /* Without addresses Accel-Sim sees no access; the size of a constant load is known all the same. */
    ls_inst inst = decode(80, "LDC.64", 1, 0, 0);
    assert_int_equal(inst.width_bytes, 8);
    assert_int_equal(inst.accel_width_bytes, 0);
    assert_int_equal(decode(80, "FADD", 1, 2, 0).width_bytes, 0);
}

/* --- spans ---------------------------------------------------------------------------------------------- */

static void test_spans(void **state)
{
    (void)state;
    static const struct {
        uint32_t sm;
        const char *opcode;
        uint32_t dsts, srcs;
        unsigned dst, src[3];
    } cases[] = {
        { 80, "FFMA", 1, 3, 1, { 1, 1, 1 } },
        { 80, "DFMA", 1, 3, 2, { 2, 2, 2 } },
        { 80, "DSETP.GE.AND", 0, 2, 0, { 2, 2 } },
        { 80, "IMAD.WIDE", 1, 3, 2, { 1, 1, 2 } },
        { 80, "IMAD.WIDE", 1, 2, 2, { 1, 1 } },
        { 80, "IMAD.HI.U32", 1, 3, 1, { 1, 1, 1 } },
        { 80, "LDG.E.64", 1, 1, 2, { 2 } },
        { 80, "LDG.E.128", 1, 1, 4, { 2 } },
        { 80, "LDS.128", 1, 1, 4, { 1 } },
        { 80, "STG.E.128", 0, 2, 0, { 2, 4 } },
        { 80, "STG.E", 0, 2, 0, { 2, 1 } },
        { 80, "STS.64", 0, 2, 0, { 1, 2 } },
        { 80, "STS.64", 0, 1, 0, { 2 } }, /* the address is in a uniform register */
        { 80, "ATOMG.E.CAS.64.STRONG.GPU", 1, 3, 2, { 2, 2, 2 } },
        { 80, "RED.E.ADD.STRONG.GPU", 0, 2, 0, { 2, 1 } },
        { 80, "LDGSTS.E.BYPASS.128", 0, 2, 0, { 1, 2 } },
        { 80, "LDSM.16.M88.4", 1, 1, 4, { 1 } },
        { 80, "LDSM.16.M88", 1, 1, 1, { 1 } },
        { 90, "STSM.16.M88.4", 0, 2, 0, { 1, 4 } },
        { 70, "HMMA.884.F32.F32.STEP0", 1, 3, 2, { 2, 2, 2 } },
        { 75, "HMMA.1688.F32", 1, 3, 4, { 2, 1, 4 } },
        { 80, "HMMA.16816.F32", 1, 3, 4, { 4, 2, 4 } },
        { 80, "HMMA.16816.F16", 1, 3, 2, { 4, 2, 2 } },
        { 80, "HMMA.1688.F32.TF32", 1, 3, 4, { 4, 2, 4 } },
        { 75, "IMMA.8816.S8.S8", 1, 3, 2, { 1, 1, 2 } },
        { 80, "IMMA.16832.S8.S8", 1, 3, 4, { 4, 2, 4 } },
        { 80, "IMMA.16864.S4.S4", 1, 3, 4, { 4, 2, 4 } },
        { 75, "BMMA.88128.XOR.POPC", 1, 3, 2, { 1, 1, 2 } },
        { 80, "DMMA.884", 1, 3, 4, { 2, 2, 4 } },
        { 90, "DMMA.8x8x4", 1, 3, 4, { 2, 2, 4 } },
        { 89, "QMMA.16832.F32.E4M3.E4M3", 1, 3, 4, { 4, 2, 4 } },
        { 90, "HGMMA.64x256x16.F32", 1, 0, 128, { 0 } },
        { 90, "HGMMA.64x64x16.F16", 1, 0, 16, { 0 } },
        { 100, "LDTM.x32", 1, 0, 32, { 0 } },
        { 100, "STTM.x16", 0, 1, 0, { 16 } },
        { 80, "CS2R", 1, 0, 2, { 0 } },
        { 80, "CS2R.32", 1, 0, 1, { 0 } },
        { 80, "LDC.64", 1, 0, 2, { 0 } },
        { 80, "F2F.F64.F32", 1, 1, 2, { 1 } },
        { 80, "F2F.F32.F64", 1, 1, 1, { 2 } },
        { 80, "F2I.S64.TRUNC", 1, 1, 2, { 1 } },
        { 80, "F2I.U32.F64.TRUNC", 1, 1, 1, { 2 } },
        { 80, "I2F.S64", 1, 1, 1, { 2 } },
        { 80, "I2F.F64.U32", 1, 1, 2, { 1 } },
        { 80, "FRND.F64.FLOOR", 1, 1, 2, { 2 } },
        { 100, "MOV.64", 1, 1, 2, { 2 } },
        { 80, "MOV", 1, 1, 1, { 1 } },
        { 100, "FFMA2", 1, 3, 2, { 2, 2, 2 } },
        { 80, "MUFU.RCP64H", 1, 1, 1, { 1 } },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_inst inst = decode(cases[i].sm, cases[i].opcode, cases[i].dsts, cases[i].srcs, 4);
        if (inst.dst_span != cases[i].dst)
            fail_msg("%s writes %u registers", cases[i].opcode, inst.dst_span);
        for (uint32_t k = 0; k < cases[i].srcs; k++)
            if (inst.src_span[k] != cases[i].src[k])
                fail_msg("source %u of %s covers %u registers", k, cases[i].opcode, inst.src_span[k]);
    }
    assert_int_equal(decode(80, "LDSM.16.MT88.4", 1, 1, 16).matrix_count, 4);
    assert_int_equal(decode(80, "LDSM.16.M88", 1, 1, 16).matrix_count, 1);
    assert_int_equal(decode(80, "LDS", 1, 1, 4).matrix_count, 0);
}

/* Zero registers cover nothing more, and nothing runs into the next file of registers. */
static void test_span_limits(void **state)
{
    (void)state;
    const uint16_t dst[] = { 253 }, src[] = { LS_REG_ZERO, LS_REG_UNIFORM + 62, LS_REG_PREDICATE + 1 };
    const sass_line line = {
        .opcode = "DFMA",
        .opcode_bytes = 4,
        .dsts = dst,
        .srcs = src,
        .dst_count = 1,
        .src_count = 3,
    };
    ls_inst inst;
    assert_int_equal(sass_decode(80, &line, false, &inst, NULL), LS_OK);
    assert_int_equal(inst.dst_span, 2);
    assert_int_equal(inst.src_span[0], 1);
    assert_int_equal(inst.src_span[1], 1);
    assert_int_equal(inst.src_span[2], 1);
    const uint16_t last[] = { 254 };
    sass_line wide = line;
    wide.dsts = last;
    assert_int_equal(sass_decode(80, &wide, false, &inst, NULL), LS_OK);
    assert_int_equal(inst.dst_span, 1);
}

/* dst_span belongs to dst[0]: predicates come after registers. */
static void test_predicates_last(void **state)
{
    (void)state;
    const uint16_t dst[] = { LS_REG_PREDICATE, 4 }, src[] = { LS_REG_UNIFORM + 4, 8, 12 };
    const sass_line line = {
        .opcode = "STG.E.128",
        .opcode_bytes = 9,
        .dsts = dst,
        .srcs = src,
        .dst_count = 2,
        .src_count = 3,
        .width = 16,
    };
    ls_inst inst;
    assert_int_equal(sass_decode(90, &line, false, &inst, NULL), LS_OK);
    assert_int_equal(inst.dst[0], 4);
    assert_int_equal(inst.dst[1], LS_REG_PREDICATE);
    assert_int_equal(inst.src_span[0], 1); /* the descriptor */
    assert_int_equal(inst.src_span[1], 2); /* the address */
    assert_int_equal(inst.src_span[2], 4); /* the data */
}

/* --- Accel-Sim ------------------------------------------------------------------------------------------ */

static void expect_accel(uint32_t sm, ls_accel_class expected, const char *opcodes)
{
    char list[1024], *rest = list;
    snprintf(list, sizeof list, "%s", opcodes);
    for (char *opcode; (opcode = strtok_r(rest, " ", &rest));) {
        ls_inst inst = decode(sm, opcode, 0, 0, 0);
        if (inst.accel_class != expected)
            fail_msg("%s on sm_%u is %s", opcode, sm, accel_class_name((ls_accel_class)inst.accel_class));
    }
}

static void test_accel_classes(void **state)
{
    (void)state;
    static const uint32_t from_volta[] = { 70, 75, 80, 86 };
    for (size_t i = 0; i < LS_COUNT_OF(from_volta); i++) {
        uint32_t sm = from_volta[i];
        expect_accel(sm, LS_ACCEL_SP,
                     "FADD FADD32I FCHK FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD");
        expect_accel(sm, LS_ACCEL_SP, "HMUL2"); /* not halved */
        expect_accel(sm, LS_ACCEL_HALF, "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2_32I HSET2 HSETP2");
        expect_accel(sm, LS_ACCEL_SFU, "MUFU");
        expect_accel(sm, LS_ACCEL_DP, "DADD DFMA DMUL DSETP");
        expect_accel(sm, LS_ACCEL_INTP,
                     "BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I");
        expect_accel(sm, LS_ACCEL_INTP,
                     "ISCADD ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR VABSDIFF "
                     "VABSDIFF4");
        expect_accel(sm, LS_ACCEL_ALU,
                     "F2F F2I I2F I2I I2IP FRND MOV MOV32I PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P");
        expect_accel(sm, LS_ACCEL_ALU,
                     "LDC MATCH QSPC CCTL CCTLL ERRBAR DEPBAR S2R CS2R B2R NOP VOTE LEPC PMTRIG");
        expect_accel(sm, LS_ACCEL_LOAD, "LD LDG LDL LDS ATOM ATOMG RED");
        expect_accel(sm, LS_ACCEL_STORE, "ST STG STL STS ATOMS");
        expect_accel(sm, LS_ACCEL_SPEC_1,
                     "BMOV BPT BRA BREAK BRX BSSY BSYNC CALL JMP JMX NANOSLEEP RET RPCMOV RTT");
        expect_accel(sm, LS_ACCEL_SPEC_1, "WARPSYNC YIELD");
        expect_accel(sm, LS_ACCEL_SPEC_2, "TEX TLD TLD4 TMML TXD TXQ");
        expect_accel(sm, LS_ACCEL_SPEC_3, "HMMA");
        expect_accel(sm, LS_ACCEL_BARRIER, "BAR");
        expect_accel(sm, LS_ACCEL_MEMBAR, "MEMBAR");
        expect_accel(sm, LS_ACCEL_EXIT, "EXIT");
    }
    expect_accel(70, LS_ACCEL_SPEC_1, "KILL");
    expect_accel(75, LS_ACCEL_SPEC_3, "KILL BMMA IMMA");
    expect_accel(80, LS_ACCEL_SPEC_3, "KILL BMMA IMMA DMMA");
    expect_accel(70, LS_ACCEL_INTP, "IMMA");
    expect_accel(80, LS_ACCEL_SP, "HMNMX2");
    expect_accel(80, LS_ACCEL_ALU, "F2FP I2FP F2IP MOVM LDGDEPBAR SULD SUST SUATOM SURED");
    expect_accel(80, LS_ACCEL_LOAD, "LDSM LDGSTS");
    expect_accel(80, LS_ACCEL_SPEC_4,
                 "R2UR S2UR VOTEU REDUX ULDC UMOV UIADD3 UIMAD UISETP ULEA ULOP3 USHF UPRMT USEL");
}

/* The class that an imported platform gives a latency to. */
static void test_class_in_accelsim(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        ls_inst_class own, theirs;
    } cases[] = {
        { "S2UR", LS_CLASS_special_reg, LS_CLASS_uniform },
        { "S2R", LS_CLASS_special_reg, LS_CLASS_special_reg },
        { "VOTEU.ANY", LS_CLASS_vote, LS_CLASS_uniform },
        { "VOTE.ANY", LS_CLASS_vote, LS_CLASS_vote },
        { "REDUX.SUM", LS_CLASS_vote, LS_CLASS_uniform },
        { "HMNMX2", LS_CLASS_half, LS_CLASS_fp32 },
        { "HFMA2", LS_CLASS_half, LS_CLASS_half },
        { "HMUL2", LS_CLASS_half_mul, LS_CLASS_fp32 },
        { "FFMA", LS_CLASS_fp32, LS_CLASS_fp32 },
        { "LDG.E", LS_CLASS_load, LS_CLASS_load },
        { "UIADD3", LS_CLASS_uniform, LS_CLASS_uniform },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_inst inst = decode(80, cases[i].opcode, 1, 1, 0);
        assert_int_equal(inst.class_, cases[i].own);
        assert_int_equal(sass_class_in_accelsim(&inst), cases[i].theirs);
    }
}

static void test_accel_old(void **state)
{
    (void)state;
    expect_accel(61, LS_ACCEL_INTP, "XMAD IADD ISCADD BFE");
    expect_accel(61, LS_ACCEL_BRANCH, "BRA SSY SYNC KIL");
    expect_accel(61, LS_ACCEL_CALL, "CAL JCAL BRK CONT PBK PCNT PRET PEXIT");
    expect_accel(61, LS_ACCEL_RET, "RET");
    expect_accel(61, LS_ACCEL_ALU, "TEX TEXS TLDS");
    expect_accel(61, LS_ACCEL_SP, "RRO FCMP");
    expect_accel(35, LS_ACCEL_RET, "SSY PBK BRK RET");
    expect_accel(35, LS_ACCEL_CALL, "CAL JCAL");
    expect_accel(35, LS_ACCEL_LOAD, "SULDGA SUCLAMP");
}

/* --- errors --------------------------------------------------------------------------------------------- */

static void test_unknown(void **state)
{
    (void)state;
    const sass_line line = { .pc = 0x150, .opcode = "FFMAA.FTZ", .opcode_bytes = 9 };
    ls_inst inst;
    ls_error err;
    assert_int_equal(sass_decode(80, &line, false, &inst, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "unknown opcode 'FFMAA.FTZ' of sm_80 at pc 0x150");
    assert_string_equal(err.nearest, "FFMA");
    assert_int_equal(sass_decode(80, &line, true, &inst, &err), LS_OK);
    assert_int_equal(inst.class_, LS_CLASS_int_alu);
    assert_int_equal(inst.flags, LS_INST_UNKNOWN);
    assert_int_equal(inst.opcode, LS_SASS_UNKNOWN);
    assert_int_equal(inst.accel_class, LS_ACCEL_INTP);
    assert_string_equal(sass_opcode_name(inst.opcode), "?");
}

static void test_empty_opcode(void **state)
{
    (void)state;
    static const char *const texts[] = { "", ".", "...", ".E.64" };
    for (size_t i = 0; i < LS_COUNT_OF(texts); i++) {
        const sass_line line = { .opcode = texts[i], .opcode_bytes = strlen(texts[i]) };
        ls_inst inst;
        assert_int_equal(sass_decode(80, &line, false, &inst, NULL), LS_ERR_UNSUPPORTED);
    }
}

static void test_foreign(void **state)
{
    (void)state;
    assert_int_equal(decode(80, "XMAD.MRG", 1, 3, 0).flags, LS_INST_FOREIGN);
    assert_int_equal(decode(61, "XMAD.MRG", 1, 3, 0).flags, 0);
    assert_int_equal(decode(80, "HGMMA.64x64x16.F32", 1, 0, 0).flags & 0xffff,
                     LS_INST_FOREIGN | LS_INST_WARP_GROUP);
    assert_int_equal(decode(86, "RED.E.ADD", 0, 2, 4).flags, LS_INST_BYPASS_L1 | LS_INST_ACCEL_BYPASS);
}

static void test_versions(void **state)
{
    (void)state;
    static const struct {
        uint32_t sm;
        sass_generation generation;
    } known[] = {
        { 35, LS_SASS_KEPLER },     { 37, LS_SASS_KEPLER },     { 50, LS_SASS_MAXWELL },
        { 61, LS_SASS_MAXWELL },    { 70, LS_SASS_VOLTA },      { 72, LS_SASS_VOLTA },
        { 75, LS_SASS_TURING },     { 80, LS_SASS_AMPERE },     { 86, LS_SASS_AMPERE },
        { 87, LS_SASS_AMPERE },     { 89, LS_SASS_ADA },        { 90, LS_SASS_HOPPER },
        { 100, LS_SASS_BLACKWELL }, { 103, LS_SASS_BLACKWELL }, { 120, LS_SASS_BLACKWELL },
    };
    static const uint32_t unknown[] = { 0, 10, 20, 40, 63, 73, 79, 91, 99, 122, 1000 };
    sass_generation generation;
    for (size_t i = 0; i < LS_COUNT_OF(known); i++) {
        assert_true(sass_generation_of(known[i].sm, &generation));
        assert_int_equal(generation, known[i].generation);
    }
    for (size_t i = 0; i < LS_COUNT_OF(unknown); i++)
        assert_false(sass_generation_of(unknown[i], &generation));
    const sass_line line = { .opcode = "NOP", .opcode_bytes = 3 };
    ls_inst inst;
    ls_error err;
    assert_int_equal(sass_decode(20, &line, false, &inst, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "binary version 20 is no architecture that is known");
}

static void test_too_many_registers(void **state)
{
    (void)state;
    const uint16_t regs[9] = { 0 };
    const sass_line line = { .opcode = "NOP", .opcode_bytes = 3, .dsts = regs, .srcs = regs, .src_count = 9 };
    ls_inst inst;
    ls_error err;
    assert_int_equal(sass_decode(80, &line, false, &inst, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "0 destination and 9 source registers: at most 4 and 8 are possible");
}

/* --- the table ------------------------------------------------------------------------------------------ */

/* Every row is found by its name, exists somewhere, and has a class of Accel-Sim's everywhere. */
static void test_rows(void **state)
{
    (void)state;
    assert_in_range(sass_opcode_count(), 340, 1000);
    for (size_t row = 0; row < sass_opcode_count(); row++) {
        const char *name = sass_opcode_name(row);
        bool listed = false;
        assert_int_equal(sass_opcode_find(name, strlen(name)), row);
        for (int g = 0; g < LS_SASS_GENERATION_COUNT; g++) {
            listed |= sass_opcode_listed(row, (sass_generation)g);
            assert_int_not_equal(sass_accel_class(row, (sass_generation)g), LS_ACCEL_NONE);
        }
        assert_true(listed);
    }
    assert_int_equal(sass_opcode_find("LD", 2), sass_opcode_find("LDG", 2));
    assert_int_equal(sass_opcode_find("ld", 2), LS_SASS_UNKNOWN);
    assert_int_equal(sass_accel_class(99999, LS_SASS_VOLTA), LS_ACCEL_NONE);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(accel_class_name(LS_ACCEL_SPEC_3), "SPECIALIZED_UNIT_3_OP");
    assert_string_equal(accel_class_name(LS_ACCEL_CLASS_COUNT), "?");
    assert_string_equal(sass_generation_name(LS_SASS_HOPPER), "Hopper");
    assert_string_equal(sass_generation_name(LS_SASS_GENERATION_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_flags),         cmocka_unit_test(test_no_silent_effects),
        cmocka_unit_test(test_widths),        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_span_limits),   cmocka_unit_test(test_predicates_last),
        cmocka_unit_test(test_accel_classes), cmocka_unit_test(test_class_in_accelsim),
        cmocka_unit_test(test_accel_old),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_empty_opcode),  cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_versions),      cmocka_unit_test(test_too_many_registers),
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
