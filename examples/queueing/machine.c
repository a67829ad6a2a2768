/* machine.c: `machine: queueing`: clients, servers and the two networks between them, from a platform file.
 *
 * Every client and every server is a domain of its own. Each pair is joined by a link in each direction;
 * together with the arbitration at the receiving ends these links are a crossbar that has no centre. Servers
 * whose model uses a port named "ring" are joined in a circle as well. */
#include "queueing.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- parameters */

typedef struct network_spec {
    uint64_t latency_cycles, width_bytes, width_cycles, flit_bytes, credits, credit_latency_cycles;
    ls_ratio inject, deliver;
} network_spec;

typedef struct machine_spec {
    uint64_t clients, servers;
    ls_ratio client_clock, server_clock;
    network_spec request, reply, ring;
} machine_spec;

#define NETWORK_PARAMS(net, path)                                                                             \
    LS_PARAM_UINT(machine_spec, net.latency_cycles, "cycles", 20, 1, 1e6,                                     \
                  "from send to arrival, in cycles of the sender's clock"),                                   \
        LS_PARAM_UINT(machine_spec, net.width_bytes, "bytes", 32, 0, 65536,                                   \
                      "bytes that a link moves per width_cycles; 0 means no limit"),                          \
        LS_PARAM_UINT(machine_spec, net.width_cycles, "cycles", 1, 1, 65536,                                  \
                      "cycles for width_bytes: 96 bytes per 5 cycles are 19.2 bytes per cycle"),              \
        LS_PARAM_UINT(machine_spec, net.flit_bytes, "bytes", 0, 0, 65536,                                     \
                      "a message takes whole flits of the wire; 0 means width_bytes"),                        \
        LS_PARAM_UINT(machine_spec, net.credits, "entries", 64, 1, 65536,                                     \
                      "buffer entries at the end of a link"),                                                 \
        LS_PARAM_UINT(machine_spec, net.credit_latency_cycles, "cycles", 0, 0, 1e6,                           \
                      "for a credit to come home, in the receiver's cycles; 0: as long as a message"),        \
        LS_PARAM_RATIO(machine_spec, net.inject, path ".inject_bytes_per_cycle", "bytes/cycle", "0", 0,       \
                       65536, "limit of all links that leave a domain; 0: one message per cycle"),            \
        LS_PARAM_RATIO(machine_spec, net.deliver, path ".deliver_bytes_per_cycle", "bytes/cycle", "0", 0,     \
                       65536, "limit of all links that enter a domain; 0: one message per cycle")

static const ls_param machine_params[] = {
    LS_PARAM_UINT(machine_spec, clients, "", 1, 1, QUEUEING_MAX_PEERS, "number of clients"),
    LS_PARAM_UINT(machine_spec, servers, "", 1, 1, QUEUEING_MAX_PEERS, "number of servers"),
    LS_PARAM_FREQ(machine_spec, client_clock, "clocks.client_mhz", "1000", "clock of the clients"),
    LS_PARAM_FREQ(machine_spec, server_clock, "clocks.server_mhz", "1000", "clock of the servers"),
    NETWORK_PARAMS(request, "request"),
    NETWORK_PARAMS(reply, "reply"),
    NETWORK_PARAMS(ring, "ring"),
};

static const ls_section machine_sections[] = {
    { .path = "client",
      .slot = "queueing.client",
      .default_model = "poisson",
      .help = "what the clients send" },
    { .path = "server", .slot = "queueing.server", .default_model = "fixed", .help = "how the servers serve" },
    { .path = "arbiter",
      .slot = "queueing.arbiter",
      .default_model = "round-robin",
      .help = "who is next at a network's output" },
};

/* ---------------------------------------------------------------------------------------------- building */

/* A client or a server with its neighbours in its domain. */
typedef struct station {
    ls_region *region;
    ls_block *block, *input, *output;
    ls_block *ring; /* output to the next server; NULL if there is no ring */
} station;

typedef struct builder {
    ls_machine *machine;
    ls_engine *engine;
    const machine_spec *spec;
    ls_error *err;
    station clients[QUEUEING_MAX_PEERS], servers[QUEUEING_MAX_PEERS];
    char text[96]; /* a name in the making; everything that keeps names copies them */
} builder;

static const char *part_name(builder *b, const station *s, const char *part)
{
    snprintf(b->text, sizeof b->text, "%s.%s", ls_domain_name(ls_region_domain(s->region)), part);
    return b->text;
}

/* The domain, the block that the platform file names for `section`, its input with an arbiter, and its
 * output. */
