/* inst.h: names and sizes of the parts of static instructions (lockstep/inst.h), for reports and decoders. */
#ifndef ISA_INST_H
#define ISA_INST_H

#include "lockstep/inst.h"

const char *inst_class_name(ls_inst_class c);
const char *inst_class_help(ls_inst_class c);
const char *mem_space_name(ls_mem_space space); /* "global", ... */
const char *mem_op_name(ls_mem_op op);          /* "load", ... */
uint32_t tensor_bits(uint32_t type);            /* of an element of A and B */

#endif
