/* replay_ranks.c: see replay_ranks.h. The bytes are the structs themselves: all ranks run the same program. */
#include "runtime/replay_ranks.h"

#include "base/vec.h"

#include <string.h>

typedef struct told_bytes {
    LS_VEC(uint8_t) bytes;
    bool failed;
} told_bytes;

static void put(told_bytes *out, const void *data, size_t bytes)
{
    out->failed = out->failed || !vec_reserve(&out->bytes, bytes);
    if (out->failed || bytes == 0)
        return;
    memcpy(out->bytes.at + out->bytes.count, data, bytes);
    out->bytes.count += bytes;
}

static bool get(rank_bytes *in, void *data, size_t bytes)
{
    if (in->count < bytes)
        return false;
    memcpy(data, in->at, bytes);
    in->at += bytes;
    in->count -= bytes;
    return true;
}

static void put_told(told_bytes *out, uint64_t index, const replay_told *told)
{
    put(out, &index, sizeof index);
    put(out, told, sizeof *told);
    for (uint64_t i = 0; i < told->kernel_count; i++) {
        uint64_t name_bytes = strlen(told->kernels[i].name) + 1;
        put(out, &told->kernels[i], sizeof told->kernels[i]);
        put(out, &name_bytes, sizeof name_bytes);
        put(out, told->kernels[i].name, name_bytes);
    }
}

static bool get_kernel(rank_bytes *in, replay_kernel *kernel, mem_arena *arena)
{
    uint64_t name_bytes;
    if (!get(in, kernel, sizeof *kernel) || !get(in, &name_bytes, sizeof name_bytes) || name_bytes == 0 ||
        name_bytes > in->count)
        return false;
    kernel->name = arena_strndup(arena, (const char *)in->at, name_bytes - 1);
    kernel->counted = NULL;
    in->at += name_bytes;
    in->count -= name_bytes;
    return kernel->name != NULL;
}

static bool get_told(rank_bytes *in, replay_told *told, size_t count, mem_arena *arena)
{
    uint64_t index;
    if (!get(in, &index, sizeof index) || index >= count || told[index].is_here ||
        !get(in, &told[index], sizeof told[index]))
        return false;
    replay_told *t = &told[index];
    t->is_here = false;
    replay_kernel *kernels =
        t->kernel_count <= in->count ? arena_array(arena, t->kernel_count + 1, sizeof *kernels) : NULL;
    t->kernels = kernels;
    for (uint64_t i = 0; kernels != NULL && i < t->kernel_count; i++)
        if (!get_kernel(in, &kernels[i], arena))
            return false;
    return kernels != NULL;
}

ls_status replay_ranks_share(ls_engine *engine, replay_told *told, size_t count, mem_arena *arena,
                             ls_error *err)
{
    told_bytes own = { 0 };
    const rank_bytes *in;
    for (size_t i = 0; i < count; i++)
        if (told[i].is_here)
            put_told(&own, i, &told[i]);
    ls_status status = own.failed
                           ? ls_fail(err, LS_ERR_NOMEM, "no memory for the progress of traces")
                           : ranks_tell(engine, (rank_bytes){ own.bytes.at, own.bytes.count }, &in, err);
    for (uint32_t r = 0; r < ranks_count(engine) && status == LS_OK; r++) {
        rank_bytes from = in[r];
        while (r != ranks_here(engine) && from.count > 0 && status == LS_OK)
            if (!get_told(&from, told, count, arena))
                status = ls_fail(err, LS_ERR_INPUT, "rank %u runs another trace than this one", r);
    }
    vec_fini(&own.bytes);
    return status;
}
