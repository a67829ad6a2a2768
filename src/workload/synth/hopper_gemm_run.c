/* hopper_gemm_run.c: the warps of the generator gemm-hopper: the producer's and the consumers' parts of its program. */
#include "workload/synth/hopper_gemm.h"

/* ------------------------------------------------------------------------------------------------- warps */

/* A block at work. */
typedef struct hopper_block {
    const hopper_spec *s;
    synth_ring ring;
    uint32_t x, y;                 /* of the grid */
    uint32_t rank, rank_m, rank_n; /* in its cluster */
} hopper_block;

static hopper_block block_of(const hopper_spec *s, const synth_warp *w)
{
    hopper_block b = { .s = s, .x = w->id[0], .y = w->id[1] };
    if (in_cluster(s)) {
        b.rank_m = b.x % (uint32_t)s->cluster_m;
        b.rank_n = b.y % (uint32_t)s->cluster_n;
        b.rank = b.rank_m + (uint32_t)s->cluster_m * b.rank_n;
    }
    b.ring = (synth_ring){ .stages = (uint32_t)s->stages,
                           .at = store_at(s, s->consumers, 0),
                           .rank = (uint64_t)b.rank << SYNTH_RANK_SHIFT };
    return b;
}

/* Tile number i of a block: columns of the grid's patches first. */
static bool whole_tile(const hopper_spec *s, const uint32_t id[3], uint64_t i, hopper_work *out)
{
    uint64_t mine = synth_ceil_div(tiles_m(s) - id[0], blocks_m(s)), n = steps(s), z = id[2];
    *out = (hopper_work){ .tile_m = id[0] + i % mine * blocks_m(s),
                          .tile_n = id[1] + i / mine * blocks_n(s),
                          .first = n * z / s->splits,
                          .count = n * (z + 1) / s->splits - n * z / s->splits };
    out->slot = out->put_slot = out->tile_m + out->tile_n * tiles_m(s);
    out->adds = z > 0;
    out->value = z;
    out->puts = z + 1 < s->splits;
    out->resets = !out->puts;
    return out->tile_n < tiles_n(s);
}

/* Steps [first, last) of all are a block's: its part number i. */
static bool stream_part(const hopper_spec *s, uint64_t block, uint64_t i, hopper_work *out)
{
    uint64_t n = steps(s), all = tiles_m(s) * tiles_n(s) * n, blocks = s->stream_blocks;
    uint64_t first = all * block / blocks, last = all * (block + 1) / blocks;
    if (i > 0)
        first = (first / n + i) * n;
    if (first >= last)
        return false;
    uint64_t tile = first / n, end = synth_min(last, (tile + 1) * n);
    *out = (hopper_work){ .tile_m = tile % tiles_m(s),
                          .tile_n = tile / tiles_m(s),
                          .first = first % n,
                          .count = end - first,
                          .puts = first % n != 0,
                          .put_slot = block,
                          .slot = block + 1,
                          .value = 1,
                          .resets = true };
    if (!out->puts) /* those who make the rest of the tile */
        while (all * (out->slot + out->adds) / blocks < (tile + 1) * n)
            out->adds++;
    return true;
}

bool hopper_work_of(const hopper_spec *s, const uint32_t id[3], uint64_t i, hopper_work *out)
{
    return s->stream_blocks > 0 ? stream_part(s, id[0], i, out) : whole_tile(s, id, i, out);
}

/* Blocks of the cluster that have the same rows (and A), or the same columns (and B). */
static uint32_t row_mask(const hopper_block *b)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < b->s->cluster_n; i++)
        mask |= 1u << (b->rank_m + i * b->s->cluster_m);
    return mask;
}
static uint32_t column_mask(const hopper_block *b)
{
    return ((1u << b->s->cluster_m) - 1) << (b->rank_n * b->s->cluster_m);
}

