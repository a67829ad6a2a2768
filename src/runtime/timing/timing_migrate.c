/* timing_migrate.c: memory whose pages move while programs run (slot `migrate` of a system). Every allocation of the driver
 * becomes a managed range of the directory: it has frames on each GPU and on the host. DMA engines then use the addresses of
 * programs, and ask the host for translations as TLBs do. */
#include "runtime/timing/timing_impl.h"

#include "model/migrate/migrate.h"

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

void timing_set_up_migration(timing *t)
{
    t->directory = ls_engine_part(t->engine, MIGRATE_PART, 0);
}

/* ------------------------------------------------------------------------------------------- the directory */

/* The directory belongs to the machine: its answers are in the log of a checkpoint, and a replay does not call it. */
static bool find(const timing *t, uint64_t address, uint32_t *place)
{
    struct {
        uint64_t found, place;
    } answer = { 0 };
    uint64_t frame, run;
    if (!timing_log_replays(t->log)) {
        answer.found = migrate_find(t->directory, address, 1, place, &frame, &run);
        answer.place = *place;
        timing_share(t, ranks_owner(t->directory), &answer, sizeof answer);
    }
    timing_log_value(t->log, TIMING_LOG_PAGES, &answer, sizeof answer);
    *place = (uint32_t)answer.place;
    return answer.found != 0;
}

bool timing_is_settled(const timing *t)
{
    uint64_t idle = 1;
    if (!t->directory)
        return true;
    if (!timing_log_replays(t->log)) {
        idle = migrate_is_idle(t->directory);
        timing_share(t, ranks_owner(t->directory), &idle, sizeof idle);
    }
    timing_log_value(t->log, TIMING_LOG_PAGES, &idle, sizeof idle);
    return idle != 0;
}

/* The status of a change of the directory; in a replay that of the log. */
static ls_status logged(const timing *t, ls_status status, ls_error *err)
{
    uint64_t value = status;
    ls_error none = { 0 };
    if (t->log == NULL)
        return status;
    timing_log_value(t->log, TIMING_LOG_PAGES, &value, sizeof value);
    if (value != LS_OK)
        timing_log_value(t->log, TIMING_LOG_PAGES, err != NULL ? err : &none, sizeof *err);
    return (ls_status)value;
}

/* Only the rank that runs the directory changes it. */
static bool may_change(const timing *t)
{
    return !timing_log_replays(t->log) && ranks_runs(t->directory);
}

static ls_status changed(const timing *t, ls_status status, ls_error *err)
{
    if (!timing_log_replays(t->log))
        status = timing_share_status(t, ranks_owner(t->directory), status, err);
    return logged(t, status, err);
}

#define CHANGE(t_, err_, call_) changed(t_, may_change(t_) ? (call_) : LS_OK, err_)

/* ----------------------------------------------------------------------------------------------- ranges */

static timing_range *range_of(const timing *t, uint64_t address)
{
    for (size_t i = 0; i < t->ranges.count; i++)
        if (address - t->ranges.at[i].address < t->ranges.at[i].bytes)
            return &t->ranges.at[i];
    return NULL;
}

bool timing_is_managed(const timing *t, uint64_t address)
{
    return range_of(t, address) != NULL;
}

/* Frames elsewhere than at home go back. */
static void free_frames(timing *t, const timing_range *range)
{
    for (size_t i = 0; i < t->gpu_count; i++) {
        const timing_gpu *g = &t->gpus[i];
        if (range->frames[g->number] != 0 && g != timing_home(t, range->address))
            (void)address_space_free(g->space, range->frames[g->number], NULL);
    }
    if (range->frames[MEM_PLACE_HOST] != 0)
        (void)address_space_free(t->host_space, range->frames[MEM_PLACE_HOST], NULL);
}

static ls_status take_frames(timing *t, timing_range *range, ls_error *err)
{
    const uint32_t state = LS_PAGE_READ | LS_PAGE_WRITE;
    const timing_gpu *home = timing_home(t, range->address);
    ls_status status = LS_OK;
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++) {
        timing_gpu *g = &t->gpus[i];
        uint64_t *frame = &range->frames[g->number];
        if (g == home)
            *frame = timing_frame(range->address);
        else
            status = address_space_alloc(g->space, range->bytes, TIMING_RANGE_ALIGN, state, frame, err);
    }
    if (status == LS_OK)
        status = address_space_alloc(t->host_space, range->bytes, TIMING_RANGE_ALIGN, state,
                                     &range->frames[MEM_PLACE_HOST], err);
    return status;
}

