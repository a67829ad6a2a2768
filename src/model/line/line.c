/* line.c: wires between requesters and what stands for memory, found by interface. */
#include "model/line/line.h"

ls_status line_join(ls_block *memory, const line_client_ops *client_ops, void *client, line_port *out,
                    ls_error *err)
{
    const ls_block_type *type = ls_block_type_of(memory);
    for (size_t i = 0; i < type->port_count; i++) {
        const ls_port_decl *port = &type->ports[i];
        if (port->ops != NULL && strcmp(port->interface, LINE_MEMORY_INTERFACE) == 0) {
            const line_memory_ops *ops = port->ops;
            return ops->attach(ls_block_state(memory), client_ops, client, out, err);
        }
    }
    return ls_fail(err, LS_ERR_USAGE, "block '%s' (%s '%s') takes no lines: it has no port '%s'",
                   ls_block_name(memory), type->slot, type->name, LINE_MEMORY_INTERFACE);
}

ls_status line_join_below(ls_block *user, uint32_t line_bytes, ls_block *memory,
                          const line_client_ops *client_ops, line_port *out, ls_error *err)
{
    ls_status status = line_join(memory, client_ops, ls_block_state(user), out, err);
    if (status != LS_OK)
        return status;
    if (out->line_bytes != line_bytes)
        return ls_fail(
            err, LS_ERR_INPUT,
            "'%s' has lines of %u bytes, but '%s' below it has %u: all caches of a machine must agree",
            ls_block_name(user), line_bytes, ls_block_name(memory), out->line_bytes);
    return LS_OK;
}
