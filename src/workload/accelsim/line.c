/* line.c: instruction lines, one at a time: parses every word and reports errors exactly. It adds new lines to the
 * table of the fast path (line_fast.c). */
#include "workload/accelsim/line_parse.h"

#include "workload/rules.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ----------------------------------------------------------------------------------------- for both paths */

bool acc_keep_values(acc_reader *r, const ls_cta *cta, const char *text, const char *end)
{
    while (end > text && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    if (r->options.drop_values || end == text)
        return true;
    if (r->value_text.count + (size_t)(end - text) > UINT32_MAX)
        return false;
    cta_value value = {
        .dyn = (uint32_t)cta->dyn_count,
        .at = (uint32_t)r->value_text.count,
        .bytes = (uint32_t)(end - text),
    };
    text_addn(&r->value_text, text, value.bytes);
    return !r->value_text.failed && vec_push(&r->value_list, value);
}

ls_status acc_inspect(acc_reader *r, const ls_dyn *dyn, ls_error *err)
{
    uint32_t holes = dyn->mask & (dyn->mask + (dyn->mask & (0u - dyn->mask)));
    const ls_inst *inst = &r->kernel.insts[dyn->inst];
    if (dyn->addr != LS_ADDR_NONE && (dyn->addr & 3) == LS_ADDR_STRIDE && holes) {
        ls_status status =
            acc_reader_defect(r, ACC_stride_holes, err, "a stride for the lanes %08" PRIx32, dyn->mask);
        if (status != LS_OK)
            return status;
    }
    if (r->live == 0 && !r->after_exit_reported) {
        r->after_exit_reported = true;
        return acc_reader_defect(r, ACC_after_exit, err,
                                 "warp %" PRIu32 " goes on after all its lanes have left", r->warp);
    }
    if (inst->flags & LS_INST_EXIT)
        r->live &= ~dyn->mask;
    return LS_OK;
}

/* R4, UR4, P0, UP0. */
static bool word_register(parse *s, uint16_t *out)
{
    int64_t number;
    if (!next(s, "registers", false))
        return false;
    bool uniform = s->word[0] == 'U';
    char letter = s->word[uniform];
    const char *digits = s->word + uniform + 1;
    int64_t most = letter == 'R' ? (uniform ? 63 : 255) : 7;
    if ((letter != 'R' && letter != 'P') || hex_read_decimal(digits, &number) != s->word + s->bytes ||
        number < 0 || number > most)
        return wrong(s, "register", "R0 to R255, UR0 to UR63, P0 to P7 or UP0 to UP7");
    *out = (uint16_t)(number + (letter == 'R' ? (uniform ? LS_REG_UNIFORM : 0)
                                              : (uniform ? LS_REG_UNIFORM_PREDICATE : LS_REG_PREDICATE)));
    return keep(s, &s->body);
}

static bool parse_prefix(parse *s, const acc_reader *r, const ls_cta *cta, bool *other_place)
{
    uint64_t value = 0;
    *other_place = false;
    if (r->kernel.info.tracer_version < 3) {
        const uint32_t expected[4] = { cta->id[0], cta->id[1], cta->id[2], r->warp };
        for (int i = 0; i < 4; i++) {
            if (!word_number(s, i < 3 ? "thread block" : "warp", UINT32_MAX, &value))
                return false;
            *other_place |= value != expected[i];
        }
    }
    if (r->kernel.info.line_info &&
        !(word_number(s, "source line", UINT32_MAX, &s->line) && keep(s, &s->pc_words)))
        return false;
    return word_hex(s, "pc", 8, &s->pc) && keep(s, &s->pc_words) && word_hex(s, "mask", 8, &value) &&
           (s->mask = (uint32_t)value, true);
}

/* Newer tracers write whether a warp-group matrix instruction closes a group, before its width and its two
 * immediates. Older ones do not write it. */
static bool parse_commit(parse *s)
{
    uint64_t commit = 0;
    if (!sass_has_commit(s->opcode, s->opcode_bytes) || words_left(s) != 4)
        return true;
    if (!word_number(s, "flag of a group", 1, &commit) || !keep(s, &s->body))
        return false;
    s->commit = commit == 1;
    return true;
}

static bool parse_body(parse *s)
{
    s->regular = s->bytes == 8 && *s->at == ' ';
    s->text = s->at + 1;
    if (!word_number(s, "number of destinations", LS_INST_DST_MAX, &s->dst_count) || !keep(s, &s->body))
        return false;
    for (uint64_t i = 0; i < s->dst_count; i++)
        if (!word_register(s, &s->dsts[i]))
            return false;
    if (!next(s, "opcode", false))
        return false;
    if (s->bytes > OPCODE_MAX || s->word[0] < 'A' || s->word[0] > 'Z')
        return wrong(s, "opcode", "one: it must begin with a capital letter");
    s->opcode = s->word;
    s->opcode_bytes = s->bytes;
    if (!keep(s, &s->body) || !word_number(s, "number of sources", LS_INST_SRC_MAX, &s->src_count) ||
        !keep(s, &s->body))
        return false;
    for (uint64_t i = 0; i < s->src_count; i++)
        if (!word_register(s, &s->srcs[i]))
            return false;
    if (!parse_commit(s) || !word_number(s, "access width", 1024, &s->width) || !keep(s, &s->body))
        return false;
    s->regular &= s->width == 0 || *s->at == ' ';
    s->text_end = s->at + 1;
    return true;
}

static bool parse_addresses(parse *s, const acc_reader *r, ls_cta *cta)
{
    uint64_t *words = cta->addrs + cta->addr_count, mode = 0;
    unsigned lanes = (unsigned)__builtin_popcount(s->mask), count = lanes;
    int64_t difference;
    s->addr = LS_ADDR_NONE;
    if (parse_is_bulk(s))
        return parse_bulk(s, r, cta);
    if (s->width == 0)
        return true;
    if (!word_number(s, "address format", 9, &mode))
        return false;
    if (mode > 2) {
        s->bulk = true;
        return fail(s, "address format %u of bulk copies is not supported", (unsigned)mode);
    }
    if (mode == LS_ADDR_STRIDE) {
        if (!word_address(s, &words[0]) || !word_signed(s, "stride", &difference))
            return false;
        words[1] = (uint64_t)difference;
        count = 2;
    } else if (mode == LS_ADDR_DELTA) {
        if (!word_address(s, &words[0]))
            return false;
        for (unsigned i = 1; i < lanes; i++) {
            if (!word_signed(s, "addresses", &difference))
                return false;
            words[i] = words[i - 1] + (uint64_t)difference;
        }
    } else {
        for (unsigned i = 0; i < lanes; i++)
            if (!word_address(s, &words[i]))
                return false;
    }
    s->addr = (uint32_t)cta->addr_count << 2 | (uint32_t)mode;
    cta->addr_count += count;
    s->regular &= *s->at == ' ' || s->at == s->end;
    s->tail = s->at + (*s->at == ' ');
    return true;
}

/* "1 5" or "32 0 1 2 ...": the values of one register after the other, before the instruction executes. Those of
 * register `wanted` are kept. */
static bool parse_values(parse *s, uint64_t wanted)
{
    uint64_t count, value;
    s->regular &= s->at == s->end || *s->at == ' ';
    s->values = s->at + (*s->at == ' ');
    for (uint64_t group = 0; next(s, "values", true); group++) {
        int64_t number;
        if (hex_read_decimal(s->word, &number) != s->word + s->bytes || number < 0 || number > ACC_LANES)
            return wrong(s, "number of register values", "0 to 32");
        count = (uint64_t)number;
        for (uint64_t i = 0; i < count; i++) {
            if (!next(s, "register values", false))
                return false;
            if (hex_read_address(s->word, &value) != s->word + s->bytes &&
                hex_read64(s->word, &value) != s->word + s->bytes)
                return wrong(s, "register value", "a hexadecimal number");
            if (group == wanted)
                s->operand[s->operand_count++] = value;
        }
    }
    return true;
}

/* The register whose value matters: of a barrier the one with its number, else the second source. */
static uint64_t operand_register(const parse *s)
{
    if (sass_is_semaphore(s->opcode, s->opcode_bytes) && s->src_count == 2 && s->width > 0)
        return s->dst_count + 1;
    if (!sass_has_operands(s->opcode, s->opcode_bytes))
        return UINT64_MAX;
    if (s->opcode[0] == 'B')
        return s->dst_count == 1 && s->imm2 == 0 ? 0 : UINT64_MAX;
    return s->src_count >= 2 ? s->dst_count + 1 : UINT64_MAX;
}

/* The second immediate, if the line has one. */
static bool parse_second(parse *s)
{
    if (parse_i64(s->word, s->bytes, &s->imm2, NULL) != LS_OK)
        return wrong(s, "second immediate", "a decimal number of 64 bits");
    s->two_imms = true;
    return keep(s, &s->tail_words);
}

static bool parse_values_word(parse *s)
{
    if (!is_word(s, "NoVal") && !is_word(s, "Val"))
        return wrong(s, "word", "Val or NoVal");
    if (!keep(s, &s->tail_words))
        return false;
    return !is_word(s, "Val") || parse_values(s, operand_register(s));
}

static bool parse_tail(parse *s, uint32_t version)
{
    bool mark = sass_is_mark(s->opcode, s->opcode_bytes), more = true;
    if (version >= 5) {
        if (!word_signed(s, "immediate", &s->imm) || !keep(s, &s->tail_words))
            return false;
        more = next(s, "NoVal", version == 5 || mark);
        if (!more && version >= 6 && !mark)
            return false;
        if (more && !is_word(s, "NoVal") && !is_word(s, "Val")) {
            if (!parse_second(s))
                return false;
            more = next(s, "NoVal", version == 5 || mark);
            if (!more && version >= 6 && !mark)
                return false;
        }
        if (more && version >= 6) {
            bool values = is_word(s, "Val");
            if (!parse_values_word(s))
                return false;
            more = !values && next(s, "", true);
        }
    } else {
        more = next(s, "", true);
    }
    if (more) {
        char quoted[48];
        return fail(s, "'%s' stands behind the end of the instruction",
                    quote_text(s->word, s->bytes, quoted, sizeof quoted));
    }
    return true;
}

/* ------------------------------------------------------------------------------- a new static instruction */

static ls_status decode(acc_reader *r, const parse *s, ls_inst *inst, ls_error *err)
{
    ls_error said; /* without its text, which is long */
    ls_error_clear(&said);
    uint32_t version = r->kernel.info.binary_version;
    sass_line line = {
        .pc = s->pc,
        .opcode = s->opcode,
        .opcode_bytes = s->opcode_bytes,
        .dsts = s->dsts,
        .srcs = s->srcs,
        .dst_count = (uint32_t)s->dst_count,
        .src_count = (uint32_t)s->src_count,
        .width = (uint32_t)s->width,
        .imm = s->imm,
        .imm2 = s->imm2,
        .two_imms = s->two_imms,
        .commit = s->commit,
    };
    ls_status status = sass_decode(version, &line, r->options.unknown_opcodes_as_alu, inst, &said);
    if (status != LS_OK) {
        status = acc_defect_error(r->report, ACC_unknown_opcode, r->path, r->line, &said);
        if (status == LS_OK)
            status = sass_decode(version, &line, true, inst, &said);
        if (status != LS_OK && err)
            *err = said;
        return status;
    }
    if ((inst->flags & LS_INST_FOREIGN) && r->report)
        status = acc_reader_defect(r, ACC_foreign_opcode, err, "no document lists %s for sm_%" PRIu32,
                                   sass_opcode_name(inst->opcode), version);
    if (status == LS_OK && (inst->flags & (LS_INST_UNMODELLED | LS_INST_IGNORED)) && r->report)
        status =
            acc_reader_defect(r,
                              (inst->flags & LS_INST_UNMODELLED) ? ACC_unmodelled_opcode : ACC_ignored_opcode,
                              err, "%.*s at pc 0x%" PRIx64 " is not modelled", (int)s->opcode_bytes, s->opcode,
                              s->pc);
    if (status == LS_OK && s->width == 0 && rules_needs_addresses(inst))
        status = acc_reader_defect(r, ACC_no_addresses, err, "%.*s at pc 0x%" PRIx64 " has no addresses",
                                   (int)s->opcode_bytes, s->opcode, s->pc);
    return status;
}

static ls_status find_inst(acc_reader *r, const parse *s, uint32_t *number, ls_error *err)
{
    const inst_words words = { .pc = s->pc_text, .body = s->body_text, .tail = s->tail_text };
    const uint32_t bytes[3] = { s->pc_words.bytes, s->body.bytes, s->tail_words.bytes };
    trace_kernel *kernel = &r->kernel;
    uint64_t hash;
    *number = acc_shapes_find(&r->shapes, &words, bytes, &hash);
    if (*number != UINT32_MAX)
        return LS_OK;
    if (kernel->inst_count >= kernel->inst_capacity) {
        ls_fail(err, LS_ERR_UNSUPPORTED, "the kernel has more than %" PRIu32 " different instructions",
                kernel->inst_capacity);
        return ls_error_at(err, r->path, r->line, 0);
    }
    ls_inst inst;
    ls_status status = decode(r, s, &inst, err);
    if (status != LS_OK)
        return status;
    if (!acc_shapes_add(&r->shapes, kernel->inst_count, s->pc, s->line, &words, bytes, hash))
        return no_memory(err);
    kernel->insts[kernel->inst_count] = inst;
    *number = kernel->inst_count++;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- one line */

static ls_status add_line(acc_reader *r, ls_cta *cta, parse *s, const char *line_end, const char *next_line,
                          ls_error *err)
{
    uint32_t number;
    ls_status status = find_inst(r, s, &number, err);
    if (status != LS_OK)
        return status;
    if (s->regular) {
        const char *stop = s->values ? s->values : next_line;
        bool addresses = s->width > 0;
        const char *text_end = addresses ? s->text_end : stop;
        const char *tail = addresses ? s->tail : stop;
        if (!acc_shapes_learn(&r->shapes, number, s->text, (size_t)(text_end - s->text), tail,
                              (size_t)(stop - tail), addresses, s->values != NULL))
            return no_memory(err);
    }
    r->shapes.at[r->last].next = number;
    r->last = number;
    if (r->warp == ACC_NO_WARP)
        return LS_OK;
    if (s->values && !acc_keep_values(r, cta, s->values, line_end))
        return no_memory(err);
    ls_dyn dyn = { .inst = number, .mask = s->mask, .addr = s->addr };
    cta->dyns[cta->dyn_count++] = dyn;
    return r->report ? acc_inspect(r, &dyn, err) : LS_OK;
}

ls_status acc_line_slow(acc_reader *r, ls_cta *cta, ls_error *err)
{
    const char *next_line, *end = acc_reader_line_end(r, &next_line);
    uint64_t addr_count = cta->addr_count;
    bool other_place;
    ls_status status = LS_OK;
    if (!acc_reserve(cta))
        return acc_is_full(cta)
                   ? ls_fail(err, LS_ERR_UNSUPPORTED, "a thread block has more than 2^30 addresses")
                   : no_memory(err);
    parse s;
    begin(&s, r->at, end);
    bool good = parse_prefix(&s, r, cta, &other_place) && parse_body(&s) && parse_addresses(&s, r, cta) &&
                parse_tail(&s, r->kernel.info.tracer_version);
    if (!good && r->open_end && next_line == r->end) {
        status = acc_reader_defect(r, ACC_truncated, err, "the file ends inside a line");
        r->finished = true;
    } else if (!good) {
        status = acc_reader_defect(r, s.bulk ? ACC_unsupported : ACC_bad_line, err, "%s", s.what);
    } else {
        if (other_place)
            status =
                acc_reader_defect(r, ACC_wrong_prefix, err, "the line names another thread block or warp");
        if (status == LS_OK && s.mask & ~r->lanes) {
            char text[160];
            status = acc_reader_defect(r, ACC_lane_range, err, "%s",
                                       rules_say_lanes(&r->kernel.info, r->warp, s.mask, text, sizeof text));
        }
        if (status == LS_OK && s.copy.words > 0)
            status = parse_inspect_bulk(r, &s, err);
        if (status == LS_OK) {
            parse_make_record(&s, cta, addr_count);
            status = add_line(r, cta, &s, end, next_line, err);
        }
    }
    if (!good || r->warp == ACC_NO_WARP)
        cta->addr_count = addr_count;
    r->lines++;
    r->line++;
    r->at = next_line;
    return status;
}
