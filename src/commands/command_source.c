/* command_source.c: counts per instruction of a launch of an AMD program: the text of instructions by our disassembler,
 * their source lines from DWARF, and the text of these lines if the file can be read. */
#include "base/file.h"
#include "commands/command_log.h"
#include "isa/amd/print.h"
#include "isa/inst_counts.h"
#include "report/source.h"
#include "workload/hsa/lines.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 512
#define SOURCE_LIMIT (16u << 20)

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for counts of instructions");
}

/* The text of one line of the file, without the space around it; NULL: there is none. */
static const char *line_text(mem_arena *arena, const char *text, uint32_t line)
{
    for (uint32_t at = 1; *text && at < line; at++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    text += strspn(text, " \t");
    size_t bytes = strcspn(text, "\r\n");
    while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
        bytes--;
    char *copy = bytes > 0 ? arena_alloc(arena, bytes + 1) : NULL;
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
}

static bool has_line(const source_book *book, const char *file, uint32_t line)
{
    for (size_t i = 0; i < book->lines.count; i++)
        if (book->lines.at[i].line == line && strcmp(book->lines.at[i].file, file) == 0)
            return true;
    return false;
}

/* Each line once, file by file. A file that cannot be read has no text. */
static ls_status add_lines(source_book *book, const inst_counted *insts, size_t count, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t first = 0; first < count && status == LS_OK; first++) {
        const char *file = insts[first].file;
        bool again = file == NULL;
        for (size_t i = 0; i < first && !again; i++)
            again = insts[i].file != NULL && strcmp(insts[i].file, file) == 0;
        mem_arena arena = { 0 };
        char *data = NULL;
        size_t bytes;
        if (!again && file_exists(file))
            (void)file_read(&arena, file, SOURCE_LIMIT, &data, &bytes, NULL);
        for (size_t i = first; data && i < count && status == LS_OK; i++) {
            const char *text = NULL;
            if (insts[i].file && strcmp(insts[i].file, file) == 0 && !has_line(book, file, insts[i].line))
                text = line_text(&arena, data, insts[i].line);
            if (text)
                status = source_add_line(book, file, insts[i].line, text, err);
        }
        arena_fini(&arena);
    }
    return status;
}

static uint64_t pc_of(const amd_program *program, size_t op)
{
    return program->ops[op].next - program->ops[op].inst->bytes;
}

/* Text and lines; not for a kernel that the book has from an earlier launch. */
static ls_status describe(const timing_record *r, mem_arena *arena, inst_counted *insts, size_t count,
                          hsa_lines *lines, ls_error *err)
{
    const amd_program *program = r->program;
    for (size_t i = 0; i < count; i++) {
        char text[TEXT_BYTES];
        hsa_place place;
        uint64_t pc = pc_of(program, i + 1);
        amd_print(program->kernel.target, program->lanes, program->ops[i + 1].inst, text, sizeof text);
        insts[i].text = arena_strdup(arena, text);
        if (!insts[i].text)
            return no_memory(err);
        if (lines && hsa_lines_find(lines, pc - r->base, &place)) {
            insts[i].file = place.file;
            insts[i].line = place.line;
        }
    }
    return LS_OK;
}

ls_status command_source_add(source_book *book, const timing_record *r, ls_error *err)
{
    const amd_program *program = r->program;
    size_t count = program->op_count;
    inst_counted *insts = calloc(count + 1, sizeof *insts);
    mem_arena arena = { 0 };
    hsa_lines *lines = NULL;
    ls_status status = insts ? LS_OK : no_memory(err);
    bool is_new = !source_has(book, r->kernel);
    for (size_t i = 0; insts && i < count; i++) {
        uint64_t pc = pc_of(program, i + 1), entry = program->kernel.entry;
        insts[i] =
            (inst_counted){ .pc = pc >= entry ? pc - entry : pc, /* functions may stand before the kernel */
                            .n = inst_counts_sum(r->counts, (uint32_t)i + 1) };
    }
    if (status == LS_OK && is_new && r->object && hsa_lines_read(r->object, &lines, &(ls_error){ 0 }) != LS_OK)
        lines = NULL;
    if (status == LS_OK && is_new)
        status = describe(r, &arena, insts, count, lines, err);
    if (status == LS_OK)
        status = source_add(book, r->kernel, 1, insts, count, err);
    if (status == LS_OK && lines)
        status = add_lines(book, insts, count, err);
    hsa_lines_destroy(lines);
    arena_fini(&arena);
    free(insts);
    return status;
}
