/* host_fixed.c: a host without limits: every line of CPU memory and every page walk is answered latency_ns after it came,
 * however many there are. It knows no directory, so that pages cannot migrate. */
#include "lockstep/host.h"

typedef struct spec {
    ls_ratio latency_ns;
    uint64_t copies, requests;
} spec;

typedef struct job {
    ls_fabric_message message;
    ls_link *link; /* whose buffer entry it has */
    ls_cycle due;
} job;

/* Messages that came in one class, in order, and leave in one class. */
typedef struct queue {
    struct state *owner;
    job *jobs; /* ring of `size` */
    uint32_t head, tail, size;
    ls_event event;
} queue;

typedef struct counters {
    uint64_t lines, walks;
} counters;

typedef struct state {
    const spec *spec;
    ls_region *region;
    ls_host_wiring wiring;
    ls_fabric_end end;
    ls_pages pages[LS_HOST_GPUS_MAX];
    queue queues[LS_FABRIC_CLASSES];
    uint64_t latency_cycles;
    counters n;
} state;

static void answer(void *self, ls_cycle now)
{
    queue *q = self;
    state *s = q->owner;
    for (; q->head != q->tail; q->head++) {
        job *j = &q->jobs[q->head % q->size];
        ls_fabric_class class = j->message.class_index == LS_FABRIC_REQUEST
                                    ? LS_FABRIC_DATA
                                    : (ls_fabric_class)j->message.class_index;
        if (j->due > now) {
            ls_schedule_at(s->region, &q->event, j->due);
            return;
        }
        if (!ls_link_ready(s->end.send[class])) {
            ls_link_wait(s->end.send[class], &q->event);
            return;
        }
        (void)ls_host_answer(&s->wiring, &s->pages[j->message.from], &j->message);
        *(ls_fabric_message *)ls_link_send(s->end.send[class], 1) = j->message;
        ls_link_release(j->link, 1);
    }
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    const ls_fabric_message *message = payload;
    if (!ls_host_is_own(message)) {
        ls_domain_fail(ls_region_domain(s->region), "host/fixed knows no pages that migrate");
        return;
    }
    queue *q = &s->queues[message->class_index];
    *(message->class_index == LS_FABRIC_WALK ? &s->n.walks : &s->n.lines) += 1;
    q->jobs[q->tail++ % q->size] = (job){ *message, link, now + s->latency_cycles };
    if (!ls_event_scheduled(&q->event) && q->tail - q->head == 1)
        ls_schedule_at(s->region, &q->event, now + s->latency_cycles);
}

static ls_status describe(const void *given, ls_host_shape *out, ls_error *err)
{
    (void)err;
    *out = (ls_host_shape){ .clock_hz = ls_ratio_make(1000000000, 1),
                            .copies = (uint32_t)((const spec *)given)->copies };
    return LS_OK;
}

static ls_status attach(void *self, const ls_host_wiring *wiring, ls_error *err)
{
    state *s = self;
    s->wiring = *wiring;
    s->end.receive_credits[LS_FABRIC_REQUEST] = s->end.receive_credits[LS_FABRIC_WALK] =
        (uint32_t)s->spec->requests;
    s->end.receive_credits[LS_FABRIC_COPY] = (uint32_t)s->spec->copies * wiring->gpus;
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++) {
        queue *q = &s->queues[c];
        *q = (queue){ .owner = s, .size = s->end.receive_credits[c] };
        ls_event_init(&q->event, answer, q);
        q->jobs = ls_domain_alloc(ls_region_domain(s->region), q->size * sizeof *q->jobs + 1);
        if (q->jobs == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the host");
    }
    return LS_OK;
}

static ls_fabric_end *end_of(void *self)
{
    return &((state *)self)->end;
}

static ls_status set_pages(void *self, uint32_t gpu, const ls_pages *pages, ls_error *err)
{
    (void)err;
    ((state *)self)->pages[gpu] = *pages;
    return LS_OK;
}

static ls_status init(ls_block *block, void *self, const void *given, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = given;
    s->region = ls_block_region(block);
    s->latency_cycles = s->spec->latency_ns.num / s->spec->latency_ns.den; /* of a clock of 1 GHz */
    s->end = (ls_fabric_end){ .name = "host", .region = s->region, .receive = receive, .receiver = s };
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_RATIO(spec, latency_ns, "latency_ns", "ns", "100", 1, 1000000,
                   "of every line and every page walk"),
    LS_PARAM_UINT(spec, copies, "messages", 256, 1, 4096,
                  "pieces of copies of each GPU that are open at once"),
    LS_PARAM_UINT(spec, requests, "messages", 1024, 1, 4096, "lines, and page walks, that are open at once"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, lines, "lines", "read or written by GPUs"),
    LS_METRIC_COUNTER(counters, walks, "walks", "of page tables"),
};
static const ls_host_ops ops = { ls_host_build, describe, attach, end_of, set_pages, NULL, NULL, NULL };
static const ls_port_decl ports[] = { { .name = LS_HOST_PORT, .interface = LS_HOST_INTERFACE, .ops = &ops } };
static const ls_block_type host_fixed = {
    .abi = LS_ABI_VERSION,
    .slot = LS_HOST_SLOT,
    .name = "fixed",
    .help = "every line and every walk takes the same time",
    LS_BLOCK_PARAMS(spec, params),
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
};
LS_REGISTER_BLOCK(host_fixed);
