/* line.c: instruction lines, one at a time: parses every word and reports errors exactly. It adds new lines to the
 * table of the fast path (line_fast.c). */
#include "workload/accelsim/line.h"
#include "workload/accelsim/hex.h"

#include "isa/sass/sass.h"
#include "workload/rules.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#define OPCODE_MAX 200

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

/* ----------------------------------------------------------------------------------------------- one line */

/* Words of a line with single spaces between them. */
typedef struct kept_words {
    uint32_t bytes, room;
    char *text;
} kept_words;

/* What a bulk copy says about itself. */
typedef struct acc_bulk {
    uint64_t words;         /* of its record; 0: not a bulk copy */
    uint64_t count, listed; /* transfers, and addresses that are there */
    uint64_t outside;       /* bytes */
    uint32_t digits;        /* of the first address in the text */
    bool lost;              /* the tracer wrote 0 for its only address */
} acc_bulk;

/* One line in words. `what` is the first thing that is wrong with it; later steps do nothing. */
typedef struct parse {
    const char *at, *end; /* the unread rest */
    const char *word;
    size_t bytes;
    /* results */
    uint64_t pc, line;
    uint32_t mask;
    uint16_t dsts[LS_INST_DST_MAX], srcs[LS_INST_SRC_MAX];
    uint64_t dst_count, src_count, width;
    const char *opcode;
    size_t opcode_bytes;
    int64_t imm, imm2;
    bool two_imms, commit;
    uint32_t addr;
    bool bulk; /* an address format that is not supported */
    uint64_t operand[ACC_LANES];
    uint32_t operand_count; /* values of the register that matters to the machine */
    acc_bulk copy;          /* of a bulk copy */
    /* the line's own bytes */
    const char *text, *text_end, *tail, *tail_end, *values;
    bool regular; /* they have the form that the fast way expects */
    kept_words body, pc_words, tail_words;
    /* From here on only the first byte of each text is set at the start. */
    char what[160];
    char body_text[OPCODE_MAX + 128], pc_text[64], tail_text[96];
} parse;

static void begin(parse *s, const char *at, const char *end)
{
    memset(s, 0, offsetof(parse, what));
    s->at = at;
    s->end = end;
    s->what[0] = s->body_text[0] = s->pc_text[0] = s->tail_text[0] = '\0';
    s->body = (kept_words){ .room = sizeof s->body_text, .text = s->body_text };
    s->pc_words = (kept_words){ .room = sizeof s->pc_text, .text = s->pc_text };
    s->tail_words = (kept_words){ .room = sizeof s->tail_text, .text = s->tail_text };
}

static bool fail(parse *s, const char *fmt, ...) LS_PRINTF(2, 3);

static bool fail(parse *s, const char *fmt, ...)
{
    if (!s->what[0]) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(s->what, sizeof s->what, fmt, args);
        va_end(args);
    }
    return false;
}

/* The next word; false at the end of the line, which is wrong unless `optional`. */
static bool next(parse *s, const char *name, bool optional)
{
    const char *at = s->at, *const end = s->end;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    s->word = at;
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    s->at = at;
    s->bytes = (size_t)(at - s->word);
    if (s->bytes)
        return true;
    return optional ? false : fail(s, "the line ends before its %s", name);
}

static bool wrong(parse *s, const char *name, const char *need)
{
    char quoted[48];
    return fail(s, "the %s '%s' is not %s", name, quote_text(s->word, s->bytes, quoted, sizeof quoted), need);
}

static bool word_number(parse *s, const char *name, uint64_t most, uint64_t *out)
{
    int64_t value;
    if (!next(s, name, false))
        return false;
    if (hex_read_decimal(s->word, &value) != s->word + s->bytes || value < 0 || (uint64_t)value > most)
        return wrong(s, name, "a number that is possible here");
    *out = (uint64_t)value;
    return true;
}

static bool word_hex(parse *s, const char *name, size_t most_digits, uint64_t *out)
{
    if (!next(s, name, false))
        return false;
    if (s->bytes > most_digits || hex_read64(s->word, out) != s->word + s->bytes)
        return wrong(s, name, "a hexadecimal number");
    return true;
}

static bool word_address(parse *s, uint64_t *out)
{
    if (!next(s, "addresses", false))
        return false;
    /* Some tools leave 0x out. */
    if (hex_read_address(s->word, out) != s->word + s->bytes && hex_read64(s->word, out) != s->word + s->bytes)
        return wrong(s, "address", "a hexadecimal number of up to 16 digits");
    return true;
}

