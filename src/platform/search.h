/* search.h: where platform files are found.
 *
 * A name that contains '/' or ends in ".yaml" is a path. Any other NAME is NAME.yaml in the first directory
 * that has it. The order is: directories of --platform-dir, then of $LOCKSTEP_PLATFORM_PATH (separated by
 * colons). Then share/lockstep/platforms and platforms beside the directory of the executable, and last
 * ./platforms. The `base` of a file is looked for beside that file first; a base that is a path counts from
 * there too. */
#ifndef PLATFORM_SEARCH_H
#define PLATFORM_SEARCH_H

#include "base/arena.h"
#include "lockstep/status.h"

#define LS_SEARCH_VARIABLE "LOCKSTEP_PLATFORM_PATH"

typedef struct platform_search {
    const char *const *dirs; /* in the order in which they are tried */
    size_t count;
} platform_search;

typedef struct search_file {
    const char *name; /* without ".yaml" */
    const char *path;
} search_file;

/* Puts the directories together; those given come first. */
ls_status search_create(mem_arena *arena, const char *const *given, size_t given_count, platform_search *out,
                        ls_error *err);
/* The path of a platform. beside: the directory of the file whose `base` this is, NULL for none. A name that
 * no directory has is an error with the nearest one; a path is not opened. */
ls_status search_find(mem_arena *arena, const platform_search *search, const char *name, const char *beside,
                      const char **path, ls_error *err);
/* Every platform that a plain name finds, sorted by name. Directories that do not exist are skipped. */
ls_status search_list(mem_arena *arena, const platform_search *search, search_file **files, size_t *count,
                      ls_error *err);

#endif
