/* tape_write.c: the tape of a wave as it executes. One pass, a few bytes of state per memory instruction;
 * touches the writer only. */
#include "isa/amd/exec/tape.h"

#include <stdlib.h>
#include <string.h>

#define RUN_MAX 0x7fffffffu

/* --- programs ------------------------------------------------------------------------------------------- */

static bool tape_accesses(const amd_inst *inst)
{
    switch (inst->format) {
    case AMD_SMEM:
    case AMD_DS:
    case AMD_MUBUF:
    case AMD_MTBUF:
    case AMD_MIMG:
    case AMD_FLAT:
    case AMD_GLOBAL:
    case AMD_SCRATCH:
        return true;
    default:
        return false;
    }
}

bool amd_tape_code_init(amd_tape_code *code, const amd_program *program)
{
    *code = (amd_tape_code){ .program = program };
    code->memory = malloc(((size_t)program->op_count + 1) * sizeof *code->memory);
    if (!code->memory)
        return false;
    code->memory[0] = AMD_TAPE_NO_MEMORY;
    for (uint32_t i = 1; i <= program->op_count; i++)
        code->memory[i] = tape_accesses(program->ops[i].inst) ? code->memory_count++ : AMD_TAPE_NO_MEMORY;
    return true;
}

void amd_tape_code_fini(amd_tape_code *code)
{
    free(code->memory);
    *code = (amd_tape_code){ 0 };
}

/* --- bytes ---------------------------------------------------------------------------------------------- */

static void tape_byte(amd_tape_writer *writer, unsigned stream, unsigned value)
{
    if (!vec_push(&writer->streams[stream], (uint8_t)value))
        writer->failed = true;
}

static void tape_fixed(amd_tape_writer *writer, unsigned stream, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        tape_byte(writer, stream, (unsigned)(value >> 8 * i & 0xff));
}

static bool tape_varint_to(amd_tape_bytes *out, uint64_t value)
{
    bool good = true;
    for (; value >= 0x80; value >>= 7)
        good = good && vec_push(out, (uint8_t)(value | 0x80));
    return good && vec_push(out, (uint8_t)value);
}

static void tape_varint(amd_tape_writer *writer, unsigned stream, uint64_t value)
{
    if (!tape_varint_to(&writer->streams[stream], value))
        writer->failed = true;
}

static void tape_signed(amd_tape_writer *writer, unsigned stream, uint64_t value)
{
    tape_varint(writer, stream, value >> 63 ? ~(value << 1) : value << 1);
}

/* --- the path and EXEC ---------------------------------------------------------------------------------- */

void amd_tape_writer_fini(amd_tape_writer *writer)
{
    for (unsigned i = 0; i < AMD_TAPE_STREAM_COUNT; i++)
        vec_fini(&writer->streams[i]);
    free(writer->memory);
    *writer = (amd_tape_writer){ 0 };
}

void amd_tape_begin(amd_tape_writer *writer, const amd_tape_code *code)
{
    for (unsigned i = 0; i < AMD_TAPE_STREAM_COUNT; i++)
        vec_clear(&writer->streams[i]);
    writer->code = code;
    writer->failed = false;
    if (code->memory_count > writer->memory_capacity) {
        free(writer->memory);
        writer->memory = malloc(code->memory_count * sizeof *writer->memory);
        writer->memory_capacity = writer->memory ? code->memory_count : 0;
        writer->failed = writer->memory == NULL;
    }
    if (writer->memory)
        memset(writer->memory, 0, writer->memory_capacity * sizeof *writer->memory);
    amd_tape_masks_init(&writer->masks, code->program->lanes);
    writer->exec = writer->masks.mask[0];
    writer->steps = writer->exec_since = 0;
    writer->run_count = 0;
    writer->run_end = 1;
    writer->last_base[0] = writer->last_base[1] = 0;
}

