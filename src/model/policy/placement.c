/* placement.c: the names of placement.h's policies. */
#include "model/policy/placement.h"

#include <stddef.h>

const char *const placement_names[] = { "round-robin", "greedy-fill", "chunked", NULL };
