/* stamp_both.h: the kernels of LANES_DEF for 32 and for 64 lanes. The whole of a file that stamps kernels. */
#define LANES_STAMP_PROTOTYPES
#define LANES 32
#include "isa/amd/exec/stamp.h"
#undef LANES
#define LANES 64
#include "isa/amd/exec/stamp.h"
#undef LANES
#undef LANES_STAMP_PROTOTYPES

#define LANES_STAMP_KERNELS
#define LANES 32
#include "isa/amd/exec/stamp.h"
#undef LANES
#define LANES 64
#include "isa/amd/exec/stamp.h"
#undef LANES
#undef LANES_STAMP_KERNELS
