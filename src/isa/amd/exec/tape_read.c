/* tape_read.c: a wave's tape, instruction by instruction. For any bytes, it reads only them and writes only
 * the reader. Bytes that cannot be a tape of this program end the tape and set its error mark. */
#include "isa/amd/exec/tape.h"

#include <stddef.h>
#include <string.h>

/* --- bytes ---------------------------------------------------------------------------------------------- */

/* Reads at most 10 bytes. Most of them may lie after the end; the caller checks that after two numbers. */
static inline uint64_t tape_varint(const uint8_t **p)
{
    const uint8_t *at = *p;
    uint64_t value = *at++;
    if (value & 0x80) {
        value &= 0x7f;
        for (unsigned shift = 7; shift < 64; shift += 7) {
            uint64_t byte = *at++;
            value |= (byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
    }
    *p = at;
    return value;
}

static inline uint64_t tape_signed(const uint8_t **p)
{
    uint64_t value = tape_varint(p);
    return value >> 1 ^ (0 - (value & 1));
}

static inline uint64_t tape_fixed(const uint8_t **p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)(*p)[i] << 8 * i;
    *p += bytes;
    return value;
}

static bool tape_fail(amd_tape *tape)
{
    tape->failed = true;
    tape->left = 0;
    return false;
}

/* --- the path and EXEC ---------------------------------------------------------------------------------- */

static bool tape_next_run(amd_tape *tape, uint64_t end)
{
    if (tape->path.at >= tape->path.end)
        return tape_fail(tape);
    uint64_t first = end + tape_signed(&tape->path.at), more = tape_varint(&tape->path.at);
    uint64_t count = tape->code->program->op_count;
    if (tape->path.at > tape->path.end || first == 0 || first > count || more > count - first)
        return tape_fail(tape);
    tape->inst = (uint32_t)first;
    tape->run_left = (uint32_t)more;
    return true;
}

/* Looks at the next change of EXEC. */
static void tape_next_exec(amd_tape *tape, bool is_first)
{
    tape->exec_left = UINT64_MAX;
    if (tape->execs.at >= tape->execs.end)
        return;
    uint64_t distance = tape_varint(&tape->execs.at);
    unsigned known = *tape->execs.at++;
    if (known == AMD_TAPE_MASK_COUNT && tape->execs.end - tape->execs.at >= 8) {
        tape->exec_next = tape_fixed(&tape->execs.at, 8);
        amd_tape_masks_add(&tape->masks, tape->exec_next);
    } else if (known < AMD_TAPE_MASK_COUNT) {
        tape->exec_next = tape->masks.mask[known];
    } else {
        tape_fail(tape);
    }
    if (tape->execs.at > tape->execs.end || (distance == 0 && !is_first) ||
        (tape->exec_next & ~tape->masks.mask[0]) != 0)
        tape_fail(tape);
    tape->exec_left = distance;
}

bool amd_tape_open(amd_tape *tape, const amd_tape_code *code, amd_tape_memory *memory, const uint8_t **at,
                   const uint8_t *end)
{
    uint64_t bytes[AMD_TAPE_STREAM_COUNT];
    *tape = (amd_tape){ .code = code, .memory = memory };
    if (*at >= end)
        return tape_fail(tape);
    uint64_t steps = tape_varint(at);
    for (unsigned i = 0; i < AMD_TAPE_STREAM_COUNT; i++) {
        if (*at >= end)
            return tape_fail(tape);
        bytes[i] = tape_varint(at);
    }
    const uint8_t *stream[AMD_TAPE_STREAM_COUNT + 1];
    stream[0] = *at;
    for (unsigned i = 0; i < AMD_TAPE_STREAM_COUNT; i++) {
        if (stream[i] > end || bytes[i] > (uint64_t)(end - stream[i]))
            return tape_fail(tape);
        stream[i + 1] = stream[i] + bytes[i];
    }
    *at = stream[AMD_TAPE_STREAM_COUNT];
    tape->path = (amd_tape_stream){ stream[AMD_TAPE_PATH], stream[AMD_TAPE_PATH + 1] };
    tape->execs = (amd_tape_stream){ stream[AMD_TAPE_EXECS], stream[AMD_TAPE_EXECS + 1] };
    tape->ops = (amd_tape_stream){ stream[AMD_TAPE_OPS], stream[AMD_TAPE_OPS + 1] };
    tape->ops_start = tape->ops.at;
    tape->lists = tape->lists_at = stream[AMD_TAPE_LISTS];
    tape->lists_end = stream[AMD_TAPE_LISTS + 1];
    if (code->memory_count > 0)
        memset(memory, 0, code->memory_count * sizeof *memory);
    amd_tape_masks_init(&tape->masks, code->program->lanes);
    tape->exec = tape->masks.mask[0];
    tape->left = steps;
    if (steps == 0)
        return true;
    if (!tape_next_run(tape, 1))
        return false;
    tape_next_exec(tape, true);
    if (tape->exec_left == 0) {
        tape->exec = tape->exec_next;
        tape_next_exec(tape, false);
    }
    return !tape->failed;
}

void amd_tape_step(amd_tape *tape)
{
    if (tape->left == 0)
        return;
    if (tape->code->memory[tape->inst] != AMD_TAPE_NO_MEMORY && !tape->took)
        amd_tape_access(tape, 0, NULL);
    if (tape->left == 0)
        return;
    tape->took = false;
    tape->left--;
    if (tape->left == 0)
        return;
    if (tape->run_left > 0) {
        tape->run_left--;
        tape->inst++;
    } else if (!tape_next_run(tape, (uint64_t)tape->inst + 1)) {
        return;
    }
    if (--tape->exec_left == 0) {
        tape->exec = tape->exec_next;
        tape_next_exec(tape, false);
    }
}

bool amd_tape_is_whole(const amd_tape *tape)
{
    return !tape->failed && tape->left == 0 && tape->run_left == 0 && tape->path.at == tape->path.end &&
           tape->execs.at == tape->execs.end && tape->ops.at == tape->ops.end &&
           tape->lists_at == tape->lists_end;
}

/* --- accesses ------------------------------------------------------------------------------------------- */

static bool tape_masks(amd_tape *tape, unsigned pieces, amd_access *out)
{
    if (tape->ops.at >= tape->ops.end)
        return false;
    unsigned which = *tape->ops.at++;
    uint64_t *const masks[3] = { &out->lanes, &out->zero, &out->in_lds };
    for (unsigned i = 0; i < 3; i++)
        if (which & 1u << i) {
            if (tape->ops.end - tape->ops.at < 8)
                return false;
            *masks[i] = tape_fixed(&tape->ops.at, 8);
        }
    if (!(which & 8u))
        return true;
    if (tape->ops.at >= tape->ops.end)
        return false;
    unsigned absent = *tape->ops.at++;
    for (unsigned p = 0; p < pieces; p++)
        if (absent & 1u << p) {
            if (tape->ops.end - tape->ops.at < 8)
                return false;
            out->absent[p] = tape_fixed(&tape->ops.at, 8);
        }
    return true;
}

/* Offsets from `at` on, one per lane; address may be NULL. Returns what any of the addresses has. */
static uint64_t tape_offsets(const uint8_t *at, unsigned width, unsigned shift, uint64_t base, uint64_t lanes,
                             uint64_t *address)
{
    uint64_t any = 0;
    for (; lanes && address; lanes &= lanes - 1) {
        uint64_t a = base + (tape_fixed(&at, 1u << width) << shift);
        address[__builtin_ctzll(lanes)] = a;
        any |= a;
    }
    return any;
}

/* The addresses of a grid. Those of lanes that take no part do not matter, so with many lanes all are
 * written. */
static void tape_grid(const amd_tape_memory *m, uint64_t base, uint64_t lanes, uint64_t *address)
{
    if (__builtin_popcountll(lanes) < 16) {
        for (; lanes; lanes &= lanes - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(lanes);
            address[lane] = base + amd_tape_grid(m, lane);
        }
        return;
    }
    unsigned row = 1u << m->log, all = lanes >> 32 ? 64 : 32;
    row = row < all ? row : all;
    for (unsigned lane = 0; lane < all; lane += row, base += (uint64_t)m->y)
        for (unsigned i = 0; i < row; i++)
            address[lane + i] = base + (uint64_t)m->x * i;
}

/* Takes a new list of the lists; NULL if it is not there. */
static const uint8_t *tape_take_list(amd_tape *tape, unsigned width, uint64_t lanes)
{
    uint64_t bytes = (uint64_t)__builtin_popcountll(lanes) << width;
    const uint8_t *at = tape->lists_at;
    if (bytes > (uint64_t)(tape->lists_end - at))
        return NULL;
    tape->lists_at += bytes;
    return at;
}

/* The other pieces, from the ops at *at on. */
static bool tape_pieces(amd_tape *tape, const uint8_t **at, bool again, const amd_access *head, uint64_t base,
                        amd_access *out, uint64_t *any)
{
    for (unsigned p = 1; p < head->pieces; p++) {
        uint64_t lanes = head->lanes & ~head->absent[p];
        if (*at >= tape->ops.end)
            return false;
        unsigned how = *(*at)++;
        uint64_t distance = tape_signed(at);
        if (*at > tape->ops.end)
            return false;
        if (how & 1u) {
            unsigned width = how >> 1 & 3, shift = how >> 3 & 15;
            const uint8_t *list = again ? NULL : tape_take_list(tape, width, lanes);
            if (!list)
                return false;
            *any |= tape_offsets(list, width, shift, base + distance, lanes, out ? out->address[p] : NULL);
            continue;
        }
        if (how != 0 || (lanes & head->absent[0]) != 0)
            return false;
        for (; lanes && out; lanes &= lanes - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(lanes);
            out->address[p][lane] = out->address[0][lane] + distance;
        }
    }
    return true;
}

static bool tape_addresses(amd_tape *tape, amd_tape_memory *m, unsigned op, const amd_access *head,
                           uint64_t private_base, amd_access *out)
{
    amd_tape_stream *ops = &tape->ops;
    uint64_t lanes = head->lanes & ~head->absent[0], any = 0;
    uint64_t *last = &tape->last_base[m->space == AMD_SPACE_LDS], *address = out ? out->address[0] : NULL;
    unsigned kind = op >> AMD_TAPE_KIND_SHIFT & 3;
    if (!m->placed)
        amd_tape_place(m, *last);
    uint64_t base = m->base + m->step;
    if (op & AMD_TAPE_BASE) {
        if (ops->at >= ops->end)
            return false;
        base += tape_signed(&ops->at);
    }
    if (kind == AMD_TAPE_NEW_GRID) {
        if (ops->end - ops->at < 3)
            return false;
        m->log = *ops->at++;
        m->x = (int64_t)tape_signed(&ops->at);
        if (m->log < 1 || m->log > AMD_TAPE_GRID_LINEAR || ops->at >= ops->end)
            return false;
        m->y = (int64_t)tape_signed(&ops->at);
    } else if (kind == AMD_TAPE_NEW_LIST) {
        if (ops->at >= ops->end)
            return false;
        unsigned how = *ops->at++;
        const uint8_t *list = tape_take_list(tape, how & 3, lanes);
        if (!list || how >> 6 != 0 || (uint64_t)(list - tape->lists) > UINT32_MAX)
            return false;
        m->list = (amd_tape_list){ .lanes = lanes,
                                   .at = (uint32_t)(list - tape->lists),
                                   .width = how & 3,
                                   .shift = (uint8_t)(how >> 2) };
    } else if (kind == AMD_TAPE_LIST && (m->list.lanes != lanes || lanes == 0)) {
        return false;
    }
    if (ops->at > ops->end)
        return false;
    if (kind >= AMD_TAPE_LIST) {
        any |= tape_offsets(tape->lists + m->list.at, m->list.width, m->list.shift, base, lanes, address);
    } else if (address) {
        any |= lanes ? base + amd_tape_grid(m, (unsigned)__builtin_ctzll(lanes)) : 0;
        tape_grid(m, base, lanes, address);
    }
    amd_tape_move(m, base);
    *last = base;
    if (head->pieces > 1) {
        const uint8_t *again = tape->ops_start + m->pieces_at;
        bool is_new = (op & AMD_TAPE_PIECES) != 0;
        uint64_t at = (uint64_t)(ops->at - tape->ops_start);
        if (!is_new && !m->has_pieces)
            return false;
        if (!tape_pieces(tape, is_new ? &ops->at : &again, !is_new, head, base, out, &any))
            return false;
        if (is_new) {
            m->has_pieces = at <= UINT32_MAX;
            m->pieces_at = (uint32_t)at;
        }
    }
    if (!out || !(any & AMD_TAPE_PRIVATE))
        return true;
    for (unsigned p = 0; p < head->pieces; p++)
        for (uint64_t rest = head->lanes & ~head->absent[p]; rest; rest &= rest - 1) {
            uint64_t *a = &out->address[p][__builtin_ctzll(rest)];
            *a = *a & AMD_TAPE_PRIVATE ? private_base + (*a & ~AMD_TAPE_PRIVATE) : *a;
        }
    return true;
}

static bool tape_shape(amd_tape *tape, amd_tape_memory *m)
{
    if (tape->ops.end - tape->ops.at < 4)
        return false;
    const uint8_t *at = tape->ops.at;
    m->kind = at[0] & 7;
    m->space = at[0] >> 3 & 7;
    m->returns = at[0] >> 6 & 1;
    m->pieces = at[1];
    m->piece_bytes = at[2];
    m->atomic = at[3];
    m->shaped = true;
    m->has_pieces = false;
    tape->ops.at += 4;
    return m->kind <= AMD_ACCESS_EXCHANGE && m->space <= AMD_SPACE_FLAT && m->pieces <= AMD_PIECES_MAX &&
           m->atomic < AMD_ATOMIC_COUNT && m->piece_bytes <= 64;
}

bool amd_tape_access(amd_tape *tape, uint64_t private_base, amd_access *access)
{
    uint32_t number = tape->left > 0 ? tape->code->memory[tape->inst] : AMD_TAPE_NO_MEMORY;
    if (number == AMD_TAPE_NO_MEMORY || tape->took)
        return false;
    tape->took = true;
    amd_tape_memory *m = &tape->memory[number];
    tape->before.ops = tape->ops.at;
    tape->before.lists = tape->lists_at;
    tape->before.last_base[0] = tape->last_base[0];
    tape->before.last_base[1] = tape->last_base[1];
    tape->before.memory = *m;
    if (tape->ops.at >= tape->ops.end)
        return tape_fail(tape);
    unsigned op = *tape->ops.at++;
    if ((op & AMD_TAPE_SHAPE ? !tape_shape(tape, m) : !m->shaped) || op >> 6 != 0)
        return tape_fail(tape);
    amd_access own;
    amd_access *head = access;
    if (!head)
        head = &own;
    memset(head, 0, offsetof(amd_access, address));
    head->kind = m->kind;
    head->space = m->space;
    head->pieces = m->pieces;
    head->piece_bytes = m->piece_bytes;
    head->atomic = m->atomic;
    head->returns = m->returns != 0;
    head->lanes = m->space == AMD_SPACE_SCALAR ? 1 : tape->exec;
    if ((op & AMD_TAPE_MASKS) && !tape_masks(tape, m->pieces, head))
        return tape_fail(tape);
    if ((head->lanes & ~tape->masks.mask[0]) != 0)
        return tape_fail(tape);
    if (amd_tape_moves(m->kind) && head->lanes != 0 && m->pieces > 0) {
        if (!tape_addresses(tape, m, op, head, private_base, access))
            return tape_fail(tape);
    } else if (op & ~((unsigned)AMD_TAPE_SHAPE | AMD_TAPE_MASKS)) {
        return tape_fail(tape);
    }
    return tape->ops.at <= tape->ops.end || tape_fail(tape);
}

void amd_tape_again(amd_tape *tape)
{
    if (!tape->took || tape->left == 0)
        return;
    tape->ops.at = tape->before.ops;
    tape->lists_at = tape->before.lists;
    tape->last_base[0] = tape->before.last_base[0];
    tape->last_base[1] = tape->before.last_base[1];
    tape->memory[tape->code->memory[tape->inst]] = tape->before.memory;
    tape->took = false;
}

/* --- in place of execution ------------------------------------------------------------------------------ */

void amd_tape_start(const amd_tape *tape, amd_wave *wave)
{
    wave->stop = tape->left == 0 ? AMD_ENDED : AMD_RUNNING;
    if (tape->left > 0)
        wave->pc = amd_tape_pc(tape);
    memcpy(&wave->sgpr[AMD_EXEC_LO], &tape->exec, sizeof tape->exec);
}
