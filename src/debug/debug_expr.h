/* debug_expr.h: expressions of the debugger: numbers, registers and names, with the operators of C. Reads text only;
 * values come from the scope that the caller gives, so that tests need no machine. */
#ifndef DEBUG_DEBUG_EXPR_H
#define DEBUG_DEBUG_EXPR_H

#include "lockstep/status.h"

#include <stdbool.h>

typedef enum debug_register_kind {
    DEBUG_SGPR,
    DEBUG_VGPR,
    DEBUG_SPECIAL, /* one of debug_special */
} debug_register_kind;

/* Registers with names. */
#define DEBUG_SPECIALS(X)                                                                                     \
    X(PC, "pc")                                                                                               \
    X(EXEC, "exec")                                                                                           \
    X(EXEC_LO, "exec_lo")                                                                                     \
    X(EXEC_HI, "exec_hi")                                                                                     \
    X(VCC, "vcc")                                                                                             \
    X(VCC_LO, "vcc_lo")                                                                                       \
    X(VCC_HI, "vcc_hi")                                                                                       \
    X(SCC, "scc")                                                                                             \
    X(M0, "m0")                                                                                               \
    X(MODE, "mode")                                                                                           \
    X(WAVE, "wave")                                                                                           \
    X(LANES, "lanes")                                                                                         \
    X(GROUP_X, "group_x")                                                                                     \
    X(GROUP_Y, "group_y")                                                                                     \
    X(GROUP_Z, "group_z")                                                                                     \
    X(LAUNCH, "launch")                                                                                       \
    X(COUNT, "count")
typedef enum debug_special {
#define X(id, name) DEBUG_##id,
    DEBUG_SPECIALS(X)
#undef X
        DEBUG_SPECIAL_COUNT
} debug_special;
const char *debug_special_name(debug_special special);

/* "$s4", "$s[4:5]", "$v3", "$v3[7]", "$v[2:3][7]", "$exec" */
typedef struct debug_register {
    debug_register_kind kind;
    uint32_t first, count; /* count: 1 or more; of a special its number and 1 */
    bool has_lane;
    uint32_t lane;
} debug_register;

/* Reads one from *at on, which begins with '$', and moves *at past it. */
ls_status debug_register_parse(const char **at, debug_register *out, ls_error *err);

typedef struct debug_scope {
    void *self;
    ls_status (*read)(void *self, const debug_register *from, uint64_t *out, ls_error *err);
    ls_status (*name)(void *self, const char *name, size_t bytes, uint64_t *out, ls_error *err);
    ls_status (*load)(void *self, uint64_t address, uint32_t bytes, uint64_t *out, ls_error *err);
} debug_scope;

/* Numbers (0x1f, 31), registers, names, ( ), ! ~ - *, and the binary operators of C without assignment. All values
 * have 64 bits without sign; *address loads 4 bytes. *end: where it stops to be an expression. */
ls_status debug_eval(const char *text, const debug_scope *scope, uint64_t *out, const char **end,
                     ls_error *err);

#endif
