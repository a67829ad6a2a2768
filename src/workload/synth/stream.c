/* stream.c: generators that stream through memory: vector-add, saxpy and bandwidth. */
#include "workload/synth/kind.h"

#include <stdio.h>

/* ---------------------------------------------------------------------------------- vector-add and saxpy */

typedef struct elements_spec {
    synth_common common;
    uint64_t n, block;
} elements_spec;

static const ls_param elements_params[] = {
    LS_PARAM_UINT(elements_spec, n, "elements", 65536, 1, 4294967296, "elements of each vector, 4 bytes each"),
    LS_PARAM_UINT(elements_spec, block, "threads", 256, 32, 1024, "threads of a block"),
};

static ls_status elements_check(const void *spec, ls_error *err)
{
    return synth_check_block(((const elements_spec *)spec)->block, err);
}

static unsigned elements_copies(const void *spec, synth_copy *copies)
{
    const elements_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), 4 * s->n };
    copies[1] = (synth_copy){ synth_array(1), 4 * s->n };
    return 2;
}

static void elements_shape(const elements_spec *s, synth_launch *out)
{
    out->grid[0] = (uint32_t)synth_ceil_div(s->n, s->block);
    out->block[0] = (uint32_t)s->block;
    out->registers = 12;
}

/* Marks of both programs. */
enum { ELEMENTS_EXIT, ELEMENTS_LOAD_A, ELEMENTS_LOAD_B, ELEMENTS_STORE };

static void elements_prologue(synth_program *p)
{
    synth_begin(p);
    synth_thread_id(p, 6);
    p->mark[ELEMENTS_EXIT] = synth_bounds(p, 6);
    synth_constant(p, 7);
    synth_address(p, 4, 6, 7);
    synth_address(p, 2, 6, 7);
}

static void elements_run(const elements_spec *s, synth_warp *w, uint64_t result)
{
    const uint32_t *mark = w->program->mark;
    uint64_t at = 4 * w->thread;
    if (!synth_within(w, 0, mark[ELEMENTS_EXIT], s->n))
        return;
    synth_run(w, mark[ELEMENTS_EXIT] + 1, mark[ELEMENTS_LOAD_A]);
    synth_lanes(w, mark[ELEMENTS_LOAD_A], synth_array(0) + at, 4);
    synth_lanes(w, mark[ELEMENTS_LOAD_B], synth_array(1) + at, 4);
    synth_run(w, mark[ELEMENTS_LOAD_B] + 1, mark[ELEMENTS_STORE]);
    synth_lanes(w, mark[ELEMENTS_STORE], result + at, 4);
    synth_run(w, mark[ELEMENTS_STORE] + 1, synth_here(w->program));
}

static void elements_facts(const elements_spec *s, const synth_program *p, uint64_t arrays, synth_facts *f)
{
    uint64_t warps = synth_ceil_div(s->n, s->block) * (s->block / SYNTH_WARP);
    synth_facts_each(f, p, p->mark[ELEMENTS_EXIT], warps, s->n);
    f->global_loads += 2 * synth_ceil_div(s->n, SYNTH_WARP);
    f->global_stores += synth_ceil_div(s->n, SYNTH_WARP);
    f->load_sectors += 2 * synth_ceil_div(4 * s->n, SYNTH_SECTOR);
    f->store_sectors += synth_ceil_div(4 * s->n, SYNTH_SECTOR);
    f->global_bytes += arrays * 4 * s->n;
}

/* All blocks except a last one that is not full. */
static uint64_t elements_alike(const void *spec, uint32_t launch, const uint32_t id[3])
{
    const elements_spec *s = spec;
    (void)launch;
    return (id[0] + UINT64_C(1)) * s->block <= s->n ? 0 : LS_SHAPE_ALONE;
}

static void vector_add_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    (void)launch;
    elements_shape(spec, out);
    out->name = "_Z9vectorAddPKfS0_Pfi";
}

