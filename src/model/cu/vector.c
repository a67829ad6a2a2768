/* vector.c: vector memory. The lanes of an instruction become messages of one line each when it is issued.
 * They leave in order, a limited number per cycle, after the depth of the path. Replies are scattered to the
 * lanes' registers. */
#include "model/cu/cu.h"
#include "model/cu/wave_rules.h"

#define VECTOR_ACCESS_BITS 12 /* of a token; the rest is the number of the line */

static const amd_access *vector_head(const cu_access *a)
{
    return (const amd_access *)(const void *)a->head; /* only what stands before the addresses */
}

/* --- lanes become lines --------------------------------------------------------------------------------- */

typedef struct vector_table {
    uint16_t place[256]; /* by hash of the line: its number + 1 */
} vector_table;

static cu_line *vector_find(cu_access *a, vector_table *table, uint64_t line)
{
    unsigned at = (unsigned)((line ^ line >> 8 ^ line >> 16) & 255);
    for (;; at = (at + 1) & 255) {
        if (table->place[at] == 0)
            break;
        cu_line *found = &a->lines[table->place[at] - 1];
        if (found->address == line)
            return found;
    }
    cu_line *made = &a->lines[a->line_count++];
    *made = (cu_line){ .address = line, .next = INDEX_NONE_16 };
    if (a->line_count <
        256) /* a table that is full finds nothing: large accesses then send a line more than once */
        table->place[at] = a->line_count;
    return made;
}

/* All lanes in sequence without a gap, as in most programs. */
static bool vector_linear(const amd_access *s, unsigned lanes)
{
    uint64_t all = lanes == 64 ? UINT64_MAX : UINT32_MAX;
    if (s->pieces != 1 || s->lanes != all || s->in_lds != 0 || s->absent[0] != 0 || (s->piece_bytes & 3) != 0)
        return false;
    uint64_t base = s->address[0][0], step = s->piece_bytes, wrong = 0;
    if (s->address[0][lanes - 1] - base != (lanes - 1) * step)
        return false;
    for (unsigned lane = 1; lane < lanes; lane++)
        wrong |= s->address[0][lane] - base - lane * step;
    return wrong == 0;
}

/* Bytes that the lanes ask for, outside of LDS. Most accesses are linear: they count no lanes. */
static inline uint64_t vector_bytes(const cu_access *a, const amd_access *s, unsigned lanes)
{
    if (a->linear)
        return (uint64_t)lanes * s->piece_bytes;
    return (uint64_t)__builtin_popcountll(s->lanes & ~s->in_lds) * s->pieces * s->piece_bytes;
}

static void vector_lines_linear(const cu *c, cu_access *a, const amd_access *s, unsigned lanes)
{
    uint64_t base = s->address[0][0], end = base + (uint64_t)lanes * s->piece_bytes;
    a->linear = true;
    for (uint64_t line = base & ~(uint64_t)(c->line_bytes - 1); line < end; line += c->line_bytes) {
        unsigned first = line > base ? (unsigned)((line - base) / s->piece_bytes) : 0;
        a->lines[a->line_count++] =
            (cu_line){ .address = line, .lanes = 1ull << first, .next = INDEX_NONE_16 };
    }
}

static void vector_lines(const cu *c, cu_access *a, const amd_access *s)
{
    vector_table table = { 0 };
    uint64_t bytes = s->piece_bytes, mask = ~(uint64_t)(c->line_bytes - 1);
    bool dense = s->pieces == 1 && !a->large && (bytes & 3) == 0;
    cu_line *current = NULL;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = s->lanes & ~s->in_lds & ~s->absent[piece]; left != 0;) {
            unsigned lane = (unsigned)__builtin_ctzll(left), count = 1;
            const uint64_t *address = &s->address[piece][lane];
            uint64_t line = address[0] & mask, last = (address[0] + bytes - 1) & mask;
            uint64_t next = address[0] + bytes, end = line + c->line_bytes - bytes; /* of a run in the line */
            uint64_t more = left >> lane >> 1;
            for (; (more & 1) != 0 && next <= end && address[count] == next; more >>= 1, next += bytes)
                count++;
            uint64_t lanes = UINT64_MAX >> (64 - count) << lane;
            left &= ~lanes;
            a->straddle |= line != last;
            for (;; line += c->line_bytes) {
                if (!current || current->address != line)
                    current = vector_find(a, &table, line);
                current->dense = dense && current->lanes == 0 && line == last && !a->straddle;
                current->lanes |= lanes;
                if (line == last)
                    break;
            }
        }
}

