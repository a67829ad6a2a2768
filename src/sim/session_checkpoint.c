/* session_checkpoint.c: when checkpoints are taken, and the sections of one (session_checkpoint.h). */
#include "sim/session_checkpoint.h"

#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "engine/ranks.h"
#include "sim/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_FS 1000000u

struct session_checkpoint {
    ls_run_pause pause; /* first: the engine hands it back */
    ls_sim *sim;
    const char *path;
    ls_sim_run_options run;     /* lists and texts are the caller's, or in the arena of the simulation */
    uint64_t every_ns, next_ns; /* of the host; 0: not by its clock */
    uint64_t every_kernels, kernels_ended; /* since the last checkpoint; 0: not by kernels */
    hash128 workload;                      /* identity of its content */
    uint64_t taken, taken_bytes, taken_ns;
};

/* ------------------------------------------------------------------------------------------------- options */

static ls_status refuse_interval(const char *text, ls_error *err)
{
    char quoted[80];
    quote_text(text, strlen(text), quoted, sizeof quoted);
    return ls_fail(err, LS_ERR_USAGE,
                   "'%s' is no interval of checkpoints: write it as in 60s, 10kernels or at=20us", quoted);
}

static bool has_unit(const char *text, const char *tail, size_t *rest)
{
    size_t bytes = strlen(text), more = strlen(tail);
    *rest = bytes > more ? bytes - more : 0;
    return bytes > more && strcmp(text + *rest, tail) == 0;
}

/* Host times are at least a tenth of a second, as often as the run looks at its clock. */
static ls_status parse_every(session_checkpoint *c, const char *text, ls_error *err)
{
    size_t rest;
    ls_time time;
    if (strncmp(text, "at=", 3) == 0) {
        if (parse_time(text + 3, strlen(text + 3), &c->pause.at, NULL) != LS_OK || c->pause.at == 0)
            return refuse_interval(text, err);
        return LS_OK;
    }
    if (has_unit(text, "kernels", &rest) || has_unit(text, "kernel", &rest)) {
        if (parse_u64(text, rest, &c->every_kernels, NULL) != LS_OK || c->every_kernels == 0)
            return refuse_interval(text, err);
        return LS_OK;
    }
    if (parse_time(text, strlen(text), &time, NULL) != LS_OK)
        return refuse_interval(text, err);
    c->every_ns = time / NS_PER_FS;
    if (c->every_ns < 100000000)
        return ls_fail(
            err, LS_ERR_USAGE,
            "checkpoints every '%s' of host time are too many: at least 100ms; or give a simulated time, as "
            "in at=20us",
            text);
    return LS_OK;
}

/* What a checkpoint does not save, by its name on the command line. */
static const char *unsaved_option(const ls_sim *s)
{
    return s->timeline           ? "timeline"
           : s->source           ? "source"
           : s->sample.plan      ? "sample"
           : s->workload == NULL ? "no workload"
                                 : NULL;
}

static ls_status check_options(ls_sim *s, ls_error *err)
{
    const char *unsaved = unsaved_option(s);
    if (unsaved != NULL && s->workload == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "checkpoints are for machines with a workload: '%s' makes its own work",
                       config_name(session_config(s)));
    if (unsaved != NULL)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "--%s and --checkpoint exclude each other: a checkpoint does not save what --%s has collected",
            unsaved, unsaved);
    return s->has_program ? run_program_begin_save(&s->program, err) : LS_OK;
}

/* A block without a state table is refused before the run, not after an hour. */
static ls_status check_machine(const ls_sim *s, ls_error *err)
{
    void *state = NULL;
    size_t bytes;
    ls_status status = s->resume == NULL ? ls_engine_save(s->engine, &state, &bytes, err) : LS_OK;
    free(state);
    return status;
}

static ls_status find_identity(ls_sim *s, hash128 *out, ls_error *err)
{
    source_position begin = { 0 };
    ls_status status = s->has_program   ? run_program_source(&s->program, &begin, err)
                       : s->has_devices ? devices_identity(s->devices.list, &begin.identity, err)
                                        : position_begin(s->workload, &begin, err);
    *out = begin.identity;
    return status;
}

static ls_status take(ls_run_pause *pause, ls_error *err);

ls_status session_checkpoint_begin(ls_sim *s, const ls_sim_run_options *o, ls_error *err)
{
    if (o->checkpoint == NULL && o->checkpoint_every == NULL)
        return LS_OK;
    if (o->checkpoint == NULL || o->checkpoint_every == NULL)
        return ls_fail(err, LS_ERR_USAGE,
                       "checkpoints need a file and an interval: --checkpoint FILE --every 60s");
    ls_status status = check_options(s, err);
    if (status == LS_OK)
        status = check_machine(s, err);
    if (status == LS_OK && ranks_here(s->engine) == 0)
        status = file_check_writable(o->checkpoint, err);
    status = ranks_agree(s->engine, status, err);
    session_checkpoint *c = status == LS_OK ? calloc(1, sizeof *c) : NULL;
    if (status == LS_OK && c == NULL)
        status = ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (status != LS_OK)
        return status;
    s->checkpoint = c;
    c->sim = s;
    c->path = o->checkpoint;
    c->run = *o;
    c->pause.at = LS_TIME_MAX;
    c->pause.take = take;
    status = parse_every(c, o->checkpoint_every, err);
    if (status == LS_OK)
        status = find_identity(s, &c->workload, err);
    c->next_ns = host_clock_ns() + c->every_ns;
    s->program.log.kernel_ended = session_checkpoint_kernel_ended;
    s->program.log.kernel_ended_self = s;
    s->trace.kernel_ended = session_checkpoint_kernel_ended;
    s->trace.kernel_ended_self = s;
    for (uint32_t i = 0; i < s->devices.count; i++) {
        s->devices.at[i].kernel_ended = session_checkpoint_kernel_ended;
        s->devices.at[i].kernel_ended_self = s;
    }
    return status;
}

