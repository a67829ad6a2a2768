/* application.c: a whole application as a trace: thousands of launches of other generators, in a cycle as a training step
 * has it, with sizes that drift over the run. It is the input that sampled simulation is measured with. */
#include "workload/synth/kind.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct application_spec {
    synth_common common;
    uint64_t kernels, kinds, blocks;
} application_spec;

static const ls_param application_params[] = {
    LS_PARAM_UINT(application_spec, kernels, "", 1000, 1, 1000000, "launches"),
    LS_PARAM_UINT(application_spec, kinds, "", 8, 1, 12,
                  "different kernels, which follow each other in a cycle"),
    LS_PARAM_UINT(application_spec, blocks, "blocks", 16, 1, 4096, "thread blocks of a launch, about"),
};

/* A kernel of the application; its size is a number of thread blocks, or stands for one. */
typedef enum application_size {
    SIZE_THREADS, /* elements: 256 for each block */
    SIZE_BLOCKS,
    SIZE_TILES,  /* 64 columns for every fourth block */
    SIZE_SQUARE, /* side: 32 for the root of the blocks */
    SIZE_ROWS,   /* 8 for each block */
    SIZE_KIB,    /* 8 for each block */
} application_size;

typedef struct application_part {
    const synth_kind *kind;
    const char *format; /* with the size */
    application_size size;
} application_part;

static const application_part parts[] = {
    { &synth_vector_add, "n=%" PRIu64, SIZE_THREADS },
    { &synth_gemm, "m=64,k=16,n=%" PRIu64, SIZE_TILES },
    { &synth_stencil, "nx=64,ny=%" PRIu64, SIZE_ROWS },
    { &synth_reduction, "ctas=8,n=%" PRIu64, SIZE_THREADS },
    { &synth_transpose, "n=%" PRIu64, SIZE_SQUARE },
    { &synth_gather, "table_kib=2048,n=%" PRIu64, SIZE_THREADS },
    { &synth_saxpy, "n=%" PRIu64, SIZE_THREADS },
    { &synth_bandwidth, "ctas=32,mode=copy,footprint_kib=%" PRIu64, SIZE_KIB },
    { &synth_gemm, "m=64,k=64,n=%" PRIu64, SIZE_TILES },
    { &synth_barrier_storm, "barriers=8,ctas=%" PRIu64, SIZE_BLOCKS },
    { &synth_atomics, "count=2,target=warp,ctas=%" PRIu64, SIZE_BLOCKS },
    { &synth_transpose, "mode=naive,n=%" PRIu64, SIZE_SQUARE },
};
_Static_assert(LS_COUNT_OF(parts) == 12, "the limit of kinds");

/* How the size of a kernel drifts: by 256ths of its mean, at a place in the run (0 to 255). */
static uint64_t drift(uint64_t way, uint64_t at)
{
    switch (way % 6) {
    case 0:
        return 256;
    case 1:
        return 128 + at; /* grows to three times */
    case 2:
        return 384 - at;
    case 3:
        return 128 + (at % 64 < 32 ? at % 64 : 64 - at % 64) * 8; /* four waves */
    case 4:
        return at < 96 ? 192 : 384; /* two phases */
    default:
        return 128 + at / 32 * 40; /* steps */
    }
}

static uint64_t root(uint64_t n)
{
    uint64_t r = 1;
    while ((r + 1) * (r + 1) <= n)
        r++;
    return r;
}

static uint64_t size_of(application_size size, uint64_t blocks)
{
    switch (size) {
    case SIZE_THREADS:
        return 256 * blocks;
    case SIZE_TILES:
        return 64 * ((blocks + 3) / 4);
    case SIZE_SQUARE:
        return 32 * root(blocks);
    case SIZE_ROWS:
    case SIZE_KIB:
        return 8 * blocks;
    default:
        return blocks;
    }
}

static uint32_t application_launches(const void *spec)
{
    return (uint32_t)((const application_spec *)spec)->kernels;
}

static const synth_kind *application_part_at(const void *spec, uint32_t launch, char *text, size_t bytes)
{
    const application_spec *s = spec;
    uint64_t seed = s->common.seed, turn = launch % s->kinds;
    const application_part *part = &parts[(turn + seed) % LS_COUNT_OF(parts)];
    uint64_t mean = s->blocks / 2 + synth_hash(seed, turn, 1) % (s->blocks + 1);
    uint64_t way = synth_hash(seed, turn, 2), place = (uint64_t)launch * 256 / s->kernels;
    uint64_t blocks = (mean + 1) * drift(way, place) / 256 + synth_hash(seed, launch, 3) % 3;
    int written = snprintf(text, bytes, part->format, size_of(part->size, blocks + 1));
    snprintf(text + written, bytes - (size_t)written, ",seed=%" PRIu64 ",binary_version=%u", turn,
             synth_versions[s->common.binary_version]);
    return part->kind;
}

const synth_kind synth_application = {
    .name = "application",
    .help =
        "many launches of other generators in a cycle, with sizes that drift; --sample is measured with it",
    .spec_size = sizeof(application_spec),
    .params = application_params,
    .param_count = LS_COUNT_OF(application_params),
    .launches = application_launches,
    .part = application_part_at,
};
