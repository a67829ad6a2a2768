/* timing.c: the table of timing.def, and how its numbers and those of a platform file become one set. */
#include "model/dram/timing.h"

#include <stddef.h>

static const dram_timing_set sets[] = {
#define DRAM_TIMING_SET(name_, clock_mhz_, source_, ...)                                                      \
    { .name = (name_), .clock_mhz = (clock_mhz_), .source = (source_), .timing = { __VA_ARGS__ } },
#include "model/dram/timing.def"
#undef DRAM_TIMING_SET
};

const char *const dram_timing_names[] = {
#define DRAM_TIMING_SET(name_, clock_mhz_, source_, ...) name_,
#include "model/dram/timing.def"
#undef DRAM_TIMING_SET
    NULL,
};

const dram_timing_set *dram_timing_of(uint32_t index)
{
    return index < sizeof sets / sizeof sets[0] ? &sets[index] : NULL;
}

dram_timing dram_timing_resolve(uint32_t index, const dram_timing *keys)
{
    const dram_timing *set = &sets[index].timing;
    dram_timing t;
#define DRAM_TIMING_TAKE_(field, key, unit, max, help) t.field = keys->field != 0 ? keys->field : set->field;
    DRAM_TIMING_KEYS(DRAM_TIMING_TAKE_)
#undef DRAM_TIMING_TAKE_
    if (t.groups == 0)
        t.groups = 1;
    if (t.ccdl < t.ccd)
        t.ccdl = t.ccd;
    if (t.rrdl < t.rrd)
        t.rrdl = t.rrd;
    if (t.cdlrl < t.cdlr)
        t.cdlrl = t.cdlr;
    if (t.rc == 0)
        t.rc = t.ras + t.rp;
    if (t.rfcb == 0)
        t.rfcb = (t.rfc + 1) / 2;
    if (t.rcdwr == 0)
        t.rcdwr = t.rcd > t.wl + 1 ? t.rcd - (t.wl + 1) : 0;
    return t;
}
