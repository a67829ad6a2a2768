/* keys.h: rows of the key tables of models, for keys whose names are not those of their fields. Defaults are texts. A file
 * says first whose fields they are:
 *
 *     #define KEY_SPEC l1_spec
 *     static const ls_param params[] = {
 *         KEY("sets", cache.sets, "", "4", 1, 4096, "sets (a power of two)"),
 *     }; */
#ifndef MODEL_KEYS_H
#define MODEL_KEYS_H

#include "lockstep/param.h"

#include <stddef.h>

/* clang-format off */
#define KEY(name_, field_, unit_, default_, min_, max_, help_)                                                \
    KEY_OF(KEY_SPEC, name_, field_, unit_, default_, min_, max_, help_)
#define KEY_FLAG(name_, field_, default_, help_)                                                              \
    { .name = (name_), .type = LS_PARAM_TYPE_BOOL, .offset = offsetof(KEY_SPEC, field_),                      \
      .default_text = (default_), .min = 1, .max = 0, .unit = "", .help = (help_) }
#define KEY_CHOICE(name_, field_, default_, choices_, help_)                                                  \
    LS_PARAM_CHOICE(KEY_SPEC, field_, name_, default_, choices_, help_)
/* For rows that several tables share: the spec is an argument. */
#define KEY_OF(spec_, name_, field_, unit_, default_, min_, max_, help_)                                      \
    { .name = (name_), .type = LS_PARAM_TYPE_UINT, .offset = offsetof(spec_, field_),                         \
      .default_text = (default_), .min = (double)(min_), .max = (double)(max_), .unit = (unit_),              \
      .help = (help_) }
/* clang-format on */

#endif
