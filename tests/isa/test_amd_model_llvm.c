/* test_amd_model_llvm.c: LLVM's constant folder as a second opinion. Its results of intrinsics that stand for
 * one vector instruction each must equal the executor's. Needs clang-15. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd_exec.h"

#include <stdio.h>
#include <unistd.h>

/* The kind of a row's operands: integers, finite numbers, numbers and quiet NaNs, amounts up to 70. */
typedef enum operand { NONE, INTEGER, FINITE, NUMBER, AMOUNT } operand;

/* `call` is the expression in LLVM's language; %a, %b, %c are its operands: i32, or float where they are numbers. */
static const struct row {
    amd_op op;
    const char *result; /* its type */
    const char *call;
    operand operands[3];
    unsigned near; /* steps that it may be off */
} rows[] = {
    { AMD_V_BFE_I32,
      "i32",
      "call i32 @llvm.amdgcn.sbfe.i32(i32 %a, i32 %b, i32 %c)",
      { INTEGER, AMOUNT, AMOUNT },
      0 },
    { AMD_V_BFE_U32,
      "i32",
      "call i32 @llvm.amdgcn.ubfe.i32(i32 %a, i32 %b, i32 %c)",
      { INTEGER, AMOUNT, AMOUNT },
      0 },
    { AMD_V_ALIGNBIT_B32,
      "i32",
      "call i32 @llvm.fshr.i32(i32 %a, i32 %b, i32 %c)",
      { INTEGER, INTEGER, AMOUNT },
      0 },
    { AMD_V_PERM_B32,
      "i32",
      "call i32 @llvm.amdgcn.perm(i32 %a, i32 %b, i32 %c)",
      { INTEGER, INTEGER, INTEGER },
      0 },
    { AMD_V_BFREV_B32, "i32", "call i32 @llvm.bitreverse.i32(i32 %a)", { INTEGER }, 0 },
    { AMD_V_MUL_LO_U32, "i32", "mul i32 %a, %b", { INTEGER, INTEGER }, 0 },
    { AMD_V_MIN_I32, "i32", "call i32 @llvm.smin.i32(i32 %a, i32 %b)", { INTEGER, INTEGER }, 0 },
    { AMD_V_MAX_U32, "i32", "call i32 @llvm.umax.i32(i32 %a, i32 %b)", { INTEGER, INTEGER }, 0 },
    { AMD_V_ADD_F32, "float", "fadd float %a, %b", { FINITE, FINITE }, 0 },
    { AMD_V_SUB_F32, "float", "fsub float %a, %b", { FINITE, FINITE }, 0 },
    { AMD_V_MUL_F32, "float", "fmul float %a, %b", { FINITE, FINITE }, 0 },
    { AMD_V_FMA_F32,
      "float",
      "call float @llvm.fma.f32(float %a, float %b, float %c)",
      { FINITE, FINITE, FINITE },
      0 },
    { AMD_V_MIN_F32, "float", "call float @llvm.minnum.f32(float %a, float %b)", { NUMBER, FINITE }, 0 },
    { AMD_V_MAX_F32, "float", "call float @llvm.maxnum.f32(float %a, float %b)", { NUMBER, FINITE }, 0 },
    { AMD_V_MED3_F32,
      "float",
      "call float @llvm.amdgcn.fmed3.f32(float %a, float %b, float %c)",
      { FINITE, FINITE, FINITE },
      0 },
    { AMD_V_MUL_LEGACY_F32,
      "float",
      "call float @llvm.amdgcn.fmul.legacy(float %a, float %b)",
      { FINITE, FINITE },
      0 },
    { AMD_V_FRACT_F32, "float", "call float @llvm.amdgcn.fract.f32(float %a)", { FINITE }, 0 },
    { AMD_V_TRUNC_F32, "float", "call float @llvm.trunc.f32(float %a)", { FINITE }, 0 },
    { AMD_V_CEIL_F32, "float", "call float @llvm.ceil.f32(float %a)", { FINITE }, 0 },
    { AMD_V_FLOOR_F32, "float", "call float @llvm.floor.f32(float %a)", { FINITE }, 0 },
    { AMD_V_RNDNE_F32, "float", "call float @llvm.rint.f32(float %a)", { FINITE }, 0 },
    { AMD_V_FREXP_MANT_F32, "float", "call float @llvm.amdgcn.frexp.mant.f32(float %a)", { NUMBER }, 0 },
    { AMD_V_FREXP_EXP_I32_F32, "i32", "call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %a)", { NUMBER }, 0 },
    { AMD_V_LDEXP_F32, "float", "call float @llvm.amdgcn.ldexp.f32(float %a, i32 %b)", { FINITE, AMOUNT }, 0 },
    { AMD_V_CUBEID_F32,
      "float",
      "call float @llvm.amdgcn.cubeid(float %a, float %b, float %c)",
      { FINITE, FINITE, FINITE },
      0 },
    { AMD_V_CUBEMA_F32,
      "float",
      "call float @llvm.amdgcn.cubema(float %a, float %b, float %c)",
      { FINITE, FINITE, FINITE },
      0 },
    { AMD_V_CUBESC_F32,
      "float",
      "call float @llvm.amdgcn.cubesc(float %a, float %b, float %c)",
      { FINITE, FINITE, FINITE },
      0 },
    { AMD_V_CUBETC_F32,
      "float",
      "call float @llvm.amdgcn.cubetc(float %a, float %b, float %c)",
      { FINITE, FINITE, FINITE },
      0 },
    { AMD_V_CVT_F32_I32, "float", "sitofp i32 %a to float", { INTEGER }, 0 },
    { AMD_V_CVT_F32_U32, "float", "uitofp i32 %a to float", { INTEGER }, 0 },
    { AMD_V_CVT_I32_F32, "i32", "call i32 @llvm.fptosi.sat.i32.f32(float %a)", { NUMBER }, 0 },
    { AMD_V_CVT_U32_F32, "i32", "call i32 @llvm.fptoui.sat.i32.f32(float %a)", { NUMBER }, 0 },
    { AMD_V_CVT_PKRTZ_F16_F32,
      "<2 x half>",
      "call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %a, float %b)",
      { FINITE, FINITE },
      0 },
    { AMD_V_RCP_F32, "float", "call float @llvm.amdgcn.rcp.f32(float %a)", { FINITE }, 1 },
};
enum { ROWS = sizeof rows / sizeof *rows, CASES = 24 };

