/* network.c: see network.h. */
#include "model/gpu/network.h"

#define CREDITS_TO_SPARE 64u
#define HEADER_BYTES 8u /* of a message: address, kind, sender */

static const ls_sector_message *message_of(const void *payload)
{
    return payload;
}

static uint32_t request_destination(const void *map, const void *payload)
{
    const mem_map *m = map;
    uint32_t channel = mem_map_place(m, message_of(payload)->address).channel;
    return message_of(payload)->away ? (channel + m->channels / 2) % m->channels : channel;
}

static uint32_t reply_destination(const void *map, const void *payload)
{
    (void)map;
    return message_of(payload)->core;
}

static uint32_t request_bytes(const void *map, const void *payload)
{
    (void)map;
    const ls_sector_message *m = message_of(payload);
    return HEADER_BYTES + (m->kind != LS_SECTOR_READ ? LS_SECTOR_BYTES * ls_sector_count(m) : 0);
}

static uint32_t reply_bytes(const void *map, const void *payload)
{
    (void)map;
    const ls_sector_message *m = message_of(payload);
    return HEADER_BYTES + (m->kind != LS_SECTOR_WRITE ? LS_SECTOR_BYTES * ls_sector_count(m) : 0);
}

static const ls_noc_class classes[GPU_MESSAGE_CLASSES] = {
    [GPU_REQUEST] = { .name = "request",
                      .from = LS_NOC_CORES,
                      .payload_bytes = sizeof(ls_sector_message),
                      .destination = request_destination,
                      .wire_bytes = request_bytes },
    [GPU_REPLY] = { .name = "reply",
                    .from = LS_NOC_MEMORIES,
                    .payload_bytes = sizeof(ls_sector_message),
                    .destination = reply_destination,
                    .wire_bytes = reply_bytes },
};

ls_status gpu_network_plan(gpu_network *network, ls_machine *machine, const gpu_instance *gpu,
                           const char *prefix, ls_clock clock, ls_region *const *core_regions,
                           ls_region *const *l2_regions, ls_error *err)
{
    const ls_port_decl *port = ls_block_type_port(ls_machine_model(machine, "noc"), LS_NOC_INTERFACE, false);
    ls_noc_endpoint *cores = ls_engine_alloc(gpu->engine, gpu->core_count * sizeof *cores);
    ls_noc_endpoint *memories = ls_engine_alloc(gpu->engine, gpu->channel_count * sizeof *memories);
    if (cores == NULL || memories == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the network of a GPU of %u cores", gpu->core_count);
    for (uint32_t i = 0; i < gpu->core_count; i++)
        cores[i] = (ls_noc_endpoint){ .region = core_regions[i],
                                      .name = ls_block_name(gpu->cores[i]),
                                      .lanes = 1,
                                      .receive = ((const ls_core_ops *)gpu->core_ports[i].ops)->receive_reply,
                                      .receiver = gpu->core_ports[i].self };
    for (uint32_t k = 0; k < gpu->channel_count; k++)
        memories[k] = (ls_noc_endpoint){ .region = l2_regions[k],
                                         .name = ls_block_name(gpu->l2[k]),
                                         .lanes = gpu->map.slices_per_channel,
                                         .receive = gpu_memory_receive(gpu, k),
                                         .receiver = gpu_memory_receiver(gpu, k) };
    *network = (gpu_network){ .ops = port->ops,
                              .spec = ls_machine_spec(machine, "noc"),
                              .plan = { .engine = gpu->engine,
                                        .prefix = prefix,
                                        .clock = clock,
                                        .side = { cores, memories },
                                        .count = { gpu->core_count, gpu->channel_count },
                                        .classes = { classes[GPU_REQUEST], classes[GPU_REPLY] },
                                        .class_count = GPU_MESSAGE_CLASSES,
                                        .self = &gpu->map,
                                        .spare_credits = CREDITS_TO_SPARE } };
    return network->ops->describe(network->spec, &network->plan, &network->shape, err);
}

ls_status gpu_network_build(const gpu_network *network, ls_link **to_memory, ls_link **to_core, ls_error *err)
{
    ls_link **const links[GPU_MESSAGE_CLASSES] = { [GPU_REQUEST] = to_memory, [GPU_REPLY] = to_core };
    ls_status status = network->ops->build(network->spec, &network->plan, links, err);
    const ls_noc_plan *plan = &network->plan;
    size_t pairs = (size_t)plan->count[LS_NOC_CORES] * plan->count[LS_NOC_MEMORIES];
    for (size_t i = 0; i < pairs && status == LS_OK; i++)
        if (to_memory[i] == NULL || to_core[i] == NULL)
            status = ls_fail(err, LS_ERR_INPUT,
                             "the model of slot 'noc' has left a core and a channel without a link");
    return status;
}
