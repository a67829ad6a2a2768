/* block.c: generators in which the threads of a block work together or beside each other: reduction, stencil
 * and barrier-storm. */
#include "workload/synth/kind.h"

#include <inttypes.h>

#define FLOAT 4u

/* --------------------------------------------------------------------------------------------- reduction
 *
 * Two launches. Blocks add up elements in a loop over the grid, then halve their sums in shared memory until
 * one warp is left, which ends with shuffles. The second launch does the same to the blocks' sums with one
 * block. */

typedef struct reduction_spec {
    synth_common common;
    uint64_t n, block, ctas;
} reduction_spec;

static const ls_param reduction_params[] = {
    LS_PARAM_UINT(reduction_spec, n, "elements", 1048576, 1, 4294967296, "elements to add up, 4 bytes each"),
    LS_PARAM_UINT(reduction_spec, block, "threads", 256, 64, 1024, "threads of a block, a power of two"),
    LS_PARAM_UINT(reduction_spec, ctas, "blocks", 64, 1, 65536, "thread blocks of the first launch"),
};

static ls_status reduction_check(const void *spec, ls_error *err)
{
    const reduction_spec *s = spec;
    if ((s->block & (s->block - 1)) != 0)
        return ls_fail(err, LS_ERR_USAGE, "parameter 'block': %" PRIu64 " is not a power of two", s->block);
    return LS_OK;
}

static uint32_t reduction_launches(const void *spec)
{
    (void)spec;
    return 2;
}

static unsigned reduction_copies(const void *spec, synth_copy *copies)
{
    copies[0] = (synth_copy){ synth_array(0), FLOAT * ((const reduction_spec *)spec)->n };
    return 1;
}

static uint64_t reduction_elements(const reduction_spec *s, uint32_t launch)
{
    return launch == 0 ? s->n : s->ctas;
}
static uint64_t reduction_ctas(const reduction_spec *s, uint32_t launch)
{
    return launch == 0 ? s->ctas : 1;
}

static void reduction_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const reduction_spec *s = spec;
    out->name = "_Z6reducePKfPfm";
    out->grid[0] = (uint32_t)reduction_ctas(s, launch);
    out->block[0] = (uint32_t)s->block;
    out->shared_bytes = s->block * FLOAT;
    out->registers = 16;
}

/* A step of the tree: compare, branch, [two loads, add, store], barrier. */
enum { R_CHECK, R_LOAD, R_LOOP_END, R_PUT, R_TREE, R_TREE_STEP, R_LAST, R_SHUFFLES, R_RESULT };
#define TREE_LOAD 2u

static void reduction_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const reduction_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 2);
    synth_constant(p, 6);
    synth_op(p, "1 R7 MOV 1 R255 0");
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    p->mark[R_CHECK] = synth_here(p);
    synth_op(p, "0 ISETP.GE.AND 1 R2 0");
    synth_op(p, "0 BRA 0 0"); /* of the lanes that have no element */
    synth_address(p, 8, 2, 6);
    p->mark[R_LOAD] = synth_op(p, "1 R5 %s 1 R8 4", synth_ldg(p));
    synth_op(p, "1 R7 FADD 2 R7 R5 0");
    p->mark[R_LOOP_END] = synth_here(p);
    synth_increment(p, 2, (int64_t)(reduction_ctas(s, launch) * s->block));
    synth_op(p, "0 ISETP.GE.AND 1 R2 0");
    synth_op(p, "0 BRA 0 0"); /* back, of the lanes that have another */
    p->mark[R_PUT] = synth_op(p, "0 STS 2 R3 R7 4");
    synth_barrier(p);
    p->mark[R_TREE] = synth_here(p);
    for (uint64_t half = s->block / 2; half >= SYNTH_WARP; half /= 2) {
        synth_op(p, "0 ISETP.GT.AND 1 R3 0");
        synth_imm(p, (int64_t)half - 1);
        synth_op(p, "0 BRA 0 0");
        synth_op(p, "1 R5 LDS 1 R3 4");
        synth_op(p, "1 R7 LDS 1 R3 4");
        synth_op(p, "1 R7 FADD 2 R7 R5 0");
        synth_op(p, "0 STS 2 R3 R7 4");
        synth_barrier(p);
        if (half == s->block / 2)
            p->mark[R_TREE_STEP] = synth_here(p) - p->mark[R_TREE];
    }
    p->mark[R_LAST] = synth_here(p);
    synth_op(p, "0 ISETP.GT.AND 1 R3 0");
    synth_imm(p, SYNTH_WARP - 1);
    synth_op(p, "0 EXIT 0 0");
    p->mark[R_SHUFFLES] = synth_here(p);
    for (int distance = 16; distance > 0; distance /= 2) {
        synth_op(p, "1 R5 SHFL.DOWN 2 R7 R255 0");
        synth_imm(p, distance);
        synth_op(p, "1 R7 FADD 2 R7 R5 0");
    }
    synth_op(p, "0 ISETP.NE.AND 2 R3 R255 0");
    synth_op(p, "0 EXIT 0 0");
    synth_address(p, 8, 2, 6);
    p->mark[R_RESULT] = synth_op(p, "0 STG.E 2 R8 R7 4");
    synth_exit(p);
}

