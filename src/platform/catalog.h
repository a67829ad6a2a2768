/* catalog.h: what there is to choose from: the platforms of the search path, and the keys of all machines. */
#ifndef PLATFORM_CATALOG_H
#define PLATFORM_CATALOG_H

#include "platform/schema.h"
#include "platform/search.h"

typedef struct ls_platform {
    const char *name, *path;
    const char *title;   /* "" if the file has none */
    const char *machine; /* its own or its bases'; "" for a family file that names none */
    ls_error error;      /* why it cannot be read; status LS_OK if it can (its keys are not checked) */
} ls_platform;

/* All platforms that a plain name finds, sorted by name; everything lives in the arena. */
ls_status ls_catalog_platforms(ls_arena *arena, const char *const *platform_dirs, size_t platform_dir_count,
                               ls_platform **out, size_t *count, ls_error *err);

/* The schemas of all registered machines. A machine whose schema cannot be made (a plug-in is not loaded) is
 * left out. */
ls_status ls_catalog_schemas(ls_arena *arena, ls_schema **out, size_t *count, ls_error *err);
/* The nearest key of any of them, NULL if none is near. */
const char *ls_catalog_nearest_key(const ls_schema *schemas, size_t count, const char *path);

#endif
