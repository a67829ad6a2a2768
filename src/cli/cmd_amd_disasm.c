/* cmd_amd_disasm.c: `lockstep amd disasm`: code objects, or single instructions in hexadecimal, as text. */
#include "cli/cmd_amd.h"

#include "base/file.h"
#include "workload/hsa/hsa.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 512
#define HEX_LIMIT (64u << 20) /* bytes of a file of instructions */
#define HEADER_BYTES 256      /* amd_kernel_code_t, which version 2 puts before the code */

static const char *const targets[] = { "gfx803", "gfx1010", "gfx1030", "gfx90a", "gfx942", NULL };

/* --------------------------------------------------------------------------------------- a code object */

typedef struct disasm_run {
    FILE *out;
    const hsa_object *object;
    unsigned lanes;
    bool offsets;             /* pcs from the kernel's begin */
    const hsa_kernel *kernel; /* the last one that began; NULL: none */
    uint64_t unknown;         /* words that are no instruction */
    uint64_t first_unknown;
} disasm_run;

static const hsa_kernel *kernel_at(const hsa_object *object, uint64_t address, bool descriptor)
{
    for (size_t i = 0; i < object->kernel_count; i++)
        if ((descriptor ? object->kernels[i].descriptor : object->kernels[i].entry) == address)
            return &object->kernels[i];
    return NULL;
}

/* One line: the text, its address, its words; as llvm-objdump writes them. Returns its bytes. */
static unsigned print_line(disasm_run *run, uint64_t address, uint64_t end)
{
    const uint8_t *bytes = run->object->image + address;
    char text[TEXT_BYTES];
    amd_inst inst;
    if (amd_decode(run->object->target, run->lanes, bytes, (size_t)(end - address), &inst)) {
        amd_print(run->object->target, run->lanes, &inst, text, sizeof text);
    } else {
        snprintf(text, sizeof text, "<unknown>");
        if (run->unknown++ == 0)
            run->first_unknown = address;
    }
    if (run->offsets && run->kernel)
        fprintf(run->out, "\t%-59s// %s+0x%" PRIx64 ":", text, run->kernel->name,
                address - run->kernel->entry);
    else
        fprintf(run->out, "\t%-59s// %012" PRIX64 ":", text, address);
    for (unsigned i = 0; i + 4 <= inst.bytes; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        fprintf(run->out, " %08" PRIX32, word);
    }
    fputc('\n', run->out);
    return inst.bytes;
}

static void print_range(disasm_run *run, uint64_t begin, uint64_t end)
{
    const hsa_object *object = run->object;
    for (uint64_t at = begin; at < end;) {
        if (object->version == 2 && kernel_at(object, at, true)) {
            at += HEADER_BYTES;
            continue;
        }
        const hsa_kernel *kernel = kernel_at(object, at, false);
        if (kernel) {
            run->lanes = kernel->wave_size;
            run->kernel = kernel;
            fprintf(run->out, "%s%016" PRIx64 " <%s>:\n", at == begin ? "" : "\n", at, kernel->name);
        }
        at += print_line(run, at, end);
    }
}

static ls_status disassemble(cli_context *ctx, const hsa_object *object, ls_error *err)
{
    disasm_run run = { .out = ctx->out,
                       .object = object,
                       .offsets = cli_flag(ctx, "offsets"),
                       .lanes = amd_target_is_gfx10(object->target) ? 32 : 64 };
    const char *name = cli_text(ctx, "kernel");
    if (object->kernel_count > 0)
        run.lanes = object->kernels[0].wave_size;
    if (name) {
        const hsa_kernel *kernel = hsa_object_find(object, name);
        if (!kernel) {
            ls_fail(err, LS_ERR_USAGE, "no kernel %s", name);
            return ls_error_nearest(err, hsa_object_nearest(object, name));
        }
        uint64_t bytes = kernel->code_bytes ? kernel->code_bytes : object->image_bytes - kernel->entry;
        print_range(&run, kernel->entry, kernel->entry + bytes);
    } else {
        for (size_t i = 0; i < object->segment_count; i++)
            if (object->segments[i].executable)
                print_range(&run, object->segments[i].address,
                            object->segments[i].address + object->segments[i].bytes);
    }
    if (run.unknown == 0)
        return LS_OK;
    uint32_t word = 0;
    memcpy(&word, object->image + run.first_unknown, sizeof word);
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "%" PRIu64 " words are no instruction of %s, the first %08" PRIx32 " at 0x%" PRIx64,
                   run.unknown, object->target_name, word, run.first_unknown);
}