/* One stage: this block's part of A and of B. */
static void load_step(const hopper_block *b, synth_warp *w, uint64_t step, const hopper_work *work, uint64_t i)
{
    uint64_t tile_m = work->tile_m, tile_n = work->tile_n, k = work->first + i;
    const hopper_spec *s = b->s;
    uint32_t row = w->program->mark[G_P_STEP];
    uint32_t rows_a = (uint32_t)s->tile_m / shared_n(s), rows_b = (uint32_t)s->tile_n / shared_m(s);
    uint64_t first_a = tile_m * s->tile_m + (shared_n(s) > 1 ? b->rank_n * rows_a : 0);
    uint64_t first_b = tile_n * s->tile_n + (shared_m(s) > 1 ? b->rank_m * rows_b : 0);
    uint64_t full = synth_ring_full(&b->ring, step);
    const synth_box a = { synth_array(0) + first_a * row_bytes(s) + k * SYNTH_BOX_BYTES, row_bytes(s),
                          rows_a };
    const synth_box c = { synth_array(4) + first_b * row_bytes(s) + k * SYNTH_BOX_BYTES, row_bytes(s),
                          rows_b };
    synth_mbarrier_wait(w, row, synth_ring_empty(&b->ring, step), synth_ring_parity(&b->ring, step) ^ 1);
    row += SYNTH_WAIT_ROWS;
    synth_mbarrier_value(w, row, full, stage_bytes(s));
    synth_run(w, row + 1, row + 1 + COPY_ROWS);
    row += 1 + COPY_ROWS;
    synth_bulk(w, row, &a, full, shared_n(s) > 1 ? row_mask(b) : 0);
    synth_run(w, row + 1, row + 1 + COPY_ROWS);
    row += 1 + COPY_ROWS;
    synth_bulk(w, row, &c, full, shared_m(s) > 1 ? column_mask(b) : 0);
    synth_loop_end(w, row + 1, row + 1 + STEP_ROWS, i + 1 < work->count);
}

static void run_producer(const hopper_block *b, synth_warp *w)
{
    const hopper_spec *s = b->s;
    const uint32_t *mark = w->program->mark;
    uint64_t step = 0;
    hopper_work work, next;
    synth_run(w, mark[G_PRODUCER], mark[G_P_TILE] - 1);
    synth_one(w, mark[G_P_TILE] - 1, w->index == 0 ? 0 : w->mask);
    if (w->index != 0)
        return;
    w->mask = 1;
    for (uint64_t i = 0; hopper_work_of(s, w->id, i, &work); i++) {
        synth_run(w, mark[G_P_TILE], mark[G_P_STEP]);
        for (uint64_t k = 0; k < work.count; k++)
            load_step(b, w, step++, &work, k);
        synth_loop_end(w, mark[G_P_NEXT], mark[G_P_TAIL], hopper_work_of(s, w->id, i + 1, &next));
    }
    for (uint64_t i = 0; i < s->stages; i++, step++)
        synth_mbarrier_wait(w, mark[G_P_TAIL] + (uint32_t)i * SYNTH_WAIT_ROWS,
                            synth_ring_empty(&b->ring, step), synth_ring_parity(&b->ring, step) ^ 1);
    w->mask = SYNTH_FULL; /* the other lanes waited for the elected one */
    synth_run(w, mark[G_P_EXIT], mark[G_P_EXIT] + 1);
}

/* Frees a step's stage here and in the blocks that this one shares loads with: a lane of the group's first warp for
 * each. */
static void free_step(const hopper_block *b, synth_warp *w, uint32_t row, uint64_t step)
{
    const hopper_spec *s = b->s;
    uint64_t addresses[SYNTH_WARP];
    uint32_t blocks = 1u << b->rank, lanes = 0;
    if (shared_m(s) > 1)
        blocks |= column_mask(b);
    if (shared_n(s) > 1)
        blocks |= row_mask(b);
    synth_ring other = b->ring;
    for (uint32_t i = 0; i < SYNTH_WARP; i++)
        addresses[i] = synth_ring_empty(&b->ring, step);
    for (; blocks; blocks &= blocks - 1) {
        other.rank = (uint64_t)__builtin_ctz(blocks) << SYNTH_RANK_SHIFT;
        addresses[lanes++] = synth_ring_empty(&other, step);
    }
    synth_run(w, row, row + 1);
    w->mask = w->index % SYNTH_GROUP_WARPS == 0 ? (1u << lanes) - 1 : 0;
    synth_mbarrier_arrive(w, row + 1, addresses);
    w->mask = SYNTH_FULL;
}

