/* tensor.c: the generator gemm-tensor: half-precision matrix product on tensor cores.
 *
 * C (float) = A (half, row-major) * B (half, row-major). A block of 8 warps makes 128 * `tile_n` of C in slices of
 * 32 along k. Slices come by asynchronous copies (from Ampere on; before, through registers) into a ring of
 * `stages` buffers whose 16-byte pieces are swizzled, so that LDSM has no conflicts. There are 2 * 4 warps.
 *
 * tile_n=128: a warp makes 64 * 32: 4 * 4 products of 16 * 8 for each 16 of k. A slice begins with a barrier and the
 * loads of its first 16 of k. The copies of a later slice and the loads of the second 16 stand between the products.
 *
 * tile_n=256: a warp makes 64 * 64, and a multiply-add needs two thirds of the bytes of shared memory. Fragments have
 * two sets of registers: the loads of the next 16 of k, also those of the next slice, stand between the products
 * of these. The barrier stands in the middle of a slice, and products are under way at both sides of it. */
#include "workload/synth/kind.h"

#include <inttypes.h>

#define TILE 128u
#define SLICE 32u
#define WARPS 8u
#define THREADS (WARPS * SYNTH_WARP)
#define HALF 2u
#define FLOAT 4u
#define PIECE 16u                                      /* bytes of one copy */
#define PIECES (SLICE * TILE * HALF / PIECE / THREADS) /* copies of a thread for A: 2 */
#define BUFFER (SLICE * TILE * HALF)                   /* bytes of A's part of a stage; B's follows */
#define STEPS (SLICE / 16)                             /* of 16 along k */
#define M_PARTS 4u                                     /* of 16 rows in a warp's part */
#define N_PARTS_MAX 8u                                 /* of 8 columns */
#define WIDE 256u                                      /* the larger tile_n */

typedef struct tensor_spec {
    synth_common common;
    uint64_t m, n, k, stages, tile_n;
} tensor_spec;

static const ls_param tensor_params[] = {
    LS_PARAM_UINT(tensor_spec, m, "rows", 256, 128, 32768, "rows of A and C; a multiple of 128"),
    LS_PARAM_UINT(tensor_spec, n, "columns", 256, 128, 32768, "columns of B and C; a multiple of tile_n"),
    LS_PARAM_UINT(tensor_spec, k, "elements", 256, 32, 32768, "columns of A, rows of B; a multiple of 32"),
    LS_PARAM_UINT(tensor_spec, stages, "", 3, 2, 5, "slices in shared memory at a time (from Ampere on)"),
    LS_PARAM_UINT(tensor_spec, tile_n, "columns", 128, 128, WIDE,
                  "columns of C per block: 128, or 256 with larger warp tiles (from Ampere on)"),
};

static bool is_async(const synth_program *p)
{
    return p->version >= 80;
}
static uint64_t slices(const tensor_spec *s)
{
    return s->k / SLICE;
}
static bool is_wide(const tensor_spec *s)
{
    return s->tile_n == WIDE;
}
static uint32_t n_parts(const tensor_spec *s)
{
    return (uint32_t)s->tile_n / 32;
}
/* Copies of a thread per slice. */
static uint32_t copies(const tensor_spec *s)
{
    return PIECES + PIECES * (uint32_t)s->tile_n / TILE;
}
static uint64_t stage_bytes(const tensor_spec *s)
{
    return BUFFER + SLICE * HALF * s->tile_n;
}
/* Copies in flight; through registers it is always the next one. */
static uint64_t depth(const tensor_spec *s)
{
    return synth_versions[s->common.binary_version] >= 80 ? s->stages : 2;
}

static ls_status tensor_check(const void *spec, ls_error *err)
{
    const tensor_spec *s = spec;
    const synth_multiple rules[] = {
        { "tile_n", s->tile_n, TILE }, { "m", s->m, TILE }, { "n", s->n, s->tile_n }, { "k", s->k, SLICE }
    };
    if (synth_versions[s->common.binary_version] < 75)
        return ls_fail(err, LS_ERR_USAGE, "gemm-tensor needs binary_version 75 or later");
    if (is_wide(s) && synth_versions[s->common.binary_version] < 80)
        return ls_fail(err, LS_ERR_USAGE, "gemm-tensor with tile_n=256 needs binary_version 80 or later");
    return synth_check_multiples(rules, LS_COUNT_OF(rules), err);
}

