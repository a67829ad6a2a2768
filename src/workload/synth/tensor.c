/* tensor.c: the generator gemm-tensor: half-precision matrix product on tensor cores.
 *
 * C (float) = A (half, row-major) * B (half, row-major). A block of 8 warps makes 128 * 128 of C in slices of
 * 32 along k. Slices come by asynchronous copies (from Ampere on; before, through registers) into a ring of
 * `stages` buffers whose 16-byte pieces are swizzled, so that LDSM has no conflicts. Warp (i, j) of 2 * 4
 * makes 64 * 32 of the tile: 4 * 4 products of 16 * 8 for each 16 of k. As in libraries, the copies of a later
 * slice and the loads of the second 16 of k stand between the products of the first. */
#include "workload/synth/kind.h"

#include <inttypes.h>

#define TILE 128u
#define SLICE 32u
#define WARPS 8u
#define THREADS (WARPS * SYNTH_WARP)
#define HALF 2u
#define FLOAT 4u
#define PIECE 16u                                      /* bytes of one copy */
#define PIECES (SLICE * TILE * HALF / PIECE / THREADS) /* copies of a thread for A, and as many for B: 2 */
#define BUFFER (SLICE * TILE * HALF)                   /* bytes of A's part of a stage; B's follows */
#define STEPS (SLICE / 16)                             /* of 16 along k */
#define M_PARTS 4u                                     /* of 16 rows in a warp's part */
#define N_PARTS 4u                                     /* of 8 columns */

typedef struct tensor_spec {
    synth_common common;
    uint64_t m, n, k, stages;
} tensor_spec;

static const ls_param tensor_params[] = {
    LS_PARAM_UINT(tensor_spec, m, "rows", 256, 128, 32768, "rows of A and C; a multiple of 128"),
    LS_PARAM_UINT(tensor_spec, n, "columns", 256, 128, 32768, "columns of B and C; a multiple of 128"),
    LS_PARAM_UINT(tensor_spec, k, "elements", 256, 32, 32768, "columns of A, rows of B; a multiple of 32"),
    LS_PARAM_UINT(tensor_spec, stages, "", 3, 2, 5, "slices in shared memory at a time (from Ampere on)"),
};

static bool is_async(const synth_program *p)
{
    return p->version >= 80;
}
static uint64_t slices(const tensor_spec *s)
{
    return s->k / SLICE;
}
/* Copies in flight; through registers it is always the next one. */
static uint64_t depth(const tensor_spec *s)
{
    return synth_versions[s->common.binary_version] >= 80 ? s->stages : 2;
}

static ls_status tensor_check(const void *spec, ls_error *err)
{
    const tensor_spec *s = spec;
    const struct {
        const char *name;
        uint64_t value, of;
    } rules[] = { { "m", s->m, TILE }, { "n", s->n, TILE }, { "k", s->k, SLICE } };
    if (synth_versions[s->common.binary_version] < 75)
        return ls_fail(err, LS_ERR_USAGE, "gemm-tensor needs binary_version 75 or later");
    for (size_t i = 0; i < LS_COUNT_OF(rules); i++)
        if (rules[i].value % rules[i].of != 0)
            return ls_fail(err, LS_ERR_USAGE, "parameter '%s': %" PRIu64 " is not a multiple of %" PRIu64,
                           rules[i].name, rules[i].value, rules[i].of);
    return LS_OK;
}

static unsigned tensor_copies(const void *spec, synth_copy *copies)
{
    const tensor_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), HALF * s->m * s->k };
    copies[1] = (synth_copy){ synth_array(1), HALF * s->k * s->n };
    return 2;
}

static void tensor_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const tensor_spec *s = spec;
    (void)launch;
    out->name = "_Z5hgemmPK6__halfS1_Pfiii";
    out->grid[0] = (uint32_t)(s->n / TILE);
    out->grid[1] = (uint32_t)(s->m / TILE);
    out->block[0] = THREADS;
    out->shared_bytes = depth(s) * 2 * BUFFER;
    out->registers = 128;
}

