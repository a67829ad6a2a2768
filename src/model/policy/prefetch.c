/* prefetch.c: see prefetch.h. */
#include "model/policy/prefetch.h"

const char *const prefetch_names[] = { "none", "next-line", "stride", NULL };

void prefetch_init(prefetcher *p, const prefetch_spec *spec, uint32_t line_bytes)
{
    *p = (prefetcher){ .spec = *spec, .page_lines = PREFETCH_PAGE_BYTES / line_bytes };
}

/* The stream of the page, else the least recently used stream. */
static prefetch_stream *stream_of(prefetcher *p, uint64_t page)
{
    prefetch_stream *oldest = &p->streams[0];
    for (uint32_t i = 0; i < PREFETCH_STREAMS; i++) {
        if (p->streams[i].page == page + 1)
            return &p->streams[i];
        if (p->streams[i].used < oldest->used)
            oldest = &p->streams[i];
    }
    *oldest = (prefetch_stream){ .page = page + 1 };
    return oldest;
}

/* The stride that the next lines have; 0: it is not known. */
static int64_t stride_of(prefetcher *p, uint64_t line)
{
    prefetch_stream *s = stream_of(p, line / p->page_lines);
    bool fresh = s->used == 0;
    s->used = ++p->clock;
    int64_t step = fresh ? 0 : (int64_t)(line - s->last);
    if (step != 0) {
        s->repeats = step == s->stride ? s->repeats + 1 : 1;
        s->stride = step;
    }
    s->last = line;
    return s->repeats >= 2 ? s->stride : 0;
}

uint32_t prefetch_train(prefetcher *p, uint64_t line, uint64_t out[PREFETCH_DEGREE_MAX])
{
    int64_t stride = p->spec.kind == PREFETCH_STRIDE ? stride_of(p, line) : p->spec.kind == PREFETCH_NEXT_LINE;
    uint32_t count = 0;
    for (uint64_t i = 0; i < p->spec.degree && stride != 0; i++) {
        uint64_t next = line + (uint64_t)(stride * (int64_t)(p->spec.distance + i));
        if (next / p->page_lines != line / p->page_lines)
            break;
        out[count++] = next;
    }
    return count;
}
