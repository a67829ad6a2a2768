/* stream.h: thread blocks of the public header, and what only their readers do with them. */
#ifndef ISA_STREAM_H
#define ISA_STREAM_H

#include "isa/inst.h"
#include "lockstep/stream.h"

/* A block that is like another becomes an empty one with nothing of its own. */
void cta_own(ls_cta *cta);

#endif
