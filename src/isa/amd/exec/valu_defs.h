/* valu_defs.h: every .def file of vector operations, stamped by stamp.h. */
#define LANES_DEF "isa/amd/exec/valu_int.def"
#include "isa/amd/exec/stamp.h"
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_float.def"
#include "isa/amd/exec/stamp.h"
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_double.def"
#include "isa/amd/exec/stamp.h"
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_half.def"
#include "isa/amd/exec/stamp.h"
#undef LANES_DEF
#define LANES_DEF "isa/amd/exec/valu_compare.def"
#include "isa/amd/exec/stamp.h"
#undef LANES_DEF