static unsigned tensor_copies(const void *spec, synth_copy *inputs)
{
    const tensor_spec *s = spec;
    inputs[0] = (synth_copy){ synth_array(0), HALF * s->m * s->k };
    inputs[1] = (synth_copy){ synth_array(1), HALF * s->k * s->n };
    return 2;
}

static void tensor_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const tensor_spec *s = spec;
    (void)launch;
    out->name = "_Z5hgemmPK6__halfS1_Pfiii";
    out->grid[0] = (uint32_t)(s->n / s->tile_n);
    out->grid[1] = (uint32_t)(s->m / TILE);
    out->block[0] = THREADS;
    out->shared_bytes = depth(s) * stage_bytes(s);
    out->registers = is_wide(s) ? 208 : 128;
}

/* ------------------------------------------------------------------------------------------------ program */

enum { T_FILL, T_FIRST, T_LOOP, T_WAIT, T_INNER, T_STORE, T_LOOP_END, T_TAIL, T_RESULTS };

/* The parts of a slice, in order. */
typedef enum slice_kind { LOAD_A, LOAD_B, PRODUCT, COPY, COPY_END, WAIT } slice_kind;
typedef struct slice_piece {
    uint8_t kind, step, index;
    uint8_t later; /* of the next slice */
} slice_piece;
#define PIECES_MAX (STEPS * (M_PARTS + N_PARTS_MAX / 2 + M_PARTS * N_PARTS_MAX) + 3 * PIECES + 2)
typedef struct slice_order {
    uint32_t count;
    slice_piece at[PIECES_MAX];
} slice_order;
_Static_assert(STEPS == 2, "the orders below are of two steps");

static void add_piece(slice_order *o, slice_kind kind, uint32_t step, uint32_t index, bool later)
{
    o->at[o->count++] = (slice_piece){ (uint8_t)kind, (uint8_t)step, (uint8_t)index, later };
}

/* Load i of a step: fragments of A, then of B. */
static void add_load(slice_order *o, uint32_t step, uint32_t i, bool later)
{
    if (i < M_PARTS)
        add_piece(o, LOAD_A, step, i, later);
    else
        add_piece(o, LOAD_B, step, i - M_PARTS, later);
}

/* tile_n=128. Fragments of A have one set of registers: those of the second step are loaded when the last product
 * with those of the first has issued. Those of B have two. */
static void order_narrow(const tensor_spec *s, slice_order *o)
{
    uint32_t parts = n_parts(s);
    for (uint32_t i = 0; i < M_PARTS + parts / 2; i++)
        add_load(o, 0, i, false);
    for (uint32_t i = 0; i < parts / 2; i++)
        add_load(o, 1, M_PARTS + i, false);
    for (uint32_t i = 0; i < M_PARTS * parts; i++) {
        add_piece(o, PRODUCT, 0, i, false);
        if (i % parts == 1)
            add_piece(o, COPY, 0, i / parts, false);
        if (i % parts == parts - 1)
            add_load(o, 1, i / parts, false);
    }
    add_piece(o, COPY_END, 0, 0, false);
    for (uint32_t i = 0; i < M_PARTS * parts; i++)
        add_piece(o, PRODUCT, 1, i, false);
}

/* tile_n=256. All fragments have two sets of registers. */
static void order_wide(const tensor_spec *s, slice_order *o)
{
    uint32_t products = M_PARTS * n_parts(s), loads = M_PARTS + n_parts(s) / 2, apart = products / loads;
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < products; i++) {
            add_piece(o, PRODUCT, step, i, false);
            if (i % apart == 0)
                add_load(o, 1 - step, i / apart, step == 1);
            if (step == 0 && i % apart == apart / 2 && i / apart < copies(s))
                add_piece(o, COPY, 0, i / apart, false);
        }
        if (step == 0) {
            add_piece(o, COPY_END, 0, 0, false);
            add_piece(o, WAIT, 0, 0, false);
        }
    }
}

