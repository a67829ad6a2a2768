/* others.h: memory operations whose mnemonic names no load, store or atomic. test_amd_model_memory.c leaves them
 * out; test_amd_model_others.c has a model of each. */
#ifndef TESTS_ISA_MODEL_OTHERS_H
#define TESTS_ISA_MODEL_OTHERS_H

#include "isa/amd/amd.h"

#include <stdbool.h>

typedef enum other_kind {
    OTHER_NONE,
    OTHER_NOTHING, /* caches and probes: no register and no byte changes */
    OTHER_TIME,
    OTHER_WAVE_ID,
    OTHER_SWIZZLE,
    OTHER_PERMUTE,
    OTHER_BPERMUTE,
    OTHER_COUNTER,
    OTHER_LDS_STORE
} other_kind;

static inline other_kind other_of(amd_op op)
{
    switch (op) {
    case AMD_BUFFER_GL0_INV:
    case AMD_BUFFER_GL1_INV:
    case AMD_BUFFER_WBINVL1:
    case AMD_BUFFER_WBINVL1_VOL:
    case AMD_DS_NOP:
    case AMD_S_ATC_PROBE:
    case AMD_S_ATC_PROBE_BUFFER:
    case AMD_S_DCACHE_DISCARD:
    case AMD_S_DCACHE_DISCARD_X2:
    case AMD_S_DCACHE_INV:
    case AMD_S_DCACHE_INV_VOL:
    case AMD_S_DCACHE_WB:
    case AMD_S_DCACHE_WB_VOL:
    case AMD_S_GL1_INV:
        return OTHER_NOTHING;
    case AMD_S_MEMTIME:
    case AMD_S_MEMREALTIME:
        return OTHER_TIME;
    case AMD_S_GET_WAVEID_IN_WORKGROUP:
        return OTHER_WAVE_ID;
    case AMD_DS_SWIZZLE_B32:
        return OTHER_SWIZZLE;
    case AMD_DS_PERMUTE_B32:
        return OTHER_PERMUTE;
    case AMD_DS_BPERMUTE_B32:
        return OTHER_BPERMUTE;
    case AMD_DS_APPEND:
    case AMD_DS_CONSUME:
        return OTHER_COUNTER;
    case AMD_BUFFER_STORE_LDS_DWORD:
        return OTHER_LDS_STORE;
    default:
        return OTHER_NONE;
    }
}

#endif
