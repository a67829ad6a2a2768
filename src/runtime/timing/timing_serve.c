/* timing_serve.c: the ranks that serve the host program of rank 0: they hear its requests (timing_orders.c) and do them. Errors
 * of requests are rank 0's to report. */
#include "runtime/timing/timing_orders.h"

#include "runtime/driver/drv.h"

#include <stdlib.h>
#include <string.h>

/* A command of rank 0's driver, on another rank. */
typedef struct served_work {
    drv_work work;
    drv_dispatch dispatch;
    void *data, *list, *read;
} served_work;

bool timing_orders_keep(timing_ranks *r, timing_program *program)
{
    return vec_push(&r->programs, program);
}

static void free_served(served_work *w)
{
    free(w->data);
    free(w->list);
    free(w->read);
    free(w);
}

static void *copy_of(const void *bytes, uint64_t count)
{
    void *copy = count > 0 ? malloc(count) : NULL;
    if (copy != NULL)
        memcpy(copy, bytes, count);
    return copy;
}

/* The command as rank 0's driver has it, with memory of this rank. */
static ls_status make_work(timing *t, const order *o, const uint8_t *data, const uint8_t *list,
                           served_work **out, ls_error *err)
{
    served_work *w = *out = calloc(1, sizeof *w);
    if (w == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    w->work = (drv_work){
        .kind = (drv_work_kind)o->work_kind, .gpu = o->gpu, .to = o->to, .from = o->from, .bytes = o->bytes
    };
    w->data = copy_of(data, o->data_bytes);
    w->list = copy_of(list, o->list_bytes);
    w->read = o->has_host_to != 0 && o->bytes > 0 ? calloc(1, o->bytes) : NULL;
    if ((o->data_bytes > 0 && w->data == NULL) || (o->list_bytes > 0 && w->list == NULL) ||
        (o->has_host_to != 0 && o->bytes > 0 && w->read == NULL)) {
        free_served(w);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for %llu bytes of a command",
                       (unsigned long long)o->bytes);
    }
    w->work.host_to = w->read;
    if (w->work.kind == DRV_WORK_IN)
        w->work.host_from = w->data;
    if (w->work.kind == DRV_WORK_FILL) {
        w->work.pattern = w->data;
        w->work.pattern_bytes = o->data_bytes;
    }
    if (w->work.kind != DRV_WORK_LAUNCH)
        return LS_OK;
    /* The data are the arguments; the list has the name of the kernel and the work-groups. */
    w->dispatch = o->dispatch;
    w->dispatch.kernarg = w->data;
    w->dispatch.kernel = w->list;
    w->dispatch.which.list =
        o->dispatch.which.list != NULL ? (const uint32_t *)(const void *)((uint8_t *)w->list + o->flag) : NULL;
    w->dispatch.origin = NULL;
    w->work.dispatch = &w->dispatch;
    w->work.program = o->number < t->ranks->programs.count ? t->ranks->programs.at[o->number] : NULL;
    return LS_OK;
}

static void forget_over(timing_ranks *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->works.count; i++) {
        if (r->works.at[i]->work.is_over)
            free_served(r->works.at[i]);
        else
            r->works.at[kept++] = r->works.at[i];
    }
    r->works.count = kept;
}

