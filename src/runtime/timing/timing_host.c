/* timing_host.c: the memory of the host, where the system has one. Its frames hold pages that no GPU has. */
#include "runtime/timing/timing_impl.h"

#include "model/amd_memory/place_memory.h"

/* The lock is held, and the engine does not run. */
static void pages_changed(void *self, uint64_t address, uint64_t bytes, uint32_t state)
{
    line_memory_change(self, &(ls_page_change){ .address = address, .bytes = bytes, .state = state });
}

ls_status timing_set_up_host(timing *t, ls_error *err)
{
    t->host = ls_engine_part(t->engine, HOST_PART, 0);
    if (!t->host)
        return LS_OK;
    /* As many addresses as this process can reserve; memory is used when it is written. */
    ls_status status = address_space_create(0, &t->host_space, err);
    if (status == LS_OK)
        status = line_memory_attach(t->host->memory, t->host_space, err);
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++) {
        const ls_pages pages = page_view_pages(&t->gpus[i].view);
        status = host_set_pages(t->host->host, t->gpus[i].number, &pages, err);
    }
    if (status == LS_OK)
        address_space_watch(t->host_space, pages_changed, t->host->memory);
    return status;
}

void timing_close_host(timing *t)
{
    if (t->host_space)
        address_space_watch(t->host_space, NULL, NULL);
}
