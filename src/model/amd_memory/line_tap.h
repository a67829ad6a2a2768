/* line_tap.h: steps of memory requests of machine `amd`, for timelines. Without a listener every number is 0. */
#ifndef MODEL_AMD_MEMORY_LINE_TAP_H
#define MODEL_AMD_MEMORY_LINE_TAP_H

#include "lockstep/line.h"
#include "lockstep/timeline.h"

static __attribute__((noinline, unused)) void line_tap_step(const ls_tap *tap, ls_region *region,
                                                            uint32_t number, ls_tap_phase phase,
                                                            ls_tap_step step)
{
    if (ls_tap_wants(tap, LS_TAP_REQUEST))
        ls_tap_record(tap, &(ls_tap_event){ .time = ls_region_time(region),
                                            .kind = LS_TAP_REQUEST,
                                            .phase = (uint8_t)phase,
                                            .id = LS_TAP_ANY_GPU | number,
                                            .what = (uint16_t)step });
}

static inline void line_tap(const ls_tap *tap, ls_region *region, const ls_line_message *m, ls_tap_step step)
{
    if (LS_UNLIKELY(m->number != 0))
        line_tap_step(tap, region, m->number, LS_TAP_STEP, step);
}

#endif
