/* stream.h: functions on the thread blocks of the public header, for readers only. */
#ifndef ISA_STREAM_H
#define ISA_STREAM_H

#include "isa/inst.h"
#include "lockstep/stream.h"

/* A thread block that shares the content of another becomes empty, so that it can be filled again. */
void cta_own(ls_cta *cta);

/* Whether `count` words are one whole record of an execution with this mask, as a reader of files must ask. */
bool cta_record_is_valid(const uint64_t *words, uint64_t count, uint32_t mask);

#endif
