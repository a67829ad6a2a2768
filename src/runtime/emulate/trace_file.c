/* trace_file.c: see trace_file.h. Numbers are written with 7 bits in a byte. Both sides predict: the next instruction of a
 * wave, its EXEC, addresses near those of the last time. Lists of lanes are one value, a sequence with a step, or four
 * planes of bytes. zstd packs the whole. */
#include "runtime/emulate/trace_file_impl.h"

#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 9
#define FLUSH_BYTES (1u << 20)

/* Whether the registers that a load wrote are its data: they need no second copy. */
static bool data_is_written(const trace_access *a, const trace_values *writes)
{
    uint32_t dwords = trace_piece_dwords(a);
    if (a->kind != AMD_ACCESS_LOAD || a->space == AMD_SPACE_SCALAR || a->pieces != 1 ||
        writes->vector_count != dwords)
        return false;
    for (unsigned lane = 0; lane < 64; lane++)
        for (uint32_t k = 0; (a->lanes >> lane & 1) && k < dwords; k++)
            if (a->data[lane][k] != writes->vectors[k].lane[lane])
                return false;
    return true;
}

/* ----------------------------------------------------------------------------------------------- writing */

struct trace_writer {
    FILE *file;
    ZSTD_CCtx *zstd;
    LS_VEC(uint8_t) bytes;
    void *packed;
    size_t packed_bytes;
    trace_model model;
    bool failed; /* no memory, or not written */
};

ls_status trace_writer_create(FILE *file, trace_writer **out, ls_error *err)
{
    trace_writer *w = calloc(1, sizeof *w);
    *out = NULL;
    if (w) {
        w->file = file;
        w->zstd = ZSTD_createCCtx();
        w->packed_bytes = ZSTD_CStreamOutSize();
        w->packed = malloc(w->packed_bytes);
    }
    if (!w || !w->zstd || !w->packed) {
        trace_writer_abort(w);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instruction trace");
    }
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    w->failed = fwrite(TRACE_MAGIC, 1, TRACE_MAGIC_BYTES, file) != TRACE_MAGIC_BYTES;
    *out = w;
    return LS_OK;
}

void trace_writer_abort(trace_writer *w)
{
    if (!w)
        return;
    ZSTD_freeCCtx(w->zstd);
    vec_fini(&w->bytes);
    free(w->model.base);
    free(w->packed);
    free(w);
}

static void flush(trace_writer *w, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = { .src = w->bytes.at, .size = w->bytes.count };
    size_t left;
    do {
        ZSTD_outBuffer to = { .dst = w->packed, .size = w->packed_bytes };
        left = ZSTD_compressStream2(w->zstd, &to, &in, how);
        w->failed |= ZSTD_isError(left) || fwrite(w->packed, 1, to.pos, w->file) != to.pos;
    } while (!w->failed && (in.pos < in.size || (how == ZSTD_e_end && left > 0)));
    vec_clear(&w->bytes);
}

static void put_byte(trace_writer *w, unsigned byte)
{
    w->failed |= !vec_push(&w->bytes, (uint8_t)byte);
}

static void put(trace_writer *w, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put_byte(w, (unsigned)(value & 127) | 128);
    put_byte(w, (unsigned)value);
}

static void put_string(trace_writer *w, const char *text)
{
    size_t n = strlen(text);
    put(w, n);
    for (size_t i = 0; i < n; i++)
        put_byte(w, (uint8_t)text[i]);
}

/* `count` values of `width` bytes; the first is near `near`. */
static void put_list(trace_writer *w, const uint64_t *values, uint32_t count, uint32_t width, uint64_t near)
{
    uint64_t mask = width == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t step = count > 1 ? (values[1] - values[0]) & mask : 0;
    bool steps = true;
    for (uint32_t i = 1; i < count && steps; i++)
        steps = ((values[i] - values[i - 1]) & mask) == step;
    if (count == 0)
        return;
    put_byte(w, !steps ? LANES_PLANES : step ? LANES_STEP : LANES_SAME);
    if (steps) {
        put(w, zigzag((int64_t)(values[0] - near)));
        if (step)
            put(w, zigzag(width == 8 ? (int64_t)step : (int32_t)(uint32_t)step));
        return;
    }
    for (uint32_t plane = 0; plane < width; plane++)
        for (uint32_t i = 0; i < count; i++)
            put_byte(w, (unsigned)(values[i] >> (8 * plane)) & 255);
}

static void put_vectors(trace_writer *w, const trace_values *values)
{
    uint64_t list[64];
    put(w, values->vector_count);
    for (uint32_t i = 0; i < values->vector_count; i++) {
        put_byte(w, values->vectors[i].number);
        for (uint32_t lane = 0; lane < w->model.lanes; lane++)
            list[lane] = values->vectors[i].lane[lane];
        put_list(w, list, w->model.lanes, 4, 0);
    }
}

static void put_scalars(trace_writer *w, const trace_values *values)
{
    put(w, values->scalar_count);
    for (uint32_t i = 0; i < values->scalar_count; i++) {
        put_byte(w, values->scalars[i].code);
        put(w, values->scalars[i].value);
    }
}

