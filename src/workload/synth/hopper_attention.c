/* hopper_attention.c: the generator attention-hopper: attention as FlashAttention-3 computes it (Shah et al.,
 * arXiv:2407.08608), forward, without a mask.
 *
 * A block makes 128 rows of the result of one head. The producer warp loads Q once, then keys and values in blocks of
 * 128 rows into rings of their own. Two consumer warp groups have 64 rows of Q each. For each block they multiply Q and K
 * from shared memory, compute the softmax, and multiply the probabilities, which are in registers, with V. The groups
 * take turns: each waits at a named barrier before its first product and lets the other one go after it, so that one
 * multiplies while the other computes exponents. */
#include "workload/synth/async.h"

#include <inttypes.h>

#define ROWS 64u /* of Q, per consumer */
#define CONSUMERS 2u
#define KEYS 128u /* of a block of K and V */
#define BYTES 2u  /* of an element */
#define PRODUCER_WARPS SYNTH_GROUP_WARPS
#define SUMS_S 24u /* registers of the scores: KEYS / 2, then the probabilities in half of them */
#define SUMS_O 96u /* registers of the results: dim / 2 */
#define SCORES (KEYS / 2)
#define TURN 2u  /* numbers of the barriers of the two groups */
#define STORE 4u /* and of those before they store */
#define INIT_ROWS 4u
#define ROW_STORES 4u

typedef struct attention_spec {
    synth_common common;
    uint64_t heads, queries, keys, dim, stages;
} attention_spec;

static const ls_param attention_params[] = {
    LS_PARAM_UINT(attention_spec, heads, "", 4, 1, 4096, "heads of all sequences together"),
    LS_PARAM_UINT(attention_spec, queries, "rows", 256, 128, 65536, "of a head; a multiple of 128"),
    LS_PARAM_UINT(attention_spec, keys, "rows", 256, 128, 65536, "of a head; a multiple of 128"),
    LS_PARAM_UINT(attention_spec, dim, "elements", 128, 64, 128, "of a row: 64 or 128"),
    LS_PARAM_UINT(attention_spec, stages, "", 2, 1, 4, "blocks of K and V in shared memory at a time"),
};

static uint64_t row_bytes(const attention_spec *s)
{
    return s->dim * BYTES;
}
static uint32_t boxes(const attention_spec *s) /* of 128 bytes in a row */
{
    return (uint32_t)(row_bytes(s) / SYNTH_BOX_BYTES);
}
static uint64_t blocks_of_keys(const attention_spec *s)
{
    return s->keys / KEYS;
}
static uint64_t q_bytes(const attention_spec *s)
{
    return CONSUMERS * ROWS * row_bytes(s);
}
static uint64_t stage_bytes(const attention_spec *s)
{
    return KEYS * row_bytes(s);
}
/* Q (later the results), K, V, mbarriers: of Q, the ring of K, the ring of V. */
static uint64_t mbarriers_at(const attention_spec *s)
{
    return q_bytes(s) + 2 * s->stages * stage_bytes(s);
}
static uint64_t shared_bytes(const attention_spec *s)
{
    return mbarriers_at(s) + SYNTH_MBARRIER_BYTES + 2 * synth_ring_bytes((uint32_t)s->stages);
}
static synth_ring ring_of(const attention_spec *s, uint32_t values)
{
    return (synth_ring){ .stages = (uint32_t)s->stages,
                         .at = mbarriers_at(s) + SYNTH_MBARRIER_BYTES +
                               values * synth_ring_bytes((uint32_t)s->stages) };
}

static ls_status attention_check(const void *spec, ls_error *err)
{
    const attention_spec *s = spec;
    const synth_multiple rules[] = { { "queries", s->queries, CONSUMERS * ROWS },
                                     { "keys", s->keys, KEYS },
                                     { "dim", s->dim, 64 } };
    if (synth_versions[s->common.binary_version] != 90 || s->common.tracer_version != 6)
        return ls_fail(err, LS_ERR_USAGE, "attention-hopper needs binary_version 90 and tracer_version 6");
    ls_status status = synth_check_multiples(rules, LS_COUNT_OF(rules), err);
    if (status == LS_OK && shared_bytes(s) > SYNTH_SHARED_MOST)
        return ls_fail(err, LS_ERR_USAGE,
                       "attention-hopper needs %" PRIu64 " bytes of shared memory: at most %u",
                       shared_bytes(s), SYNTH_SHARED_MOST);
    return status;
}

