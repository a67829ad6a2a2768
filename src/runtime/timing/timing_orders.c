/* timing_orders.c: the driver's requests on a machine that is divided over ranks. The host program runs on rank 0. Each of
 * its requests is told to all other ranks before rank 0 does it. They do the same, so that all ranks have the same
 * addresses, pages, programs and packets, and call the engine together. Bytes that the program writes go with the request.
 * Bytes that it reads come back when the command is over (timing_ranks.c).
 *
 * The functions at the end are the driver's table. Without ranks they only pass the call on. */
#include "runtime/timing/timing_orders.h"

#include "runtime/driver/drv.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- telling */

/* Whether this request goes to other ranks; then all requests after it wait until it is done. */
static bool begin(timing *t)
{
    if (t->ranks == NULL || !t->ranks->tells)
        return false;
    pthread_mutex_lock(&t->ranks->order);
    return true;
}

static void end(timing *t, bool told)
{
    if (told)
        pthread_mutex_unlock(&t->ranks->order);
}

static ls_status tell(timing *t, order *o, const void *data, uint64_t data_bytes, const void *list,
                      uint64_t list_bytes, ls_error *err)
{
    bytes_out *out = &t->ranks->request;
    const rank_bytes *in;
    o->has_data = data != NULL;
    o->data_bytes = data != NULL ? data_bytes : 0;
    o->list_bytes = list != NULL ? list_bytes : 0;
    vec_clear(&out->bytes);
    bytes_put(out, o, sizeof *o);
    bytes_put(out, data, o->data_bytes);
    bytes_put(out, list, o->list_bytes);
    if (out->failed)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for a request to all ranks");
    return ranks_tell(t->engine, (rank_bytes){ out->bytes.at, out->bytes.count }, &in, err);
}

/* A request without bytes. */
static ls_status tell_short(timing *t, order o, ls_error *err)
{
    return tell(t, &o, NULL, 0, NULL, 0, err);
}

/* ------------------------------------------------------------------------------------------------- programs */

static uint64_t number_of(const timing_ranks *r, const void *program)
{
    uint64_t i = 0;
    while (i < r->programs.count && (const void *)r->programs.at[i] != program)
        i++;
    return i;
}

void timing_orders_end(ls_gpu_system *system, ls_status status, const ls_error *why)
{
    timing *t = system->machine;
    if (t->ranks == NULL || !t->ranks->tells)
        return;
    order o = { .kind = ORDER_END, .flag = status };
    bool is_error = status != LS_OK && why != NULL;
    (void)tell(t, &o, NULL, 0, is_error ? why : NULL, is_error ? sizeof *why : 0, NULL);
    t->ranks->tells = false;
}

