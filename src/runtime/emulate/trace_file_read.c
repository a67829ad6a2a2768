/* trace_file_read.c: reads packed instruction traces; see trace_file.h. Every number is checked before it is used. */
#include "runtime/emulate/trace_file_impl.h"

#include "base/arena.h"
#include "base/vec.h"

#include <string.h>
#include <zstd.h>

#define STRING_MAX 4096
#define OPS_MAX (1u << 24)

struct trace_reader {
    FILE *file;
    ZSTD_DCtx *zstd;
    void *packed;
    uint8_t *plain;
    size_t packed_capacity, plain_capacity;
    ZSTD_inBuffer in;
    size_t at, count; /* in plain */
    trace_model model;
    mem_arena arena; /* of the launch */
    LS_VEC(trace_op) ops;
    trace_launch launch;
    trace_record record;
    bool has_launch, bad, ended;
    size_t last; /* of ZSTD_decompressStream: 0 at the end of a frame */
};

ls_status trace_reader_create(FILE *file, trace_reader **out, ls_error *err)
{
    trace_reader *r = calloc(1, sizeof *r);
    char start[TRACE_MAGIC_BYTES] = "";
    *out = NULL;
    if (r) {
        r->file = file;
        r->zstd = ZSTD_createDCtx();
        r->packed_capacity = ZSTD_DStreamInSize();
        r->plain_capacity = ZSTD_DStreamOutSize();
        r->packed = malloc(r->packed_capacity);
        r->plain = malloc(r->plain_capacity);
        r->last = 1;
    }
    if (!r || !r->zstd || !r->packed || !r->plain) {
        trace_reader_destroy(r);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    if (fread(start, 1, sizeof start, file) != sizeof start || memcmp(start, TRACE_MAGIC, sizeof start) != 0) {
        trace_reader_destroy(r);
        return ls_fail(err, LS_ERR_INPUT, "this is no packed instruction trace (%s)", TRACE_FILE_SUFFIX);
    }
    *out = r;
    return LS_OK;
}

void trace_reader_destroy(trace_reader *r)
{
    if (!r)
        return;
    ZSTD_freeDCtx(r->zstd);
    vec_fini(&r->ops);
    arena_fini(&r->arena);
    free(r->model.base);
    free(r->packed);
    free(r->plain);
    free(r);
}

/* ------------------------------------------------------------------------------------------------- bytes */

/* False: there are no more bytes. */
static bool refill(trace_reader *r)
{
    r->at = r->count = 0;
    while (!r->bad && r->count == 0) {
        if (r->in.pos == r->in.size) {
            r->in =
                (ZSTD_inBuffer){ .src = r->packed, .size = fread(r->packed, 1, r->packed_capacity, r->file) };
            if (r->in.size == 0)
                return false;
        }
        ZSTD_outBuffer to = { .dst = r->plain, .size = r->plain_capacity };
        r->last = ZSTD_decompressStream(r->zstd, &to, &r->in);
        r->bad |= ZSTD_isError(r->last) != 0;
        r->count = to.pos;
    }
    return !r->bad;
}

static unsigned get_byte(trace_reader *r)
{
    if (r->at == r->count && (r->bad || !refill(r))) {
        r->bad = true;
        return 0;
    }
    return r->plain[r->at++];
}

static uint64_t get(trace_reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !r->bad; shift += 7) {
        unsigned byte = get_byte(r);
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    r->bad = true;
    return 0;
}

/* A number up to `most`. */
static uint32_t get_upto(trace_reader *r, uint32_t most)
{
    uint64_t value = get(r);
    r->bad |= value > most;
    return r->bad ? 0 : (uint32_t)value;
}

static const char *get_string(trace_reader *r)
{
    uint32_t n = get_upto(r, STRING_MAX);
    char *text = arena_alloc(&r->arena, (size_t)n + 1);
    r->bad |= !text;
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        text[i] = (char)get_byte(r);
        r->bad |= (unsigned char)text[i] < ' ';
    }
    return r->bad ? "" : text;
}

