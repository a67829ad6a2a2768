/* valu_int.c: the kernels of valu_int.def. Compiled once per variant of the host. */
#include "isa/amd/exec/kernel.h"
#include "isa/amd/exec/ints.h"

#define LANES_DEF "isa/amd/exec/valu_int.def"
#include "isa/amd/exec/stamp_both.h"
