/* remote_tap.h: steps of NVIDIA cores' requests to other GPUs, for timelines. Without a listener every number is 0. Messages
 * of L2's part for remote memory have no number: theirs are told where the core's request waits. */
#ifndef MODEL_GPU_REMOTE_TAP_H
#define MODEL_GPU_REMOTE_TAP_H

#include "lockstep/sector.h"
#include "lockstep/timeline.h"

static __attribute__((noinline, unused)) void remote_tap_step(const ls_tap *tap, ls_region *region,
                                                              const ls_sector_message *m, ls_tap_step step)
{
    if (ls_tap_wants(tap, LS_TAP_REQUEST))
        ls_tap_record(tap, &(ls_tap_event){ .time = ls_region_time(region),
                                            .kind = LS_TAP_REQUEST,
                                            .phase = LS_TAP_STEP,
                                            .id = LS_TAP_SECTOR(m->core, m->number),
                                            .what = (uint16_t)step });
}

static inline void remote_tap(const ls_tap *tap, ls_region *region, const ls_sector_message *m,
                              ls_tap_step step)
{
    if (LS_UNLIKELY(m->number != 0))
        remote_tap_step(tap, region, m, step);
}

#endif