static void tape_flush_run(amd_tape_writer *writer)
{
    if (writer->run_count == 0)
        return;
    tape_signed(writer, AMD_TAPE_PATH, (uint64_t)writer->run_first - writer->run_end);
    tape_varint(writer, AMD_TAPE_PATH, writer->run_count - 1);
    writer->run_end = writer->run_first + writer->run_count;
    writer->run_count = 0;
}

static void tape_exec(amd_tape_writer *writer, uint64_t exec)
{
    unsigned known = 0;
    while (known < AMD_TAPE_MASK_COUNT && writer->masks.mask[known] != exec)
        known++;
    tape_varint(writer, AMD_TAPE_EXECS, writer->exec_since);
    tape_byte(writer, AMD_TAPE_EXECS, known);
    if (known == AMD_TAPE_MASK_COUNT) {
        tape_fixed(writer, AMD_TAPE_EXECS, exec, 8);
        amd_tape_masks_add(&writer->masks, exec);
    }
    writer->exec = exec;
    writer->exec_since = 0;
}

/* --- addresses ------------------------------------------------------------------------------------------ */

static bool tape_fits(const amd_tape_memory *m, uint64_t lanes, const uint64_t *address)
{
    unsigned first = (unsigned)__builtin_ctzll(lanes);
    uint64_t base = address[first] - amd_tape_grid(m, first);
    for (uint64_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (address[lane] != base + amd_tape_grid(m, lane))
            return false;
    }
    return true;
}

/* The step between two lanes if it is a whole number for each. */
static bool tape_stride(uint64_t from, uint64_t to, unsigned lanes, int64_t *out)
{
    int64_t difference = (int64_t)(to - from);
    *out = difference / (int64_t)lanes;
    return difference % (int64_t)lanes == 0;
}

/* Finds a grid for the addresses, rows of 2^log lanes; false if there is none. */
static bool tape_find_grid(amd_tape_memory *m, uint64_t lanes, const uint64_t *address)
{
    static const uint8_t logs[] = { AMD_TAPE_GRID_LINEAR, 4, 3, 5, 2, 1 };
    unsigned first = (unsigned)__builtin_ctzll(lanes);
    for (size_t i = 0; i < sizeof logs; i++) {
        unsigned log = logs[i], row = first >> log;
        int64_t x = 0, y = 0;
        bool has_x = false, has_y = false, good = true;
        for (uint64_t rest = lanes & (lanes - 1); rest && good && !(has_x && has_y); rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            if (!has_x && lane >> log == row) {
                good = tape_stride(address[first], address[lane], lane - first, &x);
                has_x = true;
            } else if (lane >> log != row) {
                /* The column is another one only if the first row has just one lane: no x to correct with. */
                uint64_t column = (lane & ((1u << log) - 1)) - (uint64_t)(first & ((1u << log) - 1));
                good =
                    tape_stride(address[first], address[lane] - (uint64_t)x * column, (lane >> log) - row, &y);
                has_y = true;
            }
        }
        m->x = x;
        m->y = y;
        m->log = (uint8_t)log;
        if (good && tape_fits(m, lanes, address))
            return true;
    }
    return false;
}

typedef struct tape_offsets {
    uint64_t base; /* the smallest address */
    unsigned width, shift;
} tape_offsets;

static tape_offsets tape_measure(uint64_t lanes, const uint64_t *address)
{
    tape_offsets o = { .base = UINT64_MAX };
    uint64_t any = 0, most = 0;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t a = address[__builtin_ctzll(rest)];
        o.base = a < o.base ? a : o.base;
    }
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t offset = address[__builtin_ctzll(rest)] - o.base;
        any |= offset;
        most = offset > most ? offset : most;
    }
    o.shift = any ? (unsigned)__builtin_ctzll(any) : 0;
    o.shift = o.shift < 15 ? o.shift : 15;
    most >>= o.shift;
    while (o.width < 3 && most >> (8u << o.width) != 0)
        o.width++;
    return o;
}