/* ------------------------------------------------------------------------------------------------ program */

enum { T_FILL, T_LOOP, T_WAIT, T_INNER, T_STORE, T_LOOP_END, T_TAIL, T_RESULTS };

/* What a slice consists of, in order. Fragments of A have one set of registers: those of the second step are
 * loaded when the last product with those of the first has issued. Those of B have two. */
typedef enum slice_kind { LOAD_A, LOAD_B, PRODUCT, COPY, COPY_END } slice_kind;
typedef struct slice_piece {
    uint8_t kind, step, index;
} slice_piece;
#define SLICE_PIECES (STEPS * (M_PARTS + N_PARTS / 2 + M_PARTS * N_PARTS) + 2 * PIECES + 1)
_Static_assert(STEPS == 2, "the order below is of two steps");

static void order_slice(slice_piece at[SLICE_PIECES])
{
    slice_piece *p = at;
    for (uint8_t i = 0; i < M_PARTS; i++)
        *p++ = (slice_piece){ LOAD_A, 0, i };
    for (uint8_t step = 0; step < STEPS; step++)
        for (uint8_t i = 0; i < N_PARTS / 2; i++)
            *p++ = (slice_piece){ LOAD_B, step, i };
    for (uint8_t i = 0; i < M_PARTS * N_PARTS; i++) {
        *p++ = (slice_piece){ PRODUCT, 0, i };
        if (i % N_PARTS == 1)
            *p++ = (slice_piece){ COPY, 0, i / N_PARTS };
        if (i % N_PARTS == N_PARTS - 1)
            *p++ = (slice_piece){ LOAD_A, 1, i / N_PARTS };
    }
    *p++ = (slice_piece){ COPY_END, 0, 0 };
    for (uint8_t i = 0; i < M_PARTS * N_PARTS; i++)
        *p++ = (slice_piece){ PRODUCT, 1, i };
}
_Static_assert(2 * PIECES == M_PARTS, "one copy beside each row of products");

/* Registers: addresses below R16, pieces of A from R16, of B from R32 and R120, what is loaded through registers
 * from R40, results from R56. */
static void copy_row(synth_program *p, uint32_t i)
{
    if (is_async(p))
        synth_op(p, "0 LDGSTS.E.BYPASS.LTC128B.128 2 R%u R%u 16", i < PIECES ? 8 : 9, i < PIECES ? 10 : 12);
    else
        synth_op(p, "1 R%u LDG.E.128.SYS 1 R%u 16", 40 + 4 * i, i < PIECES ? 10 : 12);
}

static void copy_end(synth_program *p)
{
    if (!is_async(p))
        return;
    synth_increment(p, 10, SLICE * HALF);
    synth_increment(p, 12, SLICE * HALF);
    synth_op(p, "0 LDGDEPBAR 0 0");
}

static uint32_t copy_end_rows(const synth_program *p)
{
    return is_async(p) ? 3 : 0;
}

static void product_rows(synth_program *p, uint32_t step, uint32_t i)
{
    unsigned a = 16 + 4 * (i / N_PARTS), b = (step == 0 ? 32 : 120) + 2 * (i % N_PARTS), c = 56 + 4 * i;
    if (p->version >= 80)
        synth_op(p, "1 R%u HMMA.16816.F32 3 R%u R%u R%u 0", c, a, b, c);
    else
        for (unsigned half = 0; half < 2; half++)
            synth_op(p, "1 R%u HMMA.1688.F32 3 R%u R%u R%u 0", c, a + 2 * half, b + half, c);
}

static void slice_rows(synth_program *p)
{
    slice_piece order[SLICE_PIECES];
    order_slice(order);
    for (uint32_t i = 0; i < SLICE_PIECES; i++) {
        const slice_piece *at = &order[i];
        switch ((slice_kind)at->kind) {
        case LOAD_A:
            synth_op(p, "1 R%u LDSM.16.M88.4 1 R6 2", 16 + 4 * at->index);
            break;
        case LOAD_B:
            synth_op(p, "1 R%u LDSM.16.MT88.4 1 R7 2", (at->step == 0 ? 32 : 120) + 4 * at->index);
            break;
        case PRODUCT:
            product_rows(p, at->step, at->index);
            break;
        case COPY:
            copy_row(p, at->index);
            break;
        case COPY_END:
            copy_end(p);
            break;
        }
    }
}

