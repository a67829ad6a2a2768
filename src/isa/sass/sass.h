/* sass.h: NVIDIA's instruction sets as traces show them: opcode text with modifiers, and the registers
 * that NVBit lists. Rows are in opcodes.def; look-ups happen once per static instruction. Also what
 * Accel-Sim makes of each opcode, for configurations that are imported from it. */
#ifndef SASS_SASS_H
#define SASS_SASS_H

#include "isa/inst.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>

/* --- generations ---------------------------------------------------------------------------------------- */

typedef enum sass_generation {
    LS_SASS_KEPLER,
    LS_SASS_MAXWELL, /* and Pascal */
    LS_SASS_VOLTA,
    LS_SASS_TURING,
    LS_SASS_AMPERE,
    LS_SASS_ADA,
    LS_SASS_HOPPER,
    LS_SASS_BLACKWELL,
    LS_SASS_GENERATION_COUNT
} sass_generation;

/* Of a binary version (sm_XX without "sm_"); false for an unknown version. */
bool sass_generation_of(uint32_t binary_version, sass_generation *out);
const char *sass_generation_name(sass_generation generation);

/* --- opcodes -------------------------------------------------------------------------------------------- */

#define LS_SASS_UNKNOWN UINT16_MAX /* ls_inst.opcode of an opcode that is not in the table */

size_t sass_opcode_count(void);
const char *sass_opcode_name(size_t row); /* "LDG"; "?" for a row that does not exist */
/* The row of the first word of an opcode; LS_SASS_UNKNOWN if there is none. */
uint16_t sass_opcode_find(const char *name, size_t bytes);
bool sass_opcode_listed(size_t row, sass_generation generation);

/* The classes of Accel-Sim's trace-driven front end, by its names in upper case without _OP or _OPS. */
typedef enum ls_accel_class {
    LS_ACCEL_NONE,
    LS_ACCEL_SP,
    LS_ACCEL_HALF, /* SP_OP with half of SP's initiation interval, but at least 1 */
    LS_ACCEL_DP,
    LS_ACCEL_INTP,
    LS_ACCEL_ALU,
    LS_ACCEL_SFU,
    LS_ACCEL_BRANCH,
    LS_ACCEL_CALL,
    LS_ACCEL_RET,
    LS_ACCEL_LOAD,
    LS_ACCEL_STORE,
    LS_ACCEL_BARRIER,
    LS_ACCEL_MEMBAR,
    LS_ACCEL_EXIT,
    LS_ACCEL_SPEC_1, /* SPECIALIZED_UNIT_1_OP: branches */
    LS_ACCEL_SPEC_2, /* textures */
    LS_ACCEL_SPEC_3, /* tensor cores */
    LS_ACCEL_SPEC_4, /* uniform datapath */
    LS_ACCEL_CLASS_COUNT
} ls_accel_class;

ls_accel_class sass_accel_class(size_t row, sass_generation generation);
/* The class whose unit and latency Accel-Sim gives to the instruction, where it is not the instruction's own:
 * S2UR, VOTEU and REDUX run in the uniform datapath, HMNMX2 is not packed. */
uint8_t sass_class_in_accelsim(const ls_inst *inst);
const char *accel_class_name(ls_accel_class c); /* "SP_OP", "SPECIALIZED_UNIT_3_OP", ... */

/* --- decoding ------------------------------------------------------------------------------------------- */

/* One line of a trace, without the parts that differ between executions. */
typedef struct sass_line {
    uint64_t pc;
    const char *opcode; /* "LDG.E.128.CONSTANT.SYS", not terminated */
    size_t opcode_bytes;
    const uint16_t *dsts, *srcs; /* LS_REG_* numbers, in the order of the line */
    uint32_t dst_count, src_count;
    uint32_t width; /* the line's own width field: 0 means that it has no addresses */
    int64_t imm, imm2;
    bool two_imms; /* imm2 stands in the line */
    bool commit;   /* of a warp-group matrix instruction: it closes a group */
} sass_line;

/* Fills *out. An opcode that is not in the table is LS_ERR_UNSUPPORTED with the nearest name, unless
 * unknown_as_alu is set: then it becomes an int_alu instruction marked LS_INST_UNKNOWN. More registers than an
 * ls_inst holds are LS_ERR_INPUT.
 *
 * width_bytes is the true width of one lane's access: .S8 is 1, .F64 is 8, and LDSM reads rows of 16 bytes.
 * accel_width_bytes follows Accel-Sim: the first dotted word that is all digits, or U and digits, is taken as
 * bits; without one it is 4. The two differ for S8, S16, F64, S64, packed types and LDSM. */
ls_status sass_decode(uint32_t binary_version, const sass_line *line, bool unknown_as_alu, ls_inst *out,
                      ls_error *err);

/* By the first word of an opcode: whether lines of it have the fields of bulk copies, a flag that closes a group
 * before their width, or are marks that no GPU executes (REPLAY_START and REPLAY_END). */
bool sass_is_bulk(const char *opcode, size_t bytes);
bool sass_has_commit(const char *opcode, size_t bytes);
bool sass_is_mark(const char *opcode, size_t bytes);
bool sass_opcode_is_mark(uint16_t row);
/* Operations on mbarriers, and BAR: their lines may have values of registers that matter to the machine. */
bool sass_has_operands(const char *opcode, size_t bytes);
/* Loads, stores and reductions of GPU scope: with values in its line, one is an operation on a semaphore (lockstep/stream.h).
 * Tracers write no values for them; generators do. */
bool sass_is_semaphore(const char *opcode, size_t bytes);

/* Floating-point operations of one lane, by the whole opcode (HMMA.16816.F32); 0: none, or a shape that is
 * not known. */
uint32_t sass_flops(const char *opcode, size_t bytes);

#endif