static void tape_list(amd_tape_writer *writer, uint64_t lanes, const uint64_t *address, const tape_offsets *o)
{
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
        tape_fixed(writer, AMD_TAPE_LISTS, (address[__builtin_ctzll(rest)] - o->base) >> o->shift,
                   1u << o->width);
}

/* Whether the last list, moved, says the same. */
static bool tape_same_list(const amd_tape_writer *writer, const amd_tape_list *list, uint64_t lanes,
                           const uint64_t *address, uint64_t base)
{
    if (list->lanes != lanes)
        return false;
    const uint8_t *at = writer->streams[AMD_TAPE_LISTS].at + list->at;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t offset = 0;
        for (unsigned i = 0; i < 1u << list->width; i++)
            offset |= (uint64_t)*at++ << 8 * i;
        if (address[__builtin_ctzll(rest)] != base + (offset << list->shift))
            return false;
    }
    return true;
}

/* The addresses of an access with private memory made relative. */
static const uint64_t *tape_relative(const amd_access *access, unsigned piece, const amd_group *group,
                                     uint64_t *scratch)
{
    if (access->space == AMD_SPACE_LDS || !group || group->scratch_bytes == 0)
        return access->address[piece];
    uint64_t bytes = (uint64_t)group->scratch_bytes * 1024; /* a work-group has at most 1024 lanes */
    bool any = false;
    for (uint64_t rest = access->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t offset = access->address[piece][lane] - group->scratch;
        any |= offset < bytes;
        scratch[lane] = offset < bytes ? offset | AMD_TAPE_PRIVATE : access->address[piece][lane];
    }
    return any ? scratch : access->address[piece];
}

/* --- one access ----------------------------------------------------------------------------------------- */

static uint64_t tape_pieces_lanes(const amd_access *access, unsigned piece)
{
    return access->lanes & ~access->absent[piece];
}

static void tape_masks(amd_tape_writer *writer, const amd_access *access, bool lanes_differ)
{
    unsigned which = (lanes_differ ? 1u : 0) | (access->zero ? 2u : 0) | (access->in_lds ? 4u : 0), absent = 0;
    for (unsigned p = 0; p < access->pieces; p++)
        absent |= access->absent[p] ? 1u << p : 0;
    tape_byte(writer, AMD_TAPE_OPS, which | (absent ? 8u : 0));
    const uint64_t masks[3] = { access->lanes, access->zero, access->in_lds };
    for (unsigned i = 0; i < 3; i++)
        if (which & 1u << i)
            tape_fixed(writer, AMD_TAPE_OPS, masks[i], 8);
    if (!absent)
        return;
    tape_byte(writer, AMD_TAPE_OPS, absent);
    for (unsigned p = 0; p < access->pieces; p++)
        if (absent & 1u << p)
            tape_fixed(writer, AMD_TAPE_OPS, access->absent[p], 8);
}

/* The distance of a piece from the first one, if it is the same for all lanes. */
static bool tape_distance(uint64_t first_lanes, uint64_t lanes, const uint64_t *first, const uint64_t *address,
                          uint64_t *out)
{
    *out = 0;
    if (lanes == 0)
        return true;
    if ((lanes & ~first_lanes) != 0)
        return false;
    *out = address[__builtin_ctzll(lanes)] - first[__builtin_ctzll(lanes)];
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
        if (address[__builtin_ctzll(rest)] - first[__builtin_ctzll(rest)] != *out)
            return false;
    return true;
}

