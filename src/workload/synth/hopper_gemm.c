/* hopper_gemm.c: the generator gemm-hopper: a warp-specialised matrix product as libraries for Hopper write it.
 *
 * D (16 bits) = A (m * k) * B (n * k), both with k contiguous. The first warp of the first warp group is the producer:
 * for each 128 bytes of k it waits for an empty stage, expects its bytes and starts two bulk copies. The other warp groups
 * are consumers: they wait for the full stage, multiply from shared memory, and free the stage of the step before when
 * their matrix instructions on it have ended. Results go through shared memory to bulk stores, 64 * 64 at a time.
 *
 * In a cluster of cluster_m * cluster_n blocks, blocks with the same rows share A and blocks with the same columns
 * share B: each loads its part and multicasts it. Then a stage is free when the consumers of all these blocks have freed it.
 *
 * Blocks are persistent if blocks_m or blocks_n is smaller than the number of tiles: block (x, y) makes the tiles
 * (x + i * blocks_m, y + j * blocks_n). The producer runs ahead into the next tile.
 *
 * splits > 1: block z of a tile makes its part of k and waits until the semaphore of the tile is z. It adds the sums of
 * the blocks before it from global memory, and stores them there. The last block stores them as D.
 *
 * stream_blocks > 0 (Osama et al., Stream-K, arXiv:2301.03598): each block makes an equal number of steps of consecutive
 * tiles. A block that does not begin a tile stores its sums and raises its semaphore. The block that began the tile waits
 * for these sums and adds them. */
#include "workload/synth/hopper_gemm.h"

#include <inttypes.h>

static const ls_param hopper_params[] = {
    LS_PARAM_UINT(hopper_spec, m, "rows", 256, 64, 65536, "rows of A and D; a multiple of tile_m"),
    LS_PARAM_UINT(hopper_spec, n, "columns", 256, 64, 65536, "rows of B, columns of D; a multiple of tile_n"),
    LS_PARAM_UINT(hopper_spec, k, "elements", 256, 32, 65536, "columns of A and B; a multiple of 128 bytes"),
    LS_PARAM_UINT(hopper_spec, tile_m, "rows", 128, 64, 256,
                  "rows of D per tile; a multiple of 64 * consumers"),
    LS_PARAM_UINT(hopper_spec, tile_n, "columns", 128, 64, 256, "columns of D per tile; a multiple of 64"),
    LS_PARAM_UINT(hopper_spec, stages, "", 4, 2, 16, "steps of 128 bytes of k in shared memory at a time"),
    LS_PARAM_UINT(hopper_spec, consumers, "warp groups", 2, 1, 3, "that multiply, each a part of the rows"),
    LS_PARAM_UINT(hopper_spec, cluster_m, "blocks", 1, 1, 4, "of a cluster along m; they share B"),
    LS_PARAM_UINT(hopper_spec, cluster_n, "blocks", 1, 1, 4, "of a cluster along n; they share A"),
    LS_PARAM_BOOL(hopper_spec, multicast, true, "blocks of a cluster load shared parts once"),
    LS_PARAM_UINT(hopper_spec, blocks_m, "blocks", 0, 0, 1024, "persistent blocks along m; 0: one per tile"),
    LS_PARAM_UINT(hopper_spec, blocks_n, "blocks", 0, 0, 1024, "persistent blocks along n; 0: one per tile"),
    LS_PARAM_UINT(hopper_spec, splits, "", 1, 1, 64,
                  "parts of k, by blocks that add up one after the other (split-K)"),
    LS_PARAM_UINT(hopper_spec, stream_blocks, "blocks", 0, 0, 1024,
                  "persistent blocks that share all steps of all tiles evenly (stream-K); 0: none"),
    LS_PARAM_CHOICE(hopper_spec, type, "type", "fp16", synth_element_names, "elements of A and B"),
};

