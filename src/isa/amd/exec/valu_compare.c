/* valu_compare.c: the kernels of valu_compare.def. Compiled once per variant of the host. */
#include "isa/amd/exec/kernel.h"

#define LANES_DEF "isa/amd/exec/valu_compare.def"
#include "isa/amd/exec/stamp_both.h"