static unsigned attention_copies(const void *spec, synth_copy *inputs)
{
    const attention_spec *s = spec;
    inputs[0] = (synth_copy){ synth_array(0), s->heads * s->queries * row_bytes(s) };
    inputs[1] = (synth_copy){ synth_array(4), s->heads * s->keys * row_bytes(s) };
    inputs[2] = (synth_copy){ synth_array(8), s->heads * s->keys * row_bytes(s) };
    return 3;
}

static void attention_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const attention_spec *s = spec;
    (void)launch;
    out->name = "attention_forward";
    out->grid[0] = (uint32_t)(s->queries / (CONSUMERS * ROWS));
    out->grid[1] = (uint32_t)s->heads;
    out->block[0] = (1 + CONSUMERS) * SYNTH_GROUP_WARPS * SYNTH_WARP;
    out->shared_bytes = shared_bytes(s);
    out->registers = 168;
}

/* ----------------------------------------------------------------------------------------------- program */

enum {
    A_INIT,
    A_SYNC,
    A_PRODUCER,
    A_P_QUERIES, /* Q: expect, copies */
    A_P_KEYS,    /* a block of K: wait, expect, copies */
    A_P_VALUES,
    A_P_NEXT,
    A_P_TAIL,
    A_P_EXIT,
    A_CONSUMER,
    A_C_START, /* the second group lets the first one begin; wait for Q */
    A_C_SCORES,
    A_C_LET,     /* the other group may go */
    A_C_SOFTMAX, /* waits for the scores, frees K */
    A_C_RESULTS, /* waits for V, multiplies */
    A_C_FREE,    /* frees V */
    A_C_NEXT,
    A_C_STORE,
    A_C_STORED, /* the elected warp's bulk stores */
    A_C_EXIT,
    A_END
};
#define NEXT_ROWS 4u
#define FREE_ROWS 2u

static void next_rows(synth_program *p)
{
    synth_op(p, "1 R8 IADD3 2 R8 R255 0");
    synth_op(p, "1 R5 LOP3.LUT 2 R5 R9 0");
    synth_op(p, "0 ISETP.NE.AND 1 R8 0");
    synth_op(p, "0 BRA 0 0");
}

static void copy_rows(const attention_spec *s, synth_program *p)
{
    synth_row_expect(p);
    for (uint32_t i = 0; i < boxes(s); i++)
        synth_op(p, "0 UTMALDG.4D 0 %u", SYNTH_BOX_BYTES);
}

static void producer_rows(const attention_spec *s, synth_program *p)
{
    p->mark[A_PRODUCER] = synth_here(p);
    synth_op(p, "0 USETMAXREG.DEALLOC.CTAPOOL 0 0");
    synth_imm(p, 24);
    synth_op(p, "0 ISETP.NE.AND 1 R3 0");
    synth_op(p, "0 EXIT 0 0"); /* the other warps of the group */
    p->mark[A_P_QUERIES] = synth_here(p);
    copy_rows(s, p);
    p->mark[A_P_KEYS] = synth_row_wait(p);
    copy_rows(s, p);
    p->mark[A_P_VALUES] = synth_row_wait(p);
    copy_rows(s, p);
    p->mark[A_P_NEXT] = synth_here(p);
    next_rows(p);
    p->mark[A_P_TAIL] = synth_here(p);
    for (uint64_t i = 0; i < 2 * s->stages; i++)
        synth_row_wait(p);
    p->mark[A_P_EXIT] = synth_exit(p);
}

/* Products of 16 of k: the scores over dim, the results over keys, with the probabilities in registers. */
static void product_rows(const attention_spec *s, synth_program *p, bool results)
{
    uint32_t count = (results ? KEYS : (uint32_t)s->dim) / 16;
    synth_op(p, "0 WARPGROUP.ARRIVE 0 0");
    for (uint32_t i = 0; i < count; i++) {
        synth_op(p, "1 UR20 UIADD3 2 UR20 UR63 0");
        synth_row_product(p, SYNTH_FP16, results ? (uint32_t)s->dim : KEYS, results ? SUMS_O : SUMS_S,
                          results ? SUMS_S + 4 * i : 0, i + 1 == count);
    }
}

