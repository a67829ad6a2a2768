/* fabric_ends.h: the ends of a system's fabric (lockstep/fabric.h), for the builder of the system and for all models. */
#ifndef ENGINE_FABRIC_ENDS_H
#define ENGINE_FABRIC_ENDS_H

#include "lockstep/fabric.h"

extern const char *const fabric_class_names[LS_FABRIC_CLASSES]; /* "request", ... */

/* Collects the ends that builders have offered, and tells each of them how many there are. Warns of GPUs without one. */
ls_status fabric_collect_ends(ls_engine *engine, uint32_t gpus, ls_fabric_plan *out, ls_error *err);
/* After a fabric was built: whether every end has a link for every class that some end takes. */
ls_status fabric_check_ends(const ls_fabric_plan *plan, const char *model, ls_error *err);
/* Classes that some end takes, a bit each. */
uint32_t fabric_classes_taken(const ls_fabric_plan *plan);

/* Whether a message is for this end. If not, the fabric has made a mistake: the run ends. */
static inline bool fabric_is_mine(const ls_fabric_end *end, const ls_fabric_message *message)
{
    uint32_t number = end->number == LS_FABRIC_HOST ? end->ends - 1 : end->number;
    if (LS_LIKELY(message->to == number))
        return true;
    ls_domain_fail(ls_region_domain(end->region),
                   "the model of slot 'fabric' delivered a message that is for another end");
    return false;
}

#endif
