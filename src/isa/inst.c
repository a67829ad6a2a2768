/* inst.c: names of instruction classes, memory spaces and memory operations, for tables and messages. */
#include "isa/inst.h"

#include <stddef.h>

static const struct {
    const char *name, *help;
} classes[LS_CLASS_COUNT] = {
#define CLASS(name, help) { #name, help },
#include "lockstep/classes.def"
#undef CLASS
};

static const char *const spaces[LS_SPACE_COUNT] = {
    [LS_SPACE_NONE] = "none",       [LS_SPACE_GLOBAL] = "global",   [LS_SPACE_LOCAL] = "local",
    [LS_SPACE_SHARED] = "shared",   [LS_SPACE_GENERIC] = "generic", [LS_SPACE_CONST] = "const",
    [LS_SPACE_TEXTURE] = "texture", [LS_SPACE_SURFACE] = "surface",
};

static const char *const operations[LS_MEM_OP_COUNT] = {
    [LS_MEM_NONE] = "none",     [LS_MEM_LOAD] = "load",           [LS_MEM_STORE] = "store",
    [LS_MEM_ATOMIC] = "atomic", [LS_MEM_REDUCTION] = "reduction", [LS_MEM_ASYNC_COPY] = "async_copy",
    [LS_MEM_MATRIX] = "matrix",
};

const char *inst_class_name(ls_inst_class c)
{
    return (unsigned)c < LS_CLASS_COUNT ? classes[c].name : "?";
}

const char *inst_class_help(ls_inst_class c)
{
    return (unsigned)c < LS_CLASS_COUNT ? classes[c].help : "?";
}

const char *mem_space_name(ls_mem_space space)
{
    return (unsigned)space < LS_SPACE_COUNT ? spaces[space] : "?";
}

const char *mem_op_name(ls_mem_op op)
{
    return (unsigned)op < LS_MEM_OP_COUNT ? operations[op] : "?";
}

uint32_t tensor_bits(uint32_t type)
{
    static const uint8_t bits[LS_TENSOR_TYPES] = {
#define TENSOR(name, key, bits_, help) [LS_TENSOR_##name] = (bits_),
#include "lockstep/tensor.def"
#undef TENSOR
    };
    return type < LS_TENSOR_TYPES ? bits[type] : 0;
}
