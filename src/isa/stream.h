/* stream.h: functions on the thread blocks of the public header, for readers only. */
#ifndef ISA_STREAM_H
#define ISA_STREAM_H

#include "isa/inst.h"
#include "lockstep/stream.h"

/* A thread block that shares the content of another becomes empty, so that it can be filled again. */
void cta_own(ls_cta *cta);

/* The address of the first active lane, of an access with addresses of lanes: ls_cta_addresses() works out all. */
static inline uint64_t cta_first_address(const ls_cta *cta, const ls_dyn *dyn)
{
    const uint64_t *words = cta->addrs + (dyn->addr >> 2);
    if ((dyn->addr & 3) == LS_ADDR_RECORD) {
        if (ls_record_kind_of(words[0]) != LS_RECORD_MBARRIER)
            return 0;
        words++;
    }
    return words[0] + ls_cta_move(cta, dyn);
}

/* Words of two lanes at a time: the compiler does not take them so by itself at -O2. */
typedef uint64_t lane_pair __attribute__((vector_size(16)));

/* Whether `count` words are one whole record of an execution with this mask, as a reader of files must ask. */
bool cta_record_is_valid(const uint64_t *words, uint64_t count, uint32_t mask);

#endif