ls_status timing_orders_begin(ls_gpu_system *system, bool has_host_program, ls_error *err)
{
    if (system->backend != &drv_backend_time)
        return ls_fail(err, LS_ERR_USAGE, "--mpi is for programs in simulated time");
    timing *t = system->machine;
    if (ranks_count(t->engine) == 1 || t->ranks != NULL)
        return LS_OK;
    const char *what = t->check                 ? "--check-memory"
                       : t->record              ? "--record"
                       : t->debugger            ? "a debugger"
                       : t->counts_instructions ? "--source"
                       : t->sample              ? "--sample"
                       : timing_is_skipping(t)  ? "a position in the middle of a program"
                                                : NULL;
    if (what != NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "%s does not work with --mpi: it looks into blocks of all ranks", what);
    t->ranks = calloc(1, sizeof *t->ranks);
    if (t->ranks == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    pthread_mutex_init(&t->ranks->order, NULL);
    t->ranks->tells = has_host_program && ranks_here(t->engine) == 0;
    return LS_OK;
}

bool timing_orders_serves(const ls_gpu_system *system)
{
    const timing *t = system->backend == &drv_backend_time ? system->machine : NULL;
    return t != NULL && t->ranks != NULL && ranks_here(t->engine) != 0;
}

/* --------------------------------------------------------------------------------------- the driver's table */

ls_status timing_order_alloc(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err)
{
    bool told = begin(self);
    ls_status status =
        told ? tell_short(self, (order){ .kind = ORDER_ALLOC, .gpu = gpu, .bytes = bytes }, err) : LS_OK;
    if (status == LS_OK)
        status = timing_mem_alloc(self, gpu, bytes, address, err);
    end(self, told);
    return status;
}

ls_status timing_order_host_alloc(void *self, uint64_t bytes, uint64_t *address, ls_error *err)
{
    bool told = begin(self);
    ls_status status =
        told ? tell_short(self, (order){ .kind = ORDER_HOST_ALLOC, .bytes = bytes }, err) : LS_OK;
    if (status == LS_OK)
        status = timing_host_alloc(self, bytes, address, err);
    end(self, told);
    return status;
}

ls_status timing_order_free(void *self, uint64_t address, ls_error *err)
{
    bool told = begin(self);
    ls_status status = told ? tell_short(self, (order){ .kind = ORDER_FREE, .to = address }, err) : LS_OK;
    if (status == LS_OK)
        status = timing_mem_free(self, address, err);
    end(self, told);
    return status;
}

ls_status timing_order_protect(void *self, uint64_t address, uint64_t bytes, ls_error *err)
{
    bool told = begin(self);
    ls_status status =
        told ? tell_short(self, (order){ .kind = ORDER_PROTECT, .to = address, .bytes = bytes }, err) : LS_OK;
    if (status == LS_OK)
        status = timing_mem_protect(self, address, bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_manage(void *self, uint64_t address, uint64_t bytes, bool first_touch, ls_error *err)
{
    const order o = { .kind = ORDER_MANAGE, .to = address, .bytes = bytes, .flag = first_touch };
    bool told = begin(self);
    ls_status status = told ? tell_short(self, o, err) : LS_OK;
    if (status == LS_OK)
        status = timing_manage(self, address, bytes, first_touch, err);
    end(self, told);
    return status;
}

size_t timing_order_place_now(void *self, uint64_t address)
{
    bool told = begin(self);
    if (told)
        (void)tell_short(self, (order){ .kind = ORDER_PLACE_NOW, .to = address }, NULL);
    size_t place = timing_place_now(self, address);
    end(self, told);
    return place;
}

ls_status timing_order_place(void *self, const drv_placement *p, ls_error *err)
{
    order o = { .kind = ORDER_PLACE, .to = p->address, .number = p->pages, .flag = p->is_fresh };
    bool told = begin(self);
    ls_status status = told ? tell(self, &o, NULL, 0, p->gpus, p->pages * sizeof *p->gpus, err) : LS_OK;
    if (status == LS_OK)
        status = timing_place(self, p, err);
    end(self, told);
    return status;
}

ls_status timing_order_replicate(void *self, uint64_t address, uint64_t bytes, const void *data,
                                 uint64_t data_bytes, ls_error *err)
{
    order o = { .kind = ORDER_REPLICATE, .to = address, .bytes = bytes };
    bool told = begin(self);
    ls_status status = told ? tell(self, &o, data, data_bytes, NULL, 0, err) : LS_OK;
    if (status == LS_OK)
        status = timing_replicate(self, address, bytes, data, data_bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_load(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                            ls_error *err)
{
    order o = { .kind = ORDER_LOAD, .gpu = gpu, .to = to, .bytes = bytes };
    bool told = begin(self);
    ls_status status = told ? tell(self, &o, from, bytes, NULL, 0, err) : LS_OK;
    if (status == LS_OK)
        status = timing_mem_load(self, gpu, to, from, bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_write(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                             ls_error *err)
{
    order o = { .kind = ORDER_WRITE, .gpu = gpu, .to = to, .bytes = bytes };
    bool told = begin(self);
    ls_status status = told ? tell(self, &o, from, bytes, NULL, 0, err) : LS_OK;
    if (status == LS_OK)
        status = timing_write(self, gpu, to, from, bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_read(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    bool told = begin(self);
    ls_status status =
        told ? tell_short(self, (order){ .kind = ORDER_READ, .gpu = gpu, .from = from, .bytes = bytes }, err)
             : LS_OK;
    if (status == LS_OK)
        status = timing_read(self, gpu, to, from, bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_look(void *self, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    bool told = begin(self);
    ls_status status =
        told ? tell_short(self, (order){ .kind = ORDER_LOOK, .from = from, .bytes = bytes }, err) : LS_OK;
    if (status == LS_OK)
        status = timing_look(self, to, from, bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_patch(void *self, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    order o = { .kind = ORDER_PATCH, .to = to, .bytes = bytes };
    bool told = begin(self);
    ls_status status = told ? tell(self, &o, from, bytes, NULL, 0, err) : LS_OK;
    if (status == LS_OK)
        status = timing_patch(self, to, from, bytes, err);
    end(self, told);
    return status;
}

ls_status timing_order_prepare(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err)
{
    timing *t = self;
    order o = { .kind = ORDER_PREPARE, .gpu = gpu, .code = *code };
    bool told = begin(t);
    ls_status status = told ? tell(t, &o, NULL, 0, code->name, strlen(code->name) + 1, err) : LS_OK;
    if (status == LS_OK)
        status = timing_prepare(t, gpu, code, program, err);
    if (told && !timing_orders_keep(t->ranks, status == LS_OK ? *program : NULL) && status == LS_OK) {
        timing_release(t, *program);
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    end(t, told);
    return status;
}

void timing_order_release(void *self, void *program)
{
    timing *t = self;
    bool told = program != NULL && begin(t);
    if (told) {
        uint64_t number = number_of(t->ranks, program);
        (void)tell_short(t, (order){ .kind = ORDER_RELEASE, .number = number }, NULL);
        if (number < t->ranks->programs.count)
            t->ranks->programs.at[number] = NULL;
    }
    timing_release(t, program);
    end(t, told);
}

/* The name of the kernel, and the list of its work-groups behind it. */
static ls_status tell_launch(timing *t, order *o, const drv_work *work, ls_error *err)
{
    const drv_dispatch *d = work->dispatch;
    bytes_out list = { 0 };
    o->dispatch = *d;
    o->number = number_of(t->ranks, work->program);
    bytes_put(&list, d->kernel != NULL ? d->kernel : "", d->kernel != NULL ? strlen(d->kernel) + 1 : 1);
    while (list.bytes.count % sizeof(uint32_t) != 0)
        bytes_put(&list, "", 1);
    o->flag = list.bytes.count;
    if (d->which.list != NULL)
        bytes_put(&list, d->which.list,
                  (d->which.first + d->which.count * (d->which.stride != 0 ? d->which.stride : 1)) *
                      sizeof *d->which.list);
    ls_status status = list.failed
                           ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                           : tell(t, o, d->kernarg, d->kernarg_bytes, list.bytes.at, list.bytes.count, err);
    vec_fini(&list.bytes);
    return status;
}

static ls_status tell_work(timing *t, const drv_work *work, ls_error *err)
{
    order o = { .kind = ORDER_SUBMIT,
                .gpu = work->gpu,
                .to = work->to,
                .from = work->from,
                .bytes = work->bytes,
                .work_kind = work->kind,
                .has_host_to = work->host_to != NULL };
    if (work->kind == DRV_WORK_LAUNCH)
        return tell_launch(t, &o, work, err);
    bool in = work->kind == DRV_WORK_IN;
    return tell(t, &o, in ? work->host_from : work->pattern, in ? work->bytes : work->pattern_bytes, NULL, 0,
                err);
}

ls_status timing_order_submit(void *self, drv_work *work, ls_error *err)
{
    bool told = begin(self);
    ls_status status = told ? tell_work(self, work, err) : LS_OK;
    if (status == LS_OK)
        status = timing_submit(self, work, err);
    end(self, told);
    return status;
}

ls_status timing_order_advance(void *self, ls_error *err)
{
    bool told = begin(self);
    ls_status status = told ? tell_short(self, (order){ .kind = ORDER_ADVANCE }, err) : LS_OK;
    if (status == LS_OK)
        status = timing_advance(self, err);
    end(self, told);
    return status;
}
