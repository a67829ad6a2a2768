/* schema.h: which keys a platform file of one kind of machine may have.
 *
 * A schema holds the machine's own parameters, `<section>.model` for each section, and the parameters of
 * every model that can stand in the section. Which of the latter are in force depends on the models
 * chosen. */
#ifndef PLATFORM_SCHEMA_H
#define PLATFORM_SCHEMA_H

#include "base/arena.h"
#include "lockstep/block.h"

typedef struct ls_key {
    const char *path; /* "dram.tRCD" */
    const ls_param *param;
    const ls_section *section; /* NULL for a parameter of the machine itself */
    const ls_block_type
        *model; /* whose parameter it is; NULL for the machine's own and for `<section>.model` */
    const struct ls_key *same; /* the next model's parameter of this path, NULL if there is none */
} ls_key;

typedef struct ls_schema {
    const ls_machine_type *machine;
    const ls_key *keys; /* the machine's, then section by section: model, then each model's by name */
    size_t count;
    const ls_key **sorted; /* by path; of equal paths the first one */
    size_t sorted_count;
} ls_schema;

/* Keys of a file that are no parameters. */
extern const char *const ls_schema_reserved[]; /* machine, base, title, source; NULL-terminated */
#define LS_SCHEMA_RESERVED_COUNT 4

/* Everything lives in the arena. Refuses tables that contradict themselves: LS_ERR_INTERNAL, or
 * LS_ERR_UNSUPPORTED for a section whose slot has no model. */
ls_status ls_schema_create(ls_arena *arena, const ls_machine_type *machine, ls_schema *out, ls_error *err);

/* The first key of that path (others: key->same), NULL if there is none. */
const ls_key *ls_schema_find(const ls_schema *schema, const char *path);
/* True if some key starts with "path.". */
bool ls_schema_is_section(const ls_schema *schema, const char *path);
static inline bool ls_key_is_model(const ls_key *key)
{
    return key->section && !key->model;
}

#endif