static uint32_t first_lanes(uint64_t count)
{
    return count >= SYNTH_WARP ? SYNTH_FULL : (uint32_t)((UINT64_C(1) << count) - 1);
}

static void reduction_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const reduction_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t n = reduction_elements(s, launch), all = reduction_ctas(s, launch) * s->block;
    uint64_t in = synth_array(launch), out = synth_array(launch + 1), mine = FLOAT * w->index * SYNTH_WARP;
    synth_run(w, 0, mark[R_CHECK] + 1);
    uint32_t has = first_lanes(w->thread < n ? n - w->thread : 0);
    synth_one(w, mark[R_CHECK] + 1, ~has);
    for (uint64_t at = w->thread; has; at += all) {
        w->mask = has;
        synth_run(w, mark[R_CHECK] + 2, mark[R_LOAD]);
        synth_lanes(w, mark[R_LOAD], in + FLOAT * at, FLOAT);
        has = first_lanes(at + all < n ? n - at - all : 0);
        synth_run(w, mark[R_LOAD] + 1, mark[R_PUT] - 1);
        synth_one(w, mark[R_PUT] - 1, has);
    }
    w->mask = SYNTH_FULL;
    synth_lanes(w, mark[R_PUT], mine, FLOAT);
    synth_run(w, mark[R_PUT] + 1, mark[R_TREE]);
    uint32_t row = mark[R_TREE];
    for (uint64_t half = s->block / 2; half >= SYNTH_WARP; half /= 2, row += mark[R_TREE_STEP]) {
        bool active = w->index < half / SYNTH_WARP;
        synth_run(w, row, row + 1);
        synth_one(w, row + 1, active ? 0 : SYNTH_FULL);
        if (active) {
            synth_lanes(w, row + TREE_LOAD, mine + FLOAT * half, FLOAT);
            synth_lanes(w, row + TREE_LOAD + 1, mine, FLOAT);
            synth_run(w, row + TREE_LOAD + 2, row + TREE_LOAD + 3);
            synth_lanes(w, row + TREE_LOAD + 3, mine, FLOAT);
        }
        synth_run(w, row + TREE_LOAD + 4, row + mark[R_TREE_STEP]);
    }
    synth_run(w, mark[R_LAST], mark[R_LAST] + 1);
    synth_one(w, mark[R_LAST] + 1, w->index > 0 ? SYNTH_FULL : 0);
    if (w->index > 0)
        return;
    uint32_t exit_row = mark[R_SHUFFLES] + 11;
    synth_run(w, mark[R_SHUFFLES], exit_row);
    synth_one(w, exit_row, ~UINT32_C(1));
    w->mask = 1;
    synth_run(w, exit_row + 1, mark[R_RESULT]);
    synth_lanes(w, mark[R_RESULT], out + FLOAT * w->id[0], FLOAT);
    synth_run(w, mark[R_RESULT] + 1, synth_here(w->program));
}

/* Without a rest, all blocks go through the loop equally often. */
static uint64_t reduction_shape(const void *spec, uint32_t launch, const uint32_t id[3])
{
    const reduction_spec *s = spec;
    (void)id;
    return reduction_elements(s, launch) % (reduction_ctas(s, launch) * s->block) == 0 ? 0 : LS_SHAPE_ALONE;
}

