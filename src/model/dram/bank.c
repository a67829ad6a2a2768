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

/* ------------------------------------------------------------------------------------------------ answers */

static inline void finish(bank_channel *c, const bank_data *data, ls_cycle now)
{
    const ls_dram_reply_ops *reply = c->reply.ops;
    ls_histogram_add(&c->n.latency, now - data->pushed);
    c->count--;
    dram_active_until(&c->n.active_cycles, &c->active_since, now);
    if (data->more)
        return;
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

/* The cycle in which data leaves the channel. */
static inline ls_cycle out_of_pipe(const bank_channel *c, const bank_data *data)
{
    return data->due + c->pipe_held + !data->write;
}

/* Parts that have left the pipe unseen: there was room for them. */
static inline void leave_unseen(bank_channel *c, ls_cycle now)
{
    const uint32_t first = c->pipe_head;
    uint32_t i = first;
    ls_cycle last = 0;
    for (; i != c->pipe_tail; i++) {
        const bank_data *data = &c->pipe[i & c->ring_mask];
        ls_cycle out = out_of_pipe(c, data);
        if (!data->more || out >= now)
            break;
        last = out;
        ls_histogram_add(&c->n.latency, out - data->pushed);
    }
    if (i == first)
        return;
    c->pipe_head = i;
    c->count -= i - first;
    dram_active_until(&c->n.active_cycles, &c->active_since, last);
}

/* Answers the parts that leave the pipe in this cycle. False: the return queue holds reads, or must take one of these. */
static inline bool answer_now(bank_channel *c, ls_cycle now)
{
    if (LS_UNLIKELY(c->return_head != c->return_tail))
        return false;
    for (; c->pipe_head != c->pipe_tail; c->pipe_head++) {
        const bank_data *data = &c->pipe[c->pipe_head & c->ring_mask];
        if (out_of_pipe(c, data) != now)
            return true;
        if (!data->write && LS_UNLIKELY(!has_room(c, data->token)))
            return false;
        finish(c, data, now);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ looks
 *
 * A look runs the commands of all cycles before its own. There is one whenever something leaves the pipe, and when the first
 * effect of a command could be visible. Counters and a full queue show up to which look the commands have been run. While
 * neither is read, a look is skipped if all that leaves until the next answer is known: a later look does its work, too.
 * settle() makes up for skipped looks before somebody reads. */

/* The first cycle in which effects of commands from cycle `from` on can be visible. */
static inline ls_cycle visible(const bank_channel *c, ls_cycle from, bool write)
{
    return from + c->lag[write];
}

/* The look after that of cycle `now`. */
static inline ls_cycle next_look(const bank_channel *c, ls_cycle now)
{
    if (LS_UNLIKELY(c->return_head != c->return_tail))
        return now + 1;
    ls_cycle at = LS_CYCLE_MAX;
    if (c->next != LS_CYCLE_MAX)
        at = visible(c, c->next, c->writes_coming != 0);
    if (c->look_head != c->pipe_tail) {
        ls_cycle out = out_of_pipe(c, &c->pipe[c->look_head & c->ring_mask]);
        at = out < at ? out : at;
    }
    return at;
}

/* The look of this cycle, and with it all that were skipped. */
static inline void look(bank_channel *c, ls_cycle now)
{
    bank_advance(c, now - 1);
    c->look_head = c->pipe_head;
    c->look_at = next_look(c, now);
}

/* The looks before cycle `to`, one by one. What they have seen is still in the ring of the pipe: nothing has entered it. */
static void settle(bank_channel *c, ls_cycle to)
{
    while (c->look_at < to) {
        ls_cycle at = c->look_at;
        bank_advance(c, at - 1);
        while (c->look_head != c->pipe_tail && out_of_pipe(c, &c->pipe[c->look_head & c->ring_mask]) <= at)
            c->look_head++;
        c->look_at = next_look(c, at);
    }
    leave_unseen(c, to);
}

void bank_settle(void *self, ls_cycle end)
{
    settle(self, end);
}

/* The first data in the pipe that the outside sees when it comes out: an answer, or a part for which there is no room. Room that
 * is there stays until the next answer. LS_CYCLE_MAX: there is none. */
static inline ls_cycle next_answer(const bank_channel *c)
{
    uint64_t roomy = UINT64_MAX; /* the last token for which there is room; at first none */
    for (uint32_t i = c->pipe_head; i != c->pipe_tail; i++) {
        const bank_data *data = &c->pipe[i & c->ring_mask];
        if (!data->more || (data->token != roomy && !has_room(c, data->token)))
            return out_of_pipe(c, data);
        roomy = data->token;
    }
    return LS_CYCLE_MAX;
}

/* The last look that is sure to come before an answer does that is not in the pipe yet. */
static inline ls_cycle look_before_answer(const bank_channel *c)
{
    if (c->pipe_head == c->pipe_tail || c->next == LS_CYCLE_MAX)
        return c->look_at;
    ls_cycle out = out_of_pipe(c, &c->pipe[(c->pipe_tail - 1) & c->ring_mask]);
    return out <= visible(c, c->next, c->writes_coming != 0) ? out : c->look_at;
}

/* A wake at every look. With reads in the return queue, or on their way into it, that is in every cycle. */
static ls_cycle wake_and_look(bank_channel *c, ls_cycle now)
{
    bank_advance(c, now - 1);
    answer_read(c, now);
    empty_pipe(c, now);
    c->look_head = c->pipe_head;
    return c->look_at = next_look(c, now);
}

/* A wake at every answer. */
static ls_cycle wake_and_answer(bank_channel *c, ls_cycle now)
{
    ls_cycle at = next_answer(c);
    if (at == LS_CYCLE_MAX) {
        look(c, now);
        at = next_answer(c);
    }
    return at == LS_CYCLE_MAX ? look_before_answer(c) : at;
}

/* The commands of this very cycle may wait for the next call: their effects are not visible before. */
void bank_wake(void *self, ls_cycle now)
{
    bank_channel *c = self;
    ls_cycle at;
    c->awake = true;
    leave_unseen(c, now);
    /* When the queue may be full, many ask whether it is, and would have to settle. */
    if (c->count < c->limit[0] && answer_now(c, now))
        at = wake_and_answer(c, now);
    else
        at = wake_and_look(c, now);
    c->awake = false;
    if (at != LS_CYCLE_MAX)
        ls_schedule(c->region, &c->wake, at - now);
}

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
static __attribute__((noinline)) ls_cycle leaves_front(const bank_channel *c, ls_cycle stamp)
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

/* The cycle in which a request that came in cycle `stamp` may join the queue. */
static inline ls_cycle joins_queue(bank_channel *c, ls_cycle stamp, uint64_t phase)
{
    if (LS_UNLIKELY(c->front_delays == NULL))
        return leaves_front(c, stamp) + 1;
    uint32_t *delay = &c->front_delays[phase];
    if (LS_UNLIKELY(*delay == 0))
        *delay = (uint32_t)(leaves_front(c, stamp) + 1 - stamp);
    return stamp + *delay;
}

/* The cycle in which the next request may join the queue; they follow each other. */
static inline ls_cycle enter_front(bank_channel *c, ls_cycle now)
{
    c->front_stamp = now >= c->front_stamp ? now + 1 : c->front_stamp + 1;
    c->front_phase = c->front_stamp % c->front_period;
    ls_cycle enter = joins_queue(c, c->front_stamp, c->front_phase);
    c->front_last = enter > c->front_last ? enter : c->front_last + 1;
    return c->front_last;
}

/* The next look is in cycle `at`, if not before; so is the next wake. */
static void look_by(bank_channel *c, ls_cycle at, ls_cycle now)
{
    if (c->awake)
        return;
    settle(c, now + 1);
    if (c->look_at <= at)
        return;
    c->look_at = at;
    if (ls_event_scheduled(&c->wake)) {
        if (c->wake.cycle <= at)
            return;
        ls_cancel(&c->wake);
    }
    ls_schedule_at(c->region, &c->wake, at);
}

/* Requests in front that may have joined the queue before the channel looks next. */
static uint32_t may_have_joined(bank_channel *c)
{
    if ((int32_t)(c->front_seen - c->front_head) < 0)
        c->front_seen = c->front_head;
    for (; c->front_seen != c->front_tail; c->front_seen++) {
        const bank_request *r = &c->requests[c->front[c->front_seen & c->ring_mask]];
        ls_cycle enter = r->enter;
        if (enter > c->look_at)
            break;
        if (enter + r->span > c->look_at) {
            uint32_t parts = 0;
            for (uint32_t part = r->parts - r->in_front; enter <= c->look_at; parts++)
                enter += r->steps[part++];
            return c->seen_parts + parts;
        }
        c->seen_parts += r->in_front;
    }
    return c->seen_parts;
}

/* True if the queue has room now. Often that is known without running the commands up to now: the requests
 * that waited at the last run, plus all that may have joined until the next wake, are few enough. */
static __attribute__((noinline)) bool has_place_when_full(bank_channel *c, uint32_t kind)
{
    ls_cycle now = ls_region_now(c->region);
    if (LS_UNLIKELY(c->look_at <= now)) {
        settle(c, now + 1);
        if (c->count < c->limit[kind] && c->count < c->capacity)
            return true;
    }
    if (c->count >= c->capacity)
        return false;
    if (c->waiting[kind] + may_have_joined(c) < c->limit[kind])
        return true;
    bank_advance(c, now);
    if (c->front_at <= now)
        bank_join(c, now);
    return c->waiting[kind] < c->limit[kind];
}

static inline bool has_place(bank_channel *c, bool write)
{
    uint32_t kind = c->apart && write;
    return (c->count < c->limit[kind] && c->count < c->capacity) || has_place_when_full(c, kind);
}

static bool bank_ready(void *self, bool write)
{
    return has_place(self, write);
}

static bank_request *push_request(bank_channel *c, const ls_dram_request *request, ls_cycle now)
{
    uint32_t number = index_pool_take(&c->request_pool, INDEX_LINKS(c->requests, next));
    bank_request *r = &c->requests[number];
    r->pushed = now;
    r->enter = enter_front(c, now);
    r->row = request->row;
    r->token = request->token;
    r->bank = (uint8_t)bank_of(c, request);
    r->atoms = request->atoms != 0 ? request->atoms : 1;
    r->write = request->write;
    r->parts = r->in_front = r->unsent = 1;
    r->waiting = 0;
    r->span = 0;
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
        look_by(c, visible(c, r->enter, r->write), now);
    return r;
}

static void bank_push(void *self, const ls_dram_request *request)
{
    bank_channel *c = self;
    push_request(c, request, ls_region_now(c->region));
}

/* More reads for the newest request in front; they come one cycle after the other. */
static inline void push_parts(bank_channel *c, bank_request *r, uint32_t count)
{
    ls_cycle stamp = c->front_stamp, last = c->front_last;
    uint64_t phase = c->front_phase;
    if (LS_UNLIKELY(c->front_seen == c->front_tail)) { /* it has been seen without these parts */
        c->front_seen--;
        c->seen_parts -= r->in_front;
    }
    for (uint8_t *step = &r->steps[r->parts - 1], *end = step + count; step != end; step++) {
        phase = phase + 1 != c->front_period ? phase + 1 : 0;
        ls_cycle enter = joins_queue(c, ++stamp, phase);
        enter = enter > last ? enter : last + 1;
        *step = (uint8_t)(enter - last);
        last = enter;
    }
    r->span = (uint16_t)(r->span + (last - c->front_last));
    r->parts = (uint8_t)(r->parts + count);
    r->in_front = (uint8_t)(r->in_front + count);
    r->unsent = (uint8_t)(r->unsent + count);
    c->front_stamp = stamp;
    c->front_phase = phase;
    c->front_last = last;
    c->count += count;
    c->n.requests += count;
}

static uint32_t bank_push_several(void *self, const ls_dram_request *request, uint32_t count)
{
    bank_channel *c = self;
    uint32_t most = count < c->parts_max ? count : c->parts_max;
    if (!has_place(c, false))
        return 0;
    ls_cycle now = ls_region_now(c->region);
    bank_request *r = push_request(c, request, now);
    if (LS_LIKELY(c->count + most <= c->limit[0] && c->count + most <= c->capacity))
        push_parts(c, r, most - 1);
    while (r->parts < most && has_place(c, false))
        push_parts(c, r, 1);
    return r->parts;
}

const ls_dram_ops bank_ops = { .ready = bank_ready, .push = bank_push, .push_several = bank_push_several };
