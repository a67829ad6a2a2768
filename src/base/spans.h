/* spans.h: the union of intervals of time: how long at least one of several things was at work. */
#ifndef BASE_SPANS_H
#define BASE_SPANS_H

#include "base/vec.h"

#include <stdint.h>

typedef struct number_span {
    uint64_t begin, end; /* end is the first that is not in it */
} number_span;

/* All zero is empty. Invariant: at[] is sorted, no two spans touch, and total is the sum of their lengths. */
typedef struct span_list {
    LS_VEC(number_span) list;
    uint64_t total;
} span_list;

/* Adds [begin, end); an empty one changes nothing. False when the host has no memory left. */
bool spans_add(span_list *spans, uint64_t begin, uint64_t end);
void spans_fini(span_list *spans);

#endif
