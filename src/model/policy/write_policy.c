/* write_policy.c: see write_policy.h. */
#include "model/policy/write_policy.h"

#include <stddef.h>

const char *const write_policy_names[] = { "through", "back", "evict", "around", NULL };
