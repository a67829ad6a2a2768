/* amd_memory.h: a wave, its work-group and a little simulated memory for tests of memory instructions. */
#ifndef TESTS_ISA_AMD_MEMORY_H
#define TESTS_ISA_AMD_MEMORY_H

#include "isa/amd/exec/memory.h"

#include <stdlib.h>

#define RIG_LDS 4096u
#define RIG_BYTES 16384u

typedef struct rig {
    memory_space *address_space;
    amd_memory memory;
    amd_group group;
    amd_wave wave;
    uint64_t buffer; /* simulated address of RIG_BYTES, readable and writable */
    uint64_t fixed;  /* the same, read-only */
    uint32_t *vgpr;
    uint8_t *lds;
} rig;

static inline void rig_init(rig *r, amd_target target, unsigned lanes)
{
    memset(r, 0, sizeof *r);
    assert_int_equal(address_space_create(1u << 24, &r->address_space, NULL), LS_OK);
    uint64_t scratch;
    uint32_t both = LS_PAGE_READ | LS_PAGE_WRITE;
    assert_int_equal(address_space_alloc(r->address_space, RIG_BYTES, 0, both, &r->buffer, NULL), LS_OK);
    assert_int_equal(address_space_alloc(r->address_space, RIG_BYTES, 0, LS_PAGE_READ, &r->fixed, NULL),
                     LS_OK);
    assert_int_equal(address_space_alloc(r->address_space, 64 * 2 * 256, 0, both, &scratch, NULL), LS_OK);
    amd_memory_init(&r->memory, r->address_space);
    r->vgpr = aligned_alloc(64, (256 + 32) * 64 * sizeof(uint32_t));
    r->lds = calloc(1, RIG_LDS + 64);
    assert_non_null(r->vgpr);
    assert_non_null(r->lds);
    memset(r->vgpr, 0, (256 + 32) * 64 * sizeof(uint32_t));
    r->group = (amd_group){ .lds = r->lds,
                            .lds_bytes = RIG_LDS,
                            .memory = &r->memory,
                            .shared_base = 1ull << 48,
                            .private_base = 2ull << 48,
                            .scratch = scratch,
                            .scratch_bytes = 256 };
    r->wave = (amd_wave){ .vgpr = r->vgpr,
                          .vgpr_count = 256,
                          .lanes = (uint8_t)lanes,
                          .target = (uint8_t)target,
                          .index = 1,
                          .group = &r->group };
    memset(&r->wave.sgpr[AMD_EXEC_LO], 0xff, lanes / 8);
    r->wave.sgpr[AMD_M0] = UINT32_MAX;
}

static inline void rig_fini(rig *r)
{
    free(r->vgpr);
    free(r->lds);
    address_space_destroy(r->address_space);
}

static inline uint32_t *rig_v(rig *r, unsigned reg)
{
    return r->vgpr + (size_t)reg * r->wave.lanes;
}

static inline void *rig_at(rig *r, uint64_t address)
{
    return address_space_host(r->address_space, address, 1);
}

static inline void rig_exec(rig *r, uint64_t exec)
{
    memcpy(&r->wave.sgpr[AMD_EXEC_LO], &exec, sizeof exec);
}

/* v[reg], v[reg + 1] of a lane become an address. */
static inline void rig_address(rig *r, unsigned reg, unsigned lane, uint64_t address)
{
    rig_v(r, reg)[lane] = (uint32_t)address;
    rig_v(r, reg + 1)[lane] = (uint32_t)(address >> 32);
}

/* An instruction whose registers are v0 (address), v4 (data), v8 (second data), v16 (result), s[4:7]
 * (base). */
static inline amd_inst rig_inst(amd_op op, amd_format format)
{
    amd_inst inst = { .op = (uint16_t)op, .format = (uint8_t)format, .bytes = 8, .dmask = 15 };
    inst.vdst = (amd_operand){ .code = AMD_VGPR + 16, .dwords = 1 };
    inst.sdst = (amd_operand){ .code = 20, .dwords = 1 };
    inst.src[0] = (amd_operand){ .code = AMD_VGPR, .dwords = 1 };
    inst.src[1] = (amd_operand){ .code = AMD_VGPR + 4, .dwords = 1 };
    inst.src[2] = (amd_operand){ .code = AMD_VGPR + 8, .dwords = 1 };
    inst.src[3] = (amd_operand){ .code = AMD_INT_0 };
    if (format == AMD_MUBUF || format == AMD_MTBUF || format == AMD_GLOBAL || format == AMD_SCRATCH)
        inst.src[2].code = 4;
    if (format == AMD_MIMG) {
        inst.src[2].code = 8;
        inst.src[3].code = 4;
    }
    if (format == AMD_SMEM) {
        inst.src[0].code = 4;
        inst.vdst.code = AMD_NO_OPERAND;
    }
    return inst;
}

static inline void rig_run(rig *r, const amd_inst *inst)
{
    amd_body body = amd_exec_find_memory((amd_target)r->wave.target, r->wave.lanes, inst);
    assert_non_null(body);
    r->wave.stop = AMD_RUNNING;
    r->wave.fault = (ls_fault){ .kind = LS_FAULT_NONE };
    body(&r->wave, inst);
    amd_wave_rest(&r->wave);
}

#endif
