/* bank.c: arrivals, the data pipe, answers, and when to wake: the outside view of bank.h's channel.
 *
 * The order within a cycle is GPGPU-Sim's. First a read that left the data pipe in an earlier cycle is
 * answered. Requests that leave the pipe in this cycle go to the return queue (a write is done at once). Then
 * commands follow. At the end of the cycle one request leaves the front for the queue, where the next cycle
 * finds it. */
#include "model/dram/bank.h"
#include "model/policy/set_hash.h"

#ifdef LS_CHECKED
#include <assert.h>
#define checked(condition) assert(condition)
#else
#define checked(condition) ((void)0)
#endif

__extension__ typedef unsigned __int128 u128;

/* ----------------------------------------------------------------------------------------------- arrivals */

/* a * b / c, rounded down; long products are rare. */
static inline uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    if (LS_UNLIKELY(__builtin_mul_overflow(a, b, &product)))
        return (uint64_t)((u128)a * b / c);
    return product / c;
}

/* The DRAM cycle at whose end a request that came in cycle `stamp` may leave the front. It is the first one
 * after the edge of the front clock that ends its delay. An edge of the front clock at the same time as a DRAM
 * edge counts as after it. */
static inline ls_cycle leaves_front(const bank_channel *c, ls_cycle stamp)
{
    if (c->front_ratio.num == c->front_ratio.den || c->front_latency == 0)
        return stamp + c->front_latency;
    uint64_t passed = scale(stamp, c->front_ratio.num, c->front_ratio.den);
    passed += passed * c->front_ratio.den != stamp * c->front_ratio.num; /* edges before `stamp` */
    ls_cycle leave = scale(passed + c->front_latency - 1, c->front_ratio.den, c->front_ratio.num) + 1;
    return leave > stamp ? leave : stamp;
}

static uint32_t bank_of(const bank_channel *c, const ls_dram_request *request)
{
    uint32_t number = request->bank & c->bank_mask;
    if (c->hash == BANK_HASH_XOR)
        return number ^ (request->row & c->bank_mask);
    if (c->hash == BANK_HASH_IPOLY)
        return set_hash_ipoly(request->row, number, c->bank_bits);
    return number;
}

/* The first cycle in which effects of commands from cycle `from` on can be visible. */
static inline ls_cycle visible(const bank_channel *c, ls_cycle from, bool write)
{
    return from + c->lag[write];
}

static void wake_by(bank_channel *c, ls_cycle at)
{
    if (c->awake)
        return;
    if (ls_event_scheduled(&c->wake)) {
        if (c->wake.cycle <= at)
            return;
        ls_cancel(&c->wake);
    }
    ls_schedule_at(c->region, &c->wake, at);
}

/* True if the queue has room now. Often that is known without running the commands up to now: the requests
 * that waited at the last run, plus all that may have joined until the next wake, are few enough. */
static bool bank_ready(void *self, bool write)
{
    bank_channel *c = self;
    uint32_t kind = c->apart && write;
    if (c->count >= c->capacity)
        return false;
    if (c->count < c->limit[kind])
        return true;
    if ((int32_t)(c->front_seen - c->front_head) < 0)
        c->front_seen = c->front_head;
    while (c->front_seen != c->front_tail &&
           c->requests[c->front[c->front_seen & c->ring_mask]].enter <= c->wake.cycle)
        c->front_seen++;
    if (c->waiting[kind] + (c->front_seen - c->front_head) < c->limit[kind])
        return true;
    ls_cycle now = ls_region_now(c->region);
    bank_advance(c, now);
    if (c->front_at <= now)
        bank_join(c, now);
    return c->waiting[kind] < c->limit[kind];
}

