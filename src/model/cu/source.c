/* source.c: where the next instruction, the addresses and the results of a wave come from: they are executed, through the
 * bodies of isa/amd/exec. The pipeline asks here and nowhere else, so that a recorded wave can take the place of an
 * executed one. */
#include "model/cu/cu.h"

void cu_source_step(cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    w->arch.pc = inst->next;
    if (inst->time)
        w->arch.time = now;
    inst->body(&w->arch, inst->inst);
}

bool cu_source_address(cu_wave *w, amd_access *access, ls_cycle now)
{
    const cu_inst *inst = w->head;
    w->arch.pc = inst->next;
    if (inst->time)
        w->arch.time = now;
    return amd_mem_address(&w->arch, inst->inst, access);
}

void cu_source_lds(cu_wave *w, const cu_inst *inst, amd_access *access)
{
    amd_mem_perform(&w->arch, inst->inst, access);
}

/* Whole dwords: the case that programs are made of. */
static void source_plain(cu_wave *w, const cu_access *a, uint64_t lanes, uint64_t zero)
{
    amd_wave *arch = &w->arch;
    unsigned dwords = a->inst->access_bytes / 4u, stride = a->stride;
    uint64_t all = arch->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    for (unsigned i = 0; i < dwords; i++) {
        uint32_t *to = arch->vgpr + (size_t)(a->inst->inst->vdst.code - AMD_VGPR + i) * arch->lanes;
        const uint32_t *from = a->data + i;
        if (lanes == all && stride == 1) {
            memcpy(to, from, arch->lanes * sizeof *to);
        } else if (lanes == all) {
            for (unsigned lane = 0; lane < arch->lanes; lane++)
                to[lane] = from[lane * stride];
        } else {
            for (uint64_t left = lanes; left != 0; left &= left - 1) {
                unsigned lane = (unsigned)__builtin_ctzll(left);
                to[lane] = from[lane * stride];
            }
        }
        for (uint64_t left = zero; left != 0; left &= left - 1)
            to[__builtin_ctzll(left)] = 0;
    }
}

void cu_source_result(cu *c, cu_wave *w, const cu_access *a)
{
    amd_access *scratch = &c->scratch;
    memcpy(scratch, a->head, CU_HEAD_BYTES);
    if (!scratch->returns)
        return;
    if (a->inst->plain) {
        source_plain(w, a, scratch->lanes, scratch->zero);
        return;
    }
    const amd_access *from = scratch;
    if (a->large) { /* the whole of it was kept, behind its addresses */
        from = (const amd_access *)(const void *)((const uint8_t *)a->address - offsetof(amd_access, address));
    } else {
        for (uint64_t left = scratch->lanes; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            memcpy(scratch->data[lane], a->data + lane * a->stride, a->stride * sizeof(uint32_t));
        }
    }
    /* Some look at exec and M0 here: those of the issue count. */
    uint32_t m0 = w->arch.sgpr[AMD_M0];
    uint64_t exec;
    memcpy(&exec, &w->arch.sgpr[AMD_EXEC_LO], sizeof exec);
    memcpy(&w->arch.sgpr[AMD_EXEC_LO], &a->exec, sizeof a->exec);
    w->arch.sgpr[AMD_M0] = a->m0;
    amd_mem_writeback(&w->arch, a->inst->inst, from);
    memcpy(&w->arch.sgpr[AMD_EXEC_LO], &exec, sizeof exec);
    w->arch.sgpr[AMD_M0] = m0;
}

void cu_source_scalar(cu *c, cu_wave *w, const cu_scalar *s)
{
    memcpy(&c->scratch, s->head, CU_HEAD_BYTES);
    memcpy(c->scratch.data[0], s->data, sizeof s->data);
    amd_mem_writeback(&w->arch, s->inst->inst, &c->scratch);
}
