/* system.c: reads the list of GPUs of a system, sorts out which setting is for which GPU, and loads each GPU with the
 * settings that are its own. Opens files through layers.c. */
#include "platform/system.h"

#include "base/vec.h"
#include "platform/config_impl.h"

#include <stdlib.h>
#include <string.h>

#define QUOTE_BYTES 80

/* By how much a scope counts inside a layer. */
enum { FOR_ALL = 1, FOR_SOME, FOR_ONE };

/* A setting of the system for some of its GPUs. */
typedef struct scoped {
    key_scope scope;
    int rank;             /* FOR_ALL, ... */
    const char *path;     /* of the GPU's key */
    size_t first, count;  /* GPUs, unless it has a group */
    const char *group;    /* the name of some elements */
    uint32_t element;     /* 0, or the only one whose GPUs it is for */
    yaml_entry *entry;    /* where it stands, or */
    config_override *set; /* that */
    size_t file;
} scoped;

/* An element of the list. */
typedef struct element {
    const yaml_entry *platform; /* NULL: it has a machine and all keys itself */
    const char *name;
    uint64_t count;
    uint32_t number; /* from 1 */
    source_place place;
} element;

typedef struct loader {
    mem_arena *arena;
    const config_request *request;
    config_layers *layers;
    config_problems *problems;
    system_parts *parts;
    size_t list_file; /* the file that has the list */
    LS_VEC(element) elements;
    LS_VEC(scoped *) settings; /* in the order of files and of --set */
    size_t gpu_count;
} loader;

/* ----------------------------------------------------------------------------------------------- elements */

static source_place place_of(const loader *l, size_t file, const yaml_entry *entry)
{
    source_place place = l->layers->files[file].place;
    place.line = entry->item_count > 0 && !entry->list ? entry->items[0].line : entry->line;
    place.column = entry->item_count > 0 && !entry->list ? entry->items[0].column : entry->column;
    return place;
}

/* Keys of an element that are not keys of its platform. */
static const ls_param count_param = {
    .name = "count", .type = LS_PARAM_TYPE_UINT, .min = 1, .max = LS_SYSTEM_LIMIT, .unit = "GPUs", .help = ""
};
static const ls_param name_param = {
    .name = "name", .type = LS_PARAM_TYPE_TEXT, .min = 1, .max = 0, .unit = "", .help = ""
};

/* The number of "gpu12" or of "gpu3-12"; 0: it is neither. */
static size_t read_gpu(const char *head, size_t bytes, size_t *first, size_t *last)
{
    const char *at = head + 3, *end = head + bytes;
    size_t *const to[] = { first, last }, count = bytes > 3 && strncmp(head, "gpu", 3) == 0 ? 2 : 0;
    for (size_t i = 0; i < count; i++) {
        const char *from = at;
        for (*to[i] = 0; at < end && *at >= '0' && *at <= '9' && at - from < 5; at++)
            *to[i] = *to[i] * 10 + (size_t)(*at - '0');
        if (at == from || (from[0] == '0' && at > from + 1))
            return 0;
        if (at == end) {
            *last = *to[i];
            return i + 1;
        }
        if (i == 0 && *at++ != '-')
            return 0;
    }
    return 0;
}