static void vector_add_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    elements_prologue(p);
    p->mark[ELEMENTS_LOAD_A] = synth_op(p, "1 R4 %s 1 R4 4", synth_ldg(p));
    p->mark[ELEMENTS_LOAD_B] = synth_op(p, "1 R3 %s 1 R2 4", synth_ldg(p));
    synth_address(p, 8, 6, 7);
    synth_op(p, "1 R0 FADD 2 R4 R3 0");
    p->mark[ELEMENTS_STORE] = synth_op(p, "0 STG.E 2 R8 R0 4");
    synth_exit(p);
}

static void vector_add_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    (void)launch;
    elements_run(spec, w, synth_array(2));
}

static void vector_add_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    (void)launch;
    elements_facts(spec, p, 3, f);
}

const synth_kind synth_vector_add = {
    .name = "vector-add",
    .help = "c[i] = a[i] + b[i], one element per thread",
    .spec_size = sizeof(elements_spec),
    .params = elements_params,
    .param_count = LS_COUNT_OF(elements_params),
    .check = elements_check,
    .copies = elements_copies,
    .launch = vector_add_launch,
    .assemble = vector_add_assemble,
    .warp = vector_add_warp,
    .shape = elements_alike,
    .facts = vector_add_facts,
};

static void saxpy_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    (void)launch;
    elements_shape(spec, out);
    out->name = "_Z5saxpyifPKfPf";
}

static void saxpy_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    elements_prologue(p);
    p->mark[ELEMENTS_LOAD_A] = synth_op(p, "1 R4 %s 1 R4 4", synth_ldg(p));
    p->mark[ELEMENTS_LOAD_B] = synth_op(p, "1 R5 %s 1 R2 4", synth_ldg(p));
    synth_op(p, "1 R5 FFMA 2 R4 R5 0"); /* the factor is a constant operand, which traces do not list */
    p->mark[ELEMENTS_STORE] = synth_op(p, "0 STG.E 2 R2 R5 4");
    synth_exit(p);
}

static void saxpy_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    (void)launch;
    elements_run(spec, w, synth_array(1));
}

static void saxpy_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    (void)launch;
    elements_facts(spec, p, 2, f);
}

const synth_kind synth_saxpy = {
    .name = "saxpy",
    .help = "y[i] = a * x[i] + y[i], one element per thread",
    .spec_size = sizeof(elements_spec),
    .params = elements_params,
    .param_count = LS_COUNT_OF(elements_params),
    .check = elements_check,
    .copies = elements_copies,
    .launch = saxpy_launch,
    .assemble = saxpy_assemble,
    .warp = saxpy_warp,
    .shape = elements_alike,
    .facts = saxpy_facts,
};

/* ---------------------------------------------------------------------------------------------- bandwidth */

enum { READ, WRITE, COPY };
static const char *const mode_names[] = { "read", "write", "copy", NULL };
static const char *const width_names[] = { "4", "8", "16", NULL };
static const char *const width_texts[] = { "", ".64", ".128" };

typedef struct bandwidth_spec {
    synth_common common;
    uint32_t mode, width;
    uint64_t footprint_kib, ctas, block, unroll, passes, shift;
} bandwidth_spec;

static const ls_param bandwidth_params[] = {
    LS_PARAM_CHOICE(bandwidth_spec, mode, "mode", "read", mode_names, "the kind of access"),
    LS_PARAM_UINT(bandwidth_spec, footprint_kib, "KiB", 4096, 1, 4194304,
                  "size of each array, rounded up to a whole number of loops"),
    LS_PARAM_CHOICE(bandwidth_spec, width, "width_bytes", "16", width_names, "bytes per thread and access"),
    LS_PARAM_UINT(bandwidth_spec, ctas, "blocks", 128, 1, 1048576, "thread blocks"),
    LS_PARAM_UINT(bandwidth_spec, block, "threads", 256, 32, 1024, "threads of a block"),
    LS_PARAM_UINT(bandwidth_spec, unroll, "accesses", 4, 1, 16,
                  "accesses of a thread before it waits for one"),
    LS_PARAM_UINT(bandwidth_spec, passes, "", 1, 1, 1024, "times that all of the memory is gone through"),
    LS_PARAM_UINT(bandwidth_spec, shift, "blocks", 0, 0, 1048576,
                  "each pass begins so many blocks further on: no core reads again what it has just read"),
};

