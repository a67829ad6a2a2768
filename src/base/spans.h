/* spans.h: the union of intervals of time: how long at least one of several things was at work. */
#ifndef BASE_SPANS_H
#define BASE_SPANS_H

#include "base/vec.h"

#include <stdint.h>

typedef struct ls_span {
    uint64_t begin, end; /* end is the first that is not in it */
} ls_span;

/* All zero is empty. Invariant: at[] is sorted, no two spans touch, and total is the sum of their lengths. */
typedef struct ls_spans {
    LS_VEC(ls_span) list;
    uint64_t total;
} ls_spans;

/* Adds [begin, end); an empty one changes nothing. False when the host has no memory left. */
bool ls_spans_add(ls_spans *spans, uint64_t begin, uint64_t end);
void ls_spans_fini(ls_spans *spans);

#endif
