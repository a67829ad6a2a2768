/* line_bulk.c: operands that addresses of lanes cannot say: the fields of bulk copies, and values of registers of mbarrier
 * operations and barriers. They become records of their execution (lockstep/stream.h). */
#include "workload/accelsim/line_parse.h"

bool parse_is_bulk(const parse *s)
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
bool parse_bulk(parse *s, const acc_reader *r, ls_cta *cta)
{
    static const uint32_t digits_of_base = 1; /* as tracers write it */
    uint32_t version = r->kernel.info.tracer_version;
    uint64_t mbarrier = 0, multicast = 0, mask = 0, bytes = 0, outside = 0, format = 0;
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

void parse_make_record(parse *s, ls_cta *cta, uint64_t first)
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

/* Tracers lose addresses of bulk copies in two ways. */
ls_status parse_inspect_bulk(acc_reader *r, const parse *s, ls_error *err)
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
