/* host_iommu.c: the host's IOMMU walks page tables: a latency, a number of walks at once, and a queue. */
#include "model/fabric/host_impl.h"

static void begin_walks(host *h, ls_cycle now)
{
    while (h->walk_count < h->spec->walks && !index_list_empty(&h->queued)) {
        uint32_t i = index_list_pop(&h->queued, host_links(h));
        h->queued_count--;
        h->walk_count++;
        h->n.walk_wait_cycles += now - h->jobs[i].taken;
        h->jobs[i].ready = now + h->walk_latency;
        index_list_append(&h->walking, host_links(h), i);
    }
    if (!index_list_empty(&h->walking))
        host_arm(h, &h->walk_event, h->jobs[h->walking.first].ready);
}

void host_iommu_event(void *self, ls_cycle now)
{
    host *h = self;
    while (!index_list_empty(&h->walking) && h->jobs[h->walking.first].ready <= now) {
        uint32_t i = index_list_pop(&h->walking, host_links(h));
        host_job *job = &h->jobs[i];
        h->walk_count--;
        h->n.walks++;
        h->n.walk_cycles += h->walk_latency;
        if (h->directory.ops != NULL &&
            h->directory.ops->walked(h->directory.self, job->from, &job->body.walk, job->taken, now)) {
            host_job_end(h, i);
            continue;
        }
        host_grant(&h->pages[job->from], job->from, &job->body.walk);
        job->kind = MIGRATE_GRANT;
        host_answer(h, i);
    }
    begin_walks(h, now);
}

void host_iommu_begin(host *h, uint32_t job, ls_cycle now)
{
    index_list_append(&h->queued, host_links(h), job);
    h->queued_count++;
    begin_walks(h, now);
    uint64_t open = (uint64_t)h->queued_count + h->walk_count;
    h->n.walk_peak = h->n.walk_peak < open ? open : h->n.walk_peak;
}

ls_status host_copy_pages(void *self, uint32_t gpu, const ls_pages *pages, ls_error *err)
{
    host *h = self;
    if (gpu >= LS_HOST_GPUS_MAX)
        return ls_fail(err, LS_ERR_INTERNAL, "the host has no page table for GPU %u", gpu);
    h->pages[gpu] = *pages;
    return LS_OK;
}