/* Each address at most once in a message: lanes of one address go in messages of their own, in the order
 * of the lanes. A compare-and-swap fills half a line. */
static void vector_lines_atomic(const cu *c, cu_access *a, const amd_access *s)
{
    vector_table table = { 0 };
    bool pair = s->atomic == AMD_ATOMIC_CMPSWAP || s->atomic == AMD_ATOMIC_FCMPSWAP;
    uint64_t unit = pair && c->line_bytes > 64 ? 64 : c->line_bytes;
    for (uint64_t left = s->lanes & ~s->in_lds & ~s->absent[0]; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t address = s->address[0][lane], line = address & ~(unit - 1);
        uint32_t words = (s->piece_bytes == 8 ? 3u : 1u) << (address - line) / 4;
        cu_line *found = vector_find(a, &table, line);
        while ((found->words & words) != 0 && found->next != INDEX_NONE_16)
            found = &a->lines[found->next];
        if ((found->words & words) != 0) {
            found->next = a->line_count;
            found = &a->lines[a->line_count++];
            *found = (cu_line){ .address = line, .next = INDEX_NONE_16 };
        }
        found->words |= words;
        found->lanes |= 1ull << lane;
    }
    for (unsigned i = 0; i < a->line_count; i++) {
        uint64_t line = a->lines[i].address & ~(uint64_t)(c->line_bytes - 1);
        a->lines[i].half = pair && a->lines[i].address != line;
        a->lines[i].address = line;
    }
}

/* An absent component reads 0. */
static void vector_absent(cu_access *a, const amd_access *s)
{
    unsigned dwords = (s->piece_bytes + 3u) / 4;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = s->lanes & s->absent[piece]; left != 0; left &= left - 1)
            memset(a->data + (unsigned)__builtin_ctzll(left) * a->stride + piece * dwords, 0, dwords * 4);
}

/* --- issue ---------------------------------------------------------------------------------------------- */

/* lane_bytes: that each lane moves; 0: none. */
static void vector_queue(cu *c, cu_access *a, unsigned lane_bytes, ls_cycle now)
{
    cu_pipe *pipe = &c->pipes[a->pipe];
    a->start = now + c->spec->vector_pipe_cycles;
    index_list_append(&pipe->queue, INDEX_LINKS(c->accesses, next), (uint32_t)(a - c->accesses));
    pipe->count++;
    if (!pipe->refused)
        c->sending |= 1u << a->pipe;
    uint64_t lanes = c->waves[a->wave].arch.lanes, width = c->spec->address_lanes;
    uint64_t cycles = (lanes + width - 1) / width, path = c->spec->path_bytes;
    if (path != 0 && lanes * lane_bytes > cycles * path)
        cycles = (lanes * lane_bytes + path - 1) / path;
    pipe->free = now + cycles;
}

bool cu_vector_issue(cu *c, cu_wave *w, ls_cycle now)
{
    cu_pipe *pipe = &c->pipes[w->pipe];
    const cu_inst *inst = w->head;
    if (pipe->count >= c->spec->vector_queue || !cu_access_free(c, false)) {
        pipe->full = true;
        return false;
    }
    amd_access *s = &c->scratch;
    if (inst->what >= CU_CACHE) {
        cu_access *a = cu_access_take(c, w, inst, false, now);
        w->arch.pc = inst->next;
        a->invalidate = true;
        a->lines[0] = (cu_line){ .next = INDEX_NONE_16 };
        a->line_count = 1;
        if (LS_UNLIKELY(w->observed))
            cu_observe_forget(c, w, inst);
        if (LS_UNLIKELY(w->group->counts != NULL))
            cu_counts_lines(c, w, inst, a->line_count, 0);
        vector_queue(c, a, 0, now);
        return true;
    }
    if (!cu_source_address(w, s, now) || rules_misaligned(&w->arch, s)) {
        cu_group_fault(c, w, inst->next - inst->bytes, now);
        return true;
    }
    bool large = s->pieces != 1 || s->piece_bytes > 16 || inst->inst->format == AMD_MIMG;
    if (large && !cu_access_free(c, true)) {
        w->arch.pc = inst->next - inst->bytes;
        cu_source_again(w);
        pipe->full = true;
        return false;
    }
    cu_access *a = cu_access_take(c, w, inst, large, now);
    if (s->in_lds != 0)
        cu_source_lds_part(c, w, s->in_lds);
    cu_access_keep(c, w, a, true);
    if (s->kind == AMD_ACCESS_ATOMIC)
        vector_lines_atomic(c, a, s);
    else if (s->kind == AMD_ACCESS_LOAD || s->kind == AMD_ACCESS_STORE) {
        if (s->kind == AMD_ACCESS_LOAD)
            vector_absent(a, s);
        if (!large && vector_linear(s, w->arch.lanes))
            vector_lines_linear(c, a, s, w->arch.lanes);
        else
            vector_lines(c, a, s);
    }
    c->counters.vector_accesses += a->line_count != 0;
    if (LS_UNLIKELY(w->observed))
        cu_observe_issue(c, w, inst, (uint32_t)(a - c->accesses));
    c->counters.vector_bytes += vector_bytes(a, s, w->arch.lanes);
    if (LS_UNLIKELY(w->group->counts != NULL))
        cu_counts_lines(c, w, inst, a->line_count, vector_bytes(a, s, w->arch.lanes));
    vector_queue(c, a, s->pieces * s->piece_bytes, now);
    return true;
}