static void get_list(trace_reader *r, uint64_t *values, uint32_t count, uint32_t width, uint64_t near)
{
    uint64_t mask = width == 8 ? UINT64_MAX : UINT32_MAX, step = 0;
    if (count == 0)
        return;
    unsigned how = get_byte(r);
    if (how > LANES_PLANES) {
        r->bad = true;
        return;
    }
    if (how == LANES_PLANES) {
        memset(values, 0, count * sizeof *values);
        for (uint32_t plane = 0; plane < width; plane++)
            for (uint32_t i = 0; i < count; i++)
                values[i] |= (uint64_t)get_byte(r) << (8 * plane);
        return;
    }
    values[0] = (near + (uint64_t)unzigzag(get(r))) & mask;
    if (how == LANES_STEP)
        step = (uint64_t)unzigzag(get(r));
    for (uint32_t i = 1; i < count; i++)
        values[i] = (values[i - 1] + step) & mask;
}

/* --------------------------------------------------------------------------------------------- a launch */

static void get_launch(trace_reader *r)
{
    trace_op none = { .pc = "", .text = "" };
    arena_fini(&r->arena);
    r->arena = (mem_arena){ 0 };
    vec_clear(&r->ops);
    r->has_launch = false;
    r->launch = (trace_launch){ .number = get(r) };
    r->launch.kernel = get_string(r);
    r->launch.lanes = get_upto(r, 64);
    r->launch.op_count = get_upto(r, OPS_MAX);
    r->bad |= (r->launch.lanes != 32 && r->launch.lanes != 64) || !vec_push(&r->ops, none);
    for (uint32_t i = 1; i <= r->launch.op_count && !r->bad; i++) {
        trace_op op = { .pc = get_string(r) };
        op.text = get_string(r);
        op.source_count = (uint8_t)get_upto(r, TRACE_SOURCES);
        for (unsigned k = 0; k < op.source_count; k++) {
            op.sources[k].code = (uint16_t)get_upto(r, AMD_VGPR + 255);
            op.sources[k].dwords = (uint8_t)get_byte(r);
        }
        r->bad |= !vec_push(&r->ops, op);
    }
    r->launch.ops = r->ops.at;
    r->bad = r->bad || !model_launch(&r->model, r->launch.lanes, r->launch.op_count);
    r->has_launch = !r->bad;
}

/* --------------------------------------------------------------------------------------------- a record */

static void get_scalars(trace_reader *r, trace_values *values)
{
    values->scalar_count = get_upto(r, 128);
    for (uint32_t i = 0; i < values->scalar_count && !r->bad; i++) {
        values->scalars[i].code = (uint8_t)(get_byte(r) & 127);
        values->scalars[i].value = get_upto(r, UINT32_MAX);
    }
}

static void get_vectors(trace_reader *r, trace_values *values)
{
    uint64_t list[64] = { 0 };
    values->vector_count = get_upto(r, TRACE_VECTORS);
    for (uint32_t i = 0; i < values->vector_count && !r->bad; i++) {
        values->vectors[i].number = (uint8_t)get_byte(r);
        get_list(r, list, r->model.lanes, 4, 0);
        for (uint32_t lane = 0; lane < r->model.lanes; lane++)
            values->vectors[i].lane[lane] = (uint32_t)list[lane];
    }
}

static void get_column(trace_reader *r, const trace_access *a, uint32_t *data, size_t stride)
{
    uint64_t list[64] = { 0 };
    uint32_t count = 0;
    get_list(r, list, (uint32_t)__builtin_popcountll(a->lanes), 4, 0);
    for (unsigned lane = 0; lane < 64; lane++)
        if (a->lanes >> lane & 1)
            data[lane * stride] = (uint32_t)list[count++];
}

static void get_data(trace_reader *r, trace_access *a, const trace_values *writes)
{
    uint32_t dwords = trace_piece_dwords(a);
    unsigned how = get_byte(r);
    r->bad |= how > DATA_WRITTEN || dwords * a->pieces > AMD_DATA_DWORDS ||
              (how == DATA_WRITTEN && writes->vector_count != dwords);
    for (uint32_t k = 0; !r->bad && how == DATA_GIVEN && k < dwords * a->pieces; k++)
        get_column(r, a, &a->data[0][k], AMD_DATA_DWORDS);
    for (unsigned lane = 0; !r->bad && how == DATA_WRITTEN && lane < 64; lane++)
        for (uint32_t k = 0; k < dwords; k++)
            a->data[lane][k] = writes->vectors[k].lane[lane];
    for (uint32_t k = 0; !r->bad && a->kind == AMD_ACCESS_ATOMIC && k < 2; k++)
        get_column(r, a, &a->old[0][k], 2);
}

