/* valu_float.c: the kernels of valu_float.def. Compiled once per variant of the host. */
#include "isa/amd/exec/kernel.h"
#include "isa/amd/exec/divide.h"
#include "isa/amd/exec/eights.h"
#include "isa/amd/exec/trans.h"

#define LANES_DEF "isa/amd/exec/valu_float.def"
#include "isa/amd/exec/stamp_both.h"