/* --- requests ------------------------------------------------------------------------------------------- */

/* Calls `move` for the bytes that lanes and line have in common: at offset `in_line`, at byte `in_data` of
 * the lane. */
typedef void (*vector_move)(ls_line_message *m, uint8_t *data, unsigned in_line, unsigned bytes);

static void vector_put(ls_line_message *m, uint8_t *data, unsigned in_line, unsigned bytes)
{
    memcpy(m->data + in_line, data, bytes);
    uint64_t bits = (1ull << bytes) - 1; /* 16 at most */
    m->mask[in_line / 64] |= bits << in_line % 64;
    if (in_line < 64 && in_line + bytes > 64)
        m->mask[1] |= bits >> (64 - in_line);
}

static void vector_get(ls_line_message *m, uint8_t *data, unsigned in_line, unsigned bytes)
{
    if (bytes == 4)
        memcpy(data, m->data + in_line, 4);
    else
        memcpy(data, m->data + in_line, bytes);
}

static inline void vector_each(const cu *c, cu_access *a, const cu_line *l, ls_line_message *m,
                               vector_move move)
{
    const amd_access *head = vector_head(a);
    unsigned bytes = head->piece_bytes, dwords = (bytes + 3) / 4;
    for (unsigned piece = 0; piece < head->pieces; piece++)
        for (uint64_t left = l->lanes & ~head->absent[piece]; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            uint64_t in_line = a->address[piece * 64 + lane] - l->address;
            uint8_t *data = (uint8_t *)(a->data + lane * a->stride + piece * dwords);
            if (in_line < c->line_bytes) {
                uint64_t room = c->line_bytes - in_line; /* its end may be in the next line */
                move(m, data, (unsigned)in_line, bytes < room ? bytes : (unsigned)room);
            } else if (in_line + bytes < bytes) { /* its beginning was in the line before */
                unsigned skip = (unsigned)(0 - in_line);
                move(m, data + skip, 0, bytes - skip);
            }
        }
}

/* The part of a linear access that lies in the line: from which byte of either, and how many. */
static unsigned vector_overlap(const cu *c, const cu_access *a, const cu_line *l, unsigned *in_line,
                               unsigned *in_data)
{
    uint64_t base = a->address[0];
    uint64_t end = base + (uint64_t)c->waves[a->wave].arch.lanes * vector_head(a)->piece_bytes;
    uint64_t from = l->address > base ? l->address : base;
    uint64_t to = l->address + c->line_bytes < end ? l->address + c->line_bytes : end;
    *in_line = (unsigned)(from - l->address);
    *in_data = (unsigned)(from - base);
    return (unsigned)(to - from);
}

/* The same of lanes that are dense in the line. */
static unsigned vector_dense(const cu_access *a, const cu_line *l, unsigned *in_line, unsigned *in_data)
{
    unsigned first = (unsigned)__builtin_ctzll(l->lanes), end = 64 - (unsigned)__builtin_clzll(l->lanes);
    unsigned bytes = vector_head(a)->piece_bytes;
    *in_line = (unsigned)(a->address[first] - l->address);
    *in_data = first * bytes;
    return (end - first) * bytes;
}

static uint64_t vector_bits(unsigned from, unsigned bytes)
{
    return bytes == 0 ? 0 : UINT64_MAX >> (64 - bytes) << from;
}