static void bank_push(void *self, const ls_dram_request *request)
{
    bank_channel *c = self;
    ls_cycle now = ls_region_now(c->region);
    uint32_t number = index_pool_take(&c->request_pool, INDEX_LINKS(c->requests, next));
    bank_request *r = &c->requests[number];
    c->front_stamp = now >= c->front_stamp ? now + 1 : c->front_stamp + 1;
    ls_cycle enter = leaves_front(c, c->front_stamp) + 1;
    c->front_last = enter > c->front_last ? enter : c->front_last + 1;
    r->pushed = now;
    r->enter = c->front_last;
    r->row = request->row;
    r->token = request->token;
    r->bank = (uint8_t)bank_of(c, request);
    r->atoms = request->atoms != 0 ? request->atoms : 1;
    r->write = request->write;
    bool alone = c->front_head == c->front_tail;
    c->front[c->front_tail++ & c->ring_mask] = number;
    c->writes_coming += r->write;
    c->n.requests++;
    if (c->count++ == 0 && now > c->active_since)
        c->active_since = now;
    if (alone)
        c->front_at = r->enter;
    bool first = c->next > r->enter && ((c->busy & c->banks[r->bank].bit) == 0 || c->apart);
    if (first)
        c->next = r->enter;
    if (first || r->write)
        wake_by(c, visible(c, r->enter, r->write));
}

const ls_dram_ops bank_ops = { .ready = bank_ready, .push = bank_push };

/* ------------------------------------------------------------------------------------------------ answers */

static inline void finish(bank_channel *c, const bank_data *data, ls_cycle now)
{
    const ls_dram_reply_ops *reply = c->reply.ops;
    ls_histogram_add(&c->n.latency, now - data->pushed);
    c->count--;
    dram_active_until(&c->n.active_cycles, &c->active_since, now);
    ls_domain_progress(c->domain);
    reply->done(c->reply.self, data->token, data->write);
}

static inline bool has_room(const bank_channel *c, uint32_t token)
{
    const ls_dram_reply_ops *reply = c->reply.ops;
    return reply->ready(c->reply.self, token);
}

/* One read from the return queue. A read with an empty queue before it is taken from the pipe directly. */
static inline void answer_read(bank_channel *c, ls_cycle now)
{
    if (LS_UNLIKELY(c->return_head != c->return_tail)) {
        const bank_data *data = &c->returns[c->return_head & c->return_mask];
        if (has_room(c, data->token)) {
            c->return_head++;
            finish(c, data, now);
        }
    } else if (c->pipe_head != c->pipe_tail) {
        const bank_data *data = &c->pipe[c->pipe_head & c->ring_mask];
        if (data->due + c->pipe_held >= now)
            return;
        checked(!data->write && data->due + c->pipe_held + 1 == now); /* woke in time */
        c->pipe_head++;
        if (has_room(c, data->token))
            finish(c, data, now);
        else
            c->returns[c->return_tail++ & c->return_mask] = *data;
    }
}

/* Handles the requests that leave the pipe in this cycle. A read that finds the return queue empty may as well
 * stay. */
static inline void empty_pipe(bank_channel *c, ls_cycle now)
{
    uint32_t returning = c->return_tail - c->return_head;
    if (LS_UNLIKELY(returning >= c->return_limit)) {
        c->pipe_held++;
        return;
    }
    if (c->pipe_head == c->pipe_tail)
        return;
    const bank_data *data = &c->pipe[c->pipe_head & c->ring_mask];
    if (data->due + c->pipe_held != now)
        return;
    if (data->write) {
        c->pipe_head++;
        finish(c, data, now);
    } else if (returning != 0) {
        c->pipe_head++;
        c->returns[c->return_tail++ & c->return_mask] = *data;
    }
}

/* When the outside could next see something: data that comes out, or a command's effect. */
static inline ls_cycle next_wake(const bank_channel *c, ls_cycle now)
{
    if (LS_UNLIKELY(c->return_head != c->return_tail))
        return now + 1;
    ls_cycle at = LS_CYCLE_MAX;
    if (c->next != LS_CYCLE_MAX)
        at = visible(c, c->next, c->writes_coming != 0);
    if (c->pipe_head != c->pipe_tail) {
        const bank_data *data = &c->pipe[c->pipe_head & c->ring_mask];
        ls_cycle out = data->due + c->pipe_held + !data->write;
        at = out < at ? out : at;
    }
    return at;
}

/* The commands of this very cycle may wait for the next call: their effects are not visible before. */
void bank_wake(void *self, ls_cycle now)
{
    bank_channel *c = self;
    c->awake = true;
    bank_advance(c, now - 1);
    answer_read(c, now);
    empty_pipe(c, now);
    c->awake = false;
    ls_cycle at = next_wake(c, now);
    if (at != LS_CYCLE_MAX)
        ls_schedule(c->region, &c->wake, at - now);
}