static ls_status hopper_check(const void *spec, ls_error *err)
{
    const hopper_spec *s = spec;
    const synth_multiple rules[] = {
        { "tile_m", s->tile_m, PART * s->consumers },
        { "tile_n", s->tile_n, PART },
        { "m", s->m, s->tile_m },
        { "n", s->n, s->tile_n },
        { "k", s->k, SYNTH_BOX_BYTES / synth_element_bytes(s->type) },
        { "tile_m", s->tile_m, shared_n(s) * 8 },
        { "tile_n", s->tile_n, shared_m(s) * 8 },
    };
    if (synth_versions[s->common.binary_version] != 90 || s->common.tracer_version != 6)
        return ls_fail(err, LS_ERR_USAGE, "gemm-hopper needs binary_version 90 and tracer_version 6");
    ls_status status = synth_check_multiples(rules, LS_COUNT_OF(rules), err);
    if (status != LS_OK)
        return status;
    const synth_multiple grid[] = { { "cluster_m: blocks along m", blocks_m(s), s->cluster_m },
                                    { "cluster_n: blocks along n", blocks_n(s), s->cluster_n },
                                    { "cluster_m: tiles along m", tiles_m(s), s->cluster_m },
                                    { "cluster_n: tiles along n", tiles_n(s), s->cluster_n } };
    status = synth_check_multiples(grid, LS_COUNT_OF(grid), err);
    bool parts = s->splits > 1 || s->stream_blocks > 0;
    if (status == LS_OK && parts &&
        (in_cluster(s) || s->blocks_m || s->blocks_n || (s->splits > 1 && s->stream_blocks)))
        return ls_fail(
            err, LS_ERR_USAGE,
            "gemm-hopper: splits, stream_blocks, clusters and blocks_m or blocks_n exclude each other");
    if (status == LS_OK && (s->splits > steps(s) || s->stream_blocks > tiles_m(s) * tiles_n(s) * steps(s)))
        return ls_fail(err, LS_ERR_USAGE,
                       "gemm-hopper has %" PRIu64 " steps of k for each tile, fewer than its parts", steps(s));
    if (status == LS_OK && (blocks_m(s) > tiles_m(s) || blocks_n(s) > tiles_n(s)))
        return ls_fail(err, LS_ERR_USAGE,
                       "gemm-hopper has %" PRIu64 " * %" PRIu64 " blocks for %" PRIu64 " * %" PRIu64 " tiles",
                       blocks_m(s), blocks_n(s), tiles_m(s), tiles_n(s));
    if (status == LS_OK && m_parts(s) * s->tile_n / 2 > sums_most(s))
        return ls_fail(err, LS_ERR_USAGE,
                       "a consumer of gemm-hopper needs %" PRIu64 " registers for its sums: at most %u",
                       m_parts(s) * s->tile_n / 2, sums_most(s));
    if (status == LS_OK && shared_bytes(s) > SYNTH_SHARED_MOST)
        return ls_fail(err, LS_ERR_USAGE, "gemm-hopper needs %" PRIu64 " bytes of shared memory: at most %u",
                       shared_bytes(s), SYNTH_SHARED_MOST);
    return status;
}

static unsigned hopper_copies(const void *spec, synth_copy *inputs)
{
    const hopper_spec *s = spec;
    inputs[0] = (synth_copy){ synth_array(0), s->m * row_bytes(s) };
    inputs[1] = (synth_copy){ synth_array(4), s->n * row_bytes(s) };
    return 2;
}

static void hopper_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const hopper_spec *s = spec;
    uint32_t threads = (uint32_t)(1 + s->consumers) * SYNTH_GROUP_WARPS * SYNTH_WARP;
    (void)launch;
    out->name = "gemm_warp_specialized";
    out->grid[0] = (uint32_t)blocks_m(s);
    out->grid[1] = (uint32_t)blocks_n(s);
    out->grid[2] = (uint32_t)s->splits;
    if (s->stream_blocks > 0) {
        out->grid[0] = (uint32_t)s->stream_blocks;
        out->grid[1] = 1;
    }
    out->block[0] = threads;
    out->shared_bytes = shared_bytes(s);
    out->registers = (uint32_t)synth_min(240, 65536 / threads / 8 * 8);
    if (in_cluster(s)) {
        out->cluster[0] = (uint32_t)s->cluster_m;
        out->cluster[1] = (uint32_t)s->cluster_n;
        out->cluster[2] = 1;
    }
}

