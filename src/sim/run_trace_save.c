/* run_trace_save.c: traces in checkpoints (session_checkpoint.h): the kernels that have ended, and the replay. */
#include "engine/ranks.h"
#include "sim/run_devices.h"

#include <stdio.h>

static void save_groups(const kernel_groups *g, bytes_out *out)
{
    uint64_t numbers[] = { g->is_open,           g->kernels,       (uint64_t)(int64_t)g->shared.gpu,
                           g->shared.kernel,     g->shared.begin,  g->shared.end,
                           g->shared.overlapped, g->shared.shared, (uint64_t)g->shared.stream };
    bytes_put(out, numbers, sizeof numbers);
}

/* The name is set when the group closes. */
static void load_groups(kernel_groups *g, bytes_in *in)
{
    uint64_t n[9];
    bytes_get(in, n, sizeof n);
    *g = (kernel_groups){ .is_open = n[0] != 0,
                          .kernels = (uint32_t)n[1],
                          .shared = { .gpu = (int32_t)(int64_t)n[2],
                                      .kernel = n[3],
                                      .begin = n[4],
                                      .end = n[5],
                                      .overlapped = n[6] != 0,
                                      .shared = n[7] != 0,
                                      .stream = (int64_t)n[8] } };
}

/* The replay goes on in the rank that runs its GPU; rank 0 writes it. */
static ls_status save_replay(const run_trace *t, bytes_out *out, ls_error *err)
{
    uint32_t owner = ranks_owner(t->gpu->dispatch);
    bytes_out own = { 0 };
    const rank_bytes *in;
    if (owner == ranks_here(t->gpu->engine))
        replay_save(t->replay, owner == 0 ? out : &own);
    ls_status status = LS_OK;
    if (owner != 0)
        status = ranks_give(t->gpu->engine, 0, (rank_bytes){ own.bytes.at, own.bytes.count }, &in, err);
    if (owner != 0 && status == LS_OK && ranks_here(t->gpu->engine) == 0)
        bytes_put(out, in[owner].at, in[owner].count);
    vec_fini(&own.bytes);
    return status;
}

ls_status run_trace_save(run_trace *t, const char *section, checkpoint_writer *writer, ls_error *err)
{
    bytes_out out = { 0 };
    gpu_roofline_update(&t->roofline);
    save_groups(&t->groups, &out);
    bytes_put(&out, &t->roofline.n, sizeof t->roofline.n);
    bytes_put(&out, &t->occupancy.n, sizeof t->occupancy.n);
    bytes_put64(&out, t->busy.total);
    bytes_put64(&out, t->busy.list.count);
    bytes_put(&out, t->busy.list.at, t->busy.list.count * sizeof *t->busy.list.at);
    bytes_put64(&out, t->intervals.count);
    for (size_t i = 0; i < t->intervals.count; i++) {
        bytes_put64(&out, t->intervals.at[i]);
        bytes_put64(&out, t->done_ns.at[i]);
    }
    ls_status status = save_replay(t, &out, err);
    checkpoint_add_out(writer, section, &out);
    return status;
}

static bool load_lists(run_trace *t, bytes_in *in)
{
    bool ok = true;
    t->busy.total = bytes_get64(in);
    for (uint64_t i = 0, count = bytes_get_count(in, sizeof(number_span)); i < count && ok; i++) {
        number_span span;
        bytes_get(in, &span, sizeof span);
        ok = vec_push(&t->busy.list, span);
    }
    for (uint64_t i = 0, count = bytes_get_count(in, 16); i < count && ok; i++) {
        size_t interval = (size_t)bytes_get64(in);
        ok = vec_push(&t->intervals, interval) && vec_push(&t->done_ns, bytes_get64(in));
    }
    return ok;
}

ls_status run_trace_resume(run_trace *t, const char *section, checkpoint_reader *reader, uint32_t threads,
                           ls_error *err)
{
    bytes_in in;
    ls_status status = checkpoint_find_in(reader, section, &in, err);
    if (status != LS_OK)
        return status;
    load_groups(&t->groups, &in);
    bytes_get(&in, &t->roofline.n, sizeof t->roofline.n);
    bytes_get(&in, &t->occupancy.n, sizeof t->occupancy.n);
    if (!load_lists(t, &in))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    status = replay_resume(t->replay, &in, threads, err);
    return status == LS_OK ? checkpoint_check_end(reader, section, &in, err) : status;
}

/* ------------------------------------------------------------------------------------------- several GPUs */

static const char *section_of(uint32_t device, char *out, size_t bytes)
{
    snprintf(out, bytes, "device.%u", device);
    return out;
}

ls_status run_devices_save(run_devices *r, checkpoint_writer *writer, ls_error *err)
{
    bytes_out out = { 0 };
    char name[CHECKPOINT_NAME_BYTES];
    save_groups(&r->groups, &out);
    bytes_put64(&out, r->count);
    checkpoint_add_out(writer, "devices", &out);
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++)
        if (run_devices_has(r, i))
            status = run_trace_save(&r->at[i], section_of(i, name, sizeof name), writer, err);
    return status;
}

ls_status run_devices_resume(run_devices *r, checkpoint_reader *reader, uint32_t threads, ls_error *err)
{
    bytes_in in;
    char name[CHECKPOINT_NAME_BYTES];
    ls_status status = checkpoint_find_in(reader, "devices", &in, err);
    if (status != LS_OK)
        return status;
    load_groups(&r->groups, &in);
    in.failed |= bytes_get64(&in) != r->count;
    status = checkpoint_check_end(reader, "devices", &in, err);
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++)
        if (run_devices_has(r, i))
            status = run_trace_resume(&r->at[i], section_of(i, name, sizeof name), reader, threads, err);
    return status;
}

void run_devices_resumed(run_devices *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (run_devices_has(r, i))
            replay_resumed(r->at[i].replay);
}
