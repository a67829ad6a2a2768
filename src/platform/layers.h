/* layers.h: all input about one platform, before it is interpreted: the named file, the chain of its bases,
 * and the --set overrides. */
#ifndef PLATFORM_LAYERS_H
#define PLATFORM_LAYERS_H

#include "platform/search.h"
#include "platform/yaml.h"

#define LS_LAYERS_LIMIT 16 /* files in a chain of bases */

/* The platform to load. All zero except `platform` is a valid request. */
typedef struct config_request {
    const char *platform;    /* name or path, see search.h */
    const char *const *sets; /* "key=value"; of equal keys the last one counts */
    size_t set_count;
    const char *const *platform_dirs; /* searched first */
    size_t platform_dir_count;
    const char *text; /* not NULL: the content, and platform only names it; text_bytes long */
    size_t text_bytes;
    /* The first so many of sets are for every GPU that has their keys: of a system as `gpus.KEY`. */
    size_t general_count;
    uint32_t gpus; /* not 0: a system of so many GPUs of that platform */
} config_request;

typedef struct config_layer {
    source_place place; /* of the file as a whole */
    const char *dir;    /* where the file stands */
    yaml_document yaml;
} config_layer;

typedef struct config_override {
    const char *path, *text;
    struct key_scope *scope; /* as of a yaml_entry */
} config_override;

typedef struct config_layers {
    config_layer files[LS_LAYERS_LIMIT]; /* the named file first, the last base last */
    size_t file_count;
    config_override *sets; /* in the order given */
    size_t set_count;
    source_place set_place;
    bool is_own;   /* the platform was given as a file, not by a name of the search path */
    bool complete; /* every file was read to its end and every base found */
    /* Of a GPU of a system: how errors call it, and which file is its platform. The ones before it are files of the
     * system, with their keys for this GPU. */
    const char *label; /* "gpu1"; NULL: the platform is not part of a system */
    size_t own_file;
    const struct system_parts *parts; /* of a system: its GPUs; NULL: none */
} config_layers;

/* Reads everything; errors are added to problems. */
void layers_load(mem_arena *arena, const config_request *request, config_layers *out,
                 config_problems *problems);

/* The platform of a GPU of a system, after files and sets that *out has already: reads the file that `name` finds
 * (NULL: there is none) and its bases. `from` is where it is named, `beside` the directory of that file. */
void layers_load_part(mem_arena *arena, const config_request *request, const char *name,
                      const source_place *from, const char *beside, config_layers *out,
                      config_problems *problems);

/* The entry of a file, NULL if it has none of that path. */
const yaml_entry *layers_find(const config_layer *file, const char *path);
/* A reserved key as one text: NULL if it is missing or not a single value (that is added to problems). */
const char *layers_text(const config_layer *file, const char *path, config_problems *problems);

#endif
