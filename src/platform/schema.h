/* schema.h: which keys a platform file of one kind of machine may have.
 *
 * A schema holds the machine's own parameters, `<section>.model` for each section, and the parameters of
 * every model that can stand in the section. Which of the latter are in force depends on the models
 * chosen. */
#ifndef PLATFORM_SCHEMA_H
#define PLATFORM_SCHEMA_H

#include "base/arena.h"
#include "lockstep/block.h"
#include "platform/value.h"

typedef struct config_key {
    const char *path; /* "dram.tRCD" */
    const ls_param *param;
    const ls_section *section; /* NULL for a parameter of the machine itself */
    const ls_block_type
        *model; /* owner of the parameter; NULL for the machine's own and for `<section>.model` */
    key_value default_value;
    const char *default_text;      /* in its one form; NULL: the key has no default */
    const struct config_key *same; /* the next model's parameter of this path, NULL if there is none */
} config_key;

typedef struct machine_schema {
    const ls_machine_type *machine;
    const config_key *keys; /* the machine's, then section by section: model, then each model's by name */
    size_t count;
    const config_key **sorted; /* by path; of equal paths the first one */
    size_t sorted_count;
} machine_schema;

/* Keys of a file that are no parameters. */
extern const char *const schema_reserved[]; /* machine, base, title, source; NULL-terminated */
#define LS_SCHEMA_RESERVED_COUNT 4
bool schema_is_reserved(const char *path);

/* Everything lives in the arena. Refuses tables that contradict themselves: LS_ERR_INTERNAL, or
 * LS_ERR_UNSUPPORTED for a section whose slot has no model. */
ls_status schema_create(mem_arena *arena, const ls_machine_type *machine, machine_schema *out, ls_error *err);

/* The first key of that path (others: key->same), NULL if there is none. */
const config_key *schema_find(const machine_schema *schema, const char *path);
/* True if some key starts with "path.". */
bool schema_is_section(const machine_schema *schema, const char *path);
static inline bool key_is_model(const config_key *key)
{
    return key->section && !key->model;
}

#endif
