/* device_queue.c: see device_queue.h. */
#include "model/gpu/device_queue.h"

#include "lockstep/state.h"

#include <stdio.h>
#include <string.h>

typedef struct queue_counters {
    uint64_t commands, copies, signals, waits;
    uint64_t wait_cycles, copy_cycles, delay_cycles;
    uint64_t flushes, flush_cycles;
} queue_counters;

typedef struct queue_times {
    ls_cycle begin, end;
} queue_times;

typedef struct queue {
    const char *name;
    ls_region *region;
    ls_domain *domain;
    ls_link *to_peer;
    ls_port dispatch;
    const device_program *program;
    queue_times *times; /* by command */
    uint32_t *received; /* by signal */
    uint32_t time_count, signal_count;
    uint32_t at;                  /* the present command */
    bool is_begun, is_done;       /* is_begun: the present command is */
    bool flush_wanted;            /* a kernel has ended, and the flush after it was not asked for */
    bool flush_runs, flush_waits; /* flush_waits: for its link */
    ls_cycle flush_since;
    ls_event step, ready, flush_ready;
    queue_counters n;
} queue;

static const device_command *present(const queue *q)
{
    return &q->program->commands[q->at];
}

static void wake(queue *q, uint64_t cycles)
{
    if (!ls_event_scheduled(&q->step))
        ls_schedule(q->region, &q->step, cycles);
}

/* A signal or a copy goes to the peer block; false if its link has no room. */
static bool send(queue *q, const device_command *c)
{
    ls_peer_command *slot = ls_link_send(q->to_peer, 1);
    if (slot == NULL) {
        ls_link_wait(q->to_peer, &q->ready);
        return false;
    }
    *slot = (ls_peer_command){ .is_copy = c->kind == DEVICE_COPY,
                               .to = c->to,
                               .number = c->number,
                               .bytes = c->bytes,
                               .from_address = c->from_address,
                               .to_address = c->to_address };
    return true;
}

static void end_command(queue *q, ls_cycle now)
{
    const device_command *c = present(q);
    queue_times *times = &q->times[q->at];
    times->end = now;
    uint64_t cycles = now - times->begin;
    q->n.commands++;
    q->n.wait_cycles += c->kind == DEVICE_WAIT ? cycles : 0;
    q->n.copy_cycles += c->kind == DEVICE_COPY ? cycles : 0;
    q->n.delay_cycles += c->kind == DEVICE_DELAY ? cycles : 0;
    q->n.waits += c->kind == DEVICE_WAIT;
    q->n.copies += c->kind == DEVICE_COPY;
    q->n.signals += c->kind == DEVICE_SIGNAL;
    q->at++;
    q->is_begun = false;
    ls_domain_progress(q->domain);
}

static void resume(queue *q, ls_cycle now)
{
    ((const ls_dispatch_ops *)q->dispatch.ops)->resume(q->dispatch.self, now);
}

/* Begins the present command. True: it has ended already. */
static bool begin_command(queue *q, ls_cycle now)
{
    const device_command *c = present(q);
    q->is_begun = true;
    q->times[q->at].begin = now;
    switch (c->kind) {
    case DEVICE_KERNELS:
        resume(q, now);
        return false;
    case DEVICE_WAIT:
        return q->received[c->number] >= c->count;
    case DEVICE_DELAY:
        if (c->cycles > 0)
            ls_schedule(q->region, &q->step, c->cycles);
        return c->cycles == 0;
    case DEVICE_COPY:
        if (!send(q, c))
            q->is_begun = false;
        return false;
    default:
        q->is_begun = send(q, c);
        return q->is_begun;
    }
}

static void step(void *self, ls_cycle now)
{
    queue *q = self;
    if (q->is_done)
        return;
    if (q->is_begun) { /* a delay is over, a signal or the end of kernels or of a copy has come */
        end_command(q, now);
    }
    while (q->at < q->program->count && begin_command(q, now))
        end_command(q, now);
    if (q->at < q->program->count)
        return;
    q->is_done = true;
    ls_domain_pending(q->domain, -1);
    resume(q, now); /* the dispatcher learns that no kernel comes any more */
}

