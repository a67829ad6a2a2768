/* peer.c: the kernels of collectives: all threads move an array, or the sum of two, 16 bytes at a time. Its addresses are
 * parameters, so that sources and destination may be memory of different GPUs. */
#include "workload/synth/kind.h"

#define ACCESS_BYTES 16u
#define WARP_BYTES (SYNTH_WARP * ACCESS_BYTES)

typedef struct peer_spec {
    synth_common common;
    uint64_t bytes, from, with, to, ctas, block, unroll;
} peer_spec;

static const ls_param params[] = {
    LS_PARAM_UINT(peer_spec, bytes, "bytes", 1048576, 512, 4294967296.0, "moved in all: a multiple of 512"),
    LS_PARAM_UINT(peer_spec, from, "address", 139637976727552, 0, 281474976710655, "of the source"),
    LS_PARAM_UINT(peer_spec, with, "address", 0, 0, 281474976710655,
                  "of a second source that is added to the first; 0: none"),
    LS_PARAM_UINT(peer_spec, to, "address", 139642271694848, 0, 281474976710655, "of the destination"),
    LS_PARAM_UINT(peer_spec, ctas, "blocks", 64, 1, 65536, "thread blocks, at most"),
    LS_PARAM_UINT(peer_spec, block, "threads", 512, 32, 1024, "threads of a block: a multiple of 32"),
    LS_PARAM_UINT(peer_spec, unroll, "accesses", 4, 1, 8, "loads of a thread before it waits for one"),
};

static ls_status check(const void *spec, ls_error *err)
{
    const peer_spec *s = spec;
    ls_status status = synth_check_multiples(&(synth_multiple){ "bytes", s->bytes, WARP_BYTES }, 1, err);
    return status == LS_OK ? synth_check_block(s->block, err) : status;
}

static uint64_t grid_of(const peer_spec *s)
{
    return synth_min(s->ctas, synth_ceil_div(s->bytes, s->block * ACCESS_BYTES));
}

/* Bytes that all threads move with one access each. */
static uint64_t row_bytes(const peer_spec *s)
{
    return grid_of(s) * s->block * ACCESS_BYTES;
}

static unsigned copies(const void *spec, synth_copy *out)
{
    const peer_spec *s = spec;
    out[0] = (synth_copy){ s->from, s->bytes };
    return 1;
}

static void launch(const void *spec, uint32_t number, synth_launch *out)
{
    const peer_spec *s = spec;
    (void)number;
    out->name = s->with != 0 ? "_Z10peerReducePK6float4S1_PS_m" : "_Z8peerCopyPK6float4PS_m";
    out->grid[0] = (uint32_t)grid_of(s);
    out->block[0] = (uint32_t)s->block;
    out->registers = (uint32_t)(24 + 8 * s->unroll);
}

/* Loads of both sources, sums and stores follow each other, `unroll` of each. */
enum { LOADS, OTHERS, SUMS, STORES, NEXT, END };