static void vector_fill_linear(const cu *c, cu_access *a, const cu_line *l, ls_line_message *m, bool store)
{
    unsigned in_line, in_data,
        bytes =
            a->linear ? vector_overlap(c, a, l, &in_line, &in_data) : vector_dense(a, l, &in_line, &in_data);
    unsigned low = in_line >= 64 ? 0 : in_line + bytes > 64 ? 64 - in_line : bytes;
    m->mask[0] = vector_bits(in_line, low);
    m->mask[1] = vector_bits(in_line > 64 ? in_line - 64 : 0, bytes - low);
    if (store)
        memcpy(m->data + in_line, (const uint8_t *)a->data + in_data, bytes);
}

static void vector_fill_atomic(cu_access *a, const cu_line *l, ls_line_message *m)
{
    const amd_access *head = vector_head(a);
    unsigned bytes = head->piece_bytes;
    bool pair = head->atomic == AMD_ATOMIC_CMPSWAP || head->atomic == AMD_ATOMIC_FCMPSWAP;
    m->kind = LS_LINE_ATOMIC;
    m->atomic = head->atomic;
    m->atomic_bytes = (uint8_t)bytes;
    m->half = l->half;
    if (head->returns)
        m->flags |= LS_LINE_RETURN;
    for (uint64_t left = l->lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned at = (unsigned)(a->address[lane] - l->address);
        const uint8_t *data = (const uint8_t *)(a->data + lane * a->stride);
        m->mask[at / 64] |= ((1ull << bytes) - 1) << at % 64;
        unsigned in_data = pair ? at & 63 : at;
        memcpy(m->data + in_data, data, bytes);
        if (pair)
            memcpy(m->data + 64 + in_data, data + bytes, bytes);
    }
}

static void vector_message(const cu *c, cu_access *a, unsigned number, ls_line_message *m)
{
    const cu_line *l = &a->lines[number];
    const amd_access *head = vector_head(a);
    uint32_t flags = a->inst->inst->flags;
    m->address = l->address;
    m->mask[0] = m->mask[1] = 0;
    m->token = (uint32_t)(a - c->accesses) | number << VECTOR_ACCESS_BITS;
    m->flags = (uint16_t)(((flags & (AMD_GLC | AMD_SCOPE)) ? LS_LINE_GLC : 0u) |
                          ((flags & AMD_SLC) ? LS_LINE_SLC : 0u) |
                          ((flags & (AMD_DLC | AMD_SCOPE)) ? LS_LINE_DLC : 0u));
    m->atomic = 0;
    if (a->invalidate) {
        bool flushes = a->inst->what == CU_WRITE_BACK;
        m->kind = flushes ? LS_LINE_FLUSH : LS_LINE_INVALIDATE;
        m->atomic = flushes ? 1 : a->inst->limit[CU_VM]; /* levels below */
        return;
    }
    if (head->kind == AMD_ACCESS_ATOMIC) {
        vector_fill_atomic(a, l, m);
        return;
    }
    m->kind = head->kind == AMD_ACCESS_STORE ? LS_LINE_WRITE : LS_LINE_READ;
    if (a->linear)
        vector_fill_linear(c, a, l, m, m->kind == LS_LINE_WRITE);
    else if (m->kind == LS_LINE_WRITE && l->dense)
        vector_fill_linear(c, a, l, m, true);
    else if (m->kind == LS_LINE_WRITE)
        vector_each(c, a, l, m, vector_put);
    else
        m->mask[0] = m->mask[1] = UINT64_MAX;
}

/* All of its lines have left: the next instruction follows. */
static void vector_pop(cu *c, cu_pipe *pipe, const cu_access *a, ls_cycle now)
{
    (void)index_list_pop(&pipe->queue, INDEX_LINKS(c->accesses, next));
    if (--pipe->count == 0)
        c->sending &= ~(1u << a->pipe);
    if (pipe->full)
        cu_path_free(c, a->pipe, now);
}

static void vector_done(cu *c, cu_access *a, ls_cycle now)
{
    if (c->spec->vector_return_cycles != 0 && a->line_count != 0)
        cu_access_ends_at(c, a, now + c->spec->vector_return_cycles, now);
    else
        cu_access_complete(c, a, now);
}

bool cu_vector_send(cu *c, unsigned p, ls_cycle now)
{
    cu_pipe *pipe = &c->pipes[p];
    ls_line_message *m = &c->message;
    for (uint64_t i = 0; i < c->spec->lines_per_cycle && pipe->count != 0; i++) {
        cu_access *a = &c->accesses[pipe->queue.first];
        if (a->start > now)
            return false;
        if (a->sent < a->line_count) {
            vector_message(c, a, a->sent, m);
            m->born = (uint32_t)now;
            if (!cu_request(c, &c->wires.vector[p], m, (cu_path)(CU_PATH_VECTOR + p), now)) {
                c->counters.vector_refused++;
                pipe->refused = true;
                c->sending &= ~(1u << p);
                return false;
            }
            c->counters.vector_lines++;
            a->sent++;
        }
        if (a->sent == a->line_count) {
            vector_pop(c, pipe, a, now);
            if (a->back == a->line_count)
                vector_done(c, a, now);
        }
    }
    return pipe->count != 0;
}

