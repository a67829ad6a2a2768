/* timing_place.c: pages that lie elsewhere than at home. A page keeps its address and gets a frame of another GPU; its
 * bytes are copied there by the DMA engines, in simulated time, unless nothing was ever written to it. */
#include "runtime/timing/timing_impl.h"

#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

uint64_t timing_page_bytes(void *self)
{
    return ((timing *)self)->page_bytes;
}

static page_place home_of(const timing *t, uint64_t address)
{
    return (page_place){ .place = page_table_home(t->pages, address), .frame = timing_frame(address) };
}

static bool is_same(page_place a, page_place b)
{
    return a.place == b.place && a.frame == b.frame;
}

static void set_state(const timing *t, page_place at, uint64_t bytes, uint32_t state)
{
    amd_gpu_change_pages(t->gpus[t->index_of[at.place]].gpu,
                         &(ls_page_change){ .address = at.frame, .bytes = bytes, .state = state });
}

/* ------------------------------------------------------------------------------------------------- frames */

/* A frame that no page has any more. Frames at home stay reserved: the page may come back. */
static void give_frame(timing *t, uint64_t address, page_place at, uint64_t bytes)
{
    timing_gpu *g = &t->gpus[t->index_of[at.place]];
    set_state(t, at, bytes, 0);
    if (is_same(at, home_of(t, address)))
        return;
    for (size_t i = 0; i < g->chunks.count; i++) {
        timing_chunk *chunk = &g->chunks.at[i];
        if (at.frame - chunk->frame >= chunk->bytes)
            continue;
        chunk->live -= bytes;
        if (chunk->live == 0) {
            (void)address_space_free(g->space, chunk->frame, NULL);
            *chunk = g->chunks.at[--g->chunks.count];
        }
        return;
    }
}

/* A move of pages while it is prepared. */
typedef struct page_move {
    const drv_placement *what;
    uint64_t page_bytes;
    page_place *to; /* of each page; equal to its place now: it stays */
    bool packs;     /* pages that stay at home get frames one after the other, too */
} page_move;

static uint64_t address_of(const page_move *m, size_t page)
{
    return m->what->address + page * m->page_bytes;
}

/* Whether a fresh range has pages of other GPUs between those that stay at home. Their frames would then be apart by as
 * much, only on this GPU: neighbours would meet in the same sets of its caches, and each be a copy of its own. */
static bool has_gaps(const timing *t, const page_move *m)
{
    for (size_t i = 1; m->what->is_fresh && i < m->what->pages; i++) {
        uint32_t home = home_of(t, address_of(m, i)).place;
        if (t->gpus[m->what->gpus[i]].number == home && t->gpus[m->what->gpus[i - 1]].number != home)
            return true;
    }
    return false;
}

/* Whether page i gets a frame that nothing had before; *place: the one it has or had, otherwise. */
static bool needs_frame(const timing *t, const page_move *m, size_t i, uint32_t number, page_place *place)
{
    page_place now = page_table_find(t->pages, address_of(m, i)), home = home_of(t, address_of(m, i));
    *place = now.place == number ? now : home;
    return m->packs || place->place != number;
}