static uint32_t sources[ROWS][CASES][3];

static uint32_t value(operand kind, uint64_t *seed)
{
    static const uint32_t integers[] = { 0,      1,          2,          0x7f,       0x8000,
                                         0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, UINT32_MAX };
    static const uint32_t singles[] = {
        0,          0x80000000, 1,          0x807fffff, 0x800000,   0x3f800000,
        0xbf800000, 0x3effffff, 0x3f7fffff, 0x40200000, 0x4b000001, 0xcf000000,
        0x4f7fffff, 0x7f7fffff, 0xff7fffff, 0x477ff000, 0x33000001, 0xc0490fdb
    };
    uint32_t r = next_random(seed), x = next_random(seed);
    switch (kind) {
    case INTEGER:
        return r & 1 ? integers[x % 10] : x;
    case AMOUNT:
        return x % 70;
    case NUMBER:
        if (r % 8 == 0)
            return r & 8 ? 0x7f800000 : r & 16 ? 0xff800000 : 0x7fc00000;
        /* fall through */
    case FINITE:
        return r & 1 ? singles[x % 18] : (x & 0x807fffff) | (100 + x % 55) << 23;
    default:
        return 0;
    }
}

/* An intrinsic's declaration is its call without names. */
static void declare(FILE *out, const struct row *row)
{
    const char *at = strchr(row->call, '@');
    if (!at)
        return;
    fputs("declare ", out);
    for (const char *c = row->call + strlen("call "); *c; c++) {
        if (*c == '%')
            c++; /* and the letter */
        else
            fputc(*c, out);
    }
    fputc('\n', out);
}

static void write_program(FILE *out)
{
    uint64_t seed = 9;
    fputs("target triple = \"amdgcn-amd-amdhsa\"\n", out);
    for (unsigned r = 0; r < ROWS; r++)
        declare(out, &rows[r]);
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned n = 0; n < CASES; n++) {
            fprintf(out, "define i32 @f%u() {\n", r * CASES + n);
            for (unsigned k = 0; k < 3 && rows[r].operands[k]; k++) {
                uint32_t x = sources[r][n][k] = value(rows[r].operands[k], &seed);
                bool number = rows[r].operands[k] == FINITE || rows[r].operands[k] == NUMBER;
                fprintf(out, "  %%%c = bitcast i32 %d to %s\n", 'a' + (char)k, (int32_t)x,
                        number ? "float" : "i32");
            }
            fprintf(out, "  %%r = %s\n  %%o = bitcast %s %%r to i32\n  ret i32 %%o\n}\n", rows[r].call,
                    rows[r].result);
        }
}

static void check_case(rig *g, unsigned r, unsigned n, uint32_t folded, unsigned *wrong)
{
    const uint32_t *s = sources[r][n];
    uint32_t got = rig_op(g, rows[r].op, s[0], s[1], s[2]), off = got > folded ? got - folded : folded - got;
    if (rows[r].near && ((s[0] & 0x7f800000) == 0 || (folded & 0x7f800000) == 0))
        return; /* denormals are flushed there */
    if (off <= rows[r].near)
        return;
    print_message("%s(%x, %x, %x): %x, but LLVM folds it to %x\n", amd_op_name(rows[r].op), s[0], s[1], s[2],
                  got, folded);
    ++*wrong;
}

static void folds(void **state)
{
    (void)state;
    char path[] = LS_BINARY_DIR "/tests/fold-XXXXXX", command[1024], line[512];
    if (system("command -v clang-15 >/dev/null 2>&1") != 0) {
        print_message("clang-15 is not there\n");
        skip();
    }
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    write_program(file);
    fclose(file);
    snprintf(command, sizeof command,
             "clang-15 -x ir -O1 -S -emit-llvm -target amdgcn-amd-amdhsa -nogpulib -o - %s", path);
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    static rig g;
    rig_init(&g, AMD_GFX1030, 64);
    unsigned function = UINT32_MAX, folded[ROWS] = { 0 }, wrong = 0;
    while (fgets(line, sizeof line, answers)) {
        int x;
        sscanf(line, "define i32 @f%u(", &function);
        if (function < ROWS * CASES && sscanf(line, " ret i32 %d", &x) == 1) {
            folded[function / CASES]++;
            check_case(&g, function / CASES, function % CASES, (uint32_t)x, &wrong);
        }
    }
    assert_int_equal(pclose(answers), 0);
    unlink(path);
    assert_int_equal(wrong, 0);
    for (unsigned r = 0; r < ROWS; r++)
        if (folded[r] < CASES / 2)
            fail_msg("%s: LLVM folded %u of %d cases only", amd_op_name(rows[r].op), folded[r], CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(folds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
