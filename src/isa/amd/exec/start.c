/* start.c: initial registers of waves, by the kernel's descriptor. */
#include "isa/amd/exec/start.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The resource through which MUBUF instructions reach private memory: interleaved by dwords over the
 * lanes. */
static void start_scratch_resource(const amd_program *program, const amd_group *group, uint32_t word[4])
{
    uint32_t index_stride = program->lanes == 64 ? 3 : 2;
    word[0] = (uint32_t)group->scratch;
    word[1] = ((uint32_t)(group->scratch >> 32) & 0xffff) | 1u << 31;
    word[2] = UINT32_MAX;
    word[3] = 0xfacu | index_stride << 21 | 1u << 23; /* x, y, z, w as they are; lanes are the index */
    if (program->kernel.target == AMD_GFX803)
        word[3] |= 1u << 19; /* elements of 4 bytes */
    else if (amd_target_is_gfx10(program->kernel.target))
        word[3] |= 22u << 12 | 1u << 24 | 3u << 28; /* 32_FLOAT; raw bounds */
}

static void start_scalars(const amd_start *start, const amd_group *group, uint32_t wave_count, amd_wave *wave)
{
    const amd_kernel *kernel = &start->program->kernel;
    uint32_t *sgpr = wave->sgpr;
    unsigned at = 0, properties = kernel->properties;
    if (properties & 1u << 0) {
        start_scratch_resource(start->program, group, sgpr);
        at += 4;
    }
    uint64_t pairs[5] = { start->packet, start->queue, start->kernarg, start->dispatch_id, group->scratch };
    if (kernel->target == AMD_GFX803) /* offset from where the resource begins, and bytes per lane */
        pairs[4] = (uint64_t)group->scratch_bytes << 32;
    for (unsigned i = 0; i < 5; i++)
        if (properties & 2u << i) {
            memcpy(sgpr + at, &pairs[i], 8);
            at += 2;
        }
    if (properties & 1u << 6)
        sgpr[at] = group->scratch_bytes;
    at = kernel->rsrc2 >> 1 & 0x1f; /* the system SGPRs follow all requested user SGPRs */
    for (unsigned i = 0; i < 3; i++)
        if (kernel->rsrc2 & 0x80u << i)
            sgpr[at++] = group->id[i];
    if (kernel->rsrc2 & 1u << 10)
        sgpr[at++] = (wave->index == 0 ? 1u << 31 : 0) | wave_count;
    if (kernel->target == AMD_GFX942) { /* architected flat scratch: the hardware fills it */
        uint64_t own = group->scratch + (uint64_t)wave->index * wave->lanes * group->scratch_bytes;
        memcpy(sgpr + AMD_FLAT_SCRATCH_LO, &own, sizeof own);
        return;
    }
    if (kernel->rsrc2 & 1)
        sgpr[at] = (uint32_t)wave->index * wave->lanes * group->scratch_bytes;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void start_clear_avx2(uint32_t *registers, size_t count)
{
    __m256i *at = (__m256i *)(void *)registers, *end = at + count / 8; /* whole rows: a multiple of 16 words */
    for (; at < end; at += 2) {
        _mm256_store_si256(at, _mm256_setzero_si256());
        _mm256_store_si256(at + 1, _mm256_setzero_si256());
    }
}
#endif

void amd_start_clear(uint32_t *registers, size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        start_clear_avx2(registers, count);
        return;
    }
#endif
    memset(registers, 0, count * sizeof *registers);
}

static void start_lanes(const amd_program *program, amd_wave *wave, const uint32_t size[3])
{
    unsigned lanes = program->lanes, ids = program->kernel.rsrc2 >> 11 & 3;
    uint32_t total = size[0] * size[1] * size[2], first = (uint32_t)wave->index * lanes;
    uint32_t count = total - first < lanes ? total - first : lanes;
    bool packed = amd_target_is_gfx9(program->kernel.target);
    amd_start_clear(wave->vgpr, (size_t)(program->vgprs - program->accumulation) * lanes);
    if (program->accumulation)
        amd_start_clear(wave->vgpr + (size_t)(AMD_AGPR - AMD_VGPR) * lanes,
                        (size_t)program->accumulation * lanes);
    uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
    bool one_row = count <= size[0] - x && !packed; /* the usual case: y and z are the same in all lanes */
    for (uint32_t lane = 0; one_row && lane < count; lane++)
        wave->vgpr[lane] = x + lane;
    for (uint32_t lane = 0; one_row && y != 0 && ids >= 1 && lane < count; lane++)
        wave->vgpr[lanes + lane] = y;
    for (uint32_t lane = 0; one_row && z != 0 && ids >= 2 && lane < count; lane++)
        wave->vgpr[2 * lanes + lane] = z;
    for (uint32_t lane = 0; !one_row && lane < count; lane++) {
        wave->vgpr[lane] = packed ? x | (ids >= 1 ? y << 10 : 0) | (ids >= 2 ? z << 20 : 0) : x;
        if (ids >= 1 && !packed)
            wave->vgpr[lanes + lane] = y;
        if (ids >= 2 && !packed)
            wave->vgpr[2 * lanes + lane] = z;
        if (++x == size[0]) {
            x = 0;
            if (++y == size[1]) {
                y = 0;
                z++;
            }
        }
    }
    uint64_t exec = count == 64 ? UINT64_MAX : (1ull << count) - 1;
    memcpy(&wave->sgpr[AMD_EXEC_LO], &exec, sizeof exec);
}

uint32_t amd_start_size(const amd_start *start, const uint32_t id[3], uint32_t size[3])
{
    uint32_t total = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t left = start->grid[i] - id[i] * start->group[i];
        size[i] = left < start->group[i] ? left : start->group[i];
        total *= size[i];
    }
    return (total + start->program->lanes - 1) / start->program->lanes;
}

void amd_wave_start(const amd_start *start, amd_group *group, const uint32_t size[3], uint32_t wave_count,
                    /* The wave writes through it: NOLINTNEXTLINE(readability-non-const-parameter) */
                    uint32_t index, uint32_t *vgpr, amd_wave *wave)
{
    const amd_program *program = start->program;
    uint32_t rsrc1 = program->kernel.rsrc1;
    *wave = (amd_wave){ .vgpr = vgpr,
                        .pc = program->kernel.entry,
                        .mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 |
                                (rsrc1 >> 26 & 1) << 23,
                        .vgpr_count = (uint16_t)(program->vgprs - program->accumulation),
                        .lanes = (uint8_t)program->lanes,
                        .target = (uint8_t)program->kernel.target,
                        .index = (uint8_t)index,
                        .group = group };
    start_scalars(start, group, wave_count, wave);
    start_lanes(program, wave, size);
}
