/* layers.c: reads a platform file, its bases and the overrides. Opens files; knows no schema. */
#include "platform/layers.h"

#include "base/file.h"
#include "base/text.h"
#include "platform/shipped.h"

#include <stdlib.h>
#include <string.h>

#define QUOTE_BYTES 80
#define CHAIN_BYTES 360 /* of a message for the names of a cycle */

typedef struct loader {
    mem_arena *arena;
    platform_search search;
    config_layers *layers;
    const char *identities[LS_LAYERS_LIMIT]; /* per file: its path without links and dots */
    config_problems *problems;
} loader;

const yaml_entry *layers_find(const config_layer *file, const char *path)
{
    for (size_t i = 0; i < file->yaml.count; i++) {
        const yaml_entry *entry = &file->yaml.entries[i];
        if (entry->path[0] == path[0] && strcmp(entry->path, path) == 0 && entry->element == 0)
            return entry;
    }
    return NULL;
}

const char *layers_text(const config_layer *file, const char *path, config_problems *problems)
{
    const yaml_entry *entry = layers_find(file, path);
    if (!entry || entry->broken)
        return NULL;
    if (!entry->list && entry->items[0].text[0])
        return entry->items[0].text;
    source_place place = file->place;
    place.line = entry->line;
    place.column = entry->column;
    if (entry->list)
        problems_add(problems, &place, LS_ERR_INPUT, "'%s' needs a text, got a list", path);
    else
        problems_add(problems, &place, LS_ERR_INPUT, "'%s' has no value", path);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- bases */

static const char *identity_of(loader *l, const char *path)
{
    char *real = realpath(path, NULL);
    const char *identity = arena_strdup(l->arena, real ? real : path);
    free(real);
    if (!identity)
        problems_no_memory(l->problems);
    return identity;
}

/* "a.yaml -> b.yaml -> a.yaml", with the directories if they fit. */
static void add_chain(text_buffer *text, const loader *l, const char *last, bool with_dirs)
{
    for (size_t i = 0; i < l->layers->file_count; i++) {
        const char *file = l->layers->files[i].place.file;
        text_printf(text, "%s -> ", with_dirs ? file : path_base(file));
    }
    text_add(text, with_dirs ? last : path_base(last));
}

static void report_cycle(loader *l, const source_place *place, const char *path)
{
    text_buffer chain = { 0 };
    add_chain(&chain, l, path, true);
    if (chain.count > CHAIN_BYTES) {
        text_clear(&chain);
        add_chain(&chain, l, path, false);
    }
    problems_add(l->problems, place, LS_ERR_INPUT, "the bases form a cycle: %s", text_get(&chain));
    text_fini(&chain);
}

/* Finds the file that the last one names as its base. Sets *path to NULL if it names none, and returns false
 * if it cannot be used. */
static bool find_base(loader *l, const char **path, source_place *place)
{
    const config_layer *file = &l->layers->files[l->layers->file_count - 1];
    const yaml_entry *entry = layers_find(file, "base");
    *path = NULL;
    if (!entry)
        return true;
    *place = file->place;
    place->line = entry->line;
    place->column = entry->column;
    const char *name = layers_text(file, "base", l->problems);
    if (!name)
        return false;
    place->line = entry->items[0].line;
    place->column = entry->items[0].column;
    ls_error error;
    if (search_find(l->arena, &l->search, name, file->dir, path, &error) != LS_OK) {
        ls_error_at(&error, place->file, place->line, place->column);
        problems_copy(l->problems, place, &error);
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
        problems_add(l->problems, place, LS_ERR_INPUT, "a chain of bases has more than %d files",
                     LS_LAYERS_LIMIT);
        return false;
    }
    return identity != NULL;
}

/* ------------------------------------------------------------------------------------------------- files */

/* Whether the next file is the platform of a GPU of a system. */
static bool is_part(const loader *l)
{
    return l->layers->label && l->layers->file_count == l->layers->own_file;
}

/* Reads one more file; from: where it is named as a base or as the platform of a GPU, NULL for the first. */
static bool read_file(loader *l, const char *path, const source_place *from, const char *text, size_t bytes)
{
    config_layers *layers = l->layers;
    config_layer *file = &layers->files[layers->file_count];
    file->place = (source_place){ .file = path, .rank = (uint32_t)layers->file_count };
    file->dir = path_dir(l->arena, path);
    l->identities[layers->file_count] = identity_of(l, path);
    if (!file->dir || !l->identities[layers->file_count]) {
        problems_no_memory(l->problems);
        return false;
    }
    mem_arena scratch = { 0 };
    ls_error error;
    char *data;
    if (!text) {
        if (file_read(&scratch, path, LS_YAML_FILE_LIMIT, &data, &bytes, &error) != LS_OK) {
            if (from) {
                ls_error_prefix(&error, "%s '%s'", is_part(l) ? "platform" : "base", path);
                ls_error_at(&error, from->file, from->line, from->column);
            }
            problems_copy(l->problems, from ? from : &file->place, &error);
            arena_fini(&scratch);
            return false;
        }
        text = data;
    }
    if (!shipped_read(l->arena, text, bytes, &file->yaml, l->problems))
        yaml_read(l->arena, &file->place, text, bytes, &file->yaml, l->problems);
    arena_fini(&scratch);
    layers->file_count++;
    return true;
}

/* After the last file: its bases. Whether all of them, and the files before, were read to their ends. */
static bool read_bases(loader *l, bool complete)
{
    const char *path;
    source_place place = { .file = NULL };
    while (complete) {
        complete = l->layers->files[l->layers->file_count - 1].yaml.complete;
        bool usable = find_base(l, &path, &place);
        if (!path || !usable)
            return complete && usable;
        complete = read_file(l, path, &place, NULL, 0) && complete;
    }
    return false;
}

static bool read_chain(loader *l, const config_request *request)
{
    const char *path = arena_strdup(l->arena, request->platform);
    ls_error error;
    if (!path) {
        problems_no_memory(l->problems);
        return false;
    }
    if (!request->text && search_find(l->arena, &l->search, request->platform, NULL, &path, &error) != LS_OK) {
        problems_copy(l->problems, &(source_place){ .file = NULL }, &error);
        return false;
    }
    l->layers->is_own = strcmp(path, request->platform) == 0;
    return read_bases(l, read_file(l, path, NULL, request->text, request->text_bytes));
}

/* A system that no file describes: some GPUs of one platform. Its keys have no place. */
static bool make_system(loader *l, const config_request *request)
{
    yaml_entry *entries = arena_array(l->arena, 4, sizeof *entries);
    yaml_item *items = arena_array(l->arena, 3, sizeof *items);
    const char *count = arena_printf(l->arena, "%u", request->gpus);
    const char *name = arena_strdup(l->arena, request->platform);
    if (!entries || !items || !count || !name) {
        problems_no_memory(l->problems);
        return false;
    }
    const char *const texts[][2] = { { "machine", "system" },
                                     { "platform", request->platform },
                                     { "count", count } };
    for (size_t i = 0; i < LS_COUNT_OF(texts); i++) {
        items[i] = (yaml_item){ .text = texts[i][1] };
        entries[i] = (yaml_entry){
            .path = texts[i][0], .element = i > 0, .items = &items[i], .item_count = 1, .comment = ""
        };
    }
    entries[3] = (yaml_entry){ .path = LS_YAML_PARTS, .items = items, .list = true, .comment = "" };
    l->layers->files[0] = (config_layer){ .place = { .file = name },
                                          .yaml = { .entries = entries, .count = 4, .complete = true } };
    l->layers->file_count = 1;
    return true;
}

/* ------------------------------------------------------------------------------------------------- --set */

static void read_sets(loader *l, const config_request *request)
{
    config_layers *layers = l->layers;
    layers->set_place = (source_place){ .file = "--set", .rank = LS_LAYERS_LIMIT };
    layers->sets = arena_array(l->arena, request->set_count + 1, sizeof *layers->sets);
    if (!layers->sets) {
        problems_no_memory(l->problems);
        return;
    }
    for (size_t i = 0; i < request->set_count; i++) {
        const char *set = request->sets[i], *equals = strchr(set, '=');
        char quoted[QUOTE_BYTES];
        if (!equals || equals == set) {
            problems_add(l->problems, &layers->set_place, LS_ERR_USAGE, "'%s' is not KEY=VALUE",
                         quote_text(set, strlen(set), quoted, sizeof quoted));
            continue;
        }
        config_override *out = &layers->sets[layers->set_count];
        out->path = arena_strndup(l->arena, set, (size_t)(equals - set));
        out->text = arena_strdup(l->arena, equals + 1);
        if (!out->path || !out->text) {
            problems_no_memory(l->problems);
            return;
        }
        layers->set_count++;
    }
}

void layers_load(mem_arena *arena, const config_request *request, config_layers *out,
                 config_problems *problems)
{
    *out = (config_layers){ 0 };
    loader l = { .arena = arena, .layers = out, .problems = problems };
    ls_error error;
    if (search_create(arena, request->platform_dirs, request->platform_dir_count, &l.search, &error) !=
        LS_OK) {
        source_place nowhere = { .file = NULL };
        problems_copy(problems, &nowhere, &error);
        return;
    }
    read_sets(&l, request);
    out->complete = request->gpus > 0 ? make_system(&l, request) : read_chain(&l, request);
}

void layers_load_part(mem_arena *arena, const config_request *request, const char *name,
                      const source_place *from, const char *beside, config_layers *out,
                      config_problems *problems)
{
    loader l = { .arena = arena, .layers = out, .problems = problems };
    ls_error error;
    const char *path;
    out->own_file = name ? out->file_count : 0;
    out->complete = !name;
    if (!name)
        return;
    for (size_t i = 0; i < out->file_count; i++)
        l.identities[i] = "";
    ls_status status =
        search_create(arena, request->platform_dirs, request->platform_dir_count, &l.search, &error);
    if (status == LS_OK)
        status = search_find(arena, &l.search, name, beside, &path, &error);
    if (status != LS_OK) {
        if (from->line > 0)
            ls_error_at(&error, from->file, from->line, from->column);
        problems_copy(problems, from, &error);
        return;
    }
    if (out->file_count == LS_LAYERS_LIMIT)
        problems_add(problems, from, LS_ERR_INPUT, "a chain of bases has more than %d files", LS_LAYERS_LIMIT);
    else
        out->complete = read_bases(&l, read_file(&l, path, from->line > 0 ? from : NULL, NULL, 0));
}