/* Maximum and sum of a row are those of four lanes. */
static void softmax_rows(const attention_spec *s, synth_program *p)
{
    for (unsigned i = 0; i < SCORES; i++)
        synth_op(p, "1 R%u FMNMX 2 R%u R%u 0", 16 + i % 2, 16 + i % 2, SUMS_S + i);
    for (unsigned i = 0; i < 4; i++) {
        synth_op(p, "1 R18 SHFL.BFLY 1 R%u 0", 16 + i % 2);
        synth_op(p, "1 R%u FMNMX 2 R%u R18 0", 16 + i % 2, 16 + i % 2);
    }
    for (unsigned i = 0; i < SCORES; i++)
        synth_op(p, "1 R%u FFMA 3 R%u R10 R%u 0", SUMS_S + i, SUMS_S + i, 16 + i % 2);
    for (unsigned i = 0; i < SCORES; i++)
        synth_op(p, "1 R%u MUFU.EX2 1 R%u 0", SUMS_S + i, SUMS_S + i);
    for (unsigned i = 0; i < SCORES; i++)
        synth_op(p, "1 R%u FADD 2 R%u R%u 0", 20 + i % 2, 20 + i % 2, SUMS_S + i);
    for (unsigned i = 0; i < SCORES / 2; i++)
        synth_op(p, "1 R%u F2FP.F16.F32.PACK_AB 2 R%u R%u 0", SUMS_S + i, SUMS_S + 2 * i + 1, SUMS_S + 2 * i);
    for (unsigned i = 0; i < s->dim / 2; i++) /* the results so far, by the change of the maximum */
        synth_op(p, "1 R%u FMUL 2 R%u R19 0", SUMS_O + i, SUMS_O + i);
}

static void free_rows(synth_program *p)
{
    synth_op(p, "0 WARPGROUP.DEPBAR.LE 0 0");
    synth_row_arrive(p, false);
}

static void consumer_rows(const attention_spec *s, synth_program *p)
{
    uint32_t both = CONSUMERS * SYNTH_GROUP_WARPS;
    p->mark[A_CONSUMER] = synth_here(p);
    synth_op(p, "0 USETMAXREG.TRY_ALLOC.CTAPOOL 0 0");
    synth_imm(p, 240);
    p->mark[A_C_START] = synth_row_named(p, both, true);
    synth_row_wait(p);
    p->mark[A_C_SCORES] = synth_row_wait(p);
    synth_row_named(p, both, false);
    product_rows(s, p, false);
    p->mark[A_C_LET] = synth_row_named(p, both, true);
    p->mark[A_C_SOFTMAX] = synth_here(p);
    free_rows(p);
    softmax_rows(s, p);
    p->mark[A_C_RESULTS] = synth_row_wait(p);
    product_rows(s, p, true);
    p->mark[A_C_FREE] = synth_here(p);
    free_rows(p);
    p->mark[A_C_NEXT] = synth_here(p);
    next_rows(p);
    p->mark[A_C_STORE] = synth_here(p);
    synth_op(p, "1 R19 MUFU.RCP 1 R20 0");
    for (unsigned i = 0; i < s->dim / 2; i++)
        synth_op(p, "1 R%u FMUL 2 R%u R19 0", SUMS_O + i, SUMS_O + i);
    for (unsigned i = 0; i < s->dim / 4; i++)
        synth_op(p, "1 R%u F2FP.F16.F32.PACK_AB 2 R%u R%u 0", SUMS_O + i, SUMS_O + 2 * i + 1, SUMS_O + 2 * i);
    for (unsigned i = 0; i < boxes(s) * ROW_STORES; i++)
        synth_op(p, "0 STSM.16.M88.4 2 R14 R%u 16", SUMS_O + 4 * i);
    synth_op(p, "0 FENCE.VIEW.ASYNC.S 0 0");
    synth_row_named(p, SYNTH_GROUP_WARPS, false);
    p->mark[A_C_STORED] = synth_here(p);
    for (unsigned i = 0; i < boxes(s); i++)
        synth_op(p, "0 UTMASTG.4D 0 %u", SYNTH_BOX_BYTES);
    synth_op(p, "0 UTMACMDFLUSH 0 0");
    synth_op(p, "0 DEPBAR.LE 0 0");
    p->mark[A_C_EXIT] = synth_exit(p);
    p->mark[A_END] = synth_here(p);
}

