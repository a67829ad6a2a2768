/* partition_tap.h: events of a memory partition for timelines: the steps of requests in L2 and DRAM. For partition.c only.
 * Each is called only for requests with a number, or if some were told; it asks the tap. */
#ifndef MODEL_MEMORY_PARTITION_TAP_H
#define MODEL_MEMORY_PARTITION_TAP_H

#include "lockstep/timeline.h"
#include "model/cache/sector_cache.h"
#include "model/memory/mem.h"

/* Which request a read of DRAM is for. A later miss may take the place of an earlier one, which then has no step of
 * DRAM. */
#define TOLD_SECTORS 4096u
typedef struct partition_told {
    struct {
        uint64_t address, id;
    } sector[TOLD_SECTORS];
} partition_told;

static __attribute__((noinline, unused)) void tap_step(const ls_tap *tap, ls_region *region, uint64_t id,
                                                       ls_tap_step step)
{
    if (ls_tap_wants(tap, LS_TAP_REQUEST))
        ls_tap_record(tap, &(ls_tap_event){ .time = ls_region_time(region),
                                            .kind = LS_TAP_REQUEST,
                                            .phase = LS_TAP_STEP,
                                            .id = id,
                                            .what = (uint16_t)step });
}

static inline void tap_request(const ls_tap *tap, ls_region *region, const ls_sector_message *m,
                               ls_tap_step step)
{
    if (m->number != 0)
        tap_step(tap, region, LS_TAP_SECTOR(m->core, m->number), step);
}

/* A look-up of L2: its outcome is the next part of the request's way. */
static __attribute__((noinline, unused)) void tap_look_up(const ls_tap *tap, ls_region *region,
                                                          partition_told **told, const ls_sector_message *m,
                                                          sector_cache_outcome outcome)
{
    bool hits = m->kind == LS_SECTOR_WRITE || outcome == SECTOR_CACHE_HIT;
    tap_request(tap, region, m,
                hits                           ? LS_STEP_L2_TAG
                : outcome == SECTOR_CACHE_MISS ? LS_STEP_L2_MISS
                                               : LS_STEP_MSHR);
    if (hits || outcome != SECTOR_CACHE_MISS || m->number == 0 || !ls_tap_wants(tap, LS_TAP_REQUEST))
        return;
    if (*told == NULL)
        *told = ls_domain_alloc(ls_region_domain(region), sizeof **told);
    uint32_t at = (uint32_t)(m->address / SECTOR_BYTES) % TOLD_SECTORS;
    if (*told != NULL) {
        (*told)->sector[at].address = m->address;
        (*told)->sector[at].id = LS_TAP_SECTOR(m->core, m->number);
    }
}

/* The sector goes to DRAM, or is here. */
static __attribute__((noinline, unused)) void tap_dram(const ls_tap *tap, ls_region *region,
                                                       const partition_told *told, uint64_t address,
                                                       ls_tap_step step)
{
    uint32_t at = (uint32_t)(address / SECTOR_BYTES) % TOLD_SECTORS;
    if (told != NULL && told->sector[at].id != 0 && told->sector[at].address == address)
        tap_step(tap, region, told->sector[at].id, step);
}

#endif
