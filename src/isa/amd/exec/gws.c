/* gws.c: see gws.h. The barrier's own operand says how many waves it has, so ds_gws_init has nothing to prepare. */
#include "isa/amd/exec/gws.h"

#define VGPR_0 256u

void amd_gws_init(amd_gws *gws)
{
    *gws = (amd_gws){ .arrived = 0 };
    pthread_mutex_init(&gws->lock, NULL);
    pthread_cond_init(&gws->opened, NULL);
}

void amd_gws_fini(amd_gws *gws)
{
    pthread_mutex_destroy(&gws->lock);
    pthread_cond_destroy(&gws->opened);
}

void amd_gws_break(amd_gws *gws)
{
    pthread_mutex_lock(&gws->lock);
    gws->is_broken = true;
    pthread_cond_broadcast(&gws->opened);
    pthread_mutex_unlock(&gws->lock);
}

static void body_init(amd_wave *wave, const amd_inst *inst)
{
    (void)wave;
    (void)inst;
}

/* False: the barrier is broken. */
static bool arrive(amd_gws *gws, uint32_t others)
{
    pthread_mutex_lock(&gws->lock);
    const uint64_t before = gws->openings;
    if (gws->arrived == others) {
        gws->arrived = 0;
        gws->openings++;
        pthread_cond_broadcast(&gws->opened);
    } else {
        gws->arrived++;
    }
    while (gws->openings == before && !gws->is_broken)
        pthread_cond_wait(&gws->opened, &gws->lock);
    const bool is_open = gws->openings != before;
    pthread_mutex_unlock(&gws->lock);
    return is_open;
}

uint32_t amd_gws_others(const amd_wave *wave, const amd_inst *inst)
{
    const uint64_t exec = amd_wave_exec(wave);
    const uint32_t lane = exec != 0 ? (uint32_t)__builtin_ctzll(exec) : 0;
    return wave->vgpr[(inst->src[0].code - VGPR_0) * wave->lanes + lane];
}

static void body_barrier(amd_wave *wave, const amd_inst *inst)
{
    if (!wave->group->gws) {
        wave->stop = AMD_FAULTED;
        wave->fault = (ls_fault){ .kind = LS_FAULT_UNSUPPORTED, .address = wave->pc - inst->bytes };
        return;
    }
    if (!arrive(wave->group->gws, amd_gws_others(wave, inst)))
        wave->stop = AMD_ENDED;
}

bool amd_gws_is_op(amd_op op)
{
    return op == AMD_DS_GWS_INIT || op == AMD_DS_GWS_BARRIER;
}

amd_body amd_gws_find(const amd_inst *inst)
{
    if (inst->src[0].code < VGPR_0)
        return NULL;
    return inst->op == AMD_DS_GWS_INIT ? body_init : inst->op == AMD_DS_GWS_BARRIER ? body_barrier : NULL;
}