static ls_status run_object(cli_context *ctx, const char *path, ls_error *err)
{
    char *data;
    size_t bytes;
    ls_status status = file_read(ctx->arena, path, HSA_FILE_LIMIT, &data, &bytes, err);
    if (status != LS_OK)
        return status;
    const char *target = cli_given(ctx, "target") ? targets[cli_choice(ctx, "target")] : NULL;
    const void *plain, *elf;
    size_t plain_bytes, elf_bytes;
    hsa_object *object;
    status = hsa_bundle_unpack(ctx->arena, data, bytes, &plain, &plain_bytes, err);
    if (status == LS_OK)
        status = hsa_bundle_pick(plain, plain_bytes, target, &elf, &elf_bytes, err);
    if (status == LS_OK)
        status = hsa_object_read(elf, elf_bytes, &object, err);
    if (status != LS_OK)
        return ls_error_at(err, path, 0, 0);
    if (object->has_target)
        status = disassemble(ctx, object, err);
    else
        status = ls_fail(err, LS_ERR_UNSUPPORTED, "no instruction set for %s", object->target_name);
    if (status != LS_OK)
        ls_error_at(err, path, 0, 0);
    hsa_object_destroy(object);
    return status;
}

/* ------------------------------------------------------------------------------- instructions as text */

/* Reads pairs of hexadecimal digits, with or without spaces and "0x"; returns how many bytes, or -1. */
static int read_bytes(const char *line, const char *end, uint8_t *bytes, unsigned capacity)
{
    unsigned count = 0;
    while (line < end) {
        if (isspace((unsigned char)*line) || *line == ',') {
            line++;
        } else if (end - line > 2 && line[0] == '0' && line[1] == 'x') {
            line += 2;
        } else if (end - line >= 2 && isxdigit((unsigned char)line[0]) && isxdigit((unsigned char)line[1])) {
            char digits[3] = { line[0], line[1], '\0' };
            if (count == capacity)
                return -1;
            bytes[count++] = (uint8_t)strtoul(digits, NULL, 16);
            line += 2;
        } else {
            return -1;
        }
    }
    return (int)count;
}

static ls_status run_hex(cli_context *ctx, const char *path, ls_error *err)
{
    char *data;
    size_t bytes;
    if (!cli_given(ctx, "target"))
        return ls_fail(err, LS_ERR_USAGE, "--hex needs --target");
    amd_target target = (amd_target)cli_choice(ctx, "target");
    unsigned lanes = amd_target_is_gfx10(target) && !cli_flag(ctx, "wave64") ? 32 : 64;
    ls_status status = file_read(ctx->arena, path, HEX_LIMIT, &data, &bytes, err);
    if (status != LS_OK)
        return status;
    uint64_t number = 0;
    for (const char *line = data, *end; line < data + bytes; line = end + 1) {
        end = memchr(line, '\n', (size_t)(data + bytes - line));
        if (!end)
            end = data + bytes;
        uint8_t code[32];
        char text[TEXT_BYTES] = "<unknown>";
        amd_inst inst;
        number++;
        int count = read_bytes(line, end, code, sizeof code);
        if (count < 0) {
            ls_fail(err, LS_ERR_INPUT, "not the bytes of one instruction in hexadecimal");
            return ls_error_at(err, path, number, 0);
        }
        if (amd_decode(target, lanes, code, (size_t)count, &inst))
            amd_print(target, lanes, &inst, text, sizeof text);
        else
            inst.bytes = 0;
        fprintf(ctx->out, "%u\t%s\n", inst.bytes, text);
    }
    return LS_OK;
}

static ls_status run_disasm(cli_context *ctx, ls_error *err)
{
    const char *path = ctx->positionals[0];
    return cli_flag(ctx, "hex") ? run_hex(ctx, path, err) : run_object(ctx, path, err);
}

/* -------------------------------------------------------------------------------------------- the command */

static const cli_option options[] = {
    { .name = "kernel", .letter = 'k', .arg = "NAME", .type = CLI_TEXT, .help = "only this one" },
    { .name = "offsets",
      .type = CLI_FLAG,
      .help = "show each pc as KERNEL+0x40, as faults, traces and the debugger do" },
    { .name = "hex",
      .type = CLI_FLAG,
      .help = "FILE has the bytes of one instruction per line; prints their number used and the text" },
    { .name = "target",
      .arg = "TARGET",
      .type = CLI_CHOICE,
      .choices = targets,
      .help = "which code object of an offload bundle; for --hex: whose instructions" },
    { .name = "wave64", .type = CLI_FLAG, .help = "for --hex on gfx10: masks of 64 lanes" },
};

static const cli_positional positionals[] = {
    { .name = "FILE",
      .complete = CLI_COMPLETE_FILE,
      .help = "code object, offload bundle, or text with --hex" },
};

static const cli_example examples[] = {
    { "lockstep amd disasm fir.co", "all code, each instruction with its address and words" },
    { "lockstep amd disasm --kernel fir fir.co", "one kernel" },
};

const cli_command cmd_amd_disasm = {
    .name = "disasm",
    .summary = "print the instructions of a code object",
    .about =
        "The text is the one that LLVM 15 prints. Words that are no instruction of the target are shown as "
        "<unknown>, and the exit code says that there were some.",
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run_disasm,
};
