/* tlb_wire.c: wiring of any models that stand in the slots "tlb" and "mmu": the functions of tlb.h and mmu.h, by
 * interface. The machine has checked that they provide it. */
#include "model/amd_memory/tlb.h"

static void *state_of(const ls_block *block)
{
    return ls_block_state((ls_block *)(uintptr_t)block);
}

const ls_tlb_ops *line_tlb_ops(const ls_block *tlb)
{
    return ls_block_type_port(ls_block_type_of(tlb), LS_TLB_INTERFACE, false)->ops;
}

ls_status line_tlb_set_below(ls_block *tlb, ls_block *cache, ls_error *err)
{
    return line_tlb_ops(tlb)->set_below(ls_block_state(tlb), cache, err);
}

void line_tlb_set_mmu(ls_block *tlb, ls_link *link)
{
    line_tlb_ops(tlb)->set_mmu(ls_block_state(tlb), link);
}

uint32_t line_tlb_questions(const ls_block *tlb)
{
    ls_tlb_shape shape;
    line_tlb_ops(tlb)->describe(state_of(tlb), &shape);
    return shape.questions;
}

uint64_t line_tlb_page_bytes(const ls_block *tlb)
{
    ls_tlb_shape shape;
    line_tlb_ops(tlb)->describe(state_of(tlb), &shape);
    return shape.page_bytes;
}

void line_tlb_discard(ls_block *tlb, uint64_t address, uint64_t bytes)
{
    line_tlb_ops(tlb)->discard(ls_block_state(tlb), address, bytes);
}

const ls_mmu_ops *line_mmu_ops(const ls_block *mmu)
{
    return ls_block_type_port(ls_block_type_of(mmu), LS_MMU_INTERFACE, false)->ops;
}

ls_status line_mmu_attach(ls_block *mmu, const ls_pages *pages, uint32_t links, uint32_t questions,
                          ls_error *err)
{
    return line_mmu_ops(mmu)->attach(ls_block_state(mmu), pages, links, questions, err);
}

void *line_mmu_receiver(ls_block *mmu, uint32_t i)
{
    return line_mmu_ops(mmu)->receiver(ls_block_state(mmu), i);
}

void line_mmu_set_reply(ls_block *mmu, uint32_t i, ls_link *link)
{
    line_mmu_ops(mmu)->set_reply(ls_block_state(mmu), i, link);
}

uint64_t line_mmu_page_bytes(const ls_block *mmu)
{
    return line_mmu_ops(mmu)->page_bytes(state_of(mmu));
}

void line_mmu_discard(ls_block *mmu, uint64_t address, uint64_t bytes)
{
    line_mmu_ops(mmu)->discard(ls_block_state(mmu), address, bytes);
}

bool line_mmu_walks_host(const ls_block *mmu)
{
    const ls_mmu_ops *ops = line_mmu_ops(mmu);
    return ops->walks_host != NULL && ops->walks_host(state_of(mmu));
}

ls_status line_mmu_set_host(ls_block *mmu, ls_link *link, uint32_t *walks, ls_error *err)
{
    const ls_mmu_ops *ops = line_mmu_ops(mmu);
    if (ops->set_host == NULL || ops->receive_host == NULL)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "mmu.model is '%s', which cannot send page walks to the host (set_host of lockstep/tlb.h)",
            ls_block_type_of(mmu)->name);
    return ops->set_host(ls_block_state(mmu), link, walks, err);
}

ls_status line_tlb_set_shootdowns(ls_block *tlb, uint32_t levels, uint32_t flags, ls_error *err)
{
    const ls_tlb_ops *ops = line_tlb_ops(tlb);
    if (ops->set_shootdowns == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "tlb.model is '%s', which knows no shootdowns: pages of this system migrate "
                       "(set_shootdowns of lockstep/tlb.h)",
                       ls_block_type_of(tlb)->name);
    return ops->set_shootdowns(ls_block_state(tlb), levels, flags, err);
}
