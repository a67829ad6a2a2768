/* cu_inorder.c: a compute unit that issues one instruction per cycle, of one wave after another. The messages of an access
 * leave one per cycle before the next instruction; accesses of different waves overlap in the caches.
 *
 * It shows lockstep/cu_exec.h: the functions there execute, this model decides when. Programs compute what they should. */
#include "lockstep/cu_exec.h"

#define GROUPS 40u
#define WAVES (GROUPS * LS_CU_WAVES_PER_GROUP_MAX)

typedef struct spec {
    uint64_t valu_cycles;
} spec;
typedef struct counters {
    uint64_t instructions, messages;
} counters;

typedef struct state {
    const spec *spec;
    ls_block *block;
    ls_cu_exec *exec;
    ls_line_port vector, scalar;
    ls_ticker ticker;
    uint8_t wave_count[GROUPS]; /* of the last work-group in each slot */
    uint32_t turn;              /* the wave behind the one that issued last */
    ls_cu_step access;          /* whose messages leave, from `sent` on */
    uint32_t sent;
    ls_cycle busy_until;
    counters n;
} state;

/* A CU of GCN. */
static void capacity(const void *self, ls_cu_capacity *out)
{
    (void)self;
    *out = (ls_cu_capacity){ 4, 10, GROUPS, 1024, 16, 0, 0, 65536, 256, 16, 1, GROUPS };
}

/* The next wave in turn that can issue does. False: none can. */
static bool issue(state *s, ls_cycle now)
{
    for (uint32_t i = 0; i < WAVES; i++) {
        uint32_t wave = (s->turn + i) % WAVES, of = wave % LS_CU_WAVES_PER_GROUP_MAX;
        if (of >= s->wave_count[wave / LS_CU_WAVES_PER_GROUP_MAX]) {
            i += LS_CU_WAVES_PER_GROUP_MAX - 1 - of; /* the next slot */
            continue;
        }
        ls_cu_result result = ls_cu_exec_step(s->exec, wave, now, &s->access);
        if (result == LS_CU_IDLE || result == LS_CU_WAITS)
            continue;
        s->turn = wave + 1;
        s->sent = 0;
        s->busy_until = now + (s->access.inst.unit == LS_CU_UNIT_VALU ? s->spec->valu_cycles : 1);
        s->n.instructions++;
        return true;
    }
    s->access.messages = 0;
    return false;
}

/* One message. False: its cache is full and will call. */
static bool send(state *s, ls_cycle now)
{
    ls_line_message message;
    ls_cu_exec_message(s->exec, s->access.access, s->sent, &message);
    if (!ls_line_request(s->access.scalar ? &s->scalar : &s->vector, &message, now))
        return false;
    s->sent++;
    s->n.messages++;
    return true;
}

static bool tick(void *self, ls_cycle now)
{
    state *s = self;
    /* It sleeps if neither is possible, until something comes. */
    return s->sent < s->access.messages ? send(s, now) : s->busy_until > now || issue(s, now);
}

static void wake(void *self, ls_cycle now)
{
    (void)now;
    ls_ticker_wake(&((state *)self)->ticker);
}

static void reply(void *self, const ls_line_message *message, ls_cycle now)
{
    (void)ls_cu_exec_reply(((state *)self)->exec, message);
    wake(self, now);
}

static ls_status attach(void *self, const ls_cu_wiring *wiring, ls_error *err)
{
    static const ls_line_client_ops client = { .reply = reply, .retry = wake };
    state *s = self;
    ls_cu_capacity own;
    capacity(self, &own);
    ls_status status = ls_line_join(wiring->vector[0], &client, s, &s->vector, err);
    if (status == LS_OK)
        status = ls_line_join(wiring->scalar, &client, s, &s->scalar, err);
    return status != LS_OK ? status
                           : ls_cu_exec_create(s->block, wiring, &own, s->vector.line_bytes, &s->exec, err);
}

static void receive_launch(void *self, const ls_cu_launch *launch, ls_cycle now)
{
    state *s = self;
    ls_cu_exec_start(s->exec, launch);
    s->wave_count[launch->slot] = (uint8_t)launch->wave_count;
    wake(self, now);
}

static void cancel(void *self, uint32_t kernel, ls_cycle now)
{
    ls_cu_exec_cancel(((state *)self)->exec, kernel);
    wake(self, now);
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    s->spec = from_platform;
    s->block = block;
    return ls_ticker_add(ls_block_region(block), &s->ticker, tick, s, err);
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, valu_cycles, "cycles", 4, 1, 1000, "that a vector instruction holds the unit"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, instructions, "instructions", "instructions issued"),
    LS_METRIC_COUNTER(counters, messages, "messages", "lines requested"),
};
static const ls_cu_ops cu_ops = { capacity, attach, receive_launch, cancel, ls_cu_takes_no_kernel, NULL };
static const ls_port_decl ports[] = {
    { .name = LS_CU_PORT, .interface = LS_CU_INTERFACE, .ops = &cu_ops },
};
static const ls_block_type cu_inorder = {
    .abi = LS_ABI_VERSION,
    .slot = LS_CU_SLOT,
    .name = "inorder",
    .help = "one instruction per cycle, of one wave after another",
    LS_BLOCK_PARAMS(spec, params),
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
};
LS_REGISTER_BLOCK(cu_inorder);
