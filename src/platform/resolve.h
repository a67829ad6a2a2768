/* resolve.h: turns the entries of all layers (layers.h) into one value per key (config.h). Only config.c uses it. */
#ifndef PLATFORM_RESOLVE_H
#define PLATFORM_RESOLVE_H

#include "platform/config.h"

typedef struct ls_resolved {
    const ls_machine_type *machine;
    ls_schema schema;
    const ls_block_type **models; /* per section of the machine */
    ls_config_value *values;
    size_t value_count;
    ls_config_drop *drops;
    size_t drop_count;
} ls_resolved;

/* Everything lives in the arena. What is wrong is added to problems; *out is complete only if nothing was. */
void ls_resolve(ls_arena *arena, const ls_layers *layers, ls_resolved *out, ls_problems *problems);

#endif