static void attention_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const attention_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, "1 R11 S2R 0 0");
    synth_op(p, "1 R3 SHF.R.U32.HI 2 R255 R2 0");
    synth_op(p, "1 R3 SHFL.IDX 1 R3 0");
    synth_op(p, "0 ISETP.NE.AND 1 R3 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[A_INIT] = synth_here(p);
    synth_op(p, "0 ELECT 0 0");
    for (unsigned i = 1; i < INIT_ROWS; i++)
        synth_op(p, "0 UTMACCTL.PF 0 0");
    for (uint64_t i = 0; i < 1 + 4 * s->stages; i++)
        synth_row_init(p);
    synth_op(p, "0 FENCE.VIEW.ASYNC.S 0 0");
    p->mark[A_SYNC] = synth_row_barrier(p, 0, 0);
    synth_op(p, "0 ISETP.GE.AND 1 R3 0");
    synth_op(p, "0 BRA 0 0");
    producer_rows(s, p);
    consumer_rows(s, p);
}

/* ------------------------------------------------------------------------------------------------- warps */

/* Rows of a matrix from `first` on, of this head: all boxes of a row, expected together. */
static void load_rows(const attention_spec *s, synth_warp *w, uint32_t row, unsigned array, uint64_t first,
                      uint64_t mbarrier)
{
    synth_mbarrier_value(w, row, mbarrier, KEYS * row_bytes(s));
    for (uint32_t i = 0; i < boxes(s); i++) {
        const synth_box box = { synth_array(array) + first * row_bytes(s) + i * SYNTH_BOX_BYTES, row_bytes(s),
                                KEYS };
        synth_bulk(w, row + 1 + i, &box, mbarrier, 0);
    }
}
_Static_assert(CONSUMERS *ROWS == KEYS, "Q and blocks of K have as many rows");

static void run_producer(const attention_spec *s, synth_warp *w)
{
    const uint32_t *mark = w->program->mark;
    const synth_ring keys = ring_of(s, 0), values = ring_of(s, 1);
    uint64_t n = blocks_of_keys(s), head = w->id[1];
    synth_run(w, mark[A_PRODUCER], mark[A_P_QUERIES] - 1);
    synth_one(w, mark[A_P_QUERIES] - 1, w->index == 0 ? 0 : w->mask);
    if (w->index != 0)
        return;
    w->mask = 1;
    load_rows(s, w, mark[A_P_QUERIES], 0, head * s->queries + w->id[0] * CONSUMERS * ROWS, mbarriers_at(s));
    for (uint64_t j = 0; j < n; j++) {
        uint64_t first = head * s->keys + j * KEYS;
        uint32_t parity = synth_ring_parity(&keys, j) ^ 1;
        synth_mbarrier_wait(w, mark[A_P_KEYS], synth_ring_empty(&keys, j), parity);
        load_rows(s, w, mark[A_P_KEYS] + SYNTH_WAIT_ROWS, 4, first, synth_ring_full(&keys, j));
        synth_mbarrier_wait(w, mark[A_P_VALUES], synth_ring_empty(&values, j), parity);
        load_rows(s, w, mark[A_P_VALUES] + SYNTH_WAIT_ROWS, 8, first, synth_ring_full(&values, j));
        synth_loop_end(w, mark[A_P_NEXT], mark[A_P_TAIL], j + 1 < n);
    }
    for (uint32_t i = 0; i < 2 * s->stages; i++) {
        const synth_ring *ring = i < s->stages ? &keys : &values;
        uint64_t step = n + i % s->stages;
        synth_mbarrier_wait(w, mark[A_P_TAIL] + i * SYNTH_WAIT_ROWS, synth_ring_empty(ring, step),
                            synth_ring_parity(ring, step) ^ 1);
    }
    w->mask = SYNTH_FULL;
    synth_run(w, mark[A_P_EXIT], mark[A_P_EXIT] + 1);
}

