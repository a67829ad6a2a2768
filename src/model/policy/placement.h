/* placement.h: which core or compute unit gets the next work-group (thread block). Used by the dispatchers of
 * both vendors. Work-groups leave in the order of their numbers under every policy.
 *
 *   round-robin  cores take turns
 *   greedy-fill  the first core that has room, until it has none
 *   chunked      a number of work-groups in a row to one core while it has room: neighbours share caches
 *
 * A plug-in can bring others (lockstep/policy.h). */
#ifndef MODEL_POLICY_PLACEMENT_H
#define MODEL_POLICY_PLACEMENT_H

#include "model/keys.h"
#include "model/policy/policy.h"

typedef enum placement_kind {
    PLACEMENT_ROUND_ROBIN,
    PLACEMENT_GREEDY_FILL,
    PLACEMENT_CHUNKED,
    PLACEMENT_KINDS /* from here on: types of slot "placement", in the order of the registry */
} placement_kind;
extern const char *const placement_names[]; /* in the order of placement_kind, then NULL */

typedef struct placement_spec {
    uint32_t kind;  /* placement_kind, or a plug-in's number */
    uint64_t chunk; /* work-groups in a row, of PLACEMENT_CHUNKED */
} placement_spec;

/* A spec, and the plug-in that it names. */
typedef struct placement_rule {
    placement_spec spec;
    const ls_placement_ops *ops;
    ls_domain *domain;
    const char *failure; /* for ls_domain_fail(): the plug-in named a core that is not there */
} placement_rule;

/* Fails when the host has no memory left, or for a plug-in whose table is not whole, which the error names. */
ls_status placement_init(placement_rule *rule, const placement_spec *spec, ls_domain *domain, ls_error *err);

/* Where the next work-group goes first. Zeroed at the start. */
typedef struct placement {
    uint32_t core; /* of the last work-group */
    uint64_t left; /* of its chunk */
    uint64_t plugin[LS_PLACEMENT_WORDS];
} placement;

uint32_t placement_ask(placement *p, const placement_rule *rule, uint32_t core, uint32_t cores);

/* After one went to `core`: the core that is tried first for the next one. */
static inline uint32_t placement_next(placement *p, const placement_rule *rule, uint32_t core, uint32_t cores)
{
    const placement_spec *spec = &rule->spec;
    if (LS_UNLIKELY(spec->kind >= PLACEMENT_KINDS))
        return placement_ask(p, rule, core, cores);
    if (spec->kind == PLACEMENT_GREEDY_FILL)
        return 0;
    if (spec->kind == PLACEMENT_CHUNKED) {
        p->left = core == p->core && p->left > 0 ? p->left - 1 : spec->chunk - 1;
        p->core = core;
        if (p->left > 0)
            return core;
    }
    return core + 1 == cores ? 0 : core + 1;
}

/* clang-format off */
#define PLACEMENT_PARAMS(spec_, field)                                                                        \
    POLICY_PARAM(spec_, field.kind, "placement", "round-robin", placement_names, LS_PLACEMENT_SLOT,           \
                 "order in which cores get work-groups: in turn, the first that has room, chunks of them to each, or as a plug-in says"), \
    KEY_OF(spec_, "placement_chunk", field.chunk, "work-groups", "4", 1, 65536,                               \
           "of chunked: work-groups in a row to one core")
#define PLACEMENT_NEEDS { "placement_chunk", "placement=chunked" }
/* clang-format on */

#endif