/* ---------------------------------------------------------------------------------------- ends of kernels */

/* One flush at a time. One that is asked for after the ends of several kernels serves all of them. */
static void send_flush(queue *q)
{
    if (!q->flush_wanted || q->flush_runs || q->flush_waits)
        return;
    ls_peer_command *slot = ls_link_send(q->to_peer, 1);
    if (slot == NULL) {
        q->flush_waits = true;
        ls_link_wait(q->to_peer, &q->flush_ready);
        return;
    }
    *slot = (ls_peer_command){ .is_flush = 1 };
    q->flush_wanted = false;
    q->flush_runs = true;
}

static void flush_link_ready(void *self, ls_cycle now)
{
    queue *q = self;
    (void)now;
    q->flush_waits = false;
    send_flush(q);
}

static void flush_done(queue *q, ls_cycle now)
{
    q->flush_runs = false;
    q->n.flushes++;
    if (q->flush_wanted) {
        send_flush(q);
        return;
    }
    q->n.flush_cycles += now - q->flush_since;
    resume(q, now); /* the next kernel, or the end of the command */
}

void device_queue_kernel_ended(ls_block *block, ls_cycle now)
{
    queue *q = ls_block_state(block);
    if (!q->flush_wanted && !q->flush_runs)
        q->flush_since = now;
    q->flush_wanted = true;
    send_flush(q);
}

static void link_ready(void *self, ls_cycle now)
{
    step(self, now);
}

void device_queue_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    queue *q = state;
    const ls_peer_notice *notice = payload;
    ls_link_release(link, 1);
    if (q->is_done)
        return;
    if (notice->is_flush) {
        flush_done(q, now);
        return;
    }
    if (notice->is_copy) {
        wake(q, 0);
        return;
    }
    q->received[notice->number]++;
    const device_command *c = present(q);
    if (q->is_begun && c->kind == DEVICE_WAIT && c->number == notice->number &&
        q->received[c->number] >= c->count)
        wake(q, 0);
}

/* ------------------------------------------------------------------------------------------------ the workload */

const device_command *device_queue_kernels(const ls_block *block)
{
    const queue *q = ls_block_state((ls_block *)(uintptr_t)block);
    return !q->is_done && q->is_begun && present(q)->kind == DEVICE_KERNELS && !ls_event_scheduled(&q->step) &&
                   !q->flush_wanted && !q->flush_runs
               ? present(q)
               : NULL;
}

void device_queue_kernels_done(ls_block *block)
{
    wake(ls_block_state(block), 0);
}

bool device_queue_is_done(const ls_block *block)
{
    const queue *q = ls_block_state((ls_block *)(uintptr_t)block);
    return q->is_done;
}

void device_queue_abandon(ls_block *block)
{
    queue *q = ls_block_state(block);
    if (!q->is_done)
        ls_domain_pending(q->domain, -1);
    q->is_done = true;
}

ls_cycle device_queue_begin(const ls_block *block, uint32_t command)
{
    const queue *q = ls_block_state((ls_block *)(uintptr_t)block);
    return command <= q->at && command < q->time_count ? q->times[command].begin : LS_CYCLE_MAX;
}

ls_cycle device_queue_end(const ls_block *block, uint32_t command)
{
    const queue *q = ls_block_state((ls_block *)(uintptr_t)block);
    return command < q->at ? q->times[command].end : LS_CYCLE_MAX;
}

/* ------------------------------------------------------------------------------------------------------ set-up */