/* ----------------------------------------------------------------------------------------------- program */

static void stage_rows(synth_program *p)
{
    synth_op(p, "1 R8 IADD3 2 R8 R255 0");
    synth_op(p, "0 ISETP.NE.AND 1 R8 0");
    synth_op(p, "1 R9 SEL 1 R255 0");
    synth_op(p, "1 R5 LOP3.LUT 2 R5 R9 0");
    synth_op(p, "0 BRA 0 0");
}

static void tile_rows(synth_program *p)
{
    synth_op(p, "1 R10 IMAD.HI.U32 2 R11 R12 0");
    synth_op(p, "1 R12 IMAD 2 R10 R11 0");
    synth_op(p, "1 UR10 R2UR 1 R10 0");
    synth_op(p, "1 UR11 R2UR 1 R12 0");
}

static void next_rows(synth_program *p)
{
    synth_op(p, "1 R11 IADD3 2 R11 R255 0");
    synth_op(p, "0 ISETP.GE.AND 1 R11 0");
    synth_op(p, "0 BRA 0 0");
}

static void producer_rows(const hopper_spec *s, synth_program *p)
{
    static const char *const form[] = { "2D", "2D.MULTICAST" };
    p->mark[G_PRODUCER] = synth_here(p);
    synth_op(p, "0 USETMAXREG.DEALLOC.CTAPOOL 0 0");
    synth_imm(p, producer_registers(s));
    synth_op(p, "0 ISETP.NE.AND 1 R3 0");
    synth_op(p, "0 EXIT 0 0"); /* the other warps of the group */
    p->mark[G_P_TILE] = synth_here(p);
    tile_rows(p);
    p->mark[G_P_STEP] = synth_here(p);
    synth_row_wait(p);
    synth_row_expect(p);
    synth_op(p, "1 UR8 UIADD3 2 UR8 UR63 0");
    synth_op(p, "1 UR9 UIADD3 2 UR9 UR63 0");
    synth_op(p, "0 UTMALDG.%s 0 %u", form[shared_n(s) > 1], SYNTH_BOX_BYTES);
    synth_op(p, "1 UR16 UIADD3 2 UR16 UR63 0");
    synth_op(p, "1 UR17 UIADD3 2 UR17 UR63 0");
    synth_op(p, "0 UTMALDG.%s 0 %u", form[shared_m(s) > 1], SYNTH_BOX_BYTES);
    stage_rows(p);
    p->mark[G_P_NEXT] = synth_here(p);
    next_rows(p);
    p->mark[G_P_TAIL] = synth_here(p);
    for (uint64_t i = 0; i < s->stages; i++)
        synth_row_wait(p);
    p->mark[G_P_EXIT] = synth_exit(p);
}

/* The products of a step; the last one closes their group. */
static void product_rows(const hopper_spec *s, synth_program *p)
{
    synth_row_wait(p);
    synth_op(p, "0 WARPGROUP.ARRIVE 0 0");
    for (uint32_t k = 0; k < SYNTH_BOX_BYTES / 32; k++)
        for (uint32_t i = 0; i < m_parts(s); i++) {
            bool last = k + 1 == SYNTH_BOX_BYTES / 32 && i + 1 == m_parts(s);
            synth_op(p, "1 UR%u UIADD3 2 UR%u UR63 0", 20 + 4 * i, 20 + 4 * i);
            synth_row_product(p, s->type, (uint32_t)s->tile_n, SUMS + i * (unsigned)s->tile_n / 2, 0, last);
        }
}

