/* timing_log.c: see timing_log.h. */
#include "runtime/timing/timing_log.h"

#include "lockstep/block.h"

#include <string.h>

void timing_log_fini(timing_log *log)
{
    vec_fini(&log->out.bytes);
    vec_fini(&log->counters);
    vec_fini(&log->flying);
}

ls_status timing_log_check(const timing_log *log, ls_error *err)
{
    if (log->out.failed)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for the log of a checkpoint");
    if (log->differs)
        return ls_fail(err, LS_ERR_INPUT,
                       "the program does something else than before the checkpoint: it cannot be resumed");
    return LS_OK;
}

bool timing_log_is_over(const timing_log *log)
{
    return log->in.at == log->in.end && !log->in.failed;
}

/* --------------------------------------------------------------------------------------------------- values */

static void put_kind(timing_log *log, timing_log_kind kind)
{
    const uint8_t byte = (uint8_t)kind;
    bytes_put(&log->out, &byte, 1);
}

/* The kind of the next entry; 0: there is none. */
static timing_log_kind next_kind(const timing_log *log)
{
    return log->differs || log->in.failed || log->in.at == log->in.end ? 0 : (timing_log_kind)*log->in.at;
}

static bool get_kind(timing_log *log, timing_log_kind kind)
{
    log->differs = log->differs || next_kind(log) != kind;
    if (!log->differs)
        log->in.at++;
    return !log->differs;
}

static void get(timing_log *log, void *value, size_t bytes)
{
    bytes_get(&log->in, value, bytes);
    log->differs = log->differs || log->in.failed;
}

void timing_log_value(timing_log *log, timing_log_kind kind, void *value, size_t bytes)
{
    if (log == NULL)
        return;
    if (!log->replays) {
        put_kind(log, kind);
        bytes_put(&log->out, value, bytes);
    } else if (get_kind(log, kind)) {
        get(log, value, bytes);
    } else {
        memset(value, 0, bytes);
    }
}

void timing_log_share(timing_log *log, void *bytes, size_t count)
{
    uint64_t length = count;
    const uint8_t *at = bytes;
    if (log == NULL)
        return;
    while (!log->replays && length > 0 && at[length - 1] == 0)
        length--;
    timing_log_value(log, TIMING_LOG_SHARE, &length, sizeof length);
    log->differs = log->differs || length > count;
    if (log->replays)
        memset(bytes, 0, count);
    if (!log->replays)
        bytes_put(&log->out, bytes, (size_t)length);
    else if (!log->differs)
        get(log, bytes, (size_t)length);
}

/* ------------------------------------------------------------------------------------------------- counters */

/* The counters of a block, as its table says where they are; *words is 0 if it has none. */
static uint64_t *counters_of(ls_block *block, size_t *words)
{
    const ls_block_type *type = ls_block_type_of(block);
    size_t begin = SIZE_MAX, end = 0;
    for (size_t i = 0; i < type->metric_count; i++) {
        const ls_metric *m = &type->metrics[i];
        if (m->kind == LS_METRIC_KIND_RATIO)
            continue;
        size_t bytes = m->kind == LS_METRIC_KIND_HISTOGRAM ? sizeof(ls_histogram) : sizeof(uint64_t);
        begin = m->offset < begin ? m->offset : begin;
        end = m->offset + bytes > end ? m->offset + bytes : end;
    }
    *words = end > begin ? (end - begin) / sizeof(uint64_t) : 0;
    char *state = ls_block_state(block);
    return (uint64_t *)(void *)(state + type->counters_offset + (*words > 0 ? begin : 0));
}

/* Those of a block that were logged last: zeros the first time. */
static uint64_t *last_counters(timing_log *log, size_t at, size_t words)
{
    if (log->counters.count < at + words) {
        if (!vec_reserve(&log->counters, at + words - log->counters.count)) {
            log->out.failed = true;
            return NULL;
        }
        memset(log->counters.at + log->counters.count, 0,
               (at + words - log->counters.count) * sizeof *log->counters.at);
        log->counters.count = at + words;
    }
    return log->counters.at + at;
}