static bool is_name(const char *name)
{
    static const char *const others[] = { "gpus", "host", "fabric", "null", NULL };
    size_t bytes = strlen(name), first, last;
    for (size_t i = 0; others[i]; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return name[0] >= 'a' && name[0] <= 'z' && bytes < LS_SCOPE_BYTES / 2 && !schema_is_reserved(name) &&
           read_gpu(name, bytes, &first, &last) == 0 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == bytes;
}

/* Reads `count`, `name`, `platform` or `machine`; false: it is a key of the platform. */
static bool read_own_key(loader *l, const yaml_entry *entry, element *e, bool *has_machine)
{
    source_place place = place_of(l, l->list_file, entry);
    bool is_count = strcmp(entry->path, "count") == 0, is_called = strcmp(entry->path, "name") == 0;
    ls_error error;
    key_value value;
    const char *canonical;
    size_t bad;
    if (entry->broken)
        return true; /* reported */
    if (is_count || is_called) {
        const ls_param *param = is_count ? &count_param : &name_param;
        if (value_read(l->arena, param, entry->path, entry, &value, &canonical, &bad, &error) != LS_OK) {
            ls_error_at(&error, place.file, place.line, place.column);
            problems_copy(l->problems, &place, &error);
        } else if (is_count) {
            e->count = value.uint;
        } else if (is_name(value.text)) {
            e->name = value.text;
        } else {
            char quoted[QUOTE_BYTES];
            problems_add(
                l->problems, &place, LS_ERR_INPUT,
                "'%s' is not a name for GPUs: it needs a lower-case letter, then letters, digits, '_' or "
                "'-', and no name of another part",
                quote_text(value.text, strlen(value.text), quoted, sizeof quoted));
        }
        return true;
    }
    if (strcmp(entry->path, "platform") == 0) {
        if (entry->list || entry->items[0].text[0] == '\0')
            problems_add(l->problems, &place, LS_ERR_INPUT, "'platform' needs the name of a platform");
        else
            e->platform = entry;
        return true;
    }
    *has_machine |= strcmp(entry->path, "machine") == 0;
    if (!schema_is_reserved(entry->path) || strcmp(entry->path, "machine") == 0)
        return false;
    ls_error *problem =
        problems_add(l->problems, &place, LS_ERR_INPUT, "'%s' is not a key of a GPU in a system", entry->path);
    if (problem)
        ls_error_nearest(problem, strcmp(entry->path, "base") == 0 ? "platform" : "name");
    return true;
}

static scoped *add_scoped(loader *l, const scoped *given)
{
    scoped *s = arena_alloc(l->arena, sizeof *s);
    if (!s || !vec_push(&l->settings, s)) {
        problems_no_memory(l->problems);
        return NULL;
    }
    *s = *given;
    return s;
}

static void read_element(loader *l, uint32_t number)
{
    const config_layer *file = &l->layers->files[l->list_file];
    element e = { .name = "", .count = 1, .number = number };
    bool has_machine = false, is_there = false;
    size_t first = l->settings.count, problems = l->problems->count + l->problems->lost;
    for (size_t i = 0; i < file->yaml.count; i++) {
        yaml_entry *entry = (yaml_entry *)(uintptr_t)&file->yaml.entries[i];
        if (entry->element != number)
            continue;
        if (!is_there)
            e.place = place_of(l, l->list_file, entry);
        is_there = true;
        if (!read_own_key(l, entry, &e, &has_machine))
            add_scoped(l, &(scoped){ .scope.name = "",
                                     .rank = FOR_SOME,
                                     .path = entry->path,
                                     .element = number,
                                     .entry = entry,
                                     .file = l->list_file });
    }
    if (!is_there || problems != l->problems->count + l->problems->lost)
        return; /* reported */
    for (size_t i = first; i < l->settings.count; i++)
        l->settings.at[i]->scope.covers = e.count;
    if (!e.platform && !has_machine)
        problems_add(l->problems, &e.place, LS_ERR_INPUT, "an element of 'gpus' names no platform");
    else if (e.platform && has_machine)
        problems_add(l->problems, &e.place, LS_ERR_INPUT,
                     "an element of 'gpus' has a 'platform' or a 'machine', not both");
    else if (!vec_push(&l->elements, e))
        problems_no_memory(l->problems);
    l->gpu_count += e.count;
}

/* The nearest file with a list has all GPUs. */
static bool read_list(loader *l)
{
    const config_layers *layers = l->layers;
    const yaml_entry *list = NULL;
    source_place place = layers->files[0].place;
    while (l->list_file < layers->file_count && !list) {
        list = layers_find(&layers->files[l->list_file], LS_YAML_PARTS);
        l->list_file += !list;
    }
    if (!list) {
        place.rank = LS_LAYERS_LIMIT + 1;
        problems_add(l->problems, &place, LS_ERR_INPUT,
                     "required key 'gpus' is missing: the list of GPUs, as in [{platform: r9nano, count: 2}]");
        return false;
    }
    if (list->broken)
        return false;
    place = place_of(l, l->list_file, list);
    const yaml_document *yaml = &layers->files[l->list_file].yaml;
    uint32_t count = 0;
    for (size_t i = 0; i < yaml->count; i++)
        count = yaml->entries[i].element > count ? yaml->entries[i].element : count;
    size_t problems = l->problems->count + l->problems->lost;
    for (uint32_t i = 1; i <= count; i++)
        read_element(l, i);
    if (problems != l->problems->count + l->problems->lost)
        return false;
    if (!list->list)
        problems_add(l->problems, &place, LS_ERR_INPUT, "'gpus' needs a list of GPUs, as in [r9nano, r9nano]");
    else if (l->gpu_count == 0)
        problems_add(l->problems, &place, LS_ERR_INPUT, "'gpus' is empty: a system has at least one GPU");
    else if (l->gpu_count > LS_SYSTEM_LIMIT)
        problems_add(l->problems, &place, LS_ERR_INPUT, "'gpus' has %zu GPUs; a system has at most %d",
                     l->gpu_count, LS_SYSTEM_LIMIT);
    return problems == l->problems->count + l->problems->lost;
}

/* ------------------------------------------------------------------------------------------------- scopes */

static void fail_at(loader *l, const source_place *place, ls_error *error)
{
    ls_error_at(error, place->file, place->line, place->column);
    problems_copy(l->problems, place, error);
}

/* Fills the GPUs of a scope. False: it is no scope of this system, and error says why if it looks like one. */
static bool read_scope(const loader *l, const char *head, size_t bytes, scoped *s, ls_error *error)
{
    size_t first, last;
    ls_error_clear(error);
    s->scope.name = arena_strndup(l->arena, head, bytes);
    if (!s->scope.name) {
        problems_no_memory(l->problems);
        return false;
    }
    if (strcmp(s->scope.name, LS_YAML_PARTS) == 0) {
        s->rank = FOR_ALL;
        s->count = s->scope.covers = l->gpu_count;
        return true;
    }
    if (read_gpu(head, bytes, &first, &last)) {
        bool is_there = first <= last && last < l->gpu_count;
        s->first = first;
        s->count = s->scope.covers = is_there ? last - first + 1 : 0;
        s->rank = s->count == 1 ? FOR_ONE : FOR_SOME;
        if (!is_there && first > last)
            ls_fail(error, LS_ERR_INPUT, "'%s' is a range of no GPUs", s->scope.name);
        else if (!is_there)
            ls_fail(error, LS_ERR_INPUT, "there is no '%s': the system has %zu GPU%s, gpu0%s%.0zu",
                    s->scope.name, l->gpu_count, l->gpu_count == 1 ? "" : "s",
                    l->gpu_count == 1 ? "" : " to gpu", l->gpu_count - 1);
        return is_there;
    }
    for (size_t i = 0; i < l->elements.count; i++)
        if (strcmp(l->elements.at[i].name, s->scope.name) == 0) {
            s->group = l->elements.at[i].name;
            s->rank = FOR_SOME;
            s->scope.covers += l->elements.at[i].count;
        }
    return s->group != NULL;
}

/* Notes a setting that is for GPUs; NULL: it is not, or it is wrong. */
static scoped *note(loader *l, const char *path, const source_place *place, scoped *s, bool *is_wrong)
{
    ls_error error;
    const char *dot = strchr(path, '.');
    size_t bytes = dot ? (size_t)(dot - path) : strlen(path);
    *is_wrong = true;
    if (!read_scope(l, path, bytes, s, &error)) {
        *is_wrong = error.status != LS_OK;
        if (*is_wrong)
            fail_at(l, place, &error);
        return NULL;
    }
    s->path = dot ? dot + 1 : "";
    if (dot && !schema_is_reserved(s->path))
        return add_scoped(l, s);
    char quoted[QUOTE_BYTES];
    quote_text(path, strlen(path), quoted, sizeof quoted);
    if (dot)
        ls_fail(&error, LS_ERR_INPUT, "'%s' is not a key of a GPU in a system", quoted);
    else if (s->rank == FOR_ALL)
        ls_fail(&error, LS_ERR_INPUT, "'%s' can be set in a platform file only", quoted);
    else
        ls_fail(&error, LS_ERR_INPUT, "'%s' names %s, not a key", quoted,
                s->scope.covers == 1 ? "a GPU" : "GPUs");
    fail_at(l, place, &error);
    return NULL;
}

/* A setting that was reported needs no second look. */
static key_scope wrong_scope = { .name = "" };

static void note_file(loader *l, size_t f)
{
    const config_layer *file = &l->layers->files[f];
    for (size_t i = 0; i < file->yaml.count; i++) {
        yaml_entry *entry = (yaml_entry *)(uintptr_t)&file->yaml.entries[i];
        bool is_list = strcmp(entry->path, LS_YAML_PARTS) == 0, is_wrong = is_list;
        if (entry->element > 0 || schema_is_reserved(entry->path))
            continue;
        source_place place = file->place;
        place.line = entry->line;
        place.column = entry->column;
        scoped *s =
            is_list ? NULL : note(l, entry->path, &place, &(scoped){ .entry = entry, .file = f }, &is_wrong);
        entry->scope = s ? &s->scope : is_wrong ? &wrong_scope : NULL;
    }
}

static void note_sets(loader *l)
{
    config_layers *layers = l->layers;
    for (size_t i = 0; i < layers->set_count; i++) {
        config_override *set = &layers->sets[i];
        bool is_wrong = true;
        scoped *s = NULL;
        if (i < l->request->general_count)
            s = add_scoped(l, &(scoped){ .scope = { .name = LS_YAML_PARTS, .covers = l->gpu_count },
                                         .rank = FOR_ALL,
                                         .path = set->path,
                                         .count = l->gpu_count,
                                         .set = set });
        else if (!schema_is_reserved(set->path))
            s = note(l, set->path, &layers->set_place, &(scoped){ .set = set }, &is_wrong);
        else
            is_wrong = false; /* the system says so */
        set->scope = s ? &s->scope : is_wrong ? &wrong_scope : NULL;
    }
}

/* -------------------------------------------------------------------------------------------------- parts */

static bool is_for(const scoped *s, size_t gpu, const element *e)
{
    if (s->element > 0)
        return s->element == e->number;
    if (s->group)
        return strcmp(s->group, e->name) == 0;
    return gpu >= s->first && gpu - s->first < s->count;
}

/* The settings of a GPU in a file (set: in --set), the weakest first. Returns how many. */
static size_t collect(const loader *l, size_t gpu, const element *e, bool set, size_t file, scoped **out)
{
    size_t count = 0;
    for (int rank = FOR_ALL; rank <= FOR_ONE; rank++)
        for (size_t i = 0; i < l->settings.count; i++) {
            scoped *s = l->settings.at[i];
            if (s->rank == rank && (s->set != NULL) == set && (set || s->file == file) && is_for(s, gpu, e))
                out[count++] = s;
        }
    return count;
}

/* The system's settings for a GPU, as if each file of the system were a file of the GPU. */
static bool make_layers(const loader *l, mem_arena *arena, size_t gpu, const element *e, config_layers *out)
{
    const config_layers *system = l->layers;
    scoped **found = arena_array(arena, l->settings.count + 1, sizeof(void *));
    char label[LS_SCOPE_BYTES];
    out->label = arena_strdup(arena, system_scope_text(gpu, 1, SIZE_MAX, label));
    out->sets = arena_array(arena, system->set_count + 1, sizeof *out->sets);
    out->set_place = system->set_place;
    out->is_own = system->is_own;
    if (!found || !out->label || !out->sets)
        return false;
    size_t count = collect(l, gpu, e, true, 0, found);
    for (size_t i = 0; i < count; i++)
        out->sets[out->set_count++] = (config_override){ .path = found[i]->path,
                                                         .text = found[i]->set->text,
                                                         .scope = &found[i]->scope };
    for (size_t f = 0; f < system->file_count; f++) {
        count = collect(l, gpu, e, false, f, found);
        yaml_entry *entries = arena_array(arena, count + 1, sizeof *entries);
        if (!entries)
            return false;
        for (size_t i = 0; i < count; i++) { /* the strongest first: it is the first to be seen */
            const scoped *s = found[count - 1 - i];
            entries[i] = *s->entry;
            entries[i].path = s->path;
            entries[i].element = 0;
            entries[i].scope = (key_scope *)(uintptr_t)&s->scope;
        }
        out->files[out->file_count++] =
            (config_layer){ .place = system->files[f].place,
                            .dir = system->files[f].dir,
                            .yaml = { .entries = entries, .count = count, .complete = true } };
    }
    return true;
}

static bool load_part(loader *l, const element *e)
{
    system_part *part = &l->parts->at[l->parts->count];
    platform_config *config = calloc(1, sizeof *config);
    size_t problems = l->problems->count + l->problems->lost;
    *part = (system_part){ .config = config, .name = e->name };
    l->parts->count += config != NULL;
    if (!config || !make_layers(l, &config->arena, l->parts->count - 1, e, &config->layers)) {
        problems_no_memory(l->problems);
        return false;
    }
    source_place place = e->platform ? place_of(l, l->list_file, e->platform) : e->place;
    layers_load_part(&config->arena, l->request, e->platform ? e->platform->items[0].text : NULL, &place,
                     l->layers->files[l->list_file].dir, &config->layers, l->problems);
    if (!config->layers.complete)
        return false;
    config_finish(config, l->request, l->problems);
    if (config->resolved.machine == &system_machine)
        problems_add(l->problems, &place, LS_ERR_INPUT,
                     "platform '%s' is a system itself: each GPU of a system has a platform of one GPU",
                     config->name ? config->name : "");
    return problems == l->problems->count + l->problems->lost;
}

void system_load(mem_arena *arena, const config_request *request, config_layers *layers, system_parts *out,
                 config_problems *problems)
{
    loader l = { .arena = arena, .request = request, .layers = layers, .problems = problems, .parts = out };
    layers->parts = out;
    if (read_list(&l)) {
        for (size_t f = 0; f < layers->file_count; f++)
            note_file(&l, f);
        note_sets(&l);
        out->at = arena_array(arena, l.gpu_count, sizeof *out->at);
        if (!out->at)
            problems_no_memory(problems);
        for (size_t i = 0; i < l.elements.count && out->at; i++) {
            bool is_good = true; /* equal GPUs have equal problems */
            for (uint64_t k = 0; k < l.elements.at[i].count && is_good; k++)
                is_good = load_part(&l, &l.elements.at[i]);
        }
        bool is_whole = out->count == l.gpu_count;
        for (size_t i = 0; i < l.settings.count && is_whole; i++) {
            const key_scope *scope = &l.settings.at[i]->scope;
            if (!scope->is_taken && scope->refused.status != LS_OK)
                problems_copy(problems, &scope->refused_at, &scope->refused);
        }
    }
    vec_fini(&l.elements);
    vec_fini(&l.settings);
}

/* ---------------------------------------------------------------------------------------------------- text */

ls_status system_find_scope(const platform_config *config, const char *path, system_scope *out, ls_error *err)
{
    const char *dot = strchr(path, '.');
    size_t bytes = dot ? (size_t)(dot - path) : 0, count = config_part_count(config), first = 0,
           last = count - 1, found = 0;
    bool is_range = dot && read_gpu(path, bytes, &first, &last) > 0;
    snprintf(out->name, sizeof out->name, "%.*s", (int)bytes, path);
    if (is_range && (first > last || last >= count))
        return ls_fail(err, LS_ERR_INPUT, "there is no '%s': platform '%s' has %zu GPUs", out->name,
                       config_name(config), count);
    out->path = dot ? dot + 1 : path;
    for (size_t i = 0; i < count; i++) {
        bool is_named = dot && strcmp(config_part_name(config, i), out->name) == 0;
        out->has[i] = is_named || (is_range && i >= first && i <= last);
        found += out->has[i];
    }
    if (found > 0)
        return LS_OK;
    bool has_scope = dot && strcmp(out->name, LS_YAML_PARTS) == 0;
    out->path = has_scope ? dot + 1 : path;
    snprintf(out->name, sizeof out->name, "%s", LS_YAML_PARTS);
    for (size_t i = 0; i < count; i++)
        out->has[i] = true;
    return LS_OK;
}

const char *system_scope_text(size_t first, size_t count, size_t all, char out[LS_SCOPE_BYTES])
{
    if (count == all)
        snprintf(out, LS_SCOPE_BYTES, "%s", LS_YAML_PARTS);
    else if (count == 1)
        snprintf(out, LS_SCOPE_BYTES, "gpu%zu", first);
    else
        snprintf(out, LS_SCOPE_BYTES, "gpu%zu-%zu", first, first + count - 1);
    return out;
}

void system_yaml(text_buffer *out, const system_parts *parts)
{
    text_add(out, LS_YAML_PARTS ":\n");
    for (size_t i = 0, count; i < parts->count; i += count) {
        const system_part *part = &parts->at[i];
        for (count = 1; i + count < parts->count; count++)
            if (strcmp(part->name, parts->at[i + count].name) != 0 ||
                strcmp(config_yaml(part->config), config_yaml(parts->at[i + count].config)) != 0)
                break;
        text_printf(out, "  - count: %zu\n", count);
        if (part->name[0])
            text_printf(out, "    name: %s\n", part->name);
        for (const char *line = config_yaml(part->config); *line;) {
            const char *end = strchr(line, '\n') + 1;
            text_add(out, "    ");
            text_addn(out, line, (size_t)(end - line));
            line = end;
        }
    }
}

const char *system_nearest(mem_arena *arena, const system_parts *parts, const char *path, const char *near)
{
    for (size_t i = 0; i < parts->count; i++) {
        const machine_schema *schema = config_schema(parts->at[i].config);
        if (schema_find(schema, path) || schema_is_section(schema, path))
            return arena_printf(arena, "%s.%s", LS_YAML_PARTS, path);
    }
    return near;
}
