/* debug_code.c: instructions and source lines: the cursor, disassemble, list, backtrace. */
#include "debug/debug_impl.h"

#include "base/file.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_LINES 10
#define SOURCE_LIMIT (16u << 20)

uint64_t debug_image_address(const debugger *d, uint64_t pc)
{
    return pc - d->launch->dispatch->origin->module->base;
}

bool debug_place_of(const debugger *d, uint64_t pc, hsa_place *out)
{
    return d->lines && hsa_lines_find(d->lines, debug_image_address(d, pc), out);
}

/* "fir+0x40"; in a function that the kernel calls "square+0x8", if DWARF names it. */
const char *debug_pc_text(const debugger *d, uint64_t pc, char *out, size_t bytes)
{
    hsa_frame frames[32];
    uint64_t image = debug_image_address(d, pc);
    size_t count = d->lines ? hsa_lines_frames(d->lines, image, frames, LS_COUNT_OF(frames)) : 0;
    if (count > 0 && count <= LS_COUNT_OF(frames)) {
        const hsa_frame *outer = &frames[count - 1];
        if (*outer->name && !outer->is_inlined && strcmp(outer->name, d->launch->program->name) != 0) {
            snprintf(out, bytes, "%s+0x%" PRIx64, outer->name, image - outer->begin);
            return out;
        }
    }
    return amd_program_pc(d->launch->program, pc, out, bytes);
}

/* ---------------------------------------------------------------------------------------------- sources */

/* The source file, from where the compiler had it, then the directories, then here. NULL: not found. */
static const char *read_source(debugger *d, mem_arena *arena, const char *path)
{
    char *data = NULL;
    size_t bytes;
    if (file_exists(path) && file_read(arena, path, SOURCE_LIMIT, &data, &bytes, NULL) == LS_OK)
        return data;
    for (size_t i = 0; i <= d->directories.count; i++) {
        const char *dir = i < d->directories.count ? d->directories.at[i] : "";
        char *tried = path_join(arena, dir, hsa_lines_base(path));
        if (tried && file_exists(tried) && file_read(arena, tried, SOURCE_LIMIT, &data, &bytes, NULL) == LS_OK)
            return data;
    }
    return NULL;
}

/* Prints lines [from, from + count); returns how many there were. */
static uint32_t print_lines(FILE *out, const char *text, uint32_t from, uint32_t count)
{
    uint32_t line = 1, shown = 0;
    for (const char *p = text; *p && line < from + count; line++) {
        size_t n = strcspn(p, "\n");
        if (line >= from) {
            fprintf(out, "%u\t%.*s\n", line, (int)n, p);
            shown++;
        }
        p += n + (p[n] == '\n');
    }
    return shown;
}

ls_status debug_directory(debugger *d, const debug_line *line, ls_error *err)
{
    char *copy = strndup(line->args, line->args_bytes);
    if (line->args_bytes == 0 || !copy || !file_is_dir(copy)) {
        ls_fail(err, LS_ERR_USAGE, "'%s' is no directory", copy ? copy : "");
        free(copy);
        return LS_ERR_USAGE;
    }
    if (!vec_push(&d->directories, copy)) {
        free(copy);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    return LS_OK;
}

static ls_status list_target(debugger *d, const debug_line *line, uint32_t *from, ls_error *err)
{
    debug_location at;
    hsa_place here;
    ls_status status = debug_location_parse(line->args, line->args_bytes, &at, err);
    if (status != LS_OK)
        return status;
    bool stands = d->stop && debug_place_of(d, debug_wave_pc(d, d->wave), &here);
    if (at.kind == DEBUG_AT_HERE && *d->list_file) {
        *from = d->list_line;
        return LS_OK;
    }
    if (at.kind == DEBUG_AT_LINE && *at.name) {
        snprintf(d->list_file, sizeof d->list_file, "%s", at.name);
        for (size_t i = 0; d->lines && hsa_lines_file(d->lines, i); i++)
            if (strcmp(hsa_lines_base(hsa_lines_file(d->lines, i)), at.name) == 0)
                snprintf(d->list_file, sizeof d->list_file, "%s", hsa_lines_file(d->lines, i));
    } else if (!stands) {
        return ls_fail(err, LS_ERR_USAGE, "%s",
                       d->launch && !d->lines ? d->lines_error.what
                                              : "the program stands at no source line: FILE:LINE");
    } else {
        snprintf(d->list_file, sizeof d->list_file, "%s", here.file);
    }
    uint32_t middle = at.kind == DEBUG_AT_LINE ? (uint32_t)at.number : here.line;
    *from = middle > LIST_LINES / 2 ? middle - LIST_LINES / 2 : 1;
    return LS_OK;
}

ls_status debug_list(debugger *d, const debug_line *line, ls_error *err)
{
    mem_arena arena = { 0 };
    uint32_t from = 1;
    ls_status status = list_target(d, line, &from, err);
    if (status != LS_OK)
        return status;
    const char *text = read_source(d, &arena, d->list_file);
    if (!text)
        status = ls_fail(err, LS_ERR_USAGE, "the source %s is not there: 'directory DIR' says where to look",
                         hsa_lines_base(d->list_file));
    else if (print_lines(d->out, text, from, LIST_LINES) == 0)
        status = ls_fail(err, LS_ERR_USAGE, "%s has no line %u", hsa_lines_base(d->list_file), from);
    d->list_line = from + LIST_LINES;
    if (status != LS_OK)
        d->list_file[0] = '\0';
    arena_fini(&arena);
    return status;
}

/* ----------------------------------------------------------------------------------------- instructions */

static bool print_instruction(debugger *d, uint64_t pc, uint64_t *next)
{
    const amd_program *program = d->launch->program;
    const amd_inst *inst = amd_program_at(program, pc);
    char text[256] = "", where[320];
    if (!inst)
        return false;
    amd_print(program->kernel.target, program->lanes, inst, text, sizeof text);
    bool here = d->stop && pc == debug_wave_pc(d, d->wave);
    fprintf(d->out, "%s %s:\t%s\n", here ? "=>" : "  ", debug_pc_text(d, pc, where, sizeof where), text);
    *next = pc + inst->bytes;
    return true;
}

void debug_show_place(debugger *d)
{
    uint64_t pc = debug_wave_pc(d, d->wave), next;
    mem_arena arena = { 0 };
    hsa_place place;
    if (debug_place_of(d, pc, &place)) {
        const char *text = read_source(d, &arena, place.file);
        if (!text || print_lines(d->out, text, place.line, 1) == 0)
            fprintf(d->out, "%s:%u\n", hsa_lines_base(place.file), place.line);
    }
    arena_fini(&arena);
    d->list_file[0] = '\0';
    if (d->stop->waves[d->wave]->stop == AMD_ENDED && d->where != DEBUG_AT_FAULT)
        return;
    if (!print_instruction(d, pc, &next)) {
        char where[320];
        fprintf(d->out, "=> %s:\tno instruction begins here\n", debug_pc_text(d, pc, where, sizeof where));
    }
}

uint64_t debug_instructions(debugger *d, uint64_t pc, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!print_instruction(d, pc, &pc)) {
            char where[320];
            fprintf(d->out, "   %s:\tno instruction begins here\n", debug_pc_text(d, pc, where, sizeof where));
            return pc;
        }
    return pc;
}