static void tensor_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const tensor_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R3 S2R 0 0");
    synth_op(p, "1 R4 S2R 0 0");
    synth_op(p, "1 R5 SHF.R.U32.HI 2 R255 R2 0");
    synth_op(p, "1 R6 LOP3.LUT 2 R2 R255 0");
    synth_op(p, "1 R8 LOP3.LUT 3 R6 R5 R255 0");
    synth_multiply_add(p, 7, 3, 14, 5);
    synth_multiply_add(p, 9, 4, 14, 6);
    synth_constant(p, 14);
    synth_address(p, 10, 7, 14);
    synth_address(p, 12, 9, 14);
    for (uint32_t i = 0; i < M_PARTS * N_PARTS * 2; i++)
        synth_op(p, "1 R%u CS2R 0 0", 56 + 2 * i);
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    p->mark[T_FILL] = synth_here(p);
    for (uint64_t stage = 0; stage + 1 < depth(s); stage++) {
        for (uint32_t i = 0; i < 2 * PIECES; i++)
            copy_row(p, i);
        copy_end(p);
    }
    for (uint32_t i = 0; i < 2 * PIECES && !is_async(p); i++)
        synth_op(p, "0 STS.128 2 R%u R%u 16", i < PIECES ? 8 : 9, 40 + 4 * i);
    p->mark[T_LOOP] = p->mark[T_WAIT] = synth_here(p);
    if (is_async(p)) {
        synth_op(p, "0 DEPBAR.LE 0 0");
        synth_imm(p, (int64_t)depth(s) - 2);
    }
    synth_barrier(p);
    p->mark[T_INNER] = synth_here(p);
    slice_rows(p);
    p->mark[T_STORE] = synth_here(p);
    for (uint32_t i = 0; i < 2 * PIECES && !is_async(p); i++)
        synth_op(p, "0 STS.128 2 R%u R%u 16", i < PIECES ? 8 : 9, 40 + 4 * i);
    p->mark[T_LOOP_END] = synth_here(p);
    synth_increment(p, 14, SLICE);
    synth_op(p, "1 R6 LOP3.LUT 2 R6 R255 0"); /* the next buffer of the ring */
    synth_op(p, "1 R7 LOP3.LUT 2 R7 R255 0");
    synth_op(p, "0 ISETP.GE.AND 1 R14 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[T_TAIL] = synth_here(p);
    synth_multiply_add(p, 7, 5, 2, 6);
    synth_address(p, 10, 7, 14);
    p->mark[T_RESULTS] = synth_here(p);
    for (uint32_t i = 0; i < M_PARTS * N_PARTS * 2; i++)
        synth_op(p, "0 STG.E.64 2 R10 R%u 8", 56 + 2 * i);
    synth_exit(p);
}

/* -------------------------------------------------------------------------------------------------- warps */

/* Where 16-byte piece `piece` of row `row` of a part lies: the lowest bits of the row move it. */
static uint64_t swizzled(uint64_t buffer, uint32_t row, uint32_t piece, uint32_t pieces_per_row)
{
    uint32_t moved = piece ^ ((pieces_per_row == 4 ? row >> 1 : row) & (pieces_per_row == 4 ? 3 : 7));
    return buffer + ((uint64_t)row * pieces_per_row + moved) * PIECE;
}

static uint64_t stage_at(const tensor_spec *s, uint64_t slice)
{
    return slice % depth(s) * 2 * BUFFER;
}

