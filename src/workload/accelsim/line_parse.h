/* line_parse.h: one instruction line in words: the state of its parsing, and reading of single words. Private to line.c and
 * line_bulk.c. */
#ifndef ACCELSIM_LINE_PARSE_H
#define ACCELSIM_LINE_PARSE_H

#include "isa/sass/sass.h"
#include "workload/accelsim/hex.h"
#include "workload/accelsim/line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>

#define OPCODE_MAX 200

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

static inline void begin(parse *s, const char *at, const char *end)
{
    memset(s, 0, offsetof(parse, what));
    s->at = at;
    s->end = end;
    s->what[0] = s->body_text[0] = s->pc_text[0] = s->tail_text[0] = '\0';
    s->body = (kept_words){ .room = sizeof s->body_text, .text = s->body_text };
    s->pc_words = (kept_words){ .room = sizeof s->pc_text, .text = s->pc_text };
    s->tail_words = (kept_words){ .room = sizeof s->tail_text, .text = s->tail_text };
}

static inline bool fail(parse *s, const char *fmt, ...) LS_PRINTF(2, 3);

static inline bool fail(parse *s, const char *fmt, ...)
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
static inline bool next(parse *s, const char *name, bool optional)
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

static inline bool wrong(parse *s, const char *name, const char *need)
{
    char quoted[48];
    return fail(s, "the %s '%s' is not %s", name, quote_text(s->word, s->bytes, quoted, sizeof quoted), need);
}

static inline bool word_number(parse *s, const char *name, uint64_t most, uint64_t *out)
{
    int64_t value;
    if (!next(s, name, false))
        return false;
    if (hex_read_decimal(s->word, &value) != s->word + s->bytes || value < 0 || (uint64_t)value > most)
        return wrong(s, name, "a number that is possible here");
    *out = (uint64_t)value;
    return true;
}

static inline bool word_hex(parse *s, const char *name, size_t most_digits, uint64_t *out)
{
    if (!next(s, name, false))
        return false;
    if (s->bytes > most_digits || hex_read64(s->word, out) != s->word + s->bytes)
        return wrong(s, name, "a hexadecimal number");
    return true;
}

static inline bool word_address(parse *s, uint64_t *out)
{
    if (!next(s, "addresses", false))
        return false;
    /* Some tools leave 0x out. */
    if (hex_read_address(s->word, out) != s->word + s->bytes && hex_read64(s->word, out) != s->word + s->bytes)
        return wrong(s, "address", "a hexadecimal number of up to 16 digits");
    return true;
}

static inline bool word_signed(parse *s, const char *name, int64_t *out)
{
    if (!next(s, name, false))
        return false;
    if (hex_read_decimal(s->word, out) != s->word + s->bytes &&
        parse_i64(s->word, s->bytes, out, NULL) != LS_OK)
        return wrong(s, name, "a decimal number of 64 bits");
    return true;
}

/* Adds the current word and a space before it unless it is the first. */
static inline bool keep(parse *s, kept_words *to)
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

static inline bool is_word(const parse *s, const char *text)
{
    return s->bytes == strlen(text) && memcmp(s->word, text, s->bytes) == 0;
}

/* How many words stand before Val, NoVal or the end of the line. */
static inline unsigned words_left(const parse *s)
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

/* --- line_bulk.c --- */

/* Whether the fields of a bulk copy come next, from the mbarrier's address on. */
bool parse_is_bulk(const parse *s);
/* Reads them into a record at the end of the block's addresses. */
bool parse_bulk(parse *s, const acc_reader *r, ls_cta *cta);
/* Makes a record of addresses, which begin at `first`, and values that were just read, where the machine needs both. */
void parse_make_record(parse *s, ls_cta *cta, uint64_t first);
/* Defects of a bulk copy, for the report. */
ls_status parse_inspect_bulk(acc_reader *r, const parse *s, ls_error *err);

#endif
