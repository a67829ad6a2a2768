/* memory_exchange.c: instructions in memory formats that access no memory: exchange between lanes through the
 * LDS hardware, clocks, the wave's number. The results are left in the access. */
#include "isa/amd/exec/memory_impl.h"

/* A permutation of 32 lanes that ds_swizzle's "rotate" and "FFT" modes (gfx10) name. */
static unsigned exchange_bits_reversed(unsigned lane)
{
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; bit++)
        reversed |= (lane >> bit & 1) << (4 - bit);
    return reversed;
}

static unsigned exchange_swizzle(const amd_wave *wave, uint32_t mode, unsigned lane)
{
    unsigned half = lane & 32u, low = lane & 31u;
    /* FFT: the bits outside of a mask are reversed. */
    if (wave->target != AMD_GFX803 && mode >= 0xe000) {
        unsigned mask = mode & 0x1f;
        return half | exchange_bits_reversed(low) >> (unsigned)__builtin_popcount(mask) | (low & mask);
    }
    if (wave->target != AMD_GFX803 && mode >= 0xc000) { /* rotate */
        unsigned amount = mode >> 5 & 0x1f, mask = mode & 0x1f;
        unsigned other = mode & 0x400 ? low - amount : low + amount;
        return half | (low & mask) | (other & ~mask & 0x1f);
    }
    if (mode & 0x8000) /* any four within four */
        return (lane & ~3u) | (mode >> (lane & 3) * 2 & 3);
    return half | ((((low & (mode & 0x1f)) | (mode >> 5 & 0x1f)) ^ (mode >> 10 & 0x1f)) & 0x1f);
}

/* The lane that an address of ds_permute and ds_bpermute names. gfx10 has two halves of 32 lanes in
 * wave64. */
static unsigned exchange_lane(const amd_wave *wave, unsigned lane, uint32_t address)
{
    unsigned to = address >> 2;
    if (!amd_target_is_gfx10((amd_target)wave->target))
        return to & 63u;
    return (lane & 32u) | (to & 31u);
}

void mem_exchange(amd_wave *wave, const amd_inst *inst, amd_access *access)
{
    if (inst->format == AMD_SMEM) {
        access->data[0][0] = inst->op == AMD_S_GET_WAVEID_IN_WORKGROUP ? wave->index : (uint32_t)wave->time;
        access->data[0][1] = (uint32_t)(wave->time >> 32);
        return;
    }
    uint64_t active = access->lanes;
    if (inst->op == AMD_DS_SWIZZLE_B32) {
        const uint32_t *from = mem_vgpr(wave, inst->src[0].code);
        MEM_FOR_LANES(lane, active)
        {
            unsigned other = exchange_swizzle(wave, (uint32_t)inst->offset & 0xffff, lane);
            access->data[lane][0] = active >> other & 1 ? from[other] : 0;
        }
        return;
    }
    const uint32_t *address = mem_vgpr(wave, inst->src[0].code);
    const uint32_t *from = mem_vgpr(wave, inst->src[1].code);
    uint32_t offset = (uint32_t)inst->offset;
    if (inst->op == AMD_DS_BPERMUTE_B32) {
        MEM_FOR_LANES(lane, active)
        {
            unsigned other = exchange_lane(wave, lane, address[lane] + offset);
            access->data[lane][0] = active >> other & 1 ? from[other] : 0;
        }
        return;
    }
    MEM_FOR_LANES(lane, active)
    access->data[lane][0] = 0;
    MEM_FOR_LANES(lane, active)
    access->data[exchange_lane(wave, lane, address[lane] + offset)][0] = from[lane];
}
