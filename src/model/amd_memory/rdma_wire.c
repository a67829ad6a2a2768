/* rdma_wire.c: calls any model of slot "rdma" through its interface, for the builder of a GPU. */
#include "model/amd_memory/rdma.h"

static const ls_rdma_ops *ops_of(const ls_block *block)
{
    return ls_block_type_port(ls_block_type_of(block), LS_RDMA_INTERFACE, false)->ops;
}

ls_status line_rdma_attach(ls_block *block, const ls_rdma_wiring *wiring, ls_error *err)
{
    return ops_of(block)->attach(ls_block_state(block), wiring, err);
}

ls_fabric_end *line_rdma_end(ls_block *block)
{
    return ops_of(block)->end(ls_block_state(block));
}