static ls_status build_station(builder *b, station *s, const char *section, uint32_t index, ls_clock clock,
                               const queueing_input_spec *input, const queueing_output_spec *output)
{
    ls_status status;
    ls_domain *domain;
    ls_block *arbiter;
    snprintf(b->text, sizeof b->text, "%s%u", section, index);
    if ((status = ls_domain_create(b->engine, b->text, clock, &domain, b->err)))
        return status;
    s->region = ls_domain_region(domain, 0);
    if ((status = ls_machine_block(b->machine, s->region, b->text, section, &s->block, b->err)) ||
        (status = ls_machine_block(b->machine, s->region, part_name(b, s, "arbiter"), "arbiter", &arbiter,
                                   b->err)) ||
        (status = ls_block_create(s->region, part_name(b, s, "in"), &queueing_input_type, input, &s->input,
                                  b->err)) ||
        (status = ls_block_create(s->region, part_name(b, s, "out"), &queueing_output_type, output, &s->output,
                                  b->err)) ||
        (status = ls_block_connect(s->input, "sink", s->block, "sink", b->err)) ||
        (status = ls_block_connect(s->input, "arbiter", arbiter, "arbiter", b->err)) ||
        (status = ls_block_connect(s->block, "output", s->output, "output", b->err)))
        return status;
    return LS_OK;
}

/* One link, from an output of `from` to the input of `to`. */
static ls_status build_link(builder *b, const char *kind, const network_spec *net, station *from,
                            ls_block *output, station *to)
{
    snprintf(b->text, sizeof b->text, "%s:%s-%s", kind, ls_block_name(from->block), ls_block_name(to->block));
    ls_link_spec spec = {
        .name = b->text,
        .from = from->region,
        .from_name = ls_block_name(from->block),
        .latency_cycles = (uint32_t)net->latency_cycles,
        .width_bytes = (uint32_t)net->width_bytes,
        .width_cycles = (uint32_t)net->width_cycles,
        .flit_bytes = (uint32_t)net->flit_bytes,
        .credits = (uint32_t)net->credits,
        .credit_latency_cycles = (uint32_t)net->credit_latency_cycles,
    };
    ls_link *link;
    ls_status status = queueing_input_add(to->input, &spec, &link, b->err);
    if (status)
        return status;
    return queueing_output_add(output, link, ls_block_name(to->block), b->err);
}

static bool has_port(const ls_block_type *type, const char *name)
{
    for (size_t i = 0; i < type->port_count; i++)
        if (strcmp(type->ports[i].name, name) == 0)
            return true;
    return false;
}

static ls_status build_ring(builder *b)
{
    ls_status status;
    queueing_output_spec output = { .width = b->spec->ring.inject };
    for (uint32_t i = 0; i < b->spec->servers; i++) {
        station *s = &b->servers[i], *next = &b->servers[(i + 1) % b->spec->servers];
        if ((status = ls_block_create(s->region, part_name(b, s, "ring"), &queueing_output_type, &output,
                                      &s->ring, b->err)) ||
            (status = ls_block_connect(s->block, "ring", s->ring, "output", b->err)) ||
            (status = build_link(b, "ring", &b->spec->ring, s, s->ring, next)))
            return status;
    }
    return LS_OK;
}

static ls_status build_stations(builder *b)
{
    ls_status status;
    ls_clock client_clock, server_clock;
    if ((status = ls_clock_init(&client_clock, b->spec->client_clock, b->err)) ||
        (status = ls_clock_init(&server_clock, b->spec->server_clock, b->err)))
        return status;
    for (uint32_t i = 0; i < b->spec->clients; i++) {
        queueing_input_spec input = { .width = b->spec->reply.deliver };
        queueing_output_spec output = { .width = b->spec->request.inject, .stamps = true, .client = i };
        if ((status = build_station(b, &b->clients[i], "client", i, client_clock, &input, &output)))
            return status;
    }
    for (uint32_t i = 0; i < b->spec->servers; i++) {
        station *s = &b->servers[i];
        queueing_input_spec input = { .width = b->spec->request.deliver };
        queueing_output_spec output = { .width = b->spec->reply.inject };
        if ((status = build_station(b, s, "server", i, server_clock, &input, &output)) ||
            (status = ls_block_connect(s->block, "source", s->input, "source", b->err)))
            return status;
    }
    return LS_OK;
}

static ls_status machine_build(ls_machine *machine, const void *spec, ls_error *err)
{
    ls_engine *engine = ls_machine_engine(machine);
    builder *b = ls_engine_alloc(engine, sizeof *b);
    if (!b)
        return ls_fail(err, LS_ERR_NOMEM, "no memory to build the machine");
    *b = (builder){ .machine = machine, .engine = engine, .spec = spec, .err = err };

    ls_status status = build_stations(b);
    for (uint32_t c = 0; c < b->spec->clients && !status; c++)
        for (uint32_t s = 0; s < b->spec->servers && !status; s++) {
            station *client = &b->clients[c], *server = &b->servers[s];
            status = build_link(b, "request", &b->spec->request, client, client->output, server);
            if (!status)
                status = build_link(b, "reply", &b->spec->reply, server, server->output, client);
        }
    if (!status && has_port(ls_machine_model(machine, "server"), "ring"))
        status = build_ring(b);
    return status;
}

static const ls_machine_type queueing_machine = {
    .abi = LS_ABI_VERSION,
    .name = "queueing",
    .help = "clients and servers joined by a distributed crossbar",
    .spec_size = sizeof(machine_spec),
    .params = machine_params,
    .param_count = LS_COUNT_OF(machine_params),
    .sections = machine_sections,
    .section_count = LS_COUNT_OF(machine_sections),
    .build = machine_build,
};
LS_REGISTER_MACHINE(queueing_machine);