/* One dword of every lane that accesses memory. */
static void put_column(trace_writer *w, const trace_access *a, const uint32_t *data, size_t stride)
{
    uint64_t list[64];
    uint32_t count = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        if (a->lanes >> lane & 1)
            list[count++] = data[lane * stride];
    put_list(w, list, count, 4, 0);
}

static void put_access(trace_writer *w, const trace_record *r)
{
    const trace_access *a = &r->access;
    uint32_t dwords = trace_piece_dwords(a), count = 0;
    uint64_t list[64], near = w->model.base[r->op];
    put_byte(w, (unsigned)a->kind | (unsigned)a->space << 4);
    put_byte(w, a->pieces);
    put_byte(w, a->piece_bytes);
    put(w, a->lanes ^ r->exec);
    put(w, a->in_lds);
    for (unsigned p = 0; p < a->pieces; p++, count = 0) {
        for (unsigned lane = 0; lane < 64; lane++)
            if (a->lanes >> lane & 1)
                list[count++] = a->address[p][lane];
        put_list(w, list, count, 8, near);
        near = count ? list[0] : near;
        if (p == 0)
            w->model.base[r->op] = near;
    }
    bool written = data_is_written(a, &r->writes);
    put_byte(w, written ? DATA_WRITTEN : DATA_GIVEN);
    for (uint32_t k = 0; !written && k < dwords * a->pieces; k++)
        put_column(w, a, &a->data[0][k], AMD_DATA_DWORDS);
    for (uint32_t k = 0; a->kind == AMD_ACCESS_ATOMIC && k < 2; k++)
        put_column(w, a, &a->old[0][k], 2);
}

void trace_writer_launch(trace_writer *w, const trace_launch *launch)
{
    w->failed |= !model_launch(&w->model, launch->lanes, launch->op_count);
    if (w->failed)
        return;
    put_byte(w, ITEM_LAUNCH);
    put(w, launch->number);
    put_string(w, launch->kernel);
    put(w, launch->lanes);
    put(w, launch->op_count);
    for (uint32_t i = 1; i <= launch->op_count; i++) {
        const trace_op *op = &launch->ops[i];
        put_string(w, op->pc);
        put_string(w, op->text);
        put(w, op->source_count);
        for (unsigned k = 0; k < op->source_count; k++) {
            put(w, op->sources[k].code);
            put_byte(w, op->sources[k].dwords);
        }
    }
}

void trace_writer_put(trace_writer *w, const trace_record *r)
{
    trace_model *m = &w->model;
    if (w->failed || r->wave >= AMD_WAVES_MAX)
        return;
    bool moved = r->wave != m->wave || memcmp(r->group, m->group, sizeof m->group) != 0;
    unsigned flags = (moved ? HAS_WAVE : 0u) | (r->op != m->waves[r->wave].op + 1 ? HAS_OP : 0u) |
                     (r->exec != m->waves[r->wave].exec ? HAS_EXEC : 0u) |
                     (r->writes.scalar_count ? HAS_SCALARS : 0u) | (r->writes.has_scc ? HAS_SCC : 0u) |
                     (r->writes.vector_count ? HAS_VECTORS : 0u) |
                     (r->access.kind != AMD_ACCESS_NONE ? HAS_ACCESS : 0u) | (r->has_reads ? HAS_READS : 0u);
    put_byte(w, ITEM_RECORD);
    put_byte(w, flags);
    if (moved) {
        for (unsigned i = 0; i < 3; i++)
            put(w, r->group[i]);
        put(w, r->wave);
    }
    if (flags & HAS_OP)
        put(w, r->op);
    if (flags & HAS_EXEC)
        put(w, r->exec);
    if (flags & HAS_SCALARS)
        put_scalars(w, &r->writes);
    if (flags & HAS_SCC)
        put(w, r->writes.scc);
    if (flags & HAS_VECTORS)
        put_vectors(w, &r->writes);
    if (flags & HAS_ACCESS)
        put_access(w, r);
    if (flags & HAS_READS) {
        put_scalars(w, &r->reads);
        put_byte(w, r->reads.has_scc ? 1u + r->reads.scc : 0u);
        put_vectors(w, &r->reads);
    }
    memcpy(m->group, r->group, sizeof m->group);
    m->wave = r->wave;
    m->waves[r->wave].op = r->op;
    m->waves[r->wave].exec = r->exec;
    if (w->bytes.count >= FLUSH_BYTES)
        flush(w, ZSTD_e_continue);
}

ls_status trace_writer_finish(trace_writer *w, ls_error *err)
{
    put_byte(w, ITEM_END);
    errno = 0;
    if (!w->failed)
        flush(w, ZSTD_e_end);
    bool bad = w->failed || fflush(w->file) != 0 || ferror(w->file) != 0;
    const char *reason = bad ? file_write_reason(w->file, errno) : "";
    trace_writer_abort(w);
    return bad ? ls_fail(err, LS_ERR_IO, "the instruction trace could not be written: %s", reason) : LS_OK;
}
