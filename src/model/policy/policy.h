/* policy.h: the policies of plug-ins (lockstep/policy.h): the slots, and the way from a key's value to a table of
 * functions. Used before the run only. */
#ifndef MODEL_POLICY_POLICY_H
#define MODEL_POLICY_POLICY_H

#include "lockstep/policy.h"

typedef enum policy_slot {
    POLICY_REPLACEMENT,
    POLICY_PREFETCH,
    POLICY_HASH,
    POLICY_DRAM_SCHEDULER,
    POLICY_PLACEMENT,
    POLICY_SLOTS
} policy_slot;

/* Slot, interface with its functions, and the name of one of them in messages. */
typedef struct policy_kind {
    const char *slot, *what;
    ls_interface interface;
} policy_kind;
extern const policy_kind policy_kinds[POLICY_SLOTS];

/* A plug-in's policy. */
typedef struct policy_found {
    const ls_block_type *type;
    const void *ops;
} policy_found;

/* Number `number` of the slot's types, in the order of the registry. Fails for a type whose table is not whole, which
 * the error names. */
ls_status policy_find(policy_slot slot, uint32_t number, policy_found *out, ls_error *err);
/* Memory for the policy's state, zeroed; *bytes is rounded up so that states in a row are aligned for any type. Fails
 * unless *bytes is 1 to `most`; `of` says of what: "a cache". */
ls_status policy_alloc(policy_slot slot, const policy_found *found, ls_domain *domain, size_t *bytes,
                       size_t most, size_t count, const char *of, uint8_t **out, ls_error *err);
/* "WHAT 'NAME' DID", which lives as long as the domain: for ls_domain_fail(). */
ls_status policy_failure(policy_slot slot, const policy_found *found, ls_domain *domain, const char *did,
                         const char **out, ls_error *err);

/* A key whose values are names_, and the types of a slot after them. */
/* clang-format off */
#define POLICY_PARAM(spec_, field_, name_, default_, names_, slot_, help_)                                    \
    { .name = (name_), .type = LS_PARAM_TYPE_CHOICE, .offset = offsetof(spec_, field_),                       \
      .default_text = (default_), .min = 1, .max = 0, .choices = (names_), .unit = "", .help = (help_),       \
      .slot = (slot_) }
/* clang-format on */

#endif
