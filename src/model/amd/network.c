/* network.c: the network as the model of slot `noc` sees it. It joins the hubs above L2 (of clusters or shader
 * arrays, and of the DMA engine) with the gates of memory partitions. */
#include "model/amd/build.h"

#define CREDITS_TO_SPARE 32u
#define HEADER_BYTES 8u /* of a message: address, kind, sender */

enum { REQUEST, REPLY, MESSAGE_CLASSES };

static const ls_line_message *message_of(const void *payload)
{
    return payload;
}

static uint32_t request_destination(const void *self, const void *payload)
{
    (void)self;
    return message_of(payload)->place;
}

static uint32_t reply_destination(const void *self, const void *payload)
{
    (void)self;
    return message_of(payload)->requester;
}

static uint32_t request_bytes(const void *self, const void *payload)
{
    uint32_t line_bytes = ((const amd_gpu *)self)->line_bytes;
    return HEADER_BYTES + (ls_line_request_data(message_of(payload), line_bytes) != 0 ? line_bytes : 0);
}

static uint32_t reply_bytes(const void *self, const void *payload)
{
    return HEADER_BYTES + ls_line_reply_data(message_of(payload), ((const amd_gpu *)self)->line_bytes);
}

static const ls_noc_class classes[MESSAGE_CLASSES] = {
    [REQUEST] = { .name = "request",
                  .from = LS_NOC_CORES,
                  .payload_bytes = sizeof(ls_line_message),
                  .destination = request_destination,
                  .wire_bytes = request_bytes },
    [REPLY] = { .name = "reply",
                .from = LS_NOC_MEMORIES,
                .payload_bytes = sizeof(ls_line_message),
                .destination = reply_destination,
                .wire_bytes = reply_bytes },
};

ls_status build_network_plan(builder *b, ls_error *err)
{
    builder_network *n = &b->network;
    n->ops = ls_block_type_port(ls_machine_model(b->machine, "noc"), LS_NOC_INTERFACE, false)->ops;
    n->hubs = ls_engine_alloc(b->engine, (b->uppers + 1) * sizeof *n->hubs);
    n->gates = ls_engine_alloc(b->engine, b->channels * sizeof *n->gates);
    if (n->hubs == NULL || n->gates == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the network of a GPU of %u clusters", b->clusters);
    for (uint32_t i = 0; i <= b->uppers; i++)
        n->hubs[i].lanes = 1;
    for (uint32_t k = 0; k < b->channels; k++)
        n->gates[k].lanes = b->slices;
    BUILD_NAME(n->prefix, "gpu#.", b->gpu->number);
    n->plan = (ls_noc_plan){ .engine = b->engine,
                             .prefix = n->prefix,
                             .clock = b->core_clock,
                             .side = { n->hubs, n->gates },
                             .count = { b->uppers + 1, b->channels },
                             .classes = { classes[REQUEST], classes[REPLY] },
                             .class_count = MESSAGE_CLASSES,
                             .self = b->gpu,
                             .spare_credits = CREDITS_TO_SPARE };
    ls_noc_shape shape;
    TRY(n->ops->describe(ls_machine_spec(b->machine, "noc"), &n->plan, &shape, err));
    n->requests_max = shape.receive_max[REQUEST];
    n->latency[REQUEST] = shape.latency_cycles[REQUEST];
    n->latency[REPLY] = shape.latency_cycles[REPLY];
    return LS_OK;
}

ls_block *build_hub_of(const builder *b, uint32_t i)
{
    if (i == b->uppers)
        return b->dma_hub;
    return b->arrays > 0 ? b->array_hubs[i] : b->cluster_hubs[i];
}

static ls_noc_endpoint end_of(ls_block *block, uint32_t lanes, ls_receive_fn receive)
{
    return (ls_noc_endpoint){ .region = ls_block_region(block),
                              .name = ls_block_name(block),
                              .lanes = lanes,
                              .receive = receive,
                              .receiver = ls_block_state(block) };
}

ls_status build_network(builder *b, ls_error *err)
{
    builder_network *n = &b->network;
    uint32_t hubs = b->uppers + 1;
    size_t pairs = (size_t)hubs * b->channels;
    ls_link **requests = ls_engine_alloc(b->engine, pairs * sizeof(ls_link *));
    ls_link **replies = ls_engine_alloc(b->engine, pairs * sizeof(ls_link *));
    if (requests == NULL || replies == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the links of a GPU of %u clusters", b->clusters);
    for (uint32_t i = 0; i < hubs; i++)
        n->hubs[i] = end_of(build_hub_of(b, i), n->hubs[i].lanes, line_hub_receive);
    for (uint32_t k = 0; k < b->channels; k++)
        n->gates[k] = end_of(b->gates[k], n->gates[k].lanes, line_gate_receive_any);
    ls_link **const links[MESSAGE_CLASSES] = { [REQUEST] = requests, [REPLY] = replies };
    TRY(n->ops->build(ls_machine_spec(b->machine, "noc"), &n->plan, links, err));
    for (size_t i = 0; i < pairs; i++)
        if (requests[i] == NULL || replies[i] == NULL)
            return ls_fail(err, LS_ERR_INPUT,
                           "the model of slot 'noc' has left a cluster and a channel without a link");
    for (uint32_t i = 0; i < hubs; i++) {
        for (uint32_t k = 0; k < b->channels; k++)
            line_gate_set_reply(b->gates[k], i, replies[(size_t)k * hubs + i]);
        TRY(line_hub_set_links(build_hub_of(b, i), i, &b->gpu->map, &requests[(size_t)i * b->channels],
                               b->channels, err));
    }
    return LS_OK;
}
