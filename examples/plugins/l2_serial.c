/* l2_serial.c: an L2 slice of machine `amd` without lines that serves one request at a time: a bound from below. Being
 * the home of its lines, it performs atomics (a read, the operation, a write) and refuses pages that are not mapped. */
#include "lockstep/line_cache.h"

#define CLIENTS 320u

typedef struct client {
    const ls_line_client_ops *ops;
    void *self;
    bool waits; /* was refused */
} client;

typedef struct state {
    ls_region *region;
    const ls_memory *memory;
    ls_line_port below;
    client clients[CLIENTS];
    uint32_t client_count;
    ls_line_message m; /* the request, then its answer */
    uint32_t from;     /* whose it is */
    bool busy, writes; /* writes: the second half of an atomic */
    uint8_t line[LS_LINE_BYTES_MAX];
    ls_event event; /* answers a request that memory has no part in */
} state;

/* If the level below refuses, it calls again. */
static void ask_below(void *self, ls_cycle now)
{
    state *s = self;
    ls_line_message m;
    ls_line_copy(&m, &s->m, ls_line_request_data(&s->m, s->below.line_bytes));
    if (s->m.kind == LS_LINE_ATOMIC)
        m.kind = s->writes ? LS_LINE_WRITE : LS_LINE_READ;
    if (s->writes) {
        m.mask[0] = UINT64_MAX;
        m.mask[1] = s->below.line_bytes == 128 ? UINT64_MAX : 0;
        memcpy(m.data, s->line, s->below.line_bytes);
    }
    (void)ls_line_request(&s->below, &m, now);
}

static void finish(void *self, ls_cycle now)
{
    state *s = self;
    const client *c = &s->clients[s->from];
    c->ops->reply(c->self, &s->m, now);
    s->busy = s->writes = false;
    /* Each in turn, from the next one on: nobody waits for ever. */
    for (uint32_t k = 1; k <= s->client_count && !s->busy; k++) {
        client *next = &s->clients[(s->from + k) % s->client_count];
        if (next->waits) {
            next->waits = false;
            next->ops->retry(next->self, now);
        }
    }
}

static void reply(void *self, const ls_line_message *m, ls_cycle now)
{
    state *s = self;
    if (s->m.kind == LS_LINE_READ)
        memcpy(s->m.data, m->data, s->below.line_bytes);
    if (s->m.kind != LS_LINE_ATOMIC || s->writes) {
        finish(s, now);
        return;
    }
    memcpy(s->line, m->data, s->below.line_bytes);
    ls_line_atomic(&s->m, s->line);
    s->writes = true;
    ask_below(s, now);
}

/* The host may write pages that programs may only read. */
static bool page_allows(const state *s, const ls_line_message *m)
{
    return ls_memory_is_mapped(s->memory, m->address, m->kind != LS_LINE_READ) ||
           ((m->flags & LS_LINE_SYSTEM) != 0 && ls_memory_is_mapped(s->memory, m->address, false));
}

static bool request(void *self, uint32_t from, const ls_line_message *m, ls_cycle now)
{
    state *s = self;
    bool sweep = m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH; /* of lines, which it has not */
    s->clients[from].waits = s->busy;
    if (s->busy)
        return false;
    s->busy = true;
    s->from = from;
    ls_line_copy(&s->m, m, ls_line_request_data(m, s->below.line_bytes));
    if (sweep || !page_allows(s, m)) {
        s->m.flags |= sweep ? 0 : LS_LINE_FAULT;
        memset(s->m.data, 0, sizeof s->m.data);
        ls_schedule(s->region, &s->event, 1);
    } else {
        ask_below(s, now);
    }
    return true;
}

static ls_status attach(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err);
static const ls_line_memory_ops memory_ops = { .attach = attach, .request = request };

static ls_status attach(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err)
{
    state *s = self;
    if (s->client_count == CLIENTS)
        return ls_fail(err, LS_ERR_INPUT, "more than %u requesters at a slice of L2", CLIENTS);
    s->clients[s->client_count] = (client){ .ops = ops, .self = of };
    *out = (ls_line_port){ &memory_ops, s, s->client_count++, s->below.line_bytes };
    return LS_OK;
}

static ls_status set_below(void *self, ls_block *block, ls_block *memory, ls_error *err)
{
    static const ls_line_client_ops client_ops = { .reply = reply, .retry = ask_below };
    (void)block;
    return ls_line_join(memory, &client_ops, self, &((state *)self)->below, err);
}

static void set_home(void *self, const ls_memory *memory)
{
    ((state *)self)->memory = memory;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)from_platform, (void)err;
    s->region = ls_block_region(block);
    ls_event_init(&s->event, finish, s);
    return LS_OK;
}

static const ls_line_cache_ops cache_ops = { .set_below = set_below, .set_home = set_home };
static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &memory_ops },
    { .name = LS_LINE_CACHE_PORT, .interface = LS_LINE_CACHE_INTERFACE, .ops = &cache_ops },
};
static const ls_block_type l2_serial = {
    .abi = LS_ABI_VERSION,
    .slot = LS_L2_CACHE_SLOT,
    .name = "serial",
    .help = "no lines, one request at a time",
    .state_size = sizeof(state),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(l2_serial);
