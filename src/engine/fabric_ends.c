/* fabric_ends.c: see fabric_ends.h. Runs before the simulation. */
#include "engine/fabric_ends.h"

const char *const fabric_class_names[LS_FABRIC_CLASSES] = { "request",    "data",    "walk",
                                                            "invalidate", "migrate", "copy" };

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for the fabric");
}

/* Puts an end at its place. */
static ls_status add_end(ls_fabric_plan *plan, ls_fabric_end **ends, ls_fabric_end *end, ls_error *err)
{
    uint32_t number = end->number == LS_FABRIC_HOST ? plan->gpus : end->number;
    if (number > plan->gpus || (number == plan->gpus && end->number != LS_FABRIC_HOST))
        return ls_fail(err, LS_ERR_INPUT, "'%s' is end %u of a fabric of %u GPUs", end->name, end->number,
                       plan->gpus);
    if (ends[number] != NULL)
        return ls_fail(err, LS_ERR_INPUT, "'%s' and '%s' are the same end of the fabric", ends[number]->name,
                       end->name);
    ends[number] = end;
    plan->has_host |= number == plan->gpus;
    return LS_OK;
}

ls_status fabric_collect_ends(ls_engine *engine, uint32_t gpus, ls_fabric_plan *out, ls_error *err)
{
    ls_fabric_end **ends = ls_engine_alloc(engine, (gpus + 1) * sizeof *ends), *end;
    *out = (ls_fabric_plan){ .gpus = gpus, .ends = ends };
    if (ends == NULL)
        return no_memory(err);
    for (uint32_t i = 0; (end = ls_engine_part(engine, LS_FABRIC_END_PART, i)) != NULL; i++) {
        ls_status status = add_end(out, ends, end, err);
        if (status != LS_OK)
            return status;
    }
    out->end_count = gpus + out->has_host;
    for (uint32_t i = 0; i < out->end_count; i++) {
        if (ends[i] != NULL) {
            ends[i]->ends = out->end_count;
            ends[i]->all = (const ls_fabric_end *const *)ends;
        } else if (ls_engine_warn(engine, "unmodelled",
                                  "gpu%u has no port for the fabric: it is not connected", i) != LS_OK) {
            return no_memory(err);
        }
    }
    return LS_OK;
}

uint32_t fabric_classes_taken(const ls_fabric_plan *plan)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < plan->end_count; i++)
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES && plan->ends[i] != NULL; c++)
            if (plan->ends[i]->receive_credits[c] != 0)
                taken |= 1u << c;
    return taken;
}

ls_status fabric_check_ends(const ls_fabric_plan *plan, const char *model, ls_error *err)
{
    uint32_t taken = fabric_classes_taken(plan);
    for (uint32_t i = 0; i < plan->end_count; i++)
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES && plan->ends[i] != NULL; c++)
            if ((taken >> c & 1) != 0 && plan->ends[i]->send[c] == NULL)
                return ls_fail(err, LS_ERR_INPUT, "model 'fabric/%s' made no link from '%s' for class '%s'",
                               model, plan->ends[i]->name, fabric_class_names[c]);
    return LS_OK;
}
