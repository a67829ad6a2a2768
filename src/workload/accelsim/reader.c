/* reader.c: a kernel file as thread blocks: the buffer of text, the lines that begin blocks and warps, and the
 * check of their counts. Counts are compared, never trusted: memory grows with the lines read. */
#include "workload/accelsim/reader.h"

#include "workload/accelsim/hex.h"
#include "workload/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define PAD_BYTES 64             /* after the text, so that look-ahead stays inside */
#define SEEN_BLOCKS (1ull << 26) /* larger grids are not checked for blocks that appear twice */

/* ------------------------------------------------------------------------------------------------- buffer */

/* Moves what is left to the front and fills the rest. An error is kept until the text before it is used
 * up. */
static void fill(acc_reader *r)
{
    size_t count = (size_t)(r->end - r->at);
    memmove(r->buffer, r->at, count);
    while (count < ACC_BUFFER_BYTES && !r->at_end) {
        size_t got;
        if (acc_input_read(r->input, r->buffer + count, ACC_BUFFER_BYTES - count, &got, &r->read_error) !=
                LS_OK ||
            got == 0)
            r->at_end = true;
        else
            count += got;
    }
    if (r->at_end && r->read_error.status != LS_OK) { /* the rest of a line would only be a second defect */
        while (count && r->buffer[count - 1] != '\n')
            count--;
    } else if (r->at_end && count && r->buffer[count - 1] != '\n') {
        r->buffer[count++] = '\n';
        r->open_end = true;
    }
    memset(r->buffer + count, 0, PAD_BYTES);
    r->buffer[count] = '\n';
    r->at = r->buffer;
    r->end = r->buffer + count;
}

bool acc_reader_line(acc_reader *r)
{
    if ((size_t)(r->end - r->at) < ACC_LINE_MAX && !r->at_end)
        fill(r);
    return r->at < r->end;
}

const char *acc_reader_line_end(const acc_reader *r, const char **next)
{
    size_t left = (size_t)(r->end - r->at), room = left < ACC_LINE_MAX ? left : ACC_LINE_MAX;
    const char *stop = memchr(r->at, '\n', room);
    *next = stop ? stop + 1 : NULL;
    if (!stop)
        return r->at + room;
    return stop > r->at && stop[-1] == '\r' ? stop - 1 : stop;
}

/* Past a line that has no end within ACC_LINE_MAX. */
static void skip_long_line(acc_reader *r)
{
    while (acc_reader_line(r)) {
        const char *next;
        acc_reader_line_end(r, &next);
        if (next) {
            r->at = next;
            break;
        }
        r->at += (size_t)(r->end - r->at) < ACC_LINE_MAX ? (size_t)(r->end - r->at) : ACC_LINE_MAX;
    }
    r->line++;
}

ls_status acc_reader_defect(acc_reader *r, acc_kind kind, ls_error *err, const char *fmt, ...)
{
    char text[400];
    if (!r->report && acc_kind_severity(kind) != ACC_ERROR)
        return LS_OK;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return acc_defect_at(r->report, kind, r->path, r->line, err, "%s", text);
}

/* --------------------------------------------------------------------------------------- marks and counts */

static bool starts(const char *p, const char *end, const char *word)
{
    size_t bytes = strlen(word);
    return (size_t)(end - p) >= bytes && memcmp(p, word, bytes) == 0;
}

/* "<word> = <a>[,<b>,<c>]" with any spaces: fills `count` numbers. */
static bool read_mark(const char *p, const char *end, const char *word, unsigned count, uint64_t *out)
{
    p += strlen(word);
    for (unsigned i = 0; i < count; i++) {
        char expected = i == 0 ? '=' : ',';
        int64_t value;
        while (p < end && *p == ' ')
            p++;
        if (p >= end || *p++ != expected)
            return false;
        while (p < end && *p == ' ')
            p++;
        if (p >= end || !(p = hex_read_decimal(p, &value)) || value < 0)
            return false;
        out[i] = (uint64_t)value;
    }
    while (p < end && *p == ' ')
        p++;
    return p == end;
}

