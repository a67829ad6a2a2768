/* switch.c: one cycle of the switches of a domain. A switch runs only in cycles in which a flit can move. */
#include "model/noc/switch.h"

#include "model/noc/graph.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------- wake-ups */

static void timer_at(noc_group *g, ls_cycle at)
{
    if (ls_event_scheduled(&g->timer)) {
        if (g->timer.cycle <= at)
            return;
        ls_cancel(&g->timer);
    }
    ls_schedule_at(g->region, &g->timer, at);
}

/* Runs a switch in a cycle from now on. Further ahead than the wheel reaches, it looks again on the way. */
static void wake(noc_group *g, uint32_t at, ls_cycle now, ls_cycle cycle)
{
    if (cycle >= now + NOC_WHEEL)
        cycle = now + NOC_WHEEL - 1;
    uint32_t slot = (uint32_t)(cycle % NOC_WHEEL);
    g->wheel[slot * g->words + at / 64] |= UINT64_C(1) << at % 64;
    g->slots |= UINT64_C(1) << slot;
    if (g->awake)
        return;
    if (cycle == now) {
        g->awake = true;
        ls_ticker_wake(&g->ticker);
    } else {
        timer_at(g, cycle);
    }
}

static void timer_event(void *self, ls_cycle now)
{
    noc_group *g = self;
    (void)now;
    g->awake = true;
    ls_ticker_wake(&g->ticker);
}

void noc_output_ready(void *output_vc, ls_cycle now)
{
    noc_output_vc *o = output_vc;
    o->starved = false;
    wake(o->group, o->at, now, now);
}

/* ------------------------------------------------------------------------------------------------ messages */

static uint32_t message_new(noc_group *g)
{
    uint32_t i = index_pool_take(&g->message_pool, INDEX_LINKS(g->messages, next));
    if (++g->live > g->n.peak)
        g->n.peak = g->live;
    ls_domain_pending(g->domain, 1);
    return i;
}

static void message_free(noc_group *g, uint32_t i)
{
    index_pool_give(&g->message_pool, INDEX_LINKS(g->messages, next), i);
    g->live--;
    ls_domain_pending(g->domain, -1);
}

static inline char *payload_of(const noc_group *g, uint32_t i)
{
    return g->payloads + (size_t)i * g->payload_bytes;
}

static void push(noc_group *g, uint32_t at, uint32_t port, uint32_t vc, noc_flit flit)
{
    noc_switch *s = &g->switches[at];
    noc_input_vc *in = &s->input_vcs[port * g->vcs + vc];
    in->ring[(in->head + in->count) & in->mask] = flit;
    if (in->count++ == 0) {
        s->occupied[vc] |= UINT64_C(1) << port;
        s->busy_vcs |= UINT32_C(1) << vc;
        in->since = flit.ready;
    }
}

static inline const uint8_t *route_at(const noc_group *g, uint32_t path, uint32_t phase, uint32_t from,
                                      uint32_t to)
{
    return &g->route[((size_t)(path * g->phases + phase) * g->graph_switches + from) * g->graph_switches + to];
}

void noc_inlet_receive(void *inlet, ls_link *link, const void *payload, ls_cycle now)
{
    const noc_inlet *e = inlet;
    noc_group *g = e->group;
    uint32_t c = e->class_index, i = message_new(g), bytes = g->wire_bytes[c](g->self, payload);
    uint32_t flits = (bytes + g->flit_bytes - 1) / g->flit_bytes;
    uint32_t destination = g->destination[c](g->self, payload);
    uint32_t used = g->used_bytes != NULL ? g->used_bytes(g->self, payload) : g->payload_bytes;
    uint32_t path = g->path != NULL ? g->path(g->self, payload) : 0, lane = destination % e->lanes;
    uint32_t counted = g->counted != NULL ? g->counted(g->self, payload) : c;
    (void)link;
    g->messages[i] = (noc_message){ .source = e->endpoint,
                                    .destination = (uint16_t)destination,
                                    .flits = (uint16_t)(flits != 0 ? flits : 1),
                                    .class_index = (uint8_t)counted,
                                    .path = (uint8_t)path,
                                    .entered = now,
                                    .bytes = bytes,
                                    .used = (uint16_t)used };
    if (LS_UNLIKELY(ls_tap_wants(g->tap, LS_TAP_TRANSFER)))
        noc_tell_enter(g, &g->messages[i]);
    memcpy(payload_of(g, i), payload, used);
    if (g->cut_through) { /* a queue for each wire: a busy one does not stop the others */
        uint32_t output = *route_at(g, path, 0, g->switches[e->at].id, g->places[destination].at_switch);
        lane = output < e->lanes ? output : 0;
    }
    uint32_t vc = (c * g->per_class + (e->endpoint + destination) % g->per_class) * g->layers;
    push(g, e->at, e->port + lane, vc, (noc_flit){ .message = i, .ready = now });
    g->n.messages[counted]++;
    wake(g, e->at, now, now);
}

