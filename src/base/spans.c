/* spans.c: see spans.h. Intervals mostly come in order, so the search starts at the end. */
#include "base/spans.h"

#include <string.h>

bool spans_add(span_list *s, uint64_t begin, uint64_t end)
{
    if (end <= begin)
        return true;
    if (!vec_reserve(&s->list, 1))
        return false;
    number_span *at = s->list.at;
    size_t last = s->list.count; /* the new span touches the spans [first, last) */
    while (last > 0 && at[last - 1].begin > end)
        last--;
    size_t first = last;
    while (first > 0 && at[first - 1].end >= begin)
        first--;
    number_span merged = { begin, end };
    for (size_t i = first; i < last; i++) {
        merged.begin = at[i].begin < merged.begin ? at[i].begin : merged.begin;
        merged.end = at[i].end > merged.end ? at[i].end : merged.end;
        s->total -= at[i].end - at[i].begin;
    }
    memmove(&at[first + 1], &at[last], (s->list.count - last) * sizeof *at);
    at[first] = merged;
    s->list.count = s->list.count - (last - first) + 1;
    s->total += merged.end - merged.begin;
    return true;
}

void spans_fini(span_list *s)
{
    vec_fini(&s->list);
    s->total = 0;
}