/* A line of the source before the first instruction of it. */
static void print_line_change(debugger *d, uint64_t pc, hsa_place *last)
{
    hsa_place place;
    if (!debug_place_of(d, pc, &place) ||
        (last->file && place.line == last->line && strcmp(place.file, last->file) == 0))
        return;
    fprintf(d->out, "%s:%u\n", hsa_lines_base(place.file), place.line);
    *last = place;
}

ls_status debug_disassemble(debugger *d, const debug_line *line, ls_error *err)
{
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    const amd_program *program = d->launch->program;
    uint64_t from = program->base, to = program->base + 4 * program->word_count, ignored, bytes = 0;
    const char *comma = memchr(line->args, ',', line->args_bytes);
    debug_location at;
    ls_status status =
        debug_location_parse(line->args, comma ? (size_t)(comma - line->args) : line->args_bytes, &at, err);
    if (status != LS_OK)
        return status;
    if (at.kind == DEBUG_AT_KERNEL && strcmp(at.name, program->name) != 0)
        return ls_fail(err, LS_ERR_USAGE, "kernel %s runs: others can be read with 'lockstep amd disasm'",
                       program->name);
    if (at.kind == DEBUG_AT_KERNEL && at.number > 0)
        from = program->kernel.entry + at.number;
    else if (at.kind == DEBUG_AT_ADDRESS)
        from = at.number;
    else if (at.kind == DEBUG_AT_LINE)
        return ls_fail(err, LS_ERR_USAGE, "disassemble KERNEL+0x40[,+BYTES]");
    if (comma) {
        const char *number = comma + 1 + (comma[1] == '+');
        status = parse_u64(number, line->args_bytes - (size_t)(number - line->args), &bytes, err);
        if (status != LS_OK)
            return status;
        to = bytes < to - from ? from + bytes : to;
    }
    hsa_place last = { 0 };
    for (uint64_t pc = from; pc < to; pc += 4)
        if (amd_program_at(program, pc)) {
            print_line_change(d, pc, &last);
            print_instruction(d, pc, &ignored);
        }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- backtrace */

/* The function at a pc and those that it is inlined into. `looked`: where the line is looked for. */
static void print_frames(debugger *d, uint64_t pc, uint64_t looked, size_t *number)
{
    hsa_frame frames[64];
    char where[320];
    size_t count =
        d->lines ? hsa_lines_frames(d->lines, debug_image_address(d, looked), frames, LS_COUNT_OF(frames)) : 0;
    debug_pc_text(d, pc, where, sizeof where);
    if (count == 0)
        fprintf(d->out, "#%zu  %s\n", (*number)++, where);
    for (size_t i = 0; i < count && i < LS_COUNT_OF(frames); i++) {
        const hsa_frame *f = &frames[i];
        fprintf(d->out, "#%zu  ", (*number)++);
        if (i == 0)
            fprintf(d->out, "%s in ", where);
        fprintf(d->out, "%s () at %s:%u%s\n", *f->name ? f->name : "?", hsa_lines_base(f->at.file), f->at.line,
                f->is_inlined ? " (inlined)" : "");
    }
}

ls_status debug_backtrace(debugger *d, ls_error *err)
{
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    uint64_t pc = debug_wave_pc(d, d->wave);
    const debug_calls *calls = debug_calls_of(d, d->wave);
    size_t number = 0;
    print_frames(d, pc, pc, &number);
    for (size_t i = calls ? calls->depth : 0; i-- > 0;)
        print_frames(d, calls->return_pc[i], calls->return_pc[i] - 4, &number);
    if (!d->lines)
        fprintf(d->out, "(%s)\n", d->lines_error.what);
    return LS_OK;
}
