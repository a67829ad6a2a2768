/* fetch.c: instruction buffers. A wave with room requests its next bytes; each cycle the waves that were
 * served longest ago go first. A jump empties the buffer. The bytes themselves were decoded before the launch;
 * the model only computes when they arrive. */
#include "model/cu/cu.h"

void cu_fetch_want(cu *c, cu_wave *w, bool wants)
{
    cu_simd *simd = &c->simds[w->simd];
    uint32_t bit = 1u << w->slot;
    simd->want = wants ? simd->want | bit : simd->want & ~bit;
    if (simd->want != 0)
        c->want_mask |= 1u << w->simd;
    else
        c->want_mask &= ~(1u << w->simd);
}

void cu_fetch_room(cu *c, cu_wave *w)
{
    uint64_t mask = c->spec->fetch_bytes - 1;
    bool room = !w->fetching && w->fetch < w->code->end &&
                w->fetch + c->spec->fetch_bytes - (w->arch.pc & ~mask) <= c->spec->buffer_bytes;
    cu_fetch_want(c, w, room);
}

void cu_fetch_start(cu *c, cu_wave *w)
{
    w->epoch++;
    w->fetching = false;
    w->fetch = w->arch.pc & ~(c->spec->fetch_bytes - 1);
    w->fetched = 0;
    cu_fetch_room(c, w);
}

/* Lines ahead of the buffer are prefetched into the cache; no wave waits for them. */
static void fetch_ahead(cu *c, cu_wave *w, uint64_t line, ls_cycle now)
{
    ls_line_message *m = &c->message;
    for (unsigned i = 1; i <= w->prefetch; i++) {
        m->address = line + (uint64_t)i * c->line_bytes;
        m->token = UINT32_MAX;
        m->number = 0;
        if (m->address >= w->code->end || !ls_line_request(&c->wires.code, m, now))
            return;
    }
}

static bool fetch_send(cu *c, cu_wave *w, ls_cycle now)
{
    ls_line_message *m = &c->message;
    uint64_t line = w->fetch & ~(uint64_t)(c->line_bytes - 1);
    unsigned at = (unsigned)(w->fetch - line), bytes = (unsigned)c->spec->fetch_bytes;
    uint64_t bits = bytes >= 64 ? UINT64_MAX : (1ull << bytes) - 1;
    m->address = line;
    m->mask[0] = at < 64 ? bits << at : 0;
    m->mask[1] = at >= 64 ? bits << (at - 64) : bytes > 64 ? UINT64_MAX : 0;
    m->token = w->number | (uint32_t)w->epoch << 16;
    m->kind = LS_LINE_READ;
    m->flags = LS_LINE_CODE;
    m->born = (uint32_t)now;
    if (!cu_request(c, &c->wires.code, m, CU_PATH_CODE, now)) {
        c->code_refused = true;
        return false;
    }
    c->counters.fetches++;
    w->fetched_at = now;
    w->fetching = true;
    cu_fetch_want(c, w, false);
    if (w->prefetch != 0 && at + bytes == c->line_bytes)
        fetch_ahead(c, w, line, now);
    return true;
}

/* The wave that was served longest ago; NULL: none wants anything. */
static cu_wave *fetch_choose(cu *c)
{
    cu_wave *best = NULL;
    uint32_t per_simd = (uint32_t)c->spec->waves_per_simd;
    for (uint32_t simds = c->want_mask; simds != 0; simds &= simds - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(simds);
        for (uint32_t left = c->simds[s].want; left != 0; left &= left - 1) {
            cu_wave *w = &c->waves[s * per_simd + (uint32_t)__builtin_ctz(left)];
            if (!best || w->fetched_at < best->fetched_at ||
                (w->fetched_at == best->fetched_at && w->age < best->age))
                best = w;
        }
    }
    return best;
}

bool cu_fetch_run(cu *c, ls_cycle now)
{
    for (uint64_t i = 0; i < c->spec->fetches_per_cycle; i++) {
        cu_wave *w = fetch_choose(c);
        if (!w || c->code_refused || !fetch_send(c, w, now))
            return false;
    }
    return c->want_mask != 0;
}

static void fetch_fault(cu *c, cu_wave *w, ls_cycle now)
{
    w->arch.fault = (ls_fault){ .kind = LS_FAULT_UNMAPPED, .bytes = 4, .address = w->fetch };
    w->arch.stop = AMD_FAULTED;
    cu_group_fault(c, w, w->arch.pc, now);
}

static void fetch_reply(void *self, const ls_line_message *message, ls_cycle now)
{
    cu *c = self;
    if (message->token == UINT32_MAX)
        return;
    if (LS_UNLIKELY(message->number != 0))
        cu_tap_reply(c, message);
    cu_wave *w = &c->waves[message->token & 0xffff];
    cu_count_cycles(c, now);
    c->counters.fetch_cycles += (uint32_t)now - message->born;
    if (w->state != CU_RUNNING || w->epoch != message->token >> 16)
        return;
    if (message->flags & LS_LINE_FAULT) {
        fetch_fault(c, w, now);
        return;
    }
    w->fetching = false;
    w->fetch += c->spec->fetch_bytes;
    w->fetched = w->fetch;
    cu_fetch_room(c, w);
    if (c->want_mask != 0)
        cu_wake(c, now, now);
    if ((w->why >> CU_WHY_FETCH & 1) && w->head->next <= w->fetched) {
        cu_set_why(c, w, w->why & ~(1u << CU_WHY_FETCH));
        ls_cycle at = now + c->spec->decode_cycles;
        cu_issue_at(c, w, at > w->ready ? at : w->ready, now);
    }
}

static void fetch_retry(void *self, ls_cycle now)
{
    cu *c = self;
    c->code_refused = false;
    cu_wake(c, now, now);
}

const ls_line_client_ops cu_code_client = { .reply = fetch_reply, .retry = fetch_retry };