static void free_rows(const hopper_spec *s, synth_program *p, int64_t open_groups)
{
    synth_op(p, "0 WARPGROUP.DEPBAR.LE 0 0");
    synth_imm(p, open_groups);
    synth_row_arrive(p, partners(s) > 1);
}

/* Part i of a consumer's results: 64 rows and 64 columns. */
static void store_rows(const hopper_spec *s, synth_program *p, uint32_t i)
{
    unsigned sums = SUMS + i / n_parts(s) * (unsigned)s->tile_n / 2 + i % n_parts(s) * (PART / 2);
    synth_op(p, "0 DEPBAR.LE 0 0"); /* the buffer's last store has read it */
    synth_imm(p, STORE_BUFFERS - 1);
    synth_row_named(p, SYNTH_GROUP_WARPS, false);
    for (unsigned k = 0; k < PACKS; k++)
        synth_op(p, "1 R%u F2FP.F16.F32.PACK_AB 2 R%u R%u 0", sums + k, sums + 2 * k + 1, sums + 2 * k);
    for (unsigned k = 0; k < ROW_STORES; k++)
        synth_op(p, "0 STSM.16.M88.4 2 R14 R%u 16", sums + 4 * k);
    synth_op(p, "0 FENCE.VIEW.ASYNC.S 0 0");
    synth_row_named(p, SYNTH_GROUP_WARPS, false);
    synth_op(p, "0 UTMASTG.2D 0 %u", SYNTH_BOX_BYTES);
    synth_op(p, "0 UTMACMDFLUSH 0 0");
}

/* Sums of other blocks through global memory. The first thread of the consumers waits; the others wait for it. */
static void partial_rows(const hopper_spec *s, synth_program *p)
{
    uint32_t moves = partial_moves(s), all = (uint32_t)s->consumers * SYNTH_GROUP_WARPS;
    synth_row_semaphore(p, SYNTH_SEMAPHORE_WAIT);
    synth_row_barrier(p, ALL_CONSUMERS, all);
    for (uint32_t i = 0; i < moves; i++) {
        synth_op(p, "1 R216 LDG.E.128.STRONG.GPU 1 R18 16");
        for (uint32_t k = 0; k < 4; k++)
            synth_op(p, "1 R%u FADD 2 R%u R%u 0", SUMS + 4 * i + k, SUMS + 4 * i + k, 216 + k);
    }
    p->mark[G_C_PUT] = synth_here(p);
    for (uint32_t i = 0; i < moves; i++)
        synth_op(p, "0 STG.E.128 2 R18 R%u 16", SUMS + 4 * i);
    synth_op(p, "0 MEMBAR.SC.GPU 0 0");
    synth_row_barrier(p, ALL_CONSUMERS, all);
    synth_row_semaphore(p, SYNTH_SEMAPHORE_ADD);
}

static void consumer_rows(const hopper_spec *s, synth_program *p)
{
    p->mark[G_CONSUMER] = synth_here(p);
    synth_op(p, "0 USETMAXREG.TRY_ALLOC.CTAPOOL 0 0");
    synth_imm(p, consumer_registers(s));
    p->mark[G_C_TILE] = synth_here(p);
    tile_rows(p);
    p->mark[G_C_FIRST] = synth_here(p);
    product_rows(s, p);
    stage_rows(p);
    p->mark[G_C_STEP] = synth_here(p);
    product_rows(s, p);
    free_rows(s, p, 1);
    stage_rows(p);
    p->mark[G_C_LAST] = synth_here(p);
    free_rows(s, p, 0);
    p->mark[G_C_ADD] = synth_here(p);
    if (s->splits > 1 || s->stream_blocks > 0)
        partial_rows(s, p);
    p->mark[G_C_STORE] = synth_here(p);
    for (uint32_t i = 0; i < m_parts(s) * n_parts(s); i++)
        store_rows(s, p, i);
    p->mark[G_C_RESET] = synth_here(p);
    if (s->splits > 1 || s->stream_blocks > 0)
        synth_row_semaphore(p, SYNTH_SEMAPHORE_SET);
    p->mark[G_C_NEXT] = synth_here(p);
    next_rows(p);
    p->mark[G_C_EXIT] = synth_op(p, "0 DEPBAR.LE 0 0");
    synth_exit(p);
    p->mark[G_END] = synth_here(p);
}