static slice_order order_slice(const tensor_spec *s)
{
    slice_order o = { 0 };
    if (is_wide(s))
        order_wide(s, &o);
    else
        order_narrow(s, &o);
    return o;
}

/* Registers: addresses below R16, then fragments. Narrow: A from R16, B from R32 and R120, what is loaded through
 * registers from R40, results from R56. Wide: A from R16 and R32, B from R48 and R64, results from R80. */
static unsigned register_a(const tensor_spec *s, uint32_t step)
{
    return 16 + (is_wide(s) ? 16 * step : 0);
}
static unsigned register_b(const tensor_spec *s, uint32_t step)
{
    return is_wide(s) ? 48 + 16 * step : step == 0 ? 32 : 120;
}
static unsigned register_c(const tensor_spec *s)
{
    return is_wide(s) ? 80 : 56;
}

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

/* Waits until all slices but the newest depth - 2 are there, for all warps. */
static void wait_rows(const tensor_spec *s, synth_program *p)
{
    if (is_async(p)) {
        synth_op(p, "0 DEPBAR.LE 0 0");
        synth_imm(p, (int64_t)depth(s) - 2);
    }
    synth_barrier(p);
}

static void product_rows(const tensor_spec *s, synth_program *p, uint32_t step, uint32_t i)
{
    unsigned a = register_a(s, step) + 4 * (i / n_parts(s)), b = register_b(s, step) + 2 * (i % n_parts(s));
    unsigned c = register_c(s) + 4 * i;
    if (p->version >= 80)
        synth_op(p, "1 R%u HMMA.16816.F32 3 R%u R%u R%u 0", c, a, b, c);
    else
        for (unsigned half = 0; half < 2; half++)
            synth_op(p, "1 R%u HMMA.1688.F32 3 R%u R%u R%u 0", c, a + 2 * half, b + half, c);
}

/* The rows of one piece. */
static void piece_rows(const tensor_spec *s, synth_program *p, const slice_piece *at)
{
    switch ((slice_kind)at->kind) {
    case LOAD_A:
        synth_op(p, "1 R%u LDSM.16.M88.4 1 R6 2", register_a(s, at->step) + 4 * at->index);
        break;
    case LOAD_B:
        synth_op(p, "1 R%u LDSM.16.MT88.4 1 R7 2", register_b(s, at->step) + 4 * at->index);
        break;
    case PRODUCT:
        product_rows(s, p, at->step, at->index);
        break;
    case COPY:
        copy_row(p, at->index);
        break;
    case COPY_END:
        copy_end(p);
        break;
    case WAIT:
        wait_rows(s, p);
        break;
    }
}

/* The loads of the first step of the first slice, before the loop. */
static slice_order order_first(const tensor_spec *s)
{
    slice_order o = { 0 };
    for (uint32_t i = 0; is_wide(s) && i < M_PARTS + n_parts(s) / 2; i++)
        add_load(&o, 0, i, false);
    return o;
}

static void order_rows(const tensor_spec *s, synth_program *p, const slice_order *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        piece_rows(s, p, &o->at[i]);
}