/* --- replies -------------------------------------------------------------------------------------------- */

static void vector_fault(cu *c, cu_access *a, const cu_line *l, const ls_line_message *m, ls_cycle now)
{
    cu_wave *w = &c->waves[a->wave];
    if (w->group->dead)
        return;
    const amd_access *head = vector_head(a);
    unsigned lane = (unsigned)__builtin_ctzll(l->lanes);
    uint64_t address = a->linear ? a->address[0] + (uint64_t)lane * head->piece_bytes : a->address[lane];
    bool mapped = (m->flags & LS_LINE_READ_ONLY) != 0;
    w->arch.fault = (ls_fault){ .kind = mapped ? LS_FAULT_READ_ONLY : LS_FAULT_UNMAPPED,
                                .lane = (uint8_t)lane,
                                .bytes = head->piece_bytes,
                                .write = head->kind != AMD_ACCESS_LOAD,
                                .address = address };
    w->arch.stop = AMD_FAULTED;
    cu_group_fault(c, w, a->inst->next - a->inst->bytes, now);
}

static void vector_old_values(cu_access *a, const cu_line *l, const ls_line_message *m)
{
    const amd_access *head = vector_head(a);
    bool pair = head->atomic == AMD_ATOMIC_CMPSWAP || head->atomic == AMD_ATOMIC_FCMPSWAP;
    for (uint64_t left = l->lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned at = (unsigned)(a->address[lane] - l->address);
        memcpy(a->data + lane * a->stride, m->data + (pair ? at & 63 : at), head->piece_bytes);
    }
}

static void vector_reply(cu *c, const ls_line_message *m, ls_cycle now)
{
    cu_access *a = &c->accesses[m->token & ((1u << VECTOR_ACCESS_BITS) - 1)];
    const cu_line *l = &a->lines[m->token >> VECTOR_ACCESS_BITS];
    const amd_access *head = vector_head(a);
    if (LS_UNLIKELY(m->number != 0))
        cu_tap_reply(c, m);
    a->back++;
    a->from |= m->flags & LS_LINE_FROM;
    if (a->invalidate) {
        ;
    } else if (m->flags & LS_LINE_FAULT) {
        vector_fault(c, a, l, m, now);
    } else if (head->kind == AMD_ACCESS_LOAD && (a->linear || l->dense)) {
        unsigned in_line, in_data,
            bytes = a->linear ? vector_overlap(c, a, l, &in_line, &in_data)
                              : vector_dense(a, l, &in_line, &in_data);
        memcpy((uint8_t *)a->data + in_data, m->data + in_line, bytes);
    } else if (head->kind == AMD_ACCESS_LOAD && head->piece_bytes == 4 && head->pieces == 1 &&
               (a->straddle == 0)) {
        for (uint64_t left = l->lanes; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            memcpy(a->data + lane * a->stride, m->data + (a->address[lane] - l->address), 4);
        }
    } else if (head->kind == AMD_ACCESS_LOAD) {
        vector_each(c, a, l, (ls_line_message *)(uintptr_t)m, vector_get);
    } else if (head->kind == AMD_ACCESS_ATOMIC && head->returns) {
        vector_old_values(a, l, m);
    }
    if (a->back == a->line_count)
        vector_done(c, a, now);
}

static void vector_reply_0(void *self, const ls_line_message *message, ls_cycle now)
{
    vector_reply(self, message, now);
}

static void vector_retry(cu *c, unsigned p, ls_cycle now)
{
    c->pipes[p].refused = false;
    if (c->pipes[p].count != 0)
        c->sending |= 1u << p;
    cu_wake(c, now, now);
}

static void vector_retry_0(void *self, ls_cycle now)
{
    vector_retry(self, 0, now);
}

static void vector_retry_1(void *self, ls_cycle now)
{
    vector_retry(self, 1, now);
}

const ls_line_client_ops cu_vector_client[2] = {
    { .reply = vector_reply_0, .retry = vector_retry_0 },
    { .reply = vector_reply_0, .retry = vector_retry_1 },
};
