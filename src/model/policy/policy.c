/* policy.c: see policy.h. */
#include "model/policy/policy.h"

#include <stdio.h>
#include <string.h>

/* Every member of a table is a function, so that their number follows from its size. */
#define CHECK(functions_, ops_)                                                                               \
    _Static_assert(LS_COUNT_OF(functions_) - 1 == sizeof(ops_) / sizeof(void (*)(void)),                      \
                   "a name for each function of " #ops_)

static const char *const replacement_functions[] = { "set_bytes", "insert", "use", "victim", NULL };
CHECK(replacement_functions, ls_replacement_ops);
static const char *const prefetch_functions[] = { "state_bytes", "train", NULL };
CHECK(prefetch_functions, ls_prefetch_ops);
static const char *const hash_functions[] = { "set", NULL };
CHECK(hash_functions, ls_hash_ops);
static const char *const scheduler_functions[] = { "state_bytes", "choose", NULL };
CHECK(scheduler_functions, ls_dram_scheduler_ops);
static const char *const placement_functions[] = { "next", NULL };
CHECK(placement_functions, ls_placement_ops);

#define HEADER "lockstep/policy.h"

const policy_kind policy_kinds[POLICY_SLOTS] = {
    [POLICY_REPLACEMENT] = { LS_REPLACEMENT_SLOT,
                             "replacement policy",
                             { LS_REPLACEMENT_INTERFACE, HEADER, replacement_functions } },
    [POLICY_PREFETCH] = { LS_PREFETCH_SLOT,
                          "prefetch policy",
                          { LS_PREFETCH_INTERFACE, HEADER, prefetch_functions } },
    [POLICY_HASH] = { LS_HASH_SLOT, "hash", { LS_HASH_INTERFACE, HEADER, hash_functions } },
    [POLICY_DRAM_SCHEDULER] = { LS_DRAM_SCHEDULER_SLOT,
                                "DRAM scheduler",
                                { LS_DRAM_SCHEDULER_INTERFACE, HEADER, scheduler_functions } },
    [POLICY_PLACEMENT] = { LS_PLACEMENT_SLOT,
                           "placement policy",
                           { LS_PLACEMENT_INTERFACE, HEADER, placement_functions } },
};

/* The name of the first function that a table lacks; NULL: it is whole. */
static const char *missing_function(const ls_interface *interface, const void *ops)
{
    void (*function)(void);
    for (size_t i = 0; interface->functions[i] != NULL; i++) {
        memcpy(&function, (const char *)ops + i * sizeof function, sizeof function);
        if (function == NULL)
            return interface->functions[i];
    }
    return NULL;
}

ls_status policy_find(policy_slot slot, uint32_t number, policy_found *out, ls_error *err)
{
    const policy_kind *kind = &policy_kinds[slot];
    *out = (policy_found){ 0 };
    for (size_t i = 0; i < ls_registry_block_count() && out->type == NULL; i++)
        if (strcmp(ls_registry_block(i)->slot, kind->slot) == 0 && number-- == 0)
            out->type = ls_registry_block(i);
    if (out->type == NULL)
        return ls_fail(err, LS_ERR_INPUT, "there is no such %s", kind->what);
    const ls_port_decl *port = ls_block_type_port(out->type, kind->interface.name, false);
    if (port == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%s '%s' provides no port of interface '%s'", kind->what,
                       out->type->name, kind->interface.name);
    const char *missing = missing_function(&kind->interface, port->ops);
    if (missing != NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%s '%s' leaves out the function '%s'", kind->what,
                       out->type->name, missing);
    out->ops = port->ops;
    return LS_OK;
}

static ls_status no_memory(policy_slot slot, ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for a %s", policy_kinds[slot].what);
}

ls_status policy_alloc(policy_slot slot, const policy_found *found, ls_domain *domain, size_t *bytes,
                       size_t most, size_t count, const char *of, uint8_t **out, ls_error *err)
{
    if (*bytes == 0 || *bytes > most)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%s '%s' wants %zu bytes for %s, it must be 1 to %zu",
                       policy_kinds[slot].what, found->type->name, *bytes, of, most);
    *bytes = (*bytes + 15) / 16 * 16;
    *out = ls_domain_alloc(domain, count * *bytes);
    return *out != NULL ? LS_OK : no_memory(slot, err);
}

ls_status policy_failure(policy_slot slot, const policy_found *found, ls_domain *domain, const char *did,
                         const char **out, ls_error *err)
{
    const char *what = policy_kinds[slot].what;
    size_t bytes = strlen(what) + strlen(found->type->name) + strlen(did) + sizeof " '' ";
    char *text = ls_domain_alloc(domain, bytes);
    if (text == NULL)
        return no_memory(slot, err);
    snprintf(text, bytes, "%s '%s' %s", what, found->type->name, did);
    *out = text;
    return LS_OK;
}
