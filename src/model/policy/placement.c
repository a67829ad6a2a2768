/* placement.c: see placement.h: the names of the policies, and the way to a plug-in's. */
#include "model/policy/placement.h"

const char *const placement_names[] = { "round-robin", "greedy-fill", "chunked", NULL };

ls_status placement_init(placement_rule *rule, const placement_spec *spec, ls_domain *domain, ls_error *err)
{
    policy_found found;
    *rule = (placement_rule){ .spec = *spec, .domain = domain };
    if (spec->kind < PLACEMENT_KINDS)
        return LS_OK;
    ls_status status = policy_find(POLICY_PLACEMENT, spec->kind - PLACEMENT_KINDS, &found, err);
    if (status != LS_OK)
        return status;
    rule->ops = found.ops;
    return policy_failure(POLICY_PLACEMENT, &found, domain, "named a core that is not there", &rule->failure,
                          err);
}

uint32_t placement_ask(placement *p, const placement_rule *rule, uint32_t core, uint32_t cores)
{
    uint32_t next = rule->ops->next(p->plugin, core, cores);
    if (LS_LIKELY(next < cores))
        return next;
    ls_domain_fail(rule->domain, rule->failure);
    return 0;
}
