/* matrix.c: generators for dense matrices of single precision: gemm (tiles in shared memory, results in
 * registers) and transpose. */
#include "workload/synth/kind.h"

#include <inttypes.h>

#define FLOAT 4u

/* -------------------------------------------------------------------------------------------------- gemm
 *
 * C = A * B, all row-major. A block of 256 threads makes a tile of C; thread (x, y) of 16 * 16 makes a square
 * of it, tile / 16 wide. For each slice of k the block loads a piece of A and one of B (16 bytes per thread
 * and load). It stores A's piece transposed, so that a column is one wide load, and multiplies out of shared
 * memory. */

#define GEMM_THREADS 256u
#define GEMM_SIDE 16u
/* Floats after each row of A's piece, so that writing it transposed has no 16-way conflicts. */
#define GEMM_PAD 4u

static const char *const tile_names[] = { "32", "64", "128", NULL };

typedef struct gemm_spec {
    synth_common common;
    uint64_t m, n, k, tile_k;
    uint32_t tile;
} gemm_spec;

static const ls_param gemm_params[] = {
    LS_PARAM_UINT(gemm_spec, m, "rows", 256, 32, 32768, "rows of A and C; a multiple of tile"),
    LS_PARAM_UINT(gemm_spec, n, "columns", 256, 32, 32768, "columns of B and C; a multiple of tile"),
    LS_PARAM_UINT(gemm_spec, k, "elements", 256, 8, 32768, "columns of A, rows of B; a multiple of tile_k"),
    LS_PARAM_CHOICE(gemm_spec, tile, "tile", "64", tile_names, "side of the square of C that a block makes"),
    LS_PARAM_UINT(gemm_spec, tile_k, "elements", 16, 8, 32,
                  "slice of k in shared memory; tile * tile_k >= 1024"),
};

static uint32_t gemm_tile(const gemm_spec *s)
{
    return 32u << s->tile;
}
/* Side of the square of one thread: 2, 4 or 8. */
static uint32_t gemm_side(const gemm_spec *s)
{
    return gemm_tile(s) / GEMM_SIDE;
}
/* Loads of 16 bytes that each thread makes for its piece of A, and as many for B. */
static uint32_t gemm_loads(const gemm_spec *s)
{
    return gemm_tile(s) * (uint32_t)s->tile_k / GEMM_THREADS / 4;
}
/* A thread's row of results: accesses, and bytes of each. */
static uint32_t gemm_pieces(const gemm_spec *s)
{
    return gemm_side(s) == 8 ? 2 : 1;
}
static uint32_t gemm_piece_bytes(const gemm_spec *s)
{
    return gemm_side(s) * FLOAT / gemm_pieces(s);
}
static uint32_t gemm_a_pitch(const gemm_spec *s) /* bytes from one k to the next in shared memory */
{
    return (gemm_tile(s) + GEMM_PAD) * FLOAT;
}
static uint64_t gemm_b_shared(const gemm_spec *s)
{
    return s->tile_k * gemm_a_pitch(s);
}

static ls_status gemm_check(const void *spec, ls_error *err)
{
    const gemm_spec *s = spec;
    const synth_multiple rules[] = { { "m", s->m, gemm_tile(s) },
                                     { "n", s->n, gemm_tile(s) },
                                     { "k", s->k, s->tile_k } };
    if ((s->tile_k & (s->tile_k - 1)) != 0 || gemm_tile(s) * s->tile_k < 4 * GEMM_THREADS)
        return ls_fail(err, LS_ERR_USAGE,
                       "parameter 'tile_k': a tile of %" PRIu32 " needs a power of two, at least %" PRIu32,
                       gemm_tile(s), 4 * GEMM_THREADS / gemm_tile(s));
    return synth_check_multiples(rules, LS_COUNT_OF(rules), err);
}

static unsigned gemm_copies(const void *spec, synth_copy *copies)
{
    const gemm_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), FLOAT * s->m * s->k };
    copies[1] = (synth_copy){ synth_array(1), FLOAT * s->k * s->n };
    return 2;
}

