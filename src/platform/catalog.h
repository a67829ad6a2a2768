/* catalog.h: lists for users: the platforms of the search path, and the keys of all machines. */
#ifndef PLATFORM_CATALOG_H
#define PLATFORM_CATALOG_H

#include "platform/schema.h"
#include "platform/search.h"

typedef struct platform_entry {
    const char *name, *path;
    const char *title;   /* "" if the file has none */
    const char *machine; /* its own or its bases'; "" for a family file that names none */
    ls_error error;      /* why it cannot be read; status LS_OK if it can (its keys are not checked) */
} platform_entry;

/* All platforms that a plain name finds, sorted by name; everything lives in the arena. */
ls_status catalog_platforms(mem_arena *arena, const char *const *platform_dirs, size_t platform_dir_count,
                            platform_entry **out, size_t *count, ls_error *err);

/* The schemas of all registered machines. A machine whose schema cannot be made (a plug-in is not loaded) is
 * left out. */
ls_status catalog_schemas(mem_arena *arena, machine_schema **out, size_t *count, ls_error *err);
/* The nearest key of any of them, NULL if none is near. */
const char *catalog_nearest_key(const machine_schema *schemas, size_t count, const char *path);

#endif