void noc_pipe_receive(void *pipe, ls_link *link, const void *payload, ls_cycle now)
{
    const noc_pipe *e = pipe;
    noc_group *g = e->group;
    noc_input_vc *in = &g->switches[e->at].input_vcs[e->port * g->vcs + e->vc];
    noc_wire wire;
    (void)link;
    memcpy(&wire, payload, sizeof wire);
    if (wire.first) {
        uint32_t i = in->incoming = message_new(g);
        g->messages[i] = (noc_message){ .source = wire.source,
                                        .destination = wire.destination,
                                        .flits = wire.flits,
                                        .class_index = wire.class_index,
                                        .path = wire.path,
                                        .entered = wire.entered,
                                        .bytes = wire.bytes,
                                        .used = wire.used,
                                        .number = wire.number };
        memcpy(payload_of(g, i), (const char *)payload + sizeof wire, wire.used);
    }
    push(g, e->at, e->port, e->vc, (noc_flit){ in->incoming, wire.lag, now });
    wake(g, e->at, now, now);
}

/* ------------------------------------------------------------------------------------------------- routing */

/* Cut-through, in whole cycles: from the first flit of a message on a wire to its last. */
static inline uint32_t flit_lag(const noc_output *out, uint32_t flits)
{
    return (uint32_t)(((flits - 1) * out->interval_fixed_point + UINT32_MAX) >> 32);
}

/* Cut-through: the message starts so late that its last flit has come when the wire wants it. */
static void delay_start(const noc_output *out, uint32_t flits, noc_input_vc *in)
{
    noc_flit *front = &in->ring[in->head & in->mask];
    uint32_t lag = flit_lag(out, flits);
    if (front->lag <= lag)
        return;
    front->ready += front->lag - lag;
    front->lag = lag;
    in->since = in->since > front->ready ? in->since : front->ready;
}

static void route(const noc_group *g, const noc_switch *s, uint32_t port, uint32_t vc, noc_input_vc *in)
{
    const noc_message *m = &g->messages[in->ring[in->head & in->mask].message];
    const noc_place_of *place = &g->places[m->destination];
    in->routed = true;
    if (place->at_switch == s->id) {
        uint32_t lane = !g->cut_through ? m->source % place->lanes : port < place->lanes ? port : 0;
        in->output = (uint8_t)(place->port + lane);
        in->output_vc = (uint8_t)vc;
        if (g->cut_through)
            delay_start(&s->outputs[in->output], m->flits, in);
        return;
    }
    in->output = *route_at(g, m->path, s->inputs[port].phase, s->id, place->at_switch);
    if (g->cut_through)
        delay_start(&s->outputs[in->output], m->flits, in);
    const noc_output *out = &s->outputs[in->output];
    uint32_t layer = vc % g->layers, up = s->inputs[port].dimension == out->dimension ? layer : 0;
    up += out->dateline;
    in->output_vc = (uint8_t)(vc - layer + (up < g->layers ? up : g->layers - 1));
}