static void reduction_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const reduction_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t n = reduction_elements(s, launch), ctas = reduction_ctas(s, launch), all = ctas * s->block;
    uint64_t per_cta = s->block / SYNTH_WARP, warps = ctas * per_cta;
    uint64_t body = mark[R_PUT] - mark[R_CHECK] - 2, ends = synth_here(p) - mark[R_RESULT];
    uint64_t barrier = mark[R_TREE_STEP] - TREE_LOAD - 4; /* rows */
    uint64_t loops = 0, steps = 0, active = 0, again = 0, address = mark[R_RESULT] - (mark[R_SHUFFLES] + 12);
    for (uint64_t at = 0; at < n; at += all) { /* rounds of the whole grid */
        loops += synth_min(warps, synth_ceil_div(n - at, SYNTH_WARP));
        again += at + all < n ? synth_min(all, n - at - all) : 0; /* lanes that jump back */
    }
    for (uint64_t half = s->block / 2; half >= SYNTH_WARP; half /= 2) {
        steps++;
        active += half / SYNTH_WARP;
    }
    uint64_t tree = ctas * (steps * per_cta * (2 + barrier) + active * 4);
    f->warp_insts +=
        warps * (mark[R_CHECK] + 2 + 1 + barrier + 2) + loops * body + tree + ctas * (12 + address + ends);
    f->thread_insts +=
        SYNTH_WARP * warps * (mark[R_CHECK] + 1 + 1 + barrier + 1); /* check, put, barrier, last */
    f->thread_insts += all - synth_min(n, all);                     /* lanes without an element */
    f->thread_insts += n * (body - 1) + again;
    f->thread_insts += SYNTH_WARP * ctas * (steps * per_cta * (2 + barrier) - active + active * 4);
    f->thread_insts += SYNTH_WARP * ctas * (per_cta - 1) + ctas * (SYNTH_WARP * 11 + 31 + address + ends);
    f->global_loads += loops;
    f->load_sectors += synth_ceil_div(FLOAT * n, SYNTH_SECTOR);
    f->global_stores += ctas;
    f->store_sectors += ctas;
    f->shared_accesses += warps + ctas * active * 3;
    f->barriers += warps * (1 + steps);
    /* The blocks' sums are written by one launch and read by the next. */
    f->global_bytes += launch == 0 ? FLOAT * (n + ctas) : FLOAT;
}

const synth_kind synth_reduction = {
    .name = "reduction",
    .help = "sum of a vector: grid loop, tree in shared memory, shuffles; two launches",
    .spec_size = sizeof(reduction_spec),
    .params = reduction_params,
    .param_count = LS_COUNT_OF(reduction_params),
    .check = reduction_check,
    .launches = reduction_launches,
    .copies = reduction_copies,
    .launch = reduction_launch,
    .assemble = reduction_assemble,
    .warp = reduction_warp,
    .shape = reduction_shape,
    .facts = reduction_facts,
};

/* ----------------------------------------------------------------------------------------------- stencil */

#define STENCIL_ROWS 8u /* of a block; 32 columns */
#define POINTS 5u

typedef struct stencil_spec {
    synth_common common;
    uint64_t nx, ny, steps;
} stencil_spec;

static const ls_param stencil_params[] = {
    LS_PARAM_UINT(stencil_spec, nx, "columns", 512, 32, 65536, "columns of the grid, a multiple of 32"),
    LS_PARAM_UINT(stencil_spec, ny, "rows", 512, 8, 65536, "rows of the grid, a multiple of 8"),
    LS_PARAM_UINT(stencil_spec, steps, "", 1, 1, 1024, "time steps, one launch each"),
};

static ls_status stencil_check(const void *spec, ls_error *err)
{
    const stencil_spec *s = spec;
    if (s->nx % SYNTH_WARP != 0 || s->ny % STENCIL_ROWS != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "parameters 'nx' and 'ny': %" PRIu64 " and %" PRIu64 " are not multiples of 32 and 8",
                       s->nx, s->ny);
    if (s->nx * s->ny > UINT64_C(1) << 30)
        return ls_fail(err, LS_ERR_USAGE, "parameters 'nx' and 'ny': more than 4 GiB");
    return LS_OK;
}

static uint32_t stencil_launches(const void *spec)
{
    return (uint32_t)((const stencil_spec *)spec)->steps;
}

static unsigned stencil_copies(const void *spec, synth_copy *copies)
{
    const stencil_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), FLOAT * s->nx * s->ny };
    return 1;
}

static void stencil_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const stencil_spec *s = spec;
    (void)launch;
    out->name = "_Z8stencil5PKfPfii";
    out->grid[0] = (uint32_t)(s->nx / SYNTH_WARP);
    out->grid[1] = (uint32_t)(s->ny / STENCIL_ROWS);
    out->block[0] = SYNTH_WARP;
    out->block[1] = STENCIL_ROWS;
    out->registers = 20;
}

