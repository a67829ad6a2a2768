/* mmu_fixed.c: an MMU that answers every question after the same time: no L2 TLB, and as many page-table walkers as
 * there are questions. It shows the interface of lockstep/tlb.h between L1 TLBs and the MMU. */
#include "lockstep/tlb.h"

typedef struct spec {
    uint64_t page_kib, latency_cycles;
} spec;

typedef struct counters {
    uint64_t requests;
} counters;

typedef struct question {
    ls_page_walk walk;
    uint32_t link;
    ls_cycle due;
} question;

struct state;

/* One L1 TLB. */
typedef struct tlb {
    struct state *mmu;
    ls_link *out;
} tlb;

typedef struct state {
    const spec *spec;
    ls_region *region;
    counters n;
    ls_pages pages;
    tlb *tlbs;
    question *ring; /* in the order of arrival, which is that of `due`; there is room for all questions */
    uint32_t size, first, count;
    ls_event event;
} state;

/* Sends the answers that are due. The event comes again for the next one, or when its link is ready. */
static void answer(void *self, ls_cycle now)
{
    state *s = self;
    for (; s->count > 0; s->count--, s->first = (s->first + 1) % s->size) {
        const question *q = &s->ring[s->first];
        ls_link *out = s->tlbs[q->link].out;
        if (q->due > now) {
            ls_schedule_at(s->region, &s->event, q->due);
            return;
        }
        if (!ls_link_ready(out)) {
            ls_link_wait(out, &s->event);
            return;
        }
        *(ls_page_walk *)ls_link_send(out, sizeof q->walk) = q->walk;
    }
}

static void receive(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    const tlb *from = receiver;
    state *s = from->mmu;
    question *q = &s->ring[(s->first + s->count) % s->size];
    *q = (question){ .walk = *(const ls_page_walk *)payload,
                     .link = (uint32_t)(from - s->tlbs),
                     .due = now + s->spec->latency_cycles };
    q->walk.page = s->pages.look(s->pages.self, q->walk.address);
    s->n.requests++;
    ls_link_release(link, 1);
    if (s->count++ == 0)
        ls_schedule_at(s->region, &s->event, q->due);
}

static ls_status attach(void *self, const ls_pages *pages, uint32_t links, uint32_t questions, ls_error *err)
{
    state *s = self;
    ls_domain *domain = ls_region_domain(s->region);
    s->pages = *pages;
    s->size = links * questions;
    s->tlbs = ls_domain_alloc(domain, links * sizeof *s->tlbs);
    s->ring = ls_domain_alloc(domain, s->size * sizeof *s->ring);
    if (s->tlbs == NULL || s->ring == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for an MMU of %u TLBs", links);
    for (uint32_t i = 0; i < links; i++)
        s->tlbs[i].mmu = s;
    return LS_OK;
}

static void *receiver_of(void *self, uint32_t i)
{
    return &((state *)self)->tlbs[i];
}

static void set_reply(void *self, uint32_t i, ls_link *link)
{
    ((state *)self)->tlbs[i].out = link;
}

static uint64_t page_bytes(const void *self)
{
    return ((const state *)self)->spec->page_kib * 1024;
}

/* It remembers no pages. */
static void discard(void *self, uint64_t address, uint64_t bytes)
{
    (void)self, (void)address, (void)bytes;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = from_platform;
    s->region = ls_block_region(block);
    ls_event_init(&s->event, answer, s);
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, page_kib, "KiB", 4, 4, 2048, "size of a page (a power of two)"),
    LS_PARAM_UINT(spec, latency_cycles, "cycles", 100, 1, 100000, "of every translation"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, requests, "requests", "misses of L1 TLBs"),
};
/* Without set_host(): systems whose pages migrate, and mmu.walks: host, refuse it by name. */
static const ls_mmu_ops mmu_ops = { .attach = attach,
                                    .receiver = receiver_of,
                                    .receive = receive,
                                    .set_reply = set_reply,
                                    .page_bytes = page_bytes,
                                    .discard = discard };
static const ls_port_decl ports[] = {
    { .name = LS_MMU_PORT, .interface = LS_MMU_INTERFACE, .ops = &mmu_ops },
};
static const ls_block_type mmu_fixed = {
    .abi = LS_ABI_VERSION,
    .slot = LS_MMU_SLOT,
    .name = "fixed",
    .help = "answers every question after the same time",
    LS_BLOCK_PARAMS(spec, params),
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
};
LS_REGISTER_BLOCK(mmu_fixed);