static ls_status bad_mark(acc_reader *r, const char *end, ls_error *err)
{
    char quoted[80];
    return acc_reader_defect(r, ACC_bad_line, err, "'%s' cannot be read",
                             quote_text(r->at, (size_t)(end - r->at), quoted, sizeof quoted));
}

/* -------------------------------------------------------------------------------------------------- warps */

static ls_status end_warp(acc_reader *r, ls_cta *cta, ls_error *err)
{
    ls_status status = LS_OK;
    if (!r->in_warp)
        return LS_OK;
    if (r->warp != ACC_NO_WARP)
        cta->warps[r->warp].count = (uint32_t)(cta->dyn_count - cta->warps[r->warp].first);
    if (!r->counted)
        status = acc_reader_defect(r, ACC_structure, err, "the warp before this line has no 'insts = N'");
    else if (r->lines != r->declared)
        status = acc_defect_at(r->report, ACC_wrong_count, r->path, r->insts_line, err,
                               "the warp has %" PRIu64 " instructions, 'insts' says %" PRIu64, r->lines,
                               r->declared);
    else if (r->declared == 0 && r->report)
        status = acc_defect_at(r->report, ACC_empty_warp, r->path, r->insts_line, err,
                               "the warp has no instructions");
    r->in_warp = r->counted = false;
    r->warp = ACC_NO_WARP;
    return status;
}

static ls_status begin_warp(acc_reader *r, ls_cta *cta, const char *end, ls_error *err)
{
    uint64_t number;
    ls_status status = end_warp(r, cta, err);
    if (status != LS_OK)
        return status;
    if (!read_mark(r->at, end, "warp", 1, &number))
        return bad_mark(r, end, err);
    r->in_warp = true;
    r->lanes = UINT32_MAX;
    r->lines = 0;
    r->after_exit_reported = false;
    if (number >= cta->warp_count)
        return acc_reader_defect(r, ACC_warp_range, err,
                                 "warp %" PRIu64 ": a block of %" PRIu32 " threads has warps 0 to %" PRIu32,
                                 number, ls_kernel_threads(&r->kernel.info), cta->warp_count - 1);
    if (r->warps_seen[number / 64] >> (number % 64) & 1)
        return acc_reader_defect(r, ACC_duplicate_warp, err, "warp %" PRIu64 " appears twice in its block",
                                 number);
    r->warps_seen[number / 64] |= 1ull << (number % 64);
    r->warp = (uint32_t)number;
    cta->warps[number].first = (uint32_t)cta->dyn_count;
    r->live = r->lanes = rules_lanes(&r->kernel.info, r->warp);
    return LS_OK;
}