enum { S_EXIT, S_LOADS, S_STORE };

static void stencil_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R3 S2R 0 0");
    synth_op(p, "1 R4 S2R 0 0");
    synth_op(p, "1 R5 S2R 0 0");
    synth_multiply_add(p, 2, 2, 6, 3);
    synth_multiply_add(p, 4, 4, 7, 5);
    synth_op(p, "0 ISETP.NE.AND 2 R2 R255 0");
    synth_op(p, "0 ISETP.NE.AND 2 R4 R255 0");
    p->mark[S_EXIT] = synth_bounds(p, 2);
    synth_multiply_add(p, 6, 4, 7, 2);
    synth_constant(p, 7);
    synth_address(p, 8, 6, 7);
    synth_address(p, 10, 6, 7);
    p->mark[S_LOADS] = synth_here(p);
    for (unsigned i = 0; i < POINTS; i++)
        synth_op(p, "1 R%u %s 1 R%u 4", 12 + i, synth_ldg(p), i < 3 ? 8 : 10);
    for (unsigned i = 1; i < POINTS; i++)
        synth_op(p, "1 R12 FADD 2 R12 R%u 0", 12 + i);
    synth_op(p, "1 R12 FMUL 1 R12 0");
    synth_address(p, 8, 6, 7);
    p->mark[S_STORE] = synth_op(p, "0 STG.E 2 R8 R12 4");
    synth_exit(p);
}

/* Lanes of a column of blocks that are not on the left or right edge. */
static uint32_t stencil_lanes(const stencil_spec *s, uint64_t column)
{
    return (column == 0 ? ~UINT32_C(1) : SYNTH_FULL) &
           (column == s->nx / SYNTH_WARP - 1 ? SYNTH_FULL >> 1 : SYNTH_FULL);
}

static void stencil_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const stencil_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    const int64_t pitch = (int64_t)(FLOAT * s->nx), offsets[POINTS] = { 0, -4, 4, -pitch, pitch };
    uint64_t y = (uint64_t)w->id[1] * STENCIL_ROWS + w->index, x = (uint64_t)w->id[0] * SYNTH_WARP;
    uint64_t at = FLOAT * (y * s->nx + x);
    uint32_t inside = y == 0 || y == s->ny - 1 ? 0 : stencil_lanes(s, w->id[0]);
    synth_run(w, 0, mark[S_EXIT]);
    synth_one(w, mark[S_EXIT], ~inside);
    if (!inside)
        return;
    w->mask = inside;
    synth_run(w, mark[S_EXIT] + 1, mark[S_LOADS]);
    for (uint32_t i = 0; i < POINTS; i++)
        synth_lanes(w, mark[S_LOADS] + i, synth_array(launch % 2) + at + (uint64_t)offsets[i], FLOAT);
    synth_run(w, mark[S_LOADS] + POINTS, mark[S_STORE]);
    synth_lanes(w, mark[S_STORE], synth_array(1 - launch % 2) + at, FLOAT);
    synth_run(w, mark[S_STORE] + 1, synth_here(w->program));
}

/* By the edges that a block has. */
static uint64_t stencil_shape(const void *spec, uint32_t launch, const uint32_t id[3])
{
    const stencil_spec *s = spec;
    (void)launch;
    uint64_t left = id[0] == 0, right = id[0] == s->nx / SYNTH_WARP - 1;
    uint64_t top = id[1] == 0, bottom = id[1] == s->ny / STENCIL_ROWS - 1;
    return left + 2 * right + 4 * top + 8 * bottom;
}

static void stencil_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const stencil_spec *s = spec;
    uint64_t columns = s->nx / SYNTH_WARP, rows = s->ny - 2, points = (s->nx - 2) * rows,
             warps = columns * s->ny;
    uint64_t before = p->mark[S_EXIT], after = synth_here(p) - before - 1;
    f->warp_insts += warps * (before + 1) + columns * rows * after;
    f->thread_insts += warps * SYNTH_WARP * before + (s->nx * s->ny - points) + points * after;
    f->global_loads += columns * rows * POINTS;
    f->global_stores += columns * rows;
    for (uint64_t c = 0; c < columns; c++) { /* the edges differ; the rest is all alike */
        uint32_t lanes = stencil_lanes(s, c), first = (uint32_t)__builtin_ctz(lanes);
        uint64_t at = SYNTH_LINE + FLOAT * first, count = (uint64_t)__builtin_popcount(lanes);
        uint64_t centre = synth_sectors(at, count, FLOAT, FLOAT);
        f->load_sectors += rows * (3 * centre + synth_sectors(at - 4, count, FLOAT, FLOAT) +
                                   synth_sectors(at + 4, count, FLOAT, FLOAT));
        f->store_sectors += rows * centre;
    }
    /* All but the corners is read; later launches write the other array's inside, and find the rest known. */
    if (launch == 0)
        f->global_bytes += FLOAT * (s->nx * s->ny - 4 + points);
    else if (launch == 1) /* reads the other array's edges for the first time */
        f->global_bytes += FLOAT * (s->nx * s->ny - 4 - points);
}

