/* sass.c: the opcode table: finding a row by name, which generation has it, and Accel-Sim's class of it. */
#include "isa/sass/table.h"

#include "base/text.h"

#include <string.h>
#include <threads.h>

/* ----------------------------------------------------------------------------------------------- the rows */

#define OP(name_, first_, last_, class_name_, op_, space_, regs_, accel_, flag_)                              \
    { .name = #name_,                                                                                         \
      .first = SASS_GEN_##first_,                                                                             \
      .last = SASS_GEN_##last_,                                                                               \
      .class_ = LS_CLASS_##class_name_,                                                                       \
      .mem_op = LS_MEM_##op_,                                                                                 \
      .space = LS_SPACE_##space_,                                                                             \
      .registers = SASS_REGS_##regs_,                                                                         \
      .accel = SASS_ACCEL_##accel_,                                                                           \
      .flags = SASS_FLAG_##flag_ },
static const sass_row rows[] = {
#include "isa/sass/opcodes.def"
};
#undef OP

#define ROW_COUNT (sizeof rows / sizeof *rows)

const sass_row *sass_row_at(size_t row)
{
    return row < ROW_COUNT ? &rows[row] : NULL;
}

size_t sass_opcode_count(void)
{
    return ROW_COUNT;
}

const char *sass_opcode_name(size_t row)
{
    return row < ROW_COUNT ? rows[row].name : "?";
}

bool sass_opcode_listed(size_t row, sass_generation generation)
{
    return row < ROW_COUNT && generation >= rows[row].first && generation <= rows[row].last;
}

/* ------------------------------------------------------------------------------------------------ look-up */

#define SLOT_COUNT 1024 /* a power of two, well above the number of rows */
_Static_assert(ROW_COUNT * 2 <= SLOT_COUNT, "make the hash table larger");

static uint16_t slots[SLOT_COUNT]; /* row + 1; 0: free */
static once_flag slots_once = ONCE_FLAG_INIT;

static uint32_t slot_of(const char *name, size_t bytes)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ hash >> 15) & (SLOT_COUNT - 1);
}

static void fill_slots(void)
{
    for (size_t row = 0; row < ROW_COUNT; row++) {
        uint32_t slot = slot_of(rows[row].name, strlen(rows[row].name));
        while (slots[slot])
            slot = (slot + 1) & (SLOT_COUNT - 1);
        slots[slot] = (uint16_t)(row + 1);
    }
}

uint16_t sass_opcode_find(const char *name, size_t bytes)
{
    call_once(&slots_once, fill_slots);
    for (uint32_t slot = slot_of(name, bytes); slots[slot]; slot = (slot + 1) & (SLOT_COUNT - 1)) {
        const char *row = rows[slots[slot] - 1].name;
        if (strncmp(row, name, bytes) == 0 && row[bytes] == '\0')
            return (uint16_t)(slots[slot] - 1);
    }
    return LS_SASS_UNKNOWN;
}

static const char *name_at(const void *self, size_t i)
{
    (void)self;
    return rows[i].name;
}

const char *sass_nearest(const char *name)
{
    return nearest_name(name, ROW_COUNT, name_at, NULL);
}

/* -------------------------------------------------------------------------------------- kinds of lines */

/* Whether the first dotted word of an opcode is one of these. */
static bool first_is(const char *opcode, size_t bytes, const char *const *names, size_t count)
{
    const char *dot = memchr(opcode, '.', bytes);
    size_t length = dot ? (size_t)(dot - opcode) : bytes;
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], opcode, length) == 0)
            return true;
    return false;
}

bool sass_is_bulk(const char *opcode, size_t bytes)
{
    static const char *const names[] = { "UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG",
                                         "UBLKCP",  "UBLKPF",  "UBLKRED" };
    return bytes > 0 && opcode[0] == 'U' && first_is(opcode, bytes, names, LS_COUNT_OF(names));
}

bool sass_has_commit(const char *opcode, size_t bytes)
{
    static const char *const names[] = { "HGMMA", "QGMMA", "IGMMA", "BGMMA" };
    return bytes > 4 && opcode[1] == 'G' && first_is(opcode, bytes, names, LS_COUNT_OF(names));
}

static const char *const marks[] = { "REPLAY_START", "REPLAY_END" };

bool sass_is_mark(const char *opcode, size_t bytes)
{
    return bytes > 0 && opcode[0] == 'R' && first_is(opcode, bytes, marks, LS_COUNT_OF(marks));
}

bool sass_opcode_is_mark(uint16_t row)
{
    const char *name = sass_opcode_name(row);
    return sass_is_mark(name, strlen(name));
}

bool sass_has_operands(const char *opcode, size_t bytes)
{
    static const char *const names[] = { "BAR", "SYNCS", "SYNCSU", "USYNCS", "ARRIVES" };
    return bytes > 0 && first_is(opcode, bytes, names, LS_COUNT_OF(names));
}

bool sass_is_semaphore(const char *opcode, size_t bytes)
{
    static const char *const names[] = { "LDG", "STG", "RED", "REDG" };
    static const char scope[] = ".STRONG.GPU";
    size_t length = sizeof scope - 1;
    return bytes > length && memcmp(opcode + bytes - length, scope, length) == 0 &&
           first_is(opcode, bytes, names, LS_COUNT_OF(names));
}