void session_checkpoint_close(ls_sim *s)
{
    free(s->checkpoint);
    s->checkpoint = NULL;
}

ls_run_pause *session_checkpoint_pause(ls_sim *s)
{
    return s->checkpoint != NULL ? &s->checkpoint->pause : NULL;
}

/* ------------------------------------------------------------------------------------------------ the time */

void session_checkpoint_progress(void *self, const ls_run_progress *now)
{
    ls_sim *s = self;
    session_checkpoint *c = s->checkpoint;
    if (c->every_ns > 0 && host_clock_ns() >= c->next_ns)
        atomic_store_explicit(&c->pause.now, 1, memory_order_relaxed);
    if (s->monitor != NULL)
        session_monitor_progress(s, now);
    else if (c->run.progress != NULL)
        c->run.progress(c->run.progress_self, now);
}

void session_checkpoint_kernel_ended(void *self)
{
    session_checkpoint *c = ((ls_sim *)self)->checkpoint;
    if (c != NULL && c->every_kernels > 0 && ++c->kernels_ended >= c->every_kernels)
        atomic_store_explicit(&c->pause.now, 1, memory_order_relaxed);
}

/* ------------------------------------------------------------------------------------------------ sections */

static void add_identity(const session_checkpoint *c, checkpoint_writer *w)
{
    const ls_sim *s = c->sim;
    bytes_out out = { 0 };
    bytes_put_text(&out, LS_VERSION_STRING);
    bytes_put_text(&out, s->config_hash);
    bytes_put(&out, &c->workload, sizeof c->workload);
    bytes_put64(&out, s->kind);
    checkpoint_add_out(w, "identity", &out);
    checkpoint_put_options(&out, &s->options);
    checkpoint_put_run(&out, &c->run);
    checkpoint_add_out(w, "options", &out);
}

static ls_status add_machine(const session_checkpoint *c, checkpoint_writer *w, ls_error *err)
{
    const ls_sim *s = c->sim;
    bytes_out out = { 0 };
    void *state;
    size_t bytes;
    if (!s->has_program) { /* programs have saved the machine, and their metrics come from their log */
        ls_status status = ranks_collect(s->engine, err);
        if (status == LS_OK)
            status = ls_engine_save(s->engine, &state, &bytes, err);
        if (status != LS_OK)
            return status;
        checkpoint_add(w, "engine", state, bytes);
        free(state);
        metrics_save(s->metrics, &out);
        checkpoint_add_out(w, "metrics", &out);
    }
    if (s->series != NULL) {
        series_save(s->series, &out);
        checkpoint_add_out(w, "series", &out);
    }
    return LS_OK;
}

static ls_status add_sections(const session_checkpoint *c, checkpoint_writer *w, ls_error *err)
{
    ls_sim *s = c->sim;
    add_identity(c, w);
    ls_status status = s->has_program   ? run_program_save(&s->program, w, err)
                       : s->has_devices ? run_devices_save(&s->devices, w, err)
                                        : run_trace_save(&s->trace, "trace", w, err);
    return status == LS_OK ? add_machine(c, w, err) : status;
}

static ls_status take(ls_run_pause *pause, ls_error *out)
{
    session_checkpoint *c = (session_checkpoint *)pause;
    checkpoint_writer *w;
    ls_error own, *err = out != NULL ? out : &own;
    uint64_t begin = host_clock_ns();
    ls_status status = checkpoint_create(&w, err);
    if (status == LS_OK)
        status = add_sections(c, w, err);
    status = ranks_agree(c->sim->engine, status, err);
    if (status == LS_OK && ranks_here(c->sim->engine) == 0)
        status = checkpoint_write(w, c->path, err);
    if (status == LS_OK && ranks_here(c->sim->engine) == 0) {
        c->taken++;
        c->taken_bytes = checkpoint_packed_bytes(w);
        c->taken_ns += host_clock_ns() - begin;
        log_info("checkpoint %" PRIu64 ": %" PRIu64 " bytes in %.3f s", c->taken, c->taken_bytes,
                 (double)(host_clock_ns() - begin) * 1e-9);
    }
    if (status == LS_ERR_IO) { /* a full disk does not end the run; the file before is still there */
        log_warn("no checkpoint was written: %s", err->what);
        ls_error_clear(err);
        status = LS_OK;
    }
    status = ranks_agree(c->sim->engine, status, err);
    checkpoint_destroy(w);
    c->kernels_ended = 0;
    c->next_ns = host_clock_ns() + c->every_ns;
    return status;
}