static void free_stage(synth_warp *w, uint32_t row, uint64_t mbarrier)
{
    uint64_t addresses[SYNTH_WARP];
    for (uint32_t i = 0; i < SYNTH_WARP; i++)
        addresses[i] = mbarrier;
    synth_run(w, row, row + 1);
    w->mask = w->index % SYNTH_GROUP_WARPS == 0 ? 1 : 0;
    synth_mbarrier_arrive(w, row + 1, addresses);
    w->mask = SYNTH_FULL;
}

static void store_results(const attention_spec *s, synth_warp *w, uint32_t group)
{
    const uint32_t *mark = w->program->mark;
    uint64_t lanes[SYNTH_WARP], first = w->id[1] * s->queries + (w->id[0] * CONSUMERS + group) * ROWS;
    uint32_t row = mark[A_C_STORE] + 1 + (uint32_t)(s->dim / 2 + s->dim / 4),
             y = w->index % SYNTH_GROUP_WARPS * 16;
    synth_run(w, mark[A_C_STORE], row);
    for (uint32_t i = 0; i < boxes(s) * ROW_STORES; i++) {
        for (uint32_t lane = 0; lane < SYNTH_WARP; lane++) {
            uint32_t at = y + lane % 16, piece = 2 * (i % ROW_STORES) + lane / 16;
            lanes[lane] = (group * boxes(s) + i / ROW_STORES) * ROWS * SYNTH_BOX_BYTES + at * SYNTH_BOX_BYTES +
                          (piece ^ (at & 7)) * 16;
        }
        synth_list(w, row + i, lanes);
    }
    row = mark[A_C_STORED];
    synth_run(w, row - 2, row - 1);
    synth_named_barrier(w, row - 1, STORE + group);
    if (w->index % SYNTH_GROUP_WARPS != 0)
        return;
    for (uint32_t i = 0; i < boxes(s); i++) {
        const synth_box box = { synth_array(12) + first * row_bytes(s) + i * SYNTH_BOX_BYTES, row_bytes(s),
                                ROWS };
        synth_bulk(w, row + i, &box, 0, 0);
    }
    synth_one(w, row + boxes(s), 1);
    synth_run(w, row + boxes(s) + 1, row + boxes(s) + 2);
}

static void run_consumer(const attention_spec *s, synth_warp *w)
{
    const uint32_t *mark = w->program->mark;
    const synth_ring keys = ring_of(s, 0), values = ring_of(s, 1);
    uint32_t group = w->index / SYNTH_GROUP_WARPS - 1, other = 1 - group;
    uint64_t n = blocks_of_keys(s);
    synth_run(w, mark[A_CONSUMER], mark[A_C_START]);
    if (group == 1)
        synth_named_barrier(w, mark[A_C_START], TURN + other);
    synth_mbarrier_wait(w, mark[A_C_START] + 1, mbarriers_at(s), 0);
    for (uint64_t j = 0; j < n; j++) {
        uint32_t row = mark[A_C_SCORES], parity = synth_ring_parity(&keys, j);
        synth_mbarrier_wait(w, row, synth_ring_full(&keys, j), parity);
        synth_named_barrier(w, row + SYNTH_WAIT_ROWS, TURN + group);
        synth_run(w, row + SYNTH_WAIT_ROWS + 1, mark[A_C_LET]);
        if (group == 0 || j + 1 < n) /* nobody waits for the second group's last turn */
            synth_named_barrier(w, mark[A_C_LET], TURN + other);
        free_stage(w, mark[A_C_SOFTMAX], synth_ring_empty(&keys, j));
        synth_run(w, mark[A_C_SOFTMAX] + FREE_ROWS, mark[A_C_RESULTS]);
        synth_mbarrier_wait(w, mark[A_C_RESULTS], synth_ring_full(&values, j), parity);
        synth_run(w, mark[A_C_RESULTS] + SYNTH_WAIT_ROWS, mark[A_C_FREE]);
        free_stage(w, mark[A_C_FREE], synth_ring_empty(&values, j));
        synth_loop_end(w, mark[A_C_NEXT], mark[A_C_STORE], j + 1 < n);
    }
    store_results(s, w, group);
    synth_run(w, mark[A_C_EXIT], mark[A_END]);
}