static void gemm_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const gemm_spec *s = spec;
    uint32_t side = gemm_side(s);
    (void)launch;
    out->name = "_Z5sgemmPKfS0_Pfiii";
    out->grid[0] = (uint32_t)(s->n / gemm_tile(s));
    out->grid[1] = (uint32_t)(s->m / gemm_tile(s));
    out->block[0] = GEMM_THREADS;
    out->shared_bytes = gemm_b_shared(s) + s->tile_k * gemm_tile(s) * FLOAT;
    out->registers = 32 + side * side + 2 * side + 8 * gemm_loads(s);
}

enum { GEMM_LOADS, GEMM_STORES, GEMM_BARRIER, GEMM_INNER, GEMM_LOOP_END, GEMM_TAIL, GEMM_RESULTS };

/* Registers: loaded pieces from R16, then a column of A, a row of B, and the results. */
static void gemm_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    static const char *const wide[] = { [8] = ".64", [16] = ".128" };
    const gemm_spec *s = spec;
    uint32_t side = gemm_side(s), loads = gemm_loads(s), pieces = gemm_pieces(s), bytes = gemm_piece_bytes(s);
    unsigned a = 16 + 8 * loads, b = a + side, c = b + side;
    const char *load = synth_ldg(p);
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R3 S2R 0 0");
    synth_op(p, "1 R4 S2R 0 0");
    synth_op(p, "1 R5 SHF.R.U32.HI 2 R255 R2 0");
    synth_op(p, p->version >= 70 ? "1 R6 LOP3.LUT 2 R2 R255 0" : "1 R6 LOP32I.AND 1 R2 0");
    synth_multiply_add(p, 7, 3, 10, 5);
    synth_multiply_add(p, 8, 4, 11, 6);
    synth_constant(p, 9);
    synth_address(p, 10, 7, 9);
    synth_address(p, 12, 8, 9);
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    for (uint32_t i = 0; i < side * side; i++)
        synth_op(p, p->version >= 80 ? "1 R%u CS2R 0 0" : "1 R%u MOV 1 R255 0", c + i);
    synth_op(p, "1 R14 MOV 1 R255 0");
    p->mark[GEMM_LOADS] = synth_here(p);
    for (uint32_t i = 0; i < loads; i++)
        synth_op(p, "1 R%u LDG.E.128%s 1 R10 16", 16 + 4 * i, load + 5);
    for (uint32_t i = 0; i < loads; i++)
        synth_op(p, "1 R%u LDG.E.128%s 1 R12 16", 16 + 4 * (loads + i), load + 5);
    p->mark[GEMM_STORES] = synth_here(p);
    for (uint32_t i = 0; i < 4 * loads; i++)
        synth_op(p, "0 STS 2 R6 R%u 4", 16 + i);
    for (uint32_t i = 0; i < loads; i++)
        synth_op(p, "0 STS.128 2 R5 R%u 16", 16 + 4 * (loads + i));
    p->mark[GEMM_BARRIER] = synth_barrier(p);
    p->mark[GEMM_INNER] = synth_here(p);
    for (uint64_t k = 0; k < s->tile_k; k++) {
        for (uint32_t i = 0; i < pieces; i++)
            synth_op(p, "1 R%u LDS%s 1 R7 %u", a + i * bytes / FLOAT, wide[bytes], bytes);
        for (uint32_t i = 0; i < pieces; i++)
            synth_op(p, "1 R%u LDS%s 1 R8 %u", b + i * bytes / FLOAT, wide[bytes], bytes);
        for (uint32_t i = 0; i < side * side; i++)
            synth_op(p, "1 R%u FFMA 3 R%u R%u R%u 0", c + i, a + i / side, b + i % side, c + i);
    }
    p->mark[GEMM_LOOP_END] = synth_barrier(p);
    synth_increment(p, 14, (int64_t)s->tile_k);
    synth_increment(p, 10, (int64_t)(s->tile_k * FLOAT));
    synth_increment(p, 12, (int64_t)(s->tile_k * s->n * FLOAT));
    synth_op(p, "0 ISETP.GE.AND 1 R14 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[GEMM_TAIL] = synth_here(p);
    synth_multiply_add(p, 7, 5, 16, 6);
    synth_address(p, 10, 7, 9);
    p->mark[GEMM_RESULTS] = synth_here(p);
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t piece = 0; piece < pieces; piece++)
            synth_op(p, "0 STG.E%s 2 R10 R%u %u", wide[bytes], c + i * side + piece * bytes / FLOAT, bytes);
    synth_exit(p);
}

