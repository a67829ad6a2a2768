/* prefetch.c: see prefetch.h. */
#include "model/policy/prefetch.h"

const char *const prefetch_names[] = { "none", "next-line", "stride", NULL };

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status find_plugin(prefetcher *p, uint32_t number, ls_error *err)
{
    policy_found found;
    ls_status status = policy_find(POLICY_PREFETCH, number, &found, err);
    if (status != LS_OK)
        return status;
    p->ops = found.ops;
    p->plugin_bytes = p->ops->state_bytes(&p->shape);
    status = policy_alloc(POLICY_PREFETCH, &found, p->domain, &p->plugin_bytes, LS_PREFETCH_BYTES_MAX, 1,
                          "a cache", &p->plugin, err);
    if (status != LS_OK)
        return status;
    return policy_failure(POLICY_PREFETCH, &found, p->domain,
                          "named more lines than its degree, or a line of another page", &p->failure, err);
}

ls_status prefetch_init(prefetcher *p, const prefetch_spec *spec, uint32_t line_bytes, ls_domain *domain,
                        ls_error *err)
{
    *p = (prefetcher){ .spec = *spec, .page_lines = PREFETCH_PAGE_BYTES / line_bytes, .domain = domain };
    p->shape = (ls_prefetch_shape){ .line_bytes = line_bytes,
                                    .page_lines = p->page_lines,
                                    .degree = (uint32_t)spec->degree,
                                    .distance = (uint32_t)spec->distance };
    return spec->kind < PREFETCH_KINDS ? LS_OK : find_plugin(p, spec->kind - PREFETCH_KINDS, err);
}

ls_status prefetch_create(const prefetch_spec *spec, uint32_t line_bytes, ls_domain *domain, prefetcher **out,
                          ls_error *err)
{
    *out = NULL;
    if (spec->kind == PREFETCH_NONE)
        return LS_OK;
    *out = ls_domain_alloc(domain, sizeof **out);
    if (*out == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the prefetcher of a cache");
    return prefetch_init(*out, spec, line_bytes, domain, err);
}

static uint64_t plugin_bytes(const void *self)
{
    return ((const prefetcher *)self)->plugin_bytes;
}

const ls_state_row prefetch_rows[PREFETCH_ROWS] = {
    LS_STATE_FIXED_SPAN(prefetcher, spec, page_lines),     LS_STATE_DATA_SPAN(prefetcher, clock, streams),
    LS_STATE_FIXED_SPAN(prefetcher, ops, shape),           LS_STATE_ARRAY(prefetcher, plugin, plugin_bytes),
    LS_STATE_FIXED_SPAN(prefetcher, plugin_bytes, domain),
};

/* ------------------------------------------------------------------------------------------------- training */

/* A plug-in's lines, unless they may not be fetched. */
static uint32_t ask_plugin(prefetcher *p, uint64_t line, uint64_t out[PREFETCH_DEGREE_MAX])
{
    uint32_t count = p->ops->train(p->plugin, &p->shape, line, out);
    bool wrong = count > p->shape.degree;
    for (uint32_t i = 0; i < count && !wrong; i++)
        wrong = out[i] / p->page_lines != line / p->page_lines;
    if (!wrong)
        return count;
    ls_domain_fail(p->domain, p->failure);
    return 0;
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
    if (p->ops != NULL)
        return ask_plugin(p, line, out);
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
