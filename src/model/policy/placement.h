/* placement.h: which core or compute unit gets the next work-group (thread block). Used by the dispatchers of
 * both vendors. Work-groups leave in the order of their numbers under every policy.
 *
 *   round-robin  cores take turns
 *   greedy-fill  the first core that has room, until it has none
 *   chunked      a number of work-groups in a row to one core while it has room: neighbours share caches */
#ifndef MODEL_POLICY_PLACEMENT_H
#define MODEL_POLICY_PLACEMENT_H

#include "model/keys.h"

typedef enum placement_kind { PLACEMENT_ROUND_ROBIN, PLACEMENT_GREEDY_FILL, PLACEMENT_CHUNKED } placement_kind;
extern const char *const placement_names[]; /* in the order of placement_kind, then NULL */

typedef struct placement_spec {
    uint32_t kind;  /* placement_kind */
    uint64_t chunk; /* work-groups in a row, of PLACEMENT_CHUNKED */
} placement_spec;

/* Where the next work-group goes first. Zeroed at the start. */
typedef struct placement {
    uint32_t core; /* of the last work-group */
    uint64_t left; /* of its chunk */
} placement;

/* After one went to `core`: the core that is tried first for the next one. */
static inline uint32_t placement_next(placement *p, const placement_spec *spec, uint32_t core, uint32_t cores)
{
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
    LS_PARAM_CHOICE(spec_, field.kind, "placement", "round-robin", placement_names,                           \
                    "order in which cores get work-groups: in turn, the first that has room, or chunks of them to each"), \
    KEY_OF(spec_, "placement_chunk", field.chunk, "work-groups", "4", 1, 65536,                               \
           "of chunked: work-groups in a row to one core")
#define PLACEMENT_NEEDS { "placement_chunk", "placement=chunked" }
/* clang-format on */

#endif