/* Piece i of a thread: rows of A have 4 pieces, rows of B have 16. */
static void copy_place(const tensor_spec *s, const synth_warp *w, uint32_t i, uint32_t lane, uint64_t slice,
                       uint64_t *global, uint64_t *shared)
{
    uint32_t t = i % PIECES * THREADS + w->index * SYNTH_WARP + lane;
    if (i < PIECES) {
        uint64_t row = (uint64_t)w->id[1] * TILE + t / 4;
        *global = synth_array(0) + (row * s->k + slice * SLICE) * HALF + t % 4 * PIECE;
        *shared = swizzled(stage_at(s, slice), t / 4, t % 4, 4);
    } else {
        uint64_t row = slice * SLICE + t / 16;
        *global = synth_array(1) + (row * s->n + (uint64_t)w->id[0] * TILE) * HALF + t % 16 * PIECE;
        *shared = swizzled(stage_at(s, slice) + BUFFER, t / 16, t % 16, 16);
    }
}

/* Copy i of a slice; behind the last slice it is predicated off. */
static void copy_piece(const tensor_spec *s, synth_warp *w, uint32_t row, uint64_t slice, uint32_t i)
{
    uint64_t global[SYNTH_WARP], shared;
    w->mask = slice < slices(s) ? SYNTH_FULL : 0;
    for (uint32_t lane = 0; lane < SYNTH_WARP; lane++)
        copy_place(s, w, i, lane, slice, &global[lane], &shared);
    synth_list(w, row, global);
    w->mask = SYNTH_FULL;
}

/* A slice of the fill. */
static void copy_slice(const tensor_spec *s, synth_warp *w, uint32_t row, uint64_t slice)
{
    for (uint32_t i = 0; i < 2 * PIECES; i++)
        copy_piece(s, w, row + i, slice, i);
    synth_run(w, row + 2 * PIECES, row + 2 * PIECES + copy_end_rows(w->program));
}

/* Before Ampere: from registers into shared memory. */
static void store_slice(const tensor_spec *s, synth_warp *w, uint32_t row, uint64_t slice)
{
    uint64_t global, shared[SYNTH_WARP];
    if (is_async(w->program))
        return;
    w->mask = slice < slices(s) ? SYNTH_FULL : 0;
    for (uint32_t i = 0; i < 2 * PIECES; i++) {
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++)
            copy_place(s, w, i, lane, slice, &global, &shared[lane]);
        synth_list(w, row + i, shared);
    }
    w->mask = SYNTH_FULL;
}

/* Lane l of LDSM gives the address of row l % 8 of matrix l / 8. */
static void load_a(synth_warp *w, uint32_t row, uint64_t buffer, const slice_piece *at)
{
    uint64_t lanes[SYNTH_WARP]; /* matrices: rows 0-7 and 8-15, then the next 8 of k */
    for (uint32_t l = 0; l < SYNTH_WARP; l++)
        lanes[l] = swizzled(buffer, w->index / 4 * 64 + at->index * 16u + l % 16, at->step * 2u + l / 16, 4);
    synth_list(w, row, lanes);
}

static void load_b(synth_warp *w, uint32_t row, uint64_t buffer, const slice_piece *at)
{
    uint64_t lanes[SYNTH_WARP]; /* 16 rows of k, then the next 8 columns */
    for (uint32_t l = 0; l < SYNTH_WARP; l++)
        lanes[l] =
            swizzled(buffer + BUFFER, at->step * 16u + l % 16, w->index % 4 * 4 + at->index * 2u + l / 16, 16);
    synth_list(w, row, lanes);
}

/* Computes with `slice` and copies slice `next`. */
static void inner(const tensor_spec *s, synth_warp *w, uint64_t slice, uint64_t next)
{
    uint32_t row = w->program->mark[T_INNER], products = w->program->version >= 80 ? 1 : 2;
    uint64_t buffer = stage_at(s, slice);
    slice_piece order[SLICE_PIECES];
    order_slice(order);
    for (uint32_t i = 0; i < SLICE_PIECES; i++) {
        uint32_t rows = order[i].kind == PRODUCT    ? products
                        : order[i].kind == COPY_END ? copy_end_rows(w->program)
                                                    : 1;
        if (order[i].kind == LOAD_A)
            load_a(w, row, buffer, &order[i]);
        else if (order[i].kind == LOAD_B)
            load_b(w, row, buffer, &order[i]);
        else if (order[i].kind == COPY)
            copy_piece(s, w, row, next, order[i].index);
        else
            synth_run(w, row, row + rows);
        row += rows;
    }
}

