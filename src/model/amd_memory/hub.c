/* hub.c: from the caches of a domain to the links that leave it. A request goes out in the cycle in which it
 * comes, or is refused until its link has a credit and a free wire. */
#include "model/amd_memory/hub.h"

#include "model/amd_memory/line_tap.h"
#include "lockstep/state.h"
#include "model/memory/place.h"

#include <stdio.h>

#define CLIENTS_MAX 256
#define LINKS_MAX 256
#define HUB_FRACTION 16
#define CONTROL_BYTES 8u /* on the wire, of a message without data */

typedef struct hub_counters {
    uint64_t requests, replies, request_bytes, reply_bytes;
    uint64_t refused;
} hub_counters;

typedef struct hub_client {
    const ls_line_client_ops *ops;
    void *self;
    struct hub *hub;
    ls_event event; /* waits on a link after a refusal, or for a flush to end */
    /* An invalidate or flush on its way to all places. */
    uint32_t sweep_sent, sweep_answered;
    bool sweeping, sweep_refused, waiting;
    bool granted; /* the port has its next line's time already */
} hub_client;

typedef struct hub {
    hub_counters n;
    const char *name;
    ls_region *region;
    const ls_tap *tap;
    uint32_t line_bytes, link_count, client_count, client_room;
    uint16_t number;    /* of the hub, at the other ends of its links */
    bool mapped, plain; /* plain: mem_map_is_plain() */
    mem_map map;
    ls_link **links;
    ls_link *remote;    /* to other GPUs; NULL: none */
    uint32_t own;       /* bits of addresses in the own memory: 0, or with `homes` the number of the GPU */
    bool homes;         /* addresses are virtual */
    bool behind;        /* places have the memory of other GPUs behind them */
    uint64_t line_cost; /* of the port for each line, either way, in 1 / 2^HUB_FRACTION cycles; 0: no limit */
    uint64_t port_time; /* until then the port is taken, in the same unit */
    hub_client *clients;
} hub;

static void call_again(void *self, ls_cycle now)
{
    hub_client *client = self;
    client->waiting = false;
    client->ops->retry(client->self, now);
}

/* A requester that sends again before it was called keeps its place among the waiters. */
static bool refuse(hub *h, hub_client *client, ls_link *link)
{
    h->n.refused++;
    if (!client->waiting) {
        client->waiting = true;
        ls_link_wait(link, &client->event);
    }
    return false;
}

static void send_copy(hub *h, ls_line_message *slot, uint32_t client, uint32_t place, const ls_line_message *m,
                      uint32_t data_bytes)
{
    ls_line_copy(slot, m, data_bytes);
    slot->source = (uint16_t)client;
    slot->requester = h->number;
    slot->place = (uint16_t)place;
    h->n.requests++;
    h->n.request_bytes += data_bytes;
}

/* To every place, as links allow; taken when the last one is sent. */
static bool sweep(hub *h, uint32_t number, const ls_line_message *m)
{
    hub_client *client = &h->clients[number];
    if (client->sweeping && client->sweep_sent == h->link_count) {
        client->sweep_refused = true; /* one after another */
        return false;
    }
    if (!client->sweeping) {
        client->sweeping = true;
        client->sweep_sent = client->sweep_answered = 0;
    }
    while (client->sweep_sent < h->link_count) {
        ls_link *link = h->links[client->sweep_sent];
        ls_line_message *slot = ls_link_send(link, CONTROL_BYTES);
        if (slot == NULL)
            return refuse(h, client, link);
        send_copy(h, slot, number, client->sweep_sent, m, 0);
        client->sweep_sent++;
    }
    return true;
}

static bool send(hub *h, ls_link *link, uint32_t number, uint32_t place, const ls_line_message *m,
                 uint64_t address)
{
    uint32_t data_bytes = ls_line_request_data(m, h->line_bytes);
    ls_line_message *slot = ls_link_send(link, data_bytes != 0 ? h->line_bytes : CONTROL_BYTES);
    if (LS_LIKELY(slot != NULL)) {
        send_copy(h, slot, number, place, m, data_bytes);
        slot->address = address;
        line_tap(h->tap, h->region, m, link == h->remote ? LS_STEP_REMOTE : LS_STEP_NETWORK);
        return true;
    }
    return refuse(h, &h->clients[number], link);
}

