/* layers.c: reads a platform file, its bases and the overrides. Opens files; knows no schema. */
#include "platform/layers.h"

#include "base/file.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define QUOTE_BYTES 80
#define CHAIN_BYTES 360 /* of a message for the names of a cycle */

typedef struct loader {
    ls_arena *arena;
    ls_search search;
    ls_layers *layers;
    const char *identities[LS_LAYERS_LIMIT]; /* per file: its path without links and dots */
    ls_problems *problems;
} loader;

const ls_yaml_entry *ls_layers_find(const ls_layer *file, const char *path)
{
    for (size_t i = 0; i < file->yaml.count; i++)
        if (strcmp(file->yaml.entries[i].path, path) == 0)
            return &file->yaml.entries[i];
    return NULL;
}

const char *ls_layers_text(const ls_layer *file, const char *path, ls_problems *problems)
{
    const ls_yaml_entry *entry = ls_layers_find(file, path);
    if (!entry || entry->broken)
        return NULL;
    if (!entry->list && entry->items[0].text[0])
        return entry->items[0].text;
    ls_place place = file->place;
    place.line = entry->line;
    place.column = entry->column;
    if (entry->list)
        ls_problems_add(problems, &place, LS_ERR_INPUT, "'%s' needs a text, got a list", path);
    else
        ls_problems_add(problems, &place, LS_ERR_INPUT, "'%s' has no value", path);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- bases */

static const char *identity_of(loader *l, const char *path)
{
    char *real = realpath(path, NULL);
    const char *identity = ls_arena_strdup(l->arena, real ? real : path);
    free(real);
    if (!identity)
        ls_problems_no_memory(l->problems);
    return identity;
}

/* "a.yaml -> b.yaml -> a.yaml", with the directories if they fit. */
static void add_chain(ls_text *text, const loader *l, const char *last, bool with_dirs)
{
    for (size_t i = 0; i < l->layers->file_count; i++) {
        const char *file = l->layers->files[i].place.file;
        ls_text_printf(text, "%s -> ", with_dirs ? file : ls_path_base(file));
    }
    ls_text_add(text, with_dirs ? last : ls_path_base(last));
}

static void report_cycle(loader *l, const ls_place *place, const char *path)
{
    ls_text chain = { 0 };
    add_chain(&chain, l, path, true);
    if (chain.count > CHAIN_BYTES) {
        ls_text_clear(&chain);
        add_chain(&chain, l, path, false);
    }
    ls_problems_add(l->problems, place, LS_ERR_INPUT, "the bases form a cycle: %s", ls_text_get(&chain));
    ls_text_fini(&chain);
}

/* Finds the file that the last one names as its base. Sets *path to NULL if it names none, and returns false
 * if it cannot be used. */
static bool find_base(loader *l, const char **path, ls_place *place)
{
    const ls_layer *file = &l->layers->files[l->layers->file_count - 1];
    const ls_yaml_entry *entry = ls_layers_find(file, "base");
    *path = NULL;
    if (!entry)
        return true;
    *place = file->place;
    place->line = entry->line;
    place->column = entry->column;
    const char *name = ls_layers_text(file, "base", l->problems);
    if (!name)
        return false;
    place->line = entry->items[0].line;
    place->column = entry->items[0].column;
    ls_error error;
    if (ls_search_find(l->arena, &l->search, name, file->dir, path, &error) != LS_OK) {
        ls_error_at(&error, place->file, place->line, place->column);
        ls_problems_copy(l->problems, place, &error);
        return false;
    }
    const char *identity = identity_of(l, *path);
    for (size_t i = 0; identity && i < l->layers->file_count; i++) {
        if (strcmp(identity, l->identities[i]) == 0) {
            report_cycle(l, place, *path);
            return false;
        }
    }
    if (l->layers->file_count == LS_LAYERS_LIMIT) {
        ls_problems_add(l->problems, place, LS_ERR_INPUT, "a chain of bases has more than %d files",
                        LS_LAYERS_LIMIT);
        return false;
    }
    return identity != NULL;
}

/* ------------------------------------------------------------------------------------------------- files */

/* Reads one more file; from: who names it as base, NULL for the first. */
static bool read_file(loader *l, const char *path, const ls_place *from, const char *text, size_t bytes)
{
    ls_layers *layers = l->layers;
    ls_layer *file = &layers->files[layers->file_count];
    file->place = (ls_place){ .file = path, .rank = (uint32_t)layers->file_count };
    file->dir = ls_path_dir(l->arena, path);
    l->identities[layers->file_count] = identity_of(l, path);
    if (!file->dir || !l->identities[layers->file_count]) {
        ls_problems_no_memory(l->problems);
        return false;
    }
    ls_arena scratch = { 0 };
    ls_error error;
    char *data;
    if (!text) {
        if (ls_file_read(&scratch, path, LS_YAML_FILE_LIMIT, &data, &bytes, &error) != LS_OK) {
            if (from) {
                ls_error_prefix(&error, "base '%s'", path);
                ls_error_at(&error, from->file, from->line, from->column);
            }
            ls_problems_copy(l->problems, from ? from : &file->place, &error);
            ls_arena_fini(&scratch);
            return false;
        }
        text = data;
    }
    ls_yaml_read(l->arena, &file->place, text, bytes, &file->yaml, l->problems);
    ls_arena_fini(&scratch);
    layers->file_count++;
    return true;
}

static bool read_chain(loader *l, const ls_config_request *request)
{
    const char *path = ls_arena_strdup(l->arena, request->platform);
    ls_place place = { .file = NULL };
    ls_error error;
    if (!path) {
        ls_problems_no_memory(l->problems);
        return false;
    }
    if (!request->text &&
        ls_search_find(l->arena, &l->search, request->platform, NULL, &path, &error) != LS_OK) {
        ls_problems_copy(l->problems, &place, &error);
        return false;
    }
    l->layers->is_own = strcmp(path, request->platform) == 0;
    bool complete = read_file(l, path, NULL, request->text, request->text_bytes);
    while (complete) {
        complete = l->layers->files[l->layers->file_count - 1].yaml.complete;
        bool usable = find_base(l, &path, &place);
        if (!path || !usable)
            return complete && usable;
        complete = read_file(l, path, &place, NULL, 0) && complete;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------- --set */

static void read_sets(loader *l, const ls_config_request *request)
{
    ls_layers *layers = l->layers;
    layers->set_place = (ls_place){ .file = "--set", .rank = LS_LAYERS_LIMIT };
    layers->sets = ls_arena_array(l->arena, request->set_count + 1, sizeof *layers->sets);
    if (!layers->sets) {
        ls_problems_no_memory(l->problems);
        return;
    }
    for (size_t i = 0; i < request->set_count; i++) {
        const char *set = request->sets[i], *equals = strchr(set, '=');
        char quoted[QUOTE_BYTES];
        if (!equals || equals == set) {
            ls_problems_add(l->problems, &layers->set_place, LS_ERR_USAGE, "'%s' is not KEY=VALUE",
                            ls_quote(set, strlen(set), quoted, sizeof quoted));
            continue;
        }
        ls_set *out = &layers->sets[layers->set_count];
        out->path = ls_arena_strndup(l->arena, set, (size_t)(equals - set));
        out->text = ls_arena_strdup(l->arena, equals + 1);
        if (!out->path || !out->text) {
            ls_problems_no_memory(l->problems);
            return;
        }
        layers->set_count++;
    }
}

void ls_layers_load(ls_arena *arena, const ls_config_request *request, ls_layers *out, ls_problems *problems)
{
    *out = (ls_layers){ 0 };
    loader l = { .arena = arena, .layers = out, .problems = problems };
    ls_error error;
    if (ls_search_create(arena, request->platform_dirs, request->platform_dir_count, &l.search, &error) !=
        LS_OK) {
        ls_place nowhere = { .file = NULL };
        ls_problems_copy(problems, &nowhere, &error);
        return;
    }
    read_sets(&l, request);
    out->complete = read_chain(&l, request);
}