static void hopper_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const hopper_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R11 S2R 0 0");
    synth_op(p, "1 R3 SHF.R.U32.HI 2 R255 R2 0");
    synth_op(p, "1 R3 SHFL.IDX 1 R3 0");
    synth_op(p, "1 UR4 R2UR 1 R3 0");
    synth_op(p, "0 ISETP.NE.AND 1 R3 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[G_INIT] = synth_here(p);
    synth_op(p, "0 ELECT 0 0");
    for (unsigned i = 0; i < 3; i++)
        synth_op(p, "0 UTMACCTL.PF 0 0");
    for (uint64_t i = 0; i < 2 * s->stages; i++)
        synth_row_init(p);
    synth_op(p, "0 FENCE.VIEW.ASYNC.S 0 0");
    p->mark[G_SYNC] = synth_rows_cluster_barrier(p, in_cluster(s));
    synth_op(p, "0 ISETP.GE.AND 1 R3 0");
    synth_op(p, "0 BRA 0 0");
    producer_rows(s, p);
    consumer_rows(s, p);
}

/* Blocks of one place in the cluster, and of one part of k, are alike, if all have the same number of tiles. */
static uint64_t hopper_shape(const void *spec, uint32_t launch, const uint32_t id[3])
{
    const hopper_spec *s = spec;
    (void)launch;
    if (s->stream_blocks > 0 || s->splits > 1 || tiles_m(s) % blocks_m(s) != 0 ||
        tiles_n(s) % blocks_n(s) != 0)
        return LS_SHAPE_ALONE;
    return id[0] % s->cluster_m + s->cluster_m * (id[1] % s->cluster_n);
}

/* Sums over the work of all blocks. */
typedef struct work_sums {
    uint64_t blocks, parts, tiles; /* tiles: results that are stored as D */
    uint64_t steps, firsts_only;   /* firsts_only: parts of a single step */
    uint64_t adds, puts, resets;
} work_sums;

static work_sums add_up(const hopper_spec *s)
{
    synth_launch l = { .grid = { 1, 1, 1 } };
    work_sums sum = { 0 };
    hopper_work work;
    hopper_launch(s, 0, &l);
    for (uint32_t z = 0; z < l.grid[2]; z++)
        for (uint32_t y = 0; y < l.grid[1]; y++)
            for (uint32_t x = 0; x < l.grid[0]; x++, sum.blocks++)
                for (uint64_t i = 0; hopper_work_of(s, (const uint32_t[3]){ x, y, z }, i, &work); i++) {
                    sum.parts++;
                    sum.steps += work.count;
                    sum.firsts_only += work.count == 1;
                    sum.adds += work.adds;
                    sum.puts += work.puts;
                    sum.tiles += !work.puts;
                    sum.resets += work.resets ? work.adds : 0;
                }
    return sum;
}

