/* cache_none.c: a vector cache without lines: every request goes to the level below. It shows the interface of all
 * caches of machine `amd` (lockstep/line_cache.h). Another slot of that header would do as well, but an L2 also has
 * to perform atomics. */
#include "lockstep/line_cache.h"

#define CLIENTS 16u
#define ENTRIES 256u

typedef struct entry {
    uint32_t client, token, next; /* token and source: the requester's */
    uint16_t source;
} entry;

typedef struct client {
    const ls_line_client_ops *ops;
    void *self;
    bool waits; /* was refused */
} client;

typedef struct state {
    ls_region *region;
    ls_line_port below;
    client clients[CLIENTS];
    uint32_t client_count, free_entry;
    entry entries[ENTRIES + 1]; /* entry 0 is none */
    ls_line_message sweep;      /* an order to this cache alone, which is answered in the next cycle */
    ls_event event;
} state;

static void retry(void *self, ls_cycle now)
{
    state *s = self;
    for (uint32_t i = 0; i < s->client_count; i++)
        if (s->clients[i].waits) {
            s->clients[i].waits = false;
            s->clients[i].ops->retry(s->clients[i].self, now);
        }
}

static void reply(void *self, const ls_line_message *answer, ls_cycle now)
{
    state *s = self;
    ls_line_message m;
    entry *e = &s->entries[answer->token];
    const client *c = &s->clients[e->client];
    ls_line_copy(&m, answer, ls_line_reply_data(answer, s->below.line_bytes));
    m.token = e->token;
    m.source = e->source;
    e->next = s->free_entry;
    s->free_entry = answer->token;
    c->ops->reply(c->self, &m, now);
    retry(s, now);
}

static void answer_sweep(void *self, ls_cycle now)
{
    state *s = self;
    reply(s, &s->sweep, now);
}

static bool request(void *self, uint32_t from, const ls_line_message *message, ls_cycle now)
{
    state *s = self;
    ls_line_message m;
    uint32_t number = s->free_entry;
    bool sweep = message->kind == LS_LINE_INVALIDATE || message->kind == LS_LINE_FLUSH, taken = false;
    ls_line_copy(&m, message, ls_line_request_data(message, s->below.line_bytes));
    m.token = number;
    if (number != 0 && sweep && message->atomic == 0) { /* nothing to forget or to write back; one at a time */
        taken = !ls_event_scheduled(&s->event);
        if (taken) {
            ls_line_copy_head(&s->sweep, &m);
            ls_schedule(s->region, &s->event, 1);
        }
    } else if (number != 0) {
        m.atomic = (uint8_t)(message->atomic - sweep); /* of a sweep: how many levels further down */
        taken = ls_line_request(&s->below, &m, now);
    }
    s->clients[from].waits = !taken;
    if (taken) {
        s->free_entry = s->entries[number].next;
        s->entries[number] = (entry){ .client = from, .token = message->token, .source = message->source };
    }
    return taken;
}

static ls_status attach(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err);
static const ls_line_memory_ops memory_ops = { .attach = attach, .request = request };

static ls_status attach(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err)
{
    state *s = self;
    if (s->client_count == CLIENTS)
        return ls_fail(err, LS_ERR_INPUT, "more than %u requesters at a cache", CLIENTS);
    s->clients[s->client_count] = (client){ .ops = ops, .self = of };
    *out = (ls_line_port){ &memory_ops, s, s->client_count++, s->below.line_bytes };
    return LS_OK;
}

static ls_status set_below(void *self, ls_block *block, ls_block *memory, ls_error *err)
{
    static const ls_line_client_ops client_ops = { .reply = reply, .retry = retry };
    (void)block;
    return ls_line_join(memory, &client_ops, self, &((state *)self)->below, err);
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)from_platform, (void)err;
    s->region = ls_block_region(block);
    for (uint32_t i = ENTRIES; i > 0; s->free_entry = i--)
        s->entries[i].next = s->free_entry;
    ls_event_init(&s->event, answer_sweep, s);
    return LS_OK;
}

static const ls_line_cache_ops cache_ops = { .set_below = set_below };
static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &memory_ops },
    { .name = LS_LINE_CACHE_PORT, .interface = LS_LINE_CACHE_INTERFACE, .ops = &cache_ops },
};
static const ls_block_type cache_none = {
    .abi = LS_ABI_VERSION,
    .slot = LS_VECTOR_CACHE_SLOT,
    .name = "none",
    .help = "passes every request on",
    .state_size = sizeof(state),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(cache_none);
