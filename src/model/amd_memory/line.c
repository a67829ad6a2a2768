/* line.c: wires between requesters and the blocks that take their lines, found by interface: any model of a
 * slot. */
#include "lockstep/line.h"

#include "model/amd_memory/atomic.h"

ls_status ls_line_join(ls_block *memory, const ls_line_client_ops *client_ops, void *client, ls_line_port *out,
                       ls_error *err)
{
    ls_port port;
    ls_status status = ls_block_port(memory, LS_LINE_MEMORY_INTERFACE, &port, err);
    if (status != LS_OK)
        return status;
    const ls_line_memory_ops *ops = port.ops;
    return ops->attach(port.self, client_ops, client, out, err);
}

ls_status ls_line_join_below(ls_block *user, uint32_t line_bytes, ls_block *memory,
                             const ls_line_client_ops *client_ops, ls_line_port *out, ls_error *err)
{
    ls_status status = ls_line_join(memory, client_ops, ls_block_state(user), out, err);
    if (status != LS_OK)
        return status;
    if (out->line_bytes != line_bytes)
        return ls_fail(
            err, LS_ERR_INPUT,
            "'%s' has lines of %u bytes, but '%s' below it has %u: line_bytes must be the same for the machine and "
            "all of its caches",
            ls_block_name(user), line_bytes, ls_block_name(memory), out->line_bytes);
    return LS_OK;
}

uint32_t ls_line_atomic(ls_line_message *message, uint8_t *line)
{
    return line_atomic_apply(message, line);
}
