/* block.c: blocks of a machine and the ports between them. */
#include "engine/state.h"

#include <string.h>

ls_status ls_block_create(ls_region *region, const char *name, const ls_block_type *type, const void *spec,
                          ls_block **out, ls_error *err)
{
    ls_domain *domain = region->domain;
    ls_engine *engine = domain->engine;
    *out = NULL;
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "block '%s' comes after the run began", name);
    if (map_has(&engine->block_names, name))
        return ls_fail(err, LS_ERR_USAGE, "there are two blocks named '%s'", name);
    ls_block *block = arena_alloc(&engine->arena, sizeof *block);
    void *state = ls_domain_alloc(domain, type->state_size);
    void *own_spec = ls_domain_alloc(domain, type->spec_size);
    char *own_name = arena_strdup(&engine->arena, name);
    if (block == NULL || state == NULL || own_spec == NULL || own_name == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for block '%s'", name);
    if (type->spec_size > 0 && spec != NULL)
        memcpy(own_spec, spec, type->spec_size);
    *block = (ls_block){ .type = type,
                         .region = region,
                         .name = own_name,
                         .state = state,
                         .spec = own_spec,
                         .tap = { .block = (uint32_t)engine->blocks.count } };
    ls_status status = type->init != NULL ? type->init(block, state, own_spec, err) : LS_OK;
    if (status != LS_OK)
        return status;
    if (type->waits != NULL)
        status = ls_waits_register(engine, name, type->waits, state, err);
    if (status == LS_OK && (!map_put(&engine->block_names, name, block) || !vec_push(&engine->blocks, block)))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for block '%s'", name);
    if (status != LS_OK) {
        if (type->fini != NULL)
            type->fini(state); /* ls_engine_destroy() frees only blocks in the list */
        return status;
    }
    *out = block;
    return LS_OK;
}

const char *ls_block_name(const ls_block *block)
{
    return block->name;
}

const ls_block_type *ls_block_type_of(const ls_block *block)
{
    return block->type;
}

ls_region *ls_block_region(const ls_block *block)
{
    return block->region;
}

void *ls_block_state(ls_block *block)
{
    return block->state;
}

const void *ls_block_spec(const ls_block *block)
{
    return block->spec;
}

uint32_t ls_engine_block_count(const ls_engine *engine)
{
    return (uint32_t)engine->blocks.count;
}

ls_block *ls_engine_block(const ls_engine *engine, uint32_t index)
{
    return index < engine->blocks.count ? engine->blocks.at[index] : NULL;
}

ls_block *ls_engine_find_block(const ls_engine *engine, const char *name)
{
    return map_get(&engine->block_names, name);
}

/* ------------------------------------------------------------------------------------------------- ports */

static const char *port_name_at(const void *self, size_t i)
{
    return ((const ls_block_type *)self)->ports[i].name;
}

/* The port `name` of `block`, used or provided as requested; NULL (LS_ERR_USAGE in err) if it has none. */
static const ls_port_decl *find_port(const ls_block *block, const char *name, bool provided, ls_error *err)
{
    for (size_t i = 0; i < block->type->port_count; i++) {
        const ls_port_decl *port = &block->type->ports[i];
        if (strcmp(port->name, name) != 0)
            continue;
        if ((port->ops != NULL) == provided)
            return port;
        ls_fail(err, LS_ERR_USAGE, "port '%s' of block '%s' is %s, not %s", name, block->name,
                provided ? "used" : "provided", provided ? "provided" : "used");
        return NULL;
    }
    ls_fail(err, LS_ERR_USAGE, "block '%s' (%s/%s) has no port '%s'", block->name, block->type->slot,
            block->type->name, name);
    if (err != NULL)
        ls_error_nearest(err, nearest_name(name, block->type->port_count, port_name_at, block->type));
    return NULL;
}

static ls_port *port_of(const ls_block *block, const ls_port_decl *port)
{
    return (ls_port *)(void *)((char *)block->state + port->offset);
}

ls_status ls_block_connect(ls_block *user, const char *used, ls_block *provider, const char *provided,
                           ls_error *err)
{
    const ls_port_decl *from = find_port(user, used, false, err);
    const ls_port_decl *to = from != NULL ? find_port(provider, provided, true, err) : NULL;
    if (to == NULL)
        return LS_ERR_USAGE;
    if (strcmp(from->interface, to->interface) != 0)
        return ls_fail(err, LS_ERR_USAGE, "port '%s' of '%s' speaks '%s', port '%s' of '%s' speaks '%s'", used,
                       user->name, from->interface, provided, provider->name, to->interface);
    if (user->region->domain != provider->region->domain)
        return ls_fail(err, LS_ERR_USAGE,
                       "blocks '%s' and '%s' live in different domains: only a link joins them", user->name,
                       provider->name);
    ls_port *port = port_of(user, from);
    if (port->ops != NULL)
        return ls_fail(err, LS_ERR_USAGE, "port '%s' of block '%s' is connected twice", used, user->name);
    *port = (ls_port){ .ops = to->ops, .self = provider->state };
    return LS_OK;
}

const ls_port_decl *ls_block_type_port(const ls_block_type *type, const char *interface, bool used)
{
    for (size_t i = 0; i < type->port_count; i++)
        if (strcmp(type->ports[i].interface, interface) == 0 && (type->ports[i].ops == NULL) == used)
            return &type->ports[i];
    return NULL;
}

ls_status ls_block_port(ls_block *block, const char *interface, ls_port *out, ls_error *err)
{
    const ls_port_decl *port = ls_block_type_port(block->type, interface, false);
    *out = (ls_port){ 0 };
    if (port == NULL)
        return ls_fail(err, LS_ERR_USAGE, "block '%s' (%s/%s) provides no port of interface '%s'", block->name,
                       block->type->slot, block->type->name, interface);
    *out = (ls_port){ .ops = port->ops, .self = block->state };
    return LS_OK;
}

ls_status ls_engine_check_ports(const ls_engine *engine, ls_error *err)
{
    for (size_t i = 0; i < engine->blocks.count; i++) {
        const ls_block *block = engine->blocks.at[i];
        for (size_t p = 0; p < block->type->port_count; p++) {
            const ls_port_decl *port = &block->type->ports[p];
            if (port->ops == NULL && port_of(block, port)->ops == NULL)
                return ls_fail(err, LS_ERR_USAGE, "port '%s' of block '%s' is connected to nothing",
                               port->name, block->name);
        }
    }
    return LS_OK;
}
