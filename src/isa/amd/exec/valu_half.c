/* valu_half.c: the kernels of valu_half.def. Compiled once per variant of the host. */
#include "isa/amd/exec/kernel.h"
#include "isa/amd/exec/divide.h"
#include "isa/amd/exec/ints.h"
#include "isa/amd/exec/trans.h"

#define LANES_DEF "isa/amd/exec/valu_half.def"
#include "isa/amd/exec/stamp_both.h"
