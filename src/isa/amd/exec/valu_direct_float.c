/* valu_direct_float.c: functions of direct lists for single precision and compares. Compiled once per variant of the host; the plain
 * one has none. */
#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/direct_set.h"
#include "isa/amd/exec/eights.h"
#include "isa/amd/exec/ints.h"
#include "isa/amd/exec/kernel.h"
#include "isa/amd/exec/divide.h"
#include "isa/amd/exec/trans.h"

#if defined(__AVX2__)
#define LANES 32
#define LANES_DEF "isa/amd/exec/valu_float.def"
#define DIRECT_WIDE_FLOAT
#include "isa/amd/exec/valu_direct.h"
#undef DIRECT_WIDE_FLOAT
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_compare.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES
#define LANES 64
#define LANES_DEF "isa/amd/exec/valu_float.def"
#define DIRECT_WIDE_FLOAT
#include "isa/amd/exec/valu_direct.h"
#undef DIRECT_WIDE_FLOAT
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_compare.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES

#define MODIFY_(n, ka)                                                                                        \
    DIRECT_FN_(modify_##n##_##ka,                                                                             \
               PLACE_##ka(a, 0) uint32_t *d = __builtin_assume_aligned((char *)w->vgpr + s->d, 64);           \
               const uint32_t keep = s->k[1], flip = s->k[2];                                                 \
               HALVES_LOOP_(n) d[i] = (WORD_##ka(a) & keep) ^ flip;)
MODIFY_(32, V)
MODIFY_(32, S)
MODIFY_(64, V)
MODIFY_(64, S)

amd_run LANES_PASTE(valu_direct, modify, LANES_VARIANT)(unsigned lanes, bool scalar)
{
    return lanes == 32 ? scalar ? modify_32_S : modify_32_V : scalar ? modify_64_S : modify_64_V;
}

#define DIRECT_TABLE
static const amd_run *const table[2][AMD_OP_COUNT] = {
    {
#define LANES 32
#define LANES_DEF "isa/amd/exec/valu_float.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_compare.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES
    },
    {
#define LANES 64
#define LANES_DEF "isa/amd/exec/valu_float.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_compare.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES
    },
};

const amd_run *LANES_PASTE(valu_direct, float, LANES_VARIANT)(unsigned lanes, unsigned op)
{
    return table[lanes == 64][op];
}

#else

const amd_run *LANES_PASTE(valu_direct, float, LANES_VARIANT)(unsigned lanes, unsigned op)
{
    (void)lanes, (void)op;
    return NULL;
}

amd_run LANES_PASTE(valu_direct, modify, LANES_VARIANT)(unsigned lanes, bool scalar)
{
    (void)lanes, (void)scalar;
    return NULL;
}

#endif
