/* system.h: platforms of machine `system`: a list of GPUs, each with a platform of its own.
 *
 *     machine: system
 *     gpus:
 *       - {platform: r9nano, count: 2, name: left}
 *       - {platform: rtx3070, l2.ways: 32}
 *     gpu1.l2.ways: 8
 *
 * A GPU is loaded like any platform: the list's element is a file whose base is `platform`. Keys for GPUs begin with
 * their scope: `gpu1.` is one GPU, `gpu0-2.` some, `left.` those of a name, `gpus.` all. A key has the value of the
 * strongest layer that gives one: --set, the system's file, its bases, the GPU's platform and its bases. Inside a
 * layer one GPU counts before a range, a name or the list's element, and these before `gpus.`; of equals the last. */
#ifndef PLATFORM_SYSTEM_H
#define PLATFORM_SYSTEM_H

#include "platform/config.h"

#define LS_SYSTEM_MACHINE "system"
#define LS_SYSTEM_LIMIT 64 /* GPUs */
#define LS_SCOPE_BYTES 64  /* of "gpu0-63", "gpus" or a name */

extern const ls_machine_type system_machine;

/* The GPUs that one setting is for, and its effect. */
typedef struct key_scope {
    const char *name; /* as it was written: "gpu1", "gpus"; "" in an element of the list */
    size_t covers;    /* how many GPUs */
    bool is_taken;    /* by one of them */
    bool is_reported; /* its value is wrong */
    ls_error refused; /* by the first that does not take it; LS_OK: by none */
    source_place refused_at;
} key_scope;

typedef struct system_part {
    platform_config *config;
    const char *name; /* of its element; "" if it has none */
} system_part;

typedef struct system_parts {
    system_part *at;
    size_t count;
} system_parts;

/* Loads the GPUs of a system and marks the settings in *layers that are theirs. Errors are added to problems;
 * *out is complete only if there are none. The caller destroys the configurations in *out in any case. */
void system_load(mem_arena *arena, const config_request *request, config_layers *layers, system_parts *out,
                 config_problems *problems);

/* The canonical text of the list: equal neighbours are one element with a count. */
void system_yaml(text_buffer *out, const system_parts *parts);

/* "gpus" if the GPUs are all of the system, else "gpu1" or "gpu0-3". Returns out. */
const char *system_scope_text(size_t first, size_t count, size_t all, char out[LS_SCOPE_BYTES]);

/* A key of a system, taken apart. */
typedef struct system_scope {
    char name[LS_SCOPE_BYTES]; /* "gpu1"; "gpus" for a key without scope */
    bool has[LS_SYSTEM_LIMIT]; /* the GPUs that it is for */
    const char *path;          /* of the GPU's key */
} system_scope;
ls_status system_find_scope(const platform_config *config, const char *path, system_scope *out, ls_error *err);

/* For a key that the system itself does not have: the same as a key of its GPUs, or `near`. */
const char *system_nearest(mem_arena *arena, const system_parts *parts, const char *path, const char *near);
/* Whether the GPUs of a system are connected: its slot `fabric` has a model that builds something. */
bool system_has_fabric(const ls_machine *system);
bool system_migrates(const ls_machine *system);

#endif
