/* shared.c: generators for accesses that get in each other's way: shared-conflict (banks of shared memory)
 * and atomics (one address, or one for each warp or thread). */
#include "workload/synth/kind.h"

#include <inttypes.h>

/* --------------------------------------------------------------------------------------- shared-conflict */

static const char *const width_names[] = { "4", "8", "16", NULL };
static const char *const width_texts[] = { "", ".64", ".128" };
static const char *const access_names[] = { "load", "store", NULL };

typedef struct conflict_spec {
    synth_common common;
    uint64_t stride_bytes, count, unroll, warps, ctas;
    uint32_t width, access;
} conflict_spec;

static const ls_param conflict_params[] = {
    LS_PARAM_UINT(
        conflict_spec, stride_bytes, "bytes", 128, 0, 1024,
        "from lane to lane, a multiple of the width: 4 has no conflicts, 8 two-way ones, 128 32-way ones"),
    LS_PARAM_CHOICE(conflict_spec, width, "width_bytes", "4", width_names, "bytes per lane"),
    LS_PARAM_CHOICE(conflict_spec, access, "access", "load", access_names, "the repeated access"),
    LS_PARAM_UINT(conflict_spec, count, "accesses", 256, 1, 1048576,
                  "accesses of a warp, rounded up to whole loops"),
    LS_PARAM_UINT(conflict_spec, unroll, "accesses", 8, 1, 32, "accesses in the body of the loop"),
    LS_PARAM_UINT(conflict_spec, warps, "", 4, 1, 32, "warps of a block"),
    LS_PARAM_UINT(conflict_spec, ctas, "blocks", 1, 1, 65536, "thread blocks"),
};

static uint64_t conflict_width(const conflict_spec *s)
{
    return UINT64_C(4) << s->width;
}
static uint64_t conflict_loops(const conflict_spec *s)
{
    return synth_ceil_div(s->count, s->unroll);
}

static ls_status conflict_check(const void *spec, ls_error *err)
{
    const conflict_spec *s = spec;
    if (s->stride_bytes % conflict_width(s) != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "parameter 'stride_bytes': %" PRIu64 " is not a multiple of the width",
                       s->stride_bytes);
    return LS_OK;
}

static void conflict_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const conflict_spec *s = spec;
    (void)launch;
    out->name = "_Z9conflictsPf";
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)(s->warps * SYNTH_WARP);
    out->shared_bytes = s->stride_bytes * (SYNTH_WARP - 1) + conflict_width(s);
    out->registers = (uint32_t)(16 + 4 * s->unroll);
    if (out->registers > 255)
        out->registers = 255;
}

enum { X_LOOP, X_NEXT, X_END };

static void conflict_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const conflict_spec *s = spec;
    unsigned width = (unsigned)conflict_width(s);
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 S2R 0 0");
    synth_op(p, p->version >= 70 ? "1 R2 IMAD 2 R2 R255 0" : "1 R2 SHL 1 R2 0");
    synth_op(p, "1 R3 MOV 1 R255 0");
    p->mark[X_LOOP] = synth_here(p);
    for (unsigned i = 0; i < s->unroll; i++) {
        unsigned reg = 8 + 4 * (i % 32);
        if (s->access == 0)
            synth_op(p, "1 R%u LDS%s 1 R2 %u", reg, width_texts[s->width], width);
        else
            synth_op(p, "0 STS%s 2 R2 R%u %u", width_texts[s->width], reg, width);
    }
    p->mark[X_NEXT] = synth_here(p);
    synth_increment(p, 3, 1);
    synth_op(p, "0 ISETP.GE.AND 1 R3 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[X_END] = synth_here(p);
    synth_exit(p);
}

static void conflict_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const conflict_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t loops = conflict_loops(s);
    (void)launch;
    synth_run(w, 0, mark[X_LOOP]);
    for (uint64_t i = 0; i < loops; i++) {
        for (uint32_t row = mark[X_LOOP]; row < mark[X_NEXT]; row++)
            synth_lanes(w, row, 0, (int64_t)s->stride_bytes);
        synth_loop_end(w, mark[X_NEXT], mark[X_END], i + 1 < loops);
    }
    synth_run(w, mark[X_END], synth_here(w->program));
}

static void conflict_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const conflict_spec *s = spec;
    uint64_t warps = s->ctas * s->warps, loops = conflict_loops(s);
    uint64_t insts = p->mark[X_LOOP] + loops * (p->mark[X_END] - p->mark[X_LOOP]) + 1;
    (void)launch;
    f->warp_insts += warps * insts;
    f->thread_insts += warps * (insts - 1) * SYNTH_WARP;
    f->shared_accesses += warps * loops * s->unroll;
}