/* True if the buffer after the output has room; otherwise requests to be woken. */
static bool has_room(noc_group *g, uint32_t at, const noc_output *out, noc_output_vc *o, bool last)
{
    if (out->kind == NOC_NEAR) {
        while (o->returns_count > 0 && o->returns[o->returns_head & o->returns_mask] <= g->now) {
            o->returns_head++;
            o->returns_count--;
            o->credits++;
        }
        if (o->credits > 0)
            return true;
        if (o->returns_count > 0)
            wake(g, at, g->now, o->returns[o->returns_head & o->returns_mask]);
        else
            o->starved = true;
        return false;
    }
    /* An end point's buffer takes whole messages: only the last flit needs an entry. */
    if ((out->kind == NOC_ENDPOINT && !last) || ls_link_ready(o->link))
        return true;
    if (!o->starved) {
        o->starved = true;
        ls_link_wait(o->link, &o->ready);
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------- one switch */

/* The flit leaves its input buffer: its place goes back to the sender. */
static void leave_input(noc_group *g, const noc_switch *s, uint32_t port, uint32_t vc, bool last)
{
    noc_input_vc *in = &s->input_vcs[port * g->vcs + vc];
    const noc_input *from = &s->inputs[port];
    if (from->kind == NOC_NEAR) {
        noc_output_vc *o = &g->switches[from->peer].output_vcs[from->peer_port * g->vcs + vc];
        ls_cycle back = g->now + from->latency_cycles;
        o->returns[(o->returns_head + o->returns_count++) & o->returns_mask] = back;
        if (o->starved) {
            o->starved = false;
            wake(g, from->peer, g->now, back);
        }
    } else if (from->kind == NOC_FAR || last) {
        ls_link_release(in->link, 1);
    }
    if (from->kind != NOC_ENDPOINT || last) {
        in->head++;
        in->count--;
    }
    in->passed = last ? 0 : in->passed + 1;
    in->routed = !last;
}

static void enter_output(noc_group *g, const noc_switch *s, const noc_input_vc *in, uint32_t i, bool first,
                         bool last)
{
    const noc_output *out = &s->outputs[in->output];
    noc_output_vc *o = &s->output_vcs[in->output * g->vcs + in->output_vc];
    const noc_message *m = &g->messages[i];
    if (out->kind == NOC_NEAR) {
        ls_cycle ready = g->now + out->latency_cycles;
        uint32_t lag = g->cut_through ? flit_lag(out, m->flits) : 0;
        o->credits--;
        push(g, out->peer, out->peer_port, in->output_vc, (noc_flit){ i, lag, ready });
        wake(g, out->peer, g->now, ready);
        g->n.hops[m->class_index]++;
        return;
    }
    if (out->kind == NOC_FAR) {
        char *to = ls_link_send(o->link, g->flit_bytes);
        noc_wire wire = { .source = m->source,
                          .destination = m->destination,
                          .flits = m->flits,
                          .class_index = m->class_index,
                          .first = first,
                          .entered = m->entered,
                          .bytes = m->bytes,
                          .lag = g->cut_through ? flit_lag(out, m->flits) : 0,
                          .used = m->used,
                          .path = m->path,
                          .number = m->number };
        memcpy(to, &wire, sizeof wire);
        if (first)
            memcpy(to + sizeof wire, payload_of(g, i), m->used);
        g->n.hops[m->class_index]++;
    } else if (last) {
        memcpy(ls_link_send(o->link, 1), payload_of(g, i), m->used);
        g->n.latency[m->class_index] += g->now - m->entered;
    }
    if (last)
        message_free(g, i);
}

/* Cut-through: how long the wire is taken. Fractions of a cycle add up while messages follow each other. */
static ls_cycle occupy(noc_output *out, uint32_t flits, ls_cycle now)
{
    uint64_t early = out->free_at == now ? out->early : 0, span = flits * out->interval_fixed_point;
    uint64_t end = span > early ? span - early : 0, cycles = (end + UINT32_MAX) >> 32;
    cycles = cycles != 0 ? cycles : 1;
    out->early = (cycles << 32) - end;
    return cycles;
}

static void move(noc_group *g, noc_switch *s, uint32_t port, uint32_t vc)
{
    noc_input_vc *in = &s->input_vcs[port * g->vcs + vc];
    noc_output *out = &s->outputs[in->output];
    uint32_t i = in->ring[in->head & in->mask].message;
    const noc_message *m = &g->messages[i];
    bool first = in->passed == 0, last = g->cut_through || in->passed + 1u == m->flits;
    ls_cycle busy = g->cut_through ? occupy(out, m->flits, g->now) : out->interval_cycles;
    noc_link_counters *n = out->n;
    n->flits[m->class_index] += g->cut_through ? m->flits : 1;
    n->stall_cycles[m->class_index] += g->now - in->since;
    n->bytes[m->class_index] += last ? m->bytes : 0;
    n->busy_cycles += busy;
    n->cycles = g->now + busy;
    out->free_at = g->now + busy;
    s->output_vcs[in->output * g->vcs + in->output_vc].owner =
        last ? NOC_NO_OWNER : (uint16_t)(port * g->vcs + vc);
    if (LS_UNLIKELY(m->number != 0) && (out->kind == NOC_ENDPOINT ? last : first))
        noc_tell_pass(g, m, out);
    enter_output(g, s, in, i, first, last);
    leave_input(g, s, port, vc, last);
    if (in->count == 0) {
        s->occupied[vc] &= ~(UINT64_C(1) << port);
        s->busy_vcs &= ~((uint32_t)(s->occupied[vc] == 0) << vc);
    } else {
        ls_cycle next = in->ring[in->head & in->mask].ready;
        in->since = next > g->now ? next : g->now + 1;
    }
}

/* Marks in `want` the inputs whose front flit could pass each output now; returns these outputs. */
static uint64_t collect(noc_group *g, noc_switch *s, uint32_t at)
{
    uint64_t outputs = 0;
    for (uint32_t busy = s->busy_vcs; busy != 0; busy &= busy - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(busy);
        for (uint64_t left = s->occupied[vc]; left != 0; left &= left - 1) {
            uint32_t port = (uint32_t)__builtin_ctzll(left);
            noc_input_vc *in = &s->input_vcs[port * g->vcs + vc];
            const noc_flit *front = &in->ring[in->head & in->mask];
            if (front->ready > g->now) {
                wake(g, at, g->now, front->ready);
                continue;
            }
            if (!in->routed) {
                route(g, s, port, vc, in);
                if (front->ready > g->now) {
                    wake(g, at, g->now, front->ready);
                    continue;
                }
            }
            const noc_output *out = &s->outputs[in->output];
            noc_output_vc *o = &s->output_vcs[in->output * g->vcs + in->output_vc];
            if (out->free_at > g->now) {
                wake(g, at, g->now, out->free_at);
                continue;
            }
            if (o->owner != NOC_NO_OWNER && o->owner != port * g->vcs + vc)
                continue; /* until the owner's last flit has passed, which wakes this switch */
            bool last = g->cut_through || in->passed + 1u == g->messages[front->message].flits;
            if (!has_room(g, at, out, o, last))
                continue;
            uint64_t *want = &g->want[in->output * g->vcs + vc];
            uint32_t bit = UINT32_C(1) << vc;
            *want = ((g->open[in->output] & bit) != 0 ? *want : 0) | UINT64_C(1) << port;
            g->open[in->output] |= bit;
            outputs |= UINT64_C(1) << in->output;
        }
    }
    return outputs;
}

/* The first set bit after `last`, around. */
static inline uint32_t next_after(uint64_t mask, uint32_t last)
{
    uint64_t above = last < 63 ? mask & (~UINT64_C(0) << (last + 1)) : 0;
    return (uint32_t)__builtin_ctzll(above != 0 ? above : mask);
}

typedef struct winner {
    uint32_t port, vc;
} winner;

/* Virtual channels in turn, and the ports of each in turn. */
static winner next_in_turn(noc_group *g, noc_switch *s, uint32_t output, const uint64_t *want, uint32_t open)
{
    noc_output *out = &s->outputs[output];
    uint32_t vc = next_after(open, out->last_vc);
    noc_output_vc *turn = &s->output_vcs[output * g->vcs + vc];
    uint32_t port = next_after(want[vc], turn->last_port);
    out->last_vc = (uint8_t)vc;
    turn->last_port = (uint8_t)port;
    return (winner){ port, vc };
}

/* The message that entered the network first; of equal ones the lowest channel and port. */
static winner oldest(const noc_group *g, const noc_switch *s, const uint64_t *want, uint32_t open)
{
    winner best = { 0, 0 };
    ls_cycle age = LS_CYCLE_MAX;
    for (; open != 0; open &= open - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(open);
        for (uint64_t left = want[vc]; left != 0; left &= left - 1) {
            uint32_t port = (uint32_t)__builtin_ctzll(left);
            const noc_input_vc *in = &s->input_vcs[port * g->vcs + vc];
            ls_cycle entered = g->messages[in->ring[in->head & in->mask].message].entered;
            if (entered < age) {
                age = entered;
                best = (winner){ port, vc };
            }
        }
    }
    return best;
}

/* Gives an output to one input. An input passes one flit per cycle: `used`: inputs that have passed one. */
static void grant(noc_group *g, noc_switch *s, uint32_t output, uint64_t *used)
{
    uint64_t *want = &g->want[output * g->vcs];
    uint32_t open = g->open[output];
    g->open[output] = 0;
    for (uint32_t left = open; left != 0; left &= left - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(left);
        if ((want[vc] &= ~*used) == 0)
            open &= ~(UINT32_C(1) << vc);
    }
    if (open != 0) {
        winner w =
            g->arbitration == NOC_OLDEST ? oldest(g, s, want, open) : next_in_turn(g, s, output, want, open);
        /* Outputs to one end point share its buffer in a cut-through network: the last entry may be gone. */
        if (!g->cut_through || s->outputs[output].kind != NOC_ENDPOINT ||
            ls_link_ready(s->output_vcs[output * g->vcs + w.vc].link)) {
            *used |= UINT64_C(1) << w.port;
            move(g, s, w.port, w.vc);
        }
    }
}

static void switch_cycle(noc_group *g, uint32_t at)
{
    noc_switch *s = &g->switches[at];
    uint64_t outputs = collect(g, s, at), used = 0;
    if (outputs == 0)
        return;
    /* The output that chooses first changes every cycle. */
    uint32_t first = (uint32_t)(g->now % s->ports);
    for (uint64_t part = outputs >> first << first, rest = outputs & ~part; (part | rest) != 0;) {
        if (part == 0) {
            part = rest;
            rest = 0;
        }
        grant(g, s, (uint32_t)__builtin_ctzll(part), &used);
        part &= part - 1;
    }
    ls_domain_progress(g->domain);
    if (s->busy_vcs != 0)
        wake(g, at, g->now, g->now + 1);
}

static bool group_tick(void *self, ls_cycle now)
{
    noc_group *g = self;
    uint32_t slot = (uint32_t)(now % NOC_WHEEL);
    g->now = now;
    g->awake = true;
    for (uint32_t w = 0; w < g->words; w++) {
        uint64_t run = g->wheel[slot * g->words + w];
        g->wheel[slot * g->words + w] = 0;
        for (; run != 0; run &= run - 1)
            switch_cycle(g, w * 64 + (uint32_t)__builtin_ctzll(run));
    }
    g->slots &= ~(UINT64_C(1) << slot);
    if (g->slots == 0) {
        g->awake = false;
        return false;
    }
    uint32_t turn = (slot + 1) % NOC_WHEEL;
    uint64_t ahead = turn == 0 ? g->slots : g->slots >> turn | g->slots << (NOC_WHEEL - turn);
    uint32_t gap = (uint32_t)__builtin_ctzll(ahead);
    g->awake = gap == 0;
    if (!g->awake)
        timer_at(g, now + 1 + gap);
    return g->awake;
}

/* -------------------------------------------------------------------------------------------------- a block */

void noc_group_waits(const void *self, ls_wait_sink *sink)
{
    const noc_group *g = self;
    for (uint32_t at = 0; at < g->switch_count; at++) {
        const noc_switch *s = &g->switches[at];
        for (uint32_t vc = 0; vc < g->vcs; vc++)
            for (uint64_t left = s->occupied[vc]; left != 0; left &= left - 1) {
                uint32_t port = (uint32_t)__builtin_ctzll(left);
                const noc_input_vc *in = &s->input_vcs[port * g->vcs + vc];
                if (!in->routed)
                    continue;
                const noc_output_vc *o = &s->output_vcs[in->output * g->vcs + in->output_vc];
                bool taken = o->owner != NOC_NO_OWNER && o->owner != port * g->vcs + vc;
                ls_wait_report(sink, s->inputs[port].name, s->outputs[in->output].name,
                               taken ? "a virtual channel that another message holds" : "buffer space");
            }
    }
}

ls_status noc_group_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    noc_group *g = state;
    (void)spec;
    g->region = ls_block_region(block);
    g->domain = ls_region_domain(g->region);
    ls_event_init(&g->timer, timer_event, g);
    return ls_ticker_add(g->region, &g->ticker, group_tick, g, err);
}
