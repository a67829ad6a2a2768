/* config.h: a platform, resolved: every key of its machine with one typed value and where that came from.
 *
 *     ls_config *config;
 *     ls_status status = ls_config_load(&(ls_config_request){ .platform = "rtx3070" }, &config, NULL, err);
 *     ...
 *     ls_config_destroy(config);
 *
 * A value comes from, strongest first: --set (the last one of a key), the named file, its base, the base of
 * that, and so on, then the default of the declaration. A key without default must be given.
 *
 * `<section>.model` (or short, `<section>`) decides which keys a section has. A key that only another model
 * of the slot knows is an error in the named file and in --set. It is dropped if it stands in a base (which
 * may serve several models), and if it stands in the named file while --set chose the model. Its value is
 * checked in every case, and ls_config_dropped() tells about it. */
#ifndef PLATFORM_CONFIG_H
#define PLATFORM_CONFIG_H

#include "base/hash.h"
#include "base/text.h"
#include "platform/layers.h"
#include "platform/schema.h"
#include "platform/value.h"

typedef struct ls_config ls_config;

typedef enum ls_origin_kind { LS_ORIGIN_DEFAULT, LS_ORIGIN_FILE, LS_ORIGIN_SET } ls_origin_kind;

typedef struct ls_origin {
    ls_origin_kind kind;
    const char *file; /* "" unless the kind is LS_ORIGIN_FILE */
    uint32_t line, column;
    const char *text;    /* the value in canonical form */
    const char *comment; /* the comment on the value's line: the source of the number; "" if there is none */
} ls_origin;

typedef struct ls_config_value {
    const ls_key *key; /* path, declaration, section, model */
    ls_value value;
    const char *text;         /* canonical: equal values have equal texts */
    const ls_origin *origins; /* the first one counts, the others were overridden; the default is the last */
    size_t origin_count;
} ls_config_value;

/* A key for a model that was not chosen. */
typedef struct ls_config_drop {
    const ls_key *key;
    ls_origin origin;
} ls_config_drop;

/* Fails with the first problem in err; problems (may be NULL, else empty and to be finished by the caller)
 * gets all of them, sorted by place. *out is NULL on failure. */
ls_status ls_config_load(const ls_config_request *request, ls_config **out, ls_problems *problems,
                         ls_error *err);
void ls_config_destroy(ls_config *config); /* NULL is fine */

const char *ls_config_name(const ls_config *config); /* the file's name without directory and ".yaml" */
const char *ls_config_path(const ls_config *config); /* of the named file */
const char *ls_config_title(const ls_config
                                *config); /* of the named file, never inherited; "" if there is none */
const char *ls_config_source(const ls_config *config); /* likewise */
const ls_machine_type *ls_config_machine(const ls_config *config);
const ls_schema *ls_config_schema(const ls_config *config);
/* The files it was made of: the named one, its base, ...; NULL past the end. */
const char *ls_config_file(const ls_config *config, size_t index);

/* Whether the platform was given as a file, not by a name of the search path. */
bool ls_config_is_own(const ls_config *config);

/* The values in the order of the schema. */
size_t ls_config_count(const ls_config *config);
const ls_config_value *ls_config_at(const ls_config *config, size_t index);
const ls_config_value *ls_config_find(const ls_config *config, const char *path); /* NULL if there is none */
size_t ls_config_dropped_count(const ls_config *config);
const ls_config_drop *ls_config_dropped(const ls_config *config, size_t index);

/* The model of a section; NULL if the machine has no such section. */
const ls_block_type *ls_config_model(const ls_config *config, const char *section);

/* Fills a spec struct of spec_bytes from the values of a section, or of the machine itself (section NULL).
 * Texts and lists in it belong to the configuration. */
ls_status ls_config_spec(const ls_config *config, const char *section, void *spec, size_t spec_bytes,
                         ls_error *err);

/* The canonical text: `machine` and one line per value. It is a valid platform file with the same values. */
const char *ls_config_yaml(const ls_config *config);
/* The hash of the canonical text: of values only, not of where they come from or how they were written. */
ls_hash ls_config_hash(const ls_config *config);

/* "file.yaml:12", "--set" or "default". Returns out. */
const char *ls_origin_text(const ls_origin *origin, char *out, size_t out_bytes);
/* Whether the platform file says of the value that no source gives it: "assumption:" in the comment on its line. */
bool ls_config_assumes(const ls_config_value *value);
/* How many values are such assumptions. */
size_t ls_config_assumption_count(const ls_config *config);
/* Adds a value as it stands in YAML: quoted if the type or the text needs it. */
void ls_config_add_scalar(ls_text *out, const ls_param *param, const char *text);

#endif