/* Loads and puts into shared memory what the block needs for one slice of k. */
static void gemm_load_slice(const gemm_spec *s, synth_warp *w, uint64_t k)
{
    const uint32_t *mark = w->program->mark;
    uint32_t tile = gemm_tile(s), loads = gemm_loads(s), in_row = (uint32_t)s->tile_k / 4, b_row = tile / 4;
    uint64_t lanes[SYNTH_WARP];
    for (uint32_t i = 0; i < loads; i++) { /* A: tile_k / 4 threads on each row */
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
            uint32_t t = i * GEMM_THREADS + w->index * SYNTH_WARP + lane;
            uint64_t row = (uint64_t)w->id[1] * tile + t / in_row;
            lanes[lane] = synth_array(0) + (row * s->k + k + t % in_row * 4) * FLOAT;
        }
        synth_list(w, mark[GEMM_LOADS] + i, lanes);
    }
    for (uint32_t i = 0; i < loads; i++) { /* B: tile / 4 threads on each row */
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
            uint32_t t = i * GEMM_THREADS + w->index * SYNTH_WARP + lane;
            uint64_t column = (uint64_t)w->id[0] * tile + t % b_row * 4;
            lanes[lane] = synth_array(1) + ((k + t / b_row) * s->n + column) * FLOAT;
        }
        synth_list(w, mark[GEMM_LOADS] + loads + i, lanes);
    }
    for (uint32_t i = 0; i < 4 * loads;
         i++) { /* element i % 4 of each load becomes one of the transposed rows */
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
            uint32_t t = i / 4 * GEMM_THREADS + w->index * SYNTH_WARP + lane;
            lanes[lane] = (uint64_t)(t % in_row * 4 + i % 4) * gemm_a_pitch(s) + t / in_row * FLOAT;
        }
        synth_list(w, mark[GEMM_STORES] + i, lanes);
    }
    for (uint32_t i = 0; i < loads; i++)
        synth_lanes(w, mark[GEMM_STORES] + 4 * loads + i,
                    gemm_b_shared(s) + (uint64_t)(i * GEMM_THREADS + w->index * SYNTH_WARP) * 16, 16);
}

static void gemm_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const gemm_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint32_t tile = gemm_tile(s), side = gemm_side(s), pieces = gemm_pieces(s), bytes = gemm_piece_bytes(s);
    uint64_t lanes[SYNTH_WARP];
    (void)launch;
    synth_run(w, 0, mark[GEMM_LOADS]);
    for (uint64_t k = 0; k < s->k; k += s->tile_k) {
        gemm_load_slice(s, w, k);
        synth_run(w, mark[GEMM_BARRIER], mark[GEMM_INNER]);
        uint32_t row = mark[GEMM_INNER];
        for (uint32_t kk = 0; kk < s->tile_k; kk++) {
            for (uint32_t i = 0; i < 2 * pieces; i++, row++) { /* two rows of 16 threads in a warp */
                for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
                    uint32_t x = lane % GEMM_SIDE, y = 2 * w->index + lane / GEMM_SIDE;
                    lanes[lane] = i < pieces ? (uint64_t)kk * gemm_a_pitch(s) + y * side * FLOAT + i * bytes
                                             : gemm_b_shared(s) + ((uint64_t)kk * tile + x * side) * FLOAT +
                                                   (i - pieces) * bytes;
                }
                synth_list(w, row, lanes);
            }
            synth_run(w, row, row + side * side);
            row += side * side;
        }
        synth_loop_end(w, mark[GEMM_LOOP_END], mark[GEMM_TAIL], k + s->tile_k < s->k);
    }
    synth_run(w, mark[GEMM_TAIL], mark[GEMM_RESULTS]);
    for (uint32_t i = 0; i < side * pieces; i++) {
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
            uint64_t x = (uint64_t)w->id[0] * tile + lane % GEMM_SIDE * side;
            uint64_t y = (uint64_t)w->id[1] * tile + (2 * w->index + lane / GEMM_SIDE) * side + i / pieces;
            lanes[lane] = synth_array(2) + (y * s->n + x) * FLOAT + i % pieces * bytes;
        }
        synth_list(w, mark[GEMM_RESULTS] + i, lanes);
    }
    synth_run(w, synth_here(w->program) - 1, synth_here(w->program));
}

