/* tape.h: the recording of one wavefront, without its data: the path through the program, changes of EXEC, and
 * addresses of memory instructions. The emulator or compute unit that runs a wave feeds the writer. The reader
 * replaces execution, so that a compute unit can run the same work again. Tapes are bytes in memory; other
 * folders write files. docs/trace-format.md describes the bytes. A tape holds no timing. */
#ifndef ISA_AMD_EXEC_TAPE_H
#define ISA_AMD_EXEC_TAPE_H

#include "base/vec.h"
#include "isa/amd/exec/memory.h"
#include "isa/amd/exec/program.h"

#define AMD_TAPE_NO_MEMORY UINT32_MAX
/* Bytes after a tape that must be readable; their values do not matter. A reader checks for the end only after
 * two numbers of up to 10 bytes each, and the first number may begin in the last byte. */
#define AMD_TAPE_SLACK 24

/* The numbering of a program in tapes: each instruction by its number in program->ops. Memory instructions
 * have a second number of their own. Immutable: threads share it. */
typedef struct amd_tape_code {
    const amd_program *program;
    uint32_t *memory; /* [op_count + 1]: number among the memory instructions, or AMD_TAPE_NO_MEMORY */
    uint32_t memory_count;
} amd_tape_code;
/* The program is borrowed. False without memory. */
bool amd_tape_code_init(amd_tape_code *code, const amd_program *program);
void amd_tape_code_fini(amd_tape_code *code);

/* --- what both sides remember --------------------------------------------------------------------------- */

/* Addresses in private memory are relative to the work-group's private memory, whose address differs between
 * runs. They have this bit set. */
#define AMD_TAPE_PRIVATE (UINT64_C(1) << 63)

enum {                            /* the first byte of an access */
       AMD_TAPE_SHAPE = 1u << 0,  /* four bytes: kind, space and returns; pieces; bytes of a piece; atomic */
       AMD_TAPE_MASKS = 1u << 1,  /* lanes are not EXEC (or lane 0 of a scalar access), or others are not 0 */
       AMD_TAPE_KIND_SHIFT = 2,   /* two bits, below */
       AMD_TAPE_BASE = 1u << 4,   /* the base is not the predicted one; the difference follows */
       AMD_TAPE_PIECES = 1u << 5, /* the distances of the other pieces follow; else they are as the last
                                   * time */
};
enum {                /* how the addresses of the first piece are encoded */
       AMD_TAPE_GRID, /* base + x * (lane mod 2^n) + y * (lane / 2^n), with the x, n, y of the last time */
       AMD_TAPE_NEW_GRID,
       AMD_TAPE_LIST, /* base + the offsets of the last list */
       AMD_TAPE_NEW_LIST,
};
#define AMD_TAPE_GRID_LINEAR 6u /* n: all lanes are one row */

/* A list of offsets: one per lane, 1 << width bytes each, to be shifted left. */
typedef struct amd_tape_list {
    uint64_t lanes; /* 0: none yet */
    uint32_t at;    /* in the lists */
    uint8_t width, shift;
} amd_tape_list;

/* The last execution of a memory instruction. */
typedef struct amd_tape_memory {
    uint64_t base, step; /* of the last execution, and the step that led to it */
    int64_t x, y;
    amd_tape_list list;
    uint32_t pieces_at; /* offset in the ops of the last description of other pieces that were all at fixed
                         * distances */
    uint8_t kind, space, pieces, piece_bytes, atomic, log, returns;
    bool shaped, placed, has_pieces; /* which members are valid: shape, base and grid, other pieces */
} amd_tape_memory;

static inline bool amd_tape_moves(unsigned kind)
{
    return kind == AMD_ACCESS_LOAD || kind == AMD_ACCESS_STORE || kind == AMD_ACCESS_ATOMIC;
}
/* The first time: near the last access of another instruction, all lanes at one address. */
static inline void amd_tape_place(amd_tape_memory *m, uint64_t base)
{
    m->base = base;
    m->step = 0;
    m->x = m->y = 0;
    m->log = AMD_TAPE_GRID_LINEAR;
    m->list.lanes = 0;
}
static inline void amd_tape_move(amd_tape_memory *m, uint64_t base)
{
    m->step = m->placed ? base - m->base : 0;
    m->base = base;
    m->placed = true;
}
static inline uint64_t amd_tape_grid(const amd_tape_memory *m, unsigned lane)
{
    return (uint64_t)m->x * (lane & ((1u << m->log) - 1)) + (uint64_t)m->y * (lane >> m->log);
}

/* Masks that are known: all lanes, no lane, then the last new ones in a ring. */
#define AMD_TAPE_MASK_COUNT 16
#define AMD_TAPE_MASK_FIXED 2
typedef struct amd_tape_masks {
    uint64_t mask[AMD_TAPE_MASK_COUNT];
    uint32_t next;
} amd_tape_masks;

