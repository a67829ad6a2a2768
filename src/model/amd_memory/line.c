/* line.c: wires between requesters and what stands for memory, found by interface: whatever block stands in a
 * slot. */
#include "model/amd_memory/line.h"

const void *line_find_ops(const ls_block *block, const char *interface)
{
    const ls_block_type *type = ls_block_type_of(block);
    for (size_t i = 0; i < type->port_count; i++)
        if (type->ports[i].ops != NULL && strcmp(type->ports[i].interface, interface) == 0)
            return type->ports[i].ops;
    return NULL;
}

ls_status line_join(ls_block *memory, const line_client_ops *client_ops, void *client, line_port *out,
                    ls_error *err)
{
    const line_memory_ops *ops = line_find_ops(memory, LINE_MEMORY_INTERFACE);
    if (ops != NULL)
        return ops->attach(ls_block_state(memory), client_ops, client, out, err);
    return ls_fail(err, LS_ERR_UNSUPPORTED, "block '%s' (%s '%s') takes no lines: it provides no '%s'",
                   ls_block_name(memory), ls_block_type_of(memory)->slot, ls_block_type_of(memory)->name,
                   LINE_MEMORY_INTERFACE);
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
            "'%s' has lines of %u bytes, but '%s' below it has %u: line_bytes must be the same for the machine and "
            "all of its caches",
            ls_block_name(user), line_bytes, ls_block_name(memory), out->line_bytes);
    return LS_OK;
}