const synth_kind synth_stencil = {
    .name = "stencil",
    .help = "5-point stencil on a 2D grid of floats; the edge stays as it is",
    .spec_size = sizeof(stencil_spec),
    .params = stencil_params,
    .param_count = LS_COUNT_OF(stencil_params),
    .check = stencil_check,
    .launches = stencil_launches,
    .copies = stencil_copies,
    .launch = stencil_launch,
    .assemble = stencil_assemble,
    .warp = stencil_warp,
    .shape = stencil_shape,
    .facts = stencil_facts,
};

/* ------------------------------------------------------------------------------------------ barrier-storm */

typedef struct storm_spec {
    synth_common common;
    uint64_t barriers, work, slow, ctas, warps;
} storm_spec;

static const ls_param storm_params[] = {
    LS_PARAM_UINT(storm_spec, barriers, "", 64, 1, 65536, "barriers that each warp passes"),
    LS_PARAM_UINT(storm_spec, work, "instructions", 4, 0, 256, "dependent instructions before each barrier"),
    LS_PARAM_UINT(storm_spec, slow, "times", 1, 1, 256,
                  "the first warp of a block does its work so often, and the others wait"),
    LS_PARAM_UINT(storm_spec, ctas, "blocks", 16, 1, 65536, "thread blocks"),
    LS_PARAM_UINT(storm_spec, warps, "", 8, 1, 32, "warps of a block"),
};

static void storm_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const storm_spec *s = spec;
    (void)launch;
    out->name = "_Z8barriersPf";
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)(s->warps * SYNTH_WARP);
    out->registers = 16;
}

enum { B_LOOP, B_WORK, B_BARRIER, B_END };

static void storm_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const storm_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R3 MOV 1 R255 0");
    p->mark[B_LOOP] = synth_here(p);
    for (uint64_t i = 0; i < s->work; i++)
        synth_op(p, "1 R2 FFMA 3 R2 R2 R2 0");
    p->mark[B_WORK] = synth_here(p);
    synth_increment(p, 3, 1);
    p->mark[B_BARRIER] = synth_barrier(p);
    synth_op(p, "0 ISETP.GE.AND 1 R3 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[B_END] = synth_here(p);
    synth_exit(p);
}

static void storm_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const storm_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    (void)launch;
    synth_run(w, 0, mark[B_LOOP]);
    for (uint64_t i = 0; i < s->barriers; i++) {
        for (uint64_t more = 1; w->index == 0 && more < s->slow; more++)
            synth_run(w, mark[B_LOOP], mark[B_WORK]);
        synth_loop_end(w, mark[B_LOOP], mark[B_END], i + 1 < s->barriers);
    }
    synth_run(w, mark[B_END], synth_here(w->program));
}

static void storm_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const storm_spec *s = spec;
    uint64_t warps = s->ctas * s->warps;
    uint64_t insts = p->mark[B_LOOP] + s->barriers * (p->mark[B_END] - p->mark[B_LOOP]) + 1;
    uint64_t more = s->ctas * s->barriers * (s->slow - 1) * s->work;
    (void)launch;
    f->warp_insts += warps * insts + more;
    f->thread_insts += (warps * (insts - 1) + more) * SYNTH_WARP;
    f->barriers += warps * s->barriers;
}

const synth_kind synth_barrier_storm = {
    .name = "barrier-storm",
    .help = "barriers of a block one after another, with a little work between them",
    .spec_size = sizeof(storm_spec),
    .params = storm_params,
    .param_count = LS_COUNT_OF(storm_params),
    .launch = storm_launch,
    .assemble = storm_assemble,
    .warp = storm_warp,
    .shape = synth_all_alike,
    .facts = storm_facts,
};