/* Frames on one GPU for all pages that come to it, one after the other. Pages that come home get the frame they had. */
static ls_status take_frames(timing *t, page_move *m, size_t gpu, ls_error *err)
{
    timing_gpu *g = &t->gpus[gpu];
    uint64_t bytes = 0, frame;
    for (size_t i = 0; i < m->what->pages; i++)
        if (m->what->gpus[i] == gpu && needs_frame(t, m, i, g->number, &m->to[i]))
            bytes += m->page_bytes;
    if (bytes == 0)
        return LS_OK;
    if (!vec_reserve(&g->chunks, 1))
        return no_memory(err);
    ls_status status =
        address_space_alloc(g->space, bytes, m->page_bytes, LS_PAGE_READ | LS_PAGE_WRITE, &frame, err);
    if (status != LS_OK)
        return status;
    (void)vec_push(&g->chunks, ((timing_chunk){ .frame = frame, .bytes = bytes, .live = bytes }));
    for (size_t i = 0; i < m->what->pages; i++) {
        if (m->what->gpus[i] != gpu || !needs_frame(t, m, i, g->number, &m->to[i]))
            continue;
        m->to[i] = (page_place){ .place = g->number, .frame = frame };
        frame += m->page_bytes;
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- content */

/* Copies of the pages that move: on the GPU that gets them, or without a fabric through the host. */
static ls_status plan_copies(timing *t, const page_move *m, timing_job *job, ls_error *err)
{
    bool good = true;
    job->staging = t->has_fabric ? NULL : malloc(m->what->pages * m->page_bytes);
    if (!t->has_fabric && !job->staging)
        return no_memory(err);
    for (uint32_t phase = 0; phase < (t->has_fabric ? 1u : 2u) && good; phase++) {
        for (size_t i = 0; i < m->what->pages && good; i++) {
            page_place from = page_table_find(t->pages, address_of(m, i)), to = m->to[i];
            uint8_t *staged = job->staging ? job->staging + i * m->page_bytes : NULL;
            if (is_same(from, to))
                continue;
            bool out = !t->has_fabric && phase == 0;
            timing_part part = { .kind = t->has_fabric ? DRV_WORK_COPY
                                         : out         ? DRV_WORK_OUT
                                                       : DRV_WORK_IN,
                                 .gpu = t->index_of[out ? from.place : to.place],
                                 .bytes = m->page_bytes,
                                 .to = out ? 0 : to.frame,
                                 .host_to = out ? staged : NULL,
                                 .host_from = out ? NULL : staged };
            if (out)
                part.from = from.frame;
            else if (t->has_fabric)
                part.from = mem_place_physical(to.place, from.place, from.frame);
            timing_part *last = job->parts.count > 0 ? &job->parts.at[job->parts.count - 1] : NULL;
            bool joins =
                last && last->kind == part.kind && last->gpu == part.gpu &&
                (part.kind == DRV_WORK_OUT || last->to + last->bytes == part.to) &&
                (part.kind == DRV_WORK_IN || last->from + last->bytes == part.from) &&
                (!staged || (last->host_to ? last->host_to : last->host_from) + last->bytes == staged);
            if (joins)
                last->bytes += part.bytes;
            else
                good = vec_push(&job->parts, part);
        }
        if (phase == 0)
            job->second = job->parts.count;
    }
    return good ? LS_OK : no_memory(err);
}

static ls_status copy_content(timing *t, const page_move *m, ls_error *err)
{
    drv_work work = { .kind = DRV_WORK_COPY, .began_ns = UINT64_MAX };
    timing_job *job = calloc(1, sizeof *job);
    if (!job)
        return no_memory(err);
    job->work = &work;
    ls_status status = plan_copies(t, m, job, err);
    if (status == LS_OK && job->parts.count > 0)
        return timing_run_job(t, job, err);
    timing_job_free(job);
    return status;
}

/* -------------------------------------------------------------------------------------------------- places */

static ls_status check(const timing *t, const drv_placement *p, ls_error *err)
{
    for (size_t i = 0; i < p->pages; i++) {
        const timing_gpu *g = timing_home(t, p->address);
        if (t->gpus[p->gpus[i]].number == g->number)
            continue;
        for (size_t k = 0; k < t->gpu_count; k++)
            if (amd_gpu_page_bytes(t->gpus[k].gpu) == 0)
                return ls_fail(err, LS_ERR_UNSUPPORTED,
                               "gpu%u has no TLBs (tlb.model), so pages stay at home: 0x%llx is on GPU %u",
                               t->gpus[k].number, (unsigned long long)p->address, g->number);
        return LS_OK;
    }
    return LS_OK;
}

/* The table, after the content has moved. */
static ls_status switch_pages(timing *t, const page_move *m, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < m->what->pages && status == LS_OK; i++) {
        uint64_t address = address_of(m, i);
        page_place from = page_table_find(t->pages, address), to = m->to[i];
        if (is_same(from, to))
            continue;
        if (is_same(to, home_of(t, address)))
            page_table_clear(t->pages, address, m->page_bytes);
        else
            status = page_table_map(t->pages, address, m->page_bytes, to, err);
        if (status == LS_OK)
            status = timing_record_pages(t, AMD_FILE_PLACE, to.place, address,
                                         is_same(to, home_of(t, address)) ? 0 : to.frame, m->page_bytes, err);
        if (status != LS_OK)
            return status;
        timing_discard_frames(t, from, m->page_bytes);
        give_frame(t, address, from, m->page_bytes);
    }
    for (size_t i = 0; i < t->gpu_count; i++)
        amd_gpu_discard_pages(t->gpus[i].gpu, m->what->address, m->what->pages * m->page_bytes);
    return status;
}

static ls_status place(timing *t, page_move *m, ls_error *err)
{
    ls_status status = check(t, m->what, err);
    m->packs = has_gaps(t, m);
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++)
        status = take_frames(t, m, i, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < m->what->pages; i++)
        if (is_same(m->to[i], home_of(t, address_of(m, i))))
            set_state(t, m->to[i], m->page_bytes, LS_PAGE_READ | LS_PAGE_WRITE);
    if (!m->what->is_fresh && !t->gpus[0].flat) /* bytes go to their places at the position */
        status = copy_content(t, m, err);
    return status == LS_OK ? switch_pages(t, m, err) : status;
}

