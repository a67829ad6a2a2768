/* source.c: the source of a wave's next instruction, addresses and results: execution through the bodies of
 * isa/amd/exec, or a tape. The pipeline uses only these functions, so that a recorded wave can replace an
 * executed one. They also feed recorders. */
#include "model/cu/cu.h"

#include <stdlib.h>

bool cu_source_begin(cu_group *g)
{
    const ls_cu_kernel *k = g->kernel;
    if (k->tapes) {
        g->tapes = k->tapes->open(k->tapes->self, g->arch.id, g->wave_count);
        if (!g->tapes)
            return false;
    }
    if (k->recorder) {
        g->records = calloc(g->wave_count, sizeof *g->records);
        if (!g->records)
            return false;
        for (uint32_t i = 0; i < g->wave_count; i++)
            amd_tape_begin(&g->records[i], k->recorder->code);
    }
    return true;
}

void cu_source_end(cu_group *g)
{
    const ls_cu_kernel *k = g->kernel;
    if (g->tapes)
        k->tapes->close(k->tapes->self, g->tapes);
    if (g->records && !g->dead)
        k->recorder->done(k->recorder->self, g->arch.id, g->records, g->wave_count);
    for (uint32_t i = 0; g->records && i < g->wave_count; i++)
        amd_tape_writer_fini(&g->records[i]);
    free(g->records);
    g->tapes = NULL;
    g->records = NULL;
}

void cu_source_issue(cu_wave *w, const amd_access *access)
{
    static const amd_access none;
    const cu_inst *inst = w->head;
    if (w->record) {
        bool asked = inst->what == CU_MEMORY;
        amd_tape_put(w->record, inst->next - inst->bytes, amd_wave_exec(&w->arch), asked ? access : &none,
                     &w->group->arch);
    }
    if (w->tape)
        amd_tape_step(w->tape);
}

void cu_source_again(cu_wave *w)
{
    if (w->tape)
        amd_tape_again(w->tape);
}

/* A tape that has nothing more to say, though its wave has not ended. */
static bool source_fault(cu_wave *w)
{
    w->arch.fault = (ls_fault){ .kind = LS_FAULT_UNSUPPORTED, .address = w->head->next - w->head->bytes };
    w->arch.stop = AMD_FAULTED;
    return false;
}

void cu_source_step(cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    w->arch.pc = inst->next;
    if (w->ahead != 0) {
        w->ahead--;
        return;
    }
    if (w->tape) {
        if (w->tape->left == 0)
            source_fault(w);
        else
            amd_tape_start(w->tape, &w->arch);
        return;
    }
    if (inst->time)
        w->arch.time = now;
    inst->body(&w->arch, inst->inst);
    amd_wave_rest(&w->arch);
}

bool cu_source_address(cu_wave *w, amd_access *access, ls_cycle now)
{
    const cu_inst *inst = w->head;
    w->arch.pc = inst->next;
    if (w->tape)
        return amd_tape_access(w->tape, w->group->arch.scratch, access) || source_fault(w);
    if (inst->time)
        w->arch.time = now;
    return amd_mem_address(&w->arch, inst->inst, access);
}

void cu_source_lds_part(cu *c, cu_wave *w, uint64_t lanes)
{
    amd_access *s = &c->scratch;
    uint64_t all = s->lanes;
    s->lanes = lanes;
    if (!w->tape)
        amd_mem_perform(&w->arch, w->head->inst, s);
    s->lanes = all;
}

/* One lane's dwords into their columns. Inlined for each number of them. */
static inline __attribute__((always_inline)) void source_lds_lane(const uint8_t *from, uint32_t *to,
                                                                  unsigned dwords)
{
    for (unsigned i = 0; i < dwords; i++)
        memcpy(to + i * 64, from + i * 4, 4);
}

static inline __attribute__((always_inline)) void source_lds_gather(const uint8_t *lds,
                                                                    const uint64_t *address, uint64_t lanes,
                                                                    uint32_t *to, unsigned dwords)
{
    if (lanes == UINT64_MAX) {
        for (unsigned lane = 0; lane < 64; lane += 4) {
            source_lds_lane(lds + address[lane], to + lane, dwords);
            source_lds_lane(lds + address[lane + 1], to + lane + 1, dwords);
            source_lds_lane(lds + address[lane + 2], to + lane + 2, dwords);
            source_lds_lane(lds + address[lane + 3], to + lane + 3, dwords);
        }
        return;
    }
    for (uint64_t left = lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        source_lds_lane(lds + address[lane], to + lane, dwords);
    }
}

/* From LDS to where registers are filled from, without a stop in between. */
static void source_lds_load(cu *c, cu_wave *w, cu_access *a)
{
    const amd_access *s = &c->scratch;
    unsigned dwords = s->piece_bytes / 4u;
    const uint8_t *lds = w->group->arch.lds;
    cu_access_keep_head(c, w, a);
    a->columns = true;
    for (unsigned piece = 0; piece < s->pieces; piece++) {
        const uint64_t *address = s->address[piece];
        uint32_t *to = a->data + piece * dwords * 64;
        if (dwords == 1)
            source_lds_gather(lds, address, s->lanes, to, 1);
        else if (dwords == 2)
            source_lds_gather(lds, address, s->lanes, to, 2);
        else if (dwords == 4)
            source_lds_gather(lds, address, s->lanes, to, 4);
        else
            source_lds_gather(lds, address, s->lanes, to, dwords);
    }
}