/* Step k of `count`. */
static void multiply_step(const hopper_block *b, synth_warp *w, uint64_t step, uint64_t k, uint64_t count)
{
    const hopper_spec *s = b->s;
    const uint32_t *mark = w->program->mark;
    uint32_t row = k == 0 ? mark[G_C_FIRST] : mark[G_C_STEP], products = product_row_count(s);
    synth_mbarrier_wait(w, row, synth_ring_full(&b->ring, step), synth_ring_parity(&b->ring, step));
    synth_run(w, row + SYNTH_WAIT_ROWS, row + products);
    row += products;
    if (k > 0) {
        free_step(b, w, row, step - 1);
        row += FREE_ROWS;
    }
    synth_loop_end(w, row, row + STEP_ROWS, k > 0 && k + 1 < count);
}

/* Rows of 128 bytes, whose 16-byte pieces are swizzled: a matrix store without conflicts. */
static void store_matrices(synth_warp *w, uint32_t row, uint64_t buffer)
{
    uint64_t lanes[SYNTH_WARP];
    uint32_t first = w->index % SYNTH_GROUP_WARPS * 16;
    for (uint32_t i = 0; i < ROW_STORES; i++) {
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
            uint32_t y = first + lane % 16, piece = 2 * i + lane / 16;
            lanes[lane] = buffer + y * SYNTH_BOX_BYTES + (piece ^ (y & 7)) * 16;
        }
        synth_list(w, row + i, lanes);
    }
}

/* A consumer's results of a tile; `stored`: parts that it stored before. */
static void store_tile(const hopper_block *b, synth_warp *w, uint64_t tile_m, uint64_t tile_n, uint64_t stored)
{
    const hopper_spec *s = b->s;
    uint32_t consumer = w->index / SYNTH_GROUP_WARPS - 1, row = w->program->mark[G_C_STORE];
    uint64_t first = tile_m * s->tile_m + (uint64_t)consumer * m_parts(s) * PART;
    bool elected = w->index % SYNTH_GROUP_WARPS == 0;
    for (uint32_t i = 0; i < m_parts(s) * n_parts(s); i++, row += PART_ROWS, stored++) {
        uint64_t y = first + i / n_parts(s) * PART, x = tile_n * s->tile_n + i % n_parts(s) * PART;
        const synth_box box = { synth_array(8) + (y * s->n + x) * OUT_BYTES, s->n * OUT_BYTES, PART };
        if (elected)
            synth_run(w, row, row + 1);
        synth_named_barrier(w, row + 1, 1 + consumer);
        synth_run(w, row + 2, row + 2 + PACKS);
        store_matrices(w, row + 2 + PACKS, b->ring.rank | store_at(s, consumer, stored));
        synth_run(w, row + 2 + PACKS + ROW_STORES, row + PART_ROWS - 3);
        synth_named_barrier(w, row + PART_ROWS - 3, 1 + consumer);
        if (elected) {
            synth_bulk(w, row + PART_ROWS - 2, &box, 0, 0);
            synth_one(w, row + PART_ROWS - 1, 1);
        }
    }
}

/* The sums of a thread, 16 bytes at a time, in a slot of the workspace: neighbouring lanes lie side by side. */
static void move_partial(const hopper_spec *s, synth_warp *w, uint32_t row, uint32_t rows_of_one,
                         uint64_t slot)
{
    uint64_t warps = s->consumers * SYNTH_GROUP_WARPS, warp = w->index - PRODUCER_WARPS;
    uint64_t base = synth_array(12) + slot * s->tile_m * s->tile_n * 4;
    for (uint32_t i = 0; i < partial_moves(s); i++, row += rows_of_one) {
        synth_lanes(w, row, base + (i * warps + warp) * SYNTH_WARP * 16, 16);
        synth_run(w, row + 1, row + rows_of_one);
    }
}

