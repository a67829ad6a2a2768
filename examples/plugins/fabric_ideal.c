/* fabric_ideal.c: a fabric without limits: every message takes latency_ns from end to end, however many are on their way.
 * It shows how much of a run is the bandwidth and the switches of a real one.
 *
 * One block takes the messages of all ends and passes them on. Half of the latency lies before it and half behind it. Each
 * class has links and queues of its own, so that no class waits for another. */
#include "lockstep/fabric.h"

#include <stdio.h>

#define CREDITS 256u /* messages of an end on their way to the block, by class */

typedef struct spec {
    uint64_t latency_ns;
} spec;

/* Messages of one class for one end that found its link full. */
typedef struct queue {
    ls_link *out;
    ls_event ready;
    ls_fabric_message *waiting; /* ring of `size` */
    ls_link **from;             /* their links, whose buffer entries they have */
    uint32_t head, tail, size;
} queue;

typedef struct ideal {
    queue *queues[LS_FABRIC_CLASSES]; /* by end */
} ideal;

static bool pass(queue *q, const ls_fabric_message *message, ls_link *from)
{
    ls_fabric_message *slot = ls_link_send(q->out, 1);
    if (slot == NULL)
        return false;
    *slot = *message;
    ls_link_release(from, 1);
    return true;
}

static void ready(void *self, ls_cycle now)
{
    queue *q = self;
    (void)now;
    for (; q->head != q->tail; q->head++)
        if (!pass(q, &q->waiting[q->head % q->size], q->from[q->head % q->size])) {
            ls_link_wait(q->out, &q->ready);
            return;
        }
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    const ls_fabric_message *message = payload;
    queue *q = (queue *)self + message->to;
    (void)now;
    if (q->head == q->tail && pass(q, message, link))
        return;
    q->waiting[q->tail % q->size] = *message;
    q->from[q->tail % q->size] = link;
    if (q->tail++ == q->head)
        ls_link_wait(q->out, &q->ready);
}

static const ls_block_type block_type = {
    .abi = LS_ABI_VERSION, .slot = "fabric.block", .name = "ideal", .state_size = sizeof(ideal)
};

/* Both links between an end and the block, for one class. `half`: of the latency, in fs. */
static ls_status join(ls_engine *engine, ls_region *region, ls_time half, queue *queues, uint32_t class,
                      ls_fabric_end *end, uint32_t number, ls_error *err)
{
    char name[64];
    queue *q = &queues[number];
    ls_link_spec in = { .name = name,
                        .from = end->region,
                        .to = region,
                        .credits = CREDITS,
                        .latency_cycles = (uint32_t)ls_clock_cycle_at(ls_region_clock(end->region), half) + 1,
                        .payload_bytes = sizeof(ls_fabric_message),
                        .receive = receive,
                        .receiver = queues };
    snprintf(name, sizeof name, "fabric.in%u.%u", number, class);
    ls_status status = ls_link_create(engine, &in, &end->send[class], err);
    if (status != LS_OK || end->receive_credits[class] == 0)
        return status; /* it gets no messages of this class */
    q->size = CREDITS * end->ends;
    q->waiting = ls_domain_alloc(ls_region_domain(region), q->size * sizeof *q->waiting);
    q->from = ls_domain_alloc(ls_region_domain(region), q->size * sizeof(ls_link *));
    if (q->waiting == NULL || q->from == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the fabric");
    ls_event_init(&q->ready, ready, q);
    ls_link_spec out = { .name = name,
                         .from = region,
                         .to = end->region,
                         .credits = end->receive_credits[class],
                         .latency_cycles = (uint32_t)ls_clock_cycle_at(ls_region_clock(region), half) + 1,
                         .payload_bytes = in.payload_bytes,
                         .receive = end->receive,
                         .receiver = end->receiver };
    snprintf(name, sizeof name, "fabric.out%u.%u", number, class);
    return ls_link_create(engine, &out, &q->out, err);
}

static ls_status build(ls_engine *engine, const void *given, const ls_fabric_plan *plan, ls_error *err)
{
    ls_time half = ((const spec *)given)->latency_ns * UINT64_C(1000000) / 2; /* in fs */
    ls_clock clock;
    ls_domain *domain;
    ls_group *group;
    ls_block *block;
    ls_status status = ls_clock_init(&clock, ls_ratio_make(1000000000, 1), err);
    if (status != LS_OK || (status = ls_domain_create(engine, "fabric", clock, &domain, err)) != LS_OK ||
        (status = ls_group_create(engine, "fabric", &group, err)) != LS_OK ||
        (status = ls_domain_set_group(domain, group, err)) != LS_OK ||
        (status = ls_block_create(ls_domain_region(domain, 0), "fabric", &block_type, NULL, &block, err)) !=
            LS_OK)
        return status;
    ideal *f = ls_block_state(block);
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++) {
        f->queues[c] = ls_domain_alloc(domain, plan->end_count * sizeof(queue));
        for (uint32_t i = 0; i < plan->end_count && f->queues[c] != NULL && status == LS_OK; i++)
            if (plan->ends[i] != NULL)
                status =
                    join(engine, ls_domain_region(domain, 0), half, f->queues[c], c, plan->ends[i], i, err);
    }
    return status;
}

static const ls_fabric_ops ops = { .build = build };
static const ls_port_decl ports[] = {
    { .name = LS_FABRIC_PORT, .interface = LS_FABRIC_INTERFACE, .ops = &ops }
};
static const ls_param params[] = {
    LS_PARAM_UINT(spec, latency_ns, "ns", 500, 2, 1000000, "of every message, from end to end"),
};
static const ls_block_type fabric_ideal = {
    .abi = LS_ABI_VERSION,
    .slot = LS_FABRIC_SLOT,
    .name = "ideal",
    .help = "every message takes the same time",
    LS_BLOCK_PARAMS(spec, params),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(fabric_ideal);