static void source_lds_store(const cu *c, const cu_wave *w)
{
    const amd_access *s = &c->scratch;
    unsigned bytes = s->piece_bytes;
    uint8_t *lds = w->group->arch.lds;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = s->lanes; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            uint8_t *to = lds + s->address[piece][lane];
            const uint32_t *from = s->data[lane] + piece * (bytes / 4u);
            for (unsigned i = 0; i < bytes; i += 4)
                memcpy(to + i, from + i / 4, 4);
        }
}

void cu_source_lds(cu *c, cu_wave *w, cu_access *a)
{
    amd_access *s = &c->scratch;
    bool whole = (s->absent[0] | s->absent[1]) == 0 && (s->piece_bytes & 3) == 0 && !w->tape;
    if (s->kind == AMD_ACCESS_LOAD && a->inst->plain && whole) {
        source_lds_load(c, w, a);
        return;
    }
    if (s->kind == AMD_ACCESS_STORE && whole) {
        source_lds_store(c, w);
        cu_access_keep_head(c, w, a);
        return;
    }
    if (s->kind == AMD_ACCESS_EXCHANGE) {
        s->pieces = 1;
        s->piece_bytes = 4;
    } else {
        cu_source_lds_part(c, w, s->lanes);
    }
    cu_access_keep(c, w, a, false);
}

void cu_source_lds_quick(cu *c, cu_wave *w, cu_access *a, const amd_lds_form *form, const lds_shape *shape)
{
    amd_wave *arch = &w->arch;
    unsigned lanes = arch->lanes, dwords = form->bytes / 4u;
    uint32_t base = arch->vgpr[(size_t)(form->address - AMD_VGPR) * lanes];
    bool load = form->kind == AMD_ACCESS_LOAD, all = a->exec == (lanes == 64 ? UINT64_MAX : UINT32_MAX);
    for (unsigned piece = 0; piece < form->pieces; piece++) {
        uint8_t *lds = arch->group->lds + base + form->offset[piece];
        uint32_t *columns = a->data + (size_t)piece * dwords * 64;
        const uint32_t *from = arch->vgpr + (size_t)(form->data[piece] - AMD_VGPR) * lanes;
        if (load && all) {
            c->lds.ops->load(shape, lds, columns, dwords);
            continue;
        }
        if (all) {
            c->lds.ops->store(shape, lds, from, dwords, lanes);
            continue;
        }
        for (uint64_t left = a->exec; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            uint8_t *at = lds + (int32_t)shape->offset[lane];
            for (unsigned i = 0; i < dwords; i++)
                if (load)
                    memcpy(columns + lane + i * 64, at + i * 4, 4);
                else
                    memcpy(at + i * 4, from + lane + (size_t)i * lanes, 4);
        }
    }
}

static void source_quick(const cu *c, cu_wave *w, const cu_access *a)
{
    amd_wave *arch = &w->arch;
    unsigned dwords = a->inst->access_bytes / 4u, lanes = arch->lanes;
    if (a->inst->kind != AMD_ACCESS_LOAD)
        return;
    uint32_t *to = arch->vgpr + (size_t)(a->inst->inst->vdst.code - AMD_VGPR) * lanes;
    if (a->exec == (lanes == 64 ? UINT64_MAX : UINT32_MAX)) {
        c->lds.ops->take(to, a->data, dwords, lanes);
        return;
    }
    for (uint64_t left = a->exec; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned i = 0; i < dwords; i++)
            to[lane + (size_t)i * lanes] = a->data[lane + i * 64];
    }
}

/* Whole dwords: the case that programs are made of. */
static void source_plain(cu_wave *w, const cu_access *a, uint64_t lanes, uint64_t zero)
{
    amd_wave *arch = &w->arch;
    unsigned dwords = a->inst->access_bytes / 4u, stride = a->columns ? 1 : a->stride;
    uint64_t all = arch->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    for (unsigned i = 0; i < dwords; i++) {
        uint32_t *to = arch->vgpr + (size_t)(a->inst->inst->vdst.code - AMD_VGPR + i) * arch->lanes;
        const uint32_t *from = a->columns ? a->data + i * 64 : a->data + i;
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
    if (a->quick) {
        source_quick(c, w, a);
        return;
    }
    amd_access *scratch = &c->scratch;
    memcpy(scratch, a->head, CU_HEAD_BYTES);
    if (!scratch->returns || w->tape)
        return;
    if (a->inst->plain) {
        source_plain(w, a, scratch->lanes, scratch->zero);
        return;
    }
    const amd_access *from = scratch;
    if (a->large) { /* all of it was kept, after its addresses */
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
    if (w->tape)
        return;
    memcpy(&c->scratch, s->head, CU_HEAD_BYTES);
    memcpy(c->scratch.data[0], s->data, sizeof s->data);
    amd_mem_writeback(&w->arch, s->inst->inst, &c->scratch);
}
