/* grid_reduce.c: the generator grid-all-reduce: blocks of one launch that add up an array and wait for each other in global
 * memory.
 *
 * In each round a block adds its part of the input, stores the sum, raises a semaphore and waits until all blocks have
 * raised it. Then it reads all sums and adds them: every block has the total. All blocks must be on the GPU at the same
 * time, as in a cooperative launch. */
#include "workload/synth/async.h"

#define FLOAT 4u
#define VECTOR 16u /* bytes of a load */

typedef struct reduce_spec {
    synth_common common;
    uint64_t ctas, block, loads, rounds;
} reduce_spec;

static const ls_param reduce_params[] = {
    LS_PARAM_UINT(reduce_spec, ctas, "blocks", 32, 1, 4096, "of the launch; all at the same time"),
    LS_PARAM_UINT(reduce_spec, block, "threads", 256, 32, 1024, "of a block; a multiple of 32"),
    LS_PARAM_UINT(reduce_spec, loads, "", 4, 1, 4096, "of 16 bytes, by each thread in each round"),
    LS_PARAM_UINT(reduce_spec, rounds, "", 1, 1, 1024, "sums, one after the other"),
};

static ls_status reduce_check(const void *spec, ls_error *err)
{
    const reduce_spec *s = spec;
    if (synth_versions[s->common.binary_version] < 90 || s->common.tracer_version != 6)
        return ls_fail(err, LS_ERR_USAGE, "grid-all-reduce needs binary_version 90 and tracer_version 6");
    if (s->common.repeat > 1)
        return ls_fail(err, LS_ERR_USAGE,
                       "grid-all-reduce cannot be repeated: its semaphore begins at 0; use rounds");
    return synth_check_block(s->block, err);
}

static unsigned reduce_copies(const void *spec, synth_copy *inputs)
{
    const reduce_spec *s = spec;
    inputs[0] = (synth_copy){ synth_array(0), s->rounds * s->ctas * s->block * s->loads * VECTOR };
    return 1;
}

static void reduce_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const reduce_spec *s = spec;
    (void)launch;
    out->name = "all_reduce";
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)s->block;
    out->shared_bytes = 32 * FLOAT;
    out->cooperative = true;
}

enum { R_LOAD, R_FOLD, R_PUT, R_GATHER, R_NEXT, R_EXIT };
#define LOAD_ROWS 6u  /* a load, four sums, the next address */
#define FOLD_STEPS 5u /* of shuffles over a warp */
#define GATHER_ROWS 2u
#define PUT_ROWS 5u
#define NEXT_ROWS 3u

static void reduce_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 4);
    synth_constant(p, 8);
    synth_address(p, 10, 4, 8);
    p->mark[R_LOAD] = synth_here(p);
    synth_op(p, "1 R12 LDG.E.128 1 R10 16");
    for (unsigned i = 0; i < 4; i++)
        synth_op(p, "1 R9 FADD 2 R9 R%u 0", 12 + i);
    synth_increment(p, 10, VECTOR);
    p->mark[R_FOLD] = synth_here(p);
    for (unsigned i = 0; i < FOLD_STEPS; i++) {
        synth_op(p, "1 R12 SHFL.BFLY 1 R9 0");
        synth_op(p, "1 R9 FADD 2 R9 R12 0");
    }
    synth_op(p, "0 STS 2 R3 R9 4");
    synth_row_barrier(p, 0, 0);
    synth_op(p, "1 R9 LDS 1 R3 4");
    p->mark[R_PUT] = synth_here(p); /* the first warp: its sum, and the semaphore */
    synth_op(p, "0 STG.E 2 R14 R9 4");
    synth_op(p, "0 MEMBAR.SC.GPU 0 0");
    synth_row_semaphore(p, SYNTH_SEMAPHORE_ADD);
    synth_row_semaphore(p, SYNTH_SEMAPHORE_WAIT);
    synth_row_barrier(p, 0, 0);
    p->mark[R_GATHER] = synth_here(p);
    synth_op(p, "1 R12 LDG.E.STRONG.GPU 1 R14 4");
    synth_op(p, "1 R9 FADD 2 R9 R12 0");
    p->mark[R_NEXT] = synth_here(p);
    synth_op(p, "1 R5 IADD3 2 R5 R255 0");
    synth_op(p, "0 ISETP.GE.AND 1 R5 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[R_EXIT] = synth_exit(p);
}

static uint64_t gathers(const reduce_spec *s)
{
    return synth_ceil_div(s->ctas, SYNTH_WARP);
}

/* Sums of a round: one after the other. */
static uint64_t sum_at(const reduce_spec *s, uint64_t round, uint64_t block)
{
    return synth_array(1) + (round * s->ctas + block) * FLOAT;
}

