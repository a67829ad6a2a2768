/* cmd_amd_coverage.c: `lockstep amd coverage`: which operations a target has, in which encodings, and
 * which of them can be executed. */
#include "cli/cmd_amd.h"

#include "isa/amd/exec/wave.h"
#include "isa/amd/tables.h"

#include <string.h>

static const char *const targets[] = { "gfx803", "gfx1010", "gfx1030", "gfx90a", "gfx942", NULL };

typedef enum coverage { COVERAGE_ABSENT, COVERAGE_DECODED, COVERAGE_EXECUTABLE, COVERAGE_COUNT } coverage;

static coverage coverage_of(amd_target target, amd_op op)
{
    if (!amd_op_exists(target, op))
        return COVERAGE_ABSENT;
    return amd_exec_has(target, op) ? COVERAGE_EXECUTABLE : COVERAGE_DECODED;
}

/* "VOP2+VOP3+SDWA+DPP": the encodings that some chosen target has. */
static void encodings(unsigned chosen, amd_op op, text_buffer *text)
{
    unsigned seen = 0, flags = 0;
    text_clear(text);
    for (size_t i = 0; i < amd_table_row_count(); i++) {
        const amd_row *row = &amd_table_rows[i];
        bool there = false;
        for (unsigned t = 0; t < AMD_TARGET_COUNT; t++)
            there = there || (chosen >> t & 1 && row->opcode[t] != AMD_NO_OPCODE);
        if (row->op != op || !there)
            continue;
        if (!(seen >> row->format & 1))
            text_printf(text, "%s%s", seen ? "+" : "", amd_format_name((amd_format)row->format));
        seen |= 1u << row->format;
        if (row->format == AMD_VOP1 || row->format == AMD_VOP2 || row->format == AMD_VOPC)
            flags |= row->flags;
    }
    if (flags & AMD_ROW_E64 && !(seen >> AMD_VOP3 & 1))
        text_add(text, "+VOP3");
    if (flags & AMD_ROW_SDWA)
        text_add(text, "+SDWA");
    if (flags & AMD_ROW_DPP)
        text_add(text, "+DPP");
}

static amd_class class_of(amd_op op)
{
    for (size_t i = 0; i < amd_table_row_count(); i++)
        if (amd_table_rows[i].op == op)
            return (amd_class)amd_table_rows[i].class_;
    return AMD_CLASS_INTERNAL;
}

static ls_status run_coverage(cli_context *ctx, ls_error *err)
{
    static const char *const words[COVERAGE_COUNT] = { "-", "decoded", "executable" };
    bool csv = cli_flag(ctx, "csv"), missing = cli_flag(ctx, "missing");
    unsigned chosen =
        cli_given(ctx, "target") ? 1u << cli_choice(ctx, "target") : (1u << AMD_TARGET_COUNT) - 1;
    unsigned counts[AMD_TARGET_COUNT][COVERAGE_COUNT] = { 0 };
    text_buffer text = { 0 };
    const char *separator = csv ? "," : "  ";

    fprintf(ctx->out, csv ? "%s,%s,%s" : "%-32s  %-24s  %-8s", "operation", "encodings", "class");
    for (unsigned t = 0; t < AMD_TARGET_COUNT; t++)
        if (chosen >> t & 1)
            fprintf(ctx->out, csv ? "%s%s" : "%s%-10s", separator, amd_target_name((amd_target)t));
    fputc('\n', ctx->out);
    for (unsigned op = 1; op < AMD_OP_COUNT; op++) {
        coverage of[AMD_TARGET_COUNT];
        bool exists = false, lacks = false;
        for (unsigned t = 0; t < AMD_TARGET_COUNT; t++) {
            of[t] = coverage_of((amd_target)t, (amd_op)op);
            counts[t][of[t]]++;
            exists = exists || (chosen >> t & 1 && of[t] != COVERAGE_ABSENT);
            lacks = lacks || (chosen >> t & 1 && of[t] == COVERAGE_DECODED);
        }
        if (!exists || (missing && !lacks))
            continue;
        encodings(chosen, (amd_op)op, &text);
        fprintf(ctx->out, csv ? "%s,%s,%s" : "%-32s  %-24s  %-8s", amd_op_name((amd_op)op), text_get(&text),
                amd_class_name(class_of((amd_op)op)));
        for (unsigned t = 0; t < AMD_TARGET_COUNT; t++)
            if (chosen >> t & 1)
                fprintf(ctx->out, csv ? "%s%s" : "%s%-10s", separator, words[of[t]]);
        fputc('\n', ctx->out);
    }
    for (unsigned t = 0; t < AMD_TARGET_COUNT && !csv; t++)
        if (chosen >> t & 1)
            fprintf(ctx->out, "%s: %u operations decoded, %u executable, %u missing\n",
                    amd_target_name((amd_target)t),
                    counts[t][COVERAGE_DECODED] + counts[t][COVERAGE_EXECUTABLE],
                    counts[t][COVERAGE_EXECUTABLE], counts[t][COVERAGE_DECODED]);
    bool failed = text.failed;
    text_fini(&text);
    return failed ? ls_fail(err, LS_ERR_NOMEM, "no memory left") : LS_OK;
}

/* -------------------------------------------------------------------------------------------- the command */

static const cli_option options[] = {
    { .name = "target", .arg = "TARGET", .type = CLI_CHOICE, .choices = targets, .help = "only this one" },
    { .name = "missing",
      .type = CLI_FLAG,
      .help = "only instructions that are decoded but cannot be executed" },
    { .name = "csv", .type = CLI_FLAG, .help = "comma separated, without the totals" },
};

static const cli_example examples[] = {
    { "lockstep amd coverage --target gfx1030 --missing",
      "instructions that a kernel for gfx1030 must not use" },
};

const cli_command cmd_amd_coverage = {
    .name = "coverage",
    .summary = "list the instructions that are decoded and executed",
    .about =
        "Every operation that LLVM 15 knows for the targets is decoded. A kernel that uses one that cannot be "
        "executed is refused before it runs.",
    CLI_OPTIONS(options),
    CLI_EXAMPLES(examples),
    .run = run_coverage,
};
