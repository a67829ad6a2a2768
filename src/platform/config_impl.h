/* config_impl.h: the configuration behind config.h, for the files that make one: config.c and system.c. */
#ifndef PLATFORM_CONFIG_IMPL_H
#define PLATFORM_CONFIG_IMPL_H

#include "platform/resolve.h"
#include "platform/system.h"

struct platform_config {
    mem_arena arena;
    config_layers layers;
    resolved_config resolved;
    system_parts parts;            /* of a system: its GPUs */
    const platform_config *system; /* of a GPU of one; else NULL */
    size_t part_values;            /* the last so many values are those of GPUs */
    const char *name, *title, *source;
    const char *yaml;
    hash128 hash;
};

/* From layers, which are complete, to values. */
void config_finish(platform_config *config, const config_request *request, config_problems *problems);

#endif