const synth_kind synth_shared_conflict = {
    .name = "shared-conflict",
    .help = "accesses to shared memory whose lanes meet in a bank",
    .spec_size = sizeof(conflict_spec),
    .params = conflict_params,
    .param_count = LS_COUNT_OF(conflict_params),
    .check = conflict_check,
    .launch = conflict_launch,
    .assemble = conflict_assemble,
    .warp = conflict_warp,
    .shape = synth_all_alike,
    .facts = conflict_facts,
};

/* ------------------------------------------------------------------------------------------------ atomics */

enum { TARGET_SAME, TARGET_WARP, TARGET_SPREAD };
static const char *const target_names[] = { "same", "warp", "spread", NULL };

typedef struct atomics_spec {
    synth_common common;
    uint64_t count, ctas, block;
    uint32_t target;
    bool returns;
} atomics_spec;

static const ls_param atomics_params[] = {
    LS_PARAM_CHOICE(atomics_spec, target, "target", "same", target_names,
                    "one address for all; one line for each warp; one address for each thread"),
    LS_PARAM_BOOL(atomics_spec, returns, false,
                  "wait for the old value (ATOMG) instead of not asking for it (RED)"),
    LS_PARAM_UINT(atomics_spec, count, "atomics", 8, 1, 4096, "atomics of each thread"),
    LS_PARAM_UINT(atomics_spec, ctas, "blocks", 16, 1, 65536, "thread blocks"),
    LS_PARAM_UINT(atomics_spec, block, "threads", 128, 32, 1024, "threads of a block"),
};

static ls_status atomics_check(const void *spec, ls_error *err)
{
    const atomics_spec *s = spec;
    return synth_check_block(s->block, err);
}

static void atomics_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const atomics_spec *s = spec;
    (void)launch;
    out->name = "_Z7atomicsPii";
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)s->block;
    out->registers = 12;
}

enum { A_LOOP, A_ATOMIC, A_END };

static void atomics_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const atomics_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 4);
    synth_constant(p, 7);
    synth_address(p, 2, 4, 7);
    synth_op(p, "1 R6 MOV 1 R255 0");
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    p->mark[A_LOOP] = synth_here(p);
    if (s->returns)
        p->mark[A_ATOMIC] = synth_op(p, p->version < 70 ? "1 R8 ATOM.E.ADD 2 R2 R7 4"
                                                        : "1 R8 ATOMG.E.ADD.STRONG.GPU 2 R2 R7 4");
    else
        p->mark[A_ATOMIC] = synth_op(p, p->version < 70   ? "0 RED.E.ADD 2 R2 R7 4"
                                        : p->version < 90 ? "0 RED.E.ADD.STRONG.GPU 2 R2 R7 4"
                                                          : "0 REDG.E.ADD.STRONG.GPU 2 R2 R7 4");
    if (s->returns) /* the old value is used, so that the next one waits */
        synth_op(p, p->version >= 70 ? "1 R7 IADD3 3 R7 R8 R255 0" : "1 R7 IADD 2 R7 R8 0");
    synth_increment(p, 6, 1);
    synth_op(p, "0 ISETP.GE.AND 1 R6 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[A_END] = synth_here(p);
    synth_exit(p);
}

static void atomics_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const atomics_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t at = s->target == TARGET_SAME   ? 0
                  : s->target == TARGET_WARP ? w->thread / SYNTH_WARP * SYNTH_LINE
                                             : w->thread * 4;
    (void)launch;
    synth_run(w, 0, mark[A_LOOP]);
    for (uint64_t i = 0; i < s->count; i++) {
        synth_lanes(w, mark[A_ATOMIC], synth_array(0) + at, s->target == TARGET_SPREAD ? 4 : 0);
        synth_loop_end(w, mark[A_ATOMIC] + 1, mark[A_END], i + 1 < s->count);
    }
    synth_run(w, mark[A_END], synth_here(w->program));
}

static void atomics_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const atomics_spec *s = spec;
    uint64_t warps = s->ctas * (s->block / SYNTH_WARP);
    uint64_t insts = p->mark[A_LOOP] + s->count * (p->mark[A_END] - p->mark[A_LOOP]) + 1;
    (void)launch;
    f->warp_insts += warps * insts;
    f->thread_insts += warps * (insts - 1) * SYNTH_WARP;
    f->global_atomics += warps * s->count;
    f->atomic_sectors += warps * s->count * (s->target == TARGET_SPREAD ? SYNTH_LINE / SYNTH_SECTOR : 1);
    f->global_bytes += 4 * (s->target == TARGET_SAME   ? 1
                            : s->target == TARGET_WARP ? warps
                                                       : warps * SYNTH_WARP);
}

const synth_kind synth_atomics = {
    .name = "atomics",
    .help = "atomic additions to one address, one for each warp, or one for each thread",
    .spec_size = sizeof(atomics_spec),
    .params = atomics_params,
    .param_count = LS_COUNT_OF(atomics_params),
    .check = atomics_check,
    .launch = atomics_launch,
    .assemble = atomics_assemble,
    .warp = atomics_warp,
    .shape = synth_all_alike,
    .facts = atomics_facts,
};
