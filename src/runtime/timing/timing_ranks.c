/* timing_ranks.c: see timing_ranks.h. Values that one rank knows, brought to all. */
#include "runtime/timing/timing_impl.h"

#include "runtime/driver/drv.h"

#include <stdlib.h>
#include <string.h>

uint32_t timing_rank_of(const timing *t, uint32_t gpu)
{
    return ranks_owner(amd_gpu_block(t->gpus[gpu].gpu));
}

bool timing_is_here(const timing *t, uint32_t gpu)
{
    return t->ranks == NULL || timing_rank_of(t, gpu) == ranks_here(t->engine);
}

void timing_share(const timing *t, uint32_t owner, void *bytes, size_t count)
{
    const rank_bytes *in;
    if (t->ranks == NULL)
        return;
    bool is_own = owner == ranks_here(t->engine);
    rank_bytes own = { bytes, is_own ? count : 0 };
    ls_status status = ranks_tell(t->engine, own, &in, NULL);
    if (status == LS_OK && !is_own && in[owner].count == count && count > 0)
        memcpy(bytes, in[owner].at, count);
}

ls_status timing_share_status(const timing *t, uint32_t owner, ls_status status, ls_error *err)
{
    struct {
        uint64_t status;
        ls_error err;
    } told = { .status = status };
    if (t->ranks == NULL)
        return status;
    if (status != LS_OK && err != NULL)
        told.err = *err;
    timing_share(t, owner, &told, sizeof told);
    if (told.status != LS_OK && err != NULL)
        *err = told.err;
    return (ls_status)told.status;
}

/* -------------------------------------------------------------------------------------------------- packets */

/* The command processor's answer to a packet. */
typedef struct submit_answer {
    uint32_t groups_per_cu, waves_per_cu;
    char limit[40];
} submit_answer;

/* The name of a resource, for as long as the machine. */
static const char *keep_limit(timing_ranks *r, const char *limit)
{
    for (size_t i = 0; i < r->limits.count; i++)
        if (strcmp(r->limits.at[i], limit) == 0)
            return r->limits.at[i];
    char *copy = strdup(limit);
    if (copy == NULL || !vec_push(&r->limits, copy)) {
        free(copy);
        return "";
    }
    return copy;
}

/* Only the rank that runs the GPU gives it the packet. */
ls_status timing_ranks_submit(timing *t, const timing_gpu *g, ls_command_packet *packet, ls_error *err)
{
    uint32_t gpu = (uint32_t)(g - t->gpus), owner = timing_rank_of(t, gpu);
    submit_answer answer = { 0 };
    ls_status status = LS_OK;
    if (timing_is_here(t, gpu)) {
        status = g->command->submit(g->command_self, packet, err);
        answer.groups_per_cu = packet->groups_per_cu;
        answer.waves_per_cu = packet->waves_per_cu;
        if (packet->limit != NULL)
            snprintf(answer.limit, sizeof answer.limit, "%s", packet->limit);
    }
    status = timing_share_status(t, owner, status, err);
    if (status != LS_OK)
        return status;
    if (packet->kind == LS_PACKET_KERNEL) {
        timing_share(t, owner, &answer, sizeof answer);
        packet->groups_per_cu = answer.groups_per_cu;
        packet->waves_per_cu = answer.waves_per_cu;
        if (!timing_is_here(t, gpu))
            packet->limit = keep_limit(t->ranks, answer.limit);
    }
    return vec_push(&t->ranks->flying, packet) && vec_push(&t->ranks->flying_gpus, gpu)
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for the packets of all ranks");
}

/* One packet that is over, followed by the bytes that it brought to the host. */
typedef struct over_head {
    uint32_t gpu;
    uint32_t packet; /* of flying */
    uint64_t bytes;
    timing_results results;
} over_head;

/* The host's buffer that the engine has written on the GPU's rank; NULL: none. */
static uint8_t *written_buffer(const ls_command_packet *p)
{
    return p->kind == LS_PACKET_TRANSFER && p->transfer.kind == LS_DMA_OUT && !p->transfer.uses_host
               ? p->transfer.host_to
               : NULL;
}

static void put_over(const timing *t, bytes_out *out)
{
    for (size_t i = 0; i < t->gpu_count; i++) {
        const timing_gpu *g = &t->gpus[i];
        if (!timing_is_here(t, (uint32_t)i))
            continue;
        for (ls_command_packet *p; (p = g->command->take(g->command_self)) != NULL;) {
            over_head head = { .gpu = (uint32_t)i };
            while (head.packet < t->ranks->flying.count && t->ranks->flying.at[head.packet] != p)
                head.packet++;
            head.bytes = written_buffer(p) != NULL ? p->transfer.bytes : 0;
            timing_results_get(&head.results, p);
            bytes_put(out, &head, sizeof head);
            bytes_put(out, written_buffer(p), head.bytes);
        }
    }
}

