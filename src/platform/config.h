/* config.h: a platform, resolved: every key of its machine with one typed value and its origin.
 *
 *     platform_config *config;
 *     ls_status status = config_load(&(config_request){ .platform = "rtx3070" }, &config, NULL, err);
 *     ...
 *     config_destroy(config);
 *
 * The origins of a value, strongest first: --set (the last one of a key), the named file, its base, the base's
 * base and so on, the default of the declaration. A key without default must be given.
 *
 * `<section>.model` (or short, `<section>`) decides which keys a section has. A key that only another model of
 * the slot knows is an error in the named file and in --set. It is dropped if it stands in a base (which may
 * serve several models), and if it stands in the named file while --set chose the model. Its value is checked
 * in every case, and config_dropped() reports it. */
#ifndef PLATFORM_CONFIG_H
#define PLATFORM_CONFIG_H

#include "base/hash.h"
#include "base/text.h"
#include "platform/layers.h"
#include "platform/schema.h"
#include "platform/value.h"

typedef struct platform_config platform_config;

typedef enum origin_kind { LS_ORIGIN_DEFAULT, LS_ORIGIN_FILE, LS_ORIGIN_SET } origin_kind;

typedef struct value_origin {
    origin_kind kind;
    const char *file; /* "" unless the kind is LS_ORIGIN_FILE */
    uint32_t line, column;
    const char *text;    /* the value in canonical form */
    const char *comment; /* the comment on the value's line: the source of the number; "" if there is none */
    const char *scope;   /* of a system: the GPUs that it was given for, "gpus"; "" in any other file */
} value_origin;

typedef struct config_value {
    const config_key *key; /* path, declaration, section, model */
    key_value value;
    const char *text; /* canonical: equal values have equal texts */
    const value_origin
        *origins; /* the first one counts, the others were overridden; the default is the last */
    size_t origin_count;
} config_value;

/* A key for a model that was not chosen. */
typedef struct config_drop {
    const config_key *key;
    value_origin origin;
} config_drop;

/* Fails with the first problem in err. `problems` gets all of them, sorted by place; it may be NULL, else it
 * must be empty, and the caller frees it. *out is NULL on failure. */
ls_status config_load(const config_request *request, platform_config **out, config_problems *problems,
                      ls_error *err);
void config_destroy(platform_config *config); /* NULL is fine */

const char *config_name(const platform_config *config); /* the file's name without directory and ".yaml" */
const char *config_file_path(const platform_config *config); /* of the named file */
const char *config_title(const platform_config
                             *config); /* of the named file, never inherited; "" if there is none */
const char *config_source(const platform_config *config); /* likewise */
const ls_machine_type *config_machine(const platform_config *config);
const machine_schema *config_schema(const platform_config *config);
/* The files it was made of: the named one, its base, ...; NULL past the end. */
const char *config_file(const platform_config *config, size_t index);

/* Whether the platform was given as a file, not by a name of the search path. */
bool config_is_own(const platform_config *config);

/* Of a system (system.h): its GPUs, each with a configuration as if it were alone. Other platforms have none. The
 * values of the system are those of its GPUs, with paths such as "gpu1.l2.ways". */
size_t config_part_count(const platform_config *config);
const platform_config *config_part(const platform_config *config, size_t number);
const char *config_part_name(const platform_config *config, size_t number); /* "" if it has none */
/* Of a GPU: the system that it is part of; NULL: it is alone. */
const platform_config *config_system(const platform_config *config);
/* The GPU that a text names: "gpu1", "1", or the name of a single one. */
ls_status config_find_part(const platform_config *config, const char *text, size_t *number, ls_error *err);

/* The GPU of a system that runs work for a machine of type `machine`: the one that `on` names, or the first of that
 * type (on NULL). *index counts GPUs of that type only. A platform of one GPU is gpu0. LS_ERR_USAGE if there is no such
 * GPU; work: what it should run, for the error. */
ls_status config_choose_part(const platform_config *config, const char *machine, const char *work,
                             const char *on, size_t *number, size_t *index, ls_error *err);

/* The values in the order of the schema. */
size_t config_value_count(const platform_config *config);
/* The first so many are of the platform itself, the others those of its GPUs. */
size_t config_own_count(const platform_config *config);
const config_value *config_at(const platform_config *config, size_t index);
const config_value *config_find(const platform_config *config, const char *path); /* NULL if there is none */
size_t config_dropped_count(const platform_config *config);
const config_drop *config_dropped(const platform_config *config, size_t index);

/* The model of a section; NULL if the machine has no such section. */
const ls_block_type *config_model(const platform_config *config, const char *section);

/* Fills a spec struct of spec_bytes from the values of a section, or of the machine itself (section NULL).
 * Texts and lists in it belong to the configuration. */
ls_status config_spec(const platform_config *config, const char *section, void *spec, size_t spec_bytes,
                      ls_error *err);

/* The canonical text: `machine` and one line per value. It is a valid platform file with the same values. */
const char *config_yaml(const platform_config *config);
/* The hash of the canonical text: of values only, not of where they come from or how they were written. */
hash128 config_hash_of(const platform_config *config);

/* "file.yaml:12", "--set" or "default"; of a key for GPUs of a system with those, as in "--set (gpu1)". Returns
 * out. */
const char *origin_text(const value_origin *origin, char *out, size_t out_bytes);
/* Whether the platform file says of the value that no source gives it: "assumption:" in the comment on its line. */
bool config_assumes(const config_value *value);
/* How many values are such assumptions. */
size_t config_assumption_count(const platform_config *config);
/* Adds a value as it stands in YAML: quoted if the type or the text needs it. */
void config_add_scalar(text_buffer *out, const ls_param *param, const char *text);

#endif