ls_status device_queue_start(ls_block *block, const device_program *program, ls_error *err)
{
    queue *q = ls_block_state(block);
    q->program = program;
    q->time_count = program->count;
    q->signal_count = program->signal_count;
    q->times = ls_domain_alloc(q->domain, (program->count + 1) * sizeof *q->times);
    q->received = ls_domain_alloc(q->domain, (program->signal_count + 1) * sizeof *q->received);
    if (q->times == NULL || q->received == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the commands of '%s'", q->name);
    q->at = program->first;
    if (program->received != NULL)
        memcpy(q->received, program->received, program->signal_count * sizeof *q->received);
    ls_domain_pending(q->domain, 1);
    wake(q, 0);
    return LS_OK;
}

void device_queue_attach(ls_block *block, ls_link *to_peer, ls_port dispatch)
{
    queue *q = ls_block_state(block);
    q->to_peer = to_peer;
    q->dispatch = dispatch;
}

static ls_status queue_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    queue *q = state;
    (void)spec;
    (void)err;
    q->name = ls_block_name(block);
    q->region = ls_block_region(block);
    q->domain = ls_region_domain(q->region);
    ls_event_init(&q->step, step, q);
    ls_event_init(&q->ready, link_ready, q);
    ls_event_init(&q->flush_ready, flush_link_ready, q);
    return LS_OK;
}

static void queue_waits(const void *state, ls_wait_sink *sink)
{
    const queue *q = state;
    char detail[160];
    if (q->program == NULL || q->is_done || !q->is_begun)
        return;
    const device_command *c = present(q);
    if (c->kind == DEVICE_WAIT) {
        char sender[32];
        snprintf(sender, sizeof sender, "gpu%u.queue", c->to);
        snprintf(detail, sizeof detail, "command %u: signal '%.80s' has not come", q->at + 1,
                 q->program->text + c->text);
        ls_wait_report(sink, q->name, sender, detail);
    } else if (c->kind == DEVICE_COPY) {
        snprintf(detail, sizeof detail, "command %u: end of a copy", q->at + 1);
        ls_wait_report(sink, q->name, "peer", detail);
    }
}

static uint64_t time_length(const void *self)
{
    return ((const queue *)self)->time_count;
}
static uint64_t signal_length(const void *self)
{
    return ((const queue *)self)->signal_count;
}

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(queue, name, program),
    LS_STATE_ARRAY(queue, times, time_length),
    LS_STATE_ARRAY(queue, received, signal_length),
    LS_STATE_FIXED_SPAN(queue, time_count, signal_count),
    LS_STATE_DATA_SPAN(queue, at, flush_since),
    LS_STATE_EVENT(queue, step),
    LS_STATE_EVENT(queue, ready),
    LS_STATE_EVENT(queue, flush_ready),
    LS_STATE_DATA(queue, n),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(queue_counters, commands, "commands", "commands of the device that have ended"),
    LS_METRIC_COUNTER(queue_counters, copies, "copies", "copies to other GPUs"),
    LS_METRIC_COUNTER(queue_counters, signals, "signals", "signals sent"),
    LS_METRIC_COUNTER(queue_counters, waits, "waits", "waits that have ended"),
    LS_METRIC_COUNTER(queue_counters, wait_cycles, "cycles", "spent in waits"),
    LS_METRIC_COUNTER(queue_counters, copy_cycles, "cycles", "spent in copies"),
    LS_METRIC_COUNTER(queue_counters, delay_cycles, "cycles", "spent in delays: software"),
    LS_METRIC_COUNTER(queue_counters, flushes, "flushes",
                      "of other GPUs' memory in L2, after the ends of kernels"),
    LS_METRIC_COUNTER(queue_counters, flush_cycles, "cycles", "spent in flushes"),
};

static const ls_block_type device_queue = {
    .abi = LS_ABI_VERSION,
    .slot = "device-queue",
    .name = "in-order",
    .help = "kernels, copies, signals and waits of one GPU, one after another",
    .state_size = sizeof(queue),
    .counters_offset = offsetof(queue, n),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .init = queue_init,
    .waits = queue_waits,
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
};

ls_status device_queue_create(ls_region *region, const char *name, ls_block **out, ls_error *err)
{
    return ls_block_create(region, name, &device_queue, NULL, out, err);
}