static uint64_t width_bytes(const bandwidth_spec *s)
{
    return UINT64_C(4) << s->width;
}

/* Times that each thread goes round the loop in one pass, and the bytes that all threads together then
 * cover. */
static uint64_t bandwidth_loops(const bandwidth_spec *s)
{
    return synth_ceil_div(s->footprint_kib * 1024, s->ctas * s->block * s->unroll * width_bytes(s));
}
static uint64_t bandwidth_bytes(const bandwidth_spec *s)
{
    return bandwidth_loops(s) * s->ctas * s->block * s->unroll * width_bytes(s);
}

static ls_status bandwidth_check(const void *spec, ls_error *err)
{
    const bandwidth_spec *s = spec;
    if (bandwidth_bytes(s) > UINT64_C(1) << 32)
        return ls_fail(err, LS_ERR_USAGE, "one loop of all threads covers more than 4 GiB");
    return synth_check_block(s->block, err);
}

static unsigned bandwidth_copies(const void *spec, synth_copy *copies)
{
    const bandwidth_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), bandwidth_bytes(s) };
    return s->mode == WRITE ? 0 : 1;
}

static void bandwidth_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    static const char *const names[] = { "_Z4readPKfPfm", "_Z5writePffm", "_Z4copyPKfPfm" };
    const bandwidth_spec *s = spec;
    (void)launch;
    out->name = names[s->mode];
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)s->block;
    out->registers = (uint32_t)(24 + 4 * s->unroll);
}

/* Loads and stores follow each other from these marks on, `unroll` of each; [PASS, LOADS) resets the
 * pointers. */
enum {
    BANDWIDTH_PASS,
    BANDWIDTH_LOOP,
    BANDWIDTH_LOADS,
    BANDWIDTH_STORES,
    BANDWIDTH_NEXT,
    BANDWIDTH_PASSES,
    BANDWIDTH_END
};

static void bandwidth_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const bandwidth_spec *s = spec;
    const char *width = width_texts[s->width], *load = synth_ldg(p);
    unsigned bytes = (unsigned)width_bytes(s);
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 2);
    synth_constant(p, 5);
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    p->mark[BANDWIDTH_PASS] = synth_here(p);
    synth_address(p, 6, 2, 5);
    if (s->mode == COPY)
        synth_address(p, 8, 2, 5);
    synth_op(p, "1 R10 MOV 0 0");
    p->mark[BANDWIDTH_LOOP] = p->mark[BANDWIDTH_LOADS] = synth_here(p);
    for (unsigned i = 0; i < s->unroll && s->mode != WRITE; i++)
        synth_op(p, "1 R%u LDG.E%s%s 1 R6 %u", 12 + 4 * i, width, load + 5, bytes);
    p->mark[BANDWIDTH_STORES] = synth_here(p);
    for (unsigned i = 0; i < s->unroll; i++) {
        if (s->mode == READ)
            synth_op(p, "1 R11 FADD 2 R11 R%u 0", 12 + 4 * i);
        else
            synth_op(p, "0 STG.E%s 2 R%u R%u %u", width, s->mode == COPY ? 8 : 6,
                     s->mode == COPY ? 12 + 4 * i : 12, bytes);
    }
    p->mark[BANDWIDTH_NEXT] = synth_here(p);
    synth_increment(p, 10, 1);
    synth_increment(p, 6, bytes);
    synth_op(p, "0 ISETP.GE.AND 1 R10 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[BANDWIDTH_PASSES] = synth_here(p);
    synth_increment(p, 4, 1);
    synth_op(p, "0 ISETP.GE.AND 1 R4 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[BANDWIDTH_END] = synth_here(p);
    if (s->mode == READ) /* keeps the compiler from dropping the sum; never true */
        synth_op(p, "0 STG.E 2 R8 R11 4");
    synth_exit(p);
}

static void bandwidth_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const bandwidth_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t loops = bandwidth_loops(s), bytes = width_bytes(s), row = s->ctas * s->block * bytes;
    (void)launch;
    synth_run(w, 0, mark[BANDWIDTH_PASS]);
    for (uint64_t pass = 0; pass < s->passes; pass++) {
        uint64_t at = (w->thread + pass * s->shift * s->block) % (s->ctas * s->block) * bytes;
        synth_run(w, mark[BANDWIDTH_PASS], mark[BANDWIDTH_LOOP]);
        for (uint64_t i = 0; i < loops; i++, at += s->unroll * row) {
            for (uint32_t u = 0; u < s->unroll && s->mode != WRITE; u++)
                synth_lanes(w, mark[BANDWIDTH_LOADS] + u, synth_array(0) + at + u * row, (int64_t)bytes);
            for (uint32_t u = 0; u < s->unroll && s->mode != READ; u++)
                synth_lanes(w, mark[BANDWIDTH_STORES] + u, synth_array(s->mode == COPY) + at + u * row,
                            (int64_t)bytes);
            if (s->mode == READ)
                synth_run(w, mark[BANDWIDTH_STORES], mark[BANDWIDTH_NEXT]);
            synth_loop_end(w, mark[BANDWIDTH_NEXT], mark[BANDWIDTH_PASSES], i + 1 < loops);
        }
        synth_loop_end(w, mark[BANDWIDTH_PASSES], mark[BANDWIDTH_END], pass + 1 < s->passes);
    }
    if (s->mode == READ) {
        w->mask = 0;
        synth_lanes(w, mark[BANDWIDTH_END], 0, 0);
        w->mask = SYNTH_FULL;
    }
    synth_run(w, synth_here(w->program) - 1, synth_here(w->program));
}