static void reduce_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const reduce_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    const uint64_t semaphore = synth_array(2);
    (void)launch;
    synth_run(w, 0, mark[R_LOAD]);
    for (uint64_t r = 0; r < s->rounds; r++) {
        uint64_t first = (r * s->ctas + w->id[0]) * s->block * s->loads + w->index * SYNTH_WARP;
        for (uint64_t i = 0; i < s->loads; i++) {
            synth_lanes(w, mark[R_LOAD], synth_array(0) + (first + i * s->block) * VECTOR, VECTOR);
            synth_run(w, mark[R_LOAD] + 1, mark[R_FOLD]);
        }
        uint32_t row = mark[R_PUT] - 3;
        synth_run(w, mark[R_FOLD], row);
        w->mask = 1;
        synth_lanes(w, row, w->index * FLOAT, 0);
        w->mask = SYNTH_FULL;
        synth_run(w, row + 1, row + 2);
        synth_lanes(w, row + 2, 0, FLOAT);
        if (w->index == 0) {
            w->mask = 1;
            synth_lanes(w, mark[R_PUT], sum_at(s, r, w->id[0]), 0);
            synth_run(w, mark[R_PUT] + 1, mark[R_PUT] + 2);
            w->mask = SYNTH_FULL;
            synth_semaphore(w, mark[R_PUT] + 2, semaphore, 1);
            synth_semaphore(w, mark[R_PUT] + 3, semaphore, (r + 1) * s->ctas);
        }
        synth_run(w, mark[R_PUT] + 4, mark[R_GATHER]);
        for (uint64_t i = 0; i < gathers(s); i++) {
            uint64_t left = s->ctas - i * SYNTH_WARP;
            w->mask = left >= SYNTH_WARP ? SYNTH_FULL : (UINT32_C(1) << left) - 1;
            synth_lanes(w, mark[R_GATHER], sum_at(s, r, i * SYNTH_WARP), FLOAT);
            w->mask = SYNTH_FULL;
            synth_run(w, mark[R_GATHER] + 1, mark[R_NEXT]);
        }
        synth_loop_end(w, mark[R_NEXT], mark[R_EXIT], r + 1 < s->rounds);
    }
    synth_run(w, mark[R_EXIT], mark[R_EXIT] + 1);
}

static void reduce_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const reduce_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = s->ctas * s->block / SYNTH_WARP, fold = mark[R_PUT] - mark[R_FOLD], g = gathers(s);
    uint64_t round = s->loads * LOAD_ROWS + fold + 1 + g * GATHER_ROWS + NEXT_ROWS, first = PUT_ROWS - 1;
    (void)launch;
    f->warp_insts += warps * (mark[R_LOAD] + s->rounds * round + 1) + s->ctas * s->rounds * first;
    /* one lane stores a warp's sum; lanes of the last gather may be missing; the last branch has none */
    uint64_t lanes = warps * ((mark[R_LOAD] + s->rounds * (round - 1 - g) + 1 - 1) * SYNTH_WARP +
                              s->rounds * (1 + s->ctas));
    f->thread_insts += lanes + s->ctas * s->rounds * first;
    f->global_loads += warps * s->rounds * (s->loads + g) + s->ctas * s->rounds;
    f->global_stores += s->ctas * s->rounds;
    f->global_atomics += s->ctas * s->rounds;
    f->atomic_sectors += s->ctas * s->rounds;
    f->store_sectors += s->ctas * s->rounds;
    f->load_sectors +=
        warps * s->rounds * s->loads * (SYNTH_WARP * VECTOR / SYNTH_SECTOR) + s->ctas * s->rounds;
    for (uint64_t r = 0; r < s->rounds; r++)
        for (uint64_t i = 0; i < g; i++)
            f->load_sectors +=
                warps * synth_sectors(sum_at(s, r, i * SYNTH_WARP),
                                      synth_min(SYNTH_WARP, s->ctas - i * SYNTH_WARP), FLOAT, FLOAT);
    f->shared_accesses += warps * s->rounds * 2;
    f->barriers += warps * s->rounds * 2;
    f->global_bytes += s->rounds * (s->ctas * s->block * s->loads * VECTOR + s->ctas * FLOAT) + FLOAT;
}

const synth_kind synth_all_reduce = {
    .name = "grid-all-reduce",
    .help = "sums of all blocks, which wait for each other in global memory (sm_90)",
    .defaults = "binary_version=90,tracer_version=6",
    .spec_size = sizeof(reduce_spec),
    .params = reduce_params,
    .param_count = LS_COUNT_OF(reduce_params),
    .check = reduce_check,
    .copies = reduce_copies,
    .launch = reduce_launch,
    .assemble = reduce_assemble,
    .warp = reduce_warp,
    .facts = reduce_facts,
};
