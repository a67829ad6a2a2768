/* peer_build.c: see peer_build.h. */
#include "model/gpu/peer_build.h"

#include "model/gpu/device_queue.h"
#include "model/gpu/peer.h"
#include "model/gpu/remote_l2.h"

#include <stdio.h>

#define NOTICE_CREDITS 64u
#define FENCE_CREDITS 64u /* of a core: one for each warp */

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

typedef struct builder {
    const gpu_peer_plan *plan;
    ls_engine *engine;
    const ls_peer_ops *ops;
    ls_region *region;
    uint32_t hop[GPU_MESSAGE_CLASSES]; /* latency, by the direction of a core */
} builder;

/* One end of a link: a block and the function that takes messages. */
typedef struct side {
    ls_region *region;
    const char *name;
    ls_receive_fn receive;
    void *receiver;
} side;

static ls_status connect(const builder *b, const char *kind, uint32_t number, const side *from, const side *to,
                         uint32_t class_index, uint32_t credits, uint32_t payload_bytes, ls_link **out,
                         ls_error *err)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s%u", b->plan->prefix, kind, number);
    return ls_link_create(b->engine,
                          &(ls_link_spec){ .name = name,
                                           .from = from->region,
                                           .to = to->region,
                                           .from_name = from->name,
                                           .to_name = to->name,
                                           .latency_cycles = b->hop[class_index],
                                           .credits = credits,
                                           .payload_bytes = payload_bytes,
                                           .receive = to->receive,
                                           .receiver = to->receiver },
                          out, err);
}

/* Requests of all cores; or, behind L2, their fences. */
static ls_status connect_cores(const builder *b, const side *peer, gpu_peer_links *links, ls_link **to_core,
                               ls_error *err)
{
    const gpu_instance *gpu = b->plan->gpu;
    const ls_noc_shape *noc = b->plan->noc;
    bool fences = gpu->remote_l2 != NULL;
    for (uint32_t i = 0; i < gpu->core_count; i++) {
        const side core = { b->plan->core_regions[i], ls_block_name(gpu->cores[i]),
                            ((const ls_core_ops *)gpu->core_ports[i].ops)->receive_reply,
                            gpu->core_ports[i].self };
        side in = *peer;
        in.receive = fences ? b->ops->receive_flush : b->ops->receive_request;
        TRY(connect(b, fences ? "peer.fence" : "peer.request", i, &core, &in, GPU_REQUEST,
                    fences ? FENCE_CREDITS : noc->credits[GPU_REQUEST], sizeof(ls_sector_message),
                    &links->from_core[i], err));
        TRY(connect(b, fences ? "peer.fenced" : "peer.reply", i, peer, &core, GPU_REPLY,
                    fences ? FENCE_CREDITS : noc->credits[GPU_REPLY], sizeof(ls_sector_message), &to_core[i],
                    err));
    }
    links->reply_credits = fences ? FENCE_CREDITS : noc->credits[GPU_REPLY];
    return LS_OK;
}

/* Behind L2: requests of its part for other GPUs' memory. */
static ls_status connect_parts(const builder *b, const side *peer, gpu_peer_links *links, ls_link **to_part,
                               ls_error *err)
{
    const gpu_instance *gpu = b->plan->gpu;
    const ls_noc_shape *noc = b->plan->noc;
    for (uint32_t k = 0; k < gpu->channel_count; k++) {
        const side part = { b->plan->l2_regions[k], ls_block_name(gpu->remote_l2[k]), remote_l2_receive_answer,
                            ls_block_state(gpu->remote_l2[k]) };
        side in = *peer;
        in.receive = b->ops->receive_request;
        TRY(connect(b, "peer.request", k, &part, &in, GPU_REQUEST, noc->credits[GPU_REQUEST],
                    sizeof(ls_sector_message), &links->from_part[k], err));
        TRY(connect(b, "peer.reply", k, peer, &part, GPU_REPLY, noc->credits[GPU_REPLY],
                    sizeof(ls_sector_message), &to_part[k], err));
    }
    return LS_OK;
}

static ls_status connect_memory(const builder *b, const side *peer, gpu_peer_links *links, ls_link **to_memory,
                                ls_error *err)
{
    const gpu_instance *gpu = b->plan->gpu;
    const ls_noc_shape *noc = b->plan->noc;
    for (uint32_t k = 0; k < gpu->channel_count; k++) {
        const side memory = { b->plan->l2_regions[k], ls_block_name(gpu->l2[k]), gpu_memory_receive(gpu, k),
                              gpu_memory_receiver(gpu, k) };
        side in = *peer;
        in.receive = b->ops->receive_reply;
        TRY(connect(b, "peer.memory", k, peer, &memory, GPU_REPLY, noc->credits[GPU_REQUEST],
                    sizeof(ls_sector_message), &to_memory[k], err));
        TRY(connect(b, "peer.answer", k, &memory, &in, GPU_REPLY, noc->credits[GPU_REPLY],
                    sizeof(ls_sector_message), &links->from_memory[k], err));
    }
    return LS_OK;
}