static void tensor_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const tensor_spec *s = spec;
    const slice_order first = order_first(s), slice = order_slice(s);
    const uint32_t results = M_PARTS * n_parts(s) * 2;
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
    for (uint32_t i = 0; i < results; i++)
        synth_op(p, "1 R%u CS2R 0 0", register_c(s) + 2 * i);
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    p->mark[T_FILL] = synth_here(p);
    for (uint64_t stage = 0; stage + 1 < depth(s); stage++) {
        for (uint32_t i = 0; i < copies(s); i++)
            copy_row(p, i);
        copy_end(p);
    }
    for (uint32_t i = 0; i < copies(s) && !is_async(p); i++)
        synth_op(p, "0 STS.128 2 R%u R%u 16", i < PIECES ? 8 : 9, 40 + 4 * i);
    p->mark[T_WAIT] = p->mark[T_LOOP] = synth_here(p);
    wait_rows(s, p);
    p->mark[T_FIRST] = synth_here(p);
    order_rows(s, p, &first);
    p->mark[T_INNER] = synth_here(p);
    if (is_wide(s)) /* the wait of the loop stands in its middle */
        p->mark[T_LOOP] = p->mark[T_INNER];
    order_rows(s, p, &slice);
    p->mark[T_STORE] = synth_here(p);
    for (uint32_t i = 0; i < copies(s) && !is_async(p); i++)
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
    for (uint32_t i = 0; i < results; i++)
        synth_op(p, "0 STG.E.64 2 R10 R%u 8", register_c(s) + 2 * i);
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
    return slice % depth(s) * stage_bytes(s);
}

/* Piece i of a thread: rows of A have 4 pieces, rows of B 16 or 32. */
static void copy_place(const tensor_spec *s, const synth_warp *w, uint32_t i, uint32_t lane, uint64_t slice,
                       uint64_t *global, uint64_t *shared)
{
    uint32_t t = (i < PIECES ? i : i - PIECES) * THREADS + w->index * SYNTH_WARP + lane;
    uint32_t row_b = (uint32_t)s->tile_n * HALF / PIECE;
    if (i < PIECES) {
        uint64_t row = (uint64_t)w->id[1] * TILE + t / 4;
        *global = synth_array(0) + (row * s->k + slice * SLICE) * HALF + t % 4 * PIECE;
        *shared = swizzled(stage_at(s, slice), t / 4, t % 4, 4);
    } else {
        uint64_t row = slice * SLICE + t / row_b;
        *global = synth_array(1) + (row * s->n + (uint64_t)w->id[0] * s->tile_n) * HALF + t % row_b * PIECE;
        *shared = swizzled(stage_at(s, slice) + BUFFER, t / row_b, t % row_b, row_b);
    }
}

/* Copy i of a slice; after the last slice it is predicated off. */
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
    for (uint32_t i = 0; i < copies(s); i++)
        copy_piece(s, w, row + i, slice, i);
    synth_run(w, row + copies(s), row + copies(s) + copy_end_rows(w->program));
}