ls_status timing_place(void *self, const drv_placement *placement, ls_error *err)
{
    timing *t = self;
    page_move m = { .what = placement, .page_bytes = t->page_bytes };
    m.to = malloc((placement->pages + 1) * sizeof *m.to);
    if (!m.to)
        return no_memory(err);
    pthread_mutex_lock(&t->lock);
    ls_status status =
        timing_is_managed(t, placement->address) ? timing_place_managed(t, placement, err) : place(t, &m, err);
    pthread_mutex_unlock(&t->lock);
    free(m.to);
    return status;
}

/* -------------------------------------------------------------------------------------------------- copies */

static ls_status copy_pages(timing *t, timing_gpu *g, uint64_t address, uint64_t bytes, const void *data,
                            uint64_t data_bytes, ls_error *err)
{
    page_copy copy = { .address = address, .bytes = bytes };
    ls_status status =
        address_space_alloc(g->space, bytes, t->page_bytes, LS_PAGE_READ | LS_PAGE_WRITE, &copy.frame, err);
    if (status == LS_OK)
        status = amd_gpu_load(g->gpu, copy.frame, data, data_bytes, err);
    if (status == LS_OK)
        status = address_space_protect(g->space, copy.frame, bytes, LS_PAGE_READ, err);
    if (status == LS_OK && !vec_push(&g->copies, copy))
        status = no_memory(err);
    if (status == LS_OK)
        status = timing_record_pages(t, AMD_FILE_OWN, g->number, address, copy.frame, bytes, err);
    g->view.copies = g->copies.at;
    g->view.copy_count = g->copies.count;
    return status;
}

ls_status timing_replicate(void *self, uint64_t address, uint64_t bytes, const void *data, uint64_t data_bytes,
                           ls_error *err)
{
    timing *t = self;
    const timing_gpu *home = timing_home(t, address);
    if (address % t->page_bytes != 0 || bytes % t->page_bytes != 0)
        return LS_OK; /* pages that hold more than this: other GPUs read them where they are */
    ls_status status = LS_OK;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++)
        if (&t->gpus[i] != home)
            status = copy_pages(t, &t->gpus[i], address, bytes, data, data_bytes, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- frees */

static void forget_copies(timing *t, timing_gpu *g, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < g->copies.count;) {
        page_copy copy = g->copies.at[i];
        if (copy.address - address >= bytes) {
            i++;
            continue;
        }
        timing_discard_frames(t, (page_place){ .place = g->number, .frame = copy.frame }, copy.bytes);
        (void)address_space_free(g->space, copy.frame, NULL);
        g->copies.at[i] = g->copies.at[--g->copies.count];
    }
    g->view.copy_count = g->copies.count;
}

void timing_forget_places(timing *t, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < t->gpu_count; i++)
        forget_copies(t, &t->gpus[i], address, bytes);
    for (uint64_t at = 0; at < bytes && page_table_entries(t->pages) > 0; at += t->page_bytes) {
        page_place place = page_table_find(t->pages, address + at);
        if (is_same(place, home_of(t, address + at)))
            continue;
        timing_discard_frames(t, place, t->page_bytes);
        page_table_clear(t->pages, address + at, t->page_bytes);
        give_frame(t, address + at, place, t->page_bytes);
    }
}
