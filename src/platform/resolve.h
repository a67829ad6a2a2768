/* resolve.h: turns the entries of all layers (layers.h) into one value per key (config.h). Only config.c uses it. */
#ifndef PLATFORM_RESOLVE_H
#define PLATFORM_RESOLVE_H

#include "platform/config.h"

typedef struct resolved_config {
    const ls_machine_type *machine;
    machine_schema schema;
    const ls_block_type **models; /* per section of the machine */
    config_value *values;
    size_t value_count;
    config_drop *drops;
    size_t drop_count;
} resolved_config;

/* The machine that the nearest file names. NULL: none does, or there is no such machine; that is added to
 * problems. */
const ls_machine_type *config_find_machine(const config_layers *layers, config_problems *problems);

/* Everything lives in the arena. Errors are added to problems; *out is complete only if there are none. */
void config_resolve(mem_arena *arena, const config_layers *layers, const ls_machine_type *machine,
                    resolved_config *out, config_problems *problems);

#endif