static ls_status connect_queue(const builder *b, const side *peer, ls_link **to_queue, ls_error *err)
{
    gpu_instance *gpu = b->plan->gpu;
    char name[64];
    ls_link *to_peer;
    snprintf(name, sizeof name, "%squeue", b->plan->prefix);
    TRY(device_queue_create(b->plan->dispatch_region, name, &gpu->queue, err));
    const side queue = { b->plan->dispatch_region, ls_block_name(gpu->queue), device_queue_receive,
                         ls_block_state(gpu->queue) };
    side in = *peer;
    in.receive = b->ops->receive_command;
    TRY(connect(b, "peer.command", 0, &queue, &in, GPU_REQUEST, LS_PEER_COMMANDS, sizeof(ls_peer_command),
                &to_peer, err));
    TRY(connect(b, "peer.notice", 0, peer, &queue, GPU_REPLY, NOTICE_CREDITS, sizeof(ls_peer_notice), to_queue,
                err));
    device_queue_attach(gpu->queue, to_peer, gpu->dispatch_port);
    return LS_OK;
}

static ls_status no_memory(const gpu_instance *gpu, ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for the links of a GPU of %u cores", gpu->core_count);
}

/* Fills in the requesters of the wiring. */
static ls_status connect_requesters(const builder *b, const side *peer, gpu_peer_links *out,
                                    ls_peer_wiring *wiring, ls_error *err)
{
    const gpu_instance *gpu = b->plan->gpu;
    bool behind = gpu->remote_l2 != NULL;
    wiring->requesters = behind ? gpu->channel_count : gpu->core_count;
    wiring->behind = behind;
    wiring->requests_max = wiring->requesters * b->plan->noc->credits[GPU_REQUEST];
    ls_link **to_core = ls_engine_alloc(b->engine, gpu->core_count * sizeof *to_core);
    ls_link **to_part = ls_engine_alloc(b->engine, gpu->channel_count * sizeof *to_part);
    if (!behind || gpu->flushes)
        out->from_core = ls_engine_alloc(b->engine, gpu->core_count * sizeof *out->from_core);
    if (behind)
        out->from_part = ls_engine_alloc(b->engine, gpu->channel_count * sizeof *out->from_part);
    if (to_core == NULL || to_part == NULL || ((!behind || gpu->flushes) && out->from_core == NULL) ||
        (behind && out->from_part == NULL))
        return no_memory(gpu, err);
    if (out->from_core != NULL)
        TRY(connect_cores(b, peer, out, to_core, err));
    if (behind)
        TRY(connect_parts(b, peer, out, to_part, err));
    wiring->to_core = behind ? to_part : to_core;
    wiring->fences = gpu->flushes ? to_core : NULL;
    wiring->fences_max = gpu->flushes ? gpu->core_count * FENCE_CREDITS : 0;
    return LS_OK;
}

ls_status gpu_peer_build(const gpu_peer_plan *plan, gpu_peer_links *out, ls_error *err)
{
    gpu_instance *gpu = plan->gpu;
    builder b = { .plan = plan, .engine = gpu->engine };
    const ls_noc_shape *noc = plan->noc;
    const ls_block_type *model = ls_machine_model(plan->machine, LS_PEER_SLOT);
    ls_peer_shape shape = { 0 };
    char name[64];
    ls_domain *domain;
    b.ops = ls_block_type_port(model, LS_PEER_INTERFACE, false)->ops;
    if (gpu->flushes && b.ops->receive_flush == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "peer.model is '%s', which flushes no L2: set rdma.at to l1, or rdma.cache to never",
                       model->name);
    b.ops->describe(ls_machine_spec(plan->machine, LS_PEER_SLOT), &shape);
    for (uint32_t i = 0; i < GPU_MESSAGE_CLASSES; i++)
        b.hop[i] = shape.hop_cycles != 0 ? shape.hop_cycles : noc->latency_cycles[i];
    snprintf(name, sizeof name, "%speers", plan->prefix);
    TRY(ls_domain_create(b.engine, name, plan->clock, &domain, err));
    b.region = ls_domain_region(domain, 0);
    snprintf(name, sizeof name, "%speer", plan->prefix);
    TRY(ls_machine_block(plan->machine, b.region, name, LS_PEER_SLOT, &gpu->peer, err));
    const side peer = { .region = b.region,
                        .name = ls_block_name(gpu->peer),
                        .receiver = ls_block_state(gpu->peer) };
    ls_peer_wiring wiring = {
        .number = gpu->number, .core_count = gpu->core_count, .channels = gpu->channel_count, .map = &gpu->map
    };
    ls_link **to_memory = ls_engine_alloc(b.engine, gpu->channel_count * sizeof *to_memory);
    out->from_memory = ls_engine_alloc(b.engine, gpu->channel_count * sizeof *out->from_memory);
    gpu->owners = ls_engine_alloc(b.engine, sizeof *gpu->owners);
    if (to_memory == NULL || out->from_memory == NULL || gpu->owners == NULL)
        return no_memory(gpu, err);
    TRY(connect_requesters(&b, &peer, out, &wiring, err));
    TRY(connect_memory(&b, &peer, out, to_memory, err));
    TRY(connect_queue(&b, &peer, &wiring.to_queue, err));
    out->request_credits = noc->credits[GPU_REQUEST];
    wiring.to_memory = to_memory;
    TRY(b.ops->attach(peer.receiver, &wiring, err));
    return ls_engine_add_part(b.engine, LS_FABRIC_END_PART, b.ops->end(peer.receiver), err);
}
