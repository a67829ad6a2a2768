/* valu_direct_int.c: functions of direct lists for integer operations. Compiled once per variant of the host; the plain
 * one has none. */
#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/direct_set.h"
#include "isa/amd/exec/eights.h"
#include "isa/amd/exec/ints.h"
#include "isa/amd/exec/kernel.h"
#include "isa/amd/exec/divide.h"
#include "isa/amd/exec/trans.h"

#if defined(__AVX2__)
#define DIRECT_WIDE_INT
#define LANES 32
#define LANES_DEF "isa/amd/exec/valu_int.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES
#define LANES 64
#define LANES_DEF "isa/amd/exec/valu_int.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES

#define DIRECT_TABLE
static const amd_run *const table[2][AMD_OP_COUNT] = {
    {
#define LANES 32
#define LANES_DEF "isa/amd/exec/valu_int.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES
    },
    {
#define LANES 64
#define LANES_DEF "isa/amd/exec/valu_int.def"
#include "isa/amd/exec/valu_direct.h"
#undef LANES_DEF
#undef LANES
    },
};

const amd_run *LANES_PASTE(valu_direct, int, LANES_VARIANT)(unsigned lanes, unsigned op)
{
    return table[lanes == 64][op];
}

#else

const amd_run *LANES_PASTE(valu_direct, int, LANES_VARIANT)(unsigned lanes, unsigned op)
{
    (void)lanes, (void)op;
    return NULL;
}

#endif
