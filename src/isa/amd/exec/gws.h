/* gws.h: global wave sync: a barrier over all work-groups of a cooperative launch (ds_gws_barrier). One wave of each
 * work-group arrives at it and says how many others it waits for. In the emulator a wave that waits blocks its host
 * thread, so each work-group has a thread of its own. A timing model does not call the body: it counts arrivals itself. */
#ifndef ISA_AMD_EXEC_GWS_H
#define ISA_AMD_EXEC_GWS_H

#include "isa/amd/exec/wave.h"

#include <pthread.h>

typedef struct amd_gws {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    uint32_t arrived;
    uint64_t openings;
    bool is_broken; /* a work-group will not come: waves that wait end */
} amd_gws;

void amd_gws_init(amd_gws *gws);
void amd_gws_fini(amd_gws *gws);
void amd_gws_break(amd_gws *gws);
bool amd_gws_is_op(amd_op op);
/* For how many others the wave waits at ds_gws_barrier. */
uint32_t amd_gws_others(const amd_wave *wave, const amd_inst *inst);
/* The body of such an instruction; NULL: it is none, or has none. */
amd_body amd_gws_find(const amd_inst *inst);

#endif