static void get_access(trace_reader *r, trace_record *record)
{
    trace_access *a = &record->access;
    uint64_t list[64] = { 0 }, near = r->model.base[record->op];
    unsigned byte = get_byte(r);
    a->kind = byte & 15;
    a->space = (uint8_t)(byte >> 4);
    a->pieces = (uint8_t)get_byte(r);
    a->piece_bytes = (uint8_t)get_byte(r);
    a->lanes = get(r) ^ record->exec;
    a->in_lds = get(r);
    r->bad |= a->kind == AMD_ACCESS_NONE || a->kind > AMD_ACCESS_ATOMIC || a->space > AMD_SPACE_FLAT ||
              a->pieces == 0 || a->pieces > AMD_PIECES_MAX || a->piece_bytes > 64;
    uint32_t count = (uint32_t)__builtin_popcountll(a->lanes);
    for (unsigned p = 0; p < a->pieces && !r->bad; p++) {
        uint32_t i = 0;
        get_list(r, list, count, 8, near);
        for (unsigned lane = 0; lane < 64; lane++)
            if (a->lanes >> lane & 1)
                a->address[p][lane] = list[i++];
        near = count ? list[0] : near;
        if (p == 0)
            r->model.base[record->op] = near;
    }
    if (!r->bad)
        get_data(r, a, &record->writes);
}

static void get_place(trace_reader *r, unsigned flags, trace_record *record)
{
    trace_model *m = &r->model;
    for (unsigned i = 0; i < 3; i++)
        record->group[i] = flags & HAS_WAVE ? get_upto(r, UINT32_MAX) : m->group[i];
    record->wave = flags & HAS_WAVE ? get_upto(r, AMD_WAVES_MAX - 1) : m->wave;
    record->op = flags & HAS_OP ? get_upto(r, m->op_count) : m->waves[record->wave].op + 1;
    record->exec = flags & HAS_EXEC ? get(r) : m->waves[record->wave].exec;
    r->bad |= record->op == 0 || record->op > m->op_count;
    memcpy(m->group, record->group, sizeof m->group);
    m->wave = record->wave;
    m->waves[record->wave].op = record->op;
    m->waves[record->wave].exec = record->exec;
}

static void get_record(trace_reader *r)
{
    trace_record *record = &r->record;
    unsigned flags = get_byte(r);
    get_place(r, flags, record);
    record->writes.scalar_count = record->writes.vector_count = 0;
    record->writes.has_scc = (flags & HAS_SCC) != 0;
    record->has_reads = (flags & HAS_READS) != 0;
    record->access.kind = AMD_ACCESS_NONE;
    if (!r->bad && flags & HAS_SCALARS)
        get_scalars(r, &record->writes);
    if (!r->bad && flags & HAS_SCC)
        record->writes.scc = get_upto(r, 1);
    if (!r->bad && flags & HAS_VECTORS)
        get_vectors(r, &record->writes);
    if (!r->bad && flags & HAS_ACCESS)
        get_access(r, record);
    if (r->bad || !(flags & HAS_READS))
        return;
    get_scalars(r, &record->reads);
    unsigned scc = get_byte(r);
    record->reads.has_scc = scc != 0;
    record->reads.scc = scc == 2;
    r->bad |= scc > 2;
    if (!r->bad)
        get_vectors(r, &record->reads);
}

ls_status trace_reader_next(trace_reader *r, trace_item *item, ls_error *err)
{
    *item = TRACE_ITEM_END;
    if (r->ended)
        return LS_OK;
    unsigned what = get_byte(r);
    if (!r->bad && what == ITEM_END) {
        r->ended = true;
        r->bad = r->at != r->count;
        while (!r->bad && r->last != 0 && refill(r))
            r->bad = true; /* more bytes after the end */
        r->bad |= r->last != 0;
    } else if (!r->bad && what == ITEM_LAUNCH) {
        *item = TRACE_ITEM_LAUNCH;
        get_launch(r);
    } else if (!r->bad && what == ITEM_RECORD && r->has_launch) {
        *item = TRACE_ITEM_RECORD;
        get_record(r);
    } else {
        r->bad = true;
    }
    if (!r->bad)
        return LS_OK;
    r->has_launch = false;
    return ls_fail(err, LS_ERR_INPUT, "the instruction trace is damaged or cut off");
}

const trace_launch *trace_reader_launch(const trace_reader *r)
{
    return &r->launch;
}

const trace_record *trace_reader_record(const trace_reader *r)
{
    return &r->record;
}