static void gemm_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const gemm_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = s->m / gemm_tile(s) * (s->n / gemm_tile(s)) * (GEMM_THREADS / SYNTH_WARP);
    uint64_t slices = s->k / s->tile_k, loads = gemm_loads(s), side = gemm_side(s), pieces = gemm_pieces(s);
    uint64_t insts =
        mark[GEMM_LOADS] + slices * (mark[GEMM_TAIL] - mark[GEMM_LOADS]) + synth_here(p) - mark[GEMM_TAIL];
    (void)launch;
    f->warp_insts += warps * insts;
    f->thread_insts += warps * (insts - 1) * SYNTH_WARP; /* but for the last branch */
    f->global_loads += warps * slices * 2 * loads;
    f->load_sectors += warps * slices * 2 * loads * (SYNTH_WARP * 16 / SYNTH_SECTOR);
    f->global_stores += warps * side * pieces;
    /* Two rows of 16 threads; each thread's side is 8, 16 or 32 bytes, and a sector that is half written
     * counts. */
    f->store_sectors += warps * side * pieces * 2 * (GEMM_SIDE * side * FLOAT / SYNTH_SECTOR);
    f->shared_accesses += warps * slices * (5 * loads + s->tile_k * 2 * pieces);
    f->barriers += warps * slices * 2;
    f->global_bytes += FLOAT * (s->m * s->k + s->k * s->n + s->m * s->n);
}

const synth_kind synth_gemm = {
    .name = "gemm",
    .help = "single-precision matrix product with tiles in shared memory",
    .spec_size = sizeof(gemm_spec),
    .params = gemm_params,
    .param_count = LS_COUNT_OF(gemm_params),
    .check = gemm_check,
    .copies = gemm_copies,
    .launch = gemm_launch,
    .assemble = gemm_assemble,
    .warp = gemm_warp,
    .shape = synth_all_alike,
    .facts = gemm_facts,
};

/* --------------------------------------------------------------------------------------------- transpose */

#define TILE 32u
#define ROWS 8u /* threads in y: each makes TILE / ROWS elements */
#define STEPS (TILE / ROWS)

enum { NAIVE, SHARED, PADDED };
static const char *const transpose_modes[] = { "naive", "shared", "padded", NULL };

typedef struct transpose_spec {
    synth_common common;
    uint64_t n;
    uint32_t mode;
} transpose_spec;

static const ls_param transpose_params[] = {
    LS_PARAM_UINT(transpose_spec, n, "elements", 1024, 32, 32768,
                  "side of the square matrix; a multiple of 32"),
    LS_PARAM_CHOICE(
        transpose_spec, mode, "mode", "padded", transpose_modes,
        "naive: straight to memory; shared: through shared memory, with 32-way conflicts; padded: without"),
};

static ls_status transpose_check(const void *spec, ls_error *err)
{
    const transpose_spec *s = spec;
    return synth_check_multiples(&(synth_multiple){ "n", s->n, TILE }, 1, err);
}

static unsigned transpose_copies(const void *spec, synth_copy *copies)
{
    const transpose_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), FLOAT * s->n * s->n };
    return 1;
}

static uint32_t transpose_pitch(const transpose_spec *s)
{
    return (TILE + (s->mode == PADDED)) * FLOAT;
}

static void transpose_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    static const char *const names[] = { "_Z14transposeNaivePfPKf", "_Z15transposeSharedPfPKf",
                                         "_Z15transposePaddedPfPKf" };
    const transpose_spec *s = spec;
    (void)launch;
    out->name = names[s->mode];
    out->grid[0] = out->grid[1] = (uint32_t)(s->n / TILE);
    out->block[0] = TILE;
    out->block[1] = ROWS;
    out->shared_bytes = s->mode == NAIVE ? 0 : TILE * transpose_pitch(s);
    out->registers = 24;
}

enum { TRANSPOSE_LOADS, TRANSPOSE_WRITES, TRANSPOSE_BARRIER, TRANSPOSE_READS, TRANSPOSE_STORES };