static uint64_t semaphore_of(uint64_t slot)
{
    return synth_array(14) + slot * SYNTH_SECTOR; /* no other datum in its sector */
}

/* Adds the partial results of others; the first consumer warp waits for them. */
static void add_partials(const hopper_block *b, synth_warp *w, const hopper_work *work)
{
    uint32_t row = w->program->mark[G_C_ADD];
    for (uint64_t slot = work->slot; slot < work->slot + work->adds; slot++) {
        if (w->index == PRODUCER_WARPS)
            synth_semaphore(w, row, semaphore_of(slot), work->value);
        synth_run(w, row + 1, row + 2);
        move_partial(b->s, w, row + 2, 5, slot);
    }
}

static void put_partial(const hopper_block *b, synth_warp *w, const hopper_work *work)
{
    uint32_t row = w->program->mark[G_C_PUT], end = w->program->mark[G_C_STORE];
    move_partial(b->s, w, row, 1, work->put_slot);
    synth_run(w, end - 3, end - 1);
    if (w->index == PRODUCER_WARPS)
        synth_semaphore(w, end - 1, semaphore_of(work->put_slot), 1);
}

static void run_consumer(const hopper_block *b, synth_warp *w)
{
    const hopper_spec *s = b->s;
    const uint32_t *mark = w->program->mark;
    uint64_t step = 0, stored = 0;
    hopper_work work, next;
    synth_run(w, mark[G_CONSUMER], mark[G_C_TILE]);
    for (uint64_t i = 0; hopper_work_of(s, w->id, i, &work); i++) {
        synth_run(w, mark[G_C_TILE], mark[G_C_FIRST]);
        for (uint64_t k = 0; k < work.count; k++)
            multiply_step(b, w, step++, k, work.count);
        free_step(b, w, mark[G_C_LAST], step - 1);
        add_partials(b, w, &work);
        if (work.puts) {
            put_partial(b, w, &work);
        } else {
            store_tile(b, w, work.tile_m, work.tile_n, stored);
            stored += m_parts(s) * n_parts(s);
        }
        for (uint64_t slot = work.slot; work.resets && slot < work.slot + work.adds; slot++)
            if (w->index == PRODUCER_WARPS)
                synth_semaphore(w, mark[G_C_RESET], semaphore_of(slot), 0);
        synth_loop_end(w, mark[G_C_NEXT], mark[G_C_EXIT], hopper_work_of(s, w->id, i + 1, &next));
    }
    if (w->index % SYNTH_GROUP_WARPS == 0)
        synth_run(w, mark[G_C_EXIT], mark[G_C_EXIT] + 1);
    synth_run(w, mark[G_C_EXIT] + 1, mark[G_END]);
}

void hopper_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const hopper_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    hopper_block b = block_of(s, w);
    (void)launch;
    synth_run(w, 0, mark[G_INIT] - 1);
    synth_one(w, mark[G_INIT] - 1, w->index == 0 ? 0 : w->mask);
    if (w->index == 0) {
        uint32_t row = mark[G_INIT] + 4;
        synth_run(w, mark[G_INIT], mark[G_INIT] + 1);
        w->mask = 1;
        synth_run(w, mark[G_INIT] + 1, row);
        for (uint32_t i = 0; i < s->stages; i++, row++)
            synth_mbarrier_init(w, row, synth_ring_full(&b.ring, i), 1);
        for (uint32_t i = 0; i < s->stages; i++, row++)
            synth_mbarrier_init(w, row, synth_ring_empty(&b.ring, i), partners(s) * (uint32_t)s->consumers);
        synth_run(w, row, row + 1);
        w->mask = SYNTH_FULL;
    }
    synth_run(w, mark[G_SYNC], mark[G_PRODUCER]);
    if (w->index < PRODUCER_WARPS)
        run_producer(&b, w);
    else
        run_consumer(&b, w);
}
