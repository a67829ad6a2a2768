/* bulk.c: generator bulk-copy: a block loads boxes with bulk copies, one after the other. All its warps wait for each at an
 * mbarrier and read it. With one warp the address of a copy comes from the one before it: a chase of pointers. With more
 * it is the loop of NVIDIA's programming guide: the block meets, thread 0 computes an address and copies, all threads arrive
 * and wait. Latency and bandwidth of the engine can be read off it. */
#include "workload/synth/async.h"

#include <stdio.h>

typedef struct bulk_spec {
    synth_common common;
    uint64_t bytes, copies, ctas, warps, dimensions, row_bytes, footprint_kib;
    uint32_t order;
} bulk_spec;

static const char *const orders[] = { "range", "turns", "scattered", NULL };
enum { RANGE, TURNS, SCATTERED };

static const ls_param bulk_params[] = {
    LS_PARAM_UINT(bulk_spec, bytes, "bytes", 4096, 16, 131072, "of a copy; a multiple of row_bytes"),
    LS_PARAM_UINT(bulk_spec, copies, "", 16, 1, 65536, "of a block, one after the other"),
    LS_PARAM_UINT(bulk_spec, ctas, "blocks", 1, 1, 65536, "thread blocks"),
    LS_PARAM_UINT(bulk_spec, warps, "", 1, 1, 32, "of a block; the first one issues the copies"),
    LS_PARAM_UINT(bulk_spec, dimensions, "", 0, 0, 3, "of the tensor; 0: a copy without a descriptor"),
    LS_PARAM_UINT(bulk_spec, row_bytes, "bytes", 0, 0, 1024,
                  "of a row of the box: one transfer; 0: 128, or all of it"),
    LS_PARAM_UINT(bulk_spec, footprint_kib, "KiB", 0, 0, 16777216,
                  "memory that the copies come from, again and again; 0: each has its own"),
    LS_PARAM_CHOICE(
        bulk_spec, order, "order", "range", orders,
        "range: each block has a range of its own; turns: blocks take turns; scattered: at random"),
};

static uint64_t row_bytes(const bulk_spec *s)
{
    return s->row_bytes != 0 ? s->row_bytes : synth_min(s->bytes, SYNTH_LINE);
}

static ls_status bulk_check(const void *spec, ls_error *err)
{
    const bulk_spec *s = spec;
    const synth_multiple rules[] = { { "bytes", s->bytes, row_bytes(s) }, { "bytes", s->bytes, 16 } };
    if (synth_versions[s->common.binary_version] != 90 || s->common.tracer_version != 6)
        return ls_fail(err, LS_ERR_USAGE, "bulk-copy needs binary_version 90 and tracer_version 6");
    if (s->footprint_kib != 0 && s->footprint_kib * 1024 < s->bytes)
        return ls_fail(err, LS_ERR_USAGE, "'footprint_kib' is smaller than a copy");
    return synth_check_multiples(rules, LS_COUNT_OF(rules), err);
}

static uint64_t all_bytes(const bulk_spec *s)
{
    return s->footprint_kib != 0 ? s->footprint_kib * 1024 / s->bytes * s->bytes
                                 : s->copies * s->ctas * s->bytes;
}

static unsigned bulk_copies(const void *spec, synth_copy *copies)
{
    copies[0] = (synth_copy){ synth_array(0), all_bytes(spec) };
    return 1;
}

static void bulk_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const bulk_spec *s = spec;
    (void)launch;
    out->name = s->dimensions == 0 ? "_Z9bulk_copyPci" : "_Z11tensor_copyi";
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)s->warps * SYNTH_WARP;
    out->registers = 24;
    out->shared_bytes = s->bytes + SYNTH_LINE;
}

enum { B_INIT, B_SYNC, B_LOOP, B_COPY, B_EXPECT, B_ARRIVE, B_WAIT, B_READ, B_NEXT, B_END };

static void bulk_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    static const char *const opcodes[] = { "UBLKCP.S.G", "UTMALDG.1D", "UTMALDG.2D", "UTMALDG.3D" };
    const bulk_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R4 MOV 0 0");
    p->mark[B_INIT] = synth_row_init(p);
    synth_op(p, "0 FENCE.VIEW.ASYNC.S 0 0");
    p->mark[B_SYNC] = synth_here(p);
    if (s->warps > 1)
        synth_barrier(p);
    p->mark[B_LOOP] = synth_here(p);
    if (s->warps > 1) {
        synth_op(p, "0 ISETP.NE.AND 1 R9 0");
        synth_op(p, "0 BRA 0 0");
        synth_op(p, "1 R10 IMAD 3 R7 R11 R9 0");
        synth_op(p, "1 R12 IMAD.WIDE 2 R10 R13 0");
        synth_op(p, "1 R4 IADD3 2 R12 R14 0");
        synth_op(p, "1 R5 IADD3.X 2 R13 R15 0");
        synth_op(p, "1 UR9 R2UR 1 R5 0");
    }
    synth_op(p, "1 UR8 R2UR 1 R4 0"); /* one warp: the address of the next copy comes from the one before it */
    p->mark[B_COPY] = synth_op(p, "0 %s 0 %u", opcodes[s->dimensions], (unsigned)row_bytes(s));
    p->mark[B_EXPECT] = synth_row_expect(p);
    p->mark[B_ARRIVE] = synth_here(p);
    if (s->warps > 1)
        synth_row_arrive(p, false);
    p->mark[B_WAIT] = synth_row_wait(p);
    p->mark[B_READ] = synth_op(p, "1 R4 LDS 1 R6 4");
    p->mark[B_NEXT] = synth_here(p);
    if (s->warps > 1) {
        synth_op(p, "1 R8 FADD 2 R8 R4 0");
        synth_op(p, "0 FENCE.VIEW.ASYNC.S 0 0");
        synth_barrier(p);
    }
    synth_increment(p, 7, 1);
    synth_op(p, "0 ISETP.GE.AND 1 R7 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[B_END] = synth_exit(p);
}