/* -------------------------------------------------------------------------------------------- generations */

bool sass_generation_of(uint32_t binary_version, sass_generation *out)
{
    static const struct {
        uint32_t first, last;
        sass_generation generation;
    } ranges[] = {
        { 30, 37, LS_SASS_KEPLER }, { 50, 62, LS_SASS_MAXWELL },     { 70, 72, LS_SASS_VOLTA },
        { 75, 75, LS_SASS_TURING }, { 80, 88, LS_SASS_AMPERE },      { 89, 89, LS_SASS_ADA },
        { 90, 90, LS_SASS_HOPPER }, { 100, 121, LS_SASS_BLACKWELL },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (binary_version >= ranges[i].first && binary_version <= ranges[i].last) {
            *out = ranges[i].generation;
            return true;
        }
    }
    return false;
}

const char *sass_generation_name(sass_generation generation)
{
    static const char *const names[LS_SASS_GENERATION_COUNT] = {
        "Kepler", "Maxwell and Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell",
    };
    return (unsigned)generation < LS_SASS_GENERATION_COUNT ? names[generation] : "?";
}

/* ---------------------------------------------------------------------------------------------- Accel-Sim */

ls_accel_class sass_accel_class(size_t row, sass_generation generation)
{
    bool kepler = generation == LS_SASS_KEPLER, old = generation <= LS_SASS_MAXWELL;
    bool volta = generation == LS_SASS_VOLTA;
    if (row >= ROW_COUNT)
        return LS_ACCEL_NONE;
    switch (rows[row].accel) {
    case SASS_ACCEL_BRA:
        return old ? LS_ACCEL_BRANCH : LS_ACCEL_SPEC_1;
    case SASS_ACCEL_CALL:
        return old ? LS_ACCEL_CALL : LS_ACCEL_SPEC_1;
    case SASS_ACCEL_RET:
        return old ? LS_ACCEL_RET : LS_ACCEL_SPEC_1;
    case SASS_ACCEL_FLOW:
        return kepler ? LS_ACCEL_RET : old ? LS_ACCEL_CALL : LS_ACCEL_SPEC_1;
    case SASS_ACCEL_SSY:
        return kepler ? LS_ACCEL_RET : old ? LS_ACCEL_BRANCH : LS_ACCEL_SPEC_1;
    case SASS_ACCEL_KILL:
        return old ? LS_ACCEL_BRANCH : volta ? LS_ACCEL_SPEC_1 : LS_ACCEL_SPEC_3;
    case SASS_ACCEL_TEX:
        return old ? LS_ACCEL_ALU : LS_ACCEL_SPEC_2;
    case SASS_ACCEL_IMMA:
        return old || volta ? LS_ACCEL_INTP : LS_ACCEL_SPEC_3;
    default:
        return (ls_accel_class)rows[row].accel;
    }
}

uint8_t sass_class_in_accelsim(const ls_inst *inst)
{
    switch (inst->class_) {
    case LS_CLASS_special_reg:
    case LS_CLASS_vote:
        return inst->accel_class == LS_ACCEL_SPEC_4 ? LS_CLASS_uniform : inst->class_;
    case LS_CLASS_half:
    case LS_CLASS_half_mul:
        return inst->accel_class == LS_ACCEL_SP ? LS_CLASS_fp32 : inst->class_;
    case LS_CLASS_int_mul:
        return inst->accel_class == LS_ACCEL_DP ? LS_CLASS_fp64 : inst->class_;
    case LS_CLASS_tensor_int:
        return inst->accel_class == LS_ACCEL_INTP ? LS_CLASS_int_alu : inst->class_;
    default:
        return inst->class_;
    }
}

const char *accel_class_name(ls_accel_class c)
{
    static const char *const names[LS_ACCEL_CLASS_COUNT] = {
        [LS_ACCEL_NONE] = "NO_OP",
        [LS_ACCEL_SP] = "SP_OP",
        [LS_ACCEL_HALF] = "SP_OP/2",
        [LS_ACCEL_DP] = "DP_OP",
        [LS_ACCEL_INTP] = "INTP_OP",
        [LS_ACCEL_ALU] = "ALU_OP",
        [LS_ACCEL_SFU] = "SFU_OP",
        [LS_ACCEL_BRANCH] = "BRANCH_OP",
        [LS_ACCEL_CALL] = "CALL_OPS",
        [LS_ACCEL_RET] = "RET_OPS",
        [LS_ACCEL_LOAD] = "LOAD_OP",
        [LS_ACCEL_STORE] = "STORE_OP",
        [LS_ACCEL_BARRIER] = "BARRIER_OP",
        [LS_ACCEL_MEMBAR] = "MEMORY_BARRIER_OP",
        [LS_ACCEL_EXIT] = "EXIT_OPS",
        [LS_ACCEL_SPEC_1] = "SPECIALIZED_UNIT_1_OP",
        [LS_ACCEL_SPEC_2] = "SPECIALIZED_UNIT_2_OP",
        [LS_ACCEL_SPEC_3] = "SPECIALIZED_UNIT_3_OP",
        [LS_ACCEL_SPEC_4] = "SPECIALIZED_UNIT_4_OP",
    };
    return (unsigned)c < LS_ACCEL_CLASS_COUNT ? names[c] : "?";
}