/* Other pieces into the ops; returns whether all of them are at fixed distances. */
static bool tape_pieces(amd_tape_writer *writer, const amd_access *access, const amd_group *group,
                        const uint64_t *first, uint64_t base)
{
    bool fixed = true;
    for (unsigned p = 1; p < access->pieces; p++) {
        uint64_t scratch[64], distance, lanes = tape_pieces_lanes(access, p);
        const uint64_t *address = tape_relative(access, p, group, scratch);
        if (tape_distance(tape_pieces_lanes(access, 0), lanes, first, address, &distance)) {
            tape_byte(writer, AMD_TAPE_OPS, 0);
            tape_signed(writer, AMD_TAPE_OPS, distance);
            continue;
        }
        tape_offsets o = tape_measure(lanes, address);
        fixed = false;
        tape_byte(writer, AMD_TAPE_OPS, 1u | o.width << 1 | o.shift << 3);
        tape_signed(writer, AMD_TAPE_OPS, o.base - base);
        tape_list(writer, lanes, address, &o);
    }
    return fixed;
}

/* True if the pieces are the same as the last time; then they need not be written. */
static bool tape_settle_pieces(amd_tape_writer *writer, amd_tape_memory *m, const amd_access *access,
                               const amd_group *group, const uint64_t *first, uint64_t base)
{
    amd_tape_bytes *ops = &writer->streams[AMD_TAPE_OPS];
    size_t start = ops->count, lists = writer->streams[AMD_TAPE_LISTS].count;
    bool fixed = tape_pieces(writer, access, group, first, base);
    size_t bytes = ops->count - start;
    if (!writer->failed && fixed && m->has_pieces && m->pieces_at + bytes <= start &&
        memcmp(ops->at + m->pieces_at, ops->at + start, bytes) == 0) {
        ops->count = start;
        writer->streams[AMD_TAPE_LISTS].count = lists;
        return false;
    }
    m->has_pieces = fixed && start <= UINT32_MAX;
    m->pieces_at = (uint32_t)start;
    return true;
}

/* Where the lanes went; returns bits of the access's first byte. */
static unsigned tape_addresses(amd_tape_writer *writer, amd_tape_memory *m, const amd_access *access,
                               const amd_group *group)
{
    uint64_t lanes = tape_pieces_lanes(access, 0), scratch[64], *last, base, predicted;
    const uint64_t *address = tape_relative(access, 0, group, scratch);
    unsigned kind = AMD_TAPE_GRID, op = 0, first = lanes ? (unsigned)__builtin_ctzll(lanes) : 0;
    tape_offsets o = { 0 };
    last = &writer->last_base[access->space == AMD_SPACE_LDS];
    if (!m->placed)
        amd_tape_place(m, *last);
    base = predicted = m->base + m->step;
    amd_tape_memory grid = *m;
    if (lanes != 0 && tape_fits(m, lanes, address)) {
        base = address[first] - amd_tape_grid(m, first);
    } else if (lanes != 0 && tape_find_grid(&grid, lanes, address)) {
        kind = AMD_TAPE_NEW_GRID;
        base = address[first] - amd_tape_grid(&grid, first);
    } else if (lanes != 0) {
        o = tape_measure(lanes, address);
        base = o.base;
        kind = tape_same_list(writer, &m->list, lanes, address, base) ? AMD_TAPE_LIST : AMD_TAPE_NEW_LIST;
    }
    if (base != predicted) {
        op |= AMD_TAPE_BASE;
        tape_signed(writer, AMD_TAPE_OPS, base - predicted);
    }
    if (kind == AMD_TAPE_NEW_GRID) {
        m->x = grid.x;
        m->y = grid.y;
        m->log = grid.log;
        tape_byte(writer, AMD_TAPE_OPS, grid.log);
        tape_signed(writer, AMD_TAPE_OPS, (uint64_t)grid.x);
        tape_signed(writer, AMD_TAPE_OPS, (uint64_t)grid.y);
    } else if (kind == AMD_TAPE_NEW_LIST) {
        size_t at = writer->streams[AMD_TAPE_LISTS].count;
        m->list = (amd_tape_list){
            .lanes = lanes, .at = (uint32_t)at, .width = (uint8_t)o.width, .shift = (uint8_t)o.shift
        };
        writer->failed = writer->failed || at > UINT32_MAX;
        tape_byte(writer, AMD_TAPE_OPS, o.width | o.shift << 2);
        tape_list(writer, lanes, address, &o);
    }
    amd_tape_move(m, base);
    *last = base;
    if (access->pieces > 1 && tape_settle_pieces(writer, m, access, group, address, base))
        op |= AMD_TAPE_PIECES;
    return op | kind << AMD_TAPE_KIND_SHIFT;
}