static void tensor_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const tensor_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint32_t copy_length = 2 * PIECES + copy_end_rows(w->program), wm = w->index / 4, wn = w->index % 4;
    uint64_t ahead = depth(s) - 1, lanes[SYNTH_WARP];
    (void)launch;
    synth_run(w, 0, mark[T_FILL]);
    for (uint32_t i = 0; i < ahead; i++)
        copy_slice(s, w, mark[T_FILL] + i * copy_length, i);
    store_slice(s, w, mark[T_FILL] + copy_length, 0);
    for (uint64_t slice = 0; slice < slices(s); slice++) {
        synth_run(w, mark[T_WAIT], mark[T_INNER]);
        inner(s, w, slice, slice + ahead);
        store_slice(s, w, mark[T_STORE], slice + ahead);
        synth_loop_end(w, mark[T_LOOP_END], mark[T_TAIL], slice + 1 < slices(s));
    }
    synth_run(w, mark[T_TAIL], mark[T_RESULTS]);
    for (uint32_t i = 0; i < M_PARTS * N_PARTS * 2;
         i++) { /* lane l has two columns of row l / 4, and of row 8 + l / 4 */
        for (uint32_t l = 0; l < SYNTH_WARP; l++) {
            uint64_t y = (uint64_t)w->id[1] * TILE + wm * 64 + i / 2 / N_PARTS * 16 + i % 2 * 8 + l / 4;
            uint64_t x = (uint64_t)w->id[0] * TILE + wn * 32 + i / 2 % N_PARTS * 8 + l % 4 * 2;
            lanes[l] = synth_array(2) + (y * s->n + x) * FLOAT;
        }
        synth_list(w, mark[T_RESULTS] + i, lanes);
    }
    synth_run(w, synth_here(w->program) - 1, synth_here(w->program));
}

static void tensor_facts(const void *spec, uint32_t launch, const synth_program *p, ls_synth_facts *f)
{
    const tensor_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = s->m / TILE * (s->n / TILE) * WARPS, n = slices(s), ahead = depth(s) - 1;
    uint64_t insts = mark[T_LOOP] + n * (mark[T_TAIL] - mark[T_LOOP]) + synth_here(p) - mark[T_TAIL];
    /* The fill makes `ahead` copies and each slice one more: of these n + ahead, n are real, the others
     * off. */
    uint64_t off = ahead * 2 * PIECES * (is_async(p) ? 1 : 2);
    (void)launch;
    f->warp_insts += warps * insts;
    f->thread_insts += warps * (insts - off - 1) * SYNTH_WARP;
    f->global_loads += warps * n * 2 * PIECES;
    f->load_sectors += warps * n * 2 * PIECES * (SYNTH_WARP * PIECE / SYNTH_SECTOR);
    f->global_stores += warps * M_PARTS * N_PARTS * 2;
    f->store_sectors += warps * M_PARTS * N_PARTS * 2 * 8;
    f->shared_accesses += warps * n * (STEPS * (M_PARTS + N_PARTS / 2) + (is_async(p) ? 0 : 2 * PIECES));
    f->barriers += warps * n;
    f->global_bytes += HALF * (s->m * s->k + s->k * s->n) + FLOAT * s->m * s->n;
}

const ls_synth_kind synth_gemm_tensor = {
    .name = "gemm-tensor",
    .help = "half-precision matrix product on tensor cores, with asynchronous copies",
    .spec_size = sizeof(tensor_spec),
    .params = tensor_params,
    .param_count = LS_COUNT_OF(tensor_params),
    .check = tensor_check,
    .copies = tensor_copies,
    .launch = tensor_launch,
    .assemble = tensor_assemble,
    .warp = tensor_warp,
    .shape = synth_all_alike,
    .facts = tensor_facts,
};
