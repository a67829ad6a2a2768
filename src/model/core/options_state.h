/* options_state.h: the states of the optional parts of a core, for the files of each part and for the state table
 * (core_state.c). */
#ifndef MODEL_CORE_OPTIONS_STATE_H
#define MODEL_CORE_OPTIONS_STATE_H

#include "model/core/core.h"

struct icache {
    readonly levels;
    uint64_t base[CORE_CTAS_MAX];
    uint64_t served; /* warps whose line has come */
    uint64_t parked; /* warps that found no free miss entry */
};

struct ccache {
    readonly levels;
    uint64_t base[CORE_CTAS_MAX];
    index_list parked; /* flights that found no free miss entry */
};

typedef struct translate_waiting {
    ls_sector_message message;
    ls_cycle ready;
    uint16_t channel;
    bool again; /* the TLB had no miss entry: try again */
} translate_waiting;

struct translate {
    tlb tlb;
    translate_waiting *at; /* oldest first */
    uint32_t count, capacity;
};

struct fences {
    uint64_t waiting; /* warps whose request has not been made, a bit each */
    ls_cycle at[64];  /* of them: when the fence issued */
};

#endif