static void tape_access(amd_tape_writer *writer, amd_tape_memory *m, const amd_access *access,
                        const amd_group *group)
{
    amd_tape_bytes *ops = &writer->streams[AMD_TAPE_OPS];
    size_t op_at = ops->count;
    unsigned op = 0;
    uint64_t expected = access->space == AMD_SPACE_SCALAR ? 1 : writer->exec;
    tape_byte(writer, AMD_TAPE_OPS, 0);
    uint8_t pieces = access->pieces <= AMD_PIECES_MAX ? access->pieces : 0;
    if (!m->shaped || m->kind != access->kind || m->space != access->space || m->pieces != pieces ||
        m->piece_bytes != access->piece_bytes || m->atomic != access->atomic ||
        m->returns != access->returns) {
        op |= AMD_TAPE_SHAPE;
        tape_byte(writer, AMD_TAPE_OPS,
                  access->kind | (unsigned)access->space << 3 | (access->returns ? 1u << 6 : 0));
        tape_byte(writer, AMD_TAPE_OPS, pieces);
        tape_byte(writer, AMD_TAPE_OPS, access->piece_bytes);
        tape_byte(writer, AMD_TAPE_OPS, access->atomic);
        m->kind = access->kind;
        m->space = access->space;
        m->pieces = pieces;
        m->piece_bytes = access->piece_bytes;
        m->atomic = access->atomic;
        m->returns = access->returns;
        m->shaped = true;
        m->has_pieces = false;
    }
    uint64_t others = access->zero | access->in_lds;
    for (unsigned p = 0; p < pieces; p++)
        others |= access->absent[p];
    if (access->lanes != expected || others != 0) {
        op |= AMD_TAPE_MASKS;
        tape_masks(writer, access, access->lanes != expected);
    }
    if (amd_tape_moves(access->kind) && access->lanes != 0 && pieces > 0)
        op |= tape_addresses(writer, m, access, group);
    if (!writer->failed)
        ops->at[op_at] = (uint8_t)op;
}

void amd_tape_put(amd_tape_writer *writer, uint64_t pc, uint64_t exec, const amd_access *access,
                  const amd_group *group)
{
    const amd_tape_code *code = writer->code;
    uint32_t number = amd_program_place(code->program, pc);
    if (number == 0 || writer->failed) {
        writer->failed = true;
        return;
    }
    if (writer->run_count > 0 &&
        (number != writer->run_first + writer->run_count || writer->run_count == RUN_MAX))
        tape_flush_run(writer);
    if (writer->run_count == 0)
        writer->run_first = number;
    writer->run_count++;
    if (exec != writer->exec)
        tape_exec(writer, exec);
    writer->exec_since++;
    writer->steps++;
    uint32_t memory = code->memory[number];
    if (memory == AMD_TAPE_NO_MEMORY)
        return;
    if (access)
        tape_access(writer, &writer->memory[memory], access, group);
    else
        writer->failed = true;
}

bool amd_tape_end(amd_tape_writer *writer, amd_tape_bytes *out)
{
    tape_flush_run(writer);
    bool good = !writer->failed && tape_varint_to(out, writer->steps);
    for (unsigned i = 0; i < AMD_TAPE_STREAM_COUNT && good; i++)
        good = tape_varint_to(out, writer->streams[i].count);
    for (unsigned i = 0; i < AMD_TAPE_STREAM_COUNT && good; i++) {
        const amd_tape_bytes *s = &writer->streams[i];
        good = vec_reserve(out, s->count);
        if (good && s->count > 0) {
            memcpy(out->at + out->count, s->at, s->count);
            out->count += s->count;
        }
    }
    return good;
}