/* The packets of one GPU, from the bytes of its rank. */
static void take_over(timing *t, uint32_t gpu, rank_bytes bytes)
{
    bytes_in in = { .at = bytes.at, .end = bytes.at + bytes.count };
    timing_ranks *r = t->ranks;
    while (in.at != in.end) {
        over_head head;
        bytes_get(&in, &head, sizeof head);
        if (in.failed || head.bytes > (uint64_t)(in.end - in.at))
            return;
        const uint8_t *data = in.at;
        in.at += head.bytes;
        if (head.gpu != gpu || head.packet >= r->flying.count)
            continue;
        ls_command_packet *p = r->flying.at[head.packet];
        if (!timing_is_here(t, gpu)) {
            timing_results_set(&head.results, p);
            if (head.bytes > 0 && written_buffer(p) != NULL && head.bytes == p->transfer.bytes)
                memcpy(written_buffer(p), data, head.bytes);
        }
        (void)vec_push(&r->over, p);
    }
}

void timing_ranks_forget(timing_ranks *r, const ls_command_packet *packet)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->flying.count; i++)
        if (r->flying.at[i] != packet) {
            r->flying.at[kept] = r->flying.at[i];
            r->flying_gpus.at[kept++] = r->flying_gpus.at[i];
        }
    r->flying.count = r->flying_gpus.count = kept;
}

ls_command_packet *timing_ranks_take(timing *t)
{
    timing_ranks *r = t->ranks;
    const rank_bytes *in;
    if (!r->is_gathered) {
        bytes_out out = { 0 };
        put_over(t, &out);
        r->over.count = r->next = 0;
        ls_status status = ranks_tell(t->engine, (rank_bytes){ out.bytes.at, out.bytes.count }, &in, NULL);
        for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++)
            take_over(t, (uint32_t)i, in[timing_rank_of(t, (uint32_t)i)]);
        vec_fini(&out.bytes);
        for (size_t i = 0; i < r->over.count; i++)
            timing_ranks_forget(r, r->over.at[i]);
        r->is_gathered = true;
    }
    if (r->next < r->over.count)
        return r->over.at[r->next++];
    r->is_gathered = false;
    return NULL;
}

ls_time timing_ranks_unfinished(const timing *t, ls_time here)
{
    const rank_bytes *in;
    ls_time least = here;
    if (t->ranks == NULL)
        return here;
    ls_status status = ranks_tell(t->engine, (rank_bytes){ (const uint8_t *)&here, sizeof here }, &in, NULL);
    for (uint32_t i = 0; i < ranks_count(t->engine) && status == LS_OK; i++) {
        ls_time other = LS_TIME_MAX;
        if (in[i].count == sizeof other)
            memcpy(&other, in[i].at, sizeof other);
        least = other < least ? other : least;
    }
    /* One process would still have these in their command processors. */
    for (size_t i = t->ranks->next; i < t->ranks->over.count && t->ranks->is_gathered; i++) {
        const ls_command_packet *p = t->ranks->over.at[i];
        if (p->kind == LS_PACKET_KERNEL && p->begin < least)
            least = p->begin;
    }
    return least;
}

void timing_ranks_free(timing_ranks *r)
{
    if (r == NULL)
        return;
    timing_orders_free(r);
    for (size_t i = 0; i < r->limits.count; i++)
        free(r->limits.at[i]);
    vec_fini(&r->limits);
    vec_fini(&r->flying);
    vec_fini(&r->flying_gpus);
    vec_fini(&r->over);
    free(r);
}

/* ------------------------------------------------------------------------------------------- for others */

static const timing *of(const ls_gpu_system *system)
{
    return system->backend == &drv_backend_time ? system->machine : NULL;
}

bool timing_is_divided(const ls_gpu_system *system)
{
    return of(system) != NULL && of(system)->ranks != NULL;
}

ls_status timing_share_rows(const ls_gpu_system *system, uint32_t number, const bytes_out *own, bytes_in *in,
                            ls_error *err)
{
    const timing *t = of(system);
    const rank_bytes *all;
    *in = (bytes_in){ .at = own->bytes.at, .end = own->bytes.at + own->bytes.count };
    if (own->failed)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for the counts of a kernel");
    if (t == NULL || t->ranks == NULL)
        return LS_OK;
    uint32_t owner = timing_rank_of(t, t->index_of[number]);
    bool is_own = owner == ranks_here(t->engine);
    ls_status status =
        ranks_tell(t->engine, (rank_bytes){ own->bytes.at, is_own ? own->bytes.count : 0 }, &all, err);
    if (status == LS_OK)
        *in = (bytes_in){ .at = all[owner].at, .end = all[owner].at + all[owner].count };
    return status;
}