/* Rows of a part that elected lanes or nobody executes are counted apart. */
static void hopper_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const hopper_spec *s = spec;
    const uint32_t *mark = p->mark;
    const work_sums sum = add_up(s);
    uint64_t groups = s->consumers, warps = groups * SYNTH_GROUP_WARPS, stores = m_parts(s) * n_parts(s);
    uint64_t moves = partial_moves(s), all_warps = PRODUCER_WARPS + warps;
    uint64_t sync = mark[G_PRODUCER] - mark[G_SYNC], init = mark[G_SYNC] - mark[G_INIT];
    uint64_t leave = mark[G_P_TILE] - mark[G_PRODUCER], tail = mark[G_P_EXIT] - mark[G_P_TAIL];
    uint64_t step_p = mark[G_P_NEXT] - mark[G_P_STEP], step_c = mark[G_C_LAST] - mark[G_C_STEP];
    uint64_t first = mark[G_C_STEP] - mark[G_C_FIRST], later = sum.steps - sum.parts;
    uint64_t elected = 3, store = stores * (PART_ROWS - elected); /* rows of a result */
    (void)launch;
    uint64_t consumers = sum.parts * (TILE_ROWS + first + FREE_ROWS + NEXT_ROWS) + later * step_c +
                         sum.tiles * store + sum.adds * (1 + 5 * moves) + sum.puts * (moves + 2);
    f->warp_insts +=
        sum.blocks * (all_warps * (mark[G_INIT] + sync) + init + PRODUCER_WARPS * leave + tail + 1) +
        sum.blocks * (warps * 2 + groups) + sum.parts * (TILE_ROWS + NEXT_ROWS) + sum.steps * step_p +
        warps * consumers + groups * sum.tiles * stores * elected + sum.adds + sum.puts + sum.resets;
    /* Lanes: none at branches that are not taken, one at operations of an elected thread. */
    uint64_t full = sum.blocks * (all_warps * (mark[G_INIT] + sync) - 1 + PRODUCER_WARPS * leave - 1 + 1 + 1) +
                    sum.blocks * (warps * 2 + groups) + groups * sum.tiles * stores;
    uint64_t branches = 2 * sum.parts + 2 * later - later + (sum.parts - sum.firsts_only) + sum.blocks;
    /* of each step: the wait's branch; of first steps and of last ones: the loop's; of the last part: the next part's;
     * of each step the arrival, which has lanes in one warp of a group only */
    uint64_t none = branches + sum.steps;
    full += warps * (consumers - none);
    uint64_t single = sum.blocks * (init - 1 + tail / SYNTH_WAIT_ROWS) + sum.parts * (TILE_ROWS + NEXT_ROWS) +
                      sum.steps * (step_p - 1) - sum.parts - sum.blocks;
    single += groups * (sum.steps * partners(s) + sum.tiles * stores * 2) + sum.adds + sum.puts + sum.resets;
    f->thread_insts += full * SYNTH_WARP + single;
    uint64_t sectors = SYNTH_BOX_BYTES / SYNTH_SECTOR, move_sectors = SYNTH_WARP * 16 / SYNTH_SECTOR;
    f->global_loads += sum.steps * 2 + sum.adds * (warps * moves + 1);
    f->load_sectors += sum.steps * sectors * (s->tile_m / shared_n(s) + s->tile_n / shared_m(s)) +
                       sum.adds * (warps * moves * move_sectors + 1);
    f->global_stores += sum.tiles * groups * stores + sum.puts * warps * moves + sum.resets;
    f->store_sectors +=
        sum.tiles * groups * stores * PART * sectors + sum.puts * warps * moves * move_sectors + sum.resets;
    f->global_atomics += sum.puts;
    f->atomic_sectors += sum.puts;
    f->shared_accesses += sum.tiles * warps * stores * ROW_STORES;
    f->barriers += sum.tiles * warps * stores * 2 + (sum.adds + sum.puts) * warps +
                   (in_cluster(s) ? 0 : sum.blocks * all_warps);
    f->global_bytes += (s->m + s->n) * row_bytes(s) + s->m * s->n * OUT_BYTES;
    if (s->splits > 1 || s->stream_blocks > 0)
        f->global_bytes = LS_SYNTH_UNKNOWN; /* workspaces are used again */
}

const synth_kind synth_gemm_hopper = {
    .name = "gemm-hopper",
    .help = "matrix product of a bulk-copy warp and warp-group matrix instructions (sm_90)",
    .defaults = "binary_version=90,tracer_version=6",
    .spec_size = sizeof(hopper_spec),
    .params = hopper_params,
    .param_count = LS_COUNT_OF(hopper_params),
    .check = hopper_check,
    .copies = hopper_copies,
    .launch = hopper_launch,
    .assemble = hopper_assemble,
    .warp = hopper_warp,
    .shape = hopper_shape,
    .facts = hopper_facts,
};