/* The port's time for one more line. A requester that comes too early gets the next free time and is called then. */
static __attribute__((noinline)) bool take_port(hub *h, uint32_t number, ls_cycle now)
{
    hub_client *client = &h->clients[number];
    if (client->granted)
        return true;
    uint64_t from = now << HUB_FRACTION;
    bool is_free = h->port_time >> HUB_FRACTION <= now;
    if (is_free) {
        h->port_time = (h->port_time > from ? h->port_time : from) + h->line_cost;
        client->granted = true;
        return true;
    }
    h->n.refused++;
    if (!client->waiting) {
        client->waiting = client->granted = true;
        ls_schedule(h->region, &client->event, (h->port_time >> HUB_FRACTION) - now);
        h->port_time += h->line_cost;
    }
    return false;
}

static __attribute__((noinline)) bool send_remote(hub *h, uint32_t number, const ls_line_message *m)
{
    uint64_t address = h->homes ? mem_place_at_home(h->own, m->address) : m->address;
    if (h->remote != NULL)
        return send(h, h->remote, number, 0, m, address);
    uint32_t place = h->mapped ? mem_map_place_again(&h->map, mem_place_frame(address)).channel : 0;
    return send(h, h->links[place], number, place, m, address);
}

static bool hub_request(void *self, uint32_t number, const ls_line_message *m, ls_cycle now)
{
    hub *h = self;
    if (LS_UNLIKELY(m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH))
        return sweep(h, number, m);
    uint64_t address = m->address;
    if (LS_LIKELY(address >> MEM_PLACE_SHIFT == h->own))
        address = mem_place_frame(address);
    else if (h->remote != NULL || h->behind)
        return send_remote(h, number, m);
    uint32_t place = 0;
    if (LS_LIKELY(h->plain))
        place = mem_map_plain_channel(&h->map, address);
    else if (h->mapped)
        place = mem_map_place_again(&h->map, address).channel;
    if (LS_UNLIKELY(h->line_cost != 0)) {
        if (!take_port(h, number, now) || !send(h, h->links[place], number, place, m, address))
            return false;
        h->clients[number].granted = false;
        return true;
    }
    return send(h, h->links[place], number, place, m, address);
}

void line_hub_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    hub *h = state;
    const ls_line_message *m = payload;
    hub_client *client = &h->clients[m->source];
    h->n.replies++;
    h->n.reply_bytes += ls_line_reply_data(m, h->line_bytes);
    if (LS_UNLIKELY(m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH)) {
        if (++client->sweep_answered == h->link_count) {
            client->sweeping = false;
            client->ops->reply(client->self, m, now);
            if (client->sweep_refused) {
                client->sweep_refused = false;
                client->ops->retry(client->self, now);
            }
        }
    } else {
        client->ops->reply(client->self, m, now);
    }
    ls_link_release(link, 1);
}

static ls_status hub_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                            ls_error *err);

static const ls_line_memory_ops hub_memory = { .request = hub_request, .attach = hub_attach };

/* Before the run: no event is under way, so they can move. */
static ls_status make_room(hub *h, ls_error *err)
{
    uint32_t room = h->client_room == 0 ? 4 : 2 * h->client_room;
    hub_client *clients = ls_domain_alloc(ls_region_domain(h->region), room * sizeof *clients);
    if (clients == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the requesters of '%s'", h->name);
    for (uint32_t i = 0; i < h->client_count; i++) {
        clients[i] = h->clients[i];
        ls_event_init(&clients[i].event, call_again, &clients[i]);
    }
    h->clients = clients;
    h->client_room = room;
    return LS_OK;
}

static ls_status hub_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                            ls_error *err)
{
    hub *h = self;
    if (h->client_count == CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d requesters", h->name, CLIENTS_MAX);
    if (h->client_count == h->client_room) {
        ls_status status = make_room(h, err);
        if (status != LS_OK)
            return status;
    }
    hub_client *c = &h->clients[h->client_count];
    *c = (hub_client){ .ops = ops, .self = client, .hub = h };
    ls_event_init(&c->event, call_again, c);
    *out = (ls_line_port){
        .ops = &hub_memory, .self = h, .client = h->client_count++, .line_bytes = h->line_bytes
    };
    return LS_OK;
}

static ls_status hub_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    hub *h = state;
    (void)spec, (void)err;
    h->name = ls_block_name(block);
    h->region = ls_block_region(block);
    h->tap = ls_block_tap(block);
    return LS_OK;
}