static ls_status count_warp(acc_reader *r, const char *end, ls_error *err)
{
    if (!r->in_warp || r->counted)
        return acc_reader_defect(r, ACC_structure, err, "'insts' does not follow a 'warp = N'");
    if (!read_mark(r->at, end, "insts", 1, &r->declared))
        return bad_mark(r, end, err);
    r->counted = true;
    r->insts_line = r->line;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- blocks */

static ls_status identify_block(acc_reader *r, ls_cta *cta, const char *end, ls_error *err)
{
    const uint32_t *grid = r->kernel.info.grid;
    uint64_t id[3];
    if (!read_mark(r->at, end, "thread block", 3, id) || id[0] > UINT32_MAX || id[1] > UINT32_MAX ||
        id[2] > UINT32_MAX)
        return bad_mark(r, end, err);
    for (int i = 0; i < 3; i++)
        cta->id[i] = (uint32_t)id[i];
    if (!r->report)
        return LS_OK;
    if (id[0] >= grid[0] || id[1] >= grid[1] || id[2] >= grid[2])
        return acc_reader_defect(r, ACC_block_range, err,
                                 "thread block %" PRIu64 ",%" PRIu64 ",%" PRIu64 " is outside of the grid",
                                 id[0], id[1], id[2]);
    uint64_t linear = (id[2] * grid[1] + id[1]) * grid[0] + id[0], expected = r->next_linear;
    r->next_linear = linear + 1;
    if (r->seen && r->seen[linear / 64] >> (linear % 64) & 1)
        return acc_reader_defect(r, ACC_duplicate_block, err,
                                 "thread block %" PRIu64 ",%" PRIu64 ",%" PRIu64 " appears twice", id[0],
                                 id[1], id[2]);
    if (r->seen)
        r->seen[linear / 64] |= 1ull << (linear % 64);
    if (linear != expected)
        return acc_reader_defect(r, ACC_block_order, err,
                                 "thread block %" PRIu64 ",%" PRIu64 ",%" PRIu64 " is not the next one", id[0],
                                 id[1], id[2]);
    return LS_OK;
}

/* "cluster id = x,y,z", "cluster cta = x,y,z" or "cluster rank = n": newer tracers write all three. */
static ls_status place_block(acc_reader *r, ls_cta *cta, const char *end, ls_error *err)
{
    static const struct {
        const char *word;
        unsigned count;
    } lines[] = { { "cluster id", 3 }, { "cluster cta", 3 }, { "cluster rank", 1 } };
    uint32_t *const to[] = { cta->cluster, cta->cluster_cta, &cta->cluster_rank };
    uint64_t numbers[3];
    for (size_t i = 0; i < LS_COUNT_OF(lines); i++) {
        if (!starts(r->at, end, lines[i].word))
            continue;
        if (!read_mark(r->at, end, lines[i].word, lines[i].count, numbers))
            break;
        for (unsigned k = 0; k < lines[i].count; k++) {
            if (numbers[k] > UINT32_MAX)
                return bad_mark(r, end, err);
            to[i][k] = (uint32_t)numbers[k];
        }
        cta->in_cluster = true;
        return LS_OK;
    }
    return bad_mark(r, end, err);
}

static ls_status begin_block(acc_reader *r, ls_cta *cta, ls_error *err)
{
    uint32_t warps = ls_kernel_warps(&r->kernel.info);
    cta->dyn_count = cta->addr_count = 0;
    cta->extra = NULL;
    cta->index = r->block_index;
    cta->id[0] = cta->id[1] = cta->id[2] = 0;
    cta->in_cluster = false;
    memset(cta->cluster, 0, sizeof cta->cluster);
    memset(cta->cluster_cta, 0, sizeof cta->cluster_cta);
    cta->cluster_rank = 0;
    cta->warp_count = warps;
    if (!cta_reserve(cta, warps, 64, 64))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    memset(cta->warps, 0, warps * sizeof *cta->warps);
    memset(r->warps_seen, 0, (warps + 63) / 64 * sizeof *r->warps_seen);
    vec_clear(&r->value_list);
    text_clear(&r->value_text);
    return LS_OK;
}

static ls_status end_block(acc_reader *r, ls_cta *cta, ls_error *err)
{
    ls_status status = end_warp(r, cta, err);
    for (uint32_t w = 0; status == LS_OK && r->report && w < cta->warp_count; w++)
        if (!(r->warps_seen[w / 64] >> (w % 64) & 1))
            status = acc_reader_defect(r, ACC_missing_warp, err, "warp %" PRIu32 " of %" PRIu32 " is missing",
                                       w, cta->warp_count);
    if (r->value_list.count) {
        r->values = (ls_cta_values){
            .values = r->value_list.at,
            .count = r->value_list.count,
            .text = text_get(&r->value_text),
        };
        cta->extra = &r->values;
    }
    r->block_index++;
    return status;
}

/* -------------------------------------------------------------------------------------------------- lines */

/* Anything that is not an instruction in its place. *ended: the block is complete. */
static ls_status read_mark_line(acc_reader *r, ls_cta *cta, const char *end, bool *in_block, bool *ended,
                                ls_error *err)
{
    ls_status status;
    if (starts(r->at, end, "#BEGIN_TB")) {
        if (!*in_block) {
            *in_block = true;
            return begin_block(r, cta, err);
        }
        /* In a report the block that began is counted, and this one is read next. */
        status = acc_reader_defect(r, ACC_structure, err, "a thread block begins before the last one ended");
        *ended = true;
        return status == LS_OK ? end_block(r, cta, err) : status;
    }
    if (starts(r->at, end, "#END_TB")) {
        if (!*in_block)
            return acc_reader_defect(r, ACC_structure, err, "#END_TB without #BEGIN_TB");
        *ended = true;
        return end_block(r, cta, err);
    }
    if (*r->at == '#')
        return LS_OK;
    if (!*in_block)
        return acc_reader_defect(
            r, ACC_structure, err,
            "text outside of a thread block: a file that was not grouped by post-traces-processing?");
    if (starts(r->at, end, "thread block"))
        return identify_block(r, cta, end, err);
    if (starts(r->at, end, "warp"))
        return begin_warp(r, cta, end, err);
    if (starts(r->at, end, "insts"))
        return count_warp(r, end, err);
    if (starts(r->at, end, "cluster "))
        return place_block(r, cta, end, err);
    if (!r->in_warp || !r->counted)
        return acc_reader_defect(r, ACC_structure, err, "an instruction outside of a warp");
    return LS_OK;
}

static bool is_mark(const acc_reader *r, const char *end)
{
    char c = *r->at;
    return c == '#' || c == 't' || c == 'w' || c == 'i' || starts(r->at, end, "cluster ");
}

/* The line at r->at, which the fast way did not take. */
static ls_status read_line(acc_reader *r, ls_cta *cta, bool *in_block, bool *ended, ls_error *err)
{
    const char *next, *end = acc_reader_line_end(r, &next);
    ls_status status = LS_OK;
    if (!next) {
        status = acc_reader_defect(r, ACC_long_line, err, "a line of more than %u bytes", ACC_LINE_MAX);
        skip_long_line(r);
        return status;
    }
    const char *text = r->at;
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    if (text == end) {
        r->line++;
        r->at = next;
        return LS_OK;
    }
    if (r->in_warp && r->counted && !is_mark(r, end))
        return acc_line_slow(r, cta, err);
    bool again = *in_block && starts(r->at, end, "#BEGIN_TB");
    status = read_mark_line(r, cta, end, in_block, ended, err);
    if (!again) {
        r->line++;
        r->at = next;
    }
    return status;
}

/* The end of the file: LS_OK if it comes where it should. */
static ls_status read_end(acc_reader *r, ls_cta *cta, bool in_block, ls_error *err)
{
    ls_error said;
    r->finished = true;
    if (r->read_error.status != LS_OK) {
        said = r->read_error;
        ls_status status = acc_defect_error(r->report, ACC_truncated, r->path, r->line, &said);
        if (status != LS_OK && err)
            *err = said;
        return status;
    }
    if (in_block) {
        ls_status status = end_warp(r, cta, err);
        if (status != LS_OK)
            return status;
        return acc_reader_defect(r, ACC_truncated, err,
                                 "the file ends inside thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32,
                                 cta->id[0], cta->id[1], cta->id[2]);
    }
    /* Blocks beyond the grid were found after its last block. */
    if (r->block_index < ls_kernel_cta_count(&r->kernel.info) &&
        rules_blocks(&r->kernel.info, r->block_index, &said) != LS_OK)
        return acc_reader_defect(r, ACC_too_few_blocks, err, "%s", said.what);
    return LS_OK;
}

/* The text after the last block of the grid. Read with that block, because a simulation reads no further: a
 * longer file is an error for it too. A report reads the surplus blocks afterwards. */
static ls_status read_tail(acc_reader *r, ls_cta *cta, ls_error *err)
{
    bool in_block = false, ended = false;
    ls_status status = LS_OK;
    while (status == LS_OK && acc_reader_line(r)) {
        const char *next, *end = acc_reader_line_end(r, &next);
        if (next && starts(r->at, end, "#BEGIN_TB"))
            return acc_reader_defect(r, ACC_too_many_blocks, err,
                                     "the grid has %" PRIu64 " thread blocks, here is one more",
                                     r->block_index);
        status = read_line(r, cta, &in_block, &ended, err);
    }
    return status == LS_OK ? read_end(r, cta, false, err) : status;
}

static ls_status next_cta(trace_kernel *kernel, ls_cta *cta, bool *end, ls_error *err)
{
    acc_reader *r = (acc_reader *)kernel;
    ls_status status = LS_OK;
    bool in_block = false, ended = false;
    *end = false;
    while (!r->finished && status == LS_OK && acc_reader_line(r)) {
        if (r->in_warp && r->counted && r->warp != ACC_NO_WARP) {
            status = acc_lines_fast(r, cta, err);
            if (status != LS_OK || !acc_reader_line(r))
                break;
        }
        status = read_line(r, cta, &in_block, &ended, err);
        if (ended)
            return status == LS_OK && r->block_index == ls_kernel_cta_count(&r->kernel.info)
                       ? read_tail(r, cta, err)
                       : status;
    }
    *end = true;
    if (status == LS_OK && !r->finished)
        status = read_end(r, cta, in_block, err);
    r->finished = true;
    return status;
}

/* Only of files with an index of their blocks. */
static ls_status seek(trace_kernel *kernel, uint64_t index, ls_error *err)
{
    acc_reader *r = (acc_reader *)kernel;
    ls_status status = acc_input_seek(r->input, index, &r->line, err);
    if (status != LS_OK)
        return status;
    r->at = r->end = r->buffer;
    r->at_end = r->open_end = r->finished = r->in_warp = r->counted = false;
    r->warp = ACC_NO_WARP;
    r->block_index = index;
    ls_error_clear(&r->read_error);
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------- open, close */

static void close_reader(trace_kernel *kernel)
{
    acc_reader *r = (acc_reader *)kernel;
    acc_input_close(r->input);
    acc_shapes_fini(&r->shapes);
    insts_release(&r->kernel);
    text_fini(&r->header);
    text_fini(&r->value_text);
    vec_fini(&r->value_list);
    free(r->kernel.info.name);
    free(r->warps_seen);
    free(r->seen);
    free(r->buffer);
    free(r->path);
    free(r);
}

static bool inst_text(const trace_kernel *kernel, uint32_t inst, inst_words *out)
{
    *out = ((const acc_reader *)kernel)->shapes.at[inst].words;
    return true;
}

static const char *header_text(const trace_kernel *kernel, size_t *bytes)
{
    const acc_reader *r = (const acc_reader *)kernel;
    *bytes = r->header.count;
    return text_get(&r->header);
}

static const trace_kernel_ops reader_ops = {
    .next_cta = next_cta,
    .close = close_reader,
    .text = inst_text,
    .header = header_text,
};

static const trace_kernel_ops seeking_ops = {
    .next_cta = next_cta,
    .seek = seek,
    .close = close_reader,
    .text = inst_text,
    .header = header_text,
};

/* Allocates memory for the blocks, once the header is known. */
static ls_status prepare(acc_reader *r, ls_error *err)
{
    uint64_t blocks = ls_kernel_cta_count(&r->kernel.info);
    uint32_t warps = ls_kernel_warps(&r->kernel.info);
    r->warps_seen = calloc(warps / 64 + 1, sizeof *r->warps_seen);
    if (!r->warps_seen)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (r->report && blocks <= SEEN_BLOCKS)
        r->seen = calloc((size_t)(blocks / 64 + 1), sizeof *r->seen);
    return insts_reserve(&r->kernel, err);
}

ls_status acc_reader_open(acc_input *input, const char *path, const trace_options *options, acc_report *report,
                          trace_kernel **out, ls_error *err)
{
    acc_reader *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) {
        acc_input_close(input);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    r->kernel.ops = acc_input_has_blocks(input) ? &seeking_ops : &reader_ops;
    r->input = input;
    r->report = report;
    r->options = *options;
    r->warp = ACC_NO_WARP;
    r->line = 1;
    r->path = strdup(path);
    r->buffer = malloc(ACC_BUFFER_BYTES + 1 + PAD_BYTES);
    ls_status status = LS_OK;
    if (!r->path || !r->buffer)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    else {
        r->at = r->end = r->buffer;
        r->kernel.info.file = r->path;
        status = acc_header_read(r, err);
    }
    if (status == LS_OK)
        status = prepare(r, err);
    if (status != LS_OK) {
        close_reader(&r->kernel);
        return status;
    }
    *out = &r->kernel;
    return LS_OK;
}