static void transpose_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const transpose_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R3 S2R 0 0");
    synth_op(p, "1 R4 S2R 0 0");
    synth_op(p, "1 R5 S2R 0 0");
    synth_multiply_add(p, 6, 2, 8, 4);
    synth_multiply_add(p, 7, 3, 9, 5);
    synth_constant(p, 9);
    synth_address(p, 10, 6, 9);
    synth_address(p, 12, 7, 9);
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    p->mark[TRANSPOSE_LOADS] = synth_here(p);
    for (unsigned i = 0; i < STEPS; i++)
        synth_op(p, "1 R%u %s 1 R10 4", 16 + i, synth_ldg(p));
    p->mark[TRANSPOSE_WRITES] = synth_here(p);
    for (unsigned i = 0; i < STEPS && s->mode != NAIVE; i++)
        synth_op(p, "0 STS 2 R6 R%u 4", 16 + i);
    p->mark[TRANSPOSE_BARRIER] = synth_here(p);
    if (s->mode != NAIVE)
        synth_barrier(p);
    p->mark[TRANSPOSE_READS] = synth_here(p);
    for (unsigned i = 0; i < STEPS && s->mode != NAIVE; i++)
        synth_op(p, "1 R%u LDS 1 R7 4", 16 + i);
    p->mark[TRANSPOSE_STORES] = synth_here(p);
    for (unsigned i = 0; i < STEPS; i++)
        synth_op(p, "0 STG.E 2 R12 R%u 4", 16 + i);
    synth_exit(p);
}

static void transpose_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const transpose_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t pitch = s->n * FLOAT, x0 = (uint64_t)w->id[0] * TILE, y0 = (uint64_t)w->id[1] * TILE;
    uint64_t out = synth_array(1), in_tile = transpose_pitch(s);
    (void)launch;
    synth_run(w, 0, mark[TRANSPOSE_LOADS]);
    for (uint32_t i = 0; i < STEPS; i++)
        synth_lanes(w, mark[TRANSPOSE_LOADS] + i,
                    synth_array(0) + (y0 + w->index + i * ROWS) * pitch + x0 * FLOAT, FLOAT);
    for (uint32_t i = 0; i < STEPS && s->mode != NAIVE; i++)
        synth_lanes(w, mark[TRANSPOSE_WRITES] + i, (w->index + i * ROWS) * in_tile, FLOAT);
    synth_run(w, mark[TRANSPOSE_BARRIER], mark[TRANSPOSE_READS]);
    for (uint32_t i = 0; i < STEPS && s->mode != NAIVE; i++)
        synth_lanes(w, mark[TRANSPOSE_READS] + i, (w->index + i * ROWS) * FLOAT, (int64_t)in_tile);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t row = w->index + i * ROWS; /* of the tile that is read or written */
        if (s->mode == NAIVE)
            synth_lanes(w, mark[TRANSPOSE_STORES] + i, out + x0 * pitch + (y0 + row) * FLOAT, (int64_t)pitch);
        else
            synth_lanes(w, mark[TRANSPOSE_STORES] + i, out + (x0 + row) * pitch + y0 * FLOAT, FLOAT);
    }
    synth_run(w, synth_here(w->program) - 1, synth_here(w->program));
}

static void transpose_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const transpose_spec *s = spec;
    uint64_t warps = s->n / TILE * (s->n / TILE) * ROWS;
    (void)launch;
    f->warp_insts += warps * synth_here(p);
    f->thread_insts += warps * synth_here(p) * SYNTH_WARP;
    f->global_loads += warps * STEPS;
    f->global_stores += warps * STEPS;
    f->load_sectors += warps * STEPS * (SYNTH_LINE / SYNTH_SECTOR);
    f->store_sectors += warps * STEPS * (s->mode == NAIVE ? TILE : SYNTH_LINE / SYNTH_SECTOR);
    f->shared_accesses += s->mode == NAIVE ? 0 : warps * STEPS * 2;
    f->barriers += s->mode == NAIVE ? 0 : warps;
    f->global_bytes += 2 * FLOAT * s->n * s->n;
}

const synth_kind synth_transpose = {
    .name = "transpose",
    .help = "transpose of a square matrix of floats, with or without shared memory",
    .spec_size = sizeof(transpose_spec),
    .params = transpose_params,
    .param_count = LS_COUNT_OF(transpose_params),
    .check = transpose_check,
    .copies = transpose_copies,
    .launch = transpose_launch,
    .assemble = transpose_assemble,
    .warp = transpose_warp,
    .shape = synth_all_alike,
    .facts = transpose_facts,
};
