/* cluster.c: generator cluster-chase: the blocks of one cluster meet at cluster barriers, then block 0 loads from the shared
 * memory of another block, each address from the value before it. Latencies of the network between SMs can be read off it. */
#include "workload/synth/async.h"

typedef struct cluster_spec {
    synth_common common;
    uint64_t blocks, rank, loads, barriers, warps;
} cluster_spec;

static const ls_param cluster_params[] = {
    LS_PARAM_UINT(cluster_spec, blocks, "", 2, 1, 16, "of the cluster"),
    LS_PARAM_UINT(cluster_spec, rank, "", 1, 0, 15, "of the block whose shared memory block 0 loads from"),
    LS_PARAM_UINT(cluster_spec, loads, "", 64, 0, 65536, "of block 0, one after the other"),
    LS_PARAM_UINT(cluster_spec, barriers, "", 1, 1, 65536,
                  "of the cluster, one after the other, before the loads"),
    LS_PARAM_UINT(cluster_spec, warps, "", 1, 1, 32, "of a block; the first one loads"),
};

static ls_status cluster_check(const void *spec, ls_error *err)
{
    const cluster_spec *s = spec;
    if (synth_versions[s->common.binary_version] != 90 || s->common.tracer_version != 6)
        return ls_fail(err, LS_ERR_USAGE, "cluster-chase needs binary_version 90 and tracer_version 6");
    return s->rank < s->blocks ? LS_OK
                               : ls_fail(err, LS_ERR_USAGE, "'rank' is %llu, and the cluster has %llu blocks",
                                         (unsigned long long)s->rank, (unsigned long long)s->blocks);
}

static void cluster_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const cluster_spec *s = spec;
    (void)launch;
    out->name = "_Z13cluster_chasePi";
    out->grid[0] = out->cluster[0] = (uint32_t)s->blocks;
    out->cluster[1] = out->cluster[2] = 1;
    out->block[0] = (uint32_t)s->warps * SYNTH_WARP;
    out->registers = 16;
    out->shared_bytes = 4096;
}

enum { C_MEET, C_LOADS, C_END };

static void cluster_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    synth_begin(p);
    synth_op(p, "1 R2 MOV 0 0");
    p->mark[C_MEET] = synth_rows_cluster_barrier(p, true);
    p->mark[C_LOADS] = synth_op(p, "1 R2 LDS 1 R2 4");
    p->mark[C_END] = synth_exit(p);
}

static void cluster_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const cluster_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    (void)launch;
    synth_run(w, 0, mark[C_MEET]);
    for (uint64_t i = 0; i < s->barriers; i++)
        synth_run(w, mark[C_MEET], mark[C_LOADS]);
    for (uint64_t i = 0; i < s->loads && w->id[0] == 0 && w->index == 0; i++)
        synth_lanes(w, mark[C_LOADS], s->rank << SYNTH_RANK_SHIFT | (i * 128 % 4096), 0);
    synth_run(w, mark[C_END], mark[C_END] + 1);
}

static void cluster_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const cluster_spec *s = spec;
    uint64_t warps = s->blocks * s->warps, meet = p->mark[C_LOADS] - p->mark[C_MEET];
    uint64_t insts = warps * (p->mark[C_MEET] + s->barriers * meet + 1) + s->loads;
    (void)launch;
    f->warp_insts += insts;
    f->thread_insts += insts * SYNTH_WARP;
    f->shared_accesses += s->loads;
}

const synth_kind synth_cluster_chase = {
    .name = "cluster-chase",
    .help = "barriers of a cluster, then loads from the shared memory of another of its blocks (sm_90)",
    .defaults = "binary_version=90,tracer_version=6",
    .spec_size = sizeof(cluster_spec),
    .params = cluster_params,
    .param_count = LS_COUNT_OF(cluster_params),
    .check = cluster_check,
    .launch = cluster_launch,
    .assemble = cluster_assemble,
    .warp = cluster_warp,
    .facts = cluster_facts,
};