static ls_status serve_submit(timing *t, const order *o, const uint8_t *data, const uint8_t *list,
                              ls_error *err)
{
    served_work *w;
    ls_status status = make_work(t, o, data, list, &w, err);
    if (status != LS_OK)
        return status;
    if (!vec_push(&t->ranks->works, w)) {
        free_served(w);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    if (timing_submit(t, &w->work, err) != LS_OK)
        w->work.is_over = true; /* rank 0's program gets the error */
    return LS_OK;
}

static ls_status serve_prepare(timing *t, const order *o, const uint8_t *list, ls_error *err)
{
    drv_code code = o->code;
    void *program = NULL;
    ls_error own;
    code.name = (const char *)list;
    (void)timing_prepare(t, o->gpu, &code, &program, &own);
    return timing_orders_keep(t->ranks, program) ? LS_OK
                                                 : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static void serve_read(timing *t, const order *o, bool look)
{
    void *to = malloc(o->bytes + 1);
    ls_error own;
    if (to != NULL && look)
        (void)timing_look(t, to, o->from, o->bytes, &own);
    else if (to != NULL)
        (void)timing_read(t, o->gpu, to, o->from, o->bytes, &own);
    free(to);
}

/* The errors of requests are rank 0's to report. Only an error of this rank alone ends serving. */
static ls_status serve_one(timing *t, const order *o, const uint8_t *data, const uint8_t *list, ls_error *err)
{
    uint64_t address;
    ls_error own;
    const void *bytes = o->has_data != 0 ? data : NULL;
    switch ((order_kind)o->kind) {
    case ORDER_ALLOC:
        (void)timing_mem_alloc(t, o->gpu, o->bytes, &address, &own);
        break;
    case ORDER_HOST_ALLOC:
        (void)timing_host_alloc(t, o->bytes, &address, &own);
        break;
    case ORDER_FREE:
        (void)timing_mem_free(t, o->to, &own);
        break;
    case ORDER_PROTECT:
        (void)timing_mem_protect(t, o->to, o->bytes, &own);
        break;
    case ORDER_MANAGE:
        (void)timing_manage(t, o->to, o->bytes, o->flag != 0, &own);
        break;
    case ORDER_PLACE_NOW:
        (void)timing_place_now(t, o->to);
        break;
    case ORDER_PLACE:
        (void)timing_place(t,
                           &(drv_placement){ .address = o->to,
                                             .pages = o->number,
                                             .gpus = (const uint16_t *)(const void *)list,
                                             .is_fresh = o->flag != 0 },
                           &own);
        break;
    case ORDER_REPLICATE:
        (void)timing_replicate(t, o->to, o->bytes, bytes, o->data_bytes, &own);
        break;
    case ORDER_LOAD:
        (void)timing_mem_load(t, o->gpu, o->to, bytes, o->bytes, &own);
        break;
    case ORDER_WRITE:
        (void)timing_write(t, o->gpu, o->to, bytes, o->bytes, &own);
        break;
    case ORDER_READ:
    case ORDER_LOOK:
        serve_read(t, o, o->kind == ORDER_LOOK);
        break;
    case ORDER_PATCH:
        (void)timing_patch(t, o->to, bytes, o->bytes, &own);
        break;
    case ORDER_PREPARE:
        return serve_prepare(t, o, list, err);
    case ORDER_RELEASE:
        if (o->number < t->ranks->programs.count) {
            timing_release(t, t->ranks->programs.at[o->number]);
            t->ranks->programs.at[o->number] = NULL;
        }
        break;
    case ORDER_SUBMIT:
        return serve_submit(t, o, data, list, err);
    case ORDER_ADVANCE:
        (void)timing_advance(t, &own);
        forget_over(t->ranks);
        break;
    default:
        return ls_fail(err, LS_ERR_INTERNAL, "rank 0 told a request that does not exist: %llu",
                       (unsigned long long)o->kind);
    }
    return LS_OK;
}

/* The next request, in *kept, which the caller frees. */
static ls_status hear(timing *t, uint8_t **kept, order *o, ls_error *err)
{
    const rank_bytes *in;
    *kept = NULL;
    ls_status status = ranks_tell(t->engine, (rank_bytes){ 0 }, &in, err);
    if (status != LS_OK)
        return status;
    if (in[0].count < sizeof *o)
        return ls_fail(err, LS_ERR_INTERNAL, "rank 0 told %zu bytes, which are no request", in[0].count);
    memcpy(o, in[0].at, sizeof *o);
    if (o->data_bytes > in[0].count - sizeof *o || o->list_bytes != in[0].count - sizeof *o - o->data_bytes)
        return ls_fail(err, LS_ERR_INTERNAL, "rank 0 told a request that is cut short");
    *kept = malloc(in[0].count - sizeof *o + sizeof(uint64_t));
    if (*kept == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for a request of rank 0");
    /* The list first: its numbers are aligned then. */
    memcpy(*kept, in[0].at + sizeof *o + o->data_bytes, o->list_bytes);
    memcpy(*kept + o->list_bytes, in[0].at + sizeof *o, o->data_bytes);
    return LS_OK;
}

ls_status timing_orders_serve(ls_gpu_system *system, ls_error *err)
{
    timing *t = system->machine;
    for (;;) {
        uint8_t *kept;
        order o;
        ls_status status = hear(t, &kept, &o, err);
        if (status == LS_OK && o.kind == ORDER_END) {
            status = (ls_status)o.flag;
            if (status != LS_OK && o.list_bytes == sizeof *err && err != NULL)
                memcpy(err, kept, sizeof *err);
            free(kept);
            return status;
        }
        if (status == LS_OK)
            status = serve_one(t, &o, kept + o.list_bytes, kept, err);
        free(kept);
        if (status != LS_OK)
            return status;
    }
}

void timing_orders_free(timing_ranks *r)
{
    for (size_t i = 0; i < r->works.count; i++)
        free_served(r->works.at[i]);
    vec_fini(&r->works);
    vec_fini(&r->programs);
    vec_fini(&r->request.bytes);
    pthread_mutex_destroy(&r->order);
}