static void attention_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const attention_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    (void)launch;
    synth_run(w, 0, mark[A_INIT] - 1);
    synth_one(w, mark[A_INIT] - 1, w->index == 0 ? 0 : w->mask);
    if (w->index == 0) {
        uint32_t row = mark[A_INIT] + INIT_ROWS;
        synth_run(w, mark[A_INIT], mark[A_INIT] + 1);
        w->mask = 1;
        synth_run(w, mark[A_INIT] + 1, row);
        synth_mbarrier_init(w, row++, mbarriers_at(s), 1);
        for (uint32_t i = 0; i < 4 * s->stages; i++) { /* full and empty of K, then of V */
            const synth_ring ring = ring_of(s, i >= 2 * s->stages);
            bool full = i / s->stages % 2 == 0;
            synth_mbarrier_init(w, row++, full ? synth_ring_full(&ring, i) : synth_ring_empty(&ring, i),
                                full ? 1 : CONSUMERS);
        }
        synth_run(w, row, row + 1);
        w->mask = SYNTH_FULL;
    }
    synth_run(w, mark[A_SYNC], mark[A_PRODUCER]);
    if (w->index < PRODUCER_WARPS)
        run_producer(s, w);
    else
        run_consumer(s, w);
}

static void attention_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const attention_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t blocks = s->heads * s->queries / (CONSUMERS * ROWS), n = blocks_of_keys(s),
             warps = CONSUMERS * SYNTH_GROUP_WARPS;
    uint64_t all = PRODUCER_WARPS + warps, init = mark[A_SYNC] - mark[A_INIT];
    uint64_t begin = mark[A_INIT] + mark[A_PRODUCER] - mark[A_SYNC],
             leave = mark[A_P_QUERIES] - mark[A_PRODUCER];
    uint64_t copy = 1 + boxes(s), loop_p = mark[A_P_TAIL] - mark[A_P_KEYS],
             tail = mark[A_P_EXIT] - mark[A_P_TAIL];
    uint64_t loop_c = mark[A_C_STORE] - mark[A_C_SCORES], store = mark[A_C_STORED] - mark[A_C_STORE];
    uint64_t stored = mark[A_C_EXIT] - mark[A_C_STORED];
    (void)launch;
    /* the barrier that lets the other group go: the second group's at first, all but its last later */
    uint64_t consumer = warps * (1 + SYNTH_WAIT_ROWS + n * loop_c + store + 1) + CONSUMERS * stored;
    f->warp_insts +=
        blocks * (all * begin + init + PRODUCER_WARPS * leave + copy + n * loop_p + tail + 1 + consumer);
    /* branches of waits and at the end of loops, and arrivals of all warps but one, have no lanes */
    uint64_t none = warps * (1 + 2 * n + 1 + 2 * n);
    uint64_t full =
        all * begin - 1 + 1 + PRODUCER_WARPS * leave - 1 + 1 + consumer - none - CONSUMERS * (stored - 1);
    uint64_t single =
        init - 1 + copy + n * (loop_p - 2) - 1 + tail / SYNTH_WAIT_ROWS + CONSUMERS * (2 * n + stored - 1);
    f->thread_insts += blocks * (full * SYNTH_WARP + single);
    uint64_t sectors = SYNTH_BOX_BYTES / SYNTH_SECTOR;
    f->global_loads += blocks * (1 + 2 * n) * boxes(s);
    f->load_sectors += blocks * (1 + 2 * n) * boxes(s) * KEYS * sectors;
    f->global_stores += blocks * CONSUMERS * boxes(s);
    f->store_sectors += blocks * CONSUMERS * boxes(s) * ROWS * sectors;
    f->shared_accesses += blocks * warps * boxes(s) * ROW_STORES;
    f->barriers += blocks * (all + warps * (2 * n + 1));
    f->global_bytes += 2 * s->heads * (s->queries + s->keys) * row_bytes(s);
}

const synth_kind synth_attention_hopper = {
    .name = "attention-hopper",
    .help = "attention of two warp groups that take turns, as FlashAttention-3 (sm_90)",
    .defaults = "binary_version=90,tracer_version=6",
    .spec_size = sizeof(attention_spec),
    .params = attention_params,
    .param_count = LS_COUNT_OF(attention_params),
    .check = attention_check,
    .copies = attention_copies,
    .launch = attention_launch,
    .assemble = attention_assemble,
    .warp = attention_warp,
    .shape = synth_all_alike,
    .facts = attention_facts,
};