static ls_status manage(timing *t, uint64_t address, uint64_t bytes, bool on_host, ls_error *err)
{
    timing_range range = { .address = address,
                           .bytes = (bytes + TIMING_RANGE_ALIGN - 1) & -TIMING_RANGE_ALIGN };
    if (!vec_reserve(&t->ranges, 1))
        return no_memory(err);
    ls_status status = take_frames(t, &range, err);
    migrate_range managed = { .address = address, .bytes = range.bytes, .used = bytes };
    for (uint32_t i = 0; i < MEM_PLACES; i++)
        managed.frames[i] = range.frames[i];
    if (status == LS_OK)
        status = CHANGE(t, err,
                        migrate_add_range(t->directory, &managed,
                                          on_host ? MEM_PLACE_HOST : timing_home(t, address)->number, err));
    if (status == LS_OK)
        (void)vec_push(&t->ranges, range);
    else
        free_frames(t, &range);
    return status;
}

ls_status timing_manage(void *self, uint64_t address, uint64_t bytes, bool first_touch, ls_error *err)
{
    timing *t = self;
    ls_status status = LS_OK;
    pthread_mutex_lock(&t->lock);
    if (t->directory)
        status = manage(t, address, bytes, first_touch, err);
    else if (first_touch)
        status = ls_fail(err, LS_ERR_UNSUPPORTED,
                         "pages by first touch need a system whose pages move: migrate.model is 'none'");
    pthread_mutex_unlock(&t->lock);
    return status;
}

ls_status timing_unmanage(timing *t, uint64_t address, ls_error *err)
{
    timing_range *range = range_of(t, address);
    if (!range)
        return LS_OK;
    ls_status status =
        timing_settle(t, err); /* frames of pages on their way are not free before these have arrived */
    if (status != LS_OK)
        (void)ls_error_prefix(err, "the memory at 0x%llx cannot be freed, pages of it may be on their way",
                              (unsigned long long)address);
    if (status == LS_OK)
        status = CHANGE(t, err, migrate_remove_range(t->directory, range->address, err));
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < t->gpu_count; i++)
        timing_discard_frames(t,
                              (page_place){ .place = t->gpus[i].number,
                                            .frame = range->frames[t->gpus[i].number] },
                              range->bytes);
    for (size_t i = 0; i < t->gpu_count; i++)
        amd_gpu_discard_pages(t->gpus[i].gpu, range->address, range->bytes);
    free_frames(t, range);
    *range = t->ranges.at[--t->ranges.count];
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- places */

/* Pages that follow each other and go to one GPU are one request. */
ls_status timing_place_managed(timing *t, const drv_placement *p, ls_error *err)
{
    ls_status status = timing_settle(t, err);
    for (size_t i = 0, end; i < p->pages && status == LS_OK; i = end) {
        for (end = i + 1; end < p->pages && p->gpus[end] == p->gpus[i];)
            end++;
        uint64_t address = p->address + i * t->page_bytes, bytes = (end - i) * t->page_bytes;
        uint32_t place = t->gpus[p->gpus[i]].number;
        status = p->is_fresh ? CHANGE(t, err, migrate_set_place(t->directory, address, bytes, place, err))
                             : CHANGE(t, err, migrate_move(t->directory, address, bytes, place, err));
    }
    return status == LS_OK ? timing_settle(t, err) : status;
}

size_t timing_place_now(void *self, uint64_t address)
{
    timing *t = self;
    uint32_t place = 0;
    pthread_mutex_lock(&t->lock);
    bool found = t->directory && find(t, address, &place);
    pthread_mutex_unlock(&t->lock);
    if (!found)
        return SIZE_MAX;
    return place == MEM_PLACE_HOST ? LS_GPU_ON_HOST : t->index_of[place];
}

uint64_t timing_turn_bytes(void *self)
{
    const timing *t = self;
    uint64_t largest = t->directory ? migrate_page_bytes(t->directory) : 0;
    return largest > t->page_bytes ? largest : t->page_bytes;
}

/* The GPU whose DMA engine moves bytes at an address: the one that has them now. */
uint32_t timing_holder(const timing *t, uint64_t address)
{
    uint32_t place = 0;
    if (!find(t, address, &place))
        place = page_table_find(t->pages, address).place;
    return place == MEM_PLACE_HOST ? 0 : t->index_of[place];
}