/* A box whose rows lie side by side, by lane 0. */
static void copy_box(const bulk_spec *s, synth_warp *w, uint64_t address)
{
    enum { BASE_DIGITS = 1 };
    uint64_t words[LS_BULK_WORD_ADDRESSES + 8192], rows = s->bytes / row_bytes(s);
    uint64_t count = LS_BULK_WORD_ADDRESSES + rows;
    words[0] = ls_record_head(LS_RECORD_BULK, 4, BASE_DIGITS << 8, count);
    words[LS_BULK_WORD_PLACE] = 0;
    words[LS_BULK_WORD_BYTES] = s->bytes;
    words[LS_BULK_WORD_OUTSIDE] = 0;
    words[LS_BULK_WORD_COUNT] = rows;
    for (uint64_t i = 0; i < rows; i++)
        words[LS_BULK_WORD_ADDRESSES + i] = address + i * row_bytes(s);
    synth_record(w, w->program->mark[B_COPY], words, count);
}

static void bulk_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const bulk_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    const uint32_t lanes = s->warps > 1 ? SYNTH_FULL : 1;
    const uint64_t zeros[SYNTH_WARP] = { 0 };
    (void)launch;
    synth_run(w, 0, mark[B_INIT]);
    if (w->index == 0) {
        w->mask = 1;
        synth_mbarrier_init(w, mark[B_INIT], 0, s->warps > 1 ? (uint32_t)s->warps * SYNTH_WARP : 1);
        synth_run(w, mark[B_INIT] + 1, mark[B_SYNC]);
        w->mask = SYNTH_FULL;
    }
    synth_run(w, mark[B_SYNC], mark[B_LOOP]);
    for (uint64_t i = 0; i < s->copies; i++) {
        uint64_t number = s->order == TURNS ? i * s->ctas + w->id[0] : w->id[0] * s->copies + i;
        if (s->order == SCATTERED)
            number = synth_hash(s->common.seed, w->id[0], i) % (all_bytes(s) / s->bytes);
        uint64_t at = number * s->bytes % all_bytes(s);
        if (w->index == 0) {
            w->mask = 1;
            synth_run(w, mark[B_LOOP], mark[B_COPY]);
            copy_box(s, w, synth_array(0) + at);
            synth_mbarrier_value(w, mark[B_EXPECT], 0, s->bytes);
        }
        if (s->warps > 1) { /* all other threads */
            w->mask = w->index == 0 ? SYNTH_FULL & ~1u : SYNTH_FULL;
            synth_mbarrier_arrive(w, mark[B_ARRIVE], zeros);
        }
        w->mask = lanes;
        synth_mbarrier_wait(w, mark[B_WAIT], 0, (uint32_t)i & 1);
        synth_lanes(w, mark[B_READ], SYNTH_LINE, 4);
        synth_loop_end(w, mark[B_NEXT], mark[B_END], i + 1 < s->copies);
    }
    w->mask = SYNTH_FULL;
    synth_run(w, mark[B_END], mark[B_END] + 1);
}

static void bulk_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const bulk_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t copies = s->ctas * s->copies, warps = s->ctas * s->warps, lanes = s->warps > 1 ? SYNTH_WARP : 1;
    uint64_t first = mark[B_SYNC] - mark[B_INIT], issue = mark[B_ARRIVE] - mark[B_LOOP];
    uint64_t rest = mark[B_END] - mark[B_ARRIVE], around = mark[B_INIT] + mark[B_LOOP] - mark[B_SYNC] + 1;
    (void)launch;
    f->warp_insts += s->ctas * first + warps * around + copies * (issue + s->warps * rest);
    /* Nobody takes the branches of waits and the last one back; thread 0 arrives on its own. */
    f->thread_insts += s->ctas * first + warps * around * SYNTH_WARP + copies * issue +
                       copies * s->warps * lanes * (rest - 1) - warps * lanes - (s->warps > 1 ? copies : 0);
    f->global_loads += copies;
    f->load_sectors += copies * synth_ceil_div(s->bytes, SYNTH_SECTOR);
    f->shared_accesses += copies * s->warps;
    f->barriers += s->warps > 1 ? warps * (s->copies + 1) : 0;
    f->global_bytes += all_bytes(s);
}

const synth_kind synth_bulk_copy = {
    .name = "bulk-copy",
    .help = "one bulk copy after the other into shared memory, each waited for at an mbarrier (sm_90)",
    .defaults = "binary_version=90,tracer_version=6",
    .spec_size = sizeof(bulk_spec),
    .params = bulk_params,
    .param_count = LS_COUNT_OF(bulk_params),
    .check = bulk_check,
    .copies = bulk_copies,
    .launch = bulk_launch,
    .assemble = bulk_assemble,
    .warp = bulk_warp,
    .facts = bulk_facts,
};
