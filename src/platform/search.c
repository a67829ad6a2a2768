/* search.c: the directories of platform files. Reads the environment and directories; uses base only. */
#include "platform/search.h"

#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".yaml"

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------- directories */

typedef LS_VEC(const char *) dir_list;

static bool add_dir(dir_list *dirs, const char *dir)
{
    return dir && vec_push(dirs, dir);
}

static bool add_variable(mem_arena *arena, dir_list *dirs)
{
    const char *s = getenv(LS_SEARCH_VARIABLE);
    while (s && *s) {
        size_t length = strcspn(s, ":");
        if (length > 0 && !add_dir(dirs, arena_strndup(arena, s, length)))
            return false;
        s += length + (s[length] == ':');
    }
    return true;
}

ls_status search_create(mem_arena *arena, const char *const *given, size_t given_count, platform_search *out,
                        ls_error *err)
{
    *out = (platform_search){ 0 };
    char *executable_dir, *library_dir;
    ls_status status = path_of_executable(arena, &executable_dir, err);
    if (status == LS_OK)
        status = path_of_library(arena, &library_dir, err);
    if (status != LS_OK)
        return status;
    dir_list dirs = { 0 };
    bool ok = true;
    for (size_t i = 0; i < given_count && ok; i++)
        ok = add_dir(&dirs, arena_strdup(arena, given[i]));
    ok = ok && add_variable(arena, &dirs);
    /* A library is in lib, or in a folder of lib that is named after the machine; the executable belongs to
     * another program. */
    if (library_dir) {
        ok = ok && add_dir(&dirs, path_join(arena, library_dir, "../share/lockstep/platforms"));
        ok = ok && add_dir(&dirs, path_join(arena, library_dir, "../../share/lockstep/platforms"));
        ok = ok && add_dir(&dirs, path_join(arena, library_dir, "../platforms"));
    } else {
        ok = ok && add_dir(&dirs, path_join(arena, executable_dir, "../share/lockstep/platforms"));
        ok = ok && add_dir(&dirs, path_join(arena, executable_dir, "../platforms"));
    }
    ok = ok && add_dir(&dirs, "platforms");
    const char **copy = ok ? arena_array(arena, dirs.count, sizeof *copy) : NULL;
    if (copy) {
        memcpy(copy, dirs.at, dirs.count * sizeof *copy);
        *out = (platform_search){ .dirs = copy, .count = dirs.count };
    }
    vec_fini(&dirs);
    return copy ? LS_OK : no_memory(err);
}

/* -------------------------------------------------------------------------------------------------- list */

typedef LS_VEC(search_file) file_list;

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const search_file *)a)->name, ((const search_file *)b)->name);
}

static bool has_name(const file_list *files, size_t count, const char *name, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(files->at[i].name, name, bytes) == 0 && files->at[i].name[bytes] == '\0')
            return true;
    return false;
}

/* Adds what the directories before this one do not have. */
static bool list_dir(mem_arena *arena, const char *dir, file_list *files)
{
    DIR *stream = opendir(dir);
    if (!stream)
        return errno != ENOMEM;
    bool ok = true;
    size_t before = files->count;
    const struct dirent *entry;
    while (ok && (entry = readdir(stream)) != NULL) {
        size_t bytes = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || bytes <= strlen(SUFFIX) || !ends_with(entry->d_name, SUFFIX))
            continue;
        bytes -= strlen(SUFFIX);
        if (has_name(files, before, entry->d_name, bytes))
            continue;
        search_file file = { .name = arena_strndup(arena, entry->d_name, bytes),
                             .path = path_join(arena, dir, entry->d_name) };
        ok = file.name && file.path && vec_push(files, file);
    }
    closedir(stream);
    return ok;
}

ls_status search_list(mem_arena *arena, const platform_search *search, search_file **files, size_t *count,
                      ls_error *err)
{
    file_list list = { 0 };
    bool ok = true;
    *files = NULL;
    *count = 0;
    for (size_t i = 0; i < search->count && ok; i++)
        ok = list_dir(arena, search->dirs[i], &list);
    if (ok)
        *files = arena_array(arena, list.count + 1, sizeof **files);
    if (*files && list.count > 0) {
        memcpy(*files, list.at, list.count * sizeof **files);
        *count = list.count;
        qsort(*files, *count, sizeof **files, compare_files);
    }
    vec_fini(&list);
    return *files ? LS_OK : no_memory(err);
}

/* -------------------------------------------------------------------------------------------------- find */

static const char *file_name_at(const void *self, size_t i)
{
    return ((const search_file *)self)[i].name;
}

static ls_status fail_unknown(mem_arena *arena, const platform_search *search, const char *name, ls_error *err)
{
    char quoted[80];
    search_file *files;
    size_t count;
    ls_status status = search_list(arena, search, &files, &count, err);
    if (status != LS_OK)
        return status;
    text_buffer dirs = { 0 };
    for (size_t i = 0; i < search->count; i++)
        text_printf(&dirs, "%s%s", i > 0 ? ", " : "", search->dirs[i]);
    ls_fail(err, LS_ERR_INPUT, "there is no platform '%s' (looked in %s)",
            quote_text(name, strlen(name), quoted, sizeof quoted), text_get(&dirs));
    text_fini(&dirs);
    return ls_error_nearest(err, nearest_name(name, count, file_name_at, files));
}

ls_status search_find(mem_arena *arena, const platform_search *search, const char *name, const char *beside,
                      const char **path, ls_error *err)
{
    *path = NULL;
    if (name[0] == '\0')
        return ls_fail(err, LS_ERR_INPUT, "the name of a platform is empty");
    if (strchr(name, '/') || ends_with(name, SUFFIX)) {
        bool here = !beside || strcmp(beside, ".") == 0;
        *path = here ? arena_strdup(arena, name) : path_join(arena, beside, name);
        return *path ? LS_OK : no_memory(err);
    }
    const char *file = arena_printf(arena, "%s%s", name, SUFFIX);
    if (!file)
        return no_memory(err);
    for (size_t i = beside ? 0 : 1; i <= search->count; i++) {
        const char *dir = i == 0 ? beside : search->dirs[i - 1];
        const char *candidate = strcmp(dir, ".") == 0 ? file : path_join(arena, dir, file);
        if (!candidate)
            return no_memory(err);
        if (file_exists(candidate)) {
            *path = candidate;
            return LS_OK;
        }
    }
    return fail_unknown(arena, search, name, err);
}