/* With a shift, blocks come to the end of the arrays in different passes. */
static uint64_t bandwidth_shape(const void *spec, uint32_t launch, const uint32_t id[3])
{
    const bandwidth_spec *s = spec;
    (void)launch;
    (void)id;
    return s->shift == 0 || s->passes == 1 ? 0 : LS_SHAPE_ALONE;
}

static void bandwidth_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const bandwidth_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = s->ctas * (s->block / SYNTH_WARP), loops = s->passes * bandwidth_loops(s);
    uint64_t accesses = warps * loops * s->unroll, sectors = SYNTH_WARP * width_bytes(s) / SYNTH_SECTOR;
    uint64_t insts = mark[BANDWIDTH_PASS] + loops * (mark[BANDWIDTH_PASSES] - mark[BANDWIDTH_LOOP]) +
                     s->passes * (mark[BANDWIDTH_LOOP] - mark[BANDWIDTH_PASS]) +
                     s->passes * (mark[BANDWIDTH_END] - mark[BANDWIDTH_PASSES]) + synth_here(p) -
                     mark[BANDWIDTH_END];
    (void)launch;
    f->warp_insts += warps * insts;
    /* Not active: the branches that end loops (one each pass, and one at the end), and the store that never
     * is. */
    f->thread_insts += warps * SYNTH_WARP * (insts - s->passes - 1 - (s->mode == READ));
    f->global_loads += s->mode == WRITE ? 0 : accesses;
    f->global_stores += s->mode == READ ? 0 : accesses;
    f->load_sectors += s->mode == WRITE ? 0 : accesses * sectors;
    f->store_sectors += s->mode == READ ? 0 : accesses * sectors;
    f->global_bytes += bandwidth_bytes(s) * (s->mode == COPY ? 2 : 1);
}

const synth_kind synth_bandwidth = {
    .name = "bandwidth",
    .help = "all threads go through an array: read, write or copy",
    .spec_size = sizeof(bandwidth_spec),
    .params = bandwidth_params,
    .param_count = LS_COUNT_OF(bandwidth_params),
    .check = bandwidth_check,
    .copies = bandwidth_copies,
    .launch = bandwidth_launch,
    .assemble = bandwidth_assemble,
    .warp = bandwidth_warp,
    .shape = bandwidth_shape,
    .facts = bandwidth_facts,
};
