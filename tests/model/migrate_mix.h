/* migrate_mix.h: random accesses of abstract GPUs (migrate_rig.h) to managed pages, in mixes that tests describe. */
#ifndef TESTS_MODEL_MIGRATE_MIX_H
#define TESTS_MODEL_MIGRATE_MIX_H

#include "migrate_rig.h"

static mrig r;

typedef struct mix {
    const char *model, *fabric_model;
    uint32_t gpus, accesses, write_percent, stay_percent, hot;
    uint64_t hot_stride;
    uint32_t pace;
    const char *const *sets;
} mix;

#define SETS(...)                                                                                             \
    (const char *const[])                                                                                     \
    {                                                                                                         \
        "check=true", __VA_ARGS__, NULL                                                                       \
    }

static inline void open_mix(const mix *m)
{
    memset(&r, 0, sizeof r);
    r.gpus = m->gpus;
    r.threads = 4;
    r.accesses = m->accesses;
    r.write_percent = m->write_percent;
    r.stay_percent = m->stay_percent;
    r.hot = m->hot;
    r.hot_stride = m->hot_stride;
    r.pace = m->pace;
    mrig_open(&r, m->model, m->sets, m->fabric_model);
    mrig_start(&r);
}

#endif