static bool word_signed(parse *s, const char *name, int64_t *out)
{
    if (!next(s, name, false))
        return false;
    if (hex_read_decimal(s->word, out) != s->word + s->bytes &&
        parse_i64(s->word, s->bytes, out, NULL) != LS_OK)
        return wrong(s, name, "a decimal number of 64 bits");
    return true;
}

/* Adds the current word and a space before it unless it is the first. */
static bool keep(parse *s, kept_words *to)
{
    if (to->bytes + s->bytes + 2 > to->room)
        return fail(s, "the words of the line are too long");
    if (to->bytes)
        to->text[to->bytes++] = ' ';
    memcpy(to->text + to->bytes, s->word, s->bytes);
    to->bytes += (uint32_t)s->bytes;
    to->text[to->bytes] = '\0';
    return true;
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

/* How many words stand before Val, NoVal or the end of the line. */
static unsigned words_left(const parse *s)
{
    parse look = { .at = s->at, .end = s->end };
    unsigned count = 0;
    while (next(&look, "", true)) {
        if (look.word[0] == 'N' || look.word[0] == 'V')
            break;
        count++;
    }
    return count;
}

/* Newer tracers write whether a warp-group matrix instruction closes a group, before its width and its two
 * immediates. Older ones do not write it. */
static bool parse_commit(parse *s)
{
    uint64_t commit;
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

static bool is_word(const parse *s, const char *text)
{
    return s->bytes == strlen(text) && memcmp(s->word, text, s->bytes) == 0;
}

/* Bulk copies of newer tracers have their own fields here, from the mbarrier's address on. */
static bool is_bulk(const parse *s)
{
    const char *at = s->at;
    if (!sass_is_bulk(s->opcode, s->opcode_bytes))
        return false;
    while (at < s->end && (*at == ' ' || *at == '\t'))
        at++;
    return s->width > 0 || (s->end - at > 1 && at[0] == '0' && at[1] == 'x');
}

/* Adds a word to the record that begins at the end of the block's addresses. */
static bool push_word(parse *s, ls_cta *cta, uint64_t word)
{
    if (cta->addr_count + s->copy.words + ACC_LANES >= 1u << 30 ||
        !cta_reserve(cta, 0, 1, s->copy.words + ACC_LANES))
        return fail(s, "the thread block has too many addresses");
    cta->addrs[cta->addr_count + s->copy.words++] = word;
    return true;
}

/* The addresses, up to the words that end the line. With bytes out of bounds there may be fewer than the count
 * says, so that the words are counted from the end. */
static bool parse_bulk_addresses(parse *s, ls_cta *cta, uint64_t format, unsigned last_words)
{
    uint64_t address = 0;
    int64_t difference;
    if (format == 4) {
        if (!word_address(s, &address) || !push_word(s, cta, address))
            return false;
        s->copy.digits = (uint32_t)(s->bytes > 2 ? s->bytes - 2 : s->bytes);
    }
    if (!word_number(s, "number of addresses", UINT32_MAX, &s->copy.count))
        return false;
    unsigned left = words_left(s);
    if (left < last_words)
        return fail(s, "the line ends before its immediates");
    for (; left > last_words; left--) {
        if (format == 4) {
            if (!word_signed(s, "addresses", &difference))
                return false;
            address += (uint64_t)difference;
        } else {
            if (!word_address(s, &address))
                return false;
            if (s->copy.listed == 0)
                s->copy.digits = (uint32_t)(s->bytes > 2 ? s->bytes - 2 : s->bytes);
        }
        s->copy.listed++;
        if (!push_word(s, cta, address))
            return false;
    }
    s->copy.listed += format == 4 && s->copy.count > 0;
    if (s->copy.listed > s->copy.count)
        return fail(s, "the bulk copy has %" PRIu64 " addresses, its count says %" PRIu64, s->copy.listed,
                    s->copy.count);
    s->copy.lost = format == 4 && s->copy.listed == 1 && address == 0;
    return true;
}

/* mbarrier, multicast [block mask], bytes, bytes out of bounds, format (3 or 4) and its addresses: a record of the
 * execution (lockstep/stream.h). */
static bool parse_bulk(parse *s, const acc_reader *r, ls_cta *cta)
{
    static const uint32_t digits_of_base = 1; /* as tracers write it */
    uint32_t version = r->kernel.info.tracer_version;
    uint64_t mbarrier, multicast, mask = 0, bytes, outside, format;
    if (!word_address(s, &mbarrier) || !word_number(s, "multicast flag", 1, &multicast) ||
        (multicast == 1 && !word_address(s, &mask)) || !word_number(s, "bytes", INT64_MAX, &bytes) ||
        !word_number(s, "bytes out of bounds", INT64_MAX, &outside) ||
        !word_number(s, "address format", 9, &format))
        return false;
    if (format != 3 && format != 4)
        return wrong(s, "address format of a bulk copy", "3 or 4");
    if (mbarrier > UINT32_MAX || mask > UINT16_MAX)
        return fail(s, "the mbarrier or the mask of a bulk copy has too many digits");
    s->regular = false;
    s->copy.outside = outside;
    const uint64_t words[] = { 0, mbarrier | mask << 32, bytes, outside, 0 };
    for (size_t i = 0; i < LS_COUNT_OF(words); i++)
        if (!push_word(s, cta, words[i]))
            return false;
    if (!parse_bulk_addresses(s, cta, format, version >= 5 ? 2 : 0))
        return false;
    uint64_t *record = cta->addrs + cta->addr_count;
    uint32_t digits = format == 4 && s->copy.digits < 16 ? digits_of_base : s->copy.digits;
    record[0] = ls_record_head(LS_RECORD_BULK, (uint32_t)format,
                               (uint32_t)multicast | (digits < 17 ? digits : 16) << 8, s->copy.words);
    record[LS_BULK_WORD_COUNT] = s->copy.count;
    s->addr = (uint32_t)cta->addr_count << 2 | LS_ADDR_RECORD;
    cta->addr_count += s->copy.words;
    return true;
}

static bool parse_addresses(parse *s, const acc_reader *r, ls_cta *cta)
{
    uint64_t *words = cta->addrs + cta->addr_count, mode = 0;
    unsigned lanes = (unsigned)__builtin_popcount(s->mask), count = lanes;
    int64_t difference;
    s->addr = LS_ADDR_NONE;
    if (is_bulk(s))
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

/* Makes a record of addresses and values that were just read, where the machine needs both. */
static void make_record(parse *s, ls_cta *cta, uint64_t first)
{
    uint64_t *words = cta->addrs + first, count = cta->addr_count - first;
    if (s->operand_count == 0)
        return;
    s->regular = false;
    if (s->opcode[0] == 'B') {
        words[0] = ls_record_head(LS_RECORD_BARRIER, 0, 0, 2);
        words[1] = s->operand[s->mask && s->operand_count > 1 ? __builtin_ctz(s->mask) : 0];
        cta->addr_count = first + 2;
    } else if (s->width > 0) {
        uint32_t operands = 0, mode = s->addr & 3;
        memmove(words + 1, words, count * sizeof *words);
        for (uint32_t lanes = s->mask; lanes && s->operand_count > 1; lanes &= lanes - 1)
            words[1 + count + operands++] = s->operand[__builtin_ctz(lanes)];
        if (s->operand_count == 1)
            words[1 + count + operands++] = s->operand[0];
        words[0] = ls_record_head(LS_RECORD_MBARRIER, mode, operands, 1 + count + operands);
        cta->addr_count = first + 1 + count + operands;
    } else {
        return;
    }
    s->addr = (uint32_t)first << 2 | LS_ADDR_RECORD;
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

/* Tracers lose addresses of bulk copies in two ways. */
static ls_status inspect_bulk(acc_reader *r, const parse *s, ls_error *err)
{
    if (s->copy.lost)
        return acc_reader_defect(r, ACC_bulk_lost, err,
                                 "the address of %.*s, a bulk copy of one transfer, is 0",
                                 (int)s->opcode_bytes, s->opcode);
    if (s->copy.listed < s->copy.count)
        return acc_reader_defect(r, ACC_bulk_fewer, err,
                                 "%.*s has %" PRIu64 " addresses for %" PRIu64 " transfers, with %" PRIu64
                                 " bytes out of bounds",
                                 (int)s->opcode_bytes, s->opcode, s->copy.listed, s->copy.count,
                                 s->copy.outside);
    return LS_OK;
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
            status = inspect_bulk(r, &s, err);
        if (status == LS_OK) {
            make_record(&s, cta, addr_count);
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