/* Before Ampere: from registers into shared memory. */
static void store_slice(const tensor_spec *s, synth_warp *w, uint32_t row, uint64_t slice)
{
    uint64_t global, shared[SYNTH_WARP];
    if (is_async(w->program))
        return;
    w->mask = slice < slices(s) ? SYNTH_FULL : 0;
    for (uint32_t i = 0; i < copies(s); i++) {
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

static void load_b(const tensor_spec *s, synth_warp *w, uint32_t row, uint64_t buffer, const slice_piece *at)
{
    uint32_t row_b = (uint32_t)s->tile_n * HALF / PIECE; /* pieces */
    uint64_t lanes[SYNTH_WARP];                          /* 16 rows of k, then the next 8 columns */
    for (uint32_t l = 0; l < SYNTH_WARP; l++)
        lanes[l] = swizzled(buffer + BUFFER, at->step * 16u + l % 16,
                            w->index % 4 * (row_b / 4) + at->index * 2u + l / 16, row_b);
    synth_list(w, row, lanes);
}

/* Runs the pieces from row `row` on: computes with `slice` and copies slice `next`. */
static void run_pieces(const tensor_spec *s, synth_warp *w, uint32_t row, const slice_order *o, uint64_t slice,
                       uint64_t next)
{
    uint32_t products = w->program->version >= 80 ? 1 : 2,
             wait = w->program->mark[T_FIRST] - w->program->mark[T_WAIT];
    for (uint32_t i = 0; i < o->count; i++) {
        const slice_piece *at = &o->at[i];
        uint64_t buffer = stage_at(s, slice + at->later);
        uint32_t rows = at->kind == PRODUCT    ? products
                        : at->kind == COPY_END ? copy_end_rows(w->program)
                        : at->kind == WAIT     ? wait
                                               : 1;
        if (at->kind == LOAD_A)
            load_a(w, row, buffer, at);
        else if (at->kind == LOAD_B)
            load_b(s, w, row, buffer, at);
        else if (at->kind == COPY)
            copy_piece(s, w, row, next, at->index);
        else
            synth_run(w, row, row + rows);
        row += rows;
    }
}

static void tensor_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const tensor_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    const slice_order first = order_first(s), order = order_slice(s);
    uint32_t copy_length = copies(s) + copy_end_rows(w->program), parts = n_parts(s), wm = w->index / 4,
             wn = w->index % 4;
    uint64_t ahead = depth(s) - 1, lanes[SYNTH_WARP];
    (void)launch;
    synth_run(w, 0, mark[T_FILL]);
    for (uint32_t i = 0; i < ahead; i++)
        copy_slice(s, w, mark[T_FILL] + i * copy_length, i);
    store_slice(s, w, mark[T_FILL] + copy_length, 0);
    if (is_wide(s)) {
        synth_run(w, mark[T_WAIT], mark[T_FIRST]);
        run_pieces(s, w, mark[T_FIRST], &first, 0, 0);
    }
    for (uint64_t slice = 0; slice < slices(s); slice++) {
        synth_run(w, mark[T_LOOP], mark[T_INNER]);
        run_pieces(s, w, mark[T_INNER], &order, slice, slice + ahead);
        store_slice(s, w, mark[T_STORE], slice + ahead);
        synth_loop_end(w, mark[T_LOOP_END], mark[T_TAIL], slice + 1 < slices(s));
    }
    synth_run(w, mark[T_TAIL], mark[T_RESULTS]);
    for (uint32_t i = 0; i < M_PARTS * parts * 2;
         i++) { /* lane l has two columns of row l / 4, and of row 8 + l / 4 */
        for (uint32_t l = 0; l < SYNTH_WARP; l++) {
            uint64_t y = (uint64_t)w->id[1] * TILE + wm * 64 + i / 2 / parts * 16 + i % 2 * 8 + l / 4;
            uint64_t x = (uint64_t)w->id[0] * s->tile_n + wn * (s->tile_n / 4) + i / 2 % parts * 8 + l % 4 * 2;
            lanes[l] = synth_array(2) + (y * s->n + x) * FLOAT;
        }
        synth_list(w, mark[T_RESULTS] + i, lanes);
    }
    synth_run(w, synth_here(w->program) - 1, synth_here(w->program));
}

static void tensor_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const tensor_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = s->m / TILE * (s->n / s->tile_n) * WARPS, n = slices(s), ahead = depth(s) - 1;
    uint64_t insts = mark[T_LOOP] + n * (mark[T_TAIL] - mark[T_LOOP]) + synth_here(p) - mark[T_TAIL];
    uint64_t loads = M_PARTS + n_parts(s) / 2, results = M_PARTS * n_parts(s) * 2; /* loads of a step */
    uint64_t early = is_wide(s) ? 1 : 0; /* steps and barriers before the loop */
    /* The fill makes `ahead` copies and each slice one more: of these n + ahead, n are real, the others
     * off. */
    uint64_t off = ahead * copies(s) * (is_async(p) ? 1 : 2);
    (void)launch;
    f->warp_insts += warps * insts;
    f->thread_insts += warps * (insts - off - 1) * SYNTH_WARP;
    f->global_loads += warps * n * copies(s);
    f->load_sectors += warps * n * copies(s) * (SYNTH_WARP * PIECE / SYNTH_SECTOR);
    f->global_stores += warps * results;
    f->store_sectors += warps * results * 8;
    f->shared_accesses += warps * ((STEPS * n + early) * loads + (is_async(p) ? 0 : n * copies(s)));
    f->barriers += warps * (n + early);
    f->global_bytes += HALF * (s->m * s->k + s->k * s->n) + FLOAT * s->m * s->n;
}

const synth_kind synth_gemm_tensor = {
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