/* An entry: pairs of a distance in words and a new value; a distance of UINT32_MAX ends it. */
static void put_counters(timing_log *log)
{
    uint32_t count = ls_engine_block_count(log->engine), gap = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t words;
        const uint64_t *now = counters_of(ls_engine_block(log->engine, i), &words);
        uint64_t *last = last_counters(log, at, words);
        if (last == NULL)
            return;
        for (size_t k = 0; k < words; k++, gap++)
            if (now[k] != last[k]) {
                last[k] = now[k];
                bytes_put(&log->out, &gap, sizeof gap);
                bytes_put(&log->out, &now[k], sizeof now[k]);
                gap = UINT32_MAX; /* is increased: the next word has distance 0 */
            }
        at += words;
    }
    gap = UINT32_MAX;
    bytes_put(&log->out, &gap, sizeof gap);
}

/* The same walk: `left` words until the next value. Peaks start afresh in each interval of the metrics, so all values are
 * set, also those that did not change. */
static void get_counters(timing_log *log)
{
    uint32_t count = ls_engine_block_count(log->engine), left;
    size_t at = 0;
    get(log, &left, sizeof left);
    for (uint32_t i = 0; i < count && !log->differs; i++) {
        size_t words;
        uint64_t *now = counters_of(ls_engine_block(log->engine, i), &words);
        uint64_t *last = last_counters(log, at, words);
        if (last == NULL)
            return;
        for (size_t k = 0; k < words; k++) {
            if (left == 0) {
                get(log, &last[k], sizeof last[k]);
                get(log, &left, sizeof left);
            } else if (left != UINT32_MAX) {
                left--;
            }
        }
        memcpy(now, last, words * sizeof *now);
        at += words;
    }
    log->differs = log->differs || left != UINT32_MAX;
}

void timing_log_counters(timing_log *log)
{
    if (log == NULL)
        return;
    if (!log->replays) {
        put_kind(log, TIMING_LOG_COUNTERS);
        put_counters(log);
    } else if (get_kind(log, TIMING_LOG_COUNTERS)) {
        get_counters(log);
    }
}

/* ------------------------------------------------------------------------------------------------- packets */

bool timing_log_submit(timing_log *log, ls_command_packet *packet)
{
    return log == NULL || vec_push(&log->flying, packet);
}

void timing_results_get(timing_results *r, const ls_command_packet *p)
{
    *r = (timing_results){ .begin = p->begin,
                           .end = p->end,
                           .groups = p->groups,
                           .waves = p->waves,
                           .number = p->number,
                           .tally = p->tally,
                           .fault = p->fault,
                           .has_fault = p->has_fault,
                           .uses_host = p->transfer.uses_host };
}

void timing_results_set(const timing_results *r, ls_command_packet *p)
{
    p->begin = r->begin;
    p->end = r->end;
    p->groups = r->groups;
    p->waves = r->waves;
    p->number = r->number;
    p->tally = r->tally;
    p->fault = r->fault;
    p->has_fault = r->has_fault != 0;
    p->transfer.uses_host = r->uses_host != 0;
}

static void transfer_results(timing_log *log, ls_command_packet *p)
{
    timing_results results;
    timing_results_get(&results, p);
    if (!log->replays) {
        bytes_put(&log->out, &results, sizeof results);
        return;
    }
    get(log, &results, sizeof results);
    timing_results_set(&results, p);
}

ls_command_packet *timing_log_take(timing_log *log, ls_command_packet *packet)
{
    uint64_t at = 0;
    if (log == NULL)
        return packet;
    if (log->replays ? next_kind(log) == TIMING_LOG_NONE : packet == NULL) {
        if (log->replays)
            (void)get_kind(log, TIMING_LOG_NONE);
        else
            put_kind(log, TIMING_LOG_NONE);
        return NULL;
    }
    while (!log->replays && at < log->flying.count && log->flying.at[at] != packet)
        at++;
    timing_log_value(log, TIMING_LOG_PACKET, &at, sizeof at);
    log->differs = log->differs || at >= log->flying.count;
    if (log->differs)
        return NULL;
    packet = log->flying.at[at];
    transfer_results(log, packet);
    for (size_t i = (size_t)at + 1; i < log->flying.count; i++)
        log->flying.at[i - 1] = log->flying.at[i];
    log->flying.count--;
    return packet;
}