static void hub_waits(const void *self, ls_wait_sink *sink)
{
    const hub *h = self;
    char detail[96];
    for (uint32_t i = 0; i < h->client_count; i++)
        if (h->clients[i].sweeping) {
            snprintf(detail, sizeof detail, "requester %u: %u of %u places answered a flush or invalidate", i,
                     h->clients[i].sweep_answered, h->link_count);
            ls_wait_report(sink, h->name, "the places behind its links", detail);
        }
}

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(hub_counters, requests, "messages", "requests sent over links"),
    LS_METRIC_COUNTER(hub_counters, replies, "messages", "answers that came back"),
    LS_METRIC_COUNTER(hub_counters, request_bytes, "bytes", "data in requests"),
    LS_METRIC_COUNTER(hub_counters, reply_bytes, "bytes", "data in answers"),
    LS_METRIC_COUNTER(hub_counters, refused, "tries", "a link had no credit or a busy wire"),
};

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &hub_memory },
};

static uint64_t client_count(const void *self)
{
    return ((const hub *)self)->client_count;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(hub_client, ops, hub),
    LS_STATE_EVENT(hub_client, event),
    LS_STATE_DATA_SPAN(hub_client, sweep_sent, granted),
};

static const ls_state_row rows[] = {
    LS_STATE_DATA(hub, n),
    LS_STATE_FIXED_SPAN(hub, name, line_cost),
    LS_STATE_DATA(hub, port_time),
    LS_STATE_ARRAY_OF(hub, clients, client_count, client_rows),
};

static const ls_block_type hub_type = {
    .abi = LS_ABI_VERSION,
    .slot = "line-hub",
    .name = "links",
    .help = "from the caches of a domain to other domains",
    .state_size = sizeof(hub),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(hub, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = hub_init,
    .waits = hub_waits,
};

ls_status line_hub_create(ls_region *region, const char *name, uint32_t line_bytes, ls_block **out,
                          ls_error *err)
{
    ls_status status = ls_block_create(region, name, &hub_type, NULL, out, err);
    if (status == LS_OK)
        ((hub *)ls_block_state(*out))->line_bytes = line_bytes;
    return status;
}

ls_status line_hub_set_links(ls_block *block, uint32_t number, const mem_map *map, ls_link *const *links,
                             uint32_t count, ls_error *err)
{
    hub *h = ls_block_state(block);
    if (count == 0 || count > LINKS_MAX || (map != NULL && map->channels != count) ||
        (map == NULL && count != 1))
        return ls_fail(err, LS_ERR_INPUT, "%s: %u links do not fit %u channels", h->name, count,
                       map != NULL ? map->channels : 1);
    h->links = ls_domain_alloc(ls_region_domain(h->region), count * sizeof *h->links);
    if (h->links == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the links of '%s'", h->name);
    memcpy(h->links, links, count * sizeof *links);
    h->link_count = count;
    h->number = (uint16_t)number;
    h->mapped = map != NULL;
    h->plain = map != NULL && mem_map_is_plain(map);
    if (map != NULL)
        h->map = *map;
    return LS_OK;
}

void line_hub_set_line_cycles(ls_block *block, ls_ratio cycles)
{
    hub *h = ls_block_state(block);
    h->line_cost = cycles.num == 0 ? 0 : ((cycles.num << HUB_FRACTION) + cycles.den / 2) / cycles.den;
}

void line_hub_set_remote(ls_block *block, ls_link *remote, uint32_t own, bool homes)
{
    hub *h = ls_block_state(block);
    h->remote = remote;
    h->own = homes ? own : 0;
    h->homes = homes;
}

void line_hub_set_behind(ls_block *block, uint32_t own, bool homes)
{
    line_hub_set_remote(block, NULL, own, homes);
    ((hub *)ls_block_state(block))->behind = true;
}