static void assemble(const void *spec, uint32_t number, synth_program *p)
{
    const peer_spec *s = spec;
    bool adds = s->with != 0;
    (void)number;
    synth_begin(p);
    synth_thread_id(p, 2);
    synth_constant(p, 5);
    synth_address(p, 6, 2, 5);
    synth_address(p, 8, 2, 5);
    if (adds)
        synth_address(p, 10, 2, 5);
    p->mark[LOADS] = synth_here(p);
    for (unsigned i = 0; i < s->unroll; i++)
        synth_op(p, "1 R%u LDG.E.128%s 1 R6 16", 16 + 8 * i, synth_ldg(p) + 5);
    p->mark[OTHERS] = synth_here(p);
    for (unsigned i = 0; i < s->unroll && adds; i++)
        synth_op(p, "1 R%u LDG.E.128%s 1 R10 16", 20 + 8 * i, synth_ldg(p) + 5);
    p->mark[SUMS] = synth_here(p);
    for (unsigned i = 0; i < s->unroll && adds; i++)
        synth_op(p, "1 R%u FADD 2 R%u R%u 0", 16 + 8 * i, 16 + 8 * i, 20 + 8 * i);
    p->mark[STORES] = synth_here(p);
    for (unsigned i = 0; i < s->unroll; i++)
        synth_op(p, "0 STG.E.128 2 R8 R%u 16", 16 + 8 * i);
    p->mark[NEXT] = synth_here(p);
    synth_increment(p, 6, ACCESS_BYTES);
    synth_increment(p, 8, ACCESS_BYTES);
    synth_op(p, "0 ISETP.GE.AND 1 R6 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[END] = synth_here(p);
    synth_exit(p);
}

/* Accesses of a thread in the turn that begins `at` bytes into the array: the last one may have fewer. */
static uint64_t accesses(const peer_spec *s, uint64_t at)
{
    return at < s->bytes ? synth_min(s->unroll, synth_ceil_div(s->bytes - at, row_bytes(s))) : 0;
}

static void warp(const void *spec, uint32_t number, synth_warp *w)
{
    const peer_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t row = row_bytes(s), at = w->thread * ACCESS_BYTES;
    (void)number;
    synth_run(w, 0, mark[LOADS]);
    for (uint64_t count = accesses(s, at); count > 0;) {
        for (uint32_t u = 0; u < count; u++)
            synth_lanes(w, mark[LOADS] + u, s->from + at + u * row, ACCESS_BYTES);
        for (uint32_t u = 0; u < count && s->with != 0; u++)
            synth_lanes(w, mark[OTHERS] + u, s->with + at + u * row, ACCESS_BYTES);
        if (s->with != 0)
            synth_run(w, mark[SUMS], mark[SUMS] + (uint32_t)count);
        for (uint32_t u = 0; u < count; u++)
            synth_lanes(w, mark[STORES] + u, s->to + at + u * row, ACCESS_BYTES);
        at += s->unroll * row;
        count = accesses(s, at);
        synth_loop_end(w, mark[NEXT], mark[END], count > 0);
    }
    synth_run(w, mark[END], synth_here(w->program));
}

/* Alike if no block ends earlier than another. */
static uint64_t shape(const void *spec, uint32_t number, const uint32_t id[3])
{
    const peer_spec *s = spec;
    (void)number;
    (void)id;
    return s->bytes % row_bytes(s) == 0 ? 0 : LS_SHAPE_ALONE;
}

static void facts(const void *spec, uint32_t number, const synth_program *p, synth_facts *f)
{
    const peer_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = grid_of(s) * s->block / SYNTH_WARP, moves = s->bytes / WARP_BYTES, insts = 0, ends = 0;
    uint64_t each = s->with != 0 ? 4 : 2, sources = s->with != 0 ? 2 : 1;
    (void)number;
    for (uint64_t i = 0; i < warps; i++) {
        insts += mark[LOADS] + synth_here(p) - mark[END];
        uint64_t at = i * WARP_BYTES;
        ends += at < s->bytes;
        for (; at < s->bytes; at += s->unroll * row_bytes(s))
            insts += accesses(s, at) * each + mark[END] - mark[NEXT];
    }
    f->warp_insts += insts;
    f->thread_insts += SYNTH_WARP * (insts - ends); /* no lane takes the branch that ends the loop */
    f->global_loads += moves * sources;
    f->global_stores += moves;
    f->load_sectors += s->bytes / SYNTH_SECTOR * sources;
    f->store_sectors += s->bytes / SYNTH_SECTOR;
    f->global_bytes += s->bytes * (sources + 1);
}

const synth_kind synth_peer_copy = {
    .name = "peer-copy",
    .help = "all threads copy an array, or the sum of two, between given addresses",
    .spec_size = sizeof(peer_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .check = check,
    .copies = copies,
    .launch = launch,
    .assemble = assemble,
    .warp = warp,
    .shape = shape,
    .facts = facts,
};