static inline void amd_tape_masks_init(amd_tape_masks *masks, unsigned lanes)
{
    *masks =
        (amd_tape_masks){ .mask = { lanes == 64 ? UINT64_MAX : UINT32_MAX }, .next = AMD_TAPE_MASK_FIXED };
}
static inline void amd_tape_masks_add(amd_tape_masks *masks, uint64_t mask)
{
    masks->mask[masks->next] = mask;
    masks->next = masks->next + 1 < AMD_TAPE_MASK_COUNT ? masks->next + 1 : AMD_TAPE_MASK_FIXED;
}

enum {                 /* the streams of a wave's tape */
       AMD_TAPE_PATH,  /* runs of consecutive instructions */
       AMD_TAPE_EXECS, /* where EXEC changes */
       AMD_TAPE_OPS,   /* accesses */
       AMD_TAPE_LISTS, /* offsets of addresses */
       AMD_TAPE_STREAM_COUNT
};

typedef LS_VEC(uint8_t) amd_tape_bytes;

/* --- writing -------------------------------------------------------------------------------------------- */

/* The tape of one wave. All zero is valid. */
typedef struct amd_tape_writer {
    const amd_tape_code *code;
    amd_tape_bytes streams[AMD_TAPE_STREAM_COUNT];
    amd_tape_memory *memory;
    uint32_t memory_capacity;
    amd_tape_masks masks;
    uint64_t steps, exec, exec_since; /* steps since EXEC changed last */
    uint32_t run_first, run_count;    /* the run that is not written yet */
    uint32_t run_end;                 /* where the one before it ended */
    uint64_t last_base[2];            /* of any access; [1]: in LDS */
    bool failed;                      /* out of memory, or an instruction that the program does not have */
} amd_tape_writer;

void amd_tape_writer_fini(amd_tape_writer *writer);
/* Starts the tape of a new wave. */
void amd_tape_begin(amd_tape_writer *writer, const amd_tape_code *code);
/* The instruction at pc is about to execute with this EXEC. access: of instructions that access memory, as
 * amd_mem_address() gave it before the instruction executed. group: for the address of private memory. */
void amd_tape_put(amd_tape_writer *writer, uint64_t pc, uint64_t exec, const amd_access *access,
                  const amd_group *group);
/* Appends the tape with its length. False if something failed on the way. */
bool amd_tape_end(amd_tape_writer *writer, amd_tape_bytes *out);
/* Whether an instruction needs an access. */
static inline bool amd_tape_wants(const amd_tape_code *code, uint64_t pc)
{
    return code->memory[amd_program_place(code->program, pc)] != AMD_TAPE_NO_MEMORY;
}

/* --- reading -------------------------------------------------------------------------------------------- */

typedef struct amd_tape_stream {
    const uint8_t *at, *end;
} amd_tape_stream;

/* A reader: replays the instructions of one tape. Its position is an instruction, or the end after the last
 * one. */
typedef struct amd_tape {
    const amd_tape_code *code;
    amd_tape_stream path, execs, ops;
    const uint8_t *ops_start, *lists, *lists_at, *lists_end;
    amd_tape_memory *memory; /* [code->memory_count] */
    amd_tape_masks masks;
    uint64_t left;      /* instructions left, this one included; 0: at the end */
    uint32_t inst;      /* number of the instruction */
    uint32_t run_left;  /* instructions left in the run after it */
    uint64_t exec;      /* before it */
    uint64_t exec_left; /* steps until EXEC changes; UINT64_MAX: never */
    uint64_t exec_next; /* its value from then on */
    uint64_t last_base[2];
    struct {
        const uint8_t *ops, *lists;
        uint64_t last_base[2];
        amd_tape_memory memory;
    } before;    /* the access that was read last */
    bool took;   /* the access of this instruction was read */
    bool failed; /* the bytes are no tape of this program; the position is then the end */
} amd_tape;

/* A tape is read from *at on; *at is moved past it. `memory` has room for the code's memory_count entries;
 * they need no initial value. False: the bytes are no tape. AMD_TAPE_SLACK bytes after `end` must be
 * readable. */
bool amd_tape_open(amd_tape *tape, const amd_tape_code *code, amd_tape_memory *memory, const uint8_t **at,
                   const uint8_t *end);
/* The addresses of the instruction's access: the same as from amd_mem_address(), without data and texels. At
 * most once for each instruction; `access` may be NULL. private_base: of the work-group that runs now. False
 * if there is none. */
bool amd_tape_access(amd_tape *tape, uint64_t private_base, amd_access *access);
/* The access was read, but the instruction is not executed yet: it will be read again. */
void amd_tape_again(amd_tape *tape);
/* Goes to the next instruction. */
void amd_tape_step(amd_tape *tape);
/* At the end: true if all bytes were used and none was invalid. */
bool amd_tape_is_whole(const amd_tape *tape);

static inline uint64_t amd_tape_pc(const amd_tape *tape)
{
    const amd_step *op = &tape->code->program->ops[tape->inst];
    return op->next - op->inst->bytes;
}

/* Sets the wave's pc and EXEC to their values before this instruction. At the end of the tape the wave has
 * ended. Registers keep their values. */
void amd_tape_start(const amd_tape *tape, amd_wave *wave);

#endif
