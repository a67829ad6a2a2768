/* names.c: names of targets, operations and classes, and the fields of s_waitcnt. */
#include "isa/amd/amd.h"

#include <ctype.h>
#include <string.h>
#include <threads.h>

static const char *const target_names[AMD_TARGET_COUNT] = { "gfx803", "gfx1010", "gfx1030", "gfx90a",
                                                            "gfx942" };

const char *amd_target_name(amd_target target)
{
    return (unsigned)target < AMD_TARGET_COUNT ? target_names[target] : "unknown";
}

bool amd_target_find(const char *name, amd_target *out)
{
    /* "amdgcn-amd-amdhsa--gfx1010:xnack-": the processor follows the last '-' before the first ':'. */
    size_t end = strcspn(name, ":");
    size_t begin = end;
    while (begin > 0 && name[begin - 1] != '-')
        begin--;
    for (unsigned i = 0; i < AMD_TARGET_COUNT; i++)
        if (strlen(target_names[i]) == end - begin &&
            strncmp(name + begin, target_names[i], end - begin) == 0) {
            *out = (amd_target)i;
            return true;
        }
    return false;
}

/* --- operations ----------------------------------------------------------------------------------------- */

enum { NAME_BYTES = 32 };

static char op_names[AMD_OP_COUNT][NAME_BYTES] = {
    "invalid",
#define AMD_OP(name) #name,
#include "isa/amd/ops.def"
#undef AMD_OP
};
#define AMD_OP(name) _Static_assert(sizeof #name <= NAME_BYTES, "a longer mnemonic");
#include "isa/amd/ops.def"
#undef AMD_OP

static once_flag names_once = ONCE_FLAG_INIT;

static void lower_names(void)
{
    for (unsigned i = 0; i < AMD_OP_COUNT; i++)
        for (char *c = op_names[i]; *c; c++)
            *c = (char)tolower((unsigned char)*c);
    memcpy(op_names[AMD_EXPORT], "exp", sizeof "exp");
}

const char *amd_op_name(amd_op op)
{
    call_once(&names_once, lower_names);
    return (unsigned)op < AMD_OP_COUNT ? op_names[op] : op_names[AMD_OP_INVALID];
}

bool amd_op_find(const char *name, amd_op *out)
{
    for (unsigned i = 1; i < AMD_OP_COUNT; i++)
        if (strcmp(amd_op_name((amd_op)i), name) == 0) {
            *out = (amd_op)i;
            return true;
        }
    return false;
}

/* --- formats and classes -------------------------------------------------------------------------------- */

const char *amd_format_name(amd_format format)
{
    static const char *const names[AMD_FORMAT_COUNT] = {
        "SOP1",  "SOP2",   "SOPK", "SOPC",  "SOPP",  "SMEM", "VOP1", "VOP2",   "VOPC",    "VOP3", "VOP3B",
        "VOP3P", "VINTRP", "DS",   "MUBUF", "MTBUF", "MIMG", "FLAT", "GLOBAL", "SCRATCH", "EXP",
    };
    return (unsigned)format < AMD_FORMAT_COUNT ? names[format] : "unknown";
}

const char *amd_class_name(amd_class c)
{
    static const char *const names[AMD_CLASS_COUNT] = {
        "salu", "valu", "trans",  "valu64", "smem",    "vmem",     "flat",
        "lds",  "gds",  "export", "branch", "message", "internal",
    };
    return (unsigned)c < AMD_CLASS_COUNT ? names[c] : "unknown";
}

/* --- s_waitcnt ------------------------------------------------------------------------------------------ */

amd_waitcnt amd_waitcnt_decode(amd_target target, uint16_t simm16)
{
    amd_waitcnt wait = { .vm = simm16 & 15, .exp = simm16 >> 4 & 7, .lgkm = simm16 >> 8 & 15, .vs = 63 };
    if (target != AMD_GFX803)
        wait.vm |= (uint8_t)(simm16 >> 14 << 4);
    if (amd_target_is_gfx10(target))
        wait.lgkm = simm16 >> 8 & 63;
    return wait;
}
