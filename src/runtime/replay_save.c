/* replay_save.c: a replay in a checkpoint: how far the list was read, kernels that have ended, and open ones. The thread
 * blocks that cores have are read again from the trace: the dispatcher asks for them (ls_dispatch_work.find_kernel). */
#include "runtime/replay_impl.h"

/* ------------------------------------------------------------------------------------- the dispatcher's side */

/* Kernels are named by their command. Only open ones have a number. */
uint64_t replay_number_of(void *self, const ls_dispatch_kernel *kernel)
{
    const trace_replay *r = self;
    for (size_t i = 0; i < r->open.count; i++)
        if (r->open.at[i] == kernel->handle)
            return r->open.at[i]->command + 1;
    return 0;
}

bool replay_find_kernel(void *self, uint64_t number, ls_dispatch_kernel *out)
{
    trace_replay *r = self;
    for (size_t i = 0; i < r->open.count; i++)
        if (r->open.at[i]->command + 1 == number) {
            ls_dispatch_kernel was = *out;
            replay_describe(r->open.at[i], out);
            out->ctas = was.ctas;
            out->slot = was.slot;
            out->continues = was.continues;
            return true;
        }
    return false;
}

/* ------------------------------------------------------------------------------------------------ the file */

static void save_rates(const rates_kernel *rates, bytes_out *out)
{
    bytes_put64(out, rates->count);
    bytes_put(out, rates->at, rates->count * sizeof *rates->at);
    bytes_put(out, &rates->other, sizeof rates->other);
    bytes_put64(out, rates->l2_cost);
    bytes_put64(out, rates->dram_cost);
    bytes_put64(out, rates->dram_cycles);
}

static ls_status load_rates(rates_kernel *rates, bytes_in *in, ls_error *err)
{
    uint64_t count = bytes_get_count(in, sizeof *rates->at);
    rates_inst *at = malloc((size_t)(count + 1) * sizeof *at);
    if (at == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for hit rates");
    bytes_get(in, at, (size_t)count * sizeof *at);
    rates->at = at;
    rates->count = (uint32_t)count;
    bytes_get(in, &rates->other, sizeof rates->other);
    rates->l2_cost = (uint32_t)bytes_get64(in);
    rates->dram_cost = (uint32_t)bytes_get64(in);
    rates->dram_cycles = (uint32_t)bytes_get64(in);
    return LS_OK;
}

static void save_kernel(const replay_kernel *k, bytes_out *out)
{
    bytes_put_text(out, k->name);
    uint64_t numbers[] = { k->number,  k->stream,    k->command,      k->begin, k->end,       k->ctas,
                           k->threads, k->registers, k->shared_bytes, k->slot,  k->next_begin };
    bytes_put(out, numbers, sizeof numbers);
    bytes_put_double(out, k->sampled);
}

static bool load_kernel(trace_replay *r, bytes_in *in)
{
    uint64_t n[11];
    const char *name = bytes_get_text(in, &r->names);
    bytes_get(in, n, sizeof n);
    replay_kernel k = { .name = name != NULL ? name : "",
                        .number = n[0],
                        .stream = n[1],
                        .command = n[2],
                        .begin = n[3],
                        .end = n[4],
                        .ctas = n[5],
                        .threads = (uint32_t)n[6],
                        .registers = (uint32_t)n[7],
                        .shared_bytes = n[8],
                        .slot = (uint32_t)n[9],
                        .next_begin = n[10],
                        .sampled = bytes_get_double(in) };
    return vec_push(&r->kernels, k);
}

void replay_save(const trace_replay *r, bytes_out *out)
{
    uint64_t head[] = { r->next.command, r->seen,           r->next_selected, r->reported, r->ended,
                        r->guessed_pc,   r->guessed_opcode, r->guessed,       r->continues };
    bytes_put(out, head, sizeof head);
    bytes_put(out, &r->held, sizeof r->held);
    bytes_put(out, &r->unmodelled, sizeof r->unmodelled);
    bytes_put64(out, r->kernels.count);
    for (size_t i = 0; i < r->kernels.count; i++)
        save_kernel(&r->kernels.at[i], out);
    bytes_put64(out, r->open.count);
    for (size_t i = 0; i < r->open.count; i++) {
        const open_kernel *o = r->open.at[i];
        bytes_put64(out, o->command);
        bytes_put64(out, o->number);
        bytes_put_double(out, o->sampled);
        save_rates(&o->rates, out);
    }
    bytes_put64(out, r->profiler != NULL);
    if (r->profiler != NULL)
        profiler_save(r->profiler, out);
}

static ls_status load_open(trace_replay *r, bytes_in *in, ls_error *err)
{
    source_position at = { .command = bytes_get64(in) };
    uint64_t number = bytes_get64(in);
    open_kernel *o;
    if (in->failed || at.command >= trace_command_count(r->trace) ||
        trace_command_at(r->trace, at.command)->kind != LS_COMMAND_KERNEL) {
        in->failed = true;
        return LS_OK;
    }
    ls_status status = replay_open_kernel(r, &at, number, &o, err);
    if (status == LS_OK && o == NULL) {
        if (err != NULL)
            *err = r->held;
        return r->held.status;
    }
    if (status != LS_OK)
        return status;
    o->sampled = bytes_get_double(in);
    return load_rates(&o->rates, in, err);
}

/* The dispatcher reads the thread blocks of open kernels again, which counts their instructions once more: what was counted
 * is set after that, by replay_resumed(). */
ls_status replay_resume(trace_replay *r, bytes_in *in, uint32_t threads, ls_error *err)
{
    uint64_t head[9];
    ls_error held;
    r->is_resuming = true;
    ls_status status = replay_start(r, threads, err);
    if (status != LS_OK)
        return status;
    bytes_get(in, head, sizeof head);
    r->next.command = head[0];
    r->seen = head[1];
    r->next_selected = (size_t)head[2];
    r->reported = (size_t)head[3];
    r->ended = head[4];
    r->saved_pc = head[5];
    r->saved_opcode = (uint16_t)head[6];
    r->saved_guessed = head[7];
    r->continues = head[8] != 0;
    bytes_get(in, &held, sizeof held);
    bytes_get(in, &r->saved_unmodelled, sizeof r->saved_unmodelled);
    for (uint64_t i = 0, count = bytes_get_count(in, 1); i < count && !in->failed; i++)
        if (!load_kernel(r, in))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for kernels");
    for (uint64_t i = 0, count = bytes_get_count(in, 1); i < count && !in->failed && status == LS_OK; i++)
        status = load_open(r, in, err);
    in->failed |= (bytes_get64(in) != 0) != (r->profiler != NULL) || r->reported > r->kernels.count;
    if (status == LS_OK && !in->failed && r->profiler != NULL)
        status = profiler_load(r->profiler, in, err);
    r->held = held;
    return status;
}

void replay_resumed(trace_replay *r)
{
    r->unmodelled = r->saved_unmodelled;
    r->guessed = r->saved_guessed;
    r->guessed_pc = r->saved_pc;
    r->guessed_opcode = r->saved_opcode;
    r->is_resuming = false;
}
