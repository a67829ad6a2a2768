/* stream.c: functions on thread blocks for readers and cores: free their memory, expand addresses. */
#include "isa/stream.h"

#include <stdlib.h>
#include <string.h>

void ls_cta_fini(ls_cta *cta)
{
    if (cta->like == NULL) {
        free(cta->warps);
        free(cta->dyns);
        free(cta->addrs);
    }
    free(cta->moves);
    *cta = (ls_cta){ 0 };
}

void cta_own(ls_cta *cta)
{
    if (cta->like != NULL)
        ls_cta_fini(cta);
}

void ls_cta_addresses(const ls_cta *cta, const ls_dyn *dyn, uint64_t out[32])
{
    if (dyn->addr == LS_ADDR_NONE)
        return;
    const uint64_t *words = cta->addrs + (dyn->addr >> 2);
    uint64_t move = ls_cta_move(cta, dyn);
    uint32_t mode = dyn->addr & 3;
    if (mode == LS_ADDR_RECORD) {
        if (ls_record_kind_of(words[0]) != LS_RECORD_MBARRIER) { /* its addresses are not those of lanes */
            memset(out, 0, 32 * sizeof *out);
            return;
        }
        mode = ls_record_format(words[0]);
        words++;
    }
    if (mode == LS_ADDR_STRIDE) {
        uint64_t address = words[0] + move; /* wraps as the hardware's adder does */
        for (uint32_t mask = dyn->mask; mask; mask &= mask - 1) {
            out[__builtin_ctz(mask)] = address;
            address += words[1];
        }
        return;
    }
    if (dyn->mask == UINT32_MAX) {
        for (uint32_t lane = 0; lane < 32; lane++)
            out[lane] = words[lane] + move;
        return;
    }
    for (uint32_t mask = dyn->mask; mask; mask &= mask - 1)
        out[__builtin_ctz(mask)] = *words++ + move;
}

const uint64_t *ls_cta_bulk_addresses(const uint64_t *record, uint32_t *count)
{
    uint32_t words = ls_record_words(record[0]);
    uint64_t said = record[LS_BULK_WORD_COUNT];
    *count = words - LS_BULK_WORD_ADDRESSES;
    bool lost = *count == 1 && ls_record_format(record[0]) == 4 && record[LS_BULK_WORD_ADDRESSES] == 0;
    if (lost || said == 0)
        *count = 0;
    return record + LS_BULK_WORD_ADDRESSES;
}

bool ls_cta_operand(const uint64_t *record, uint32_t mask, uint32_t lane, uint64_t *out)
{
    uint32_t count = ls_record_details(record[0]), place = 0;
    if (ls_record_kind_of(record[0]) != LS_RECORD_MBARRIER || count == 0)
        return false;
    if (count > 1)
        place = (uint32_t)__builtin_popcount(mask & ((1u << lane) - 1));
    *out = record[ls_record_words(record[0]) - count + place];
    return true;
}

bool cta_record_is_valid(const uint64_t *words, uint64_t count, uint32_t mask)
{
    if (count == 0 || ls_record_words(words[0]) != count)
        return false;
    uint32_t format = ls_record_format(words[0]), details = ls_record_details(words[0]);
    uint64_t lanes = (uint64_t)__builtin_popcount(mask);
    switch (ls_record_kind_of(words[0])) {
    case LS_RECORD_BULK:
        return (details & 0xfe) == 0 && ((format == 3 && count >= LS_BULK_WORD_ADDRESSES) ||
                                         (format == 4 && count > LS_BULK_WORD_ADDRESSES));
    case LS_RECORD_MBARRIER:
        return format <= LS_ADDR_DELTA && (details <= 1 || details == lanes) &&
               count == 1 + (format == LS_ADDR_STRIDE ? 2 : lanes) + details;
    case LS_RECORD_BARRIER:
        return format == 0 && details == 0 && count == 2;
    }
    return false;
}
